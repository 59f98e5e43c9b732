//! Text that is not a certificate, and certificates that are not for the data: an error, never a panic or a long wait.

use crate::common::{CertificateText, Table, certificate, number, sparse, verify_any_sides};
use linsep_check::{Bias, Certificate, Claim, ColumnSet, Columns, Dyadic, Margin, Status};
use proptest::prelude::*;

fn table() -> Table {
    let row = |side, x: &[f64]| (side, x.to_vec());
    Table::new(2, &[row(1, &[1.0, 2.0]), row(-1, &[1.0, -3.0]), row(0, &[0.0, 0.0])], 0)
}

fn samples() -> Vec<Certificate> {
    let table = table();
    let margin = Margin { lower: 0.1, upper: f64::MAX, combination: sparse(&[1.0, 0.5]) };
    let claims = [
        Claim::Complete { weights: sparse(&[1.0, -3.25]), margin },
        Claim::QuasiComplete {
            weights: sparse(&[1e300]),
            combination: sparse(&[1.0]),
            kernel: vec![sparse(&[0.0, 1.0])],
        },
        Claim::Overlap { combination: vec![], kernel: vec![sparse(&[5e-324, 0.1]), vec![]] },
    ];
    let biases = [Bias::None, Bias::Append(0.3), Bias::Free];
    claims.iter().flat_map(|claim| biases.map(|bias| certificate(&table, bias, claim.clone()))).collect()
}

/// Claims about columns, be they true or not.
fn with_columns(certificate: Certificate) -> Certificate {
    let vector = || sparse(&[0.5, -3.0]);
    let columns = Columns {
        members: vec![vector(), vec![]],
        coefficients: vec![
            (0, Status::Aliased { relation: vector() }),
            (1, Status::Finite),
            (2, Status::Infinite { positive: true, member: 1, combination: vector() }),
            (3, Status::Infinite { positive: false, member: 0, combination: vec![] }),
            (7, Status::Open { positive: 0, negative: 1 }),
        ],
        alone: vec![
            ColumnSet { columns: vec![0, 5], proof: vector() },
            ColumnSet { columns: vec![], proof: vec![] },
        ],
        not_alone: vec![ColumnSet { columns: vec![1], proof: vector() }],
        at_least: 2,
    };
    Certificate { columns, ..certificate }
}

#[test]
fn the_text_gives_the_certificate_back() {
    for certificate in samples().into_iter().flat_map(|sample| [sample.clone(), with_columns(sample)]) {
        let text = CertificateText(&certificate).to_string();
        assert_eq!(Certificate::parse(&text).as_ref(), Ok(&certificate), "{text}");
        assert_eq!(Certificate::parse(&text.replace('\n', "\r\n")).as_ref(), Ok(&certificate));
    }
}

#[test]
fn each_part_of_a_text_is_an_error() {
    for certificate in samples().into_iter().map(with_columns) {
        let text = CertificateText(&certificate).to_string();
        let text = text.trim_end();
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let error = Certificate::parse(&text[..end]).unwrap_err();
            assert!(error <= text[..end].lines().count() + 1, "{error:?}");
        }
        // Nothing but one line feed follows: no blank, no second one, and it is not left out.
        for more in ["", " ", " \n", "\n ", "\r", "{}", "x\n", "\0", ",", "\n\n", "\nend\n"] {
            assert!(Certificate::parse(&format!("{text}{more}")).is_err(), "{more:?}");
        }
        for line in text.lines() {
            let blank = |other: &str| other.to_owned() + if other == line { " \n" } else { "\n" };
            assert!(Certificate::parse(&text.lines().map(blank).collect::<String>()).is_err(), "{line:?}");
        }
        // No line may be left out, stand twice or move.
        let lines: Vec<&str> = text.lines().collect();
        for i in 0..lines.len() {
            let list = |name: &str| lines[i].starts_with(name);
            let mut without = lines.clone();
            without.remove(i);
            let is_list =
                ["positive", "negative", "kernel", "member", "aliased", "finite", "plus-", "minus-"];
            let is_list =
                is_list.iter().any(|name| list(name)) || list("open") || list("alone") || list("not-");
            assert_eq!(Certificate::parse(&(without.join("\n") + "\n")).is_ok(), is_list, "{}", lines[i]);
            let mut twice = lines.clone();
            twice.insert(i, lines[i]);
            assert_eq!(Certificate::parse(&(twice.join("\n") + "\n")).is_ok(), is_list, "{}", lines[i]);
        }
    }
}

#[test]
fn strange_long_and_huge_text() {
    for open in ["[", "{\"a\":", "linsep certificate 2\n", "\"", "\\", "\n", " ", "linsep certificate 2 "] {
        assert!(Certificate::parse(&open.repeat(1_000_000)).is_err());
    }
    let good = CertificateText(&with_columns(samples()[0].clone())).to_string();
    assert!(Certificate::parse(&good).is_ok());
    for (from, to) in [
        ("0x1p0", "0x1p1000001".to_owned()),
        ("0x1p0", "0x1p-99999999999999999999999".to_owned()),
        ("0x1p0", format!("0x{}p0", "f".repeat(3_000_000))),
        ("0x1p0", "0x2p0".to_owned()),
        ("0x1p0", "1.0".to_owned()),
        ("0x1p0", "NaN".to_owned()),
        ("0x1p0", String::new()),
        ("0:0x1p0", "00:0x1p0".to_owned()),
        ("0:0x1p0", "-0:0x1p0".to_owned()),
        ("0:0x1p0", "+0:0x1p0".to_owned()),
        ("0:0x1p0", "0.0:0x1p0".to_owned()),
        ("0:0x1p0", "99999999999999999999999:0x1p0".to_owned()),
        ("0:0x1p0", ":0x1p0".to_owned()),
        ("0:0x1p0", "0 0x1p0".to_owned()),
        ("0:0x1p0 ", "0:0x1p0  ".to_owned()),
        ("0:0x1p0", "0:0x1p0:0x1p0".to_owned()),
        ("weights ", "weights 3 ".to_owned()),
        ("weights ", "weights  ".to_owned()),
        ("weights ", "weights\t".to_owned()),
        ("weights ", "Weights ".to_owned()),
        ("rows 3", format!("rows {}", "9".repeat(1_000_000))),
        ("rows 3", "rows -3".to_owned()),
        ("rows 3", "rows 03".to_owned()),
        ("rows 3", "rows".to_owned()),
        ("rows 3", "rows 3 ".to_owned()),
        ("bias none", "bias append 0x0p0".to_owned()),
        ("bias none", "bias append -0x1p0".to_owned()),
        ("bias none", "bias append 0x1p1024".to_owned()),
        ("bias none", "bias append".to_owned()),
        ("bias none", "bias None".to_owned()),
        ("verdict complete", "verdict overlap".to_owned()),
        ("verdict complete", "verdict Complete".to_owned()),
        ("certificate 2", "certificate 1".to_owned()),
        ("certificate 2", "certificate 3".to_owned()),
        ("lower 0x", "lower 0x100000000000000000000000".to_owned()),
        ("\"never\"", "never".to_owned()),
        ("\"never\"", "\"never".to_owned()),
        ("finite 1", "finite".to_owned()),
        ("finite 1", "finite 1 1".to_owned()),
        ("finite 1", "finite 1 0:0x1p0".to_owned()),
        ("open 7 0 1", "open 7 0".to_owned()),
        ("open 7 0 1", "open 7 0 1 2".to_owned()),
        ("plus-infinite 2 1", "plus-infinite 2".to_owned()),
        ("aliased 0", "aliased".to_owned()),
        ("at-least 2", "at-least -2".to_owned()),
        ("at-least 2", "at-least 2 3".to_owned()),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, &to, 1);
        let error = Certificate::parse(&bad).expect_err(&to[..to.len().min(80)]);
        assert!(error <= bad.lines().count(), "{error}");
    }
}

#[test]
fn certificates_that_no_text_gives() {
    let table = table();
    let vectors = [
        vec![],
        sparse(&[1.0, 1.0]),
        vec![(2, number(1.0))],
        vec![(usize::MAX, number(1.0))],
        vec![(1, number(1.0)), (0, number(1.0))],
        vec![(1, number(1.0)), (1, number(1.0))],
        vec![(0, Dyadic::new(false, vec![], 0))],
        vec![(0, Dyadic::new(false, vec![1], i64::MAX))],
        vec![(0, Dyadic::new(true, vec![1], i64::MIN)), (1, number(1.0))],
        vec![(0, Dyadic::new(false, vec![1; 100_000], 0))],
        vec![(0, Dyadic::new(false, vec![1], 1_000_000)), (1, Dyadic::new(false, vec![1], -1_000_000))],
        vec![(0, number(-1.0)), (1, number(2.0))],
    ];
    let ends = [
        (0.0, f64::MAX),
        (-0.0, 1.0),
        (5e-324, 1e300),
        (1.0, f64::NAN),
        (f64::NAN, 1.0),
        (-1.0, f64::INFINITY),
    ];
    let biases = [Bias::None, Bias::Free, Bias::Append(1.0), Bias::Append(f64::NAN), Bias::Append(5e-324)];
    for bias in
        biases.into_iter().chain([Bias::Append(0.0), Bias::Append(f64::INFINITY), Bias::Append(f64::MAX)])
    {
        for a in &vectors {
            for b in &vectors {
                for (lower, upper) in ends {
                    let margin = Margin { lower, upper, combination: b.clone() };
                    let claim = Claim::Complete { weights: a.clone(), margin };
                    let _ = verify_any_sides(&certificate(&table, bias, claim), &table);
                }
                for kernel in [vec![], vec![a.clone()], vec![b.clone(), a.clone(), vec![]]] {
                    let claim = Claim::Overlap { combination: b.clone(), kernel: kernel.clone() };
                    assert!(verify_any_sides(&certificate(&table, bias, claim), &table).is_err());
                    let claim = Claim::QuasiComplete { weights: a.clone(), combination: b.clone(), kernel };
                    let certificate = certificate(&table, bias, claim);
                    assert!(verify_any_sides(&certificate, &table).is_err());
                    if bias == Bias::None {
                        let _ = Certificate::parse(&CertificateText(&certificate).to_string());
                    }
                }
            }
        }
    }
}

#[test]
fn rows_and_columns_out_of_place() {
    struct Odd(Vec<(usize, f64)>);
    impl linsep_check::Examples for Odd {
        fn rows(&self) -> usize {
            3
        }
        fn features(&self) -> usize {
            2
        }
        fn values(&self, _: usize, values: &mut Vec<(usize, f64)>) {
            values.extend(&self.0);
        }
        fn side(&self, i: usize) -> i8 {
            if i == 0 { 0 } else { 1 }
        }
    }
    for values in
        [vec![(2, 1.0)], vec![(1, 1.0), (0, 1.0)], vec![(1, 1.0), (1, 1.0)], vec![(usize::MAX, 1.0)]]
    {
        let data = Odd(values);
        for certificate in samples() {
            let why = verify_any_sides(&certificate, &data).unwrap_err();
            assert_eq!(why.row, Some(1), "{why:?}");
        }
    }
    let mut other = samples().remove(0);
    other.subject.rows = 4;
    assert!(verify_any_sides(&other, &table()).unwrap_err().reason.contains("4 rows"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn random_text(text in any::<String>()) {
        prop_assert!(Certificate::parse(&text).is_err());
    }

    #[test]
    fn random_tokens(text in "(linsep certificate 2\n|[a-z0-9: ]|\n|bias none\n|rows 3\n|weights|0:0x1p0|end\n){0,40}") {
        prop_assert!(Certificate::parse(&text).is_err());
    }
}

proptest! {
    // Most changes are errors.
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 6000, ..ProptestConfig::default() })]

    /// What is still read after a change says the same when it is written and read again.
    #[test]
    fn changed_bytes(which in 0_usize..9, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4)) {
        let mut bytes = CertificateText(&with_columns(samples()[which].clone())).to_string().into_bytes();
        for (at, byte, way) in changes {
            let at = at.index(bytes.len());
            let byte = if byte < 128 { byte } else { b"0123456789abcdefpx-\"\\\n :_\r."[byte as usize % 26] };
            match way {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let certificate = Certificate::parse(&text);
        prop_assume!(certificate.is_ok());
        let certificate = certificate.unwrap();
        prop_assert_eq!(Certificate::parse(&CertificateText(&certificate).to_string()), Ok(certificate.clone()));
        let _ = verify_any_sides(&certificate, &table());
    }
}

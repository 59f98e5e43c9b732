//! Text that is not a certificate, and certificates that are not for the data: an error, never a panic or a long wait.

mod common;

use common::{Table, certificate, number, sparse, verify_any_sides};
use linsep_check::{Bias, Certificate, Claim, Dyadic, Margin, Side};
use proptest::prelude::*;

fn table() -> Table {
    let row = |side, x: &[f64]| (side, x.to_vec());
    Table::new(
        2,
        &[
            row(Side::Positive, &[1.0, 2.0]),
            row(Side::Negative, &[1.0, -3.0]),
            row(Side::Neither, &[0.0, 0.0]),
        ],
        0,
    )
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

#[test]
fn the_text_gives_the_certificate_back() {
    for certificate in samples() {
        let text = certificate.to_json();
        assert_eq!(Certificate::parse(&text).as_ref(), Ok(&certificate), "{text}");
        // White space is free.
        let wide = text.replace(", ", "\t,\r\n ").replace("\": ", "\"  : ").replace('[', "[ ");
        assert_eq!(Certificate::parse(&wide).as_ref(), Ok(&certificate));
    }
}

#[test]
fn each_part_of_a_text_is_an_error() {
    for certificate in samples() {
        let text = certificate.to_json();
        let text = text.trim_end();
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            let error = Certificate::parse(&text[..end]).unwrap_err();
            assert!(error.at <= end, "{error}");
        }
        for more in ["{}", "x", "\0", ","] {
            assert!(Certificate::parse(&format!("{text}{more}")).is_err());
        }
    }
}

#[test]
fn deep_long_and_huge_text() {
    for open in ["[", "{\"a\":", "{\"data\":", "[[0,", "\"", "\\u", "{", "{\"kernel\":[[["] {
        assert!(Certificate::parse(&open.repeat(1_000_000)).is_err());
    }
    let good = samples()[0].to_json();
    for (from, to) in [
        ("0x1p0", "0x1p1000001".to_owned()),
        ("0x1p0", "0x1p-99999999999999999999999".to_owned()),
        ("0x1p0", format!("0x{}p0", "f".repeat(3_000_000))),
        ("0x1p0", "0x2p0".to_owned()),
        ("0x1p0", "1.0".to_owned()),
        ("0x1p0", "NaN".to_owned()),
        ("\"0x1p0\"", "1".to_owned()),
        ("\"0x1p0\"", "NaN".to_owned()),
        ("[0, ", "[00, ".to_owned()),
        ("[0, ", "[-0, ".to_owned()),
        ("[0, ", "[0.0, ".to_owned()),
        ("[0, ", "[1e0, ".to_owned()),
        ("[0, ", "[99999999999999999999999, ".to_owned()),
        ("[0, ", "[1, ".to_owned()),
        ("[0, ", "[18446744073709551615, ".to_owned()),
        ("\"rows\": 3", format!("\"rows\": {}", "9".repeat(1_000_000))),
        ("\"rows\": 3", "\"rows\": 3, \"rows\": 3".to_owned()),
        ("\"rows\": 3", "\"rows\": -3".to_owned()),
        ("\"rows\": 3,", String::new()),
        ("\"bias\": \"none\",", "\"bias\": \"none\", \"bias\": \"none\",".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": \"none\", \"kernel\": [],".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": \"none\", \"more\": [],".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": \"none\", \"\\u0062ias\": \"none\",".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": {\"append\": \"0x0p0\"},".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": {\"append\": \"-0x1p0\"},".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": {},".to_owned()),
        ("\"bias\": \"none\",", "\"bias\": \"free\",".to_owned()),
        ("\"verdict\": \"complete\"", "\"verdict\": \"overlap\"".to_owned()),
        ("\"verdict\": \"complete\"", "\"verdict\": \"Complete\"".to_owned()),
        ("certificate 1", "certificate 2".to_owned()),
        ("\"lower\": \"0x", "\"lower\": \"0x100000000000000000000000".to_owned()),
        ("\"never\"", "\"\\ud800\"".to_owned()),
        ("\"never\"", "\"\\udc00\"".to_owned()),
        ("\"never\"", "\"\\ud800\\ud800\"".to_owned()),
        ("\"never\"", "\"\\ud800\\n\"".to_owned()),
        ("\"never\"", "\"\\u12\"".to_owned()),
        ("\"never\"", "\"\\u+123\"".to_owned()),
        ("\"never\"", "\"\\x\"".to_owned()),
        ("\"never\"", "\"\u{1}\"".to_owned()),
        ("\"never\"", "never".to_owned()),
        ("\"never\"", "\"never\",".to_owned()),
        ("\"never\"", "null".to_owned()),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, &to, 1);
        let error = Certificate::parse(&bad).expect_err(&to[..to.len().min(80)]);
        assert!(error.at <= bad.len() && error.to_string().len() < 300, "{error}");
    }
    let pair = good.replacen("never", "\\ud834\\udd1e \\u00e9 \\/", 1);
    assert_eq!(Certificate::parse(&pair).unwrap().subject.negative[1], "𝄞 é /");
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
        vec![(0, Dyadic::zero())],
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
                    let _ = Certificate::parse(&certificate.to_json());
                }
            }
        }
    }
}

#[test]
fn rows_and_columns_out_of_place() {
    struct Odd(Vec<u32>, Vec<f64>);
    impl linsep_check::Examples for Odd {
        fn rows(&self) -> usize {
            3
        }
        fn features(&self) -> usize {
            2
        }
        fn row(&self, _: usize) -> linsep_check::Row<'_> {
            if self.0.is_empty() {
                linsep_check::Row::DenseF64(&self.1)
            } else {
                linsep_check::Row::SparseF64(&self.0, &self.1)
            }
        }
        fn side(&self, i: usize) -> Side {
            if i == 0 { Side::Neither } else { Side::Positive }
        }
    }
    for (columns, values) in [
        (vec![2], vec![1.0]),
        (vec![1, 0], vec![1.0; 2]),
        (vec![1, 1], vec![1.0; 2]),
        (vec![0], vec![1.0; 2]),
        (vec![], vec![1.0]),
    ] {
        let data = Odd(columns, values);
        for certificate in samples() {
            let why = verify_any_sides(&certificate, &data).unwrap_err();
            assert_eq!(why.row, Some(1), "{why}");
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
    fn random_tokens(text in "([\\[\\]{},: 0-9]|\"format\"|\"linsep certificate 1\"|\"data\"|\"bias\"|\"kernel\"|\"0x1p0\"|\\\\u){0,40}") {
        prop_assert!(Certificate::parse(&text).is_err());
    }

    /// What is still read after a change says the same when it is written and read again.
    #[test]
    fn changed_bytes(which in 0_usize..9, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4)) {
        let mut bytes = samples()[which].to_json().into_bytes();
        for (at, byte, way) in changes {
            let at = at.index(bytes.len());
            let byte = if byte < 128 { byte } else { b"0123456789abcdefpx-\"[]{},:"[byte as usize % 26] };
            match way {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(certificate) = Certificate::parse(&text) {
            prop_assert_eq!(Certificate::parse(&certificate.to_json()), Ok(certificate.clone()));
            let _ = verify_any_sides(&certificate, &table());
        }
    }
}

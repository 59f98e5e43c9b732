//! One certificate of each kind, accepted; and what is wrong with its neighbours.

use crate::common::CertificateText;
use linsep_check::{
    Bias, Certificate, Claim, Columns, Dyadic, Examples, Margin, Sparse, Subject, check, verify,
};

struct Table {
    features: usize,
    rows: Vec<(i8, Vec<f64>)>,
}

impl Examples for Table {
    fn rows(&self) -> usize {
        self.rows.len()
    }
    fn features(&self) -> usize {
        self.features
    }
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(self.rows[i].1.iter().copied().enumerate());
    }
    fn side(&self, i: usize) -> i8 {
        self.rows[i].0
    }
}

fn table(rows: &[(i8, &[f64])]) -> Table {
    Table { features: rows[0].1.len(), rows: rows.iter().map(|(side, x)| (*side, x.to_vec())).collect() }
}

fn sparse(values: &[f64]) -> Sparse {
    values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0.0)
        .map(|(place, value)| (place, Dyadic::from_f64(*value).unwrap()))
        .collect()
}

fn certificate(table: &Table, bias: Bias, claim: Claim) -> Certificate {
    let subject = Subject {
        fingerprint: "none \"\\\n\u{1}ü".into(),
        rows: table.rows.len(),
        features: table.features,
        positive: vec!["yes".into()],
        negative: vec!["no".into(), "never".into()],
    };
    let certificate = Certificate { subject, bias, claim, columns: Columns::default() };
    assert_eq!(Certificate::parse(&CertificateText(&certificate).to_string()).as_ref(), Ok(&certificate));
    certificate
}

#[test]
fn complete_through_the_origin() {
    // z = (3, 4) twice, and one row of neither side: the margin is 5.
    let table = table(&[(1, &[3.0, 4.0]), (0, &[f64::NAN, 0.0]), (-1, &[-3.0, -4.0])]);
    let claim = |lower, upper, combination: &[f64]| Claim::Complete {
        weights: sparse(&[3.0, 4.0]),
        margin: Margin { lower, upper, combination: sparse(combination) },
    };
    let check = |claim| verify(&certificate(&table, Bias::None, claim), &table);
    assert_eq!(check(claim(5.0, 5.0, &[1.0, 0.0, 3.0])).unwrap().rows, 2);
    assert!(check(claim(0.0, f64::MAX, &[])).is_ok());
    let above = check(claim(5.0_f64.next_up(), 6.0, &[1.0])).unwrap_err();
    assert_eq!(above.row, Some(0), "{above:?}");
    assert!(check(claim(4.0, 5.0_f64.next_down(), &[1.0])).is_err());
    assert!(check(claim(4.0, 6.0, &[])).is_err());
    assert_eq!(check(claim(4.0, 6.0, &[0.0, 1.0])).unwrap_err().row, Some(1));
}

#[test]
fn complete_with_a_bias() {
    // Free: the points 1 and 3 are parted at 2 with the margin 1.
    let table = table(&[(1, &[3.0]), (-1, &[1.0])]);
    let claim = |weights: &[f64], lower, upper, combination: &[f64]| Claim::Complete {
        weights: sparse(weights),
        margin: Margin { lower, upper, combination: sparse(combination) },
    };
    let check = |bias, claim| verify(&certificate(&table, bias, claim), &table);
    assert!(check(Bias::Free, claim(&[1.0, -2.0], 1.0, 1.0, &[1.0, 1.0])).is_ok());
    assert!(check(Bias::Free, claim(&[1.0, -2.0], 1.0, 1.0, &[1.0, 2.0])).is_err());
    assert!(check(Bias::Append(1.0), claim(&[1.0, -2.0], 0.447, 3.0, &[1.0, 1.0])).is_ok());
    assert!(check(Bias::Append(1.0), claim(&[1.0, -2.0], 0.448, 3.0, &[1.0, 1.0])).is_err());
    assert!(check(Bias::None, claim(&[1.0, -2.0], 0.0, f64::MAX, &[])).is_err());
}

#[test]
fn quasi_complete_and_overlap() {
    let quasi = table(&[(1, &[1.0, 5.0]), (1, &[0.0, 2.0]), (-1, &[0.0, 1.0]), (-1, &[0.0, 9.0])]);
    let claim = |combination: &[f64], kernel: &[&[f64]]| Claim::QuasiComplete {
        weights: sparse(&[1.0]),
        combination: sparse(combination),
        kernel: kernel.iter().map(|vector| sparse(vector)).collect(),
    };
    let check = |claim| verify(&certificate(&quasi, Bias::None, claim), &quasi);
    let accepted = check(claim(&[0.0, 1.0, 2.0], &[])).unwrap();
    assert_eq!((accepted.rows, accepted.boundary_rows, accepted.boundary_is_exact), (4, 3, true));
    assert!(check(claim(&[0.0, 1.0, 1.0], &[])).is_err());
    assert!(check(claim(&[], &[])).is_err());
    assert!(check(claim(&[0.0, 1.0, 2.0], &[&[0.0, 1.0]])).is_err());

    let overlap = table(&[(1, &[1.0, 1.0]), (1, &[-1.0, -1.0]), (1, &[2.0, 2.0])]);
    let claim = |combination: &[f64], kernel: &[&[f64]]| Claim::Overlap {
        combination: sparse(combination),
        kernel: kernel.iter().map(|vector| sparse(vector)).collect(),
    };
    let check = |claim| linsep_check::check(&certificate(&overlap, Bias::None, claim), &overlap, &|| false);
    assert!(check(claim(&[1.0, 1.0], &[])).is_err());
    assert!(check(claim(&[1.0, 1.0], &[&[1.0, -1.0]])).is_ok());
    assert!(check(claim(&[1.0, 1.0], &[&[1.0, 1.0]])).is_err());
    assert!(check(claim(&[1.0, 1.0], &[&[1.0, -1.0], &[2.0, -2.0]])).is_err());
    assert!(check(claim(&[1.0, 2.0, 0.5], &[])).is_ok());
}

/// The examples of the page on certificates are what they say, to the byte.
#[test]
fn the_examples_of_the_page() {
    let page = include_str!("../../../docs/certificate.md");
    let texts: Vec<&str> =
        page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let tables = [
        table(&[(1, &[2.0, 1.0]), (1, &[3.0, 3.0]), (-1, &[0.0, 1.0])]),
        table(&[(1, &[1.0, 1.0]), (-1, &[2.0, 2.0]), (1, &[3.0, 3.0])]),
        table(&[(1, &[1.0, 5.0]), (1, &[0.0, 2.0]), (-1, &[0.0, 1.0]), (-1, &[-1.0, 0.0])]),
    ];
    assert_eq!(texts.len(), tables.len());
    for (text, table) in texts.iter().zip(&tables) {
        let certificate = Certificate::parse(text).unwrap();
        assert_eq!(CertificateText(&certificate).to_string(), *text);
        assert_eq!(verify(&certificate, table).unwrap().rows, table.rows.len());
        // What is claimed depends on the numbers: some of them cannot be others.
        let numbers = text.match_indices("0x1p0");
        let refused = numbers.filter(|(at, _)| {
            let changed = format!("{}0x5p-4{}", &text[..*at], &text[at + 5..]);
            Certificate::parse(&changed).is_ok_and(|changed| verify(&changed, table).is_err())
        });
        assert!(refused.count() > 0, "{text}");
    }
    assert!(verify(&Certificate::parse(texts[0]).unwrap(), &tables[1]).is_err());
}

#[test]
fn rows_of_one_side_show_nothing() {
    // With a bias, weights of zero are enough for any rows of one side.
    for side in [1, -1] {
        let table = table(&[(side, &[3.0]), (0, &[1.0]), (side, &[-7.0])]);
        let bias = if side == 1 { 1.0 } else { -1.0 };
        let margin = Margin { lower: 0.0, upper: f64::MAX, combination: sparse(&[]) };
        let certificate =
            certificate(&table, Bias::Append(1.0), Claim::Complete { weights: sparse(&[0.0, bias]), margin });
        let refused = verify(&certificate, &table).unwrap_err();
        assert!(refused.reason.starts_with("all rows are on one side"), "{refused:?}");
        let accepted = check(&certificate, &table, &|| false).unwrap();
        assert!(accepted.one_sided && accepted.rows == 2, "{accepted:?}");
    }
    // A false claim is refused as such.
    let table = table(&[(1, &[3.0]), (1, &[-7.0])]);
    let margin = Margin { lower: 0.0, upper: f64::MAX, combination: sparse(&[]) };
    let false_claim = certificate(&table, Bias::None, Claim::Complete { weights: sparse(&[1.0]), margin });
    assert_eq!(check(&false_claim, &table, &|| false).unwrap_err().row, Some(1));
}

#[test]
fn a_check_that_is_stopped_has_no_answer() {
    let table = table(&[(1, &[3.0, 4.0]), (-1, &[-3.0, -4.0])]);
    let margin = Margin { lower: 5.0, upper: 5.0, combination: sparse(&[1.0, 3.0]) };
    let claims = [
        Claim::Complete { weights: sparse(&[3.0, 4.0]), margin },
        Claim::QuasiComplete { weights: sparse(&[1.0]), combination: sparse(&[1.0]), kernel: Vec::new() },
        Claim::Overlap { combination: sparse(&[1.0]), kernel: Vec::new() },
    ];
    for claim in claims {
        let certificate = certificate(&table, Bias::None, claim);
        let refused = check(&certificate, &table, &|| true).unwrap_err();
        assert_eq!((refused.row, refused.reason.as_str()), (None, "it was interrupted"));
    }
}

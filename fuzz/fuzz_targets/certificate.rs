#![no_main]

//! Certificates: whatever the text says, reading and checking it ends with an error or a verdict. What was read says the
//! same when it is written and read again, and a claim of separation, by all columns or by some, is accepted only where rows
//! are separable.

use linsep::separate::{CertificateText, parse_certificate};
use linsep_check::{Certificate, Claim, Examples, Status, verify};

/// Rows with two features. The seeds are certificates about these (seeds.sh has the same numbers).
struct Rows(&'static [(i8, [f64; 2])]);

impl Examples for Rows {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn features(&self) -> usize {
        2
    }

    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(self.0[i].1.into_iter().enumerate());
    }

    fn side(&self, i: usize) -> i8 {
        self.0[i].0
    }
}

const DOWN: i8 = -1;
const UP: i8 = 1;

const SEPARABLE: Rows =
    Rows(&[(UP, [0.0, 2.0]), (UP, [1.0, 3.0]), (DOWN, [0.5, -1.0]), (DOWN, [-2.0, -3.0])]);
const TOUCHING: Rows =
    Rows(&[(UP, [0.0, 0.0]), (DOWN, [0.0, 0.0]), (UP, [1.0, 2.0]), (UP, [-1.0, 3.0]), (DOWN, [2.0, -1.0])]);
const OVERLAPPING: Rows = Rows(&[
    (UP, [0.0, 1.0]),
    (DOWN, [0.0, -1.0]),
    (UP, [0.0, 0.0]),
    (DOWN, [2.0, 1.0]),
    (DOWN, [-2.0, 0.5]),
    (UP, [1.0, 2.0]),
]);

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(certificate) = parse_certificate(text) else { return };
    let again = CertificateText(&certificate).to_string();
    assert_eq!(Certificate::parse(&again).as_ref(), Ok(&certificate));
    for (rows, separable) in [(SEPARABLE, true), (TOUCHING, false), (OVERLAPPING, false)] {
        match verify(&certificate, &rows) {
            Ok(_) => {
                match certificate.claim {
                    Claim::Complete { .. } => assert!(separable),
                    Claim::QuasiComplete { .. } | Claim::Overlap { .. } => assert!(!separable),
                }
                // Along a cone with an interior no coefficient is finite.
                let is_finite = |(_, status): &(usize, Status)| *status == Status::Finite;
                assert!(!separable || !certificate.columns.coefficients.iter().any(is_finite));
                assert!(separable || certificate.columns.alone.is_empty());
            }
            Err(rejected) => drop(rejected.reason),
        }
    }
});

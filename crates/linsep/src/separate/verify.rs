//! Checking a certificate against a data set.

use super::{Certificate, Examples};
use crate::dataset::Dataset;
use linsep_check::{Accepted, Rejected, Subject};
use std::collections::HashSet;

/// Checks a certificate against the rows of `data`, exactly, with the independent checker ([`linsep_check`]).
///
/// The classes that the certificate names decide which side each row is on. Nothing else in it is trusted: a
/// certificate made for other data is accepted only if its claim is true of these rows too.
pub fn verify(data: &Dataset, certificate: &Certificate) -> Result<Accepted, Rejected> {
    let Subject { positive, negative, .. } = &certificate.subject;
    let above: HashSet<&String> = positive.iter().collect();
    let below: HashSet<&String> = negative.iter().collect();
    if let Some(class) = positive.iter().find(|&class| below.contains(class)) {
        return Err(Rejected { row: None, reason: format!("the class \"{class}\" is on both sides") });
    }
    let sign = |class: &String| i8::from(above.contains(class)) - i8::from(below.contains(class));
    let signs: Vec<i8> = data.classes().iter().map(sign).collect();
    let signs = data.labels().iter().map(|&label| signs[label as usize]).collect();
    linsep_check::verify(certificate, &Examples::with_signs(data, signs, certificate.bias))
}

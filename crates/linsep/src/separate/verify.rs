//! Checking a certificate against a data set.

use super::{Certificate, Examples};
use crate::Error;
use crate::classes::spellings;
use crate::dataset::Dataset;
use crate::observe::{Observer, Progress, watched};
use linsep_check::{Accepted, Rejected, Subject};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// Text that is no certificate: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The problem.
    pub reason: String,
}

/// Reads the text of a certificate.
pub fn parse_certificate(text: &str) -> Result<Certificate, CertificateError> {
    let reason = "a line is missing here, or it is out of order, malformed or beyond the limits".to_string();
    Certificate::parse(text).map_err(|line| CertificateError { line, column: 1, reason })
}

/// Checks a certificate against the rows of `data`, exactly, with the independent checker ([`linsep_check`]).
///
/// The classes that the certificate names decide which side each row is on. Nothing else in it is trusted: a
/// certificate made for other data is accepted only if its claim is true of these rows too. Where no row belongs to one of
/// the sides, the claim says nothing, and the certificate is rejected.
pub fn verify(data: &Dataset, certificate: &Certificate) -> Result<Accepted, Rejected> {
    linsep_check::verify(certificate, &sides(data, certificate)?)
}

/// The same, for as long as the observer lets it go on. Rows of one side only are for the caller to judge.
pub(crate) fn verify_watched(
    data: &Dataset,
    certificate: &Certificate,
    observer: &mut dyn Observer,
) -> Result<Result<Accepted, Rejected>, Error> {
    match sides(data, certificate) {
        Ok(examples) => check_watched(certificate, &examples, CHECKING, observer).ok_or(Error::Interrupted),
        Err(rejected) => Ok(Err(rejected)),
    }
}

const CHECKING: Progress = Progress::Separating {
    step: "checking the certificate",
    margin_lower: None,
    margin_upper: None,
    passes: 0,
};

/// Asks the checker; `None` if the observer breaks before it has an answer.
pub(super) fn check_watched(
    certificate: &Certificate,
    examples: &Examples<'_>,
    progress: Progress,
    observer: &mut dyn Observer,
) -> Option<Result<Accepted, Rejected>> {
    watched(observer, &progress, |stop| {
        let stopped = || stop.load(Ordering::Relaxed);
        let outcome = linsep_check::check(certificate, examples, &stopped);
        // A rejection by a check that was stopped means nothing.
        if outcome.is_err() && stopped() { None } else { Some(outcome) }
    })
}

/// The rows with the sides that the certificate gives their classes: by their names, or by another spelling of a truth value.
///
/// # Errors
///
/// A class that the certificate has on both sides.
pub fn sides<'a>(data: &'a Dataset, certificate: &Certificate) -> Result<Examples<'a>, Rejected> {
    let Subject { positive, negative, .. } = &certificate.subject;
    let above: HashSet<&str> = positive.iter().map(String::as_str).collect();
    let below: HashSet<&str> = negative.iter().map(String::as_str).collect();
    let side = |class: &str| i8::from(above.contains(class)) - i8::from(below.contains(class));
    let spelled = |class: &str| spellings(class).into_iter().map(|spelling| side(&spelling));
    let on_both = |class: &&String| below.contains(class.as_str()) || spelled(class).any(|side| side < 0);
    if let Some(class) = positive.iter().find(on_both) {
        let reason = format!("the class \"{class}\" is on both sides");
        return Err(Rejected { row: None, reason });
    }
    let any_side = |class: &String| {
        spelled(class).fold(side(class), |known, other| if known == 0 { other } else { known })
    };
    let signs: Vec<i8> = data.classes().iter().map(any_side).collect();
    let signs = data.labels().iter().map(|&label| signs[label as usize]).collect();
    Ok(Examples::with_signs(data, signs, certificate.bias))
}

//! Checking a certificate of separation against the data.

use super::DataSpec;
use crate::Error;
use crate::dataset::Dataset;
use crate::observe::{Note, Observer};
use crate::read::{Loaded, Schema};
use crate::separate::{Accepted, Certificate, Rejected, parse_certificate, verify_watched};
use crate::store::{self, StoreError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Which certificate is checked against which rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifySpec {
    /// The certificate.
    pub certificate: PathBuf,
    /// The rows that it is about, read as they were when it was made.
    pub data: DataSpec,
    /// A file with one number for each row: how often it occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<PathBuf>,
    /// Accept a claim about rows that are all on one side, which is vacuous.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_one_sided: bool,
}

/// The result of checking a certificate, before it is reported.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The specification.
    pub spec: VerifySpec,
    /// The certificate.
    pub certificate: Certificate,
    /// The rows.
    pub data: Dataset,
    /// The names of their features.
    pub schema: Schema,
    /// The proved statement, or the reason for the rejection.
    pub outcome: Result<Accepted, Rejected>,
    /// Whether the claim is true, but vacuous, because all rows are on one side.
    pub one_sided: bool,
    /// Whether the certificate was made for these rows.
    pub same_data: bool,
    /// How long the check took.
    pub seconds: f64,
}

impl VerifySpec {
    /// Reads the certificate and the rows, and asks the checker.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Verified, Error> {
        self.run_on(read_certificate(&self.certificate)?, observer)
    }

    /// Reads the rows, and asks the checker about this certificate, wherever it comes from.
    pub fn run_on(&self, certificate: Certificate, observer: &mut dyn Observer) -> Result<Verified, Error> {
        let Loaded { dataset: data, schema, .. } =
            self.data.load_counted(self.row_weights.as_deref(), observer)?;
        let same_data = data.fingerprint() == certificate.subject.fingerprint;
        if !same_data {
            // The checker decides all the same: no check depends on the fingerprint.
            let remark =
                "This certificate was made for other data: its fingerprint is not that of these rows.";
            observer.note(Note::Remark(remark));
        }
        let clock = Instant::now();
        let mut outcome = verify_watched(&data, &certificate, observer)?;
        let one_sided = outcome.as_ref().is_ok_and(|accepted| accepted.one_sided);
        if one_sided && !self.allow_one_sided {
            let reason = "all rows are on one side, so the claim is vacuous".to_string();
            outcome = Err(Rejected { row: None, reason });
        }
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Verified { spec: self.clone(), certificate, data, schema, outcome, one_sided, same_data, seconds })
    }
}

/// Reads a certificate. An error names its line and column.
fn read_certificate(path: &Path) -> Result<Certificate, Error> {
    let name = path.display();
    let bytes = store::read_text_bytes(path, u64::MAX).map_err(|source| {
        Error::from(StoreError::Read { path: path.to_path_buf(), source }).at(name.to_string())
    })?;
    let bad = |line: usize, column: usize, problem: String| Error::Certificate {
        place: format!("{name}:{line}:{column}"),
        problem,
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        bad(line, before.len() - start + 1, "it is not text".to_owned())
    })?;
    parse_certificate(text).map_err(|error| bad(error.line, error.column, error.reason))
}

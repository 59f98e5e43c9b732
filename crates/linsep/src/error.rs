//! Everything that can go wrong, in one type.

use crate::classes::ClassError;
use crate::dataset::DatasetError;
use crate::generate::GenerateError;
use crate::memory::amount;
use crate::read::ReadError;
use crate::spelling;
use crate::store::StoreError;
use crate::train::CheckpointError;
use std::io;
use std::path::PathBuf;

/// A setting that makes no sense, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", spelling::plain(problem))]
pub struct SettingsError {
    /// The field that is to be changed, in snake case.
    pub field: &'static str,
    /// The problem and what to do, with settings named as [`spelling`] says.
    pub problem: String,
}

impl SettingsError {
    /// The problem with a field, and what to do about it.
    pub fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

/// Bad input, bad settings or failed input and output. A run that does not converge is no error, nor is data without a
/// margin: both are a [`Status`](crate::Status).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that make no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A data file is malformed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Numbers that do not make a data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Labels that do not make a binary task.
    #[error(transparent)]
    Classes(#[from] ClassError),
    /// Rows whose products would overflow, or vanish.
    #[error("a row has length {}; only lengths from 1e-140 to 1e140 are supported", shown(*length))]
    Lengths {
        /// The length of the longest row, or of the shortest that is not zero.
        length: f64,
    },
    /// A model file that is not one.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A checkpoint that cannot be resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Settings that describe no generated data set.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Another error, with the file that it is about.
    #[error("{place}: {error}")]
    Located {
        /// The file, or another name of the source.
        place: String,
        /// The problem with it.
        error: Box<Error>,
    },
    /// Rows that a job cannot use.
    #[error("{place}: {problem}")]
    Rows {
        /// The file, with the line where there is one.
        place: String,
        /// The problem, with settings named as [`spelling`] says.
        problem: String,
    },
    /// A file that is no certificate.
    #[error("{place}: this is not a certificate: {problem}")]
    Certificate {
        /// The file, with line and column.
        place: String,
        /// The problem.
        problem: String,
    },
    /// A specification that cannot be read.
    #[error("{place}: {problem}")]
    Spec {
        /// The file.
        place: String,
        /// The problem.
        problem: String,
    },
    /// There is not enough memory for it.
    #[error("{what} needs about {} of memory, and only {} are free", amount(*needed), amount(*available))]
    Memory {
        /// What needs it, as the beginning of a sentence.
        what: String,
        /// The least that it needs, in bytes.
        needed: u64,
        /// What the process may still use.
        available: u64,
    },
    /// The job was stopped from outside before it had anything to show.
    #[error("interrupted")]
    Interrupted,
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// The same error, with the file that it is about.
    pub fn at(self, place: impl Into<String>) -> Self {
        Error::Located { place: place.into(), error: Box::new(self) }
    }

    /// The error itself, without the files that it was found in.
    pub fn kind(&self) -> &Error {
        match self {
            Error::Located { error, .. } => error.kind(),
            error => error,
        }
    }

    /// Advice for the user, with settings named as [`spelling`] says.
    pub fn help(&self) -> Option<&'static str> {
        match self.kind() {
            Error::Read(error) => Some(error.kind.help()).filter(|help| !help.is_empty()),
            Error::Classes(ClassError::Many { .. }) => Some(
                "choose one class against the rest with ⟦positive=CLASS⟧, or keep two with ⟦classes=A,B⟧",
            ),
            Error::Classes(ClassError::One { .. }) => {
                Some("give rows of both classes; in a CSV file, check that ⟦label⟧ names the right column")
            }
            Error::Certificate { .. } => Some(
                "the certificate comes first, then the data; if it was changed or cut, make it again with linsep separate \
                 DATA -o CERTIFICATE",
            ),
            Error::Memory { .. } => Some(
                "free some memory or raise the limit of the process; or give fewer rows or features; the learners that go row by \
                 row can leave the rows in their file, with ⟦memory⟧",
            ),
            Error::Dataset(DatasetError::Memory { .. }) => {
                Some("give fewer rows, or leave the rows in their file, with ⟦memory⟧")
            }
            Error::Lengths { .. } => {
                Some("bring the features to a common scale with ⟦scale=max-abs⟧ or standard")
            }
            _ => None,
        }
    }
}

/// A length in print; one that overflows is known only to be long.
fn shown(length: f64) -> String {
    if length.is_finite() { format!("{length:.2e}") } else { "above 1e308".to_string() }
}

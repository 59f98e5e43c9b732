//! Everything that can go wrong, in one type.

use crate::classes::ClassError;
use crate::dataset::DatasetError;
use crate::generate::RecipeError;
use crate::read::ReadError;
use crate::separate::Verdict;
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
    /// What is wrong and what to do, with settings named as [`spelling`] says.
    pub problem: String,
}

impl SettingsError {
    /// What is wrong with a field, and what to do about it.
    pub fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

/// Bad input, bad settings or failed input and output. A run that merely does not converge is no error.
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
    #[error("a row has length {}; lengths from 1e-140 to 1e140 can be learned from without overflow", shown(*length))]
    Lengths {
        /// The length of the longest row, or of the shortest that is not zero.
        length: f64,
    },
    /// Rows that no boundary separates with a margin, or of which that is not known.
    #[error("{class} against the rest: {}", no_margin(*verdict))]
    NoMargin {
        /// What was decided.
        verdict: Verdict,
        /// The positive class.
        class: String,
    },
    /// A model file that is not one.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A checkpoint that cannot be taken up.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Settings that describe no generated data set.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The job was stopped from outside before it had anything to show.
    #[error("interrupted")]
    Interrupted,
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn no_margin(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::QuasiComplete => {
            "no boundary separates these rows with a margin: those without a wrong side go through some of the rows \
             (quasi-complete separation)"
        }
        Verdict::Overlap => "no boundary separates these rows: the classes overlap",
        Verdict::Complete | Verdict::Undecided => {
            "whether a boundary separates these rows was not decided within the limits"
        }
    }
}

/// A length in print; one beyond all floats is known only to be long.
fn shown(length: f64) -> String {
    if length.is_finite() { format!("{length:.2e}") } else { "above 1e308".to_string() }
}

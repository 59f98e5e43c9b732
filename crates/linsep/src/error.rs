//! Everything that can go wrong, in one type.

use crate::classes::ClassError;
use crate::dataset::DatasetError;
use crate::generate::RecipeError;
use crate::read::ReadError;
use std::io;
use std::path::PathBuf;

/// Bad input, bad settings or failed input and output. A run that merely does not converge is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A data file is malformed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Numbers that do not make a data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Labels that do not make a binary task.
    #[error(transparent)]
    Classes(#[from] ClassError),
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

//! The interface of a format: one implementation of [`RecordReader`] each.

use super::csv::RowsSoFar;
use super::error::ReadError;
use super::formats::Format;
use super::source::Input;
use super::{Loaded, ReadNotes, ReadOptions, Schema, Source};
use crate::dataset::Batch;
use std::path::Path;

/// The records of one source, in batches of rows.
///
/// A batch is typed and holds thousands of rows, so one call through this trait costs nothing beside the rows in it.
pub(crate) trait RecordReader: Send {
    /// The next rows, or `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError>;

    /// Class names in the order of their first row so far.
    fn label_names(&self) -> &[String];

    /// How the columns become features. Complete once all rows were read.
    fn schema(&self) -> Schema;

    /// Notes made while reading. Complete once all rows were read.
    fn notes(&self) -> ReadNotes;

    /// How the columns of the source itself become features, whatever model they are matched with.
    fn own_schema(&self) -> Schema {
        self.schema()
    }

    /// By how much the columns of sparse rows exceed the true ones. Known once all rows were read.
    fn index_shift(&self) -> u32 {
        0
    }

    /// The expected number of rows and values.
    fn expected(&self) -> Expected {
        Expected::Unknown
    }

    /// What was met in the rows, where a reader of further rows of the same table can go on from there.
    fn so_far(&self) -> Option<RowsSoFar> {
        None
    }

    /// Goes on from what was met in rows of the same table, which come so many lines before.
    fn go_on(&mut self, before: RowsSoFar, lines: u64) {
        let _ = (before, lines);
    }

    /// Whether the columns are a guess from the first rows. If so, an error may be one of the guess, and only a reading
    /// with all rows in view tells; without an error the guess was right.
    fn is_guess(&self) -> bool {
        false
    }

    /// Files that were read, and how many there are, where rows come from many files.
    fn files(&self) -> Option<(u64, u64)> {
        None
    }

    /// The file of a row of the last batch, where rows come from many files.
    fn row_name(&self, row: usize) -> Option<&Path> {
        let _ = row;
        None
    }

    /// The number of a row of the last batch within its file, from 1, where that has many.
    fn row_number(&self, row: usize) -> Option<u64> {
        let _ = row;
        None
    }

    /// All rows at once, where they lie ready.
    fn whole(&self) -> Option<Loaded> {
        None
    }
}

/// The expected number of rows and values.
pub(crate) enum Expected {
    /// Nothing.
    Unknown,
    /// So many rows, and so many values in all of them.
    Rows(usize, usize),
    /// The batches so far came from so many bytes of text.
    FromText(u64),
}

/// What a reader is opened with.
pub(crate) struct Opening<'a> {
    /// The name of the source, for messages.
    pub(crate) name: String,
    pub(crate) source: &'a Source,
    pub(crate) input: Input,
    pub(crate) format: Format,
    pub(crate) options: &'a ReadOptions,
    /// Whether the columns of a table may be guessed from its first rows, see [`RecordReader::is_guess`].
    pub(crate) guess: bool,
}

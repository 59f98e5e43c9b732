//! Labels of a table that lie in a second file, one for each row.

use super::array::LabelColumn;
use super::error::{ReadError, ReadErrorKind, excerpt};
use super::label_table::LabelTable;
use super::reader::{Expected, RecordReader};
use super::{ReadNotes, ReadOptions, Schema};
use crate::dataset::Batch;
use crate::numbers::counted;
use std::path::Path;

/// The rows of a reader that gives none of them a label, with the labels of another file.
pub(super) struct SecondFile {
    rows: Box<dyn RecordReader>,
    /// The name of the source of the rows, for messages.
    name: String,
    labels: LabelColumn,
    table: LabelTable,
    class_limit: usize,
    /// Rows that have been given a label.
    given: usize,
}

impl SecondFile {
    pub(super) fn new(
        rows: Box<dyn RecordReader>,
        name: String,
        labels: &Path,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let (labels, class_limit) = (LabelColumn::open(labels)?, options.class_limit());
        Ok(Self { rows, name, labels, table: LabelTable::default(), class_limit, given: 0 })
    }

    fn located(&self, line: Option<u64>, kind: ReadErrorKind) -> ReadError {
        ReadError { source_name: self.labels.source_name().to_string(), line, column: None, kind }
    }

    /// The class of the next row.
    fn next_label(&mut self) -> Result<u32, ReadError> {
        let row = self.given;
        if row >= self.labels.len() {
            let labels = counted(self.labels.len() as u64, "label", "labels");
            let problem = format!("{labels}, and {} has more rows", self.name);
            return Err(self.located(None, ReadErrorKind::Array(problem)));
        }
        self.given += 1;
        let line = Some(row as u64 + 1);
        let text = self.labels.text(row).map_err(|kind| self.located(line, kind))?;
        let Some(class) = self.table.class(text.as_bytes()) else {
            return Err(self.located(line, ReadErrorKind::BadLabel { found: excerpt(text.as_bytes()) }));
        };
        self.table.check(self.class_limit).map_err(|kind| self.located(line, kind))?;
        Ok(class)
    }
}

impl RecordReader for SecondFile {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let Some(mut batch) = self.rows.next_batch()? else {
            if self.given < self.labels.len() {
                let labels = counted(self.labels.len() as u64, "label", "labels");
                let rows = counted(self.given as u64, "row", "rows");
                let header = if self.given + 1 == self.labels.len() {
                    "; if its first line is a header, remove it"
                } else {
                    ""
                };
                let problem = format!("{labels} for the {rows} of {}{header}", self.name);
                return Err(self.located(None, ReadErrorKind::Array(problem)));
            }
            return Ok(None);
        };
        for label in 0..batch.len() {
            batch.labels[label] = self.next_label()?;
        }
        Ok(Some(batch))
    }

    fn label_names(&self) -> &[String] {
        self.table.names()
    }

    fn schema(&self) -> Schema {
        self.rows.schema()
    }

    fn notes(&self) -> ReadNotes {
        self.rows.notes()
    }

    fn own_schema(&self) -> Schema {
        self.rows.own_schema()
    }

    fn index_shift(&self) -> u32 {
        self.rows.index_shift()
    }

    fn expected(&self) -> Expected {
        self.rows.expected()
    }

    fn is_guess(&self) -> bool {
        self.rows.is_guess()
    }
}

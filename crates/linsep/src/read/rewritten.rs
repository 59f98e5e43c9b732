//! Tables of other formats that are rewritten as CSV on the way in, row for row: so their columns are guessed, named, matched
//! with those of a model and reported as those of CSV are.

use super::csv::{CsvReader, RowsSoFar};
use super::error::{LongLine, ReadError, ReadErrorKind, RowFailure};
use super::reader::{Expected, RecordReader};
use super::source::Input;
use super::{Batch, ReadNotes, ReadOptions, Schema};
use crate::memory;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The options of tables whose columns have names and need no delimiter.
pub(super) const TABLE_OPTIONS: &[&str] =
    &["label", "ignore", "keep", "column", "missing", "na", "auto", "labels", "text", "text_options"];

/// Rows that the rewriting left out, and what else it noticed.
pub(super) type Noticed = Arc<Mutex<ReadNotes>>;

/// Leaves a malformed row out, or ends the reading with it.
pub(super) fn refuse(failure: RowFailure, skip_bad: bool, noticed: &Noticed) -> Result<(), RowFailure> {
    if !(skip_bad && failure.kind.is_row()) {
        return Err(failure);
    }
    let mut notes = noticed.lock().unwrap_or_else(PoisonError::into_inner);
    notes.skip(failure.line, failure.kind.to_string());
    Ok(())
}

/// The cells of a table, and how many of them its file names. Rows that each name a few of very many columns are a table of far more
/// cells than the file has bytes: such a table is refused before it fills the memory.
#[derive(Default)]
pub(super) struct CellCount {
    rows: u64,
    named: u64,
}

impl CellCount {
    /// The cells of a table that may be missing in its file: some whatever it is, and some for each cell that it has.
    const FREE: u64 = 1 << 22;
    const FOR_EACH: u64 = 64;

    /// Counts a row, of whose columns the file names some.
    pub(super) fn add(&mut self, columns: usize, named: usize) -> Result<(), ReadErrorKind> {
        self.rows += 1;
        self.named += named as u64;
        Self::check(self.rows, columns as u64, self.named)
    }

    /// Whether so many rows and columns have far more cells than are named.
    pub(super) fn is_sparse(rows: u64, columns: u64, named: u64) -> bool {
        rows.saturating_mul(columns) > Self::FOR_EACH * named
    }

    /// Refuses a table of so many rows and columns if its file names too few of the cells.
    pub(super) fn check(rows: u64, columns: u64, named: u64) -> Result<(), ReadErrorKind> {
        let (cells, limit) = (rows.saturating_mul(columns), Self::FREE + Self::FOR_EACH * named);
        if cells <= limit {
            Ok(())
        } else {
            Err(ReadErrorKind::SparseTable { rows, columns, named, cells, limit })
        }
    }
}

/// Appends a cell as CSV writes it.
pub(super) fn push_cell(text: &mut String, cell: &str) {
    let is_plain = |&byte: &u8| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'"';
    // A line that begins with `#` may be a comment.
    let is_word = !cell.is_empty() && cell.trim_ascii() == cell && !cell.starts_with('#');
    if is_word && cell.as_bytes().iter().all(is_plain) {
        return text.push_str(cell);
    }
    text.push('"');
    for c in cell.chars() {
        match c {
            '"' => text.push_str("\"\""),
            // A text holds none of these, and a cell of CSV is text.
            '\0'..='\x08' | '\x0b' | '\x0e'..='\x1f' => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
    text.push('"');
}

/// All that is left of a file, if it fits into the memory and no line of it is longer than this.
pub(super) fn take_all(input: &mut Input, line_limit: usize) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 24;
    // A text that grows takes as much again as there is.
    const MUCH: u64 = STEP;
    let mut text = Vec::new();
    // Where the last line begins, and how many lines are before it.
    let (mut line, mut lines) = (0, 0);
    loop {
        let held = text.len();
        if held as u64 >= MUCH && memory::available().is_some_and(|available| held as u64 > available) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if input.by_ref().take(STEP).read_to_end(&mut text)? == 0 {
            return Ok(text);
        }
        let new = &text[held..];
        if held + memchr::memchr(b'\n', new).unwrap_or(new.len()) - line > line_limit {
            return Err(LongLine { limit: line_limit as u64, lines_before: lines }.into());
        }
        if let Some(end) = memchr::memrchr(b'\n', new) {
            line = held + end + 1;
            lines += memchr::memchr_iter(b'\n', new).count() as u64;
        }
    }
}

/// A reader of the CSV that another format was rewritten to.
pub(super) struct Rewritten {
    rows: CsvReader,
    noticed: Noticed,
    /// Whether the columns themselves are those of the first rows.
    guess: bool,
}

impl Rewritten {
    /// Opens the text, whose first line has this number: 0 for a header that the file does not have as a line of its own.
    /// `title` is what to call the format.
    pub(super) fn open(
        name: String,
        text: Input,
        options: &ReadOptions,
        guess: bool,
        first_line: u64,
        title: &str,
        noticed: Noticed,
    ) -> Result<Self, ReadError> {
        let rows = CsvReader::of_records(name, text, options, guess, first_line)
            .map_err(without_byte)?
            .called(if first_line == 0 { "CSV, delimiter ',', header" } else { "CSV, delimiter ','" }, title);
        Ok(Self { rows, noticed, guess })
    }
}

/// Where a byte stands in the rewritten text says nothing about the file. What the rewriting itself found has its place.
fn without_byte(mut error: ReadError) -> ReadError {
    if !matches!(error.kind, ReadErrorKind::BadRow(_)) {
        error.column = None;
    }
    error
}

impl RecordReader for Rewritten {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        self.rows.next_batch().map_err(without_byte)
    }

    fn label_names(&self) -> &[String] {
        self.rows.label_names()
    }

    fn schema(&self) -> Schema {
        self.rows.schema()
    }

    fn notes(&self) -> ReadNotes {
        let mut notes = self.rows.notes();
        let noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<String> =
            noticed.remarks.iter().filter(|remark| !notes.remarks.contains(remark)).cloned().collect();
        notes.remarks.splice(0..0, new);
        notes.skipped += noticed.skipped;
        notes.first_skipped.extend(noticed.first_skipped.iter().cloned());
        notes.first_skipped.sort_by_key(|row| row.line);
        notes.first_skipped.truncate(ReadNotes::LISTED);
        notes
    }

    fn so_far(&self) -> Option<RowsSoFar> {
        let mut so_far = self.rows.so_far()?;
        so_far.add_remarks(&self.noticed.lock().unwrap_or_else(PoisonError::into_inner).remarks);
        Some(so_far)
    }

    fn go_on(&mut self, before: RowsSoFar, lines: u64) {
        self.rows.go_on(before, lines);
    }

    fn is_guess(&self) -> bool {
        self.guess || self.rows.is_guess()
    }

    fn expected(&self) -> Expected {
        Expected::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_may_be_sparse_in_proportion_to_its_file() {
        let mut dense = CellCount::default();
        assert!((0..10_000).all(|_| dense.add(3000, 3000).is_ok()));
        let mut sparse = CellCount::default();
        assert!((0..100_000).all(|_| sparse.add(100, 2).is_ok()));
        let mut wide = CellCount::default();
        let refused =
            (1..).find_map(|row| wide.add(3000, 1).err().map(|error| (row, error.to_string()))).unwrap();
        assert_eq!(
            refused,
            (
                1429,
                "1,429 rows name 1,429 cells, and 3,000 columns make that a table of 4,287,000 cells, of which at most \
                 4,285,760 are accepted for so few"
                    .to_string()
            )
        );
    }

    #[test]
    fn cells_are_quoted_where_csv_would_change_them() {
        for (cell, written) in [
            ("red", "red"),
            ("", "\"\""),
            (" b", "\" b\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("a\u{1}b", "\"a\u{fffd}b\""),
            ("#1", "\"#1\""),
            ("größe", "\"größe\""),
            ("two\nlines", "\"two\nlines\""),
            ("\u{a0}x", "\"\u{a0}x\""),
        ] {
            let mut text = String::new();
            push_cell(&mut text, cell);
            assert_eq!(text, written);
        }
    }
}

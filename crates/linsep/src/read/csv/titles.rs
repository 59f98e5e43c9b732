//! Lines above the header, as spreadsheets have them: a title, the date of the report, lines of empty cells.

use super::dialect::{Dialect, Sample, is_word};
use super::records::Record;
use crate::read::error::excerpt;
use std::collections::HashSet;

/// Lines and bytes above the header that are looked at.
const MOST_LINES: usize = 20;
const MOST_BYTES: usize = 1 << 16;

/// Cells without anything in them after a title in its row, from which on the row cannot be one of the table.
const LEAST_EMPTY: usize = 2;

/// Where the table begins after its titles.
pub(super) struct Titles {
    /// The bytes and lines above the header.
    pub(super) bytes: usize,
    pub(super) lines: u64,
    /// The first of them.
    pub(super) example: String,
}

/// The lines above the header, if there are any. Such a line has one word, in its first cell, and fewer cells than the rows,
/// or empty ones after it. The header, of different words, must follow it, and rows after that.
pub(super) fn above_header(sample: Sample<'_>, dialect: &Dialect) -> Option<Titles> {
    let length = sample.bytes.len().min(MOST_BYTES);
    let beginning = Sample { bytes: &sample.bytes[..length], cut: sample.cut || length < sample.bytes.len() };
    let mut records = beginning.records(dialect.delimiter);
    let mut record = Record::default();
    let mut example = None;
    for _ in 0..MOST_LINES {
        // A record begins after the blank lines before it, which do not matter.
        if !matches!(records.next(&mut record), Ok(true)) || record.fault.is_some() {
            return None;
        }
        let width = record.width();
        let is_empty = |j: usize| record.cell(j).is_empty();
        if (0..width).all(is_empty) {
            // Only a title shows that rows of empty cells are none.
        } else if (1..width).all(is_empty) && is_word(record.cell(0)) && is_title(width, dialect.width) {
            example.get_or_insert_with(|| excerpt(record.cell(0)));
        } else {
            let (bytes, lines) = (record.start, record.line - 1);
            let names: HashSet<&[u8]> = (0..width).map(|j| record.cell(j)).collect();
            let is_header = width == dialect.width
                && names.len() == width
                && names.iter().all(|name| !name.is_empty() && is_word(name));
            return example.filter(|_| is_header).map(|example| Titles { bytes, lines, example });
        }
    }
    None
}

fn is_title(width: usize, of_rows: usize) -> bool {
    of_rows > 1 && (width == 1 || width > LEAST_EMPTY)
}

//! Lines above the header, as spreadsheets have them: a title, the date of the report, lines of empty cells.

use super::dialect::{self, Dialect, Sample, is_word};
use super::records::Record;
use crate::read::error::excerpt;
use std::collections::HashSet;

/// Lines above the header that are looked at, beside those without anything in them.
const MAX_LINES: usize = 20;

/// Cells without anything in them after a title in its row, from which on the row cannot be one of the table.
const MIN_EMPTY: usize = 2;

/// What stands above the header.
pub(super) enum AboveHeader {
    Nothing,
    Titles(Titles),
    /// The sample ends before that is known.
    Unknown,
}

/// Where the table begins after its titles.
pub(super) struct Titles {
    /// The bytes and lines above the header.
    pub(super) bytes: usize,
    pub(super) lines: u64,
    /// The first of them; `None` if they are rows of empty cells.
    pub(super) example: Option<String>,
}

/// The lines above the header, if there are any. Such a line has one word, in its first cell, and fewer cells than the rows,
/// or empty ones after it. The header, of different words, must follow it, and rows after that.
pub(super) fn above_header(sample: Sample<'_>, dialect: &Dialect) -> AboveHeader {
    let mut records = sample.records(dialect.delimiter);
    let mut record = Record::default();
    let (mut example, mut titles, mut empty) = (None, 0, false);
    while titles < MAX_LINES {
        // A record begins after the blank lines before it, which do not matter.
        match records.next(&mut record) {
            Ok(true) if record.fault.is_none() => {}
            Ok(false) if sample.cut && (titles > 0 || empty) => return AboveHeader::Unknown,
            _ => return AboveHeader::Nothing,
        }
        let width = record.width();
        let is_empty = |j: usize| record.cell(j).is_empty();
        if (0..width).all(is_empty) {
            empty = true;
        } else if (1..width).all(is_empty) && is_word(record.cell(0)) && is_title(width, dialect.width) {
            titles += 1;
            example.get_or_insert_with(|| excerpt(record.cell(0)));
        } else {
            let (bytes, lines) = (record.start, record.line - 1);
            let names: HashSet<&[u8]> = (0..width).map(|j| record.cell(j)).collect();
            let is_header = width == dialect.width
                && names.len() == width
                && names.iter().all(|name| !name.is_empty() && is_word(name));
            // Rows of empty cells alone are some of the table, unless a header comes after them.
            let table = Sample { bytes: &sample.bytes[bytes..], ..sample };
            let below =
                example.is_some() || empty && dialect::names_numbers(table, dialect.delimiter, dialect.width);
            return match is_header && below {
                true => AboveHeader::Titles(Titles { bytes, lines, example }),
                false => AboveHeader::Nothing,
            };
        }
    }
    AboveHeader::Nothing
}

fn is_title(width: usize, of_rows: usize) -> bool {
    of_rows > 1 && (width == 1 || width > MIN_EMPTY)
}

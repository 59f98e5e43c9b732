//! Whether a text that is about to be written will be read as it is meant: by the functions that read it.

use super::input::{HEAD_BYTES, Input};
use super::{Format, ReadOptions, csv, formats};
use std::io::Cursor;

/// Whether a file of text can hold this: it has no control characters that such a file does not have.
pub(crate) fn is_text(text: &str) -> bool {
    !text.bytes().any(formats::is_binary)
}

/// Whether a cell may name a column: it is no number in any style, no date and no missing cell.
pub(crate) fn may_name_column(cell: &str) -> bool {
    csv::is_word(cell.as_bytes())
}

/// The format that a text with this beginning is taken for.
pub(crate) fn format_of(beginning: &[u8]) -> Option<Format> {
    formats::detect_in(&mut input(beginning)?, beginning.len().max(HEAD_BYTES)).ok()
}

/// The delimiter of a table with this beginning, and the names of its columns, as they are read; `None` if it is not taken
/// for a table with names.
pub(crate) fn header_of(beginning: &[u8]) -> Option<(u8, Vec<String>)> {
    format_of(beginning).filter(|&format| format == Format::CSV)?;
    csv::header_of(input(beginning)?, &ReadOptions::default())
}

fn input(text: &[u8]) -> Option<Input> {
    Input::new(Box::new(Cursor::new(text.to_vec())), HEAD_BYTES).ok()
}

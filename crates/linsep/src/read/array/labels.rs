//! Labels and weights that come apart from their rows: an array, or a text with one on each line.

use super::npy::Npy;
use crate::read::error::{ReadError, ReadErrorKind, excerpt};
use crate::read::source::{self, Source};
use std::io::Read;
use std::path::Path;

/// The labels of all rows.
pub(super) struct LabelColumn {
    /// The file that holds them.
    source_name: String,
    stored: Stored,
}

enum Stored {
    Array(Npy),
    /// The text, and where each line starts and ends.
    Lines(Vec<u8>, Vec<(usize, usize)>),
}

impl LabelColumn {
    /// Labels from a file of their own.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let source = Source::from_argument(path);
        let source_name = source.name();
        let located = |kind| ReadError { source_name: source_name.clone(), line: None, column: None, kind };
        let (mut input, _) = source::open(&source).map_err(located)?;
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| located(error.into()))?;
        if bytes.starts_with(b"\x93NUMPY") {
            let array = Npy::parse(bytes).map_err(|problem| located(ReadErrorKind::Array(problem)))?;
            return Self::from_array(source_name.clone(), array).map_err(located);
        }
        Ok(Self { stored: lines(bytes), source_name })
    }

    /// Labels from an array, which must stand in one line.
    pub(super) fn from_array(source_name: String, array: Npy) -> Result<Self, ReadErrorKind> {
        if array.line_length().is_none() {
            let problem =
                format!("the labels have the shape {:?} where one dimension is needed", array.shape());
            return Err(ReadErrorKind::Array(problem));
        }
        Ok(Self { source_name, stored: Stored::Array(array) })
    }

    pub(super) fn len(&self) -> usize {
        match &self.stored {
            Stored::Array(array) => array.line_length().unwrap_or(0),
            Stored::Lines(_, lines) => lines.len(),
        }
    }

    pub(super) fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The label of a row as written; an error says which text is none.
    pub(super) fn text(&self, row: usize) -> Result<String, ReadErrorKind> {
        match &self.stored {
            Stored::Array(array) => {
                array.text(row).ok_or(ReadErrorKind::BadLabel { found: "not a text".to_string() })
            }
            Stored::Lines(bytes, lines) => {
                let (start, end) = lines.get(row).copied().unwrap_or((0, 0));
                let line = &bytes[start..end];
                let bad = |_| ReadErrorKind::BadLabel { found: excerpt(line) };
                std::str::from_utf8(line).map(str::to_string).map_err(bad)
            }
        }
    }
}

/// Reads one number for each row, how often it counts, from a file of its own.
pub fn read_weights(path: &Path) -> Result<Vec<f64>, crate::Error> {
    let column = LabelColumn::open(path)?;
    (0..column.len())
        .map(|row| {
            let located = |kind| ReadError {
                source_name: column.source_name.clone(),
                line: Some(row as u64 + 1),
                column: None,
                kind,
            };
            let text = column.text(row).map_err(located)?;
            let weight: f64 = text
                .trim()
                .parse()
                .map_err(|_| located(ReadErrorKind::NotANumber { found: excerpt(text.trim().as_bytes()) }))?;
            if weight == 0.0 || (1e-100..=1e100).contains(&weight) {
                return Ok(weight);
            }
            Err(located(ReadErrorKind::BadWeight { found: text.trim().to_string() }).into())
        })
        .collect()
}

/// Divides a text into lines; blank ones at its end are none.
fn lines(bytes: Vec<u8>) -> Stored {
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut lines = Vec::new();
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        lines.push((at, end));
        at = end + 1;
    }
    while lines.last().is_some_and(|&(start, end)| bytes[start..end].trim_ascii().is_empty()) {
        lines.pop();
    }
    Stored::Lines(bytes, lines)
}

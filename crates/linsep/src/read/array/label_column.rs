//! Labels and weights that come apart from their rows: an array, or a text with one on each line.

use super::idx;
use super::npy::{Form, Npy, take_header};
use super::npy_stream::Stream;
use crate::read::error::{LongLine, ReadError, ReadErrorKind, excerpt};
use crate::read::source::{self, Input, Source};
use std::io::{self, Read};
use std::path::Path;

/// The labels of all rows.
pub(in crate::read) struct LabelColumn {
    /// The file that holds them.
    source_name: String,
    stored: Stored,
}

enum Stored {
    Array(Npy),
    /// An array in a file of its own, read along with the rows.
    Stream(Box<Stream>),
    /// The text, and where each line starts, which is one after the end of the line before it. One more start than
    /// there are lines.
    Lines(Vec<u8>, Vec<usize>),
}

impl LabelColumn {
    /// Labels from a file of their own.
    pub(in crate::read) fn open(path: &Path) -> Result<Self, ReadError> {
        let source = Source::from_argument(path);
        let source_name = source.name();
        let located = |kind| ReadError::whole(&source_name, kind);
        let (mut input, _) = source::open(&source).map_err(located)?;
        if input.head().starts_with(b"\x93NUMPY") {
            let stream = open_array(input).map_err(located)?;
            return Ok(Self { stored: Stored::Stream(Box::new(stream)), source_name });
        }
        if idx::is_idx(input.head()) {
            let idx = idx::take_header(&mut input).map_err(located)?;
            let stream = Stream::open_line(input, idx.form, idx.header).map_err(located)?;
            return Ok(Self { stored: Stored::Stream(Box::new(stream)), source_name });
        }
        let bytes = read_lines(&mut input).map_err(|error| located(error.into()))?;
        Ok(Self { stored: lines(bytes), source_name })
    }

    /// Labels from an array, which must form one line.
    pub(super) fn from_array(source_name: String, array: Npy) -> Result<Self, ReadErrorKind> {
        array.form().line_of_labels().map_err(ReadErrorKind::Array)?;
        Ok(Self { source_name, stored: Stored::Array(array) })
    }

    pub(in crate::read) fn len(&self) -> usize {
        match &self.stored {
            Stored::Array(array) => array.line_length().unwrap_or(0),
            Stored::Stream(stream) => stream.rows(),
            Stored::Lines(_, starts) => starts.len() - 1,
        }
    }

    pub(in crate::read) fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The label of a row: the text of an array as it is, or a line without the blanks around it. An error shows the text that is
    /// not a label. Rows must be asked for in their order.
    pub(in crate::read) fn text(&mut self, row: usize) -> Result<String, ReadErrorKind> {
        let no_text = || ReadErrorKind::BadLabel { found: "not a text".to_string() };
        match &mut self.stored {
            Stored::Array(array) => array.text(row).ok_or_else(no_text),
            Stored::Stream(stream) => {
                stream.advance(row)?;
                stream.text(row).ok_or_else(no_text)
            }
            Stored::Lines(bytes, starts) => {
                let line = &bytes[starts[row]..starts[row + 1] - 1];
                let bad = |_| ReadErrorKind::BadLabel { found: excerpt(line) };
                std::str::from_utf8(line).map(|line| line.trim().to_string()).map_err(bad)
            }
        }
    }
}

fn open_array(mut input: Input) -> Result<Stream, ReadErrorKind> {
    let header = take_header(&mut input)?;
    let (form, start) = Form::parse(&header).map_err(ReadErrorKind::Array)?;
    // Items in one line have one order only, whatever the header calls it.
    Stream::open_line(input, form, start)
}

/// Reads one number for each row, how often it counts, from a file of its own.
pub fn read_weights(path: &Path) -> Result<Vec<f64>, crate::Error> {
    let mut column = LabelColumn::open(path)?;
    let source_name = column.source_name.clone();
    (0..column.len())
        .map(|row| {
            let located = |kind: ReadErrorKind| {
                let line = kind.is_row().then_some(row as u64 + 1);
                ReadError { source_name: source_name.clone(), line, column: None, kind }
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

/// The longest line of a text that has a label or a weight on each.
const LONGEST: usize = 1_000_000;

/// Reads a text of short lines. What has no line breaks, or zero bytes, which text has not, is refused before all of it is in memory.
fn read_lines(input: &mut Input) -> io::Result<Vec<u8>> {
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        let before = bytes.len();
        if input.by_ref().take(LONGEST as u64).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if memchr::memchr(0, &bytes[before..]).is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not text: it holds a zero byte"));
        }
        line = memchr::memrchr(b'\n', &bytes[before..]).map_or(line, |end| before + end + 1);
        if bytes.len() - line > LONGEST {
            return Err(LongLine { limit: LONGEST as u64, lines_before: 0 }.into());
        }
    }
}

/// Divides a text into lines; blank ones at its end are none.
fn lines(bytes: Vec<u8>) -> Stored {
    let first = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut starts = vec![first];
    starts.extend(memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1));
    // The last line may have no end; if it has one, what comes after it is a blank line.
    starts.push(bytes.len() + 1);
    while let [.., start, next] = starts[..]
        && bytes[start..next - 1].trim_ascii().is_empty()
    {
        starts.pop();
    }
    Stored::Lines(bytes, starts)
}

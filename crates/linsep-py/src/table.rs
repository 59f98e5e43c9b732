//! Columns of a frame as the text of a table, which the engine reads as the command line reads a file.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::io::Write;
use std::sync::Arc;

use crate::watch::detached;

/// A table as delimited text: commas, one header line, quotes by RFC 4180.
#[pyclass(frozen, module = "linsep._engine")]
pub struct Table {
    pub(crate) text: Arc<[u8]>,
}

/// The cells of a column.
#[derive(FromPyObject)]
enum Cells<'py> {
    /// Numbers, NaN where a cell is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Which of the words each row has; none that is there, where a cell is missing.
    Words((PyReadonlyArray1<'py, i32>, Vec<String>)),
}

/// The same without the interpreter: words as they are written.
enum Column<'a> {
    Numbers(&'a [f64]),
    Words(&'a [i32], Vec<String>),
}

/// Rows that one thread writes at a time.
const ROWS_TOGETHER: usize = 4096;

#[pymethods]
impl Table {
    #[new]
    fn new(py: Python<'_>, names: Vec<String>, columns: Vec<Cells<'_>>) -> PyResult<Self> {
        let contiguous = |error: numpy::AsSliceError| PyValueError::new_err(error.to_string());
        let columns: Vec<Column<'_>> = columns
            .iter()
            .map(|cells| match cells {
                Cells::Numbers(numbers) => Ok(Column::Numbers(numbers.as_slice()?)),
                Cells::Words((codes, words)) => {
                    Ok(Column::Words(codes.as_slice()?, words.iter().map(|word| quoted(word)).collect()))
                }
            })
            .collect::<Result<_, _>>()
            .map_err(contiguous)?;
        let lengths = || columns.iter().map(Column::len);
        let rows = lengths().next().unwrap_or(0);
        if names.len() != columns.len() || lengths().any(|length| length != rows) {
            return Err(PyValueError::new_err("each column needs one name, and all columns as many cells"));
        }
        Ok(Self { text: detached(py, || text_of(&names, &columns, rows)) })
    }

    /// The text.
    fn text(&self) -> &[u8] {
        &self.text
    }
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Column::Numbers(numbers) => numbers.len(),
            Column::Words(codes, _) => codes.len(),
        }
    }

    fn write(&self, row: usize, text: &mut Vec<u8>) {
        match self {
            Column::Numbers(numbers) => write_number(numbers[row], text),
            Column::Words(codes, words) => {
                let word = usize::try_from(codes[row]).ok().and_then(|code| words.get(code));
                text.extend_from_slice(word.map_or(b"", |word| word.as_bytes()));
            }
        }
    }
}

fn text_of(names: &[String], columns: &[Column<'_>], rows: usize) -> Arc<[u8]> {
    let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let mut text = header.join(",").into_bytes();
    text.push(b'\n');
    let starts = (0..rows).into_par_iter().step_by(ROWS_TOGETHER);
    let parts: Vec<Vec<u8>> = starts
        .map(|start| {
            let mut part = Vec::new();
            for row in start..(start + ROWS_TOGETHER).min(rows) {
                let line = part.len();
                for (place, column) in columns.iter().enumerate() {
                    if place > 0 {
                        part.push(b',');
                    }
                    column.write(row, &mut part);
                }
                if part.len() == line {
                    // An empty line would be no row.
                    part.extend_from_slice(b"\"\"");
                }
                part.push(b'\n');
            }
            part
        })
        .collect();
    text.reserve_exact(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| text.extend_from_slice(&part));
    text.into()
}

/// A number with the digits that bring back the same bits; nothing for one that is missing.
fn write_number(number: f64, text: &mut Vec<u8>) {
    let written = if number.is_nan() {
        Ok(())
    } else if number.fract() == 0.0 && number.abs() < 1e15 {
        write!(text, "{}", number as i64)
    } else {
        write!(text, "{number:?}")
    };
    // Writing to memory does not fail.
    debug_assert!(written.is_ok());
}

/// A word or a name as it is written: in quotes unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_string();
    }
    format!("\"{}\"", word.replace('"', "\"\""))
}

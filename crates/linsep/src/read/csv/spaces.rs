//! Columns that are divided by runs of spaces, as in tables made for reading: each run is one delimiter.

use crate::features::{ColumnKind, Schema};
use crate::read::ReadOptions;
use crate::read::filter::Filtered;
use crate::read::source::{HEAD_BYTES, Input};
use std::io;

/// Rows that are looked at.
const ROWS: usize = 50;

/// Whether the first rows have the same number of cells if every run of spaces divides them, one of them a number in every
/// row. Prose has rows of many lengths.
pub(super) fn divide(head: &[u8], options: &ReadOptions) -> bool {
    let ends_whole = head.len() < HEAD_BYTES;
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if rows.len() == ROWS {
            break;
        }
        let Ok(text) = std::str::from_utf8(line) else { return false };
        let cells: Vec<&str> = text.split_ascii_whitespace().collect();
        // Lines above the table may be comments.
        let is_comment = rows.is_empty() && cells.first().is_some_and(|cell| cell.starts_with('#'));
        if !cells.is_empty() && !is_comment && (text.ends_with('\n') || ends_whole) {
            rows.push(cells);
        }
    }
    let Some((first, below)) = rows.split_first() else { return false };
    let even = first.len() > 1 && below.iter().all(|row| row.len() == first.len());
    // A model says how many columns there should be, so that one row is enough.
    let fits_model = |columns: usize| match &options.schema {
        Some(Schema::Table { columns: known, .. }) => {
            let labels = known.iter().filter(|column| column.kind == ColumnKind::Label).count();
            columns == known.len() || columns + labels == known.len()
        }
        _ => false,
    };
    let is_number = |cell: &str| cell.parse::<f64>().is_ok() || cell == "?" || cell == "NA";
    let numeric =
        |j: usize| below.iter().all(|row| is_number(row[j])) && below.iter().any(|row| row[j] != "?");
    even && (fits_model(first.len()) || (!below.is_empty() && (0..first.len()).any(numeric)))
}

/// How many cells the first row has.
pub(super) fn width(head: &[u8]) -> usize {
    let rows = head.split(|&byte| byte == b'\n');
    let cells = |row: &[u8]| row.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()).count();
    rows.map(cells).find(|&cells| cells > 0).unwrap_or(0)
}

/// The same text with one space for each run of them, and none at the beginning and the end of a line.
pub(super) fn squeezed(input: Input) -> io::Result<Input> {
    // Whether spaces belong to a cell, whether some were met that are not written yet, and whether nothing of the line was.
    let (mut quoted, mut space, mut at_start) = (false, false, true);
    let squeeze = move |bytes: &[u8], _: bool, text: &mut Vec<u8>| {
        for &byte in bytes {
            if matches!(byte, b' ' | b'\t') && !quoted {
                space = true;
                continue;
            }
            let line_end = matches!(byte, b'\n' | b'\r') && !quoted;
            if std::mem::take(&mut space) && !at_start && !line_end {
                text.push(b' ');
            }
            text.push(byte);
            quoted ^= byte == b'"';
            at_start = line_end;
        }
        Ok(())
    };
    input.replaced(HEAD_BYTES, |rest| Box::new(Filtered::new(rest, squeeze)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn squeeze(text: &str) -> String {
        let mut squeezed = squeezed(Input::from_bytes(text.as_bytes(), 7)).unwrap();
        let mut text = String::new();
        squeezed.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn runs_become_one_space() {
        assert_eq!(squeeze("  a   b \t c \n\n1 2  3\r\n \"x  y\"   z"), "a b c\n\n1 2 3\r\n\"x  y\" z");
        let long = "1    2\n".repeat(100_000);
        assert_eq!(squeeze(&long), "1 2\n".repeat(100_000));
    }

    #[test]
    fn only_even_rows_with_a_number_are_divided() {
        let divides = |text: &str| divide(text.as_bytes(), &ReadOptions::default());
        assert!(divides("a  b\n1   x\n2 y\n"));
        assert!(divides(" 1.5   2  left\n 10.25 3  right\n"));
        for prose in ["hello world\n", "hello world\nfoo bar\n", "1 2 3\n4 5\n", "a b\n", "", "one\n1\n"] {
            assert!(!divides(prose), "{prose}");
        }
    }
}

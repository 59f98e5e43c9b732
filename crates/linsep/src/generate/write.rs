//! Synthetic rows written as text, in parallel and in constant memory.

use super::text_like::STEPS;
use super::{MadeRow, Maker, Synthetic, label};
use crate::observe::{Observer, Progress};
use rayon::prelude::*;
use std::io::{self, Write};

/// How generated rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// `label index:value …`, indices from 1. Dense kinds write zeros too.
    Libsvm,
    /// A header `x1,x2,…,label`, then every value of every row.
    Csv,
}

/// How much to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many rows.
    Rows(u64),
    /// Whole rows, up to and with the first one that makes the file at least so many bytes long. There is
    /// always one row.
    Bytes(u64),
}

/// Summary of the written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whole rows written.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether the limit was reached; false if the observer stopped it.
    pub complete: bool,
}

/// About how many bytes one thread makes at a time.
const BLOCK_BYTES: usize = 1 << 19;

/// Writes rows until the limit is reached or the observer breaks; then the file ends after a whole row.
///
/// The bytes depend on the kind of data, the seed, the format and the limit, not on the number of threads. Bad
/// settings give an error of the kind [`io::ErrorKind::InvalidInput`] that holds a
/// [`GenerateError`](super::GenerateError).
pub fn write(
    kind: &Synthetic,
    seed: u64,
    limit: Limit,
    format: FileFormat,
    out: &mut dyn Write,
    observer: &mut dyn Observer,
) -> io::Result<Written> {
    let maker = Maker::new(kind, seed).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let columns = kind.features();
    let mut written = Written { rows: 0, bytes: 0, complete: false };
    if format == FileFormat::Csv {
        written.bytes += write_header(columns, out)?;
    }
    let row_bytes = likely_row_bytes(kind, format);
    let block_rows = (BLOCK_BYTES / row_bytes).clamp(1, 1 << 14) as u64;
    // More blocks than threads, so that a slow one does not leave the others idle.
    let most_blocks = rayon::current_num_threads() as u64 * 4;
    let most_rows = most_blocks * block_rows;
    while !written.complete {
        let start = written.rows;
        let wanted = match limit {
            Limit::Rows(rows) => rows - start,
            // A guess: the loop goes on if it was too low, and rows beyond the limit are thrown away.
            Limit::Bytes(bytes) => bytes.saturating_sub(written.bytes) / row_bytes as u64 + 16,
        };
        let end = start + wanted.min(most_rows);
        let starts: Vec<u64> = (start..end).step_by(block_rows as usize).collect();
        let blocks: Vec<Vec<u8>> = starts
            .par_iter()
            .map(|&first| write_block(&maker, columns, format, first, end.min(first + block_rows)))
            .collect();
        written.complete = limit == Limit::Rows(end);
        for (&first, block) in starts.iter().zip(&blocks) {
            let mut rows = end.min(first + block_rows) - first;
            let mut text = &block[..];
            if let Limit::Bytes(bytes) = limit {
                // The row that reaches the limit ends at the first line end from the last wanted byte on.
                let last = bytes.saturating_sub(written.bytes).saturating_sub(1);
                let from = usize::try_from(last).unwrap_or(usize::MAX).min(block.len());
                if let Some(line_end) = memchr::memchr(b'\n', &block[from..]) {
                    text = &block[..=from + line_end];
                    rows = memchr::memchr_iter(b'\n', text).count() as u64;
                    written.complete = true;
                }
            }
            out.write_all(text)?;
            written.bytes += text.len() as u64;
            written.rows += rows;
            if written.complete && matches!(limit, Limit::Bytes(_)) {
                break;
            }
        }
        let (bytes, rows) = (written.bytes, written.rows);
        let total = match limit {
            Limit::Bytes(total) => total.max(bytes),
            Limit::Rows(_) if rows == 0 => bytes,
            Limit::Rows(all) => (bytes as f64 / rows as f64 * all as f64) as u64,
        };
        let go_on = observer.progress(&Progress::Writing { bytes, total, rows });
        if go_on.is_break() {
            break;
        }
    }
    out.flush()?;
    Ok(written)
}

fn likely_row_bytes(kind: &Synthetic, format: FileFormat) -> usize {
    let columns = kind.features();
    match (kind, format) {
        (Synthetic::Text { per_row, .. }, FileFormat::Libsvm) => 14 * *per_row as usize + 4,
        (Synthetic::Text { .. }, FileFormat::Csv) | (Synthetic::RandomLabels { .. }, FileFormat::Csv) => {
            3 * columns
        }
        (Synthetic::RandomLabels { .. }, FileFormat::Libsvm) => 8 * columns,
        _ => 24 * columns,
    }
}

fn write_header(columns: usize, out: &mut dyn Write) -> io::Result<u64> {
    let mut bytes = 0;
    let mut text = Vec::new();
    for column in 1..=columns {
        text.push(b'x');
        push_whole(&mut text, column as u32);
        text.push(b',');
        if text.len() >= BLOCK_BYTES || column == columns {
            out.write_all(&text)?;
            bytes += text.len() as u64;
            text.clear();
        }
    }
    out.write_all(b"label\n")?;
    Ok(bytes + 6)
}

fn write_block(maker: &Maker, columns: usize, format: FileFormat, start: u64, end: u64) -> Vec<u8> {
    let mut text = Vec::with_capacity(BLOCK_BYTES + BLOCK_BYTES / 4);
    let mut row = MadeRow::default();
    for number in start..end {
        maker.make(number, &mut row);
        match format {
            FileFormat::Libsvm => push_libsvm(&mut text, maker.is_sparse(), &row),
            FileFormat::Csv => push_csv(&mut text, maker.is_sparse(), columns, &row),
        }
    }
    text
}

fn push_libsvm(text: &mut Vec<u8>, sparse: bool, row: &MadeRow) {
    text.extend_from_slice(label(row.positive).as_bytes());
    if sparse {
        for &(column, steps) in &row.words {
            text.push(b' ');
            push_whole(text, column);
            text.push(b':');
            push_steps(text, steps);
        }
    } else {
        for (column, &value) in (1..).zip(&row.values) {
            text.push(b' ');
            push_whole(text, column);
            text.push(b':');
            push_float(text, value);
        }
    }
    text.push(b'\n');
}

fn push_csv(text: &mut Vec<u8>, sparse: bool, columns: usize, row: &MadeRow) {
    if sparse {
        let mut next = 1;
        for &(column, steps) in &row.words {
            (next..column).for_each(|_| text.extend_from_slice(b"0,"));
            push_steps(text, steps);
            text.push(b',');
            next = column + 1;
        }
        (next..=columns as u32).for_each(|_| text.extend_from_slice(b"0,"));
    } else {
        for &value in &row.values {
            push_float(text, value);
            text.push(b',');
        }
    }
    text.extend_from_slice(label(row.positive).as_bytes());
    text.push(b'\n');
}

/// Appends the shortest decimal that reads back as `value`.
fn push_float(text: &mut Vec<u8>, value: f64) {
    if value.abs() == 1.0 {
        // Patterns of ±1 are made of nothing else.
        text.extend_from_slice(if value > 0.0 { b"1" } else { b"-1" });
        return;
    }
    // Writing to memory cannot fail.
    let _ = write!(text, "{value}");
}

fn push_whole(text: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut place = digits.len();
    let mut rest = number;
    loop {
        place -= 1;
        digits[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[place..]);
}

/// Appends `steps` · 10⁻⁵ as a decimal without trailing zeros.
fn push_steps(text: &mut Vec<u8>, steps: u32) {
    push_whole(text, steps / STEPS);
    let mut rest = steps % STEPS;
    if rest == 0 {
        return;
    }
    let mut digits = *b".00000";
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let end = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    text.extend_from_slice(&digits[..end]);
}

//! Rows as text, written by several threads in the order of the rows.

use super::Watch;
use crate::dataset::{Dataset, Row};
use crate::read::{ColumnKind, Schema, read_back};
use rayon::prelude::*;
use std::io::{self, Write};

/// Values that one thread writes at a time, about.
const BLOCK_VALUES: usize = 1 << 15;

/// One more than the last column that is not zero.
pub(super) fn used_width(row: Row<'_>) -> usize {
    row.iter().filter(|&(_, value)| value != 0.0).last().map_or(0, |(column, _)| column + 1)
}

/// The first column that is not zero.
pub(super) fn first_used(row: Row<'_>) -> Option<usize> {
    row.iter().find(|&(_, value)| value != 0.0).map(|(column, _)| column)
}

/// Whether the first row is written with zeros: without a pair it would not tell the format. They are in the first and in
/// the last column, so they also tell what features count from, and how many there are.
pub(super) fn first_row_has_zeros(data: &Dataset) -> bool {
    used_width(data.row(0)) == 0
}

/// `label index:value …`, without zeros, of the first `rows` rows.
pub(super) fn write_libsvm(
    data: &Dataset,
    rows: usize,
    schema: &Schema,
    out: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()> {
    let base = schema.index_base() as usize;
    let per_row = data.stored() / data.len() + 1;
    let with_zeros = first_row_has_zeros(data);
    write_rows(rows, per_row, out, watch, |i, text| {
        text.extend_from_slice(data.classes()[data.labels()[i] as usize].as_bytes());
        if i == 0 && with_zeros {
            let mut zeros = vec![0, data.columns().saturating_sub(1)];
            zeros.dedup();
            for column in zeros {
                let _ = write!(text, " {}:0", column + base);
            }
        }
        for (column, value) in data.row(i).iter().filter(|&(_, value)| value != 0.0) {
            // Writing to memory does not fail.
            let _ = write!(text, " {}:", column + base);
            write_number(value, text);
        }
        text.push(b'\n');
    })
}

/// A header with the names of the features and `label`, then every value of the first `rows` rows.
pub(super) fn write_table(
    data: &Dataset,
    rows: usize,
    schema: &Schema,
    delimiter: u8,
    out: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()> {
    let mut header = Vec::new();
    for (place, name) in header_names(schema).iter().enumerate() {
        if place > 0 {
            header.push(delimiter);
        }
        write_field(name, delimiter, &mut header);
    }
    header.push(b'\n');
    out.write_all(&header)?;
    let labels: Vec<Vec<u8>> = data
        .classes()
        .iter()
        .map(|class| {
            let mut field = Vec::new();
            write_field(class, delimiter, &mut field);
            field
        })
        .collect();
    write_rows(rows, data.columns() + 1, out, watch, |i, text| {
        let mut next = 0;
        for (column, value) in data.row(i).iter() {
            for _ in next..column {
                text.extend_from_slice(&[b'0', delimiter]);
            }
            write_number(value, text);
            text.push(delimiter);
            next = column + 1;
        }
        for _ in next..data.columns() {
            text.extend_from_slice(&[b'0', delimiter]);
        }
        text.extend_from_slice(&labels[data.labels()[i] as usize]);
        text.push(b'\n');
    })
}

/// The names of the features, which cannot be taken for a first row of numbers, dates and missing cells, and that of the
/// labels: the one that they had, or another that no feature has.
pub(super) fn header_names(schema: &Schema) -> Vec<String> {
    let mut names: Vec<String> = (0..schema.features()).map(|j| schema.feature_name(j)).collect();
    if !names.iter().any(|name| read_back::may_name_column(name)) {
        names.iter_mut().for_each(|name| name.insert(0, 'x'));
    }
    let own = match schema {
        Schema::Table { header: true, columns, .. } => {
            columns.iter().find(|column| column.kind == ColumnKind::Label).map(|column| column.name.clone())
        }
        _ => None,
    };
    let mut name = own.unwrap_or_else(|| "label".to_string());
    while names.contains(&name) {
        name.push('_');
    }
    names.push(name);
    names
}

/// Writes rows in blocks, in parallel and in order.
fn write_rows(
    rows: usize,
    per_row: usize,
    out: &mut dyn Write,
    watch: Watch<'_>,
    write: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let block = (BLOCK_VALUES / per_row).max(1);
    // More blocks than threads, so that a slow one does not leave the others idle.
    let together = block * rayon::current_num_threads() * 4;
    let mut bytes = 0;
    for start in (0..rows).step_by(together) {
        let end = (start + together).min(rows);
        let starts: Vec<usize> = (start..end).step_by(block).collect();
        let texts: Vec<Vec<u8>> = starts
            .par_iter()
            .map(|&first| {
                let mut text = Vec::new();
                (first..(first + block).min(end)).for_each(|i| write(i, &mut text));
                text
            })
            .collect();
        for text in &texts {
            out.write_all(text)?;
            bytes += text.len() as u64;
        }
        watch(end as u64, bytes)?;
    }
    Ok(())
}

/// The shortest text that reads back as the same number; without hundreds of zeros. Numbers beyond 2⁵³ have an exponent:
/// whole ones without it are words for a reader of tables.
fn write_number(value: f64, text: &mut Vec<u8>) {
    const LARGEST_EXACT: f64 = (1u64 << 53) as f64;
    let magnitude = value.abs();
    // Writing to memory does not fail.
    let _ = if magnitude != 0.0 && !(1e-5..=LARGEST_EXACT).contains(&magnitude) {
        write!(text, "{value:e}")
    } else {
        write!(text, "{value}")
    };
}

/// A field, in quotes if it needs them. A comma does, whatever the delimiter is: it might be taken for that. So does a byte
/// order mark, which is passed over at the beginning of a file.
fn write_field(field: &str, delimiter: u8, text: &mut Vec<u8>) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r' | b'#' | b',');
    let padded = field.is_empty() || field.trim() != field || field.starts_with('\u{feff}');
    if padded || field.bytes().any(special) {
        text.push(b'"');
        text.extend_from_slice(field.replace('"', "\"\"").as_bytes());
        text.push(b'"');
    } else {
        text.extend_from_slice(field.as_bytes());
    }
}

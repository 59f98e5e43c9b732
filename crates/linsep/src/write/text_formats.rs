//! Rows as text, written by several threads in the order of the rows.

use super::Watch;
use crate::dataset::{Dataset, Row};
use crate::features::MissingWords;
use crate::read::{ColumnKind, Schema};
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

/// `label index:value …`, without zeros.
pub(super) fn write_libsvm(
    data: &Dataset,
    schema: &Schema,
    out: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()> {
    let base = schema.index_base() as usize;
    let per_row = data.stored() / data.len() + 1;
    write_rows(data.len(), per_row, out, watch, |i, text| {
        text.extend_from_slice(data.classes()[data.labels()[i] as usize].as_bytes());
        for (column, value) in data.row(i).iter().filter(|&(_, value)| value != 0.0) {
            // Writing to memory does not fail.
            let _ = write!(text, " {}:", column + base);
            write_number(value, text);
        }
        text.push(b'\n');
    })
}

/// A header with the names of the features and `label`, then every value of every row.
pub(super) fn write_table(
    data: &Dataset,
    schema: &Schema,
    delimiter: u8,
    out: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()> {
    let mut header = Vec::new();
    for name in column_names(schema) {
        write_field(&name, delimiter, &mut header);
        header.push(delimiter);
    }
    write_field(&label_name(schema), delimiter, &mut header);
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
    write_rows(data.len(), data.columns() + 1, out, watch, |i, text| {
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

/// Names that cannot be taken for a first row of numbers and missing cells.
fn column_names(schema: &Schema) -> Vec<String> {
    let names: Vec<String> = (0..schema.features()).map(|j| schema.feature_name(j)).collect();
    let is_cell =
        |name: &String| name.trim().parse::<f64>().is_ok() || MissingWords::Usual.in_numbers(name.as_bytes());
    match names.iter().all(is_cell) {
        true => names.into_iter().map(|name| format!("x{name}")).collect(),
        false => names,
    }
}

/// The name that the labels had, or another that no feature has.
fn label_name(schema: &Schema) -> String {
    let names = column_names(schema);
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
    name
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

/// The shortest text that reads back as the same number; without hundreds of zeros.
fn write_number(value: f64, text: &mut Vec<u8>) {
    let magnitude = value.abs();
    // Writing to memory does not fail.
    let _ = if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) {
        write!(text, "{value:e}")
    } else {
        write!(text, "{value}")
    };
}

/// A field, in quotes if it needs them.
fn write_field(field: &str, delimiter: u8, text: &mut Vec<u8>) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r' | b'#');
    if field.is_empty() || field.trim() != field || field.bytes().any(special) {
        text.push(b'"');
        text.extend_from_slice(field.replace('"', "\"\"").as_bytes());
        text.push(b'"');
    } else {
        text.extend_from_slice(field.as_bytes());
    }
}

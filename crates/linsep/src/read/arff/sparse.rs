//! Sparse rows of very many columns of numbers, read as they are: no table is made of the cells that they leave out.
//!
//! Other sparse rows are rewritten as CSV, like rows that name every cell.

use super::super::csv::Role;
use super::super::error::{ReadError, ReadErrorKind, excerpt};
use super::super::input::Input;
use super::super::label_table::LabelTable;
use super::super::number::{is_inexact_whole, parse_number};
use super::super::reader::{Expected, RecordReader};
use super::super::rewritten::CellCount;
use super::super::{Batch, Column, ColumnAs, ColumnKind, Labels, Missing, ReadNotes, ReadOptions, Schema};
use super::{Attribute, Header, Kind, cells, named_cells};
use crate::dataset::BatchRows;
use crate::features::{CellForm, MissingWords, Number};
use crate::numbers::counted;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

/// Cells of a batch, and its rows, at most.
const BATCH_CELLS: usize = 1 << 17;
const BATCH_ROWS: usize = 1 << 13;

/// The rows, one after the other.
pub(super) struct SparseRows {
    name: String,
    rest: BufReader<Input>,
    /// The line at hand, from 1.
    line: u64,
    names: Vec<String>,
    roles: Vec<Role>,
    /// The feature of each column; that of another column means nothing.
    features: Vec<u32>,
    width: usize,
    /// The class of a row that does not name its label.
    absent_label: String,
    options: ReadOptions,
    missing_words: MissingWords,
    labels: LabelTable,
    notes: ReadNotes,
    bytes: u64,
}

/// Whether the first rows, which an input begins with, are so sparse that a table of all their cells is out of proportion to
/// them, and hold numbers alone, which need no more than what they name.
pub(super) fn suits(header: &Header, roles: &[Role], input: &Input, options: &ReadOptions) -> bool {
    let is_number = |(attribute, role): (&Attribute, &Role)| {
        *role != Role::Feature
            || matches!(
                (&attribute.kind, options.csv.columns.get(&attribute.name)),
                (Kind::Number, None | Some(ColumnAs::Number))
            )
    };
    let plain = options.schema.is_none()
        && !options.csv.auto
        && options.csv.na.is_none()
        && options.text.columns.is_empty()
        && header.attributes.iter().zip(roles).all(is_number);
    if !plain {
        return false;
    }
    let (mut rows, mut named) = (0, 0);
    for row in input.head().split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|row| !row.is_empty())
    {
        if !row.starts_with(b"%") {
            rows += 1;
            named += row.iter().filter(|&&byte| byte == b',').count() as u64 + 1;
        }
    }
    let columns = header.attributes.len() as u64;
    match input.head_is_all() {
        true => CellCount::check(rows, columns, named).is_err(),
        false => CellCount::is_sparse(rows, columns, named),
    }
}

impl SparseRows {
    pub(super) fn open(
        name: String,
        header: Header,
        roles: Vec<Role>,
        input: Input,
        options: ReadOptions,
    ) -> Result<Self, ReadError> {
        let mut next = 0;
        let number = |role: &Role| {
            next += u32::from(*role == Role::Feature);
            next.saturating_sub(1)
        };
        let features: Vec<u32> = roles.iter().map(number).collect();
        let limit = options.feature_limit();
        if next > limit {
            return Err(ReadError::whole(&name, ReadErrorKind::TooManyFeatures { limit }));
        }
        let label = roles.iter().position(|role| *role == Role::Label);
        let absent_label = match label.map(|label| &header.attributes[label].kind) {
            Some(Kind::Words(first)) => first.clone(),
            _ => "0".to_string(),
        };
        let format = format!(
            "ARFF, sparse rows, {}",
            counted(u64::from(next), "column of numbers", "columns of numbers")
        );
        Ok(Self {
            name,
            line: input.lines_dropped(),
            rest: BufReader::with_capacity(1 << 16, input),
            names: header.attributes.into_iter().map(|attribute| attribute.name).collect(),
            roles,
            features,
            width: next as usize,
            absent_label,
            missing_words: MissingWords::listed(None),
            options,
            labels: LabelTable::default(),
            notes: ReadNotes { format, ..ReadNotes::default() },
            bytes: 0,
        })
    }

    /// The next line; `false` at the end.
    fn next_line(&mut self, line: &mut Vec<u8>) -> Result<bool, ReadErrorKind> {
        line.clear();
        let limit = self.options.line_limit();
        let count = (&mut self.rest).take(limit as u64 + 1).read_until(b'\n', line)?;
        self.line += 1;
        self.bytes += count as u64;
        match line.len() > limit {
            true => Err(ReadErrorKind::LongLine { limit: limit as u64 }),
            false => Ok(count > 0),
        }
    }

    /// The cells that a row names.
    fn named(&self, line: &[u8]) -> Result<BTreeMap<usize, String>, ReadErrorKind> {
        let bad = |problem: &str| ReadErrorKind::BadRow(format!("{problem}, in {}", excerpt(line)));
        let row = std::str::from_utf8(line).map_err(|_| bad("this is not UTF-8 text"))?;
        match row.strip_prefix('{').and_then(|row| row.strip_suffix('}')) {
            Some(pairs) => {
                let named = named_cells(pairs)
                    .ok_or_else(|| bad("a sparse row is pairs of the number of a column and a value"))?;
                match named.keys().next_back() {
                    Some(last) if *last >= self.names.len() => Err(bad(&format!(
                        "column {last} is beyond the last one, which is {}",
                        self.names.len() - 1
                    ))),
                    _ => Ok(named),
                }
            }
            None => {
                let cells = cells(row);
                let (found, expected) = (cells.len(), self.names.len());
                if found == expected {
                    Ok(cells
                        .into_iter()
                        .map(|cell| if cell == "<null>" { "?".to_string() } else { cell })
                        .enumerate()
                        .collect())
                } else {
                    Err(ReadErrorKind::Ragged { found, expected })
                }
            }
        }
    }

    /// Appends the features of a row; its class, or `None` for a row that is dropped.
    fn read(
        &mut self,
        line: &[u8],
        indices: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) -> Result<Option<u32>, ReadErrorKind> {
        let mut label = None;
        for (column, cell) in self.named(line)? {
            match self.roles[column] {
                Role::Ignored => {}
                Role::Label => label = Some(cell),
                Role::Feature if self.missing_words.in_numbers(cell.as_bytes()) => {
                    match self.options.csv.missing {
                        Missing::DropRow => return Ok(None),
                        Missing::Zero => {}
                        Missing::NotSaid | Missing::Refuse => {
                            return Err(ReadErrorKind::MissingCell {
                                column: self.names[column].clone(),
                                found: cell,
                            });
                        }
                        Missing::Auto | Missing::Mean => {
                            let (column, columns) = (&self.names[column], self.names.len());
                            return Err(ReadErrorKind::BadRow(format!(
                                "the cell in column \"{column}\" is missing, and sparse rows of {columns} columns have no means to fill in: \
                             ⟦missing=zero⟧ or ⟦missing=drop-row⟧ can be chosen"
                            )));
                        }
                    }
                }
                Role::Feature => {
                    let value = self.number(column, &cell)?;
                    if value != 0.0 {
                        indices.push(self.features[column]);
                        values.push(value);
                    }
                }
            }
        }
        if self.options.labels != Labels::Required {
            return Ok(Some(Batch::UNLABELLED));
        }
        let label = label.unwrap_or_else(|| self.absent_label.clone());
        if self.missing_words.in_labels(label.as_bytes()) {
            return match self.options.csv.missing.drops_unlabelled() {
                true => Ok(None),
                false => Err(ReadErrorKind::BadLabel { found: label }),
            };
        }
        let class = self.labels.class(label.as_bytes()).ok_or(ReadErrorKind::BadLabel { found: label })?;
        self.labels.check(self.options.class_limit())?;
        Ok(Some(class))
    }

    fn number(&self, column: usize, cell: &str) -> Result<f64, ReadErrorKind> {
        match parse_number(cell.trim_ascii().as_bytes()) {
            Some(number) if !number.is_finite() => {
                Err(ReadErrorKind::NotFinite { found: excerpt(cell.as_bytes()) })
            }
            Some(number) if !is_inexact_whole(number, cell.as_bytes()) => Ok(number),
            _ => Err(ReadErrorKind::WordAmongNumbers {
                column: self.names[column].clone(),
                found: excerpt(cell.as_bytes()),
            }),
        }
    }
}

impl RecordReader for SparseRows {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut lines, mut line) = (Vec::new(), Vec::new(), Vec::new());
        while labels.len() < BATCH_ROWS && indices.len() < BATCH_CELLS {
            let located = |this: &Self, kind| ReadError {
                source_name: this.name.clone(),
                line: Some(this.line),
                column: None,
                kind,
            };
            match self.next_line(&mut line) {
                Ok(true) => {}
                Ok(false) => break,
                Err(kind) => return Err(located(self, kind)),
            }
            let row = line.trim_ascii();
            if row.is_empty() || row[0] == b'%' {
                continue;
            }
            let before = indices.len();
            match self.read(row, &mut indices, &mut values) {
                Ok(Some(class)) => {
                    labels.push(class);
                    lines.push(self.line);
                    offsets.push(indices.len());
                    continue;
                }
                Ok(None) => self.notes.dropped += 1,
                Err(kind) if self.options.skip_bad && kind.is_row() => {
                    self.notes.skip(self.line, kind.to_string())
                }
                Err(kind) => return Err(located(self, kind)),
            }
            indices.truncate(before);
            values.truncate(before);
        }
        let rows = BatchRows::Sparse { offsets, indices, values };
        let batch =
            Batch { rows, labels, lines: Some(lines), filled: None, weights: None, hashed: Vec::new() };
        Ok((!batch.labels.is_empty()).then_some(batch))
    }

    fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    fn schema(&self) -> Schema {
        let column = |((name, role), &feature): ((&String, &Role), &u32)| {
            let kind = match role {
                Role::Label => ColumnKind::Label,
                Role::Ignored => ColumnKind::Ignored,
                Role::Feature => {
                    let feature = feature as usize;
                    ColumnKind::Number(Number { feature, fill: None, gap: None, form: CellForm::Plain })
                }
            };
            Column { name: name.clone(), kind, names_rows: None }
        };
        let columns: Vec<Column> =
            self.names.iter().zip(&self.roles).zip(&self.features).map(column).collect();
        let mut features = Vec::with_capacity(self.width);
        features.extend(
            columns
                .iter()
                .filter(|column| column.kind.features().is_some())
                .map(|column| column.name.clone()),
        );
        Schema::Table {
            header: true,
            columns,
            features,
            missing_words: self.missing_words.clone(),
            delimiter: None,
        }
    }

    fn notes(&self) -> ReadNotes {
        self.notes.clone()
    }

    fn expected(&self) -> Expected {
        Expected::FromText(self.bytes)
    }
}

//! Tables as delimited text: comma, tab, semicolon or bar, with or without a header, quoted by RFC 4180.
//!
//! A column whose cells are all numbers is one feature; any other column is one feature for each of its words.
//! Which is which is settled over the whole file, or over its beginning where rows are read once; then the rows
//! are read one after the other in the same way.

mod columns;
mod dialect;
mod matching;
mod records;
mod remarks;
#[cfg(test)]
mod tests;

use super::error::{ReadError, ReadErrorKind, excerpt};
use super::labels::LabelTable;
use super::number::parse_number;
use super::source::Input;
use super::{Batch, BatchRows, Labels, Missing, ReadNotes, ReadOptions, Schema};
use columns::{Column, Draft, OnMissing, Part};
use dialect::{Dialect, Sample};
use records::{Fault, Record, Records};
use std::io::Read;

/// Rows handed out at a time, and numbers: wide rows come in smaller batches.
const BATCH_ROWS: usize = 4096;
const BATCH_VALUES: usize = 1 << 20;

pub(crate) struct CsvReader {
    name: String,
    records: Records,
    record: Record,
    dialect: Dialect,
    columns: Vec<Column>,
    /// Whether the header is still to come.
    header_ahead: bool,
    /// The features so far.
    features: u32,
    dense: bool,
    rules: Rules,
    known: Option<Schema>,
    labels: LabelTable,
    missing: Missing,
    notes: ReadNotes,
    rows: u64,
    /// Whether the last column is that of the labels only because the rows end in a delimiter.
    trailing_delimiter: bool,
    /// Cells whose word the model does not know.
    unseen: u64,
    /// The row at hand: features and values, then the columns of its words and of its missing cells.
    values: Vec<(u32, f64)>,
    words: Vec<usize>,
    gaps: Vec<usize>,
    /// What is wrong after the rows that were handed out last.
    pending: Option<Fault>,
}

#[derive(Clone, Copy)]
struct Rules {
    feature_limit: u32,
    labels: Labels,
    skip_bad: bool,
}

/// Whether a cell stands for a value that is not there.
fn is_missing(cell: &[u8]) -> bool {
    // Most cells are numbers, and those can be told from their first digit.
    if cell.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let text = cell.trim_ascii();
    match text.len() {
        0 => true,
        1 => text == b"?",
        2 => text.eq_ignore_ascii_case(b"na"),
        3 => text.eq_ignore_ascii_case(b"n/a") || text.eq_ignore_ascii_case(b"nan"),
        4 => text.eq_ignore_ascii_case(b"null") || text.eq_ignore_ascii_case(b"none"),
        _ => false,
    }
}

/// Whether a label is not there. A class may be called "none".
pub(crate) fn is_missing_label(cell: &[u8]) -> bool {
    is_missing(cell) && !cell.trim_ascii().eq_ignore_ascii_case(b"none")
}

impl CsvReader {
    pub(crate) fn new(name: String, input: Input, options: &ReadOptions) -> Result<Self, ReadError> {
        let source_name = name.clone();
        Self::open(name, input, options).map_err(|fault| located(&source_name, fault))
    }

    fn open(name: String, mut input: Input, options: &ReadOptions) -> Result<Self, Fault> {
        if options.online && options.schema.is_none() && options.missing == Missing::Mean {
            return Err(dialect::nowhere(ReadErrorKind::MeanInOnePass));
        }
        let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
        let dialect = dialect::settle(sample, options)?;
        let delimiter = dialect.delimiter;
        let mut notes = ReadNotes::default();
        let trailing_delimiter = options.label.is_none() && dialect.ends_in_delimiter(sample);
        let (names, remark) = match &dialect.header {
            Some(header) => dialect::distinct_names(header),
            None => ((1..=dialect.width).map(|number| number.to_string()).collect(), None),
        };
        notes.remarks.extend(remark);
        let mut records;
        let columns;
        if let Some(schema) = &options.schema {
            let header = dialect.header.is_some();
            let (matched, remark) = matching::match_columns(names, header, schema, options)?;
            notes.remarks.extend(remark);
            columns = matched;
            records = Records::streaming(input, delimiter).map_err(dialect::nowhere)?;
        } else {
            let draft = Draft {
                roles: columns::roles(&names, options, true)?,
                names,
                header: dialect.header.is_some(),
                missing: options.missing,
                labels: options.labels,
                skip_bad: options.skip_bad,
            };
            if options.online {
                columns = draft.settle(&mut sample.records(delimiter), options.feature_limit())?;
                records = Records::streaming(input, delimiter).map_err(dialect::nowhere)?;
            } else {
                let mut text = Vec::new();
                input.read_to_end(&mut text).map_err(|error| dialect::nowhere(error.into()))?;
                records = Records::in_memory(text, false, delimiter);
                columns = draft.settle(&mut records, options.feature_limit())?;
                records.rewind();
            }
        }
        notes.format = remarks::format(&dialect, &columns);
        let numbers = columns.iter().filter(|column| matches!(column.part, Part::Number { .. })).count();
        Ok(Self {
            name,
            records,
            record: Record::default(),
            header_ahead: dialect.header.is_some(),
            dialect,
            features: numbers as u32,
            dense: !columns.iter().any(|column| matches!(column.part, Part::Words { .. })),
            columns,
            rules: Rules {
                feature_limit: options.feature_limit(),
                labels: options.labels,
                skip_bad: options.skip_bad,
            },
            known: options.schema.clone(),
            labels: LabelTable::default(),
            missing: options.missing,
            notes,
            rows: 0,
            trailing_delimiter,
            unseen: 0,
            values: Vec::new(),
            words: Vec::new(),
            gaps: Vec::new(),
            pending: None,
        })
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        self.collect().map_err(|fault| located(&self.name, fault))
    }

    fn collect(&mut self) -> Result<Option<Batch>, Fault> {
        let width = self.known.as_ref().map_or(self.features as usize, Schema::features);
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut lines) = (Vec::new(), Vec::new());
        if let Some(fault) = self.pending.take() {
            return Err(fault);
        }
        while labels.len() < BATCH_ROWS && values.len() < BATCH_VALUES {
            let read = match self.records.next(&mut self.record) {
                Ok(true) => self.read_record(),
                Ok(false) => break,
                Err(fault) => Err(fault),
            };
            let label = match read {
                Ok(Some(label)) => label,
                Ok(None) => continue,
                Err(fault) if self.rules.skip_bad && fault.kind.is_row() => {
                    self.notes.skip(self.record.line, fault.kind.to_string());
                    continue;
                }
                // The rows before it are whole: they are handed out first.
                Err(fault) if !labels.is_empty() => {
                    self.pending = Some(fault);
                    break;
                }
                Err(fault) => return Err(fault),
            };
            labels.push(label);
            lines.push(self.record.line);
            if self.dense {
                let start = values.len();
                values.resize(start + width, 0.0);
                for &(feature, value) in &self.values {
                    values[start + feature as usize] = value;
                }
            } else {
                self.values.retain(|&(_, value)| value != 0.0);
                self.values.sort_unstable_by_key(|&(feature, _)| feature);
                indices.extend(self.values.iter().map(|&(feature, _)| feature));
                values.extend(self.values.iter().map(|&(_, value)| value));
                offsets.push(indices.len());
            }
        }
        if labels.is_empty() {
            return self.check_columns().map(|()| None);
        }
        let rows = if self.dense {
            BatchRows::Dense { columns: width, values }
        } else {
            BatchRows::Sparse { offsets, indices, values }
        };
        Ok(Some(Batch { rows, labels, lines: Some(lines) }))
    }

    /// At the end: a column without a single value was not meant to be learned from.
    fn check_columns(&self) -> Result<(), Fault> {
        let empty =
            |column: &&Column| matches!(column.part, Part::Number { .. }) && column.missing == self.rows;
        match self.columns.iter().find(empty) {
            Some(column) if self.rows > 0 && self.known.is_none() => {
                Err(dialect::nowhere(ReadErrorKind::EmptyColumn { column: column.name.clone() }))
            }
            _ => Ok(()),
        }
    }

    /// Reads the record at hand into `values`; its label, or `None` if it gives no row. Nothing of a malformed
    /// row stays, neither its label nor its words.
    fn read_record(&mut self) -> Result<Option<u32>, Fault> {
        if let Some(fault) = self.record.misshape(self.dialect.width) {
            return Err(fault);
        }
        if std::mem::take(&mut self.header_ahead) {
            return Ok(None);
        }
        self.values.clear();
        self.words.clear();
        self.gaps.clear();
        let mut drop_row = false;
        let mut label_at = None;
        for (j, column) in self.columns.iter().enumerate() {
            let cell = self.record.cell(j);
            match column.part {
                Part::Ignored => {}
                Part::Label => label_at = Some(j),
                Part::Number { on_missing, .. } | Part::Words { on_missing, .. } if is_missing(cell) => {
                    self.gaps.push(j);
                    match (on_missing, &column.part) {
                        (OnMissing::Refuse, _) => {
                            let (column, found) = (column.name.clone(), excerpt(cell));
                            return Err(self
                                .record
                                .fault_at(j, ReadErrorKind::MissingCell { column, found }));
                        }
                        (OnMissing::Unknown, _) => {
                            let (column, found) = (column.name.clone(), excerpt(cell));
                            let kind = ReadErrorKind::MissingForModel { column, found };
                            return Err(self.record.fault_at(j, kind));
                        }
                        (OnMissing::DropRow, _) => drop_row = true,
                        (OnMissing::Fill(value), &Part::Number { feature, .. }) => {
                            self.values.push((feature, value));
                        }
                        _ => {}
                    }
                }
                Part::Number { feature, .. } => {
                    let value = self.number(cell, column).map_err(|kind| self.record.fault_at(j, kind))?;
                    self.values.push((feature, value));
                }
                Part::Words { .. } => {
                    if std::str::from_utf8(cell).is_err() {
                        let column = column.name.clone();
                        return Err(self.record.fault_at(j, ReadErrorKind::NotUtf8 { column }));
                    }
                    self.words.push(j);
                }
            }
        }
        let label = match label_at {
            Some(j)
                if self.rules.labels == Labels::Required
                    && self.missing == Missing::DropRow
                    && is_missing_label(self.record.cell(j)) =>
            {
                drop_row = true;
                Batch::UNLABELLED
            }
            Some(j) if self.rules.labels == Labels::Required => self.label(j, drop_row)?,
            _ => Batch::UNLABELLED,
        };
        if drop_row {
            self.notes.dropped += 1;
            return Ok(None);
        }
        self.set_words()?;
        for &j in &self.gaps {
            self.columns[j].missing += 1;
        }
        self.rows += 1;
        Ok(Some(label))
    }

    fn number(&self, cell: &[u8], column: &Column) -> Result<f64, ReadErrorKind> {
        match parse_number(cell.trim_ascii()) {
            Some(number) if number.is_finite() => Ok(number),
            Some(_) => Err(ReadErrorKind::NotFinite { found: excerpt(cell) }),
            None if std::str::from_utf8(cell).is_err() => {
                Err(ReadErrorKind::NotUtf8 { column: column.name.clone() })
            }
            None => {
                Err(ReadErrorKind::WordAmongNumbers { column: column.name.clone(), found: excerpt(cell) })
            }
        }
    }

    /// The class of the label in cell `j`; the label of a row that is dropped is only checked.
    fn label(&mut self, j: usize, drop_row: bool) -> Result<u32, Fault> {
        let cell = self.record.cell(j);
        if std::str::from_utf8(cell).is_err() {
            let column = self.columns[j].name.clone();
            return Err(self.record.fault_at(j, ReadErrorKind::NotUtf8 { column }));
        }
        let class = match (is_missing_label(cell), drop_row) {
            (true, _) => None,
            (false, true) => LabelTable::default().class(cell),
            (false, false) => self.labels.class(cell),
        };
        class.ok_or_else(|| {
            let trailing = self.trailing_delimiter && j + 1 == self.dialect.width && cell.is_empty();
            let kind = match trailing {
                true => ReadErrorKind::TrailingDelimiter,
                false => ReadErrorKind::BadLabel { found: excerpt(cell) },
            };
            self.record.fault_at(j, kind)
        })
    }

    /// Sets the features of the row's words. A new word becomes a feature, unless the model is settled.
    fn set_words(&mut self) -> Result<(), Fault> {
        for &j in &self.words {
            let column = &mut self.columns[j];
            let Part::Words { features, .. } = &mut column.part else { continue };
            // The text was checked before; a cell that is no text has no word.
            let Ok(word) = std::str::from_utf8(self.record.cell(j)) else { continue };
            if self.known.is_none() {
                match parse_number(word.trim_ascii().as_bytes()) {
                    Some(number) if number.is_finite() => column.numbers += 1,
                    _ if column.first_word.is_none() => {
                        column.first_word = Some((excerpt(word.as_bytes()), self.record.line_of(j)));
                    }
                    _ => {}
                }
            }
            match features.get(word) {
                Some(&feature) => self.values.push((feature, 1.0)),
                None if self.known.is_some() => self.unseen += 1,
                None if self.features >= self.rules.feature_limit => {
                    let limit = self.rules.feature_limit;
                    return Err(self.record.fault_at(j, ReadErrorKind::TooManyFeatures { limit }));
                }
                None => {
                    features.insert(word.to_string(), self.features);
                    self.values.push((self.features, 1.0));
                    self.features += 1;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    pub(crate) fn schema(&self) -> Schema {
        if let Some(schema) = &self.known {
            return schema.clone();
        }
        let mut features = vec![String::new(); self.features as usize];
        for column in &self.columns {
            match &column.part {
                Part::Number { feature, .. } => features[*feature as usize] = column.name.clone(),
                Part::Words { features: words, .. } => {
                    for (word, &feature) in words {
                        features[feature as usize] = format!("{}={word}", column.name);
                    }
                }
                Part::Label | Part::Ignored => {}
            }
        }
        Schema::Table {
            header: self.dialect.header.is_some(),
            columns: self.columns.iter().map(Column::describe).collect(),
            features,
        }
    }

    pub(crate) fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        notes.remarks.extend(remarks::mixed(&self.columns, self.rows));
        notes.remarks.extend(remarks::missing(&self.columns, self.missing));
        if self.known.is_none() {
            notes.remarks.extend(remarks::identifiers(&self.columns, self.rows));
        }
        notes.remarks.extend(remarks::unseen(self.unseen));
        notes
    }
}

/// A fault on line 0 is one of the file as a whole.
fn located(source_name: &str, fault: Fault) -> ReadError {
    let place = |number: u64| (number > 0).then_some(number);
    let (line, column) = (place(fault.line), place(fault.column));
    ReadError { source_name: source_name.to_string(), line, column, kind: fault.kind }
}

//! Text as Vowpal Wabbit reads it: `label importance 'tag |namespace feature:value feature … |namespace …`.
//!
//! Features are known by their names, `namespace^feature`, and numbered by first appearance; nothing is hashed. An importance
//! is how often the row counts. Tags and initial predictions are passed over.

mod detect;
mod rows;
#[cfg(test)]
mod tests;

use super::chunks::{CHUNK_BYTES, Chunks};
use super::error::{LongLine, ReadError, ReadErrorKind};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::label_table::LabelTable;
use super::reader::{Expected, Opening, RecordReader};
use super::source::Input;
use super::{Batch, Column, ColumnKind, ReadNotes, ReadOptions, Schema};
use crate::Error;
use crate::dataset::BatchRows;
use crate::features::{CellForm, MissingWords, Number};
use crate::numbers::counted;
use rows::{Block, Rules};
use std::collections::HashMap;

pub(super) static VW: FormatDescriptor = FormatDescriptor {
    name: Format::VW.name(),
    title: "Vowpal Wabbit",
    help: "Vowpal Wabbit's text: label importance |namespace feature:value …",
    extensions: &["vw"],
    columns: FormatColumns::Named,
    is_text: true,
    is_written: false,
    options: &[],
    matched_by_number: None,
    detect: Detect::Text(detect::is_vowpal_wabbit),
    open,
};

impl Format {
    /// Text as Vowpal Wabbit reads it.
    pub const VW: Format = Format::named("vw");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    Ok(Box::new(VwReader::new(opening.name, opening.input, opening.options, CHUNK_BYTES)))
}

struct VwReader {
    name: String,
    chunks: Chunks<Block>,
    rules: Rules,
    names: Names,
    known: Option<Schema>,
    labels: LabelTable,
    class_limit: usize,
    feature_limit: usize,
    lines: u64,
    /// Bytes of all chunks so far.
    text_bytes: u64,
    /// Rows whose importance is not 1, and rows with an initial prediction.
    weighted: u64,
    with_base: u64,
    /// Features that the model does not know.
    unknown: u64,
    notes: ReadNotes,
}

/// The features by their names.
enum Names {
    /// As the rows show them.
    Found { places: HashMap<String, u32>, names: Vec<String> },
    /// As a model has them.
    Known(HashMap<String, u32>),
}

impl Names {
    fn of(schema: Option<&Schema>) -> Self {
        match schema {
            None => Names::Found { places: HashMap::new(), names: Vec::new() },
            Some(schema) => {
                Names::Known((0..schema.features()).map(|j| (schema.feature_name(j), j as u32)).collect())
            }
        }
    }

    /// The feature of a name, which becomes one if there is no model.
    fn place(&mut self, name: &str) -> Option<u32> {
        match self {
            Names::Known(places) => places.get(name).copied(),
            Names::Found { places, names } => Some(places.get(name).copied().unwrap_or_else(|| {
                let place = names.len() as u32;
                places.insert(name.to_string(), place);
                names.push(name.to_string());
                place
            })),
        }
    }
}

impl VwReader {
    fn new(name: String, mut input: Input, options: &ReadOptions, chunk_bytes: usize) -> Self {
        input.skip_byte_order_mark();
        let lines = input.lines_dropped();
        let rules = Rules { labels: options.labels, skip_bad: options.skip_bad, one_pass: options.online };
        Self {
            name,
            chunks: Chunks::new(input, chunk_bytes, options.line_limit(), move |text| {
                Block::parse(text, rules)
            }),
            rules,
            names: Names::of(options.schema.as_ref()),
            known: options.schema.clone(),
            labels: LabelTable::default(),
            class_limit: options.class_limit(),
            feature_limit: options.feature_limit() as usize,
            lines,
            text_bytes: 0,
            weighted: 0,
            with_base: 0,
            unknown: 0,
            notes: ReadNotes::default(),
        }
    }

    fn located(&self, line: Option<u64>, column: Option<u64>, kind: ReadErrorKind) -> ReadError {
        ReadError { source_name: self.name.clone(), line, column, kind }
    }

    /// Takes over a parsed block; the blocks before it have been taken, so that names are numbered in their order.
    fn take(&mut self, mut block: Block) -> Result<Option<Batch>, ReadError> {
        for bad in block.bad.drain(..) {
            let line = self.lines + bad.line;
            if !(self.rules.skip_bad && bad.kind.is_row()) {
                return Err(match self.chunks.failure_ahead() {
                    Some(failure) => self.located(None, None, failure.into()),
                    None => self.located(Some(line), Some(bad.column), bad.kind),
                });
            }
            self.notes.skip(line, bad.kind.to_string());
        }
        let places = self.labels.merge(&block.table);
        self.labels.check(self.class_limit).map_err(|kind| self.located(None, None, kind))?;
        for label in block.labels.iter_mut().filter(|label| **label != Batch::UNLABELLED) {
            *label = places[*label as usize];
        }
        block.lines.iter_mut().for_each(|line| *line += self.lines);
        self.lines += block.line_count;
        let features: Vec<Option<u32>> = block.names.iter().map(|name| self.names.place(name)).collect();
        if let Names::Found { names, .. } = &self.names
            && names.len() > self.feature_limit
        {
            let limit = u32::try_from(self.feature_limit).unwrap_or(u32::MAX);
            return Err(self.located(None, None, ReadErrorKind::TooManyFeatures { limit }));
        }
        if block.labels.is_empty() {
            return Ok(None);
        }
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut row = Vec::new();
        for ends in block.offsets.windows(2) {
            row.clear();
            for &(name, value) in &block.pairs[ends[0]..ends[1]] {
                match features[name as usize] {
                    Some(feature) => row.push((feature, value)),
                    None => self.unknown += 1,
                }
            }
            row.sort_unstable_by_key(|&(feature, _)| feature);
            indices.extend(row.iter().map(|&(feature, _)| feature));
            values.extend(row.iter().map(|&(_, value)| value));
            offsets.push(indices.len());
        }
        let weighted = block.weights.iter().filter(|&&weight| weight != 1.0).count() as u64;
        self.weighted += weighted;
        self.with_base += block.with_base;
        Ok(Some(Batch {
            rows: BatchRows::Sparse { offsets, indices, values },
            labels: block.labels,
            lines: Some(block.lines),
            filled: None,
            weights: (weighted > 0).then_some(block.weights),
            hashed: Vec::new(),
        }))
    }
}

impl RecordReader for VwReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        while let Some(chunk) = self.chunks.next() {
            let chunk = chunk.map_err(|error| {
                let line = LongLine::lines_before(&error).map(|lines| self.lines + lines + 1);
                self.located(line, None, error.into())
            })?;
            self.text_bytes += chunk.bytes as u64;
            if let Some(batch) = self.take(chunk.content)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    /// Each feature is a column of numbers of which a row need not speak: then it is zero.
    fn schema(&self) -> Schema {
        let Names::Found { names, .. } = &self.names else {
            return self.known.clone().unwrap_or(Schema::Array { features: 0 });
        };
        let column = |(feature, name): (usize, &String)| Column {
            name: name.clone(),
            kind: ColumnKind::Number(Number { feature, fill: Some(0.0), gap: None, form: CellForm::Plain }),
            names_rows: None,
        };
        Schema::Table {
            header: true,
            columns: names.iter().enumerate().map(column).collect(),
            features: names.clone(),
            missing_words: MissingWords::Usual,
            delimiter: None,
        }
    }

    fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        notes.format = "Vowpal Wabbit text, features by name".to_string();
        if self.weighted > 0 {
            let rows = counted(self.weighted, "row has an importance", "rows have an importance");
            notes.remarks.push(format!("{rows} other than 1: each row counts as often as that says."));
        }
        if self.with_base > 0 {
            notes.remarks.push("Initial predictions, after the importance, are ignored.".to_string());
        }
        if self.unknown > 0 {
            let features = counted(self.unknown, "feature of the rows is", "features of the rows are");
            notes.remarks.push(format!("{features} not in the model and ignored."));
        }
        notes
    }

    fn expected(&self) -> Expected {
        Expected::FromText(self.text_bytes)
    }
}

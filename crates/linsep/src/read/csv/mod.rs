//! Tables as delimited text: comma, tab, semicolon or bar, with or without a header, quoted by RFC 4180.
//!
//! A column whose cells are all numbers is one feature; any other column is one feature for each of its words.
//! Which is which is settled over the whole file, or over its beginning where rows are read once; then the rows
//! are read one after the other in the same way.

mod block;
mod columns;
mod comments;
mod dialect;
mod free_text;
mod guess;
#[cfg(test)]
mod guess_tests;
mod matching;
mod numbers;
mod opening;
mod plain;
mod records;
mod remarks;
mod settle;
mod spaces;
mod stray_quotes;
mod survey;
mod suspects;
#[cfg(test)]
mod tests;
mod titles;

pub(super) use columns::Role;
pub(super) use dialect::is_word;
pub(super) use opening::header_of;

use super::chunks::{CHUNK_BYTES, Chunk, Chunks};
use super::error::{ReadError, ReadErrorKind};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::label_table::LabelTable;
use super::reader::{Expected, Opening, RecordReader};
use super::source::Input;
use super::{Batch, ColumnKind, Labels, ReadNotes, ReadOptions, Schema};
use crate::dataset::BatchRows;
use crate::features::text::TextNumbers;
use crate::features::{OnMissing, TermFeatures, term_prefixes, word_feature};
use crate::{Error, SettingsError};
use block::{Block, Reading, Rules};
pub(crate) use columns::RowsSoFar;
use columns::{CellUse, Column, Counts};
use dialect::Dialect;
use records::{Fault, LineNumbering};
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use suspects::Suspect;

/// The options that have a meaning for tables.
pub(super) const CSV_OPTIONS: &[&str] = &[
    "label",
    "ignore",
    "keep",
    "column",
    "header",
    "delimiter",
    "missing",
    "na",
    "auto",
    "labels",
    "text",
    "text_options",
];

pub(super) static CSV: FormatDescriptor = FormatDescriptor {
    name: Format::CSV.name(),
    title: "CSV",
    help: "Delimited text: comma, tab, semicolon or bar",
    extensions: &["csv"],
    columns: FormatColumns::Table,
    is_text: true,
    is_written: true,
    options: CSV_OPTIONS,
    matched_by_number: None,
    detect: Detect::Row(has_delimiter),
    open,
};

pub(super) static TSV: FormatDescriptor = FormatDescriptor {
    name: Format::TSV.name(),
    title: "TSV",
    help: "Tab-separated text",
    extensions: &["tsv"],
    detect: Detect::ByNameOnly,
    open,
    columns: FormatColumns::Table,
    is_text: true,
    is_written: true,
    options: CSV_OPTIONS,
    matched_by_number: None,
};

impl Format {
    /// Delimited text.
    pub const CSV: Format = Format::named("csv");
    /// Tab-separated text.
    pub const TSV: Format = Format::named("tsv");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, input, format, options, guess, .. } = opening;
    let mut options = options.clone();
    if format == Format::TSV {
        options.csv.delimiter.get_or_insert(b'\t');
    }
    match CsvReader::new(name, input, &options, guess) {
        Ok(reader) => Ok(Box::new(reader)),
        Err(ReadError { kind: ReadErrorKind::Misused(reason), .. }) => {
            Err(SettingsError::new("format", reason).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a row has one of the usual delimiters.
fn has_delimiter(row: &[u8]) -> bool {
    row.iter().any(|byte| b",;\t|".contains(byte))
}

/// What columns with these names are for, unless the options contradict each other or the names.
pub(super) fn roles_of(names: &[String], options: &ReadOptions) -> Option<Vec<Role>> {
    columns::roles(names, options, options.array.labels_file.is_none()).ok()
}

/// Whether the rows of a text are divided by runs of spaces.
pub(super) fn has_spaced_columns(head: &[u8], options: &ReadOptions) -> bool {
    spaces::divide(head, options)
}

pub(crate) struct CsvReader {
    name: String,
    chunks: Chunks<Block>,
    /// The longest record accepted; one may go over several lines.
    line_limit: usize,
    reading: Arc<RwLock<Reading>>,
    dialect: Dialect,
    known: Option<Schema>,
    rules: Rules,
    /// Bytes of all chunks so far.
    text_bytes: u64,
    /// The line on which the next record starts.
    line: u64,
    /// The beginning of a record that does not end in its chunk, and how long it must get before it is looked at
    /// again: twice as long each time, so that a long record is not looked at too often.
    unfinished: Vec<u8>,
    look_again: usize,
    labels: LabelTable,
    class_limit: usize,
    /// Of each column, what was met.
    counts: Vec<Counts>,
    /// Columns that nothing general is learned from, as far as the rows so far tell.
    suspects: Vec<Suspect>,
    /// Of each column of texts, the features of its terms; empty where no column has texts.
    texts: Vec<TextNumbers>,
    notes: ReadNotes,
    rows: u64,
    /// Whether a later row has the class of the first.
    first_class_recurs: bool,
    /// Cells whose word the model does not know.
    unseen: u64,
    /// The values seen in earlier rows of the same table.
    before: RowsSoFar,
    /// The problem after the rows that were handed out last.
    pending: Option<Fault>,
    ended: bool,
}

impl CsvReader {
    /// Opens a table. Where `guess` is set the columns are guessed from the first rows, even if all rows are to
    /// settle them: then any fault may be one of the guess, see [`Self::is_guess`].
    pub(crate) fn new(
        name: String,
        input: Input,
        options: &ReadOptions,
        guess: bool,
    ) -> Result<Self, ReadError> {
        let source_name = name.clone();
        Self::open(name, input, options, guess, CHUNK_BYTES, LineNumbering::TEXT)
            .map_err(|fault| located(&source_name, fault))
    }

    /// Opens a table whose first line stands in the place of the last line that the input has forgotten.
    pub(super) fn after_header(
        name: String,
        input: Input,
        options: &ReadOptions,
        guess: bool,
    ) -> Result<Self, ReadError> {
        let source_name = name.clone();
        let numbering = LineNumbering { first: 0, by_record: false };
        Self::open(name, input, options, guess, CHUNK_BYTES, numbering)
            .map_err(|fault| located(&source_name, fault))
    }

    /// Opens a table that was made from another format: its lines are those of that one, and its bytes mean nothing.
    pub(super) fn of_records(
        name: String,
        input: Input,
        options: &ReadOptions,
        guess: bool,
        first: u64,
    ) -> Result<Self, ReadError> {
        let source_name = name.clone();
        let numbering = LineNumbering { first, by_record: true };
        Self::open(name, input, options, guess, CHUNK_BYTES, numbering)
            .map_err(|fault| located(&source_name, fault))
    }

    /// The same reader for a text that was made from another format.
    pub(super) fn called(mut self, instead_of: &str, format: &str) -> Self {
        self.notes.format = self.notes.format.replacen(instead_of, format, 1);
        self
    }

    /// Takes over the next chunk. It was read as if it began with a record, and as if the chunks under way before
    /// it had no new words. Where that is not so it is read again, now that all before it is known.
    fn take_chunk(&mut self, chunk: Chunk<Block>) -> Option<Batch> {
        let Chunk { content: block, bytes, lines, .. } = chunk;
        self.text_bytes += bytes as u64;
        let words_fit = !block.knows_new_words() || block.features_before == look(&self.reading).features;
        let fits = self.unfinished.is_empty() && words_fit;
        if fits && !block.unfinished {
            return self.take(block);
        }
        let mut text = match lines.read() {
            Ok(text) => text,
            Err(failure) => return self.finish(Some(failure)),
        };
        if fits {
            text.drain(..block.bytes);
            self.look_again = text.len() * 2;
            self.unfinished = text;
            return self.take(block);
        }
        self.unfinished.append(&mut text);
        if self.unfinished.len() < self.look_again {
            return None;
        }
        self.take_unfinished(false)
    }

    /// Nothing comes any more: reads what is left.
    fn finish(&mut self, failure: Option<io::Error>) -> Option<Batch> {
        // The record that a failure cut is not a row.
        let batch = self.take_unfinished(failure.is_none());
        let line = self.line;
        self.pending = self.pending.take().or_else(|| match failure {
            Some(failure) => Some(dialect::failed(failure, line)),
            None => self.empty_column(),
        });
        self.ended = true;
        batch
    }

    /// Reads the records of the text that was not finished.
    fn take_unfinished(&mut self, whole: bool) -> Option<Batch> {
        let mut text = std::mem::take(&mut self.unfinished);
        let block = Block::rows(&text, whole, &look(&self.reading));
        text.drain(..block.bytes);
        self.look_again = text.len() * 2;
        self.unfinished = text;
        let batch = self.take(block);
        if self.unfinished.len() > self.line_limit {
            let kind = ReadErrorKind::LongLine { limit: self.line_limit as u64 };
            self.pending.get_or_insert(Fault { line: self.line, column: 0, kind });
        }
        batch
    }

    /// Takes over what a block holds; all before it has been taken.
    fn take(&mut self, mut block: Block) -> Option<Batch> {
        for skipped in std::mem::take(&mut block.notes.first_skipped) {
            self.notes.skip(self.line + skipped.line, skipped.reason);
        }
        self.notes.skipped += block.notes.skipped.saturating_sub(ReadNotes::LISTED as u64);
        self.notes.dropped += block.notes.dropped;
        for (counts, more) in self.counts.iter_mut().zip(std::mem::take(&mut block.counts)) {
            counts.add(more, self.line);
        }
        if !block.new_words.is_empty() {
            let mut reading = self.reading.write().unwrap_or_else(PoisonError::into_inner);
            reading.features += block.new_words.len() as u32;
            for (j, text, word) in std::mem::take(&mut block.new_words) {
                if let CellUse::Words { words, .. } = &mut reading.columns[j].used_for {
                    words.insert(text, word);
                }
            }
        }
        if !self.texts.is_empty() {
            let mut reading = self.reading.write().unwrap_or_else(PoisonError::into_inner);
            let mut next = reading.features;
            let number = |&(j, number): &(usize, u32)| {
                self.texts[j].feature(block.text_blocks[j].terms.term(number), &mut next)
            };
            let features: Vec<u32> = block.new_terms.iter().map(number).collect();
            reading.features = next;
            self.texts.iter_mut().zip(&block.text_blocks).for_each(|(text, block)| text.take_hashes(block));
            block.number_terms(&features);
            if next > self.rules.feature_limit {
                let kind = ReadErrorKind::TooManyFeatures { limit: self.rules.feature_limit };
                self.pending = Some(dialect::nowhere(kind));
                return None;
            }
        }
        let places = self.labels.merge(&block.table);
        for label in block.labels.iter_mut().filter(|label| **label != Batch::UNLABELLED) {
            *label = places[*label as usize];
        }
        block.lines.iter_mut().for_each(|line| *line += self.line);
        self.rows += block.labels.len() as u64;
        self.unseen += block.unseen;
        self.pending = block.fault.map(|fault| Fault { line: self.line + fault.line, ..fault });
        self.line += block.line_count;
        if let Err(kind) = self.labels.check(self.class_limit) {
            self.pending = Some(dialect::nowhere(kind));
            return None;
        }
        if block.labels.is_empty() {
            return None;
        }
        let others = if self.rows == block.labels.len() as u64 { &block.labels[1..] } else { &block.labels };
        self.first_class_recurs = self.first_class_recurs || others.contains(&0);
        let (offsets, indices, values) = (block.offsets, block.indices, block.values);
        let rows = match look(&self.reading).dense {
            Some(columns) => BatchRows::Dense { columns, values },
            None => BatchRows::Sparse { offsets, indices, values },
        };
        if !self.suspects.is_empty() {
            self.suspects.retain_mut(|suspect| rows_agree(&rows, suspect));
        }
        let filled = self.rules.mark_filled.then_some(block.filled);
        let hashed = block.hashed;
        Some(Batch { rows, labels: block.labels, lines: Some(block.lines), filled, weights: None, hashed })
    }

    /// Describes the terms of texts that were met, and names their features.
    fn describe_texts(&self, columns: &mut [super::Column], features: &mut Vec<String>) {
        let prefix = term_prefixes(columns);
        for (column, numbers) in columns.iter_mut().zip(&self.texts) {
            let prefix = prefix(&column.name);
            let ColumnKind::Text(text) = &mut column.kind else { continue };
            *text = numbers.describe(text);
            match &text.features {
                TermFeatures::AsRead(numbers) => numbers.iter().enumerate().for_each(|(term, &feature)| {
                    features[feature as usize] = text.feature_name(&prefix, term)
                }),
                // They come after all others, and are named by their column.
                TermFeatures::Learned { first, .. } => features.truncate(*first),
            }
        }
    }

    /// A column without a single value was not meant to be learned from.
    fn empty_column(&self) -> Option<Fault> {
        let reading = look(&self.reading);
        let empty = |&(column, counts): &(&Column, &Counts)| {
            let number = matches!(column.used_for, CellUse::Number { on_missing, .. } if on_missing != OnMissing::Leave);
            number && counts.missing == self.rows
        };
        let (column, _) = reading.columns.iter().zip(&self.counts).find(empty)?;
        let kind = ReadErrorKind::EmptyColumn { column: column.name.clone() };
        (self.rows > 0 && self.known.is_none()).then(|| dialect::nowhere(kind))
    }

    /// The values seen in these rows and in those before.
    fn all(&self) -> RowsSoFar {
        let mut all = self.before.clone();
        all.counts.resize(self.counts.len(), Counts::default());
        for (counts, own) in all.counts.iter_mut().zip(&self.counts) {
            counts.add(own.clone(), all.lines);
        }
        all.rows += self.rows;
        all.unseen += self.unseen;
        all.add_remarks(&self.notes.remarks);
        all
    }
}

impl RecordReader for CsvReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        while self.pending.is_none() && !self.ended {
            let batch = match self.chunks.next() {
                Some(Ok(chunk)) => self.take_chunk(chunk),
                Some(Err(failure)) => self.finish(Some(failure)),
                None => self.finish(None),
            };
            if batch.is_some() {
                return Ok(batch);
            }
        }
        self.ended = true;
        self.pending.take().map_or(Ok(None), |fault| Err(located(&self.name, fault)))
    }

    fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    fn schema(&self) -> Schema {
        if let Some(schema) = &self.known {
            return schema.clone();
        }
        let reading = look(&self.reading);
        let columns = &reading.columns;
        let mut features = vec![String::new(); reading.features as usize];
        for column in columns {
            match &column.used_for {
                CellUse::Number { feature, .. } => features[*feature as usize] = column.name.clone(),
                CellUse::Words { words, .. } => {
                    for (text, word) in words {
                        features[word.feature as usize] = word_feature(&column.name, text);
                    }
                }
                CellUse::Text(_) | CellUse::Label | CellUse::Ignored => {}
            }
        }
        let mut described: Vec<super::Column> = columns.iter().map(Column::describe).collect();
        if !self.suspects.is_empty() {
            let RowsSoFar { counts, rows, mut remarks, .. } = self.all();
            remarks.extend(remarks::mixed(columns, &counts, rows, &remarks));
            for suspect in remarks::borne_out(columns, &self.suspects, &self.counts, self.rows, &remarks) {
                described[suspect.column].names_rows = suspect.suspicion.names_rows();
            }
        }
        self.describe_texts(&mut described, &mut features);
        // A word may make the name of another column: `c=red`. Written as a table, its feature must not be taken for a column.
        let others = columns.iter().map(|column| column.name.as_str());
        let (features, _) = dialect::distinct_names_beside(&features, others);
        Schema::Table {
            header: self.dialect.header.is_some(),
            columns: described,
            features,
            missing_words: reading.missing_words.clone(),
            delimiter: (!self.texts.is_empty()).then_some(char::from(self.dialect.delimiter)),
        }
    }

    fn notes(&self) -> ReadNotes {
        let RowsSoFar { counts, rows, unseen, remarks, .. } = self.all();
        let mut notes = ReadNotes { remarks, ..self.notes.clone() };
        let columns = &look(&self.reading).columns;
        notes.remarks.extend(remarks::mixed(columns, &counts, rows, &notes.remarks));
        let (missing, has_model) = (self.rules.missing, self.known.is_some());
        let gaps = columns.iter().zip(&counts).filter(|(_, counts)| counts.missing > 0);
        notes.missing = gaps.map(|(column, counts)| (column.name.clone(), counts.missing)).collect();
        notes.remarks.extend(remarks::missing(columns, &counts, rows, missing, has_model));
        if self.known.is_none() {
            let alone = self.rules.labels == Labels::Required && !self.first_class_recurs && self.rows > 2;
            if let Some(class) =
                self.labels.names().first().filter(|_| alone && self.dialect.header.is_none())
            {
                notes.remarks.push(remarks::lonely_first_row(class));
            }
            notes.remarks.extend(remarks::codes(columns));
            notes.remarks.extend(remarks::suspects(
                columns,
                &self.suspects,
                &self.counts,
                self.rows,
                &notes.remarks,
            ));
            notes.remarks.extend(remarks::identifiers(
                columns,
                &self.suspects,
                &self.counts,
                self.rows,
                &notes.remarks,
            ));
        }
        notes.remarks.extend(remarks::strange(columns, &counts));
        notes.remarks.extend(remarks::unseen(unseen));
        for (column, numbers) in columns.iter().zip(&self.texts) {
            if let CellUse::Text(cells) = &column.used_for {
                notes.remarks.extend(numbers.remark(&cells.text));
            }
        }
        notes
    }

    fn so_far(&self) -> Option<RowsSoFar> {
        Some(self.all())
    }

    fn go_on(&mut self, before: RowsSoFar, lines: u64) {
        self.before = RowsSoFar { lines, ..before };
    }

    fn is_guess(&self) -> bool {
        self.rules.guessed
    }

    fn expected(&self) -> Expected {
        Expected::FromText(self.text_bytes)
    }
}

/// Whether the rows leave a suspicion about a column of numbers as it is.
fn rows_agree(rows: &BatchRows, suspect: &mut Suspect) -> bool {
    let Some(feature) = suspect.feature() else { return true };
    match rows {
        BatchRows::Dense { columns, values } => {
            values.chunks_exact((*columns).max(1)).all(|row| suspect.still(row[feature]))
        }
        BatchRows::Sparse { offsets, indices, values } => offsets.windows(2).all(|ends| {
            let row = ends[0]..ends[1];
            let place = indices[row.clone()].binary_search(&(feature as u32));
            suspect.still(place.map_or(0.0, |place| values[row.start + place]))
        }),
    }
}

/// What the text is read with now.
fn look(reading: &RwLock<Reading>) -> RwLockReadGuard<'_, Reading> {
    reading.read().unwrap_or_else(PoisonError::into_inner)
}

/// A fault on line 0 is one of the file as a whole.
fn located(source_name: &str, fault: Fault) -> ReadError {
    let place = |number: u64| (number > 0).then_some(number);
    let (line, column) = (place(fault.line), place(fault.column));
    ReadError { source_name: source_name.to_string(), line, column, kind: fault.kind }
}

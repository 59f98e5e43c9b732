//! Tables as delimited text: comma, tab, semicolon or bar, with or without a header, quoted by RFC 4180.
//!
//! A column whose cells are all numbers is one feature; any other column is one feature for each of its words.
//! Which is which is settled over the whole file, or over its beginning where rows are read once; then the rows
//! are read one after the other in the same way.

mod block;
mod columns;
mod dialect;
mod lines;
mod matching;
mod plain;
mod records;
mod remarks;
#[cfg(test)]
mod tests;

use super::error::{ReadError, ReadErrorKind};
use super::labels::LabelTable;
use super::source::Input;
use super::{Batch, BatchRows, Missing, ReadNotes, ReadOptions, Schema};
use block::{Block, Reading, Rules};
use columns::{Column, Draft, Part};
use dialect::{Dialect, Sample};
use lines::{Lines, Text};
use rayon::prelude::*;
use records::{Fault, Records};
use std::collections::VecDeque;
use std::io::{Cursor, Read};

/// Bytes that one thread reads at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// Blocks for each thread that are read together, and how many there are at most in all.
const BLOCKS_PER_THREAD: usize = 2;
const MOST_BLOCKS: usize = 64;

pub(crate) struct CsvReader {
    name: String,
    lines: Lines,
    /// Text that was read ahead.
    ahead: Vec<Text>,
    /// The beginning of a record that does not end in its block, and how long it must get before it is looked at
    /// again: twice as long each time, so that a long record is not looked at too often.
    unfinished: Vec<u8>,
    look_again: usize,
    /// The line on which the next record starts.
    line: u64,
    dialect: Dialect,
    reading: Reading,
    known: Option<Schema>,
    labels: LabelTable,
    notes: ReadNotes,
    rows: u64,
    /// Cells whose word the model does not know.
    unseen: u64,
    ready: VecDeque<Batch>,
    /// What is wrong after the rows that are ready.
    pending: Option<Fault>,
    ended: bool,
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
fn is_missing_label(cell: &[u8]) -> bool {
    is_missing(cell) && !cell.trim_ascii().eq_ignore_ascii_case(b"none")
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
        Self::open(name, input, options, guess).map_err(|fault| located(&source_name, fault))
    }

    fn open(name: String, mut input: Input, options: &ReadOptions, guess: bool) -> Result<Self, Fault> {
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
        let mut guessed = false;
        let columns;
        let mut whole_text = None;
        if let Some(schema) = &options.schema {
            let header = dialect.header.is_some();
            let (matched, remark) = matching::match_columns(names, header, schema, options)?;
            notes.remarks.extend(remark);
            columns = matched;
        } else {
            let draft = Draft {
                roles: columns::roles(&names, options, true)?,
                names,
                header: dialect.header.is_some(),
                missing: options.missing,
                labels: options.labels,
                skip_bad: options.skip_bad,
            };
            let limit = options.feature_limit();
            let from_sample = draft.settle(&mut sample.records(delimiter), limit);
            // A mean is that of all rows.
            guessed = guess && !options.online && options.missing != Missing::Mean && from_sample.is_ok();
            if options.online || guessed {
                columns = from_sample?;
            } else {
                let mut text = Vec::new();
                input.read_to_end(&mut text).map_err(|error| dialect::nowhere(error.into()))?;
                let mut records = Records::new(text, false, delimiter);
                columns = draft.settle(&mut records, limit)?;
                whole_text = Some(records.into_text());
            }
        }
        let lines = match whole_text {
            Some(text) => Lines::new(after_mark(text), BLOCK_BYTES),
            None => {
                input.skip_byte_order_mark();
                Lines::new(input, BLOCK_BYTES)
            }
        };
        notes.format = remarks::format(&dialect, &columns);
        let count = |wanted: fn(&Part) -> bool| columns.iter().filter(|column| wanted(&column.part)).count();
        let features = count(|part| matches!(part, Part::Number { .. }));
        let dense = count(|part| matches!(part, Part::Words { .. })) == 0;
        let width = options.schema.as_ref().map_or(features, Schema::features);
        Ok(Self {
            name,
            lines,
            ahead: Vec::new(),
            unfinished: Vec::new(),
            look_again: 0,
            line: 1,
            reading: Reading {
                delimiter,
                columns,
                header_ahead: dialect.header.is_some(),
                features: features as u32,
                dense: dense.then_some(width),
                rules: Rules {
                    feature_limit: options.feature_limit(),
                    labels: options.labels,
                    missing: options.missing,
                    skip_bad: options.skip_bad,
                    words_settled: options.schema.is_some(),
                    guessed,
                    trailing_delimiter,
                    plain_rows: plain::may_divide(delimiter),
                },
            },
            dialect,
            known: options.schema.clone(),
            labels: LabelTable::default(),
            notes,
            rows: 0,
            unseen: 0,
            ready: VecDeque::new(),
            pending: None,
            ended: false,
        })
    }

    /// Whether the columns are a guess. If so an error may be one of the guess, and only a reading that is settled
    /// by all rows tells; without an error it was right.
    pub(crate) fn is_guess(&self) -> bool {
        self.reading.rules.guessed
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if let Some(fault) = self.pending.take() {
                return Err(located(&self.name, fault));
            }
            if self.ended {
                return Ok(None);
            }
            self.advance();
        }
    }

    /// Reads the text that is there, and meanwhile gets some more.
    fn advance(&mut self) {
        let count = (rayon::current_num_threads() * BLOCKS_PER_THREAD).min(MOST_BLOCKS);
        let texts = std::mem::take(&mut self.ahead);
        let (reading, lines) = (&self.reading, &mut self.lines);
        let read = || texts.par_iter().map(|text| Block::read(text.bytes(), false, reading)).collect();
        let (blocks, ahead): (Vec<Block>, _) = rayon::join(read, || lines.read(count));
        self.ahead = ahead;
        let features = self.reading.features;
        let header_ahead = self.reading.header_ahead;
        for (text, block) in texts.into_iter().zip(blocks) {
            if !self.ended {
                // Each block was read as if it began with a record, after the header, and as if the blocks before
                // it had no new words. Where that is not so it is read again, now that all before it is known.
                let words_fit = features == self.reading.features || !block.knows_new_words();
                let fits = header_ahead == self.reading.header_ahead && words_fit;
                match self.unfinished.is_empty() {
                    true if fits => self.take(block, text.bytes()),
                    true => self.take(Block::read(text.bytes(), false, &self.reading), text.bytes()),
                    false => self.continue_record(text.bytes()),
                }
            }
            self.lines.recycle(text);
        }
        if self.ahead.is_empty() && !self.ended {
            self.finish();
        }
    }

    /// Takes over what a text holds; all before it has been taken.
    fn take(&mut self, mut block: Block, text: &[u8]) {
        for skipped in block.notes.first_skipped {
            self.notes.skip(self.line + skipped.line, skipped.reason);
        }
        self.notes.skipped += block.notes.skipped.saturating_sub(ReadNotes::LISTED as u64);
        self.notes.dropped += block.notes.dropped;
        for (column, counts) in self.reading.columns.iter_mut().zip(block.counts) {
            column.counts.add(counts, self.line);
        }
        for (j, text, word) in block.new_words {
            if let Part::Words { words, .. } = &mut self.reading.columns[j].part {
                words.insert(text, word);
                self.reading.features += 1;
            }
        }
        let places = self.labels.merge(&block.table);
        for label in block.labels.iter_mut().filter(|label| **label != Batch::UNLABELLED) {
            *label = places[*label as usize];
        }
        block.lines.iter_mut().for_each(|line| *line += self.line);
        self.rows += block.labels.len() as u64;
        self.unseen += block.unseen;
        self.reading.header_ahead = block.header_ahead;
        if let Some(fault) = block.fault {
            self.pending = Some(Fault { line: self.line + fault.line, ..fault });
            self.ended = true;
        }
        self.line += block.line_count;
        self.unfinished = text[block.bytes..].to_vec();
        self.look_again = self.unfinished.len() * 2;
        if !block.labels.is_empty() {
            let (offsets, indices, values) = (block.offsets, block.indices, block.values);
            let rows = match self.reading.dense {
                Some(columns) => BatchRows::Dense { columns, values },
                None => BatchRows::Sparse { offsets, indices, values },
            };
            self.ready.push_back(Batch { rows, labels: block.labels, lines: Some(block.lines) });
        }
    }

    /// Adds a text to the record that is not finished.
    fn continue_record(&mut self, text: &[u8]) {
        self.unfinished.extend_from_slice(text);
        if self.unfinished.len() >= self.look_again {
            let text = std::mem::take(&mut self.unfinished);
            self.take(Block::read(&text, false, &self.reading), &text);
        }
    }

    /// Nothing comes any more: reads what is left.
    fn finish(&mut self) {
        let text = std::mem::take(&mut self.unfinished);
        match self.lines.failure.take() {
            // Whole records may still be among what is left, but not the last one.
            Some(failure) => {
                self.take(Block::read(&text, false, &self.reading), &text);
                let fault = Fault { line: self.line, column: 1, kind: failure.into() };
                self.pending.get_or_insert(fault);
            }
            None => self.take(Block::read(&text, true, &self.reading), &text),
        }
        self.ended = true;
        self.pending = self.pending.take().or_else(|| self.empty_column());
    }

    /// A column without a single value was not meant to be learned from.
    fn empty_column(&self) -> Option<Fault> {
        let empty = |column: &&Column| {
            matches!(column.part, Part::Number { .. }) && column.counts.missing == self.rows
        };
        let column = self.reading.columns.iter().find(empty)?;
        let kind = ReadErrorKind::EmptyColumn { column: column.name.clone() };
        (self.rows > 0 && self.known.is_none()).then(|| dialect::nowhere(kind))
    }

    pub(crate) fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    pub(crate) fn schema(&self) -> Schema {
        if let Some(schema) = &self.known {
            return schema.clone();
        }
        let columns = &self.reading.columns;
        let mut features = vec![String::new(); self.reading.features as usize];
        for column in columns {
            match &column.part {
                Part::Number { feature, .. } => features[*feature as usize] = column.name.clone(),
                Part::Words { words, .. } => {
                    for (text, word) in words {
                        features[word.feature as usize] = format!("{}={text}", column.name);
                    }
                }
                Part::Label | Part::Ignored => {}
            }
        }
        Schema::Table {
            header: self.dialect.header.is_some(),
            columns: columns.iter().map(Column::describe).collect(),
            features,
        }
    }

    pub(crate) fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        let columns = &self.reading.columns;
        notes.remarks.extend(remarks::mixed(columns, self.rows));
        notes.remarks.extend(remarks::missing(columns, self.reading.rules.missing));
        if self.known.is_none() {
            notes.remarks.extend(remarks::identifiers(columns, self.rows));
        }
        notes.remarks.extend(remarks::unseen(self.unseen));
        notes
    }
}

/// A text without its byte order mark.
fn after_mark(text: Vec<u8>) -> Cursor<Vec<u8>> {
    let start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut cursor = Cursor::new(text);
    cursor.set_position(start);
    cursor
}

/// A fault on line 0 is one of the file as a whole.
fn located(source_name: &str, fault: Fault) -> ReadError {
    let place = |number: u64| (number > 0).then_some(number);
    let (line, column) = (place(fault.line), place(fault.column));
    ReadError { source_name: source_name.to_string(), line, column, kind: fault.kind }
}

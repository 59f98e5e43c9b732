//! One block of lines to rows, independent of the others, so that blocks can be read in parallel.

use super::columns::{CellUse, Column, Counts, Word};
use super::plain;
use super::records::{Fault, Record, scan};
use crate::classes::spellings;
use crate::dataset::HashedTerm;
use crate::features::text::TextBlock;
use crate::features::{CellForm, MISSING_WORD, MissingWords, OnMissing};
use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::label_table::LabelTable;
use crate::read::number::{is_inexact_whole, parse_number};
use crate::read::{Batch, Labels, Missing, ReadNotes, Schema};
use std::collections::HashMap;

/// Marks a term that has no feature yet: the rest is its place among the new ones of the block. No feature has a number so
/// large.
const NEW_TERM: u32 = 1 << 31;

/// What a block is read with: all that is known from the text before it.
pub(super) struct Reading {
    pub(super) delimiter: u8,
    pub(super) columns: Vec<Column>,
    /// For each column, the length of the run of numbers that begins with it.
    pub(super) runs: Vec<usize>,
    /// The features so far.
    pub(super) features: u32,
    /// The width of the rows, if they are dense.
    pub(super) dense: Option<usize>,
    pub(super) rules: Rules,
    pub(super) missing_words: MissingWords,
}

impl Reading {
    /// What the first block is read with.
    pub(super) fn new(
        delimiter: u8,
        columns: Vec<Column>,
        model: Option<&Schema>,
        rules: Rules,
        missing_words: MissingWords,
    ) -> Self {
        let count =
            |wanted: fn(&CellUse) -> bool| columns.iter().filter(|column| wanted(&column.used_for)).count();
        let features = count(|used_for| matches!(used_for, CellUse::Number { .. }));
        let has_words = count(|used_for| matches!(used_for, CellUse::Words { .. } | CellUse::Text(_))) > 0;
        let terms: usize = columns
            .iter()
            .filter_map(|column| {
                if let CellUse::Text(cells) = &column.used_for { Some(cells.text.terms.len()) } else { None }
            })
            .sum();
        let width = model.map_or(features, Schema::features);
        let runs = plain::runs(&columns);
        Self {
            delimiter,
            columns,
            runs,
            features: (features + terms) as u32,
            dense: (!has_words).then_some(width),
            rules,
            missing_words,
        }
    }
}

impl Reading {
    /// Whether a cell of this column is missing.
    /// Whether a row that needs a label has none. A delimiter at the end of every row is another matter.
    fn lacks_label(&self, record: &Record) -> bool {
        let label = self.columns.iter().position(|column| matches!(column.used_for, CellUse::Label));
        self.rules.labels == Labels::Required
            && label.is_some_and(|j| {
                let cell = record.cell(j);
                let trailing = self.rules.trailing_delimiter && cell.is_empty();
                !trailing && self.missing_words.in_labels(cell)
            })
    }

    fn is_missing(&self, cell: &[u8], column: &Column) -> bool {
        match column.used_for {
            CellUse::Number { .. } => self.missing_words.in_numbers(cell),
            _ => self.missing_words.in_words(cell),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) feature_limit: u32,
    pub(super) labels: Labels,
    pub(super) missing: Missing,
    pub(super) skip_bad: bool,
    /// Whether the words are those of a model, and no other word becomes a feature.
    pub(super) words_settled: bool,
    /// Whether a word among numbers counts as missing: only for a model of a table, whose columns are known to be the same.
    pub(super) words_are_missing: bool,
    /// Whether the columns are a guess from the first rows: a row that contradicts it ends the reading.
    pub(super) guessed: bool,
    /// Whether it is noted which cells were missing, because the mean that they hold may be learned again.
    pub(super) mark_filled: bool,
    /// Whether the last column is that of the labels only because the rows end in a delimiter.
    pub(super) trailing_delimiter: bool,
    /// Whether a record is one line, whatever line ends its cells hold.
    pub(super) record_lines: bool,
    /// Whether rows without anything special may be read the quick way. The result is the same.
    pub(super) plain_rows: bool,
}

impl Rules {
    /// Whether the row with this fault is left out, and the next one read.
    fn skips(self, kind: &ReadErrorKind) -> bool {
        use ReadErrorKind::{NotFinite, WordAmongNumbers};
        let contradicts_guess = self.guessed && matches!(kind, WordAmongNumbers { .. } | NotFinite { .. });
        self.skip_bad && kind.is_row() && !contradicts_guess
    }
}

/// What a block of lines holds. Lines are counted from 0 at its beginning.
#[derive(Default)]
pub(super) struct Block {
    /// Sparse rows only: where each row starts, and the features.
    pub(super) offsets: Vec<usize>,
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Terms that are kept because a model knows them by their hash alone.
    pub(super) hashed: Vec<HashedTerm>,
    pub(super) labels: Vec<u32>,
    pub(super) lines: Vec<u64>,
    pub(super) table: LabelTable,
    /// Of each column, what was met in the rows that were kept.
    pub(super) counts: Vec<Counts>,
    /// Cells whose word the model does not know.
    pub(super) unseen: u64,
    /// Missing cells that hold the mean: row, feature.
    pub(super) filled: Vec<(u32, u32)>,
    /// The words that are new, in the order of their appearance, with their columns.
    pub(super) new_words: Vec<(usize, String, Word)>,
    /// Where they are in that order, by column.
    new_places: Vec<HashMap<String, usize>>,
    /// Of each column of texts, the terms that have no feature yet; and all of these in the order of their appearance, as
    /// the column and the number among its own.
    pub(super) text_blocks: Vec<TextBlock>,
    pub(super) new_terms: Vec<(usize, u32)>,
    term_places: Vec<Vec<u32>>,
    /// The features that were known.
    pub(super) features_before: u32,
    pub(super) notes: ReadNotes,
    /// Whether the header is still to come.
    header_ahead: bool,
    /// The bytes and lines of the records that were read.
    pub(super) bytes: usize,
    pub(super) line_count: u64,
    /// Whether the text goes on after them: with a record that is not whole, or a fault.
    pub(super) unfinished: bool,
    /// The problem after the last row.
    pub(super) fault: Option<Fault>,
    record: Record,
    /// The row at hand: features and values, then the columns of its words and of its missing cells, and the features
    /// that were filled.
    pub(super) row: Vec<(u32, f64)>,
    words: Vec<usize>,
    texts: Vec<usize>,
    gaps: Vec<usize>,
    row_filled: Vec<u32>,
    /// The same for a plain row: the columns of its words, and the words.
    pub(super) plain_words: Vec<(usize, Word)>,
}

impl Block {
    fn new(reading: &Reading) -> Self {
        let columns = reading.columns.len();
        Self {
            offsets: vec![0],
            counts: vec![Counts::default(); columns],
            new_places: vec![HashMap::new(); columns],
            features_before: reading.features,
            text_blocks: (0..columns).map(|_| TextBlock::default()).collect(),
            term_places: vec![Vec::new(); columns],
            ..Self::default()
        }
    }

    /// Reads the header of a table, and the malformed rows before it.
    pub(super) fn header(text: &[u8], whole: bool, reading: &Reading) -> Self {
        let mut block = Self::new(reading);
        block.header_ahead = true;
        while block.header_ahead && block.read_record(text, whole, reading) {}
        block
    }

    /// Reads the rows of a text that begins where a record begins; `whole` says that nothing follows it.
    pub(super) fn rows(text: &[u8], whole: bool, reading: &Reading) -> Self {
        let mut block = Self::new(reading);
        let plain_rows = reading.rules.plain_rows;
        loop {
            if plain_rows && let Some(length) = block.plain_row(&text[block.bytes..], reading) {
                block.bytes += length;
                block.line_count += 1;
            } else if !block.read_record(text, whole, reading) {
                block.unfinished = block.bytes < text.len();
                return block;
            }
        }
    }

    /// Reads the next record with care; `false` if none is left, or the reading ends here.
    fn read_record(&mut self, text: &[u8], whole: bool, reading: &Reading) -> bool {
        let mut record = std::mem::take(&mut self.record);
        record.clear(self.line_count, self.bytes);
        record.one_line = reading.rules.record_lines;
        let read = match scan(&text[self.bytes..], reading.delimiter, whole, &mut record) {
            Ok(None) => return false,
            Ok(Some(extent)) => {
                self.bytes += extent.bytes;
                self.line_count += extent.lines;
                if extent.blank { Ok(()) } else { self.read_cells(&mut record, reading) }
            }
            Err(fault) => Err(fault),
        };
        if let Err(fault) = read {
            if !reading.rules.skips(&fault.kind) {
                self.fault = Some(fault);
                return false;
            }
            self.notes.skip(record.line, fault.kind.to_string());
        }
        self.record = record;
        true
    }

    /// Makes a row of a record. Nothing of a malformed row stays, neither its label nor its words.
    fn read_cells(&mut self, record: &mut Record, reading: &Reading) -> Result<(), Fault> {
        if let Some(fault) = record.misshape(reading.columns.len()) {
            return Err(fault);
        }
        if std::mem::take(&mut self.header_ahead) {
            return Ok(());
        }
        let rules = reading.rules;
        // Such a row may be a sum, or a remark: its cells are not looked at.
        if rules.missing == Missing::Auto && reading.lacks_label(record) {
            self.notes.dropped += 1;
            return Ok(());
        }
        self.row.clear();
        self.words.clear();
        self.texts.clear();
        self.gaps.clear();
        self.row_filled.clear();
        let early = reading.missing_words == MissingWords::Early;
        let mut drop_row = false;
        let mut label_at = None;
        for (j, column) in reading.columns.iter().enumerate() {
            let cell = record.cell(j);
            match column.used_for {
                CellUse::Ignored => {}
                CellUse::Label => label_at = Some(j),
                CellUse::Number { on_missing, .. } | CellUse::Words { on_missing, .. }
                    if reading.is_missing(cell, column) =>
                {
                    self.gaps.push(j);
                    match (on_missing, &column.used_for) {
                        (OnMissing::Refuse, _) => {
                            let (column, found) = (column.name.clone(), excerpt(cell));
                            return Err(record.fault_at(j, ReadErrorKind::MissingCell { column, found }));
                        }
                        (OnMissing::Unknown, _) => {
                            let (column, found) = (column.name.clone(), excerpt(cell));
                            return Err(record.fault_at(j, ReadErrorKind::MissingForModel { column, found }));
                        }
                        (OnMissing::DropRow, _) => drop_row = true,
                        (filling, &CellUse::Number { feature, .. }) => {
                            self.row.extend(filling.filled(feature));
                            if rules.mark_filled {
                                self.row_filled.push(feature);
                            }
                        }
                        (OnMissing::Category, _) => self.words.push(j),
                        _ => {}
                    }
                }
                CellUse::Number { feature, form, on_missing } => match number(cell, column, form, early) {
                    Ok(value) => self.row.push((feature, value)),
                    // A model that knows what a missing number becomes takes a word as one; but not what may be a
                    // number that is written in another way. A date that is none has digits all the same.
                    Err(ReadErrorKind::WordAmongNumbers { found, .. })
                        if rules.words_are_missing
                            && on_missing.fills()
                            && (is_date(form) || !cell.iter().any(u8::is_ascii_digit)) =>
                    {
                        let counts = &mut self.counts[j];
                        counts.strange += 1;
                        counts.first_word.get_or_insert((found, record.line_of(j)));
                        self.row.extend(on_missing.filled(feature));
                    }
                    Err(kind) => return Err(record.fault_at(j, kind)),
                },
                CellUse::Words { .. } | CellUse::Text(_) => {
                    if std::str::from_utf8(cell).is_err() {
                        let column = column.name.clone();
                        return Err(record.fault_at(j, ReadErrorKind::NotUtf8 { column }));
                    }
                    let is_text = matches!(column.used_for, CellUse::Text(_));
                    if is_text { &mut self.texts } else { &mut self.words }.push(j);
                }
            }
        }
        let label = match label_at {
            Some(j)
                if rules.labels == Labels::Required
                    && rules.missing.drops_unlabelled()
                    && !(rules.trailing_delimiter && record.cell(j).is_empty())
                    && reading.missing_words.in_labels(record.cell(j)) =>
            {
                drop_row = true;
                Batch::UNLABELLED
            }
            Some(j) if rules.labels == Labels::Required => self.label(record, j, drop_row, reading)?,
            _ => Batch::UNLABELLED,
        };
        if drop_row {
            self.notes.dropped += 1;
            return Ok(());
        }
        self.set_words(record, reading)?;
        self.set_terms(record, reading);
        for &j in &self.gaps {
            let (counts, cell) = (&mut self.counts[j], record.cell(j).trim_ascii());
            counts.missing += 1;
            if counts.missing_word.is_none() && !cell.is_empty() {
                counts.missing_word = Some((excerpt(cell), record.line_of(j)));
            }
        }
        let row = self.labels.len() as u32;
        // Columns in file order are features in order.
        self.filled.extend(self.row_filled.iter().map(|&feature| (row, feature)));
        self.keep_row(label, record.line, reading);
        Ok(())
    }

    /// The class of the label in cell `j`; the label of a row that is dropped is only checked.
    fn label(&mut self, record: &Record, j: usize, drop_row: bool, reading: &Reading) -> Result<u32, Fault> {
        let cell = record.cell(j);
        if std::str::from_utf8(cell).is_err() {
            let column = reading.columns[j].name.clone();
            return Err(record.fault_at(j, ReadErrorKind::NotUtf8 { column }));
        }
        let class = match (reading.missing_words.in_labels(cell), drop_row) {
            (true, _) => None,
            (false, true) => LabelTable::default().class(cell),
            (false, false) => self.table.class(cell),
        };
        class.ok_or_else(|| {
            let last = j + 1 == reading.columns.len();
            let kind = match reading.rules.trailing_delimiter && last && cell.is_empty() {
                true => ReadErrorKind::TrailingDelimiter,
                false => ReadErrorKind::BadLabel { found: excerpt(cell) },
            };
            record.fault_at(j, kind)
        })
    }

    /// Sets the features of the row's words. A new word becomes a feature, unless the words are settled.
    fn set_words(&mut self, record: &Record, reading: &Reading) -> Result<(), Fault> {
        let words = std::mem::take(&mut self.words);
        for &j in &words {
            // The text was checked before; a cell that is no text has no word.
            let Ok(text) = std::str::from_utf8(record.cell(j)) else { continue };
            // Gaps are in the order of the columns.
            let is_gap = self.gaps.binary_search(&j).is_ok();
            let text = if is_gap { MISSING_WORD } else { text };
            let word = match self.word(j, text, reading) {
                Some(word) => word,
                None if reading.rules.words_settled => {
                    self.unseen += 1;
                    continue;
                }
                None if reading.columns[j].code.is_contradicted_by(text.as_bytes()) => {
                    let kind = contradiction(&reading.columns[j], text.as_bytes());
                    return Err(record.fault_at(j, kind));
                }
                None => {
                    let feature = reading.features + self.new_words.len() as u32;
                    if feature >= reading.rules.feature_limit {
                        let limit = reading.rules.feature_limit;
                        return Err(record.fault_at(j, ReadErrorKind::TooManyFeatures { limit }));
                    }
                    let number =
                        parse_number(text.trim_ascii().as_bytes()).is_some_and(|number| number.is_finite());
                    let word = Word { feature, number };
                    self.new_places[j].insert(text.to_string(), self.new_words.len());
                    self.new_words.push((j, text.to_string(), word));
                    word
                }
            };
            if !reading.rules.words_settled {
                let counts = &mut self.counts[j];
                if word.number {
                    counts.numbers += 1;
                } else if counts.first_word.is_none() && !is_gap {
                    counts.first_word = Some((excerpt(text.as_bytes()), record.line_of(j)));
                }
            }
            self.row.push((word.feature, 1.0));
        }
        self.words = words;
        Ok(())
    }

    /// Adds the terms of the row's texts. Those that have no feature yet are marked with [`NEW_TERM`].
    fn set_terms(&mut self, record: &Record, reading: &Reading) {
        for &j in &self.texts {
            let (Ok(text), CellUse::Text(cells)) =
                (std::str::from_utf8(record.cell(j)), &reading.columns[j].used_for)
            else {
                continue;
            };
            let start = self.row.len();
            cells.reader.read(text, &mut self.text_blocks[j], &mut self.row);
            let row = self.labels.len() as u32;
            let hashed = self.text_blocks[j].hashed.drain(..);
            self.hashed.extend(hashed.map(|(feature, term)| HashedTerm { row, feature, term }));
            if !cells.reader.is_open() {
                continue;
            }
            let places = &mut self.term_places[j];
            for (number, _) in &mut self.row[start..] {
                while places.len() <= *number as usize {
                    self.new_terms.push((j, places.len() as u32));
                    places.push(self.new_terms.len() as u32 - 1);
                }
                *number = NEW_TERM | places[*number as usize];
            }
        }
    }

    /// Gives the terms their features, by their places among the new ones.
    pub(super) fn number_terms(&mut self, features: &[u32]) {
        if features.is_empty() {
            return;
        }
        let mut row: Vec<(u32, f64)> = Vec::new();
        for ends in self.offsets.windows(2) {
            let own = ends[0]..ends[1];
            if self.indices[own.clone()].last().is_none_or(|&last| last < NEW_TERM) {
                continue;
            }
            let numbered = |number: u32| match number.checked_sub(NEW_TERM) {
                Some(place) => features[place as usize],
                None => number,
            };
            row.clear();
            row.extend(own.clone().map(|cell| (numbered(self.indices[cell]), self.values[cell])));
            row.sort_unstable_by_key(|&(feature, _)| feature);
            for (cell, &(feature, value)) in own.zip(&row) {
                (self.indices[cell], self.values[cell]) = (feature, value);
            }
        }
    }

    /// Whether what was read would be other after more words.
    pub(super) fn knows_new_words(&self) -> bool {
        let limited = |fault: &Fault| matches!(fault.kind, ReadErrorKind::TooManyFeatures { .. });
        !self.new_words.is_empty() || self.fault.as_ref().is_some_and(limited)
    }

    /// The use of a word of column `j`.
    pub(super) fn word(&self, j: usize, text: &str, reading: &Reading) -> Option<Word> {
        let CellUse::Words { words, rare, .. } = &reading.columns[j].used_for else { return None };
        let known = |text: &str| {
            let new = || self.new_places[j].get(text).map(|&place| self.new_words[place].2);
            words.get(text).copied().or_else(new)
        };
        let spelled = || match reading.missing_words {
            // Models of before knew each spelling as a word of its own.
            MissingWords::Early => None,
            _ => spellings(text).iter().find_map(|spelling| known(spelling)),
        };
        known(text).or_else(spelled).or_else(|| rare.map(|feature| Word { feature, number: false }))
    }

    /// Adds the row at hand.
    pub(super) fn keep_row(&mut self, label: u32, line: u64, reading: &Reading) {
        match reading.dense {
            Some(width) => {
                let start = self.values.len();
                self.values.resize(start + width, 0.0);
                for &(feature, value) in &self.row {
                    self.values[start + feature as usize] = value;
                }
            }
            None => {
                self.row.retain(|&(_, value)| value != 0.0);
                self.row.sort_unstable_by_key(|&(feature, _)| feature);
                self.indices.extend(self.row.iter().map(|&(feature, _)| feature));
                self.values.extend(self.row.iter().map(|&(_, value)| value));
                self.offsets.push(self.indices.len());
            }
        }
        self.labels.push(label);
        self.lines.push(line);
    }
}

/// The fault of a cell that speaks against what was guessed from the first rows.
fn contradiction(column: &Column, cell: &[u8]) -> ReadErrorKind {
    ReadErrorKind::WordAmongNumbers { column: column.name.clone(), found: excerpt(cell) }
}

/// Whether cells are dates or times, whose digits make no other number.
fn is_date(form: CellForm) -> bool {
    matches!(form, CellForm::Date(_) | CellForm::Time)
}

fn number(cell: &[u8], column: &Column, form: CellForm, early: bool) -> Result<f64, ReadErrorKind> {
    let number = match form {
        CellForm::Plain => parse_number(cell.trim_ascii()),
        form => form.parse(cell),
    };
    match number {
        Some(number) if !early && is_inexact_whole(number, cell) => Err(contradiction(column, cell)),
        Some(_) if column.code.is_contradicted_by(cell.trim_ascii()) => Err(contradiction(column, cell)),
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(ReadErrorKind::NotFinite { found: excerpt(cell) }),
        None if std::str::from_utf8(cell).is_err() => {
            Err(ReadErrorKind::NotUtf8 { column: column.name.clone() })
        }
        None => Err(ReadErrorKind::WordAmongNumbers { column: column.name.clone(), found: excerpt(cell) }),
    }
}

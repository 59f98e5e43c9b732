//! What each column is used for, and how that is settled for a file that is read without a model.

use super::dialect::nowhere;
use super::guess;
use super::records::{Fault, Record, Records};
use super::remarks;
use crate::features::{CellForm, Mean, MissingWords, Number, OnMissing, Words};
use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::label_table::LabelTable;
use crate::read::number::{is_inexact_whole, parse_number};
use crate::read::{self, ColumnAs, ColumnKind, Labels, Missing, ReadOptions};
use std::collections::HashMap;

/// A column of the file at hand.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) used_for: CellUse,
    /// What the first rows make of a column whose cells are all whole numbers.
    pub(super) code: CodeGuess,
    /// A code that begins with a zero, where that made the column words.
    pub(super) code_example: Option<String>,
}

/// What is guessed about whole numbers: with a zero at the beginning of one of them they are codes, such as those of post
/// offices, which are words. Where lengths differ, only the first rows are asked: to look at every cell of every column of
/// whole numbers would slow down reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CodeGuess {
    /// Nothing: the column is something else, or all rows were looked at.
    #[default]
    Settled,
    /// Numbers, unless one begins with a zero.
    NumbersSoFar,
    /// Codes, unless a cell is no whole number.
    Codes,
}

impl CodeGuess {
    /// Whether a cell speaks against the guess.
    pub(super) fn is_contradicted_by(self, cell: &[u8]) -> bool {
        match self {
            CodeGuess::Settled => false,
            CodeGuess::NumbersSoFar => has_leading_zero(cell),
            CodeGuess::Codes => !cell.iter().all(u8::is_ascii_digit),
        }
    }
}

/// Whether a whole number begins with a zero that changes nothing about its value.
pub(super) fn has_leading_zero(cell: &[u8]) -> bool {
    cell.len() >= SHORTEST_CODE && cell[0] == b'0' && cell.iter().all(u8::is_ascii_digit)
}

/// Digits of the shortest code: days and months have two.
const SHORTEST_CODE: usize = 3;

/// What was met in a column, in the rows that were kept.
#[derive(Clone, Default)]
pub(super) struct Counts {
    pub(super) missing: u64,
    /// The first word that was taken for a missing cell, with its line.
    pub(super) missing_word: Option<(String, u64)>,
    /// Of a column of words: cells that are numbers, and the first that is none with its line.
    pub(super) numbers: u64,
    pub(super) first_word: Option<(String, u64)>,
    /// Of a column of numbers: cells that are words, and were taken as missing.
    pub(super) strange: u64,
}

impl Counts {
    /// Adds what was met in a block of rows that begins on this line.
    pub(super) fn add(&mut self, block: Counts, first_line: u64) {
        self.missing += block.missing;
        self.numbers += block.numbers;
        self.strange += block.strange;
        let placed = |(word, line): (String, u64)| (word, first_line + line);
        self.first_word = self.first_word.take().or(block.first_word.map(placed));
        self.missing_word = self.missing_word.take().or(block.missing_word.map(placed));
    }
}

/// What a column is used for.
pub(super) enum CellUse {
    Label,
    Ignored,
    Number { feature: u32, on_missing: OnMissing, form: CellForm },
    Words { words: HashMap<String, Word>, on_missing: OnMissing },
}

/// A word of a column.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) feature: u32,
    /// Whether it is a number; not asked where the words are those of a model.
    pub(super) number: bool,
}

impl Column {
    pub(super) fn new(name: String, used_for: CellUse) -> Self {
        Self { name, used_for, code: CodeGuess::Settled, code_example: None }
    }

    pub(super) fn describe(&self) -> read::Column {
        let kind = match &self.used_for {
            CellUse::Label => ColumnKind::Label,
            CellUse::Ignored => ColumnKind::Ignored,
            CellUse::Number { feature, on_missing, form } => {
                let fill = if let OnMissing::Fill(value) = on_missing { Some(*value) } else { None };
                ColumnKind::Number(Number { feature: *feature as usize, fill, gap: None, form: *form })
            }
            CellUse::Words { words, on_missing } => {
                let mut words: Vec<(String, usize)> =
                    words.iter().map(|(text, word)| (text.clone(), word.feature as usize)).collect();
                words.sort_unstable_by_key(|&(_, feature)| feature);
                let optional = matches!(on_missing, OnMissing::Unset | OnMissing::Category);
                ColumnKind::Words(Words { words, optional })
            }
        };
        read::Column { name: self.name.clone(), kind }
    }
}

/// What the user said about a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Ignored,
    Feature,
}

/// The roles of the columns by the options: the label is the last column that is not ignored, if not named.
/// `labelled` is false where the file has no label column at all.
pub(super) fn roles(names: &[String], options: &ReadOptions, labelled: bool) -> Result<Vec<Role>, Fault> {
    let mut roles = vec![Role::Feature; names.len()];
    for wanted in &options.csv.ignore {
        roles[find(names, wanted)?] = Role::Ignored;
    }
    if labelled {
        let label = match &options.csv.label {
            Some(wanted) => Some(find(names, wanted)?),
            None => roles.iter().rposition(|&role| role != Role::Ignored),
        };
        if let Some(label) = label {
            if roles[label] == Role::Ignored {
                let reason = format!("column \"{}\" is named by ⟦label⟧ and by ⟦ignore⟧", names[label]);
                return Err(nowhere(ReadErrorKind::Misused(reason)));
            }
            roles[label] = Role::Label;
        }
    }
    if !roles.contains(&Role::Feature) {
        return Err(nowhere(ReadErrorKind::NoFeatures));
    }
    Ok(roles)
}

/// The column that is meant by a name, or by a number from 1.
pub(super) fn find(names: &[String], wanted: &str) -> Result<usize, Fault> {
    let by_number = || wanted.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
    names
        .iter()
        .position(|name| name == wanted)
        .or_else(|| by_number().map(|number| number - 1))
        .ok_or_else(|| no_such_column(names, wanted))
}

pub(super) fn no_such_column(names: &[String], wanted: &str) -> Fault {
    nowhere(ReadErrorKind::NoSuchColumn { column: wanted.to_string(), columns: some_of(names) })
}

/// A few of the names, for a message.
pub(super) fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut columns =
        names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        columns.push_str(", …");
    }
    columns
}

/// What the user says about the columns, in their order.
pub(super) fn asked(names: &[String], options: &ReadOptions) -> Result<Vec<Option<ColumnAs>>, Fault> {
    let mut asked = vec![None; names.len()];
    for (wanted, &what) in &options.csv.columns {
        asked[find(names, wanted)?] = Some(what);
    }
    Ok(asked)
}

/// What is known about the columns before their cells are looked at.
pub(super) struct Draft {
    pub(super) names: Vec<String>,
    pub(super) roles: Vec<Role>,
    pub(super) asked: Vec<Option<ColumnAs>>,
    pub(super) delimiter: u8,
    pub(super) header: bool,
    pub(super) missing: Missing,
    pub(super) missing_words: MissingWords,
    pub(super) labels: Labels,
    pub(super) skip_bad: bool,
    /// The bytes of the first rows, which are looked at in any case.
    pub(super) head: usize,
}

/// The columns as the rows show them.
pub(super) struct Settlement {
    pub(super) columns: Vec<Column>,
    /// What was guessed.
    pub(super) remarks: Vec<String>,
    /// Whether more rows could tell otherwise without one of them being a contradiction.
    pub(super) doubtful: bool,
}

/// What the cells of a column say about it.
#[derive(Clone)]
pub(super) struct Tally {
    pub(super) words: bool,
    numbers: u64,
    /// Cells that are missing if the others are numbers.
    perhaps_missing: u64,
    /// Whether a row that is undecided has a word here, or a number.
    undecided_words: bool,
    undecided_numbers: bool,
    mean: Mean,
    /// The length of the cells, while all are whole numbers without a sign; 0 before the first, `None` if they are not.
    digits: Option<usize>,
    /// Whether others have more or fewer digits than the first.
    lengths_differ: bool,
    /// The first cell that begins with a zero, with its place, and whether one is among the first rows.
    leading_zero: Option<(usize, String)>,
    early_zero: bool,
    /// A whole number that floats do not have, and whether there are words of other kinds.
    long_whole: Option<String>,
    other_words: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            words: false,
            numbers: 0,
            perhaps_missing: 0,
            undecided_words: false,
            undecided_numbers: false,
            mean: Mean::default(),
            digits: Some(0),
            lengths_differ: false,
            leading_zero: None,
            early_zero: false,
            long_whole: None,
            other_words: false,
        }
    }
}

impl Tally {
    /// Looks at the digits of a number, as long as all numbers of the column may be codes.
    fn add_digits(&mut self, cell: &[u8], start: usize, early: bool) {
        let cell = cell.trim_ascii();
        self.digits = self.digits.filter(|_| cell.iter().all(u8::is_ascii_digit));
        let Some(length) = self.digits else { return };
        self.lengths_differ |= length != 0 && length != cell.len();
        self.digits = Some(cell.len());
        if has_leading_zero(cell) {
            self.early_zero |= early;
            // Rows that were undecided come later than those after them.
            if self.leading_zero.as_ref().is_none_or(|&(first, _)| start < first) {
                self.leading_zero = Some((start, excerpt(cell)));
            }
        }
    }

    /// Whether the cells are codes.
    fn is_code(&self) -> bool {
        let zero = self.leading_zero.is_some() && (self.early_zero || !self.lengths_differ);
        !self.words && self.digits.is_some() && zero
    }

    /// Notes a word that is a whole number which floats do not have, or another.
    fn add_word(&mut self, cell: &[u8]) {
        if is_inexact_whole(f64::INFINITY, cell) {
            self.long_whole.get_or_insert_with(|| excerpt(cell.trim_ascii()));
        } else {
            self.other_words = true;
        }
    }

    fn add(&mut self, look: Look) {
        match look {
            Look::Word => self.words = true,
            Look::Number(number) => {
                self.numbers += 1;
                self.mean.add(number);
            }
            Look::PerhapsMissing => self.perhaps_missing += 1,
            // No code is infinite, also where the row does not count in the end.
            Look::Infinite => self.digits = None,
            Look::Unused | Look::Missing => {}
        }
    }

    /// Notes what a row shows of which it is not known yet whether it counts.
    fn add_undecided(&mut self, look: Look) {
        if look == Look::Infinite {
            self.digits = None;
        }
        self.undecided_words |= look == Look::Word;
        self.undecided_numbers |= matches!(look, Look::Number(_));
    }

    /// Whether a cell such as `none` is a word here, as far as can be told: beside another word, or without numbers.
    fn has_words(&self) -> bool {
        self.words || self.undecided_words || (self.numbers == 0 && !self.undecided_numbers)
    }

    /// Whether there are only cells that would be missing among numbers: without numbers they are words.
    fn only_perhaps_missing(&self) -> bool {
        self.perhaps_missing > 0 && self.numbers == 0
    }
}

/// What a cell looks like.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// It belongs to the label or to a column that is left out.
    Unused,
    Missing,
    /// Missing in a column of numbers, a word in a column of words.
    PerhapsMissing,
    Word,
    Number(f64),
    /// A number that is not finite.
    Infinite,
}

impl Look {
    fn at(cell: &[u8], form: CellForm, missing: &MissingWords) -> Self {
        if missing.in_numbers(cell) {
            return if missing.in_words(cell) { Look::Missing } else { Look::PerhapsMissing };
        }
        let number = match form {
            CellForm::Plain => parse_number(cell.trim_ascii()),
            form => form.parse(cell),
        };
        match number {
            None => Look::Word,
            // It is a name of something: as a number it could not be told from its neighbours.
            Some(number) if is_inexact_whole(number, cell) && form.is_plain() => Look::Word,
            Some(number) if number.is_finite() => Look::Number(number),
            Some(_) => Look::Infinite,
        }
    }
}

/// What becomes of a row while its columns are being settled.
enum Verdict {
    Counts,
    /// It holds an infinite number, or a word such as `none`: malformed in a column of numbers, a word among words.
    Undecided,
    LeftOut,
    Malformed,
}

impl Draft {
    /// Settles which columns are numbers and which words, by the rows that will be kept: a malformed row that
    /// is skipped does not count. Where malformed rows are not skipped the first one ends the survey, because it
    /// will end the reading too.
    pub(super) fn settle(&self, records: &mut Records, feature_limit: u32) -> Result<Settlement, Fault> {
        let plain = vec![CellForm::Plain; self.names.len()];
        let mut tallies = self.survey(records, &plain);
        let guesses = guess::guess(self, records, &tallies)?;
        if guesses.forms != plain {
            tallies = self.survey(records, &guesses.forms);
        }
        let doubtful = guesses.doubtful || tallies.iter().any(Tally::only_perhaps_missing);
        let is_words = |j: usize| match self.asked[j] {
            None => tallies[j].words || tallies[j].only_perhaps_missing() || tallies[j].is_code(),
            Some(asked) => asked == ColumnAs::Words,
        };
        let is_number = |j: usize| self.roles[j] == Role::Feature && !is_words(j);
        if (0..self.names.len()).filter(|&j| is_number(j)).count() > feature_limit as usize {
            return Err(nowhere(ReadErrorKind::TooManyFeatures { limit: feature_limit }));
        }
        let mut features = 0;
        let columns = self.names.iter().enumerate().map(|(j, name)| {
            let part = match self.roles[j] {
                Role::Label => CellUse::Label,
                Role::Ignored => CellUse::Ignored,
                Role::Feature if is_words(j) => {
                    CellUse::Words { words: HashMap::new(), on_missing: self.missing.of_words() }
                }
                Role::Feature => {
                    features += 1;
                    let mean = tallies[j].mean.over(tallies[j].numbers);
                    let on_missing = self.missing.of_number(mean);
                    CellUse::Number { feature: features - 1, on_missing, form: guesses.forms[j] }
                }
            };
            let may_be_code = !tallies[j].lengths_differ && is_number(j);
            let code = match (tallies[j].digits, self.asked[j]) {
                (Some(_), None) if tallies[j].is_code() => CodeGuess::Codes,
                (Some(0 | SHORTEST_CODE..), None) if may_be_code => CodeGuess::NumbersSoFar,
                _ => CodeGuess::Settled,
            };
            let zero = tallies[j].leading_zero.as_ref().filter(|_| code == CodeGuess::Codes);
            let code_example = zero.map(|(_, example)| example.clone());
            Column { code, code_example, ..Column::new(name.clone(), part) }
        });
        let columns: Vec<Column> = columns.collect();
        let long_wholes =
            self.names.iter().zip(&tallies).zip(&self.asked).filter_map(|((name, tally), asked)| {
                let example = tally.long_whole.as_ref().filter(|_| !tally.other_words && asked.is_none())?;
                Some(remarks::long_wholes(name, example))
            });
        let remarks = guesses.remarks.into_iter().chain(long_wholes).collect();
        Ok(Settlement { columns, remarks, doubtful })
    }

    fn survey(&self, records: &mut Records, forms: &[CellForm]) -> Vec<Tally> {
        records.rewind();
        let mut tallies = vec![Tally::default(); self.names.len()];
        let mut labels = LabelTable::default();
        let mut record = Record::default();
        let mut header = self.header;
        let mut undecided = Vec::new();
        let mut looks = Vec::new();
        // Where no row is kept, those that are left out tell what the columns hold.
        let (mut any_kept, mut of_others) = (false, tallies.clone());
        while let Ok(true) = records.next(&mut record) {
            if record.misshape(self.names.len()).is_some() {
                if self.skip_bad {
                    continue;
                }
                break;
            }
            if std::mem::take(&mut header) {
                continue;
            }
            self.look(&record, forms, &mut looks);
            match self.judge(&record, &looks, &mut labels) {
                Verdict::Counts => {
                    any_kept = true;
                    self.count(&record, records.position() <= self.head, &looks, &mut tallies);
                }
                Verdict::Undecided => {
                    any_kept = true;
                    looks.iter().zip(&mut tallies).for_each(|(&look, tally)| tally.add_undecided(look));
                    undecided.push((record.start, record.line));
                }
                Verdict::LeftOut if any_kept => {}
                Verdict::LeftOut => {
                    self.count(&record, records.position() <= self.head, &looks, &mut of_others)
                }
                Verdict::Malformed if self.skip_bad => {}
                Verdict::Malformed => {
                    any_kept = true;
                    // Its words must not be taken for the fault that ends the reading.
                    self.count(&record, records.position() <= self.head, &looks, &mut tallies);
                    break;
                }
            }
        }
        if !any_kept {
            return of_others;
        }
        // Each row that turns out well-formed can make one more column words, and so decide other rows.
        loop {
            let before = (undecided.len(), words(&tallies));
            undecided.retain(|&(start, line)| {
                records.seek(start, line);
                // It was read before, so it can be read again.
                let counts = matches!(records.next(&mut record), Ok(true)) && {
                    self.look(&record, forms, &mut looks);
                    looks.iter().zip(&tallies).all(|(&look, tally)| match look {
                        Look::Infinite => tally.words,
                        look => !self.is_open(look) || tally.has_words(),
                    })
                };
                if counts {
                    self.count(&record, records.position() <= self.head, &looks, &mut tallies);
                }
                !counts
            });
            if undecided.is_empty() || before == (undecided.len(), words(&tallies)) {
                return tallies;
            }
        }
    }

    fn look(&self, record: &Record, forms: &[CellForm], looks: &mut Vec<Look>) {
        looks.clear();
        looks.extend(self.roles.iter().enumerate().map(|(j, role)| match role {
            Role::Feature => Look::at(record.cell(j), forms[j], &self.missing_words),
            Role::Label | Role::Ignored => Look::Unused,
        }));
    }

    fn count(&self, record: &Record, early: bool, looks: &[Look], tallies: &mut [Tally]) {
        for (j, (&look, tally)) in looks.iter().zip(tallies).enumerate() {
            tally.add(look);
            match look {
                Look::Number(_) if tally.digits.is_some() => {
                    tally.add_digits(record.cell(j), record.start, early)
                }
                Look::Word if !tally.other_words => tally.add_word(record.cell(j)),
                _ => {}
            }
        }
    }

    /// Whether a cell makes its row malformed, or leaves it out, in a column of numbers but not in one of words.
    fn is_open(&self, look: Look) -> bool {
        match look {
            Look::Infinite => true,
            Look::PerhapsMissing => {
                matches!(self.missing, Missing::NotSaid | Missing::Refuse | Missing::DropRow)
            }
            _ => false,
        }
    }

    fn judge(&self, record: &Record, looks: &[Look], labels: &mut LabelTable) -> Verdict {
        let mut verdict = Verdict::Counts;
        for (j, look) in looks.iter().enumerate() {
            let cell = record.cell(j);
            match look {
                Look::Unused => {
                    let is_label = self.roles[j] == Role::Label && self.labels == Labels::Required;
                    if is_label && self.missing_words.in_labels(cell) && self.missing.drops_unlabelled() {
                        verdict = Verdict::LeftOut;
                    } else if is_label && (self.missing_words.in_labels(cell) || labels.class(cell).is_none())
                    {
                        return Verdict::Malformed;
                    }
                }
                Look::Missing => match self.missing {
                    Missing::NotSaid | Missing::Refuse => return Verdict::Malformed,
                    Missing::DropRow => verdict = Verdict::LeftOut,
                    Missing::Auto | Missing::Mean | Missing::Zero => {}
                },
                Look::Word if std::str::from_utf8(cell).is_err() => return Verdict::Malformed,
                look if self.is_open(*look) && matches!(verdict, Verdict::Counts) => {
                    verdict = Verdict::Undecided
                }
                Look::Word | Look::Number(_) | Look::Infinite | Look::PerhapsMissing => {}
            }
        }
        verdict
    }
}

fn words(tallies: &[Tally]) -> usize {
    tallies.iter().filter(|tally| tally.words).count()
}

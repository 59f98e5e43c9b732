//! The use of each column, and how it is determined for a file that is read without a model.

use super::dialect::nowhere;
use super::guess;
use super::records::{Fault, Records};
use super::remarks;
use super::survey::Tally;
use crate::SettingsError;
use crate::features::text::TextReader;
use crate::features::{CellForm, MissingWords, Number, OnMissing, Text, TextOptions, Words};
use crate::read::error::ReadErrorKind;
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

/// The guess about whole numbers: with a zero at the beginning of one of them they are codes, such as those of post
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

/// The values seen in a column, in the rows that were kept.
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

/// The values seen in the rows of a table, and the remarks made on them. A reader of further rows of the same table goes on from there.
#[derive(Clone, Default)]
pub(crate) struct RowsSoFar {
    /// Lines before those of the reader.
    pub(super) lines: u64,
    pub(super) counts: Vec<Counts>,
    pub(super) rows: u64,
    /// Cells whose word the model does not know.
    pub(super) unseen: u64,
    pub(in crate::read) remarks: Vec<String>,
}

impl RowsSoFar {
    /// Adds what is said of the rows, if it is new.
    pub(in crate::read) fn add_remarks(&mut self, remarks: &[String]) {
        let new: Vec<String> =
            remarks.iter().filter(|remark| !self.remarks.contains(remark)).cloned().collect();
        self.remarks.extend(new);
    }
}

/// The use of a column.
pub(super) enum CellUse {
    Label,
    Ignored,
    Number {
        feature: u32,
        on_missing: OnMissing,
        form: CellForm,
    },
    /// `rare` is the feature of all words that are not among `words`.
    Words {
        words: HashMap<String, Word>,
        on_missing: OnMissing,
        rare: Option<u32>,
    },
    Text(Box<TextCells>),
}

/// A column of texts, and how they are read.
pub(super) struct TextCells {
    pub(super) text: Text,
    pub(super) reader: TextReader,
}

impl TextCells {
    pub(super) fn new(text: Text) -> Self {
        Self { reader: TextReader::new(&text), text }
    }

    /// The same, which keep the terms that a model knows by their hash alone.
    pub(super) fn keeping_hashed(self, keeps: bool) -> Self {
        Self { reader: self.reader.keeping_hashed(keeps), ..self }
    }
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
            CellUse::Text(cells) => ColumnKind::Text(cells.text.clone()),
            CellUse::Words { words, on_missing, .. } => {
                let mut words: Vec<(String, usize)> =
                    words.iter().map(|(text, word)| (text.clone(), word.feature as usize)).collect();
                words.sort_unstable_by_key(|&(_, feature)| feature);
                let optional = matches!(on_missing, OnMissing::Unset | OnMissing::Category);
                ColumnKind::Words(Words { words, optional, rare: None })
            }
        };
        read::Column { name: self.name.clone(), kind, names_rows: None }
    }
}

/// The user's settings for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Role {
    Label,
    Ignored,
    Feature,
}

/// The roles of the columns by the options: the label is the last column that is not ignored, if not named.
/// `labelled` is false where the file has no label column at all.
pub(super) fn roles(names: &[String], options: &ReadOptions, labelled: bool) -> Result<Vec<Role>, Fault> {
    let mut roles = vec![Role::Feature; names.len()];
    let places = Places::of(names);
    for wanted in &options.csv.ignore {
        roles[places.find(wanted)?] = Role::Ignored;
    }
    let is_text: Vec<bool> =
        asked(names, options)?.iter().map(|asked| *asked == Some(ColumnAs::Text)).collect();
    if labelled {
        let label = match &options.csv.label {
            Some(wanted) => Some(places.find(wanted)?),
            None => (0..names.len()).rev().find(|&j| roles[j] != Role::Ignored && !is_text[j]),
        };
        if let Some(label) = label {
            if roles[label] == Role::Ignored {
                let reason = format!(
                    "column \"{}\" is named by ⟦label⟧ and by ⟦ignore⟧: leave it out of one of them",
                    names[label]
                );
                return Err(nowhere(ReadErrorKind::Misused(reason)));
            }
            if is_text[label] {
                let reason = format!(
                    "column \"{}\" is named by ⟦label⟧ and by ⟦text⟧: leave it out of one of them",
                    names[label]
                );
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

/// The columns by their names.
pub(super) struct Places<'a> {
    names: &'a [String],
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Places<'a> {
    pub(super) fn of(names: &'a [String]) -> Self {
        // Of columns that are called alike the first counts.
        let by_name = names.iter().enumerate().rev().map(|(j, name)| (name.as_str(), j)).collect();
        Self { names, by_name }
    }

    /// The column that is meant by a name, or by a number from 1.
    pub(super) fn find(&self, wanted: &str) -> Result<usize, Fault> {
        let count = self.names.len();
        let by_number = || wanted.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        self.by_name
            .get(wanted)
            .copied()
            .or_else(|| by_number().map(|number| number - 1))
            .ok_or_else(|| no_such_column(self.names, wanted))
    }
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

/// The places of the columns that are kept whatever their cells look like.
pub(super) fn kept(names: &[String], options: &ReadOptions) -> Result<Vec<usize>, Fault> {
    let places = Places::of(names);
    options.csv.keep.iter().map(|wanted| places.find(wanted)).collect()
}

/// The user's settings for the columns, in their order.
pub(super) fn asked(names: &[String], options: &ReadOptions) -> Result<Vec<Option<ColumnAs>>, Fault> {
    let mut asked = vec![None; names.len()];
    let places = Places::of(names);
    for (wanted, &what) in &options.csv.columns {
        asked[places.find(wanted)?] = Some(what);
    }
    for wanted in &options.text.columns {
        asked[places.find(wanted)?] = Some(ColumnAs::Text);
    }
    Ok(asked)
}

/// The properties of the columns that are known before their cells are read.
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
    /// How texts become features, and whether rows are read only once.
    pub(super) text: TextOptions,
    pub(super) online: bool,
    /// The bytes of the first rows, which are looked at in any case.
    pub(super) head: usize,
}

/// The columns as the rows show them.
pub(super) struct Settlement {
    pub(super) columns: Vec<Column>,
    /// The guesses.
    pub(super) remarks: Vec<String>,
    /// Whether more rows could tell otherwise without one of them being a contradiction.
    pub(super) doubtful: bool,
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
        let is_open = |tally: &Tally| tally.only_perhaps_missing() || tally.of_rows_left_out;
        let doubtful = guesses.doubtful || tallies.iter().any(is_open);
        let is_words = |j: usize| match self.asked[j] {
            None => tallies[j].words || tallies[j].only_perhaps_missing() || tallies[j].is_code(),
            Some(asked) => asked == ColumnAs::Words,
        };
        let is_text = |j: usize| self.asked[j] == Some(ColumnAs::Text);
        let is_number = |j: usize| self.roles[j] == Role::Feature && !is_words(j) && !is_text(j);
        if (0..self.names.len()).filter(|&j| is_number(j)).count() > feature_limit as usize {
            return Err(nowhere(ReadErrorKind::TooManyFeatures { limit: feature_limit }));
        }
        // Terms that are named or hashed have features after the numbers.
        let mut next_term = (0..self.names.len()).filter(|&j| is_number(j)).count();
        let mut texts = Vec::new();
        for _ in (0..self.names.len()).filter(|&j| self.roles[j] == Role::Feature && is_text(j)) {
            let refuse = |error: SettingsError| nowhere(ReadErrorKind::Misused(error.to_string()));
            let mut text = Text::begin(&self.text, next_term).map_err(refuse)?;
            if self.online {
                text.settle_online(next_term).map_err(refuse)?;
            }
            next_term += text.terms.len();
            texts.push(text);
        }
        let mut texts = texts.into_iter();
        let mut features = 0;
        let columns = self.names.iter().enumerate().map(|(j, name)| {
            let part = match self.roles[j] {
                Role::Label => CellUse::Label,
                Role::Ignored => CellUse::Ignored,
                Role::Feature if is_text(j) => match texts.next() {
                    Some(text) => CellUse::Text(Box::new(TextCells::new(text))),
                    None => CellUse::Ignored,
                },
                Role::Feature if is_words(j) => {
                    CellUse::Words { words: HashMap::new(), on_missing: self.missing.of_words(), rare: None }
                }
                Role::Feature => {
                    features += 1;
                    let mean = tallies[j].mean.over(tallies[j].numbers as f64);
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
}

//! The forms of the cells of each column, counted over the rows that will be kept.

use super::columns::{Draft, Role, has_leading_zero};
use super::records::{Record, Records};
use crate::features::{CellForm, Mean, MissingWords};
use crate::read::error::excerpt;
use crate::read::label_table::LabelTable;
use crate::read::number::{is_inexact_whole, parse_number};
use crate::read::{Labels, Missing};

/// What the cells of a column say about it.
#[derive(Clone)]
pub(super) struct Tally {
    pub(super) words: bool,
    pub(super) numbers: u64,
    /// Cells that are missing if the others are numbers.
    perhaps_missing: u64,
    /// Whether a row that is undecided has a word here, or a number.
    undecided_words: bool,
    undecided_numbers: bool,
    pub(super) mean: Mean,
    /// The length of the cells, while all are whole numbers without a sign; 0 before the first, `None` if they are not.
    pub(super) digits: Option<usize>,
    /// Whether others have more or fewer digits than the first.
    pub(super) lengths_differ: bool,
    /// The first cell that begins with a zero, with its place, and whether one is among the first rows.
    pub(super) leading_zero: Option<(usize, String)>,
    early_zero: bool,
    /// A whole number that floats do not have, and whether there are words of other kinds.
    pub(super) long_whole: Option<String>,
    pub(super) other_words: bool,
    /// Whether no row is kept, so that those that are left out were asked.
    pub(super) of_rows_left_out: bool,
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
            of_rows_left_out: false,
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
    pub(super) fn is_code(&self) -> bool {
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
    pub(super) fn only_perhaps_missing(&self) -> bool {
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
    /// Whether the record that was read last is among those that a stream shows before it is read: without a line end its last one is
    /// not known to be whole.
    fn is_early(&self, records: &Records) -> bool {
        records.position() < self.head || (records.position() == self.head && records.has_ended_line())
    }

    /// What the cells of the columns look like, read in these forms.
    pub(super) fn survey(&self, records: &mut Records, forms: &[CellForm]) -> Vec<Tally> {
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
                    self.count(&record, self.is_early(records), &looks, &mut tallies);
                }
                Verdict::Undecided => {
                    any_kept = true;
                    looks.iter().zip(&mut tallies).for_each(|(&look, tally)| tally.add_undecided(look));
                    undecided.push((record.start, record.line));
                }
                Verdict::LeftOut if any_kept => {}
                Verdict::LeftOut => self.count(&record, self.is_early(records), &looks, &mut of_others),
                Verdict::Malformed if self.skip_bad => {}
                Verdict::Malformed => {
                    any_kept = true;
                    // Its words must not be taken for the fault that ends the reading.
                    self.count(&record, self.is_early(records), &looks, &mut tallies);
                    break;
                }
            }
        }
        if !any_kept {
            // Whether numbers are codes is for the rows to tell that are kept.
            let open = |tally| Tally {
                digits: Some(0),
                lengths_differ: false,
                leading_zero: None,
                of_rows_left_out: true,
                ..tally
            };
            return of_others.into_iter().map(open).collect();
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
                    self.count(&record, self.is_early(records), &looks, &mut tallies);
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

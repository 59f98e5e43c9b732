//! Rows without anything special, read in one go: no quotes, no missing cells, no new words, nothing wrong.
//!
//! Nearly every row of nearly every file is of this kind. Any other is left to [`Block::read`], which reads it with
//! care; what a plain row gives is what the careful way would have given.

use super::block::{Block, Reading};
use super::columns::{CellUse, CodeGuess, Column};
use super::numbers::plain_numbers;
use crate::features::CellForm;
use crate::read::formats::is_binary;
use crate::read::number::{is_inexact_whole, parse_number, plain_number};
use crate::read::{Batch, Labels};

/// Whether rows divided by this byte can be plain: it must not be part of a number, and it must be text.
pub(super) fn may_divide(delimiter: u8) -> bool {
    !(delimiter.is_ascii_alphanumeric() || b"+-.".contains(&delimiter) || is_binary(delimiter))
}

/// For each column, how many columns of numbers follow each other from it on, as their features do.
pub(super) fn runs(columns: &[Column]) -> Vec<usize> {
    let mut runs = vec![0; columns.len()];
    let mut next = None;
    for (j, column) in columns.iter().enumerate().rev() {
        let CellUse::Number { feature, form: CellForm::Plain, .. } = column.used_for else {
            next = None;
            continue;
        };
        // A number that may turn out to be a code is looked at one by one.
        if column.code != CodeGuess::Settled {
            next = None;
            continue;
        }
        runs[j] = if next == Some(feature + 1) { runs[j + 1] + 1 } else { 1 };
        next = Some(feature);
    }
    runs
}

impl Block {
    /// Reads the row at the beginning of a text; its length with the line end. `None`, and nothing read, if the
    /// row is not plain.
    pub(super) fn plain_row(&mut self, text: &[u8], reading: &Reading) -> Option<usize> {
        let Some(width) = reading.dense else { return self.plain_sparse(text, reading) };
        let start = self.values.len();
        self.values.resize(start + width, 0.0);
        let length = self.plain_dense(text, start, reading);
        if length.is_none() {
            self.values.truncate(start);
        }
        length
    }

    fn plain_dense(&mut self, text: &[u8], start: usize, reading: &Reading) -> Option<usize> {
        let row = &mut self.values[start..];
        let mut cells = Cells::new(text, reading)?;
        let mut label = None;
        while let Some(j) = reading.columns.len().checked_sub(cells.left).filter(|_| cells.left > 0) {
            match reading.columns[j].used_for {
                CellUse::Number { feature, .. } if reading.columns[j].code != CodeGuess::Settled => {
                    row[feature as usize] = uncoded(cells.text()?, &reading.columns[j])?;
                }
                CellUse::Number { feature, form: CellForm::Plain, .. } => {
                    let run = &mut row[feature as usize..feature as usize + reading.runs[j]];
                    let taken = cells.numbers(run);
                    if let Some(next) = run.get_mut(taken) {
                        *next = cells.number()?;
                    }
                }
                CellUse::Number { feature, form, .. } => {
                    row[feature as usize] = formed(cells.text()?, form, reading)?;
                }
                CellUse::Label => label = Some(cells.text()?),
                CellUse::Ignored => _ = cells.text()?,
                CellUse::Words { .. } | CellUse::Text(_) => return None,
            }
        }
        let length = cells.length()?;
        let label = self.plain_label(label, reading)?;
        self.labels.push(label);
        self.lines.push(self.line_count);
        Some(length)
    }

    fn plain_sparse(&mut self, text: &[u8], reading: &Reading) -> Option<usize> {
        self.row.clear();
        self.plain_words.clear();
        let mut cells = Cells::new(text, reading)?;
        let mut label = None;
        for (j, column) in reading.columns.iter().enumerate() {
            match column.used_for {
                CellUse::Number { feature, .. } if column.code != CodeGuess::Settled => {
                    self.row.push((feature, uncoded(cells.text()?, column)?));
                }
                CellUse::Number { feature, form: CellForm::Plain, .. } => {
                    self.row.push((feature, cells.number()?));
                }
                CellUse::Number { feature, form, .. } => {
                    self.row.push((feature, formed(cells.text()?, form, reading)?));
                }
                CellUse::Label => label = Some(cells.text()?),
                CellUse::Ignored => _ = cells.text()?,
                CellUse::Text(_) => return None,
                CellUse::Words { .. } => {
                    let cell = cells.text()?;
                    if reading.missing_words.in_words(cell) {
                        return None;
                    }
                    let word = self.word(j, std::str::from_utf8(cell).ok()?, reading)?;
                    // The first word that is no number is noted with its line, the careful way.
                    if !word.number && self.counts[j].first_word.is_none() && !reading.rules.words_settled {
                        return None;
                    }
                    self.row.push((word.feature, 1.0));
                    self.plain_words.push((j, word));
                }
            }
        }
        let length = cells.length()?;
        let label = self.plain_label(label, reading)?;
        for &(j, word) in &self.plain_words {
            self.counts[j].numbers += u64::from(word.number);
        }
        self.keep_row(label, self.line_count, reading);
        Some(length)
    }

    /// The class of a row's label, if that is there.
    fn plain_label(&mut self, cell: Option<&[u8]>, reading: &Reading) -> Option<u32> {
        match cell {
            Some(cell) if reading.rules.labels == Labels::Required => {
                if reading.missing_words.in_labels(cell) { None } else { self.table.class(cell) }
            }
            _ => Some(Batch::UNLABELLED),
        }
    }
}

/// The number of a cell that is no code.
fn uncoded(cell: &[u8], column: &Column) -> Option<f64> {
    let number = parse_number(cell).filter(|number| number.is_finite())?;
    if column.code.is_contradicted_by(cell) || is_inexact_whole(number, cell) { None } else { Some(number) }
}

/// The number of a cell that is not written as programs write numbers.
#[inline(never)]
fn formed(cell: &[u8], form: CellForm, reading: &Reading) -> Option<f64> {
    if reading.missing_words.in_numbers(cell) { None } else { form.parse(cell) }
}

/// The cells of the row at the beginning of a text, one after the other. Whatever is not plain is `None`.
struct Cells<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Where the next cell starts; after the last one, where the next row starts.
    at: usize,
    /// How many cells are to come.
    left: usize,
}

impl<'a> Cells<'a> {
    /// `None` for a blank line, which is no row.
    #[inline(always)]
    fn new(text: &'a [u8], reading: &Reading) -> Option<Self> {
        let mut cells = Self { text, delimiter: reading.delimiter, at: 0, left: reading.columns.len() };
        cells.skip_padding();
        (!matches!(text.get(cells.at), None | Some(b'\n' | b'\r'))).then_some(cells)
    }

    /// Numbers as they come, except the last of the row; how many.
    #[inline(always)]
    fn numbers(&mut self, run: &mut [f64]) -> usize {
        let most = run.len().min(self.left - 1);
        let (taken, at) = plain_numbers(self.text, self.at, self.delimiter, &mut run[..most]);
        self.at = at;
        self.left -= taken;
        taken
    }

    #[inline(always)]
    fn number(&mut self) -> Option<f64> {
        if let Some((number, length)) = plain_number(&self.text[self.at..]) {
            if is_inexact_whole(number, &self.text[self.at..self.at + length]) {
                return None;
            }
            if self.end_cell(self.at + length) {
                return Some(number);
            }
        }
        self.long_number()
    }

    /// A number with many digits, an exponent, or padding around it.
    #[inline(never)]
    fn long_number(&mut self) -> Option<f64> {
        let (start, delimiter) = (self.at, self.delimiter);
        let rest = &self.text[start..];
        let length = rest.iter().position(|&byte| byte == delimiter || byte == b'\n' || byte == b'\r')?;
        let number = parse_number(rest[..length].trim_ascii())?;
        if is_inexact_whole(number, &rest[..length]) {
            return None;
        }
        (number.is_finite() && self.end_cell(start + length)).then_some(number)
    }

    /// A cell of text, without the padding around it.
    fn text(&mut self) -> Option<&'a [u8]> {
        self.skip_padding();
        let delimiter = self.delimiter;
        let rest = &self.text[self.at..];
        let is_special = |&byte: &u8| byte == delimiter || byte == b'\n' || byte == b'"' || is_binary(byte);
        let length = rest.iter().position(is_special)?;
        let mut cell = &rest[..length];
        if rest[length] == b'\n' {
            cell = cell.strip_suffix(b"\r").unwrap_or(cell);
        }
        while let [before @ .., b' ' | b'\t'] = cell {
            cell = before;
        }
        self.end_cell(self.at + length).then_some(cell)
    }

    /// Goes on after a cell that ends at `end`; `false` if it does not end there as it should: the last one with the
    /// line, any other with a delimiter.
    #[inline(always)]
    fn end_cell(&mut self, end: usize) -> bool {
        self.left -= 1;
        if self.left > 0 && self.text.get(end) == Some(&self.delimiter) {
            self.at = end + 1;
            return true;
        }
        self.end_row(end)
    }

    fn end_row(&mut self, end: usize) -> bool {
        let length = match self.text.get(end..) {
            _ if self.left > 0 => 0,
            Some([b'\n', ..]) => 1,
            Some([b'\r', b'\n', ..]) => 2,
            _ => 0,
        };
        if length == 0 {
            // The cell is still to come.
            self.left += 1;
            return false;
        }
        self.at = end + length;
        true
    }

    /// The length of the row, if no cell is left.
    #[inline(always)]
    fn length(&self) -> Option<usize> {
        (self.left == 0).then_some(self.at)
    }

    #[inline(always)]
    fn skip_padding(&mut self) {
        while let Some(&byte @ (b' ' | b'\t')) = self.text.get(self.at)
            && byte != self.delimiter
        {
            self.at += 1;
        }
    }
}

//! Rows without anything special, read in one go: no quotes, no missing cells, no new words, nothing wrong.
//!
//! Nearly every row of nearly every file is of this kind. Any other is left to [`Block::read`], which reads it with
//! care; what a plain row gives is what the careful way would have given.

use super::block::{Block, Reading};
use super::columns::Part;
use super::{is_missing, is_missing_label};
use crate::read::detect::is_binary;
use crate::read::number::{parse_number, plain_number};
use crate::read::{Batch, Labels};

/// Whether rows divided by this byte can be plain: it must not be part of a number, and it must be text.
pub(super) fn may_divide(delimiter: u8) -> bool {
    !(delimiter.is_ascii_alphanumeric() || b"+-.".contains(&delimiter) || is_binary(delimiter))
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
        let mut cells = Cells::new(text, reading.delimiter)?;
        let mut label = None;
        for column in &reading.columns {
            match column.part {
                Part::Number { feature, .. } => row[feature as usize] = cells.number()?,
                Part::Label => label = Some(cells.text()?),
                Part::Ignored => _ = cells.text()?,
                Part::Words { .. } => return None,
            }
        }
        let length = cells.line_end()?;
        let label = self.plain_label(label, reading)?;
        self.labels.push(label);
        self.lines.push(self.line_count);
        Some(length)
    }

    fn plain_sparse(&mut self, text: &[u8], reading: &Reading) -> Option<usize> {
        self.row.clear();
        self.plain_words.clear();
        let mut cells = Cells::new(text, reading.delimiter)?;
        let mut label = None;
        for (j, column) in reading.columns.iter().enumerate() {
            match column.part {
                Part::Number { feature, .. } => self.row.push((feature, cells.number()?)),
                Part::Label => label = Some(cells.text()?),
                Part::Ignored => _ = cells.text()?,
                Part::Words { .. } => {
                    let cell = cells.text()?;
                    if is_missing(cell) {
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
        let length = cells.line_end()?;
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
                if is_missing_label(cell) {
                    None
                } else {
                    self.table.class(cell)
                }
            }
            _ => Some(Batch::UNLABELLED),
        }
    }
}

/// The cells of the row at the beginning of a text, one after the other. Whatever is not plain is `None`.
struct Cells<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Where the next cell starts, or where the last one ended.
    at: usize,
    first: bool,
}

impl<'a> Cells<'a> {
    /// `None` for a blank line, which is no row.
    #[inline(always)]
    fn new(text: &'a [u8], delimiter: u8) -> Option<Self> {
        let mut cells = Self { text, delimiter, at: 0, first: true };
        cells.skip_padding();
        (!matches!(text.get(cells.at), None | Some(b'\n' | b'\r'))).then_some(cells)
    }

    /// To the beginning of the next cell.
    #[inline(always)]
    fn next(&mut self) -> Option<()> {
        if !std::mem::take(&mut self.first) {
            if self.text.get(self.at) != Some(&self.delimiter) {
                return None;
            }
            self.at += 1;
        }
        self.skip_padding();
        Some(())
    }

    #[inline(always)]
    fn skip_padding(&mut self) {
        while let Some(&byte @ (b' ' | b'\t')) = self.text.get(self.at)
            && byte != self.delimiter
        {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn number(&mut self) -> Option<f64> {
        self.next()?;
        let rest = &self.text[self.at..];
        if let Some((number, length)) = plain_number(rest)
            && let Some(&after) = rest.get(length)
            && (after == self.delimiter || after == b'\n' || after == b'\r')
        {
            self.at += length;
            return Some(number);
        }
        self.long_number()
    }

    /// A number with many digits, an exponent, or blanks after it.
    fn long_number(&mut self) -> Option<f64> {
        let rest = &self.text[self.at..];
        let length =
            rest.iter().position(|&byte| byte == self.delimiter || byte == b'\n' || byte == b'\r')?;
        self.at += length;
        parse_number(rest[..length].trim_ascii()).filter(|number| number.is_finite())
    }

    /// A cell of text, without the padding around it.
    fn text(&mut self) -> Option<&'a [u8]> {
        self.next()?;
        let rest = &self.text[self.at..];
        let is_special =
            |&byte: &u8| byte == self.delimiter || byte == b'\n' || byte == b'"' || is_binary(byte);
        let length = rest.iter().position(is_special)?;
        let mut cell = &rest[..length];
        match rest[length] {
            b'\n' => cell = cell.strip_suffix(b"\r").unwrap_or(cell),
            end if end == self.delimiter => {}
            _ => return None,
        }
        while let [before @ .., b' ' | b'\t'] = cell {
            cell = before;
        }
        self.at += length;
        Some(cell)
    }

    /// The length of the row, if it ends here.
    #[inline(always)]
    fn line_end(&self) -> Option<usize> {
        match self.text[self.at..] {
            [b'\n', ..] => Some(self.at + 1),
            [b'\r', b'\n', ..] => Some(self.at + 2),
            _ => None,
        }
    }
}

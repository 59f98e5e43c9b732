//! Delimited text to records: quotes, line ends, and the place of every cell.

use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::formats::is_binary;
use std::borrow::Cow;

/// A quoted field longer than this was not meant: its closing quote is missing. Without a bound a stray quote
/// would pull the rest of a stream into memory.
const MAX_QUOTED_BYTES: usize = 1 << 26;

/// The problem, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u64,
    /// Byte in the line, from 1.
    pub(super) column: u64,
    pub(super) kind: ReadErrorKind,
}

/// One row of text: its cells without quotes and padding.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: Vec<u8>,
    cells: Vec<Cell>,
    /// The line on which it starts.
    pub(super) line: u64,
    /// Where it starts in the text, for coming back to it.
    pub(super) start: usize,
    /// The problem with its quotes.
    pub(super) fault: Option<Fault>,
    /// Whether it counts as one line, whatever line ends its cells hold.
    pub(super) one_line: bool,
}

#[derive(Debug)]
struct Cell {
    start: usize,
    end: usize,
    line: u64,
    column: u64,
}

impl Record {
    /// Number of cells.
    pub(super) fn width(&self) -> usize {
        self.cells.len()
    }

    /// The text of cell `j`.
    pub(super) fn cell(&self, j: usize) -> &[u8] {
        &self.text[self.cells[j].start..self.cells[j].end]
    }

    /// The line on which cell `j` starts.
    pub(super) fn line_of(&self, j: usize) -> u64 {
        self.cells[j].line
    }

    /// A fault at cell `j`.
    pub(super) fn fault_at(&self, j: usize, kind: ReadErrorKind) -> Fault {
        match self.cells.get(j) {
            Some(cell) => Fault { line: cell.line, column: cell.column, kind },
            None => Fault { line: self.line, column: 1, kind },
        }
    }

    /// The problem with the record as a whole, where `expected` cells are due: the first cell too many, or
    /// the last one before those that are not there.
    pub(super) fn misshape(&mut self, expected: usize) -> Option<Fault> {
        let found = self.width();
        self.fault.take().or_else(|| {
            let place = if found > expected { expected } else { found.saturating_sub(1) };
            (found != expected).then(|| self.fault_at(place, ReadErrorKind::Ragged { found, expected }))
        })
    }

    pub(super) fn clear(&mut self, line: u64, start: usize) {
        self.text.clear();
        self.cells.clear();
        self.fault = None;
        (self.line, self.start) = (line, start);
    }
}

/// The records of a text in memory.
pub(super) struct Records<'a> {
    delimiter: u8,
    text: Cow<'a, [u8]>,
    /// Where the next record starts, and on which line.
    position: usize,
    line: u64,
    /// Where the first one starts.
    first: usize,
    /// Whether more follows that is not here, so that the last record is not to be trusted.
    cut: bool,
    numbering: LineNumbering,
}

/// How lines are numbered.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct LineNumbering {
    /// The number of the first line.
    pub(in crate::read) first: u64,
    /// Whether a record is one line, whatever line ends its cells hold: so where the text was made from another format.
    pub(in crate::read) by_record: bool,
}

impl LineNumbering {
    /// The lines of a text as it stands.
    pub(in crate::read) const TEXT: Self = Self { first: 1, by_record: false };
}

impl<'a> Records<'a> {
    /// The records of a text; if it is `cut`, its last record is left out.
    pub(super) fn new(text: impl Into<Cow<'a, [u8]>>, cut: bool, delimiter: u8) -> Self {
        let text = text.into();
        // A byte order mark comes before the first record.
        let position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { delimiter, text, position, line: 1, first: position, cut, numbering: LineNumbering::TEXT }
    }

    /// The same records with other numbers of their lines.
    pub(super) fn numbered(mut self, numbering: LineNumbering) -> Self {
        (self.numbering, self.line) = (numbering, numbering.first);
        self
    }

    /// Back to a record by its start and line.
    pub(super) fn seek(&mut self, start: usize, line: u64) {
        (self.position, self.line) = (start, line);
    }

    /// Back to the first record.
    pub(super) fn rewind(&mut self) {
        self.seek(self.first, self.numbering.first);
    }

    /// Reads the next record; `false` at the end. An error ends the reading: what follows it has no meaning.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, Fault> {
        loop {
            record.clear(self.line, self.position);
            record.one_line = self.numbering.by_record;
            let rest = &self.text[self.position..];
            let Some(extent) = scan(rest, self.delimiter, !self.cut, record)? else { return Ok(false) };
            self.position += extent.bytes;
            self.line += extent.lines;
            if !extent.blank {
                return Ok(true);
            }
        }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Whether the record that was read last ended in a line end, and not with the text.
    pub(super) fn has_ended_line(&self) -> bool {
        self.text[..self.position].last() == Some(&b'\n')
    }

    /// What was not read.
    pub(super) fn rest(&self) -> &[u8] {
        &self.text[self.position..]
    }

    /// The text again.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.text.into_owned()
    }
}

/// Reads the record at the start of `bytes` into a cleared `record`; `None` if its end is not there or nothing is
/// left. `whole` says that the text ends where the bytes end.
pub(super) fn scan(
    bytes: &[u8],
    delimiter: u8,
    whole: bool,
    record: &mut Record,
) -> Result<Option<Extent>, Fault> {
    Scan { bytes, delimiter, whole, record }.run()
}

/// How far a record reaches.
pub(super) struct Extent {
    pub(super) bytes: usize,
    pub(super) lines: u64,
    /// Whether it is a blank line, which is no record.
    pub(super) blank: bool,
}

/// One attempt at a record at the start of `bytes`.
struct Scan<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// Whether the text ends where the bytes end.
    whole: bool,
    record: &'a mut Record,
}

impl Scan<'_> {
    fn run(&mut self) -> Result<Option<Extent>, Fault> {
        let first = self.skip_padding(0);
        match self.bytes.get(self.skip_return(first)) {
            None => return Ok(None),
            Some(b'\n') => {
                let bytes = self.skip_return(first) + 1;
                return Ok(Some(Extent { bytes, lines: 1, blank: true }));
            }
            Some(_) => {}
        }
        let (mut at, mut line_start, mut line) = (0, 0, self.record.line);
        loop {
            let start = self.skip_padding(at);
            let place = (line, (start - line_start) as u64 + 1);
            let end = if self.bytes.get(start) == Some(&b'"') {
                let Some(closing) = self.quoted(start, place)? else { return Ok(None) };
                for newline in memchr::memchr_iter(b'\n', &self.bytes[start..closing]) {
                    line += u64::from(!self.record.one_line);
                    line_start = start + newline + 1;
                }
                self.after_quote(closing + 1, line, line_start)
            } else {
                self.unquoted(start, place)
            };
            let Some(end) = end else { return Ok(None) };
            if self.bytes.get(end) == Some(&self.delimiter) {
                at = end + 1;
                continue;
            }
            let bytes = (end + 1).min(self.bytes.len());
            self.refuse_binary(bytes)?;
            return Ok(Some(Extent { bytes, lines: line - self.record.line + 1, blank: false }));
        }
    }

    /// A field whose opening quote is at `open`; the place of its closing quote.
    fn quoted(&mut self, open: usize, (line, column): (u64, u64)) -> Result<Option<usize>, Fault> {
        let start = self.record.text.len();
        let mut at = open + 1;
        loop {
            let found = memchr::memchr(b'"', &self.bytes[at..]).map(|length| at + length);
            let end = found.unwrap_or(self.bytes.len());
            if (found.is_none() && self.whole) || end - open > MAX_QUOTED_BYTES {
                return Err(Fault { line, column, kind: ReadErrorKind::UnterminatedQuote });
            }
            let Some(quote) = found else { return Ok(None) };
            self.record.text.extend_from_slice(&self.bytes[at..quote]);
            match self.bytes.get(quote + 1) {
                Some(b'"') => self.record.text.push(b'"'),
                // The next byte decides whether this quote closes the field.
                None if !self.whole => return Ok(None),
                _ => {
                    self.record.cells.push(Cell { start, end: self.record.text.len(), line, column });
                    return Ok(Some(quote));
                }
            }
            at = quote + 2;
        }
    }

    /// What follows a closing quote: padding, then the end of the field, which is returned.
    fn after_quote(&mut self, at: usize, line: u64, line_start: usize) -> Option<usize> {
        let next = self.skip_return(self.skip_padding(at));
        let end = self.field_end(next)?;
        if end > next {
            let found = excerpt(&self.bytes[next..end]);
            let column = (next - line_start) as u64 + 1;
            let kind = ReadErrorKind::AfterQuote { found };
            self.record.fault.get_or_insert(Fault { line, column, kind });
        }
        Some(end)
    }

    /// A field without quotes; its end.
    fn unquoted(&mut self, at: usize, (line, column): (u64, u64)) -> Option<usize> {
        let end = self.field_end(at)?;
        let mut field = &self.bytes[at..end];
        if self.bytes.get(end) != Some(&self.delimiter) {
            field = field.strip_suffix(b"\r").unwrap_or(field);
        }
        while let [rest @ .., last] = field
            && self.is_padding(*last)
        {
            field = rest;
        }
        let start = self.record.text.len();
        self.record.text.extend_from_slice(field);
        self.record.cells.push(Cell { start, end: start + field.len(), line, column });
        Some(end)
    }

    /// The next delimiter or line end, or `None` if it has not arrived yet.
    fn field_end(&self, at: usize) -> Option<usize> {
        match memchr::memchr2(self.delimiter, b'\n', &self.bytes[at..]) {
            Some(length) => Some(at + length),
            None => self.whole.then_some(self.bytes.len()),
        }
    }

    fn is_padding(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && byte != self.delimiter
    }

    fn skip_padding(&self, at: usize) -> usize {
        let text = &self.bytes[at..];
        at + text.iter().position(|&byte| !self.is_padding(byte)).unwrap_or(text.len())
    }

    /// Over the carriage return of a line end.
    fn skip_return(&self, at: usize) -> usize {
        match self.bytes.get(at..) {
            Some([b'\r', b'\n', ..]) => at + 1,
            Some([b'\r']) if self.whole => at + 1,
            _ => at,
        }
    }

    /// Bytes that no text holds are called by their name, wherever they stand in the record.
    fn refuse_binary(&self, length: usize) -> Result<(), Fault> {
        let bytes = &self.bytes[..length];
        // No early exit: so the compiler can look at many bytes at once.
        if !bytes.iter().fold(false, |found, &byte| found | is_binary(byte)) {
            return Ok(());
        }
        let at = bytes.iter().position(|&byte| is_binary(byte)).unwrap_or(0);
        let newlines = memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64;
        let line_start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        Err(Fault {
            line: self.record.line + newlines,
            column: (at - line_start) as u64 + 1,
            kind: ReadErrorKind::Binary(bytes[at]),
        })
    }
}

//! The rows of a block of lines.
//!
//! Nearly every pair of nearly every file is plain, and taken by [`plain_pairs`] many at a time. Whatever is not plain is
//! taken apart with care, token by token, and named if it is wrong.

use super::pairs::{PairRules, Pairs, plain_pair, plain_pairs};
use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::label_table::LabelTable;
use crate::read::number::parse_number;
use crate::read::{Batch, Labels, formats};

/// What a block of lines is parsed with.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// The index of the first feature, where it is known before the end.
    pub(super) base: Option<u32>,
    pub(super) limit: u32,
    pub(super) labels: Labels,
    pub(super) skip_bad: bool,
}

impl Rules {
    /// The largest index accepted. With the base unknown the last feature of a 1-based file must still fit.
    #[inline(always)]
    fn last_index(self) -> u32 {
        self.limit.saturating_sub(1).saturating_add(self.base.unwrap_or(1))
    }

    #[inline(always)]
    fn pairs(self) -> PairRules {
        PairRules { base: self.base.unwrap_or(0), last_index: self.last_index() }
    }
}

/// A row that is wrong: where in its block, and how.
pub(super) struct BadRow {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) kind: ReadErrorKind,
}

/// What one block of whole lines holds.
#[derive(Default)]
pub(super) struct Block {
    pub(super) offsets: Vec<usize>,
    pub(super) pairs: Pairs,
    pub(super) labels: Vec<u32>,
    pub(super) lines: Vec<u64>,
    pub(super) table: LabelTable,
    pub(super) line_count: u64,
    pub(super) saw_zero: bool,
    pub(super) saw_query: bool,
    pub(super) max_index: Option<u32>,
    pub(super) bad: Vec<BadRow>,
}

/// Parses whole lines.
pub(super) fn parse_block(text: &[u8], rules: Rules) -> Block {
    let mut block = Block { offsets: vec![0], ..Block::default() };
    block.pairs.indices.reserve(text.len() / 12);
    block.pairs.values.reserve(text.len() / 12);
    let mut rest = text;
    while !rest.is_empty() {
        block.line_count += 1;
        let (length, parsed) = block.parse_line(rest, rules);
        rest = &rest[length..];
        if let Err((column, kind)) = parsed {
            // Nothing of a malformed row stays.
            let kept = block.offsets[block.labels.len()];
            block.pairs.indices.truncate(kept);
            block.pairs.values.truncate(kept);
            block.bad.push(BadRow { line: block.line_count, column: column as u64 + 1, kind });
            if !rules.skip_bad {
                break;
            }
        }
    }
    block
}

/// The problem, and at which byte of the line.
type Fault = (usize, ReadErrorKind);

/// The state of a row whose pairs are being read.
#[derive(Clone, Copy, Default)]
struct Progress {
    position: usize,
    previous: Option<u32>,
    saw_zero: bool,
    saw_query: bool,
}

impl Block {
    /// Parses the first line of a text. Gives its length, with the line break, and what is wrong with it.
    fn parse_line(&mut self, text: &[u8], rules: Rules) -> (usize, Result<(), Fault>) {
        let mut progress = Progress::default();
        let label = plain_label(text);
        if let Some(label) = label {
            let mut previous = 0;
            progress.position = plain_pairs(text, label.len(), &mut previous, rules.pairs(), &mut self.pairs);
            progress.previous = (previous > 0).then_some(previous);
            if text.get(progress.position) == Some(&b'\n') {
                return (progress.position + 1, self.end_row((0, label), progress, rules));
            }
        }
        let rest = &text[progress.position..];
        let end = progress.position + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let length = (end + 1).min(text.len());
        let comment = memchr::memchr(b'#', &text[progress.position..end]);
        let line = &text[..comment.map_or(end, |place| progress.position + place)];
        (length, self.parse_with_care(line, label, progress, rules))
    }

    /// Parses what is left of a line: all of it, or what comes after the plain pairs.
    fn parse_with_care(
        &mut self,
        line: &[u8],
        label: Option<&[u8]>,
        mut progress: Progress,
        rules: Rules,
    ) -> Result<(), Fault> {
        let label = match label {
            Some(label) => (0, label),
            None => {
                let Some((start, first)) = next_token(line, &mut progress.position) else { return Ok(()) };
                if memchr::memchr(b':', first).is_some() {
                    if rules.labels == Labels::Required {
                        return Err((start, ReadErrorKind::MissingLabel { found: excerpt(first) }));
                    }
                    progress.position = start;
                }
                (start, first)
            }
        };
        loop {
            progress.position = skip_space(line, progress.position);
            if let Some((raw, number, end)) = plain_pair(&line[progress.position..], rules.pairs())
                && progress.previous.is_none_or(|last| raw > last)
            {
                progress.position += end;
                progress.previous = Some(raw);
                progress.saw_zero |= raw == 0;
                self.pairs.push(raw - rules.pairs().base, number);
                continue;
            }
            let Some((start, token)) = next_token(line, &mut progress.position) else { break };
            let Some(colon) = memchr::memchr(b':', token) else {
                return Err((
                    start,
                    first_binary(token).unwrap_or(ReadErrorKind::NotAPair { found: excerpt(token) }),
                ));
            };
            let (index, value) = (&token[..colon], &token[colon + 1..]);
            if index == b"qid" && progress.previous.is_none() {
                progress.saw_query = true;
                continue;
            }
            let raw = parse_index(index, rules).map_err(|kind| (start, kind))?;
            match progress.previous {
                Some(last) if raw == last => {
                    return Err((start, ReadErrorKind::RepeatedIndex { index: raw }));
                }
                Some(last) if raw < last => {
                    return Err((start, ReadErrorKind::FallingIndex { index: raw, previous: last }));
                }
                _ => progress.previous = Some(raw),
            }
            progress.saw_zero |= raw == 0;
            let number = parse_value(value, raw).map_err(|kind| (start + colon + 1, kind))?;
            self.pairs.push(raw - rules.pairs().base, number);
        }
        self.end_row(label, progress, rules)
    }

    /// The label comes last, so that a malformed row does not leave its class behind.
    fn end_row(&mut self, (start, label): (usize, &[u8]), row: Progress, rules: Rules) -> Result<(), Fault> {
        let label = match rules.labels {
            Labels::Ignored => Batch::UNLABELLED,
            Labels::Required => self.table.class(label).ok_or_else(|| (start, bad_label(label)))?,
        };
        self.saw_zero |= row.saw_zero;
        self.saw_query |= row.saw_query;
        self.max_index = self.max_index.max(row.previous);
        self.offsets.push(self.pairs.indices.len());
        self.labels.push(label);
        self.lines.push(self.line_count);
        Ok(())
    }
}

/// The label that a line begins with, if a space follows it and it is nothing else than a label.
#[inline]
fn plain_label(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| *byte <= b' ' || matches!(byte, b':' | b'#'))?;
    (end > 0 && text[end] == b' ').then(|| &text[..end])
}

/// Bytes that stand between tokens.
#[inline(always)]
pub(super) fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0c)
}

/// The first place from `position` on that is not white space, or the end.
#[inline]
fn skip_space(line: &[u8], position: usize) -> usize {
    line[position..].iter().position(|byte| !is_space(byte)).map_or(line.len(), |length| position + length)
}

/// The next run of bytes that are not white space, and where it starts.
#[inline]
fn next_token<'a>(line: &'a [u8], position: &mut usize) -> Option<(usize, &'a [u8])> {
    let start = skip_space(line, *position);
    let end = line[start..].iter().position(is_space).map_or(line.len(), |length| start + length);
    *position = end;
    (start < end).then(|| (start, &line[start..end]))
}

#[inline]
fn parse_index(text: &[u8], rules: Rules) -> Result<u32, ReadErrorKind> {
    let base = rules.base.unwrap_or(0);
    let limit = rules.last_index();
    let mut index = 0u64;
    let whole = !text.is_empty() && text.len() <= 19 && text.iter().all(u8::is_ascii_digit);
    if whole {
        index = text.iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'));
    }
    if !whole || index > u64::from(limit) {
        return Err(ReadErrorKind::BadIndex { found: excerpt(text), limit });
    }
    if index < u64::from(base) {
        return Err(ReadErrorKind::IndexZero);
    }
    Ok(index as u32)
}

#[inline]
fn parse_value(text: &[u8], index: u32) -> Result<f64, ReadErrorKind> {
    match parse_number(text) {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(ReadErrorKind::NotFinite { found: excerpt(text) }),
        None if text.is_empty() => Err(ReadErrorKind::NoValue { index }),
        None => Err(first_binary(text).unwrap_or(ReadErrorKind::NotANumber { found: excerpt(text) })),
    }
}

fn bad_label(text: &[u8]) -> ReadErrorKind {
    first_binary(text).unwrap_or(ReadErrorKind::BadLabel { found: excerpt(text) })
}

/// Garbage is better called by its name than shown as a token.
fn first_binary(text: &[u8]) -> Option<ReadErrorKind> {
    text.iter().copied().find(|&byte| formats::is_binary(byte)).map(ReadErrorKind::Binary)
}

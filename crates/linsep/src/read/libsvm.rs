//! LIBSVM and SVMlight text: `label index:value index:value … # comment`.
//!
//! The union of the dialects that other programs write: blank lines and comments, `qid:N`, CRLF, rows without
//! features, labels that are words, indices from 0 or from 1. Strict about everything else.

use super::error::{ReadError, ReadErrorKind, excerpt};
use super::labels::LabelTable;
use super::number::parse_number;
use super::source::Input;
use super::{Batch, BatchRows, Labels, ReadNotes, ReadOptions, Schema, detect};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::io::Read;

/// Bytes that one thread parses at a time.
const BLOCK_BYTES: usize = 1 << 20;

pub(crate) struct LibsvmReader {
    name: String,
    input: Input,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    ended: bool,
    rules: Rules,
    known_features: Option<usize>,
    labels: LabelTable,
    ready: VecDeque<Batch>,
    lines: u64,
    saw_zero: bool,
    saw_query: bool,
    max_index: Option<u32>,
    notes: ReadNotes,
}

/// What a block of lines is parsed with.
#[derive(Clone, Copy)]
struct Rules {
    /// The index of the first feature, where it is known before the end.
    base: Option<u32>,
    limit: u32,
    labels: Labels,
    skip_bad: bool,
}

/// A row that is wrong: where in its block, and how.
struct BadRow {
    line: u64,
    column: u64,
    kind: ReadErrorKind,
}

/// What one block of whole lines holds.
#[derive(Default)]
struct Block {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    labels: Vec<u32>,
    lines: Vec<u64>,
    table: LabelTable,
    line_count: u64,
    saw_zero: bool,
    saw_query: bool,
    max_index: Option<u32>,
    bad: Vec<BadRow>,
}

impl LibsvmReader {
    pub(crate) fn new(name: String, input: Input, options: &ReadOptions) -> Self {
        let known = match options.schema {
            Some(Schema::Numbered { index_base, features }) => Some((index_base, features)),
            // A table or array has no indices of its own: a LIBSVM file for it counts from 1.
            Some(ref schema) => Some((options.index_base.unwrap_or(1), schema.features())),
            None => None,
        };
        Self {
            name,
            input,
            carry: Vec::new(),
            ended: false,
            rules: Rules {
                base: known.map(|(base, _)| base).or(options.index_base),
                limit: options.feature_limit(),
                labels: options.labels,
                skip_bad: options.skip_bad,
            },
            known_features: known.map(|(_, features)| features),
            labels: LabelTable::default(),
            ready: VecDeque::new(),
            lines: 0,
            saw_zero: false,
            saw_query: false,
            max_index: None,
            notes: ReadNotes::default(),
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            let mut texts = Vec::new();
            while texts.len() < rayon::current_num_threads() && !self.ended {
                texts.push(self.next_lines()?);
            }
            let blocks: Vec<Block> = texts.par_iter().map(|text| parse_block(text, self.rules)).collect();
            for block in blocks {
                self.take(block)?;
            }
        }
    }

    /// The next whole lines, about a block of them.
    fn next_lines(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut text = std::mem::take(&mut self.carry);
        loop {
            let before = text.len();
            let taken = self.input.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut text);
            if taken.map_err(|error| self.located(None, None, error.into()))? == 0 {
                self.ended = true;
                return Ok(text);
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[before..]) {
                self.carry = text.split_off(before + end + 1);
                return Ok(text);
            }
        }
    }

    /// Takes over a parsed block; the blocks before it have been taken.
    fn take(&mut self, mut block: Block) -> Result<(), ReadError> {
        for bad in block.bad.drain(..) {
            let line = self.lines + bad.line;
            if !self.rules.skip_bad {
                return Err(self.located(Some(line), Some(bad.column), bad.kind));
            }
            self.notes.skip(line, bad.kind.to_string());
        }
        let places = self.labels.merge(&block.table);
        for label in block.labels.iter_mut().filter(|label| **label != Batch::UNLABELLED) {
            *label = places[*label as usize];
        }
        block.lines.iter_mut().for_each(|line| *line += self.lines);
        self.lines += block.line_count;
        self.saw_zero |= block.saw_zero;
        self.saw_query |= block.saw_query;
        self.max_index = self.max_index.max(block.max_index);
        if !block.labels.is_empty() {
            self.ready.push_back(Batch {
                rows: BatchRows::Sparse {
                    offsets: block.offsets,
                    indices: block.indices,
                    values: block.values,
                },
                labels: block.labels,
                lines: Some(block.lines),
            });
        }
        Ok(())
    }

    fn located(&self, line: Option<u64>, column: Option<u64>, kind: ReadErrorKind) -> ReadError {
        ReadError { source_name: self.name.clone(), line, column, kind }
    }

    pub(crate) fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    /// By how much the indices of the batches exceed their columns.
    pub(crate) fn index_shift(&self) -> u32 {
        if self.rules.base.is_some() { 0 } else { self.index_base() }
    }

    fn index_base(&self) -> u32 {
        self.rules.base.unwrap_or(u32::from(!self.saw_zero))
    }

    pub(crate) fn schema(&self) -> Schema {
        let index_base = self.index_base();
        let seen = self.max_index.map_or(0, |last| (last + 1 - index_base) as usize);
        Schema::Numbered { index_base, features: self.known_features.unwrap_or(seen) }
    }

    pub(crate) fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        notes.format = format!("LIBSVM, indices from {}", self.index_base());
        if self.saw_query {
            notes.remarks.push("Query numbers (qid) are ignored.".to_string());
        }
        notes
    }
}

fn parse_block(text: &[u8], rules: Rules) -> Block {
    let mut block = Block { offsets: vec![0], ..Block::default() };
    block.indices.reserve(text.len() / 12);
    block.values.reserve(text.len() / 12);
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        block.line_count += 1;
        if let Err((column, kind)) = block.parse_line(line, rules) {
            // Nothing of a malformed row stays.
            let kept = block.offsets[block.labels.len()];
            block.indices.truncate(kept);
            block.values.truncate(kept);
            block.bad.push(BadRow { line: block.line_count, column: column as u64 + 1, kind });
            if !rules.skip_bad {
                break;
            }
        }
    }
    block
}

/// What is wrong, and at which byte of the line.
type Fault = (usize, ReadErrorKind);

impl Block {
    fn parse_line(&mut self, line: &[u8], rules: Rules) -> Result<(), Fault> {
        let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
        let mut position = 0;
        let Some((start, first)) = next_token(line, &mut position) else { return Ok(()) };
        let label = if memchr::memchr(b':', first).is_some() {
            if rules.labels == Labels::Required {
                return Err((start, ReadErrorKind::MissingLabel { found: excerpt(first) }));
            }
            position = start;
            Batch::UNLABELLED
        } else if rules.labels == Labels::Ignored {
            Batch::UNLABELLED
        } else {
            let bad = || (start, bad_label(first));
            self.table.class(first).ok_or_else(bad)?
        };
        let mut previous = None;
        let (mut saw_zero, mut saw_query) = (false, false);
        while let Some((start, token)) = next_token(line, &mut position) {
            let Some(colon) = memchr::memchr(b':', token) else {
                return Err((
                    start,
                    first_binary(token).unwrap_or(ReadErrorKind::NotAPair { found: excerpt(token) }),
                ));
            };
            let (index, value) = (&token[..colon], &token[colon + 1..]);
            if index == b"qid" && previous.is_none() {
                saw_query = true;
                continue;
            }
            let raw = parse_index(index, rules).map_err(|kind| (start, kind))?;
            match previous {
                Some(last) if raw == last => {
                    return Err((start, ReadErrorKind::RepeatedIndex { index: raw }));
                }
                Some(last) if raw < last => {
                    return Err((start, ReadErrorKind::FallingIndex { index: raw, previous: last }));
                }
                _ => previous = Some(raw),
            }
            saw_zero |= raw == 0;
            let number = parse_value(value, raw).map_err(|kind| (start + colon + 1, kind))?;
            if number != 0.0 {
                self.indices.push(raw - rules.base.unwrap_or(0));
                self.values.push(number);
            }
        }
        self.saw_zero |= saw_zero;
        self.saw_query |= saw_query;
        self.max_index = self.max_index.max(previous);
        self.offsets.push(self.indices.len());
        self.labels.push(label);
        self.lines.push(self.line_count);
        Ok(())
    }
}

/// The next run of bytes that are not white space, and where it starts.
#[inline]
fn next_token<'a>(line: &'a [u8], position: &mut usize) -> Option<(usize, &'a [u8])> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0c);
    let start = *position + line[*position..].iter().position(|byte| !is_space(byte))?;
    let end = line[start..].iter().position(is_space).map_or(line.len(), |length| start + length);
    *position = end;
    Some((start, &line[start..end]))
}

#[inline]
fn parse_index(text: &[u8], rules: Rules) -> Result<u32, ReadErrorKind> {
    let base = rules.base.unwrap_or(0);
    // With the base unknown the last feature of a 1-based file must still fit.
    let limit = rules.limit - 1 + rules.base.unwrap_or(1);
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
    text.iter().copied().find(|&byte| detect::is_binary(byte)).map(ReadErrorKind::Binary)
}

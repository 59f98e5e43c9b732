//! Opening a table: how its text is divided, what stands above its rows, and what its columns are.

use super::block::{Block, Reading, Rules};
use super::columns::{CellUse, Counts, RowsSoFar};
use super::dialect::{self, Dialect, Sample, TrailingDelimiter};
use super::records::{Fault, LineNumbering};
use super::settle::{Settled, missing_words, settle_columns, settle_dialect};
use super::titles::{self, AboveHeader};
use super::{CsvReader, comments, look, plain, remarks, spaces, stray_quotes};
use crate::features::text::TextNumbers;
use crate::read::chunks::Chunks;
use crate::read::error::ReadErrorKind;
use crate::read::label_table::LabelTable;
use crate::read::source::Input;
use crate::read::{Missing, ReadNotes, ReadOptions, Schema};
use std::borrow::Cow;
use std::sync::{Arc, RwLock};

/// A text whose table was found.
struct Divided<'a> {
    /// The text from the first line of the table on.
    input: Input,
    dialect: Dialect,
    /// As the text itself amends them.
    options: Cow<'a, ReadOptions>,
    /// What was passed over, and how.
    remarks: Vec<String>,
}

/// Settles how a text is divided; a fault has its line in the source.
fn settle(input: &mut Input, options: &ReadOptions) -> Result<Dialect, Fault> {
    let settled = settle_dialect(input, options);
    let before = input.lines_dropped();
    settled.map_err(|fault| Fault { line: if fault.line == 0 { 0 } else { fault.line + before }, ..fault })
}

impl<'a> Divided<'a> {
    /// Finds where the table begins, and how its rows are divided.
    fn of(mut input: Input, options: &'a ReadOptions) -> Result<Self, Fault> {
        let mut options = Cow::Borrowed(options);
        let mut remarks = Vec::new();
        if let Some((delimiter, length)) = dialect::separator_line(input.head()) {
            input.drop_front(length, 1);
            options.to_mut().csv.delimiter.get_or_insert(delimiter);
        }
        remarks.extend(comments::pass_over(&mut input, &options).as_ref().map(remarks::comments));
        let mut dialect = match settle(&mut input, &options) {
            Err(Fault { kind: ReadErrorKind::NoDelimiter, .. }) if spaces::divide(input.head(), &options) => {
                input = spaces::squeezed(input).map_err(|error| dialect::nowhere(error.into()))?;
                options.to_mut().csv.delimiter = Some(b' ');
                settle(&mut input, &options)?
            }
            settled => settled?,
        };
        while options.csv.header != Some(false) {
            let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
            match titles::above_header(sample, &dialect) {
                AboveHeader::Titles(titles) => {
                    input.drop_front(titles.bytes, titles.lines);
                    remarks.push(remarks::titles(&titles));
                    dialect = settle(&mut input, &options)?;
                    break;
                }
                AboveHeader::Unknown if input.look_further(options.line_limit()) => {
                    dialect = settle(&mut input, &options)?;
                }
                AboveHeader::Unknown | AboveHeader::Nothing => break,
            }
        }
        let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
        if dialect.delimiter == b'\t' && stray_quotes::are_in(sample) {
            input = stray_quotes::requoted(input).map_err(|error| dialect::nowhere(error.into()))?;
            remarks.push(remarks::STRAY_QUOTES.to_string());
            dialect = settle(&mut input, &options)?;
        }
        Ok(Self { input, dialect, options, remarks })
    }
}

/// The delimiter of a text, and the names of its columns, as they would be read.
pub(in crate::read) fn header_of(text: Input, options: &ReadOptions) -> Option<(u8, Vec<String>)> {
    let Divided { dialect, .. } = Divided::of(text, options).ok()?;
    Some((dialect.delimiter, dialect.header?))
}

impl CsvReader {
    pub(super) fn open(
        name: String,
        input: Input,
        options: &ReadOptions,
        guess: bool,
        chunk_bytes: usize,
        numbering: LineNumbering,
    ) -> Result<Self, Fault> {
        if options.online
            && options.schema.is_none()
            && matches!(options.csv.missing, Missing::Mean | Missing::Auto)
        {
            return Err(dialect::nowhere(ReadErrorKind::MeanInOnePass));
        }
        let Divided { mut input, mut dialect, mut options, remarks } =
            Divided::of(input, options).map_err(|fault| Fault {
                line: if fault.line == 0 { 0 } else { fault.line + numbering.first - 1 },
                ..fault
            })?;
        let line = numbering.first + input.lines_dropped();
        let mut notes = ReadNotes { remarks, ..ReadNotes::default() };
        let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
        dialect.numbering = LineNumbering { first: line, ..numbering };
        let delimiter = dialect.delimiter;
        let trailing_delimiter = match options.csv.label {
            Some(_) => TrailingDelimiter::No,
            None => dialect.ends_in_delimiter(sample),
        };
        let (names, remark) = match &dialect.header {
            Some(header) => dialect::distinct_names(header),
            None => ((1..=dialect.width).map(|number| number.to_string()).collect(), None),
        };
        match (trailing_delimiter, names.split_last()) {
            (TrailingDelimiter::Yes, Some((last, others))) if options.schema.is_none() => {
                notes.remarks.push(remarks::TRAILING_DELIMITER.to_string());
                options.to_mut().csv.ignore.push(last.clone());
                notes.remarks.extend(dialect::distinct_names(others).1);
            }
            _ => notes.remarks.extend(remark),
        }
        if options.csv.header.is_none() && options.schema.is_none() && dialect::counts(&names) {
            notes.remarks.extend(dialect.header.is_some().then(|| remarks::COUNTED_HEADER.to_string()));
        }
        let options = &*options;
        let missing_words = missing_words(options);
        let Settled { columns, guessed, remarks, suspects } =
            settle_columns(names, &mut input, &dialect, options, guess)?;
        notes.remarks.extend(remarks);
        notes.format = remarks::format(&dialect, &columns);
        let has_texts = columns.iter().any(|column| matches!(column.used_for, CellUse::Text(_)));
        let rules = Rules {
            feature_limit: options.feature_limit(),
            labels: options.labels,
            missing: options.csv.missing,
            skip_bad: options.skip_bad,
            words_settled: options.schema.is_some(),
            words_are_missing: matches!(options.schema, Some(Schema::Table { .. })),
            guessed,
            mark_filled: options.schema.is_none() && options.csv.missing.notes_gaps(),
            trailing_delimiter: trailing_delimiter != TrailingDelimiter::No,
            record_lines: numbering.by_record,
            plain_rows: plain::may_divide(delimiter) && !missing_words.has_numbers() && !has_texts,
        };
        let chunks_at_once = options.chunks_at_once(columns.len());
        let counts = vec![Counts::default(); columns.len()];
        let texts = vec![TextNumbers::default(); if has_texts { columns.len() } else { 0 }];
        let reading = Reading::new(delimiter, columns, options.schema.as_ref(), rules, missing_words);
        input.skip_byte_order_mark();
        let header = dialect.header.is_some().then(|| {
            let block = Block::header(input.rest_of_head(), input.head_is_all(), &reading);
            input.skip(block.bytes);
            block
        });
        let reading = Arc::new(RwLock::new(reading));
        let shared = reading.clone();
        let rows = move |text: &[u8]| Block::rows(text, false, &look(&shared));
        let mut reader = Self {
            name,
            chunks: Chunks::new(input, chunk_bytes, options.line_limit(), rows).at_most(chunks_at_once),
            line_limit: options.line_limit(),
            reading,
            dialect,
            known: options.schema.clone(),
            rules,
            text_bytes: 0,
            line,
            unfinished: Vec::new(),
            look_again: 0,
            labels: LabelTable::default(),
            class_limit: options.class_limit(),
            counts,
            suspects,
            texts,
            notes,
            rows: 0,
            first_class_recurs: false,
            unseen: 0,
            before: RowsSoFar::default(),
            pending: None,
            ended: false,
        };
        if let Some(header) = header {
            reader.take(header);
        }
        Ok(reader)
    }
}

//! How the text is divided and what its columns are used for, settled from its first rows or from all of them.

use super::columns::{self, CodeGuess, Column, Draft, Settlement};
use super::dialect::{self, Dialect, Sample};
use super::free_text;
use super::matching;
use super::records::{Fault, Records};
use super::suspects::{self, Suspect, Suspicion};
use crate::features::MissingWords;
use crate::read::error::{LongLine, ReadErrorKind};
use crate::read::rewritten::take_all;
use crate::read::source::{HEAD_BYTES, Input};
use crate::read::{Missing, ReadOptions, Schema};

/// Settles how the text is divided, from as many first bytes as that needs: two rows however long they are, and a few more
/// of rows that are not very long.
pub(super) fn settle_dialect(input: &mut Input, options: &ReadOptions) -> Result<Dialect, Fault> {
    const FEW: usize = 10;
    const NOT_MUCH: usize = 1 << 22;
    loop {
        // One line, and not even that: it need not be looked at with care.
        if !input.head_is_all() && !input.head().contains(&b'\n') && input.look_further(options.line_limit())
        {
            continue;
        }
        let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
        let dialect = dialect::settle(sample, options);
        let wanted = if (HEAD_BYTES..NOT_MUCH).contains(&sample.bytes.len()) { FEW } else { 2 };
        let enough = dialect.as_ref().is_ok_and(|dialect| sample.has_rows(dialect.delimiter, wanted));
        if enough || !input.look_further(options.line_limit()) {
            return match dialect {
                Err(fault) if input.head().len() >= options.line_limit() => Err(match fault.kind {
                    ReadErrorKind::Empty => Fault {
                        line: 1,
                        column: 0,
                        kind: ReadErrorKind::LongLine { limit: options.line_limit() as u64 },
                    },
                    kind => Fault { kind, ..fault },
                }),
                dialect => dialect,
            };
        }
    }
}

/// What the columns of a file are used for, and how that was settled.
pub(super) struct Settled {
    pub(super) columns: Vec<Column>,
    /// Whether it is a guess from the first rows.
    pub(super) guessed: bool,
    /// What the user should know about guesses, and about columns that are not used.
    pub(super) remarks: Vec<String>,
    /// The columns that look as if nothing could be learned from them, as far as the rows were looked at.
    pub(super) suspects: Vec<Suspect>,
}

impl Draft {
    /// The columns, with those that nothing general is learned from: left out if the user wants that, otherwise suspected.
    fn watched(
        &mut self,
        columns: Vec<Column>,
        mut remarks: Vec<String>,
        guessed: bool,
        records: &mut Records,
        options: &ReadOptions,
    ) -> Result<Settled, Fault> {
        let mut columns = columns;
        // What is settled from the first rows alone must hold for all.
        if !guessed && !options.online {
            columns.iter_mut().for_each(|column| column.code = CodeGuess::Settled);
        }
        let (mut suspects, rows) = suspects::suspects(self, records, &columns);
        let kept = columns::kept(&self.names, options)?;
        suspects.retain(|(j, _)| !kept.contains(j));
        if options.csv.auto {
            let enough = |(_, suspicion): &(usize, Suspicion)| rows >= suspicion.enough_rows();
            let left_out =
                suspects::leave_out(self, &suspects.iter().copied().filter(enough).collect::<Vec<_>>());
            if !left_out.is_empty() {
                let mut settled = self.settle(records, options.feature_limit())?;
                remarks = settled.remarks.into_iter().chain(left_out).collect();
                settled.columns.iter_mut().for_each(|column| column.code = CodeGuess::Settled);
                return Ok(Settled { columns: settled.columns, guessed, remarks, suspects: Vec::new() });
            }
        }
        let suspects =
            suspects.into_iter().map(|(j, suspicion)| Suspect::new(j, suspicion, &columns)).collect();
        Ok(Settled { columns, guessed, remarks, suspects })
    }
}

/// Settles what each column is used for: as a model says, or as the rows show.
pub(super) fn settle_columns(
    names: Vec<String>,
    input: &mut Input,
    dialect: &Dialect,
    options: &ReadOptions,
    guess: bool,
) -> Result<Settled, Fault> {
    let header = dialect.header.is_some();
    if let Some(schema) = &options.schema {
        let (columns, remark) = matching::match_columns(names, header, schema, options)?;
        return Ok(Settled {
            columns,
            guessed: false,
            remarks: remark.into_iter().collect(),
            suspects: Vec::new(),
        });
    }
    let sample = Sample { bytes: input.head(), cut: !input.head_is_all() };
    // A copy: the input is read on before they are looked at again.
    let mut first_records =
        Records::new(sample.bytes.to_vec(), sample.cut, dialect.delimiter).numbered(dialect.numbering);
    let (options, about_texts) = free_text::considered(options, &names, &mut first_records, header)?;
    let options = &*options;
    let mut settled = settle_from(names, input, dialect, options, guess, first_records)?;
    settled.remarks.splice(0..0, about_texts);
    Ok(settled)
}

/// Settles what each column is used for, as the rows show: first those of the sample.
fn settle_from(
    names: Vec<String>,
    input: &mut Input,
    dialect: &Dialect,
    options: &ReadOptions,
    guess: bool,
    mut first_records: Records<'static>,
) -> Result<Settled, Fault> {
    let header = dialect.header.is_some();
    let missing = options.csv.missing;
    let mut draft = Draft {
        roles: columns::roles(&names, options, options.array.labels_file.is_none())?,
        asked: columns::asked(&names, options)?,
        names,
        delimiter: dialect.delimiter,
        header,
        missing,
        missing_words: missing_words(options),
        labels: options.labels,
        skip_bad: options.skip_bad,
        text: options.text.clone(),
        online: options.online,
        head: if input.head_is_all() { usize::MAX } else { input.head().len() },
    };
    let limit = options.feature_limit();
    let from_sample = draft.settle(&mut first_records, limit);
    // The mean of a column needs all rows.
    // So does a column that the first rows leave open.
    let guessed = guess
        && !options.online
        && missing != Missing::Mean
        && !options.csv.auto
        && from_sample.as_ref().is_ok_and(|settlement| !settlement.doubtful);
    if options.online || guessed {
        let Settlement { columns, remarks, .. } = from_sample?;
        return draft.watched(columns, remarks, guessed, &mut first_records, options);
    }
    let text = take_all(input, options.line_limit()).map_err(|error| {
        // Only a line that is too long has a place.
        let first = LongLine::lines_before(&error).map_or(0, |_| dialect.numbering.first);
        dialect::failed(error, first)
    })?;
    let mut records = Records::new(text, false, dialect.delimiter).numbered(dialect.numbering);
    let Settlement { columns, remarks, .. } = draft.settle(&mut records, limit)?;
    // Whatever the way of reading, the first rows suspect a column, and all rows clear it.
    let watched = if options.csv.auto { &mut records } else { &mut first_records };
    let settled = draft.watched(columns, remarks, guessed, watched, options);
    *input = Input::of_text(records.into_text());
    settled
}

/// Which cells are missing: as the user says, otherwise as for the model, otherwise the usual ones.
pub(super) fn missing_words(options: &ReadOptions) -> MissingWords {
    match (&options.csv.na, &options.schema) {
        (None, Some(Schema::Table { missing_words, .. })) => missing_words.clone(),
        (na, _) => MissingWords::listed(na.as_ref()),
    }
}

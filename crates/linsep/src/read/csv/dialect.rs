//! Detection from the first rows: the delimiter, the number of columns, and whether the first row names them.

use super::records::{Fault, LineNumbering, Record, Records};
use super::spaces;
use crate::features::MissingWords;
use crate::features::dates::{days, hours};
use crate::features::styled::Written;
use crate::features::{DateOrder, Decimal};
use crate::read::error::{LongLine, ReadErrorKind, RowFailure};
use crate::read::number::parse_number;
use crate::read::{Column, ColumnKind, Labels, ReadOptions, Schema};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// In the order in which ties are settled.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// How the text is divided.
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Cells in a row.
    pub(super) width: usize,
    /// The names of the columns, where the first row has them.
    pub(super) header: Option<Vec<String>>,
    pub(super) numbering: LineNumbering,
}

/// The beginning of a text.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether the text goes on after it.
    pub(super) cut: bool,
}

impl<'a> Sample<'a> {
    pub(super) fn records(self, delimiter: u8) -> Records<'a> {
        Records::new(self.bytes, self.cut, delimiter)
    }

    /// Whether it holds so many whole rows.
    pub(super) fn has_rows(self, delimiter: u8, wanted: usize) -> bool {
        let mut records = self.records(delimiter);
        let mut record = Record::default();
        (0..wanted).all(|_| matches!(records.next(&mut record), Ok(true)))
    }

    /// The commonest number of cells of a row (of equal ones the first), how many rows have it, and how many
    /// rows there are; `None` without rows.
    fn common_width(self, delimiter: u8) -> Option<CommonWidth> {
        let mut records = self.records(delimiter);
        let mut record = Record::default();
        let has_quotes = memchr::memchr(b'"', self.bytes).is_some();
        let mut quotes = 0;
        // How many rows have each width, and in what order the widths came.
        let mut counts: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut rows = 0;
        while let Ok(true) = records.next(&mut record) {
            let order = counts.len();
            counts.entry(record.width()).or_insert((0, order)).0 += 1;
            rows += 1;
            if has_quotes {
                quotes += (0..record.width()).filter(|&j| record.cell(j).contains(&b'"')).count();
            }
        }
        let (&width, &(count, _)) =
            counts.iter().max_by_key(|&(_, &(count, order))| (count, Reverse(order)))?;
        Some(CommonWidth { width, count, rows, quotes })
    }
}

/// The commonest number of cells of a row.
struct CommonWidth {
    width: usize,
    /// Rows that have it, and all rows.
    count: usize,
    rows: usize,
    /// Cells with a quote in them: a delimiter inside of quoted cells leaves them behind.
    quotes: usize,
}

impl Dialect {
    /// Whether the last column has no name and is empty in most rows, as if the rows ended in a delimiter.
    pub(super) fn ends_in_delimiter(&self, sample: Sample<'_>) -> TrailingDelimiter {
        if self.header.as_ref().is_some_and(|names| names.last().is_some_and(|name| !name.is_empty())) {
            return TrailingDelimiter::No;
        }
        let mut records = sample.records(self.delimiter);
        let mut record = Record::default();
        let (mut empty, mut rows) = (0, 0);
        while let Ok(true) = records.next(&mut record) {
            rows += 1;
            empty += usize::from(record.width() > 0 && record.cell(record.width() - 1).is_empty());
        }
        match empty {
            _ if empty == rows && rows > 1 && self.header.is_some() => TrailingDelimiter::Yes,
            _ if empty * 2 > rows => TrailingDelimiter::Perhaps,
            _ => TrailingDelimiter::No,
        }
    }
}

/// Whether rows end in a delimiter that is not meant to begin one more cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrailingDelimiter {
    /// Every row does, the header too.
    Yes,
    /// Most rows do, or there is no header.
    Perhaps,
    No,
}

/// Settles how the text is divided, as far as the options leave it open.
pub(super) fn settle(sample: Sample<'_>, options: &ReadOptions) -> Result<Dialect, Fault> {
    refuse_many_columns(sample.bytes, options)?;
    let (delimiter, width) = match options.csv.delimiter {
        Some(delimiter @ (b'"' | b'\n' | b'\r')) => {
            return Err(nowhere(ReadErrorKind::BadDelimiter(char::from(delimiter))));
        }
        Some(delimiter) => {
            let Some(CommonWidth { width, .. }) = sample.common_width(delimiter) else {
                return Err(first_fault(sample, delimiter).unwrap_or(nowhere(ReadErrorKind::Empty)));
            };
            (delimiter, width)
        }
        None => match remembered_delimiter(sample, options) {
            Some(found) => found,
            None => detect_delimiter(sample, options)?,
        },
    };
    let has_header = FirstRow::look(sample, delimiter, width).is_some_and(|row| row.is_header(options));
    let header = if has_header { Some(names(sample, delimiter, width)?) } else { None };
    Ok(Dialect { delimiter, width, header, numbering: LineNumbering::TEXT })
}

/// The columns of a table whose names take no bytes to speak of. Each column takes some KB of memory, so that a line of delimiters would
/// fill it; names and numbers of several digits are read however many there are.
const FREE_COLUMNS: usize = 1 << 17;
const BYTES_OF_A_NAME: usize = 4;

/// Refuses a first line of very many cells that are hardly there.
fn refuse_many_columns(text: &[u8], options: &ReadOptions) -> Result<(), Fault> {
    let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    if line.len() < FREE_COLUMNS || options.max_features.is_some() || options.schema.is_some() {
        return Ok(());
    }
    let known = options.csv.delimiter;
    let delimiters =
        DELIMITERS.into_iter().filter(|delimiter| known.is_none_or(|known| known == *delimiter)).chain(known);
    let columns =
        delimiters.map(|delimiter| memchr::memchr_iter(delimiter, line).count() + 1).max().unwrap_or(0);
    if columns <= FREE_COLUMNS || line.len() >= BYTES_OF_A_NAME * columns {
        return Ok(());
    }
    let kind = ReadErrorKind::EmptyColumns { columns, bytes: line.len(), limit: FREE_COLUMNS };
    Err(Fault { line: 1, column: 0, kind })
}

/// Whether the first row names columns of numbers.
pub(super) fn names_numbers(sample: Sample<'_>, delimiter: u8, width: usize) -> bool {
    FirstRow::look(sample, delimiter, width).is_some_and(|row| row.word_over_numbers(|_| true))
}

/// The delimiter that a first line such as `sep=;` names, and the length of that line. Spreadsheet programs write it.
pub(super) fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let line = &head[mark..mark + memchr::memchr(b'\n', &head[mark..])?];
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    match text {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter]
            if !delimiter.is_ascii_alphanumeric() && *delimiter != b'"' =>
        {
            Some((*delimiter, mark + line.len() + 1))
        }
        _ => None,
    }
}

/// The delimiter that a model of free text was trained with, and the number of cells, if it makes rows of the model's columns:
/// any other may be part of the text.
fn remembered_delimiter(sample: Sample<'_>, options: &ReadOptions) -> Option<(u8, usize)> {
    let Some(Schema::Table { columns, header, delimiter: Some(delimiter), .. }) = &options.schema else {
        return None;
    };
    let delimiter = u8::try_from(*delimiter).ok().filter(|delimiter| !b" \"\r\n".contains(delimiter))?;
    let CommonWidth { width, count, rows, .. } = sample.common_width(delimiter)?;
    let has_label = columns.iter().any(|column| column.kind == ColumnKind::Label);
    let lacks_label = has_label && options.labels == Labels::Ignored && width + 1 == columns.len();
    let fits = (width == columns.len() || lacks_label) && count * 2 >= rows;
    let names = || FirstRow::look(sample, delimiter, width).is_some_and(|first| first.names_all(columns));
    (fits || (*header && names())).then_some((delimiter, width))
}

/// How well a delimiter divides the rows: whether all have the same number of cells, how many rows or cells that are, how many
/// cells, and how few quotes are left in them.
type DelimiterRank = (bool, usize, usize, Reverse<usize>);

/// A model of one column accepts a file of one column, which needs no delimiter.
fn detect_delimiter(sample: Sample<'_>, options: &ReadOptions) -> Result<(u8, usize), Fault> {
    let mut best: Option<(DelimiterRank, u8, usize)> = None;
    let mut any_rows = false;
    for delimiter in DELIMITERS {
        // What does not occur divides nothing; that there are rows is known by then.
        if any_rows && !sample.bytes.contains(&delimiter) {
            continue;
        }
        let Some(CommonWidth { width, count, rows, quotes }) = sample.common_width(delimiter) else {
            continue;
        };
        any_rows = true;
        // A delimiter that fits all rows is better than one that fits most: those leave the misfits to be
        // reported as rows with too many or too few cells.
        let fits = count == rows;
        let rank = (fits, if fits { width } else { count }, width, Reverse(quotes));
        let good = width > 1 && count * 2 >= rows;
        if good && best.is_none_or(|(best_rank, ..)| rank > best_rank) {
            best = Some((rank, delimiter, width));
        }
    }
    match best {
        Some((_, delimiter, width)) => Ok((delimiter, width)),
        None if any_rows && options.schema.is_some() && !spaces::divide(sample.bytes, options) => {
            Ok((DELIMITERS[0], 1))
        }
        None => {
            let kind = if any_rows { ReadErrorKind::NoDelimiter } else { ReadErrorKind::Empty };
            Err(first_fault(sample, DELIMITERS[0]).unwrap_or(nowhere(kind)))
        }
    }
}

/// The first reason why a sample cannot be divided into records.
fn first_fault(sample: Sample<'_>, delimiter: u8) -> Option<Fault> {
    let mut records = sample.records(delimiter);
    let mut record = Record::default();
    loop {
        match records.next(&mut record) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(fault) => return Some(fault),
        }
    }
}

/// A fault of the file as a whole.
pub(super) fn nowhere(kind: ReadErrorKind) -> Fault {
    Fault { line: 0, column: 0, kind }
}

/// A failure of the source after this line, or in the row that it names.
pub(super) fn failed(failure: std::io::Error, line: u64) -> Fault {
    match RowFailure::of(failure) {
        Ok(RowFailure { line, column, kind }) => Fault { line, column, kind },
        Err(failure) => {
            let (line, column) =
                LongLine::lines_before(&failure).map_or((line, 1), |lines| (line + lines, 0));
            Fault { line, column: if line == 0 { 0 } else { column }, kind: failure.into() }
        }
    }
}

/// The first row against those below it.
struct FirstRow {
    cells: Vec<Vec<u8>>,
    below: Vec<Below>,
}

/// The cells of a column below the first row.
#[derive(Clone, Default)]
struct Below {
    numbers: usize,
    words: usize,
    /// Whether the cell of the first row occurs again.
    recurs: bool,
}

impl Below {
    fn is_numeric(&self) -> bool {
        self.numbers > 0 && self.words == 0
    }
}

impl FirstRow {
    /// Looks at the well-formed rows of the sample; `None` if there are none.
    fn look(sample: Sample<'_>, delimiter: u8, width: usize) -> Option<Self> {
        let mut records = sample.records(delimiter);
        let mut record = Record::default();
        let mut first: Option<Self> = None;
        while let Ok(true) = records.next(&mut record) {
            if record.misshape(width).is_some() {
                continue;
            }
            let Some(row) = &mut first else {
                let cells = (0..width).map(|j| record.cell(j).to_vec()).collect();
                first = Some(Self { cells, below: vec![Below::default(); width] });
                continue;
            };
            for (j, below) in row.below.iter_mut().enumerate() {
                let cell = record.cell(j);
                below.recurs |= cell == row.cells[j];
                if is_word(cell) {
                    below.words += 1;
                } else if !MissingWords::Usual.in_numbers(cell) {
                    below.numbers += 1;
                }
            }
        }
        first
    }

    fn is_header(&self, options: &ReadOptions) -> bool {
        if let Some(header) = options.csv.header {
            return header;
        }
        match &options.schema {
            None => {
                self.word_over_numbers(|_| true)
                    || self.distinct_words_over_words()
                    || self.counts_columns(options)
            }
            Some(Schema::Table { header: true, columns, .. }) => {
                // One name of the model is enough where texts or words stand below it: a name may have changed.
                self.names_all(columns) || self.names_one(columns) || self.word_over_numbers(|_| true)
            }
            // The model's file had no header, so this one most likely has none; only a word where the model
            // knows that numbers stand is a name.
            Some(Schema::Table { columns, .. }) => self.word_over_numbers(|j| {
                columns.get(j).is_some_and(|column| matches!(column.kind, ColumnKind::Number { .. }))
            }),
            Some(_) => self.word_over_numbers(|_| true),
        }
    }

    fn word_over_numbers(&self, considered: impl Fn(usize) -> bool) -> bool {
        (0..self.cells.len()).any(|j| considered(j) && is_word(&self.cells[j]) && self.below[j].is_numeric())
    }

    fn distinct_words_over_words(&self) -> bool {
        let distinct: HashSet<&Vec<u8>> = self.cells.iter().collect();
        !self.below.iter().any(Below::is_numeric)
            && distinct.len() == self.cells.len()
            && self.cells.iter().all(|cell| is_word(cell))
            && !self.below.iter().any(|below| below.recurs)
    }

    /// Whether the cells are the numbers of the columns, and that of the label would be a class of this row alone.
    fn counts_columns(&self, options: &ReadOptions) -> bool {
        let label = options
            .csv
            .label
            .as_ref()
            .and_then(|label| self.cells.iter().position(|cell| cell == label.as_bytes()));
        let below = label.map_or(self.below.last(), |label| self.below.get(label));
        counts(&self.cells) && below.is_some_and(|below| !below.recurs && below.numbers + below.words >= 2)
    }

    /// Whether a column of a model with texts, its label among them, is named here.
    fn names_one(&self, columns: &[Column]) -> bool {
        let named = |cell: &[u8]| columns.iter().any(|column| column.name.as_bytes() == cell);
        columns.iter().any(|column| matches!(column.kind, ColumnKind::Text(_)))
            && self.cells.iter().any(|cell| named(cell.as_ref()))
    }

    /// Whether every column that the model needs is named here.
    fn names_all(&self, columns: &[Column]) -> bool {
        // The model knows the columns by the names that they were given where the header had none, or one twice.
        let cells: Vec<String> =
            self.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let names: HashSet<String> = distinct_names(&cells).0.into_iter().collect();
        columns
            .iter()
            .filter(|column| column.kind.features().is_some())
            .all(|column| names.contains(&column.name))
    }
}

/// Whether texts are the numbers of so many columns, from 0 or from 1 on: programs that know no names write such headers.
pub(super) fn counts<T: AsRef<[u8]>>(cells: &[T]) -> bool {
    let from = |first: usize| {
        cells.iter().enumerate().all(|(j, cell)| cell.as_ref() == (j + first).to_string().as_bytes())
    };
    cells.len() >= 3 && (from(0) || from(1))
}

/// Whether a cell may be a name. A number in any style is none, and neither is a date.
pub(in crate::read) fn is_word(cell: &[u8]) -> bool {
    if MissingWords::Usual.in_numbers(cell) || parse_number(cell.trim_ascii()).is_some() {
        return false;
    }
    let Ok(text) = std::str::from_utf8(cell) else { return true };
    let text = text.trim();
    let is_number = |decimal| Written::of(text).is_some_and(|written| written.number(decimal).is_some());
    !(is_number(Decimal::Point)
        || is_number(Decimal::Comma)
        || hours(text).is_some()
        || DateOrder::ALL.iter().any(|&order| days(text, order).is_some()))
}

/// The names in the first well-formed row.
fn names(sample: Sample<'_>, delimiter: u8, width: usize) -> Result<Vec<String>, Fault> {
    let mut records = sample.records(delimiter);
    let mut record = Record::default();
    while records.next(&mut record)? {
        if record.misshape(width).is_none() {
            let name = |j: usize| match std::str::from_utf8(record.cell(j)) {
                Ok(name) => Ok(name.to_string()),
                Err(_) => Err(record.fault_at(j, ReadErrorKind::NotUtf8 { column: (j + 1).to_string() })),
            };
            return (0..width).map(name).collect();
        }
    }
    Ok(Vec::new())
}

/// Gives every column a name of its own: an empty name becomes the number, a second `name` becomes `name.2`.
/// Also gives a remark on the names that were changed.
pub(super) fn distinct_names(header: &[String]) -> (Vec<String>, Option<String>) {
    distinct_names_beside(header, std::iter::empty())
}

/// The same where these names mean something else, so that none is made that is one of them.
pub(super) fn distinct_names_beside<'a>(
    header: &'a [String],
    others: impl Iterator<Item = &'a str>,
) -> (Vec<String>, Option<String>) {
    let mut taken: HashSet<String> = HashSet::new();
    let mut changes = Vec::new();
    // How often a name was met: where to look for the next free one.
    let mut met: HashMap<&str, usize> = HashMap::new();
    let given: HashSet<&str> = header.iter().map(String::as_str).chain(others).collect();
    let mut names = Vec::with_capacity(header.len());
    for (j, original) in header.iter().enumerate() {
        let number = (j + 1).to_string();
        let base = if original.is_empty() { number.as_str() } else { original };
        let mut name = base.to_string();
        let count = met.entry(original).or_insert(1);
        while taken.contains(&name) || (name != *original && given.contains(name.as_str())) {
            *count += 1;
            name = format!("{base}.{count}");
        }
        if name != *original {
            changes.push(format!("column {number} is called \"{name}\""));
        }
        taken.insert(name.clone());
        names.push(name);
    }
    let remark = match changes.len() {
        0 => None,
        many => {
            let mut text = changes.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            if many > 3 {
                text.push_str(", …");
            }
            Some(format!("Names in the header are empty or occur twice: {text}."))
        }
    };
    (names, remark)
}

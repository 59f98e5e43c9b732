//! JSON Lines: one object on each line, its keys the columns of a table.
//!
//! Objects and arrays within it are laid flat: `{"size": {"w": 2}, "v": [1, 2]}` has the columns `size.w`, `v.0` and `v.1`. A
//! missing key and `null` are a missing cell. The text of a value counts, as in CSV, and not whether it stands in quotes.

use super::error::{ReadError, ReadErrorKind, RowFailure, excerpt};
use super::filter::Filtered;
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::input::{BYTE_ORDER_MARK, HEAD_BYTES, Input};
use super::reader::{Opening, RecordReader};
use super::rewritten::{CellCount, Noticed, Rewritten, TABLE_OPTIONS, push_cell, refuse, take_all};
use super::{ColumnKind, ReadOptions, Schema};
use crate::Error;
use crate::numbers::grouped;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::sync::PoisonError;

pub(super) static JSONL: FormatDescriptor = FormatDescriptor {
    name: Format::JSONL.name(),
    title: "JSON Lines",
    help: "JSON Lines: one object on each line",
    extensions: &["jsonl", "ndjson"],
    columns: FormatColumns::Table,
    is_text: true,
    is_written: false,
    options: TABLE_OPTIONS,
    matched_by_number: None,
    detect: Detect::Text(begins_with_object),
    open,
};

impl Format {
    /// JSON Lines: one object on each line.
    pub const JSONL: Format = Format::named("jsonl");
}

/// Whether the text begins with an object. What is JSON over several lines was told apart before.
fn begins_with_object(head: &[u8]) -> bool {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    opens_object(text)
}

/// Whether a text begins as an object does: with `{` and a key, and a colon after it; or with `{}`, and nothing else on the
/// line. Names of columns may begin with a brace or a quote, too. A key that is cut is one.
pub(super) fn opens_object(text: &[u8]) -> bool {
    let Some(inside) = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start) else { return false };
    match inside.first() {
        Some(b'}') => {
            let line = inside[1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
            line.trim_ascii().is_empty()
        }
        Some(b'"') => {
            let mut escaped = false;
            let closing = inside[1..].iter().position(|&byte| {
                let closes = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                closes
            });
            let Some(closing) = closing else { return true };
            inside[closing + 2..].trim_ascii_start().first().is_none_or(|&byte| byte == b':')
        }
        _ => false,
    }
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, mut input, options, guess, .. } = opening;
    let located = |kind| ReadError::whole(&name, kind);
    let guess = guess && options.schema.is_none() && !input.head_is_all();
    let lines_before = input.lines_dropped();
    if options.schema.is_none() && !guess && !options.online && !input.head_is_all() {
        // Only the whole text tells which keys there are.
        let whole = take_all(&mut input, options.line_limit()).map_err(|error| located(error.into()))?;
        input = Input::of_text(whole).after_lines(lines_before);
    }
    let mut columns = Columns::of(&input, options);
    // The first line may be longer than what was looked at.
    let lacks = |columns: &Columns| match &options.schema {
        Some(schema) => columns.lacks(schema),
        None => columns.names.is_empty(),
    };
    while lacks(&columns) && input.look_further(options.line_limit()) {
        columns = Columns::of(&input, options);
    }
    let noticed = Noticed::default();
    if let Some(schema) = &options.schema {
        columns.add_optional(schema, options.columns_were_seen, &noticed);
    }
    if columns.names.is_empty() {
        // Nothing to make a header of: the first row says why.
        columns.names.push(String::new());
    }
    let mut options = options.clone();
    options.csv.delimiter = Some(b',');
    options.csv.header = Some(true);
    if options.csv.label.is_none() && options.schema.is_none() {
        options.csv.label = columns.last_of_first_row(&options);
    }
    let text =
        columns.into_csv(input, &options, noticed.clone()).map_err(|error| match RowFailure::of(error) {
            Ok(RowFailure { line, column, kind }) => {
                let column = (column > 0).then_some(column);
                ReadError { source_name: name.clone(), line: Some(line), column, kind }
            }
            Err(error) => located(error.into()),
        })?;
    Ok(Box::new(Rewritten::open(name.clone(), text, &options, guess, 0, "JSON Lines", noticed)?))
}

/// A value of an object, not looked at yet.
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    pairs.push((key.0, map.next_value()?));
                }
                Ok(Pairs(pairs))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(item) = items.next_element()? {
                    pairs.push((pairs.len().to_string().into(), item));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_any(InOrder)
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The deepest nesting that is laid flat.
const DEEPEST: usize = 32;

/// What is done with a value: the name of its column, and its text unless it is `null`.
type Give<'a> = dyn FnMut(&str, Option<&str>) -> Result<(), String> + 'a;

/// Gives each value of an object, laid flat, with the name of its column; `None` for `null`. An error has its place in the object.
fn each_value(object: &str, give: &mut Give<'_>) -> Result<(), (usize, String)> {
    let names_left = LaidFlat::FREE + LaidFlat::FOR_EACH * object.len();
    LaidFlat { row: object, name: String::new(), names_left, give }.object(object, 0)
}

/// An object while it is laid flat.
struct LaidFlat<'a, 'g> {
    row: &'a str,
    /// The name of the column at hand, or its beginning.
    name: String,
    /// How many bytes the names of all its columns may have still.
    names_left: usize,
    give: &'a mut Give<'g>,
}

impl LaidFlat<'_, '_> {
    /// The bytes that the names of the columns of a row may have: some whatever it is, and some for each byte of it. Each repeats the
    /// keys of the objects that it is in.
    const FREE: usize = 1 << 20;
    const FOR_EACH: usize = 32;

    fn at(&self, value: &str) -> usize {
        value.as_ptr() as usize - self.row.as_ptr() as usize
    }

    fn object(&mut self, object: &str, depth: usize) -> Result<(), (usize, String)> {
        let Pairs(pairs) = serde_json::from_str(object).map_err(|error| {
            let (place, problem) = fault(object, &error);
            (self.at(object) + place, problem)
        })?;
        let before = self.name.len();
        for (key, value) in pairs {
            let value = value.get();
            self.name.push_str(&key);
            if value.starts_with(['{', '[']) {
                if depth == DEEPEST {
                    let problem = format!("more than {DEEPEST} objects and arrays are nested");
                    return Err((self.at(value), problem));
                }
                self.name.push('.');
                self.object(value, depth + 1)?;
            } else {
                self.value(value)?;
            }
            self.name.truncate(before);
        }
        Ok(())
    }

    fn value(&mut self, value: &str) -> Result<(), (usize, String)> {
        let place = self.at(value);
        let Some(left) = self.names_left.checked_sub(self.name.len()) else {
            let limit = Self::FREE + Self::FOR_EACH * self.row.len();
            let problem = format!(
                "the names of the columns of this row have more than {} bytes, and the row has {}: they repeat the long keys of the \
                 objects that hold them",
                grouped(limit as u64),
                grouped(self.row.len() as u64)
            );
            return Err((place, problem));
        };
        self.names_left = left;
        let given = match value.as_bytes().first() {
            Some(b'n') => (self.give)(&self.name, None),
            Some(b'"') => {
                let Key(text) =
                    serde_json::from_str(value).map_err(|error| (place, fault(value, &error).1))?;
                (self.give)(&self.name, Some(&text))
            }
            _ => (self.give)(&self.name, Some(value)),
        };
        given.map_err(|problem| (place, problem))
    }
}

/// Where an object is no JSON, and why not.
fn fault(object: &str, error: &serde_json::Error) -> (usize, String) {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let found = excerpt(object.as_bytes());
    (error.column().saturating_sub(1), format!("this is not a JSON object: {text}, in {found}"))
}

/// The columns, in the order in which the rows show them.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// Whether a column has a value in some row.
    has_value: Vec<bool>,
    /// How many of them the first row has.
    of_first_row: usize,
}

impl Columns {
    /// The keys of the whole lines in the first bytes of a text. What is wrong with a line is told when it is read.
    fn of(input: &Input, options: &ReadOptions) -> Self {
        let mut columns = Self::default();
        let limit = options.feature_limit() as usize;
        let head = input.head().strip_prefix(BYTE_ORDER_MARK).unwrap_or(input.head());
        let end = memchr::memrchr(b'\n', head).map_or(0, |end| end + 1);
        let whole = if input.head_is_all() { head } else { &head[..end] };
        for line in whole.split(|&byte| byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line.trim_ascii()) else { continue };
            if !line.starts_with('{') {
                continue;
            }
            let mut found = Vec::new();
            let read = each_value(line, &mut |name, value| {
                found.push((name.to_string(), value.is_some()));
                Ok(())
            });
            // The columns of a malformed row are none. More than are accepted need not be listed to be refused.
            if read.is_err() || columns.names.len() > limit + 1 {
                continue;
            }
            for (name, has_value) in found {
                let place = columns.place(&name);
                columns.has_value[place] |= has_value;
            }
            if columns.of_first_row == 0 {
                columns.of_first_row = columns.names.len();
            }
        }
        columns.drop_empty_parents();
        columns
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.names.len();
        self.places.insert(name.to_string(), place);
        self.names.push(name.to_string());
        self.has_value.push(false);
        place
    }

    /// `null` in the place of an object is no column of its own.
    fn drop_empty_parents(&mut self) {
        let names: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        let is_parent = |name: &String| {
            let inside = format!("{name}.");
            names.range(inside.as_str()..).next().is_some_and(|next| next.starts_with(&inside))
        };
        let columns = self.names.iter().zip(&self.has_value);
        let dropped: Vec<bool> = columns.map(|(name, &has)| !has && is_parent(name)).collect();
        if !dropped.contains(&true) {
            return;
        }
        let of_first_row = dropped[..self.of_first_row].iter().filter(|&&dropped| !dropped).count();
        let kept = std::mem::take(self);
        for ((name, has_value), dropped) in kept.names.iter().zip(kept.has_value).zip(dropped) {
            if !dropped {
                let place = self.place(name);
                self.has_value[place] = has_value;
            }
        }
        self.of_first_row = of_first_row;
    }

    /// Whether a column that the model needs is not among them.
    fn lacks(&self, schema: &Schema) -> bool {
        let Schema::Table { columns, .. } = schema else { return false };
        columns
            .iter()
            .any(|column| column.kind.features().is_some() && !self.places.contains_key(&column.name))
    }

    /// Adds the columns that no row has, and that some training rows or earlier rows did not have either: their cells are missing.
    fn add_optional(&mut self, schema: &Schema, were_seen: bool, noticed: &Noticed) {
        let Schema::Table { columns, .. } = schema else { return };
        for column in columns {
            let optional = match &column.kind {
                ColumnKind::Number(number) => number.gap.is_some(),
                ColumnKind::Words(words) => words.knows_missing(),
                ColumnKind::Text(_) | ColumnKind::Label | ColumnKind::Ignored => false,
            };
            let is_needed = were_seen && column.kind.features().is_some();
            if (optional || is_needed) && !self.places.contains_key(&column.name) {
                self.place(&column.name);
                if were_seen {
                    continue;
                }
                let remark = format!("No row has the key \"{}\": it counts as missing.", column.name);
                noticed.lock().unwrap_or_else(PoisonError::into_inner).remarks.push(remark);
            }
        }
    }

    /// The last column of the first row that is not left out, unless it is the last of all, which is the label of any table.
    fn last_of_first_row(&self, options: &ReadOptions) -> Option<String> {
        let is_used = |&(place, name): &(usize, &String)| {
            let number = (place + 1).to_string();
            !options.csv.ignore.iter().any(|ignored| ignored == name || *ignored == number)
        };
        let mut used = self.names.iter().enumerate().filter(is_used);
        let last = used.next_back()?;
        let (_, label) =
            std::iter::once(last).chain(used.rev()).find(|&(place, _)| place < self.of_first_row)?;
        (label != last.1).then(|| label.clone())
    }

    /// The rows as CSV, after their columns.
    fn into_csv(self, mut input: Input, options: &ReadOptions, noticed: Noticed) -> io::Result<Input> {
        input.skip_byte_order_mark();
        let mut beginning = String::new();
        for (place, name) in self.names.iter().enumerate() {
            beginning.push_str(if place > 0 { "," } else { "" });
            push_cell(&mut beginning, name);
        }
        beginning.push('\n');
        let mut rows = Rows {
            cells: vec![None; self.names.len()],
            columns: self,
            line: input.lines_dropped(),
            others_ignored: options.schema.is_some(),
            // The columns of a model are as many as they are, whatever a file holds.
            count: options.schema.is_none().then(CellCount::default),
            skip_bad: options.skip_bad,
            noticed,
            values: String::new(),
        };
        let limit = options.line_limit();
        let mut unfinished: Vec<u8> = Vec::new();
        let rewrite = move |bytes: &[u8], last: bool, text: &mut Vec<u8>| {
            text.append(&mut std::mem::take(&mut beginning).into_bytes());
            let mut rest = bytes;
            while let Some(end) = memchr::memchr(b'\n', rest) {
                unfinished.extend_from_slice(&rest[..end]);
                rows.rewrite(&unfinished, text)?;
                unfinished.clear();
                rest = &rest[end + 1..];
            }
            unfinished.extend_from_slice(rest);
            if unfinished.len() > limit {
                let kind = ReadErrorKind::LongLine { limit: limit as u64 };
                return Err(RowFailure { line: rows.line + 1, column: 0, kind }.into());
            }
            if last {
                rows.rewrite(&std::mem::take(&mut unfinished), text)?;
            }
            Ok(())
        };
        input.replaced(HEAD_BYTES, |rest| Box::new(Filtered::new(rest, rewrite)))
    }
}

/// One line after the other.
struct Rows {
    columns: Columns,
    /// The line at hand, from 1.
    line: u64,
    /// Whether keys that are no columns are passed over, because the model does not know them.
    others_ignored: bool,
    count: Option<CellCount>,
    skip_bad: bool,
    noticed: Noticed,
    /// The values of the row at hand, and where that of each column is.
    values: String,
    cells: Vec<Option<(usize, usize)>>,
}

impl Rows {
    /// Appends a row as CSV; a row that is left out is a blank line.
    fn rewrite(&mut self, line: &[u8], text: &mut Vec<u8>) -> io::Result<()> {
        self.line += 1;
        let start = line.len() - line.trim_ascii_start().len();
        let object = line.trim_ascii();
        if !object.is_empty() {
            match self.read(object) {
                Ok(()) => {
                    if let Some(count) = &mut self.count {
                        let named = self.cells.iter().flatten().count();
                        let refused = |kind| RowFailure { line: self.line, column: 0, kind };
                        count.add(self.cells.len(), named).map_err(refused)?;
                    }
                    self.write(text);
                }
                Err((place, kind)) => {
                    let column = (start + place) as u64 + 1;
                    let failure = RowFailure { line: self.line, column, kind };
                    refuse(failure, self.skip_bad, &self.noticed)?;
                }
            }
        }
        text.push(b'\n');
        Ok(())
    }

    fn read(&mut self, object: &[u8]) -> Result<(), (usize, ReadErrorKind)> {
        let bad = |(place, problem)| (place, ReadErrorKind::BadRow(problem));
        let object = std::str::from_utf8(object)
            .map_err(|error| bad((error.valid_up_to(), "this is not UTF-8 text".to_string())))?;
        if !object.starts_with('{') {
            let found = excerpt(object.as_bytes());
            return Err(bad((0, format!("a line of JSON Lines is one object, and not {found}"))));
        }
        self.values.clear();
        self.cells.fill(None);
        let Self { columns, values, cells, others_ignored, .. } = self;
        let mut late = None;
        let read = each_value(object, &mut |name, value| {
            let Some(&place) = columns.places.get(name) else {
                // A null where other rows have an object.
                if value.is_some() && !*others_ignored {
                    late.get_or_insert_with(|| name.to_string());
                }
                return Ok(());
            };
            if cells[place].is_some() {
                return Err(format!("the key \"{name}\" occurs twice"));
            }
            let start = values.len();
            values.push_str(value.unwrap_or_default());
            cells[place] = Some((start, values.len()));
            Ok(())
        });
        read.map_err(bad)?;
        match late {
            Some(column) => Err((0, ReadErrorKind::LateColumn { column })),
            None => Ok(()),
        }
    }

    fn write(&self, text: &mut Vec<u8>) {
        let mut row = String::with_capacity(self.values.len() + 2 * self.cells.len());
        for (place, cell) in self.cells.iter().enumerate() {
            if place > 0 {
                row.push(',');
            }
            push_cell(&mut row, cell.map_or("", |(start, end)| &self.values[start..end]));
        }
        text.append(&mut row.into_bytes());
    }
}

#[cfg(test)]
mod tests;

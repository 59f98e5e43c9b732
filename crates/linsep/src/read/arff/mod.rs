//! ARFF, as Weka writes it, and KEEL's `.dat`, which is nearly the same: a header with the name and the kind of every
//! column, then rows as in CSV, or sparse rows in braces.
//!
//! The text is rewritten as CSV on the way in, line for line, so that errors have their places; the header says which columns
//! are numbers and which are words. Sparse rows of very many columns of numbers are read as they are ([`sparse`]).

mod sparse;

use super::csv::{self, CSV_OPTIONS, CsvReader};
use super::error::{ReadError, ReadErrorKind, RowFailure};
use super::filter::Filtered;
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::input::{BYTE_ORDER_MARK, HEAD_BYTES, Input};
use super::reader::{Opening, RecordReader};
use super::rewritten::{CellCount, push_cell};
use super::{ColumnAs, ReadOptions};
use crate::Error;
use sparse::SparseRows;
use std::collections::BTreeMap;

pub(super) static ARFF: FormatDescriptor = FormatDescriptor {
    name: Format::ARFF.name(),
    title: "ARFF",
    help: "Weka's ARFF, and KEEL's .dat",
    extensions: &["arff"],
    columns: FormatColumns::Table,
    is_text: true,
    is_written: false,
    options: CSV_OPTIONS,
    matched_by_number: None,
    detect: Detect::Text(begins_with_relation),
    open,
};

impl Format {
    /// Weka's ARFF, and KEEL's `.dat`.
    pub const ARFF: Format = Format::named("arff");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, mut input, options, guess, .. } = opening;
    let located = |line: Option<u64>, kind| ReadError { source_name: name.clone(), line, column: None, kind };
    let header = loop {
        match Header::parse(input.head(), input.head_is_all()) {
            Ok(Some(header)) => break header,
            Ok(None) if input.look_further(options.line_limit()) => {}
            Ok(None) => return Err(located(None, wrong("the file has no line @data")).into()),
            Err((line, problem)) => {
                return Err(located(Some(input.lines_dropped() + line), wrong(problem)).into());
            }
        }
    };
    if header.attributes.len() < 2 {
        return Err(located(None, ReadErrorKind::NoFeatures).into());
    }
    input.drop_front(header.bytes, header.lines);
    let options = header.options(options);
    let names: Vec<String> = header.attributes.iter().map(|attribute| attribute.name.clone()).collect();
    if let Some(roles) =
        csv::roles_of(&names, &options).filter(|roles| sparse::suits(&header, roles, &input, &options))
    {
        return Ok(Box::new(SparseRows::open(name, header, roles, input, options)?));
    }
    let table = header.into_csv(input, &options).map_err(|error| located(None, error.into()))?;
    Ok(Box::new(CsvReader::after_header(name, table, &options, guess)?.called("CSV", "ARFF")))
}

fn wrong(problem: impl Into<String>) -> ReadErrorKind {
    ReadErrorKind::Array(problem.into())
}

/// Whether the first line that is neither blank nor a comment names the relation.
fn begins_with_relation(head: &[u8]) -> bool {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    let first = lines.find(|line| !line.is_empty() && line[0] != b'%');
    first.is_some_and(|line| keyword(line).is_some_and(|(word, _)| word == "relation" || word == "attribute"))
}

/// The keyword of a line of the header, in lower case, and what follows it.
fn keyword(line: &[u8]) -> Option<(String, &str)> {
    let line = std::str::from_utf8(line).ok()?.trim().strip_prefix('@')?;
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    Some((line[..end].to_ascii_lowercase(), line[end..].trim_start()))
}

/// A column.
struct Attribute {
    name: String,
    kind: Kind,
}

enum Kind {
    Number,
    /// Words, of which a sparse row leaves out the first.
    Words(String),
    Other,
}

struct Header {
    attributes: Vec<Attribute>,
    /// The column of the label, where the file names it.
    output: Option<String>,
    /// The lines of the header with `@data`, and its bytes.
    lines: u64,
    bytes: usize,
}

impl Header {
    /// Reads the header; `None` if its end is not there.
    fn parse(head: &[u8], whole: bool) -> Result<Option<Self>, (u64, String)> {
        let mut header = Self { attributes: Vec::new(), output: None, lines: 0, bytes: 0 };
        let start = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        header.bytes = start;
        for line in head[start..].split_inclusive(|&byte| byte == b'\n') {
            if !line.ends_with(b"\n") && !whole {
                return Ok(None);
            }
            header.lines += 1;
            header.bytes += line.len();
            let Some((word, rest)) = keyword(line) else { continue };
            match word.as_str() {
                "attribute" => {
                    let attribute = Attribute::parse(rest).ok_or_else(|| {
                        (header.lines, format!("this line names no column and its kind: \"{}\"", rest.trim()))
                    })?;
                    header.attributes.push(attribute);
                }
                "outputs" | "output" => {
                    header.output = rest.split(',').next().map(|name| name.trim().to_string())
                }
                "data" => return Ok(Some(header)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// How the rewritten text is read: the header says what the columns hold, unless the user does.
    fn options(&self, given: &ReadOptions) -> ReadOptions {
        let mut options = given.clone();
        options.csv.delimiter = Some(b',');
        options.csv.header = Some(true);
        if given.schema.is_some() {
            return options;
        }
        let is_class = |attribute: &&Attribute| attribute.name.eq_ignore_ascii_case("class");
        let known = |name: &String| self.attributes.iter().any(|attribute| attribute.name == *name);
        let named = || self.attributes.iter().find(is_class).map(|attribute| attribute.name.clone());
        options.csv.label =
            given.csv.label.clone().or_else(|| self.output.clone().filter(known).or_else(named));
        for attribute in &self.attributes {
            let what = match attribute.kind {
                Kind::Number => ColumnAs::Number,
                Kind::Words(_) => ColumnAs::Words,
                Kind::Other => continue,
            };
            options.csv.columns.entry(attribute.name.clone()).or_insert(what);
        }
        options
    }

    /// The rows as CSV, with the names of the columns in the place of `@data`.
    fn into_csv(self, input: Input, options: &ReadOptions) -> std::io::Result<Input> {
        let line_limit = options.line_limit();
        // The columns of a model are as many as they are, whatever a file holds.
        let mut count = options.schema.is_none().then(CellCount::default);
        let names: Vec<String> = self.attributes.iter().map(|attribute| quoted(&attribute.name)).collect();
        let mut beginning = names.join(",") + "\n";
        let mut line = input.lines_dropped();
        let absent: Vec<String> = self
            .attributes
            .iter()
            .map(|attribute| match &attribute.kind {
                Kind::Words(first) => quoted(first),
                Kind::Number | Kind::Other => "0".to_string(),
            })
            .collect();
        let mut unfinished: Vec<u8> = Vec::new();
        let rewrite = move |bytes: &[u8], last: bool, text: &mut Vec<u8>| {
            text.append(&mut std::mem::take(&mut beginning).into_bytes());
            let mut rewrite_row = |row: &[u8], line: u64, text: &mut Vec<u8>| {
                let named = rewrite_row(row, &absent, text);
                let counted = count.as_mut().zip(named).map(|(count, named)| count.add(absent.len(), named));
                counted.unwrap_or(Ok(())).map_err(|kind| RowFailure { line, column: 0, kind })
            };
            let mut rest = bytes;
            while let Some(end) = memchr::memchr(b'\n', rest) {
                unfinished.extend_from_slice(&rest[..end]);
                line += 1;
                rewrite_row(&unfinished, line, text)?;
                text.push(b'\n');
                unfinished.clear();
                rest = &rest[end + 1..];
            }
            unfinished.extend_from_slice(rest);
            if unfinished.len() > line_limit {
                let kind = ReadErrorKind::LongLine { limit: line_limit as u64 };
                return Err(RowFailure { line: line + 1, column: 0, kind }.into());
            }
            if last {
                rewrite_row(&std::mem::take(&mut unfinished), line + 1, text)?;
            }
            Ok(())
        };
        input.replaced(HEAD_BYTES, |rest| Box::new(Filtered::new(rest, rewrite)))
    }
}

impl Attribute {
    /// The name and the kind after `@attribute`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, kind) = match text.chars().next()? {
            quote @ ('\'' | '"') => {
                let end = text[1..].find(quote)? + 1;
                (text[1..end].to_string(), text[end + 1..].trim())
            }
            _ => {
                let end = text.find(|c: char| c.is_whitespace() || c == '{')?;
                (text[..end].to_string(), text[end..].trim())
            }
        };
        let lower = kind.to_ascii_lowercase();
        let kind = match () {
            () if kind.starts_with('{') => {
                let values = kind.trim_start_matches('{').trim_end_matches('}');
                Kind::Words(cells(values).into_iter().next().unwrap_or_default())
            }
            () if ["numeric", "real", "integer"].iter().any(|name| lower.starts_with(name)) => Kind::Number,
            () if lower.starts_with("string") => Kind::Words(String::new()),
            () if lower.starts_with("date") => Kind::Other,
            () => return None,
        };
        (!name.is_empty()).then_some(Self { name, kind })
    }
}

/// Appends a row as CSV; a comment becomes a blank line. The cells that a sparse row names, of those that were appended.
fn rewrite_row(line: &[u8], absent: &[String], text: &mut Vec<u8>) -> Option<usize> {
    let line = line.trim_ascii();
    if line.is_empty() || line[0] == b'%' {
        return None;
    }
    // Most rows have nothing that CSV writes in another way.
    if !line.iter().any(|byte| b"'\"{<\\".contains(byte)) {
        text.extend_from_slice(line);
        return None;
    }
    // What is not text is named by the reader of the row.
    let Ok(row) = std::str::from_utf8(line) else {
        text.extend_from_slice(line);
        return None;
    };
    let Some(pairs) = row.strip_prefix('{').and_then(|row| row.strip_suffix('}')) else {
        let cells: Vec<String> =
            cells(row).iter().map(|cell| quoted(if cell == "<null>" { "?" } else { cell })).collect();
        text.extend_from_slice(cells.join(",").as_bytes());
        return None;
    };
    let fits = |named: &BTreeMap<usize, String>| named.keys().all(|&column| column < absent.len());
    let Some(named) = named_cells(pairs).filter(fits) else {
        text.extend_from_slice(quoted(row).as_bytes());
        return None;
    };
    for (column, absent) in absent.iter().enumerate() {
        if column > 0 {
            text.push(b',');
        }
        match named.get(&column) {
            Some(cell) => text.extend_from_slice(quoted(cell).as_bytes()),
            None => text.extend_from_slice(absent.as_bytes()),
        }
    }
    Some(named.len())
}

/// The cells that a row names by its pairs of a column, counted from 0, and a value.
fn named_cells(pairs: &str) -> Option<BTreeMap<usize, String>> {
    let mut row = BTreeMap::new();
    for pair in split(pairs).into_iter().map(str::trim).filter(|pair| !pair.is_empty()) {
        let (column, value) = pair.split_once(char::is_whitespace)?;
        row.insert(column.parse().ok()?, unquoted(value));
    }
    Some(row)
}

/// The cells of a row without their quotes.
fn cells(row: &str) -> Vec<String> {
    split(row).into_iter().map(unquoted).collect()
}

/// A row divided by its commas, except those in quotes.
fn split(row: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    for (at, c) in row.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '"' if quote.is_none() && row[start..at].trim().is_empty() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            ',' if quote.is_none() => {
                parts.push(&row[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&row[start..]);
    parts
}

/// A cell without its quotes and escapes.
fn unquoted(cell: &str) -> String {
    let cell = cell.trim();
    let inside = |quote: char| cell.strip_prefix(quote).and_then(|cell| cell.strip_suffix(quote));
    let inside = inside('\'').or_else(|| inside('"')).unwrap_or(cell);
    let mut text = String::with_capacity(inside.len());
    let mut escaped = false;
    for c in inside.chars() {
        if c == '\\' && !escaped {
            escaped = true;
            continue;
        }
        escaped = false;
        text.push(c);
    }
    text
}

/// A cell as CSV writes it.
fn quoted(cell: &str) -> String {
    let mut text = String::new();
    push_cell(&mut text, cell);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{CsvOptions, Loaded, Missing, Source, read};

    fn load(text: &str, csv: CsvOptions) -> Result<Loaded, Error> {
        let options = ReadOptions { csv, ..ReadOptions::default() };
        read(&Source::Shared("table".into(), text.as_bytes().into()), &options, &mut ())
    }

    fn row(loaded: &Loaded, i: usize) -> Vec<(usize, f64)> {
        loaded.dataset.row(i).iter().filter(|&(_, x)| x != 0.0).collect()
    }

    const WEATHER: &str = "% a comment, with commas\n@RELATION weather\n\n@attribute 'out look' {sunny, 'over cast'}\n\
        @attribute temperature real\n@ATTRIBUTE level {1,2}\n@attribute play {yes, no}\n\n@DATA\n% more\nsunny,85,1,no\n\
        'over cast',?,2,yes\nsunny, 7.5 ,2,'no'\n";

    #[test]
    fn attributes_say_what_columns_hold() {
        let csv = CsvOptions { missing: Missing::Mean, ..CsvOptions::default() };
        let loaded = load(WEATHER, csv).unwrap();
        assert_eq!(loaded.format, Format::ARFF);
        assert_eq!(loaded.notes.format, "ARFF, delimiter ',', header, 1 column of numbers, 2 of words");
        assert_eq!(
            loaded.schema.feature_names().unwrap(),
            ["temperature", "out look=sunny", "level=1", "out look=over cast", "level=2"]
        );
        assert_eq!(loaded.dataset.classes(), ["no", "yes"]);
        assert_eq!(row(&loaded, 1), [(0, 46.25), (3, 1.0), (4, 1.0)]);
        let error = load(WEATHER, CsvOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("table:12:"), "lines are those of the file: {error}");
        let csv =
            CsvOptions { label: Some("out look".into()), missing: Missing::Zero, ..CsvOptions::default() };
        assert_eq!(load(WEATHER, csv).unwrap().dataset.classes(), ["over cast", "sunny"]);
    }

    #[test]
    fn sparse_rows_and_keel() {
        let text = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute class {n,p}\n@data\n{0 2, 2 p}\n\
                    {1 y}\n{ }\n";
        let loaded = load(text, CsvOptions::default()).unwrap();
        assert_eq!(loaded.schema.feature_names().unwrap(), ["a", "b=x", "b=y"]);
        assert_eq!([row(&loaded, 0), row(&loaded, 1)], [vec![(0, 2.0), (1, 1.0)], vec![(2, 1.0)]]);
        assert_eq!(loaded.dataset.classes(), ["n", "p"]);
        let keel = "@relation iris\n@attribute Kind{good, bad}\n@attribute Width real [2.0, 4.4]\n@attribute Size \
                    integer [1, 9]\n@inputs Width, Size\n@outputs Kind\n@data\ngood, 2.5, 3\nbad, 4.0, 9\n";
        let loaded = load(keel, CsvOptions::default()).unwrap();
        assert_eq!(loaded.schema.feature_names().unwrap(), ["Width", "Size"]);
        assert_eq!(loaded.dataset.classes(), ["bad", "good"]);
    }

    /// A file of very many columns of numbers, of which each row names three.
    fn wide(more: &str) -> String {
        let attributes: String = (0..5000).map(|j| format!("@attribute a{j} numeric\n")).collect();
        let row = |i: usize| {
            let label = if i.is_multiple_of(3) { "" } else { ", 5000 p" };
            format!("{{{} {}, {} -1.5, 4999 0{label}}}\n", i, i + 1, i + 1000)
        };
        let rows: String = (0..1000).map(row).collect();
        format!("@relation r\n{attributes}@attribute class {{n,p}}\n@data\n% a comment\n{rows}{more}")
    }

    #[test]
    fn sparse_rows_of_very_many_numbers_stay_sparse() {
        let loaded = load(&wide(""), CsvOptions::default()).unwrap();
        assert_eq!(loaded.notes.format, "ARFF, sparse rows, 5,000 columns of numbers");
        assert!(matches!(loaded.dataset.rows(), crate::dataset::Rows::Sparse { .. }));
        assert_eq!((loaded.dataset.len(), loaded.dataset.columns()), (1000, 5000));
        assert_eq!(loaded.dataset.classes(), ["n", "p"]);
        assert_eq!(row(&loaded, 7), [(7, 8.0), (1007, -1.5)]);
        assert_eq!(loaded.dataset.line(7), 5012);
        assert_eq!(loaded.schema.feature_names().unwrap()[4321], "a4321");
        // A header that is longer than what is looked at first.
        let long = wide("")
            .replace("@attribute a17 numeric", &format!("@attribute a17 numeric\n%{}", "-".repeat(400_000)));
        assert!(load(&long, CsvOptions::default()).unwrap().notes.format.contains("sparse rows"));
        // The model of it reads rows that name every cell, and sparse ones.
        let options = ReadOptions { schema: Some(loaded.schema), ..ReadOptions::default() };
        let again =
            read(&Source::Shared("table".into(), wide("").into_bytes().into()), &options, &mut ()).unwrap();
        assert_eq!(row(&again, 999), [(999, 1000.0), (1999, -1.5)]);
        assert_eq!(again.dataset.labels(), loaded.dataset.labels());
        // Columns that are left out, and another label.
        let csv = CsvOptions { ignore: vec!["a1".into()], label: Some("a0".into()), ..CsvOptions::default() };
        let other = load(
            &wide("").replace("@attribute class {n,p}", "@attribute class real").replace("5000 p", "5000 7"),
            csv,
        );
        let other = other.unwrap();
        assert_eq!(other.dataset.columns(), 4999);
        assert_eq!(other.dataset.classes(), ["0", "1"]);
        for (more, message) in [
            ("{3 ?}\n", "table:6005: the cell in column \"a3\" is missing (found \"?\")"),
            ("{3 red}\n", "table:6005: the word \"red\" in column \"a3\""),
            ("{3 1e999}\n", "table:6005: the value \"1e999\" is not finite"),
            ("{5001 1}\n", "table:6005: column 5001 is beyond the last one"),
            ("1,2\n", "table:6005: this row has 2 fields"),
            ("{3}\n", "table:6005: a sparse row is pairs"),
            ("{5000 ?}\n", "table:6005: the label \"?\" is missing"),
        ] {
            let csv = CsvOptions { missing: Missing::Refuse, ..CsvOptions::default() };
            let error = load(&wide(more), csv.clone()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            let options = ReadOptions { csv, skip_bad: true, ..ReadOptions::default() };
            let skipped =
                read(&Source::Shared("table".into(), wide(more).into_bytes().into()), &options, &mut ())
                    .unwrap();
            assert_eq!((skipped.dataset.len(), skipped.notes.skipped), (1000, 1));
        }
        let zero = CsvOptions { missing: Missing::Zero, ..CsvOptions::default() };
        assert_eq!(load(&wide("{3 ?, 4 1}\n"), zero).unwrap().dataset.len(), 1001);
        let drop = CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() };
        let dropped = load(&wide("{3 ?, 4 1}\n"), drop).unwrap();
        assert_eq!((dropped.dataset.len(), dropped.notes.dropped), (1000, 1));
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, message) in [
            ("@relation r\n@attribute a numeric\n", "no line @data"),
            ("@relation r\n@attribute a\n@data\n1\n", "table:2: this line names no column"),
            ("@relation r\n@attribute a matrix\n@data\n1\n", "table:2:"),
            (
                "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n1,x\n2\n",
                "table:6:1: this row has 1 field",
            ),
            (
                "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n1,x\n{7 2}\n",
                "table:6:1: this row has 1 field",
            ),
            (
                "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n1,x\nred,y\n",
                "table:6:1: the word \"red\"",
            ),
        ] {
            let error = load(text, CsvOptions::default()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}\n{text}");
        }
    }
}

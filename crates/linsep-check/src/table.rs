//! A plain reader: tables of numbers with one row in a line (comma, semicolon, tab or bar), and LIBSVM.

use linsep_check::{Examples, Side, Subject};
use std::collections::HashMap;

/// Values by feature, and the class.
type Row = (Vec<(usize, f64)>, String);

/// The rows of a file.
pub(crate) struct Table {
    /// What the features are called.
    pub(crate) names: Vec<String>,
    rows: Vec<Row>,
    /// The side of each row.
    pub(crate) sides: Vec<Side>,
}

impl Examples for Table {
    fn rows(&self) -> usize {
        self.rows.len()
    }
    fn features(&self) -> usize {
        self.names.len()
    }
    fn side(&self, i: usize) -> Side {
        self.sides[i]
    }
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(&self.rows[i].0);
    }
}

/// How a table is read.
#[derive(Default)]
pub(crate) struct Options {
    /// The column of the labels, by its name or its number from 1; else the last that is not ignored.
    pub(crate) label: Option<String>,
    /// Columns that are left out.
    pub(crate) ignore: Vec<String>,
    /// The first row holds names, even if these are numbers.
    pub(crate) header: bool,
}

/// Reads a text whose lines are rows. A label tells the side of its row.
pub(crate) fn read(text: &str, options: &Options, subject: &Subject) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<_> = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    // LIBSVM has a colon in the second word of its first row.
    let first = lines.iter().find(|(_, line)| !line.starts_with('#'));
    let pair = first.and_then(|(_, line)| line.split_whitespace().nth(1)?.split_once(':'));
    let is_libsvm = pair.is_some_and(|(index, _)| index == "qid" || index.parse::<u32>().is_ok());
    let (names, rows) = if is_libsvm { libsvm(&lines)? } else { delimited(&lines, options)? };
    let negative = subject.negative.iter().map(|class| (class, Side::Negative));
    let positive = subject.positive.iter().map(|class| (class, Side::Positive));
    let side: HashMap<&String, Side> = negative.chain(positive).collect();
    let sides = rows.iter().map(|(_, class)| side.get(class).copied().unwrap_or(Side::Neither)).collect();
    Ok(Table { names, rows, sides })
}

/// A finite number, as the nearest float.
fn number(text: &str, line: usize) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|value| value.is_finite());
    number.ok_or_else(|| format!("line {line}: \"{text}\" is not a finite number"))
}

/// The class that a label means. Numbers with at most 15 digits are named by their value: 1, +1 and 1.0 are one class.
fn class(label: &str) -> String {
    let mantissa = label.split(['e', 'E']).next().unwrap_or("").chars().filter(char::is_ascii_digit);
    let short = mantissa.skip_while(|digit| *digit == '0').count() <= 15;
    let value = label.parse::<f64>().ok().filter(|value| short && value.is_finite());
    value.map_or(label.to_owned(), |value| (value + 0.0).to_string())
}

/// `label index:value index:value … # comment`. Indices count from 0 if one of them is 0, else from 1.
fn libsvm(lines: &[(usize, &str)]) -> Result<(Vec<String>, Vec<Row>), String> {
    let mut rows: Vec<Row> = Vec::new();
    for &(line, text) in lines {
        let mut words = text.split('#').next().unwrap_or("").split_whitespace();
        let Some(label) = words.next() else { continue };
        let mut values = Vec::new();
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let pair =
                word.split_once(':').and_then(|(index, value)| Some((index.parse::<u32>().ok()?, value)));
            let (index, value) = pair.ok_or_else(|| format!("line {line}: \"{word}\" is not index:value"))?;
            values.push((index as usize, number(value, line)?));
        }
        rows.push((values, class(label)));
    }
    let indices = || rows.iter().flat_map(|(values, _)| values.iter().map(|(index, _)| *index));
    let (base, end) =
        (usize::from(!indices().any(|index| index == 0)), indices().max().map_or(0, |last| last + 1));
    rows.iter_mut().flat_map(|(values, _)| values).for_each(|(index, _)| *index -= base);
    Ok(((base..end).map(|index| index.to_string()).collect(), rows))
}

/// A table. The first line holds names if one of its cells, that of the label aside, is no number.
fn delimited(lines: &[(usize, &str)], options: &Options) -> Result<(Vec<String>, Vec<Row>), String> {
    let &(line, first) = lines.first().ok_or("there are no rows")?;
    let count = |delimiter: &char| first.matches(*delimiter).count();
    let delimiter = ['|', '\t', ';', ','].into_iter().max_by_key(count).unwrap_or(',');
    let split = |text| -> Vec<&str> {
        str::split(text, delimiter).map(|cell| cell.trim().trim_matches('"')).collect()
    };
    let titles = split(first);
    let place = |name: &String| {
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let place = number.or_else(|| titles.iter().position(|title| title == name));
        place.filter(|place| *place < titles.len()).ok_or_else(|| format!("there is no column \"{name}\""))
    };
    let ignored: Vec<usize> = options.ignore.iter().map(place).collect::<Result<_, _>>()?;
    let last = (0..titles.len()).rev().find(|place| !ignored.contains(place)).unwrap_or(0);
    let label = options.label.as_ref().map_or(Ok(last), place)?;
    let features: Vec<usize> = (0..titles.len()).filter(|j| *j != label && !ignored.contains(j)).collect();
    let header = options.header || features.iter().any(|&j| number(titles[j], line).is_err());
    let mut rows = Vec::new();
    for &(line, text) in &lines[usize::from(header)..] {
        let cells = split(text);
        if cells.len() != titles.len() {
            return Err(format!("line {line} has {} cells, but the first has {}", cells.len(), titles.len()));
        }
        let values = features.iter().map(|&j| number(cells[j], line)).collect::<Result<Vec<_>, _>>()?;
        rows.push((values.into_iter().enumerate().collect(), class(cells[label])));
    }
    let name = |j: &usize| if header { titles[*j].to_owned() } else { (j + 1).to_string() };
    Ok((features.iter().map(name).collect(), rows))
}

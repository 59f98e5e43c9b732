//! A plain reader: tables of numbers with one row in a line (comma, semicolon, tab or bar), and LIBSVM.

use linsep_check::{Examples, Subject};
use std::collections::HashMap;

/// Values by feature, and the side: 1, −1, or 0 for neither.
type Row = (Vec<(usize, f64)>, i8);

/// The names of the features, and the rows of a file.
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Examples for Table {
    fn rows(&self) -> usize {
        self.rows.len()
    }
    fn features(&self) -> usize {
        self.names.len()
    }
    fn side(&self, i: usize) -> i8 {
        self.rows[i].1
    }
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(&self.rows[i].0);
    }
}

/// Lines with their numbers.
type Lines<'a> = [(usize, &'a str)];

/// Options with their columns, by name or by number from 1: `--label`; `--ignore`, which is left out; `--weights`, which is left
/// out with the rows where it is 0; and `--header` for a first row of names, even if these are numbers.
pub(crate) type Options = [(String, String)];

/// Reads a text whose lines are rows. A label tells the side of its row.
pub(crate) fn read(text: &str, options: &Options, subject: &Subject) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<_> = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    let negative = subject.negative.iter().map(|class| (class, -1));
    let sides: HashMap<&String, i8> =
        subject.positive.iter().map(|class| (class, 1)).chain(negative).collect();
    let side = |label: &str| sides.get(&class(label)).copied().unwrap_or(0);
    // LIBSVM has a colon in the second word of its first row.
    let first = lines.iter().find(|(_, line)| !line.starts_with('#'));
    let pair = first.and_then(|(_, line)| line.split_whitespace().nth(1)?.split_once(':'));
    let is_libsvm = pair.is_some_and(|(index, _)| index == "qid" || index.parse::<u32>().is_ok());
    if is_libsvm { libsvm(&lines, side) } else { delimited(&lines, side, options) }
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
    // Adding 0 makes 0 of −0.
    value.map_or(label.to_owned(), |value| (value + 0.0).to_string())
}

/// `label index:value index:value … # comment`. Indices count from 0 if one of them is 0, else from 1.
fn libsvm(lines: &Lines, side: impl Fn(&str) -> i8) -> Result<Table, String> {
    let mut rows: Vec<Row> = Vec::new();
    for &(line, text) in lines {
        let mut words = text.split('#').next().unwrap_or("").split_whitespace();
        let Some(label) = words.next() else { continue };
        let mut values = Vec::new();
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let (index, value) = word.split_once(':').unwrap_or_default();
            let wrong = |_| format!("line {line}: \"{word}\" is not index:value");
            values.push((index.parse::<u32>().map_err(wrong)? as usize, number(value, line)?));
        }
        rows.push((values, side(label)));
    }
    let indices = rows.iter().flat_map(|(values, _)| values).map(|(index, _)| *index);
    let (first, end) = (indices.clone().min().unwrap_or(1).min(1), indices.max().map_or(0, |last| last + 1));
    rows.iter_mut().flat_map(|(values, _)| values).for_each(|(index, _)| *index -= first);
    Ok(Table { names: (first..end).map(|index| index.to_string()).collect(), rows })
}

/// A table. The first line holds names if one of its cells, that of the label aside, is no number.
fn delimited(lines: &Lines, side: impl Fn(&str) -> i8, options: &Options) -> Result<Table, String> {
    let &(line, first) = lines.first().ok_or("there are no rows")?;
    let count = |delimiter: &char| first.matches(*delimiter).count();
    let delimiter = ['|', '\t', ';', ','].into_iter().max_by_key(count).unwrap_or(',');
    let split = |text: &str| -> Vec<String> {
        text.split(delimiter).map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
    };
    let titles = split(first);
    let place = |name: &str| {
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let place = number.or_else(|| titles.iter().position(|title| *title == name));
        place.filter(|place| *place < titles.len()).ok_or_else(|| format!("there is no column \"{name}\""))
    };
    let given = |option: &'static str| options.iter().filter(move |given| given.0 == option);
    let places = |option| given(option).map(|(_, name)| place(name)).collect::<Result<Vec<usize>, _>>();
    let (ignored, counts, labels) = (places("--ignore")?, places("--weights")?, places("--label")?);
    let mut used: Vec<usize> = (0..titles.len()).collect();
    used.retain(|column| !ignored.contains(column) && !counts.contains(column));
    let label = *labels.last().or(used.last()).ok_or("no column is left")?;
    used.retain(|column| *column != label);
    let header =
        given("--header").next().is_some() || used.iter().any(|&j| number(&titles[j], line).is_err());
    let mut rows = Vec::new();
    for &(line, text) in &lines[usize::from(header)..] {
        let cells = split(text);
        if cells.len() != titles.len() {
            return Err(format!("line {line} has {} cells, but the first has {}", cells.len(), titles.len()));
        }
        let cell = |j: &usize| number(&cells[*j], line);
        let values = used.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
        let counts = counts.iter().map(cell).collect::<Result<Vec<_>, _>>()?;
        if !counts.contains(&0.0) {
            rows.push((values.into_iter().enumerate().collect(), side(&cells[label])));
        }
    }
    let name = |j: &usize| if header { titles[*j].clone() } else { (j + 1).to_string() };
    Ok(Table { names: used.iter().map(name).collect(), rows })
}

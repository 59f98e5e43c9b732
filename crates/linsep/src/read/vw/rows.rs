//! The rows of a block of lines, independent of the others, so that blocks can be read in parallel.

use crate::read::error::{ReadErrorKind, excerpt};
use crate::read::formats::is_binary;
use crate::read::label_table::LabelTable;
use crate::read::number::parse_number;
use crate::read::{Batch, Labels};
use std::collections::HashMap;

#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) labels: Labels,
    pub(super) skip_bad: bool,
    /// Whether rows are learned from as they come, where none counts more than another.
    pub(super) one_pass: bool,
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
    /// Features by their place among the names of the block, and values that are not zero. A row has a feature once.
    pub(super) pairs: Vec<(u32, f64)>,
    pub(super) names: Vec<String>,
    places: HashMap<String, u32>,
    pub(super) labels: Vec<u32>,
    pub(super) weights: Vec<f64>,
    pub(super) lines: Vec<u64>,
    pub(super) table: LabelTable,
    pub(super) line_count: u64,
    pub(super) with_base: u64,
    pub(super) bad: Vec<BadRow>,
    /// How many bytes the names of further features may have.
    names_left: usize,
    /// The name at hand, and the row.
    name: String,
    row: Vec<(u32, f64)>,
}

/// The problem, and at which byte of the line.
type Fault = (usize, ReadErrorKind);

/// What stands before the first bar.
struct Head<'a> {
    /// Where the label is, and the label.
    label: Option<(usize, &'a str)>,
    weight: f64,
    has_base: bool,
}

/// The bytes that the names of features may have: some whatever the text is, and some for each byte of it. Each repeats its namespace.
const NAMES_FREE: usize = 1 << 22;
const NAMES_FOR_EACH: usize = 32;

impl Block {
    /// Parses whole lines.
    pub(super) fn parse(text: &[u8], rules: Rules) -> Self {
        let names_left = NAMES_FREE + NAMES_FOR_EACH * text.len();
        let mut block = Self { offsets: vec![0], names_left, ..Self::default() };
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            block.line_count += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let names = block.names.len();
            if let Err((column, kind)) = block.parse_line(line, rules) {
                // Nothing of a malformed row stays.
                block.names.drain(names..).for_each(|name| _ = block.places.remove(&name));
                let stop = !(rules.skip_bad && kind.is_row());
                block.bad.push(BadRow { line: block.line_count, column: column as u64 + 1, kind });
                if stop {
                    break;
                }
            }
        }
        block
    }

    fn parse_line(&mut self, line: &[u8], rules: Rules) -> Result<(), Fault> {
        if let Some(at) = line.iter().position(|&byte| is_binary(byte)) {
            return Err((at, ReadErrorKind::Binary(line[at])));
        }
        let line = std::str::from_utf8(line).map_err(|error| {
            (error.valid_up_to(), ReadErrorKind::BadRow("this is not UTF-8 text".to_string()))
        })?;
        let Some(bar) = line.find('|') else {
            return Err((0, ReadErrorKind::NoBar { found: excerpt(line.trim().as_bytes()) }));
        };
        let head = parse_head(&line[..bar], rules)?;
        self.row.clear();
        let mut at = bar;
        for part in line[bar..].split_inclusive('|').skip(1) {
            at += 1;
            self.parse_namespace(part.strip_suffix('|').unwrap_or(part), at)?;
            at += part.len() - 1;
        }
        self.add_up(bar)?;
        let label = match head.label {
            _ if rules.labels == Labels::Ignored => Batch::UNLABELLED,
            None => {
                return Err((0, ReadErrorKind::MissingLabel { found: excerpt(line.trim().as_bytes()) }));
            }
            Some((at, label)) => self
                .table
                .class(label.as_bytes())
                .ok_or_else(|| (at, ReadErrorKind::BadLabel { found: excerpt(label.as_bytes()) }))?,
        };
        self.pairs.extend(self.row.iter().filter(|&&(_, value)| value != 0.0));
        self.offsets.push(self.pairs.len());
        self.labels.push(label);
        self.weights.push(head.weight);
        self.lines.push(self.line_count);
        self.with_base += u64::from(head.has_base);
        Ok(())
    }

    /// The features between two bars, which begin at byte `at` of the line.
    fn parse_namespace(&mut self, part: &str, at: usize) -> Result<(), Fault> {
        let attached = !part.starts_with(char::is_whitespace);
        let mut tokens = tokens(part);
        let (namespace, scale) = match tokens.next_if(|_| attached) {
            Some((place, token)) => pair(token, at + place)?,
            None => ("", 1.0),
        };
        for (place, token) in tokens {
            let (feature, value) = pair(token, at + place)?;
            self.name.clear();
            if !namespace.is_empty() {
                self.name.push_str(namespace);
                self.name.push('^');
            }
            self.name.push_str(feature);
            let name = match self.places.get(&self.name) {
                Some(&name) => name,
                None => {
                    let left = self.names_left.checked_sub(self.name.len());
                    self.names_left = left.ok_or_else(|| {
                        let problem = format!(
                            "the names of the features are far longer than the text that holds them: each repeats its namespace, \
                             which has {} bytes here; give it a shorter name",
                            namespace.len()
                        );
                        (at + place, ReadErrorKind::BadRow(problem))
                    })?;
                    let name = self.names.len() as u32;
                    self.names.push(self.name.clone());
                    self.places.insert(self.name.clone(), name);
                    name
                }
            };
            self.row.push((name, value * scale));
        }
        Ok(())
    }

    /// Adds up the values of a feature that a row names more than once, in their order.
    fn add_up(&mut self, at: usize) -> Result<(), Fault> {
        self.row.sort_by_key(|&(name, _)| name);
        self.row.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0.0 };
            same
        });
        match self.row.iter().find(|(_, value)| !value.is_finite()) {
            Some((_, value)) => Err((at, ReadErrorKind::NotFinite { found: value.to_string() })),
            None => Ok(()),
        }
    }
}

/// The tokens of a text, each with its place.
fn tokens(text: &str) -> std::iter::Peekable<impl Iterator<Item = (usize, &str)>> {
    let start = text.as_ptr() as usize;
    text.split_whitespace().map(move |token| (token.as_ptr() as usize - start, token)).peekable()
}

/// A name and its value, which is 1 if there is none.
fn pair(token: &str, at: usize) -> Result<(&str, f64), Fault> {
    let Some((name, value)) = token.rsplit_once(':') else { return Ok((token, 1.0)) };
    let place = at + name.len() + 1;
    let number = parse_number(value.as_bytes())
        .ok_or_else(|| (place, ReadErrorKind::NotANumber { found: excerpt(value.as_bytes()) }))?;
    if !number.is_finite() {
        return Err((place, ReadErrorKind::NotFinite { found: excerpt(value.as_bytes()) }));
    }
    Ok((name, number))
}

fn parse_head(text: &str, rules: Rules) -> Result<Head<'_>, Fault> {
    let mut found: Vec<(usize, &str)> = tokens(text).collect();
    let touches_bar = !text.is_empty() && !text.ends_with(char::is_whitespace);
    if touches_bar || found.last().is_some_and(|(_, token)| token.starts_with('\'')) {
        found.pop();
    }
    let bad = |at: usize, problem: String| Err((at, ReadErrorKind::BadRow(problem)));
    if let Some(&(at, token)) = found.get(3) {
        return bad(
            at,
            format!(
                "more than a label, an importance and an initial prediction: \"{}\"",
                excerpt(token.as_bytes())
            ),
        );
    }
    let label = found.first().copied();
    if let Some((at, label)) = label {
        let parts = || label.split(',').filter(|part| !part.is_empty());
        if label.contains(':') || (label.contains(',') && parts().all(|part| part.parse::<f64>().is_ok())) {
            let found = excerpt(label.as_bytes());
            return bad(at, format!("\"{found}\" is not one class: costs and several labels are not read"));
        }
    }
    let number = |place: usize| match found.get(place) {
        None => Ok(None),
        Some(&(at, token)) => match parse_number(token.as_bytes()) {
            Some(number) => Ok(Some((at, token, number))),
            None => Err((at, ReadErrorKind::NotANumber { found: excerpt(token.as_bytes()) })),
        },
    };
    let weight = match number(1)? {
        None => 1.0,
        Some((at, token, weight)) => {
            if !(weight == 0.0 || (1e-100..=1e100).contains(&weight)) {
                return Err((at, ReadErrorKind::BadWeight { found: excerpt(token.as_bytes()) }));
            }
            if weight != 1.0 && rules.one_pass && rules.labels == Labels::Required {
                let problem =
                    "an importance other than 1 needs all rows in memory: leave out ⟦online⟧ and ⟦memory⟧";
                return Err((at, ReadErrorKind::Misused(problem.to_string())));
            }
            weight
        }
    };
    Ok(Head { label, weight, has_base: number(2)?.is_some() })
}

//! The text of a certificate, version 2: one item in a line, in a fixed order.
//!
//! A line is a word and what belongs to it: whole numbers, then the entries of a vector as `place:number`. Names are in
//! quotes. There is one text for each certificate, and other texts are errors.

use crate::certificate::{Bias, Certificate, Claim, ColumnSet, Columns, Margin, Status, Subject};
use crate::numbers::{Dyadic, Sparse};

impl Certificate {
    /// Reads the text of a certificate. An error is the number, from 1, of the line that is out of place, not in its
    /// one form, or beyond the limits. Places out of order and zeros are found by the check, not here.
    pub fn parse(text: &str) -> Result<Self, usize> {
        let mut lines = Lines { all: text.lines().collect(), done: 0, line: 0 };
        certificate(&mut lines).filter(|_| text.ends_with('\n')).ok_or(lines.line + 1)
    }
}

fn certificate(lines: &mut Lines<'_>) -> Option<Certificate> {
    lines.one("linsep certificate 2").filter(|rest| rest.is_empty())?;
    let subject = Subject {
        fingerprint: name(lines.one("fingerprint")?)?,
        rows: whole(lines.one("rows")?)?,
        features: whole(lines.one("features")?)?,
        positive: lines.many("positive", name)?,
        negative: lines.many("negative", name)?,
    };
    let bias = match lines.one("bias")? {
        "none" => Bias::None,
        "free" => Bias::Free,
        other => Bias::Append(float(other.strip_prefix("append ")?).filter(|value| *value > 0.0)?),
    };
    let verdict = lines.one("verdict")?;
    let weights = if verdict == "overlap" { Sparse::new() } else { vector(lines.one("weights")?)? };
    let ends = ["lower", "upper"].iter().filter(|_| verdict == "complete");
    let ends: Vec<f64> = ends.map(|end| float(lines.one(end)?)).collect::<Option<_>>()?;
    let combination = vector(lines.one("combination")?)?;
    let kernel = lines.many("kernel", vector)?;
    let claim = match (verdict, &ends[..]) {
        ("complete", &[lower, upper]) if kernel.is_empty() => {
            Claim::Complete { weights, margin: Margin { lower, upper, combination } }
        }
        ("quasi-complete", []) => Claim::QuasiComplete { weights, combination, kernel },
        ("overlap", []) => Claim::Overlap { combination, kernel },
        _ => return None,
    };
    let members = lines.many("member", vector)?;
    let mut coefficients = Vec::new();
    while let Some((word, rest)) = STATUSES.iter().find_map(|word| lines.one(word).map(|rest| (*word, rest)))
    {
        coefficients.push(status(word, rest)?);
    }
    let set = |text: &str| items(text).map(|(columns, proof)| ColumnSet { columns, proof });
    let (alone, not_alone) = (lines.many("alone", set)?, lines.many("not-alone", set)?);
    let at_least = whole(lines.one("at-least")?)?;
    let columns = Columns { members, coefficients, alone, not_alone, at_least };
    let is_end = lines.one("end")?.is_empty() && lines.done == lines.all.len();
    is_end.then_some(Certificate { subject, bias, claim, columns })
}

/// The lines, how many of them are done, and the number of the one that was looked at last.
struct Lines<'a> {
    all: Vec<&'a str>,
    done: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    /// What follows the word in the next line, if that begins with the word.
    fn one(&mut self, word: &str) -> Option<&'a str> {
        self.line = self.done;
        let rest = self.all.get(self.done)?.strip_prefix(word)?;
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ').filter(|r| !r.is_empty())? };
        self.done += 1;
        Some(rest)
    }

    /// What `read` makes of all next lines that begin with the word.
    fn many<T>(&mut self, word: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        std::iter::from_fn(|| self.one(word)).map(read).collect()
    }
}

/// A whole number from 0, without leading zeros.
fn whole(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number: &usize| number.to_string() == text)
}

fn float(text: &str) -> Option<f64> {
    Dyadic::parse(text)?.to_f64()
}

/// A name in quotes, with `\n`, `\r` and `\b` for a line feed, a carriage return and a backslash.
fn name(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_escape = |part: &str| part.starts_with(['n', 'r', 'b']);
    let name = inner.replace("\\n", "\n").replace("\\r", "\r").replace("\\b", "\\");
    inner.split('\\').skip(1).all(is_escape).then_some(name)
}

/// Whole numbers, then the entries of a vector.
fn items(text: &str) -> Option<(Vec<usize>, Sparse)> {
    let (mut numbers, mut vector) = (Vec::new(), Sparse::new());
    for item in text.split(' ').filter(|_| !text.is_empty()) {
        match item.split_once(':') {
            Some((place, number)) => vector.push((whole(place)?, Dyadic::parse(number)?)),
            None if vector.is_empty() => numbers.push(whole(item)?),
            None => return None,
        }
    }
    Some((numbers, vector))
}

fn vector(text: &str) -> Option<Sparse> {
    items(text).filter(|(numbers, _)| numbers.is_empty()).map(|(_, vector)| vector)
}

/// The words for what is claimed of a coefficient.
const STATUSES: [&str; 5] = ["aliased", "finite", "plus-infinite", "minus-infinite", "open"];

/// The place of a coefficient, and what is claimed of it.
fn status(word: &str, text: &str) -> Option<(usize, Status)> {
    let (numbers, vector) = items(text)?;
    let (&place, members) = numbers.split_first()?;
    let (positive, no_vector) = (word == "plus-infinite", vector.is_empty());
    let status = match (word, members) {
        ("aliased", []) => Status::Aliased { relation: vector },
        ("finite", []) if no_vector => Status::Finite,
        ("open", &[positive, negative]) if no_vector => Status::Open { positive, negative },
        (_, &[member]) if word.ends_with("infinite") => {
            Status::Infinite { positive, member, combination: vector }
        }
        _ => return None,
    };
    Some((place, status))
}

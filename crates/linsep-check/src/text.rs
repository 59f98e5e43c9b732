//! The text of a certificate, version 2: one item in a line, in a fixed order.
//!
//! A line is a word and what belongs to it: whole numbers, then the entries of a vector as `place:number`. Names are in
//! quotes. There is one text for each certificate, and other texts are errors.

use crate::certificate::{Alone, Bias, Certificate, Claim, Columns, Margin, NotAlone, ParseError, Sparse};
use crate::certificate::{Status, Subject};
use crate::numbers::Dyadic;

impl Certificate {
    /// Reads the text of a certificate. Places out of order and zeros are found by the check, not here.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let lines = &mut Lines { rest: text.lines().collect(), done: 0 };
        lines.one("linsep certificate 2", nothing)?;
        let subject = Subject {
            fingerprint: lines.one("fingerprint", name)?,
            rows: lines.one("rows", whole)?,
            features: lines.one("features", whole)?,
            positive: lines.many("positive", name)?,
            negative: lines.many("negative", name)?,
        };
        let bias = lines.one("bias", |text| match text {
            "none" => Some(Bias::None),
            "free" => Some(Bias::Free),
            _ => float(text.strip_prefix("append ")?).filter(|value| *value > 0.0).map(Bias::Append),
        })?;
        let claim = match lines.one("verdict", |verdict| Some(verdict.to_owned()))?.as_str() {
            "complete" => Claim::Complete {
                weights: lines.one("weights", vector)?,
                margin: Margin {
                    lower: lines.one("lower", float)?,
                    upper: lines.one("upper", float)?,
                    combination: lines.one("combination", vector)?,
                },
            },
            "quasi-complete" => Claim::QuasiComplete {
                weights: lines.one("weights", vector)?,
                combination: lines.one("combination", vector)?,
                kernel: lines.many("kernel", vector)?,
            },
            "overlap" => Claim::Overlap {
                combination: lines.one("combination", vector)?,
                kernel: lines.many("kernel", vector)?,
            },
            _ => return lines.fail("the line before has no known verdict"),
        };
        let members = lines.many("member", vector)?;
        let mut coefficients = Vec::new();
        while let Some(word) = STATUSES.into_iter().find(|word| lines.after(word).is_some()) {
            coefficients.push(lines.one(word, |text| status(word, text))?);
        }
        let set = |text: &str| items(text).map(|(columns, weights)| Alone { columns, weights });
        let other = |text: &str| items(text).map(|(columns, combination)| NotAlone { columns, combination });
        let (alone, not_alone) = (lines.many("alone", set)?, lines.many("not-alone", other)?);
        let at_least = lines.one("at-least", whole)?;
        lines.one("end", nothing)?;
        if lines.done < lines.rest.len() {
            return lines.fail("text follows after the end");
        }
        let columns = Columns { members, coefficients, alone, not_alone, at_least };
        Ok(Self { subject, bias, claim, columns })
    }
}

/// The lines, and how many of them are done.
struct Lines<'a> {
    rest: Vec<&'a str>,
    done: usize,
}

impl Lines<'_> {
    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.done + 1, reason: reason.into() })
    }

    /// What follows the word in the next line, if that begins with the word.
    fn after(&self, word: &str) -> Option<&str> {
        let rest = self.rest.get(self.done)?.strip_prefix(word)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
    }

    /// The next line, which must begin with the word; `read` makes something of what follows.
    fn one<T>(&mut self, word: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, ParseError> {
        let Some(text) = self.after(word) else { return self.fail(format!("expected a line \"{word}\"")) };
        let Some(item) = read(text) else {
            return self
                .fail(format!("what follows \"{word}\" is not in its one form, or beyond the limits"));
        };
        self.done += 1;
        Ok(item)
    }

    /// All next lines that begin with the word.
    fn many<T>(&mut self, word: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while self.after(word).is_some() {
            items.push(self.one(word, &read)?);
        }
        Ok(items)
    }
}

fn nothing(text: &str) -> Option<()> {
    text.is_empty().then_some(())
}

/// A whole number from 0, without leading zeros.
fn whole(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number: &usize| number.to_string() == text)
}

fn float(text: &str) -> Option<f64> {
    text.parse::<Dyadic>().ok()?.to_f64()
}

/// A name in quotes, with `\n`, `\r` and `\b` for a line feed, a carriage return and a backslash.
fn name(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\n", "\n").replace("\\r", "\r").replace("\\b", "\\"))
}

/// Whole numbers, then the entries of a vector.
fn items(text: &str) -> Option<(Vec<usize>, Sparse)> {
    let tokens: Vec<&str> = text.split(' ').filter(|_| !text.is_empty()).collect();
    let (numbers, entries) = tokens.split_at(tokens.iter().take_while(|token| !token.contains(':')).count());
    let entry = |token: &&str| {
        let (place, number) = token.split_once(':')?;
        Some((whole(place)?, number.parse().ok()?))
    };
    let numbers = numbers.iter().map(|token| whole(token)).collect::<Option<_>>()?;
    Some((numbers, entries.iter().map(entry).collect::<Option<_>>()?))
}

fn vector(text: &str) -> Option<Sparse> {
    items(text).filter(|(numbers, _)| numbers.is_empty()).map(|(_, vector)| vector)
}

/// The words for what is claimed of a coefficient.
const STATUSES: [&str; 5] = ["aliased", "finite", "plus-infinite", "minus-infinite", "open"];

/// The place of a coefficient, and what is claimed of it.
fn status(word: &str, text: &str) -> Option<(usize, Status)> {
    let (numbers, vector) = items(text)?;
    let status = match (word, &numbers[..]) {
        ("aliased", [_]) => Status::Aliased { relation: vector },
        ("plus-infinite" | "minus-infinite", [_, member]) => {
            Status::Infinite { positive: word == "plus-infinite", member: *member, combination: vector }
        }
        ("finite", [_]) if vector.is_empty() => Status::Finite,
        ("open", [_, positive, negative]) if vector.is_empty() => {
            Status::Open { positive: *positive, negative: *negative }
        }
        _ => return None,
    };
    Some((numbers[0], status))
}

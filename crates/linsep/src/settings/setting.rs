//! What a setting is: its name, its place in a specification, what its value may be, and its help.

use crate::numbers::bytes;
use crate::read::FORMATS;
use crate::train::{Choice, learners};
use serde_json::{Value, json};

/// A limit from here on is that of the numbers of a specification, and no limit of its own.
pub(super) const UNLIMITED: u64 = i64::MAX as u64;

/// A setting of a job. Flags, keywords, fields of forms and shell commands are spellings of it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The name, in snake case.
    pub name: &'static str,
    /// The place of its value in the specification, such as `read.csv.label`.
    pub at: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What stands for its value in a help text.
    pub symbol: &'static str,
    /// Its meaning. It may name other settings: `⟦epochs⟧`.
    pub help: &'static str,
    /// What holds where it is not given, in words, unless the specification has a default of its own.
    pub default: &'static str,
    /// More about it, for a longer help.
    pub details: &'static str,
    /// The heading under which it stands.
    pub heading: &'static str,
    /// Which files, columns or learners it is for, in words.
    pub only: &'static str,
    /// Settings of which only one may be given: they share a place.
    pub one_of: &'static str,
    /// Settings that cannot be given beside it.
    pub excludes: &'static [&'static str],
    /// The setting that it needs.
    pub needs: &'static str,
    /// Another name of its flag.
    pub alias: &'static str,
    /// Whether a page of the explorer may give it: what names files or says how rows are held is not for a page.
    pub page: bool,
    /// How forms show it; `None` where they do not.
    pub form: Option<Form>,
}

/// How forms show a setting.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What a form calls it; empty for its name.
    pub label: &'static str,
    /// The group of data, or the ability of learners, that it is for: `all` for all.
    pub of: &'static str,
}

/// What the value of a setting may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Given or not.
    Flag,
    /// The first word means no, the second yes; one more takes back what was given.
    Truth(&'static [Choice]),
    /// A text.
    Text,
    /// A text that is checked.
    Checked(fn(&str) -> Result<(), String>),
    /// Texts, separated by commas.
    List,
    /// Pairs `NAME=WORD`, separated by commas. The check is of one pair.
    Pairs(fn(&str) -> Result<(), String>),
    /// A whole number in a range.
    Whole(u64, u64),
    /// A number.
    Number,
    /// A number of bytes, such as `500MB`.
    Size,
    /// One of these words.
    Choice(&'static [Choice]),
    /// The name of a format of files.
    Format,
    /// The name of a learner.
    Learner,
    /// Names of learners.
    Learners,
    /// A file that is read or written.
    File,
    /// One of these words, or a file.
    WordOrFile(&'static [Choice]),
    /// A file, or, where there is none of that name, a column, whose place is another.
    FileOrColumn(&'static str),
    /// A text with a value of its own form, and back.
    Own {
        /// Whether it is of several texts, which commas separate.
        several: bool,
        /// The value of texts.
        value: fn(&[String]) -> Result<Value, String>,
        /// The texts of a value.
        text: fn(&Value) -> Option<String>,
    },
}

impl Setting {
    /// A setting whose place has its own name.
    pub(super) const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self {
            name,
            at: name,
            kind,
            symbol: "",
            help,
            default: "",
            details: "",
            heading: "",
            only: "",
            one_of: "",
            excludes: &[],
            needs: "",
            alias: "",
            page: false,
            form: None,
        }
    }

    pub(super) const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    pub(super) const fn symbol(self, symbol: &'static str) -> Self {
        Self { symbol, ..self }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    pub(super) const fn heading(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    pub(super) const fn only(self, only: &'static str) -> Self {
        Self { only, ..self }
    }

    pub(super) const fn one_of(self, one_of: &'static str) -> Self {
        Self { one_of, ..self }
    }

    pub(super) const fn excludes(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    pub(super) const fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn alias(self, alias: &'static str) -> Self {
        Self { alias, ..self }
    }

    /// Lets a page give it.
    pub(super) const fn page(self) -> Self {
        Self { page: true, ..self }
    }

    /// Shows it in forms, for this group of data or ability of learners, under this label if it has one.
    pub(super) const fn form(self, of: &'static str, label: &'static str) -> Self {
        Self { page: true, form: Some(Form { label, of }), ..self }
    }

    /// The name as a flag has it, without dashes before it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Whether several values may be given, separated by commas.
    pub fn takes_several(&self) -> bool {
        matches!(self.kind, Kind::List | Kind::Pairs(_) | Kind::Learners | Kind::Own { several: true, .. })
    }

    /// The words that it takes, each with its meaning, where only some words are values.
    pub fn choices(&self) -> Vec<Choice> {
        match self.kind {
            Kind::Choice(choices) | Kind::Truth(choices) | Kind::WordOrFile(choices) => choices.to_vec(),
            Kind::Format => {
                FORMATS.iter().map(|format| Choice { name: format.name, help: format.help }).collect()
            }
            Kind::Learner | Kind::Learners => {
                let choice = |learner: &&crate::train::Descriptor| Choice {
                    name: learner.name,
                    help: learner.summary,
                };
                learners().iter().map(choice).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its value in the specification of a job, whose part for its table is this.
    pub fn value_in<'a>(&self, prefix: &str, spec: &'a Value) -> Option<&'a Value> {
        at(spec, &super::table::full_place(prefix, self.at))
    }

    /// Where a value of these texts belongs.
    pub fn place(&self, texts: &[String]) -> &'static str {
        match self.kind {
            Kind::FileOrColumn(column) if texts.iter().all(|text| !std::path::Path::new(text).exists()) => {
                column
            }
            _ => self.at,
        }
    }

    /// The value of texts: one, or several for what takes several.
    ///
    /// # Errors
    ///
    /// What was expected instead.
    pub fn value(&self, texts: &[String]) -> Result<Value, String> {
        let one = || texts.last().map_or("", String::as_str);
        let named = || {
            let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
            texts.map(str::to_owned).collect::<Vec<String>>()
        };
        let known = |text: &str| {
            let choices = self.choices();
            match choices.iter().any(|choice| choice.name == text) {
                true => Ok(()),
                false => {
                    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
                    Err(format!("expected one of {}", names.join(", ")))
                }
            }
        };
        Ok(match self.kind {
            Kind::Flag => json!(true),
            Kind::Text | Kind::File | Kind::WordOrFile(_) | Kind::FileOrColumn(_) => json!(one()),
            Kind::Checked(check) => {
                check(one())?;
                json!(one())
            }
            Kind::List => json!(named()),
            Kind::Learners => {
                named().iter().try_for_each(|name| known(name))?;
                json!(named())
            }
            Kind::Pairs(check) => {
                let mut pairs = serde_json::Map::new();
                for pair in named() {
                    check(&pair)?;
                    let (name, word) = pair.rsplit_once('=').ok_or("expected NAME=WORD")?;
                    pairs.insert(name.to_owned(), json!(word));
                }
                Value::Object(pairs)
            }
            Kind::Whole(least, most) => {
                let number = one().parse::<u64>().ok().filter(|number| (least..=most).contains(number));
                json!(number.ok_or_else(|| match (least, most) {
                    (0, most) if most >= UNLIMITED => "expected a whole number of 0 or more".to_owned(),
                    (least, most) if most >= UNLIMITED =>
                        format!("expected a whole number of {least} or more"),
                    (least, most) => format!("expected a whole number from {least} to {most}"),
                })?)
            }
            Kind::Number => {
                let number = one().parse::<f64>().ok().filter(|number| number.is_finite());
                json!(number.ok_or("expected a number")?)
            }
            Kind::Size => json!(bytes(one()).ok_or("expected a size such as 500MB or 10GB")?),
            Kind::Choice(_) | Kind::Format | Kind::Learner => {
                known(one())?;
                json!(one())
            }
            Kind::Truth(choices) => {
                known(one())?;
                match choices.iter().position(|choice| choice.name == one()) {
                    Some(at @ 0..=1) => json!(at == 1),
                    _ => Value::Null,
                }
            }
            Kind::Own { value, .. } => value(texts)?,
        })
    }

    /// The text of a value, from which [`value`](Self::value) makes it again, where it has one. That of a flag is empty.
    pub fn text(&self, value: &Value) -> Option<String> {
        Some(match (self.kind, value) {
            (_, Value::Null) => return None,
            (Kind::Flag, value) => {
                return (value == &json!(true)).then(String::new);
            }
            (Kind::Own { text, .. }, value) => text(value)?,
            (Kind::Truth(choices), Value::Bool(yes)) => choices[usize::from(*yes)].name.to_owned(),
            (Kind::Size, Value::Number(bytes)) => format!("{bytes}B"),
            // 60 and not 60.0.
            (Kind::Number, Value::Number(number)) => number.as_f64()?.to_string(),
            (_, Value::String(text)) => text.clone(),
            (_, Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<&str>>().join(",")
            }
            (_, Value::Object(pairs)) => {
                let pairs =
                    pairs.iter().filter_map(|(name, word)| Some(format!("{name}={}", word.as_str()?)));
                pairs.collect::<Vec<String>>().join(",")
            }
            (_, other) => other.to_string(),
        })
    }
}

/// The value at a place of a specification, such as `read.csv.label`.
pub(super) fn at<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    place.split('.').try_fold(value, |inner, name| inner.get(name))
}

/// Puts a value at a place of a specification; `null` takes out what is there.
pub(super) fn put(spec: &mut Value, place: &str, value: Value) {
    let (mut inner, mut rest) = (spec, place);
    while let Some((outer, further)) = rest.split_once('.') {
        let Value::Object(fields) = inner else { return };
        inner = fields.entry(outer).or_insert_with(|| json!({}));
        if !inner.is_object() {
            *inner = json!({});
        }
        rest = further;
    }
    let Value::Object(fields) = inner else { return };
    match (value, fields.get_mut(rest)) {
        (Value::Null, _) => {
            fields.remove(rest);
        }
        // Kinds of columns come to those that are there.
        (Value::Object(more), Some(Value::Object(there))) if rest == "columns" => there.extend(more),
        (value, _) => {
            fields.insert(rest.to_owned(), value);
        }
    }
}

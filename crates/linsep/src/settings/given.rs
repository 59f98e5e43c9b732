//! What a user has said, and nothing else: values of settings, which are laid over a specification.

use super::setting::{self, Setting};
use super::table::{GRID, OPTIONS, Tables, full_place};
use crate::job::Grid;
use crate::train::{OptionValue, Options};
use serde_json::{Value, json};

/// Values of settings, each with its place in a specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    values: Vec<GivenValue>,
    /// Options of the learner.
    pub options: Options,
    /// Options of learners, each with several values.
    pub grid: Grid,
}

#[derive(Clone, Debug, PartialEq)]
struct GivenValue {
    name: &'static str,
    at: String,
    /// Whether other values beside it in the specification go.
    replaces: bool,
    value: Value,
}

impl Given {
    /// Adds a setting of a table whose places are in this part of the specification.
    ///
    /// # Errors
    ///
    /// What was expected instead of the texts.
    pub fn add(&mut self, prefix: &str, setting: &Setting, texts: &[String]) -> Result<(), String> {
        let value = setting.value(texts)?;
        let at = full_place(prefix, setting.place(texts));
        // The rules of thresholds share a place, and a bias that was said does away with the scale of another.
        let replaces = !setting.one_of.is_empty() || setting.at == "bias.append";
        self.values.push(GivenValue { name: setting.name, at, replaces, value });
        Ok(())
    }

    /// Whether a setting is given.
    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|given| given.name == name)
    }

    /// Lays the values over a specification.
    pub fn lay_over(&self, spec: &mut Value) {
        for given in &self.values {
            if given.at == "learner" && spec.get("learner") != Some(&given.value) {
                // Options are those of one learner.
                setting::put(spec, OPTIONS, Value::Null);
            }
            if let Some((parent, _)) = given.at.rsplit_once('.').filter(|_| given.replaces) {
                setting::put(spec, parent, Value::Null);
            }
            setting::put(spec, &given.at, given.value.clone());
        }
        for (name, value) in self.options.iter() {
            setting::put(spec, &format!("{OPTIONS}.{name}"), option(value));
        }
        for (name, values) in &self.grid {
            let values = values.iter().map(option).collect::<Vec<Value>>();
            setting::put(spec, &format!("{GRID}.{name}"), json!(values));
        }
    }
}

/// The value of an option. No specification has a number that is none: as a text it is refused by its learner.
fn option(value: &OptionValue) -> Value {
    match value {
        OptionValue::Number(number) if !number.is_finite() => json!(number.to_string()),
        value => json!(value),
    }
}

/// A part of a command: a setting with its value, where it takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The name of the setting, as a flag has it.
    pub flag: String,
    /// Its value.
    pub value: Option<String>,
}

/// The settings of a specification that are not those of another, which is the one of a job of which nothing was said: in the order
/// of the tables.
pub fn words(tables: Tables, spec: &Value, unsaid: &Value) -> Vec<Word> {
    let mut words = Vec::new();
    let said =
        |at: &str| setting::at(spec, at).filter(|value| setting::at(unsaid, at) != Some(value)).cloned();
    for (prefix, settings) in tables {
        for setting in *settings {
            let mut places = vec![setting.at];
            if let super::Kind::FileOrColumn(column) = setting.kind {
                places.push(column);
            }
            for at in places {
                let text = said(&full_place(prefix, at)).and_then(|value| setting.text(&value));
                if let Some(text) = text {
                    let value = (!matches!(setting.kind, super::Kind::Flag)).then_some(text);
                    words.push(Word { flag: setting.flag(), value });
                    // A need that is no setting is a matter of the command.
                    let is_setting = settings.iter().any(|other| other.name == setting.needs);
                    if !setting.needs.is_empty() && !is_setting {
                        words.push(Word { flag: setting.needs.to_owned(), value: None });
                    }
                }
            }
            if setting.at == "learner" || setting.at == "learners" {
                words.extend(options(spec));
            }
        }
    }
    words
}

/// The options of learners, with one value or with several.
fn options(spec: &Value) -> impl Iterator<Item = Word> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let named = [OPTIONS, GRID].into_iter().filter_map(|place| setting::at(spec, place)?.as_object());
    let words = named.flatten().map(move |(name, value)| {
        let value = match value {
            Value::Array(values) => values.iter().map(text).collect::<Vec<String>>().join(","),
            value => text(value),
        };
        Word { flag: name.replace('_', "-"), value: Some(value) }
    });
    words.collect::<Vec<Word>>().into_iter()
}

/// The places of a specification that are set and that no setting of these tables is for.
pub fn unknown(tables: Tables, spec: &Value, allowed: impl Fn(&Setting) -> bool) -> Vec<String> {
    let known = |place: &str| {
        let is_at = |at: &str| place == at || place.starts_with(&format!("{at}."));
        let of_learners = tables.iter().flat_map(|(_, settings)| *settings);
        let has_options = |name: &str| of_learners.clone().any(|setting| setting.at == name);
        (has_options("learner") && is_at(OPTIONS))
            || (has_options("learners") && is_at(GRID))
            || tables.iter().any(|(prefix, settings)| {
                settings
                    .iter()
                    .filter(|setting| allowed(setting))
                    .any(|setting| is_at(&full_place(prefix, setting.at)))
            })
    };
    let mut unknown = Vec::new();
    // A place that is itself that of a setting has a value of its own form.
    fn visit(value: &Value, place: &str, known: &dyn Fn(&str) -> bool, unknown: &mut Vec<String>) {
        match value {
            Value::Object(fields) if !fields.is_empty() && !known(place) => {
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    visit(inner, &place, known, unknown);
                }
            }
            _ if place.is_empty() || known(place) => {}
            _ => unknown.push(place.to_owned()),
        }
    }
    visit(spec, "", &known, &mut unknown);
    unknown
}

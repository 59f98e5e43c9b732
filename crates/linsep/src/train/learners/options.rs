//! The options of one learner as names with values, as front ends, specifications and forms hand them over.

use super::registry::AUTO;
use crate::numbers::bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The options of a learner by their names, in alphabetical order. Which there are, and what they mean, is said by the
/// [`Descriptor`](super::Descriptor) of the learner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options {
    values: BTreeMap<String, OptionValue>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// A whole number; also accepted as a number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl OptionValue {
    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match *self {
            OptionValue::Whole(whole) => Some(whole as f64),
            OptionValue::Number(number) => Some(number),
            OptionValue::Text(_) => None,
        }
    }

    /// The value as a whole number, if it is one.
    pub fn whole(&self) -> Option<u64> {
        match *self {
            OptionValue::Whole(whole) => Some(whole),
            OptionValue::Number(number)
                if number.fract() == 0.0 && (0.0..=2f64.powi(53)).contains(&number) =>
            {
                Some(number as u64)
            }
            _ => None,
        }
    }

    /// The value as a number of bytes, if it is one: a whole number above 0, or a text such as `2GB`.
    pub fn size(&self) -> Option<u64> {
        match self {
            OptionValue::Text(text) => bytes(text),
            value => value.whole().filter(|&bytes| bytes > 0),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Whole(whole) => whole.fmt(f),
            OptionValue::Number(number) => number.fmt(f),
            OptionValue::Text(text) => text.fmt(f),
        }
    }
}

impl From<u64> for OptionValue {
    fn from(whole: u64) -> Self {
        OptionValue::Whole(whole)
    }
}

impl From<f64> for OptionValue {
    fn from(number: f64) -> Self {
        OptionValue::Number(number)
    }
}

impl From<&str> for OptionValue {
    fn from(text: &str) -> Self {
        OptionValue::Text(text.to_string())
    }
}

impl From<Option<f64>> for OptionValue {
    /// The number; without one, what the learner finds best.
    fn from(number: Option<f64>) -> Self {
        number.map_or(OptionValue::from(AUTO), OptionValue::Number)
    }
}

impl FromIterator<(String, OptionValue)> for Options {
    fn from_iter<T: IntoIterator<Item = (String, OptionValue)>>(values: T) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

impl Options {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// These options, and one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OptionValue>) -> Self {
        self.set(name, value);
        self
    }

    /// Gives an option a value.
    pub fn set(&mut self, name: &str, value: impl Into<OptionValue>) {
        self.values.insert(name.to_string(), value.into());
    }

    /// The value of an option, if it is given.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.values.get(name)
    }

    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The options in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OptionValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A word, if it is given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, if it is given.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.number()
    }

    /// A number that can be left to the learner, if it is given.
    pub(crate) fn number_or_auto(&self, name: &str) -> Option<Option<f64>> {
        Some(self.get(name)?.number())
    }

    /// A choice by the name under which it is also stored, if it is given.
    pub(crate) fn choice<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.text(name)?.into()).ok()
    }

    /// Gives an option a choice, by the name under which it is also stored.
    #[must_use]
    pub(crate) fn with_choice<T: Serialize>(self, name: &str, choice: T) -> Self {
        match serde_json::to_value(choice) {
            Ok(serde_json::Value::String(text)) => self.with(name, text.as_str()),
            _ => self,
        }
    }
}

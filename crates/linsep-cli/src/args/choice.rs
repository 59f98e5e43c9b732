//! Choices by name, spelled as in the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

/// A parser for one of these names, each with its line of help; the library's own spelling gives the value.
pub(crate) fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [(&'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let possible = |&(name, help): &(&'static str, &'static str)| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    };
    PossibleValuesParser::new(names.iter().map(possible).collect::<Vec<_>>())
        .try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}

pub(crate) const SHOW: &[(&str, &str)] = &[
    ("label", "The class"),
    ("score", "The value of the decision function; 0 or more means the positive class"),
    ("distance", "The distance to the boundary, in scaled units if the model scales its features"),
    (
        "probability",
        "The probability of the positive class; with more than two classes, the probabilities of all \
         classes in the order of their names, separated by commas. Needs logistic regression, --loss log, \
         or a \
         model trained with --probabilities",
    ),
];

pub(crate) const INPUT_NUMBERS: &[(&str, &str)] =
    &[("f32", "32 bits, which most ONNX runtimes expect"), ("f64", "64 bits: no rounding of the inputs")];

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

pub(crate) const ORDERS: &[(&str, &str)] = &[
    ("given", "File order"),
    ("shuffle-once", "Shuffle once and use the same order in every pass"),
    ("shuffle", "Shuffle before every pass"),
];

pub(crate) const MISTAKES: &[(&str, &str)] = &[
    ("nonpositive", "A score of 0 is a mistake (label × score ≤ 0)"),
    (
        "negative",
        "A score of 0 is correct (only label × score < 0 is a mistake); needs --init first or a \
         model, because zero weights would never change",
    ),
];

pub(crate) const SCALES: &[(&str, &str)] = &[
    (
        "auto",
        "Standardise dense features; leave sparse 0/1 features unchanged; divide other sparse features by \
         their root mean square (by their largest magnitude if there are more than 300)",
    ),
    ("none", "No scaling"),
    ("max-abs", "Divide each feature by its largest magnitude"),
    ("standard", "Standardise each feature to mean 0 and variance 1 (sparse features are not centred)"),
    ("unit-rows", "Divide each row by its Euclidean norm"),
];

pub(crate) const FEATURES: &[(&str, &str)] = &[
    ("plain", "The columns themselves: the boundary is linear in them"),
    ("splines", "Add natural cubic splines of each numeric column, linear beyond the outer knots"),
    (
        "pairs",
        "Add products of pairs of columns, categories included; if there are too many, those that best \
         explain a plain model's errors",
    ),
    ("splines+pairs", "Add both"),
];

pub(crate) const MISSING: &[(&str, &str)] = &[
    (
        "auto",
        "Replace missing numbers by the column mean and add an indicator feature; treat missing words as a \
         category; drop rows without a label",
    ),
    ("refuse", "Stop with an error that names the cell"),
    ("mean", "Replace missing numbers by the column mean; leave missing words without a category"),
    ("zero", "Replace missing numbers by zero; leave missing words without a category"),
    ("drop-row", "Drop the row"),
];

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

pub(crate) const METRICS: &[(&str, &str)] = &[
    ("error", "Error rate: the fraction of rows predicted wrong"),
    ("balanced-error", "The mean of the error rates of the classes"),
    ("auc", "Area under the ROC curve: the probability that a positive row scores above a negative one"),
    ("log-loss", "The mean of −ln of the probability given to the true class"),
    (
        "f1",
        "The harmonic mean of precision and recall; with more than two classes, the mean over the \
            classes",
    ),
];

pub(crate) const JUDGINGS: &[(&str, &str)] = &[
    ("auto", "nested for few rows, aside for many"),
    ("nested", "Nested cross-validation: repeat the whole search in each of five outer folds"),
    ("aside", "Set aside a fifth of the rows as a test set until the search has finished"),
    ("none", "Do not estimate the error"),
];

pub(crate) const INPUT_NUMBERS: &[(&str, &str)] =
    &[("f32", "32 bits, which most ONNX runtimes expect"), ("f64", "64 bits: no rounding of the inputs")];

pub(crate) const COLUMN_DETAILS: &[(&str, &str)] = &[
    ("none", "Only the verdict"),
    (
        "usual",
        "Analyse columns within a few seconds, for data of at most 16 million cells and 511 features (127 \
         if completely separable)",
    ),
    ("all", "Analyse all columns for data of any size; slow with many features"),
];

pub(crate) const SEPARATE_BIASES: &[(&str, &str)] = &[
    ("none", "No bias: the boundary goes through the origin"),
    ("append", "A constant coordinate is appended to every row; its weight is part of the norm, as in train"),
    ("free", "An unpenalised bias: the margin is half the distance between the convex hulls of the classes"),
];

pub(crate) const TERMS: &[(&str, &str)] = &[
    ("words", "Words of two or more letters, digits and underscores, in lower case"),
    ("characters", "Character n-grams, including spaces between words"),
];

pub(crate) const WEIGHTS: &[(&str, &str)] = &[
    ("counts", "Number of occurrences of the term"),
    ("binary", "1 if the text contains the term"),
    ("tf-idf", "Term frequency times inverse document frequency, each text scaled to length 1"),
];

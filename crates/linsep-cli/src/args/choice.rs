//! Choices by name, as the library spells them.

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
    ("given", "As they stand in the file"),
    ("shuffle-once", "Shuffled once, the same order in every pass"),
    ("shuffle", "Shuffled anew for every pass"),
];

pub(crate) const MISTAKES: &[(&str, &str)] = &[
    ("nonpositive", "Agreement ≤ 0"),
    ("negative", "Agreement < 0: never starts from zero, so it needs --init first or a model"),
];

pub(crate) const SCALES: &[(&str, &str)] = &[
    (
        "auto",
        "What suits each feature: what most rows have to mean 0 and variance 1; of sparse rows, words (0 or 1) as they \
         are, up to 300 others divided by the root mean square of their values, more by their largest magnitude",
    ),
    ("none", "Values as they are"),
    ("max-abs", "Each feature divided by its largest magnitude"),
    ("standard", "Each feature to mean 0 and variance 1 (what most of the sparse rows lack is not centred)"),
    ("unit-rows", "Each row divided by its length"),
];

pub(crate) const FEATURES: &[(&str, &str)] = &[
    ("plain", "Those of the columns, so that the boundary is linear in them"),
    ("splines", "Also bends of each column of numbers: natural cubic splines, linear beyond the outer knots"),
    (
        "pairs",
        "Also products of pairs of columns, words included; of many, those that a plain model's errors show most",
    ),
    ("splines+pairs", "Both"),
];

pub(crate) const MISSING: &[(&str, &str)] = &[
    (
        "auto",
        "A number becomes the mean of its column, and one more feature says that it was missing; a word is a category of \
         its own; rows without a label are left out",
    ),
    ("refuse", "An error that names the cell"),
    ("mean", "Mean of the column; a missing word is left without a category"),
    ("zero", "Zero; a missing word is left without a category"),
    ("drop-row", "The row is left out"),
];

pub(crate) const SHOW: &[(&str, &str)] = &[
    ("label", "The class"),
    ("score", "The decision function; at least 0 means the positive class"),
    ("distance", "The distance to the boundary, in the units of the scaled features where the model scales"),
    (
        "probability",
        "The probability of the positive class; with more than two classes those of all, separated by commas, in the order of \
         their names. For models of logistic regression, of --loss log, or trained with --probabilities",
    ),
];

pub(crate) const METRICS: &[(&str, &str)] = &[
    ("error", "The share of rows predicted wrong"),
    ("balanced-error", "The mean over the classes of that share"),
    ("auc", "The chance that a row of the positive class scores above one of the other"),
    ("log-loss", "The mean of −ln of the probability given to the right class"),
    ("f1", "The harmonic mean of precision and recall; of many classes, the mean over them"),
];

pub(crate) const JUDGINGS: &[(&str, &str)] = &[
    ("auto", "Nested for few rows, aside for many"),
    ("nested", "The whole search again without each of five parts of the rows, judged on that part"),
    ("aside", "A fifth of the rows is kept aside until the choice is made"),
    ("none", "Not at all"),
];

pub(crate) const INPUT_NUMBERS: &[(&str, &str)] = &[
    ("f32", "32 bits, as most programs that run such files have them"),
    ("f64", "64 bits: the values as they are"),
];

pub(crate) const COLUMN_DETAILS: &[(&str, &str)] = &[
    ("none", "The verdict alone"),
    (
        "usual",
        "For at most 16 million cells, and 511 features or, if completely separable, 127; as far as a few seconds go",
    ),
    ("all", "Everything, for data of any size; takes long with many features"),
];

pub(crate) const SEPARATE_BIASES: &[(&str, &str)] = &[
    ("none", "The boundary goes through the origin"),
    (
        "append",
        "A constant coordinate is appended to every row, and its weight counts in the norm, as for train",
    ),
    (
        "free",
        "The boundary may miss the origin at no cost: the margin is half the distance between the convex hulls of the classes",
    ),
];

pub(crate) const TERMS: &[(&str, &str)] = &[
    ("words", "Two or more letters, digits and underscores, in lower case"),
    ("characters", "Characters, with the spaces between words"),
];

pub(crate) const WEIGHTS: &[(&str, &str)] = &[
    ("counts", "How often the text has the term"),
    ("binary", "1 where the text has the term"),
    (
        "tf-idf",
        "How often the text has the term, times more the fewer training rows have it; texts have length 1",
    ),
];

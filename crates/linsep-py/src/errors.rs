//! Errors of the library as exceptions of Python, with settings spelled as parameters: `epochs=`, `bias='none'`.

use crate::registry::estimator;
use linsep::Error;
use linsep::dataset::DatasetError;
use linsep::read::{ReadError, ReadErrorKind};
use linsep::settings::settings_form;
use linsep::spelling::{Mention, spelled};
use linsep::store::StoreError;
use linsep::train::learners;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::io;

/// What a user called: a setting is spelled as a parameter only where that has one of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// An estimator: its parameters, and those of its `fit`.
    Estimator,
    /// `linsep.compare`.
    Compare,
    /// `linsep.tune`, and the estimator that does the same.
    Tune,
    /// `linsep.theory`.
    Theory,
    /// `linsep.separate` and its kin.
    Separate,
    /// `linsep.State`.
    State,
    /// A model: what it says of rows, and its file.
    Model,
    /// `linsep.read`.
    Read,
}

impl Door {
    /// All doors, by name.
    const ALL: &[(&str, Self)] = &[
        ("estimator", Self::Estimator),
        ("compare", Self::Compare),
        ("tune", Self::Tune),
        ("theory", Self::Theory),
        ("separate", Self::Separate),
        ("state", Self::State),
        ("model", Self::Model),
        ("read", Self::Read),
    ];

    /// The names of the parameters, but for the settings that learners share and for their options.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Estimator => &["sample_weight", "warm_start"],
            Self::Compare => &[
                "learners",
                "grid",
                "metric",
                "folds",
                "orders",
                "scale",
                "features",
                "max_pairs",
                "epochs",
                "max_seconds",
                "bias",
                "bias_scale",
                "positive",
                "class_weight",
                "sample_weight",
                "seed",
            ],
            Self::Tune => &[
                "metric",
                "folds",
                "max_seconds",
                "judge",
                "simpler",
                "bias",
                "bias_scale",
                "class_weight",
                "sample_weight",
                "seed",
            ],
            Self::Theory => {
                &["positive", "scale", "bias", "bias_scale", "epochs", "max_seconds", "delta", "seed"]
            }
            Self::Separate => &[
                "positive",
                "classes",
                "pairs",
                "bias",
                "bias_scale",
                "gap",
                "blame",
                "columns",
                "max_seconds",
                "memory",
                "seed",
                "allow_one_sided",
            ],
            Self::State => &[
                "learner",
                "columns",
                "classes",
                "options",
                "bias",
                "bias_scale",
                "init",
                "mistake",
                "class_weight",
                "max_updates",
                "seed",
                "sample_weight",
                "mixing",
                "shards",
                "order",
                "epoch",
            ],
            Self::Model => &["input", "data"],
            Self::Read => READ,
        }
    }

    fn has(self, field: &str) -> bool {
        let is_shared = || settings_form().iter().any(|setting| setting["name"] == field);
        self.parameters().contains(&field) || (self == Self::Estimator && (is_option(field) || is_shared()))
    }
}

/// The parameters of `linsep.read`.
const READ: &[&str] = &[
    "format",
    "label",
    "labels",
    "ignore",
    "keep",
    "missing",
    "columns",
    "na",
    "header",
    "delimiter",
    "encoding",
    "sheet",
    "size",
    "colour",
    "skip_bad",
];

/// Whether a learner has an option of this name.
fn is_option(field: &str) -> bool {
    learners().iter().flat_map(|learner| learner.options).any(|option| option.name == field)
}

/// The name of the parameter of a setting. Weights of rows have the name that scikit-learn uses.
fn parameter(door: Door, field: &str) -> &str {
    match field {
        "weights" => "sample_weight",
        "time" => "max_seconds",
        "column" if door == Door::Read => "columns",
        "learner" if door == Door::Compare => "learners",
        "options" if door == Door::Compare => "grid",
        field => field,
    }
}

/// What users of Python do who are called upon to set what their function has no parameter for.
fn instead(field: &str, value: Option<&str>) -> Option<&'static str> {
    Some(match (field, value) {
        ("classes", Some(_)) => "the rows of these alone",
        ("classes", None) => "the rows of the others alone",
        ("positive", _) => "y == CLASS",
        ("ignore", _) => "X without the column",
        ("holdout", _) => "a split into training and test rows",
        ("scale", _) => "a scaler of scikit-learn",
        // What was found is saved by a method.
        ("output", _) => "save(path)",
        _ => return None,
    })
}

/// The names of a list, each in quotes: `'svm', 'logistic' and 'sgd'`.
fn quoted(names: &str) -> String {
    let words = names.split(' ').map(|word| match word.trim_end_matches(',') {
        "and" | "or" => word.to_string(),
        name => word.replace(name, &format!("'{name}'")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A text of the library, with settings spelled as parameters. One that the function has no parameter for is named as what has it:
/// another function, or the command line.
pub fn in_python(door: Door, text: &str) -> String {
    spelled(text, |Mention { field: flag, value }| {
        let field = parameter(door, flag);
        let keyword = || match value {
            Some(value) if value.parse::<f64>().is_ok() => format!("{field}={value}"),
            Some(value) => format!("{field}='{value}'"),
            None => format!("{field}="),
        };
        match value {
            // A learner is chosen by its estimator.
            Some(names) if field == "learner" && door != Door::State && door != Door::Compare => {
                let words = names.split(' ').map(|word| {
                    let name = word.trim_end_matches(',');
                    estimator(name).map_or(word.to_string(), |estimator| word.replace(name, estimator))
                });
                words.collect::<Vec<_>>().join(" ")
            }
            Some(names) if field == "learners" && door == Door::Compare => {
                format!("learners=[{}]", quoted(names))
            }
            Some(names) if field == "learner" => format!("learner={}", quoted(names)),
            Some("MODEL") if field == "init" && door == Door::Estimator => "warm_start=True".to_string(),
            _ if door.has(field) => keyword(),
            _ if door == Door::Compare && is_option(field) => match value {
                Some(value) if value.parse::<f64>().is_ok() => format!("grid={{'{field}': [{value}]}}"),
                Some(value) => format!("grid={{'{field}': ['{value}']}}"),
                None => format!("{field} in grid="),
            },
            _ if door == Door::State && is_option(field) => match value {
                Some(value) if value.parse::<f64>().is_ok() => format!("options={{'{field}': {value}}}"),
                Some(value) => format!("options={{'{field}': '{value}'}}"),
                None => format!("{field} in options="),
            },
            _ => match instead(field, value) {
                Some(words) => words.to_string(),
                None if READ.contains(&field) => format!("{} of linsep.read", keyword()),
                None => {
                    let value = value.map_or_else(String::new, |value| format!(" {value}"));
                    format!("--{}{value} on the command line", flag.replace('_', "-"))
                }
            },
        }
    })
}

/// The names of the doors, with the parameters that each has beside settings that learners share and their options.
#[pyfunction]
pub fn doors() -> Vec<(&'static str, &'static [&'static str])> {
    Door::ALL.iter().map(|&(name, door)| (name, door.parameters())).collect()
}

/// A text of the library as this door spells it.
#[pyfunction]
#[pyo3(name = "spelled")]
pub fn spelled_at(door: &str, text: &str) -> PyResult<String> {
    let found = Door::ALL.iter().find(|(name, _)| *name == door);
    found
        .map(|&(_, door)| in_python(door, text))
        .ok_or_else(|| PyValueError::new_err(format!("no door is called {door}")))
}

/// The exception for an error.
pub fn exception(door: Door, error: Error) -> PyErr {
    let help = match error.kind() {
        // A frame is filled by the user, or as its model was learned.
        Error::Read(ReadError { kind, .. }) if door != Door::Read && is_gap(kind) => {
            Some("fill it in, or leave the row out".to_string())
        }
        _ => error.help().map(|help| in_python(door, help)),
    };
    let text = told(door, &error) + &help.map_or(String::new(), |help| format!("; {help}"));
    match error.kind() {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Memory { .. } | Error::Dataset(DatasetError::Memory { .. }) => PyMemoryError::new_err(text),
        Error::Write { source, .. }
        | Error::Store(StoreError::Read { source, .. })
        | Error::Read(ReadError { kind: ReadErrorKind::Io(source), .. }) => of_system(source, text),
        _ => PyValueError::new_err(text),
    }
}

fn is_gap(kind: &ReadErrorKind) -> bool {
    matches!(kind, ReadErrorKind::MissingCell { .. } | ReadErrorKind::MissingForModel { .. })
}

/// The exception for a failure of the system: Python chooses `FileNotFoundError` and its kin by the number.
fn of_system(source: &io::Error, text: String) -> PyErr {
    match source.raw_os_error() {
        Some(number) => PyOSError::new_err((number, text)),
        None => PyOSError::new_err(text),
    }
}

/// The text of an error. Settings that the text does not name are named before it.
fn told(door: Door, error: &Error) -> String {
    match error {
        Error::Settings(settings) => {
            let text = in_python(door, &settings.problem);
            let field = parameter(door, settings.field);
            if !door.has(field) || text.contains(&format!("{field}=")) {
                text
            } else {
                format!("{field}=: {text}")
            }
        }
        Error::Located { place, error } => format!("{place}: {}", told(door, error)),
        _ => in_python(door, &error.to_string()),
    }
}

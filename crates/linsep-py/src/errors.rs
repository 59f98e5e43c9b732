//! Errors of the library as exceptions of Python, with settings spelled as parameters: `epochs=`, `bias='none'`.

use crate::registry::estimator;
use linsep::Error;
use linsep::dataset::DatasetError;
use linsep::read::{ReadError, ReadErrorKind};
use linsep::spelling::{Mention, spelled};
use linsep::store::StoreError;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use std::io;

/// The name of the parameter of a setting. Weights of rows have the name that scikit-learn uses.
fn parameter(field: &str) -> &str {
    match field {
        "weights" => "sample_weight",
        "time" => "max_seconds",
        field => field,
    }
}

/// A text of the library, with settings spelled as parameters.
pub fn in_python(text: &str) -> String {
    spelled(text, |Mention { field, value }| {
        let field = parameter(field);
        match value {
            // A learner is chosen by its estimator.
            Some(names) if field == "learner" => {
                let words = names.split(' ').map(|word| {
                    let name = word.trim_end_matches(',');
                    estimator(name).map_or(word.to_string(), |estimator| word.replace(name, estimator))
                });
                words.collect::<Vec<_>>().join(" ")
            }
            // What was found is saved by a method.
            Some(_) if field == "output" => "save(path)".to_string(),
            Some(value) if value.parse::<f64>().is_ok() => format!("{field}={value}"),
            Some(value) => format!("{field}='{value}'"),
            None => format!("{field}="),
        }
    })
}

/// The exception for an error.
pub fn exception(error: Error) -> PyErr {
    let help = error.help().map_or(String::new(), |help| format!("; {}", in_python(help)));
    let text = format!("{}{help}", told(&error));
    match error.kind() {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Memory { .. } | Error::Dataset(DatasetError::Memory { .. }) => PyMemoryError::new_err(text),
        Error::Write { source, .. }
        | Error::Store(StoreError::Read { source, .. })
        | Error::Read(ReadError { kind: ReadErrorKind::Io(source), .. }) => of_system(source, text),
        _ => PyValueError::new_err(text),
    }
}

/// The exception for a failure of the system: Python chooses `FileNotFoundError` and its kin by the number.
fn of_system(source: &io::Error, text: String) -> PyErr {
    match source.raw_os_error() {
        Some(number) => PyOSError::new_err((number, text)),
        None => PyOSError::new_err(text),
    }
}

/// The text of an error. Settings that the text does not name are named before it.
fn told(error: &Error) -> String {
    match error {
        Error::Settings(settings) => {
            let text = in_python(&settings.problem);
            let field = parameter(settings.field);
            if text.contains(&format!("{field}=")) { text } else { format!("{field}=: {text}") }
        }
        Error::Located { place, error } => format!("{place}: {}", told(error)),
        _ => in_python(&error.to_string()),
    }
}

//! Jobs: a specification as JSON and rows in, a record as JSON out.

use crate::errors::{Door, in_python};
use crate::model::Model;
use crate::rows::Rows;
use crate::watch::{Seen, watched};
use linsep::job::{CompareSpec, DataSpec, SeparateSpec, TheorySpec, TrainSpec, TuneSpec, VerifySpec};
use linsep::report::{
    self, Block, SeparateRecord, TrainRecord, TuneRecord, VerifyRecord, describe_no_model, no_model_help,
};
use linsep::separate::{CertificateText, parse_certificate};
use linsep::spelling::{needed, spell_record};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The value of a JSON text. Errors name the field.
pub fn parsed<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    from_value(value, &Map::new())
}

/// A specification of a job on these rows.
fn spec_of<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let mut value: Value =
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut always = Map::new();
    let data = value.as_object_mut().and_then(|map| map.remove("data"));
    always.insert("data".to_string(), data.unwrap_or_else(|| json!({"source": "-"})));
    from_value(value, &always)
}

fn from_value<T: DeserializeOwned>(value: Value, always: &Map<String, Value>) -> PyResult<T> {
    let Value::Object(fields) = value else { return Err(PyValueError::new_err("expected a dict")) };
    let read = |fields: Map<String, Value>| {
        let all: Map<String, Value> = always.clone().into_iter().chain(fields).collect();
        serde_json::from_value::<T>(Value::Object(all))
    };
    read(fields.clone()).map_err(|error| {
        // Read one by one, the fields tell which of them is wrong.
        for (name, value) in fields {
            if let (Value::Object(inner), "csv" | "array" | "pictures") = (&value, name.as_str()) {
                // The options of a kind of file are parameters of their own.
                for (option, value) in inner {
                    let alone = json!({ option: value });
                    if let Err(error) = read(Map::from_iter([(name.clone(), alone)])) {
                        return PyValueError::new_err(format!(
                            "{option}={}: {}",
                            shown(value),
                            wanted(&error)
                        ));
                    }
                }
            }
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            if let Err(error) = read(alone) {
                return PyValueError::new_err(format!("{name}={}: {}", shown(&value), wanted(&error)));
            }
        }
        PyValueError::new_err(wanted(&error))
    })
}

/// A value as Python writes it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}").replace('"', "'"),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_string(),
        Value::Null => "None".to_string(),
        other => other.to_string(),
    }
}

/// The expected kind of a value, in the words of Python.
fn wanted(error: &serde_json::Error) -> String {
    needed(error).replace("a map", "a dict")
}

/// The same data specification, on these rows.
fn on(rows: &Rows, data: DataSpec) -> DataSpec {
    DataSpec { source: rows.source(), ..data }
}

/// A record with the notes of its job.
pub fn record(door: Door, record: &impl Serialize, seen: &Seen) -> PyResult<String> {
    let mut value = serde_json::to_value(record).map_err(|error| PyValueError::new_err(error.to_string()))?;
    spell_record(&mut value, &|text| in_python(door, text));
    if let Value::Object(fields) = &mut value {
        fields.insert("notes".to_string(), json!(seen.notes));
        fields.insert("history".to_string(), json!(seen.history));
    }
    Ok(value.to_string())
}

/// A report as plain text. Jobs that can be run next are said in the words of each front end: here neither they, nor what leads
/// to them, are.
pub fn text_of(door: Door, blocks: &[Block]) -> String {
    let leads_to_job = |k: usize| match (&blocks[k], blocks.get(k + 1)) {
        (Block::Item(_) | Block::Text(_) | Block::Facts(_), Some(Block::Job(_))) => true,
        (Block::Heading(_), Some(Block::Item(_))) => matches!(blocks.get(k + 2), Some(Block::Job(_))),
        _ => false,
    };
    let mut text = String::new();
    for block in (0..blocks.len()).filter(|&k| !leads_to_job(k)).map(|k| &blocks[k]) {
        match block {
            Block::Facts(facts) | Block::Details(facts) => {
                for (name, fact) in facts {
                    text += &format!("{name:<10}{fact}\n");
                }
            }
            Block::Heading(heading) => text += &format!("\n{heading}\n"),
            Block::Paragraph { indent, text: paragraph } => {
                text += &format!("{}{paragraph}\n", " ".repeat(*indent));
            }
            Block::Item(item) => text += &format!("- {item}\n"),
            Block::Text(lines) => text += lines,
            _ => {}
        }
    }
    in_python(door, &text)
}

/// Trains, from zero or from the weights of a model: the model if there is one, the record, the report, and the rows that led to updates.
#[pyfunction]
#[pyo3(signature = (rows, spec, keep_updates, start=None))]
pub fn train(
    py: Python<'_>,
    rows: &Rows,
    spec: &str,
    keep_updates: bool,
    start: Option<&Model>,
) -> PyResult<(Model, String, String, Vec<u32>)> {
    let mut spec: TrainSpec = spec_of(spec)?;
    spec.data = on(rows, spec.data);
    let start = start.map(|start| start.model.clone());
    let (trained, mut seen) =
        watched(py, Door::Estimator, keep_updates, |watch| spec.run_from(start, watch))?;
    if !trained.status.has_model() {
        let model = &trained.model;
        let reason = describe_no_model(model).unwrap_or_else(|| "there is no model".to_string());
        let help = no_model_help(&trained);
        return Err(PyValueError::new_err(in_python(Door::Estimator, &format!("{reason}; {help}"))));
    }
    let record = record(Door::Estimator, &TrainRecord::from(&trained), &seen)?;
    let text = text_of(Door::Estimator, &report::train_report(&trained));
    let updated = std::mem::take(&mut seen.updated);
    Ok((Model::from(trained.model), record, text, updated))
}

/// Searches for the best way to learn: the model, the record and the report.
#[pyfunction]
pub fn tune(py: Python<'_>, rows: &Rows, spec: &str) -> PyResult<(Model, String, String)> {
    let mut spec: TuneSpec = spec_of(spec)?;
    spec.data = on(rows, spec.data);
    let (found, seen) = watched(py, Door::Tune, false, |watch| spec.run(watch))?;
    if !found.trained.status.has_model() {
        return Err(PyValueError::new_err("the search ended without a model"));
    }
    let record = record(Door::Tune, &TuneRecord::from(&found), &seen)?;
    let text = text_of(Door::Tune, &report::tune_report(&found));
    Ok((Model::from(found.trained.model), record, text))
}

/// Decides about separation: the record, the report, and the certificate of two sides.
#[pyfunction]
pub fn separate(py: Python<'_>, rows: &Rows, spec: &str) -> PyResult<(String, String, Option<String>)> {
    let mut spec: SeparateSpec = spec_of(spec)?;
    spec.data = on(rows, spec.data);
    let (separated, seen) = watched(py, Door::Separate, false, |watch| spec.run(watch))?;
    let certificate = match separated.decided.as_slice() {
        [one] => one.separation.certificate.as_ref().map(|text| CertificateText(text).to_string()),
        _ => None,
    };
    let mut record: Value =
        serde_json::from_str(&record(Door::Separate, &SeparateRecord::from(&separated), &seen)?)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
    if let Value::Object(fields) = &mut record {
        fields.remove("proof");
    }
    Ok((record.to_string(), text_of(Door::Separate, &report::separate_report(&separated)), certificate))
}

/// Checks a certificate: the record and the report.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    certificate: &str,
    rows: &Rows,
    allow_one_sided: bool,
) -> PyResult<(String, String)> {
    let certificate = parse_certificate(certificate).map_err(|error| {
        let (line, column, reason) = (error.line, error.column, error.reason);
        PyValueError::new_err(format!("this is not a certificate: line {line}, column {column}: {reason}"))
    })?;
    let data = on(rows, DataSpec::default());
    let spec = VerifySpec { data, allow_one_sided, ..VerifySpec::default() };
    let (verified, seen) = watched(py, Door::Separate, false, |watch| spec.run_on(certificate, watch))?;
    let record = record(Door::Separate, &VerifyRecord::from(&verified), &seen)?;
    Ok((record, text_of(Door::Separate, &report::verify_report(&verified))))
}

/// Sets learners side by side: the record and the report.
#[pyfunction]
pub fn compare(py: Python<'_>, rows: &Rows, spec: &str) -> PyResult<(String, String)> {
    let mut spec: CompareSpec = spec_of(spec)?;
    spec.data = on(rows, spec.data);
    let (comparison, seen) = watched(py, Door::Compare, false, |watch| spec.run(watch))?;
    Ok((
        record(Door::Compare, &comparison, &seen)?,
        text_of(Door::Compare, &report::compare_report(&comparison, &rows.name, &spec)),
    ))
}

/// Every statement of the theory on the rows: the record and the report.
#[pyfunction]
pub fn theory(py: Python<'_>, rows: &Rows, spec: &str) -> PyResult<(String, String)> {
    let mut spec: TheorySpec = spec_of(spec)?;
    spec.data = on(rows, spec.data);
    let (found, seen) = watched(py, Door::Theory, false, |watch| spec.run(watch))?;
    Ok((record(Door::Theory, &found, &seen)?, text_of(Door::Theory, &report::theory_report(&found, &spec))))
}

//! A model as ONNX, and what inputs of 32 bits change.

use crate::errors::{Door, exception};
use crate::jobs::parsed;
use crate::model::{Coefficients, Model};
use crate::rows::Rows;
use crate::table::Table;
use crate::watch::watched;
use linsep::Error;
use linsep::job::RoundingCheck;
use linsep::model::InputNumbers;
use linsep::numbers::{self, Rounding};
use linsep::observe::{Observer, Progress};
use linsep::read::{Labels, ReadOptions, RowStream, Source};
use linsep::store::write_atomically;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::PathBuf;

/// Rows that are looked at before Python is asked about Ctrl-C.
const STRIDE: usize = 1 << 12;

/// The bytes of an ONNX file; and its inputs, its outputs and the classes, as JSON. `order` has the outcomes of the model in the
/// order of scores and probabilities, if not that of the model.
#[pyfunction]
#[pyo3(signature = (model, input, order=None))]
pub fn onnx<'py>(
    py: Python<'py>,
    model: &Model,
    input: &str,
    order: Option<Vec<usize>>,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let numbers = match input {
        "f32" => InputNumbers::F32,
        "f64" => InputNumbers::F64,
        other => return Err(PyValueError::new_err(format!("input='{other}': expected 'f32' or 'f64'"))),
    };
    let model = &model.model;
    let outcomes = model.classes.outcomes();
    let order = order.unwrap_or_else(|| (0..outcomes.len()).collect());
    let file = py
        .detach(|| model.to_onnx_in_order(numbers, &order))
        .map_err(|error| exception(Door::Model, error.into()))?;
    let classes: Vec<&str> = order.iter().map(|&outcome| outcomes[outcome].as_str()).collect();
    let about = json!({"inputs": file.inputs, "outputs": file.outputs, "classes": classes});
    Ok((PyBytes::new(py, &file.bytes), about.to_string()))
}

/// The weights and the intercept of each score, for rows as they were scaled; none where the decision function has no such form.
#[pyfunction]
pub fn scaled_weights<'py>(py: Python<'py>, model: &Model) -> PyResult<Option<Coefficients<'py>>> {
    let Some(thetas) = model.model.learned.thetas() else { return Ok(None) };
    let (scores, columns) = (thetas.len(), thetas.first().map_or(0, |theta| theta.weights.len()));
    let both = thetas.into_iter().map(|theta| (theta.weights.clone(), theta.intercept()));
    let (weights, intercepts): (Vec<_>, Vec<_>) = both.unzip();
    let weights = PyArray1::from_vec(py, weights.concat()).reshape([scores, columns])?;
    Ok(Some((weights, PyArray1::from_vec(py, intercepts))))
}

/// The effect of rounding the numbers of rows to 32 bits, as JSON; rows count from 0.
#[pyfunction]
pub fn rounding(py: Python<'_>, model: &Model, rows: &Rows) -> PyResult<String> {
    let data = rows.data();
    let (found, expected) = (data.columns(), model.model.recipe.columns.features());
    if found != expected {
        let problem = format!("data has {found} features, but the model expects {expected}");
        return Err(PyValueError::new_err(problem));
    }
    let (rounding, _) = watched(py, Door::Model, false, |watch| {
        let mut check = RoundingCheck::new(&model.model);
        for i in 0..data.len() {
            check.look_at(data.row(i), Some(i as u64));
            let progress = Progress::Judging { rows: i as u64 + 1, total: data.len() as u64 };
            if (i + 1).is_multiple_of(STRIDE) && watch.progress(&progress).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(check.found)
    })?;
    Ok(json!(rounding).to_string())
}

/// The same for a table, read by the recipe of the model.
#[pyfunction]
pub fn rounding_of_table(py: Python<'_>, model: &Model, table: &Table, options: &str) -> PyResult<String> {
    let model = &model.model;
    let mut options: ReadOptions = parsed(options)?;
    options.schema = Some(model.recipe.columns.clone());
    options.labels = Labels::Ignored;
    let source = Source::Shared("data".to_string(), table.text.clone());
    let (rounding, _) = watched(py, Door::Model, false, |watch| {
        let mut stream = RowStream::open(&source, &options)?;
        let mut check = RoundingCheck::new(model);
        while let Some(batch) = stream.next_batch()? {
            for i in 0..batch.len() {
                let row = check.found.rows;
                check.look_at(batch.row(i), Some(row));
            }
            let ((bytes, total), rows) = (stream.bytes(), check.found.rows);
            if watch.progress(&Progress::Reading { bytes, total, rows }).is_break() {
                return Err(Error::Interrupted);
            }
        }
        if check.found.rows == 0 { Err(stream.no_rows()) } else { Ok(check.found) }
    })?;
    Ok(json!(rounding).to_string())
}

/// A number as reports print it: four digits, rounded up or down, so that a bound stays a bound.
#[pyfunction]
pub fn rounded(number: f64, up: bool) -> String {
    numbers::rounded(number, if up { Rounding::Up } else { Rounding::Down })
}

/// Writes a file, whole or not at all.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| write_atomically(&path, |out| out.write_all(content)))
        .map_err(|error| exception(Door::Model, error))
}

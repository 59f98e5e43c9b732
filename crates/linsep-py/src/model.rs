//! A trained model: labels, scores and probabilities of rows, its weights, and its file.

use crate::errors::{Door, exception};
use crate::jobs::{parsed, record, text_of};
use crate::rows::{Rows, Weights, kind_name, weights_of};
use crate::table::Table;
use crate::watch::{Watch, watched};
use linsep::Error;
use linsep::Row;
use linsep::dataset::Dataset;
use linsep::features::{RecipeBuffer, Schema};
use linsep::job::{DataSpec, EvaluateSpec, Evaluated};
use linsep::model::{Explainer, Predictor, RocPoint, Times, roc};
use linsep::observe::{Observer, Progress};
use linsep::read::{Labels, ReadOptions, RowStream, Source};
use linsep::report::{self, EvaluateRecord};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A trained classifier.
#[pyclass(frozen, module = "linsep._engine")]
pub struct Model {
    pub(crate) model: linsep::Model,
}

impl From<linsep::Model> for Model {
    fn from(model: linsep::Model) -> Self {
        Self { model }
    }
}

/// The weights of each score, and the intercepts.
pub(crate) type Coefficients<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// The kind of output for rows.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// The place of the class, as a number.
    Labels,
    /// The score of two sides, or of each class.
    Scores,
    /// The probability of each class.
    Probabilities,
}

/// Rows that are predicted before Python is asked about Ctrl-C: at first, and at most.
const FIRST_STRIDE: usize = 1 << 8;
const STRIDE: usize = 1 << 15;
/// How long that may take, about.
const MOMENT: Duration = Duration::from_millis(100);

#[pymethods]
impl Model {
    /// Opens a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let place = path.display().to_string();
        let loaded = py.detach(|| linsep::Model::load(&path));
        loaded.map(Self::from).map_err(|error| exception(Door::Model, error.at(place)))
    }

    /// The model in the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        linsep::Model::from_bytes(bytes).map(Self::from).map_err(|error| exception(Door::Model, error.into()))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            py.detach(|| self.model.to_bytes()).map_err(|error| exception(Door::Model, error.into()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Saves it, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(&path)).map_err(|error| exception(Door::Model, error))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    /// The name of its learner.
    #[getter]
    fn learner(&self) -> &'static str {
        self.model.settings.learner.name()
    }

    /// The names that predictions give: for two sides, the negative one first.
    #[getter]
    fn outcomes(&self) -> Vec<String> {
        self.model.classes.outcomes()
    }

    /// Whether it tells two sides apart by one score.
    #[getter]
    fn two_sides(&self) -> bool {
        self.model.classes.pair().is_some()
    }

    /// Whether it has probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.calibrated().is_some()
    }

    /// The columns of the table that it was trained on, each with its name and kind; none for an array.
    #[getter]
    fn columns(&self) -> Option<Vec<(String, &'static str)>> {
        match &self.model.recipe.columns {
            Schema::Table { columns, .. } => {
                Some(columns.iter().map(|column| (column.name.clone(), kind_name(&column.kind))).collect())
            }
            _ => None,
        }
    }

    /// How many features a row has before the expansion.
    #[getter]
    fn inputs(&self) -> usize {
        self.model.recipe.columns.features()
    }

    /// The names of its features, after the expansion.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        (0..self.model.recipe.features()).map(|j| self.model.recipe.feature_name(j)).collect()
    }

    /// The weights and the intercept for rows as read, for each score; none where the decision function has no such form.
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Option<Coefficients<'py>>> {
        let scores = self.scores_per_row();
        let linear = self.model.learned.thetas().is_some();
        let units: Option<Vec<_>> = (0..scores).map(|outcome| self.model.in_units_of(outcome)).collect();
        let Some(units) = units.filter(|_| linear) else { return Ok(None) };
        let columns = units.first().map_or(0, |units| units.weights.len());
        let intercepts = units.iter().map(|units| units.intercept).collect();
        let weights: Vec<f64> = units.into_iter().flat_map(|units| units.weights).collect();
        let weights = PyArray1::from_vec(py, weights).reshape([scores, columns])?;
        Ok(Some((weights, PyArray1::from_vec(py, intercepts))))
    }

    /// What it consists of, as JSON: with so many of its weights, or all of them, and with the effects of columns if they are asked for.
    #[pyo3(signature = (top=None, effects=false))]
    fn record(&self, top: Option<usize>, effects: bool) -> String {
        report::inspect_record(&self.model, top.unwrap_or(usize::MAX), effects).to_string()
    }

    /// The evidence about the run and its data, as JSON.
    fn evidence(&self) -> PyResult<String> {
        serde_json::to_string(&self.model.evidence).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Why each row is given its class, as JSON; classes are places among the outcomes.
    fn explain(&self, py: Python<'_>, rows: &Rows) -> PyResult<String> {
        let data = rows.data();
        self.check_width(data)?;
        let (explained, _) = watched(py, Door::Model, false, |watch| {
            let mut explainer = Explainer::new(&self.model);
            let mut explained = Vec::new();
            for i in 0..data.len() {
                explained.push(explainer.explain(data.row(i)));
                let progress = Progress::Judging { rows: i as u64 + 1, total: data.len() as u64 };
                if watch.progress(&progress).is_break() {
                    return Err(Error::Interrupted);
                }
            }
            Ok(explained)
        })?;
        Ok(json!(explained).to_string())
    }

    /// Judges it on labelled rows: the record, the report, and for two sides with rows of both the thresholds, false and true positive
    /// rates of the ROC curve.
    fn evaluate(&self, py: Python<'_>, rows: &Rows) -> PyResult<(String, String, [Vec<f64>; 3])> {
        self.check_width(rows.data())?;
        let data = DataSpec { source: rows.source(), ..DataSpec::default() };
        let spec = EvaluateSpec { data, ..EvaluateSpec::default() };
        let ((evaluated, judged), seen) =
            watched(py, Door::Model, false, |watch| spec.run_with_rows(&self.model, watch))?;
        let roc = match &evaluated {
            Evaluated::Pair { .. } => {
                let scores: Vec<f64> = judged.iter().map(|row| row.score).collect();
                let signs: Vec<i8> = judged.iter().map(|row| if row.truth == 1 { 1 } else { -1 }).collect();
                let times: Vec<u64> = judged.iter().map(|row| row.times).collect();
                roc(&scores, &signs, Times::each(&times))
            }
            Evaluated::Many { .. } => Vec::new(),
        };
        let of = |part: fn(&RocPoint) -> f64| roc.iter().map(part).collect();
        let record = record(Door::Model, &EvaluateRecord::from(&evaluated), &seen)?;
        let text = text_of(Door::Model, &report::evaluate_report(&evaluated));
        Ok((
            record,
            text,
            [
                of(|point| point.threshold),
                of(|point| point.false_positives),
                of(|point| point.true_positives),
            ],
        ))
    }

    /// A table as rows for this model, read by its recipe.
    #[pyo3(signature = (table, options, weights=None))]
    fn read_table(
        &self,
        py: Python<'_>,
        table: &Table,
        options: &str,
        weights: Weights<'_>,
    ) -> PyResult<Rows> {
        let mut options: ReadOptions = parsed(options)?;
        options.schema = Some(self.model.recipe.columns.clone());
        let source = Source::Shared("X".to_string(), table.text.clone());
        Rows::read_from(py, Door::Model, &source, &options, weights_of(weights)?, "X")
    }

    /// The result of the run, in sentences: name and text of each.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let (evidence, settings) = (&self.model.evidence, &self.model.settings);
        let mut facts = vec![
            ("Learner", report::describe_settings(settings)),
            ("Result", report::describe_end(evidence)),
            ("Margin", report::describe_margin(evidence, &self.model.recipe)),
        ];
        facts.extend(report::describe_bound(evidence, settings).map(|bound| ("Bound", bound)));
        facts.extend(report::describe_detail(evidence, settings).map(|detail| ("Detail", detail)));
        facts.push(("Meaning", report::explain(evidence, settings)));
        facts
            .into_iter()
            .map(|(name, text)| (name, crate::errors::in_python(Door::Estimator, &text)))
            .collect()
    }

    /// How its run ended at a limit that it would not have needed, and the parameter that limits it; none of a run that is finished.
    #[getter]
    fn unfinished(&self) -> Option<(String, &'static str)> {
        report::describe_unfinished(&self.model)
    }

    /// The place of the class of each row.
    fn labels<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let labels = self.predicted(py, rows, Asked::Labels)?;
        Ok(PyArray1::from_vec(py, labels.into_iter().map(|label| label as u32).collect()))
    }

    /// The scores: one for each row of two sides, otherwise one for each class.
    fn scores<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scores = self.predicted(py, rows, Asked::Scores)?;
        shaped(py, scores, self.scores_per_row())
    }

    /// The probability of each class.
    fn probabilities<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if self.model.calibrated().is_none() {
            let problem = "this model has no probabilities: train it with probabilities=True";
            return Err(PyValueError::new_err(problem));
        }
        let outcomes = self.model.classes.outcomes().len();
        shaped(py, self.predicted(py, rows, Asked::Probabilities)?, outcomes)
    }

    /// The same for a table, read by the recipe of the model: `labels`, `scores` or `probabilities`.
    fn of_table<'py>(
        &self,
        py: Python<'py>,
        asked: &str,
        table: &Table,
        options: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (asked, width) = match asked {
            "labels" => (Asked::Labels, 1),
            "scores" => (Asked::Scores, self.scores_per_row()),
            _ => (Asked::Probabilities, self.model.classes.outcomes().len()),
        };
        let mut options: ReadOptions = parsed(options)?;
        options.schema = Some(self.model.recipe.columns.clone());
        options.labels = Labels::Ignored;
        let source = Source::Shared("X".to_string(), table.text.clone());
        let (numbers, _) = watched(py, Door::Model, false, |watch| {
            let mut stream = RowStream::open(&source, &options)?;
            let mut numbers = Vec::new();
            while let Some(batch) = stream.next_batch()? {
                self.predict_into(&mut numbers, asked, batch.len(), |i| batch.row(i), watch)?;
            }
            if numbers.is_empty() { Err(stream.no_rows()) } else { Ok(numbers) }
        })?;
        shaped(py, numbers, width)
    }
}

/// Numbers in rows of so many.
fn shaped(py: Python<'_>, numbers: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = numbers.len() / width;
    PyArray1::from_vec(py, numbers).reshape([rows, width])
}

impl Model {
    fn scores_per_row(&self) -> usize {
        self.model.learned.parts().len()
    }

    fn check_width(&self, data: &Dataset) -> PyResult<()> {
        let (found, expected) = (data.columns(), self.model.recipe.columns.features());
        if found == expected {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("X has {found} features, but the model expects {expected}")))
    }

    fn predicted(&self, py: Python<'_>, rows: &Rows, asked: Asked) -> PyResult<Vec<f64>> {
        let data = rows.data();
        self.check_width(data)?;
        let (numbers, _) = watched(py, Door::Model, false, |watch| {
            let mut numbers = Vec::new();
            self.predict_into(&mut numbers, asked, data.len(), |i| data.row(i), watch)?;
            Ok(numbers)
        })?;
        Ok(numbers)
    }

    /// Predicts rows in their order, on all threads, and appends what is asked of each.
    fn predict_into<'r>(
        &self,
        numbers: &mut Vec<f64>,
        asked: Asked,
        rows: usize,
        row: impl Fn(usize) -> Row<'r> + Sync,
        watch: &mut Watch,
    ) -> Result<(), Error> {
        let predictor = match asked {
            Asked::Probabilities => Predictor::new(&self.model).with_probabilities(),
            _ => Predictor::new(&self.model),
        };
        let (mut start, mut stride) = (0, FIRST_STRIDE);
        while start < rows {
            let (end, clock) = (rows.min(start + stride), Instant::now());
            let chunks = (start..end).into_par_iter().with_min_len(stride.div_ceil(32)).fold(
                || (Vec::new(), None),
                |(mut numbers, tools), i| {
                    let (mut predictor, mut buffer) =
                        tools.unwrap_or_else(|| (predictor.clone(), RecipeBuffer::default()));
                    self.predict_row(&mut numbers, asked, row(i), &mut predictor, &mut buffer);
                    (numbers, Some((predictor, buffer)))
                },
            );
            let parts: Vec<Vec<f64>> = chunks.map(|(numbers, _)| numbers).collect();
            parts.into_iter().for_each(|part| numbers.extend(part));
            let progress = Progress::Judging { rows: end as u64, total: rows as u64 };
            if end < rows && watch.progress(&progress).is_break() {
                return Err(Error::Interrupted);
            }
            // A row may be compared with thousands of others, or with one: as many as take a moment.
            match clock.elapsed() {
                short if short < MOMENT / 4 => stride = (2 * stride).min(STRIDE),
                long if long > MOMENT => stride = (stride / 2).max(1),
                _ => {}
            }
            start = end;
        }
        Ok(())
    }

    fn predict_row(
        &self,
        numbers: &mut Vec<f64>,
        asked: Asked,
        row: Row<'_>,
        predictor: &mut Predictor<'_>,
        buffer: &mut RecipeBuffer,
    ) {
        match (asked, self.model.learned.is_of_classes()) {
            (Asked::Scores, true) => {
                let row = row.truncated(self.model.recipe.columns.features());
                let row = self.model.recipe.apply(row, buffer);
                numbers.extend(self.model.learned.parts().iter().map(|learned| learned.score(row)));
            }
            (Asked::Scores, _) => numbers.push(predictor.predict(row).score),
            (Asked::Labels, _) => numbers.push(predictor.predict(row).outcome as f64),
            (Asked::Probabilities, _) => {
                predictor.predict(row);
                numbers.extend_from_slice(predictor.class_probabilities());
            }
        }
    }
}

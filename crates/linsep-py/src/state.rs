//! The state of a learner that goes row by row, for programs that train in parts: on a stream, in processes, in a cluster.

use crate::errors::{Door, exception};
use crate::jobs::parsed;
use crate::model::Model;
use crate::rows::Rows;
use crate::watch::watched;
use linsep::Settings;
use linsep::features::Schema;
use linsep::job::BiasSpec;
use linsep::observe::{Observer, Progress};
use linsep::train::{ClassWeight, Example, Init, Learner, MistakeRule, Mixing, Options, Order, occurrences};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The exception for an error of a state.
fn of_state(error: linsep::Error) -> PyErr {
    exception(Door::State, error)
}

/// Rows that are learned from before Python is asked about Ctrl-C.
const STRIDE: usize = 1 << 14;

/// The settings of a state, as far as they were said.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StateSpec {
    learner: Option<String>,
    options: Options,
    epochs: Option<u64>,
    max_updates: Option<u64>,
    seed: Option<u64>,
    order: Option<Order>,
    bias: BiasSpec,
    init: Option<String>,
    mistake: Option<MistakeRule>,
    class_weight: ClassWeight,
    shards: Option<usize>,
    mixing: Option<Mixing>,
}

impl StateSpec {
    fn settings(self) -> Result<Settings, linsep::Error> {
        let usual = Settings::default();
        let learner = match &self.learner {
            Some(name) => Learner::named(name)?,
            None => usual.learner,
        };
        let learner = learner.with_options(&self.options)?;
        let init = match self.init.as_deref() {
            Some("first") => Init::First,
            _ => Init::Zero,
        };
        let settings = Settings {
            learner,
            epochs: self.epochs.unwrap_or(1),
            max_updates: self.max_updates,
            max_seconds: None,
            order: self.order.unwrap_or(Order::Given),
            seed: self.seed.unwrap_or(0),
            bias: self.bias.resolve(usual.bias)?,
            init,
            mistake: self.mistake.unwrap_or_default(),
            positive: None,
            class_weight: self.class_weight,
            shards: self.shards.unwrap_or(1),
            mixing: self.mixing.unwrap_or_default(),
        };
        if !learner.is_online() {
            let problem =
                format!("a state is for learners that process one row at a time, not for {}", learner.name());
            return Err(linsep::SettingsError::new("learner", problem).into());
        }
        settings.validate()?;
        Ok(settings)
    }
}

/// The state of a learner that processes one row at a time. Threads may share it: each call waits for the one before.
#[pyclass(frozen, module = "linsep._engine")]
pub struct State {
    state: Mutex<linsep::State>,
    /// The number that the next fork gets if it is given none.
    next_shard: AtomicU64,
}

impl State {
    fn of(state: linsep::State) -> Self {
        Self { state: Mutex::new(state), next_shard: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, linsep::State> {
        // A state whose thread panicked is as good as after any other row.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy, made while other threads of Python go on: one of them may hold the lock and wait for the interpreter.
    fn copied(&self, py: Python<'_>) -> linsep::State {
        py.detach(|| self.lock().clone())
    }
}

#[pymethods]
impl State {
    /// A state for rows with so many columns. Classes that are named are all that there are; others may turn up.
    #[new]
    #[pyo3(signature = (spec, columns, classes=None))]
    fn new(spec: &str, columns: usize, classes: Option<Vec<String>>) -> PyResult<Self> {
        let settings = parsed::<StateSpec>(spec)?.settings().map_err(of_state)?;
        if columns > u32::MAX as usize {
            return Err(PyValueError::new_err("columns=: more than 4294967295 columns"));
        }
        let state = match classes {
            Some(classes) => linsep::State::with_classes(&settings, &classes, columns),
            None => linsep::State::new(&settings, columns),
        };
        state.map(Self::of).map_err(of_state)
    }

    /// Learns from rows, in their order or in the one that is given. Returns how many of them led to an update.
    #[pyo3(signature = (rows, order=None))]
    fn learn(&self, py: Python<'_>, rows: &Rows, order: Option<PyReadonlyArray1<'_, u32>>) -> PyResult<u64> {
        let order = order.map(|order| order.as_slice().map(<[u32]>::to_vec)).transpose();
        let order = order.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let data = rows.data();
        if let Some(row) = order.iter().flatten().find(|&&row| row as usize >= data.len()) {
            let problem = format!("order= names row {row}, and there are {}", data.len());
            return Err(PyValueError::new_err(problem));
        }
        let (updates, _) = watched(py, Door::State, false, |watch| {
            let mut state = self.lock();
            let named = data.classes().iter().map(|class| state.class(class));
            let classes = named.collect::<Result<Vec<u32>, _>>()?;
            // Counts are as many rows, as in a run over all rows.
            let occurring = occurrences(data);
            let places = order.map(|order| match &occurring {
                None => order.into_iter().map(|row| row as usize).collect(),
                Some(occurring) => {
                    let mut each = vec![0; data.len()];
                    occurring.iter().for_each(|&row| each[row] += 1);
                    let times = |row: u32| std::iter::repeat_n(row as usize, each[row as usize]);
                    order.into_iter().flat_map(times).collect::<Vec<usize>>()
                }
            });
            let places = places.as_ref().or(occurring.as_ref());
            let count = places.map_or(data.len(), Vec::len);
            let mut updates = 0;
            for start in (0..count).step_by(STRIDE) {
                let end = count.min(start + STRIDE);
                let example = |place: usize| {
                    let i = places.map_or(place, |places| places[place]);
                    let weight = if occurring.is_some() { 1.0 } else { data.weight(i) };
                    Example { row: data.row(i), class: classes[data.labels()[i] as usize], weight }
                };
                updates += state.learn((start..end).map(example))?;
                let progress = Progress::Judging { rows: end as u64, total: count as u64 };
                if end < count && watch.progress(&progress).is_break() {
                    return Err(linsep::Error::Interrupted);
                }
            }
            Ok(updates)
        })?;
        Ok(updates)
    }

    /// A state that goes on from here over the rows of a shard, to be merged with others.
    #[pyo3(signature = (shard=None))]
    fn fork(&self, py: Python<'_>, shard: Option<u64>) -> PyResult<Self> {
        let shard = shard.unwrap_or_else(|| self.next_shard.fetch_add(1, Ordering::Relaxed));
        self.copied(py).fork(shard).map(Self::of).map_err(|error| of_state(error.into()))
    }

    /// Joins what forks of this state have learned since, in this order.
    fn merge(&self, py: Python<'_>, forks: Vec<PyRef<'_, Self>>, mixing: &str) -> PyResult<()> {
        let mixing: Mixing = serde_json::from_value(mixing.into()).map_err(|_| {
            PyValueError::new_err(format!("mixing='{mixing}': expected 'uniform' or 'updates'"))
        })?;
        // Copies first: a state may be its own fork's fork, and two locks at once could wait for each other.
        let forks: Vec<linsep::State> = forks.iter().map(|fork| fork.copied(py)).collect();
        py.detach(|| self.lock().merge(&forks, mixing)).map_err(of_state)
    }

    /// The bytes that it can be restored from.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            py.detach(|| self.lock().snapshot("")).map_err(|error| exception(Door::State, error.into()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The state that a snapshot holds.
    #[staticmethod]
    fn restore(bytes: &[u8]) -> PyResult<Self> {
        match linsep::State::restore(bytes) {
            Ok((state, _)) => Ok(Self::of(state)),
            Err(error) => Err(exception(Door::State, error.into())),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("restore")?, (self.snapshot(py)?,)))
    }

    /// The result so far, as a model of arrays.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        let state = self.copied(py);
        let outcome = state.outcome().map_err(of_state)?;
        let schema = Schema::Array { features: state.columns() };
        Ok(Model::from(linsep::Model::with_recipe(outcome, schema.into(), None)))
    }

    /// The evidence about the rows learned from, as JSON.
    fn evidence(&self, py: Python<'_>) -> PyResult<String> {
        let evidence = self.copied(py).evidence().map_err(of_state)?;
        serde_json::to_string(&evidence).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The settings, as JSON.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.copied(py);
        serde_json::to_string(state.settings()).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The classes seen so far, sorted.
    #[getter]
    fn classes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.lock().classes())
    }

    /// How many updates have been made.
    #[getter]
    fn updates(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().updates())
    }

    /// Rows learned from.
    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().rows())
    }

    /// Number of features.
    #[getter]
    fn columns(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().columns())
    }

    /// The upper bound of the best margin that the updates prove, if there are any.
    #[getter]
    fn margin_upper(&self, py: Python<'_>) -> Option<f64> {
        py.detach(|| self.lock().margin_upper())
    }
}

/// The rows of each shard, in the order of pass `epoch` (from 0) of a run in shards.
#[pyfunction]
pub fn shard_orders(
    rows: &Rows,
    shards: usize,
    seed: u64,
    order: &str,
    epoch: u64,
) -> PyResult<Vec<Vec<u32>>> {
    let order: Order = serde_json::from_value(order.into()).map_err(|_| {
        PyValueError::new_err(format!("order='{order}': expected 'given', 'shuffle-once' or 'shuffle'"))
    })?;
    let settings = Settings { shards, seed, order, ..Settings::default() };
    linsep::train::shard_orders(rows.data(), &settings, epoch)
        .map_err(|error| exception(Door::State, error.into()))
}

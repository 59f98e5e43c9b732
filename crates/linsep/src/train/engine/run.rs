//! A run over a data set, from the settings to the outcome.

use crate::classes::{ClassPair, Classes};
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::Extent;
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::cost_limit::RunSize;
use crate::train::engine::cost_limit::refuse_excessive_cost;
use crate::train::engine::evidence::{Evidence, judge};
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::state::{Learners, State};
use crate::train::engine::weights::{WrittenOut, row_weights};
use crate::train::engine::{one_against_rest, shards};
use crate::train::settings::Settings;
use crate::{Error, memory};
use serde::{Deserialize, Serialize};

/// How a run ended. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The algorithm has converged: for a perceptron, a whole pass without a mistake, so θ agrees with every example.
    Converged,
    /// The last allowed pass still made updates.
    EpochLimit,
    /// The allowed number of updates was made.
    UpdateLimit,
    /// Time ran out.
    TimeLimit,
    /// The observer stopped it.
    Interrupted,
    /// It is proved that no boundary separates the rows with a margin, and the learner has no other: there is no model.
    NoMargin,
    /// It is proved that the objective falls for ever, because the classes do not overlap: there is no model.
    NoOptimum,
    /// A limit came before it was decided whether the rows have a margin or an optimum: there is no model.
    Undecided,
}

impl Status {
    /// Whether the run learned something. Without that, the weights of the outcome are zero.
    pub fn has_model(self) -> bool {
        !matches!(self, Status::NoMargin | Status::NoOptimum | Status::Undecided)
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The decision function.
    pub learned: Learned,
    /// How the run ended.
    pub status: Status,
    /// The evidence on the data and the run.
    pub evidence: Evidence,
    /// The evidence on each class against the rest, where that is how they are learned.
    pub boundaries: Vec<Boundary>,
    /// The classes that are distinguished.
    pub classes: Classes,
    /// The settings it was trained with.
    pub settings: Settings,
}

/// One class against the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// The class.
    pub class: String,
    /// The evidence of its run.
    pub evidence: Evidence,
}

/// A data set as a task of two sides: rows, signs and lengths, checked to be within the range of the arithmetic.
#[derive(Debug)]
pub struct Task<'a> {
    /// The rows.
    pub data: &'a Dataset,
    /// The label of each row as ±1.
    pub signs: Vec<i8>,
    /// How often each row counts, where not all count once.
    pub weights: Option<Vec<f64>>,
    /// Which class is on which side.
    pub classes: ClassPair,
    /// Lengths of the rows.
    pub extent: Extent,
}

/// Lengths of rows for which no product or sum of a run can overflow or lose everything to underflow.
const LENGTHS: std::ops::RangeInclusive<f64> = 1e-140..=1e140;

impl<'a> Task<'a> {
    /// Checks the settings and the labels, and measures the rows.
    pub fn new(data: &'a Dataset, settings: &Settings) -> Result<Self, Error> {
        settings.validate()?;
        Self::of(data, settings)
    }

    /// The same for settings that have been checked.
    pub(crate) fn of(data: &'a Dataset, settings: &Settings) -> Result<Self, Error> {
        let extent = Extent::of(data, settings.bias.input());
        let classes = ClassPair::choose(data.classes(), settings.positive.as_deref())?;
        Self::of_sides(data, settings, extent, classes)
    }

    /// The task of the class at a place against the rest.
    pub(crate) fn against_rest(
        data: &'a Dataset,
        settings: &Settings,
        extent: Extent,
        place: usize,
    ) -> Result<Self, Error> {
        Self::of_sides(data, settings, extent, ClassPair::against_rest(data.shared_classes(), place))
    }

    fn of_sides(
        data: &'a Dataset,
        settings: &Settings,
        extent: Extent,
        classes: ClassPair,
    ) -> Result<Self, Error> {
        let class_signs: Vec<i8> =
            classes.signs_of(data.classes()).into_iter().map(|sign| sign.unwrap_or(-1)).collect();
        let signs: Vec<i8> = data.labels().iter().map(|&label| class_signs[label as usize]).collect();
        if let Some(only) = [1, -1].into_iter().find(|&sign| signs.iter().all(|&s| s == sign)) {
            let class = if only == 1 { classes.positive } else { classes.negative_name() };
            return Err(crate::classes::ClassError::One { class }.into());
        }
        check_lengths(&extent)?;
        let sides: Vec<u32> = class_signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let weights = row_weights(settings, data, &sides)?;
        Ok(Self { data, signs, weights, classes, extent })
    }

    /// A task with these signs, whatever the labels: also with rows of one class only.
    #[cfg(test)]
    pub(crate) fn with_signs(data: &'a Dataset, signs: Vec<i8>, bias_input: f64) -> Self {
        let classes = ClassPair { positive: "1".into(), negative: vec!["0".into()].into() };
        Self { data, signs, weights: None, classes, extent: Extent::of(data, bias_input) }
    }

    /// How often row `i` counts.
    #[inline]
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }
}

/// Refuses rows too long or too short for floating-point sums of their products.
pub(crate) fn check_lengths(extent: &Extent) -> Result<(), Error> {
    // Zero rows have no length to measure: they are learnable as far as anything is.
    let lengths = [extent.radius_upper, extent.shortest_nonzero];
    match lengths.into_iter().find(|length| extent.radius_upper > 0.0 && !LENGTHS.contains(length)) {
        Some(length) => Err(Error::Lengths { length }),
        None => Ok(()),
    }
}

/// A state that is about to go through the rows of a task.
pub(in crate::train) fn begin(task: &Task<'_>, settings: &Settings, saves: bool) -> Result<State, Error> {
    let radius = Some(task.extent.radius_upper);
    let learner = OnlineLearner::with_radius(settings, task.data.columns(), radius)?;
    let data = if saves { task.data.fingerprint().to_string() } else { String::new() };
    Ok(State::begin(settings, Learners::Two(learner), data))
}

/// Goes on until a reason to stop.
fn finish(mut state: State, task: &Task<'_>, observer: &mut dyn Observer) -> Result<Fit, CheckpointError> {
    state.expect_rows(task.extent.radius_upper, task.data.longest_row());
    let settings = state.settings.clone();
    let status = if settings.shards > 1 {
        shards::passes(&mut state, task, observer)
    } else {
        let pause = rows_between_pauses(task.data);
        let mut rows = MemoryRows { task, state: &mut state };
        passes(&mut rows, &settings, Blocks::of(task.data), pause, observer)
    };
    state.into_fit(status).ok_or(CheckpointError::OtherData)
}

/// The rows of a task as a state visits them.
struct MemoryRows<'a, 'b> {
    task: &'a Task<'b>,
    state: &'a mut State,
}

impl RowLearner for MemoryRows<'_, '_> {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.state.cursor
    }

    #[inline(always)]
    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let (row, sign) = (self.task.data.row(i), self.task.signs[i]);
        self.state.visit(i, row, sign, self.task.weight(i), observer)
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.task.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        self.state.end_pass();
    }

    fn is_finished(&mut self, quiet: bool) -> bool {
        quiet && !self.state.updates_every_row()
    }

    fn pause(&mut self, observer: &mut dyn Observer) {
        observer.checkpoint(self.state);
    }

    fn updates(&self) -> u64 {
        self.state.updates()
    }

    fn margin_upper(&self) -> Option<f64> {
        self.state.margin_upper()
    }
}

/// Pauses come after about a million values, so that Ctrl-C is noticed soon whatever the shape of the data.
pub(crate) fn rows_between_pauses(data: &Dataset) -> usize {
    pause_after(data.row(0).stored().max(data.nonzeros() / data.len()))
}

/// The same for rows with so many values each.
pub(crate) fn pause_after(per_row: usize) -> usize {
    (1_000_000 / per_row.max(1)).clamp(1, 65_536)
}

/// Trains on a data set. More than two classes, none of them chosen as the positive one, are each set against the
/// rest, unless the learner is made for many.
///
/// Where the learner goes through the rows one after the other, weights that are all whole numbers are counts: a row is there as often
/// as its weight says. Others make its steps as much longer or shorter, and so do weights of classes.
pub fn train(data: &Dataset, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome, Error> {
    settings.validate()?;
    train_checked(data, settings, observer)
}

/// The same for settings that have been checked.
pub(crate) fn train_checked(
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    match WrittenOut::new(data, settings)? {
        Some(rows) => train_rows(&rows.data, settings, &mut rows.observer(observer)),
        None => train_rows(data, settings, observer),
    }
}

fn train_rows(data: &Dataset, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome, Error> {
    refuse_excessive_cost(data, settings)?;
    if let Some((least, what)) = settings.learner.registered().memory(&RunSize::of(data, settings)) {
        memory::check(least, || what)?;
    }
    if let Some(outcome) = settings.learner.registered().fit_classes(data, settings, None, observer)? {
        return Ok(outcome);
    }
    if settings.positive.is_none() && data.classes().len() > 2 {
        return one_against_rest::learn_each(data, settings, observer);
    }
    train_task(&Task::of(data, settings)?, settings, observer)
}

/// Trains on a binary task.
pub(crate) fn train_task(
    task: &Task<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let fit = fit_task(task, settings, observer)?;
    judge(task, settings, fit, observer)
}

/// Learns from a binary task, and leaves the result to be judged.
pub(crate) fn fit_task(
    task: &Task<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit, Error> {
    Ok(match settings.learner.registered().fit(task, settings, observer)? {
        Some(fit) => fit,
        None => finish(begin(task, settings, observer.saves())?, task, observer)?,
    })
}

/// Takes up a run where its checkpoint left it. The data must be the same; the limits may be others.
pub fn resume(
    checkpoint: State,
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    settings.validate()?;
    match WrittenOut::new(data, settings)? {
        Some(rows) => resume_rows(checkpoint, &rows.data, settings, &mut rows.observer(observer)),
        None => resume_rows(checkpoint, data, settings, observer),
    }
}

fn resume_rows(
    checkpoint: State,
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    if settings.learner.is_together() {
        let outcome =
            settings.learner.registered().fit_classes(data, settings, Some(checkpoint), observer)?;
        return outcome.ok_or_else(|| CheckpointError::OtherData.into());
    }
    let task = Task::of(data, settings)?;
    let mut state = checkpoint;
    state.adopt(settings, task.data.columns(), task.data.fingerprint())?;
    state.check_position(data.len())?;
    let settings = state.settings.clone();
    let fit = finish(state, &task, observer)?;
    judge(&task, &settings, fit, observer)
}

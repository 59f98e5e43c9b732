//! A run over a data set, from the settings to the outcome.

use crate::Error;
use crate::classes::{ClassPair, Classes};
use crate::dataset::Dataset;
use crate::observe::{Observer, Update};
use crate::theory::margin::Extent;
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::evidence::{Evidence, judge};
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::{one_against_rest, shards};
use crate::train::learners::Learner;
use crate::train::learners::{batch, kernel, lifted, max_margin, memoriser, pocket, svm};
use crate::train::settings::Settings;
use serde::{Deserialize, Serialize};

/// How a run ended. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The algorithm is at its end: for a perceptron, a whole pass without a mistake, so θ agrees with every example.
    Converged,
    /// The last allowed pass still made updates.
    EpochLimit,
    /// The allowed number of updates was made.
    UpdateLimit,
    /// Time ran out.
    TimeLimit,
    /// The observer stopped it.
    Interrupted,
}

/// What a run ends with.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The decision function.
    pub learned: Learned,
    /// How the run ended.
    pub status: Status,
    /// What is known about the data and the run.
    pub evidence: Evidence,
    /// What is known about each class against the rest, where that is how they are told apart.
    pub boundaries: Vec<Boundary>,
    /// The classes that are told apart.
    pub classes: Classes,
    /// The settings it was trained with.
    pub settings: Settings,
}

/// One class against the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boundary {
    /// The class.
    pub class: String,
    /// What is known about its run.
    pub evidence: Evidence,
}

/// A data set seen as a binary task: rows, signs and lengths, checked for what arithmetic can bear.
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
        let extent = Extent::of(data, settings.bias.input());
        Self::with_extent(data, settings, extent)
    }

    /// The same for rows that have been measured.
    pub(crate) fn with_extent(data: &'a Dataset, settings: &Settings, extent: Extent) -> Result<Self, Error> {
        settings.validate()?;
        let classes = ClassPair::choose(data.classes(), settings.positive.as_deref())?;
        let class_signs: Vec<i8> = data.classes().iter().map(|c| classes.sign_of(c).unwrap_or(-1)).collect();
        let signs: Vec<i8> = data.labels().iter().map(|&label| class_signs[label as usize]).collect();
        if let Some(only) = [1, -1].into_iter().find(|&sign| signs.iter().all(|&s| s == sign)) {
            let class = if only == 1 { classes.positive } else { classes.negative_name() };
            return Err(crate::classes::ClassError::One { class }.into());
        }
        check_lengths(&extent)?;
        let sides: Vec<u32> = signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let weights = settings.row_weights(data, &sides)?;
        Ok(Self { data, signs, weights, classes, extent })
    }

    /// A task with these signs, whatever the labels: also with rows of one class only.
    #[cfg(test)]
    pub(crate) fn with_signs(data: &'a Dataset, signs: Vec<i8>, bias_input: f64) -> Self {
        let classes = ClassPair { positive: "1".into(), negative: vec!["0".into()] };
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

/// A run of a learner that goes row by row, as it stands: it can be saved at any pause and taken up again.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) settings: Settings,
    pub(crate) learner: OnlineLearner,
    pub(crate) cursor: Cursor,
    /// Identifies the data: its fingerprint, or for a stream the hash of the rows seen.
    pub(crate) data: String,
    /// Updates made by each shard; empty where there is one run over all rows.
    pub(crate) shard_updates: Vec<u64>,
}

impl Run {
    /// A run that is about to begin.
    pub(in crate::train) fn new(task: &Task<'_>, settings: &Settings, saves: bool) -> Result<Self, Error> {
        let radius = Some(task.extent.radius_upper);
        let learner = OnlineLearner::with_radius(settings, task.data.columns(), radius)?;
        let data = if saves { task.data.fingerprint().to_string() } else { String::new() };
        Ok(Self::begin(settings, learner, data))
    }

    /// A run that is about to begin with this learner, on data with this fingerprint.
    pub(in crate::train) fn begin(settings: &Settings, learner: OnlineLearner, data: String) -> Self {
        Self {
            learner,
            settings: settings.clone(),
            cursor: Cursor::default(),
            data,
            shard_updates: Vec::new(),
        }
    }

    /// The settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many updates have been made.
    pub fn updates(&self) -> u64 {
        self.learner.updates()
    }

    /// Refuses a position beyond the last row.
    pub(in crate::train) fn check_position(&self, rows: usize) -> Result<(), CheckpointError> {
        if self.cursor.position > rows as u64 {
            return Err(CheckpointError::Damaged("it is beyond the last row".into()));
        }
        Ok(())
    }

    /// Goes on until a reason to stop.
    fn finish(mut self, task: &Task<'_>, observer: &mut dyn Observer) -> Fit {
        self.learner.expect_rows(task.extent.radius_upper, task.data.longest_row());
        let status = if self.settings.shards > 1 {
            shards::passes(&mut self, task, observer)
        } else {
            let settings = self.settings.clone();
            let pause = rows_between_pauses(task.data);
            let mut visitor = Visitor { task, run: &mut self };
            passes(&mut visitor, &settings, Blocks::of(task.data), pause, observer)
        };
        self.into_fit(status)
    }

    /// What the run ends with.
    pub(in crate::train) fn into_fit(mut self, status: Status) -> Fit {
        self.learner.end_pass();
        Fit {
            learned: self.learner.learned(),
            status,
            epochs: self.cursor.passes_begun(),
            updates: self.learner.updates(),
            candidates: vec![self.learner.theta().clone()],
            margin_upper: self.learner.margin_upper(),
            space: None,
            detail: shards::detail(&self),
        }
    }
}

/// A run, among the rows of its task.
struct Visitor<'a, 'b> {
    task: &'a Task<'b>,
    run: &'a mut Run,
}

impl RowLearner for Visitor<'_, '_> {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.run.cursor
    }

    #[inline(always)]
    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let (row, sign) = (self.task.data.row(i), self.task.signs[i]);
        let applied = self.run.learner.learn_expected(row, sign, self.task.weight(i), Some(i as u32));
        if let Some(applied) = applied {
            observer.update(&Update {
                number: self.run.learner.updates(),
                epoch: self.run.cursor.epoch + 1,
                position: i as u64,
                row,
                row_squared: applied.row_squared,
                sign,
                agreement: applied.agreement,
            });
        }
        applied.is_some()
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.task.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        self.run.learner.end_pass();
    }

    fn is_finished(&mut self, quiet: bool) -> bool {
        quiet && !self.run.learner.updates_every_row()
    }

    fn pause(&mut self, observer: &mut dyn Observer) {
        observer.checkpoint(self.run);
    }

    fn updates(&self) -> u64 {
        self.run.learner.updates()
    }

    fn margin_upper(&self) -> Option<f64> {
        self.run.learner.margin_upper()
    }
}

/// Pauses come after about a million values, so that Ctrl-C is heard soon whatever the shape of the data.
pub(crate) fn rows_between_pauses(data: &Dataset) -> usize {
    pause_after(data.row(0).stored().max(data.nonzeros() / data.len()))
}

/// The same for rows with so many values each.
pub(crate) fn pause_after(per_row: usize) -> usize {
    (1_000_000 / per_row.max(1)).clamp(1, 65_536)
}

/// Trains on a data set. More than two classes, none of them chosen as the positive one, are each set against the
/// rest, unless the learner is made for many.
pub fn train(data: &Dataset, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome, Error> {
    settings.validate()?;
    if let Learner::Multiclass(options) = &settings.learner {
        return one_against_rest::train_multiclass(data, settings, options, observer);
    }
    if settings.positive.is_none() && data.classes().len() > 2 {
        return one_against_rest::train_each(data, settings, observer);
    }
    train_task(&Task::new(data, settings)?, settings, observer)
}

/// Trains on a binary task.
pub(crate) fn train_task(
    task: &Task<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let weights = task.weights.as_deref();
    let fit = match &settings.learner {
        Learner::Batch(options) => batch::learn(task, weights, settings, options, observer),
        Learner::Pocket(options) => pocket::learn(task, settings, options, observer),
        Learner::Lifted(options) => lifted::learn(task, settings, options, observer),
        Learner::Kernel(options) => {
            kernel::check(task, settings, options)?;
            kernel::learn(task, weights, settings, options, observer)
        }
        Learner::Svm(options) => svm::learn(task, weights, settings, options, observer),
        Learner::MaxMargin(options) => max_margin::learn(task, settings, options, observer)?,
        Learner::Memoriser => memoriser::learn(task, weights, settings, observer),
        _ => Run::new(task, settings, observer.saves())?.finish(task, observer),
    };
    judge(task, settings, fit, observer)
}

/// Takes up a run where its checkpoint left it. The data must be the same; the limits may be others.
pub fn resume(
    checkpoint: Run,
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let task = Task::new(data, settings)?;
    let mut run = checkpoint;
    run.adopt(settings, task.data.columns(), task.data.fingerprint())?;
    run.check_position(data.len())?;
    let settings = run.settings.clone();
    let fit = run.finish(&task, observer);
    judge(&task, &settings, fit, observer)
}

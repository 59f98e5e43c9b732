//! A run over a data set: passes, orders, stops.

use super::evidence::{Evidence, best_lower_bound, least_distance, training_errors};
use super::learned::Learned;
use super::online::OnlineLearner;
use super::settings::{Order, Settings};
use crate::Error;
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::observe::{Observer, Progress, Update};
use crate::random::Random;
use crate::theory::margin::Extent;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a run ended. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A whole pass was made without a mistake: θ agrees with every example.
    Converged,
    /// The last allowed pass still had mistakes.
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
    /// Which class is on which side.
    pub classes: ClassPair,
    /// The settings it was trained with.
    pub settings: Settings,
}

/// A data set seen as a binary task: rows, signs and lengths, checked for what arithmetic can bear.
#[derive(Debug)]
pub struct Task<'a> {
    /// The rows.
    pub data: &'a Dataset,
    /// The label of each row as ±1.
    pub signs: Vec<i8>,
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
        let classes = ClassPair::choose(data.classes(), settings.positive.as_deref())?;
        let class_signs: Vec<i8> = data.classes().iter().map(|c| classes.sign_of(c).unwrap_or(-1)).collect();
        let counts = data.class_counts();
        if let Some(only) = [1, -1].into_iter().find(|&sign| {
            (0..counts.len())
                .filter(|&class| class_signs[class] == sign)
                .map(|class| counts[class])
                .sum::<usize>()
                == data.len()
        }) {
            let class = if only == 1 { classes.positive } else { classes.negative_name() };
            return Err(crate::classes::ClassError::One { class }.into());
        }
        let signs = data.labels().iter().map(|&label| class_signs[label as usize]).collect();
        let extent = Extent::of(data, settings.bias.input());
        check_lengths(&extent)?;
        Ok(Self { data, signs, classes, extent })
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

/// How far ahead of a shuffled pass rows are brought into the cache.
const ROWS_AHEAD: usize = 6;

/// The order of one pass.
enum Visit {
    Given,
    Shuffled(Vec<u32>),
}

impl Visit {
    fn new(settings: &Settings, epoch: u64, rows: usize) -> Self {
        let stream = match settings.order {
            Order::Given => return Visit::Given,
            Order::ShuffleOnce => 0,
            Order::Shuffle => epoch,
        };
        let mut order: Vec<u32> = (0..rows as u32).collect();
        Random::stream(settings.seed, stream).shuffle(&mut order);
        Visit::Shuffled(order)
    }

    /// The row at a later position, where the memory cannot guess it.
    #[inline(always)]
    fn jump(&self, position: usize) -> Option<usize> {
        match self {
            Visit::Given => None,
            Visit::Shuffled(order) => order.get(position).map(|&row| row as usize),
        }
    }

    #[inline(always)]
    fn at(&self, position: usize) -> usize {
        match self {
            Visit::Given => position,
            Visit::Shuffled(order) => order[position] as usize,
        }
    }
}

/// A run as it stands: it can be saved at any pause and taken up again.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) settings: Settings,
    pub(crate) learner: OnlineLearner,
    /// Passes finished.
    pub(crate) epoch: u64,
    /// Rows seen in this pass.
    pub(crate) position: u64,
    /// Mistakes made in this pass.
    pub(crate) pass_mistakes: u64,
    /// Time spent.
    pub(crate) seconds: f64,
    /// Identifies the data: its fingerprint, or for a stream the hash of the rows seen.
    pub(crate) data: String,
}

impl Run {
    /// A run that is about to begin.
    fn new(task: &Task<'_>, settings: &Settings, saves: bool) -> Result<Self, Error> {
        Ok(Self {
            learner: OnlineLearner::new(settings, task.data.columns())?,
            settings: settings.clone(),
            epoch: 0,
            position: 0,
            pass_mistakes: 0,
            seconds: 0.0,
            data: if saves { task.data.fingerprint() } else { String::new() },
        })
    }

    /// The settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many updates have been made.
    pub fn updates(&self) -> u64 {
        self.learner.updates()
    }

    /// Goes on until a reason to stop.
    fn advance(&mut self, task: &Task<'_>, observer: &mut impl Observer) -> Status {
        let rows = task.data.len();
        let pause_rows = rows_between_pauses(task.data);
        let (clock, spent) = (Instant::now(), self.seconds);
        self.learner.expect_rows(task.extent.radius_upper, task.data.longest_row());
        observer.checkpoint(self);
        while self.epoch < self.settings.epochs {
            let visit = Visit::new(&self.settings, self.epoch, rows);
            while (self.position as usize) < rows {
                let end = (self.position as usize + pause_rows).min(rows);
                while (self.position as usize) < end {
                    let i = visit.at(self.position as usize);
                    let row = task.data.row(i);
                    if let Some(next) = visit.jump(self.position as usize + ROWS_AHEAD) {
                        task.data.row(next).prefetch();
                    }
                    self.position += 1;
                    if let Some(lesson) = self.learner.learn_expected(row, task.signs[i], Some(i as u32)) {
                        self.pass_mistakes += 1;
                        observer.update(&Update {
                            number: self.learner.updates(),
                            epoch: self.epoch + 1,
                            position: i as u64,
                            row,
                            row_squared: lesson.row_squared,
                            sign: task.signs[i],
                            agreement: lesson.agreement,
                        });
                        if self.settings.max_updates.is_some_and(|most| self.learner.updates() >= most) {
                            return Status::UpdateLimit;
                        }
                    }
                }
                self.seconds = spent + clock.elapsed().as_secs_f64();
                observer.checkpoint(self);
                if observer.progress(&self.progress(rows)).is_break() {
                    return Status::Interrupted;
                }
                if self.settings.max_seconds.is_some_and(|most| self.seconds >= most) {
                    return Status::TimeLimit;
                }
            }
            self.learner.end_pass();
            self.epoch += 1;
            self.position = 0;
            if std::mem::take(&mut self.pass_mistakes) == 0 {
                return Status::Converged;
            }
        }
        Status::EpochLimit
    }

    fn progress(&self, rows: usize) -> Progress {
        Progress::Training {
            epoch: self.epoch,
            epochs: self.settings.epochs,
            position: self.position,
            examples: rows as u64,
            updates: self.learner.updates(),
            margin_upper: self.learner.margin_upper(),
        }
    }

    /// Judges the result on the rows it was learned from.
    fn outcome(&mut self, task: &Task<'_>, status: Status, observer: &mut impl Observer) -> Outcome {
        self.learner.end_pass();
        let learned = self.learner.learned();
        let errors = training_errors(task, &learned, observer);
        let lower = best_lower_bound(task, [learned.theta(), self.learner.theta()].into_iter());
        let mut evidence = Evidence::new(
            (task.data.len() as u64, task.data.columns() as u64, task.data.nonzeros() as u64),
            (self.epoch + u64::from(self.position > 0), self.learner.updates(), status),
            errors.map(|errors| errors as f64 / task.data.len() as f64),
            None,
            task.extent,
            self.settings.bias.input(),
            lower,
            self.learner.margin_upper(),
        );
        if let Learned::Linear(theta) = &learned {
            evidence.distance = least_distance(task, theta);
        }
        Outcome { learned, status, evidence, classes: task.classes.clone(), settings: self.settings.clone() }
    }
}

/// Pauses come after about a million values, so that Ctrl-C is heard soon whatever the shape of the data.
fn rows_between_pauses(data: &Dataset) -> usize {
    let per_row = data.row(0).stored().max(data.nonzeros() / data.len()).max(1);
    (1_000_000 / per_row).clamp(1, 65_536)
}

/// Trains on a data set.
pub fn train(data: &Dataset, settings: &Settings, observer: &mut impl Observer) -> Result<Outcome, Error> {
    let task = Task::new(data, settings)?;
    let run = Run::new(&task, settings, observer.saves())?;
    Ok(finish(run, &task, observer))
}

/// Takes up a run where its checkpoint left it. The data must be the same; the limits may be others.
pub fn resume(
    checkpoint: Run,
    data: &Dataset,
    settings: &Settings,
    observer: &mut impl Observer,
) -> Result<Outcome, Error> {
    let task = Task::new(data, settings)?;
    let mut run = checkpoint;
    run.adopt(settings, task.data.columns(), &task.data.fingerprint())?;
    if run.position > data.len() as u64 {
        return Err(super::checkpoint::CheckpointError::Damaged("it is beyond the last row".into()).into());
    }
    Ok(finish(run, &task, observer))
}

fn finish(mut run: Run, task: &Task<'_>, observer: &mut impl Observer) -> Outcome {
    let status = run.advance(task, observer);
    run.outcome(task, status, observer)
}

//! Every statement of the theory (docs/theory.md) on one data set, with its numbers.

use crate::Error;
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::observe::{Observer, Progress, Update};
use crate::theory::comparator::{BestScalings, best_scalings};
use crate::theory::compression::{Compression, compression_bound};
use crate::theory::difficulty::{DifficultyPoint, nested_rows, tighten_rows};
use crate::theory::lifting::{Lifting, best_lifting};
use crate::theory::margin::{Extent, MarginInterval};
use crate::theory::novikoff::{MistakeBound, mistake_bound};
use crate::theory::orders::{OrderResult, OrderSpread, Spread, order_spread};
use crate::theta::Theta;
use crate::train::{Learner, MarginRule, Outcome, Settings, Status, SvmOptions, Task, train};
use serde::Serialize;
use std::ops::ControlFlow;

/// The statements of the theory about a data set, and the run of a perceptron on it.
#[derive(Clone, Debug, Serialize)]
pub struct TheoryReport {
    /// Rows.
    pub rows: u64,
    /// Features.
    pub features: u64,
    /// Which class is on which side.
    pub classes: ClassPair,
    /// Lengths of the rows: R, and the shortest.
    pub extent: Extent,
    /// How the perceptron's run ended.
    pub status: Status,
    /// Passes it began.
    pub epochs: u64,
    /// Mistakes it made, k.
    pub mistakes: u64,
    /// Those of the first pass.
    pub first_pass_mistakes: u64,
    /// Share of the rows that its last weights predict wrong.
    pub training_error: Option<f64>,
    /// The interval of the best margin γ* that all runs prove.
    pub margin: MarginInterval,
    /// The difficulty (R/γ*)²: by Novikoff's theorem a perceptron makes no more mistakes.
    pub difficulty: MistakeBound,
    /// The examples that the perceptron learned from, and its errors on the others.
    pub compression: Compression,
    /// Distinct rows among the teaching examples.
    pub teaching_rows: u64,
    /// The compression bound: with probability at least 1 − δ, the perceptron is wrong on a new row with at most this
    /// probability. None where rows were changed by something learned from all of them, as a scaling does: then no row
    /// is independent of the weights.
    pub error_bound: Option<f64>,
    /// δ
    pub delta: f64,
    /// The bound on the mistakes of a first pass that the best comparator found proves, separable or not.
    pub comparator: Option<BestScalings>,
    /// The lifting lemma for the best weights found.
    pub lifting: Option<LiftingReport>,
    /// The difficulty of nested subsets of the rows.
    pub subsets: Vec<DifficultyPoint>,
    /// The spread of the results over several orders of the rows.
    pub orders: OrderSpread,
    /// The mistakes made in those orders.
    pub order_mistakes: Option<Spread>,
}

/// The lifting lemma in numbers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LiftingReport {
    /// The lemma's γ, R and D.
    #[serde(flatten)]
    pub lemma: Lifting,
    /// The best a.
    pub a: f64,
    /// ((R + D)/γ)²
    pub mistake_bound: f64,
}

/// Orders that are tried, with the first.
const ORDERS: u64 = 5;

/// Notes which rows were mistaken, and passes progress on.
struct Listener<'a> {
    outer: &'a mut dyn Observer,
    taught: Vec<bool>,
    first_pass: u64,
}

impl Observer for Listener<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.outer.progress(progress)
    }

    fn will_stop(&self) -> bool {
        self.outer.will_stop()
    }

    fn update(&mut self, update: &Update<'_>) {
        self.taught[update.position as usize] = true;
        self.first_pass += u64::from(update.epoch == 1);
    }
}

/// The runs that the statements are about.
struct Runs {
    perceptron: Outcome,
    averaged: Outcome,
    svm: Outcome,
    /// Whether the perceptron ever mistook each row.
    taught: Vec<bool>,
    first_pass_mistakes: u64,
    /// What all runs together prove about the best margin.
    margin: MarginInterval,
}

impl Runs {
    fn of(
        data: &Dataset,
        extent: &Extent,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let mut listener = Listener { outer: observer, taught: vec![false; data.len()], first_pass: 0 };
        let perceptron = unless_interrupted(train(data, settings, &mut listener)?)?;
        let (taught, first_pass_mistakes) = (listener.taught, listener.first_pass);
        let mut run = |learner: Learner| {
            unless_interrupted(train(data, &Settings { learner, ..settings.clone() }, observer)?)
        };
        let averaged = run(Learner::Averaged)?;
        // Weights with a small hinge loss, which are found soon.
        let svm = run(Learner::Svm(SvmOptions { c: svm_c(extent), ..SvmOptions::default() }))?;
        let mut margin = perceptron.evidence.margin;
        margin.narrow(&averaged.evidence.margin);
        margin.narrow(&svm.evidence.margin);
        if perceptron.status == Status::Converged {
            let wide = run(Learner::Margin(MarginRule::Dynamic { epsilon: 0.1 }))?;
            margin.narrow(&wide.evidence.margin);
        }
        Ok(Self { perceptron, averaged, svm, taught, first_pass_mistakes, margin })
    }

    /// The weights that the statements without a margin are compared with.
    fn comparators(&self) -> [&Theta; 2] {
        [self.averaged.learned.theta(), self.svm.learned.theta()]
    }
}

/// Computes every statement of the theory on the data. The limits of `settings` hold for each of the runs; its learner does not matter. `as_drawn` says that
/// no row was changed by what was learned from the others, as a scaling to unit variance does.
pub fn analyse(
    data: &Dataset,
    settings: &Settings,
    delta: f64,
    as_drawn: bool,
    observer: &mut dyn Observer,
) -> Result<TheoryReport, Error> {
    let perceptron = Settings { learner: Learner::Perceptron, ..settings.clone() };
    let task = Task::new(data, &perceptron)?;
    // Checks δ before hours of work.
    compression_bound(&Compression { rows: 1, teaching: 0, others: 1, errors: 0 }, delta)?;
    let fixed = Settings { positive: Some(task.classes.positive.clone()), ..perceptron };

    let runs = Runs::of(data, &task.extent, &fixed, observer)?;
    let (run, mut margin) = (&runs.perceptron, runs.margin);
    let wrong = |i: usize| (run.learned.score(data.row(i)) >= 0.0) != (task.signs[i] > 0);
    let compression = Compression::of_taught(&runs.taught, run.evidence.updates, wrong);
    let comparator = runs
        .comparators()
        .iter()
        .filter_map(|theta| best_scalings(data, &task.signs, theta, 1))
        .min_by(|a, b| a.best().bound.best().total_cmp(&b.best().bound.best()));
    let lifting = runs
        .comparators()
        .iter()
        .filter_map(|theta| best_lifting(data, &task.signs, theta))
        .min_by(|a, b| a.best_bound().total_cmp(&b.best_bound()))
        .map(|lemma| LiftingReport { lemma, a: lemma.best_a(), mistake_bound: lemma.best_bound() });
    let subsets = nested(data, &fixed, run, &margin, observer)?;
    if let Some(all) = subsets.last().filter(|point| point.rows == data.len() as u64) {
        margin.narrow(&all.margin);
    }
    let (orders, order_mistakes) = other_orders(data, &fixed, run, observer)?;
    Ok(TheoryReport {
        rows: data.len() as u64,
        features: data.columns() as u64,
        extent: task.extent,
        status: run.status,
        epochs: run.evidence.epochs,
        mistakes: run.evidence.updates,
        first_pass_mistakes: runs.first_pass_mistakes,
        training_error: run.evidence.training_error,
        difficulty: mistake_bound(&task.extent, &margin),
        margin,
        teaching_rows: runs.taught.iter().filter(|&&taught| taught).count() as u64,
        error_bound: if as_drawn { Some(compression_bound(&compression, delta)?) } else { None },
        compression,
        delta,
        comparator,
        lifting,
        subsets,
        orders,
        order_mistakes,
        classes: task.classes,
    })
}

/// The results of the perceptron in several orders of the rows, of which `first` is one, and the mistakes made in each.
fn other_orders(
    data: &Dataset,
    settings: &Settings,
    first: &Outcome,
    observer: &mut dyn Observer,
) -> Result<(OrderSpread, Option<Spread>), Error> {
    let (mut results, mut mistakes) = (Vec::new(), Vec::new());
    let mut add = |outcome: &Outcome| {
        mistakes.push(outcome.evidence.updates as f64);
        results.push(OrderResult {
            theta: outcome.learned.theta().clone(),
            margin: outcome.evidence.margin.lower,
            held_out_error: None,
        });
    };
    add(first);
    for order in 1..ORDERS {
        let seed = settings.seed.wrapping_add(order);
        add(&unless_interrupted(train(data, &Settings { seed, ..settings.clone() }, observer)?)?);
    }
    Ok((order_spread(&results, &|| false), Spread::of(mistakes)))
}

/// C, the weight of the loss, for rows of this length.
fn svm_c(extent: &Extent) -> f64 {
    (1.0 / (extent.radius_upper * extent.radius_upper)).clamp(1e-100, 1e100)
}

fn unless_interrupted(outcome: Outcome) -> Result<Outcome, Error> {
    if outcome.status == Status::Interrupted { Err(Error::Interrupted) } else { Ok(outcome) }
}

/// A perceptron on ever more of the rows; the last set is all of them, which `run` has learned.
fn nested(
    data: &Dataset,
    settings: &Settings,
    run: &Outcome,
    whole: &MarginInterval,
    observer: &mut dyn Observer,
) -> Result<Vec<DifficultyPoint>, Error> {
    let mut counts: Vec<usize> =
        (0..5).map(|halvings| data.len() >> halvings).filter(|&rows| rows >= 8).collect();
    counts.reverse();
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let (mut points, mut extents) = (Vec::new(), Vec::new());
    for rows in nested_rows(data, &counts, settings.seed)? {
        let all = rows.len() == data.len();
        let part = data.subset(&rows)?;
        let (evidence, status) = if all {
            (run.evidence.clone(), run.status)
        } else {
            // A small part of a small class may be missing.
            let outcome = match train(&part, settings, observer) {
                Err(Error::Classes(_)) => continue,
                outcome => unless_interrupted(outcome?)?,
            };
            (outcome.evidence, outcome.status)
        };
        extents.push(evidence.extent);
        points.push(DifficultyPoint {
            rows: rows.len() as u64,
            features: data.columns() as u64,
            updates: evidence.updates,
            converged: status == Status::Converged,
            margin: if all { *whole } else { evidence.margin },
            difficulty: evidence.mistake_bound,
        });
    }
    let mut margins: Vec<MarginInterval> = points.iter().map(|point| point.margin).collect();
    tighten_rows(&mut margins);
    for ((point, margin), extent) in points.iter_mut().zip(margins).zip(extents) {
        point.margin = margin;
        point.difficulty = mistake_bound(&extent, &margin);
    }
    Ok(points)
}

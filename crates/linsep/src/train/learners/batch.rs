//! The batch perceptron: learns from all mistakes at once.
//!
//! Pass k finds I_k, all mistakes of θ_k, and makes one step: θ_{k+1} = θ_k + η_k Σ_{i ∈ I_k} w_i z_i, until I_k is
//! empty. Against a θ* of length 1 and margin γ, every step gains ⟨θ*, θ⟩ at least γ η_k, while ‖θ‖² grows by at most
//! (η_k n R)² (w = 1): so (γ Ση)² ≤ (nR)² Ση², which Ση²/(Ση)² → 0 ends. With the mean of the mistakes as the step,
//! n is gone too: at most (R/γ)² steps, as for the perceptron.

use crate::linalg::rounding_error_bound;
use crate::observe::{Observer, Progress};
use crate::theory::margin::{certain_agreement, quotient_up};
use crate::theta::Theta;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::{Status, Task, rows_between_pauses};
use crate::train::learners::registry::{
    Abilities, Ability, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::schedule::{self, POWERS};
use crate::train::learners::{Learner, Options};
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};
use std::time::Instant;

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "batch",
    title: "batch perceptron",
    summary: "Updates the weights once per pass with all mistakes, on all cores: when the order of the rows \
              must not matter",
    options: &[
        OptionDescriptor {
            name: "schedule",
            symbol: "SCHEDULE",
            kind: OptionKind::Choice(&[
                schedule::CONSTANT,
                schedule::INVERSE,
                schedule::INVERSE_ROOT,
                schedule::POWER,
                Choice { name: "mean", help: "η times the mean of the mistakes" },
            ]),
            auto: None,
            default: "constant",
            help: "how the step changes",
        },
        schedule::POWER_OPTION,
        OptionDescriptor {
            name: "step",
            symbol: "η",
            kind: OptionKind::Number(STEPS),
            auto: None,
            default: "1",
            help: "the first step",
        },
    ],
    abilities: Abilities {
        shards: Ability::No("it already uses all rows at once, on all cores"),
        ..Abilities::ALL_ROWS
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Batch(BatchOptions { schedule: Schedule::Constant, step: 1.0 }),
};

const STEPS: NumberRange = NumberRange::from_to(1e-3, 1e3);

/// How the step η_k of pass k is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// η_k = 1
    #[default]
    Constant,
    /// η_k = k^−p: 1/k for p = 1, 1/√k for p = ½.
    Power(f64),
    /// η_k = 1 / number of mistakes: the step is the mean of the mistaken rows.
    Mean,
}

impl Schedule {
    /// η_k for pass k, from 1, whose mistakes weigh `mistaken` > 0 together.
    fn step(self, k: u64, mistaken: f64) -> f64 {
        match self {
            Schedule::Constant => 1.0,
            Schedule::Power(p) => libm::pow(k as f64, -p),
            Schedule::Mean => 1.0 / mistaken,
        }
    }
}

/// The three conditions on the steps that together end every run on separable rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// η_k ≥ 0
    pub nonnegative: bool,
    /// Σ η_k = ∞
    pub sum_diverges: bool,
    /// Σ η_k² / (Σ η_k)² → 0
    pub squares_vanish: bool,
}

/// Which of the conditions a schedule meets.
///
/// Σ_{k≤K} k^−p grows like K^(1−p) for p < 1 and like ln K for p = 1, and is bounded for p > 1. The squares are the
/// same with 2p, so their ratio falls like 1/K for p < ½, like ln K / K for p = ½, like K^(2p−2) below 1 and like
/// 1/ln² K at 1; beyond, both sums are bounded and their ratio is not zero. Means lie in [1/n, 1]: their sum is at
/// least K/n, and Σ η² ≤ Σ η.
pub fn conditions(schedule: Schedule) -> Conditions {
    match schedule {
        Schedule::Constant | Schedule::Mean => {
            Conditions { nonnegative: true, sum_diverges: true, squares_vanish: true }
        }
        Schedule::Power(p) => {
            Conditions { nonnegative: !p.is_nan(), sum_diverges: p <= 1.0, squares_vanish: p <= 1.0 }
        }
    }
}

/// The options of the batch perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchOptions {
    /// How the step changes from pass to pass.
    pub schedule: Schedule,
    /// The factor of every step.
    pub step: f64,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { schedule: Schedule::default(), step: 1.0 }
    }
}

impl Registered for BatchOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let schedule = match (schedule::power(given)?, given.text("schedule")) {
            (Some(p), _) => Schedule::Power(p),
            (None, None) => self.schedule,
            (None, Some("mean")) => Schedule::Mean,
            (None, Some(_)) => Schedule::Constant,
        };
        Ok(Learner::Batch(Self { schedule, step: given.number("step").unwrap_or(self.step) }))
    }

    fn options(&self) -> Options {
        let options = Options::new().with("step", self.step);
        match self.schedule {
            Schedule::Constant => options.with("schedule", "constant"),
            Schedule::Power(p) => options.with("schedule", "power").with("power", p),
            Schedule::Mean => options.with("schedule", "mean"),
        }
    }

    fn describe(&self) -> String {
        let step = self.step;
        match self.schedule {
            Schedule::Constant => format!("batch perceptron, constant step {step}"),
            Schedule::Power(p) => format!("batch perceptron, step {step} · k^−{p}"),
            Schedule::Mean => format!("batch perceptron, step {step} · mean of the mistakes"),
        }
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        Ok(Some(learn(task, task.weights.as_deref(), settings, self, observer)))
    }

    fn validate(&self) -> Result<(), SettingsError> {
        if let Schedule::Power(p) = self.schedule {
            let Conditions { nonnegative, sum_diverges, squares_vanish } = conditions(self.schedule);
            if nonnegative && !(sum_diverges && squares_vanish) {
                return Err(SettingsError::new(
                    "power",
                    format!(
                        "the power of the steps must be {POWERS}, not {p}: above 1 the sum of all steps is \
                         finite, so the weights may never separate the rows"
                    ),
                ));
            }
            if !POWERS.contains(p) {
                return Err(SettingsError::new(
                    "power",
                    format!(
                        "the power of the steps must be {POWERS}, not {p}: below 0 the steps grow without limit"
                    ),
                ));
            }
        }
        if !STEPS.contains(self.step) {
            return Err(SettingsError::new(
                "step",
                format!(
                    "the step must be a number {STEPS}, not {} (it affects only the length of the weights)",
                    self.step
                ),
            ));
        }
        Ok(())
    }
}

/// Learns until a pass finds no mistake, or until a limit. Rows count `weights` times, which must be positive.
///
/// Limits are checked between steps, so that θ always is one of the θ_k: the limit of updates, which counts each
/// row that is added, can be passed by the last step.
pub(crate) fn learn(
    task: &Task<'_>,
    weights: Option<&[f64]>,
    settings: &Settings,
    options: &BatchOptions,
    observer: &mut dyn Observer,
) -> Fit {
    let mut theta = Theta::zero(task.data.columns(), settings.bias.input());
    let mut ledger = StepLedger::default();
    let mut mistakes = Mistakes::new(task, weights, settings.bias.input());
    let (mut k, mut updates, clock) = (0, 0, Instant::now());
    let status = loop {
        if k == settings.epochs {
            break Status::EpochLimit;
        }
        k += 1;
        let mut pause = |position: u64, updates: u64, margin_upper: Option<f64>| {
            let (epochs, examples) = (settings.epochs, task.data.len() as u64);
            let progress =
                Progress::Training { epoch: k - 1, epochs, position, examples, updates, margin_upper };
            if observer.progress(&progress).is_break() {
                return ControlFlow::Break(Status::Interrupted);
            }
            match settings.max_seconds {
                Some(most) if clock.elapsed().as_secs_f64() >= most => ControlFlow::Break(Status::TimeLimit),
                _ => ControlFlow::Continue(()),
            }
        };
        let stopped = mistakes.find(&theta, |position| pause(position, updates, ledger.best));
        if let ControlFlow::Break(status) = stopped {
            break status;
        }
        if mistakes.count() == 0 {
            break Status::Converged;
        }
        let step = options.step * options.schedule.step(k, mistakes.weight());
        mistakes.add_to(&mut theta, step);
        updates += mistakes.count();
        ledger.record(step, &mistakes, &theta);
        if settings.max_updates.is_some_and(|most| updates >= most) {
            break Status::UpdateLimit;
        }
        if let ControlFlow::Break(status) = pause(task.data.len() as u64, updates, ledger.best) {
            break status;
        }
    };
    Fit {
        learned: Learned::Linear(theta),
        status,
        epochs: k,
        updates,
        candidates: Vec::new(),
        margin_upper: ledger.best,
        space: None,
        detail: None,
    }
}

/// Into how many stripes the rows are cut: enough for the cores of today, few enough vectors to keep. It must not
/// depend on the machine, because the order of additions does.
const STRIPES: usize = 8;

/// The mistakes of one θ, summed in stripes of rows: each by one thread, joined in order, so that the sum has the
/// same bits for any number of threads.
struct Mistakes<'a> {
    task: &'a Task<'a>,
    weights: Option<&'a [f64]>,
    stripes: Vec<Stripe>,
}

/// Consecutive rows, and what is mistaken among them.
struct Stripe {
    rows: Range<usize>,
    /// Σ w z over the mistakes.
    sum: Theta,
    count: u64,
    /// Σ w over the mistakes.
    weight: f64,
}

impl<'a> Mistakes<'a> {
    fn new(task: &'a Task<'a>, weights: Option<&'a [f64]>, bias_input: f64) -> Self {
        let (rows, columns) = (task.data.len(), task.data.columns());
        let stripes = STRIPES.min(rows);
        let edge = |s: usize| (rows as u128 * s as u128 / stripes as u128) as usize;
        let stripes = (0..stripes)
            .map(|s| Stripe {
                rows: edge(s)..edge(s + 1),
                sum: Theta::zero(columns, bias_input),
                count: 0,
                weight: 0.0,
            })
            .collect();
        Self { task, weights, stripes }
    }

    /// Finds the mistakes of `theta`: all rows whose agreement is not certainly positive. `pause` is called now and
    /// then, with the number of rows looked at; a break leaves the search unfinished.
    fn find<B>(&mut self, theta: &Theta, mut pause: impl FnMut(u64) -> ControlFlow<B>) -> ControlFlow<B> {
        let Self { task, weights, stripes } = self;
        let rounding_error =
            rounding_error_bound(task.data.longest_row() + 1, theta.norm().high * task.extent.radius_upper);
        let longest = stripes.iter().map(|stripe| stripe.rows.len()).max().unwrap_or(0);
        let stride = rows_between_pauses(task.data);
        for done in (0..longest).step_by(stride) {
            let end = done + stride;
            stripes.par_iter_mut().for_each(|stripe| {
                if done == 0 {
                    stripe.clear();
                }
                stripe.find(task, *weights, theta, rounding_error, done..end);
            });
            if end < longest {
                pause(stripes.iter().map(|stripe| stripe.rows.len().min(end) as u64).sum())?;
            }
        }
        ControlFlow::Continue(())
    }

    fn count(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.count).sum()
    }

    /// Σ w over the mistakes, rounded.
    fn weight(&self) -> f64 {
        self.stripes.iter().map(|stripe| stripe.weight).sum()
    }

    /// θ += η Σ w z
    fn add_to(&self, theta: &mut Theta, step: f64) {
        const CHUNK: usize = 4096;
        let sums: Vec<&Theta> =
            self.stripes.iter().filter(|stripe| stripe.count > 0).map(|stripe| &stripe.sum).collect();
        theta.weights.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, weights)| {
            for (j, weight) in (chunk * CHUNK..).zip(weights) {
                *weight += step * sums.iter().map(|sum| sum.weights[j]).sum::<f64>();
            }
        });
        theta.bias += step * sums.iter().map(|sum| sum.bias).sum::<f64>();
    }
}

impl Stripe {
    fn clear(&mut self) {
        if self.count > 0 {
            self.sum.weights.fill(0.0);
            self.sum.bias = 0.0;
        }
        self.count = 0;
        self.weight = 0.0;
    }

    /// Finds the mistakes among some of its rows, counted from its first.
    fn find(
        &mut self,
        task: &Task<'_>,
        weights: Option<&[f64]>,
        theta: &Theta,
        rounding_error: f64,
        part: Range<usize>,
    ) {
        let end = self.rows.end.min(self.rows.start + part.end);
        for i in (self.rows.start + part.start).min(end)..end {
            let (row, sign) = (task.data.row(i), task.signs[i]);
            let agreement = f64::from(sign) * theta.score(row);
            let right = if agreement.abs() > rounding_error {
                agreement > 0.0
            } else {
                certain_agreement(theta, row, sign) > 0.0
            };
            if !right {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                self.sum.add(weight * f64::from(sign), row);
                self.count += 1;
                self.weight += weight;
            }
        }
    }
}

/// Unit roundoff, with room for the few operations that use it.
const U: f64 = f64::EPSILON * 0.51;

/// The upper bound ‖θ_k‖ / A_k of γ*, A = Σ η_k Σ_{I_k} w, kept true while every sum is rounded.
///
/// θ is a combination of rows that all count A times together, so it bounds γ* (duality, see
/// [`margin`](crate::theory::margin)). A term of a step is rounded once as a product, at most once for each later
/// mistake of its stripe, once for each stripe, and once when multiplied by η: r roundings in all put the step off by
/// at most r u η Σ w‖z‖. Its addition to θ puts off θ by at most u‖θ‖.
#[derive(Default)]
struct StepLedger {
    /// A, rounded down.
    total: f64,
    /// How far the stored θ is from the exact combination, at most.
    drift: f64,
    /// The smallest bound so far.
    best: Option<f64>,
}

impl StepLedger {
    /// Notes that `theta` is what a step has led to.
    fn record(&mut self, step: f64, mistakes: &Mistakes<'_>, theta: &Theta) {
        let most = mistakes.stripes.iter().map(|stripe| stripe.count).max().unwrap_or(0);
        let roundings = most as f64 + STRIPES as f64 + 8.0;
        let (weight, norm) = (mistakes.weight(), theta.norm().high);
        let lengths = weight * mistakes.task.extent.radius_upper;
        // Products so small that their last bits are lost; one for each number that is added.
        let lost = roundings * (theta.weights.len() as f64 + 1.0) * f64::MIN_POSITIVE * step.max(1.0);
        self.drift += 1.01 * (roundings * U * step * lengths + U * norm) + lost;
        // Whole numbers are added without rounding.
        let counted = if mistakes.weights.is_some() { roundings } else { 0.0 };
        self.total = (self.total + step * weight * (1.0 - counted * U)) * (1.0 - 4.0 * U);
        if self.total > 0.0 {
            let bound = quotient_up((norm + self.drift).next_up(), self.total);
            self.best = Some(self.best.map_or(bound, |best| best.min(bound)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::theory::margin::lower_bound;
    use crate::train::engine::whole_rows::{dataset, examples};
    use crate::train::{Bias, MistakeRule, Perceptron};
    use proptest::prelude::*;

    fn settings(epochs: u64) -> Settings {
        Settings { epochs, bias: Bias::None, ..Settings::default() }
    }

    fn run(
        data: &Dataset,
        signs: &[i8],
        weights: Option<&[f64]>,
        settings: &Settings,
        options: BatchOptions,
    ) -> (Theta, Fit) {
        let task = Task::with_signs(data, signs.to_vec(), settings.bias.input());
        let fit = learn(&task, weights, settings, &options, &mut ());
        (fit.learned.theta().clone(), fit)
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        prop_oneof![
            Just(Schedule::Constant),
            Just(Schedule::Mean),
            (0.0f64..=1.0).prop_map(Schedule::Power),
            Just(Schedule::Power(0.5)),
            Just(Schedule::Power(1.0)),
        ]
    }

    /// Signs of rows that a normal separates; rows on the boundary are moved off it.
    fn separable(rows: &mut Vec<Vec<i32>>, normal: &[i32]) -> Vec<i8> {
        let product = |row: &[i32]| row.iter().zip(normal).map(|(a, b)| a * b).sum::<i32>();
        rows.retain(|row| product(row) != 0);
        rows.iter().map(|row| product(row).signum() as i8).collect()
    }

    proptest! {
        /// Against the plain form: one list of mistakes, one sum in whole numbers.
        #[test]
        fn a_run_is_the_serial_run((rows, signs) in examples(60, 6), weighty: bool, power in -2i32..3, epochs in 1u64..20) {
            let data = dataset(&rows, 1.0);
            let weights: Vec<f64> = (0..rows.len()).map(|i| if weighty { 1.0 + (i % 3) as f64 } else { 1.0 }).collect();
            let step = 2f64.powi(power);
            let options = BatchOptions { schedule: Schedule::Constant, step };
            let (theta, fit) = run(&data, &signs, weighty.then_some(&weights), &settings(epochs), options);
            let (mut plain, mut updates, mut passes) = ([0i64; 3], 0, 0);
            let mut done = false;
            while passes < epochs && !done {
                passes += 1;
                let agreement = |i: usize| -> i64 {
                    i64::from(signs[i]) * rows[i].iter().zip(&plain).map(|(&x, w)| i64::from(x) * w).sum::<i64>()
                };
                let wrong: Vec<usize> = (0..rows.len()).filter(|&i| agreement(i) <= 0).collect();
                for &i in &wrong {
                    for (w, &x) in plain.iter_mut().zip(&rows[i]) {
                        *w += weights[i] as i64 * i64::from(signs[i]) * i64::from(x);
                    }
                }
                updates += wrong.len() as u64;
                done = wrong.is_empty();
            }
            let expected: Vec<f64> = plain.iter().map(|&w| w as f64 * step).collect();
            prop_assert_eq!(theta.weights, expected);
            prop_assert_eq!((fit.epochs, fit.updates), (passes, updates));
            prop_assert_eq!(fit.status, if done { Status::Converged } else { Status::EpochLimit });
        }

        /// One example at a time is the perceptron: a row alone, or rows that have no feature in common.
        #[test]
        fn without_company_it_is_the_perceptron(values in prop::collection::vec((-9i32..10, any::<bool>()), 1..12)) {
            let n = values.len();
            let rows: Vec<Vec<i32>> =
                (0..n).map(|i| (0..n).map(|j| if i == j { values[i].0 } else { 0 }).collect()).collect();
            let signs: Vec<i8> = values.iter().map(|&(_, y)| if y { 1 } else { -1 }).collect();
            let data = dataset(&rows, 0.1);
            for epochs in 1..5 {
                let (theta, fit) = run(&data, &signs, None, &settings(epochs), BatchOptions::default());
                let mut perceptron = Perceptron::new(Theta::zero(n, 0.0), MistakeRule::NonPositive);
                for _ in 0..fit.epochs {
                    (0..n).for_each(|i| _ = perceptron.learn(data.row(i), f64::from(signs[i])));
                }
                prop_assert_eq!(&theta, &perceptron.theta);
                prop_assert_eq!(fit.updates, perceptron.updates);
                prop_assert_eq!(fit.status == Status::Converged, epochs > 1 && values.iter().all(|&(x, _)| x != 0));
            }
        }

        /// The number of threads leaves no trace.
        #[test]
        fn any_number_of_threads_gives_the_same_bits(seed: u64, n in 1usize..300, schedule in schedules(), weighty: bool) {
            let mut random = crate::random::Random::new(seed);
            let values: Vec<f64> = (0..n * 5).map(|_| random.normal()).collect();
            let signs: Vec<i8> = (0..n).map(|_| if random.below(2) == 0 { 1 } else { -1 }).collect();
            let weights: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
            let data = Dataset::dense(5, &values, &vec!["1"; n]).unwrap();
            let settings = Settings { epochs: 20, ..Settings::default() };
            let results: Vec<_> = [1, 2, 3]
                .into_iter()
                .map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| {
                        let options = BatchOptions { schedule, step: 0.7 };
                        let (theta, fit) = run(&data, &signs, weighty.then_some(&weights), &settings, options);
                        (theta, fit.updates, fit.epochs, fit.margin_upper.map(f64::to_bits))
                    })
                })
                .collect();
            prop_assert_eq!(&results[0], &results[1]);
            prop_assert_eq!(&results[0], &results[2]);
        }

        /// Whatever the steps, weights and scale: γ* is at least what a separator shows, and at most what θ shows.
        #[test]
        fn the_upper_bound_holds(
            (rows, _) in examples(40, 6),
            normal in prop::collection::vec(-6i32..7, 3),
            scale in prop_oneof![Just(1.0), Just(0.1), Just(1e-60), Just(1e60), Just(1e-139), Just(1e139)],
            schedule in schedules(),
            step in prop_oneof![Just(1.0), Just(1e-3), Just(1e3), Just(0.3)],
            weighty: bool,
            same: bool,
            epochs in 1u64..200,
        ) {
            let mut rows = rows;
            if same {
                // Then the bounds differ by rounding alone.
                rows = vec![rows[0].clone(); 3 * rows.len()];
            }
            let signs = separable(&mut rows, &normal);
            prop_assume!(!rows.is_empty());
            let data = dataset(&rows, scale);
            let weights: Vec<f64> = (0..rows.len()).map(|i| 0.1 + (i % 7) as f64).collect();
            let options = BatchOptions { schedule, step };
            let (theta, fit) = run(&data, &signs, weighty.then_some(&weights), &settings(epochs), options);
            let separator = Theta { weights: normal.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let lower = lower_bound(&data, &signs, &separator).unwrap();
            let upper = fit.margin_upper.unwrap();
            prop_assert!(lower <= upper, "{lower} > {upper}");
            // It is no empty promise: one row is at most as long as R, and so is the mean of rows.
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            prop_assert!(upper <= task.extent.radius_upper * (1.0 + 1e-9));
            prop_assert!(!same || upper <= lower_bound(&data, &signs, &theta).unwrap() * (1.0 + 1e-9));
            let own = lower_bound(&data, &signs, &theta);
            prop_assert!(own.is_some() || fit.status != Status::Converged);
            prop_assert!(own.is_none_or(|own| own <= upper));
        }

        /// The mean of the mistakes needs at most (R/γ)² steps, on any separable rows.
        #[test]
        fn means_keep_the_perceptron_bound(
            (rows, _) in examples(40, 6),
            normal in prop::collection::vec(-6i32..7, 3),
            scale in prop_oneof![Just(1.0), Just(1e-60), Just(1e60)],
            step in prop_oneof![Just(1.0), Just(1e-3), Just(1e3)],
            weighty: bool,
        ) {
            let mut rows = rows;
            let signs = separable(&mut rows, &normal);
            prop_assume!(!rows.is_empty());
            let data = dataset(&rows, scale);
            let weights: Vec<f64> = (0..rows.len()).map(|i| 0.1 + (i % 7) as f64).collect();
            let options = BatchOptions { schedule: Schedule::Mean, step };
            let (theta, fit) = run(&data, &signs, weighty.then_some(&weights), &settings(1_000_000), options);
            prop_assert_eq!(fit.status, Status::Converged);
            prop_assert!(lower_bound(&data, &signs, &theta).is_some());
            let separator = Theta { weights: normal.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let ratio = task.extent.radius_upper / lower_bound(&data, &signs, &separator).unwrap();
            // The last pass makes no step.
            prop_assert!((fit.epochs - 1) as f64 <= ratio * ratio * (1.0 + 1e-9));
        }

        /// Every schedule that is allowed ends on separable rows, and its end is certain.
        #[test]
        fn allowed_schedules_converge(
            side in prop::collection::vec((-3i32..4, any::<bool>()), 1..30),
            schedule in schedules(),
        ) {
            // The first feature tells the classes apart by a wide margin.
            let signs: Vec<i8> = side.iter().map(|&(_, y)| if y { 1 } else { -1 }).collect();
            let rows: Vec<Vec<i32>> = side.iter().zip(&signs).map(|(&(x, _), &y)| vec![3 * i32::from(y), x]).collect();
            let data = dataset(&rows, 1.0);
            let options = BatchOptions { schedule, step: 1.0 };
            prop_assert_eq!(options.validate(), Ok(()));
            let (theta, fit) = run(&data, &signs, None, &settings(100_000), options);
            prop_assert_eq!(fit.status, Status::Converged);
            prop_assert!(lower_bound(&data, &signs, &theta).is_some());
        }
    }

    /// The claims about k^−p, seen in the sums themselves.
    #[test]
    fn the_conditions_are_those_of_the_sums() {
        for (p, good) in
            [(0.0, true), (0.25, true), (0.5, true), (0.75, true), (1.0, true), (1.5, false), (3.0, false)]
        {
            let sums = |most: u64| {
                (1..=most)
                    .map(|k| Schedule::Power(p).step(k, 1.0))
                    .fold((0.0, 0.0), |(sum, squares), step| (sum + step, squares + step * step))
            };
            let (few, many) = (sums(1_000), sums(1_000_000));
            let diverges = many.0 - few.0 > 1.0;
            let vanishes = many.1 / (many.0 * many.0) < 0.5 * few.1 / (few.0 * few.0);
            let found = conditions(Schedule::Power(p));
            assert_eq!((found.sum_diverges, found.squares_vanish), (diverges, vanishes), "p = {p}");
            assert_eq!((found.nonnegative, diverges), (true, good), "p = {p}");
        }
        let never = Conditions { nonnegative: false, sum_diverges: false, squares_vanish: false };
        assert_eq!(conditions(Schedule::Power(f64::NAN)), never);
    }

    #[test]
    fn options_out_of_range_are_refused_with_the_reason() {
        let refused = |schedule, step| BatchOptions { schedule, step }.validate().unwrap_err().problem;
        let text = refused(Schedule::Power(1.01), 1.0);
        assert!(text.contains("from 0 to 1, not 1.01") && text.contains("never separate the rows"), "{text}");
        assert!(refused(Schedule::Power(f64::INFINITY), 1.0).contains("never separate the rows"));
        assert!(refused(Schedule::Power(-0.1), 1.0).contains("grow"));
        assert!(refused(Schedule::Power(f64::NAN), 1.0).contains("from 0 to 1, not NaN"));
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e4, 1e-4] {
            assert!(refused(Schedule::Constant, step).contains("from 0.001 to 1000"));
        }
        for p in [0.0, 0.5, 1.0] {
            assert_eq!(BatchOptions { schedule: Schedule::Power(p), step: 1e3 }.validate(), Ok(()));
        }
    }

    /// Stops at the `left`-th pause.
    struct Patience {
        left: u64,
    }

    impl Observer for Patience {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            assert!(matches!(progress, Progress::Training { examples: 2, position: 2, .. }));
            self.left -= 1;
            if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn limits_are_kept() {
        // Contradictory: never ends.
        let data = dataset(&[vec![1], vec![1]], 1.0);
        let signs = [1, -1];
        let (_, fit) = run(&data, &signs, None, &settings(7), BatchOptions::default());
        assert_eq!((fit.status, fit.epochs, fit.updates), (Status::EpochLimit, 7, 14));
        let limited = Settings { max_updates: Some(5), ..settings(100) };
        let (_, fit) = run(&data, &signs, None, &limited, BatchOptions::default());
        assert_eq!((fit.status, fit.epochs, fit.updates), (Status::UpdateLimit, 3, 6));
        let limited = Settings { max_seconds: Some(1e-9), ..settings(100) };
        let (_, fit) = run(&data, &signs, None, &limited, BatchOptions::default());
        assert_eq!((fit.status, fit.epochs, fit.updates), (Status::TimeLimit, 1, 2));
        let task = Task::with_signs(&data, signs.to_vec(), 0.0);
        let fit = learn(&task, None, &settings(100), &BatchOptions::default(), &mut Patience { left: 3 });
        assert_eq!((fit.status, fit.epochs, fit.updates), (Status::Interrupted, 3, 6));
    }

    /// A row so long that the observer is heard after every second row of a stripe.
    #[test]
    fn a_pass_can_be_stopped_in_its_midst() {
        const WIDTH: u32 = 500_000;
        let mut indices: Vec<u32> = (0..WIDTH).collect();
        indices.extend((1..40).map(|i| i % 3));
        let offsets: Vec<usize> = (0..41).map(|i| if i == 0 { 0 } else { WIDTH as usize - 1 + i }).collect();
        let values = vec![1.0; indices.len()];
        let data = Dataset::sparse(WIDTH as usize, &offsets, &indices, &values, &["1"; 40]).unwrap();
        let task = Task::with_signs(&data, (0..40).map(|i| if i % 3 == 0 { 1 } else { -1 }).collect(), 0.0);
        struct Heard(Vec<(u64, u64)>, usize);
        impl Observer for Heard {
            fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
                let Progress::Training { epoch, position, .. } = progress else { panic!("{progress:?}") };
                self.0.push((*epoch, *position));
                if self.0.len() == self.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        }
        let expected = [(0, 16), (0, 32), (0, 40), (1, 16), (1, 32)];
        let mut thetas = Vec::new();
        for pauses in 1..=5 {
            let mut heard = Heard(Vec::new(), pauses);
            let fit = learn(&task, None, &settings(3), &BatchOptions::default(), &mut heard);
            assert_eq!(heard.0, expected[..pauses]);
            let made = if pauses < 3 { 0 } else { 40 };
            assert_eq!((fit.status, fit.updates), (Status::Interrupted, made));
            assert_eq!(fit.epochs, expected[pauses - 1].0 + 1);
            thetas.push(fit.learned.theta().weights[..4].to_vec());
        }
        assert_eq!(thetas[1], [0.0; 4]);
        assert_eq!(thetas[2], [14.0, -12.0, -12.0, 1.0]);
        assert_eq!(thetas[4], thetas[2]);
    }

    /// A thousand times 0.1, added one by one, is less than 100: the bound must not believe it.
    #[test]
    fn sums_that_are_rounded_down_leave_the_bound_true() {
        let n = STRIPES * 1_000;
        let data = Dataset::dense(1, &vec![0.1; n], &vec!["1"; n]).unwrap();
        for weights in [None, Some(vec![0.3; n])] {
            let (theta, fit) =
                run(&data, &vec![1; n], weights.as_deref(), &settings(9), BatchOptions::default());
            let total = weights.as_ref().map_or(1.0, |weights| weights[0]) * n as f64;
            assert!(weights.is_some() || theta.weights[0] / total < 0.1, "rounded up: {theta:?}");
            let upper = fit.margin_upper.unwrap();
            assert!((0.1..0.1 + 1e-12).contains(&upper), "{upper}");
        }
    }

    #[test]
    fn the_first_mean_step_is_the_mean() {
        let data = dataset(&[vec![4, 0], vec![0, 2], vec![1, 1], vec![3, 1]], 1.0);
        let options = BatchOptions { schedule: Schedule::Mean, step: 2.0 };
        let (theta, _) = run(&data, &[1, 1, -1, 1], None, &settings(1), options);
        assert_eq!(theta.weights, [3.0, 1.0]);
        let (theta, _) = run(&data, &[1, 1, -1, 1], Some(&[1.0, 2.0, 4.0, 1.0]), &settings(1), options);
        assert_eq!(theta.weights, [0.75, 0.25]);
    }
}

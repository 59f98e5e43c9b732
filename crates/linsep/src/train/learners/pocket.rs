//! The pocket perceptron (Gallant 1990): keeps the best θ that it finds.
//!
//! A perceptron on rows that are not separable never settles, but it often passes through a good θ. Rows are drawn at
//! random, with replacement; a θ that gets many of them right in a row is probably good on all. When its run is longer
//! than that of the θ in the pocket, all rows are counted, and θ goes into the pocket only if more of them count (the
//! ratchet). A row counts at margin ≥ γ: its agreement is positive and at least γ‖θ‖, beyond rounding.
//!
//! What does not count is a mistake to learn from. For γ = 0 that is the perceptron's own rule. For γ > 0 a plain
//! perceptron would stop at its first separator, with no regard to γ; learning from every row below margin γ, θ goes
//! on, and where γ < γ* it reaches a θ for which all rows count: at an update ‖θ‖ grows by at most γ + R²/(2‖θ‖), while
//! ⟨θ*, θ⟩ grows by γ*.

use crate::dataset::Row;
use crate::linalg::rounding_error_bound;
use crate::numbers::{counted, grouped, percent};
use crate::observe::{Observer, Update};
use crate::theory::compression::{Compression, compression_bound};
use crate::theory::margin::{MistakeLedger, certain_agreement};
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::evidence::Evidence;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{Status, Task, rows_between_pauses};
use crate::train::learners::registry::{
    Abilities, Ability, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::{Learner, Options};
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "pocket",
    title: "pocket perceptron",
    summary: "Keeps the weights with the lowest training error found so far: for overlapping classes",
    options: &[OptionDescriptor {
        name: "margin",
        symbol: "γ",
        kind: OptionKind::Number(MARGINS),
        auto: None,
        default: "0",
        help: "keep the weights with the most rows at least this far on the right side",
    }],
    abilities: Abilities {
        weights: Ability::No("its pocket counts each row once"),
        counts_mistakes: true,
        ..Abilities::ALL_ROWS
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Pocket(PocketOptions { margin: 0.0 }),
};

const MARGINS: NumberRange = NumberRange::from_to(0.0, f64::MAX);

/// The options of the pocket perceptron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PocketOptions {
    /// γ ≥ 0: a row counts for θ when its agreement is positive and at least γ‖θ‖.
    pub margin: f64,
}

impl Registered for PocketOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        let Detail::Pocket { margin, kept, rows, looks, error_bound } = detail else { return None };
        let by = if *margin > 0.0 { format!(" by a distance of at least {margin}") } else { String::new() };
        let mut text = format!(
            "{} of {} rows are right{by}; all rows were counted {}",
            grouped(*kept),
            grouped(*rows),
            counted(*looks, "time", "times")
        );
        if let Some(bound) = error_bound.filter(|&bound| bound < 1.0) {
            text += &format!(
                "; if the rows were drawn independently, at most {} of new rows are wrong, with probability 0.95",
                percent(bound)
            );
        }
        Some(text)
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        Ok(Learner::Pocket(Self { margin: given.number("margin").unwrap_or(self.margin) }))
    }

    fn options(&self) -> Options {
        Options::new().with("margin", self.margin)
    }

    fn describe(&self) -> String {
        match self.margin {
            margin if margin > 0.0 => format!("pocket perceptron, margin {margin}"),
            _ => "pocket perceptron".to_string(),
        }
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        Ok(Some(learn(task, settings, self, observer)))
    }

    fn validate(&self) -> Result<(), SettingsError> {
        if !MARGINS.contains(self.margin) {
            return Err(SettingsError::new(
                "margin",
                format!(
                    "the margin of the pocket must be a finite number from 0 on, not {}: it is the distance \
                     from the boundary from which a row counts as right",
                    self.margin
                ),
            ));
        }
        Ok(())
    }
}

/// Draws rows until all of them count, or until a limit. One pass is as many draws as there are rows.
pub(crate) fn learn(
    task: &Task<'_>,
    settings: &Settings,
    options: &PocketOptions,
    observer: &mut dyn Observer,
) -> Fit {
    let mut learner = PocketPerceptron::new(task, options.margin, settings.bias.input());
    let rows = task.data.len();
    let status =
        passes(&mut learner, settings, Blocks::of(task.data), rows_between_pauses(task.data), observer);
    learner.end_pass();
    // The last θ has had no time to prove itself: it gets its look without a run.
    learner.look();
    let margin_upper = learner.margin_upper();
    let PocketPerceptron { theta, pocket, cursor, updates, looks, .. } = learner;
    let error_bound = error_bound(task, &pocket);
    Fit {
        status: if pocket.count == rows as u64 { Status::Converged } else { status },
        learned: Learned::Linear(pocket.theta.unwrap_or_else(|| theta.clone())),
        epochs: cursor.passes_begun(),
        updates,
        candidates: vec![theta],
        margin_upper,
        space: None,
        detail: Some(Detail::Pocket {
            margin: options.margin,
            kept: pocket.count,
            rows: rows as u64,
            looks,
            error_bound: Some(error_bound),
        }),
    }
}

/// How sure to be of the bound on new rows: wrong with this probability at most.
const DELTA: f64 = 0.05;

/// What the rows that the θ of the pocket was not learned from prove about new rows (sample compression).
fn error_bound(task: &Task<'_>, pocket: &Pocket) -> f64 {
    let Some(theta) = &pocket.theta else { return 1.0 };
    let wrong = |i: usize| (theta.score(task.data.row(i)) >= 0.0) != (task.signs[i] > 0);
    let run = Compression::of_taught(&pocket.taught, pocket.updates, wrong);
    compression_bound(&run, DELTA).unwrap_or(1.0)
}

/// The state of a run, with its pocket.
struct PocketPerceptron<'a> {
    task: &'a Task<'a>,
    cursor: Cursor,
    margin: f64,
    theta: Theta,
    updates: u64,
    /// Which rows θ is made of.
    taught: Vec<bool>,
    ledger: MistakeLedger,
    /// For θ as it is.
    standard: Standard,
    /// No agreement is a sum of more products.
    terms: usize,
    pocket: Pocket,
    /// Draws in a row that counted for θ.
    run: u64,
    /// All rows are counted after a longer run than this: that of the pocket, or in this pass that of a θ which was counted
    /// without success. Without the latter, most of the time would go into counts that fail.
    to_beat: u64,
    /// The counts of θ on all rows.
    standing: Standing,
    /// How often all rows were counted.
    looks: u64,
}

/// The result of counting all rows for the θ in use.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    /// There was none.
    Unknown,
    /// It is no better than the one in the pocket.
    PassedOver,
    /// It is the one in the pocket.
    Kept,
}

/// The best θ so far.
#[derive(Default)]
struct Pocket {
    theta: Option<Theta>,
    /// How many rows count for it.
    count: u64,
    /// Its longest run.
    run: u64,
    /// The updates that made it.
    updates: u64,
    /// Which rows they were made of.
    taught: Vec<bool>,
}

/// What a row must reach to count for a given θ.
#[derive(Clone, Copy)]
struct Standard {
    /// γ‖θ‖, rounded up.
    least: f64,
    /// What rounding can do to an agreement.
    rounding_error: f64,
}

impl Standard {
    /// Whether the row certainly counts, and its computed agreement.
    #[inline]
    fn counts(self, theta: &Theta, row: Row<'_>, sign: i8) -> (bool, f64) {
        let agreement = f64::from(sign) * theta.score(row);
        let counts = if (agreement - self.least).abs() > self.rounding_error {
            agreement > self.least
        } else {
            let certain = certain_agreement(theta, row, sign);
            certain > 0.0 && certain >= self.least
        };
        (counts, agreement)
    }
}

impl<'a> PocketPerceptron<'a> {
    fn new(task: &'a Task<'a>, margin: f64, bias_input: f64) -> Self {
        let theta = Theta::zero(task.data.columns(), bias_input);
        Self {
            task,
            cursor: Cursor::default(),
            margin,
            ledger: MistakeLedger::new(&theta),
            standard: Standard { least: 0.0, rounding_error: 0.0 },
            terms: task.data.longest_row() + 1,
            theta,
            updates: 0,
            taught: vec![false; task.data.len()],
            pocket: Pocket::default(),
            run: 0,
            to_beat: 0,
            standing: Standing::Unknown,
            looks: 0,
        }
    }

    /// The standard for a θ that is not longer than `norm`.
    #[inline]
    fn standard(&self, norm: f64) -> Standard {
        let least = if self.margin > 0.0 { (self.margin * norm).next_up() } else { 0.0 };
        Standard {
            least,
            rounding_error: rounding_error_bound(self.terms, norm * self.task.extent.radius_upper),
        }
    }

    /// Counts all rows, unless that has been done for this θ, and puts θ into the pocket if it is better.
    fn look(&mut self) {
        if self.standing != Standing::Unknown {
            return;
        }
        let (task, theta) = (self.task, &self.theta);
        let standard = self.standard(theta.norm().high);
        let count = (0..task.data.len())
            .into_par_iter()
            .with_min_len(256)
            .filter(|&i| standard.counts(theta, task.data.row(i), task.signs[i]).0)
            .count() as u64;
        self.looks += 1;
        self.standing = Standing::PassedOver;
        if count > self.pocket.count || self.pocket.theta.is_none() {
            let (updates, taught) = (self.updates, self.taught.clone());
            self.pocket = Pocket { theta: Some(theta.clone()), count, run: self.run, updates, taught };
            self.standing = Standing::Kept;
        }
    }

    /// One more draw has counted for θ.
    fn go_on(&mut self) {
        self.run += 1;
        if self.run > self.to_beat {
            self.look();
            self.to_beat = self.run;
            if self.standing == Standing::Kept {
                self.pocket.run = self.run;
            }
        }
    }
}

impl RowLearner for PocketPerceptron<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn draws(&self) -> bool {
        true
    }

    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let (row, sign) = (self.task.data.row(i), self.task.signs[i]);
        let (counts, agreement) = self.standard.counts(&self.theta, row, sign);
        if counts {
            self.go_on();
            return false;
        }
        self.theta.add(f64::from(sign), row);
        self.updates += 1;
        self.taught[i] = true;
        (self.run, self.standing) = (0, Standing::Unknown);
        let row_squared = self.theta.extended_norm_squared(row);
        self.ledger.record(agreement, row_squared, row.stored() + 1);
        self.standard = self.standard(self.ledger.norm_squared().sqrt().next_up());
        observer.update(&Update {
            number: self.updates,
            epoch: self.cursor.epoch + 1,
            position: i as u64,
            row,
            row_squared,
            sign,
            agreement,
            theta: Some(&self.theta),
            classes: None,
        });
        true
    }

    fn prefetch(&self, i: usize) {
        self.task.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        self.ledger.tighten(&self.theta);
        self.standard = self.standard(self.ledger.norm_squared().sqrt().next_up());
        self.to_beat = self.pocket.run;
    }

    /// After a pass without an update all rows are counted, however long the run to beat is.
    fn is_finished(&mut self, quiet: bool) -> bool {
        if quiet {
            self.look();
        }
        self.pocket.count == self.task.data.len() as u64
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(&self.theta, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::random::Random;
    use crate::theory::margin::lower_bound;
    use crate::train::engine::whole_rows::{dataset, examples};
    use crate::train::{Bias, MistakeRule, Perceptron};
    use proptest::prelude::*;

    /// How many rows have an agreement > 0 and ≥ γ‖θ‖, in whole numbers: θ and the rows must be whole, γ² a fraction.
    fn count(rows: &[Vec<i32>], signs: &[i8], theta: &[f64], (above, below): (i128, i128)) -> u64 {
        let theta: Vec<i128> = theta.iter().map(|&w| w as i128).collect();
        let squared: i128 = theta.iter().map(|w| w * w).sum();
        let counts = |(row, &sign): (&Vec<i32>, &i8)| {
            let agreement: i128 =
                row.iter().zip(&theta).map(|(&x, w)| i128::from(sign) * i128::from(x) * w).sum();
            agreement > 0 && agreement * agreement * below >= above * squared
        };
        rows.iter().zip(signs).filter(|&example| counts(example)).count() as u64
    }

    fn settings(epochs: u64, seed: u64) -> Settings {
        Settings { epochs, seed, bias: Bias::None, ..Settings::default() }
    }

    fn kept(fit: &Fit) -> u64 {
        let Some(Detail::Pocket { kept, .. }) = fit.detail else { panic!("{:?}", fit.detail) };
        kept
    }

    /// γ² as a fraction made of a number 8m + 7, which times a square never is a sum of three squares (Legendre): so no
    /// whole row is exactly at the margin of a whole θ.
    const MARGINS: [(i128, i128); 4] = [(0, 1), (1, 127), (1, 7), (7, 1)];

    proptest! {
        /// Draw by draw against the plain form, which counts after every update: the pocket holds a θ of the run, its
        /// count is true and only ever rises, and no look can find more than a look at every θ.
        #[test]
        fn the_count_is_true_and_only_rises((rows, signs) in examples(30, 4), seed: u64, which in 0usize..4) {
            let data = dataset(&rows, 1.0);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let fraction = MARGINS[which];
            let margin = (fraction.0 as f64 / fraction.1 as f64).sqrt();
            let mut learner = PocketPerceptron::new(&task, margin, 0.0);
            let mut random = Random::new(seed);
            let (mut best, mut before) = (0, 0);
            for draw in 1..=10 * rows.len() {
                let last = learner.theta.clone();
                let i = random.below(rows.len() as u64) as usize;
                let updated = learner.visit(i, &mut ());
                let on_row = count(&rows[i..=i], &signs[i..=i], &last.weights, fraction);
                prop_assert_eq!(updated, on_row == 0);
                best = best.max(count(&rows, &signs, &learner.theta.weights, fraction));
                if let Some(theta) = &learner.pocket.theta {
                    prop_assert_eq!(learner.pocket.count, count(&rows, &signs, &theta.weights, fraction));
                }
                prop_assert!(learner.pocket.count >= before && learner.pocket.count <= best);
                prop_assert!(learner.looks <= draw as u64);
                before = learner.pocket.count;
                if draw % rows.len() == 0 {
                    learner.end_pass();
                }
            }
            learner.look();
            prop_assert!(learner.pocket.count >= count(&rows, &signs, &learner.theta.weights, fraction));
        }

        /// Gallant's rule, word for word: the pocket changes exactly when a run beats that of the pocket (or of those
        /// passed over in this pass) and the count is larger.
        #[test]
        fn the_ratchet_is_the_plain_one((rows, signs) in examples(30, 4), seed: u64) {
            let data = dataset(&rows, 1.0);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let fit = learn(&task, &settings(6, seed), &PocketOptions::default(), &mut ());
            let n = rows.len();
            let mut perceptron = Perceptron::new(Theta::zero(3, 0.0), MistakeRule::NonPositive);
            let (mut pocket, mut pocket_count, mut pocket_run) = (None, 0, 0);
            let all = |theta: &Theta| count(&rows, &signs, &theta.weights, (0, 1));
            let (mut run, mut in_pocket) = (0, false);
            for epoch in 0..fit.epochs {
                let mut random = Random::stream(seed, epoch);
                let (mut vain, mut quiet) = (0, true);
                for _ in 0..n {
                    let i = random.below(n as u64) as usize;
                    if perceptron.learn(data.row(i), f64::from(signs[i])).is_some() {
                        (run, quiet, in_pocket) = (0, false, false);
                        continue;
                    }
                    run += 1;
                    let theta = &perceptron.theta;
                    if run > pocket_run.max(vain) {
                        if pocket.is_none() || all(theta) > pocket_count {
                            (pocket, pocket_count, in_pocket) = (Some(theta.clone()), all(theta), true);
                        }
                        if in_pocket { pocket_run = run } else { vain = run }
                    }
                }
                if quiet && (pocket.is_none() || all(&perceptron.theta) > pocket_count) {
                    (pocket, pocket_count, pocket_run) = (Some(perceptron.theta.clone()), all(&perceptron.theta), run);
                    in_pocket = true;
                }
            }
            if pocket.is_none() || all(&perceptron.theta) > pocket_count {
                (pocket, pocket_count) = (Some(perceptron.theta.clone()), all(&perceptron.theta));
            }
            prop_assert_eq!(fit.learned.theta(), &pocket.unwrap());
            prop_assert_eq!((kept(&fit), fit.updates), (pocket_count, perceptron.updates));
            prop_assert_eq!(&fit.candidates[0], &perceptron.theta);
            prop_assert_eq!(fit.status == Status::Converged, pocket_count == n as u64);
        }

        /// Where all rows can be at the margin, they are in the end, at any scale.
        #[test]
        fn separable_rows_all_count(
            points in prop::collection::vec(prop::collection::vec(-6i32..7, 3), 1..25),
            normal in prop::collection::vec(-6i32..7, 3),
            part in prop_oneof![Just(0.0), 0.1f64..0.8],
            scale in prop_oneof![Just(1.0), Just(0.1), Just(1e-60), Just(1e60)],
            seed: u64,
        ) {
            let product = |row: &[i32]| row.iter().zip(&normal).map(|(a, b)| a * b).sum::<i32>();
            let rows: Vec<Vec<i32>> = points.into_iter().filter(|row| product(row) != 0).collect();
            prop_assume!(!rows.is_empty());
            let signs: Vec<i8> = rows.iter().map(|row| product(row).signum() as i8).collect();
            let data = dataset(&rows, scale);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let separator =
                Theta { weights: normal.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let known = lower_bound(&data, &signs, &separator).unwrap();
            let options = PocketOptions { margin: part * known };
            let fit = learn(&task, &settings(1_000_000, seed), &options, &mut ());
            prop_assert_eq!((fit.status, kept(&fit)), (Status::Converged, rows.len() as u64));
            let found = lower_bound(&data, &signs, fit.learned.theta()).unwrap();
            prop_assert!(found >= options.margin * (1.0 - 1e-12), "{found} {}", options.margin);
            prop_assert!(known.max(found) <= fit.margin_upper.unwrap());
        }

        /// Overlapping clouds: what is kept errs no more often than the last θ, which is the point of a pocket.
        #[test]
        fn what_is_kept_is_no_worse_than_the_last(seed: u64, n in 2usize..120, margin in prop_oneof![Just(0.0), 0.0f64..0.5]) {
            let mut random = Random::new(seed);
            let signs: Vec<i8> = (0..n).map(|i| if i % 2 == 0 { 1 } else { -1 }).collect();
            let values: Vec<f64> =
                (0..2 * n).map(|k| random.normal() + 0.7 * f64::from(signs[k / 2])).collect();
            let data = Dataset::dense(2, &values, &vec!["1"; n]).unwrap();
            let task = Task::with_signs(&data, signs.clone(), 1.0);
            let settings = Settings { epochs: 10, seed, ..Settings::default() };
            let fit = learn(&task, &settings, &PocketOptions { margin }, &mut ());
            let right = |theta: &Theta| {
                let least = margin * theta.norm().high;
                let agreement = |i: usize| f64::from(signs[i]) * theta.score(data.row(i));
                (0..n).filter(|&i| agreement(i) > 0.0 && agreement(i) >= least).count() as u64
            };
            prop_assert_eq!(kept(&fit), right(fit.learned.theta()));
            prop_assert!(kept(&fit) >= right(&fit.candidates[0]));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let again = pool.install(|| learn(&task, &settings, &PocketOptions { margin }, &mut ()));
            prop_assert_eq!(again.learned, fit.learned);
            prop_assert_eq!(again.detail, fit.detail);
        }
    }

    /// Noise in a tenth of the labels: looks must stay rare, or they take all the time. The bound on new rows
    /// (sample compression) is about the θ in the pocket: it is that of replaying its teaching set.
    #[test]
    fn the_error_bound_is_that_of_the_teachers() {
        let mut random = Random::new(3);
        let n = 400;
        let values: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
        let data = Dataset::dense(2, &values, &vec!["1"; n]).unwrap();
        // A little noise, so that the pocket is older than the last θ.
        let signs: Vec<i8> =
            (0..n).map(|i| if values[2 * i] > 0.0 || i % 37 == 0 { 1 } else { -1 }).collect();
        let task = Task::with_signs(&data, signs, 0.0);
        let mut learner = PocketPerceptron::new(&task, 0.0, 0.0);
        let settings = settings(3, 1);
        passes(&mut learner, &settings, Blocks::of(task.data), n, &mut ());
        assert!(learner.pocket.updates < learner.updates, "the pocket must be older than the last θ");
        assert!(learner.pocket.taught != learner.taught);
        let fit = learn(&task, &settings, &PocketOptions::default(), &mut ());
        let Some(Detail::Pocket { error_bound, .. }) = fit.detail else { panic!("{:?}", fit.detail) };
        assert!(error_bound.is_some_and(|bound| bound > 0.02 && bound < 1.0), "{error_bound:?}");
    }

    #[test]
    fn looks_are_rare() {
        let mut random = Random::new(5);
        let n = 3_000;
        let values: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
        let signs: Vec<i8> =
            (0..n).map(|i| if (values[3 * i] > 0.0) != (random.below(10) == 0) { 1 } else { -1 }).collect();
        let data = Dataset::dense(3, &values, &vec!["1"; n]).unwrap();
        let task = Task::with_signs(&data, signs, 0.0);
        let fit = learn(&task, &settings(20, 0), &PocketOptions::default(), &mut ());
        let Some(Detail::Pocket { kept, rows, looks, .. }) = fit.detail else { panic!("{:?}", fit.detail) };
        assert!(looks < 200, "{looks} looks in 20 passes");
        assert!(kept as f64 > 0.88 * rows as f64, "{kept} of {rows}");
        assert_eq!(fit.status, Status::EpochLimit);
    }

    #[test]
    fn rows_without_a_margin_leave_something_to_use() {
        // Zero rows count for nothing; a margin beyond all rows is never reached.
        let data = dataset(&[vec![0, 0], vec![0, 0]], 1.0);
        let task = Task::with_signs(&data, vec![1, -1], 0.0);
        let fit = learn(&task, &settings(3, 0), &PocketOptions::default(), &mut ());
        assert_eq!((fit.status, kept(&fit), fit.updates), (Status::EpochLimit, 0, 6));
        let data = dataset(&[vec![2, 1], vec![1, 2]], 1.0);
        let task = Task::with_signs(&data, vec![1, 1], 0.0);
        for margin in [5.0, 1e300, f64::MAX] {
            let fit = learn(&task, &settings(3, 0), &PocketOptions { margin }, &mut ());
            assert_eq!((fit.status, kept(&fit)), (Status::EpochLimit, 0));
            assert_eq!(fit.learned.theta(), &fit.candidates[0]);
            assert!(fit.learned.theta().weights.iter().all(|&w| w > 0.0));
        }
        // One row, and the same row with both labels.
        let data = dataset(&[vec![3]], 1e-60);
        let task = Task::with_signs(&data, vec![-1], 0.0);
        let fit = learn(&task, &settings(9, 0), &PocketOptions { margin: 2.9e-60 }, &mut ());
        assert_eq!((fit.status, fit.updates, kept(&fit)), (Status::Converged, 1, 1));
        let data = dataset(&[vec![3], vec![3]], 1e60);
        let task = Task::with_signs(&data, vec![1, -1], 0.0);
        let fit = learn(&task, &settings(9, 0), &PocketOptions::default(), &mut ());
        assert_eq!((fit.status, fit.epochs, kept(&fit)), (Status::EpochLimit, 9, 1));
    }

    #[test]
    fn a_margin_out_of_range_is_refused_with_the_reason() {
        for margin in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let text = PocketOptions { margin }.validate().unwrap_err().problem;
            assert!(text.contains("a finite number from 0 on") && text.contains("distance"), "{text}");
        }
        assert_eq!(PocketOptions { margin: 3.0 }.validate(), Ok(()));
    }
}

//! The lifted perceptron: a coordinate of its own for every example.
//!
//! x̃_i = [a x_i; √(1−a²) e_i], 0 < a < 1, makes any rows separable: the vector with y_i in coordinate i agrees with all
//! of them. The n coordinates are never built: the weight of the i-th is √(1−a²) y_i m_i, where m_i is the number of
//! mistakes on row i. Divided by a, which changes no sign, everything depends on q = (1−a²)/a² alone:
//!
//! agreement_i = ⟨θ, z_i⟩ + q m_i, θ = Σ m_i z_i
//!
//! That is the perceptron with a bonus for the mistakes already made on a row; in the first pass there is none. So θ is
//! kept without the factor a: it is the same classifier, a sum of whole rows as in the perceptron, with the same upper
//! bound ‖θ‖/k of γ*. Only θ predicts.

use crate::linalg::rounding_error_bound;
use crate::numbers::{Rounding, counted, rounded};
use crate::observe::Observer;
use crate::theory::lifting::best_lifting;
use crate::theory::margin::{MistakeLedger, certain_agreement, quotient_down};
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
use crate::train::learners::svm::{self, SvmLoss, SvmOptions};
use crate::train::learners::{Learner, Options};
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "lifted",
    title: "lifted perceptron",
    summary: "Gives every row an extra coordinate of its own, so that it converges on any data: for \
              studying overlap as in the lecture notes",
    options: &[OptionDescriptor {
        name: "lift",
        symbol: "a",
        kind: OptionKind::Number(SHARES),
        auto: Some("the best share by the lifting lemma"),
        default: "auto",
        help: "the share a of the features in a lifted row",
    }],
    abilities: Abilities {
        weights: Ability::No("its theorem needs steps of equal size"),
        always_converges: true,
        ..Abilities::ALL_ROWS
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Lifted(LiftedOptions { a: None }),
};

/// The values of a. With a smaller one, 1/a² would overflow in sums.
const SHARES: NumberRange = NumberRange::from_below(MIN_A, 1.0);

/// The options of the lifted perceptron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiftedOptions {
    /// a in (0, 1); none for the one that minimises the bound of the lifting lemma.
    pub a: Option<f64>,
}

/// The smallest a.
const MIN_A: f64 = 1e-100;

impl Registered for LiftedOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        let Detail::Lifted { a, lifted_margin_lower, mistakes, bound } = detail else { return None };
        let mut text = format!(
            "lifted with a = {}: {}",
            rounded(*a, Rounding::Down),
            counted(*mistakes, "mistake", "mistakes")
        );
        if let Some(bound) = bound {
            text += &format!(" of at most {}", rounded(*bound, Rounding::Up));
        }
        if let Some(lower) = lifted_margin_lower {
            text +=
                &format!("; the lifted rows have a margin of at least {}", rounded(*lower, Rounding::Down));
        }
        Some(text)
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        Ok(Learner::Lifted(Self { a: given.number_or_auto("lift").unwrap_or(self.a) }))
    }

    fn options(&self) -> Options {
        Options::new().with("lift", self.a)
    }

    fn describe(&self) -> String {
        match self.a {
            Some(a) => format!("lifted perceptron, a = {a}"),
            None => "lifted perceptron, a from the lemma".to_string(),
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
        match self.a {
            Some(a) if !SHARES.contains(a) => Err(SettingsError::new(
                "lift",
                format!(
                    "the share a of the lifted rows must be above 0 (from {MIN_A:e} on) and below 1, not \
                     {a}: at 0 the features vanish, at 1 nothing is lifted"
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Goes through the rows until a pass without a mistake on the lifted ones, or until a limit.
///
/// Without a given a, a few passes of an averaged perceptron come first, to find one.
pub(crate) fn learn(
    task: &Task<'_>,
    settings: &Settings,
    options: &LiftedOptions,
    observer: &mut dyn Observer,
) -> Fit {
    let comparator = options.a.is_none().then(|| compare(task, settings, observer));
    let stopped = comparator.as_ref().map(|found| found.status);
    let stopped = stopped.filter(|status| matches!(status, Status::Interrupted | Status::TimeLimit));
    let lift = match &comparator {
        Some(found) => Lift::best_for(task, found.learned.theta()),
        None => Lift::by_hand(options.a.unwrap_or(0.5)),
    };
    let mut learner = LiftedPerceptron::new(task, lift.q, settings.bias.input());
    let pause_rows = rows_between_pauses(task.data);
    let status = stopped
        .unwrap_or_else(|| passes(&mut learner, settings, Blocks::of(task.data), pause_rows, observer));
    learner.end_pass();
    let uppers = [learner.margin_upper(), comparator.as_ref().and_then(|found| found.margin_upper)];
    Fit {
        status,
        epochs: learner.cursor.passes_begun(),
        updates: learner.updates,
        candidates: comparator.iter().map(|found| found.learned.theta().clone()).collect(),
        margin_upper: uppers.into_iter().flatten().reduce(f64::min),
        space: None,
        detail: Some(Detail::Lifted {
            a: lift.a,
            lifted_margin_lower: (status == Status::Converged)
                .then(|| learner.lifted_margin(lift.a))
                .flatten(),
            mistakes: learner.updates,
            bound: lift.bound,
        }),
        learned: Learned::Linear(learner.theta),
    }
}

/// Passes that are spent on finding a direction to compare with.
const COMPARATOR_PASSES: u64 = 20;

/// A direction whose slacks are small in the squares, which is what the lemma asks for: a support vector machine with the
/// squared hinge, on the scale of the rows.
fn compare(task: &Task<'_>, settings: &Settings, observer: &mut dyn Observer) -> Fit {
    let radius = task.extent.radius_upper;
    let c = (1.0 / (radius * radius)).clamp(1e-100, 1e100);
    let options = SvmOptions { loss: SvmLoss::SquaredHinge, c, gap: 0.01 };
    let settings = Settings {
        epochs: COMPARATOR_PASSES,
        max_seconds: settings.max_seconds,
        seed: settings.seed,
        bias: settings.bias,
        ..Settings::default()
    };
    svm::learn(task, None, &settings, &options, observer)
}

/// The perceptron on the lifted rows.
struct LiftedPerceptron<'a> {
    task: &'a Task<'a>,
    cursor: Cursor,
    /// (1−a²)/a², within a few roundings.
    q: f64,
    /// Σ m_i z_i
    theta: Theta,
    /// m_i
    mistakes: Vec<u64>,
    /// Σ m_i
    updates: u64,
    ledger: MistakeLedger,
    /// No agreement is a sum of more products.
    terms: usize,
    /// What rounding can do to ⟨θ, z⟩.
    rounding_error: f64,
}

/// The relative error of q m_i is less: at most five roundings of q, one of the product, one of the sum.
const OWN_ERROR: f64 = 16.0 * f64::EPSILON / 2.0;

impl<'a> LiftedPerceptron<'a> {
    fn new(task: &'a Task<'a>, q: f64, bias_input: f64) -> Self {
        let theta = Theta::zero(task.data.columns(), bias_input);
        Self {
            task,
            cursor: Cursor::default(),
            q,
            mistakes: vec![0; task.data.len()],
            updates: 0,
            ledger: MistakeLedger::new(&theta),
            terms: task.data.longest_row() + 1,
            rounding_error: 0.0,
            theta,
        }
    }

    #[inline]
    fn set_rounding_error(&mut self) {
        let norm = self.ledger.norm_squared().sqrt().next_up();
        self.rounding_error = rounding_error_bound(self.terms, norm * self.task.extent.radius_upper);
    }

    /// A number that the agreement of lifted row i, divided by a², certainly is not below.
    fn certain(&self, i: usize) -> f64 {
        let own = self.q * self.mistakes[i] as f64 * (1.0 - OWN_ERROR);
        certain_agreement(&self.theta, self.task.data.row(i), self.task.signs[i]) + own
    }

    /// A lower bound of the margin that all lifted rows have: least agreement over length, both with their factor a.
    fn lifted_margin(&self, a: f64) -> Option<f64> {
        let least = (0..self.task.data.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|i| self.certain(i))
            .reduce(|| f64::MAX, f64::min);
        let own: u128 = self.mistakes.iter().map(|&m| u128::from(m).pow(2)).sum();
        let norm = self.theta.norm().high;
        let length = (norm * norm + self.q * own as f64).sqrt() * (1.0 + OWN_ERROR);
        (least > 0.0 && length > 0.0).then(|| quotient_down(least, length) * a * (1.0 - OWN_ERROR))
    }
}

impl RowLearner for LiftedPerceptron<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn visit(&mut self, i: usize, _: &mut dyn Observer) -> bool {
        let (row, y) = (self.task.data.row(i), f64::from(self.task.signs[i]));
        let agreement = y * self.theta.score(row);
        let own = self.q * self.mistakes[i] as f64;
        let lifted = agreement + own;
        // What cannot be told from zero counts as a mistake, so a pass without one is certain.
        let right = if lifted.abs() > self.rounding_error + OWN_ERROR * own {
            lifted > 0.0
        } else {
            self.certain(i) > 0.0
        };
        if right {
            return false;
        }
        self.theta.add(y, row);
        self.mistakes[i] += 1;
        self.updates += 1;
        self.ledger.record(agreement, self.theta.extended_norm_squared(row), row.stored() + 1);
        self.set_rounding_error();
        true
    }

    fn prefetch(&self, i: usize) {
        self.task.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        self.ledger.tighten(&self.theta);
        self.set_rounding_error();
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(&self.theta, None)
    }
}

/// How much is lifted.
#[derive(Clone, Copy, Debug)]
struct Lift {
    a: f64,
    /// (1−a²)/a²
    q: f64,
    /// Proved bounds on the number of mistakes, where a comparator has been found.
    bound: Option<f64>,
}

/// q is at least this times R², so that rounding in D cannot leave rows without a lift that need one.
const MIN_LIFT: f64 = 1e-9;

impl Lift {
    fn by_hand(a: f64) -> Self {
        Self { a, q: (1.0 - a) * (1.0 + a) / (a * a), bound: None }
    }

    /// The best lift for a direction by the lifting lemma: q = RD, for the γ that makes ((R + D)/γ)² small.
    fn best_for(task: &Task<'_>, comparator: &Theta) -> Self {
        let radius = task.extent.radius_upper;
        if radius == 0.0 {
            // Zero rows: each is learned by one mistake.
            return Self { a: 0.5f64.sqrt(), q: 1.0, bound: Some(task.data.len() as f64) };
        }
        // Where none was found, any direction will do: the lemma then says to learn every row by heart.
        let mut any = Theta::zero(task.data.columns(), comparator.bias_input);
        match any.weights.first_mut() {
            Some(first) => *first = 1.0,
            None => any.bias = 1.0,
        }
        let lemma = |theta: &Theta| best_lifting(task.data, &task.signs, theta);
        let Some(lemma) = lemma(comparator).or_else(|| lemma(&any)) else {
            return Self { bound: None, ..Self::by_hand(0.5f64.sqrt()) };
        };
        let q = (lemma.radius * lemma.slack_norm).max(MIN_LIFT * radius * radius);
        let bound = lemma.mistake_bound_for_share(q);
        Self { a: 1.0 / (1.0 + q).sqrt(), q, bound: Some(bound).filter(|bound| bound.is_finite()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Dataset, Row};
    use crate::random::Random;
    use crate::theory::margin::lower_bound;
    use crate::train::engine::whole_rows::{dataset, examples};
    use crate::train::{Bias, MistakeRule, Order, Perceptron};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    fn settings(epochs: u64) -> Settings {
        Settings { epochs, bias: Bias::None, order: Order::Given, ..Settings::default() }
    }

    fn told(fit: &Fit) -> (f64, Option<f64>, Option<f64>) {
        let Some(Detail::Lifted { a, lifted_margin_lower, mistakes, bound }) = fit.detail else {
            panic!("{:?}", fit.detail)
        };
        assert_eq!(mistakes, fit.updates);
        (a, lifted_margin_lower, bound)
    }

    proptest! {
        /// Against the plain perceptron on rows with all their coordinates, update for update. With q = 1, 4 or ¼ all
        /// of it is in whole numbers.
        #[test]
        fn it_is_the_perceptron_on_lifted_rows((rows, signs) in examples(25, 3), root in prop_oneof![Just(1.0), Just(2.0), Just(0.5)]) {
            let n = rows.len();
            let data = dataset(&rows, 1.0);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let mut lifted = LiftedPerceptron::new(&task, root * root, 0.0);
            let mut plain = Perceptron::new(Theta::zero(3 + n, 0.0), MistakeRule::NonPositive);
            for pass in 1.. {
                let before = plain.updates;
                for i in 0..n {
                    let mut built: Vec<f64> = rows[i].iter().map(|&x| f64::from(x)).collect();
                    built.extend((0..n).map(|j| if i == j { root } else { 0.0 }));
                    let updated = plain.learn(Row::DenseF64(&built), f64::from(signs[i])).is_some();
                    prop_assert_eq!(lifted.visit(i, &mut ()), updated);
                    prop_assert_eq!(&plain.theta.weights[..3], &lifted.theta.weights[..]);
                    let own = f64::from(signs[i]) * root * lifted.mistakes[i] as f64;
                    prop_assert_eq!(plain.theta.weights[3 + i], own);
                }
                if plain.updates == before {
                    break;
                }
                prop_assert!(pass < 100_000, "lifted rows are separable");
            }
            prop_assert_eq!(lifted.updates, plain.updates);
            // The margin is that of the built rows: recomputed with a = 1/√(1 + q).
            let a = 1.0 / (1.0 + root * root).sqrt();
            let norm = plain.theta.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            let least = (0..n)
                .map(|i| f64::from(signs[i]) * (plain.theta.score(data.row(i)) + root * plain.theta.weights[3 + i]))
                .fold(f64::MAX, f64::min);
            let expected = a * least / norm;
            let found = lifted.lifted_margin(a).unwrap();
            prop_assert!(found <= expected && found >= expected * (1.0 - 1e-12), "{found} {expected}");
        }

        /// No row has a bonus in the first pass: it is that of the perceptron, for any a.
        #[test]
        fn the_first_pass_is_that_of_the_perceptron((rows, signs) in examples(25, 3), a in 1e-9f64..1.0, scale in prop_oneof![Just(1.0), Just(0.1), Just(1e60)]) {
            let data = dataset(&rows, scale);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let fit = learn(&task, &settings(1), &LiftedOptions { a: Some(a) }, &mut ());
            let mut plain = Perceptron::new(Theta::zero(3, 0.0), MistakeRule::NonPositive);
            let longest = data.longest_row() + 1;
            for (i, &sign) in signs.iter().enumerate() {
                plain.rounding_error = rounding_error_bound(longest, plain.theta.norm().high * task.extent.radius_upper);
                plain.learn(data.row(i), f64::from(sign));
            }
            prop_assert_eq!(fit.learned.theta(), &plain.theta);
            prop_assert_eq!((fit.updates, fit.epochs), (plain.updates, 1));
        }

        /// Any rows and labels are learned with the a that is chosen, at any scale, within the bound, and the upper
        /// bound of γ* is true of the rows themselves.
        #[test]
        fn anything_is_learned_within_the_bound(
            (rows, signs) in examples(25, 3),
            scale in prop_oneof![Just(1.0), Just(0.1), Just(1e-60), Just(1e60), Just(1e-139), Just(1e139)],
            twice: bool,
            seed: u64,
            guess in prop::collection::vec(-5i32..6, 3),
        ) {
            let (mut rows, mut signs) = (rows, signs);
            if twice {
                // Every row with both labels.
                rows.extend(rows.clone());
                signs.extend(signs.clone().iter().map(|sign| -sign));
            }
            let data = dataset(&rows, scale);
            let task = Task::with_signs(&data, signs.clone(), 0.0);
            let settings = Settings { seed, order: Order::Shuffle, ..settings(1_000_000) };
            let fit = learn(&task, &settings, &LiftedOptions::default(), &mut ());
            prop_assert_eq!(fit.status, Status::Converged);
            let (_, lifted, bound) = told(&fit);
            prop_assert!(fit.updates as f64 <= bound.unwrap(), "{} > {:?}", fit.updates, bound);
            prop_assert!(lifted.unwrap() > 0.0);
            // Never worse than learning every row by heart, up to the ends of the search.
            prop_assert!(bound.unwrap() <= rows.len() as f64 * 1.01 + 1.01);
            let guess = Theta { weights: guess.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let lowers = [&guess, fit.learned.theta(), &fit.candidates[0]].map(|theta| lower_bound(&data, &signs, theta));
            for lower in lowers.into_iter().flatten() {
                prop_assert!(lower <= fit.margin_upper.unwrap());
            }
        }

        /// Novikoff on the lifted rows, for an a by hand: the margin found at the end bounds the mistakes made.
        #[test]
        fn the_lifted_margin_bounds_the_mistakes((rows, signs) in examples(25, 3), a in 0.05f64..0.95) {
            let data = dataset(&rows, 1.0);
            let task = Task::with_signs(&data, signs, 0.0);
            let fit = learn(&task, &settings(1_000_000), &LiftedOptions { a: Some(a) }, &mut ());
            prop_assert_eq!(fit.status, Status::Converged);
            let (told_a, lifted, bound) = told(&fit);
            prop_assert_eq!((told_a, bound), (a, None));
            let radius_squared = a * a * task.extent.radius_upper.powi(2) + 1.0 - a * a;
            let margin = lifted.unwrap();
            prop_assert!(margin <= radius_squared.sqrt());
            prop_assert!(fit.updates as f64 <= radius_squared / (margin * margin) * (1.0 + 1e-9));
        }

        /// The search finds the least of the bound: no other γ of a fine grid does better.
        #[test]
        fn the_lift_is_the_best_for_its_comparator(seed: u64, n in 1usize..60, shift in 0.0f64..3.0, power in -3i32..4) {
            let mut random = Random::new(seed);
            let scale = 10f64.powi(power);
            let signs: Vec<i8> = (0..n).map(|_| if random.below(2) == 0 { 1 } else { -1 }).collect();
            let values: Vec<f64> = (0..2 * n).map(|k| scale * (random.normal() + shift * f64::from(signs[k / 2]))).collect();
            let data = Dataset::dense(2, &values, &vec!["1"; n]).unwrap();
            let task = Task::with_signs(&data, signs, 0.0);
            let comparator = Theta { weights: vec![0.3, 0.4], bias: 0.0, bias_input: 0.0 };
            let margins: Vec<f64> = (0..n)
                .map(|i| f64::from(task.signs[i]) * comparator.score(data.row(i)) / 0.5)
                .collect();
            let found = Lift::best_for(&task, &comparator);
            let radius = task.extent.radius_upper;
            for step in 1..400 {
                let gamma = radius * 1.05f64.powi(step - 200);
                let d = margins.iter().map(|m| (gamma - m).max(0.0).powi(2)).sum::<f64>().sqrt();
                let bound = ((radius + d) / gamma).powi(2);
                prop_assert!(found.bound.unwrap() <= bound * (1.0 + 1e-4), "{:?} {gamma} {bound}", found);
            }
            prop_assert!((found.a * found.a * (1.0 + found.q) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn contradictions_are_learned_and_predict_nothing() {
        let data = dataset(&[vec![2, 1], vec![2, 1]], 1.0);
        let task = Task::with_signs(&data, vec![1, -1], 0.0);
        for a in [None, Some(0.1), Some(0.9)] {
            let fit = learn(&task, &settings(1_000), &LiftedOptions { a }, &mut ());
            assert_eq!(fit.status, Status::Converged);
            assert_eq!(lower_bound(&data, &task.signs, fit.learned.theta()), None);
        }
        let data = dataset(&[vec![0], vec![0], vec![0]], 1.0);
        let task = Task::with_signs(&data, vec![1, -1, 1], 0.0);
        let fit = learn(&task, &settings(9), &LiftedOptions::default(), &mut ());
        assert_eq!((fit.status, fit.updates, fit.epochs), (Status::Converged, 3, 2));
        assert_eq!(told(&fit).2, Some(3.0));
    }

    #[test]
    fn an_a_out_of_range_is_refused_with_the_reason() {
        for a in [0.0, 1.0, -0.5, 2.0, 1e-101, f64::NAN, f64::INFINITY] {
            let text = LiftedOptions { a: Some(a) }.validate().unwrap_err().problem;
            assert!(
                text.contains("above 0") && text.contains("below 1") && text.contains("the features vanish"),
                "{text}"
            );
        }
        for a in [None, Some(1e-100), Some(0.5), Some(1.0f64.next_down())] {
            assert_eq!(LiftedOptions { a }.validate(), Ok(()));
        }
    }

    /// Stops at the first pause.
    struct Impatient;

    impl Observer for Impatient {
        fn progress(&mut self, _: &crate::observe::Progress) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }

    #[test]
    fn limits_are_kept_also_while_a_is_sought() {
        let data = dataset(&[vec![2, 1], vec![2, 1], vec![1, 5]], 1.0);
        let task = Task::with_signs(&data, vec![1, -1, 1], 0.0);
        for a in [None, Some(0.9)] {
            let options = LiftedOptions { a };
            let fit = learn(&task, &settings(9), &options, &mut Impatient);
            assert_eq!(fit.status, Status::Interrupted);
            let fit = learn(&task, &Settings { max_seconds: Some(1e-9), ..settings(9) }, &options, &mut ());
            assert_eq!(fit.status, Status::TimeLimit);
            let fit = learn(&task, &Settings { max_updates: Some(2), ..settings(9) }, &options, &mut ());
            assert_eq!((fit.status, fit.updates), (Status::UpdateLimit, 2));
        }
    }
}

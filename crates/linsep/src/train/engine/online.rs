//! One learner that takes one example at a time: every pass over a data set and every stream is made of its steps.

use crate::SettingsError;
use crate::dataset::Row;
use crate::linalg::rounding_error_bound;
use crate::theory::margin::{Extent, MistakeLedger};
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::row_rule::{Memory, Start, Step};
use crate::train::engine::run::Status;
use crate::train::learners::averaged::Average;
use crate::train::learners::voted::{Ballot, Votes};
use crate::train::learners::{Combine, Core};
use crate::train::settings::{Init, Settings};

/// A learner of two sides that takes one example at a time, with the memory of its variant and the ledger of its theorem.
///
/// Learning one by one, in chunks, from a file or from a stream goes through [`learn`](Self::learn), so all give
/// the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineLearner {
    pub(crate) core: Core,
    pub(crate) memory: Memory,
    pub(crate) ledger: MistakeLedger,
    /// θ₀, where it is not zero.
    pub(crate) start: Option<Theta>,
    /// The first example is still to be added, whatever its agreement (`Init::First`).
    pub(crate) awaits_first: bool,
    /// No row is longer than this, nor has more values: the rounding error depends on both.
    longest: f64,
    most_terms: usize,
}

/// An update that has been made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppliedUpdate {
    /// y⟨θ, x̃⟩ before the update.
    pub agreement: f64,
    /// ‖x̃‖², rounded.
    pub row_squared: f64,
}

impl OnlineLearner {
    /// A learner for rows with `columns` features; more can turn up later.
    pub fn new(settings: &Settings, columns: usize) -> Result<Self, SettingsError> {
        settings.validate()?;
        Self::with_radius(settings, columns, None)
    }

    /// A learner for rows of at most this length (with the appended coordinate), where that is known, by settings that have been
    /// checked.
    pub(crate) fn with_radius(
        settings: &Settings,
        columns: usize,
        radius: Option<f64>,
    ) -> Result<Self, SettingsError> {
        let bias_input = settings.bias.input();
        let (theta, start) = match &settings.init {
            Init::Zero | Init::First => (Theta::zero(columns, bias_input), None),
            Init::Warm(theta) => {
                let mut theta = theta.clone();
                theta.widen(columns);
                (theta.clone(), Some(theta))
            }
        };
        let columns = theta.weights.len();
        let memory = match settings.learner.registered().combine() {
            Combine::Last => Memory::Nothing,
            Combine::Average => Memory::Average(Average::new(columns, bias_input)),
            Combine::Vote => Memory::Votes(Votes::new()),
        };
        let ledger = MistakeLedger::new(&theta);
        let core = settings.learner.registered().row_rule(settings, Start { theta, radius })?;
        Ok(Self::from_parts(core, memory, ledger, start, settings.init == Init::First))
    }

    pub(crate) fn from_parts(
        core: Core,
        memory: Memory,
        ledger: MistakeLedger,
        start: Option<Theta>,
        awaits_first: bool,
    ) -> Self {
        Self { core, memory, ledger, start, awaits_first, longest: 0.0, most_terms: 0 }
    }

    /// Goes on from where `common` stands, over other rows. The average is counted from here, to be joined with that of
    /// the others that follow.
    pub(crate) fn follow(&mut self, common: &Self) {
        self.core.theta_mut().copy_from(common.core.theta());
        *self.core.parts_mut().1 = common.updates();
        if let Memory::Average(average) = &mut self.memory {
            average.clear();
        }
        self.ledger = common.ledger;
        (self.longest, self.most_terms) = (common.longest, common.most_terms);
        self.update_rounding_error();
    }

    /// Prepares for rows of at most this length (with the appended coordinate) and this many stored values.
    pub(crate) fn expect_rows(&mut self, longest: f64, most_stored: usize) {
        self.longest = self.longest.max(longest);
        self.most_terms = self.most_terms.max(most_stored + 1);
        self.update_rounding_error();
    }

    /// Sets below which size an agreement is computed again with certainty.
    #[inline]
    fn update_rounding_error(&mut self) {
        let squared = self.ledger.norm_squared();
        let rounding_error = rounding_error_bound(self.most_terms, squared.sqrt() * self.longest);
        self.core.measure(squared, rounding_error);
    }

    /// Learns from one example with label `sign` = ±1. Returns the update, if there was one.
    ///
    /// `key` names a row that may come again, which saves memory for learners that keep their mistakes.
    pub fn learn(&mut self, row: Row<'_>, sign: i8, key: Option<u32>) -> Option<AppliedUpdate> {
        self.learn_weighted(row, sign, 1.0, key)
    }

    /// Learns from one example that counts `weight` times.
    pub fn learn_weighted(
        &mut self,
        row: Row<'_>,
        sign: i8,
        weight: f64,
        key: Option<u32>,
    ) -> Option<AppliedUpdate> {
        let mut extent = Extent::default();
        extent.include(row, self.core.theta().bias_input);
        if extent.radius_upper > self.longest || row.stored() >= self.most_terms {
            self.expect_rows(extent.radius_upper, row.stored());
        }
        self.learn_expected(row, sign, weight, key)
    }

    /// Learns from a row that was announced with [`expect_rows`](Self::expect_rows).
    #[inline]
    pub(crate) fn learn_expected(
        &mut self,
        row: Row<'_>,
        sign: i8,
        weight: f64,
        key: Option<u32>,
    ) -> Option<AppliedUpdate> {
        if weight == 0.0 {
            return None;
        }
        let width = row.width();
        if width > self.core.theta().weights.len() {
            self.widen(width);
        }
        let y = f64::from(sign);
        let step = if std::mem::take(&mut self.awaits_first) {
            self.core.theta_mut().add(y * weight, row);
            *self.core.parts_mut().1 += 1;
            Step { agreement: 0.0, size: weight, added: weight }
        } else {
            self.core.step(row, y, weight, &mut self.memory, &mut self.ledger)
        };
        let applied = (step.size != 0.0).then(|| {
            let row_squared = self.core.theta().extended_norm_squared(row);
            if self.core.sums_rows() {
                self.ledger.record_step(step.agreement, row_squared, row.stored() + 1, step.size);
                self.update_rounding_error();
            }
            AppliedUpdate { agreement: step.agreement, row_squared }
        });
        match &mut self.memory {
            Memory::Nothing => {}
            Memory::Average(average) => average.see(row, step.added * y, self.core.scale()),
            Memory::Votes(votes) => votes.see(row, sign, applied.is_some(), key),
        }
        // Sums with v would lose digits.
        if self.core.scale() < 1e-3 {
            self.fold();
        }
        applied
    }

    /// Whether every example moves θ, also one that leads to no update: then a pass without an update is no end.
    pub(crate) fn updates_every_row(&self) -> bool {
        self.core.updates_every_row()
    }

    /// Brings θ = s·v back to s = 1.
    fn fold(&mut self) {
        if self.core.scale() == 1.0 {
            return;
        }
        if let Memory::Average(average) = &mut self.memory {
            average.flush(self.core.theta());
        }
        self.core.fold();
        self.update_rounding_error();
    }

    /// How many updates have been made.
    pub fn updates(&self) -> u64 {
        *self.core.parts().1
    }

    /// The last θ; for descent with an L2 penalty, as of the end of a pass.
    pub fn theta(&self) -> &Theta {
        self.core.theta()
    }

    /// ⟨θ, x̃⟩ for the last θ and a row without columns that are new, rounded.
    pub(crate) fn score(&self, row: Row<'_>) -> f64 {
        self.core.scale() * self.core.theta().score(row)
    }

    /// Takes stock at the end of a pass: bounds that were carried along are computed afresh.
    pub fn end_pass(&mut self) {
        self.fold();
        self.ledger.tighten(self.core.theta());
        self.update_rounding_error();
    }

    /// The upper bound of γ* that the updates so far prove, if there are any.
    pub fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(self.core.theta(), self.start.as_ref())
    }

    /// The decision function so far.
    pub fn learned(&self) -> Learned {
        let mut last = self.core.theta().clone();
        if self.memory == Memory::Nothing && self.core.scale() != 1.0 {
            last.multiply(self.core.scale());
        }
        match &self.memory {
            Memory::Nothing => Learned::Linear(last),
            Memory::Average(average) => Learned::Linear(average.mean(&last)),
            Memory::Votes(votes) => {
                let columns = last.weights.len();
                let start = self.start.clone().unwrap_or_else(|| Theta::zero(columns, last.bias_input));
                Learned::Voted { start, last, ballot: Box::new(Ballot::new(votes.without_keys(), columns)) }
            }
        }
    }

    /// [`learned`](Self::learned) at the end of a run, where votes, of which there may be hundreds of megabytes, are not
    /// copied.
    fn into_learned(mut self) -> Learned {
        let Memory::Votes(votes) = &mut self.memory else { return self.learned() };
        let votes = std::mem::take(votes).into_without_keys();
        let last = self.core.theta().clone();
        let columns = last.weights.len();
        let start = self.start.unwrap_or_else(|| Theta::zero(columns, last.bias_input));
        Learned::Voted { start, last, ballot: Box::new(Ballot::new(votes, columns)) }
    }

    /// What a run over a data set ends with, before it is judged.
    pub(crate) fn into_fit(mut self, status: Status, epochs: u64, detail: Option<Detail>) -> Fit {
        self.end_pass();
        let detail = detail.or_else(|| self.core.detail());
        self.core.finish();
        let (updates, last, margin_upper) = (self.updates(), self.theta().clone(), self.margin_upper());
        Fit {
            learned: self.into_learned(),
            status,
            epochs,
            updates,
            candidates: vec![last],
            margin_upper,
            space: None,
            detail,
        }
    }

    /// What ⟨θ, x̃⟩ may be off by for a perceptron.
    pub(crate) fn rounding_error(&self) -> f64 {
        self.core.rounding_error()
    }

    /// Counts rows that a perceptron would have seen without a mistake.
    pub(crate) fn pass_over(&mut self, rows: u64) {
        if let Memory::Average(average) = &mut self.memory {
            average.pass_over(rows);
        }
    }

    pub(crate) fn widen(&mut self, columns: usize) {
        for theta in self.vectors() {
            theta.widen(columns);
        }
    }

    /// Every vector that has a place for each feature.
    fn vectors(&mut self) -> impl Iterator<Item = &mut Theta> {
        let (late, flushed_sum) = match &mut self.memory {
            Memory::Average(average) => (Some(&mut average.late), average.flushed_sum.as_mut()),
            _ => (None, None),
        };
        std::iter::once(self.core.theta_mut()).chain(late).chain(flushed_sum).chain(self.start.as_mut())
    }

    /// Exchanges the labels of everything learned so far: the same run with −1 and +1 swapped.
    pub(crate) fn exchange_labels(&mut self) {
        self.vectors().for_each(Theta::negate);
        if let Memory::Votes(votes) = &mut self.memory {
            votes.negate();
        }
    }

    /// Moves every feature down by one: the stream turned out to count from 1.
    pub(crate) fn shift_features_down(&mut self) {
        self.vectors().for_each(Theta::shift_down);
        self.core.shift_features_down();
        if let Memory::Votes(votes) = &mut self.memory {
            votes.shift_down();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::theory::margin::lower_bound;
    use crate::train::{
        Aggression, Bias, ClassWeight, Learner, Loss, MarginRule, Order, PassiveAggressiveOptions,
        SgdOptions, StepSchedule, train,
    };
    use proptest::prelude::*;

    /// Every learner that takes one row at a time, with steps of all sizes.
    fn learners() -> impl Strategy<Value = Learner> {
        let loss =
            prop_oneof![Just(Loss::Perceptron), Just(Loss::Hinge), Just(Loss::Log), Just(Loss::Squared)];
        let schedule = prop_oneof![
            Just(StepSchedule::Constant),
            Just(StepSchedule::Power(0.7)),
            Just(StepSchedule::Shrinking),
            Just(StepSchedule::Adaptive)
        ];
        let l2 = prop_oneof![Just(0.0), Just(1e-4), Just(0.3)];
        let combine = prop_oneof![Just(Combine::Last), Just(Combine::Average)];
        let sgd = (loss, schedule, l2, combine.clone()).prop_map(|(loss, schedule, l2, combine)| {
            let l2 = if schedule == StepSchedule::Adaptive { 0.0 } else { l2 };
            Learner::Sgd(SgdOptions { loss, schedule, step: None, l2, combine })
        });
        let aggression =
            prop_oneof![Just(Aggression::Full), Just(Aggression::Capped), Just(Aggression::Softened)];
        let passive = (aggression, 1e-3f64..1e3, combine).prop_map(|(aggression, c, combine)| {
            Learner::PassiveAggressive(PassiveAggressiveOptions { aggression, c, combine })
        });
        prop_oneof![Just(Learner::Averaged), Just(Learner::Margin(MarginRule::default())), sgd, passive]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// The spine, for steps of any size: what the updates prove γ* to be at most is never below what a separator
        /// proves it to be at least. Separable by construction, at any scale, with duplicates and with class weights.
        #[test]
        fn no_sum_of_rows_proves_too_much(
            learner in learners(),
            points in prop::collection::vec(prop::collection::vec(-9i32..10, 3), 2..20),
            normal in prop::collection::vec(-9i32..10, 3),
            power in prop_oneof![-40i32..40, Just(-180), Just(180)],
            weight in prop_oneof![Just(1.0), 0.01f64..100.0],
            epochs in 1u64..12,
            seed: u64,
        ) {
            let side = |p: &[i32]| p.iter().zip(&normal).map(|(a, b)| a * b).sum::<i32>();
            let rows: Vec<&Vec<i32>> = points.iter().filter(|p| side(p) != 0).collect();
            let scale = 2f64.powi(power) / 3.0;
            let values: Vec<f64> = rows.iter().flat_map(|p| p.iter()).map(|&x| f64::from(x) * scale).collect();
            let signs: Vec<i8> = rows.iter().map(|p| side(p).signum() as i8).collect();
            prop_assume!(signs.contains(&1) && signs.contains(&-1));
            let labels: Vec<String> = signs.iter().map(i8::to_string).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let weighable = !matches!(learner, Learner::Margin(_))
                && !matches!(learner, Learner::PassiveAggressive(options) if options.aggression == Aggression::Full);
            let class_weight = if weighable && weight != 1.0 {
                ClassWeight::Named(vec![("1".into(), weight)])
            } else {
                ClassWeight::Equal
            };
            let settings = Settings {
                learner, epochs, seed, class_weight, bias: Bias::None, order: Order::Shuffle, ..Settings::default()
            };
            // Steps that run away end in an error, which claims nothing.
            let outcome = train(&data, &settings, &mut ());
            prop_assume!(outcome.is_ok());
            let outcome = outcome.unwrap();
            let separator = Theta {
                weights: normal.iter().map(|&w| f64::from(w)).collect(),
                bias: 0.0,
                bias_input: 0.0,
            };
            let lower = lower_bound(&data, &signs, &separator).unwrap();
            let margin = outcome.evidence.margin;
            prop_assert!(lower <= margin.upper, "{lower} > {}", margin.upper);
            prop_assert!(margin.lower.unwrap_or(0.0) <= margin.upper);
            if let Some(bound) = outcome.evidence.mistake_bound.upper
                && matches!(settings.learner, Learner::Averaged)
                && settings.class_weight == ClassWeight::Equal
            {
                prop_assert!(outcome.evidence.updates as f64 <= bound);
            }
        }
    }
}

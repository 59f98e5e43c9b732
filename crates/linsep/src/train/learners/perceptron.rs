//! The perceptron: on a mistake, the row is added to the weights.

use crate::SettingsError;
use crate::dataset::Row;
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::row_rule::{Memory, RowRule, Start, Step};
use crate::train::learners::registry::{Abilities, Ability, Descriptor, Registered};
use crate::train::learners::{Core, Learner};
use crate::train::settings::{MistakeRule, Settings};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "perceptron",
    title: "perceptron",
    summary: "Keeps the last weights: the textbook algorithm, for studying the convergence theorem",
    options: &[],
    abilities: ABILITIES,
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Perceptron,
};

/// What the perceptron can do, and its mean.
pub(crate) const ABILITIES: Abilities = Abilities {
    shards: Ability::Yes,
    mistake_rule: true,
    counts_mistakes: true,
    traces_mistakes: true,
    ..Abilities::ROW_BY_ROW
};

/// The perceptron has no options of its own.
pub(crate) struct NoOptions;

impl Registered for NoOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn row_rule(&self, settings: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(Perceptron::new(start.theta, settings.mistake).into())
    }
}

/// Goes through the examples; on a mistake, θ += y x̃.
#[derive(Clone, Debug, PartialEq)]
pub struct Perceptron {
    /// The weights.
    pub theta: Theta,
    /// How many updates have been made.
    pub updates: u64,
    /// Computed agreements no larger than this may have the wrong sign: they are computed again, exactly.
    pub(crate) rounding_error: f64,
    rule: MistakeRule,
}

impl Perceptron {
    /// A perceptron that starts at `theta`.
    pub fn new(theta: Theta, rule: MistakeRule) -> Self {
        Self { theta, updates: 0, rounding_error: 0.0, rule }
    }

    /// Learns from one example with label y = ±1: if it is a mistake, makes the update and gives the agreement
    /// y⟨θ, x̃⟩ from before. An example of weight c has y = ±c, which makes z = y x̃ and the step c times as long.
    #[inline]
    pub fn learn(&mut self, x: Row<'_>, y: f64) -> Option<f64> {
        let agreement = y * self.theta.score(x);
        if !is_mistake(agreement, &self.theta, x, y, self.rounding_error, self.rule) {
            return None;
        }
        self.update(x, y);
        Some(agreement)
    }

    /// θ += y x̃
    #[inline]
    pub fn update(&mut self, x: Row<'_>, y: f64) {
        self.theta.add(y, x);
        self.updates += 1;
    }
}

impl RowRule for Perceptron {
    #[inline]
    fn parts(&self) -> (&Theta, &u64) {
        (&self.theta, &self.updates)
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut Theta, &mut u64) {
        (&mut self.theta, &mut self.updates)
    }

    /// A weight makes the row as much longer, hence agreement and step.
    #[inline]
    fn step(&mut self, row: Row<'_>, y: f64, weight: f64, _: &mut Memory, _: &mut MistakeLedger) -> Step {
        self.learn(row, y * weight).map_or(Step::NONE, |agreement| Step::of(agreement / weight, weight))
    }

    #[inline]
    fn measure(&mut self, _: f64, rounding_error: f64) {
        self.rounding_error = rounding_error;
    }

    fn rounding_error(&self) -> f64 {
        self.rounding_error
    }
}

/// Whether a computed agreement y⟨θ, x̃⟩ is a mistake, where ⟨θ, x̃⟩ may be off by `rounding_error`.
#[inline]
pub(crate) fn is_mistake(
    agreement: f64,
    theta: &Theta,
    x: Row<'_>,
    y: f64,
    rounding_error: f64,
    rule: MistakeRule,
) -> bool {
    if agreement.abs() > rounding_error * y.abs() {
        rule.is_mistake(agreement)
    } else {
        is_mistake_exactly(theta, x, y, rule)
    }
}

/// Decides an agreement whose sign rounding may have changed. An agreement that cannot be told from zero counts as zero,
/// so an example that counts as right is certainly right.
#[cold]
fn is_mistake_exactly(theta: &Theta, x: Row<'_>, y: f64, rule: MistakeRule) -> bool {
    let score = theta.certified_score(x);
    let (low, high) = if y > 0.0 { (score.low, score.high) } else { (-score.high, -score.low) };
    rule.is_mistake(if low <= 0.0 && high >= 0.0 { 0.0 } else { low })
}

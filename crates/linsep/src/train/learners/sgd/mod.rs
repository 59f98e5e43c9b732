//! Stochastic gradient descent on a loss.
//!
//! Minimises λ/2 ‖θ‖² + mean loss(a_t) by one step per example: θ ← (1 − ηλ)θ − η loss′(a) z. With the perceptron's
//! loss max(0, −a), whose subgradient at the kink is taken as −1, and η = 1, λ = 0, this *is* the perceptron, update for
//! update.
//!
//! Shrinking θ would cost a vector operation per example; θ is kept as s·v, and only s shrinks.
//!
//! Except for the perceptron's loss, the steps usually adapt to each feature instead ([`adaptive`]).

mod adaptive;
mod loss;
mod options;
#[cfg(test)]
mod tests;

pub(crate) use adaptive::{Adaptive, Coordinate};
pub use loss::Loss;
pub(crate) use options::DESCRIPTOR;
pub use options::{SgdOptions, StepSchedule};

use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::learners::averaged::Average;
use crate::train::learners::perceptron::is_mistake;
use crate::train::settings::MistakeRule;

/// The state of a run: θ = s·v.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sgd {
    /// v
    pub(crate) theta: Theta,
    /// s
    pub(crate) scale: f64,
    pub(crate) updates: u64,
    /// t, the examples seen.
    pub(crate) seen: u64,
    /// η, the first step.
    pub(crate) step: f64,
    /// What ⟨v, x̃⟩ may be off by.
    pub(crate) rounding_error: f64,
    /// Where the steps adapt to each feature.
    pub(crate) adaptive: Option<Adaptive>,
    options: SgdOptions,
}

/// What one example did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SgdStep {
    /// Its agreement before.
    pub(crate) agreement: f64,
    /// What θ was multiplied by.
    pub(crate) shrunk: f64,
    /// How much of z was added to θ after that.
    pub(crate) size: f64,
    /// How much of z was added to v.
    pub(crate) added: f64,
}

impl Sgd {
    pub(crate) fn new(theta: Theta, options: SgdOptions, step: f64) -> Self {
        let adaptive = (options.schedule == StepSchedule::Adaptive).then(Adaptive::default);
        Self { theta, scale: 1.0, updates: 0, seen: 0, step, rounding_error: 0.0, adaptive, options }
    }

    fn step_now(&self) -> f64 {
        let t = self.seen as f64;
        match self.options.schedule {
            StepSchedule::Constant | StepSchedule::Adaptive => self.step,
            StepSchedule::Power(p) => self.step * libm::pow(t + 1.0, -p),
            StepSchedule::Shrinking => self.step / (1.0 + self.step * self.options.l2 * t),
        }
    }

    /// Learns from one example with label y = ±1, whose loss counts `weight` times.
    #[inline]
    pub(crate) fn learn(&mut self, x: Row<'_>, y: f64, weight: f64) -> SgdStep {
        let score = self.theta.score(x);
        let agreement = y * score * self.scale;
        let pull = match self.options.loss {
            // Decided with the same care as by the perceptron.
            Loss::Perceptron => {
                let rule = MistakeRule::NonPositive;
                f64::from(u8::from(is_mistake(y * score, &self.theta, x, y, self.rounding_error, rule)))
            }
            loss => loss.pull(agreement),
        };
        let step = self.step_now();
        self.seen += 1;
        let shrunk = 1.0 - step * self.options.l2;
        self.scale *= shrunk;
        let added = step * pull * weight / self.scale;
        if added != 0.0 {
            self.theta.add(added * y, x);
            self.updates += 1;
        }
        SgdStep { agreement, shrunk, size: added * self.scale, added }
    }

    /// Learns from one example with steps that adapt to each feature, and keeps the average true. Returns the agreement of
    /// the example before, and how far it moved; none where the steps do not adapt.
    #[inline]
    pub(crate) fn learn_adaptively(
        &mut self,
        row: Row<'_>,
        y: f64,
        weight: f64,
        average: Option<&mut Average>,
    ) -> Option<(f64, f64)> {
        let adaptive = self.adaptive.as_mut()?;
        self.seen += 1;
        let (loss, step, number) = (self.options.loss, self.step, self.seen);
        let example = adaptive::Example { row, y, weight, loss, step, number };
        let (agreement, moved) = adaptive.learn(&mut self.theta, average, &example);
        self.updates += u64::from(moved != 0.0);
        Some((agreement, moved))
    }

    /// Whether a penalty pulls θ towards zero at every example.
    pub(crate) fn shrinks(&self) -> bool {
        self.options.l2 > 0.0
    }

    /// Whether s has become so small that sums with v would lose digits.
    pub(crate) fn must_fold(&self) -> bool {
        self.scale < 1e-3
    }

    /// Multiplies v by s and sets s to 1.
    pub(crate) fn fold(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.theta.multiply(scale);
    }
}

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

use adaptive::{Adaptive, Coordinate};
pub use loss::Loss;
pub(crate) use options::DESCRIPTOR;
pub use options::{SgdOptions, StepSchedule};

use crate::dataset::Row;
use crate::store::{Arrays, StoreError, Tensors};
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::checkpoint::MAX as MAX_COUNT;
use crate::train::engine::row_rule::{Memory, RowRule, Step};
use crate::train::learners::averaged::Average;
use crate::train::learners::perceptron::is_mistake;
use crate::train::settings::MistakeRule;
use serde::{Deserialize, Serialize};

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
}

impl RowRule for Sgd {
    #[inline]
    fn parts(&self) -> (&Theta, &u64) {
        (&self.theta, &self.updates)
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut Theta, &mut u64) {
        (&mut self.theta, &mut self.updates)
    }

    #[inline]
    fn step(
        &mut self,
        row: Row<'_>,
        y: f64,
        weight: f64,
        memory: &mut Memory,
        ledger: &mut MistakeLedger,
    ) -> Step {
        if self.adaptive.is_some() {
            let average = match memory {
                Memory::Average(average) => Some(average),
                _ => None,
            };
            return match self.learn_adaptively(row, y, weight, average) {
                // The average has its part of it already.
                Some((agreement, moved)) => Step { agreement, size: moved, added: 0.0 },
                None => Step::NONE,
            };
        }
        let SgdStep { agreement, shrunk, size, added } = self.learn(row, y, weight);
        if shrunk != 1.0 {
            ledger.record_shrinking(shrunk);
        }
        Step { agreement: agreement * shrunk, size, added }
    }

    #[inline]
    fn measure(&mut self, _: f64, rounding_error: f64) {
        self.rounding_error = rounding_error / self.scale;
    }

    #[inline]
    fn sums_rows(&self) -> bool {
        self.adaptive.is_none()
    }

    fn updates_every_row(&self) -> bool {
        self.options.l2 > 0.0
    }

    #[inline]
    fn scale(&self) -> f64 {
        self.scale
    }

    fn fold(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.theta.multiply(scale);
    }

    /// Two numbers for each feature: the judge needs the room.
    fn finish(&mut self) {
        self.adaptive = None;
    }

    fn shift_features_down(&mut self) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.shift_down();
        }
    }

    fn put<'a>(&'a self, tensors: &mut Tensors<'a>, prefix: &str) -> Option<serde_json::Value> {
        let adaptive = self.adaptive.as_ref().map(|adaptive| {
            let [largest, gradients] = ADAPTIVE.map(|name| format!("{prefix}{name}"));
            tensors.put_f64(&largest, adaptive.features.iter().map(|feature| feature.largest));
            tensors.put_f64(&gradients, adaptive.features.iter().map(|feature| feature.gradients));
            [adaptive.mass, adaptive.appended.largest, adaptive.appended.gradients]
        });
        let Self { scale, seen, step, .. } = *self;
        serde_json::to_value(SgdContent { scale, seen, step, adaptive }).ok()
    }

    fn take(
        &mut self,
        opened: &Arrays<'_>,
        prefix: &str,
        own: Option<&serde_json::Value>,
    ) -> Result<(), StoreError> {
        let damaged = |what: &str| StoreError::Damaged(what.to_string());
        let own = own.and_then(|own| SgdContent::deserialize(own).ok());
        let own = own.ok_or_else(|| damaged("it does not know its step"))?;
        let sane = |x: f64| x > 0.0 && x.is_finite();
        if !sane(own.scale) || !sane(own.step) || own.seen > MAX_COUNT {
            return Err(damaged("its step makes no sense"));
        }
        (self.scale, self.seen, self.step) = (own.scale, own.seen, own.step);
        if self.adaptive.is_none() {
            return Ok(());
        }
        let [mass, largest, gradients] =
            own.adaptive.ok_or_else(|| damaged("it does not know its adaptive steps"))?;
        let appended = Coordinate { largest, gradients };
        let [largest, gradients] = ADAPTIVE.map(|name| opened.f64s(&format!("{prefix}{name}")));
        let (largest, gradients) = (largest?, gradients?);
        if largest.len() != gradients.len() {
            return Err(damaged("its vectors differ in length"));
        }
        let pairs = largest.into_iter().zip(gradients);
        let features = pairs.map(|(largest, gradients)| Coordinate { largest, gradients }).collect();
        let adaptive = Adaptive { features, appended, mass };
        if !adaptive.is_consistent(self.theta.weights.len()) {
            return Err(damaged("its steps do not fit its features"));
        }
        self.adaptive = Some(adaptive);
        Ok(())
    }
}

/// Where a run stands beside its vectors.
#[derive(Serialize, Deserialize)]
struct SgdContent {
    scale: f64,
    seen: u64,
    step: f64,
    /// Of adaptive steps only: N, and s and G of the appended coordinate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    adaptive: Option<[f64; 3]>,
}

/// The names of the arrays of adaptive steps: s and G of each feature.
const ADAPTIVE: [&str; 2] = ["largest", "gradients"];

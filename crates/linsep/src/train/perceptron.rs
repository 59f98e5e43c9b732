//! The perceptron (A1).

use super::settings::MistakeRule;
use crate::dataset::Row;
use crate::theta::Theta;

/// Go through the examples; on a mistake, θ += y x̃. That is all.
#[derive(Clone, Debug, PartialEq)]
pub struct Perceptron {
    /// The weights.
    pub theta: Theta,
    /// How many updates have been made.
    pub updates: u64,
    rule: MistakeRule,
}

impl Perceptron {
    /// A perceptron that starts at `theta`.
    pub fn new(theta: Theta, rule: MistakeRule) -> Self {
        Self { theta, updates: 0, rule }
    }

    /// Learns from one example with label y = ±1: if it is a mistake, makes the update and gives the agreement
    /// y⟨θ, x̃⟩ from before.
    #[inline]
    pub fn learn(&mut self, x: Row<'_>, y: f64) -> Option<f64> {
        let agreement = y * self.theta.score(x);
        if !self.rule.is_mistake(agreement) {
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

//! The averaged perceptron: recent mistakes weigh no more than old ones.
//!
//! The mean of θ over all examples seen would cost a vector addition per example. An update with the example
//! number c (from 0) is part of θ from then on, in all but c of the T vectors that are averaged, so
//! mean = θ − (1/T) Σ c·z over the updates: a second vector that changes only on mistakes.
//!
//! Where θ = s·v shrinks from example to example, the same holds with M = Σ s over the examples in place of c and T:
//! Σ s_t v_t = M v − Σ M_before · (what was added to v). As s falls, v and the subtracted sum grow and cancel, so now and
//! then the sum so far is flushed to a vector of its own, and M starts again at 0.

use crate::SettingsError;
use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::engine::row_rule::Start;
use crate::train::learners::perceptron::{ABILITIES, Perceptron};
use crate::train::learners::registry::{Descriptor, Registered};
use crate::train::learners::{Combine, Core, Learner};
use crate::train::settings::Settings;

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "averaged",
    title: "averaged perceptron",
    summary: "Averages the weights over the run: a good first choice, generalises better than the \
              perceptron at no cost",
    options: &[],
    abilities: ABILITIES,
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Averaged,
};

/// The averaged perceptron has no options of its own.
pub(crate) struct NoOptions;

impl Registered for NoOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn row_rule(&self, settings: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(Perceptron::new(start.theta, settings.mistake).into())
    }

    fn combine(&self) -> Combine {
        Combine::Average
    }
}

/// The running sums for the mean of θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// Σ c·z over the updates.
    pub(crate) late: Theta,
    /// T, the number of examples seen.
    pub(crate) seen: u64,
    /// M, the sum of the scales s; T where θ does not shrink.
    pub(crate) mass: f64,
    /// Σ s_t v_t of the examples before the last flush; none where θ does not shrink.
    pub(crate) flushed_sum: Option<Theta>,
}

impl Average {
    /// The mean of nothing yet.
    pub fn new(columns: usize, bias_input: f64) -> Self {
        Self { late: Theta::zero(columns, bias_input), seen: 0, mass: 0.0, flushed_sum: None }
    }

    /// Notes that an example has been seen, and how much of it was added to v (0 for nothing), which now counts
    /// `scale` times.
    #[inline]
    pub fn see(&mut self, x: Row<'_>, added: f64, scale: f64) {
        if added != 0.0 && self.mass > 0.0 {
            self.late.add(added * self.mass, x);
        }
        self.seen += 1;
        self.mass += scale;
    }

    /// Notes that so many examples have been seen of which nothing was added, where θ does not shrink.
    pub(crate) fn pass_over(&mut self, examples: u64) {
        self.seen += examples;
        // Whole numbers: exact, as if each had been added by itself.
        self.mass += examples as f64;
    }

    /// The mean of nothing again.
    pub(crate) fn clear(&mut self) {
        self.late.clear();
        (self.seen, self.mass, self.flushed_sum) = (0, 0.0, None);
    }

    /// Adds the sum so far to the flushed sum, before v is multiplied by s and s becomes 1.
    pub(crate) fn flush(&mut self, v: &Theta) {
        let columns = v.weights.len();
        let sum = self.flushed_sum.get_or_insert_with(|| Theta::zero(columns, v.bias_input));
        sum.widen(columns);
        for ((sum, &last), late) in sum.weights.iter_mut().zip(&v.weights).zip(&mut self.late.weights) {
            *sum += self.mass * last - std::mem::take(late);
        }
        sum.bias += self.mass * v.bias - std::mem::take(&mut self.late.bias);
        self.mass = 0.0;
    }

    /// The mean of θ after each example so far, where `theta` is the last v.
    pub fn mean(&self, theta: &Theta) -> Theta {
        if self.seen == 0 {
            return theta.clone();
        }
        let seen = self.seen as f64;
        let share = self.mass / seen;
        let mut mean = theta.clone();
        for (weight, late) in mean.weights.iter_mut().zip(&self.late.weights) {
            *weight = share * *weight - late / seen;
        }
        mean.bias = share * mean.bias - self.late.bias / seen;
        if let Some(flushed_sum) = &self.flushed_sum {
            for (weight, sum) in mean.weights.iter_mut().zip(&flushed_sum.weights) {
                *weight += sum / seen;
            }
            mean.bias += flushed_sum.bias / seen;
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::train::{MistakeRule, Perceptron};
    use proptest::prelude::*;

    proptest! {
        /// Against the plain form: add up θ after every example, divide at the end. Whole numbers, so that both
        /// are exact up to the division.
        #[test]
        fn the_lazy_mean_is_the_plain_mean(seed: u64, n in 1usize..60) {
            let mut random = Random::new(seed);
            let mut perceptron = Perceptron::new(Theta::zero(3, 1.0), MistakeRule::NonPositive);
            let mut average = Average::new(3, 1.0);
            let mut sums = [0.0f64; 4];
            for _ in 0..n {
                let x: Vec<f64> = (0..3).map(|_| random.below(21) as f64 - 10.0).collect();
                let y = if random.below(2) == 0 { 1.0 } else { -1.0 };
                let row = Row::DenseF64(&x);
                let updated = perceptron.learn(row, y).is_some();
                average.see(row, if updated { y } else { 0.0 }, 1.0);
                for (sum, w) in sums.iter_mut().zip(perceptron.theta.weights.iter().chain([&perceptron.theta.bias])) {
                    *sum += w;
                }
            }
            let mean = average.mean(&perceptron.theta);
            for (sum, w) in sums.iter().zip(mean.weights.iter().chain([&mean.bias])) {
                prop_assert!((sum / n as f64 - w).abs() <= 1e-12 * sum.abs().max(100.0));
            }
        }
    }
}

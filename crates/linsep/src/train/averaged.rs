//! The averaged perceptron (A3): recent mistakes weigh no more than old ones.
//!
//! The mean of θ over all examples seen would cost a vector addition per example. An update with the example
//! number c (from 0) is part of θ from then on, in all but c of the T vectors that are averaged, so
//! mean = θ − (1/T) Σ c·z over the updates: a second vector that changes only on mistakes.

use crate::dataset::Row;
use crate::theta::Theta;

/// What is needed to know the mean of θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// Σ c·z over the updates.
    pub(crate) late: Theta,
    /// T, the number of examples seen.
    pub(crate) seen: u64,
}

impl Average {
    /// The mean of nothing yet.
    pub fn new(columns: usize, bias_input: f64) -> Self {
        Self { late: Theta::zero(columns, bias_input), seen: 0 }
    }

    /// Notes that an example has been seen, and whether it led to an update.
    #[inline]
    pub fn see(&mut self, x: Row<'_>, y: f64, updated: bool) {
        if updated && self.seen > 0 {
            self.late.add(y * self.seen as f64, x);
        }
        self.seen += 1;
    }

    /// The mean of θ after each example so far, where `theta` is the last.
    pub fn mean(&self, theta: &Theta) -> Theta {
        if self.seen == 0 {
            return theta.clone();
        }
        let seen = self.seen as f64;
        let weights =
            theta.weights.iter().zip(&self.late.weights).map(|(last, late)| last - late / seen).collect();
        Theta { weights, bias: theta.bias - self.late.bias / seen, bias_input: theta.bias_input }
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
                average.see(row, y, updated);
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

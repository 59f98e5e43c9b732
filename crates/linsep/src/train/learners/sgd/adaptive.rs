//! Steps that adapt to each feature, and do not depend on its scale.
//!
//! Normalised adaptive gradient descent, after Ross, Mineiro and Langford (*Normalized online learning*, 2013). Each
//! feature j has the largest magnitude s_j that was seen of it, and G_j, the sum of its squared gradients. With the
//! normalised features f_j = x_j/s_j, in which G_j is measured too, an example moves
//!
//! w_j ← w_j + h y f_j / (√G_j s_j).
//!
//! So a feature that pulled much, or often, moves little, and a rare one moves much. Multiplying a feature by a constant
//! divides its weight by it and changes nothing else. When a larger magnitude turns up, the weight shrinks in proportion,
//! as if the steps before had been taken with the new s_j.
//!
//! The size h of the step follows the curve of the loss ([`Loss::flow`]) for the time η √(T/N), where T counts the
//! examples and N = Σ ‖f‖² over them: on the average row, a first step moves the agreement by about as much whatever the
//! number of its features. No row is overshot, however large η is.
//!
//! An example costs work for its own features only.

use super::loss::Loss;
use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::learners::averaged::Average;

/// What is kept of one feature beside its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Coordinate {
    /// s, the largest magnitude seen; 0 before the first value that is not zero.
    pub(crate) largest: f64,
    /// G, the sum of the squared gradients in units of s.
    pub(crate) gradients: f64,
}

impl Coordinate {
    /// Takes note of a value. Returns the factor that the weight shrinks by, where the value is the largest so far.
    #[inline]
    fn note(&mut self, x: f64) -> Option<f64> {
        let before = self.largest;
        if x.abs() <= before {
            return None;
        }
        self.largest = x.abs();
        let factor = before / self.largest;
        self.gradients *= factor * factor;
        (before > 0.0).then_some(factor)
    }

    /// f/√G, how far the normalised weight moves in a step of 1; 0 where the gradients are too small to be squared.
    #[inline]
    fn rate(&self, f: f64) -> f64 {
        if self.gradients > 0.0 { f / self.gradients.sqrt() } else { 0.0 }
    }
}

/// The state of the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Adaptive {
    /// Of each feature; features that no row has had yet may be missing at the end.
    pub(crate) features: Vec<Coordinate>,
    /// Of the appended coordinate.
    pub(crate) appended: Coordinate,
    /// N, the sum of the squared lengths of all normalised examples, each as it was when it came.
    pub(crate) mass: f64,
}

/// One example with its label, and how it counts.
pub(super) struct Example<'a> {
    pub(super) row: Row<'a>,
    /// ±1
    pub(super) y: f64,
    pub(super) weight: f64,
    pub(super) loss: Loss,
    /// η
    pub(super) step: f64,
    /// T, the number of this example, from 1.
    pub(super) number: u64,
}

impl Adaptive {
    /// Learns from one example. Returns its agreement before, and how far that moved.
    pub(super) fn learn(
        &mut self,
        theta: &mut Theta,
        mut average: Option<&mut Average>,
        example: &Example<'_>,
    ) -> (f64, f64) {
        let &Example { row, y, weight, loss, step, number } = example;
        if self.features.len() < theta.weights.len() {
            self.features.resize(theta.weights.len(), Coordinate::default());
        }
        let input = theta.bias_input;
        let mut length = 0.0;
        for (j, x) in row.iter().filter(|&(_, x)| x != 0.0) {
            if let Some(factor) = self.features[j].note(x) {
                theta.weights[j] *= factor;
                if let Some(average) = &mut average {
                    average.late.weights[j] *= factor;
                }
            }
            let f = x / self.features[j].largest;
            length += f * f;
        }
        if input != 0.0 {
            self.appended.note(input);
            length += 1.0;
        }
        self.mass += length;
        let agreement = y * theta.score(row);
        let pull = loss.pull(agreement);
        if pull == 0.0 || length == 0.0 {
            return (agreement, 0.0);
        }

        // By how much the agreement grows with h.
        let mut slope = 0.0;
        let squared_pull = weight * pull * pull;
        for (j, x) in row.iter().filter(|&(_, x)| x != 0.0) {
            let feature = &mut self.features[j];
            let f = x / feature.largest;
            feature.gradients += squared_pull * f * f;
            slope += feature.rate(f) * f;
        }
        if input != 0.0 {
            self.appended.gradients += squared_pull;
            slope += self.appended.rate(1.0);
        }
        if slope == 0.0 {
            return (agreement, 0.0);
        }
        let time = step * weight * (number as f64 / self.mass).sqrt();
        let moved = loss.flow(agreement, time * slope);
        if moved == 0.0 {
            return (agreement, 0.0);
        }

        let size = y * (moved / slope);
        let seen = average.as_ref().map_or(0.0, |average| average.mass);
        for (j, x) in row.iter().filter(|&(_, x)| x != 0.0) {
            let feature = &self.features[j];
            let added = size * feature.rate(x / feature.largest) / feature.largest;
            theta.weights[j] += added;
            if let Some(average) = &mut average {
                average.late.weights[j] += seen * added;
            }
        }
        if input != 0.0 {
            let added = size * self.appended.rate(input.signum()) / self.appended.largest;
            theta.bias += added;
            if let Some(average) = &mut average {
                average.late.bias += seen * added;
            }
        }
        (agreement, moved)
    }

    /// Moves every feature down by one: the stream turned out to count from 1.
    pub(crate) fn shift_down(&mut self) {
        if !self.features.is_empty() {
            self.features.remove(0);
        }
    }

    /// Whether its numbers can be those of a run over rows with so many features.
    pub(crate) fn is_consistent(&self, columns: usize) -> bool {
        let sane = |x: f64| x >= 0.0 && x.is_finite();
        self.features.len() <= columns
            && sane(self.mass)
            && self
                .features
                .iter()
                .chain([&self.appended])
                .all(|one| sane(one.largest) && sane(one.gradients))
    }
}

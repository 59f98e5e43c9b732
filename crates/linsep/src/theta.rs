//! θ = [w; b]: the weights of a linear classifier.

use crate::dataset::Row;
use crate::linalg::{self, Interval};

/// Weights with the weight of the appended coordinate, if there is one: θ = [w; b], x̃ = [x; s].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Theta {
    /// w, one weight for each feature.
    pub weights: Vec<f64>,
    /// b, the weight of the appended coordinate.
    pub bias: f64,
    /// s, the value of the appended coordinate; 0 when the boundary goes through the origin.
    pub bias_input: f64,
}

impl Theta {
    /// θ = 0 for rows with `columns` features.
    pub fn zero(columns: usize, bias_input: f64) -> Self {
        let mut weights = vec![0.0; columns];
        // The system gives memory when it is written to; until then it can be told how.
        linalg::prefer_large_pages(&mut weights);
        Self { weights, bias: 0.0, bias_input }
    }

    /// ⟨θ, x̃⟩
    #[inline]
    pub fn score(&self, row: Row<'_>) -> f64 {
        row.dot(&self.weights) + self.bias * self.bias_input
    }

    /// θ += scale · x̃
    #[inline]
    pub fn add(&mut self, scale: f64, row: Row<'_>) {
        row.add_to(scale, &mut self.weights);
        self.bias += scale * self.bias_input;
    }

    /// Becomes `other`, in the place that it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.weights.clone_from(&other.weights);
        (self.bias, self.bias_input) = (other.bias, other.bias_input);
    }

    /// θ = 0
    pub(crate) fn clear(&mut self) {
        self.weights.fill(0.0);
        self.bias = 0.0;
    }

    /// θ *= factor
    pub(crate) fn multiply(&mut self, factor: f64) {
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        self.bias *= factor;
    }

    /// Makes room for features that have not been seen before; their weights are zero.
    #[inline]
    pub fn widen(&mut self, columns: usize) {
        if columns > self.weights.len() {
            self.weights.resize(columns, 0.0);
        }
    }

    /// ‖x̃‖², rounded.
    #[inline]
    pub fn extended_norm_squared(&self, row: Row<'_>) -> f64 {
        row.norm_squared() + self.bias_input * self.bias_input
    }

    /// An interval that contains ‖θ‖.
    pub(crate) fn norm(&self) -> Interval {
        let squared = linalg::norm_squared(&self.weights) + self.bias * self.bias;
        linalg::norm_interval(squared, self.weights.len() + 1)
    }

    /// An interval that contains ‖w‖.
    pub(crate) fn weight_norm(&self) -> Interval {
        linalg::norm_interval(linalg::norm_squared(&self.weights), self.weights.len())
    }

    /// An interval that contains ⟨θ, x̃⟩ exactly.
    pub(crate) fn certified_score(&self, row: Row<'_>) -> Interval {
        let products = row.iter().map(|(j, x)| (x, self.weights[j]));
        linalg::certified_dot(products.chain(std::iter::once((self.bias, self.bias_input))))
    }

    /// The constant term of the decision function, b·s.
    pub fn intercept(&self) -> f64 {
        self.bias * self.bias_input
    }

    /// −θ, with zeros kept positive so that a run with the labels exchanged gives the same bits.
    pub(crate) fn negate(&mut self) {
        for weight in self.weights.iter_mut().chain(std::iter::once(&mut self.bias)) {
            *weight = -*weight + 0.0;
        }
    }

    /// Moves every weight down by one feature: the stream turned out to count from 1.
    pub(crate) fn shift_down(&mut self) {
        if !self.weights.is_empty() {
            self.weights.remove(0);
        }
    }

    /// Whether all weights are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.bias.is_finite() && self.bias_input.is_finite() && self.weights.iter().all(|w| w.is_finite())
    }
}

//! Novikoff's proof, watched while it happens (B2).
//!
//! For each update k and a separator θ* with functional margin γ:
//! ⟨θ_k, θ*⟩ ≥ kγ grows at least linearly, ‖θ_k‖² ≤ kR² at most linearly, so cos∠(θ_k, θ*) ≥ kγ / (√k R ‖θ*‖),
//! which cannot exceed 1: k ≤ (R‖θ*‖/γ)².
//!
//! Both sides of each inequality are computed by the same chain of rounded additions, which keeps the order of
//! its inputs: a line that breaks the theorem would be a broken theorem, not a rounding error.

use super::margin::{certain_agreement, grown_norm_squared};
use crate::observe::Update;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// One moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// k, the number of updates so far.
    pub update: u64,
    /// The pass, from 1.
    pub epoch: u64,
    /// The row that was mistaken, from 1.
    pub row: u64,
    /// Its agreement before the update.
    pub agreement: f64,
    /// ‖θ_k‖², rounded up.
    pub norm_squared: f64,
    /// kR², rounded up; for a stream, each update adds the R² known by then.
    pub norm_squared_bound: f64,
    /// ‖θ_k‖ / k, which γ* cannot exceed.
    pub margin_upper: f64,
    /// ⟨θ_k, θ*⟩, where a separator θ* is known.
    pub alignment: Option<f64>,
    /// kγ.
    pub alignment_bound: Option<f64>,
    /// The cosine of the angle between θ_k and θ*.
    pub cosine: Option<f64>,
    /// kγ / (√k R ‖θ*‖).
    pub cosine_bound: Option<f64>,
}

/// A separator and what is known of it.
#[derive(Clone, Debug)]
pub struct Comparator {
    /// θ*
    pub theta: Theta,
    /// γ, a certified lower bound of min_t a_t(θ*).
    pub margin: f64,
}

/// Records a thinned trace of a run.
#[derive(Clone, Debug)]
pub struct TraceRecorder {
    points: Vec<TracePoint>,
    limit: usize,
    stride: u64,
    last: Option<TracePoint>,
    /// R², or that of the longest mistaken row so far where R is not known beforehand.
    radius_squared: f64,
    radius_known: bool,
    norm_squared: f64,
    norm_squared_bound: f64,
    comparator: Option<Comparator>,
    comparator_norm: f64,
    alignment: f64,
    alignment_bound: f64,
}

impl TraceRecorder {
    /// Keeps at most `limit` points (at least two) of a run that starts at zero. `radius` is an upper bound of R;
    /// for a stream, whose R is not known, the longest mistaken row so far takes its place.
    pub fn new(limit: usize, radius: Option<f64>, comparator: Option<Comparator>) -> Self {
        Self {
            points: Vec::new(),
            limit: limit.max(2),
            stride: 1,
            last: None,
            radius_squared: radius.map_or(0.0, |radius| (radius * radius).next_up()),
            radius_known: radius.is_some(),
            norm_squared: 0.0,
            norm_squared_bound: 0.0,
            comparator_norm: comparator.as_ref().map_or(0.0, |c| c.theta.norm().high),
            comparator,
            alignment: 0.0,
            alignment_bound: 0.0,
        }
    }

    /// Takes an update into account.
    pub fn record(&mut self, update: &Update<'_>) {
        let terms = update.row.stored() + 1;
        let k = update.number as f64;
        if !self.radius_known {
            self.radius_squared = self.radius_squared.max(update.row_squared);
        }
        self.norm_squared =
            grown_norm_squared(self.norm_squared, update.agreement, update.row_squared, terms);
        self.norm_squared_bound =
            grown_norm_squared(self.norm_squared_bound, 0.0, self.radius_squared, terms);
        let mut point = TracePoint {
            update: update.number,
            epoch: update.epoch,
            row: update.position + 1,
            agreement: update.agreement,
            norm_squared: self.norm_squared,
            norm_squared_bound: self.norm_squared_bound,
            margin_upper: self.norm_squared.sqrt() / k,
            alignment: None,
            alignment_bound: None,
            cosine: None,
            cosine_bound: None,
        };
        if let Some(comparator) = &self.comparator {
            self.alignment += certain_agreement(&comparator.theta, update.row, update.sign);
            self.alignment_bound += comparator.margin;
            let cosine = |alignment: f64, squared: f64| alignment / (squared.sqrt() * self.comparator_norm);
            point.alignment = Some(self.alignment);
            point.alignment_bound = Some(self.alignment_bound);
            point.cosine = Some(cosine(self.alignment, self.norm_squared));
            point.cosine_bound = Some(cosine(self.alignment_bound, self.norm_squared_bound));
        }
        self.last = Some(point);
        if update.number.is_multiple_of(self.stride) {
            self.points.push(point);
            if self.points.len() >= 2 * self.limit {
                self.stride *= 2;
                let stride = self.stride;
                self.points.retain(|point| point.update.is_multiple_of(stride));
            }
        }
    }

    /// The points, evenly thinned to the limit, with the last update always among them.
    pub fn finish(mut self) -> Vec<TracePoint> {
        if let Some(last) = self.last
            && self.points.last() != Some(&last)
        {
            self.points.push(last);
        }
        let count = self.points.len();
        if count <= self.limit {
            return self.points;
        }
        (0..self.limit).map(|i| self.points[i * (count - 1) / (self.limit - 1)]).collect()
    }
}

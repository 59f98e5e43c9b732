//! Two classes: the losses, their slopes and their curvatures at a point, from one pass over the rows, and what they prove.
//!
//! With αᵢ = uᵢ·(the probability of the other class), the slopes of the losses are Σ αᵢ xᵢ over the rows of either class. Both sums
//! are kept: a dual point needs Σ αᵢ to be the same for both classes, and is had by making all αᵢ of one class smaller by a factor,
//! without a look at the rows. `proof.rs` has the bound itself.

use super::problem::{Pause, Point, Problem};
use super::proof::{FUNCTIONS, Proof, STEEPEST, U};
use crate::dataset::{Rows, Values};
use crate::linalg;
use crate::theory::margin::quotient_up;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// The losses at a point.
pub(super) struct BinaryLoss {
    pub(super) scores: Vec<f64>,
    /// uᵢ p(1 − p): the second derivative of each row's loss in its score.
    pub(super) curvatures: Vec<f64>,
    /// Σ uᵢ ℓᵢ
    pub(super) loss: f64,
    /// Σ αᵢ xᵢ and Σ αᵢ over the rows of each class.
    pulls: [Point; 2],
}

impl BinaryLoss {
    /// Minus the slopes of the losses in weights and intercept.
    pub(super) fn down(&self, problem: &Problem<'_>) -> Point {
        let mut down = self.pulls[1].clone();
        down.add(-1.0, &self.pulls[0]);
        if !problem.has_intercept {
            down.intercepts.fill(0.0);
        }
        down
    }
}

/// Rows that are taken from the memory once: their scores, then their slopes.
const TOGETHER: usize = 64;

/// The sums of a block of rows on its way.
struct Part<'s> {
    /// The first row, and how many are done.
    start: usize,
    done: usize,
    scores: &'s mut [f64],
    curvatures: &'s mut [f64],
    loss: f64,
    pulls: [Point; 2],
}

impl Part<'_> {
    /// Goes on by so many rows.
    fn advance(&mut self, problem: &Problem<'_>, point: &Point, rows: usize) {
        let end = self.scores.len().min(self.done + rows);
        // Short rows are best taken without a choice between kinds of rows for each of them.
        match problem.data.rows() {
            Rows::Sparse { offsets, indices, values: Values::F32(values) } => {
                self.advance_sparse(problem, point, end, offsets, indices, values);
            }
            Rows::Sparse { offsets, indices, values: Values::F64(values) } => {
                self.advance_sparse(problem, point, end, offsets, indices, values);
            }
            Rows::Dense { .. } => {
                let dot = |i: usize| problem.data.row(i).dot(&point.weights);
                let add = |i: usize, pull: f64, sums: &mut [f64]| problem.data.row(i).add_to(pull, sums);
                self.advance_by(problem, point.intercepts[0], end, dot, add);
            }
        }
    }

    fn advance_sparse<T: linalg::Value>(
        &mut self,
        problem: &Problem<'_>,
        point: &Point,
        end: usize,
        offsets: &[usize],
        indices: &[u32],
        values: &[T],
    ) {
        let row = |i: usize| {
            let range = offsets[i]..offsets[i + 1];
            (&indices[range.clone()], &values[range])
        };
        let weights = &point.weights[..];
        let dot = |i: usize| {
            let (indices, values) = row(i);
            let (mut even, mut odd, mut at) = (0.0, 0.0, 0);
            while at + 1 < indices.len() {
                even += values[at].wide() * weights[indices[at] as usize];
                odd += values[at + 1].wide() * weights[indices[at + 1] as usize];
                at += 2;
            }
            if at < indices.len() {
                even += values[at].wide() * weights[indices[at] as usize];
            }
            even + odd
        };
        let add = |i: usize, pull: f64, sums: &mut [f64]| {
            let (indices, values) = row(i);
            for at in 0..indices.len() {
                sums[indices[at] as usize] += pull * values[at].wide();
            }
        };
        self.advance_by(problem, point.intercepts[0], end, dot, add);
    }

    /// Goes on to a row, with the products of rows and weights, and the addition of rows to sums.
    #[inline(always)]
    fn advance_by(
        &mut self,
        problem: &Problem<'_>,
        intercept: f64,
        end: usize,
        dot: impl Fn(usize) -> f64,
        add: impl Fn(usize, f64, &mut [f64]),
    ) {
        let (mut odds, mut logs) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let [others, own] = &mut self.pulls;
        let mut totals = [others.intercepts[0], own.intercepts[0]];
        while self.done < end {
            let count = TOGETHER.min(end - self.done);
            let (range, first) = (self.done..self.done + count, self.start + self.done);
            let (scores, curvatures) = (&mut self.scores[range.clone()], &mut self.curvatures[range]);
            let (loss_weights, labels) =
                (&problem.loss_weights[first..][..count], &problem.labels[first..][..count]);
            for (k, score) in scores.iter_mut().enumerate() {
                *score = intercept + dot(first + k);
            }
            linalg::odds_and_logs(scores, &mut odds[..count], &mut logs[..count]);
            for k in 0..count {
                let (odds, loss_weight, is_own) = (odds[k], loss_weights[k], labels[k] == 1);
                let agreement = if is_own { scores[k] } else { -scores[k] };
                let large = 1.0 / (1.0 + odds);
                let small = odds * large;
                self.loss += loss_weight * ((-agreement).max(0.0) + logs[k]);
                curvatures[k] = loss_weight * small * large;
                let pull = loss_weight * if agreement > 0.0 { small } else { large };
                totals[usize::from(is_own)] += pull;
                add(first + k, pull, if is_own { &mut own.weights } else { &mut others.weights });
            }
            self.done += count;
        }
        (others.intercepts[0], own.intercepts[0]) = (totals[0], totals[1]);
    }
}

impl Problem<'_> {
    /// The losses of two classes at a point, in the room of others that are no longer needed.
    pub(super) fn sides(
        &self,
        point: &Point,
        room: Option<BinaryLoss>,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, BinaryLoss> {
        let (mut scores, mut curvatures) = match room {
            Some(sides) => (sides.scores, sides.curvatures),
            None => (vec![0.0; self.data.len()], vec![0.0; self.data.len()]),
        };
        let (mut score_rest, mut curvature_rest) = (&mut scores[..], &mut curvatures[..]);
        let mut parts = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (own_scores, after) = score_rest.split_at_mut(block.len());
            score_rest = after;
            let (own_curvatures, after) = curvature_rest.split_at_mut(block.len());
            curvature_rest = after;
            let (start, pulls) = (block.start, [self.zero(), self.zero()]);
            parts.push(Part {
                start,
                done: 0,
                scores: own_scores,
                curvatures: own_curvatures,
                loss: 0.0,
                pulls,
            });
        }
        let together = (self.rows_between_pauses / parts.len().max(1)).max(1);
        while parts.iter().any(|part| part.done < part.scores.len()) {
            parts.par_iter_mut().for_each(|part| part.advance(self, point, together));
            pause()?;
        }
        let (mut loss, mut pulls) = (0.0, [self.zero(), self.zero()]);
        for part in parts {
            loss += part.loss;
            pulls.iter_mut().zip(&part.pulls).for_each(|(to, from)| to.add(1.0, from));
        }
        ControlFlow::Continue(BinaryLoss { scores, curvatures, loss, pulls })
    }

    /// About how much the objective is above the bound that the point proves: what is left of ⟨w, G⟩ ≤ Ω(w) + Ω*(G). It is not
    /// rounded outwards, and leaves out what is of the second order: it says when a proof is worth its time.
    pub(super) fn gap_to_come(&self, point: &Point, sides: &BinaryLoss) -> f64 {
        let down = sides.down(self);
        let (absolute, square) = (self.penalty.absolute, self.penalty.square);
        let inner = linalg::dot_dense(&point.weights, &down.weights);
        if square > 0.0 {
            let beyond = |g: f64| (g.abs() - absolute).max(0.0);
            let conjugate: f64 =
                down.weights.iter().map(|&g| beyond(g).powi(2)).sum::<f64>() / (2.0 * square);
            return self.penalty.of(&point.weights) + conjugate - inner;
        }
        let most = down.weights.iter().fold(absolute, |most: f64, g| most.max(g.abs()));
        self.penalty.of(&point.weights) - absolute / most * inner
    }

    /// How good a point of two classes is, proved from the losses there. `radius` is the length of the longest row, `bias_input`
    /// the appended coordinate by which margins are measured.
    pub(super) fn prove_sides(
        &self,
        point: &Point,
        sides: &BinaryLoss,
        radius: f64,
        bias_input: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Proof> {
        let objective = self.penalty.of(&point.weights) + sides.loss;
        let totals = [sides.pulls[0].intercepts[0], sides.pulls[1].intercepts[0]];
        let wrong = totals[0] + totals[1];
        let rounding = (self.additions() + 16) as f64 * U;
        // The exact sums for these αᵢ, and the αᵢ themselves, are off by this much in length.
        let mut drift = (rounding + FUNCTIONS) * radius * wrong * (1.0 + 16.0 * U);
        let margin_upper = {
            let mut sums = sides.pulls[1].weights.clone();
            linalg::add_dense(-1.0, &sides.pulls[0].weights, &mut sums);
            let length = linalg::norm_squared(&sums).sqrt() * (1.0 + (sums.len() + 16) as f64 * U);
            let appended = (totals[1] - totals[0]).abs() * bias_input.abs();
            let appended_drift = (rounding + FUNCTIONS) * bias_input.abs() * wrong;
            let whole = (length + drift).hypot(appended + appended_drift) * (1.0 + 4.0 * U);
            let upper = (wrong > 0.0).then(|| quotient_up(whole, wrong * (1.0 - rounding - FUNCTIONS)));
            upper.filter(|upper| upper.is_finite())
        };
        if self.penalty.is_none() {
            let proof = Proof { objective, primal: objective, dual: 0.0, gap: None, margin_upper };
            return ControlFlow::Continue(proof);
        }
        let mut factors = [1.0, 1.0];
        let mut rest = 0.0;
        if self.has_intercept {
            let larger = usize::from(totals[1] > totals[0]);
            let factor = totals[1 - larger] / totals[larger];
            factors[larger] = if factor.is_finite() { factor } else { 1.0 };
            let off = wrong * (rounding + FUNCTIONS);
            rest = (factors[1] * totals[1] - factors[0] * totals[0]).abs() + off;
            drift += rest * radius * (1.0 + 8.0 * U);
        }
        let [others, own] = &sides.pulls;
        let sums: Vec<f64> =
            own.weights.iter().zip(&others.weights).map(|(a, b)| factors[1] * a - factors[0] * b).collect();
        let (absolute, square) = (self.penalty.absolute, self.penalty.square);
        let mut conjugate = 0.0;
        if square > 0.0 {
            let beyond = |g: &f64| (g.abs() - absolute).max(0.0);
            let beyond = sums.iter().map(|g| beyond(g).powi(2)).sum::<f64>().sqrt();
            let beyond = beyond * (1.0 + (sums.len() + 8) as f64 * U) + drift;
            conjugate = beyond * beyond / (2.0 * square) * (1.0 + 8.0 * U);
        } else {
            let most = sums.iter().fold(0.0, |most: f64, g| most.max(g.abs())) + drift;
            if most > absolute {
                factors.iter_mut().for_each(|factor| *factor *= absolute / most * (1.0 - 4.0 * U));
            }
        }
        let found = self.entropy_of_sides(&sides.scores, factors, pause)?;
        if self.has_intercept && found.room <= 4.0 * rest {
            // No row can take what is left of Σ rᵢ: nothing is proved.
            return ControlFlow::Continue(Proof { margin_upper, ..Proof::of_nothing(self, objective) });
        }
        let cost_of_rest = match self.has_intercept {
            true => rest * ((2.0 * found.loss_weight / found.room).ln() + 1.0) * (1.0 + FUNCTIONS),
            false => 0.0,
        };
        let entropy = found.entropy * (1.0 - rounding) - FUNCTIONS * found.all;
        let dual = (entropy - conjugate - cost_of_rest).max(0.0);
        let primal = objective.max(dual);
        let gap = if primal > 0.0 { (primal - dual) / primal } else { 0.0 };
        ControlFlow::Continue(Proof { objective, primal, dual, gap: Some(gap), margin_upper })
    }

    /// No more than Σ uᵢ H(qᵢ), where the probability of the other class is qᵢ = φ·p for the factor φ of the row's own class.
    ///
    /// With ψ = 1 − φ and y = ψ·p/(1−p), 1 − q is (1−p)(1 + y). So −ln q = −ln p − ln φ and −ln(1−q) = −ln(1−p) − ln(1+y), where the
    /// logarithms of p and 1−p come from the score, to their last digits, and ln(1+y) ≤ y(6+y)/(6+4y) for all y ≥ 0: the difference
    /// is y⁴/36 for small y, and that of a point near the best is small.
    fn entropy_of_sides(
        &self,
        scores: &[f64],
        factors: [f64; 2],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Entropy> {
        let logs_of_factors = factors.map(|factor| -factor.ln());
        let parts = self.sum_chunks(scores, pause, |start, scores| {
            let (mut odds, mut logs) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
            linalg::odds_and_logs(scores, &mut odds, &mut logs);
            let mut sums = Entropy { entropy: 0.0, all: 0.0, room: 0.0, loss_weight: 1.0 };
            for (k, score) in scores.iter().enumerate() {
                let (loss_weight, class) = (self.loss_weights[start + k], self.labels[start + k] as usize);
                let agreement = if class == 1 { *score } else { -score };
                let (small, large) = (odds[k] / (1.0 + odds[k]), 1.0 / (1.0 + odds[k]));
                let (p, rest) = if agreement > 0.0 { (small, large) } else { (large, small) };
                let factor = factors[class];
                let (q, less) = (factor * p, 1.0 - factor);
                let left = rest + less * p;
                let y = less * p / rest;
                let log_of_q = agreement.max(0.0) + logs[k] + logs_of_factors[class];
                let log_of_rest = (-agreement).max(0.0) + logs[k];
                let beside = (log_of_rest - y * (6.0 + y) / (6.0 + 4.0 * y)).max(0.0);
                let first = if q > 0.0 { q * log_of_q } else { 0.0 };
                sums.entropy += loss_weight * (first + left * beside);
                sums.all += loss_weight * (STEEPEST * q + first + 2.0 * left * log_of_rest);
                let room = loss_weight * q.min(left);
                if room > sums.room {
                    (sums.room, sums.loss_weight) = (room, loss_weight);
                }
            }
            sums
        })?;
        let none = Entropy { entropy: 0.0, all: 0.0, room: 0.0, loss_weight: 1.0 };
        ControlFlow::Continue(parts.into_iter().fold(none, |sum, part| {
            let (room, loss_weight) = if part.room > sum.room {
                (part.room, part.loss_weight)
            } else {
                (sum.room, sum.loss_weight)
            };
            Entropy { entropy: sum.entropy + part.entropy, all: sum.all + part.all, room, loss_weight }
        }))
    }
}

/// What a pass over the scores says of a dual point.
struct Entropy {
    /// No more than Σ uᵢ H(qᵢ), but for rounding.
    entropy: f64,
    /// A sum of which rounding takes a share of [`FUNCTIONS`] at most.
    all: f64,
    /// The row that can take most: uᵢ times its smaller probability, and uᵢ.
    room: f64,
    loss_weight: f64,
}

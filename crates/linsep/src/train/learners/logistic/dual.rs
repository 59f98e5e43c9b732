//! Coordinate ascent on the dual problem, for two classes, many features and an L2 penalty.
//!
//! The dual has a number αᵢ between 0 and uᵢ for each row, and w = Σ αᵢ yᵢ xᵢ / square. For one row alone the best is
//! αᵢ = uᵢ / (1 + e^−t), where t is the root of t + qᵢ (αᵢ(t) − αᵢ) + yᵢ fᵢ with qᵢ = ‖xᵢ‖² / square: it lies between the t of
//! before and −yᵢ fᵢ. Rows take their turns in a random order (Yu, Huang and Lin 2011).
//!
//! The intercept costs nothing, which would tie the rows together: Σ αᵢ yᵢ = 0. So it stands still while the rows pass. That sum
//! is then minus the slope, in the intercept, of the objective that is best for it, and the intercept goes to where two such slopes
//! say that it is zero.
//!
//! On text this takes a tenth of the passes that Newton's method takes. Where rows share most features, as pictures do, or are very
//! long, passes gain little: dense rows are not for it, and where it turns out to be slow the method of `lbfgs.rs` goes on from
//! the point.

use super::newton::Step;
use super::problem::{Pause, Place, Point, Problem, logistic};
use crate::dataset::Rows;
use crate::random::Random;
use crate::train::engine::run::Status;
use std::ops::ControlFlow;

/// Passes over the rows in a step: after so many the slope in the intercept is known well enough.
const PASSES: usize = 3;

/// A step whose last pass gains more than this share of what that of the step before did is slow; so is one after which the
/// objective is no less than before.
const SLOW: f64 = 0.75;

/// Slow steps, one after the other, after which another method is better.
const SLOW_STEPS: u32 = 2;

/// The ascent as it stands.
pub(super) struct Dual<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    /// Where the last pass ended; in the middle of a step only the point is known.
    pub(super) place: Place,
    /// The point with the least objective so far: where steps are slow, the last need not be.
    pub(super) best: Point,
    pub(super) least: f64,
    rows: Vec<OfRow>,
    order: Vec<u32>,
    random: Random,
    /// What the last pass gained, about.
    gained: f64,
    slow: u32,
    intercept: Intercept,
}

/// αᵢ, the t that belongs to it, and qᵢ.
#[derive(Clone, Copy)]
struct OfRow {
    alpha: f64,
    t: f64,
    q: f64,
}

/// A model of the best objective as a function of the intercept.
struct Intercept {
    /// Where its slope was taken before, and Σ αᵢ yᵢ there.
    before: Option<(f64, f64)>,
    /// How much that sum falls where the intercept grows by one.
    curvature: f64,
}

impl<'p, 'a> Dual<'p, 'a> {
    /// Whether the method is for this problem.
    pub(super) fn is_for(problem: &Problem<'_>) -> bool {
        let penalty = problem.penalty;
        let is_sparse = matches!(problem.data.rows(), Rows::Sparse { .. });
        problem.width() == 1 && penalty.absolute == 0.0 && penalty.square > 0.0 && is_sparse
    }

    /// The method at a point.
    pub(super) fn new(problem: &'p Problem<'a>, start: Place) -> Self {
        let Place { point, scores, objective } = start;
        // Almost all rows of text end far on their side: that is nearer than the half that no weights say.
        const FIRST: f64 = -6.0;
        let is_zero = point.weights.iter().all(|&w| w == 0.0);
        let of_row = |i: usize| {
            let t = if is_zero { FIRST } else { -side(problem, i) * scores[i] };
            let q = problem.data.row(i).norm_squared() / problem.penalty.square;
            OfRow { alpha: problem.loss_weights[i] * logistic(t), t, q }
        };
        let rows: Vec<OfRow> = (0..problem.data.len()).map(of_row).collect();
        let mut weights = vec![0.0; problem.data.columns()];
        for (i, of) in rows.iter().enumerate() {
            let share = of.alpha * side(problem, i) / problem.penalty.square;
            problem.data.row(i).add_to(share, &mut weights);
        }
        Self {
            problem,
            place: Place {
                point: Point { weights, intercepts: point.intercepts.clone() },
                scores,
                objective,
            },
            best: point,
            least: objective,
            order: (0..rows.len() as u32).collect(),
            rows,
            random: Random::new(1),
            gained: f64::INFINITY,
            slow: 0,
            intercept: Intercept { before: None, curvature: 0.0 },
        }
    }

    /// Some passes over the rows, and a step of the intercept. `pause` is called on the way and may end it anywhere.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let before = self.gained;
        let mut loss_curvature = 0.0;
        for _ in 0..PASSES {
            (self.gained, loss_curvature) = self.pass(pause)?;
        }
        if self.problem.has_intercept {
            self.move_intercept(loss_curvature);
        }
        self.place = self.problem.place(self.place.point.clone(), pause)?;
        let Place { point, objective, .. } = &self.place;
        self.slow = if self.gained > SLOW * before || *objective >= self.least { self.slow + 1 } else { 0 };
        if *objective < self.least {
            (self.best, self.least) = (point.clone(), *objective);
        }
        ControlFlow::Continue(if self.gained == 0.0 {
            Step::Stalled
        } else {
            Step::Made { left: self.gained }
        })
    }

    /// Whether another method would be better.
    pub(super) fn is_slow(&self) -> bool {
        self.slow >= SLOW_STEPS
    }

    /// Every row in turn. What that gains in the dual, about; and Σ uᵢ pᵢ (1 − pᵢ), the curvature of the losses in the intercept.
    fn pass(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, (f64, f64)> {
        let problem = self.problem;
        self.random.shuffle(&mut self.order);
        let (mut gained, mut loss_curvature) = (0.0, 0.0);
        for some in self.order.chunks(problem.rows_between_pauses) {
            for &i in some {
                let (i, of) = (i as usize, &mut self.rows[i as usize]);
                let (row, loss_weight, side) =
                    (problem.data.row(i), problem.loss_weights[i], side(problem, i));
                if loss_weight == 0.0 {
                    continue;
                }
                let agreement = side * (row.dot(&self.place.point.weights) + self.place.point.intercepts[0]);
                let old = of.alpha;
                (of.t, of.alpha) = best(old, of.t, of.q, loss_weight, agreement);
                let step = of.alpha - old;
                let spread = of.alpha * (1.0 - of.alpha / loss_weight);
                loss_curvature += spread;
                if step != 0.0 {
                    row.add_to(step * side / problem.penalty.square, &mut self.place.point.weights);
                    gained += 0.5 * step * step * (of.q + if spread > 0.0 { 1.0 / spread } else { 0.0 });
                }
            }
            pause()?;
        }
        ControlFlow::Continue((gained, loss_curvature))
    }

    /// Takes the intercept to where the slope of the objective in it is zero, as far as two slopes tell.
    fn move_intercept(&mut self, loss_curvature: f64) {
        // The weights make up for much of what the intercept does, so that the curvature is less than that of the losses alone.
        const FIRST_SHARE: f64 = 0.25;
        const MIN_SHARE: f64 = 1e-6;
        // A step of two changes odds sevenfold.
        const LONGEST: f64 = 2.0;
        let sum: f64 = self.rows.iter().enumerate().map(|(i, of)| of.alpha * side(self.problem, i)).sum();
        let here = self.place.point.intercepts[0];
        let Intercept { before, curvature } = &mut self.intercept;
        let found = before.map(|(there, its)| (its - sum) / (here - there));
        match found {
            Some(found) if found > 0.0 && found.is_finite() => {
                *curvature = found.clamp(MIN_SHARE * loss_curvature, loss_curvature)
            }
            Some(_) => {}
            None => *curvature = FIRST_SHARE * loss_curvature,
        }
        *before = Some((here, sum));
        let step = sum / *curvature;
        if step.is_finite() {
            self.place.point.intercepts[0] += step.clamp(-LONGEST, LONGEST);
        }
    }

    /// The intercept is about to be moved by another: the slope was taken where it no longer is.
    pub(super) fn forget_slope(&mut self) {
        self.intercept.before = None;
    }
}

/// +1 for rows of the second class, −1 for those of the first.
fn side(problem: &Problem<'_>, i: usize) -> f64 {
    if problem.labels[i] == 1 { 1.0 } else { -1.0 }
}

/// The root t of t + q (α(t) − α) + agreement, with its α(t) = loss_weight / (1 + e^−t), by Newton's method between bounds.
fn best(alpha: f64, t: f64, q: f64, loss_weight: f64, agreement: f64) -> (f64, f64) {
    const MAX: usize = 60;
    const DIGITS: f64 = 1e-4;
    let (mut low, mut high) = if t < -agreement { (t, -agreement) } else { (-agreement, t) };
    let (mut t, mut found) = (t, alpha);
    for _ in 0..MAX {
        let height = t + q * (found - alpha) + agreement;
        if height > 0.0 {
            high = t
        } else {
            low = t
        }
        let next = t - height / (1.0 + q * found * (1.0 - found / loss_weight));
        let next = if next >= low && next <= high { next } else { 0.5 * (low + high) };
        let moved = (next - t).abs();
        t = next;
        found = loss_weight * logistic(t);
        // Near the root Newton's method has twice as many digits after a step.
        if moved <= DIGITS * t.abs().min(1.0) {
            break;
        }
    }
    (t, found)
}

#[cfg(test)]
mod tests {
    use super::best;
    use proptest::prelude::*;

    proptest! {
        /// The root by halving alone.
        #[test]
        fn one_row_is_solved(
            t in -30.0..30.0f64,
            q in prop_oneof![Just(0.0), 1e-6..1e6f64],
            loss_weight in 1e-3..1e3f64,
            agreement in -40.0..40.0f64,
        ) {
            let alpha = loss_weight / (1.0 + (-t).exp());
            let height = |t: f64| t + q * (loss_weight / (1.0 + (-t).exp()) - alpha) + agreement;
            let (mut low, mut high) = (-100.0, 100.0);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if height(middle) > 0.0 { high = middle } else { low = middle }
            }
            let (found, own) = best(alpha, t, q, loss_weight, agreement);
            prop_assert!((found - low).abs() <= 1e-6 * (1.0 + low.abs()), "{found} beside {low}");
            prop_assert!((own - loss_weight / (1.0 + (-found).exp())).abs() <= 1e-12 * loss_weight);
        }
    }
}

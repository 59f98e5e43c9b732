//! Newton's method, for the penalties that have a second derivative everywhere (L2, or none), where `few.rs` is not for.
//!
//! The direction solves H·p = −g: from the matrix itself where it is small, otherwise by conjugate gradients that stop as
//! early as the point is far from the best (truncated Newton). A step along it is halved until the objective is smaller;
//! the scores along it are known, so that a trial takes no look at the rows.

use super::matrix::MOST_WRITTEN;
use super::problem::{Pause, Point, Problem};
use super::proof::solve;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Newton's method as it stands.
pub(super) struct Newton<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) point: Point,
    pub(super) scores: Vec<f64>,
    pub(super) objective: f64,
    /// The length of the first gradient.
    first: f64,
}

/// What a step came to.
pub(super) enum Step {
    /// The objective is smaller by about this much than before, and this far from the best as far as can be guessed.
    Made { left: f64 },
    /// No step makes the objective smaller: its digits are at their end.
    Stalled,
}

impl<'p, 'a> Newton<'p, 'a> {
    /// Newton's method at a point, with the scores and the objective there.
    pub(super) fn new(problem: &'p Problem<'a>, point: Point, scores: Vec<f64>, objective: f64) -> Self {
        Self { problem, point, scores, objective, first: 0.0 }
    }

    /// One step. `pause` is called on the way through the rows and may end it: then the point is the one before.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let problem = self.problem;
        let probabilities = problem.probabilities(&self.scores, pause)?;
        // Minus the gradient.
        let mut down = problem.combine(&problem.residuals(&probabilities, pause)?, pause)?;
        let square = problem.penalty.square;
        down.weights.iter_mut().zip(&self.point.weights).for_each(|(g, w)| *g -= square * w);
        let length = down.dot(&down).sqrt();
        self.first = self.first.max(length);
        pause()?;
        if length == 0.0 {
            return ControlFlow::Continue(Step::Stalled);
        }
        let size = down.weights.len() + down.intercepts.len();
        let written = if size <= MOST_WRITTEN && problem.width() == 1 && problem.penalty.is_none() {
            let bends: Vec<f64> =
                probabilities.iter().zip(&problem.prices).map(|(p, price)| price * p * (1.0 - p)).collect();
            let mut matrix = problem.matrix(&bends, 1, pause)?;
            for j in 0..size {
                matrix[j * size + j] *= 1.0 + least_left(size);
            }
            solve(matrix, &down.joined(), least_left(size) / 4.0)
        } else {
            None
        };
        let direction = match written {
            Some(solution) => Point::split(solution, problem.width()),
            None => self.conjugate_gradients(&probabilities, &down, length, pause)?,
        };
        pause()?;
        let slope = down.dot(&direction);
        let along = problem.scores(&direction, pause)?;
        // For a quadratic function the whole way is half the slope; a small part of it is left behind.
        let left = 0.05 * slope;
        let mut fraction = 1.0;
        while fraction > 1e-10 {
            let mut tried = self.point.clone();
            tried.add(fraction, &direction);
            let mut scores = self.scores.clone();
            scores.par_iter_mut().zip(&along).for_each(|(score, step)| *score += fraction * step);
            let found = problem.objective(&tried, &scores, pause)?;
            if is_enough(self.objective, found, 1e-4 * fraction * slope) {
                self.point = tried;
                self.scores = scores;
                self.objective = found;
                let left = if fraction == 1.0 { left } else { f64::INFINITY };
                return ControlFlow::Continue(Step::Made { left });
            }
            fraction *= 0.5;
            pause()?;
        }
        ControlFlow::Continue(Step::Stalled)
    }

    /// An approximate solution of H·p = `down`, by conjugate gradients with the diagonal of H as the measure of length.
    fn conjugate_gradients(
        &self,
        probabilities: &[f64],
        down: &Point,
        length: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Point> {
        const MOST: usize = 500;
        let problem = self.problem;
        let square = problem.penalty.square;
        let mut diagonal = problem.curvatures(probabilities, pause)?;
        diagonal.weights.iter_mut().for_each(|h| *h += square);
        let measure = |vector: &Point| {
            let divide = |v: &[f64], by: &[f64]| -> Vec<f64> {
                v.iter().zip(by).map(|(v, h)| if *h > 0.0 { v / h } else { *v }).collect()
            };
            Point {
                weights: divide(&vector.weights, &diagonal.weights),
                intercepts: divide(&vector.intercepts, &diagonal.intercepts),
            }
        };
        let mut solution = problem.zero();
        let mut rest = down.clone();
        let mut measured = measure(&rest);
        let mut direction = measured.clone();
        let mut size = rest.dot(&measured);
        let start = size;
        // The nearer to the best, the more digits of the direction are worth their passes.
        let tolerance = (length / self.first).sqrt().clamp(1e-8, 0.1);
        for _ in 0..MOST {
            let mut bent = problem.curve(probabilities, &direction, pause)?;
            bent.weights.iter_mut().zip(&direction.weights).for_each(|(b, d)| *b += square * d);
            let curvature = direction.dot(&bent);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            solution.add(step, &direction);
            rest.add(-step, &bent);
            measured = measure(&rest);
            let before = std::mem::replace(&mut size, rest.dot(&measured));
            if size.is_nan() || size <= tolerance * tolerance * start {
                break;
            }
            let factor = size / before;
            let old = std::mem::replace(&mut direction, measured.clone());
            direction.add(factor, &old);
        }
        ControlFlow::Continue(solution)
    }
}

/// Whether an objective is smaller than before by what was asked. Where that is less than its last digits tell, it must be
/// the same but for them.
pub(super) fn is_enough(before: f64, found: f64, wanted: f64) -> bool {
    let digits = 8.0 * f64::EPSILON * before;
    if wanted < 1e-3 * digits { found <= before + digits } else { found <= before - wanted && found < before }
}

/// The share of a diagonal entry of the matrix that a direction is given beside its curvature where no penalty bends it.
///
/// Columns that depend on one another, as the features of all words of a column and the intercept do, leave directions along which
/// nothing changes. Rounding alone would decide how far a step goes there, and it goes far: weights of 10¹⁵ whose scores have no
/// digits. With a little curvature, well above rounding and far below any that data has, it stays where it is.
fn least_left(size: usize) -> f64 {
    16.0 * f64::EPSILON * size as f64
}

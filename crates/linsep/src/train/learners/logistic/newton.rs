//! Newton's method, where there is no penalty. It takes L2 too, as the reference that tests compare `dual.rs` and `lbfgs.rs` with.
//!
//! The direction solves H·p = −g: from the matrix itself where it is small, otherwise by conjugate gradients that stop as
//! early as the point is far from the best (truncated Newton). A step along it is halved until the objective is smaller;
//! the scores along it are known, so that a trial takes no look at the rows.

use super::matrix::MAX_WRITTEN;
use super::problem::{Pause, Place, Point, Problem};
use super::proof::solve;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Newton's method as it stands.
pub(super) struct Newton<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) place: Place,
    /// The length of the first gradient.
    first: f64,
    /// What the rows say at this point, if it is known.
    pub(super) known: Option<Slopes>,
}

/// The probabilities of the rows at a point, and minus the gradient of the objective there.
pub(super) struct Slopes {
    probabilities: Vec<f64>,
    down: Point,
}

/// A place on the way along a direction.
struct Trial {
    fraction: f64,
    place: Place,
}

/// What a step came to.
pub(super) enum Step {
    /// The objective is smaller by about this much than before, and this far from the best as far as can be guessed.
    Made { left: f64 },
    /// No step makes the objective smaller: its digits are at their end.
    Stalled,
}

impl<'p, 'a> Newton<'p, 'a> {
    /// Newton's method at a point.
    pub(super) fn new(problem: &'p Problem<'a>, place: Place) -> Self {
        Self { problem, place, first: 0.0, known: None }
    }

    /// The slopes at this point.
    fn slopes(&self, pause: &mut Pause<'_>) -> ControlFlow<Status, Slopes> {
        let problem = self.problem;
        let probabilities = problem.probabilities(&self.place.scores, pause)?;
        let mut down = problem.combine(&problem.residuals(&probabilities, pause)?, pause)?;
        let square = problem.penalty.square;
        down.weights.iter_mut().zip(&self.place.point.weights).for_each(|(g, w)| *g -= square * w);
        ControlFlow::Continue(Slopes { probabilities, down })
    }

    /// One step. `pause` is called on the way through the rows and may end it: then the point is the one before.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let problem = self.problem;
        let Slopes { probabilities, down } = match self.known.take() {
            Some(known) => known,
            None => self.slopes(pause)?,
        };
        let length = down.dot(&down).sqrt();
        self.first = self.first.max(length);
        pause()?;
        if length == 0.0 {
            return ControlFlow::Continue(Step::Stalled);
        }
        let size = down.weights.len() + down.intercepts.len();
        let written = if size <= MAX_WRITTEN && problem.width() == 1 && problem.penalty.is_none() {
            let curvatures: Vec<f64> = probabilities
                .iter()
                .zip(&problem.loss_weights)
                .map(|(p, loss_weight)| loss_weight * p * (1.0 - p))
                .collect();
            let mut matrix = problem.matrix(&curvatures, 1, 0.0, pause)?;
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
        let mut best = self.trial(1.0, &direction, &along, pause)?;
        while !is_enough(self.place.objective, best.place.objective, 1e-4 * best.fraction * slope) {
            if best.fraction < 1e-10 {
                return ControlFlow::Continue(Step::Stalled);
            }
            best = self.trial(0.5 * best.fraction, &direction, &along, pause)?;
        }
        // A quadratic function would fall by half of the slope. Where it falls by more, the way goes on: a trial costs no pass over
        // the rows.
        const FALLS_ON: f64 = 0.6;
        while self.place.objective - best.place.objective > FALLS_ON * best.fraction * slope {
            let further = self.trial(2.0 * best.fraction, &direction, &along, pause)?;
            if further.place.objective.is_nan() || further.place.objective >= best.place.objective {
                break;
            }
            best = further;
        }
        let is_whole = best.fraction == 1.0;
        self.place = best.place;
        let left = if problem.penalty.square > 0.0 {
            // Its square is twice the gap that is to come, which the caller takes a third of what is wanted for.
            let known = self.known.insert(self.slopes(pause)?);
            0.15 * known.down.dot(&known.down) / problem.penalty.square
        } else if is_whole {
            // For a quadratic function the whole way is half the slope; a small part of it is left behind.
            0.05 * slope
        } else {
            f64::INFINITY
        };
        ControlFlow::Continue(Step::Made { left })
    }

    /// The point that lies this far along a direction, whose scores are known.
    fn trial(
        &self,
        fraction: f64,
        direction: &Point,
        along: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Trial> {
        let mut point = self.place.point.clone();
        point.add(fraction, direction);
        let mut scores = self.place.scores.clone();
        scores.par_iter_mut().zip(along).for_each(|(score, step)| *score += fraction * step);
        let objective = self.problem.objective(&point, &scores, pause)?;
        pause()?;
        ControlFlow::Continue(Trial { fraction, place: Place { point, scores, objective } })
    }

    /// An approximate solution of H·p = `down`, by conjugate gradients with the diagonal of H as the measure of length.
    fn conjugate_gradients(
        &self,
        probabilities: &[f64],
        down: &Point,
        length: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Point> {
        const MAX: usize = 500;
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
        for _ in 0..MAX {
            let mut hessian_direction = problem.curve(probabilities, &direction, pause)?;
            hessian_direction.weights.iter_mut().zip(&direction.weights).for_each(|(b, d)| *b += square * d);
            let curvature = direction.dot(&hessian_direction);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            solution.add(step, &direction);
            rest.add(-step, &hessian_direction);
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

/// The share of a diagonal entry of the matrix that a direction is given beside its curvature where there is no penalty.
///
/// Columns that depend on one another, as the features of all words of a column and the intercept do, leave directions along which
/// nothing changes. Rounding alone would decide how far a step goes there, and it goes far: weights of 10¹⁵ whose scores have no
/// digits. With a little curvature, well above rounding and far below any that data has, it stays where it is.
fn least_left(size: usize) -> f64 {
    16.0 * f64::EPSILON * size as f64
}

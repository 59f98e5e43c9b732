//! Several classes, or many features, with L2: the method of Broyden, Fletcher, Goldfarb and Shanno with limited memory.
//!
//! A direction comes from the slopes, and from how they changed along the last steps (Nocedal 1980). It begins with a matrix of second
//! derivatives, written down anew after some iterations: that of all classes where it is small, else one that the classes share,
//! Σ bᵢ xᵢxᵢᵀ with the mean bᵢ of their second derivatives, else a multiple of the slopes.
//!
//! The scores along a direction are known, so that the best point on it is found without a look at the rows: an iteration takes two
//! products with the rows, as one of conjugate gradients does. On MNIST, where most probabilities are near 0 or 1, Newton's method
//! takes more than ten times as many: its model is wrong far from the point.

use super::newton::Step;
use super::problem::{Along, Pause, Place, Point, Problem};
use super::proof::{factorise, solve_factorised, solve_factorised_together};
use crate::linalg;
use crate::train::engine::run::Status;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// A step, how much the slopes changed along it, and the product of both.
pub(super) struct Change {
    pub(super) step: Vec<f64>,
    pub(super) slopes: Vec<f64>,
    pub(super) product: f64,
}

impl Change {
    /// None where the slopes have not changed against the step by more than rounding: nothing is learned from it.
    pub(super) fn new(step: Vec<f64>, slopes: Vec<f64>) -> Option<Self> {
        let product = linalg::dot_dense(&step, &slopes);
        let lengths = linalg::norm_squared(&step).sqrt() * linalg::norm_squared(&slopes).sqrt();
        (product > 1e-10 * lengths).then_some(Self { step, slopes, product })
    }
}

/// The inverse of a matrix that changes have mended, times `down`: what they say is taken off, the inverse of the matrix applied, and
/// put on again.
pub(super) fn mended_step<'c>(
    changes: impl DoubleEndedIterator<Item = &'c Change> + Clone,
    down: &[f64],
    inverse: impl FnOnce(Vec<f64>) -> Vec<f64>,
) -> Vec<f64> {
    let mut rest = down.to_vec();
    let mut taken = Vec::new();
    for Change { step, slopes, product } in changes.clone().rev() {
        let own = linalg::dot_dense(step, &rest) / product;
        linalg::add_dense(-own, slopes, &mut rest);
        taken.push(own);
    }
    let mut found = inverse(rest);
    for (Change { step, slopes, product }, taken) in changes.zip(taken.into_iter().rev()) {
        let own = linalg::dot_dense(slopes, &found) / product;
        linalg::add_dense(taken - own, step, &mut found);
    }
    found
}

/// Changes that are kept.
const MEMORY: usize = 20;

/// Iterations in a step: the caller counts steps, and asks what is left after each.
const ITERATIONS: usize = 10;

/// The largest matrix that the classes share, in rows.
const MAX_SHARED: usize = 1600;

/// The largest matrix of second derivatives of all classes that is written down, in rows.
const MAX_OF_CLASSES: usize = 700;
/// The most derivatives of scores that a row may have there, in the mean: the matrix takes an eighth of as many iterations.
const MAX_PER_ROW: usize = 250;

/// What the directions begin with.
enum Start {
    /// A multiple of the slopes.
    Slopes,
    /// The Cholesky factor of a matrix of second derivatives that all classes share: with the mean over the classes.
    Shared(Vec<f64>),
    /// The Cholesky factor of the matrix of all classes.
    Whole(Vec<f64>),
}

/// The method as it stands.
pub(super) struct Lbfgs<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) place: Place,
    /// Minus the gradient of the objective at this point, if it is known.
    pub(super) down: Option<Point>,
    changes: VecDeque<Change>,
    start: Start,
    /// Iterations after which the start is to be found anew.
    lasts: usize,
}

impl<'p, 'a> Lbfgs<'p, 'a> {
    /// Whether the method is for this problem.
    pub(super) fn is_for(problem: &Problem<'_>) -> bool {
        problem.penalty.absolute == 0.0 && problem.penalty.square > 0.0
    }

    /// The method at a point.
    pub(super) fn new(problem: &'p Problem<'a>, place: Place) -> Self {
        Self { problem, place, down: None, changes: VecDeque::new(), start: Start::Slopes, lasts: 0 }
    }

    /// Some iterations. `pause` is called on the way through the rows and may end it: then the point is that of the last whole one.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        for _ in 0..ITERATIONS {
            if !self.iterate(pause)? {
                return ControlFlow::Continue(Step::Stalled);
            }
        }
        let left = self.down.as_ref().map_or(f64::INFINITY, |down| {
            // Its square is twice the gap that is to come, which the caller takes a third of what is wanted for.
            0.15 * down.dot(down) / self.problem.penalty.square
        });
        ControlFlow::Continue(Step::Made { left })
    }

    /// Minus the gradient at a place.
    fn slopes(&self, place: &Place, pause: &mut Pause<'_>) -> ControlFlow<Status, Point> {
        let problem = self.problem;
        let mut down = problem.combine(&problem.residuals_of(&place.scores, pause)?, pause)?;
        let square = problem.penalty.square;
        down.weights.iter_mut().zip(&place.point.weights).for_each(|(g, w)| *g -= square * w);
        ControlFlow::Continue(down)
    }

    /// To the best point along one direction. Whether there is one.
    fn iterate(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, bool> {
        let problem = self.problem;
        let width = problem.width();
        if self.lasts == 0 {
            self.find_start(pause)?;
        }
        let down = match self.down.take() {
            Some(down) => down,
            None => self.slopes(&self.place, pause)?,
        };
        let joined = down.joined();
        let scale = self.changes.back().map_or(1.0, |last| last.product / linalg::norm_squared(&last.slopes));
        let direction = mended_step(self.changes.iter(), &joined, |mut rest| {
            match &self.start {
                Start::Shared(factor) => solve_factorised_together(factor, width, &mut rest),
                Start::Whole(factor) => rest = solve_factorised(factor, &rest),
                Start::Slopes => rest.iter_mut().for_each(|g| *g *= scale),
            }
            rest
        });
        let slope = linalg::dot_dense(&joined, &direction);
        if !(slope > 0.0 && slope.is_finite()) {
            return self.forget(down, pause);
        }
        let direction = Point::split(direction, width);
        let along = problem.scores(&direction, pause)?;
        let Some(fraction) = self.search(&direction, &along, slope, pause)? else {
            return self.forget(down, pause);
        };
        let mut place = self.place.clone();
        place.point.add(fraction, &direction);
        linalg::add_dense(fraction, &along, &mut place.scores);
        place.objective = problem.objective(&place.point, &place.scores, pause)?;
        let found = self.slopes(&place, pause)?;
        let step = direction.joined().iter().map(|d| fraction * d).collect();
        let changed = joined.iter().zip(found.joined()).map(|(before, now)| before - now).collect();
        self.changes.extend(Change::new(step, changed));
        if self.changes.len() > MEMORY {
            self.changes.pop_front();
        }
        (self.place, self.down) = (place, Some(found));
        self.lasts -= 1;
        ControlFlow::Continue(true)
    }

    /// A direction that leads nowhere: without the changes that made it there may be another.
    fn forget(&mut self, down: Point, pause: &mut Pause<'_>) -> ControlFlow<Status, bool> {
        self.down = Some(down);
        if self.changes.is_empty() {
            return ControlFlow::Continue(false);
        }
        self.changes.clear();
        self.iterate(pause)
    }

    /// Where along a direction the slope is as good as zero, as a multiple of it. None if rounding hides it.
    fn search(
        &self,
        direction: &Point,
        along: &[f64],
        slope: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Option<f64>> {
        // The share of the slope at the start that is as good as none.
        const ENOUGH: f64 = 0.05;
        const MAX: usize = 50;
        let problem = self.problem;
        let square = problem.penalty.square;
        let of_weights = square * linalg::dot_dense(&self.place.point.weights, &direction.weights);
        let of_direction = square * linalg::norm_squared(&direction.weights);
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let is_first = self.changes.is_empty() && matches!(self.start, Start::Slopes);
        let mut fraction = if is_first { 0.0 } else { 1.0 };
        for _ in 0..MAX {
            let Along { slope: losses, curvature } =
                problem.along(&self.place.scores, along, fraction, pause)?;
            let here = losses + of_weights + fraction * of_direction;
            if here.abs() <= ENOUGH * slope {
                return ControlFlow::Continue((fraction > 0.0).then_some(fraction));
            }
            // What is not a number lies too far away.
            if here < 0.0 {
                low = fraction
            } else {
                high = fraction
            }
            let newton = fraction - here / (curvature + of_direction);
            fraction = if newton > low && newton < high {
                newton
            } else if high < f64::INFINITY {
                0.5 * (low + high)
            } else {
                2.0 * fraction.max(f64::MIN_POSITIVE)
            };
        }
        ControlFlow::Continue((low > 0.0).then_some(low))
    }

    /// Writes the matrix at this point down, where that is worth its time.
    fn find_start(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status> {
        const LASTS_SHARED: usize = 60;
        const LASTS_WHOLE: usize = 12;
        let problem = self.problem;
        let (columns, width) = (problem.data.columns(), problem.width());
        let per_row = (problem.data.stored() / problem.data.len() + 1) * width;
        let is_whole = (columns + 1) * width <= MAX_OF_CLASSES && per_row <= MAX_PER_ROW && width > 1;
        if !is_whole && columns >= MAX_SHARED {
            self.lasts = usize::MAX;
            return ControlFlow::Continue(());
        }
        let (mut matrix, block) = if is_whole {
            (problem.matrix_of_classes(&self.place.scores, pause)?, width)
        } else {
            let curvatures = problem.mean_curvatures(&self.place.scores, pause)?;
            (problem.matrix(&curvatures, 1, 0.0, pause)?, 1)
        };
        let size = (columns + 1) * block;
        (0..columns * block).for_each(|j| matrix[j * size + j] += problem.penalty.square);
        // What rounding leaves of a matrix that is nearly singular.
        (0..size).for_each(|j| matrix[j * size + j] *= 1.0 + 16.0 * f64::EPSILON * size as f64);
        let factor = factorise(&mut matrix, size, f64::EPSILON).map(|()| matrix);
        (self.start, self.lasts) = match factor {
            Some(factor) if is_whole => (Start::Whole(factor), LASTS_WHOLE),
            Some(factor) => (Start::Shared(factor), LASTS_SHARED),
            None => (Start::Slopes, LASTS_SHARED),
        };
        self.changes.clear();
        pause()
    }
}

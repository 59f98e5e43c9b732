//! Two classes and few features: Newton's method with a matrix that is kept, and mended from step to step.
//!
//! The matrix of second derivatives is written down once, from a part of the rows where they are many. Each step then takes one
//! pass over the rows, which gives the objective and its slopes at the new point; how the slopes have changed along the step
//! mends the matrix (the update of Broyden, Fletcher, Goldfarb and Shanno). It is written down anew where steps have become so slow
//! that this takes less time, and in every step for small data.
//!
//! The step goes to where the quadratic model with this matrix, and the penalty itself, are smallest: by a Cholesky factor for L2,
//! weight by weight for the penalties that leave weights out.

use super::binary_loss::BinaryLoss;
use super::coordinate_descent::{Coordinate, Effort, Model, minimise};
use super::lbfgs::{Change, mended_step};
use super::matrix::MAX_WRITTEN;
use super::newton::{Step, is_enough};
use super::problem::{Pause, Point, Problem};
use super::proof::{Proof, factorise, solve_factorised};
use crate::dataset::Rows;
use crate::linalg;
use crate::train::engine::run::Status;
use std::ops::ControlFlow;

/// Rows for each column from which the curvature of many rows is guessed: it is then known to some hundredths.
const ROWS_FOR_A_COLUMN: usize = 200;

/// A part of the rows is solved first where it is no more than one row of so many.
const MIN_ROW_STEP: usize = 8;

/// The least share of [`DenseNewton::rough`] that is not nothing.
const MIN_ROUGH: f64 = 1e-3;

/// The method as it stands.
pub(super) struct DenseNewton<'p, 'a> {
    problem: &'p Problem<'a>,
    pub(super) point: Point,
    pub(super) sides: BinaryLoss,
    pub(super) objective: f64,
    /// The losses of a point of before, whose room is used again.
    room: Option<BinaryLoss>,
    curvature: Option<Curvature>,
    /// The matrix is that of every so-many-th row.
    row_step: usize,
    /// Rows whose second derivative is less than this share of the mean are left to the diagonal of the matrix. It becomes less where
    /// steps turn out to be slow.
    pub(super) rough: f64,
    /// How well a model is solved where the penalty leaves weights out: what its last cycle gains, as a share of the first.
    pub(super) enough: f64,
    /// What the last step was expected to gain.
    expected: f64,
    /// Whether it had to be made shorter.
    is_misled: bool,
}

/// The stored form of the second derivatives.
enum Curvature {
    /// A Cholesky factor of the matrix, and by how much steps since then have changed the slopes.
    Factor { factor: Vec<f64>, changes: Vec<Change> },
    /// The matrix itself, mended.
    Matrix(Vec<f64>),
}

impl<'p, 'a> DenseNewton<'p, 'a> {
    /// Whether the method is for this problem.
    pub(super) fn is_for(problem: &Problem<'_>) -> bool {
        problem.width() == 1 && problem.data.columns() < MAX_WRITTEN && !problem.penalty.is_none()
    }

    /// The method at a point. If all weights are zero there, the intercept becomes the best for them; and where rows are many,
    /// the point becomes about the best for a part of them, which is found in less time than one pass over all takes.
    pub(super) fn new(
        problem: &'p Problem<'a>,
        mut point: Point,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Self> {
        problem.centre_zero(&mut point);
        let row_step = problem.data.len() / (ROWS_FOR_A_COLUMN * (problem.data.columns() + 1));
        if row_step >= MIN_ROW_STEP && point.weights.iter().all(|&w| w == 0.0) {
            point = best_of_part(problem, point, row_step, pause)?;
        }
        let sides = problem.sides(&point, None, pause)?;
        let objective = problem.penalty.of(&point.weights) + sides.loss;
        let row_step = match problem.data.rows() {
            Rows::Dense { .. } => row_step.max(1),
            // Rare features would be missed.
            Rows::Sparse { .. } => 1,
        };
        ControlFlow::Continue(Self {
            problem,
            point,
            sides,
            objective,
            room: None,
            curvature: None,
            row_step,
            rough: 0.0,
            enough: 1e-5,
            expected: 0.0,
            is_misled: false,
        })
    }

    /// Whether the matrix takes so little time that it is written down in every step, for the last digits that this gives.
    fn is_small(&self) -> bool {
        const SMALL: usize = 1 << 22;
        let (rows, size) = (self.problem.data.len(), self.problem.data.columns() + 1);
        rows.saturating_mul(size * size) <= SMALL
    }

    /// One step. `pause` is called on the way through the rows and may end it: then the point is the one before.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let problem = self.problem;
        let before = self.point.joined();
        let down = self.sides.down(problem).joined();
        let mut step = None;
        if let Some(curvature) = self.curvature.as_ref().filter(|_| !self.is_small()) {
            let (found, expected) = self.model_step(curvature, &before, &down, pause)?;
            // As many steps as the matrix takes, with the gain that this one has beside the last: a new matrix must do better.
            const BETTER: f64 = 0.003;
            let slower = (expected / self.expected).powf(1.0 + problem.matrix_takes(self.row_step));
            if expected > 0.0 && slower < BETTER && !self.is_misled {
                step = Some((found, expected));
            } else if self.row_step > 1 && expected > 0.1 * self.expected {
                // Too few rows, perhaps.
                self.row_step = self.row_step.div_ceil(4);
            } else if expected > 0.1 * self.expected {
                self.rough = if self.rough > MIN_ROUGH { 0.1 * self.rough } else { 0.0 };
            }
        }
        let is_kept = step.is_some();
        let (step, expected) = match step {
            Some(found) => found,
            None => {
                let curvature = self.write_down(pause)?;
                let found = self.model_step(&curvature, &before, &down, pause)?;
                self.curvature = Some(curvature);
                found
            }
        };
        if expected.is_nan() || expected <= 0.0 {
            self.curvature = None;
            return ControlFlow::Continue(Step::Stalled);
        }
        (self.expected, self.is_misled) = (expected, false);
        let mut fraction = 1.0;
        while fraction > 1e-10 {
            let taken: Vec<f64> = step.iter().map(|s| fraction * s).collect();
            // The whole way ends at zero exactly where the model does.
            let there = before.iter().zip(&taken).map(|(x, s)| if *s == -x { 0.0 } else { x + s }).collect();
            let point = Point::split(there, 1);
            let sides = problem.sides(&point, self.room.take(), pause)?;
            let objective = problem.penalty.of(&point.weights) + sides.loss;
            if is_enough(self.objective, objective, 1e-4 * fraction * expected) {
                let slopes = difference(&down, &sides.down(problem).joined());
                self.mend(taken, slopes);
                (self.point, self.objective) = (point, objective);
                self.room = Some(std::mem::replace(&mut self.sides, sides));
                // A proof is worth its time once it will do: its caller takes a third of what is wanted for that.
                let left = 0.3 * problem.gap_to_come(&self.point, &self.sides);
                return ControlFlow::Continue(Step::Made { left });
            }
            (self.room, self.is_misled) = (Some(sides), true);
            fraction *= 0.5;
        }
        self.curvature = None;
        if is_kept {
            // The matrix may be to blame.
            return self.step(pause);
        }
        ControlFlow::Continue(Step::Stalled)
    }

    /// How good the point is.
    pub(super) fn prove(
        &self,
        radius: f64,
        bias_input: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Proof> {
        self.problem.prove_sides(&self.point, &self.sides, radius, bias_input, pause)
    }

    /// The matrix at this point.
    fn write_down(&self, pause: &mut Pause<'_>) -> ControlFlow<Status, Curvature> {
        let problem = self.problem;
        let (columns, size) = (problem.data.columns(), problem.data.columns() + 1);
        let rough = if self.is_small() { 0.0 } else { self.rough };
        let mut matrix = problem.matrix(&self.sides.curvatures, self.row_step, rough, pause)?;
        if problem.penalty.absolute > 0.0 {
            // Both halves: rows of it are added.
            for a in 0..size {
                for b in 0..a {
                    matrix[b * size + a] = matrix[a * size + b];
                }
            }
            return ControlFlow::Continue(Curvature::Matrix(matrix));
        }
        (0..columns).for_each(|j| matrix[j * size + j] += problem.penalty.square);
        // What rounding leaves of a matrix that is nearly singular is made larger until it has a factor.
        let mut more = 0.0;
        loop {
            let mut factor = matrix.clone();
            (0..size).for_each(|j| factor[j * size + j] *= 1.0 + more);
            if factorise(&mut factor, size, f64::EPSILON).is_some() || more > 1.0 {
                return ControlFlow::Continue(Curvature::Factor { factor, changes: Vec::new() });
            }
            more = if more == 0.0 { 1e-13 * size as f64 } else { 100.0 * more };
            pause()?;
        }
    }

    /// The step to where the model is smallest, and about what it makes the objective smaller by, to first order.
    fn model_step(
        &self,
        curvature: &Curvature,
        at: &[f64],
        down: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, (Vec<f64>, f64)> {
        let penalty = self.problem.penalty;
        let columns = self.problem.data.columns();
        match curvature {
            Curvature::Factor { factor, changes } => {
                let mut down = down.to_vec();
                down[..columns].iter_mut().zip(at).for_each(|(g, w)| *g -= penalty.square * w);
                let step = mended_step(changes.iter(), &down, |rest| solve_factorised(factor, &rest));
                let expected = linalg::dot_dense(&down, &step);
                ControlFlow::Continue((step, expected))
            }
            Curvature::Matrix(matrix) => {
                let size = columns + 1;
                let takes_part = |&j: &usize| match j < columns {
                    true => at[j] != 0.0 || down[j].abs() > penalty.absolute,
                    false => self.problem.has_intercept,
                };
                let places: Vec<usize> = (0..size).filter(takes_part).collect();
                let mut coordinates: Vec<Coordinate> = places
                    .iter()
                    .map(|&j| Coordinate {
                        feature: (j < columns).then_some(j),
                        slope: -down[j],
                        curvature: matrix[j * size + j] + if j < columns { penalty.square } else { 0.0 },
                        start: at[j],
                        weight: at[j],
                    })
                    .collect();
                let own = places.iter().flat_map(|&a| places.iter().map(move |&b| matrix[a * size + b]));
                let mut model = Model::Pairs { matrix: own.collect(), changes: vec![0.0; places.len()] };
                let effort = Effort::new(coordinates.len(), self.enough);
                minimise(&mut model, &mut coordinates, penalty, effort, pause)?;
                let (mut step, mut expected) = (vec![0.0; size], 0.0);
                for (place, of) in places.into_iter().zip(coordinates) {
                    step[place] = of.weight - of.start;
                    expected -= of.slope * step[place];
                    if of.feature.is_some() {
                        expected += penalty.of(&[of.start]) - penalty.of(&[of.weight]);
                    }
                }
                ControlFlow::Continue((step, expected))
            }
        }
    }

    /// Mends the matrix: along a step the slopes of the losses have changed by this.
    fn mend(&mut self, step: Vec<f64>, mut slopes: Vec<f64>) {
        let Some(curvature) = &mut self.curvature else { return };
        let columns = self.problem.data.columns();
        if matches!(curvature, Curvature::Factor { .. }) {
            let square = self.problem.penalty.square;
            slopes[..columns].iter_mut().zip(&step).for_each(|(y, s)| *y += square * s);
        }
        let Some(change) = Change::new(step, slopes) else { return };
        match curvature {
            Curvature::Factor { changes, .. } => changes.push(change),
            Curvature::Matrix(matrix) => {
                let Change { step, slopes, product } = change;
                let size = step.len();
                let hessian_direction: Vec<f64> =
                    matrix.chunks_exact(size).map(|row| linalg::dot_dense(row, &step)).collect();
                let along = linalg::dot_dense(&step, &hessian_direction);
                if along <= 0.0 {
                    return;
                }
                for (place, row) in matrix.chunks_exact_mut(size).enumerate() {
                    linalg::add_dense(slopes[place] / product, &slopes, row);
                    linalg::add_dense(-hessian_direction[place] / along, &hessian_direction, row);
                }
            }
        }
    }
}

/// A point that is about the best for every `row_step`-th row: to some digits, as the other rows will change it anyway.
fn best_of_part(
    problem: &Problem<'_>,
    start: Point,
    row_step: usize,
    pause: &mut Pause<'_>,
) -> ControlFlow<Status, Point> {
    const MAX_STEPS: usize = 10;
    const ENOUGH: f64 = 1e-4;
    let chosen: Vec<usize> = (0..problem.data.len()).step_by(row_step).collect();
    let Ok(data) = problem.data.subset(&chosen) else { return ControlFlow::Continue(start) };
    let labels: Vec<u32> = chosen.iter().map(|&i| problem.labels[i]).collect();
    let loss_weights = chosen.iter().map(|&i| problem.loss_weights[i] * row_step as f64).collect();
    let part =
        Problem::new(&data, &labels, problem.classes, loss_weights, problem.has_intercept, problem.penalty);
    let mut newton = DenseNewton::new(&part, start, pause)?;
    for _ in 0..MAX_STEPS {
        match newton.step(pause)? {
            Step::Made { .. } if newton.expected > ENOUGH * newton.objective => {}
            _ => break,
        }
    }
    ControlFlow::Continue(newton.point)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

//! Two classes and many features, with a penalty that leaves weights out (L1, elastic net): a working set of features that grows.
//!
//! Most features have no weight at the best point, and those that have one are among the features with the steepest slopes long
//! before. So a step takes the features that have a weight, and as many again with the steepest slopes; copies their columns; and
//! makes the objective smaller with these alone, by the method for few features where they are few enough. One pass over all rows
//! then gives the slopes of all features. As long as features are left that would be taken if there were room, some steps
//! on the working set do; once there are none, its weights are made as good as is wanted of all.

use super::binary_loss::BinaryLoss;
use super::coordinate_descent::CoordinateDescent;
use super::dense_newton::DenseNewton;
use super::newton::Step;
use super::problem::{Pause, Point, Problem};
use super::proof::Proof;
use crate::dataset::{Dataset, Rows, Values};
use crate::train::engine::run::Status;
use std::ops::ControlFlow;

/// Features that are taken at least, if so many want a weight.
const FIRST: usize = 100;

/// Below so many features, their matrix of second derivatives is written down.
const MAX_WRITTEN: usize = 1500;

/// A feature takes part where its slope is more than this share of the penalty on a weight: it may soon be more than all of it.
const NEAR: f64 = 0.9;

/// Steps on a working set that lacks features, and on one that has all.
const MAX_STEPS_GROWING: usize = 3;
const MAX_STEPS: usize = 20;

/// Most rows are far on their side near the end. Those whose second derivative is less than this share of the mean are left to the
/// diagonal of the first matrix: together they have less than this share of the whole.
const FIRST_ROUGH: f64 = 0.1;

/// How well a model is solved on a working set that lacks features.
const ENOUGH_GROWING: f64 = 1e-3;

/// The method as it stands.
pub(super) struct WorkingSet<'p, 'a> {
    problem: &'p Problem<'a>,
    /// The gap that is to be reached, as a share of the objective.
    wanted: f64,
    pub(super) point: Point,
    pub(super) objective: f64,
    /// The losses at the point, or at the point before where a step was interrupted.
    sides: BinaryLoss,
    is_current: bool,
    /// [`MAX_WRITTEN`], but in tests.
    pub(super) most_written: usize,
    /// What [`DenseNewton`] knows of the care that its matrix needs.
    rough: f64,
    /// What [`CoordinateDescent`] knows of the care that its steps need.
    enough: f64,
}

/// The features of a step.
struct Chosen {
    /// In increasing order.
    columns: Vec<usize>,
    /// Those without a weight whose slope is more than the penalty on one.
    fresh: usize,
    /// Whether there was no room for all that should take part.
    is_growing: bool,
}

impl<'p, 'a> WorkingSet<'p, 'a> {
    /// Whether the method is for this problem.
    pub(super) fn is_for(problem: &Problem<'_>) -> bool {
        problem.width() == 1 && problem.penalty.absolute > 0.0
    }

    /// The method at a point; if all weights are zero there, the intercept becomes the best for them.
    pub(super) fn new(
        problem: &'p Problem<'a>,
        mut point: Point,
        wanted: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Self> {
        problem.centre_zero(&mut point);
        let sides = problem.sides(&point, None, pause)?;
        let objective = problem.penalty.of(&point.weights) + sides.loss;
        ControlFlow::Continue(Self {
            problem,
            wanted,
            point,
            objective,
            sides,
            is_current: true,
            most_written: MAX_WRITTEN,
            rough: FIRST_ROUGH,
            enough: CoordinateDescent::FIRST_ENOUGH,
        })
    }

    /// The features with a weight, and of the others those with the steepest slopes.
    fn choose(&self) -> Chosen {
        let slopes = self.sides.down(self.problem).weights;
        let (weights, absolute) = (&self.point.weights, self.problem.penalty.absolute);
        let steep = |share: f64| {
            let (slopes, least) = (&slopes, share * absolute);
            (0..slopes.len()).filter(move |&j| weights[j] == 0.0 && slopes[j].abs() > least)
        };
        let fresh = steep(1.0).count();
        let mut columns: Vec<usize> = if fresh > 0 { steep(NEAR).collect() } else { Vec::new() };
        let most = weights.iter().filter(|&&w| w != 0.0).count().max(FIRST);
        let is_growing = columns.len() > most;
        if is_growing {
            let steeper = |a: &usize, b: &usize| slopes[*b].abs().total_cmp(&slopes[*a].abs()).then(a.cmp(b));
            columns.select_nth_unstable_by(most, steeper);
            columns.truncate(most);
        }
        columns.extend((0..weights.len()).filter(|&j| weights[j] != 0.0));
        columns.sort_unstable();
        Chosen { columns, fresh, is_growing }
    }

    /// One step: a working set. `pause` is called on the way and may end it: then the point is the best so far.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let problem = self.problem;
        let Chosen { columns, fresh, is_growing } = self.choose();
        let Some(data) = restrict(problem.data, &columns).filter(|_| !columns.is_empty()) else {
            return ControlFlow::Continue(Step::Stalled);
        };
        pause()?;
        let loss_weights = problem.loss_weights.clone();
        let part = Problem::new(
            &data,
            problem.labels,
            problem.classes,
            loss_weights,
            problem.has_intercept,
            problem.penalty,
        );
        let start = Point {
            weights: columns.iter().map(|&j| self.point.weights[j]).collect(),
            intercepts: self.point.intercepts.clone(),
        };
        // Where features may still come or go, the last digits of the others are not worth their time.
        let enough = 0.5 * self.wanted * self.objective;
        let gap = problem.gap_to_come(&self.point, &self.sides);
        let goal = if fresh > 0 { enough.max(0.01 * gap) } else { enough };
        let (ended, taken) = if columns.len() < self.most_written {
            self.step_with_matrix(&part, &columns, start, goal, is_growing, pause)?
        } else {
            self.step_by_rows(&part, &columns, start, is_growing, pause)?
        };
        if taken == 0 {
            ended?;
            return ControlFlow::Continue(Step::Stalled);
        }
        self.is_current = false;
        ended?;
        self.refresh(pause)?;
        let left = problem.gap_to_come(&self.point, &self.sides);
        // A proof is worth its time once it will do: its caller takes a third of what is wanted for that.
        ControlFlow::Continue(Step::Made { left: 0.3 * left })
    }

    /// Steps by the method for few features, until the gap of the working set alone is as small as the goal. How many were made, and
    /// whether they were interrupted.
    fn step_with_matrix(
        &mut self,
        part: &Problem<'_>,
        columns: &[usize],
        start: Point,
        goal: f64,
        is_growing: bool,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, (ControlFlow<Status>, usize)> {
        let mut newton = DenseNewton::new(part, start, pause)?;
        newton.rough = self.rough;
        if is_growing {
            newton.enough = ENOUGH_GROWING;
        }
        let (mut ended, mut taken) = (ControlFlow::Continue(()), 0);
        while taken < if is_growing { MAX_STEPS_GROWING } else { MAX_STEPS } {
            match newton.step(pause) {
                ControlFlow::Continue(Step::Made { left }) => {
                    taken += 1;
                    if left <= 0.3 * goal {
                        break;
                    }
                }
                ControlFlow::Continue(Step::Stalled) => break,
                ControlFlow::Break(status) => {
                    ended = ControlFlow::Break(status);
                    break;
                }
            }
        }
        self.rough = newton.rough;
        self.take(columns, newton.point, newton.objective);
        ControlFlow::Continue((ended, taken))
    }

    /// The same by coordinate descent, which knows no gap: until a step gains little beside the first.
    fn step_by_rows(
        &mut self,
        part: &Problem<'_>,
        columns: &[usize],
        start: Point,
        is_growing: bool,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, (ControlFlow<Status>, usize)> {
        const LITTLE: f64 = 0.1;
        let mut descent = CoordinateDescent::new(part, part.place(start, pause)?, self.enough);
        let (mut ended, mut taken, mut first) = (ControlFlow::Continue(()), 0, 0.0f64);
        while taken < if is_growing { 1 } else { MAX_STEPS } {
            let before = descent.place.objective;
            match descent.step(pause) {
                ControlFlow::Continue(Step::Made { .. }) => {
                    taken += 1;
                    let gained = before - descent.place.objective;
                    first = first.max(gained);
                    if gained <= LITTLE * first {
                        break;
                    }
                }
                ControlFlow::Continue(Step::Stalled) => break,
                ControlFlow::Break(status) => {
                    ended = ControlFlow::Break(status);
                    break;
                }
            }
        }
        self.enough = descent.enough;
        self.take(columns, descent.place.point, descent.place.objective);
        ControlFlow::Continue((ended, taken))
    }

    /// Goes to where a working set has come.
    fn take(&mut self, columns: &[usize], found: Point, objective: f64) {
        columns.iter().zip(&found.weights).for_each(|(&j, &w)| self.point.weights[j] = w);
        self.point.intercepts = found.intercepts;
        self.objective = objective;
    }

    /// Makes the losses those of the point.
    fn refresh(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status> {
        if !self.is_current {
            self.sides = self.problem.sides(&self.point, None, pause)?;
            self.objective = self.problem.penalty.of(&self.point.weights) + self.sides.loss;
            self.is_current = true;
        }
        ControlFlow::Continue(())
    }

    /// How good the point is.
    pub(super) fn prove(
        &mut self,
        radius: f64,
        bias_input: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Proof> {
        self.refresh(pause)?;
        self.problem.prove_sides(&self.point, &self.sides, radius, bias_input, pause)
    }
}

/// The rows with these columns alone, which must increase.
fn restrict(data: &Dataset, columns: &[usize]) -> Option<Dataset> {
    let mut places = vec![u32::MAX; data.columns()];
    columns.iter().enumerate().for_each(|(place, &j)| places[j] = place as u32);
    let rows = match data.rows() {
        Rows::Sparse { offsets, indices, values } => {
            let (offsets, indices, values) = match values {
                Values::F32(values) => {
                    let (offsets, indices, values) = restrict_sparse(offsets, indices, values, &places);
                    (offsets, indices, Values::F32(values.into()))
                }
                Values::F64(values) => {
                    let (offsets, indices, values) = restrict_sparse(offsets, indices, values, &places);
                    (offsets, indices, Values::F64(values.into()))
                }
            };
            Rows::Sparse { offsets: offsets.into(), indices: indices.into(), values }
        }
        Rows::Dense { values } => {
            let width = data.columns();
            let values = match values {
                Values::F32(values) => Values::F32(restrict_dense(values, width, columns).into()),
                Values::F64(values) => Values::F64(restrict_dense(values, width, columns).into()),
            };
            Rows::Dense { values }
        }
    };
    let (labels, classes) = (data.labels().to_vec().into(), data.classes().to_vec());
    Dataset::from_arrays(rows, columns.len(), labels, None, classes, None, 0).ok()
}

fn restrict_sparse<T: Copy + Default>(
    offsets: &[usize],
    indices: &[u32],
    values: &[T],
    places: &[u32],
) -> (Vec<usize>, Vec<u32>, Vec<T>) {
    let mut starts = Vec::with_capacity(offsets.len());
    starts.push(0);
    let (mut own_places, mut own_values) = (vec![0; values.len()], vec![T::default(); values.len()]);
    let mut count = 0;
    for range in offsets.windows(2) {
        let range = range[0]..range[1];
        for (&j, &x) in indices[range.clone()].iter().zip(&values[range]) {
            // Written always, and written over where the column is not chosen: that needs no branch.
            let place = places[j as usize];
            (own_places[count], own_values[count]) = (place, x);
            count += usize::from(place != u32::MAX);
        }
        starts.push(count);
    }
    own_places.truncate(count);
    own_values.truncate(count);
    (starts, own_places, own_values)
}

fn restrict_dense<T: Copy>(values: &[T], width: usize, columns: &[usize]) -> Vec<T> {
    values.chunks_exact(width).flat_map(|row| columns.iter().map(|&j| row[j])).collect()
}

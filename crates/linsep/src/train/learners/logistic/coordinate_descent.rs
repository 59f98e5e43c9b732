//! Coordinate descent on Newton's models, for the penalties that leave weights out (L1, elastic net).
//!
//! A step takes one score after the other. Around the weights of a score the losses are replaced by a quadratic function,
//! which is made smaller weight by weight, each time to the best value of that weight: soft thresholding. Only weights that
//! are not zero, or that the gradient would move away from zero, take part. Then the weights go to the point that was found,
//! or half of the way, until the objective itself is smaller (Friedman, Hastie and Tibshirani 2010; Yuan, Ho and Lin 2012).

use super::newton::{Step, is_enough};
use super::problem::{Pause, Penalty, Place, Problem, WORK_BETWEEN_PAUSES, to_probabilities};
use super::proof::{factorise, solve_factorised};
use crate::dataset::Dataset;
use crate::linalg;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::{ControlFlow, Range};

/// The rows by their columns.
pub(super) struct Columns {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    fn new(data: &Dataset) -> Self {
        let mut offsets = vec![0; data.columns() + 1];
        let cells = |i: usize| data.row(i).iter().filter(|&(_, x)| x != 0.0);
        for i in 0..data.len() {
            cells(i).for_each(|(j, _)| offsets[j + 1] += 1);
        }
        for j in 0..data.columns() {
            offsets[j + 1] += offsets[j];
        }
        let mut next = offsets.clone();
        let count = offsets[data.columns()];
        let (mut rows, mut values) = (vec![0; count], vec![0.0; count]);
        for i in 0..data.len() {
            for (j, x) in cells(i) {
                (rows[next[j]], values[next[j]]) = (i as u32, x);
                next[j] += 1;
            }
        }
        Self { offsets, rows, values }
    }

    /// The rows that have the feature, with their values.
    #[inline]
    fn of(&self, feature: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.offsets[feature]..self.offsets[feature + 1];
        self.rows[range.clone()].iter().zip(&self.values[range]).map(|(&i, &x)| (i as usize, x))
    }
}

/// Coordinate descent as it stands.
pub(super) struct CoordinateDescent<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    columns: Columns,
    pub(super) place: Place,
    /// A cycle over the weights that gains less than this share of the first one is the last: the nearer to the best, the
    /// more of them are worth their time.
    pub(super) enough: f64,
}

/// A weight that may move, or the intercept.
pub(super) struct Coordinate {
    /// None for the intercept, which costs nothing.
    pub(super) feature: Option<usize>,
    /// The slope of the losses where the model begins.
    pub(super) slope: f64,
    /// That of the losses and of the penalty.
    pub(super) curvature: f64,
    pub(super) start: f64,
    pub(super) weight: f64,
}

/// What the losses' slopes have changed by since the model began.
pub(super) enum Model<'c> {
    /// By rows: the curvature of each row's loss in the score, and that times how far the score has moved.
    Rows { columns: &'c Columns, row_curvatures: Vec<RowCurvature> },
    /// By pairs of coordinates, where they are few beside the rows: the second derivatives, and the changes themselves.
    Pairs { matrix: Vec<f64>, changes: Vec<f64> },
}

#[derive(Clone, Copy)]
pub(super) struct RowCurvature {
    curvature: f64,
    moved: f64,
}

impl<'c> Model<'c> {
    fn new(
        columns: &'c Columns,
        row_curvatures: Vec<RowCurvature>,
        coordinates: &[Coordinate],
        data: &Dataset,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Self> {
        let count = coordinates.len();
        let cells: usize = coordinates
            .iter()
            .map(|of| {
                of.feature.map_or(row_curvatures.len(), |j| columns.offsets[j + 1] - columns.offsets[j])
            })
            .sum();
        if 4 * count * count > cells {
            return ControlFlow::Continue(Model::Rows { columns, row_curvatures });
        }
        let mut place = vec![u32::MAX; data.columns()];
        for (k, feature) in coordinates.iter().enumerate().filter_map(|(k, of)| Some((k, of.feature?))) {
            place[feature] = k as u32;
        }
        // The intercept comes last, if it is there.
        let intercept = coordinates.last().filter(|of| of.feature.is_none()).map(|_| (count - 1, 1.0));
        let blocks = (data.len() / (4 * count)).clamp(1, 8);
        let block = |k: usize| k * data.len() / blocks..(k + 1) * data.len() / blocks;
        let mut parts: Vec<(Range<usize>, Vec<f64>)> =
            (0..blocks).map(|k| (block(k), vec![0.0; count * count])).collect();
        let add = |i: usize, own: &mut Vec<(usize, f64)>, matrix: &mut [f64]| {
            own.clear();
            own.extend(
                data.row(i)
                    .iter()
                    .filter(|&(j, x)| x != 0.0 && place[j] != u32::MAX)
                    .map(|(j, x)| (place[j] as usize, x)),
            );
            own.extend(intercept);
            for &(a, x) in &*own {
                let (factor, line) =
                    (row_curvatures[i].curvature * x, &mut matrix[a * count..(a + 1) * count]);
                own.iter().for_each(|&(b, y)| line[b] += factor * y);
            }
        };
        let per_row = cells / data.len().max(1) + 1;
        let together = (WORK_BETWEEN_PAUSES / (blocks * per_row * per_row)).max(1);
        while parts.iter().any(|(left, _)| !left.is_empty()) {
            parts.par_iter_mut().for_each(|(left, matrix)| {
                let mut own = Vec::new();
                let end = left.end.min(left.start + together);
                (left.start..end).for_each(|i| add(i, &mut own, matrix));
                left.start = end;
            });
            pause()?;
        }
        let mut parts = parts.into_iter().map(|(_, matrix)| matrix);
        let mut matrix = parts.next().unwrap_or_default();
        parts.for_each(|part| matrix.iter_mut().zip(part).for_each(|(to, from)| *to += from));
        ControlFlow::Continue(Model::Pairs { matrix, changes: vec![0.0; count] })
    }

    /// What the slope of a coordinate has changed by.
    fn change(&self, place: usize, coordinate: &Coordinate) -> f64 {
        match (self, coordinate.feature) {
            (Model::Pairs { changes, .. }, _) => changes[place],
            (Model::Rows { columns, row_curvatures }, Some(feature)) => {
                columns.of(feature).map(|(i, x)| row_curvatures[i].moved * x).sum()
            }
            (Model::Rows { row_curvatures, .. }, None) => row_curvatures.iter().map(|own| own.moved).sum(),
        }
    }

    /// The second derivatives times a direction, in the coordinates where the direction is not zero.
    fn curve(&self, coordinates: &[Coordinate], direction: &[f64]) -> Vec<f64> {
        let moving = || coordinates.iter().enumerate().filter(|&(place, _)| direction[place] != 0.0);
        let mut hessian_direction = vec![0.0; coordinates.len()];
        match self {
            Model::Pairs { matrix, changes } => {
                let count = changes.len();
                for (place, _) in moving() {
                    hessian_direction[place] =
                        linalg::dot_dense(&matrix[place * count..(place + 1) * count], direction);
                }
            }
            Model::Rows { columns, row_curvatures } => {
                let mut moved = vec![0.0; row_curvatures.len()];
                for (place, coordinate) in moving() {
                    match coordinate.feature {
                        Some(feature) => {
                            columns.of(feature).for_each(|(i, x)| moved[i] += direction[place] * x);
                        }
                        None => moved.iter_mut().for_each(|moved| *moved += direction[place]),
                    }
                }
                moved.iter_mut().zip(row_curvatures).for_each(|(moved, own)| *moved *= own.curvature);
                for (place, coordinate) in moving() {
                    hessian_direction[place] = match coordinate.feature {
                        Some(feature) => columns.of(feature).map(|(i, x)| moved[i] * x).sum(),
                        None => moved.iter().sum(),
                    };
                }
            }
        }
        hessian_direction
    }

    /// The steps that make the model smallest, by a Cholesky factor of the matrix of those that take part, whose slopes are not zero.
    /// None where there is no matrix, or no factor.
    fn solved(&self, coordinates: &[Coordinate], slopes: &[f64], penalty: Penalty) -> Option<Vec<f64>> {
        let Model::Pairs { matrix, changes } = self else { return None };
        let count = changes.len();
        let places: Vec<usize> = (0..count).filter(|&place| slopes[place] != 0.0).collect();
        let mut factor = vec![0.0; places.len() * places.len()];
        for (row, (a, &place)) in factor.chunks_exact_mut(places.len().max(1)).zip(places.iter().enumerate())
        {
            let own = &matrix[place * count..(place + 1) * count];
            row[..=a].iter_mut().zip(&places).for_each(|(to, &other)| *to = own[other]);
            row[a] += if coordinates[place].feature.is_some() { penalty.square } else { 0.0 };
        }
        factorise(&mut factor, places.len(), 16.0 * f64::EPSILON * places.len() as f64)?;
        let own: Vec<f64> = places.iter().map(|&place| slopes[place]).collect();
        let mut solution = vec![0.0; count];
        for (place, step) in places.into_iter().zip(solve_factorised(&factor, &own)) {
            solution[place] = step;
        }
        Some(solution)
    }

    /// The same, about, by so many iterations at most.
    fn conjugate_gradients(
        &self,
        coordinates: &[Coordinate],
        slopes: &[f64],
        penalty: Penalty,
        iterations: usize,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let dot = |a: &[f64], b: &[f64]| linalg::dot_dense(a, b);
        let measure = |rest: &[f64]| -> Vec<f64> {
            rest.iter()
                .zip(coordinates)
                .map(|(r, of)| if *r == 0.0 { 0.0 } else { r / of.curvature })
                .collect()
        };
        let mut rest = slopes.to_vec();
        let mut solution = vec![0.0; rest.len()];
        let mut direction = measure(&rest);
        let mut size = dot(&rest, &direction);
        let enough = 1e-6 * size;
        for _ in 0..iterations {
            pause()?;
            let mut hessian_direction = self.curve(coordinates, &direction);
            for ((hessian_direction, step), of) in
                hessian_direction.iter_mut().zip(&direction).zip(coordinates)
            {
                *hessian_direction += if of.feature.is_some() { penalty.square * step } else { 0.0 };
            }
            let curvature = dot(&direction, &hessian_direction);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            linalg::add_dense(step, &direction, &mut solution);
            linalg::add_dense(-step, &hessian_direction, &mut rest);
            let measured = measure(&rest);
            let before = std::mem::replace(&mut size, dot(&rest, &measured));
            if size.is_nan() || size <= enough {
                break;
            }
            let factor = size / before;
            direction.iter_mut().zip(measured).for_each(|(d, m)| *d = m + factor * *d);
        }
        ControlFlow::Continue(solution)
    }

    /// Moves the weights that are not zero together to where the model is smallest, as far as none of them changes its
    /// sign: features that go together are settled one by one only slowly.
    fn settle(
        &mut self,
        coordinates: &mut [Coordinate],
        penalty: Penalty,
        iterations: usize,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status> {
        let dot = |a: &[f64], b: &[f64]| linalg::dot_dense(a, b);
        let takes_part = |of: &Coordinate| of.curvature > 0.0 && (of.feature.is_none() || of.weight != 0.0);
        let rest: Vec<f64> = coordinates
            .iter()
            .enumerate()
            .map(|(place, of)| match of.feature {
                _ if !takes_part(of) => 0.0,
                None => -of.slope - self.change(place, of),
                Some(_) => {
                    let loss_weight = penalty.square * of.weight + penalty.absolute * of.weight.signum();
                    -of.slope - self.change(place, of) - loss_weight
                }
            })
            .collect();
        let start = rest;
        let solution = match self.solved(coordinates, &start, penalty) {
            Some(solution) => solution,
            None => self.conjugate_gradients(coordinates, &start, penalty, iterations, pause)?,
        };
        if solution.iter().any(|step| !step.is_finite()) {
            return ControlFlow::Continue(());
        }
        // Weights that would change their sign stop at zero, if the model is smaller there; else all stop where the first does.
        let crosses =
            |of: &Coordinate, step: f64| of.feature.is_some() && of.weight * (of.weight + step) < 0.0;
        let stopped: Vec<f64> = coordinates
            .iter()
            .zip(&solution)
            .map(|(of, &step)| if crosses(of, step) { -of.weight } else { step })
            .collect();
        let mut hessian_direction = self.curve(coordinates, &stopped);
        for ((hessian_direction, step), of) in hessian_direction.iter_mut().zip(&stopped).zip(&*coordinates) {
            *hessian_direction += if of.feature.is_some() { penalty.square * step } else { 0.0 };
        }
        let steps = if 0.5 * dot(&stopped, &hessian_direction) < dot(&start, &stopped) {
            stopped
        } else {
            let ends = coordinates.iter().zip(&solution).filter(|&(of, &step)| crosses(of, step));
            let part = ends.map(|(of, step)| -of.weight / step).fold(1.0, f64::min);
            solution.iter().map(|step| part * step).collect()
        };
        for (place, coordinate) in coordinates.iter_mut().enumerate() {
            if steps[place] != 0.0 {
                coordinate.weight += steps[place];
                self.go(place, coordinate, steps[place]);
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes each weight to its best value, those that are zero only if `all` do. Gives how much that makes the model smaller,
    /// about.
    fn cycle(&mut self, coordinates: &mut [Coordinate], penalty: Penalty, all: bool) -> f64 {
        let mut gained = 0.0;
        for (place, coordinate) in coordinates.iter_mut().enumerate() {
            let Coordinate { feature, slope, curvature, weight, .. } = *coordinate;
            if weight == 0.0 && !all && feature.is_some() || curvature <= 0.0 {
                continue;
            }
            let slope = slope + self.change(place, coordinate);
            let best = match feature {
                None => weight - slope / curvature,
                Some(_) => {
                    let target = curvature * weight - slope - penalty.square * weight;
                    target.signum() * (target.abs() - penalty.absolute).max(0.0) / curvature
                }
            };
            let step = best - weight;
            if step != 0.0 {
                coordinate.weight = best;
                self.go(place, coordinate, step);
                gained += step * step * curvature;
            }
        }
        gained
    }

    /// A coordinate moves.
    fn go(&mut self, place: usize, coordinate: &Coordinate, step: f64) {
        match (self, coordinate.feature) {
            (Model::Pairs { matrix, changes }, _) => {
                let count = changes.len();
                linalg::add_dense(step, &matrix[place * count..(place + 1) * count], changes);
            }
            (Model::Rows { columns, row_curvatures }, Some(feature)) => {
                columns
                    .of(feature)
                    .for_each(|(i, x)| row_curvatures[i].moved += row_curvatures[i].curvature * step * x);
            }
            (Model::Rows { row_curvatures, .. }, None) => {
                row_curvatures.iter_mut().for_each(|own| own.moved += own.curvature * step);
            }
        }
    }
}

/// How well a model is to be solved.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// A cycle over all weights that gains no more than this share of what the first one did is the last.
    enough: f64,
    /// The most cycles, and the most iterations of conjugate gradients where weights move together.
    cycles: usize,
    iterations: usize,
}

impl Effort {
    /// For a model of so many weights. That of few is solved thoroughly, as this takes less time than the rows do; for that of many
    /// a point on the way is as good, as the next model begins there.
    pub(super) fn new(weights: usize, enough: f64) -> Self {
        const FEW: usize = 400;
        let (cycles, iterations) = if weights <= FEW { (10_000, 200) } else { (64, 50) };
        Self { enough, cycles, iterations }
    }
}

/// Makes the model with its penalty smaller, weight by weight. `pause` is called after each cycle.
pub(super) fn minimise(
    model: &mut Model<'_>,
    coordinates: &mut [Coordinate],
    penalty: Penalty,
    effort: Effort,
    pause: &mut Pause<'_>,
) -> ControlFlow<Status> {
    // Cycles over the weights that are not zero before those move together, and before all are asked again.
    const TURNS: usize = 8;
    const MAX_TURNS: usize = 100;
    let mut last = model.cycle(coordinates, penalty, true);
    let enough = effort.enough * last;
    let mut cycles = 1;
    while last > enough && cycles < effort.cycles {
        // Those that are not zero settle among themselves before the others are asked again.
        for turn in 1..MAX_TURNS.min(effort.cycles - cycles) {
            pause()?;
            cycles += 1;
            if model.cycle(coordinates, penalty, false) <= enough {
                break;
            }
            if turn % TURNS == 0 {
                model.settle(coordinates, penalty, effort.iterations, pause)?;
            }
        }
        pause()?;
        last = model.cycle(coordinates, penalty, true);
        cycles += 1;
    }
    ControlFlow::Continue(())
}

impl<'p, 'a> CoordinateDescent<'p, 'a> {
    /// The care of the first step, and the most there is.
    pub(super) const FIRST_ENOUGH: f64 = 0.1;
    const LAST_ENOUGH: f64 = 1e-6;

    /// Coordinate descent at a point; the first step is made with this much care.
    pub(super) fn new(problem: &'p Problem<'a>, place: Place, enough: f64) -> Self {
        Self { problem, columns: Columns::new(problem.data), place, enough }
    }

    /// One step on every score. `pause` is called after each cycle over the weights and may end it.
    pub(super) fn step(&mut self, pause: &mut Pause<'_>) -> ControlFlow<Status, Step> {
        let (mut moved, before) = (false, self.place.objective);
        for score in 0..self.problem.width() {
            moved |= self.step_on(score, pause)?;
        }
        let gained = (before - self.place.objective) / before;
        self.enough = self.enough.min(gained).clamp(Self::LAST_ENOUGH, Self::FIRST_ENOUGH);
        if !moved && self.enough > Self::LAST_ENOUGH {
            // Perhaps only for want of care.
            (self.enough, moved) = (Self::LAST_ENOUGH, true);
        }
        // Coordinates say little about how far the best is: the proof is asked.
        ControlFlow::Continue(if moved { Step::Made { left: 0.0 } } else { Step::Stalled })
    }

    /// The curvature of each row's loss in a score, and minus its slope.
    fn row_curvatures(
        &self,
        score: usize,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, (Vec<RowCurvature>, Vec<f64>)> {
        let (problem, width) = (self.problem, self.problem.width());
        let mut row_curvatures = vec![RowCurvature { curvature: 0.0, moved: 0.0 }; problem.data.len()];
        let mut residuals = vec![0.0; problem.data.len()];
        let fill_chunk = |start: usize, row_curvatures: &mut [RowCurvature], residuals: &mut [f64]| {
            let mut own = vec![0.0; width];
            for (k, (row, residual)) in row_curvatures.iter_mut().zip(residuals).enumerate() {
                let i = start + k;
                own.copy_from_slice(&self.place.scores[i * width..(i + 1) * width]);
                to_probabilities(&mut own);
                let (p, loss_weight) = (own[score], problem.loss_weights[i]);
                let class = problem.labels[i] as usize;
                let is_own = if width == 1 { class == 1 } else { class == score };
                // No curvature at all would send a weight anywhere.
                row.curvature = loss_weight * (p * (1.0 - p)).max(1e-10);
                *residual = loss_weight * (f64::from(u8::from(is_own)) - p);
            }
        };
        let (chunk, together) = (problem.chunk, problem.rows_between_pauses);
        let slabs = row_curvatures.chunks_mut(together).zip(residuals.chunks_mut(together));
        for (slab, (row_curvatures, residuals)) in slabs.enumerate() {
            let parts = row_curvatures.par_chunks_mut(chunk).zip(residuals.par_chunks_mut(chunk)).enumerate();
            parts.for_each(|(k, (row_curvatures, residuals))| {
                fill_chunk(slab * together + k * chunk, row_curvatures, residuals);
            });
            pause()?;
        }
        ControlFlow::Continue((row_curvatures, residuals))
    }

    /// One step on a score; whether it made the objective smaller.
    fn step_on(&mut self, score: usize, pause: &mut Pause<'_>) -> ControlFlow<Status, bool> {
        let (problem, columns, width) = (self.problem, &self.columns, self.problem.width());
        let penalty = problem.penalty;
        let (row_curvatures, residuals) = self.row_curvatures(score, pause)?;
        let mut coordinates: Vec<Coordinate> = (0..problem.data.columns())
            .into_par_iter()
            .with_min_len(256)
            .filter_map(|feature| {
                let start = self.place.point.weights[feature * width + score];
                let slope = -columns.of(feature).map(|(i, x)| residuals[i] * x).sum::<f64>();
                if start == 0.0 && slope.abs() <= penalty.absolute {
                    return None;
                }
                let curvature =
                    columns.of(feature).map(|(i, x)| row_curvatures[i].curvature * x * x).sum::<f64>()
                        + penalty.square;
                Some(Coordinate { feature: Some(feature), slope, curvature, start, weight: start })
            })
            .filter(|coordinate| coordinate.curvature > 0.0)
            .collect();
        pause()?;
        if problem.has_intercept {
            let (slope, curvature) =
                (-residuals.iter().sum::<f64>(), row_curvatures.iter().map(|of| of.curvature).sum());
            let start = self.place.point.intercepts[score];
            coordinates.push(Coordinate { feature: None, slope, curvature, start, weight: start });
        }
        if coordinates.is_empty() {
            return ControlFlow::Continue(false);
        }
        let mut model = Model::new(columns, row_curvatures, &coordinates, problem.data, pause)?;
        pause()?;
        let effort = Effort::new(coordinates.len(), self.enough);
        minimise(&mut model, &mut coordinates, penalty, effort, pause)?;
        self.walk(score, &coordinates, pause)
    }

    /// Goes to where the model is smallest, or part of the way; whether the objective is smaller there.
    fn walk(
        &mut self,
        score: usize,
        coordinates: &[Coordinate],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, bool> {
        let (problem, width, penalty) = (self.problem, self.problem.width(), self.problem.penalty);
        let mut along = vec![0.0; problem.data.len()];
        // What the objective is expected to change by, to first order.
        let mut expected = 0.0;
        for &Coordinate { feature, slope, start, weight, .. } in coordinates {
            let step = weight - start;
            expected += slope * step;
            match feature {
                Some(feature) if step != 0.0 => {
                    self.columns.of(feature).for_each(|(i, x)| along[i] += step * x);
                    expected += penalty.of(&[weight]) - penalty.of(&[start]);
                }
                Some(_) => {}
                None => along.iter_mut().for_each(|along| *along += step),
            }
        }
        pause()?;
        if expected >= 0.0 {
            return ControlFlow::Continue(false);
        }
        let mut fraction = 1.0;
        while fraction > 1e-10 {
            let mut scores = self.place.scores.clone();
            scores
                .par_chunks_mut(width)
                .with_min_len(problem.chunk)
                .zip(&along)
                .for_each(|(scores, step)| scores[score] += fraction * step);
            let mut point = self.place.point.clone();
            for &Coordinate { feature, start, weight, .. } in coordinates {
                // The whole way ends at zero exactly where the model does.
                let reached = if fraction == 1.0 { weight } else { start + fraction * (weight - start) };
                match feature {
                    Some(feature) => point.weights[feature * width + score] = reached,
                    None => point.intercepts[score] = reached,
                }
            }
            let found = problem.objective(&point, &scores, pause)?;
            if is_enough(self.place.objective, found, -0.01 * fraction * expected) {
                self.place = Place { point, scores, objective: found };
                return ControlFlow::Continue(true);
            }
            fraction *= 0.5;
            pause()?;
        }
        ControlFlow::Continue(false)
    }
}

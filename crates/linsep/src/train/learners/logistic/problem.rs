//! The problem that logistic regression solves, and what its algorithms ask of the rows: scores, losses, gradients.
//!
//! Two classes have one score vector, more have one for each class. Everything is summed over blocks of rows whose number
//! depends on the data alone, and the blocks are added in their order: so the bits do not depend on the threads.

use crate::dataset::{Dataset, Row, Rows, Values};
use crate::linalg;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::{ControlFlow, Range};

/// Asks whether to go on. Sums over rows call it after every few hundredths of a second of work, and end where it breaks.
pub(super) type Pause<'a> = dyn FnMut() -> ControlFlow<Status> + 'a;

/// Ω(w) = ρ‖w‖₁ + (1−ρ)/2 ‖w‖², or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Penalty {
    /// The weight of ‖w‖₁.
    pub(crate) absolute: f64,
    /// The weight of ½‖w‖².
    pub(crate) square: f64,
}

impl Penalty {
    pub(crate) const NONE: Self = Self { absolute: 0.0, square: 0.0 };

    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Ω(w)
    pub(super) fn of(self, weights: &[f64]) -> f64 {
        let absolute = if self.absolute > 0.0 { weights.iter().map(|w| w.abs()).sum::<f64>() } else { 0.0 };
        let squares = if self.square > 0.0 { weights.iter().map(|w| w * w).sum::<f64>() } else { 0.0 };
        self.absolute * absolute + 0.5 * self.square * squares
    }
}

/// Weights and intercepts: those of a feature lie side by side, one for each score.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) weights: Vec<f64>,
    pub(crate) intercepts: Vec<f64>,
}

/// A point, the scores of the rows there, and the objective.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) point: Point,
    pub(super) scores: Vec<f64>,
    pub(super) objective: f64,
}

/// The first and second derivatives of the losses along a direction.
#[derive(Clone, Copy)]
pub(super) struct Along {
    pub(super) slope: f64,
    pub(super) curvature: f64,
}

/// minimise Ω(w) + Σ uᵢ ℓᵢ(w, b), where uᵢ = C·cᵢ and the intercepts b cost nothing.
pub(crate) struct Problem<'a> {
    pub(super) data: &'a Dataset,
    /// The class of each row.
    pub(super) labels: &'a [u32],
    /// uᵢ, how much each row counts.
    pub(super) loss_weights: Vec<f64>,
    pub(super) classes: usize,
    pub(super) has_intercept: bool,
    pub(super) penalty: Penalty,
    /// Rows whose sums over features are made by one thread.
    pub(super) blocks: Vec<Range<usize>>,
    /// Rows that one thread takes at a time where nothing is summed over features.
    pub(super) chunk: usize,
    /// Rows between two pauses: a multiple of the chunk.
    pub(super) rows_between_pauses: usize,
}

/// Rows that one thread takes at a time, unless there are very many classes.
const CHUNK: usize = 2048;
/// From this many classes on the rows of a chunk are fewer, and nothing is done that takes the square of their number.
pub(super) const MANY_CLASSES: usize = 256;
/// Products between two pauses: some hundredths of a second on one thread.
pub(super) const WORK_BETWEEN_PAUSES: usize = 100_000_000;
/// An exponential or a logarithm takes as long as so many products.
const FUNCTION_WORK: usize = 8;

impl<'a> Problem<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        labels: &'a [u32],
        classes: usize,
        loss_weights: Vec<f64>,
        has_intercept: bool,
        penalty: Penalty,
    ) -> Self {
        let width = if classes == 2 { 1 } else { classes };
        // Each block has sums of its own: as many blocks as there are sums to fill. Where the sums are many, to clear them and to put
        // them together takes its time.
        const MANY_SUMS: usize = 1 << 12;
        let sums = (data.columns() * width).max(1);
        let values_for_a_sum = if sums > MANY_SUMS { 8 } else { 2 };
        let values = data.stored().max(data.len()) * width;
        let count = (values / (values_for_a_sum * sums)).clamp(1, 16).min(data.len());
        let blocks = (0..count).map(|k| k * data.len() / count..(k + 1) * data.len() / count).collect();
        let chunk = if width <= MANY_CLASSES { CHUNK } else { (CHUNK * MANY_CLASSES / width).max(1) };
        let pairs = width.min(MANY_CLASSES) / 2;
        let row_work = width.saturating_mul(data.stored() / data.len().max(1) + FUNCTION_WORK + pairs);
        let rows_between_pauses = (WORK_BETWEEN_PAUSES / row_work).next_multiple_of(chunk).max(chunk);
        Self {
            data,
            labels,
            loss_weights,
            classes,
            has_intercept,
            penalty,
            blocks,
            chunk,
            rows_between_pauses,
        }
    }

    /// Scores that each row has.
    pub(super) fn width(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    /// Weights and intercepts of zero.
    pub(crate) fn zero(&self) -> Point {
        let width = self.width();
        Point { weights: vec![0.0; self.data.columns() * width], intercepts: vec![0.0; width] }
    }

    /// The scores of all rows.
    pub(super) fn scores(&self, point: &Point, pause: &mut Pause<'_>) -> ControlFlow<Status, Vec<f64>> {
        let width = self.width();
        let mut scores = vec![0.0; self.data.len() * width];
        if width > 1 && matches!(self.data.rows(), Rows::Dense { .. }) {
            let weights = padded(&point.weights, width);
            let together = self.rows_between_pauses;
            for (slab, scores) in scores.chunks_mut(together * width).enumerate() {
                scores.par_chunks_mut(DENSE_TOGETHER * width).enumerate().for_each(|(part, scores)| {
                    let start = slab * together + part * DENSE_TOGETHER;
                    self.dense_scores(start, &weights, &point.intercepts, scores);
                });
                pause()?;
            }
            return ControlFlow::Continue(scores);
        }
        self.change_rows(&mut scores, pause, |i, scores| {
            scores.copy_from_slice(&point.intercepts);
            add_products(self.data.row(i), &point.weights, scores);
        })?;
        ControlFlow::Continue(scores)
    }

    /// The scores and the objective at a point.
    pub(super) fn place(&self, point: Point, pause: &mut Pause<'_>) -> ControlFlow<Status, Place> {
        let scores = self.scores(&point, pause)?;
        let objective = self.objective(&point, &scores, pause)?;
        ControlFlow::Continue(Place { point, scores, objective })
    }

    /// Where all weights of two classes are zero, makes the intercept the best for them: the odds are those of the classes.
    pub(super) fn centre_zero(&self, point: &mut Point) {
        if !self.has_intercept || point.weights.iter().any(|&w| w != 0.0) {
            return;
        }
        let mut shares = [0.0, 0.0];
        self.labels.iter().zip(&self.loss_weights).for_each(|(&label, u)| shares[label as usize] += u);
        let odds = f64::ln(shares[1] / shares[0]);
        point.intercepts[0] = if odds.is_finite() { odds } else { 0.0 };
    }

    /// Changes the numbers of each row, one for each score.
    pub(super) fn change_rows(
        &self,
        numbers: &mut [f64],
        pause: &mut Pause<'_>,
        change: impl Fn(usize, &mut [f64]) + Sync,
    ) -> ControlFlow<Status> {
        let (width, together) = (self.width(), self.rows_between_pauses);
        for (slab, numbers) in numbers.chunks_mut(together * width).enumerate() {
            numbers.par_chunks_mut(self.chunk * width).enumerate().for_each(|(chunk, rows)| {
                let start = slab * together + chunk * self.chunk;
                rows.chunks_exact_mut(width).enumerate().for_each(|(k, row)| change(start + k, row));
            });
            pause()?;
        }
        ControlFlow::Continue(())
    }

    /// What `sum` makes of each chunk of rows, in order: `sum` is given the number of the first row, and the numbers of all
    /// of them, one for each score.
    pub(super) fn sum_chunks<T: Send>(
        &self,
        numbers: &[f64],
        pause: &mut Pause<'_>,
        sum: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> ControlFlow<Status, Vec<T>> {
        let (width, together) = (self.width(), self.rows_between_pauses);
        let mut sums = Vec::with_capacity(self.data.len().div_ceil(self.chunk));
        for (slab, numbers) in numbers.chunks(together * width).enumerate() {
            let chunks = numbers.par_chunks(self.chunk * width).enumerate();
            sums.par_extend(chunks.map(|(chunk, rows)| sum(slab * together + chunk * self.chunk, rows)));
            pause()?;
        }
        ControlFlow::Continue(sums)
    }

    /// Σ uᵢ ℓᵢ of these scores.
    pub(super) fn loss(&self, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, f64> {
        let width = self.width();
        let sums = self.sum_chunks(scores, pause, |start, scores| {
            let rows = scores.chunks_exact(width).enumerate();
            rows.map(|(k, scores)| {
                let i = start + k;
                self.loss_weights[i] * loss(scores, self.labels[i] as usize)
            })
            .sum::<f64>()
        })?;
        ControlFlow::Continue(sums.iter().sum())
    }

    /// The objective at a point whose rows have these scores.
    pub(super) fn objective(
        &self,
        point: &Point,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, f64> {
        ControlFlow::Continue(self.penalty.of(&point.weights) + self.loss(scores, pause)?)
    }

    /// For each row the probabilities that its scores give: of the second class of two, of each class of more.
    pub(super) fn probabilities(
        &self,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let mut probabilities = scores.to_vec();
        self.change_rows(&mut probabilities, pause, |_, row| to_probabilities(row))?;
        ControlFlow::Continue(probabilities)
    }

    /// uᵢ (eᵢ − pᵢ), with eᵢ = 1 at the row's class: minus the slope of the loss in the scores.
    pub(super) fn residuals(
        &self,
        probabilities: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let width = self.width();
        let mut residuals = vec![0.0; probabilities.len()];
        self.change_rows(&mut residuals, pause, |i, row| {
            let (loss_weight, class) = (self.loss_weights[i], self.labels[i] as usize);
            for (score, residual) in row.iter_mut().enumerate() {
                let own = if width == 1 { class == 1 } else { class == score };
                *residual = loss_weight * (f64::from(u8::from(own)) - probabilities[i * width + score]);
            }
        })?;
        ControlFlow::Continue(residuals)
    }

    /// The residuals of scores.
    pub(super) fn residuals_of(
        &self,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let mut residuals = scores.to_vec();
        self.change_rows(&mut residuals, pause, |i, row| self.to_residual(i, row))?;
        ControlFlow::Continue(residuals)
    }

    /// Scores of a row to its residual uᵢ (eᵢ − pᵢ), in their place.
    #[inline]
    fn to_residual(&self, i: usize, row: &mut [f64]) {
        let (loss_weight, class) = (self.loss_weights[i], self.labels[i] as usize);
        to_probabilities(row);
        row.iter_mut().for_each(|p| *p *= -loss_weight);
        if let [p] = row {
            *p += loss_weight * f64::from(u8::from(class == 1));
        } else {
            row[class] += loss_weight;
        }
    }

    /// How the losses change along a direction whose scores are known, at a multiple of it.
    pub(super) fn along(
        &self,
        scores: &[f64],
        along: &[f64],
        fraction: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Along> {
        let width = self.width();
        let sums = self.sum_chunks(scores, pause, |start, scores| {
            let along = &along[start * width..][..scores.len()];
            let mut p = vec![0.0; width];
            let (mut slope, mut curvature) = (0.0, 0.0);
            for (k, (scores, along)) in scores.chunks_exact(width).zip(along.chunks_exact(width)).enumerate()
            {
                let (loss_weight, class) = (self.loss_weights[start + k], self.labels[start + k] as usize);
                for (p, (score, step)) in p.iter_mut().zip(scores.iter().zip(along)) {
                    *p = score + fraction * step;
                }
                to_probabilities(&mut p);
                if let [p] = *p {
                    let own = f64::from(u8::from(class == 1));
                    slope += loss_weight * (p - own) * along[0];
                    curvature += loss_weight * p * (1.0 - p) * along[0] * along[0];
                    continue;
                }
                let mean: f64 = p.iter().zip(along).map(|(p, step)| p * step).sum();
                let spread: f64 =
                    p.iter().zip(along).map(|(p, step)| p * (step - mean) * (step - mean)).sum();
                slope += loss_weight * (mean - along[class]);
                curvature += loss_weight * spread;
            }
            Along { slope, curvature }
        })?;
        ControlFlow::Continue(sums.iter().fold(Along { slope: 0.0, curvature: 0.0 }, |sum, part| Along {
            slope: sum.slope + part.slope,
            curvature: sum.curvature + part.curvature,
        }))
    }

    /// For each row the mean over its scores of uᵢ p(1 − p), the second derivative of its loss in a score.
    pub(super) fn mean_curvatures(
        &self,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let width = self.width();
        let curvatures = self.sum_chunks(scores, pause, |start, scores| {
            let mut p = vec![0.0; width];
            let rows = scores.chunks_exact(width).zip(&self.loss_weights[start..]);
            rows.map(|(scores, loss_weight)| {
                p.copy_from_slice(scores);
                to_probabilities(&mut p);
                loss_weight * p.iter().map(|p| p * (1.0 - p)).sum::<f64>() / width as f64
            })
            .collect::<Vec<f64>>()
        })?;
        ControlFlow::Continue(curvatures.concat())
    }

    /// Σ rᵢ xᵢ over the rows, for each score, and Σ rᵢ.
    pub(super) fn combine(&self, residuals: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Point> {
        let width = self.width();
        if width > 1 && matches!(self.data.rows(), Rows::Dense { .. }) {
            return self.combine_dense(residuals, pause);
        }
        self.over_blocks(pause, |i, row, sums| {
            let residual = &residuals[i * width..(i + 1) * width];
            add_row(row, residual, &mut sums.weights);
            sums.intercepts.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r);
        })
    }

    /// The scores of a few dense rows, given the weights with room for whole registers.
    fn dense_scores(&self, start: usize, weights: &[f64], intercepts: &[f64], scores: &mut [f64]) {
        let width = self.width();
        let wide = width.next_multiple_of(REGISTER);
        let count = scores.len() / width;
        let mut sums: Vec<f64> =
            intercepts.iter().copied().chain(std::iter::repeat_n(0.0, wide - width)).collect();
        sums = sums.repeat(count);
        self.dense_product(start..start + count, |columns| [columns, 1], weights, wide, &mut sums);
        for (to, from) in scores.chunks_exact_mut(width).zip(sums.chunks_exact(wide)) {
            to.copy_from_slice(&from[..width]);
        }
    }

    /// [`Problem::combine`] of dense rows.
    fn combine_dense(&self, residuals: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Point> {
        let width = self.width();
        let wide = width.next_multiple_of(REGISTER);
        let mut parts: Vec<(Range<usize>, Vec<f64>, Vec<f64>)> = self
            .blocks
            .iter()
            .map(|block| (block.clone(), vec![0.0; self.data.columns() * wide], vec![0.0; width]))
            .collect();
        let together = (self.rows_between_pauses / parts.len()).next_multiple_of(DENSE_TOGETHER);
        while parts.iter().any(|(left, ..)| !left.is_empty()) {
            parts.par_iter_mut().for_each(|(left, sums, intercepts)| {
                let end = left.end.min(left.start + together);
                while left.start < end {
                    let rows = left.start..end.min(left.start + DENSE_TOGETHER);
                    let own = &residuals[rows.start * width..rows.end * width];
                    for residual in own.chunks_exact(width) {
                        intercepts.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r);
                    }
                    left.start = rows.end;
                    self.dense_product(rows, |columns| [1, columns], &padded(own, width), wide, sums);
                }
            });
            pause()?;
        }
        let mut total = self.zero();
        for (_, sums, intercepts) in parts {
            for (to, from) in total.weights.chunks_exact_mut(width).zip(sums.chunks_exact(wide)) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
            total.intercepts.iter_mut().zip(intercepts).for_each(|(to, from)| *to += from);
        }
        if !self.has_intercept {
            total.intercepts.fill(0.0);
        }
        ControlFlow::Continue(total)
    }

    /// to += rows · right, or the transposed rows, as the steps from value to value tell.
    fn dense_product(
        &self,
        rows: Range<usize>,
        steps: impl Fn(usize) -> [usize; 2],
        right: &[f64],
        width: usize,
        to: &mut [f64],
    ) {
        let columns = self.data.columns();
        let (values, steps) = (rows.start * columns..rows.end * columns, steps(columns));
        match self.data.rows() {
            Rows::Dense { values: Values::F32(all) } => {
                linalg::Value::add_product(&all[values], steps, right, width, to);
            }
            Rows::Dense { values: Values::F64(all) } => {
                linalg::Value::add_product(&all[values], steps, right, width, to);
            }
            Rows::Sparse { .. } => unreachable!("only dense rows are multiplied together"),
        }
    }

    /// What the losses add to the product of the Hessian and a direction; `curvatures` are the probabilities of the rows.
    pub(super) fn curve(
        &self,
        probabilities: &[f64],
        direction: &Point,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Point> {
        let width = self.width();
        self.over_blocks(pause, |i, row, sums| {
            let own = &probabilities[i * width..(i + 1) * width];
            if let [p] = *own {
                let slope = row.dot(&direction.weights) + direction.intercepts[0];
                let hessian_direction = self.loss_weights[i] * p * (1.0 - p) * slope;
                row.add_to(hessian_direction, &mut sums.weights);
                sums.intercepts[0] += hessian_direction;
                return;
            }
            let mut slopes = direction.intercepts.clone();
            add_products(row, &direction.weights, &mut slopes);
            let mean: f64 = own.iter().zip(&slopes).map(|(p, slope)| p * slope).sum();
            slopes
                .iter_mut()
                .zip(own)
                .for_each(|(slope, p)| *slope = self.loss_weights[i] * p * (*slope - mean));
            add_row(row, &slopes, &mut sums.weights);
            sums.intercepts.iter_mut().zip(&slopes).for_each(|(sum, slope)| *sum += slope);
        })
    }

    /// The diagonal of what the losses add to the Hessian.
    pub(super) fn curvatures(
        &self,
        probabilities: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Point> {
        let width = self.width();
        self.over_blocks(pause, |i, row, sums| {
            for (score, p) in probabilities[i * width..(i + 1) * width].iter().enumerate() {
                let curvature = self.loss_weights[i] * p * (1.0 - p);
                row.iter().for_each(|(j, x)| sums.weights[j * width + score] += curvature * x * x);
                sums.intercepts[score] += curvature;
            }
        })
    }

    /// Adds up what `add` makes of each row.
    fn over_blocks(
        &self,
        pause: &mut Pause<'_>,
        add: impl Fn(usize, Row<'_>, &mut Point) + Sync,
    ) -> ControlFlow<Status, Point> {
        // Each block goes on where it was before the pause, so that the order of its additions is that of the rows.
        let mut parts: Vec<(Range<usize>, Point)> =
            self.blocks.iter().map(|block| (block.clone(), self.zero())).collect();
        let together = (self.rows_between_pauses / parts.len()).max(1);
        while parts.iter().any(|(left, _)| !left.is_empty()) {
            parts.par_iter_mut().for_each(|(left, sums)| {
                let end = left.end.min(left.start + together);
                (left.start..end).for_each(|i| add(i, self.data.row(i), sums));
                left.start = end;
            });
            pause()?;
        }
        let mut parts = parts.into_iter().map(|(_, sums)| sums);
        let mut total = parts.next().unwrap_or_default();
        for part in parts {
            total.add(1.0, &part);
        }
        if !self.has_intercept {
            total.intercepts.fill(0.0);
        }
        ControlFlow::Continue(total)
    }

    /// The most additions on the way to a sum over rows.
    pub(super) fn additions(&self) -> usize {
        self.data.len().div_ceil(self.blocks.len()) + self.blocks.len()
    }
}

impl Point {
    /// All numbers, the intercepts last.
    pub(super) fn joined(&self) -> Vec<f64> {
        self.weights.iter().chain(&self.intercepts).copied().collect()
    }

    /// The opposite of [`Point::joined`].
    pub(super) fn split(mut all: Vec<f64>, width: usize) -> Self {
        let intercepts = all.split_off(all.len() - width);
        Self { weights: all, intercepts }
    }

    /// Takes the constant off that the losses say nothing about: of several classes, the weights of a feature may move together, and
    /// so may the intercepts, and no probability changes. The intercepts are given the sum 0, and so are the weights of a feature
    /// where no penalty holds them; the sum 0 makes ‖w‖² smaller, if anything. ‖w‖₁ has its own best constant.
    pub(super) fn centre(&mut self, width: usize, penalty: Penalty) {
        if width == 1 {
            return;
        }
        let centre = |together: &mut [f64]| {
            // Sums of many large numbers overflow before their mean does.
            let mean: f64 = together.iter().map(|number| number / width as f64).sum();
            together.iter_mut().for_each(|number| *number -= mean);
        };
        if penalty.absolute == 0.0 {
            self.weights.chunks_exact_mut(width).for_each(centre);
        }
        centre(&mut self.intercepts);
    }

    /// self += scale · other
    pub(super) fn add(&mut self, scale: f64, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += scale * from);
        };
        add(&mut self.weights, &other.weights);
        add(&mut self.intercepts, &other.intercepts);
    }

    /// ⟨self, other⟩
    pub(super) fn dot(&self, other: &Self) -> f64 {
        let dot = |a: &[f64], b: &[f64]| crate::linalg::dot_dense(a, b);
        dot(&self.weights, &other.weights) + dot(&self.intercepts, &other.intercepts)
    }
}

/// Floats of a register.
const REGISTER: usize = 4;
/// Dense rows whose products with weights are computed together.
const DENSE_TOGETHER: usize = 64;

/// The numbers in groups of `width`, each followed by zeros up to a whole number of registers.
fn padded(numbers: &[f64], width: usize) -> Vec<f64> {
    let wide = width.next_multiple_of(REGISTER);
    let mut padded = vec![0.0; numbers.len() / width * wide];
    for (to, from) in padded.chunks_exact_mut(wide).zip(numbers.chunks_exact(width)) {
        to[..width].copy_from_slice(from);
    }
    padded
}

/// scores += row · weights, where the weights of a feature lie side by side.
#[inline]
pub(super) fn add_products(row: Row<'_>, weights: &[f64], scores: &mut [f64]) {
    if let [score] = scores {
        *score += row.dot(weights);
        return;
    }
    let width = scores.len();
    for (j, x) in row.iter().filter(|&(_, x)| x != 0.0) {
        let own = &weights[j * width..(j + 1) * width];
        scores.iter_mut().zip(own).for_each(|(score, w)| *score += x * w);
    }
}

/// sums += factor · row for each factor, where the sums of a feature lie side by side.
#[inline]
fn add_row(row: Row<'_>, factors: &[f64], sums: &mut [f64]) {
    if let [factor] = *factors {
        row.add_to(factor, sums);
        return;
    }
    let width = factors.len();
    for (j, x) in row.iter().filter(|&(_, x)| x != 0.0) {
        let own = &mut sums[j * width..(j + 1) * width];
        own.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += x * factor);
    }
}

/// −ln of the probability that the scores give the class.
pub(crate) fn loss(scores: &[f64], class: usize) -> f64 {
    if let [score] = *scores {
        let agreement = if class == 1 { score } else { -score };
        return (-agreement).max(0.0) + (-agreement.abs()).exp().ln_1p();
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Those that are not the largest first, so that a loss near 0 keeps its digits.
    let mut first = true;
    let others = scores.iter().filter(|&&score| !(score == most && std::mem::take(&mut first)));
    let others: f64 = others.map(|score| (score - most).exp()).sum();
    (most - scores[class]) + others.ln_1p()
}

/// Scores to probabilities, in their place.
pub(super) fn to_probabilities(scores: &mut [f64]) {
    if let [score] = scores {
        *score = logistic(*score);
        return;
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// 1 / (1 + e^−score)
pub(crate) fn logistic(score: f64) -> f64 {
    if score >= 0.0 {
        1.0 / (1.0 + (-score).exp())
    } else {
        let odds = score.exp();
        odds / (1.0 + odds)
    }
}

//! The matrix of second derivatives of the losses of two classes, written down.

use super::problem::{Pause, Problem, WORK_BETWEEN_PAUSES, to_probabilities};
use crate::dataset::{Row, Rows};
use crate::linalg;
use crate::train::engine::run::Status;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// The largest matrix of second derivatives that is written down, in rows.
pub(super) const MAX_WRITTEN: usize = 400;

/// Dense rows that are added together.
const TOGETHER: usize = 32;

/// Nanoseconds, about, of what takes most of the time: they are compared with one another, and only choose between ways to the
/// same point.
const ROW: f64 = 12.0;
const SPARSE_VALUE: f64 = 1.5;
const DENSE_VALUE: f64 = 0.7;
const SPARSE_PAIR: f64 = 0.6;
const DENSE_PAIR: f64 = 0.07;
const FACTOR_TRIPLE: f64 = 0.2;
const CYCLE_PAIR: f64 = 0.25;

/// Cycles over the weights that a model takes, about, where the penalty leaves weights out.
const CYCLES: f64 = 20.0;

impl Problem<'_> {
    /// How many steps without a matrix, of a pass over the rows each, take as long as that of every `step`-th row with its factor.
    pub(super) fn matrix_takes(&self, step: usize) -> f64 {
        let (rows, size) = (self.data.len(), self.data.columns() + 1);
        let (stored, square) = (self.data.stored() as f64, (size * size) as f64);
        let (pairs, value) = match self.data.rows() {
            Rows::Dense { .. } => (DENSE_PAIR * square / 2.0 * rows as f64, DENSE_VALUE),
            Rows::Sparse { .. } => {
                let mean = stored / rows as f64 + 1.0;
                (SPARSE_PAIR * mean * mean / 2.0 * rows as f64, SPARSE_VALUE)
            }
        };
        let pass = ROW * rows as f64 + value * stored;
        if self.penalty.absolute > 0.0 && size > MAX_WRITTEN {
            // No factor of the whole, but cycles over the weights.
            return pairs / step as f64 / (pass + CYCLES * CYCLE_PAIR * square);
        }
        let factor = FACTOR_TRIPLE * square * size as f64 / 6.0;
        (pairs / step as f64 + factor) / pass
    }

    /// Σ bᵢ xᵢxᵢᵀ over every `step`-th row, times `step`, the intercept last: the lower half, row by row. Where there is no
    /// intercept, its place on the diagonal is 1. Rows whose bᵢ is no more than the share `rough` of the mean of all add to the diagonal
    /// and to the place of the intercept alone.
    pub(super) fn matrix(
        &self,
        curvatures: &[f64],
        step: usize,
        rough: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let least = rough * curvatures.iter().sum::<f64>() / curvatures.len() as f64;
        let (columns, size) = (self.data.columns(), self.data.columns() + 1);
        let is_dense = matches!(self.data.rows(), Rows::Dense { .. });
        // A whole number of registers.
        let width = if is_dense { size.next_multiple_of(8) } else { size };
        let chosen = self.data.len().div_ceil(step);
        // Blocks that do not depend on the threads; each has a matrix of its own, which must not cost more than what is added to it.
        let per_row = if is_dense { size } else { self.data.stored() / self.data.len() + 1 };
        let count = (chosen * per_row * per_row / (32 * size * size)).clamp(1, 8);
        let mut parts: Vec<_> = (0..count)
            .map(|k| (k * chosen / count..(k + 1) * chosen / count, vec![0.0; width * width]))
            .collect();
        let together = (WORK_BETWEEN_PAUSES / (count * per_row * per_row)).max(1).next_multiple_of(TOGETHER);
        while parts.iter().any(|(left, _)| !left.is_empty()) {
            parts.par_iter_mut().for_each(|(left, matrix)| {
                let end = left.end.min(left.start + together);
                let rows = (left.start..end).map(|k| k * step);
                for i in rows.clone().filter(|&i| curvatures[i] <= least) {
                    add_diagonal(self.data.row(i), curvatures[i], columns, width, matrix);
                }
                let rows = rows.filter(|&i| curvatures[i] > least);
                if is_dense {
                    self.add_dense_pairs(rows, curvatures, width, matrix);
                } else {
                    rows.for_each(|i| add_pairs(self.data.row(i), curvatures[i], size, matrix));
                }
                left.start = end;
            });
            pause()?;
        }
        let mut matrix = vec![0.0; size * size];
        for (_, part) in parts {
            for (to, from) in matrix.chunks_exact_mut(size).zip(part.chunks_exact(width)) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        matrix.iter_mut().for_each(|h| *h *= step as f64);
        if !self.has_intercept {
            matrix[columns * size..].fill(0.0);
            matrix[columns * size + columns] = 1.0;
        }
        ControlFlow::Continue(matrix)
    }

    /// Σ uᵢ (diag pᵢ − pᵢpᵢᵀ) ⊗ xᵢxᵢᵀ over all rows, the intercepts last: all second derivatives of several classes, the lower half, row
    /// by row. The classes of a feature lie side by side. Where all intercepts move together, which changes nothing, the curvature is
    /// that of the intercepts one by one.
    pub(super) fn matrix_of_classes(
        &self,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<f64>> {
        let (width, columns) = (self.width(), self.data.columns());
        let size = (columns + 1) * width;
        let rows = self.data.len();
        let per_row = (self.data.stored() / rows + 1) * width;
        let count = (rows * per_row * per_row / (32 * size * size)).clamp(1, 8);
        let mut parts: Vec<_> =
            (0..count).map(|k| (k * rows / count..(k + 1) * rows / count, vec![0.0; size * size])).collect();
        let together = (WORK_BETWEEN_PAUSES / (count * per_row * per_row)).max(1);
        while parts.iter().any(|(left, _)| !left.is_empty()) {
            parts.par_iter_mut().for_each(|(left, matrix)| {
                let mut own = Vec::new();
                let (mut p, mut curvatures) = (vec![0.0; width], vec![0.0; width * width]);
                for i in left.start..left.end.min(left.start + together) {
                    p.copy_from_slice(&scores[i * width..(i + 1) * width]);
                    to_probabilities(&mut p);
                    for (k, curvatures) in curvatures.chunks_exact_mut(width).enumerate() {
                        let share = self.loss_weights[i] * p[k];
                        curvatures.iter_mut().zip(&p).for_each(|(curvature, p)| *curvature = -share * p);
                        curvatures[k] += share;
                    }
                    own.clear();
                    own.extend(self.data.row(i).iter().filter(|&(_, x)| x != 0.0));
                    own.push((columns, 1.0));
                    for (place, &(j, x)) in own.iter().enumerate() {
                        for (k, curvatures) in curvatures.chunks_exact(width).enumerate() {
                            let to = &mut matrix[(j * width + k) * size..][..(j + 1) * width];
                            for &(other, its) in &own[..=place] {
                                linalg::add_dense(x * its, curvatures, &mut to[other * width..][..width]);
                            }
                        }
                    }
                }
                left.start = left.end.min(left.start + together);
            });
            pause()?;
        }
        let mut parts = parts.into_iter().map(|(_, part)| part);
        let mut matrix = parts.next().unwrap_or_default();
        parts.for_each(|part| linalg::add_dense(1.0, &part, &mut matrix));
        let intercepts = columns * width..size;
        if !self.has_intercept {
            intercepts.clone().for_each(|a| matrix[a * size..][..size].fill(0.0));
        }
        let mean = intercepts.clone().map(|a| matrix[a * size + a]).sum::<f64>() / width as f64;
        for (a, b) in intercepts.clone().flat_map(|a| intercepts.clone().map(move |b| (a, b))) {
            match self.has_intercept {
                true => matrix[a * size + b] += mean / width as f64,
                false => matrix[a * size + b] = f64::from(u8::from(a == b)),
            }
        }
        ControlFlow::Continue(matrix)
    }

    fn add_dense_pairs(
        &self,
        mut rows: impl Iterator<Item = usize>,
        curvatures: &[f64],
        width: usize,
        matrix: &mut [f64],
    ) {
        let columns = self.data.columns();
        let (mut plain, mut scaled) = (vec![0.0; TOGETHER * width], vec![0.0; TOGETHER * width]);
        loop {
            let mut count = 0;
            for i in rows.by_ref().take(TOGETHER) {
                let plain = &mut plain[count * width..][..width];
                match self.data.row(i) {
                    Row::DenseF32(values) => {
                        plain.iter_mut().zip(values).for_each(|(to, &x)| *to = f64::from(x))
                    }
                    Row::DenseF64(values) => plain[..columns].copy_from_slice(values),
                    sparse => sparse.iter().for_each(|(j, x)| plain[j] = x),
                }
                plain[columns] = 1.0;
                let scaled = &mut scaled[count * width..][..width];
                scaled.iter_mut().zip(plain).for_each(|(to, x)| *to = curvatures[i] * *x);
                count += 1;
            }
            if count == 0 {
                return;
            }
            let all = ..count * width;
            linalg::add_outer_products(&scaled[all], &plain[all], width, matrix);
        }
    }
}

/// matrix += curvature · x xᵀ on the diagonal, and in the last row, for the 1 after the last column.
fn add_diagonal(row: Row<'_>, curvature: f64, columns: usize, width: usize, matrix: &mut [f64]) {
    for (j, x) in row.iter() {
        matrix[j * width + j] += curvature * x * x;
        matrix[columns * width + j] += curvature * x;
    }
    matrix[columns * width + columns] += curvature;
}

/// matrix += curvature · x xᵀ below the diagonal, where the row x has a 1 after its last column.
fn add_pairs(row: Row<'_>, curvature: f64, size: usize, matrix: &mut [f64]) {
    fn add<T: linalg::Value>(indices: &[u32], values: &[T], curvature: f64, size: usize, matrix: &mut [f64]) {
        let (before, last) = matrix.split_at_mut((size - 1) * size);
        for (place, &j) in indices.iter().enumerate() {
            let factor = curvature * values[place].wide();
            let own = &mut before[j as usize * size..][..size];
            let (columns, values) = (&indices[..=place], &values[..=place]);
            for at in 0..=place {
                own[columns[at] as usize] += factor * values[at].wide();
            }
            last[j as usize] += factor;
        }
        last[size - 1] += curvature;
    }
    match row {
        Row::SparseF32(indices, values) => add(indices, values, curvature, size, matrix),
        Row::SparseF64(indices, values) => add(indices, values, curvature, size, matrix),
        Row::DenseF32(_) | Row::DenseF64(_) => unreachable!("dense rows are added together"),
    }
}

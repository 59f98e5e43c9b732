//! The Cholesky factor of a symmetric positive definite matrix, by blocks, on all cores with the same bits.

use crate::linalg::dot_dense;
use rayon::prelude::*;

/// Rows of a block.
const BLOCK: usize = 48;
/// Blocks that are made between two looks at the clock.
const TOGETHER: usize = 16;

/// A symmetric matrix, of which the lower triangle is kept: row i has i + 1 entries.
#[derive(Clone, Debug)]
pub(super) struct Symmetric {
    rows: Vec<Vec<f64>>,
}

impl Symmetric {
    /// The matrix with the entries `entry(i, j)` for j ≤ i. None if it was stopped.
    pub(super) fn new(
        size: usize,
        entry: impl Fn(usize, usize) -> f64 + Sync,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        // By blocks, so that what the entries are made of stays near.
        let block = |block: usize| {
            let own = block * BLOCK..((block + 1) * BLOCK).min(size);
            let mut rows: Vec<Vec<f64>> = own.clone().map(|i| Vec::with_capacity(i + 1)).collect();
            for start in (0..own.end).step_by(BLOCK) {
                for (i, row) in own.clone().zip(&mut rows) {
                    row.extend((start..(start + BLOCK).min(i + 1)).map(|j| entry(i, j)));
                }
            }
            rows
        };
        let (count, mut rows) = (size.div_ceil(BLOCK), Vec::with_capacity(size));
        for first in (0..count).step_by(TOGETHER) {
            if stop() {
                return None;
            }
            let blocks = (first..(first + TOGETHER).min(count)).into_par_iter().map(block);
            rows.extend(blocks.collect::<Vec<_>>().into_iter().flatten());
        }
        Some(Self { rows })
    }

    /// Zeros, to be added to.
    pub(super) fn zeros(size: usize) -> Self {
        Self { rows: (0..size).map(|i| vec![0.0; i + 1]).collect() }
    }

    /// Adds to the entry of row `i` and column `j` ≤ `i`.
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.rows[i][j] += value;
    }

    /// The largest entry of the diagonal.
    pub(super) fn largest_diagonal(&self) -> f64 {
        self.rows.iter().enumerate().fold(0.0, |most, (i, row)| f64::max(most, row[i]))
    }

    /// The factor of this matrix with `ridge` added to its diagonal; pivots that rounding errors leave below the ridge are
    /// raised to it. None if it was stopped.
    pub(super) fn factor(mut self, ridge: f64, stop: &mut dyn FnMut() -> bool) -> Option<Factor> {
        let size = self.rows.len();
        for start in (0..size).step_by(BLOCK) {
            if stop() {
                return None;
            }
            let end = (start + BLOCK).min(size);
            let (before, rest) = self.rows.split_at_mut(end);
            let block = &mut before[start..];
            // The diagonal block, row by row.
            for i in 0..block.len() {
                let (above, below) = block.split_at_mut(i);
                let row = &mut below[0];
                for (j, other) in above.iter().enumerate() {
                    let known = start + j;
                    row[known] = (row[known] - dot_dense(&row[..known], &other[..known])) / other[known];
                }
                let own = start + i;
                let pivot = row[own] + ridge - dot_dense(&row[..own], &row[..own]);
                row[own] = pivot.max(ridge).sqrt();
            }
            let block = &before[start..];
            rest.par_chunks_mut(BLOCK).for_each(|rows| {
                for row in rows {
                    for (j, other) in block.iter().enumerate() {
                        let known = start + j;
                        row[known] = (row[known] - dot_dense(&row[..known], &other[..known])) / other[known];
                    }
                }
            });
        }
        Some(Factor { rows: self.rows })
    }
}

/// The lower triangular factor L of A = L Lᵀ.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Solves A x = b in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for (i, row) in self.rows.iter().enumerate() {
            x[i] = (x[i] - dot_dense(&row[..i], &x[..i])) / row[i];
        }
        for (i, row) in self.rows.iter().enumerate().rev() {
            let value = x[i] / row[i];
            x[i] = value;
            crate::linalg::add_dense(-value, &row[..i], &mut x[..i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from, normals};
    use super::*;
    use crate::random::Random;

    /// A x = b for A = B Bᵀ + I, of sizes around those of the blocks; the same bits with one thread and with several.
    #[test]
    fn solutions_are_right() {
        for number in 0..40 {
            let random = &mut Random::stream(81, number);
            let size = if number < 8 {
                [1, 2, 47, 48, 49, 95, 96, 97][number as usize]
            } else {
                from(random, 1, 150)
            };
            let rows = normals(random, size, size + 3);
            let entry = |i: usize, j: usize| dot_dense(&rows[i], &rows[j]);
            let b = normals(random, 1, size).remove(0);
            let mut x = b.clone();
            let matrix = Symmetric::new(size, entry, &mut || false).unwrap();
            matrix.factor(1.0, &mut || false).unwrap().solve(&mut x);
            for (i, expected) in b.iter().enumerate() {
                let product: f64 = (0..size).map(|j| (entry(i, j) + f64::from(i == j)) * x[j]).sum();
                assert!(
                    (product - expected).abs() < 1e-9,
                    "{number}, size {size}: {product}, not {expected}"
                );
            }
            let mut added = Symmetric::zeros(size);
            (0..size).for_each(|i| (0..=i).for_each(|j| added.add(i, j, entry(i, j))));
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let mut same = b;
            alone.install(|| added.factor(1.0, &mut || false).unwrap().solve(&mut same));
            assert_eq!(x, same, "{number}");
        }
    }

    /// A matrix of rank 1: the ridge keeps all finite.
    #[test]
    fn a_singular_matrix_is_ridged() {
        let matrix = Symmetric::new(60, |i, j| ((i + 1) * (j + 1)) as f64, &mut || false).unwrap();
        assert!(Symmetric::new(60, |_, _| 0.0, &mut || true).is_none());
        assert!(matrix.clone().factor(1e-9, &mut || true).is_none());
        assert_eq!(matrix.largest_diagonal(), 3600.0);
        let mut x = vec![1.0; 60];
        matrix.factor(1e-9, &mut || false).unwrap().solve(&mut x);
        assert!(x.iter().all(|x| x.is_finite()), "{x:?}");
    }
}

//! Many kernel values at a time: support rows, each stored once, against a few rows side by side.
//!
//! An inner product with a support row runs over the stored values of that row alone, in four sums that take turns
//! ([`dot_sparse`](crate::linalg) in the same order). Several rows lie side by side, so that one stored value meets
//! all of them in one vector instruction. How many lie there does not change what any of them gets: same bits.

#![allow(unsafe_code, reason = "functions compiled for particular processors")]

use super::form::Form;
use crate::dataset::Row;
use crate::linalg::Value;

/// Rows that were mistaken, with their values that are not zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Support {
    /// Where each row starts, and the end.
    pub(super) offsets: Vec<usize>,
    /// The column of each value, increasing within a row.
    pub(super) indices: Vec<u32>,
    /// The values.
    pub(super) values: Vec<f64>,
    /// ‖x‖² of each row.
    pub(super) squares: Vec<f64>,
    /// Whether all columns are stored, zeros too: then distances can be had from differences.
    pub(super) complete: bool,
}

impl Support {
    pub(super) fn new(complete: bool) -> Self {
        Self { offsets: vec![0], indices: Vec::new(), values: Vec::new(), squares: Vec::new(), complete }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Adds a row, and tells its number.
    pub(super) fn push(&mut self, row: Row<'_>) -> u32 {
        for (column, value) in row.iter().filter(|&(_, value)| self.complete || value != 0.0) {
            self.indices.push(column as u32);
            self.values.push(value);
        }
        self.offsets.push(self.indices.len());
        self.squares.push(square(row));
        self.len() as u32 - 1
    }

    #[inline(always)]
    fn row(&self, row: u32) -> (&[u32], &[f64]) {
        let range = self.offsets[row as usize]..self.offsets[row as usize + 1];
        (&self.indices[range.clone()], &self.values[range])
    }
}

/// Gives the values of a row that are not zero, by column.
#[inline]
fn each(row: Row<'_>, mut give: impl FnMut(usize, f64)) {
    macro_rules! walk {
        ($pairs:expr) => {
            $pairs.filter(|&(_, x)| x != 0.0).for_each(|(j, x)| give(j, x))
        };
    }
    // One loop for each layout: asking at every value costs more than the value.
    match row {
        Row::DenseF32(values) => walk!(values.iter().enumerate().map(|(j, &x)| (j, f64::from(x)))),
        Row::DenseF64(values) => walk!(values.iter().enumerate().map(|(j, &x)| (j, x))),
        Row::SparseF32(indices, values) => {
            walk!(indices.iter().zip(values).map(|(&j, &x)| (j as usize, f64::from(x))))
        }
        Row::SparseF64(indices, values) => walk!(indices.iter().zip(values).map(|(&j, &x)| (j as usize, x))),
    }
}

/// ‖x‖², in the order of inner products: a row and its copy are at distance 0 for certain.
pub(super) fn square(row: Row<'_>) -> f64 {
    let (mut sums, mut lane) = ([0.0; LANES], 0);
    each(row, |_, x| {
        sums[lane] += x * x;
        lane = (lane + 1) % LANES;
    });
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// Up to R rows side by side.
#[derive(Clone, Debug)]
pub(super) struct Tile<const R: usize> {
    /// For each column, the values of all rows.
    cells: Vec<[f64; R]>,
    squares: [f64; R],
}

impl<const R: usize> Tile<R> {
    /// Room for rows with `columns` features.
    pub(super) fn new(columns: usize) -> Self {
        Self { cells: vec![[0.0; R]; columns], squares: [0.0; R] }
    }

    /// Puts a row in place; `square` is its ‖x‖².
    pub(super) fn place(&mut self, at: usize, row: Row<'_>, square: f64) {
        self.squares[at] = square;
        each(row, |j, x| self.cells[j][at] = x);
    }

    /// Takes it away again.
    pub(super) fn clear(&mut self, at: usize, row: Row<'_>) {
        each(row, |j, _| self.cells[j][at] = 0.0);
    }
}

/// R rows that can be asked for their values in any column.
pub(super) trait Cells<const R: usize> {
    /// Their values in a column.
    fn cell(&self, column: u32) -> [f64; R];
    /// ‖x‖² of each.
    fn squares(&self) -> [f64; R];
}

impl<const R: usize> Cells<R> for Tile<R> {
    #[inline(always)]
    fn cell(&self, column: u32) -> [f64; R] {
        self.cells[column as usize]
    }

    #[inline(always)]
    fn squares(&self) -> [f64; R] {
        self.squares
    }
}

/// One dense row as it lies in the data, and its ‖x‖²: for few values, cheaper than a tile.
pub(super) struct Single<'a, T>(pub(super) &'a [T], pub(super) f64);

impl<T: Value> Cells<1> for Single<'_, T> {
    #[inline(always)]
    fn cell(&self, column: u32) -> [f64; 1] {
        [self.0[column as usize].wide()]
    }

    #[inline(always)]
    fn squares(&self) -> [f64; 1] {
        [self.1]
    }
}

/// A kernel with its support rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gram {
    pub(super) form: Form,
    /// The value of the appended coordinate.
    pub(super) bias_input: f64,
    pub(super) support: Support,
}

const LANES: usize = 4;

impl Gram {
    /// The kernel values of the support rows `chosen` with the rows of a tile.
    pub(super) fn values<const R: usize>(
        &self,
        chosen: &[u32],
        tile: &impl Cells<R>,
        out: &mut Vec<[f64; R]>,
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            if R >= 8 && std::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has what the function needs.
                return unsafe { self.values_avx512(chosen, tile, out) };
            }
            if R >= 4 && std::is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                return unsafe { self.values_avx2(chosen, tile, out) };
            }
        }
        self.values_plainly(chosen, tile, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn values_avx512<const R: usize>(&self, chosen: &[u32], tile: &impl Cells<R>, out: &mut Vec<[f64; R]>) {
        self.values_plainly(chosen, tile, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn values_avx2<const R: usize>(&self, chosen: &[u32], tile: &impl Cells<R>, out: &mut Vec<[f64; R]>) {
        self.values_plainly(chosen, tile, out);
    }

    /// Inlined into its callers, so that it is compiled for what each may use. Products and sums stay apart (no
    /// fused operations), so all forms give the same bits.
    #[inline(always)]
    fn values_plainly<const R: usize>(&self, chosen: &[u32], tile: &impl Cells<R>, out: &mut Vec<[f64; R]>) {
        let (appended, squares) = (self.bias_input * self.bias_input, tile.squares());
        let by_products = |measure: [f64; R], row: u32| match self.form {
            Form::Rbf { .. } => {
                let own = self.support.squares[row as usize];
                std::array::from_fn(|r| ((own + squares[r]) - 2.0 * measure[r]).max(0.0))
            }
            _ => measure.map(|product| product + appended),
        };
        for &row in chosen {
            let (indices, values) = self.support.row(row);
            let measure = if self.support.complete {
                sums(indices, values, tile, |a, b| (a - b) * (a - b))
            } else {
                by_products(sums(indices, values, tile, |a, b| a * b), row)
            };
            out.push(measure.map(|measure| self.form.value(measure)));
        }
    }
}

/// Σ term(value, cell) over the stored values of a support row, for each row of a tile.
#[inline(always)]
fn sums<const R: usize>(
    indices: &[u32],
    values: &[f64],
    cells: &impl Cells<R>,
    term: impl Fn(f64, f64) -> f64,
) -> [f64; R] {
    let (index_lanes, index_rest) = indices.as_chunks::<LANES>();
    let (value_lanes, value_rest) = values.as_chunks::<LANES>();
    let mut sums = [[0.0; R]; LANES];
    for (j, x) in index_lanes.iter().zip(value_lanes) {
        for lane in 0..LANES {
            let cell = cells.cell(j[lane]);
            for r in 0..R {
                sums[lane][r] += term(x[lane], cell[r]);
            }
        }
    }
    for (lane, (&j, &x)) in index_rest.iter().zip(value_rest).enumerate() {
        let cell = cells.cell(j);
        for r in 0..R {
            sums[lane][r] += term(x, cell[r]);
        }
    }
    std::array::from_fn(|r| (sums[0][r] + sums[2][r]) + (sums[1][r] + sums[3][r]))
}

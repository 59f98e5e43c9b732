//! How rows are stored, and the view of one row that every algorithm works on.

use super::DatasetError;
use super::storage::Array;
use crate::linalg;
use rayon::prelude::*;
use std::collections::TryReserveError;

/// Stored numbers: f32 where every value survives the round trip, otherwise f64.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// All values are exactly f32.
    F32(Array<f32>),
    /// At least one value needs f64.
    F64(Array<f64>),
}

impl Values {
    /// Number of stored values.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the values, and keeps the room for them.
    pub(crate) fn clear(&mut self) {
        match self {
            Values::F32(values) => values.to_mut().clear(),
            Values::F64(values) => values.to_mut().clear(),
        }
    }

    /// Whether values in a range are all finite and not zero.
    fn are_stored_soundly(&self, range: std::ops::Range<usize>) -> bool {
        // Without a branch for each value.
        match self {
            Values::F32(values) => {
                values[range].iter().fold(true, |sound, x| sound & x.is_finite() & (*x != 0.0))
            }
            Values::F64(values) => {
                values[range].iter().fold(true, |sound, x| sound & x.is_finite() & (*x != 0.0))
            }
        }
    }

    /// The measures of the dense rows in a range, of so many columns; `None` if a value is not finite.
    fn measure(&self, range: std::ops::Range<usize>, columns: usize) -> Option<Measures> {
        match self {
            Values::F32(values) => measure_dense(&values[range], columns),
            Values::F64(values) => measure_dense(&values[range], columns),
        }
    }

    /// Makes room, if there is some, for this many values in all.
    pub(super) fn reserve(&mut self, count: usize) {
        let more = count.saturating_sub(self.len());
        match self {
            Values::F32(values) => values.reserve(more),
            Values::F64(values) => values.reserve(more),
        }
    }

    /// Makes room for so many more values.
    pub(super) fn try_room(&mut self, more: usize) -> Result<(), TryReserveError> {
        match self {
            Values::F32(values) => values.try_room(more),
            Values::F64(values) => values.try_room(more),
        }
    }

    /// Appends numbers, changing to f64 the first time that f32 would lose something.
    pub(super) fn extend(&mut self, numbers: &[f64]) {
        if let Values::F32(values) = self {
            if numbers.iter().all(|&x| f64::from(x as f32) == x) {
                values.extend(numbers.iter().map(|&x| x as f32));
                return;
            }
            let mut wide = Array::from(Vec::new());
            // As much room as there was: it may have been made for all values.
            wide.reserve(values.capacity());
            wide.extend(values.iter().map(|&x| f64::from(x)));
            *self = Values::F64(wide);
        }
        if let Values::F64(values) = self {
            values.extend_from_slice(numbers);
        }
    }
}

/// How the rows are laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// Row-major, every value stored.
    Dense {
        /// Values of all rows, one row after the other.
        values: Values,
    },
    /// Compressed sparse rows: only the non-zero values, with their columns in increasing order.
    Sparse {
        /// Where each row starts, and the end: one more than there are rows.
        offsets: Array<usize>,
        /// The column of each value.
        indices: Array<u32>,
        /// The values.
        values: Values,
    },
}

/// Properties of dense rows, known once every value has been read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measures {
    /// Values that are not zero.
    pub(crate) nonzeros: usize,
    /// The smallest of the squared lengths ‖x‖², as [`Row::norm_squared`] rounds them.
    pub(crate) least_squared: f64,
    /// The largest of them.
    pub(crate) most_squared: f64,
}

impl Measures {
    const NONE: Self = Self { nonzeros: 0, least_squared: f64::INFINITY, most_squared: 0.0 };

    fn join(self, other: Self) -> Self {
        Self {
            nonzeros: self.nonzeros + other.nonzeros,
            least_squared: self.least_squared.min(other.least_squared),
            most_squared: self.most_squared.max(other.most_squared),
        }
    }
}

/// Measures dense rows, which lie one after the other. A squared length is finite only if all values are.
fn measure_dense<T: linalg::Value>(values: &[T], columns: usize) -> Option<Measures> {
    let mut measures = Measures::NONE;
    for row in values.chunks(columns) {
        let squared = linalg::norm_squared(row);
        if !squared.is_finite() && row.iter().any(|x| !x.wide().is_finite()) {
            return None;
        }
        let nonzeros = row.iter().filter(|x| x.wide() != 0.0).count();
        measures = measures.join(Measures { nonzeros, least_squared: squared, most_squared: squared });
    }
    Some(measures)
}

/// Rows that are checked by one thread at a time.
const ROWS_CHECKED: usize = 4096;

impl Rows {
    /// Row `i` of rows with so many columns.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize, columns: usize) -> Row<'_> {
        match self {
            Rows::Dense { values } => {
                let range = i * columns..(i + 1) * columns;
                match values {
                    Values::F32(values) => Row::DenseF32(&values[range]),
                    Values::F64(values) => Row::DenseF64(&values[range]),
                }
            }
            Rows::Sparse { offsets, indices, values } => {
                let range = offsets[i]..offsets[i + 1];
                match values {
                    Values::F32(values) => Row::SparseF32(&indices[range.clone()], &values[range]),
                    Values::F64(values) => Row::SparseF64(&indices[range.clone()], &values[range]),
                }
            }
        }
    }

    /// Checks that the arrays are those of so many rows and columns: each row lies within them, its columns increase and
    /// are inside, its values are finite and, in sparse rows, not zero. Dense rows are measured at the same time.
    pub(crate) fn check(&self, rows: usize, columns: usize) -> Result<Option<Measures>, DatasetError> {
        let wrong = |what: &str| Err(DatasetError::Shape(what.to_string()));
        let starts = || (0..rows).into_par_iter().step_by(ROWS_CHECKED);
        let end_of = |start: usize| (start + ROWS_CHECKED).min(rows);
        match self {
            Rows::Dense { values } => {
                if rows.checked_mul(columns) != Some(values.len()) {
                    return wrong("the values do not make whole rows");
                }
                if columns == 0 {
                    return Ok(None);
                }
                let measures = starts()
                    .map(|start| values.measure(start * columns..end_of(start) * columns, columns))
                    .try_reduce(|| Measures::NONE, |one, other| Some(one.join(other)));
                match measures {
                    Some(measures) => Ok(Some(measures)),
                    None => wrong("a value is not finite"),
                }
            }
            Rows::Sparse { offsets, indices, values } => {
                if offsets.len().checked_sub(1) != Some(rows) || indices.len() != values.len() {
                    return wrong("the parts of the rows differ in length");
                }
                let rising =
                    |start: usize| offsets[start..=end_of(start)].windows(2).all(|pair| pair[0] <= pair[1]);
                if offsets[0] != 0 || offsets[rows] != values.len() || !starts().all(rising) {
                    return wrong("the rows do not start one after the other");
                }
                // Every offset is now known to lie within the arrays.
                let in_order = |start: usize| {
                    offsets[start..=end_of(start)].windows(2).all(|pair| {
                        let row = &indices[pair[0]..pair[1]];
                        row.last().is_none_or(|&last| (last as usize) < columns)
                            && row.windows(2).fold(true, |order, pair| order & (pair[0] < pair[1]))
                    })
                };
                if !starts().all(in_order) {
                    return wrong("the columns of a row do not increase, or are outside the data set");
                }
                if !starts().all(|start| values.are_stored_soundly(offsets[start]..offsets[end_of(start)])) {
                    return wrong("a value is not finite, or a zero is stored");
                }
                Ok(None)
            }
        }
    }
}

/// One row, dense or sparse.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Every value, as f32.
    DenseF32(&'a [f32]),
    /// Every value, as f64.
    DenseF64(&'a [f64]),
    /// Columns in increasing order, and their values as f32.
    SparseF32(&'a [u32], &'a [f32]),
    /// Columns in increasing order, and their values as f64.
    SparseF64(&'a [u32], &'a [f64]),
}

impl Row<'_> {
    /// ⟨row, weights⟩. A dense row and the weights are compared over their common length.
    ///
    /// # Panics
    /// If a sparse row has a column outside `weights`.
    #[inline]
    pub fn dot(self, weights: &[f64]) -> f64 {
        match self {
            Row::DenseF32(values) => linalg::dot_dense(values, weights),
            Row::DenseF64(values) => linalg::dot_dense(values, weights),
            Row::SparseF32(indices, values) => linalg::dot_sparse(indices, values, weights),
            Row::SparseF64(indices, values) => linalg::dot_sparse(indices, values, weights),
        }
    }

    /// weights += scale · row.
    ///
    /// # Panics
    /// If a sparse row has a column outside `weights`.
    #[inline]
    pub fn add_to(self, scale: f64, weights: &mut [f64]) {
        match self {
            Row::DenseF32(values) => linalg::add_dense(scale, values, weights),
            Row::DenseF64(values) => linalg::add_dense(scale, values, weights),
            Row::SparseF32(indices, values) => linalg::add_sparse(scale, indices, values, weights),
            Row::SparseF64(indices, values) => linalg::add_sparse(scale, indices, values, weights),
        }
    }

    /// ‖row‖², rounded.
    #[inline]
    pub fn norm_squared(self) -> f64 {
        match self {
            Row::DenseF32(values) | Row::SparseF32(_, values) => linalg::norm_squared(values),
            Row::DenseF64(values) | Row::SparseF64(_, values) => linalg::norm_squared(values),
        }
    }

    /// Asks for the row to be brought into the cache.
    #[inline(always)]
    pub(crate) fn prefetch(self) {
        match self {
            Row::DenseF32(values) => linalg::prefetch(values),
            Row::DenseF64(values) => linalg::prefetch(values),
            Row::SparseF32(indices, values) => {
                linalg::prefetch(indices);
                linalg::prefetch(values);
            }
            Row::SparseF64(indices, values) => {
                linalg::prefetch(indices);
                linalg::prefetch(values);
            }
        }
    }

    /// Number of stored values.
    pub fn stored(self) -> usize {
        match self {
            Row::DenseF32(values) | Row::SparseF32(_, values) => values.len(),
            Row::DenseF64(values) | Row::SparseF64(_, values) => values.len(),
        }
    }

    /// One more than the last column that this row stores.
    pub fn width(self) -> usize {
        match self {
            Row::DenseF32(values) => values.len(),
            Row::DenseF64(values) => values.len(),
            Row::SparseF32(indices, _) | Row::SparseF64(indices, _) => {
                indices.last().map_or(0, |&last| last as usize + 1)
            }
        }
    }

    /// The stored (column, value) pairs in increasing column order.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + Clone {
        // One concrete iterator for the four layouts: column and value are looked up by position.
        (0..self.stored()).map(move |k| match self {
            Row::DenseF32(values) => (k, f64::from(values[k])),
            Row::DenseF64(values) => (k, values[k]),
            Row::SparseF32(indices, values) => (indices[k] as usize, f64::from(values[k])),
            Row::SparseF64(indices, values) => (indices[k] as usize, values[k]),
        })
    }

    /// The same row without columns from `columns` on.
    pub fn truncated(self, columns: usize) -> Self {
        match self {
            Row::DenseF32(values) => Row::DenseF32(&values[..values.len().min(columns)]),
            Row::DenseF64(values) => Row::DenseF64(&values[..values.len().min(columns)]),
            Row::SparseF32(indices, values) => {
                let kept = indices.partition_point(|&j| (j as usize) < columns);
                Row::SparseF32(&indices[..kept], &values[..kept])
            }
            Row::SparseF64(indices, values) => {
                let kept = indices.partition_point(|&j| (j as usize) < columns);
                Row::SparseF64(&indices[..kept], &values[..kept])
            }
        }
    }
}

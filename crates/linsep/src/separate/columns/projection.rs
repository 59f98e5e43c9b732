//! Rows looked at in some places only: the bias is an ordinary column, every column is multiplied by a power of two, and
//! of equal rows one is kept.
//!
//! None of this changes which combinations of rows vanish. Weights v for the projected rows are weights for the rows
//! themselves: w_j = v_j · 2^shift of the column, and zero in all other places.

use crate::dataset::{Dataset, DatasetError};
use crate::memory;
use crate::separate::Bias;
use crate::separate::examples::Examples;
use crate::separate::number::ExactVector;
use dashu_int::IBig;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Projected rows.
pub(super) struct Projection {
    data: Dataset,
    /// The places of the columns.
    places: Vec<usize>,
    /// Column k holds the entries of its place times 2^shifts\[k\].
    shifts: Vec<i32>,
    /// The row that each projected row denotes: first the free ones, then the distinct ones among the others.
    origins: Vec<usize>,
    free: usize,
    /// All coordinates of the examples.
    dimension: usize,
    /// A row that is zero in all these places, and not free.
    pub(super) zero: Option<usize>,
}

impl Projection {
    /// The `free` rows, all of which are kept, and the distinct rows of `rows`, in these places. With `units`, each column
    /// has two rows more: see [`Self::unit`].
    pub(super) fn new(
        examples: &Examples<'_>,
        free: &[usize],
        rows: &[usize],
        places: Vec<usize>,
        units: bool,
    ) -> Result<Self, DatasetError> {
        let width = places.len();
        let mut slot = vec![usize::MAX; examples.dimension()];
        places.iter().enumerate().for_each(|(k, &place)| slot[place] = k);
        let fill = |row: usize, into: &mut [f64]| {
            for (place, value) in examples.entries(row) {
                if slot[place] != usize::MAX {
                    into[slot[place]] = value;
                }
            }
        };
        let mut values: Vec<f64> = Vec::new();
        let mut origins: Vec<usize> = Vec::new();
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut zero = None;
        for (is_free, &row) in free.iter().map(|row| (true, row)).chain(rows.iter().map(|row| (false, row))) {
            let start = values.len();
            if start + width > values.capacity() {
                // What grows takes as much again, and so does the data set that is made of it in the end; rows are known by
                // their hashes.
                let told = |_| DatasetError::Memory { rows: origins.len() };
                let least = 24 * values.capacity() + 128 * origins.len();
                memory::check(least as u64, String::new).map_err(told)?;
            }
            values.resize(start + width, 0.0);
            fill(row, &mut values[start..]);
            let (before, own) = values.split_at(start);
            if !is_free {
                if zero.is_none() && own.iter().all(|&value| value == 0.0) {
                    zero = Some(row);
                }
                // No entry is −0: those that are zero were not filled in.
                let mut hasher = DefaultHasher::new();
                own.iter().for_each(|value| value.to_bits().hash(&mut hasher));
                let same = known.entry(hasher.finish()).or_default();
                if same.iter().any(|&k| before[k * width..(k + 1) * width] == *own) {
                    values.truncate(start);
                    continue;
                }
                same.push(origins.len());
            }
            origins.push(row);
        }
        let shifts: Vec<i32> = (0..width).map(|k| shift(values[k..].iter().step_by(width))).collect();
        for (k, &shift) in shifts.iter().enumerate().filter(|&(_, &shift)| shift != 0) {
            values[k..].iter_mut().step_by(width).for_each(|value| *value = libm::scalbn(*value, shift));
        }
        if units {
            for k in 0..width {
                for sign in [1.0, -1.0] {
                    values.extend((0..width).map(|other| if other == k { sign } else { 0.0 }));
                }
            }
        }
        let labels = vec!["1"; values.len() / width.max(1)];
        let data = Dataset::dense(width, &values, &labels)?;
        let (free, dimension) = (free.len(), examples.dimension());
        Ok(Self { data, places, shifts, origins, free, dimension, zero })
    }

    /// The projected rows as examples without a bias of their own.
    pub(super) fn examples(&self) -> Examples<'_> {
        Examples::with_signs(&self.data, vec![1; self.data.len()], Bias::None)
    }

    /// The places of the columns.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// The projected rows that are free.
    pub(super) fn free(&self) -> Vec<usize> {
        (0..self.free).collect()
    }

    /// The distinct rows that are not free.
    pub(super) fn others(&self) -> Vec<usize> {
        (self.free..self.origins.len()).collect()
    }

    /// The row that a projected row denotes; none for a unit row.
    pub(super) fn origin(&self, row: usize) -> Option<usize> {
        self.origins.get(row).copied()
    }

    /// The projected row that is 1, or −1, in column k and 0 elsewhere.
    pub(super) fn unit(&self, k: usize, positive: bool) -> usize {
        self.origins.len() + 2 * k + usize::from(!positive)
    }

    /// Weights of the projected rows as weights of the rows themselves.
    pub(super) fn lift(&self, weights: &ExactVector) -> ExactVector {
        let least = self.shifts.iter().copied().min().unwrap_or(0);
        let mut values = vec![IBig::ZERO; self.dimension];
        for (k, value) in weights.values.iter().enumerate().filter(|(_, value)| !value.is_zero()) {
            values[self.places[k]] = value << (self.shifts[k] - least) as usize;
        }
        ExactVector { values, exponent: weights.exponent + i64::from(least) }
    }
}

/// The power of two that brings the largest of these numbers to between 1 and 2, or 0 where it would change a number by more
/// than its exponent.
fn shift<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> i32 {
    let largest = values.clone().fold(0.0_f64, |most, value| most.max(value.abs()));
    if largest == 0.0 {
        return 0;
    }
    let shift = -libm::ilogb(largest);
    let survives = |&value: &f64| libm::scalbn(libm::scalbn(value, shift), -shift) == value;
    if values.clone().all(survives) { shift } else { 0 }
}

//! The inner loops: dot products, scaled additions and norms, and what rounding can have done to them.
//!
//! Every sum runs over a fixed number of lanes in a fixed order, so a later SIMD form can give the same bits.

mod bounds;

pub(crate) use bounds::{Interval, certified_dot, norm_interval, rounding_doubt};

/// A stored number: f32 or f64, widened to f64 (exactly) before any arithmetic.
pub(crate) trait Value: Copy + Send + Sync {
    fn wide(self) -> f64;
}

impl Value for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Value for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

const DENSE_LANES: usize = 8;
const SPARSE_LANES: usize = 4;

/// ⟨values, weights⟩ over the common length.
#[inline]
pub(crate) fn dot_dense<T: Value>(values: &[T], weights: &[f64]) -> f64 {
    let length = values.len().min(weights.len());
    let (value_lanes, value_rest) = values[..length].as_chunks::<DENSE_LANES>();
    let (weight_lanes, weight_rest) = weights[..length].as_chunks::<DENSE_LANES>();
    let mut sums = [0.0; DENSE_LANES];
    for (x, w) in value_lanes.iter().zip(weight_lanes) {
        for lane in 0..DENSE_LANES {
            sums[lane] += x[lane].wide() * w[lane];
        }
    }
    for (lane, (x, w)) in value_rest.iter().zip(weight_rest).enumerate() {
        sums[lane] += x.wide() * w;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// Σ values[k] · weights[indices[k]]; every index must be inside `weights`.
#[inline]
pub(crate) fn dot_sparse<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    let (index_lanes, index_rest) = indices.as_chunks::<SPARSE_LANES>();
    let (value_lanes, value_rest) = values.as_chunks::<SPARSE_LANES>();
    let mut sums = [0.0; SPARSE_LANES];
    for (j, x) in index_lanes.iter().zip(value_lanes) {
        for lane in 0..SPARSE_LANES {
            sums[lane] += x[lane].wide() * weights[j[lane] as usize];
        }
    }
    for (lane, (&j, x)) in index_rest.iter().zip(value_rest).enumerate() {
        sums[lane] += x.wide() * weights[j as usize];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// weights += scale · values
#[inline]
pub(crate) fn add_dense<T: Value>(scale: f64, values: &[T], weights: &mut [f64]) {
    for (w, x) in weights.iter_mut().zip(values) {
        *w += scale * x.wide();
    }
}

/// weights[indices[k]] += scale · values[k]; every index must be inside `weights`.
#[inline]
pub(crate) fn add_sparse<T: Value>(scale: f64, indices: &[u32], values: &[T], weights: &mut [f64]) {
    for (&j, x) in indices.iter().zip(values) {
        weights[j as usize] += scale * x.wide();
    }
}

/// Σ values², rounded.
#[inline]
pub(crate) fn norm_squared<T: Value>(values: &[T]) -> f64 {
    let (lanes, rest) = values.as_chunks::<DENSE_LANES>();
    let mut sums = [0.0; DENSE_LANES];
    for x in lanes {
        for lane in 0..DENSE_LANES {
            sums[lane] += x[lane].wide() * x[lane].wide();
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        sums[lane] += x.wide() * x.wide();
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// Asks for the beginning of a slice to be brought into the cache, where the processor can be asked: as much as
/// helps before the memory sees the pattern itself. Changes nothing but time.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        const MOST_LINES: usize = 32;
        let start = values.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(values)).step_by(LINE).take(MOST_LINES) {
            // SAFETY: the address lies inside the slice, and a prefetch reads nothing that the program sees.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

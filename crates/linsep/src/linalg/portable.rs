//! The inner loops for any processor. All other loops must give the same bits.

use super::{LANES, Value};

/// The sum of the lanes, in a fixed order.
#[inline(always)]
pub(super) fn joined(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

#[inline(always)]
pub(super) fn dot_dense<T: Value>(values: &[T], weights: &[f64]) -> f64 {
    let length = values.len().min(weights.len());
    let (value_lanes, value_rest) = values[..length].as_chunks::<LANES>();
    let (weight_lanes, weight_rest) = weights[..length].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, w) in value_lanes.iter().zip(weight_lanes) {
        for lane in 0..LANES {
            sums[lane] += x[lane].wide() * w[lane];
        }
    }
    for (lane, (x, w)) in value_rest.iter().zip(weight_rest).enumerate() {
        sums[lane] += x.wide() * w;
    }
    joined(sums)
}

#[inline(always)]
pub(super) fn dot_sparse<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    let weight = |j: u32| *weights.get(j as usize).expect("a column lies outside the weights");
    let (index_lanes, index_rest) = indices.as_chunks::<LANES>();
    let (value_lanes, value_rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (j, x) in index_lanes.iter().zip(value_lanes) {
        for lane in 0..LANES {
            sums[lane] += x[lane].wide() * weight(j[lane]);
        }
    }
    for (lane, (&j, x)) in index_rest.iter().zip(value_rest).enumerate() {
        sums[lane] += x.wide() * weight(j);
    }
    joined(sums)
}

#[inline(always)]
pub(super) fn add_dense<T: Value>(scale: f64, values: &[T], weights: &mut [f64]) {
    for (w, x) in weights.iter_mut().zip(values) {
        *w += scale * x.wide();
    }
}

#[inline(always)]
pub(super) fn norm_squared<T: Value>(values: &[T]) -> f64 {
    let (lanes, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for x in lanes {
        for lane in 0..LANES {
            sums[lane] += x[lane].wide() * x[lane].wide();
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        sums[lane] += x.wide() * x.wide();
    }
    joined(sums)
}

/// [`Value::add_product`]
#[inline(always)]
pub(super) fn add_product<T: Value>(
    left: &[T],
    [down, across]: [usize; 2],
    right: &[f64],
    width: usize,
    to: &mut [f64],
) {
    for (a, to) in to.chunks_exact_mut(width).enumerate() {
        for (b, right) in right.chunks_exact(width).enumerate() {
            add_dense(left[a * down + b * across].wide(), right, to);
        }
    }
}

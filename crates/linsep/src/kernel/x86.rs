//! The inner loops for processors with AVX2.
//!
//! Dense loops are the portable ones, compiled anew with registers of four floats. Sparse ones gather eight weights at a
//! time, after a look at all columns of the row: none may lie outside the weights.

use super::portable::{self, joined};
use super::{LANES, Value};
use std::arch::x86_64::{
    __m256d, __m256i, _mm_loadu_si128, _mm256_add_pd, _mm256_i32gather_pd, _mm256_loadu_si256,
    _mm256_max_epu32, _mm256_mul_pd, _mm256_set_pd, _mm256_setzero_pd, _mm256_setzero_si256,
    _mm256_storeu_pd, _mm256_storeu_si256,
};

#[inline(always)]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
}

#[target_feature(enable = "avx2")]
pub(super) fn dot_dense<T: Value>(values: &[T], weights: &[f64]) -> f64 {
    portable::dot_dense(values, weights)
}

#[target_feature(enable = "avx2")]
pub(super) fn add_dense<T: Value>(scale: f64, values: &[T], weights: &mut [f64]) {
    portable::add_dense(scale, values, weights);
}

#[target_feature(enable = "avx2")]
pub(super) fn norm_squared<T: Value>(values: &[T]) -> f64 {
    portable::norm_squared(values)
}

#[target_feature(enable = "avx2")]
pub(super) fn dot_sparse<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    let (index_lanes, index_rest) = indices.as_chunks::<LANES>();
    let (value_lanes, value_rest) = values.as_chunks::<LANES>();
    // The processor takes columns for signed numbers.
    let outside = weights.len().min(1 << 31) as u64;
    if index_lanes.is_empty() || u64::from(largest(index_lanes)) >= outside {
        return portable::dot_sparse(indices, values, weights);
    }
    let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    for (j, x) in index_lanes.iter().zip(value_lanes) {
        let [lower, upper] = wide_halves(x);
        // SAFETY: eight columns are there, in two halves, and all lie inside the weights, as was seen above.
        let (w_lower, w_upper) = unsafe {
            (
                _mm256_i32gather_pd::<8>(weights.as_ptr(), _mm_loadu_si128(j.as_ptr().cast())),
                _mm256_i32gather_pd::<8>(weights.as_ptr(), _mm_loadu_si128(j[4..].as_ptr().cast())),
            )
        };
        low = _mm256_add_pd(low, _mm256_mul_pd(lower, w_lower));
        high = _mm256_add_pd(high, _mm256_mul_pd(upper, w_upper));
    }
    let mut sums = [0.0; LANES];
    // SAFETY: there is room for eight floats, four at each place.
    unsafe {
        _mm256_storeu_pd(sums.as_mut_ptr(), low);
        _mm256_storeu_pd(sums[4..].as_mut_ptr(), high);
    }
    for (lane, (&j, x)) in index_rest.iter().zip(value_rest).enumerate() {
        sums[lane] += x.wide() * *weights.get(j as usize).expect("a column lies outside the weights");
    }
    joined(sums)
}

/// Eight values as f64.
#[inline]
#[target_feature(enable = "avx2")]
fn wide_halves<T: Value>(x: &[T; LANES]) -> [__m256d; 2] {
    let at = |lane: usize| x[lane].wide();
    [_mm256_set_pd(at(3), at(2), at(1), at(0)), _mm256_set_pd(at(7), at(6), at(5), at(4))]
}

/// The largest of the columns.
#[inline]
#[target_feature(enable = "avx2")]
fn largest(index_lanes: &[[u32; LANES]]) -> u32 {
    let mut most = _mm256_setzero_si256();
    for j in index_lanes {
        // SAFETY: eight columns are there, and the load needs no alignment.
        most = _mm256_max_epu32(most, unsafe { _mm256_loadu_si256(j.as_ptr().cast::<__m256i>()) });
    }
    let mut lanes = [0u32; LANES];
    // SAFETY: there is room for eight whole numbers.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast::<__m256i>(), most) };
    lanes.into_iter().max().unwrap_or(0)
}

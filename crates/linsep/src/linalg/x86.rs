//! The inner loops for processors with AVX2: registers of four floats, and weights gathered four at a time.
//!
//! A gather asks no questions, so all columns of a row are looked at first: none may lie outside the weights. What does not
//! fill a register is loaded behind a mask, and the lanes beyond it add zero, which changes nothing.

use super::functions;
use super::portable::{self, joined};
use std::arch::x86_64::*;

/// Floats of a register.
const FOUR: usize = 4;

/// Rows of a product of matrices that are summed together.
const TALL: usize = 4;

#[inline(always)]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
}

#[target_feature(enable = "avx2")]
pub(super) fn odds_and_logs(scores: &[f64], odds: &mut [f64], logs: &mut [f64]) {
    functions::odds_and_logs(scores, odds, logs);
}

#[target_feature(enable = "avx2")]
pub(super) fn add_outer_products(scaled: &[f64], rows: &[f64], size: usize, matrix: &mut [f64]) {
    use functions::{HIGH, WIDE};
    let count = scaled.len().min(rows.len()) / size;
    for top in (0..size).step_by(HIGH) {
        for left in (0..=top + HIGH - 1).step_by(WIDE) {
            let mut sums = [[_mm256_setzero_pd(); 2]; HIGH];
            let mut start = 0;
            for _ in 0..count {
                let own: &[f64; HIGH] = scaled[start + top..][..HIGH].try_into().expect("four numbers");
                let low = f64s::four(rows[start + left..][..FOUR].try_into().expect("four numbers"));
                let high = f64s::four(rows[start + left + FOUR..][..FOUR].try_into().expect("four numbers"));
                for a in 0..HIGH {
                    let factor = _mm256_set1_pd(own[a]);
                    sums[a][0] = _mm256_add_pd(sums[a][0], _mm256_mul_pd(factor, low));
                    sums[a][1] = _mm256_add_pd(sums[a][1], _mm256_mul_pd(factor, high));
                }
                start += size;
            }
            for (a, [low, high]) in sums.into_iter().enumerate() {
                let to = &mut matrix[(top + a) * size + left..][..WIDE];
                let mut found = [0.0; WIDE];
                // SAFETY: there is room for eight floats, four at each place.
                unsafe {
                    _mm256_storeu_pd(found.as_mut_ptr(), low);
                    _mm256_storeu_pd(found[FOUR..].as_mut_ptr(), high);
                }
                to.iter_mut().zip(found).for_each(|(to, from)| *to += from);
            }
        }
    }
}

/// Selects the first `count` of four lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes(count: usize) -> __m128i {
    const MASKS: [i32; 2 * FOUR] = [-1, -1, -1, -1, 0, 0, 0, 0];
    let start = FOUR - count.min(FOUR);
    // SAFETY: four whole numbers are there from any place up to the fourth.
    unsafe { _mm_loadu_si128(MASKS[start..].as_ptr().cast()) }
}

/// Whether all columns lie inside `length` weights, as far as the processor can tell: it takes them for signed numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn all_inside(indices: &[u32], length: usize) -> bool {
    let (fours, rest) = indices.as_chunks::<FOUR>();
    let mut most = _mm_setzero_si128();
    for four in fours {
        // SAFETY: four whole numbers are there, and the load needs no alignment.
        most = _mm_max_epu32(most, unsafe { _mm_loadu_si128(four.as_ptr().cast()) });
    }
    // SAFETY: as many whole numbers are there as the mask lets through.
    most = _mm_max_epu32(most, unsafe { _mm_maskload_epi32(rest.as_ptr().cast(), first_lanes(rest.len())) });
    // No column is as large as the number of weights if that is the larger in every lane.
    let outside = _mm_set1_epi32(length.min(1 << 31) as u32 as i32);
    let as_large = _mm_cmpeq_epi32(_mm_max_epu32(most, outside), most);
    _mm_movemask_epi8(as_large) == 0
}

/// The lanes, joined as the portable form joins them.
#[inline]
#[target_feature(enable = "avx2")]
fn joined_registers(low: __m256d, high: __m256d) -> f64 {
    let mut lanes = [0.0; 2 * FOUR];
    // SAFETY: there is room for eight floats, four at each place.
    unsafe {
        _mm256_storeu_pd(lanes.as_mut_ptr(), low);
        _mm256_storeu_pd(lanes[FOUR..].as_mut_ptr(), high);
    }
    joined(lanes)
}

/// The loops for one type of stored numbers: how four of them are loaded, and how the first of four.
macro_rules! loops {
    ($name:ident, $value:ty, $at:ident => $four:expr, $lanes:ident => $first:expr) => {
        pub(super) mod $name {
            use super::*;

            /// Four values.
            #[inline]
            #[target_feature(enable = "avx2")]
            pub(super) fn four(values: &[$value; FOUR]) -> __m256d {
                let $at = values.as_ptr();
                // SAFETY: four values are there, and the load needs no alignment.
                unsafe { $four }
            }

            /// At most four values, and zeros after them.
            #[inline]
            #[target_feature(enable = "avx2")]
            pub(super) fn first(values: &[$value]) -> __m256d {
                let ($at, $lanes) = (values.as_ptr(), first_lanes(values.len()));
                // SAFETY: as many values are there as the mask lets through, and the load needs no alignment.
                unsafe { $first }
            }

            /// The values in fours, two registers at a time, and the rest in two parts of at most four.
            #[inline(always)]
            pub(super) fn parts(values: &[$value]) -> (&[[[$value; FOUR]; 2]], &[$value], &[$value]) {
                let (fours, _) = values.as_chunks::<FOUR>();
                let (pairs, _) = fours.as_chunks::<2>();
                let rest = &values[pairs.len() * 2 * FOUR..];
                let (low, high) = rest.split_at(rest.len().min(FOUR));
                (pairs, low, high)
            }

            #[target_feature(enable = "avx2")]
            pub(crate) fn dot_dense(values: &[$value], weights: &[f64]) -> f64 {
                let length = values.len().min(weights.len());
                let (pairs, rest_low, rest_high) = parts(&values[..length]);
                let (weight_pairs, weights_low, weights_high) = f64s::parts(&weights[..length]);
                let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
                for (x, w) in pairs.iter().zip(weight_pairs) {
                    low = _mm256_add_pd(low, _mm256_mul_pd(four(&x[0]), f64s::four(&w[0])));
                    high = _mm256_add_pd(high, _mm256_mul_pd(four(&x[1]), f64s::four(&w[1])));
                }
                if !rest_low.is_empty() {
                    low = _mm256_add_pd(low, _mm256_mul_pd(first(rest_low), f64s::first(weights_low)));
                }
                if !rest_high.is_empty() {
                    high = _mm256_add_pd(high, _mm256_mul_pd(first(rest_high), f64s::first(weights_high)));
                }
                joined_registers(low, high)
            }

            #[target_feature(enable = "avx2")]
            pub(crate) fn norm_squared(values: &[$value]) -> f64 {
                let (pairs, rest_low, rest_high) = parts(values);
                let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
                let square = |x: __m256d| _mm256_mul_pd(x, x);
                for x in pairs {
                    low = _mm256_add_pd(low, square(four(&x[0])));
                    high = _mm256_add_pd(high, square(four(&x[1])));
                }
                if !rest_low.is_empty() {
                    low = _mm256_add_pd(low, square(first(rest_low)));
                }
                if !rest_high.is_empty() {
                    high = _mm256_add_pd(high, square(first(rest_high)));
                }
                joined_registers(low, high)
            }

            #[target_feature(enable = "avx2")]
            pub(crate) fn add_product(
                left: &[$value],
                steps: [usize; 2],
                right: &[f64],
                width: usize,
                to: &mut [f64],
            ) {
                // Few enough numbers on the right to stay in a near cache.
                const NEAR: usize = 1 << 14;
                let inner = (NEAR / width).max(1);
                for (part, right) in right.chunks(inner * width).enumerate() {
                    let left = &left[part * inner * steps[1]..];
                    for (tile, to) in to.chunks_mut(TALL * width).enumerate() {
                        let left = &left[tile * TALL * steps[0]..];
                        if to.len() == TALL * width {
                            add_product_tile::<TALL>(left, steps, right, width, to);
                            continue;
                        }
                        for (a, to) in to.chunks_exact_mut(width).enumerate() {
                            add_product_tile::<1>(&left[a * steps[0]..], steps, right, width, to);
                        }
                    }
                }
            }

            /// Some rows of a product, three registers of each at a time.
            #[inline]
            #[target_feature(enable = "avx2")]
            fn add_product_tile<const ROWS: usize>(
                left: &[$value],
                steps: [usize; 2],
                right: &[f64],
                width: usize,
                to: &mut [f64],
            ) {
                for start in (0..width).step_by(3 * FOUR) {
                    match (width - start) / FOUR {
                        1 => add_product_lanes::<ROWS, 1>(left, steps, right, width, start, to),
                        2 => add_product_lanes::<ROWS, 2>(left, steps, right, width, start, to),
                        _ => add_product_lanes::<ROWS, 3>(left, steps, right, width, start, to),
                    }
                }
            }

            #[inline]
            #[target_feature(enable = "avx2")]
            fn add_product_lanes<const ROWS: usize, const REGISTERS: usize>(
                left: &[$value],
                [down, across]: [usize; 2],
                right: &[f64],
                width: usize,
                start: usize,
                to: &mut [f64],
            ) {
                let inner = right.len() / width;
                assert!(
                    inner == 0 || (ROWS - 1) * down + (inner - 1) * across < left.len(),
                    "the left is too short"
                );
                let mut sums = [[_mm256_setzero_pd(); REGISTERS]; ROWS];
                for (a, sums) in sums.iter_mut().enumerate() {
                    let (lanes, _) = to[a * width + start..].as_chunks::<FOUR>();
                    sums.iter_mut().zip(lanes).for_each(|(sum, lanes)| *sum = f64s::four(lanes));
                }
                for (b, right) in right.chunks_exact(width).enumerate() {
                    let (lanes, _) = right[start..].as_chunks::<FOUR>();
                    let lanes: &[[f64; FOUR]; REGISTERS] = lanes[..REGISTERS].try_into().expect("as many");
                    for a in 0..ROWS {
                        // SAFETY: the last of these places lies inside, as was seen above. A check for each would have the sums leave
                        // their registers.
                        let factor = f64::from(unsafe { *left.get_unchecked(a * down + b * across) });
                        let factor = _mm256_set1_pd(factor);
                        for k in 0..REGISTERS {
                            let product = _mm256_mul_pd(factor, f64s::four(&lanes[k]));
                            sums[a][k] = _mm256_add_pd(sums[a][k], product);
                        }
                    }
                }
                for (a, sums) in sums.into_iter().enumerate() {
                    let (lanes, _) = to[a * width + start..].as_chunks_mut::<FOUR>();
                    for (lanes, sum) in lanes.iter_mut().zip(sums) {
                        // SAFETY: there is room for four floats.
                        unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), sum) };
                    }
                }
            }

            #[target_feature(enable = "avx2")]
            pub(crate) fn add_dense(scale: f64, values: &[$value], weights: &mut [f64]) {
                portable::add_dense(scale, values, weights);
            }

            #[target_feature(enable = "avx2")]
            pub(crate) fn dot_sparse(indices: &[u32], values: &[$value], weights: &[f64]) -> f64 {
                let length = indices.len().min(values.len());
                let (indices, values) = (&indices[..length], &values[..length]);
                if !all_inside(indices, weights.len()) {
                    return portable::dot_sparse(indices, values, weights);
                }
                let (pairs, rest_low, rest_high) = parts(values);
                let place = |at: usize| indices[at..].as_ptr();
                // SAFETY: four columns are there, and all columns lie inside the weights, as was seen above.
                let gathered = |at: usize| unsafe {
                    _mm256_i32gather_pd::<8>(weights.as_ptr(), _mm_loadu_si128(place(at).cast()))
                };
                // SAFETY: as above, of as many columns as the mask lets through.
                let first_gathered = |at: usize, count: usize| unsafe {
                    let lanes = first_lanes(count);
                    let columns = _mm_maskload_epi32(place(at).cast(), lanes);
                    let mask = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(lanes));
                    _mm256_mask_i32gather_pd::<8>(_mm256_setzero_pd(), weights.as_ptr(), columns, mask)
                };
                let (mut low, mut high) = (_mm256_setzero_pd(), _mm256_setzero_pd());
                let mut at = 0;
                for x in pairs {
                    low = _mm256_add_pd(low, _mm256_mul_pd(four(&x[0]), gathered(at)));
                    high = _mm256_add_pd(high, _mm256_mul_pd(four(&x[1]), gathered(at + FOUR)));
                    at += 2 * FOUR;
                }
                if !rest_low.is_empty() {
                    let w = first_gathered(at, rest_low.len());
                    low = _mm256_add_pd(low, _mm256_mul_pd(first(rest_low), w));
                }
                if !rest_high.is_empty() {
                    let w = first_gathered(at + FOUR, rest_high.len());
                    high = _mm256_add_pd(high, _mm256_mul_pd(first(rest_high), w));
                }
                joined_registers(low, high)
            }
        }
    };
}

loops!(f64s, f64, at => _mm256_loadu_pd(at), lanes => _mm256_maskload_pd(at, _mm256_cvtepi32_epi64(lanes)));
loops!(f32s, f32, at => _mm256_cvtps_pd(_mm_loadu_ps(at)), lanes => _mm256_cvtps_pd(_mm_maskload_ps(at, lanes)));

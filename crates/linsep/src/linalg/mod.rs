//! The inner loops: dot products, scaled additions and norms, with bounds on their rounding errors.
//!
//! Every sum runs over [`LANES`] lanes in a fixed order, products are rounded before they are added, and the lanes are joined
//! in a fixed order. So the portable loops and those for particular processors give the same bits.

#![allow(unsafe_code, reason = "vector instructions, and hints to the memory")]

mod bounds;
mod functions;
mod memory;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use bounds::{Interval, certified_dot, norm_interval, rounding_error_bound};
pub(crate) use memory::{prefer_large_pages, prefetch};

/// Partial sums that run side by side.
const LANES: usize = 8;

/// A stored number: f32 or f64, widened to f64 (exactly) before any arithmetic. The methods run the fastest loops that the
/// processor has.
pub(crate) trait Value: Copy + Send + Sync {
    /// The same number.
    fn wide(self) -> f64;

    /// ⟨values, weights⟩ over the common length.
    fn dot_dense(values: &[Self], weights: &[f64]) -> f64;

    /// Σ values[k] · weights[indices[k]] over the common length of indices and values.
    ///
    /// # Panics
    /// If an index lies outside `weights`.
    fn dot_sparse(indices: &[u32], values: &[Self], weights: &[f64]) -> f64;

    /// weights += scale · values
    fn add_dense(scale: f64, values: &[Self], weights: &mut [f64]);

    /// Σ values², rounded.
    fn norm_squared(values: &[Self]) -> f64;

    /// A product of matrices: to[a·width + k] += Σ left[a·down + b·across] · right[b·width + k] over all b, in their order. The
    /// width is a multiple of four.
    ///
    /// # Panics
    /// If `left` is too short.
    fn add_product(left: &[Self], steps: [usize; 2], right: &[f64], width: usize, to: &mut [f64]);
}

/// Chooses between the loops for a particular processor and the portable ones.
macro_rules! choose {
    ($loops:ident, $name:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if x86::is_available() {
            // SAFETY: the processor has what the function needs.
            return unsafe { x86::$loops::$name($($argument),*) };
        }
        portable::$name($($argument),*)
    }};
}

macro_rules! value {
    ($value:ty, $loops:ident) => {
        impl Value for $value {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            #[inline]
            fn dot_dense(values: &[Self], weights: &[f64]) -> f64 {
                choose!($loops, dot_dense(values, weights))
            }

            #[inline]
            fn dot_sparse(indices: &[u32], values: &[Self], weights: &[f64]) -> f64 {
                choose!($loops, dot_sparse(indices, values, weights))
            }

            #[inline]
            fn add_dense(scale: f64, values: &[Self], weights: &mut [f64]) {
                choose!($loops, add_dense(scale, values, weights))
            }

            #[inline]
            fn norm_squared(values: &[Self]) -> f64 {
                choose!($loops, norm_squared(values))
            }

            #[inline]
            fn add_product(left: &[Self], steps: [usize; 2], right: &[f64], width: usize, to: &mut [f64]) {
                choose!($loops, add_product(left, steps, right, width, to))
            }
        }
    };
}

value!(f32, f32s);
value!(f64, f64s);

/// [`Value::dot_dense`]
#[inline(always)]
pub(crate) fn dot_dense<T: Value>(values: &[T], weights: &[f64]) -> f64 {
    T::dot_dense(values, weights)
}

/// [`Value::dot_sparse`]
#[inline(always)]
pub(crate) fn dot_sparse<T: Value>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    T::dot_sparse(indices, values, weights)
}

/// [`Value::add_dense`]
#[inline(always)]
pub(crate) fn add_dense<T: Value>(scale: f64, values: &[T], weights: &mut [f64]) {
    T::add_dense(scale, values, weights);
}

/// [`Value::norm_squared`]
#[inline(always)]
pub(crate) fn norm_squared<T: Value>(values: &[T]) -> f64 {
    T::norm_squared(values)
}

/// For each score s: e^−|s| and ln(1 + e^−|s|), as [`functions::odds_and_logs`] has them.
#[inline]
pub(crate) fn odds_and_logs(scores: &[f64], odds: &mut [f64], logs: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if x86::is_available() {
        // SAFETY: the processor has what the function needs.
        return unsafe { x86::odds_and_logs(scores, odds, logs) };
    }
    functions::odds_and_logs(scores, odds, logs);
}

/// The lower half of matrix += Σ (scaled row)(row)ᵀ, as [`functions::add_outer_products`] has it.
#[inline]
pub(crate) fn add_outer_products(scaled: &[f64], rows: &[f64], size: usize, matrix: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if x86::is_available() {
        // SAFETY: the processor has what the function needs.
        return unsafe { x86::add_outer_products(scaled, rows, size, matrix) };
    }
    functions::add_outer_products(scaled, rows, size, matrix);
}

/// weights[indices[k]] += scale · values[k]; every index must be inside `weights`.
#[inline]
pub(crate) fn add_sparse<T: Value>(scale: f64, indices: &[u32], values: &[T], weights: &mut [f64]) {
    for (&j, x) in indices.iter().zip(values) {
        weights[j as usize] += scale * x.wide();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 2000 }))]

        /// The loops for the processor at hand give the bits of the portable ones, for every length.
        #[test]
        fn every_form_gives_the_same_bits(
            pairs in prop::collection::vec((0u32..50, -1e3f32..1e3, -1e3f64..1e3), 0..70),
            weights in prop::collection::vec(-1e3f64..1e3, 50..90),
            scale in -3.0f64..3.0,
        ) {
            let indices: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
            let narrow: Vec<f32> = pairs.iter().map(|pair| pair.1).collect();
            let wide: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
            let bits = f64::to_bits;
            prop_assert_eq!(bits(dot_dense(&narrow, &weights)), bits(portable::dot_dense(&narrow, &weights)));
            prop_assert_eq!(bits(dot_dense(&wide, &weights)), bits(portable::dot_dense(&wide, &weights)));
            prop_assert_eq!(
                bits(dot_sparse(&indices, &narrow, &weights)),
                bits(portable::dot_sparse(&indices, &narrow, &weights))
            );
            prop_assert_eq!(
                bits(dot_sparse(&indices, &wide, &weights)),
                bits(portable::dot_sparse(&indices, &wide, &weights))
            );
            prop_assert_eq!(bits(norm_squared(&narrow)), bits(portable::norm_squared(&narrow)));
            prop_assert_eq!(bits(norm_squared(&wide)), bits(portable::norm_squared(&wide)));
            let (mut one, mut other) = (weights.clone(), weights);
            f32::add_dense(scale, &narrow, &mut one);
            portable::add_dense(scale, &narrow, &mut other);
            f64::add_dense(scale, &wide, &mut one);
            portable::add_dense(scale, &wide, &mut other);
            prop_assert_eq!(one, other);
        }

        /// So do those for products of matrices, of rows and of columns.
        #[test]
        fn every_form_of_a_product_gives_the_same_bits(
            rows in 0usize..10,
            columns in 0usize..10,
            width in (1usize..9).prop_map(|fours| 4 * fours),
            seed in any::<u64>(),
        ) {
            let mut random = crate::random::Random::new(seed);
            let mut numbers = |count| -> Vec<f64> {
                (0..count).map(|_| random.below(2001) as f64 / 700.0 - 1.4).collect()
            };
            let wide = numbers(rows * columns);
            let narrow: Vec<f32> = wide.iter().map(|&x| x as f32).collect();
            for (inner, outer, steps) in [(columns, rows, [columns, 1]), (rows, columns, [1, columns])] {
                let (right, start) = (numbers(inner * width), numbers(outer * width));
                let (mut one, mut other) = (start.clone(), start);
                f32::add_product(&narrow, steps, &right, width, &mut one);
                portable::add_product(&narrow, steps, &right, width, &mut other);
                f64::add_product(&wide, steps, &right, width, &mut one);
                portable::add_product(&wide, steps, &right, width, &mut other);
                prop_assert_eq!(one, other);
            }
        }

        /// Against the sum of the products, in whole numbers, where no order matters.
        #[test]
        fn sums_are_right(pairs in prop::collection::vec((0u32..20, -99i32..100), 0..70)) {
            let weights: Vec<f64> = (0..20).map(|j| f64::from(3 * j - 30)).collect();
            let indices: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
            let values: Vec<f32> = pairs.iter().map(|pair| pair.1 as f32).collect();
            let expected: f64 = pairs.iter().map(|&(j, x)| f64::from(x) * weights[j as usize]).sum();
            prop_assert_eq!(f32::dot_sparse(&indices, &values, &weights), expected);
            let expected: f64 = pairs.iter().map(|&(_, x)| f64::from(x * x)).sum();
            prop_assert_eq!(f32::norm_squared(&values), expected);
        }
    }

    #[test]
    #[should_panic(expected = "outside the weights")]
    fn a_column_outside_is_noticed() {
        f64::dot_sparse(&[0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 9, 7], &[1.0f64; 16], &[0.0; 9]);
    }
}

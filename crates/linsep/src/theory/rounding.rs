//! Arithmetic of numbers that are not negative, rounded up, and sums of it over the rows of a data set.
//!
//! A float operation is off by less than one step, so the next float is a bound. Zeros stay exact: nothing is
//! lost on them, and a sum of nothing should read as 0.

use rayon::prelude::*;

/// a + b, rounded up.
pub(super) fn sum_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { a + b } else { (a + b).next_up() }
}

/// a · b, rounded up.
pub(super) fn product_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).next_up() }
}

/// √a, rounded up.
pub(super) fn root_up(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a.sqrt().next_up() }
}

/// a², rounded up.
pub(super) fn square_up(a: f64) -> f64 {
    product_up(a, a)
}

/// Rows that are added one after the other, whatever the number of threads.
const ROWS_TOGETHER: usize = 4096;

/// Σ term(i) and √Σ term(i)² over i < `rows`, for terms that are not negative, rounded up. The same bits for any
/// number of threads.
pub(super) fn sum_and_norm_up(rows: usize, term: impl Fn(usize) -> f64 + Sync) -> (f64, f64) {
    let add = |(sum, squares): (f64, f64), (more, more_squares): (f64, f64)| {
        (sum_up(sum, more), sum_up(squares, more_squares))
    };
    let parts: Vec<(f64, f64)> = (0..rows.div_ceil(ROWS_TOGETHER))
        .into_par_iter()
        .map(|part| {
            let rows = part * ROWS_TOGETHER..rows.min((part + 1) * ROWS_TOGETHER);
            rows.map(&term).map(|x| (x, square_up(x))).fold((0.0, 0.0), add)
        })
        .collect();
    let (sum, squares) = parts.into_iter().fold((0.0, 0.0), add);
    (sum, root_up(squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Multiples of 2⁻⁶⁰ below 2 have exact sums in i128: no sum is below the exact one, nor far above.
        #[test]
        fn sums_are_not_below_the_exact_ones(numbers in prop::collection::vec(0u64..1 << 60, 1..200)) {
            let unit = 2f64.powi(-60);
            // Rounded to 53 bits first: what is added is what is stored.
            let stored: Vec<f64> = numbers.iter().map(|&x| x as f64 * unit).collect();
            let (sum, norm) = sum_and_norm_up(stored.len(), |i| stored[i]);
            let exact: i128 = stored.iter().map(|x| (x / unit) as i128).sum();
            prop_assert!((sum / unit).floor() as i128 >= exact);
            prop_assert!(sum <= exact as f64 * unit * (1.0 + 1e-12));
            let rounded = stored.iter().map(|x| x * x).sum::<f64>().sqrt();
            prop_assert!(norm >= rounded * (1.0 - 1e-13) && norm <= rounded * (1.0 + 1e-12));
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let term = |i: usize| 1.0 / (i as f64 + 3.0);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sum_and_norm_up(20_000, term))
        };
        assert_eq!(with(1), with(4));
        assert_eq!(sum_and_norm_up(5, |_| 0.0), (0.0, 0.0));
    }
}

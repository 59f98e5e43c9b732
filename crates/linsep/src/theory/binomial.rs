//! The exact binomial interval of Clopper and Pearson (1934), for an error that was counted on rows drawn independently.
//!
//! A fixed classifier that is wrong on a new row with probability p is wrong on k of n rows drawn independently of it
//! with probability C(n, k) p^k (1−p)^(n−k). The interval holds every p that the count does not rule out:
//!
//! lower: the p with P(X ≥ k | p) = α/2, or 0 if k = 0; upper: the p with P(X ≤ k | p) = α/2, or 1 if k = n.
//!
//! Whatever p is, the interval misses it with probability at most α. No normal approximation is made, so it holds for few
//! rows and for no errors at all: of n rows without an error, upper = 1 − (α/2)^(1/n), about 3.7/n for α = 0.05.
//!
//! The tails are regularised incomplete beta functions: P(X ≥ k | p) = I_p(k, n−k+1). Ends are rounded outwards.

use serde::Serialize;

/// The confidence of the intervals in reports, 1 − α.
pub const CONFIDENCE: f64 = 0.95;

/// An interval for a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The probability is at least this.
    pub lower: f64,
    /// The probability is at most this.
    pub upper: f64,
}

/// The interval of [`CONFIDENCE`] for the probability of an event that was seen `count` times in `trials`: all of 0 to 1
/// without trials.
pub fn clopper_pearson(count: u64, trials: u64) -> Interval {
    interval(count, trials, 1.0 - CONFIDENCE)
}

/// The interval that misses the probability with probability at most `alpha`.
pub fn interval(count: u64, trials: u64, alpha: f64) -> Interval {
    let (k, n) = (count.min(trials) as f64, trials as f64);
    let lower = if count == 0 { 0.0 } else { largest_below(k, n - k + 1.0, alpha / 2.0) };
    // Misses are to hits as 1 − p is to p.
    let upper = if count >= trials { 1.0 } else { 1.0 - largest_below(n - k, k + 1.0, alpha / 2.0) };
    Interval { lower, upper: upper.next_up().min(1.0) }
}

/// P(X ≤ `count`) for X binomial with these trials and 0 < p < 1, rounded to nearest as well as the logarithms allow.
pub(super) fn share_at_most(count: u64, trials: u64, p: f64) -> f64 {
    if count >= trials {
        return 1.0;
    }
    Beta::new((trials - count) as f64, count as f64 + 1.0).share_below(1.0 - p)
}

/// The largest x found with I_x(a, b) ≤ `tail` beyond doubt, for a, b ≥ 1.
fn largest_below(a: f64, b: f64, tail: f64) -> f64 {
    let beta = Beta::new(a, b);
    let (mut low, mut high) = (0.0f64, 1.0f64);
    loop {
        let middle = low + (high - low) / 2.0;
        if !(low < middle && middle < high) {
            return low;
        }
        if beta.share_below(middle) * (1.0 + beta.error) <= tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The distribution with density x^(a−1) (1−x)^(b−1) / B(a, b).
struct Beta {
    a: f64,
    b: f64,
    /// ln B(a, b)
    ln_beta: f64,
    /// A bound on the relative error of [`share_below`](Self::share_below).
    error: f64,
}

impl Beta {
    fn new(a: f64, b: f64) -> Self {
        let [both, first, second] = [a + b, a, b].map(libm::lgamma);
        // Large logarithms cancel: their error, a few units in the last place, becomes a relative one of the result.
        let error = 1e-10 + 64.0 * f64::EPSILON * (both.abs() + first.abs() + second.abs());
        Self { a, b, ln_beta: first + second - both, error }
    }

    /// I_x(a, b), the regularised incomplete beta function, for 0 < x < 1.
    fn share_below(&self, x: f64) -> f64 {
        let (a, b) = (self.a, self.b);
        let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - self.ln_beta);
        // The fraction converges fast on the side of the mean where x is; the other side is its complement.
        if x < (a + 1.0) / (a + b + 2.0) {
            (front * continued_fraction(a, b, x) / a).min(1.0)
        } else {
            (1.0 - front * continued_fraction(b, a, 1.0 - x) / b).clamp(0.0, 1.0)
        }
    }
}

/// The continued fraction of the incomplete beta function, 1/(1 + d₁/(1 + d₂/(1 + …))), by Lentz's method: with
/// d_2m = m(b−m)x / ((a+2m−1)(a+2m)) and d_2m+1 = −(a+m)(a+b+m)x / ((a+2m)(a+2m+1)).
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = below;
    // About √max(a, b) steps are needed; far more than any count of rows asks for are allowed.
    for step in 1..10_000_000u32 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for d in [even, odd] {
            below = 1.0 / away_from_zero(1.0 + d * below);
            above = away_from_zero(1.0 + d / above);
            change = below * above;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P(X ≤ k) of n trials, summed up.
    fn at_most(k: u64, n: u64, p: f64) -> f64 {
        let mut choose = 1.0;
        let mut sum = 0.0;
        for i in 0..=k {
            sum += choose * p.powi(i as i32) * (1.0 - p).powi((n - i) as i32);
            choose *= (n - i) as f64 / (i + 1) as f64;
        }
        sum
    }

    #[test]
    fn published_values() {
        // Clopper and Pearson's 95 % intervals, as R's binom.test prints them.
        for (k, n, lower, upper) in [
            (0, 10, 0.0, 0.308_497_1),
            (1, 10, 0.002_528_579, 0.445_016_1),
            (5, 10, 0.187_086_0, 0.812_914_0),
            (10, 10, 0.691_502_9, 1.0),
            (682, 925, 0.707_668_3, 0.765_406_6),
        ] {
            let found = clopper_pearson(k, n);
            assert!((found.lower - lower).abs() < 1e-6, "{k} of {n}: {found:?}");
            assert!((found.upper - upper).abs() < 1e-6, "{k} of {n}: {found:?}");
        }
        assert_eq!(clopper_pearson(0, 0), Interval { lower: 0.0, upper: 1.0 });
    }

    #[test]
    fn without_errors_the_end_has_a_formula() {
        for n in [1u64, 3, 100, 1_000_000, 10_000_000_000] {
            let upper = -f64::exp_m1(f64::ln(0.025) / n as f64);
            let found = clopper_pearson(0, n);
            assert!(found.upper >= upper * (1.0 - 1e-12) && found.upper <= upper * (1.0 + 1e-2), "{n}");
            assert_eq!(found.lower, 0.0);
        }
    }

    /// With no chance involved: for every p on a grid, the probability of the counts whose interval misses it is at most α.
    #[test]
    fn it_misses_with_probability_at_most_alpha() {
        for (n, alpha) in [(1u64, 0.05), (7, 0.3), (30, 0.05)] {
            let intervals: Vec<Interval> = (0..=n).map(|k| interval(k, n, alpha)).collect();
            for step in 1..500 {
                let p = f64::from(step) / 500.0;
                let of = |k: u64| at_most(k, n, p) - if k > 0 { at_most(k - 1, n, p) } else { 0.0 };
                let missing = |k: &u64| p < intervals[*k as usize].lower || p > intervals[*k as usize].upper;
                let missed: f64 = (0..=n).filter(missing).map(of).sum();
                assert!(missed <= alpha, "{n} {alpha} {p}: {missed}");
            }
        }
    }

    proptest! {
        /// At the ends the tails are α/2, and never above it.
        #[test]
        fn the_tails_at_the_ends(n in 1u64..60, k in 0u64..60, alpha in 0.001f64..0.5) {
            let k = k.min(n);
            let found = interval(k, n, alpha);
            let share = k as f64 / n as f64;
            prop_assert!(found.lower <= share && share <= found.upper);
            if k > 0 {
                let tail = 1.0 - at_most(k - 1, n, found.lower);
                prop_assert!((tail - alpha / 2.0).abs() < 1e-8, "{tail}");
            }
            if k < n {
                let tail = at_most(k, n, found.upper);
                prop_assert!((tail - alpha / 2.0).abs() < 1e-8, "{tail}");
            }
        }

        /// More errors move both ends up, more rows of the same share narrow the interval.
        #[test]
        fn it_moves_with_the_count(n in 2u64..100_000, k in 0u64..100_000) {
            let k = k % n;
            let (few, more) = (clopper_pearson(k, n), clopper_pearson(k + 1, n));
            prop_assert!(few.lower <= more.lower && few.upper <= more.upper);
            let wider = clopper_pearson(2 * k, 2 * n);
            prop_assert!(wider.upper - wider.lower <= few.upper - few.lower + 1e-12);
        }
    }
}

//! Cover's count: how many labellings of n points a boundary can separate (Cover 1965).
//!
//! Of the 2ⁿ ways to label n points in general position in D dimensions (D of them are always independent), a boundary
//! through the origin separates exactly C(n, D) = 2 Σ_{k<D} C(n−1, k). An appended bias is one more dimension.
//!
//! So labels by coin flips are separable with probability P(X < D) for X binomial with n−1 trials of ½: always if n ≤ D,
//! half of the time if n = 2D, and hardly ever if n is much above 2D. Where that probability is high, rows that are
//! separable tell little about their labels. Rows that are not in general position are separable less often.

use super::binomial::share_at_most;

/// The probability that n points in general position in D dimensions, labelled by coin flips, can be separated by a boundary
/// through the origin.
pub fn share_separable(points: u64, dimensions: u64) -> f64 {
    match dimensions {
        0 => 0.0,
        _ if points <= dimensions => 1.0,
        _ => share_at_most(dimensions - 1, points - 1, 0.5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    /// A vector that is orthogonal to these points, one fewer than there are dimensions.
    fn normal(points: &[&[f64]]) -> Vec<f64> {
        match points {
            [] => vec![1.0],
            [a] => vec![-a[1], a[0]],
            [a, b] => {
                vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            }
            _ => unreachable!("at most three dimensions"),
        }
    }

    /// The labellings that some boundary makes, counted one by one. Every boundary can be turned, without crossing a point,
    /// until it goes through one point fewer than there are dimensions; those can then be on any sides.
    fn labellings(points: &[Vec<f64>]) -> usize {
        let dimensions = points[0].len();
        let mut found = BTreeSet::new();
        let subsets =
            (0u32..1 << points.len()).filter(|subset| subset.count_ones() as usize == dimensions - 1);
        for subset in subsets {
            let on = |i: usize| subset >> i & 1 == 1;
            let chosen: Vec<&[f64]> = (0..points.len()).filter(|&i| on(i)).map(|i| &points[i][..]).collect();
            let normal = normal(&chosen);
            let score = |i: usize| points[i].iter().zip(&normal).map(|(x, w)| x * w).sum::<f64>();
            for sides in (0u32..1 << points.len()).filter(|sides| sides & !subset == 0) {
                for sign in [1.0, -1.0] {
                    let side = |i: usize| if on(i) { sides >> i & 1 == 1 } else { sign * score(i) > 0.0 };
                    found.insert((0..points.len()).map(side).collect::<Vec<bool>>());
                }
            }
        }
        found.len()
    }

    #[test]
    fn it_counts_the_labellings_of_few_points() {
        let random = &mut Random::stream(4, 0);
        for dimensions in 1..=3 {
            for n in dimensions..=8 {
                let point =
                    |random: &mut Random| (0..dimensions).map(|_| random.normal()).collect::<Vec<f64>>();
                let points: Vec<Vec<f64>> = (0..n).map(|_| point(random)).collect();
                let expected = share_separable(n as u64, dimensions as u64) * f64::from(1 << n);
                let counted = labellings(&points) as f64;
                assert!(
                    (counted - expected).abs() < 1e-6,
                    "{n} points in {dimensions}: {counted}, {expected}"
                );
            }
        }
    }

    #[test]
    fn published_values() {
        for (n, d, share) in
            [(15, 10, 0.910), (20, 10, 0.5), (25, 10, 0.154), (1000, 1000, 1.0), (2000, 1000, 0.5)]
        {
            assert!((share_separable(n, d) - share).abs() < 5e-4, "{n} {d}");
        }
        assert!(share_separable(1_000_000, 1000) < 1e-300);
        assert_eq!((share_separable(5, 0), share_separable(5, 9)), (0.0, 1.0));
    }
}

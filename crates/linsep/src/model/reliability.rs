//! How good probabilities are.
//!
//! - **Log loss**: the mean of −ln p, where p is the probability that was given to the true class.
//! - **Brier score**: the mean of (p − y)² for two sides, with p for the positive side and y = 1 or 0; for many classes, of
//!   Σ (p_k − y_k)² over the classes.
//! - **Expected calibration error**: the probabilities are put into ten bins of equal width, and the error is the mean over
//!   the rows of |mean probability − observed share| of their bin. For two sides, p is that of the positive side and the
//!   share that of the positive rows; for many classes, p is that of the winning class and the share that of the rows for
//!   which it is right.
//!
//! No probability of a model is 0 or 1, so nothing has to be clipped for the log loss.

use super::Times;
use crate::theory::binomial::{Interval, clopper_pearson};
use serde::Serialize;

/// Bins of equal width.
const BINS: usize = 10;

/// How good probabilities are on labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// The mean of −ln p of the true class.
    pub log_loss: f64,
    /// The mean squared distance to the truth.
    pub brier: f64,
    /// The mean distance between probabilities and shares, over bins.
    pub expected_calibration_error: f64,
    /// The bins that have rows.
    pub bins: Vec<Bin>,
}

/// Rows with about the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// No probability is below this.
    pub from: f64,
    /// All probabilities are below this; in the last bin, at most this.
    pub to: f64,
    /// Rows.
    pub rows: u64,
    /// The mean of their probabilities.
    pub mean_probability: f64,
    /// The share of the rows for which what the probability is of came true.
    pub observed: f64,
    /// The 95 % interval for that share on new rows.
    pub observed_interval: Interval,
}

/// The probabilities of one row beside its truth: what the measures need of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowProbabilities {
    /// The probability in the reliability table: for two sides, the probability of the positive one; for many, of the winner.
    pub shown: f64,
    /// Whether that came true.
    pub came_true: bool,
    /// −ln of the probability of the true class.
    pub loss: f64,
    /// The squared distance to the truth.
    pub brier: f64,
}

impl RowProbabilities {
    /// Of two sides, by the probability of the positive one.
    pub fn of_pair(positive: f64, is_positive: bool) -> Self {
        let (wrong, loss) = if is_positive {
            (1.0 - positive, -libm::log(positive))
        } else {
            (positive, -libm::log1p(-positive))
        };
        Self { shown: positive, came_true: is_positive, loss, brier: wrong * wrong }
    }

    /// Of many classes, by the probabilities of all; `winner` is the class that is predicted.
    pub fn of_many(probabilities: &[f64], winner: usize, truth: usize) -> Self {
        let distance = |(k, p): (usize, &f64)| (p - f64::from(u8::from(k == truth))).powi(2);
        Self {
            shown: probabilities[winner],
            came_true: winner == truth,
            loss: -libm::log(probabilities[truth]),
            brier: probabilities.iter().enumerate().map(distance).sum(),
        }
    }
}

impl Reliability {
    /// The measures of these rows; `None` if there are none.
    pub fn of(rows: &[RowProbabilities], times: Times<'_>) -> Option<Self> {
        let n = times.total(rows.len()) as f64;
        if rows.is_empty() || n == 0.0 {
            return None;
        }
        let mut bins = [(0u64, 0.0f64, 0u64); BINS];
        for (i, row) in rows.iter().enumerate() {
            let bin = &mut bins[((row.shown * BINS as f64) as usize).min(BINS - 1)];
            bin.0 += times.of(i);
            bin.1 += times.of(i) as f64 * row.shown;
            bin.2 += if row.came_true { times.of(i) } else { 0 };
        }
        let bins: Vec<Bin> = bins
            .iter()
            .enumerate()
            .filter(|(_, bin)| bin.0 > 0)
            .map(|(place, &(rows, sum, came_true))| Bin {
                from: place as f64 / BINS as f64,
                to: (place + 1) as f64 / BINS as f64,
                rows,
                mean_probability: sum / rows as f64,
                observed: came_true as f64 / rows as f64,
                observed_interval: clopper_pearson(came_true, rows),
            })
            .collect();
        let sum = |of: fn(&RowProbabilities) -> f64| {
            rows.iter().enumerate().map(|(i, row)| times.of(i) as f64 * of(row)).sum::<f64>()
        };
        let distance = |bin: &Bin| bin.rows as f64 * (bin.mean_probability - bin.observed).abs();
        Some(Self {
            log_loss: sum(|row| row.loss) / n,
            brier: sum(|row| row.brier) / n,
            expected_calibration_error: bins.iter().map(distance).sum::<f64>() / n,
            bins,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_sides_by_the_definitions(rows in prop::collection::vec((0.001f64..0.999, any::<bool>()), 1..60)) {
            let own: Vec<RowProbabilities> =
                rows.iter().map(|&(p, positive)| RowProbabilities::of_pair(p, positive)).collect();
            let found = Reliability::of(&own, Times::ONCE).unwrap();
            let n = rows.len() as f64;
            let truth = |positive: bool| f64::from(u8::from(positive));
            let mean = |of: &dyn Fn(f64, bool) -> f64| rows.iter().map(|&(p, y)| of(p, y)).sum::<f64>() / n;
            let log_loss = mean(&|p, y| -(if y { p } else { 1.0 - p }).ln());
            prop_assert!((found.log_loss - log_loss).abs() < 1e-12);
            prop_assert!((found.brier - mean(&|p, y| (p - truth(y)).powi(2))).abs() < 1e-12);
            let mut error = 0.0;
            for bin in 0..10 {
                let of_bin = |p: f64| (p * 10.0).floor() as i32 == bin;
                let sum: f64 = rows.iter().filter(|row| of_bin(row.0)).map(|&(p, y)| p - truth(y)).sum();
                error += sum.abs() / n;
            }
            prop_assert!((found.expected_calibration_error - error).abs() < 1e-12);
            prop_assert_eq!(found.bins.iter().map(|bin| bin.rows).sum::<u64>(), rows.len() as u64);
            for bin in &found.bins {
                prop_assert!(bin.from <= bin.mean_probability && bin.mean_probability <= bin.to);
                prop_assert!(bin.observed_interval.lower <= bin.observed);
                prop_assert!(bin.observed <= bin.observed_interval.upper);
            }
        }
    }

    #[test]
    fn many_classes_by_hand() {
        let rows = [
            RowProbabilities::of_many(&[0.5, 0.25, 0.25], 0, 0),
            RowProbabilities::of_many(&[0.125, 0.5, 0.375], 1, 2),
        ];
        let found = Reliability::of(&rows, Times::ONCE).unwrap();
        assert!((found.log_loss - (2f64.ln() - 0.375f64.ln()) / 2.0).abs() < 1e-15);
        let brier = (0.25 + 0.0625 + 0.0625 + 0.015625 + 0.25 + 0.625 * 0.625) / 2.0;
        assert!((found.brier - brier).abs() < 1e-15);
        // Both winners have ½, and one of them is right.
        assert_eq!((found.expected_calibration_error, found.bins.len()), (0.0, 1));
    }

    #[test]
    fn without_rows_there_is_nothing_to_measure() {
        assert_eq!(Reliability::of(&[], Times::ONCE), None);
    }
}

//! Choosing among candidates by what they said about held-out rows.

use crate::validate::metric::{JudgedFolds, Metric, mean, standard_error};
use std::borrow::Borrow;

/// The place of the least value; of several, the first.
pub(super) fn first_least(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, k| if values[k] < values[best] { k } else { best })
}

/// The candidate to take. Candidates stand in the order of their complexity, and the simplest is taken whose difference from
/// the best one, on the same rows, is within `tolerance` standard errors of that difference.
pub(super) fn choose<F: Borrow<JudgedFolds>>(
    metric: Metric,
    candidates: &[F],
    outcomes: usize,
    tolerance: f64,
) -> usize {
    let values: Vec<Vec<f64>> =
        candidates.iter().map(|folds| metric.parts(folds.borrow(), outcomes)).collect();
    let means: Vec<f64> = values.iter().map(|values| mean(values)).collect();
    let best = first_least(&means);
    let is_tied = |k: &usize| {
        let differences: Vec<f64> = values[*k].iter().zip(&values[best]).map(|(a, b)| a - b).collect();
        mean(&differences) <= tolerance * standard_error(&differences)
    };
    (0..best).find(is_tied).unwrap_or(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::metric::JudgedRow;

    /// Two folds of rows, wrong or right.
    fn folds(wrong: &[u8]) -> JudgedFolds {
        let row = |&wrong: &u8| JudgedRow {
            truth: Some(0),
            outcome: u32::from(wrong),
            score: -1.0,
            loss: f64::from(wrong),
        };
        let (one, other) = wrong.split_at(wrong.len() / 2);
        vec![one.iter().map(row).collect(), other.iter().map(row).collect()]
    }

    #[test]
    fn the_best_is_taken_and_the_simpler_one_if_it_is_nearly_as_good() {
        let simple = folds(&[1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
        let middle = folds(&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        let best = folds(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let all = [simple.clone(), middle, best.clone(), best.clone()];
        assert_eq!(choose(Metric::error(), &all, 2, 0.0), 2);
        // One row of ten more is 0.1 ± 0.1, two are 0.2 ± 0.13.
        assert_eq!(choose(Metric::error(), &all, 2, 1.0), 1);
        assert_eq!(choose(Metric::error(), &all, 2, 2.0), 0);
        let (mean, error) = Metric::error().of_folds(&best, 2);
        assert_eq!(mean, 0.1);
        assert!((error - 0.1).abs() < 1e-12, "{error}");
        assert_eq!(choose(Metric::log_loss(), &[simple, best], 2, 0.0), 1);
    }
}

//! Isotonic regression: the increasing function of the score that is nearest to the outcomes.
//!
//! For scores s₁ < … < s_m with n_j rows each, of which the share y_j is positive, the p₁ ≤ … ≤ p_m that minimise
//! Σ n_j (p_j − y_j)² (and, as it happens, the log loss) are p_j = max over i ≤ j of min over k ≥ j of the positive share
//! of all rows from s_i to s_k. Pooling adjacent violators finds them: wherever a group has a smaller share than the one
//! before it, the two become one.
//!
//! One row more is counted at each end: a positive one among the rows with the lowest score, a negative one among those
//! with the highest. So no share is 0 or 1, however sure the rows are: the lowest group of n negative rows has 1/(n + 1).
//!
//! Between two pools the function is linear, and within one it is constant: it goes through the lowest and the highest score of
//! each.

/// Rows whose shares are pooled.
#[derive(Clone, Copy)]
struct Pool {
    rows: f64,
    positives: f64,
    lowest: f64,
    highest: f64,
}

impl Pool {
    fn share(&self) -> f64 {
        self.positives / self.rows
    }

    /// Together with the pool that comes after it.
    fn with(self, after: Pool) -> Pool {
        Pool {
            rows: self.rows + after.rows,
            positives: self.positives + after.positives,
            lowest: self.lowest,
            highest: after.highest,
        }
    }
}

/// The ends of the pools, increasing, and their shares, which do not fall. The scores are finite, and there are some.
pub(super) fn isotonic(scores: &[f64], signs: &[i8]) -> (Vec<f64>, Vec<f64>) {
    let mut pools: Vec<Pool> = Vec::new();
    for group in groups(scores, signs) {
        let mut pool = group;
        while let Some(before) = pools.pop_if(|before| before.share() >= pool.share()) {
            pool = before.with(pool);
        }
        pools.push(pool);
    }
    let ends = |pool: Pool| {
        let further = (pool.highest > pool.lowest).then_some((pool.highest, pool.share()));
        [(pool.lowest, pool.share())].into_iter().chain(further)
    };
    pools.into_iter().flat_map(ends).unzip()
}

/// Rows of equal score, in the order of the scores, with the two that are added.
fn groups(scores: &[f64], signs: &[i8]) -> Vec<Pool> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut groups: Vec<Pool> = order
        .chunk_by(|&a, &b| scores[a] == scores[b])
        .map(|group| Pool {
            rows: group.len() as f64,
            positives: group.iter().filter(|&&i| signs[i] > 0).count() as f64,
            lowest: scores[group[0]],
            highest: scores[group[0]],
        })
        .collect();
    if let Some(lowest) = groups.first_mut() {
        lowest.rows += 1.0;
        lowest.positives += 1.0;
    }
    if let Some(highest) = groups.last_mut() {
        highest.rows += 1.0;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Calibration;
    use proptest::prelude::*;

    proptest! {
        /// The function has the values of the formula with maxima and minima, at every score.
        #[test]
        fn pooling_finds_the_nearest_increasing_function(
            rows in prop::collection::vec((0i8..8, any::<bool>()), 1..40)
        ) {
            let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let signs: Vec<i8> = rows.iter().map(|row| if row.1 { 1 } else { -1 }).collect();
            let groups = groups(&scores, &signs);
            let share = |i: usize, k: usize| {
                let sum = |of: fn(&Pool) -> f64| groups[i..=k].iter().map(of).sum::<f64>();
                sum(|group| group.positives) / sum(|group| group.rows)
            };
            let (ends, shares) = isotonic(&scores, &signs);
            prop_assert!(ends.is_sorted_by(|a, b| a < b) && shares.is_sorted());
            prop_assert!(shares.iter().all(|&p| p > 0.0 && p < 1.0));
            let found = Calibration::Isotonic { scores: ends, probabilities: shares };
            for (j, group) in groups.iter().enumerate() {
                let least = |i: usize| (j..groups.len()).map(|k| share(i, k)).fold(f64::MAX, f64::min);
                let naive = (0..=j).map(least).fold(f64::MIN, f64::max);
                prop_assert!((found.probability(group.lowest) - naive).abs() < 1e-12, "{found:?} {j} {naive}");
            }
        }
    }

    #[test]
    fn sure_rows_by_hand() {
        // One positive row more among those at 1, one negative row more among those at 4.
        let (ends, shares) = isotonic(&[1.0, 2.0, 3.0, 4.0], &[-1, -1, 1, 1]);
        assert_eq!(ends, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(shares, [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    }
}

//! The rows that many boundaries, each of one class against the rest, are wrong about.
//!
//! Rows and classes are looked at together, as where the boundaries are learned ([`class_blocks`](super::class_blocks)): a
//! bound on a few dozen rows tells of most boundaries what they say of all of them, sums of all classes at once tell it of one
//! row, and where a sum is too near to zero the weights of the class decide by themselves. So the counts are those of
//! boundaries judged one by one.

use crate::dataset::{Dataset, Row};
use crate::linalg::{norm_interval, rounding_error_bound};
use crate::observe::{Observer, Pace, Progress};
use crate::theory::margin::certain_agreement;
use crate::theta::Theta;
use crate::train::engine::class_blocks::{ROWS_TOGETHER, SUMS_BETWEEN_PAUSES};
use crate::train::engine::class_scores::{ClassScores, enclose};
use std::ops::Range;

/// Rows and some of their classes.
pub(super) struct ClassErrors<'a> {
    pub(super) data: &'a Dataset,
    /// The number of each row's class.
    pub(super) labels: &'a [u32],
    /// The classes that have a boundary here.
    pub(super) classes: Range<usize>,
}

impl ClassErrors<'_> {
    /// How many rows each boundary is wrong about, or `None` if the observer stopped the count.
    pub(super) fn count(&self, thetas: &[&Theta], observer: &mut dyn Observer) -> Option<Vec<u64>> {
        let mut count = Count::new(thetas, self.data.columns());
        let total = self.data.len();
        let mut pace = Pace::new(0);
        let pause = (SUMS_BETWEEN_PAUSES / thetas.len()).next_multiple_of(ROWS_TOGETHER);
        for start in (0..total).step_by(ROWS_TOGETHER) {
            let rows = start..(start + ROWS_TOGETHER).min(total);
            self.count_rows(rows.clone(), thetas, &mut count);
            if rows.end % pause == 0 && rows.end < total {
                let progress = Progress::Judging { rows: rows.end as u64, total: total as u64 };
                let flow = observer.progress(&progress);
                if pace.gives_up(flow) {
                    return None;
                }
            }
        }
        Some(count.errors)
    }

    /// The boundary of the class of a row, if it is here.
    fn own(&self, i: usize) -> Option<usize> {
        let label = self.labels[i] as usize;
        self.classes.contains(&label).then(|| label - self.classes.start)
    }

    fn count_rows(&self, rows: Range<usize>, thetas: &[&Theta], count: &mut Count) {
        let row = |i: usize| self.data.row(i);
        // A row of the class itself is judged by its own weights, and taken out of what is counted for all rows.
        for (i, place) in rows.clone().filter_map(|i| Some((i, self.own(i)?))) {
            count.errors[place] += u64::from(is_wrong(thetas[place], row(i), 1));
        }
        enclose(rows.clone().map(row), &mut count.low, &mut count.high);
        let Count { scores, errors, low, high, undecided, .. } = count;
        undecided.clear();
        let mut all_wrong = Vec::new();
        scores.bound(low, high, |place, range| match (range.is_below_zero, range.is_above_zero) {
            (true, _) => {}
            (_, true) => {
                errors[place] += rows.len() as u64;
                all_wrong.push(place);
            }
            _ => undecided.push(place),
        });
        if !all_wrong.is_empty() {
            for place in rows.clone().filter_map(|i| self.own(i)) {
                errors[place] -= u64::from(all_wrong.binary_search(&place).is_ok());
            }
        }
        // Where many are undecided, all of them are scored faster together.
        let many = undecided.len() > thetas.len() / 8;
        let places = std::mem::take(undecided);
        for i in rows {
            if many {
                count.add_together(&places, thetas, row(i), self.own(i));
            } else {
                count.add(&places, thetas, row(i), self.own(i));
            }
        }
        count.undecided = places;
    }
}

/// Counts of boundaries that are looked at together.
struct Count {
    scores: ClassScores,
    /// No θ is longer than this.
    longest: f64,
    bias_input: f64,
    errors: Vec<u64>,
    /// The least and the largest numbers of some rows, and the boundaries that these do not decide.
    low: Vec<f64>,
    high: Vec<f64>,
    undecided: Vec<usize>,
    sums: Vec<f64>,
}

impl Count {
    fn new(thetas: &[&Theta], columns: usize) -> Self {
        Self {
            scores: ClassScores::new(thetas.iter().copied()),
            longest: thetas.iter().map(|theta| theta.norm().high).fold(0.0, f64::max),
            bias_input: thetas.first().map_or(0.0, |theta| theta.bias_input),
            errors: vec![0; thetas.len()],
            low: vec![0.0; columns],
            high: vec![0.0; columns],
            undecided: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// A sum that is farther from zero than this has the sign of the score, however that is rounded, and of every number in the
    /// interval that encloses it.
    fn nearest_decided(&self, row: Row<'_>) -> f64 {
        let length =
            norm_interval(row.norm_squared() + self.bias_input * self.bias_input, row.stored() + 1).high;
        12.0 * rounding_error_bound(row.stored() + 2, self.longest * length)
    }

    /// Counts a row of another class for these boundaries.
    fn add(&mut self, places: &[usize], thetas: &[&Theta], row: Row<'_>, own: Option<usize>) {
        if places.is_empty() {
            return;
        }
        let decided = self.nearest_decided(row);
        for &place in places.iter().filter(|&&place| Some(place) != own) {
            let sum = self.scores.sum(place, row);
            self.errors[place] += u64::from(wrong_by_sum(sum, decided, thetas[place], row));
        }
    }

    /// The same, by the sums of all boundaries.
    fn add_together(&mut self, places: &[usize], thetas: &[&Theta], row: Row<'_>, own: Option<usize>) {
        let decided = self.nearest_decided(row);
        let mut sums = std::mem::take(&mut self.sums);
        self.scores.sums(row, &mut sums);
        for &place in places.iter().filter(|&&place| Some(place) != own) {
            self.errors[place] += u64::from(wrong_by_sum(sums[place], decided, thetas[place], row));
        }
        self.sums = sums;
    }
}

/// Whether a boundary is wrong about a row of another class whose sum is this.
#[inline]
fn wrong_by_sum(sum: f64, decided: f64, theta: &Theta, row: Row<'_>) -> bool {
    // Also for a sum that is not a number.
    if sum.abs() > decided { sum > 0.0 } else { is_wrong(theta, row, -1) }
}

/// Whether a boundary is wrong about a row. A score that rounding puts on the wrong side of zero is no mistake where it is
/// proved to be on the right one: so a run that has converged has none.
pub(super) fn is_wrong(theta: &Theta, row: Row<'_>, sign: i8) -> bool {
    (theta.score(row) >= 0.0) != (sign > 0) && certain_agreement(theta, row, sign) <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Rows in order, so that a few dozen of them lie close together and most boundaries are decided for all of them, or in
        /// any order; whole numbers, so that scores of exactly zero abound, or numbers whose sums are rounded.
        #[test]
        fn the_counts_are_those_of_boundaries_one_by_one(
            seed: u64, rows in 1usize..300, classes in 2usize..90, columns in 1usize..4, whole: bool, sorted: bool, first in 0usize..40
        ) {
            let mut random = Random::new(seed);
            let unit = if whole { 1.0 } else { 0.1 };
            let mut number = |most: u64| unit * (random.below(2 * most + 1) as f64 - most as f64);
            let mut values: Vec<Vec<f64>> = (0..rows).map(|_| (0..columns).map(|_| number(40)).collect()).collect();
            if sorted {
                values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            }
            let thetas: Vec<Theta> = (0..classes)
                .map(|_| Theta { weights: (0..columns).map(|_| number(9)).collect(), bias: number(200), bias_input: 1.0 })
                .collect();
            let labels: Vec<u32> = (0..rows).map(|_| random.below(2 * classes as u64) as u32).collect();
            let data = Dataset::dense(columns, &values.concat(), &vec!["1"; rows]).unwrap();
            let of = ClassErrors { data: &data, labels: &labels, classes: first..first + classes };
            let found = of.count(&thetas.iter().collect::<Vec<_>>(), &mut ()).unwrap();
            for (place, theta) in thetas.iter().enumerate() {
                let sign = |i: usize| if labels[i] as usize == first + place { 1 } else { -1 };
                let wrong = (0..rows).filter(|&i| is_wrong(theta, data.row(i), sign(i))).count();
                prop_assert_eq!(found[place], wrong as u64);
            }
        }
    }

    /// An observer that stops everything at once.
    struct Stop;

    impl Observer for Stop {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }

    #[test]
    fn a_count_that_is_stopped_is_none() {
        // Numbers without end in sight: the count goes on for a moment after the stop, and is not done by then.
        let rows = 400_000;
        let values: Vec<f64> = (0..rows).map(|i| f64::from(i % 1009)).collect();
        let data = Dataset::dense(1, &values, &vec!["1"; rows as usize]).unwrap();
        let labels = vec![0; rows as usize];
        let thetas: Vec<Theta> = (0..4000)
            .map(|class| Theta { weights: vec![1.0], bias: -f64::from(class % 1009), bias_input: 1.0 })
            .collect();
        let of = ClassErrors { data: &data, labels: &labels, classes: 0..4000 };
        assert_eq!(of.count(&thetas.iter().collect::<Vec<_>>(), &mut Stop), None);
    }
}

//! Scores of a row for many classes at once.
//!
//! The weights of all classes for one feature stand together, so one row is scored for thousands of classes by a few loops
//! over contiguous numbers. Such a score may differ from ⟨θ, x̃⟩ as [`Theta::score`] rounds it, so it decides nothing by
//! itself: it tells, with a bound on its error, which classes cannot matter, and those that can are scored by their own
//! weights. Results are the same, to the bit, with and without it.

use crate::dataset::Row;
use crate::linalg::{self, norm_interval, rounding_error_bound};
use crate::theta::Theta;
use crate::train::engine::learned::Learned;

/// With fewer classes than this, scoring one after the other costs less.
const FEW_CLASSES: usize = 64;
/// With more features than this, the sums of each class are long enough to be fast by themselves.
const MANY_FEATURES: usize = 32;

/// The weights of many classes, feature by feature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassScores {
    classes: usize,
    /// Of each feature, the weights of all classes.
    weights: Vec<f64>,
    /// What is added to the sums of each class.
    offsets: Vec<f64>,
    /// No θ is longer than this.
    longest: f64,
}

impl ClassScores {
    /// Whether so many classes of so many features are scored faster together.
    pub(crate) fn suits(classes: usize, columns: usize) -> bool {
        classes >= FEW_CLASSES && columns <= MANY_FEATURES
    }

    /// The weights of classes with the same number of features.
    pub(crate) fn new<'a>(thetas: impl ExactSizeIterator<Item = &'a Theta> + Clone) -> Self {
        let classes = thetas.len();
        let columns = thetas.clone().next().map_or(0, |theta| theta.weights.len());
        let mut weights = vec![0.0; classes * columns];
        for (class, theta) in thetas.clone().enumerate() {
            for (column, &weight) in theta.weights.iter().enumerate() {
                weights[column * classes + class] = weight;
            }
        }
        let offsets = thetas.clone().map(Theta::intercept).collect();
        let longest = thetas.map(|theta| theta.norm().high).fold(0.0, f64::max);
        Self { classes, weights, offsets, longest }
    }

    /// The weights of linear functions, where that makes scoring faster.
    pub(crate) fn of_learned(learned: &Learned) -> Option<Self> {
        let Learned::Each(each) = learned else { return None };
        let linear = |learned: &Learned| matches!(learned, Learned::Linear(theta) if theta.is_finite());
        (Self::suits(each.len(), learned.columns()) && each.iter().all(linear))
            .then(|| Self::new(each.iter().map(Learned::theta)))
    }

    /// Takes over the weights of a class that a row has changed.
    pub(crate) fn change(&mut self, class: usize, theta: &Theta, row: Row<'_>) {
        for (column, _) in row.iter() {
            self.weights[column * self.classes + class] = theta.weights[column];
        }
        self.offsets[class] = theta.intercept();
    }

    /// Sets what is added to the sums of a class, which is its intercept otherwise.
    pub(crate) fn set_offset(&mut self, class: usize, offset: f64) {
        self.offsets[class] = offset;
    }

    /// Computes the sums of all classes.
    pub(crate) fn sums(&self, row: Row<'_>, sums: &mut Vec<f64>) {
        sums.clear();
        sums.extend_from_slice(&self.offsets);
        for (column, value) in row.iter() {
            linalg::add_dense(value, &self.weights[column * self.classes..][..self.classes], sums);
        }
    }

    /// The sum of one class.
    pub(crate) fn sum(&self, class: usize, row: Row<'_>) -> f64 {
        let products = row.iter().map(|(column, value)| value * self.weights[column * self.classes + class]);
        products.fold(self.offsets[class], |sum, product| sum + product)
    }

    /// The classes whose sum may reach zero for some row with numbers from `low` to `high`, feature by feature.
    pub(crate) fn that_may_reach_zero(&self, low: &[f64], high: &[f64], found: &mut Vec<usize>) {
        found.clear();
        self.bounds::<false>(low, high, |class, range| {
            if !range.is_below_zero {
                found.push(class);
            }
        });
    }

    /// Tells of every class what its sums certainly are for all rows with numbers from `low` to `high`, feature by feature.
    pub(crate) fn bound(&self, low: &[f64], high: &[f64], tell: impl FnMut(usize, SumRange)) {
        self.bounds::<true>(low, high, tell);
    }

    /// The same, where without `BOTH` nothing is told about sums above zero.
    fn bounds<const BOTH: bool>(&self, low: &[f64], high: &[f64], mut tell: impl FnMut(usize, SumRange)) {
        /// Classes that are looked at together: their bounds stay in registers or close to them.
        const TOGETHER: usize = 32;
        for start in (0..self.classes).step_by(TOGETHER) {
            let count = TOGETHER.min(self.classes - start);
            // The ends of the sum, and the sizes of what is added up, to which rounding errors are relative.
            let (mut least, mut most) = ([0.0f64; TOGETHER], [0.0f64; TOGETHER]);
            let mut sizes = [0.0f64; TOGETHER];
            for (column, (&low, &high)) in low.iter().zip(high).enumerate() {
                let weights = &self.weights[column * self.classes + start..][..count];
                let ends = least.iter_mut().zip(&mut most).zip(&mut sizes);
                for (((least, most), size), &weight) in ends.zip(weights) {
                    let (one, other) = (weight * low, weight * high);
                    *most += if one > other { one } else { other };
                    *size += one.abs() + other.abs();
                    if BOTH {
                        *least += if one > other { other } else { one };
                    }
                }
            }
            let relative = 4.0 * (low.len() + 2) as f64 * f64::EPSILON;
            for k in 0..count {
                let offset = self.offsets[start + k];
                let error = relative * (sizes[k] + offset.abs());
                let is_below_zero = offset == f64::NEG_INFINITY || most[k] + offset + error < 0.0;
                let is_above_zero = BOTH && least[k] + offset - error > 0.0;
                tell(start + k, SumRange { is_below_zero, is_above_zero });
            }
        }
    }

    /// Computes the sums of all classes but one, and a number below the largest of them: classes with a sum below it are
    /// certainly not the largest, however their scores are rounded. `None` if a sum is not finite.
    pub(crate) fn near_the_largest(
        &self,
        row: Row<'_>,
        bias_input: f64,
        except: Option<usize>,
        sums: &mut Vec<f64>,
    ) -> Option<f64> {
        self.sums(row, sums);
        if let Some(class) = except {
            sums[class] = f64::MIN;
        }
        let (most, finite) = largest(sums);
        let length = norm_interval(row.norm_squared() + bias_input * bias_input, row.stored() + 1).high;
        // A sum and a score are each off by at most one such error, and the ends of a certified score by three.
        let error = rounding_error_bound(row.stored() + 2, self.longest * length);
        finite.then_some(most - 12.0 * error)
    }

    /// [`Learned::class_of`] for the functions that these weights are of.
    pub(crate) fn class_of(&self, learned: &Learned, row: Row<'_>, sums: &mut Vec<f64>) -> (usize, f64) {
        let Learned::Each(each) = learned else { return learned.class_of(row) };
        let Some(least) = self.near_the_largest(row, each[0].theta().bias_input, None, sums) else {
            // A score that is not a number must show.
            return learned.class_of(row);
        };
        let mut best = (0, f64::NEG_INFINITY);
        for (class, _) in sums.iter().enumerate().filter(|&(_, &sum)| reaches(sum, least)) {
            let score = each[class].score(row);
            if score > best.1 || score.is_nan() {
                best = (class, score);
            }
        }
        best
    }
}

/// What the sums of a class certainly are for some rows, also as its own weights round them.
pub(crate) struct SumRange {
    pub(crate) is_below_zero: bool,
    pub(crate) is_above_zero: bool,
}

/// Finds the least and the largest numbers of rows, feature by feature.
pub(crate) fn enclose<'a>(rows: impl Iterator<Item = Row<'a>>, low: &mut [f64], high: &mut [f64]) {
    low.fill(f64::INFINITY);
    high.fill(f64::NEG_INFINITY);
    let mut numbers = vec![0.0; low.len()];
    for row in rows {
        numbers.fill(0.0);
        row.iter().for_each(|(column, value)| numbers[column] = value);
        for (column, &value) in numbers.iter().enumerate() {
            low[column] = low[column].min(value);
            high[column] = high[column].max(value);
        }
    }
}

/// Whether a sum is at least so large. One that is not a number rules nothing out.
pub(crate) fn reaches(sum: f64, least: f64) -> bool {
    sum >= least || sum.is_nan()
}

/// The largest of many numbers, and whether all are certainly finite.
pub(crate) fn largest(numbers: &[f64]) -> (f64, bool) {
    // Several lanes, so that they can be compared side by side.
    const LANES: usize = 8;
    let (mut most, mut total) = ([f64::NEG_INFINITY; LANES], [0.0f64; LANES]);
    let (groups, rest) = numbers.as_chunks::<LANES>();
    for group in groups {
        for lane in 0..LANES {
            most[lane] = if group[lane] > most[lane] { group[lane] } else { most[lane] };
            total[lane] += group[lane];
        }
    }
    let most = most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max);
    (most, total.iter().chain(rest).sum::<f64>().is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    proptest! {
        /// Whole numbers, so that ties abound, and numbers with many digits, whose sums are rounded: the winner and its
        /// score are those of the scores one by one.
        #[test]
        fn the_winner_is_that_of_all_scores(
            seed: u64, classes in 2usize..90, columns in 1usize..6, whole: bool, scale in -9i32..9
        ) {
            let mut random = Random::new(seed);
            let mut number = move || {
                let number = random.below(7) as f64 - 3.0;
                if whole { number } else { number * 0.1 * 10f64.powi(scale) }
            };
            let theta = |_| {
                let weights = (0..columns).map(|_| number()).collect();
                Learned::Linear(Theta { weights, bias: number(), bias_input: 1.0 })
            };
            let each: Vec<Learned> = (0..classes).map(theta).collect();
            let scores = ClassScores::new(each.iter().map(Learned::theta));
            let learned = Learned::Each(each);
            let mut random = Random::new(seed ^ 1);
            for _ in 0..20 {
                let row: Vec<f64> = (0..columns).map(|_| random.below(9) as f64 - 4.0).collect();
                let row = Row::DenseF64(&row);
                prop_assert_eq!(scores.class_of(&learned, row, &mut Vec::new()), learned.class_of(row));
            }
        }
    }

    #[test]
    fn a_score_that_overflows_shows() {
        let theta = |weight: f64| Learned::Linear(Theta { weights: vec![weight; 2], ..Theta::default() });
        let learned = Learned::Each(vec![theta(1.0), theta(1e300), theta(2.0)]);
        let Learned::Each(each) = &learned else { unreachable!() };
        let scores = ClassScores::new(each.iter().map(Learned::theta));
        let row = Row::DenseF64(&[1e300, -1e300]);
        let (class, score) = scores.class_of(&learned, row, &mut Vec::new());
        assert!(class == 1 && score.is_nan(), "{class} {score}");
    }
}

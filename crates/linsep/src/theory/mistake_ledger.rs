//! The upper bound of the best margin that the updates of a run prove, kept true while the weights are rounded.

use super::margin::quotient_up;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// Unit roundoff, with room for the few operations that use it.
const U: f64 = f64::EPSILON * 0.51;

/// The upper bound ‖θ_k‖ / k, kept true while θ is rounded at every update.
///
/// Steps of other sizes serve as well: for θ = Σ α_t z_t with α ≥ 0, γ* is at most ‖θ‖ / Σ α_t. Three numbers
/// suffice. `norm_squared` bounds ‖θ‖² of the stored θ, by ‖θ + z‖² = ‖θ‖² + 2a + ‖z‖². `drift` bounds the distance
/// from the stored θ to the exact Σ α_t z_t: an addition is off by at most u times its result, so an update adds at
/// most u‖θ‖, and u‖z‖ more where z is itself a rounded product. `total` is Σ α_t, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MistakeLedger {
    norm_squared: f64,
    drift: f64,
    updates: u64,
    total: f64,
    /// The smallest ‖θ_k‖ / k so far; none before the first update, nor after a start that is not zero.
    best: Option<f64>,
    from_zero: bool,
    /// Whether θ less its start still is a sum of rows with sizes that are not negative.
    is_sum: bool,
}

impl MistakeLedger {
    /// The ledger of a run that starts at θ₀.
    pub fn new(start: &Theta) -> Self {
        let norm = start.norm().high;
        let from_zero = start.bias == 0.0 && start.weights.iter().all(|&w| w == 0.0);
        Self {
            norm_squared: if from_zero { 0.0 } else { (norm * norm).next_up() },
            drift: 0.0,
            updates: 0,
            total: 0.0,
            best: None,
            from_zero,
            is_sum: true,
        }
    }

    /// Notes an update with a row of squared length `row_squared`, whose agreement was `agreement` before.
    #[inline]
    pub fn record(&mut self, agreement: f64, row_squared: f64, terms: usize) {
        self.record_step(agreement, row_squared, terms, 1.0);
    }

    /// Notes an update θ += size · z, where z has the squared length `row_squared` and had the agreement `agreement`.
    #[inline]
    pub fn record_step(&mut self, agreement: f64, row_squared: f64, terms: usize, size: f64) {
        let added_squared = row_squared * size * size;
        self.norm_squared = grown_norm_squared(self.norm_squared, agreement * size, added_squared, terms);
        let norm = self.norm_squared.sqrt();
        self.drift += U * 1.01 * norm;
        self.updates += 1;
        if size == 1.0 {
            self.total = one_more(self.total);
        } else {
            self.is_sum &= size >= 0.0;
            self.drift += 4.0 * U * added_squared.sqrt();
            self.total = ((self.total + size) * (1.0 - 4.0 * U)).max(0.0);
        }
        self.note_bound(norm);
    }

    /// Notes that θ was multiplied by `factor` in (0, 1], which multiplies every α with it.
    #[inline]
    pub fn record_shrinking(&mut self, factor: f64) {
        self.norm_squared *= factor * factor * (1.0 + 8.0 * U);
        self.drift *= factor * (1.0 + 4.0 * U);
        self.total *= factor * (1.0 - 4.0 * U);
        // The share of the start that is left is no longer known.
        self.is_sum &= self.from_zero;
    }

    /// Notes that θ has been mixed with what shards made of it: each went on from this ledger by itself, to θ_s, and θ has
    /// become θ + Σ (w_s/W)(θ_s − θ) with W = Σ w_s, of length `norm` at most, in `terms` numbers.
    ///
    /// Σ α_t is mixed as the vectors are, and so are the exact sums: their drift is at most the largest of the shards'.
    /// Rounding adds to it. A term is rounded once as a difference, once as a product, at most once for each of S
    /// shards as part of a sum, and once divided: all together are off by at most (S + 3) u Σ (w_s/W) ‖θ_s − θ‖, where
    /// ‖θ_s − θ‖ ≤ ‖θ_s‖ + ‖θ‖, and by one smallest normal number for each quotient that underflows. The last addition is
    /// off by at most u‖θ‖. Where one shard alone counts, its θ_s is taken as it is.
    ///
    /// Every shard is a run from the same start, so what it proved by itself holds too.
    pub(crate) fn record_mixing(&mut self, shards: &[(u64, MistakeLedger)], norm: f64, terms: usize) {
        let counting = || shards.iter().filter(|(weight, _)| *weight > 0);
        let (count, whole) = (counting().count() as f64, counting().map(|(w, _)| *w as f64).sum::<f64>());
        let before = *self;
        for (_, shard) in shards {
            self.updates += shard.updates - before.updates;
            self.is_sum &= shard.is_sum;
        }
        // Each has taken over the best of the run so far.
        self.best = shards.iter().filter_map(|(_, shard)| shard.best).reduce(f64::min);
        if count == 0.0 {
            return;
        }
        self.drift = counting().map(|(_, shard)| shard.drift).fold(0.0, f64::max);
        if count > 1.0 {
            let longest = counting().map(|(_, shard)| shard.norm_squared).fold(0.0, f64::max).sqrt();
            let moved = longest + before.norm_squared.sqrt();
            self.drift += 1.01 * U * ((count + 3.0) * moved + norm) + terms as f64 * f64::MIN_POSITIVE;
            let gain =
                counting().map(|(w, shard)| *w as f64 * (shard.total - before.total)).sum::<f64>() / whole;
            self.total = (before.total + (gain - gain.abs() * (count + 8.0) * U)) * (1.0 - 4.0 * U);
            self.norm_squared = f64::INFINITY;
        } else if let Some((_, only)) = counting().next() {
            (self.total, self.norm_squared) = (only.total, only.norm_squared);
        }
        self.tighten_norm(norm);
    }

    #[inline]
    fn note_bound(&mut self, norm: f64) {
        if self.from_zero && self.total > 0.0 {
            let bound = (norm + self.drift) * (1.0 + 8.0 * U) / self.total;
            self.best = Some(self.best.map_or(bound, |best| best.min(bound)).next_up());
        }
    }

    /// Replaces the running bound of ‖θ‖ by a fresh one, which has lost less to rounding.
    pub fn tighten(&mut self, theta: &Theta) {
        self.tighten_norm(theta.norm().high);
    }

    /// Replaces the running bound of ‖θ‖ by this one, where it is better.
    pub(crate) fn tighten_norm(&mut self, norm: f64) {
        self.norm_squared = self.norm_squared.min((norm * norm).next_up());
        if self.from_zero && self.total > 0.0 {
            let bound = quotient_up((norm + self.drift).next_up(), self.total);
            self.best = Some(self.best.map_or(bound, |best| best.min(bound)));
        }
    }

    /// How many updates were recorded.
    pub(crate) fn updates(&self) -> u64 {
        self.updates
    }

    /// Σ α_t, the sizes of all steps together, rounded down: the number of updates where each is a step of 1.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// An upper bound of ‖θ‖² of the stored θ.
    pub fn norm_squared(&self) -> f64 {
        self.norm_squared
    }

    /// The upper bound of γ* that the updates prove, if there are any.
    ///
    /// From a start that is not zero, the updates still sum to θ − θ₀, which serves as well.
    pub fn upper_bound(&self, theta: &Theta, start: Option<&Theta>) -> Option<f64> {
        let start = match start {
            _ if self.total <= 0.0 || !self.is_sum => return None,
            Some(start) if !self.from_zero => start,
            _ => return self.best,
        };
        let mut moved = theta.clone();
        moved.bias -= start.bias;
        for (weight, old) in moved.weights.iter_mut().zip(&start.weights) {
            *weight -= old;
        }
        let norm = moved.norm().high * (1.0 + 4.0 * U);
        Some(quotient_up((norm + self.drift).next_up(), self.total))
    }
}

/// total + 1, rounded down; whole numbers are exact.
#[inline]
fn one_more(total: f64) -> f64 {
    // The difference is exact, because 1 is a multiple of the last place of the sum: it tells which way the sum went.
    let sum = total + 1.0;
    if sum - 1.0 > total { sum.next_down() } else { sum }
}

/// An upper bound of ‖θ + z‖² from one of ‖θ‖², the computed agreement and the computed ‖z‖².
#[inline]
pub(crate) fn grown_norm_squared(norm_squared: f64, agreement: f64, row_squared: f64, terms: usize) -> f64 {
    let relative = (terms as f64 + 16.0) * U * 1.01;
    // The roots are taken one by one: the product of two squares can overflow.
    let rounding_error =
        relative * norm_squared.sqrt() * row_squared.sqrt() + terms as f64 * f64::MIN_POSITIVE;
    let grown = norm_squared + 2.0 * (agreement + rounding_error) + row_squared * (1.0 + relative);
    grown.max(0.0) * (1.0 + 16.0 * U) + f64::MIN_POSITIVE
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dataset::{Dataset, Row};
    use crate::random::Random;
    use crate::theory::margin::lower_bound;
    use crate::train::{MistakeRule, Perceptron};
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    /// Rows in whole sixteenths: exact sums in i128 are the oracle.
    pub(crate) fn grid_rows() -> impl Strategy<Value = (Vec<Vec<i32>>, Vec<bool>)> {
        (1usize..5, 2usize..12).prop_flat_map(|(d, n)| {
            (
                prop::collection::vec(prop::collection::vec(-40i32..40, d), n),
                prop::collection::vec(any::<bool>(), n),
            )
        })
    }

    pub(crate) fn dataset(rows: &[Vec<i32>], labels: &[bool], scale: f64) -> Dataset {
        let values: Vec<f64> = rows.iter().flatten().map(|&x| f64::from(x) * scale).collect();
        let labels: Vec<&str> = labels.iter().map(|&b| if b { "1" } else { "0" }).collect();
        Dataset::dense(rows[0].len(), &values, &labels).unwrap()
    }

    proptest! {
        /// The drift really covers the distance to the exact sum, in numbers that round at every step.
        #[test]
        fn drift_covers_the_rounding(seed: u64, updates in 1usize..400) {
            // Every value is a multiple of 2⁻⁶⁰ below 2: sums of them are exact in i128.
            let mut random = Random::new(seed);
            let unit = 2f64.powi(-60);
            let mut theta = Theta::zero(3, 0.0);
            let mut ledger = MistakeLedger::new(&theta);
            let mut exact = [0i128; 3];
            let mut least = f64::MAX;
            for k in 1..=updates {
                let row: Vec<f64> = (0..3)
                    .map(|_| {
                        // 53 significant bits at a random height, so that additions must round.
                        let shift = random.below(8);
                        ((random.next_u64() >> (11 + shift)) as i64 - (1i64 << (52 - shift))) as f64 * unit
                    })
                    .collect();
                let view = Row::DenseF64(&row);
                let agreement = theta.score(view);
                theta.add(1.0, view);
                ledger.record(agreement, view.norm_squared(), 3);
                for (sum, x) in exact.iter_mut().zip(&row) {
                    *sum += (x / unit) as i128;
                }
                let squared: f64 = exact.iter().map(|&sum| (sum as f64 * unit).powi(2)).sum();
                least = least.min(squared.sqrt() / k as f64);
            }
            let off: f64 = exact
                .iter()
                .zip(&theta.weights)
                .map(|(&sum, w)| ((sum - (w / unit) as i128) as f64 * unit).powi(2))
                .sum();
            prop_assert!(off.sqrt() <= ledger.drift, "{} > {}", off.sqrt(), ledger.drift);
            let bound = ledger.upper_bound(&theta, None).unwrap();
            prop_assert!(least * (1.0 - 1e-15) <= bound, "{least} > {bound}");
            // The squares are carried along: rounding shows in them, and most where they happen to be small.
            let loose = least.powi(2) * (1.0 + 1e-9) + 1e-11;
            prop_assert!(bound.powi(2) <= loose, "the bound is loose: {bound} against {least}");
        }

        /// Mixtures in fractions beside mixtures in floats, with steps of any size: the drift covers what was rounded, Σ α
        /// is not above the exact one, and the bound is not below the best exact one of any moment.
        #[test]
        fn drift_covers_the_mixing(seed: u64, shards in 1usize..5, passes in 1usize..12, weighted: bool) {
            let mut random = Random::new(seed);
            let fraction = |x: f64| RBig::try_from(x).unwrap();
            let mut theta = Theta::zero(3, 0.0);
            let mut ledger = MistakeLedger::new(&theta);
            let (mut exact, mut total) = ([RBig::ZERO, RBig::ZERO, RBig::ZERO], RBig::ZERO);
            let mut least: Option<RBig> = None;
            let note = |least: &mut Option<RBig>, exact: &[RBig; 3], total: &RBig| {
                let squares = exact.iter().map(|x| x * x).fold(RBig::ZERO, |sum, x| sum + x);
                let bound = squares / (total * total);
                if least.as_ref().is_none_or(|least| bound < *least) {
                    *least = Some(bound);
                }
            };
            for _ in 0..passes {
                let mut parts = Vec::new();
                for _ in 0..shards {
                    let (mut own, mut own_ledger) = (theta.clone(), ledger);
                    let (mut own_exact, mut own_total) = (exact.clone(), total.clone());
                    for _ in 0..random.below(6) {
                        let row: Vec<f64> = (0..3).map(|_| random.uniform() - 0.25).collect();
                        let size = if weighted { random.uniform() + 0.1 } else { 1.0 };
                        let agreement = own.score(Row::DenseF64(&row));
                        own.add(size, Row::DenseF64(&row));
                        own_ledger.record_step(agreement, Row::DenseF64(&row).norm_squared(), 3, size);
                        for (sum, &x) in own_exact.iter_mut().zip(&row) {
                            *sum += fraction(size) * fraction(x);
                        }
                        own_total += fraction(size);
                        note(&mut least, &own_exact, &own_total);
                    }
                    parts.push((random.below(4), own, own_ledger, own_exact, own_total));
                }
                let counting: Vec<_> = parts.iter().filter(|part| part.0 > 0).collect();
                let whole: u64 = counting.iter().map(|part| part.0).sum();
                let old = theta.clone();
                for j in 0..3 {
                    match counting.as_slice() {
                        [] => {}
                        [only] => theta.weights[j] = only.1.weights[j],
                        all => {
                            let gains = all.iter().map(|part| part.0 as f64 * (part.1.weights[j] - old.weights[j]));
                            theta.weights[j] += gains.sum::<f64>() / whole as f64;
                        }
                    }
                }
                if whole > 0 {
                    let mean = |values: Vec<RBig>| values.into_iter().fold(RBig::ZERO, |a, b| a + b) / RBig::from(whole);
                    exact = std::array::from_fn(|j| {
                        mean(counting.iter().map(|part| RBig::from(part.0) * &part.3[j]).collect())
                    });
                    total = mean(counting.iter().map(|part| RBig::from(part.0) * &part.4).collect());
                }
                let ledgers: Vec<_> = parts.iter().map(|part| (part.0, part.2)).collect();
                ledger.record_mixing(&ledgers, theta.norm().high, 4);
                if total > RBig::ZERO {
                    note(&mut least, &exact, &total);
                }
                let off = exact.iter().zip(&theta.weights).map(|(exact, &w)| exact - fraction(w));
                let off = off.map(|x| &x * &x).fold(RBig::ZERO, |sum, x| sum + x);
                prop_assert!(off <= fraction(ledger.drift) * fraction(ledger.drift), "{ledger:?}");
                prop_assert!(ledger.drift <= 1e-12 && fraction(ledger.total) <= total);
                prop_assert!(fraction(ledger.total) * fraction(1.0 + 1e-12) >= total);
                prop_assert!(ledger.norm_squared() >= theta.norm().low.powi(2));
                // A mixture of shards without updates proves nothing by itself, whatever others have proved.
                if let (Some(least), Some(bound)) = (&least, ledger.upper_bound(&theta, None)) {
                    prop_assert!(fraction(bound) * fraction(bound) >= *least, "{bound} is below {least}");
                    let loose = least.to_f64().value() * (1.0 + 1e-9) + 1e-11;
                    prop_assert!(bound.powi(2) <= loose, "the bound is loose: {bound}² against {loose}");
                }
            }
        }

        /// One more is exact for whole numbers, and never more than one more.
        #[test]
        fn one_more_is_rounded_down(bits: u64, power in 0i32..60, whole in 0u64..1 << 53) {
            let total = (bits >> 11) as f64 * 2f64.powi(-power);
            prop_assert!(RBig::try_from(one_more(total)).unwrap() <= RBig::try_from(total).unwrap() + RBig::ONE);
            prop_assert!(one_more(total) >= total + 1.0 - 2f64.powi(-52) * (total + 1.0));
            prop_assert_eq!(one_more(whole as f64 / 2.0), whole as f64 / 2.0 + 1.0);
        }

        /// After a warm start, ‖θ − θ₀‖ / k is a bound too.
        #[test]
        fn a_warm_start_keeps_an_upper_bound((rows, labels) in grid_rows(), start in prop::collection::vec(-9i32..9, 4)) {
            let data = dataset(&rows, &labels, 0.1);
            let signs: Vec<i8> = labels.iter().map(|&b| if b { 1 } else { -1 }).collect();
            let weights: Vec<f64> = start[..data.columns()].iter().map(|&w| f64::from(w) / 3.0).collect();
            let start = Theta { weights, bias: 0.0, bias_input: 0.0 };
            let mut perceptron = Perceptron::new(start.clone(), MistakeRule::NonPositive);
            let mut ledger = MistakeLedger::new(&start);
            for _ in 0..50 {
                for (i, &sign) in signs.iter().enumerate() {
                    if let Some(agreement) = perceptron.learn(data.row(i), f64::from(sign)) {
                        ledger.record(agreement, data.row(i).norm_squared(), data.columns());
                    }
                }
            }
            if let (Some(lower), Some(upper)) = (
                lower_bound(&data, &signs, &perceptron.theta),
                ledger.upper_bound(&perceptron.theta, Some(&start)),
            ) {
                prop_assert!(lower <= upper);
            }
        }
    }
}

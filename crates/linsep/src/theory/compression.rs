//! Generalisation from few teaching examples, for rows that were drawn independently from one source.
//!
//! The θ of a perceptron from zero is the sum of its mistaken examples, so it is a function of k of the n rows
//! (counted as often as they were mistaken), whatever their order. The rows that were never mistaken took no part in
//! it: each choice of k teaching examples is judged by its others as by fresh rows. A choice is one of C(n+k−1, k),
//! and k one of n numbers, so with probability at least 1 − δ over the rows, for every k < n at once,
//!
//! kl(L_V ‖ p) ≤ (ln C(n+k−1, k) + ln(n/δ)) / |V|,
//!
//! where p is the probability that θ is wrong on a new row, L_V its error on the others V, |V| ≥ n − k, and
//! kl(q ‖ p) = q ln(q/p) + (1−q) ln((1−q)/(1−p)). [`compression_bound`] is the largest such p.
//!
//! It is about the last θ of a perceptron, or any θ on its way (as the pocket keeps). It is not about an average or a
//! vote over a run, which depends on more than the sum of its mistakes. What rounding makes of another order
//! of the sum is left aside.
//!
//! The lecture notes have another formula, the bound of Shalev-Shwartz and Ben-David, *Understanding Machine Learning*,
//! theorem 30.2, which they use with T = 1/γ² for rows of length 1 (and with a sum where the theorem has a product):
//!
//! p ≤ L_V + √(L_V · 4T ln(n/δ)/n) + 8T ln(n/δ)/n for n ≥ 2T.
//!
//! T must be a number that is known before the rows are, and that the teaching examples cannot exceed.
//! Novikoff's theorem says so only when every row that the run learned from has margin γ at least; on other rows the
//! mistakes may be many more, and the formula is false. [`fixed_size_bound`] therefore wants to see the margin.

use super::margin::{Extent, MarginInterval};
use super::rounding::{product_up, root_up, sum_up};
use crate::SettingsError;
use serde::{Deserialize, Serialize};

/// How many mistakes a run learned from, and its errors on the other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compression {
    /// n, all rows.
    pub rows: u64,
    /// k, the mistakes that θ is the sum of: a row counts as often as it was mistaken.
    pub teaching: u64,
    /// |V|, the rows that were never mistaken.
    pub others: u64,
    /// How many of the others θ predicts wrong.
    pub errors: u64,
}

impl Compression {
    /// The record of a run over `rows` rows that mistook `mistakes`, in any order; `is_wrong` tells of a row whether θ
    /// predicts it wrong.
    pub fn of_run(rows: usize, mistakes: &[u32], is_wrong: impl Fn(usize) -> bool) -> Self {
        let mut taught = vec![false; rows];
        mistakes.iter().for_each(|&i| taught[i as usize] = true);
        Self::of_taught(&taught, mistakes.len() as u64, is_wrong)
    }

    /// The same, where `taught` tells of each row whether it was mistaken, and `teaching` how many mistakes were made.
    pub fn of_taught(taught: &[bool], teaching: u64, is_wrong: impl Fn(usize) -> bool) -> Self {
        let others = || (0..taught.len()).filter(|&i| !taught[i]);
        Self {
            rows: taught.len() as u64,
            teaching,
            others: others().count() as u64,
            errors: others().filter(|&i| is_wrong(i)).count() as u64,
        }
    }

    /// L_V, the share of the others that is predicted wrong; none without others.
    pub fn error(&self) -> Option<f64> {
        (self.others > 0).then(|| self.errors as f64 / self.others as f64)
    }
}

/// With probability at least 1 − δ over the rows, θ is wrong on a new row with at most this probability. Rounded up;
/// 1 where there is no bound.
pub fn compression_bound(run: &Compression, delta: f64) -> Result<f64, SettingsError> {
    check_confidence(delta)?;
    let (n, k) = (run.rows as f64, run.teaching as f64);
    if run.teaching >= run.rows || run.others == 0 || run.errors >= run.others {
        return Ok(1.0);
    }
    let choices = sum_up(ln_choices_up(n, k), ln_quotient_up(n, delta));
    let error = if run.errors == 0 { 0.0 } else { (run.errors as f64 / run.others as f64).next_up() };
    Ok(largest_probability(error, (choices / run.others as f64).next_up()))
}

/// The bound of Shalev-Shwartz and Ben-David with T = ⌊(R/γ)²⌋, for a γ (and an R) that was chosen before the rows were seen. Rounded
/// up, at most 1.
///
/// `extent` and `margin` are of the rows that were learned from. `None` unless they are proved to have margin γ at
/// least, there are at least 2T rows in all, and the run has made no more than T mistakes (from zero, it cannot).
pub fn fixed_size_bound(
    run: &Compression,
    extent: &Extent,
    margin: &MarginInterval,
    gamma: f64,
    delta: f64,
) -> Result<Option<f64>, SettingsError> {
    check_confidence(delta)?;
    let Some(error) = run.error().map(f64::next_up) else { return Ok(None) };
    if !(gamma > 0.0 && margin.lower.is_some_and(|lower| lower >= gamma)) {
        return Ok(None);
    }
    // Rounded up before it is rounded down to a whole number: T may be one too large, never too small.
    let ratio = (extent.radius_upper / gamma).next_up();
    let most = (ratio * ratio).next_up().floor();
    if !(2.0 * most <= run.rows as f64 && run.teaching as f64 <= most) {
        return Ok(None);
    }
    let n = run.rows as f64;
    let unit = (product_up(4.0 * most, ln_quotient_up(n, delta)) / n).next_up();
    let bound = sum_up(sum_up(error, root_up(product_up(error, unit))), 2.0 * unit);
    Ok(Some(bound.min(1.0)))
}

/// Checks that 1 − δ is a confidence.
fn check_confidence(delta: f64) -> Result<(), SettingsError> {
    if delta > 0.0 && delta < 1.0 {
        return Ok(());
    }
    Err(SettingsError::new(
        "delta",
        format!(
            "the risk delta is {delta}; it must be above 0, because a sample never makes sure, and below 1, because \
         at 1 anything may be claimed"
        ),
    ))
}

/// ln C(n+k−1, k) for n ≥ 1, rounded up: the number of ways to choose k of n rows, each as often as one likes.
fn ln_choices_up(n: f64, k: f64) -> f64 {
    if k == 0.0 {
        return 0.0;
    }
    let [all, chosen, rest] = [n + k, k + 1.0, n].map(libm::lgamma);
    // Each logarithm is good to a few units in the last place, also after they cancel.
    ((all - chosen - rest).max(0.0) + 32.0 * f64::EPSILON * (all + chosen + rest)).next_up()
}

/// ln(n/δ) for n ≥ 1 > δ, rounded up. A quotient could overflow where its logarithm does not.
fn ln_quotient_up(n: f64, delta: f64) -> f64 {
    let (above, below) = (libm::log(n), libm::log(delta));
    (above - below) * (1.0 + 8.0 * f64::EPSILON)
}

/// The largest p with kl(q ‖ p) ≤ `allowed`, rounded up.
///
/// Above q the divergence rises, so a p where it is certainly too large is a bound; halving finds the least such float.
pub fn largest_probability(q: f64, allowed: f64) -> f64 {
    let (mut low, mut high) = (q, 1.0f64);
    loop {
        let middle = low + (high - low) / 2.0;
        if !(low < middle && middle < high) {
            return high;
        }
        if divergence_down(q, middle) > allowed {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// kl(q ‖ p) for 0 ≤ q < p < 1, rounded down.
fn divergence_down(q: f64, p: f64) -> f64 {
    let hit = if q > 0.0 { q * libm::log(q / p) } else { 0.0 };
    // ln(1 − p) by log1p: for small p, 1 − p has lost most of p.
    let miss = (1.0 - q) * (libm::log1p(-q) - libm::log1p(-p));
    let parts = hit.abs() + (1.0 - q) * (libm::log1p(-q).abs() + libm::log1p(-p).abs());
    hit + miss - 16.0 * f64::EPSILON * (parts + q)
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::random::Random;
    use crate::theory::margin::MarginKind;
    use crate::theta::Theta;
    use crate::train::{MistakeRule, Perceptron};
    use proptest::prelude::*;

    fn divergence(q: f64, p: f64) -> f64 {
        let part = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
        part(q, p) + part(1.0 - q, 1.0 - p)
    }

    /// A run with as many others as can be.
    fn run(rows: u64, teaching: u64, errors: u64) -> Compression {
        Compression { rows, teaching, others: rows.saturating_sub(teaching), errors }
    }

    proptest! {
        /// At the probability found the divergence is what was allowed.
        #[test]
        fn the_inversion_inverts(q in prop_oneof![Just(0.0), 0.0f64..1.0], allowed in 1e-9f64..3.0) {
            let p = largest_probability(q, allowed);
            prop_assert!(p > q || q == 1.0);
            // Nearer to 1 the divergence is so steep that neighbouring floats are far apart.
            if p < 0.999 {
                let found = divergence(q, p);
                prop_assert!((found - allowed).abs() <= 1e-9 * allowed + 1e-14, "{found} {allowed}");
            }
            if q == 0.0 {
                // kl(0 ‖ p) = −ln(1 − p)
                prop_assert!((p - (1.0 - (-allowed).exp())).abs() < 1e-12 && p >= -(-allowed).exp_m1());
            }
        }

        /// More teaching examples, more errors, or less risk: never a smaller bound. And it is never below L_V.
        #[test]
        fn it_grows_with_what_makes_it_worse(
            rows in 1u64..5_000,
            teaching in 0u64..200,
            errors in 0u64..200,
            delta in 1e-9f64..0.9,
        ) {
            let bound = |run: &Compression, delta| compression_bound(run, delta).unwrap();
            let plain = run(rows, teaching, errors);
            let here = bound(&plain, delta);
            prop_assert!((0.0..=1.0).contains(&here));
            prop_assert!(plain.error().is_none_or(|error| error.min(1.0) < here || here == 1.0));
            let more_teaching = Compression { teaching: teaching + 1, ..plain };
            prop_assert!(here <= bound(&more_teaching, delta));
            let more_errors = Compression { errors: errors + 1, ..plain };
            prop_assert!(here <= bound(&more_errors, delta));
            prop_assert!(here <= bound(&plain, delta / 2.0));
            prop_assert!(here <= bound(&run(rows, teaching + 1, errors), delta));
            if teaching >= rows {
                prop_assert_eq!(here, 1.0);
            }
        }

        /// Small binomials are whole numbers: the logarithm is not below theirs, nor much above.
        #[test]
        fn the_choices_are_counted(n in 1u64..40, k in 0u64..20) {
            let choices: u128 = (1..=u128::from(k)).fold(1, |c, i| c * (u128::from(n) + i - 1) / i);
            let found = ln_choices_up(n as f64, k as f64);
            let exact = (choices as f64).ln();
            prop_assert!(found >= exact * (1.0 - 1e-15) && found <= exact + 1e-11, "{found} {exact}");
        }

        /// Whatever the data: the record counts each row once, and the bound is a probability.
        #[test]
        fn any_run_has_a_bound(examples in examples(), passes in 1usize..20, delta in 0.001f64..0.999) {
            let data = examples.dataset();
            let (theta, mistakes) = examples.learn(passes);
            let wrong = |i: usize| (theta.score(data.row(i)) >= 0.0) != (examples.signs[i] > 0);
            let record = Compression::of_run(data.len(), &mistakes, wrong);
            let distinct: std::collections::BTreeSet<u32> = mistakes.iter().copied().collect();
            prop_assert_eq!(record.others as usize, data.len() - distinct.len());
            let all = (0..data.len()).filter(|&i| wrong(i)).count() as u64;
            let taught = distinct.iter().filter(|&&i| wrong(i as usize)).count() as u64;
            prop_assert_eq!(record.errors, all - taught);
            let bound = compression_bound(&record, delta).unwrap();
            prop_assert!(bound > 0.0 && bound <= 1.0);
            prop_assert!(record.error().is_none_or(|error| error <= bound));
            if mistakes.len() >= data.len() {
                prop_assert_eq!(bound, 1.0);
            }
        }
    }

    /// The tail bound under it, with no chance involved: for every p on a grid the binomial probability of
    /// so few errors that p is excluded is summed up, and is at most δ. It comes near δ: the bound is not idle.
    #[test]
    fn the_probability_of_failing_is_at_most_delta() {
        for (n, delta) in [(1u32, 0.3), (7, 0.5), (40, 0.1), (200, 0.01)] {
            let mut worst: f64 = 0.0;
            let allowed = -f64::ln(delta) / f64::from(n);
            let excluded: Vec<f64> = (0..=n)
                .map(|errors| largest_probability(f64::from(errors) / f64::from(n), allowed))
                .collect();
            for step in 1..400 {
                let p = f64::from(step) / 400.0;
                let mut choose = 0.0;
                let mut failing = 0.0;
                for (errors, &bound) in excluded.iter().enumerate() {
                    let k = errors as f64;
                    if errors > 0 {
                        choose += ((f64::from(n) - k + 1.0) / k).ln();
                    }
                    if bound < p {
                        failing += (choose + k * p.ln() + (f64::from(n) - k) * (1.0 - p).ln()).exp();
                    }
                }
                worst = worst.max(failing);
            }
            assert!(worst <= delta && worst > delta / 8.0, "{n} {delta}: {worst}");
        }
    }

    /// Drawn again and again: rows around the origin, labelled by their first coordinate but for one label in ten.
    /// The error of any θ is known by its angle.
    #[test]
    fn drawn_rows_keep_the_bound() {
        let (draws, n, delta, noise) = (300, 120, 0.2, 0.1);
        let (mut failures, mut sum, mut naive) = (0, 0.0, 0);
        for draw in 0..draws {
            let mut random = Random::stream(11, draw);
            let rows: Vec<[f64; 2]> = (0..n).map(|_| [random.normal(), random.normal()]).collect();
            let signs: Vec<i8> = rows
                .iter()
                .map(|x| if (x[0] > 0.0) != (random.uniform() < noise) { 1 } else { -1 })
                .collect();
            let row = |i: usize| crate::dataset::Row::DenseF64(&rows[i]);
            let mut perceptron = Perceptron::new(Theta::zero(2, 0.0), MistakeRule::NonPositive);
            let mistakes: Vec<u32> = (0..n)
                .filter(|&i| perceptron.learn(row(i), f64::from(signs[i])).is_some())
                .map(|i| i as u32)
                .collect();
            let theta = &perceptron.theta;
            let record =
                Compression::of_run(n, &mistakes, |i| (theta.score(row(i)) >= 0.0) != (signs[i] > 0));
            let angle = theta.weights[1].abs().atan2(theta.weights[0]);
            let truth = noise + (1.0 - 2.0 * noise) * angle / std::f64::consts::PI;
            let bound = compression_bound(&record, delta).unwrap();
            failures += u32::from(truth > bound);
            // What the others say of θ without paying for the choice of its teachers.
            naive += u32::from(
                truth > largest_probability(record.error().unwrap(), -delta.ln() / record.others as f64),
            );
            sum += bound;
        }
        assert!(f64::from(failures) <= delta * draws as f64, "{failures}");
        // The bound says something here, and what it pays for the choice is needed.
        assert!(sum / (draws as f64) < 0.95, "{}", sum / draws as f64);
        assert!(f64::from(naive) > delta * draws as f64, "{naive}");
    }

    #[test]
    fn the_formula_of_the_notes_wants_its_condition() {
        let extent = Extent { radius_lower: 1.0, radius_upper: 1.0, shortest: 0.5, shortest_nonzero: 0.5 };
        let margin = |lower| MarginInterval { lower, upper: 0.9, kind: MarginKind::ThroughOrigin };
        let record = run(100_000, 3, 0);
        let bound = |run: &Compression, lower, gamma| {
            fixed_size_bound(run, &extent, &margin(lower), gamma, 0.05).unwrap()
        };
        // T = 25: 200 ln(100000/0.05)/100000 with no error.
        let found = bound(&record, Some(0.2), 0.19999).unwrap();
        assert!((found - 200.0 * (100_000f64 / 0.05).ln() / 1e5).abs() < 1e-9, "{found}");
        assert_eq!(bound(&record, None, 0.2), None);
        assert_eq!(bound(&record, Some(0.1), 0.2), None);
        assert_eq!(bound(&record, Some(0.1), 0.0), None);
        // Fewer rows than 2T, and more mistakes than Novikoff's theorem allows.
        assert_eq!(bound(&run(49, 3, 0), Some(0.2), 0.2), None);
        assert_eq!(bound(&run(100_000, 26, 0), Some(0.2), 0.2), None);
        // The other bound is sharper, as it should be.
        assert!(compression_bound(&record, 0.05).unwrap() < found / 50.0);
        let worse = bound(&run(100_000, 3, 1_000), Some(0.2), 0.2).unwrap();
        assert!(worse > found + 0.01, "{worse}");
    }

    #[test]
    fn no_confidence_is_refused() {
        let extent = Extent::default();
        let margin = MarginInterval { lower: None, upper: 1.0, kind: MarginKind::ThroughOrigin };
        for delta in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            let plain = compression_bound(&run(10, 1, 0), delta).unwrap_err();
            assert!(plain.problem.contains("above 0") && plain.problem.contains("below 1"), "{plain}");
            assert_eq!(fixed_size_bound(&run(10, 1, 0), &extent, &margin, 1.0, delta), Err(plain));
        }
        assert!(compression_bound(&run(1_000_000, 1, 0), 5e-324).unwrap() < 0.01);
    }
}

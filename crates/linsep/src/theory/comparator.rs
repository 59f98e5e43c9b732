//! The bound on mistakes when the data is not separable.
//!
//! Let a perceptron start at θ = 0 and make M mistakes in T rounds, and let v be any weights (v = u/γ for a
//! direction u and a margin γ). The hinge loss of v on an example is max(0, 1 − ⟨v, z_t⟩). Every mistake has
//! ⟨v, z_t⟩ ≥ 1 − hinge and adds at most ‖x̃_t‖² to ‖θ‖², so with both sums over the mistakes alone
//!
//! M ≤ Σ hinge + ‖v‖ √Σ ‖x̃_t‖².
//!
//! This is the form of the lecture notes on the perceptron. It is true for every v, but its infimum is always M itself (v → 0 makes every
//! hinge 1), and it needs the mistakes to be known. So it is of use for a *given* v only. A bound that
//! is known beforehand takes the sums over all T rounds: with ρ = R‖v‖, L₁ = Σ hinge and L₂ = √Σ hinge²,
//!
//! M ≤ (ρ/2 + √(ρ²/4 + L₁))² and M ≤ (ρ + L₂)².
//!
//! Both hold for any order. For a v with no hinge loss they are Novikoff's bound.

use super::margin::{Extent, certain_agreement};
use super::rounding::{product_up, root_up, square_up, sum_and_norm_up, sum_up};
use crate::dataset::{Dataset, Row};
use crate::theta::Theta;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The bounds that a given v proves for the mistakes of a perceptron that starts at zero. All numbers are rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparatorBound {
    /// T, the rows times the passes: more mistakes cannot be made anyway.
    pub rounds: u64,
    /// ρ = R‖v‖
    pub rho: f64,
    /// L₁, the sum of the hinge losses of v over all rounds.
    pub hinge_sum: f64,
    /// L₂, the root of the sum of their squares.
    pub hinge_norm: f64,
    /// (ρ/2 + √(ρ²/4 + L₁))²
    pub first_form: f64,
    /// (ρ + L₂)²
    pub second_form: f64,
}

impl ComparatorBound {
    /// The smaller of the two forms: no more mistakes are made.
    pub fn best(&self) -> f64 {
        self.first_form.min(self.second_form)
    }

    /// Whether it is below the number of rounds.
    pub fn is_informative(&self) -> bool {
        self.best() < self.rounds as f64
    }
}

/// Both forms for `v` over `passes` passes through the rows, or `None` if they overflow.
pub fn comparator_bound(data: &Dataset, signs: &[i8], v: &Theta, passes: u64) -> Option<ComparatorBound> {
    let (sum, norm) = sum_and_norm_up(data.len(), |i| hinge(v, data.row(i), signs[i]));
    let repeats = (passes as f64).next_up();
    let hinge_sum = if passes == 1 { sum } else { product_up(sum, repeats) };
    let hinge_norm = if passes == 1 { norm } else { product_up(norm, root_up(repeats)) };
    let rho = product_up(Extent::of(data, v.bias_input).radius_upper, length(v));
    let half = rho / 2.0;
    let bound = ComparatorBound {
        rounds: (data.len() as u64).saturating_mul(passes),
        rho,
        hinge_sum,
        hinge_norm,
        first_form: square_up(sum_up(half, root_up(sum_up(square_up(half), hinge_sum)))),
        second_form: square_up(sum_up(rho, hinge_norm)),
    };
    (bound.first_form.is_finite() && bound.second_form.is_finite()).then_some(bound)
}

/// The form with sums over the mistakes alone, Σ hinge + ‖v‖ √Σ ‖x̃‖² over the rows that were mistaken, each as often as it was: not
/// below their number. `None` if it is beyond all floats.
pub fn mistakes_form(data: &Dataset, signs: &[i8], v: &Theta, mistakes: &[u32]) -> Option<f64> {
    let row = |k: usize| data.row(mistakes[k] as usize);
    let (hinges, _) = sum_and_norm_up(mistakes.len(), |k| hinge(v, row(k), signs[mistakes[k] as usize]));
    let (_, root) = sum_and_norm_up(mistakes.len(), |k| {
        let mut extent = Extent::default();
        extent.include(row(k), v.bias_input);
        extent.radius_upper
    });
    let bound = sum_up(hinges, product_up(length(v), root));
    bound.is_finite().then_some(bound)
}

/// The hinge loss max(0, 1 − ⟨v, z⟩), rounded up; infinite where the agreement is beyond all floats.
fn hinge(v: &Theta, row: Row<'_>, sign: i8) -> f64 {
    let agreement = certain_agreement(v, row, sign);
    if agreement.is_nan() {
        f64::INFINITY
    } else if agreement >= 1.0 {
        0.0
    } else {
        (1.0 - agreement).next_up()
    }
}

/// ‖v‖, rounded up; 0 for v = 0.
fn length(v: &Theta) -> f64 {
    let zero = v.bias == 0.0 && v.weights.iter().all(|&w| w == 0.0);
    if zero { 0.0 } else { v.norm().high }
}

/// A comparator v = scale · θ with what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaledComparator {
    /// The factor of θ.
    pub scale: f64,
    /// The bound that v proves.
    pub bound: ComparatorBound,
}

/// The best multiples of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestScalings {
    /// The multiple that makes the first form small.
    pub first: ScaledComparator,
    /// The multiple that makes the second form small.
    pub second: ScaledComparator,
}

impl BestScalings {
    /// The one that proves more.
    pub fn best(&self) -> &ScaledComparator {
        if self.first.bound.best() <= self.second.bound.best() { &self.first } else { &self.second }
    }
}

/// Searches the multiples of `theta` for the best v of each form. Every multiple gives true bounds, so the search
/// may be rough: what it finds is then judged with care. `None` if the numbers are beyond all floats.
pub fn best_scalings(data: &Dataset, signs: &[i8], theta: &Theta, passes: u64) -> Option<BestScalings> {
    let profile = HingeProfile::new(data, signs, theta, passes)?;
    let judged = |scale: f64| {
        let bound = comparator_bound(data, signs, &scaled(theta, scale), passes)?;
        Some(ScaledComparator { scale, bound })
    };
    Some(BestScalings {
        first: judged(profile.best_for_first())?,
        second: judged(profile.best_for_second())?,
    })
}

/// scale · θ
pub fn scaled(theta: &Theta, scale: f64) -> Theta {
    Theta {
        weights: theta.weights.iter().map(|w| w * scale).collect(),
        bias: theta.bias * scale,
        bias_input: theta.bias_input,
    }
}

/// The agreements of a direction, sorted and summed so that both forms of any multiple take O(log n), not rounded
/// in any direction.
pub(super) struct HingeProfile {
    /// a_t(θ) / (R‖θ‖), from the smallest to the largest.
    agreements: Vec<f64>,
    /// Their sums and sums of squares, before each.
    sums: Vec<(f64, f64)>,
    passes: f64,
    /// R‖θ‖, or 1 if that is zero.
    reach: f64,
}

impl HingeProfile {
    /// `None` if R‖θ‖ is beyond all floats.
    pub(super) fn new(data: &Dataset, signs: &[i8], theta: &Theta, passes: u64) -> Option<Self> {
        let reach = Extent::of(data, theta.bias_input).radius_upper * length(theta);
        if !reach.is_finite() {
            return None;
        }
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let mut agreements: Vec<f64> = (0..data.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|i| f64::from(signs[i]) * theta.score(data.row(i)) / reach)
            .collect();
        agreements.par_sort_unstable_by(f64::total_cmp);
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for a in &agreements {
            sum += a;
            squares += a * a;
            sums.push((sum, squares));
        }
        Some(Self { agreements, sums, passes: passes as f64, reach })
    }

    /// About L₁ and L₂² of the multiple with ρ = `rho`.
    fn hinges(&self, rho: f64) -> (f64, f64) {
        let active = self.agreements.partition_point(|a| a * rho < 1.0);
        let (count, (sum, squares)) = (active as f64, self.sums[active]);
        let hinge_sum = count - rho * sum;
        let hinge_squares = count - 2.0 * rho * sum + rho * rho * squares;
        (self.passes * hinge_sum.max(0.0), self.passes * hinge_squares.max(0.0))
    }

    /// A multiple that makes the first form small.
    pub(super) fn best_for_first(&self) -> f64 {
        self.search(|rho, (sum, _)| rho / 2.0 + (rho * rho / 4.0 + sum).sqrt())
    }

    /// A multiple that makes the second form small.
    pub(super) fn best_for_second(&self) -> f64 {
        self.search(|rho, (_, squares)| rho + squares.sqrt())
    }

    /// Thirds the range of ln ρ until it is a point. Both forms fall and then rise: the second is convex in ρ, and
    /// the first is at most s where s² − ρs − L₁(ρ) ≥ 0, which is concave in ρ.
    ///
    /// Above ρ = √T both forms exceed T. Far below 1 no hinge is far from 1, and both are nearly T.
    fn search(&self, form: impl Fn(f64, (f64, f64)) -> f64) -> f64 {
        let rounds = self.agreements.len() as f64 * self.passes;
        let (mut low, mut high) = (libm::log(1e-6), libm::log(rounds.max(1.0)) / 2.0);
        let at = |place: f64| {
            let rho = libm::exp(place);
            form(rho, self.hinges(rho))
        };
        for _ in 0..THIRDINGS {
            let third = (high - low) / 3.0;
            if at(low + third) <= at(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        libm::exp((low + high) / 2.0) / self.reach
    }
}

/// Enough to come from the widest range to neighbouring floats.
const THIRDINGS: usize = 100;

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::super::novikoff::mistake_bound;
    use super::*;
    use crate::random::Random;
    use crate::theory::margin::{MarginInterval, MarginKind, least_agreement, lower_bound};
    use proptest::prelude::*;

    proptest! {
        /// Whatever the data and whatever v: a perceptron never makes more mistakes than any form allows.
        #[test]
        fn no_form_is_exceeded(
            examples in examples(),
            weights in prop::collection::vec(-9i32..10, 4),
            passes in 1u64..30,
            rho in prop_oneof![Just(0.0), 0.01f64..1.0, 1.0f64..20.0],
        ) {
            let data = examples.dataset();
            let (learned, mistakes) = examples.learn(passes as usize);
            for direction in [examples.theta(&weights), learned] {
                let v = scaled(&direction, rho / examples.scale / direction.norm().high.max(1e-200));
                let bound = comparator_bound(&data, &examples.signs, &v, passes).unwrap();
                prop_assert_eq!(bound.rounds, passes * data.len() as u64);
                prop_assert!(mistakes.len() as f64 <= bound.first_form, "{bound:?}");
                prop_assert!(mistakes.len() as f64 <= bound.second_form, "{bound:?}");
                let of_notes = mistakes_form(&data, &examples.signs, &v, &mistakes).unwrap();
                prop_assert!(mistakes.len() as f64 <= of_notes);
                // Every mistake is a round, and ‖x̃‖ ≤ R: the form over the mistakes alone is within the first one.
                let wider = bound.hinge_sum + bound.rho * (mistakes.len() as f64).sqrt();
                prop_assert!(of_notes <= wider * (1.0 + 1e-12) + 1e-12, "{of_notes} > {wider}");
            }
        }

        /// The hinge losses again, in whole numbers: v and the rows are whole, so every loss is too.
        #[test]
        fn the_sums_are_those_of_the_losses(
            rows in prop::collection::vec((prop::collection::vec(-5i32..6, 2), any::<bool>()), 1..30),
            v in prop::collection::vec(-5i32..6, 2),
            passes in 1i64..5,
        ) {
            let values: Vec<f64> = rows.iter().flat_map(|(x, _)| x.iter().map(|&x| f64::from(x))).collect();
            let signs: Vec<i8> = rows.iter().map(|(_, up)| if *up { 1 } else { -1 }).collect();
            let labels: Vec<String> = signs.iter().map(i8::to_string).collect();
            let data = Dataset::dense(2, &values, &labels).unwrap();
            let hinges: Vec<i64> = rows
                .iter()
                .zip(&signs)
                .map(|((x, _), &y)| 1 - i64::from(y) * i64::from(x[0] * v[0] + x[1] * v[1]))
                .map(|hinge| hinge.max(0))
                .collect();
            let sum = (passes * hinges.iter().sum::<i64>()) as f64;
            let squares = (passes * hinges.iter().map(|h| h * h).sum::<i64>()) as f64;
            let theta = Theta { weights: v.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let bound = comparator_bound(&data, &signs, &theta, passes as u64).unwrap();
            prop_assert!(sum <= bound.hinge_sum && bound.hinge_sum <= sum * (1.0 + 1e-12) + 1e-12);
            let root = squares.sqrt();
            prop_assert!(root <= bound.hinge_norm && bound.hinge_norm <= root * (1.0 + 1e-12) + 1e-12);
            let longest = rows.iter().map(|(x, _)| x[0] * x[0] + x[1] * x[1]).max().unwrap();
            let rho = f64::from(longest * (v[0] * v[0] + v[1] * v[1])).sqrt();
            prop_assert!(rho <= bound.rho && bound.rho <= rho * (1.0 + 1e-12) + 1e-150);
        }

        /// The search finds about the best of many multiples, for each form.
        #[test]
        fn no_multiple_on_a_grid_is_much_better(
            examples in examples(),
            weights in prop::collection::vec(-9i32..10, 4),
            passes in 1u64..50,
        ) {
            let data = examples.dataset();
            let theta = examples.theta(&weights);
            let found = best_scalings(&data, &examples.signs, &theta, passes).unwrap();
            prop_assert!(found.best().bound.best() <= found.second.bound.best());
            prop_assert!(found.best().bound.best() <= found.first.bound.best());
            let profile = HingeProfile::new(&data, &examples.signs, &theta, passes).unwrap();
            for step in 0..60 {
                let scale = 0.002 * 1.2f64.powi(step) / profile.reach;
                let bound = comparator_bound(&data, &examples.signs, &scaled(&theta, scale), passes).unwrap();
                prop_assert!(found.first.bound.first_form <= bound.first_form * (1.0 + 1e-6), "{found:?} {bound:?}");
                prop_assert!(found.second.bound.second_form <= bound.second_form * (1.0 + 1e-6), "{found:?} {bound:?}");
            }
        }

        /// A separator, scaled to have no loss, gives Novikoff's bound by both forms.
        #[test]
        fn without_loss_it_is_novikoffs_bound(examples in examples()) {
            let data = examples.dataset();
            let (theta, _) = examples.learn(200);
            let Some(lower) = lower_bound(&data, &examples.signs, &theta) else {
                // Not separated: some loss is left at every multiple.
                let found = best_scalings(&data, &examples.signs, &theta, 1).unwrap();
                prop_assert!(found.best().bound.hinge_sum > 0.0);
                return Ok(());
            };
            prop_assert!(!examples.are_hopeless());
            let extent = Extent::of(&data, examples.bias_input);
            let margin = MarginInterval { lower: Some(lower), upper: extent.shortest, kind: MarginKind::AppendedBias };
            let novikoff = mistake_bound(&extent, &margin).upper.unwrap();
            // By a power of two, so that v separates exactly as θ does, be the margin ever so thin.
            let least = least_agreement(&data, &examples.signs, &theta).unwrap();
            let v = scaled(&theta, libm::scalbn(1.0, -libm::ilogb(least)));
            let bound = comparator_bound(&data, &examples.signs, &v, 1_000_000).unwrap();
            prop_assert_eq!(bound.hinge_sum, 0.0);
            for form in [bound.first_form, bound.second_form] {
                prop_assert!((form / bound.rho.powi(2) - 1.0).abs() < 1e-12, "{bound:?}");
                prop_assert!((0.999..4.001).contains(&(form / novikoff)), "{bound:?} {novikoff}");
            }
        }
    }

    /// Many rows, a good direction, one label in twenty wrong: the bound says something that no pass contradicts.
    #[test]
    fn a_good_direction_on_noisy_rows_is_informative() {
        let mut random = Random::new(3);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..9_000 {
            let side = if random.below(2) == 0 { 1.0 } else { -1.0 };
            values.extend([side * (1.0 + random.uniform()), random.uniform() - 0.5]);
            let told = if random.below(20) == 0 { -side } else { side };
            labels.push(if told > 0.0 { "1" } else { "0" });
        }
        let data = Dataset::dense(2, &values, &labels).unwrap();
        let signs: Vec<i8> = data.labels().iter().map(|&label| if label == 1 { 1 } else { -1 }).collect();
        let theta = Theta { weights: vec![5.0, 0.0], bias: 0.0, bias_input: 0.0 };
        let found = best_scalings(&data, &signs, &theta, 1).unwrap();
        assert!(found.best().bound.is_informative(), "{found:?}");
        // v = 0 is the comparator that says nothing: every hinge is 1.
        let nothing = comparator_bound(&data, &signs, &Theta::zero(2, 0.0), 1).unwrap();
        assert_eq!((nothing.rounds, nothing.hinge_sum.round(), nothing.rho), (9_000, 9_000.0, 0.0));
        assert!(!nothing.is_informative());
        let beyond = Theta { weights: vec![1e300, 1e300], bias: 0.0, bias_input: 0.0 };
        assert_eq!(comparator_bound(&data, &signs, &beyond, 1), None);
        assert_eq!(best_scalings(&data, &signs, &beyond, 1), None);
    }
}

//! The lifting lemma: with one coordinate more for each example, any data is separable.
//!
//! Lift x̃_i to [a x̃_i; √(1−a²) e_i] for 0 < a < 1. Let ‖w‖ = 1, γ > 0 and ℓ_i = max(0, γ − ⟨w, z_i⟩), what
//! example i lacks of the margin γ. Then [w; a/√(1−a²) · (y_i ℓ_i)_i] has agreement at least aγ with every lifted
//! example, so with D = √Σ ℓ_i² the lifted data has margin at least
//!
//! aγ / √(1 + a²/(1−a²) D²).
//!
//! A lifted example is no longer than √(a²R² + 1 − a²). By Novikoff's theorem a perceptron on the lifted data makes
//! at most (a²R² + 1 − a²)(1 + a²/(1−a²) D²) / (a²γ²) mistakes. With t = a²/(1−a²) this is
//! (R² + D² + t R²D² + 1/t) / γ², which is least at t = 1/(RD), that is a² = 1/(1 + RD), where it is ((R + D)/γ)².
//!
//! The last is the second form of [`comparator`](super::comparator) for v = w/γ and one pass. The lifted perceptron keeps
//! it for any number of passes, because it converges.

use super::comparator::HingeProfile;
use super::margin::{Extent, certain_agreement, quotient_down, quotient_up};
use super::rounding::{product_up, root_up, square_up, sum_and_norm_up, sum_up};
use crate::SettingsError;
use crate::dataset::Dataset;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// The numbers of the lemma for a direction w and a margin γ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lifting {
    /// γ
    pub gamma: f64,
    /// R, rounded up.
    pub radius: f64,
    /// D = √Σ ℓ_i², rounded up: 0 if w has margin γ on the data as it is.
    pub slack_norm: f64,
}

/// The lemma for w = θ/‖θ‖ and `gamma`; `None` if θ = 0, which has no direction, or if the numbers
/// overflow.
pub fn lifting(
    data: &Dataset,
    signs: &[i8],
    theta: &Theta,
    gamma: f64,
) -> Result<Option<Lifting>, SettingsError> {
    if !(gamma > 0.0 && gamma.is_finite()) {
        return Err(SettingsError::new(
            "lift",
            format!("the margin is {gamma}; it must be a number above 0, because no bound divides by less"),
        ));
    }
    let norm = theta.norm();
    if norm.low == 0.0 || !norm.high.is_finite() {
        return Ok(None);
    }
    let slack = |i: usize| {
        let agreement = certain_agreement(theta, data.row(i), signs[i]);
        // A number that ⟨w, z_i⟩ is certainly not below.
        let along = if agreement > 0.0 {
            quotient_down(agreement, norm.high)
        } else {
            -quotient_up(-agreement, norm.low)
        };
        if along.is_nan() {
            f64::INFINITY
        } else if along >= gamma {
            0.0
        } else {
            (gamma - along).next_up()
        }
    };
    let (_, slack_norm) = sum_and_norm_up(data.len(), slack);
    let radius = Extent::of(data, theta.bias_input).radius_upper;
    Ok((slack_norm.is_finite() && radius.is_finite()).then_some(Lifting { gamma, radius, slack_norm }))
}

/// The margin γ at which the direction of `theta` promises the fewest mistakes, about: the one that makes
/// (R + D(γ))/γ least. Every γ gives a true bound, so the search may be rough. `None` as in [`lifting`].
pub fn best_gamma(data: &Dataset, signs: &[i8], theta: &Theta) -> Option<f64> {
    let norm = theta.norm();
    if norm.low == 0.0 {
        return None;
    }
    // w/γ = cθ: the c that is best for the second form of the comparator bound.
    let scale = HingeProfile::new(data, signs, theta, 1)?.best_for_second();
    let gamma = 1.0 / (scale * norm.high);
    (gamma > 0.0 && gamma.is_finite()).then_some(gamma)
}

/// The lemma for the direction of `theta` and its best γ.
pub fn best_lifting(data: &Dataset, signs: &[i8], theta: &Theta) -> Option<Lifting> {
    lifting(data, signs, theta, best_gamma(data, signs, theta)?).ok().flatten()
}

impl Lifting {
    /// The a that promises the fewest mistakes, a² = 1/(1 + RD), as near to it as floats above 0 and below 1 come.
    ///
    /// Without slack the bound falls until a = 1, which is no lifting at all.
    pub fn best_a(&self) -> f64 {
        let a = (1.0 / (1.0 + self.radius * self.slack_norm)).sqrt();
        a.clamp(f64::MIN_POSITIVE, 1.0f64.next_down())
    }

    /// The lifted data has at least this margin; rounded down.
    pub fn margin_at(&self, a: f64) -> Result<f64, SettingsError> {
        let odds = Odds::of(a)?;
        let stretch = root_up(sum_up(1.0, product_up(odds.high, square_up(self.slack_norm))));
        Ok(quotient_down((a * self.gamma).next_down().max(0.0), stretch))
    }

    /// No lifted example is longer than this; rounded up.
    pub fn radius_at(&self, a: f64) -> Result<f64, SettingsError> {
        check(a)?;
        // 1 − a² ≤ (1 − a)(1 + a) with each factor rounded up; the first is exact for a ≥ 1/2.
        let rest = product_up((1.0 - a).next_up(), (1.0 + a).next_up());
        Ok(root_up(sum_up(square_up(product_up(a, self.radius)), rest)))
    }

    /// No perceptron from zero makes more mistakes on the data lifted with `a`; rounded up, and infinite if it is
    /// beyond all floats.
    pub fn mistake_bound_at(&self, a: f64) -> Result<f64, SettingsError> {
        Ok(self.mistake_bound_for(Odds::of(a)?))
    }

    /// The same for a lift that is given as q = (1−a²)/a², which says more about an a near 1 than a itself.
    pub(crate) fn mistake_bound_for_share(&self, q: f64) -> f64 {
        let odds = 1.0 / q;
        self.mistake_bound_for(Odds { low: odds.next_down().max(f64::from_bits(1)), high: odds.next_up() })
    }

    fn mistake_bound_for(&self, odds: Odds) -> f64 {
        let (radius, slack) = (self.over_gamma(self.radius), self.over_gamma(self.slack_norm));
        // R²D²/γ² and 1/(tγ²) as squares of quotients, which overflow later than quotients of squares.
        let both = product_up(self.radius, slack);
        let rest = quotient_up(root_up(quotient_up(1.0, odds.low)), self.gamma);
        let mixed = product_up(product_up(odds.high, both), both);
        let bound =
            [square_up(radius), square_up(slack), mixed, square_up(rest)].into_iter().fold(0.0, sum_up);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// ((R + D)/γ)², the bound for the best a; rounded up.
    pub fn best_bound(&self) -> f64 {
        square_up(self.over_gamma(sum_up(self.radius, self.slack_norm)))
    }

    fn over_gamma(&self, length: f64) -> f64 {
        if length == 0.0 { 0.0 } else { quotient_up(length, self.gamma) }
    }
}

/// An interval that contains t = a²/(1−a²).
struct Odds {
    low: f64,
    high: f64,
}

impl Odds {
    fn of(a: f64) -> Result<Self, SettingsError> {
        check(a)?;
        // a/(1−a) · a/(1+a): four operations, and 1 − a loses nothing that counts.
        let odds = a / (1.0 - a) * (a / (1.0 + a));
        let rounding_error = 8.0 * f64::EPSILON;
        let least = f64::from_bits(1);
        Ok(Self {
            low: (odds * (1.0 - rounding_error)).max(least),
            high: odds * (1.0 + rounding_error) + f64::MIN_POSITIVE,
        })
    }
}

/// Checks that rows can be lifted with `a`.
fn check(a: f64) -> Result<(), SettingsError> {
    if a > 0.0 && a < 1.0 {
        return Ok(());
    }
    Err(SettingsError::new(
        "lift",
        format!(
            "the lifting weight is {a}; it must be above 0, so that the rows count, and below 1, so that their own \
         coordinates do"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::adversary::{Examples, examples};
    use super::*;
    use crate::theory::comparator::{comparator_bound, scaled};
    use proptest::prelude::*;

    /// The lifted rows themselves, with n columns more.
    fn lifted(examples: &Examples, a: f64) -> Examples {
        let n = examples.rows.len();
        let rows = examples.rows.iter().enumerate().map(|(i, row)| {
            let bias = (examples.bias_input != 0.0).then_some(examples.bias_input);
            let own = (0..n).map(|j| if j == i { ((1.0 - a) * (1.0 + a)).sqrt() } else { 0.0 });
            row.iter().copied().chain(bias).map(|x| a * x).chain(own).collect()
        });
        Examples {
            rows: rows.collect(),
            signs: examples.signs.clone(),
            scale: examples.scale,
            bias_input: 0.0,
        }
    }

    /// Direction, margin in units of the radius, and a.
    fn choices() -> impl Strategy<Value = (Vec<i32>, Option<f64>, f64)> {
        let weights = prop::collection::vec(-9i32..10, 4);
        (weights, prop::option::of(0.05f64..2.0), prop_oneof![0.01f64..0.99, Just(1e-9), Just(1.0 - 1e-9)])
    }

    proptest! {
        /// The lemma's separator, built with all its coordinates: it has the promised margin, and the rows the
        /// promised length.
        #[test]
        fn the_separator_of_the_lemma_has_the_margin(examples in examples(), (weights, gamma, a) in choices()) {
            let data = examples.dataset();
            let theta = examples.theta(&weights);
            let norm = theta.norm().high;
            prop_assume!(norm > 0.5);
            let gamma = gamma.map_or_else(|| best_gamma(&data, &examples.signs, &theta).unwrap(), |g| g * examples.scale);
            let lifting = lifting(&data, &examples.signs, &theta, gamma).unwrap().unwrap();
            let b = ((1.0 - a) * (1.0 + a)).sqrt();
            let slacks: Vec<f64> = (0..data.len())
                .map(|i| (gamma - f64::from(examples.signs[i]) * theta.score(data.row(i)) / norm).max(0.0))
                .collect();
            let slack_norm = slacks.iter().map(|l| l * l).sum::<f64>().sqrt();
            prop_assert!((lifting.slack_norm - slack_norm).abs() <= 1e-12 * (slack_norm + lifting.radius + gamma));

            let bias = (examples.bias_input != 0.0).then_some(theta.bias);
            let extra = slacks.iter().zip(&examples.signs).map(|(l, &y)| a / b * f64::from(y) * l);
            let weights = theta.weights.iter().copied().chain(bias).map(|w| w / norm).chain(extra).collect();
            let separator = Theta { weights, bias: 0.0, bias_input: 0.0 };
            let tall = lifted(&examples, a);
            let rows = tall.dataset();
            let (promised, longest) = (lifting.margin_at(a).unwrap(), lifting.radius_at(a).unwrap());
            let tolerance = 1e-11 * (longest + lifting.radius);
            for (i, &sign) in tall.signs.iter().enumerate() {
                let along = f64::from(sign) * separator.score(rows.row(i)) / separator.norm().low;
                prop_assert!(along >= promised - tolerance, "{along} < {promised}");
                prop_assert!(rows.row(i).norm_squared().sqrt() <= longest * (1.0 + 1e-12));
            }
            prop_assert!(promised >= 0.0 && promised <= gamma);
        }

        /// A perceptron on the lifted rows themselves never exceeds the bound, and so converges, whatever the rows.
        #[test]
        fn a_lifted_perceptron_never_exceeds_the_bound(examples in examples(), (weights, gamma, a) in choices()) {
            let data = examples.dataset();
            // Half the time the direction is one that was learned.
            let theta = if weights[0] % 2 == 0 { examples.theta(&weights) } else { examples.learn(20).0 };
            prop_assume!(theta.norm().low > 0.0);
            let gamma = gamma.map_or_else(|| best_gamma(&data, &examples.signs, &theta).unwrap(), |g| g * examples.scale);
            let lifting = lifting(&data, &examples.signs, &theta, gamma).unwrap().unwrap();
            for a in [a, lifting.best_a()] {
                let bound = lifting.mistake_bound_at(a).unwrap();
                prop_assert!(bound >= 1.0, "{bound}");
                let passes = 300;
                let (_, mistakes) = lifted(&examples, a).learn(passes);
                prop_assert!(mistakes.len() as f64 <= bound * (1.0 + 1e-9), "{} > {bound}", mistakes.len());
            }
        }

        /// No a on a grid promises less than the best one, whose promise is the formula's, and each promise is
        /// Novikoff's for the margin and radius that go with it.
        #[test]
        fn the_best_a_is_the_best(examples in examples(), (weights, gamma, a) in choices()) {
            let data = examples.dataset();
            let theta = examples.theta(&weights);
            prop_assume!(theta.norm().low > 0.0);
            let gamma = gamma.map_or_else(|| best_gamma(&data, &examples.signs, &theta).unwrap(), |g| g * examples.scale);
            let lifting = lifting(&data, &examples.signs, &theta, gamma).unwrap().unwrap();
            let best = lifting.best_bound();
            let grid = (1..100).map(|k| f64::from(k) / 100.0).chain([a, 1e-6, 1.0 - 1e-6]);
            for a in grid {
                let bound = lifting.mistake_bound_at(a).unwrap();
                prop_assert!(best <= bound * (1.0 + 1e-12), "{best} > {bound}");
                let novikoff = (lifting.radius_at(a).unwrap() / lifting.margin_at(a).unwrap()).powi(2);
                prop_assert!((bound / novikoff - 1.0).abs() < 1e-9 || !novikoff.is_finite(), "{bound} {novikoff}");
            }
            // Where the best a is well inside (0, 1), its bound is the formula's.
            let product = lifting.radius * lifting.slack_norm;
            let reached = lifting.mistake_bound_at(lifting.best_a()).unwrap();
            if (1e-6..1e200).contains(&product) {
                prop_assert!((reached / best - 1.0).abs() < 1e-9, "{reached} {best}");
            } else {
                prop_assert!(reached >= best * (1.0 - 1e-12));
            }
        }

        /// No γ on a grid promises much less than the best one, and its bound is the second form of the comparator bound.
        #[test]
        fn the_best_gamma_is_about_the_best(examples in examples(), weights in prop::collection::vec(-9i32..10, 4)) {
            let data = examples.dataset();
            let theta = examples.theta(&weights);
            prop_assume!(theta.norm().low > 0.0);
            let best = best_lifting(&data, &examples.signs, &theta).unwrap();
            for step in -20..40 {
                let gamma = examples.scale * 1.3f64.powi(step);
                let other = lifting(&data, &examples.signs, &theta, gamma).unwrap().unwrap();
                prop_assert!(best.best_bound() <= other.best_bound() * (1.0 + 1e-3), "{best:?} {other:?}");
            }
            let v = scaled(&theta, 1.0 / (best.gamma * theta.norm().high));
            let form = comparator_bound(&data, &examples.signs, &v, 1).unwrap().second_form;
            prop_assert!((form / best.best_bound() - 1.0).abs() < 1e-9, "{form} {best:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let data = Dataset::dense(1, &[1.0, 1.0], &["a", "b"]).unwrap();
        let theta = Theta { weights: vec![1.0], bias: 0.0, bias_input: 0.0 };
        for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(lifting(&data, &[-1, 1], &theta, gamma).is_err(), "{gamma}");
        }
        assert_eq!(lifting(&data, &[-1, 1], &Theta::zero(1, 0.0), 1.0), Ok(None));
        assert_eq!(best_gamma(&data, &[-1, 1], &Theta::zero(1, 0.0)), None);
        let found = lifting(&data, &[-1, 1], &theta, 1.0).unwrap().unwrap();
        assert!(
            (found.slack_norm - 2.0).abs() < 1e-14 && (found.best_a() - (1f64 / 3.0).sqrt()).abs() < 1e-14
        );
        for a in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
            let refused = [found.margin_at(a), found.radius_at(a), found.mistake_bound_at(a)];
            assert!(refused.into_iter().all(|r| r.is_err_and(|e| e.problem.contains("below 1"))), "{a}");
        }
    }
}

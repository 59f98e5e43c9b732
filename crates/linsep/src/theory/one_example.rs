//! A perceptron that sees one example alone.

/// The exact number of updates after which a perceptron that sees one example over and over has learned it:
/// ⌊−a₁(θ₀) / ‖z₁‖²⌋ + 1 if a₁(θ₀) ≤ 0, otherwise 0. `None` for a zero example, which is never learned.
///
/// Each update raises the agreement by ‖z₁‖² and stops when it is positive. (The lecture notes on the perceptron write
/// ⌈|⟨θ, x⟩| / ‖x‖²⌉, one short when the quotient is whole.) Exact for the given numbers up to 2⁵³ updates; the most
/// that can be said is `u64::MAX`.
pub fn updates_to_learn(agreement: f64, norm_squared: f64) -> Option<u64> {
    if agreement > 0.0 {
        return Some(0);
    }
    (norm_squared > 0.0).then(|| {
        let quotient = (-agreement / norm_squared).floor();
        // The division may have rounded up to a whole number: what is left then is negative.
        let left = quotient.mul_add(-norm_squared, -agreement);
        let whole = if left < 0.0 { quotient - 1.0 } else { quotient };
        (whole as u64).saturating_add(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Row;
    use crate::theta::Theta;
    use crate::train::{MistakeRule, Perceptron};
    use proptest::prelude::*;

    proptest! {
        /// Whole numbers, so that the perceptron itself is exact.
        #[test]
        fn a_perceptron_needs_exactly_that_many(
            start in prop::collection::vec(-200i32..200, 1..5),
            example in prop::collection::vec(-5i32..5, 5),
            positive: bool,
        ) {
            let weights: Vec<f64> = start.iter().map(|&w| f64::from(w)).collect();
            let x: Vec<f64> = example[..weights.len()].iter().map(|&x| f64::from(x)).collect();
            let (row, sign) = (Row::DenseF64(&x), if positive { 1.0 } else { -1.0 });
            let theta = Theta { weights, bias: 0.0, bias_input: 0.0 };
            let agreement = sign * theta.score(row);
            let mut perceptron = Perceptron::new(theta, MistakeRule::NonPositive);
            let expected = updates_to_learn(agreement, row.norm_squared());
            let mut made = 0;
            while made <= 2_000 && perceptron.learn(row, sign).is_some() {
                made += 1;
            }
            prop_assert_eq!(expected.unwrap_or(2_001), made);
        }

        /// Next to a whole quotient, where a division rounds to it from both sides, and of any scale. Numbers below 2⁶³
        /// that are floats have exact quotients in u64.
        #[test]
        fn the_quotient_is_exact(
            squared in prop_oneof![1u64..100, 1u64..1 << 53],
            times in 0u64..1000,
            power in -900i32..900,
        ) {
            let agreement = (squared * times) as f64;
            let expected = agreement as u64 / squared + 1;
            let scaled = |x: f64| libm::scalbn(x, power);
            prop_assert_eq!(updates_to_learn(-scaled(agreement), scaled(squared as f64)), Some(expected));
        }

        /// The example and the weights times powers of two, down to 10⁻¹⁰⁰ and up to 10¹⁰⁰: as many updates.
        #[test]
        fn the_scale_does_not_count(
            start in prop::collection::vec(-20i32..20, 3),
            example in prop::collection::vec(-5i32..5, 3),
            power in -330i32..330,
        ) {
            let learned = |power: i32| {
                let scaled = |x: &i32| libm::scalbn(f64::from(*x), power);
                let x: Vec<f64> = example.iter().map(scaled).collect();
                let theta = Theta { weights: start.iter().map(scaled).collect(), bias: 0.0, bias_input: 0.0 };
                let row = Row::DenseF64(&x);
                let expected = updates_to_learn(theta.score(row), row.norm_squared());
                let mut perceptron = Perceptron::new(theta, MistakeRule::NonPositive);
                let made = (0..500).take_while(|_| perceptron.learn(row, 1.0).is_some()).count() as u64;
                (expected, made)
            };
            let (expected, made) = learned(power);
            prop_assert_eq!(expected.unwrap_or(500), made);
            prop_assert_eq!(learned(0), (expected, made));
        }
    }

    #[test]
    fn a_whole_quotient_needs_one_more() {
        // a = −4, ‖z‖² = 2: after two updates the agreement is 0, which is still a mistake.
        assert_eq!(updates_to_learn(-4.0, 2.0), Some(3));
        assert_eq!(updates_to_learn(0.0, 2.0), Some(1));
        assert_eq!(updates_to_learn(0.0, 0.0), None);
        assert_eq!(updates_to_learn(-1e300, 1e-300), Some(u64::MAX));
        assert_eq!(updates_to_learn(-1e20, 1.0), Some(u64::MAX));
    }
}

//! One example alone (B4).

/// The exact number of updates after which a perceptron that sees one example over and over has learned it:
/// ⌊−a₁(θ₀) / ‖z₁‖²⌋ + 1 if a₁(θ₀) ≤ 0, otherwise 0. `None` for a zero example, which is never learned.
///
/// Each update raises the agreement by ‖z₁‖² and stops when it is positive. (The notes write
/// ⌈|⟨θ, x⟩| / ‖x‖²⌉, one short when the quotient is whole.)
pub fn updates_to_learn(agreement: f64, norm_squared: f64) -> Option<u64> {
    if agreement > 0.0 {
        return Some(0);
    }
    (norm_squared > 0.0).then(|| (-agreement / norm_squared).floor() as u64 + 1)
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
    }

    #[test]
    fn a_whole_quotient_needs_one_more() {
        // a = −4, ‖z‖² = 2: after two updates the agreement is 0, which is still a mistake.
        assert_eq!(updates_to_learn(-4.0, 2.0), Some(3));
        assert_eq!(updates_to_learn(0.0, 2.0), Some(1));
        assert_eq!(updates_to_learn(0.0, 0.0), None);
    }
}

//! Novikoff's theorem: how many mistakes a perceptron can make.
//!
//! From θ = 0, the number of mistakes is at most (R/γ)² for every margin γ that some θ* has on the data, best
//! at γ*. It holds for any order of the examples and any number of passes. Since γ* is known as an interval,
//! so is the bound.

use super::margin::{Extent, MarginInterval};
use serde::{Deserialize, Serialize};

/// An interval that contains (R/γ*)².
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MistakeBound {
    /// (R/γ*)² is at least this: the theorem cannot promise fewer mistakes. `None` if γ* ≤ 0 is proved.
    pub lower: Option<f64>,
    /// No perceptron from zero makes more mistakes than this; `None` while no separator is known.
    pub upper: Option<f64>,
}

/// (R/γ*)² from the interval of γ*.
pub fn mistake_bound(extent: &Extent, margin: &MarginInterval) -> MistakeBound {
    let square = |x: f64| x * x;
    MistakeBound {
        lower: (margin.upper > 0.0)
            .then(|| square((extent.radius_lower / margin.upper).next_down()).next_down().max(0.0))
            .filter(|bound| bound.is_finite()),
        upper: margin
            .lower
            .filter(|&lower| lower > 0.0)
            .map(|lower| square((extent.radius_upper / lower).next_up()).next_up())
            .filter(|bound| bound.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::classes::ClassPair;
    use crate::dataset::Dataset;
    use crate::theory::margin::{MarginKind, lower_bound};
    use crate::theta::Theta;
    use crate::train::{Bias, Learner, OnlineLearner, Settings};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Separable by construction, with duplicates, zero features, tiny and huge scales: a perceptron that
        /// goes round in any order until it makes no mistake never exceeds the bound of any separator.
        #[test]
        fn a_perceptron_never_exceeds_the_bound(
            points in prop::collection::vec(prop::collection::vec(-9i32..10, 3), 1..20),
            normal in prop::collection::vec(-9i32..10, 3),
            power in -40i32..40,
            duplicate: bool,
            reverse: bool,
        ) {
            let scale = 2f64.powi(power) / 3.0;
            let mut rows: Vec<&Vec<i32>> = points
                .iter()
                .filter(|p| p.iter().zip(&normal).map(|(a, b)| a * b).sum::<i32>() != 0)
                .collect();
            prop_assume!(!rows.is_empty());
            if duplicate {
                rows.extend(rows.clone());
            }
            if reverse {
                rows.reverse();
            }
            let values: Vec<f64> = rows.iter().flat_map(|p| p.iter()).map(|&x| f64::from(x) * scale).collect();
            let signs: Vec<i8> = rows
                .iter()
                .map(|p| p.iter().zip(&normal).map(|(a, b)| a * b).sum::<i32>().signum() as i8)
                .collect();
            let labels: Vec<String> = signs.iter().map(i8::to_string).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            prop_assert!(ClassPair::choose(data.classes(), None).is_ok() || data.classes().len() == 1);

            let comparator = Theta { weights: normal.iter().map(|&w| f64::from(w)).collect(), bias: 0.0, bias_input: 0.0 };
            let extent = Extent::of(&data, 0.0);
            let lower = lower_bound(&data, &signs, &comparator);
            prop_assert!(lower.is_some());
            let margin = MarginInterval { lower, upper: extent.shortest, kind: MarginKind::ThroughOrigin };
            let bound = mistake_bound(&extent, &margin);

            let settings = Settings { learner: Learner::Perceptron, bias: Bias::None, ..Settings::default() };
            let mut perceptron = OnlineLearner::new(&settings, 3).unwrap();
            loop {
                let before = perceptron.updates();
                for (i, &sign) in signs.iter().enumerate() {
                    perceptron.learn(data.row(i), sign, None);
                    prop_assert!(perceptron.updates() as f64 <= bound.upper.unwrap());
                }
                if perceptron.updates() == before {
                    break;
                }
            }
            // The interval is not empty, also with both ends taken from the run itself.
            let margin = MarginInterval {
                lower: lower_bound(&data, &signs, perceptron.theta()),
                upper: perceptron.margin_upper().unwrap_or(extent.shortest),
                kind: MarginKind::ThroughOrigin,
            };
            let own = mistake_bound(&extent, &margin);
            prop_assert!(own.lower.unwrap() <= own.upper.unwrap());
            prop_assert!(own.lower.unwrap() <= bound.upper.unwrap());
            prop_assert!(perceptron.updates() as f64 <= own.upper.unwrap());
        }

        /// Rows that nothing separates, or one alone, or one class alone: the bound is kept where there is one, and
        /// there is none where no separator is.
        #[test]
        fn hostile_rows_have_a_true_bound_or_none(
            examples in examples(),
            weights in prop::collection::vec(-9i32..10, 4),
            passes in 1usize..100,
        ) {
            let data = examples.dataset();
            let extent = Extent::of(&data, examples.bias_input);
            let (theta, mistakes) = examples.learn(passes);
            for separator in [examples.theta(&weights), theta] {
                let lower = lower_bound(&data, &examples.signs, &separator);
                let margin = MarginInterval { lower, upper: extent.shortest, kind: MarginKind::AppendedBias };
                let bound = mistake_bound(&extent, &margin);
                prop_assert_eq!(bound.upper.is_some(), lower.is_some());
                prop_assert!(bound.upper.is_none() || !examples.are_hopeless());
                prop_assert!(bound.upper.is_none_or(|upper| mistakes.len() as f64 <= upper), "{bound:?}");
                // A zero row proves that γ* ≤ 0; otherwise (R/γ*)² is at least 1.
                match bound.lower {
                    None => prop_assert_eq!(extent.shortest, 0.0),
                    Some(least) => prop_assert!(least > 1.0 - 1e-9 && bound.upper.is_none_or(|upper| least <= upper)),
                }
            }
        }
    }

    #[test]
    fn one_example_is_learned_at_the_bound() {
        let extent = Extent { radius_lower: 5.0, radius_upper: 5.0, shortest: 5.0, shortest_nonzero: 5.0 };
        let margin = MarginInterval { lower: Some(5.0), upper: 5.0, kind: MarginKind::ThroughOrigin };
        let bound = mistake_bound(&extent, &margin);
        assert!(
            bound.lower.unwrap() <= 1.0 && bound.upper.unwrap() >= 1.0 && bound.upper.unwrap() < 1.0 + 1e-14
        );
    }
}

//! Order matters: on the same rows, the answer of a perceptron depends on the order in which it sees them.
//!
//! Every θ that separates the rows is an answer. The results of several seeded orders are summed up here: the spread of
//! the margins, of the errors on held-out rows, and of the directions of the boundaries.

use crate::linalg;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// The result of one order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderResult {
    /// The weights.
    pub theta: Theta,
    /// A lower bound of its margin, if it separates the rows.
    pub margin: Option<f64>,
    /// Its error on held-out rows, if there are any.
    pub held_out_error: Option<f64>,
}

/// The least, the mean and the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many numbers.
    pub count: u64,
    /// The smallest.
    pub least: f64,
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// The spread of the finite ones among `numbers`, or `None` if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().filter(|x| x.is_finite()).collect();
        let least = numbers.iter().copied().reduce(f64::min)?;
        let largest = numbers.iter().copied().reduce(f64::max)?;
        let count = numbers.len() as f64;
        // Divided first, because the sum of large numbers can overflow; kept between the ends, which rounding can leave.
        let mean = numbers.iter().map(|x| x / count).sum::<f64>().clamp(least, largest);
        Some(Self { count: numbers.len() as u64, least, mean, largest })
    }
}

/// How much the order mattered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderSpread {
    /// How many orders.
    pub orders: u64,
    /// The margins of those that separate the rows.
    pub margin: Option<Spread>,
    /// The errors on held-out rows.
    pub held_out_error: Option<Spread>,
    /// The angles between any two weight vectors w, in degrees from 0 to 180; those that are zero have no direction.
    pub angle: Option<Spread>,
}

/// Sums up the results of several orders. There are many pairs of orders: once `is_stopped` says so there are no more angles, and the
/// spread has none.
pub fn order_spread(results: &[OrderResult], is_stopped: &dyn Fn() -> bool) -> OrderSpread {
    let directions: Vec<Vec<f64>> =
        results.iter().filter_map(|result| direction(&result.theta.weights)).collect();
    let pairs = directions.iter().enumerate().flat_map(|(i, a)| directions[..i].iter().map(move |b| (a, b)));
    let angles: Vec<f64> = pairs.take_while(|_| !is_stopped()).map(|(a, b)| angle_between(a, b)).collect();
    OrderSpread {
        orders: results.len() as u64,
        margin: Spread::of(results.iter().filter_map(|result| result.margin)),
        held_out_error: Spread::of(results.iter().filter_map(|result| result.held_out_error)),
        angle: Spread::of(angles).filter(|_| !is_stopped()),
    }
}

/// The weights at length 1, or `None` for zero weights or such as are not finite.
fn direction(weights: &[f64]) -> Option<Vec<f64>> {
    let largest = weights.iter().fold(0.0f64, |most, w| most.max(w.abs()));
    if !(largest > 0.0 && weights.iter().all(|w| w.is_finite())) {
        return None;
    }
    // By a power of two first: the squares of very large or small weights are no floats.
    let exponent = libm::ilogb(largest);
    let mut unit: Vec<f64> = weights.iter().map(|&w| libm::scalbn(w, -exponent)).collect();
    let norm = linalg::norm_squared(&unit).sqrt();
    unit.iter_mut().for_each(|w| *w /= norm);
    Some(unit)
}

/// The angle between two vectors of length 1 in degrees, by 2 atan(‖a − b‖ / ‖a + b‖): the arc cosine would lose
/// half of the digits of small angles. What one vector has no place for is zero.
fn angle_between(a: &[f64], b: &[f64]) -> f64 {
    let at = |v: &[f64], j: usize| v.get(j).copied().unwrap_or(0.0);
    let length = |sign: f64| {
        let squared = (0..a.len().max(b.len())).map(|j| (at(a, j) + sign * at(b, j)).powi(2)).sum::<f64>();
        squared.sqrt()
    };
    2.0 * libm::atan2(length(-1.0), length(1.0)).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::dataset::Dataset;
    use crate::theory::margin::lower_bound;
    use crate::train::{Bias, Learner, Settings, Status, train};
    use proptest::prelude::*;

    fn result(weights: &[f64]) -> OrderResult {
        let theta = Theta { weights: weights.to_vec(), bias: 1.0, bias_input: 1.0 };
        OrderResult { theta, margin: None, held_out_error: None }
    }

    proptest! {
        /// In the plane the angle is known, whatever the lengths of the weights.
        #[test]
        fn angles_are_angles(
            start in 0.0f64..360.0,
            turn in prop_oneof![0.0f64..180.0, 1e-9f64..1e-6, Just(0.0), Just(180.0)],
            powers in (-900i32..900, -900i32..900),
        ) {
            let at = |degrees: f64, power: i32| {
                let (sin, cos) = degrees.to_radians().sin_cos();
                result(&[libm::scalbn(cos, power), libm::scalbn(sin, power)])
            };
            let spread = order_spread(&[at(start, powers.0), at(start + turn, powers.1)], &|| false);
            let angle = spread.angle.unwrap();
            prop_assert!((angle.largest - turn).abs() < 1e-12 * 360.0, "{angle:?}");
            prop_assert_eq!((angle.count, angle.least, angle.mean), (1, angle.largest, angle.largest));
        }

        /// The mean lies between the ends, and the ends are numbers that were given.
        #[test]
        fn spreads_are_in_order(numbers in prop::collection::vec(prop_oneof![-1e308f64..1e308, 0.0f64..1.0, Just(f64::NAN)], 0..20)) {
            let finite: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
            match Spread::of(numbers) {
                None => prop_assert!(finite.is_empty()),
                Some(spread) => {
                    prop_assert_eq!(spread.count as usize, finite.len());
                    prop_assert!(spread.least <= spread.mean && spread.mean <= spread.largest);
                    prop_assert!(finite.contains(&spread.least) && finite.contains(&spread.largest));
                    prop_assert!(finite.iter().all(|&x| spread.least <= x && x <= spread.largest));
                }
            }
        }

        /// Hopeless, empty and extreme rows too: nothing but finite numbers, and a margin only of those who have one.
        #[test]
        fn any_runs_have_a_spread(examples in examples(), passes in prop::collection::vec(0usize..20, 0..6)) {
            let data = examples.dataset();
            let results: Vec<OrderResult> = passes
                .iter()
                .map(|&passes| {
                    let (theta, _) = examples.learn(passes);
                    let margin = lower_bound(&data, &examples.signs, &theta);
                    OrderResult { theta, margin, held_out_error: Some(0.25) }
                })
                .collect();
            let spread = order_spread(&results, &|| false);
            prop_assert_eq!(spread.orders as usize, passes.len());
            prop_assert_eq!(spread.held_out_error.map_or(0, |error| error.count as usize), passes.len());
            prop_assert_eq!(spread.margin.is_some(), results.iter().any(|result| result.margin.is_some()));
            let directed = results.iter().filter(|r| r.theta.weights.iter().any(|&w| w != 0.0)).count() as u64;
            prop_assert_eq!(spread.angle.map_or(0, |angle| angle.count), directed * directed.saturating_sub(1) / 2);
            if let Some(angle) = spread.angle {
                prop_assert!(angle.least >= 0.0 && angle.largest <= 180.0 + 1e-9, "{angle:?}");
            }
            let text = serde_json::to_string(&spread).unwrap();
            prop_assert_eq!(serde_json::from_str::<OrderSpread>(&text).unwrap(), spread);
        }
    }

    #[test]
    fn one_order_and_zero_weights_have_no_angle() {
        assert_eq!(order_spread(&[], &|| false).angle, None);
        assert_eq!(order_spread(&[result(&[1.0, 2.0])], &|| false).angle, None);
        assert_eq!(order_spread(&[result(&[1.0, 2.0]), result(&[0.0, 0.0])], &|| false).angle, None);
        // A feature that only one of them has seen.
        let angle =
            order_spread(&[result(&[1.0]), result(&[1.0, 1.0]), result(&[-1.0])], &|| false).angle.unwrap();
        assert!((angle.least - 45.0).abs() < 1e-12 && (angle.largest - 180.0).abs() < 1e-12);
        assert!((angle.mean - 120.0).abs() < 1e-12);
    }

    /// The statement itself: other orders give other answers, all of them right.
    #[test]
    fn orders_lead_to_different_answers() {
        let values = [2.0, 1.0, 1.0, 3.0, 0.5, 0.2, -1.0, -2.0, -3.0, 0.5, -0.3, -0.1];
        let data = Dataset::dense(2, &values, &["1", "1", "1", "0", "0", "0"]).unwrap();
        let results: Vec<OrderResult> = (0..20)
            .map(|seed| {
                let settings = Settings {
                    learner: Learner::Perceptron,
                    bias: Bias::None,
                    seed,
                    epochs: 10_000,
                    ..Settings::default()
                };
                let outcome = train(&data, &settings, &mut ()).unwrap();
                assert_eq!(outcome.status, Status::Converged);
                let theta = outcome.learned.theta().clone();
                OrderResult { theta, margin: outcome.evidence.margin.lower, held_out_error: None }
            })
            .collect();
        let spread = order_spread(&results, &|| false);
        let (margin, angle) = (spread.margin.unwrap(), spread.angle.unwrap());
        assert_eq!((margin.count, angle.count), (20, 190));
        assert!(margin.least > 0.0 && margin.largest > 1.1 * margin.least, "{margin:?}");
        assert!(angle.largest > 5.0 && angle.largest < 90.0, "{angle:?}");
    }
}

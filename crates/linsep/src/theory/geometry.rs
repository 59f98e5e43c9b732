//! Distances to the boundary.
//!
//! The boundary is {x : ⟨w, x⟩ + b = 0}. A point x is |⟨w, x⟩ + b| / ‖w‖ away from it, and
//! x − (⟨w, x⟩ + b) w / ‖w‖² is its foot on it. For θ* with functional margin γ the quotient γ / ‖w*‖ is
//! therefore the smallest distance from an example to the boundary: the geometric margin.

use crate::dataset::Row;
use crate::theta::Theta;

/// The distance from a point to the boundary, or `None` if there is no boundary because w = 0.
pub fn distance(theta: &Theta, row: Row<'_>) -> Option<f64> {
    let norm = weight_norm(theta);
    (norm > 0.0).then(|| theta.score(row).abs() / norm)
}

/// The point of the boundary that is nearest to `row`, or `None` if w = 0.
pub fn foot_point(theta: &Theta, row: Row<'_>) -> Option<Vec<f64>> {
    let squared = weight_norm(theta).powi(2);
    if squared == 0.0 {
        return None;
    }
    let step = theta.score(row) / squared;
    let mut point: Vec<f64> = theta.weights.iter().map(|w| -step * w).collect();
    row.iter().for_each(|(j, x)| point[j] += x);
    Some(point)
}

/// The width of the gap between the boundary shifted to touch `positive` and shifted to touch `negative`: the
/// length of the projection of their difference on w. `None` if w = 0.
///
/// For the closest examples of the two classes this is the margin between the two supports.
pub fn gap_between(theta: &Theta, positive: Row<'_>, negative: Row<'_>) -> Option<f64> {
    let norm = weight_norm(theta);
    (norm > 0.0).then(|| (positive.dot(&theta.weights) - negative.dot(&theta.weights)) / norm)
}

/// ‖w‖, rounded.
pub fn weight_norm(theta: &Theta) -> f64 {
    crate::linalg::norm_squared(&theta.weights).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::theory::margin::{Extent, lower_bound};
    use proptest::prelude::*;

    fn close(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-9 * scale.abs().max(1.0)
    }

    #[test]
    fn the_distance_to_a_line_by_hand() {
        let theta = Theta { weights: vec![3.0, 4.0], bias: -5.0, bias_input: 1.0 };
        let origin = [0.0, 0.0];
        assert_eq!(distance(&theta, Row::DenseF64(&origin)), Some(1.0));
        let foot = foot_point(&theta, Row::DenseF64(&origin)).unwrap();
        assert!(close(foot[0], 0.6, 1.0) && close(foot[1], 0.8, 1.0));
        assert_eq!(distance(&Theta::zero(2, 1.0), Row::DenseF64(&origin)), None);
    }

    proptest! {
        /// The foot lies on the boundary, at the stated distance, and no other point of the boundary is nearer.
        #[test]
        fn the_foot_is_the_nearest_point(
            weights in prop::collection::vec(-10.0f64..10.0, 1..6),
            point in prop::collection::vec(-10.0f64..10.0, 6),
            direction in prop::collection::vec(-10.0f64..10.0, 6),
            bias in -10.0f64..10.0,
        ) {
            let theta = Theta { bias, bias_input: 1.0, weights };
            let d = theta.weights.len();
            let norm = weight_norm(&theta);
            prop_assume!(norm > 1e-3);
            let row = Row::DenseF64(&point[..d]);
            let away = distance(&theta, row).unwrap();
            let foot = foot_point(&theta, row).unwrap();
            let scale = 100.0 / norm * 10.0;
            prop_assert!(close(theta.score(Row::DenseF64(&foot)), 0.0, scale * norm));
            let length = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
            prop_assert!(close(length(&foot, &point[..d]), away, scale));
            // Another point of the boundary: the foot moved along the boundary.
            let along: Vec<f64> = {
                let part = Row::DenseF64(&direction[..d]).dot(&theta.weights) / norm.powi(2);
                (0..d).map(|j| foot[j] + direction[j] - part * theta.weights[j]).collect()
            };
            prop_assert!(length(&along, &point[..d]) >= away - 1e-9 * scale);
        }

        /// The gap between two points on opposite sides is the sum of their distances to the boundary.
        #[test]
        fn the_gap_is_the_sum_of_the_distances(
            weights in prop::collection::vec(-10.0f64..10.0, 3),
            a in prop::collection::vec(-10.0f64..10.0, 3),
            b in prop::collection::vec(-10.0f64..10.0, 3),
            bias in -10.0f64..10.0,
        ) {
            let theta = Theta { weights, bias, bias_input: 1.0 };
            prop_assume!(weight_norm(&theta) > 1e-3);
            let (a, b) = (Row::DenseF64(&a), Row::DenseF64(&b));
            // Sorted by score and moved apart until the boundary lies between them.
            let (a, b) = if theta.score(a) >= theta.score(b) { (a, b) } else { (b, a) };
            let middle = (theta.score(a) + theta.score(b)) / 2.0;
            let theta = Theta { bias: theta.bias - middle, ..theta };
            let sum = distance(&theta, a).unwrap() + distance(&theta, b).unwrap();
            prop_assert!(close(gap_between(&theta, a, b).unwrap(), sum, sum));
        }

        /// Weights times one power of two and points times another, zero points among them: distances, feet and gaps
        /// scale with the points, to the bit.
        #[test]
        fn distances_scale_with_the_points(
            weights in prop::collection::vec(-9i32..10, 2),
            points in prop::collection::vec(prop_oneof![3 => -9i32..10, 1 => Just(0)], 4),
            bias in -9i32..10,
            powers in (-400i32..400, -400i32..400),
        ) {
            let measure = |(of_weights, of_points): (i32, i32)| {
                let scaled = |x: &i32, power: i32| libm::scalbn(f64::from(*x) / 3.0, power);
                let values: Vec<f64> = points.iter().map(|x| scaled(x, of_points)).collect();
                let (a, b) = (Row::DenseF64(&values[..2]), Row::DenseF64(&values[2..]));
                let theta = Theta {
                    weights: weights.iter().map(|w| scaled(w, of_weights)).collect(),
                    bias: scaled(&bias, of_weights),
                    bias_input: libm::scalbn(1.0, of_points),
                };
                let mut found: Vec<f64> = foot_point(&theta, a)?;
                found.extend([distance(&theta, a)?, distance(&theta, b)?, gap_between(&theta, a, b)?]);
                Some(found.into_iter().map(|x| libm::scalbn(x, -of_points)).collect::<Vec<f64>>())
            };
            let plain = measure((0, 0));
            prop_assert_eq!(plain.is_some(), weights.iter().any(|&w| w != 0));
            prop_assert_eq!(measure(powers), plain);
        }

        /// The geometric margin is the smallest distance from an example to the boundary, whatever the rows; where
        /// the bias counts in the norm, the distance is larger.
        #[test]
        fn the_margin_is_the_smallest_distance(examples in examples()) {
            let data = examples.dataset();
            let (theta, _) = examples.learn(100);
            let distances: Option<Vec<f64>> = (0..data.len()).map(|i| distance(&theta, data.row(i))).collect();
            prop_assert!(distances.iter().flatten().all(|distance| distance.is_finite()));
            let nearest = distances.and_then(|all| all.into_iter().reduce(f64::min));
            match lower_bound(&data, &examples.signs, &theta) {
                Some(margin) if examples.bias_input == 0.0 => {
                    let nearest = nearest.unwrap();
                    let tolerance = 1e-12 * Extent::of(&data, 0.0).radius_upper;
                    prop_assert!((margin - nearest).abs() <= tolerance, "{margin} {nearest}");
                }
                Some(margin) => {
                    let stretch = theta.norm().high / weight_norm(&theta);
                    let tolerance = 1e-12 * stretch * Extent::of(&data, examples.bias_input).radius_upper;
                    prop_assert!(nearest.is_none_or(|nearest| nearest >= margin - tolerance), "{margin} {nearest:?}");
                }
                None => {
                    let agreement = |i: usize| f64::from(examples.signs[i]) * theta.score(data.row(i));
                    let tolerance = 1e-12 * theta.norm().high * Extent::of(&data, examples.bias_input).radius_upper;
                    prop_assert!((0..data.len()).any(|i| agreement(i) <= tolerance));
                }
            }
        }
    }
}

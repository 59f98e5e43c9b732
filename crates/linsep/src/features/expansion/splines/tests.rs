//! The claims about splines, each beside a plain computation.

use super::*;
use proptest::prelude::*;

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Columns of numbers: spread out, with few values, with most rows at one value, or on a large scale.
fn columns() -> impl Strategy<Value = Vec<f64>> {
    let spread = prop::collection::vec(-5.0f64..5.0, 12..80);
    let few = prop::collection::vec((0i32..7).prop_map(f64::from), 12..80);
    let tied = prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => 0.0f64..1000.0], 12..80);
    let large = prop::collection::vec((0i64..1000).prop_map(|x| 1e6 + x as f64), 12..80);
    prop_oneof![spread, few, tied, large].prop_map(sorted)
}

fn splines() -> impl Strategy<Value = (Vec<f64>, Splines)> {
    columns().prop_filter_map("columns that vary", |values| {
        let splines = Splines::learn(3, &values)?;
        Some((values, splines))
    })
}

fn at(splines: &Splines, z: f64) -> Vec<f64> {
    let mut found = Vec::new();
    splines.at_standardised(z, |x| found.push(x));
    found
}

/// Solves a dense system by elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs())).unwrap();
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        let own = matrix[k].clone();
        for i in k + 1..n {
            let factor = matrix[i][k] / own[k];
            matrix[i].iter_mut().zip(&own).for_each(|(entry, own)| *entry -= factor * own);
            right[i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let after: f64 = (k + 1..n).map(|j| matrix[k][j] * right[j]).sum();
        right[k] = (right[k] - after) / matrix[k][k];
    }
    right
}

proptest! {
    #[test]
    fn they_are_linear_beyond_the_outer_knots((_, splines) in splines(), far in 0.01f64..50.0) {
        let (first, last) = (splines.knots[0], splines.knots[splines.knots.len() - 1]);
        for (end, way) in [(first, -1.0), (last, 1.0)] {
            let [one, two, three] = [0.0, far, 2.0 * far].map(|step| at(&splines, end + way * step));
            for m in 0..splines.count() {
                let size = 1.0 + one[m].abs() + three[m].abs();
                prop_assert!((one[m] - 2.0 * two[m] + three[m]).abs() < 1e-10 * size);
            }
        }
    }

    /// Value, slope and second derivative agree on both sides of each knot, as one-sided differences show: the cubics
    /// have known differences, so these are exact but for rounding.
    #[test]
    fn they_have_two_continuous_derivatives((_, splines) in splines()) {
        let knots = &splines.knots;
        for k in 0..knots.len() {
            let left = if k == 0 { 1.0 } else { knots[k] - knots[k - 1] };
            let right = if k + 1 == knots.len() { 1.0 } else { knots[k + 1] - knots[k] };
            // Four points on a cubic give its derivatives at the first of them.
            let derivatives = |way: f64, width: f64| {
                let h = way * width / 4.0;
                // A hair inside, so that the piece on this side is asked.
                let f: Vec<Vec<f64>> = (0..4).map(|step| at(&splines, knots[k] + f64::from(step) * h)).collect();
                (0..splines.count()).map(|m| {
                    let d1 = f[1][m] - f[0][m];
                    let d2 = f[2][m] - 2.0 * f[1][m] + f[0][m];
                    let d3 = f[3][m] - 3.0 * f[2][m] + 3.0 * f[1][m] - f[0][m];
                    let slope = (d1 - d2 / 2.0 + d3 / 3.0) / h;
                    (slope, (d2 - d3) / (h * h))
                }).collect::<Vec<_>>()
            };
            let (before, after) = (derivatives(-1.0, left), derivatives(1.0, right));
            let shortest = left.min(right);
            for m in 0..splines.count() {
                let size = 1.0 + at(&splines, knots[k])[m].abs();
                prop_assert!((before[m].0 - after[m].0).abs() < 1e-11 * size / shortest + 1e-9 * before[m].0.abs());
                let tolerance = 1e-10 * size / (shortest * shortest) + 1e-8 * before[m].1.abs();
                prop_assert!((before[m].1 - after[m].1).abs() < tolerance, "{} {}", before[m].1, after[m].1);
            }
        }
    }

    #[test]
    fn they_are_orthogonal_on_the_rows_and_the_smoothest_has_mean_square_one((values, splines) in splines()) {
        let n = values.len() as f64;
        let z = |x: f64| standardised(x, splines.mean, splines.deviation);
        let rows: Vec<Vec<f64>> = values.iter().map(|&x| at(&splines, z(x))).collect();
        for m in 0..splines.count() {
            let sum: f64 = rows.iter().map(|row| row[m]).sum::<f64>() / n;
            let linear: f64 = rows.iter().zip(&values).map(|(row, &x)| row[m] * z(x)).sum::<f64>() / n;
            prop_assert!(sum.abs() < 1e-7 && linear.abs() < 1e-7, "{sum} {linear}");
            for l in 0..m {
                let product: f64 = rows.iter().map(|row| row[m] * row[l]).sum::<f64>() / n;
                prop_assert!(product.abs() < 1e-7, "{product}");
            }
        }
        let square = |m: usize| rows.iter().map(|row| row[m] * row[m]).sum::<f64>() / n;
        prop_assert!((square(0) - 1.0).abs() < 1e-6);
        prop_assert!((1..splines.count()).all(|m| square(m) < square(m - 1) * (1.0 + 1e-6) + 1e-9));
    }

    /// Between knots the second derivative is linear, so that Simpson's rule has no error for its products.
    #[test]
    fn a_sum_of_squares_of_weights_is_the_roughness(
        (_, splines) in splines(),
        weights in prop::collection::vec(-2.0f64..2.0, MAX_SPLINES),
    ) {
        let knots = &splines.knots;
        let second: Vec<f64> = (0..knots.len())
            .map(|k| splines.second.iter().zip(&weights).map(|(second, weight)| second[k] * weight).sum())
            .collect();
        let quadrature = |second: &[f64]| -> f64 {
            (0..knots.len() - 1)
                .map(|k| {
                    let (a, b) = (second[k], second[k + 1]);
                    (knots[k + 1] - knots[k]) / 6.0 * (a * a + (a + b) * (a + b) + b * b)
                })
                .sum()
        };
        // γ′Rγ
        let (diagonal, beside) = roughness(knots);
        let inner = &second[1..second.len() - 1];
        let banded: f64 = (0..inner.len())
            .map(|k| {
                let next = if k + 1 < inner.len() { 2.0 * beside[k] * inner[k] * inner[k + 1] } else { 0.0 };
                diagonal[k] * inner[k] * inner[k] + next
            })
            .sum();
        prop_assert!((quadrature(&second) - banded).abs() <= 1e-9 * banded);
        let unit = quadrature(&splines.second[0]);
        let squares: f64 = weights[..splines.count()].iter().map(|weight| weight * weight).sum();
        prop_assert!((banded - unit * squares).abs() <= 1e-5 * unit * squares.max(1e-3), "{banded} {}", unit * squares);
    }

    /// The naive way: all coefficients of all cubics from one dense system.
    #[test]
    fn interpolation_agrees_with_a_dense_solve(
        steps in prop::collection::vec(0.1f64..2.0, 2..9),
        values in prop::collection::vec(-3.0f64..3.0, 10),
        places in prop::collection::vec(0.0f64..1.0, 5),
    ) {
        let knots: Vec<f64> = steps.iter().scan(-3.0, |at, step| { *at += step; Some(*at) }).chain([30.0]).collect();
        let (pieces, values) = (knots.len() - 1, values[..knots.len()].to_vec());
        let unknowns = 4 * pieces;
        let (mut matrix, mut right) = (Vec::new(), Vec::new());
        let mut equation = |entries: Vec<(usize, f64)>, value: f64| {
            let mut row = vec![0.0; unknowns];
            entries.into_iter().for_each(|(place, entry)| row[place] += entry);
            matrix.push(row);
            right.push(value);
        };
        for k in 0..pieces {
            // a + bt + ct² + dt³ with t from the left knot.
            let h = knots[k + 1] - knots[k];
            equation(vec![(4 * k, 1.0)], values[k]);
            equation((0..4).map(|power| (4 * k + power, h.powi(power as i32))).collect(), values[k + 1]);
            if k + 1 < pieces {
                equation(vec![(4 * k + 1, 1.0), (4 * k + 2, 2.0 * h), (4 * k + 3, 3.0 * h * h), (4 * k + 5, -1.0)], 0.0);
                equation(vec![(4 * k + 2, 2.0), (4 * k + 3, 6.0 * h), (4 * k + 6, -2.0)], 0.0);
            }
        }
        equation(vec![(2, 1.0)], 0.0);
        let h = knots[pieces] - knots[pieces - 1];
        equation(vec![(4 * pieces - 2, 2.0), (4 * pieces - 1, 6.0 * h)], 0.0);
        let found = solve(matrix, right);
        let splines = Splines::new(0, (0.0, 1.0), [0.0, 1.0], knots.clone(), vec![values]).unwrap();
        for place in places {
            let z = knots[0] + place * (knots[pieces] - knots[0]);
            let k = (0..pieces).rev().find(|&k| knots[k] <= z).unwrap();
            let t = z - knots[k];
            let naive: f64 = (0..4).map(|power| found[4 * k + power] * t.powi(power as i32)).sum();
            prop_assert!((at(&splines, z)[0] - naive).abs() < 1e-8 * (1.0 + naive.abs()));
        }
    }

    #[test]
    fn knots_are_values_of_the_rows_and_as_many_as_there_can_be((values, splines) in splines()) {
        let distinct = values.chunk_by(|a, b| a == b).count();
        let z = |x: f64| standardised(x, splines.mean, splines.deviation);
        prop_assert!(splines.knots.len() <= distinct.min(MAX_KNOTS));
        prop_assert!(splines.knots.iter().all(|knot| values.iter().any(|&x| z(x) == *knot)));
        prop_assert!(splines.count() <= (splines.knots.len() - 2).min(MAX_SPLINES));
    }
}

#[test]
fn evenly_spread_values_give_all_knots_and_splines() {
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    let splines = Splines::learn(0, &values).unwrap();
    assert_eq!((splines.knots.len(), splines.count()), (MAX_KNOTS, MAX_SPLINES));
    assert_eq!(splines.range, [0.0, 999.0]);
    // Three values give one spline.
    let splines = Splines::learn(0, &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0]).unwrap();
    assert_eq!((splines.knots.len(), splines.count()), (3, 1));
}

#[test]
fn constant_columns_get_no_splines() {
    for values in [&[][..], &[1.0; 9], &[0.0, 0.0, 1.0, 1.0], &[-1e308, 1e308]] {
        assert!(Splines::learn(0, values).is_none(), "{values:?}");
    }
}

#[test]
fn huge_and_tiny_numbers_give_finite_splines() {
    for scale in [1e-300, 1e-20, 1e20, 1e300] {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i) * scale).collect();
        let splines = Splines::learn(0, &values).unwrap();
        for x in [f64::MAX, f64::MIN, 0.0, scale, f64::MIN_POSITIVE] {
            splines.at(x, |value| assert!(value.is_finite(), "{scale} {x} {value}"));
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let new = |knots: &[f64], values: &[f64]| {
        Splines::new(0, (0.0, 1.0), [0.0, 1.0], knots.to_vec(), vec![values.to_vec()])
    };
    assert!(new(&[0.0, 1.0, 2.0], &[1.0, 0.0, 1.0]).is_some());
    for (knots, values) in [
        (&[0.0, 1.0][..], &[1.0, 0.0][..]),
        (&[0.0, 2.0, 1.0], &[1.0, 0.0, 1.0]),
        (&[0.0, 1.0, 1.0], &[1.0, 0.0, 1.0]),
        (&[0.0, 1.0, f64::NAN], &[1.0, 0.0, 1.0]),
        (&[0.0, 1.0, 2.0], &[1.0, 0.0]),
        (&[0.0, 1.0, 2.0], &[1.0, f64::INFINITY, 0.0]),
        (&[0.0, 5e-324, 2.0], &[1.0, 0.0, 1.0]),
    ] {
        assert!(new(knots, values).is_none(), "{knots:?} {values:?}");
    }
}

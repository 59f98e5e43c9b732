use super::super::integer::{dot, independent_rows, kernel_basis};
use super::*;
use crate::dataset::Dataset;
use crate::random::Random;
use linsep_check::Bias;
use proptest::prelude::*;

fn dataset(rows: &[Vec<f64>]) -> Dataset {
    let labels = vec!["a"; rows.len()];
    Dataset::dense(rows[0].len(), &rows.concat(), &labels).unwrap()
}

/// The points of the hull and the free rows as whole numbers over one power of two, by another way than the code.
fn whole_points(points: Points<'_>, indices: &[usize], directions: bool) -> (Vec<Vec<IBig>>, i64) {
    let width = points.width();
    let flat: Vec<f64> = indices.iter().flat_map(|&i| points.examples.dense(i)[..width].to_vec()).collect();
    let (flat, exponent) = integers(&flat);
    let mut rows: Vec<Vec<IBig>> = flat.chunks(width).map(<[IBig]>::to_vec).collect();
    if !directions {
        return (rows, exponent);
    }
    // Entries below 1 in units of 2^−bits.
    let length = |row: &Vec<IBig>| row.iter().map(BitTest::bit_len).max().unwrap_or(0);
    let bits = rows.iter().map(length).max().unwrap_or(0);
    for row in &mut rows {
        let own = length(row);
        row.iter_mut().for_each(|value| *value <<= bits - own);
    }
    (rows, -(bits as i64))
}

/// Panics unless the end is what it says.
fn verify(points: Points<'_>, free: &[usize], candidates: &[usize], end: &End) {
    let width = points.width();
    let (free_rows, _) = whole_points(points, free, false);
    match end {
        End::Inside { support, free: mu } => {
            let all: Vec<usize> = support.iter().map(|&(row, _)| row).chain(free.iter().copied()).collect();
            let (rows, _) = whole_points(points, &all, false);
            assert!(!support.is_empty());
            assert!(support.iter().all(|(row, share)| is_positive(share) && candidates.contains(row)));
            assert_eq!(mu.len(), free.len());
            let factors: Vec<IBig> = support.iter().map(|(_, share)| share).chain(mu).cloned().collect();
            for column in 0..width {
                let column: Vec<IBig> = rows.iter().map(|row| row[column].clone()).collect();
                assert!(dot(&column, &factors).is_zero());
            }
            let side = |s: usize| -> IBig {
                support.iter().filter(|(row, _)| points.side(*row) == s).map(|(_, share)| share).sum()
            };
            if points.sides() == 2 {
                assert_eq!(side(0), side(1));
            }
            // Affinely independent modulo L: the kernel has just this direction, beside dependences in L itself.
            let lifted: Vec<Vec<IBig>> = (0..width)
                .map(|column| rows.iter().map(|row| row[column].clone()).collect())
                .chain((points.sides() == 2).then(|| {
                    let sign = |&(row, _): &(usize, IBig)| IBig::from(1 - 2 * points.side(row) as i64);
                    support.iter().map(sign).chain(vec![IBig::ZERO; free.len()]).collect()
                }))
                .collect();
            let of_free = free.len() - independent_rows(&free_rows).len();
            assert_eq!(kernel_basis(&lifted, all.len()).len(), 1 + of_free);
        }
        End::Outside { weights, exponent, denominator, support } => {
            let (rows, unit) = whole_points(points, candidates, points.hull == Hull::Directions);
            assert_eq!(weights.len(), width);
            assert!(free_rows.iter().all(|l| dot(l, weights).is_zero()));
            let at = |row: usize| candidates.iter().position(|&candidate| candidate == row).unwrap();
            for side in 0..points.sides() {
                let ours = || support.iter().filter(|(row, _)| points.side(*row) == side);
                assert!(ours().all(|(_, share)| is_positive(share)));
                assert_eq!(&ours().map(|(_, share)| share).sum::<IBig>(), denominator);
                let level = dot(weights, &rows[at(ours().next().unwrap().0)]);
                assert!(ours().all(|(row, _)| dot(weights, &rows[at(*row)]) == level));
                let others = candidates.iter().filter(|&&row| points.side(row) == side);
                assert!(others.clone().all(|&row| dot(weights, &rows[at(row)]) >= level));
                assert!(points.sides() == 2 || is_positive(&level));
            }
            // The point is what its support says, but for a part in L.
            let (up, down) = ((*exponent - unit).max(0) as usize, (unit - *exponent).max(0) as usize);
            let mut rest: Vec<IBig> = weights.iter().map(|value| value << up).collect();
            for (row, share) in support {
                rest.iter_mut().zip(&rows[at(*row)]).for_each(|(r, z)| *r -= (share * z) << down);
            }
            assert!(weights.iter().any(|value| !value.is_zero()));
            assert!(kernel_basis(&free_rows, width).iter().all(|k| dot(k, &rest).is_zero()));
        }
        End::Empty | End::Stopped => panic!("{end:?}"),
    }
}

/// A fraction for the oracle.
type Fraction = (i128, i128);

fn reduced(n: i128, d: i128) -> Fraction {
    let (mut a, mut b) = (n.abs(), d.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let g = a.max(1) * d.signum();
    (n / g, d / g)
}

/// Solves a small system by Gauss with fractions.
fn solve_fractions(mut rows: Vec<Vec<Fraction>>) -> Option<Vec<Fraction>> {
    let size = rows.len();
    for k in 0..size {
        let pivot = (k..size).find(|&i| rows[i][k].0 != 0)?;
        rows.swap(k, pivot);
        let top = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = reduced(row[k].0 * top[k].1, row[k].1 * top[k].0);
            for (value, above) in row.iter_mut().zip(&top) {
                *value = if i == k {
                    reduced(value.0 * top[k].1, value.1 * top[k].0)
                } else {
                    let less = reduced(factor.0 * above.0, factor.1 * above.1);
                    reduced(value.0 * less.1 - less.0 * value.1, value.1 * less.1)
                };
            }
        }
    }
    Some(rows.iter().map(|row| row[size]).collect())
}

/// The least squared length in the hull: the least over all small sets of points whose nearest point of the affine
/// hull lies in their hull.
fn brute_force(points: &[Vec<i128>]) -> Fraction {
    let dimension = points[0].len();
    let mut best: Option<Fraction> = None;
    for set in 1u32..1 << points.len() {
        let chosen: Vec<&Vec<i128>> =
            (0..points.len()).filter(|i| set >> i & 1 == 1).map(|i| &points[i]).collect();
        let size = chosen.len();
        if size > dimension + 1 {
            continue;
        }
        let product = |a: &[i128], b: &[i128]| -> i128 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let mut rows: Vec<Vec<Fraction>> = chosen
            .iter()
            .map(|a| chosen.iter().map(|b| product(a, b)).chain([-1, 0]).map(|v| (v, 1)).collect())
            .collect();
        rows.push((0..size).map(|_| 1).chain([0, 1]).map(|v| (v, 1)).collect());
        if let Some(solution) = solve_fractions(rows)
            && solution[..size].iter().all(|share| share.0 >= 0)
        {
            let level = solution[size];
            best = Some(best.map_or(level, |b| if level.0 * b.1 < b.0 * level.1 { level } else { b }));
        }
    }
    best.unwrap()
}

fn squared_length(end: &End) -> Option<(IBig, i64, IBig)> {
    let End::Outside { weights, exponent, denominator, .. } = end else { return None };
    Some((dot(weights, weights), 2 * exponent, denominator * denominator))
}

fn grid(dimension: usize, most: usize) -> impl Strategy<Value = Vec<Vec<i8>>> {
    prop::collection::vec(prop::collection::vec(-2i8..=3, dimension), 1..=most)
}

fn floats(rows: &[Vec<i8>], unit: f64) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|&value| f64::from(value) * unit).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nearest_points_of_grids(
        (rows, exponent) in (1usize..=3).prop_flat_map(|d| (grid(d, 8), prop::sample::select(vec![0, -1074, 990]))),
        start in prop::collection::vec((0usize..10, -1.0f64..2.0), 0..6),
        directions in any::<bool>(),
    ) {
        let unit = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        let rows_f64 = floats(&rows, unit);
        let data = dataset(&rows_f64);
        let examples = Examples::with_signs(&data, vec![1; rows.len()], Bias::None);
        let hull = if directions { Hull::Directions } else { Hull::Rows };
        let points = Points { examples: &examples, hull };
        let candidates: Vec<usize> = (0..rows.len()).collect();
        let end = exact_point(points, &[], &candidates, &Start { rows: start }, &mut || false);
        verify(points, &[], &candidates, &end);
        let integers: Vec<Vec<i128>> = rows.iter().map(|r| r.iter().map(|&v| v.into()).collect()).collect();
        let (n, d) = brute_force(&integers);
        match squared_length(&end) {
            None => prop_assert_eq!(n, 0),
            Some((n2, e, d2)) => {
                prop_assert!(n > 0);
                if !directions {
                    let e = e - 2 * i64::from(exponent);
                    let (up, down) = (e.max(0) as usize, (-e).max(0) as usize);
                    prop_assert_eq!((n2 << up) * IBig::from(d), (d2 << down) * IBig::from(n));
                }
            }
        }
    }

    #[test]
    fn nearest_points_of_two_sides(
        (rows, signs) in (1usize..=2).prop_flat_map(|d| grid(d, 6)).prop_flat_map(|rows| {
            let n = rows.len();
            (Just(rows), prop::collection::vec(prop::sample::select(vec![-1i8, 1]), n))
        }),
        start in prop::collection::vec((0usize..6, 0.0f64..2.0), 0..6),
    ) {
        let rows_f64 = floats(&rows, 1.0);
        let data = dataset(&rows_f64);
        let examples = Examples::with_signs(&data, signs.clone(), Bias::Free);
        let points = Points { examples: &examples, hull: Hull::TwoSides };
        let candidates: Vec<usize> = (0..rows.len()).collect();
        let end = exact_point(points, &[], &candidates, &Start { rows: start }, &mut || false);
        if signs.iter().all(|&sign| sign == signs[0]) {
            prop_assert_eq!(end, End::Empty);
            return Ok(());
        }
        verify(points, &[], &candidates, &end);
        let mut differences: Vec<Vec<i128>> = Vec::new();
        for (a, _) in rows.iter().zip(&signs).filter(|(_, sign)| **sign > 0) {
            for (b, _) in rows.iter().zip(&signs).filter(|(_, sign)| **sign < 0) {
                differences.push(a.iter().zip(b).map(|(&a, &b)| i128::from(a) - i128::from(b)).collect());
            }
        }
        let (n, d) = brute_force(&differences);
        match squared_length(&end) {
            None => prop_assert_eq!(n, 0),
            Some((n2, e, d2)) => {
                let (up, down) = (e.max(0) as usize, (-e).max(0) as usize);
                prop_assert_eq!((n2 << up) * IBig::from(d), (d2 << down) * IBig::from(n));
            }
        }
    }

    #[test]
    fn hulls_with_free_directions(
        (rows, free) in (2usize..=4).prop_flat_map(|d| grid(d, 9)).prop_flat_map(|rows| {
            let n = rows.len();
            (Just(rows), prop::collection::vec(0..n, 0..3))
        }),
        scales in prop::collection::vec(-1000i32..1000, 9),
        start in prop::collection::vec((0usize..9, 0.0f64..2.0), 0..6),
        hull in prop::sample::select(vec![Hull::Directions, Hull::Rows]),
    ) {
        let mut rows_f64 = floats(&rows, 1.0);
        rows_f64.iter_mut().zip(&scales).for_each(|(row, &e)| row.iter_mut().for_each(|v| *v *= 2f64.powi(e)));
        let data = dataset(&rows_f64);
        let examples = Examples::with_signs(&data, vec![1; rows.len()], Bias::None);
        let points = Points { examples: &examples, hull };
        let candidates: Vec<usize> = (0..rows.len()).filter(|i| !free.contains(i)).collect();
        let end = exact_point(points, &free, &candidates, &Start { rows: start.clone() }, &mut || false);
        if candidates.is_empty() {
            prop_assert_eq!(end, End::Empty);
            return Ok(());
        }
        verify(points, &free, &candidates, &end);
        // The decision does not depend on the scale of the rows.
        let other = Points { hull: if hull == Hull::Rows { Hull::Directions } else { Hull::Rows }, ..points };
        let again = exact_point(other, &free, &candidates, &Start::default(), &mut || false);
        prop_assert_eq!(matches!(end, End::Inside { .. }), matches!(again, End::Inside { .. }));
    }

    #[test]
    fn any_floats_at_all(
        rows in prop::collection::vec(
            prop::collection::vec(any::<f64>().prop_map(|v| if v.is_finite() { v } else { 0.0 }), 3), 1..8),
        signs in prop::collection::vec(prop::sample::select(vec![-1i8, 1]), 8),
        hull in prop::sample::select(vec![Hull::Directions, Hull::Rows, Hull::TwoSides]),
    ) {
        let data = dataset(&rows);
        let examples = Examples::with_signs(&data, signs[..rows.len()].to_vec(), Bias::Append(1.0));
        let points = Points { examples: &examples, hull };
        let candidates: Vec<usize> = (0..rows.len()).collect();
        let end = exact_point(points, &[], &candidates, &Start::default(), &mut || false);
        if end != End::Empty {
            verify(points, &[], &candidates, &end);
        }
    }
}

#[test]
fn a_margin_that_floats_cannot_see() {
    // Both sides of a boundary through the origin, 2⁻⁶⁰ apart: and closed by one more row.
    let tiny = 2f64.powi(-60);
    let rows = vec![vec![1.0, tiny], vec![-1.0, tiny], vec![-1.0 / 3.0, tiny], vec![1e300, 1e-300]];
    let data = dataset(&rows);
    let examples = Examples::with_signs(&data, vec![1; 4], Bias::None);
    for hull in [Hull::Directions, Hull::Rows] {
        let points = Points { examples: &examples, hull };
        let end = exact_point(points, &[], &[0, 1, 2, 3], &Start::default(), &mut || false);
        assert!(matches!(end, End::Outside { .. }));
        verify(points, &[], &[0, 1, 2, 3], &end);
    }
    let closed: Vec<Vec<f64>> = rows.into_iter().chain([vec![5e-324, -5e-324]]).collect();
    let data = dataset(&closed);
    let examples = Examples::with_signs(&data, vec![1; 5], Bias::None);
    let points = Points { examples: &examples, hull: Hull::Rows };
    let end = exact_point(points, &[], &[0, 1, 2, 3, 4], &Start::default(), &mut || false);
    assert!(matches!(end, End::Inside { .. }));
    verify(points, &[], &[0, 1, 2, 3, 4], &end);
}

#[test]
fn free_rows_that_the_prime_takes_for_dependent() {
    // The determinant of the first two rows is the prime 2⁶¹ − 31; the third depends on them in truth.
    let large = 2f64.powi(61);
    let rows = [[large, 31.0, 0.0], [1.0, 1.0, 0.0], [3.0, 3.0, 0.0], [5.0, 0.0, 1.0], [7.0, 2.0, -1.0]];
    let data = dataset(&rows.map(Vec::from));
    let examples = Examples::with_signs(&data, vec![1; 5], Bias::None);
    let points = Points { examples: &examples, hull: Hull::Rows };
    let start = Start { rows: vec![(3, 1.0), (4, 1.0)] };
    for candidates in [&[3usize][..], &[3, 4]] {
        let end = exact_point(points, &[0, 1, 2], candidates, &start, &mut || false);
        verify(points, &[0, 1, 2], candidates, &end);
        assert_eq!(matches!(end, End::Inside { .. }), candidates.len() == 2);
    }
}

#[test]
fn stops_when_told_and_says_when_there_is_nothing() {
    let data = dataset(&[vec![1.0, 2.0]]);
    let examples = Examples::with_signs(&data, vec![1], Bias::None);
    let points = Points { examples: &examples, hull: Hull::Rows };
    assert_eq!(exact_point(points, &[], &[0], &Start::default(), &mut || true), End::Stopped);
    assert_eq!(exact_point(points, &[], &[], &Start::default(), &mut || false), End::Empty);
}

fn random_rows(rows: usize, columns: usize, shift: f64) -> Vec<Vec<f64>> {
    let mut random = Random::new(9);
    let mut row = || {
        let mut row: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
        row[0] = row[0].abs() * shift + shift * 0.1;
        row
    };
    (0..rows).map(|_| row()).collect()
}

#[test]
fn larger_hulls_from_a_good_start() {
    for (columns, shift) in [(12, 1.0), (12, 1e-9), (12, 0.0)] {
        let data = dataset(&random_rows(200, columns, shift));
        let examples = Examples::with_signs(&data, vec![1; 200], Bias::None);
        let points = Points { examples: &examples, hull: Hull::Rows };
        let candidates: Vec<usize> = (0..200).collect();
        let end = exact_point(points, &[], &candidates, &Start::default(), &mut || false);
        verify(points, &[], &candidates, &end);
        let (End::Outside { support, .. } | End::Inside { support, .. }) = &end else { panic!() };
        let start = Start { rows: support.iter().map(|&(row, _)| (row, 1.0)).collect() };
        let mut asked = 0;
        let again = exact_point(points, &[], &candidates, &start, &mut || {
            asked += 1;
            false
        });
        verify(points, &[], &candidates, &again);
        assert!(asked <= 2, "{asked}");
    }
}

#[test]
#[ignore = "measures; run by hand with --release --nocapture"]
#[allow(clippy::print_stderr)]
fn times() {
    for (count, columns, shift) in [(2000, 20, 1e-3), (2000, 50, 1e-6), (2000, 50, 0.0), (2000, 100, 1e-6)] {
        let data = dataset(&random_rows(count, columns, shift));
        let examples = Examples::with_signs(&data, vec![1; count], Bias::None);
        let points = Points { examples: &examples, hull: Hull::Rows };
        let candidates: Vec<usize> = (0..count).collect();
        let mut start = Start::default();
        for name in ["cold", "warm"] {
            let clock = std::time::Instant::now();
            let mut asked = 0;
            let end = exact_point(points, &[], &candidates, &start, &mut || {
                asked += 1;
                false
            });
            let (End::Outside { support, .. } | End::Inside { support, .. }) = &end else { panic!() };
            let kind = if matches!(end, End::Inside { .. }) { "inside" } else { "outside" };
            eprintln!(
                "{count} x {columns}, {shift:e}, {name}: {kind}, {} rows, asked {asked}, {:?}",
                support.len(),
                clock.elapsed()
            );
            start = Start { rows: support.iter().map(|&(row, _)| (row, 1.0)).collect() };
        }
    }
}

//! A sample of the rows against all of them.

use super::super::SeparateSettings;
use super::super::agreements::positive_agreements;
use super::super::decide::space_of;
use super::super::number::ExactVector;
use super::super::real::DoubleDouble;
use super::super::testing::instances::{Instance, power};
use super::super::testing::{examples, from, normals, problem, sides, space};
use super::*;
use crate::theory::margin::Extent;
use linsep_check::Bias;

/// Many rows on the right side of a boundary with a gap around it; `columns` of them, few or many used.
fn many(number: u64, n: usize, columns: usize, bias: Bias, separable: bool) -> Instance {
    let random = &mut Random::stream(11, number);
    let w = normals(random, 1, columns).remove(0);
    let signs = sides(random, n);
    let rows = signs
        .iter()
        .map(|&sign| {
            let mut row = vec![0.0; columns];
            if columns <= 16 {
                row = normals(random, 1, columns).remove(0);
            } else {
                for _ in 0..3 {
                    row[random.below(columns as u64) as usize] = random.normal();
                }
                row[0] = random.normal();
            }
            let level: f64 = row.iter().zip(&w).map(|(x, w)| x * w).sum();
            let squared: f64 = w.iter().map(|w| w * w).sum();
            if separable {
                // Moved along w to its side, at least 0.1 away.
                let wanted = f64::from(sign) * (level.abs() + 0.1);
                if columns <= 16 {
                    let step = (wanted - level) / squared;
                    row.iter_mut().zip(&w).for_each(|(x, w)| *x += step * w);
                } else {
                    row[0] += (wanted - level) / w[0];
                }
            }
            row
        })
        .collect();
    Instance { sparse: columns > 16, ..problem(rows, signs, bias) }
}

/// The same by the active set over all rows.
fn of_all<T: Real>(space: &Space<'_>, rows: &[usize], directions: &[usize]) -> (f64, Vec<f64>) {
    let width = space.coordinates();
    let dense = |row: usize| {
        let mut point = vec![0.0; width];
        space.entries(row).for_each(|(column, value)| point[column] = value);
        point
    };
    let mut points = Points::new(width);
    for &row in rows {
        points.push(space.group(row), |point| point.copy_from_slice(&dense(row)));
    }
    let directions: Vec<Vec<f64>> = directions.iter().map(|&row| dense(row)).collect();
    let start: Vec<(usize, f64)> = (0..space.groups())
        .map(|group| ((0..points.len()).find(|&k| points.group(k) == group).unwrap(), 1.0))
        .collect();
    let mut set = ActiveSet::<T>::new(&points, space.groups(), &directions, &start);
    set.search(&points, 100_000, &mut || false);
    (set.distance(), set.w.iter().map(|x| x.to_f64()).collect())
}

fn check<T: Real>(space: &Space<'_>, rows: &[usize], directions: &[usize], told: &str) -> Nearest {
    let observer = &mut ();
    let mut budget = Budget::new(observer, None);
    let found = nearest::<T>(space, rows, directions, &[], &mut budget);
    let (distance, w) = of_all::<T>(space, rows, directions);
    let scale = space.radius * space.factor();
    let off = (found.relative_distance - distance / scale).abs();
    assert!(off <= 1000.0 * T::ROUNDOFF + 4.0 * f64::EPSILON * distance / scale, "{told}: {off:e}");
    assert!(budget.passes > 0 || found.end == End::Origin, "{told}");
    // Near the origin directions say nothing.
    if distance > 1e-6 * scale {
        assert_eq!(found.end, End::Optimal, "{told}");
        let high: Vec<f64> = found.w.iter().map(|w| w[0]).collect();
        for (found, expected) in high.iter().zip(&w) {
            assert!((found - expected).abs() <= 1e-9 * scale, "{told}: {found} is not {expected}");
        }
    }
    // Each simplex sums to 1, and no row is below the level.
    for group in 0..space.groups() {
        let ours = found.support.iter().filter(|(row, _)| usize::from(space.group(*row)) == group);
        let sum = ours.fold(-1.0, |sum, (_, weight)| sum + weight[0]);
        assert!(sum.abs() < 1e-12, "{told}: sum off by {sum:e}");
    }
    found
}

#[test]
fn a_sample_leads_to_the_point_of_all_rows() {
    for (number, columns, n) in [(0, 1, 2500), (1, 3, 2500), (2, 8, 6000), (3, 520, 2100)] {
        for (k, bias) in [Bias::None, Bias::Append(0.5), Bias::Free].into_iter().enumerate() {
            for separable in [true, false] {
                // The reference is slow where there are many columns.
                if columns > 16 && !(separable && bias == Bias::Append(0.5)) {
                    continue;
                }
                let problem = many(10 * number + k as u64, n, columns, bias, separable);
                let data = problem.dataset();
                let examples = examples(&data, &problem);
                let rows: Vec<usize> = (0..n).collect();
                let space = Space { two_hulls: bias == Bias::Free, ..space(&examples) };
                let working = WorkingRows::new(&space, &rows, &[]);
                assert!(working.rows.len() < n, "this is no sample");
                let told = format!("{columns} columns, {bias:?}, separable {separable}");
                check::<f64>(&space, &rows, &[], &told);
                if columns <= 16 {
                    check::<DoubleDouble>(&space, &rows, &[], &told);
                    check::<f64>(&space, &rows[5..], &[1, 3], &told);
                }
            }
        }
    }
}

/// Rows that the sample does not have use columns that the sample does not use: the boundary must be found anyway.
#[test]
fn columns_that_the_sample_does_not_use() {
    let (n, columns) = (4000, 700);
    let random = &mut Random::stream(12, 0);
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![0.0; columns];
            row[0] = 1.0 + random.uniform();
            row[1 + i % 3] = random.normal();
            if i % 40 == 7 {
                // Only these rows are near, each in a column of its own or nearly so.
                row[0] = 0.05;
                row[10 + (i / 40) * 6] = if i % 80 == 7 { 1.0 } else { -1.0 };
            }
            row
        })
        .collect();
    let problem = Instance { sparse: true, ..problem(rows, vec![1; n], Bias::None) };
    let data = problem.dataset();
    let examples = examples(&data, &problem);
    let all: Vec<usize> = (0..n).collect();
    check::<f64>(&space(&examples), &all, &[], "f64");
    check::<DoubleDouble>(&space(&examples), &all, &[], "pairs");
}

fn bits(found: &Nearest) -> Vec<u64> {
    let w = found.w.iter().flatten().map(|x| x.to_bits());
    let support = found
        .support
        .iter()
        .flat_map(|(row, weight)| [*row as u64].into_iter().chain(weight.iter().map(|x| x.to_bits())));
    w.chain(support).chain([found.relative_distance.to_bits()]).collect()
}

#[test]
fn same_bits_on_one_thread_and_two() {
    for (number, columns) in [(0, 4), (1, 600)] {
        let problem = many(100 + number, 9000, columns, Bias::Append(1.0), number == 0);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let rows: Vec<usize> = (0..data.len()).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                nearest::<f64>(&space(&examples), &rows, &[], &[], &mut Budget::new(&mut (), None))
            })
        };
        assert_eq!(bits(&run(1)), bits(&run(2)));
    }
}

#[test]
fn too_little_memory_stops_and_enough_does_not() {
    let problem = many(200, 3000, 8, Bias::None, true);
    let data = problem.dataset();
    let examples = examples(&data, &problem);
    let rows: Vec<usize> = (0..3000).collect();
    let run = |memory: u64| {
        let space = Space { memory, ..space(&examples) };
        let observer = &mut ();
        let mut budget = Budget::new(observer, None);
        (nearest::<f64>(&space, &rows, &[], &[], &mut budget).end, budget.reason())
    };
    let (end, reason) = run(1000);
    assert_eq!(end, End::Stopped);
    assert!(reason.contains("memory"), "{reason}");
    assert_eq!(run(1 << 24).0, End::Optimal);
}

/// Powers of two change nothing but the scale: rows beyond what squares can bear are brought back by the space.
#[test]
fn extreme_rows_are_scaled() {
    for number in 0..40 {
        let random = &mut Random::stream(13, number);
        let plain = many(300 + number, from(random, 2, 30), 3, Bias::Free, true);
        if !plain.has_both_sides() {
            continue;
        }
        let run = |exponent: i64| {
            let factor = power(exponent);
            let rows = plain.rows.iter().map(|row| row.iter().map(|x| x * factor).collect()).collect();
            let scaled = problem(rows, plain.signs.clone(), Bias::Free);
            let data = scaled.dataset();
            let examples = examples(&data, &scaled);
            let features = Extent::of(&data, 0.0);
            let space =
                Space { two_hulls: true, ..space_of(&examples, &features, &SeparateSettings::default()) };
            let rows: Vec<usize> = (0..data.len()).collect();
            let found = nearest::<f64>(&space, &rows, &[], &[], &mut Budget::new(&mut (), None));
            // The bias is right too: all rows are on their right sides.
            let w = ExactVector::from_parts(&found.w);
            assert!(positive_agreements(&examples, &rows, &w, space.radius).is_ok(), "2^{exponent}");
            let rows: Vec<usize> = found.support.iter().map(|(row, _)| *row).collect();
            (found.end, rows, found.relative_distance)
        };
        let expected = run(0);
        for exponent in [-900, -300, 300, 900] {
            let found = run(exponent);
            assert_eq!((&found.0, &found.1), (&expected.0, &expected.1), "2^{exponent}");
            assert!((found.2 - expected.2).abs() < 1e-12, "2^{exponent}: {} {}", found.2, expected.2);
        }
    }
}

//! The way for many features against the exact verdict: forced on small rows, and on rows with many columns.

use super::super::contradictions::contradictions;
use super::super::decide::{FEW_SPARSE, search};
use super::super::testing::instances::{FAMILIES, Instance, instance};
use super::super::testing::{self, from, is_tame, problem, times, truth};
use super::super::{SeparateSettings, Separation, Verdict, separate};
use super::*;
use crate::random::Random;
use std::collections::BTreeMap;

/// Never wrong, and for rows of usual size never undecided.
#[test]
fn small_rows_by_the_way_for_many_features() {
    let mut undecided: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = [0; 3];
    for number in 0..times(60 * FAMILIES.len() as u64) {
        let (family, problem) = instance(61, number);
        let data = problem.dataset();
        let examples = testing::examples(&data, &problem);
        let (rows, z) = (problem.present(), problem.z());
        let space = testing::space(&examples);
        let observer = &mut ();
        let mut budget = Budget::new(observer, None);
        let (_, found, _) = search(&space, &rows, true, &mut budget);
        let (verdict, inside) = truth(&z);
        let told = format!("{number}, {family}: {problem:?}");
        match found {
            Found::Undecided(_) => {
                assert!(!is_tame(&z, 12), "undecided: {told}");
                *undecided.entry(family).or_default() += 1;
                continue;
            }
            Found::Overlap => assert_eq!(verdict, Verdict::Overlap, "{told}"),
            Found::Positive { boundary, w, .. } => {
                let expected: Vec<usize> = (0..z.len()).filter(|&k| inside[k]).map(|k| rows[k]).collect();
                assert_eq!(boundary, expected, "{told}");
                for &row in &rows {
                    let is_inside = boundary.contains(&row);
                    let expected =
                        if is_inside { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Greater };
                    assert_eq!(w.dot(&examples, row).sign(), expected, "{told}");
                }
            }
        }
        seen[verdict as usize] += 1;
    }
    let total: usize = undecided.values().sum();
    assert!(seen.iter().all(|&count| count > 60), "{seen:?}, undecided {undecided:?}");
    assert!((total as u64) * 20 < times(60 * FAMILIES.len() as u64), "undecided: {undecided:?}");
}

/// The columns of the rows spread over more than [`FEW_SPARSE`] columns.
fn spread(problem: &Instance, random: &mut Random) -> Instance {
    let columns = FEW_SPARSE + 50;
    let d = problem.rows[0].len();
    let mut places: Vec<usize> = (0..columns).collect();
    random.shuffle(&mut places);
    let mut places = places[..d].to_vec();
    places.sort_unstable();
    let rows = problem.rows.iter().map(|row| {
        let mut wide = vec![0.0; columns];
        places.iter().zip(row).for_each(|(&place, &value)| wide[place] = value);
        wide
    });
    Instance { rows: rows.collect(), sparse: true, ..problem.clone() }
}

/// Decides by the public way, and checks the certificate once more.
fn run(problem: &Instance, settings: SeparateSettings) -> Separation {
    let data = problem.dataset();
    let settings = SeparateSettings { bias: problem.bias, ..settings };
    let found = separate(&data, &settings.with_classes(&Instance::classes()), &mut ()).unwrap();
    if let Some(certificate) = &found.certificate {
        let accepted = testing::verify(certificate, &testing::examples(&data, problem)).unwrap();
        let boundary = match found.verdict {
            Verdict::Overlap => problem.present().len(),
            _ => found.boundary.len(),
        };
        assert_eq!(accepted.boundary_rows, boundary);
        assert!(accepted.boundary_is_exact);
    } else {
        assert_eq!(found.verdict, Verdict::Undecided);
    }
    found
}

#[test]
fn small_rows_among_many_columns() {
    for number in 0..times(300) {
        let (family, problem) = instance(62, number);
        let z = problem.z();
        if !is_tame(&z, 12) || (problem.bias == Bias::Free && !problem.has_both_sides()) {
            continue;
        }
        let (verdict, inside) = truth(&z);
        let present = problem.present();
        let expected: Vec<usize> = (0..z.len()).filter(|&k| inside[k]).map(|k| present[k]).collect();
        let found = run(&spread(&problem, &mut Random::stream(63, number)), SeparateSettings::default());
        assert_eq!(found.verdict, verdict, "{number}, {family}: {problem:?}");
        if verdict == Verdict::QuasiComplete {
            assert_eq!(found.boundary, expected, "{number}, {family}");
        }
        if verdict == Verdict::Complete {
            let few = separate(
                &problem.dataset(),
                &SeparateSettings { bias: problem.bias, ..Instance::classes().into() },
                &mut (),
            )
            .unwrap();
            // Both intervals contain the margin.
            assert!(found.margin.lower.unwrap() <= few.margin.upper, "{number}, {family}");
            assert!(few.margin.lower.unwrap() <= found.margin.upper, "{number}, {family}");
        }
    }
}

const BIASES: [Bias; 3] = [Bias::None, Bias::Append(1.0), Bias::Free];

/// Random sparse rows over many columns, which random sides separate.
fn sparse_rows(random: &mut Random, n: usize, columns: usize) -> Vec<Vec<f64>> {
    (0..n)
        .map(|_| {
            let mut row = vec![0.0; columns];
            for _ in 0..12 {
                row[random.below(columns as u64) as usize] = random.below(5) as f64 - 2.0;
            }
            row
        })
        .collect()
}

fn made(number: u64, bias: Bias, n: usize) -> (Instance, Random) {
    let mut random = Random::stream(64, number);
    // Few of the columns are used by many rows, so that peeling does not take all.
    let mut rows = sparse_rows(&mut random, n, FEW_SPARSE + 300);
    for row in &mut rows {
        for column in 0..40 {
            row[column * 7] = random.below(3) as f64 - 1.0;
        }
    }
    let signs = (0..n).map(|i| if i % 2 == 0 { 1 } else { -1 }).collect();
    (Instance { sparse: true, ..problem(rows, signs, bias) }, random)
}

#[test]
fn separable_rows_with_many_columns() {
    for (number, bias) in BIASES.into_iter().enumerate() {
        let (problem, _) = made(number as u64, bias, 60);
        let found = run(&problem, SeparateSettings { gap: Some(1e-3), ..SeparateSettings::default() });
        assert_eq!(found.verdict, Verdict::Complete, "{bias:?}: {:?}", found.stopped);
        let (lower, upper) = (found.margin.lower.unwrap(), found.margin.upper);
        assert!(upper - lower <= 1e-3 * upper, "{bias:?}: {lower} to {upper}, {:?}", found.stopped);
        // A limit of passes leaves a wider interval that has this one inside.
        let wider = run(&problem, SeparateSettings { max_passes: Some(1), ..SeparateSettings::default() });
        assert_eq!(wider.verdict, Verdict::Complete);
        assert!(wider.margin.lower.unwrap() <= upper && lower <= wider.margin.upper);
        assert!(wider.stopped.is_some());
    }
}

#[test]
fn a_contradictory_pair_among_many_columns() {
    for (number, bias) in BIASES.into_iter().enumerate() {
        let (mut problem, _) = made(10 + number as u64, bias, 40);
        // The same row on both sides.
        problem.rows[17] = problem.rows[4].clone();
        let found = run(&problem, SeparateSettings::default());
        assert_eq!(found.verdict, Verdict::QuasiComplete, "{bias:?}: {:?}", found.stopped);
        assert_eq!(found.boundary, [4, 17], "{bias:?}");
        assert_eq!(found.contradictions, [[4, 17]], "{bias:?}");
    }
}

#[test]
fn overlapping_rows_with_many_columns() {
    for (number, bias) in BIASES.into_iter().enumerate() {
        // Every row on both sides.
        let (problem, _) = made(20 + number as u64, bias, 20);
        let mut both = problem.clone();
        both.rows.extend(problem.rows.clone());
        both.signs.extend(problem.signs.iter().map(|sign| -sign));
        let found = run(&both, SeparateSettings::default());
        assert_eq!(found.verdict, Verdict::Overlap, "{bias:?}: {:?}", found.stopped);
        assert_eq!(found.contradictions.len(), 20);
        // Rows that surround the origin, without a pair that contradicts: the sum of all is zero.
        let mut closed = problem.clone();
        let (d, n) = (problem.rows[0].len(), problem.rows.len());
        let sum = |sign: i8, column: usize| -> f64 {
            (0..n).filter(|&i| problem.signs[i] == sign).map(|i| problem.rows[i][column]).sum()
        };
        // As many rows of either side, so that the bias cancels too.
        let half: Vec<f64> = (0..d).map(|column| sum(1, column) - sum(-1, column)).collect();
        closed.rows.push(half.iter().map(|value| -value).collect());
        closed.signs.push(1);
        closed.rows.push(vec![0.0; d]);
        closed.signs.push(-1);
        let found = run(&closed, SeparateSettings::default());
        assert_eq!(found.verdict, Verdict::Overlap, "{bias:?}: {:?}", found.stopped);
    }
}

/// A row midway between two of the other side: three conflicting rows, among many that could be.
#[test]
fn a_circuit_of_three_rows_hidden_among_many() {
    for (number, bias) in BIASES.into_iter().enumerate() {
        let (mut problem, mut random) = made(30 + number as u64, bias, 60);
        let midway: Vec<f64> =
            problem.rows[6].iter().zip(&problem.rows[20]).map(|(a, b)| (a + b) / 2.0).collect();
        problem.rows[33] = midway;
        let found = run(&problem, SeparateSettings::default());
        assert_eq!(found.verdict, Verdict::QuasiComplete, "{bias:?}: {:?}", found.stopped);
        assert_eq!(found.boundary, [6, 20, 33], "{bias:?}");
        let mut witness: Vec<(usize, f64)> =
            found.witness.iter().map(|share| (share.row, share.value)).collect();
        assert_eq!(witness.remove(0), (33, 0.5), "{bias:?}");
        assert!(witness.iter().all(|&(_, value)| value == 0.25), "{witness:?}");
        // Beside it a second one, which shares no row with it, and a row in the plane of both.
        let place = from(&mut random, 0, 2) * 2;
        let other: Vec<f64> =
            problem.rows[41].iter().zip(&problem.rows[51]).map(|(a, b)| (a + 3.0 * b) / 4.0).collect();
        problem.rows[place] = other;
        let found = run(&problem, SeparateSettings::default());
        let mut expected = vec![6, 20, 33, place, 41, 51];
        expected.sort_unstable();
        assert_eq!((found.verdict, found.boundary), (Verdict::QuasiComplete, expected), "{bias:?}");
    }
}

/// All rows peeled, by weights that no floats hold: whole numbers do.
#[test]
fn rows_too_far_apart_in_size_for_floats() {
    let columns = 30;
    let rows: Vec<Vec<f64>> = (0..columns)
        .map(|i| (0..columns).map(|j| if j == i { 1e-12 } else { -f64::from(j == i + 1) }).collect())
        .collect();
    let problem = problem(rows, vec![1; columns], Bias::None);
    let data = problem.dataset();
    let examples = testing::examples(&data, &problem);
    let observer = &mut ();
    let mut budget = Budget::new(observer, None);
    let faces = Faces::new(&examples);
    assert!(contradictions(&examples).pairs.is_empty());
    let (_, found) = decide(&testing::space(&examples), faces, &problem.present(), &mut budget);
    match found {
        Found::Positive { boundary, .. } => assert!(boundary.is_empty()),
        _ => panic!("these rows are separable"),
    }
}

#[test]
fn shares_sum_to_one() {
    let problem = problem(vec![vec![1.0]; 4], vec![1, -1, 1, -1], Bias::Free);
    let data = problem.dataset();
    let support = [(0, 3.0), (1, 5.0), (2, 1.0)];
    let free = testing::examples(&data, &problem);
    assert_eq!(simplex(&free, &support), [(0, [0.75, 0.0]), (1, [1.0, 0.0]), (2, [0.25, 0.0])]);
    let appended = Examples::with_signs(&data, problem.signs.clone(), Bias::Append(1.0));
    let one = simplex(&appended, &support);
    assert!((one.iter().map(|(_, share)| share[0]).sum::<f64>() - 1.0).abs() < 1e-15);
}

/// One-hot rows: a word for each of some columns, one coordinate for each word, many of them rare.
fn one_hot(random: &mut Random, n: usize, levels: &[u64]) -> Vec<Vec<f64>> {
    let width = levels.iter().sum::<u64>() as usize;
    let row = |random: &mut Random| {
        let mut row = vec![0.0; width];
        let mut start = 0;
        for &count in levels {
            row[start + random.below(count) as usize] = 1.0;
            start += count as usize;
        }
        row
    };
    (0..n).map(|_| row(random)).collect()
}

/// What is left when columns are eliminated has the same answer, and its proof is one of the rows themselves.
#[test]
fn elimination_changes_nothing() {
    let (mut seen, mut smaller) = ([0; 3], 0);
    for number in 0..times(600) {
        let random = &mut Random::stream(65, number);
        let n = from(random, 2, 16);
        let levels: Vec<u64> = (0..from(random, 1, 3)).map(|_| 1 + random.below(6)).collect();
        let mut rows = one_hot(random, n, &levels);
        if number % 3 == 0 {
            // Entries of other sizes: sums of rows may vanish, or have entries that no longer allow elimination.
            rows.iter_mut().flatten().for_each(|value| *value *= [1.0, -1.0, 2.0][random.below(3) as usize]);
        }
        let mut signs = testing::sides(random, n);
        signs[0] = 1;
        let problem = problem(rows, signs, BIASES[from(random, 0, 2)]);
        let data = problem.dataset();
        let examples = testing::examples(&data, &problem);
        let (present, z) = (problem.present(), problem.z());
        let Some(eliminated) = eliminate(&examples, &present, &mut || false) else { continue };
        smaller += usize::from(eliminated.len() > 0);
        let observer = &mut ();
        let (faces, found) = by_elimination(
            &testing::space(&examples),
            &Faces::new(&examples),
            &eliminated,
            &present,
            &mut Budget::new(observer, None),
        );
        let (verdict, inside) = truth(&z);
        let expected: Vec<usize> = (0..z.len()).filter(|&k| inside[k]).map(|k| present[k]).collect();
        let told = format!("{number}: {problem:?}");
        match found {
            Found::Undecided(_) => panic!("undecided: {told}"),
            Found::Overlap => assert_eq!(verdict, Verdict::Overlap, "{told}"),
            Found::Positive { boundary, w, .. } => {
                assert_eq!(boundary, expected, "{told}");
                for &row in &present {
                    let sign = w.dot(&examples, row).sign();
                    assert_eq!(sign.is_eq(), boundary.contains(&row), "{told}");
                    assert!(sign.is_ge(), "{told}");
                }
            }
        }
        // Every row of B has a share, and together they vanish.
        let shares = faces.shares();
        assert_eq!(shares.keys().copied().collect::<Vec<_>>(), expected, "{told}");
        assert!(shares.values().all(|share| share.sign().is_gt()), "{told}");
        for column in 0..examples.dimension() {
            let term =
                |(&row, share): (&usize, &Exact)| share.times(&Exact::from_f64(examples.dense(row)[column]));
            let sum = shares.iter().map(term).fold(Exact::zero(), |sum, term| sum.plus(&term));
            assert!(sum.sign().is_eq(), "{told}");
        }
        // No row of the witness can be left out: the others are separable.
        let witness: Vec<usize> = faces.witness.iter().map(|&(row, _)| row).collect();
        assert_eq!(witness.is_empty(), expected.is_empty(), "{told}");
        for left_out in &witness {
            let others: Vec<Vec<f64>> =
                witness.iter().filter(|row| *row != left_out).map(|&row| examples.dense(row)).collect();
            assert!(others.is_empty() || truth(&others).0 == Verdict::Complete, "{told}");
        }
        seen[verdict as usize] += 1;
    }
    assert!(seen.iter().all(|&count| count > 20) && smaller > 100, "{seen:?} {smaller}");
}

/// Words of many levels with random sides: decided, with every row of B in the proof.
#[test]
fn one_hot_rows_with_random_sides() {
    for (number, bias) in BIASES.into_iter().enumerate() {
        let mut random = Random::stream(66, number as u64);
        let rows = one_hot(&mut random, 560, &[500, 14, 5]);
        let signs = testing::sides(&mut random, 560);
        let problem = Instance { sparse: true, ..problem(rows, signs, bias) };
        let found = run(&problem, SeparateSettings::default());
        assert_eq!(found.verdict, Verdict::QuasiComplete, "{bias:?}: {:?}", found.stopped);
        assert!(found.boundary_is_exact && found.complete_is_ruled_out, "{bias:?}");
        assert!(found.boundary.len() > 50 && found.boundary.len() < 500, "{}", found.boundary.len());
    }
}

/// When the time limit was reached, what columns with one sign prove is told all the same: with a
/// contradiction that is quasi-complete
/// separation, and without one that the rows do not overlap.
#[test]
fn columns_with_one_sign_need_no_time() {
    let no_time = || SeparateSettings { max_seconds: Some(1e-9), ..SeparateSettings::default() };
    for (number, bias) in BIASES.into_iter().enumerate() {
        let mut random = Random::stream(67, number as u64);
        // No two rows are the same, so that none contradict each other.
        let mut rows = one_hot(&mut random, 1600, &[230, 230, 230]);
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        rows.dedup();
        rows.truncate(1500);
        let mut problem = Instance { sparse: true, ..problem(rows, testing::sides(&mut random, 1500), bias) };
        let data = problem.dataset();
        let settings = SeparateSettings { bias, ..no_time() }.with_classes(&Instance::classes());
        let found = separate(&data, &settings, &mut ()).unwrap();
        assert_eq!(found.verdict, Verdict::Undecided, "{bias:?}");
        assert!(found.overlap_is_ruled_out && !found.complete_is_ruled_out, "{bias:?}");
        assert_eq!(found.margin.lower, Some(0.0), "{bias:?}");
        let weights = found.weights.expect("weights");
        for row in problem.present() {
            let score: f64 = data.row(row).dot(&weights.weights) + weights.intercept();
            let agreement = f64::from(problem.signs[row]) * score;
            assert_eq!(agreement > 0.0, !found.boundary.contains(&row), "{bias:?} {row}");
        }
        // The same row on both sides.
        let (first, second) = (
            problem.signs.iter().position(|&sign| sign > 0),
            problem.signs.iter().position(|&sign| sign < 0),
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        problem.rows[first] = problem.rows[second].clone();
        let data = problem.dataset();
        let found = separate(&data, &settings, &mut ()).unwrap();
        assert_eq!(found.verdict, Verdict::QuasiComplete, "{bias:?}");
        assert!(!found.boundary_is_exact && found.stopped.is_some(), "{bias:?}");
        assert!(found.boundary.contains(&first) && found.boundary.len() < 1500, "{bias:?}");
        let accepted = testing::verify(
            found.certificate.as_ref().expect("a proof"),
            &testing::examples(&data, &problem),
        )
        .unwrap();
        assert_eq!((accepted.boundary_rows, accepted.boundary_is_exact), (found.boundary.len(), false));
    }
}

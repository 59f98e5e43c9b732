use super::super::testing::instances::{FAMILIES, Instance, instance};
use super::super::testing::oracle::boundary;
use super::super::testing::{self, from, grid, normals, problem, sides, times, truth};
use super::super::{Verdict, separate};
use super::ceiling::Ceiling;
use super::*;
use crate::observe::Progress;
use std::ops::ControlFlow;

/// By all subsets: the least weight of rows whose removal leaves some rows, completely separable; and whether one such set of
/// this weight leaves as many sides as there are.
fn fewest(problem: &Instance, weights: &[f64]) -> Option<(f64, bool)> {
    let (z, present) = (problem.z(), problem.present());
    let sides = |rows: &[usize]| -> usize {
        [1, -1].iter().filter(|&&side| rows.iter().any(|&k| problem.signs[present[k]] == side)).count()
    };
    let everything: Vec<usize> = (0..z.len()).collect();
    let mut best: Option<(f64, bool)> = None;
    for kept in 1u32..1 << z.len() {
        let removed: f64 = (0..z.len()).filter(|&k| kept >> k & 1 == 0).map(|k| weights[present[k]]).sum();
        let rest: Vec<usize> = (0..z.len()).filter(|&k| kept >> k & 1 == 1).collect();
        let answer = (removed, sides(&rest) == sides(&everything));
        if best.is_some_and(|best| best.0 < removed || (best.0 == removed && (best.1 || !answer.1))) {
            continue;
        }
        let rows: Vec<Vec<f64>> = rest.iter().map(|&k| z[k].clone()).collect();
        if !boundary(&rows).contains(&true) {
            best = Some(answer);
        }
    }
    best
}

fn settings(bias: Bias) -> SeparateSettings {
    SeparateSettings { bias, ..SeparateSettings::default() }.with_classes(&Instance::classes())
}

/// What must hold of every answer, whatever ended the search.
fn check_answer(problem: &Instance, data: &Dataset, found: &Removal, told: &str) {
    let present = problem.present();
    assert!(found.rows.windows(2).all(|pair| pair[0] < pair[1]), "{told}: {:?}", found.rows);
    assert!(found.rows.iter().all(|row| present.contains(row)), "{told}: {:?}", found.rows);
    let rest = found.rest.as_ref().unwrap_or_else(|| panic!("{told}: no row is left"));
    assert_eq!(rest.verdict, Verdict::Complete, "{told}: without {:?}", found.rows);
    assert_eq!(rest.rows, present.len() - found.rows.len(), "{told}");
    assert!(found.at_least <= found.weight, "{told}: at least {}, but {}", found.at_least, found.weight);
    assert_eq!(found.is_smallest, found.stopped.is_none(), "{told}");
    // The certificate is about the rows that are left.
    let mut signs = problem.signs.clone();
    found.rows.iter().for_each(|&row| signs[row] = 0);
    let sides = |signs: &[i8]| [1, -1].iter().filter(|side| signs.contains(side)).count();
    assert_eq!(found.leaves_both_sides, sides(&signs) == sides(&problem.signs), "{told}");
    let certificate = rest.certificate.as_ref().unwrap_or_else(|| panic!("{told}: no certificate"));
    let others = Examples::with_signs(data, signs, certificate.bias);
    assert!(testing::verify(certificate, &others).is_ok(), "{told}");
}

/// Blames, and checks that the answer is the best one that all subsets have.
/// Gives it, and whether one of these leaves both sides.
fn check_least(problem: &Instance, weights: Option<Vec<f64>>, told: &str) -> Option<(Removal, bool)> {
    let ones = vec![1.0; problem.rows.len()];
    let least = fewest(problem, weights.as_deref().unwrap_or(&ones));
    let mut data = problem.dataset();
    if let Some(weights) = weights {
        data = data.with_weights(weights).unwrap();
    }
    let found = find_removal(&data, &settings(problem.bias), &mut ()).unwrap();
    if least.is_none() {
        // All rows must go.
        assert_eq!((&found.rows, found.is_smallest), (&problem.present(), true), "{told}");
        assert_eq!((found.weight, found.rest.is_some()), (found.at_least, false), "{told}");
        return None;
    }
    check_answer(problem, &data, &found, told);
    let (least, both) = least.unwrap_or_else(|| panic!("{told}: nothing can be left"));
    assert_eq!((found.weight, found.at_least), (least, least), "{told}: {:?}", found.rows);
    assert!(found.is_smallest, "{told}");
    Some((found, both))
}

/// The same, and that it leaves both sides if a set of this weight does.
fn check(problem: &Instance, weights: Option<Vec<f64>>, told: &str) -> Option<Removal> {
    let (found, both) = check_least(problem, weights, told)?;
    assert_eq!(found.leaves_both_sides, both, "{told}: {:?}", found.rows);
    Some(found)
}

/// Rows on a small grid, so that many are equal, contradict each other, or lie on lines.
fn crowded(number: u64) -> Instance {
    let random = &mut Random::stream(91, number);
    let (n, d) = (from(random, 1, 8), from(random, 1, 3));
    let rows = grid(random, n, d, 2);
    let bias = [Bias::None, Bias::Append(1.0), Bias::Append(0.3), Bias::Free][random.below(4) as usize];
    let mut problem = problem(rows, sides(random, n), bias);
    problem.sparse = random.below(3) == 0;
    if n > 3 && random.below(4) == 0 {
        problem.signs[2] = 0;
    }
    problem
}

#[test]
fn the_answer_is_the_least_of_all_subsets() {
    let (mut seen, mut removed) = (0, 0);
    for number in 0..times(200) {
        let problem = crowded(number);
        if problem.present().is_empty() {
            continue;
        }
        if let Some(found) = check(&problem, None, &format!("{number}: {problem:?}")) {
            seen += 1;
            removed += found.rows.len();
        }
    }
    assert!(seen > 150 && removed > 80, "{seen} problems, {removed} rows");
}

#[test]
fn with_weights_too() {
    let mut seen = 0;
    for number in 0..times(150) {
        let problem = crowded(1000 + number);
        let random = &mut Random::stream(93, number);
        // Counts, or multiples of a quarter, whose sums are exact.
        let unit = [1.0, 0.25][(number % 2) as usize];
        let weights = problem.rows.iter().map(|_| unit * (1 + random.below(6)) as f64).collect();
        if !problem.present().is_empty() {
            seen += usize::from(check(&problem, Some(weights), &format!("{number}: {problem:?}")).is_some());
        }
    }
    assert!(seen > 100, "{seen}");
}

/// A row that counts three times costs as much as three equal rows.
#[test]
fn a_count_is_as_many_rows() {
    for number in 0..times(15) {
        let random = &mut Random::stream(94, number);
        let rows = grid(random, 14, 2, 3);
        let signs = sides(random, 14);
        let counts: Vec<usize> = (0..14).map(|_| from(random, 1, 3)).collect();
        let repeat = |k: usize| std::iter::repeat_n(k, counts[k]);
        let places: Vec<usize> = (0..14).flat_map(repeat).collect();
        let counted = problem(rows.clone(), signs.clone(), Bias::Free);
        let written = problem(
            places.iter().map(|&k| rows[k].clone()).collect(),
            places.iter().map(|&k| signs[k]).collect(),
            Bias::Free,
        );
        let weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let data = counted.dataset().with_weights(weights).unwrap();
        let one = find_removal(&data, &settings(Bias::Free), &mut ()).unwrap();
        let other = find_removal(&written.dataset(), &settings(Bias::Free), &mut ()).unwrap();
        assert!(one.is_smallest && other.is_smallest, "{number}");
        assert_eq!((one.weight, one.at_least), (other.weight, other.at_least), "{number}");
    }
}

/// Weights that are no multiples of a common unit: what is proved is true of them, and no more is claimed.
#[test]
fn odd_weights_are_bounded_from_below() {
    for number in 0..times(60) {
        let problem = crowded(2000 + number);
        let random = &mut Random::stream(95, number);
        let weights: Vec<f64> = problem.rows.iter().map(|_| 0.1 + random.uniform()).collect();
        let Some((least, _)) = fewest(&problem, &weights) else { continue };
        let data = problem.dataset().with_weights(weights).unwrap();
        let found = find_removal(&data, &settings(problem.bias), &mut ()).unwrap();
        check_answer(&problem, &data, &found, &format!("{number}: {problem:?}"));
        assert!(found.at_least <= least && found.at_least >= least * (1.0 - 1e-9), "{number}");
        assert!((found.weight - least).abs() <= 1e-9 * (1.0 + least), "{number}");
    }
}

/// Rows that floats cannot tell from others, of all sizes: what is left is separable nonetheless.
#[test]
fn adversarial_rows() {
    let mut seen = 0;
    for number in 0..times(20 * FAMILIES.len() as u64) {
        let (family, problem) = instance(92, number);
        if problem.present().len() <= 7 {
            check_least(&problem, None, &format!("{number}, {family}: {problem:?}"));
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}

/// Noisy rows with a few features.
fn noisy(number: u64, n: usize, d: usize) -> Instance {
    let random = &mut Random::stream(96, number);
    let rows = normals(random, n, d);
    let signs = rows.iter().map(|row| if row[0] + 0.4 * random.normal() > 0.3 { 1 } else { -1 }).collect();
    problem(rows, signs, Bias::Free)
}

/// How the bias is counted, and the units and origins of the columns, change nothing.
#[test]
fn the_answer_does_not_depend_on_bias_and_units() {
    for number in 0..times(3) {
        let plain = noisy(number, 50, 2);
        // Whole numbers, so that other units and origins are exact.
        let whole = |value: &f64| (value * 1000.0).round();
        let rows: Vec<Vec<f64>> = plain.rows.iter().map(|row| row.iter().map(whole).collect()).collect();
        let moved = |units: [f64; 2], origins: [f64; 2]| -> Vec<Vec<f64>> {
            let place = |(k, value): (usize, &f64)| units[k] * (value + origins[k]);
            rows.iter().map(|row| row.iter().enumerate().map(place).collect()).collect()
        };
        let mut answers = Vec::new();
        for (rows, bias) in [
            (rows.clone(), Bias::Free),
            (rows.clone(), Bias::Append(1.0)),
            (rows.clone(), Bias::Append(1e-3)),
            (moved([1e6, 1.0], [0.0, 0.0]), Bias::Append(1.0)),
            (moved([3.0, 0.0625], [70_000.0, -5.0]), Bias::Free),
            (moved([1.0, 0.5f64.powi(30)], [0.0, 1e5]), Bias::Free),
        ] {
            let problem = problem(rows, plain.signs.clone(), bias);
            let data = problem.dataset();
            let found = find_removal(&data, &settings(bias), &mut ()).unwrap();
            check_answer(&problem, &data, &found, &format!("{number}, {bias:?}"));
            assert!(found.is_smallest, "{number}, {bias:?}: {} of {}", found.at_least, found.weight);
            answers.push(found.weight);
        }
        assert!(answers.iter().all(|&weight| weight == answers[0]), "{number}: {answers:?}");
    }
}

/// No answer is worse than the smaller side, and no removed row can simply come back.
#[test]
fn answers_are_tight() {
    for number in 0..times(2) {
        let problem = noisy(50 + number, 80, 3);
        let data = problem.dataset();
        let found = find_removal(&data, &settings(Bias::Free), &mut ()).unwrap();
        let told = format!("{number}");
        check_answer(&problem, &data, &found, &told);
        let smaller = [1, -1].map(|side| problem.signs.iter().filter(|&&sign| sign == side).count());
        assert!(found.rows.len() <= smaller[0].min(smaller[1]), "{told}");
        let examples = testing::examples(&data, &problem);
        for &row in &found.rows {
            let more: Vec<usize> =
                (0..80).filter(|other| !found.rows.contains(other) || *other == row).collect();
            let z: Vec<Vec<f64>> = more.iter().map(|&row| examples.dense(row)).collect();
            assert!(boundary(&z).contains(&true), "{told}: row {row} need not go");
        }
    }
}

/// Interrupted or out of time, it gives what it has; with any number of threads the same.
#[test]
fn limits_leave_an_answer() {
    struct Impatient;
    impl Observer for Impatient {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let random = &mut Random::stream(97, 0);
    let rows = normals(random, 500, 12);
    let problem = problem(rows, sides(random, 500), Bias::Free);
    let data = problem.dataset();
    let stopped = find_removal(&data, &settings(Bias::Free), &mut Impatient).unwrap();
    check_answer(&problem, &data, &stopped, "interrupted");
    assert_eq!(stopped.stopped.as_deref(), Some("it was interrupted"));
    let hurried = SeparateSettings { max_seconds: Some(1e-3), ..settings(Bias::Free) };
    let hurried = find_removal(&data, &hurried, &mut ()).unwrap();
    check_answer(&problem, &data, &hurried, "out of time");
    assert_eq!(hurried.stopped.as_deref(), Some("the time limit was reached"));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let problem = noisy(70, 120, 3);
    let data = problem.dataset();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| find_removal(&data, &settings(Bias::Free), &mut ()).unwrap());
        (found.rows, found.at_least.to_bits(), found.rest.unwrap().margin.upper.to_bits())
    };
    assert_eq!(run(1), run(4));
}

/// A descent ends where it is when the time limit was reached, and so do the fits. What is answered then is
/// that nothing is known.
#[test]
fn long_steps_end_with_the_time() {
    let rows = normals(&mut Random::stream(5, 0), 60, 12);
    let labels: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "+1" } else { "-1" }).collect();
    let data = Dataset::dense(12, &rows.concat(), &labels).unwrap();
    let examples = Examples::new(&data, &Instance::classes(), Bias::Append(1.0));
    let ground = Ground::new(&examples).unwrap();
    let program = Ceiling::new(&ground.scaled(), 0);
    let allowed = vec![true; ground.len()];
    let run = |limit: Option<f64>| {
        let observer = &mut ();
        let mut budget = Budget::new(observer, limit);
        let mut meter = Meter { budget: &mut budget, work: 0, phase: 1 };
        let mut descender = Descender::new(&program);
        let end = descender.descend(&mut program.start(&allowed), &allowed, &mut meter);
        let mut judge = Judge::new(&ground, &settings(Bias::Append(1.0)));
        let answer = judge.ask(Some(&mut descender), Some(&program), &allowed, &mut meter);
        let fitted = fits::support_vector_machines(&ground, 0, &mut meter);
        let is_fitted = fitted.iter().flatten().any(|&weight| weight != 0.0);
        (matches!(end, ceiling::End::Lost), matches!(answer, Answer::Unknown), is_fitted)
    };
    assert_eq!(run(None), (false, false, true));
    assert_eq!(run(Some(0.0)), (true, true, false));
}

/// The linear program, judged, against the truth; and the checker accepts no set that is not a circuit.
#[test]
fn circuits_and_separators_are_true() {
    let (mut circuits, mut separators) = (0, 0);
    for number in 0..times(300) {
        let problem = crowded(3000 + number);
        if problem.present().is_empty() {
            continue;
        }
        let data = problem.dataset();
        let ground = Ground::new(&testing::examples(&data, &problem)).unwrap();
        let usual = settings(problem.bias);
        let mut judge = Judge::new(&ground, &usual);
        let program = Ceiling::new(&ground.scaled(), 0);
        let random = &mut Random::stream(98, number);
        let allowed: Vec<bool> = (0..ground.len()).map(|_| random.below(4) > 0).collect();
        let kinds: Vec<usize> = (0..ground.len()).filter(|&kind| allowed[kind]).collect();
        if kinds.is_empty() {
            continue;
        }
        let z = |kinds: &[usize]| -> Vec<Vec<f64>> {
            ground.rows(kinds).iter().map(|&row| ground.examples.dense(row)).collect()
        };
        let is_complete = truth(&z(&kinds)).0 == Verdict::Complete;
        let observer = &mut ();
        let mut budget = Budget::new(observer, None);
        let mut descender = Descender::new(&program);
        let mut meter = Meter { budget: &mut budget, work: 0, phase: 0 };
        match judge.ask(Some(&mut descender), Some(&program), &allowed, &mut meter) {
            Answer::Circuit(circuit) => {
                assert!(!is_complete, "{number}: {problem:?}");
                assert!(circuit.iter().all(|&kind| allowed[kind]), "{number}");
                assert!(truth(&z(&circuit)).1.iter().all(|&inside| inside), "{number}: {circuit:?}");
                for &kind in &circuit {
                    let fewer: Vec<usize> = circuit.iter().copied().filter(|&other| other != kind).collect();
                    assert!(
                        fewer.is_empty() || truth(&z(&fewer)).0 == Verdict::Complete,
                        "{number}: {circuit:?}"
                    );
                    assert!(!judge.accepts(&fewer), "{number}: {fewer:?}");
                }
                circuits += 1;
            }
            Answer::Separator(w) => {
                assert!(is_complete, "{number}: {problem:?}");
                assert!(ground.wrong(&w).iter().all(|&kind| !allowed[kind]), "{number}");
                separators += 1;
            }
            Answer::Unknown => panic!("{number}: no answer on {problem:?}"),
        }
    }
    assert!(circuits > 80 && separators > 80, "{circuits} circuits, {separators} separators");
}

/// Points on a line, split at a threshold but for two that are the wrong way round: one row must go, not two.
#[test]
fn two_rows_out_of_order_cost_one() {
    let rows: Vec<Vec<f64>> = (1..=8).map(|x| vec![f64::from(x)]).collect();
    for bias in [Bias::Append(1.0), Bias::Free] {
        let problem = problem(rows.clone(), vec![-1, -1, -1, 1, -1, 1, 1, 1], bias);
        let found = check(&problem, None, &format!("{bias:?}")).unwrap();
        assert_eq!((found.rows.len(), found.at_least), (1, 1.0), "{bias:?}");
        assert!([3, 4].contains(&found.rows[0]), "{bias:?}: {:?}", found.rows);
    }
}

/// Two measurements and a response, where one person stands on the wrong side of all others.
#[test]
fn one_row_in_the_way() {
    let measured = [
        (3.70, 0.825, 1),
        (3.50, 1.090, 1),
        (1.25, 2.500, 1),
        (0.75, 1.500, 1),
        (0.80, 3.200, 1),
        (0.70, 3.500, 1),
        (0.60, 0.750, -1),
        (1.10, 0.750, -1),
        (0.90, 0.750, -1),
        (0.55, 1.200, -1),
        (0.40, 0.500, -1),
        (0.70, 0.900, -1),
        (3.00, 2.900, -1),
    ];
    let rows = measured.iter().map(|&(a, b, _)| vec![a, b]).collect();
    let problem = problem(rows, measured.iter().map(|&(_, _, side)| side).collect(), Bias::Free);
    let data = problem.dataset();
    let found = find_removal(&data, &settings(Bias::Free), &mut ()).unwrap();
    assert_eq!((found.rows, found.at_least, found.is_smallest), (vec![12], 1.0, true));
}

/// One side lies around the other: the least set is the whole of the inner side, and the answer says so.
#[test]
fn a_whole_side_may_be_the_least() {
    let corners = [[3.0, 3.0], [3.0, -3.0], [-3.0, 3.0], [-3.0, -3.0]];
    let rows = corners.iter().flat_map(|&[x, y]| [vec![x, y], vec![x + 0.5, y], vec![x, y + 0.5]]);
    let rows: Vec<Vec<f64>> = rows.chain([vec![0.1, 0.2], vec![-0.2, 0.1]]).collect();
    let signs: Vec<i8> = (0..14).map(|k| if k < 12 { 1 } else { -1 }).collect();
    for bias in [Bias::Append(1.0), Bias::Free] {
        let problem = problem(rows.clone(), signs.clone(), bias);
        let data = problem.dataset();
        let found = find_removal(&data, &settings(bias), &mut ()).unwrap();
        check_answer(&problem, &data, &found, &format!("{bias:?}"));
        assert!(found.is_smallest && !found.leaves_both_sides, "{bias:?}");
        assert_eq!(found.rows, [12, 13], "{bias:?}");
    }
}

/// Nothing is to blame where all is well, and zero rows cannot be separated through the origin.
#[test]
fn nothing_and_everything() {
    let well = problem(vec![vec![1.0], vec![3.0]], vec![-1, 1], Bias::Free);
    assert!(check(&well, None, "two points").unwrap().rows.is_empty());
    let zeros = problem(vec![vec![0.0], vec![0.0]], vec![-1, 1], Bias::None);
    assert!(check(&zeros, None, "zeros").is_none());
    // The same by the public way, on the rows that are left.
    let quasi =
        problem(vec![vec![1.0], vec![2.0], vec![2.0], vec![3.0]], vec![-1, -1, 1, 1], Bias::Append(1.0));
    let found = check(&quasi, None, "a tie").unwrap();
    let rest: Vec<usize> = (0..4).filter(|row| !found.rows.contains(row)).collect();
    let again = separate(&quasi.dataset().subset(&rest).unwrap(), &settings(quasi.bias), &mut ()).unwrap();
    assert_eq!(again.verdict, Verdict::Complete);
}

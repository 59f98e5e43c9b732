//! Statuses and sets of columns against exact answers that are found in other ways.

use super::{CoefficientStatus, ColumnDetail, ColumnFindings};
use crate::random::Random;
use crate::separate::testing::instances::{Instance, instance};
use crate::separate::testing::oracle::{boundary, rank};
use crate::separate::testing::{from, problem, times};
use crate::separate::{Bias, SeparateSettings, Separation, Verdict, decide};
use CoefficientStatus::{Aliased, Finite, MinusInfinity, PlusInfinity, SignOpen};

/// Decides with everything that can be said of the columns.
fn run(problem: &Instance) -> Separation {
    let data = problem.dataset();
    let settings = SeparateSettings { bias: problem.bias, columns: ColumnDetail::All, ..Default::default() };
    let examples = crate::separate::testing::examples(&data, problem);
    decide(&examples, &Instance::classes(), &settings, &mut ()).unwrap()
}

/// The rows in some of their places.
fn only(z: &[Vec<f64>], places: &[usize]) -> Vec<Vec<f64>> {
    z.iter().map(|row| places.iter().map(|&place| row[place]).collect()).collect()
}

/// The statuses by ranks and by linear programs in whole numbers: a unit row beside the others is in their B just if
/// no member of K is positive there.
fn truth(problem: &Instance) -> Vec<CoefficientStatus> {
    let z = problem.z();
    let (features, dimension) = (problem.rows[0].len(), z[0].len());
    let mut kept: Vec<usize> = Vec::new();
    for place in (features..dimension).chain(0..features) {
        let longer: Vec<usize> = kept.iter().copied().chain([place]).collect();
        if rank(&only(&z, &longer)) > kept.len() {
            kept = longer;
        }
    }
    let rows = only(&z, &kept);
    let mut statuses = vec![Aliased; dimension];
    for (k, &place) in kept.iter().enumerate() {
        let has = |sign: f64| {
            let unit = (0..kept.len()).map(|other| if other == k { sign } else { 0.0 }).collect();
            let longer: Vec<Vec<f64>> = rows.iter().cloned().chain([unit]).collect();
            !boundary(&longer)[rows.len()]
        };
        statuses[place] = match (has(1.0), has(-1.0)) {
            (true, true) => SignOpen,
            (true, false) => PlusInfinity,
            (false, true) => MinusInfinity,
            (false, false) => Finite,
        };
    }
    statuses
}

/// Whether these features, with the bias, separate completely.
fn separates(problem: &Instance, features: &[usize]) -> bool {
    let z = problem.z();
    let places: Vec<usize> = features.iter().copied().chain(problem.rows[0].len()..z[0].len()).collect();
    !places.is_empty() && !boundary(&only(&z, &places)).contains(&true)
}

fn check_sets(problem: &Instance, found: &ColumnFindings, told: &str) {
    let features = problem.rows[0].len();
    let subsets =
        (0u32..1 << features).map(|bits| (0..features).filter(|j| bits >> j & 1 == 1).collect::<Vec<_>>());
    let least = subsets.filter(|set| separates(problem, set)).map(|set| set.len()).min().unwrap();
    if problem.bias != Bias::None && !problem.has_both_sides() {
        assert!(found.alone.is_empty());
        return;
    }
    assert!(found.alone.iter().all(|set| separates(problem, set)), "{told}: {found:?}");
    assert!(found.at_least <= least && found.at_least <= 3, "{told}: {least} {found:?}");
    let smallest = found.alone.iter().map(Vec::len).min().unwrap();
    // All single columns and pairs are tried; larger sets are those that nothing can be left out of.
    assert!(smallest >= least.max(1) && (least > 2 || smallest == least.max(1)), "{told}: {least} {found:?}");
    assert_eq!(found.at_least, least.clamp(1, 3), "{told}: {found:?}");
    if least == 1 {
        let singles: Vec<Vec<usize>> =
            (0..features).map(|j| vec![j]).filter(|set| separates(problem, set)).collect();
        assert_eq!(found.alone, singles, "{told}");
    }
    for set in found.alone.iter().filter(|set| set.len() > 1) {
        for j in set {
            let fewer: Vec<usize> = set.iter().copied().filter(|other| other != j).collect();
            assert!(!separates(problem, &fewer), "{told}: {j} can be left out of {set:?}");
        }
    }
}

fn check(problem: &Instance, told: &str) -> (Verdict, Vec<CoefficientStatus>) {
    let separation = run(problem);
    let found =
        separation.columns.as_ref().unwrap_or_else(|| panic!("{told}: {:?}", separation.columns_stopped));
    let truth = truth(problem);
    assert_eq!(found.statuses, truth, "{told}, {:?}: {problem:?}", separation.verdict);
    if separation.verdict == Verdict::Complete && problem.rows[0].len() <= 6 {
        check_sets(problem, found, told);
    }
    if separation.verdict == Verdict::QuasiComplete {
        check_rest(problem, &separation, found, told);
    }
    (separation.verdict, truth)
}

/// With the rows of B alone: what is dropped depends on columns before it, and all else is finite.
fn check_rest(problem: &Instance, separation: &Separation, found: &ColumnFindings, told: &str) {
    let mut rest = problem.clone();
    for (i, sign) in rest.signs.iter_mut().enumerate() {
        if separation.boundary.binary_search(&i).is_err() {
            *sign = 0;
        }
    }
    let all = truth(&rest);
    let expected: Vec<CoefficientStatus> = (0..all.len())
        .map(|place| match found.dropped.contains(&place) || found.statuses[place] == Aliased {
            true => Aliased,
            false => Finite,
        })
        .collect();
    assert_eq!(all, expected, "{told}");
}

/// Small tables as statisticians have them: numbers with ties, dummies with and without a reference level, copies, sums;
/// labels at random, by a column, or by a sum of columns.
fn table(random: &mut Random) -> Instance {
    let n = from(random, 2, 14);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..from(random, 1, 3) {
        match random.below(5) {
            0 | 1 => {
                let most = random.below(6) + 1;
                columns.push((0..n).map(|_| random.below(most + 1) as f64).collect());
            }
            2 => {
                let levels = from(random, 2, 3);
                let level: Vec<usize> = (0..n).map(|_| random.below(levels as u64) as usize).collect();
                let first = random.below(2) as usize;
                for l in first..levels {
                    columns.push(level.iter().map(|&own| f64::from(u8::from(own == l))).collect());
                }
            }
            3 if !columns.is_empty() => {
                let (a, b) = (
                    random.below(columns.len() as u64) as usize,
                    random.below(columns.len() as u64) as usize,
                );
                let factor = [0.0, 1.0, -2.0, 0.1][random.below(4) as usize];
                columns.push((0..n).map(|i| columns[a][i] + factor * columns[b][i]).collect());
            }
            _ => columns
                .push((0..n).map(|_| [0.1, 0.3, -0.7, 1e-3, 250.0][random.below(5) as usize]).collect()),
        }
    }
    let by = random.below(columns.len() as u64) as usize;
    let other = random.below(columns.len() as u64) as usize;
    let kind = random.below(5);
    let signs = (0..n)
        .map(|i| {
            let score = match kind {
                0 => return [1, -1][random.below(2) as usize],
                1 | 2 => columns[by][i] - 1.0,
                3 => columns[by][i] - columns[other][i],
                _ => columns[by][i] + columns[other][i] - 2.0,
            };
            if score > 0.0 || (score == 0.0 && random.below(2) == 0) { 1 } else { -1 }
        })
        .collect();
    let rows = (0..n).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
    let bias = [Bias::Append(1.0), Bias::Append(1.0), Bias::Free, Bias::None, Bias::Append(0.3)];
    let mut made = problem(rows, signs, bias[random.below(5) as usize]);
    made.sparse = random.below(3) == 0;
    if made.bias == Bias::Free && !made.has_both_sides() {
        made.bias = Bias::Append(1.0);
    }
    made
}

fn try_tables(seed: u64, count: u64) {
    let mut seen = std::collections::BTreeMap::new();
    for number in 0..count {
        let problem = table(&mut Random::stream(seed, number));
        let (verdict, statuses) = check(&problem, &format!("table {number}"));
        *seen.entry(format!("{verdict:?}")).or_insert(0) += 1;
        for status in statuses {
            *seen.entry(format!("{status:?}")).or_insert(0) += 1;
        }
    }
    // Every case came up, and often.
    for (what, times) in &seen {
        assert!(*times as u64 > count / 100, "{what}: {seen:?}");
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[test]
fn statuses_of_small_tables() {
    try_tables(71, times(400));
}

#[test]
#[ignore = "takes minutes: ten thousand tables"]
fn statuses_of_ten_thousand_tables() {
    try_tables(72, 10_000);
}

/// The families that are made to break a solver.
#[test]
fn statuses_of_hard_rows() {
    for number in 0..times(230) {
        let (family, problem) = instance(73, number);
        let one_sided = problem.bias == Bias::Free && !problem.has_both_sides();
        if !problem.present().is_empty() && !one_sided {
            check(&problem, &format!("{number}, {family}"));
        }
    }
}

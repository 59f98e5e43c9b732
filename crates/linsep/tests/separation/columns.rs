//! What is said of columns, against exact answers that are found in other ways; and claims about them with something changed: those
//! that the checker accepts must still be true.

use super::check::tamper;
use super::instances::{Instance, instance};
use super::oracle::{boundary, rank};
use linsep::random::Random;
use linsep::separate::CoefficientStatus::{Aliased, Finite, MinusInfinity, PlusInfinity, SignOpen};
use linsep::separate::{
    Bias, Certificate, CoefficientStatus, ColumnDetail, ColumnFindings, Examples, SeparateSettings,
    Separation, Verdict, separate,
};
use linsep_check::Status;
use std::collections::BTreeMap;

/// A whole number from `least` to `most`.
fn from(random: &mut Random, least: u64, most: u64) -> usize {
    (least + random.below(most - least + 1)) as usize
}

/// How many problems a test draws: the usual number, times `LINSEP_TIMES`.
fn times(usual: u64) -> u64 {
    usual * std::env::var("LINSEP_TIMES").map_or(1, |text| text.parse::<u64>().unwrap())
}

/// Decides with everything that can be said of the columns.
fn run(problem: &Instance) -> Separation {
    let settings =
        SeparateSettings { bias: problem.bias, columns: ColumnDetail::All, ..Instance::classes().into() };
    separate(&problem.dataset(), &settings, &mut ()).unwrap()
}

/// The rows in some of their places.
fn only(z: &[Vec<f64>], places: &[usize]) -> Vec<Vec<f64>> {
    z.iter().map(|row| places.iter().map(|&place| row[place]).collect()).collect()
}

/// The statuses by ranks and by linear programs.
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
    truth_beside(problem, &kept)
}

/// The statuses of the kept places, where δ is zero at all others: a unit row beside the others is in their B just if no
/// member of K is positive there.
fn truth_beside(problem: &Instance, kept: &[usize]) -> Vec<CoefficientStatus> {
    let z = problem.z();
    let rows = only(&z, kept);
    let mut statuses = vec![Aliased; z[0].len()];
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

/// The size of the smallest set of features that separates.
fn least(problem: &Instance) -> Option<usize> {
    let features = problem.rows[0].len();
    let subsets =
        (0u32..1 << features).map(|bits| (0..features).filter(|j| bits >> j & 1 == 1).collect::<Vec<_>>());
    subsets.filter(|set| separates(problem, set)).map(|set| set.len()).min()
}

fn check_sets(problem: &Instance, found: &ColumnFindings, told: &str) {
    let features = problem.rows[0].len();
    let least = least(problem).unwrap();
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
    let sparse = random.below(3) == 0;
    let mut made = Instance { rows, signs, bias: bias[random.below(5) as usize], sparse };
    if made.bias == Bias::Free && !made.has_both_sides() {
        made.bias = Bias::Append(1.0);
    }
    made
}

fn try_tables(seed: u64, count: u64) {
    let mut seen = BTreeMap::new();
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

/// Changes something about the claims; what.
fn forge(certificate: &mut Certificate, random: &mut Random) -> &'static str {
    let features = certificate.subject.features;
    let columns = &mut certificate.columns;
    let pick = |random: &mut Random, count: usize| random.below(count.max(1) as u64) as usize;
    match random.below(10) {
        0 if !columns.members.is_empty() => {
            let which = pick(random, columns.members.len());
            tamper(&mut columns.members[which], random)
        }
        1 if !columns.alone.is_empty() => {
            let which = pick(random, columns.alone.len());
            match random.below(2) {
                0 => tamper(&mut columns.alone[which].proof, random),
                _ => {
                    let set = &mut columns.alone[which].columns;
                    if !set.is_empty() {
                        set.remove(pick(random, set.len()));
                    }
                    "a column less that separates"
                }
            }
        }
        2 if !columns.not_alone.is_empty() => {
            let which = pick(random, columns.not_alone.len());
            match random.below(2) {
                0 => tamper(&mut columns.not_alone[which].proof, random),
                _ => {
                    let set = &mut columns.not_alone[which].columns;
                    set.push(pick(random, features));
                    set.sort_unstable();
                    set.dedup();
                    "a column more that does not separate"
                }
            }
        }
        3 => {
            columns.at_least += 1;
            "a larger bound"
        }
        _ if !columns.coefficients.is_empty() => {
            let which = pick(random, columns.coefficients.len());
            let members = columns.members.len();
            match (random.below(6), &mut columns.coefficients[which].1) {
                (0, Status::Aliased { relation: vector } | Status::Infinite { combination: vector, .. }) => {
                    return tamper(vector, random);
                }
                (1, Status::Infinite { positive, .. }) => *positive = !*positive,
                (2, Status::Open { positive, negative }) => std::mem::swap(positive, negative),
                (3, Status::Infinite { positive, member, combination }) => {
                    let copy = Status::Infinite {
                        positive: *positive,
                        member: *member,
                        combination: combination.clone(),
                    };
                    let other = pick(random, columns.coefficients.len());
                    columns.coefficients[other].1 = copy;
                }
                (4, _) => {
                    columns.coefficients.remove(which);
                }
                (5, status) => {
                    *status =
                        Status::Open { positive: pick(random, members), negative: pick(random, members) }
                }
                (_, status) => *status = Status::Finite,
            }
            "another status"
        }
        _ => "nothing",
    }
}

/// Whether all claims about columns are true, whatever their proofs are.
fn is_true(certificate: &Certificate, problem: &Instance) -> Result<(), String> {
    let told = Instance { bias: certificate.bias, ..problem.clone() };
    let z = told.z();
    let columns = &certificate.columns;
    let is_aliased = |place: &usize| {
        columns
            .coefficients
            .iter()
            .any(|(other, status)| other == place && matches!(status, Status::Aliased { .. }))
    };
    let kept: Vec<usize> = (0..z[0].len()).filter(|place| !is_aliased(place)).collect();
    let truth = truth_beside(&told, &kept);
    for (place, status) in &columns.coefficients {
        let longer: Vec<usize> = kept.iter().copied().chain([*place]).collect();
        let holds = match status {
            Status::Aliased { .. } => rank(&only(&z, &longer)) == rank(&only(&z, &kept)),
            Status::Finite => truth[*place] == Finite,
            Status::Infinite { positive: true, .. } => truth[*place] == PlusInfinity,
            Status::Infinite { positive: false, .. } => truth[*place] == MinusInfinity,
            Status::Open { .. } => truth[*place] == SignOpen,
        };
        if !holds {
            return Err(format!("{place} is {:?}, not {status:?}", truth[*place]));
        }
    }
    if let Some(set) = columns.alone.iter().find(|set| !separates(&told, &set.columns)) {
        return Err(format!("{:?} do not separate", set.columns));
    }
    if let Some(set) = columns.not_alone.iter().find(|set| separates(&told, &set.columns)) {
        return Err(format!("{:?} separate", set.columns));
    }
    if columns.at_least > 0 && least(&told).is_some_and(|least| least < columns.at_least) {
        return Err(format!("{} columns are not needed", columns.at_least));
    }
    Ok(())
}

/// Forges claims about random tables.
fn try_forgeries(seed: u64, count: u64) {
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..count {
        let random = &mut Random::stream(seed, number);
        let problem = table(random);
        let certificate = run(&problem).certificate.unwrap();
        let data = problem.dataset();
        for _ in 0..10 {
            let mut forged = certificate.clone();
            let what = forge(&mut forged, random);
            let examples = Examples::new(&data, &Instance::classes(), forged.bias);
            if linsep_check::check(&forged, &examples, &|| false).is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            if let Err(why) = is_true(&forged, &problem) {
                panic!("table {number}: a forgery ({what}) is accepted, but {why}: {forged:?} {problem:?}");
            }
        }
    }
    assert!(refused > accepted && accepted > 0, "{refused} refused, {accepted} accepted");
}

#[test]
fn forged_claims_about_columns() {
    try_forgeries(74, times(60));
}

#[test]
#[ignore = "takes minutes: ten thousand forgeries"]
fn ten_thousand_forged_claims() {
    try_forgeries(75, 1000);
}

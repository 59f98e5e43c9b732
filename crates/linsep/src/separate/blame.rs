//! Few rows whose removal separates the rest. Finding the fewest is as hard as finding the smallest training error, so
//! this is a heuristic: it gives the smallest set that it found, and a proved lower bound of the size of every such set.

use super::budget::Budget;
use super::contradictions::{contradictions, is_multiple};
use super::decide::{decide, space_of};
use super::descent::Descent;
use super::examples::Examples;
use super::faces::{Faces, Side};
use super::nearest::Space;
use super::{Bias, SeparateSettings, Separation};
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::Extent;
use crate::{Error, SettingsError};

/// The smallest set of rows found whose removal leaves the others completely separable. The search is a heuristic: a
/// smaller set may exist.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The rows, in order.
    pub rows: Vec<usize>,
    /// No such set has fewer rows than this: this many witnesses share no row, and one row of each must go.
    pub at_least: usize,
    /// The verdict on the rows that remain: complete, unless a limit was reached.
    pub rest: Separation,
}

/// Looks for few rows whose removal separates the rest.
pub fn blame(
    data: &Dataset,
    settings: &SeparateSettings,
    observer: &mut dyn Observer,
) -> Result<Blame, Error> {
    settings.validate()?;
    let classes = &settings.sides(data)?;
    let examples = Examples::new(data, classes, settings.bias);
    let (rows, at_least) = {
        let mut budget = Budget::new(observer, settings.max_seconds);
        let all: Vec<usize> = examples.present().collect();
        let space = space_of(&examples, &Extent::of_rows(data, &all, examples.bias_input()), settings);
        budget.begin("rows to blame");
        let mut removed = fewest_errors(&space, &all, &mut budget);
        take_back(&space, &all, &mut removed, &mut budget);
        let at_least = disjoint_witnesses(&space, &all, removed.len(), &mut budget);
        removed.sort_unstable();
        (removed, at_least)
    };
    let mut signs = examples.signs().to_vec();
    rows.iter().for_each(|&row| signs[row] = 0);
    let one_sided = [1, -1].iter().any(|side| !signs.contains(side));
    if signs.iter().all(|&sign| sign == 0) || (one_sided && settings.bias == Bias::Free) {
        return Err(SettingsError::new(
            "blame",
            "no row of one class would be left: these rows cannot be separated at all",
        )
        .into());
    }
    let rest = decide(&Examples::with_signs(data, signs, settings.bias), classes, settings, observer)?;
    Ok(Blame { rows, at_least, rest })
}

/// The rows that the best of several soft boundaries has wrong.
fn fewest_errors(space: &Space<'_>, rows: &[usize], budget: &mut Budget<'_>) -> Vec<usize> {
    const PASSES: usize = 60;
    let examples = space.examples;
    let bias = examples.bias_input();
    let total: f64 = rows.iter().map(|&row| examples.data().row(row).norm_squared() + bias * bias).sum();
    let mean = (total / rows.len() as f64).max(f64::MIN_POSITIVE);
    let mut best: Vec<usize> = rows.to_vec();
    for price in [0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e6] {
        let mut descent = Descent::new(examples, rows, &[], space.seed).with_price(price / mean);
        for _ in 0..PASSES {
            descent.pass();
            if budget.is_over() {
                break;
            }
        }
        let w = descent.weights();
        let wrong: Vec<usize> = rows.iter().copied().filter(|&row| examples.dot(row, &w) <= 0.0).collect();
        if wrong.len() < best.len() && has_both_sides(examples, rows, &wrong) {
            best = wrong;
        }
    }
    best
}

/// Whether rows of both sides remain, where the bias asks for them.
fn has_both_sides(examples: &Examples<'_>, rows: &[usize], removed: &[usize]) -> bool {
    let mut gone = vec![false; examples.len()];
    removed.iter().for_each(|&row| gone[row] = true);
    let remains = |side: i8| rows.iter().any(|&row| !gone[row] && examples.signs()[row] == side);
    examples.bias() != Bias::Free || (remains(1) && remains(-1))
}

/// A row of either side, with different features.
fn different(examples: &Examples<'_>, rows: &[usize]) -> Option<[usize; 2]> {
    let of = |side: i8| rows.iter().copied().filter(move |&row| examples.signs()[row] == side);
    let differ = |pair: &[usize; 2]| !is_multiple(examples, *pair);
    let (positive, negative) = (of(1).next()?, of(-1).next()?);
    let first = of(-1).map(|row| [positive, row]).find(differ);
    first.or_else(|| of(1).map(|row| [row, negative]).find(differ))
}

/// Takes rows back, one by one, while the rest stays separable.
fn take_back(space: &Space<'_>, rows: &[usize], removed: &mut Vec<usize>, budget: &mut Budget<'_>) {
    const MOST: usize = 200;
    let faces = Faces::new(space.examples);
    if !has_both_sides(space.examples, rows, removed)
        && let Some(pair) = different(space.examples, rows)
    {
        *removed = rows.iter().copied().filter(|row| !pair.contains(row)).collect();
    }
    let mut kept: Vec<usize> = rows.iter().copied().filter(|row| !removed.contains(row)).collect();
    let mut start: Vec<(usize, f64)> = Vec::new();
    for row in removed.clone().into_iter().take(MOST) {
        if budget.is_over() {
            return;
        }
        kept.push(row);
        match faces.locate(space, &kept, &start, budget) {
            Some(Side::Positive { support, .. }) => {
                start = support.into_iter().map(|(row, [weight, _])| (row, weight)).collect();
                removed.retain(|&other| other != row);
            }
            _ => {
                kept.pop();
            }
        }
    }
}

/// How many witnesses without a common row were found: of each, one row at least must go.
fn disjoint_witnesses(space: &Space<'_>, rows: &[usize], most: usize, budget: &mut Budget<'_>) -> usize {
    const MOST: usize = 200;
    let faces = Faces::new(space.examples);
    let found = contradictions(space.examples);
    let mut gone = vec![false; space.examples.len()];
    found.zeros.iter().chain(found.pairs.iter().flatten()).for_each(|&row| gone[row] = true);
    let mut count = found.zeros.len() + found.pairs.len();
    for _ in 0..MOST {
        let left: Vec<usize> = rows.iter().copied().filter(|&row| !gone[row]).collect();
        if count >= most || left.is_empty() || budget.is_over() {
            break;
        }
        let Some(Side::Meets { support, .. }) = faces.locate(space, &left, &[], budget) else { break };
        support.iter().for_each(|&(row, _)| gone[row] = true);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::testing::instances::{FAMILIES, Instance, instance};
    use super::super::testing::oracle::boundary;
    use super::super::testing::{self, from, grid, problem, sides, times};
    use super::super::{Verdict, separate};
    use super::*;
    use crate::random::Random;

    /// The fewest rows whose removal leaves rows that are completely separable; with a free bias, rows of both sides.
    fn fewest(problem: &Instance) -> Option<usize> {
        let (z, present) = (problem.z(), problem.present());
        let mut best: Option<usize> = None;
        for kept in 1u32..1 << z.len() {
            let removed = z.len() - kept.count_ones() as usize;
            let rest: Vec<usize> = (0..z.len()).filter(|&k| kept >> k & 1 == 1).collect();
            let has = |side: i8| rest.iter().any(|&k| problem.signs[present[k]] == side);
            if best.is_some_and(|best| best <= removed)
                || (problem.bias == Bias::Free && !(has(1) && has(-1)))
            {
                continue;
            }
            let rows: Vec<Vec<f64>> = rest.iter().map(|&k| z[k].clone()).collect();
            if !boundary(&rows).contains(&true) {
                best = Some(removed);
            }
        }
        best
    }

    /// Blames, and checks the answer; how many rows were found and how few are possible.
    fn check(problem: &Instance, told: &str) -> Option<(usize, usize)> {
        let data = problem.dataset();
        let classes = Instance::classes();
        let settings = SeparateSettings { bias: problem.bias, ..SeparateSettings::default() };
        let least = fewest(problem);
        let found = match blame(&data, &settings.with_classes(&classes), &mut ()) {
            Ok(found) => found,
            Err(error) => {
                assert_eq!(least, None, "{told}: {error}");
                return None;
            }
        };
        let (least, present) = (least?, problem.present());
        assert!(found.rows.windows(2).all(|pair| pair[0] < pair[1]), "{told}: {:?}", found.rows);
        assert!(found.rows.iter().all(|row| present.contains(row)), "{told}: {:?}", found.rows);
        assert_eq!(found.rest.verdict, Verdict::Complete, "{told}: without {:?}", found.rows);
        let at_least = found.at_least;
        assert!(at_least <= least, "{told}: at least {at_least}, but {least} are enough");
        assert!(least <= found.rows.len(), "{told}: {:?}", found.rows);
        assert_eq!(found.rest.rows, present.len() - found.rows.len(), "{told}");
        // The same by the public way, on the rows that remain.
        let rest: Vec<usize> = present.iter().copied().filter(|row| !found.rows.contains(row)).collect();
        let again =
            separate(&data.subset(&rest).unwrap(), &settings.with_classes(&classes), &mut ()).unwrap();
        assert_eq!(again.verdict, Verdict::Complete, "{told}");
        // No row can simply be taken back.
        for &row in &found.rows {
            let more: Vec<usize> = rest.iter().copied().chain([row]).collect();
            let z: Vec<Vec<f64>> =
                more.iter().map(|&row| testing::examples(&data, problem).dense(row)).collect();
            assert!(boundary(&z).contains(&true), "{told}: row {row} need not go");
        }
        Some((found.rows.len(), least))
    }

    #[test]
    fn removal_separates_the_rest() {
        let (mut seen, mut fewest, mut found) = (0, 0, 0);
        for number in 0..times(500) {
            let random = &mut Random::stream(91, number);
            let (n, d) = (from(random, 1, 8), from(random, 1, 3));
            let rows = grid(random, n, d, 2);
            let bias = [Bias::None, Bias::Append(1.0), Bias::Free][random.below(3) as usize];
            let mut problem = problem(rows, sides(random, n), bias);
            if n > 3 && random.below(4) == 0 {
                problem.signs[2] = 0;
            }
            if bias == Bias::Free && !problem.has_both_sides() {
                continue;
            }
            if let Some((rows, least)) = check(&problem, &format!("{number}: {problem:?}")) {
                seen += 1;
                (found, fewest) = (found + rows, fewest + least);
            }
        }
        // A heuristic, but not a bad one.
        assert!(seen > 80 && found * 10 <= fewest * 13, "{found} rows, {fewest} needed, {seen} problems");
    }

    /// Rows that floats cannot tell from others, of all sizes: what is left is separable nonetheless.
    #[test]
    fn removal_separates_adversarial_rows() {
        let mut seen = 0;
        for number in 0..times(40 * FAMILIES.len() as u64) {
            let (family, problem) = instance(92, number);
            if problem.present().len() > 7 || (problem.bias == Bias::Free && !problem.has_both_sides()) {
                continue;
            }
            check(&problem, &format!("{number}, {family}: {problem:?}"));
            seen += 1;
        }
        assert!(seen > 60, "{seen}");
    }

    /// Points on a line, split at a threshold but for two that are the wrong way round: one row must go, not two.
    #[test]
    fn two_rows_out_of_order_cost_one() {
        let rows: Vec<Vec<f64>> = (1..=8).map(|x| vec![f64::from(x)]).collect();
        for bias in [Bias::Append(1.0), Bias::Free] {
            let problem = problem(rows.clone(), vec![-1, -1, -1, 1, -1, 1, 1, 1], bias);
            let data = problem.dataset();
            let settings = SeparateSettings { bias, ..SeparateSettings::default() };
            let found = blame(&data, &settings.with_classes(&Instance::classes()), &mut ()).unwrap();
            assert_eq!((found.rows.len(), found.at_least), (1, 1), "{bias:?}");
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
        let settings = SeparateSettings { bias: Bias::Free, ..SeparateSettings::default() };
        let found = blame(&data, &settings.with_classes(&Instance::classes()), &mut ()).unwrap();
        assert_eq!((found.rows, found.at_least), (vec![12], 1));
        assert_eq!(found.rest.verdict, Verdict::Complete);
    }

    /// Nothing is to blame where all is well.
    #[test]
    fn separable_rows_blame_nobody() {
        let problem = problem(vec![vec![1.0], vec![3.0]], vec![-1, 1], Bias::Free);
        assert_eq!(check(&problem, "two points"), Some((0, 0)));
    }
}

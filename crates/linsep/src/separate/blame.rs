//! Few rows whose removal separates the rest. The fewest are hard to find (it is a question of the same kind as the
//! smallest training error), so this is a heuristic: it says how few it found, and how few it could be at least.

use super::descent::Descent;
use super::examples::Examples;
use super::faces::{Faces, Side};
use super::nearest::Space;
use super::watch::Watch;
use super::{Separation, Settings, contradictions, decide, space_of};
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::Extent;
use crate::{Error, SettingsError};

/// Rows whose removal leaves the others completely separable: the smallest such set that was found. A heuristic: a
/// smaller one may exist.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The rows, in order.
    pub rows: Vec<usize>,
    /// No such set has fewer rows than this: one row at least of each of so many witnesses without a common row.
    pub at_least: usize,
    /// What was decided of the rows that remain: complete, unless a budget ended.
    pub rest: Separation,
}

/// Looks for few rows whose removal separates the rest.
pub fn blame(
    data: &Dataset,
    classes: &ClassPair,
    settings: &Settings,
    observer: &mut impl Observer,
) -> Result<Blame, Error> {
    settings.validate()?;
    let examples = Examples::new(data, classes, settings.bias);
    let (rows, at_least) = {
        let mut watch = Watch::new(observer, settings.max_seconds);
        let all: Vec<usize> = examples.present().collect();
        let space = space_of(&examples, &Extent::of_rows(data, &all, examples.bias_input()), settings);
        watch.begin("rows to blame");
        let mut removed = fewest_errors(&space, &all, &mut watch);
        take_back(&space, &all, &mut removed, &mut watch);
        let at_least = disjoint_witnesses(&space, &all, removed.len(), &mut watch);
        removed.sort_unstable();
        (removed, at_least)
    };
    let mut signs = examples.signs().to_vec();
    rows.iter().for_each(|&row| signs[row] = 0);
    if [1, -1].iter().any(|side| !signs.contains(side)) && settings.bias == linsep_check::Bias::Free {
        return Err(SettingsError(
            "nothing is left of one class: these rows cannot be told apart at all".into(),
        )
        .into());
    }
    let rest = decide(&Examples::with_signs(data, signs, settings.bias), classes, settings, observer)?;
    Ok(Blame { rows, at_least, rest })
}

/// The rows that the best of several soft boundaries has wrong.
fn fewest_errors(space: &Space<'_>, rows: &[usize], watch: &mut Watch<'_>) -> Vec<usize> {
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
            if watch.is_over() {
                break;
            }
        }
        let w = descent.weights();
        let wrong: Vec<usize> = rows.iter().copied().filter(|&row| examples.dot(row, &w) <= 0.0).collect();
        if wrong.len() < best.len() {
            best = wrong;
        }
    }
    best
}

/// Takes rows back, one by one, while the rest stays separable.
fn take_back(space: &Space<'_>, rows: &[usize], removed: &mut Vec<usize>, watch: &mut Watch<'_>) {
    const MOST: usize = 200;
    let faces = Faces::new(space.examples);
    let mut kept: Vec<usize> = rows.iter().copied().filter(|row| !removed.contains(row)).collect();
    let mut start: Vec<(usize, f64)> = Vec::new();
    for row in removed.clone().into_iter().take(MOST) {
        if watch.is_over() {
            return;
        }
        kept.push(row);
        match faces.locate(space, &kept, &start, watch) {
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
fn disjoint_witnesses(space: &Space<'_>, rows: &[usize], most: usize, watch: &mut Watch<'_>) -> usize {
    const MOST: usize = 200;
    let faces = Faces::new(space.examples);
    let found = contradictions(space.examples);
    let mut gone = vec![false; space.examples.len()];
    found.zeros.iter().chain(found.pairs.iter().flatten()).for_each(|&row| gone[row] = true);
    let mut count = found.zeros.len() + found.pairs.len();
    for _ in 0..MOST {
        let left: Vec<usize> = rows.iter().copied().filter(|&row| !gone[row]).collect();
        if count >= most || left.is_empty() || watch.is_over() {
            break;
        }
        let Some(Side::Meets { support, .. }) = faces.locate(space, &left, &[], watch) else { break };
        support.iter().for_each(|&(row, _)| gone[row] = true);
        count += 1;
    }
    count
}

//! Predictions of the candidates of a family on held-out rows.

use super::Search;
use super::candidates::{Family, Fit, Kind};
use crate::Error;
use crate::classes::Classes;
use crate::dataset::Dataset;
use crate::observe::{Observer, Progress};
use crate::prepare::Prepared;
use crate::theta::Theta;
use crate::train::{CValues, Init, Learner, Settings, Status, log_loss, logistic_path, train};
use crate::validate::metric::{self, JudgedRow};
use std::ops::ControlFlow;

/// The gap of a search: which candidate is best shows long before the last digits.
const GAP: f64 = 1e-3;
/// Steps of an optimum in a search.
const STEPS: u64 = 50;

/// Learns each candidate of a family from the other rows, and judges the rows of `part` by it. `None` if the observer stopped
/// it.
pub(super) fn judge(
    search: &Search<'_>,
    part: &[usize],
    family: &Family,
    observer: &mut dyn Observer,
) -> Result<Option<Vec<Vec<JudgedRow>>>, Error> {
    if observer.progress(&Progress::Parts { what: "folds", done: 0, total: 1 }).is_break() {
        return Ok(None);
    }
    let settings = search.settings;
    let fold = family.preparation.fit_fold(search.records, part, settings, observer)?;
    let Some(Prepared { train: rows, held_out: Some(held_out), recipe }) = fold else { return Ok(None) };
    let held_out = recipe.scaling.apply_all(recipe.expansion.apply_all(held_out)?)?;
    let settings = Settings { epochs: STEPS, init: Init::Zero, ..settings.clone() };
    let mut judged = Vec::new();
    match family.kind {
        Kind::Logistic => {
            let Learner::Logistic(options) = family.learner(1.0, Some(GAP)) else { return Ok(None) };
            let mut patience = Patience::default();
            let mut each = |_: f64, thetas: &[Theta], classes: &Classes| {
                judged.push(judge_rows(thetas, classes, &held_out));
                patience.after(judged.last().map_or(&[][..], |rows| rows))
            };
            if logistic_path(&rows, &settings, &options, CValues::Given(&family.values), observer, &mut each)?
            {
                return Ok(None);
            }
            // What was not tried counts as what came before it, which was getting worse.
            while let Some(last) = judged.last().filter(|_| judged.len() < family.values.len()) {
                judged.push(last.clone());
            }
        }
        Kind::SquaredHinge | Kind::Sgd => {
            for &value in &family.values {
                let learner = family.learner(value, Some(GAP));
                let epochs = match family.fit(value) {
                    Fit::Passes(passes) => passes,
                    Fit::C(_) => STEPS,
                };
                let outcome = train(&rows, &Settings { learner, epochs, ..settings.clone() }, observer)?;
                if outcome.status == Status::Interrupted {
                    return Ok(None);
                }
                let thetas: Vec<Theta> =
                    outcome.learned.parts().iter().map(|learned| learned.theta().clone()).collect();
                judged.push(judge_rows(&thetas, &outcome.classes, &held_out));
            }
        }
    }
    Ok(Some(judged))
}

/// How long a path goes on while the rows held out are judged worse and worse: the penalty is too small by then.
struct Patience {
    least_loss: f64,
    fewest_errors: usize,
    worse: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { least_loss: f64::INFINITY, fewest_errors: usize::MAX, worse: 0 }
    }
}

impl Patience {
    /// Steps that may be worse in both loss and errors.
    const MAX: u32 = 2;

    fn after(&mut self, rows: &[JudgedRow]) -> ControlFlow<()> {
        let loss: f64 = rows.iter().map(|row| row.loss).sum();
        let errors = rows.iter().filter(|row| row.is_wrong()).count();
        let better = loss < self.least_loss || errors < self.fewest_errors;
        self.worse = if better { 0 } else { self.worse + 1 };
        self.least_loss = self.least_loss.min(loss);
        self.fewest_errors = self.fewest_errors.min(errors);
        if self.worse >= Self::MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Scores of rows by given weights.
fn judge_rows(thetas: &[Theta], classes: &Classes, rows: &Dataset) -> Vec<JudgedRow> {
    let outcomes = classes.outcomes_of(rows.classes());
    let mut scores = Vec::with_capacity(thetas.len());
    (0..rows.len())
        .map(|i| {
            let (row, truth) = (rows.row(i), outcomes[rows.labels()[i] as usize]);
            scores.clear();
            scores.extend(thetas.iter().map(|theta| theta.score(row)));
            let (outcome, score) = match scores[..] {
                [score] => (usize::from(score >= 0.0), score),
                _ => {
                    let best =
                        (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
                    (best, scores[best])
                }
            };
            // Two classes have one score.
            let loss = metric::log_loss(truth, scores.len().max(2), |truth| log_loss(&scores, truth));
            JudgedRow { truth: truth.map(|truth| truth as u32), outcome: outcome as u32, score, loss }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class that the training rows lack costs as much here as it does in a comparison: the logarithm of one more class than there are.
    #[test]
    fn an_unseen_class_has_one_loss() {
        let rows = Dataset::dense(1, &[1.0, 2.0], &["a", "z"]).unwrap();
        for classes in [2, 3, 5] {
            let names: Vec<String> =
                ["a", "b", "c", "d", "e"][..classes].iter().map(|n| n.to_string()).collect();
            let (known, scores) = match classes {
                2 => (Classes::Pair(crate::classes::ClassPair::choose(&names, None).unwrap()), 1),
                _ => (Classes::Each { names: names.clone() }, classes),
            };
            let judged = judge_rows(&vec![Theta::zero(1, 1.0); scores], &known, &rows);
            let losses: Vec<f64> = judged.iter().map(|row| row.loss).collect();
            let expected = [(classes as f64).ln(), (classes as f64 + 1.0).ln()];
            for (loss, expected) in losses.iter().zip(expected) {
                assert!((loss - expected).abs() < 1e-15, "{classes}: {losses:?}");
            }
        }
    }
}

//! One learner on one fold: learned from some rows, judged on the others.

use crate::Error;
use crate::model::Model;
use crate::observe::{Observer, Progress};
use crate::prepare::Prepared;
use crate::theta::Theta;
use crate::train::{Settings, Status, train};
use crate::validate::metric::{JudgedRow, judge};

/// Learns, and counts the errors on the rows held out; none if it was stopped.
pub(super) fn fit(
    fold: &Prepared,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Option<Fitted>, Error> {
    // After a stop no run begins.
    if observer.progress(&Progress::Parts { what: "runs", done: 0, total: 1 }).is_break() {
        return Ok(None);
    }
    let outcome = train(&fold.train, settings, observer)?;
    let (status, margin) = (outcome.status, outcome.evidence.margin.lower);
    let (Some(held_out), false) = (&fold.held_out, status == Status::Interrupted) else { return Ok(None) };
    // Only weights of one boundary have angles between them.
    let theta = outcome.learned.linear().cloned().unwrap_or_default();
    let model = Model::with_recipe(outcome, fold.recipe.clone(), None);
    let Some(judged) = judge(&model, held_out, observer) else { return Ok(None) };
    let errors = judged.iter().filter(|row| row.is_wrong()).count() as u64;
    Ok(Some(Fitted { status, theta, margin, errors, judged }))
}

/// The result of a run on the rows of a fold.
#[derive(Clone)]
pub(super) struct Fitted {
    pub(super) status: Status,
    pub(super) theta: Theta,
    pub(super) margin: Option<f64>,
    pub(super) errors: u64,
    pub(super) judged: Vec<JudgedRow>,
}

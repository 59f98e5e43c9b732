//! One learner on one fold: learned from some rows, judged on the others.

use super::AsRead;
use crate::Error;
use crate::dataset::Dataset;
use crate::features::{Expansion, MAX_WORDS, Recipe, Scaler, Scaling, Schema, learn_columns};
use crate::metric::{JudgedRow, log_loss};
use crate::model::Model;
use crate::observe::{Observer, Progress};
use crate::split::{Split, others};
use crate::theta::Theta;
use crate::train::{Learned, Settings, Status, train};

/// Rows to learn from, and rows to judge on.
pub(super) struct Fold {
    train: Dataset,
    held_out: Dataset,
    scaler: Scaler,
}

impl Fold {
    pub(super) fn new(
        data: &Dataset,
        as_read: Option<&AsRead>,
        part: &[usize],
        scaling: Scaling,
    ) -> Result<Self, Error> {
        let split = |data: &Dataset| -> Result<Split, Error> {
            Ok(Split { train: data.subset(&others(data.len(), part))?, held_out: data.subset(part)? })
        };
        let (columns, Split { train, held_out }) = match as_read {
            Some(AsRead { columns, data, .. }) => {
                learn_columns(columns.clone(), split(data)?, Some(MAX_WORDS as usize))?
            }
            None => (Schema::Array { features: data.columns() }, split(data)?),
        };
        let scaler = Scaler::learn_for(scaling, &train, &columns, &Expansion::none());
        Ok(Self { train: scaler.apply_all(train)?, held_out, scaler })
    }

    /// Learns, and counts the errors on the rows held out; none if it was stopped.
    pub(super) fn fit(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fitted>, Error> {
        // After a stop no run begins.
        if observer.progress(&Progress::Parts { what: "runs", done: 0, total: 1 }).is_break() {
            return Ok(None);
        }
        let outcome = train(&self.train, settings, observer)?;
        if outcome.status == Status::Interrupted {
            return Ok(None);
        }
        let status = outcome.status;
        // Only weights of one boundary have angles between them.
        let theta = match &outcome.learned {
            Learned::Linear(theta) => theta.clone(),
            _ => Theta::default(),
        };
        let margin = outcome.evidence.margin.lower;
        let schema = Schema::Array { features: self.train.columns() };
        let recipe = Recipe { columns: schema, expansion: Expansion::none(), scaling: self.scaler.clone() };
        let model = Model::with_recipe(outcome, recipe, None);
        let Some(judged) = self.judge(&model, observer) else { return Ok(None) };
        let errors = judged.iter().filter(|row| row.is_wrong()).count() as u64;
        Ok(Some(Fitted { status, theta, margin, errors, judged }))
    }

    /// What the model says about the rows held out; none if it was stopped.
    fn judge(&self, model: &Model, observer: &mut dyn Observer) -> Option<Vec<JudgedRow>> {
        let outcomes = model.classes.outcomes_of(self.held_out.classes());
        let mut judged = Vec::with_capacity(self.held_out.len());
        let finished = model.predict_watched(&self.held_out, observer, |predictor, i| {
            let truth = outcomes[self.held_out.labels()[i] as usize];
            let said = predictor.predict(self.held_out.row(i));
            let loss = loss(predictor.class_probabilities(), truth);
            let (truth, outcome) = (truth.map(|truth| truth as u32), said.outcome as u32);
            judged.push(JudgedRow { truth, outcome, score: said.score, loss });
        });
        finished.then_some(judged)
    }
}

/// −ln of the probability given to the right outcome; NaN where none are given. What was thought impossible costs as much as the
/// smallest number that can be told from 0.
fn loss(probabilities: &[f64], truth: Option<usize>) -> f64 {
    if probabilities.is_empty() {
        return f64::NAN;
    }
    log_loss(truth, probabilities.len(), |truth| -libm::log(probabilities[truth].max(f64::MIN_POSITIVE)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the search of tune: the logarithm of one more class than there are, whatever the probabilities.
    #[test]
    fn an_unseen_class_has_one_loss() {
        for given in [&[0.5, 0.5][..], &[0.9, 0.1], &[0.2, 0.3, 0.5], &[0.0, 1.0, 0.0]] {
            let expected = (given.len() as f64 + 1.0).ln();
            assert!((loss(given, None) - expected).abs() < 1e-15, "{given:?}");
        }
        assert!(loss(&[], None).is_nan());
        assert!((loss(&[0.25, 0.75], Some(1)) - (4.0f64 / 3.0).ln()).abs() < 1e-15);
    }
}

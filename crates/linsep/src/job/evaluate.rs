//! Judging a model on labelled rows.

use super::DataSpec;
use super::data::{load_model, tell};
use super::predict::{not_finite, predict_rows};
use crate::Error;
use crate::classes::{ClassPair, Classes, shortened};
use crate::model::{Evaluation, ManyEvaluation, Model, Predictor, evaluate, evaluate_many};
use crate::numbers::counted;
use crate::observe::{Note, Observer, Pace, Progress};
use crate::read::{Batch, RowStream};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// Which model is judged on which rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateSpec {
    /// The model.
    pub model: PathBuf,
    /// The labelled rows.
    pub data: DataSpec,
}

/// What the rows tell about a model; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Evaluated {
    /// For a model of two sides.
    Pair {
        /// Errors, precision, recall and the rest.
        #[serde(flatten)]
        evaluation: Evaluation,
        /// The sides.
        classes: ClassPair,
        /// Rows that were skipped.
        skipped_rows: u64,
    },
    /// For a model of many classes.
    Many {
        /// Errors, and each class by itself.
        #[serde(flatten)]
        evaluation: ManyEvaluation,
        /// Rows that were skipped.
        skipped_rows: u64,
    },
}

/// The rows that a model can be judged on.
#[derive(Default)]
struct Judged {
    scores: Vec<f64>,
    found: Vec<usize>,
    truth: Vec<usize>,
    /// Rows of classes that the model does not know.
    unknown: u64,
}

/// The classes that a model knows, in few words.
fn known(model: &Model) -> String {
    let known = model.classes.known();
    shortened(&known, known.len(), ", ")
}

impl EvaluateSpec {
    /// Judges the model.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Evaluated, Error> {
        let model = load_model(&self.model)?;
        let mut options = self.data.read.clone();
        options.schema = Some(model.recipe.columns.clone());
        let mut stream = RowStream::open(&self.data.source, &options)?;
        let judged = self.judge(&model, &mut stream, observer)?;
        // A stream that the user ended is not the whole: judging a part of it would mislead.
        if observer.will_stop() {
            return Err(Error::Interrupted);
        }
        let Judged { scores, found, truth, unknown } = judged;
        if scores.is_empty() && unknown > 0 {
            return Err(Error::Rows {
                place: stream.name().to_string(),
                problem: format!(
                    "none of its {} has a label that the model knows ({}); the first is \"{}\"",
                    counted(unknown, "row", "rows"),
                    known(&model),
                    stream.label_names().first().map_or("", String::as_str)
                ),
            });
        }
        if scores.is_empty() {
            return Err(stream.no_rows());
        }
        let notes = stream.notes();
        tell(&notes, observer);
        if unknown > 0 {
            let rows = counted(
                unknown,
                "row with a label that the model does not know was",
                "rows with labels that the model does not know were",
            );
            observer.note(Note::Warning(&format!("{rows} skipped")));
        }
        let skipped_rows = notes.skipped + unknown;
        Ok(match &model.classes {
            Classes::Pair(pair) => {
                let signs: Vec<i8> = truth.iter().map(|&outcome| if outcome == 1 { 1 } else { -1 }).collect();
                Evaluated::Pair { evaluation: evaluate(&scores, &signs), classes: pair.clone(), skipped_rows }
            }
            Classes::Each { names } => {
                Evaluated::Many { evaluation: evaluate_many(&found, &truth, names), skipped_rows }
            }
        })
    }

    fn judge(
        &self,
        model: &Model,
        stream: &mut RowStream,
        observer: &mut dyn Observer,
    ) -> Result<Judged, Error> {
        let mut judged = Judged::default();
        let predictor = Predictor::new(model);
        let mut outcomes: Vec<Option<usize>> = Vec::new();
        let mut pace = Pace::new(model.learned.rows_before_pause());
        while let Some(batch) = stream.next_batch()? {
            let names = stream.label_names();
            if names.len() > outcomes.len() {
                outcomes = model.classes.outcomes_of(names);
            }
            let mut end = 0;
            while end < batch.len() {
                let rows = pace.next(end, batch.len());
                end = rows.end;
                self.judge_rows(&predictor, &batch, rows, &outcomes, stream, &mut judged)?;
                let (bytes, total) = stream.bytes();
                let rows = judged.scores.len() as u64;
                if observer.progress(&Progress::Reading { bytes, total, rows }).is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        Ok(judged)
    }

    fn judge_rows(
        &self,
        predictor: &Predictor<'_>,
        batch: &Batch,
        rows: Range<usize>,
        outcomes: &[Option<usize>],
        stream: &RowStream,
        judged: &mut Judged,
    ) -> Result<(), Error> {
        let model = predictor.model();
        for (i, prediction) in rows.clone().zip(predict_rows(predictor, batch, rows)) {
            if !prediction.score.is_finite() {
                let row = judged.scores.len() as u64 + judged.unknown + 1;
                return Err(not_finite(stream.name(), batch.line(i).unwrap_or(row)));
            }
            match outcomes[batch.label(i) as usize] {
                Some(outcome) => {
                    judged.scores.push(prediction.score);
                    judged.found.push(prediction.outcome);
                    judged.truth.push(outcome);
                }
                None if self.data.read.skip_bad => judged.unknown += 1,
                None => {
                    let label = &stream.label_names()[batch.label(i) as usize];
                    let line = batch.line(i).map_or(String::new(), |line| format!(":{line}"));
                    let known = known(model);
                    return Err(Error::Rows {
                        place: format!("{}{line}", stream.name()),
                        problem: format!(
                            "the label \"{label}\" is not among the model's classes ({known}); skip such rows with \
                                 ⟦skip_bad⟧"
                        ),
                    });
                }
            }
        }
        Ok(())
    }
}

//! Judging a model on labelled rows.

use super::DataSpec;
use super::data::{load_model, tell};
use super::measure::{Evaluated, Judged};
use super::predict::{not_finite, predict_rows};
use crate::Error;
use crate::classes::shortened;
use crate::model::{Model, Predictor};
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
        let unknown = judged.unknown;
        if judged.is_empty() && unknown > 0 {
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
        if judged.is_empty() {
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
        let evaluated = judged.measure(&model.classes, None, notes.skipped);
        evaluated.warnings().iter().for_each(|warning| warning.tell(observer));
        Ok(evaluated)
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
                let rows = judged.len();
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
                let row = judged.len() + judged.unknown + 1;
                return Err(not_finite(stream.name(), batch.line(i).unwrap_or(row)));
            }
            match outcomes[batch.label(i) as usize] {
                Some(outcome) => judged.push(&prediction, outcome),
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

//! Judging a model on labelled rows.

use super::counts::Occurrences;
use super::data::{emit_notes, load_model, two_weights};
use super::measure::{Evaluated, Judged, JudgedRow, probabilities_beside};
use super::predict::{not_finite, overrule_threshold, predict_rows};
use super::{DataSpec, TrainSpec};
use crate::Error;
use crate::classes::shortened;
use crate::dataset::Dataset;
use crate::memory;
use crate::model::{Model, Predictor};
use crate::numbers::counted;
use crate::observe::{Note, Observer, Pace};
use crate::read::{Batch, RowStream, Source, folder_length, read};
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
    /// A file with one whole number for each row: how often it occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<PathBuf>,
    /// The probability from which on a row is called positive, instead of that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// Judges a model on rows in memory, as they were read, each as often as its weight says.
fn judge_dataset<R>(
    model: &Model,
    name: &str,
    data: &Dataset,
    observer: &mut dyn Observer,
    also: impl FnOnce(&Judged) -> R,
) -> Result<(Evaluated, R), Error> {
    let known_classes = model.classes.outcomes_of(data.classes());
    if let Some(&label) = data.labels().iter().find(|&&label| known_classes[label as usize].is_none()) {
        let label = &data.classes()[label as usize];
        let problem = format!("the label \"{label}\" is not among the model's classes ({})", known(model));
        return Err(Error::Rows { place: name.to_string(), problem });
    }
    let mut judged = Judged::of(model, data, observer).ok_or(Error::Interrupted)?;
    judged.weigh(data.weights());
    let also = also(&judged);
    let is_training = model.fingerprint.as_deref() == Some(data.fingerprint());
    let evaluated = judged.measure(model, None, 0).on_training_rows(is_training, false);
    evaluated.warnings().iter().for_each(|warning| warning.emit(observer));
    Ok((evaluated, also))
}

/// The classes that a model knows, in few words.
fn known(model: &Model) -> String {
    let known = model.classes.known();
    shortened(&known, known.len(), ", ")
}

impl EvaluateSpec {
    /// Judges the model.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Evaluated, Error> {
        let mut model = load_model(&self.model)?;
        overrule_threshold(&mut model, self.threshold)?;
        Ok(self.run_on(&model, observer, |_| ())?.0)
    }

    /// Judges a model in memory, and gives every row by itself too.
    pub fn run_with_rows(
        &self,
        model: &Model,
        observer: &mut dyn Observer,
    ) -> Result<(Evaluated, Vec<JudgedRow>), Error> {
        self.run_on(model, observer, Judged::rows)
    }

    /// Judges a model, with what `also` makes of the rows.
    fn run_on<R>(
        &self,
        model: &Model,
        observer: &mut dyn Observer,
        also: impl FnOnce(&Judged) -> R,
    ) -> Result<(Evaluated, R), Error> {
        if let Source::Rows(name, loaded) = &self.data.source {
            return judge_dataset(model, name, &loaded.dataset, observer, also);
        }
        let mut options = self.data.read.clone();
        options.schema = Some(model.recipe.columns.clone());
        let file = self.row_weights.as_deref();
        let counts = Occurrences::read(&self.data, file, &model.recipe.columns, observer)?;
        let mut stream = RowStream::open(&self.data.source, &options)?;
        let judged = self.judge(model, &mut stream, &counts, observer)?;
        counts.check(judged.rows_read())?;
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
                    known(model),
                    stream.label_names().first().map_or("", String::as_str)
                ),
            });
        }
        if judged.is_empty() {
            return Err(stream.no_rows());
        }
        let notes = stream.notes();
        emit_notes(&notes, observer);
        if unknown > 0 {
            let rows = counted(
                unknown,
                "row with a label that the model does not know was",
                "rows with labels that the model does not know were",
            );
            observer.note(Note::Warning(&format!("{rows} skipped")));
        }
        let rows = judged.rows_read();
        let is_training = self.are_training_rows(model, rows, judged.has_times(), observer);
        if observer.will_stop() {
            return Err(Error::Interrupted);
        }
        let held_out =
            TrainSpec::from_model(model).is_some_and(|spec| spec.is_ok_and(|spec| spec.holdout.is_some()));
        let also = also(&judged);
        let evaluated = judged.measure(model, None, notes.skipped).on_training_rows(is_training, held_out);
        evaluated.warnings().iter().for_each(|warning| warning.emit(observer));
        Ok((evaluated, also))
    }

    /// Whether the model was trained on these very rows, all of them or all but those that were held out: its fingerprint is
    /// that of the file or folder, read as for training. What has another number of rows, or does not fit into memory, is not
    /// read a second time.
    fn are_training_rows(
        &self,
        model: &Model,
        rows: u64,
        has_times: bool,
        observer: &mut dyn Observer,
    ) -> bool {
        let (Some(fingerprint), Some(Ok(spec))) = (&model.fingerprint, TrainSpec::from_model(model)) else {
            return false;
        };
        let Source::File(path) = &self.data.source else { return false };
        let all = spec.holdout.is_none() && spec.classes.only.is_empty();
        let learned = model.evidence.examples;
        // Rows with counts were written out.
        let counts = spec.data.counts.is_some() || has_times;
        if (!counts && (rows < learned || (all && rows > learned))) || spec.classes.row_weights.is_some() {
            return false;
        }
        // Rows of a text or picture that is compressed take several times its length.
        const MAX_LONGER: u64 = 16;
        let fits =
            |length: u64| memory::available().is_none_or(|free| length.saturating_mul(MAX_LONGER) < free);
        let length = std::fs::metadata(path).ok().and_then(|found| match found.is_dir() {
            true => folder_length(path),
            false => found.is_file().then_some(found.len()),
        });
        if !length.is_some_and(fits) {
            return false;
        }
        if counts {
            let data = DataSpec { source: self.data.source.clone(), ..spec.data.clone() };
            let (source, options) = (data.source.clone(), data.read.clone());
            let loaded = data.read_weighted(&source, &options, &spec.classes, observer);
            if loaded.is_ok_and(|loaded| loaded.dataset.fingerprint() == *fingerprint) {
                return true;
            }
            // Perhaps they are written out here.
        }
        let loaded = read(&self.data.source, &spec.data.read, observer)
            // The same rows in another format do not take the options of the first.
            .or_else(|_| read(&self.data.source, &self.data.read, observer));
        loaded.is_ok_and(|loaded| match loaded.fingerprint {
            Some(known) => known == *fingerprint,
            None => loaded.dataset.fingerprint() == *fingerprint,
        })
    }

    fn judge(
        &self,
        model: &Model,
        stream: &mut RowStream,
        counts: &Occurrences,
        observer: &mut dyn Observer,
    ) -> Result<Judged, Error> {
        let mut judged = Judged::default();
        let predictor = Predictor::new(model).with_probabilities();
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
                self.judge_rows(&predictor, &batch, rows, (&outcomes, counts), stream, &mut judged)?;
                if observer.progress(&stream.progress(judged.len())).is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        judged.forget_fractions();
        Ok(judged)
    }

    fn judge_rows(
        &self,
        predictor: &Predictor<'_>,
        batch: &Batch,
        rows: Range<usize>,
        (outcomes, counts): (&[Option<usize>], &Occurrences),
        stream: &RowStream,
        judged: &mut Judged,
    ) -> Result<(), Error> {
        let model = predictor.model();
        let judge = |predictor: &mut Predictor<'_>, batch: &Batch, i: usize| {
            let prediction = predictor.predict(batch.row(i));
            let truth = outcomes[batch.label(i) as usize];
            let measured = truth.and_then(|truth| probabilities_beside(predictor, &prediction, truth));
            (prediction, measured)
        };
        for (i, (prediction, probabilities)) in rows.clone().zip(predict_rows(predictor, batch, rows, judge))
        {
            let number = judged.rows_read();
            let line = batch.line(i).unwrap_or(number + 1);
            if !prediction.score.is_finite() {
                return Err(not_finite(stream.name(), line));
            }
            // Rows may say themselves how often they occur.
            if batch.weights.is_some() && !matches!(counts, Occurrences::Once) {
                return Err(two_weights().into());
            }
            let own = batch.weights.as_ref();
            let times = match own.map(|weights| weights[i]) {
                Some(weight) if weight.fract() == 0.0 => weight as u64,
                Some(_) => {
                    judged.has_fractions = true;
                    1
                }
                None => counts.of(number, line),
            };
            match outcomes[batch.label(i) as usize] {
                _ if times == 0 => judged.absent += 1,
                Some(outcome) => {
                    judged.push(line, &prediction, probabilities, outcome);
                    if own.is_some() || judged.has_times() || !matches!(counts, Occurrences::Once) {
                        judged.occurs(times);
                    }
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

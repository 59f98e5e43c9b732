//! Labelling rows with a model, batch by batch, in memory that does not grow with the source.

use super::DataSpec;
use super::data::{load_model, tell};
use super::refuse_overwriting;
use crate::model::{Model, Prediction, Predictor, Threshold};
use crate::numbers::counted;
use crate::observe::{Note, Observer, Pace};
use crate::read::{Batch, Labels, Missing, RowStream};
use crate::store::write_atomically;
use crate::train::Learned;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

/// What is written for each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Show {
    /// The class.
    #[default]
    Label,
    /// The decision function; at least 0 means the positive class.
    Score,
    /// The distance to the boundary, in the units of the scaled features where the model scales.
    Distance,
    /// The probability of the positive class; for many classes those of all, in their order, separated by commas.
    Probability,
    /// A table with line, label, score and distance, and the probability of the label where the model has probabilities.
    Table,
    /// A table with line, label and the probability of each class.
    ProbabilityTable,
}

impl Show {
    /// Whether each row is shown with its line.
    fn is_table(self) -> bool {
        matches!(self, Show::Table | Show::ProbabilityTable)
    }

    /// Whether the probabilities of all classes are shown.
    fn needs_probabilities(self) -> bool {
        matches!(self, Show::Probability | Show::ProbabilityTable)
    }
}

/// Which rows are labelled by which model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictSpec {
    /// The model.
    pub model: PathBuf,
    /// The rows.
    pub data: DataSpec,
    /// What is written for each row.
    #[serde(default)]
    pub show: Show,
    /// The probability from which on a row is called positive, instead of that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Where the lines are written; if no file is named, to the writer that the caller gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

/// What came of labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Predicted {
    /// Rows labelled.
    pub rows: u64,
    /// Rows with features that the model has not seen, which are left out.
    pub with_unknown_features: u64,
}

impl PredictSpec {
    /// Labels the rows and writes a line for each to the output of the specification, or else to `out`.
    pub fn run_to(&self, out: &mut dyn Write, observer: &mut dyn Observer) -> Result<Predicted, Error> {
        self.check()?;
        if let Some(output) = &self.output {
            let inputs: Vec<_> = [self.model.as_path()].into_iter().chain(self.data.inputs()).collect();
            refuse_overwriting(&[output], &inputs)?;
            self.data.refuse_replacing_cache(&[output])?;
        }
        let mut model = load_model(&self.model)?;
        overrule_threshold(&mut model, self.threshold)?;
        if self.show.needs_probabilities() && model.calibrated().is_none() {
            return Err(no_probabilities("show", "⟦show=probability⟧", &model).into());
        }
        if self.show == Show::Distance && !matches!(model.learned, Learned::Linear(_)) {
            let problem = "this model has no one flat boundary to be distant from (it votes, sums kernels, looks rows up, \
                           or tells many classes apart); ⟦show=score⟧ has what it goes by";
            return Err(SettingsError::new("show", problem).into());
        }
        let mut options = self.data.read.clone();
        options.schema = Some(model.recipe.columns.clone());
        options.labels = Labels::Ignored;
        let mut stream = RowStream::open(&self.data.source, &options)?;
        let mut labelling = Labelling {
            show: self.show,
            model: &model,
            outcomes: model.classes.outcomes(),
            observer,
            failure: None,
            predicted: Predicted { rows: 0, with_unknown_features: 0 },
        };
        let result = match &self.output {
            Some(path) => write_atomically(path, |out| labelling.write(&mut stream, out)),
            None => labelling
                .write(&mut stream, out)
                .map_err(|source| Error::Write { path: "to standard output".into(), source }),
        };
        // A failed read surfaces as a failed write; the read is what the user needs to hear of.
        if let Some(error) = labelling.failure {
            return Err(error);
        }
        result?;
        let predicted = labelling.predicted;
        if predicted.with_unknown_features > 0 {
            let rows = counted(predicted.with_unknown_features, "row has", "rows have");
            observer.note(Note::Remark(&format!(
                "{rows} features that the model has not seen; they are left out."
            )));
        }
        tell(&stream.notes(), observer);
        Ok(predicted)
    }

    /// Where rows are left out, a bare list of labels no longer tells which row each belongs to.
    fn check(&self) -> Result<(), SettingsError> {
        let option = match self.data.read.csv.missing {
            _ if self.show.is_table() => return Ok(()),
            _ if self.data.read.skip_bad => "⟦skip_bad⟧",
            Missing::DropRow => "⟦missing=drop-row⟧",
            _ => return Ok(()),
        };
        let problem = format!(
            "{option} leaves rows out, so the lines of the output would not be those of the file; add ⟦csv⟧, which \
             prints the line of each row"
        );
        Err(SettingsError::new("skip_bad", problem))
    }
}

struct Labelling<'a> {
    show: Show,
    model: &'a Model,
    /// The names that predictions give.
    outcomes: Vec<String>,
    observer: &'a mut dyn Observer,
    failure: Option<Error>,
    predicted: Predicted,
}

impl Labelling<'_> {
    fn write(&mut self, stream: &mut RowStream, out: &mut dyn Write) -> io::Result<()> {
        self.print_head(out)?;
        let mut predictor = Predictor::new(self.model);
        if self.show == Show::Table || self.show.needs_probabilities() {
            predictor = predictor.with_probabilities();
        }
        let predict = |predictor: &mut Predictor<'_>, batch: &Batch, i: usize| {
            let prediction = predictor.predict(batch.row(i));
            (prediction, predictor.class_probabilities().to_vec())
        };
        let mut pace = Pace::new(self.model.learned.rows_before_pause());
        loop {
            let batch = match stream.next_batch() {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(error) => return self.fail(error),
            };
            let columns = self.model.recipe.columns.features();
            let unknown = (0..batch.len()).filter(|&i| batch.row(i).width() > columns).count();
            self.predicted.with_unknown_features += unknown as u64;
            let mut end = 0;
            while end < batch.len() {
                let rows = pace.next(end, batch.len());
                end = rows.end;
                for (i, (prediction, probabilities)) in
                    rows.clone().zip(predict_rows(&predictor, &batch, rows, predict))
                {
                    self.predicted.rows += 1;
                    let line = batch.line(i).unwrap_or(self.predicted.rows);
                    let distance = prediction.distance.unwrap_or(0.0);
                    if !prediction.score.is_finite() || !distance.is_finite() {
                        return self.fail(not_finite(stream.name(), line));
                    }
                    self.print(line, prediction, &probabilities, out)?;
                }
                if self.observer.progress(&stream.progress(self.predicted.rows)).is_break() {
                    // Half an answer is none: a file named for it stays as it was.
                    return self.fail(Error::Interrupted);
                }
            }
        }
        match self.predicted.rows {
            0 => self.fail(stream.no_rows()),
            _ => Ok(()),
        }
    }

    fn fail(&mut self, error: Error) -> io::Result<()> {
        self.failure = Some(error);
        Err(io::Error::other("the rows could not be labelled"))
    }

    fn print_head(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.show {
            Show::Table if self.model.calibrated().is_some() => {
                writeln!(out, "line,label,score,distance,probability")
            }
            Show::Table => writeln!(out, "line,label,score,distance"),
            Show::ProbabilityTable => {
                let names = self.outcomes.iter().map(|name| quoted(&format!("p({name})")));
                writeln!(out, "line,label,{}", names.collect::<Vec<_>>().join(","))
            }
            _ => Ok(()),
        }
    }

    fn print(
        &self,
        line: u64,
        prediction: Prediction,
        probabilities: &[f64],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let label = &self.outcomes[prediction.outcome];
        let score = || number(prediction.score);
        let distance = || prediction.distance.map_or(String::new(), number);
        let all = || probabilities.iter().map(|&p| number(p)).collect::<Vec<_>>().join(",");
        match self.show {
            Show::Table => {
                let own = probabilities.get(prediction.outcome);
                let own = own.map_or(String::new(), |&p| format!(",{}", number(p)));
                writeln!(out, "{line},{},{},{}{own}", quoted(label), score(), distance())
            }
            Show::ProbabilityTable => writeln!(out, "{line},{},{}", quoted(label), all()),
            Show::Probability => match (self.model.classes.pair(), prediction.probability) {
                (Some(_), Some(p)) => writeln!(out, "{}", number(p)),
                _ => writeln!(out, "{}", all()),
            },
            Show::Label => writeln!(out, "{label}"),
            Show::Score => writeln!(out, "{}", score()),
            Show::Distance => writeln!(out, "{}", distance()),
        }
    }
}

/// Predicts rows of a batch, in their order: in parallel, unless that costs more than the scores themselves. `predict` is
/// given the predictor, the batch and the place of a row in it.
pub(super) fn predict_rows<R: Send>(
    predictor: &Predictor<'_>,
    batch: &Batch,
    rows: Range<usize>,
    predict: impl Fn(&mut Predictor<'_>, &Batch, usize) -> R + Sync,
) -> Vec<R> {
    if let Learned::Linear(_) = predictor.model().learned {
        let mut predictor = predictor.clone();
        return rows.map(|i| predict(&mut predictor, batch, i)).collect();
    }
    // Few rows are few because each takes long: then all threads have a part of them.
    let together = (rows.len() / (4 * rayon::current_num_threads())).clamp(1, 256);
    rows.into_par_iter()
        .with_min_len(together)
        .map_init(|| predictor.clone(), |predictor, i| predict(predictor, batch, i))
        .collect()
}

/// Sets the threshold that was asked for in place of that of the model.
pub(super) fn overrule_threshold(model: &mut Model, threshold: Option<f64>) -> Result<(), SettingsError> {
    let Some(probability) = threshold else { return Ok(()) };
    let threshold = Threshold::given(probability)?;
    if model.classes.pair().is_none() {
        let problem = "⟦threshold⟧ is for two sides, and this model tells more than two classes apart";
        return Err(SettingsError::new("threshold", problem));
    }
    if model.calibrated().is_none() {
        return Err(no_probabilities("threshold", "⟦threshold⟧", model));
    }
    model.threshold = Some(threshold);
    Ok(())
}

/// The error for a model without probabilities.
fn no_probabilities(field: &'static str, name: &str, model: &Model) -> SettingsError {
    let problem = format!(
        "{name} needs a model with probabilities, and this one of {} has none: train it with ⟦probabilities⟧, or with \
         ⟦learner=logistic⟧",
        model.settings.learner.name()
    );
    SettingsError::new(field, problem)
}

/// The error for a row whose score overflows.
pub(super) fn not_finite(name: &str, line: u64) -> Error {
    Error::Rows {
        place: format!("{name}:{line}"),
        problem: "the numbers of this row are too large: its score is not finite".into(),
    }
}

/// The shortest text that reads back as the same number; without hundreds of zeros.
fn number(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// A CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for (value, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-0.1, "-0.1"),
            (0.00001, "0.00001"),
            (0.0000099, "9.9e-6"),
            (1e15, "1000000000000000"),
            (1e16, "1e16"),
            (-1.25e300, "-1.25e300"),
        ] {
            assert_eq!(number(value), text);
            assert_eq!(text.parse(), Ok(value));
        }
    }
}

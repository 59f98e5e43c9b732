//! Labelling rows with a model, batch by batch, in memory that does not grow with the source.

mod line_stream;

use super::DataSpec;
use super::data::{emit_notes, load_model};
use super::refuse_overwriting;
use crate::classes::printable;
use crate::features::Schema;
use crate::model::{Explainer, Model, Part, Prediction, Predictor, Threshold};
use crate::numbers::counted;
use crate::observe::{Note, Observer, Pace, Progress};
use crate::read::{Batch, Labels, Missing, ReadNotes, ReadOptions, RowStream, Source};
use crate::store::write_atomically;
use crate::{Error, SettingsError};
use line_stream::{Begun, LineStream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

/// Effects below this are shown as ±0.0000.
const SMALLEST_EFFECT: f64 = 0.00005;

/// The output for each row.
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
    /// The output for each row.
    #[serde(default)]
    pub show: Show,
    /// More files, each read like the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<PathBuf>,
    /// Say what spoke for and against each label: so many features of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<usize>,
    /// The probability from which on a row is called positive, instead of that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Where the lines are written; if no file is named, to the writer that the caller gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

/// Summary of a prediction run.
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
            let more = self.more.iter().map(PathBuf::as_path);
            let inputs: Vec<_> =
                [self.model.as_path()].into_iter().chain(self.data.inputs()).chain(more).collect();
            refuse_overwriting(&[output], &inputs)?;
            self.data.refuse_replacing_cache(&[output])?;
        }
        let mut model = load_model(&self.model)?;
        overrule_threshold(&mut model, self.threshold)?;
        if self.show.needs_probabilities() && model.calibrated().is_none() {
            return Err(no_probabilities("show", "⟦show=probability⟧", &model).into());
        }
        if self.show == Show::Distance && model.learned.linear().is_none() {
            let problem = "this model has no single linear boundary to measure distances from (it votes, \
                           uses a kernel, memorises rows, or has many classes); use ⟦show=score⟧";
            return Err(SettingsError::new("show", problem).into());
        }
        let mut options = self.data.read.clone();
        options.schema = Some(model.recipe.columns.clone());
        options.labels = Labels::Ignored;
        options.keep_hashed_terms = self.explain.is_some();
        let sources =
            [self.data.source.clone()].into_iter().chain(self.more.iter().cloned().map(Source::from));
        let mut rows = Rows { sources: sources.collect(), options, now: None, notes: Vec::new() };
        rows.open_next()?;
        let mut labelling = Labelling {
            show: self.show,
            explain: self.explain,
            names: !self.more.is_empty() || self.data.source.path().is_some_and(|path| path.is_dir()),
            model: &model,
            outcomes: model.classes.outcomes(),
            observer,
            failure: None,
            predicted: Predicted { rows: 0, with_unknown_features: 0 },
        };
        let result = match &self.output {
            Some(path) => write_atomically(path, |out| labelling.write(&mut rows, out)),
            None => labelling
                .write(&mut rows, out)
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
                "{rows} features that the model was not trained on; they are ignored."
            )));
        }
        rows.notes.iter().for_each(|notes| emit_notes(notes, observer));
        Ok(predicted)
    }

    /// Where rows are left out, a bare list of labels no longer tells which row each belongs to.
    fn check(&self) -> Result<(), SettingsError> {
        if self.explain.is_some() && self.show != Show::Label {
            let problem = "⟦explain⟧ cannot be combined with ⟦show⟧ or ⟦csv⟧";
            return Err(SettingsError::new("explain", problem));
        }
        let option = match self.data.read.csv.missing {
            _ if self.show.is_table() => return Ok(()),
            _ if self.data.read.skip_bad => "⟦skip_bad⟧",
            Missing::DropRow => "⟦missing=drop-row⟧",
            _ => return Ok(()),
        };
        let problem = format!(
            "{option} leaves rows out, so the lines of the output would not match those of the file; add \
             ⟦csv⟧, which prints the line number of each row"
        );
        Err(SettingsError::new("skip_bad", problem))
    }
}

/// The rows of all sources, one after the other.
struct Rows {
    /// Those that are still to come, the next one first.
    sources: VecDeque<Source>,
    options: ReadOptions,
    now: Option<Now>,
    /// Notes on those that were read completely.
    notes: Vec<ReadNotes>,
}

enum Now {
    Stream(Box<RowStream>),
    LineStream(Box<LineStream>),
}

impl Rows {
    /// Opens the next source, if there is one.
    fn open_next(&mut self) -> Result<bool, Error> {
        let Some(source) = self.sources.pop_front() else { return Ok(false) };
        let source = match source {
            Source::Stdin if may_wait() || self.takes_texts() => match LineStream::begin(&self.options)? {
                Begun::Lines(lines) => {
                    self.now = Some(Now::LineStream(lines));
                    return Ok(true);
                }
                Begun::Whole(source) => source,
            },
            source => source,
        };
        self.now = Some(Now::Stream(Box::new(RowStream::open(&source, &self.options)?)));
        Ok(true)
    }

    /// Whether the model reads texts, whose lines mean the same from a file as from a pipe.
    fn takes_texts(&self) -> bool {
        self.options.schema.as_ref().is_some_and(Schema::is_text_alone)
    }

    fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        loop {
            let batch = match &mut self.now {
                None => return Ok(None),
                Some(Now::Stream(stream)) => stream.next_batch()?,
                Some(Now::LineStream(lines)) => lines.next_batch()?,
            };
            if batch.is_some() {
                return Ok(batch);
            }
            self.notes.push(match &self.now {
                Some(Now::Stream(stream)) => stream.notes(),
                Some(Now::LineStream(lines)) => lines.notes(),
                None => ReadNotes::default(),
            });
            // The last one stays, to say that it gave no rows.
            if !self.open_next()? {
                return Ok(None);
            }
        }
    }

    /// Whether rows are shown as they come.
    fn is_arriving(&self) -> bool {
        matches!(self.now, Some(Now::LineStream(_)))
    }

    fn name(&self) -> String {
        match &self.now {
            Some(Now::Stream(stream)) => stream.name().to_string(),
            _ => Source::Stdin.name(),
        }
    }

    /// The file of a row of the last batch, as people are shown it: that which rows come from by themselves, or that which was named.
    fn row_name(&self, row: usize) -> String {
        let name = match &self.now {
            Some(Now::Stream(stream)) => match (stream.row_name(row), stream.row_number(row)) {
                (Some(path), Some(number)) => format!("{}#{number}", path.display()),
                (Some(path), None) => path.display().to_string(),
                _ => stream.name().to_string(),
            },
            _ => Source::Stdin.name(),
        };
        printable(&name).into_owned()
    }

    fn progress(&self, rows: u64) -> Progress {
        match &self.now {
            Some(Now::Stream(stream)) => stream.progress(rows),
            _ => Progress::Reading { bytes: 0, total: None, rows },
        }
    }

    fn no_rows(&self) -> Error {
        match &self.now {
            Some(Now::Stream(stream)) => stream.no_rows(),
            Some(Now::LineStream(lines)) => lines.no_rows(),
            None => Error::Interrupted,
        }
    }
}

/// Whether standard input is a pipe or a terminal, whose rows may take their time.
fn may_wait() -> bool {
    !std::fs::metadata("/dev/stdin").is_ok_and(|found| found.is_file())
}

struct Labelling<'a> {
    show: Show,
    /// How many features are named for and against each label.
    explain: Option<usize>,
    /// Whether each label is shown with the file that it belongs to.
    names: bool,
    model: &'a Model,
    /// The names that predictions give.
    outcomes: Vec<String>,
    observer: &'a mut dyn Observer,
    failure: Option<Error>,
    predicted: Predicted,
}

impl Labelling<'_> {
    fn write(&mut self, rows: &mut Rows, out: &mut dyn Write) -> io::Result<()> {
        self.print_head(out)?;
        let mut predictor = Predictor::new(self.model);
        if self.show == Show::Table || self.show.needs_probabilities() {
            predictor = predictor.with_probabilities();
        }
        let predict = |predictor: &mut Predictor<'_>, batch: &Batch, i: usize| {
            let prediction = predictor.predict(batch.row(i));
            (prediction, predictor.class_probabilities().to_vec())
        };
        let mut explainer = self.explain.map(|_| Explainer::new(self.model));
        let mut pace = Pace::new(self.model.learned.rows_before_pause());
        loop {
            let batch = match rows.next_batch() {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(error) => return self.fail(error),
            };
            let columns = self.model.recipe.columns.features();
            let unknown = (0..batch.len()).filter(|&i| batch.row(i).width() > columns).count();
            self.predicted.with_unknown_features += unknown as u64;
            let mut end = 0;
            while end < batch.len() {
                let some = pace.next(end, batch.len());
                end = some.end;
                for (i, (prediction, probabilities)) in
                    some.clone().zip(predict_rows(&predictor, &batch, some, predict))
                {
                    self.predicted.rows += 1;
                    let line = batch.line(i).unwrap_or(self.predicted.rows);
                    let distance = prediction.distance.unwrap_or(0.0);
                    if !prediction.score.is_finite() || !distance.is_finite() {
                        return self.fail(not_finite(&rows.name(), line));
                    }
                    if self.names && !self.show.is_table() {
                        write!(out, "{}: ", rows.row_name(i))?;
                    }
                    let name = if self.names { quoted(&rows.row_name(i)) } else { line.to_string() };
                    self.print(&name, prediction, &probabilities, out)?;
                    if let (Some(top), Some(explainer)) = (self.explain, &mut explainer) {
                        out.write_all(self.explanation(explainer, &batch, i, top).as_bytes())?;
                    }
                }
                if rows.is_arriving() {
                    out.flush()?;
                }
                if self.observer.progress(&rows.progress(self.predicted.rows)).is_break() {
                    // Half an answer is none: a file named for it stays as it was.
                    return self.fail(Error::Interrupted);
                }
            }
        }
        match self.predicted.rows {
            0 => self.fail(rows.no_rows()),
            _ => Ok(()),
        }
    }

    fn fail(&mut self, error: Error) -> io::Result<()> {
        self.failure = Some(error);
        Err(io::Error::other("no labels could be predicted"))
    }

    /// The evidence for and against the class of a row.
    fn explanation(&self, explainer: &mut Explainer<'_>, batch: &Batch, i: usize, top: usize) -> String {
        let mut why = explainer.explain(batch.row(i));
        let mut terms: HashMap<usize, Vec<&str>> = HashMap::new();
        batch.hashed_terms(i).for_each(|(feature, term)| terms.entry(feature).or_default().push(term));
        let is_told = |part: &Part| part.effect.abs() >= SMALLEST_EFFECT;
        if why.parts.iter().any(is_told) {
            why.parts.retain(is_told);
        }
        for part in &mut why.parts {
            if let Some(own) = terms.get(&part.feature) {
                part.name = format!("{} ({})", own.join(" + "), part.name);
            }
        }
        let name = |outcome: usize| printable(&self.outcomes[outcome]);
        let instead = why.other.map_or(String::new(), |other| format!(" rather than {}", name(other)));
        let mut text = format!("  {}{instead} by {:+.4}", name(why.outcome), why.score);
        if let Some(constant) = why.constant {
            text += &format!(", of which {constant:+.4} is constant");
        }
        text.push('\n');
        let adds_up = why.constant.is_some();
        if !adds_up {
            text += "  (The score of this model is not a sum over features. Each number is the change of \
                     the score when that feature alone is left out; the numbers do not add up to the score.)\n";
        }
        if !terms.is_empty() {
            text += "  (The model hashes words. The words of this row are shown with their bucket; other \
                     words may share that bucket.)\n";
        }
        let part = |part: &&Part| {
            let value = part.date.clone().or(part.value.map(number));
            let value = value.map_or(String::new(), |value| format!(" = {value}"));
            format!("{}{value} ({:+.4})", printable(&part.name), part.effect)
        };
        let pros: Vec<&Part> = why.parts.iter().filter(|part| part.effect > 0.0).collect();
        let cons: Vec<&Part> = why.parts.iter().rev().filter(|part| part.effect < 0.0).collect();
        for (title, parts) in [("for", pros), ("against", cons)] {
            let shown: Vec<String> = parts.iter().take(top).map(part).collect();
            let rest: f64 = parts.iter().skip(top).map(|part| part.effect).sum();
            let more = match parts.len().saturating_sub(top) {
                0 => String::new(),
                more if !adds_up => format!(", {}", counted(more as u64, "other", "others")),
                more => format!(", {} ({rest:+.4})", counted(more as u64, "other", "others")),
            };
            let all = if shown.is_empty() { "nothing".to_string() } else { shown.join(", ") + &more };
            text += &format!("  {title:<8} {all}\n");
        }
        text
    }

    fn print_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let place = if self.names { "file" } else { "line" };
        match self.show {
            Show::Table if self.model.calibrated().is_some() => {
                writeln!(out, "{place},label,score,distance,probability")
            }
            Show::Table => writeln!(out, "{place},label,score,distance"),
            Show::ProbabilityTable => {
                let names = self.outcomes.iter().map(|name| quoted(&format!("p({name})")));
                writeln!(out, "{place},label,{}", names.collect::<Vec<_>>().join(","))
            }
            _ => Ok(()),
        }
    }

    fn print(
        &self,
        line: &str,
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
            Show::Label => writeln!(out, "{}", printable(label)),
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
    if predictor.model().learned.linear().is_some() {
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
        let problem = "⟦threshold⟧ is for two classes, and this model has more";
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

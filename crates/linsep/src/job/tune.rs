//! Searching for the best way to learn, and learning that way from all rows.

use super::{BiasSpec, ClassSpec, DataSpec, TrainSpec, Trained, emit_notes, label, refuse_overwriting};
use crate::features::{Missing, Ngrams, Schema, TermKind, TermWeights, TextChoice, TextOptions};
use crate::observe::{Note, Observer, Progress};
use crate::prepare::Records;
use crate::read::Source;
use crate::read::options::is_default;
use crate::store::check_writable;
use crate::train::{Settings, Status};
use crate::validate::metric::Metric;
use crate::validate::tune::{Ended, Fit, Judging, TuneSettings, Tuned, tune};
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Words, and pairs of neighbouring words.
const PAIRS: Ngrams = Ngrams { least: 1, most: 2 };

/// The specification of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneSpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// Which classes, and how often their rows count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: ClassSpec,
    /// Whether the boundary has a bias, or goes through the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasSpec,
    /// By what candidates are judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metric: Metric,
    /// The number of folds of the cross-validation.
    #[serde(default = "five")]
    pub folds: usize,
    /// Stop the search after this many seconds, with the best candidate so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// How the error on new rows is measured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judging: Judging,
    /// A simpler candidate is taken if it is worse than the best by no more than this many standard errors of their
    /// difference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simpler: f64,
    /// The seed of the folds and of held-out rows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
    /// Where the model is saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

fn five() -> usize {
    5
}

impl Default for TuneSpec {
    fn default() -> Self {
        Self {
            data: DataSpec::default(),
            classes: ClassSpec::default(),
            bias: BiasSpec::default(),
            metric: Metric::default(),
            folds: five(),
            max_seconds: None,
            judging: Judging::default(),
            simpler: 0.0,
            seed: 0,
            output: None,
        }
    }
}

/// The result of a search, with the model that was learned the way it chose.
#[derive(Debug)]
pub struct TunedModel {
    /// The candidates and the choice.
    pub tuned: Tuned,
    /// The model, learned from all rows.
    pub trained: Trained,
}

impl TuneSpec {
    /// Searches, learns from all rows as chosen, and writes the model that the specification names.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<TunedModel, Error> {
        let outputs: Vec<&Path> = self.output.as_deref().into_iter().collect();
        refuse_overwriting(&outputs, &self.data.inputs())?;
        self.data.refuse_replacing_cache(&outputs)?;
        for path in &outputs {
            check_writable(path)?;
        }
        if matches!(self.data.source, Source::Stdin | Source::Custom(..) | Source::Once(..)) {
            let problem = "a search reads the rows twice, which standard input does not allow: name a file";
            return Err(SettingsError::new("data", problem).into());
        }
        let clock = Instant::now();
        let (tuned, reading) = self.search(observer)?;
        let training = self.training(&tuned);
        // One model takes less time than a search, unless it has just begun.
        let limit = if observer.waits() { clock.elapsed().max(LITTLE) } else { LITTLE };
        let trained = match tuned.ended {
            // The rows are read again, and reading is the smaller part.
            Some(Ended::Interrupted) if reading > limit / 4 => {
                return Err(not_learned(limit, &training, observer));
            }
            Some(Ended::Interrupted) => learn_within(limit, training, observer)?,
            _ => training.run(&mut Second { outer: observer, until: None })?,
        };
        Ok(TunedModel { tuned, trained })
    }

    /// What a search finds, and how long the rows took to be read.
    fn search(&self, observer: &mut dyn Observer) -> Result<(Tuned, Duration), Error> {
        let clock = Instant::now();
        let place = |error: Error| match error {
            Error::Interrupted => Error::Interrupted,
            error => error.at(self.data.source.name()),
        };
        let data = self.data.with_missing(Missing::Auto);
        let (source, mut options) = data.resolve(observer)?;
        options.text = self.widest_text();
        let loaded = self.data.read_weighted(&source, &options, &self.classes, observer)?;
        emit_notes(&loaded.notes, observer);
        // Each fold leaves the same columns out.
        let mut columns = loaded.schema.clone();
        columns.leave_out_row_names();
        columns.remarks().iter().for_each(|remark| observer.note(Note::Remark(remark)));
        let rows = self.classes.kept(loaded.dataset)?;
        label::check(&self.data, loaded.format, &loaded.schema, &rows, observer)?;
        let settings = Settings {
            seed: self.seed,
            bias: self.bias.resolve(Settings::default().bias)?,
            positive: self.classes.positive.clone(),
            class_weight: self.classes.weight.clone(),
            ..Settings::default()
        };
        let settings = TuneSettings {
            settings,
            metric: self.metric,
            folds: self.folds,
            max_seconds: self.max_seconds,
            judging: self.judging,
            simpler: self.simpler,
            texts: self.text_choices(&loaded.schema),
        };
        let reading = clock.elapsed();
        let records = Records { schema: loaded.schema, data: rows };
        let tuned = tune(&records, &settings, observer).map_err(place)?;
        Ok((tuned, reading))
    }

    /// How texts are read for a search: with the longest terms that are tried.
    fn widest_text(&self) -> TextOptions {
        let mut text = self.data.read.text.clone();
        let words = text.terms.unwrap_or_default() == TermKind::Words && text.words.is_empty();
        if text.ngrams.is_none() && words && text.hash_bits.is_none() {
            text.searched_ngrams = Some(PAIRS);
        }
        text
    }

    /// The ways to make features of texts that are tried, the simplest first: those that nothing was said about.
    fn text_choices(&self, schema: &Schema) -> Vec<TextChoice> {
        let Some((_, text)) = schema.texts().next() else { return Vec::new() };
        let said = &self.data.read.text;
        let words = TermKind::Words.usual_ngrams();
        let ngrams = if said.ngrams.is_none() && text.ngrams == PAIRS && said.words.is_empty() {
            vec![words, PAIRS]
        } else {
            vec![text.ngrams]
        };
        let weights = match said.weights {
            Some(weights) => vec![weights],
            None => vec![TermWeights::TfIdf, TermWeights::Binary, TermWeights::Counts],
        };
        let all =
            |ngrams| weights.iter().map(move |&weights| TextChoice { terms: text.kind, ngrams, weights });
        ngrams.into_iter().flat_map(all).collect()
    }

    /// The training that a search chose.
    pub fn training(&self, tuned: &Tuned) -> TrainSpec {
        let candidate = tuned.tried[tuned.chosen].candidate;
        let mut data = self.data.clone();
        if let Some(choice) = candidate.preparation.text {
            data.read.text.ngrams = Some(choice.ngrams).filter(|_| data.read.text.words.is_empty());
            data.read.text.weights = Some(choice.weights);
        }
        TrainSpec {
            data,
            classes: self.classes.clone(),
            bias: self.bias,
            features: Some(candidate.preparation.features),
            scale: Some(candidate.preparation.scaling),
            learner: Some(candidate.learner.name().to_string()),
            options: candidate.learner.options(),
            epochs: match candidate.fit {
                Fit::Passes(passes) => Some(passes),
                Fit::C(_) => None,
            },
            seed: Some(self.seed),
            output: self.output.clone(),
            ..TrainSpec::default()
        }
    }
}

/// How long the best so far may always take to be learned after an interruption.
const LITTLE: Duration = Duration::from_secs(1);

/// Learns from all rows, if that takes no longer than this. A model that is not learned to its end is not the best so far, and
/// replaces no other.
fn learn_within(
    limit: Duration,
    mut training: TrainSpec,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    let again = if observer.waits() { "; interrupt again to stop without a model" } else { "" };
    observer.note(Note::Warning(&format!(
        "interrupted: training the best candidate so far on all rows, for at most {}{again}",
        seconds(limit)
    )));
    let output = training.output.take();
    let until = Some(Instant::now() + limit);
    match training.run(&mut Second { outer: observer, until }) {
        Ok(mut trained) if trained.status != Status::Interrupted => {
            if let Some(path) = output {
                trained.save(&path);
            }
            Ok(trained)
        }
        Ok(_) | Err(Error::Interrupted) => Err(not_learned(limit, &training, observer)),
        Err(error) => Err(error),
    }
}

/// Says how the best so far can be learned, where that takes too long for a user who waits.
fn not_learned(limit: Duration, training: &TrainSpec, observer: &mut dyn Observer) -> Error {
    observer.note(Note::Warning(&format!(
        "interrupted: training the best candidate so far on all rows takes more than {}, so no model is \
         saved. To train it: {}",
        seconds(limit),
        settings_of(training)
    )));
    Error::Interrupted
}

/// About so many seconds, in words.
fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        0 | 1 => "a second".to_string(),
        more => format!("{more} seconds"),
    }
}

/// The choices of a search, as settings of training.
fn settings_of(training: &TrainSpec) -> String {
    let mut settings = vec![("learner", training.learner.clone().unwrap_or_default())];
    settings.extend(training.options.iter().map(|(name, value)| (name, value.to_string())));
    settings.extend(training.epochs.map(|passes| ("epochs", passes.to_string())));
    settings.extend(training.features.map(|features| ("features", features.name().to_string())));
    let settings = settings.into_iter().map(|(name, value)| format!("⟦{name}={value}⟧"));
    settings.collect::<Vec<_>>().join(", ")
}

/// The observer of a second reading: what was said of the first is not said again. After an interruption it stops at an instant.
struct Second<'a> {
    outer: &'a mut dyn Observer,
    until: Option<Instant>,
}

impl Observer for Second<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let flow = self.outer.progress(progress);
        match self.until {
            None => flow,
            Some(_) if self.will_stop() => ControlFlow::Break(()),
            Some(_) => ControlFlow::Continue(()),
        }
    }

    fn waits(&self) -> bool {
        self.outer.waits()
    }

    fn note(&mut self, note: Note<'_>) {
        if !matches!(note, Note::Remark(_)) {
            self.outer.note(note);
        }
    }

    fn will_stop(&self) -> bool {
        self.until.map_or_else(|| self.outer.will_stop(), |until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Observer for Heard {
        fn note(&mut self, note: Note<'_>) {
            if let Note::Warning(text) = note {
                self.0.push(text.to_string());
            }
        }
    }

    #[test]
    fn an_interrupted_search_replaces_no_model_by_an_unfinished_one() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, model) = (folder.path().join("rows.csv"), folder.path().join("model"));
        let row =
            |i: i32| format!("{},{},{}\n", i % 7, i * i % 11, if i * 5 % 7 > 2 { "up" } else { "down" });
        std::fs::write(&rows, (0..60).map(row).collect::<String>()).unwrap();
        std::fs::write(&model, "the model of before").unwrap();
        let spec = TuneSpec {
            data: DataSpec { source: Source::from(rows.as_path()), ..DataSpec::default() },
            judging: Judging::None,
            output: Some(model.clone()),
            ..TuneSpec::default()
        };
        let (tuned, _) = spec.search(&mut ()).unwrap();
        let mut heard = Heard::default();
        let unfinished = learn_within(Duration::ZERO, spec.training(&tuned), &mut heard);
        assert!(matches!(unfinished, Err(Error::Interrupted)), "{unfinished:?}");
        assert!(
            heard.0.last().unwrap().contains("no model is saved. To train it: ⟦learner="),
            "{:?}",
            heard.0
        );
        assert_eq!(std::fs::read(&model).unwrap(), b"the model of before");
        let hour = Duration::from_secs(3600);
        let finished = learn_within(hour, spec.training(&tuned), &mut ()).unwrap();
        assert_eq!(finished.saved.as_deref(), Some(model.as_path()));
        crate::model::Model::load(&model).unwrap();
    }
}

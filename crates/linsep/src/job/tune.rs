//! Searching for the best way to learn, and learning that way from all rows.

use super::{BiasSpec, ClassSpec, DataSpec, TrainSpec, Trained, label, refuse_overwriting, tell};
use crate::features::{Missing, Ngrams, Schema, TermKind, TermWeights, TextChoice, TextOptions};
use crate::metric::Metric;
use crate::observe::{Note, Observer, Progress};
use crate::read::Source;
use crate::read::options::is_default;
use crate::store::check_writable;
use crate::train::Settings;
use crate::tune::{Ended, Fit, Judging, TuneSettings, Tuned, tune};
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Words, and pairs of neighbouring words.
const PAIRS: Ngrams = Ngrams { least: 1, most: 2 };

/// Everything that can be said about a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneSpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// Which classes, and how often their rows count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: ClassSpec,
    /// Whether the boundary may miss the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasSpec,
    /// By what candidates are judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metric: Metric,
    /// Into how many parts the rows are dealt, each held out in turn.
    #[serde(default = "five")]
    pub folds: usize,
    /// The search ends after so many seconds with the best so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// How the error on new rows is measured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judging: Judging,
    /// A simpler candidate is taken if it is worse than the best by no more than this many standard errors of their
    /// difference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simpler: f64,
    /// The seed of folds and of rows kept aside.
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
    /// What was tried, and chosen.
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
            let problem = "a search reads the rows twice, which standard input cannot do: name a file";
            return Err(SettingsError::new("data", problem).into());
        }
        let tuned = self.search(observer)?;
        let interrupted = tuned.ended == Some(Ended::Interrupted);
        if interrupted {
            observer.note(Note::Warning("interrupted: the best so far is learned from all rows"));
        }
        let trained = self.training(&tuned).run(&mut Second { outer: observer, stops: !interrupted })?;
        Ok(TunedModel { tuned, trained })
    }

    fn search(&self, observer: &mut dyn Observer) -> Result<Tuned, Error> {
        let place = |error: Error| match error {
            Error::Interrupted => Error::Interrupted,
            error => error.at(self.data.source.name()),
        };
        let data = self.data.with_missing(Missing::Auto);
        let (source, mut options) = data.resolve(observer)?;
        options.text = self.widest_text();
        let loaded = self.data.read_weighted(&source, &options, &self.classes, observer)?;
        tell(&loaded.notes, observer);
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
        tune(&loaded.schema, &rows, &settings, observer).map_err(place)
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
        // After an interruption the user waits.
        const LITTLE: f64 = 1.0;
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
            max_seconds: (tuned.ended == Some(Ended::Interrupted)).then_some(LITTLE),
            output: self.output.clone(),
            ..TrainSpec::default()
        }
    }
}

/// The observer of a second reading: what was said of the first is not said again. After an interruption it does not stop.
struct Second<'a> {
    outer: &'a mut dyn Observer,
    stops: bool,
}

impl Observer for Second<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let flow = self.outer.progress(progress);
        if self.stops { flow } else { ControlFlow::Continue(()) }
    }

    fn note(&mut self, note: Note<'_>) {
        if !matches!(note, Note::Remark(_)) {
            self.outer.note(note);
        }
    }

    fn will_stop(&self) -> bool {
        self.stops && self.outer.will_stop()
    }
}

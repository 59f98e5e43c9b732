//! Training from a specification: in memory, out of core, or from a stream.

mod advice;
mod best_margin;
mod calibrate;
mod duplicates;
mod holdout_checks;
mod in_memory;
mod leak;
mod not_in_memory;
mod path;
mod proof;
mod recorder;
mod settings;
mod spec;

pub use best_margin::BestMargin;
pub use holdout_checks::HeldOut;
pub use path::{PathPoint, PathWeights};
pub use settings::DEFAULT_LEARNER;
pub(super) use settings::refuse_pairs;
pub use spec::TrainSpec;

use super::data::load_model;
use super::refuse_overwriting;
use super::warnings::Warning;
use crate::classes::{Classes, printable};
use crate::features::{MAX_WORDS, Missing, Scaling};
use crate::model::Model;
use crate::observe::{Note, Observer};
use crate::prepare::Preparation;
use crate::read::{Format, ReadNotes, ReadOptions, Schema, Source};
use crate::split::check_fraction;
use crate::store::check_writable;
use crate::theory::trace::TracePoint;
use crate::train::{Bias, Outcome, Settings, State, Status};
use crate::{Error, SettingsError};
use recorder::Recorder;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Seconds {
    /// Reading, or reading and learning for a stream.
    pub read: f64,
    /// Learning and judging.
    pub train: f64,
}

/// The training result, before it is reported.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// How the run ended.
    pub status: Status,
    /// Notes made while reading, with remarks on the run.
    pub notes: ReadNotes,
    /// The name of the data.
    pub source: Source,
    /// Rows of each outcome of the model; empty for a stream, which does not count them.
    pub counts: Vec<u64>,
    /// The evaluation on held-out rows.
    pub held_out: Option<HeldOut>,
    /// The weights for each weight of the loss of a path that was asked for.
    pub path: Vec<PathPoint>,
    /// The points of a trace that was asked for.
    pub trace: Vec<TracePoint>,
    /// What is proved about all weights, where the rows of a perceptron are few.
    pub best: Option<BestMargin>,
    /// Reasons to trust the result less than its numbers suggest; the observer has heard them.
    pub warnings: Vec<Warning>,
    /// Where the model was saved.
    pub saved: Option<PathBuf>,
    /// Where the time went.
    pub seconds: Seconds,
    /// Threads that parallel parts may use.
    pub threads: usize,
    /// The specification of the job.
    pub spec: TrainSpec,
    /// Why the learner was chosen, where none was named and it is not the usual one: "because …".
    pub reason: Option<&'static str>,
    /// Outputs that could not be written, and why. The model is here all the same.
    pub lost: Vec<Error>,
}

impl Trained {
    /// Saves the model, where the run learned one, and keeps where it is or why it is lost.
    pub(super) fn save(&mut self, path: &Path) {
        if !self.status.has_model() {
            return;
        }
        match self.model.save(path) {
            Ok(()) => self.saved = Some(path.to_path_buf()),
            Err(error) => self.lost.push(error.at("the model is not saved")),
        }
    }
}

impl TrainSpec {
    /// Trains, writes what the specification names, and gives the model. An output that cannot be written once rows are
    /// being learned is named in [`Trained::lost`]: neither the model nor the other outputs are given up for it.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Trained, Error> {
        let start = self.start_model().map(load_model).transpose()?;
        self.run_from(start, observer)
    }

    /// Trains from the weights of this model; from those that the specification says, if it is none.
    pub fn run_from(&self, start: Option<Model>, observer: &mut dyn Observer) -> Result<Trained, Error> {
        let every = self.seconds_between_checkpoints();
        if !(0.0..=1e9).contains(&every) {
            let problem = "⟦checkpoint_every⟧ needs a number of seconds, at least 0";
            return Err(SettingsError::new("checkpoint_every", problem).into());
        }
        let outputs: Vec<&Path> = [&self.output, &self.checkpoint, &self.trace, &self.teaching_set]
            .into_iter()
            .filter_map(|path| path.as_deref())
            .collect();
        self.refuse_to_destroy(&outputs)?;
        let checkpoint = self.load_checkpoint(observer)?;
        let online = settings::is_online(self, checkpoint.as_ref())?;
        // What a missing cell becomes is learned from all rows.
        let in_memory = !online && self.memory.is_none();
        let missing = if in_memory { Missing::Auto } else { Missing::Refuse };
        let settled = Self { data: self.data.with_missing(missing), ..self.clone() };
        settled.run_settled(online, checkpoint, start, &outputs, observer)
    }

    /// Refuses settings that make no sense whatever the rows are: those of a run that begins at zero, with all rows in memory.
    pub fn check_settings(&self) -> Result<(), SettingsError> {
        let settings = settings::resolve(self, false, None, None)?;
        settings.validate()?;
        settings::refuse_combinations(self, &settings, None, false)
    }

    /// Trains, now that it is known how rows are held.
    fn run_settled(
        &self,
        online: bool,
        checkpoint: Option<State>,
        warm: Option<Model>,
        outputs: &[&Path],
        observer: &mut dyn Observer,
    ) -> Result<Trained, Error> {
        let settings = settings::resolve(self, online, checkpoint.as_ref(), warm.as_ref())?;
        settings.validate()?;
        let (source, mut options) = match self.memory {
            // Looks after its cache itself.
            Some(_) => (self.data.source.clone(), self.data.read.clone()),
            None => self.data.resolve(observer)?,
        };
        options.schema = warm.as_ref().map(|model| model.recipe.columns.clone());
        options.online = online;
        settings::refuse_combinations(self, &settings, warm.as_ref(), online)?;
        if let Some(fraction) = self.holdout {
            check_fraction(fraction)?;
        }
        // A place that cannot be written to is better known before hours of work than after.
        for path in outputs {
            check_writable(path)?;
        }
        let is_usual =
            self.learner.is_some() || settings.learner.name() == Settings::default().learner.name();
        let by_options = !is_usual && !self.options.is_empty() && checkpoint.is_none();
        let reason = by_options.then_some("because it has the given options");
        let runner = Runner { spec: self, settings, options, source, warm, online, reason };
        let trained = match self.memory {
            Some(memory) => runner.out_of_core(memory, checkpoint, observer),
            None if online => runner.stream(checkpoint, observer),
            None => runner.in_memory(checkpoint, observer),
        };
        let mut trained = trained.map_err(|error| match error {
            // What is wrong with the data as a whole has no line, but it has a file.
            error @ (Error::Classes(_) | Error::Lengths { .. }) => error.at(self.data.source.name()),
            error => match (&error, &self.resume) {
                (Error::Checkpoint(_), Some(path)) => error.at(path.display().to_string()),
                _ => error,
            },
        })?;
        if let Some(path) = &self.output {
            trained.save(path);
        }
        Ok(trained)
    }

    fn seconds_between_checkpoints(&self) -> f64 {
        self.checkpoint_every.unwrap_or(10.0)
    }

    /// Refuses outputs that would destroy an input. A model may be replaced by the one that starts from it, and a
    /// checkpoint by the run that goes on from it: both are written whole or not at all.
    fn refuse_to_destroy(&self, outputs: &[&Path]) -> Result<(), SettingsError> {
        let named = [self.comparator.as_deref(), self.classes.row_weights.as_deref()];
        let always: Vec<&Path> = self.data.inputs().into_iter().chain(named.into_iter().flatten()).collect();
        let (init, resume) = (self.init.as_deref(), self.resume.as_deref());
        for (output, replaced) in [
            (&self.output, init),
            (&self.checkpoint, resume),
            (&self.trace, None),
            (&self.teaching_set, None),
        ] {
            let Some(output) = output else { continue };
            let others = [init, resume].into_iter().filter(|&input| input != replaced);
            let inputs: Vec<&Path> = always.iter().copied().chain(others.flatten()).collect();
            refuse_overwriting(&[output], &inputs)?;
        }
        self.data.refuse_replacing_cache(outputs)?;
        refuse_overwriting(outputs, &[])
    }

    /// The run to resume, if there is one. A run that was killed before its first checkpoint starts again, which gives
    /// the same model.
    fn load_checkpoint(&self, observer: &mut dyn Observer) -> Result<Option<State>, Error> {
        let Some(path) = &self.resume else { return Ok(None) };
        let name = path.display().to_string();
        let exists = path.try_exists().map_err(|source| Error::Rows {
            place: name.clone(),
            problem: format!("cannot look for a checkpoint: {source}"),
        })?;
        if !exists {
            observer.note(Note::Warning(&format!(
                "there is no checkpoint {} yet: starting from the beginning",
                printable(&name)
            )));
            return Ok(None);
        }
        State::load(path).map(Some).map_err(|error| error.at(name))
    }
}

/// Everything that a run needs.
struct Runner<'a> {
    spec: &'a TrainSpec,
    settings: Settings,
    options: ReadOptions,
    /// Where the rows are read from: the source of the specification, or its cache.
    source: Source,
    warm: Option<Model>,
    online: bool,
    /// Why the learner is another than the usual one, where none was named.
    reason: Option<&'static str>,
}

impl Runner<'_> {
    fn recorder<'a>(&self, observer: &'a mut dyn Observer) -> Recorder<'a> {
        let every = Duration::from_secs_f64(self.spec.seconds_between_checkpoints());
        Recorder::new(observer).saving(self.spec.checkpoint.as_ref(), every)
    }

    /// How features are scaled. Rows that are not all in memory cannot tell what suits them.
    fn scaling(&self) -> Scaling {
        let in_memory = !self.online && self.spec.memory.is_none();
        self.spec.scale.unwrap_or(match &self.warm {
            Some(model) => model.recipe.scaling.scaling(),
            // A boundary through the origin stays one where nothing is centred.
            None if in_memory && self.settings.bias != Bias::None => Scaling::Auto,
            None => Scaling::None,
        })
    }

    /// How rows are prepared. A warm start goes on with the words and the features of its model.
    fn preparation(&self) -> Preparation {
        let most_words = self.spec.max_words.unwrap_or(MAX_WORDS) as usize;
        let (most_words, features) = match &self.warm {
            Some(model) => (None, model.recipe.expansion.features()),
            None => (Some(most_words), self.spec.features.unwrap_or_default()),
        };
        let scaling = self.scaling();
        Preparation { text: None, most_words, features, max_pairs: self.spec.max_pairs, scaling }
    }

    /// The job as its user told it: what was settled about missing cells is left out again, unless some are missing. What
    /// is asked of these rows next must treat those in the same way.
    fn spec_as_given(spec: &TrainSpec, gaps: bool) -> TrainSpec {
        let mut told = spec.clone();
        if !gaps && told.data.read.csv.missing.is_usual() {
            told.data.read.csv.missing = Missing::NotSaid;
        }
        told
    }

    /// The result, with the specification that makes the model again.
    fn finish(
        self,
        mut model: Model,
        status: Status,
        notes: ReadNotes,
        seconds: Seconds,
    ) -> Result<Trained, Error> {
        let mut spec = self.spec.of_model(&self.settings, self.scaling(), self.online);
        if !matches!(model.recipe.columns, Schema::Table { .. }) {
            spec.data.read.csv.missing = Missing::NotSaid;
        }
        model.recipe.columns.keep_row_names();
        model.spec = serde_json::to_value(&spec).ok();
        Ok(Trained {
            model,
            status,
            notes,
            source: self.spec.data.source.clone(),
            counts: Vec::new(),
            held_out: None,
            path: Vec::new(),
            trace: Vec::new(),
            best: None,
            warnings: Vec::new(),
            saved: None,
            seconds,
            threads: rayon::current_num_threads(),
            spec: Self::spec_as_given(self.spec, false),
            reason: self.reason,
            lost: Vec::new(),
        })
    }

    /// A warm start goes on with the features of its model: those of a table, or those of numbered columns.
    fn check_kind(&self, format: Format, own: &Schema) -> Result<(), SettingsError> {
        let fits = |schema: &Schema| match (schema, format) {
            (schema, Format::LINSEP) => std::mem::discriminant(schema) == std::mem::discriminant(own),
            (Schema::Numbered { .. }, format) => format == Format::LIBSVM,
            (Schema::Table { .. }, format) => format.has_names() || Some(format) == Format::of_documents(),
            (Schema::Pictures(_), _) => std::mem::discriminant(schema) == std::mem::discriminant(own),
            (Schema::Array { .. }, format) => matches!(format, Format::NPY | Format::NPZ | Format::IDX),
        };
        match &self.warm {
            Some(model) if !fits(&model.recipe.columns) => Err(SettingsError::new(
                "init",
                "the model to start from was trained on data of another kind (a table with named columns, numbered \
                 features, or an array): its features are not those of this file",
            )),
            _ => Ok(()),
        }
    }
}

/// Warns that an interrupted run has no training error.
fn warn_uncounted(outcome: &Outcome, observer: &mut dyn Observer) {
    if outcome.evidence.training_error.is_none() {
        observer.note(Note::Warning("interrupted: the training error was not computed"));
    }
}

/// Rows of each outcome, from the rows of each class.
fn outcome_counts(
    outcomes: &Classes,
    classes: &[String],
    rows_of: impl IntoIterator<Item = u64>,
) -> Vec<u64> {
    let mut counts = vec![0; outcomes.outcomes().len()];
    for (outcome, count) in outcomes.outcomes_of(classes).into_iter().zip(rows_of) {
        if let Some(outcome) = outcome {
            counts[outcome] += count;
        }
    }
    counts
}

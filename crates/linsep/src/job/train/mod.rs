//! Training from a specification: in memory, out of core, or from a stream.

mod advice;
mod calibrate;
mod duplicates;
mod expand;
mod holdout_checks;
mod leak;
mod not_in_memory;
mod path;
mod proof;
mod recorder;
mod settings;
mod spec;

pub use holdout_checks::HeldOut;
pub use path::{PathPoint, PathWeights};
pub use settings::DEFAULT_LEARNER;
pub use spec::TrainSpec;

use super::data::{emit_notes, load_model, warn_of_terms};
use super::warnings::Warning;
use super::{label, refuse_overwriting};
use crate::classes::{Classes, printable};
use crate::dataset::{Dataset, Hashing};
use crate::features::{
    Expansion, MAX_WORDS, Missing, Recipe, Scaler, Scaling, changes_when_settled, learn_columns,
    settle_columns,
};
use crate::memory;
use crate::model::Model;
use crate::observe::{GRACE, Note, Observer};
use crate::read::{Format, ReadNotes, ReadOptions, Schema, Source};
use crate::split::{check_fraction, hold_out};
use crate::store::check_writable;
use crate::theory::trace::TracePoint;
use crate::train::{Bias, Outcome, Settings, State, Status, resume, train};
use crate::{Error, SettingsError};
use calibrate::AsRead;
use recorder::Recorder;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
        let warm = self.start_model().map(load_model).transpose()?;
        let online = settings::is_online(self, checkpoint.as_ref())?;
        // What a missing cell becomes is learned from all rows.
        let in_memory = !online && self.memory.is_none();
        let missing = if in_memory { Missing::Auto } else { Missing::Refuse };
        let settled = Self { data: self.data.with_missing(missing), ..self.clone() };
        settled.run_settled(online, checkpoint, warm, &outputs, observer)
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

    /// The most words of a column that are all features of their own. A warm start goes on with those of its model.
    fn most_words(&self) -> Option<usize> {
        let most = self.spec.max_words.unwrap_or(MAX_WORDS) as usize;
        self.warm.is_none().then_some(most)
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
            warnings: Vec::new(),
            saved: None,
            seconds,
            threads: rayon::current_num_threads(),
            spec: Self::spec_as_given(self.spec, false),
            reason: self.reason,
            lost: Vec::new(),
        })
    }

    fn in_memory(mut self, checkpoint: Option<State>, observer: &mut dyn Observer) -> Result<Trained, Error> {
        let clock = Instant::now();
        let classes = &self.spec.classes;
        let loaded = self.spec.data.read_weighted(&self.source, &self.options, classes, observer)?;
        let read_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        self.check_kind(loaded.format, &loaded.own_schema)?;
        settings::refuse_weighted_proof(self.spec, &loaded.dataset)?;
        let (mut schema, mut notes) = (loaded.schema, loaded.notes);
        if self.spec.max_words.is_some() && !matches!(schema, Schema::Table { .. }) {
            let problem = format!("⟦max_words⟧ does not apply to {} files", loaded.format.title());
            return Err(SettingsError::new("max_words", problem).into());
        }
        let (known, data) = (loaded.fingerprint, loaded.dataset);
        // The fingerprint is that of the rows as they were read. If those are the rows that are learned from, it can be
        // computed meanwhile.
        let gaps = data.filled_cells().is_some_and(|cells| !cells.is_empty());
        let most_words = self.most_words();
        let settles = changes_when_settled(&schema, &data, most_words);
        let all_kept =
            classes.only.is_empty() && self.spec.holdout.is_none() && !gaps && !settles && !self.may_expand();
        let scaler = all_kept.then(|| self.scaler_of(&schema, &data, &Expansion::none()));
        let rows_are_learned_as_read = scaler == Some(Scaler::None);
        let early = known.or_else(|| (!rows_are_learned_as_read).then(|| data.fingerprint().to_string()));
        let data = classes.kept(data)?;
        if self.warm.is_none() && checkpoint.is_none() {
            label::check(&self.spec.data, loaded.format, &schema, &data, observer)?;
            let reason = settings::choose_learner(self.spec, &mut self.settings, &schema, &data)?;
            self.reason = reason.or(self.reason);
        }
        settings::refuse_many(self.spec, &self.settings, data.classes().len())?;
        self.spec.check_threshold(&self.settings, data.classes().len())?;
        let calibrates = self.spec.asks_for_probabilities().is_some();
        let as_read = |schema: &Schema, data: &Dataset| {
            calibrates.then(|| AsRead { schema: schema.clone(), data: data.clone() })
        };
        let unprepared;
        let (data, held_out) = match self.spec.holdout {
            Some(fraction) => {
                let mut split = hold_out(&data, fraction, self.settings.seed)?;
                unprepared = as_read(&schema, &split.train);
                // A warm start goes on with the columns of its model.
                if self.warm.is_none() {
                    (schema, split) = learn_columns(schema, split, most_words)?;
                }
                (split.train, Some(split.held_out))
            }
            None => {
                unprepared = as_read(&schema, &data);
                let settled;
                (schema, settled) = settle_columns(schema, data, most_words)?;
                (settled, None)
            }
        };
        // What may change a user's mind is said before the work.
        notes.remarks.extend(schema.rare_remarks());
        notes.remarks.extend(self.remark_on_classes(data.classes().len()));
        emit_notes(&notes, observer);
        warn_of_terms(&schema, &data, observer);
        let warned = self.warn_before(&schema, &data, held_out.as_ref(), observer);
        let expansion = self.expansion(&schema, &data, observer)?;
        let data = expansion.apply_all(data)?;
        let scaler = scaler.unwrap_or_else(|| self.scaler_of(&schema, &data, &expansion));
        schema.fill_from(&scaler);
        let data = scaler.apply_all(data)?;

        let mut lost = Vec::new();
        // Rows that are changed by something learned from all of them do not judge fairly.
        let spec = Self::spec_as_given(self.spec, gaps);
        let as_drawn =
            spec.data.as_drawn(scaler.scaling()) && expansion.is_none() && !schema.has_rare_words();
        let (outcome, fingerprint) = self.learn(&data, checkpoint, early, as_drawn, &mut lost, observer)?;
        let train_seconds = clock.elapsed().as_secs_f64();
        if outcome.status != Status::Converged && self.scaling() == Scaling::None {
            let advice = expansion.is_none().then(|| advice::scaling(&data, &schema)).flatten();
            advice.iter().for_each(|advice| observer.note(Note::Remark(advice)));
        }
        warn_uncounted(&outcome, observer);
        let recipe = Recipe { columns: schema, expansion, scaling: scaler };
        let (proved, trace) = self.write_proof(&data, &recipe, &outcome, &mut lost, observer)?;
        if proved == Status::Interrupted {
            observer.note(Note::Warning(
                "interrupted: the trace and the teaching set need a complete run and are not written",
            ));
        }
        let mut status = if proved == Status::Interrupted { proved } else { outcome.status };
        let mut model = Model::with_recipe(outcome, recipe, fingerprint);
        if let Some(rows) = unprepared.filter(|_| status.has_model())
            && self.calibrate(&mut model, &rows, &data, observer)
        {
            status = Status::Interrupted;
        }
        let path = match self.spec.path.filter(|_| status.has_model()) {
            Some(points) => path::learn(&model, &data, points, observer)?,
            None => Some(Vec::new()),
        };
        if path.is_none() {
            observer.note(Note::Warning("interrupted: the path of the weights is incomplete and left out"));
            status = Status::Interrupted;
        }
        let counted = data.class_counts().into_iter().map(|count| count as u64);
        let counts = outcome_counts(&model.classes, data.classes(), counted);
        let kept = (&warned, self.spec.keep_held_out);
        let held_out =
            held_out.and_then(|held_out| HeldOut::judge(&model, &held_out, &counts, kept, observer));
        let warnings = warned.conclude(&model, held_out.as_ref(), &data, &counts, observer);
        let seconds = Seconds { read: read_seconds, train: train_seconds };
        let trained = self.finish(model, status, notes, seconds)?;
        let path = path.unwrap_or_default();
        Ok(Trained { held_out, counts, path, trace, warnings, lost, spec, ..trained })
    }

    /// Learns from rows in memory, and computes their fingerprint meanwhile where it is not known.
    fn learn(
        &self,
        data: &Dataset,
        checkpoint: Option<State>,
        fingerprint: Option<String>,
        as_drawn: bool,
        lost: &mut Vec<Error>,
        observer: &mut dyn Observer,
    ) -> Result<(Outcome, Option<String>), Error> {
        let mut recorder = self.recorder(observer);
        let stop = AtomicBool::new(false);
        let hashing = data.hashing().filter(|_| fingerprint.is_none());
        let outcome = std::thread::scope(|scope| {
            if let Some(hashing) = hashing.as_ref().filter(|_| rayon::current_num_threads() > 1) {
                // Without a thread for it, it is computed afterwards.
                let hash = || hashing.work(&stop);
                let _ = memory::new_thread().and_then(|thread| thread.spawn_scoped(scope, hash));
            }
            let outcome = match checkpoint {
                Some(run) => resume(run, data, &self.settings, &mut recorder),
                None => train(data, &self.settings, &mut recorder),
            };
            if let Some(hashing) = &hashing {
                hash_the_rest(hashing, &stop, &recorder);
            }
            outcome
        });
        lost.extend(recorder.unsaved());
        let known = || hashing.map_or(data.known_fingerprint(), |hashing| hashing.result());
        let fingerprint = fingerprint.or_else(|| known().map(str::to_string));
        let mut outcome = outcome?;
        if !as_drawn {
            outcome.evidence.forget_new_rows();
            outcome.boundaries.iter_mut().for_each(|boundary| boundary.evidence.forget_new_rows());
        }
        Ok((outcome, fingerprint))
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

/// Hashes on all threads what is left when a run has ended: hashing many rows may take longer than a short run over them.
fn hash_the_rest(hashing: &Hashing<'_>, stop: &AtomicBool, observer: &dyn Observer) {
    let clock = Instant::now();
    rayon::in_place_scope(|scope| {
        for _ in 1..rayon::current_num_threads() {
            scope.spawn(|_| hashing.work(stop));
        }
        while !stop.load(Ordering::Relaxed) && hashing.step() {
            stop.store(observer.will_stop() && clock.elapsed() >= GRACE, Ordering::Relaxed);
        }
    });
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

//! Training on rows in memory: read, choose, hold out, prepare, learn, judge.

use super::best_margin::BestMargin;
use super::holdout_checks::{HeldOut, Warned};
use super::{Runner, Seconds, Trained, advice, outcome_counts, path, settings, warn_uncounted};
use crate::dataset::{Dataset, Hashing};
use crate::features::{Expansion, Features, Scaler, Scaling, Schema};
use crate::job::data::emit_notes;
use crate::job::label;
use crate::memory;
use crate::model::Model;
use crate::observe::{GRACE, Note, Observer};
use crate::prepare::{Columns, Preparation, Prepared, Records};
use crate::read::{Loaded, ReadNotes};
use crate::split::hold_out;
use crate::train::{Outcome, State, Status, resume, train_checked};
use crate::{Error, SettingsError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What is known of the rows before they are prepared.
struct AsRead {
    /// The fingerprint, unless it is to be computed from the rows that are learned from.
    fingerprint: Option<String>,
    /// The scaling, where it could be learned already.
    scaler: Option<Scaler>,
    /// The rows to learn from, where probabilities need them once more.
    records: Option<Records>,
    /// Whether a number was missing, and whether any cell was.
    gaps: bool,
    misses: bool,
}

impl Runner<'_> {
    pub(super) fn in_memory(
        mut self,
        checkpoint: Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<Trained, Error> {
        let clock = Instant::now();
        let loaded = self.read(observer)?;
        let read = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let preparation = self.preparation();
        let (records, mut as_read, mut notes) = self.choose(loaded, &preparation, &checkpoint, observer)?;
        let columns = self.hold_out(records, &preparation, &mut as_read)?;
        let warned = self.say_before(&columns, &mut notes, observer);
        let prepared = self.prepare(columns, &preparation, as_read.scaler.take(), observer)?;
        let mut lost = Vec::new();
        let (outcome, fingerprint) = self.learn(&prepared, checkpoint, &as_read, &mut lost, observer)?;
        let seconds = Seconds { read, train: clock.elapsed().as_secs_f64() };
        self.say_after(&prepared, &outcome, observer);
        let best = BestMargin::of(&prepared.train, &outcome)?;
        let Prepared { train: data, held_out, recipe } = prepared;
        let (proved, trace) = self.write_proof(&data, &recipe, &outcome, &mut lost, observer)?;
        let mut status = outcome.status;
        let mut model = Model::with_recipe(outcome, recipe, fingerprint);
        let incomplete = |observer: &mut dyn Observer, what: &str| {
            observer.note(Note::Warning(&format!("interrupted: {what}")));
            Status::Interrupted
        };
        if proved == Status::Interrupted {
            let what = "the trace and the teaching set need a complete run and are not written";
            status = incomplete(observer, what);
        }
        if let Some(records) = as_read.records.filter(|_| status.has_model())
            && self.calibrate(&mut model, &records, preparation, &data, observer)
        {
            status = Status::Interrupted;
        }
        let path = match self.spec.path.filter(|_| status.has_model()) {
            Some(points) => path::learn(&model, &data, points, observer)?,
            None => Some(Vec::new()),
        };
        let path = path.unwrap_or_else(|| {
            status = incomplete(observer, "the path of the weights is incomplete and left out");
            Vec::new()
        });
        let counted = data.class_counts().into_iter().map(|count| count as u64);
        let counts = outcome_counts(&model.classes, data.classes(), counted);
        let kept = (&warned, self.spec.keep_held_out);
        let held_out = held_out.and_then(|rows| HeldOut::judge(&model, &rows, &counts, kept, observer));
        let warnings = warned.conclude(&model, held_out.as_ref(), &data, &counts, observer);
        let spec = Self::spec_as_given(self.spec, as_read.misses);
        let trained = self.finish(model, status, notes, seconds)?;
        Ok(Trained { held_out, counts, path, trace, best, warnings, lost, spec, ..trained })
    }

    /// Reads the rows, and refuses those that the settings do not suit.
    fn read(&self, observer: &mut dyn Observer) -> Result<Loaded, Error> {
        let loaded =
            self.spec.data.read_weighted(&self.source, &self.options, &self.spec.classes, observer)?;
        self.check_kind(loaded.format, &loaded.own_schema)?;
        settings::refuse_weighted_proof(self.spec, &loaded.dataset)?;
        if self.spec.max_words.is_some() && !matches!(loaded.schema, Schema::Table { .. }) {
            let problem = format!("⟦max_words⟧ does not apply to {} files", loaded.format.title());
            return Err(SettingsError::new("max_words", problem).into());
        }
        Ok(loaded)
    }

    /// Keeps the classes that were asked for, and chooses the learner where none was named.
    fn choose(
        &mut self,
        loaded: Loaded,
        preparation: &Preparation,
        checkpoint: &Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<(Records, AsRead, ReadNotes), Error> {
        let Loaded { schema, dataset: data, notes, fingerprint, format, .. } = loaded;
        let gaps = data.filled_cells().is_some_and(|cells| !cells.is_empty());
        // The fingerprint is that of the rows as they were read. If those are the rows that are learned from, it can be
        // computed meanwhile.
        let classes = &self.spec.classes;
        let all_kept = classes.only.is_empty()
            && self.spec.holdout.is_none()
            && !gaps
            && !preparation.changes(&schema, &data)
            && preparation.features == Features::Plain;
        let scaler = all_kept.then(|| self.scaler(preparation, &data, &schema, &Expansion::none()));
        let are_learned_as_read = scaler == Some(Scaler::None);
        let fingerprint =
            fingerprint.or_else(|| (!are_learned_as_read).then(|| data.fingerprint().to_string()));
        let data = classes.kept(data)?;
        if self.warm.is_none() && checkpoint.is_none() {
            label::check(&self.spec.data, format, &schema, &data, observer)?;
            let reason = settings::choose_learner(self.spec, &mut self.settings, &schema, &data)?;
            self.reason = reason.or(self.reason);
        }
        settings::refuse_many(self.spec, &self.settings, data.classes().len())?;
        self.spec.check_threshold(&self.settings, data.classes().len())?;
        let misses = gaps || notes.dropped > 0 || !notes.missing.is_empty();
        let as_read = AsRead { fingerprint, scaler, records: None, gaps, misses };
        Ok((Records { schema, data }, as_read, notes))
    }

    /// Holds rows out, and learns the columns from the others. A warm start goes on with the columns of its model.
    fn hold_out(
        &self,
        records: Records,
        preparation: &Preparation,
        as_read: &mut AsRead,
    ) -> Result<Columns, Error> {
        let Records { schema, data } = records;
        let (train, held_out) = match self.spec.holdout {
            Some(fraction) => {
                let split = hold_out(&data, fraction, self.settings.seed)?;
                (split.train, Some(split.held_out))
            }
            None => (data, None),
        };
        if self.spec.asks_for_probabilities().is_some() {
            as_read.records = Some(Records { schema: schema.clone(), data: train.clone() });
        }
        if self.warm.is_some() {
            return Ok(Columns { schema, train, held_out });
        }
        preparation.columns(schema, train, held_out)
    }

    /// Says what may change a user's mind, before the work.
    fn say_before(&self, columns: &Columns, notes: &mut ReadNotes, observer: &mut dyn Observer) -> Warned {
        let Columns { schema, train, held_out } = columns;
        notes.remarks.extend(schema.remarks());
        notes.remarks.extend(self.remark_on_classes(train.classes().len()));
        emit_notes(notes, observer);
        columns.warn_of_terms(observer);
        self.warn_before(schema, train, held_out.as_ref(), observer)
    }

    /// The expansion and the scaling: those of the model that is started from, or those that the training rows tell.
    fn prepare(
        &self,
        columns: Columns,
        preparation: &Preparation,
        scaler: Option<Scaler>,
        observer: &mut dyn Observer,
    ) -> Result<Prepared, Error> {
        match (&self.warm, scaler) {
            (_, Some(scaler)) => columns.scaled_by(scaler),
            (Some(model), None) => columns.continued(&model.recipe),
            (None, None) => preparation.rest(columns, &self.settings, observer)?.ok_or(Error::Interrupted),
        }
    }

    fn scaler(
        &self,
        preparation: &Preparation,
        data: &Dataset,
        schema: &Schema,
        expansion: &Expansion,
    ) -> Scaler {
        match &self.warm {
            Some(model) => model.recipe.scaling_of(data),
            None => Scaler::learn_for(preparation.scaling, data, schema, expansion),
        }
    }

    /// Says what the run showed.
    fn say_after(&self, prepared: &Prepared, outcome: &Outcome, observer: &mut dyn Observer) {
        let recipe = &prepared.recipe;
        let advises = outcome.status != Status::Converged
            && self.scaling() == Scaling::None
            && recipe.expansion.is_none();
        let advice = advises.then(|| advice::scaling(&prepared.train, &recipe.columns)).flatten();
        advice.iter().for_each(|advice| observer.note(Note::Remark(advice)));
        warn_uncounted(outcome, observer);
    }

    /// Learns from rows in memory, and computes their fingerprint meanwhile where it is not known.
    fn learn(
        &self,
        prepared: &Prepared,
        checkpoint: Option<State>,
        as_read: &AsRead,
        lost: &mut Vec<Error>,
        observer: &mut dyn Observer,
    ) -> Result<(Outcome, Option<String>), Error> {
        let Prepared { train: data, recipe, .. } = prepared;
        let fingerprint = as_read.fingerprint.clone();
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
                None => train_checked(data, &self.settings, &mut recorder),
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
        // Rows that are changed by something learned from all of them do not judge fairly.
        let as_drawn = Self::spec_as_given(self.spec, as_read.gaps).data.as_drawn(recipe.scaling.scaling())
            && recipe.expansion.is_none()
            && !recipe.columns.has_rare_words();
        if !as_drawn {
            outcome.evidence.forget_new_rows();
            outcome.boundaries.iter_mut().for_each(|boundary| boundary.evidence.forget_new_rows());
        }
        Ok((outcome, fingerprint))
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

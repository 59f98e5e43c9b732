//! Training from rows that are never all in memory: those of a cache beside the file, and those of a stream.

use super::{Runner, Seconds, Trained, holdout_checks, outcome_counts, proof, settings, warn_uncounted};
use crate::classes::Classes;
use crate::features::{Recipe, Scaler, Scaling};
use crate::job::data::{cache_beside, emit_notes};
use crate::job::warnings::Warning;
use crate::model::Model;
use crate::observe::{Note, Observer};
use crate::read::{ReadOptions, RowStream};
use crate::theory::trace::TraceRecorder;
use crate::train::{OutOfCoreData, Resume, State, check_out_of_core, train_out_of_core, train_stream};
use crate::{Error, SettingsError};
use std::time::Instant;

impl Runner<'_> {
    /// Learns from the cache of the file, which is made if need be, within a limit of memory.
    pub(super) fn out_of_core(
        self,
        memory: u64,
        checkpoint: Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<Trained, Error> {
        settings::refuse_whole(self.spec, &self.settings, self.scaling())?;
        check_out_of_core(&self.settings)?;
        let clock = Instant::now();
        // Tables too must be read in memory that does not grow with the file.
        let options = ReadOptions { online: true, memory: Some(memory), ..self.options.clone() };
        let Some(source) = self.spec.data.source.path() else { return Err(Error::Interrupted) };
        let path = cache_beside(source, &options, observer)?;
        let data = OutOfCoreData::open(&path, memory)?.treating_missing(options.csv.missing);
        settings::refuse_many(self.spec, &self.settings, data.classes().len())?;
        let read = clock.elapsed().as_secs_f64();
        let mut notes = data.notes();
        notes.remarks.extend(data.schema().remarks());
        notes.remarks.extend(self.remark_on_classes(data.classes().len()));
        emit_notes(&notes, observer);
        let clock = Instant::now();
        let mut recorder = self.recorder(observer);
        let trained = train_out_of_core(&data, &self.settings, checkpoint, &mut recorder);
        let lost = recorder.unsaved().into_iter().collect();
        let (outcome, rows_of) = trained?;
        warn_uncounted(&outcome, observer);
        let seconds = Seconds { read, train: clock.elapsed().as_secs_f64() };
        let status = outcome.status;
        let fingerprint = Some(data.fingerprint().to_string());
        let model = Model::with_recipe(outcome, data.schema().clone().into(), fingerprint);
        let counts = outcome_counts(&model.classes, data.classes(), rows_of);
        // Rows are counted while they are learned, so rare classes too are known only now.
        let rare = Warning::rare_classes(&model.classes.outcomes(), &counts);
        let warnings: Vec<Warning> =
            rare.into_iter().chain(holdout_checks::training_baseline(&model, &counts)).collect();
        warnings.iter().for_each(|warning| warning.emit(observer));
        Ok(Trained { counts, warnings, lost, ..self.finish(model, status, notes, seconds)? })
    }

    /// Learns each row as it is read.
    pub(super) fn stream(
        self,
        checkpoint: Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<Trained, Error> {
        let clock = Instant::now();
        let mut scaler = self.stream_scaler()?;
        observer.note(Note::Remark("online learning: one pass in the given order; rows are not kept."));
        if self.spec.comparator.is_some() {
            let problem = "⟦comparator⟧ needs all rows in memory to compute its margin";
            return Err(SettingsError::new("comparator", problem).into());
        }
        let mut stream = RowStream::open(&self.source, &self.options)?;
        self.check_kind(stream.format(), &stream.own_schema())?;
        let mut recorder = self.recorder(observer);
        if self.spec.wants_trace() {
            recorder.trace = Some(TraceRecorder::new(self.spec.trace_length(), None, None));
        }
        let outcome = train_stream(
            &mut stream,
            &self.settings,
            &scaler,
            checkpoint.map(Resume::Checked),
            &mut recorder,
        );
        let trace = recorder.trace.take();
        let mut lost: Vec<Error> = recorder.unsaved().into_iter().collect();
        let outcome = outcome?;
        if let (Classes::Each { names }, Some(_)) = (&outcome.classes, &trace) {
            return Err(settings::follows_one_run("trace", "⟦trace⟧", names.len()).into());
        }
        let trace = trace.map(TraceRecorder::finish).unwrap_or_default();
        if let Some(path) = &self.spec.trace {
            lost.extend(proof::write_trace(path, &trace).err());
        }
        let mut notes = stream.notes();
        if self.warm.is_none() {
            notes.remarks.extend(stream.schema().remarks());
        }
        if !outcome.boundaries.is_empty() {
            notes.remarks.extend(self.remark_on_classes(outcome.boundaries.len()));
        }
        emit_notes(&notes, observer);
        let seconds = Seconds { read: clock.elapsed().as_secs_f64(), train: 0.0 };
        scaler.widen(stream.schema().features());
        let status = outcome.status;
        let recipe = Recipe { scaling: scaler, ..Recipe::from(stream.schema()) };
        let model = Model::with_recipe(outcome, recipe, None);
        Ok(Trained { lost, trace, ..self.finish(model, status, notes, seconds)? })
    }

    /// The scaler of a stream: one that needs no rows, or that of the model to start from.
    fn stream_scaler(&self) -> Result<Scaler, SettingsError> {
        match (self.scaling(), &self.warm) {
            (Scaling::None, _) => Ok(Scaler::None),
            (Scaling::UnitRows, _) => Ok(Scaler::UnitRows),
            (scaling, Some(model)) if model.recipe.scaling.scaling() == scaling => {
                Ok(model.recipe.scaling.clone())
            }
            _ => Err(SettingsError::new(
                "scale",
                "⟦scale=auto⟧, max-abs and standard need all rows before training starts; online learning \
                 allows ⟦scale=none⟧ and unit-rows",
            )),
        }
    }
}

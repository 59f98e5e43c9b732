//! `linsep train --memory`: data that need not fit into memory.

use super::{Job, Trained, settings};
use crate::commands::cache_of;
use crate::exit::Usage;
use linsep::Model;
use linsep::read::ReadOptions;
use linsep::report::{Seconds, TrainReport};
use linsep::scale::{Scaler, Scaling};
use linsep::train::{OutOfCoreData, Run, check_out_of_core, train_out_of_core};
use std::time::Instant;

impl Job<'_> {
    /// Learns from the cache of the file, which is made if need be, within a limit of memory.
    pub(super) fn larger(self, memory: u64, checkpoint: Option<Run>) -> anyhow::Result<Trained> {
        self.refuse_whole()?;
        check_out_of_core(&self.settings).map_err(linsep::Error::from)?;
        let clock = Instant::now();
        // Tables too must be read in memory that does not grow with the file.
        let options = ReadOptions { online: true, ..self.options.clone() };
        let path = cache_of(&self.args.data, &options, self.console)?;
        let data = OutOfCoreData::open(&path, memory)?;
        settings::refuse_many(self.args, &self.settings, data.classes().len())?;
        let read = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let mut watch = self.watch();
        let trained = train_out_of_core(&data, &self.settings, checkpoint, &mut watch);
        watch.end()?;
        let (outcome, rows_of) = trained?;
        if outcome.evidence.training_error.is_none() {
            self.console.warn("interrupted: the training error was not counted to the end");
        }
        let seconds = Seconds { read, train: clock.elapsed().as_secs_f64() };
        let mut notes = data.notes();
        notes.remarks.extend(super::many_remark(&outcome));
        let mut report = TrainReport::new(&outcome, seconds, rayon::current_num_threads());
        report.fingerprint = Some(data.fingerprint().to_string());
        report.skipped_rows = notes.skipped;
        report.dropped_rows = notes.dropped;
        let model =
            Model::with_reading(outcome, data.schema().clone(), Scaler::None, report.fingerprint.clone());
        let counts = super::outcome_counts(&model, data.classes().iter().zip(rows_of));
        Ok(Trained { model, report, notes, source: self.name, counts, interrupted: false })
    }

    /// What needs all rows in memory, or a second file beside them, cannot be had.
    fn refuse_whole(&self) -> Result<(), Usage> {
        let args = self.args;
        if args.data.as_os_str() == "-" {
            let reason = "--memory goes through the data several times, which standard input cannot do: name a file, or \
                          learn --online";
            return Err(Usage(reason.into()));
        }
        for (given, name) in [
            (args.holdout.is_some(), "--holdout"),
            (!args.classes.keep.is_empty(), "--classes"),
            (args.classes.weights.is_some(), "--weights"),
            (args.trace.is_some(), "--trace"),
            (args.teaching_set.is_some(), "--teaching-set"),
            (self.warm.is_some(), "--init MODEL"),
            (self.settings.shards > 1, "--shards"),
            (self.scaling() != Scaling::None, "--scale"),
        ] {
            if given {
                return Err(Usage(format!("{name} needs all rows in memory: leave it out, or --memory")));
            }
        }
        Ok(())
    }
}

//! What a run leaves behind while it goes on: checkpoints, the trace, the mistaken rows.

use crate::Error;
use crate::observe::{self, Note, Observer, Progress, Update};
use crate::theory::trace::TraceRecorder;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Passes everything on to the observer of the job, and records what the specification asks for.
pub(super) struct Recorder<'a> {
    observer: &'a mut dyn Observer,
    checkpoint: Option<Checkpoint>,
    pub(super) trace: Option<TraceRecorder>,
    pub(super) mistakes: Option<Vec<u32>>,
    failure: Option<Error>,
}

struct Checkpoint {
    path: PathBuf,
    every: Duration,
    last: Option<Instant>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        Self { observer, checkpoint: None, trace: None, mistakes: None, failure: None }
    }

    /// Saves the run when it starts and every so often.
    pub(super) fn saving(mut self, path: Option<&PathBuf>, every: Duration) -> Self {
        self.checkpoint = path.map(|path| Checkpoint { path: path.clone(), every, last: None });
        self
    }

    /// The first failure of the recording itself.
    pub(super) fn failed(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        match self.failure {
            Some(_) => ControlFlow::Break(()),
            None => self.observer.progress(progress),
        }
    }

    fn note(&mut self, note: Note<'_>) {
        self.observer.note(note);
    }

    fn will_stop(&self) -> bool {
        self.observer.will_stop()
    }

    fn update(&mut self, update: &Update<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.record(update);
        }
        if let Some(mistakes) = &mut self.mistakes {
            mistakes.push(update.position as u32);
        }
        self.observer.update(update);
    }

    fn saves(&self) -> bool {
        self.checkpoint.is_some() || self.observer.saves()
    }

    fn checkpoint(&mut self, state: &dyn observe::Checkpoint) {
        let stopping = self.observer.will_stop();
        if let Some(checkpoint) = &mut self.checkpoint {
            let due = checkpoint.last.is_none_or(|last| last.elapsed() >= checkpoint.every);
            if due || stopping {
                if let Err(error) = state.save(&checkpoint.path) {
                    self.failure = Some(error);
                }
                checkpoint.last = Some(Instant::now());
            }
        }
        self.observer.checkpoint(state);
    }
}

//! The files that a run writes while it goes on: checkpoints, the trace, the mistaken rows.

use crate::Error;
use crate::observe::{self, Note, Observer, Progress, Update};
use crate::theory::trace::TraceRecorder;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The message for a checkpoint that could not be written.
const UNSAVED: &str = "the checkpoint is not saved";

/// Passes everything on to the observer of the job, and records what the specification asks for.
pub(super) struct Recorder<'a> {
    observer: &'a mut dyn Observer,
    checkpoint: Option<Checkpoint>,
    pub(super) trace: Option<TraceRecorder>,
    pub(super) mistakes: Option<Vec<u32>>,
    /// Why the last checkpoint could not be saved.
    unsaved: Option<Error>,
}

struct Checkpoint {
    path: PathBuf,
    every: Duration,
    last: Option<Instant>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        Self { observer, checkpoint: None, trace: None, mistakes: None, unsaved: None }
    }

    /// Saves the run when it starts and every so often.
    pub(super) fn saving(mut self, path: Option<&PathBuf>, every: Duration) -> Self {
        self.checkpoint = path.map(|path| Checkpoint { path: path.clone(), every, last: None });
        self
    }

    /// Why the checkpoint is not saved, if the last attempt failed. A later one that is saved clears it.
    pub(super) fn unsaved(self) -> Option<Error> {
        self.unsaved.map(|error| error.at(UNSAVED))
    }

    /// Keeps a failure in mind and tells it, once for as long as it lasts: the run itself goes on.
    fn tried(&mut self, saved: Result<(), Error>) {
        match (saved, &self.unsaved) {
            (Ok(()), None) => {}
            (Ok(()), Some(_)) => {
                self.observer.note(Note::Warning("saving the checkpoint succeeded again"));
                self.unsaved = None;
            }
            (Err(error), before) => {
                if before.is_none() {
                    let text = format!("{UNSAVED}: {error}; training continues, and saving will be retried");
                    self.observer.note(Note::Warning(&text));
                }
                self.unsaved = Some(error);
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.observer.progress(progress)
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
                let saved = state.save(&checkpoint.path);
                checkpoint.last = Some(Instant::now());
                self.tried(saved);
            }
        }
        self.observer.checkpoint(state);
    }
}

//! Passes over the rows: orders, limits, pauses. The learner decides what happens at a row.

use crate::observe::{Observer, Progress};
use crate::train::engine::order::{Blocks, Pass, Window};
use crate::train::engine::run::Status;
use crate::train::settings::Settings;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Passes finished.
    pub(crate) epoch: u64,
    /// Rows seen in this pass.
    pub(crate) position: u64,
    /// Updates made in this pass.
    pub(crate) pass_updates: u64,
    /// Time spent.
    pub(crate) seconds: f64,
}

impl Cursor {
    /// Passes begun.
    pub(crate) fn passes_begun(&self) -> u64 {
        self.epoch + u64::from(self.position > 0)
    }
}

/// A learner that visits rows one by one.
pub(crate) trait RowLearner {
    /// How far it has come.
    fn cursor(&mut self) -> &mut Cursor;

    /// Learns from row `i`, and tells whether that changed anything.
    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool;

    /// Brings the rows from a position of the pass on into memory, where not all rows are in memory. Returns the position
    /// up to which they are, or `None` if they cannot be read.
    fn bring(&mut self, pass: &Pass, window: &Window, position: usize) -> Option<usize> {
        let _ = (pass, window, position);
        Some(usize::MAX)
    }

    /// Asks for a row to be brought into the cache.
    fn prefetch(&self, i: usize) {
        let _ = i;
    }

    /// Called at the end of a pass.
    fn end_pass(&mut self) {}

    /// Whether the rows of a pass are drawn at random, with replacement, whatever order the settings ask for.
    fn draws(&self) -> bool {
        false
    }

    /// Whether the goal is reached at the end of a pass; `quiet` if it made no update.
    fn is_finished(&mut self, quiet: bool) -> bool {
        quiet
    }

    /// How many rows may be visited before the next pause, where the visits tell better than the caller.
    fn stride(&self, usual: usize) -> usize {
        usual
    }

    /// Called with the rows that are visited before the next pause, so that the learner can prepare all of them at once.
    fn announce(&mut self, rows: impl Iterator<Item = usize>) {
        let _ = rows;
    }

    /// Called when the run can be saved.
    fn pause(&mut self, observer: &mut dyn Observer) {
        let _ = observer;
    }

    /// Updates made in all.
    fn updates(&self) -> u64;

    /// The upper bound of γ* that they prove.
    fn margin_upper(&self) -> Option<f64> {
        None
    }
}

/// Goes on until the goal is reached at the end of a pass (a pass without an update, unless the learner has another goal),
/// until a limit of the settings, or until the observer breaks. The observer is asked after every `pause_rows` rows, unless
/// the learner knows a better stride.
pub(crate) fn passes<P: RowLearner>(
    learner: &mut P,
    settings: &Settings,
    blocks: Blocks,
    pause_rows: usize,
    observer: &mut dyn Observer,
) -> Status {
    let rows = blocks.rows();
    let (clock, spent) = (Instant::now(), learner.cursor().seconds);
    learner.pause(observer);
    while learner.cursor().epoch < settings.epochs {
        let epoch = learner.cursor().epoch;
        let pass = match learner.draws() {
            true => Pass::drawn(settings.seed, epoch, blocks),
            false => Pass::new(settings, epoch, blocks),
        };
        let mut window = pass.window(learner.cursor().position as usize);
        while (learner.cursor().position as usize) < rows {
            let start = learner.cursor().position as usize;
            if start == window.end() {
                window = pass.window(start);
            }
            let Some(present) = learner.bring(&pass, &window, start) else { return Status::Interrupted };
            let end = (start + learner.stride(pause_rows).max(1)).min(window.end()).min(present);
            learner.announce((start..end).map(|position| window.at(position)));
            while (learner.cursor().position as usize) < end {
                let position = learner.cursor().position as usize;
                if let Some(next) = window.ahead(position) {
                    learner.prefetch(next);
                }
                learner.cursor().position += 1;
                if learner.visit(window.at(position), observer) {
                    learner.cursor().pass_updates += 1;
                    if settings.update_limit().is_some_and(|most| learner.updates() >= most) {
                        return Status::UpdateLimit;
                    }
                }
            }
            learner.cursor().seconds = spent + clock.elapsed().as_secs_f64();
            learner.pause(observer);
            let cursor = *learner.cursor();
            let progress = Progress::Training {
                epoch: cursor.epoch,
                epochs: settings.epochs,
                position: cursor.position,
                examples: rows as u64,
                updates: learner.updates(),
                margin_upper: learner.margin_upper(),
            };
            if observer.progress(&progress).is_break() {
                return Status::Interrupted;
            }
            if settings.max_seconds.is_some_and(|most| cursor.seconds >= most) {
                return Status::TimeLimit;
            }
        }
        learner.end_pass();
        let cursor = learner.cursor();
        cursor.epoch += 1;
        cursor.position = 0;
        let quiet = std::mem::take(&mut cursor.pass_updates) == 0;
        if learner.is_finished(quiet) {
            return Status::Converged;
        }
    }
    Status::EpochLimit
}

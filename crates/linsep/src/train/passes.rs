//! Going through the rows again and again: orders, limits, pauses. What happens at a row is the learner's affair.

use super::order::{Blocks, Pass};
use super::run::Status;
use super::settings::Settings;
use crate::observe::{Observer, Progress};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Course {
    /// Passes finished.
    pub(crate) epoch: u64,
    /// Rows seen in this pass.
    pub(crate) position: u64,
    /// Updates made in this pass.
    pub(crate) pass_updates: u64,
    /// Time spent.
    pub(crate) seconds: f64,
}

impl Course {
    /// Passes begun.
    pub(crate) fn passes_begun(&self) -> u64 {
        self.epoch + u64::from(self.position > 0)
    }
}

/// A learner that visits rows one by one.
pub(crate) trait Pupil {
    /// How far it has come.
    fn course(&mut self) -> &mut Course;

    /// Learns from row `i`, and tells whether that changed anything.
    fn visit(&mut self, i: usize, observer: &mut impl Observer) -> bool;

    /// Asks for a row to be brought into the cache.
    fn prefetch(&self, i: usize) {
        let _ = i;
    }

    /// Takes stock at the end of a pass.
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

    /// Tells which rows are visited before the next pause: a chance to work on all of them at once.
    fn announce(&mut self, rows: impl Iterator<Item = usize>) {
        let _ = rows;
    }

    /// A moment at which the run can be saved.
    fn pause(&mut self, observer: &mut impl Observer) {
        let _ = observer;
    }

    /// Updates made in all.
    fn updates(&self) -> u64;

    /// The upper bound of γ* that they prove.
    fn margin_upper(&self) -> Option<f64> {
        None
    }
}

/// Goes on until a reason to stop: the goal at the end of a pass (a pass without an update, unless the learner has
/// another), or a limit of the settings. The observer is heard after every `pause_rows` rows, unless the pupil knows a better
/// stride.
pub(crate) fn passes<P: Pupil>(
    pupil: &mut P,
    settings: &Settings,
    blocks: Blocks,
    pause_rows: usize,
    observer: &mut impl Observer,
) -> Status {
    let rows = blocks.rows();
    let (clock, spent) = (Instant::now(), pupil.course().seconds);
    pupil.pause(observer);
    while pupil.course().epoch < settings.epochs {
        let epoch = pupil.course().epoch;
        let pass = match pupil.draws() {
            true => Pass::drawn(settings.seed, epoch, blocks),
            false => Pass::new(settings, epoch, blocks),
        };
        let mut window = pass.window(pupil.course().position as usize);
        while (pupil.course().position as usize) < rows {
            let start = pupil.course().position as usize;
            if start == window.end() {
                window = pass.window(start);
            }
            let end = (start + pupil.stride(pause_rows).max(1)).min(window.end());
            pupil.announce((start..end).map(|position| window.at(position)));
            while (pupil.course().position as usize) < end {
                let position = pupil.course().position as usize;
                if let Some(next) = window.ahead(position) {
                    pupil.prefetch(next);
                }
                pupil.course().position += 1;
                if pupil.visit(window.at(position), observer) {
                    pupil.course().pass_updates += 1;
                    if settings.max_updates.is_some_and(|most| pupil.updates() >= most) {
                        return Status::UpdateLimit;
                    }
                }
            }
            pupil.course().seconds = spent + clock.elapsed().as_secs_f64();
            pupil.pause(observer);
            let course = *pupil.course();
            let progress = Progress::Training {
                epoch: course.epoch,
                epochs: settings.epochs,
                position: course.position,
                examples: rows as u64,
                updates: pupil.updates(),
                margin_upper: pupil.margin_upper(),
            };
            if observer.progress(&progress).is_break() {
                return Status::Interrupted;
            }
            if settings.max_seconds.is_some_and(|most| course.seconds >= most) {
                return Status::TimeLimit;
            }
        }
        pupil.end_pass();
        let course = pupil.course();
        course.epoch += 1;
        course.position = 0;
        let quiet = std::mem::take(&mut course.pass_updates) == 0;
        if pupil.is_finished(quiet) {
            return Status::Converged;
        }
    }
    Status::EpochLimit
}

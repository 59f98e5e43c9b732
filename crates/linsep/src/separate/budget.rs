//! The time and memory that a decision may use, and the observer of its progress.

use super::verify::check_watched;
use super::{Accepted, Certificate, Examples, Rejected};
use crate::dataset::DatasetError;
use crate::memory::amount;
use crate::observe::{Observer, Progress};
use std::time::{Duration, Instant};

/// Why a decision was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Time,
    Interrupted,
    /// The bytes that would have been needed.
    Memory(u64),
}

/// Reports progress to the observer, and says when to stop.
pub(super) struct Budget<'a> {
    observer: &'a mut dyn Observer,
    begun: Instant,
    deadline: Option<Instant>,
    last: Instant,
    stop: Option<Stop>,
    step: &'static str,
    /// The margin is at least this, as far as is known.
    pub(super) lower: Option<f64>,
    /// The margin is at most this, as far as is known.
    pub(super) upper: Option<f64>,
    /// Passes over the data.
    pub(super) passes: u64,
    /// Rows with coefficients that sum to 1 on each simplex: their combination bounds the margin from above.
    pub(super) support: Vec<(usize, [f64; 2])>,
}

/// The time between two reports to the observer.
const PAUSE: Duration = Duration::from_millis(50);

impl<'a> Budget<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer, max_seconds: Option<f64>) -> Self {
        let now = Instant::now();
        // A limit too large for the clock is no limit.
        let deadline = max_seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .and_then(|limit| now.checked_add(limit));
        Self {
            observer,
            begun: now,
            deadline,
            last: now,
            stop: None,
            step: "search",
            lower: None,
            upper: None,
            passes: 0,
            support: Vec::new(),
        }
    }

    /// Names the step that is at work now.
    pub(super) fn begin(&mut self, step: &'static str) {
        self.step = step;
    }

    /// Has the checker look at a certificate. Its rows may all be on one side: that is for whoever chose the sides to judge.
    /// The time limit is not asked: a proof that was found is worth its check. `None` if the check was interrupted.
    pub(super) fn check(
        &mut self,
        certificate: &Certificate,
        examples: &Examples<'_>,
    ) -> Option<Result<Accepted, Rejected>> {
        self.begin("verification");
        let outcome = check_watched(certificate, examples, self.progress(), self.observer);
        if outcome.is_none() {
            self.stop = Some(Stop::Interrupted);
        }
        outcome
    }

    fn progress(&self) -> Progress {
        Progress::Separating {
            step: self.step,
            margin_lower: self.lower,
            margin_upper: self.upper,
            passes: self.passes,
        }
    }

    /// Whether to stop. Cheap enough to be asked at every step.
    pub(super) fn is_over(&mut self) -> bool {
        if self.stop.is_some() {
            return true;
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.stop = Some(Stop::Time);
        } else if now - self.last >= PAUSE {
            self.last = now;
            let progress = self.progress();
            if self.observer.progress(&progress).is_break() {
                self.stop = Some(Stop::Interrupted);
            }
        }
        self.stop.is_some()
    }

    /// Whether there is a limit of time.
    pub(super) fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// The part of the time that has passed, from 0 to 1; 0 without a limit of time.
    pub(super) fn passed(&self) -> f64 {
        let Some(deadline) = self.deadline else { return 0.0 };
        let whole = (deadline - self.begun).as_secs_f64();
        if whole > 0.0 { (self.begun.elapsed().as_secs_f64() / whole).min(1.0) } else { 1.0 }
    }

    /// When this part of the time, from 0 to 1, has passed; none without a limit of time.
    pub(super) fn at(&self, part: f64) -> Option<Instant> {
        let whole = self.deadline? - self.begun;
        self.begun.checked_add(whole.mul_f64(part))
    }

    /// Ends the decision: it needs more memory than it may use.
    pub(super) fn end_for_memory(&mut self, needed: u64) {
        self.stop.get_or_insert(Stop::Memory(needed));
    }

    /// Rows that were copied; none, and the end of the decision, where there is no memory for these many numbers.
    pub(super) fn with_memory<T>(&mut self, copied: Result<T, DatasetError>, numbers: usize) -> Option<T> {
        if matches!(copied, Err(DatasetError::Memory { .. })) {
            self.end_for_memory(8 * numbers as u64);
        }
        copied.ok()
    }

    /// Why the decision was ended.
    pub(super) fn reason(&self) -> String {
        match self.stop {
            Some(Stop::Time) => "the time limit was reached".to_string(),
            Some(Stop::Interrupted) => "it was interrupted".to_string(),
            Some(Stop::Memory(needed)) => {
                format!("the memory leaves too little room: at least {} are needed", amount(needed))
            }
            None => "rounding errors hide the answer".to_string(),
        }
    }
}

//! Watching a run: progress, interruption, traces.

use crate::Error;
use crate::dataset::Row;
use crate::memory;
use crate::store::StoreError;
use crate::theta::Theta;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How far a long job is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Rows are being read.
    Reading {
        /// Bytes taken from the source.
        bytes: u64,
        /// Bytes in all, where known.
        total: Option<u64>,
        /// Rows read.
        rows: u64,
    },
    /// Files of a folder are being read.
    Files {
        /// Files read.
        files: u64,
        /// Files in all.
        total: u64,
        /// Rows read.
        rows: u64,
    },
    /// Generated rows are being written.
    Writing {
        /// Bytes written.
        bytes: u64,
        /// Bytes in all: the limit, or an estimate from the rows so far.
        total: u64,
        /// Rows written.
        rows: u64,
    },
    /// The result is judged on the rows it was learned from.
    Judging {
        /// Rows judged.
        rows: u64,
        /// Rows in all.
        total: u64,
    },
    /// Many runs are at work at once.
    Parts {
        /// Their kind, such as "classes".
        what: &'static str,
        /// How many are done.
        done: u64,
        /// How many there are.
        total: u64,
    },
    /// A learner is at work.
    Training {
        /// Passes finished.
        epoch: u64,
        /// The most passes allowed.
        epochs: u64,
        /// Examples seen in this pass.
        position: u64,
        /// Examples in a pass.
        examples: u64,
        /// Updates made in all.
        updates: u64,
        /// The upper bound of γ* that they prove.
        margin_upper: Option<f64>,
    },
    /// Separation is being decided.
    Separating {
        /// The current work, in a few words.
        step: &'static str,
        /// γ* is at least this, as far as is known.
        margin_lower: Option<f64>,
        /// γ* is at most this, as far as is known.
        margin_upper: Option<f64>,
        /// Passes over the data so far.
        passes: u64,
    },
    /// One of several things that are done is at work.
    Of {
        /// Its name, such as that of a learner.
        name: String,
        /// How far it is.
        progress: Box<Progress>,
    },
}

/// One update of a perceptron, as it has just been made.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// Which update, from 1.
    pub number: u64,
    /// The pass in which it was made, from 1.
    pub epoch: u64,
    /// Which row was mistaken, from 0.
    pub position: u64,
    /// The row.
    pub row: Row<'a>,
    /// ‖z‖², rounded: of the row with its appended coordinate, or of several classes twice that.
    pub row_squared: f64,
    /// Its label as a sign; of several classes 1, because the row is added to its class.
    pub sign: i8,
    /// ⟨θ, z⟩ before the update.
    pub agreement: f64,
    /// θ after the update, where the rows are in memory and the learner holds one vector. Descent with a penalty keeps it but
    /// for a positive factor.
    pub theta: Option<&'a Theta>,
    /// Which classes it moved, where the rows are in memory and the learner holds a vector for each class.
    pub classes: Option<ClassUpdate<'a>>,
}

/// The classes that an update of the multi-class perceptron moved.
#[derive(Clone, Copy, Debug)]
pub struct ClassUpdate<'a> {
    /// The class of the row, among the sorted classes that have rows: the row was added to its vector.
    pub class: usize,
    /// The strongest rival, from whose vector the row was subtracted.
    pub rival: usize,
    /// θ of each class after the update.
    pub thetas: &'a [Theta],
}

/// Something that the user of a job should hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note<'a> {
    /// How the job was understood, or what may help: settings are named as [`spelling`](crate::spelling) says.
    Remark(&'a str),
    /// A reason to trust the result less than its numbers suggest. Records have it too, so those who want no remarks need
    /// not hear it.
    Caution(&'a str),
    /// Part of the data or of the result is missing, or the data is not what was meant: to be said also to those who want no
    /// remarks.
    Warning(&'a str),
}

/// A run that can be saved, and resumed from what was saved.
pub trait Checkpoint {
    /// The bytes of its file.
    fn to_bytes(&self) -> Result<Vec<u8>, StoreError>;

    /// Saves it, whole or not at all.
    fn save(&self, path: &Path) -> Result<(), Error>;
}

/// Watches a job. Every method has a default that does nothing.
pub trait Observer {
    /// Called now and then; a break stops the job with what it has.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }

    /// Called with what the user should hear.
    fn note(&mut self, note: Note<'_>) {
        let _ = note;
    }

    /// Whether the job is going to be stopped: the next call of `progress` will break.
    fn will_stop(&self) -> bool {
        false
    }

    /// Whether who asks to stop waits for a result that is worth having, and can ask once more to end at once.
    fn waits(&self) -> bool {
        false
    }

    /// Called after every update of a learner.
    fn update(&mut self, update: &Update<'_>) {
        let _ = update;
    }

    /// Whether `checkpoint` saves states: only then is the data fingerprinted, so that a state cannot be taken up on
    /// other data.
    fn saves(&self) -> bool {
        false
    }

    /// Called as often as `progress` while a learner goes row by row: its state, which can be saved.
    fn checkpoint(&mut self, state: &dyn Checkpoint) {
        let _ = state;
    }
}

impl Observer for () {}

/// The observer of one run among many: it hears only that all are to stop.
pub(crate) struct StopSignal<'a> {
    stop: Stop<'a>,
}

enum Stop<'a> {
    /// Another thread watches, and says so here.
    Flag(&'a AtomicBool),
    /// Nobody else watches: the observer of all is asked itself.
    Asked(&'a mut dyn Observer, Progress),
}

impl Observer for StopSignal<'_> {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        match &mut self.stop {
            Stop::Flag(stop) if stop.load(Ordering::Relaxed) => ControlFlow::Break(()),
            Stop::Flag(_) => ControlFlow::Continue(()),
            Stop::Asked(observer, progress) => observer.progress(progress),
        }
    }

    fn will_stop(&self) -> bool {
        match &self.stop {
            Stop::Flag(stop) => stop.load(Ordering::Relaxed),
            Stop::Asked(observer, _) => observer.will_stop(),
        }
    }
}

/// Does work that can be stopped but knows no observer, while the observer is asked whether it shall stop. Work that is
/// nearly done may still come to its end: half of it is worth nothing.
pub(crate) fn watched<R: Send, W: FnOnce(&AtomicBool) -> R + Send>(
    observer: &mut dyn Observer,
    progress: &Progress,
    work: W,
) -> R {
    let stop = AtomicBool::new(false);
    let (finished, news) = channel::<()>();
    std::thread::scope(|scope| {
        let stop = &stop;
        // Handed over when there is a thread for it: otherwise it is done here, and nobody is asked meanwhile.
        let (hand_over, taken) = channel();
        let hand = move || {
            // Dropped at the end, also by a panic: then nobody waits any longer.
            let _finished = finished;
            let work: W = taken.recv().ok()?;
            Some(work(stop))
        };
        let worker = memory::new_thread().and_then(|thread| thread.spawn_scoped(scope, hand));
        let worker = match worker {
            Ok(worker) => worker,
            Err(_) => return work(stop),
        };
        if let Err(unsent) = hand_over.send(work) {
            return unsent.0(stop);
        }
        let mut asked = None;
        while news.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            if observer.progress(progress).is_break() {
                let asked: Instant = *asked.get_or_insert_with(Instant::now);
                stop.store(asked.elapsed() >= GRACE, Ordering::Relaxed);
            }
        }
        match worker.join() {
            Ok(Some(result)) => result,
            Ok(None) => unreachable!("the work was handed over"),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// How often the observer of many runs is heard.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);
/// How long work goes on after it was asked to stop. Several such works may follow each other.
pub(crate) const GRACE: Duration = Duration::from_millis(300);

/// Does `work` on all parts, on all cores, and gives the results in their order. The observer hears how many are done,
/// and can stop them all.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    parts: &[T],
    what: &'static str,
    observer: &mut dyn Observer,
    work: impl Fn(&T, &mut StopSignal<'_>) -> R + Sync,
) -> Vec<R> {
    in_parallel_sized(parts, |_| 1, what, observer, work)
}

/// The same for parts of different sizes: the observer hears how many units of them are done.
pub(crate) fn in_parallel_sized<T: Sync, R: Send>(
    parts: &[T],
    size: impl Fn(&T) -> u64 + Sync,
    what: &'static str,
    observer: &mut dyn Observer,
    work: impl Fn(&T, &mut StopSignal<'_>) -> R + Sync,
) -> Vec<R> {
    let stop = AtomicBool::new(false);
    let total = parts.iter().map(&size).sum::<u64>();
    let one_by_one = |observer: &mut dyn Observer| {
        let (mut results, mut done) = (Vec::with_capacity(parts.len()), 0);
        for part in parts {
            let progress = Progress::Parts { what, done, total };
            results.push(work(part, &mut StopSignal { stop: Stop::Asked(&mut *observer, progress) }));
            done += size(part);
        }
        results
    };
    if rayon::current_thread_index().is_some() {
        // Already one of many: waiting here would hold up a thread that the others need.
        return one_by_one(observer);
    }
    let (finished, news) = channel();
    std::thread::scope(|scope| {
        let (stop, work, size) = (&stop, &work, &size);
        let hand = move || {
            parts
                .par_iter()
                .with_max_len(1)
                .map_with(finished, |finished, part| {
                    let result = work(part, &mut StopSignal { stop: Stop::Flag(stop) });
                    // Nobody may be listening any more.
                    let _ = finished.send(size(part));
                    result
                })
                .collect::<Vec<R>>()
        };
        let all = memory::new_thread().and_then(|thread| thread.spawn_scoped(scope, hand));
        let all = match all {
            Ok(all) => all,
            Err(_) => return one_by_one(observer),
        };
        let mut done = 0;
        loop {
            match news.recv_timeout(PAUSE) {
                Ok(more) => done += more,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if observer.progress(&Progress::Parts { what, done, total }).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        match all.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// How many rows are judged before the observer is asked again: as many as take a moment, whatever one of them costs.
pub(crate) struct Pace {
    rows: usize,
    since: Option<Instant>,
    /// When the observer first asked to stop.
    asked: Option<Instant>,
}

impl Pace {
    const SHORT: Duration = Duration::from_millis(40);
    const LONG: Duration = Duration::from_millis(160);
    const MAX_ROWS: usize = 1 << 20;

    /// Begins with so many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, since: None, asked: None }
    }

    /// Whether to give up: the observer broke a while ago. What is nearly done comes to its end.
    pub(crate) fn gives_up(&mut self, flow: ControlFlow<()>) -> bool {
        flow.is_break() && self.asked.get_or_insert_with(Instant::now).elapsed() >= GRACE
    }

    /// The next rows of `total`, after those before `start`.
    pub(crate) fn next(&mut self, start: usize, total: usize) -> std::ops::Range<usize> {
        match self.since.map(|since| since.elapsed()) {
            Some(took) if took < Self::SHORT => self.rows = (self.rows * 2).min(Self::MAX_ROWS),
            Some(took) if took > Self::LONG => self.rows = (self.rows / 2).max(1),
            _ => {}
        }
        self.since = Some(Instant::now());
        start..start.saturating_add(self.rows).min(total)
    }
}

//! Running a job without the interpreter: Ctrl-C, what the user should hear, and what happened pass by pass.

use crate::errors::{Door, exception, in_python};
use linsep::observe::{Note, Observer, Progress, Update};
use pyo3::prelude::*;
use serde::Serialize;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often Python is asked whether Ctrl-C was pressed.
const PAUSE: Duration = Duration::from_millis(100);

/// A pass over the rows, as it ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pass {
    epoch: u64,
    updates: u64,
    margin_upper: Option<f64>,
}

/// The messages of a job, in addition to its result.
#[derive(Debug, Default)]
pub struct Seen {
    /// Messages for the user, each with its kind: remark, caution or warning.
    pub notes: Vec<(&'static str, String)>,
    /// The passes of one run over the rows.
    pub history: Vec<Pass>,
    /// The rows that led to updates, in the order of their first one.
    pub updated: Vec<u32>,
    is_updated: Vec<bool>,
}

/// Watches a job.
pub struct Watch {
    pub seen: Seen,
    /// Whether the rows that lead to updates are kept.
    keeps_updates: bool,
    /// What the user called.
    door: Door,
    signals: RefCell<Signals>,
}

struct Signals {
    last: Instant,
    raised: Option<PyErr>,
    /// Another thread asks Python, and says so here.
    stop: Option<Arc<AtomicBool>>,
}

impl Watch {
    fn new(door: Door, keeps_updates: bool, stop: Option<Arc<AtomicBool>>) -> Self {
        let signals = RefCell::new(Signals { last: Instant::now(), raised: None, stop });
        Self { seen: Seen::default(), keeps_updates, door, signals }
    }

    /// Whether the job is to stop.
    fn is_stopped(&self) -> bool {
        let mut signals = self.signals.borrow_mut();
        if let Some(stop) = &signals.stop {
            return stop.load(Ordering::Relaxed);
        }
        if signals.raised.is_none() && signals.last.elapsed() >= PAUSE {
            signals.raised = Python::attach(|py| py.check_signals()).err();
            signals.last = Instant::now();
        }
        signals.raised.is_some()
    }

    fn remember(&mut self, progress: &Progress) {
        if let Progress::Training { epoch, position, examples, updates, margin_upper, .. } = *progress {
            // Learners that have no place within a pass report it as zero, once for each.
            let ends = position == examples || position == 0;
            let pass = Pass { epoch: epoch + 1, updates, margin_upper };
            match self.seen.history.last_mut() {
                Some(last) if last.epoch == pass.epoch => *last = pass,
                _ if ends => self.seen.history.push(pass),
                _ => {}
            }
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.remember(progress);
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn note(&mut self, note: Note<'_>) {
        let (kind, text) = match note {
            Note::Remark(text) => ("remark", text),
            Note::Caution(text) => ("caution", text),
            Note::Warning(text) => ("warning", text),
        };
        self.seen.notes.push((kind, in_python(self.door, text)));
    }

    fn will_stop(&self) -> bool {
        self.is_stopped()
    }

    fn update(&mut self, update: &Update<'_>) {
        if !self.keeps_updates {
            return;
        }
        let row = update.position as usize;
        let Seen { updated, is_updated, .. } = &mut self.seen;
        if is_updated.len() <= row {
            is_updated.resize((row + 1).max(2 * is_updated.len()), false);
        }
        if !std::mem::replace(&mut is_updated[row], true) {
            updated.push(row as u32);
        }
    }
}

/// Runs a job while other threads of Python go on. Ctrl-C raises `KeyboardInterrupt`.
pub fn watched<R: Send>(
    py: Python<'_>,
    door: Door,
    keeps_updates: bool,
    job: impl FnOnce(&mut Watch) -> Result<R, linsep::Error> + Send,
) -> PyResult<(R, Seen)> {
    let (result, watch) = py.detach(|| match pool_of_fork() {
        None => {
            let mut watch = Watch::new(door, keeps_updates, None);
            let result = job(&mut watch);
            (result, (watch.seen, watch.signals.into_inner().raised))
        }
        Some(pool) => in_fork(&pool, door, keeps_updates, job),
    });
    let (seen, raised) = watch;
    match raised {
        Some(raised) => Err(raised),
        None => Ok((result.map_err(|error| exception(door, error))?, seen)),
    }
}

/// Runs something short while other threads of Python go on.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    py.detach(|| match pool_of_fork() {
        None => work(),
        Some(pool) => pool.install(work),
    })
}

/// The process whose threads the parallel parts use; 0 before the first job.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The threads of a process that was forked from it, and its number: those of the first are not in it.
static FORK: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);

/// The threads to use, where the process was forked from one that has threads already. A fork has no threads but one, and
/// would wait for the others forever.
fn pool_of_fork() -> Option<Arc<rayon::ThreadPool>> {
    let process = std::process::id();
    match PROCESS.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => return None,
        Err(first) if first == process => return None,
        Err(_) => {}
    }
    let mut fork = FORK.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = &*fork
        && *owner == process
    {
        return Some(pool.clone());
    }
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().ok()?);
    if let Some(old) = fork.replace((process, pool.clone())) {
        // Its threads are those of another process: they cannot be ended.
        std::mem::forget(old);
    }
    Some(pool)
}

type Watched<R> = (Result<R, linsep::Error>, (Seen, Option<PyErr>));

/// Runs a job on these threads, while this one asks Python whether Ctrl-C was pressed.
fn in_fork<R: Send>(
    pool: &rayon::ThreadPool,
    door: Door,
    keeps_updates: bool,
    job: impl FnOnce(&mut Watch) -> Result<R, linsep::Error> + Send,
) -> Watched<R> {
    let stop = Arc::new(AtomicBool::new(false));
    let (finished, news) = channel::<()>();
    std::thread::scope(|scope| {
        let heard = stop.clone();
        let worker = scope.spawn(move || {
            let _finished = finished;
            pool.install(|| {
                let mut watch = Watch::new(door, keeps_updates, Some(heard));
                (job(&mut watch), watch.seen)
            })
        });
        let mut raised = None;
        while news.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none() {
                raised = Python::attach(|py| py.check_signals()).err();
                stop.store(raised.is_some(), Ordering::Relaxed);
            }
        }
        match worker.join() {
            Ok((result, seen)) => (result, (seen, raised)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Runs the `linsep` program with these arguments, of which the first is its name, and gives its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| linsep_cli::run(arguments))
}

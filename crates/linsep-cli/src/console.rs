//! The terminal: notes, progress bars, Ctrl-C. Everything here goes to standard error.

use anyhow::Context;
use indicatif::{DecimalBytes, HumanDuration, ProgressBar, ProgressStyle};
use linsep::classes::{printable, printable_lines};
use linsep::numbers::{Rounding, counted, grouped, rounded};
use linsep::observe::{Checkpoint, Note, Observer, Progress};
use linsep::spelling::{Mention, spelled};
use std::io::{IsTerminal, Write};
use std::mem::{Discriminant, discriminant};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A text of the library, with settings spelled as flags: `--field value`. Names in it may hold characters that would command the
/// terminal: these are shown, not sent.
pub(crate) fn flags(text: &str) -> String {
    spelled_flags(&printable_lines(text))
}

/// The same for a text that is shown by other means, such as a JSON record.
pub(crate) fn spelled_flags(text: &str) -> String {
    spelled(text, |Mention { field, value }| {
        let flag = format!("--{}", field.replace('_', "-"));
        value.map_or(flag.clone(), |value| format!("{flag} {value}"))
    })
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the job has something that an end at once would lose: a model so far, a file half written.
static HAS_RESULTS: AtomicBool = AtomicBool::new(false);

/// How long a job that has nothing to lose may take to notice Ctrl-C. Most notice within a tenth of this.
const TIME_TO_NOTICE: Duration = Duration::from_millis(1200);

/// The first Ctrl-C asks the job to stop with what it has; the second ends the program at once. So does the first, if the
/// job has nothing to lose and is busy with a step that nobody can ask to stop, such as reading a damaged disk.
fn listen_for_interrupts() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            end_at_once();
        }
        linsep::waiting::call_off_waits();
        // Without a thread there is still the second Ctrl-C.
        let _ = std::thread::Builder::new().spawn(|| {
            std::thread::sleep(TIME_TO_NOTICE);
            if !HAS_RESULTS.load(Ordering::SeqCst) {
                let _ = writeln!(std::io::stderr(), "interrupted");
                end_at_once();
            }
        });
    })
}

fn end_at_once() {
    std::process::exit(130);
}

/// Says that the job has something that an end at once would lose.
pub(crate) fn has_results() {
    HAS_RESULTS.store(true, Ordering::SeqCst);
}

/// Whether the user has asked for an end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Starts the thread that listens for Ctrl-C, then those of the parallel parts. In this order: a thread at work reserves
/// address space of its own, and under a limit nothing might be left to listen with.
pub(crate) fn start_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let wanted = threads.or(std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1) as u64;
    // One more listens for Ctrl-C. Without the memory for a thread the system may end the program, before it says anything.
    let needed = (wanted + 1) * linsep::memory::THREAD_BYTES;
    if let Some(free) = linsep::memory::available().filter(|&free| free < needed) {
        let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
        anyhow::bail!(
            "cannot start {wanted} threads: they need about {} MiB of memory, and {} MiB are free; fewer of them, with \
             --threads, need less",
            megabytes(needed),
            free >> 20
        );
    }
    match listen_for_interrupts() {
        Ok(()) => {}
        Err(ctrlc::Error::System(error)) => {
            return Err(error).context(
                "cannot start the thread that listens for Ctrl-C; it needs more memory, or more threads",
            );
        }
        Err(error) => return Err(error).context("cannot listen for Ctrl-C"),
    }
    // Zero stands for as many as there are processors. Started now, a thread that the system does not give is an error.
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build_global()
        .context("cannot start the threads; fewer of them, with --threads, need less memory")
}

/// Where notes go, unless the user wants quiet, and whether reports have all details.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
}

impl Console {
    /// Says something about the work, on standard error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            // A closed standard error must not stop the work.
            let _ = writeln!(std::io::stderr(), "{}", flags(&printable(text)));
        }
    }

    /// Says something that the user must hear even when quiet.
    pub(crate) fn warn(&self, text: &str) {
        let _ = writeln!(std::io::stderr(), "warning: {}", flags(&printable(text)));
    }
}

/// Jobs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// Shows a job to the user: notes, a progress bar for each phase, Ctrl-C.
pub(crate) struct ProgressDisplay {
    console: Console,
    bar: Option<ProgressBar>,
    visible: bool,
    /// The phase that is shown, and when it began.
    phase: Option<Discriminant<Progress>>,
    /// The name of the current work, if any.
    name: String,
    started: Instant,
    /// Where the phase was when it was first heard of: the rate counts from there.
    first: Option<(u64, Instant)>,
    /// Whether what was done before Ctrl-C is shown or saved.
    keeps_parts: bool,
}

impl ProgressDisplay {
    pub(crate) fn new(console: Console) -> Self {
        Self {
            console,
            bar: None,
            visible: !console.quiet && std::io::stderr().is_terminal(),
            phase: None,
            name: String::new(),
            started: Instant::now(),
            first: None,
            keeps_parts: true,
        }
    }

    /// Shows a job of which Ctrl-C leaves nothing: half of its result is none.
    pub(crate) fn of_whole_job(console: Console) -> Self {
        let mut display = Self::new(console);
        display.keeps_parts = false;
        display
    }

    /// Takes the bar away.
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Begins anew where another phase begins.
    fn enter(&mut self, progress: &Progress, name: &str) {
        let phase = Some(discriminant(progress));
        // What is at work by itself has its own pace.
        let is_other = self.name != name && matches!(progress, Progress::Training { .. });
        if self.phase != phase || is_other {
            self.clear();
            (self.phase, self.started, self.first) = (phase, Instant::now(), None);
        }
        self.name.replace_range(.., name);
    }

    /// Shows how far the job is: where, how fast, how long still.
    fn show(&mut self, position: u64, length: Option<u64>, unit: Unit, message: &str) {
        let now = Instant::now();
        let (first, since) = *self.first.get_or_insert((position, now));
        let rate = (position - first.min(position)) as f64 / (now - since).as_secs_f64().max(1e-3);
        let mut text = format!("{message}, {}/s", unit.show(rate as u64));
        if let Some(length) = length.filter(|_| rate > 0.0) {
            let left = length.saturating_sub(position) as f64 / rate;
            text += &format!(
                ", {} left{}",
                HumanDuration(Duration::from_secs_f64(left.min(1e9))),
                unit.at_most()
            );
        }
        self.display(position, length, text);
    }

    /// Draws the bar, once the job has lasted for a while.
    fn display(&mut self, position: u64, length: Option<u64>, text: String) {
        if !self.visible || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(ProgressBar::no_length);
        if let Some(length) = length {
            bar.set_length(length);
        }
        let style = if length.is_some() { "{msg} {wide_bar}" } else { "{msg} {spinner}" };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        bar.set_message(name + &text);
        bar.set_position(position);
        if length.is_none() {
            bar.tick();
        }
    }
}

/// The unit that a job counts.
#[derive(Clone, Copy)]
enum Unit {
    Bytes,
    Rows,
    /// Rows that need not all be visited: a run may converge before.
    RowsAtMost,
    /// Whole runs.
    Parts(&'static str),
}

impl Unit {
    fn show(self, count: u64) -> String {
        match self {
            Unit::Bytes => DecimalBytes(count).to_string(),
            Unit::Rows | Unit::RowsAtMost => format!("{} rows", grouped(count)),
            // Of "folds, plain", the folds.
            Unit::Parts(what) => format!("{} {}", grouped(count), what.split(',').next().unwrap_or(what)),
        }
    }

    fn at_most(self) -> &'static str {
        if matches!(self, Unit::RowsAtMost) { " at most" } else { "" }
    }
}

impl Observer for ProgressDisplay {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if self.keeps_parts
            && !matches!(
                progress,
                Progress::Reading { .. } | Progress::Files { .. } | Progress::Separating { .. }
            )
        {
            has_results();
        }
        let (name, progress) = match progress {
            Progress::Of { name, progress } => (name.as_str(), &**progress),
            progress => ("", progress),
        };
        self.enter(progress, name);
        match *progress {
            Progress::Reading { bytes, total, rows } => {
                self.show(bytes, total, Unit::Bytes, &format!("reading, row {}", grouped(rows)));
            }
            Progress::Files { files, total, rows } => {
                self.show(
                    files,
                    Some(total),
                    Unit::Parts("files"),
                    &format!("reading, row {}", grouped(rows)),
                );
            }
            Progress::Writing { bytes, total, rows } => {
                self.show(bytes, Some(total), Unit::Bytes, &format!("writing, row {}", grouped(rows)));
            }
            Progress::Judging { rows, total } => {
                self.show(rows, Some(total), Unit::Rows, &format!("judging, row {}", grouped(rows)));
            }
            Progress::Parts { what, done, total } => {
                self.show(
                    done,
                    Some(total),
                    Unit::Parts(what),
                    &format!("{} of {total} {what}", grouped(done)),
                );
            }
            Progress::Training { epoch, epochs, position, examples, updates, margin_upper } => {
                let seen = epoch.saturating_mul(examples).saturating_add(position);
                let mut message =
                    format!("pass {} of at most {epochs}, {} updates", epoch + 1, grouped(updates));
                if let Some(upper) = margin_upper {
                    message += &format!(", γ* ≤ {}", rounded(upper, Rounding::Up));
                }
                self.show(seen, Some(epochs.saturating_mul(examples)), Unit::RowsAtMost, &message);
            }
            Progress::Separating { step, margin_lower, margin_upper, passes } => {
                // How long it takes is not known beforehand; that the interval closes is.
                let mut message = step.to_string();
                if passes > 0 {
                    message += &format!(", {}", counted(passes, "pass", "passes"));
                }
                let lower = margin_lower.map(|lower| rounded(lower, Rounding::Down));
                match (lower, margin_upper.map(|upper| rounded(upper, Rounding::Up))) {
                    (Some(lower), Some(upper)) => message += &format!(", {lower} ≤ γ* ≤ {upper}"),
                    (Some(lower), None) => message += &format!(", γ* ≥ {lower}"),
                    (None, Some(upper)) => message += &format!(", γ* ≤ {upper}"),
                    (None, None) => {}
                }
                self.display(passes, None, message);
            }
            // A name within a name is not given.
            Progress::Of { .. } => {}
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn note(&mut self, note: Note<'_>) {
        self.clear();
        match note {
            Note::Remark(text) => self.console.note(&format!("note: {text}")),
            Note::Caution(text) => self.console.note(&format!("warning: {text}")),
            Note::Warning(text) => text.lines().for_each(|line| self.console.warn(line)),
        }
    }

    /// The second Ctrl-C ends the program.
    fn waits(&self) -> bool {
        self.keeps_parts
    }

    fn will_stop(&self) -> bool {
        interrupted()
    }

    fn checkpoint(&mut self, _: &dyn Checkpoint) {
        // Rows of a stream are learned while they are read.
        if self.keeps_parts {
            has_results();
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.clear();
    }
}

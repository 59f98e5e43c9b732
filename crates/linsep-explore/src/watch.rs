//! Watching a job for a page: what it says goes out line by line, and a page that is gone stops it.

use crate::drawing::History;
use linsep::numbers::{Rounding, counted, grouped, rounded};
use linsep::observe::{Note, Observer, Progress, Update};
use linsep::settings::{reading_form, settings_form};
use linsep::spelling::{Mention, spelled};
use linsep::train::learners;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// A text of the library, with settings named as the controls of the page name them; what the page has no control for is named as
/// the command line does.
pub(crate) fn worded(text: &str) -> String {
    // A label needs a colon before the column that it is to hold.
    let text = text.replace("with ⟦ignore⟧ ", "with ⟦ignore⟧: ");
    spelled(&text, |Mention { field, value }| match label(field) {
        // The page holds rows out where it compares.
        _ if field == "holdout" => "see the comparison".to_string(),
        _ if field == "output" => "a button of this page".to_string(),
        // What the list of classes calls its choices.
        _ if (field, value) == ("positive", Some("CLASS")) => "“Classes: … against the rest”".to_string(),
        _ if (field, value) == ("classes", Some("A,B")) => "“Classes: … and …”".to_string(),
        _ if field == "classes" && value.is_some_and(|value| value.starts_with("A,B")) => {
            "“Classes”".to_string()
        }
        Some(label) => value.map_or_else(|| format!("“{label}”"), |value| format!("“{label}: {value}”")),
        None => {
            let value = value.map_or_else(String::new, |value| format!(" {value}"));
            format!("--{}{value} (on the command line)", field.replace('_', "-"))
        }
    })
}

/// What the page calls a setting that it has a control for.
fn label(field: &str) -> Option<String> {
    match field {
        "classes" | "positive" => return Some("Classes".to_string()),
        "learner" => return Some("Learner".to_string()),
        "learners" => return Some("Learners".to_string()),
        "orders" => return Some("Orders".to_string()),
        "blame" => return Some("also find a small set of rows to remove".to_string()),
        // The form of the page has no room for probabilities.
        "probabilities" => return None,
        _ => {}
    }
    let reading = reading_form();
    if let Some(known) = reading.iter().find(|known| known["name"] == field) {
        return known["label"].as_str().map(str::to_string);
    }
    let is_shared = settings_form().iter().any(|known| known["name"] == field);
    let is_option = || learners().iter().flat_map(|learner| learner.options).any(|known| known.name == field);
    (is_shared || is_option()).then(|| field.replace('_', " "))
}

/// How often a page hears of progress.
const PAUSE: Duration = Duration::from_millis(80);

/// The memory that jobs may take: all of them together, beside what the explorer had when it was first asked.
struct Room {
    /// The bytes of the process beyond which no job goes on. `None` where the system does not tell.
    most: Option<u64>,
    /// When it was looked at last, and what was seen.
    looked: Mutex<(Instant, bool)>,
}

impl Room {
    /// Half of what is free is left to others.
    fn of_all_jobs() -> &'static Self {
        static ROOM: OnceLock<Room> = OnceLock::new();
        ROOM.get_or_init(|| Room {
            most: linsep::memory::resident()
                .zip(linsep::memory::available())
                .map(|(own, free)| own + free / 2),
            looked: Mutex::new((Instant::now(), false)),
        })
    }

    /// Whether jobs take more than they may; looked at every so often.
    fn is_full(&self) -> bool {
        let Some(most) = self.most else { return false };
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.0.elapsed() >= PAUSE {
            *looked = (Instant::now(), linsep::memory::resident().is_some_and(|own| own > most));
        }
        looked.1
    }
}

/// The page that asked for a job.
#[derive(Clone)]
pub(crate) struct Listener {
    lines: UnboundedSender<Value>,
    /// Whether the job was stopped because memory was full.
    full: Arc<AtomicBool>,
}

impl Listener {
    pub(crate) fn new(lines: UnboundedSender<Value>) -> Self {
        Room::of_all_jobs();
        Self { lines, full: Arc::default() }
    }

    /// Sends a line, unless the page is gone.
    pub(crate) fn send(&self, line: Value) {
        let _ = self.lines.send(line);
    }

    /// Whether the job is to end: nobody listens, or it fills the memory.
    pub(crate) fn is_gone(&self) -> bool {
        if Room::of_all_jobs().is_full() {
            self.full.store(true, Ordering::Relaxed);
        }
        self.lines.is_closed() || self.full.load(Ordering::Relaxed)
    }

    /// Why the job was stopped, if that was for want of memory.
    pub(crate) fn stopped(&self) -> Option<String> {
        let most = Room::of_all_jobs().most.filter(|_| self.full.load(Ordering::Relaxed))?;
        Some(format!(
            "the job was stopped: the explorer may use {} MB of memory for all jobs together; allow it fewer passes or \
             updates, or run it on the command line",
            grouped(most / 1_000_000)
        ))
    }
}

/// The observer of a job.
pub(crate) struct Watch<'a> {
    listener: &'a Listener,
    history: Option<History<'a>>,
    last: Option<Instant>,
    quiet: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(listener: &'a Listener) -> Self {
        Self { listener, history: None, last: None, quiet: false }
    }

    /// Records updates, and says nothing twice: the same job has been watched before.
    pub(crate) fn recording(listener: &'a Listener, history: Option<History<'a>>) -> Self {
        Self { listener, history, last: None, quiet: true }
    }

    pub(crate) fn into_history(self) -> Option<History<'a>> {
        self.history
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if self.listener.is_gone() {
            return ControlFlow::Break(());
        }
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            self.listener.send(json!({ "progress": told(progress) }));
        }
        ControlFlow::Continue(())
    }

    fn note(&mut self, note: Note<'_>) {
        let (kind, text) = match note {
            Note::Remark(text) => ("remark", text),
            Note::Caution(text) => ("caution", text),
            Note::Warning(text) => ("warning", text),
        };
        if !self.quiet {
            self.listener.send(json!({ "note": { "kind": kind, "text": worded(text) } }));
        }
    }

    fn will_stop(&self) -> bool {
        self.listener.is_gone()
    }

    fn update(&mut self, update: &Update<'_>) {
        if let Some(history) = &mut self.history {
            history.record(update);
        }
    }
}

/// How far a job is: in words, and as a share where that is known.
fn told(progress: &Progress) -> Value {
    let share = |done: u64, total: u64| (total > 0).then(|| done as f64 / total as f64);
    match progress {
        Progress::Reading { bytes, total, rows } => json!({
            "text": format!("reading, row {}", grouped(*rows)),
            "share": total.and_then(|total| share(*bytes, total)),
        }),
        Progress::Files { files, total, .. } => json!({
            "text": format!("reading, file {} of {}", grouped(*files), grouped(*total)),
            "share": share(*files, *total),
        }),
        Progress::Writing { bytes, total, .. } => {
            json!({ "text": "writing", "share": share(*bytes, *total) })
        }
        Progress::Judging { rows, total } => json!({
            "text": format!("judging, row {}", grouped(*rows)),
            "share": share(*rows, *total),
        }),
        Progress::Parts { what, done, total } => json!({
            "text": format!("{} of {} {what}", grouped(*done), grouped(*total)),
            "share": share(*done, *total),
        }),
        Progress::Training { epoch, epochs, updates, .. } => json!({
            "text": format!("pass {} of at most {}, {}", grouped(epoch + 1), grouped(*epochs),
                counted(*updates, "update", "updates")),
            "share": share(*epoch, *epochs),
        }),
        Progress::Separating { step, margin_lower, margin_upper, .. } => {
            let mut text = step.to_string();
            if let Some(lower) = margin_lower {
                text += &format!(", γ* ≥ {}", rounded(*lower, Rounding::Down));
            }
            if let Some(upper) = margin_upper {
                text += &format!(", γ* ≤ {}", rounded(*upper, Rounding::Up));
            }
            json!({ "text": text, "share": null })
        }
        Progress::Of { name, progress } => {
            let mut told = told(progress);
            told["text"] = json!(format!("{name}: {}", told["text"].as_str().unwrap_or_default()));
            told
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message names what the page has: the label of a control, or the option of the command line where there is no control.
    #[test]
    fn settings_are_named_as_the_page_names_them() {
        for (text, shown) in [
            ("give ⟦label⟧, or ⟦missing=drop-row⟧", "give “label column”, or “missing cells: drop-row”"),
            ("⟦na⟧ and ⟦positive=a⟧", "“words for missing cells” and “Classes: a”"),
            ("⟦max_updates⟧, ⟦C=2⟧", "“max updates”, “C: 2”"),
            ("name ⟦learners⟧ for ⟦orders⟧", "name “Learners” for “Orders”"),
            (
                "⟦memory=2GB⟧ or ⟦probabilities⟧",
                "--memory 2GB (on the command line) or --probabilities (on the command line)",
            ),
            ("⟦class_weight=balanced⟧", "“class weight: balanced”"),
            (
                "choose one with ⟦positive=CLASS⟧, or keep two with ⟦classes=A,B⟧",
                "choose one with “Classes: … against the rest”, or keep two with “Classes: … and …”",
            ),
            ("keep some with ⟦classes=A,B,…⟧", "keep some with “Classes”"),
            ("Leave it out with ⟦ignore⟧ id, or", "Leave it out with “columns to leave out”: id, or"),
            ("⟦holdout⟧", "see the comparison"),
            ("name a file with ⟦output=MODEL⟧", "name a file with a button of this page"),
        ] {
            assert_eq!(worded(text), shown);
        }
    }
}

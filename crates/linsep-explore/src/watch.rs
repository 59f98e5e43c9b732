//! Watching a job for a page: what it says goes out line by line, and a page that is gone stops it.

use crate::drawing::History;
use linsep::numbers::{Rounding, counted, grouped, rounded};
use linsep::observe::{Note, Observer, Progress, Update};
use linsep::spelling::{Mention, spelled};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// A text of the library, with settings named as the form of the page names them.
pub(crate) fn worded(text: &str) -> String {
    spelled(text, |Mention { field, value }| {
        if field == "holdout" {
            // The page holds rows out where it compares.
            return "see the comparison".to_string();
        }
        let field = field.replace('_', " ");
        value.map_or_else(|| format!("“{field}”"), |value| format!("“{field}: {value}”"))
    })
}

/// How often a page hears of progress.
const PAUSE: Duration = Duration::from_millis(80);

/// The page that asked for a job.
#[derive(Clone)]
pub(crate) struct Listener {
    lines: UnboundedSender<Value>,
}

impl Listener {
    pub(crate) fn new(lines: UnboundedSender<Value>) -> Self {
        Self { lines }
    }

    /// Sends a line, unless the page is gone.
    pub(crate) fn send(&self, line: Value) {
        let _ = self.lines.send(line);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.lines.is_closed()
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

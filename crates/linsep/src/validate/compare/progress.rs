//! How far a comparison is, and which learner is at work.

use crate::observe::{Observer, Progress};
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Says which learner is at work.
pub(super) struct Named<'a> {
    pub(super) outer: &'a mut dyn Observer,
    pub(super) label: &'a str,
}

impl Observer for Named<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let progress = Box::new(progress.clone());
        self.outer.progress(&Progress::Of { name: self.label.to_string(), progress })
    }

    fn will_stop(&self) -> bool {
        self.outer.will_stop()
    }
}

/// Adds what was done before to what is being done, and says which learner began last.
pub(super) struct Overall<'a> {
    pub(super) outer: &'a mut dyn Observer,
    pub(super) before: u64,
    pub(super) total: u64,
    pub(super) latest: &'a Mutex<String>,
}

impl Observer for Overall<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let name = self.latest.lock().map(|latest| latest.clone()).unwrap_or_default();
        let progress = match *progress {
            Progress::Parts { what, done, .. } => {
                Progress::Parts { what, done: self.before + done, total: self.total }
            }
            ref other => other.clone(),
        };
        self.outer.progress(&Progress::Of { name, progress: Box::new(progress) })
    }

    fn will_stop(&self) -> bool {
        self.outer.will_stop()
    }
}

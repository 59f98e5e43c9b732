//! Runs of thousands of classes that would not come to an end are refused before they begin, and a time limit is shared by
//! the classes.
//!
//! A run for each of K classes through N rows visits K · N rows in every pass, whatever the learner; only perceptrons are
//! spared most of that ([`class_blocks`]). With a row or more for each class, that is the square of their number.

use crate::SettingsError;
use crate::dataset::Dataset;
use crate::numbers::{counted, grouped};
use crate::train::engine::class_blocks;
use crate::train::learners::Learner;
use crate::train::settings::Settings;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Up to so many classes, the work is that of the rows times a number that everybody expects.
const FEW_CLASSES: usize = 1000;
// What takes five to thirty seconds of a processor for rows of one number each, extrapolated from runs of 2,000 to 20,000 classes.
const MAX_VISITS: u64 = 500_000_000;
/// Passes that learners with a goal of their own take at the least, whatever they are allowed.
const FEWEST_TO_A_GOAL: u64 = 10;

/// How much a run has to learn from.
pub(crate) struct RunSize {
    pub(crate) rows: u64,
    pub(crate) classes: u64,
    pub(crate) columns: u64,
    pub(crate) epochs: u64,
}

/// What a run takes, in units that the learner names.
pub(crate) struct Work {
    pub(crate) amount: u64,
    /// What needs a time limit if it is more.
    pub(crate) most: u64,
    /// What it does; `@` stands for the amount.
    pub(crate) said: String,
    /// Whether it is less in fewer passes.
    pub(crate) in_passes: bool,
}

impl RunSize {
    /// Of these rows, where each class but for two is learned by itself.
    pub(crate) fn of(data: &Dataset, settings: &Settings) -> Self {
        let classes = match data.classes().len() {
            many if many > 2 && settings.positive.is_none() => many as u64,
            _ => 1,
        };
        Self { rows: data.len() as u64, classes, columns: data.columns() as u64, epochs: settings.epochs }
    }

    /// Every row for every class.
    pub(crate) fn all(&self) -> u64 {
        self.rows.saturating_mul(self.classes)
    }

    /// How many passes: "in up to 5 passes".
    pub(crate) fn passes(&self) -> String {
        format!("in up to {}", counted(self.epochs, "pass", "passes"))
    }

    /// A run over the rows for every class, whose result is judged on all rows as well.
    pub(crate) fn one_by_one(&self) -> Work {
        let said = format!(
            "learns {} classes one by one, each from {} rows {} and one to judge the result: @ visits of rows",
            grouped(self.classes),
            grouped(self.rows),
            self.passes()
        );
        let amount = self.all().saturating_mul(self.epochs.saturating_add(1));
        Work { amount, most: MAX_VISITS, said, in_passes: true }
    }

    /// The same of a learner with a goal of its own, which it may reach before the last pass.
    pub(crate) fn to_a_goal(&self) -> Work {
        let size = Self { epochs: self.epochs.min(FEWEST_TO_A_GOAL), ..*self };
        let work = size.one_by_one();
        Work { said: work.said.replace("in up to", "in at least"), ..work }
    }

    /// The bytes of the weights of every class: what is learned, and what it becomes in the result.
    pub(crate) fn weights(&self) -> (u64, String) {
        const VECTORS: u64 = 2;
        let classes = match self.classes {
            1 => String::new(),
            many => format!(" and {} classes", grouped(many)),
        };
        let bytes = (self.columns + 1).saturating_mul(8 * VECTORS).saturating_mul(self.classes);
        (bytes, format!("learning weights for {} features{classes}", grouped(self.columns)))
    }
}

/// Refuses a run of many classes that would not come to an end, unless it has a time limit.
pub(crate) fn refuse_excessive_cost(data: &Dataset, settings: &Settings) -> Result<(), SettingsError> {
    let classes = data.class_counts().iter().filter(|&&count| count > 0).count();
    if settings.positive.is_some() || class_blocks::suits(data, settings, classes) {
        return Ok(());
    }
    let averaged = Settings { learner: Learner::Averaged, ..settings.clone() };
    let instead = if class_blocks::suits(data, &averaged, classes) {
        "Use ⟦learner=averaged⟧, which trains many classes in the same pass"
    } else {
        "Keep some of the classes with ⟦classes=A,B,…⟧"
    };
    refuse_excessive_cost_rows(data.len() as u64, classes, settings, instead)
}

/// The same for so many rows and classes; `instead` is a sentence about what can be done.
pub(crate) fn refuse_excessive_cost_rows(
    rows: u64,
    classes: usize,
    settings: &Settings,
    instead: &str,
) -> Result<(), SettingsError> {
    if classes <= FEW_CLASSES || settings.max_seconds.is_some() {
        return Ok(());
    }
    let size = RunSize { rows, classes: classes as u64, columns: 0, epochs: settings.epochs };
    let Work { amount, most, said, in_passes } = settings.learner.registered().work(&size);
    if amount <= most {
        return Ok(());
    }
    let problem = format!(
        "{} {}, and more than {} need a time limit. {instead}{}; or set ⟦max_seconds=SECONDS⟧, the time for all classes \
         together",
        settings.learner.name(),
        said.replace('@', &grouped(amount)),
        grouped(most),
        if in_passes { ", or allow fewer ⟦epochs⟧" } else { "" }
    );
    Err(SettingsError::new("learner", problem))
}

/// A time limit that the runs of many classes share.
pub(crate) struct TimeShares {
    clock: Instant,
    limit: f64,
    /// Runs that are not begun yet.
    left: AtomicUsize,
    at_once: usize,
}

impl TimeShares {
    /// For runs as [`in_parallel`](crate::observe::in_parallel) makes them: within a thread of the pool, one follows the other.
    pub(crate) fn in_parallel(limit: f64, runs: usize) -> Self {
        let at_once = if rayon::current_thread_index().is_some() { 1 } else { rayon::current_num_threads() };
        Self { at_once, ..Self::one_by_one(limit, runs) }
    }

    pub(crate) fn one_by_one(limit: f64, runs: usize) -> Self {
        Self { clock: Instant::now(), limit, left: AtomicUsize::new(runs), at_once: 1 }
    }

    /// The seconds of the run that begins now: what is left, in equal parts. A run that is begun learns something, so no part is
    /// zero.
    pub(crate) fn next(&self) -> f64 {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        let rounds = left.div_ceil(self.at_once).max(1);
        ((self.limit - self.clock.elapsed().as_secs_f64()) / rounds as f64).max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_divided_among_the_runs() {
        let shares = TimeShares::one_by_one(1000.0, 4);
        // Hardly any time has passed, so each has a larger part of what is left.
        for parts in [4.0, 3.0, 2.0, 1.0] {
            let share = shares.next();
            assert!(share <= 1000.0 / parts && share > 900.0 / parts, "{share} of {parts}");
        }
        let shares = TimeShares { at_once: 2, ..TimeShares::one_by_one(1000.0, 5) };
        assert!(shares.next() <= 1000.0 / 3.0);
        // Time that has run out still leaves a run its first rows.
        assert!(TimeShares::one_by_one(1e-12, 3).next() > 0.0);
    }

    #[test]
    fn few_classes_and_limited_times_are_never_refused() {
        let settings =
            Settings { learner: Learner::named("sgd").unwrap(), epochs: u64::MAX, ..Settings::default() };
        assert!(refuse_excessive_cost_rows(u64::MAX, FEW_CLASSES, &settings, "").is_ok());
        assert!(refuse_excessive_cost_rows(FEW_CLASSES as u64, FEW_CLASSES + 1, &settings, "").is_err());
        let limited = Settings { max_seconds: Some(1.0), ..settings.clone() };
        assert!(refuse_excessive_cost_rows(u64::MAX, FEW_CLASSES + 1, &limited, "").is_ok());
        let remembers = Settings { learner: Learner::Memoriser, ..settings };
        assert!(refuse_excessive_cost_rows(1001, 1001, &remembers, "").is_ok());
        let error = refuse_excessive_cost_rows(20_000, 20_000, &remembers, "Do without").unwrap_err();
        assert_eq!(
            error.problem,
            "memoriser remembers 20,000 rows for each of 20,000 classes: 400,000,000 rows, and more than 100,000,000 need \
             a time limit. Do without; or set ⟦max_seconds=SECONDS⟧, the time for all classes together"
        );
    }
}

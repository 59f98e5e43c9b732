//! The run of the kernel perceptron.

use super::KernelOptions;
use super::form::{Form, KernelRounding};
use super::gram::{Gram, Support};
use super::ledger::Ledger;
use super::machine::{History, KernelMachine};
use super::scores::{Scores, Standing};
use crate::dataset::Rows;
use crate::observe::{Observer, Progress, Update};
use crate::theory::margin::{Extent, MarginInterval, MarginKind, quotient_down};
use crate::train::engine::evidence::Detail;
use crate::train::engine::fit::{Fit, Space};
use crate::train::engine::learned::Learned;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{Status, Task};
use crate::train::settings::Settings;

/// Rows side by side in a tile.
pub(super) const SIDE: usize = 8;

/// With more columns than this, rows side by side take too much memory: they are taken one by one.
pub(super) const WIDE: usize = 1 << 17;

/// Products between pauses: some hundredths of a second.
const WORK: usize = 200_000_000;

/// The most rows between pauses. A mistake costs one kernel value for each row that is still to come, on one
/// thread, so there should not be too many.
const MAX_ROWS: usize = 256;

/// Trains a kernel perceptron. `check` must have found nothing wrong.
pub(crate) fn learn(
    task: &Task<'_>,
    weights: Option<&[f64]>,
    settings: &Settings,
    options: &KernelOptions,
    observer: &mut dyn Observer,
) -> Fit {
    if task.data.columns() <= WIDE {
        run::<SIDE>(task, weights, settings, options, observer)
    } else {
        run::<1>(task, weights, settings, options, observer)
    }
}

/// The same, with R rows side by side, which changes nothing but the time.
pub(super) fn run<const R: usize>(
    task: &Task<'_>,
    weights: Option<&[f64]>,
    settings: &Settings,
    options: &KernelOptions,
    observer: &mut dyn Observer,
) -> Fit {
    let mut learner = Learner::<R>::new(task, weights, settings, options);
    let status = passes(&mut learner, settings, Blocks::of(task.data), MAX_ROWS, observer);
    learner.finish(status, options, observer)
}

struct Learner<'a, const R: usize> {
    task: &'a Task<'a>,
    weights: Option<&'a [f64]>,
    scores: Scores<'a, R>,
    /// How many rows had been seen before each update.
    seen_before: Vec<u64>,
    seen: u64,
    /// √K(x, x) of each row is at most this.
    roots: Vec<f64>,
    extent: Extent,
    ledger: Ledger,
    cursor: Cursor,
    /// How many updates had been made when the pass before this one, and this one, began.
    pass_starts: [usize; 2],
}

impl<'a, const R: usize> Learner<'a, R> {
    fn new(
        task: &'a Task<'a>,
        weights: Option<&'a [f64]>,
        settings: &Settings,
        options: &KernelOptions,
    ) -> Self {
        let bias_input = settings.bias.input();
        let form = Form::new(options.kernel, task.data.columns());
        let (terms, radius) = (task.data.longest_row() + 1, task.extent.radius_upper);
        let complete = matches!(form, Form::Rbf { .. })
            && matches!(task.data.rows(), Rows::Dense { .. })
            && form.rounding_error(terms, radius, false).relative > MAX_PRODUCT_ROUNDING;
        let rounding_error = form.rounding_error(terms, radius, complete);
        let gram = Gram { form, bias_input, support: Support::new(complete) };
        let scores = Scores::new(task.data, gram, options.cache_bytes);
        let (roots, extent) = lengths(form, rounding_error, &scores.squares, bias_input * bias_input);
        Self {
            task,
            weights,
            scores,
            seen_before: Vec::new(),
            seen: 0,
            roots,
            extent,
            ledger: Ledger::new(rounding_error),
            cursor: Cursor::default(),
            pass_starts: [0; 2],
        }
    }

    /// y f(x) of a row that is up to date, and how far from it the exact one can be.
    fn agreement(&self, i: usize) -> (f64, f64) {
        let Standing { score, size, .. } = self.scores.standing(i);
        (f64::from(self.task.signs[i]) * score, self.ledger.score_error(self.roots[i], *size))
    }

    /// A lower bound of the least agreement of the rows, if all are certainly positive.
    fn least_agreement(&mut self, observer: &mut dyn Observer) -> Option<f64> {
        let total = self.task.data.len();
        let (mut least, mut start) = (f64::MAX, 0);
        while start < total {
            let end = (start + self.stride(MAX_ROWS)).min(total);
            self.scores.catch_up(start..end);
            for i in start..end {
                let (agreement, rounding_error) = self.agreement(i);
                let certain = (agreement - rounding_error).next_down();
                if certain <= 0.0 {
                    return None;
                }
                least = least.min(certain);
            }
            start = end;
            let progress = Progress::Judging { rows: end as u64, total: total as u64 };
            if observer.progress(&progress).is_break() {
                return None;
            }
        }
        Some(least)
    }

    /// An upper bound of ‖f‖² = Σ s_t f(x_t), once all scores are up to date.
    fn norm_squared(&self) -> f64 {
        let terms = self.scores.steps.iter().map(|step| {
            let (agreement, rounding_error) = self.agreement(self.scores.origin[step.row as usize] as usize);
            (step.size.abs() * (agreement + rounding_error).next_up()).next_up()
        });
        terms.fold(0.0, |sum: f64, term| (sum + term).next_up()).max(0.0)
    }

    fn finish(mut self, status: Status, options: &KernelOptions, observer: &mut dyn Observer) -> Fit {
        let patient = status != Status::Interrupted;
        let least = if patient { self.least_agreement(observer) } else { None };
        if least.is_some() {
            let squared = self.norm_squared();
            self.ledger.tighten(squared);
        }
        let upper =
            self.ledger.margin_upper().map_or(self.extent.shortest, |upper| upper.min(self.extent.shortest));
        let margin = MarginInterval {
            lower: least.map(|least| quotient_down(least, self.ledger.norm())),
            upper,
            kind: MarginKind::KernelSpace,
        };
        let support = self.scores.gram.support.len() as u64;
        let (epochs, updates, margin_upper) =
            (self.cursor.passes_begun(), self.scores.steps.len() as u64, self.ledger.margin_upper());
        let history = History {
            sequence: self.scores.steps.iter().map(|step| (step.row, step.size)).collect(),
            seen_before: self.seen_before,
            seen: self.seen,
        };
        let machine =
            KernelMachine::new(self.scores.gram, self.task.data.columns(), options.combine, history);
        Fit {
            learned: Learned::Kernel(Box::new(machine)),
            status,
            epochs,
            updates,
            candidates: Vec::new(),
            margin_upper,
            space: Some(Space { extent: self.extent, margin }),
            detail: Some(Detail::Kernel { support }),
        }
    }
}

/// Up to this rounding_error, RBF has its distances from inner products, which pass over zeros; beyond, from differences,
/// where the layout of the rows allows it.
const MAX_PRODUCT_ROUNDING: f64 = 1e-12;

/// √K(x, x) of each row, rounded up, and the extremes.
fn lengths(form: Form, rounding_error: KernelRounding, squares: &[f64], appended: f64) -> (Vec<f64>, Extent) {
    let mut extent = Extent::default();
    let roots = squares
        .iter()
        .map(|square| {
            let (low, high) = match form {
                Form::Rbf { .. } => (1.0, 1.0),
                // A row of zeros has no length at all, and nothing was rounded.
                Form::Linear if square + appended == 0.0 => (0.0, 0.0),
                _ => {
                    let own = rounding_error.of_own(form.own_value(square + appended));
                    (own.low.sqrt().next_down().max(0.0), own.high.sqrt().next_up())
                }
            };
            extent.radius_lower = extent.radius_lower.max(low);
            extent.radius_upper = extent.radius_upper.max(high);
            extent.shortest = extent.shortest.min(high);
            if high > 0.0 {
                extent.shortest_nonzero = extent.shortest_nonzero.min(high);
            }
            high
        })
        .collect();
    (roots, extent)
}

/// How many rows are visited between pauses, when each misses this many updates, of so much work.
pub(super) fn rows_between_pauses(missed: usize, work: usize) -> usize {
    (WORK / missed.saturating_mul(work).max(1)).clamp(1, MAX_ROWS)
}

/// How many slots a run takes, and the bytes of all values that it keeps.
#[cfg(test)]
pub(super) fn kept(task: &Task<'_>, settings: &Settings, options: &KernelOptions) -> (usize, usize) {
    let mut learner = Learner::<SIDE>::new(task, None, settings, options);
    passes(&mut learner, settings, Blocks::of(task.data), MAX_ROWS, &mut ());
    learner.scores.kept()
}

impl<const R: usize> RowLearner for Learner<'_, R> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn stride(&self, usual: usize) -> usize {
        rows_between_pauses(self.scores.steps.len() - self.pass_starts[0], self.scores.value_work())
            .min(usual)
    }

    fn announce(&mut self, rows: impl Iterator<Item = usize>) {
        self.scores.catch_up(rows);
    }

    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let weight = self.weights.map_or(1.0, |weights| weights[i]);
        let sign = self.task.signs[i];
        self.scores.add_few(i);
        let (agreement, rounding_error) = self.agreement(i);
        let seen = self.seen;
        self.seen += 1;
        // A row of weight zero is as good as absent.
        if agreement > rounding_error || weight == 0.0 {
            return false;
        }
        self.ledger.record(agreement, rounding_error, weight, self.roots[i]);
        self.scores.update(i, f64::from(sign) * weight);
        self.seen_before.push(seen);
        observer.update(&Update {
            number: self.scores.steps.len() as u64,
            epoch: self.cursor.epoch + 1,
            position: i as u64,
            row: self.task.data.row(i),
            row_squared: self
                .scores
                .gram
                .form
                .own_value(self.scores.squares[i] + self.scores.gram.bias_input.powi(2)),
            sign,
            agreement,
            theta: None,
            classes: None,
        });
        true
    }

    fn end_pass(&mut self) {
        self.pass_starts = [self.pass_starts[1], self.scores.steps.len()];
    }

    fn updates(&self) -> u64 {
        self.scores.steps.len() as u64
    }

    fn margin_upper(&self) -> Option<f64> {
        self.ledger.margin_upper()
    }
}

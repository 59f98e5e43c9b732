//! What a run proves and shows about its data.

use super::learned::Learned;
use super::run::{Status, Task};
use crate::observe::{Observer, Progress};
use crate::theory::geometry;
use crate::theory::margin::{
    Extent, MarginInterval, MarginKind, least_agreement, lower_bound, quotient_down,
};
use crate::theory::novikoff::{MistakeBound, mistake_bound};
use crate::theta::Theta;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is known at the end of a run. Bounds are rounded outwards, so they hold for the stored data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Rows learned from.
    pub examples: u64,
    /// Features of each row.
    pub features: u64,
    /// Values that are not zero.
    pub nonzeros: u64,
    /// Passes begun.
    pub epochs: u64,
    /// Updates made, k.
    pub updates: u64,
    /// How the run ended.
    pub status: Status,
    /// Share of the rows that the result predicts wrong; unknown for a stream, or if judging was stopped.
    pub training_error: Option<f64>,
    /// Share of the rows of a stream that were predicted wrong before they were learned.
    pub progressive_error: Option<f64>,
    /// Lengths of the rows.
    pub extent: Extent,
    /// What is proved about the best margin γ* of the rows.
    pub margin: MarginInterval,
    /// What Novikoff's theorem makes of it.
    pub mistake_bound: MistakeBound,
    /// The smallest distance from a row to the boundary of the result (‖w‖ only), where it separates all rows.
    pub distance: Option<f64>,
}

impl Evidence {
    /// The interval and its consequences, from the parts.
    #[expect(clippy::too_many_arguments, reason = "each is one measured number of the same record")]
    pub(crate) fn new(
        (examples, features, nonzeros): (u64, u64, u64),
        (epochs, updates, status): (u64, u64, Status),
        training_error: Option<f64>,
        progressive_error: Option<f64>,
        extent: Extent,
        bias_input: f64,
        lower: Option<f64>,
        upper: Option<f64>,
    ) -> Self {
        let upper = upper.map_or(extent.shortest, |upper| upper.min(extent.shortest));
        let kind = if bias_input == 0.0 { MarginKind::ThroughOrigin } else { MarginKind::AppendedBias };
        let margin = MarginInterval { lower, upper, kind };
        let mistake_bound = mistake_bound(&extent, &margin);
        Self {
            examples,
            features,
            nonzeros,
            epochs,
            updates,
            status,
            training_error,
            progressive_error,
            extent,
            margin,
            mistake_bound,
            distance: None,
        }
    }
}

/// How many rows of the task are predicted wrong, or `None` if the observer had no patience for it: counting
/// votes takes time.
pub(crate) fn training_errors(
    task: &Task<'_>,
    learned: &Learned,
    observer: &mut impl Observer,
) -> Option<u64> {
    let wrong = |&i: &usize| (learned.score(task.data.row(i)) >= 0.0) != (task.signs[i] > 0);
    let count = |rows: Range<usize>| rows.into_par_iter().with_min_len(16).filter(wrong).count() as u64;
    let total = task.data.len();
    if let Learned::Linear(_) = learned {
        return Some(count(0..total));
    }
    let mut errors = 0;
    for start in (0..total).step_by(ROWS_BETWEEN_PAUSES) {
        let end = (start + ROWS_BETWEEN_PAUSES).min(total);
        errors += count(start..end);
        if observer.progress(&Progress::Judging { rows: end as u64, total: total as u64 }).is_break() {
            return None;
        }
    }
    Some(errors)
}

/// Rows that are judged by votes before the observer is heard.
const ROWS_BETWEEN_PAUSES: usize = 256;

/// The best certified lower bound of γ* among the given weights.
pub(crate) fn best_lower_bound<'a>(
    task: &Task<'_>,
    candidates: impl Iterator<Item = &'a Theta>,
) -> Option<f64> {
    candidates.filter_map(|theta| lower_bound(task.data, &task.signs, theta)).reduce(f64::max)
}

/// The smallest distance (B3) from a row to the boundary of `theta`, if it separates all rows.
pub(crate) fn least_distance(task: &Task<'_>, theta: &Theta) -> Option<f64> {
    let least = least_agreement(task.data, &task.signs, theta)?;
    (geometry::weight_norm(theta) > 0.0).then(|| quotient_down(least, theta.weight_norm().high))
}

//! Logistic regression for several weights of the loss on the same rows, each started from the one before.

use super::{Limits, Rows, problem_of, solve};
use crate::Error;
use crate::classes::Classes;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::Extent;
use crate::theta::Theta;
use crate::train::engine::one_against_rest::{Present, present};
use crate::train::engine::run::{Status, Task, check_lengths};
use crate::train::engine::weights::row_weights;
use crate::train::learners::logistic::LogisticOptions;
use crate::train::settings::Settings;
use std::time::Instant;

/// The classes that the weights of a path tell apart, and the weights for each C: of the second of two classes, or of each
/// of more.
pub(crate) struct Path {
    pub(crate) classes: Classes,
    /// As many as were asked for, unless the observer stopped it.
    pub(crate) thetas: Vec<Vec<Theta>>,
}

/// Learns with each of these weights of the loss, which go up: where the penalty weighs less, the weights of before are near.
/// `options` say all else.
pub(crate) fn logistic_path(
    data: &Dataset,
    settings: &Settings,
    options: &LogisticOptions,
    prices: &[f64],
    observer: &mut dyn Observer,
) -> Result<Path, Error> {
    if settings.positive.is_some() || data.class_counts().iter().filter(|&&count| count > 0).count() == 2 {
        let task = Task::new(data, settings)?;
        let labels: Vec<u32> = task.signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let weights = task.weights.as_deref();
        let rows = Rows { data, labels: &labels, classes: 2, weights, extent: task.extent };
        let thetas = along(&rows, settings, options, prices, observer);
        return Ok(Path { classes: Classes::Pair(task.classes), thetas });
    }
    let Present { names, places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let weights = row_weights(settings, data, &places)?;
    let rows = Rows { data, labels: &labels, classes: names.len(), weights: weights.as_deref(), extent };
    let thetas = along(&rows, settings, options, prices, observer);
    Ok(Path { classes: Classes::Each { names }, thetas })
}

fn along(
    rows: &Rows<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    prices: &[f64],
    observer: &mut dyn Observer,
) -> Vec<Vec<Theta>> {
    let mut start = None;
    let mut thetas = Vec::new();
    for &c in prices {
        let problem = problem_of(rows, settings, &LogisticOptions { c, ..*options });
        let length = rows.data.len() as u64;
        let mut limits =
            Limits { settings, clock: Instant::now(), observer: &mut *observer, steps: 0, rows: length };
        let from = start.take().unwrap_or_else(|| problem.zero());
        let found = solve(&problem, from, options.gap, rows.extent.radius_upper, &mut limits);
        if found.status == Status::Interrupted {
            break;
        }
        start = Some(found.point.clone());
        thetas.push(found.solution(&problem, settings).thetas);
    }
    thetas
}

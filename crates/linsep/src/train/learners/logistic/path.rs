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
use std::ops::ControlFlow;
use std::time::Instant;

/// Takes the weights for one C, of the second of two classes or of each of more, and says whether to go on.
pub(crate) type Each<'a> = dyn FnMut(&[Theta], &Classes) -> ControlFlow<()> + 'a;

/// Learns with each of these weights of the loss, which go up: where the penalty weighs less, the weights of before are near.
/// `options` say all else. Gives whether the observer stopped it.
pub(crate) fn logistic_path(
    data: &Dataset,
    settings: &Settings,
    options: &LogisticOptions,
    prices: &[f64],
    observer: &mut dyn Observer,
    each: &mut Each<'_>,
) -> Result<bool, Error> {
    if settings.positive.is_some() || data.classes().len() == 2 {
        let task = Task::new(data, settings)?;
        let labels: Vec<u32> = task.signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let weights = task.weights.as_deref();
        let rows = Rows { data, labels: &labels, classes: 2, weights, extent: task.extent };
        let classes = Classes::Pair(task.classes.clone());
        return Ok(along(&rows, settings, options, prices, observer, &mut |thetas| each(thetas, &classes)));
    }
    let Present { names, places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let weights = row_weights(settings, data, &places)?;
    let rows = Rows { data, labels: &labels, classes: names.len(), weights: weights.as_deref(), extent };
    let classes = Classes::Each { names };
    Ok(along(&rows, settings, options, prices, observer, &mut |thetas| each(thetas, &classes)))
}

fn along(
    rows: &Rows<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    prices: &[f64],
    observer: &mut dyn Observer,
    each: &mut dyn FnMut(&[Theta]) -> ControlFlow<()>,
) -> bool {
    let mut start = None;
    for &c in prices {
        let problem = problem_of(rows, settings, &LogisticOptions { c, ..*options });
        let length = rows.data.len() as u64;
        let mut limits =
            Limits { settings, clock: Instant::now(), observer: &mut *observer, steps: 0, rows: length };
        let from = start.take().unwrap_or_else(|| problem.zero());
        let found = solve(&problem, from, options.gap, rows.extent.radius_upper, &mut limits);
        if found.status == Status::Interrupted {
            return true;
        }
        start = Some(found.point.clone());
        if each(&found.solution(&problem, settings).thetas).is_break() {
            break;
        }
    }
    false
}

//! Logistic regression for several weights of the loss on the same rows, each started from the one before.

use super::problem::Pause;
use super::{Limits, Rows, problem_of, refuse_hopeless, solve};
use crate::Error;
use crate::classes::Classes;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::Extent;
use crate::theta::Theta;
use crate::train::engine::cost_limit::refuse_excessive_cost;
use crate::train::engine::one_against_rest::{Present, present};
use crate::train::engine::run::{Status, Task, check_lengths};
use crate::train::engine::weights::row_weights;
use crate::train::learners::logistic::LogisticOptions;
use crate::train::settings::Settings;
use std::ops::ControlFlow;
use std::time::Instant;

/// Takes one C and its weights, of the second of two classes or of each of more, and says whether to go on.
pub(crate) type Each<'a> = dyn FnMut(f64, &[Theta], &Classes) -> ControlFlow<()> + 'a;

/// Which weights of the loss a path goes through, upwards.
pub(crate) enum CValues<'a> {
    /// These.
    Given(&'a [f64]),
    /// So many in equal ratios, from where the first weight leaves zero (without a penalty on ‖w‖₁: from C/10,000) up to C.
    UpToC(usize),
}

/// Learns with each of these weights of the loss: where the penalty weighs less, the weights of before are near. `options`
/// say all else. Gives whether the observer stopped it.
pub(crate) fn logistic_path(
    data: &Dataset,
    settings: &Settings,
    options: &LogisticOptions,
    c_values: CValues<'_>,
    observer: &mut dyn Observer,
    each: &mut Each<'_>,
) -> Result<bool, Error> {
    if settings.positive.is_some() || data.classes().len() == 2 {
        let task = Task::new(data, settings)?;
        let labels: Vec<u32> = task.signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let weights = task.weights.as_deref();
        let rows = Rows { data, labels: &labels, classes: 2, weights, extent: task.extent };
        let classes = Classes::Pair(task.classes.clone());
        return along(&rows, settings, options, c_values, observer, &mut |c, thetas| {
            each(c, thetas, &classes)
        });
    }
    refuse_excessive_cost(data, settings)?;
    let Present { names, places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let weights = row_weights(settings, data, &places)?;
    let rows = Rows { data, labels: &labels, classes: names.len(), weights: weights.as_deref(), extent };
    let classes = Classes::Each { names };
    along(&rows, settings, options, c_values, observer, &mut |c, thetas| each(c, thetas, &classes))
}

fn along(
    rows: &Rows<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    c_values: CValues<'_>,
    observer: &mut dyn Observer,
    each: &mut dyn FnMut(f64, &[Theta]) -> ControlFlow<()>,
) -> Result<bool, Error> {
    refuse_hopeless(rows, options)?;
    let c_values = match c_values {
        CValues::Given(c_values) => c_values.to_vec(),
        CValues::UpToC(count) => {
            let mut limits = Limits::new(rows, settings, Instant::now(), &mut *observer);
            match smallest_useful_c(rows, settings, options, &mut || limits.patient_pause()) {
                ControlFlow::Continue(first) => up_to(options.c, first, count),
                ControlFlow::Break(_) => return Ok(true),
            }
        }
    };
    let mut start = None;
    for c in c_values {
        let problem = problem_of(rows, settings, &LogisticOptions { c, ..*options });
        let mut limits = Limits::new(rows, settings, Instant::now(), &mut *observer);
        let from = start.take().unwrap_or_else(|| problem.zero());
        let found = match solve(&problem, from, options.gap, rows.extent.radius_upper, &mut limits) {
            Ok(found) if found.status == Status::Interrupted => return Ok(true),
            Err(Error::Interrupted) => return Ok(true),
            found => found?,
        };
        start = Some(found.point.clone());
        if each(c, &found.solution(&problem, settings).thetas).is_break() {
            break;
        }
    }
    Ok(false)
}

/// So many numbers in equal ratios from `least` to `c`.
fn up_to(c: f64, least: f64, count: usize) -> Vec<f64> {
    if least >= c || count < 2 {
        return vec![c];
    }
    let step = (c / least).ln() / (count - 1) as f64;
    // The last is C itself, not C but for rounding.
    (0..count - 1).map(|k| least * (step * k as f64).exp()).chain([c]).collect()
}

/// The largest C for which all weights are zero: there the slope of the loss, C·|g|, is nowhere above the weight of ‖w‖₁.
fn smallest_useful_c(
    rows: &Rows<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    pause: &mut Pause<'_>,
) -> ControlFlow<Status, f64> {
    let problem = problem_of(rows, settings, &LogisticOptions { c: 1.0, ..*options });
    let usual = options.c / 1e4;
    if problem.penalty.absolute <= 0.0 {
        return ControlFlow::Continue(usual);
    }
    let mut point = problem.zero();
    if problem.has_intercept {
        // Without weights, the intercepts that give each class its share are the best.
        let mut shares = vec![0.0; rows.classes];
        rows.labels
            .iter()
            .zip(&problem.loss_weights)
            .for_each(|(&label, weight)| shares[label as usize] += weight);
        let logs = shares.iter().map(|share| share.ln());
        match &mut point.intercepts[..] {
            [one] => *one = (shares[1] / shares[0]).ln(),
            each => each.iter_mut().zip(logs).for_each(|(intercept, log)| *intercept = log),
        }
    }
    let probabilities = problem.probabilities(&problem.scores(&point, pause)?, pause)?;
    let slopes = problem.combine(&problem.residuals(&probabilities, pause)?, pause)?;
    let steepest = slopes.weights.iter().fold(0.0f64, |most, slope| most.max(slope.abs()));
    let c = problem.penalty.absolute / steepest;
    ControlFlow::Continue(if c.is_finite() && c > 0.0 { c } else { usual })
}

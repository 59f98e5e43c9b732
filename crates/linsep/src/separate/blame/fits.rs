//! Boundaries that are wrong on few rows, as learners find them: support vector machines, logistic regression, a perceptron.

use super::super::Examples;
use super::super::cholesky::Symmetric;
use super::super::coordinate_descent::CoordinateDescent;
use super::Meter;
use super::ground::Ground;
use crate::linalg::dot_dense;
use crate::random::{Random, Stream};
use rayon::prelude::*;
use std::time::Instant;

/// Passes of descent for one support vector machine.
const PASSES: usize = 60;
/// C, the weight of its losses, for columns of unit size.
const C_GRID: [f64; 8] = [1e-3, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4];
/// Logistic regression is for at most so many coordinates, and so many entries.
const MAX_COORDINATES: usize = 512;
const MAX_ENTRIES: usize = 1 << 23;

/// The cost of the kinds that these weights have wrong, in floating-point arithmetic.
pub(super) fn errors(ground: &Ground<'_>, examples: &Examples<'_>, w: &[f64]) -> u64 {
    let cost = |kind: usize| if examples.dot(kind, w) > 0.0 { 0 } else { ground.costs[kind] };
    (0..ground.len()).into_par_iter().with_min_len(1024).map(cost).sum()
}

/// Soft-margin boundaries, from a large margin to few losses. A kind counts as often as it costs.
pub(super) fn support_vector_machines(
    ground: &Ground<'_>,
    seed: u64,
    meter: &mut Meter<'_, '_>,
) -> Vec<Vec<f64>> {
    let examples = ground.scaled();
    let mean = ground.costs.iter().sum::<u64>() as f64 / ground.len() as f64;
    let coordinates = ground.size() as f64 / ground.len() as f64;
    let all: Vec<usize> = (0..ground.len()).collect();
    let mut found = Vec::new();
    let end = meter.end();
    for grid in C_GRID.chunks(2) {
        let fit = |c: &f64| {
            let loss_weights = ground.costs.iter().map(|&cost| c / coordinates * (cost as f64 / mean));
            let mut descent =
                CoordinateDescent::new(&examples, &all, &[], seed).with_loss_weights(loss_weights.collect());
            passes(&mut descent, PASSES, end);
            descent.weights()
        };
        found.extend(grid.par_iter().map(fit).collect::<Vec<_>>());
        meter.spend(2 * (PASSES as u64) * ground.size());
        if meter.is_over() {
            break;
        }
    }
    found
}

/// So many passes of descent; fewer if the time limit was reached.
fn passes(descent: &mut CoordinateDescent<'_>, count: usize, end: Option<Instant>) {
    for _ in 0..count {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        descent.pass();
    }
}

/// Losses that weigh less the larger they were the time before: they gather on few rows.
pub(super) fn reweighted(
    ground: &Ground<'_>,
    start: &[f64],
    seed: u64,
    meter: &mut Meter<'_, '_>,
) -> Vec<Vec<f64>> {
    const ROUNDS: usize = 8;
    let examples = ground.scaled();
    let all: Vec<usize> = (0..ground.len()).collect();
    let mean = ground.costs.iter().sum::<u64>() as f64 / ground.len() as f64;
    let mut w = start.to_vec();
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        if meter.is_over() {
            break;
        }
        // In units of the median agreement, so that the length of w does not matter.
        let agreements: Vec<f64> = all.iter().map(|&kind| examples.dot(kind, &w)).collect();
        let mut sizes: Vec<f64> = agreements.iter().map(|agreement| agreement.abs()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let unit = sizes[sizes.len() / 2].max(f64::MIN_POSITIVE);
        let c = 10.0 * (1.0 + round as f64);
        let weight = |(agreement, &cost): (&f64, &u64)| {
            let loss = (0.1 - agreement / unit).max(0.0);
            c * (cost as f64 / mean) / (1.0 + 10.0 * loss)
        };
        let loss_weights = agreements.iter().zip(&ground.costs).map(weight).collect();
        let mut descent = CoordinateDescent::new(&examples, &all, &[], seed).with_loss_weights(loss_weights);
        passes(&mut descent, PASSES / 2, meter.end());
        w = descent.weights();
        found.push(w.clone());
        meter.spend(PASSES as u64 / 2 * ground.size());
    }
    found
}

/// Ridge-penalised logistic regressions by Newton's method, from a strong penalty to a weak one.
pub(super) fn logistic_regressions(ground: &Ground<'_>, meter: &mut Meter<'_, '_>) -> Vec<Vec<f64>> {
    const STEPS: usize = 8;
    let examples = ground.scaled();
    let (count, width) = (ground.len(), examples.dimension());
    if width > MAX_COORDINATES || count * width > MAX_ENTRIES {
        return Vec::new();
    }
    let mut columns = vec![vec![0.0; count]; width];
    (0..count).for_each(|kind| {
        examples.entries(kind).for_each(|(column, value)| columns[column][kind] = value);
    });
    let total = ground.costs.iter().sum::<u64>().max(1) as f64;
    let share: Vec<f64> = ground.costs.iter().map(|&cost| cost as f64 / total).collect();
    let mut w = vec![0.0; width];
    let mut found = Vec::new();
    for penalty in [0.1, 1e-2, 1e-3, 1e-5] {
        for _ in 0..STEPS {
            let agreements: Vec<f64> =
                (0..count).into_par_iter().with_min_len(1024).map(|kind| examples.dot(kind, &w)).collect();
            let loss = |a: f64| 1.0 / (1.0 + libm::exp(a));
            let slopes: Vec<f64> = agreements.iter().zip(&share).map(|(&a, s)| s * loss(a)).collect();
            let curvatures: Vec<f64> =
                agreements.iter().zip(&share).map(|(&a, s)| s * loss(a) * (1.0 - loss(a))).collect();
            let weighted: Vec<Vec<f64>> = columns
                .iter()
                .map(|column| column.iter().zip(&curvatures).map(|(x, c)| x * c).collect())
                .collect();
            let entry = |i: usize, j: usize| dot_dense(&weighted[i], &columns[j]);
            let hessian = Symmetric::new(width, entry, &mut || false);
            let mut step: Vec<f64> =
                columns.iter().zip(&w).map(|(column, w)| dot_dense(column, &slopes) - penalty * w).collect();
            let Some(factor) = hessian.and_then(|hessian| hessian.factor(penalty, &mut || false)) else {
                break;
            };
            factor.solve(&mut step);
            // Where curvatures vanish a whole step could be too long.
            let length = dot_dense(&step, &step).sqrt();
            let limit = (10.0 / length).min(1.0);
            w.iter_mut().zip(&step).for_each(|(w, step)| *w += limit * step);
            meter.spend((count * width * width / 2 + 4 * count * width) as u64);
            if meter.is_over() || length < 1e-6 {
                break;
            }
        }
        found.push(w.clone());
        if meter.is_over() {
            break;
        }
    }
    found
}

/// A perceptron in its pocket version, pass by pass, and the average of all its weights.
pub(super) fn perceptrons(ground: &Ground<'_>, seed: u64, meter: &mut Meter<'_, '_>) -> Vec<Vec<f64>> {
    const EPOCHS: usize = 20;
    let examples = ground.scaled();
    let columns = examples.data().columns();
    let mut random = Random::of(seed, Stream::Blame);
    let mut order: Vec<usize> = (0..ground.len()).collect();
    let (mut w, mut sum) = (vec![0.0; examples.dimension()], vec![0.0; examples.dimension()]);
    let mut pocket: Option<(u64, Vec<f64>)> = None;
    for _ in 0..EPOCHS {
        random.shuffle(&mut order);
        for &kind in &order {
            if examples.dot(kind, &w) <= 0.0 {
                let sign = f64::from(examples.signs()[kind]);
                examples.data().row(kind).add_to(sign, &mut w[..columns]);
                if let Some(bias) = w.get_mut(columns) {
                    *bias += sign;
                }
            }
        }
        sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += w);
        let wrong = errors(ground, &examples, &w);
        if pocket.as_ref().is_none_or(|(fewest, _)| wrong < *fewest) {
            pocket = Some((wrong, w.clone()));
        }
        meter.spend(3 * ground.size());
        if meter.is_over() {
            break;
        }
    }
    pocket.into_iter().map(|(_, w)| w).chain([sum]).collect()
}

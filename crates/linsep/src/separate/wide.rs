//! Data with many features: contradictions, peeling and dual coordinate descent decide nearly all of it, without a matrix.

use super::agreements::{Agreements, positive_agreements};
use super::budget::Budget;
use super::decide::Found;
use super::descent::Descent;
use super::examples::Examples;
use super::faces::{Faces, Side};
use super::margin_interval::Bounds;
use super::nearest::Space;
use super::number::ExactVector;
use super::peel::{Peeled, peel};
use linsep_check::Bias;

/// Passes of a descent before its heaviest rows are looked at exactly, then twice as many, and so on.
const PATIENCE: u64 = 64;
/// The most passes of a descent.
const MOST_PASSES: u64 = 4096;
/// The most rows that are looked at exactly.
const HEAVIEST: usize = 400;

/// Decides the rows, given those that contradict each other by themselves.
pub(super) fn decide<'a>(
    space: &Space<'a>,
    mut faces: Faces<'a>,
    rows: &[usize],
    budget: &mut Budget<'_>,
) -> (Faces<'a>, Found) {
    let examples = space.examples;
    budget.begin("peeling");
    loop {
        let (boundary, outside) = faces.split(rows);
        if outside.is_empty() {
            return (faces, Found::Overlap);
        }
        let peeled = peel(examples, &outside, &boundary);
        let mut descent = Descent::new(examples, &peeled.core, &faces.basis, space.seed);
        budget.begin("descent");
        let (mut limit, mut last_upper) = (PATIENCE, f64::INFINITY);
        let mut passes = 0;
        let grown = loop {
            if (passes > 0 || peeled.core.is_empty()) && descent.separates() {
                let pairs = descent.weights().into_iter().map(|x| [x, 0.0]).collect();
                if let Some((w, agreements)) = lifted(space, &faces, &peeled, &outside, pairs) {
                    let support = simplex(examples, &descent.support());
                    return (faces, Found::Positive { boundary, w, agreements, support });
                }
            }
            if budget.is_over() || passes >= MOST_PASSES {
                let reason = match budget.is_over() {
                    true => budget.reason(),
                    false => not_shown(),
                };
                budget.support = simplex(examples, &descent.support());
                return (faces, Found::Undecided(reason));
            }
            descent.pass();
            passes += 1;
            budget.passes += 1;
            if passes == limit {
                limit *= 2;
                // Where the rows cannot be separated, λ grows without end on rows that show it, and the upper bound
                // falls towards zero; otherwise it settles, and only a few rows are worth a look.
                let (_, upper) = descent.interval();
                let falls = upper <= 0.75 * std::mem::replace(&mut last_upper, upper);
                let few = match peeled.core.len() {
                    0..=HEAVIEST => peeled.core.clone(),
                    _ if falls => descent.heaviest(HEAVIEST),
                    _ => continue,
                };
                match faces.locate(space, &few, &[], budget) {
                    Some(Side::Meets { support, free }) => break (support, free),
                    Some(Side::Positive { w, support, .. }) => {
                        // Where rows can be separated, but barely, what separates the heaviest may separate all.
                        if let Some((w, agreements)) = lifted(space, &faces, &peeled, &outside, w.to_parts())
                        {
                            let support: Vec<(usize, f64)> =
                                support.into_iter().map(|(row, [share, _])| (row, share)).collect();
                            let support = simplex(examples, &support);
                            return (faces, Found::Positive { boundary, w, agreements, support });
                        }
                    }
                    None => {}
                }
                budget.begin("descent");
            }
        };
        let (support, free) = grown;
        faces.add_circuit(support, free);
    }
}

/// Why there is no verdict although no limit was reached.
fn not_shown() -> String {
    format!("{MOST_PASSES} passes of descent did not decide it")
}

/// Weights that should be right on the core, made right on all rows outside L and zero on L, exactly; none if that
/// fails.
fn lifted(
    space: &Space<'_>,
    faces: &Faces<'_>,
    peeled: &Peeled,
    outside: &[usize],
    mut w: Vec<[f64; 2]>,
) -> Option<(ExactVector, Agreements)> {
    let mut rounded: Vec<f64> = w.iter().map(|parts| parts[0]).collect();
    if !peeled.lift(space.examples, &mut rounded) {
        return None;
    }
    for (parts, lifted) in w.iter_mut().zip(rounded) {
        if parts[0] != lifted {
            *parts = [lifted, 0.0];
        }
    }
    let w = faces.vanishing(&w);
    let agreements = positive_agreements(space.examples, outside, &w, space.radius).ok()?;
    Some((w, agreements))
}

/// Narrows the margin of separable rows by further passes.
pub(super) fn narrow(
    space: &Space<'_>,
    rows: &[usize],
    bounds: &mut Bounds,
    gap: f64,
    most_passes: u64,
    budget: &mut Budget<'_>,
) {
    let examples = space.examples;
    // A bias that is free is one whose weight costs next to nothing: a large appended coordinate.
    const NEARLY_FREE: f64 = 16.0;
    let bias = match examples.bias() {
        Bias::Free => Bias::Append(NEARLY_FREE * space.radius),
        bias => bias,
    };
    let near = Examples::with_signs(examples.data(), examples.signs().to_vec(), bias);
    let mut descent = Descent::new(&near, rows, &[], space.seed);
    budget.begin("margin");
    // Exact bounds cost more than a pass: they are taken of the best that floating-point numbers saw.
    let (mut best_weights, mut best_support) = ((bounds.lower, None), (bounds.upper, None));
    for pass in 1..=most_passes {
        descent.pass();
        budget.passes += 1;
        let is_last = pass == most_passes || budget.is_over();
        // Looking costs a pass: rarely enough not to matter.
        if !(is_last || pass.is_power_of_two() || pass % 16 == 0) {
            continue;
        }
        let (lower, upper) = descent.interval();
        if lower > best_weights.0 {
            best_weights = (lower, Some(descent.weights()));
        }
        if upper < best_support.0 {
            best_support = (upper, Some(descent.support()));
        }
        (budget.lower, budget.upper) = (Some(best_weights.0), Some(best_support.0));
        if is_last || best_support.0 - best_weights.0 <= 0.9 * gap * best_support.0 {
            if let Some(support) = best_support.1.take() {
                bounds.offer_combination(examples, &simplex(examples, &support));
            }
            if let Some(mut w) = best_weights.1.take() {
                if examples.bias() == Bias::Free
                    && let Some(bias) = w.last_mut()
                {
                    *bias *= near.bias_input();
                }
                bounds.offer_weights(examples, rows, ExactVector::from_f64(&w), space.radius);
            }
            if is_last || bounds.is_within(gap) {
                return;
            }
        }
    }
}

/// Coefficients that sum to 1, for a free bias on each side.
fn simplex(examples: &Examples<'_>, support: &[(usize, f64)]) -> Vec<(usize, [f64; 2])> {
    let side = |row: usize| usize::from(examples.bias() == Bias::Free && examples.signs()[row] < 0);
    let mut totals = [0.0; 2];
    support.iter().for_each(|&(row, lambda)| totals[side(row)] += lambda);
    support.iter().map(|&(row, lambda)| (row, [lambda / totals[side(row)], 0.0])).collect()
}

#[cfg(test)]
mod tests;

//! Exact signs and the exact least of ⟨w, z_i⟩: a floating-point filter settles nearly all rows at the speed of memory,
//! whole numbers the rest.

use super::examples::Examples;
use super::number::{Exact, ExactVector};
use crate::kernel::rounding_doubt;
use rayon::prelude::*;
use std::cmp::Ordering;

/// What is known of positive agreements.
#[derive(Clone, Debug)]
pub(super) struct Agreements {
    /// The least ⟨w, z_i⟩, exactly.
    pub(super) least: Exact,
    /// The rows with the smallest agreements, smallest first (exact for the least, rounded for the others).
    pub(super) closest: Vec<(usize, f64)>,
}

/// How many closest rows are kept.
const CLOSEST: usize = 20;

/// Whether ⟨w, z_i⟩ > 0 for all these rows, or else a row where it is not.
pub(super) fn positive_agreements(
    examples: &Examples<'_>,
    rows: &[usize],
    w: &ExactVector,
    radius: f64,
) -> Result<Agreements, usize> {
    let (rounded, is_faithful) = w.rounded();
    let norm = crate::kernel::norm_squared(&rounded).sqrt();
    // Outside these bounds products may overflow or vanish: then every row is looked at exactly.
    let doubt = if is_faithful && (1e-140..=1e140).contains(&radius) {
        4.0 * rounding_doubt(examples.dimension(), norm * radius)
    } else {
        f64::INFINITY
    };
    let float: Vec<f64> = if doubt.is_finite() {
        rows.par_iter().with_min_len(1024).map(|&i| examples.dot(i, &rounded)).collect()
    } else {
        Vec::new()
    };
    if let Some(wrong) = float.iter().position(|&a| a < -doubt) {
        return Err(rows[wrong]);
    }
    let least = float.iter().copied().fold(f64::INFINITY, f64::min);
    // Rows whose sign is in doubt, and rows that may have the least agreement.
    let limit = if doubt.is_finite() { doubt.max(least + 2.0 * doubt) } else { f64::INFINITY };
    let close: Vec<usize> = (0..rows.len()).filter(|&k| float.get(k).is_none_or(|&a| a <= limit)).collect();
    let exact: Vec<Exact> = close.par_iter().with_min_len(16).map(|&k| w.dot(examples, rows[k])).collect();
    let mut best: Option<usize> = None;
    for (k, agreement) in exact.iter().enumerate() {
        if agreement.sign() != Ordering::Greater {
            return Err(rows[close[k]]);
        }
        if best.is_none_or(|best| agreement.compare(&exact[best]) == Ordering::Less) {
            best = Some(k);
        }
    }
    let Some(best) = best else { return Err(usize::MAX) };
    let scale = w_scale(w);
    let closest = if doubt.is_finite() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let count = CLOSEST.min(order.len());
        let by_agreement = |a: &usize, b: &usize| float[*a].total_cmp(&float[*b]).then(a.cmp(b));
        if count < order.len() {
            order.select_nth_unstable_by(count, by_agreement);
            order.truncate(count);
        }
        let mut closest: Vec<(usize, f64)> = order
            .into_iter()
            .map(|k| match close.binary_search(&k) {
                Ok(known) => (rows[k], exact[known].times(&scale).approximate()),
                Err(_) => (rows[k], float[k]),
            })
            .collect();
        closest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        closest
    } else {
        // Floats may not tell such sizes apart.
        let mut order: Vec<usize> = (0..exact.len()).collect();
        order.sort_by(|&a, &b| exact[a].compare(&exact[b]).then(a.cmp(&b)));
        order.truncate(CLOSEST);
        order.into_iter().map(|k| (rows[k], exact[k].times(&scale).approximate())).collect()
    };
    Ok(Agreements { least: exact[best].clone(), closest })
}

/// The power of two by which [`ExactVector::rounded`] multiplies.
fn w_scale(w: &ExactVector) -> Exact {
    let longest = w.values.iter().map(super::number::magnitude_bits).max().unwrap_or(0) as i64;
    Exact::new(1.into(), 1 - longest - w.exponent)
}

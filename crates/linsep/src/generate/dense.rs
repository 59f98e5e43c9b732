//! The kinds of synthetic data with dense rows. Each function appends one row and tells whether its label is 1.

use crate::random::{Random, Stream};

pub(super) fn square(random: &mut Random, values: &mut Vec<f64>) -> bool {
    loop {
        // Multiples of 2⁻⁵²: nothing is rounded.
        let (x1, x2) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
        if x1 != x2 {
            values.extend([x1, x2]);
            return x2 > x1;
        }
    }
}

pub(super) fn xor(random: &mut Random, noise: f64, values: &mut Vec<f64>) -> bool {
    let corner = random.below(4);
    let (first, second) = (corner & 1 == 1, corner & 2 == 2);
    for positive in [first, second] {
        let centre = if positive { 1.0 } else { -1.0 };
        values.push(centre + noise * random.normal());
    }
    first == second
}

pub(super) fn random_labels(random: &mut Random, features: u32, values: &mut Vec<f64>) -> bool {
    let positive = random.next_u64() >> 63 == 1;
    let mut left = features as usize;
    while left > 0 {
        let bits = random.next_u64();
        let count = left.min(64);
        values.extend((0..count).map(|k| if (bits >> k) & 1 == 1 { 1.0 } else { -1.0 }));
        left -= count;
    }
    positive
}

/// A random direction: a vector of norm 1, up to rounding.
pub(super) fn random_normal(features: u32, seed: u64) -> Vec<f64> {
    let mut random = Random::of(seed, Stream::MadeShared);
    loop {
        let mut normal: Vec<f64> = (0..features).map(|_| random.normal()).collect();
        let norm = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            normal.iter_mut().for_each(|x| *x /= norm);
            return normal;
        }
    }
}

pub(super) fn blobs(
    random: &mut Random,
    normal: &[f64],
    margin: f64,
    spread: f64,
    values: &mut Vec<f64>,
) -> bool {
    let positive = random.next_u64() >> 63 == 1;
    let sign = if positive { 1.0 } else { -1.0 };
    let wanted = sign * (margin + spread * random.normal().abs());
    values.extend(normal.iter().map(|_| spread * random.normal()));
    let along: f64 = values.iter().zip(normal).map(|(x, u)| x * u).sum();
    move_along(values, normal, wanted - along);

    // Every rounding on the way is below this share of Σ|uᵢxᵢ|, or of the margin for ‖u‖: a sum of d products
    // errs by at most about d·ε/2 of the sum of their sizes, and the norm of u by about (d/2 + 2)·ε.
    let share = (normal.len() as f64 + 8.0) * f64::EPSILON;
    let needed = margin * (1.0 + share);
    let mut push = 0.0;
    loop {
        let (mut agreement, mut size) = (0.0, 0.0);
        for (x, u) in values.iter().zip(normal) {
            agreement += sign * x * u;
            size += (x * u).abs();
        }
        let proved = agreement - share * size;
        if proved >= needed {
            return positive;
        }
        // A push so small that it rounds away doubles until it does not.
        push = (needed - proved).max(2.0 * push);
        move_along(values, normal, sign * push);
    }
}

fn move_along(values: &mut [f64], normal: &[f64], step: f64) {
    values.iter_mut().zip(normal).for_each(|(x, u)| *x += step * u);
}

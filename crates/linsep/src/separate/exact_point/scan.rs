//! The search for a row that is nearer to the origin than the present point: in floats where they settle it, else exactly.

use super::super::integer::shifted;
use super::super::modular::parts;
use super::corral::Nearest;
use super::{Hull, Points};
use crate::linalg::rounding_error_bound;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, Sign};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::HashSet;

/// mantissa · 2^exponent, off by at most one smallest subnormal; infinite if too large.
fn scaled(mantissa: f64, exponent: i64) -> f64 {
    let (first, second) = halves(exponent);
    mantissa * first * second
}

/// Two floats with the product 2^exponent, or as near as |exponent| ≤ 2000 is.
fn halves(exponent: i64) -> (f64, f64) {
    let exponent = exponent.clamp(-2000, 2000) as i32;
    (2f64.powi(exponent / 2), 2f64.powi(exponent - exponent / 2))
}

/// A whole number as m · 2ᵉ with m from 1/2 up to 1 in magnitude, off by less than 2⁻⁵² of itself.
fn leading(value: &IBig) -> (f64, i64) {
    let bits = value.bit_len();
    let kept = bits.min(64);
    // Arithmetic shifts of negative numbers round down; the first 64 bits are enough either way.
    let head: IBig = value >> (bits - kept);
    let (sign, words) = head.as_sign_words();
    let head = words.iter().rev().fold(0.0, |high, &word| high * 2f64.powi(64) + word as f64);
    let mantissa = scaled(head, -(kept as i64));
    (if sign == Sign::Negative { -mantissa } else { mantissa }, bits as i64)
}

/// The search for a candidate with ⟨w, p⟩ below the level of its side.
pub(super) struct Scan<'a> {
    points: Points<'a>,
    nearest: &'a Nearest,
    /// weights · 2^−shift, rounded: at most 1.
    rounded: Vec<f64>,
    /// The levels of the sides, times 2^−shift: m · 2ᵉ.
    levels: Vec<(f64, i64)>,
}

pub(super) enum Search {
    Found(usize),
    Nothing,
    Stopped,
}

impl<'a> Scan<'a> {
    pub(super) fn new(points: Points<'a>, nearest: &'a Nearest) -> Self {
        let shift = nearest.weights.iter().map(BitTest::bit_len).max().unwrap_or(0) as i64;
        let round = |value: &IBig| {
            let (mantissa, exponent) = leading(value);
            scaled(mantissa, exponent - shift)
        };
        let levels = nearest.levels.iter().map(|level| {
            let (mantissa, exponent) = leading(level);
            (mantissa, exponent + nearest.height - shift)
        });
        Self {
            points,
            nearest,
            rounded: nearest.weights.iter().map(round).collect(),
            levels: levels.collect(),
        }
    }

    /// ⟨w, p⟩ less the level of its side, up to a positive factor, and by how much that may be off.
    fn gap(&self, i: usize) -> (f64, f64) {
        // With its largest entry near 1 the row can neither overflow nor lose by underflow what matters.
        let largest = self.points.entries(i).fold(0.0, |most: f64, (_, value)| most.max(value.abs()));
        let (mantissa, low) = parts(largest);
        let top = low + i64::from(64 - mantissa.leading_zeros());
        let (first, second) = halves(-top);
        let (mut sum, mut size, mut terms) = (0.0, 0.0, 0);
        for (column, value) in self.points.entries(i) {
            let term = value * first * second * self.rounded[column];
            sum += term;
            size += term.abs();
            terms += 1;
        }
        let (mantissa, exponent) = self.levels[self.points.side(i)];
        let lowered = if self.points.hull == Hull::Directions { 0 } else { top };
        let level = scaled(mantissa, exponent - lowered);
        let gap = sum - level;
        // Underflow: at most once each in the weight, in the row (twice) and in the product, and in the level.
        let rounding_error =
            rounding_error_bound(4 * terms + 16, size) + 4.0 * f64::EPSILON * (level.abs() + gap.abs());
        (gap, rounding_error)
    }

    /// Whether ⟨w, p⟩ is below the level of its side, exactly.
    fn violates(&self, i: usize) -> bool {
        let point = self.points.point(i);
        let product = point.entries.iter().fold(IBig::ZERO, |sum, (column, value)| {
            let weight = &self.nearest.weights[*column];
            if weight.is_zero() { sum } else { sum + weight * value }
        });
        let level = &self.nearest.levels[point.side];
        let by = point.height - self.nearest.height;
        if by >= 0 { shifted(&product, by) < *level } else { product < shifted(level, -by) }
    }

    /// The candidate that seems to violate most of those that surely do; if none surely does, the first in that order
    /// for which the exact product says so.
    pub(super) fn most_violating(
        &self,
        candidates: &[usize],
        members: &HashSet<usize>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Search {
        let gaps = || {
            let others = candidates.par_iter().filter(|row| !members.contains(row));
            others.map(|&row| (self.gap(row), row))
        };
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let surely = gaps()
            .filter(|((gap, rounding_error), _)| *gap < -rounding_error)
            .map(|((gap, _), row)| (gap, row));
        if let Some((_, row)) = surely.min_by(order) {
            return Search::Found(row);
        }
        // Not `gap <= rounding_error`: where either is no number, nothing is settled.
        let unsettled = gaps()
            .filter(|((gap, rounding_error), _)| gap.partial_cmp(rounding_error) != Some(Ordering::Greater));
        let mut unsettled: Vec<(f64, usize)> = unsettled.map(|((gap, _), row)| (gap, row)).collect();
        unsettled.sort_unstable_by(order);
        for part in unsettled.chunks(1024) {
            if stop() {
                return Search::Stopped;
            }
            if let Some(&(_, row)) = part.par_iter().find_first(|(_, row)| self.violates(*row)) {
                return Search::Found(row);
            }
        }
        Search::Nothing
    }
}

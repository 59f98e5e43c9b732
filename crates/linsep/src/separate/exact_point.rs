//! The point of a hull nearest to the origin, exactly.
//!
//! Wolfe's algorithm (*Finding the nearest point in a polytope*, 1976) with whole numbers: each round solves a system
//! of equations exactly, so the length of the point falls strictly from round to round, no set of rows comes twice,
//! and the end is the exact answer however flat, tied or badly scaled the rows are. It is slow, and meant to be
//! started near the answer.

mod corral;
mod scan;
#[cfg(test)]
mod tests;

use super::Examples;
use super::integer::{integers, make_primitive};
use super::modular::Usual;
use corral::{Corral, Nearest};
use dashu_int::ops::BitTest;
use dashu_int::{IBig, Sign};
use scan::{Scan, Search};
use std::cmp::Ordering;

/// Which hull is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hull {
    /// The hull of the rows z, each scaled by a power of two so that its largest entry is from 1/2 up to 1. Whether it
    /// holds the origin is the same question as for the rows themselves, with shorter numbers. For deciding.
    Directions,
    /// The hull of the rows z. For the margin.
    Rows,
    /// Features only: a point of the hull of the positive rows z plus one of the hull of the negative rows z, which is
    /// the difference of points of the two classes. For the margin with a free bias.
    TwoSides,
}

/// Rows and the hull that is made of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points<'a> {
    pub(crate) examples: &'a Examples<'a>,
    pub(crate) hull: Hull,
}

/// Rows that may carry the nearest point, with their supposed shares. Nothing of it need be right: rows that are no
/// candidates, have no positive share or depend on others are left out, those with larger shares are kept first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    pub(crate) rows: Vec<(usize, f64)>,
}

/// What was found of hull + L, where L is the span of the free rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// The nearest point w is not the origin: for every candidate p of the hull ⟨w, p⟩ ≥ ⟨w, w⟩ > 0, with two sides
    /// ⟨w, p⟩ ≥ ⟨w, s⟩ for the supporting rows s of its side. w is orthogonal to L.
    Outside {
        /// w = weights · 2^exponent / denominator, over the coordinates that count.
        weights: Vec<IBig>,
        /// See `weights`.
        exponent: i64,
        /// Positive. See `weights` and `support`.
        denominator: IBig,
        /// w = Σ (share / denominator) · p but for a part in L, where p are the points of the hull: scaled rows for
        /// [`Hull::Directions`]. The shares are positive and sum to the denominator, on each side.
        support: Vec<(usize, IBig)>,
    },
    /// The origin is in hull + L: Σ λ z + Σ μ l = 0 over the coordinates that count, for the rows as they are.
    Inside {
        /// The rows with λ > 0, affinely independent modulo L: there is no other such λ but its multiples.
        support: Vec<(usize, IBig)>,
        /// μ for each of the free rows. λ and μ together have no common divisor.
        free: Vec<IBig>,
    },
    /// There are no candidates, or none on one of two sides.
    Empty,
    /// `stop` asked for it.
    Stopped,
}

/// The nearest point of hull(`candidates`) + span(`free`). `stop` is asked before every system of equations.
///
/// Neither the answer nor the way to it depends on the number of threads.
pub(crate) fn exact_point(
    points: Points<'_>,
    free: &[usize],
    candidates: &[usize],
    start: &Start,
    stop: &mut dyn FnMut() -> bool,
) -> End {
    let Some(mut corral) = Corral::new(points, free, candidates, start) else { return End::Empty };
    // The start owes nothing to a round before: rows with no positive share are simply left out. Every side keeps
    // some, because its shares sum to one.
    let mut nearest = loop {
        let Some(nearest) = corral.nearest(stop) else { return End::Stopped };
        if nearest.shares.iter().all(is_positive) {
            break nearest;
        }
        corral.keep(|k| is_positive(&nearest.shares[k]));
    };
    loop {
        if nearest.weights.iter().all(IBig::is_zero) {
            return corral.inside(&nearest, free);
        }
        let scan = Scan::new(points, &nearest);
        let entering = match scan.most_violating(candidates, &corral.members(), stop) {
            Search::Found(row) => row,
            Search::Nothing => return corral.outside(nearest),
            Search::Stopped => return End::Stopped,
        };
        corral.push(points.point(entering));
        // From the last nearest point towards the new one, until a share vanishes.
        let (mut shares, mut whole) = (nearest.shares, nearest.denominator);
        shares.push(IBig::ZERO);
        nearest = loop {
            let Some(target) = corral.nearest(stop) else { return End::Stopped };
            if target.shares.iter().all(is_positive) {
                break target;
            }
            shares = step(shares, &mut whole, &target);
            corral.keep(|k| is_positive(&shares[k]));
            shares.retain(is_positive);
        };
    }
}

fn is_positive(value: &IBig) -> bool {
    !value.is_zero() && value.sign() == Sign::Positive
}

/// The last shares on the straight way to the target's that are all ≥ 0. At least one of them is 0 then.
fn step(shares: Vec<IBig>, whole: &mut IBig, target: &Nearest) -> Vec<IBig> {
    // On the way from a to n, both over their denominators, a share a > 0 with n ≤ 0 vanishes the earlier the larger
    // −n / a is. A row that has just entered has a = 0, but n > 0.
    let falls = |k: usize| !is_positive(&target.shares[k]) && is_positive(&shares[k]);
    let earlier =
        |k: usize, best: usize| &target.shares[k] * &shares[best] < &target.shares[best] * &shares[k];
    let falling = (0..shares.len()).filter(|&k| falls(k));
    let Some(first) = falling.reduce(|best, k| if earlier(k, best) { k } else { best }) else {
        return shares;
    };
    let (ours, theirs) = (&shares[first], &target.shares[first]);
    let mut moved: Vec<IBig> =
        shares.iter().zip(&target.shares).map(|(a, n)| ours * n - theirs * a).collect();
    moved.push(ours * &target.denominator - theirs * &*whole);
    make_primitive(&mut moved);
    *whole = moved.pop().unwrap_or(IBig::ONE);
    moved
}

/// A row in whole numbers: z = entries · 2^exponent; the point of the hull is entries · 2^height.
#[derive(Clone, Debug)]
struct Point {
    row: usize,
    side: usize,
    entries: Vec<(usize, IBig)>,
    exponent: i64,
    height: i64,
}

impl Point {
    fn dot(&self, other: &Self) -> IBig {
        let (mut a, mut b) = (self.entries.as_slice(), other.entries.as_slice());
        let mut sum = IBig::ZERO;
        while let (Some((i, x)), Some((j, y))) = (a.first(), b.first()) {
            match i.cmp(j) {
                Ordering::Less => a = &a[1..],
                Ordering::Greater => b = &b[1..],
                Ordering::Equal => {
                    sum += x * y;
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
        sum
    }

    fn residues(&self) -> impl Iterator<Item = (usize, u64)> {
        self.entries.iter().map(|(column, value)| (*column, Usual::of_integer(value)))
    }
}

impl Points<'_> {
    /// Coordinates that count.
    fn width(&self) -> usize {
        match self.hull {
            Hull::TwoSides => self.examples.data().columns(),
            _ => self.examples.dimension(),
        }
    }

    fn sides(&self) -> usize {
        if self.hull == Hull::TwoSides { 2 } else { 1 }
    }

    fn side(&self, i: usize) -> usize {
        usize::from(self.hull == Hull::TwoSides && self.examples.signs()[i] < 0)
    }

    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let width = self.width();
        self.examples.entries(i).filter(move |&(column, value)| column < width && value != 0.0)
    }

    fn point(&self, i: usize) -> Point {
        let (columns, values): (Vec<usize>, Vec<f64>) = self.entries(i).unzip();
        let (numbers, exponent) = integers(&values);
        let height = match self.hull {
            Hull::Directions => -(numbers.iter().map(BitTest::bit_len).max().unwrap_or(0) as i64),
            _ => exponent,
        };
        let entries = columns.into_iter().zip(numbers).collect();
        Point { row: i, side: self.side(i), entries, exponent, height }
    }
}

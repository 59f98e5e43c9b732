//! The point of a hull nearest to the origin, exactly.
//!
//! Wolfe's algorithm (*Finding the nearest point in a polytope*, 1976) with whole numbers: each round solves a system
//! of equations exactly, so the length of the point falls strictly from round to round, no set of rows comes twice,
//! and the end is the exact answer however flat, tied or badly scaled the rows are. It is slow, and meant to be
//! started near the answer.

use super::Examples;
use super::integer::{Solver, independent_rows, integers, make_primitive, shifted};
use super::modular::{Echelon, Usual, parts};
use crate::linalg::rounding_error_bound;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, Sign};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::HashSet;

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
    /// `stop` said so.
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

/// The nearest point of the affine hull of a corral, plus L.
#[derive(Debug)]
struct Nearest {
    /// Factors of the free rows' and the corral's entries in `weights`.
    factors: Vec<IBig>,
    /// Shares of the points of the hull, over `denominator`: they sum to it on each side.
    shares: Vec<IBig>,
    /// ⟨weights, p⟩ for the points p of each side, in units of 2^height.
    levels: Vec<IBig>,
    denominator: IBig,
    /// The nearest point is weights · 2^height / denominator.
    weights: Vec<IBig>,
    height: i64,
}

/// Rows affinely independent modulo L.
struct Corral {
    width: usize,
    sides: usize,
    /// A basis of L out of the free rows, with their positions among them.
    free: Vec<(usize, Point)>,
    points: Vec<Point>,
    /// Products of the entries of the free rows and then of the points.
    gram: Vec<Vec<IBig>>,
}

impl Corral {
    /// What is independent of the start; one candidate at least on each side. `None` if there is none.
    fn new(points: Points<'_>, free: &[usize], candidates: &[usize], start: &Start) -> Option<Self> {
        let (width, sides) = (points.width(), points.sides());
        let mut corral = Self { width, sides, free: Vec::new(), points: Vec::new(), gram: Vec::new() };

        // Affine independence is independence of the points with one more coordinate for each side.
        let mut echelon = Echelon::new(width + sides);
        let basis: Vec<Point> = free.iter().map(|&l| points.point(l)).collect();
        let independent: Vec<bool> = basis.iter().map(|l| echelon.insert(l.residues())).collect();
        let proved = independent.iter().all(|&independent| independent);
        let kept: Vec<usize> =
            if proved { (0..free.len()).collect() } else { independent_rows(&dense(&basis, width)) };
        for (k, l) in basis.into_iter().enumerate().filter(|(k, _)| kept.contains(k)) {
            let row = corral.products(&l);
            corral.extend_gram(row);
            corral.free.push((k, l));
        }

        let mut rows: Vec<(usize, f64)> =
            start.rows.iter().copied().filter(|&(_, share)| share > 0.0).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let wanted: HashSet<usize> = rows.iter().map(|&(row, _)| row).collect();
        let known: HashSet<usize> = candidates.iter().copied().filter(|row| wanted.contains(row)).collect();
        // Free rows that depend on each other modulo the prime leave open what is independent of them in truth. One
        // point a side always is.
        for &(row, _) in rows.iter().filter(|(row, _)| proved && known.contains(row)) {
            let point = points.point(row);
            let one = (width + point.side, Usual::power_of_two(-point.height));
            if echelon.insert(point.residues().chain([one])) {
                corral.push(point);
            }
        }
        for side in 0..sides {
            if corral.points.iter().all(|point| point.side != side) {
                let &row = candidates.iter().find(|&&row| points.side(row) == side)?;
                corral.push(points.point(row));
            }
        }
        Some(corral)
    }

    fn members(&self) -> HashSet<usize> {
        self.points.iter().map(|point| point.row).collect()
    }

    fn all(&self) -> impl Iterator<Item = &Point> {
        self.free.iter().map(|(_, l)| l).chain(&self.points)
    }

    fn products(&self, point: &Point) -> Vec<IBig> {
        self.all().map(|other| other.dot(point)).chain([point.dot(point)]).collect()
    }

    fn extend_gram(&mut self, row: Vec<IBig>) {
        self.gram.iter_mut().zip(&row).for_each(|(above, value)| above.push(value.clone()));
        self.gram.push(row);
    }

    fn push(&mut self, point: Point) {
        let row = self.products(&point);
        self.extend_gram(row);
        self.points.push(point);
    }

    fn keep(&mut self, kept: impl Fn(usize) -> bool) {
        let free = self.free.len();
        let stays = |k: usize| k < free || kept(k - free);
        fn retain<T>(items: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
            let mut k = 0;
            items.retain(|_| {
                k += 1;
                stays(k - 1)
            });
        }
        self.gram.iter_mut().for_each(|row| retain(row, stays));
        retain(&mut self.gram, stays);
        retain(&mut self.points, |k| stays(k + free));
    }

    /// Solves for the nearest point of the affine hull plus L: `None` if stopped.
    ///
    /// With whole entries u, the factors κ and μ of the points and free rows, and σ = 2^(top height − height) for each
    /// point, Σ σκ = 1 on each side. At the minimum of ‖Σκu + Σμl‖ its products with the l are 0 and those with the u
    /// are σ times a level of their side. Only the σ know of the scales of the rows.
    fn nearest(&self, stop: &mut dyn FnMut() -> bool) -> Option<Nearest> {
        if stop() {
            return None;
        }
        let (free, count) = (self.free.len(), self.points.len());
        let height = self.points.iter().map(|point| point.height).max()?;
        let sigma = |point: &Point| IBig::ONE << (height - point.height) as usize;
        let size = free + count + self.sides;
        let mut matrix = vec![vec![IBig::ZERO; size]; size];
        for (row, gram) in matrix.iter_mut().zip(&self.gram) {
            row[..free + count].clone_from_slice(gram);
        }
        for (k, point) in self.points.iter().enumerate() {
            let (k, side) = (free + k, free + count + point.side);
            matrix[k][side] = sigma(point);
            matrix[side][k] = sigma(point);
        }
        let mut rhs = vec![IBig::ZERO; size];
        rhs[free + count..].fill(IBig::ONE);
        // Independent rows make a matrix that is not singular, so there is a solution.
        let (mut factors, denominator) = Solver::new(&matrix)?.solve(&rhs)?;
        let levels = factors.split_off(free + count).into_iter().map(|level| -level).collect();
        let shares =
            self.points.iter().zip(&factors[free..]).map(|(point, value)| value * sigma(point)).collect();
        let mut weights = vec![IBig::ZERO; self.width];
        for (factor, point) in factors.iter().zip(self.all()).filter(|(factor, _)| !factor.is_zero()) {
            point.entries.iter().for_each(|(column, value)| weights[*column] += factor * value);
        }
        Some(Nearest { factors, shares, levels, denominator, weights, height })
    }

    fn outside(&self, nearest: Nearest) -> End {
        let Nearest { mut weights, height, denominator, shares, .. } = nearest;
        let zeros = weights.iter().filter_map(IBig::trailing_zeros).min().unwrap_or(0);
        weights.iter_mut().for_each(|value| *value >>= zeros);
        let support = self.points.iter().map(|point| point.row).zip(shares).collect();
        End::Outside { weights, exponent: height + zeros as i64, denominator, support }
    }

    fn inside(&self, nearest: &Nearest, free: &[usize]) -> End {
        // From the entries to the rows as they are: z = entries · 2^exponent.
        let top = self.all().map(|point| point.exponent).max().unwrap_or(0);
        let mut all: Vec<IBig> = nearest
            .factors
            .iter()
            .zip(self.all())
            .map(|(factor, point)| shifted(factor, top - point.exponent))
            .collect();
        make_primitive(&mut all);
        let lambda = all.split_off(self.free.len());
        let mut mu = vec![IBig::ZERO; free.len()];
        self.free.iter().zip(all).for_each(|((k, _), value)| mu[*k] = value);
        End::Inside { support: self.points.iter().map(|point| point.row).zip(lambda).collect(), free: mu }
    }
}

fn dense(points: &[Point], width: usize) -> Vec<Vec<IBig>> {
    let mut rows = vec![vec![IBig::ZERO; width]; points.len()];
    for (row, point) in rows.iter_mut().zip(points) {
        point.entries.iter().for_each(|(column, value)| row[*column] = value.clone());
    }
    rows
}

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
struct Scan<'a> {
    points: Points<'a>,
    nearest: &'a Nearest,
    /// weights · 2^−shift, rounded: at most 1.
    rounded: Vec<f64>,
    /// The levels of the sides, times 2^−shift: m · 2ᵉ.
    levels: Vec<(f64, i64)>,
}

enum Search {
    Found(usize),
    Nothing,
    Stopped,
}

impl<'a> Scan<'a> {
    fn new(points: Points<'a>, nearest: &'a Nearest) -> Self {
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
    fn most_violating(
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

#[cfg(test)]
mod tests {
    use super::super::integer::{dot, kernel_basis};
    use super::*;
    use crate::dataset::Dataset;
    use crate::random::Random;
    use linsep_check::Bias;
    use proptest::prelude::*;

    fn dataset(rows: &[Vec<f64>]) -> Dataset {
        let labels = vec!["a"; rows.len()];
        Dataset::dense(rows[0].len(), &rows.concat(), &labels).unwrap()
    }

    /// The points of the hull and the free rows as whole numbers over one power of two, by another way than the code.
    fn whole_points(points: Points<'_>, indices: &[usize], directions: bool) -> (Vec<Vec<IBig>>, i64) {
        let width = points.width();
        let flat: Vec<f64> =
            indices.iter().flat_map(|&i| points.examples.dense(i)[..width].to_vec()).collect();
        let (flat, exponent) = integers(&flat);
        let mut rows: Vec<Vec<IBig>> = flat.chunks(width).map(<[IBig]>::to_vec).collect();
        if !directions {
            return (rows, exponent);
        }
        // Entries below 1 in units of 2^−bits.
        let length = |row: &Vec<IBig>| row.iter().map(BitTest::bit_len).max().unwrap_or(0);
        let bits = rows.iter().map(length).max().unwrap_or(0);
        for row in &mut rows {
            let own = length(row);
            row.iter_mut().for_each(|value| *value <<= bits - own);
        }
        (rows, -(bits as i64))
    }

    /// Panics unless the end is what it says.
    fn verify(points: Points<'_>, free: &[usize], candidates: &[usize], end: &End) {
        let width = points.width();
        let (free_rows, _) = whole_points(points, free, false);
        match end {
            End::Inside { support, free: mu } => {
                let all: Vec<usize> =
                    support.iter().map(|&(row, _)| row).chain(free.iter().copied()).collect();
                let (rows, _) = whole_points(points, &all, false);
                assert!(!support.is_empty());
                assert!(support.iter().all(|(row, share)| is_positive(share) && candidates.contains(row)));
                assert_eq!(mu.len(), free.len());
                let factors: Vec<IBig> = support.iter().map(|(_, share)| share).chain(mu).cloned().collect();
                for column in 0..width {
                    let column: Vec<IBig> = rows.iter().map(|row| row[column].clone()).collect();
                    assert!(dot(&column, &factors).is_zero());
                }
                let side = |s: usize| -> IBig {
                    support.iter().filter(|(row, _)| points.side(*row) == s).map(|(_, share)| share).sum()
                };
                if points.sides() == 2 {
                    assert_eq!(side(0), side(1));
                }
                // Affinely independent modulo L: the kernel has just this direction, beside dependences in L itself.
                let lifted: Vec<Vec<IBig>> = (0..width)
                    .map(|column| rows.iter().map(|row| row[column].clone()).collect())
                    .chain((points.sides() == 2).then(|| {
                        let sign = |&(row, _): &(usize, IBig)| IBig::from(1 - 2 * points.side(row) as i64);
                        support.iter().map(sign).chain(vec![IBig::ZERO; free.len()]).collect()
                    }))
                    .collect();
                let of_free = free.len() - independent_rows(&free_rows).len();
                assert_eq!(kernel_basis(&lifted, all.len()).len(), 1 + of_free);
            }
            End::Outside { weights, exponent, denominator, support } => {
                let (rows, unit) = whole_points(points, candidates, points.hull == Hull::Directions);
                assert_eq!(weights.len(), width);
                assert!(free_rows.iter().all(|l| dot(l, weights).is_zero()));
                let at = |row: usize| candidates.iter().position(|&candidate| candidate == row).unwrap();
                for side in 0..points.sides() {
                    let ours = || support.iter().filter(|(row, _)| points.side(*row) == side);
                    assert!(ours().all(|(_, share)| is_positive(share)));
                    assert_eq!(&ours().map(|(_, share)| share).sum::<IBig>(), denominator);
                    let level = dot(weights, &rows[at(ours().next().unwrap().0)]);
                    assert!(ours().all(|(row, _)| dot(weights, &rows[at(*row)]) == level));
                    let others = candidates.iter().filter(|&&row| points.side(row) == side);
                    assert!(others.clone().all(|&row| dot(weights, &rows[at(row)]) >= level));
                    assert!(points.sides() == 2 || is_positive(&level));
                }
                // The point is what its support says, but for a part in L.
                let (up, down) = ((*exponent - unit).max(0) as usize, (unit - *exponent).max(0) as usize);
                let mut rest: Vec<IBig> = weights.iter().map(|value| value << up).collect();
                for (row, share) in support {
                    rest.iter_mut().zip(&rows[at(*row)]).for_each(|(r, z)| *r -= (share * z) << down);
                }
                assert!(weights.iter().any(|value| !value.is_zero()));
                assert!(kernel_basis(&free_rows, width).iter().all(|k| dot(k, &rest).is_zero()));
            }
            End::Empty | End::Stopped => panic!("{end:?}"),
        }
    }

    /// A fraction for the oracle.
    type Fraction = (i128, i128);

    fn reduced(n: i128, d: i128) -> Fraction {
        let (mut a, mut b) = (n.abs(), d.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let g = a.max(1) * d.signum();
        (n / g, d / g)
    }

    /// Solves a small system by Gauss with fractions.
    fn solve_fractions(mut rows: Vec<Vec<Fraction>>) -> Option<Vec<Fraction>> {
        let size = rows.len();
        for k in 0..size {
            let pivot = (k..size).find(|&i| rows[i][k].0 != 0)?;
            rows.swap(k, pivot);
            let top = rows[k].clone();
            for (i, row) in rows.iter_mut().enumerate() {
                let factor = reduced(row[k].0 * top[k].1, row[k].1 * top[k].0);
                for (value, above) in row.iter_mut().zip(&top) {
                    *value = if i == k {
                        reduced(value.0 * top[k].1, value.1 * top[k].0)
                    } else {
                        let less = reduced(factor.0 * above.0, factor.1 * above.1);
                        reduced(value.0 * less.1 - less.0 * value.1, value.1 * less.1)
                    };
                }
            }
        }
        Some(rows.iter().map(|row| row[size]).collect())
    }

    /// The least squared length in the hull: the least over all small sets of points whose nearest point of the affine
    /// hull lies in their hull.
    fn brute_force(points: &[Vec<i128>]) -> Fraction {
        let dimension = points[0].len();
        let mut best: Option<Fraction> = None;
        for set in 1u32..1 << points.len() {
            let chosen: Vec<&Vec<i128>> =
                (0..points.len()).filter(|i| set >> i & 1 == 1).map(|i| &points[i]).collect();
            let size = chosen.len();
            if size > dimension + 1 {
                continue;
            }
            let product = |a: &[i128], b: &[i128]| -> i128 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            let mut rows: Vec<Vec<Fraction>> = chosen
                .iter()
                .map(|a| chosen.iter().map(|b| product(a, b)).chain([-1, 0]).map(|v| (v, 1)).collect())
                .collect();
            rows.push((0..size).map(|_| 1).chain([0, 1]).map(|v| (v, 1)).collect());
            if let Some(solution) = solve_fractions(rows)
                && solution[..size].iter().all(|share| share.0 >= 0)
            {
                let level = solution[size];
                best = Some(best.map_or(level, |b| if level.0 * b.1 < b.0 * level.1 { level } else { b }));
            }
        }
        best.unwrap()
    }

    fn squared_length(end: &End) -> Option<(IBig, i64, IBig)> {
        let End::Outside { weights, exponent, denominator, .. } = end else { return None };
        Some((dot(weights, weights), 2 * exponent, denominator * denominator))
    }

    fn grid(dimension: usize, most: usize) -> impl Strategy<Value = Vec<Vec<i8>>> {
        prop::collection::vec(prop::collection::vec(-2i8..=3, dimension), 1..=most)
    }

    fn floats(rows: &[Vec<i8>], unit: f64) -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.iter().map(|&value| f64::from(value) * unit).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn nearest_points_of_grids(
            (rows, exponent) in (1usize..=3).prop_flat_map(|d| (grid(d, 8), prop::sample::select(vec![0, -1074, 990]))),
            start in prop::collection::vec((0usize..10, -1.0f64..2.0), 0..6),
            directions in any::<bool>(),
        ) {
            let unit = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            let rows_f64 = floats(&rows, unit);
            let data = dataset(&rows_f64);
            let examples = Examples::with_signs(&data, vec![1; rows.len()], Bias::None);
            let hull = if directions { Hull::Directions } else { Hull::Rows };
            let points = Points { examples: &examples, hull };
            let candidates: Vec<usize> = (0..rows.len()).collect();
            let end = exact_point(points, &[], &candidates, &Start { rows: start }, &mut || false);
            verify(points, &[], &candidates, &end);
            let integers: Vec<Vec<i128>> = rows.iter().map(|r| r.iter().map(|&v| v.into()).collect()).collect();
            let (n, d) = brute_force(&integers);
            match squared_length(&end) {
                None => prop_assert_eq!(n, 0),
                Some((n2, e, d2)) => {
                    prop_assert!(n > 0);
                    if !directions {
                        let e = e - 2 * i64::from(exponent);
                        let (up, down) = (e.max(0) as usize, (-e).max(0) as usize);
                        prop_assert_eq!((n2 << up) * IBig::from(d), (d2 << down) * IBig::from(n));
                    }
                }
            }
        }

        #[test]
        fn nearest_points_of_two_sides(
            (rows, signs) in (1usize..=2).prop_flat_map(|d| grid(d, 6)).prop_flat_map(|rows| {
                let n = rows.len();
                (Just(rows), prop::collection::vec(prop::sample::select(vec![-1i8, 1]), n))
            }),
            start in prop::collection::vec((0usize..6, 0.0f64..2.0), 0..6),
        ) {
            let rows_f64 = floats(&rows, 1.0);
            let data = dataset(&rows_f64);
            let examples = Examples::with_signs(&data, signs.clone(), Bias::Free);
            let points = Points { examples: &examples, hull: Hull::TwoSides };
            let candidates: Vec<usize> = (0..rows.len()).collect();
            let end = exact_point(points, &[], &candidates, &Start { rows: start }, &mut || false);
            if signs.iter().all(|&sign| sign == signs[0]) {
                prop_assert_eq!(end, End::Empty);
                return Ok(());
            }
            verify(points, &[], &candidates, &end);
            let mut differences: Vec<Vec<i128>> = Vec::new();
            for (a, _) in rows.iter().zip(&signs).filter(|(_, sign)| **sign > 0) {
                for (b, _) in rows.iter().zip(&signs).filter(|(_, sign)| **sign < 0) {
                    differences.push(a.iter().zip(b).map(|(&a, &b)| i128::from(a) - i128::from(b)).collect());
                }
            }
            let (n, d) = brute_force(&differences);
            match squared_length(&end) {
                None => prop_assert_eq!(n, 0),
                Some((n2, e, d2)) => {
                    let (up, down) = (e.max(0) as usize, (-e).max(0) as usize);
                    prop_assert_eq!((n2 << up) * IBig::from(d), (d2 << down) * IBig::from(n));
                }
            }
        }

        #[test]
        fn hulls_with_free_directions(
            (rows, free) in (2usize..=4).prop_flat_map(|d| grid(d, 9)).prop_flat_map(|rows| {
                let n = rows.len();
                (Just(rows), prop::collection::vec(0..n, 0..3))
            }),
            scales in prop::collection::vec(-1000i32..1000, 9),
            start in prop::collection::vec((0usize..9, 0.0f64..2.0), 0..6),
            hull in prop::sample::select(vec![Hull::Directions, Hull::Rows]),
        ) {
            let mut rows_f64 = floats(&rows, 1.0);
            rows_f64.iter_mut().zip(&scales).for_each(|(row, &e)| row.iter_mut().for_each(|v| *v *= 2f64.powi(e)));
            let data = dataset(&rows_f64);
            let examples = Examples::with_signs(&data, vec![1; rows.len()], Bias::None);
            let points = Points { examples: &examples, hull };
            let candidates: Vec<usize> = (0..rows.len()).filter(|i| !free.contains(i)).collect();
            let end = exact_point(points, &free, &candidates, &Start { rows: start.clone() }, &mut || false);
            if candidates.is_empty() {
                prop_assert_eq!(end, End::Empty);
                return Ok(());
            }
            verify(points, &free, &candidates, &end);
            // The decision does not depend on the scale of the rows.
            let other = Points { hull: if hull == Hull::Rows { Hull::Directions } else { Hull::Rows }, ..points };
            let again = exact_point(other, &free, &candidates, &Start::default(), &mut || false);
            prop_assert_eq!(matches!(end, End::Inside { .. }), matches!(again, End::Inside { .. }));
        }

        #[test]
        fn any_floats_at_all(
            rows in prop::collection::vec(
                prop::collection::vec(any::<f64>().prop_map(|v| if v.is_finite() { v } else { 0.0 }), 3), 1..8),
            signs in prop::collection::vec(prop::sample::select(vec![-1i8, 1]), 8),
            hull in prop::sample::select(vec![Hull::Directions, Hull::Rows, Hull::TwoSides]),
        ) {
            let data = dataset(&rows);
            let examples = Examples::with_signs(&data, signs[..rows.len()].to_vec(), Bias::Append(1.0));
            let points = Points { examples: &examples, hull };
            let candidates: Vec<usize> = (0..rows.len()).collect();
            let end = exact_point(points, &[], &candidates, &Start::default(), &mut || false);
            if end != End::Empty {
                verify(points, &[], &candidates, &end);
            }
        }
    }

    #[test]
    fn a_margin_that_floats_cannot_see() {
        // Both sides of a boundary through the origin, 2⁻⁶⁰ apart: and closed by one more row.
        let tiny = 2f64.powi(-60);
        let rows = vec![vec![1.0, tiny], vec![-1.0, tiny], vec![-1.0 / 3.0, tiny], vec![1e300, 1e-300]];
        let data = dataset(&rows);
        let examples = Examples::with_signs(&data, vec![1; 4], Bias::None);
        for hull in [Hull::Directions, Hull::Rows] {
            let points = Points { examples: &examples, hull };
            let end = exact_point(points, &[], &[0, 1, 2, 3], &Start::default(), &mut || false);
            assert!(matches!(end, End::Outside { .. }));
            verify(points, &[], &[0, 1, 2, 3], &end);
        }
        let closed: Vec<Vec<f64>> = rows.into_iter().chain([vec![5e-324, -5e-324]]).collect();
        let data = dataset(&closed);
        let examples = Examples::with_signs(&data, vec![1; 5], Bias::None);
        let points = Points { examples: &examples, hull: Hull::Rows };
        let end = exact_point(points, &[], &[0, 1, 2, 3, 4], &Start::default(), &mut || false);
        assert!(matches!(end, End::Inside { .. }));
        verify(points, &[], &[0, 1, 2, 3, 4], &end);
    }

    #[test]
    fn free_rows_that_the_prime_takes_for_dependent() {
        // The determinant of the first two rows is the prime 2⁶¹ − 31; the third depends on them in truth.
        let large = 2f64.powi(61);
        let rows = [[large, 31.0, 0.0], [1.0, 1.0, 0.0], [3.0, 3.0, 0.0], [5.0, 0.0, 1.0], [7.0, 2.0, -1.0]];
        let data = dataset(&rows.map(Vec::from));
        let examples = Examples::with_signs(&data, vec![1; 5], Bias::None);
        let points = Points { examples: &examples, hull: Hull::Rows };
        let start = Start { rows: vec![(3, 1.0), (4, 1.0)] };
        for candidates in [&[3usize][..], &[3, 4]] {
            let end = exact_point(points, &[0, 1, 2], candidates, &start, &mut || false);
            verify(points, &[0, 1, 2], candidates, &end);
            assert_eq!(matches!(end, End::Inside { .. }), candidates.len() == 2);
        }
    }

    #[test]
    fn stops_when_told_and_says_when_there_is_nothing() {
        let data = dataset(&[vec![1.0, 2.0]]);
        let examples = Examples::with_signs(&data, vec![1], Bias::None);
        let points = Points { examples: &examples, hull: Hull::Rows };
        assert_eq!(exact_point(points, &[], &[0], &Start::default(), &mut || true), End::Stopped);
        assert_eq!(exact_point(points, &[], &[], &Start::default(), &mut || false), End::Empty);
    }

    fn random_rows(rows: usize, columns: usize, shift: f64) -> Vec<Vec<f64>> {
        let mut random = Random::new(9);
        let mut row = || {
            let mut row: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
            row[0] = row[0].abs() * shift + shift * 0.1;
            row
        };
        (0..rows).map(|_| row()).collect()
    }

    #[test]
    fn larger_hulls_from_a_good_start() {
        for (columns, shift) in [(12, 1.0), (12, 1e-9), (12, 0.0)] {
            let data = dataset(&random_rows(200, columns, shift));
            let examples = Examples::with_signs(&data, vec![1; 200], Bias::None);
            let points = Points { examples: &examples, hull: Hull::Rows };
            let candidates: Vec<usize> = (0..200).collect();
            let end = exact_point(points, &[], &candidates, &Start::default(), &mut || false);
            verify(points, &[], &candidates, &end);
            let (End::Outside { support, .. } | End::Inside { support, .. }) = &end else { panic!() };
            let start = Start { rows: support.iter().map(|&(row, _)| (row, 1.0)).collect() };
            let mut asked = 0;
            let again = exact_point(points, &[], &candidates, &start, &mut || {
                asked += 1;
                false
            });
            verify(points, &[], &candidates, &again);
            assert!(asked <= 2, "{asked}");
        }
    }

    #[test]
    #[ignore = "measures; run by hand with --release --nocapture"]
    #[allow(clippy::print_stderr)]
    fn times() {
        for (count, columns, shift) in
            [(2000, 20, 1e-3), (2000, 50, 1e-6), (2000, 50, 0.0), (2000, 100, 1e-6)]
        {
            let data = dataset(&random_rows(count, columns, shift));
            let examples = Examples::with_signs(&data, vec![1; count], Bias::None);
            let points = Points { examples: &examples, hull: Hull::Rows };
            let candidates: Vec<usize> = (0..count).collect();
            let mut start = Start::default();
            for name in ["cold", "warm"] {
                let clock = std::time::Instant::now();
                let mut asked = 0;
                let end = exact_point(points, &[], &candidates, &start, &mut || {
                    asked += 1;
                    false
                });
                let (End::Outside { support, .. } | End::Inside { support, .. }) = &end else { panic!() };
                let kind = if matches!(end, End::Inside { .. }) { "inside" } else { "outside" };
                eprintln!(
                    "{count} x {columns}, {shift:e}, {name}: {kind}, {} rows, asked {asked}, {:?}",
                    support.len(),
                    clock.elapsed()
                );
                start = Start { rows: support.iter().map(|&(row, _)| (row, 1.0)).collect() };
            }
        }
    }
}

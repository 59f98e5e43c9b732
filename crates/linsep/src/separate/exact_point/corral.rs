//! The rows that carry the present point of Wolfe's algorithm (his *corral*), and the system of equations that they make.

use super::super::integer::{Solver, independent_rows, make_primitive, shifted};
use super::super::modular::{Echelon, Usual};
use super::{End, Point, Points, Start};
use dashu_int::IBig;
use std::collections::HashSet;

/// The nearest point of the affine hull of a corral, plus L.
#[derive(Debug)]
pub(super) struct Nearest {
    /// Factors of the free rows' and the corral's entries in `weights`.
    pub(super) factors: Vec<IBig>,
    /// Shares of the points of the hull, over `denominator`: they sum to it on each side.
    pub(super) shares: Vec<IBig>,
    /// ⟨weights, p⟩ for the points p of each side, in units of 2^height.
    pub(super) levels: Vec<IBig>,
    pub(super) denominator: IBig,
    /// The nearest point is weights · 2^height / denominator.
    pub(super) weights: Vec<IBig>,
    pub(super) height: i64,
}

/// Rows affinely independent modulo L.
pub(super) struct Corral {
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
    pub(super) fn new(
        points: Points<'_>,
        free: &[usize],
        candidates: &[usize],
        start: &Start,
    ) -> Option<Self> {
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

    pub(super) fn members(&self) -> HashSet<usize> {
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

    pub(super) fn push(&mut self, point: Point) {
        let row = self.products(&point);
        self.extend_gram(row);
        self.points.push(point);
    }

    pub(super) fn keep(&mut self, kept: impl Fn(usize) -> bool) {
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
    pub(super) fn nearest(&self, stop: &mut dyn FnMut() -> bool) -> Option<Nearest> {
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

    pub(super) fn outside(&self, nearest: Nearest) -> End {
        let Nearest { mut weights, height, denominator, shares, .. } = nearest;
        let zeros = weights.iter().filter_map(IBig::trailing_zeros).min().unwrap_or(0);
        weights.iter_mut().for_each(|value| *value >>= zeros);
        let support = self.points.iter().map(|point| point.row).zip(shares).collect();
        End::Outside { weights, exponent: height + zeros as i64, denominator, support }
    }

    pub(super) fn inside(&self, nearest: &Nearest, free: &[usize]) -> End {
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

//! The sign that each coefficient can have along the cone K = {δ : ⟨δ, z⟩ ≥ 0 for every row}.
//!
//! A member of K with δ_j < 0 settles one sign of the coefficient j. Whether there is one is a question for the engine
//! that decides separation: the row −e_j is added to those outside B, and either some δ vanishes on B and is positive on
//! all of these, or a combination of them lies in the span of B. In the combination the row −e_j has a positive share,
//! since without it the rows can be separated; so Σ λ z = c·e_j with c > 0 and λ ≥ 0 but for rows of B, which a
//! multiple of the vanishing combination of B makes positive: no member of K has δ_j < 0.

use super::Allowance;
use super::projection::Projection;
use crate::separate::agreements::positive_agreements;
use crate::separate::budget::Budget;
use crate::separate::examples::Examples;
use crate::separate::faces::{Faces, Side};
use crate::separate::nearest::Space;
use crate::separate::number::{Exact, ExactVector};
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Rows with positive shares.
pub(super) type Shares = Vec<(usize, Exact)>;

/// The signs found for the columns of a projection.
pub(super) struct Signs {
    /// Members of K, in the places of the examples.
    pub(super) members: Vec<ExactVector>,
    /// For each column the members that are positive and negative there.
    pub(super) seen: Vec<[Option<usize>; 2]>,
    /// For each column the combinations that show that no member is positive, or negative, there.
    pub(super) forced: Vec<[Option<Shares>; 2]>,
}

/// The place of a sign in the lists above.
pub(super) fn side(positive: bool) -> usize {
    usize::from(!positive)
}

/// The search for members of K.
struct Search<'a> {
    projection: &'a Projection,
    examples: &'a Examples<'a>,
    space: Space<'a>,
    faces: Faces<'a>,
    outside: Vec<usize>,
    /// Rows that carry the first nearest point: where the next search begins.
    start: Vec<(usize, f64)>,
    /// λ > 0 with Σ λ z = 0 on rows that span B.
    boundary: &'a BTreeMap<usize, Exact>,
    allowance: Allowance,
    signs: Signs,
}

/// Settles both signs of every column that is not among the `finite`, as far as the budget goes. The free rows of the projection
/// are a basis of B.
pub(super) fn signs(
    projection: &Projection,
    space: Space<'_>,
    boundary: &BTreeMap<usize, Exact>,
    finite: &[bool],
    allowance: Allowance,
    budget: &mut Budget<'_>,
) -> Signs {
    let columns = projection.places().len();
    let signs = Signs {
        members: Vec::new(),
        seen: vec![[None; 2]; columns],
        forced: (0..columns).map(|_| [None, None]).collect(),
    };
    let mut search = Search {
        projection,
        examples: space.examples,
        space,
        faces: Faces::spanned_by(space.examples, &projection.free()),
        outside: projection.others(),
        start: Vec::new(),
        boundary,
        allowance,
        signs,
    };
    if let Some(Side::Positive { w, support, .. }) =
        search.faces.locate(&search.space, &search.outside, &[], budget)
    {
        search.start = support.into_iter().map(|(row, share)| (row, share[0])).collect();
        search.add(&w);
        search.move_columns(w, finite, budget);
        for k in (0..columns).filter(|&k| !finite[k]) {
            for positive in [true, false] {
                search.ask(k, positive, finite, budget);
            }
        }
    }
    search.signs
}

impl Search<'_> {
    /// Keeps a member of K if it is the first with some sign. Gives whether it is.
    fn add(&mut self, weights: &ExactVector) -> bool {
        let mut is_new = false;
        for (k, value) in weights.values.iter().enumerate().filter(|(_, value)| !value.is_zero()) {
            let seen = &mut self.signs.seen[k][side(*value > IBig::ZERO)];
            if seen.is_none() {
                *seen = Some(self.signs.members.len());
                is_new = true;
            }
        }
        if is_new {
            self.signs.members.push(self.projection.lift(weights));
        }
        is_new
    }

    /// Asks whether K has a member that is positive, or negative, in column k, unless that is known.
    fn ask(&mut self, k: usize, positive: bool, finite: &[bool], budget: &mut Budget<'_>) {
        let is_known = self.signs.seen[k][side(positive)].is_some();
        if is_known || budget.is_over() || !self.allowance.take(self.outside.len(), finite.len()) {
            return;
        }
        let unit = self.projection.unit(k, positive);
        let rows: Vec<usize> = self.outside.iter().copied().chain([unit]).collect();
        match self.faces.locate(&self.space, &rows, &self.start, budget) {
            Some(Side::Positive { w, .. }) => {
                self.add(&w);
                self.move_columns(w, finite, budget);
            }
            Some(Side::Meets { support, free }) => {
                self.signs.forced[k][side(positive)] = self.combination(unit, support, free);
            }
            None => {}
        }
    }

    /// The rows that with positive shares sum to a multiple of the unit row, turned.
    fn combination(&self, unit: usize, support: Shares, free: Shares) -> Option<Shares> {
        support.iter().find(|(row, share)| *row == unit && share.sign() == Ordering::Greater)?;
        let mut sum: BTreeMap<usize, Exact> = BTreeMap::new();
        let others = support.into_iter().filter(|(row, _)| *row != unit);
        for (row, share) in others.chain(free) {
            sum.insert(self.projection.origin(row)?, share);
        }
        // Twice what is needed of the combination of B, so that no share is zero.
        let mut power = None;
        for (row, share) in sum.iter().filter(|(_, share)| share.sign() == Ordering::Less) {
            let ((_, wanted), (_, have)) = (share.scaled(), self.boundary.get(row)?.scaled());
            power = power.max(Some(wanted - have + 2));
        }
        if let Some(power) = power {
            let factor = Exact::new(IBig::from(1), power);
            for (&row, share) in self.boundary {
                let sum = sum.entry(row).or_insert_with(Exact::zero);
                *sum = sum.plus(&share.times(&factor));
            }
        }
        sum.retain(|_, share| share.sign() != Ordering::Equal);
        sum.values().all(|share| share.sign() == Ordering::Greater).then(|| sum.into_iter().collect())
    }

    /// Changes one column of a strict separator after the other, as far as every row stays on its right side: many signs
    /// are settled by few vectors. Only where B is empty: there every direction is allowed.
    fn move_columns(&mut self, from: ExactVector, finite: &[bool], budget: &mut Budget<'_>) {
        if !self.faces.basis.is_empty() {
            return;
        }
        let mut from = from;
        // A move is a few passes over the rows.
        while !budget.is_over() && self.allowance.take(self.outside.len(), 1 + finite.len() / 8) {
            let Some(moved) = self.moved(&from, finite) else { return };
            let agreements = positive_agreements(self.examples, &self.outside, &moved, self.space.radius);
            if agreements.is_err() || !self.add(&moved) {
                return;
            }
            from = moved;
        }
    }

    /// A strict separator with signs that were not seen yet, if floating-point numbers do not deceive.
    fn moved(&self, from: &ExactVector, finite: &[bool]) -> Option<ExactVector> {
        let (mut w, is_faithful) = from.rounded();
        if !is_faithful {
            return None;
        }
        let mut agreements: Vec<f64> = self.outside.iter().map(|&row| self.examples.dot(row, &w)).collect();
        let mut has_moved = false;
        for k in (0..w.len()).filter(|&k| !finite[k]) {
            for (positive, sign) in [(true, 1.0), (false, -1.0)] {
                let needed = w[k].abs();
                if self.signs.seen[k][side(positive)].is_some() || sign * w[k] > 0.0 {
                    continue;
                }
                let column: Vec<f64> = self.outside.iter().map(|&row| sign * self.entry(row, k)).collect();
                let falling = column.iter().zip(&agreements).filter(|(entry, _)| **entry < 0.0);
                let most = falling.map(|(entry, agreement)| agreement / -entry).fold(f64::INFINITY, f64::min);
                // A quarter of the room beyond what is needed: the rest is for other columns.
                let step =
                    if most.is_finite() { needed + 0.25 * (most - needed) } else { 2.0 * needed + 1.0 };
                if step > needed * (1.0 + 1e-9) && step > 1e-9 {
                    w[k] += sign * step;
                    agreements
                        .iter_mut()
                        .zip(&column)
                        .for_each(|(agreement, entry)| *agreement += step * entry);
                    has_moved = true;
                }
            }
        }
        has_moved.then(|| ExactVector::from_f64(&w))
    }

    fn entry(&self, row: usize, k: usize) -> f64 {
        match self.examples.data().row(row) {
            crate::dataset::Row::DenseF32(values) => f64::from(values[k]),
            crate::dataset::Row::DenseF64(values) => values[k],
            other => other.iter().find(|&(column, _)| column == k).map_or(0.0, |(_, value)| value),
        }
    }
}

//! The facial loop: the rows B that every boundary without a row on its wrong side must go through.
//!
//! L is the span of rows known to be in B. The rows outside L are searched, modulo L, for the point of their hull
//! nearest to the origin. If that point is not the origin, it is a w that vanishes on L and is positive on all of
//! them: done. Otherwise the rows of its support are in B too, and L grows. Each round raises the dimension of L.

use super::active_set::End;
use super::agreements::{Agreements, positive_agreements};
use super::budget::Budget;
use super::contradictions::{Contradictions, shares};
use super::exact_point::{self, Hull, Points, Start, exact_point};
use super::examples::Examples;
use super::integer::{self, Solver, SparseRow};
use super::modular::{self, Echelon};
use super::nearest::{Space, nearest};
use super::number::{Exact, ExactVector};
use super::real::{DoubleDouble, Real};
use crate::random::Random;
use dashu_int::IBig;
use linsep_check::Sparse;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// With more coordinates than this, pivots of the span are chosen so that sparse rows stay sparse.
const MANY: usize = 512;

/// Rows known to be in B, with the proof.
pub(super) struct Faces<'a> {
    examples: &'a Examples<'a>,
    /// The span L of those rows, modulo a prime.
    span: Echelon,
    /// Rows that form a basis of L.
    pub(super) basis: Vec<usize>,
    /// λ > 0 with Σ λ z = 0, on rows that span L.
    combination: BTreeMap<usize, Exact>,
    /// The first circuit: rows that cannot all be on their right sides.
    pub(super) witness: Vec<(usize, f64)>,
    /// Whether none of them can be left out.
    pub(super) witness_is_minimal: bool,
    /// Whether the span is that of all rows of the combination.
    is_spanned: bool,
    /// The basis at the pivots of the span, made ready for equations when first asked for.
    solver: OnceCell<Solver>,
}

/// Where the rows outside L lie, modulo L.
pub(super) enum Side {
    /// w vanishes on L and is positive on all of them.
    Positive { w: ExactVector, agreements: Agreements, support: Vec<(usize, [f64; 2])> },
    /// Their hull meets L.
    Meets { support: Vec<(usize, Exact)>, free: Vec<(usize, Exact)> },
}

/// Many rows whose hull meets L, found together: some of them may be left out.
pub(super) struct Combination {
    /// As of [`Side::Meets`].
    pub(super) support: Vec<(usize, Exact)>,
    pub(super) free: Vec<(usize, Exact)>,
    /// The span of L and all these rows, with its basis, if none has the share zero.
    span: Option<(Echelon, Vec<usize>)>,
}

impl<'a> Faces<'a> {
    pub(super) fn new(examples: &'a Examples<'a>) -> Self {
        let dimension = examples.dimension();
        Self {
            examples,
            span: if dimension > MANY {
                Echelon::with_rare_pivots(dimension)
            } else {
                Echelon::new(dimension)
            },
            basis: Vec::new(),
            combination: BTreeMap::new(),
            witness: Vec::new(),
            witness_is_minimal: true,
            is_spanned: true,
            solver: OnceCell::new(),
        }
    }

    /// Rows that are in B, each with its share λ > 0 in a combination that vanishes. What they span is left open.
    pub(super) fn cited(
        examples: &'a Examples<'a>,
        combination: Vec<(usize, Exact)>,
        (witness, witness_is_minimal): (Vec<(usize, f64)>, bool),
    ) -> Self {
        Self {
            combination: combination.into_iter().collect(),
            witness,
            witness_is_minimal,
            is_spanned: false,
            ..Self::new(examples)
        }
    }

    /// Finds out what rows of the combination span, where that was left open.
    pub(super) fn span(&mut self) {
        if !std::mem::replace(&mut self.is_spanned, true) {
            for &row in self.combination.keys() {
                if self.span.insert_f64(self.examples.entries(row)) {
                    self.basis.push(row);
                }
            }
        }
    }

    /// The span of these rows, which are independent, without a proof that they are in B.
    pub(super) fn spanned_by(examples: &'a Examples<'a>, rows: &[usize]) -> Self {
        let mut faces = Self::new(examples);
        for &row in rows {
            if faces.span.insert_f64(examples.entries(row)) {
                faces.basis.push(row);
            }
        }
        faces
    }

    /// The dimension of L.
    pub(super) fn rank(&self) -> usize {
        self.span.rank()
    }

    /// The same, if it was not left open.
    pub(super) fn known_rank(&self) -> Option<usize> {
        self.is_spanned.then(|| self.rank())
    }

    /// Gives each of these rows of L a share in the combination. False if that fails, or if it was stopped.
    pub(super) fn cite(&mut self, boundary: &[usize], stop: &mut dyn FnMut() -> bool) -> bool {
        let unnamed: Vec<usize> =
            boundary.iter().copied().filter(|row| !self.combination.contains_key(row)).collect();
        let split: Vec<(Vec<(usize, IBig)>, i64)> = unnamed.iter().map(|&row| self.integers(row)).collect();
        // The sum of them, which is in L: one equation for all.
        let least = split.iter().map(|&(_, exponent)| exponent).min().unwrap_or(0);
        let mut sum = vec![IBig::ZERO; self.examples.dimension()];
        for (entries, exponent) in split {
            entries
                .into_iter()
                .for_each(|(column, value)| sum[column] += value << (exponent - least) as usize);
        }
        if sum.iter().all(IBig::is_zero) {
            self.add_circuit(
                unnamed.into_iter().map(|row| (row, Exact::from_f64(1.0))).collect(),
                Vec::new(),
            );
            return true;
        }
        // Σ numerator/denominator · row·2^−exponent = −sum·2^−least.
        let right: Vec<IBig> = self.span.pivots().iter().map(|&column| -sum[column].clone()).collect();
        let (matrix, exponents) = self.equations();
        let Some((vector, share)) = integer::solve(matrix, &right, stop) else { return false };
        let share = Exact::new(share, -least);
        let free = self.basis.iter().zip(vector).zip(exponents).filter(|((_, value), _)| !value.is_zero());
        let free = free.map(|((&row, value), exponent)| (row, Exact::new(value, -exponent))).collect();
        self.add_circuit(unnamed.into_iter().map(|row| (row, share.clone())).collect(), free);
        true
    }

    /// The block of the basis at the pivots of the span, one equation for each row. None if it was stopped.
    fn solver(&self, stop: &mut dyn FnMut() -> bool) -> Option<&Solver> {
        if self.solver.get().is_none() {
            let mut place = vec![None; self.examples.dimension()];
            self.span.pivots().iter().enumerate().for_each(|(k, &column)| place[column] = Some(k));
            let equation = |&row: &usize| {
                let (entries, _) = self.integers(row);
                let inside = entries.into_iter().filter_map(|(column, value)| Some((place[column]?, value)));
                let mut inside: SparseRow = inside.collect();
                inside.sort_unstable_by_key(|&(k, _)| k);
                inside
            };
            let solver = Solver::watched(self.basis.iter().map(equation).collect(), stop)?;
            return Some(self.solver.get_or_init(|| solver));
        }
        self.solver.get()
    }

    /// The equations of coefficients of the basis, one for each pivot of the span, with the power of two that was taken out of each row.
    fn equations(&self) -> (Vec<SparseRow>, Vec<i64>) {
        let pivots = self.span.pivots();
        let mut place = vec![None; self.examples.dimension()];
        pivots.iter().enumerate().for_each(|(k, &column)| place[column] = Some(k));
        let mut matrix = vec![SparseRow::new(); pivots.len()];
        let mut exponents = Vec::new();
        for (k, &row) in self.basis.iter().enumerate() {
            let (entries, exponent) = self.integers(row);
            for (column, value) in entries {
                if let Some(equation) = place[column] {
                    matrix[equation].push((k, value));
                }
            }
            exponents.push(exponent);
        }
        (matrix, exponents)
    }

    /// A row as whole numbers times a power of two.
    fn integers(&self, row: usize) -> (Vec<(usize, IBig)>, i64) {
        let (columns, values): (Vec<usize>, Vec<f64>) = self.examples.entries(row).unzip();
        let (values, exponent) = integer::integers(&values);
        (columns.into_iter().zip(values).collect(), exponent)
    }

    /// Adds the rows that contradict each other by themselves.
    pub(super) fn add_contradictions(&mut self, found: &Contradictions) {
        for &row in &found.zeros {
            self.add_circuit(vec![(row, Exact::from_f64(1.0))], Vec::new());
        }
        for &pair in &found.pairs {
            self.add_circuit(shares(self.examples, pair).into(), Vec::new());
        }
    }

    /// Adds rows with Σ support + Σ free = 0, where the support has positive coefficients and the free rows, of any
    /// sign, are of the basis.
    pub(super) fn add_circuit(&mut self, support: Vec<(usize, Exact)>, free: Vec<(usize, Exact)>) {
        self.add_shares(&support, &free);
        let rows: Vec<usize> = support.iter().map(|&(row, _)| row).collect();
        self.extend_span(&rows, &mut || false);
    }

    /// The same with rows some of which may be left out.
    pub(super) fn add_combination(&mut self, combination: Combination) {
        let is_first = self.witness.is_empty();
        let Combination { support, free, span } = combination;
        match span {
            Some(span) => {
                self.add_shares(&support, &free);
                (self.span, self.basis) = span;
                self.solver.take();
            }
            None => self.add_circuit(support, free),
        }
        self.witness_is_minimal &= !is_first;
    }

    /// Adds what such rows sum to, without their span.
    fn add_shares(&mut self, support: &[(usize, Exact)], free: &[(usize, Exact)]) {
        if self.witness.is_empty() {
            self.witness = in_shares(support);
            self.witness_is_minimal = true;
        }
        // A multiple of what is known makes the coefficients of the free rows positive.
        let mut power = 0;
        for (row, coefficient) in free {
            if coefficient.sign() == Ordering::Less {
                let ((_, wanted), (_, have)) = (coefficient.scaled(), self.combination[row].scaled());
                power = power.max(wanted - have + 2);
            }
        }
        if power > 0 {
            let factor = Exact::new(IBig::from(1), power);
            self.combination.values_mut().for_each(|value| *value = value.times(&factor));
        }
        for (row, coefficient) in support.iter().chain(free) {
            let sum = self.combination.entry(*row).or_insert_with(Exact::zero);
            *sum = sum.plus(coefficient);
        }
    }

    /// Adds these rows to the span, and those that are not in it to the basis. False if it was stopped.
    fn extend_span(&mut self, mut rows: &[usize], stop: &mut dyn FnMut() -> bool) -> bool {
        const FEW: usize = 64;
        while !rows.is_empty() {
            if stop() {
                return false;
            }
            let (some, others) = rows.split_at(rows.len().min(FEW));
            for &row in some {
                if self.span.insert_f64(self.examples.entries(row)) {
                    self.basis.push(row);
                    self.solver.take();
                }
            }
            // Rows before the first that a random vector tells apart from the span are in it.
            if others.is_empty() || self.rank() == self.examples.dimension() {
                return true;
            }
            let orthogonal = self.span.orthogonal(&mut Random::new(self.rank() as u64));
            let is_outside = |&row: &usize| modular::dot(&orthogonal, self.examples.entries(row)) != 0;
            rows = others.iter().position(is_outside).map_or(&[], |next| &others[next..]);
        }
        true
    }

    /// The exact positive coefficients of rows whose combination with these shares nearly meets L: all shares but those of a basis, of rows
    /// with large ones, are rounded, and those of the basis follow from one system of equations. None if one of them is not positive, or
    /// if it was stopped.
    pub(super) fn meeting_nearly(
        &self,
        support: &[(usize, f64)],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Combination> {
        const DIGITS: f64 = (1u64 << 40) as f64;
        let most = support.iter().fold(0.0, |most, &(_, share)| f64::max(most, share));
        let mut shares: Vec<(usize, i64)> =
            support.iter().map(|&(row, share)| (row, (share / most * DIGITS) as i64)).collect();
        shares.retain(|&(_, share)| share > 0);
        shares.sort_by_key(|&(row, share)| (std::cmp::Reverse(share), row));
        let mut all = Self { span: self.span.clone(), basis: self.basis.clone(), ..Self::new(self.examples) };
        let rows: Vec<usize> = shares.iter().map(|&(row, _)| row).collect();
        if !all.extend_span(&rows, stop) {
            return None;
        }
        let is_basic: std::collections::BTreeSet<usize> = all.basis.iter().copied().collect();
        let pivots = all.span.pivots();
        let mut place = vec![None; self.examples.dimension()];
        pivots.iter().enumerate().for_each(|(k, &column)| place[column] = Some(k));
        let (matrix, exponents) = all.equations();
        let others = || shares.iter().filter(|(row, _)| !is_basic.contains(row));
        let least = others().map(|&(row, _)| self.integers(row).1).min().unwrap_or(0);
        let mut right = vec![IBig::ZERO; pivots.len()];
        for &(row, share) in others() {
            let (entries, exponent) = self.integers(row);
            for (column, value) in entries {
                if let Some(equation) = place[column] {
                    right[equation] -= (value * IBig::from(share)) << (exponent - least) as usize;
                }
            }
        }
        // Σ numerator/denominator · row·2^−exponent = −Σ share · row·2^−least.
        let (numerators, denominator) = integer::solve(matrix, &right, stop)?;
        let turn = denominator < IBig::ZERO;
        let turned = |value: IBig| if turn { -value } else { value };
        let mut found: Vec<(usize, Exact)> = others()
            .map(|&(row, share)| (row, Exact::new(turned(&denominator * IBig::from(share)), -least)))
            .collect();
        let mut free = Vec::new();
        let is_free = |k: usize| k < self.basis.len();
        let mut is_whole = true;
        for (k, ((&row, value), exponent)) in all.basis.iter().zip(numerators).zip(exponents).enumerate() {
            let share = Exact::new(turned(value), -exponent);
            match (is_free(k), share.sign()) {
                (_, Ordering::Equal) => is_whole &= is_free(k),
                (true, _) => free.push((row, share)),
                (false, Ordering::Greater) => found.push((row, share)),
                (false, Ordering::Less) => return None,
            }
        }
        let span = is_whole.then_some((all.span, all.basis));
        (!found.is_empty()).then_some(Combination { support: found, free, span })
    }

    /// Splits the rows: those in L, and the others. Decided modulo a prime, where a row outside L looks like one inside
    /// only by an accident of probability 2⁻⁶¹; what is decided is checked exactly at the end.
    pub(super) fn split(&self, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
        if self.rank() == self.examples.dimension() {
            return (rows.to_vec(), Vec::new());
        }
        if self.basis.is_empty() && self.combination.is_empty() {
            return (Vec::new(), rows.to_vec());
        }
        let orthogonal = self.span.orthogonal(&mut Random::new(0x5eed));
        let inside = |&&row: &&usize| modular::dot(&orthogonal, self.examples.entries(row)) == 0;
        rows.par_iter().with_min_len(1024).partition(inside)
    }

    /// Where these rows, none of them in L, lie modulo L; none if the budget ended first.
    pub(super) fn locate(
        &self,
        space: &Space<'_>,
        rows: &[usize],
        start: &[(usize, f64)],
        budget: &mut Budget<'_>,
    ) -> Option<Side> {
        let mut start = start.to_vec();
        budget.begin("nearest point");
        if let Some(side) = self.attempt::<f64>(space, rows, &mut start, budget) {
            return Some(side);
        }
        budget.begin("nearest point, in higher precision");
        if let Some(side) = self.attempt::<DoubleDouble>(space, rows, &mut start, budget) {
            return Some(side);
        }
        if budget.is_over() {
            return None;
        }
        budget.begin("nearest point, in whole numbers");
        self.exactly(rows, &start, space.radius, budget)
    }

    /// One precision: what it finds counts only if whole numbers confirm it.
    fn attempt<T: Real>(
        &self,
        space: &Space<'_>,
        rows: &[usize],
        start: &mut Vec<(usize, f64)>,
        budget: &mut Budget<'_>,
    ) -> Option<Side> {
        if budget.is_over() {
            return None;
        }
        let found = nearest::<T>(space, rows, &self.basis, start, budget);
        if found.w.is_empty() {
            return None;
        }
        if !found.support.is_empty() {
            *start = found.support.iter().map(|&(row, weight)| (row, weight[0])).collect();
        }
        // Between these distances both are possible, and both are tried.
        if found.end != End::Origin && found.relative_distance > 8.0 * T::ROUNDOFF {
            let w = self.vanishing(&found.w, &mut || budget.is_over())?;
            if let Ok(agreements) = positive_agreements(self.examples, rows, &w, space.radius) {
                return Some(Side::Positive { w, agreements, support: found.support });
            }
        }
        if found.relative_distance < T::ROUNDOFF.sqrt() { self.meeting(&found.support) } else { None }
    }

    /// The exact search in whole numbers, which always ends with an answer.
    fn exactly(
        &self,
        rows: &[usize],
        start: &[(usize, f64)],
        radius: f64,
        budget: &mut Budget<'_>,
    ) -> Option<Side> {
        let points = Points { examples: self.examples, hull: Hull::Directions };
        let start = Start { rows: start.to_vec() };
        let whole = |(row, value): (usize, IBig)| (row, Exact::new(value, 0));
        match exact_point(points, &self.basis, rows, &start, &mut || budget.is_over()) {
            exact_point::End::Outside { weights, exponent, .. } => {
                let w = ExactVector { values: weights, exponent };
                let agreements = positive_agreements(self.examples, rows, &w, radius).ok()?;
                Some(Side::Positive { w, agreements, support: Vec::new() })
            }
            exact_point::End::Inside { support, free } => Some(Side::Meets {
                support: support.into_iter().map(whole).collect(),
                free: self
                    .basis
                    .iter()
                    .copied()
                    .zip(free)
                    .filter(|(_, value)| !value.is_zero())
                    .map(whole)
                    .collect(),
            }),
            exact_point::End::Empty | exact_point::End::Stopped => None,
        }
    }

    /// The vector w, changed in as many coordinates as L has dimensions so that it vanishes on L exactly. None if it was stopped.
    pub(super) fn vanishing(&self, w: &[[f64; 2]], stop: &mut dyn FnMut() -> bool) -> Option<ExactVector> {
        let mut w = ExactVector::from_parts(w);
        if self.basis.is_empty() {
            return Some(w);
        }
        let pivots = self.span.pivots();
        let mut is_pivot = vec![false; w.values.len()];
        pivots.iter().for_each(|&column| is_pivot[column] = true);
        let rest = |&row: &usize| {
            let (entries, _) = self.integers(row);
            let others = entries.into_iter().filter(|&(column, _)| !is_pivot[column]);
            others.fold(IBig::ZERO, |rest, (column, value)| rest - value * &w.values[column])
        };
        let right: Vec<IBig> = self.basis.iter().map(rest).collect();
        // The block is not singular: it is not even modulo the prime.
        let (numerators, denominator) = self.solver(stop)?.solve_watched(&right, stop)?;
        w.values.iter_mut().for_each(|value| *value *= &denominator);
        pivots.iter().zip(numerators).for_each(|(&column, value)| w.values[column] = value);
        Some(w)
    }

    /// The exact positive coefficients, one up to scale, with which these rows meet L, if there are such; rows whose coefficient is
    /// zero are left out.
    pub(super) fn circuit(&self, rows: &[usize]) -> Option<Vec<(usize, Exact)>> {
        let support: Vec<(usize, [f64; 2])> = rows.iter().map(|&row| (row, [1.0, 0.0])).collect();
        match self.meeting(&support)? {
            Side::Meets { support, .. } => Some(support),
            Side::Positive { .. } => None,
        }
    }

    /// The exact coefficients with which these rows meet L, if they are positive.
    fn meeting(&self, support: &[(usize, [f64; 2])]) -> Option<Side> {
        let rows: Vec<usize> = support.iter().map(|&(row, _)| row).collect();
        let coefficients = self.vanishing_sum(&rows)?;
        let (inside, free) = coefficients.split_at(rows.len());
        let sign = inside.iter().map(|(_, value)| value.sign()).find(|&sign| sign != Ordering::Equal)?;
        if inside.iter().any(|(_, value)| value.sign() == sign.reverse()) {
            return None;
        }
        let unit = Exact::from_f64(if sign == Ordering::Greater { 1.0 } else { -1.0 });
        let oriented = |part: &[(usize, Exact)]| -> Vec<(usize, Exact)> {
            part.iter()
                .filter(|(_, value)| value.sign() != Ordering::Equal)
                .map(|(row, value)| (*row, value.times(&unit)))
                .collect()
        };
        Some(Side::Meets { support: oriented(inside), free: oriented(free) })
    }

    /// The coefficients, one up to scale, with which these rows and the basis of L sum to zero.
    fn vanishing_sum(&self, rows: &[usize]) -> Option<Vec<(usize, Exact)>> {
        let all: Vec<usize> = rows.iter().chain(&self.basis).copied().collect();
        let used: BTreeMap<usize, usize> = all
            .iter()
            .flat_map(|&row| self.examples.entries(row).map(|(column, _)| column))
            .collect::<std::collections::BTreeSet<usize>>()
            .into_iter()
            .enumerate()
            .map(|(place, column)| (column, place))
            .collect();
        let mut exponents = Vec::new();
        let columns: Vec<Vec<IBig>> = all
            .iter()
            .map(|&row| {
                let (places, values): (Vec<usize>, Vec<f64>) =
                    self.examples.entries(row).map(|(column, value)| (used[&column], value)).unzip();
                let (values, exponent) = integer::integers(&values);
                exponents.push(exponent);
                let mut dense = vec![IBig::ZERO; used.len()];
                places.into_iter().zip(values).for_each(|(place, value)| dense[place] = value);
                dense
            })
            .collect();
        let vector = integer::null_vector(&columns)?;
        let coefficients = all
            .into_iter()
            .zip(vector)
            .zip(exponents)
            .map(|((row, value), exponent)| (row, Exact::new(value, -exponent)))
            .collect();
        Some(coefficients)
    }

    /// The proof that each of these rows of B is in L: rows of the combination, and if they do not name them all,
    /// vectors orthogonal to all of them, as many as L leaves dimensions of the coordinates that they use. Few rows are
    /// named one by one; for many the vectors are shorter. None if it was stopped.
    pub(super) fn prove(
        &mut self,
        boundary: &[usize],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<Sparse>> {
        const MAX_ENTRIES: usize = 1 << 20;
        const MAX_ROWS: usize = 500;
        let unnamed: Vec<usize> =
            boundary.iter().copied().filter(|row| !self.combination.contains_key(row)).collect();
        if unnamed.is_empty() {
            return Some(Vec::new());
        }
        let mut used = vec![false; self.examples.dimension()];
        for &row in boundary {
            self.examples.entries(row).for_each(|(column, _)| used[column] = true);
        }
        let places: Vec<usize> = (0..used.len()).filter(|&column| used[column]).collect();
        let missing = places.len().saturating_sub(self.rank());
        if missing == 0 {
            return Some(Vec::new());
        }
        // A vector costs as much as a row, and there are often far more of them.
        let many = missing * (self.rank() + 1) > MAX_ENTRIES || missing > 16 * unnamed.len();
        if many && unnamed.len() <= MAX_ROWS {
            for row in unnamed {
                if stop() {
                    return None;
                }
                if let Some(coefficients) = self.vanishing_sum(&[row]) {
                    let unit =
                        Exact::from_f64(if coefficients[0].1.sign() == Ordering::Less { -1.0 } else { 1.0 });
                    let mut terms = coefficients.into_iter().map(|(row, value)| (row, value.times(&unit)));
                    let support: Vec<(usize, Exact)> = terms.by_ref().take(1).collect();
                    self.add_circuit(
                        support,
                        terms.filter(|(_, value)| value.sign() != Ordering::Equal).collect(),
                    );
                }
            }
            return Some(Vec::new());
        }
        let mut place = vec![0; used.len()];
        places.iter().enumerate().for_each(|(k, &column)| place[column] = k);
        let rows: Vec<SparseRow> = self
            .basis
            .iter()
            .map(|&row| {
                let (mut entries, _) = self.integers(row);
                entries.iter_mut().for_each(|(column, _)| *column = place[*column]);
                entries
            })
            .collect();
        let pivots: Vec<usize> = self.span.pivots().iter().map(|&column| place[column]).collect();
        let kernel = integer::kernel_at(&rows, (self.solver(stop)?, &pivots), places.len(), stop)?;
        let whole = |vector: Vec<IBig>| {
            let mut values = vec![IBig::ZERO; self.examples.dimension()];
            places.iter().zip(vector).for_each(|(&column, value)| values[column] = value);
            let mut vector = values;
            integer::make_primitive(&mut vector);
            ExactVector { values: vector, exponent: 0 }.to_sparse()
        };
        Some(kernel.into_iter().map(whole).collect())
    }

    /// λ > 0 with Σ λ z = 0, on rows that span L.
    pub(super) fn shares(&self) -> &BTreeMap<usize, Exact> {
        &self.combination
    }

    /// The same, as certificates have it.
    pub(super) fn combination(&self) -> Sparse {
        self.combination.iter().map(|(&row, value)| (row, value.to_dyadic())).collect()
    }
}

/// Coefficients as shares of their sum, the largest first.
pub(super) fn in_shares(coefficients: &[(usize, Exact)]) -> Vec<(usize, f64)> {
    let most = coefficients.iter().map(|(_, value)| value.scaled().1).max().unwrap_or(0);
    let scale = Exact::new(IBig::from(1), -most);
    let sizes: Vec<f64> = coefficients.iter().map(|(_, value)| value.times(&scale).approximate()).collect();
    let total: f64 = sizes.iter().sum();
    let mut shares: Vec<(usize, f64)> =
        coefficients.iter().zip(sizes).map(|(&(row, _), size)| (row, size / total)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

#[cfg(test)]
mod tests;

//! The function that a kernel perceptron learns.

use super::Kernel;
use super::dual::{SIDE, WIDE};
use super::form::Form;
use super::gram::{Gram, Support, Tile, square};
use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::learners::Combine;
use crate::train::learners::registry::Registered;

/// f(x) = Σ c_j K(x_j, x) over support rows, or the votes of all functions of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelMachine {
    gram: Gram,
    terms: Terms,
    combine: Combine,
    /// There are no weights of features to look at.
    theta: Theta,
}

/// What the kernel values of a row are joined with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Terms {
    /// One coefficient for each support row.
    Sum(Vec<f64>),
    /// The updates one by one, as support row and signed size, and how many examples each function survived: the
    /// first, which is zero, then one after each update.
    Votes { sequence: Vec<(u32, f64)>, survivals: Vec<u64> },
}

/// The updates of a run.
pub(super) struct History {
    /// Support row and signed size of each.
    pub(super) sequence: Vec<(u32, f64)>,
    /// How many examples had been seen before each.
    pub(super) seen_before: Vec<u64>,
    /// Examples seen in all.
    pub(super) seen: u64,
}

/// Support rows that meet all tiles of a group before the next ones come.
const PANEL: usize = 64;

/// Tiles that are worked on together.
const TILES: usize = 4;

impl KernelMachine {
    /// Joins the functions of a run.
    pub(super) fn new(gram: Gram, columns: usize, combine: Combine, history: History) -> Self {
        let History { sequence, seen_before, seen } = history;
        let mut coefficients = vec![0.0; gram.support.len()];
        let terms = match combine {
            Combine::Last => {
                for &(row, size) in &sequence {
                    coefficients[row as usize] += size;
                }
                Terms::Sum(coefficients)
            }
            // The mean of f after each of T examples: an update by example c, from 0, is part of T − c of them.
            Combine::Average => {
                for (&(row, size), &before) in sequence.iter().zip(&seen_before) {
                    coefficients[row as usize] += size * ((seen - before) as f64 / seen as f64);
                }
                Terms::Sum(coefficients)
            }
            Combine::Vote => {
                let starts = std::iter::once(0).chain(seen_before.iter().copied());
                let ends = seen_before.iter().copied().chain(std::iter::once(seen));
                Terms::Votes {
                    sequence,
                    survivals: starts.zip(ends).map(|(start, end)| end - start).collect(),
                }
            }
        };
        let theta = Theta::zero(columns, gram.bias_input);
        Self { gram, terms, combine, theta }
    }

    /// A machine from its parts, which may come from anywhere: see [`is_consistent`](Self::is_consistent).
    pub(super) fn from_parts(
        kernel: Kernel,
        combine: Combine,
        (columns, bias_input): (usize, f64),
        support: Support,
        terms: Terms,
    ) -> Self {
        let gram = Gram { form: Form::new(kernel, columns), bias_input, support };
        Self { gram, terms, combine, theta: Theta::zero(columns, bias_input) }
    }

    /// Computes what is not kept in files.
    pub(super) fn measure(&mut self) {
        self.gram.support.measure();
    }

    /// The kernel, with all its numbers.
    pub fn kernel(&self) -> Kernel {
        self.gram.form.kernel()
    }

    /// How the functions of the run are combined.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// How many rows the function is made of.
    pub fn support(&self) -> usize {
        self.gram.support.len()
    }

    /// How many functions vote; 1 where they are joined into one.
    pub fn functions(&self) -> usize {
        match &self.terms {
            Terms::Sum(_) => 1,
            Terms::Votes { survivals, .. } => survivals.len(),
        }
    }

    pub(super) fn parts(&self) -> (&Support, &Terms) {
        (&self.gram.support, &self.terms)
    }

    /// A zero θ of the right width: a function in the kernel's space has no weights of features.
    pub(crate) fn theta(&self) -> &Theta {
        &self.theta
    }

    /// The updates of a run that votes, as support row and signed size; none where its functions are joined.
    #[doc(hidden)]
    pub fn sequence(&self) -> &[(u32, f64)] {
        match &self.terms {
            Terms::Sum(_) => &[],
            Terms::Votes { sequence, .. } => sequence,
        }
    }

    /// The number of rows that each function of a voting run survived.
    #[doc(hidden)]
    pub fn survivals(&self) -> &[u64] {
        match &self.terms {
            Terms::Sum(_) => &[],
            Terms::Votes { survivals, .. } => survivals,
        }
    }

    /// The score of a row that has no column beyond those learned on.
    pub fn score(&self, row: Row<'_>) -> f64 {
        let mut score = 0.0;
        self.with_values::<1>(&[row], |values| [score] = self.join(values));
        score
    }

    /// The scores of rows; many at a time take far less time than one by one.
    pub fn scores(&self, rows: &[Row<'_>]) -> Vec<f64> {
        let mut scores = Vec::with_capacity(rows.len().next_multiple_of(SIDE));
        if self.theta.weights.len() <= WIDE {
            self.with_values::<SIDE>(rows, |values| scores.extend(self.join(values)));
        } else {
            self.with_values::<1>(rows, |values| scores.extend(self.join(values)));
        }
        scores.truncate(rows.len());
        scores
    }

    /// K(x_j, x) for each support row j, for each of the rows.
    #[doc(hidden)]
    pub fn support_values(&self, rows: &[Row<'_>]) -> Vec<Vec<f64>> {
        let mut found: Vec<Vec<f64>> = Vec::new();
        self.with_values::<SIDE>(rows, |values| {
            found.extend((0..SIDE).map(|r| values.iter().map(|value| value[r]).collect()));
        });
        found.truncate(rows.len());
        found
    }

    /// Gives the values of all support rows with each R rows.
    fn with_values<const R: usize>(&self, rows: &[Row<'_>], mut give: impl FnMut(&[[f64; R]])) {
        let all: Vec<u32> = (0..self.gram.support.len() as u32).collect();
        let count = rows.len().div_ceil(R).min(TILES);
        let mut tiles = vec![Tile::<R>::new(self.theta.weights.len()); count];
        let mut values: Vec<Vec<[f64; R]>> = vec![Vec::with_capacity(all.len()); count];
        for group in rows.chunks(TILES * R) {
            for (rows, (tile, values)) in group.chunks(R).zip(tiles.iter_mut().zip(&mut values)) {
                values.clear();
                for (at, &row) in rows.iter().enumerate() {
                    tile.place(at, row, square(row));
                }
            }
            for panel in all.chunks(PANEL) {
                for (_, (tile, values)) in group.chunks(R).zip(tiles.iter().zip(&mut values)) {
                    self.gram.values(panel, tile, values);
                }
            }
            for (rows, (tile, values)) in group.chunks(R).zip(tiles.iter_mut().zip(&values)) {
                give(values);
                for (at, &row) in rows.iter().enumerate() {
                    tile.clear(at, row);
                }
            }
        }
    }

    /// The scores that belong to the values of all support rows.
    fn join<const R: usize>(&self, values: &[[f64; R]]) -> [f64; R] {
        let mut scores = [0.0; R];
        match &self.terms {
            Terms::Sum(coefficients) => {
                for (coefficient, value) in coefficients.iter().zip(values) {
                    for r in 0..R {
                        scores[r] += coefficient * value[r];
                    }
                }
                scores
            }
            Terms::Votes { sequence, survivals } => {
                let (mut balance, mut total) = ([0.0; R], 0.0);
                let steps = sequence.iter().map(|&(row, size)| (size, values[row as usize]));
                for ((size, value), &survived) in std::iter::once((0.0, [0.0; R])).chain(steps).zip(survivals)
                {
                    let survived = survived as f64;
                    total += survived;
                    for r in 0..R {
                        scores[r] += size * value[r];
                        balance[r] += if scores[r] >= 0.0 { survived } else { -survived };
                    }
                }
                if total > 0.0 {
                    balance.map(|balance| balance / total)
                } else {
                    scores.map(|score| if score >= 0.0 { 1.0 } else { -1.0 })
                }
            }
        }
    }

    /// Whether the parts fit together, for rows with `columns` features.
    pub(crate) fn is_consistent(&self, columns: usize) -> bool {
        let Support { offsets, indices, values, complete, .. } = &self.gram.support;
        let rows = offsets.len().saturating_sub(1);
        let shape = offsets.first() == Some(&0)
            && offsets.last() == Some(&indices.len())
            && indices.len() == values.len()
            && offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !shape || u32::try_from(rows).is_err() {
            return false;
        }
        let increasing = |range: &[usize]| {
            let columns_of = &indices[range[0]..range[1]];
            columns_of.windows(2).all(|pair| pair[0] < pair[1])
                && columns_of.last().is_none_or(|&last| (last as usize) < columns)
        };
        let options = super::KernelOptions { kernel: self.kernel(), combine: self.combine, cache_bytes: 0 };
        self.theta.weights.len() == columns
            && options.validate().is_ok()
            && offsets.windows(2).all(increasing)
            && values.iter().all(|value| value.is_finite())
            && (!complete || offsets.windows(2).all(|pair| pair[1] - pair[0] == columns))
            && (!complete || matches!(self.gram.form, Form::Rbf { .. }))
            && match &self.terms {
                Terms::Sum(coefficients) => {
                    self.combine != Combine::Vote
                        && coefficients.len() == rows
                        && coefficients.iter().all(|coefficient| coefficient.is_finite())
                }
                Terms::Votes { sequence, survivals } => {
                    self.combine == Combine::Vote
                        && survivals.len() == sequence.len() + 1
                        && sequence.iter().all(|&(row, size)| (row as usize) < rows && size.is_finite())
                }
            }
    }
}

//! The scores of all rows, each brought up to date when it is needed.
//!
//! f(x_i) is needed when row i is visited, and most of it was known at the visit before: the score of each row is
//! kept with the number of updates that it contains, and a visit adds what has come since. So a run costs one
//! kernel value for each pair of update and row, however many passes it makes. Rows that are about to be visited
//! are brought up to date together, on all cores; a mistake among them concerns the rest of them only. Values of
//! rows that are mistaken again and again are kept, as many as fit.
//!
//! The terms of a score are added one by one, in the order of the updates. This order is that of the plain
//! algorithm and knows nothing of blocks, threads or kept values: they change the time, never a bit.

use super::gram::{Cells, Gram, Single, Tile, square};
use crate::dataset::{Dataset, Row};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes of tiles that one thread works on at a time: they should stay in its cache.
const TILE_BYTES: usize = 512 * 1024;

/// The most tiles that one thread works on at a time.
const MAX_TILES: usize = 8;

/// Updates that meet all tiles of a thread before the next ones come.
const PANEL: usize = 64;

/// Products that one thread finishes before others could begin.
const LITTLE_WORK: usize = 200_000;

/// A kernel value adds this many products' worth of time to its inner product.
const VALUE_WORK: usize = 32;

/// No such number.
const NONE: u32 = u32::MAX;

/// Where row i stands.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// f(x_i) = Σ s_t K(x_t, x_i) of the function after `upto` updates.
    pub(super) score: f64,
    /// Σ |s_t K(x_t, x_i)|, which tells what rounding can have done to it.
    pub(super) size: f64,
    upto: usize,
    /// Kernel values with support rows, by slot; NaN where unknown.
    known: Vec<f64>,
}

/// One update: f += size · K(row, ·).
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Which support row.
    pub(super) row: u32,
    /// Its label times its weight.
    pub(super) size: f64,
}

/// The updates of a run, and what they make of each row, R rows side by side.
pub(super) struct Scores<'a, const R: usize> {
    data: &'a Dataset,
    pub(super) gram: Gram,
    pub(super) steps: Vec<Step>,
    standings: Vec<Standing>,
    /// ‖x‖² of each row.
    pub(super) squares: Vec<f64>,
    /// Which support row a row is.
    place: Vec<u32>,
    /// The row that each support row is.
    pub(super) origin: Vec<u32>,
    /// The slot of each support row among the values that are kept.
    slots: Vec<u32>,
    slots_taken: usize,
    most_slots: usize,
    benches: Mutex<Vec<Bench<R>>>,
    /// For visits, which come one by one.
    single: Tile<1>,
    lists: Lists<1>,
}

/// What a thread works with.
#[derive(Default)]
struct Bench<const R: usize> {
    tiles: Vec<Tile<R>>,
    lists: Lists<R>,
}

/// Lists that are filled anew for each panel.
#[derive(Default)]
struct Lists<const N: usize> {
    /// The kernel values of all updates.
    values: Vec<[f64; N]>,
    /// Those that were not known.
    fresh: Vec<[f64; N]>,
    /// Their support rows.
    chosen: Vec<u32>,
    /// Their places among the updates.
    missing: Vec<u32>,
}

/// A row that is brought up to date.
type Late = (usize, Standing);

impl<'a, const R: usize> Scores<'a, R> {
    /// The scores of f = 0. Kernel values take at most `cache_bytes`.
    pub(super) fn new(data: &'a Dataset, gram: Gram, cache_bytes: u64) -> Self {
        let rows = data.len();
        Self {
            data,
            gram,
            steps: Vec::new(),
            standings: std::iter::repeat_with(Standing::default).take(rows).collect(),
            squares: (0..rows).into_par_iter().with_min_len(256).map(|i| square(data.row(i))).collect(),
            place: vec![NONE; rows],
            origin: Vec::new(),
            slots: Vec::new(),
            slots_taken: 0,
            most_slots: usize::try_from(cache_bytes).unwrap_or(usize::MAX) / size_of::<f64>() / rows,
            benches: Mutex::new(Vec::new()),
            single: Tile::new(data.columns()),
            lists: Lists::default(),
        }
    }

    /// Row i, as it stands.
    pub(super) fn standing(&self, i: usize) -> &Standing {
        &self.standings[i]
    }

    /// f += size · K(x_i, ·)
    pub(super) fn update(&mut self, i: usize, size: f64) {
        let row = self.support_row(i);
        self.steps.push(Step { row, size });
    }

    /// Products that one kernel value takes, about.
    pub(super) fn value_work(&self) -> usize {
        self.gram.support.values.len() / self.gram.support.len().max(1) + VALUE_WORK
    }

    /// Brings rows up to date.
    pub(super) fn catch_up(&mut self, rows: impl Iterator<Item = usize>) {
        let updates = self.steps.len();
        let mut late: Vec<Late> =
            rows.filter(|&i| self.standings[i].upto < updates).map(|i| (i, Standing::default())).collect();
        for (i, standing) in &mut late {
            std::mem::swap(standing, &mut self.standings[*i]);
        }
        // Rows that miss about the same updates share a tile.
        late.sort_unstable_by_key(|(i, standing)| (standing.upto, *i));
        let work =
            late.iter().map(|(_, standing)| updates - standing.upto).sum::<usize>() * self.value_work();
        let tiles = (TILE_BYTES / (self.data.columns().max(1) * size_of::<[f64; R]>())).clamp(1, MAX_TILES);
        if work <= LITTLE_WORK {
            late.chunks_mut(tiles * R).for_each(|rows| self.add_updates(rows));
        } else {
            let share = late.len().div_ceil(rayon::current_num_threads()).div_ceil(R).clamp(1, tiles);
            late.par_chunks_mut(share * R).for_each(|rows| self.add_updates(rows));
        }
        for (i, standing) in late {
            self.standings[i] = standing;
        }
    }

    /// Adds what few updates there are since the last pause to the score of one row, as it lies in the data.
    pub(super) fn add_few(&mut self, i: usize) {
        let range = self.standings[i].upto..self.steps.len();
        if range.is_empty() {
            return;
        }
        let mut rows = [(i, std::mem::take(&mut self.standings[i]))];
        let (row, square) = (self.data.row(i), self.squares[i]);
        let mut lists = std::mem::take(&mut self.lists);
        match row {
            Row::DenseF32(values) => self.add_panel(range, &Single(values, square), &mut rows, &mut lists),
            Row::DenseF64(values) => self.add_panel(range, &Single(values, square), &mut rows, &mut lists),
            Row::SparseF32(..) | Row::SparseF64(..) => {
                self.single.place(0, row, square);
                self.add_panel(range, &self.single, &mut rows, &mut lists);
                self.single.clear(0, row);
            }
        }
        let [(_, mut standing)] = rows;
        standing.upto = self.steps.len();
        (self.standings[i], self.lists) = (standing, lists);
    }

    /// Adds to the scores what they miss. The rows are sorted by what they contain already.
    fn add_updates(&self, late: &mut [Late]) {
        let updates = self.steps.len();
        let taken = self.benches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bench = taken.unwrap_or_default();
        while bench.tiles.len() < late.len().div_ceil(R) {
            bench.tiles.push(Tile::new(self.data.columns()));
        }
        for (rows, tile) in late.chunks(R).zip(&mut bench.tiles) {
            for (at, &(i, _)) in rows.iter().enumerate() {
                tile.place(at, self.data.row(i), self.squares[i]);
            }
        }
        for start in (late[0].1.upto..updates).step_by(PANEL) {
            let end = (start + PANEL).min(updates);
            for (tile, rows) in late.chunks_mut(R).enumerate() {
                let from = start.max(rows[0].1.upto);
                if from < end {
                    self.add_panel(from..end, &bench.tiles[tile], rows, &mut bench.lists);
                }
            }
        }
        for (rows, tile) in late.chunks_mut(R).zip(&mut bench.tiles) {
            for (at, (i, standing)) in rows.iter_mut().enumerate() {
                standing.upto = updates;
                tile.clear(at, self.data.row(*i));
            }
        }
        self.benches.lock().unwrap_or_else(PoisonError::into_inner).push(bench);
    }

    /// Adds the updates of a range to the scores of up to N rows.
    fn add_panel<const N: usize>(
        &self,
        range: Range<usize>,
        cells: &impl Cells<N>,
        rows: &mut [Late],
        Lists { values, fresh, chosen, missing }: &mut Lists<N>,
    ) {
        values.clear();
        chosen.clear();
        missing.clear();
        for (number, step) in self.steps[range.clone()].iter().enumerate() {
            let known = self.known(step.row, rows);
            if known.is_none() {
                chosen.push(step.row);
                missing.push(number as u32);
            }
            values.push(known.unwrap_or([0.0; N]));
        }
        fresh.clear();
        self.gram.values(chosen, cells, fresh);
        for ((&number, &row), found) in missing.iter().zip(chosen.iter()).zip(fresh.iter()) {
            values[number as usize] = *found;
            self.keep(row, rows, found);
        }
        // A row of no one contains everything already.
        let mut upto = [usize::MAX; N];
        let (mut scores, mut sizes) = ([0.0; N], [0.0; N]);
        for (r, (_, standing)) in rows.iter().enumerate() {
            (upto[r], scores[r], sizes[r]) = (standing.upto, standing.score, standing.size);
        }
        for (number, (step, value)) in range.clone().zip(self.steps[range].iter().zip(values.iter())) {
            for r in 0..N {
                let term = if number >= upto[r] { step.size * value[r] } else { 0.0 };
                scores[r] += term;
                sizes[r] += term.abs();
            }
        }
        for (r, (_, standing)) in rows.iter_mut().enumerate() {
            (standing.score, standing.size) = (scores[r], sizes[r]);
        }
    }

    /// The values of a support row with the rows of a tile, if they were kept.
    #[inline]
    fn known<const N: usize>(&self, row: u32, rows: &[Late]) -> Option<[f64; N]> {
        let slot = self.slots[row as usize] as usize;
        if slot >= self.slots_taken {
            return None;
        }
        let mut values = [0.0; N];
        for (value, (_, standing)) in values.iter_mut().zip(rows) {
            *value = standing.known.get(slot).copied().filter(|known| !known.is_nan())?;
        }
        Some(values)
    }

    /// Keeps the values of a support row with the rows of a tile, if there is a slot for them.
    #[inline]
    fn keep(&self, row: u32, rows: &mut [Late], values: &[f64]) {
        let slot = self.slots[row as usize] as usize;
        if slot >= self.slots_taken {
            return;
        }
        for (value, (_, Standing { known, .. })) in values.iter().zip(rows) {
            if known.len() <= slot {
                // Grown by halves, and never beyond what is allowed.
                let room = (known.len() + known.len() / 2).max(self.slots_taken).min(self.most_slots);
                known.reserve_exact(room - known.len());
                known.resize(self.slots_taken, f64::NAN);
            }
            known[slot] = *value;
        }
    }

    /// The number of row i among the support rows.
    fn support_row(&mut self, i: usize) -> u32 {
        let first = self.place[i] == NONE;
        if first {
            self.place[i] = self.gram.support.push(self.data.row(i));
            self.origin.push(i as u32);
            self.slots.push(NONE);
        }
        let row = self.place[i];
        // Where not every row can have a slot, those that are mistaken again have better use for it.
        let deserved = !first || self.most_slots >= self.standings.len();
        if deserved && self.slots[row as usize] == NONE && self.slots_taken < self.most_slots {
            self.slots[row as usize] = self.slots_taken as u32;
            self.slots_taken += 1;
        }
        row
    }

    /// How many slots are taken, and the bytes of all values that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        let capacity: usize = self.standings.iter().map(|standing| standing.known.capacity()).sum();
        (self.slots_taken, capacity * size_of::<f64>())
    }
}

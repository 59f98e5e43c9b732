//! The inverse of a matrix modulo the prime 2⁶¹ − C, in a form that keeps the zeros of a sparse matrix.
//!
//! Columns with few entries are eliminated first, each with the shortest of its rows, for as long as the rest stays sparse: tables of
//! words leave a fifth of their columns or less. Only of that rest the inverse is made entry by entry. A dense matrix is all rest.

use super::super::modular::Field;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

/// Entries of a sparse row, by increasing columns.
type Entries = Vec<(u32, u64)>;

/// With more than one entry in so many, what is left is taken to be dense.
const SPARSE: usize = 5;

/// One column that was eliminated.
struct Step {
    row: u32,
    column: u32,
    /// 1 / the pivot.
    inverse: u64,
    /// The other entries of the pivot's row.
    entries: Entries,
    /// The rows that a multiple of the pivot's row was taken from, with minus that multiple.
    below: Entries,
}

/// A matrix as its inverse modulo the prime.
pub(super) struct Inverse<const C: u64> {
    steps: Vec<Step>,
    /// Rows and columns that were not eliminated.
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// The inverse of their block after the elimination.
    rest: Vec<Vec<u64>>,
}

impl<const C: u64> Inverse<C> {
    /// `None` if the matrix is singular modulo the prime, or if it was stopped. Entries come by increasing columns.
    pub(super) fn new(matrix: Vec<Entries>, stop: &mut dyn FnMut() -> bool) -> Option<Self> {
        let mut work = Work::<C>::new(matrix);
        let mut steps = Vec::new();
        while !work.is_dense() {
            if steps.len() % 64 == 0 && stop() {
                return None;
            }
            steps.push(work.step()?);
        }
        let is_row_left = |&row: &u32| work.is_left[row as usize];
        let rows: Vec<u32> = (0..work.rows.len() as u32).filter(is_row_left).collect();
        let columns: Vec<u32> =
            (0..work.rows.len() as u32).filter(|&column| !work.columns[column as usize].is_done).collect();
        let mut place = vec![0; work.rows.len()];
        columns.iter().enumerate().for_each(|(k, &column)| place[column as usize] = k);
        let dense = rows.iter().map(|&row| {
            let mut dense = vec![0; columns.len()];
            let entries = mem::take(&mut work.rows[row as usize]);
            entries.into_iter().for_each(|(column, value)| dense[place[column as usize]] = value);
            dense
        });
        let rest = invert::<C>(dense.collect(), stop)?;
        Some(Self { steps, rows, columns, rest })
    }

    /// The solution x of A x = b.
    pub(super) fn times(&self, mut b: Vec<u64>) -> Vec<u64> {
        for step in &self.steps {
            let value = b[step.row as usize];
            if value != 0 {
                for &(row, factor) in &step.below {
                    b[row as usize] = multiply_add::<C>(factor, value, b[row as usize]);
                }
            }
        }
        let left: Vec<u64> = self.rows.iter().map(|&row| b[row as usize]).collect();
        let mut x = vec![0; b.len()];
        let found: Vec<u64> =
            self.rest.par_iter().with_min_len(256).map(|row| Field::<C>::dot(row, &left)).collect();
        self.columns.iter().zip(found).for_each(|(&column, value)| x[column as usize] = value);
        for step in self.steps.iter().rev() {
            let known = step
                .entries
                .iter()
                .fold(0, |sum, &(column, value)| multiply_add::<C>(value, x[column as usize], sum));
            let right = Field::<C>::add(b[step.row as usize], Field::<C>::negate(known));
            x[step.column as usize] = Field::<C>::mul(step.inverse, right);
        }
        x
    }
}

#[inline]
fn multiply_add<const C: u64>(a: u64, b: u64, sum: u64) -> u64 {
    Field::<C>::reduce(u128::from(a) * u128::from(b) + u128::from(sum))
}

/// Which rows use a column.
#[derive(Clone, Default)]
struct Column {
    /// How many of those that are left.
    count: usize,
    /// Those that have used it at some time.
    members: Vec<u32>,
    is_done: bool,
}

/// Elimination under way.
struct Work<const C: u64> {
    rows: Vec<Entries>,
    is_left: Vec<bool>,
    columns: Vec<Column>,
    /// Columns by their number of entries, some with a number that they had before.
    queue: BinaryHeap<Reverse<(usize, u32)>>,
    /// Entries, and rows, that are left.
    stored: usize,
    left: usize,
}

impl<const C: u64> Work<C> {
    fn new(rows: Vec<Entries>) -> Self {
        let mut columns = vec![Column::default(); rows.len()];
        for (row, entries) in rows.iter().enumerate() {
            for &(column, _) in entries {
                columns[column as usize].count += 1;
                columns[column as usize].members.push(row as u32);
            }
        }
        let queue = columns.iter().enumerate().map(|(k, column)| Reverse((column.count, k as u32))).collect();
        Self {
            stored: rows.iter().map(Vec::len).sum(),
            left: rows.len(),
            is_left: vec![true; rows.len()],
            columns,
            queue,
            rows,
        }
    }

    fn is_dense(&self) -> bool {
        self.stored * SPARSE >= self.left * self.left
    }

    /// Eliminates the column with the fewest entries. `None` if it has none.
    fn step(&mut self) -> Option<Step> {
        let column = loop {
            let Reverse((count, column)) = self.queue.pop()?;
            let found = &self.columns[column as usize];
            if !found.is_done && found.count == count {
                break column;
            }
        };
        let mut members = mem::take(&mut self.columns[column as usize].members);
        members.sort_unstable();
        members.dedup();
        members.retain(|&row| self.is_left[row as usize] && self.place(row, column).is_some());
        let row = members.iter().copied().min_by_key(|&row| (self.rows[row as usize].len(), row))?;
        let mut entries = mem::take(&mut self.rows[row as usize]);
        self.is_left[row as usize] = false;
        self.columns[column as usize].is_done = true;
        self.left -= 1;
        self.stored -= entries.len();
        let place = entries.binary_search_by_key(&column, |&(column, _)| column).ok()?;
        let (_, pivot) = entries.remove(place);
        let inverse = Field::<C>::inverse(pivot);
        entries.iter().for_each(|&(column, _)| self.columns[column as usize].count -= 1);
        let mut below = Vec::with_capacity(members.len() - 1);
        for other in members {
            if other != row
                && let Some(place) = self.place(other, column)
            {
                let (_, value) = self.rows[other as usize].remove(place);
                let factor = Field::<C>::negate(Field::<C>::mul(value, inverse));
                self.add(other, factor, &entries);
                below.push((other, factor));
            }
        }
        for &(column, _) in &entries {
            self.queue.push(Reverse((self.columns[column as usize].count, column)));
        }
        Some(Step { row, column, inverse, entries, below })
    }

    fn place(&self, row: u32, column: u32) -> Option<usize> {
        self.rows[row as usize].binary_search_by_key(&column, |&(column, _)| column).ok()
    }

    /// Adds a multiple of these entries to a row, of which one entry was just taken out.
    fn add(&mut self, row: u32, factor: u64, entries: &[(u32, u64)]) {
        let own = mem::take(&mut self.rows[row as usize]);
        self.stored -= own.len() + 1;
        let mut sum = Vec::with_capacity(own.len() + entries.len());
        let (mut own, mut added) = (own.into_iter().peekable(), entries.iter().copied().peekable());
        loop {
            match (own.peek().copied(), added.peek().copied()) {
                (Some(entry), next) if next.is_none_or(|next| entry.0 < next.0) => {
                    sum.push(entry);
                    own.next();
                }
                (entry, Some((column, value))) => {
                    added.next();
                    let before = entry.filter(|entry| entry.0 == column).map(|(_, value)| value);
                    let total = multiply_add::<C>(factor, value, before.unwrap_or(0));
                    let found = &mut self.columns[column as usize];
                    match (before.is_some(), total != 0) {
                        (false, true) => {
                            found.count += 1;
                            found.members.push(row);
                        }
                        (true, false) => found.count -= 1,
                        _ => {}
                    }
                    if before.is_some() {
                        own.next();
                    }
                    if total != 0 {
                        sum.push((column, total));
                    }
                }
                _ => break,
            }
        }
        self.stored += sum.len();
        self.rows[row as usize] = sum;
    }
}

/// The inverse of a dense matrix modulo a prime, by Gauss and Jordan in place. `None` if it is singular, or if it was stopped.
fn invert<const C: u64>(mut rows: Vec<Vec<u64>>, stop: &mut dyn FnMut() -> bool) -> Option<Vec<Vec<u64>>> {
    let size = rows.len();
    let mut swaps = Vec::with_capacity(size);
    for k in 0..size {
        if k % 16 == 0 && stop() {
            return None;
        }
        let pivot = (k..size).find(|&i| rows[i][k] != 0)?;
        rows.swap(k, pivot);
        swaps.push(pivot);
        let scale = Field::<C>::inverse(rows[k][k]);
        rows[k][k] = 1;
        rows[k].iter_mut().for_each(|value| *value = Field::<C>::mul(*value, scale));
        let top = mem::take(&mut rows[k]);
        // Few rows are not worth the threads.
        let together = if size < 128 { size } else { 32 };
        rows.par_iter_mut().with_min_len(together).filter(|row| !row.is_empty()).for_each(|row| {
            let factor = Field::<C>::negate(mem::take(&mut row[k]));
            if factor != 0 {
                row.iter_mut()
                    .zip(&top)
                    .for_each(|(value, &above)| *value = multiply_add::<C>(factor, above, *value));
            }
        });
        rows[k] = top;
    }
    for (k, &pivot) in swaps.iter().enumerate().rev() {
        if k != pivot {
            rows.iter_mut().for_each(|row| row.swap(k, pivot));
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Square matrices with few entries in a row and one column that all rows use, as of a bias; of some the first and the last row are
    /// equal.
    fn draw(random: &mut Random, size: usize, most: u64) -> Vec<Entries> {
        let row = |own: usize, random: &mut Random| {
            let mut row = vec![(size as u32 - 1, 1), (own as u32, 1 + Field::<31>::random(random) / 2)];
            for _ in 0..1 + random.below(most) {
                row.push((random.below(size as u64) as u32, 1 + Field::<31>::random(random) / 2));
            }
            row.sort_unstable();
            row.dedup_by_key(|entry| entry.0);
            row
        };
        let mut rows: Vec<Entries> = (0..size).map(|own| row(own, random)).collect();
        if size > 1 && random.below(3) == 0 {
            rows[size - 1] = rows[0].clone();
        }
        rows
    }

    /// A x = b, whether much, little or nothing of the matrix is sparse; and singular matrices are noticed as by the dense way.
    #[test]
    fn solutions_are_right() {
        let mut seen = [0; 3];
        for number in 0..300 {
            let random = &mut Random::stream(91, number);
            let size = 1 + random.below(60) as usize;
            let matrix = draw(random, size, [2, 4, 60][number as usize % 3]);
            let dense = |row: &Entries| {
                let mut dense = vec![0; size];
                row.iter().for_each(|&(column, value)| dense[column as usize] = value);
                dense
            };
            let is_regular = invert::<31>(matrix.iter().map(dense).collect(), &mut || false).is_some();
            let inverse = Inverse::<31>::new(matrix.clone(), &mut || false);
            assert_eq!(inverse.is_some(), is_regular, "{number}");
            let Some(inverse) = inverse else {
                seen[0] += 1;
                continue;
            };
            seen[if inverse.steps.is_empty() { 1 } else { 2 }] += 1;
            let b: Vec<u64> = (0..size).map(|_| Field::<31>::random(random)).collect();
            let x = inverse.times(b.clone());
            for (row, expected) in matrix.iter().zip(b) {
                let sum = row
                    .iter()
                    .fold(0, |sum, &(column, value)| multiply_add::<31>(value, x[column as usize], sum));
                assert_eq!(sum, expected, "{number}");
            }
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }

    /// Of a table of words few columns are left to the dense way; a search that is over is not begun.
    #[test]
    fn words_leave_few_columns() {
        let random = &mut Random::new(5);
        let size = 800;
        let matrix: Vec<Entries> = (0..size as u32)
            .map(|row| {
                let mut entries: Entries = (0..3).map(|_| (random.below(size) as u32, 1)).collect();
                entries.extend([(row, 5), (size as u32 - 1, 1)]);
                entries.sort_unstable();
                entries.dedup_by_key(|entry| entry.0);
                entries
            })
            .collect();
        let inverse = Inverse::<31>::new(matrix.clone(), &mut || false).unwrap();
        assert!(inverse.rows.len() < 300, "{}", inverse.rows.len());
        assert!(Inverse::<31>::new(matrix, &mut || true).is_none());
    }
}

//! Exact linear algebra with whole numbers of any length.
//!
//! Small systems are solved by Bareiss's elimination without fractions. Larger ones by Dixon's p-adic lifting: with
//! the inverse modulo one prime of a word, every further digit of the solution costs two products of a matrix and a
//! vector, and the solution in lowest terms is read off from its digits. A solution is returned only with its proof.

mod inverse;
mod lifting;
#[cfg(test)]
mod tests;

use super::modular::{Echelon, Usual, parts};
use dashu_int::ops::{BitTest, Gcd, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use lifting::Lifting;
use std::collections::BTreeMap;
use std::mem;

/// Up to this size elimination is faster than lifting.
const SMALL: usize = 16;

/// Whole numbers and one exponent with values\[k\] = integers\[k\] · 2^exponent exactly. Not all of them are even,
/// unless all are zero: then the exponent is 0.
pub(crate) fn integers(values: &[f64]) -> (Vec<IBig>, i64) {
    let split: Vec<(i64, i64)> = values.iter().map(|&value| parts(value)).collect();
    let least = split.iter().filter(|&&(mantissa, _)| mantissa != 0).map(|&(_, exponent)| exponent).min();
    let least = least.unwrap_or(0);
    let shifted = split.into_iter().map(|(mantissa, exponent)| match mantissa {
        0 => IBig::ZERO,
        _ => IBig::from(mantissa) << (exponent - least) as usize,
    });
    (shifted.collect(), least)
}

/// ⟨a, b⟩ over the common length.
pub(crate) fn dot(a: &[IBig], b: &[IBig]) -> IBig {
    let terms = a.iter().zip(b).filter(|(a, b)| !a.is_zero() && !b.is_zero());
    terms.fold(IBig::ZERO, |sum, (a, b)| sum + a * b)
}

/// Divides by the largest common divisor; zeros remain zeros.
pub(crate) fn make_primitive(values: &mut [IBig]) {
    let mut divisor = UBig::ZERO;
    for value in values.iter().filter(|value| !value.is_zero()) {
        divisor = if divisor.is_zero() { value.unsigned_abs() } else { divisor.gcd(value.unsigned_abs()) };
        if divisor.is_one() {
            return;
        }
    }
    if !divisor.is_zero() {
        let divisor = IBig::from(divisor);
        values.iter_mut().for_each(|value| *value = mem::take(value) / &divisor);
    }
}

/// Entries of a row that are not zero, by increasing columns.
pub(crate) type SparseRow = Vec<(usize, IBig)>;

/// Solves A x = b: numerators and one positive denominator with A · numerators = denominator · b, in lowest terms.
/// `None` if the square matrix A is singular, or if it was stopped.
pub(crate) fn solve(
    matrix: Vec<SparseRow>,
    rhs: &[IBig],
    stop: &mut dyn FnMut() -> bool,
) -> Option<(Vec<IBig>, IBig)> {
    Solver::watched(matrix, stop)?.solve_watched(rhs, stop)
}

/// The vector λ ≠ 0 with Σ λ_k column_k = 0 where there is just one direction of them: primitive, and its first entry
/// that is not zero is positive. `None` if there is none, or more than one direction.
pub(crate) fn null_vector(columns: &[Vec<IBig>]) -> Option<Vec<IBig>> {
    let count = columns.len();
    let height = columns.iter().map(Vec::len).max()?;
    let entry = |i: usize, k: usize| columns[k].get(i).cloned().unwrap_or(IBig::ZERO);
    let rows: Vec<Vec<IBig>> = (0..height).map(|i| (0..count).map(|k| entry(i, k)).collect()).collect();
    // With one row less than columns the direction is settled; the rest of the rows only has to agree with it.
    let profile = Profile::modular(&rows, count, count - 1);
    let basis = match profile.columns.len() == count - 1 {
        true => profile.kernel(&rows, count)?,
        false => kernel_basis(&rows, count),
    };
    let [vector] = <[Vec<IBig>; 1]>::try_from(basis).ok()?;
    let negative = vector.iter().find(|value| !value.is_zero())?.sign() == Sign::Negative;
    Some(if negative { vector.into_iter().map(|value| -value).collect() } else { vector })
}

/// A basis of the vectors v with ⟨row, v⟩ = 0 for all rows: primitive whole vectors, each with one column of its own
/// where the others are zero. The rows need not be independent; a row shorter than `dimension` ends in zeros.
pub(crate) fn kernel_basis(rows: &[Vec<IBig>], dimension: usize) -> Vec<Vec<IBig>> {
    // The second way is for the rare prime that does not see all of the rank.
    let modular = Profile::modular(rows, dimension, dimension).kernel(rows, dimension);
    modular.or_else(|| Profile::exact(rows, dimension).kernel(rows, dimension)).unwrap_or_default()
}

/// Positions of rows that span all of them and depend on none of those before: by exact elimination, which is slow.
pub(crate) fn independent_rows(rows: &[Vec<IBig>]) -> Vec<usize> {
    let dimension = rows.iter().map(Vec::len).max().unwrap_or(0);
    Profile::exact(rows, dimension).rows
}

/// Rows and columns, equally many, whose block of a matrix is not singular.
struct Profile {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Profile {
    /// Of full rank modulo a prime (or of rank `limit`), which is nearly always the full rank.
    fn modular(rows: &[Vec<IBig>], dimension: usize, limit: usize) -> Self {
        let mut echelon = Echelon::new(dimension);
        let mut chosen = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            if chosen.len() == limit {
                break;
            }
            let residues = row.iter().enumerate().filter(|(_, value)| !value.is_zero());
            if echelon.insert(residues.map(|(column, value)| (column, Usual::of_integer(value)))) {
                chosen.push(i);
            }
        }
        Self { rows: chosen, columns: echelon.pivots().to_vec() }
    }

    /// Of full rank, by elimination without fractions.
    fn exact(rows: &[Vec<IBig>], dimension: usize) -> Self {
        let mut profile = Self { rows: Vec::new(), columns: Vec::new() };
        let padded = rows.iter().map(|row| {
            let mut row = row.clone();
            row.resize(dimension, IBig::ZERO);
            row
        });
        let mut rest: Vec<(usize, Vec<IBig>)> = padded.enumerate().collect();
        let mut previous = IBig::ONE;
        while let Some(next) = rest.iter().position(|(_, row)| row.iter().any(|value| !value.is_zero())) {
            let (i, top) = rest.remove(next);
            let Some(column) = top.iter().position(|value| !value.is_zero()) else { break };
            for (_, row) in &mut rest {
                let factor = row[column].clone();
                for (value, above) in row.iter_mut().zip(&top) {
                    *value = (&*value * &top[column] - &factor * above) / &previous;
                }
            }
            previous = top[column].clone();
            profile.rows.push(i);
            profile.columns.push(column);
        }
        profile
    }

    /// The kernel of all rows, one vector for each column outside the block. `None` if a vector does not agree with a
    /// row outside the block: then the rank is larger than the block.
    fn kernel(&self, rows: &[Vec<IBig>], dimension: usize) -> Option<Vec<Vec<IBig>>> {
        let at = |i: usize, column: usize| rows[i].get(column).cloned().unwrap_or(IBig::ZERO);
        let block: Vec<Vec<IBig>> =
            self.rows.iter().map(|&i| self.columns.iter().map(|&column| at(i, column)).collect()).collect();
        let solver = Solver::new(&block)?;
        let mut inside = vec![false; dimension];
        self.columns.iter().for_each(|&column| inside[column] = true);
        let free = (0..dimension).filter(|&column| !inside[column]);
        let vector = |column: usize| {
            let rhs: Vec<IBig> = self.rows.iter().map(|&i| -at(i, column)).collect();
            let (numerators, denominator) = solver.solve(&rhs)?;
            let mut v = vec![IBig::ZERO; dimension];
            v[column] = denominator;
            self.columns.iter().zip(numerators).for_each(|(&column, value)| v[column] = value);
            rows.iter().all(|row| dot(row, &v).is_zero()).then_some(v)
        };
        free.map(vector).collect()
    }
}

/// A square matrix made ready for several right-hand sides.
///
/// Powers of two that rows or columns have in common are taken out first, so data of mixed scales does not make the
/// numbers long.
pub(crate) struct Solver {
    method: Method,
    /// What was taken out of each row and column.
    row_shifts: Vec<usize>,
    column_shifts: Vec<usize>,
}

enum Method {
    Elimination(Vec<Vec<IBig>>),
    First(Lifting<31>),
    Second(Lifting<45>),
}

impl Solver {
    /// `None` only if the matrix is singular. A small singular matrix may be noticed only by [`Self::solve`].
    pub(crate) fn new(matrix: &[Vec<IBig>]) -> Option<Self> {
        let entry = |(column, value): (usize, &IBig)| (!value.is_zero()).then(|| (column, value.clone()));
        let sparse = |row: &Vec<IBig>| row.iter().enumerate().filter_map(entry).collect();
        Self::watched(matrix.iter().map(sparse).collect(), &mut || false)
    }

    /// The same of sparse rows; also `None` if it was stopped.
    pub(crate) fn watched(mut matrix: Vec<SparseRow>, stop: &mut dyn FnMut() -> bool) -> Option<Self> {
        let size = matrix.len();
        let mut row_shifts = Vec::with_capacity(size);
        for row in &mut matrix {
            let shift = row.iter().filter_map(|(_, value)| value.trailing_zeros()).min()?;
            row.iter_mut().for_each(|(_, value)| *value >>= shift);
            row_shifts.push(shift);
        }
        let mut column_shifts = vec![usize::MAX; size];
        for (column, value) in matrix.iter().flatten() {
            let zeros = value.trailing_zeros().unwrap_or(usize::MAX);
            column_shifts[*column] = column_shifts[*column].min(zeros);
        }
        if column_shifts.contains(&usize::MAX) {
            return None;
        }
        matrix.iter_mut().flatten().for_each(|(column, value)| *value >>= column_shifts[*column]);
        let method = if size <= SMALL {
            Method::Elimination(dense(&matrix))
        } else if let Some(lifting) = Lifting::new(&matrix, stop) {
            Method::First(lifting)
        } else if stop() || is_surely_singular(&dense(&matrix)) {
            return None;
        } else if let Some(lifting) = Lifting::new(&matrix, stop) {
            Method::Second(lifting)
        } else if stop() {
            return None;
        } else {
            Method::Elimination(dense(&matrix))
        };
        Some(Self { method, row_shifts, column_shifts })
    }

    /// Numerators and one positive denominator of the solution, in lowest terms. `None` if the matrix is singular.
    pub(crate) fn solve(&self, rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
        self.solve_watched(rhs, &mut || false)
    }

    /// The same; also `None` if it was stopped.
    pub(crate) fn solve_watched(
        &self,
        rhs: &[IBig],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<(Vec<IBig>, IBig)> {
        let zeros =
            |(value, &shift): (&IBig, &usize)| value.trailing_zeros().map(|z| shift as i64 - z as i64);
        // The right-hand side is multiplied by 2^scale, the least that keeps it whole.
        let scale = rhs.iter().zip(&self.row_shifts).filter_map(zeros).max();
        let scale = scale.unwrap_or(0);
        let scaled: Vec<IBig> =
            rhs.iter().zip(&self.row_shifts).map(|(value, &by)| shifted(value, scale - by as i64)).collect();
        let (mut values, denominator) = match &self.method {
            Method::Elimination(matrix) => eliminate(matrix, &scaled)?,
            Method::First(lifting) => lifting.solve(&scaled, stop)?,
            Method::Second(lifting) => lifting.solve(&scaled, stop)?,
        };
        let most = self.column_shifts.iter().copied().max().unwrap_or(0);
        for (value, &shift) in values.iter_mut().zip(&self.column_shifts) {
            *value <<= most - shift + (-(most as i64) - scale).max(0) as usize;
        }
        values.push(denominator << (most as i64 + scale).max(0) as usize);
        make_primitive(&mut values);
        let denominator = values.pop()?;
        if denominator.sign() == Sign::Negative {
            return Some((values.into_iter().map(|value| -value).collect(), -denominator));
        }
        Some((values, denominator))
    }
}

/// A basis of the vectors v with ⟨row, v⟩ = 0 for all rows, given the solver of their block at as many columns, the pivots: primitive whole
/// vectors, each with one column of its own where the others are zero. `None` if it was stopped.
pub(crate) fn kernel_at(
    rows: &[SparseRow],
    (solver, pivots): (&Solver, &[usize]),
    dimension: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Vec<Vec<IBig>>> {
    let mut is_pivot = vec![false; dimension];
    pivots.iter().for_each(|&column| is_pivot[column] = true);
    let mut right: BTreeMap<usize, Vec<(usize, &IBig)>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        for (column, value) in row.iter().filter(|(column, _)| !is_pivot[*column]) {
            right.entry(*column).or_default().push((i, value));
        }
    }
    let vector = |column: usize| {
        let mut rhs = vec![IBig::ZERO; rows.len()];
        right.get(&column).into_iter().flatten().for_each(|&(i, value)| rhs[i] = -value.clone());
        let (numerators, denominator) = solver.solve_watched(&rhs, stop)?;
        let mut v = vec![IBig::ZERO; dimension];
        v[column] = denominator;
        pivots.iter().zip(numerators).for_each(|(&column, value)| v[column] = value);
        Some(v)
    };
    (0..dimension).filter(|&column| !is_pivot[column]).map(vector).collect()
}

/// The rows of a square matrix with their zeros.
fn dense(matrix: &[SparseRow]) -> Vec<Vec<IBig>> {
    let row = |row: &SparseRow| {
        let mut dense = vec![IBig::ZERO; matrix.len()];
        row.iter().for_each(|(column, value)| dense[*column] = value.clone());
        dense
    };
    matrix.iter().map(row).collect()
}

/// value · 2^by, which must be whole.
pub(crate) fn shifted(value: &IBig, by: i64) -> IBig {
    if by >= 0 { value << by as usize } else { value >> by.unsigned_abs() as usize }
}

/// Whether a vector of the kernel proves that a square matrix is singular. False is no proof of the contrary.
fn is_surely_singular(matrix: &[Vec<IBig>]) -> bool {
    let size = matrix.len();
    let mut profile = Profile::modular(matrix, size, size);
    if profile.columns.len() == size {
        return false;
    }
    // One vector is enough, and it may be zero outside the block but for one column.
    let mut inside = vec![false; size];
    profile.columns.iter().for_each(|&column| inside[column] = true);
    let Some(free) = inside.iter().position(|&inside| !inside) else { return false };
    let narrow: Vec<Vec<IBig>> = matrix
        .iter()
        .map(|row| (0..size).filter(|&c| inside[c] || c == free).map(|c| row[c].clone()).collect())
        .collect();
    profile.columns.iter_mut().for_each(|column| {
        *column = (0..*column).filter(|&c| inside[c] || c == free).count();
    });
    let width = profile.columns.len() + 1;
    profile.kernel(&narrow, width).is_some_and(|basis| !basis.is_empty())
}

/// Bareiss's elimination: a solution with a denominator of any sign, not in lowest terms, `None` if singular.
fn eliminate(matrix: &[Vec<IBig>], rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
    let size = matrix.len();
    let joined = matrix.iter().zip(rhs).map(|(row, b)| row.iter().chain([b]).cloned().collect());
    let mut rows: Vec<Vec<IBig>> = joined.collect();
    let mut previous = IBig::ONE;
    for k in 0..size {
        let pivot = (k..size).filter(|&i| !rows[i][k].is_zero()).min_by_key(|&i| rows[i][k].bit_len())?;
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        let top = &above[k];
        for row in below {
            let factor = mem::take(&mut row[k]);
            for j in k + 1..=size {
                // The division leaves nothing: every entry is a minor of the matrix.
                row[j] = (&row[j] * &top[k] - &factor * &top[j]) / &previous;
            }
        }
        previous = top[k].clone();
    }
    let determinant = previous;
    let mut values = vec![IBig::ZERO; size];
    for i in (0..size).rev() {
        let row = &rows[i];
        let known = dot(&row[i + 1..size], &values[i + 1..]);
        values[i] = (&determinant * &row[size] - known) / &row[i];
    }
    Some((values, determinant))
}

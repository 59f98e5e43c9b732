//! Exact linear algebra with whole numbers of any length.
//!
//! Small systems are solved by Bareiss's elimination without fractions. Larger ones by Dixon's p-adic lifting: with
//! the inverse modulo one prime of a word, every further digit of the solution costs two products of a matrix and a
//! vector, and the solution in lowest terms is read off from its digits. A solution is returned only with its proof.

use super::modular::{Echelon, Field, Usual, parts};
use dashu_int::ops::{Abs, BitTest, DivRem, Gcd, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use std::mem;

/// Up to this size elimination is faster than lifting.
const SMALL: usize = 16;
/// Bits of one slice of a matrix: 4096 products of a slice and a digit fit 128 bits with a sign.
const SLICE: usize = 54;
const TERMS: usize = 4096;

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

/// Solves A x = b: numerators and one positive denominator with A · numerators = denominator · b, in lowest terms.
/// `None` if the square matrix A is singular.
pub(crate) fn solve(matrix: &[Vec<IBig>], rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
    Solver::new(matrix)?.solve(rhs)
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

/// Positions of rows that span all of them and depend on none of those before: by slow elimination, without a doubt.
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
        let size = matrix.len();
        let mut matrix = matrix.to_vec();
        let mut row_shifts = Vec::with_capacity(size);
        for row in &mut matrix {
            let shift = row.iter().filter_map(IBig::trailing_zeros).min()?;
            row.iter_mut().for_each(|value| *value >>= shift);
            row_shifts.push(shift);
        }
        let mut column_shifts = Vec::with_capacity(size);
        for column in 0..size {
            let shift = matrix.iter().filter_map(|row| row[column].trailing_zeros()).min()?;
            matrix.iter_mut().for_each(|row| row[column] >>= shift);
            column_shifts.push(shift);
        }
        let method = if size <= SMALL {
            Method::Elimination(matrix)
        } else if let Some(lifting) = Lifting::new(&matrix) {
            Method::First(lifting)
        } else if is_surely_singular(&matrix) {
            return None;
        } else if let Some(lifting) = Lifting::new(&matrix) {
            Method::Second(lifting)
        } else {
            Method::Elimination(matrix)
        };
        Some(Self { method, row_shifts, column_shifts })
    }

    /// Numerators and one positive denominator of the solution, in lowest terms. `None` if the matrix is singular.
    pub(crate) fn solve(&self, rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
        let zeros =
            |(value, &shift): (&IBig, &usize)| value.trailing_zeros().map(|z| shift as i64 - z as i64);
        // The right-hand side is multiplied by 2^scale, the least that keeps it whole.
        let scale = rhs.iter().zip(&self.row_shifts).filter_map(zeros).max();
        let scale = scale.unwrap_or(0);
        let scaled: Vec<IBig> =
            rhs.iter().zip(&self.row_shifts).map(|(value, &by)| shifted(value, scale - by as i64)).collect();
        let (mut values, denominator) = match &self.method {
            Method::Elimination(matrix) => eliminate(matrix, &scaled)?,
            Method::First(lifting) => lifting.solve(&scaled)?,
            Method::Second(lifting) => lifting.solve(&scaled)?,
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

/// Bits `from .. from + SLICE` of a magnitude.
fn slice(words: &[u64], from: usize) -> u64 {
    let (word, bit) = (from / 64, from % 64);
    let low = words.get(word).map_or(0, |&w| w >> bit);
    let high = if bit == 0 { 0 } else { words.get(word + 1).map_or(0, |&w| w << (64 - bit)) };
    (low | high) & ((1 << SLICE) - 1)
}

/// Entries of one row whose slices at one height are not zero, with their signs.
#[derive(Default)]
struct Slice {
    columns: Vec<u32>,
    values: Vec<i64>,
}

/// A matrix with its inverse modulo the prime 2⁶¹ − C.
struct Lifting<const C: u64> {
    inverse: Vec<Vec<u64>>,
    /// row = Σ_k slices\[k\] · 2^(SLICE·k).
    slices: Vec<Vec<Slice>>,
    /// Bits of the largest entry of each row.
    bits: Vec<usize>,
}

impl<const C: u64> Lifting<C> {
    /// `None` if the matrix is singular modulo the prime.
    fn new(matrix: &[Vec<IBig>]) -> Option<Self> {
        let residues = matrix.iter().map(|row| row.iter().map(Field::<C>::of_integer).collect());
        let inverse = invert::<C>(residues.collect())?;
        let bits = matrix.iter().map(|row| row.iter().map(BitTest::bit_len).max().unwrap_or(0)).collect();
        let slices = matrix.iter().map(|row| {
            let mut slices: Vec<Slice> = Vec::new();
            for (column, value) in row.iter().enumerate() {
                let (sign, words) = value.as_sign_words();
                for height in 0..value.bit_len().div_ceil(SLICE) {
                    let magnitude = slice(words, height * SLICE) as i64;
                    if magnitude != 0 {
                        slices.resize_with(slices.len().max(height + 1), Slice::default);
                        slices[height].columns.push(column as u32);
                        slices[height].values.push(if sign == Sign::Negative {
                            -magnitude
                        } else {
                            magnitude
                        });
                    }
                }
            }
            slices
        });
        Some(Self { inverse, slices: slices.collect(), bits })
    }

    /// Row i times a vector of digits.
    fn product(&self, i: usize, digits: &[u64]) -> IBig {
        let mut sum = IBig::ZERO;
        for slice in self.slices[i].iter().rev() {
            sum <<= SLICE;
            for (columns, values) in slice.columns.chunks(TERMS).zip(slice.values.chunks(TERMS)) {
                let part: i128 = columns
                    .iter()
                    .zip(values)
                    .map(|(&column, &value)| i128::from(value) * i128::from(digits[column as usize]))
                    .sum();
                sum += part;
            }
        }
        sum
    }

    /// Numerators and a positive denominator.
    fn solve(&self, rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
        let size = self.bits.len();
        let prime = UBig::from(Field::<C>::PRIME);
        let whole_prime = IBig::from(prime.clone());
        let log_size = size.ilog2() as usize + 1;
        let rhs_bits = rhs.iter().map(BitTest::bit_len).max().unwrap_or(0);
        let matrix_bits = self.bits.iter().copied().max().unwrap_or(0);
        // Hadamard's bound of the determinants in Cramer's rule.
        let bound: usize =
            self.bits.iter().zip(rhs).map(|(&bits, b)| bits.max(b.bit_len()) + log_size.div_ceil(2)).sum();
        let enough = 2 * bound + matrix_bits + rhs_bits + log_size + 4;

        let mut residual = rhs.to_vec();
        let mut digits: Vec<Vec<u64>> = Vec::new();
        let mut values = vec![UBig::ZERO; size];
        let mut modulus = UBig::ONE;
        let mut attempt = 6;
        loop {
            let residues: Vec<u64> = residual.iter().map(Field::<C>::of_integer).collect();
            let digit: Vec<u64> = self.inverse.iter().map(|row| Field::<C>::dot(row, &residues)).collect();
            for (i, rest) in residual.iter_mut().enumerate() {
                *rest = (mem::take(rest) - self.product(i, &digit)) / &whole_prime;
            }
            digits.push(digit);
            // The prime is a little less than 2⁶¹; 60 bits a digit is on the safe side.
            let last = modulus.bit_len() + digits.len() * 60 > enough + 61;
            if digits.len() < attempt && !last {
                continue;
            }
            let before = modulus.bit_len() / 61;
            for (j, value) in values.iter_mut().enumerate() {
                let new = digits.iter().rev().fold(UBig::ZERO, |high, digit| high * &prime + digit[j]);
                *value += new * &modulus;
            }
            modulus *= prime.pow(digits.len());
            attempt = (before + digits.len()) / 4 + 1;
            digits.clear();

            if let Some((numerators, denominator)) = reconstruct(&values, &modulus) {
                // Both sides of A · numerators = denominator · rhs agree modulo the modulus. If they are also too
                // small to differ by as much as that, they are equal.
                let numerator_bits = numerators.iter().map(BitTest::bit_len).max().unwrap_or(0);
                let left = numerator_bits + matrix_bits + log_size;
                let right = denominator.bit_len() + rhs_bits;
                if left.max(right) + 2 <= modulus.bit_len() {
                    return Some((numerators, denominator));
                }
            }
            if last {
                return None;
            }
        }
    }
}

/// The inverse of a matrix modulo a prime, by Gauss and Jordan in place.
fn invert<const C: u64>(mut rows: Vec<Vec<u64>>) -> Option<Vec<Vec<u64>>> {
    let size = rows.len();
    let mut swaps = Vec::with_capacity(size);
    for k in 0..size {
        let pivot = (k..size).find(|&i| rows[i][k] != 0)?;
        rows.swap(k, pivot);
        swaps.push(pivot);
        let scale = Field::<C>::inverse(rows[k][k]);
        rows[k][k] = 1;
        rows[k].iter_mut().for_each(|value| *value = Field::<C>::mul(*value, scale));
        let top = mem::take(&mut rows[k]);
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            let factor = Field::<C>::negate(mem::take(&mut row[k]));
            if factor != 0 {
                for (value, &above) in row.iter_mut().zip(&top) {
                    *value = Field::<C>::reduce(u128::from(factor) * u128::from(above) + u128::from(*value));
                }
            }
        }
        rows[k] = top;
    }
    for (k, &pivot) in swaps.iter().enumerate().rev() {
        if k != pivot {
            rows.iter_mut().for_each(|row| row.swap(k, pivot));
        }
    }
    Some(rows)
}

/// Short fractions with one denominator: numerators_j ≡ denominator · values_j, where 2 · |numerator| · denominator is
/// below the modulus.
fn reconstruct(values: &[UBig], modulus: &UBig) -> Option<(Vec<IBig>, IBig)> {
    let limit = (modulus >> 1usize).sqrt();
    let mut denominator = UBig::ONE;
    let mut numerators: Vec<IBig> = Vec::with_capacity(values.len());
    for value in values {
        let residue = if denominator.is_one() { value.clone() } else { (value * &denominator) % modulus };
        let negative = modulus - &residue;
        if residue <= limit {
            numerators.push(residue.into());
        } else if negative <= limit {
            numerators.push(-IBig::from(negative));
        } else {
            let (numerator, factor) = fraction(residue, modulus, &limit, &(&limit / &denominator))?;
            denominator *= &factor;
            let factor = IBig::from(factor);
            numerators.iter_mut().for_each(|earlier| *earlier *= &factor);
            numerators.push(numerator);
        }
    }
    let fits = numerators.iter().all(|numerator| numerator.abs() <= IBig::from(limit.clone()));
    fits.then(|| (numerators, denominator.into()))
}

/// The fraction n / d ≡ residue with |n| ≤ `limit` and 0 < d ≤ `most` that Euclid's algorithm passes, if it does.
fn fraction(residue: UBig, modulus: &UBig, limit: &UBig, most: &UBig) -> Option<(IBig, UBig)> {
    let (mut high, mut low) = (modulus.clone(), residue);
    let (mut before, mut factor) = (UBig::ZERO, UBig::ONE);
    let mut sign = Sign::Positive;
    while low > *limit {
        let (quotient, rest) = high.div_rem(&low);
        high = mem::replace(&mut low, rest);
        let next = before + quotient * &factor;
        before = mem::replace(&mut factor, next);
        sign = -sign;
        if factor > *most {
            return None;
        }
    }
    Some((IBig::from_parts(sign, low), factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn big(rows: &[Vec<i64>]) -> Vec<Vec<IBig>> {
        rows.iter().map(|row| row.iter().map(|&value| IBig::from(value)).collect()).collect()
    }

    fn check_solution(matrix: &[Vec<IBig>], rhs: &[IBig], solution: &(Vec<IBig>, IBig)) {
        let (numerators, denominator) = solution;
        assert!(*denominator > IBig::ZERO);
        for (row, b) in matrix.iter().zip(rhs) {
            assert_eq!(dot(row, numerators), denominator * b);
        }
        let mut all = numerators.clone();
        all.push(denominator.clone());
        let before = all.clone();
        make_primitive(&mut all);
        assert_eq!(all, before, "not in lowest terms");
    }

    /// Elimination as an oracle, in lowest terms and with a positive denominator.
    fn oracle(matrix: &[Vec<IBig>], rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
        let (mut values, denominator) = eliminate(matrix, rhs)?;
        values.push(denominator);
        make_primitive(&mut values);
        if values[matrix.len()] < IBig::ZERO {
            values.iter_mut().for_each(|value| *value = -mem::take(value));
        }
        let denominator = values.pop()?;
        Some((values, denominator))
    }

    fn entry(random: &mut Random, bits: u32, most_shift: u64) -> IBig {
        let magnitude = random.next_u64() >> (64 - bits);
        let value = IBig::from(magnitude) << random.below(most_shift + 1) as usize;
        if random.next_u64() & 1 == 1 { -value } else { value }
    }

    #[test]
    fn floats_of_any_scale_become_whole_numbers() {
        let (values, exponent) = integers(&[0.0, 1.5, -4.0]);
        assert_eq!((values, exponent), (vec![0.into(), 3.into(), IBig::from(-8)], -1));
        assert_eq!(integers(&[0.0, -0.0]), (vec![IBig::ZERO; 2], 0));
        assert_eq!(integers(&[]), (vec![], 0));
        assert_eq!(integers(&[1e300, 5e-324]).1, -1074);
        assert_eq!(integers(&[5e-324, f64::MIN_POSITIVE]).0, [IBig::ONE, IBig::ONE << 52]);
    }

    #[test]
    fn lifting_agrees_with_elimination() {
        let mut random = Random::new(1);
        for round in 0..60 {
            let size = SMALL + 1 + round % 8;
            let shift = [0, 3, 200][round % 3];
            let mut row = |n: usize| -> Vec<IBig> { (0..n).map(|_| entry(&mut random, 53, shift)).collect() };
            let matrix: Vec<Vec<IBig>> = (0..size).map(|_| row(size)).collect();
            let rhs = row(size);
            let solution = solve(&matrix, &rhs).unwrap();
            check_solution(&matrix, &rhs, &solution);
            assert_eq!(Some(solution), oracle(&matrix, &rhs));
            // The second prime is hardly ever needed, but it must serve.
            let (values, denominator) = Lifting::<31>::new(&matrix).unwrap().solve(&rhs).unwrap();
            for (row, b) in matrix.iter().zip(&rhs) {
                assert_eq!(dot(row, &values), &denominator * b);
            }
        }
    }

    #[test]
    fn solutions_that_are_short_or_zero_are_found_early() {
        let mut random = Random::new(2);
        let size = 30;
        let matrix: Vec<Vec<IBig>> =
            (0..size).map(|_| (0..size).map(|_| entry(&mut random, 53, 0)).collect()).collect();
        let x: Vec<IBig> = (0..size).map(|_| entry(&mut random, 20, 0)).collect();
        let rhs: Vec<IBig> = matrix.iter().map(|row| dot(row, &x)).collect();
        assert_eq!(solve(&matrix, &rhs), Some((x, IBig::ONE)));
        let zero = vec![IBig::ZERO; size];
        assert_eq!(solve(&matrix, &zero), Some((zero, IBig::ONE)));
        assert_eq!(solve(&[], &[]), Some((vec![], IBig::ONE)));
    }

    #[test]
    fn mixed_scales_of_rows_and_columns() {
        let mut random = Random::new(3);
        for size in [3, 20] {
            let scales: Vec<usize> = (0..2 * size).map(|_| random.below(2000) as usize).collect();
            let mut cell = |i: usize, j: usize| entry(&mut random, 53, 0) << (scales[i] + scales[size + j]);
            let matrix: Vec<Vec<IBig>> = (0..size).map(|i| (0..size).map(|j| cell(i, j)).collect()).collect();
            let rhs: Vec<IBig> = (0..size).map(|_| entry(&mut random, 53, 500)).collect();
            let solution = solve(&matrix, &rhs).unwrap();
            check_solution(&matrix, &rhs, &solution);
            assert_eq!(Some(solution), oracle(&matrix, &rhs));
        }
    }

    /// A determinant that the first prime, or both, divide.
    fn unlucky(size: usize, primes: &[u64]) -> Vec<Vec<IBig>> {
        let mut random = Random::new(4);
        let mut matrix = vec![vec![IBig::ZERO; size]; size];
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] = primes.get(i).map_or(IBig::ONE, |&prime| prime.into());
            row[i + 1..].iter_mut().for_each(|value| *value = entry(&mut random, 8, 0));
        }
        // Row operations keep the determinant.
        for i in 1..size {
            let (above, below) = matrix.split_at_mut(i);
            below[0].iter_mut().zip(&above[i - 1]).for_each(|(value, other)| *value += other);
        }
        matrix
    }

    #[test]
    fn unlucky_primes_and_singular_matrices() {
        let size = 20;
        let rhs: Vec<IBig> = (0..size as i64).map(|i| IBig::from(i - 3)).collect();
        let (first, second) = (Field::<31>::PRIME, Field::<45>::PRIME);
        for primes in [vec![first], vec![first, second], vec![first, first]] {
            let matrix = unlucky(size, &primes);
            assert!(Lifting::<31>::new(&matrix).is_none());
            let solution = solve(&matrix, &rhs).unwrap();
            check_solution(&matrix, &rhs, &solution);
            // An unlucky prime does not see the whole rank: the kernel is empty all the same.
            assert!(kernel_basis(&matrix, size).is_empty());
            assert_eq!(null_vector(&matrix), None);
        }
        let mut random = Random::new(5);
        for (size, rank) in [(4, 3), (20, 19), (20, 12), (40, 39), (40, 0)] {
            let factor = |r: &mut Random, m: usize, n: usize| -> Vec<Vec<IBig>> {
                (0..m).map(|_| (0..n).map(|_| entry(r, 30, 0)).collect()).collect()
            };
            let (a, b) = (factor(&mut random, size, rank), factor(&mut random, size, rank));
            let matrix: Vec<Vec<IBig>> = a.iter().map(|a| b.iter().map(|b| dot(a, b)).collect()).collect();
            let rhs = vec![IBig::ONE; size];
            assert_eq!(solve(&matrix, &rhs), None);
            let basis = kernel_basis(&matrix, size);
            assert_eq!(basis.len(), size - rank);
            assert_eq!(null_vector(&matrix).is_some(), rank + 1 == size);
        }
    }

    proptest! {
        #[test]
        fn kernels_of_small_matrices(
            rows in prop::collection::vec(prop::collection::vec(-2i64..3, 5), 0..7),
        ) {
            let rows = big(&rows);
            let basis = kernel_basis(&rows, 5);
            prop_assert_eq!(basis.len(), 5 - Profile::exact(&rows, 5).rows.len());
            for v in &basis {
                prop_assert!(rows.iter().all(|row| dot(row, v).is_zero()));
                let mut primitive = v.clone();
                make_primitive(&mut primitive);
                prop_assert_eq!(&primitive, v);
            }
            prop_assert_eq!(Profile::exact(&basis, 5).rows.len(), basis.len());
            // As columns: Σ λ_k row_k = 0.
            let independent = Profile::exact(&rows, 5).rows.len();
            match null_vector(&rows) {
                Some(lambda) => {
                    prop_assert_eq!(independent + 1, rows.len());
                    for j in 0..5 {
                        let column: Vec<IBig> = rows.iter().map(|row| row[j].clone()).collect();
                        prop_assert!(dot(&column, &lambda).is_zero());
                    }
                    prop_assert!(lambda.iter().find(|value| !value.is_zero()).unwrap() > &IBig::ZERO);
                }
                None => prop_assert!(independent + 1 != rows.len()),
            }
        }

        #[test]
        fn small_systems(
            rows in prop::collection::vec(prop::collection::vec(-3i64..4, 3), 3), b in prop::collection::vec(-3i64..4, 3),
        ) {
            let matrix = big(&rows);
            let rhs: Vec<IBig> = b.iter().map(|&value| value.into()).collect();
            match solve(&matrix, &rhs) {
                Some(solution) => check_solution(&matrix, &rhs, &solution),
                None => prop_assert!(Profile::exact(&matrix, 3).rows.len() < 3),
            }
        }
    }

    #[test]
    #[ignore = "measures; run by hand with --release --nocapture"]
    #[allow(clippy::print_stderr)]
    fn times() {
        for (size, bits) in
            [(16, 53), (20, 53), (50, 53), (100, 53), (200, 53), (300, 53), (100, 110), (200, 110)]
        {
            let mut random = Random::new(6);
            let mut wide = || {
                entry(&mut random, 53, 0) * IBig::from(1u64 << (bits.min(63) - 53))
                    + if bits > 64 { entry(&mut random, 57, 0) << 53 } else { IBig::ZERO }
            };
            let matrix: Vec<Vec<IBig>> = (0..size).map(|_| (0..size).map(|_| wide()).collect()).collect();
            let rhs: Vec<IBig> = (0..size).map(|_| wide()).collect();
            let start = std::time::Instant::now();
            let solution = solve(&matrix, &rhs).unwrap();
            let lifted = start.elapsed();
            let start = std::time::Instant::now();
            if size <= 50 {
                oracle(&matrix, &rhs).unwrap();
            }
            eprintln!(
                "{size} {bits}: {lifted:?}, elimination {:?}; {} bits",
                start.elapsed(),
                solution.1.bit_len()
            );
        }
    }
}

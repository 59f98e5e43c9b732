//! Dixon's p-adic lifting: a large system of equations solved digit by digit.

use super::super::modular::Field;
use super::SparseRow;
use super::inverse::Inverse;
use dashu_int::ops::{Abs, BitTest, DivRem, SquareRoot};
use dashu_int::{IBig, Sign, UBig};
use std::mem;

/// Bits of one slice of a matrix: 4096 products of a slice and a digit fit 128 bits with a sign.
const SLICE: usize = 54;
const TERMS: usize = 4096;

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
pub(super) struct Lifting<const C: u64> {
    inverse: Inverse<C>,
    /// row = Σ_k slices\[k\] · 2^(SLICE·k).
    slices: Vec<Vec<Slice>>,
    /// Bits of the largest entry of each row.
    bits: Vec<usize>,
}

impl<const C: u64> Lifting<C> {
    /// `None` if the matrix is singular modulo the prime, or if it was stopped.
    pub(super) fn new(matrix: &[SparseRow], stop: &mut dyn FnMut() -> bool) -> Option<Self> {
        let residue = |(column, value): &(usize, IBig)| (*column as u32, Field::<C>::of_integer(value));
        let residues =
            matrix.iter().map(|row| row.iter().map(residue).filter(|entry| entry.1 != 0).collect());
        let inverse = Inverse::new(residues.collect(), stop)?;
        let length = |row: &SparseRow| row.iter().map(|(_, value)| value.bit_len()).max().unwrap_or(0);
        let bits = matrix.iter().map(length).collect();
        let slices = matrix.iter().map(|row| {
            let mut slices: Vec<Slice> = Vec::new();
            for (column, value) in row {
                let (sign, words) = value.as_sign_words();
                for height in 0..value.bit_len().div_ceil(SLICE) {
                    let magnitude = slice(words, height * SLICE) as i64;
                    if magnitude != 0 {
                        slices.resize_with(slices.len().max(height + 1), Slice::default);
                        slices[height].columns.push(*column as u32);
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

    /// Numerators and a positive denominator. `None` if it was stopped.
    pub(super) fn solve(&self, rhs: &[IBig], stop: &mut dyn FnMut() -> bool) -> Option<(Vec<IBig>, IBig)> {
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
            if stop() {
                return None;
            }
            let digit = self.inverse.times(residual.iter().map(Field::<C>::of_integer).collect());
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

//! Rank modulo the prime 2^61 − 31.
//!
//! A number m·2^e has an image there, since 2 has an inverse. A minor that is not zero modulo the prime is not zero, so
//! the rank modulo the prime is never above the true rank: a large one is proof, a small one proves nothing.

use crate::dyadic::{Dyadic, split};

/// The prime. No power of two that two floats can differ by is 1 modulo it, as 2^61 is modulo 2^61 − 1: that prime would
/// take floats of different sizes for equal.
const PRIME: u64 = (1 << 61) - REST;
/// 2^61 modulo the prime.
const REST: u64 = 31;
const LOW: u64 = (1 << 61) - 1;

/// A number below 2^61 + 2^10 with the same remainder as x, for x below 2^123.
fn fold(x: u128) -> u64 {
    let once = (x >> 61) * u128::from(REST) + (x & u128::from(LOW));
    (once >> 61) as u64 * REST + (once as u64 & LOW)
}

/// The remainder of a number below twice the prime.
fn remainder(x: u64) -> u64 {
    if x >= PRIME { x - PRIME } else { x }
}

fn reduce(x: u128) -> u64 {
    remainder(fold(x))
}

fn times(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

fn signed(negative: bool, magnitude: u64, exponent: i64) -> u64 {
    let two = if exponent < 0 { PRIME.div_ceil(2) } else { 2 };
    let value = times(reduce(u128::from(magnitude)), power(two, exponent.unsigned_abs()));
    if negative && value != 0 { PRIME - value } else { value }
}

/// The image of a finite float.
pub(crate) fn of_float(value: f64) -> u64 {
    let (magnitude, exponent) = split(value);
    signed(value < 0.0, magnitude, exponent)
}

/// The image of an exact number.
pub(crate) fn of_dyadic(number: &Dyadic) -> u64 {
    let magnitude = number.magnitude().iter().rev().fold(0, |sum, &word| {
        // 2^64 is 8 · 2^61, which is 8 · 31 modulo the prime.
        reduce(u128::from(sum) * u128::from(8 * REST) + u128::from(word))
    });
    signed(number.sign().is_lt(), magnitude, number.exponent())
}

/// Rows in echelon form.
pub(crate) struct Echelon {
    /// The column in which a row has a 1 and all later ones have 0, and the row.
    pivots: Vec<(usize, Vec<u64>)>,
}

impl Echelon {
    pub(crate) fn new() -> Self {
        Self { pivots: Vec::new() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Adds one row of remainders.
    pub(crate) fn add(&mut self, mut row: Vec<u64>) {
        for (column, pivot) in &self.pivots {
            let factor = remainder(row[*column]);
            if factor != 0 {
                let factor = PRIME - factor;
                // Only folded: full remainders are taken where they are looked at.
                for (to, &from) in row.iter_mut().zip(pivot) {
                    *to = fold(u128::from(factor) * u128::from(from) + u128::from(*to));
                }
            }
        }
        if let Some(column) = row.iter().position(|&value| remainder(value) != 0) {
            let inverse = inverse(remainder(row[column]));
            row.iter_mut().for_each(|value| *value = times(remainder(*value), inverse));
            self.pivots.push((column, row));
        }
    }
}

/// 1/a, which is a^(p − 2).
fn inverse(a: u64) -> u64 {
    power(a, PRIME - 2)
}

fn power(a: u64, mut exponent: u64) -> u64 {
    let (mut power, mut result) = (a, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, power);
        }
        power = times(power, power);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_numbers() {
        for (value, image) in
            [(0.0, 0), (1.0, 1), (-1.0, PRIME - 1), (3.0, 3), (2_f64.powi(61), 31), (2_f64.powi(64), 248)]
        {
            assert_eq!(of_float(value), image);
            assert_eq!(Dyadic::from_f64(value).as_ref().map(of_dyadic), Some(image));
        }
        assert_eq!(times(of_float(0.375), of_float(8.0)), 3);
        assert_eq!(times(of_float(5e-324), of_float(2_f64.powi(1000))), of_float(2_f64.powi(-74)));
        let prime = Dyadic::new(false, vec![PRIME], 17);
        assert_eq!(of_dyadic(&prime), 0);
        assert_eq!(of_dyadic(&prime.times(&prime).plus(&Dyadic::new(true, vec![5], 0))), PRIME - 5);
        assert_eq!(times(inverse(12_345), 12_345), 1);
        assert_eq!(times(PRIME - 1, PRIME - 1), 1);
    }

    #[test]
    fn ranks() {
        let rank = |rows: &[[u64; 3]]| {
            let mut echelon = Echelon::new();
            rows.iter().for_each(|row| echelon.add(row.to_vec()));
            echelon.rank()
        };
        assert_eq!(rank(&[[0, 0, 0]]), 0);
        assert_eq!(rank(&[[0, 2, 4], [0, 1, 2], [PRIME - 1, 0, 0]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 10]]), 3);
        assert_eq!(rank(&[[1, 1, 0], [1, PRIME - 1, 0], [1, 0, 0], [0, 0, 7], [1, 1, 1]]), 3);
    }
}

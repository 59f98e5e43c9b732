//! Rank modulo the prime 2^61 − 31.
//!
//! A number m·2^e has an image there, since 2 has an inverse. A minor that is not zero modulo the prime is not zero, so
//! the rank modulo the prime is never above the true rank: a large one is proof, a small one proves nothing.

use crate::numbers::{Dyadic, split};

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

fn times(a: u64, b: u64) -> u64 {
    remainder(fold(u128::from(a) * u128::from(b)))
}

fn power(mut a: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, a);
        }
        a = times(a, a);
        exponent /= 2;
    }
    result
}

/// 1/a, which is a^(p − 2).
fn inverse(a: u64) -> u64 {
    power(a, PRIME - 2)
}

/// The image of ± magnitude · 2^exponent.
fn image_of(negative: bool, magnitude: &[u64], exponent: i64) -> u64 {
    // 2^64 is 8 · 2^61, which is 8 · 31 modulo the prime.
    let next = |sum: u64, &word: &u64| fold(u128::from(sum) * u128::from(8 * REST) + u128::from(word));
    let two = if exponent < 0 { PRIME.div_ceil(2) } else { 2 };
    let value = times(magnitude.iter().rev().fold(0, next), power(two, exponent.unsigned_abs()));
    if negative && value != 0 { PRIME - value } else { value }
}

/// The image of an exact number.
pub(crate) fn image(number: &Dyadic) -> u64 {
    image_of(number.sign().is_lt(), number.magnitude(), number.exponent())
}

/// The image of a finite float.
pub(crate) fn image_of_float(value: f64) -> u64 {
    let (magnitude, exponent) = split(value);
    image_of(value < 0.0, &[magnitude], exponent)
}

/// Rows in echelon form: the column in which a row has a 1 and all later ones have 0, and the row.
#[derive(Default)]
pub(crate) struct Echelon(Vec<(usize, Vec<u64>)>);

impl Echelon {
    pub(crate) fn rank(&self) -> usize {
        self.0.len()
    }

    /// Adds one row by its images that are not 0.
    pub(crate) fn add(&mut self, width: usize, images: impl Iterator<Item = (usize, u64)>) {
        let mut row = vec![0; width];
        images.for_each(|(column, image)| row[column] = image);
        for (column, pivot) in &self.0 {
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
            self.0.push((column, row));
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_numbers() {
        for (value, expected) in
            [(0.0, 0), (1.0, 1), (-1.0, PRIME - 1), (3.0, 3), (2_f64.powi(61), 31), (2_f64.powi(64), 248)]
        {
            assert_eq!(image_of_float(value), expected);
            assert_eq!(Dyadic::from_f64(value).as_ref().map(image), Some(expected));
        }
        assert_eq!(times(image_of_float(0.375), image_of_float(8.0)), 3);
        assert_eq!(
            times(image_of_float(5e-324), image_of_float(2_f64.powi(1000))),
            image_of_float(2_f64.powi(-74))
        );
        let prime = Dyadic::new(false, vec![PRIME], 17);
        assert_eq!(image(&prime), 0);
        let two_words = (u128::from(PRIME) << 61) - 5;
        let two_words = Dyadic::new(false, vec![two_words as u64, (two_words >> 64) as u64], 0);
        assert_eq!(image(&two_words), PRIME - 5);
        assert_eq!(times(inverse(12_345), 12_345), 1);
        assert_eq!(times(PRIME - 1, PRIME - 1), 1);
    }

    #[test]
    fn ranks() {
        let rank = |rows: &[[u64; 3]]| {
            let mut echelon = Echelon::default();
            rows.iter().for_each(|row| echelon.add(3, row.iter().copied().enumerate()));
            echelon.rank()
        };
        assert_eq!(rank(&[[0, 0, 0]]), 0);
        assert_eq!(rank(&[[0, 2, 4], [0, 1, 2], [PRIME - 1, 0, 0]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 10]]), 3);
        assert_eq!(rank(&[[1, 1, 0], [1, PRIME - 1, 0], [1, 0, 0], [0, 0, 7], [1, 1, 1]]), 3);
    }
}

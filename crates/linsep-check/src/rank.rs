//! Rank modulo the prime 2^61 − 31.
//!
//! A number m·2^e has an image there, since 2 has an inverse. A minor that is not zero modulo the prime is not zero, so
//! the rank modulo the prime is never above the true rank: a large one is proof, a small one proves nothing.

use crate::numbers::Dyadic;
use crate::rows::Checked;

/// The prime. No power of two that two floats can differ by is 1 modulo it, as 2^61 is modulo 2^61 − 1: that prime would
/// take floats of different sizes for equal.
const PRIME: u64 = (1 << 61) - REST;
/// 2^61 modulo the prime.
const REST: u64 = 31;

/// The remainder of x, for x below 2^123.
fn remainder(x: u128) -> u64 {
    let fold = |x: u128| (x >> 61) * u128::from(REST) + x % (1 << 61);
    let folded = fold(fold(x)) as u64;
    if folded < PRIME { folded } else { folded - PRIME }
}

fn times(a: u64, b: u64) -> u64 {
    remainder(u128::from(a) * u128::from(b))
}

fn power(a: u64, exponent: u64) -> u64 {
    match exponent {
        0 => 1,
        _ if exponent % 2 == 1 => times(a, power(a, exponent - 1)),
        _ => power(times(a, a), exponent / 2),
    }
}

/// The image of a number.
pub(crate) fn image(number: &Dyadic) -> u64 {
    // 2^64 is 8 · 2^61, which is 8 · 31 modulo the prime.
    let next = |sum: u64, &word: &u64| remainder(u128::from(sum) * u128::from(8 * REST) + u128::from(word));
    let (magnitude, exponent) = number.parts();
    let two = if exponent < 0 { PRIME.div_ceil(2) } else { 2 };
    let size = magnitude.iter().rev().fold(0, next);
    let value = times(size, power(two, exponent.unsigned_abs()));
    if number.sign().is_lt() && value != 0 { PRIME - value } else { value }
}

/// The columns of a row that are not 0, and their images.
type Images = Vec<(usize, u64)>;

/// The rank of rows with columns below `width`. It is not looked for beyond `most`.
pub(crate) fn rank(rows: impl Iterator<Item = Checked<Images>>, width: usize, most: usize) -> Checked<usize> {
    // Echelon form: the column in which a row has a 1 and all later ones have 0, and the row. Any column in which a row is not 0 will do;
    // one that few rows use keeps sparse rows sparse.
    let (mut echelon, mut uses): (Vec<(usize, Images)>, _) = (Vec::new(), vec![0; width]);
    for images in rows {
        let mut row = vec![0; width];
        images?.into_iter().for_each(|(column, image)| row[column] = image);
        for (column, pivot) in &echelon {
            // The multiple of the earlier row that makes this column 0. It is PRIME, and nothing is done, where the column is 0 already.
            let factor = PRIME - row[*column];
            for &(column, from) in pivot.iter().filter(|_| factor < PRIME) {
                row[column] = remainder(u128::from(factor) * u128::from(from) + u128::from(row[column]));
            }
        }
        let used: Vec<usize> = (0..width).filter(|&column| row[column] != 0).collect();
        if let Some(&column) = used.iter().min_by_key(|&&column| uses[column]) {
            let inverse = power(row[column], PRIME - 2);
            used.iter().for_each(|&column| uses[column] += 1);
            echelon.push((column, used.iter().map(|&k| (k, times(row[k], inverse))).collect()));
        }
        if echelon.len() >= most {
            break;
        }
    }
    Ok(echelon.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_numbers() {
        for (value, expected) in
            [(0.0, 0), (1.0, 1), (-1.0, PRIME - 1), (3.0, 3), (2_f64.powi(61), 31), (2_f64.powi(64), 248)]
        {
            assert_eq!(image(&Dyadic::from_f64(value).unwrap()), expected);
        }
        let image_of = |value| image(&Dyadic::from_f64(value).unwrap());
        assert_eq!(times(image_of(0.375), image_of(8.0)), 3);
        assert_eq!(times(image_of(5e-324), image_of(2_f64.powi(1000))), image_of(2_f64.powi(-74)));
        let prime = Dyadic::new(false, vec![PRIME], 17);
        assert_eq!(image(&prime), 0);
        let two_words = (u128::from(PRIME) << 61) - 5;
        let two_words = Dyadic::new(false, vec![two_words as u64, (two_words >> 64) as u64], 0);
        assert_eq!(image(&two_words), PRIME - 5);
        assert_eq!(times(power(12_345, PRIME - 2), 12_345), 1);
        assert_eq!(times(PRIME - 1, PRIME - 1), 1);
    }

    #[test]
    fn ranks() {
        let rank = |rows: &[[u64; 3]]| {
            let images = rows.iter().map(|row| Ok(row.iter().copied().enumerate().collect()));
            rank(images, 3, 3).unwrap()
        };
        assert_eq!(rank(&[[0, 0, 0]]), 0);
        assert_eq!(rank(&[[0, 2, 4], [0, 1, 2], [PRIME - 1, 0, 0]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 2);
        assert_eq!(rank(&[[1, 2, 3], [4, 5, 6], [7, 8, 10]]), 3);
        assert_eq!(rank(&[[1, 1, 0], [1, PRIME - 1, 0], [1, 0, 0], [0, 0, 7], [1, 1, 1]]), 3);
    }
}

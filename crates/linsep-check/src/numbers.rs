//! Exact numbers, and the one operation on them: adding a product to a long sum.

use std::cmp::Ordering;

/// The exponent of a number in a certificate lies between minus this and this.
const EXPONENT_LIMIT: u64 = 1_000_000;
/// The magnitude of a number in a certificate has at most so many bits.
const BITS_LIMIT: u64 = 1 << 20;

/// A vector by its non-zero entries, with increasing places.
pub type Sparse = Vec<(usize, Dyadic)>;

/// ± magnitude · 2^exponent, of any size. In canonical form: the magnitude is odd, or the number is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dyadic {
    negative: bool,
    /// Little-endian, without leading zeros; empty for zero.
    magnitude: Vec<u64>,
    exponent: i64,
}

impl Dyadic {
    /// ± magnitude · 2^exponent, brought to canonical form. The magnitude is little-endian.
    ///
    /// # Panics
    /// If the canonical exponent does not fit in an `i64`.
    pub fn new(negative: bool, mut magnitude: Vec<u64>, exponent: i64) -> Self {
        let Some(words) = magnitude.iter().position(|&word| word != 0) else {
            return Self { negative: false, magnitude: Vec::new(), exponent: 0 };
        };
        magnitude.drain(..words);
        let bits = magnitude[0].trailing_zeros();
        for i in 0..magnitude.len() {
            let above = magnitude.get(i + 1).copied().unwrap_or(0);
            magnitude[i] = ((u128::from(above) << 64 | u128::from(magnitude[i])) >> bits) as u64;
        }
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        let exponent = exponent.checked_add(words as i64 * 64 + i64::from(bits));
        Self { negative, magnitude, exponent: exponent.expect("exponent of a dyadic number") }
    }

    /// Reads hexadecimal text, such as `0x1f3p-12`, `-0x3p0`, and `0x0p0` for zero. There is one text for each number: lower case, no
    /// leading zeros, an odd magnitude. What is beyond the limits is not read, so that no text asks for a number that fills the memory.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "0x0p0" {
            return Some(Self::new(false, Vec::new(), 0));
        }
        let negative = text.starts_with('-');
        let (digits, power) = text.strip_prefix(if negative { "-0x" } else { "0x" })?.split_once('p')?;
        let exponent: i64 = power.parse().ok()?;
        let plain = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        if !plain || digits.starts_with('0') || power != exponent.to_string() {
            return None;
        }
        let word = |digits| u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();
        let magnitude: Vec<u64> = digits.as_bytes().rchunks(16).map(word).collect::<Option<_>>()?;
        let is_odd = magnitude.first()? % 2 == 1;
        Some(Self { negative, magnitude, exponent }).filter(|number| is_odd && number.is_writable())
    }

    /// Whether a certificate may hold the number: its text can be read again.
    pub fn is_writable(&self) -> bool {
        self.exponent.unsigned_abs() <= EXPONENT_LIMIT && self.bits() <= BITS_LIMIT
    }

    /// The exact value of a finite float; `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        let (magnitude, exponent) = split(value);
        value.is_finite().then(|| Self::new(value < 0.0, vec![magnitude], exponent))
    }

    /// The float with exactly this value, if there is one.
    pub fn to_f64(&self) -> Option<f64> {
        // In two steps, for a power of two may be beyond the floats where its product with the magnitude is not.
        let exponent = self.exponent.clamp(-2000, 2000) as i32;
        let magnitude = self.magnitude.first().map_or(0.0, |&word| word as f64);
        let value = magnitude * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2);
        // Whatever was rounded is noticed here.
        Some(if self.negative { -value } else { value }).filter(|&v| Self::from_f64(v).as_ref() == Some(self))
    }

    /// Whether the number is below, at or above zero.
    pub fn sign(&self) -> Ordering {
        if self.negative { Ordering::Less } else { self.magnitude.len().cmp(&0) }
    }

    /// The odd whole number of the canonical form, little-endian (empty for zero), and the exponent.
    pub fn parts(&self) -> (&[u64], i64) {
        (&self.magnitude, self.exponent)
    }

    /// Number of bits of the magnitude.
    pub fn bits(&self) -> u64 {
        self.magnitude.last().map_or(0, |w| self.magnitude.len() as u64 * 64 - u64::from(w.leading_zeros()))
    }

    /// The number, if it is not zero, lies in [2^(top − 1), 2^top) up to its sign.
    pub fn top(&self) -> i64 {
        self.exponent.saturating_add_unsigned(self.bits())
    }
}

/// m and e with |value| = m · 2^e for a finite float; m is below 2^53, and e lies between −1074 and 971.
fn split(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

/// A sum of products, as one long fixed-point number.
///
/// Positive and negative terms are summed apart: then a carry runs far only after many terms that paid for it (as in a
/// counter), whereas alternating signs could make every single term run through the whole length.
pub(crate) struct Sum {
    /// Value of the lowest bit is 2^base.
    base: i64,
    positive: Vec<u64>,
    negative: Vec<u64>,
}

impl Sum {
    /// Zero, with room for fewer than 2^64 terms that are multiples of 2^low and below 2^high.
    pub(crate) fn new((low, high): (i64, i64)) -> Self {
        // One word for the number of terms, the others for the two ends of a product.
        let words = ((high - low).max(0) / 64) as usize + 4;
        Self { base: low, positive: vec![0; words], negative: vec![0; words] }
    }

    /// Low and high for products of the entries with finite floats: a float is a multiple of 2^−1074 and below 2^1024.
    pub(crate) fn range(vector: &Sparse) -> (i64, i64) {
        let low = vector.iter().map(|(_, c)| c.exponent).min().unwrap_or(0);
        let high = vector.iter().map(|(_, c)| c.top()).max().unwrap_or(0);
        (low - 1074, high + 1024)
    }

    /// Zero, with room for squares of sums of fewer than 2^64 terms with this range.
    pub(crate) fn of_squares((low, high): (i64, i64)) -> Self {
        Self::new((2 * low, 2 * (high + 64)))
    }

    /// Adds c · factor · 2^exponent, or its negative.
    fn add(&mut self, c: &Dyadic, factor: u64, exponent: i64, negative: bool) {
        if c.magnitude.is_empty() {
            return;
        }
        let sum = if c.negative != negative { &mut self.negative } else { &mut self.positive };
        // Never negative: the term is a multiple of 2^base. Shifted by a part of a word, the factor takes two words, which are multiplied one
        // after the other.
        let shift = (c.exponent + exponent - self.base) as usize;
        let factor = u128::from(factor) << (shift % 64);
        for (half, at) in [(factor as u64, shift / 64), ((factor >> 64) as u64, shift / 64 + 1)] {
            let (product, above) = sum[at..].split_at_mut(c.magnitude.len());
            let mut carry = 0;
            for (to, word) in product.iter_mut().zip(&c.magnitude) {
                (*to, carry) = word.carrying_mul_add(half, *to, carry);
            }
            let mut above = above.iter_mut();
            while let Some(to) = above.next().filter(|_| carry != 0) {
                (*to, carry) = to.carrying_mul_add(1, carry, 0);
            }
        }
    }

    /// Adds c · v for a finite float v.
    pub(crate) fn add_float(&mut self, c: &Dyadic, v: f64) {
        let (factor, exponent) = split(v);
        self.add(c, factor, exponent, v < 0.0);
    }

    /// Adds c · d, or its negative; time grows with the product of the two lengths.
    pub(crate) fn add_product(&mut self, c: &Dyadic, d: &Dyadic, negative: bool) {
        for (&word, place) in d.magnitude.iter().zip(0..) {
            self.add(c, word, d.exponent + 64 * place, d.negative != negative);
        }
    }

    /// Whether the sum is below, at or above zero.
    pub(crate) fn sign(&self) -> Ordering {
        self.positive.iter().rev().cmp(self.negative.iter().rev())
    }

    /// The size of the sum in units of its lowest bit, the highest word first: sums with the same room compare like these.
    pub(crate) fn size(&self) -> Vec<u64> {
        let (mut large, mut small) = (&self.positive, &self.negative);
        if self.sign().is_lt() {
            (large, small) = (small, large);
        }
        let (mut words, mut borrow) = (large.clone(), false);
        for (word, &less) in words.iter_mut().zip(small) {
            (*word, borrow) = word.borrowing_sub(less, borrow);
        }
        words.reverse();
        words
    }

    /// The sum as a number.
    pub(crate) fn value(&self) -> Dyadic {
        Dyadic::new(self.sign().is_lt(), self.size().into_iter().rev().collect(), self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dyadic(value: i128, exponent: i64) -> Dyadic {
        let size = value.unsigned_abs();
        Dyadic::new(value < 0, vec![size as u64, (size >> 64) as u64], exponent)
    }

    proptest! {
        /// Σ ± a·b with whole numbers, each shifted by some power of two, against 128 bits.
        #[test]
        fn sums_of_products(terms in prop::collection::vec((-(1_i64 << 40)..1 << 40, -(1_i64 << 40)..1 << 40, 0_i64..20, any::<bool>()), 0..12), lift in -3000_i64..3000) {
            let mut sum = Sum::new((lift, lift + 110));
            let mut expected = 0;
            for (a, b, shift, negative) in terms {
                let (a, b) = (i128::from(a), i128::from(b));
                sum.add_product(&dyadic(a, shift + lift), &dyadic(b, 0), negative);
                expected += if negative { -(a * b) << shift } else { (a * b) << shift };
            }
            prop_assert_eq!(sum.sign(), expected.cmp(&0));
            prop_assert_eq!(sum.value(), dyadic(expected, lift));
        }

        /// Long factors: (2^k ± a)·(2^k ∓ a) = 2^2k − a².
        #[test]
        fn long_products(k in 1_i64..5000, a in 1_i64..1 << 62, c in any::<u64>()) {
            let a = i128::from(a);
            let power = |k: i64| Dyadic::new(false, vec![1], k);
            let end = |sign: i128| {
                let mut sum = Sum::new((0, 5100));
                sum.add_product(&power(k), &power(0), false);
                sum.add_product(&dyadic(sign * a, 0), &power(0), false);
                sum.value()
            };
            let mut product = Sum::new((0, 10_300));
            product.add_product(&end(1), &end(-1), false);
            product.add_product(&power(2 * k), &power(0), true);
            prop_assert_eq!(product.value(), dyadic(-(a * a), 0));
            // Carries that run through many words.
            let mut sum = Sum::new((0, 5200));
            sum.add_product(&end(1), &dyadic(i128::from(c), 0), false);
            sum.add_product(&end(1), &dyadic(i128::from(c), 0), true);
            prop_assert!(sum.sign().is_eq() && sum.value().sign().is_eq());
        }

        #[test]
        fn products_with_floats(w in -(1_i64 << 50)..1 << 50, x in -(1_i32 << 30)..1 << 30, e in -1000_i32..900) {
            let entries = vec![(0, dyadic(w.into(), 17)), (3, dyadic(1, -40))];
            let mut sum = Sum::new(Sum::range(&entries));
            sum.add_float(&entries[0].1, f64::from(x) * 2_f64.powi(e));
            prop_assert_eq!(sum.value(), dyadic(i128::from(w) * i128::from(x), 17 + i64::from(e)));
            sum.add_float(&entries[1].1, f64::MAX);
            sum.add_float(&entries[1].1, -f64::MAX);
            sum.add_float(&entries[0].1, f64::from(-x) * 2_f64.powi(e));
            prop_assert!(sum.sign().is_eq());
        }
    }
}

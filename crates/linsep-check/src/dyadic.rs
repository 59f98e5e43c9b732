//! Exact numbers: whole numbers times powers of two.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The exponent of a number in a certificate lies between minus this and this.
pub(crate) const EXPONENT_LIMIT: i64 = 1_000_000;
/// The magnitude of a number in a certificate has at most so many bits.
pub(crate) const BITS_LIMIT: u64 = 1 << 20;

/// ± magnitude · 2^exponent, of any size. In canonical form: the magnitude is odd, or the number is zero.
///
/// As text it is hexadecimal, such as `0x1f3p-12`, `-0x3p0`, and `0x0p0` for zero: one text for each number. Text is read
/// only in this form, with an exponent of at most 1,000,000 and a magnitude of at most 2^20 bits, so that a hostile text
/// cannot ask for a number that fills the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dyadic {
    negative: bool,
    /// Little-endian, without leading zeros.
    magnitude: Vec<u64>,
    exponent: i64,
}

impl Dyadic {
    /// ± magnitude · 2^exponent, brought to canonical form. The magnitude is little-endian.
    ///
    /// # Panics
    /// If the canonical exponent does not fit in an `i64`.
    pub fn new(negative: bool, mut magnitude: Vec<u64>, exponent: i64) -> Self {
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        let Some(words) = magnitude.iter().position(|&word| word != 0) else {
            return Self { negative: false, magnitude, exponent: 0 };
        };
        let bits = magnitude[words].trailing_zeros();
        magnitude.drain(..words);
        if bits > 0 {
            let mut above = 0;
            for word in magnitude.iter_mut().rev() {
                (*word, above) = (*word >> bits | above, *word << (64 - bits));
            }
            if magnitude.last() == Some(&0) {
                magnitude.pop();
            }
        }
        let shift = words as i64 * 64 + i64::from(bits);
        Self {
            negative,
            magnitude,
            exponent: exponent.checked_add(shift).expect("exponent of a dyadic number"),
        }
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::new(false, Vec::new(), 0)
    }

    /// The exact value of a finite float; `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        let (magnitude, exponent) = split(value);
        value.is_finite().then(|| Self::new(value < 0.0, vec![magnitude], exponent))
    }

    /// Whether the number is below, at or above zero.
    pub fn sign(&self) -> Ordering {
        match (self.magnitude.is_empty(), self.negative) {
            (true, _) => Ordering::Equal,
            (false, true) => Ordering::Less,
            (false, false) => Ordering::Greater,
        }
    }

    /// A float near the number: the nearest one (of two, the even one), or ±infinity beyond the largest.
    pub fn approximate(&self) -> f64 {
        let Some(&last) = self.magnitude.last() else { return 0.0 };
        let below = self.magnitude.len().checked_sub(2).map_or(0, |i| self.magnitude[i]);
        let zeros = last.leading_zeros();
        let head = last << zeros | if zeros == 0 { 0 } else { below >> (64 - zeros) };
        let rest = (zeros < 64 && below << zeros != 0) || self.magnitude.len() > 2;
        // The number lies in [2^(top − 1), 2^top) and keeps `kept` bits: fewer than 53 where floats are subnormal.
        let top = self.top();
        let kept = (top.saturating_add(1074)).min(53);
        let value = if kept < 0 {
            0.0
        } else if top > 1024 {
            f64::INFINITY
        } else {
            let whole = if kept == 0 { 0 } else { head >> (64 - kept) };
            let up = match (head << kept).cmp(&(1 << 63)) {
                Ordering::Less => false,
                Ordering::Equal => rest || whole % 2 == 1,
                Ordering::Greater => true,
            };
            (whole + u64::from(up)) as f64 * power_of_two(top - kept)
        };
        if self.negative { -value } else { value }
    }

    /// The sum. Memory grows with the distance of the two exponents.
    pub fn plus(&self, other: &Self) -> Self {
        if self.magnitude.is_empty() {
            return other.clone();
        }
        if other.magnitude.is_empty() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.aligned(exponent), other.aligned(exponent));
        if self.negative == other.negative {
            let (mut sum, less) = if a.len() >= b.len() { (a, b) } else { (b, a) };
            sum.push(0);
            add(&mut sum, &less);
            Self::new(self.negative, sum, exponent)
        } else if compare(&a, &b) == Ordering::Less {
            Self::new(other.negative, difference(b, &a), exponent)
        } else {
            Self::new(self.negative, difference(a, &b), exponent)
        }
    }

    /// The product, by the method of school: time grows with the product of the two lengths.
    ///
    /// # Panics
    /// If the exponent does not fit in an `i64`.
    pub fn times(&self, other: &Self) -> Self {
        let mut product = vec![0; self.magnitude.len() + other.magnitude.len()];
        for (i, &a) in self.magnitude.iter().enumerate() {
            let mut carry = 0;
            for (to, &b) in product[i..].iter_mut().zip(&other.magnitude) {
                let wide = u128::from(a) * u128::from(b) + u128::from(*to) + u128::from(carry);
                (*to, carry) = (wide as u64, (wide >> 64) as u64);
            }
            product[i + other.magnitude.len()] = carry;
        }
        let exponent = self.exponent.checked_add(other.exponent).expect("exponent of a product");
        Self::new(self.negative != other.negative, product, exponent)
    }

    /// The number with the other sign.
    pub fn negated(&self) -> Self {
        Self { negative: !self.negative && !self.magnitude.is_empty(), ..self.clone() }
    }

    /// The number times 2^by.
    ///
    /// # Panics
    /// If the exponent does not fit in an `i64`.
    pub fn scaled(&self, by: i64) -> Self {
        Self::new(
            self.negative,
            self.magnitude.clone(),
            if self.magnitude.is_empty() {
                0
            } else {
                self.exponent.checked_add(by).expect("exponent of a scaled number")
            },
        )
    }

    /// The odd whole number of the canonical form, little-endian; empty for zero.
    pub fn magnitude(&self) -> &[u64] {
        &self.magnitude
    }

    /// The exponent of the canonical form.
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Number of bits of the magnitude.
    pub fn bits(&self) -> u64 {
        self.magnitude
            .last()
            .map_or(0, |last| self.magnitude.len() as u64 * 64 - u64::from(last.leading_zeros()))
    }

    /// Whether a certificate may hold the number: its text can be read again.
    pub fn is_writable(&self) -> bool {
        self.exponent.unsigned_abs() <= EXPONENT_LIMIT as u64 && self.bits() <= BITS_LIMIT
    }

    /// The number, if it is not zero, lies in [2^(top − 1), 2^top) up to its sign.
    pub(crate) fn top(&self) -> i64 {
        self.exponent.saturating_add_unsigned(self.bits())
    }

    /// The magnitude in units of 2^exponent, which is not above the number's own.
    fn aligned(&self, exponent: i64) -> Vec<u64> {
        let shift = self.exponent.abs_diff(exponent);
        let mut words = vec![0; (shift / 64) as usize];
        let bits = shift % 64;
        let mut below = 0;
        for &word in &self.magnitude {
            words.push(word << bits | below);
            below = if bits == 0 { 0 } else { word >> (64 - bits) };
        }
        words.push(below);
        words
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign.is_ne() || self.magnitude.is_empty() {
            return by_sign;
        }
        // Numbers of the same height are as far apart as their lengths at most: the difference is cheap.
        let by_size = self.top().cmp(&other.top());
        match (by_size, self.negative) {
            (Ordering::Equal, _) => self.plus(&other.negated()).sign(),
            (_, false) => by_size,
            (_, true) => by_size.reverse(),
        }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two numbers of words, which may have leading zeros.
pub(crate) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let common = a.len().min(b.len());
    let excess = |words: &[u64]| words[common..].iter().any(|&word| word != 0);
    excess(a).cmp(&excess(b)).then_with(|| a[..common].iter().rev().cmp(b[..common].iter().rev()))
}

/// `sum += other`, which is not longer; the sum has room.
fn add(sum: &mut [u64], other: &[u64]) {
    let mut carry = false;
    for (i, to) in sum.iter_mut().enumerate() {
        if i >= other.len() && !carry {
            break;
        }
        let (value, first) = to.overflowing_add(other.get(i).copied().unwrap_or(0));
        let (value, second) = value.overflowing_add(u64::from(carry));
        (*to, carry) = (value, first || second);
    }
}

/// a − b for a ≥ b.
pub(crate) fn difference(mut a: Vec<u64>, b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    for (i, to) in a.iter_mut().enumerate() {
        if i >= b.len() && !borrow {
            break;
        }
        let (value, first) = to.overflowing_sub(b.get(i).copied().unwrap_or(0));
        let (value, second) = value.overflowing_sub(u64::from(borrow));
        (*to, borrow) = (value, first || second);
    }
    a
}

/// m and e with |value| = m · 2^e for a finite float; m is below 2^53, and e lies between −1074 and 971.
pub(crate) fn split(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

/// 2^exponent, for exponents between −1074 and 1023; infinity above.
fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        ..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

impl fmt::Display for Dyadic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.magnitude.iter().rev();
        write!(f, "{}0x{:x}", if self.negative { "-" } else { "" }, words.next().unwrap_or(&0))?;
        for word in words {
            write!(f, "{word:016x}")?;
        }
        write!(f, "p{}", self.exponent)
    }
}

impl FromStr for Dyadic {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (digits, power) = rest.strip_prefix("0x").and_then(|rest| rest.split_once('p')).ok_or(())?;
        // Short enough for the work below; whether each character is in its canonical place is asked at the end.
        if digits.len() as u64 > BITS_LIMIT / 4 || power.len() > 8 {
            return Err(());
        }
        if !digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(());
        }
        let exponent = power.parse::<i64>().map_err(drop)?;
        let words = digits.as_bytes().rchunks(16).map(|chunk| {
            chunk
                .iter()
                .fold(0, |word, &c| word << 4 | u64::from(if c <= b'9' { c - b'0' } else { c - b'a' + 10 }))
        });
        let number = Self::new(negative, words.collect(), exponent);
        // One text for each number: what would not be written like this is not read.
        (number.is_writable() && number.to_string() == text).then_some(number).ok_or(())
    }
}

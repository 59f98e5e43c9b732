//! The two precisions in which the nearest point is looked for: f64, and pairs of them.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A floating-point number.
pub(super) trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Unit roundoff.
    const ROUNDOFF: f64;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn sqrt(self) -> Self;
    /// The number as two floats that sum to it.
    fn parts(self) -> [f64; 2];

    /// Σ a_k b_k.
    fn dot(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).fold(Self::from_f64(0.0), |sum, (&a, &b)| sum + a * b)
    }

    /// Σ a_k b_k for stored numbers b.
    fn dot_stored(a: &[Self], b: &[f64]) -> Self {
        a.iter().zip(b).fold(Self::from_f64(0.0), |sum, (&a, &b)| sum + a * Self::from_f64(b))
    }

    /// b += scale · a.
    fn add_scaled(b: &mut [Self], scale: Self, a: &[Self]) {
        b.iter_mut().zip(a).for_each(|(b, &a)| *b = *b + scale * a);
    }
}

impl Real for f64 {
    const ROUNDOFF: f64 = f64::EPSILON / 2.0;

    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    fn parts(self) -> [f64; 2] {
        [self, 0.0]
    }

    fn dot(a: &[Self], b: &[Self]) -> Self {
        crate::linalg::dot_dense(a, b)
    }

    fn dot_stored(a: &[Self], b: &[f64]) -> Self {
        crate::linalg::dot_dense(a, b)
    }
}

/// An unevaluated sum of two floats, the second at most half a unit in the last place of the first: about 32 digits
/// (Dekker 1971; Hida, Li and Bailey 2001).
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// a + b exactly, for |a| ≥ |b|.
    fn renormalised(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    /// a + b exactly.
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let shift = high - a;
        Self { high, low: (a - (high - shift)) + (b - shift) }
    }

    /// a · b exactly, where nothing underflows.
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }
}

impl PartialEq for DoubleDouble {
    fn eq(&self, other: &Self) -> bool {
        self.high == other.high && self.low == other.low
    }
}

impl PartialOrd for DoubleDouble {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(std::cmp::Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let highs = Self::sum(self.high, other.high);
        let lows = Self::sum(self.low, other.low);
        let first = Self::renormalised(highs.high, highs.low + lows.high);
        Self::renormalised(first.high, first.low + lows.low)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::renormalised(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from_f64(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from_f64(second);
        let third = rest.high / other.high;
        Self::renormalised(first, second) + Self::from_f64(third)
    }
}

impl Real for DoubleDouble {
    const ROUNDOFF: f64 = 1.3e-32;

    fn from_f64(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    fn to_f64(self) -> f64 {
        self.high
    }

    fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::from_f64(0.0);
        }
        // One step of Newton's method from a root that is right to 16 digits doubles them.
        let root = self.high.sqrt();
        let rest = self - Self::product(root, root);
        Self::renormalised(root, rest.high / (2.0 * root))
    }

    fn parts(self) -> [f64; 2] {
        [self.high, self.low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whole numbers of up to 50 bits: products of up to 100 bits are exact, sums too.
        #[test]
        fn pairs_hold_a_hundred_bits(a in -(1i64 << 50)..(1i64 << 50), b in -(1i64 << 50)..(1i64 << 50)) {
            let exact = i128::from(a) * i128::from(b) + i128::from(a) - i128::from(b);
            let (x, y) = (DoubleDouble::from_f64(a as f64), DoubleDouble::from_f64(b as f64));
            let found = x * y + x - y;
            prop_assert_eq!(found.high as i128 + found.low as i128, exact);
        }

        #[test]
        fn quotients_and_roots_are_right_to_thirty_digits(a in 1e-3f64..1e3, b in 1e-3f64..1e3) {
            let (x, y) = (DoubleDouble::from_f64(a), DoubleDouble::from_f64(b));
            let back = (x / y) * y - x;
            prop_assert!(back.to_f64().abs() <= 1e-30 * a, "{back:?}");
            let back = x.sqrt() * x.sqrt() - x;
            prop_assert!(back.to_f64().abs() <= 1e-30 * a, "{back:?}");
        }
    }
}

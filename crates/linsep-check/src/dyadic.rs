//! Exact numbers: whole numbers times powers of two.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// ± magnitude · 2^exponent, of any size. In canonical form: the magnitude is odd, or the number is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dyadic {
    negative: bool,
    /// Little-endian, without leading zeros.
    magnitude: Vec<u64>,
    exponent: i64,
}

impl Dyadic {
    /// ± magnitude · 2^exponent, brought to canonical form.
    pub fn new(negative: bool, magnitude: Vec<u64>, exponent: i64) -> Self {
        Self { negative, magnitude, exponent }
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::new(false, Vec::new(), 0)
    }

    /// The exact value of a finite float; `None` for NaN and infinities.
    pub fn from_f64(_value: f64) -> Option<Self> {
        todo!()
    }

    /// Whether the number is below, at or above zero.
    pub fn sign(&self) -> Ordering {
        todo!()
    }

    /// A float near the number: the nearest one, or ±infinity beyond the largest.
    pub fn approximate(&self) -> f64 {
        todo!()
    }

    /// The sum.
    pub fn plus(&self, _other: &Self) -> Self {
        todo!()
    }

    /// The product.
    pub fn times(&self, _other: &Self) -> Self {
        todo!()
    }
}

impl fmt::Display for Dyadic {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

impl FromStr for Dyadic {
    type Err = ();
    fn from_str(_text: &str) -> Result<Self, ()> {
        todo!()
    }
}

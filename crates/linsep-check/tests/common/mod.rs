//! What the tests share: a table of rows in each way of storing them, and exact numbers of the tests' own, which have
//! nothing in common with those of the crate: they read its numbers from their text.
#![allow(dead_code, unreachable_pub, unused_imports)]

// The writer is the library's: the checker has none.
#[path = "../../../linsep/src/separate/certificate_text.rs"]
mod certificate_text;

pub use certificate_text::{CertificateText, hexadecimal};
use linsep_check::{
    Accepted, Bias, Certificate, Claim, Columns, Dyadic, Examples, Rejected, Sparse, Subject, check,
};
use std::cmp::Ordering;

/// Rows of floats, stored in one of four ways.
#[derive(Clone, Debug)]
pub struct Table {
    pub features: usize,
    pub sides: Vec<i8>,
    pub values: Vec<Vec<f64>>,
    narrow: Vec<Vec<f32>>,
    columns: Vec<Vec<u32>>,
    way: usize,
}

impl Table {
    pub fn new(features: usize, rows: &[(i8, Vec<f64>)], way: usize) -> Self {
        let way = way % 4;
        let mut table = Self {
            features,
            sides: rows.iter().map(|row| row.0).collect(),
            values: rows.iter().map(|row| row.1.clone()).collect(),
            narrow: Vec::new(),
            columns: Vec::new(),
            way,
        };
        for row in &mut table.values {
            let kept = |(_, value): &(u32, &f64)| way < 2 || **value != 0.0;
            let (columns, values): (Vec<u32>, Vec<f64>) =
                (0..).zip(row.iter()).filter(kept).map(|(j, &v)| (j, v)).unzip();
            table.narrow.push(values.iter().map(|&v| v as f32).collect());
            table.columns.push(columns);
            *row = values;
        }
        table
    }

    /// Value `j` of row `i`, whatever the way of storing.
    pub fn value(&self, i: usize, j: usize) -> f64 {
        let place = self.columns[i].iter().position(|&column| column as usize == j);
        place.map_or(0.0, |place| {
            if self.way.is_multiple_of(2) { self.values[i][place] } else { f64::from(self.narrow[i][place]) }
        })
    }
}

impl Examples for Table {
    fn rows(&self) -> usize {
        self.sides.len()
    }
    fn features(&self) -> usize {
        self.features
    }
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        let place = self.columns[i].iter().map(|&column| column as usize);
        match self.way.is_multiple_of(2) {
            true => values.extend(place.zip(self.values[i].iter().copied())),
            false => values.extend(place.zip(self.narrow[i].iter().map(|&value| f64::from(value)))),
        }
    }
    fn side(&self, i: usize) -> i8 {
        self.sides[i]
    }
}

pub fn number(value: f64) -> Dyadic {
    Dyadic::from_f64(value).expect("finite")
}

/// a + b, for numbers of the crate.
pub fn plus(a: &Dyadic, b: &Dyadic) -> Dyadic {
    Big::of(a).plus(&Big::of(b)).dyadic()
}

/// a · b, for numbers of the crate.
pub fn times(a: &Dyadic, b: &Dyadic) -> Dyadic {
    Big::of(a).times(&Big::of(b)).dyadic()
}

/// a · 2^by.
pub fn scaled(a: &Dyadic, by: i64) -> Dyadic {
    Dyadic::new(a.sign().is_lt(), a.parts().0.to_vec(), a.parts().1 + by)
}

pub fn sparse(values: &[f64]) -> Sparse {
    let entries = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
    entries.map(|(place, value)| (place, number(*value))).collect()
}

pub fn certificate(table: &Table, bias: Bias, claim: Claim) -> Certificate {
    let subject = Subject {
        fingerprint: "none \"\\\n\r\\n\u{1}ü𝄞".into(),
        rows: table.rows(),
        features: table.features,
        positive: vec!["yes".into()],
        negative: vec!["no".into(), "never".into()],
    };
    Certificate { subject, bias, claim, columns: Columns::default() }
}

/// Numbers that look random, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    /// A whole number of one of these numbers of bits.
    pub fn sized(&mut self, bits: &[u32]) -> i64 {
        let bits = bits[self.below(bits.len())];
        self.whole(1 << bits)
    }
    /// A whole number between −n and n.
    pub fn whole(&mut self, n: i64) -> i64 {
        self.below(2 * n as usize + 1) as i64 - n
    }
}

/// Σ digit·2^(24·place) · 2^exponent; digits have any sign until they are settled.
#[derive(Clone, Debug)]
pub struct Big {
    digits: Vec<i128>,
    exponent: i64,
}

impl Big {
    pub fn from_text(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (hex, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
        let mut digits = Vec::new();
        let mut end = hex.len();
        while end > 0 {
            let start = end.saturating_sub(6);
            let digit = i128::from_str_radix(&hex[start..end], 16).unwrap();
            digits.push(if negative { -digit } else { digit });
            end = start;
        }
        Self { digits, exponent: exponent.parse().unwrap() }
    }

    pub fn of(number: &Dyadic) -> Self {
        Self::from_text(&hexadecimal(number).to_string())
    }

    /// The number as one of the crate.
    pub fn dyadic(&self) -> Dyadic {
        let negative = self.sign().is_lt();
        let size = self.times(&Self::float(if negative { -1.0 } else { 1.0 })).settled();
        let mut words = vec![0; size.digits.len() * 24 / 64 + 2];
        for (i, digit) in size.digits.iter().enumerate() {
            let wide = (*digit as u128) << (24 * i % 64);
            words[24 * i / 64] |= wide as u64;
            words[24 * i / 64 + 1] |= (wide >> 64) as u64;
        }
        Dyadic::new(negative, words, size.exponent)
    }

    pub fn float(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let (field, fraction) = ((bits >> 52) as i64, (bits & 0xf_ffff_ffff_ffff) as i128);
        let (whole, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction + (1 << 52), field - 1075) };
        Self { digits: vec![if value < 0.0 { -whole } else { whole }], exponent }.settled()
    }

    pub fn zero() -> Self {
        Self { digits: vec![0], exponent: 0 }
    }

    fn settled(mut self) -> Self {
        let mut carry = 0;
        for digit in &mut self.digits {
            let sum = *digit + carry;
            (*digit, carry) = (sum.rem_euclid(1 << 24), sum.div_euclid(1 << 24));
        }
        while carry != 0 && carry != -1 {
            self.digits.push(carry.rem_euclid(1 << 24));
            carry = carry.div_euclid(1 << 24);
        }
        self.digits.push(carry);
        self
    }

    pub fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().enumerate() {
            for (j, b) in other.digits.iter().enumerate() {
                digits[i + j] += a * b;
            }
        }
        Self { digits, exponent: self.exponent + other.exponent }.settled()
    }

    fn lowered(&self, exponent: i64) -> Vec<i128> {
        let shift = (self.exponent - exponent) as usize;
        let mut digits = vec![0; shift / 24];
        digits.extend(self.digits.iter().map(|digit| digit << (shift % 24)));
        digits
    }

    pub fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (mut digits, more) = (self.lowered(exponent), other.lowered(exponent));
        digits.resize(digits.len().max(more.len()), 0);
        digits.iter_mut().zip(&more).for_each(|(a, b)| *a += b);
        Self { digits, exponent }.settled()
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&Self::float(-1.0)))
    }

    /// The highest digit of a settled number that is not zero tells: all below it make less than one of it.
    pub fn sign(&self) -> Ordering {
        let settled = self.clone().settled();
        settled.digits.iter().rev().find(|digit| **digit != 0).map_or(Ordering::Equal, |digit| digit.cmp(&0))
    }
}

/// Whether a claim is true of the rows, be they of one side or of two.
pub fn verify_any_sides(certificate: &Certificate, examples: &dyn Examples) -> Result<Accepted, Rejected> {
    check(certificate, examples, &|| false)
}

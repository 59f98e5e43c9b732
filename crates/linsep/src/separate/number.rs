//! Exact numbers and vectors of the engine: whole numbers times a power of two.

use super::examples::Examples;
use super::modular::parts;
use dashu_int::IBig;
use dashu_int::ops::BitTest;
use linsep_check::Dyadic;
use std::cmp::Ordering;

/// mantissa · 2^exponent.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    mantissa: IBig,
    exponent: i64,
}

impl Exact {
    pub(super) fn new(mantissa: IBig, exponent: i64) -> Self {
        Self { mantissa, exponent }
    }

    pub(super) fn zero() -> Self {
        Self::new(IBig::ZERO, 0)
    }

    /// The exact value of a finite float.
    pub(super) fn from_f64(value: f64) -> Self {
        let (mantissa, exponent) = parts(value);
        Self::new(IBig::from(mantissa), exponent)
    }

    pub(super) fn from_parts([high, low]: [f64; 2]) -> Self {
        Self::from_f64(high).plus(&Self::from_f64(low))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        if self.mantissa == IBig::ZERO {
            return other.clone();
        }
        if other.mantissa == IBig::ZERO {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        let aligned = |x: &Self| x.mantissa.clone() << (x.exponent - exponent) as usize;
        Self::new(aligned(self) + aligned(other), exponent)
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        Self::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus(&Self::new(-other.mantissa.clone(), other.exponent))
    }

    /// The largest whole number that is not above.
    pub(super) fn floor(&self) -> IBig {
        if self.exponent >= 0 {
            self.mantissa.clone() << self.exponent as usize
        } else {
            self.mantissa.clone() >> self.exponent.unsigned_abs() as usize
        }
    }

    pub(super) fn sign(&self) -> Ordering {
        self.mantissa.cmp(&IBig::ZERO)
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.minus(other).sign()
    }

    /// The number as f · 2^e with 1 ≤ |f| < 2, f rounded towards zero; (0, 0) for zero.
    pub(super) fn scaled(&self) -> (f64, i64) {
        let bits = magnitude_bits(&self.mantissa) as i64;
        if bits == 0 {
            return (0.0, 0);
        }
        let negative = self.mantissa < IBig::ZERO;
        let size = if negative { -self.mantissa.clone() } else { self.mantissa.clone() };
        let drop = (bits - 53).max(0);
        let top = u64::try_from(size >> drop as usize).unwrap_or(u64::MAX) as f64;
        let fraction = libm::scalbn(top, (drop - (bits - 1)) as i32);
        (if negative { -fraction } else { fraction }, self.exponent + bits - 1)
    }

    /// A float near the number, or ±infinity or 0 where it is beyond them.
    pub(super) fn approximate(&self) -> f64 {
        let (fraction, exponent) = self.scaled();
        libm::scalbn(fraction, exponent.clamp(-4000, 4000) as i32)
    }

    pub(super) fn mantissa_and_exponent(&self) -> (&IBig, i64) {
        (&self.mantissa, self.exponent)
    }

    pub(super) fn to_dyadic(&self) -> Dyadic {
        dyadic(&self.mantissa, self.exponent)
    }
}

/// The length of |value| in bits.
pub(super) fn magnitude_bits(value: &IBig) -> usize {
    if *value < IBig::ZERO { (-value.clone()).bit_len() } else { value.bit_len() }
}

fn dyadic(mantissa: &IBig, exponent: i64) -> Dyadic {
    let (_, words) = mantissa.as_sign_words();
    let magnitude = words.to_vec();
    Dyadic::new(*mantissa < IBig::ZERO, magnitude, exponent)
}

/// A vector of whole numbers times one power of two.
#[derive(Clone, Debug)]
pub(super) struct ExactVector {
    pub(super) values: Vec<IBig>,
    pub(super) exponent: i64,
}

impl ExactVector {
    /// The exact sums of pairs of floats.
    pub(super) fn from_parts(pairs: &[[f64; 2]]) -> Self {
        let numbers = pairs.iter().flatten().map(|&part| parts(part)).filter(|&(mantissa, _)| mantissa != 0);
        let exponent = numbers.map(|(_, exponent)| exponent).min().unwrap_or(0);
        let aligned = |part: f64| {
            let (mantissa, own) = parts(part);
            if mantissa == 0 { IBig::ZERO } else { IBig::from(mantissa) << (own - exponent) as usize }
        };
        let values = pairs.iter().map(|[high, low]| aligned(*high) + aligned(*low)).collect();
        Self { values, exponent }
    }

    pub(super) fn from_f64(values: &[f64]) -> Self {
        Self::from_parts(&values.iter().map(|&value| [value, 0.0]).collect::<Vec<_>>())
    }

    /// The vector with one more entry.
    pub(super) fn with_last(mut self, last: &Exact) -> Self {
        let exponent = self.exponent.min(last.exponent);
        let up = (self.exponent - exponent) as usize;
        self.values.iter_mut().for_each(|value| *value <<= up);
        self.values.push(last.mantissa.clone() << (last.exponent - exponent) as usize);
        Self { exponent, ..self }
    }

    /// ⟨self, z_i⟩; entries that the vector does not have are zero.
    pub(super) fn dot(&self, examples: &Examples<'_>, i: usize) -> Exact {
        let mut sum = IBig::ZERO;
        let entries = || examples.entries(i).map(|(column, value)| (column, parts(value)));
        let least = entries().map(|(_, (_, exponent))| exponent).min().unwrap_or(0);
        for (column, (mantissa, exponent)) in entries() {
            if let Some(weight) = self.values.get(column).filter(|weight| !weight.is_zero()) {
                sum += (weight * IBig::from(mantissa)) << (exponent - least) as usize;
            }
        }
        Exact::new(sum, self.exponent + least)
    }

    /// Σ of the squares of the first `length` entries.
    pub(super) fn norm_squared(&self, length: usize) -> Exact {
        let sum = self.values[..length].iter().fold(IBig::ZERO, |sum, value| sum + value * value);
        Exact::new(sum, 2 * self.exponent)
    }

    /// Floats near the entries, all divided by one power of two so that the largest is between 1 and 2; and whether
    /// each is right to its last bit or so, which it is not where entries differ too much in size.
    pub(super) fn rounded(&self) -> (Vec<f64>, bool) {
        let longest = self.values.iter().map(magnitude_bits).max().unwrap_or(0) as i64;
        let shift = 1 - longest;
        let floats = self.values.iter().map(|value| Exact::new(value.clone(), shift).approximate()).collect();
        let shortest =
            self.values.iter().filter(|value| **value != IBig::ZERO).map(magnitude_bits).min().unwrap_or(0)
                as i64;
        (floats, longest - shortest < 900)
    }

    /// Pairs of floats near the entries, all divided by one power of two so that the largest is between 1 and 2.
    pub(super) fn to_parts(&self) -> Vec<[f64; 2]> {
        let shift = 1 - self.values.iter().map(magnitude_bits).max().unwrap_or(0) as i64;
        let pair = |value: &IBig| {
            let value = Exact::new(value.clone(), shift);
            let high = value.approximate();
            [high, value.minus(&Exact::from_f64(high)).approximate()]
        };
        self.values.iter().map(pair).collect()
    }

    /// The entries that are not zero.
    pub(super) fn to_sparse(&self) -> linsep_check::Sparse {
        self.values
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != IBig::ZERO)
            .map(|(place, value)| (place, dyadic(value, self.exponent)))
            .collect()
    }
}

/// The largest float q ≥ 0 with q² · b ≤ a², for a ≥ 0 and b > 0: a/√b rounded down.
pub(super) fn quotient_down(a: &Exact, b: &Exact) -> f64 {
    let mut q = near_quotient(&a.times(a), b);
    let holds = |q: f64| {
        let q = Exact::from_f64(q);
        q.times(&q).times(b).compare(&a.times(a)) != Ordering::Greater
    };
    while q > 0.0 && !holds(q) {
        q = q.next_down();
    }
    while q < f64::MAX && holds(q.next_up()) {
        q = q.next_up();
    }
    q
}

/// The smallest float q ≥ 0 with q² · b² ≥ a, for a ≥ 0 and b > 0: √a/b rounded up; the largest float if that is too
/// small.
pub(super) fn quotient_up(a: &Exact, b: &Exact) -> f64 {
    let squared = b.times(b);
    let mut q = near_quotient(a, &squared);
    let holds = |q: f64| {
        let q = Exact::from_f64(q);
        q.times(&q).times(&squared).compare(a) != Ordering::Less
    };
    while q < f64::MAX && !holds(q) {
        q = q.next_up();
    }
    while q > 0.0 && holds(q.next_down()) {
        q = q.next_down();
    }
    q
}

/// A float near √(a/b), at most the largest.
fn near_quotient(a: &Exact, b: &Exact) -> f64 {
    let ((a, a_exponent), (b, b_exponent)) = (a.scaled(), b.scaled());
    let exponent = a_exponent - b_exponent;
    let odd = exponent.rem_euclid(2);
    let root = (a / b * if odd == 1 { 2.0 } else { 1.0 }).sqrt();
    libm::scalbn(root, ((exponent - odd) / 2).clamp(-4000, 4000) as i32).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_float() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_filter("finite", |x| x.is_finite()),
            (-9i32..10).prop_map(f64::from),
            Just(5e-324),
            Just(-1e-310),
            Just(f64::MAX)
        ]
    }

    proptest! {
        #[test]
        fn floats_are_taken_exactly(a in any_float(), b in any_float()) {
            prop_assert_eq!(Exact::from_f64(a).approximate(), a);
            prop_assert_eq!(Exact::from_f64(a).compare(&Exact::from_f64(b)), a.partial_cmp(&b).unwrap());
            let (sum, difference) = (Exact::from_f64(a).plus(&Exact::from_f64(b)), Exact::from_f64(b).plus(&Exact::from_f64(a)));
            prop_assert_eq!(sum.compare(&difference), Ordering::Equal);
            prop_assert_eq!(sum.minus(&Exact::from_f64(b)).compare(&Exact::from_f64(a)), Ordering::Equal);
        }

        #[test]
        fn pairs_of_floats_keep_a_hundred_bits(values in prop::collection::vec(-(1i64 << 60)..1i64 << 60, 1..6)) {
            let longer = |&value: &i64| IBig::from(value) * IBig::from((1i64 << 40) + 1);
            let vector = ExactVector { values: values.iter().map(longer).collect(), exponent: -7 };
            let again = ExactVector::from_parts(&vector.to_parts());
            // The same direction, for numbers of up to 101 bits.
            for (a, b) in (1..values.len()).map(|k| (k - 1, k)) {
                prop_assert_eq!(
                    &vector.values[a] * &again.values[b],
                    &vector.values[b] * &again.values[a]
                );
            }
        }

        #[test]
        fn quotients_are_the_nearest_floats_on_their_sides(a in 0u64..1 << 40, b in 1u64..1 << 40, e in -600i64..600) {
            let number = |x: u64, e: i64| Exact::new(IBig::from(x), e);
            let down = quotient_down(&number(a, e), &number(b, 0));
            let near = a as f64 / (b as f64).sqrt() * libm::scalbn(1.0, e as i32);
            prop_assert!((down - near).abs() <= 1e-14 * near, "{} {}", down, near);
            let up = quotient_up(&number(a, 2 * e), &number(b, 0));
            let near = (a as f64).sqrt() / b as f64 * libm::scalbn(1.0, e as i32);
            prop_assert!((up - near).abs() <= 1e-14 * near, "{} {}", up, near);
        }
    }
}

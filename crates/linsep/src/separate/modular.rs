//! Linear algebra modulo a prime of one word: a quick and nearly certain answer to questions of rank.
//!
//! Rows that are independent modulo a prime are independent as they stand: that direction is a proof. The other one
//! fails for the few primes that divide a certain determinant, so whoever relies on it checks with whole numbers.

use crate::random::Random;
use dashu_int::{IBig, Sign};
use std::sync::LazyLock;

/// The field of whole numbers modulo 2⁶¹ − C, where that is a prime: C = 1, 31, 45, 229, …
///
/// Elements are `u64` below the prime. Primes of this form need no division: 2⁶¹ is C.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<const C: u64>;

/// The field that is used where any will do but 2⁶¹ − 1: modulo that, 2⁶¹ is 1, and floats that differ by it look equal.
pub(crate) type Usual = Field<31>;

const LOW: u64 = (1 << 61) - 1;

impl<const C: u64> Field<C> {
    /// The prime.
    pub(crate) const PRIME: u64 = (1 << 61) - C;

    /// Any number as an element.
    #[inline]
    pub(crate) fn reduce(wide: u128) -> u64 {
        // 2⁶⁷·C + 2⁶¹ after the first fold, far below 2¹²⁵; a little above 2⁶¹ after the second one.
        let once = (wide >> 61) * u128::from(C) + (wide as u64 & LOW) as u128;
        let twice = (once >> 61) as u64 * C + (once as u64 & LOW);
        if twice >= Self::PRIME { twice - Self::PRIME } else { twice }
    }

    /// a + b.
    #[inline]
    pub(crate) fn add(a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= Self::PRIME { sum - Self::PRIME } else { sum }
    }

    /// a − b.
    #[cfg(test)]
    pub(crate) fn sub(a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + Self::PRIME - b }
    }

    /// −a.
    #[inline]
    pub(crate) fn negate(a: u64) -> u64 {
        if a == 0 { 0 } else { Self::PRIME - a }
    }

    /// a · b.
    #[inline]
    pub(crate) fn mul(a: u64, b: u64) -> u64 {
        Self::reduce(u128::from(a) * u128::from(b))
    }

    /// a to the power of `exponent`.
    pub(crate) fn power(mut a: u64, mut exponent: u64) -> u64 {
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = Self::mul(result, a);
            }
            a = Self::mul(a, a);
            exponent >>= 1;
        }
        result
    }

    /// 1 / a, and 0 for a = 0.
    pub(crate) fn inverse(a: u64) -> u64 {
        Self::power(a, Self::PRIME - 2)
    }

    /// ⟨a, b⟩ over the common length.
    pub(crate) fn dot(a: &[u64], b: &[u64]) -> u64 {
        // 32 products below 2¹²² fit 128 bits with room for what is carried along.
        a.chunks(32).zip(b.chunks(32)).fold(0, |sum, (a, b)| {
            let products = a.iter().zip(b).map(|(&a, &b)| u128::from(a) * u128::from(b));
            Self::reduce(u128::from(sum) + products.sum::<u128>())
        })
    }

    /// The exact value of a finite float, m · 2ᵉ, as an element.
    pub(crate) fn of_f64(value: f64) -> u64 {
        let (mantissa, exponent) = parts(value);
        let magnitude = Self::mul(mantissa.unsigned_abs(), Self::power_of_two(exponent));
        if mantissa < 0 { Self::negate(magnitude) } else { magnitude }
    }

    /// 2ᵉ for the exponents of floats, from a table of the field that is used most.
    pub(crate) fn power_of_two(exponent: i64) -> u64 {
        const MIN: i64 = -1074;
        const COUNT: usize = 2100;
        static USUAL: LazyLock<Vec<u64>> = LazyLock::new(|| {
            let least = Usual::power(Usual::inverse(2), MIN.unsigned_abs());
            std::iter::successors(Some(least), |&power| Some(Usual::mul(2, power))).take(COUNT).collect()
        });
        match USUAL.get((exponent - MIN) as usize) {
            Some(&power) if Self::PRIME == Usual::PRIME => power,
            _ if exponent >= 0 => Self::power(2, exponent as u64),
            _ => Self::power(Self::inverse(2), exponent.unsigned_abs()),
        }
    }

    /// A whole number as an element.
    pub(crate) fn of_integer(value: &IBig) -> u64 {
        let (sign, words) = value.as_sign_words();
        let magnitude = words
            .iter()
            .rev()
            .fold(0, |high, &word| Self::reduce((u128::from(high) << 64) + u128::from(word)));
        if sign == Sign::Negative { Self::negate(magnitude) } else { magnitude }
    }

    /// A uniform element.
    pub(crate) fn random(random: &mut Random) -> u64 {
        random.below(Self::PRIME)
    }
}

/// The whole number m and the power e with value = m · 2ᵉ: m is odd, or 0 with e = 0. Infinities and NaN, which no
/// data set holds, count as 0.
pub(crate) fn parts(value: f64) -> (i64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (0, 0);
    }
    let bits = value.to_bits();
    let stored = (bits >> 52) as i64 & 0x7ff;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    // Subnormal numbers have no hidden bit, and the exponent of the smallest normal ones.
    let (mantissa, exponent) =
        if stored == 0 { (fraction, -1074) } else { (fraction | 1 << 52, stored - 1075) };
    let zeros = mantissa.trailing_zeros();
    let odd = mantissa >> zeros;
    (if value < 0.0 { -odd } else { odd }, exponent + i64::from(zeros))
}

/// ⟨v, row⟩ modulo 2⁶¹ − 31 for a row of floats.
pub(crate) fn dot(v: &[u64], row: impl Iterator<Item = (usize, f64)>) -> u64 {
    row.fold(0, |sum, (column, value)| Usual::add(sum, Usual::mul(v[column], Usual::of_f64(value))))
}

/// One reduced row: the columns where it is not zero, in order, with their values. 1 at the pivot.
#[derive(Clone, Debug)]
struct Reduced {
    columns: Vec<u32>,
    values: Vec<u64>,
}

/// Rows in echelon form modulo 2⁶¹ − 31, one by one.
///
/// Each kept row is zero at the pivots of the rows before it. Rows are kept sparse, so many columns cost one vector
/// of work space, not a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Echelon {
    dimension: usize,
    rows: Vec<Reduced>,
    pivots: Vec<usize>,
    /// All zero between calls.
    work: Vec<u64>,
    /// Whether a column is in the list of those that the current row touches; all false between calls.
    touched: Vec<bool>,
    /// How many kept rows use each column, if the pivot of a row is to be where the fewest do; otherwise it is the first entry.
    uses: Option<Vec<u32>>,
}

impl Echelon {
    /// No rows yet, in this dimension.
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            rows: Vec::new(),
            pivots: Vec::new(),
            work: vec![0; dimension],
            touched: vec![false; dimension],
            uses: None,
        }
    }

    /// The same with the pivot of a row at the column that the fewest rows before use, the first of these: so sparse rows stay sparse for
    /// longer.
    pub(crate) fn with_rare_pivots(dimension: usize) -> Self {
        Self { uses: Some(vec![0; dimension]), ..Self::new(dimension) }
    }

    /// The rank of the rows inserted so far.
    pub(crate) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// The pivot column of each row that was independent of those before, in the order of insertion.
    pub(crate) fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// Adds a row, given by entries at different columns. True if it is independent of the rows before.
    ///
    /// # Panics
    /// If a column is outside the dimension.
    pub(crate) fn insert(&mut self, row: impl IntoIterator<Item = (usize, u64)>) -> bool {
        let columns = self.reduce(row);
        let mut present = columns.iter().copied().filter(|&column| self.work[column as usize] != 0);
        let pivot = match &self.uses {
            None => present.next(),
            Some(uses) => present.min_by_key(|&column| uses[column as usize]),
        };
        if let Some(pivot) = pivot {
            let scale = Usual::inverse(self.work[pivot as usize]);
            let (columns, values): (Vec<u32>, Vec<u64>) = columns
                .iter()
                .filter(|&&column| self.work[column as usize] != 0)
                .map(|&column| (column, Usual::mul(scale, self.work[column as usize])))
                .unzip();
            if let Some(uses) = &mut self.uses {
                columns.iter().for_each(|&column| uses[column as usize] += 1);
            }
            self.rows.push(Reduced { columns, values });
            self.pivots.push(pivot as usize);
        }
        self.clear(&columns);
        pivot.is_some()
    }

    /// Adds a row of floats. True if it is independent of the rows before.
    pub(crate) fn insert_f64(&mut self, row: impl IntoIterator<Item = (usize, f64)>) -> bool {
        self.insert(row.into_iter().map(|(column, value)| (column, Usual::of_f64(value))))
    }

    /// Whether a row is a combination of the inserted ones.
    #[cfg(test)]
    fn spans(&mut self, row: impl IntoIterator<Item = (usize, u64)>) -> bool {
        let columns = self.reduce(row);
        let zero = columns.iter().all(|&column| self.work[column as usize] == 0);
        self.clear(&columns);
        zero
    }

    /// A random vector among those orthogonal to all inserted rows. For a row outside their span its product is not
    /// zero, but for one chance in 2⁶¹.
    pub(crate) fn orthogonal(&self, random: &mut Random) -> Vec<u64> {
        self.made_orthogonal((0..self.dimension).map(|_| Usual::random(random)).collect())
    }

    /// The one vector orthogonal to all inserted rows that is 1 at a column that is no pivot, and 0 at all others that
    /// are none.
    pub(crate) fn orthogonal_at(&self, column: usize) -> Vec<u64> {
        let mut v = vec![0; self.dimension];
        v[column] = 1;
        self.made_orthogonal(v)
    }

    /// The vector, changed at the pivots so that it is orthogonal to all inserted rows.
    fn made_orthogonal(&self, mut v: Vec<u64>) -> Vec<u64> {
        // A row may speak of the pivots of later rows, so those come first. Earlier pivots it does not have.
        for (row, &pivot) in self.rows.iter().zip(&self.pivots).rev() {
            v[pivot] = 0;
            let sum = row
                .columns
                .iter()
                .zip(&row.values)
                .fold(0, |sum, (&column, &value)| Usual::add(sum, Usual::mul(value, v[column as usize])));
            v[pivot] = Usual::negate(sum);
        }
        v
    }

    /// Leaves the row without its part in the span in `work`, and gives the columns touched, in order.
    fn reduce(&mut self, row: impl IntoIterator<Item = (usize, u64)>) -> Vec<u32> {
        let mut columns = Vec::new();
        for (column, value) in row {
            self.work[column] = value;
            self.touched[column] = true;
            columns.push(column as u32);
        }
        for (row, &pivot) in self.rows.iter().zip(&self.pivots) {
            if self.work[pivot] == 0 {
                continue;
            }
            let factor = Usual::negate(self.work[pivot]);
            for (&column, &value) in row.columns.iter().zip(&row.values) {
                let j = column as usize;
                self.work[j] =
                    Usual::reduce(u128::from(factor) * u128::from(value) + u128::from(self.work[j]));
                if !self.touched[j] {
                    self.touched[j] = true;
                    columns.push(column);
                }
            }
        }
        columns.sort_unstable();
        columns
    }

    fn clear(&mut self, columns: &[u32]) {
        for &column in columns {
            self.work[column as usize] = 0;
            self.touched[column as usize] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow<const C: u64>(value: f64) -> u64 {
        let (mantissa, exponent) = parts(value);
        let prime = u128::from(Field::<C>::PRIME);
        let mut result = u128::from(mantissa.unsigned_abs()) % prime;
        for _ in 0..exponent.unsigned_abs() {
            result = if exponent > 0 {
                result * 2 % prime
            } else if result % 2 == 0 {
                result / 2
            } else {
                (result + prime) / 2
            };
        }
        if mantissa < 0 && result > 0 { (prime - result) as u64 } else { result as u64 }
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_division(a in any::<u128>(), b in any::<u128>()) {
            fn check<const C: u64>(a: u128, b: u128) {
                let prime = u128::from(Field::<C>::PRIME);
                assert_eq!(u128::from(Field::<C>::reduce(a)), a % prime);
                let (x, y) = (a % prime, b % prime);
                let (s, t) = (x as u64, y as u64);
                assert_eq!(u128::from(Field::<C>::add(s, t)), (x + y) % prime);
                assert_eq!(u128::from(Field::<C>::sub(s, t)), (x + prime - y) % prime);
                assert_eq!(Field::<C>::mul(s, Field::<C>::inverse(s)), u64::from(s != 0));
                assert_eq!(u128::from(Field::<C>::of_integer(&IBig::from(a))), a % prime);
            }
            check::<1>(a, b);
            check::<31>(a, b);
            check::<45>(a, b);
        }

        #[test]
        fn floats_keep_their_exact_value(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            let (mantissa, exponent) = parts(value);
            let half = (exponent / 2) as i32;
            prop_assert_eq!(mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent as i32 - half), value);
            prop_assert_eq!(Field::<1>::of_f64(value), slow::<1>(value));
            prop_assert_eq!(Field::<31>::of_f64(value), slow::<31>(value));
        }

        #[test]
        fn rank_and_orthogonal_vector(
            rows in prop::collection::vec(prop::collection::vec(-2i64..3, 5), 0..7),
            seed in any::<u64>(),
            is_rare in any::<bool>(),
        ) {
            let mut echelon = if is_rare { Echelon::with_rare_pivots(5) } else { Echelon::new(5) };
            let mut kept: Vec<Vec<IBig>> = Vec::new();
            let element = |v: i64| Usual::of_integer(&IBig::from(v));
            for row in &rows {
                let sparse = || row.iter().copied().map(element).enumerate().filter(|e| e.1 != 0);
                let spanned = echelon.spans(sparse());
                prop_assert_eq!(echelon.insert(sparse()), !spanned);
                prop_assert!(echelon.spans(sparse()));
                kept.push(row.iter().map(|&v| IBig::from(v)).collect());
            }
            prop_assert_eq!(echelon.rank(), rank_over_rationals(&rows));
            prop_assert_eq!(echelon.pivots().len(), echelon.rank());
            let v = echelon.orthogonal(&mut Random::new(seed));
            for row in &rows {
                let dense: Vec<u64> = row.iter().copied().map(element).collect();
                prop_assert_eq!(Usual::dot(&v, &dense), 0);
                prop_assert_eq!(dot(&v, row.iter().map(|&v| v as f64).enumerate()), 0);
            }
            prop_assert_eq!(v.iter().all(|&v| v == 0), echelon.rank() == 5);
        }
    }

    fn rank_over_rationals(rows: &[Vec<i64>]) -> usize {
        let mut rows: Vec<Vec<i128>> = rows.iter().map(|r| r.iter().map(|&v| v.into()).collect()).collect();
        let mut rank = 0;
        for column in 0..5 {
            let Some(pivot) = (rank..rows.len()).find(|&i| rows[i][column] != 0) else { continue };
            rows.swap(rank, pivot);
            let (above, below) = rows.split_at_mut(rank + 1);
            let top = &above[rank];
            for row in below {
                let factor = row[column];
                row.iter_mut()
                    .zip(top)
                    .for_each(|(value, above)| *value = *value * top[column] - above * factor);
            }
            rank += 1;
        }
        rank
    }

    #[test]
    fn an_outside_row_is_noticed_and_many_columns_are_cheap() {
        let mut echelon = Echelon::new(130_000);
        assert!(echelon.insert_f64([(3, 1e300), (129_999, -5e-324)]));
        assert!(echelon.insert_f64([(3, 1.0), (77, 0.1)]));
        assert!(!echelon.insert_f64([(3, 2.0), (77, 0.2)]));
        assert!(!echelon.insert_f64([]));
        let v = echelon.orthogonal(&mut Random::new(1));
        assert_eq!(dot(&v, [(3, 1e300), (129_999, -5e-324)].into_iter()), 0);
        assert_ne!(dot(&v, [(3, 1.0)].into_iter()), 0);
        assert_ne!(dot(&v, [(50, 1.0)].into_iter()), 0);
    }

    #[test]
    fn dots_of_many_large_elements_do_not_overflow() {
        let large = vec![Usual::PRIME - 1; 100];
        assert_eq!(Usual::dot(&large, &large), 100);
    }
}

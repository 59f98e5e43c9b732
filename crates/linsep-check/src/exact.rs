//! Exact sums of products, and the signs of ⟨w, x̃⟩ with a float filter before them.

use std::cmp::Ordering;

use crate::dyadic::{Dyadic, compare, difference, split};
use crate::rows::{Data, Row, each};

/// A sum Σ c·v of numbers c of one vector times finite floats v, as one long fixed-point number.
///
/// Positive and negative terms are summed apart: then a carry runs far only after many terms that paid for it (as in a
/// counter), whereas alternating signs could make every single term run through the whole length.
pub(crate) struct Accumulator {
    /// Value of the lowest bit is 2^base.
    base: i64,
    positive: Vec<u64>,
    negative: Vec<u64>,
}

/// How long an accumulator for a vector must be.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    base: i64,
    words: usize,
}

impl Frame {
    /// Room for sums with these numbers, which are all within the limits of a certificate.
    ///
    /// A finite float is a multiple of 2^−1074 and below 2^1024, and fewer than 2^64 terms are ever summed. Four words more
    /// let the last words of a product be written without asking whether they are zero.
    pub(crate) fn new<'a>(numbers: impl Iterator<Item = &'a Dyadic>) -> Self {
        let ends = numbers.fold(None, |ends, c| {
            let (low, high) = ends.unwrap_or((c.exponent(), c.top()));
            Some((c.exponent().min(low), c.top().max(high)))
        });
        let (low, high) = ends.unwrap_or((0, 0));
        Self { base: low - 1074, words: ((high + 1024 + 64) - (low - 1074)) as usize / 64 + 4 }
    }

    pub(crate) fn words(self) -> usize {
        self.words
    }

    pub(crate) fn accumulator(self) -> Accumulator {
        Accumulator { base: self.base, positive: vec![0; self.words], negative: vec![0; self.words] }
    }
}

impl Accumulator {
    pub(crate) fn clear(&mut self) {
        self.positive.fill(0);
        self.negative.fill(0);
    }

    /// Adds c·v, or −c·v if `flip`.
    pub(crate) fn add(&mut self, c: &Dyadic, v: f64, flip: bool) {
        let (factor, exponent) = split(v);
        if factor == 0 {
            return;
        }
        let negative = c.sign().is_lt() ^ (v < 0.0) ^ flip;
        let sum = if negative { &mut self.negative } else { &mut self.positive };
        let shift = (c.exponent() + exponent - self.base) as usize;
        let (mut at, bits) = (shift / 64, shift % 64);
        let (mut high, mut spill, mut carry) = (0, 0, false);
        for &word in c.magnitude().iter().chain(&[0, 0]) {
            let product = u128::from(word) * u128::from(factor) + u128::from(high);
            high = (product >> 64) as u64;
            let shifted = u128::from(product as u64) << bits | u128::from(spill);
            spill = (shifted >> 64) as u64;
            let (value, first) = sum[at].overflowing_add(shifted as u64);
            let (value, second) = value.overflowing_add(u64::from(carry));
            (sum[at], carry) = (value, first || second);
            at += 1;
        }
        while carry {
            (sum[at], carry) = sum[at].overflowing_add(1);
            at += 1;
        }
    }

    pub(crate) fn sign(&self) -> Ordering {
        compare(&self.positive, &self.negative)
    }

    pub(crate) fn value(&self) -> Dyadic {
        match self.sign() {
            Ordering::Less => Dyadic::new(true, difference(self.negative.clone(), &self.positive), self.base),
            _ => Dyadic::new(false, difference(self.positive.clone(), &self.negative), self.base),
        }
    }
}

/// Unit roundoff of f64.
const U: f64 = f64::EPSILON / 2.0;
/// 2^−1000: above every loss by underflow, below everything that matters.
const TINY: f64 = f64::from_bits(23 << 52);

/// The map x̃ ↦ ⟨w, x̃⟩ for one vector w.
pub(crate) struct Form<'a> {
    entries: &'a [(usize, Dyadic)],
    /// For each coordinate one more than its place in `entries`, or 0.
    index: Vec<u32>,
    frame: Frame,
    /// w·2^−height rounded to floats, if all its entries round with a small relative error.
    rounded: Option<Vec<f64>>,
}

/// What the filter knows of 2^−height·⟨w, x̃⟩.
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// It is off by less than this; may be NaN or infinite.
    pub(crate) error: f64,
}

impl<'a> Form<'a> {
    /// The entries are within the limits and their places below `width`.
    pub(crate) fn new(entries: &'a [(usize, Dyadic)], width: usize, filter: bool) -> Self {
        let mut index = vec![0; width];
        for (i, (place, _)) in (1..).zip(entries) {
            index[*place] = i;
        }
        let height = entries.iter().map(|(_, c)| c.top()).max();
        let lowest = entries.iter().map(|(_, c)| c.top()).min();
        let rounded = height.zip(lowest).filter(|(height, lowest)| filter && height - lowest <= 900).map(
            |(height, _)| {
                let mut rounded = vec![0.0; width];
                for (place, c) in entries {
                    rounded[*place] = c.scaled(-height).approximate();
                }
                rounded
            },
        );
        Self { entries, index, frame: Frame::new(entries.iter().map(|(_, c)| c)), rounded }
    }

    pub(crate) fn accumulator(&self) -> Accumulator {
        self.frame.accumulator()
    }

    /// Puts ⟨w, z⟩ exactly into the accumulator.
    pub(crate) fn exact(&self, data: &Data<'_>, row: Row<'_>, negative: bool, sum: &mut Accumulator) {
        fn dense<T: Copy + Into<f64>>(
            entries: &[(usize, Dyadic)],
            x: &[T],
            negative: bool,
            sum: &mut Accumulator,
        ) {
            for (place, c) in entries {
                x.get(*place).into_iter().for_each(|&value| sum.add(c, value.into(), negative));
            }
        }
        sum.clear();
        match row {
            Row::DenseF32(x) => dense(self.entries, x, negative, sum),
            Row::DenseF64(x) => dense(self.entries, x, negative, sum),
            _ => each(row, 0..data.features, &mut |column: usize, value: f64| {
                if let Some((_, c)) = self.entries.get((self.index[column] as usize).wrapping_sub(1)) {
                    sum.add(c, value, negative);
                }
            }),
        }
        if let Some(value) = data.bias
            && let Some((_, c)) = self.entries.last().filter(|(place, _)| *place == data.features)
        {
            sum.add(c, value, negative);
        }
    }

    /// ⟨w, z⟩ in floats, with a rigorous bound of the error; `None` if w is not fit for floats.
    ///
    /// With n products, summed in any order, the relative errors of rounding w, of the products and of the sums are below
    /// (n + 3)·u·(1 + small) of Σ|w·x|, the computed Σ|w·x| is itself too small by no more than such a part, and
    /// underflow costs at most 2^−1074 a product: twice (n + 8)·u, and the tiny number, leave room for all of these
    /// and for the rounding of the bound. (n is far below 2^43: the values are in memory.)
    pub(crate) fn estimate(&self, data: &Data<'_>, row: Row<'_>, negative: bool) -> Option<Estimate> {
        let w = self.rounded.as_deref()?;
        let (mut value, mut size) = match row {
            Row::DenseF32(x) => dense(w, x),
            Row::DenseF64(x) => dense(w, x),
            Row::SparseF32(columns, x) => gathered(w, columns, x),
            Row::SparseF64(columns, x) => gathered(w, columns, x),
        };
        if let Some(bias) = data.bias {
            let product = w[data.features] * bias;
            value += product;
            size += product.abs();
        }
        let terms = row.stored() as f64 + 8.0;
        Some(Estimate {
            value: if negative { -value } else { value },
            error: 2.0 * terms * U * size + terms * TINY,
        })
    }

    /// A float that is at least 2^−height·lower·‖w‖, the norm over the first `norm` coordinates; it may be infinite.
    pub(crate) fn threshold(&self, lower: f64, norm: usize) -> f64 {
        let Some(w) = &self.rounded else { return f64::INFINITY };
        if lower == 0.0 {
            return 0.0;
        }
        let terms = norm as f64 + 16.0;
        let square = w[..norm].iter().map(|w| w * w).sum::<f64>() + terms * TINY;
        square.sqrt() * (1.0 + 4.0 * terms * U) * lower + TINY
    }
}

/// Σ w·x and Σ |w·x|, with several sums side by side so that the loop runs at the speed of memory.
fn dense<T: Copy + Into<f64>>(w: &[f64], x: &[T]) -> (f64, f64) {
    const LANES: usize = 8;
    let (mut value, mut size) = ([0.0; LANES], [0.0; LANES]);
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w[..x.len()].as_chunks::<LANES>();
    for (w, x) in w_blocks.iter().zip(x_blocks) {
        for lane in 0..LANES {
            let product = w[lane] * x[lane].into();
            value[lane] += product;
            size[lane] += product.abs();
        }
    }
    for (lane, (&w, &x)) in w_rest.iter().zip(x_rest).enumerate() {
        let product = w * x.into();
        value[lane] += product;
        size[lane] += product.abs();
    }
    (value.iter().sum(), size.iter().sum())
}

/// The same for the stored values of a sparse row.
fn gathered<T: Copy + Into<f64>>(w: &[f64], columns: &[u32], x: &[T]) -> (f64, f64) {
    const LANES: usize = 4;
    let (mut value, mut size) = ([0.0; LANES], [0.0; LANES]);
    for (columns, x) in columns.chunks(LANES).zip(x.chunks(LANES)) {
        for (lane, (&column, &x)) in columns.iter().zip(x).enumerate() {
            let product = w[column as usize] * x.into();
            value[lane] += product;
            size[lane] += product.abs();
        }
    }
    (value.iter().sum(), size.iter().sum())
}

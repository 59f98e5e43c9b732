//! The rows of a search for few rows to remove: equal rows as one, with their costs, and a copy in which every column has
//! unit size.

use super::super::contradictions::directions;
use super::super::number::{Exact, ExactVector};
use super::super::{Bias, Examples};
use crate::Error;
use crate::dataset::Dataset;
use dashu_int::IBig;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Dense copies have at most so many entries; beyond that zeros are left out, and columns are not centred.
const MAX_DENSE: usize = 1 << 24;
/// Costs are whole numbers that sum to less than this.
const MAX_UNITS: f64 = (1u64 << 52) as f64;

/// The rows to choose from. Rows whose z point the same way go or stay together: a boundary has all of them on their right
/// sides or none. So they are one *kind*, with one row to stand for it, and what all of them cost.
///
/// Whether rows are separable depends neither on how a bias is counted in the norm nor on the units of the columns. So
/// the bias is a coordinate 1 whenever there is one, and the search itself runs on columns of unit size, centred where there
/// is a bias. Its boundaries are taken back to the rows as given, and judged there, exactly.
pub(super) struct Ground<'a> {
    /// The rows as given, with the bias 1 or none.
    pub(super) examples: Examples<'a>,
    /// The rows of each kind.
    pub(super) kinds: Vec<Vec<usize>>,
    /// Two kinds that point opposite ways: one must go.
    pub(super) opposites: Vec<[usize; 2]>,
    /// What each kind costs, in units.
    pub(super) costs: Vec<u64>,
    /// The weight of a unit: a power of two.
    pub(super) unit: f64,
    /// Whether all weights are multiples of the unit.
    pub(super) is_exact: bool,
    /// One row for each kind, its columns of unit size.
    scaled: Dataset,
    signs: Vec<i8>,
    columns: Vec<Column>,
}

/// How a column is scaled: x ↦ (x·2^exponent − centre)·factor.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    exponent: i32,
    centre: f64,
    factor: f64,
}

impl<'a> Ground<'a> {
    pub(super) fn new(examples: &Examples<'a>) -> Result<Self, Error> {
        let data = examples.data();
        let bias = if examples.bias() == Bias::None { Bias::None } else { Bias::Free };
        let examples = Examples::with_signs(data, examples.signs().to_vec(), bias);
        let (mut kinds, mut opposites) = (Vec::new(), Vec::new());
        for [along, against] in directions(&examples) {
            if !against.is_empty() {
                opposites.push([kinds.len(), kinds.len() + 1]);
            }
            kinds.extend([along, against].into_iter().filter(|rows| !rows.is_empty()));
        }
        let (costs, unit, is_exact) = costs(data.weights(), &kinds);
        let rows: Vec<usize> = kinds.iter().map(|rows| rows[0]).collect();
        let signs = rows.iter().map(|&row| examples.signs()[row]).collect();
        let (scaled, columns) = scaled(data, &rows, bias != Bias::None)?;
        Ok(Self { examples, kinds, opposites, costs, unit, is_exact, scaled, signs, columns })
    }

    /// Number of kinds.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The rows z of all kinds, in columns of unit size.
    pub(super) fn scaled(&self) -> Examples<'_> {
        let bias = if self.examples.bias() == Bias::None { Bias::None } else { Bias::Append(1.0) };
        Examples::with_signs(&self.scaled, self.signs.clone(), bias)
    }

    /// The row that stands for a kind.
    pub(super) fn row(&self, kind: usize) -> usize {
        self.kinds[kind][0]
    }

    /// The rows that stand for these kinds.
    pub(super) fn rows(&self, kinds: &[usize]) -> Vec<usize> {
        kinds.iter().map(|&kind| self.row(kind)).collect()
    }

    /// Whether a kind has rows of this side: with a bias all are of the same, without one x and −x on opposite sides are a kind.
    pub(super) fn has_side(&self, kind: usize, side: i8) -> bool {
        self.kinds[kind].iter().any(|&row| self.examples.signs()[row] == side)
    }

    /// What these kinds cost.
    pub(super) fn cost(&self, kinds: &[usize]) -> u64 {
        kinds.iter().map(|&kind| self.costs[kind]).sum()
    }

    /// Multiplications of one product of weights with every kind.
    pub(super) fn size(&self) -> u64 {
        (self.scaled.nonzeros() + self.len()) as u64
    }

    /// Whether the boundary has a bias.
    pub(super) fn has_bias(&self) -> bool {
        self.examples.bias() != Bias::None
    }

    /// Weights of the scaled columns as weights of the columns as given. What rounding changes is seen when they are judged.
    pub(super) fn unscaled(&self, w: &[f64]) -> Option<ExactVector> {
        if w.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut values: Vec<f64> =
            self.columns.iter().zip(w).map(|(column, value)| value * column.factor).collect();
        let shift: f64 = self.columns.iter().zip(&values).map(|(column, value)| value * column.centre).sum();
        if self.has_bias() {
            values.push(w[self.columns.len()] - shift);
        }
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut exact = ExactVector::from_f64(&values);
        let least = self.columns.iter().map(|column| column.exponent).min().unwrap_or(0).min(0);
        exact.exponent += i64::from(least);
        let exponents = self.columns.iter().map(|column| column.exponent).chain([0]);
        for (value, exponent) in exact.values.iter_mut().zip(exponents) {
            *value <<= (exponent - least) as usize;
        }
        Some(exact)
    }

    /// The kinds that are not strictly on their right side of this boundary, exactly.
    pub(super) fn wrong(&self, w: &ExactVector) -> Vec<usize> {
        let (floats, is_faithful) = w.rounded();
        let (bias, columns) = (self.examples.bias_input(), self.columns.len());
        let last = if self.has_bias() { floats[columns] * bias } else { 0.0 };
        let relative = 4.0 * (columns + 4) as f64 * f64::EPSILON;
        let is_wrong = |kind: &usize| {
            let row = self.row(*kind);
            let (mut sum, mut size) = (last, last.abs());
            for (column, value) in self.examples.data().row(row).iter() {
                let product = floats[column] * value;
                sum += product;
                size += product.abs();
            }
            // Products that vanish are lost altogether, so sizes near the least floats are left to whole numbers.
            if is_faithful && size.is_finite() && sum.abs() > relative * size && sum.abs() > 1e-250 {
                return (sum < 0.0) == (self.signs[*kind] > 0);
            }
            w.dot(&self.examples, row).sign() != Ordering::Greater
        };
        (0..self.len()).into_par_iter().with_min_len(256).filter(is_wrong).collect()
    }

    /// A boundary with the bias 1 as one of another bias, positive on the same rows: for [x; v] the features' weights are
    /// multiplied by v.
    pub(super) fn with_bias(&self, w: &ExactVector, bias: Bias) -> ExactVector {
        let Bias::Append(value) = bias else { return w.clone() };
        let columns = self.columns.len();
        let number = Exact::from_f64(value);
        let (mantissa, exponent) = number.mantissa_and_exponent();
        let features = ExactVector {
            values: w.values[..columns].iter().map(|weight| weight * mantissa).collect(),
            exponent: w.exponent + exponent,
        };
        features.with_last(&Exact::new(w.values[columns].clone(), w.exponent))
    }

    /// All rows of these kinds, in order.
    pub(super) fn all_rows(&self, kinds: &[usize]) -> Vec<usize> {
        let mut rows: Vec<usize> = kinds.iter().flat_map(|&kind| self.kinds[kind].iter().copied()).collect();
        rows.sort_unstable();
        rows
    }
}

/// What each kind costs in units, the unit, and whether that is exact. Counts cost what they count. Other weights are
/// rounded down to multiples of a power of two, so that what is proved with them is true of the weights themselves.
fn costs(weights: Option<&[f64]>, kinds: &[Vec<usize>]) -> (Vec<u64>, f64, bool) {
    let Some(weights) = weights else {
        return (kinds.iter().map(|rows| rows.len() as u64).collect(), 1.0, true);
    };
    let all = || kinds.iter().flatten().map(|&row| weights[row]);
    let total: f64 = all().sum();
    let mut unit = 1.0;
    if total >= MAX_UNITS || all().any(|weight| weight.fract() != 0.0) {
        unit = libm::scalbn(1.0, libm::ilogb(total) - 50);
    }
    let is_exact = all().all(|weight| (weight / unit).fract() == 0.0);
    let cost = |rows: &Vec<usize>| rows.iter().map(|&row| (weights[row] / unit) as u64).sum();
    (kinds.iter().map(cost).collect(), unit, is_exact)
}

/// These rows with columns of unit size, and how each column was scaled.
fn scaled(data: &Dataset, rows: &[usize], centred: bool) -> Result<(Dataset, Vec<Column>), Error> {
    let columns = data.columns();
    let count = rows.len() as f64;
    let mut largest = vec![0.0f64; columns];
    let mut entries = 0usize;
    for &row in rows {
        for (column, value) in data.row(row).iter().filter(|&(_, value)| value != 0.0) {
            largest[column] = largest[column].max(value.abs());
            entries += 1;
        }
    }
    let is_dense = rows.len() * columns <= MAX_DENSE && entries >= rows.len() * columns / 8
        || rows.len() * columns <= 1 << 20;
    let mut scales: Vec<Column> = largest
        .iter()
        .map(|&most| Column {
            exponent: if most > 0.0 { -libm::ilogb(most) } else { 0 },
            ..Column::default()
        })
        .collect();
    let mut sums = vec![[0.0f64; 2]; columns];
    for &row in rows {
        for (column, value) in data.row(row).iter() {
            let value = libm::scalbn(value, scales[column].exponent);
            sums[column][0] += value;
            sums[column][1] += value * value;
        }
    }
    for (scale, [sum, _]) in scales.iter_mut().zip(&sums) {
        scale.centre = if centred && is_dense { sum / count } else { 0.0 };
    }
    if is_dense && centred {
        // Once more, from the centre: sums of squares would lose all digits of columns far from zero.
        sums.iter_mut().zip(&scales).for_each(|(sum, scale)| sum[1] = count * scale.centre * scale.centre);
        for &row in rows {
            for (column, value) in data.row(row).iter() {
                let (value, centre) = (libm::scalbn(value, scales[column].exponent), scales[column].centre);
                sums[column][1] += (value - centre) * (value - centre) - centre * centre;
            }
        }
    }
    for (scale, [_, squares]) in scales.iter_mut().zip(&sums) {
        let size = (squares.max(0.0) / count).sqrt();
        // A column that is constant but for rounding errors tells nothing apart.
        let is_constant = is_dense && centred && size <= 1e-14 * scale.centre.abs();
        scale.factor = if size > 0.0 && !is_constant { 1.0 / size } else { 0.0 };
    }
    let labels = vec!["row"; rows.len()];
    let change = |column: usize, value: f64| {
        let scale = &scales[column];
        (libm::scalbn(value, scale.exponent) - scale.centre) * scale.factor
    };
    let made = if is_dense {
        let mut values: Vec<f64> = Vec::with_capacity(rows.len() * columns);
        for &row in rows {
            let start = values.len();
            values.extend((0..columns).map(|column| change(column, 0.0)));
            for (column, value) in data.row(row).iter() {
                values[start + column] = change(column, value);
            }
        }
        Dataset::dense(columns, &values, &labels)?
    } else {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            for (column, value) in data.row(row).iter().filter(|&(_, value)| value != 0.0) {
                indices.push(column as u32);
                values.push(change(column, value));
            }
            offsets.push(values.len());
        }
        Dataset::sparse(columns, &offsets, &indices, &values, &labels)?
    };
    Ok((made, scales))
}

/// The boundary that has every row on one side.
pub(super) fn constant(dimension: usize, side: i8) -> ExactVector {
    let mut values = vec![IBig::ZERO; dimension];
    if let Some(last) = values.last_mut() {
        *last = IBig::from(side);
    }
    ExactVector { values, exponent: 0 }
}

//! Scaling of features, learned on the training rows and saved in the model.

use super::{Expansion, Schema};
use crate::dataset::{Dataset, DatasetError, Row, Rows, Values};
use crate::linalg::Value;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which scaling to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Values as they are.
    #[default]
    None,
    /// Chosen for each feature: one that most rows have is standardised. Others, of sparse rows, keep
    /// their zeros. Of these, words (0 or 1) stay as they are, and up to 300 others are divided each by the root mean square of
    /// its values. More than 300 are divided each by its largest magnitude if some are far larger than usual, else all by the
    /// same.
    Auto,
    /// Each feature divided by its largest magnitude: values in [−1, 1], zeros stay zeros.
    MaxAbs,
    /// Each feature to mean 0 and variance 1. A feature that most of the sparse rows lack is not centred, so that its
    /// zeros stay zeros.
    Standard,
    /// Each row divided by its Euclidean norm.
    UnitRows,
}

/// A learned scaling.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scaler {
    /// Values as they are.
    #[default]
    None,
    /// x_j / divisor_j
    MaxAbs {
        /// Largest magnitude of each feature; 1 for a feature that is always zero.
        divisor: Vec<f64>,
    },
    /// (x_j − mean_j) / divisor_j
    Standard(Standard),
    /// x / ‖x‖
    UnitRows,
}

/// (x_j − mean_j) / divisor_j for each feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standard {
    mean: Vec<f64>,
    divisor: Vec<f64>,
    /// The features whose mean is not 0, in order: those whose zeros move.
    centred: Vec<u32>,
}

impl Standard {
    /// From what is subtracted from each feature, 0 for one that is not centred, and what it is divided by.
    pub fn new(mean: Vec<f64>, divisor: Vec<f64>) -> Self {
        let centred = (0..mean.len() as u32).filter(|&j| mean[j as usize] != 0.0).collect();
        Self { mean, divisor, centred }
    }

    /// The subtracted mean of each feature.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The divisor of each feature.
    pub fn divisor(&self) -> &[f64] {
        &self.divisor
    }

    /// Whether anything is subtracted.
    pub fn is_centred(&self) -> bool {
        !self.centred.is_empty()
    }

    fn scaled(&self, j: usize, x: f64) -> f64 {
        let (mean, divisor) = (at(&self.mean, j, 0.0), at(&self.divisor, j, 1.0));
        let centred = x - mean;
        // Only a difference of huge numbers overflows; their quotients do not.
        if centred.is_finite() { centred / divisor } else { x / divisor - mean / divisor }
    }

    fn apply<'a>(&self, row: Row<'a>, buffer: &'a mut RowBuffer) -> Row<'a> {
        let is_sparse = matches!(row, Row::SparseF32(..) | Row::SparseF64(..));
        if is_sparse && self.centred.len() < self.mean.len() {
            return self.apply_sparse(row, buffer);
        }
        if is_sparse {
            // Every zero moves, also those that a sparse row does not store.
            let width = self.mean.len().max(row.width());
            buffer.values.extend((0..width).map(|j| self.scaled(j, 0.0)));
            for (j, x) in row.iter() {
                buffer.values[j] = self.scaled(j, x);
            }
        } else {
            buffer.values.extend(row.iter().map(|(j, x)| self.scaled(j, x)));
        }
        Row::DenseF64(&buffer.values)
    }

    /// The values of the row, and the moved zeros of the centred features between them.
    fn apply_sparse<'a>(&self, row: Row<'a>, buffer: &'a mut RowBuffer) -> Row<'a> {
        buffer.indices.clear();
        let mut centred = self.centred.iter().copied().peekable();
        for (j, x) in row.iter() {
            while let Some(moved) = centred.next_if(|&moved| (moved as usize) < j) {
                buffer.push(moved, self.scaled(moved as usize, 0.0));
            }
            centred.next_if_eq(&(j as u32));
            buffer.push(j as u32, self.scaled(j, x));
        }
        for moved in centred {
            buffer.push(moved, self.scaled(moved as usize, 0.0));
        }
        Row::SparseF64(&buffer.indices, &buffer.values)
    }
}

/// Room for one scaled row.
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl RowBuffer {
    /// Adds a value of a sparse row, which does not store zeros: a tiny value may have become one.
    fn push(&mut self, j: u32, value: f64) {
        if value != 0.0 {
            self.indices.push(j);
            self.values.push(value);
        }
    }
}

impl Scaler {
    /// Learns the scaling from all rows of `data`.
    pub fn learn(scaling: Scaling, data: &Dataset) -> Self {
        Self::learn_plain(scaling, data, data.columns())
    }

    /// Learns the scaling of rows that were expanded. The splines of columns are on a scale that means something, and stay as
    /// they are. Whether features that most rows lack need a scale, those of the columns decide.
    pub fn learn_expanded(scaling: Scaling, data: &Dataset, expansion: &Expansion) -> Self {
        if expansion.is_none() {
            return Self::learn(scaling, data);
        }
        let mut scaler = Self::learn_plain(scaling, data, expansion.inputs());
        if let Scaler::MaxAbs { divisor } | Scaler::Standard(Standard { divisor, .. }) = &mut scaler {
            expansion.spline_features().for_each(|j| divisor[j] = 1.0);
        }
        if let Scaler::Standard(Standard { mut mean, divisor, .. }) = scaler {
            expansion.spline_features().for_each(|j| mean[j] = 0.0);
            scaler = Scaler::Standard(Standard::new(mean, divisor));
        }
        scaler
    }

    /// Learns the scaling of rows that were read by these columns, and expanded. Where the scaling is to suit each feature,
    /// terms of texts that are weighed already stay as they are.
    pub fn learn_for(scaling: Scaling, data: &Dataset, columns: &Schema, expansion: &Expansion) -> Self {
        let weighed = if scaling == Scaling::Auto { columns.weighed_terms() } else { 0..0 };
        if weighed.len() == columns.features() && expansion.is_none() {
            return Scaler::None;
        }
        let mut scaler = Self::learn_expanded(scaling, data, expansion);
        match &mut scaler {
            Scaler::None | Scaler::UnitRows => {}
            Scaler::MaxAbs { divisor } => divisor[weighed].fill(1.0),
            Scaler::Standard(Standard { mean, divisor, .. }) => {
                let (mut mean, mut divisor) = (std::mem::take(mean), std::mem::take(divisor));
                mean[weighed.clone()].fill(0.0);
                divisor[weighed].fill(1.0);
                scaler = Scaler::Standard(Standard::new(mean, divisor));
            }
        }
        scaler
    }

    /// Learns the scaling; the features of columns are those before `plain`. Rows that count nothing say nothing.
    fn learn_plain(scaling: Scaling, data: &Dataset, plain: usize) -> Self {
        if let Some(weights) = data.weights().filter(|weights| weights.contains(&0.0)) {
            let counted: Vec<usize> = (0..data.len()).filter(|&i| weights[i] > 0.0).collect();
            if let Ok(counted) = data.subset(&counted) {
                return Self::learn_plain(scaling, &counted, plain);
            }
        }
        match scaling {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            Scaling::MaxAbs => Scaler::MaxAbs { divisor: largest_magnitudes(data) },
            Scaling::Standard => standard(data),
            Scaling::Auto => by_need(data, plain),
        }
    }

    /// Leaves features from the known ones up to `columns` as they are.
    pub fn widen(&mut self, columns: usize) {
        if let Scaler::MaxAbs { divisor } | Scaler::Standard(Standard { divisor, .. }) = self {
            divisor.resize(columns.max(divisor.len()), 1.0);
        }
        if let Scaler::Standard(Standard { mean, .. }) = self {
            mean.resize(columns.max(mean.len()), 0.0);
        }
    }

    /// The kind of scaling this is.
    pub fn scaling(&self) -> Scaling {
        match self {
            Scaler::None => Scaling::None,
            Scaler::MaxAbs { .. } => Scaling::MaxAbs,
            Scaler::Standard(_) => Scaling::Standard,
            Scaler::UnitRows => Scaling::UnitRows,
        }
    }

    /// The scaled form of a row. Features that the scaling was not learned on are left as they are.
    pub fn apply<'a>(&self, row: Row<'a>, buffer: &'a mut RowBuffer) -> Row<'a> {
        buffer.values.clear();
        let (largest, length) = match self {
            Scaler::None => return row,
            Scaler::Standard(standard) => return standard.apply(row, buffer),
            Scaler::MaxAbs { .. } => (1.0, 1.0),
            Scaler::UnitRows => length(row),
        };
        let scaled = |(j, x): (usize, f64)| match self {
            Scaler::MaxAbs { divisor } => x / at(divisor, j, 1.0),
            _ => x / largest / length,
        };
        match row {
            Row::DenseF32(_) | Row::DenseF64(_) => {
                buffer.values.extend(row.iter().map(scaled));
                Row::DenseF64(&buffer.values)
            }
            Row::SparseF32(..) | Row::SparseF64(..) => {
                buffer.indices.clear();
                row.iter().for_each(|(j, x)| buffer.push(j as u32, scaled((j, x))));
                Row::SparseF64(&buffer.indices, &buffer.values)
            }
        }
    }

    /// The data set with every row scaled.
    pub fn apply_all(&self, data: Dataset) -> Result<Dataset, DatasetError> {
        if *self == Scaler::None {
            return Ok(data);
        }
        if matches!(data.rows(), Rows::Dense { .. }) {
            return data.map_dense(|row, buffer: &mut RowBuffer, scaled| {
                if let Row::DenseF64(values) = self.apply(row, buffer) {
                    scaled.copy_from_slice(values);
                }
            });
        }
        let mut buffer = RowBuffer::default();
        let all: Vec<usize> = (0..data.len()).collect();
        data.map_rows(&all, |row, keep| keep(self.apply(row, &mut buffer)))
    }
}

fn at(numbers: &[f64], j: usize, absent: f64) -> f64 {
    numbers.get(j).copied().unwrap_or(absent)
}

fn one_if_zero(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x }
}

/// The largest magnitude of a row, and its length in units of that: their product is ‖row‖, which need not be a
/// float. A zero row has (1, 1).
fn length(row: Row<'_>) -> (f64, f64) {
    let largest = row.iter().fold(0.0f64, |most, (_, x)| most.max(x.abs()));
    if largest == 0.0 {
        return (1.0, 1.0);
    }
    (largest, row.iter().map(|(_, x)| (x / largest).powi(2)).sum::<f64>().sqrt())
}

/// How many times as large as the usual value one may be before features that most rows lack are scaled.
const FAR: f64 = 10.0;

/// Up to so many features that most rows lack are taken for measurements, each in a unit of its own. More are taken for parts
/// of one whole, such as the words of a text, whose sizes relative to each other mean something.
const MAX_MEASURED: usize = 300;

/// The share of rows that must have a feature for it to tell what size is usual: the features of few rows are many, and odd.
const SUPPORT: f64 = 0.01;

/// Rows that are looked at to tell which features most rows have: a sample tells as much, and needs less memory.
const SAMPLE: usize = 5_000;

/// Which features of sparse rows need which scaling, as a sample of the rows shows.
struct Needs {
    /// The features that most rows have, in order.
    common: Vec<u32>,
    /// Whether the others are on very different scales. Most often they are on one (words, or their counts) and need none.
    others_differ: bool,
}

impl Needs {
    /// Of these rows; whether the others differ, those before `plain` tell.
    fn of(data: &Dataset, plain: usize) -> Self {
        let rows: Vec<usize> = (0..data.len()).step_by(data.len().div_ceil(SAMPLE).max(1)).collect();
        // A row that counts twice is two rows.
        let values =
            || rows.iter().flat_map(|&i| data.row(i).iter().map(move |(j, x)| (j, x, data.weight(i))));
        let mut features: Vec<(u32, f64)> = values().map(|(j, _, weight)| (j as u32, weight)).collect();
        features.sort_unstable_by_key(|&(j, _)| j);
        let total = |of: &[(u32, f64)]| of.iter().map(|(_, weight)| weight).sum::<f64>();
        let all: f64 = rows.iter().map(|&i| data.weight(i)).sum();
        let common: Vec<u32> = features
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| total(same) * 2.0 >= all)
            .map(|same| same[0].0)
            .collect();
        let is_other = |j: usize| j < plain && common.binary_search(&(j as u32)).is_err();
        let mut others: Vec<(f64, f64)> =
            values().filter(|&(j, ..)| is_other(j)).map(|(_, x, weight)| (x.abs(), weight)).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let all_others: f64 = others.iter().map(|(_, weight)| weight).sum();
        let mut below = 0.0;
        let is_half = |&&(_, weight): &&(f64, f64)| {
            below += weight;
            2.0 * below >= all_others
        };
        let usual = others.iter().find(is_half).map_or(0.0, |&(x, _)| x);
        let others_differ = others.last().is_some_and(|&(largest, _)| largest > FAR * usual);
        Self { common, others_differ }
    }
}

/// Features of dense rows that one thread looks at, at least: fewer would share what is fetched from memory at once.
const MIN_TOGETHER: usize = 16;

/// Mean and deviation of some features, in two passes over the rows.
pub(super) struct Moments {
    pub(super) mean: Vec<f64>,
    pub(super) deviation: Vec<f64>,
    /// Whether every stored value is 1.
    only_ones: Vec<bool>,
}

impl Moments {
    /// Of these features, which are in order. `None` for all.
    pub(super) fn of(data: &Dataset, some: Option<&[u32]>) -> Self {
        match (data.rows(), some) {
            // Rows that count more than once have one path.
            _ if data.weights().is_some() => Self::of_stored(data, some),
            (Rows::Dense { values: Values::F32(values) }, None) => Self::of_dense(values, data.columns()),
            (Rows::Dense { values: Values::F64(values) }, None) => Self::of_dense(values, data.columns()),
            _ => Self::of_stored(data, some),
        }
    }

    /// Of all features of dense rows, some of them by each thread. Every sum goes over the rows in their order, so its bits do
    /// not depend on the threads.
    fn of_dense<T: Value>(values: &[T], columns: usize) -> Self {
        let width = columns.div_ceil(rayon::current_num_threads()).max(MIN_TOGETHER);
        let starts = (0..columns).into_par_iter().step_by(width);
        let parts: Vec<Self> =
            starts.map(|start| Self::of_block(values, columns, start..columns.min(start + width))).collect();
        let mut all = Self { mean: Vec::new(), deviation: Vec::new(), only_ones: Vec::new() };
        for part in parts {
            all.mean.extend(part.mean);
            all.deviation.extend(part.deviation);
            all.only_ones.extend(part.only_ones);
        }
        all
    }

    fn of_block<T: Value>(values: &[T], columns: usize, block: Range<usize>) -> Self {
        let rows = || values.chunks_exact(columns).map(|row| &row[block.clone()]);
        let (n, count) = (rows().len() as f64, block.len());
        let first: Vec<f64> = values[block.clone()].iter().map(|x| x.wide()).collect();
        let (mut mean, mut largest, mut same) = (vec![0.0f64; count], vec![0.0f64; count], vec![true; count]);
        for row in rows() {
            let sums = mean.iter_mut().zip(&mut largest).zip(&mut same).zip(&first);
            for (x, (((mean, largest), same), first)) in row.iter().zip(sums) {
                let x = x.wide();
                // Divided before the sum, so that large values cannot overflow it.
                *mean += x / n;
                *largest = if x.abs() > *largest { x.abs() } else { *largest };
                *same &= x == *first;
            }
        }
        for (mean, (same, first)) in mean.iter_mut().zip(same.iter().zip(&first)) {
            // Rounding must not make a spread where there is none.
            *mean = if *same { *first } else { *mean };
        }
        // Squares are taken of values in [−2, 2], so that no variance overflows or vanishes.
        let unit: Vec<f64> = largest.into_iter().map(one_if_zero).collect();
        let shift: Vec<f64> = mean.iter().zip(&unit).map(|(mean, unit)| mean / unit).collect();
        let mut variance = vec![0.0f64; count];
        for row in rows() {
            for (x, ((variance, unit), shift)) in row.iter().zip(variance.iter_mut().zip(&unit).zip(&shift)) {
                *variance += (x.wide() / unit - shift).powi(2);
            }
        }
        let deviation =
            variance.iter().zip(&unit).map(|(variance, unit)| (variance / n).sqrt() * unit).collect();
        let only_ones = same.iter().zip(&first).map(|(&same, &first)| same && first == 1.0).collect();
        Self { mean, deviation, only_ones }
    }

    /// Of the stored values of these features, whatever the layout.
    fn of_stored(data: &Dataset, some: Option<&[u32]>) -> Self {
        // Rows that count more weigh more in a mean.
        let n: f64 = data.weights().map_or(data.len() as f64, |weights| weights.iter().sum());
        let count = some.map_or(data.columns(), <[u32]>::len);
        let (mut stored, mut stored_weight) = (vec![0u64; count], vec![0.0f64; count]);
        let (mut mean, mut largest, mut first) =
            (vec![0.0f64; count], vec![0.0f64; count], vec![0.0f64; count]);
        let mut same = vec![true; count];
        visit(data, some, |i, place, x| {
            if stored[place] == 0 {
                first[place] = x;
            }
            stored[place] += 1;
            stored_weight[place] += data.weight(i);
            // Divided before the sum, so that large values cannot overflow it.
            mean[place] += x / (n / data.weight(i));
            largest[place] = largest[place].max(x.abs());
            same[place] &= x == first[place];
        });
        for place in 0..count {
            // Rounding must not make a spread where there is none.
            if same[place] && stored[place] == data.len() as u64 {
                mean[place] = first[place];
            }
        }
        // Squares are taken of values in [−2, 2], so that no variance overflows or vanishes.
        let unit: Vec<f64> = largest.iter().copied().map(one_if_zero).collect();
        let mut variance = vec![0.0f64; count];
        visit(data, some, |i, place, x| {
            variance[place] += data.weight(i) * (x / unit[place] - mean[place] / unit[place]).powi(2);
        });
        let deviation = (0..count).map(|place| {
            // The zeros that sparse rows do not store.
            let zeros = (n - stored_weight[place]).max(0.0) * (mean[place] / unit[place]).powi(2);
            ((variance[place] + zeros) / n).sqrt() * unit[place]
        });
        let deviation = deviation.collect();
        let only_ones = same.iter().zip(&first).map(|(&same, &first)| same && first == 1.0).collect();
        Self { mean, deviation, only_ones }
    }
}

/// Goes over the values of these features, which are in order, each with its row and its place among the features; of all without
/// a list.
fn visit(data: &Dataset, some: Option<&[u32]>, mut each: impl FnMut(usize, usize, f64)) {
    for i in 0..data.len() {
        let Some(some) = some else {
            data.row(i).iter().for_each(|(j, x)| each(i, j, x));
            continue;
        };
        let mut place = 0;
        for (j, x) in data.row(i).iter() {
            while some.get(place).is_some_and(|&feature| (feature as usize) < j) {
                place += 1;
            }
            match some.get(place) {
                Some(&feature) if feature as usize == j => each(i, place, x),
                Some(_) => {}
                None => break,
            }
        }
    }
}

/// The largest magnitude of each feature; 1 for a feature that is always zero.
fn largest_magnitudes(data: &Dataset) -> Vec<f64> {
    let mut largest = vec![0.0f64; data.columns()];
    visit(data, None, |_, j, x| largest[j] = largest[j].max(x.abs()));
    largest.into_iter().map(one_if_zero).collect()
}

/// What the features of sparse rows are divided by that keep their zeros. Words (0 or 1) stay as they are: all that follows is
/// exactly 1 for them.
///
/// The typical magnitude of a feature is √(Σx²/m) over its m values that are not zero. Divided by it, a feature adds m to the
/// sum of all squares, as a word of m rows does. Up to [`MAX_MEASURED`] features are divided each by its own. (The largest
/// magnitude is one row's, and often so far from the rest that hardly anything would be left of them.)
///
/// More features are taken for parts of one whole, such as the words of a text. If some are far larger than usual, each is
/// divided by its largest magnitude, which is larger where many rows have the feature, so that frequent words count less. Else
/// they keep their sizes relative to each other, and all are divided by the usual typical magnitude, if that is above 1.
fn magnitudes(data: &Dataset, needs: &Needs, plain: usize) -> Vec<f64> {
    let largest = largest_magnitudes(data);
    let mut squares = vec![0.0f64; data.columns()];
    let mut count = vec![0.0f64; data.columns()];
    let mut is_word = vec![true; data.columns()];
    // A row that counts twice is two rows.
    visit(data, None, |i, j, x| {
        if x != 0.0 {
            // At most 1, so that no sum overflows.
            squares[j] += data.weight(i) * (x / largest[j]).powi(2);
            count[j] += data.weight(i);
            is_word[j] &= x == 1.0;
        }
    });
    let typical = |j: usize| one_if_zero(largest[j] * (squares[j] / one_if_zero(count[j])).sqrt());
    let is_rare = |&j: &usize| !is_word[j] && needs.common.binary_search(&(j as u32)).is_err();
    let rare: Vec<usize> = (0..plain).filter(is_rare).collect();
    if rare.len() <= MAX_MEASURED {
        return (0..data.columns()).map(typical).collect();
    }
    if needs.others_differ {
        return largest;
    }
    let rows = data.weights().map_or(data.len() as f64, |weights| weights.iter().sum());
    let is_supported = |&&j: &&usize| count[j] >= SUPPORT * rows;
    let mut sizes: Vec<f64> = rare.iter().filter(is_supported).map(|&j| typical(j)).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let usual = sizes.get(sizes.len() / 2).map_or(1.0, |&usual| usual.max(1.0));
    let mut divisor = vec![1.0; data.columns()];
    rare.into_iter().for_each(|j| divisor[j] = usual);
    divisor
}

/// Mean 0 and variance 1; of sparse rows, what most of them lack is not centred.
fn standard(data: &Dataset) -> Scaler {
    let Moments { mean, deviation, .. } = Moments::of(data, None);
    let divisor: Vec<f64> = deviation.iter().copied().map(one_if_zero).collect();
    match data.rows() {
        Rows::Dense { .. } => Scaler::Standard(Standard::new(mean, divisor)),
        Rows::Sparse { .. } => {
            let common = Needs::of(data, data.columns()).common;
            centring(common.iter().map(|&j| (j as usize, mean[j as usize], deviation[j as usize])), divisor)
        }
    }
}

/// What suits each feature, of which those before `plain` are features of columns.
fn by_need(data: &Dataset, plain: usize) -> Scaler {
    if matches!(data.rows(), Rows::Dense { .. }) {
        return standard(data);
    }
    let needs = Needs::of(data, plain);
    let common = &needs.common;
    let Moments { mean, deviation, only_ones } = Moments::of(data, Some(common));
    // Words that most rows have stay as they are too.
    let centred = || (0..common.len()).filter(|&place| !only_ones[place]);
    if centred().next().is_none() && !needs.others_differ {
        return Scaler::None;
    }
    let mut divisor = magnitudes(data, &needs, plain);
    // Products are made of scaled numbers and words.
    divisor[plain..].fill(1.0);
    centring(centred().map(|place| (common[place] as usize, mean[place], deviation[place])), divisor)
}

/// Centres these features, each with its mean, and divides them by their deviation; the others are divided only.
fn centring(features: impl Iterator<Item = (usize, f64, f64)>, mut divisor: Vec<f64>) -> Scaler {
    let mut means = vec![0.0; divisor.len()];
    for (feature, mean, deviation) in features {
        (means[feature], divisor[feature]) = (mean, one_if_zero(deviation));
    }
    Scaler::Standard(Standard::new(means, divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scaling: Scaling, data: Dataset) -> Vec<Vec<f64>> {
        let data = Scaler::learn(scaling, &data).apply_all(data).unwrap();
        (0..data.len())
            .map(|i| {
                let mut values = vec![0.0; data.columns()];
                data.row(i).iter().for_each(|(j, x)| values[j] = x);
                values
            })
            .collect()
    }

    fn dense() -> Dataset {
        Dataset::dense(2, &[1.0, 0.0, 3.0, 0.0, -5.0, 0.0], &["a", "b", "a"]).unwrap()
    }

    fn sparse() -> Dataset {
        Dataset::sparse(2, &[0, 1, 2, 3], &[0, 0, 0], &[1.0, 3.0, -5.0], &["a", "b", "a"]).unwrap()
    }

    /// A row that counts twice is two rows, one that counts nothing is none, for every scaling of dense and of sparse rows.
    #[test]
    fn a_weight_is_a_number_of_rows() {
        let mut random = crate::random::Random::new(8);
        for sparse in [false, true] {
            let (columns, rows) = (20, 60);
            let (mut offsets, mut indices, mut values, mut weights) =
                (vec![0], Vec::new(), Vec::new(), Vec::new());
            for i in 0..rows {
                let weight = random.below(3) as f64;
                // Rows that count nothing are out of the way of all others.
                let far = if weight == 0.0 { 1e4 } else { 1.0 };
                for j in 0..columns {
                    if !sparse || random.below(1 + j as u64 / 4) == 0 {
                        indices.push(j as u32);
                        values.push(far * (1.0 + random.uniform()) * if i % 7 == 0 { 30.0 } else { 1.0 });
                    }
                }
                offsets.push(values.len());
                weights.push(weight);
            }
            let labels = vec!["a"; rows];
            let data = match sparse {
                true => Dataset::sparse(columns, &offsets, &indices, &values, &labels).unwrap(),
                false => Dataset::dense(columns, &values, &labels).unwrap(),
            };
            let repeated: Vec<usize> = (0..rows).flat_map(|i| vec![i; weights[i] as usize]).collect();
            let repeated = data.subset(&repeated).unwrap();
            let weighed = data.with_weights(weights).unwrap();
            for scaling in [Scaling::Auto, Scaling::MaxAbs, Scaling::Standard] {
                let parts = |scaler: Scaler| match scaler {
                    Scaler::MaxAbs { divisor } => (vec![0.0; columns], divisor),
                    Scaler::Standard(Standard { mean, divisor, .. }) => (mean, divisor),
                    other => panic!("{scaling:?} became {other:?}"),
                };
                let (one, other) =
                    (parts(Scaler::learn(scaling, &weighed)), parts(Scaler::learn(scaling, &repeated)));
                for (a, b) in one.0.iter().chain(&one.1).zip(other.0.iter().chain(&other.1)) {
                    assert!(
                        (a - b).abs() <= 1e-9 * a.abs().max(1.0),
                        "{scaling:?}, sparse: {sparse}: {a} beside {b}"
                    );
                }
            }
        }
    }

    /// Dense rows are measured and scaled by several threads, a block of features or of rows each: to the bit as one by one.
    #[test]
    fn dense_rows_are_scaled_alike_by_any_number_of_threads() {
        let mut random = crate::random::Random::stream(5, 1);
        let (rows, columns) = (300, 50);
        let value = |random: &mut crate::random::Random, j: usize| match j % 5 {
            0 => 1.0,
            1 => 0.1,
            2 => (random.below(3) as f64) * 1e200,
            _ => (random.below(100_000) as f64 - 30_000.0) / 7.0,
        };
        let values: Vec<f64> = (0..rows * columns).map(|k| value(&mut random, k % columns)).collect();
        let labels: Vec<&str> = (0..rows).map(|i| ["a", "b"][i % 2]).collect();
        let data = Dataset::dense(columns, &values, &labels).unwrap();
        let plain = Moments::of_stored(&data, None);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| Moments::of(&data, None));
            assert_eq!((&found.mean, &found.deviation), (&plain.mean, &plain.deviation));
            assert_eq!(found.only_ones, plain.only_ones);
            for scaling in [Scaling::Standard, Scaling::MaxAbs, Scaling::UnitRows] {
                let scaler = Scaler::learn(scaling, &data);
                let whole = pool.install(|| scaler.apply_all(data.clone()).unwrap());
                let mut buffer = RowBuffer::default();
                for i in 0..rows {
                    let one: Vec<f64> =
                        scaler.apply(data.row(i), &mut buffer).iter().map(|(_, x)| x).collect();
                    assert_eq!(whole.row(i).iter().map(|(_, x)| x).collect::<Vec<_>>(), one);
                }
                assert_eq!((whole.labels(), whole.classes()), (data.labels(), data.classes()));
            }
        }
        let huge = Dataset::dense(1, &[1e308, -1e308], &["a", "b"]).unwrap();
        let small = Scaler::MaxAbs { divisor: vec![1e-10] };
        assert_eq!(small.apply_all(huge).unwrap_err(), DatasetError::NotFinite { row: 0, column: 0 });
    }

    #[test]
    fn largest_magnitudes_become_one() {
        for data in [dense(), sparse()] {
            assert_eq!(scaled(Scaling::MaxAbs, data), [[0.2, 0.0], [0.6, 0.0], [-1.0, 0.0]]);
        }
    }

    #[test]
    fn what_most_rows_have_is_centred_however_it_is_stored() {
        let (mean, deviation) = (-1.0 / 3.0, (35.0f64 / 3.0 - 1.0 / 9.0).sqrt());
        for (data, scaling) in [
            (dense(), Scaling::Standard),
            (sparse(), Scaling::Standard),
            (dense(), Scaling::Auto),
            (sparse(), Scaling::Auto),
        ] {
            for (row, x) in scaled(scaling, data).iter().zip([1.0, 3.0, -5.0]) {
                assert!((row[0] - (x - mean) / deviation).abs() < 1e-12);
                assert_eq!(row[1], 0.0);
            }
        }
    }

    /// Feature 0 is in most rows, feature 1 is a word, feature 2 is rare and large.
    fn mixed() -> Dataset {
        let (offsets, indices) = ([0, 2, 3, 5, 6, 7], [0, 1, 0, 0, 2, 1, 0]);
        let values = [2.0, 1.0, 4.0, 6.0, 50.0, 1.0, 8.0];
        Dataset::sparse(3, &offsets, &indices, &values, &["a", "b", "a", "b", "a"]).unwrap()
    }

    #[test]
    fn words_and_rare_features_keep_their_zeros() {
        let deviation = 8.0f64.sqrt();
        let rows = scaled(Scaling::Auto, mixed());
        for (row, x) in rows.iter().zip([2.0, 4.0, 6.0, 0.0, 8.0]) {
            assert!((row[0] - (x - 4.0) / deviation).abs() < 1e-12, "{rows:?}");
        }
        let others: Vec<&[f64]> = rows.iter().map(|row| &row[1..]).collect();
        assert_eq!(others, [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        // Unit variance where that was asked for.
        let rows = scaled(Scaling::Standard, mixed());
        let spread = (0.4f64 - 0.16).sqrt();
        assert!(
            (rows[0][1] - 1.0 / spread).abs() < 1e-12 && rows[1][1] == 0.0 && rows[2][2] == 2.5,
            "{rows:?}"
        );
    }

    /// Rare features of sparse rows: the mean of their squares becomes 1 where they are, whatever their scale and their tails.
    #[test]
    fn a_typical_value_of_a_rare_feature_becomes_one() {
        use proptest::prelude::*;
        let value = || prop_oneof![-3.0..3.0f64, 1e-200..1e-190f64, 1e300..1e308f64];
        proptest!(|(values in proptest::collection::vec(value(), 2..20), words in 1usize..20)| {
            let rows = 3 * (values.len() + words);
            let number = |i: usize| values.get(i).copied().filter(|&x| x != 0.0);
            let word = |i: usize| (i.is_multiple_of(3) && i / 3 < words).then_some(1.0);
            // A feature of all rows makes the others be brought to its scale.
            let cells = |i: usize| [Some(i as f64 + 1.0), number(i), word(i)];
            let (mut offsets, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
            for i in 0..rows {
                for (j, x) in cells(i).into_iter().enumerate().filter_map(|(j, x)| Some((j, x?))) {
                    indices.push(j as u32);
                    stored.push(x);
                }
                offsets.push(indices.len());
            }
            let labels: Vec<&str> = (0..rows).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
            let data = Dataset::sparse(3, &offsets, &indices, &stored, &labels).unwrap();
            let scaled = scaled(Scaling::Auto, data);
            let count = (0..rows).filter(|&i| number(i).is_some()).count();
            let squares: f64 = scaled.iter().map(|row| row[1] * row[1]).sum();
            prop_assert!((squares - count as f64).abs() < 1e-9 * count as f64, "{squares} of {count}");
            // Words stay exactly as they are.
            for (i, row) in scaled.iter().enumerate() {
                prop_assert_eq!(row[2], word(i).unwrap_or(0.0));
            }
        });
    }

    #[test]
    fn many_rare_features_keep_their_sizes_relative_to_each_other_unless_some_are_far_larger() {
        // Two features of every row, one of them a word; 400 of a twentieth of the rows each.
        let (rows, rare) = (400usize, 400usize);
        let usual = |j: usize| 1.5 + (j % 5) as f64 / 4.0;
        let far = |j: usize| if j == 7 { 1000.0 } else { usual(j) };
        let small = |j: usize| usual(j) / 8.0;
        type Size<'a> = &'a dyn Fn(usize) -> f64;
        let each: [(Size<'_>, Size<'_>); 3] = [(&usual, &|_| 2.0), (&far, &far), (&small, &|_| 1.0)];
        for (size, divisor) in each {
            let (mut offsets, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
            for i in 0..rows {
                indices.extend([0, 1]);
                stored.extend([i as f64 + 1.0, 1.0]);
                for j in (i % 20..rare).step_by(20) {
                    indices.push(2 + j as u32);
                    stored.push(size(j));
                }
                offsets.push(indices.len());
            }
            let labels: Vec<&str> = (0..rows).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
            let data = Dataset::sparse(2 + rare, &offsets, &indices, &stored, &labels).unwrap();
            let scaled = scaled(Scaling::Auto, data);
            for (i, row) in scaled.iter().enumerate() {
                assert_eq!(row[1], 1.0);
                for j in 0..rare {
                    let expected = if j % 20 == i % 20 { size(j) / divisor(j) } else { 0.0 };
                    assert_eq!(row[2 + j], expected, "row {i}, feature {j}");
                }
            }
        }
    }

    #[test]
    fn a_constant_feature_is_nothing_however_it_is_stored() {
        let constant = 0.1f64;
        let rows = 60;
        let dense: Vec<f64> = (0..rows).flat_map(|i| [constant, f64::from(i)]).collect();
        let offsets: Vec<usize> = (0..=rows as usize).map(|i| 2 * i).collect();
        let indices: Vec<u32> = (0..rows).flat_map(|_| [0, 1]).collect();
        let sparse: Vec<f64> = (0..rows).flat_map(|i| [constant, f64::from(i) + 1.0]).collect();
        let labels: Vec<&str> = (0..rows).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let data = [
            Dataset::dense(2, &dense, &labels).unwrap(),
            Dataset::sparse(3, &offsets, &indices, &sparse, &labels).unwrap(),
        ];
        for (data, scaling) in data.iter().flat_map(|data| [(data, Scaling::Auto), (data, Scaling::Standard)])
        {
            assert!(scaled(scaling, data.clone()).iter().all(|row| row[0] == 0.0), "{scaling:?}");
        }
    }

    #[test]
    fn rows_of_words_alone_need_no_scaling() {
        let data = Dataset::sparse(2, &[0, 1, 2], &[0, 1], &[1.0, 1.0], &["a", "b"]).unwrap();
        assert_eq!(Scaler::learn(Scaling::Auto, &data), Scaler::None);
    }

    #[test]
    fn a_centred_scaling_moves_the_zeros_of_sparse_rows() {
        let data = Dataset::dense(2, &[0.0, 5.0, 1.0, 0.0, 2.0, 7.0], &["a", "b", "a"]).unwrap();
        let scaler = Scaler::learn(Scaling::Standard, &data);
        let (mut one, mut other) = (RowBuffer::default(), RowBuffer::default());
        for (dense, indices, values) in
            [(&[0.0, 5.0], &[1][..], &[5.0][..]), (&[1.0, 0.0], &[0], &[1.0]), (&[0.0, 0.0], &[], &[])]
        {
            let dense = scaler.apply(Row::DenseF64(dense), &mut one);
            assert!(scaler.apply(Row::SparseF64(indices, values), &mut other).iter().eq(dense.iter()));
        }
    }

    #[test]
    fn standard_bears_the_ends_of_the_range() {
        for size in [1e300, 1e308, 1e-300, 5e-324] {
            let data = Dataset::dense(1, &[size, -size], &["a", "b"]).unwrap();
            let rows = scaled(Scaling::Standard, data);
            assert!((rows[0][0] - 1.0).abs() < 1e-12 && (rows[1][0] + 1.0).abs() < 1e-12, "{size}: {rows:?}");
        }
    }

    #[test]
    fn unknown_features_are_left_as_they_are() {
        let mut buffer = RowBuffer::default();
        for scaling in [Scaling::Auto, Scaling::MaxAbs, Scaling::Standard, Scaling::UnitRows] {
            let mut scaler = Scaler::learn(scaling, &sparse());
            let row = scaler.apply(Row::SparseF64(&[5], &[1.0]), &mut buffer);
            assert_eq!(row.iter().last(), Some((5, 1.0)));
            scaler.widen(6);
            let row = scaler.apply(Row::SparseF64(&[5], &[1.0]), &mut buffer);
            assert_eq!(row.iter().last(), Some((5, 1.0)));
        }
    }

    #[test]
    fn rows_get_unit_length_even_at_the_ends_of_the_range() {
        let data = Dataset::dense(2, &[3e300, 4e300, 3e-300, 4e-300, 0.0, 0.0], &["a", "b", "a"]).unwrap();
        let rows = scaled(Scaling::UnitRows, data);
        assert!((rows[0][0] - 0.6).abs() < 1e-12 && (rows[1][1] - 0.8).abs() < 1e-12);
        assert_eq!(rows[2], [0.0, 0.0]);
    }
}

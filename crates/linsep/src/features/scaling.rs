//! Scaling of features, learned on the training rows and saved in the model.

use crate::dataset::{Dataset, DatasetError, Row, Rows};
use serde::{Deserialize, Serialize};

/// Which scaling to learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Values as they are.
    #[default]
    None,
    /// What suits each feature: one that most rows have is brought to mean 0 and variance 1. Others, of sparse rows, keep
    /// their zeros; where some of them are far larger than the usual one, each is divided by its largest magnitude.
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

    /// What is subtracted from each feature.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What each feature is then divided by.
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
        match scaling {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            Scaling::MaxAbs => Scaler::MaxAbs { divisor: Spread::of(data).largest() },
            Scaling::Standard | Scaling::Auto => {
                let spread = Spread::of(data);
                let (mean, divisor) = spread.standard(data, scaling == Scaling::Auto);
                let nothing_to_do = mean.iter().all(|&mean| mean == 0.0) && divisor.iter().all(|&x| x == 1.0);
                if nothing_to_do { Scaler::None } else { Scaler::Standard(Standard::new(mean, divisor)) }
            }
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

/// How many times as large as the usual feature one may be before all are scaled.
const FAR: f64 = 10.0;

/// What one pass over the rows tells about each feature.
struct Spread(Vec<FeatureSpread>);

#[derive(Clone)]
struct FeatureSpread {
    /// Rows that store it.
    stored: u64,
    mean: f64,
    largest: f64,
    /// The first stored value, and whether all others are the same.
    first: f64,
    same: bool,
}

impl Spread {
    fn of(data: &Dataset) -> Self {
        let n = data.len() as f64;
        let unseen = FeatureSpread { stored: 0, mean: 0.0, largest: 0.0, first: 0.0, same: true };
        let mut features = vec![unseen; data.columns()];
        for (j, x) in (0..data.len()).flat_map(|i| data.row(i).iter()) {
            let feature = &mut features[j];
            if feature.stored == 0 {
                feature.first = x;
            }
            feature.stored += 1;
            // Divided before the sum, so that large values cannot overflow it.
            feature.mean += x / n;
            feature.largest = feature.largest.max(x.abs());
            feature.same &= x == feature.first;
        }
        for feature in &mut features {
            // Rounding must not make a spread where there is none.
            if feature.same && feature.stored == data.len() as u64 {
                feature.mean = feature.first;
            }
        }
        Self(features)
    }

    /// The largest magnitude of each feature; 1 for a feature that is always zero.
    fn largest(&self) -> Vec<f64> {
        self.0.iter().map(|feature| one_if_zero(feature.largest)).collect()
    }

    /// What is subtracted from each feature, and what it is divided by. `by_need` leaves alone what needs no scaling.
    fn standard(&self, data: &Dataset, by_need: bool) -> (Vec<f64>, Vec<f64>) {
        let dense = matches!(data.rows(), Rows::Dense { .. });
        let n = data.len() as u64;
        let common = |feature: &FeatureSpread| dense || feature.stored * 2 >= n;
        let alone = |feature: &FeatureSpread| by_need && !dense && feature.same && feature.first == 1.0;
        let mean =
            |feature: &FeatureSpread| if common(feature) && !alone(feature) { feature.mean } else { 0.0 };
        let means = self.0.iter().map(mean).collect();
        let wanted = |feature: &FeatureSpread| !alone(feature) && (common(feature) || !by_need);
        // Features that most rows lack are on one scale in most data (counts of words, say): then they need no scaling.
        let mut rare: Vec<f64> =
            self.0.iter().filter(|f| !common(f) && f.stored > 0).map(|f| f.largest).collect();
        rare.sort_by(f64::total_cmp);
        let rare_differ = rare.last().is_some_and(|&largest| largest > FAR * rare[(rare.len() - 1) / 2]);
        // A second pass, where a variance is needed.
        let deviations = match self.0.iter().any(wanted) {
            true => self.deviations(data),
            false => Vec::new(),
        };
        let divisor = |(j, feature): (usize, &FeatureSpread)| {
            one_if_zero(match feature {
                feature if alone(feature) => 1.0,
                feature if wanted(feature) => deviations[j],
                feature if rare_differ => feature.largest,
                _ => 1.0,
            })
        };
        (means, self.0.iter().enumerate().map(divisor).collect())
    }

    /// The standard deviation of each feature.
    fn deviations(&self, data: &Dataset) -> Vec<f64> {
        // Squares are taken of values in [−2, 2], so that no variance overflows or vanishes.
        let units: Vec<(f64, f64)> = self.0.iter().map(|f| (one_if_zero(f.largest), f.mean)).collect();
        let mut variance = vec![0.0f64; data.columns()];
        for (j, x) in (0..data.len()).flat_map(|i| data.row(i).iter()) {
            let (unit, mean) = units[j];
            variance[j] += (x / unit - mean / unit).powi(2);
        }
        let n = data.len() as f64;
        let deviation = |j: usize| {
            // The zeros that sparse rows do not store.
            let (unit, mean) = units[j];
            let zeros = (n - self.0[j].stored as f64) * (mean / unit).powi(2);
            ((variance[j] + zeros) / n).sqrt() * unit
        };
        (0..data.columns()).map(deviation).collect()
    }
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

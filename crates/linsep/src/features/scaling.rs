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
    /// Each feature divided by its largest magnitude: values in [−1, 1], zeros stay zeros.
    MaxAbs,
    /// Each feature to mean 0 and variance 1; sparse data is not centred, so that zeros stay zeros.
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
    Standard {
        /// What is subtracted; `None` for sparse data.
        mean: Option<Vec<f64>>,
        /// Standard deviation of each feature; 1 for a constant feature.
        divisor: Vec<f64>,
    },
    /// x / ‖x‖
    UnitRows,
}

/// Room for one scaled row.
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Scaler {
    /// Learns the scaling from all rows of `data`.
    pub fn learn(scaling: Scaling, data: &Dataset) -> Self {
        match scaling {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            Scaling::MaxAbs => Scaler::MaxAbs { divisor: largest_magnitudes(data) },
            Scaling::Standard => {
                // Squares are taken of values in [−2, 2], so that no variance overflows or vanishes.
                let (mean, largest) = (means(data), largest_magnitudes(data));
                let mut variance = vec![0.0f64; data.columns()];
                let mut stored = vec![0u64; data.columns()];
                for (j, x) in (0..data.len()).flat_map(|i| data.row(i).iter()) {
                    variance[j] += (x / largest[j] - mean[j] / largest[j]).powi(2);
                    stored[j] += 1;
                }
                let n = data.len() as f64;
                let deviation = |j: usize| {
                    // The zeros that sparse rows do not store.
                    let zeros = (n - stored[j] as f64) * (mean[j] / largest[j]).powi(2);
                    one_if_zero(((variance[j] + zeros) / n).sqrt() * largest[j])
                };
                let divisor = (0..data.columns()).map(deviation).collect();
                let centred = matches!(data.rows(), Rows::Dense { .. });
                Scaler::Standard { mean: centred.then_some(mean), divisor }
            }
        }
    }

    /// Leaves features from the known ones up to `columns` as they are.
    pub fn widen(&mut self, columns: usize) {
        if let Scaler::MaxAbs { divisor } | Scaler::Standard { divisor, .. } = self {
            divisor.resize(columns.max(divisor.len()), 1.0);
        }
        if let Scaler::Standard { mean: Some(mean), .. } = self {
            mean.resize(columns.max(mean.len()), 0.0);
        }
    }

    /// The kind of scaling this is.
    pub fn scaling(&self) -> Scaling {
        match self {
            Scaler::None => Scaling::None,
            Scaler::MaxAbs { .. } => Scaling::MaxAbs,
            Scaler::Standard { .. } => Scaling::Standard,
            Scaler::UnitRows => Scaling::UnitRows,
        }
    }

    /// The scaled form of a row. Features that the scaling was not learned on are left as they are.
    pub fn apply<'a>(&self, row: Row<'a>, buffer: &'a mut RowBuffer) -> Row<'a> {
        let (largest, length) = match self {
            Scaler::None => return row,
            Scaler::UnitRows => length(row),
            _ => (1.0, 1.0),
        };
        let of = |numbers: &[f64], j: usize, absent: f64| numbers.get(j).copied().unwrap_or(absent);
        let scaled = |(j, x): (usize, f64)| match self {
            Scaler::None => x,
            Scaler::MaxAbs { divisor } | Scaler::Standard { mean: None, divisor } => x / of(divisor, j, 1.0),
            Scaler::Standard { mean: Some(mean), divisor } => {
                let (mean, divisor) = (of(mean, j, 0.0), of(divisor, j, 1.0));
                let centred = x - mean;
                // Only a difference of huge numbers overflows; their quotients do not.
                if centred.is_finite() { centred / divisor } else { x / divisor - mean / divisor }
            }
            Scaler::UnitRows => x / largest / length,
        };
        buffer.values.clear();
        if let (Scaler::Standard { mean: Some(mean), .. }, Row::SparseF32(..) | Row::SparseF64(..)) =
            (self, row)
        {
            // Centring moves the zeros too, those that a sparse row does not store.
            buffer.values.extend((0..mean.len().max(row.width())).map(|j| scaled((j, 0.0))));
            for (j, x) in row.iter() {
                buffer.values[j] = scaled((j, x));
            }
            return Row::DenseF64(&buffer.values);
        }
        match row {
            Row::DenseF32(_) | Row::DenseF64(_) => {
                buffer.values.extend(row.iter().map(scaled));
                Row::DenseF64(&buffer.values)
            }
            Row::SparseF32(..) | Row::SparseF64(..) => {
                buffer.indices.clear();
                for (j, x) in row.iter() {
                    // A tiny value may have become zero, which sparse rows do not store.
                    let value = scaled((j, x));
                    if value != 0.0 {
                        buffer.indices.push(j as u32);
                        buffer.values.push(value);
                    }
                }
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

/// The largest magnitude of each feature; 1 for a feature that is always zero.
fn largest_magnitudes(data: &Dataset) -> Vec<f64> {
    let mut largest = vec![0.0f64; data.columns()];
    for (j, x) in (0..data.len()).flat_map(|i| data.row(i).iter()) {
        largest[j] = largest[j].max(x.abs());
    }
    largest.into_iter().map(one_if_zero).collect()
}

fn means(data: &Dataset) -> Vec<f64> {
    let mut sums = vec![0.0f64; data.columns()];
    for (j, x) in (0..data.len()).flat_map(|i| data.row(i).iter()) {
        // Divided before the sum, so that large values cannot overflow it.
        sums[j] += x / data.len() as f64;
    }
    sums
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
    fn standard_centres_dense_data_only() {
        let deviation = (35.0f64 / 3.0 - 1.0 / 9.0).sqrt();
        for (data, mean) in [(dense(), -1.0 / 3.0), (sparse(), 0.0)] {
            for (row, x) in scaled(Scaling::Standard, data).iter().zip([1.0, 3.0, -5.0]) {
                assert!((row[0] - (x - mean) / deviation).abs() < 1e-12);
                assert_eq!(row[1], 0.0);
            }
        }
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
        for scaling in [Scaling::MaxAbs, Scaling::Standard, Scaling::UnitRows] {
            let mut scaler = Scaler::learn(scaling, &sparse());
            let row = scaler.apply(Row::SparseF64(&[5], &[1.0]), &mut buffer);
            assert_eq!(row.iter().collect::<Vec<_>>(), [(5, 1.0)]);
            scaler.widen(6);
            let row = scaler.apply(Row::SparseF64(&[5], &[1.0]), &mut buffer);
            assert_eq!(row.iter().collect::<Vec<_>>(), [(5, 1.0)]);
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

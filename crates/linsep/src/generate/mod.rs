//! Synthetic data: the examples of the theory, and files of any size for measurements.
//!
//! A kind of data ([`Synthetic`]) and a seed determine every row, and each row depends on the seed and its own number alone. So
//! rows are made in parallel, a longer file begins with the shorter one, and memory does not grow with the
//! number of rows. [`dataset`] collects rows in memory, [`write()`] streams them to a file.

mod dense;
mod shapes;
mod text_like;
mod write;

pub use shapes::shapes;
pub use write::{FileFormat, Limit, Written, write};

use crate::Error;
use crate::dataset::{Dataset, DatasetBuilder, Layout, Row};
use crate::random::{Random, Stream};
use rayon::prelude::*;
use text_like::{STEPS, Text};

/// A kind of synthetic data. Labels are 1 and −1.
#[derive(Clone, Debug, PartialEq)]
pub enum Synthetic {
    /// Uniform points in [−1, 1)², labelled 1 exactly if x₂ > x₁. Points on the diagonal are drawn again, so
    /// the data are separable through the origin, by a margin that shrinks as rows are added.
    Square,
    /// Two clouds on the two sides of a hyperplane through the origin with a random normal u.
    ///
    /// Guaranteed, in exact arithmetic on the stored values: y⟨u, x⟩ ≥ margin · ‖u‖ for every row, so the best
    /// geometric margin without a bias is at least `margin`. Along u the distance beyond the margin is
    /// `spread` times a half-normal number, whose density is highest at zero: many rows nearly attain the
    /// margin. In every direction orthogonal to u the rows are normal with standard deviation `spread`.
    /// For few rows the best margin can be larger, because another direction separates them better.
    Blobs {
        /// Number of columns, 1 to 2²⁷.
        features: u32,
        /// The margin that u has, 10⁻⁶ to 10⁶.
        margin: f64,
        /// Size of the clouds, 0 to 10⁶.
        spread: f64,
    },
    /// Four normal clouds around (±1, ±1); the label is the product of the two signs of the centre. With
    /// noise 0 these are exactly the four points, which no line separates once all four are met.
    Xor {
        /// Standard deviation of each cloud, 0 to 10⁶.
        noise: f64,
    },
    /// Patterns of ±1 with labels that are coin flips: the setting of Cover's and Gardner's laws.
    RandomLabels {
        /// Number of columns, 1 to 2²⁷.
        features: u32,
    },
    /// Sparse rows like those of text: words drawn by Zipf's law, counts weighted as tf-idf, rows of length 1
    /// up to rounding to five decimals.
    ///
    /// The label is the sign of ⟨w, x⟩ for hidden whole weights w
    /// (many of them zero), computed exactly, so with noise 0 those weights predict every row right.
    Text {
        /// Number of columns, 2 to 2²⁷.
        features: u32,
        /// Mean number of different words in a row, 1 to half of `features`. Lengths are log-normal.
        per_row: f64,
        /// The fraction of labels that are flipped, 0 to 0.5.
        noise: f64,
    },
}

/// A setting outside its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} = {found} is not in the range {range}: {reason}")]
pub struct GenerateError {
    /// Which setting.
    pub setting: &'static str,
    /// Its value.
    pub found: String,
    /// The values that are accepted.
    pub range: String,
    /// Why others are not.
    pub reason: &'static str,
}

/// As many columns as the readers accept unless told otherwise.
const MAX_FEATURES: u32 = 1 << 27;

impl Synthetic {
    /// The names that [`named`](Self::named) knows.
    pub const NAMES: [&str; 5] = ["square", "blobs", "xor", "random-labels", "text"];

    /// The kind with this name, with its default settings.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "square" => Synthetic::Square,
            "blobs" => Synthetic::Blobs { features: 2, margin: 0.1, spread: 1.0 },
            "xor" => Synthetic::Xor { noise: 0.2 },
            "random-labels" => Synthetic::RandomLabels { features: 100 },
            "text" => Synthetic::Text { features: 47_000, per_row: 63.5, noise: 0.01 },
            _ => return None,
        })
    }

    /// Number of columns.
    pub fn features(&self) -> usize {
        match *self {
            Synthetic::Square | Synthetic::Xor { .. } => 2,
            Synthetic::Blobs { features, .. }
            | Synthetic::RandomLabels { features }
            | Synthetic::Text { features, .. } => features as usize,
        }
    }

    /// Checks that the settings describe a data set.
    pub fn validate(&self) -> Result<(), GenerateError> {
        match *self {
            Synthetic::Square => Ok(()),
            Synthetic::Blobs { features, margin, spread } => {
                check_features(features, 1)?;
                check("margin", margin, 1e-6, 1e6, "outside it, rounding errors would determine the labels")?;
                check("spread", spread, 0.0, 1e6, "outside it, rounding errors would determine the labels")
            }
            Synthetic::Xor { noise } => check(
                "noise",
                noise,
                0.0,
                1e6,
                "it is the standard deviation of clouds whose centres are 2 apart",
            ),
            Synthetic::RandomLabels { features } => check_features(features, 1),
            Synthetic::Text { features, per_row, noise } => {
                check_features(features, 2)?;
                let most = f64::from(features) / 2.0;
                check(
                    "per_row",
                    per_row,
                    1.0,
                    most,
                    "a row has at least one word, and at most half of the vocabulary",
                )?;
                check("noise", noise, 0.0, 0.5, "flipping more than half only swaps the classes")
            }
        }
    }

    /// The hidden weights behind the labels, where the kind has any: all rows of `Square` and `Blobs`, and
    /// those of `Text` whose label was not flipped, have the label of sign ⟨weights, x⟩ with sign(0) = +1.
    pub fn separator(&self, seed: u64) -> Result<Option<Vec<f64>>, GenerateError> {
        self.validate()?;
        Ok(match *self {
            Synthetic::Square => Some(vec![-1.0, 1.0]),
            Synthetic::Blobs { features, .. } => Some(dense::random_normal(features, seed)),
            Synthetic::Text { features, per_row, noise } => {
                Some(Text::new(features, per_row, noise, seed).weights())
            }
            Synthetic::Xor { .. } | Synthetic::RandomLabels { .. } => None,
        })
    }
}

fn check_features(features: u32, least: u32) -> Result<(), GenerateError> {
    if (least..=MAX_FEATURES).contains(&features) {
        return Ok(());
    }
    Err(GenerateError {
        setting: "features",
        found: features.to_string(),
        range: format!("{least} to {MAX_FEATURES}"),
        reason: "a row needs a column, and files with more columns are not read",
    })
}

fn check(
    setting: &'static str,
    value: f64,
    least: f64,
    most: f64,
    reason: &'static str,
) -> Result<(), GenerateError> {
    // A range does not contain NaN.
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(GenerateError { setting, found: value.to_string(), range: format!("{least} to {most}"), reason })
}

/// A checked kind of data, with what all its rows share.
enum Maker {
    Square { seed: u64 },
    Blobs { normal: Vec<f64>, margin: f64, spread: f64, seed: u64 },
    Xor { noise: f64, seed: u64 },
    RandomLabels { features: u32, seed: u64 },
    Text(Text),
}

/// The row being made, and room to make it in.
#[derive(Default)]
struct MadeRow {
    /// Dense kinds: every value.
    values: Vec<f64>,
    /// Text: columns from 1 in increasing order, and their values in steps of 10⁻⁵.
    words: Vec<(u32, u32)>,
    positive: bool,
    /// Text: an open-addressing table of the words met.
    table: Vec<u64>,
}

impl Maker {
    fn new(kind: &Synthetic, seed: u64) -> Result<Self, GenerateError> {
        kind.validate()?;
        Ok(match *kind {
            Synthetic::Square => Maker::Square { seed },
            Synthetic::Blobs { features, margin, spread } => {
                Maker::Blobs { normal: dense::random_normal(features, seed), margin, spread, seed }
            }
            Synthetic::Xor { noise } => Maker::Xor { noise, seed },
            Synthetic::RandomLabels { features } => Maker::RandomLabels { features, seed },
            Synthetic::Text { features, per_row, noise } => {
                Maker::Text(Text::new(features, per_row, noise, seed))
            }
        })
    }

    fn is_sparse(&self) -> bool {
        matches!(self, Maker::Text(_))
    }

    /// Makes row `number` in place of the row made before.
    fn make(&self, number: u64, row: &mut MadeRow) {
        let values = &mut row.values;
        values.clear();
        row.positive = match self {
            Maker::Square { seed } => dense::square(&mut Random::of(*seed, Stream::MadeRow(number)), values),
            Maker::Blobs { normal, margin, spread, seed } => dense::blobs(
                &mut Random::of(*seed, Stream::MadeRow(number)),
                normal,
                *margin,
                *spread,
                values,
            ),
            Maker::Xor { noise, seed } => {
                dense::xor(&mut Random::of(*seed, Stream::MadeRow(number)), *noise, values)
            }
            Maker::RandomLabels { features, seed } => {
                dense::random_labels(&mut Random::of(*seed, Stream::MadeRow(number)), *features, values)
            }
            Maker::Text(text) => text.make(number, &mut row.words, &mut row.table),
        };
    }
}

/// Rows of a part of the data set, for collecting.
#[derive(Default)]
struct Part {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    positive: Vec<bool>,
}

/// The first `rows` rows in memory: dense, or sparse for [`Synthetic::Text`].
///
/// The values are those that [`write()`] writes. The number of columns is that of the kind, also where the last
/// of them are zero in every row (which a LIBSVM file cannot tell).
pub fn dataset(kind: &Synthetic, rows: u64, seed: u64) -> Result<Dataset, Error> {
    const ROWS_PER_PART: u64 = 1024;
    let maker = Maker::new(kind, seed)?;
    let columns = kind.features();
    let layout = if maker.is_sparse() { Layout::Sparse } else { Layout::Dense { columns } };
    let mut builder = DatasetBuilder::new(layout);
    // Class numbers go by first appearance, as in a reader.
    let mut classes: Vec<bool> = Vec::new();
    let parts = u64::from(rayon::current_num_threads() as u32) * 4;
    let mut start = 0;
    while start < rows {
        let end = rows.min(start.saturating_add(parts * ROWS_PER_PART));
        let starts: Vec<u64> = (start..end).step_by(ROWS_PER_PART as usize).collect();
        let made: Vec<Part> = starts
            .par_iter()
            .map(|&first| make_part(&maker, first, end.min(first.saturating_add(ROWS_PER_PART))))
            .collect();
        for part in &made {
            for (i, &positive) in part.positive.iter().enumerate() {
                let class = classes.iter().position(|&class| class == positive).unwrap_or_else(|| {
                    classes.push(positive);
                    classes.len() - 1
                });
                let range = part.offsets[i]..part.offsets[i + 1];
                let row = match layout {
                    Layout::Sparse => Row::SparseF64(&part.indices[range.clone()], &part.values[range]),
                    Layout::Dense { .. } => Row::DenseF64(&part.values[range]),
                };
                builder.push(row, class as u32, None)?;
            }
        }
        start = end;
    }
    let names = classes.iter().map(|&positive| label(positive).to_string()).collect();
    builder.describe(columns, names, None, 1);
    Ok(builder.finish()?)
}

fn make_part(maker: &Maker, start: u64, end: u64) -> Part {
    let mut part = Part { offsets: vec![0], ..Part::default() };
    let mut row = MadeRow::default();
    for number in start..end {
        maker.make(number, &mut row);
        if maker.is_sparse() {
            part.indices.extend(row.words.iter().map(|&(column, _)| column - 1));
            part.values.extend(row.words.iter().map(|&(_, steps)| f64::from(steps) / f64::from(STEPS)));
        } else {
            part.values.extend_from_slice(&row.values);
        }
        part.offsets.push(part.values.len());
        part.positive.push(row.positive);
    }
    part
}

fn label(positive: bool) -> &'static str {
    if positive { "1" } else { "-1" }
}

#[cfg(test)]
mod tests;

//! Features made of features: splines of columns and products of pairs of columns.
//!
//! A linear model of the expanded features is not linear in the columns: it is a sum of curves, one for each column with splines,
//! and of products. All that is proved about a linear model holds for it, in the space of the expanded features.
//!
//! The features of the columns come first, with their numbers and values; then the splines of each column (`splines.rs`), then
//! the products (`pairs.rs`). An [`Expansion`] is learned on the training rows, saved in the model (`file.rs`), and applied to
//! every row before it is scaled.

mod eigen;
mod file;
mod pairs;
mod splines;

pub(crate) use file::{get_expansion, put_expansion};
pub use pairs::{Factor, Products, Residuals, screened_classes};
pub(crate) use splines::FARTHEST;
pub use splines::Splines;

use crate::Error;
use crate::dataset::{Dataset, DatasetError, Row, Rows};
use crate::features::{ColumnKind, Schema};
use crate::memory;
use crate::numbers::grouped;
use pairs::{Candidates, usual_most};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which features are made beside those of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// None.
    #[default]
    Plain,
    /// Natural cubic splines of the numeric columns.
    Splines,
    /// Products of pairs of columns.
    Pairs,
    /// Both.
    #[serde(rename = "splines+pairs")]
    SplinesAndPairs,
}

impl Features {
    /// Every choice, in the order of the documentation.
    pub const ALL: [Features; 4] =
        [Features::Plain, Features::Splines, Features::Pairs, Features::SplinesAndPairs];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Features::Plain => "plain",
            Features::Splines => "splines",
            Features::Pairs => "pairs",
            Features::SplinesAndPairs => "splines+pairs",
        }
    }

    /// Whether numeric columns get splines.
    pub fn splines(self) -> bool {
        matches!(self, Features::Splines | Features::SplinesAndPairs)
    }

    /// Whether there are products.
    pub fn pairs(self) -> bool {
        matches!(self, Features::Pairs | Features::SplinesAndPairs)
    }
}

/// How rows of the features of columns become rows of more features; learned on the training rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    inputs: usize,
    splines: Vec<Splines>,
    products: Products,
    /// The features that splines and products are made of, in order.
    used: Vec<usize>,
}

/// How many features an expansion has of each kind; `docs/json.md` describes every field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExpansionSummary {
    /// The kind of the expansion.
    pub features: Features,
    /// Features of the columns, which stay as they are.
    pub plain: u64,
    /// Splines of columns of numbers.
    pub splines: u64,
    /// The columns that have them.
    pub spline_columns: u64,
    /// Products of pairs of columns.
    pub products: u64,
    /// The products that they were chosen from.
    pub candidates: u64,
}

/// Room for one expanded row.
#[derive(Clone, Debug, Default)]
pub struct ExpansionBuffer {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// The values of the features that are used.
    used: Vec<f64>,
    /// The values of the factors.
    factors: Vec<f64>,
}

/// Rows that one thread expands at a time.
const BLOCK: usize = 256;

/// Blocks that are expanded before they are stored.
const BLOCKS: usize = 64;

impl Expansion {
    /// The most features that would be made of these rows where nothing is said about their number.
    pub fn most_added(features: Features, schema: &Schema, data: &Dataset, outcomes: usize) -> usize {
        let (numbers, columns) = match schema {
            Schema::Table { columns, .. } => {
                let numbers = columns.iter().filter(|column| matches!(column.kind, ColumnKind::Number(_)));
                (numbers.count(), data.columns())
            }
            _ => (data.columns(), data.columns()),
        };
        let splines = if features.splines() { numbers * splines::MAX_SPLINES } else { 0 };
        let most = usual_most(data.len(), outcomes);
        let products = if features.pairs() { most.min(columns * (columns + 1) / 2) } else { 0 };
        splines + products
    }

    /// Rows stay as they are.
    pub fn none() -> Self {
        Self::default()
    }

    /// Of parts that fit together.
    fn new(inputs: usize, splines: Vec<Splines>, products: Products) -> Self {
        if splines.is_empty() && products.pairs.is_empty() {
            return Self::none();
        }
        let mut used: Vec<usize> = splines
            .iter()
            .map(|splines| splines.feature)
            .chain(products.factors.iter().map(|factor| factor.feature))
            .collect();
        used.sort_unstable();
        used.dedup();
        Self { inputs, splines, products, used }
    }

    /// Learns what was asked for from the training rows, which `schema` describes, with the usual number of products.
    ///
    /// `residuals` tell what a simpler model leaves unexplained; without them products are screened against the classes.
    pub fn learn(
        features: Features,
        schema: &Schema,
        train: &Dataset,
        residuals: Option<&Residuals>,
    ) -> Result<Self, Error> {
        Self::learn_at_most(features, None, schema, train, residuals)
    }

    /// The same with at most `max_pairs` products.
    pub fn learn_at_most(
        features: Features,
        max_pairs: Option<usize>,
        schema: &Schema,
        train: &Dataset,
        residuals: Option<&Residuals>,
    ) -> Result<Self, Error> {
        let splines = if features.splines() { learn_splines(schema, train) } else { Vec::new() };
        let products = if features.pairs() {
            let most = max_pairs.unwrap_or_else(|| usual_most(train.len(), train.classes().len()));
            let usual;
            let residuals = match residuals.filter(|residuals| residuals.rows() == train.len()) {
                Some(residuals) => residuals,
                None => {
                    usual = Residuals::of_frequencies(train);
                    &usual
                }
            };
            Candidates::of(schema, train).choose(train, residuals, most)
        } else {
            Products::default()
        };
        Ok(Self::new(train.columns(), splines, products))
    }

    /// Whether there may be more products than are kept, so that residuals help to choose.
    pub fn chooses(features: Features, max_pairs: Option<usize>, schema: &Schema, train: &Dataset) -> bool {
        let most = max_pairs.unwrap_or_else(|| usual_most(train.len(), train.classes().len()));
        features.pairs() && Candidates::of(schema, train).count() > most as u64
    }

    /// Whether rows stay as they are.
    pub fn is_none(&self) -> bool {
        self.splines.is_empty() && self.products.pairs.is_empty()
    }

    /// The kind of the expansion as it was built.
    pub fn features(&self) -> Features {
        match (self.splines.is_empty(), self.products.pairs.is_empty()) {
            (true, true) => Features::Plain,
            (false, true) => Features::Splines,
            (true, false) => Features::Pairs,
            (false, false) => Features::SplinesAndPairs,
        }
    }

    /// Number of features of the rows that are expanded; 0 where they stay as they are.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of features of expanded rows; 0 where rows stay as they are.
    pub fn outputs(&self) -> usize {
        self.inputs + self.added()
    }

    /// How many features are added to those of the columns.
    pub fn added(&self) -> usize {
        self.spline_count() + self.products.pairs.len()
    }

    fn spline_count(&self) -> usize {
        self.splines.iter().map(Splines::count).sum()
    }

    /// The splines of each column that has some, in the order of their features.
    pub fn splines(&self) -> &[Splines] {
        &self.splines
    }

    /// The features of all splines.
    pub fn spline_features(&self) -> Range<usize> {
        self.inputs..self.inputs + self.spline_count()
    }

    /// The features of each column's splines.
    pub fn each_spline_range(&self) -> impl Iterator<Item = (&Splines, Range<usize>)> {
        let mut start = self.inputs;
        self.splines.iter().map(move |splines| {
            let own = start..start + splines.count();
            start = own.end;
            (splines, own)
        })
    }

    /// The feature of each product, with its factors.
    pub fn each_product(&self) -> impl Iterator<Item = (usize, [&Factor; 2])> {
        let start = self.spline_features().end;
        (0..self.products.pairs.len()).map(move |place| (start + place, self.products.factors_of(place)))
    }

    /// How many features there are of each kind; `None` where rows stay as they are.
    pub fn summary(&self) -> Option<ExpansionSummary> {
        (!self.is_none()).then(|| ExpansionSummary {
            features: self.features(),
            plain: self.inputs as u64,
            splines: self.spline_count() as u64,
            spline_columns: self.splines.len() as u64,
            products: self.products.pairs.len() as u64,
            candidates: self.products.candidates,
        })
    }

    /// How many products there were to choose from.
    pub fn candidates(&self) -> u64 {
        self.products.candidates
    }

    /// The name of feature `j` of expanded rows, given the names of the features of the columns.
    pub fn feature_name(&self, j: usize, plain: impl Fn(usize) -> String) -> String {
        if self.is_none() || j < self.inputs {
            return plain(j);
        }
        if let Some((splines, own)) = self.each_spline_range().find(|(_, own)| own.contains(&j)) {
            return format!("{}~{}", plain(splines.feature), j - own.start + 1);
        }
        match j.checked_sub(self.spline_features().end).filter(|&product| product < self.products.pairs.len())
        {
            Some(product) => {
                let [first, second] = self.products.factors_of(product);
                format!("{} × {}", plain(first.feature), plain(second.feature))
            }
            None => plain(j),
        }
    }

    /// The expanded form of a row.
    pub fn apply<'a>(&self, row: Row<'a>, buffer: &'a mut ExpansionBuffer) -> Row<'a> {
        if self.is_none() {
            return row;
        }
        let ExpansionBuffer { indices, values, used, factors } = buffer;
        self.look_up(row, used);
        factors.clear();
        factors.extend(self.products.factors.iter().map(|factor| factor.of(used[self.slot(factor.feature)])));
        indices.clear();
        values.clear();
        if let Row::DenseF32(_) | Row::DenseF64(_) = row {
            values.extend(row.iter().take(self.inputs).map(|(_, x)| x));
            values.resize(self.inputs, 0.0);
            self.each_added(used, factors, |_, x| values.push(x));
            return Row::DenseF64(values);
        }
        for (j, x) in row.truncated(self.inputs).iter() {
            indices.push(j as u32);
            values.push(x);
        }
        self.each_added(used, factors, |j, x| {
            if x != 0.0 {
                indices.push(j as u32);
                values.push(x);
            }
        });
        Row::SparseF64(indices, values)
    }

    /// Finds the values of the features that are used.
    fn look_up(&self, row: Row<'_>, found: &mut Vec<f64>) {
        found.clear();
        found.resize(self.used.len(), 0.0);
        visit(row, self.used.iter().copied(), |place, x| found[place] = x);
    }

    /// Where the value of a used feature is.
    fn slot(&self, feature: usize) -> usize {
        self.used.partition_point(|&other| other < feature)
    }

    /// The features that are added, in order, each with its number.
    fn each_added(&self, used: &[f64], factors: &[f64], mut each: impl FnMut(usize, f64)) {
        let mut next = self.inputs;
        for splines in &self.splines {
            splines.at(used[self.slot(splines.feature)], |x| {
                each(next, x);
                next += 1;
            });
        }
        for &[first, second] in &self.products.pairs {
            each(next, factors[first as usize] * factors[second as usize]);
            next += 1;
        }
    }

    /// The data set with every row expanded.
    pub fn apply_all(&self, data: Dataset) -> Result<Dataset, DatasetError> {
        if self.is_none() {
            return Ok(data);
        }
        let expand = |start: usize| {
            let mut buffer = ExpansionBuffer::default();
            let (mut ends, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for i in start..(start + BLOCK).min(data.len()) {
                match self.apply(data.row(i), &mut buffer) {
                    Row::DenseF64(numbers) => values.extend_from_slice(numbers),
                    row => row.iter().for_each(|(j, x)| {
                        indices.push(j as u32);
                        values.push(x);
                    }),
                }
                ends.push(values.len());
            }
            (ends, indices, values)
        };
        let is_dense = matches!(data.rows(), Rows::Dense { .. });
        let mut expanded = Vec::new();
        let mut i = 0;
        let all = data.map_rows_to(self.outputs(), |_, keep| {
            let within = i % (BLOCK * BLOCKS);
            if within == 0 {
                let starts: Vec<usize> = (i..data.len().min(i + BLOCK * BLOCKS)).step_by(BLOCK).collect();
                expanded =
                    starts.into_par_iter().map(expand).collect::<Vec<(Vec<usize>, Vec<u32>, Vec<f64>)>>();
            }
            let (ends, indices, values) = &expanded[within / BLOCK];
            let place = within % BLOCK;
            let own = if place == 0 { 0 } else { ends[place - 1] }..ends[place];
            i += 1;
            keep(match is_dense {
                true => Row::DenseF64(&values[own]),
                false => Row::SparseF64(&indices[own.clone()], &values[own]),
            });
        })?;
        Ok(match data.feature_names() {
            Some(names) => {
                let plain = |j: usize| names.get(j).cloned().unwrap_or_default();
                all.renamed((0..self.outputs()).map(|j| self.feature_name(j, plain)).collect())
            }
            None => all,
        })
    }

    /// Refuses rows that do not fit into the memory once they are expanded.
    pub(crate) fn check_memory(&self, data: &Dataset) -> Result<(), Error> {
        let values = (data.len() as u64).saturating_mul(match data.rows() {
            Rows::Dense { .. } => self.outputs() as u64,
            // Splines are of numbers, which most rows have; products of words are mostly 0.
            Rows::Sparse { .. } => self.spline_count() as u64,
        });
        memory::check(values.saturating_mul(8), || {
            let (rows, features) = (grouped(data.len() as u64), grouped(self.outputs() as u64));
            format!("expanding {rows} rows to {features} features")
        })
    }
}

/// Goes over the stored values of a row that are of these features, which are in order, each with its place among them.
fn visit(row: Row<'_>, features: impl Iterator<Item = usize>, mut each: impl FnMut(usize, f64)) {
    let mut features = features.enumerate().peekable();
    for (j, x) in row.iter() {
        while features.next_if(|&(_, feature)| feature < j).is_some() {}
        match features.peek() {
            Some(&(place, feature)) if feature == j => each(place, x),
            Some(_) => {}
            None => break,
        }
    }
}

/// Distinct values that a numbered feature must have to get splines; fewer are rather codes than numbers.
const MIN_DISTINCT: usize = 4;

/// The splines of the numeric columns. Each column is learned by one thread, whatever their number.
fn learn_splines(schema: &Schema, train: &Dataset) -> Vec<Splines> {
    let is_dense = matches!(train.rows(), Rows::Dense { .. });
    let (features, least) = match schema {
        Schema::Table { columns, .. } => {
            let numbers = columns.iter().filter_map(|column| match &column.kind {
                ColumnKind::Number(number) => Some(number.feature),
                _ => None,
            });
            (numbers.filter(|&feature| feature < train.columns()).collect::<Vec<usize>>(), 0)
        }
        _ => ((0..train.columns()).collect(), MIN_DISTINCT),
    };
    let is_table = matches!(schema, Schema::Table { .. });
    let mut features = features;
    features.sort_unstable();
    features.dedup();
    let mut stored = vec![0usize; train.columns()];
    if !is_dense && !is_table {
        (0..train.len()).for_each(|i| train.row(i).iter().for_each(|(j, _)| stored[j] += 1));
        features.retain(|&j| 2 * stored[j] >= train.len());
    }
    // Some columns at a time: their values are copied.
    const COLUMNS: usize = 64;
    let mut splines = Vec::new();
    for some in features.chunks(COLUMNS) {
        let mut values: Vec<Vec<f64>> = vec![vec![0.0; train.len()]; some.len()];
        (0..train.len()).for_each(|i| {
            visit(train.row(i), some.iter().copied(), |place, x| values[place][i] = x);
        });
        let learned = values.into_par_iter().zip(some).map(|(mut values, &feature)| {
            // −0 and 0 are one value.
            values.iter_mut().for_each(|x| *x += 0.0);
            values.sort_unstable_by(f64::total_cmp);
            let distinct = values.chunk_by(|a, b| a == b).take(MIN_DISTINCT).count();
            if distinct >= least { Splines::learn(feature, &values) } else { None }
        });
        splines.extend(learned.collect::<Vec<Option<Splines>>>().into_iter().flatten());
    }
    splines
}

#[cfg(test)]
mod tests;

//! Products of two columns, chosen by screening.
//!
//! A factor is a feature as products use it: a number in deviations from its mean, a word as 0 or 1. Candidates are the
//! products p of two factors of different columns that vary on the training rows and are not 0 in a few of them. Where they are
//! too many, those are kept that say most about what a simpler model leaves unexplained: with the residuals r_k of class k,
//!
//! score = max_k |Σ_i r_ik p_i| / √(Σ_i (p_i − p̄)²),
//!
//! which is, up to a constant, how many deviations the sum is from 0 if the residuals have nothing to do with the product.
//!
//! Of words only the products that some row has are looked at: a table of many words has few of them in a row, and two words that
//! no row has together are never multiplied. So words of thousands of levels are screened in the time of the pairs in the rows.

use super::splines::standardised;
use crate::dataset::{Dataset, Rows};
use crate::features::scaling::Moments;
use crate::features::{ColumnKind, Schema};
use crate::linalg;
use rayon::prelude::*;

/// A product must not be 0 in this many training rows.
const FEWEST_ROWS: usize = 5;

/// Numbered features up to which all are factors; of more, those that at least half of the rows store.
const FEW_FEATURES: usize = 300;

/// Factors up to which all products are looked at; of more, only those of the factors most related to the residuals.
const MAX_FACTORS: usize = 50_000;

/// Factors whose products are scored before the best are chosen, so that not all scores are held at once.
const FACTORS_AT_A_TIME: usize = 1_024;

/// The most classes whose residuals are looked at: those with the most rows.
const MAX_CLASSES: usize = 20;

/// Multiplications that screening may take; of more rows, every so many are looked at.
const MAX_WORK: f64 = 4e9;

/// Numbers that screening may hold.
const MAX_HELD: f64 = 4e7;

/// Rows that are multiplied at a time, so that they stay in the fastest cache.
const BLOCK: usize = 512;

/// The most products kept where nothing else is said: half as many as there are rows for each boundary, so that a penalty has
/// something to weigh, and no more than memory bears.
pub(super) fn usual_most(rows: usize, classes: usize) -> usize {
    let boundaries = classes.max(2) - 1;
    let by_memory = 100_000_000 / rows.max(1);
    (rows / (2 * boundaries)).min(by_memory).clamp(50, 2_000)
}

/// The residuals of a simpler model on each training row: for each class, 1 for rows of the class and 0 for others, less
/// the probability that the model gives. Of two classes one is enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    width: usize,
    values: Vec<f64>,
}

impl Residuals {
    /// The residuals of `width` classes, row after row. `None` if they do not make whole rows of finite numbers.
    pub fn new(width: usize, values: Vec<f64>) -> Option<Self> {
        let whole = width > 0 && values.len().is_multiple_of(width);
        (whole && values.iter().all(|x| x.is_finite())).then_some(Self { width, values })
    }

    /// The residuals of a model that knows only how frequent each class is.
    pub fn of_frequencies(data: &Dataset) -> Self {
        let chosen = screened_classes(data);
        let rows = data.len() as f64;
        let counts = data.class_counts();
        let of = |&label: &u32, class: usize| {
            f64::from(u8::from(label as usize == class)) - counts[class] as f64 / rows
        };
        let values = data.labels().iter().flat_map(|label| chosen.iter().map(move |&class| of(label, class)));
        Self { width: chosen.len(), values: values.collect() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.width
    }
}

/// The classes whose residuals are looked at: one of two; of more, those with the most rows, in their order.
pub fn screened_classes(data: &Dataset) -> Vec<usize> {
    let counts = data.class_counts();
    if counts.len() <= 2 {
        return vec![counts.len() - 1];
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
    order.truncate(MAX_CLASSES);
    order.sort_unstable();
    order
}

/// A feature as products use it: (x − centre) / scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The feature.
    pub feature: usize,
    /// The subtracted mean: 0 for a word.
    pub centre: f64,
    /// The divisor: 1 for a word.
    pub scale: f64,
}

impl Factor {
    /// Whether it is a word, which is there or not.
    pub fn is_word(&self) -> bool {
        self.centre == 0.0 && self.scale == 1.0
    }

    pub(super) fn of(&self, x: f64) -> f64 {
        standardised(x, self.centre, self.scale)
    }
}

/// Products of factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Products {
    /// The factors, by feature.
    pub(super) factors: Vec<Factor>,
    /// The factors of each product.
    pub(super) pairs: Vec<[u32; 2]>,
    /// How many candidates there were.
    pub(super) candidates: u64,
}

impl Products {
    /// The factors of product number `product`.
    pub(super) fn factors_of(&self, product: usize) -> [&Factor; 2] {
        self.pairs[product].map(|factor| &self.factors[factor as usize])
    }
}

/// The factors that products may be made of.
pub(super) struct Candidates {
    factors: Vec<Factor>,
    /// The column of each factor.
    columns: Vec<usize>,
    /// The share of the rows in which each is not 0.
    shares: Vec<f64>,
}

impl Candidates {
    /// The factors of these rows.
    pub(super) fn of(schema: &Schema, train: &Dataset) -> Self {
        let mut stored = vec![0usize; train.columns()];
        let mut is_word = vec![true; train.columns()];
        for i in 0..train.len() {
            for (j, x) in train.row(i).iter().filter(|&(_, x)| x != 0.0) {
                stored[j] += 1;
                is_word[j] &= x == 1.0;
            }
        }
        let is_dense = matches!(train.rows(), Rows::Dense { .. });
        let is_common = |j: usize| is_dense || 2 * stored[j] >= train.len();
        let mut features: Vec<(usize, usize)> = match schema {
            Schema::Table { columns, .. } => columns
                .iter()
                .enumerate()
                .filter(|(_, column)| matches!(column.kind, ColumnKind::Number(_) | ColumnKind::Words(_)))
                .filter_map(|(place, column)| Some((place, column.kind.features()?.features())))
                .flat_map(|(place, features)| features.into_iter().map(move |feature| (feature, place)))
                .filter(|&(feature, _)| feature < train.columns())
                .collect(),
            _ => (0..train.columns())
                .filter(|&j| train.columns() <= FEW_FEATURES || is_common(j))
                .map(|j| (j, j))
                .collect(),
        };
        features.retain(|&(feature, _)| stored[feature] >= FEWEST_ROWS);
        features.sort_unstable();
        features.dedup_by_key(|&mut (feature, _)| feature);
        let numbers: Vec<u32> =
            features.iter().filter(|&&(j, _)| !is_word[j]).map(|&(j, _)| j as u32).collect();
        let moments = Moments::of(train, Some(&numbers));
        let mut found = Self { factors: Vec::new(), columns: Vec::new(), shares: Vec::new() };
        for (feature, column) in features {
            let (centre, scale) = match numbers.binary_search(&(feature as u32)) {
                Err(_) => (0.0, 1.0),
                Ok(place) => {
                    // What most rows lack keeps its zeros.
                    let centre = if is_common(feature) { moments.mean[place] } else { 0.0 };
                    (centre, moments.deviation[place])
                }
            };
            if scale > f64::EPSILON * f64::abs(centre) && scale.is_finite() {
                let share = if centre == 0.0 { stored[feature] as f64 / train.len() as f64 } else { 1.0 };
                found.factors.push(Factor { feature, centre, scale });
                found.columns.push(column);
                found.shares.push(share);
            }
        }
        found
    }

    /// How many products of different columns there are, whether or not they vary.
    pub(super) fn count(&self) -> u64 {
        let all = self.factors.len() as u64;
        let mut of_column = std::collections::BTreeMap::<usize, u64>::new();
        self.columns.iter().for_each(|&column| *of_column.entry(column).or_default() += 1);
        let same: u64 = of_column.values().map(|count| count * count).sum();
        (all * all - same) / 2
    }

    /// Only the factors at these places.
    fn only(&self, places: &[usize]) -> Self {
        Self {
            factors: places.iter().map(|&place| self.factors[place]).collect(),
            columns: places.iter().map(|&place| self.columns[place]).collect(),
            shares: places.iter().map(|&place| self.shares[place]).collect(),
        }
    }

    /// At most `most` products: all, or those with the largest scores; ties go to the first.
    pub(super) fn choose(mut self, train: &Dataset, residuals: &Residuals, most: usize) -> Products {
        if self.factors.len() > MAX_FACTORS {
            let all = Screen::new(&self, train, residuals);
            let mut order: Vec<(f64, usize)> =
                (0..self.factors.len()).map(|place| (all.score_of_factor(place), place)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut kept: Vec<usize> = order[..MAX_FACTORS].iter().map(|&(_, place)| place).collect();
            kept.sort_unstable();
            self = self.only(&kept);
        }
        let screen = Screen::new(&self, train, residuals);
        let (mut scored, mut candidates) = (Vec::new(), 0);
        for start in (0..self.factors.len()).step_by(FACTORS_AT_A_TIME) {
            let firsts = start..(start + FACTORS_AT_A_TIME).min(self.factors.len());
            let found: Vec<(usize, Vec<Scored>)> = firsts
                .into_par_iter()
                .map(|first| {
                    let scored = screen.scores_with(first, &self.columns);
                    (scored.len(), best(scored, most))
                })
                .collect();
            for (count, of_first) in found {
                candidates += count as u64;
                scored.extend(of_first);
            }
            scored = best(scored, most);
        }
        let mut pairs: Vec<[u32; 2]> = scored.into_iter().map(|(_, pair)| pair).collect();
        pairs.sort_unstable();
        // Only the factors that are used.
        let mut used: Vec<u32> = pairs.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |factor: u32| used.partition_point(|&other| other < factor) as u32;
        Products {
            pairs: pairs.iter().map(|pair| pair.map(place)).collect(),
            factors: used.iter().map(|&factor| self.factors[factor as usize]).collect(),
            candidates,
        }
    }
}

/// A product with its score.
type Scored = (f64, [u32; 2]);

/// At most `most` products: those with the largest scores; ties go to the first.
fn best(mut scored: Vec<Scored>, most: usize) -> Vec<Scored> {
    if scored.len() > most {
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate(most);
    }
    scored
}

/// The values of a factor on the rows that are looked at.
enum Values {
    /// Of every row.
    Dense(Vec<f64>),
    /// Of the rows where it is not 0, in order.
    Sparse(Vec<(u32, f64)>),
}

/// The factors and the residuals on the rows that are looked at.
struct Screen {
    rows: usize,
    values: Vec<Values>,
    /// For each row, the factors that are held as sparse and not 0, in order.
    sparse_of: Vec<Vec<(u32, f64)>>,
    /// For each class, the residuals of the rows; then a one for each row.
    against: Vec<Vec<f64>>,
}

/// Sums over the rows of one product: Σ p², how many are not 0, and Σ r_k p for each class and the ones.
struct Sums {
    squares: f64,
    present: usize,
    against: Vec<f64>,
}

impl Sums {
    fn new(width: usize) -> Self {
        Self { squares: 0.0, present: 0, against: vec![0.0; width] }
    }

    fn add(&mut self, product: f64, row: usize, against: &[Vec<f64>]) {
        if product != 0.0 {
            self.present += 1;
            self.squares += product * product;
            self.against.iter_mut().zip(against).for_each(|(sum, of)| *sum += product * of[row]);
        }
    }

    /// The score; `None` if the product hardly varies or is nearly always 0.
    fn score(&self, rows: usize) -> Option<f64> {
        let (sum, classes) = self.against.split_last()?;
        let spread = self.squares - sum * sum / rows as f64;
        let varies = spread > 1e-9 * self.squares && spread.is_finite();
        let largest = classes.iter().fold(0.0f64, |most, sum| most.max(sum.abs()));
        (varies && self.present >= FEWEST_ROWS).then(|| largest / spread.sqrt())
    }
}

/// The sums of one factor's products with later ones, of those that some row has.
struct SumsOfFirst {
    after: usize,
    /// For each later factor its place in `found`, if it is there.
    places: Vec<u32>,
    found: Vec<(usize, Sums)>,
    width: usize,
}

impl SumsOfFirst {
    const NOWHERE: u32 = u32::MAX;

    fn new(after: usize, factors: usize, width: usize) -> Self {
        Self { after, places: vec![Self::NOWHERE; factors - after], found: Vec::new(), width }
    }

    fn with(&mut self, second: usize) -> &mut Sums {
        let place = &mut self.places[second - self.after];
        if *place == Self::NOWHERE {
            *place = self.found.len() as u32;
            self.found.push((second, Sums::new(self.width)));
        }
        &mut self.found[*place as usize].1
    }
}

impl Screen {
    fn new(candidates: &Candidates, train: &Dataset, residuals: &Residuals) -> Self {
        let Candidates { factors, shares, .. } = candidates;
        let width = residuals.width.max(1);
        let is_dense: Vec<bool> =
            factors.iter().zip(shares).map(|(factor, &share)| factor.centre != 0.0 || share >= 0.5).collect();
        let held: f64 =
            shares.iter().zip(&is_dense).map(|(&share, &dense)| if dense { 1.0 } else { share }).sum();
        let work = held * held / 2.0 * (width + 3) as f64 * train.len() as f64;
        let size = (held + width as f64 + 1.0) * train.len() as f64;
        let step = (work / MAX_WORK).max(size / MAX_HELD).ceil().max(1.0) as usize;
        let rows = train.len().div_ceil(step);
        let mut values: Vec<Values> = is_dense
            .iter()
            .zip(factors)
            .map(|(&dense, factor)| match dense {
                // What a row does not store is 0.
                true => Values::Dense(vec![factor.of(0.0); rows]),
                false => Values::Sparse(Vec::new()),
            })
            .collect();
        let mut place_of = vec![None; train.columns()];
        for (place, factor) in factors.iter().enumerate() {
            place_of[factor.feature] = Some(place);
        }
        let mut sparse_of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rows];
        for (row, sparse) in sparse_of.iter_mut().enumerate() {
            for (j, x) in train.row(row * step).iter() {
                let Some(place) = place_of[j] else { continue };
                let value = factors[place].of(x);
                match &mut values[place] {
                    Values::Dense(values) => values[row] = value,
                    Values::Sparse(values) if value != 0.0 => {
                        values.push((row as u32, value));
                        sparse.push((place as u32, value));
                    }
                    Values::Sparse(_) => {}
                }
            }
        }
        let of_class = |class: usize| {
            let residual =
                |row: usize| residuals.values.get(row * step * width + class).copied().unwrap_or(0.0);
            (0..rows).map(residual).collect()
        };
        let against = (0..width).map(of_class).chain([vec![1.0; rows]]).collect();
        Self { rows, values, sparse_of, against }
    }

    /// The score of a factor by itself.
    fn score_of_factor(&self, place: usize) -> f64 {
        let mut sums = Sums::new(self.against.len());
        match &self.values[place] {
            Values::Dense(values) => {
                values.iter().enumerate().for_each(|(row, &x)| sums.add(x, row, &self.against));
            }
            Values::Sparse(values) => {
                values.iter().for_each(|&(row, x)| sums.add(x, row as usize, &self.against));
            }
        }
        sums.score(self.rows).unwrap_or(0.0)
    }

    /// The scores of the products of a factor with those of other columns after it.
    fn scores_with(&self, first: usize, columns: &[usize]) -> Vec<Scored> {
        let after = first + 1;
        let mut sums = SumsOfFirst::new(after, self.values.len(), self.against.len());
        let is_other = |second: usize| columns[second] != columns[first];
        let dense = || {
            (after..self.values.len()).filter_map(|second| match &self.values[second] {
                Values::Dense(values) if is_other(second) => Some((second, values)),
                _ => None,
            })
        };
        match &self.values[first] {
            Values::Dense(own) => {
                let mut product = [0.0; BLOCK];
                for start in (0..self.rows).step_by(BLOCK) {
                    let block = start..(start + BLOCK).min(self.rows);
                    for (second, other) in dense() {
                        let sums = sums.with(second);
                        let product = &mut product[..block.len()];
                        for ((p, x), y) in
                            product.iter_mut().zip(&own[block.clone()]).zip(&other[block.clone()])
                        {
                            *p = x * y;
                        }
                        sums.present += product.iter().filter(|&&p| p != 0.0).count();
                        sums.squares += linalg::norm_squared(product);
                        for (sum, of) in sums.against.iter_mut().zip(&self.against) {
                            *sum += linalg::dot_dense(product, &of[block.clone()]);
                        }
                    }
                }
                for second in (after..self.values.len()).filter(|&second| is_other(second)) {
                    let Values::Sparse(values) = &self.values[second] else { continue };
                    let sums = sums.with(second);
                    for &(row, x) in values {
                        sums.add(own[row as usize] * x, row as usize, &self.against);
                    }
                }
            }
            Values::Sparse(own) => {
                for (second, other) in dense() {
                    let sums = sums.with(second);
                    for &(row, x) in own {
                        sums.add(x * other[row as usize], row as usize, &self.against);
                    }
                }
                for &(row, x) in own {
                    let of_row = &self.sparse_of[row as usize];
                    let start = of_row.partition_point(|&(place, _)| place as usize <= first);
                    for &(second, y) in &of_row[start..] {
                        if is_other(second as usize) {
                            sums.with(second as usize).add(x * y, row as usize, &self.against);
                        }
                    }
                }
            }
        }
        let scored = sums
            .found
            .iter()
            .filter_map(|(second, sums)| Some((sums.score(self.rows)?, [first as u32, *second as u32])));
        scored.collect()
    }
}

#[cfg(test)]
mod tests;

//! Columns that separate the classes by themselves: they may have been filled in after the answer was known. So may columns
//! whose cells are missing in all rows of one class and in no other row.
//!
//! A column of numbers separates the classes if the intervals of their values do not meet; a column of words, if each word
//! belongs to one class. Both are decided on all training rows, before any scaling.
//!
//! If n rows with n_1, …, n_K rows of each class were labelled anew at random, the labels would be one of n!/(n_1! … n_K!)
//! ways, all as likely. At most K! of them keep the classes apart along a column of numbers (one for each order of the
//! classes: with two classes, 2/C(n, k)), and at most K^W give each of W words to one class. Only where that is
//! improbable for all columns together is a column named: that few rows are separated is no surprise, nor that a
//! column is whose every row has a word of its own. That one class has exactly the m rows with a missing cell has a
//! probability of at most K/C(n, m).

use crate::dataset::Dataset;
use crate::features::{Column, ColumnKind, FeatureKind, MISSING_WORD, Schema};

/// Shuffled labels must be separated by some column with at most this probability.
const MAX_CHANCE: f64 = 1e-3;

/// Columns times classes up to which is looked.
const MAX_CELLS: usize = 5_000_000;

/// Rows of a first look, which rules out nearly all columns.
const SAMPLE: usize = 1_000;

/// Columns that separate the classes completely.
#[derive(Debug, PartialEq)]
pub(super) struct Leak {
    pub(super) columns: Vec<String>,
    /// The decimal logarithm of the probability that shuffled labels would be separated by some column.
    pub(super) log10_chance: f64,
    /// Whether one of them holds words: then each class is linearly separable from the others. A column of numbers
    /// tells all classes apart together, but sets none between two others against the rest.
    pub(super) words: bool,
}

/// Columns whose cells are missing in all rows of one side and in no other row.
#[derive(Debug, PartialEq)]
pub(super) struct GapLeak {
    /// The columns, and the sides in whose rows they are missing.
    pub(super) columns: Vec<(String, usize)>,
    /// The decimal logarithm of the probability that shuffled labels would agree so with the gaps of some column.
    pub(super) log10_chance: f64,
}

/// Looks for such columns. `side_of` gives the side of each class of the data, of `sides`.
pub(super) fn find(schema: &Schema, data: &Dataset, side_of: &[usize], sides: usize) -> Option<Leak> {
    let Schema::Table { columns, .. } = schema else { return None };
    if data.columns().saturating_mul(sides) > MAX_CELLS || sides < 2 {
        return None;
    }
    let rows_of = rows_of(data, side_of, sides);
    let used = columns.iter().filter(|column| column.kind.features().is_some_and(|kind| !kind.has_terms()));
    let looked_at = used.clone().count() as f64;
    // Those for which it would be no accident.
    let ln_chance =
        |column: &Column| looked_at.ln() + ln_arrangements(column, sides) - ln_labellings(&rows_of);
    let mut found: Vec<&Column> = used.filter(|&column| ln_chance(column) <= MAX_CHANCE.ln()).collect();
    let step = data.len().div_ceil(SAMPLE);
    for step in [step, 1] {
        let rows = (0..data.len()).step_by(step);
        found = Ranges::of(data, rows, side_of, sides, &found).separating(&found);
        if found.is_empty() {
            return None;
        }
    }
    let worst = found.iter().map(|column| ln_chance(column)).fold(f64::NEG_INFINITY, f64::max);
    Some(Leak {
        columns: found.iter().map(|column| column.name.clone()).collect(),
        log10_chance: worst / std::f64::consts::LN_10,
        words: found.iter().any(|column| matches!(column.kind, ColumnKind::Words(_))),
    })
}

/// Looks for columns that are missing where one side is, and nowhere else. Only features that say that a cell is missing
/// are looked at.
pub(super) fn find_gaps(schema: &Schema, data: &Dataset, side_of: &[usize], sides: usize) -> Option<GapLeak> {
    let Schema::Table { columns, .. } = schema else { return None };
    let with_gaps: Vec<(&Column, usize)> =
        columns.iter().filter_map(|column| Some((column, gap_of(column)?))).collect();
    if with_gaps.is_empty() || data.columns().saturating_mul(sides) > MAX_CELLS || sides < 2 {
        return None;
    }
    let rows_of = rows_of(data, side_of, sides);
    let looked_at: Vec<&Column> = with_gaps.iter().map(|&(column, _)| column).collect();
    let ranges = Ranges::of(data, 0..data.len(), side_of, sides, &looked_at);
    let ln_chance = |side: usize| {
        let (all, own) = (data.len() as u64, rows_of[side]);
        (with_gaps.len() as f64).ln() + (sides as f64).ln() - ln_labellings(&[own, all - own])
    };
    let side_with = |gap: usize| {
        let is_missing = |side: usize| ranges.nonzero[gap * sides + side];
        let side = (0..sides).find(|&side| is_missing(side) > 0)?;
        let alone =
            (0..sides).all(|other| is_missing(other) == if other == side { rows_of[side] } else { 0 });
        (alone && ln_chance(side) <= MAX_CHANCE.ln()).then_some(side)
    };
    let found: Vec<(String, usize)> =
        with_gaps.iter().filter_map(|&(column, gap)| Some((column.name.clone(), side_with(gap)?))).collect();
    let worst = found.iter().map(|&(_, side)| ln_chance(side)).fold(f64::NEG_INFINITY, f64::max);
    (!found.is_empty()).then_some(GapLeak { columns: found, log10_chance: worst / std::f64::consts::LN_10 })
}

/// The feature that says that a cell of the column is missing.
fn gap_of(column: &Column) -> Option<usize> {
    match &column.kind {
        ColumnKind::Number(number) => number.gap,
        ColumnKind::Words(words) => {
            words.words.iter().find(|(word, _)| word == MISSING_WORD).map(|&(_, feature)| feature)
        }
        ColumnKind::Text(_) | ColumnKind::Label | ColumnKind::Ignored => None,
    }
}

/// The rows of each side.
fn rows_of(data: &Dataset, side_of: &[usize], sides: usize) -> Vec<u64> {
    let mut rows_of = vec![0u64; sides];
    data.labels().iter().for_each(|&label| rows_of[side_of[label as usize]] += 1);
    rows_of
}

/// ln of how many labellings, at most, the column keeps apart: K! or K^W.
fn ln_arrangements(column: &Column, sides: usize) -> f64 {
    match &column.kind {
        // A cell without a word counts as one more.
        ColumnKind::Words(words) => {
            (words.words.len() + 1 + usize::from(words.rare.is_some())) as f64 * (sides as f64).ln()
        }
        _ => libm::lgamma(sides as f64 + 1.0),
    }
}

/// ln of n!/(n_1! … n_K!).
fn ln_labellings(rows_of: &[u64]) -> f64 {
    let ln_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    ln_factorial(rows_of.iter().sum()) - rows_of.iter().map(|&rows| ln_factorial(rows)).sum::<f64>()
}

/// For each feature and side: the least and the largest value, zeros that are not stored left out, and how many rows have it.
struct Ranges {
    sides: usize,
    rows_of: Vec<u64>,
    least: Vec<f64>,
    largest: Vec<f64>,
    nonzero: Vec<u64>,
}

impl Ranges {
    fn of(
        data: &Dataset,
        rows: impl Iterator<Item = usize>,
        side_of: &[usize],
        sides: usize,
        columns: &[&Column],
    ) -> Self {
        let cells = data.columns() * sides;
        let mut wanted = vec![false; data.columns()];
        let features = columns.iter().filter_map(|column| column.kind.features());
        features.flat_map(|kind| kind.features()).for_each(|feature| wanted[feature] = true);
        let mut ranges = Self {
            sides,
            rows_of: vec![0; sides],
            least: vec![f64::INFINITY; cells],
            largest: vec![f64::NEG_INFINITY; cells],
            nonzero: vec![0; cells],
        };
        for i in rows {
            let side = side_of[data.labels()[i] as usize];
            ranges.rows_of[side] += 1;
            for (feature, value) in data.row(i).iter().filter(|&(feature, x)| wanted[feature] && x != 0.0) {
                let cell = feature * sides + side;
                ranges.least[cell] = ranges.least[cell].min(value);
                ranges.largest[cell] = ranges.largest[cell].max(value);
                ranges.nonzero[cell] += 1;
            }
        }
        ranges
    }

    /// The columns that keep the sides apart.
    fn separating<'a>(&self, columns: &[&'a Column]) -> Vec<&'a Column> {
        let separates = |column: &&Column| match &column.kind {
            ColumnKind::Number(number) => self.numbers_apart(number.feature),
            ColumnKind::Words(words) => self.words_apart(&words.features()),
            // Many terms keep anything apart.
            ColumnKind::Text(_) | ColumnKind::Label | ColumnKind::Ignored => false,
        };
        columns.iter().copied().filter(separates).collect()
    }

    /// Whether the intervals of the sides do not meet.
    fn numbers_apart(&self, feature: usize) -> bool {
        let interval = |side: usize| {
            let cell = feature * self.sides + side;
            let (least, largest) = (self.least[cell], self.largest[cell]);
            let has_zero = self.nonzero[cell] < self.rows_of[side];
            if has_zero { (least.min(0.0), largest.max(0.0)) } else { (least, largest) }
        };
        let mut intervals: Vec<(f64, f64)> =
            (0..self.sides).filter(|&side| self.rows_of[side] > 0).map(interval).collect();
        intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
        intervals.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }

    /// Whether each word belongs to one side, and so do the rows without a word.
    fn words_apart(&self, features: &[usize]) -> bool {
        let sides = 0..self.sides;
        let count = |feature: usize, side: usize| self.nonzero[feature * self.sides + side];
        let of_one = |&feature: &usize| sides.clone().filter(|&side| count(feature, side) > 0).count() <= 1;
        let with_words = |side: usize| features.iter().map(|&feature| count(feature, side)).sum::<u64>();
        let without = sides.clone().filter(|&side| with_words(side) < self.rows_of[side]).count();
        without <= 1 && features.iter().all(of_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::settle_columns;
    use crate::read::{CsvOptions, Missing, ReadOptions, Source, read};

    fn leak(text: &str) -> Option<Leak> {
        let loaded =
            read(&Source::Shared("rows".into(), text.as_bytes().into()), &ReadOptions::default(), &mut ())
                .unwrap();
        let classes = loaded.dataset.classes().len();
        find(&loaded.schema, &loaded.dataset, &(0..classes).collect::<Vec<_>>(), classes)
    }

    /// A table of `n` rows, whose cells and label follow from the number of the row.
    fn table(n: usize, header: &str, row: impl Fn(usize) -> String) -> String {
        (0..n).fold(header.to_string(), |text, i| text + "\n" + &row(i)) + "\n"
    }

    #[test]
    fn a_threshold_is_found_and_an_overlap_of_one_row_is_not() {
        let row =
            |i: usize, shift: usize| format!("{},{},{}", i % 7, i + shift, if i < 20 { "no" } else { "yes" });
        let found = leak(&table(40, "x,late,y", |i| row(i, 0))).unwrap();
        assert_eq!(found.columns, ["late"]);
        // 2 columns, 2 labellings of C(40, 20) each.
        assert!((found.log10_chance - (4.0f64 / 137_846_528_820.0).log10()).abs() < 1e-9);
        assert_eq!(leak(&table(40, "x,late,y", |i| row(i, if i == 19 { 1 } else { 0 }))), None);
        // Zeros of sparse rows, which are not stored, belong to the interval.
        let sparse = |i: usize| format!("{},w{},{}", i % 2, i % 3, ["no", "yes"][i % 2]);
        assert_eq!(leak(&table(40, "x,w,y", sparse)).unwrap().columns, ["x"]);
    }

    #[test]
    fn few_rows_are_separated_by_chance() {
        let row = |i: usize| format!("{},{i},{}", i % 3, if i < 3 { "no" } else { "yes" });
        assert_eq!(leak(&table(6, "x,late,y", row)), None);
    }

    #[test]
    fn words_of_one_class_each_are_found_but_names_are_not() {
        let row = |i: usize| {
            let label = ["no", "yes"][i % 2];
            format!("name{i},{},{},{label}", ["a", "b", "c"][i % 3], ["low", "high", "low", "top"][i % 4])
        };
        let found = leak(&table(60, "name,w,grade,y", row)).unwrap();
        assert_eq!(found.columns, ["grade"]);
    }

    #[test]
    fn cells_that_are_missing_in_one_class_only_are_found() {
        let gaps = |text: &str| {
            let csv = CsvOptions { missing: Missing::Auto, ..CsvOptions::default() };
            let options = ReadOptions { csv, ..ReadOptions::default() };
            let source = Source::Shared("rows".into(), text.as_bytes().into());
            let loaded = read(&source, &options, &mut ()).unwrap();
            let (schema, data) = settle_columns(loaded.schema, loaded.dataset, None).unwrap();
            let classes = data.classes().len();
            find_gaps(&schema, &data, &(0..classes).collect::<Vec<_>>(), classes)
        };
        let row = |i: usize, classes: &[&str], shift: usize| {
            let label = classes[i % classes.len()];
            let paid = if label == "no" && i != shift { String::new() } else { (i * 7 % 11).to_string() };
            let word = if label == "no" && i != shift { "" } else { ["red", "blue"][i / 2 % 2] };
            format!("{},{paid},{word},{label}", i * 5 % 13)
        };
        for classes in [&["no", "yes"][..], &["maybe", "no", "yes"]] {
            let side = classes.iter().position(|class| *class == "no").unwrap();
            let found = gaps(&table(60, "x,paid,word,y", |i| row(i, classes, 999))).unwrap();
            assert_eq!(found.columns, [("paid".to_string(), side), ("word".to_string(), side)]);
            assert!(found.log10_chance < -10.0);
            // One row of the class with a value, or few rows, and nothing is said.
            assert_eq!(gaps(&table(60, "x,paid,word,y", |i| row(i, classes, side))), None);
            assert_eq!(gaps(&table(6, "x,paid,word,y", |i| row(i, classes, 999))), None);
        }
    }

    #[test]
    fn many_classes_must_all_be_apart() {
        let row = |i: usize| format!("{},{},{}", i, if i < 20 { 0 } else { 1 }, ["a", "b", "c"][i / 20]);
        assert_eq!(leak(&table(60, "x,first,y", row)).unwrap().columns, ["x"]);
    }
}

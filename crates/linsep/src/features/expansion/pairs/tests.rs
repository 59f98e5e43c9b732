//! Screening beside a plain computation of every score.

use super::*;
use crate::features::{Column, Missing, Number, Words};
use crate::read::{CsvOptions, ReadOptions, Source, read};
use proptest::prelude::*;

/// Rows of two columns of numbers and two of words.
fn tables() -> impl Strategy<Value = (Schema, Dataset)> {
    let row = (-30i32..30, -4i32..5, 0u8..4, 0u8..3, any::<bool>());
    prop::collection::vec(row, 20..90).prop_filter_map("two classes", |rows| {
        let mut text = "x,y,size,colour,kind\n".to_string();
        for (x, y, size, colour, kind) in &rows {
            text += &format!(
                "{},{y},s{size},c{colour},{}\n",
                f64::from(*x) / 7.0,
                ["a", "b"][usize::from(*kind)]
            );
        }
        let csv = CsvOptions { missing: Missing::Mean, header: Some(true), ..CsvOptions::default() };
        let options = ReadOptions { csv, ..ReadOptions::default() };
        let loaded =
            read(&Source::Shared("rows".into(), text.into_bytes().into()), &options, &mut ()).ok()?;
        (loaded.dataset.classes().len() == 2).then_some((loaded.schema, loaded.dataset))
    })
}

fn cell(data: &Dataset, i: usize, j: usize) -> f64 {
    data.row(i).iter().find(|&(feature, _)| feature == j).map_or(0.0, |(_, x)| x)
}

/// Which column each feature is of.
fn column_of(schema: &Schema, feature: usize) -> usize {
    let Schema::Table { columns, .. } = schema else { return feature };
    let has = |column: &Column| match &column.kind {
        ColumnKind::Number(Number { feature: own, .. }) => *own == feature,
        ColumnKind::Words(Words { words, .. }) => words.iter().any(|&(_, own)| own == feature),
        _ => false,
    };
    columns.iter().position(has).unwrap()
}

/// The score of each product that is a candidate, computed one by one.
fn naive(schema: &Schema, data: &Dataset, residuals: &Residuals) -> Vec<(f64, [usize; 2])> {
    let n = data.len();
    let factor = |j: usize| -> Option<Vec<f64>> {
        let values: Vec<f64> = (0..n).map(|i| cell(data, i, j)).collect();
        let stored = values.iter().filter(|&&x| x != 0.0).count();
        if stored < FEWEST_ROWS {
            return None;
        }
        if values.iter().all(|&x| x == 0.0 || x == 1.0) {
            return Some(values);
        }
        let centred = matches!(data.rows(), Rows::Dense { .. }) || 2 * stored >= n;
        // Divided before the sum, so that the same rows are exactly at the mean.
        let mean = values.iter().map(|x| x / n as f64).sum::<f64>();
        let deviation = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        let centre = if centred { mean } else { 0.0 };
        (deviation > 0.0).then(|| values.iter().map(|x| (x - centre) / deviation).collect())
    };
    let factors: Vec<Option<Vec<f64>>> = (0..data.columns()).map(factor).collect();
    let mut found = Vec::new();
    for first in 0..data.columns() {
        for second in first + 1..data.columns() {
            let (Some(a), Some(b)) = (&factors[first], &factors[second]) else { continue };
            if column_of(schema, first) == column_of(schema, second) {
                continue;
            }
            let product: Vec<f64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
            if product.iter().filter(|&&p| p != 0.0).count() < FEWEST_ROWS {
                continue;
            }
            let mean = product.iter().sum::<f64>() / n as f64;
            let spread: f64 = product.iter().map(|p| (p - mean).powi(2)).sum();
            if spread < 1e-7 {
                continue;
            }
            let score = (0..residuals.width)
                .map(|class| {
                    let sum: f64 = product
                        .iter()
                        .enumerate()
                        .map(|(i, p)| p * residuals.values[i * residuals.width + class])
                        .sum();
                    sum.abs() / spread.sqrt()
                })
                .fold(0.0, f64::max);
            found.push((score, [first, second]));
        }
    }
    found
}

fn features_of(products: &Products) -> Vec<[usize; 2]> {
    (0..products.pairs.len()).map(|place| products.factors_of(place).map(|factor| factor.feature)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_products_kept_have_the_largest_scores((schema, data) in tables(), most in 1usize..30, width in 1usize..4) {
        let residuals = if width == 1 {
            Residuals::of_frequencies(&data)
        } else {
            let values = (0..data.len() * width).map(|i| (i as f64 * 1.7).sin()).collect();
            Residuals::new(width, values).unwrap()
        };
        let mut expected = naive(&schema, &data, &residuals);
        let all = Candidates::of(&schema, &data).choose(&data, &residuals, usize::MAX);
        let every: Vec<[usize; 2]> = expected.iter().map(|&(_, pair)| pair).collect();
        prop_assert_eq!(features_of(&all), every);
        prop_assert_eq!(all.candidates, expected.len() as u64);
        prop_assert!(Candidates::of(&schema, &data).count() >= all.candidates);
        let kept = Candidates::of(&schema, &data).choose(&data, &residuals, most);
        prop_assert_eq!(kept.pairs.len(), most.min(expected.len()));
        // Where scores are as good as equal, rounding may choose either.
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        if let Some(&(least, _)) = expected.get(kept.pairs.len().wrapping_sub(1)) {
            let score = |pair: &[usize; 2]| expected.iter().find(|(_, other)| other == pair).unwrap().0;
            prop_assert!(features_of(&kept).iter().all(|pair| score(pair) >= least - 1e-9));
        }
    }

    #[test]
    fn threads_do_not_change_the_choice((schema, data) in tables()) {
        let residuals = Residuals::of_frequencies(&data);
        let choose = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Candidates::of(&schema, &data).choose(&data, &residuals, 5))
        };
        prop_assert_eq!(choose(1), choose(3));
    }
}

/// Rows of words, each of them a column of its own in which a word is there or not.
fn rows_of_words(features: usize, rows: &[(Vec<u32>, bool)]) -> (Schema, Dataset) {
    let (mut offsets, mut indices, mut labels) = (vec![0], Vec::new(), Vec::new());
    for (words, yes) in rows {
        indices.extend(words);
        offsets.push(indices.len());
        labels.push(if *yes { "yes" } else { "no" });
    }
    let data = Dataset::sparse(features, &offsets, &indices, &vec![1.0; indices.len()], &labels).unwrap();
    let words =
        |j: usize| ColumnKind::Words(Words { words: vec![("w".into(), j)], optional: true, rare: None });
    let column = |j: usize| Column { name: format!("c{j}"), kind: words(j), names_rows: None };
    let schema = Schema::Table {
        header: true,
        columns: (0..features).map(column).collect(),
        features: (0..features).map(|j| format!("c{j}=w")).collect(),
        missing_words: Default::default(),
        delimiter: None,
    };
    (schema, data)
}

#[test]
fn very_many_factors_are_first_thinned_out() {
    // A feature of its own for every few rows, and two that make the class together.
    let features = MAX_FACTORS + 200;
    let rows: Vec<(Vec<u32>, bool)> = (0..6 * features)
        .map(|i| {
            let (a, b) = (i % 3 == 0, i % 2 == 0);
            let mut words: Vec<u32> =
                [(a, 0), (b, 1)].iter().filter(|(on, _)| *on).map(|&(_, j)| j).collect();
            words.push(2 + (i % (features - 2)) as u32);
            (words, a && b)
        })
        .collect();
    let (schema, data) = rows_of_words(features, &rows);
    let candidates = Candidates::of(&schema, &data);
    assert_eq!(candidates.factors.len(), features);
    let chosen = candidates.choose(&data, &Residuals::of_frequencies(&data), 1);
    assert_eq!(features_of(&chosen), [[0, 1]]);
}

#[test]
fn of_thousands_of_words_two_are_found_that_say_nothing_alone() {
    // "yes" where both or neither of the first two words are there: neither tells anything without the other. The other words
    // are more often with one class than the first two are.
    let features = 4_000;
    let rows: Vec<(Vec<u32>, bool)> = (0..8 * features)
        .map(|i| {
            let (a, b) = (i % 2 == 0, i % 4 < 2);
            let mut words: Vec<u32> =
                [(a, 0), (b, 1)].iter().filter(|(on, _)| *on).map(|&(_, j)| j).collect();
            words.push(2 + (i / 8 * 7 % (features - 2)) as u32);
            (words, (a == b) != (i % 16 == 3))
        })
        .collect();
    let (schema, data) = rows_of_words(features, &rows);
    let chosen = Candidates::of(&schema, &data).choose(&data, &Residuals::of_frequencies(&data), 1);
    assert_eq!(features_of(&chosen), [[0, 1]]);
    // Each word is in eight rows or so, in half of which it meets each of the first two: those and the first two themselves.
    assert!(chosen.candidates < 3 * features as u64, "{}", chosen.candidates);
}

#[test]
fn residuals_must_make_whole_rows() {
    assert!(Residuals::new(0, vec![]).is_none());
    assert!(Residuals::new(2, vec![0.0; 3]).is_none());
    assert!(Residuals::new(1, vec![f64::NAN]).is_none());
    assert_eq!(Residuals::new(2, vec![0.0; 6]).unwrap().rows(), 3);
}

#[test]
fn the_usual_number_of_products_grows_with_the_rows() {
    assert_eq!(
        [100, 1_000, 10_000, 100_000, 10_000_000].map(|rows| usual_most(rows, 2)),
        [50, 500, 2000, 1000, 50]
    );
    assert_eq!(usual_most(1_000, 6), 100);
}

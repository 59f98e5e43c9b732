//! Rows and data sets, expanded in the same way however they are stored.

use super::*;
use crate::features::{Missing, Scaler, Scaling};
use crate::read::{CsvOptions, ReadOptions, Source, read};
use proptest::prelude::*;

fn loaded(text: String) -> (Schema, Dataset) {
    let csv = CsvOptions { missing: Missing::Mean, header: Some(true), ..CsvOptions::default() };
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let loaded = read(&Source::Shared("rows".into(), text.into_bytes().into()), &options, &mut ()).unwrap();
    (loaded.schema, loaded.dataset)
}

/// Rows of two numbers, with a word or without; many enough for several blocks in some cases.
fn tables() -> impl Strategy<Value = (Schema, Dataset)> {
    (prop::collection::vec((-50i32..50, 0i32..4, 0u8..3, any::<bool>()), 12..60), any::<bool>()).prop_map(
        |(rows, words)| {
            let word = |word: &str| if words { format!("{word},") } else { String::new() };
            let mut text = format!("x,y,{}kind\n", word("colour"));
            for (x, y, colour, kind) in rows {
                let kind = ["a", "b"][usize::from(kind)];
                text += &format!("{},{y},{}{kind}\n", f64::from(x) / 3.0, word(&format!("c{colour}")));
            }
            loaded(text)
        },
    )
}

fn dense(row: Row<'_>, width: usize) -> Vec<f64> {
    let mut values = vec![0.0; width];
    row.iter().for_each(|(j, x)| values[j] = x);
    values
}

fn choices() -> impl Strategy<Value = Features> {
    prop::sample::select(Features::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_row_is_expanded_as_in_the_data_set((schema, data) in tables(), features in choices()) {
        let expansion = Expansion::learn(features, &schema, &data, None).unwrap();
        let all = expansion.apply_all(data.clone()).unwrap();
        let width = data.columns() + expansion.added();
        prop_assert_eq!(all.columns(), width);
        prop_assert_eq!(all.labels(), data.labels());
        prop_assert_eq!(all.classes(), data.classes());
        prop_assert_eq!(all.feature_names().unwrap().len(), width);
        prop_assert_eq!(expansion.is_none(), expansion.added() == 0);
        let mut buffer = ExpansionBuffer::default();
        for i in 0..data.len() {
            let plain = dense(data.row(i), data.columns());
            let expected = dense(all.row(i), width);
            prop_assert_eq!(dense(expansion.apply(data.row(i), &mut buffer), width), expected.clone());
            // The same row stored in the other ways.
            prop_assert_eq!(dense(expansion.apply(Row::DenseF64(&plain), &mut buffer), width), expected.clone());
            let stored: Vec<u32> = (0..plain.len() as u32).filter(|&j| plain[j as usize] != 0.0).collect();
            let values: Vec<f64> = stored.iter().map(|&j| plain[j as usize]).collect();
            let sparse = Row::SparseF64(&stored, &values);
            prop_assert_eq!(dense(expansion.apply(sparse, &mut buffer), width), expected.clone());
            // The features of the columns come first, as they are; then the splines and the products.
            prop_assert_eq!(&expected[..plain.len()], &plain[..]);
            for (splines, own) in expansion.each_spline_range() {
                let mut values = Vec::new();
                splines.at(plain[splines.feature], |x| values.push(x));
                prop_assert_eq!(&expected[own], &values[..]);
            }
            for (j, [first, second]) in expansion.each_product() {
                let factor = |factor: &Factor| (plain[factor.feature] - factor.centre) / factor.scale;
                prop_assert_eq!(expected[j], factor(first) * factor(second));
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit((schema, data) in tables(), features in choices()) {
        let expanded = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let expansion = Expansion::learn(features, &schema, &data, None).unwrap();
                expansion.apply_all(data.clone()).unwrap().fingerprint().to_string()
            })
        };
        prop_assert_eq!(expanded(1), expanded(4));
    }

    #[test]
    fn splines_keep_their_scale((schema, data) in tables()) {
        let expansion = Expansion::learn(Features::SplinesAndPairs, &schema, &data, None).unwrap();
        let rows = expansion.apply_all(data).unwrap();
        for scaling in [Scaling::Auto, Scaling::Standard, Scaling::MaxAbs] {
            let scaler = Scaler::learn_expanded(scaling, &rows, &expansion);
            let scaled = scaler.apply_all(rows.clone()).unwrap();
            for i in 0..rows.len() {
                let (before, after) = (dense(rows.row(i), rows.columns()), dense(scaled.row(i), rows.columns()));
                prop_assert_eq!(&before[expansion.spline_features()], &after[expansion.spline_features()]);
            }
        }
    }
}

#[test]
fn blocks_are_put_together_in_order() {
    let rows = BLOCK * BLOCKS + BLOCK / 2;
    let text: String = (0..rows).map(|i| format!("{},{},{}\n", i % 97, i % 5, ["a", "b"][i % 2])).collect();
    let (schema, data) = loaded(format!("x,y,kind\n{text}"));
    let expansion = Expansion::learn(Features::SplinesAndPairs, &schema, &data, None).unwrap();
    let all = expansion.apply_all(data.clone()).unwrap();
    let mut buffer = ExpansionBuffer::default();
    for i in (0..rows).step_by(37).chain([rows - 1]) {
        let width = all.columns();
        assert_eq!(dense(all.row(i), width), dense(expansion.apply(data.row(i), &mut buffer), width), "{i}");
    }
}

#[test]
fn features_have_readable_names() {
    let text: String = (0..60)
        .map(|i| format!("{},{},{}\n", i % 13, ["red", "blue"][i % 2], ["a", "b"][i / 3 % 2]))
        .collect();
    let (schema, data) = loaded(format!("age,colour,kind\n{text}"));
    let expansion = Expansion::learn(Features::SplinesAndPairs, &schema, &data, None).unwrap();
    let all = expansion.apply_all(data).unwrap();
    let names = all.feature_names().unwrap();
    assert_eq!(names[..5], ["age", "colour=red", "colour=blue", "age~1", "age~2"]);
    assert_eq!(names[names.len() - 2..], ["age × colour=red", "age × colour=blue"]);
    assert_eq!(expansion.features(), Features::SplinesAndPairs);
}

#[test]
fn numbered_features_get_splines_where_most_rows_have_them() {
    // Feature 0 is in all rows, feature 1 in few, feature 2 is a word, feature 3 has three values.
    let (mut offsets, mut indices, mut values, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for i in 0..60u32 {
        indices.push(0);
        values.push(f64::from(i % 11) + 0.5);
        if i % 7 == 0 {
            indices.push(1);
            values.push(f64::from(i));
            values[indices.len() - 1] += 1.0;
        }
        indices.extend([2, 3]);
        values.extend([1.0, f64::from(i % 3 + 1)]);
        offsets.push(indices.len());
        labels.push(["a", "b"][i as usize % 2]);
    }
    let data = Dataset::sparse(4, &offsets, &indices, &values, &labels).unwrap();
    let schema = Schema::Numbered { index_base: 1, features: 4 };
    let expansion = Expansion::learn(Features::Splines, &schema, &data, None).unwrap();
    assert_eq!(expansion.splines().iter().map(|splines| splines.feature).collect::<Vec<_>>(), [0]);
    assert_eq!(expansion.feature_name(4, |j| schema.feature_name(j)), "1~1");
}

#[test]
fn names_are_those_of_specifications() {
    for features in Features::ALL {
        assert_eq!(serde_json::to_value(features).unwrap(), features.name());
    }
}

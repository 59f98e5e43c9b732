//! Rows of small whole numbers, on which every sum of a learner is exact: what the tests of several learners share.

use crate::dataset::Dataset;
use proptest::prelude::*;

/// The rows, each number times `scale`, with labels that do not matter.
pub(crate) fn dataset(rows: &[Vec<i32>], scale: f64) -> Dataset {
    let values: Vec<f64> = rows.iter().flatten().map(|&x| f64::from(x) * scale).collect();
    Dataset::dense(rows[0].len(), &values, &vec!["1"; rows.len()]).unwrap()
}

/// Fewer than `most` rows of three numbers no larger than `largest`, with duplicates, contradictions and zero rows, and
/// any signs.
pub(in crate::train) fn examples(
    most: usize,
    largest: i32,
) -> impl Strategy<Value = (Vec<Vec<i32>>, Vec<i8>)> {
    (1..most).prop_flat_map(move |n| {
        let number = prop_oneof![3 => -largest..=largest, 1 => Just(0)];
        (
            prop::collection::vec(prop::collection::vec(number, 3), n),
            prop::collection::vec(prop_oneof![Just(1i8), Just(-1i8)], n),
        )
    })
}

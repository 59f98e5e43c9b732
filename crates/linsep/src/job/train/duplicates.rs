//! Held-out rows that are also training rows: a model can be right on them by memory alone.

use crate::dataset::{Dataset, Row};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// How many held-out rows have the same features as a training row, whatever their labels.
pub(super) fn count(train: &Dataset, held_out: &Dataset) -> u64 {
    // Only held-out rows are kept in the table: there are fewer of them.
    let mut rows: HashMap<u64, Vec<u32>> = HashMap::new();
    for i in 0..held_out.len() {
        rows.entry(hash(held_out.row(i))).or_default().push(i as u32);
    }
    let mut found = 0;
    for i in 0..train.len() {
        let row = train.row(i);
        let Some(equal) = rows.get_mut(&hash(row)) else { continue };
        let before = equal.len();
        equal.retain(|&other| !same(row, held_out.row(other as usize)));
        found += (before - equal.len()) as u64;
    }
    found
}

/// The values of a row that are not zero, by their features: however it is stored, an equal row has the same.
fn values(row: Row<'_>) -> impl Iterator<Item = (usize, f64)> {
    row.iter().filter(|&(_, x)| x != 0.0)
}

fn hash(row: Row<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (feature, x) in values(row) {
        hasher.write_u32(feature as u32);
        hasher.write_u64(x.to_bits());
    }
    hasher.finish()
}

fn same(a: Row<'_>, b: Row<'_>) -> bool {
    values(a).eq(values(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_features_are_counted_once_for_each_held_out_row() {
        let train =
            Dataset::dense(2, &[1.0, 2.0, 1.0, 2.0, 0.0, 3.0, 4.0, 4.0], &["a", "b", "a", "b"]).unwrap();
        let held_out = Dataset::dense(
            2,
            &[1.0, 2.0, -0.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 0.0],
            &["a", "b", "a", "b", "a"],
        )
        .unwrap();
        assert_eq!(count(&train, &held_out), 3);
        let others = Dataset::dense(2, &[9.0, 9.0, 8.0, 8.0], &["a", "b"]).unwrap();
        assert_eq!(count(&train, &others), 0);
    }
}

//! Rows with the same features, however they are stored and whatever their labels.

use super::Row;
use std::hash::{DefaultHasher, Hasher};

/// The values of a row that are not zero, by their features.
fn values(row: Row<'_>) -> impl Iterator<Item = (usize, f64)> {
    row.iter().filter(|&(_, x)| x != 0.0)
}

/// A hash of the features: that of equal rows is equal.
pub(crate) fn hash_of(row: Row<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (feature, x) in values(row) {
        hasher.write_u32(feature as u32);
        hasher.write_u64(x.to_bits());
    }
    hasher.finish()
}

/// Whether two rows have the same features.
pub(crate) fn are_equal(a: Row<'_>, b: Row<'_>) -> bool {
    values(a).eq(values(b))
}

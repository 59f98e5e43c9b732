//! Equal rows with different labels: the plainest reason why classes overlap.

use linsep::Dataset;
use linsep::classes::ClassPair;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The entries of a row that are not zero: what makes rows equal, however they are stored.
fn entries(data: &Dataset, i: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
    data.row(i).iter().filter(|&(_, value)| value != 0.0).map(|(column, value)| (column, value.to_bits()))
}

/// Whether two rows have the same features.
pub(super) fn equal(data: &Dataset, i: usize, j: usize) -> bool {
    entries(data, i).eq(entries(data, j))
}

/// Sets of equal rows that are on both sides, each in the order of the file, and in the order of their first rows.
pub(super) fn find(data: &Dataset, classes: &ClassPair) -> Vec<Vec<usize>> {
    let signs: Vec<Option<i8>> = data.classes().iter().map(|class| classes.sign_of(class)).collect();
    let sign = |i: usize| signs[data.labels()[i] as usize];
    let mut keyed: Vec<(u64, usize)> = (0..data.len())
        .into_par_iter()
        .filter(|&i| sign(i).is_some())
        .map(|i| {
            let mut hasher = DefaultHasher::new();
            entries(data, i).for_each(|entry| entry.hash(&mut hasher));
            (hasher.finish(), i)
        })
        .collect();
    keyed.par_sort_unstable();
    let mut found = Vec::new();
    for rows in keyed.chunk_by(|a, b| a.0 == b.0).filter(|rows| rows.len() > 1) {
        // Different rows can have one hash.
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for &(_, i) in rows {
            match sets.iter_mut().find(|set| equal(data, set[0], i)) {
                Some(set) => set.push(i),
                None => sets.push(vec![i]),
            }
        }
        found.extend(sets.into_iter().filter(|set| set.iter().any(|&i| sign(i) != sign(set[0]))));
    }
    found.sort_unstable_by_key(|set| set[0]);
    found
}

/// The lines of a set by label, in the order of the labels' first rows.
pub(super) fn by_label<'a>(set: &[usize], label: impl Fn(usize) -> &'a str) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for &i in set {
        let place = *places.entry(label(i)).or_insert_with(|| {
            groups.push((label(i), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(i);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_on_both_sides_are_found() {
        let values = [1.0, 0.0, 2.0, 3.0, 1.0, -0.0, 2.0, 3.0, 1.0, 0.0, 5.0, 5.0, 5.0, 5.0];
        let data = Dataset::dense(2, &values, &["b", "a", "a", "a", "b", "b", "c"]).unwrap();
        let classes = ClassPair { positive: "b".into(), negative: vec!["a".into()] };
        assert_eq!(find(&data, &classes), [vec![0, 2, 4]]);
        let label = |i: usize| data.classes()[data.labels()[i] as usize].as_str();
        assert_eq!(by_label(&[0, 2, 4], label), [("b", vec![0, 4]), ("a", vec![2])]);
        // The rest counts as one class.
        let classes = ClassPair { positive: "b".into(), negative: vec!["a".into(), "c".into()] };
        assert_eq!(find(&data, &classes), [vec![0, 2, 4], vec![5, 6]]);
    }
}

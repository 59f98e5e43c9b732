//! Rows that count more than once: equal ones are held out together, so that no model is judged on a copy of a row that it has
//! learned from. A table with too few different rows for that is split copy by copy, like any other.

use crate::dataset::{Dataset, are_equal, hash_of};
use crate::random::{Random, Stream};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Rows with the same features: their places, and how many of each class they are.
struct Group {
    rows: Vec<usize>,
    classes: Vec<usize>,
}

impl Group {
    /// The class that most of the rows have.
    fn main_class(&self) -> usize {
        (0..self.classes.len()).max_by_key(|&class| (self.classes[class], Reverse(class))).unwrap_or(0)
    }
}

/// Whether rows were written out as often as they count: their copies follow each other, and are of one line.
fn has_copies(data: &Dataset) -> bool {
    (1..data.len()).any(|i| data.line(i) == data.line(i - 1))
}

/// The rows by their features, whatever their classes, in the order of the first of each. Two counts of the same features, one for
/// each class, belong together: apart, each would be judged by a model that knows the features of the other class alone.
fn groups(data: &Dataset) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for i in 0..data.len() {
        let row = data.row(i);
        let alike = by_hash.entry(hash_of(row)).or_default();
        let known = alike.iter().copied().find(|&group| are_equal(row, data.row(groups[group].rows[0])));
        let place = known.unwrap_or_else(|| {
            groups.push(Group { rows: Vec::new(), classes: vec![0; data.classes().len()] });
            alike.push(groups.len() - 1);
            groups.len() - 1
        });
        groups[place].rows.push(i);
        groups[place].classes[data.labels()[i] as usize] += 1;
    }
    groups
}

/// Which rows to hold out: groups in random order, each that brings the held-out rows of the classes nearer to their shares. None
/// for rows without copies, and where a side would be empty or a class all on one.
pub(super) fn held(data: &Dataset, fraction: f64, seed: u64) -> Option<Vec<bool>> {
    if !has_copies(data) {
        return None;
    }
    let mut groups = groups(data);
    Random::of(seed, Stream::Holdout).shuffle(&mut groups);
    let all = data.class_counts();
    let share = |class: usize| all[class] as f64 * fraction;
    let mut taken = vec![0; all.len()];
    let mut held = vec![false; data.len()];
    for group in &groups {
        let off = |taken: usize, class: usize| (taken as f64 - share(class)).abs();
        let nearer =
            |class: usize| off(taken[class], class) - off(taken[class] + group.classes[class], class);
        if (0..all.len()).map(nearer).sum::<f64>() > 0.0 {
            taken.iter_mut().zip(&group.classes).for_each(|(taken, &more)| *taken += more);
            group.rows.iter().for_each(|&i| held[i] = true);
        }
    }
    let is_split = (0..all.len()).all(|class| all[class] < 2 || (1..all[class]).contains(&taken[class]));
    is_split.then_some(held)
}

/// The rows of each part: the largest groups first, each into the part that has fewest rows of its main class. None for rows
/// without copies, and where a part would be empty or a class all in one.
pub(super) fn parts(data: &Dataset, folds: usize, seed: u64) -> Option<Vec<Vec<usize>>> {
    if !has_copies(data) {
        return None;
    }
    let mut groups = groups(data);
    Random::of(seed, Stream::Folds).shuffle(&mut groups);
    groups.sort_by_key(|group| Reverse(group.rows.len()));
    let all = data.class_counts();
    let mut parts = vec![Vec::new(); folds];
    let mut counts = vec![vec![0; all.len()]; folds];
    for group in &groups {
        let class = group.main_class();
        let best = (0..folds).min_by_key(|&part| (counts[part][class], parts[part].len()))?;
        parts[best].extend_from_slice(&group.rows);
        counts[best].iter_mut().zip(&group.classes).for_each(|(count, &more)| *count += more);
    }
    let is_whole =
        |count: &Vec<usize>| (0..all.len()).any(|class| all[class] > 1 && count[class] == all[class]);
    if parts.iter().any(Vec::is_empty) || counts.iter().any(is_whole) {
        return None;
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::{folds, hold_out};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Rows of one feature, each as often as its count says.
    fn counted(rows: &[(u8, bool, usize)]) -> Dataset {
        let values: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
        let labels: Vec<&str> = rows.iter().map(|row| if row.1 { "b" } else { "a" }).collect();
        let positions: Vec<usize> =
            rows.iter().enumerate().flat_map(|(i, row)| std::iter::repeat_n(i, row.2)).collect();
        Dataset::dense(1, &values, &labels).unwrap().subset(&positions).unwrap()
    }

    fn features(data: &Dataset, rows: impl IntoIterator<Item = usize>) -> BTreeSet<u64> {
        rows.into_iter().map(|i| hash_of(data.row(i))).collect()
    }

    proptest! {
        /// Equal rows are never on both sides, and no row is lost.
        #[test]
        fn equal_rows_stay_together(
            rows in prop::collection::vec((0u8..30, any::<bool>(), 1usize..6), 30..60),
            seed: u64,
        ) {
            let data = counted(&rows);
            prop_assume!(has_copies(&data));
            let Some(found) = parts(&data, 4, seed) else { return Ok(()) };
            prop_assert_eq!(&folds(&data, 4, seed).unwrap(), &found);
            let mut all: Vec<usize> = found.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..data.len()).collect::<Vec<_>>());
            for part in &found {
                let others = (0..data.len()).filter(|i| !part.contains(i));
                prop_assert!(features(&data, part.iter().copied()).is_disjoint(&features(&data, others)));
            }
            if held(&data, 0.25, seed).is_some() {
                let split = hold_out(&data, 0.25, seed).unwrap();
                let of = |part: &Dataset| features(part, 0..part.len());
                prop_assert!(of(&split.train).is_disjoint(&of(&split.held_out)));
                prop_assert_eq!(split.train.len() + split.held_out.len(), data.len());
            }
        }
    }

    /// Each part has its share of each class, as far as the sizes of the groups allow.
    #[test]
    fn shares_are_kept() {
        let rows: Vec<(u8, bool, usize)> = (0..60).map(|i| (i, i % 3 == 0, 1 + usize::from(i) % 5)).collect();
        let data = counted(&rows);
        let all = data.class_counts();
        for part in folds(&data, 5, 7).unwrap() {
            let part = data.subset(&part).unwrap().class_counts();
            assert!((0..2).all(|class| part[class].abs_diff(all[class] / 5) <= 1), "{part:?} of {all:?}");
        }
        let held = hold_out(&data, 0.25, 7).unwrap().held_out.class_counts();
        assert!((0..2).all(|class| held[class].abs_diff(all[class] / 4) <= 5), "{held:?} of {all:?}");
    }

    /// Rows without copies are split as ever, and so are too few different rows.
    #[test]
    fn other_rows_are_split_one_by_one() {
        let plain = counted(&[(1, false, 1), (1, true, 1), (2, false, 1), (2, true, 1), (3, false, 1)]);
        assert!(!has_copies(&plain) && parts(&plain, 2, 0).is_none() && held(&plain, 0.5, 0).is_none());
        let few = counted(&[(1, false, 9), (2, true, 9)]);
        assert!(parts(&few, 5, 0).is_none() && held(&few, 0.25, 0).is_none());
        assert_eq!(folds(&few, 5, 0).unwrap().iter().map(Vec::len).sum::<usize>(), 18);
        assert_eq!(hold_out(&few, 0.25, 0).unwrap().held_out.class_counts(), [2, 2]);
    }
}

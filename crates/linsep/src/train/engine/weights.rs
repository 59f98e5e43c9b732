//! How often each row counts: the one place where class weights and row weights are worked out.
//!
//! Rows in memory, rows in a file and rows of a stream ask here, so a class weight means the same to all of them, and a
//! weight for a class that no row has is the same error.

use crate::Error;
use crate::classes::{ClassError, class_name, places_of};
use crate::dataset::Dataset;
use crate::train::settings::{ClassWeight, Settings};
use std::collections::HashMap;

/// The weight of each class, or `None` if every class counts once.
///
/// `sides` has the side of each class, `counts` its number of rows, or the sum of their weights. Balanced weights give every
/// side the same total.
pub(crate) fn class_weights(
    setting: &ClassWeight,
    classes: &[String],
    sides: &[u32],
    counts: &[f64],
) -> Result<Option<Vec<f64>>, ClassError> {
    match setting {
        ClassWeight::Equal => Ok(None),
        ClassWeight::Balanced => {
            let mut of_side = vec![0.0; sides.iter().max().map_or(0, |&most| most as usize + 1)];
            for (&side, &count) in sides.iter().zip(counts) {
                of_side[side as usize] += count;
            }
            let (rows, parts) = (counts.iter().sum::<f64>(), of_side.len() as f64);
            // Rows that count nothing need no weight.
            let own = |side: u32| Some(of_side[side as usize]).filter(|&total| total > 0.0).unwrap_or(rows);
            Ok(Some(sides.iter().map(|&side| rows / (parts * own(side))).collect()))
        }
        ClassWeight::Named(_) => {
            check_named(setting, classes)?;
            let named = named_weights(setting);
            Ok(Some(classes.iter().map(|class| named.get(class).copied().unwrap_or(1.0)).collect()))
        }
    }
}

/// The weight of every class that the settings name. A class that is named twice has the last weight.
fn named_weights(setting: &ClassWeight) -> HashMap<String, f64> {
    let ClassWeight::Named(named) = setting else { return HashMap::new() };
    named.iter().filter_map(|(label, weight)| Some((class_name(label)?, *weight))).collect()
}

/// The weight that the settings name for a class, 1 where they name none. A class that is named twice has the last
/// weight.
pub(crate) fn named_weight(setting: &ClassWeight, class: &str) -> f64 {
    let ClassWeight::Named(named) = setting else { return 1.0 };
    let own = named.iter().rev().find(|(label, _)| class_name(label).as_deref() == Some(class));
    own.map_or(1.0, |&(_, weight)| weight)
}

/// Refuses a weight for a class that is not among `classes`, which are all there are.
pub(crate) fn check_named(setting: &ClassWeight, classes: &[String]) -> Result<(), ClassError> {
    let ClassWeight::Named(named) = setting else { return Ok(()) };
    let known = places_of(classes);
    let is_known = |label: &str| class_name(label).is_some_and(|name| known.contains_key(name.as_str()));
    match named.iter().find(|(label, _)| !is_known(label)) {
        Some((label, _)) => Err(ClassError::unknown(label, classes)),
        None => Ok(()),
    }
}

/// The weight of each row of a data set: its own times that of its class. `None` if every row counts once.
pub(crate) fn row_weights(
    settings: &Settings,
    data: &Dataset,
    sides: &[u32],
) -> Result<Option<Vec<f64>>, Error> {
    settings.check_on(data)?;
    let mut counts = vec![0.0; data.classes().len()];
    for (i, &label) in data.labels().iter().enumerate() {
        counts[label as usize] += data.weight(i);
    }
    let of_class = class_weights(&settings.class_weight, data.classes(), sides, &counts)?;
    let of_class = of_class
        .map(|weights| data.labels().iter().map(|&label| weights[label as usize]).collect::<Vec<_>>());
    Ok(match (of_class, data.weights()) {
        (Some(of_class), Some(own)) => Some(of_class.iter().zip(own).map(|(a, b)| a * b).collect()),
        (Some(of_class), None) => Some(of_class),
        (None, own) => own.map(<[f64]>::to_vec),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn named(list: &[(&str, f64)]) -> ClassWeight {
        ClassWeight::Named(list.iter().map(|&(label, weight)| (label.to_string(), weight)).collect())
    }

    #[test]
    fn weights_are_those_that_were_named() {
        let classes = names(&["1", "2", "3"]);
        let found = class_weights(&named(&[("+1.0", 4.0), ("3", 0.5)]), &classes, &[0, 1, 1], &[1.0; 3]);
        assert_eq!(found.unwrap(), Some(vec![4.0, 1.0, 0.5]));
        // The last weight counts where a class is named twice.
        assert_eq!(named_weight(&named(&[("1", 4.0), ("1e0", 7.0)]), "1"), 7.0);
        assert_eq!(class_weights(&ClassWeight::Equal, &classes, &[0, 1, 1], &[1.0; 3]).unwrap(), None);
    }

    #[test]
    fn balanced_weights_give_each_side_the_same_total() {
        let classes = names(&["a", "b", "c"]);
        let weights =
            class_weights(&ClassWeight::Balanced, &classes, &[0, 1, 0], &[2.0, 3.0, 4.0]).unwrap().unwrap();
        assert_eq!(weights, [9.0 / 12.0, 9.0 / 6.0, 9.0 / 12.0]);
        assert_eq!(2.0 * weights[0] + 4.0 * weights[2], 3.0 * weights[1]);
    }

    #[test]
    fn a_weight_for_an_unknown_class_is_an_error() {
        let error = check_named(&named(&[("a", 2.0), ("z", 2.0)]), &names(&["a", "b"])).unwrap_err();
        assert_eq!(error.to_string(), "no row has the label \"z\"; the classes are \"a\", \"b\"");
        assert!(check_named(&named(&[("", 2.0)]), &names(&["a"])).is_err());
    }

    /// Beside weights of rows, it is these that are balanced.
    #[test]
    fn rows_with_weights_are_balanced_by_them() {
        let data = Dataset::dense(1, &[1.0, 2.0, 3.0, 4.0], &["a", "a", "b", "b"]).unwrap();
        let data = data.with_weights(vec![0.5, 1.5, 0.25, 0.25]).unwrap();
        let settings = Settings { class_weight: ClassWeight::Balanced, ..Settings::default() };
        let weights = row_weights(&settings, &data, &[0, 1]).unwrap().unwrap();
        assert_eq!(weights[0] + weights[1], weights[2] + weights[3]);
        assert_eq!(weights.iter().sum::<f64>(), 2.5);
    }
}

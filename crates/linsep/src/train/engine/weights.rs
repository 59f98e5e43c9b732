//! How often each row counts: the one place where class weights and row weights are worked out, and where a count becomes rows.
//!
//! Rows in memory, rows in a file and rows of a stream ask here, so a class weight means the same to all of them, and a
//! weight for a class that no row has is the same error.

use crate::Error;
use crate::classes::{ClassError, class_name, places_of};
use crate::dataset::Dataset;
use crate::observe::{Checkpoint, Note, Observer, Progress, Update};
use crate::train::settings::{ClassWeight, Settings};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// More values than this are not written out: the rows keep their counts as weights.
const MAX_VALUES: f64 = (1 << 25) as f64;

/// The place of each row as often as it occurs, one after the other, where all weights are whole numbers: then they are counts.
/// `None` without weights, with others, and where the rows would be too many.
pub fn occurrences(data: &Dataset) -> Option<Vec<usize>> {
    let counts = data.weights()?;
    let values: f64 = (0..data.len()).map(|i| counts[i] * (data.row(i).stored() + 1) as f64).sum();
    if counts.iter().any(|count| count.fract() != 0.0) || values > MAX_VALUES {
        return None;
    }
    Some((0..data.len()).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect())
}

/// The rows as a learner that takes them one after the other learns from them: those that occur twice are there twice, because one
/// step of twice the size is not two steps.
pub(crate) struct WrittenOut {
    pub(crate) data: Dataset,
    /// The place of each row among those that were given.
    places: Vec<usize>,
}

impl WrittenOut {
    /// `None` where the rows are learned from as they are.
    pub(crate) fn new(data: &Dataset, settings: &Settings) -> Result<Option<Self>, Error> {
        // Rows that all occur once are written out already.
        let is_once = data.weights().is_some_and(|counts| counts.iter().all(|&count| count == 1.0));
        if is_once || !settings.learner.goes_through_rows() {
            return Ok(None);
        }
        settings.check_on(data)?;
        let Some(places) = occurrences(data) else { return Ok(None) };
        let data = data.subset(&places)?.without_weights().without_empty_classes();
        Ok(Some(Self { data, places }))
    }

    /// An observer of the learning, who hears of updates by the places of the rows that were given.
    pub(crate) fn observer<'a>(&'a self, observer: &'a mut dyn Observer) -> impl Observer {
        AtPlaces { observer, places: &self.places }
    }
}

/// Passes everything on, and the positions of rows as places among those that were given.
struct AtPlaces<'a> {
    observer: &'a mut dyn Observer,
    places: &'a [usize],
}

impl Observer for AtPlaces<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.observer.progress(progress)
    }

    fn note(&mut self, note: Note<'_>) {
        self.observer.note(note);
    }

    fn will_stop(&self) -> bool {
        self.observer.will_stop()
    }

    fn waits(&self) -> bool {
        self.observer.waits()
    }

    fn update(&mut self, update: &Update<'_>) {
        let position = self.places[update.position as usize] as u64;
        self.observer.update(&Update { position, ..*update });
    }

    fn saves(&self) -> bool {
        self.observer.saves()
    }

    fn checkpoint(&mut self, state: &dyn Checkpoint) {
        self.observer.checkpoint(state);
    }
}

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
    use crate::random::Random;
    use crate::train::{Learned, Learner, Order, Outcome, learners, train};

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

    /// A row that counts twice is that row twice, one after the other, and one that counts 0 times is none: to the bit, in every order,
    /// for every learner that goes through the rows. Updates name the rows that were given.
    #[test]
    fn a_count_is_so_many_rows() {
        let mut random = Random::new(11);
        let values: Vec<f64> = (0..3 * 60).map(|_| random.normal()).collect();
        for classes in [2, 3] {
            let labels: Vec<String> = (0..60)
                .map(|i| if i < classes { i as u64 } else { random.below(classes as u64) }.to_string())
                .collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let counts: Vec<f64> =
                (0..60).map(|i| if i < classes { 2.0 } else { random.below(4) as f64 }).collect();
            let places: Vec<usize> = (0..60).flat_map(|i| vec![i; counts[i] as usize]).collect();
            let (repeated, weighted) = (data.subset(&places).unwrap(), data.with_weights(counts).unwrap());
            let through = learners().iter().map(|one| one.learner()).filter(|one| one.goes_through_rows());
            let through: Vec<_> = through.filter(|one| one.abilities().weights.is_yes()).collect();
            assert!(through.len() >= 6, "{through:?}");
            for learner in through {
                for order in [Order::Given, Order::ShuffleOnce, Order::Shuffle] {
                    let settings = Settings { learner, order, epochs: 4, ..Settings::default() };
                    let found = train(&weighted, &settings, &mut ()).unwrap();
                    let expected = train(&repeated, &settings, &mut ()).unwrap();
                    assert_eq!(found.evidence, expected.evidence, "{learner:?} {order:?}");
                    for i in 0..60 {
                        let scores = |outcome: &Outcome| match &outcome.learned {
                            Learned::Each(each) => each
                                .iter()
                                .map(|one| one.score(weighted.row(i)).to_bits())
                                .collect::<Vec<_>>(),
                            one => vec![one.score(weighted.row(i)).to_bits()],
                        };
                        assert_eq!(scores(&found), scores(&expected), "{learner:?} {order:?} {classes}");
                    }
                }
            }
        }
    }

    #[test]
    fn updates_are_told_by_the_rows_that_were_given() {
        struct Places(Vec<u64>);
        impl Observer for Places {
            fn update(&mut self, update: &Update<'_>) {
                self.0.push(update.position);
            }
        }
        let data = Dataset::dense(1, &[9.0, 1.0, -1.0, 2.0], &["a", "b", "a", "b"]).unwrap();
        let data = data.with_weights(vec![0.0, 2.0, 3.0, 1.0]).unwrap();
        let settings = Settings { learner: Learner::Perceptron, order: Order::Given, ..Settings::default() };
        let mut places = Places(Vec::new());
        train(&data, &settings, &mut places).unwrap();
        assert_eq!(places.0[0], 1);
        assert!(places.0.iter().all(|place| (1..4).contains(place)), "{:?}", places.0);
    }

    /// Weights that are not all whole numbers make steps longer or shorter, and too many rows are not written out.
    #[test]
    fn other_weights_are_steps() {
        let data = Dataset::dense(1, &[1.0, 2.0, 3.0], &["a", "b", "a"]).unwrap();
        assert_eq!(occurrences(&data), None);
        let weighted = |weights: [f64; 3]| data.clone().with_weights(weights.to_vec()).unwrap();
        let perceptron = Settings { learner: Learner::Perceptron, ..Settings::default() };
        let svm = Settings { learner: Learner::named("svm").unwrap(), ..perceptron.clone() };
        for (weights, settings, expected) in [
            ([2.0, 1.0, 0.0], &perceptron, Some(vec![0, 0, 1])),
            ([2.0, 1.5, 1.0], &perceptron, None),
            ([1e9, 1.0, 1.0], &perceptron, None),
            ([1.0, 1.0, 1.0], &perceptron, None),
            ([2.0, 1.0, 0.0], &svm, None),
        ] {
            let rows = WrittenOut::new(&weighted(weights), settings).unwrap();
            assert_eq!(rows.as_ref().map(|rows| rows.places.clone()), expected, "{weights:?}");
            assert!(rows.is_none_or(|rows| rows.data.len() == 3 && rows.data.weights().is_none()));
        }
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

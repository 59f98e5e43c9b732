//! How good predictions are.

use crate::theory::binomial::{Interval, clopper_pearson};
use serde::Serialize;
use std::collections::BTreeMap;

/// Measures of a binary classifier on labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Rows judged.
    pub rows: u64,
    /// Rows predicted wrong.
    pub errors: u64,
    /// Share of rows predicted wrong.
    pub error: f64,
    /// The 95 % interval for the error on new rows, if these were drawn independently of the classifier.
    pub error_interval: Interval,
    /// The error of always predicting the larger side of these rows.
    pub baseline_error: f64,
    /// The mean over the sides of the share of their rows that is predicted wrong; of one side, if the other has no rows.
    pub balanced_error: f64,
    /// Positive rows predicted positive.
    pub true_positives: u64,
    /// Negative rows predicted positive.
    pub false_positives: u64,
    /// Negative rows predicted negative.
    pub true_negatives: u64,
    /// Positive rows predicted negative.
    pub false_negatives: u64,
    /// Of the rows predicted positive, the share that is; `None` if none was.
    pub precision: Option<f64>,
    /// Of the positive rows, the share that was found; `None` if there are none.
    pub recall: Option<f64>,
    /// Of the negative rows, the share that was found; `None` if there are none.
    pub negative_recall: Option<f64>,
    /// The harmonic mean of precision and recall; `None` if neither row nor prediction is positive.
    pub f1: Option<f64>,
    /// The chance that a random positive row scores above a random negative one, ties counting half; `None` if a
    /// class is missing.
    pub auc: Option<f64>,
}

/// Judges scores against the signs of the rows: at least 0 means positive.
pub fn evaluate(scores: &[f64], signs: &[i8]) -> Evaluation {
    let called: Vec<bool> = scores.iter().map(|&score| score >= 0.0).collect();
    evaluate_labels(scores, &called, signs, Times::ONCE)
}

/// How often each row occurs.
#[derive(Clone, Copy, Debug)]
pub struct Times<'a>(Option<&'a [u64]>);

impl<'a> Times<'a> {
    /// Every row once.
    pub const ONCE: Self = Self(None);

    /// Each row as often as this says.
    pub fn each(times: &'a [u64]) -> Self {
        Self(Some(times))
    }

    /// How often row `i` occurs.
    #[inline]
    pub fn of(self, i: usize) -> u64 {
        self.0.map_or(1, |times| times[i])
    }

    /// How many there are of so many rows.
    pub fn total(self, rows: usize) -> u64 {
        self.0.map_or(rows as u64, |times| times.iter().sum())
    }
}

/// Judges which rows were called positive against the signs of the rows; the scores give the order of the rows alone.
pub fn evaluate_labels(scores: &[f64], called: &[bool], signs: &[i8], times: Times<'_>) -> Evaluation {
    let count = |positive: bool, predicted: bool| {
        let rows = called.iter().zip(signs).enumerate();
        let here = rows.filter(|&(_, (&p, &y))| (y > 0) == positive && p == predicted);
        here.map(|(i, _)| times.of(i)).sum::<u64>()
    };
    let (tp, fp, tn, fne) = (count(true, true), count(false, true), count(false, false), count(true, false));
    let rows = times.total(scores.len());
    Evaluation {
        rows,
        errors: fp + fne,
        error: share(fp + fne, rows).unwrap_or(0.0),
        error_interval: clopper_pearson(fp + fne, rows),
        baseline_error: share((tp + fne).min(fp + tn), rows).unwrap_or(0.0),
        balanced_error: balanced_error([share(tp, tp + fne), share(tn, tn + fp)]),
        true_positives: tp,
        false_positives: fp,
        true_negatives: tn,
        false_negatives: fne,
        precision: share(tp, tp + fp),
        recall: share(tp, tp + fne),
        negative_recall: share(tn, tn + fp),
        f1: share(2 * tp, 2 * tp + fp + fne),
        auc: auc(scores, signs, times),
    }
}

/// The part of a whole; `None` if there is nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The mean of 1 − recall over the classes that have rows; 0 if none has.
fn balanced_error(recalls: impl IntoIterator<Item = Option<f64>>) -> f64 {
    let missed: Vec<f64> = recalls.into_iter().flatten().map(|recall| 1.0 - recall).collect();
    if missed.is_empty() { 0.0 } else { missed.iter().sum::<f64>() / missed.len() as f64 }
}

/// Measures of a classifier of many classes on labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManyEvaluation {
    /// Rows judged.
    pub rows: u64,
    /// Rows predicted wrong.
    pub errors: u64,
    /// Share of rows predicted wrong.
    pub error: f64,
    /// The 95 % interval for the error on new rows, if these were drawn independently of the classifier.
    pub error_interval: Interval,
    /// The error of always predicting the largest class of these rows.
    pub baseline_error: f64,
    /// The mean over the classes that have rows of the share that is predicted wrong.
    pub balanced_error: f64,
    /// The mean of the classes' F1, over those that have one.
    pub macro_f1: Option<f64>,
    /// Each class.
    pub classes: Vec<ClassEvaluation>,
    /// For each true class (rows), how often each class was predicted (columns); empty where there are more than
    /// [`MAX_IN_MATRIX`] classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// The cells of that matrix that are not zero, by true class, where there are more than [`MAX_IN_MATRIX`] classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confusion_cells: Vec<ConfusionCell>,
}

/// The most classes of a confusion matrix with all its cells, which are the square of this number.
pub const MAX_IN_MATRIX: usize = 1000;

/// One cell of a confusion matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfusionCell {
    /// The true class.
    pub class: String,
    /// The class that was predicted.
    pub predicted: String,
    /// How many rows.
    pub rows: u64,
}

/// Measures of one class among many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassEvaluation {
    /// The class.
    pub class: String,
    /// Rows of this class.
    pub rows: u64,
    /// Of the rows predicted to be of this class, the share that is; `None` if none was.
    pub precision: Option<f64>,
    /// Of the rows of this class, the share that was found; `None` if there are none.
    pub recall: Option<f64>,
    /// The harmonic mean of both; `None` if neither row nor prediction is of this class.
    pub f1: Option<f64>,
}

/// Judges predicted classes against the true ones, both as places among `names`.
pub fn evaluate_many(
    predicted: &[usize],
    truth: &[usize],
    names: &[String],
    times: Times<'_>,
) -> ManyEvaluation {
    let mut cells: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let (mut of_class, mut called) = (vec![0u64; names.len()], vec![0u64; names.len()]);
    for (i, (&found, &class)) in predicted.iter().zip(truth).enumerate() {
        *cells.entry((class, found)).or_default() += times.of(i);
        of_class[class] += times.of(i);
        called[found] += times.of(i);
    }
    let right = |k: usize| cells.get(&(k, k)).copied().unwrap_or(0);
    let classes: Vec<ClassEvaluation> = names
        .iter()
        .enumerate()
        .map(|(k, name)| {
            let (right, rows, called) = (right(k), of_class[k], called[k]);
            ClassEvaluation {
                class: name.clone(),
                rows,
                precision: share(right, called),
                recall: share(right, rows),
                f1: share(2 * right, rows + called),
            }
        })
        .collect();
    let known: Vec<f64> = classes.iter().filter_map(|class| class.f1).collect();
    let rows = times.total(truth.len());
    let errors = rows - (0..names.len()).map(right).sum::<u64>();
    let (mut confusion, mut confusion_cells) = (Vec::new(), Vec::new());
    if names.len() <= MAX_IN_MATRIX {
        confusion = vec![vec![0; names.len()]; names.len()];
        cells.iter().for_each(|(&(class, found), &rows)| confusion[class][found] = rows);
    } else {
        let cell = |(&(class, found), &rows): (&(usize, usize), &u64)| ConfusionCell {
            class: names[class].clone(),
            predicted: names[found].clone(),
            rows,
        };
        confusion_cells = cells.iter().map(cell).collect();
    }
    ManyEvaluation {
        rows,
        errors,
        error: share(errors, rows).unwrap_or(0.0),
        error_interval: clopper_pearson(errors, rows),
        baseline_error: share(rows - of_class.iter().max().unwrap_or(&0), rows).unwrap_or(0.0),
        balanced_error: balanced_error(classes.iter().map(|class| class.recall)),
        macro_f1: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
        classes,
        confusion,
        confusion_cells,
    }
}

/// The area under the ROC curve, from ranks (Mann–Whitney).
fn auc(scores: &[f64], signs: &[i8], times: Times<'_>) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut below, mut twice_wins, mut positives) = (0u128, 0u128, 0u128);
    for group in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let (mut group_positives, mut group_negatives) = (0u128, 0u128);
        for &i in group {
            let side = if signs[i] > 0 { &mut group_positives } else { &mut group_negatives };
            *side += u128::from(times.of(i));
        }
        twice_wins += group_positives * (2 * below + group_negatives);
        below += group_negatives;
        positives += group_positives;
    }
    (positives > 0 && below > 0).then(|| twice_wins as f64 / (2 * positives * below) as f64)
}

/// A point of a ROC curve: what comes of calling rows positive whose score is at least so high.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RocPoint {
    /// The least score that is called positive; infinite where none is.
    pub threshold: f64,
    /// Of the negative rows, the share that is called positive.
    pub false_positives: f64,
    /// Of the positive rows, the share that is called positive.
    pub true_positives: f64,
}

/// The ROC curve, from no row called positive to all, with a point for each score that occurs. Empty if a class is missing.
/// The area under it, by straight lines, is the AUC.
pub fn roc(scores: &[f64], signs: &[i8], times: Times<'_>) -> Vec<RocPoint> {
    let positives: u64 = (0..signs.len()).filter(|&i| signs[i] > 0).map(|i| times.of(i)).sum();
    let negatives = times.total(signs.len()) - positives;
    if positives == 0 || negatives == 0 {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut called = [0u64; 2];
    let mut points = vec![RocPoint { threshold: f64::INFINITY, false_positives: 0.0, true_positives: 0.0 }];
    for group in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        group.iter().for_each(|&i| called[usize::from(signs[i] > 0)] += times.of(i));
        points.push(RocPoint {
            threshold: scores[group[0]],
            false_positives: called[0] as f64 / negatives as f64,
            true_positives: called[1] as f64 / positives as f64,
        });
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_area_under_the_curve_is_the_auc(rows in prop::collection::vec((-5i32..6, any::<bool>(), 1u64..5), 1..60)) {
            let scores: Vec<f64> = rows.iter().map(|(score, ..)| f64::from(*score)).collect();
            let signs: Vec<i8> = rows.iter().map(|(_, up, _)| if *up { 1 } else { -1 }).collect();
            let times: Vec<u64> = rows.iter().map(|(.., times)| *times).collect();
            let curve = roc(&scores, &signs, Times::each(&times));
            let area: f64 = curve
                .windows(2)
                .map(|pair| {
                    let width = pair[1].false_positives - pair[0].false_positives;
                    width * (pair[0].true_positives + pair[1].true_positives) / 2.0
                })
                .sum();
            match auc(&scores, &signs, Times::each(&times)) {
                Some(auc) => prop_assert!((area - auc).abs() < 1e-12, "{area} {auc}"),
                None => prop_assert!(curve.is_empty()),
            }
        }
    }

    #[test]
    fn counts_by_hand() {
        let found = evaluate(&[1.0, 0.0, -1.0, -2.0, 3.0], &[1, -1, -1, 1, 1]);
        assert_eq!((found.true_positives, found.false_positives), (2, 1));
        assert_eq!((found.true_negatives, found.false_negatives), (1, 1));
        assert_eq!((found.errors, found.error), (2, 0.4));
        assert_eq!(
            (found.precision, found.recall, found.f1),
            (Some(2.0 / 3.0), Some(2.0 / 3.0), Some(2.0 / 3.0))
        );
        assert_eq!(found.auc, Some(4.0 / 6.0));
        // Always +1 is wrong on the two negative rows; a third of the positive and half of the negative rows are missed.
        assert_eq!((found.baseline_error, found.negative_recall), (0.4, Some(0.5)));
        assert!((found.balanced_error - 5.0 / 12.0).abs() < 1e-15);
        assert!(found.error_interval.lower < 0.1 && found.error_interval.upper > 0.8);
    }

    #[test]
    fn many_classes_by_hand() {
        let names = ["a", "b", "c"].map(String::from);
        let found = evaluate_many(&[0, 1, 1, 0, 0], &[0, 1, 0, 1, 0], &names, Times::ONCE);
        assert_eq!((found.rows, found.errors, found.error), (5, 2, 0.4));
        assert_eq!(found.confusion, [[2, 1, 0], [1, 1, 0], [0, 0, 0]]);
        assert_eq!((found.classes[0].precision, found.classes[0].recall), (Some(2.0 / 3.0), Some(2.0 / 3.0)));
        assert_eq!(
            (found.classes[2].precision, found.classes[2].recall, found.classes[2].f1),
            (None, None, None)
        );
        assert_eq!(found.macro_f1, Some((2.0 / 3.0 + 0.5) / 2.0));
        // Always "a" is wrong on the two rows of "b"; "c" has no rows and does not count.
        assert_eq!(found.baseline_error, 0.4);
        assert!((found.balanced_error - 5.0 / 12.0).abs() < 1e-15);
    }

    #[test]
    fn a_matrix_of_many_classes_is_a_list_of_its_cells() {
        let names: Vec<String> = (0..20_000).map(|class| class.to_string()).collect();
        let found = evaluate_many(&[7, 7, 19_999, 0], &[7, 7, 3, 0], &names, Times::ONCE);
        assert!(found.confusion.is_empty());
        let cell = |class: usize, predicted: usize, rows: u64| ConfusionCell {
            class: class.to_string(),
            predicted: predicted.to_string(),
            rows,
        };
        assert_eq!(found.confusion_cells, [cell(0, 0, 1), cell(3, 19_999, 1), cell(7, 7, 2)]);
        assert_eq!((found.errors, found.classes[7].rows, found.classes[7].recall), (1, 2, Some(1.0)));
        assert_eq!(found.classes[19_999].precision, Some(0.0));
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let found = evaluate(&[-1.0, -1.0], &[-1, -1]);
        assert_eq!((found.precision, found.recall, found.f1, found.auc), (None, None, None, None));
        assert_eq!(found.error, 0.0);
    }

    proptest! {
        #[test]
        fn auc_counts_pairs(rows in prop::collection::vec((-3i8..4, any::<bool>()), 0..40)) {
            let scores: Vec<f64> = rows.iter().map(|&(s, _)| f64::from(s)).collect();
            let signs: Vec<i8> = rows.iter().map(|&(_, y)| if y { 1 } else { -1 }).collect();
            let (mut wins, mut pairs) = (0.0, 0.0);
            for (i, &y) in signs.iter().enumerate() {
                for (j, &other) in signs.iter().enumerate() {
                    if y > 0 && other < 0 {
                        pairs += 1.0;
                        wins += if scores[i] > scores[j] { 1.0 } else if scores[i] == scores[j] { 0.5 } else { 0.0 };
                    }
                }
            }
            match auc(&scores, &signs, Times::ONCE) {
                None => prop_assert_eq!(pairs, 0.0),
                Some(found) => prop_assert!((found - wins / pairs).abs() < 1e-12),
            }
        }
    }

    proptest! {
        /// Rows that occur several times are judged as if they were written out.
        #[test]
        fn counted_rows_are_judged_as_repeated_ones(
            rows in prop::collection::vec((-3i8..4, any::<bool>(), 0u64..4, 0usize..3, 0usize..3), 1..30)
        ) {
            let times: Vec<u64> = rows.iter().map(|row| row.2).collect();
            let written: Vec<_> =
                rows.iter().flat_map(|row| std::iter::repeat_n(*row, row.2 as usize)).collect();
            let scores = |rows: &[(i8, bool, u64, usize, usize)]| -> Vec<f64> {
                rows.iter().map(|row| f64::from(row.0)).collect()
            };
            let signs = |rows: &[(i8, bool, u64, usize, usize)]| -> Vec<i8> {
                rows.iter().map(|row| if row.1 { 1 } else { -1 }).collect()
            };
            let called: Vec<bool> = rows.iter().map(|row| row.0 >= 0).collect();
            let counted = evaluate_labels(&scores(&rows), &called, &signs(&rows), Times::each(&times));
            prop_assert_eq!(counted, evaluate(&scores(&written), &signs(&written)));
            let names = ["a", "b", "c"].map(String::from);
            let many = |rows: &[(i8, bool, u64, usize, usize)], times: Times<'_>| {
                let (found, truth): (Vec<usize>, Vec<usize>) = rows.iter().map(|row| (row.3, row.4)).unzip();
                evaluate_many(&found, &truth, &names, times)
            };
            prop_assert_eq!(many(&rows, Times::each(&times)), many(&written, Times::ONCE));
        }
    }
}

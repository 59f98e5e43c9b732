//! Warnings about results that deserve less trust than their numbers suggest.

use super::measure::Evaluated;
use crate::classes::shortened;
use crate::numbers::{counted, grouped, percent};
use crate::observe::{Note, Observer};
use crate::theory::cover::share_separable;
use serde::Serialize;
use std::fmt;

/// A class with fewer rows than this is rare: had nine held-out rows no error at all, up to a third of all rows of their
/// class could still be predicted wrong (the 95 % interval of 0 of 9 ends at 33.6 %).
const FEW_ROWS: u64 = 10;

/// So is a class with less than this part of the rows that each class would have if all were equal: of two classes, one
/// with less than 1 % of the rows. Never predicting it changes the error by less than 1 %.
const SMALL_PART: f64 = 1.0 / 50.0;

/// Held-out rows that are also training rows are warned of from this share on: a few equal rows are usual in tables, and
/// change the error by no more than their share.
const MANY_DUPLICATES: f64 = 0.05;

/// Classes and columns that a warning names before it says only how many more there are.
const MAX_NAMED: usize = 5;

/// A reason to trust a result less. Serialised for records; its text is for people, with settings named as
/// [`spelling`](crate::spelling) says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Warning {
    /// Classes with too few rows to learn or to evaluate well.
    RareClasses {
        /// The classes, rarest first.
        classes: Vec<RowsOfClass>,
        /// Rows in all.
        rows: u64,
    },
    /// Columns that each separate the classes completely and may leak the label.
    Leak {
        /// The columns.
        columns: Vec<String>,
        /// If the labels were shuffled, the probability that some column of the table separates them is at most
        /// 10 to the power of this.
        log10_chance: f64,
        /// Whether that proves that a boundary such as the learner looks for separates the training rows.
        separable: bool,
    },
    /// Columns whose cells are missing in exactly the rows of one class, which may leak the label.
    GapLeak {
        /// The columns.
        columns: Vec<GapsOfClass>,
        /// If the labels were shuffled, the probability that the gaps of some column agree with a class is at most 10 to
        /// the power of this.
        log10_chance: f64,
        /// Whether that proves that a boundary such as the learner looks for separates the training rows.
        separable: bool,
    },
    /// So few rows for the number of features that even random labels would be separable more often than not.
    FewRows {
        /// Rows learned from.
        rows: u64,
        /// Features that some row has, and one for the bias.
        dimensions: u64,
        /// The probability that random labels of rows in general position would be separable.
        separable: f64,
    },
    /// Held-out rows with the features of a training row.
    Duplicates {
        /// Held-out rows that are also training rows.
        rows: u64,
        /// Rows held out.
        held_out: u64,
    },
    /// A constant prediction does as well.
    Baseline {
        /// The answer.
        class: String,
        /// Its error.
        baseline_error: f64,
        /// The error of the model.
        error: f64,
        /// On which rows: `training`, `held-out` or `judged`.
        on: JudgedOn,
    },
    /// The model is evaluated on its training rows.
    TrainingRows {
        /// Whether rows that were held out are among them.
        held_out: bool,
    },
    /// Classes that have rows but were not predicted for any.
    NeverPredicted {
        /// The classes.
        classes: Vec<String>,
        /// On which rows.
        on: JudgedOn,
    },
}

/// A column whose cells are missing in the rows of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GapsOfClass {
    /// The column.
    pub column: String,
    /// The class.
    pub class: String,
}

/// A class and its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowsOfClass {
    /// The class.
    pub class: String,
    /// Its rows.
    pub rows: u64,
}

/// The rows that a model was evaluated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedOn {
    /// The training rows.
    Training,
    /// Those that were held out.
    HeldOut,
    /// The rows of another file.
    Judged,
}

impl fmt::Display for JudgedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JudgedOn::Training => "training",
            JudgedOn::HeldOut => "held-out",
            JudgedOn::Judged => "judged",
        })
    }
}

/// A few names in quotes.
fn quoted<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    let mut text = names.take(MAX_NAMED).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if count > MAX_NAMED {
        text += &format!(" and {} more", grouped((count - MAX_NAMED) as u64));
    }
    text
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fact, meaning) = self.fact_and_meaning();
        write!(f, "{fact}{meaning}")
    }
}

impl Warning {
    /// The fact alone, without what follows from it.
    pub(crate) fn fact(&self) -> String {
        self.fact_and_meaning().0
    }

    fn fact_and_meaning(&self) -> (String, String) {
        let more = |count: usize| match count.saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {} more", grouped(more as u64)),
        };
        match self {
            Warning::RareClasses { classes, rows } => {
                let named = classes.iter().take(MAX_NAMED);
                let named = named.map(|of| format!("\"{}\" ({})", of.class, counted(of.rows, "row", "rows")));
                let listed = shortened(named, classes.len().min(MAX_NAMED), ", ");
                (
                    format!(
                        "rare classes among {}: {listed}{}",
                        counted(*rows, "row", "rows"),
                        more(classes.len())
                    ),
                    ". They have too few rows to learn or to evaluate well, and the overall error hides them: look at \
                     the balanced error and at the recall of each class"
                        .into(),
                )
            }
            Warning::Leak { columns, log10_chance, .. } => {
                let (what, separate, known) = match columns.len() {
                    1 => ("column", "alone separates the classes", "is it"),
                    _ => ("columns", "each separate the classes alone", "are they"),
                };
                let named = quoted(columns.iter().map(String::as_str));
                (
                    format!("{what} {named} {separate}"),
                    format!(
                        ": {known} known at prediction time, or does it leak the label? (With shuffled labels this would \
                         happen with probability below 10^{:.0}.) To ignore a column: ⟦ignore=COLUMN⟧",
                        log10_chance.ceil()
                    ),
                )
            }
            Warning::GapLeak { columns, log10_chance, .. } => {
                let named = columns.iter().take(MAX_NAMED);
                let named = named.map(|of| format!("column \"{}\" in those of \"{}\"", of.column, of.class));
                let named = named.collect::<Vec<_>>().join(", ");
                (
                    format!(
                        "cells are missing in all rows of one class and in no other row: {named}{}",
                        more(columns.len())
                    ),
                    format!(
                        ". Is it known at prediction time whether there is a value? (With shuffled labels this would \
                         happen with probability below 10^{:.0}.) To ignore a column: ⟦ignore=COLUMN⟧",
                        log10_chance.ceil()
                    ),
                )
            }
            Warning::FewRows { rows, dimensions, separable } => {
                let often = if rows <= dimensions {
                    "any labels".to_string()
                } else {
                    format!("{} of all labellings", percent(*separable))
                };
                (
                    format!(
                        "{} for {} (features and bias): random points would be separable with {often}",
                        counted(*rows, "row", "rows"),
                        counted(*dimensions, "dimension", "dimensions"),
                    ),
                    ", so separability and the training error mean little".into(),
                )
            }
            Warning::Duplicates { rows, held_out } => (
                format!(
                    "{} of {} held-out rows ({}) have the same features as a training row",
                    grouped(*rows),
                    grouped(*held_out),
                    percent(*rows as f64 / *held_out as f64)
                ),
                ": the held-out error may be too low".into(),
            ),
            Warning::Baseline { class, baseline_error, error, on } => (
                format!("the model is no better than always predicting \"{class}\""),
                format!(
                    ": its error on the {on} rows is {}, that of the constant prediction {}",
                    percent(*error),
                    percent(*baseline_error)
                ),
            ),
            Warning::TrainingRows { held_out: true } => (
                "these are the rows that the model was trained on and the rows held out from training".into(),
                ": the error on all of them does not estimate the error on new rows. The training report has the \
                 error on the held-out rows; otherwise, evaluate the model on rows that it has not seen"
                    .into(),
            ),
            Warning::TrainingRows { held_out: false } => (
                "the model was trained on these rows".into(),
                ": its error on them does not estimate the error on new rows. Evaluate it on rows that it has not \
                 seen, or train with ⟦holdout=0.25⟧"
                    .into(),
            ),
            Warning::NeverPredicted { classes, on } => (
                format!(
                    "classes that have {on} rows but are never predicted: {}",
                    quoted(classes.iter().map(String::as_str))
                ),
                String::new(),
            ),
        }
    }

    /// The column that proves by itself that the training rows are separable, if one does.
    pub(crate) fn separating_column(&self) -> Option<&str> {
        match self {
            Warning::Leak { columns, separable: true, .. } => columns.first().map(String::as_str),
            Warning::GapLeak { columns, separable: true, .. } => columns.first().map(|of| of.column.as_str()),
            _ => None,
        }
    }

    /// Warns about rare classes.
    pub(super) fn rare_classes(names: &[String], counts: &[u64]) -> Option<Self> {
        let rows: u64 = counts.iter().sum();
        let equal = rows as f64 / counts.len().max(1) as f64;
        // Few rows are rare only where an equal part would be more.
        let most = |share: f64, count: u64| (count as f64) < share * equal;
        let rare =
            |count: u64| count > 0 && ((count < FEW_ROWS && most(0.5, count)) || most(SMALL_PART, count));
        let mut classes: Vec<RowsOfClass> = names
            .iter()
            .zip(counts)
            .filter(|&(_, &count)| rare(count))
            .map(|(class, &rows)| RowsOfClass { class: class.clone(), rows })
            .collect();
        classes.sort_by_key(|of| of.rows);
        // Where all classes are small there are few rows, and none is rarer than the others.
        let all = counts.iter().filter(|&&count| count > 0).count();
        (!classes.is_empty() && classes.len() < all).then_some(Warning::RareClasses { classes, rows })
    }

    /// Warns of so few rows that random labels would be separable more often than not.
    pub(super) fn few_rows(rows: u64, dimensions: u64) -> Option<Self> {
        let separable = share_separable(rows, dimensions);
        (separable > 0.5).then_some(Warning::FewRows { rows, dimensions, separable })
    }

    /// Warns of held-out rows that are also training rows, if they are many.
    pub(super) fn duplicates(rows: u64, held_out: u64) -> Option<Self> {
        (rows as f64 >= MANY_DUPLICATES * held_out as f64 && rows > 0)
            .then_some(Warning::Duplicates { rows, held_out })
    }

    /// Warnings from the metrics on the given rows.
    pub(super) fn of_measures(evaluated: &Evaluated, on: JudgedOn) -> Vec<Self> {
        let (class, baseline_error) = evaluated.baseline();
        let baseline = (!evaluated.beats_baseline()).then(|| Warning::Baseline {
            class: class.to_string(),
            baseline_error,
            error: evaluated.error(),
            on,
        });
        let classes: Vec<String> = evaluated.never_predicted().into_iter().map(|(class, _)| class).collect();
        let never = (!classes.is_empty()).then_some(Warning::NeverPredicted { classes, on });
        baseline.into_iter().chain(never).collect()
    }

    /// Passes it to the observer.
    pub(super) fn emit(&self, observer: &mut dyn Observer) {
        observer.note(Note::Caution(&self.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rare(counts: &[u64]) -> Vec<u64> {
        let names: Vec<String> = (0..counts.len()).map(|class| class.to_string()).collect();
        match Warning::rare_classes(&names, counts) {
            Some(Warning::RareClasses { classes, .. }) => classes.iter().map(|of| of.rows).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn rare_is_few_rows_or_a_small_part() {
        assert_eq!(rare(&[50, 50]), [0; 0]);
        assert_eq!(rare(&[10, 90]), [0; 0]);
        assert_eq!(rare(&[9, 90]), [9]);
        assert_eq!(rare(&[9, 11]), [0; 0]);
        assert_eq!(rare(&[10_000, 99]), [99]);
        assert_eq!(rare(&[10_000, 110]), [0; 0]);
        // Among a hundred classes, one row in two hundred is no less than usual.
        assert_eq!(rare(&[100; 100]), [0; 0]);
        assert_eq!(rare(&[100, 7, 100, 3, 0]), [3, 7]);
        assert_eq!(rare(&[2, 3]), [0; 0]);
    }

    #[test]
    fn few_rows_are_fewer_than_two_for_each_dimension() {
        assert!(Warning::few_rows(10, 10).is_some());
        assert!(Warning::few_rows(19, 10).is_some());
        assert!(Warning::few_rows(21, 10).is_none());
        let text = Warning::few_rows(10, 10).map(|warning| warning.to_string()).unwrap_or_default();
        assert!(text.contains("separable with any labels"), "{text}");
    }

    #[test]
    fn a_few_equal_rows_are_usual() {
        assert_eq!(Warning::duplicates(0, 10), None);
        assert_eq!(Warning::duplicates(4, 100), None);
        assert!(Warning::duplicates(5, 100).is_some());
    }
}

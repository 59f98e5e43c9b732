//! The report of how a model does on labelled rows.

use super::Block;
use super::layout::{MAX_LINES, cell, column_width, right_cell};
use super::probability::{self, describe_threshold};
use super::train::cautions;
use crate::classes::ClassPair;
use crate::job::{Evaluated, WhichRows};
use crate::model::{ClassEvaluation, Evaluation, ManyEvaluation};
use crate::numbers::{grouped, percent};
use crate::theory::binomial::{Interval, clopper_pearson};

/// The most columns of a confusion matrix that a terminal can show.
const MAX_COLUMNS: usize = 12;

/// How a model does, for people.
pub fn evaluate_report(evaluated: &Evaluated) -> Vec<Block> {
    let which = evaluated.which_rows();
    let mut blocks = match evaluated {
        Evaluated::Pair { evaluation, classes, baseline_class, .. } => {
            two_sides(evaluation, classes, baseline_class, which)
        }
        Evaluated::Many { evaluation, baseline_class, .. } => many(evaluation, baseline_class, which),
    };
    let mut more = Vec::new();
    if let Evaluated::Pair { threshold: Some(threshold), classes, .. } = evaluated {
        more.push(("Threshold", describe_threshold(threshold, &classes.positive)));
    }
    more.extend(evaluated.probabilities().map(probability::measures).unwrap_or_default());
    if let Some(Block::Facts(facts)) = blocks.first_mut() {
        if let Some(caution) = cautions(&evaluated.warnings()) {
            facts.insert(1, caution);
        }
        facts.extend(more);
    }
    blocks.extend(reliability_table(evaluated, "the rows"));
    blocks
}

/// The reliability table, where the model has probabilities; `rows` says which rows are meant.
pub(super) fn reliability_table(evaluated: &Evaluated, rows: &str) -> Option<Block> {
    let of = match evaluated {
        Evaluated::Pair { classes, .. } => &classes.positive,
        Evaluated::Many { .. } => "the predicted class",
    };
    evaluated.probabilities().map(|found| probability::table(found, of, rows))
}

/// The share of errors on rows that were not learned from: what it is a share of, and its interval.
pub(super) fn measured_error(errors: u64, rows: u64) -> String {
    let Interval { lower, upper } = clopper_pearson(errors, rows);
    format!(
        "{} ({} of {}; 95 % interval {} to {})",
        percent(errors as f64 / rows.max(1) as f64),
        grouped(errors),
        grouped(rows),
        percent_out(lower, f64::floor),
        percent_out(upper, f64::ceil)
    )
}

/// The share of errors on the rows of a file. Of the training rows there is no interval: they tell nothing about others.
fn judged_error(errors: u64, rows: u64, which: WhichRows) -> String {
    let which = match which {
        WhichRows::HeldOut | WhichRows::OfFile => return measured_error(errors, rows),
        WhichRows::Training => "the training rows",
        WhichRows::TrainingAndHeldOut => "the training rows and those that were held out",
    };
    let share = percent(errors as f64 / rows.max(1) as f64);
    format!("{share} ({} of {}) on {which}; not an estimate for new rows", grouped(errors), grouped(rows))
}

/// An end of an interval as a percentage, rounded outwards.
fn percent_out(share: f64, outwards: fn(f64) -> f64) -> String {
    percent(outwards(1e4 * share) / 1e4)
}

/// The error of always predicting the same class.
pub(super) fn baseline(class: &str, error: f64) -> String {
    format!("always predicting \"{class}\": {}", percent(error))
}

/// How a model of two sides does on rows that it was not trained on.
pub fn pair(evaluation: &Evaluation, classes: &ClassPair, baseline_class: &str) -> Vec<Block> {
    two_sides(evaluation, classes, baseline_class, WhichRows::OfFile)
}

/// How a model of two sides does.
fn two_sides(
    evaluation: &Evaluation,
    classes: &ClassPair,
    baseline_class: &str,
    which: WhichRows,
) -> Vec<Block> {
    let (positive, negative) = (&classes.positive, classes.negative_name());
    let error = format!(
        "{}; {}",
        judged_error(evaluation.errors, evaluation.rows, which),
        baseline(baseline_class, evaluation.baseline_error)
    );
    let precision = match evaluation.precision {
        Some(share) => format!("{} of the rows predicted {positive} are correct", percent(share)),
        None => format!("none: no row was predicted {positive}"),
    };
    let f1 = match evaluation.f1 {
        Some(f1) => format!("{f1:.4}"),
        None => format!("none: no row is {positive} or was predicted so"),
    };
    let auc = evaluation.auc.map_or("none: a class is missing".to_string(), |auc| format!("{auc:.4}"));
    let facts = vec![
        ("Error", error),
        ("Balanced", format!("error {}, the mean over both sides", percent(evaluation.balanced_error))),
        ("Precision", precision),
        ("Recall", recalls(evaluation, positive, &negative)),
        ("F1", f1),
        ("AUC", auc),
    ];
    vec![Block::Facts(facts), Block::text(pair_matrix("the rows", evaluation, classes))]
}

/// How much of each side was found.
pub(super) fn recalls(evaluation: &Evaluation, positive: &str, negative: &str) -> String {
    let found = |share: f64, side: &str| format!("{} of {side}", percent(share));
    match (evaluation.recall, evaluation.negative_recall) {
        (Some(yes), Some(no)) => format!("{} and {} found", found(yes, positive), found(no, negative)),
        (Some(yes), None) => format!("{} found; no row is {negative}", found(yes, positive)),
        (None, Some(no)) => format!("{} found; no row is {positive}", found(no, negative)),
        (None, None) => "none: there are no rows".to_string(),
    }
}

/// The confusion matrix of two sides; `of` says of which rows.
pub(super) fn pair_matrix(of: &str, evaluation: &Evaluation, classes: &ClassPair) -> String {
    let names = [classes.negative_name(), classes.positive.clone()];
    let counts = [
        vec![evaluation.true_negatives, evaluation.false_positives],
        vec![evaluation.false_negatives, evaluation.true_positives],
    ];
    matrix(of, &names, &counts, 24)
}

/// A confusion matrix with the share of each class that was found. `of` says of which rows; `widest` bounds the columns.
pub(super) fn matrix(of: &str, names: &[String], counts: &[Vec<u64>], widest: usize) -> String {
    let names = || names.iter().map(String::as_str);
    let width = column_width(names(), 5, 24);
    let largest = counts.iter().flatten().max().map_or(0, |&count| grouped(count).len());
    let column = column_width(names(), 4, widest).max(largest);
    let mut text = format!("\nConfusion matrix of {of}; each line is a true class:\n  {:<width$}", "");
    for class in names() {
        text.push_str(&format!("  {}", right_cell(class, column)));
    }
    text.push_str(&format!("  {:>9}\n", "found"));
    for (place, (class, counts)) in names().zip(counts).enumerate() {
        text.push_str(&format!("  {}", cell(class, width)));
        for &count in counts {
            text.push_str(&format!("  {:>column$}", grouped(count)));
        }
        let rows: u64 = counts.iter().sum();
        let found =
            if rows > 0 { percent(counts[place] as f64 / rows as f64) } else { "no rows".to_string() };
        text.push_str(&format!("  {found:>9}\n"));
    }
    text
}

/// All classes in their order, or, where a table would be endless, those with the lowest F1, lowest first.
fn most_wrong(classes: &[ClassEvaluation]) -> Vec<&ClassEvaluation> {
    let mut shown: Vec<&ClassEvaluation> = classes.iter().collect();
    if shown.len() > MAX_LINES {
        shown.sort_by(|a, b| a.f1.unwrap_or(f64::MAX).total_cmp(&b.f1.unwrap_or(f64::MAX)));
        shown.truncate(MAX_LINES);
    }
    shown
}

/// How a model of many classes does.
fn many(evaluation: &ManyEvaluation, baseline_class: &str, which: WhichRows) -> Vec<Block> {
    let share = |share: Option<f64>| share.map_or("none".to_string(), percent);
    let names = || evaluation.classes.iter().map(|class| class.class.as_str());
    let width = column_width(names(), 5, 24);
    let f1 = evaluation.macro_f1.map_or("none".to_string(), |f1| format!("{f1:.4}, mean of the classes"));
    let error = format!(
        "{}; {}",
        judged_error(evaluation.errors, evaluation.rows, which),
        baseline(baseline_class, evaluation.baseline_error)
    );
    let facts = vec![
        ("Error", error),
        ("Balanced", format!("error {}, the mean over the classes", percent(evaluation.balanced_error))),
        ("F1", f1),
    ];
    let mut text = format!(
        "\n  {:<width$}  {:>10}  {:>10}  {:>10}  {:>8}\n",
        "class", "rows", "precision", "recall", "F1"
    );
    let shown = most_wrong(&evaluation.classes);
    for class in &shown {
        text.push_str(&format!(
            "  {}  {:>10}  {:>10}  {:>10}  {:>8}\n",
            cell(&class.class, width),
            grouped(class.rows),
            share(class.precision),
            share(class.recall),
            class.f1.map_or("none".to_string(), |f1| format!("{f1:.4}"))
        ));
    }
    if shown.len() < evaluation.classes.len() {
        text.push_str(&format!(
            "  … and {} more classes, none of which has a lower F1; the JSON record has all\n",
            grouped((evaluation.classes.len() - shown.len()) as u64)
        ));
    }
    if evaluation.classes.len() <= MAX_COLUMNS {
        let names: Vec<String> = names().map(str::to_string).collect();
        text.push_str(&matrix("the rows", &names, &evaluation.confusion, 10));
    }
    vec![Block::Facts(facts), Block::Text(text)]
}

//! The report of how a model does on labelled rows.

use super::Block;
use super::layout::{MOST_LINES, cell, column_width, columns, right_cell};
use crate::classes::ClassPair;
use crate::job::Evaluated;
use crate::model::{ClassEvaluation, Evaluation, ManyEvaluation};
use crate::numbers::{grouped, percent};

/// The most columns of a confusion matrix that a terminal can show.
const MOST_COLUMNS: usize = 12;

/// How a model does, for people.
pub fn evaluate_report(evaluated: &Evaluated) -> Vec<Block> {
    match evaluated {
        Evaluated::Pair { evaluation, classes, .. } => pair(evaluation, classes),
        Evaluated::Many { evaluation, .. } => many(evaluation),
    }
}

/// The share of errors, with what it is a share of.
fn error(share: f64, errors: u64, rows: u64) -> String {
    format!("{} ({} of {})", percent(share), grouped(errors), grouped(rows))
}

/// How a model of two sides does.
pub fn pair(evaluation: &Evaluation, classes: &ClassPair) -> Vec<Block> {
    let (positive, negative) = (&classes.positive, classes.negative_name());
    let precision = match evaluation.precision {
        Some(share) => format!("{} of those called {positive} are", percent(share)),
        None => format!("none: no row was called {positive}"),
    };
    let recall = match evaluation.recall {
        Some(share) => format!("{} of the {positive} are found", percent(share)),
        None => format!("none: no row is {positive}"),
    };
    let f1 = match evaluation.f1 {
        Some(f1) => format!("{f1:.4}"),
        None => format!("none: no row is {positive} or was called so"),
    };
    let auc = evaluation.auc.map_or("none: a class is missing".to_string(), |auc| format!("{auc:.4}"));
    let facts = vec![
        ("Error", error(evaluation.error, evaluation.errors, evaluation.rows)),
        ("Precision", precision),
        ("Recall", recall),
        ("F1", f1),
        ("AUC", auc),
    ];
    let width = columns(positive).max(columns(&negative)).max(9);
    let row = |name: &str, a: String, b: String| {
        format!("  {}  {}  {}\n", cell(name, width), right_cell(&a, width), right_cell(&b, width))
    };
    let counts = |a: u64, b: u64| (grouped(a), grouped(b));
    let (true_negatives, false_positives) = counts(evaluation.true_negatives, evaluation.false_positives);
    let (false_negatives, true_positives) = counts(evaluation.false_negatives, evaluation.true_positives);
    let matrix = row("", negative.clone(), positive.clone())
        + &row(&negative, true_negatives, false_positives)
        + &row(positive, false_negatives, true_positives);
    vec![Block::Facts(facts), Block::text(format!("\nConfusion matrix, rows are the truth:\n{matrix}"))]
}

/// All classes in their order, or, where a table would be endless, those with the lowest F1, lowest first.
fn most_wrong(classes: &[ClassEvaluation]) -> Vec<&ClassEvaluation> {
    let mut shown: Vec<&ClassEvaluation> = classes.iter().collect();
    if shown.len() > MOST_LINES {
        shown.sort_by(|a, b| a.f1.unwrap_or(f64::MAX).total_cmp(&b.f1.unwrap_or(f64::MAX)));
        shown.truncate(MOST_LINES);
    }
    shown
}

/// How a model of many classes does.
fn many(evaluation: &ManyEvaluation) -> Vec<Block> {
    let share = |share: Option<f64>| share.map_or("none".to_string(), percent);
    let names = || evaluation.classes.iter().map(|class| class.class.as_str());
    let width = column_width(names(), 5, 24);
    let f1 = evaluation.macro_f1.map_or("none".to_string(), |f1| format!("{f1:.4}, mean of the classes"));
    let facts = vec![("Error", error(evaluation.error, evaluation.errors, evaluation.rows)), ("F1", f1)];
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
    if evaluation.classes.len() <= MOST_COLUMNS {
        let column = column_width(names(), 4, 10).max(grouped(evaluation.rows).len());
        text.push_str(&format!("\nConfusion matrix, rows are the truth:\n  {:<width$}", ""));
        for class in names() {
            text.push_str(&format!("  {}", right_cell(class, column)));
        }
        text.push('\n');
        for (class, counts) in names().zip(&evaluation.confusion) {
            text.push_str(&format!("  {}", cell(class, width)));
            for &count in counts {
                text.push_str(&format!("  {:>column$}", grouped(count)));
            }
            text.push('\n');
        }
    }
    vec![Block::Facts(facts), Block::Text(text)]
}

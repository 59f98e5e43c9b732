//! `linsep evaluate`

use super::predict::{not_finite, predict_batch};
use super::{
    data_source, load_model, print_json, print_result, read_options, report_lines, shortened, tell_notes,
};
use crate::args::EvaluateArgs;
use crate::console::{self, Console, Watch};
use crate::exit::Exit;
use anyhow::bail;
use linsep::classes::{ClassPair, Classes};
use linsep::model::{Evaluation, ManyEvaluation, Predictor, evaluate, evaluate_many};
use linsep::numbers;
use linsep::observe::{Observer, Progress};
use linsep::read::RowStream;
use serde::Serialize;

/// The record that `--json` prints.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    classes: &'a ClassPair,
    skipped_rows: u64,
}

/// The same for many classes.
#[derive(Serialize)]
struct ManyRecord<'a> {
    #[serde(flatten)]
    evaluation: &'a ManyEvaluation,
    skipped_rows: u64,
}

pub(crate) fn run(args: &EvaluateArgs, console: Console) -> anyhow::Result<Exit> {
    let model = load_model(&args.model)?;
    let mut options = read_options(&args.read);
    options.schema = Some(model.schema.clone());
    let mut stream = RowStream::open(&data_source(&args.data), &options)?;
    let mut watch = Watch::new(console);
    let (mut scores, mut found, mut truth, mut unknown) = (Vec::new(), Vec::new(), Vec::new(), 0u64);
    let predictor = Predictor::new(&model);
    while let Some(batch) = stream.next_batch()? {
        let outcomes: Vec<Option<usize>> =
            stream.label_names().iter().map(|name| model.classes.outcome_of(name)).collect();
        for (i, prediction) in predict_batch(&predictor, &batch).into_iter().enumerate() {
            if !prediction.score.is_finite() {
                let row = (scores.len() + i) as u64 + 1;
                return Err(not_finite(stream.name(), batch.line(i).unwrap_or(row)));
            }
            match outcomes[batch.label(i) as usize] {
                Some(outcome) => {
                    scores.push(prediction.score);
                    found.push(prediction.outcome);
                    truth.push(outcome);
                }
                None if args.read.skip_bad => unknown += 1,
                None => {
                    let label = &stream.label_names()[batch.label(i) as usize];
                    let place = batch.line(i).map_or(String::new(), |line| format!(":{line}"));
                    bail!(
                        "{}{place}: the label \"{label}\" is not among the model's classes ({}); skip such rows with --skip-bad",
                        stream.name(),
                        model.classes.known().join(", ")
                    );
                }
            }
        }
        let (bytes, total) = stream.bytes();
        if watch.progress(&Progress::Reading { bytes, total, rows: scores.len() as u64 }).is_break() {
            return Err(linsep::Error::Interrupted.into());
        }
    }
    watch.end()?;
    // A stream that the user ended is not the whole: judging a part of it would mislead.
    if console::interrupted() {
        return Err(linsep::Error::Interrupted.into());
    }
    if scores.is_empty() && unknown > 0 {
        bail!(
            "{}: none of its {} has a label that the model knows ({}); the first is \"{}\"",
            stream.name(),
            numbers::counted(unknown, "row", "rows"),
            model.classes.known().join(", "),
            stream.label_names().first().map_or("", String::as_str)
        );
    }
    if scores.is_empty() {
        return Err(stream.no_rows().into());
    }
    let notes = stream.notes();
    tell_notes(console, &notes);
    if unknown > 0 {
        console.warn(&format!(
            "{} skipped",
            numbers::counted(
                unknown,
                "row with a label that the model does not know was",
                "rows with labels that the model does not know were"
            )
        ));
    }
    let skipped_rows = notes.skipped + unknown;
    match &model.classes {
        Classes::Pair(pair) => {
            let signs: Vec<i8> = truth.iter().map(|&outcome| if outcome == 1 { 1 } else { -1 }).collect();
            let evaluation = evaluate(&scores, &signs);
            if args.json {
                return print_json(&Record { evaluation: &evaluation, classes: pair, skipped_rows });
            }
            print_result(|out| out.write_all(to_text(&evaluation, pair).as_bytes()))
        }
        Classes::Each { names } => {
            let evaluation = evaluate_many(&found, &truth, names);
            if args.json {
                return print_json(&ManyRecord { evaluation: &evaluation, skipped_rows });
            }
            print_result(|out| out.write_all(many_to_text(&evaluation).as_bytes()))
        }
    }
}

/// The share of errors, with what it is a share of.
fn error_line(error: f64, errors: u64, rows: u64) -> String {
    format!("{} ({} of {})", numbers::percent(error), numbers::grouped(errors), numbers::grouped(rows))
}

/// The report for people, on many classes.
fn many_to_text(evaluation: &ManyEvaluation) -> String {
    let share = |share: Option<f64>| share.map_or("none".to_string(), numbers::percent);
    let width =
        evaluation.classes.iter().map(|class| class.class.chars().count()).max().unwrap_or(0).clamp(5, 24);
    let mut text = report_lines(&[
        ("Error", error_line(evaluation.error, evaluation.errors, evaluation.rows)),
        ("F1", evaluation.macro_f1.map_or("none".to_string(), |f1| format!("{f1:.4}, mean of the classes"))),
    ]);
    text.push_str(&format!(
        "\n  {:<width$}  {:>10}  {:>10}  {:>10}  {:>8}\n",
        "class", "rows", "precision", "recall", "F1"
    ));
    for class in &evaluation.classes {
        text.push_str(&format!(
            "  {:<width$}  {:>10}  {:>10}  {:>10}  {:>8}\n",
            shortened(&class.class, width),
            numbers::grouped(class.rows),
            share(class.precision),
            share(class.recall),
            class.f1.map_or("none".to_string(), |f1| format!("{f1:.4}"))
        ));
    }
    // What a terminal can show; --json has it whole.
    const MOST_COLUMNS: usize = 12;
    if evaluation.classes.len() <= MOST_COLUMNS {
        let digits = numbers::grouped(evaluation.rows).len();
        let names = evaluation.classes.iter().map(|class| class.class.chars().count());
        let column = names.max().unwrap_or(0).clamp(4, 10).max(digits);
        text.push_str("\nConfusion matrix, rows are the truth:\n");
        text.push_str(&format!("  {:<width$}", ""));
        for class in &evaluation.classes {
            text.push_str(&format!("  {:>column$}", shortened(&class.class, column)));
        }
        text.push('\n');
        for (class, counts) in evaluation.classes.iter().zip(&evaluation.confusion) {
            text.push_str(&format!("  {:<width$}", shortened(&class.class, width)));
            for &count in counts {
                text.push_str(&format!("  {:>column$}", numbers::grouped(count)));
            }
            text.push('\n');
        }
    }
    text
}

/// The report for people.
pub(super) fn to_text(evaluation: &Evaluation, classes: &ClassPair) -> String {
    let (positive, negative) = (&classes.positive, classes.negative_name());
    let width = positive.chars().count().max(negative.chars().count()).max(9);
    let row = |name: &str, a: String, b: String| format!("{name:<width$}  {a:>width$}  {b:>width$}");
    let mut text = report_lines(&[
        ("Error", error_line(evaluation.error, evaluation.errors, evaluation.rows)),
        (
            "Precision",
            evaluation.precision.map_or(format!("none: no row was called {positive}"), |share| {
                format!("{} of those called {positive} are", numbers::percent(share))
            }),
        ),
        (
            "Recall",
            evaluation.recall.map_or(format!("none: no row is {positive}"), |share| {
                format!("{} of the {positive} are found", numbers::percent(share))
            }),
        ),
        (
            "F1",
            evaluation
                .f1
                .map_or(format!("none: no row is {positive} or was called so"), |f1| format!("{f1:.4}")),
        ),
        ("AUC", evaluation.auc.map_or("none: a class is missing".to_string(), |auc| format!("{auc:.4}"))),
    ]);
    text.push_str("\nConfusion matrix, rows are the truth:\n");
    for line in [
        row("", negative.clone(), positive.clone()),
        row(
            &negative,
            numbers::grouped(evaluation.true_negatives),
            numbers::grouped(evaluation.false_positives),
        ),
        row(
            positive,
            numbers::grouped(evaluation.false_negatives),
            numbers::grouped(evaluation.true_positives),
        ),
    ] {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

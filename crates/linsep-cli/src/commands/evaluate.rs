//! `linsep evaluate`

use super::predict::{not_finite, predict_batch};
use super::{data_source, load_model, print_json, print_result, read_options, report_lines, tell_notes};
use crate::args::EvaluateArgs;
use crate::console::{self, Console, Watch};
use crate::exit::Exit;
use anyhow::bail;
use linsep::Model;
use linsep::model::{Evaluation, evaluate};
use linsep::observe::{Observer, Progress};
use linsep::read::RowStream;
use linsep::report;
use serde::Serialize;

/// The record that `--json` prints.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    classes: &'a linsep::classes::ClassPair,
    skipped_rows: u64,
}

pub(crate) fn run(args: &EvaluateArgs, console: Console) -> anyhow::Result<Exit> {
    let model = load_model(&args.model)?;
    let mut options = read_options(&args.read);
    options.schema = Some(model.schema.clone());
    let mut stream = RowStream::open(&data_source(&args.data), &options)?;
    let mut watch = Watch::new(console);
    let (mut scores, mut signs, mut unknown) = (Vec::new(), Vec::new(), 0u64);
    while let Some(batch) = stream.next_batch()? {
        let class_signs: Vec<Option<i8>> =
            stream.label_names().iter().map(|name| model.classes.sign_of(name)).collect();
        for (i, prediction) in predict_batch(&model, &batch).into_iter().enumerate() {
            if !prediction.score.is_finite() {
                let row = (scores.len() + i) as u64 + 1;
                return Err(not_finite(stream.name(), batch.line(i).unwrap_or(row)));
            }
            match class_signs[batch.label(i) as usize] {
                Some(sign) => {
                    scores.push(prediction.score);
                    signs.push(sign);
                }
                None if args.read.skip_bad => unknown += 1,
                None => {
                    let label = &stream.label_names()[batch.label(i) as usize];
                    let place = batch.line(i).map_or(String::new(), |line| format!(":{line}"));
                    bail!(
                        "{}{place}: the label \"{label}\" is not among the model's classes ({}); skip such rows with --skip-bad",
                        stream.name(),
                        known_classes(&model)
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
            report::counted(unknown, "row", "rows"),
            known_classes(&model),
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
            report::counted(
                unknown,
                "row with a label that the model does not know was",
                "rows with labels that the model does not know were"
            )
        ));
    }
    let evaluation = evaluate(&scores, &signs);
    if args.json {
        return print_json(&Record {
            evaluation: &evaluation,
            classes: &model.classes,
            skipped_rows: notes.skipped + unknown,
        });
    }
    print_result(|out| out.write_all(to_text(&evaluation, &model).as_bytes()))
}

fn known_classes(model: &Model) -> String {
    let mut names = model.classes.negative.clone();
    names.push(model.classes.positive.clone());
    names.join(", ")
}

/// The report for people.
pub(super) fn to_text(evaluation: &Evaluation, model: &Model) -> String {
    let (positive, negative) = (&model.classes.positive, model.classes.negative_name());
    let width = positive.chars().count().max(negative.chars().count()).max(9);
    let row = |name: &str, a: String, b: String| format!("{name:<width$}  {a:>width$}  {b:>width$}");
    let mut text = report_lines(&[
        (
            "Error",
            format!(
                "{} ({} of {})",
                report::percent(evaluation.error),
                report::grouped(evaluation.errors),
                report::grouped(evaluation.rows)
            ),
        ),
        (
            "Precision",
            evaluation.precision.map_or(format!("none: no row was called {positive}"), |share| {
                format!("{} of those called {positive} are", report::percent(share))
            }),
        ),
        (
            "Recall",
            evaluation.recall.map_or(format!("none: no row is {positive}"), |share| {
                format!("{} of the {positive} are found", report::percent(share))
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
            report::grouped(evaluation.true_negatives),
            report::grouped(evaluation.false_positives),
        ),
        row(
            positive,
            report::grouped(evaluation.false_negatives),
            report::grouped(evaluation.true_positives),
        ),
    ] {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

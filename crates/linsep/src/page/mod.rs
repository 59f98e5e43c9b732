//! A page about a data set, to be sent to a colleague: one HTML file without scripts that needs nothing from elsewhere.
//!
//! It shows what [`Findings`] hold: the texts are those of the other [reports](crate::report), the figures
//! those of [`chart`].

mod html;

pub use html::Spelling;

use crate::chart;
use crate::classes::shortened;
use crate::features::{ColumnKind, Missing, Scaler, Schema};
use crate::job::{
    DataFigures, Findings, JudgedRow, SeparateSpec, SeparationTasks, Spec, TrainSpec, WhichRows,
};
use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::report::{
    Block, describe_best, describe_bound, describe_end, describe_margin, describe_settings, evaluate_report,
    separate_report,
};
use crate::separate::Verdict;
use crate::theory::binomial::Interval;
use html::Page;

/// The most mistakes, features and classes that are listed.
const MAX_MISTAKES: usize = 20;
const MAX_FEATURES: usize = 40;
const MAX_CLASSES: usize = 60;
/// Columns whose missing cells are counted by name.
const MAX_GAPS: usize = 6;
const TOP_WEIGHTS: usize = 15;
const TOP_EFFECTS: usize = 9;
/// Of many classes, those whose weights are shown.
const MAX_WEIGHED: usize = 6;

/// The page as HTML.
pub fn html(findings: &Findings, spelling: &Spelling<'_>) -> String {
    let mut page = Page::new(spelling);
    let source = chart::file_name(&findings.data.source);
    in_short(&mut page, findings);
    data(&mut page, findings);
    learners(&mut page, findings);
    quality(&mut page, findings);
    model(&mut page, findings);
    mistakes(&mut page, findings);
    verdict(&mut page, findings);
    proof(&mut page, findings);
    reproduce(&mut page, findings, spelling);
    let (title, what) = match &findings.spec.model {
        Some(path) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            (format!("{name} on {source}"), "Evaluation of a model on labelled rows")
        }
        None => (source.to_string(), "A classifier for labelled rows, and the evidence for it"),
    };
    page.finish(&title, &format!("{what}. Made by linsep {}.", env!("CARGO_PKG_VERSION")))
}

/// The answers first.
fn in_short(page: &mut Page<'_>, findings: &Findings) {
    page.section("short", "In short");
    let judged = &findings.judged;
    let (class, baseline) = judged.evaluated.baseline();
    let mut lines = Vec::new();
    let rows = grouped(judged.evaluated.rows());
    let Interval { lower, upper } = judged.evaluated.error_interval();
    let interval = format!(
        "95 % interval {} to {}",
        percent((1e4 * lower).floor() / 1e4),
        percent((1e4 * upper).ceil() / 1e4)
    );
    let of = match judged.which {
        WhichRows::HeldOut => format!("{rows} held-out rows, which it was not trained on ({interval})"),
        WhichRows::Training => {
            "the rows that it was trained on, which is no estimate for new rows".to_string()
        }
        WhichRows::TrainingAndHeldOut => {
            "the rows that it was trained on together with those that were held out, which is no estimate \
             for new rows"
                .to_string()
        }
        WhichRows::OfFile => {
            format!("{rows} rows of this file ({interval}, valid only if it was trained on none of them)")
        }
    };
    lines.push(format!(
        "{} errs on {} of {of}; always predicting “{class}” errs on {}.",
        judged.model.settings.learner.name(),
        percent(judged.evaluated.error()),
        percent(baseline)
    ));
    if let Some(comparison) = &findings.comparison
        && let (Some(words), Some(best)) = (describe_best(comparison), comparison.best().first())
        && let (Some(value), Some(spread)) = (best.value, best.value_error)
    {
        let words = format!("Compared on rows held out in turn: {words}");
        lines.push(format!("{words}, {} ± {}.", percent(value), percent(spread)));
    }
    lines.push(verdict_in_short(findings));
    page.list("short", &lines);
    let warnings = match &judged.trained {
        Some(trained) => trained.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        None => judged.evaluated.warnings().iter().map(ToString::to_string).collect(),
    };
    if !warnings.is_empty() {
        page.heading("Warnings");
        page.list("warnings", &warnings);
    }
}

/// The text in place of a verdict.
const ONE_CLASS: &str = "All rows have the same class: there is nothing to separate.";

/// How many rows there are, and of how many rows of the file.
fn rows_of(data: &DataFigures) -> String {
    match data.rows_of_file {
        Some(own) if own == data.rows => format!("{}, weighted", grouped(own)),
        Some(own) => format!(
            "{}, counted with their weights: {} in the file",
            grouped(data.rows),
            counted(own, "row", "rows")
        ),
        None => grouped(data.rows),
    }
}

fn verdict_in_short(findings: &Findings) -> String {
    let Some(separated) = &findings.separated else { return ONE_CLASS.to_string() };
    if let (SeparationTasks::Two, [decided]) = (separated.sides, separated.decided.as_slice()) {
        let margin = &decided.separation.margin;
        return match decided.separation.verdict {
            Verdict::Complete => format!(
                "The classes are proved to be completely separable: the best margin is between {} and {}, \
                 in the units of the file.",
                rounded(margin.lower.unwrap_or(0.0), Rounding::Down),
                rounded(margin.upper, Rounding::Up)
            ),
            Verdict::QuasiComplete => {
                "The classes are proved to be quasi-completely separable: every boundary without a row on \
                 its wrong side goes through some rows."
                    .to_string()
            }
            Verdict::Overlap => format!(
                "The classes are proved not to be separable: {} cannot all be on their right sides.",
                counted(decided.separation.witness.len() as u64, "row", "rows")
            ),
            Verdict::Undecided => "Whether a boundary separates the classes was not decided within the time \
                                   limit."
                .to_string(),
        };
    }
    let count =
        separated.decided.iter().filter(|decided| decided.separation.verdict == Verdict::Complete).count();
    format!(
        "Of {} classes, {} are proved to be completely separable from the rest.",
        grouped(separated.decided.len() as u64),
        grouped(count as u64)
    )
}

fn data(page: &mut Page<'_>, findings: &Findings) {
    let data = &findings.data;
    page.section("data", "The data");
    let mut facts = vec![
        ("Source", format!("{} ({})", data.source, data.format)),
        ("Rows", rows_of(data)),
        (
            "Features",
            format!("{}, {} not zero", grouped(data.features), counted(data.nonzeros, "value", "values")),
        ),
    ];
    facts.extend(missing_cells(findings).map(|cells| ("Missing", cells)));
    for (name, count, what) in [
        ("Left out", data.dropped, "rows with missing cells or labels"),
        ("Skipped", data.skipped, "malformed rows"),
    ] {
        if count > 0 {
            facts.push((name, format!("{} {what}", grouped(count))));
        }
    }
    page.facts(&facts);
    let share = |count: u64| percent(count as f64 / data.rows.max(1) as f64);
    let classes: Vec<Vec<String>> = data
        .classes
        .iter()
        .take(MAX_CLASSES)
        .map(|(name, count)| vec![name.clone(), grouped(*count), share(*count)])
        .collect();
    let caption = match data.classes.len() > MAX_CLASSES {
        true => format!("The first {MAX_CLASSES} of {} classes", grouped(data.classes.len() as u64)),
        false => "The classes".to_string(),
    };
    page.table(&caption, &["class", "rows", "share"], &[1, 2], &classes);
    let shown = data.columns.len().min(MAX_FEATURES);
    let rows: Vec<Vec<String>> = data.columns[..shown]
        .iter()
        .map(|column| {
            vec![
                column.name.clone(),
                number(column.least),
                number(column.mean),
                number(column.greatest),
                share(column.nonzero),
            ]
        })
        .collect();
    let caption = match (shown as u64) < data.features {
        true => format!("The first {shown} of {} features", grouped(data.features)),
        false => "The features".to_string(),
    };
    page.table(&caption, &["feature", "least", "mean", "greatest", "not zero"], &[1, 2, 3, 4], &rows);
}

/// How many cells are missing in which columns, and what becomes of them.
fn missing_cells(findings: &Findings) -> Option<String> {
    let mut columns: Vec<&(String, u64)> = findings.data.missing.iter().collect();
    columns.sort_by_key(|(_, cells)| std::cmp::Reverse(*cells));
    let all: u64 = columns.iter().map(|(_, cells)| cells).sum();
    let named = columns.iter().take(MAX_GAPS).map(|(name, cells)| format!("{} in “{name}”", grouped(*cells)));
    let mut parts: Vec<String> = named.collect();
    if columns.is_empty() {
        return None;
    }
    if let Some(others) = columns.get(MAX_GAPS..).filter(|others| !others.is_empty()) {
        let cells = grouped(others.iter().map(|(_, cells)| cells).sum());
        parts.push(format!("{cells} in {}", counted(others.len() as u64, "more column", "more columns")));
    }
    let cells = format!("{}: {}", counted(all, "cell", "cells"), parts.join(", "));
    let became = match findings.data.treated {
        None if findings.spec.model.is_some() => {
            "they are filled in as the model was trained to do".to_string()
        }
        None => return Some(cells),
        Some(Missing::Zero) => became(findings, &columns, "zero"),
        Some(_) => became(findings, &columns, "the mean of its column"),
    };
    Some(if became.is_empty() { cells } else { format!("{cells}; {became}") })
}

/// How the model treats missing cells in these columns, where a number becomes `number`. Only where several cells of a
/// column are missing does it have a feature for that.
fn became(findings: &Findings, columns: &[&(String, u64)], number: &str) -> String {
    let Schema::Table { columns: known, .. } = &findings.judged.model.recipe.columns else {
        return String::new();
    };
    // Each with whether it has a feature for missing cells.
    let (mut numbers, mut words) = (Vec::new(), Vec::new());
    for column in known.iter().filter(|of| columns.iter().any(|(name, _)| *name == of.name)) {
        match &column.kind {
            ColumnKind::Number(own) => numbers.push((&column.name, own.gap.is_some())),
            ColumnKind::Words(own) => words.push((&column.name, own.knows_missing())),
            _ => {}
        }
    }
    let in_those = |all: &[(&String, bool)], has_feature: bool, what: &str| {
        let such = all.iter().filter(|(_, own)| *own == has_feature);
        let names: Vec<String> = such.map(|(name, _)| format!("“{name}”")).collect();
        match names.len() {
            0 => None,
            count if count == all.len() => Some(what.to_string()),
            count => Some(format!("in {} {what}", shortened(&names, count, ", "))),
        }
    };
    let parts = [
        (!numbers.is_empty()).then(|| format!("a missing number becomes {number}")),
        in_those(&numbers, true, "an additional feature marks it as missing"),
        in_those(&words, true, "a missing word is a category of its own"),
        in_those(&words, false, "a missing word is left without a category"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn learners(page: &mut Page<'_>, findings: &Findings) {
    let Some(comparison) = &findings.comparison else { return };
    page.section("learners", "Comparison of learners");
    page.paragraph(
        "Every row was held out once. Each learner has its default settings; the baseline always predicts \
         the most frequent class.",
    );
    page.figure(&chart::compare(&findings.data.source, comparison));
    let share = |share: Option<f64>| share.map_or("none".to_string(), percent);
    let rows: Vec<Vec<String>> = comparison
        .learners
        .iter()
        .map(|entry| {
            vec![
                entry.label.clone(),
                share(entry.value),
                share(entry.value_error),
                share(entry.training_error),
                grouped(entry.updates),
                if entry.converged { "yes" } else { "no" }.to_string(),
            ]
        })
        .collect();
    let head = ["learner", "held-out error", "standard error", "training error", "updates", "converged"];
    page.table("The same in numbers", &head, &[1, 2, 3, 4], &rows);
}

fn quality(page: &mut Page<'_>, findings: &Findings) {
    let judged = &findings.judged;
    let source = &findings.data.source;
    page.section("quality", "How good the model is");
    page.paragraph(&format!(
        "Evaluated on {} {}.",
        grouped(judged.evaluated.rows()),
        match judged.which {
            WhichRows::HeldOut => "rows that were held out from training",
            WhichRows::Training => "rows that it was trained on: this is no estimate for new rows",
            WhichRows::TrainingAndHeldOut => {
                "rows, some used for training and some held out: this is no estimate for new rows"
            }
            WhichRows::OfFile => {
                "rows of this file. If it was trained on some of them, its error on new rows is probably higher"
            }
        }
    ));
    page.blocks(&evaluate_report(&judged.evaluated));
    let figures = [
        chart::roc(source, judged.which, &judged.evaluated, &judged.rows),
        chart::calibration(source, judged.which, &judged.evaluated),
    ];
    page.figures(&figures.into_iter().flatten().collect::<Vec<_>>());
}

fn model(page: &mut Page<'_>, findings: &Findings) {
    let judged = &findings.judged;
    let model = &judged.model;
    page.section("model", "The model");
    let mut facts = vec![
        ("Learner", describe_settings(&model.settings)),
        ("Classes", model.classes.describe()),
        ("Result", describe_end(&model.evidence)),
        ("Margin", describe_margin(&model.evidence, &model.recipe)),
    ];
    facts.extend(describe_bound(&model.evidence, &model.settings).map(|bound| ("Bound", bound)));
    page.facts(&facts);
    let name = &findings.data.source;
    let outcomes = if model.classes.pair().is_some() { 1 } else { model.classes.outcomes().len() };
    for outcome in 0..outcomes.min(MAX_WEIGHED) {
        if let Some(figure) = chart::weights(name, model, outcome, TOP_WEIGHTS) {
            page.figure(&figure);
        }
    }
    if outcomes > MAX_WEIGHED {
        page.paragraph(&format!(
            "The weights of the first {MAX_WEIGHED} of {} classes are shown.",
            grouped(outcomes as u64)
        ));
    }
    if !model.recipe.expansion.is_none()
        && let Some(figure) = chart::effects(name, model, 0, TOP_EFFECTS)
    {
        page.figure(&figure);
    }
    if let Some(view) = &judged.view {
        page.heading("All rows of the file, as the model sees them");
        page.figure(&chart::boundary(view));
    }
}

/// The rows that the model is most wrong about.
fn mistakes(page: &mut Page<'_>, findings: &Findings) {
    let judged = &findings.judged;
    page.section("mistakes", "The worst mistakes");
    let names = judged.model.classes.outcomes();
    let mut wrong: Vec<&JudgedRow> = judged.rows.iter().filter(|row| row.found != row.truth).collect();
    // The surest first: by probability where there are some, else by score.
    let sure = |row: &JudgedRow| match (row.probability, judged.model.classes.pair()) {
        (Some(p), Some(_)) => (p - 0.5).abs(),
        (Some(p), None) => p,
        (None, _) => row.score.abs(),
    };
    wrong.sort_by(|a, b| sure(b).total_cmp(&sure(a)).then(a.line.cmp(&b.line)));
    if wrong.is_empty() {
        page.paragraph(&format!(
            "None of the {} {} is predicted wrong.",
            grouped(judged.evaluated.rows()),
            judged.which
        ));
        return;
    }
    page.paragraph(
        "The wrong predictions with the highest confidence first, with their line numbers in the file. \
         Wrong labels in the data are often among them.",
    );
    // Rows with counts stand for several.
    let counts = judged.rows.iter().any(|row| row.times != 1);
    let rows: Vec<Vec<String>> = wrong
        .iter()
        .take(MAX_MISTAKES)
        .map(|row| {
            let probability = row.probability.map(|p| match judged.model.classes.pair() {
                Some(_) => {
                    if row.found == 1 {
                        p
                    } else {
                        1.0 - p
                    }
                }
                None => p,
            });
            let mut cells = vec![
                grouped(row.line),
                names[row.truth].clone(),
                names[row.found].clone(),
                probability.map_or("none".to_string(), percent),
                number(row.score),
            ];
            cells.extend(counts.then(|| grouped(row.times)));
            cells
        })
        .collect();
    let shown = wrong.iter().take(MAX_MISTAKES).map(|row| row.times).sum();
    let caption = format!(
        "{} of {} on {} {}",
        grouped(shown),
        counted(judged.evaluated.errors(), "mistake", "mistakes"),
        grouped(judged.evaluated.rows()),
        judged.which
    );
    let mut head = vec!["line", "is", "predicted", "with probability", "score"];
    head.extend(counts.then_some("times"));
    page.table(&caption, &head, &[0, 3, 4, 5], &rows);
}

/// Where the certificate is: the report of a decision names an option of its own command.
const PROOF: &str = "the independent checker has accepted the certificate, which the last command on this page writes to a file";

fn verdict(page: &mut Page<'_>, findings: &Findings) {
    page.section("separation", "Can a boundary separate the classes?");
    let Some(separated) = &findings.separated else { return page.paragraph(ONE_CLASS) };
    let scaled = findings.judged.model.recipe.scaling != Scaler::None;
    page.paragraph(match scaled {
        true => {
            "This section uses the features as they are in the file. Its margins are in the units of the \
             file; those of the model above are of the scaled features."
        }
        false => "This section uses the features as they are in the file.",
    });
    if let Some(view) = &findings.separation {
        page.figure(&chart::separation(separated, view));
        let mut blocks = separate_report(separated);
        if let Some(Block::Facts(facts)) = blocks.first_mut() {
            let proof = facts.iter_mut().filter(|(name, _)| *name == "Proof");
            proof.for_each(|(_, text)| *text = PROOF.to_string());
        }
        page.blocks(&blocks);
        return;
    }
    let rows: Vec<Vec<String>> = separated
        .decided
        .iter()
        .map(|decided| {
            let found = &decided.separation;
            let verdict = match found.verdict {
                Verdict::Complete => "completely separable".to_string(),
                Verdict::QuasiComplete => "quasi-completely separable".to_string(),
                Verdict::Overlap => {
                    let rows = counted(found.witness.len() as u64, "row", "rows");
                    format!("not separable: {rows} cannot all be on their right sides")
                }
                Verdict::Undecided => "undecided".to_string(),
            };
            let upper = rounded(found.margin.upper, Rounding::Up);
            let margin = match (found.verdict, found.margin.lower) {
                (Verdict::QuasiComplete | Verdict::Overlap, _) => "none".to_string(),
                (_, Some(lower)) => format!("{} to {upper}", rounded(lower, Rounding::Down)),
                (_, None) => format!("at most {upper}"),
            };
            vec![found.classes.positive.clone(), verdict, margin]
        })
        .collect();
    let head = ["class", "against the rest", "best margin"];
    page.table("Each verdict is proved by a certificate that the exact checker accepted", &head, &[2], &rows);
}

fn proof(page: &mut Page<'_>, findings: &Findings) {
    let Some(followed) = &findings.followed else { return };
    page.section("proof", "The convergence proof on this data");
    page.paragraph(
        "A perceptron was trained on all rows, and each of its mistakes recorded. The figure compares them \
         with what the convergence theorem guarantees.",
    );
    page.figure(&chart::trace(&findings.data.source, &followed.trace, &followed.model.evidence));
    let (evidence, settings) = (&followed.model.evidence, &followed.model.settings);
    let mut facts = vec![
        ("Result", describe_end(evidence)),
        ("Margin", describe_margin(evidence, &followed.model.recipe)),
    ];
    facts.extend(describe_bound(evidence, settings).map(|bound| ("Bound", bound)));
    page.facts(&facts);
}

fn reproduce(page: &mut Page<'_>, findings: &Findings, spelling: &Spelling<'_>) {
    page.section("again", "How to reproduce this report");
    let mut facts = vec![
        ("Program", format!("linsep {}", env!("CARGO_PKG_VERSION"))),
        ("Data", format!("{}, fingerprint {}", findings.data.source, findings.data.fingerprint)),
    ];
    if let Some(fingerprint) =
        findings.judged.model.fingerprint.as_ref().filter(|own| **own != findings.data.fingerprint)
    {
        facts.push(("Trained on", format!("rows with the fingerprint {fingerprint}")));
    }
    page.facts(&facts);
    if let Some(Ok(spec)) = TrainSpec::from_model(&findings.judged.model) {
        let spec = Spec::Train(Box::new(spec));
        #[cfg(feature = "toml")]
        let text = spec.to_toml().ok();
        #[cfg(not(feature = "toml"))]
        let text = serde_json::to_string_pretty(&spec).ok();
        page.paragraph(
            "To train the model again, save this specification as FILE and run linsep train --spec FILE:",
        );
        if let Some(text) = text {
            page.lines(&text);
        }
    }
    let commands: Vec<String> = [
        findings.followed.as_ref().map(|followed| Spec::Train(Box::new(followed.spec.clone()))),
        findings.separated.as_ref().map(|separated| {
            let output = (separated.sides == SeparationTasks::Two).then(|| "CERTIFICATE".into());
            Spec::Separate(SeparateSpec { output, ..separated.spec.clone() })
        }),
    ]
    .into_iter()
    .flatten()
    .map(|spec| (spelling.command)(&spec))
    .filter(|command| !command.is_empty())
    .collect();
    if !commands.is_empty() {
        page.paragraph(if findings.followed.is_some() {
            "To repeat the proof and the verdict:"
        } else {
            "To repeat the verdict:"
        });
        page.lines(&commands.join("\n"));
    }
}

/// A number with six digits at most.
fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".to_string();
    }
    if !(1e-4..1e9).contains(&x.abs()) {
        return format!("{x:.3e}");
    }
    let decimals = (5 - libm::log10(x.abs()).floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_string()
}

//! The report of a search.

use super::{Block, TrainRecord, train_report};
use crate::features::{Features, Scaling};
use crate::job::TunedModel;
use crate::metric::Metric;
use crate::numbers::{counted, grouped, percent};
use crate::tune::{Ended, Estimate, Judging, Tried, Tuned};
use serde::Serialize;
use std::fmt::Write;

/// One line for each candidate and all about the chosen one, for programs.
#[derive(Serialize)]
pub struct TuneRecord<'a> {
    /// By what candidates were judged.
    pub metric: Metric,
    /// The error of always answering the largest class.
    pub baseline_error: f64,
    /// The largest class.
    pub baseline_class: &'a str,
    /// The candidates, the simplest first.
    pub candidates: Vec<CandidateRecord>,
    /// The place of the chosen one among them, from 0.
    pub chosen: usize,
    /// The error on rows that had no part in the search.
    pub estimate: Option<Estimate>,
    /// Why not everything was tried: `time-limit` or `interrupted`.
    pub ended: Option<&'static str>,
    /// Seconds of the search.
    pub seconds: f64,
    /// The record of the training.
    pub model: TrainRecord<'a>,
}

/// One candidate.
#[derive(Serialize)]
pub struct CandidateRecord {
    /// What is made of the columns.
    pub features: Features,
    /// How features are scaled.
    pub scale: Scaling,
    /// The learner.
    pub learner: &'static str,
    /// C, the weight of the loss.
    #[serde(rename = "C")]
    pub c: f64,
    /// The metric on held-out rows.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The share of held-out rows that it predicts wrong.
    pub error: f64,
}

impl<'a> From<&'a TunedModel> for TuneRecord<'a> {
    fn from(found: &'a TunedModel) -> Self {
        let tuned = &found.tuned;
        let candidate = |tried: &Tried| CandidateRecord {
            features: tried.candidate.preparation.features,
            scale: tried.candidate.preparation.scaling,
            learner: tried.candidate.learner.name(),
            c: tried.candidate.c,
            value: tried.value,
            standard_error: tried.standard_error,
            error: tried.error,
        };
        Self {
            metric: tuned.metric,
            baseline_error: tuned.baseline_error,
            baseline_class: &tuned.baseline_class,
            candidates: tuned.tried.iter().map(candidate).collect(),
            chosen: tuned.chosen,
            estimate: tuned.estimate,
            ended: tuned.ended.map(|ended| match ended {
                Ended::TimeLimit => "time-limit",
                Ended::Interrupted => "interrupted",
            }),
            seconds: tuned.seconds,
            model: TrainRecord::from(&found.trained),
        }
    }
}

/// The search, what was chosen and how good it is, then the report of its training.
pub fn tune_report(found: &TunedModel) -> Vec<Block> {
    let tuned = &found.tuned;
    let mut blocks = vec![Block::Text(table(tuned))];
    let chosen = &tuned.tried[tuned.chosen];
    blocks.push(Block::paragraph(format!(
        "Chosen: {}. Tried: {} in {:.1} s{}.",
        name(chosen),
        counted(tuned.tried.len() as u64, "candidate", "candidates"),
        tuned.seconds,
        match tuned.ended {
            Some(Ended::TimeLimit) => "; the time was over before the search and its estimate were complete",
            Some(Ended::Interrupted) =>
                "; it was interrupted before the search and its estimate were complete",
            None => "",
        }
    )));
    blocks.push(Block::paragraph(match &tuned.estimate {
        Some(estimate) => format!(
            "Error on new rows: {} ({} of {}; {}95 % interval {} to {}), {}; always answering \"{}\": {}.",
            percent(estimate.error),
            grouped(estimate.errors),
            grouped(estimate.rows),
            // The models of nested parts differ, so that the interval is not exact.
            if estimate.judging == Judging::Aside { "" } else { "about a " },
            percent(estimate.interval.lower),
            percent(estimate.interval.upper),
            match estimate.judging {
                Judging::Aside => "on rows that were kept aside until the choice was made",
                _ => "by nested cross-validation: each row was judged by a search that had not seen it",
            },
            tuned.baseline_class,
            percent(tuned.baseline_error),
        ),
        None => format!(
            "No estimate for new rows was made: the errors of the table are those that the choice was made by, and too good. \
             Always answering \"{}\": {}.",
            tuned.baseline_class,
            percent(tuned.baseline_error)
        ),
    }));
    blocks.push(Block::Text("\n".to_string()));
    blocks.extend(train_report(&found.trained));
    blocks
}

/// What a candidate is called.
fn name(tried: &Tried) -> String {
    let preparation = tried.candidate.preparation;
    let scale = match preparation.scaling {
        Scaling::UnitRows => ", unit rows",
        _ => "",
    };
    format!(
        "{} on {} features{scale}, C = {}",
        tried.candidate.learner.name(),
        preparation.features.name(),
        tried.candidate.c
    )
}

/// The best candidate of each family.
fn table(tuned: &Tuned) -> String {
    let shown = |value: f64| match tuned.metric.is_share() {
        true => format!("{:.2} %", 100.0 * value),
        false => format!("{value:.4}"),
    };
    let mut text = format!(
        "{:<16} {:<10} {:<10} {:>8}  held-out {}\n",
        "features",
        "scale",
        "learner",
        "C",
        tuned.metric.title()
    );
    let _ = writeln!(
        text,
        "{:<16} {:<10} {:<10} {:>8}  {}",
        "always the same",
        "",
        "",
        "",
        if tuned.metric == Metric::Error { shown(tuned.baseline_error) } else { String::new() }
    );
    let is_same = |a: &Tried, b: &Tried| {
        a.candidate.preparation == b.candidate.preparation
            && a.candidate.learner.name() == b.candidate.learner.name()
    };
    for family in tuned.tried.chunk_by(is_same) {
        let holds = |tried: &&Tried| std::ptr::eq(*tried, &tuned.tried[tuned.chosen]);
        let best = family.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        let Some(best) = family.iter().find(holds).or(best) else { continue };
        let preparation = best.candidate.preparation;
        let scale = serde_json::to_value(preparation.scaling).ok();
        let scale = scale.as_ref().and_then(|scale| scale.as_str()).unwrap_or_default().to_string();
        let _ = writeln!(
            text,
            "{:<16} {:<10} {:<10} {:>8}  {} ± {}{}",
            preparation.features.name(),
            scale,
            best.candidate.learner.name(),
            best.candidate.c,
            shown(best.value),
            shown(best.standard_error),
            if holds(&best) { "  chosen" } else { "" }
        );
    }
    text
}

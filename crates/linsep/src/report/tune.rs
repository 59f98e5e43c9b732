//! The report of a search.

use super::{Block, TrainRecord, train};
use crate::features::{Features, Scaling, TermKind, TextChoice};
use crate::job::TunedModel;
use crate::numbers::{counted, grouped, percent};
use crate::prepare::Preparation;
use crate::validate::metric::Metric;
use crate::validate::tune::{Ended, Estimate, Fit, Judging, NoEstimate, Sample, Tried, Tuned};
use serde::Serialize;
use std::fmt::Write;

/// One line for each candidate and all about the chosen one, for programs.
#[derive(Serialize)]
pub struct TuneRecord<'a> {
    /// By what candidates were judged.
    pub metric: Metric,
    /// The error of always predicting the same class.
    pub baseline_error: f64,
    /// That answer: the largest class, or with a positive class the larger of the two sides.
    pub baseline_class: &'a str,
    /// How often each row was held out.
    pub deals: u64,
    /// The sample on which all candidates were tried first, where the rows are many.
    pub sample: Option<Sample>,
    /// The candidates, the simplest first; after a sample, those that it left.
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
    /// The features made of the columns.
    pub features: Features,
    /// The features made of texts, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextChoice>,
    /// How features are scaled.
    pub scale: Scaling,
    /// The learner.
    pub learner: &'static str,
    /// C, the weight of the loss; none for gradient descent.
    #[serde(rename = "C")]
    pub c: Option<f64>,
    /// Passes of gradient descent; none for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
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
            text: tried.candidate.preparation.text,
            scale: tried.candidate.preparation.scaling,
            learner: tried.candidate.learner.name(),
            c: match tried.candidate.fit {
                Fit::C(c) => Some(c),
                Fit::Passes(_) => None,
            },
            passes: match tried.candidate.fit {
                Fit::Passes(passes) => Some(passes),
                Fit::C(_) => None,
            },
            value: tried.value,
            standard_error: tried.standard_error,
            error: tried.error,
        };
        Self {
            metric: tuned.metric,
            baseline_error: tuned.baseline.error,
            baseline_class: &tuned.baseline.class,
            deals: tuned.deals,
            sample: tuned.sample,
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

/// What was chosen and how good it is, the search, then the report of its training.
pub fn tune_report(found: &TunedModel) -> Vec<Block> {
    let tuned = &found.tuned;
    let mut facts = train::answer(&found.trained, error(tuned));
    facts.insert(2, ("Chosen", name(&tuned.tried[tuned.chosen])));
    if tuned.estimate.is_some_and(|estimate| estimate.error >= tuned.baseline.error) {
        facts.push((
            "Caution",
            "no better than always predicting the same class: these columns were not found to predict the class of \
             new rows"
                .to_string(),
        ));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(train::next(&found.trained, true).map(Block::next).into_iter().flatten());
    let end = match tuned.ended {
        Some(Ended::TimeLimit) => {
            "; the time limit was reached before the search and its estimate were complete"
        }
        Some(Ended::Interrupted) => "; interrupted before the search and its estimate were complete",
        None => "",
    };
    let tried = format!("{} in {:.1} s{end}; chosen {}", tried(tuned), tuned.seconds, rule(tuned));
    blocks.push(Block::text(format!("\n{}", table(tuned))));
    blocks.push(Block::text("\n"));
    blocks.push(Block::Facts(vec![("Tried", tried)]));
    blocks.extend(train::rest(&found.trained));
    blocks
}

/// The error to be expected on new rows, as far as the search can tell.
fn error(tuned: &Tuned) -> String {
    let baseline = super::evaluate::baseline(&tuned.baseline.class, tuned.baseline.error);
    match &tuned.estimate {
        Some(estimate) => format!(
            "{} on new rows ({} of {}; {}95 % interval {} to {}), {}; {baseline}",
            percent(estimate.error),
            grouped(estimate.errors),
            grouped(estimate.rows),
            // The models of nested parts differ, so that the interval is not exact.
            if estimate.judging == Judging::Aside { "" } else { "about a " },
            percent(estimate.interval.lower),
            percent(estimate.interval.upper),
            match estimate.judging {
                Judging::Aside => "on rows that were not used in the search",
                _ => "by nested cross-validation: each row was predicted by a model from a search without it",
            },
        ),
        None => format!(
            "no estimate for new rows: {}; the errors in the table are too optimistic, because the choice was based on \
             them; {baseline}",
            match tuned.no_estimate {
                Some(NoEstimate::TimeLimit) => "the time limit was reached",
                Some(NoEstimate::Interrupted) => "the search was interrupted",
                Some(NoEstimate::FewRows) => "a class has too few rows to hold out a fifth of them",
                Some(NoEstimate::NotAsked) | None => "none was asked for",
            },
        ),
    }
}

/// By what the choice was made.
fn rule(tuned: &Tuned) -> String {
    let title = tuned.metric.title;
    if !tuned.finalists.is_empty() {
        let others = tuned.tried.iter().any(|tried| tried.candidate.learner.name() != "logistic");
        return format!(
            "by held-out error among the lines of the table (the simplest of equals), with C chosen by \
             held-out log loss within each line{}",
            if others { " of logistic" } else { "" }
        );
    }
    match tuned.simpler {
        errors if errors > 0.0 => format!(
            "the simplest candidate whose held-out {title} is within {} of the best",
            if errors == 1.0 {
                "one standard error".to_string()
            } else {
                format!("{errors} standard errors")
            }
        ),
        _ => format!("by held-out {title} among all candidates (the simplest of equals)"),
    }
}

/// How many candidates were tried, and on what.
fn tried(tuned: &Tuned) -> String {
    let left = tuned.tried.len() as u64;
    match tuned.sample {
        Some(Sample { rows, candidates, alone }) => {
            let first = format!(
                "{} on a sample of {}",
                counted(candidates, "candidate", "candidates"),
                counted(rows, "row", "rows")
            );
            if alone { first } else { format!("{first}, then the {} best on all rows", grouped(left)) }
        }
        None if tuned.deals > 1 => {
            format!(
                "{} by cross-validation repeated {} times",
                counted(left, "candidate", "candidates"),
                tuned.deals
            )
        }
        None => counted(left, "candidate", "candidates"),
    }
}

/// The name of a candidate.
fn name(tried: &Tried) -> String {
    let preparation = tried.candidate.preparation;
    let scale = match preparation.scaling {
        Scaling::UnitRows => ", unit rows",
        _ => "",
    };
    format!(
        "{} on {}{scale}, {}",
        tried.candidate.learner.name(),
        match (kind_of_features(preparation), preparation.text.is_some()) {
            (kind, true) => format!("features of {kind}"),
            (kind, false) => format!("{kind} features"),
        },
        tried.candidate.fit
    )
}

/// The source of the features.
fn kind_of_features(preparation: Preparation) -> String {
    match preparation.text {
        Some(TextChoice { terms, ngrams, weights }) => {
            let units = if terms == TermKind::Words { "words" } else { "characters" };
            match (ngrams.least, ngrams.most) {
                (1, 1) => format!("{units}, {}", weights.name()),
                _ => format!("{ngrams} {units}, {}", weights.name()),
            }
        }
        None => preparation.features.name().to_string(),
    }
}

/// The best candidate of each family: that which it was judged by.
fn table(tuned: &Tuned) -> String {
    let shown = |value: f64| match tuned.metric.is_share {
        true => format!("{:.2} %", 100.0 * value),
        false => format!("{value:.4}"),
    };
    let kinds = tuned.tried.iter().map(|tried| kind_of_features(tried.candidate.preparation).len());
    let wide = kinds.max().unwrap_or(0).max(16);
    let mut text = format!(
        "{:<wide$} {:<10} {:<10} {:>9}  held-out {}\n",
        "features", "scale", "learner", "C", tuned.metric.title
    );
    let _ = writeln!(
        text,
        "{:<wide$} {:<10} {:<10} {:>9}  {}",
        "majority class",
        "",
        "",
        "",
        shown(tuned.baseline.value)
    );
    let is_same = |a: &Tried, b: &Tried| {
        a.candidate.preparation == b.candidate.preparation
            && a.candidate.learner.name() == b.candidate.learner.name()
    };
    for family in tuned.tried.chunk_by(is_same) {
        let holds = |tried: &&Tried| std::ptr::eq(*tried, &tuned.tried[tuned.chosen]);
        let is_finalist =
            |tried: &&Tried| tuned.finalists.iter().any(|&place| std::ptr::eq(*tried, &tuned.tried[place]));
        let best = family.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        let Some(best) = family.iter().find(holds).or(family.iter().find(is_finalist)).or(best) else {
            continue;
        };
        let preparation = best.candidate.preparation;
        let scale = serde_json::to_value(preparation.scaling).ok();
        let scale = scale.as_ref().and_then(|scale| scale.as_str()).unwrap_or_default().to_string();
        let _ = writeln!(
            text,
            "{:<wide$} {:<10} {:<10} {:>9}  {} ± {}{}",
            kind_of_features(preparation),
            scale,
            best.candidate.learner.name(),
            match best.candidate.fit {
                Fit::C(c) => c.to_string(),
                Fit::Passes(passes) => counted(passes, "pass", "passes"),
            },
            shown(best.value),
            shown(best.standard_error),
            if holds(&best) { "  chosen" } else { "" }
        );
    }
    text
}

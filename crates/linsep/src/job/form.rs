//! The form of a training job: the learners and the settings that they share, as data for front ends that show or generate
//! one.

use crate::train::{Descriptor, OptionDescriptor, OptionKind};
use serde_json::{Value, json};

/// What is known about a learner, with its options.
pub fn learner_form(learner: &Descriptor) -> Value {
    let abilities = &learner.abilities;
    json!({
        "name": learner.name,
        "title": learner.title,
        "summary": learner.summary,
        "usual_epochs": learner.usual_epochs,
        "options": learner.options.iter().map(option_form).collect::<Vec<_>>(),
        "row_by_row": abilities.row_by_row,
        "weights": abilities.weights.is_yes(),
        "shards": abilities.shards.is_yes(),
        "start": abilities.start.is_yes(),
        "start_at_first_row": abilities.start_at_first_row.is_yes(),
        "mistake_rule": abilities.mistake_rule,
        "traces_mistakes": abilities.traces_mistakes,
        "probabilities": abilities.probabilities,
        "many_classes": abilities.many_classes,
    })
}

fn option_form(option: &OptionDescriptor) -> Value {
    let (kind, values) = match option.kind {
        OptionKind::Number(_) => ("number", Vec::new()),
        OptionKind::Whole { .. } => ("whole", Vec::new()),
        OptionKind::Size => ("size", Vec::new()),
        OptionKind::Choice(choices) => (
            "choice",
            choices.iter().map(|choice| json!({"name": choice.name, "help": choice.help})).collect(),
        ),
    };
    json!({
        "name": option.name,
        "kind": kind,
        "values": values,
        "range": option.kind.to_string(),
        "auto": option.auto,
        "default": option.default,
        "help": option.help,
    })
}

/// The settings that learners share: name, kind, choices, help, and which learners have it.
pub fn settings_form() -> Vec<Value> {
    let entry = |name: &str, kind: &str, values: &[&str], of: &str, help: &str| {
        let values: Vec<Value> = values.iter().map(|&word| json!({"name": word, "help": ""})).collect();
        json!({"name": name, "kind": kind, "values": values, "of": of, "help": help})
    };
    vec![
        entry("epochs", "whole", &[], "all", "at most this many passes over the rows"),
        entry(
            "scale",
            "choice",
            &["auto", "none", "max-abs", "standard", "unit-rows"],
            "all",
            "how features are scaled, as learned on the training rows; 'auto' as suits each of them, and not at all \
             without a bias. The scaled rows are a copy, of 8 bytes for each value; 'none' makes no copy",
        ),
        entry(
            "order",
            "choice",
            &["given", "shuffle-once", "shuffle"],
            "all",
            "in which order rows are visited",
        ),
        entry("seed", "whole", &[], "all", "the seed of all shuffles"),
        entry("bias", "choice", &["append", "none"], "all", "whether the boundary may miss the origin"),
        entry("bias_scale", "number", &[], "all", "the value of the appended coordinate; None for 1"),
        entry(
            "init",
            "choice",
            &["zero", "first"],
            "start_at_first_row",
            "where to start: at zero, or at the first row, which counts as an update",
        ),
        entry(
            "mistake",
            "choice",
            &["nonpositive", "negative"],
            "mistake_rule",
            "which agreements ⟨θ, z⟩ count as a mistake",
        ),
        entry(
            "shards",
            "whole",
            &[],
            "shards",
            "into how many shards the rows are dealt, to be learned at once and mixed after every pass; None for 1",
        ),
        entry("mixing", "choice", &["uniform", "updates"], "shards", "how much each shard counts"),
        entry("max_updates", "whole", &[], "all", "stop after this many updates"),
        entry("max_seconds", "number", &[], "all", "stop after this many seconds"),
        entry(
            "class_weight",
            "class_weight",
            &[],
            "weights",
            "how much the rows of each class count: 'balanced', or a dict from class to weight; None for once",
        ),
        entry(
            "probabilities",
            "flag",
            &[],
            "all",
            "whether scores are to become probabilities, learned from scores of rows that were held out in turn",
        ),
        entry(
            "features",
            "choice",
            &["plain", "splines", "pairs", "splines+pairs"],
            "all",
            "which features are made of those of the columns; None for none",
        ),
    ]
}

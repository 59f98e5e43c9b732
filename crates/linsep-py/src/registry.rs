//! The learners and the settings that they share, as data: the estimators of the package are generated from them.

use crate::errors::in_python;
use linsep::train::{Descriptor, OptionDescriptor, OptionKind};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// What the estimator of each learner is called, as scikit-learn would call it.
const ESTIMATORS: &[(&str, &str)] = &[
    ("perceptron", "Perceptron"),
    ("averaged", "AveragedPerceptron"),
    ("voted", "VotedPerceptron"),
    ("margin", "MarginPerceptron"),
    ("batch", "BatchPerceptron"),
    ("pocket", "PocketPerceptron"),
    ("lifted", "LiftedPerceptron"),
    ("kernel", "KernelPerceptron"),
    ("multiclass", "MulticlassPerceptron"),
    ("sgd", "SGDClassifier"),
    ("passive-aggressive", "PassiveAggressiveClassifier"),
    ("svm", "LinearSVM"),
    ("logistic", "LogisticRegression"),
    ("max-margin", "MaxMarginClassifier"),
    ("memoriser", "Memoriser"),
];

/// The estimator of a learner.
pub fn estimator(learner: &str) -> Option<&'static str> {
    ESTIMATORS.iter().find(|(name, _)| *name == learner).map(|&(_, estimator)| estimator)
}

/// The descriptors of all learners, as JSON.
#[pyfunction]
pub fn learners() -> String {
    let all: Vec<Value> = linsep::train::learners().iter().map(|learner| learner_of(learner)).collect();
    Value::from(all).to_string()
}

fn learner_of(learner: &Descriptor) -> Value {
    let abilities = &learner.abilities;
    json!({
        "name": learner.name,
        "estimator": estimator(learner.name),
        "title": learner.title,
        "summary": in_python(learner.summary),
        "usual_epochs": learner.usual_epochs,
        "options": learner.options.iter().map(option_of).collect::<Vec<_>>(),
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

fn option_of(option: &OptionDescriptor) -> Value {
    let (kind, values) = match option.kind {
        OptionKind::Number(_) => ("number", Vec::new()),
        OptionKind::Whole { .. } => ("whole", Vec::new()),
        OptionKind::Size => ("size", Vec::new()),
        OptionKind::Choice(choices) => (
            "choice",
            choices
                .iter()
                .map(|choice| json!({"name": choice.name, "help": in_python(choice.help)}))
                .collect(),
        ),
        _ => ("text", Vec::new()),
    };
    json!({
        "name": option.name,
        "kind": kind,
        "values": values,
        "range": in_python(&option.kind.to_string()),
        "auto": option.auto,
        "default": option.default,
        "help": in_python(option.help),
    })
}

/// The settings that learners share, as JSON: name, kind, choices, help, and which learners have it.
#[pyfunction]
pub fn settings() -> String {
    let words =
        |words: &[&str]| words.iter().map(|&word| json!({"name": word, "help": ""})).collect::<Vec<_>>();
    let entry = |name: &str, kind: &str, values: &[&str], of: &str, help: &str| json!({"name": name, "kind": kind, "values": words(values), "of": of, "help": help});
    Value::from(vec![
        entry("epochs", "whole", &[], "all", "at most this many passes over the rows"),
        entry("scale", "choice", &["auto", "none", "max-abs", "standard", "unit-rows"], "all",
            "how features are scaled, as learned on the training rows; 'auto' as suits each of them, and not at all \
             without a bias. The scaled rows are a copy, of 8 bytes for each value; 'none' makes no copy"),
        entry("order", "choice", &["given", "shuffle-once", "shuffle"], "all", "in which order rows are visited"),
        entry("seed", "whole", &[], "all", "the seed of all shuffles"),
        entry("bias", "choice", &["append", "none"], "all", "whether the boundary may miss the origin"),
        entry("bias_scale", "number", &[], "all", "the value of the appended coordinate; None for 1"),
        entry("init", "choice", &["zero", "first"], "start_at_first_row",
            "where to start: at zero, or at the first row, which counts as an update"),
        entry("mistake", "choice", &["nonpositive", "negative"], "mistake_rule",
            "which agreements ⟨θ, z⟩ count as a mistake"),
        entry("shards", "whole", &[], "shards",
            "into how many shards the rows are dealt, to be learned at once and mixed after every pass; None for 1"),
        entry("mixing", "choice", &["uniform", "updates"], "shards", "how much each shard counts"),
        entry("max_updates", "whole", &[], "all", "stop after this many updates"),
        entry("max_seconds", "number", &[], "all", "stop after this many seconds"),
        entry("class_weight", "class_weight", &[], "weights",
            "how much the rows of each class count: 'balanced', or a dict from class to weight; None for once"),
        entry("probabilities", "flag", &[], "all",
            "whether scores are to become probabilities, learned from scores of rows that were held out in turn"),
        entry("features", "choice", &["plain", "splines", "pairs", "splines+pairs"], "all",
            "which features are made of those of the columns; None for none"),
    ])
    .to_string()
}

/// The name of the class that each label stands for; none for a label that no class has.
#[pyfunction]
pub fn class_names(labels: Vec<String>) -> Vec<Option<String>> {
    labels.iter().map(|label| linsep::classes::class_name(label)).collect()
}

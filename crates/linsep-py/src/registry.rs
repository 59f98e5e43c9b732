//! The learners and the settings that they share, as data: the estimators of the package are generated from them.

use crate::errors::{Door, in_python};
use linsep::settings::{
    OF_COMPARE, OF_SEPARATE, OF_THEORY, OF_TRAIN, OF_TUNE, OF_VERIFY, Setting, Tables, learner_form,
    settings_form,
};
use linsep::train::Descriptor;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The name of the estimator of each learner, as scikit-learn would call it.
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
    in_python(Door::Estimator, &Value::from(all).to_string())
}

fn learner_of(learner: &Descriptor) -> Value {
    let mut form = learner_form(learner);
    form["estimator"] = json!(estimator(learner.name));
    form
}

/// The settings that learners share, as JSON: name, kind, choices, help, and which learners have it.
#[pyfunction]
pub fn settings() -> String {
    in_python(Door::Estimator, &Value::from(settings_form()).to_string())
}

/// The settings of the commands that are functions here, as JSON: by command, each with its name, the words it takes and its default.
#[pyfunction]
pub fn commands() -> String {
    let of = |tables: Tables| {
        let settings = tables.iter().flat_map(|(_, settings)| settings.iter());
        let of_setting = |setting: &Setting| {
            let words: Vec<&str> = setting.choices().iter().map(|choice| choice.name).collect();
            json!({"name": setting.name, "words": words, "default": setting.default})
        };
        settings.map(of_setting).collect::<Vec<Value>>()
    };
    let all = json!({
        "train": of(OF_TRAIN),
        "compare": of(OF_COMPARE),
        "tune": of(OF_TUNE),
        "theory": of(OF_THEORY),
        "separate": of(OF_SEPARATE),
        "verify": of(OF_VERIFY),
    });
    all.to_string()
}

/// The name of the class that each label denotes; none for a label that no class has.
#[pyfunction]
pub fn class_names(labels: Vec<String>) -> Vec<Option<String>> {
    labels.iter().map(|label| linsep::classes::class_name(label)).collect()
}

/// What the labels of one class have in common; none for a label that no class has.
#[pyfunction]
pub fn class_keys(labels: Vec<String>) -> Vec<Option<String>> {
    labels.iter().map(|label| linsep::classes::class_key(label)).collect()
}

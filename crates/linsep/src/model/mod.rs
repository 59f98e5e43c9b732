//! The model: what has been learned, and everything needed to apply it to other files and to evaluate it.

mod arrays;
mod evaluate;
mod file;
mod predict;

pub use evaluate::{
    ClassEvaluation, ConfusionCell, Evaluation, MOST_IN_MATRIX, ManyEvaluation, evaluate, evaluate_many,
};
pub use predict::{Prediction, Predictor};

use crate::classes::Classes;
use crate::features::{Recipe, Schema};
use crate::train::{Boundary, Evidence, Learned, Outcome, Settings};

/// A trained classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The decision function.
    pub learned: Learned,
    /// The classes that it distinguishes.
    pub classes: Classes,
    /// How the columns of a file become features, and how those are scaled.
    pub recipe: Recipe,
    /// The settings it was trained with.
    pub settings: Settings,
    /// What is known about the run and its data.
    pub evidence: Evidence,
    /// What is known about each class against the rest, where many classes are learned that way.
    pub boundaries: Vec<Boundary>,
    /// The fingerprint of the data it was trained on, before scaling; unknown for a stream.
    pub fingerprint: Option<String>,
    /// The specification of the job that made it, as JSON.
    pub spec: Option<serde_json::Value>,
}

impl Model {
    /// A model for rows as they are: no scaling, features without names.
    pub fn new(outcome: Outcome) -> Self {
        let schema = Schema::Array { features: outcome.learned.columns() };
        Self::with_recipe(outcome, schema.into(), None)
    }

    /// A model with the recipe by which its training rows were made.
    pub fn with_recipe(outcome: Outcome, recipe: Recipe, fingerprint: Option<String>) -> Self {
        Self {
            learned: outcome.learned,
            classes: outcome.classes,
            recipe,
            settings: outcome.settings,
            evidence: outcome.evidence,
            boundaries: outcome.boundaries,
            fingerprint,
            spec: None,
        }
    }

    /// Features by the size of their weight, largest first; none where there are no weights. For many classes, those of
    /// the class numbered `outcome` among them.
    pub fn strongest_of(&self, outcome: usize) -> Vec<(String, f64)> {
        let learned = match &self.learned {
            Learned::Each(each) => &each[outcome],
            one => one,
        };
        let weights = &learned.theta().weights;
        let mut order: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        order.into_iter().map(|j| (self.recipe.feature_name(j), weights[j])).collect()
    }

    /// Features by the size of their weight, largest first.
    pub fn strongest(&self) -> Vec<(String, f64)> {
        self.strongest_of(0)
    }
}

//! The model: what has been learned, with all that is needed to use it on other files and to judge it.

mod evaluate;
mod file;
mod predict;

pub use evaluate::{Evaluation, evaluate};
pub use predict::{Prediction, Predictor};

use crate::classes::ClassPair;
use crate::read::Schema;
use crate::scale::Scaler;
use crate::train::{Evidence, Learned, Outcome, Settings};

/// A trained classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The decision function.
    pub learned: Learned,
    /// Which class is on which side.
    pub classes: ClassPair,
    /// How the columns of a file become features.
    pub schema: Schema,
    /// How features are scaled.
    pub scaler: Scaler,
    /// The settings it was trained with.
    pub settings: Settings,
    /// What is known about the run and its data.
    pub evidence: Evidence,
    /// The fingerprint of the data it was trained on, before scaling; unknown for a stream.
    pub fingerprint: Option<String>,
}

impl Model {
    /// A model for rows as they are: no scaling, features without names.
    pub fn new(outcome: Outcome) -> Self {
        let schema = Schema::Array { features: outcome.learned.columns() };
        Self::with_reading(outcome, schema, Scaler::None, None)
    }

    /// A model that remembers how its training data was read and scaled.
    pub fn with_reading(
        outcome: Outcome,
        schema: Schema,
        scaler: Scaler,
        fingerprint: Option<String>,
    ) -> Self {
        Self {
            learned: outcome.learned,
            classes: outcome.classes,
            schema,
            scaler,
            settings: outcome.settings,
            evidence: outcome.evidence,
            fingerprint,
        }
    }

    /// Features by the size of their weight, largest first.
    pub fn strongest(&self) -> Vec<(String, f64)> {
        let weights = &self.learned.theta().weights;
        let mut order: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        order.into_iter().map(|j| (self.schema.feature_name(j), weights[j])).collect()
    }
}

//! The model: what has been learned, and everything needed to apply it to other files and to evaluate it.

mod effects;
mod evaluate;
mod expand;
mod explain;
mod file;
mod isotonic;
mod onnx;
#[cfg(feature = "png")]
mod pixels;
mod predict;
mod probability;
mod reliability;
mod threshold;

pub use effects::{ColumnEffect, CurvePoint, Effect, ProductEffect, WordEffect};
pub use evaluate::{
    ClassEvaluation, ConfusionCell, Evaluation, MAX_IN_MATRIX, ManyEvaluation, RocPoint, Times, evaluate,
    evaluate_labels, evaluate_many, roc,
};
pub(crate) use expand::learn_expansion;
pub use explain::{Explainer, Explanation, Part};
pub use onnx::{InputNumbers, OnnxFile, OnnxInput};
#[cfg(feature = "png")]
pub use pixels::WeightsPicture;
pub use predict::{Prediction, Predictor};
pub use probability::{Calibration, ISOTONIC_ROWS, ISOTONIC_ROWS_OF_SIDE};
pub use reliability::{Bin, Reliability, RowProbabilities};
pub use threshold::{Counts, Threshold, ThresholdRule};

use crate::classes::Classes;
use crate::features::{Recipe, Scaler, Schema};
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
    /// The evidence about the run and its data.
    pub evidence: Evidence,
    /// The evidence about each class against the rest, where many classes are learned that way.
    pub boundaries: Vec<Boundary>,
    /// The fingerprint of the data it was trained on, before scaling; unknown for a stream.
    pub fingerprint: Option<String>,
    /// The specification of the job that made it, as JSON.
    pub spec: Option<serde_json::Value>,
    /// How scores become probabilities, where that was learned on out-of-fold scores.
    pub calibration: Option<Calibration>,
    /// The probability from which on a row is called positive; without it, the sign of the score decides.
    pub threshold: Option<Threshold>,
}

/// Weights for rows as read.
#[derive(Clone, Debug, PartialEq)]
pub struct InUnits {
    /// The change of the score per unit of each feature.
    pub weights: Vec<f64>,
    /// The score of a row of zeros.
    pub intercept: f64,
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
            calibration: None,
            threshold: None,
        }
    }

    /// How its scores become probabilities: as was learned, or naturally, where the loss of the learner makes the scores
    /// logarithms of odds. `None` if neither is so.
    pub fn calibrated(&self) -> Option<&Calibration> {
        self.calibration
            .as_ref()
            .or_else(|| self.has_natural_probabilities().then_some(&Calibration::Natural))
    }

    /// Whether the scores are logarithms of odds. With many classes, those that were learned one by one against the rest
    /// are not: together they say too much.
    pub fn has_natural_probabilities(&self) -> bool {
        let abilities = self.settings.learner.abilities();
        abilities.probabilities && (self.classes.pair().is_some() || abilities.many_classes)
    }

    /// Features by the size of their weight, largest first; none where there are no weights. For many classes, those of
    /// the class numbered `outcome` among them.
    pub fn strongest_of(&self, outcome: usize) -> Vec<(String, f64)> {
        let weights = self.weights_of(outcome);
        self.strongest_features(outcome)
            .into_iter()
            .map(|j| (self.recipe.feature_name(j), weights[j]))
            .collect()
    }

    /// The weights; for many classes, those of the class numbered `outcome`.
    pub fn weights_of(&self, outcome: usize) -> &[f64] {
        &self.learned.of_class(outcome).theta().weights
    }

    /// The numbers of the features with a weight, the largest first.
    pub fn strongest_features(&self, outcome: usize) -> Vec<usize> {
        let weights = self.weights_of(outcome);
        let mut order: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
        order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        order
    }

    /// The weights and the intercept for rows as read, without their scaling: what one more unit of a feature adds to the
    /// score. `None` where no such weights exist: rows of unit length, or a model without weights. For many classes, those
    /// of the class numbered `outcome`.
    ///
    /// A product is one of deviations in the units of the file, (a − ā)(b − b̄), where a word has no mean taken off: with the others
    /// at their means, one more unit of a column adds the weight of the column alone.
    pub fn in_units_of(&self, outcome: usize) -> Option<InUnits> {
        let theta = self.learned.of_class(outcome).weights()?;
        let (weights, intercept) = (&theta.weights, theta.intercept());
        let divided =
            |divisor: &[f64]| weights.iter().zip(divisor).map(|(w, by)| w / by).collect::<Vec<f64>>();
        let mut units = match &self.recipe.scaling {
            Scaler::None => InUnits { weights: weights.clone(), intercept },
            Scaler::UnitRows => return None,
            Scaler::MaxAbs { divisor } => InUnits { weights: divided(divisor), intercept },
            Scaler::Standard(standard) => {
                let weights = divided(standard.divisor());
                // The centres are one part of the intercept.
                let centres: f64 = weights.iter().zip(standard.mean()).map(|(w, mean)| w * mean).sum();
                InUnits { weights, intercept: intercept - centres }
            }
        };
        // Factors are deviations divided by their scale.
        for (feature, [first, second]) in self.recipe.expansion.each_product() {
            if let Some(weight) = units.weights.get_mut(feature) {
                *weight /= first.scale * second.scale;
            }
        }
        Some(units)
    }

    /// Features by the size of their weight, largest first.
    pub fn strongest(&self) -> Vec<(String, f64)> {
        self.strongest_of(0)
    }
}

//! The result of training as one JSON record.

use crate::classes::Classes;
use crate::features::ExpansionSummary;
use crate::job::{BestMargin, Evaluated, PathPoint, Seconds, Trained, Warning};
use crate::model::{Calibration, Threshold};
use crate::scale::Scaling;
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::train::{Boundary, Detail, Settings, Status};
use serde::Serialize;

/// The machine-readable result of training; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
pub struct TrainRecord<'a> {
    /// Which learner, by its name.
    pub learner: &'static str,
    /// Rows learned from.
    pub examples: u64,
    /// Features of each row.
    pub features: u64,
    /// Values that are not zero.
    pub nonzeros: u64,
    /// Passes begun.
    pub epochs: u64,
    /// Updates made.
    pub updates: u64,
    /// Whether a whole pass was made without a mistake.
    pub converged: bool,
    /// How the run ended.
    pub status: Status,
    /// Share of the rows learned from that are predicted wrong; null for a stream.
    pub training_error: Option<f64>,
    /// Share of the rows of a stream that were predicted wrong before they were learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progressive_error: Option<f64>,
    /// R, rounded up.
    pub radius: f64,
    /// The proved interval of the best margin.
    pub margin: MarginInterval,
    /// Proved bounds on (R/γ*)².
    pub mistake_bound: MistakeBound,
    /// What is proved about all weights, whatever this run found, where the rows of a perceptron are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<&'a BestMargin>,
    /// The smallest distance from a row to the boundary, where the result separates all rows.
    pub distance: Option<f64>,
    /// The class that most training rows have; null for a stream.
    pub baseline_class: Option<String>,
    /// Share of the rows learned from that are not of that class; null for a stream.
    pub baseline_error: Option<f64>,
    /// Share of the held-out rows that are predicted wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_error: Option<f64>,
    /// How many rows were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_rows: Option<u64>,
    /// All measures on the held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<&'a Evaluated>,
    /// How many held-out rows have the same features as a training row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_duplicates: Option<u64>,
    /// The weights along the path that was asked for.
    #[serde(skip_serializing_if = "<[PathPoint]>::is_empty")]
    pub path: &'a [PathPoint],
    /// Reasons to trust the result less.
    pub warnings: &'a [Warning],
    /// Whether some rows count more than others.
    pub weighted: bool,
    /// Which features were made of those of the columns, where some were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<ExpansionSummary>,
    /// How the features were scaled before.
    pub scaling: Scaling,
    /// Details that only this learner has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'a Detail>,
    /// The evidence about each class against the rest, where that is how they are learned.
    #[serde(skip_serializing_if = "<[Boundary]>::is_empty")]
    pub boundaries: &'a [Boundary],
    /// How scores become probabilities: `natural`, `sigmoid`, `isotonic` or `temperature`; left out where they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<&'static str>,
    /// The probability from which on a row is called positive, where there is a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// The classes that are distinguished.
    pub classes: &'a Classes,
    /// The settings.
    pub settings: &'a Settings,
    /// The fingerprint of the data as read; null for a stream.
    pub fingerprint: Option<&'a str>,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Outputs that could not be written, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Malformed rows that were skipped.
    pub skipped_rows: u64,
    /// Rows dropped for a missing cell.
    pub dropped_rows: u64,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Threads that parallel parts may use.
    pub threads: usize,
}

impl<'a> From<&'a Trained> for TrainRecord<'a> {
    fn from(trained: &'a Trained) -> Self {
        let model = &trained.model;
        let evidence = &model.evidence;
        let baseline = trained.baseline();
        Self {
            learner: model.settings.learner.name(),
            examples: evidence.examples,
            features: evidence.features,
            nonzeros: evidence.nonzeros,
            epochs: evidence.epochs,
            updates: evidence.updates,
            converged: evidence.status == Status::Converged,
            status: evidence.status,
            training_error: evidence.training_error,
            progressive_error: evidence.progressive_error,
            radius: evidence.extent.radius_upper,
            margin: evidence.margin,
            mistake_bound: evidence.mistake_bound,
            best: trained.best.as_ref(),
            distance: evidence.distance,
            baseline_class: baseline.as_ref().map(|baseline| baseline.0.clone()),
            baseline_error: baseline.map(|baseline| baseline.1),
            holdout_error: trained.held_out.as_ref().map(|held_out| held_out.error()),
            holdout_rows: trained.held_out.as_ref().map(|held_out| held_out.rows),
            holdout: trained.held_out.as_ref().map(|held_out| &held_out.evaluated),
            holdout_duplicates: trained.held_out.as_ref().map(|held_out| held_out.duplicates),
            path: &trained.path,
            warnings: &trained.warnings,
            weighted: evidence.weighted,
            expansion: model.recipe.expansion.summary(),
            scaling: model.recipe.scaling.scaling(),
            detail: evidence.detail.as_ref(),
            boundaries: &model.boundaries,
            probabilities: model.calibrated().map(Calibration::name),
            threshold: model.threshold,
            classes: &model.classes,
            settings: &model.settings,
            fingerprint: model.fingerprint.as_deref(),
            model: trained.saved.as_ref().map(|path| path.display().to_string()),
            lost: trained.lost.iter().map(ToString::to_string).collect(),
            skipped_rows: trained.notes.skipped,
            dropped_rows: trained.notes.dropped,
            seconds: trained.seconds,
            threads: trained.threads,
        }
    }
}

/// The machine-readable result of judging a model; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluateRecord<'a> {
    /// The measures.
    #[serde(flatten)]
    pub evaluated: &'a Evaluated,
    /// Reasons to trust the model less.
    pub warnings: Vec<Warning>,
}

impl<'a> From<&'a Evaluated> for EvaluateRecord<'a> {
    fn from(evaluated: &'a Evaluated) -> Self {
        Self { evaluated, warnings: evaluated.warnings() }
    }
}

//! The result of training as one JSON record.

use crate::classes::Classes;
use crate::scale::Scaling;
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::train::{Boundary, Outcome, Settings, Status};
use serde::Serialize;

/// The machine-readable result of training; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
pub struct TrainReport {
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
    /// Share of the rows of a stream that were mistakes when they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progressive_error: Option<f64>,
    /// R, rounded up.
    pub radius: f64,
    /// What is proved about the best margin.
    pub margin: MarginInterval,
    /// What is proved about (R/γ*)².
    pub mistake_bound: MistakeBound,
    /// The smallest distance from a row to the boundary, where the result separates all rows.
    pub distance: Option<f64>,
    /// Share of the held-out rows that are predicted wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_error: Option<f64>,
    /// How many rows were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_rows: Option<u64>,
    /// Whether some rows count more than others.
    pub weighted: bool,
    /// How the features were scaled before.
    pub scaling: Scaling,
    /// What only this learner has to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<crate::train::Detail>,
    /// What is known about each class against the rest, where that is how they are told apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<Boundary>,
    /// The classes that are told apart.
    pub classes: Classes,
    /// The settings.
    pub settings: Settings,
    /// The fingerprint of the data as read; null for a stream.
    pub fingerprint: Option<String>,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Malformed rows that were skipped.
    pub skipped_rows: u64,
    /// Rows dropped for a missing cell.
    pub dropped_rows: u64,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Threads that parallel parts may use.
    pub threads: usize,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, or reading and learning for a stream.
    pub read: f64,
    /// Learning and judging.
    pub train: f64,
}

impl TrainReport {
    /// The report of an outcome; what the outcome does not know is left empty.
    pub fn new(outcome: &Outcome, seconds: Seconds, threads: usize) -> Self {
        let evidence = &outcome.evidence;
        Self {
            learner: outcome.settings.learner.name(),
            examples: evidence.examples,
            features: evidence.features,
            nonzeros: evidence.nonzeros,
            epochs: evidence.epochs,
            updates: evidence.updates,
            converged: outcome.status == Status::Converged,
            status: outcome.status,
            training_error: evidence.training_error,
            progressive_error: evidence.progressive_error,
            radius: evidence.extent.radius_upper,
            margin: evidence.margin,
            mistake_bound: evidence.mistake_bound,
            distance: evidence.distance,
            holdout_error: None,
            holdout_rows: None,
            weighted: evidence.weighted,
            scaling: Scaling::None,
            detail: evidence.detail.clone(),
            boundaries: outcome.boundaries.clone(),
            classes: outcome.classes.clone(),
            settings: outcome.settings.clone(),
            fingerprint: None,
            model: None,
            skipped_rows: 0,
            dropped_rows: 0,
            seconds,
            threads,
        }
    }
}

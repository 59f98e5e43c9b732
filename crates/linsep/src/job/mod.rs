//! Whole jobs: a serialisable specification in, a result out.
//!
//! Each job is a value that says everything: source, reading, classes, weights, hold-out, scaling, learner, limits and
//! outputs. [`run`] does the whole of it, so that every front end only builds a specification and shows the result.
//! A specification round-trips through JSON and TOML, and a model keeps the one that it was made by.

mod compare;
mod counts;
mod data;
mod evaluate;
mod export;
mod findings;
mod label;
mod measure;
mod predict;
mod separate;
mod separation_view;
mod theory;
mod train;
mod tune;
mod verify;
mod view;
mod warnings;

pub use compare::{CompareSpec, Grid};
pub use data::{BiasSpec, ClassSpec, DataSpec, emit_notes, refuse_overwriting};
pub use evaluate::EvaluateSpec;
pub use export::{ExportSpec, Exported, Rounding, RoundingCheck};
pub use findings::{DataFigures, FeatureFigures, Findings, FindingsSpec, JudgedModel};
pub use measure::{Evaluated, JudgedRow, WhichRows};
pub use predict::{PredictSpec, Predicted, Show};
pub use separate::{
    BiasKind, Decided, ReferenceRule, ReferenceSpec, SeparateSpec, Separated, SeparationTasks, TimedRemoval,
};
pub(crate) use separate::{in_file_order, place_of};
pub use separation_view::{Ringed, SeparationView};
pub use theory::TheorySpec;
pub use train::{BestMargin, DEFAULT_LEARNER, HeldOut, PathPoint, PathWeights, Seconds, TrainSpec, Trained};
pub use tune::{TuneSpec, TunedModel};
pub use verify::{Verified, VerifySpec};
pub use view::{Border, Margin, PlaneAxes, Scene, SeenRow, View, ViewSpec, refuse_reading_twice};
pub use warnings::{GapsOfClass, JudgedOn, RowsOfClass, Warning};

use crate::Error;
use crate::observe::Observer;
use crate::theory_report::TheoryReport;
use crate::validate::compare::Comparison;
use serde::{Deserialize, Serialize};

/// The specification of one job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Spec {
    /// Learn a classifier.
    Train(Box<TrainSpec>),
    /// Label rows with a model.
    Predict(PredictSpec),
    /// Judge a model on labelled rows.
    Evaluate(EvaluateSpec),
    /// Write a model as ONNX.
    Export(ExportSpec),
    /// Set learners side by side.
    Compare(CompareSpec),
    /// Decide whether a boundary can separate the classes.
    Separate(SeparateSpec),
    /// Check a certificate of separation.
    Verify(VerifySpec),
    /// Show every statement of the theory on the data.
    Theory(TheorySpec),
    /// Search for the best way to learn, and learn that way.
    Tune(TuneSpec),
}

/// The result of one job.
#[derive(Debug)]
#[non_exhaustive]
pub enum Report {
    /// A model, and what is known about it.
    Train(Box<Trained>),
    /// How many rows were labelled, and the lines, where no output file was named.
    Predict(Predicted, Vec<u8>),
    /// The evaluation of a model.
    Evaluate(Box<Evaluated>),
    /// The file that was written.
    Export(Box<Exported>),
    /// The learners side by side.
    Compare(Comparison),
    /// The verdict with its proof, for one pair of sides or several.
    Separate(Box<Separated>),
    /// Whether the certificate is accepted.
    Verify(Box<Verified>),
    /// The statements of the theory with their numbers.
    Theory(Box<TheoryReport>),
    /// The result of a search, with the chosen model.
    Tune(Box<TunedModel>),
}

/// Runs a job to its end.
pub fn run(spec: &Spec, observer: &mut dyn Observer) -> Result<Report, Error> {
    Ok(match spec {
        Spec::Train(spec) => Report::Train(Box::new(spec.run(observer)?)),
        Spec::Predict(spec) => {
            let mut lines = Vec::new();
            Report::Predict(spec.run_to(&mut lines, observer)?, lines)
        }
        Spec::Evaluate(spec) => Report::Evaluate(Box::new(spec.run(observer)?)),
        Spec::Export(spec) => Report::Export(Box::new(spec.run(observer)?)),
        Spec::Compare(spec) => Report::Compare(spec.run(observer)?),
        Spec::Separate(spec) => Report::Separate(Box::new(spec.run(observer)?)),
        Spec::Verify(spec) => Report::Verify(Box::new(spec.run(observer)?)),
        Spec::Theory(spec) => Report::Theory(Box::new(spec.run(observer)?)),
        Spec::Tune(spec) => Report::Tune(Box::new(spec.run(observer)?)),
    })
}

#[cfg(feature = "toml")]
impl Spec {
    /// Reads a specification from TOML, or from JSON if it begins with a brace. `name` is that of the file.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let table = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            toml::from_str(text).map_err(|error| error.to_string())
        };
        table.and_then(Self::from_table).map_err(|problem| Error::Spec {
            place: name.to_string(),
            problem: problem.trim_end().to_string(),
        })
    }

    /// The specification that a table holds. Each job is read by itself, so that a mistake is named with its field.
    fn from_table(mut table: toml::Table) -> Result<Self, String> {
        fn read<T: serde::de::DeserializeOwned>(table: toml::Table) -> Result<T, String> {
            table.try_into().map_err(|error: toml::de::Error| error.to_string())
        }
        let job =
            table.remove("job").ok_or("the specification has no field `job`, such as job = \"train\"")?;
        match job.as_str() {
            Some("train") => read(table).map(Spec::Train),
            Some("predict") => read(table).map(Spec::Predict),
            Some("evaluate") => read(table).map(Spec::Evaluate),
            Some("export") => read(table).map(Spec::Export),
            Some("compare") => read(table).map(Spec::Compare),
            Some("separate") => read(table).map(Spec::Separate),
            Some("verify") => read(table).map(Spec::Verify),
            Some("theory") => read(table).map(Spec::Theory),
            Some("tune") => read(table).map(Spec::Tune),
            _ => Err(format!(
                "there is no job {job}; the jobs are train, predict, evaluate, export, compare, separate, verify, theory and tune"
            )),
        }
    }

    /// The specification as TOML.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self)
            .map_err(|error| Error::Spec { place: "the specification".into(), problem: error.to_string() })
    }
}

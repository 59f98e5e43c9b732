//! The trace of the convergence proof and the teaching set of a run.

use super::recorder::Recorder;
use super::{Runner, TrainSpec};
use crate::dataset::Dataset;
use crate::features::{Features, Recipe};
use crate::job::data::load_model;
use crate::observe::Observer;
use crate::scale::Scaling;
use crate::store::write_atomically;
use crate::theory::margin::least_agreement;
use crate::theory::plane::Plane;
use crate::theory::teaching::write_teaching_set;
use crate::theory::trace::{Comparator, MAX_TRACED_WEIGHTS, TracePoint, TraceRecorder};
use crate::train::{Bias, Learner, Outcome, Settings, Status, Task, train};
use crate::{Error, SettingsError};
use std::path::Path;

impl Runner<'_> {
    /// Writes the trace and the teaching set, by going through the same run again: runs that do not ask for them keep
    /// nothing, and a resumed run gives the whole. A part of them would prove nothing, so an interruption leaves them out;
    /// the status tells. A file that cannot be written is among the lost. The points of the trace are given where they were
    /// asked for.
    pub(super) fn write_proof(
        &self,
        data: &Dataset,
        recipe: &Recipe,
        outcome: &Outcome,
        lost: &mut Vec<Error>,
        observer: &mut dyn Observer,
    ) -> Result<(Status, Vec<TracePoint>), Error> {
        let interrupted = Ok((Status::Interrupted, Vec::new()));
        if !self.spec.wants_proof() {
            return Ok((Status::Converged, Vec::new()));
        }
        if outcome.status == Status::Interrupted {
            return interrupted;
        }
        let mut again = Settings { learner: Learner::Perceptron, max_seconds: None, ..self.settings.clone() };
        again.max_updates = Some(outcome.evidence.updates.max(1));
        let task = Task::new(data, &again)?;
        let comparator = match &self.spec.comparator {
            Some(path) => Some(named_comparator(path, &task, recipe, &again)?),
            None => {
                let found = train(data, &again, observer)?;
                if found.status == Status::Interrupted {
                    return interrupted;
                }
                let Some(theta) = found.learned.linear().cloned() else {
                    return Ok((found.status, Vec::new()));
                };
                least_agreement(data, &task.signs, &theta)
                    .map(|margin| Comparator { thetas: vec![theta], margin })
            }
        };
        let radius = task.extent.radius_upper;
        let mut recorder = Recorder::new(observer);
        // The plane of a picture costs a few passes over the rows, and only many features need it.
        let many = data.columns() > MAX_TRACED_WEIGHTS && self.spec.wants_trace();
        let plane = if many { Plane::of(data, outcome.learned.theta()) } else { None };
        let trace = TraceRecorder::new(self.spec.trace_length(), Some(radius), comparator);
        recorder.trace = Some(trace.with_weights(data.columns(), again.bias.input(), plane));
        recorder.mistakes = Some(Vec::new());
        if outcome.evidence.updates > 0 {
            let status = train(data, &again, &mut recorder)?.status;
            if status == Status::Interrupted {
                return interrupted;
            }
        }
        let mut trace = recorder.trace.take().map(TraceRecorder::finish).unwrap_or_default();
        trace.iter_mut().for_each(|point| point.line = Some(data.line(point.row as usize - 1)));
        if let Some(path) = &self.spec.trace {
            lost.extend(write_trace(path, &trace).err());
        }
        if let (Some(path), Some(mistakes)) = (&self.spec.teaching_set, recorder.mistakes.take()) {
            let sign = |&row: &u32| task.signs[row as usize];
            let one_class = mistakes.windows(2).all(|pair| sign(&pair[0]) == sign(&pair[1]));
            let written = write_atomically(path, |out| {
                writeln!(out, "{}", self.teaching_header(one_class))?;
                write_teaching_set(data, &task.signs, &mistakes, out)
            });
            lost.extend(written.err().map(|error| error.at("the teaching set is not saved")));
        }
        Ok((outcome.status, trace))
    }

    /// How to learn the same weights from the teaching set alone.
    fn teaching_header(&self, one_class: bool) -> String {
        let bias = match self.settings.bias {
            Bias::None => "--bias none".to_string(),
            Bias::Append(scale) => format!("--bias append --bias-scale {scale}"),
        };
        let scaled = match (self.preparation().features != Features::Plain, self.scaling() == Scaling::None) {
            (false, true) => "",
            (false, false) => " The values are scaled.",
            (true, true) => " The features are expanded.",
            (true, false) => " The features are expanded and scaled.",
        };
        if one_class {
            return format!(
                "# The mistaken rows in order, all of one class.{scaled} Their sum is the last weights."
            );
        }
        format!(
            "# The mistaken rows in order.{scaled} The last weights of the run are learned from them alone by:\n\
             # linsep train THIS --format libsvm --learner perceptron --order given --epochs 1 --scale none {bias}"
        )
    }
}

/// The model that the trace compares with, and its margin on the rows.
fn named_comparator(
    path: &Path,
    task: &Task<'_>,
    recipe: &Recipe,
    settings: &Settings,
) -> Result<Comparator, Error> {
    let refuse = |problem: &str| Err(SettingsError::new("comparator", problem).into());
    let model = load_model(path)?;
    let theta = model.learned.theta().clone();
    let same_features = theta.weights.len() == task.data.columns()
        && model.recipe.columns.feature_names() == recipe.columns.feature_names()
        && model.recipe.expansion == recipe.expansion;
    if !same_features || theta.bias_input != settings.bias.input() {
        return refuse("the features or the bias of ⟦comparator⟧ differ from those of this run");
    }
    match least_agreement(task.data, &task.signs, &theta) {
        Some(margin) => Ok(Comparator { thetas: vec![theta], margin }),
        None => refuse("⟦comparator⟧ does not separate these rows"),
    }
}

impl TrainSpec {
    /// The most lines of a trace.
    pub(super) fn trace_length(&self) -> usize {
        self.trace_points.unwrap_or(1000) as usize
    }
}

/// Writes a trace as JSON Lines.
pub(super) fn write_trace(path: &Path, points: &[TracePoint]) -> Result<(), Error> {
    write_atomically(path, |out| {
        for point in points {
            serde_json::to_writer(&mut *out, point)?;
            writeln!(out)?;
        }
        Ok(())
    })
    .map_err(|error| error.at("the trace is not saved"))
}

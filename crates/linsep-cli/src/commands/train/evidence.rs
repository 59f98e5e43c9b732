//! The trace (B2) and the teaching set (B5) of a run.

use super::Job;
use crate::commands::load_model;
use crate::console::Watch;
use crate::exit::Usage;
use linsep::read::Schema;
use linsep::scale::Scaling;
use linsep::theory::margin::least_agreement;
use linsep::theory::teaching::write_teaching_set;
use linsep::theory::trace::{Comparator, TracePoint, TraceRecorder};
use linsep::train::{Bias, Learned, Learner, Task};
use linsep::{Dataset, Outcome, Settings, Status};
use std::path::Path;

impl Job<'_> {
    /// The trace and the teaching set, by going through the same run again: nothing is kept in runs that do not
    /// ask, and a resumed run gives the whole. A part of them would prove nothing, so Ctrl-C leaves them out;
    /// the status tells.
    pub(super) fn write_evidence(
        &self,
        data: &Dataset,
        schema: &Schema,
        outcome: &Outcome,
    ) -> anyhow::Result<Status> {
        if self.args.trace.is_none() && self.args.teaching_set.is_none() {
            return Ok(Status::Converged);
        }
        if outcome.status == Status::Interrupted {
            return Ok(Status::Interrupted);
        }
        let mut again = Settings { learner: Learner::Perceptron, max_seconds: None, ..self.settings.clone() };
        again.max_updates = Some(outcome.evidence.updates.max(1));
        let task = Task::new(data, &again)?;
        let comparator = match &self.args.comparator {
            Some(path) => {
                let model = load_model(path)?;
                let theta = model.learned.theta().clone();
                let same_features = theta.weights.len() == data.columns()
                    && model.schema.feature_names() == schema.feature_names();
                if !same_features || theta.bias_input != again.bias.input() {
                    return Err(Usage(
                        "--comparator has other features or another bias than this run".into(),
                    )
                    .into());
                }
                let margin = least_agreement(data, &task.signs, &theta);
                let margin =
                    margin.ok_or_else(|| Usage("--comparator does not separate these rows".into()))?;
                Some(Comparator { theta, margin })
            }
            None => {
                let found = linsep::train(data, &again, &mut Watch::new(self.console))?;
                if found.status == Status::Interrupted {
                    return Ok(Status::Interrupted);
                }
                let Learned::Linear(theta) = found.learned else { return Ok(found.status) };
                least_agreement(data, &task.signs, &theta).map(|margin| Comparator { theta, margin })
            }
        };
        let radius = task.extent.radius_upper;
        let mut watch = Watch::new(self.console);
        watch.trace = Some(TraceRecorder::new(self.args.trace_points as usize, Some(radius), comparator));
        watch.mistakes = Some(Vec::new());
        if outcome.evidence.updates > 0 {
            let status = linsep::train(data, &again, &mut watch)?.status;
            if status == Status::Interrupted {
                return Ok(status);
            }
        }
        watch.end()?;
        if let (Some(path), Some(trace)) = (&self.args.trace, watch.trace) {
            write_trace(path, &trace.finish())?;
        }
        if let (Some(path), Some(mistakes)) = (&self.args.teaching_set, watch.mistakes) {
            linsep::store::write_atomically(path, |out| {
                let one_class = mistakes
                    .windows(2)
                    .all(|pair| task.signs[pair[0] as usize] == task.signs[pair[1] as usize]);
                writeln!(out, "{}", self.teaching_header(one_class))?;
                write_teaching_set(data, &task.signs, &mistakes, out)
            })?;
        }
        Ok(outcome.status)
    }

    /// How to learn the same weights from the teaching set alone.
    fn teaching_header(&self, one_class: bool) -> String {
        let bias = match self.settings.bias {
            Bias::None => "--bias none".to_string(),
            Bias::Append(scale) => format!("--bias append --bias-scale {scale}"),
        };
        let scaled = if self.scaling() == Scaling::None { "" } else { " The values are scaled." };
        if one_class {
            return format!(
                "# The mistaken rows in order, all of one class.{scaled} Their sum is the last weights."
            );
        }
        format!(
            "# The mistaken rows in order.{scaled} The last weights of the run are learned from them alone by:\n\
             # linsep train THIS --format libsvm --learner perceptron --order given --epochs 1 {bias}"
        )
    }
}

pub(super) fn write_trace(path: &Path, points: &[TracePoint]) -> anyhow::Result<()> {
    linsep::store::write_atomically(path, |out| {
        for point in points {
            serde_json::to_writer(&mut *out, point)?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(())
}

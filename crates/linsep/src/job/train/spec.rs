//! The specification of a training job.

use crate::Error;
use crate::features::Features;
use crate::job::{BiasKind, BiasSpec, ClassSpec, DataSpec, SeparateSpec};
use crate::model::ThresholdRule;
use crate::read::options::is_default;
use crate::scale::Scaling;
use crate::train::{MistakeRule, Mixing, Options, Order, Settings};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A training job. Fields left out take their defaults: those of the learner, by the
/// checkpoint that is resumed, or by the model that is started from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// Which classes, and how often their rows count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: ClassSpec,
    /// The share of the rows of each class that is held out, to count the errors on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Whether scores are to become probabilities: where they are not so by nature, by scores of rows that were held out
    /// in turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probabilities: bool,
    /// How the probability is chosen from which on a row is called positive; if not said, the sign of the score decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<ThresholdRule>,
    /// How features are scaled, as learned on the training rows; if not said, as suits each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scaling>,
    /// Which features are made of those of the columns; if not said, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Features>,
    /// At most this many products of pairs of columns; if not said, by the number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pairs: Option<usize>,
    /// The most words of a column that are all features of their own; of more, the rare ones share a feature. 1000 if not
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_words: Option<u32>,
    /// The learner, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    /// The options of that learner.
    #[serde(default, skip_serializing_if = "is_default")]
    pub options: Options,
    /// Logistic regression: with this many weights of the loss up to the chosen one, the weights of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<usize>,
    /// At most this many passes over the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// Stop after this many updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_updates: Option<u64>,
    /// Stop after this many seconds of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// In which order rows are visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The seed of shuffles and of the held-out rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether the boundary has a bias, or goes through the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasSpec,
    /// Where to start: `zero`, `first` (the first row, which counts as an update), or a model file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<PathBuf>,
    /// When a row counts as a mistake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistake: Option<MistakeRule>,
    /// Into how many shards the rows are dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<usize>,
    /// How much each shard counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixing: Option<Mixing>,
    /// Learn each row as it is read, in one pass and in memory that does not grow with the source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub online: bool,
    /// Leave the rows in their file, and use at most this many bytes of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Where the model is saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// Where the run is saved when it starts and every so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints; 10 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_every: Option<f64>,
    /// The checkpoint of a run that is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<PathBuf>,
    /// Where the proof of the convergence theorem is written as it happened, as JSON Lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Keep the trace in the result, also where no file is named for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_trace: bool,
    /// Keep the held-out rows in the result, each with what was predicted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_held_out: bool,
    /// At most this many lines in the trace; 1000 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_points: Option<u64>,
    /// The model that the trace compares with; the separator that the run itself finds if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparator: Option<PathBuf>,
    /// Where the mistaken rows are written in order, as LIBSVM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teaching_set: Option<PathBuf>,
}

/// The name of a start or an output file that is not a model.
const STARTS: [&str; 2] = ["zero", "first"];

impl TrainSpec {
    /// The specification of a run over a file with everything left to the defaults.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { data: DataSpec::file(path), ..Self::default() }
    }

    /// The job that decides, with a certificate, whether the same rows can be separated: for a run that has no finite optimum. None where
    /// other rows or features are learned from than that job would read.
    pub fn separation(&self) -> Option<SeparateSpec> {
        let has_bias = self.bias.append != Some(false);
        // Scaling may move columns, which matters where there is no bias; rows of length 1 are others.
        let same = self.holdout.is_none()
            && !self.expands()
            && self.scale != Some(Scaling::UnitRows)
            && (has_bias || self.scale == Some(Scaling::None));
        same.then(|| SeparateSpec {
            data: self.data.clone(),
            positive: self.classes.positive.clone(),
            only: self.classes.only.clone(),
            row_weights: self.classes.row_weights.clone(),
            bias: if has_bias { BiasKind::Append } else { BiasKind::None },
            bias_scale: self.bias.scale,
            output: Some("CERTIFICATE".into()),
            ..SeparateSpec::default()
        })
    }

    /// The model file to start from, if one is named.
    pub(crate) fn start_model(&self) -> Option<&Path> {
        self.init.as_deref().filter(|path| STARTS.iter().all(|start| path.as_os_str() != *start))
    }

    /// Whether features beside those of the columns are asked for.
    pub(crate) fn expands(&self) -> bool {
        self.features.is_some_and(|features| features != Features::Plain)
    }

    /// Whether the trace or the teaching set is asked for.
    pub(crate) fn wants_proof(&self) -> bool {
        self.wants_trace() || self.teaching_set.is_some()
    }

    /// Whether the trace is asked for.
    pub(crate) fn wants_trace(&self) -> bool {
        self.trace.is_some() || self.keep_trace
    }

    /// The part that a model stores: all that determines its weights, with every choice spelled out, and nothing about where results
    /// are written or how the rows are kept.
    pub(crate) fn of_model(&self, settings: &Settings, scale: Scaling, online: bool) -> Self {
        Self {
            data: DataSpec { cache: false, ..self.data.clone() },
            classes: ClassSpec { positive: settings.positive.clone(), ..self.classes.clone() },
            holdout: self.holdout,
            probabilities: self.probabilities,
            threshold: self.threshold,
            scale: Some(scale),
            features: self.features,
            max_pairs: self.max_pairs,
            max_words: self.max_words,
            learner: Some(settings.learner.name().to_string()),
            options: settings.learner.options(),
            epochs: Some(settings.epochs),
            max_updates: settings.max_updates,
            max_seconds: settings.max_seconds,
            order: Some(settings.order),
            seed: Some(settings.seed),
            bias: BiasSpec::from(settings.bias),
            init: self.init.clone(),
            mistake: (settings.mistake != MistakeRule::default()).then_some(settings.mistake),
            shards: (settings.shards > 1).then_some(settings.shards),
            mixing: (settings.shards > 1).then_some(settings.mixing),
            online,
            ..Self::default()
        }
    }

    /// The specification that a model keeps, if it has one.
    pub fn from_model(model: &crate::Model) -> Option<Result<Self, Error>> {
        let spec = model.spec.as_ref()?;
        Some(TrainSpec::deserialize(spec).map_err(|error| Error::Spec {
            place: "the specification in the model".into(),
            problem: error.to_string(),
        }))
    }
}

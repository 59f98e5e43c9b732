//! Every statement of the theory on a data set.

use super::{BiasSpec, ClassSpec, DataSpec, label};
use crate::observe::Observer;
use crate::read::options::is_default;
use crate::scale::{Scaler, Scaling};
use crate::theory_report::{TheoryReport, analyse};
use crate::train::{ClassWeight, Settings};
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};

/// Which rows the statements of the theory are shown on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TheorySpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// Which two classes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: ClassSpec,
    /// How features are scaled.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: Scaling,
    /// Whether the boundary has a bias, or goes through the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasSpec,
    /// At most this many passes for each run.
    #[serde(default = "passes")]
    pub epochs: u64,
    /// At most this many seconds for each run.
    #[serde(default = "seconds")]
    pub max_seconds: f64,
    /// δ: a statement about new rows is wrong with at most this probability.
    #[serde(default = "delta")]
    pub delta: f64,
    /// The seed of orders and subsets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
}

fn passes() -> u64 {
    1000
}

fn seconds() -> f64 {
    10.0
}

fn delta() -> f64 {
    0.05
}

impl Default for TheorySpec {
    fn default() -> Self {
        Self {
            data: DataSpec::default(),
            classes: ClassSpec::default(),
            scale: Scaling::default(),
            bias: BiasSpec::default(),
            epochs: passes(),
            max_seconds: seconds(),
            delta: delta(),
            seed: 0,
        }
    }
}

impl TheorySpec {
    /// Reads the rows, learns from them, and gives every statement of the theory with its numbers.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<TheoryReport, Error> {
        if self.classes.weight != ClassWeight::Equal || self.classes.row_weights.is_some() {
            let problem =
                "the theorem counts each mistake once, so ⟦class_weight⟧ and ⟦weights⟧ do not apply to it";
            return Err(SettingsError::new("weights", problem).into());
        }
        let settings = Settings {
            epochs: self.epochs,
            max_seconds: Some(self.max_seconds),
            seed: self.seed,
            bias: self.bias.resolve(Settings::default().bias)?,
            positive: self.classes.positive.clone(),
            ..Settings::default()
        };
        settings.validate()?;
        let loaded = self.data.load(observer)?;
        let data = self.classes.kept(loaded.dataset)?;
        label::check(&self.data, loaded.format, &loaded.schema, &data, observer)?;
        let data = Scaler::learn(self.scale, &data).apply_all(data)?;
        analyse(&data, &settings, self.delta, self.data.as_drawn(self.scale), observer).map_err(|error| {
            match error {
                Error::Interrupted => Error::Interrupted,
                error => error.at(self.data.source.name()),
            }
        })
    }
}

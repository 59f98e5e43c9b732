//! What can be chosen about training, and which choices make sense together.

use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// Which learner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// The last θ (A1).
    Perceptron,
    /// The mean of θ over all examples seen (A3).
    #[default]
    Averaged,
    /// Every θ votes, with the number of examples that it survived (A3).
    Voted,
}

/// In which order the examples are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they stand in the data.
    Given,
    /// Shuffled once, the same order in every pass.
    ShuffleOnce,
    /// Shuffled anew for every pass.
    #[default]
    Shuffle,
}

/// Whether the boundary may miss the origin (A2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bias {
    /// It goes through the origin.
    None,
    /// A coordinate with this constant value is appended to every row.
    Append(f64),
}

impl Default for Bias {
    fn default() -> Self {
        Bias::Append(1.0)
    }
}

impl Bias {
    /// The value of the appended coordinate, 0 for none.
    pub fn input(self) -> f64 {
        match self {
            Bias::None => 0.0,
            Bias::Append(value) => value,
        }
    }
}

/// Where θ starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "InitName", into = "InitName")]
pub enum Init {
    /// θ = 0, as the theorems want it.
    #[default]
    Zero,
    /// θ = z₁, the first example in the order, which counts as the first update.
    First,
    /// A θ from elsewhere.
    Warm(Theta),
}

/// How a start is written down: the weights themselves are kept elsewhere.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum InitName {
    Zero,
    First,
    Model,
}

impl From<Init> for InitName {
    fn from(init: Init) -> Self {
        match init {
            Init::Zero => InitName::Zero,
            Init::First => InitName::First,
            Init::Warm(_) => InitName::Model,
        }
    }
}

impl From<InitName> for Init {
    fn from(name: InitName) -> Self {
        match name {
            InitName::Zero => Init::Zero,
            InitName::First => Init::First,
            InitName::Model => Init::Warm(Theta::default()),
        }
    }
}

/// When an example counts as a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MistakeRule {
    /// a ≤ 0
    #[default]
    NonPositive,
    /// a < 0
    Negative,
}

impl MistakeRule {
    /// Whether an agreement is a mistake.
    #[inline(always)]
    pub fn is_mistake(self, agreement: f64) -> bool {
        match self {
            MistakeRule::NonPositive => agreement <= 0.0,
            MistakeRule::Negative => agreement < 0.0,
        }
    }
}

/// Everything that can be chosen about training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Which learner.
    pub learner: Learner,
    /// At most this many passes over the data.
    pub epochs: u64,
    /// Stop after this many updates in all.
    pub max_updates: Option<u64>,
    /// Stop after this many seconds.
    pub max_seconds: Option<f64>,
    /// In which order.
    pub order: Order,
    /// The seed of all shuffles.
    pub seed: u64,
    /// Whether the boundary may miss the origin.
    pub bias: Bias,
    /// Where θ starts.
    pub init: Init,
    /// When an example counts as a mistake.
    pub mistake: MistakeRule,
    /// The class that counts as +1; with more than two classes, it is set against the rest.
    pub positive: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            learner: Learner::default(),
            epochs: 100,
            max_updates: None,
            max_seconds: None,
            order: Order::default(),
            seed: 0,
            bias: Bias::default(),
            init: Init::default(),
            mistake: MistakeRule::default(),
            positive: None,
        }
    }
}

/// Settings that make no sense, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub String);

impl Settings {
    /// Checks that the settings make sense together.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |reason: &str| Err(SettingsError(reason.to_string()));
        if self.epochs == 0 {
            return refuse("the number of epochs must be at least 1: with none, nothing is learned");
        }
        if self.max_updates == Some(0) {
            return refuse("the limit of updates must be at least 1: with none, nothing is learned");
        }
        if self.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return refuse("the limit of seconds must be above 0");
        }
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return refuse(
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose --bias none",
            );
        }
        let starts_at_zero = match &self.init {
            Init::Zero => true,
            Init::First => false,
            Init::Warm(theta) => {
                if !theta.is_finite() || theta.weights.iter().any(|w| w.abs() > 1e140) {
                    return refuse("the weights to start from must be finite and at most 1e140");
                }
                if theta.bias_input != self.bias.input() {
                    return refuse(
                        "the weights to start from were trained with another bias: choose the same --bias and --bias-scale",
                    );
                }
                theta.bias == 0.0 && theta.weights.iter().all(|&w| w == 0.0)
            }
        };
        if starts_at_zero && self.mistake == MistakeRule::Negative {
            return refuse(
                "a start at zero with mistakes defined by a < 0 never learns: at zero every agreement is 0, \
                 which is no mistake. Start with --init first, or count a = 0 as a mistake (--mistake nonpositive)",
            );
        }
        Ok(())
    }
}

//! What can be chosen about training, and which choices make sense together.

use super::learners::Learner;
use super::learners::margin_perceptron::MarginRule;
use super::learners::passive_aggressive::Aggression;
use crate::SettingsError;
use crate::classes::{ClassError, class_name};
use crate::dataset::Dataset;
use crate::theory::mixing::Mixing;
use crate::theta::Theta;
use serde::{Deserialize, Serialize};

/// In which order the examples are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As they stand in the data.
    Given,
    /// Shuffled once, the same order in every pass.
    ShuffleOnce,
    /// Shuffled anew for every pass; large data block-wise, so that rows which stand together stay nearly together.
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

/// How often the rows of each class count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// Every row counts once.
    #[default]
    Equal,
    /// Each side counts as much as the other: n / (number of sides · rows of the side).
    Balanced,
    /// As given for each class; once for those not named.
    Named(Vec<(String, f64)>),
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
    /// How often the rows of each class count.
    #[serde(default)]
    pub class_weight: ClassWeight,
    /// Into how many shards the rows are dealt, to be learned at once and mixed after every pass; 1 for one run over
    /// all of them.
    #[serde(default = "one")]
    pub shards: usize,
    /// How much each shard counts.
    #[serde(default)]
    pub mixing: Mixing,
}

fn one() -> usize {
    1
}

/// Every shard keeps weights of its own: no more of them than any machine has use for.
const MOST_SHARDS: usize = 1024;

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
            class_weight: ClassWeight::default(),
            shards: one(),
            mixing: Mixing::default(),
        }
    }
}

impl Settings {
    /// Checks that the settings make sense together.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |reason: &str| Err(SettingsError::new("learner", reason.to_string()));
        if self.epochs == 0 {
            return refuse("the number of epochs must be at least 1: with none, nothing is learned");
        }
        if self.max_updates == Some(0) {
            return refuse("the limit of updates must be at least 1: with none, nothing is learned");
        }
        if self.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return refuse("the limit of seconds must be above 0: without time nothing is learned");
        }
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return refuse(
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose ⟦bias=none⟧",
            );
        }
        self.learner.validate()?;
        if matches!(self.learner, Learner::Multiclass(_)) && self.positive.is_some() {
            return refuse(
                "the multiclass learner tells all classes apart; ⟦positive⟧ sets one against the rest",
            );
        }
        self.check_class_weight()?;
        self.check_start()?;
        self.check_shards()?;
        let starts_at_zero = match &self.init {
            Init::Zero => true,
            Init::First => false,
            Init::Warm(theta) => {
                if !theta.is_finite() || theta.weights.iter().any(|w| w.abs() > 1e140) {
                    return refuse("the weights to start from must be finite and at most 1e140");
                }
                if theta.bias_input != self.bias.input() {
                    return refuse(
                        "the weights to start from were trained with another bias: choose the same ⟦bias⟧ and ⟦bias_scale⟧",
                    );
                }
                theta.bias == 0.0 && theta.weights.iter().all(|&w| w == 0.0)
            }
        };
        if starts_at_zero && self.mistake == MistakeRule::Negative {
            return refuse(
                "a start at zero with mistakes defined by a < 0 never learns: at zero every agreement is 0, \
                 which is no mistake. Start with ⟦init=first⟧, or count a = 0 as a mistake (⟦mistake=nonpositive⟧)",
            );
        }
        Ok(())
    }

    /// Checks that the settings make sense, also for the weights and classes of these rows.
    pub fn check_on(&self, data: &Dataset) -> Result<(), SettingsError> {
        self.validate()?;
        if data.weights().is_some() { self.check_weights_matter("row weights") } else { Ok(()) }
    }

    /// Starts and mistake rules belong to the learners that go row by row, and some of their promises need zero.
    fn check_start(&self) -> Result<(), SettingsError> {
        let name = self.learner.name();
        let perceptron = matches!(
            self.learner,
            Learner::Perceptron | Learner::Averaged | Learner::Voted | Learner::Multiclass(_)
        );
        if self.mistake != MistakeRule::default() && !perceptron {
            return Err(SettingsError::new(
                "learner",
                format!(
                    "the {name} learner has its own rule for when it learns; ⟦mistake⟧ is for the perceptron, averaged, voted \
                 and multiclass learners"
                ),
            ));
        }
        if self.init == Init::Zero {
            return Ok(());
        }
        if !self.learner.is_online() {
            return Err(SettingsError::new(
                "learner",
                format!(
                    "the {name} learner starts at zero; ⟦init⟧ is for learners that go row by row: perceptron, averaged, \
                 voted, margin, sgd and passive-aggressive"
                ),
            ));
        }
        if matches!(self.learner, Learner::Margin(MarginRule::Dynamic { .. })) {
            return Err(SettingsError::new(
                "learner",
                "the dynamic margin needs a start at zero: only then is ‖θ‖ divided by the number of updates at least the \
                 best margin",
            ));
        }
        if self.init == Init::First && matches!(self.learner, Learner::Sgd(_) | Learner::PassiveAggressive(_))
        {
            return Err(SettingsError::new(
                "learner",
                format!("the {name} learner has steps of its own; ⟦init=first⟧ is for perceptrons"),
            ));
        }
        Ok(())
    }

    /// Shards are for learners whose theorem survives mixing.
    fn check_shards(&self) -> Result<(), SettingsError> {
        if !(1..=MOST_SHARDS).contains(&self.shards) {
            return Err(SettingsError::new(
                "learner",
                format!(
                    "the number of shards must be from 1 to {MOST_SHARDS}, not {}: each keeps weights of its own",
                    self.shards
                ),
            ));
        }
        if self.shards == 1 {
            return Ok(());
        }
        if self.init == Init::First {
            return Err(SettingsError::new(
                "learner",
                "shards cannot start at the first row: each has a first row of its own; start at zero, or from a model",
            ));
        }
        let reason = match self.learner {
            Learner::Perceptron | Learner::Averaged => return Ok(()),
            Learner::Voted => "its votes are the vectors of one run, one after the other",
            Learner::Margin(_) => "its promise about the margin needs one run of whole steps",
            Learner::Sgd(_) | Learner::PassiveAggressive(_) => {
                "its steps are of its own size, and the theorem of mixing counts mistakes"
            }
            Learner::Batch(_) => "it takes all rows at once, on all cores already",
            Learner::Multiclass(_) => {
                "it has weights for each class; without it, each class is set against the rest, in shards"
            }
            _ => "it has no weights that go from row to row and could be mixed",
        };
        Err(SettingsError::new(
            "learner",
            format!(
                "shards are for the perceptron and averaged learners, not for {}: {reason}",
                self.learner.name()
            ),
        ))
    }

    fn check_class_weight(&self) -> Result<(), SettingsError> {
        if let ClassWeight::Named(weights) = &self.class_weight
            && let Some((class, weight)) =
                weights.iter().find(|(_, weight)| !(1e-100..=1e100).contains(weight))
        {
            return Err(SettingsError::new(
                "learner",
                format!(
                    "the weight of class \"{class}\" is {weight}; it must be above 0 (from 1e-100 to 1e100): it says how often \
                 each row of the class counts"
                ),
            ));
        }
        if self.class_weight == ClassWeight::Equal {
            Ok(())
        } else {
            self.check_weights_matter("class weights")
        }
    }

    /// Refuses weights for learners that have no use for them.
    fn check_weights_matter(&self, what: &str) -> Result<(), SettingsError> {
        let reason = match self.learner {
            Learner::Voted => "its votes count examples, not weights",
            Learner::Margin(_) => "its promise about the margin needs steps of one size",
            Learner::Pocket(_) => "its pocket counts rows, each once",
            Learner::MaxMargin(_) => "its margin is that of the nearest row, however often it counts",
            Learner::Lifted(_) => "its theorem needs steps of one size",
            Learner::PassiveAggressive(options) if options.aggression == Aggression::Full => {
                "it makes every row right, whatever it weighs; choose ⟦aggression=capped⟧ or softened"
            }
            _ => return Ok(()),
        };
        Err(SettingsError::new(
            "learner",
            format!("{what} have no meaning for the {} learner: {reason}", self.learner.name()),
        ))
    }

    /// How often each row counts: its own weight times that of its class, or of its side of the boundary. None if all
    /// count once.
    pub(crate) fn row_weights(
        &self,
        data: &Dataset,
        sides: &[u32],
    ) -> Result<Option<Vec<f64>>, crate::Error> {
        if data.weights().is_some() {
            self.check_weights_matter("row weights")?;
        }
        let class_weights: Option<Vec<f64>> = match &self.class_weight {
            ClassWeight::Equal => None,
            ClassWeight::Balanced => {
                let mut counts = vec![0u64; sides.iter().max().map_or(0, |&most| most as usize + 1)];
                sides.iter().for_each(|&side| counts[side as usize] += 1);
                let balanced =
                    |&side: &u32| sides.len() as f64 / (counts.len() as f64 * counts[side as usize] as f64);
                Some(sides.iter().map(balanced).collect())
            }
            ClassWeight::Named(named) => {
                let mut of_class = vec![1.0; data.classes().len()];
                for (label, weight) in named {
                    let place = class_name(label)
                        .and_then(|name| data.classes().iter().position(|class| *class == name))
                        .ok_or_else(|| ClassError::unknown(label, data.classes()))?;
                    of_class[place] = *weight;
                }
                Some(data.labels().iter().map(|&label| of_class[label as usize]).collect())
            }
        };
        Ok(match (class_weights, data.weights()) {
            (Some(of_class), Some(own)) => Some(of_class.iter().zip(own).map(|(a, b)| a * b).collect()),
            (Some(of_class), None) => Some(of_class),
            (None, own) => own.map(<[f64]>::to_vec),
        })
    }
}

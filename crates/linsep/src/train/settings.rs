//! The settings of training, and which of them make sense together.

use super::learners::{Abilities, Ability, Combine, Learner, names_of};
use crate::SettingsError;
use crate::classes::class_name;
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
    /// Shuffled for every pass; large data block-wise, so that neighbouring rows stay close to each other in memory.
    #[default]
    Shuffle,
}

/// Whether the boundary has a bias, or goes through the origin.
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
    /// θ = 0, as the theorems require.
    #[default]
    Zero,
    /// θ = z₁, the first example in the order, which counts as the first update.
    First,
    /// A θ from elsewhere.
    Warm(Theta),
}

/// How a start is stored: the weights themselves are not part of the settings.
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

/// How much the rows of each class count.
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

/// The settings of training.
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
    /// Whether the boundary has a bias, or goes through the origin.
    pub bias: Bias,
    /// Where θ starts.
    pub init: Init,
    /// When an example counts as a mistake.
    pub mistake: MistakeRule,
    /// The class that counts as +1; with more than two classes, it is set against the rest.
    pub positive: Option<String>,
    /// How much the rows of each class count.
    pub class_weight: ClassWeight,
    /// Into how many shards the rows are dealt, to be learned at once and mixed after every pass; 1 for one run over
    /// all of them.
    pub shards: usize,
    /// How much each shard counts.
    pub mixing: Mixing,
}

/// The weight vectors that vote at most: 16 bytes for each, whatever the passes.
const MAX_VOTES: u64 = 1 << 24;

/// Every shard keeps weights of its own: no more shards than any machine has threads for.
const MAX_SHARDS: usize = 1024;

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
            shards: 1,
            mixing: Mixing::default(),
        }
    }
}

impl ClassWeight {
    /// The class weights given by texts: `balanced` alone, or `CLASS=WEIGHT` for each of some classes.
    pub fn parse(texts: &[String]) -> Result<Self, SettingsError> {
        let refuse = |problem: String| Err(SettingsError::new("class_weight", problem));
        let mut named: Vec<(String, f64)> = Vec::new();
        for text in texts {
            if text == "balanced" && texts.len() == 1 {
                return Ok(ClassWeight::Balanced);
            }
            let parsed = text.rsplit_once('=').and_then(|(class, weight)| {
                Some((class_name(class.trim())?, weight.trim().parse::<f64>().ok()?))
            });
            let Some((class, weight)) = parsed else {
                return refuse(format!(
                    "⟦class_weight⟧ {text}: expected balanced alone, or CLASS=WEIGHT such as spam=2"
                ));
            };
            if named.iter().any(|(other, _)| *other == class) {
                return refuse(format!("⟦class_weight⟧ names the class {class} twice"));
            }
            named.push((class, weight));
        }
        Ok(if named.is_empty() { ClassWeight::Equal } else { ClassWeight::Named(named) })
    }
}

impl Settings {
    /// The most updates: as asked for, and no more than a learner that keeps all of them has room for.
    pub(crate) fn update_limit(&self) -> Option<u64> {
        let room = (self.learner.registered().combine() == Combine::Vote).then_some(MAX_VOTES);
        self.max_updates.into_iter().chain(room).min()
    }

    /// Checks that the settings make sense together.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field, problem: &str| Err(SettingsError::new(field, problem));
        if self.epochs == 0 {
            return refuse("epochs", "⟦epochs⟧ must be at least 1");
        }
        if self.max_updates == Some(0) {
            return refuse("max_updates", "⟦max_updates⟧ must be at least 1");
        }
        if self.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return refuse("max_seconds", "⟦max_seconds⟧ must be above 0");
        }
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return refuse(
                "bias_scale",
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose ⟦bias=none⟧",
            );
        }
        self.learner.validate()?;
        if !self.learner.abilities().two_sides && self.positive.is_some() {
            return Err(SettingsError::new(
                "positive",
                format!(
                    "the {} learner trains all classes jointly; ⟦positive⟧ is for one class against the rest",
                    self.learner.name()
                ),
            ));
        }
        self.check_class_weight()?;
        self.check_start()?;
        self.check_shards()?;
        let starts_at_zero = match &self.init {
            Init::Zero => true,
            Init::First => false,
            Init::Warm(theta) => {
                if !theta.is_finite() || theta.weights.iter().any(|w| w.abs() > 1e140) {
                    return refuse("init", "the weights to start from must be finite and at most 1e140");
                }
                if theta.bias_input != self.bias.input() {
                    return refuse(
                        "bias",
                        "the weights to start from were trained with another bias: choose the same ⟦bias⟧ and ⟦bias_scale⟧",
                    );
                }
                theta.bias == 0.0 && theta.weights.iter().all(|&w| w == 0.0)
            }
        };
        if starts_at_zero && self.mistake == MistakeRule::Negative {
            let problem = "a start at zero with mistakes defined by a < 0 never learns: at zero every agreement is 0, which is no \
                           mistake.";
            let remedy = match self.learner.abilities().start_at_first_row {
                Ability::Yes => {
                    "Start with ⟦init=first⟧, or count a = 0 as a mistake (⟦mistake=nonpositive⟧)"
                }
                Ability::No(_) => "Count a = 0 as a mistake (⟦mistake=nonpositive⟧)",
            };
            return Err(SettingsError::new("mistake", format!("{problem} {remedy}")));
        }
        Ok(())
    }

    /// Checks that the settings make sense, also for the weights and classes of these rows.
    pub fn check_on(&self, data: &Dataset) -> Result<(), SettingsError> {
        self.validate()?;
        if data.weights().is_some() { self.check_weights_matter("weights", "row weights") } else { Ok(()) }
    }

    /// Refuses starts and mistake rules that the learner does not have.
    fn check_start(&self) -> Result<(), SettingsError> {
        let (name, abilities) = (self.learner.name(), self.learner.abilities());
        if self.mistake != MistakeRule::default() && !abilities.mistake_rule {
            return Err(SettingsError::new(
                "mistake",
                format!(
                    "the {name} learner has its own rule for when it learns; ⟦mistake⟧ is for the {} learners",
                    names_of(|abilities| abilities.mistake_rule)
                ),
            ));
        }
        let ability = |abilities: &Abilities| match self.init {
            Init::Zero => Ability::Yes,
            Init::First if abilities.start.is_yes() => abilities.start_at_first_row,
            Init::First | Init::Warm(_) => abilities.start,
        };
        match (ability(&abilities), self.learner.descriptor().abilities.start) {
            (Ability::Yes, _) => Ok(()),
            (Ability::No(reason), Ability::Yes) => {
                Err(SettingsError::new("init", format!("the {name} learner has no such ⟦init⟧: {reason}")))
            }
            (Ability::No(reason), Ability::No(_)) => Err(SettingsError::new(
                "init",
                format!(
                    "the {name} learner has no ⟦init⟧: {reason}. It is for learners that process one row at \
                     a time: {}",
                    names_of(|abilities| abilities.start.is_yes())
                ),
            )),
        }
    }

    /// Shards are for learners whose theorem survives mixing.
    fn check_shards(&self) -> Result<(), SettingsError> {
        let refuse = |problem: String| Err(SettingsError::new("shards", problem));
        if !(1..=MAX_SHARDS).contains(&self.shards) {
            return refuse(format!(
                "the number of shards must be from 1 to {MAX_SHARDS}, not {}: each keeps weights of its own",
                self.shards
            ));
        }
        if self.shards == 1 {
            return Ok(());
        }
        if self.init == Init::First {
            return Err(SettingsError::new(
                "init",
                "shards cannot start at the first row, because each shard has its own: start at zero, or \
                 from a model",
            ));
        }
        match self.learner.abilities().shards {
            Ability::Yes => Ok(()),
            Ability::No(reason) => refuse(format!(
                "shards are for the {} learners, not for {}: {reason}",
                names_of(|abilities| abilities.shards.is_yes()),
                self.learner.name()
            )),
        }
    }

    fn check_class_weight(&self) -> Result<(), SettingsError> {
        if let ClassWeight::Named(weights) = &self.class_weight
            && let Some((class, weight)) =
                weights.iter().find(|(_, weight)| !(1e-100..=1e100).contains(weight))
        {
            return Err(SettingsError::new(
                "class_weight",
                format!(
                    "the weight of class \"{class}\" is {weight}; it must be above 0 (from 1e-100 to \
                     1e100): it multiplies the weight of each row of the class"
                ),
            ));
        }
        if self.class_weight == ClassWeight::Equal {
            Ok(())
        } else {
            self.check_weights_matter("class_weight", "class weights")
        }
    }

    /// Refuses weights for learners that have no use for them.
    fn check_weights_matter(&self, field: &'static str, weights: &str) -> Result<(), SettingsError> {
        match self.learner.abilities().weights {
            Ability::Yes => Ok(()),
            Ability::No(reason) => {
                let name = self.learner.name();
                let problem = format!("{weights} do not apply to the {name} learner: {reason}");
                Err(SettingsError::new(field, problem))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_read() {
        let read =
            |texts: &[&str]| ClassWeight::parse(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&[]).unwrap(), ClassWeight::Equal);
        assert_eq!(read(&["balanced"]).unwrap(), ClassWeight::Balanced);
        let named = ClassWeight::Named(vec![("a=b".into(), 2.0), ("1".into(), 0.5)]);
        assert_eq!(read(&["a=b=2", "+1=0.5"]).unwrap(), named);
        for wrong in [&["balanced", "a=1"][..], &["a"], &["a=x"], &["a=1", "a=2"]] {
            assert_eq!(read(wrong).unwrap_err().field, "class_weight", "{wrong:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_field_to_change() {
        let usual = Settings::default;
        let learner = |name: &str| Learner::named(name).unwrap();
        for (settings, field) in [
            (Settings { epochs: 0, ..usual() }, "epochs"),
            (Settings { max_updates: Some(0), ..usual() }, "max_updates"),
            (Settings { max_seconds: Some(0.0), ..usual() }, "max_seconds"),
            (Settings { bias: Bias::Append(0.0), ..usual() }, "bias_scale"),
            (Settings { learner: learner("multiclass"), positive: Some("a".into()), ..usual() }, "positive"),
            (Settings { learner: learner("svm"), init: Init::First, ..usual() }, "init"),
            (Settings { learner: learner("margin"), init: Init::First, ..usual() }, "init"),
            (Settings { learner: learner("sgd"), init: Init::First, ..usual() }, "init"),
            (Settings { learner: learner("sgd"), mistake: MistakeRule::Negative, ..usual() }, "mistake"),
            (Settings { mistake: MistakeRule::Negative, ..usual() }, "mistake"),
            (Settings { shards: 0, ..usual() }, "shards"),
            (Settings { learner: learner("voted"), shards: 2, ..usual() }, "shards"),
            (Settings { shards: 2, init: Init::First, ..usual() }, "init"),
            (
                Settings { class_weight: ClassWeight::Named(vec![("a".into(), 0.0)]), ..usual() },
                "class_weight",
            ),
            (
                Settings { learner: learner("voted"), class_weight: ClassWeight::Balanced, ..usual() },
                "class_weight",
            ),
        ] {
            assert_eq!(settings.validate().unwrap_err().field, field, "{settings:?}");
        }
    }
}

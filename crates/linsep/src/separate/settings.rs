//! Settings of the separation decision.

use super::{Bias, ColumnDetail};
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::{Error, SettingsError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Settings of the separation decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeparateSettings {
    /// The class or classes on each side; rows of other classes are left out. `None`: the two classes of the data.
    pub classes: Option<ClassPair>,
    /// Whether the boundary may miss the origin, and which margin is meant.
    #[serde(with = "bias")]
    pub bias: Bias,
    /// The margin of separable data is narrowed until (upper − lower) ≤ gap · upper. `None`: to 1e-6, and for data with
    /// many features what the first separating boundary shows.
    pub gap: Option<f64>,
    /// Stop after this many seconds.
    pub max_seconds: Option<f64>,
    /// Make at most this many passes of descent over data with many features.
    pub max_passes: Option<u64>,
    /// Use at most about this many bytes beside the data.
    pub max_memory: Option<u64>,
    /// The seed of all samples.
    pub seed: u64,
    /// How much is said about columns beside the verdict.
    pub columns: ColumnDetail,
    /// The order in which features are looked at where columns depend on each other: the later ones are set aside. Features that it does
    /// not name follow in their own order.
    pub order: Vec<usize>,
    /// Features that are looked at after all others, such as the reference levels of words.
    pub last: Vec<usize>,
}

impl Default for SeparateSettings {
    fn default() -> Self {
        Self {
            classes: None,
            bias: Bias::Append(1.0),
            gap: None,
            max_seconds: None,
            max_passes: None,
            max_memory: None,
            seed: 0,
            columns: ColumnDetail::None,
            order: Vec::new(),
            last: Vec::new(),
        }
    }
}

/// The usual settings for these two sides.
impl From<ClassPair> for SeparateSettings {
    fn from(classes: ClassPair) -> Self {
        Self { classes: Some(classes), ..Self::default() }
    }
}

impl SeparateSettings {
    /// The same settings for these two sides.
    pub fn with_classes(&self, classes: &ClassPair) -> Self {
        Self { classes: Some(classes.clone()), ..self.clone() }
    }

    /// Checks that the settings make sense.
    pub fn validate(&self) -> Result<(), SettingsError> {
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return Err(SettingsError::new(
                "bias_scale",
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose ⟦bias=none⟧",
            ));
        }
        if self.gap.is_some_and(|gap| !(1e-15..1.0).contains(&gap)) {
            return Err(SettingsError::new(
                "gap",
                "the gap must be a number from 1e-15 up to, not including, 1: it is relative to the margin",
            ));
        }
        if self.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return Err(SettingsError::new("max_seconds", "the time limit must be above 0 seconds"));
        }
        Ok(())
    }

    /// The two sides: those asked for, or the two classes of the data.
    pub(super) fn sides(&self, data: &Dataset) -> Result<ClassPair, Error> {
        match &self.classes {
            Some(classes) => Ok(classes.clone()),
            None => Ok(ClassPair::choose(data.classes(), None)?),
        }
    }
}

/// The bias in JSON and TOML, as in the settings of training: `"none"`, `{"append": 1.0}` or `"free"`.
pub(crate) mod bias {
    use super::{Bias, Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Told {
        None,
        Append(f64),
        Free,
    }

    pub(crate) fn serialize<S: Serializer>(bias: &Bias, serializer: S) -> Result<S::Ok, S::Error> {
        let told = match *bias {
            Bias::None => Told::None,
            Bias::Append(scale) => Told::Append(scale),
            Bias::Free => Told::Free,
        };
        told.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bias, D::Error> {
        Ok(match Told::deserialize(deserializer)? {
            Told::None => Bias::None,
            Told::Append(scale) => Bias::Append(scale),
            Told::Free => Bias::Free,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_json() {
        for bias in [Bias::None, Bias::Append(0.1), Bias::Free] {
            let classes = ClassPair { positive: "b".into(), negative: vec!["a".into()].into() };
            let settings =
                SeparateSettings { bias, gap: Some(1e-3), max_memory: Some(1 << 30), ..classes.into() };
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<SeparateSettings>(&text).unwrap(), settings);
        }
        assert_eq!(serde_json::from_str::<SeparateSettings>("{}").unwrap(), SeparateSettings::default());
    }

    #[test]
    fn refusals_name_the_field() {
        let refused = |settings: SeparateSettings| settings.validate().unwrap_err().field;
        let usual = SeparateSettings::default;
        assert_eq!(refused(SeparateSettings { bias: Bias::Append(0.0), ..usual() }), "bias_scale");
        assert_eq!(refused(SeparateSettings { gap: Some(1.0), ..usual() }), "gap");
        assert_eq!(refused(SeparateSettings { max_seconds: Some(0.0), ..usual() }), "max_seconds");
    }
}

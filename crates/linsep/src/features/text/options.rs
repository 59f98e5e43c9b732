//! Options of how texts become features.

use crate::SettingsError;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// The unit of the terms of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermKind {
    /// Words: two or more letters, digits and underscores.
    #[default]
    Words,
    /// Characters, with the spaces between words.
    Characters,
}

impl TermKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [TermKind; 2] = [TermKind::Words, TermKind::Characters];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TermKind::Words => "words",
            TermKind::Characters => "characters",
        }
    }

    /// How many of them are one term, where nothing is said.
    pub fn usual_ngrams(self) -> Ngrams {
        match self {
            TermKind::Words => Ngrams { least: 1, most: 1 },
            TermKind::Characters => Ngrams { least: 3, most: 5 },
        }
    }
}

/// The weighting of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermWeights {
    /// How often the text has it.
    Counts,
    /// 1 where the text has it.
    Binary,
    /// How often the text has it, times ln((1 + n) / (1 + m)) + 1, where m of the n training rows have it; the values of a
    /// text together have length 1.
    #[default]
    TfIdf,
}

impl TermWeights {
    /// Every kind, in the order of the documentation.
    pub const ALL: [TermWeights; 3] = [TermWeights::Counts, TermWeights::Binary, TermWeights::TfIdf];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TermWeights::Counts => "counts",
            TermWeights::Binary => "binary",
            TermWeights::TfIdf => "tf-idf",
        }
    }
}

/// How many neighbouring words or characters are one term: `2`, or `1-2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ngrams {
    /// The least.
    pub least: u8,
    /// The most.
    pub most: u8,
}

impl Ngrams {
    /// The longest terms that are made.
    pub const MAX: u8 = 10;
}

impl fmt::Display for Ngrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, most) if least == most => write!(f, "{least}"),
            (least, most) => write!(f, "{least}-{most}"),
        }
    }
}

impl std::str::FromStr for Ngrams {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        match (least.trim().parse(), most.trim().parse()) {
            (Ok(least), Ok(most)) if 1 <= least && least <= most && most <= Self::MAX => {
                Ok(Self { least, most })
            }
            _ => Err(format!("expected a number from 1 to {}, or two such as 1-2", Self::MAX)),
        }
    }
}

impl Serialize for Ngrams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ngrams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// How texts become features. Fields left out take their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// The columns of a table that hold text, by name or number from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The unit of a term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terms: Option<TermKind>,
    /// How many neighbouring words or characters are one term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ngrams: Option<Ngrams>,
    /// The weighting of terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<TermWeights>,
    /// The training rows that must have a term for it to be a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_count: Option<u32>,
    /// The most terms that are features: those of the most training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_vocabulary: Option<u32>,
    /// Number terms by a hash of so many bits, instead of listing them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_bits: Option<u8>,
    /// These words alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The neighbouring words of a term where the user said nothing about them: the most that a search tries.
    #[serde(skip)]
    pub(crate) searched_ngrams: Option<Ngrams>,
}

impl TextOptions {
    /// The training rows that must have a term, where nothing is said: what one row alone has tells nothing general.
    pub const MIN_COUNT: u32 = 2;
    /// The most terms that are features, where nothing is said.
    pub const MAX_VOCABULARY: u32 = 1 << 20;
    /// The hashes that are made.
    pub const HASH_BITS: std::ops::RangeInclusive<u8> = 4..=24;

    /// Whether the user said how texts become features, beyond naming their columns.
    pub(crate) fn says_how(&self) -> bool {
        let unsaid =
            Self { columns: self.columns.clone(), searched_ngrams: self.searched_ngrams, ..Self::default() };
        *self != unsaid
    }

    /// The first option that the user gave about how texts become features.
    pub(crate) fn first_said(&self) -> Option<&'static str> {
        [
            ("words", !self.words.is_empty()),
            ("terms", self.terms.is_some()),
            ("ngrams", self.ngrams.is_some()),
            ("text_weights", self.weights.is_some()),
            ("min_count", self.min_count.is_some()),
            ("max_vocabulary", self.max_vocabulary.is_some()),
            ("hash_bits", self.hash_bits.is_some()),
        ]
        .into_iter()
        .find_map(|(option, given)| given.then_some(option))
    }

    /// Refuses what makes no sense together.
    pub fn check(&self) -> Result<(), SettingsError> {
        let refuse = |field: &'static str, problem: &str| Err(SettingsError::new(field, problem.to_string()));
        if self.hash_bits.is_some_and(|bits| !Self::HASH_BITS.contains(&bits)) {
            return refuse("hash_bits", "⟦hash_bits⟧ is a number from 4 to 24");
        }
        if self.hash_bits.is_some() && (self.min_count.is_some() || self.max_vocabulary.is_some()) {
            return refuse(
                "hash_bits",
                "⟦hash_bits⟧ hashes terms without a vocabulary, so ⟦min_count⟧ and ⟦max_vocabulary⟧ do not \
                 apply",
            );
        }
        let listed = !self.words.is_empty();
        let other = self.hash_bits.is_some() || self.min_count.is_some() || self.max_vocabulary.is_some();
        if listed && (other || self.ngrams.is_some() || self.terms == Some(TermKind::Characters)) {
            return refuse(
                "words",
                "⟦words⟧ lists all terms: ⟦hash_bits⟧, ⟦min_count⟧, ⟦max_vocabulary⟧, ⟦ngrams⟧ and ⟦terms⟧ \
                 do not apply",
            );
        }
        if self.max_vocabulary == Some(0) || self.min_count == Some(0) {
            return refuse("min_count", "⟦min_count⟧ and ⟦max_vocabulary⟧ are at least 1");
        }
        Ok(())
    }
}

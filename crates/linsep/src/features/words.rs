//! A column of words, or categories: one feature for each word (one-hot).

use super::rare::Rare;
use super::{FeatureKind, Observed};
use serde::{Deserialize, Serialize};

/// The word of a missing cell, where those are a category of their own.
pub(crate) const MISSING_WORD: &str = "";

/// The name of the feature of a word.
pub(crate) fn word_feature(column: &str, word: &str) -> String {
    if word == MISSING_WORD { missing_feature(column) } else { format!("{column}={word}") }
}

/// What the feature is called that says that a cell is missing.
pub(crate) fn missing_feature(column: &str) -> String {
    format!("{column} missing")
}

/// One feature for each word: 1 where the cell holds it. A word that is not among them sets none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The words and their features.
    pub words: Vec<(String, usize)>,
    /// Whether a missing cell, which is left without a category, is accepted.
    pub optional: bool,
    /// The feature that rare words share. Then a word that is not among the others has it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<Rare>,
}

impl Words {
    /// Whether a missing cell is one of the categories: some training rows had none.
    pub(crate) fn knows_missing(&self) -> bool {
        self.words.iter().any(|(word, _)| word == MISSING_WORD)
    }
}

impl FeatureKind for Words {
    fn features(&self) -> Vec<usize> {
        let rare = self.rare.iter().map(|rare| rare.feature);
        self.words.iter().map(|&(_, feature)| feature).chain(rare).collect()
    }

    fn relearn(&mut self, observed: &Observed) {
        self.words.retain(|&(_, feature)| observed.first[feature].is_some());
    }

    fn is_numbered_by_appearance(&self) -> bool {
        true
    }

    fn renumber(&mut self, numbers: &[Option<u32>]) {
        for (_, feature) in &mut self.words {
            if let Some(number) = numbers[*feature] {
                *feature = number as usize;
            }
        }
        self.words.sort_unstable_by_key(|&(_, feature)| feature);
        if let Some(rare) = &mut self.rare
            && let Some(number) = numbers[rare.feature]
        {
            rare.feature = number as usize;
        }
    }
}

//! Rare words: in a column of very many words, those that hardly any row has are one feature together.
//!
//! Nothing general is learned from a word that one or two rows have, and thousands of such features fit any labels. Which
//! words are rare is learned on the training rows; a word that none of them has is rare as well.

use super::words::word_feature;
use super::{ColumnKind, MISSING_WORD, Observed, Schema, Words};
use crate::numbers::grouped;
use serde::{Deserialize, Serialize};

/// The most words of a column that are all features of their own, where nothing else is said.
pub const MAX_WORDS: u32 = 1000;

/// Words of fewer training rows than this are rare.
const MIN_ROWS: u64 = 3;

/// The feature of the rare words of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rare {
    /// Which feature.
    pub feature: usize,
    /// How many words of the training rows share it.
    pub words: u64,
}

/// The name of the feature of rare words.
pub(crate) fn rare_feature(column: &str) -> String {
    word_feature(column, "(rare)")
}

/// The words of a column that become one feature.
pub(super) struct Group {
    /// The features that they had.
    pub(super) features: Vec<usize>,
    /// How many of them the training rows have.
    pub(super) words: u64,
}

impl Words {
    /// Takes the rare words out, if the training rows have more words than `most` and two of them at least are rare.
    pub(super) fn take_rare(&mut self, observed: &Observed, most: usize) -> Option<Group> {
        let rows = |feature: usize| observed.rows[feature];
        if self.rare.is_some() || self.words.iter().filter(|&&(_, feature)| rows(feature) > 0).count() <= most
        {
            return None;
        }
        let is_rare = |(word, feature): &(String, usize)| word != MISSING_WORD && rows(*feature) < MIN_ROWS;
        let features: Vec<usize> =
            self.words.iter().filter(|word| is_rare(word)).map(|&(_, feature)| feature).collect();
        let words = features.iter().filter(|&&feature| rows(feature) > 0).count() as u64;
        if words < 2 {
            return None;
        }
        self.words.retain(|word| !is_rare(word));
        Some(Group { features, words })
    }
}

impl Schema {
    /// Whether a column has more words than this.
    pub(crate) fn has_more_words_than(&self, most: usize) -> bool {
        let Schema::Table { columns, .. } = self else { return false };
        let more = |kind: &ColumnKind| matches!(kind, ColumnKind::Words(words) if words.words.len() > most);
        columns.iter().any(|column| more(&column.kind))
    }

    /// Whether rare words of a column share a feature.
    pub(crate) fn has_rare_words(&self) -> bool {
        let Schema::Table { columns, .. } = self else { return false };
        columns.iter().any(|column| matches!(&column.kind, ColumnKind::Words(words) if words.rare.is_some()))
    }

    /// What the user should know about rare words.
    pub(super) fn rare_remarks(&self) -> Vec<String> {
        let Schema::Table { columns, .. } = self else { return Vec::new() };
        let remark = |column: &super::Column| {
            let ColumnKind::Words(Words { words, rare: Some(rare), .. }) = &column.kind else { return None };
            Some(format!(
                "{} of the {} words of column \"{}\" are rare, in fewer than {MIN_ROWS} training rows: they share one \
                 feature, \"{}\". ⟦max_words⟧ sets how many words of a column get their own feature.",
                grouped(rare.words),
                grouped(rare.words + words.len() as u64),
                column.name,
                self.feature_name(rare.feature)
            ))
        };
        columns.iter().filter_map(remark).collect()
    }
}

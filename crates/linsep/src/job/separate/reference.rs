//! Reference levels: with one feature for each word of a column beside a bias, no coefficient of the words is identified by
//! itself. One word of each column is the reference, and the coefficients of the others say how they differ from it.

use crate::SettingsError;
use crate::dataset::Dataset;
use crate::features::{Column, ColumnKind, Schema};
use crate::read::options::is_default;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the reference level of a column is chosen where it is not named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceRule {
    /// The first word in alphabetical order, as statistical programs do.
    #[default]
    First,
    /// The word that most rows have, each counted as often as its weight says.
    MostFrequent,
}

/// The reference levels of the columns of words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReferenceSpec {
    /// For columns that are not named.
    #[serde(skip_serializing_if = "is_default")]
    pub rule: ReferenceRule,
    /// The word of each column that is named.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub named: BTreeMap<String, String>,
}

impl ReferenceSpec {
    /// From what a user writes: `first`, `most-frequent` or `COLUMN=WORD`, each several times.
    pub fn parse(texts: &[String]) -> Result<Self, SettingsError> {
        let mut spec = Self::default();
        let mut rule = None;
        for text in texts {
            let chosen = match (text.as_str(), text.split_once('=')) {
                ("first", _) => ReferenceRule::First,
                ("most-frequent", _) => ReferenceRule::MostFrequent,
                (_, Some((column, word))) => {
                    if spec.named.insert(column.to_string(), word.to_string()).is_some() {
                        return refuse(format!("⟦reference⟧ names the column \"{column}\" twice"));
                    }
                    continue;
                }
                _ => {
                    return refuse(format!(
                        "⟦reference⟧ is first, most-frequent or COLUMN=WORD, and \"{text}\" is none of them"
                    ));
                }
            };
            if rule.replace(chosen).is_some_and(|before| before != chosen) {
                return refuse("⟦reference⟧ is first or most-frequent, not both".to_string());
            }
        }
        spec.rule = rule.unwrap_or_default();
        Ok(spec)
    }

    /// The features of the reference levels.
    pub(super) fn features(&self, schema: &Schema, data: &Dataset) -> Result<Vec<usize>, SettingsError> {
        let mut unused = self.named.clone();
        let mut features = Vec::new();
        if let Schema::Table { columns, .. } = schema {
            let mut counts = Vec::new();
            if self.rule == ReferenceRule::MostFrequent {
                counts = vec![0.0; data.columns()];
                for i in 0..data.len() {
                    // In a table of counts a row stands for as many as it says.
                    let weight = data.weight(i);
                    data.row(i).iter().filter(|&(_, x)| x != 0.0).for_each(|(j, _)| counts[j] += weight);
                }
            }
            for column in columns {
                let ColumnKind::Words(words) = &column.kind else { continue };
                let known = || words.words.iter();
                let chosen = match unused.remove(&column.name) {
                    Some(word) => {
                        let found = known().find(|(own, _)| *own == word);
                        if found.is_none() {
                            let some: Vec<&str> = known().map(|(own, _)| own.as_str()).take(10).collect();
                            return refuse(format!(
                                "column \"{}\" has no word \"{word}\" for ⟦reference⟧; it has {}{}",
                                column.name,
                                some.join(", "),
                                if words.words.len() > 10 { ", …" } else { "" }
                            ));
                        }
                        found
                    }
                    None => match self.rule {
                        // A cell that is missing is hardly what others are compared with.
                        ReferenceRule::First => known().min_by_key(|(own, _)| (own.is_empty(), own)),
                        ReferenceRule::MostFrequent => known().max_by(|(a, first), (b, second)| {
                            counts[*first].total_cmp(&counts[*second]).then(b.cmp(a))
                        }),
                    },
                };
                features.extend(chosen.map(|(_, feature)| *feature));
            }
        }
        match unused.keys().next() {
            Some(column) => refuse(format!(
                "⟦reference⟧ names the column \"{column}\", which is no column of words of this data"
            )),
            None => Ok(features),
        }
    }
}

/// The features in the order in which a statistical program would have them: the columns of a table as they stand in the file, the words of a
/// column in alphabetical order, a missing cell and rare words after them. It does not depend on the order of the rows, as the numbers of
/// features do. Empty where features have no columns.
pub(crate) fn in_file_order(schema: &Schema) -> Vec<usize> {
    let Schema::Table { columns, .. } = schema else { return Vec::new() };
    let of = |column: &Column| -> Vec<usize> {
        match &column.kind {
            ColumnKind::Words(words) => {
                let mut known: Vec<(bool, &str, usize)> = words
                    .words
                    .iter()
                    .map(|(word, feature)| (word.is_empty(), word.as_str(), *feature))
                    .collect();
                known.sort_unstable();
                let rare = words.rare.iter().map(|rare| rare.feature);
                known.into_iter().map(|(_, _, feature)| feature).chain(rare).collect()
            }
            kind => kind.features().map_or_else(Vec::new, |kind| kind.features()),
        }
    };
    columns.iter().flat_map(of).collect()
}

fn refuse<T>(problem: String) -> Result<T, SettingsError> {
    Err(SettingsError::new("reference", problem))
}

//! How the columns of a file become features: what a model remembers of its training file.

use serde::{Deserialize, Serialize};

/// How features are numbered and named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Schema {
    /// LIBSVM: features are numbers, counted from `index_base`.
    Numbered {
        /// 0 or 1.
        index_base: u32,
        /// Number of features.
        features: usize,
    },
    /// A table: every column has a part to play.
    Table {
        /// Whether the file named its columns.
        header: bool,
        /// The columns as they stand in the file.
        columns: Vec<Column>,
        /// The features that they become: the columns of numbers in file order, then `column=word` in the
        /// order of first appearance.
        features: Vec<String>,
    },
    /// An array without names.
    Array {
        /// Number of columns.
        features: usize,
    },
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name in the header, or its number from 1.
    pub name: String,
    /// What it is used for.
    pub kind: ColumnKind,
}

/// What a column is used for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// One feature: its value.
    Number {
        /// Which feature.
        feature: usize,
        /// What a missing cell becomes; `None` if it is refused.
        fill: Option<f64>,
    },
    /// One feature for each word: 1 where the cell holds it.
    Words {
        /// The words and their features.
        words: Vec<(String, usize)>,
        /// Whether a missing cell, with none of the features set, is accepted.
        optional: bool,
    },
    /// The label.
    Label,
    /// Left out.
    Ignored,
}

impl Schema {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Schema::Numbered { features, .. } | Schema::Array { features } => *features,
            Schema::Table { features, .. } => features.len(),
        }
    }

    /// The number that the first feature has for the user.
    pub fn index_base(&self) -> u32 {
        match self {
            Schema::Numbered { index_base, .. } => *index_base,
            _ => 1,
        }
    }

    /// What about it cannot be, if rows with so many columns are to be read by it.
    pub(crate) fn fault(&self, columns: usize) -> Option<&'static str> {
        if self.features() != columns {
            return Some("it has another number of features than of columns");
        }
        match self {
            Schema::Numbered { index_base, .. } if *index_base > 1 => {
                Some("its indices count from neither 0 nor 1")
            }
            Schema::Table { columns: table, .. } => {
                let known = table.iter().all(|column| match &column.kind {
                    ColumnKind::Number { feature, fill } => {
                        *feature < columns && fill.is_none_or(f64::is_finite)
                    }
                    ColumnKind::Words { words, .. } => words.iter().all(|&(_, feature)| feature < columns),
                    ColumnKind::Label | ColumnKind::Ignored => true,
                });
                if !known {
                    return Some("a column speaks of a feature that there is not");
                }
                let labels = table.iter().filter(|column| column.kind == ColumnKind::Label).count();
                (labels != 1).then_some("not exactly one of its columns is the label")
            }
            _ => None,
        }
    }

    /// Names of the features, where there are names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        match self {
            Schema::Table { features, .. } => Some(features.clone()),
            _ => None,
        }
    }

    /// What to call feature `j`.
    pub fn feature_name(&self, j: usize) -> String {
        match self {
            Schema::Table { features, .. } => {
                features.get(j).cloned().unwrap_or_else(|| format!("{}", j + 1))
            }
            _ => (j + self.index_base() as usize).to_string(),
        }
    }
}

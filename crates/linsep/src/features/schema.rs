//! How the columns of a file become features: what a model remembers of its training file.

use super::{FeatureKind, MISSING_WORD, Missing, MissingWords, Number, OnMissing, PictureForm, Scaler, Words};
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
    /// A table: every column has a use.
    Table {
        /// Whether the file named its columns.
        header: bool,
        /// The columns as they stand in the file.
        columns: Vec<Column>,
        /// The features that they become: the columns of numbers in file order, then `column=word` in the
        /// order of first appearance.
        features: Vec<String>,
        /// Which cells count as missing.
        #[serde(default)]
        missing_words: MissingWords,
    },
    /// Pictures of one size.
    Pictures(PictureForm),
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
    Number(Number),
    /// One feature for each word.
    Words(Words),
    /// The label.
    Label,
    /// Left out.
    Ignored,
}

impl ColumnKind {
    /// What the column contributes to a row; `None` if nothing.
    pub(crate) fn features(&self) -> Option<&dyn FeatureKind> {
        match self {
            ColumnKind::Number(number) => Some(number),
            ColumnKind::Words(words) => Some(words),
            ColumnKind::Label | ColumnKind::Ignored => None,
        }
    }

    pub(crate) fn features_mut(&mut self) -> Option<&mut dyn FeatureKind> {
        match self {
            ColumnKind::Number(number) => Some(number),
            ColumnKind::Words(words) => Some(words),
            ColumnKind::Label | ColumnKind::Ignored => None,
        }
    }
}

impl Schema {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Schema::Numbered { features, .. } | Schema::Array { features } => *features,
            Schema::Table { features, .. } => features.len(),
            Schema::Pictures(form) => form.features(),
        }
    }

    /// The number that the first feature has for the user.
    pub fn index_base(&self) -> u32 {
        match self {
            Schema::Numbered { index_base, .. } => *index_base,
            _ => 1,
        }
    }

    /// Lets a missing number become the mean of its column, where a scaling has learned it and nothing else is filled in:
    /// then a model takes rows with missing cells though it has learned from none.
    pub(crate) fn fill_from(&mut self, scaler: &Scaler) {
        let (Schema::Table { columns, .. }, Scaler::Standard(standard)) = (self, scaler) else { return };
        for column in columns {
            if let ColumnKind::Number(Number { feature, fill: fill @ None, .. }) = &mut column.kind {
                // A feature that is not centred is one that most rows lack: zero is its usual value.
                *fill = standard.mean().get(*feature).copied();
            }
        }
    }

    /// What makes it unusable for rows with so many columns, if anything.
    pub(crate) fn fault(&self, columns: usize) -> Option<&'static str> {
        if self.features() != columns {
            return Some("it has another number of features than of columns");
        }
        match self {
            Schema::Numbered { index_base, .. } if *index_base > 1 => {
                Some("its indices count from neither 0 nor 1")
            }
            Schema::Table { columns: table, .. } => {
                let mut kinds = table.iter().filter_map(|column| column.kind.features());
                let sound = |kind: &dyn FeatureKind| {
                    kind.is_sound() && kind.features("").iter().all(|&(feature, _)| feature < columns)
                };
                if !kinds.all(sound) {
                    return Some("a column has a feature outside the features");
                }
                let labels = table.iter().filter(|column| column.kind == ColumnKind::Label).count();
                // None where the labels were in a second file.
                (labels > 1).then_some("more than one of its columns is the label")
            }
            _ => None,
        }
    }

    /// Whether a word column knows missing cells as a category.
    pub(crate) fn has_missing_words(&self) -> bool {
        let Schema::Table { columns, .. } = self else { return false };
        columns.iter().any(|column| match &column.kind {
            ColumnKind::Words(words) => words.words.iter().any(|(word, _)| word == MISSING_WORD),
            _ => false,
        })
    }

    /// Treats missing cells of the word columns in this way, in rows that will come: so far none is missing.
    pub(crate) fn treat_missing_words(&mut self, missing: Missing) {
        let Schema::Table { columns, .. } = self else { return };
        for column in columns {
            if let ColumnKind::Words(words) = &mut column.kind {
                words.optional = missing.of_words() == OnMissing::Category;
            }
        }
    }

    /// The column of words that feature `j` is a word of.
    pub(crate) fn words_column(&self, j: usize) -> Option<&str> {
        let Schema::Table { columns, .. } = self else { return None };
        let has = |column: &&Column| match &column.kind {
            ColumnKind::Words(words) => words.features("").iter().any(|&(feature, _)| feature == j),
            _ => false,
        };
        columns.iter().find(has).map(|column| column.name.as_str())
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
            Schema::Pictures(form) => form.feature_name(j),
            _ => (j + self.index_base() as usize).to_string(),
        }
    }
}

//! How the columns of a file become features: what a model remembers of its training file.

use super::{
    FeatureKind, MISSING_WORD, Missing, MissingWords, Number, OnMissing, PictureForm, Scaler, TermWeights,
    Text, TextChoice, Words,
};
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
        /// order of first appearance. Terms that were learned come after these, and have their names in their column.
        features: Vec<String>,
        /// Which cells count as missing.
        missing_words: MissingWords,
        /// What divided the cells of a table with free text, which may hold the characters that divide other tables.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delimiter: Option<char>,
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
    /// Its use.
    pub kind: ColumnKind,
    /// Why its cells look like names of the rows: then it is left out where columns are learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_rows: Option<RowNames>,
}

/// How the cells of a column name the rows, so that nothing general is learned from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowNames {
    /// A different word in every row.
    DifferentWords,
    /// Whole numbers, each the one before it and one more.
    CountsUp,
}

impl RowNames {
    /// The reason, as the end of a sentence about a column.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            RowNames::DifferentWords => "has a different word in every row: it looks like an identifier",
            RowNames::CountsUp => "numbers the rows: it looks like an identifier",
        }
    }
}

impl Schema {
    /// Leaves out the columns whose cells name the rows, unless no other column has features.
    pub(crate) fn leave_out_row_names(&mut self) {
        let names_rows = self.has_row_names();
        let Schema::Table { columns, .. } = self else { return };
        for column in columns.iter_mut().filter(|column| names_rows && column.names_rows.is_some()) {
            column.kind = ColumnKind::Ignored;
        }
    }

    /// Keeps the columns whose cells name the rows, but for those that are left out already.
    pub(crate) fn keep_row_names(&mut self) {
        let Schema::Table { columns, .. } = self else { return };
        let of_features = columns.iter_mut().filter(|column| column.kind.features().is_some());
        of_features.for_each(|column| column.names_rows = None);
    }

    /// Whether there are columns of features whose cells name the rows, beside others.
    pub(crate) fn has_row_names(&self) -> bool {
        self.row_name_features() > 0
    }

    /// How many features the columns have that are left out because their cells name the rows.
    pub(crate) fn row_name_features(&self) -> usize {
        let Schema::Table { columns, .. } = self else { return 0 };
        let features = |named: bool| {
            let own = columns.iter().filter(move |column| column.names_rows.is_some() == named);
            own.filter_map(|column| column.kind.features()).map(|kind| kind.features().len())
        };
        if features(false).next().is_none() { 0 } else { features(true).sum() }
    }

    /// What is to be said of columns whose cells name the rows, left out or not, and of rare words.
    pub fn remarks(&self) -> Vec<String> {
        let Schema::Table { columns, .. } = self else { return Vec::new() };
        let remark = |column: &Column| {
            let (name, reason) = (&column.name, column.names_rows?.reason());
            let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
            let argument = if plain { name.clone() } else { format!("\"{name}\"") };
            Some(match column.kind {
                ColumnKind::Ignored => {
                    format!("Column \"{name}\" {reason}, and is left out; ⟦keep⟧ {argument} brings it back.")
                }
                _ => format!("Column \"{name}\" {reason}. Leave it out with ⟦ignore⟧ {argument}."),
            })
        };
        let mut remarks: Vec<String> = columns.iter().filter_map(remark).collect();
        remarks.extend(self.rare_remarks());
        remarks
    }
}

/// The use of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// One feature: its value.
    Number(Number),
    /// One feature for each word.
    Words(Words),
    /// One feature for each term of its texts.
    Text(Text),
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
            ColumnKind::Text(text) => Some(text),
            ColumnKind::Label | ColumnKind::Ignored => None,
        }
    }

    pub(crate) fn features_mut(&mut self) -> Option<&mut dyn FeatureKind> {
        match self {
            ColumnKind::Number(number) => Some(number),
            ColumnKind::Words(words) => Some(words),
            ColumnKind::Text(text) => Some(text),
            ColumnKind::Label | ColumnKind::Ignored => None,
        }
    }
}

impl Schema {
    /// Number of features.
    pub fn features(&self) -> usize {
        match self {
            Schema::Numbered { features, .. } | Schema::Array { features } => *features,
            Schema::Table { features, .. } => {
                features.len() + self.learned_texts().map(|(_, text)| text.terms.len()).sum::<usize>()
            }
            Schema::Pictures(form) => form.features(),
        }
    }

    /// The columns of texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &Text)> {
        let columns = if let Schema::Table { columns, .. } = self { columns.as_slice() } else { &[] };
        columns.iter().filter_map(|column| match &column.kind {
            ColumnKind::Text(text) => Some((column.name.as_str(), text)),
            _ => None,
        })
    }

    /// What comes before the terms of a column of texts in the names of their features: nothing, where no other column has
    /// features.
    pub(crate) fn term_prefix(&self, column: &str) -> String {
        let Schema::Table { columns, .. } = self else { return String::new() };
        term_prefixes(columns)(column)
    }

    /// Those whose terms were learned.
    fn learned_texts(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.texts().filter(|(_, text)| !text.is_as_read())
    }

    /// Whether a text is all that rows have.
    pub(crate) fn is_text_alone(&self) -> bool {
        let Schema::Table { columns, .. } = self else { return false };
        let mut used = columns.iter().filter(|column| column.kind.features().is_some());
        matches!((used.next(), used.next()), (Some(Column { kind: ColumnKind::Text(_), .. }), None))
    }

    /// Whether feature `j` is a term of a text.
    pub fn is_term(&self, j: usize) -> bool {
        self.learned_texts().any(|(_, text)| text.range().contains(&j))
    }

    /// Whether counts of terms are not weighed yet.
    pub(crate) fn has_texts_as_read(&self) -> bool {
        self.texts().any(|(_, text)| text.is_as_read())
    }

    /// The features of terms whose values have a common length in every row.
    pub(crate) fn weighed_terms(&self) -> std::ops::Range<usize> {
        let end = self.features();
        let is_weighed = |(_, text): &(&str, &Text)| text.weights == TermWeights::TfIdf;
        // They are one after the other, at the end, if all are weighed alike.
        if !self.learned_texts().all(|text| is_weighed(&text)) {
            return end..end;
        }
        end - self.learned_texts().map(|(_, text)| text.terms.len()).sum::<usize>()..end
    }

    /// Makes terms of texts as a search chose, where nothing was learned from them yet.
    pub(crate) fn choose_terms(&mut self, choice: TextChoice) {
        let Schema::Table { columns, .. } = self else { return };
        for column in columns {
            if let ColumnKind::Text(text) = &mut column.kind {
                (text.ngrams, text.weights) = (choice.ngrams, choice.weights);
            }
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
                    kind.is_sound() && kind.features().iter().all(|&feature| feature < columns)
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
            ColumnKind::Words(words) => words.features().contains(&j),
            _ => false,
        };
        columns.iter().find(has).map(|column| column.name.as_str())
    }

    /// Names of the features, where there are names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        match self {
            Schema::Table { features, columns, .. } => {
                let prefix = term_prefixes(columns);
                let names = self.learned_texts().flat_map(|(column, text)| {
                    let prefix = prefix(column);
                    (0..text.terms.len()).map(move |term| text.feature_name(&prefix, term))
                });
                Some(features.iter().cloned().chain(names).collect())
            }
            _ => None,
        }
    }

    /// The name of feature `j`.
    pub fn feature_name(&self, j: usize) -> String {
        match self {
            Schema::Table { features, .. } => {
                let term = || {
                    let (column, text) = self.learned_texts().find(|(_, text)| text.range().contains(&j))?;
                    Some(text.feature_name(&self.term_prefix(column), j - text.range().start))
                };
                features.get(j).cloned().or_else(term).unwrap_or_else(|| format!("{}", j + 1))
            }
            Schema::Pictures(form) => form.feature_name(j),
            _ => (j + self.index_base() as usize).to_string(),
        }
    }
}

/// What comes before the terms of a column of texts, among these columns, by the name of the column.
pub(crate) fn term_prefixes(columns: &[Column]) -> impl Fn(&str) -> String + use<> {
    let several = columns.iter().filter(|column| column.kind.features().is_some()).nth(1).is_some();
    move |column| if several { format!("{column}:") } else { String::new() }
}

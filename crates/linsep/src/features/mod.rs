//! Records to rows: what a model remembers of how its features were made.
//!
//! A [`Recipe`] has three parts. Its columns ([`Schema`]) say what each column of a file contributes: a number, one feature
//! for each word, one for each term of its texts, or nothing; and what a missing cell becomes. Its expansion ([`Expansion`]) adds splines and products of
//! columns. Its scaling ([`Scaler`]) brings the features to a common scale. All are learned on the training rows only
//! ([`learn_columns`], [`Expansion::learn`], [`Scaler::learn`]), saved in the model, and applied to every row that the model
//! sees later.
//!
//! Each kind of feature has a file of its own and implements `FeatureKind`. To add a kind, write such a file and add a
//! variant to [`ColumnKind`].

pub(crate) mod dates;
pub mod expansion;
mod form;
mod missing;
mod missing_words;
mod numbers;
mod pictures;
mod rare;
pub mod scaling;
mod schema;
pub(crate) mod styled;
pub(crate) mod text;
mod words;

pub use dates::DateOrder;
pub use expansion::{Expansion, ExpansionBuffer, ExpansionSummary, Factor, Features, Residuals, Splines};
pub use form::CellForm;
pub use missing::Missing;
pub(crate) use missing::{Mean, OnMissing};
pub use missing_words::MissingWords;
pub use numbers::Number;
pub use pictures::PictureForm;
pub use rare::{MAX_WORDS, Rare};
pub use scaling::{RowBuffer, Scaler, Scaling, Standard};
pub(crate) use schema::term_prefixes;
pub use schema::{Column, ColumnKind, RowNames, Schema};
pub use styled::{Currency, Decimal, Style};
pub use text::{
    Analysis, Ngrams, TermFeatures, TermKind, TermRows, TermWeights, Terms, Text, TextChoice, TextOptions,
    TokenBuffer,
};
pub use words::Words;
pub(crate) use words::{MISSING_WORD, word_feature};

use crate::dataset::{Dataset, DatasetError, Row};
use crate::split::Split;
use std::collections::HashSet;
use text::Weighing;
use words::missing_feature;

/// How the rows of a file become rows of features.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// How columns become features.
    pub columns: Schema,
    /// Which features are made of those of the columns.
    pub expansion: Expansion,
    /// How features are scaled.
    pub scaling: Scaler,
}

impl From<Schema> for Recipe {
    fn from(columns: Schema) -> Self {
        Self { columns, expansion: Expansion::none(), scaling: Scaler::None }
    }
}

impl Recipe {
    /// Number of features, after the expansion.
    pub fn features(&self) -> usize {
        self.columns.features() + self.expansion.added()
    }

    /// The name of feature `j`, after the expansion.
    pub fn feature_name(&self, j: usize) -> String {
        self.expansion.feature_name(j, |j| self.columns.feature_name(j))
    }

    /// The scaling for rows that may have features which it has not seen.
    pub(crate) fn scaling_of(&self, data: &Dataset) -> Scaler {
        let mut scaler = self.scaling.clone();
        scaler.widen(data.columns());
        scaler
    }

    /// The expanded and scaled form of a row that was read by the columns of this recipe.
    pub fn apply<'a>(&self, row: Row<'a>, buffer: &'a mut RecipeBuffer) -> Row<'a> {
        let RecipeBuffer { expanded, scaled } = buffer;
        self.scaling.apply(self.expansion.apply(row, expanded), scaled)
    }
}

/// Room for one row on its way through a recipe.
#[derive(Clone, Debug, Default)]
pub struct RecipeBuffer {
    expanded: ExpansionBuffer,
    scaled: RowBuffer,
}

/// What one column of a table contributes to a row. One implementation for each kind of feature.
pub(crate) trait FeatureKind {
    /// The features.
    fn features(&self) -> Vec<usize>;

    /// Whether what was learned can be applied: its numbers are finite.
    fn is_sound(&self) -> bool {
        true
    }

    /// Replaces what was learned from all rows by what the training rows show. A feature that they do not have is
    /// dropped.
    fn relearn(&mut self, observed: &Observed);

    /// Whether the features are terms of texts, which come after all others and are learned apart.
    fn has_terms(&self) -> bool {
        false
    }

    /// Whether features are numbered in the order in which the rows show them, after those that the file numbers.
    fn is_numbered_by_appearance(&self) -> bool {
        false
    }

    /// Gives each feature its new number.
    fn renumber(&mut self, numbers: &[Option<u32>]);
}

/// What the training rows show about the features.
pub(crate) struct Observed {
    /// The mean of each feature over the cells that are not missing, where some are.
    pub(crate) means: Option<Vec<f64>>,
    /// How often each feature is missing.
    pub(crate) missing: Vec<u64>,
    /// The first row that has the feature, and how many have it.
    pub(crate) first: Vec<Option<u32>>,
    pub(crate) rows: Vec<u64>,
    /// How many rows there are.
    pub(crate) len: usize,
}

impl Observed {
    fn of(train: &Dataset) -> Self {
        let mut first = vec![None; train.columns()];
        let mut rows_with = vec![0u64; train.columns()];
        let filled = train.filled_cells();
        let mut means = vec![Mean::default(); train.columns()];
        let mut gaps = filled.unwrap_or_default().iter().peekable();
        // Of sparse rows, zeros are not stored: they are added to the counts afterwards.
        let (mut missing, mut missing_weight) = (vec![0u64; train.columns()], vec![0.0; train.columns()]);
        // Rows that count more weigh more in a mean.
        for i in 0..train.len() {
            let mut own = Vec::new();
            while let Some(&&(_, column)) = gaps.peek().filter(|gap| gap.0 as usize == i) {
                own.push(column);
                missing[column as usize] += 1;
                missing_weight[column as usize] += train.weight(i);
                gaps.next();
            }
            own.sort_unstable();
            for (j, x) in train.row(i).iter() {
                if x != 0.0 {
                    first[j].get_or_insert(i as u32);
                    rows_with[j] += 1;
                }
                if filled.is_some() && own.binary_search(&(j as u32)).is_err() {
                    means[j].add(x * train.weight(i));
                }
            }
        }
        let rows: f64 = train.weights().map_or(train.len() as f64, |weights| weights.iter().sum());
        let mean = |(mean, missing): (&Mean, &f64)| mean.over(rows - missing);
        let means = filled.map(|_| means.iter().zip(&missing_weight).map(mean).collect());
        Self { means, missing, first, rows: rows_with, len: train.len() }
    }
}

/// Learns the columns of a table again on the training rows alone, and makes both parts of the split anew by them.
///
/// A reader learns the columns from all rows, because it does not know which of them will be held out. Afterwards:
///
/// - A missing number is filled with the mean of the training rows. Where the reader left that open ([`Missing::Auto`]),
///   an additional feature marks it as missing, if that happens in a few training rows at least.
/// - A word that only held-out rows have is not a feature. As for any word that a model has not seen, a row with it has
///   none of the column's features.
/// - Words are numbered in the order in which the training rows show them. Where a column has more than `most_words` of
///   them, the rare ones share a feature, which words that only held-out rows have belong to as well.
/// - Which terms of texts are features, and what their counts are worth, is what the training rows tell.
///
/// Whether a column holds numbers or words is still decided by all rows. Features that are numbered by the file itself
/// (LIBSVM, arrays) stay as they are.
pub fn learn_columns(
    schema: Schema,
    split: Split,
    most_words: Option<usize>,
) -> Result<(Schema, Split), DatasetError> {
    let (schema, change) = learn(schema, &split.train, most_words);
    let Some(change) = change else { return Ok((schema, split)) };
    let split = Split { train: change.apply(&split.train)?, held_out: change.apply(&split.held_out)? };
    Ok((schema, split))
}

/// Fills the missing cells of a table that its reader left open, groups rare words and weighs the terms of texts, as
/// [`learn_columns`] does, where all rows are learned from.
pub fn settle_columns(
    schema: Schema,
    data: Dataset,
    most_words: Option<usize>,
) -> Result<(Schema, Dataset), DatasetError> {
    if !changes_when_settled(&schema, &data, most_words) {
        return Ok((schema, data));
    }
    let (schema, change) = learn(schema, &data, most_words);
    let data = match change {
        Some(change) => change.apply(&data)?,
        None => data,
    };
    Ok((schema, data))
}

/// Learns the columns again from rows that are not those that were read: means of missing numbers, and which words there are.
/// What the reader left open stays open.
pub(crate) fn relearn_columns(schema: Schema, data: Dataset) -> Result<(Schema, Dataset), DatasetError> {
    // Of texts everything is still open: what is learned about them here would come from rows that are held out later.
    if schema.has_texts_as_read() {
        return Ok((schema, data));
    }
    let mut observed = Observed::of(&data);
    let Schema::Table { columns, .. } = &schema else { return Ok((schema, data)) };
    let filled =
        |column: &Column| matches!(&column.kind, ColumnKind::Number(number) if number.fill.is_some());
    if !columns.iter().any(filled) {
        (observed.means, observed.missing) = (None, vec![0; data.columns()]);
    }
    let (schema, change) = learn_observed(schema, observed, None);
    let data = change.map_or(Ok(data.clone()), |change| change.apply(&data))?;
    Ok((schema, data))
}

/// Whether rows change where all of them are learned from: missing cells are open, words rare, or texts not weighed.
pub fn changes_when_settled(schema: &Schema, data: &Dataset, most_words: Option<usize>) -> bool {
    has_gaps(schema, data)
        || schema.has_texts_as_read()
        || schema.has_row_names()
        || most_words.is_some_and(|most| schema.has_more_words_than(most))
}

/// Whether there are missing cells that the reader left open.
pub(crate) fn has_gaps(schema: &Schema, data: &Dataset) -> bool {
    let Schema::Table { columns, .. } = schema else { return false };
    let open = |column: &Column| matches!(&column.kind, ColumnKind::Number(number) if number.fill.is_none());
    columns.iter().any(open) && data.filled_cells().is_some_and(|cells| !cells.is_empty())
}

/// Training rows that must lack a number before a feature says so: fewer tell nothing.
const MIN_GAPS: u64 = 5;

/// Learns the columns on these rows; what changes in rows then, if anything.
fn learn(schema: Schema, train: &Dataset, most_words: Option<usize>) -> (Schema, Option<Change>) {
    if !matches!(schema, Schema::Table { .. }) {
        return (schema, None);
    }
    learn_observed(schema, Observed::of(train), most_words)
}

fn learn_observed(
    mut schema: Schema,
    observed: Observed,
    most_words: Option<usize>,
) -> (Schema, Option<Change>) {
    schema.leave_out_row_names();
    let Schema::Table { columns, features, .. } = &mut schema else { return (schema, None) };
    // Features in their new order: numbers as in the file, then words in the order of their first training row.
    let mut order = Vec::new();
    let (mut gaps, mut groups) = (Vec::new(), Vec::new());
    for (place, column) in columns.iter_mut().enumerate() {
        if let (ColumnKind::Words(words), Some(most)) = (&mut column.kind, most_words) {
            groups.extend(words.take_rare(&observed, most).map(|group| (place, group)));
        }
        if let ColumnKind::Number(Number { feature, fill: None, .. }) = column.kind
            && observed.missing[feature] >= MIN_GAPS
        {
            gaps.push((place, feature));
        }
        // Terms come after all other features.
        let Some(kind) = column.kind.features_mut().filter(|kind| !kind.has_terms()) else { continue };
        kind.relearn(&observed);
        let first = |feature: usize| observed.first[feature].filter(|_| kind.is_numbered_by_appearance());
        order.extend(kind.features().iter().map(|&feature| (first(feature), place, feature)));
    }
    let has_texts =
        columns.iter().any(|column| matches!(&column.kind, ColumnKind::Text(text) if text.is_as_read()));
    order.sort_unstable();
    let mut numbers = vec![None; features.len()];
    for (number, &(.., feature)) in order.iter().enumerate() {
        numbers[feature] = Some(number as u32);
    }
    let renumbered = has_texts || !numbers.iter().copied().eq((0..features.len() as u32).map(Some));
    if observed.means.is_none() && !renumbered {
        return (schema, None);
    }
    for kind in columns.iter_mut().filter_map(|column| column.kind.features_mut()) {
        kind.renumber(&numbers);
    }
    let mut names: Vec<String> = order.iter().map(|&(.., feature)| features[feature].clone()).collect();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    // After all others, what says that a number was missing.
    let mut says = vec![None; features.len()];
    for (place, feature) in gaps {
        says[feature] = Some(names.len() as u32);
        if let ColumnKind::Number(number) = &mut columns[place].kind {
            number.gap = Some(names.len());
        }
        names.push(free_name(missing_feature(&columns[place].name), &mut taken));
    }
    for (place, group) in groups {
        let feature = names.len();
        group.features.iter().for_each(|&rare| numbers[rare] = Some(feature as u32));
        if let ColumnKind::Words(words) = &mut columns[place].kind {
            words.rare = Some(Rare { feature, words: group.words });
        }
        names.push(free_name(rare::rare_feature(&columns[place].name), &mut taken));
    }
    features.clone_from(&names);
    let mut weighings = Vec::new();
    let prefix = term_prefixes(columns);
    let prefixes: Vec<String> = columns.iter().map(|column| prefix(&column.name)).collect();
    for (column, prefix) in columns.iter_mut().zip(prefixes) {
        let ColumnKind::Text(text) = &mut column.kind else { continue };
        let learned = text.learn(&observed, names.len());
        learned.iter().for_each(|&(old, new)| numbers[old as usize] = Some(new));
        names.extend((0..text.terms.len()).map(|term| text.feature_name(&prefix, term)));
        weighings.push(text.weighing());
    }
    (schema, Some(Change { means: observed.means, numbers, renumbered, says, names, weighings }))
}

/// What changes in the rows when their columns are learned again.
struct Change {
    /// What filled cells become.
    means: Option<Vec<f64>>,
    /// The new number of each feature that stays.
    numbers: Vec<Option<u32>>,
    /// Whether a number changes, or a feature goes.
    renumbered: bool,
    /// The feature that says that this one is missing.
    says: Vec<Option<u32>>,
    /// What the features are called then.
    names: Vec<String>,
    /// What counts of terms become.
    weighings: Vec<Weighing>,
}

impl Change {
    fn apply(&self, data: &Dataset) -> Result<Dataset, DatasetError> {
        let gaps = if self.means.is_some() { data.filled_cells().unwrap_or_default() } else { &[] };
        let width = self.names.len();
        let (mut i, mut next) = (0, 0);
        let mut cells: Vec<(u32, f64)> = Vec::new();
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let changed = data.map_rows_to(width, |row, keep| {
            let start = next;
            while gaps.get(next).is_some_and(|gap| gap.0 == i) {
                next += 1;
            }
            i += 1;
            let own = &gaps[start..next];
            let mean = |column: u32| self.means.as_ref().map_or(0.0, |means| means[column as usize]);
            let said = own.iter().filter_map(|&(_, column)| self.says[column as usize]);
            values.clear();
            if let Row::DenseF32(_) | Row::DenseF64(_) = row {
                if own.is_empty() && row.width() == width {
                    return keep(row);
                }
                values.extend(row.iter().map(|(_, value)| value));
                own.iter().for_each(|&(_, column)| values[column as usize] = mean(column));
                values.resize(width, 0.0);
                said.for_each(|feature| values[feature as usize] = 1.0);
                return keep(Row::DenseF64(&values));
            }
            if own.is_empty() && !self.renumbered {
                return keep(row);
            }
            let mut columns: Vec<u32> = own.iter().map(|&(_, column)| column).collect();
            columns.sort_unstable();
            let is_gap = |column: u32| columns.binary_search(&column).is_ok();
            let stored = row.iter().map(|(j, x)| (j as u32, x)).filter(|&(j, _)| !is_gap(j));
            let refilled = own.iter().map(|&(_, column)| (column, mean(column))).filter(|&(_, x)| x != 0.0);
            cells.clear();
            cells.extend(
                stored
                    .chain(refilled)
                    .filter_map(|(j, x)| self.numbers[j as usize].map(|number| (number, x))),
            );
            cells.extend(said.map(|feature| (feature, 1.0)));
            cells.sort_unstable_by_key(|&(number, _)| number);
            // Only rows of a damaged file have two words of one column, which may both be rare.
            cells.dedup_by_key(|&mut (number, _)| number);
            for weighing in &self.weighings {
                let place = |feature: usize| cells.partition_point(|cell| (cell.0 as usize) < feature);
                let own = place(weighing.features.start)..place(weighing.features.end);
                weighing.weigh(&mut cells[own]);
            }
            indices.clear();
            indices.extend(cells.iter().map(|&(number, _)| number));
            values.extend(cells.iter().map(|&(_, value)| value));
            keep(Row::SparseF64(&indices, &values));
        })?;
        Ok(changed.renamed(self.names.clone()))
    }
}

/// The name of a new feature: a number is put behind a name that another has.
fn free_name(name: String, taken: &mut HashSet<String>) -> String {
    let others = (2..).map(|count| format!("{name}.{count}"));
    std::iter::once(name.clone()).chain(others).find(|name| taken.insert(name.clone())).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{CsvOptions, ReadOptions, Source, read};
    use crate::split::hold_out;

    fn loaded(text: &str, missing: Missing) -> (Schema, Dataset) {
        let csv = CsvOptions { missing, ..CsvOptions::default() };
        let options = ReadOptions { csv, ..ReadOptions::default() };
        let loaded = read(&Source::Shared("rows".into(), text.as_bytes().into()), &options, &mut ()).unwrap();
        (loaded.schema, loaded.dataset)
    }

    fn fill_of(schema: &Schema, column: usize) -> f64 {
        let Schema::Table { columns, .. } = schema else { panic!("{schema:?}") };
        let ColumnKind::Number(number) = &columns[column].kind else { panic!("{schema:?}") };
        number.fill.unwrap()
    }

    fn split_at(data: &Dataset, held_out: &[usize]) -> Split {
        let train: Vec<usize> = (0..data.len()).filter(|i| !held_out.contains(i)).collect();
        Split { train: data.subset(&train).unwrap(), held_out: data.subset(held_out).unwrap() }
    }

    fn cells(data: &Dataset, i: usize) -> Vec<(usize, f64)> {
        data.row(i).iter().filter(|&(_, x)| x != 0.0).collect()
    }

    #[test]
    fn means_are_those_of_the_training_rows() {
        // With words the rows are sparse, without them dense.
        for words in [false, true] {
            let word = |word: &str| if words { format!("{word},") } else { String::new() };
            let text =
                format!("x,{}kind\n1,{w}a\n?,{w}b\n0,{w}a\n?,{w}b\n100,{w}a\n", word("w"), w = word("red"));
            let (schema, data) = loaded(&text, Missing::Mean);
            assert_eq!(fill_of(&schema, 0), 101.0 / 3.0);
            // Row 4, with its large number, and row 3, with its missing cell, are held out.
            let (learned, split) = learn_columns(schema, split_at(&data, &[3, 4]), None).unwrap();
            assert_eq!(fill_of(&learned, 0), 0.5);
            let of_word = if words { vec![(1, 1.0)] } else { vec![] };
            let with_word = |x: f64| [vec![(0, x)], of_word.clone()].concat();
            assert_eq!(cells(&split.train, 1), with_word(0.5));
            assert_eq!(cells(&split.held_out, 0), with_word(0.5));
            assert_eq!(cells(&split.held_out, 1), with_word(100.0));
        }
    }

    #[test]
    fn all_rows_as_training_rows_give_the_same_bits() {
        let mut text = "x,y,kind\n".to_string();
        for i in 0..200 {
            let x = if i % 7 == 0 { "?".to_string() } else { format!("{}", (i as f64).sin() * 1e3) };
            text += &format!("{x},{},{}\n", i % 5, ["a", "b"][i % 2]);
        }
        let (schema, data) = loaded(&text, Missing::Mean);
        let split = Split { train: data.clone(), held_out: data.clone() };
        let (learned, split) = learn_columns(schema.clone(), split, None).unwrap();
        assert_eq!(learned, schema);
        assert_eq!(split.train.fingerprint(), data.fingerprint());
        assert_eq!(split.held_out.rows(), data.rows());
    }

    #[test]
    fn words_of_held_out_rows_alone_are_no_features() {
        let (schema, data) =
            loaded("x,w,kind\n1,red,a\n2,blue,b\n3,green,a\n4,red,b\n5,blue,a\n", Missing::Refuse);
        assert_eq!(schema.feature_names().unwrap(), ["x", "w=red", "w=blue", "w=green"]);
        let (learned, split) = learn_columns(schema, split_at(&data, &[1, 4]), None).unwrap();
        assert_eq!(learned.feature_names().unwrap(), ["x", "w=red", "w=green"]);
        assert_eq!(learned.fault(3), None);
        assert_eq!((split.train.columns(), split.held_out.columns()), (3, 3));
        assert_eq!(split.train.feature_names().unwrap(), ["x", "w=red", "w=green"]);
        assert_eq!(cells(&split.train, 1), [(0, 3.0), (2, 1.0)]);
        assert_eq!(cells(&split.held_out, 1), [(0, 5.0)]);
        // A row with that word is read by the model as the held-out row was.
        let options = ReadOptions { schema: Some(learned), ..ReadOptions::default() };
        let again = read(&Source::Memory("rows", b"x,w,kind\n5,blue,a\n"), &options, &mut ()).unwrap();
        assert_eq!(cells(&again.dataset, 0), [(0, 5.0)]);
    }

    /// Rare words are grouped where there are more words than allowed, by the training rows alone; a word that they do not
    /// have is rare for the held-out rows and for the model alike.
    #[test]
    fn rare_words_share_a_feature_above_a_limit() {
        let mut text = "x,w,kind\n".to_string();
        for i in 0..12 {
            let word = ["red", "blue", "?"].get(i % 4).map_or(format!("rare{i}"), |word| word.to_string());
            text += &format!("{i},{word},{}\n", ["a", "b"][i % 2]);
        }
        let (schema, data) = loaded(&text, Missing::Auto);
        // Five words: red, blue, none, and two of the three rare ones; "rare11" is held out.
        let held_out = || split_at(&data, &[11]);
        let (same, _) = learn_columns(schema.clone(), held_out(), Some(5)).unwrap();
        assert!(!same.has_rare_words());
        let (learned, split) = learn_columns(schema, held_out(), Some(4)).unwrap();
        let names = ["x", "w=red", "w=blue", "w missing", "w=(rare)"];
        assert_eq!(learned.feature_names().unwrap(), names);
        assert_eq!((learned.fault(5), learned.has_rare_words()), (None, true));
        assert!(
            learned.rare_remarks()[0].contains("2 of the 5 words of column \"w\" are rare"),
            "{learned:?}"
        );
        assert_eq!(cells(&split.train, 3), [(0, 3.0), (4, 1.0)]);
        assert_eq!(cells(&split.train, 2), [(0, 2.0), (3, 1.0)]);
        assert_eq!(cells(&split.held_out, 0), [(0, 11.0), (4, 1.0)]);
        let json = serde_json::to_string(&learned).unwrap();
        let again =
            ReadOptions { schema: Some(serde_json::from_str(&json).unwrap()), ..ReadOptions::default() };
        let rows = b"x,w,kind\n5,never,a\n6,red,b\n7,rare3,a\n8,,b\n";
        let read = read(&Source::Memory("rows", rows), &again, &mut ()).unwrap().dataset;
        assert_eq!([0, 1, 2, 3].map(|i| cells(&read, i)[1].0), [4, 1, 4, 3]);
    }

    #[test]
    fn what_a_reader_leaves_open_is_filled_and_said() {
        for words in [false, true] {
            let word = |word: &str| if words { format!("{word},") } else { String::new() };
            let mut text = format!("x,y,{}kind\n", word("w"));
            for i in 0..12 {
                let x = if i % 2 == 0 { "NA".to_string() } else { i.to_string() };
                let y = if i == 3 { String::new() } else { "4".to_string() };
                let w = word(if i == 1 { "" } else { "red" });
                text += &format!("{x},{y},{w}{}\n", ["a", "b"][i / 6]);
            }
            let (schema, data) = loaded(&text, Missing::Auto);
            assert!(has_gaps(&schema, &data));
            let (schema, data) = settle_columns(schema, data, None).unwrap();
            let of_words: &[&str] = if words { &["w=red", "w missing"] } else { &[] };
            // One missing cell tells nothing; six do.
            assert_eq!(schema.feature_names().unwrap(), [&["x", "y"], of_words, &["x missing"]].concat());
            assert_eq!((fill_of(&schema, 0), fill_of(&schema, 1)), (6.0, 4.0));
            assert_eq!((schema.fault(data.columns()), has_gaps(&schema, &data)), (None, false));
            let word_of = |i: usize| match (words, i) {
                (false, _) => vec![],
                (true, 1) => vec![(3, 1.0)],
                (true, _) => vec![(2, 1.0)],
            };
            let gap = data.columns() - 1;
            for i in 0..12 {
                let x = if i % 2 == 0 { 6.0 } else { i as f64 };
                let said = if i % 2 == 0 { vec![(gap, 1.0)] } else { vec![] };
                assert_eq!(cells(&data, i), [vec![(0, x), (1, 4.0)], word_of(i), said].concat(), "row {i}");
            }
            // The model reads the same rows in the same way, and takes a word among numbers for a missing one.
            let options = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
            let again =
                read(&Source::Shared("rows".into(), text.as_bytes().into()), &options, &mut ()).unwrap();
            assert_eq!(again.dataset.rows(), data.rows());
            let odd = text.replace("NA", "rotary");
            let odd = read(&Source::Shared("rows".into(), odd.as_bytes().into()), &options, &mut ()).unwrap();
            assert_eq!(odd.dataset.rows(), data.rows());
        }
    }

    #[test]
    fn rows_without_a_label_are_left_out_where_gaps_are_filled() {
        let (_, data) = loaded("x,kind\n1,a\n2,\n3,b\n4,NA\n", Missing::Auto);
        assert_eq!(data.len(), 2);
    }

    #[test]
    fn gaps_stay_with_their_rows() {
        let (_, data) = loaded("x,kind\n1,a\n?,b\n3,a\n?,b\n", Missing::Mean);
        assert_eq!(data.filled_cells(), Some(&[(1, 0), (3, 0)][..]));
        assert_eq!(data.subset(&[3, 0, 1]).unwrap().filled_cells(), Some(&[(0, 0), (2, 0)][..]));
        assert_eq!(
            data.only_classes(&["b".to_string()]).unwrap().filled_cells(),
            Some(&[(0, 0), (1, 0)][..])
        );
        let (_, data) = loaded("x,kind\n1,a\n?,b\n", Missing::Zero);
        assert_eq!(data.filled_cells(), None);
        let numbered = Dataset::dense(1, &[1.0, 2.0, 3.0, 4.0], &["a", "b", "a", "b"]).unwrap();
        let split = hold_out(&numbered, 0.5, 0).unwrap();
        let schema = Schema::Array { features: 1 };
        assert_eq!(learn_columns(schema.clone(), split, None).unwrap().0, schema);
    }
}

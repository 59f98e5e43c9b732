//! From records to rows: the one way that training, folds, searches, findings and front ends take.
//!
//! A [`Preparation`] says how rows are prepared before any of them is seen. [`Preparation::fit`] learns a [`Recipe`] from the
//! training rows alone: fills and words of columns, then splines and products, then the scaling. Rows that are held out
//! get the columns; the rest of the recipe is applied when they are judged.

use crate::classes::shortened;
use crate::dataset::Dataset;
use crate::features::{
    Expansion, Features, MAX_WORDS, Recipe, Scaler, Scaling, Schema, Terms, TextChoice, changes_when_settled,
    learn_columns, relearn_columns, settle_columns,
};
use crate::model::learn_expansion;
use crate::numbers::counted;
use crate::observe::{Note, Observer};
use crate::read::Loaded;
use crate::split::{Split, others};
use crate::train::Settings;
use crate::{Error, SettingsError};

/// How rows are prepared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preparation {
    /// The text options, instead of those that the texts were read with.
    pub text: Option<TextChoice>,
    /// The most words of a column that all have features of their own; none for any number.
    pub most_words: Option<usize>,
    /// The features made of the columns.
    pub features: Features,
    /// The most products of columns; the usual number if not said.
    pub max_pairs: Option<usize>,
    /// How features are scaled.
    pub scaling: Scaling,
}

impl Default for Preparation {
    /// The columns themselves, as they are.
    fn default() -> Self {
        Self {
            text: None,
            most_words: Some(MAX_WORDS as usize),
            features: Features::Plain,
            max_pairs: None,
            scaling: Scaling::None,
        }
    }
}

/// Rows before anything was learned from them: missing cells are open, words not counted, texts not weighed.
#[derive(Clone, Debug)]
pub struct Records {
    /// How the columns were read.
    pub schema: Schema,
    /// The rows.
    pub data: Dataset,
}

/// Rows whose columns are learned, neither expanded nor scaled.
#[derive(Debug)]
pub struct Columns {
    /// What the training rows tell about the columns.
    pub schema: Schema,
    /// The rows to learn from.
    pub train: Dataset,
    /// The rows that were held out.
    pub held_out: Option<Dataset>,
}

/// Rows to learn from, prepared, with those that were held out of them.
#[derive(Debug)]
pub struct Prepared {
    /// The rows to learn from, expanded and scaled.
    pub train: Dataset,
    /// The rows to judge on, with the columns that were learned from the others, neither expanded nor scaled.
    pub held_out: Option<Dataset>,
    /// The preparation, learned from the training rows alone.
    pub recipe: Recipe,
}

impl Preparation {
    /// Whether rows change when their columns are learned: missing cells are open, words rare, or texts not weighed.
    pub fn changes(&self, schema: &Schema, data: &Dataset) -> bool {
        changes_when_settled(schema, data, self.most_words)
    }

    /// Learns the columns of rows that were read so: all are learned from, or those that are not held out.
    pub fn columns(
        &self,
        mut schema: Schema,
        train: Dataset,
        held_out: Option<Dataset>,
    ) -> Result<Columns, Error> {
        if let Some(choice) = self.text {
            schema.choose_terms(choice);
        }
        match held_out {
            Some(held_out) => {
                let (schema, split) = learn_columns(schema, Split { train, held_out }, self.most_words)?;
                Ok(Columns { schema, train: split.train, held_out: Some(split.held_out) })
            }
            None => {
                let (schema, train) = settle_columns(schema, train, self.most_words)?;
                Ok(Columns { schema, train, held_out: None })
            }
        }
    }

    /// Learns the expansion and the scaling, and applies them to the training rows. `None` if the observer stopped it.
    pub fn rest(
        &self,
        columns: Columns,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Prepared>, Error> {
        let Columns { schema, train, .. } = &columns;
        let expansion = match self.features {
            Features::Plain => Some(Expansion::none()),
            features => learn_expansion(features, self.max_pairs, schema, train, settings, observer)?,
        };
        let Some(expansion) = expansion else { return Ok(None) };
        columns
            .expanded(expansion, |train, schema, expansion| {
                Scaler::learn_for(self.scaling, train, schema, expansion)
            })
            .map(Some)
    }

    /// Prepares rows of which all are learned from, or those that are not held out. `None` if the observer stopped it.
    pub fn fit(
        &self,
        records: Records,
        held_out: Option<Dataset>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Prepared>, Error> {
        self.rest(self.columns(records.schema, records.data, held_out)?, settings, observer)
    }

    /// Prepares a fold: `part` has the places of the rows that are held out, increasing. `None` if the observer stopped it.
    pub fn fit_fold(
        &self,
        records: &Records,
        part: &[usize],
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Prepared>, Error> {
        let held_out = records.data.subset(part)?;
        self.fit(records.without(part)?, Some(held_out), settings, observer)
    }
}

/// Leaves the columns of rows as read out whose cells name the rows, for front ends that hand out features, and notes it. Where
/// there are texts, which are open until they are learned from, that is done then.
pub fn leave_out_row_names(loaded: &mut Loaded) -> Result<(), Error> {
    if loaded.schema.has_row_names() {
        let (schema, data) = (loaded.schema.clone(), loaded.dataset.clone());
        (loaded.schema, loaded.dataset) = relearn_columns(schema, data)?;
        loaded.notes.remarks.extend(loaded.schema.remarks());
    }
    Ok(())
}

impl Records {
    /// These rows of them.
    pub(crate) fn of(&self, rows: &[usize]) -> Result<Self, Error> {
        Ok(Self { schema: self.schema.clone(), data: self.data.subset(rows)? })
    }

    /// All but these, whose places increase.
    pub(crate) fn without(&self, part: &[usize]) -> Result<Self, Error> {
        self.of(&others(self.data.len(), part))
    }
}

impl Columns {
    /// Warns of texts that nothing can be learned from: no term is a feature, or a word that was named is nowhere.
    pub(crate) fn warn_of_terms(&self, observer: &mut dyn Observer) {
        let Self { schema, train: data, .. } = self;
        for (column, text) in schema.texts() {
            let of = if text.documents { String::new() } else { format!(" of column \"{column}\"") };
            match &text.terms {
                Terms::Vocabulary { list, min_count, .. } if list.is_empty() => {
                    let problem = format!(
                        "no term of the texts{of} occurs in at least {} (⟦min_count⟧), so the texts have no \
                     features",
                        counted(u64::from(*min_count), "row", "rows")
                    );
                    observer.note(Note::Warning(&problem));
                }
                Terms::Chosen(words) => {
                    let range = text.range();
                    let mut is_used = vec![false; words.len()];
                    for i in 0..data.len() {
                        let row = data.row(i);
                        for (j, _) in row.iter().filter(|&(j, value)| range.contains(&j) && value != 0.0) {
                            is_used[j - range.start] = true;
                        }
                    }
                    let absent: Vec<String> = words
                        .iter()
                        .zip(is_used)
                        .filter(|(_, used)| !used)
                        .map(|(word, _)| format!("\"{word}\""))
                        .collect();
                    if !absent.is_empty() {
                        let names = shortened(&absent, absent.len(), ", ");
                        observer.note(Note::Warning(&format!("no text{of} has {names} (⟦words⟧)")));
                    }
                }
                _ => {}
            }
        }
    }

    /// Goes on with what a model has learned: its expansion, and its scaling.
    pub fn continued(self, recipe: &Recipe) -> Result<Prepared, Error> {
        let expansion = &recipe.expansion;
        if !expansion.is_none() && self.train.columns() != expansion.inputs() {
            let problem = "the model to start from has spline or product features, and these rows have \
                           more features than it was trained on: it cannot be trained further on them";
            return Err(SettingsError::new("init", problem).into());
        }
        expansion.check_memory(&self.train)?;
        self.expanded(expansion.clone(), |train, _, _| recipe.scaling_of(train))
    }

    /// Goes on with a scaling that is known, without an expansion.
    pub(crate) fn scaled_by(self, scaler: Scaler) -> Result<Prepared, Error> {
        self.expanded(Expansion::none(), |_, _, _| scaler)
    }

    fn expanded(
        self,
        expansion: Expansion,
        scaler: impl FnOnce(&Dataset, &Schema, &Expansion) -> Scaler,
    ) -> Result<Prepared, Error> {
        let Self { mut schema, train, held_out } = self;
        let train = expansion.apply_all(train)?;
        let scaling = scaler(&train, &schema, &expansion);
        schema.fill_from(&scaling);
        let train = scaling.apply_all(train)?;
        Ok(Prepared { train, held_out, recipe: Recipe { columns: schema, expansion, scaling } })
    }
}

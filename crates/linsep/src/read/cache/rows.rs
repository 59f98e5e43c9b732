//! The rows of a cache in batches, matched with the features of a model where there is one.

use super::{Cache, Layout};
use crate::dataset::{BatchRows, Dataset, Row};
use crate::features::MISSING_WORD;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::reader::{Expected, RecordReader};
use crate::read::{Batch, ColumnKind, Labels, Loaded, ReadNotes, ReadOptions, Schema};
use std::collections::{HashMap, HashSet};

/// Rows handed out at a time, and numbers: wide rows come in smaller batches.
const BATCH_ROWS: usize = 4096;
const BATCH_VALUES: usize = 1 << 18;

pub(crate) struct CacheReader {
    cache: Cache,
    data: Dataset,
    matching: Matching,
    schema: Schema,
    /// Whether the features are those of a model.
    has_model: bool,
    labels: Labels,
    /// Classes in the order of their first row, and the place there of each class of the cache.
    names: Vec<String>,
    places: Vec<Option<u32>>,
    next: usize,
    /// Values of features that the model does not have.
    beyond: u64,
    remark: Option<String>,
}

/// How columns of the cache become features of the model.
enum Matching {
    Same,
    /// Column + this, for files that count from another number.
    Shifted(i64),
    /// By name: the feature of each column, and how many there are.
    Named(Vec<Option<u32>>, usize),
}

impl CacheReader {
    pub(crate) fn new(mut cache: Cache, options: &ReadOptions) -> Result<Self, ReadError> {
        cache.metadata.treat_missing(options.csv.missing);
        let name = cache.name.clone();
        let located = |kind| ReadError::whole(&name, kind);
        let columns = cache.metadata.columns;
        if options.schema.is_none() && columns > u64::from(options.feature_limit()) {
            return Err(located(ReadErrorKind::TooManyFeatures { limit: options.feature_limit() }));
        }
        if options.labels == Labels::Required && cache.metadata.classes.len() > options.class_limit() {
            return Err(located(ReadErrorKind::TooManyClasses { limit: options.class_limit() }));
        }
        let own = &cache.metadata.schema;
        let (matching, schema, remark) = match &options.schema {
            None => (Matching::Same, own.clone(), None),
            Some(model) => {
                let (matching, remark) =
                    match_features(own, model, cache.metadata.layout).map_err(located)?;
                (matching, matched_schema(own, model), remark)
            }
        };
        let data = cache.rows().map_err(|fault| located(fault.into()))?;
        Ok(Self {
            places: vec![None; data.classes().len()],
            matching,
            schema,
            has_model: options.schema.is_some(),
            labels: options.labels,
            names: Vec::new(),
            next: 0,
            beyond: 0,
            remark,
            data,
            cache,
        })
    }

    /// The number of a class among those met so far.
    fn label(&mut self, class: usize) -> u32 {
        *self.places[class].get_or_insert_with(|| {
            self.names.push(self.data.classes()[class].clone());
            self.names.len() as u32 - 1
        })
    }
}

impl RecordReader for CacheReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let sparse = self.cache.metadata.layout == Layout::Sparse;
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut lines) = (Vec::new(), Vec::new());
        while self.next < self.data.len() && labels.len() < BATCH_ROWS && values.len() < BATCH_VALUES {
            let i = self.next;
            self.next += 1;
            self.beyond += append(
                &self.matching,
                &self.schema,
                self.has_model,
                self.data.row(i),
                &mut indices,
                &mut values,
            )
            .map_err(|kind| {
                let line = Some(self.data.line(i));
                ReadError { source_name: self.cache.name.clone(), line, column: None, kind }
            })?;
            offsets.push(indices.len());
            labels.push(match self.labels {
                Labels::Ignored => Batch::UNLABELLED,
                Labels::Required => self.label(self.data.labels()[i] as usize),
            });
            lines.push(self.data.line(i));
        }
        if labels.is_empty() {
            return Ok(None);
        }
        let rows = match sparse {
            true => BatchRows::Sparse { offsets, indices, values },
            false => BatchRows::Dense { columns: values.len() / labels.len(), values },
        };
        Ok(Some(Batch { rows, labels, lines: Some(lines), filled: None, weights: None, hashed: Vec::new() }))
    }

    fn label_names(&self) -> &[String] {
        &self.names
    }

    fn schema(&self) -> Schema {
        self.schema.clone()
    }

    fn own_schema(&self) -> Schema {
        self.cache.schema().clone()
    }

    fn notes(&self) -> ReadNotes {
        let mut notes = notes_of(&self.cache);
        notes.remarks.extend(self.remark.clone());
        if self.beyond > 0 {
            let text = if self.beyond == 1 {
                "1 number belongs to a feature that the model does not have; it is ignored.".to_string()
            } else {
                let count = self.beyond;
                format!("{count} numbers belong to features that the model does not have; they are ignored.")
            };
            notes.remarks.push(text);
        }
        notes
    }

    fn expected(&self) -> Expected {
        Expected::Rows(self.data.len(), self.data.stored())
    }

    fn whole(&self) -> Option<Loaded> {
        // A model changes the features, and so the rows.
        (!self.has_model).then(|| self.cache.loaded(self.data.clone()))
    }
}

/// Notes made while reading when the source was read.
pub(super) fn notes_of(cache: &Cache) -> ReadNotes {
    let mut notes = ReadNotes::from(cache.metadata.notes.clone());
    notes.format = format!("linsep cache of {}", notes.format);
    notes
}

/// Appends a row as the model sees it; how many of its values the model has no place for.
fn append(
    matching: &Matching,
    schema: &Schema,
    has_model: bool,
    row: Row<'_>,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<u64, ReadErrorKind> {
    let dense = matches!(row, Row::DenseF32(_) | Row::DenseF64(_));
    let kept = values.len();
    let mut beyond = 0;
    match matching {
        Matching::Same => {
            values.extend(row.iter().map(|(_, value)| value));
            if !dense {
                indices.extend(row.iter().map(|(column, _)| column as u32));
            }
        }
        Matching::Shifted(shift) => {
            for (column, value) in row.iter() {
                let feature = u32::try_from(column as i64 + shift).map_err(|_| ReadErrorKind::IndexZero)?;
                indices.push(feature);
                values.push(value);
            }
        }
        Matching::Named(features, width) if dense => {
            values.resize(kept + width, 0.0);
            for (column, value) in row.iter() {
                if let Some(feature) = features[column] {
                    values[kept + feature as usize] = value;
                }
            }
        }
        Matching::Named(features, _) => {
            let mut cells: Vec<(u32, f64)> = Vec::with_capacity(row.stored());
            for (column, value) in row.iter() {
                match features[column] {
                    Some(feature) => cells.push((feature, value)),
                    None => beyond += 1,
                }
            }
            cells.sort_unstable_by_key(|&(feature, _)| feature);
            // Only rows of a damaged cache have two words of one column, which may both be rare.
            cells.dedup_by_key(|&mut (feature, _)| feature);
            indices.extend(cells.iter().map(|&(feature, _)| feature));
            values.extend(cells.iter().map(|&(_, value)| value));
        }
    }
    // As from a sparse array: numbers in columns that the model does not have are left out.
    if has_model && !dense && !matches!(schema, Schema::Numbered { .. }) {
        let inside = indices[kept..].partition_point(|&index| (index as usize) < schema.features());
        beyond += (indices.len() - kept - inside) as u64;
        indices.truncate(kept + inside);
        values.truncate(kept + inside);
    }
    Ok(beyond)
}

/// The features that rows have after matching. Those of numbered rows may be more than the model knows.
fn matched_schema(own: &Schema, model: &Schema) -> Schema {
    match own {
        Schema::Numbered { index_base, features } => {
            let base = model.index_base();
            let seen = (features + *index_base as usize).saturating_sub(base as usize);
            Schema::Numbered { index_base: base, features: seen.max(model.features()) }
        }
        _ => model.clone(),
    }
}

fn match_features(
    own: &Schema,
    model: &Schema,
    layout: Layout,
) -> Result<(Matching, Option<String>), ReadErrorKind> {
    let by_number = "The model was trained on a table: the features of this cache are matched by number, in the order of \
                     the model's features.";
    let remark = matches!(model, Schema::Table { .. }).then(|| by_number.to_string());
    match (own, model) {
        (Schema::Table { columns, .. }, Schema::Table { columns: wanted, .. }) => {
            match_names(columns, own.features(), wanted, model.features())
        }
        // A table or array has no indices of its own: numbered rows for it count from 1.
        (Schema::Numbered { index_base, .. }, model) => {
            let shift = i64::from(*index_base) - i64::from(model.index_base());
            let matching = if shift == 0 { Matching::Same } else { Matching::Shifted(shift) };
            Ok((matching, remark))
        }
        (own, model) => {
            let found = own.features();
            if found != model.features() && (layout == Layout::Dense || matches!(own, Schema::Table { .. })) {
                return Err(ReadErrorKind::ColumnCount { found, expected: model.features().to_string() });
            }
            Ok((Matching::Same, remark))
        }
    }
}

/// Matches the features of two tables by the names of their columns, and of words by the words. Names of features will not
/// do: the word `red` of a column `c` and a column `c=red` have the same.
fn match_names(
    columns: &[crate::read::Column],
    features: usize,
    wanted: &[crate::read::Column],
    known: usize,
) -> Result<(Matching, Option<String>), ReadErrorKind> {
    let has_text = |columns: &[crate::read::Column]| {
        columns.iter().any(|column| matches!(column.kind, ColumnKind::Text(_)))
    };
    if has_text(columns) || has_text(wanted) {
        let problem = "a cache of texts holds counts of words, which a model does not read: give the file or folder that it \
                       was made from";
        return Err(ReadErrorKind::Misused(problem.to_string()));
    }
    let is_feature = |kind: &ColumnKind| matches!(kind, ColumnKind::Number { .. } | ColumnKind::Words { .. });
    let used = columns.iter().filter(|here| is_feature(&here.kind));
    let by_name: HashMap<&String, &ColumnKind> = used.map(|here| (&here.name, &here.kind)).collect();
    for column in wanted.iter().filter(|column| is_feature(&column.kind)) {
        let name = &column.name;
        let Some(&here) = by_name.get(name) else {
            let names: Vec<String> =
                columns.iter().take(12).map(|here| format!("\"{}\"", here.name)).collect();
            return Err(ReadErrorKind::NoModelColumn { column: name.clone(), columns: names.join(", ") });
        };
        let numbers = |kind: &ColumnKind| matches!(kind, ColumnKind::Number { .. });
        if numbers(here) != numbers(&column.kind) {
            let kinds = if numbers(here) { ("numbers", "words") } else { ("words", "numbers") };
            return Err(ReadErrorKind::Misused(format!(
                "column \"{name}\" holds {} in the cache and {} in the model: give the file that the cache was made from",
                kinds.0, kinds.1
            )));
        }
    }
    let mut named = vec![None; features];
    for column in wanted {
        match (by_name.get(&column.name), &column.kind) {
            (Some(ColumnKind::Number(here)), ColumnKind::Number(model)) => {
                set(&mut named, here.feature, model.feature, known);
            }
            (Some(ColumnKind::Words(here)), ColumnKind::Words(model)) => {
                let places: HashMap<&String, usize> =
                    model.words.iter().map(|(word, place)| (word, *place)).collect();
                let rare = model.rare.as_ref().map(|rare| rare.feature);
                for (word, feature) in &here.words {
                    let rare = rare.filter(|_| word != MISSING_WORD);
                    if let Some(place) = places.get(word).copied().or(rare) {
                        set(&mut named, *feature, place, known);
                    }
                }
            }
            _ => {}
        }
    }
    if features == known && (0..).map(Some).zip(&named).all(|(place, name)| place == *name) {
        return Ok((Matching::Same, None));
    }
    let in_model: HashSet<&String> = wanted.iter().map(|column| &column.name).collect();
    let extra = by_name.keys().filter(|name| !in_model.contains(*name)).count();
    let remark = (extra > 0).then(|| {
        let noun = if extra == 1 { "column is" } else { "columns are" };
        format!("{extra} {noun} not in the model and ignored.")
    });
    Ok((Matching::Named(named, known), remark))
}

/// Notes that a feature of the file is one of the model, unless a damaged file or model says so of one that is not there.
fn set(named: &mut [Option<u32>], feature: usize, place: usize, known: usize) {
    if let Some(name) = named.get_mut(feature).filter(|_| place < known) {
        *name = Some(place as u32);
    }
}

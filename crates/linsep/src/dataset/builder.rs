//! Rows, one by one, into a data set.

use super::{Batch, BatchRows, Dataset, DatasetError, Row, Rows, Values};
use crate::classes::{class_name, sorted_order};
use crate::memory::fallibly;
use rayon::prelude::*;
use std::collections::{HashMap, TryReserveError};
use std::sync::OnceLock;

/// How a builder stores what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Dense { columns: usize },
    Sparse,
}

/// Collects rows into a [`Dataset`], checking each.
pub(crate) struct DatasetBuilder {
    pub(super) rows: Rows,
    pub(super) columns: usize,
    pub(super) labels: Vec<u32>,
    /// Class names in the order of their first row.
    classes: Vec<String>,
    /// The place of each class, where rows come with labels.
    places: HashMap<String, u32>,
    /// The line of each row, from the first on that is not just the number of its row.
    pub(super) lines: Option<Vec<u64>>,
    feature_names: Option<Vec<String>>,
    index_base: u32,
    filled: Option<Vec<(u32, u32)>>,
    /// How often each row counts, from the first on that does not count once.
    weights: Option<Vec<f64>>,
}

impl DatasetBuilder {
    pub(crate) fn new(layout: Layout) -> Self {
        let values = Values::F32(Vec::new().into());
        let (rows, columns) = match layout {
            Layout::Dense { columns } => (Rows::Dense { values }, columns),
            Layout::Sparse => {
                (Rows::Sparse { offsets: vec![0].into(), indices: Vec::new().into(), values }, 0)
            }
        };
        Self {
            rows,
            columns,
            labels: Vec::new(),
            classes: Vec::new(),
            places: HashMap::new(),
            lines: None,
            feature_names: None,
            index_base: 1,
            filled: None,
            weights: None,
        }
    }

    /// Makes room for this many rows with this many values in all, so that nothing has to grow. Only a hint: what
    /// does not fit is found out when it comes.
    pub(crate) fn reserve(&mut self, rows: usize, stored: usize) {
        let _ = fallibly(|| self.labels.try_reserve_exact(rows));
        match &mut self.rows {
            Rows::Dense { values } => values.reserve(stored),
            Rows::Sparse { offsets, indices, values } => {
                offsets.reserve(rows);
                indices.reserve(stored.saturating_sub(indices.len()));
                values.reserve(stored);
            }
        }
    }

    pub(super) fn push_labelled(&mut self, row: Row<'_>, label: &str) -> Result<(), DatasetError> {
        let bad_label = || DatasetError::Label { row: self.labels.len(), label: label.to_string() };
        let name = class_name(label).ok_or_else(bad_label)?;
        let class = *self.places.entry(name).or_insert_with_key(|name| {
            self.classes.push(name.clone());
            self.classes.len() as u32 - 1
        });
        self.push(row, class, None)
    }

    /// Appends a row of class number `label`. Dense rows must have the width of the layout.
    pub(crate) fn push(&mut self, row: Row<'_>, label: u32, line: Option<u64>) -> Result<(), DatasetError> {
        self.check_room(1)?;
        if let Some((column, _)) = row.iter().find(|(_, value)| !value.is_finite()) {
            return Err(DatasetError::NotFinite { row: self.labels.len(), column });
        }
        match &mut self.rows {
            Rows::Dense { values } => match row {
                Row::DenseF64(numbers) => values.extend(numbers),
                _ => values.extend(&row.iter().map(|(_, value)| value).collect::<Vec<_>>()),
            },
            Rows::Sparse { offsets, indices, values } => {
                match row {
                    Row::SparseF64(columns, numbers) if numbers.iter().all(|&x| x != 0.0) => {
                        indices.extend_from_slice(columns);
                        values.extend(numbers);
                    }
                    _ => {
                        for (column, value) in row.iter().filter(|&(_, value)| value != 0.0) {
                            indices.push(column as u32);
                            values.extend(&[value]);
                        }
                    }
                }
                offsets.push(indices.len());
                self.columns = self.columns.max(row.width());
            }
        }
        self.note_lines(&[line.unwrap_or(self.labels.len() as u64 + 1)]);
        self.labels.push(label);
        Ok(())
    }

    /// Notes the lines of the rows whose labels come next.
    fn note_lines(&mut self, lines: &[u64]) {
        let before = self.labels.len() as u64;
        if self.lines.is_none() && lines.iter().zip(before + 1..).all(|(&line, number)| line == number) {
            return;
        }
        self.lines.get_or_insert_with(|| (1..=before).collect()).extend_from_slice(lines);
    }

    /// Appends rows that a reader has checked: finite, and for sparse rows not zero, with increasing columns.
    pub(crate) fn append(&mut self, batch: &Batch) -> Result<(), DatasetError> {
        self.check_room(batch.len())?;
        self.make_room(batch).map_err(|_| DatasetError::Memory { rows: self.labels.len() })?;
        match (&mut self.rows, &batch.rows) {
            (Rows::Dense { values }, BatchRows::Dense { values: numbers, .. }) => values.extend(numbers),
            (
                Rows::Sparse { offsets, indices, values },
                BatchRows::Sparse { offsets: ends, indices: columns, values: numbers },
            ) => {
                let start = indices.len();
                offsets.extend(ends[1..].iter().map(|end| start + end));
                indices.extend_from_slice(columns);
                values.extend(numbers);
            }
            _ => return Err(DatasetError::Shape("dense and sparse rows in one source".to_string())),
        }
        if let Some(lines) = &batch.lines {
            self.note_lines(lines);
        }
        if let Some(filled) = &batch.filled {
            let before = self.labels.len() as u32;
            let moved = filled.iter().map(|&(row, column)| (before + row, column));
            self.filled.get_or_insert_default().extend(moved);
        }
        if batch.weights.is_some() || self.weights.is_some() {
            let weights = self.weights.get_or_insert_default();
            weights.resize(self.labels.len(), 1.0);
            match &batch.weights {
                Some(more) => weights.extend_from_slice(more),
                None => weights.resize(self.labels.len() + batch.len(), 1.0),
            }
        }
        self.labels.extend_from_slice(&batch.labels);
        Ok(())
    }

    /// Makes room for the rows of a batch, if there is memory for them.
    fn make_room(&mut self, batch: &Batch) -> Result<(), TryReserveError> {
        match (&mut self.rows, &batch.rows) {
            (Rows::Dense { values }, BatchRows::Dense { values: more, .. }) => values.try_room(more.len())?,
            (Rows::Sparse { offsets, indices, values }, BatchRows::Sparse { indices: more, .. }) => {
                offsets.try_room(batch.len())?;
                indices.try_room(more.len())?;
                values.try_room(more.len())?;
            }
            _ => {}
        }
        if let Some(lines) = &mut self.lines {
            fallibly(|| lines.try_reserve(batch.len()))?;
        }
        fallibly(|| self.labels.try_reserve(batch.len()))
    }

    /// The least that this many rows with this many values in all will take, in bytes.
    pub(crate) fn least_bytes(&self, rows: usize, values: usize) -> u64 {
        let per_value = if matches!(self.rows, Rows::Sparse { .. }) { 8 } else { 4 };
        (values as u64).saturating_mul(per_value).saturating_add((rows as u64).saturating_mul(4))
    }

    /// The bytes that the rows take.
    pub(crate) fn bytes(&self) -> u64 {
        let of_values = |values: &Values| match values {
            Values::F32(values) => 4 * values.len(),
            Values::F64(values) => 8 * values.len(),
        };
        let rows = match &self.rows {
            Rows::Dense { values } => of_values(values),
            Rows::Sparse { offsets, indices, values } => {
                8 * offsets.len() + 4 * indices.len() + of_values(values)
            }
        };
        (rows + 4 * self.labels.len()) as u64
    }

    fn check_room(&self, more: usize) -> Result<(), DatasetError> {
        if self.labels.len() + more > u32::MAX as usize {
            return Err(DatasetError::Shape("more than 4294967295 rows".to_string()));
        }
        Ok(())
    }

    /// Replaces what the rows showed by what is known at the end of the file.
    pub(crate) fn describe(
        &mut self,
        columns: usize,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
        index_base: u32,
    ) {
        self.columns = columns;
        self.classes = classes;
        self.feature_names = feature_names;
        self.index_base = index_base;
    }

    /// Moves every column of sparse rows down by one: the file turned out to count from 1.
    pub(crate) fn shift_columns_down(&mut self) {
        if let Rows::Sparse { indices, .. } = &mut self.rows {
            indices.par_chunks_mut(1 << 16).flatten_iter().for_each(|index| *index -= 1);
        }
    }

    /// Sorts the classes and gives the finished data set.
    pub(crate) fn finish(self) -> Result<Dataset, DatasetError> {
        if self.labels.is_empty() {
            return Err(DatasetError::Empty);
        }
        let (classes, place) = sorted_classes(&self.classes);
        let dataset = Dataset {
            rows: self.rows,
            columns: self.columns,
            labels: self.labels.into_iter().map(|label| place[label as usize]).collect::<Vec<_>>().into(),
            classes: classes.into(),
            lines: self.lines.map(Into::into),
            feature_names: self.feature_names,
            index_base: self.index_base,
            weights: None,
            filled: self.filled,
            fingerprint: OnceLock::new(),
            nonzeros: OnceLock::new(),
            measures: None,
        };
        match self.weights {
            Some(weights) => dataset.with_weights(weights),
            None => Ok(dataset),
        }
    }
}

/// Class names in their order, and the new place of each.
fn sorted_classes(classes: &[String]) -> (Vec<String>, Vec<u32>) {
    let order = sorted_order(classes);
    let mut place = vec![0u32; order.len()];
    for (sorted, &original) in order.iter().enumerate() {
        place[original] = sorted as u32;
    }
    (order.iter().map(|&original| classes[original].clone()).collect(), place)
}

/// The class of each label, as a place among the class names in their order.
pub(super) fn classes_of<L: AsRef<str>>(labels: &[L]) -> Result<(Vec<u32>, Vec<String>), DatasetError> {
    let mut names: Vec<String> = Vec::new();
    let mut spellings: HashMap<&str, u32> = HashMap::new();
    let mut places: HashMap<String, u32> = HashMap::new();
    let mut found = Vec::with_capacity(labels.len());
    for (row, label) in labels.iter().enumerate() {
        let label = label.as_ref();
        let class = match spellings.get(label) {
            Some(&class) => class,
            None => {
                let bad_label = || DatasetError::Label { row, label: label.to_string() };
                let name = class_name(label).ok_or_else(bad_label)?;
                let class = *places.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                });
                spellings.insert(label, class);
                class
            }
        };
        found.push(class);
    }
    let (classes, place) = sorted_classes(&names);
    found.iter_mut().for_each(|class| *class = place[*class as usize]);
    Ok((found, classes))
}

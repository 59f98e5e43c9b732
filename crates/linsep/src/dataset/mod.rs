//! The data set: rows of numbers with labels, checked once and never changed after.

mod batch;
mod builder;
mod fingerprint;
mod row;
mod shared;
mod storage;

pub use batch::Batch;
pub(crate) use batch::{BatchRows, HashedTerm};
pub(crate) use builder::{DatasetBuilder, Layout};
pub(crate) use fingerprint::{FingerprintHasher, Hashing};
use row::Measures;
pub use row::{Row, Rows, Values};
pub use storage::{Array, Plain};
pub(crate) use storage::{FileBytes, bytes_of, bytes_of_mut};

use crate::memory::{self, fallibly};
use crate::numbers::grouped;
use rayon::prelude::*;
use shared::not_finite;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Rows that are changed by one thread at a time.
const ROWS_TOGETHER: usize = 256;

/// What there is no memory for, where so many rows fit.
fn fitting(rows: usize) -> String {
    if rows == 0 { "the rows".to_string() } else { format!("more than {} rows", grouped(rows as u64)) }
}

/// The problem with numbers handed over as a data set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// There are no rows.
    #[error("the data set has no rows")]
    Empty,
    /// The parts do not fit together.
    #[error("{0}")]
    Shape(String),
    /// A value is NaN or infinite.
    #[error("row {row}, column {column}: the value is not finite")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
    },
    /// A weight that no row can have.
    #[error("row {row}: the weight {weight} is neither 0 nor a number from 1e-100 to 1e100")]
    Weight {
        /// Row, from 0.
        row: usize,
        /// The weight.
        weight: String,
    },
    /// The memory for more rows is not there.
    #[error("there is not enough memory for {}", fitting(*rows))]
    Memory {
        /// The rows so far; 0 where not even the first fit.
        rows: usize,
    },
    /// A label that no class can have.
    #[error("row {row}: the label \"{label}\" is empty or not finite")]
    Label {
        /// Row, from 0.
        row: usize,
        /// The label as given.
        label: String,
    },
}

/// Rows of numbers with labels: validated when made, immutable after.
#[derive(Clone, Debug)]
pub struct Dataset {
    rows: Rows,
    columns: usize,
    labels: Array<u32>,
    classes: Arc<[String]>,
    feature_names: Option<Vec<String>>,
    index_base: u32,
    lines: Option<Array<u64>>,
    weights: Option<Vec<f64>>,
    filled: Option<Vec<(u32, u32)>>,
    /// Computed when it is first asked for.
    fingerprint: OnceLock<String>,
    /// Computed when it is first asked for.
    nonzeros: OnceLock<usize>,
    /// Of dense rows that were checked as a whole.
    measures: Option<Measures>,
}

impl Dataset {
    /// A data set of dense rows with `columns` values each, one row after the other.
    pub fn dense<L: AsRef<str>>(columns: usize, values: &[f64], labels: &[L]) -> Result<Self, DatasetError> {
        if columns == 0 || values.len() != columns * labels.len() {
            let (found, rows) = (values.len(), labels.len());
            return Err(DatasetError::Shape(format!(
                "{found} values do not make {rows} rows of {columns} columns"
            )));
        }
        let mut builder = DatasetBuilder::new(Layout::Dense { columns });
        builder.reserve(labels.len(), values.len());
        for (values, label) in values.chunks(columns).zip(labels) {
            builder.push_labelled(Row::DenseF64(values), label.as_ref())?;
        }
        builder.finish()
    }

    /// A data set of sparse rows: row i has the values `offsets[i]..offsets[i + 1]` in the given columns,
    /// which must increase within a row. Zeros are dropped.
    pub fn sparse<L: AsRef<str>>(
        columns: usize,
        offsets: &[usize],
        indices: &[u32],
        values: &[f64],
        labels: &[L],
    ) -> Result<Self, DatasetError> {
        let shape = |what: &str| Err(DatasetError::Shape(what.to_string()));
        if offsets.len() != labels.len() + 1 || offsets[0] != 0 || offsets[labels.len()] != values.len() {
            return shape(
                "the offsets must start at 0, end at the number of values, and be one more than the labels",
            );
        }
        if indices.len() != values.len() || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return shape("the offsets must not fall, and each value needs one column");
        }
        let mut builder = DatasetBuilder::new(Layout::Sparse);
        builder.reserve(labels.len(), values.len());
        for (range, label) in offsets.windows(2).zip(labels) {
            let (indices, values) = (&indices[range[0]..range[1]], &values[range[0]..range[1]]);
            if indices.windows(2).any(|pair| pair[0] >= pair[1]) {
                return shape("the columns of a row must increase");
            }
            builder.push_labelled(Row::SparseF64(indices, values), label.as_ref())?;
        }
        if builder.columns > columns {
            return shape("a column is outside the data set");
        }
        builder.columns = columns;
        builder.finish()
    }

    /// A data set of arrays as they are stored, all of which are checked: `labels` are places in `classes`, which must be
    /// sorted.
    pub(crate) fn from_arrays(
        rows: Rows,
        columns: usize,
        labels: Array<u32>,
        lines: Option<Array<u64>>,
        classes: Vec<String>,
        feature_names: Option<Vec<String>>,
        index_base: u32,
    ) -> Result<Self, DatasetError> {
        let shape = |what: &str| Err(DatasetError::Shape(what.to_string()));
        if labels.is_empty() {
            return Err(DatasetError::Empty);
        }
        if labels.par_iter().with_min_len(1 << 16).any(|&label| label as usize >= classes.len()) {
            return shape("a row has a class that is not there");
        }
        if lines.as_ref().is_some_and(|lines| lines.len() != labels.len()) {
            return shape("each row needs one line");
        }
        let measures = rows.check(labels.len(), columns)?;
        Ok(Self {
            rows,
            columns,
            labels,
            classes: classes.into(),
            feature_names,
            index_base,
            lines,
            weights: None,
            filled: None,
            fingerprint: OnceLock::new(),
            nonzeros: measures.map_or_else(OnceLock::new, |measures| measures.nonzeros.into()),
            measures,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never true: an empty data set is refused when made.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of columns (features).
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How the rows are stored.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        self.rows.row(i, self.columns)
    }

    /// The class of each row, as a position in [`classes`](Self::classes).
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The class names, sorted: by value if all are numbers, otherwise by name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The rows of each class, in their order.
    pub(crate) fn rows_by_class(&self) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = self.class_counts().into_iter().map(Vec::with_capacity).collect();
        self.labels.iter().enumerate().for_each(|(row, &label)| rows[label as usize].push(row));
        rows
    }

    /// The class names, to be shared by all that need them.
    pub(crate) fn shared_classes(&self) -> &Arc<[String]> {
        &self.classes
    }

    /// How often each row counts, where not all count once.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How often a row counts.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.weights().map_or(1.0, |weights| weights[i])
    }

    /// The same rows, each counting as often as its weight says.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self, DatasetError> {
        if weights.len() != self.len() {
            let (found, rows) = (weights.len(), self.len());
            return Err(DatasetError::Shape(format!("{found} weights for {rows} rows: each row needs one")));
        }
        if let Some(row) =
            weights.iter().position(|weight| !(*weight == 0.0 || (1e-100..=1e100).contains(weight)))
        {
            return Err(DatasetError::Weight { row, weight: weights[row].to_string() });
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(DatasetError::Shape("all weights are zero: no row counts".to_string()));
        }
        Ok(Self { weights: Some(weights), fingerprint: OnceLock::new(), ..self })
    }

    /// The same rows, each counting once.
    pub(crate) fn without_weights(self) -> Self {
        Self { weights: None, fingerprint: OnceLock::new(), ..self }
    }

    /// How many rows each class has.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &label in &*self.labels {
            counts[label as usize] += 1;
        }
        counts
    }

    /// The number that column 0 had in the file: 1 for most formats.
    pub fn index_base(&self) -> u32 {
        self.index_base
    }

    /// Names of the columns, where the format has names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The place of row `i` in its source: the line of a text file, otherwise the row counted from 1.
    pub fn line(&self, i: usize) -> u64 {
        self.lines.as_ref().map_or(i as u64 + 1, |lines| lines[i])
    }

    /// The cells that were missing in the source and hold the mean of their column, as (row, column) in the order of the
    /// rows. `None` unless means were filled in.
    pub fn filled_cells(&self) -> Option<&[(u32, u32)]> {
        self.filled.as_deref()
    }

    /// The same rows, of which these cells were missing.
    pub(crate) fn with_filled_cells(self, filled: Option<Vec<(u32, u32)>>) -> Self {
        Self { filled, ..self }
    }

    /// The same rows with these feature names, as many as there are columns now.
    pub(crate) fn renamed(self, names: Vec<String>) -> Self {
        Self { columns: names.len(), feature_names: Some(names), fingerprint: OnceLock::new(), ..self }
    }

    /// Number of non-zero values.
    pub fn nonzeros(&self) -> usize {
        // In one thread: another that waits here could hold a part of the count.
        *self.nonzeros.get_or_init(|| match &self.rows {
            Rows::Dense { values: Values::F32(values) } => values.iter().filter(|&&x| x != 0.0).count(),
            Rows::Dense { values: Values::F64(values) } => values.iter().filter(|&&x| x != 0.0).count(),
            Rows::Sparse { indices, .. } => indices.len(),
        })
    }

    /// The least and the largest squared length of the rows, where they are dense and have been measured.
    pub(crate) fn squared_lengths(&self) -> Option<(f64, f64)> {
        self.measures.map(|measures| (measures.least_squared, measures.most_squared))
    }

    /// Number of stored values; of dense rows, all of them.
    pub(crate) fn stored(&self) -> usize {
        match &self.rows {
            Rows::Dense { values } | Rows::Sparse { values, .. } => values.len(),
        }
    }

    /// The largest number of values stored in a row.
    pub(crate) fn longest_row(&self) -> usize {
        match &self.rows {
            Rows::Dense { .. } => self.columns,
            Rows::Sparse { offsets, .. } => {
                offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
            }
        }
    }

    /// A new data set with the rows at `positions`, in that order. Classes keep their places, also those
    /// that no chosen row has.
    pub fn subset(&self, positions: &[usize]) -> Result<Self, DatasetError> {
        self.map_rows(positions, |row, keep| keep(row))
    }

    /// A new data set with only the rows of the given classes.
    pub fn only_classes(&self, names: &[String]) -> Result<Self, DatasetError> {
        let names: HashSet<&String> = names.iter().collect();
        let chosen: Vec<bool> = self.classes.iter().map(|class| names.contains(class)).collect();
        let kept: Vec<usize> = (0..self.len()).filter(|&i| chosen[self.labels[i] as usize]).collect();
        Ok(self.subset(&kept)?.without_empty_classes())
    }

    /// The same rows, without the names of classes that no row has.
    pub(crate) fn without_empty_classes(mut self) -> Self {
        let counts = self.class_counts();
        let mut places = vec![0; counts.len()];
        let mut classes = Vec::new();
        for (old, &count) in counts.iter().enumerate() {
            if count > 0 {
                places[old] = classes.len() as u32;
                classes.push(self.classes[old].clone());
            }
        }
        self.classes = classes.into();
        self.labels.iter_mut().for_each(|label| *label = places[*label as usize]);
        self.fingerprint = OnceLock::new();
        self
    }

    /// The same dense rows, each changed by `change`, which has room of its own on every thread.
    pub(crate) fn map_dense<B: Default>(
        self,
        change: impl Fn(Row<'_>, &mut B, &mut [f64]) + Sync,
    ) -> Result<Self, DatasetError> {
        let (len, columns) = (self.len(), self.columns);
        if columns == 0 {
            return Ok(self);
        }
        // The memory of a control group is given without a question, and then the program is ended.
        let lacking = |_| DatasetError::Memory { rows: 0 };
        memory::check((len * columns) as u64 * 8, || "the changed rows".to_string()).map_err(lacking)?;
        let room = fallibly(|| bytemuck::allocation::try_zeroed_vec(len * columns));
        let mut values: Vec<f64> = room.map_err(|()| DatasetError::Memory { rows: 0 })?;
        values.par_chunks_mut(columns * ROWS_TOGETHER).enumerate().for_each_init(
            B::default,
            |room, (block, changed)| {
                for (k, changed) in changed.chunks_mut(columns).enumerate() {
                    change(self.row(block * ROWS_TOGETHER + k), room, changed);
                }
            },
        );
        let rows = Rows::Dense { values: Values::F64(values.into()) };
        let measures =
            rows.check(len, columns).map_err(|error| not_finite(&rows, columns).unwrap_or(error))?;
        let nonzeros = measures.map_or_else(OnceLock::new, |measures| measures.nonzeros.into());
        Ok(Self { rows, measures, nonzeros, fingerprint: OnceLock::new(), ..self })
    }

    /// A new data set whose rows are made from those at `positions`: `change` hands each new row to `keep`.
    pub(crate) fn map_rows(
        &self,
        positions: &[usize],
        change: impl FnMut(Row<'_>, &mut dyn FnMut(Row<'_>)),
    ) -> Result<Self, DatasetError> {
        self.map_rows_of(positions, self.columns, change)
    }

    /// All rows, changed to so many columns.
    pub(crate) fn map_rows_to(
        &self,
        columns: usize,
        change: impl FnMut(Row<'_>, &mut dyn FnMut(Row<'_>)),
    ) -> Result<Self, DatasetError> {
        let all: Vec<usize> = (0..self.len()).collect();
        self.map_rows_of(&all, columns, change)
    }

    fn map_rows_of(
        &self,
        positions: &[usize],
        columns: usize,
        mut change: impl FnMut(Row<'_>, &mut dyn FnMut(Row<'_>)),
    ) -> Result<Self, DatasetError> {
        let layout = match self.rows {
            Rows::Dense { .. } => Layout::Dense { columns },
            Rows::Sparse { .. } => Layout::Sparse,
        };
        let mut builder = DatasetBuilder::new(layout);
        let mut failure = None;
        for &i in positions {
            change(self.row(i), &mut |row| {
                if let Err(error) = builder.push(row, self.labels[i], Some(self.line(i))) {
                    failure.get_or_insert(error);
                }
            });
        }
        if let Some(error) = failure {
            return Err(error);
        }
        if builder.labels.is_empty() {
            return Err(DatasetError::Empty);
        }
        Ok(Self {
            rows: builder.rows,
            columns,
            labels: builder.labels.into(),
            lines: builder.lines.map(Array::from),
            classes: Arc::clone(&self.classes),
            feature_names: self.feature_names.clone(),
            index_base: self.index_base,
            weights: self.weights.as_ref().map(|weights| positions.iter().map(|&i| weights[i]).collect()),
            filled: self.filled.as_ref().map(|filled| filled_at(filled, positions)),
            fingerprint: OnceLock::new(),
            nonzeros: OnceLock::new(),
            measures: None,
        })
    }

    /// The blake3 hash of the content: shape, classes, labels and non-zero values, however they are stored.
    ///
    /// Two files with the same rows have the same fingerprint, whether dense or sparse, CSV or LIBSVM. The
    /// names of features do not count.
    pub fn fingerprint(&self) -> &str {
        if let Some(fingerprint) = self.fingerprint.get() {
            return fingerprint;
        }
        // Not while the cell is held: a thread that hashes may be given other work that asks for the same fingerprint.
        let (hashing, stop) = (Hashing::new(self), AtomicBool::new(false));
        (0..rayon::current_num_threads()).into_par_iter().for_each(|_| hashing.work(&stop));
        hashing.result().unwrap_or_default()
    }

    /// The fingerprint, if it has been computed.
    pub(crate) fn known_fingerprint(&self) -> Option<&str> {
        self.fingerprint.get().map(String::as_str)
    }

    /// The fingerprint, to be computed while something else is done; `None` if it is known.
    pub(crate) fn hashing(&self) -> Option<Hashing<'_>> {
        self.fingerprint.get().is_none().then(|| Hashing::new(self))
    }
}

/// The filled cells of the rows at `positions`, numbered by their new places.
fn filled_at(filled: &[(u32, u32)], positions: &[usize]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (place, &position) in positions.iter().enumerate() {
        let start = filled.partition_point(|cell| (cell.0 as usize) < position);
        let own = filled[start..].iter().take_while(|cell| cell.0 as usize == position);
        found.extend(own.map(|&(_, column)| (place as u32, column)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Dataset {
        Dataset::dense(2, &[1.0, 0.0, 0.0, 2.5, -1.0, 3.0], &["b", "a", "b"]).unwrap()
    }

    #[test]
    fn memory_that_is_not_there_is_told_in_rows() {
        let told = |rows| DatasetError::Memory { rows }.to_string();
        assert_eq!(told(12_345), "there is not enough memory for more than 12,345 rows");
        assert_eq!(told(0), "there is not enough memory for the rows");
    }

    #[test]
    fn classes_are_sorted_and_counted() {
        let data = small();
        assert_eq!(data.classes(), ["a", "b"]);
        assert_eq!(data.labels(), [1, 0, 1]);
        assert_eq!(data.class_counts(), [1, 2]);
        assert_eq!((data.len(), data.columns(), data.nonzeros()), (3, 2, 4));
    }

    #[test]
    fn values_stay_f32_only_while_nothing_is_lost() {
        assert!(matches!(small().rows(), Rows::Dense { values: Values::F32(_) }));
        let data = Dataset::dense(1, &[0.5, 0.1, 3.0], &["0", "1", "1"]).unwrap();
        let Rows::Dense { values: Values::F64(values) } = data.rows() else { panic!("0.1 needs f64") };
        assert_eq!(values[..], [0.5, 0.1, 3.0]);
    }

    #[test]
    fn dense_and_sparse_have_one_fingerprint() {
        let sparse =
            Dataset::sparse(2, &[0, 1, 2, 4], &[0, 1, 0, 1], &[1.0, 2.5, -1.0, 3.0], &["b", "a", "b"])
                .unwrap();
        assert_eq!(small().fingerprint(), sparse.fingerprint());
        let other = Dataset::dense(2, &[1.0, 0.0, 0.0, 2.5, -1.0, 3.0], &["b", "a", "a"]).unwrap();
        assert_ne!(small().fingerprint(), other.fingerprint());
    }

    #[test]
    fn wrong_parts_are_refused() {
        assert!(matches!(Dataset::dense::<&str>(2, &[], &[]), Err(DatasetError::Empty)));
        assert!(matches!(Dataset::dense(2, &[1.0], &["a"]), Err(DatasetError::Shape(_))));
        assert_eq!(
            Dataset::dense(1, &[1.0, f64::NAN], &["a", "b"]).unwrap_err(),
            DatasetError::NotFinite { row: 1, column: 0 }
        );
        assert!(matches!(Dataset::dense(1, &[1.0], &["nan"]), Err(DatasetError::Label { row: 0, .. })));
        for (columns, offsets, indices) in
            [(3, [0, 2], [1, 1]), (3, [0, 2], [2, 1]), (2, [0, 2], [0, 2]), (3, [0, 1], [0, 1])]
        {
            let made = Dataset::sparse(columns, &offsets, &indices, &[1.0, 1.0], &["a"]);
            assert!(matches!(made, Err(DatasetError::Shape(_))), "{columns} {offsets:?} {indices:?}");
        }
    }

    #[test]
    fn subsets_keep_what_they_take() {
        let data = small().subset(&[2, 1]).unwrap();
        assert_eq!(data.labels(), [1, 0]);
        assert_eq!(data.row(0).iter().collect::<Vec<_>>(), [(0, -1.0), (1, 3.0)]);
        assert_eq!([data.line(0), data.line(1)], [3, 2]);
        let first = small().subset(&[0, 1]).unwrap();
        assert!(first.lines.is_none());
        assert_eq!([first.line(0), first.line(1)], [1, 2]);
        let late = small().subset(&[0, 2]).unwrap();
        assert_eq!([late.line(0), late.line(1)], [1, 3]);
        assert_eq!(late.subset(&[1]).unwrap().line(0), 3);
        let only = small().only_classes(&["b".to_string()]).unwrap();
        assert_eq!((only.classes(), only.labels()), (&["b".to_string()][..], &[0, 0][..]));
    }
}

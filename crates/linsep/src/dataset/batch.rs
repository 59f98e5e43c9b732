//! Rows on their way into a data set.

use super::{Layout, Row};

/// Rows in the order of the source.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(crate) rows: BatchRows,
    /// Positions in [`RowStream::label_names`](crate::read::RowStream::label_names); [`Batch::UNLABELLED`] where labels are not required.
    pub(crate) labels: Vec<u32>,
    /// The line of each row; its number for formats without lines.
    pub(crate) lines: Option<Vec<u64>>,
    /// Missing cells that hold the mean of their column, where that is noted: row of the batch, column.
    pub(crate) filled: Option<Vec<(u32, u32)>>,
    /// How often each row counts, where that is not once for all of them.
    pub(crate) weights: Option<Vec<f64>>,
    /// Where that is asked for, the terms of texts that a hash made features of, in the order of the rows.
    pub(crate) hashed: Vec<HashedTerm>,
}

/// A term of a text that a hash made a feature of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HashedTerm {
    /// The row of the batch.
    pub(crate) row: u32,
    /// The feature, which other terms may share.
    pub(crate) feature: u32,
    pub(crate) term: String,
}

#[derive(Clone, Debug)]
pub(crate) enum BatchRows {
    Dense {
        columns: usize,
        values: Vec<f64>,
    },
    /// Columns exceed the true ones by [`RowStream::index_shift`](crate::read::RowStream::index_shift), known at the end only.
    Sparse {
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
}

impl Batch {
    /// The label of a row that has none.
    pub const UNLABELLED: u32 = u32::MAX;

    /// How the rows are laid out.
    pub(crate) fn layout(&self) -> Layout {
        match self.rows {
            BatchRows::Dense { columns, .. } => Layout::Dense { columns },
            BatchRows::Sparse { .. } => Layout::Sparse,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Row `i`; its columns exceed the true ones by [`RowStream::index_shift`](crate::read::RowStream::index_shift).
    pub fn row(&self, i: usize) -> Row<'_> {
        match &self.rows {
            BatchRows::Dense { columns, values } => Row::DenseF64(&values[i * columns..(i + 1) * columns]),
            BatchRows::Sparse { offsets, indices, values } => {
                let range = offsets[i]..offsets[i + 1];
                Row::SparseF64(&indices[range.clone()], &values[range])
            }
        }
    }

    /// The label of row `i`, as a position in [`RowStream::label_names`](crate::read::RowStream::label_names).
    pub fn label(&self, i: usize) -> u32 {
        self.labels[i]
    }

    /// The terms of row `i` that a hash made features of, where these are kept, each with its feature.
    pub(crate) fn hashed_terms(&self, i: usize) -> impl Iterator<Item = (usize, &str)> {
        let place = |row: usize| self.hashed.partition_point(|hashed| (hashed.row as usize) < row);
        let own = &self.hashed[place(i)..place(i + 1)];
        own.iter().map(|hashed| (hashed.feature as usize, hashed.term.as_str()))
    }

    /// The line of row `i`; its number in the source, from 1, for formats without lines.
    pub fn line(&self, i: usize) -> Option<u64> {
        self.lines.as_ref().map(|lines| lines[i])
    }
}

//! Some rows of a cache at a time, read and not mapped: only the rows asked for are in memory.

use super::format::{self, CacheFault, Layout, Metadata, Place, Sum, Width};
use super::read_at;
use crate::dataset::{Plain, Row, Rows, Values, bytes_of, bytes_of_mut};
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::source::FileStamp;
use crate::read::{Missing, ReadNotes, Schema};
use crate::{Error, SettingsError};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows whose starts are read at a time.
const ROWS_TOGETHER: usize = 1 << 15;

/// A cache whose rows are read part by part.
#[derive(Debug)]
pub(crate) struct PartReader {
    name: String,
    file: Arc<File>,
    /// The file as it was when it was opened: all passes read the same rows.
    stamp: FileStamp,
    metadata: Metadata,
    /// The length of its description.
    described: u64,
}

/// Rows that were read together, in the order in which they were asked for.
#[derive(Debug)]
pub(crate) struct Part {
    rows: Rows,
    columns: usize,
    labels: Vec<u32>,
    /// Where each row of a range starts in the file.
    starts: Vec<u64>,
}

impl Part {
    /// Room for so many rows and values.
    pub(crate) fn with_room(reader: &PartReader, rows: usize, values: usize) -> Self {
        let metadata = &reader.metadata;
        let stored = match metadata.values {
            Width::F32 => Values::F32(Vec::with_capacity(values).into()),
            Width::F64 => Values::F64(Vec::with_capacity(values).into()),
        };
        let sparse = metadata.layout == Layout::Sparse;
        let rows_stored = match sparse {
            true => Rows::Sparse {
                offsets: Vec::with_capacity(rows + 1).into(),
                indices: Vec::with_capacity(values).into(),
                values: stored,
            },
            false => Rows::Dense { values: stored },
        };
        Self {
            rows: rows_stored,
            columns: metadata.columns as usize,
            labels: Vec::with_capacity(rows),
            starts: Vec::new(),
        }
    }

    /// Bytes that so many rows and values take.
    pub(crate) fn bytes(reader: &PartReader, rows: u64, values: u64) -> u64 {
        let (per_value, per_row) = match reader.metadata.layout {
            Layout::Sparse => (4 + reader.metadata.values.bytes(), 8 + 8 + 4),
            Layout::Dense => (reader.metadata.values.bytes(), 4),
        };
        values.saturating_mul(per_value).saturating_add(rows.saturating_mul(per_row))
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Row `i` of those that were read.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> Row<'_> {
        self.rows.row(i, self.columns)
    }

    /// Its class.
    #[inline(always)]
    pub(crate) fn label(&self, i: usize) -> u32 {
        self.labels[i]
    }
}

/// The checksums of rows that are read one after the other.
#[derive(Default)]
pub(crate) struct Sums {
    indices: Sum,
    values: Sum,
    labels: Sum,
}

impl Sums {
    /// Takes the next rows.
    pub(crate) fn update(&mut self, part: &Part) {
        self.labels.update(bytes_of(&part.labels));
        let values = match &part.rows {
            Rows::Dense { values } => values,
            Rows::Sparse { indices, values, .. } => {
                self.indices.update(bytes_of(indices));
                values
            }
        };
        match values {
            Values::F32(values) => self.values.update(bytes_of(values)),
            Values::F64(values) => self.values.update(bytes_of(values)),
        }
    }
}

impl PartReader {
    /// Opens a cache whose description is no longer than `may_be_read` allows.
    pub(crate) fn open(
        path: &Path,
        may_be_read: impl FnOnce(u64) -> Result<(), SettingsError>,
    ) -> Result<Self, Error> {
        let name = path.display().to_string();
        let located = |kind| ReadError::whole(&name, kind);
        let file = Arc::new(File::open(path).map_err(|error| located(error.into()))?);
        let length = file.metadata().map_err(|error| located(error.into()))?.len();
        let read = |start, count| {
            let mut bytes = vec![0; count];
            read_at(&file, start, &mut bytes)?;
            Ok(bytes)
        };
        let described = format::metadata_size(length, read).map_err(located)?;
        may_be_read(described)?;
        let metadata = format::read_metadata(length, read).map_err(located)?;
        if cfg!(target_endian = "big") {
            let problem = "on this machine caches can only be read as a whole".to_string();
            return Err(located(ReadErrorKind::Misused(problem)).into());
        }
        let stamp = FileStamp::of(file.clone()).map_err(|error| located(error.into()))?;
        Ok(Self { name, file, stamp, metadata, described })
    }

    /// Treats cells that will be missing in rows to come in this way.
    pub(crate) fn treat_missing(&mut self, missing: Missing) {
        self.metadata.treat_missing(missing);
    }

    pub(crate) fn rows(&self) -> usize {
        self.metadata.rows as usize
    }

    pub(crate) fn columns(&self) -> usize {
        self.metadata.columns as usize
    }

    /// Stored values; of dense rows, all of them.
    pub(crate) fn stored(&self) -> usize {
        self.metadata.stored as usize
    }

    pub(crate) fn is_dense(&self) -> bool {
        self.metadata.layout == Layout::Dense
    }

    pub(crate) fn classes(&self) -> &[String] {
        &self.metadata.classes
    }

    /// The length of the description that the file begins to be read with: classes, columns, words.
    pub(crate) fn described(&self) -> u64 {
        self.described
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.metadata.schema
    }

    pub(crate) fn fingerprint(&self) -> &str {
        &self.metadata.fingerprint
    }

    pub(crate) fn notes(&self) -> ReadNotes {
        ReadNotes::from(self.metadata.notes.clone())
    }

    fn located(&self, kind: ReadErrorKind) -> ReadError {
        ReadError::whole(&self.name, kind)
    }

    fn damaged(&self, what: &str) -> ReadError {
        self.located(CacheFault::Rows(what.to_string()).into())
    }

    fn take<T: Plain + Default>(
        &self,
        place: &Place,
        range: Range<u64>,
        into: &mut Vec<T>,
    ) -> Result<(), ReadError> {
        let kept = into.len();
        into.resize(kept + (range.end - range.start) as usize, T::default());
        let start = place.start + range.start * size_of::<T>() as u64;
        read_at(&self.file, start, bytes_of_mut(&mut into[kept..]))
            .map_err(|error| self.located(error.into()))
    }

    /// Calls `see` with every row and how many values it stores, in order, and checks the row starts against their checksum.
    pub(crate) fn each_length(&self, mut see: impl FnMut(usize, u64)) -> Result<(), ReadError> {
        let mut sum = Sum::default();
        let mut starts = Vec::new();
        for first in (0..self.rows()).step_by(ROWS_TOGETHER) {
            let end = (first + ROWS_TOGETHER).min(self.rows());
            self.starts(first..end, &mut starts)?;
            starts.windows(2).zip(first..).for_each(|(pair, row)| see(row, pair[1] - pair[0]));
            // The last start is the first of the next rows, but for the end.
            let own = if end == self.rows() { &starts[..] } else { &starts[..end - first] };
            sum.update(bytes_of(own));
        }
        match &self.metadata.arrays.offsets {
            Some(place) if sum.finish() != place.sum => {
                Err(self.located(CacheFault::Sum("row starts").into()))
            }
            _ => Ok(()),
        }
    }

    /// Where rows start among the values, and where the last of them ends.
    fn starts(&self, rows: Range<usize>, starts: &mut Vec<u64>) -> Result<(), ReadError> {
        starts.clear();
        let Some(place) = &self.metadata.arrays.offsets else {
            starts.extend((rows.start..=rows.end).map(|row| row as u64 * self.metadata.columns));
            return Ok(());
        };
        self.take(place, rows.start as u64..rows.end as u64 + 1, starts)?;
        let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let begins = rows.start > 0 || starts[0] == 0;
        let last = starts[starts.len() - 1];
        let ends =
            if rows.end == self.rows() { last == self.metadata.stored } else { last <= self.metadata.stored };
        if !(rising && begins && ends) {
            return Err(self.damaged("its rows do not start one after the other"));
        }
        Ok(())
    }

    /// Replaces the rows of a part by those of the ranges. They must fit into its room.
    pub(crate) fn read(&self, ranges: &[Range<usize>], part: &mut Part) -> Result<(), ReadError> {
        let rows = self.read_rows(ranges, part);
        // Whatever is wrong with the rows of a file that is being written to, that is the reason.
        self.stamp.check().map_err(|kind| self.located(kind))?;
        rows
    }

    fn read_rows(&self, ranges: &[Range<usize>], part: &mut Part) -> Result<(), ReadError> {
        let arrays = &self.metadata.arrays;
        part.labels.clear();
        match &mut part.rows {
            Rows::Dense { values } => values.clear(),
            Rows::Sparse { offsets, indices, values } => {
                offsets.to_mut().clear();
                offsets.to_mut().push(0);
                indices.to_mut().clear();
                values.clear();
            }
        }
        for range in ranges {
            self.starts(range.clone(), &mut part.starts)?;
            let (first, last) = (part.starts[0], part.starts[range.len()]);
            let values = match &mut part.rows {
                Rows::Dense { values } => values,
                Rows::Sparse { offsets, indices, values } => {
                    let kept = indices.len();
                    if indices.capacity() - kept < (last - first) as usize {
                        return Err(self.damaged("its rows changed while they were read"));
                    }
                    let ends = part.starts[1..].iter().map(|end| kept + (end - first) as usize);
                    offsets.to_mut().extend(ends);
                    if let Some(place) = &arrays.indices {
                        self.take(place, first..last, indices.to_mut())?;
                    }
                    values
                }
            };
            match values {
                Values::F32(values) => self.take(&arrays.values, first..last, values.to_mut())?,
                Values::F64(values) => self.take(&arrays.values, first..last, values.to_mut())?,
            }
            self.take(&arrays.labels, range.start as u64..range.end as u64, &mut part.labels)?;
        }
        let bad_label = part.labels.iter().any(|&label| label as usize >= self.metadata.classes.len());
        if bad_label {
            return Err(self.damaged("a row has a class that is not there"));
        }
        let checked = part.rows.check(part.labels.len(), part.columns);
        checked.map(drop).map_err(|error| self.damaged(&error.to_string()))
    }

    /// Whether all rows, read one after the other, are those that were written.
    pub(crate) fn check(&self, sums: Sums) -> Result<(), ReadError> {
        let arrays = &self.metadata.arrays;
        let found = [
            ("columns", arrays.indices.as_ref(), sums.indices),
            ("values", Some(&arrays.values), sums.values),
            ("labels", Some(&arrays.labels), sums.labels),
        ];
        for (name, place, sum) in found {
            if place.is_some_and(|place| sum.finish() != place.sum) {
                return Err(self.located(CacheFault::Sum(name).into()));
            }
        }
        Ok(())
    }
}

//! Making a cache in memory that does not grow with the data.
//!
//! Each array goes to a scratch file of its own as the rows come. Only the end of the source shows whether indices count from 0 or 1,
//! whether all values fit f32 and how the classes are sorted; then the scratch files are joined.

use super::format::{Arrays, Layout, Metadata, Place, Sum, Width, aligned, describe, head};
use super::origin::Origin;
use super::{Cache, read_at};
use crate::Error;
use crate::classes::sorted_order;
use crate::dataset::{BatchRows, DatasetError, FingerprintHasher, Row};
use crate::observe::{Observer, Progress};
use crate::read::{Batch, Labels, ReadError, ReadErrorKind, ReadNotes, ReadOptions, RowStream, Source};
use crate::store;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bytes that are taken from a scratch file at a time.
const CHUNK: usize = 1 << 20;

/// Makes a cache of a source of labelled rows: a file that is whole, or none. Gives what was noticed while reading.
pub fn make(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    observer: &mut dyn Observer,
) -> Result<ReadNotes, Error> {
    make_file(source, options, path, observer).map(|made| made.notes)
}

/// What came of making a cache.
pub(crate) struct Made {
    pub(crate) notes: ReadNotes,
    pub(crate) rows: u64,
    pub(crate) features: u64,
}

/// Makes a cache in a file, or writes it to a device.
pub(crate) fn make_file(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    observer: &mut dyn Observer,
) -> Result<Made, Error> {
    store::check_writable(path)?;
    make_with(source, options, path, observer, |join| store::write_atomically(path, join))
}

/// Makes a cache in a file without a name, on the disk of `path`.
pub(crate) fn make_nameless(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    observer: &mut dyn Observer,
) -> Result<Cache, Error> {
    let failed = |source| Error::Write { path: path.to_path_buf(), source };
    let mut file = store::scratch_file(path).map_err(failed)?;
    make_with(source, options, path, observer, |join| {
        let mut out = BufWriter::with_capacity(CHUNK / 4, &mut file);
        join(&mut out).and_then(|()| out.flush()).map_err(failed)
    })?;
    Ok(Cache::of_file(source.name(), &file)?)
}

/// Writes the parts of a cache, one after the other.
type Join<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Reads a source, and has `write` write the cache to where it belongs. Scratch files lie on the disk of `path`.
fn make_with(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    observer: &mut dyn Observer,
    write: impl FnOnce(Join<'_>) -> Result<(), Error>,
) -> Result<Made, Error> {
    let options = ReadOptions { labels: Labels::Required, schema: None, ..options.clone() };
    let located = |error: io::Error| ReadError {
        source_name: source.name(),
        line: None,
        column: None,
        kind: ReadErrorKind::Io(error),
    };
    let origin = Origin::of(source, &options).map_err(located)?;
    let mut stream = RowStream::open(source, &options)?;
    let failed = |source| Error::Write { path: path.to_path_buf(), source };
    let mut scratch = Scratch::new(path).map_err(failed)?;
    while let Some(batch) = stream.next_batch()? {
        scratch.append(&batch).map_err(|error| match error {
            Failure::Rows(error) => Error::from(error).at(source.name()),
            Failure::Io(error) => failed(error),
        })?;
        if observer.progress(&stream.progress(scratch.rows)).is_break() {
            return Err(Error::Interrupted);
        }
    }
    if scratch.rows == 0 {
        return Err(stream.no_rows());
    }
    if !origin.as_ref().map_or(Ok(true), |origin| origin.is_still(source, &options)).map_err(located)? {
        let kind = ReadErrorKind::Changed("its length, its time or its content is another".to_string());
        return Err(ReadError::whole(&source.name(), kind).into());
    }
    let mut joiner = Joiner::new(scratch, &stream, origin);
    let mut interrupted = false;
    let result = write(&mut |out| {
        joiner.join(out, &mut |bytes, total, rows| {
            interrupted = observer.progress(&Progress::Writing { bytes, total, rows }).is_break();
            if interrupted { Err(io::Error::other("interrupted")) } else { Ok(()) }
        })
    });
    if interrupted {
        return Err(Error::Interrupted);
    }
    result?;
    let Metadata { rows, columns, .. } = joiner.metadata;
    Ok(Made { notes: stream.notes(), rows, features: columns })
}

/// A file without a name: not even a killed program leaves it behind, and no other program meets it.
struct ScratchFile {
    out: BufWriter<File>,
    /// Bytes so far.
    length: u64,
}

impl ScratchFile {
    fn new(target: &Path) -> io::Result<Self> {
        Ok(Self { out: BufWriter::with_capacity(CHUNK / 4, store::scratch_file(target)?), length: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Appends numbers, little-endian.
    fn put<T: Copy, const N: usize>(
        &mut self,
        numbers: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(numbers.len().min(CHUNK / N) * N);
        for part in numbers.chunks(CHUNK / N) {
            buffer.clear();
            part.iter().for_each(|&number| buffer.extend_from_slice(&bytes(number)));
            self.write(&buffer)?;
        }
        Ok(())
    }

    /// The numbers at some places of what was written.
    fn get<T, const N: usize>(
        &self,
        range: std::ops::Range<u64>,
        number: impl Fn([u8; N]) -> T,
    ) -> io::Result<Vec<T>> {
        let mut bytes = vec![0; (range.end - range.start) as usize * N];
        read_at(self.out.get_ref(), range.start * N as u64, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&bytes| number(bytes)).collect())
    }
}

enum Failure {
    Rows(DatasetError),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

/// The rows so far.
struct Scratch {
    offsets: ScratchFile,
    indices: ScratchFile,
    values: ScratchFile,
    labels: ScratchFile,
    lines: ScratchFile,
    rows: u64,
    stored: u64,
    /// Known from the first batch on; dense rows with their width.
    dense: Option<Option<usize>>,
    /// Whether every value so far is exactly an f32.
    narrow: bool,
    /// Whether every line so far is the number of its row.
    lines_are_rows: bool,
    /// Missing cells that hold the mean of their column, where that is noted.
    filled: Option<Vec<(u32, u32)>>,
}

impl Scratch {
    fn new(target: &Path) -> io::Result<Self> {
        let file = || ScratchFile::new(target);
        let mut offsets = file()?;
        offsets.write(&0u64.to_le_bytes())?;
        Ok(Self {
            offsets,
            indices: file()?,
            values: file()?,
            labels: file()?,
            lines: file()?,
            rows: 0,
            stored: 0,
            dense: None,
            narrow: true,
            lines_are_rows: true,
            filled: None,
        })
    }

    fn append(&mut self, batch: &Batch) -> Result<(), Failure> {
        let shape = |what: &str| Err(Failure::Rows(DatasetError::Shape(what.to_string())));
        if self.rows + batch.len() as u64 > u64::from(u32::MAX) {
            return shape("more than 4294967295 rows");
        }
        if batch.weights.is_some() {
            return shape(
                "some rows have an importance other than 1, which only training from memory can use: read the file itself, without a cache, ⟦memory⟧ or a conversion",
            );
        }
        let width = match &batch.rows {
            BatchRows::Dense { columns, .. } => Some(*columns),
            BatchRows::Sparse { .. } => None,
        };
        if *self.dense.get_or_insert(width) != width {
            return shape("dense and sparse rows in one source");
        }
        let values = match &batch.rows {
            BatchRows::Dense { values, .. } => values,
            BatchRows::Sparse { offsets, indices, values } => {
                let ends: Vec<u64> = offsets[1..].iter().map(|&end| self.stored + end as u64).collect();
                self.offsets.put(&ends, u64::to_le_bytes)?;
                self.indices.put(indices, u32::to_le_bytes)?;
                values
            }
        };
        self.narrow = self.narrow && values.iter().all(|&x| f64::from(x as f32) == x);
        self.values.put(values, f64::to_le_bytes)?;
        self.labels.put(&batch.labels, u32::to_le_bytes)?;
        let numbers = self.rows + 1..self.rows + 1 + batch.len() as u64;
        match &batch.lines {
            Some(lines) => {
                self.lines_are_rows = self.lines_are_rows && lines.iter().copied().eq(numbers);
                self.lines.put(lines, u64::to_le_bytes)?;
            }
            None => self.lines.put(&numbers.collect::<Vec<_>>(), u64::to_le_bytes)?,
        }
        if let Some(filled) = &batch.filled {
            let before = self.rows as u32;
            let moved = filled.iter().map(|&(row, column)| (before + row, column));
            self.filled.get_or_insert_default().extend(moved);
        }
        self.rows += batch.len() as u64;
        self.stored += values.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        [&mut self.offsets, &mut self.indices, &mut self.values, &mut self.labels, &mut self.lines]
            .into_iter()
            .try_for_each(|file| file.out.flush())
    }
}

/// Joins the scratch files.
struct Joiner {
    scratch: Scratch,
    /// By how much indices exceed their columns.
    shift: u32,
    /// The number of each class when classes are sorted.
    places: Vec<u32>,
    metadata: Metadata,
}

/// Called with bytes written, bytes in all, and rows; an error stops the work.
type Watch<'a> = &'a mut dyn FnMut(u64, u64, u64) -> io::Result<()>;

impl Joiner {
    fn new(mut scratch: Scratch, stream: &RowStream, origin: Option<Origin>) -> Self {
        let names = stream.label_names();
        let order = sorted_order(names);
        let mut places = vec![0; names.len()];
        for (sorted, &original) in order.iter().enumerate() {
            places[original] = sorted as u32;
        }
        let schema = stream.schema();
        let sparse = !matches!(scratch.dense, Some(Some(_)));
        let nowhere = || Place { start: 0, sum: String::new() };
        let metadata = Metadata {
            program: format!("linsep {}", env!("CARGO_PKG_VERSION")),
            rows: scratch.rows,
            columns: schema.features() as u64,
            stored: scratch.stored,
            layout: if sparse { Layout::Sparse } else { Layout::Dense },
            values: if scratch.narrow { Width::F32 } else { Width::F64 },
            classes: order.iter().map(|&original| names[original].clone()).collect(),
            schema,
            fingerprint: String::new(),
            notes: stream.notes().into(),
            origin,
            arrays: Arrays {
                offsets: sparse.then(nowhere),
                indices: sparse.then(nowhere),
                values: nowhere(),
                labels: nowhere(),
                lines: (!scratch.lines_are_rows).then(nowhere),
            },
            filled: scratch.filled.take(),
        };
        Self { shift: stream.index_shift(), scratch, places, metadata }
    }

    fn join(&mut self, out: &mut dyn Write, watch: Watch<'_>) -> io::Result<()> {
        self.scratch.flush()?;
        let total: u64 = self.metadata.places().map(|(_, _, length)| length).sum();
        out.write_all(&head())?;
        let mut out = Joined { out, position: head().len() as u64, total, watch };
        let (scratch, shift, places) = (&self.scratch, self.shift, &self.places);
        let arrays = &mut self.metadata.arrays;
        if let Some(place) = &mut arrays.offsets {
            *place = out.array(&scratch.offsets, u64::to_le_bytes, u64::from_le_bytes)?;
        }
        if let Some(place) = &mut arrays.indices {
            *place =
                out.array(&scratch.indices, |index: u32| (index - shift).to_le_bytes(), u32::from_le_bytes)?;
        }
        arrays.values = match self.metadata.values {
            Width::F32 => {
                out.array(&scratch.values, |value: f64| (value as f32).to_le_bytes(), f64::from_le_bytes)?
            }
            Width::F64 => out.array(&scratch.values, f64::to_le_bytes, f64::from_le_bytes)?,
        };
        arrays.labels = out.array(
            &scratch.labels,
            |label: u32| places[label as usize].to_le_bytes(),
            u32::from_le_bytes,
        )?;
        if let Some(place) = &mut arrays.lines {
            *place = out.array(&scratch.lines, u64::to_le_bytes, u64::from_le_bytes)?;
        }
        self.metadata.fingerprint = self.fingerprint()?;
        let (text, tail) = describe(&self.metadata, out.position).map_err(io::Error::other)?;
        out.out.write_all(&text)?;
        out.out.write_all(&tail)
    }

    /// The fingerprint of the rows as they will be read.
    fn fingerprint(&self) -> io::Result<String> {
        let scratch = &self.scratch;
        let mut hasher = FingerprintHasher::default();
        let mut row = 0;
        while row < scratch.rows {
            let (end, starts) = match scratch.dense {
                Some(Some(width)) => {
                    let count = (CHUNK as u64 / 8 / width.max(1) as u64).clamp(1, scratch.rows - row);
                    let starts = (0..=count).map(|k| (row + k) * width as u64).collect();
                    (row + count, starts)
                }
                _ => {
                    // As many rows as their values leave room for, but one at least.
                    let most = (row + 1 + CHUNK as u64 / 64).min(scratch.rows + 1);
                    let mut starts = scratch.offsets.get(row..most, u64::from_le_bytes)?;
                    let room = starts[0] + CHUNK as u64 / 8;
                    let count = starts[1..].partition_point(|&end| end <= room).max(1).min(starts.len() - 1);
                    if count == starts.len() - 1 && most == row + 1 {
                        return Err(io::Error::other("a scratch file was changed"));
                    }
                    starts.truncate(count + 1);
                    (row + count as u64, starts)
                }
            };
            let range = starts[0]..starts[starts.len() - 1];
            let values = scratch.values.get(range.clone(), f64::from_le_bytes)?;
            let labels = scratch.labels.get(row..end, u32::from_le_bytes)?;
            let indices = match scratch.dense {
                Some(Some(_)) => Vec::new(),
                _ => scratch.indices.get(range, |bytes| u32::from_le_bytes(bytes) - self.shift)?,
            };
            for (pair, &label) in starts.windows(2).zip(&labels) {
                let own = (pair[0] - starts[0]) as usize..(pair[1] - starts[0]) as usize;
                let numbers = match scratch.dense {
                    Some(Some(_)) => Row::DenseF64(&values[own]),
                    _ => Row::SparseF64(&indices[own.clone()], &values[own]),
                };
                hasher.row(self.places[label as usize], numbers);
            }
            row = end;
        }
        Ok(hasher.finish(self.metadata.columns as usize, &self.metadata.classes))
    }
}

/// The file that is being written.
struct Joined<'a, 'b> {
    out: &'a mut dyn Write,
    position: u64,
    total: u64,
    watch: Watch<'b>,
}

impl Joined<'_, '_> {
    /// Copies a scratch file, changing each number on the way.
    fn array<T, const N: usize, const M: usize>(
        &mut self,
        scratch: &ScratchFile,
        to: impl Fn(T) -> [u8; M],
        from: impl Fn([u8; N]) -> T,
    ) -> io::Result<Place> {
        let start = self.position;
        let mut sum = Sum::default();
        let (mut taken, mut given) = (0, 0);
        let (mut source, mut changed) = (vec![0; CHUNK], Vec::with_capacity(CHUNK));
        while taken < scratch.length {
            let count = CHUNK.min((scratch.length - taken) as usize);
            read_at(scratch.out.get_ref(), taken, &mut source[..count])?;
            changed.clear();
            source[..count]
                .as_chunks()
                .0
                .iter()
                .for_each(|&bytes| changed.extend_from_slice(&to(from(bytes))));
            sum.update(&changed);
            self.out.write_all(&changed)?;
            taken += count as u64;
            given += changed.len() as u64;
            (self.watch)((start + given).min(self.total), self.total, 0)?;
        }
        self.position = aligned(start + given);
        let padding = (self.position - start - given) as usize;
        self.out.write_all(&[0; 64][..padding])?;
        Ok(Place { start, sum: sum.finish() })
    }
}

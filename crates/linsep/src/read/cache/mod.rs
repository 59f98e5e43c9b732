//! Caches: files with rows as they are stored in memory, which are mapped and checked instead of parsed.
//!
//! A cache is made from any source in bounded memory ([`make`]). Opening one reads only its description, at its end.
//! Loading it compares the checksums, which detects accidents, and checks the structure of every row, so that not even a
//! forged file can make a row that reaches outside the data.

mod beside;
mod format;
mod guard;
mod origin;
mod parts;
mod rows;
#[cfg(test)]
mod tests;
mod write;

pub use beside::{CacheUse, beside, path_beside};
pub use format::CacheFault;
pub(crate) use format::MAGIC;
pub use guard::{changed_mapped_file, guard_mapped_files};
pub(crate) use parts::{Part, PartReader, Sums};
use rows::CacheReader;
pub use write::make;
pub(crate) use write::{Made, make_file, make_nameless};

use super::error::{ReadError, ReadErrorKind};
use super::formats::{Detect, FormatColumns, FormatDescriptor};
use super::reader::{Opening, RecordReader};
use super::source::Input;
use super::{Format, Loaded, ReadNotes, Schema, Source};
use crate::Error;
use crate::dataset::{Array, Dataset, FileBytes, Plain, Rows, Values};
use format::{Layout, Metadata, Place, Width};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

pub(super) static LINSEP: FormatDescriptor = FormatDescriptor {
    name: Format::LINSEP.name(),
    title: "linsep cache",
    help: "A cache, as convert makes it",
    extensions: &["linsep"],
    columns: FormatColumns::AsStored,
    is_text: false,
    is_written: true,
    options: &[],
    matched_by_number: None,
    detect: Detect::Magic(&MAGIC),
    open,
};

impl Format {
    /// Rows as linsep stores them.
    pub const LINSEP: Format = Format::named("linsep");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, source, input, options, .. } = opening;
    let cache = Cache::of_source(source, &name, input).map_err(|kind| ReadError::whole(&name, kind))?;
    Ok(Box::new(CacheReader::new(cache, options)?))
}

/// An opened cache: its description has been checked, its rows have not.
#[derive(Clone, Debug)]
pub struct Cache {
    name: String,
    bytes: Arc<FileBytes>,
    metadata: Metadata,
}

impl Cache {
    /// Opens a cache and reads its description, but not its rows.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| ReadError::whole(&name, error.into()))?;
        Self::of_file(name, &file)
    }

    /// Opens a cache that is open as a file; the name is for messages.
    fn of_file(name: String, file: &File) -> Result<Self, ReadError> {
        let located = |kind| ReadError::whole(&name, kind);
        let bytes = map(&name, file).map_err(|error| located(error.into()))?;
        Self::new(name.clone(), bytes).map_err(|fault| located(fault.into()))
    }

    /// Opens a cache that was read into memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CacheFault> {
        Self::new("memory".to_string(), FileBytes::copy_of(bytes))
    }

    /// The cache that a source holds: mapped if it is a plain file, otherwise read.
    pub(super) fn of_source(source: &Source, name: &str, mut input: Input) -> Result<Self, ReadErrorKind> {
        let bytes = match source {
            Source::File(path) if is_cache(path)? => map(name, &File::open(path)?)?,
            _ => {
                let mut bytes = Vec::new();
                input.read_to_end(&mut bytes)?;
                FileBytes::copy_of(&bytes)
            }
        };
        Ok(Self::new(name.to_string(), bytes)?)
    }

    fn new(name: String, bytes: FileBytes) -> Result<Self, CacheFault> {
        let metadata = format::read_metadata(bytes.len() as u64, |start, length| {
            let range = start as usize..(start as usize).saturating_add(length);
            bytes.get(range).map(<[u8]>::to_vec).ok_or(CacheFault::Length)
        })?;
        Ok(Self { name, bytes: Arc::new(bytes), metadata })
    }

    /// Takes the rows: all arrays are checked in one pass. Values stay where they are. What rows are made of (offsets,
    /// indices, labels) is copied: whoever writes over a mapped file may spoil numbers, which is noticed, but never
    /// where the program reads.
    pub fn rows(&self) -> Result<Dataset, CacheFault> {
        for (name, place, length) in self.metadata.places() {
            let range = place.start as usize..(place.start + length) as usize;
            let bytes = self.bytes.get(range).ok_or(CacheFault::Length)?;
            if format::sum(bytes) != place.sum {
                return Err(CacheFault::Sum(name));
            }
        }
        let metadata = &self.metadata;
        let (rows, stored) = (metadata.rows as usize, metadata.stored as usize);
        let values = match metadata.values {
            Width::F32 => Values::F32(self.numbers(&metadata.arrays.values, stored)?),
            Width::F64 => Values::F64(self.numbers(&metadata.arrays.values, stored)?),
        };
        let stored = match (&metadata.arrays.offsets, &metadata.arrays.indices) {
            (Some(offsets), Some(indices)) => Rows::Sparse {
                offsets: copied(self.offsets(offsets, rows + 1)?),
                indices: copied(self.numbers(indices, stored)?),
                values,
            },
            _ => Rows::Dense { values },
        };
        let labels = copied(self.numbers(&metadata.arrays.labels, rows)?);
        let lines = metadata.arrays.lines.as_ref().map(|place| self.numbers(place, rows)).transpose()?;
        Ok(metadata.dataset(stored, labels, lines)?.with_filled_cells(metadata.filled.clone()))
    }

    /// An array of the file, as it lies there if this machine stores numbers in the same way.
    fn numbers<T: Plain>(&self, place: &Place, count: usize) -> Result<Array<T>, CacheFault> {
        let mut numbers =
            Array::<T>::in_file(&self.bytes, place.start as usize, count).ok_or(CacheFault::Length)?;
        if cfg!(target_endian = "big") {
            numbers.iter_mut().for_each(|number| *number = number.little_endian());
        }
        Ok(numbers)
    }

    #[cfg(target_pointer_width = "64")]
    fn offsets(&self, place: &Place, count: usize) -> Result<Array<usize>, CacheFault> {
        self.numbers(place, count)
    }

    #[cfg(not(target_pointer_width = "64"))]
    fn offsets(&self, place: &Place, count: usize) -> Result<Array<usize>, CacheFault> {
        let wide: Array<u64> = self.numbers(place, count)?;
        let narrow: Result<Vec<usize>, _> = wide.iter().map(|&offset| usize::try_from(offset)).collect();
        Ok(narrow.map_err(|_| CacheFault::Length)?.into())
    }

    /// Takes the rows, with how they were read.
    pub fn load(&self) -> Result<Loaded, ReadError> {
        let located = |kind| ReadError::whole(&self.name, kind);
        Ok(self.loaded(self.rows().map_err(|fault| located(fault.into()))?))
    }

    /// Rows that were taken, with how they were read.
    pub(super) fn loaded(&self, dataset: Dataset) -> Loaded {
        Loaded {
            dataset,
            format: Format::LINSEP,
            schema: self.metadata.schema.clone(),
            notes: rows::notes_of(self),
            own_schema: self.metadata.schema.clone(),
            fingerprint: Some(self.metadata.fingerprint.clone()),
        }
    }

    /// What is in it.
    pub fn summary(&self) -> CacheSummary {
        let metadata = &self.metadata;
        CacheSummary {
            rows: metadata.rows,
            features: metadata.columns,
            stored: metadata.stored,
            sparse: metadata.layout == Layout::Sparse,
            value_bytes: metadata.values.bytes(),
            classes: metadata.classes.clone(),
            fingerprint: metadata.fingerprint.clone(),
            format: ReadNotes::from(metadata.notes.clone()).format,
            source: metadata.origin.as_ref().and_then(|origin| Some(origin.files.first()?.name.clone())),
            program: metadata.program.clone(),
            bytes: self.bytes.len() as u64,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.metadata.schema
    }
}

/// What a cache holds, in numbers and words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CacheSummary {
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub features: u64,
    /// Stored values; of dense rows, all of them.
    pub stored: u64,
    /// Whether zeros are left out.
    pub sparse: bool,
    /// Bytes of each value: 4 or 8.
    pub value_bytes: u64,
    /// Class names.
    pub classes: Vec<String>,
    /// The hash of the content, as whoever made the cache computed it.
    pub fingerprint: String,
    /// The format that the rows came in.
    pub format: String,
    /// The name of the file that they came from.
    pub source: Option<String>,
    /// The program that made it.
    pub program: String,
    /// The size of the file.
    pub bytes: u64,
}

impl Metadata {
    /// A data set of arrays that came from the file, whether all rows or some of them.
    fn dataset(
        &self,
        rows: Rows,
        labels: Array<u32>,
        lines: Option<Array<u64>>,
    ) -> Result<Dataset, CacheFault> {
        Dataset::from_arrays(
            rows,
            self.columns as usize,
            labels,
            lines,
            self.classes.clone(),
            self.schema.feature_names(),
            self.schema.index_base(),
        )
        .map_err(|error| CacheFault::Rows(error.to_string()))
    }
}

/// The same numbers in memory of their own.
fn copied<T: Plain>(numbers: Array<T>) -> Array<T> {
    numbers.to_vec().into()
}

/// Whether a path is a file that is a cache: not compressed, and not a pipe.
pub fn is_cache(path: &Path) -> io::Result<bool> {
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let file = File::open(path)?;
    let mut head = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

#[allow(unsafe_code, reason = "a mapped file")]
fn map(name: &str, file: &File) -> io::Result<FileBytes> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    if metadata.len() == 0 {
        return Ok(FileBytes::copy_of(&[]));
    }
    // SAFETY: the map is only read. It must not change under us: this program replaces caches by renaming a whole new file,
    // which leaves the mapped one as it is; for other programs see `Cache::rows` and `guard_mapped_files`.
    let map = unsafe { memmap2::Mmap::map(file) }?;
    guard::watch(name, file)?;
    Ok(FileBytes::Mapped(map))
}

/// Fills `bytes` from a place in a file, wherever others read it.
#[cfg(unix)]
fn read_at(file: &File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Fills `bytes` from a place in a file, wherever others read it.
#[cfg(not(unix))]
fn read_at(mut file: &File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    // One reader at a time: the place is that of the open file.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

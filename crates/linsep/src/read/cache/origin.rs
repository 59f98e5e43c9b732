//! The origin of a cache, to decide later whether it is up to date.

use crate::read::{ColumnAs, Format, Missing, ReadOptions, Source, formats, source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The files that the rows were read from, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The data, and the labels where they have a file of their own.
    pub(crate) files: Vec<Stamp>,
    reading: Reading,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Its name, without its folder.
    pub(crate) name: String,
    /// Bytes.
    length: u64,
    /// When it was changed last: seconds and nanoseconds since 1970.
    modified: Option<(u64, u32)>,
    /// The hash of samples of its content.
    sample: String,
}

/// The options that decide what is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reading {
    format: Option<String>,
    label: Option<String>,
    ignore: Vec<String>,
    #[serde(default)]
    keep: Vec<String>,
    header: Option<bool>,
    delimiter: Option<u8>,
    missing: String,
    index_base: Option<u32>,
    skip_bad: bool,
    max_features: Option<u32>,
    online: bool,
    columns: BTreeMap<String, ColumnAs>,
    na: Option<Vec<String>>,
    auto: bool,
    encoding: Option<String>,
    /// The version of the rules by which columns are guessed.
    rules: u32,
}

/// Grows whenever the same text is read in another way.
const RULES: u32 = 3;

impl Origin {
    /// Whether the rows are those of `other`, if no cell of them is missing.
    pub(super) fn is_same_without_gaps(&self, other: &Self) -> bool {
        let reading = Reading { missing: other.reading.missing.clone(), ..self.reading.clone() };
        self.files == other.files
            && reading == other.reading
            && self.has_usual_gaps()
            && other.has_usual_gaps()
    }

    /// Whether missing cells were refused, or would have been filled in the usual way.
    pub(super) fn has_usual_gaps(&self) -> bool {
        Missing::ALL.iter().all(|missing| missing.is_usual() || missing.name() != self.reading.missing)
    }

    /// The files of a source as they are now; `None` if it is no file.
    pub(super) fn of(source: &Source, options: &ReadOptions) -> io::Result<Option<Self>> {
        let Source::File(path) = source else { return Ok(None) };
        if !std::fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let paths = paths(path, options);
        let files = paths.map(|path| Stamp::of(path)).collect::<io::Result<_>>()?;
        Ok(Some(Self { files, reading: Reading::of(options, is_table(source, options)) }))
    }

    /// Whether the files of a source still begin with what they held. What was appended since is not read.
    pub(super) fn is_still(&self, source: &Source, options: &ReadOptions) -> io::Result<bool> {
        let Source::File(path) = source else { return Ok(true) };
        for (path, stamp) in paths(path, options).zip(&self.files) {
            if !stamp.is_still(path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The files of a source: the data, and the labels where they have a file of their own.
fn paths<'a>(path: &'a PathBuf, options: &'a ReadOptions) -> impl Iterator<Item = &'a PathBuf> {
    std::iter::once(path).chain(&options.array.labels_file)
}

/// Whether a source is delimited text.
fn is_table(source: &Source, options: &ReadOptions) -> bool {
    let detected = || {
        source::open(source)
            .ok()
            .and_then(|(mut input, _)| formats::detect_in(&mut input, options.line_limit()).ok())
    };
    options.format.or_else(detected).is_some_and(Format::is_table)
}

impl Reading {
    fn of(options: &ReadOptions, table: bool) -> Self {
        Self {
            format: options.format.map(|format| format.title().to_string()),
            label: options.csv.label.clone(),
            ignore: options.csv.ignore.clone(),
            keep: options.csv.keep.clone(),
            header: options.csv.header,
            delimiter: options.csv.delimiter,
            missing: options.csv.missing.name().to_string(),
            index_base: options.libsvm.index_base,
            skip_bad: options.skip_bad,
            max_features: options.max_features,
            // Columns settled by the first rows are those of all rows, unless rows that contradict them were skipped.
            online: options.online && options.skip_bad && table,
            columns: options.csv.columns.clone(),
            na: options.csv.na.clone(),
            auto: options.csv.auto,
            encoding: options.encoding.clone(),
            rules: RULES,
        }
    }
}

/// Samples of a file, and bytes in each: enough to notice another file of the same length, few enough to take no time.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: u64 = 4096;

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::of_beginning(path, &file, length)
    }

    /// The first bytes of a file, as they are now.
    fn of_beginning(path: &Path, file: &File, length: u64) -> io::Result<Self> {
        let modified = file.metadata()?.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mut hasher = blake3::Hasher::new();
        let mut bytes = vec![0; SAMPLE_BYTES as usize];
        for k in 0..SAMPLES {
            // The first sample is the beginning of the file, the last its end.
            let start = (u128::from(length.saturating_sub(SAMPLE_BYTES)) * u128::from(k)
                / u128::from(SAMPLES - 1)) as u64;
            let count = SAMPLE_BYTES.min(length) as usize;
            super::read_at(file, start, &mut bytes[..count])?;
            hasher.update(&bytes[..count]);
            if length <= SAMPLE_BYTES {
                break;
            }
        }
        Ok(Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            length,
            modified: modified.map(|time| (time.as_secs(), time.subsec_nanos())),
            sample: hasher.finalize().to_hex().to_string(),
        })
    }

    /// Whether a file still begins with what it held; one that has not grown must not have been written to at all.
    fn is_still(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        if length < self.length {
            return Ok(false);
        }
        let now = Self::of_beginning(path, &file, self.length)?;
        Ok(now.sample == self.sample && (length > self.length || now.modified == self.modified))
    }
}

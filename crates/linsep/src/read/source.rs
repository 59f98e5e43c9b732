//! Where bytes come from: a file or standard input, plain or compressed.

use super::Loaded;
use super::compression::Compression;
use super::error::ReadErrorKind;
use super::formats::Format;
pub(crate) use super::input::{HEAD_BYTES, Input};
pub(crate) use super::stamp::FileStamp;
use super::stamp::cut_short;
use crate::waiting;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Where data comes from.
#[derive(Clone, Debug, Default)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    #[default]
    Stdin,
    /// Bytes in memory, with a name for messages.
    Memory(&'static str, &'static [u8]),
    /// Bytes that are shared, with a name for messages.
    Shared(String, Arc<[u8]>),
    /// Rows that were read already, or made of the memory of a front end, with a name for messages. Nothing is copied.
    Rows(String, Arc<Loaded>),
    /// A reader that is read once, with a name for messages.
    Once(&'static str, OnceReader),
    /// The stream that a function opens, with a name for messages.
    Custom(&'static str, fn() -> io::Result<Box<dyn Read + Send>>),
}

/// A reader that is read once, whoever asks for it first.
#[derive(Clone)]
pub struct OnceReader(Arc<Mutex<Option<Box<dyn Read + Send>>>>);

impl OnceReader {
    /// Wraps a reader.
    pub fn new(reader: impl Read + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(reader)))))
    }

    fn take(&self) -> io::Result<Box<dyn Read + Send>> {
        let reader = self.0.lock().ok().and_then(|mut reader| reader.take());
        reader.ok_or_else(|| io::Error::other("it was read already"))
    }
}

impl fmt::Debug for OnceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnceReader")
    }
}

impl Source {
    /// A path, or standard input for `-`.
    pub fn from_argument(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Source::Stdin } else { Source::File(argument.to_path_buf()) }
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::File(path) => Some(path),
            _ => None,
        }
    }

    /// Whether opening it again gives the same bytes again.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Source::File(path) => path.is_file(),
            Source::Memory(..) | Source::Shared(..) | Source::Rows(..) => true,
            Source::Stdin | Source::Once(..) | Source::Custom(..) => false,
        }
    }

    /// The name used in messages.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".to_string(),
            Source::Memory(name, _) | Source::Custom(name, _) | Source::Once(name, _) => (*name).to_string(),
            Source::Shared(name, _) | Source::Rows(name, _) => name.clone(),
        }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Source::from_argument(&path)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Source::from_argument(path)
    }
}

impl From<&str> for Source {
    fn from(path: &str) -> Self {
        Source::from_argument(Path::new(path))
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Source::File(one), Source::File(other)) => one == other,
            (Source::Stdin, Source::Stdin) => true,
            (Source::Memory(one, bytes), Source::Memory(other, others)) => one == other && bytes == others,
            (Source::Shared(one, bytes), Source::Shared(other, others)) => one == other && bytes == others,
            (Source::Rows(one, rows), Source::Rows(other, others)) => {
                one == other && Arc::ptr_eq(rows, others)
            }
            (Source::Custom(one, open), Source::Custom(other, opens)) => {
                one == other && std::ptr::fn_addr_eq(*open, *opens)
            }
            _ => false,
        }
    }
}

/// In a specification a source is its path, or `-` for standard input. Bytes in memory have no such form.
impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Source::File(path) => path.serialize(serializer),
            // What a front end opens itself is its standard input.
            Source::Stdin | Source::Custom(..) | Source::Once(..) => serializer.serialize_str("-"),
            Source::Memory(..) | Source::Shared(..) | Source::Rows(..) => Err(S::Error::custom(format!(
                "{} is not a file: a specification can only name files and standard input",
                self.name()
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(Source::from)
    }
}

/// The format that the name of a file denotes, whether or not the file is compressed.
pub(crate) fn format_by_name(path: &Path) -> Option<Format> {
    Format::from_extension(&ending(path)?)
}

/// The ending of a file's name in lower case, without that of a compression.
pub(crate) fn ending(path: &Path) -> Option<String> {
    let ending_of = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending_of(path).as_deref() {
        Some("gz" | "zst") => ending_of(&path.with_extension("")),
        _ => ending_of(path),
    }
}

/// How many bytes were taken from the (compressed) source.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteCounter {
    taken: Arc<AtomicU64>,
    total: Option<u64>,
}

impl ByteCounter {
    pub(crate) fn get(&self) -> (u64, Option<u64>) {
        (self.taken.load(Ordering::Relaxed), self.total)
    }
}

struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Reads at a place of a file, whatever others read of it.
#[cfg(unix)]
fn read_some(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_some(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// The bytes that a file had when it was opened, from the first to the last.
struct WholeFile {
    file: File,
    length: u64,
    left: u64,
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.file.read(&mut buffer[..wanted])?;
        if count == 0 && wanted > 0 {
            return Err(ended_early(self.length, self.length - self.left));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// The error for a file that ends before its end.
fn ended_early(length: u64, found: u64) -> io::Error {
    let problem = format!("the file was changed while it was read: {}", cut_short(length, found));
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

/// A file that can be read at any place, by several threads at once.
#[derive(Clone, Debug)]
pub(crate) struct PlainFile {
    file: Arc<File>,
    /// Where its content begins.
    pub(crate) first: u64,
    /// Its length when it was opened.
    pub(crate) length: u64,
    taken: Arc<AtomicU64>,
}

impl PlainFile {
    /// Reads `count` bytes from `offset` on into `bytes`, from position `at` on. They must lie within the length that the
    /// file had when it was opened.
    pub(crate) fn read_at(
        &self,
        offset: u64,
        bytes: &mut Vec<u8>,
        at: usize,
        count: usize,
    ) -> io::Result<()> {
        // What was there before is kept, so that the same room is not filled with zeros again and again.
        if bytes.len() < at + count {
            bytes.resize(at + count, 0);
        }
        let mut got = 0;
        while got < count {
            match read_some(&self.file, &mut bytes[at + got..at + count], offset + got as u64) {
                Ok(0) => return Err(ended_early(self.length, offset + got as u64)),
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The file from a place on, of which nothing is counted as taken yet.
    pub(crate) fn starting_at(self, first: u64) -> Self {
        self.taken.store(first, Ordering::Relaxed);
        Self { first, ..self }
    }

    /// Counts bytes as taken.
    pub(crate) fn count(&self, bytes: u64) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Opens a source and decompresses it if its first bytes say so.
pub(crate) fn open(source: &Source) -> Result<(Input, ByteCounter), ReadErrorKind> {
    let taken = Arc::new(AtomicU64::new(0));
    let (mut plain_file, mut stamp) = (None, None);
    let (raw, total): (Box<dyn Read + Send>, Option<u64>) = match source {
        Source::File(path) => {
            let may_wait = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
            let (file, path) = (File::open, path.clone());
            let file = if may_wait { waiting::opened(move || file(path))? } else { file(path)? };
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder").into());
            }
            let total = metadata.is_file().then_some(metadata.len());
            // Files that the system makes up may say that they are empty.
            if metadata.is_file() && metadata.len() > 0 {
                let (shared, length, taken) = (Arc::new(file.try_clone()?), metadata.len(), taken.clone());
                stamp = Some(FileStamp::of(shared.clone())?);
                if cfg!(unix) {
                    plain_file = Some(PlainFile { file: shared, first: 0, length, taken });
                }
                (Box::new(WholeFile { file, length, left: length }), total)
            } else if may_wait {
                (Box::new(waiting::reader(file)?), total)
            } else {
                (Box::new(file), total)
            }
        }
        Source::Stdin => (Box::new(waiting::reader(io::stdin())?), None),
        Source::Custom(_, open) => (open()?, None),
        Source::Once(_, reader) => (reader.take()?, None),
        Source::Memory(_, bytes) => (Box::new(*bytes), Some(bytes.len() as u64)),
        Source::Shared(_, bytes) => (Box::new(io::Cursor::new(bytes.clone())), Some(bytes.len() as u64)),
        Source::Rows(..) => {
            let problem = "these rows are in memory: there are no bytes to read";
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem).into());
        }
    };
    let counter = ByteCounter { taken: taken.clone(), total };
    let raw = Input::new(Box::new(Counted { inner: raw, taken }), 8)?;
    let mut told = None;
    let plain = match Compression::of(raw.head()) {
        Some(compression) => compression.undone(raw)?,
        None => {
            told = total;
            Box::new(raw)
        }
    };
    let file = plain_file.filter(|_| told.is_some());
    Ok((Input::new(plain, HEAD_BYTES)?.of_file(told, file, stamp), counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_written_as_its_path() {
        for (source, text) in [(Source::Stdin, "\"-\""), (Source::from("rows.csv"), "\"rows.csv\"")] {
            assert_eq!(serde_json::to_string(&source).unwrap(), text);
            assert_eq!(serde_json::from_str::<Source>(text).unwrap(), source);
        }
        let error = serde_json::to_string(&Source::Memory("rows", b"1 1:2")).unwrap_err().to_string();
        assert!(error.contains("rows is not a file"), "{error}");
    }
}

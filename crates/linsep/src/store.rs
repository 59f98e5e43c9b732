//! Files that linsep writes: atomic, versioned, and safe to open whatever they hold.
//!
//! Models and checkpoints are safetensors files: named arrays of numbers, and one JSON text under the metadata
//! key `linsep` that says what they mean.

use crate::waiting;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The version of what this program writes; it reads this one and all before it.
pub(crate) const VERSION: u32 = 1;
const METADATA_KEY: &str = "linsep";

/// A file that cannot be opened as what it should be.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be read.
    #[error("cannot read the file: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no safetensors file, or a damaged one.
    #[error("this is not a linsep {kind}, or it is cut short or damaged ({reason})")]
    NotSafetensors {
        /// What was expected: `model` or `checkpoint`.
        kind: &'static str,
        /// What the format's reader says.
        reason: String,
    },
    /// A safetensors file of another program.
    #[error("this safetensors file was not written by linsep")]
    Foreign,
    /// A model where a checkpoint is needed, or the other way round.
    #[error("this is a linsep {found}, not a {expected}")]
    OtherKind {
        /// What it is.
        found: String,
        /// What was needed.
        expected: &'static str,
    },
    /// Written by a later version.
    #[error("this file has version {found}; this program reads versions up to {VERSION}")]
    Newer {
        /// The version of the file.
        found: u32,
    },
    /// Its parts do not fit together.
    #[error("the file is damaged: {0}")]
    Damaged(String),
}

/// The JSON text of every file: its kind, its version, the program that wrote it, and the content.
#[derive(serde::Deserialize, serde::Serialize)]
struct Envelope<T> {
    kind: String,
    version: u32,
    program: String,
    #[serde(flatten)]
    content: T,
}

/// Named arrays on their way to a file.
#[derive(Default)]
pub(crate) struct Tensors {
    entries: Vec<(String, Dtype, usize, Vec<u8>)>,
}

impl Tensors {
    pub(crate) fn put_f64(&mut self, name: &str, values: &[f64]) {
        self.put(name, Dtype::F64, values, |x| x.to_le_bytes());
    }

    pub(crate) fn put_u64(&mut self, name: &str, values: &[u64]) {
        self.put(name, Dtype::U64, values, |x| x.to_le_bytes());
    }

    pub(crate) fn put_u32(&mut self, name: &str, values: &[u32]) {
        self.put(name, Dtype::U32, values, |x| x.to_le_bytes());
    }

    pub(crate) fn put_i8(&mut self, name: &str, values: &[i8]) {
        self.put(name, Dtype::I8, values, |x| x.to_le_bytes());
    }

    fn put<T, const N: usize>(
        &mut self,
        name: &str,
        dtype: Dtype,
        values: &[T],
        bytes: impl Fn(&T) -> [u8; N],
    ) {
        let data = values.iter().flat_map(bytes).collect();
        self.entries.push((name.to_string(), dtype, values.len(), data));
    }

    /// The bytes of the file: the same arrays and content give the same bytes.
    pub(crate) fn to_bytes<T: Serialize>(&self, kind: &str, content: &T) -> Result<Vec<u8>, StoreError> {
        let damaged = |error: &dyn std::fmt::Display| StoreError::Damaged(error.to_string());
        let program = format!("linsep {}", env!("CARGO_PKG_VERSION"));
        let envelope = Envelope { kind: kind.to_string(), version: VERSION, program, content };
        let text = serde_json::to_string(&envelope).map_err(|error| damaged(&error))?;
        let views = self
            .entries
            .iter()
            .map(|(name, dtype, length, data)| Ok((name, TensorView::new(*dtype, vec![*length], data)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(|error| damaged(&error))?;
        safetensors::serialize(views, Some(HashMap::from([(METADATA_KEY.to_string(), text)])))
            .map_err(|error| damaged(&error))
    }
}

/// An opened file: its content, and its arrays by name.
pub(crate) struct Opened<'a, T> {
    pub(crate) content: T,
    tensors: SafeTensors<'a>,
}

impl<'a, T: DeserializeOwned> Opened<'a, T> {
    pub(crate) fn open(bytes: &'a [u8], kind: &'static str) -> Result<Self, StoreError> {
        let not_ours = |error: safetensors::SafeTensorError| StoreError::NotSafetensors {
            kind,
            reason: error.to_string(),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(not_ours)?;
        let text =
            header.metadata().as_ref().and_then(|map| map.get(METADATA_KEY)).ok_or(StoreError::Foreign)?;
        let damaged = |error: serde_json::Error| StoreError::Damaged(error.to_string());
        let head: Envelope<HashMap<String, serde_json::Value>> =
            serde_json::from_str(text).map_err(damaged)?;
        if head.kind != kind {
            return Err(StoreError::OtherKind { found: head.kind, expected: kind });
        }
        if head.version > VERSION {
            return Err(StoreError::Newer { found: head.version });
        }
        let envelope: Envelope<T> = serde_json::from_str(text).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(not_ours)?;
        Ok(Self { content: envelope.content, tensors })
    }

    pub(crate) fn f64s(&self, name: &str) -> Result<Vec<f64>, StoreError> {
        self.get(name, Dtype::F64, f64::from_le_bytes)
    }

    pub(crate) fn u64s(&self, name: &str) -> Result<Vec<u64>, StoreError> {
        self.get(name, Dtype::U64, u64::from_le_bytes)
    }

    pub(crate) fn u32s(&self, name: &str) -> Result<Vec<u32>, StoreError> {
        self.get(name, Dtype::U32, u32::from_le_bytes)
    }

    pub(crate) fn i8s(&self, name: &str) -> Result<Vec<i8>, StoreError> {
        self.get(name, Dtype::I8, i8::from_le_bytes)
    }

    fn get<V, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        value: fn([u8; N]) -> V,
    ) -> Result<Vec<V>, StoreError> {
        let tensor = self.tensors.tensor(name).map_err(|error| StoreError::Damaged(error.to_string()))?;
        if tensor.dtype() != dtype || tensor.shape().len() != 1 {
            return Err(StoreError::Damaged(format!("the array \"{name}\" has the wrong type or shape")));
        }
        Ok(tensor.data().as_chunks::<N>().0.iter().map(|&bytes| value(bytes)).collect())
    }
}

/// Reads a whole file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|source| StoreError::Read { path: path.to_path_buf(), source })
}

/// Writes a file so that it is either whole or untouched: a temporary file beside it, flushed to the disk, takes
/// its place and its permissions. Links are followed; devices and pipes are written to directly.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), crate::Error> {
    let failed = |source| crate::Error::Write { path: path.to_path_buf(), source };
    match Place::of(path).map_err(failed)? {
        Place::Device(target) => {
            // A pipe may wait for its reader.
            let device =
                waiting::opened(move || fs::OpenOptions::new().write(true).open(&target)).map_err(failed)?;
            let mut out = io::BufWriter::new(device);
            write(&mut out).and_then(|()| out.flush()).map_err(failed)
        }
        Place::File(target) => write_and_rename(&target, write).map_err(failed),
    }
}

/// Checks that [`write_atomically`] can put a file there, as far as that can be told beforehand. Leaves nothing
/// behind.
pub fn check_writable(path: &Path) -> Result<(), crate::Error> {
    let failed = |source| crate::Error::Write { path: path.to_path_buf(), source };
    if let Place::File(target) = Place::of(path).map_err(failed)? {
        temporary_beside(&target, ".part").and_then(NamedTempFile::close).map_err(failed)?;
    }
    Ok(())
}

/// A new hidden file in the folder of `path`, with the name of `path` in its own. It is deleted when it is dropped.
pub(crate) fn temporary_beside(path: &Path, suffix: &str) -> io::Result<NamedTempFile> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    // Permissions as for any new file; those of tempfile itself let the owner alone read it.
    builder
        .prefix(&prefix)
        .suffix(suffix)
        .make_in(folder_of(path), |path| File::options().read(true).write(true).create_new(true).open(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a file goes.
enum Place {
    /// Something that is there and no file: it is written to directly.
    Device(PathBuf),
    /// A file, or nothing yet.
    File(PathBuf),
}

impl Place {
    /// Follows links, and refuses what cannot be replaced.
    fn of(path: &Path) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if let Ok(metadata) = fs::metadata(&target) {
            if metadata.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
            }
            if !metadata.is_file() {
                return Ok(Place::Device(target));
            }
            if metadata.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected"));
            }
        }
        Ok(Place::File(target))
    }
}

fn write_and_rename(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(temporary_beside(target, ".part")?);
    write(&mut out)?;
    let temporary = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(replaced) = fs::metadata(target) {
        temporary.as_file().set_permissions(replaced.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(target).map_err(|error| error.error)?;
    // The rename itself must reach the disk too; not every file system can say so.
    let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::other("no more room"))
        });
        assert!(failed.unwrap_err().to_string().contains("no more room"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        check_writable(&path).unwrap();
        check_writable(&folder.path().join("other")).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    /// Two writers at once: each has a temporary file of its own, and the last one wins.
    #[test]
    fn writers_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |out| {
            out.write_all(b"outer")?;
            write_atomically(&path, |out| out.write_all(b"inner")).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"inner");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"outer");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let error = check_writable(&folder.path().join("no/file")).unwrap_err().to_string();
        assert!(error.contains("No such file") || error.contains("cannot find"), "{error}");
        assert!(!error.contains(".part"), "{error}");
        let error = write_atomically(folder.path(), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("it is a folder"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_replaced_file_or_of_any_new_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        File::create(folder.path().join("plain")).unwrap();
        write_atomically(&folder.path().join("new"), |out| out.write_all(b"new")).unwrap();
        assert_eq!(mode("new"), mode("plain"));
        for kept in [0o600, 0o640, 0o755] {
            fs::set_permissions(folder.path().join("new"), fs::Permissions::from_mode(kept)).unwrap();
            write_atomically(&folder.path().join("new"), |out| out.write_all(b"newer")).unwrap();
            assert_eq!(mode("new"), kept);
        }
        fs::set_permissions(folder.path().join("new"), fs::Permissions::from_mode(0o444)).unwrap();
        let refused = write_atomically(&folder.path().join("new"), |out| out.write_all(b"newest"));
        assert!(refused.unwrap_err().to_string().contains("write-protected"));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

/// Damage to files, for the tests of everything that opens them.
#[cfg(test)]
pub(crate) mod mutation {
    use proptest::prelude::*;

    /// One thing that can happen to a file. Places are taken modulo the length.
    #[derive(Clone, Debug)]
    pub(crate) enum Mutation {
        Flip {
            place: usize,
            bits: u8,
        },
        Cut {
            place: usize,
        },
        Insert {
            place: usize,
            bytes: Vec<u8>,
        },
        Remove {
            place: usize,
            count: usize,
        },
        /// Another number in the JSON text; the length in the header is corrected, so that the text is read.
        Number {
            which: usize,
            number: String,
        },
        /// Another number in an array.
        Value {
            place: usize,
            bytes: [u8; 8],
        },
    }

    pub(crate) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
        let numbers = prop_oneof![
            any::<i8>().prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_filter("JSON", |x| x.is_finite()).prop_map(|number| format!("{number:e}")),
            Just("null".to_string()),
            Just(u64::MAX.to_string()),
            Just("1e308".to_string()),
            Just("0".to_string()),
        ];
        let values = prop_oneof![
            any::<f64>().prop_map(f64::to_le_bytes),
            any::<u64>().prop_map(u64::to_le_bytes),
            Just(f64::MAX.to_le_bytes()),
            Just(f64::NAN.to_le_bytes()),
            Just([0; 8]),
            Just([0xff; 8]),
        ];
        let mutation = prop_oneof![
            2 => (any::<usize>(), 1u8..).prop_map(|(place, bits)| Mutation::Flip { place, bits }),
            1 => any::<usize>().prop_map(|place| Mutation::Cut { place }),
            1 => (any::<usize>(), prop::collection::vec(any::<u8>(), 1..9))
                .prop_map(|(place, bytes)| Mutation::Insert { place, bytes }),
            1 => (any::<usize>(), 1usize..9).prop_map(|(place, count)| Mutation::Remove { place, count }),
            6 => (any::<usize>(), numbers).prop_map(|(which, number)| Mutation::Number { which, number }),
            4 => (any::<usize>(), values).prop_map(|(place, bytes)| Mutation::Value { place, bytes }),
        ];
        prop::collection::vec(mutation, 1..4)
    }

    impl Mutation {
        pub(crate) fn apply(&self, file: &mut Vec<u8>) {
            if file.is_empty() {
                return;
            }
            let length = file.len();
            match self {
                Mutation::Flip { place, bits } => file[place % length] ^= bits,
                Mutation::Cut { place } => file.truncate(place % length),
                Mutation::Insert { place, bytes } => {
                    let place = place % length;
                    file.splice(place..place, bytes.iter().copied());
                }
                Mutation::Remove { place, count } => {
                    let place = place % length;
                    file.drain(place..length.min(place + count));
                }
                Mutation::Number { which, number } => change_number(file, *which, number),
                Mutation::Value { place, bytes } => {
                    let header = header_length(file).unwrap_or(0);
                    let places = file.len().saturating_sub(8 + header) / 8;
                    if places > 0 {
                        let start = 8 + header + place % places * 8;
                        file[start..start + 8].copy_from_slice(bytes);
                    }
                }
            }
        }
    }

    fn header_length(file: &[u8]) -> Option<usize> {
        let length = usize::try_from(u64::from_le_bytes(*file.first_chunk()?)).ok()?;
        (length <= file.len() - 8).then_some(length)
    }

    /// Puts `number` in the place of one of the numbers in the header.
    fn change_number(file: &mut Vec<u8>, which: usize, number: &str) {
        let Some(header) = header_length(file) else { return };
        let text = &file[8..8 + header];
        let is_part = |&byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        let starts: Vec<usize> =
            (1..text.len()).filter(|&i| text[i].is_ascii_digit() && b":[,".contains(&text[i - 1])).collect();
        if starts.is_empty() {
            return;
        }
        let start = starts[which % starts.len()];
        let end = text[start..].iter().position(|byte| !is_part(byte)).map_or(text.len(), |n| start + n);
        file.splice(8 + start..8 + end, number.bytes());
        let header = (header + number.len() - (end - start)) as u64;
        file[..8].copy_from_slice(&header.to_le_bytes());
    }
}

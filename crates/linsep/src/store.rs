//! Files that linsep writes: atomic, versioned, and safe to open whatever they hold.
//!
//! Models and checkpoints are safetensors files: named arrays of numbers, and one JSON text under the metadata
//! key `linsep` that says what they mean.

mod arrays;
mod place;
mod streams;
mod temporary;

pub(crate) use arrays::{Arrays, Opened, Tensors};
pub(crate) use place::{is_same_file, special_kind};
pub use streams::{closed_stream_error, is_closed_stream, note_closed_stream};
pub use temporary::remove_temporary_files;
pub(crate) use temporary::scratch_file;

use crate::numbers::grouped;
use crate::waiting;
use place::{Place, folder_of, open_device, open_whole};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use temporary::temporary_beside;

/// The version of what this program writes; it reads this one and all before it.
pub(crate) const VERSION: u32 = 1;

/// A file that cannot be opened as what it should be.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be read.
    #[error("cannot read the file: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is no safetensors file, or a damaged one.
    #[error("this is not a linsep {kind}, or it is cut short or damaged ({reason})")]
    NotSafetensors {
        /// The expected kind: `model` or `checkpoint`.
        kind: &'static str,
        /// The error of the format's reader.
        reason: String,
    },
    /// A safetensors file of another program.
    #[error("this safetensors file was not written by linsep")]
    Foreign,
    /// A model where a checkpoint is needed, or the other way round.
    #[error("this is a linsep {found}, not a {expected}")]
    OtherKind {
        /// Its kind.
        found: String,
        /// The expected kind.
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
            let device = waiting::opened(move || open_device(&target)).map_err(failed)?;
            let mut out = io::BufWriter::new(device);
            write(&mut out).and_then(|()| out.flush()).map_err(failed)
        }
        Place::File(target) => write_and_rename(&target, write).map_err(failed),
    }
}

/// Reads the bytes of a text file of at most so many bytes as a whole, such as a specification or a certificate. A device or a named pipe
/// is refused before anything is read from it. Text has no zero bytes: what has one, and perhaps no end, is not read further.
pub(crate) fn read_text_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 16;
    let refuse = |problem: String| Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    let (mut file, mut bytes) = (open_whole(path)?, Vec::new());
    loop {
        let before = bytes.len();
        if Read::by_ref(&mut file).take(STEP).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if memchr::memchr(0, &bytes[before..]).is_some() {
            return refuse("it is not text: it holds a zero byte".to_owned());
        }
        if bytes.len() as u64 > most {
            return refuse(format!("it has more than {} bytes", grouped(most)));
        }
    }
}

/// Reads a text file, such as a specification, as `read_text_bytes` does.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read_text_bytes(path, most)?).map_err(no_text)
}

/// Checks that [`write_atomically`] can put a file there, as far as that is known beforehand. Leaves nothing
/// behind.
pub fn check_writable(path: &Path) -> Result<(), crate::Error> {
    let failed = |source| crate::Error::Write { path: path.to_path_buf(), source };
    if let Place::File(target) = Place::of(path).map_err(failed)? {
        temporary_beside(&target).and_then(|temporary| temporary.close()).map_err(failed)?;
    }
    Ok(())
}

fn write_and_rename(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut temporary = temporary_beside(target)?;
    // The file itself, whose errors do not name the temporary file.
    let mut out = io::BufWriter::new(temporary.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
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

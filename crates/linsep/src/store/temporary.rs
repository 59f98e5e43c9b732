//! Temporary files: hidden beside the file whose place they take, or without any name.
//!
//! A named one is made exclusively, under a name that cannot be foreseen and does not grow with that of its target. It is
//! locked as long as its writer lives: a file of this form whose lock can be taken was left by a writer that was killed,
//! and the next writer in the folder removes it.

use super::place::{Place, folder_of};
use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempPath};

const PREFIX: &str = ".linsep-";
const SUFFIX: &str = ".part";
/// Hexadecimal digits between the two.
const DIGITS: usize = 16;

/// A new file in the folder of `target`, which this process has to itself. It is deleted when it is dropped.
pub(super) fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(target);
    sweep(folder);
    // Another process may take a new file for an orphan before it is locked: then another one is made.
    const TRIES: usize = 1000;
    for _ in 0..TRIES {
        // The keys of a hasher are random numbers of the system.
        let number = RandomState::new().hash_one(Instant::now());
        let path = folder.join(format!("{PREFIX}{number:0DIGITS$x}{SUFFIX}"));
        // Permissions as for any new file; those of the crate tempfile let the owner alone read it.
        let file = match File::options().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        let temporary = NamedTempFile::from_parts(file, TempPath::try_from_path(path)?);
        match temporary.as_file().try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            // Where files cannot be locked, nobody takes this one for an orphan.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        if fs::symlink_metadata(temporary.path()).is_ok() {
            remember(temporary.path());
            return Ok(temporary);
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "other processes remove every temporary file"))
}

/// The temporary files of this process. Some are gone already; their names never come again.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn remember(path: &Path) {
    const MANY: usize = 64;
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.len() >= MANY {
        made.retain(|path| fs::symlink_metadata(path).is_ok());
    }
    made.push(path.to_path_buf());
}

/// Removes the temporary files of this process, which is about to end without cleaning up. Asks for no memory, as long as
/// the names are not very long.
pub fn remove_temporary_files() {
    if let Ok(made) = MADE.try_lock() {
        made.iter().for_each(|path| {
            let _ = fs::remove_file(path);
        });
    }
}

/// A file without a name, for what is put together before it goes to `path`. It lies on the same disk, or where temporary
/// files lie if `path` is a device. It is gone with the process, however that ends.
pub(crate) fn scratch_file(path: &Path) -> io::Result<File> {
    match Place::of(path)? {
        Place::File(target) => tempfile::tempfile_in(folder_of(&target)),
        Place::Device(_) => tempfile::tempfile(),
    }
}

/// Removes what killed writers left in a folder. A job that writes thousands of files into one folder looks only now and
/// then.
fn sweep(folder: &Path) {
    static LAST: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);
    const PAUSE: Duration = Duration::from_secs(10);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.as_ref().is_some_and(|(swept, when)| swept == folder && when.elapsed() < PAUSE) {
        return;
    }
    *last = Some((folder.to_path_buf(), Instant::now()));
    drop(last);
    remove_orphans(folder);
}

/// Removes the temporary files of a folder that no living process writes. What cannot be removed stays.
pub(super) fn remove_orphans(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| middle.len() == DIGITS && middle.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn orphans_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let kept =
            [".linsep-0123.part", ".linsep-0123456789abcdeg.part", ".linsep-0123456789abcdef", "model"];
        for name in kept {
            fs::write(folder.path().join(name), name).unwrap();
        }
        fs::create_dir(folder.path().join(".linsep-00000000000000aa.part")).unwrap();
        let alive = temporary_beside(&folder.path().join("model")).unwrap();
        fs::write(folder.path().join(".linsep-0123456789abcdef.part"), "left by a kill").unwrap();
        remove_orphans(folder.path());
        let mut expected: Vec<String> = kept.iter().map(ToString::to_string).collect();
        expected.push(".linsep-00000000000000aa.part".to_string());
        expected.push(alive.path().file_name().unwrap().to_string_lossy().into_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        // Its writer can still use it.
        alive.persist(folder.path().join("model")).unwrap();
    }

    /// Writers and sweepers at once: no writer loses its file.
    #[test]
    fn no_file_of_a_living_writer_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sweeping = scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    remove_orphans(folder.path());
                }
            });
            for number in 0..500 {
                let target = folder.path().join(number.to_string());
                temporary_beside(&target).unwrap().persist(&target).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            sweeping.join().unwrap();
        });
        assert_eq!(names(folder.path()).len(), 500);
    }

    #[cfg(unix)]
    #[test]
    fn scratch_files_have_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let _file = scratch_file(&folder.path().join("cache")).unwrap();
        assert_eq!(names(folder.path()).len(), 0);
    }
}

//! Whether a file is still the one that was opened.

use super::error::ReadErrorKind;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

/// A file as it was when it was opened, to notice whether it was changed while it was read.
#[derive(Clone, Debug)]
pub(crate) struct FileStamp {
    file: Arc<File>,
    length: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    pub(crate) fn of(file: Arc<File>) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { file, length: metadata.len(), modified: metadata.modified().ok() })
    }

    /// Whether the file still is what it was. One that has only grown is: what was there at first is read.
    pub(crate) fn check(&self) -> Result<(), ReadErrorKind> {
        let now = self.file.metadata()?;
        match now.len() {
            length if length < self.length => Err(ReadErrorKind::Changed(cut_short(self.length, length))),
            length if length == self.length && now.modified().ok() != self.modified => {
                Err(ReadErrorKind::Changed("it was written to".to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Whether another opening of the same source found the same file.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), ReadErrorKind> {
        self.check()?;
        let same_file = identity(&self.file)? == identity(&other.file)?;
        if same_file && other.length >= self.length {
            return Ok(());
        }
        Err(ReadErrorKind::Changed("another file was put in its place".to_string()))
    }
}

pub(super) fn cut_short(then: u64, now: u64) -> String {
    format!("it had {then} bytes, now it has {now}")
}

/// What tells a file from all others, where the system says so.
#[cfg(unix)]
fn identity(file: &File) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Some((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
fn identity(_: &File) -> io::Result<Option<(u64, u64)>> {
    Ok(None)
}

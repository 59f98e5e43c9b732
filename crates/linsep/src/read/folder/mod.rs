//! A folder with one sub-folder for each class: its files, read and decoded by all threads and given out in order.
//!
//! [`Listing`] says which files there are; [`FolderFiles`] reads them. What a file holds is the business of the format.

mod classes;
mod listing;

pub(super) use classes::FolderClasses;
pub(super) use listing::{ListedFile, Listing};

use super::compression::Compression;
use super::error::{ReadError, ReadErrorKind};
use super::{Labels, ReadOptions};
use rayon::prelude::*;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that are read before the first of them is given out: enough for all threads, at most.
const WINDOW_FILES: usize = 512;
/// Bytes of these files, as far as the folder tells.
const WINDOW_BYTES: u64 = 32 << 20;

/// The files of a listing, in order.
#[derive(Debug)]
pub(super) struct FolderFiles {
    files: Vec<ListedFile>,
    next: usize,
    limit: u64,
    /// Files that are read before the first of them is given out.
    window: usize,
}

/// A file that was read: its place among the files, and its bytes or what is wrong with it.
pub(super) type ReadFile<'a> = (usize, &'a Path, Result<Vec<u8>, ReadErrorKind>);

impl FolderFiles {
    pub(super) fn new(files: Vec<ListedFile>, options: &ReadOptions) -> Self {
        Self {
            files,
            next: 0,
            limit: options.max_file.unwrap_or(ReadOptions::MAX_FILE),
            window: WINDOW_FILES,
        }
    }

    /// The same, with at most so many files in a window: for files whose rows are large.
    pub(super) fn at_most(self, files: usize) -> Self {
        Self { window: files.clamp(1, WINDOW_FILES), ..self }
    }

    /// The file at a place.
    pub(super) fn file(&self, place: usize) -> &ListedFile {
        &self.files[place]
    }

    /// How many were given out, and how many there are.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.next as u64, self.files.len() as u64)
    }

    /// The next file, if it is one that `wanted` says is to be taken alone.
    pub(super) fn take_if(&mut self, wanted: impl Fn(&ListedFile) -> bool) -> Option<(usize, &ListedFile)> {
        let file = self.files.get(self.next).filter(|file| wanted(file))?;
        self.next += 1;
        Some((self.next - 1, file))
    }

    /// The next files up to one that is to be taken alone, decoded by all threads: `work` is given up to `together`
    /// neighbouring files. What its calls give comes back in the order of the files. Empty at the end.
    pub(super) fn next_window<T: Send>(
        &mut self,
        together: usize,
        alone: impl Fn(&ListedFile) -> bool,
        work: impl Fn(&mut dyn Iterator<Item = ReadFile<'_>>) -> T + Sync,
    ) -> Vec<T> {
        let (start, mut bytes) = (self.next, 0);
        while self.next - start < self.window && bytes < WINDOW_BYTES {
            let Some(file) = self.files.get(self.next).filter(|file| !alone(file)) else { break };
            bytes += std::fs::metadata(&file.path).map_or(0, |found| found.len());
            self.next += 1;
        }
        let limit = self.limit;
        let decode = |(chunk, files): (usize, &[ListedFile])| {
            let first = start + chunk * together;
            let mut read = files
                .iter()
                .enumerate()
                .map(|(i, file)| (first + i, file.path.as_path(), read_file(&file.path, limit)));
            work(&mut read)
        };
        self.files[start..self.next].par_chunks(together).enumerate().map(decode).collect()
    }

    /// An error of the file at a place.
    pub(super) fn located(&self, place: usize, kind: ReadErrorKind) -> ReadError {
        ReadError::whole(&self.files[place].path.display().to_string(), kind)
    }
}

/// The bytes of a file, decompressed if its first ones say so: at most `limit` of them.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadErrorKind> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let too_large = || ReadErrorKind::LargeFile { limit };
    if metadata.is_file() && metadata.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    file.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
    if let Some(compression) = Compression::of(&bytes) {
        let mut plain = Vec::new();
        compression.undone(bytes.as_slice())?.take(limit + 1).read_to_end(&mut plain)?;
        bytes = plain;
    }
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// The bytes of all files in a folder that can be read; none if it cannot be listed.
pub(crate) fn folder_length(folder: &Path) -> Option<u64> {
    let options = ReadOptions { labels: Labels::Ignored, skip_bad: true, ..ReadOptions::default() };
    let listing = Listing::of(folder, &options, |_| false).ok()?;
    let length = |file: &ListedFile| std::fs::metadata(&file.path).map_or(0, |found| found.len());
    Some(listing.files.iter().map(length).sum())
}

/// The first bytes of the first file that is found in a folder, or in the folders in it; none if there is no file.
pub(super) fn first_bytes(folder: &Path) -> Vec<u8> {
    const LEVELS: usize = 4;
    /// `seen` has the folders that were looked through, each with how deep that went: links may lead to them again and again.
    fn find(folder: &Path, levels: usize, seen: &mut HashSet<(PathBuf, usize)>) -> Option<PathBuf> {
        if !seen.insert((std::fs::canonicalize(folder).ok()?, levels)) {
            return None;
        }
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| !listing::is_hidden(path));
        paths.sort();
        let folders = paths.iter().filter(|path| path.is_dir() && levels > 0);
        let inside = folders.filter_map(|path| find(path, levels - 1, seen)).next();
        inside.or_else(|| paths.iter().find(|path| path.is_file()).cloned())
    }
    let mut head = Vec::new();
    let file = find(folder, LEVELS, &mut HashSet::new()).and_then(|path| File::open(path).ok());
    if let Some(file) = file {
        // A file that cannot be read will be named when it is.
        let _ = file.take(1 << 12).read_to_end(&mut head);
    }
    head
}

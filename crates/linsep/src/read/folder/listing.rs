//! Which files a folder has, and which class each of them belongs to.

use super::super::error::{ReadError, ReadErrorKind};
use super::super::{Labels, ReadNotes, ReadOptions};
use crate::numbers::counted;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders within folders, at most. Nobody keeps mails deeper.
const MOST_LEVELS: usize = 64;

/// A file and its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::read) struct ListedFile {
    pub(in crate::read) path: PathBuf,
    /// The place of its class in [`Listing::classes`]; none where labels are not looked at.
    pub(in crate::read) class: Option<u32>,
}

/// The files of a folder in the order of their names, class by class.
#[derive(Debug, Default)]
pub(in crate::read) struct Listing {
    pub(in crate::read) classes: Vec<String>,
    pub(in crate::read) files: Vec<ListedFile>,
    /// What was left out.
    pub(in crate::read) notes: ReadNotes,
}

/// A folder while it is listed.
#[derive(Default)]
struct Walk {
    found: Listing,
    /// Whether what cannot be read is skipped.
    skip_bad: bool,
    /// Hidden files, and pipes and devices.
    hidden: u64,
    special: u64,
}

impl Listing {
    /// The files of a folder. Where labels are needed, each of its sub-folders is a class, and so is each file for which
    /// `is_class` says so, by the name without its ending; a folder within a class belongs to it. Otherwise all files.
    pub(in crate::read) fn of(
        folder: &Path,
        options: &ReadOptions,
        is_class: impl Fn(&Path) -> bool,
    ) -> Result<Self, ReadError> {
        let mut walk = Walk { skip_bad: options.skip_bad, ..Walk::default() };
        let real = fs::canonicalize(folder).map_err(|error| at(folder, error.into()))?;
        let mut above = vec![real];
        if options.labels == Labels::Ignored {
            walk.enter(folder, None, &mut above)?;
        } else {
            walk.classes_of(folder, &mut above, is_class)?;
        }
        for (count, one, many) in [
            (walk.hidden, "hidden file is", "hidden files are"),
            (walk.special, "pipe, socket or device is", "pipes, sockets and devices are"),
        ] {
            if count > 0 {
                walk.found.notes.remarks.push(format!("{} not read.", counted(count, one, many)));
            }
        }
        Ok(walk.found)
    }

    /// Files without labels.
    pub(in crate::read) fn unlabelled(paths: &[PathBuf]) -> Self {
        let file = |path: &PathBuf| ListedFile { path: path.clone(), class: None };
        Self { files: paths.iter().map(file).collect(), ..Self::default() }
    }
}

impl Walk {
    fn classes_of(
        &mut self,
        folder: &Path,
        above: &mut Vec<PathBuf>,
        is_class: impl Fn(&Path) -> bool,
    ) -> Result<(), ReadError> {
        let mut beside = 0;
        for path in self.entries(folder)? {
            let is_folder = match fs::metadata(&path) {
                Ok(found) => found.is_dir(),
                Err(error) => {
                    self.bad(&path, error.into())?;
                    continue;
                }
            };
            if !is_folder && !is_class(&path) {
                beside += 1;
                continue;
            }
            let name = if is_folder { path.file_name() } else { path.file_stem() };
            let name = name.unwrap_or_default().to_string_lossy().into_owned();
            if self.found.classes.contains(&name) {
                let problem = format!("two classes are called \"{name}\"");
                return Err(at(&path, ReadErrorKind::Misused(problem)));
            }
            let class = self.found.classes.len() as u32;
            let before = self.found.files.len();
            if is_folder {
                self.enter(&path, Some(class), above)?;
            } else {
                self.found.files.push(ListedFile { path: path.clone(), class: Some(class) });
            }
            if self.found.files.len() == before {
                self.bad(&path, ReadErrorKind::EmptyClass)?;
                continue;
            }
            self.found.classes.push(name);
        }
        if self.found.classes.is_empty() {
            return Err(at(folder, ReadErrorKind::NoClassFolders { files: beside }));
        }
        if beside > 0 {
            let files = counted(
                beside,
                "file beside the folders of the classes is",
                "files beside the folders of the classes are",
            );
            self.found.notes.remarks.push(format!("{files} not read."));
        }
        Ok(())
    }

    /// Lists the files of a folder and of the folders in it. `above` has the true places of the folders that it is in.
    fn enter(
        &mut self,
        folder: &Path,
        class: Option<u32>,
        above: &mut Vec<PathBuf>,
    ) -> Result<(), ReadError> {
        for path in self.entries(folder)? {
            let found = match fs::metadata(&path) {
                Ok(found) => found,
                Err(error) => {
                    self.bad(&path, error.into())?;
                    continue;
                }
            };
            if found.is_file() {
                self.found.files.push(ListedFile { path, class });
            } else if found.is_dir() {
                let real = fs::canonicalize(&path).map_err(|error| at(&path, error.into()))?;
                if above.contains(&real) || above.len() >= MOST_LEVELS {
                    self.bad(&path, ReadErrorKind::FolderLoop)?;
                    continue;
                }
                above.push(real);
                let entered = self.enter(&path, class, above);
                above.pop();
                entered?;
            } else {
                self.special += 1;
            }
        }
        Ok(())
    }

    /// What is in a folder, in the order of the names; hidden files are left out.
    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
        let list =
            || -> io::Result<Vec<PathBuf>> { fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
        let mut paths = match list() {
            Ok(paths) => paths,
            Err(error) => {
                self.bad(folder, error.into())?;
                Vec::new()
            }
        };
        let all = paths.len();
        paths.retain(|path| !is_hidden(path));
        self.hidden += (all - paths.len()) as u64;
        paths.sort();
        Ok(paths)
    }

    /// Skips what cannot be read, if that was asked for.
    fn bad(&mut self, path: &Path, kind: ReadErrorKind) -> Result<(), ReadError> {
        let error = at(path, kind);
        if !self.skip_bad {
            return Err(error);
        }
        self.found.notes.skip_file(error.to_string());
        Ok(())
    }
}

/// Files that systems and editors leave behind.
pub(super) fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || matches!(&*name, "__MACOSX" | "Thumbs.db" | "desktop.ini")
}

fn at(path: &Path, kind: ReadErrorKind) -> ReadError {
    ReadError::whole(&path.display().to_string(), kind)
}

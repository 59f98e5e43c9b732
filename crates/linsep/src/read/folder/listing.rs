//! Which files a folder has, and which class each of them belongs to.

use super::super::error::{ReadError, ReadErrorKind};
use super::super::source::ending;
use super::super::{Labels, ReadNotes, ReadOptions};
use crate::classes::{printable, shortened};
use crate::numbers::counted;
use crate::store::special_kind;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders within folders, at most. Nobody keeps mails deeper.
const MAX_LEVELS: usize = 64;

/// How often a folder is read, by way of links: few links can lead to it on very many ways.
const MAX_TIMES: usize = 64;

/// The sub-folders of a mailbox, which are no classes.
const MAILDIR: [&str; 3] = ["cur", "new", "tmp"];

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
    /// The entries that were left out.
    pub(in crate::read) notes: ReadNotes,
}

/// A folder while it is listed.
#[derive(Default)]
struct Walk {
    found: Listing,
    /// Whether what cannot be read is skipped.
    skip_bad: bool,
    hidden: u64,
    /// How often each folder that a link led to, or into, was entered.
    times: HashMap<PathBuf, usize>,
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
            walk.found.notes.warnings.extend(walk.found.parts_as_classes(folder));
        }
        if walk.hidden > 0 {
            let hidden = counted(walk.hidden, "hidden file is", "hidden files are");
            walk.found.notes.remarks.push(format!("{hidden} not read."));
        }
        Ok(walk.found)
    }

    /// A sentence where all classes have the same sub-folders: these are probably the classes, and the classes are the parts to learn
    /// from and to judge by.
    fn parts_as_classes(&self, folder: &Path) -> Option<String> {
        let mut inside = vec![BTreeSet::new(); self.classes.len()];
        let mut files = vec![0; self.classes.len()];
        for file in &self.files {
            let (class, name) = (file.class? as usize, &self.classes[file.class? as usize]);
            let mut places = file.path.strip_prefix(folder.join(name)).ok()?.components();
            let (first, rest) = (places.next()?, places.next());
            // A class with files of its own is one.
            rest?;
            inside[class].insert(first.as_os_str().to_string_lossy());
            files[class] += 1;
        }
        let (first, others) = inside.split_first()?;
        let is_maildir = first.iter().all(|name| MAILDIR.contains(&&**name));
        if others.is_empty() || first.len() < 2 || is_maildir || others.iter().any(|other| other != first) {
            return None;
        }
        let called = |word: &str| self.classes.iter().position(|name| name.to_lowercase().contains(word));
        let train = called("train").or_else(|| (0..files.len()).max_by_key(|&class| files[class]))?;
        let test = called("test").filter(|&test| test != train);
        let test = test.or_else(|| (0..files.len()).find(|&class| class != train))?;
        let quoted = |names: &mut dyn Iterator<Item = &str>| {
            let all: Vec<String> = names.map(|name| format!("\"{}\"", printable(name))).collect();
            shortened(all.iter(), all.len(), ", ")
        };
        let place =
            |class: usize| printable(&folder.join(&self.classes[class]).display().to_string()).into_owned();
        Some(format!(
            "The classes are the folders {}, and each of them has the same sub-folders, {}. If those are the classes: linsep train {} -o \
             MODEL, and then linsep evaluate MODEL {}.",
            quoted(&mut self.classes.iter().map(String::as_str)),
            quoted(&mut first.iter().map(|name| &**name)),
            place(train),
            place(test)
        ))
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
            let found = match fs::metadata(&path) {
                Ok(found) => found,
                Err(error) => {
                    self.bad(&path, error.into())?;
                    continue;
                }
            };
            if let Some(kind) = special_kind(&found) {
                self.bad(&path, ReadErrorKind::NoFile(kind))?;
                continue;
            }
            let is_folder = found.is_dir();
            if !is_folder && !is_class(&path) {
                beside += 1;
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = match ending(&path).filter(|_| !is_folder) {
                Some(ending) => {
                    let end = name.to_lowercase().rfind(&format!(".{ending}"));
                    end.and_then(|end| name.get(..end)).unwrap_or(&name).to_string()
                }
                None => name,
            };
            if self.found.classes.contains(&name) {
                let problem = format!(
                    "two classes are called \"{name}\", a folder and a file beside it: rename one of them"
                );
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
                if above.contains(&real) || above.len() >= MAX_LEVELS {
                    self.bad(&path, ReadErrorKind::FolderLoop)?;
                    continue;
                }
                let times = self.times.entry(real.clone()).or_default();
                *times += 1;
                if *times > MAX_TIMES {
                    self.bad(&path, ReadErrorKind::FolderAgain { limit: MAX_TIMES })?;
                    continue;
                }
                above.push(real);
                let entered = self.enter(&path, class, above);
                above.pop();
                entered?;
            } else if let Some(kind) = special_kind(&found) {
                self.bad(&path, ReadErrorKind::NoFile(kind))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        folder
    }

    fn list(folder: &Path, options: &ReadOptions) -> Result<Listing, String> {
        let is_class = |path: &Path| path.extension().is_some_and(|ending| ending == "mbox");
        Listing::of(folder, options, is_class).map_err(|error| error.to_string())
    }

    fn names(listing: &Listing, folder: &Path) -> Vec<String> {
        let name = |file: &ListedFile| {
            let class = file.class.map_or("", |class| &listing.classes[class as usize]);
            format!("{class}={}", file.path.strip_prefix(folder).unwrap().display())
        };
        listing.files.iter().map(name).collect()
    }

    #[test]
    fn sub_folders_are_classes_and_files_come_in_order() {
        let folder =
            folder(&["b/2", "b/10", "b/deep/er/x y", "a/ü", "a/.hidden", "c.mbox", "README", ".git/x"]);
        let listing = list(folder.path(), &ReadOptions::default()).unwrap();
        assert_eq!(listing.classes, ["a", "b", "c"]);
        assert_eq!(
            names(&listing, folder.path()),
            ["a=a/ü", "b=b/10", "b=b/2", "b=b/deep/er/x y", "c=c.mbox"]
        );
        assert_eq!(
            listing.notes.remarks,
            ["1 file beside the folders of the classes is not read.", "2 hidden files are not read."]
        );
        let unlabelled = ReadOptions { labels: Labels::Ignored, ..ReadOptions::default() };
        let all = list(folder.path(), &unlabelled).unwrap();
        assert_eq!(all.files.len(), 6);
        assert!(all.classes.is_empty() && all.files.iter().all(|file| file.class.is_none()));
    }

    #[test]
    fn empty_classes_and_folders_without_classes_are_errors() {
        let folder = folder(&["a/1", "b/1"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.ends_with("empty: this folder of a class has no files"), "{error}");
        let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let listing = list(folder.path(), &skipping).unwrap();
        assert_eq!((listing.classes.len(), listing.notes.skipped), (2, 1));
        let flat = self::folder(&["1", "2"]);
        let error = list(flat.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.ends_with("no sub-folders, one for each class: it has 2 files"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_unless_they_lead_back() {
        use std::os::unix::fs::symlink;
        let elsewhere = folder(&["1", "2"]);
        let folder = folder(&["a/1"]);
        symlink(elsewhere.path(), folder.path().join("linked")).unwrap();
        let listing = list(folder.path(), &ReadOptions::default()).unwrap();
        assert_eq!(names(&listing, folder.path()), ["a=a/1", "linked=linked/1", "linked=linked/2"]);
        symlink(folder.path(), folder.path().join("a/loop")).unwrap();
        symlink("nowhere", folder.path().join("a/broken")).unwrap();
        let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.contains("a/broken: cannot read"), "{error}");
        fs::remove_file(folder.path().join("a/broken")).unwrap();
        let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.contains("a/loop: this folder contains itself"), "{error}");
        let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let listing = list(folder.path(), &skipping).unwrap();
        assert_eq!((listing.files.len(), listing.notes.skipped), (3, 1));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_sockets_are_named() {
        let folder = folder(&["a/1", "b/1"]);
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("a/pipe")).status();
        assert!(made.unwrap().success());
        let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.ends_with("a/pipe: this is a named pipe, and no file"), "{error}");
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("b/socket")).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("b/null")).unwrap();
        let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let listing = list(folder.path(), &skipping).unwrap();
        assert_eq!((listing.files.len(), listing.notes.skipped), (2, 3));
        // Also beside the folders, where it could be a file that is a class.
        for name in ["c.mbox", "other"] {
            let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status();
            assert!(made.unwrap().success());
            let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
            assert!(error.contains("this is a named pipe, and no file"), "{error}");
            assert_eq!(list(folder.path(), &skipping).unwrap().notes.skipped, 4);
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let reasons: Vec<&str> =
            listing.notes.first_skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        for (reason, end) in reasons.iter().zip([
            "a/pipe: this is a named pipe, and no file",
            "b/null: this is a device, and no file",
            "b/socket: this is a socket, and no file",
        ]) {
            assert!(reason.ends_with(end), "{reason}");
        }
    }

    /// Seventy links: two in each of 35 folders, both to the next one, so that 2³⁵ ways lead to the last.
    #[cfg(unix)]
    #[test]
    fn links_that_fan_out_are_refused() {
        use std::os::unix::fs::symlink;
        let folder = folder(&["class/file", "other/file"]);
        let place = |level: usize| match level {
            0 => folder.path().join("class"),
            level => folder.path().join(format!(".hidden/{level}")),
        };
        for level in 1..=35 {
            fs::create_dir_all(place(level)).unwrap();
            fs::write(place(level).join("file"), "text").unwrap();
            symlink(place(level), place(level - 1).join("left")).unwrap();
            symlink(place(level), place(level - 1).join("right")).unwrap();
        }
        let error = list(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(error.contains("links lead to this folder more than 64 times"), "{error}");
        let skipping = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let listing = list(folder.path(), &skipping).unwrap();
        assert!(listing.files.len() <= 2 + 35 * MAX_TIMES, "{}", listing.files.len());
        assert!(listing.notes.skipped > 0);
    }
}

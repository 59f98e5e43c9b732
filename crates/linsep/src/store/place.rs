//! Where a file that is written goes: links are followed, devices are distinguished from files.

use super::streams::{closed_stream_error, is_closed_stream, stream_named};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Where a file goes.
pub(super) enum Place {
    /// Something that is there and no file, or not for this program to replace: it is written to directly.
    Device(PathBuf),
    /// A file, or nothing yet.
    File(PathBuf),
}

/// As many as the system itself follows.
const MAX_LINKS: usize = 40;

impl Place {
    /// Follows links, and refuses what cannot be replaced.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let target = match follow(path)? {
            Place::File(target) => target,
            device => return Ok(device),
        };
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

/// The end of a chain of links, which need not be there.
fn follow(path: &Path) -> io::Result<Place> {
    let mut target = path.to_path_buf();
    for _ in 0..=MAX_LINKS {
        if is_special(&target) {
            if stream_named(&target).is_some_and(is_closed_stream) {
                return Err(closed_stream_error());
            }
            return match fs::metadata(&target) {
                Ok(metadata) if metadata.is_dir() => {
                    Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"))
                }
                Ok(_) => Ok(Place::Device(target)),
                Err(error) => Err(error),
            };
        }
        if !fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(Place::File(target));
        }
        // A link tells its target as seen from the folder that it is in.
        target = folder_of(&target).join(fs::read_link(&target)?);
    }
    Err(io::Error::other("its symbolic links lead in a circle, or there are too many of them"))
}

/// Whether a path names something in a folder that holds no files: there, nothing is made beside it. Such is
/// `/dev/stdout` even if standard output goes to a file: that file belongs to whoever opened it. `/dev/shm` is a folder
/// like any other.
fn is_special(path: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder_of(path)) else { return false };
    cfg!(unix)
        && (folder == Path::new("/dev")
            || ["/dev/fd", "/dev/pts", "/proc", "/sys"].iter().any(|special| folder.starts_with(special)))
}

/// The folder that a path names something in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths name the same file, be it there or not yet: by way of links, or as two names of one file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let place = |path: &Path| match follow(path) {
        Ok(Place::File(target)) => fs::canonicalize(folder_of(&target))
            .ok()
            .map(|folder| folder.join(target.file_name().unwrap_or_default())),
        _ => None,
    };
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// Opens a file that is read as a whole, such as a model. A pipe that the process was given, such as standard input or the `<(…)` of a
/// shell, is one too. A device may have no end, and a named pipe no writer: nothing is read from them.
pub(super) fn open_whole(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let kind = special_kind(&found);
    let was_given = || kind == Some(PIPE) && matches!(follow(path), Ok(Place::Device(_)));
    match kind {
        Some(kind) if !was_given() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, and no file")))
        }
        _ => File::open(path),
    }
}

const PIPE: &str = "a named pipe";

/// What something is that is neither a file nor a folder.
pub(crate) fn special_kind(found: &fs::Metadata) -> Option<&'static str> {
    if found.is_file() || found.is_dir() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = found.file_type();
        if kind.is_fifo() {
            return Some(PIPE);
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    Some("a device")
}

/// Opens a device to write to it.
#[cfg(unix)]
pub(super) fn open_device(path: &Path) -> io::Result<File> {
    use std::os::fd::AsFd;
    // The descriptor itself: whoever shares it goes on after what was written here.
    match stream_named(path) {
        Some(1) => return Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
        Some(2) => return Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
        _ => {}
    }
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    fs::OpenOptions::new().write(true).append(is_file).open(path)
}

/// Opens a device to write to it.
#[cfg(not(unix))]
pub(super) fn open_device(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().write(true).open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn target(path: &Path) -> io::Result<PathBuf> {
        match Place::of(path)? {
            Place::File(target) => fs::canonicalize(folder_of(&target))
                .map(|folder| folder.join(target.file_name().unwrap_or_default())),
            Place::Device(path) => panic!("{} is no device", path.display()),
        }
    }

    #[test]
    fn chains_of_links_are_followed_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::create_dir(folder.join("c")).unwrap();
        symlink("../../c/second", folder.join("a/b/first")).unwrap();
        symlink("../a/end", folder.join("c/second")).unwrap();
        // The end is not there, and then it is.
        assert_eq!(target(&folder.join("a/b/first")).unwrap(), folder.join("a/end"));
        fs::write(folder.join("a/end"), "").unwrap();
        assert_eq!(target(&folder.join("a/b/first")).unwrap(), folder.join("a/end"));
        symlink(folder.join("a"), folder.join("linked")).unwrap();
        assert_eq!(target(&folder.join("linked/b/first")).unwrap(), folder.join("a/end"));
        symlink("circle", folder.join("circle")).unwrap();
        let error = target(&folder.join("circle")).unwrap_err().to_string();
        assert!(error.contains("lead in a circle"), "{error}");
    }

    #[test]
    fn a_file_is_known_by_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        symlink("cache", path("dangling")).unwrap();
        assert!(is_same_file(&path("dangling"), &path("sub/../cache")));
        assert!(!is_same_file(&path("cache"), &path("other")));
        fs::write(path("cache"), "").unwrap();
        fs::hard_link(path("cache"), path("second-name")).unwrap();
        assert!(is_same_file(&path("dangling"), &path("second-name")));
        assert!(!is_same_file(&path("cache"), &path("other")));
        fs::write(path("other"), "").unwrap();
        assert!(!is_same_file(&path("cache"), &path("other")));
    }

    #[test]
    fn only_files_and_own_pipes_are_read_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::write(folder.path().join("file"), "text").unwrap();
        for (path, problem) in [
            (Path::new("/dev/zero"), "it is a device, and no file"),
            (&pipe, "it is a named pipe, and no file"),
            (&socket, "it is a socket, and no file"),
            (folder.path(), "it is a folder"),
        ] {
            assert_eq!(open_whole(path).unwrap_err().to_string(), problem);
        }
        assert!(open_whole(&folder.path().join("file")).is_ok());
        let (reading, _writing) = io::pipe().unwrap();
        let own = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reading));
        assert!(open_whole(Path::new(&own)).is_ok());
    }

    #[test]
    fn nothing_is_made_beside_devices() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/dev/stdout", folder.path().join("out")).unwrap();
        for path in [Path::new("/dev/stdout"), Path::new("/dev/null"), &folder.path().join("out")] {
            assert!(matches!(Place::of(path), Ok(Place::Device(_))), "{}", path.display());
        }
        for path in ["/dev/no-such-device", "/dev/fd", "/dev/fd/12345"] {
            assert!(Place::of(Path::new(path)).is_err(), "{path}");
        }
    }
}

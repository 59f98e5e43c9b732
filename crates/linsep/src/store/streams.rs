//! Standard streams that were closed before the program started. A runtime puts `/dev/null` in their place, which takes
//! everything and keeps nothing: an output that goes there is lost, and only whoever looked before knows.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

/// One bit for each of the descriptors 0, 1 and 2.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Notes that standard input (0), output (1) or error (2) was closed when the program started: a file that is to be written
/// there is an error.
pub fn note_closed_stream(descriptor: u8) {
    CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
}

/// Whether [`note_closed_stream`] has marked it as closed.
pub fn is_closed_stream(descriptor: u8) -> bool {
    CLOSED.load(Ordering::Relaxed) >> descriptor & 1 == 1
}

/// The error of a stream that was closed.
pub fn closed_stream_error() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "it was closed before the program started")
}

/// The standard stream that a path in a folder of devices names, if it names one.
#[cfg(unix)]
pub(super) fn stream_named(path: &Path) -> Option<u8> {
    use std::fs;
    let names = ["stdin", "stdout", "stderr"];
    if let Some(place) = names.iter().position(|name| path == Path::new("/dev").join(name)) {
        return Some(place as u8);
    }
    let own = fs::canonicalize("/dev/fd").ok()?;
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok())?;
    let number = path.file_name()?.to_str()?.parse().ok()?;
    (folder == own && number <= 2).then_some(number)
}

/// The standard stream that a path in a folder of devices names, if it names one.
#[cfg(not(unix))]
pub(super) fn stream_named(_: &Path) -> Option<u8> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn streams_are_known_by_all_their_names() {
        for (path, stream) in [
            ("/dev/stdin", Some(0)),
            ("/dev/stdout", Some(1)),
            ("/dev/fd/1", Some(1)),
            ("/proc/self/fd/2", Some(2)),
            ("/dev/stderr", Some(2)),
            ("/dev/fd/3", None),
            ("/dev/null", None),
            ("/tmp/1", None),
            ("stdout", None),
        ] {
            // Not every system has /proc.
            if !path.starts_with("/proc") || Path::new("/proc/self/fd").exists() {
                assert_eq!(stream_named(Path::new(path)), stream, "{path}");
            }
        }
    }
}

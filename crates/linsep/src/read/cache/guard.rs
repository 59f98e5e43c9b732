//! Handling of mapped files that are cut short or written to while in use.
//!
//! The rows of a cache are mapped, so that caches larger than the memory can be used and opening one takes no time. No lock
//! keeps other programs from cutting the file short. Then its pages are gone, and the system sends SIGBUS to whoever looks
//! at them. There is no way to go on from there, but the process can say what happened before it ends. A file that is written
//! to in its place keeps its pages, and rows that have been checked change: a program that asks at its end whether that has
//! happened knows whether its result is worth something.

#![allow(unsafe_code, reason = "a handler of a signal")]

use crate::read::source::FileStamp;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The files that were mapped since they are guarded, as they were then.
static MAPPED: Mutex<Option<Vec<(String, FileStamp)>>> = Mutex::new(None);

/// Remembers a mapped file as it is now, if mapped files are guarded.
pub(super) fn watch(name: &str, file: &File) -> io::Result<()> {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mapped) = mapped.as_mut() {
        mapped.push((name.to_string(), FileStamp::of(Arc::new(file.try_clone()?))?));
    }
    Ok(())
}

/// The name of a file that was changed since it was mapped: what was made of its rows is not to be trusted. Only after
/// [`guard_mapped_files`].
pub fn changed_mapped_file() -> Option<String> {
    // Whoever asks may have been interrupted while a file was noted down.
    let mapped = MAPPED.try_lock().ok()?;
    let (name, _) = mapped.as_ref()?.iter().find(|(_, stamp)| stamp.check().is_err())?;
    Some(name.clone())
}

/// Begins to remember what is mapped.
fn remember() {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// From now on, a mapped file that is cut short ends this process with a message and this exit code, not by a signal; and
/// [`changed_mapped_file`] tells of one that is written to.
///
/// This is for programs, not for libraries: a process has one handler for each signal, and the files stay open. Other
/// systems than Linux have no such signal, or other ways with it.
#[cfg(target_os = "linux")]
pub fn guard_mapped_files(exit_code: u8) -> io::Result<()> {
    use std::io::IsTerminal;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    static EXIT_CODE: AtomicI32 = AtomicI32::new(0);
    /// Whether there may be a progress bar on the line.
    static NEW_LINE: AtomicBool = AtomicBool::new(false);
    const MESSAGE: &[u8] = b"\nerror: a cache was cut short by another program while it was in use\n  \
        help: wait until nothing writes to the file any more, and start again\n";

    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        let start = usize::from(!NEW_LINE.load(Ordering::Relaxed));
        let message = &MESSAGE[start..];
        // SAFETY: the system gives a valid `info`. All functions called here may be called in a handler.
        unsafe {
            if (*info).si_code == libc::BUS_ADRERR {
                libc::write(2, message.as_ptr().cast(), message.len());
                libc::_exit(EXIT_CODE.load(Ordering::Relaxed));
            }
            // Another cause: as if there were no handler.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    remember();
    EXIT_CODE.store(i32::from(exit_code), Ordering::Relaxed);
    NEW_LINE.store(io::stderr().is_terminal(), Ordering::Relaxed);
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
    // SAFETY: zeros are a valid action, which is then filled in; the handler has the form that SA_SIGINFO asks for. It runs
    // on the stack that each thread of Rust has for handlers.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// From now on, [`changed_mapped_file`] tells of files that are written to.
#[cfg(not(target_os = "linux"))]
pub fn guard_mapped_files(_: u8) -> io::Result<()> {
    remember();
    Ok(())
}

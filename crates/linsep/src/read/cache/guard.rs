//! What happens when a mapped file is cut short while it is in use.
//!
//! The rows of a cache are mapped, so that caches larger than the memory can be used and opening one takes no time. No lock
//! keeps other programs from cutting the file short. Then its pages are gone, and the system sends SIGBUS to whoever looks
//! at them. There is no way to go on from there, but the process can say what happened before it ends.

#![allow(unsafe_code, reason = "a handler of a signal")]

use std::io;

/// From now on, a mapped file that is cut short ends this process with a message and this exit code, not by a signal.
///
/// This is for programs, not for libraries: a process has one handler for each signal. On Linux only; elsewhere it does
/// nothing.
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

/// Does nothing on this system.
#[cfg(not(target_os = "linux"))]
pub fn guard_mapped_files(_: u8) -> io::Result<()> {
    Ok(())
}

//! A program that was started with `nohup` goes on when its terminal is gone: the handler of Ctrl-C would hear the hang-up too.

#![allow(unsafe_code, reason = "nothing safe tells whether a signal is ignored, or keeps it from a handler")]

/// Keeps a hang-up that is ignored from every thread, whatever handlers come. To be called before there are other threads.
#[cfg(unix)]
pub(crate) fn stay_deaf() {
    // SAFETY: the structures are plain numbers, which zeros are fit for; the calls read and write nothing but these, and the
    // signals that this thread blocks.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut action) != 0
            || action.sa_sigaction != libc::SIG_IGN
        {
            return;
        }
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGHUP);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signals, std::ptr::null_mut());
    }
}

#[cfg(not(unix))]
pub(crate) fn stay_deaf() {}

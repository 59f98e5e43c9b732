//! Which standard streams were closed when the program was started. Rust's runtime opens `/dev/null` in their place before
//! `main`, so the system is asked before that, when it runs the initialisers of the program.

#![allow(
    unsafe_code,
    reason = "nothing safe runs before Rust's runtime; this asks the system about three numbers"
)]

use std::sync::atomic::{AtomicU8, Ordering};

/// One bit for each of the descriptors 0, 1 and 2.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// SAFETY: the section holds addresses of functions without result that the system calls once, before `main`. This one
// touches nothing but a number of its own, and needs nothing of the runtime.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

#[cfg(unix)]
extern "C" fn look() {
    for descriptor in 0..3 {
        // SAFETY: it asks for the flags of a descriptor, and changes nothing.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

/// Informs the library, which refuses to write files there.
pub(crate) fn note() {
    let closed = CLOSED.load(Ordering::Relaxed);
    (0..3).filter(|descriptor| closed >> descriptor & 1 == 1).for_each(linsep::store::note_closed_stream);
}

//! A request for memory that fails ends the program with a message and an exit code, not with an abort. And a limit of
//! addresses is not used up by reserving them.

#![allow(
    unsafe_code,
    reason = "an allocator has no safe interface; this one only passes requests on, and sets how it reserves"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The allocator of the system, except that a request that fails is reported to the user. A thread that is prepared for that gets
/// the answer instead.
struct Allocator;

// SAFETY: every request goes to the allocator of the system as it came, and its answer is given back as it is.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of `GlobalAlloc`.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        told(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The answer to a request, if there is one or the thread can do without.
fn told(answer: *mut u8, bytes: usize) -> *mut u8 {
    if answer.is_null() && !linsep::memory::may_fail() {
        end(bytes);
    }
    answer
}

/// Keeps the allocator of the system from reserving addresses for each thread, where the process has a limit of them. It
/// reserves 64 MB at a time, of which it uses as much as is asked for; with a limit of 200 MB, two threads would leave little
/// to the others. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn reserve_few_addresses() {
    /// For each arena twice as much is reserved as it has, to find an aligned place in it.
    const ARENA: u64 = 128 << 20;
    /// The part of the addresses that arenas may have.
    const PART: u64 = 8;
    if let Some(left) = linsep::memory::left_by_limits() {
        let arenas = (left / PART / ARENA).clamp(1, 256);
        // SAFETY: it sets a number, and no other thread is there that would read it.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas as libc::c_int) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn reserve_few_addresses() {}

/// Ends the program. Nothing here may ask for memory.
#[cold]
fn end(bytes: usize) -> ! {
    let mut message = [0; 160];
    let mut rest = message.as_mut_slice();
    // The text is shorter than the room for it.
    let _ = writeln!(rest, "error: out of memory: {bytes} bytes more were needed and are not there");
    let _ = writeln!(rest, "  help: give fewer rows or features, or raise the limit of the process");
    let left = rest.len();
    let _ = std::io::stderr().write_all(&message[..message.len() - left]);
    linsep::store::remove_temporary_files();
    std::process::exit(linsep_cli::OUT_OF_MEMORY.into())
}

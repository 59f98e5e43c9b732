//! Panics of libraries that decode files, caught and made errors: a damaged file must not end the program.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a library that decodes a file says of it, or `damaged` where it panics.
pub(super) fn guarded<T, E>(
    decode: impl FnOnce() -> Result<T, E>,
    damaged: impl FnOnce() -> E,
) -> Result<T, E> {
    let before = IS_GUARDED.replace(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(before);
    decoded.unwrap_or_else(|_| Err(damaged()))
}

/// Leaves out the message of a panic that is caught while a file is decoded: the error says what is wrong. To be called by front
/// ends; other panics are reported as before.
pub fn silence_guarded_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                usual(info);
            }
        }));
    });
}

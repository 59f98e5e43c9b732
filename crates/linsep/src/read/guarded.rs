//! Panics of libraries that decode files, caught and made errors: a damaged file must not end the program.

use std::cell::Cell;
#[cfg(feature = "compression")]
use std::io::{self, Read};
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

/// A reader of a library that unpacks. Where it panics, what it unpacks is damaged, and it is not asked again.
#[cfg(feature = "compression")]
pub(super) struct GuardedReader<R>(Option<R>);

#[cfg(feature = "compression")]
impl<R: Read> GuardedReader<R> {
    pub(super) fn new(unpacking: R) -> Self {
        Self(Some(unpacking))
    }
}

#[cfg(feature = "compression")]
impl<R: Read> Read for GuardedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the compressed data is damaged");
        let mut unpacking = self.0.take().ok_or_else(damaged)?;
        let (count, unpacking) = guarded(|| Ok((unpacking.read(buffer), unpacking)), damaged)?;
        self.0 = Some(unpacking);
        count
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_call_works() {
        silence_guarded_panics();
        let caught =
            guarded(|| -> Result<(), String> { panic!("within a library") }, || "damaged".to_string());
        assert_eq!(caught, Err("damaged".to_string()));
        assert!(!IS_GUARDED.get());
        assert_eq!(guarded(|| Ok::<_, String>(3), || unreachable!()), Ok(3));
    }

    #[cfg(feature = "compression")]
    #[test]
    fn a_reader_that_panicked_is_not_asked_again() {
        struct Library(u32);
        impl Read for Library {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                assert!(self.0 == 1, "within a library");
                buffer[0] = 7;
                Ok(1)
            }
        }
        silence_guarded_panics();
        let mut reader = GuardedReader::new(Library(0));
        let mut buffer = [0; 4];
        let read: Vec<_> = (0..3).map(|_| reader.read(&mut buffer).map_err(|error| error.kind())).collect();
        assert_eq!(read, [Ok(1), Err(io::ErrorKind::InvalidData), Err(io::ErrorKind::InvalidData)]);
    }
}

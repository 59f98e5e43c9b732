//! Waiting for pipes and terminals, which can be called off.
//!
//! Opening a named pipe lasts until someone opens its other end, and reading lasts until someone writes. The system has no way
//! to end such a wait from within the program, so it is done by a thread of its own, and whoever waits for that thread
//! can be told to go.

use crate::memory;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes read at a time, and blocks read ahead.
const BLOCK_BYTES: usize = 1 << 17;
const BLOCKS_AHEAD: usize = 4;
/// How soon it is noticed that waits were called off.
const PAUSE: Duration = Duration::from_millis(50);

static CALLED_OFF: AtomicBool = AtomicBool::new(false);

/// Ends all waits for pipes in this process, now and from now on: what waits fails, with the error "interrupted". For a
/// program that is going to end, such as one that its user has interrupted.
pub fn call_off_waits() {
    CALLED_OFF.store(true, Ordering::Relaxed);
}

/// Waits for what a thread sends; `None` if it has ended.
fn awaited<T>(receiver: &Receiver<T>) -> io::Result<Option<T>> {
    loop {
        match receiver.recv_timeout(PAUSE) {
            Ok(received) => return Ok(Some(received)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if CALLED_OFF.load(Ordering::Relaxed) => {
                return Err(io::Error::other("interrupted"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Opens something that may have to wait for its other end.
pub(crate) fn opened<T: Send + 'static>(
    open: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = sync_channel(1);
    // Nobody may be waiting any more.
    memory::new_thread()?.spawn(move || drop(sender.send(open())))?;
    awaited(&receiver)?.unwrap_or_else(|| Err(io::Error::other("it could not be opened")))
}

/// Reads from something that may have to wait for its writer. It ends when its writer ends it. When waits are called off it
/// fails, which is no end: a row that was on its way is not whole.
pub(crate) fn reader(input: impl Read + Send + 'static) -> io::Result<impl Read + Send> {
    Ok(Waiting { blocks: Arrivals::of(input)?, block: Vec::new(), given: 0 })
}

/// What arrives from something that may have to wait for its writer, block by block.
pub(crate) struct Arrivals {
    blocks: Receiver<io::Result<Vec<u8>>>,
}

impl Arrivals {
    /// Begins to read.
    pub(crate) fn of(input: impl Read + Send + 'static) -> io::Result<Self> {
        Ok(Self { blocks: blocks(input)? })
    }

    /// Waits for the next block; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        awaited(&self.blocks)?.transpose()
    }

    /// The next block, if it is there already.
    pub(crate) fn ready(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.blocks.try_recv().ok().transpose()
    }

    /// What was taken already, and all that is still to come.
    pub(crate) fn after(self, taken: Vec<u8>) -> impl Read + Send {
        Waiting { blocks: self, block: taken, given: 0 }
    }
}

fn blocks(mut input: impl Read + Send + 'static) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
    memory::new_thread()?.spawn(move || {
        loop {
            let mut block = vec![0; BLOCK_BYTES];
            let message = match input.read(&mut block) {
                Ok(0) => break,
                Ok(count) => {
                    block.truncate(count);
                    Ok(block)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = message.is_err();
            if sender.send(message).is_err() || failed {
                break;
            }
        }
    })?;
    Ok(blocks)
}

struct Waiting {
    blocks: Arrivals,
    block: Vec<u8>,
    /// How much of the block was handed out.
    given: usize,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.block.len() {
            match self.blocks.next()? {
                Some(block) => (self.block, self.given) = (block, 0),
                None => return Ok(0),
            }
        }
        let count = (&self.block[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_there() {
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES as u32 + 17).map(|i| i as u8).collect();
        let mut read = Vec::new();
        reader(io::Cursor::new(bytes.clone())).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        assert_eq!(opened(|| Ok(7)).unwrap(), 7);
        assert_eq!(opened::<()>(|| Err(io::Error::other("torn"))).unwrap_err().to_string(), "torn");
    }
}

//! Standard input that Ctrl-C can end: a silent stream must not keep the program from saving what it has.

use crate::console;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes read at a time, and blocks read ahead.
const BLOCK_BYTES: usize = 1 << 17;
const BLOCKS_AHEAD: usize = 4;
/// How soon Ctrl-C is heard while nothing comes.
const PATIENCE: Duration = Duration::from_millis(50);

/// Opens standard input; it ends when its writer ends it, and fails when the user interrupts.
pub(crate) fn open() -> io::Result<Box<dyn Read + Send>> {
    let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
    // A blocked read cannot be called off, so it waits in a thread of its own.
    std::thread::Builder::new().spawn(move || {
        let mut input = io::stdin().lock();
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
    Ok(Box::new(Interruptible { blocks, block: Vec::new(), given: 0 }))
}

struct Interruptible {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    /// How much of the block was handed out.
    given: usize,
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.block.len() {
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => (self.block, self.given) = (block?, 0),
                Err(RecvTimeoutError::Timeout) if console::interrupted() => {
                    // An error, not an end: a row that was on its way is not whole.
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let count = (&self.block[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

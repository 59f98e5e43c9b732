//! Texts that are rewritten on the way in.

use std::io::{self, Read};

/// What a function makes of the bytes of another reader. It is given some bytes at a time and whether they are the last,
/// and appends to the text.
pub(super) struct Filtered<F> {
    rest: Box<dyn Read + Send>,
    filter: F,
    bytes: Vec<u8>,
    text: Vec<u8>,
    /// How much of the text was handed out.
    given: usize,
    ended: bool,
}

impl<F: FnMut(&[u8], bool, &mut Vec<u8>)> Filtered<F> {
    pub(super) fn new(rest: Box<dyn Read + Send>, filter: F) -> Self {
        Self { rest, filter, bytes: Vec::new(), text: Vec::new(), given: 0, ended: false }
    }
}

impl<F: FnMut(&[u8], bool, &mut Vec<u8>)> Read for Filtered<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const STEP: u64 = 1 << 16;
        while self.given == self.text.len() && !self.ended {
            self.given = 0;
            self.text.clear();
            self.bytes.clear();
            self.ended = self.rest.by_ref().take(STEP).read_to_end(&mut self.bytes)? == 0;
            (self.filter)(&self.bytes, self.ended, &mut self.text);
        }
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

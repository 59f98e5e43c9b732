//! Texts that are rewritten on the way in.

use std::io::{self, Read};

/// What a function makes of the bytes of another reader. It is given some bytes at a time and whether they are the last,
/// and appends to the text; an error ends it, after the text before it.
pub(super) struct Filtered<F> {
    rest: Box<dyn Read + Send>,
    filter: F,
    bytes: Vec<u8>,
    text: Vec<u8>,
    /// How much of the text was handed out.
    given: usize,
    ended: bool,
    /// Why it ended, to be told after the text.
    failure: Option<io::Error>,
}

impl<F: FnMut(&[u8], bool, &mut Vec<u8>) -> io::Result<()>> Filtered<F> {
    pub(super) fn new(rest: Box<dyn Read + Send>, filter: F) -> Self {
        Self { rest, filter, bytes: Vec::new(), text: Vec::new(), given: 0, ended: false, failure: None }
    }
}

impl<F: FnMut(&[u8], bool, &mut Vec<u8>) -> io::Result<()>> Read for Filtered<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        const STEP: u64 = 1 << 16;
        while self.given == self.text.len() && !self.ended {
            self.given = 0;
            self.text.clear();
            self.bytes.clear();
            self.ended = self.rest.by_ref().take(STEP).read_to_end(&mut self.bytes)? == 0;
            if let Err(failure) = (self.filter)(&self.bytes, self.ended, &mut self.text) {
                (self.ended, self.failure) = (true, Some(failure));
            }
        }
        if self.given == self.text.len()
            && let Some(failure) = self.failure.take()
        {
            return Err(failure);
        }
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

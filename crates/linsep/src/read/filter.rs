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
    /// How many bytes the function is given at a time: few of those that become very many.
    step: usize,
    ended: bool,
    /// Why it ended, to be told after the text.
    failure: Option<io::Error>,
}

/// Bytes that a function is given at a time: the fewest, the most, and the text that they should become at most.
const FEWEST: usize = 1 << 9;
const MOST: usize = 1 << 16;
const MUCH: usize = 1 << 20;

impl<F: FnMut(&[u8], bool, &mut Vec<u8>) -> io::Result<()>> Filtered<F> {
    pub(super) fn new(rest: Box<dyn Read + Send>, filter: F) -> Self {
        let (bytes, text) = (Vec::new(), Vec::new());
        Self { rest, filter, bytes, text, given: 0, step: FEWEST, ended: false, failure: None }
    }
}

impl<F: FnMut(&[u8], bool, &mut Vec<u8>) -> io::Result<()>> Read for Filtered<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.ended {
            self.given = 0;
            self.text.clear();
            self.bytes.clear();
            self.ended = self.rest.by_ref().take(self.step as u64).read_to_end(&mut self.bytes)? == 0;
            if let Err(failure) = (self.filter)(&self.bytes, self.ended, &mut self.text) {
                (self.ended, self.failure) = (true, Some(failure));
            }
            self.step = match self.text.len() {
                0..MUCH => (2 * self.step).min(MOST),
                _ => (self.step / 2).max(FEWEST),
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// However much a function makes of each byte, what is held at a time stays in proportion to its least step.
    #[test]
    fn bytes_that_become_very_many_are_taken_few_at_a_time() {
        let (longest, bytes) = (std::sync::Arc::new(std::sync::Mutex::new(0)), 1 << 17);
        let seen = longest.clone();
        let filter = move |bytes: &[u8], _: bool, text: &mut Vec<u8>| {
            text.resize(bytes.len() * 5000, b'x');
            let mut longest = seen.lock().unwrap();
            *longest = text.len().max(*longest);
            Ok(())
        };
        let mut filtered = Filtered::new(Box::new(io::repeat(b'a').take(bytes)), filter);
        assert_eq!(io::copy(&mut filtered, &mut io::sink()).unwrap(), bytes * 5000);
        assert!(*longest.lock().unwrap() <= 2 * FEWEST * 5000, "{longest:?}");
    }
}

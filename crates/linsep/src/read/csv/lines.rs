//! A text in blocks of whole lines, as it arrives.

use std::io::{self, Read};

/// Blocks of whole lines, in order. A line longer than a block makes its block longer.
pub(super) struct Lines {
    input: Box<dyn Read + Send>,
    pub(super) block_bytes: usize,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    ended: bool,
    /// Why the text ended before its time: told after the whole lines that came.
    pub(super) failure: Option<io::Error>,
}

/// Some lines. Only the last ones of all may lack their line break.
pub(super) struct Text {
    buffer: Vec<u8>,
    length: usize,
}

impl Text {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Lines {
    pub(super) fn new(input: impl Read + Send + 'static, block_bytes: usize) -> Self {
        let input = Box::new(input);
        Self { input, block_bytes, carry: Vec::new(), spare: Vec::new(), ended: false, failure: None }
    }

    /// The next blocks, at most `count`; none at the end.
    pub(super) fn read(&mut self, count: usize) -> Vec<Text> {
        (0..count).map_while(|_| self.next()).collect()
    }

    /// Takes back a block that is no longer needed.
    pub(super) fn recycle(&mut self, text: Text) {
        self.spare.push(text.buffer);
    }

    fn next(&mut self) -> Option<Text> {
        if self.ended {
            return None;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        let mut length = self.carry.len();
        buffer.resize(buffer.len().max(length), 0);
        buffer[..length].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            let wanted = length + self.block_bytes.max(length);
            buffer.resize(buffer.len().max(wanted), 0);
            let before = length;
            while length < wanted && !self.ended {
                match self.input.read(&mut buffer[length..wanted]) {
                    Ok(0) => self.ended = true,
                    Ok(count) => length += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.failure = Some(error);
                        self.ended = true;
                    }
                }
            }
            let line_end = memchr::memrchr(b'\n', &buffer[before..length]).map(|place| before + place + 1);
            match line_end {
                // The line that a failure cut is not a row.
                _ if self.ended && self.failure.is_none() => {}
                Some(end) => {
                    self.carry.extend_from_slice(&buffer[end..length]);
                    length = end;
                }
                None if self.ended => length = 0,
                None => continue,
            }
            return (length > 0).then_some(Text { buffer, length });
        }
    }
}

//! The bytes of a source, with a look at their beginning.

use super::error::ReadErrorKind;
use super::source::PlainFile;
use super::stamp::FileStamp;
use std::io::{self, Read};

/// Enough to tell formats, delimiters and column types apart.
pub(crate) const HEAD_BYTES: usize = 1 << 18;

/// Some programs put this before the first line of a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Decompressed bytes, with a look at their beginning.
pub(crate) struct Input {
    head: Vec<u8>,
    /// How long the head is to be, unless one looks further.
    wanted: usize,
    /// Bytes before the head that are forgotten, and their lines.
    dropped: u64,
    lines_dropped: u64,
    /// How much of `head` was handed out.
    given: usize,
    /// Whether `head` is all there is.
    whole: bool,
    rest: Box<dyn Read + Send>,
    /// What went wrong while the head was read: reported when the bytes before it are used up.
    failure: Option<io::Error>,
    /// How long the source says it is, if it is not compressed.
    told: Option<u64>,
    /// The file itself, if it is plain: it can be read at any place.
    file: Option<PlainFile>,
    /// The file that the bytes come from, as it was when it was opened.
    stamp: Option<FileStamp>,
}

impl Input {
    /// Whatever a reader gives, of which `wanted` bytes are looked at first.
    pub(crate) fn new(rest: Box<dyn Read + Send>, wanted: usize) -> io::Result<Self> {
        let mut input = Self { rest, whole: false, wanted, told: None, ..Self::of_text(Vec::new()) };
        input.fill(wanted);
        match input.failure.take() {
            Some(error) if input.head.is_empty() => Err(error),
            failure => Ok(Self { failure, ..input }),
        }
    }

    /// The same bytes, with what is known about the file that they come from.
    pub(crate) fn of_file(
        self,
        told: Option<u64>,
        file: Option<PlainFile>,
        stamp: Option<FileStamp>,
    ) -> Self {
        Self { told, file, stamp, ..self }
    }

    /// A text in memory.
    pub(crate) fn of_text(text: Vec<u8>) -> Self {
        let told = Some(text.len() as u64);
        Self {
            head: text,
            wanted: 0,
            dropped: 0,
            lines_dropped: 0,
            given: 0,
            whole: true,
            rest: Box::new(io::empty()),
            failure: None,
            told,
            file: None,
            stamp: None,
        }
    }

    /// Reads until the head has so many bytes, or is all there is.
    fn fill(&mut self, length: usize) {
        let Some(more) = length.checked_sub(self.head.len()).filter(|&more| more > 0) else { return };
        if self.whole || self.failure.is_some() {
            return;
        }
        match self.rest.by_ref().take(more as u64).read_to_end(&mut self.head) {
            Ok(count) => self.whole = count < more,
            Err(error) => self.failure = Some(error),
        }
    }

    /// The file that the bytes come from, as it was when it was opened.
    pub(crate) fn stamp(&self) -> Option<FileStamp> {
        self.stamp.clone()
    }

    /// The first bytes; all of them if there are fewer than the head holds.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether nothing comes after the head.
    pub(crate) fn head_is_all(&self) -> bool {
        self.whole
    }

    /// Looks further: at twice as many first bytes, up to a limit. `false` if that is not possible.
    pub(crate) fn look_further(&mut self, limit: usize) -> bool {
        let seen = self.head.len();
        if seen >= limit {
            return false;
        }
        self.fill((seen.max(1) * 2).min(limit));
        self.head.len() > seen
    }

    /// The number of bytes in all, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<u64> {
        let seen = self.head.len() as u64;
        // Files that the system makes up may say that they are empty.
        if self.whole { Some(seen) } else { self.told.filter(|&told| told > seen) }
    }

    /// Passes over the byte order mark that some editors put before the first line.
    pub(crate) fn skip_byte_order_mark(&mut self) {
        if self.given == 0 && self.head.starts_with(BYTE_ORDER_MARK) {
            self.given = BYTE_ORDER_MARK.len();
        }
    }

    /// Forgets bytes at the beginning, and so many lines, as if the source began after them. Others take their place in the
    /// head.
    pub(crate) fn drop_front(&mut self, bytes: usize, lines: u64) {
        self.head.drain(..bytes);
        self.dropped += bytes as u64;
        self.lines_dropped += lines;
        self.fill(self.wanted);
    }

    /// Puts bytes back that were forgotten last, and so many lines.
    pub(crate) fn put_back(&mut self, bytes: &[u8], lines: u64) {
        self.head.splice(..0, bytes.iter().copied());
        self.dropped -= bytes.len() as u64;
        self.lines_dropped -= lines;
    }

    /// The lines that were forgotten.
    pub(crate) fn lines_dropped(&self) -> u64 {
        self.lines_dropped
    }

    /// The same bytes, after so many lines that were forgotten.
    pub(crate) fn after_lines(self, lines_dropped: u64) -> Self {
        Self { lines_dropped, ..self }
    }

    /// Forgets the blank lines at the beginning, however much of the source they fill, up to a limit of bytes.
    pub(crate) fn drop_blank_lines(&mut self, limit: usize) -> Result<(), ReadErrorKind> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0c | b'\n');
        let mut dropped = 0;
        loop {
            let start = if self.head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            let blank = &self.head[start..];
            let blank = &blank[..blank.iter().position(|byte| !is_blank(byte)).unwrap_or(blank.len())];
            let Some(end) = memchr::memrchr(b'\n', blank) else {
                if start + blank.len() == self.head.len() && self.look_further(limit) {
                    continue;
                }
                return Ok(());
            };
            if dropped > limit {
                return Err(ReadErrorKind::LateStart { bytes: limit as u64 });
            }
            let (bytes, lines) = (start + end + 1, memchr::memchr_iter(b'\n', blank).count() as u64);
            dropped += bytes;
            self.drop_front(bytes, lines);
        }
    }

    /// The same source as another reader gives it.
    pub(crate) fn replaced(
        self,
        wanted: usize,
        other: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
    ) -> io::Result<Self> {
        let (stamp, lines_dropped) = (self.stamp.clone(), self.lines_dropped);
        Ok(Self { stamp, lines_dropped, ..Self::new(other(Box::new(self)), wanted)? })
    }

    /// What of the head was not passed over.
    pub(crate) fn rest_of_head(&self) -> &[u8] {
        &self.head[self.given..]
    }

    /// Passes over bytes of the head.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.given = (self.given + bytes).min(self.head.len());
    }

    /// The file, if what is left of this input can be read at any place of it.
    pub(crate) fn plain_file(&self) -> Option<PlainFile> {
        let file = self.file.clone().filter(|_| self.failure.is_none())?;
        // The head will be read again.
        Some(file.starting_at(self.dropped + self.given as u64))
    }

    /// The same, where its beginning can be read.
    #[cfg(test)]
    pub(crate) fn from_reader(reader: Box<dyn Read + Send>, wanted: usize) -> Self {
        Self::new(reader, wanted).expect("the beginning can be read")
    }

    /// Bytes in memory of which `wanted` are looked at first.
    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: &[u8], wanted: usize) -> Self {
        Self::from_reader(Box::new(io::Cursor::new(bytes.to_vec())), wanted)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given < self.head.len() {
            let count = (&self.head[self.given..]).read(buffer)?;
            self.given += count;
            return Ok(count);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.rest.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_passed_over_and_counted() {
        for (before, lines) in [("", 0), ("\n", 1), ("  \r\n\t\n", 2), ("\u{feff}\n \n", 2)] {
            for head in [3, 100] {
                let text = format!("{before}  a,b\n\n1,2\n");
                let mut input = Input::from_bytes(text.as_bytes(), head);
                input.drop_blank_lines(1000).unwrap();
                assert_eq!(input.lines_dropped(), lines, "{text:?}");
                let mut rest = String::new();
                input.read_to_string(&mut rest).unwrap();
                assert_eq!(rest, "  a,b\n\n1,2\n");
            }
        }
        let endless = "\n".repeat(5000);
        let mut input = Input::from_bytes(endless.as_bytes(), 64);
        let error = input.drop_blank_lines(1000).unwrap_err();
        assert!(matches!(error, ReadErrorKind::LateStart { bytes: 1000 }), "{error}");
    }
}

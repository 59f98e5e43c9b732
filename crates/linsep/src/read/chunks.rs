//! Text in chunks of whole lines, worked on by all threads and given out in order.
//!
//! A plain file is divided by position, and each thread reads its own part: a chunk owns the lines that begin in it. Any
//! other source is read by one thread ahead of the others. Either way a fixed number of chunks is under way, so memory does
//! not grow with the source, and reading goes on while the rows before it are learned from.

use super::error::LongLine;
use super::source::{Input, PlainFile};
use crate::memory;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Bytes of a chunk: small enough that text and numbers stay in a core's own cache.
pub(crate) const CHUNK_BYTES: usize = 1 << 18;

/// Whole lines, and whether the last of them has no line break.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut_short: bool,
}

/// What was made of a chunk, and whether its last line has no line break.
pub(crate) struct Chunk<T> {
    pub(crate) content: T,
    /// The length of its text.
    pub(crate) bytes: usize,
    pub(crate) cut_short: bool,
    pub(crate) lines: ChunkLines,
}

/// Where the lines of a chunk are, should they be wanted once more.
pub(crate) enum ChunkLines {
    Memory(Vec<u8>),
    File(FilePart),
}

impl ChunkLines {
    pub(crate) fn read(self) -> io::Result<Vec<u8>> {
        match self {
            ChunkLines::Memory(bytes) => Ok(bytes),
            ChunkLines::File(part) => {
                let mut bytes = Vec::new();
                let lines = part.read(&mut bytes)?;
                bytes.truncate(lines.end);
                bytes.drain(..lines.start);
                Ok(bytes)
            }
        }
    }
}

type Outcome<T> = io::Result<Chunk<T>>;

/// What makes a `T` of the text of a chunk.
type Parse<T> = dyn Fn(&[u8]) -> T + Send + Sync;

/// The chunks of a source, each turned into a `T` by some thread.
pub(crate) struct Chunks<T> {
    supply: Supply,
    parse: Arc<Parse<T>>,
    /// Chunks under way, in order.
    pending: VecDeque<Pending<T>>,
    /// How many chunks may be under way.
    depth: usize,
    ended: bool,
}

enum Pending<T> {
    Known(Outcome<T>),
    Awaited(Receiver<Outcome<T>>),
}

enum Supply {
    File(FileParts),
    Inline(Lines),
    Ahead(Receiver<io::Result<Text>>),
}

impl<T: Send + 'static> Chunks<T> {
    /// Divides `input` into chunks of about `chunk_bytes`. A line longer than `line_limit`, which is no less than a chunk, is
    /// a failure of the source.
    pub(crate) fn new(
        input: Input,
        chunk_bytes: usize,
        line_limit: usize,
        parse: impl Fn(&[u8]) -> T + Send + Sync + 'static,
    ) -> Self {
        let threads = rayon::current_num_threads();
        let supply = match input.plain_file() {
            Some(file) => Supply::File(FileParts::new(file, chunk_bytes, line_limit)),
            None => Supply::lines(Lines::new(input, chunk_bytes, line_limit), threads),
        };
        // With one thread nothing is gained by waiting for another.
        let depth = if threads == 1 { 1 } else { 4 * threads };
        Self { supply, parse: Arc::new(parse), pending: VecDeque::new(), depth, ended: false }
    }

    /// The same, with no more chunks under way at once. With one, each is parsed when it is asked for.
    pub(crate) fn at_most(self, depth: usize) -> Self {
        Self { depth: self.depth.min(depth.max(1)), ..self }
    }

    /// What was made of the next chunk. A source that fails gives its whole lines first, then the failure.
    pub(crate) fn next(&mut self) -> Option<Outcome<T>> {
        self.fill();
        Some(self.pending.pop_front()?.wait())
    }

    /// The failure of the source, if it lies among the chunks under way.
    pub(crate) fn failure_ahead(&mut self) -> Option<io::Error> {
        self.fill();
        self.pending.drain(..).find_map(|pending| pending.wait().err())
    }

    /// Sets as many chunks under way as there may be.
    fn fill(&mut self) {
        while self.pending.len() < self.depth && !self.ended {
            let parse = self.parse.clone();
            let work: Box<dyn FnOnce() -> Outcome<T> + Send> = match &mut self.supply {
                Supply::File(parts) => match parts.next() {
                    Some(part) => Box::new(move || part.parse(&*parse)),
                    None => return self.ended = true,
                },
                Supply::Inline(_) | Supply::Ahead(_) => match self.supply.next_text() {
                    Some(Ok(Text { bytes: text, cut_short })) => Box::new(move || {
                        let (content, bytes) = (parse(&text), text.len());
                        Ok(Chunk { content, bytes, cut_short, lines: ChunkLines::Memory(text) })
                    }),
                    Some(Err(error)) => {
                        self.pending.push_back(Pending::Known(Err(error)));
                        return self.ended = true;
                    }
                    None => return self.ended = true,
                },
            };
            self.pending.push_back(if self.depth == 1 {
                Pending::Known(work())
            } else {
                let (give, take) = sync_channel(1);
                // Nobody waits for chunks of a reader that is gone.
                rayon::spawn(move || drop(give.send(work())));
                Pending::Awaited(take)
            });
        }
    }
}

impl<T> Pending<T> {
    fn wait(self) -> Outcome<T> {
        let receiver = match self {
            Pending::Known(outcome) => return outcome,
            Pending::Awaited(receiver) => receiver,
        };
        loop {
            // A thread that belongs to the pool must work while it waits: it may be the only one.
            let received = match rayon::current_thread_index() {
                None => receiver.recv().map_err(|_| TryRecvError::Disconnected),
                Some(_) => receiver.try_recv(),
            };
            match received {
                Ok(outcome) => return outcome,
                Err(TryRecvError::Disconnected) => return Err(io::Error::other("the reader stopped")),
                Err(TryRecvError::Empty) => {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::yield_now();
                    }
                }
            }
        }
    }
}

impl Supply {
    /// One thread reads ahead, unless everything is there already or there are no threads to share.
    fn lines(lines: Lines, threads: usize) -> Self {
        if threads == 1 || lines.input.head_is_all() {
            return Supply::Inline(lines);
        }
        let (give, take) = sync_channel(threads);
        let (hand_over, lines_to_send) = sync_channel(1);
        let read_ahead = move || {
            let lines: Lines = lines_to_send.recv().ok()?;
            lines.send_all(&give);
            Some(())
        };
        let reader = memory::new_thread().and_then(|thread| thread.spawn(read_ahead));
        // A system that has no thread to give has one that reads.
        if reader.is_err() {
            return Supply::Inline(lines);
        }
        match hand_over.send(lines) {
            Ok(()) => Supply::Ahead(take),
            Err(unsent) => Supply::Inline(unsent.0),
        }
    }

    fn next_text(&mut self) -> Option<io::Result<Text>> {
        match self {
            Supply::File(_) => None,
            Supply::Inline(lines) => lines.next(),
            Supply::Ahead(receiver) => receiver.recv().ok(),
        }
    }
}

/// The lines of a source that is read from its beginning to its end.
struct Lines {
    input: Input,
    chunk_bytes: usize,
    line_limit: usize,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    ended: bool,
    failure: Option<io::Error>,
}

impl Lines {
    fn new(input: Input, chunk_bytes: usize, line_limit: usize) -> Self {
        Self { input, chunk_bytes, line_limit, carry: Vec::new(), ended: false, failure: None }
    }

    /// The next whole lines, about a chunk of them; the failure of the source after the lines that came before it.
    fn next(&mut self) -> Option<io::Result<Text>> {
        let mut bytes = std::mem::take(&mut self.carry);
        while !self.ended {
            let before = bytes.len();
            // Only the first line began before this read; the others fit into it.
            match self.input.by_ref().take(self.chunk_bytes as u64).read_to_end(&mut bytes) {
                Ok(0) => {
                    self.ended = true;
                    if !bytes.is_empty() {
                        return Some(Ok(Text { bytes, cut_short: true }));
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(error);
                }
            }
            let first_line = memchr::memchr(b'\n', &bytes[before..]).map_or(bytes.len(), |end| before + end);
            if first_line > self.line_limit {
                self.ended = true;
                return Some(Err(LongLine { limit: self.line_limit as u64, lines_before: 0 }.into()));
            }
            if let Some(end) = memchr::memrchr(b'\n', &bytes[before..]) {
                self.carry = bytes.split_off(before + end + 1);
                return Some(Ok(Text { bytes, cut_short: false }));
            }
        }
        // The line that a failure cut is not a row.
        self.failure.take().map(Err)
    }

    fn send_all(mut self, give: &SyncSender<io::Result<Text>>) {
        while let Some(text) = self.next() {
            if give.send(text).is_err() {
                return;
            }
        }
    }
}

/// What is left of a file, to be divided by position.
struct FileParts {
    file: PlainFile,
    /// Where the next part starts.
    start: u64,
    chunk_bytes: usize,
    line_limit: usize,
}

/// The lines of a file that begin in `start..end`.
pub(crate) struct FilePart {
    file: PlainFile,
    start: u64,
    end: u64,
    line_limit: usize,
}

impl FileParts {
    fn new(file: PlainFile, chunk_bytes: usize, line_limit: usize) -> Self {
        Self { start: file.first, file, chunk_bytes, line_limit }
    }

    fn next(&mut self) -> Option<FilePart> {
        let (start, end) = (self.start, (self.start + self.chunk_bytes as u64).min(self.file.length));
        self.start = end;
        (start < end).then(|| FilePart { file: self.file.clone(), start, end, line_limit: self.line_limit })
    }
}

thread_local! {
    /// The text of the part that a thread is working on.
    static PART: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl FilePart {
    fn parse<T>(self, parse: &Parse<T>) -> Outcome<T> {
        PART.with_borrow_mut(|bytes| {
            let lines = self.read(bytes).inspect_err(|_| *bytes = Vec::new())?;
            self.file.count(self.end - self.start);
            let lines = &bytes[lines];
            let cut_short = lines.last().is_some_and(|&last| last != b'\n');
            let (content, length) = (parse(lines), lines.len());
            // A thread need not keep the room of one very long line.
            if bytes.capacity() > 64 * CHUNK_BYTES {
                *bytes = Vec::new();
            }
            Ok(Chunk { content, bytes: length, cut_short, lines: ChunkLines::File(self) })
        })
    }

    /// Reads the lines of this part, and gives where in `bytes` they are.
    fn read(&self, bytes: &mut Vec<u8>) -> io::Result<Range<usize>> {
        /// What is read beyond the end at first, for the rest of the last line; of a long one twice as much each time.
        const MORE: usize = 1 << 12;
        // The byte before tells whether a line begins at the start.
        let from = if self.start == self.file.first { self.start } else { self.start - 1 };
        let wanted = (self.end - from) as usize;
        self.file.read_at(from, bytes, 0, wanted)?;
        let mut length = wanted;
        let begin = match self.start == self.file.first {
            true => Some(0),
            false => memchr::memchr(b'\n', &bytes[..length]).map(|end| end + 1),
        };
        let Some(begin) = begin.filter(|&begin| begin < length) else { return Ok(0..0) };
        let mut last_line = None;
        let mut next = MORE;
        while bytes[length - 1] != b'\n' {
            let last_line = *last_line.get_or_insert_with(|| {
                memchr::memrchr(b'\n', &bytes[begin..length]).map_or(begin, |end| begin + end + 1)
            });
            // What was appended since the file was opened is not read.
            let left = self.file.length - (from + length as u64);
            let more = usize::try_from(left).unwrap_or(next).min(next);
            if more == 0 {
                break;
            }
            next = (next * 2).min(1 << 24);
            self.file.read_at(from + length as u64, bytes, length, more)?;
            let end = memchr::memchr(b'\n', &bytes[length..length + more]);
            if length + end.unwrap_or(more) - last_line > self.line_limit {
                let lines_before = memchr::memchr_iter(b'\n', &bytes[begin..last_line]).count() as u64;
                return Err(LongLine { limit: self.line_limit as u64, lines_before }.into());
            }
            length += end.map_or(more, |end| end + 1);
        }
        Ok(begin..length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::source::{self, Source};
    use proptest::prelude::*;

    /// All lines of a source with their line breaks, chunk by chunk, and whether the last was cut short.
    fn lines_of(input: Input, chunk_bytes: usize, limit: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut chunks = Chunks::new(input, chunk_bytes, limit, |text| {
            text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
        });
        let (mut lines, mut cut_short) = (Vec::new(), false);
        while let Some(chunk) = chunks.next() {
            let chunk = chunk?;
            assert!(!cut_short || chunk.content.is_empty(), "only the last line may lack its line break");
            cut_short |= chunk.cut_short;
            assert_eq!(chunk.lines.read()?, chunk.content.concat(), "the lines can be had once more");
            lines.extend(chunk.content);
        }
        Ok((lines, cut_short))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Files by position and sources from beginning to end give the lines that are there, for any size of chunk and
        /// number of threads; a line that is too long is a failure for all of them.
        #[test]
        fn every_line_comes_once_and_in_order(
            text in "([ab\n]{0,200}|[ab]{0,60}\n[ab]{0,60}\n[ab]{0,9})", chunk in 1usize..50, spare in 0usize..60, threads in 1usize..4
        ) {
            let expected: Vec<Vec<u8>> =
                text.as_bytes().split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let cut = !text.is_empty() && !text.ends_with('\n');
            let limit = chunk + spare;
            let longest = text.lines().map(str::len).max().unwrap_or(0);
            let expected = (longest <= limit).then_some((expected, cut));
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let input = source::open(&Source::File(file.path().to_path_buf())).unwrap().0;
                assert_eq!(lines_of(input, chunk, limit).ok(), expected.clone());
                let input = Input::from_bytes(text.as_bytes(), 7);
                assert_eq!(lines_of(input, chunk, limit).ok(), expected);
            });
        }
    }

    #[test]
    fn a_source_that_fails_gives_its_whole_lines_first() {
        struct Fails(&'static [u8]);
        impl Read for Fails {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                match self.0.read(buffer)? {
                    0 => Err(io::Error::other("torn")),
                    count => Ok(count),
                }
            }
        }
        let mut lines = Lines::new(Input::from_reader(Box::new(Fails(b"one\ntwo\nthr")), 5), 4, 100);
        let mut given = Vec::new();
        let error = loop {
            match lines.next().expect("a failure comes before the end") {
                Ok(text) => given.extend(text.bytes),
                Err(error) => break error,
            }
        };
        assert_eq!((given.as_slice(), error.to_string()), (&b"one\ntwo\n"[..], "torn".to_string()));
        assert!(lines.next().is_none());
    }
}

//! Rows of a pipe or a terminal, labelled as they come.
//!
//! A reader of files looks far ahead, to tell what the columns are. Here the model tells that, so whole lines are read as soon
//! as they are there: those that have arrived make a small table of their own, below the header that came first.

use crate::features::Schema;
use crate::read::{
    BYTE_ORDER_MARK, Batch, Compression, Encoding, Format, LineDecoder, OnceReader, PartDecoder, ReadError,
    ReadErrorKind, ReadNotes, ReadOptions, RowStream, RowsSoFar, Source, UTF_8, detect_format,
    guess_encoding, guess_wide, named_encoding,
};
use crate::waiting::Arrivals;
use crate::{Error, SettingsError};
use std::io;

/// The most bytes that are read as one table, if more have arrived.
const MAX_BYTES: usize = 1 << 22;

/// The name of the source in messages.
const NAME: &str = "standard input";

/// Rows as they arrive.
pub(super) struct LineStream {
    arrivals: Option<Decoded>,
    options: ReadOptions,
    /// Whether each line is a text, and not a row of a table.
    documents: bool,
    /// Makes UTF-8 of single lines that are something else, where lines are texts.
    decoder: LineDecoder,
    /// The encoding of the rows of a table, once one of them is not ASCII; that of any lines, where a mark came first.
    encoding: Option<&'static Encoding>,
    /// Bytes that have arrived and were not read: lines, and the beginning of another.
    bytes: Vec<u8>,
    /// How many of these bytes are known to hold no whole line.
    searched: usize,
    /// The first line, where it names the columns.
    header: Option<Vec<u8>>,
    begun: bool,
    /// Lines that were read before those of the stream.
    lines: u64,
    stream: Option<RowStream>,
    /// The lines of the stream.
    stream_lines: u64,
    notes: ReadNotes,
    /// The remarks about the rows of the table, or about the first lines of another format.
    remarks: Option<Vec<String>>,
    /// The values seen in the rows of the table so far.
    so_far: Option<RowsSoFar>,
}

/// Where the rows of standard input come from.
pub(super) enum Begun {
    /// Lines, as they arrive.
    Lines(Box<LineStream>),
    /// Something that is read as a whole.
    Whole(Source),
}

impl LineStream {
    /// Waits for the first bytes, which tell whether lines follow.
    pub(super) fn begin(options: &ReadOptions) -> Result<Begun, Error> {
        let located = |error: io::Error| ReadError::whole(NAME, error.into());
        Self::begin_with(Arrivals::of(io::stdin()).map_err(located)?, options)
    }

    fn begin_with(mut arrivals: Arrivals, options: &ReadOptions) -> Result<Begun, Error> {
        let located = |kind: ReadErrorKind| ReadError::whole(NAME, kind);
        let mut bytes = first_bytes(&mut arrivals).map_err(|error| located(error.into()))?;
        let texts = are_texts(options);
        if let Some(compression) = Compression::of(&bytes).filter(|_| texts) {
            let plain = compression.undone(arrivals.after(bytes)).map_err(located)?;
            arrivals = Arrivals::of(plain).map_err(|error| located(error.into()))?;
            bytes = first_bytes(&mut arrivals).map_err(|error| located(error.into()))?;
        }
        let encoding = match &options.encoding {
            Some(name) => Some((named_encoding(name).map_err(located)?, false)),
            None => guess_wide(&bytes),
        };
        let mut decoder = encoding.map(|(encoding, guessed)| match guessed || options.encoding.is_some() {
            true => PartDecoder::new(encoding),
            false => PartDecoder::marked(encoding),
        });
        let unmarked = bytes.strip_prefix(BYTE_ORDER_MARK);
        let is_marked = decoder.is_none() && unmarked.is_some();
        let mut first = Vec::new();
        match &mut decoder {
            Some(decoder) => {
                decoder.decode(&bytes, false, &mut first).map_err(|error| located(error.into()))?
            }
            None => first.extend_from_slice(unmarked.unwrap_or(&bytes)),
        }
        let is_one_table = options.format.or_else(|| detect_format(&first)) == Some(Format::ARFF)
            || !options.text.columns.is_empty();
        let is_lines = options.format.is_none_or(Format::is_text)
            && !is_one_table
            && !is_no_text(&first, texts)
            && options.array.labels_file.is_none();
        if !is_lines {
            return Ok(Begun::Whole(Source::Once(NAME, OnceReader::new(arrivals.after(bytes)))));
        }
        let mut notes = ReadNotes::default();
        if let Some((encoding, true)) = encoding {
            notes.remarks.push(not_utf_8(encoding));
        }
        // What arrives is decoded; each table is UTF-8.
        let options = ReadOptions { encoding: Some(UTF_8.name().to_string()), ..options.clone() };
        Ok(Begun::Lines(Box::new(Self {
            arrivals: Some(Decoded { arrivals, decoder }),
            documents: options.format.is_none() && takes_documents(&options),
            options,
            decoder: LineDecoder::default(),
            encoding: is_marked.then_some(UTF_8),
            bytes: first,
            header: None,
            searched: 0,
            begun: false,
            lines: 0,
            stream: None,
            stream_lines: 0,
            notes,
            remarks: None,
            so_far: None,
        })))
    }

    /// The next rows; none at the end.
    pub(super) fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        loop {
            if let Some(stream) = &mut self.stream {
                let batch = stream.next_batch().map_err(|error| moved(error, self.before_stream()))?;
                if let Some(mut batch) = batch {
                    let before = self.before_stream();
                    batch
                        .lines
                        .iter_mut()
                        .flatten()
                        .for_each(|line| *line = (*line).saturating_add_signed(before));
                    return Ok(Some(batch));
                }
                self.end_stream();
            }
            let Some(lines) = self.next_lines()? else { return Ok(None) };
            self.open(lines)?;
        }
    }

    /// By how much the lines of the stream must be counted on; its header was read before.
    fn before_stream(&self) -> i64 {
        self.lines as i64 - i64::from(self.header.is_some())
    }

    fn end_stream(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        let before = self.before_stream();
        let notes = stream.notes();
        for mut row in notes.first_skipped {
            row.line = row.line.saturating_add_signed(before);
            self.notes.skip(row.line, row.reason);
        }
        self.notes.skipped += notes.skipped.saturating_sub(ReadNotes::LISTED as u64);
        self.notes.dropped += notes.dropped;
        self.notes.format = notes.format;
        self.so_far = stream.so_far();
        // What is said of the last lines of a table counts all rows; what is said of the first of others holds for all.
        if self.so_far.is_some() || self.remarks.is_none() {
            self.remarks = Some(notes.remarks);
        }
        self.lines += self.stream_lines;
    }

    /// Notes made while reading.
    pub(super) fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        notes.remarks.extend(self.remarks.iter().flatten().cloned());
        notes.remarks.extend(self.decoder.remark());
        notes
    }

    /// The error for a source that gave no rows.
    pub(super) fn no_rows(&self) -> Error {
        let kind = match self.notes.skipped + self.notes.dropped {
            0 => ReadErrorKind::Empty,
            skipped => ReadErrorKind::AllSkipped(skipped),
        };
        ReadError::whole(NAME, kind).into()
    }

    /// Whole lines, as soon as there are some; none at the end.
    fn next_lines(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let located = |error: io::Error| ReadError::whole(NAME, error.into());
        loop {
            // What has arrived meanwhile comes along.
            while self.bytes.len() < MAX_BYTES
                && let Some(arrivals) = &mut self.arrivals
                && let Some(more) = arrivals.ready().map_err(located)?
            {
                self.bytes.extend_from_slice(&more);
            }
            let searched = std::mem::replace(&mut self.searched, self.bytes.len());
            let end = match self.may_quote() {
                true => end_of_lines(&self.bytes, searched),
                false => memchr::memrchr(b'\n', &self.bytes[searched..]).map(|end| searched + end + 1),
            };
            if let Some(end) = end {
                let rest = self.bytes.split_off(end);
                self.searched = rest.len();
                return Ok(Some(std::mem::replace(&mut self.bytes, rest)));
            }
            if self.bytes.len() > self.options.line_limit() {
                let kind = ReadErrorKind::LongLine { limit: self.options.line_limit() as u64 };
                return Err(ReadError {
                    source_name: NAME.into(),
                    line: Some(self.lines + 1),
                    column: None,
                    kind,
                }
                .into());
            }
            let Some(arrivals) = &mut self.arrivals else { break };
            match arrivals.next().map_err(located)? {
                Some(more) => self.bytes.extend_from_slice(&more),
                None => self.arrivals = None,
            }
        }
        // The end of the last line is the end of all.
        let last = std::mem::take(&mut self.bytes);
        self.searched = 0;
        Ok((!last.is_empty()).then_some(last))
    }

    /// Opens some lines as a table of their own.
    fn open(&mut self, mut lines: Vec<u8>) -> Result<(), Error> {
        let count = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').count() as u64;
        if !lines.is_ascii() {
            lines = self.in_utf_8(lines);
        }
        if !self.begun {
            let above = self.above_rows(&lines);
            self.lines += count(&lines[..above]);
            lines.drain(..above);
            if lines.is_empty() {
                return Ok(());
            }
            self.begun = true;
            self.look_at_first(&lines)?;
            if self.options.csv.header == Some(true) && self.header.is_none() {
                let end = memchr::memchr(b'\n', &lines).map_or(lines.len(), |end| end + 1);
                let rest = lines.split_off(end);
                self.header = Some(std::mem::replace(&mut lines, rest));
                self.lines += 1;
            }
        }
        self.stream_lines = count(&lines);
        let is_comment = |line: &[u8]| {
            let line = line.trim_ascii();
            line.is_empty() || (self.options.format == Some(Format::LIBSVM) && line.starts_with(b"#"))
        };
        if !self.documents && lines.split(|&byte| byte == b'\n').all(is_comment) {
            self.lines += self.stream_lines;
            return Ok(());
        }
        let text = match (&self.header, self.documents) {
            (_, true) => as_cells(&lines, &self.options),
            (Some(header), _) => [header.as_slice(), &lines].concat(),
            (None, _) => lines,
        };
        let opened = RowStream::open(&Source::Shared(NAME.to_string(), text.into()), &self.options);
        let mut stream = opened.map_err(|error| moved(error, self.before_stream()))?;
        if let Some(so_far) = self.so_far.take() {
            stream.go_on(so_far, self.before_stream().unsigned_abs());
        }
        // What the first lines are, all are.
        self.options.format = Some(stream.format());
        self.options.columns_were_seen = true;
        self.stream = Some(stream);
        Ok(())
    }

    /// Lines in UTF-8. Where they are texts, each may have an encoding of its own. A table has one, and the first lines that are not
    /// ASCII decide which.
    fn in_utf_8(&mut self, lines: Vec<u8>) -> Vec<u8> {
        if !are_texts(&self.options) || self.encoding.is_some() {
            let encoding = *self.encoding.get_or_insert_with(|| match guess_encoding(&lines, true) {
                Some((encoding, _)) => {
                    self.notes.remarks.push(not_utf_8(encoding));
                    encoding
                }
                None => UTF_8,
            });
            return match encoding == UTF_8 {
                true => lines,
                false => encoding.decode_without_bom_handling(&lines).0.into_owned().into_bytes(),
            };
        }
        let mut text = Vec::with_capacity(lines.len() + lines.len() / 8);
        for (place, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let number = self.lines + place as u64 + 1;
            text.extend_from_slice(self.decoder.decode(line, number).as_bytes());
        }
        text
    }

    /// Whether a cell in quotes may go over several lines.
    fn may_quote(&self) -> bool {
        // A look at the first bytes alone: a line without an end is asked about as each part of it comes.
        const FIRST: usize = 1024;
        let first = &self.bytes[..self.bytes.len().min(FIRST)];
        let is_object = || !self.begun && first.trim_ascii_start().starts_with(b"{");
        let is_line = matches!(self.options.format, Some(Format::LIBSVM | Format::VW | Format::JSONL));
        !self.documents && !is_line && !is_object()
    }

    /// The length of the lines before the first row or header: blank lines, and above a table comments that begin with `#`.
    fn above_rows(&self, lines: &[u8]) -> usize {
        if self.documents {
            return 0;
        }
        let is_above = |line: &&[u8]| {
            let line = line.trim_ascii();
            let is_comment = line.starts_with(b"#") && self.is_table() && self.delimiter_of(line).is_none();
            line.is_empty() || is_comment
        };
        lines.split_inclusive(|&byte| byte == b'\n').take_while(is_above).map(<[u8]>::len).sum()
    }

    fn is_table(&self) -> bool {
        matches!(self.options.schema, Some(Schema::Table { .. }))
    }

    /// The delimiter that makes as many cells of a line as the model has columns; the label may be left out.
    fn delimiter_of(&self, line: &[u8]) -> Option<u8> {
        let Some(Schema::Table { columns, delimiter, .. }) = &self.options.schema else { return None };
        let divided = |delimiter: u8| line.split(|&byte| byte == delimiter).count();
        // Free text may hold any other delimiter.
        let remembered = delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
        let remembered =
            remembered.filter(|_| self.options.csv.delimiter.is_none() && self.options.format.is_none());
        let fits = |&delimiter: &u8| (columns.len() - 1..=columns.len()).contains(&divided(delimiter));
        if let Some(delimiter) = remembered.filter(fits) {
            return Some(delimiter);
        }
        let wanted = [columns.len(), columns.len().saturating_sub(1).max(2)];
        let usual = match (self.options.csv.delimiter, self.options.format) {
            (Some(delimiter), _) => vec![delimiter],
            (None, Some(Format::TSV)) => vec![b'\t'],
            (None, _) => b"\t;|,".to_vec(),
        };
        usual.into_iter().find(|&delimiter| wanted.contains(&divided(delimiter)))
    }

    /// Whether a line has names of the model's features behind a bar, as text for Vowpal Wabbit has.
    fn names_features(&self, line: &[u8]) -> bool {
        let Some(Schema::Table { header: true, features, .. }) = &self.options.schema else { return false };
        let line = String::from_utf8_lossy(line);
        let mut parts = line.split('|').skip(1).flat_map(|part| {
            let space =
                if part.starts_with([' ', '\t']) { "" } else { part.split_whitespace().next().unwrap_or("") };
            let space = space.split(':').next().unwrap_or("");
            let names = part.split_whitespace().skip(usize::from(!space.is_empty()));
            names.map(move |name| (space, name.split(':').next().unwrap_or(name)))
        });
        parts.any(|(space, name)| {
            let named = |feature: &String| match space {
                "" => feature == name,
                _ => feature.split_once('^') == Some((space, name)),
            };
            features.iter().any(named)
        })
    }

    /// Settles by the first line how the lines are divided, and whether it names the columns.
    fn look_at_first(&mut self, lines: &[u8]) -> Result<(), SettingsError> {
        if self.documents {
            self.options.format = Some(Format::CSV);
            (self.options.csv.delimiter, self.options.csv.header) = (Some(b','), Some(true));
            self.header = Some(Vec::new());
            return Ok(());
        }
        let first = lines.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
        let delimiter = self.delimiter_of(first);
        if self.options.format.is_none() && self.options.csv.delimiter.is_none() {
            let texts = are_texts(&self.options);
            self.options.format = detect_format(first).filter(|&format| match format {
                Format::JSONL => true,
                // A text may look like anything.
                Format::VW | Format::LIBSVM if texts => false,
                Format::VW => true,
                // A row of a table with one column may look like one with a label alone.
                Format::LIBSVM => !self.is_table() || (delimiter.is_none() && first.contains(&b':')),
                _ => false,
            });
            if self.options.format.is_none() && self.names_features(first) {
                self.options.format = Some(Format::VW);
            }
        }
        if self.options.format.is_some_and(|format| !matches!(format, Format::CSV | Format::TSV)) {
            return Ok(());
        }
        let Some(Schema::Table { header, columns, .. }) = &self.options.schema else { return Ok(()) };
        let csv = &mut self.options.csv;
        if csv.delimiter.is_none() && self.options.format != Some(Format::TSV) {
            csv.delimiter = delimiter;
        }
        if csv.header.is_none() {
            let delimiter = csv.delimiter.unwrap_or(b',');
            let text = String::from_utf8_lossy(first).into_owned();
            let cells: Vec<&str> =
                text.split(char::from(delimiter)).map(|cell| cell.trim().trim_matches('"').trim()).collect();
            let named = columns.iter().filter(|column| column.kind.features().is_some());
            csv.header = Some(*header && named.clone().any(|column| cells.contains(&column.name.as_str())));
        }
        Ok(())
    }
}

/// Whether lines are texts, by themselves or in a table that has nothing else.
fn are_texts(options: &ReadOptions) -> bool {
    options.text.columns.is_empty() && options.schema.as_ref().is_some_and(Schema::is_text_alone)
}

/// Whether each line is a text for the model that the options have.
pub(super) fn takes_documents(options: &ReadOptions) -> bool {
    options.schema.as_ref().is_some_and(|schema| schema.texts().any(|(_, text)| text.documents))
}

/// The end of the last whole line of which no quote is open, where there was none in the first `searched` bytes. A long line
/// arrives in many parts, each of which is searched once.
fn end_of_lines(bytes: &[u8], searched: usize) -> Option<usize> {
    let end = searched + memchr::memrchr(b'\n', &bytes[searched..])? + 1;
    // A cell may go over several lines; but not over very many, where quotes are just characters. So is a quote within a cell.
    const FAR: usize = 1 << 16;
    let begins_cell = |place: usize| place == 0 || b"\n\t,;| ".contains(&bytes[place - 1]);
    let is_closed = || {
        let quotes = || memchr::memchr_iter(b'"', &bytes[..end]);
        quotes().count().is_multiple_of(2) || !quotes().any(begins_cell)
    };
    (end > FAR || is_closed()).then_some(end)
}

/// Whether bytes begin as those do that are no lines: compressed ones, arrays, caches. Where each line is a text, it may have
/// characters that tables do not have.
fn is_no_text(bytes: &[u8], texts: bool) -> bool {
    let head = &bytes[..bytes.len().min(512)];
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r');
    let controls = head.iter().filter(is_control).count();
    match texts {
        true => head.contains(&0) || controls * 100 > head.len(),
        false => controls > 0,
    }
}

/// A remark about lines in a detected encoding.
fn not_utf_8(encoding: &'static Encoding) -> String {
    format!(
        "The lines are not UTF-8: they are read as {}. Another encoding can be named with ⟦encoding⟧.",
        encoding.name()
    )
}

/// The first bytes that arrive, and more than a mark that tells how they are encoded; none at the end.
fn first_bytes(arrivals: &mut Arrivals) -> io::Result<Vec<u8>> {
    const MARKS: [&[u8]; 3] = [BYTE_ORDER_MARK, b"\xff\xfe", b"\xfe\xff"];
    let mut bytes = Vec::new();
    while MARKS.iter().any(|mark| mark.starts_with(&bytes)) {
        let Some(more) = arrivals.next()? else { break };
        bytes.extend_from_slice(&more);
    }
    Ok(bytes)
}

/// Bytes as they arrive, in UTF-8 if they are known to be something else.
struct Decoded {
    arrivals: Arrivals,
    decoder: Option<PartDecoder>,
}

impl Decoded {
    /// Waits for the next block; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.arrivals.next()? {
            Some(bytes) => self.decoded(bytes).map(Some),
            // Half a character may be left.
            None => self.decoder.take().map(|mut decoder| decoded(&mut decoder, b"", true)).transpose(),
        }
    }

    /// The next block, if it is there already.
    fn ready(&mut self) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.arrivals.ready()?;
        bytes.map(|bytes| self.decoded(bytes)).transpose()
    }

    fn decoded(&mut self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        match &mut self.decoder {
            Some(decoder) => decoded(decoder, &bytes, false),
            None => Ok(bytes),
        }
    }
}

fn decoded(decoder: &mut PartDecoder, bytes: &[u8], last: bool) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    decoder.decode(bytes, last, &mut text)?;
    Ok(text)
}

/// Lines as the cells of a table with one column, that of the model's texts.
fn as_cells(lines: &[u8], options: &ReadOptions) -> Vec<u8> {
    let column = options
        .schema
        .as_ref()
        .and_then(|schema| schema.texts().next().map(|(column, _)| column.to_string()));
    let cell = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        // A control character would not be taken for text.
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("\"{}\"\n", text.replace('"', "\"\""))
    };
    let mut text = format!("\"{}\"\n", column.unwrap_or_default());
    text.extend(lines.split_inclusive(|&byte| byte == b'\n').map(cell));
    text.into_bytes()
}

/// The same error, further down.
fn moved(error: Error, lines: i64) -> Error {
    match error {
        Error::Read(mut error) => {
            error.line = error.line.map(|line| line.saturating_add_signed(lines));
            Error::Read(error)
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::ColumnKind;
    use crate::job::DataSpec;
    use crate::read::Labels;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// Bytes that arrive in parts.
    struct Parts(VecDeque<Vec<u8>>);

    impl io::Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(part) = self.0.pop_front() else { return Ok(0) };
            buffer[..part.len()].copy_from_slice(&part);
            Ok(part.len())
        }
    }

    /// How rows are read for a model of these rows.
    fn options(rows: &'static str, change: impl Fn(&mut ReadOptions)) -> ReadOptions {
        let mut data = DataSpec { source: Source::Memory("rows", rows.as_bytes()), ..DataSpec::default() };
        change(&mut data.read);
        let schema = data.load(&mut ()).unwrap().schema;
        ReadOptions { schema: Some(schema), labels: Labels::Ignored, ..ReadOptions::default() }
    }

    /// The features of a row that are not zero, and its line.
    type Read = (Vec<(usize, f64)>, Option<u64>);
    type Rows = Result<Vec<Read>, String>;
    /// Writes a row of two numbers.
    type Written = fn(&(u8, u8)) -> String;

    fn take(batch: &Batch, rows: &mut Vec<Read>) {
        rows.extend((0..batch.len()).map(|i| {
            let values = batch.row(i).iter().filter(|&(_, value)| value != 0.0).collect();
            (values, batch.line(i))
        }));
    }

    fn arriving(parts: &[&[u8]], options: &ReadOptions) -> Rows {
        let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| part.to_vec()).collect();
        let arrivals = Arrivals::of(Parts(parts)).unwrap();
        let Begun::Lines(mut lines) = LineStream::begin_with(arrivals, options).unwrap() else {
            return Err("not lines".to_string());
        };
        let mut rows = Vec::new();
        while let Some(batch) = lines.next_batch().map_err(|error| error.to_string())? {
            take(&batch, &mut rows);
        }
        Ok(rows)
    }

    fn whole(text: &[u8], options: &ReadOptions) -> Rows {
        let open = RowStream::open(&Source::Shared(NAME.to_string(), text.into()), options);
        let mut stream = open.map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        while let Some(batch) = stream.next_batch().map_err(|error| error.to_string())? {
            take(&batch, &mut rows);
        }
        Ok(rows)
    }

    /// A text in parts, each with the place where it is cut.
    fn cut<'a>(text: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([text.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
    }

    proptest! {
        /// However rows arrive, and whether or not the last line ends, they are those of the whole file.
        #[test]
        fn rows_do_not_depend_on_how_they_arrive(
            numbers in prop::collection::vec((1u8..100, 1u8..100), 1..8),
            kind in 0usize..5,
            ends in any::<bool>(),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let words = |read: &mut ReadOptions| {
                read.text.columns = vec!["2".to_string()];
                read.csv.label = Some("1".to_string());
                read.text.words = vec!["prize".to_string(), "noon".to_string()];
                read.csv.header = Some(false);
            };
            let (given, row): (ReadOptions, Written) = match kind {
                0 => (options("x,y,kind\n1,2,a\n2,1,b\n", |_| ()), |(x, y)| format!("{x},{y}")),
                1 => (options("a 1:1 2:2\nb 1:2 2:1\n", |_| ()), |(x, y)| format!("1:{x} 2:{y}")),
                2 => (
                    options("{\"x\":1,\"y\":2,\"k\":\"a\"}\n{\"x\":2,\"y\":1,\"k\":\"b\"}\n", |_| ()),
                    |(x, y)| format!("{{\"x\": {x}, \"y\": {y}, \"note\": \"6\\\" pipe\"}}"),
                ),
                3 => (options("1 |f x:1 y:2\n-1 |f x:2 y:1\n", |_| ()), |(x, y)| format!("|f x:{x} y:{y}")),
                _ => (
                    options("a\ta prize, now\nb\tat noon\n", words),
                    |(x, y)| format!("prize{} 6\" noon, see{}", " prize".repeat((x % 3) as usize), " noon".repeat((y % 3) as usize)),
                ),
            };
            let mut text = numbers.iter().map(row).collect::<Vec<_>>().join("\n");
            text.push_str(if ends { "\n" } else { "" });
            let told = match kind {
                0 | 4 => {
                    let mut told = given.clone();
                    told.format = Some(if kind == 4 { Format::TSV } else { Format::CSV });
                    told.csv.header = Some(false);
                    told
                }
                _ => given.clone(),
            };
            let expected = whole(text.as_bytes(), &told);
            prop_assert_eq!(expected.as_ref().map(Vec::len), Ok(numbers.len()));
            prop_assert_eq!(arriving(&cut(text.as_bytes(), &cuts), &given), expected);
        }

        /// Each line is a text for a model of documents.
        #[test]
        fn texts_do_not_depend_on_how_they_arrive(
            lines in prop::collection::vec("[a-z][a-z ,\"]{0,8}( prize| noon)?", 1..8),
            ends in any::<bool>(),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let mut given = options("a prize,a\nat noon,b\n", |read| {
                read.text.columns = vec!["1".to_string()];
                read.text.words = vec!["prize".to_string(), "noon".to_string()];
                read.csv.header = Some(false);
            });
            let Some(Schema::Table { columns, header, .. }) = &mut given.schema else { panic!("a table") };
            *header = true;
            for column in columns {
                if let ColumnKind::Text(text) = &mut column.kind {
                    text.documents = true;
                }
            }
            let text = lines.join("\n") + if ends { "\n" } else { "" };
            let rows = arriving(&cut(text.as_bytes(), &cuts), &given).unwrap();
            for (place, (line, (row, number))) in lines.iter().zip(&rows).enumerate() {
                let count = |word: &str| line.split([' ', ',', '"']).filter(|&part| part == word).count() as f64;
                let terms = [(0, count("prize")), (1, count("noon"))];
                let terms: Vec<_> = terms.into_iter().filter(|&(_, count)| count > 0.0).collect();
                prop_assert_eq!(row, &terms);
                prop_assert_eq!(*number, Some(place as u64 + 1));
            }
            prop_assert_eq!(rows.len(), lines.len());
        }

        #[test]
        fn the_end_of_lines_does_not_depend_on_how_they_arrive(
            parts in prop::collection::vec("[ab\"\n]{0,6}", 1..12),
        ) {
            let naive = |bytes: &[u8]| {
                let end = bytes.iter().rposition(|&byte| byte == b'\n')? + 1;
                let lines = &bytes[..end];
                let is_even = lines.iter().filter(|&&byte| byte == b'"').count().is_multiple_of(2);
                let begins = lines.starts_with(b"\"") || lines.windows(2).any(|pair| pair == b"\n\"");
                (is_even || !begins).then_some(end)
            };
            let (mut bytes, mut searched) = (Vec::new(), 0);
            for part in parts {
                bytes.extend_from_slice(part.as_bytes());
                let end = end_of_lines(&bytes, searched);
                prop_assert_eq!(end, naive(&bytes));
                bytes.drain(..end.unwrap_or(0));
                searched = bytes.len();
            }
        }
    }
}

//! LIBSVM and SVMlight text: `label index:value index:value … # comment`.
//!
//! The union of the dialects that other programs write: blank lines and comments, `qid:N`, CRLF, rows without
//! features, labels that are words, indices from 0 or from 1. Strict about everything else.

mod pairs;
mod rows;

use super::chunks::{CHUNK_BYTES, Chunks};
use super::error::{LongLine, ReadError, ReadErrorKind};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::label_table::LabelTable;
use super::reader::{Expected, Opening, RecordReader};
use super::source::Input;
use super::{Batch, ReadNotes, ReadOptions, Schema};
use crate::Error;
use crate::dataset::BatchRows;
use rows::{Block, Rules, parse_block};

pub(super) static LIBSVM: FormatDescriptor = FormatDescriptor {
    name: Format::LIBSVM.name(),
    title: "LIBSVM",
    help: "LIBSVM or SVMlight text: label index:value …",
    extensions: &["svm", "libsvm", "svmlight"],
    columns: FormatColumns::Numbered,
    is_text: true,
    is_written: true,
    options: &["index_base"],
    matched_by_number: Some(
        "the features of this LIBSVM file are matched by number, in the order of the model's features.",
    ),
    detect: Detect::Row(begins_with_pair),
    open,
};

impl Format {
    /// LIBSVM / SVMlight: `label index:value …`
    pub const LIBSVM: Format = Format::named("libsvm");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    Ok(Box::new(LibsvmReader::new(opening.name, opening.input, opening.options)))
}

/// Whether a row has a pair in its second place, or in its first where it has no label.
fn begins_with_pair(row: &[u8]) -> bool {
    let mut tokens = row.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let first = tokens.next().unwrap_or_default();
    let mut others = tokens.peekable();
    let begins = others.peek().is_some_and(|token| looks_like_pair(token)) || looks_like_pair(first);
    // A title such as `Table 3: admissions` has a colon too, but nothing that follows it at once.
    if others.peek().is_some_and(|token| token.ends_with(b":")) {
        return others.nth(1).is_none_or(looks_like_pair);
    }
    if !begins || !row.contains(&b'\t') {
        return begins;
    }
    // A cell of a table may look like a pair, and so may a name in its header: then others do not. The last may be cut.
    while let Some(token) = others.next() {
        let is_cut = others.peek().is_none() && token.iter().all(u8::is_ascii_digit);
        if !looks_like_pair(token) && !is_cut {
            return false;
        }
    }
    true
}

/// `12:` or `qid:` with something that has no delimiter after it.
fn looks_like_pair(token: &[u8]) -> bool {
    let Some(colon) = token.iter().position(|&byte| byte == b':') else { return false };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    (index == b"qid" || (!index.is_empty() && index.iter().all(u8::is_ascii_digit)))
        && !value.iter().any(|byte| b",;|".contains(byte))
}

pub(crate) struct LibsvmReader {
    name: String,
    chunks: Chunks<Block>,
    rules: Rules,
    known_features: Option<usize>,
    labels: LabelTable,
    class_limit: usize,
    lines: u64,
    /// Bytes of all chunks so far.
    text_bytes: u64,
    saw_zero: bool,
    saw_query: bool,
    /// The last line has no line break: normal for some programs, but also how a cut file looks.
    cut_short: bool,
    max_index: Option<u32>,
    notes: ReadNotes,
}

impl LibsvmReader {
    pub(crate) fn new(name: String, input: Input, options: &ReadOptions) -> Self {
        Self::with_chunks(name, input, options, CHUNK_BYTES)
    }

    fn with_chunks(name: String, mut input: Input, options: &ReadOptions, chunk_bytes: usize) -> Self {
        input.skip_byte_order_mark();
        let lines = input.lines_dropped();
        let known = match options.schema {
            // What the user says of this file counts more than how the training file counted.
            Some(Schema::Numbered { index_base, features }) => {
                Some((options.libsvm.index_base.unwrap_or(index_base), features))
            }
            // A table or array has no indices of its own: a LIBSVM file for it counts from 1.
            Some(ref schema) => Some((options.libsvm.index_base.unwrap_or(1), schema.features())),
            None => None,
        };
        let rules = Rules {
            base: known.map(|(base, _)| base).or(options.libsvm.index_base),
            limit: options.feature_limit(),
            labels: options.labels,
            skip_bad: options.skip_bad,
        };
        Self {
            name,
            chunks: Chunks::new(input, chunk_bytes, options.line_limit(), move |text| {
                parse_block(text, rules)
            }),
            rules,
            known_features: known.map(|(_, features)| features),
            labels: LabelTable::default(),
            class_limit: options.class_limit(),
            lines,
            text_bytes: 0,
            saw_zero: false,
            saw_query: false,
            cut_short: false,
            max_index: None,
            notes: ReadNotes::default(),
        }
    }

    /// Takes over a parsed block; the blocks before it have been taken.
    fn take(&mut self, mut block: Block) -> Result<Option<Batch>, ReadError> {
        for bad in block.bad.drain(..) {
            let line = self.lines + bad.line;
            if !self.rules.skip_bad {
                // A source that failed may have given damaged bytes before: report the failure, which is the cause.
                return Err(match self.chunks.failure_ahead() {
                    Some(failure) => self.located(None, None, failure.into()),
                    None => self.located(Some(line), Some(bad.column), bad.kind),
                });
            }
            self.notes.skip(line, bad.kind.to_string());
        }
        let places = self.labels.merge(&block.table);
        self.labels.check(self.class_limit).map_err(|kind| self.located(None, None, kind))?;
        for label in block.labels.iter_mut().filter(|label| **label != Batch::UNLABELLED) {
            *label = places[*label as usize];
        }
        block.lines.iter_mut().for_each(|line| *line += self.lines);
        self.lines += block.line_count;
        self.saw_zero |= block.saw_zero;
        self.saw_query |= block.saw_query;
        self.max_index = self.max_index.max(block.max_index);
        if block.labels.is_empty() {
            return Ok(None);
        }
        Ok(Some(Batch {
            rows: BatchRows::Sparse {
                offsets: block.offsets,
                indices: block.pairs.indices,
                values: block.pairs.values,
            },
            labels: block.labels,
            lines: Some(block.lines),
            filled: None,
            weights: None,
            hashed: Vec::new(),
        }))
    }

    fn located(&self, line: Option<u64>, column: Option<u64>, kind: ReadErrorKind) -> ReadError {
        ReadError { source_name: self.name.clone(), line, column, kind }
    }

    fn index_base(&self) -> u32 {
        self.rules.base.unwrap_or(u32::from(!self.saw_zero))
    }
}

impl RecordReader for LibsvmReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        while let Some(chunk) = self.chunks.next() {
            let chunk = chunk.map_err(|error| {
                let line = LongLine::lines_before(&error).map(|lines| self.lines + lines + 1);
                self.located(line, None, error.into())
            })?;
            self.cut_short |= chunk.cut_short;
            self.text_bytes += chunk.bytes as u64;
            if let Some(batch) = self.take(chunk.content)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    fn schema(&self) -> Schema {
        let index_base = self.index_base();
        let seen = self.max_index.map_or(0, |last| last as usize + 1 - index_base as usize);
        Schema::Numbered { index_base, features: self.known_features.unwrap_or(0).max(seen) }
    }

    fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        notes.format = format!("LIBSVM, indices from {}", self.index_base());
        if self.saw_query {
            notes.remarks.push("Query numbers (qid) are ignored.".to_string());
        }
        if self.cut_short {
            let remark =
                "The last line has no line break: if the file was cut short, its last row is incomplete.";
            notes.remarks.push(remark.to_string());
        }
        notes
    }

    fn index_shift(&self) -> u32 {
        if self.rules.base.is_some() { 0 } else { self.index_base() }
    }

    fn expected(&self) -> Expected {
        Expected::FromText(self.text_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Labels, LibsvmOptions};
    use proptest::prelude::*;

    /// Rows with their true columns, labels by name, lines.
    #[derive(Debug, PartialEq)]
    struct Table {
        rows: Vec<Vec<(usize, f64)>>,
        labels: Vec<Option<String>>,
        lines: Vec<u64>,
        schema: Schema,
        names: Vec<String>,
    }

    fn read_in_blocks(
        text: &[u8],
        options: &ReadOptions,
        block_bytes: usize,
    ) -> Result<(Table, ReadNotes), ReadError> {
        let input = Input::from_bytes(text, 1 << 18);
        let mut reader = LibsvmReader::with_chunks("test".to_string(), input, options, block_bytes);
        let mut batches = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            batches.push(batch);
        }
        let shift = reader.index_shift() as usize;
        let (mut rows, mut labels, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for batch in &batches {
            for i in 0..batch.len() {
                rows.push(batch.row(i).iter().map(|(column, value)| (column - shift, value)).collect());
                labels.push(reader.label_names().get(batch.label(i) as usize).cloned());
                lines.extend(batch.line(i));
            }
        }
        let (schema, names) = (reader.schema(), reader.label_names().to_vec());
        Ok((Table { rows, labels, lines, schema, names }, reader.notes()))
    }

    fn read(text: &str, options: &ReadOptions) -> Result<(Table, ReadNotes), ReadError> {
        read_in_blocks(text.as_bytes(), options, CHUNK_BYTES)
    }

    fn plain(text: &str) -> Table {
        read(text, &ReadOptions::default()).unwrap().0
    }

    #[test]
    fn the_union_of_the_dialects_is_read() {
        let text = "\u{feff}# remark\r\n\r\n+1 qid:7 1:0.5 3:2 # end\r\n-1\r\n  spam\t2:-1e-3  \r\n1.0 4:0";
        let (table, notes) = read(text, &ReadOptions::default()).unwrap();
        assert_eq!(table.rows, [vec![(0, 0.5), (2, 2.0)], vec![], vec![(1, -1e-3)], vec![]]);
        assert_eq!(table.names, ["1", "-1", "spam"]);
        assert_eq!(table.labels[3].as_deref(), Some("1"));
        assert_eq!(table.lines, [3, 4, 5, 6]);
        assert_eq!(table.schema, Schema::Numbered { index_base: 1, features: 4 });
        assert_eq!(notes.format, "LIBSVM, indices from 1");
        assert_eq!(notes.remarks[0], "Query numbers (qid) are ignored.");
        assert!(notes.remarks[1].contains("no line break"), "{:?}", notes.remarks);
        assert_eq!(notes.remarks.len(), 2);
    }

    #[test]
    fn the_index_base_is_detected_or_given() {
        let from_zero = plain("1 1:5\n2 0:3 2:4\n");
        assert_eq!(from_zero.schema, Schema::Numbered { index_base: 0, features: 3 });
        assert_eq!(from_zero.rows, [vec![(1, 5.0)], vec![(0, 3.0), (2, 4.0)]]);
        let given =
            |base| ReadOptions { libsvm: LibsvmOptions { index_base: Some(base) }, ..ReadOptions::default() };
        assert_eq!(read("1 1:5\n", &given(0)).unwrap().0.rows, [[(1, 5.0)]]);
        assert_eq!(read("1 1:5\n", &given(1)).unwrap().0.rows, [[(0, 5.0)]]);
        let schema = Some(Schema::Numbered { index_base: 0, features: 9 });
        let options = ReadOptions { schema: schema.clone(), ..ReadOptions::default() };
        let (table, _) = read("1 1:5\n", &options).unwrap();
        assert_eq!((table.rows, Some(table.schema)), (vec![vec![(1, 5.0)]], schema));
    }

    #[test]
    fn errors_have_their_place() {
        let base_1 = ReadOptions { libsvm: LibsvmOptions { index_base: Some(1) }, ..ReadOptions::default() };
        let few = ReadOptions { max_features: Some(3), ..ReadOptions::default() };
        let default = ReadOptions::default();
        for (row, options, column, message) in [
            ("1:2 2:3", &default, 1, "the label is missing: the row begins with \"1:2\""),
            ("  nan 1:2", &default, 3, "the label \"nan\" is missing or not finite"),
            ("1 1:2 x", &default, 7, "expected index:value, found \"x\""),
            ("1 -1:2", &default, 3, "the feature index \"-1\" is not a whole number from 0 to 16777216"),
            ("1 1:2 :3", &default, 7, "the feature index \"\" is not a whole number from 0 to 16777216"),
            (
                "1 99999999999999999999:1",
                &few,
                3,
                "the feature index \"99999999999999999999\" is not a whole number from 0 to 3",
            ),
            ("1 4:1", &few, 3, "the feature index \"4\" is not a whole number from 0 to 3"),
            ("1 0:1", &base_1, 3, "feature index 0 in a file whose indices count from 1"),
            ("1 2:1 2:1", &default, 7, "feature index 2 occurs twice in this row"),
            ("1 2:1 1:1", &default, 7, "feature index 1 comes after 2: indices must increase"),
            ("1 2:", &default, 5, "feature 2 has no value"),
            ("1 2:a", &default, 5, "the value \"a\" is not a number"),
            ("1 2:1:2", &default, 5, "the value \"1:2\" is not a number"),
            ("1 2:nan", &default, 5, "the value \"nan\" is not finite"),
            ("1 2:-1e999", &default, 5, "the value \"-1e999\" is not finite"),
            ("1 2:\u{1}", &default, 5, "this is not text: found byte 0x01"),
            (
                "1 2:1 qid:3",
                &default,
                7,
                "the feature index \"qid\" is not a whole number from 0 to 16777216",
            ),
        ] {
            let text = format!("# first\n1 1:1\n{row}\n1 bad\n");
            let error = read(&text, options).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), format!("test:3:{column}: {message}"), "{row}");
        }
    }

    #[test]
    fn skipped_rows_leave_no_trace() {
        let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let text = "1 1:1\nnew 0:1 qid:2\nnew 900:1 5:1\n1:1\n2 2:2\n? 3:nan\n";
        let (table, notes) = read(text, &options).unwrap();
        assert_eq!(table.names, ["1", "2"]);
        assert_eq!((table.lines, notes.skipped), (vec![1, 5], 4));
        assert_eq!(table.schema, Schema::Numbered { index_base: 1, features: 2 });
        assert_eq!(notes.first_skipped[1].line, 3);
        assert!(notes.first_skipped[1].reason.contains("indices must increase"));
        assert!(notes.remarks.is_empty());
    }

    #[test]
    fn labels_may_be_absent_where_they_are_ignored() {
        let options = ReadOptions { labels: Labels::Ignored, ..ReadOptions::default() };
        let (table, _) = read("1:1\n5 1:2\nnan 1:3\n", &options).unwrap();
        assert_eq!(table.rows, [[(0, 1.0)], [(0, 2.0)], [(0, 3.0)]]);
        assert_eq!(table.labels, [None, None, None]);
    }

    #[test]
    fn a_limit_of_no_features_is_no_panic() {
        for limit in [0, u32::MAX] {
            let options = ReadOptions { max_features: Some(limit), ..ReadOptions::default() };
            let _ = read("1 1:1 4294967295:2\n", &options);
        }
    }

    fn damaged_text() -> impl Strategy<Value = Vec<u8>> {
        let row =
            "(-?[0-9a]{0,2}|spam)( qid:1)?( [0-9]{1,2}:-?[0-9]{1,2}(\\.[0-9]|e9)?){0,4}( #.{0,3})?\r?\n";
        let text = prop::collection::vec(row, 0..20).prop_map(|rows| rows.concat().into_bytes());
        let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
        (text, damage).prop_map(|(mut bytes, damage)| {
            for (place, byte) in damage.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn blocks_do_not_show(text in damaged_text(), block in 1usize..60, skip_bad: bool) {
            let options = ReadOptions { skip_bad, ..ReadOptions::default() };
            let whole = read_in_blocks(&text, &options, 1 << 20);
            let pieces = read_in_blocks(&text, &options, block);
            match (whole, pieces) {
                (Ok((whole, notes)), Ok((pieces, other))) => {
                    prop_assert_eq!(whole, pieces);
                    prop_assert_eq!(notes.skipped, other.skipped);
                    prop_assert_eq!(notes.first_skipped, other.first_skipped);
                }
                (Err(whole), Err(pieces)) => prop_assert_eq!(whole.to_string(), pieces.to_string()),
                (whole, pieces) => prop_assert!(false, "{whole:?} but {pieces:?}"),
            }
        }

        #[test]
        fn no_bytes_make_it_panic(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200).boxed(),
                "[0-9:.e #\n\tqid+-]{0,120}".prop_map(String::into_bytes).boxed(),
                damaged_text().boxed(),
            ],
            skip_bad: bool, index_base in prop::option::of(0u32..2), ignored: bool,
        ) {
            let labels = if ignored { Labels::Ignored } else { Labels::Required };
            let options = ReadOptions { skip_bad, labels, libsvm: LibsvmOptions { index_base }, ..ReadOptions::default() };
            let _ = read_in_blocks(&bytes, &options, 64);
        }
    }
}

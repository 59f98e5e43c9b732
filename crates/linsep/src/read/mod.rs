//! Bytes to rows: one file per format, one way in.
//!
//! [`RowStream`] gives the rows of any source in batches, in bounded memory where the format allows it;
//! [`read`] collects them into a [`Dataset`]. The format comes from the content.

mod array;
pub mod cache;
mod chunks;
mod csv;
mod detect;
#[cfg(target_arch = "x86_64")]
mod digits;
mod error;
mod labels;
mod libsvm;
mod number;
mod schema;
mod source;

pub use array::read_weights;
pub(crate) use csv::is_missing_label;
pub use detect::Format;
pub use error::{ReadError, ReadErrorKind};
pub use schema::{Column, ColumnKind, Schema};
pub use source::Source;

use crate::Error;
use crate::SettingsError;
use crate::dataset::{Dataset, DatasetBuilder, DatasetError, Layout, Row};
use crate::observe::{Observer, Progress};
use std::path::PathBuf;

/// How missing CSV cells are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error that names the cell.
    #[default]
    Refuse,
    /// A number becomes the mean of its column; a word sets none of its features.
    Mean,
    /// A number becomes zero; a word sets none of its features.
    Zero,
    /// The row is left out.
    DropRow,
}

/// Whether rows come with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Every row must have one.
    #[default]
    Required,
    /// Rows may have one; it is ignored.
    Ignored,
}

/// How to read. The defaults detect everything.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, if not to be detected.
    pub format: Option<Format>,
    /// CSV: the label's column, by name or number from 1; the last if not given.
    pub label: Option<String>,
    /// CSV: columns to leave out, by name or number from 1.
    pub ignore: Vec<String>,
    /// CSV: whether the first row names the columns, if not to be detected.
    pub header: Option<bool>,
    /// CSV: the delimiter, if not to be detected.
    pub delimiter: Option<u8>,
    /// CSV: what to do with missing cells.
    pub missing: Missing,
    /// LIBSVM: 0 or 1, the index of the first feature, if not to be detected.
    pub index_base: Option<u32>,
    /// Skip malformed rows and list them, instead of stopping at the first.
    pub skip_bad: bool,
    /// The largest number of features accepted; `None` for 2²⁷ (a gigabyte of weights).
    pub max_features: Option<u32>,
    /// Arrays: the file that holds the labels.
    pub labels_file: Option<PathBuf>,
    /// Whether labels are needed.
    pub labels: Labels,
    /// Read as a model was trained: its columns, categories and index base.
    pub schema: Option<Schema>,
    /// Settle the columns from the first rows, so that memory does not grow with the file.
    pub online: bool,
}

impl ReadOptions {
    pub(crate) fn feature_limit(&self) -> u32 {
        self.max_features.unwrap_or(1 << 27)
    }

    /// Refuses an option that would have no effect on files of this format.
    fn check(&self, format: Format) -> Result<(), SettingsError> {
        let table = format.is_table();
        let options = [
            ("⟦label⟧", self.label.is_some(), table),
            ("⟦ignore⟧", !self.ignore.is_empty(), table),
            ("⟦header⟧", self.header.is_some(), table),
            ("⟦delimiter⟧", self.delimiter.is_some(), table),
            ("⟦missing⟧", self.missing != Missing::Refuse, table),
            ("⟦index_base⟧", self.index_base.is_some(), format == Format::Libsvm),
            ("⟦labels⟧", self.labels_file.is_some(), format.is_array()),
        ];
        if self.labels_file.is_some() && self.labels == Labels::Ignored {
            return Err(SettingsError::new(
                "format",
                "⟦labels⟧ has no meaning where labels are not looked at".to_string(),
            ));
        }
        match options.iter().find(|(_, given, applies)| *given && !applies) {
            Some((option, ..)) => Err(SettingsError::new(
                "format",
                format!("{option} has no meaning for {} files", format.name()),
            )),
            None => Ok(()),
        }
    }

    /// What to say where the model knows its features by name and the file has only numbers.
    fn matching_remark(&self, format: Format) -> Option<String> {
        match (&self.schema, format) {
            (Some(Schema::Table { .. }), Format::Libsvm) => Some(
                "The model was trained on a table: the features of this LIBSVM file are matched by number, in the \
                 order of the model's features."
                    .to_string(),
            ),
            (Some(Schema::Table { .. }), Format::Npy | Format::Npz) => Some(
                "The model was trained on a table: the columns of this array are matched by their order to the \
                 model's features."
                    .to_string(),
            ),
            _ => None,
        }
    }
}

/// A malformed row that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRow {
    /// Line in the file, or row for formats without lines.
    pub line: u64,
    /// What was wrong.
    pub reason: String,
}

/// What was noticed while reading and deserves a word to the user.
#[derive(Clone, Debug, Default)]
pub struct ReadNotes {
    /// The format in words, with what was detected: `CSV, delimiter ',', header, 3 columns of numbers`.
    pub format: String,
    /// Remarks, one sentence each.
    pub remarks: Vec<String>,
    /// How many malformed rows were skipped.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Vec<SkippedRow>,
    /// How many rows were dropped for a missing cell or label.
    pub dropped: u64,
}

impl ReadNotes {
    /// How many skipped rows are listed; the others are only counted.
    pub const LISTED: usize = 5;

    pub(crate) fn skip(&mut self, line: u64, reason: String) {
        self.skipped += 1;
        if self.first_skipped.len() < Self::LISTED {
            self.first_skipped.push(SkippedRow { line, reason });
        }
    }
}

/// Rows in the order of the source.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(crate) rows: BatchRows,
    /// Positions in [`RowStream::label_names`]; [`Batch::UNLABELLED`] where labels are not required.
    pub(crate) labels: Vec<u32>,
    /// The line of each row; its number for formats without lines.
    pub(crate) lines: Option<Vec<u64>>,
}

#[derive(Clone, Debug)]
pub(crate) enum BatchRows {
    Dense {
        columns: usize,
        values: Vec<f64>,
    },
    /// Columns exceed the true ones by [`RowStream::index_shift`], known at the end only.
    Sparse {
        offsets: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
}

impl Batch {
    /// The label of a row that has none.
    pub const UNLABELLED: u32 = u32::MAX;

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Row `i`; its columns exceed the true ones by [`RowStream::index_shift`].
    pub fn row(&self, i: usize) -> Row<'_> {
        match &self.rows {
            BatchRows::Dense { columns, values } => Row::DenseF64(&values[i * columns..(i + 1) * columns]),
            BatchRows::Sparse { offsets, indices, values } => {
                let range = offsets[i]..offsets[i + 1];
                Row::SparseF64(&indices[range.clone()], &values[range])
            }
        }
    }

    /// The label of row `i`, as a position in [`RowStream::label_names`].
    pub fn label(&self, i: usize) -> u32 {
        self.labels[i]
    }

    /// The line of row `i`; its number in the source, from 1, for formats without lines.
    pub fn line(&self, i: usize) -> Option<u64> {
        self.lines.as_ref().map(|lines| lines[i])
    }
}

/// The rows of a source, in batches.
pub struct RowStream {
    name: String,
    format: Format,
    counter: source::ByteCounter,
    /// The number of bytes in all, where that is known beforehand.
    length: Option<u64>,
    inner: Inner,
    /// How the file's features are matched with the model's, where that may surprise.
    remark: Option<String>,
}

enum Inner {
    Libsvm(libsvm::LibsvmReader),
    Csv(csv::CsvReader),
    Array(array::ArrayReader),
    Cache(Box<cache::CacheReader>),
}

impl RowStream {
    /// Opens a source: decompresses, detects the format, reads headers.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<Self, Error> {
        Self::open_with(source, options, false)
    }

    /// Opens a source; the columns of a table may be a guess from its first rows, see [`Self::is_guess`].
    fn open_with(source: &Source, options: &ReadOptions, guess: bool) -> Result<Self, Error> {
        let name = source.name();
        let located = |kind| ReadError { source_name: name.clone(), line: None, column: None, kind };
        let (input, counter) = source::open(source).map_err(located)?;
        let length = input.length();
        let format = match options.format {
            Some(format) => format,
            None => match detect::detect(input.head()) {
                // Who names a delimiter means a table.
                Err(ReadErrorKind::UnknownFormat) if options.delimiter.is_some() => Format::Csv,
                detected => detected.map_err(located)?,
            },
        };
        if format.is_text() && detect::has_old_line_ends(input.head()) {
            return Err(located(ReadErrorKind::OldLineEnds).into());
        }
        options.check(format)?;
        let remark = options.matching_remark(format);
        let inner = match format {
            Format::Libsvm => Inner::Libsvm(libsvm::LibsvmReader::new(name.clone(), input, options)),
            Format::Csv | Format::Tsv => {
                let mut options = options.clone();
                if format == Format::Tsv {
                    options.delimiter.get_or_insert(b'\t');
                }
                match csv::CsvReader::new(name.clone(), input, &options, guess) {
                    Ok(reader) => Inner::Csv(reader),
                    Err(ReadError { kind: ReadErrorKind::Misused(reason), .. }) => {
                        return Err(SettingsError::new("format", reason).into());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Format::Npy | Format::Npz => {
                Inner::Array(array::ArrayReader::new(name.clone(), input, format, options)?)
            }
            Format::Cache => {
                let cache = cache::Cache::of_source(source, &name, input).map_err(located)?;
                Inner::Cache(Box::new(cache::CacheReader::new(cache, options)?))
            }
        };
        Ok(Self { name, format, counter, length, inner, remark })
    }

    /// The next rows, or `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        match &mut self.inner {
            Inner::Libsvm(reader) => reader.next_batch(),
            Inner::Csv(reader) => reader.next_batch(),
            Inner::Array(reader) => reader.next_batch(),
            Inner::Cache(reader) => reader.next_batch(),
        }
        .map_err(Error::from)
    }

    /// Whether the columns are a guess from the first rows. If reading comes to its end, the guess was right.
    fn is_guess(&self) -> bool {
        matches!(&self.inner, Inner::Csv(reader) if reader.is_guess())
    }

    /// Class names in the order of their first row so far.
    pub fn label_names(&self) -> &[String] {
        match &self.inner {
            Inner::Libsvm(reader) => reader.label_names(),
            Inner::Csv(reader) => reader.label_names(),
            Inner::Array(reader) => reader.label_names(),
            Inner::Cache(reader) => reader.label_names(),
        }
    }

    /// How the columns came about: index base, names, categories. Complete once all rows were read.
    pub fn schema(&self) -> Schema {
        match &self.inner {
            Inner::Libsvm(reader) => reader.schema(),
            Inner::Csv(reader) => reader.schema(),
            Inner::Array(reader) => reader.schema(),
            Inner::Cache(reader) => reader.schema(),
        }
    }

    /// How the columns of the source itself came about, whatever model they are matched with.
    pub fn own_schema(&self) -> Schema {
        match &self.inner {
            Inner::Cache(reader) => reader.own_schema().clone(),
            _ => self.schema(),
        }
    }

    /// By how much the columns of sparse rows exceed the true ones: 1 for a LIBSVM file that counts from 1,
    /// unless that was said beforehand. Known once all rows were read.
    pub fn index_shift(&self) -> u32 {
        match &self.inner {
            Inner::Libsvm(reader) => reader.index_shift(),
            _ => 0,
        }
    }

    /// What was noticed. Complete once all rows were read.
    pub fn notes(&self) -> ReadNotes {
        let mut notes = match &self.inner {
            Inner::Libsvm(reader) => reader.notes(),
            Inner::Csv(reader) => reader.notes(),
            Inner::Array(reader) => reader.notes(),
            Inner::Cache(reader) => reader.notes(),
        };
        notes.remarks.extend(self.remark.clone());
        notes
    }

    /// The format, as given or detected.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The source's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes taken from the source so far, and in all where that is known.
    pub fn bytes(&self) -> (u64, Option<u64>) {
        self.counter.get()
    }

    /// How many rows and numbers will come, where that is known beforehand or can be told from the first batch.
    fn expected(&self, first: &Batch) -> Option<(usize, usize)> {
        // Room is made for a little more, so that the last rows find theirs.
        const MORE: f64 = 1.02;
        let text_bytes = match &self.inner {
            Inner::Array(reader) => return reader.expected(),
            Inner::Cache(reader) => return Some(reader.expected()),
            Inner::Libsvm(reader) => reader.text_bytes(),
            Inner::Csv(reader) => reader.text_bytes(),
        };
        let times = self.length? as f64 / text_bytes.max(1) as f64;
        let values = match &first.rows {
            BatchRows::Dense { values, .. } | BatchRows::Sparse { values, .. } => values.len(),
        };
        // A single row tells nothing of the others.
        let times = if first.len() < 2 { return None } else { times * MORE };
        Some(((first.len() as f64 * times) as usize, (values as f64 * times) as usize))
    }

    /// The error for a source that gave no rows.
    pub fn no_rows(&self) -> Error {
        let kind = match self.notes() {
            notes if notes.skipped + notes.dropped > 0 => {
                ReadErrorKind::AllSkipped(notes.skipped + notes.dropped)
            }
            _ => ReadErrorKind::Empty,
        };
        ReadError { source_name: self.name.clone(), line: None, column: None, kind }.into()
    }
}

/// A data set together with how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The rows and labels.
    pub dataset: Dataset,
    /// The format, as given or detected.
    pub format: Format,
    /// How the columns came about, for reading other files the same way.
    pub schema: Schema,
    /// What was noticed.
    pub notes: ReadNotes,
    /// How the columns of the source itself came about, whatever model they were matched with.
    pub own_schema: Schema,
    /// The fingerprint of the rows, where the source tells it.
    pub fingerprint: Option<String>,
}

/// Reads a whole source of labelled rows into memory.
pub fn read(source: &Source, options: &ReadOptions, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let options = ReadOptions { labels: Labels::Required, ..options.clone() };
    let mut stream = RowStream::open_with(source, &options, source.can_be_read_again())?;
    if let Inner::Cache(reader) = &stream.inner
        && let Some((cache, rows)) = reader.whole()
    {
        return Ok(cache.loaded(rows.clone()));
    }
    match collect(&mut stream, observer) {
        // A table of which a later row speaks against the first ones is read again, with all rows in view.
        Err(Error::Read(_)) if stream.is_guess() => {
            collect(&mut RowStream::open(source, &options)?, observer)
        }
        collected => collected,
    }
}

fn collect(stream: &mut RowStream, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let mut builder: Option<DatasetBuilder> = None;
    let mut rows = 0;
    while let Some(batch) = stream.next_batch()? {
        let builder = builder.get_or_insert_with(|| {
            let mut builder = DatasetBuilder::new(match batch.rows {
                BatchRows::Dense { columns, .. } => Layout::Dense { columns },
                BatchRows::Sparse { .. } => Layout::Sparse,
            });
            if let Some((rows, values)) = stream.expected(&batch) {
                builder.reserve(rows, values);
            }
            builder
        });
        builder.append(&batch)?;
        rows += batch.len() as u64;
        let (bytes, total) = stream.bytes();
        if observer.progress(&Progress::Reading { bytes, total, rows }).is_break() {
            return Err(Error::Interrupted);
        }
    }
    let Some(mut builder) = builder else { return Err(stream.no_rows()) };
    let schema = stream.schema();
    if stream.index_shift() == 1 {
        builder.shift_columns_down();
    }
    let names = stream.label_names().to_vec();
    builder.describe(schema.features(), names, schema.feature_names(), schema.index_base());
    let dataset = match builder.finish() {
        Err(DatasetError::Empty) => return Err(stream.no_rows()),
        finished => finished?,
    };
    let own_schema = stream.own_schema();
    Ok(Loaded {
        dataset,
        format: stream.format(),
        schema,
        notes: stream.notes(),
        own_schema,
        fingerprint: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBSVM: &[u8] = b"1 1:2\n-1 1:3\n";
    const CSV: &[u8] = b"x,y\n1,a\n2,b\n";

    fn open(bytes: &'static [u8], options: &ReadOptions) -> Result<RowStream, Error> {
        RowStream::open(&Source::Memory("rows", bytes), options)
    }

    #[test]
    fn options_without_effect_are_refused() {
        let default = ReadOptions::default;
        let some = |text: &str| Some(text.to_string());
        for (bytes, options, message) in [
            (
                LIBSVM,
                ReadOptions { label: some("y"), ..default() },
                "⟦label⟧ has no meaning for LIBSVM files",
            ),
            (LIBSVM, ReadOptions { ignore: vec!["1".into()], ..default() }, "⟦ignore⟧ has no"),
            (LIBSVM, ReadOptions { header: Some(false), ..default() }, "⟦header⟧ has no"),
            (LIBSVM, ReadOptions { delimiter: Some(b' '), ..default() }, "⟦delimiter⟧ has no"),
            (LIBSVM, ReadOptions { missing: Missing::Zero, ..default() }, "⟦missing⟧ has no"),
            (LIBSVM, ReadOptions { labels_file: Some("y".into()), ..default() }, "⟦labels⟧ has no"),
            (CSV, ReadOptions { index_base: Some(1), ..default() }, "⟦index_base⟧ has no meaning for CSV"),
            (CSV, ReadOptions { labels_file: Some("y".into()), ..default() }, "⟦labels⟧ has no"),
            (b"\x93NUMPY", ReadOptions { label: some("y"), ..default() }, "⟦label⟧ has no meaning for NumPy"),
            (
                CSV,
                ReadOptions { label: some("y"), ignore: vec!["2".into()], ..default() },
                "column \"y\" is named by ⟦label⟧ and by ⟦ignore⟧",
            ),
        ] {
            match open(bytes, &options).map(|_| ()) {
                Err(Error::Settings(error)) => assert!(error.problem.starts_with(message), "{error}"),
                other => panic!("{message}: {other:?}"),
            }
        }
        let options = ReadOptions { format: Some(Format::Tsv), ..default() };
        assert!(open(b"1\ta\n2\tb\n", &options).is_ok());
    }

    #[test]
    fn old_line_ends_are_called_by_their_name() {
        for format in [None, Some(Format::Csv), Some(Format::Libsvm)] {
            let options = ReadOptions { format, ..ReadOptions::default() };
            let error = open(b"1,a\r2,b\r3,a\r", &options).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("carriage returns"), "{error}");
        }
    }

    #[test]
    fn a_late_word_makes_a_column_words_however_the_file_is_read() {
        use std::fmt::Write;
        static TEXT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
            let mut text = String::from("x,z,y\n");
            for i in 0..60_000 {
                let _ = writeln!(text, "{},{}.5,{}", i % 7, i % 9, i % 2);
            }
            text + "late,1,0\n"
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TEXT.as_bytes()).unwrap();
        let stream = Source::Custom("stream", || Ok(Box::new(TEXT.as_bytes())));
        let mut loaded = Vec::new();
        for source in
            [Source::File(file.path().to_path_buf()), Source::Memory("rows", TEXT.as_bytes()), stream]
        {
            for skip_bad in [false, true] {
                let options = ReadOptions { skip_bad, ..ReadOptions::default() };
                let Loaded { dataset, schema, notes, .. } = read(&source, &options, &mut ()).unwrap();
                loaded.push((dataset.fingerprint().to_string(), schema, notes.remarks, notes.skipped));
            }
        }
        let (_, schema, remarks, _) = &loaded[0];
        assert_eq!(schema.feature_names().unwrap()[7..], ["x=6", "x=late"]);
        assert!(
            remarks[0].contains("60,000 of its 60,001 cells are numbers, but not \"late\" on line 60002"),
            "{remarks:?}"
        );
        assert!(loaded.iter().all(|other| *other == loaded[0]));
    }

    #[test]
    fn matching_by_number_is_remarked_on() {
        let schema = read(&Source::Memory("rows", CSV), &ReadOptions::default(), &mut ()).unwrap().schema;
        let options = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
        let notes = open(LIBSVM, &options).unwrap().notes();
        assert!(notes.remarks.iter().any(|remark| remark.contains("matched by number")), "{notes:?}");
        assert!(open(CSV, &options).unwrap().notes().remarks.is_empty());
    }
}

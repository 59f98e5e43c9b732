//! The rows of any source, in batches.

use super::csv::RowsSoFar;
use super::error::{ReadError, ReadErrorKind};
use super::formats::{self, Format};
use super::input::BYTE_ORDER_MARK;
use super::reader::{Expected, Opening, RecordReader};
use super::second_file::SecondFile;
use super::source::{self, ByteCounter, FileStamp, Input};
use super::{Labels, Loaded, ReadNotes, ReadOptions, Schema, Source};
use super::{csv, encoding, folder};
use crate::dataset::{Batch, BatchRows};
use crate::observe::Progress;
use crate::{Error, SettingsError};
use std::path::Path;

/// An error if the file is no longer what it was when it was opened.
fn changed(name: &str, stamp: Option<&FileStamp>) -> Result<(), ReadError> {
    stamp.map_or(Ok(()), FileStamp::check).map_err(|kind| ReadError::whole(name, kind))
}

/// The rows of a source, in batches.
pub struct RowStream {
    name: String,
    format: Format,
    counter: ByteCounter,
    /// The number of bytes in all, where that is known beforehand.
    length: Option<u64>,
    reader: Box<dyn RecordReader>,
    /// The encoding, and how the file's features are matched with the model's, where that may surprise.
    remarks: Vec<String>,
    /// The file as it was when it was opened.
    stamp: Option<FileStamp>,
    /// The limits that it was opened with.
    limits: ReadOptions,
    /// Whether a mark at the beginning says that it is UTF-8.
    is_marked: bool,
}

/// Whether a file is a document, by its name and by the model that it is read for: one of documents takes every file for one
/// whose name does not say otherwise.
fn is_document(path: &Path, model: Option<&Schema>) -> bool {
    match source::format_by_name(path) {
        Some(format) => Some(format) == Format::of_documents(),
        None => model.is_some_and(|schema| schema.texts().any(|(_, text)| text.documents)),
    }
}

impl RowStream {
    /// Opens a source: decompresses, detects the format, reads headers.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<Self, Error> {
        Self::open_with(source, options, false)
    }

    /// Opens a source; the columns of a table may be a guess from its first rows, see [`Self::is_guess`].
    pub(super) fn open_with(source: &Source, options: &ReadOptions, guess: bool) -> Result<Self, Error> {
        Self::open_source(source, options, guess).map_err(|error| match error {
            Error::Read(error) => options.explained(error).into(),
            error => error,
        })
    }

    fn open_source(source: &Source, options: &ReadOptions, guess: bool) -> Result<Self, Error> {
        let name = source.name();
        let located = |kind| ReadError::whole(&name, kind);
        if let Some(folder) = source.path().filter(|path| path.is_dir()) {
            return Self::open_folder(source, folder, options);
        }
        let documents = Format::of_documents();
        if let (Some(documents), Some(path)) = (documents, source.path()) {
            let named = options
                .format
                .map_or(is_document(path, options.schema.as_ref()), |format| format == documents);
            if named && path.is_file() {
                return Self::open_files(source, documents, options);
            }
        }
        let (mut input, counter) = source::open(source).map_err(located)?;
        let (length, stamp) = (input.length(), input.stamp());
        let mut remarks = Vec::new();
        let limit = options.line_limit();
        let is_marked = input.head().starts_with(BYTE_ORDER_MARK);
        let is_lines = options.format.is_none_or(|format| format.is_text());
        // Blank lines say nothing about the encoding. In some their bytes are others.
        if is_lines && options.encoding.is_none() && !input.head().contains(&0) {
            input.drop_blank_lines(limit).map_err(located)?;
        }
        // Blank lines that were passed over may have taken the mark with them.
        if options.format.is_none_or(Format::is_text) && !(is_marked && options.encoding.is_none()) {
            let (text, remark) = encoding::to_utf8(input, options.encoding.as_deref()).map_err(located)?;
            input = text;
            remarks.extend(remark);
        }
        if is_lines {
            input.drop_blank_lines(limit).map_err(located)?;
        }
        let named = || source.path().and_then(source::format_by_name);
        let has_texts = options.schema.as_ref().is_some_and(|schema| schema.texts().next().is_some());
        let format = match options.format {
            Some(format) => format,
            // The text of a table may look as if something else divided its cells.
            None if has_texts && options.csv.delimiter.is_none() && named() == Some(Format::TSV) => {
                Format::TSV
            }
            // Rows with labels of another kind may look like a table divided by bars, and rows without bars like anything.
            None if named() == Some(Format::VW) => Format::VW,
            None => match formats::detect_in(&mut input, limit) {
                // Who names a delimiter means a table.
                Err(ReadErrorKind::UnknownFormat)
                    if options.csv.delimiter.is_some() || csv::has_spaced_columns(input.head(), options) =>
                {
                    Format::CSV
                }
                // A model of nothing but texts takes the lines of a table for texts, and a file that is nothing else for one.
                Err(ReadErrorKind::UnknownFormat)
                    if options.schema.as_ref().is_some_and(Schema::is_text_alone)
                        && named().is_some_and(|format| format == Format::CSV) =>
                {
                    Format::CSV
                }
                Err(unknown @ ReadErrorKind::UnknownFormat)
                    if options.schema.as_ref().is_some_and(Schema::is_text_alone)
                        && source.path().is_some_and(Path::is_file) =>
                {
                    let documents = documents.ok_or_else(|| located(unknown))?;
                    return Self::open_files(source, documents, options);
                }
                detected => detected.map_err(located)?,
            },
        };
        if format.is_text() && formats::has_old_line_ends(input.head()) {
            return Err(located(ReadErrorKind::OldLineEnds).into());
        }
        options.check(format)?;
        options.check_model(format).map_err(located)?;
        remarks.extend(options.matching_remark(format));
        // The labels of a text lie in its rows, unless a second file has them.
        let apart = options.array.labels_file.as_deref().filter(|_| format.is_text());
        let unlabelled;
        let own = match apart {
            Some(_) => {
                unlabelled = ReadOptions { labels: Labels::Ignored, ..options.clone() };
                &unlabelled
            }
            None => options,
        };
        let opening = Opening { name: name.clone(), source, input, format, options: own, guess };
        let mut reader =
            (format.descriptor().open)(opening).map_err(|error| match changed(&name, stamp.as_ref()) {
                Err(change) => change.into(),
                Ok(()) => error,
            })?;
        if let Some(labels) = apart {
            reader = Box::new(SecondFile::new(reader, name.clone(), labels, options)?);
        }
        Ok(Self {
            name,
            format,
            counter,
            length,
            reader,
            remarks,
            stamp,
            limits: options.limits(),
            is_marked,
        })
    }

    /// Opens a folder of files: one sub-folder for each class.
    fn open_folder(source: &Source, folder: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let name = source.name();
        let located = |kind| ReadError::whole(&name, kind);
        let format = match options.format {
            Some(format) if format.is_of_folders() => format,
            Some(format) => {
                let problem = format!("{name} is a folder, and {} data is one file", format.title());
                return Err(SettingsError::new("format", problem).into());
            }
            None => {
                let head = folder::first_bytes(folder);
                formats::of_folder(&head).ok_or_else(|| located(ReadErrorKind::UnknownFormat))?
            }
        };
        Self::open_files(source, format, options)
    }

    /// Opens files that are read whole: those of a folder, or one.
    fn open_files(source: &Source, format: Format, options: &ReadOptions) -> Result<Self, Error> {
        let name = source.name();
        options.check(format)?;
        let input = Input::of_text(Vec::new());
        let opening = Opening { name: name.clone(), source, input, format, options, guess: false };
        let reader = (format.descriptor().open)(opening)?;
        let counter = ByteCounter::default();
        let (remarks, limits) = (Vec::new(), options.limits());
        Ok(Self {
            name,
            format,
            counter,
            length: None,
            reader,
            remarks,
            stamp: None,
            limits,
            is_marked: false,
        })
    }

    /// Whether a mark at the beginning says that it is UTF-8: then bytes that are not are no sign of another encoding.
    pub(super) fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// The next rows, or `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        let batch = self.reader.next_batch();
        // What is wrong with a row of a file that is being written to is not the row's fault.
        if !matches!(batch, Ok(Some(_))) {
            changed(&self.name, self.stamp.as_ref())?;
        }
        batch.map_err(|error| self.limits.explained(error).into())
    }

    /// An error if another stream of the same source, opened later, reads another file.
    pub(super) fn check_same(&self, later: &Self) -> Result<(), ReadError> {
        match (&self.stamp, &later.stamp) {
            (Some(first), Some(second)) => {
                first.check_same(second).map_err(|kind| ReadError::whole(&self.name, kind))
            }
            _ => Ok(()),
        }
    }

    /// Whether the columns are a guess from the first rows. If reading comes to its end, the guess was right.
    pub(super) fn is_guess(&self) -> bool {
        self.reader.is_guess()
    }

    /// All rows at once, where they lie ready.
    pub(super) fn whole(&self) -> Option<Loaded> {
        self.reader.whole()
    }

    /// Class names in the order of their first row so far.
    pub fn label_names(&self) -> &[String] {
        self.reader.label_names()
    }

    /// How the columns become features: index base, names, categories. Complete once all rows were read.
    pub fn schema(&self) -> Schema {
        self.reader.schema()
    }

    /// How the columns of the source itself become features, whatever model they are matched with.
    pub fn own_schema(&self) -> Schema {
        self.reader.own_schema()
    }

    /// By how much the columns of sparse rows exceed the true ones: 1 for a LIBSVM file that counts from 1,
    /// unless that was said beforehand. Known once all rows were read.
    pub fn index_shift(&self) -> u32 {
        self.reader.index_shift()
    }

    /// Notes made while reading. Complete once all rows were read.
    pub fn notes(&self) -> ReadNotes {
        let mut notes = self.reader.notes();
        notes.remarks.splice(0..0, self.remarks.iter().cloned());
        notes
    }

    /// What was met in the rows of a table, so that a stream of its further rows can go on from there.
    pub(crate) fn so_far(&self) -> Option<RowsSoFar> {
        self.reader.so_far()
    }

    /// Goes on from what was met in rows of the same table, which come so many lines before.
    pub(crate) fn go_on(&mut self, before: RowsSoFar, lines: u64) {
        self.reader.go_on(before, lines);
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

    /// How far it is, after so many rows.
    pub fn progress(&self, rows: u64) -> Progress {
        match self.reader.files() {
            Some((files, total)) => Progress::Files { files, total, rows },
            None => {
                let (bytes, total) = self.bytes();
                Progress::Reading { bytes, total, rows }
            }
        }
    }

    /// The file of a row of the last batch, where rows come from many files.
    pub fn row_name(&self, row: usize) -> Option<&Path> {
        self.reader.row_name(row)
    }

    /// The number of a row of the last batch within its file, from 1, where rows come from files of many, such as mbox files.
    pub fn row_number(&self, row: usize) -> Option<u64> {
        self.reader.row_number(row)
    }

    /// How many rows and numbers will come, where that is known beforehand or can be estimated from the first batch.
    pub(super) fn expected(&self, first: &Batch) -> Option<(usize, usize)> {
        // Room is made for a little more, so that the last rows find theirs.
        const MORE: f64 = 1.02;
        let text_bytes = match self.reader.expected() {
            Expected::Unknown => return None,
            Expected::Rows(rows, values) => return Some((rows, values)),
            Expected::FromText(bytes) => bytes,
        };
        let times = self.length? as f64 / text_bytes.max(1) as f64;
        let values = match &first.rows {
            BatchRows::Dense { values, .. } | BatchRows::Sparse { values, .. } => values.len(),
        };
        // A single row is no basis for an estimate.
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
        ReadError::whole(&self.name, kind).into()
    }
}

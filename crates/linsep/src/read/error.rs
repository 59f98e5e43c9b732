//! Errors in data files, with their places.

use super::cache::CacheFault;
use super::foreign::ForeignFile;
use super::formats::FORMATS;
use crate::classes::is_hidden;
use crate::features::PictureForm;
use crate::memory::amount;
use crate::numbers::{counted, grouped};
use std::fmt;
use std::sync::LazyLock;

/// A malformed data file: where, what was found, and what to do about it.
#[derive(Debug)]
pub struct ReadError {
    /// The file, or `standard input`.
    pub source_name: String,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Byte in the line, counted from 1.
    pub column: Option<u64>,
    /// The problem.
    pub kind: ReadErrorKind,
}

impl ReadError {
    /// An error of a source as a whole.
    pub(crate) fn whole(source_name: &str, kind: ReadErrorKind) -> Self {
        Self { source_name: source_name.to_string(), line: None, column: None, kind }
    }
}

/// The problem with a data file.
#[derive(Debug, thiserror::Error)]
pub enum ReadErrorKind {
    /// The file could not be opened or read.
    #[error("cannot read: {0}")]
    Io(std::io::Error),
    /// A line without end, or nearly so.
    #[error("this line is longer than {} bytes", grouped(*.limit))]
    LongLine {
        /// The longest line accepted, in bytes.
        limit: u64,
    },
    /// The same, where the memory that the job may use sets the limit.
    #[error("{problem}, and longer lines do not fit into a memory limit of {}", amount(*.memory))]
    LineForMemory {
        /// The problem.
        problem: String,
        /// The memory that the job may use, in bytes.
        memory: u64,
    },
    /// Nothing for too long.
    #[error("the first {} bytes hold only blank lines and comments", grouped(*.bytes))]
    LateStart {
        /// How much was looked at.
        bytes: u64,
    },
    /// The file is no longer the one that was opened.
    #[error("the file was changed while it was read: {0}")]
    Changed(String),
    /// A file of a folder that is larger than accepted.
    #[error("the file is larger than {} bytes", grouped(*.limit))]
    LargeFile {
        /// The largest file accepted, in bytes.
        limit: u64,
    },
    /// A folder of a class without files.
    #[error("this folder of a class has no files")]
    EmptyClass,
    /// A folder that is not divided into classes.
    #[error("this folder has no sub-folders, one for each class{}", if *.files == 0 { String::new() } else { format!(": it has {}", counted(*.files, "file", "files")) })]
    NoClassFolders {
        /// Files that lie in it.
        files: u64,
    },
    /// One text, mail or picture, where rows with labels are needed.
    #[error("this is one file without a label: the labels of such files are the names of their folders")]
    NoClass,
    /// A pipe, a socket or a device, where a file is needed.
    #[error("this is {0}, and no file")]
    NoFile(&'static str),
    /// A folder that links lead to again and again.
    #[error("links lead to this folder more than {limit} times, and all its files would be read each time")]
    FolderAgain {
        /// How often a folder is read.
        limit: usize,
    },
    /// A folder that contains itself, by a link, or lies too deep.
    #[error("this folder contains itself, by a link, or lies too deep")]
    FolderLoop,
    /// A file that is no document.
    #[error("this is not a text: {0}")]
    NotAText(String),
    /// Nothing in it.
    #[error("no rows: the file is empty, or has only blank lines and comments")]
    Empty,
    /// Every row was malformed and skipped.
    #[error("no rows left: {}", if *.0 == 1 { "the only row was skipped".into() } else { format!("all {} rows were skipped", .0) })]
    AllSkipped(u64),
    /// Bytes that no text file holds.
    #[error("this is not text: found byte 0x{0:02x}")]
    Binary(u8),
    /// A file of another kind.
    #[error("this is {}, which linsep does not read", .0.name)]
    Foreign(&'static ForeignFile),
    /// A compression that is not supported.
    #[error("the file is compressed with {0}, which is not supported")]
    Compression(&'static str),
    /// The content looks like none of the formats.
    #[error("the format cannot be determined from the content")]
    UnknownFormat,
    /// Lines that end in a carriage return alone.
    #[error("the lines end in carriage returns (\\r) without line feeds, as on old Macs")]
    OldLineEnds,
    /// A row that begins with a feature.
    #[error("the label is missing: the row begins with \"{found}\"")]
    MissingLabel {
        /// The first token.
        found: String,
    },
    /// A label that is no class.
    #[error("the label \"{found}\" is missing or not finite")]
    BadLabel {
        /// The label as written.
        found: String,
    },
    /// A token that is not `index:value`.
    #[error("expected index:value, found \"{found}\"")]
    NotAPair {
        /// The token.
        found: String,
    },
    /// A feature index that is not a whole number, or beyond what is accepted.
    #[error("the feature index \"{found}\" is not a whole number from 0 to {limit}")]
    BadIndex {
        /// The index as written.
        found: String,
        /// The largest index accepted.
        limit: u32,
    },
    /// Index 0 where counting starts at 1.
    #[error("feature index 0 in a file whose indices count from 1")]
    IndexZero,
    /// The same index twice in a row.
    #[error("feature index {index} occurs twice in this row")]
    RepeatedIndex {
        /// The index.
        index: u32,
    },
    /// An index below the one before it.
    #[error("feature index {index} comes after {previous}: indices must increase")]
    FallingIndex {
        /// The index.
        index: u32,
        /// The one before it.
        previous: u32,
    },
    /// A feature without a value.
    #[error("feature {index} has no value")]
    NoValue {
        /// The index.
        index: u32,
    },
    /// A value that is not a number.
    #[error("the value \"{found}\" is not a number")]
    NotANumber {
        /// The value as written.
        found: String,
    },
    /// A value that is NaN or infinite.
    #[error("the value \"{found}\" is not finite")]
    NotFinite {
        /// The value as written.
        found: String,
    },
    /// A weight that no row can have.
    #[error("the weight {found} is neither 0 nor a number from 1e-100 to 1e100")]
    BadWeight {
        /// The weight as written.
        found: String,
    },
    /// A number that the stored type cannot hold without changing it.
    #[error("the number {found} cannot be stored without loss")]
    Lossy {
        /// The number as written.
        found: String,
    },
    /// A quoted CSV field without its closing quote.
    #[error("the quote that opens here is never closed")]
    UnterminatedQuote,
    /// Text directly after a closing quote.
    #[error("unexpected text after the closing quote: \"{found}\"")]
    AfterQuote {
        /// What follows the quote.
        found: String,
    },
    /// A CSV row with the wrong number of fields.
    #[error("this row has {found} {} where {expected} {} expected", plural(*found, "field", "fields"), plural(*expected, "is", "are"))]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields in the rows before it.
        expected: usize,
    },
    /// A CSV cell without a value.
    #[error("the cell in column \"{column}\" is missing (found \"{found}\")")]
    MissingCell {
        /// The column's name, or its number where there is no header.
        column: String,
        /// What the cell holds.
        found: String,
    },
    /// A CSV cell without a value, for which the model has none to fill in.
    #[error(
        "the cell in column \"{column}\" is missing (found \"{found}\"), and the model has no value for it"
    )]
    MissingForModel {
        /// The column's name, or its number where there is no header.
        column: String,
        /// What the cell holds.
        found: String,
    },
    /// The column of the labels is empty in most rows.
    #[error("the label, in the last column, is empty here and in most rows: do the rows end in a delimiter?")]
    TrailingDelimiter,
    /// Options that contradict each other or the file.
    #[error("{0}")]
    Misused(String),
    /// Something else than what the model was trained on.
    #[error("{0}")]
    NotForModel(String),
    /// A column that was asked for but is not there.
    #[error("there is no column \"{column}\"; the columns are {columns}")]
    NoSuchColumn {
        /// The column asked for.
        column: String,
        /// The columns that exist, shortened.
        columns: String,
    },
    /// A column of the model that the file does not have.
    #[error("there is no column \"{column}\", which the model was trained with; the columns are {columns}")]
    NoModelColumn {
        /// The column of the model.
        column: String,
        /// The columns that exist, shortened.
        columns: String,
    },
    /// A word in a column of numbers, where the columns were settled before.
    #[error("the word \"{found}\" in column \"{column}\", which holds numbers")]
    WordAmongNumbers {
        /// The column.
        column: String,
        /// The cell.
        found: String,
    },
    /// A row that is not what its format says.
    #[error("{0}")]
    BadRow(String),
    /// A row for Vowpal Wabbit without a bar.
    #[error("there is no bar before the features, in \"{found}\"")]
    NoBar {
        /// The row.
        found: String,
    },
    /// A column that comes up after the columns were settled.
    #[error("the column \"{column}\" is new here: the rows before it do not have it")]
    LateColumn {
        /// The column.
        column: String,
    },
    /// A column without a single value.
    #[error("column \"{column}\" has no values at all")]
    EmptyColumn {
        /// The column.
        column: String,
    },
    /// Rows that no delimiter divides.
    #[error("no delimiter found: none of comma, tab, semicolon and bar divides the rows evenly")]
    NoDelimiter,
    /// A delimiter that text cannot be divided by.
    #[error("{0:?} cannot be a delimiter")]
    BadDelimiter(char),
    /// Nothing to learn from.
    #[error("there is no column besides the label to learn from")]
    NoFeatures,
    /// More features than accepted.
    #[error("more than {limit} {}", plural(*limit as usize, "feature", "features"))]
    TooManyFeatures {
        /// The largest number accepted.
        limit: u32,
    },
    /// A first line of very many cells that are hardly there.
    #[error(
        "{} cells in {} bytes: at most {} are read that are as short as that",
        grouped(*.columns as u64), grouped(*.bytes as u64), grouped(*.limit as u64)
    )]
    EmptyColumns {
        /// The cells of the line.
        columns: usize,
        /// Its bytes.
        bytes: usize,
        /// The most cells accepted.
        limit: usize,
    },
    /// Far more features than values: the weights alone would fill the memory.
    #[error(
        "{} features, but the rows have only {} that {} not 0: at most {} features are read for so few",
        grouped(*.features), counted(*.values, "value", "values"), plural(*.values as usize, "is", "are"), grouped(*.limit)
    )]
    FewValues {
        /// The features.
        features: u64,
        /// Values that are not 0.
        values: u64,
        /// The most features accepted.
        limit: u64,
    },
    /// More classes than accepted.
    #[error("more than {} {}", grouped(*.limit as u64), plural(*.limit, "class", "classes"))]
    TooManyClasses {
        /// The largest number accepted.
        limit: usize,
    },
    /// A text that is not what the mark at its beginning says.
    #[error(transparent)]
    NotAsMarked(#[from] NotAsMarked),
    /// Rows that name few of very many columns.
    #[error(
        "{} name {}, and {} columns make that a table of {} cells, of which at most {} are accepted for so few",
        counted(*.rows, "row", "rows"), counted(*.named, "cell", "cells"), grouped(*.columns), grouped(*.cells), grouped(*.limit)
    )]
    SparseTable {
        /// Rows so far.
        rows: u64,
        /// Columns of the table.
        columns: u64,
        /// Cells that the file names.
        named: u64,
        /// Cells of the table so far.
        cells: u64,
        /// The most cells accepted.
        limit: u64,
    },
    /// A cell that is not text.
    #[error("the cell in column \"{column}\" is not UTF-8 text")]
    NotUtf8 {
        /// The column's name, or its number where there is no header.
        column: String,
    },
    /// The mean is asked for while rows are read only once.
    #[error("the mean of a column needs all rows, but the rows are read once")]
    MeanInOnePass,
    /// A table whose columns cannot be those of the model.
    #[error("the rows have {found} {} where the model needs {expected}", plural(*found, "column", "columns"))]
    ColumnCount {
        /// Columns in this file.
        found: usize,
        /// Columns that fit, in words.
        expected: String,
    },
    /// A picture that cannot be decoded.
    #[error("{0}")]
    BadPicture(String),
    /// Pictures of another size than those of the model.
    #[error("these are pictures of {found}, and the model was trained with {expected}")]
    PictureForm {
        /// What is in the file.
        found: PictureForm,
        /// What the model knows.
        expected: PictureForm,
    },
    /// A file whose table cannot be read, because it is damaged or too large.
    #[error("{0}")]
    Damaged(String),
    /// A column of values that are neither numbers nor words.
    #[error("column \"{column}\" holds {holds}, which are neither numbers nor words")]
    UnreadableColumn {
        /// The column.
        column: String,
        /// What it holds, in words.
        holds: &'static str,
    },
    /// An array file that does not hold what is needed.
    #[error("{0}")]
    Array(String),
    /// A cache that cannot be used.
    #[error(transparent)]
    Cache(#[from] super::cache::CacheFault),
}

/// What has no meaning in the encoding that the mark at the beginning of a text says it is in.
#[derive(Debug, thiserror::Error)]
#[error(
    "line {line}, character {column} is not {encoding}, which the mark at the beginning of the text says it is"
)]
pub struct NotAsMarked {
    /// The encoding.
    pub encoding: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
}

/// A line that is too long, on its way through a reader of bytes.
#[derive(Debug, thiserror::Error)]
#[error("a line is longer than {limit} bytes")]
pub(crate) struct LongLine {
    pub(crate) limit: u64,
    /// Lines before it since the last that were counted.
    pub(crate) lines_before: u64,
}

impl LongLine {
    /// How many lines come before the one at fault, if that is what the error is about.
    pub(crate) fn lines_before(error: &std::io::Error) -> Option<u64> {
        Some(error.get_ref()?.downcast_ref::<Self>()?.lines_before)
    }
}

/// The problem with a row, on its way through a reader of bytes that makes CSV of another format.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub(crate) struct RowFailure {
    pub(crate) line: u64,
    /// Byte in the line, from 1; 0 if there is none.
    pub(crate) column: u64,
    pub(crate) kind: ReadErrorKind,
}

impl RowFailure {
    /// The failure, if that is what the error is about.
    pub(crate) fn of(error: std::io::Error) -> Result<Self, std::io::Error> {
        error.downcast::<Self>()
    }
}

impl From<RowFailure> for std::io::Error {
    fn from(failure: RowFailure) -> Self {
        std::io::Error::other(failure)
    }
}

impl From<LongLine> for std::io::Error {
    fn from(line: LongLine) -> Self {
        std::io::Error::other(line)
    }
}

impl From<std::io::Error> for ReadErrorKind {
    fn from(error: std::io::Error) -> Self {
        let error = match error.downcast::<LongLine>() {
            Ok(LongLine { limit, .. }) => return ReadErrorKind::LongLine { limit },
            Err(error) => error,
        };
        let error = match error.downcast::<NotAsMarked>() {
            Ok(failure) => return ReadErrorKind::NotAsMarked(failure),
            Err(error) => error,
        };
        RowFailure::of(error).map_or_else(ReadErrorKind::Io, |failure| failure.kind)
    }
}

impl ReadErrorKind {
    /// Whether one row is at fault, so that skipping it can help.
    pub fn is_row(&self) -> bool {
        use ReadErrorKind::*;
        !matches!(
            self,
            Io(_)
                | NotAsMarked(_)
                | LongLine { .. }
                | LineForMemory { .. }
                | LateStart { .. }
                | TooManyClasses { .. }
                | Changed(_)
                | Empty
                | NoClassFolders { .. }
                | NoClass
                | AllSkipped(_)
                | Binary(_)
                | Foreign(_)
                | Compression(_)
                | UnknownFormat
                | OldLineEnds
                | Misused(_)
                | NotForModel(_)
                | UnterminatedQuote
                | NoSuchColumn { .. }
                | NoModelColumn { .. }
                | LateColumn { .. }
                | EmptyColumn { .. }
                | NoDelimiter
                | BadDelimiter(_)
                | NoFeatures
                | TooManyFeatures { .. }
                | FewValues { .. }
                | EmptyColumns { .. }
                | SparseTable { .. }
                | MeanInOnePass
                | ColumnCount { .. }
                | PictureForm { .. }
                | Damaged(_)
                | UnreadableColumn { .. }
                | Array(_)
                | Cache(_)
        )
    }

    /// Advice for the user; empty where the message says so already.
    pub fn help(&self) -> &'static str {
        use ReadErrorKind::*;
        match self {
            Io(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                "more memory is needed than there is: give fewer rows, or leave them in their file with ⟦memory⟧"
            }
            Io(_) => "check the path, the permissions and that the file is whole",
            LongLine { .. } => {
                "check that the file is text with one row on each line, or raise the limit with ⟦max_line⟧"
            }
            LineForMemory { .. } => {
                "check that the file is text with one row on each line, or raise the limit with ⟦memory⟧"
            }
            LateStart { .. } => "remove them, or look further with ⟦max_line⟧",
            TooManyClasses { .. } => {
                "if the label is a measurement or a name, choose another column with ⟦label⟧; otherwise raise the limit with \
                 ⟦max_classes⟧"
            }
            Changed(_) => "wait until nothing writes to the file any more, and start again",
            LargeFile { .. } => "raise the limit with ⟦max_file⟧, or skip such files with ⟦skip_bad⟧",
            EmptyClass => "put the files of the class into it, remove it, or leave it out with ⟦skip_bad⟧",
            NoClassFolders { .. } => {
                "put the files of each class into a sub-folder with the name of the class; predict takes folders without them"
            }
            NoClass => {
                "give a folder that has one sub-folder for each class, with the files of the class in it"
            }
            FolderLoop | FolderAgain { .. } => "remove the link, or leave it out with ⟦skip_bad⟧",
            NoFile(_) => "remove it from the folder, or leave it out with ⟦skip_bad⟧",
            NotAText(_) => "remove the file, or skip such files with ⟦skip_bad⟧",
            Empty | AllSkipped(_) => {
                "give a file with at least one row; for training, at least one of each class"
            }
            Binary(_) => &BINARY_HELP,
            Foreign(kind) => kind.help,
            Compression("gzip" | "Zstandard") => {
                "decompress it, or use a linsep that was built with its feature `compression`"
            }
            Compression(_) => {
                "decompress it; one file can be piped in, because linsep reads standard input as -, and files in a folder can be skipped \
                 with ⟦skip_bad⟧"
            }
            UnknownFormat => &FORMAT_HELP,
            OldLineEnds => "convert the line ends, for example with: tr '\\r' '\\n' < FILE > NEW",
            MissingLabel { .. } => "begin each row with its label, or skip such rows with ⟦skip_bad⟧",
            BadLabel { .. } => "give the row a label, or skip such rows with ⟦skip_bad⟧",
            IndexZero => "count all indices from 1, or use ⟦index_base=0⟧",
            BadIndex { .. } => "correct the index, or raise the limit with ⟦max_features⟧",
            NotFinite { .. } | Lossy { .. } => {
                "linsep learns from finite numbers only: correct the value, or use ⟦skip_bad⟧"
            }
            BadWeight { .. } => "give each row a weight of 0 or more: how often it counts",
            NotAPair { .. }
            | RepeatedIndex { .. }
            | FallingIndex { .. }
            | NoValue { .. }
            | NotANumber { .. } => "correct the row, or skip malformed rows with ⟦skip_bad⟧",
            UnterminatedQuote => "close the quote, or double a quote that is part of the text",
            AfterQuote { .. } => "put the whole field in quotes and double each quote inside it",
            Ragged { .. } => {
                "correct the row, or leave it out with ⟦skip_bad⟧ if it is a remark and not part of the table; ⟦delimiter⟧ names \
                 another delimiter"
            }
            MissingCell { .. } => {
                "fill it in, or choose ⟦missing=mean⟧, ⟦missing=auto⟧, ⟦missing=zero⟧ or \
                 ⟦missing=drop-row⟧; if it is a word, ⟦na⟧ lists the words that mark a missing cell"
            }
            MissingForModel { .. } => {
                "fill it in, or choose ⟦missing=zero⟧ or ⟦missing=drop-row⟧; only a model trained with \
                 ⟦missing=auto⟧ or mean has stored the means"
            }
            TrailingDelimiter => {
                "remove the delimiter at the end of the rows, or name the label's column with ⟦label⟧ and leave the \
                 last one out with ⟦ignore⟧"
            }
            NotForModel(_) => "give files of the kind that the model was trained on, or another model",
            // The message names the options, and what to do about them.
            Misused(_) => "",
            NoModelColumn { .. } => "give all columns that the model was trained with, under the same names",
            NoSuchColumn { .. } => "name a column as the header spells it, or by its number from 1",
            WordAmongNumbers { .. } => {
                "correct the cell, declare the type of the column with ⟦column⟧, or use ⟦skip_bad⟧"
            }
            BadRow(_) => "correct the row, or skip malformed rows with ⟦skip_bad⟧",
            NoBar { .. } => {
                "put a bar before the features (1 | price:2); a row without features ends in a bar (1 |). If this is no text for Vowpal \
                 Wabbit, name its format with ⟦format⟧; ⟦skip_bad⟧ skips such rows"
            }
            LateColumn { .. } => {
                "give the first rows all columns (null where there is no value), or convert the file first, with linsep convert"
            }
            EmptyColumn { .. } => "leave the column out with ⟦ignore⟧",
            NoDelimiter => "name the delimiter with ⟦delimiter⟧, or the format with ⟦format⟧",
            BadDelimiter(_) => "give one character, such as ⟦delimiter=','⟧ or ⟦delimiter=tab⟧",
            NoFeatures => "check the delimiter and the columns named by ⟦label⟧ and ⟦ignore⟧",
            TooManyFeatures { .. } => {
                "leave columns out with ⟦ignore⟧, or raise the limit with ⟦max_features⟧"
            }
            NotAsMarked(_) => {
                "correct the text there, or name an encoding, such as ⟦encoding=utf-16le⟧, in which such characters become �"
            }
            EmptyColumns { .. } => "check the delimiter, or set the limit with ⟦max_features⟧",
            FewValues { .. } => "correct the indices, or set the limit with ⟦max_features⟧",
            SparseTable { .. } => {
                "give the rows as LIBSVM text, where a row is its label and the index:value of what it has, or remove the columns that \
                 hardly any row has"
            }
            NotUtf8 { .. } if !cfg!(feature = "encodings") => {
                "convert it to UTF-8, or use a linsep that was built with its feature `encodings`"
            }
            NotUtf8 { .. } => {
                "name the encoding, such as ⟦encoding=windows-1252⟧, or skip such rows with ⟦skip_bad⟧"
            }
            MeanInOnePass => {
                "choose ⟦missing=zero⟧ or ⟦missing=drop-row⟧, or make a .linsep file of it first, with linsep convert"
            }
            ColumnCount { .. } => "give the columns that the model was trained with, in the same order",
            Damaged(_) => {
                "check that the file is whole, make it anew with the program that it comes from, or write the table as CSV"
            }
            UnreadableColumn { .. } => "leave the column out with ⟦ignore⟧",
            BadPicture(_) => "remove the file, or skip such files with ⟦skip_bad⟧",
            PictureForm { .. } => "give pictures of the size that the model was trained with",
            Cache(CacheFault::Newer { .. }) => {
                "use a newer linsep, or make the cache again from its source with linsep convert"
            }
            Cache(_) => "delete it, and make it again from its source, with linsep convert or ⟦cache⟧",
            Array(_) => {
                "give rows as a table or a two-dimensional array, and one label for each of them, in their order"
            }
        }
    }
}

/// What to do where a file is no text.
static BINARY_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("give a file of a known format ({}), plain or compressed with gzip or zstd", names.join(", "))
});

/// What to do where the format was not recognised.
static FORMAT_HELP: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let (first, others) = names.split_first().unwrap_or((&"", &[]));
    let (last, middle) = others.split_last().unwrap_or((&"", &[]));
    let middle: String = middle.iter().map(|name| format!(", {name}")).collect();
    let off: String = [("mail", cfg!(feature = "mail")), ("pictures", cfg!(feature = "pictures"))]
        .into_iter()
        .filter(|(_, on)| !on)
        .map(|(name, _)| format!("; this linsep was built without its feature `{name}`"))
        .collect();
    format!("name the format with ⟦format={first}⟧{middle} or {last}{off}")
});

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source_name)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl std::error::Error for ReadError {}

/// A text from the file, cut to a length that fits a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    let mut short: String =
        text.chars().take(SHOWN).map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

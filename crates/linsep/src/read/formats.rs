//! The formats that can be read: one descriptor each, in the format's own file, and the list of them.

#[cfg(feature = "parquet")]
use super::columnar;
#[cfg(feature = "mail")]
use super::documents;
use super::error::ReadErrorKind;
use super::input::{BYTE_ORDER_MARK, Input};
#[cfg(feature = "pictures")]
use super::pictures;
use super::reader::{Opening, RecordReader};
#[cfg(feature = "excel")]
use super::xlsx;
use super::{arff, array, cache, csv, foreign, jsonl, libsvm, vw};
use crate::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// Every format that can be read, in the order in which their evidence in a file is looked for.
pub const FORMATS: &[&FormatDescriptor] = &[
    &libsvm::LIBSVM,
    &csv::CSV,
    &csv::TSV,
    &arff::ARFF,
    &jsonl::JSONL,
    &vw::VW,
    #[cfg(feature = "excel")]
    &xlsx::XLSX,
    #[cfg(feature = "parquet")]
    &columnar::PARQUET,
    #[cfg(feature = "parquet")]
    &columnar::ARROW,
    &array::NPY,
    &array::NPZ,
    &array::IDX,
    &cache::LINSEP,
    #[cfg(feature = "pictures")]
    &pictures::PICTURES,
    #[cfg(feature = "mail")]
    &documents::DOCUMENTS,
];

/// A data format, by its name in [`FORMATS`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Format(&'static str);

/// The description of a format.
#[derive(Debug)]
#[non_exhaustive]
pub struct FormatDescriptor {
    /// The name in specifications and on the command line.
    pub name: &'static str,
    /// Its name in a sentence.
    pub title: &'static str,
    /// One line on what it is.
    pub help: &'static str,
    /// Its file name extensions, without the point.
    pub extensions: &'static [&'static str],
    /// The kind of its columns.
    pub columns: FormatColumns,
    /// Whether it is text, which may be compressed and is parsed line by line.
    pub is_text: bool,
    /// Whether it is written too, and not only read.
    pub is_written: bool,
    /// The options, beyond those of every format, that have a meaning for it.
    pub options: &'static [&'static str],
    /// How its columns are matched with the features of a model that was trained on a table, as the end of a sentence;
    /// `None` if that is by name.
    pub(super) matched_by_number: Option<&'static str>,
    pub(super) detect: Detect,
    pub(super) open: fn(Opening<'_>) -> Result<Box<dyn RecordReader>, Error>,
}

/// The kind of the columns of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatColumns {
    /// Numbers with an index.
    Numbered,
    /// Named numbers, which a row may leave out.
    Named,
    /// Cells of a table: numbers or words.
    Table,
    /// Places in an array.
    Array,
    /// The columns of the file that the rows came from.
    AsStored,
    /// The pixels of a picture.
    Pixels,
    /// One: the text of a file.
    Documents,
}

/// How a format is recognised by the first bytes of a file.
#[derive(Debug)]
pub(super) enum Detect {
    /// By the bytes that every such file begins with.
    Magic(&'static [u8]),
    /// By its first bytes.
    Bytes(fn(&[u8]) -> bool),
    /// By the beginning of its text.
    Text(fn(&[u8]) -> bool),
    /// By a row of text that has the shape of this format.
    Row(fn(&[u8]) -> bool),
    /// By the first bytes of a file, and in a folder by those of its first file.
    FileOrFolder(fn(&[u8]) -> bool),
    /// In a folder, by the first bytes of its first file.
    InFolder(fn(&[u8]) -> bool),
    /// Not at all: it has to be named.
    ByNameOnly,
}

impl Format {
    pub(super) const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// The name in specifications and on the command line.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        FORMATS.iter().find(|format| format.name == name).map(|format| Self(format.name))
    }

    /// The format that an ending of a file name denotes, in lower case and without the point.
    pub fn from_extension(extension: &str) -> Option<Self> {
        FORMATS.iter().find(|format| format.extensions.contains(&extension)).map(|format| Self(format.name))
    }

    /// The format of texts that are files of their own, where it is compiled.
    pub(crate) fn of_documents() -> Option<Self> {
        let is = |format: &&&FormatDescriptor| format.columns == FormatColumns::Documents;
        FORMATS.iter().find(is).map(|format| Self(format.name))
    }

    /// All about it.
    pub fn descriptor(self) -> &'static FormatDescriptor {
        // Names come from descriptors, and a test goes through all of them.
        FORMATS.iter().find(|format| format.name == self.0).expect("every format is in the list")
    }

    /// Its name in a sentence.
    pub fn title(self) -> &'static str {
        self.descriptor().title
    }

    /// Whether it is delimited text.
    pub fn is_table(self) -> bool {
        self.descriptor().columns == FormatColumns::Table
    }

    /// Whether its features have names.
    pub fn has_names(self) -> bool {
        matches!(self.descriptor().columns, FormatColumns::Table | FormatColumns::Named)
    }

    /// Whether it is made of NumPy arrays.
    pub fn is_array(self) -> bool {
        self.descriptor().columns == FormatColumns::Array
    }

    /// Whether its files may lie in a folder with one sub-folder for each class.
    pub fn is_of_folders(self) -> bool {
        matches!(self.descriptor().detect, Detect::InFolder(_) | Detect::FileOrFolder(_))
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        self.descriptor().is_text
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            format!("unknown format \"{name}\": the formats are {}", names.join(", "))
        })
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// How many rows are looked at.
const SAMPLE_ROWS: usize = 50;

/// Detects the format of an input. One that begins with blank lines and comments, or with lines that say nothing yet, is
/// looked at further, up to a limit.
pub(crate) fn detect_in(input: &mut Input, limit: usize) -> Result<Format, ReadErrorKind> {
    input.drop_blank_lines(limit)?;
    loop {
        let detected = detect(input.head());
        let head = input.head();
        // Comments of ARFF may look like rows of any format.
        let only_comments = || rows_of(head).all(|row| row[0] == b'%');
        // A long header that is cut may look like a row of any format. The last row may be cut.
        let few_rows = || rows_of(head).nth(2).is_none();
        let may_change = match &detected {
            Err(ReadErrorKind::Empty) => true,
            Err(ReadErrorKind::UnknownFormat) => {
                rows_of(head).nth(SAMPLE_ROWS - 1).is_none() || only_comments()
            }
            Ok(format) => *format != Format::ARFF && format.is_text() && (only_comments() || few_rows()),
            Err(_) => false,
        };
        if may_change && input.look_further(limit) {
            continue;
        }
        return match detected {
            Err(ReadErrorKind::Empty) if input.head().len() >= limit => {
                Err(match input.head().contains(&b'\n') {
                    true => ReadErrorKind::LateStart { bytes: limit as u64 },
                    false => ReadErrorKind::LongLine { limit: limit as u64 },
                })
            }
            detected => detected,
        };
    }
}

/// The lines of a text without comments, of which something is left.
fn rows_of(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(head)
        .split(|&byte| byte == b'\n')
        .map(|line| line.split(|&byte| byte == b'#').next().unwrap_or(line).trim_ascii())
        .filter(|line| !line.is_empty())
}

/// The format of the files of a folder, by the first bytes of the first of them.
pub(super) fn of_folder(head: &[u8]) -> Option<Format> {
    let fits = |format: &&&FormatDescriptor| matches!(format.detect, Detect::InFolder(fits) | Detect::FileOrFolder(fits) if fits(head));
    FORMATS.iter().find(fits).map(|format| Format(format.name))
}

/// The format detected from the first bytes of a text, if any.
pub(crate) fn detect_format(head: &[u8]) -> Option<Format> {
    detect(head).ok()
}

/// Detects the format from the first bytes of a file.
pub(crate) fn detect(head: &[u8]) -> Result<Format, ReadErrorKind> {
    foreign::refuse(head)?;
    if let Some(format) = by_magic(head) {
        return Ok(format);
    }
    if let Some(&byte) = head.iter().find(|&&byte| is_binary(byte)) {
        return Err(ReadErrorKind::Binary(byte));
    }
    if has_old_line_ends(head) {
        return Err(ReadErrorKind::OldLineEnds);
    }
    let rows: Vec<&[u8]> = rows_of(head).take(SAMPLE_ROWS).collect();
    if rows.is_empty() {
        return Err(ReadErrorKind::Empty);
    }
    let fits = |format: &&&FormatDescriptor| matches!(format.detect, Detect::Text(fits) if fits(head));
    if let Some(format) = FORMATS.iter().find(fits) {
        return Ok(Format(format.name));
    }
    // The first row that has the shape of a format decides.
    for row in &rows {
        let fits = |format: &&&FormatDescriptor| matches!(format.detect, Detect::Row(fits) if fits(row));
        if let Some(format) = FORMATS.iter().find(fits) {
            return Ok(Format(format.name));
        }
    }
    Err(ReadErrorKind::UnknownFormat)
}

/// The format that every file with this beginning has.
fn by_magic(head: &[u8]) -> Option<Format> {
    let begins = |format: &&&FormatDescriptor| match format.detect {
        Detect::Magic(magic) => head.starts_with(magic),
        Detect::Bytes(fits) | Detect::FileOrFolder(fits) => fits(head),
        _ => false,
    };
    FORMATS.iter().find(begins).map(|format| Format(format.name))
}

/// Whether a file begins as one that is no text does.
pub(super) fn begins_like_binary(head: &[u8]) -> bool {
    by_magic(head).is_some() || foreign::recognise(head).is_some()
}

/// Whether a text is divided by carriage returns, and by no line feed.
pub(crate) fn has_old_line_ends(head: &[u8]) -> bool {
    !head.contains(&b'\n') && head.trim_ascii().contains(&b'\r')
}

/// Bytes that text does not hold: control characters other than tab, line feed, form feed, carriage return.
pub(crate) fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        for (head, format) in [
            (&b"1 1:0.5 3:2\n"[..], Format::LIBSVM),
            (b"# comment\n\n+1\n-1 qid:3 1:2\n", Format::LIBSVM),
            (b"1:2 2:3\n", Format::LIBSVM),
            (b"a,b,c\n1,2,3\n", Format::CSV),
            (b"a;b\n", Format::CSV),
            (b"time,label\n12:30,1\n", Format::CSV),
            (b"12:30,1\n", Format::CSV),
            (b"ham\tmeet 12:30 at the gate\n", Format::CSV),
            (b"a\t1:1\tlabel\n0\t2\tx\n", Format::CSV),
            (b"1:1\tlabel\n0\tx\n", Format::CSV),
            (b"1\t1:1\t2:3\n", Format::LIBSVM),
            (b"\xef\xbb\xbf\n\n1 1:2\n", Format::LIBSVM),
            (b"{\t\"p q\"\ty\n1\t2\tp\n", Format::CSV),
            (b"{\t}\ty\n1\t2\tp\n", Format::CSV),
            (b"{}\ty\n1\tp\n", Format::CSV),
            (b"{\t\"a\": 1}\n", Format::JSONL),
            (b"{}\n{\"a\": 1}\n", Format::JSONL),
            (b"{ \"a b", Format::JSONL),
            (b"\x93NUMPY\x01\x00", Format::NPY),
            (b"PK\x03\x04", Format::NPZ),
            (b"\x89linsep\n\x01\x00\x00\x00", Format::LINSEP),
        ] {
            assert_eq!(detect(head).unwrap(), format, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn what_is_no_format_is_an_error() {
        assert!(matches!(detect(b""), Err(ReadErrorKind::Empty)));
        assert!(matches!(detect(b" \n# only\n"), Err(ReadErrorKind::Empty)));
        assert!(matches!(detect(b"\x7fELF\x02\x01\x01\x00"), Err(ReadErrorKind::Binary(2))));
        assert!(matches!(detect(b"1,2\r3,4\r"), Err(ReadErrorKind::OldLineEnds)));
        assert_eq!(detect(b"1,2\r\n3,4\r\n").unwrap(), Format::CSV);
        assert_eq!(detect(b"1,2\r").unwrap(), Format::CSV);
        assert!(matches!(detect(b"hello world\n"), Err(ReadErrorKind::UnknownFormat)));
    }

    #[test]
    fn every_format_is_found_by_its_name_and_its_endings() {
        for descriptor in FORMATS {
            let format: Format = descriptor.name.parse().unwrap();
            assert!(std::ptr::eq(format.descriptor(), *descriptor));
            for extension in descriptor.extensions {
                assert_eq!(Format::from_extension(extension), Some(format));
            }
        }
        for format in [Format::LIBSVM, Format::CSV, Format::TSV, Format::NPY, Format::NPZ, Format::LINSEP] {
            assert_eq!(Format::from_name(format.descriptor().name), Some(format));
        }
        assert!("xls".parse::<Format>().is_err());
    }
}

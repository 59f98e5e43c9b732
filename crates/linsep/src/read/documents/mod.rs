//! Texts and raw e-mails as they come: a folder with one sub-folder for each class, mbox files, or single files.
//!
//! Every file is a row (of an mbox file, every mail), and its text is the one column. Files are read, decoded and taken
//! apart into terms by all threads; what they found is put together in the order of the files.

mod document;
mod fields;
mod fitting;
mod mail;
mod mbox;
mod page;

use super::error::{ReadError, ReadErrorKind};
use super::folder::{FolderClasses, FolderFiles, Listing};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::reader::{Opening, RecordReader};
use super::{Batch, Column, ColumnKind, Labels, ReadNotes, ReadOptions, Schema, encoding, source};
use crate::dataset::{BatchRows, HashedTerm};
use crate::features::text::{TextBlock, TextNumbers, TextReader};
use crate::features::{MissingWords, Text};
use crate::numbers::{counted, grouped};
use crate::{Error, SettingsError};
use encoding_rs::Encoding;
use mbox::Mbox;
use rayon::prelude::*;
use std::io::BufReader;
use std::path::Path;

pub(super) static DOCUMENTS: FormatDescriptor = FormatDescriptor {
    name: Format::DOCUMENTS.name(),
    title: "text and mail",
    help: "Texts and raw e-mails: a folder with one sub-folder for each class, .mbox files, or single files",
    extensions: &["eml", "mbox"],
    columns: FormatColumns::Documents,
    is_text: false,
    is_written: false,
    options: &["text_options", "max_file", "encoding"],
    matched_by_number: None,
    detect: Detect::InFolder(|_| true),
    open,
};

impl Format {
    /// Texts and e-mails, in folders or single files.
    pub const DOCUMENTS: Format = Format::named("documents");
}

/// The name of the column that documents are.
const COLUMN: &str = "text";
/// The name of the column that their classes are.
const LABEL: &str = "class";

/// Documents that one thread takes apart together.
const TOGETHER: usize = 16;
/// Mails of an mbox file that are held at a time, and their bytes.
const WINDOW_MAILS: usize = 512;
const WINDOW_BYTES: usize = 32 << 20;

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, source, options, .. } = opening;
    let Some(path) = source.path() else {
        if options.labels == Labels::Required {
            return Err(ReadError::whole(&name, ReadErrorKind::NoClass).into());
        }
        let problem = format!("{name} is no file: documents are files, in a folder or by themselves");
        return Err(SettingsError::new("format", problem).into());
    };
    Ok(Box::new(DocumentReader::new(name, path, options)?))
}

/// The text of a document, as a model of documents reads it: of a plain text in any encoding, of HTML, and of a raw e-mail its
/// subject, its body and the names of its attachments. The name tells what the bytes do not.
pub fn document_text(name: &Path, bytes: &[u8]) -> Result<String, ReadErrorKind> {
    document::text(name, bytes, None)
}

/// Gives `each` every mail of the bytes of an mbox file; one with more than `limit` bytes is an error.
pub fn mbox_mails(bytes: &[u8], limit: u64, mut each: impl FnMut(Result<Vec<u8>, ReadErrorKind>)) {
    let mut mbox = Mbox::new(Box::new(std::io::Cursor::new(bytes.to_vec())), limit);
    while let Some(mail) = mbox.next() {
        each(mail);
    }
}

/// Whether a file holds many mails.
fn is_mbox(path: &Path) -> bool {
    source::ending(path).is_some_and(|ending| ending == "mbox")
}

/// The rows of documents.
struct DocumentReader {
    name: String,
    files: FolderFiles,
    /// The mbox file that is being read, its place, and whether a mail was found in it.
    mbox: Option<(Mbox, usize, bool)>,
    limit: u64,
    encoding: Option<&'static Encoding>,
    skip_bad: bool,
    classes: FolderClasses,
    reader: TextReader,
    numbers: TextNumbers,
    next_feature: u32,
    text: Text,
    feature_limit: u32,
    known: Option<Schema>,
    notes: ReadNotes,
    rows: u64,
    /// The file of the last document, and how many documents of it there were.
    last_file: (usize, u64),
    /// The file of each row of the last batch, and its number in it.
    batch_files: Vec<(usize, u64)>,
}

/// What one thread found in some documents.
#[derive(Default)]
struct Block {
    text: TextBlock,
    /// The place of each document's file, and the end of its terms, or what is wrong with it.
    documents: Vec<(usize, Result<usize, ReadErrorKind>)>,
    cells: Vec<(u32, f64)>,
    /// Terms that are kept, each with the place of its document among those of the block, and its feature.
    hashed: Vec<(usize, u32, String)>,
}

impl DocumentReader {
    fn new(name: String, path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let encoding = options.encoding.as_deref().map(encoding::named).transpose();
        let encoding = encoding.map_err(|kind| ReadError::whole(&name, kind))?;
        let Listing { classes, files, notes } = match path.is_dir() {
            true => Listing::of(path, options, is_mbox)?,
            false if options.labels == Labels::Required => {
                return Err(ReadError::whole(&name, ReadErrorKind::NoClass).into());
            }
            false => Listing::unlabelled(&[path.to_path_buf()]),
        };
        let text = match &options.schema {
            // Of a folder the first file, which is none of the kind that the model reads.
            Some(schema) => {
                let first = files.first().map(|file| file.path.display().to_string());
                model_text(schema, first.as_deref().unwrap_or(&name))?.clone()
            }
            None => {
                let mut text = Text { documents: true, ..Text::begin(&options.text, 0)? };
                if options.online {
                    text.settle_online(0)?;
                }
                text
            }
        };
        let classes = FolderClasses::new(classes, options.class_limit())
            .map_err(|kind| ReadError::whole(&name, kind))?;
        let reader = TextReader::new(&text).keeping_hashed(options.keep_hashed_terms);
        Ok(Self {
            name,
            files: FolderFiles::new(files, options),
            mbox: None,
            limit: options.max_file.unwrap_or(ReadOptions::MAX_FILE),
            encoding,
            skip_bad: options.skip_bad,
            classes,
            numbers: TextNumbers::default(),
            next_feature: 0,
            reader,
            text,
            feature_limit: options.feature_limit(),
            known: options.schema.clone(),
            notes,
            rows: 0,
            last_file: (0, 0),
            batch_files: Vec::new(),
        })
    }

    /// The next documents, taken apart. Empty at the end.
    fn next_blocks(&mut self) -> Result<Vec<Block>, ReadError> {
        loop {
            if let Some((mbox, place, has_mails)) = &mut self.mbox {
                let place = *place;
                let mut mails = Vec::new();
                let mut bytes = 0;
                while mails.len() < WINDOW_MAILS && bytes < WINDOW_BYTES {
                    let Some(mail) = mbox.next() else { break };
                    bytes += mail.as_ref().map_or(0, Vec::len);
                    let failed = matches!(mail, Err(ReadErrorKind::Io(_) | ReadErrorKind::NotAText(_)));
                    mails.push(mail);
                    if failed {
                        break;
                    }
                }
                let is_empty = mails.is_empty() && !*has_mails;
                *has_mails = true;
                if mails.is_empty() {
                    self.mbox = None;
                    if is_empty {
                        let problem = "it has no mails".to_string();
                        self.bad(place, ReadErrorKind::NotAText(problem))?;
                    }
                    continue;
                }
                if matches!(mails.last(), Some(Err(ReadErrorKind::Io(_) | ReadErrorKind::NotAText(_)))) {
                    self.mbox = None;
                }
                let chunks: Vec<_> = {
                    let mut mails = mails.into_iter();
                    std::iter::from_fn(|| {
                        let some: Vec<_> = mails.by_ref().take(TOGETHER).collect();
                        (!some.is_empty()).then_some(some)
                    })
                    .collect()
                };
                let reader = &self.reader;
                let block = |mails: Vec<Result<Vec<u8>, ReadErrorKind>>| {
                    let texts = mails
                        .into_iter()
                        .map(|mail| (place, mail.and_then(|mail| document::mail_text(&mail))));
                    Block::of(reader, texts)
                };
                return Ok(chunks.into_par_iter().map(block).collect());
            }
            if let Some((place, file)) = self.files.take_if(|file| is_mbox(&file.path)) {
                let opened = source::open(&source::Source::File(file.path.clone()));
                match opened {
                    Ok((input, _)) => {
                        self.mbox =
                            Some((Mbox::new(Box::new(BufReader::new(input)), self.limit), place, false))
                    }
                    Err(kind) => self.bad(place, kind)?,
                }
                continue;
            }
            let (reader, encoding) = (&self.reader, self.encoding);
            let blocks = self.files.next_window(
                TOGETHER,
                |file| is_mbox(&file.path),
                |files| {
                    let texts = files.map(|(place, path, bytes)| {
                        (place, bytes.and_then(|bytes| document::text(path, &bytes, encoding)))
                    });
                    Block::of(reader, texts)
                },
            );
            return Ok(blocks);
        }
    }

    /// Skips a file, if that was asked for.
    fn bad(&mut self, place: usize, kind: ReadErrorKind) -> Result<(), ReadError> {
        let error = self.files.located(place, kind);
        if !self.skip_bad {
            return Err(error);
        }
        self.notes.skip_file(error.to_string());
        Ok(())
    }
}

impl Block {
    fn of(reader: &TextReader, texts: impl Iterator<Item = (usize, Result<String, ReadErrorKind>)>) -> Self {
        let mut block = Self::default();
        for (place, text) in texts {
            let end = text.map(|text| {
                reader.read(&text, &mut block.text, &mut block.cells);
                let document = block.documents.len();
                let hashed = block.text.hashed.drain(..);
                block.hashed.extend(hashed.map(|(feature, term)| (document, feature, term)));
                block.cells.len()
            });
            block.documents.push((place, end));
        }
        block
    }
}

impl RecordReader for DocumentReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut hashed) = (Vec::new(), Vec::new());
        self.batch_files.clear();
        while labels.is_empty() {
            let blocks = self.next_blocks()?;
            if blocks.is_empty() {
                return Ok(None);
            }
            for mut block in blocks {
                let features = self.numbers.take(&block.text, &mut self.next_feature);
                if self.reader.is_open() {
                    block.cells.iter_mut().for_each(|(number, _)| *number = features[*number as usize]);
                }
                if self.next_feature > self.feature_limit {
                    let kind = ReadErrorKind::TooManyFeatures { limit: self.feature_limit };
                    return Err(ReadError::whole(&self.name, kind));
                }
                let mut start = 0;
                let mut terms = block.hashed.into_iter().peekable();
                for (document, (place, end)) in block.documents.into_iter().enumerate() {
                    let (last, number) = self.last_file;
                    self.last_file = (place, if place == last { number + 1 } else { 1 });
                    let end = match end {
                        Ok(end) => end,
                        Err(kind) => {
                            self.bad(place, kind)?;
                            continue;
                        }
                    };
                    let row = labels.len() as u32;
                    while let Some((_, feature, term)) = terms.next_if(|&(own, ..)| own == document) {
                        hashed.push(HashedTerm { row, feature, term });
                    }
                    let row = &mut block.cells[start..end];
                    start = end;
                    row.sort_unstable_by_key(|&(feature, _)| feature);
                    indices.extend(row.iter().map(|&(feature, _)| feature));
                    values.extend(row.iter().map(|&(_, value)| value));
                    offsets.push(indices.len());
                    let class = self.files.file(place).class;
                    labels.push(self.classes.of_row(class));
                    self.batch_files.push(self.last_file);
                }
            }
        }
        self.rows += labels.len() as u64;
        let rows = BatchRows::Sparse { offsets, indices, values };
        Ok(Some(Batch { rows, labels, lines: None, filled: None, weights: None, hashed }))
    }

    fn label_names(&self) -> &[String] {
        self.classes.names()
    }

    fn schema(&self) -> Schema {
        if let Some(schema) = &self.known {
            return schema.clone();
        }
        let text = self.numbers.describe(&self.text);
        let features = if text.is_as_read() {
            (0..text.terms.len()).map(|term| text.feature_name("", term)).collect()
        } else {
            Vec::new()
        };
        Schema::Table {
            header: true,
            columns: vec![
                Column { name: COLUMN.to_string(), kind: ColumnKind::Text(text), names_rows: None },
                Column { name: LABEL.to_string(), kind: ColumnKind::Label, names_rows: None },
            ],
            features,
            missing_words: MissingWords::default(),
            delimiter: None,
        }
    }

    fn notes(&self) -> ReadNotes {
        let (_, files) = self.files.progress();
        let mut notes = self.notes.clone();
        notes.remarks.extend(self.classes.remark());
        notes.format = match self.classes.names().len() {
            0 => format!("documents, {} files", grouped(files)),
            classes => format!("documents, {} files in {classes} classes", grouped(files)),
        };
        notes.remarks.extend(self.numbers.remark(&self.text));
        notes
    }

    fn files(&self) -> Option<(u64, u64)> {
        Some(self.files.progress())
    }

    fn row_name(&self, row: usize) -> Option<&Path> {
        self.batch_files.get(row).map(|&(place, _)| self.files.file(place).path.as_path())
    }

    fn row_number(&self, row: usize) -> Option<u64> {
        let &(place, number) = self.batch_files.get(row)?;
        is_mbox(&self.files.file(place).path).then_some(number)
    }
}

/// The text column of a model that can read documents: it must be all that the model reads.
fn model_text<'a>(schema: &'a Schema, name: &str) -> Result<&'a Text, Error> {
    let refuse =
        |problem: String| Err(Error::from(ReadError::whole(name, ReadErrorKind::NotForModel(problem))));
    let Schema::Table { columns, .. } = schema else {
        let what = if matches!(schema, Schema::Pictures(_)) { "pictures" } else { "numbers" };
        return refuse(format!("a text was given, and the model was trained on {what}"));
    };
    let used: Vec<&Column> = columns.iter().filter(|column| column.kind.features().is_some()).collect();
    match used.as_slice() {
        [Column { kind: ColumnKind::Text(text), .. }] => Ok(text),
        _ => {
            const SHOWN: usize = 5;
            let names: Vec<String> =
                used.iter().take(SHOWN).map(|column| format!("\"{}\"", column.name)).collect();
            let more = match used.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {}", counted(more as u64, "other", "others")),
            };
            refuse(format!(
                "a text was given, and the model was trained on a table with the columns {}{more}: give a table with these",
                names.join(", ")
            ))
        }
    }
}

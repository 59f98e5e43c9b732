//! Pictures: PNG and JPEG files in a folder with one sub-folder for each class, or single files. All are brought to one size;
//! each pixel is a feature (three in colour) with its level, 0 to 255.
//!
//! Pictures are decoded some at a time, by all threads, and given out in the order of their files.

mod decode;
mod exif;
mod resize;
#[cfg(test)]
mod tests;

pub use decode::decode as decode_picture;

use super::error::{ReadError, ReadErrorKind};
use super::folder::{FolderClasses, FolderFiles, ListedFile, Listing, read_file};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::reader::{Expected, Opening, RecordReader};
use super::{Batch, Labels, ReadNotes, ReadOptions, Schema};
use crate::dataset::BatchRows;
use crate::features::PictureForm;
use crate::numbers::counted;
use crate::{Error, SettingsError};
use decode::PictureKind;
use std::path::Path;

pub(super) static PICTURES: FormatDescriptor = FormatDescriptor {
    name: Format::PICTURES.name(),
    title: "picture",
    help: "PNG and JPEG pictures: a folder with one sub-folder for each class, or single files",
    extensions: &["png", "jpg", "jpeg"],
    columns: FormatColumns::Pixels,
    is_text: false,
    is_written: false,
    options: &["size", "colour", "max_file"],
    matched_by_number: None,
    detect: Detect::FileOrFolder(|head| PictureKind::of(head).is_some()),
    open,
};

impl Format {
    /// Pictures, in folders or single files.
    pub const PICTURES: Format = Format::named("pictures");
}

/// Numbers of a batch: so many pictures are decoded at a time that memory does not grow with their number.
const BATCH_VALUES: usize = 1 << 20;
/// The size of pictures where none is named and the first one is larger.
const USUAL_SIDE: u32 = 128;
/// How many pictures are looked at for one that can be read.
const LOOKED_AT: usize = 100;

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, source, options, .. } = opening;
    let Some(path) = source.path() else {
        if options.labels == Labels::Required {
            return Err(ReadError::whole(&name, ReadErrorKind::NoClass).into());
        }
        let problem = format!("{name} is no file: pictures are files, in a folder or by themselves");
        return Err(SettingsError::new("format", problem).into());
    };
    Ok(Box::new(PictureReader::new(name, path, options)?))
}

/// Pictures to rows.
struct PictureReader {
    files: FolderFiles,
    form: PictureForm,
    skip_bad: bool,
    /// Files that were skipped, which may be no pictures.
    skipped: u64,
    classes: FolderClasses,
    notes: ReadNotes,
    /// The file of each row of the last batch.
    batch_files: Vec<usize>,
}

impl PictureReader {
    fn new(name: String, path: &Path, options: &ReadOptions) -> Result<Self, Error> {
        let located = |kind| ReadError::whole(&name, kind);
        let Listing { classes, files, mut notes } = match path.is_dir() {
            true => Listing::of(path, options, |_| false)?,
            false if options.labels == Labels::Required => {
                return Err(located(ReadErrorKind::NoClass).into());
            }
            false => Listing::unlabelled(&[path.to_path_buf()]),
        };
        let form = match &options.schema {
            Some(schema) => form_of_model(schema, options).map_err(located)?,
            None => {
                let (form, remark) = settle_form(options, &files);
                notes.remarks.extend(remark);
                form
            }
        };
        if form.features() > options.feature_limit() as usize || form.features() == 0 {
            return Err(located(ReadErrorKind::TooManyFeatures { limit: options.feature_limit() }).into());
        }
        let classes = FolderClasses::new(classes, options.class_limit()).map_err(located)?;
        let at_once = (BATCH_VALUES / form.features()).max(1);
        let files = FolderFiles::new(files, options).at_most(at_once);
        let skip_bad = options.skip_bad;
        Ok(Self { files, form, skip_bad, skipped: 0, classes, notes, batch_files: Vec::new() })
    }
}

/// The form of the pictures that a model knows. What the user says must be the same.
fn form_of_model(schema: &Schema, options: &ReadOptions) -> Result<PictureForm, ReadErrorKind> {
    let Schema::Pictures(form) = schema else {
        let problem = "a picture was given, and the model was not trained on pictures".to_string();
        return Err(ReadErrorKind::NotForModel(problem));
    };
    let asked = &options.pictures;
    let (width, height) = asked.size.map_or((form.width, form.height), |size| (size.width, size.height));
    let found = PictureForm { width, height, colour: asked.colour || form.colour };
    if found != *form {
        return Err(ReadErrorKind::PictureForm { found, expected: *form });
    }
    Ok(*form)
}

/// The form that is asked for, or that of the first picture that can be read, and a sentence about that.
fn settle_form(options: &ReadOptions, files: &[ListedFile]) -> (PictureForm, Option<String>) {
    let colour = options.pictures.colour;
    if let Some(size) = options.pictures.size {
        return (PictureForm { width: size.width, height: size.height, colour }, None);
    }
    let limit = options.max_file.unwrap_or(ReadOptions::MAX_FILE);
    let size = |file: &ListedFile| decode::size(&read_file(&file.path, limit).ok()?).ok();
    let first = files.iter().take(LOOKED_AT).find_map(size);
    let small = first.filter(|&(width, height)| width.max(height) <= USUAL_SIDE);
    let (width, height) = small.unwrap_or((USUAL_SIDE, USUAL_SIDE));
    let form = PictureForm { width, height, colour };
    let why = if small.is_some() { ", which the first one has" } else { "" };
    (form, Some(format!("All pictures are resized to {form}{why}. ⟦size⟧ sets another size.")))
}

impl RecordReader for PictureReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let form = self.form;
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        self.batch_files.clear();
        while labels.is_empty() {
            let decoded: Vec<_> = self.files.next_window(
                1,
                |_| false,
                |files| {
                    let decode =
                        |bytes: Vec<u8>| decode_picture(&bytes, form).map_err(ReadErrorKind::BadPicture);
                    files.map(|(place, _, bytes)| (place, bytes.and_then(decode))).collect::<Vec<_>>()
                },
            );
            if decoded.is_empty() {
                return Ok(None);
            }
            for (place, levels) in decoded.into_iter().flatten() {
                match levels {
                    Ok(levels) => {
                        values.extend(levels.iter().map(|&level| f64::from(level)));
                        let class = self.files.file(place).class;
                        labels.push(self.classes.of_row(class));
                        self.batch_files.push(place);
                    }
                    Err(kind) => {
                        let error = self.files.located(place, kind);
                        if !self.skip_bad {
                            return Err(error);
                        }
                        self.skipped += 1;
                        self.notes.skip_file(error.to_string());
                    }
                }
            }
        }
        let rows = BatchRows::Dense { columns: form.features(), values };
        Ok(Some(Batch { rows, labels, lines: None, filled: None, weights: None, hashed: Vec::new() }))
    }

    fn label_names(&self) -> &[String] {
        self.classes.names()
    }

    fn schema(&self) -> Schema {
        Schema::Pictures(self.form)
    }

    fn notes(&self) -> ReadNotes {
        let (_, files) = self.files.progress();
        let mut notes = self.notes.clone();
        notes.remarks.extend(self.classes.remark());
        let classes = match self.classes.names().len() {
            0 => String::new(),
            classes => format!(" in {}", counted(classes as u64, "class", "classes")),
        };
        let pictures = counted(files - self.skipped, "picture", "pictures");
        notes.format = format!("{pictures}{classes}, {}", self.form);
        notes
    }

    fn expected(&self) -> Expected {
        let (_, files) = self.files.progress();
        Expected::Rows(files as usize, (files as usize).saturating_mul(self.form.features()))
    }

    fn files(&self) -> Option<(u64, u64)> {
        Some(self.files.progress())
    }

    fn row_name(&self, row: usize) -> Option<&Path> {
        self.batch_files.get(row).map(|&place| self.files.file(place).path.as_path())
    }
}

//! Pictures in files of their own, to rows.

use super::decode::{decode, size};
use crate::dataset::BatchRows;
use crate::features::PictureForm;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::reader::{Expected, RecordReader};
use crate::read::{Batch, ReadNotes, Schema};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest file of a picture.
const MOST_BYTES: u64 = 1 << 28;
/// Numbers of a batch: pictures are decoded so many at a time, so that memory does not grow with their number.
const BATCH_VALUES: usize = 1 << 20;
const BATCH_PICTURES: usize = 256;
/// The size of pictures where none is named and the first one is larger.
const USUAL_SIDE: u32 = 128;

/// Where a picture is.
pub(in crate::read) enum PictureFile {
    Path(PathBuf),
    Bytes(String, Arc<[u8]>),
}

impl PictureFile {
    fn name(&self) -> String {
        match self {
            PictureFile::Path(path) => path.display().to_string(),
            PictureFile::Bytes(name, _) => name.clone(),
        }
    }

    fn with_bytes<T>(&self, use_bytes: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, ReadErrorKind> {
        match self {
            PictureFile::Bytes(_, bytes) => use_bytes(bytes),
            PictureFile::Path(path) => use_bytes(&bytes_of(path)?),
        }
        .map_err(ReadErrorKind::BadPicture)
    }
}

/// The bytes of a file, if they are not too many.
fn bytes_of(path: &Path) -> Result<Vec<u8>, ReadErrorKind> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ReadErrorKind::BadPicture("the file is larger than 256 MiB".to_string()));
    }
    Ok(bytes)
}

/// A picture and its class, if that is asked for.
pub(in crate::read) struct Labelled {
    pub(in crate::read) file: PictureFile,
    pub(in crate::read) class: u32,
}

/// The form that is asked for, or that of the first picture that can be read, and a sentence about that.
pub(in crate::read) fn settle_form(
    asked: Option<(u32, u32)>,
    colour: bool,
    pictures: &[Labelled],
) -> (PictureForm, Option<String>) {
    if let Some((width, height)) = asked {
        return (PictureForm { width, height, colour }, None);
    }
    let first = pictures.iter().take(100).find_map(|picture| picture.file.with_bytes(size).ok());
    let small = first.filter(|&(width, height)| width.max(height) <= USUAL_SIDE);
    let (width, height) = small.unwrap_or((USUAL_SIDE, USUAL_SIDE));
    let form = PictureForm { width, height, colour };
    let why = if small.is_some() { ", as the first one has them" } else { "" };
    (form, Some(format!("All pictures are brought to {form}{why}. ⟦size⟧ names another size.")))
}

/// Pictures to rows, in their order.
pub(in crate::read) struct PictureReader {
    pictures: Vec<Labelled>,
    next: usize,
    form: PictureForm,
    classes: Vec<String>,
    skip_bad: bool,
    notes: ReadNotes,
    /// Files that were read, for those who watch.
    taken: Arc<AtomicU64>,
}

impl PictureReader {
    pub(in crate::read) fn new(
        pictures: Vec<Labelled>,
        classes: Vec<String>,
        form: PictureForm,
        skip_bad: bool,
        notes: ReadNotes,
        taken: Arc<AtomicU64>,
    ) -> Self {
        Self { pictures, next: 0, form, classes, skip_bad, notes, taken }
    }
}

impl RecordReader for PictureReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let features = self.form.features();
        let at_once = (BATCH_VALUES / features.max(1)).clamp(1, BATCH_PICTURES);
        while self.next < self.pictures.len() {
            let first = self.next;
            let some = &self.pictures[first..(first + at_once).min(self.pictures.len())];
            self.next += some.len();
            let form = self.form;
            let decoded: Vec<Result<Vec<u8>, ReadErrorKind>> =
                some.par_iter().map(|picture| picture.file.with_bytes(|bytes| decode(bytes, form))).collect();
            self.taken.fetch_add(some.len() as u64, Ordering::Relaxed);
            let (mut values, mut labels, mut lines) = (Vec::with_capacity(some.len() * features), Vec::new(), Vec::new());
            for ((number, picture), levels) in (first as u64 + 1..).zip(some).zip(decoded) {
                match levels {
                    Ok(levels) => {
                        values.extend(levels.iter().map(|&level| f64::from(level)));
                        labels.push(picture.class);
                        lines.push(number);
                    }
                    Err(kind) if self.skip_bad && kind.is_row() => {
                        self.notes.skip(number, format!("{}: {kind}", picture.file.name()));
                    }
                    Err(kind) => return Err(ReadError::whole(&picture.file.name(), kind)),
                }
            }
            if !labels.is_empty() {
                let rows = BatchRows::Dense { columns: features, values };
                return Ok(Some(Batch { rows, labels, lines: Some(lines), filled: None, weights: None }));
            }
        }
        Ok(None)
    }

    fn label_names(&self) -> &[String] {
        &self.classes
    }

    fn schema(&self) -> Schema {
        Schema::Pictures(self.form)
    }

    fn notes(&self) -> ReadNotes {
        self.notes.clone()
    }

    fn expected(&self) -> Expected {
        Expected::Rows(self.pictures.len(), self.pictures.len() * self.form.features())
    }
}

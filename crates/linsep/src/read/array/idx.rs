//! IDX files, as MNIST comes: numbers of one type, in one or more dimensions, behind a short header.
//!
//! The header has two zeros, the type, the number of dimensions, and the length of each, big-endian. The first dimension
//! counts the rows; the others are laid flat. A file of labels has one dimension.

use super::npy::Form;
use crate::features::PictureForm;
use crate::read::error::ReadErrorKind;
use crate::read::source::Input;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Whether a file begins as IDX files do.
pub(super) fn is_idx(head: &[u8]) -> bool {
    matches!(*head, [0, 0, 0x08 | 0x09 | 0x0b..=0x0e, 1..=8, ..])
}

/// What the header says.
pub(super) struct Idx {
    /// Rows and, unless there is one dimension only, columns.
    pub(super) form: Form,
    /// Its bytes.
    pub(super) header: usize,
    /// What pictures the rows are, if they are.
    pub(super) pictures: Option<PictureForm>,
}

/// Takes the header from the beginning of a file.
pub(super) fn take_header(input: &mut Input) -> Result<Idx, ReadErrorKind> {
    let wrong = |problem: &str| ReadErrorKind::Array(problem.to_string());
    let cut = || wrong("the file ends inside its header");
    let mut beginning = [0; 4];
    input.read_exact(&mut beginning).map_err(|_| cut())?;
    if !is_idx(&beginning) {
        return Err(wrong(
            "this is not an IDX file: it does not begin with two zeros, a type and a number of dimensions",
        ));
    }
    let mut lengths = Vec::new();
    for _ in 0..beginning[3] {
        let mut length = [0; 4];
        input.read_exact(&mut length).map_err(|_| cut())?;
        lengths.push(u32::from_be_bytes(length));
    }
    let pictures = match lengths[..] {
        [_, height, width] => Some(PictureForm { width, height, colour: false }),
        [_, height, width, 1] => Some(PictureForm { width, height, colour: false }),
        [_, height, width, 3] => Some(PictureForm { width, height, colour: true }),
        _ => None,
    };
    let descr = match beginning[2] {
        0x08 => "|u1",
        0x09 => "|i1",
        0x0b => ">i2",
        0x0c => ">i4",
        0x0d => ">f4",
        _ => ">f8",
    };
    let rows = lengths[0] as usize;
    let columns =
        lengths[1..].iter().try_fold(1usize, |product, &length| product.checked_mul(length as usize));
    let shape = match columns {
        _ if lengths.len() == 1 => vec![rows],
        Some(columns) => vec![rows, columns],
        None => return Err(wrong("its rows are larger than any memory")),
    };
    let form = Form::plain(descr, shape).map_err(ReadErrorKind::Array)?;
    Ok(Idx { form, header: 4 + 4 * lengths.len(), pictures })
}

/// The file beside that has the labels of a file of pictures: `train-labels-idx1-ubyte` for `train-images-idx3-ubyte`.
pub(super) fn labels_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let labels = name.replacen("images", "labels", 1).replacen("idx3", "idx1", 1);
    let plain = labels.strip_suffix(".gz").unwrap_or(&labels);
    let candidates = [labels.clone(), plain.to_string(), format!("{plain}.gz")];
    candidates
        .into_iter()
        .filter(|candidate| candidate != name)
        .map(|name| path.with_file_name(name))
        .find(|path| path.is_file())
}

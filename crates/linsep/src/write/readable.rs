//! Rows that could not be read back from a format are not written to it.

use super::{text_formats, write_rows};
use crate::SettingsError;
use crate::classes::class_name;
use crate::dataset::{Dataset, Rows};
use crate::features::MissingWords;
use crate::read::{Format, Schema, excerpt, read_back};

/// Tables of sparse rows with more cells than this are refused: nearly all of them would be zeros.
const MAX_CELLS: u64 = 1_000_000_000;

/// Refuses rows that could not be read back from this format.
pub(super) fn check(data: &Dataset, schema: &Schema, format: Format) -> Result<(), SettingsError> {
    let problem = match format {
        Format::LIBSVM => {
            of_classes(data).or_else(|| of_libsvm(data)).or_else(|| of_text(data, schema, format))
        }
        Format::CSV | Format::TSV => {
            of_classes(data).or_else(|| of_table(data, schema)).or_else(|| of_text(data, schema, format))
        }
        format if !format.descriptor().is_written => {
            Some(format!("linsep reads {}, but does not write it: write CSV", format.title()))
        }
        Format::NPZ if data.columns() == 0 => Some("an array needs at least one column".to_string()),
        _ => None,
    };
    problem.map_or(Ok(()), |problem| Err(SettingsError::new("to", problem)))
}

/// The name of a class that no text can hold.
fn of_classes(data: &Dataset) -> Option<String> {
    let is_read = |class: &str| class_name(class).as_deref() == Some(class) && read_back::is_text(class);
    let class = data.classes().iter().find(|class| !is_read(class))?;
    let class = excerpt(class.as_bytes());
    Some(format!("the class \"{class}\" cannot be written as text: write npz or linsep"))
}

fn of_libsvm(data: &Dataset) -> Option<String> {
    let is_bad =
        |class: &&String| class.contains([':', '#', '\u{feff}']) || class.contains(char::is_whitespace);
    if let Some(class) = data.classes().iter().find(is_bad) {
        return Some(format!(
            "the class \"{class}\" cannot be written to a LIBSVM file, where labels have no spaces, colons \
             or #: write CSV or npz"
        ));
    }
    (data.columns() == 0).then(|| "a LIBSVM file needs at least one feature".to_string())
}

fn of_table(data: &Dataset, schema: &Schema) -> Option<String> {
    if let Some(class) = data.classes().iter().find(|class| MissingWords::Usual.in_labels(class.as_bytes())) {
        return Some(format!(
            "the class \"{class}\" would be read as a missing cell of a table: write LIBSVM or npz"
        ));
    }
    let cells = data.len() as u64 * data.columns() as u64;
    if matches!(data.rows(), Rows::Sparse { .. }) && cells > MAX_CELLS {
        let cells = crate::numbers::grouped(cells);
        return Some(format!(
            "a table would have {cells} cells, nearly all of them zero: write LIBSVM, npz or linsep, which store only the \
             others"
        ));
    }
    if data.columns() == 0 {
        return Some("a table needs at least one column besides the label".to_string());
    }
    let name = text_formats::header_names(schema).into_iter().find(|name| !read_back::is_text(name))?;
    let name = excerpt(name.as_bytes());
    Some(format!("the column \"{name}\" cannot be written as text: write npz or linsep"))
}

/// The beginning of a text that is taken for something else when it is read: for another format, or a table with other columns.
fn of_text(data: &Dataset, schema: &Schema, format: Format) -> Option<String> {
    /// Cells that are enough to tell, and the fewest and the most rows.
    const CELLS: usize = 1 << 16;
    const ROWS: (usize, usize) = (2, 500);
    let rows = (CELLS / data.columns().max(1)).clamp(ROWS.0, ROWS.1).min(data.len());
    let mut beginning = Vec::new();
    let written = write_rows(data, rows, schema, format, &mut beginning, &mut |_, _| Ok(()));
    let is_read = written.is_ok()
        && match format {
            Format::LIBSVM => read_back::format_of(&beginning) == Some(format),
            _ => {
                let delimiter = if format == Format::TSV { b'\t' } else { b',' };
                read_back::header_of(&beginning) == Some((delimiter, text_formats::header_names(schema)))
            }
        };
    (!is_read).then(|| {
        format!(
            "the names of classes or columns would make this {} file look like another one when it is read: write npz or \
             linsep",
            format.title()
        )
    })
}

//! Rows to files, in the formats that can be read.
//!
//! Every conversion goes through a cache, because three things are known only at the end of a text: how many features
//! there are, what they count from, and how the classes are sorted. So a file of any size is converted in memory that does not grow with it.

mod npz;
mod readable;
#[cfg(test)]
mod tests;
mod text_formats;

use crate::dataset::Dataset;
use crate::features::settle_columns;
use crate::observe::{Observer, Progress};
use crate::read::cache::{self, Made};
use crate::read::{Format, Loaded, ReadNotes, ReadOptions, Schema, Source, read};
use crate::store::write_atomically;
use crate::{Error, SettingsError};
use std::io::{self, Write};
use std::path::Path;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// The format and the compression that the name of a file denotes.
pub fn format_of_name(path: &Path) -> (Option<Format>, Compression) {
    let extension = |path: &Path| {
        path.extension().and_then(|text| text.to_str()).map(str::to_ascii_lowercase).unwrap_or_default()
    };
    let (compression, inner) = match extension(path).as_str() {
        "gz" => (Compression::Gzip, path.with_extension("")),
        "zst" => (Compression::Zstd, path.with_extension("")),
        _ => (Compression::None, path.to_path_buf()),
    };
    (Format::from_extension(&extension(&inner)), compression)
}

/// The result of a conversion.
#[derive(Clone, Debug)]
pub struct Converted {
    /// Rows written.
    pub rows: u64,
    /// Features of each.
    pub features: u64,
    /// Notes made while reading.
    pub notes: ReadNotes,
    /// What the written format cannot hold and the rows had.
    pub lost: Vec<Loss>,
}

/// Something that a format cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// One sentence about it.
    pub text: String,
    /// Whether the file is read back, by default, as other rows than were written.
    pub changes_rows: bool,
}

/// Writes the rows of a source in another format: a file that is whole, or none.
pub fn convert(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    format: Format,
    observer: &mut dyn Observer,
) -> Result<Converted, Error> {
    let (_, compression) = format_of_name(path);
    if compression != Compression::None && !format.is_text() {
        let name = format.title();
        return Err(SettingsError::new(
            "to",
            format!("{name} files are not compressed: leave .gz or .zst out of the name of the output"),
        )
        .into());
    }
    match format {
        Format::NPY => Err(SettingsError::new(
            "to",
            "an .npy file has no place for labels: write an .npz file, which holds rows and labels"
                .to_string(),
        )
        .into()),
        Format::LINSEP => {
            let Made { notes, rows, features } = cache::make_file(source, options, path, observer)?;
            Ok(Converted { rows, features, notes, lost: Vec::new() })
        }
        _ => {
            crate::store::check_writable(path)?;
            let mut loaded = mapped(source, options, path, observer)?;
            let texts = loaded.schema.has_texts_as_read();
            if texts {
                // What is written is all there is.
                loaded.schema.keep_row_names();
                (loaded.schema, loaded.dataset) = settle_columns(loaded.schema, loaded.dataset, None)?;
            }
            let mut lost = write(&loaded.dataset, &loaded.schema, path, format, observer)?;
            if texts {
                let text = "Texts are written as the values of their terms, as learned from all rows.";
                lost.push(Loss { text: text.to_string(), changes_rows: false });
            }
            let (rows, features) = (loaded.dataset.len() as u64, loaded.dataset.columns() as u64);
            Ok(Converted { rows, features, notes: loaded.notes, lost })
        }
    }
}

/// The rows of a source in a mapped file: itself if it is a cache, otherwise one without a name on the disk of the output.
fn mapped(
    source: &Source,
    options: &ReadOptions,
    path: &Path,
    observer: &mut dyn Observer,
) -> Result<Loaded, Error> {
    if let Source::File(path) = source
        && cache::is_cache(path).unwrap_or(false)
    {
        return read(source, options, observer);
    }
    Ok(cache::make_nameless(source, options, path, observer)?.load()?)
}

/// Writes a data set to a file that is whole or not there. Gives what the format cannot hold.
pub fn write(
    data: &Dataset,
    schema: &Schema,
    path: &Path,
    format: Format,
    observer: &mut dyn Observer,
) -> Result<Vec<Loss>, Error> {
    let (_, compression) = format_of_name(path);
    readable::check(data, schema, format)?;
    let mut interrupted = false;
    let result = write_atomically(path, |out| {
        let watch = &mut |rows: u64, bytes: u64| {
            let total = (bytes as f64 / rows.max(1) as f64 * data.len() as f64) as u64;
            interrupted = observer.progress(&Progress::Writing { bytes, total, rows }).is_break();
            if interrupted { Err(io::Error::other("interrupted")) } else { Ok(()) }
        };
        compressed(out, compression, |out| write_rows(data, data.len(), schema, format, out, watch))
    });
    if interrupted {
        return Err(Error::Interrupted);
    }
    result?;
    Ok(lost(data, schema, format))
}

/// Writes the first `rows` rows.
fn write_rows(
    data: &Dataset,
    rows: usize,
    schema: &Schema,
    format: Format,
    out: &mut dyn Write,
    watch: Watch<'_>,
) -> io::Result<()> {
    match format {
        Format::LIBSVM => text_formats::write_libsvm(data, rows, schema, out, watch),
        Format::CSV => text_formats::write_table(data, rows, schema, b',', out, watch),
        Format::TSV => text_formats::write_table(data, rows, schema, b'\t', out, watch),
        Format::NPZ => npz::write(data, out, watch),
        _ => Err(io::Error::other("this format is written elsewhere")),
    }
}

/// Called with rows and bytes written; an error stops the work.
type Watch<'a> = &'a mut dyn FnMut(u64, u64) -> io::Result<()>;

fn compressed(
    out: &mut dyn Write,
    compression: Compression,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match compression {
        Compression::None => write(out),
        #[cfg(feature = "compression")]
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut encoder)?;
            encoder.finish().map(|_| ())
        }
        #[cfg(feature = "compression")]
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(out, 3)?;
            write(&mut encoder)?;
            encoder.finish().map(|_| ())
        }
        #[cfg(not(feature = "compression"))]
        Compression::Gzip | Compression::Zstd => {
            Err(io::Error::other("this linsep was built without its feature `compression`"))
        }
    }
}

/// What a format cannot hold of these rows.
fn lost(data: &Dataset, schema: &Schema, format: Format) -> Vec<Loss> {
    let mut lost = Vec::new();
    let mut lose = |text: String, changes_rows| lost.push(Loss { text, changes_rows });
    let named = schema.feature_names().is_some();
    if format.is_table() && matches!(schema, Schema::Table { header: true, .. }) && schema.features() > 0 {
        let (own, written) = (schema.feature_name(0), text_formats::header_names(schema).swap_remove(0));
        if own != written {
            let text = format!(
                "Columns are named \"{written}\" instead of \"{own}\", and so on: a header of such names would be read as a row."
            );
            lose(text, false);
        }
    }
    if format == Format::LIBSVM && !text_formats::first_row_has_zeros(data) {
        let used = (0..data.len()).map(|i| text_formats::used_width(data.row(i))).max().unwrap_or(0);
        if used < data.columns() {
            let count =
                crate::numbers::counted((data.columns() - used) as u64, "feature has", "features have");
            let text = format!(
                "The last {count} no values but zeros, and LIBSVM does not say how many features there are."
            );
            lose(text, true);
        }
        let from_zero = schema.index_base() == 0;
        if from_zero && (0..data.len()).all(|i| text_formats::first_used(data.row(i)) != Some(0)) {
            let text = "The features count from 0 but none is number 0: read the file with ⟦index_base=0⟧.";
            lose(text.to_string(), true);
        }
    }
    if named && matches!(format, Format::LIBSVM | Format::NPZ) {
        let title = format.title();
        lose(format!("The names of the features are lost: {title} has no place for them."), false);
    }
    if format.is_table() && matches!(schema, Schema::Table { columns, .. } if columns.iter().any(is_words)) {
        lose("Columns of words are written as one column of 0 and 1 for each word.".to_string(), false);
    }
    lost
}

fn is_words(column: &crate::read::Column) -> bool {
    matches!(column.kind, crate::read::ColumnKind::Words { .. })
}

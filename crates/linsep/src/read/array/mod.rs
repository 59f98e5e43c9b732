//! NumPy arrays: `.npy` with the labels in a file of their own, `.npz` with rows and labels, or a sparse matrix
//! as SciPy saves it. And IDX files, which hold the same with a shorter header.

mod archive;
pub(crate) mod checksum;
mod idx;
mod label_column;
mod npy;
mod npy_stream;
#[cfg(test)]
mod tests;
mod zip;

use super::error::{ReadError, ReadErrorKind, excerpt};
use super::formats::{Detect, FormatColumns, FormatDescriptor};
use super::label_table::LabelTable;
use super::reader::{Expected, Opening, RecordReader};
use super::source::Input;
use super::{Batch, Format, Labels, ReadNotes, ReadOptions, Schema};
use crate::Error;
use crate::dataset::BatchRows;
use crate::features::PictureForm;
use crate::numbers;
use archive::{Csr, Matrix};
pub(in crate::read) use label_column::LabelColumn;
pub use label_column::read_weights;
use npy::{Form, Npy};
use npy_stream::Stream;
use std::io::Read;
pub(in crate::read) use zip::Archive;

/// Rows handed out at a time, and numbers: wide rows come in smaller batches.
const BATCH_ROWS: usize = 4096;
const BATCH_VALUES: usize = 1 << 18;

pub(super) static NPY: FormatDescriptor = FormatDescriptor {
    name: Format::NPY.name(),
    title: "NumPy",
    help: "One NumPy array, with the labels in a file of their own",
    extensions: &["npy"],
    detect: Detect::Magic(b"\x93NUMPY"),
    ..ARRAY
};

pub(super) static NPZ: FormatDescriptor = FormatDescriptor {
    name: Format::NPZ.name(),
    help: "An archive of NumPy arrays: rows and labels, or a SciPy sparse matrix",
    extensions: &["npz"],
    is_written: true,
    detect: Detect::Magic(b"PK\x03\x04"),
    ..ARRAY
};

pub(super) static IDX: FormatDescriptor = FormatDescriptor {
    name: Format::IDX.name(),
    title: "IDX",
    help: "IDX, as MNIST comes: pictures, with the labels in a file of their own or beside it",
    extensions: &["idx", "idx3-ubyte", "idx2-ubyte"],
    detect: Detect::Bytes(idx::is_idx),
    ..ARRAY
};

const ARRAY: FormatDescriptor = FormatDescriptor {
    name: "",
    title: "NumPy",
    help: "",
    extensions: &[],
    columns: FormatColumns::Array,
    is_text: false,
    is_written: false,
    options: &["labels"],
    matched_by_number: Some("the columns of this array are matched by their order to the model's features."),
    detect: Detect::ByNameOnly,
    open,
};

impl Format {
    /// One NumPy array.
    pub const NPY: Format = Format::named("npy");
    /// IDX, as MNIST comes.
    pub const IDX: Format = Format::named("idx");
    /// An archive of NumPy arrays.
    pub const NPZ: Format = Format::named("npz");
}

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, input, format, options, source, .. } = opening;
    let beside = match (options.labels, &options.array.labels_file) {
        (Labels::Required, None) if format == Format::IDX => source.path().and_then(idx::labels_beside),
        _ => None,
    };
    let Some(labels) = beside else { return Ok(Box::new(ArrayReader::new(name, input, format, options)?)) };
    let mut options = options.clone();
    let remark = format!("The labels are those of {}, beside it.", labels.display());
    options.array.labels_file = Some(labels);
    let mut reader = ArrayReader::new(name, input, format, &options)?;
    reader.notes.remarks.push(remark);
    Ok(Box::new(reader))
}

pub(crate) struct ArrayReader {
    name: String,
    matrix: Matrix,
    rows: usize,
    columns: usize,
    /// The labels, where they are needed.
    labels: Option<LabelColumn>,
    table: LabelTable,
    class_limit: usize,
    next: usize,
    skip_bad: bool,
    known: Option<Schema>,
    /// What the rows are, if they are pictures.
    pictures: Option<PictureForm>,
    /// Numbers in columns that the model does not have.
    beyond: u64,
    notes: ReadNotes,
}

/// The problem with a row: in which column (0 for the label), and what.
type Fault = (usize, ReadErrorKind);

impl ArrayReader {
    pub(crate) fn new(
        name: String,
        input: Input,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let located = |kind| ReadError::whole(&name, kind);
        let wrong = |problem| located(ReadErrorKind::Array(problem));
        let mut pictures = None;
        let (matrix, inner_labels) = match format {
            Format::IDX => {
                let mut input = input;
                let idx = idx::take_header(&mut input).map_err(located)?;
                pictures = idx.pictures;
                (Matrix::Stream(Stream::open(input, idx.form, idx.header).map_err(located)?), None)
            }
            Format::NPZ => {
                let bytes = take_all(input, Vec::new()).map_err(located)?;
                archive::open(bytes).map_err(wrong)?
            }
            _ => (open_array(input).map_err(located)?, None),
        };
        let (rows, columns) = size(&matrix).map_err(wrong)?;
        if let (Some(found), Some(Schema::Pictures(expected))) = (pictures, &options.schema)
            && found != *expected
        {
            return Err(located(ReadErrorKind::PictureForm { found, expected: *expected }));
        }
        check_columns(&matrix, columns, options).map_err(located)?;
        let labels = match (options.labels, &options.array.labels_file, inner_labels) {
            (Labels::Ignored, ..) => None,
            (Labels::Required, Some(path), _) => Some(LabelColumn::open(path)?),
            (Labels::Required, None, Some(array)) => {
                Some(LabelColumn::from_array(name.clone(), array).map_err(located)?)
            }
            (Labels::Required, None, None) => {
                return Err(wrong(
                    "the file has no labels: name the file that has them with ⟦labels⟧".into(),
                ));
            }
        };
        if let Some(labels) = &labels
            && labels.len() != rows
        {
            let counted = |count, one, many| numbers::counted(count as u64, one, many);
            let problem = format!(
                "{} for the {} of {name}",
                counted(labels.len(), "label", "labels"),
                counted(rows, "row", "rows")
            );
            let source_name = labels.source_name().to_string();
            let kind = ReadErrorKind::Array(problem);
            return Err(ReadError { source_name, line: None, column: None, kind });
        }
        let (what, form) = match &matrix {
            Matrix::Stream(stream) if format == Format::IDX => ("IDX", stream.form()),
            Matrix::Dense(array) => ("NumPy array", array.form()),
            Matrix::Stream(stream) => ("NumPy array", stream.form()),
            Matrix::Sparse(csr) => ("SciPy sparse matrix", csr.data.form()),
        };
        let kind = form.type_name();
        let format = match pictures {
            Some(form) => {
                format!("{what}, {}", numbers::counted(rows as u64, "picture", "pictures"))
                    + &format!(" of {form}")
            }
            None => format!("{what}, {rows} × {columns}, {kind}"),
        };
        Ok(Self {
            name,
            matrix,
            rows,
            columns,
            labels,
            table: LabelTable::default(),
            class_limit: options.class_limit(),
            next: 0,
            skip_bad: options.skip_bad,
            known: options.schema.clone(),
            pictures,
            beyond: 0,
            notes: ReadNotes { format, ..ReadNotes::default() },
        })
    }

    fn label(&mut self, row: usize) -> Result<u32, Fault> {
        let Some(labels) = &mut self.labels else { return Ok(Batch::UNLABELLED) };
        let text = labels.text(row).map_err(|kind| (0, kind))?;
        let bad = || (0, ReadErrorKind::BadLabel { found: excerpt(text.as_bytes()) });
        let class = self.table.class(text.as_bytes()).ok_or_else(bad)?;
        self.table.check(self.class_limit).map_err(|kind| (0, kind))?;
        Ok(class)
    }

    /// Skips a malformed row, or stops at it.
    fn refuse(&mut self, row: usize, column: usize, kind: ReadErrorKind) -> Result<(), ReadError> {
        let line = row as u64 + 1;
        if self.skip_bad && kind.is_row() {
            self.notes.skip(line, kind.to_string());
            return Ok(());
        }
        let source_name = match &self.labels {
            Some(labels) if column == 0 => labels.source_name().to_string(),
            _ => self.name.clone(),
        };
        let column = (column > 0).then_some(column as u64);
        // The file as a whole may be wrong, and found out here.
        Err(ReadError { source_name, line: kind.is_row().then_some(line), column, kind })
    }

    /// Leaves out the numbers of the last row that no weight of the model belongs to.
    fn drop_beyond(&mut self, start: usize, indices: &mut Vec<u32>, values: &mut Vec<f64>) {
        let Some(schema) = &self.known else { return };
        let inside = indices[start..].partition_point(|&index| (index as usize) < schema.features());
        self.beyond += (indices.len() - start - inside) as u64;
        indices.truncate(start + inside);
        values.truncate(start + inside);
    }
}

impl RecordReader for ArrayReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut lines) = (Vec::new(), Vec::new());
        while self.next < self.rows && labels.len() < BATCH_ROWS && values.len() < BATCH_VALUES {
            let row = self.next;
            if let Matrix::Stream(stream) = &mut self.matrix {
                let located = |kind| ReadError::whole(&self.name, kind);
                stream.advance(row).map_err(located)?;
            }
            self.next += 1;
            let kept = values.len();
            let read = match &self.matrix {
                Matrix::Dense(array) => array.append_row(row, &mut values),
                Matrix::Stream(stream) => stream.append_row(row, &mut values),
                Matrix::Sparse(csr) => sparse_row(csr, row, &mut indices, &mut values),
            };
            match read.and_then(|()| self.label(row)) {
                Ok(label) => {
                    labels.push(label);
                    lines.push(row as u64 + 1);
                }
                Err((column, kind)) => {
                    // Nothing of a malformed row stays.
                    values.truncate(kept);
                    indices.truncate(kept);
                    self.refuse(row, column, kind)?;
                    continue;
                }
            }
            if let Matrix::Sparse(_) = self.matrix {
                self.drop_beyond(kept, &mut indices, &mut values);
                offsets.push(indices.len());
            }
        }
        if labels.is_empty() {
            return Ok(None);
        }
        let rows = match self.matrix {
            Matrix::Dense(_) | Matrix::Stream(_) => BatchRows::Dense { columns: self.columns, values },
            Matrix::Sparse(_) => BatchRows::Sparse { offsets, indices, values },
        };
        Ok(Some(Batch { rows, labels, lines: Some(lines), filled: None, weights: None, hashed: Vec::new() }))
    }

    fn label_names(&self) -> &[String] {
        self.table.names()
    }

    fn schema(&self) -> Schema {
        let own = match self.pictures {
            Some(form) => Schema::Pictures(form),
            None => Schema::Array { features: self.columns },
        };
        self.known.clone().unwrap_or(own)
    }

    fn notes(&self) -> ReadNotes {
        let mut notes = self.notes.clone();
        if self.beyond > 0 {
            let text = if self.beyond == 1 {
                "1 number stands in a column that the model does not have; it is ignored.".to_string()
            } else {
                let count = self.beyond;
                format!("{count} numbers stand in columns that the model does not have; they are ignored.")
            };
            notes.remarks.push(text);
        }
        notes
    }

    fn expected(&self) -> Expected {
        match &self.matrix {
            // Only the header says how many.
            Matrix::Stream(stream) if !stream.is_vouched() => Expected::Unknown,
            Matrix::Sparse(csr) => Expected::Rows(self.rows, csr.stored()),
            _ => Expected::Rows(self.rows, self.rows * self.columns),
        }
    }
}

/// A `.npy` file: in memory as a whole only if its rows are scattered.
fn open_array(mut input: Input) -> Result<Matrix, ReadErrorKind> {
    let header = npy::take_header(&mut input)?;
    let (form, start) = Form::parse(&header).map_err(ReadErrorKind::Array)?;
    if form.has_rows_in_order() {
        return Ok(Matrix::Stream(Stream::open(input, form, start)?));
    }
    let bytes = take_all(input, header)?;
    Ok(Matrix::Dense(Npy::parse(bytes).map_err(ReadErrorKind::Array)?))
}

/// Appends all that is left of a file.
fn take_all(mut input: Input, mut bytes: Vec<u8>) -> Result<Vec<u8>, ReadErrorKind> {
    let length = input.length().and_then(|length| usize::try_from(length).ok());
    // Only a hint, like the length.
    let _ = bytes.try_reserve_exact(length.unwrap_or(0).saturating_sub(bytes.len()));
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Rows and columns.
fn size(matrix: &Matrix) -> Result<(usize, usize), String> {
    match matrix {
        Matrix::Sparse(csr) if csr.columns == 0 => Err("the sparse matrix has no columns".to_string()),
        Matrix::Sparse(csr) => Ok((csr.rows(), csr.columns)),
        Matrix::Dense(array) => array.form().size(),
        Matrix::Stream(stream) => stream.form().size(),
    }
}

fn check_columns(matrix: &Matrix, columns: usize, options: &ReadOptions) -> Result<(), ReadErrorKind> {
    match (&options.schema, matrix) {
        (Some(schema), Matrix::Dense(_) | Matrix::Stream(_)) if columns != schema.features() => {
            Err(ReadErrorKind::ColumnCount { found: columns, expected: schema.features().to_string() })
        }
        (None, _) if columns > options.feature_limit() as usize => {
            Err(ReadErrorKind::TooManyFeatures { limit: options.feature_limit() })
        }
        _ => Ok(()),
    }
}

fn sparse_row(csr: &Csr, row: usize, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Result<(), Fault> {
    let mut cells = Vec::with_capacity(csr.row(row).len());
    for position in csr.row(row) {
        let limit = u32::try_from(csr.columns).unwrap_or(u32::MAX).saturating_sub(1);
        let bad_index = |found| (1, ReadErrorKind::BadIndex { found, limit });
        let column = csr.column(position).map_err(bad_index)?;
        let value = csr.number(position).map_err(|kind| (column as usize + 1, kind))?;
        cells.push((column, value));
    }
    // SciPy does not promise an order. Numbers of one place are added in the order in which they are stored.
    cells.sort_by_key(|&(column, _)| column);
    if csr.adds {
        cells.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0.0 };
            same
        });
        if let Some(&(column, sum)) = cells.iter().find(|(_, sum)| !sum.is_finite()) {
            return Err((column as usize + 1, ReadErrorKind::NotFinite { found: sum.to_string() }));
        }
    }
    if let Some(pair) = cells.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err((pair[0].0 as usize + 1, ReadErrorKind::RepeatedIndex { index: pair[0].0 }));
    }
    for (column, value) in cells.into_iter().filter(|&(_, value)| value != 0.0) {
        indices.push(column);
        values.push(value);
    }
    Ok(())
}

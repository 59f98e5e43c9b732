//! Parquet and Arrow files: tables whose columns have types.
//!
//! Their rows are rewritten as CSV, batch by batch, so that a column of numbers, dates or words becomes what it would become
//! from a CSV file. Structures are laid flat, `size.w`; lists and binary columns must be left out.

mod lengths;

use super::error::{ReadError, ReadErrorKind, RowFailure};
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor, is_binary};
use super::guarded::guarded;
use super::reader::{Opening, RecordReader};
use super::rewritten::{Noticed, Rewritten, TABLE_OPTIONS, push_cell, take_all};
use super::source::{HEAD_BYTES, Input, Source};
use super::{ReadOptions, Schema};
use crate::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

pub(super) static PARQUET: FormatDescriptor = FormatDescriptor {
    name: Format::PARQUET.name(),
    title: "Parquet",
    help: "A Parquet file",
    extensions: &["parquet"],
    detect: Detect::Bytes(is_parquet),
    ..COLUMNAR
};

pub(super) static ARROW: FormatDescriptor = FormatDescriptor {
    name: Format::ARROW.name(),
    title: "Arrow",
    help: "An Arrow IPC file or stream (Feather)",
    extensions: &["arrow", "feather"],
    detect: Detect::Bytes(is_arrow),
    ..COLUMNAR
};

const COLUMNAR: FormatDescriptor = FormatDescriptor {
    name: "",
    title: "",
    help: "",
    extensions: &[],
    columns: FormatColumns::Table,
    is_text: false,
    is_written: false,
    options: TABLE_OPTIONS,
    matched_by_number: None,
    detect: Detect::ByNameOnly,
    open,
};

impl Format {
    /// A Parquet file.
    pub const PARQUET: Format = Format::named("parquet");
    /// An Arrow IPC file or stream.
    pub const ARROW: Format = Format::named("arrow");
}

/// Whether bytes begin a Parquet file: a table may begin with a column called PAR1, but has no bytes that are not text.
fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1") && head.iter().any(|&byte| is_binary(byte))
}

/// Whether bytes begin an Arrow file, or a stream: a marker and the length of the schema.
fn is_arrow(head: &[u8]) -> bool {
    head.starts_with(b"ARROW1\0\0") || matches!(*head, [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..])
}

/// The batches of a file.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

/// Rows of a batch: few enough that wide rows fit into memory.
const BATCH_ROWS: usize = 1024;

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, source, mut input, format, options, guess } = opening;
    let located = |kind| ReadError::whole(&name, kind);
    let damaged = |problem: String| located(ReadErrorKind::Damaged(problem));
    let (schema, batches) = match source {
        // A file is read where its columns lie, not as a whole.
        Source::File(path) if path.is_file() => {
            let file = File::open(path).map_err(|error| located(error.into()))?;
            match format {
                Format::PARQUET => parquet_batches(file),
                _ => arrow_batches(BufReader::new(file), input.head()),
            }
        }
        _ => {
            let head = input.head().to_vec();
            let bytes = take_all(&mut input, usize::MAX).map_err(|error| located(error.into()))?;
            match format {
                Format::PARQUET => parquet_batches(bytes::Bytes::from(bytes)),
                _ => arrow_batches(Cursor::new(bytes), &head),
            }
        }
    }
    .map_err(damaged)?;
    let mut columns = Vec::new();
    lay_flat(&schema, "", &mut Vec::new(), &mut columns);
    let needed = |column: &&Leaf| is_needed(&column.name, options);
    if let Some(column) = columns.iter().filter(needed).find(|column| !is_readable(&column.kind)) {
        let (column, holds) = (column.name.clone(), kind_name(&column.kind));
        return Err(located(ReadErrorKind::UnreadableColumn { column, holds }).into());
    }
    columns.retain(|column| is_readable(&column.kind));
    let mut options = options.clone();
    options.csv.delimiter = Some(b',');
    options.csv.header = Some(true);
    let rows = Rows { batches, columns, text: Vec::new(), given: 0, row: 0, started: false };
    let text = Input::new(Box::new(rows), HEAD_BYTES).map_err(|error| match RowFailure::of(error) {
        Ok(failure) => located(failure.kind),
        Err(error) => located(error.into()),
    })?;
    let title = format.title();
    Ok(Box::new(Rewritten::open(name.clone(), text, &options, guess, 0, title, Noticed::default())?))
}

/// Whether a column is used: not left out, and known to the model if there is one.
fn is_needed(name: &str, options: &ReadOptions) -> bool {
    match &options.schema {
        Some(Schema::Table { columns, .. }) => {
            columns.iter().any(|column| column.name == name && column.kind.features().is_some())
        }
        _ => !options
            .csv
            .ignore
            .iter()
            .any(|ignored| ignored == name || name.starts_with(&format!("{ignored}."))),
    }
}

/// What a library that decodes says, with what is wrong as a text.
fn decoded<T, E: std::fmt::Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    guarded(
        || decode().map_err(|error| format!("the file is damaged: {error}")),
        || "the file is damaged".to_string(),
    )
}

fn parquet_batches<T: parquet::file::reader::ChunkReader + 'static>(
    file: T,
) -> Result<(Fields, Batches), String> {
    let builder = decoded(|| ParquetRecordBatchReaderBuilder::try_new(file))?;
    let schema = builder.schema().fields().clone();
    let mut reader = decoded(|| builder.with_batch_size(BATCH_ROWS).build())?;
    Ok((schema, Box::new(std::iter::from_fn(move || decoded(|| reader.next().transpose()).transpose()))))
}

fn arrow_batches<R: Read + io::Seek + Send + 'static>(
    mut file: R,
    head: &[u8],
) -> Result<(Fields, Batches), String> {
    let is_file = head.starts_with(b"ARROW1");
    lengths::check(&mut file, is_file)?;
    if is_file {
        let mut reader = decoded(|| FileReader::try_new(file, None))?;
        let schema = reader.schema().fields().clone();
        Ok((schema, Box::new(std::iter::from_fn(move || decoded(|| reader.next().transpose()).transpose()))))
    } else {
        let mut reader = decoded(|| StreamReader::try_new(file, None))?;
        let schema = reader.schema().fields().clone();
        Ok((schema, Box::new(std::iter::from_fn(move || decoded(|| reader.next().transpose()).transpose()))))
    }
}

/// A column of values: where it lies in a batch, through structures.
struct Leaf {
    name: String,
    path: Vec<usize>,
    kind: DataType,
}

/// The columns, with those of structures in their place.
fn lay_flat(fields: &[std::sync::Arc<Field>], prefix: &str, path: &mut Vec<usize>, leaves: &mut Vec<Leaf>) {
    for (place, field) in fields.iter().enumerate() {
        path.push(place);
        let name = format!("{prefix}{}", field.name());
        match field.data_type() {
            DataType::Struct(inner) => lay_flat(inner, &format!("{name}."), path, leaves),
            kind => leaves.push(Leaf { name, path: path.clone(), kind: kind.clone() }),
        }
        path.pop();
    }
}

/// Whether values of a type can stand in a cell.
fn is_readable(kind: &DataType) -> bool {
    use DataType::*;
    match kind {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16
        | Float32 | Float64 | Timestamp(..) | Date32 | Date64 | Time32(_) | Time64(_) | Utf8 | LargeUtf8
        | Utf8View | Decimal128(..) => true,
        Dictionary(_, values) => !matches!(**values, Dictionary(..)) && is_readable(values),
        _ => false,
    }
}

fn kind_name(kind: &DataType) -> &'static str {
    match kind {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "lists",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "binary data"
        }
        DataType::Map(..) => "maps",
        _ => "values of a type that is not read",
    }
}

/// The rows as CSV, batch after batch.
struct Rows {
    batches: Batches,
    columns: Vec<Leaf>,
    text: Vec<u8>,
    /// How much of the text was handed out.
    given: usize,
    /// Rows so far.
    row: u64,
    started: bool,
}

impl Rows {
    fn header(&self) -> String {
        let mut text = String::new();
        for (place, column) in self.columns.iter().enumerate() {
            text.push_str(if place > 0 { "," } else { "" });
            push_cell(&mut text, &column.name);
        }
        text + "\n"
    }

    fn rows(&self, batch: &RecordBatch) -> Result<String, String> {
        let mut text = String::new();
        let mut cell = String::new();
        let columns: Vec<Flat> =
            self.columns.iter().map(|column| Flat::of(batch, column)).collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            for (place, column) in columns.iter().enumerate() {
                text.push_str(if place > 0 { "," } else { "" });
                cell.clear();
                column.push(row, &mut cell)?;
                push_cell(&mut text, &cell);
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// A column of a batch, and the structures around it, any of which may be missing in a row.
struct Flat<'a> {
    around: Vec<&'a dyn Array>,
    values: &'a dyn Array,
    /// Of a dictionary, which value each row has.
    keys: Option<Vec<usize>>,
}

impl<'a> Flat<'a> {
    fn of(batch: &'a RecordBatch, column: &Leaf) -> Result<Self, String> {
        let gone = || format!("a batch of rows has no column \"{}\"", column.name);
        let mut values: &dyn Array = batch.columns().get(column.path[0]).ok_or_else(gone)?.as_ref();
        let mut around = Vec::new();
        for &place in &column.path[1..] {
            around.push(values);
            values = values
                .as_struct_opt()
                .and_then(|inner| inner.columns().get(place))
                .ok_or_else(gone)?
                .as_ref();
        }
        if *values.data_type() != column.kind {
            return Err(gone());
        }
        match values.as_any_dictionary_opt() {
            Some(words) => {
                around.push(values);
                Ok(Self { around, values: words.values().as_ref(), keys: Some(words.normalized_keys()) })
            }
            None => Ok(Self { around, values, keys: None }),
        }
    }

    /// Appends the value of a row, if it has one.
    fn push(&self, row: usize, cell: &mut String) -> Result<(), String> {
        if self.around.iter().any(|array| array.is_null(row)) {
            return Ok(());
        }
        let place = self.keys.as_ref().map_or(row, |keys| keys[row]);
        match place < self.values.len() {
            true if self.values.is_null(place) => Ok(()),
            true => push_value(self.values, place, cell),
            false => Err("a dictionary has no such word".to_string()),
        }
    }
}

/// Appends a value as CSV has it: numbers with all digits, dates as 2024-01-31.
fn push_value(array: &dyn Array, row: usize, cell: &mut String) -> Result<(), String> {
    use std::fmt::Write;
    macro_rules! plain {
        ($type:ty) => {
            write!(cell, "{}", array.as_primitive::<$type>().value(row))
        };
    }
    let written = match array.data_type() {
        DataType::Null => Ok(()),
        DataType::Boolean => write!(cell, "{}", array.as_boolean().value(row)),
        DataType::Int8 => plain!(Int8Type),
        DataType::Int16 => plain!(Int16Type),
        DataType::Int32 => plain!(Int32Type),
        DataType::Int64 => plain!(Int64Type),
        DataType::UInt8 => plain!(UInt8Type),
        DataType::UInt16 => plain!(UInt16Type),
        DataType::UInt32 => plain!(UInt32Type),
        DataType::UInt64 => plain!(UInt64Type),
        // The number itself, not the shortest text that stands for it among narrow numbers.
        DataType::Float16 => write!(cell, "{}", array.as_primitive::<Float16Type>().value(row).to_f64()),
        DataType::Float32 => write!(cell, "{}", f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => plain!(Float64Type),
        DataType::Utf8 => write!(cell, "{}", array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => write!(cell, "{}", array.as_string::<i64>().value(row)),
        DataType::Utf8View => write!(cell, "{}", array.as_string_view().value(row)),
        DataType::Decimal128(_, scale) => {
            push_decimal(array.as_primitive::<Decimal128Type>().value(row), *scale, cell);
            Ok(())
        }
        DataType::Date32 => {
            push_time(i128::from(array.as_primitive::<Date32Type>().value(row)) * 86_400, 1, cell)
        }
        DataType::Date64 => push_time(i128::from(array.as_primitive::<Date64Type>().value(row)), 1_000, cell),
        DataType::Timestamp(unit, _) => {
            let value = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
                TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().value(row),
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
            };
            push_time(i128::from(value), per_second(unit), cell)
        }
        DataType::Time32(TimeUnit::Second) => {
            push_hours(i64::from(array.as_primitive::<Time32SecondType>().value(row)), 1, cell)
        }
        DataType::Time32(_) => {
            push_hours(i64::from(array.as_primitive::<Time32MillisecondType>().value(row)), 1_000, cell)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            push_hours(array.as_primitive::<Time64MicrosecondType>().value(row), 1_000_000, cell)
        }
        DataType::Time64(_) => {
            push_hours(array.as_primitive::<Time64NanosecondType>().value(row), 1_000_000_000, cell)
        }
        _ => return Err("values of this type are not read".to_string()),
    };
    written.map_err(|error| error.to_string())
}

fn per_second(unit: &TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// A whole number with so many digits behind the point.
fn push_decimal(value: i128, scale: i8, cell: &mut String) {
    let digits = value.unsigned_abs().to_string();
    cell.push_str(if value < 0 { "-" } else { "" });
    match usize::try_from(scale) {
        Ok(0) => cell.push_str(&digits),
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            cell.push_str(&format!("{whole}.{fraction}"));
        }
        Err(_) => cell.push_str(&(digits + &"0".repeat(usize::from(scale.unsigned_abs())))),
    }
}

/// A moment since 1970 in parts of a second, as a date with its time if it has one.
fn push_time(value: i128, per_second: i128, cell: &mut String) -> std::fmt::Result {
    use std::fmt::Write;
    let day = value.div_euclid(86_400 * per_second);
    let (year, month, date) = calendar(day);
    if !(1..=9999).contains(&year) {
        // No date that anybody writes: the days, as a number.
        return write!(cell, "{}", value as f64 / (86_400 * per_second) as f64);
    }
    write!(cell, "{year:04}-{month:02}-{date:02}")?;
    let of_day = value.rem_euclid(86_400 * per_second);
    if of_day == 0 {
        return Ok(());
    }
    cell.push(' ');
    push_hours(of_day as i64, per_second as i64, cell)
}

/// A time of day in parts of a second.
fn push_hours(value: i64, per_second: i64, cell: &mut String) -> std::fmt::Result {
    use std::fmt::Write;
    let (seconds, part) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    write!(cell, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if part > 0 {
        let width = per_second.ilog10() as usize;
        write!(cell, ".{part:0width$}")?;
    }
    Ok(())
}

/// Year, month and day of a day since 1970, by the Gregorian calendar: counted from 1 March of the year 0, so that the day of a leap
/// year comes last.
fn calendar(day: i128) -> (i128, i128, i128) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i128::from(month <= 2), month, date)
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            (self.given, self.text) = (0, Vec::new());
            if !std::mem::replace(&mut self.started, true) {
                self.text = self.header().into_bytes();
                continue;
            }
            let Some(batch) = self.batches.next() else { return Ok(0) };
            let failed = |problem: String| RowFailure {
                line: self.row + 1,
                column: 0,
                kind: ReadErrorKind::Damaged(problem),
            };
            let batch = batch.map_err(failed)?;
            self.text = decoded(|| self.rows(&batch)).map_err(failed)?.into_bytes();
            self.row += batch.num_rows() as u64;
        }
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;

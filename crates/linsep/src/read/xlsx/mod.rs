//! Excel workbooks: the cells of one sheet, as a table.
//!
//! The cells come one by one, so that a sheet of two cells far apart is no large table. What a workbook unpacks to is measured
//! before it is opened.

use super::array::Archive;
use super::error::{ReadError, ReadErrorKind};
use super::foreign::is_workbook;
use super::formats::{Detect, Format, FormatColumns, FormatDescriptor};
use super::guarded::guarded;
use super::reader::{Opening, RecordReader};
use super::rewritten::{CellCount, Noticed, Rewritten, push_cell, take_all};
use super::source::Input;
use crate::numbers::{counted, grouped};
use crate::{Error, memory};
use calamine::{DataRef, ExcelDateTime, Reader, Xlsx, XlsxError};
use std::io::Cursor;
use std::sync::PoisonError;

pub(super) static XLSX: FormatDescriptor = FormatDescriptor {
    name: Format::XLSX.name(),
    title: "Excel",
    help: "An Excel workbook (.xlsx), of which one sheet is read",
    extensions: &["xlsx", "xlsm"],
    columns: FormatColumns::Table,
    is_text: false,
    is_written: false,
    options: &[
        "label",
        "ignore",
        "keep",
        "column",
        "header",
        "missing",
        "na",
        "auto",
        "sheet",
        "text",
        "text_options",
    ],
    matched_by_number: None,
    detect: Detect::Bytes(is_workbook),
    open,
};

impl Format {
    /// An Excel workbook.
    pub const XLSX: Format = Format::named("xlsx");
}

/// What a workbook may unpack to: so much in any case, so much for each of its bytes, and no more than the last. XML is packed to a
/// tenth or a twentieth; a workbook of a few kilobytes can claim to be any number of gigabytes.
const FREE_UNPACKED: u64 = 1 << 27;
const UNPACKED_FOR_EACH: u64 = 64;
const MAX_UNPACKED: u64 = 4 << 30;

/// The bytes of text that its cells may have, in the same way. One text may be shared by any number of cells.
const FREE_TEXT: u64 = 1 << 26;
const TEXT_FOR_EACH: u64 = 16;

/// The rows and columns of a sheet, by Excel's own limits.
const MAX_ROWS: u32 = 1 << 20;
const MAX_COLUMNS: u32 = 1 << 14;

fn open(opening: Opening<'_>) -> Result<Box<dyn RecordReader>, Error> {
    let Opening { name, mut input, options, guess, .. } = opening;
    let located = |kind| ReadError::whole(&name, kind);
    let wrong = |problem: String| located(ReadErrorKind::Damaged(problem));
    let bytes = take_all(&mut input, usize::MAX).map_err(|error| located(error.into()))?;
    let length = bytes.len() as u64;
    let archive = Archive::open(bytes).map_err(wrong)?;
    // A cell is a part of a line, and the workbook has it in memory several times.
    let most = MAX_UNPACKED.min(FREE_UNPACKED + UNPACKED_FOR_EACH * length);
    archive.check_unpacked(most, options.line_limit() as u64).map_err(wrong)?;
    let noticed = Noticed::default();
    let decode = || {
        let mut book = Xlsx::new(Cursor::new(archive.into_bytes())).map_err(|error| wrong(said(&error)))?;
        let names = book.sheet_names();
        let sheet = choose_sheet(&names, options.csv.sheet.as_deref(), &noticed).map_err(located)?;
        Sheet::read(&mut book, &sheet, length).map_err(wrong)
    };
    let sheet = guarded(decode, || wrong("the workbook is damaged".to_string()))?;
    if sheet.cells.is_empty() {
        return Err(located(ReadErrorKind::Empty).into());
    }
    let text = sheet.to_csv().map_err(located)?;
    let mut options = options.clone();
    options.csv.delimiter = Some(b',');
    let title = format!("Excel workbook, sheet \"{}\"", sheet.name);
    let first_line = u64::from(sheet.cells[0].row) + 1;
    let text = Input::of_text(text.into_bytes());
    Ok(Box::new(Rewritten::open(name.clone(), text, &options, guess, first_line, &title, noticed)?))
}

/// What the library says of a workbook, without the names of its types.
fn said(error: &XlsxError) -> String {
    format!("the workbook is damaged: {error}")
}

/// The sheet that is meant by a name, or by a number from 1; the first if none is.
fn choose_sheet(names: &[String], wanted: Option<&str>, noticed: &Noticed) -> Result<String, ReadErrorKind> {
    let listed = || names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let Some(first) = names.first() else {
        return Err(ReadErrorKind::Damaged("it has no sheets".to_string()));
    };
    let Some(wanted) = wanted else {
        if names.len() > 1 {
            let others = counted(names.len() as u64 - 1, "sheet is", "sheets are");
            let remark = format!(
                "Sheet \"{first}\" is read; {others} not. Another can be named with ⟦sheet⟧: {}.",
                listed()
            );
            noticed.lock().unwrap_or_else(PoisonError::into_inner).remarks.push(remark);
        }
        return Ok(first.clone());
    };
    let by_number = || wanted.parse::<usize>().ok().and_then(|number| names.get(number.checked_sub(1)?));
    names.iter().find(|name| *name == wanted).or_else(by_number).cloned().ok_or_else(|| {
        ReadErrorKind::Misused(format!("⟦sheet⟧ names \"{wanted}\", and the sheets are {}", listed()))
    })
}

/// The used cells of a sheet.
struct Sheet {
    name: String,
    cells: Vec<Cell>,
    texts: String,
}

/// Where a cell is, and where its text is.
struct Cell {
    row: u32,
    column: u32,
    text: std::ops::Range<usize>,
}

impl Sheet {
    /// The cells of a sheet, of a workbook with so many bytes.
    fn read(book: &mut Xlsx<Cursor<Vec<u8>>>, name: &str, length: u64) -> Result<Self, String> {
        let most_text = FREE_TEXT + TEXT_FOR_EACH * length;
        let mut sheet = Self { name: name.to_string(), cells: Vec::new(), texts: String::new() };
        let mut reader = book.worksheet_cells_reader(name).map_err(|error| said(&error))?;
        // What was held when memory was last looked at.
        let mut looked = 0;
        while let Some(cell) = reader.next_cell().map_err(|error| said(&error))? {
            let start = sheet.texts.len();
            sheet.push_value(cell.get_value());
            if sheet.texts.len() == start {
                continue;
            }
            let (row, column) = cell.get_position();
            if row >= MAX_ROWS || column >= MAX_COLUMNS {
                return Err(format!(
                    "the workbook is damaged: a cell in row {}, column {} of a sheet, which has {} rows and {} columns at most",
                    grouped(u64::from(row) + 1),
                    grouped(u64::from(column) + 1),
                    grouped(u64::from(MAX_ROWS)),
                    grouped(u64::from(MAX_COLUMNS))
                ));
            }
            sheet.cells.push(Cell { row, column, text: start..sheet.texts.len() });
            if sheet.texts.len() as u64 > most_text {
                return Err(format!(
                    "the first {} of sheet \"{name}\" have more than {} bytes of text, which is the most that is accepted of a workbook \
                     of {} bytes: many cells share long texts",
                    counted(sheet.cells.len() as u64, "cell", "cells"),
                    grouped(most_text),
                    grouped(length)
                ));
            }
            const STEP: usize = 1 << 26;
            let held = sheet.texts.len() + sheet.cells.len() * size_of::<Cell>();
            if held > looked + STEP {
                looked = held;
                memory::check(2 * held as u64, || "the cells of the sheet".to_string())
                    .map_err(|error| error.to_string())?;
            }
        }
        if !sheet.cells.is_sorted_by_key(|cell| (cell.row, cell.column)) {
            sheet.cells.sort_by_key(|cell| (cell.row, cell.column));
        }
        let twice = sheet
            .cells
            .windows(2)
            .find(|pair| (pair[0].row, pair[0].column) == (pair[1].row, pair[1].column));
        match twice {
            Some(pair) => Err(format!("the workbook is damaged: row {} has a cell twice", pair[0].row + 1)),
            None => Ok(sheet),
        }
    }

    /// Appends what a cell shows: numbers with all digits, dates as 2024-01-31, errors as Excel spells them.
    fn push_value(&mut self, value: &DataRef<'_>) {
        match value {
            DataRef::Empty => {}
            DataRef::Int(number) => self.texts.push_str(&number.to_string()),
            DataRef::Float(number) => self.texts.push_str(&number.to_string()),
            DataRef::String(text) => self.texts.push_str(text),
            DataRef::SharedString(text) => self.texts.push_str(text),
            DataRef::Bool(truth) => self.texts.push_str(if *truth { "TRUE" } else { "FALSE" }),
            DataRef::DateTime(time) => self.texts.push_str(&spelled(time)),
            DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => self.texts.push_str(text),
            DataRef::Error(error) => self.texts.push_str(&error.to_string()),
        }
    }

    /// The rectangle that the cells span, as CSV. A row without cells is a blank line.
    fn to_csv(&self) -> Result<String, ReadErrorKind> {
        let columns = || self.cells.iter().map(|cell| cell.column);
        let (first, last) = (columns().min().unwrap_or(0), columns().max().unwrap_or(0));
        let (Some(top), Some(bottom)) = (self.cells.first(), self.cells.last()) else {
            return Ok(String::new());
        };
        let (wide, named) = (u64::from(last - first) + 1, self.cells.len() as u64);
        let high = self.cells.chunk_by(|cell, next| cell.row == next.row).count() as u64;
        CellCount::check(high, wide, named)?;
        let blank = u64::from(bottom.row - top.row) + 1 - high;
        let least = wide * high + blank + self.texts.len() as u64;
        memory::check(least, || "the rows of the sheet".to_string())
            .map_err(|error| ReadErrorKind::Damaged(error.to_string()))?;
        let mut text = String::new();
        let mut cells = self.cells.iter().peekable();
        for row in top.row..=bottom.row {
            if cells.peek().is_some_and(|cell| cell.row == row) {
                for column in first..=last {
                    if column > first {
                        text.push(',');
                    }
                    if let Some(cell) = cells.next_if(|cell| (cell.row, cell.column) == (row, column)) {
                        push_cell(&mut text, &self.texts[cell.text.clone()]);
                    }
                }
                // A row of one empty cell would be a blank line.
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// A date, with the time where it has one; a time of day if that is all.
fn spelled(time: &ExcelDateTime) -> String {
    let serial = time.as_f64();
    if time.is_duration() || !(0.0..2_958_466.0).contains(&serial) {
        return serial.to_string();
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let mut of_day = format!("{hour:02}:{minute:02}:{second:02}");
    if milli > 0 {
        of_day += &format!(".{milli:03}");
    }
    match () {
        () if serial < 1.0 => of_day,
        () if serial.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
        () => format!("{year:04}-{month:02}-{day:02} {of_day}"),
    }
}

#[cfg(test)]
mod tests;

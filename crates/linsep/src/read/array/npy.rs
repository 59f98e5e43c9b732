//! One array in NumPy's `.npy` format: a header that is checked against the bytes that are there, then numbers
//! or texts by position.
//!
//! The header is parsed here rather than by a library, because a shape whose product overflows and a length
//! that no file has must be errors before anything is multiplied or allocated.

use crate::numbers;
use crate::read::error::ReadErrorKind;
use std::io::{self, Read};

/// Longer headers are not read: those of plain arrays have a hundred bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// Bytes before the text of the header: in version 1 of the format, and later.
const SHORT_PREAMBLE: usize = 10;
const LONG_PREAMBLE: usize = 12;

/// An array and its bytes.
#[derive(Debug)]
pub(super) struct Npy {
    bytes: Vec<u8>,
    /// Where the items start.
    start: usize,
    form: Form,
}

/// What the header says.
#[derive(Clone, Debug)]
pub(super) struct Form {
    item: Item,
    fortran: bool,
    shape: Vec<usize>,
    /// Bytes of all items.
    promised: usize,
}

/// The type of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Item {
    kind: Kind,
    /// Bytes of one item.
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    /// Text of one byte per character.
    Bytes,
    /// Text of four bytes per character.
    Unicode,
}

impl Npy {
    /// Parses a whole file; an error says what is wrong.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let (form, start) = Form::parse(&bytes)?;
        form.check_length(bytes.len() - start)?;
        Ok(Self { bytes, start, form })
    }

    /// No rows yet of an array of this form: they come by [`refill`](Self::refill).
    pub(super) fn window(form: &Form, columns: usize) -> Self {
        let form = Form { fortran: false, shape: vec![0, columns], ..form.clone() };
        Self { bytes: Vec::new(), start: 0, form }
    }

    /// Replaces the rows of a window by the next ones; how many bytes there were for them. If they are fewer
    /// than [`Form::row_bytes`] for each row, the window is of no use.
    pub(super) fn refill(&mut self, input: &mut impl Read, rows: usize) -> io::Result<usize> {
        let wanted = rows.saturating_mul(self.form.row_bytes());
        self.form.shape[0] = rows;
        self.bytes.clear();
        // More room is made as bytes come, because a header can claim rows of any length.
        let _ = self.bytes.try_reserve_exact(wanted.min(1 << 22));
        input.take(wanted as u64).read_to_end(&mut self.bytes)
    }

    pub(super) fn form(&self) -> &Form {
        &self.form
    }

    /// Whether items are numbers or truth values.
    pub(super) fn is_numeric(&self) -> bool {
        self.form.is_numeric()
    }

    /// Number of items, if they form one line: one dimension, or one column.
    pub(super) fn line_length(&self) -> Option<usize> {
        self.form.line_length()
    }

    /// The position of an item of a two-dimensional array.
    fn position(&self, row: usize, column: usize) -> usize {
        match self.form.shape[..] {
            [rows, columns, ..] => {
                if self.form.fortran {
                    column * rows + row
                } else {
                    row * columns + column
                }
            }
            _ => row,
        }
    }

    /// Appends the numbers of a row of a two-dimensional array. An error comes with its column, from 1; what was
    /// appended before it is the caller's to take back.
    pub(super) fn append_row(&self, row: usize, values: &mut Vec<f64>) -> Result<(), (usize, ReadErrorKind)> {
        let kept = values.len();
        if self.append_quickly(row, values) {
            return Ok(());
        }
        values.truncate(kept);
        for column in 0..self.form.columns() {
            let number = self.number(self.position(row, column));
            values.push(number.map_err(|kind| (column + 1, kind))?);
        }
        Ok(())
    }

    /// Does for the usual types without a branch per number what [`append_row`](Self::append_row) does for all;
    /// `false` if this is none of them, or a number is not finite.
    fn append_quickly(&self, row: usize, values: &mut Vec<f64>) -> bool {
        let kept = values.len();
        let width = self.form.row_bytes();
        let bytes = || &self.bytes[self.start + row * width..][..width];
        match self.form.item {
            _ if self.form.fortran => return false,
            Item { kind: Kind::Float, size: 8, big_endian: false } => {
                values.extend(bytes().as_chunks().0.iter().map(|&item| f64::from_le_bytes(item)));
            }
            Item { kind: Kind::Float, size: 4, big_endian: false } => {
                values.extend(bytes().as_chunks().0.iter().map(|&item| f64::from(f32::from_le_bytes(item))));
            }
            Item { kind: Kind::Uint, size: 1, .. } => {
                values.extend(bytes().iter().map(|&item| f64::from(item)));
                return true;
            }
            _ => return false,
        }
        values[kept..].iter().fold(true, |finite, number| finite & number.is_finite())
    }

    /// The bytes of an item; empty if there is no such item.
    fn item(&self, position: usize) -> &[u8] {
        let start = position.saturating_mul(self.form.item.size).saturating_add(self.start);
        self.bytes.get(start..start.saturating_add(self.form.item.size)).unwrap_or_default()
    }

    /// The item as a bit pattern.
    fn bits(&self, position: usize) -> u64 {
        let append = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        let item = self.item(position);
        if self.form.item.big_endian {
            item.iter().fold(0, append)
        } else {
            item.iter().rev().fold(0, append)
        }
    }

    /// The item as a whole number, if it is one.
    pub(super) fn whole(&self, position: usize) -> Option<i128> {
        let bits = self.bits(position);
        match self.form.item.kind {
            Kind::Bool => Some(i128::from(bits != 0)),
            Kind::Uint => Some(i128::from(bits)),
            Kind::Int => {
                let unused = 64 - 8 * self.form.item.size as u32;
                Some(i128::from((bits << unused) as i64 >> unused))
            }
            _ => None,
        }
    }

    /// The item as a finite number.
    pub(super) fn number(&self, position: usize) -> Result<f64, ReadErrorKind> {
        if let Some(whole) = self.whole(position) {
            let number = whole as f64;
            return match number as i128 == whole {
                true => Ok(number),
                false => Err(ReadErrorKind::Lossy { found: whole.to_string() }),
            };
        }
        let number = self.float(position);
        if number.is_finite() {
            Ok(number)
        } else {
            Err(ReadErrorKind::NotFinite { found: number.to_string() })
        }
    }

    fn float(&self, position: usize) -> f64 {
        let bits = self.bits(position);
        match self.form.item.size {
            2 => half(bits as u16),
            4 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    /// The item as a label is written: numbers in their shortest form, truth values as NumPy prints them.
    /// `None` if it is no text.
    pub(super) fn text(&self, position: usize) -> Option<String> {
        match self.form.item.kind {
            Kind::Bool => Some(if self.bits(position) == 0 { "False" } else { "True" }.to_string()),
            Kind::Int | Kind::Uint => self.whole(position).map(|whole| whole.to_string()),
            // The shortest form of the narrow number: 0.1 stays 0.1.
            Kind::Float if self.form.item.size < 8 => Some((self.float(position) as f32).to_string()),
            Kind::Float => Some(self.float(position).to_string()),
            Kind::Bytes => {
                let text = std::str::from_utf8(self.item(position)).ok()?;
                Some(text.trim_end_matches('\0').to_string())
            }
            Kind::Unicode => {
                let character = |four: &[u8]| {
                    let four: [u8; 4] = four.try_into().ok()?;
                    let big = self.form.item.big_endian;
                    char::from_u32(if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
                };
                let text: Option<String> = self.item(position).chunks(4).map(character).collect();
                Some(text?.trim_end_matches('\0').to_string())
            }
        }
    }
}

impl Form {
    /// The form that a header describes, and where the items start; an error says what is wrong.
    pub(super) fn parse(header: &[u8]) -> Result<(Self, usize), String> {
        let (text, start) = header_text(header)?;
        let Header { descr, fortran, shape } = Header::parse(text)?;
        Ok((Self { fortran, ..Self::plain(&descr, shape)? }, start))
    }

    /// Items of this type and shape, in the order of their rows.
    pub(super) fn plain(descr: &str, shape: Vec<usize>) -> Result<Self, String> {
        let item = Item::parse(descr)?;
        let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        match count.and_then(|count| count.checked_mul(item.size)) {
            None => Err(format!("the shape {shape:?} is larger than any memory")),
            Some(promised) => Ok(Self { item, fortran: false, shape, promised }),
        }
    }

    /// Compares the length that the header gives with the number of bytes after it.
    pub(super) fn check_length(&self, present: usize) -> Result<(), String> {
        let promised = self.promised;
        match present.checked_sub(promised) {
            None => Err(format!("the header promises {promised} bytes, but only {present} are there")),
            Some(0) => Ok(()),
            Some(more) => {
                Err(format!("{} the array", numbers::counted(more as u64, "byte follows", "bytes follow")))
            }
        }
    }

    fn is_numeric(&self) -> bool {
        !matches!(self.item.kind, Kind::Bytes | Kind::Unicode)
    }

    /// Whether the items of a row are stored side by side.
    pub(super) fn has_rows_in_order(&self) -> bool {
        !self.fortran
    }

    /// Rows and columns, if there are such and they hold numbers.
    pub(super) fn size(&self) -> Result<(usize, usize), String> {
        match self.shape[..] {
            _ if !self.is_numeric() => Err("the rows are text, not numbers".to_string()),
            [rows, columns] if columns > 0 => Ok((rows, columns)),
            ref shape => Err(format!("the array has the shape {shape:?} where rows and columns are needed")),
        }
    }

    /// Number of items, if they form one line: one dimension, or one column.
    fn line_length(&self) -> Option<usize> {
        match self.shape[..] {
            [length] | [length, 1] => Some(length),
            _ => None,
        }
    }

    /// How many labels these are, if they form one line.
    pub(super) fn line_of_labels(&self) -> Result<usize, String> {
        let shape = &self.shape;
        let wrong = || format!("the labels have the shape {shape:?} where one dimension is needed");
        self.line_length().ok_or_else(wrong)
    }

    fn columns(&self) -> usize {
        self.shape.get(1).copied().unwrap_or(1)
    }

    /// Bytes of one row.
    pub(super) fn row_bytes(&self) -> usize {
        self.columns() * self.item.size
    }

    /// The type in Rust's words: `f32`, `i64`, `bool`.
    pub(super) fn type_name(&self) -> String {
        let letter = match self.item.kind {
            Kind::Bool => return "bool".to_string(),
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Float => 'f',
            Kind::Bytes | Kind::Unicode => return "text".to_string(),
        };
        format!("{letter}{}", self.item.size * 8)
    }
}

/// The number that a half-precision pattern denotes.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Takes a header from the beginning of a file, as far as there is one: it is checked by [`Form::parse`].
pub(super) fn take_header(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    input.take(SHORT_PREAMBLE as u64).read_to_end(&mut header)?;
    if let Ok((LONG_PREAMBLE, None)) = preamble(&header) {
        input.take((LONG_PREAMBLE - SHORT_PREAMBLE) as u64).read_to_end(&mut header)?;
    }
    if let Ok((_, Some(length))) = preamble(&header) {
        input.take(length.min(LONGEST_HEADER) as u64).read_to_end(&mut header)?;
    }
    Ok(header)
}

/// Where the text of the header starts, and how long it is if these bytes tell already.
fn preamble(bytes: &[u8]) -> Result<(usize, Option<usize>), String> {
    let Some(rest) = bytes.strip_prefix(b"\x93NUMPY") else {
        return Err("this is not a NumPy array: it does not begin with \\x93NUMPY".to_string());
    };
    match *rest {
        [1, _, a, b, ..] => Ok((SHORT_PREAMBLE, Some(usize::from(u16::from_le_bytes([a, b]))))),
        [2 | 3, _, a, b, c, d, ..] => Ok((LONG_PREAMBLE, Some(u32::from_le_bytes([a, b, c, d]) as usize))),
        [2 | 3, ..] => Ok((LONG_PREAMBLE, None)),
        [1, ..] | [] => Ok((SHORT_PREAMBLE, None)),
        [version, ..] => Err(format!("version {version} of the NumPy format is not supported")),
    }
}

/// The text of the header, and where the items start.
fn header_text(bytes: &[u8]) -> Result<(&[u8], usize), String> {
    let cut = || "the file ends inside its header".to_string();
    let (text_at, length) = preamble(bytes)?;
    let length = length.ok_or_else(cut)?;
    let text = &bytes[text_at..];
    if length > LONGEST_HEADER && text.len() >= LONGEST_HEADER {
        return Err(format!("the header has {length} bytes, more than any plain array needs"));
    }
    Ok((text.get(..length).ok_or_else(cut)?, text_at + length))
}

impl Item {
    fn parse(descr: &str) -> Result<Self, String> {
        let unsupported = || format!("items of type \"{descr}\" are not supported");
        let mut rest = descr.chars();
        let big_endian = match rest.next() {
            Some('>') => true,
            Some('<' | '|' | '=') => false,
            _ => return Err(unsupported()),
        };
        let kind = rest.next();
        if kind == Some('O') {
            return Err("the array holds Python objects, which are not read: save numbers".to_string());
        }
        let length: usize = rest.as_str().parse().map_err(|_| unsupported())?;
        let (kind, size) = match (kind, length) {
            (Some('b'), 1) => (Kind::Bool, 1),
            (Some('i'), 1 | 2 | 4 | 8) => (Kind::Int, length),
            (Some('u'), 1 | 2 | 4 | 8) => (Kind::Uint, length),
            (Some('f'), 2 | 4 | 8) => (Kind::Float, length),
            (Some('S' | 'a'), _) => (Kind::Bytes, length),
            (Some('U'), _) => (Kind::Unicode, length.checked_mul(4).ok_or_else(unsupported)?),
            _ => return Err(unsupported()),
        };
        Ok(Self { kind, size, big_endian })
    }
}

/// The header: a Python dictionary with three entries.
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &[u8]) -> Result<Self, String> {
        let mut scanner = Scanner { rest: text };
        Self::scan(&mut scanner).ok_or_else(|| {
            "the header is not one of a plain array (structured arrays are not supported)".to_string()
        })
    }

    fn scan(scanner: &mut Scanner<'_>) -> Option<Self> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        scanner.expect(b'{')?;
        while !scanner.accept(b'}') {
            let key = scanner.text()?;
            scanner.expect(b':')?;
            match key.as_str() {
                "descr" => descr = Some(scanner.text()?),
                "fortran_order" => fortran = Some(scanner.truth()?),
                "shape" => shape = Some(scanner.shape()?),
                _ => return None,
            }
            if !scanner.accept(b',') {
                scanner.expect(b'}')?;
                break;
            }
        }
        let done = scanner.rest.iter().all(u8::is_ascii_whitespace);
        done.then_some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

struct Scanner<'a> {
    rest: &'a [u8],
}

impl Scanner<'_> {
    fn accept(&mut self, byte: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.strip_prefix(&[byte]) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.accept(byte).then_some(())
    }

    fn text(&mut self) -> Option<String> {
        let quote = if self.accept(b'\'') {
            b'\''
        } else {
            self.expect(b'"')?;
            b'"'
        };
        let end = memchr::memchr(quote, self.rest)?;
        let text = std::str::from_utf8(&self.rest[..end]).ok()?.to_string();
        self.rest = &self.rest[end + 1..];
        Some(text)
    }

    fn truth(&mut self) -> Option<bool> {
        self.rest = self.rest.trim_ascii_start();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Some(value);
            }
        }
        None
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            self.rest = self.rest.trim_ascii_start();
            let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            shape.push(std::str::from_utf8(&self.rest[..digits]).ok()?.parse().ok()?);
            self.rest = &self.rest[digits..];
            // Python 2 wrote long integers with an L.
            self.accept(b'L');
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Some(shape)
    }
}

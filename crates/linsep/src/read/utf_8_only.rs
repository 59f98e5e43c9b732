//! Texts where the feature `encodings` is not compiled: UTF-8 alone, in the words of `encoding.rs`.

use super::error::ReadErrorKind;
use super::input::BYTE_ORDER_MARK;
use super::source::Input;
use std::borrow::Cow;
use std::io;

/// An encoding of texts: there is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Encoding;

pub(crate) static UTF_8: &Encoding = &Encoding;

impl Encoding {
    pub(crate) fn name(&self) -> &'static str {
        "UTF-8"
    }

    pub(crate) fn decode_without_bom_handling<'a>(&self, bytes: &'a [u8]) -> (Cow<'a, str>, bool) {
        (String::from_utf8_lossy(bytes), std::str::from_utf8(bytes).is_err())
    }
}

/// The encoding that a name stands for.
pub(crate) fn named(name: &str) -> Result<&'static Encoding, ReadErrorKind> {
    if name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("utf8") {
        return Ok(UTF_8);
    }
    Err(ReadErrorKind::Misused(format!(
        "\"{name}\" cannot be decoded (⟦encoding⟧): this linsep was built without its feature `encodings`"
    )))
}

/// The input as it is. Bytes that are not UTF-8 are an error of the reader that meets them.
pub(crate) fn to_utf8(input: Input, name: Option<&str>) -> Result<(Input, Option<String>), ReadErrorKind> {
    name.map(named).transpose()?;
    Ok((input, None))
}

/// Parts of a text, as they come.
pub(crate) struct PartDecoder {
    begun: bool,
}

impl PartDecoder {
    pub(crate) fn new(_: &'static Encoding) -> Self {
        Self { begun: false }
    }

    /// The same: bytes that are not UTF-8 are an error of the reader that meets them.
    pub(crate) fn marked(encoding: &'static Encoding) -> Self {
        Self::new(encoding)
    }

    /// Appends the next part, without the byte order mark.
    pub(crate) fn decode(&mut self, bytes: &[u8], _last: bool, text: &mut Vec<u8>) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        text.extend_from_slice(bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| first).unwrap_or(bytes));
        Ok(())
    }
}

/// Lines that come one after the other. Bytes that are not UTF-8 become the replacement character.
#[derive(Default)]
pub(crate) struct LineDecoder {
    first: Option<u64>,
}

impl LineDecoder {
    /// The text of a line, given its number.
    pub(crate) fn decode<'a>(&mut self, line: &'a [u8], number: u64) -> Cow<'a, str> {
        let text = String::from_utf8_lossy(line);
        if matches!(text, Cow::Owned(_)) {
            self.first.get_or_insert(number);
        }
        text
    }

    /// A sentence about lines that were not UTF-8, if there were any.
    pub(crate) fn remark(&self) -> Option<String> {
        self.first.map(|line| {
            format!("Line {line} is not UTF-8, and this linsep was built without its feature `encodings`.")
        })
    }
}

/// No encoding is guessed.
pub(crate) fn guess(_head: &[u8], _whole: bool) -> Option<(&'static Encoding, bool)> {
    None
}

/// No encoding is guessed.
pub(crate) fn guess_wide(_head: &[u8]) -> Option<(&'static Encoding, bool)> {
    None
}

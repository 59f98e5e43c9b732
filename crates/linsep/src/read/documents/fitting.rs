//! Bytes of texts whose encoding is not labelled, or may be labelled wrongly.

use super::super::encoding;
use super::super::formats::is_binary;
use super::super::input::BYTE_ORDER_MARK;
use encoding_rs::Encoding;
use std::borrow::Cow;

/// Whether bytes may be something else than the encoding that they are labelled with: ASCII, UTF-8, or one that is not known.
pub(super) fn may_be_wrong(label: &str) -> bool {
    let label = label.trim();
    let is_ascii =
        || ["us-ascii", "ascii", "ansi_x3.4-1968"].iter().any(|name| label.eq_ignore_ascii_case(name));
    let is_other = || !label.eq_ignore_ascii_case("utf-7") && Encoding::for_label(label.as_bytes()).is_none();
    is_ascii() || is_other() || Encoding::for_label(label.as_bytes()) == Some(encoding_rs::UTF_8)
}

/// Bytes as UTF-8, if they are that, otherwise in the detected encoding.
pub(super) fn in_fitting_encoding(bytes: &[u8]) -> Cow<'_, str> {
    match guess(bytes) {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
        None => String::from_utf8_lossy(bytes),
    }
}

/// The detected encoding of a text, if it is not UTF-8. A few control characters, such as one that ends a file, are
/// no reason to lose its letters.
pub(super) fn guess(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return None;
    }
    let guessed = encoding::guess(bytes, true).map(|(encoding, _)| encoding);
    let is_other = || odd_byte(bytes).is_none() && std::str::from_utf8(bytes).is_err();
    guessed.or_else(|| is_other().then(|| encoding::detected(bytes, true)))
}

/// A byte that shows that these are no text: a zero, or the first of many control characters. Form feeds and the like may be there.
pub(super) fn odd_byte(bytes: &[u8]) -> Option<u8> {
    let first = bytes.iter().copied().find(|&byte| is_binary(byte))?;
    let controls = bytes.iter().filter(|&&byte| is_binary(byte)).count();
    match memchr::memchr(0, bytes) {
        Some(_) => Some(0),
        None => (controls * 100 > bytes.len()).then_some(first),
    }
}

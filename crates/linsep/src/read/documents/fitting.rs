//! Bytes of texts whose encoding is not labelled, or may be labelled wrongly.

use super::super::encoding;
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

/// Bytes as UTF-8, if they are that, otherwise in the encoding that they speak for.
pub(super) fn in_fitting_encoding(bytes: &[u8]) -> Cow<'_, str> {
    match encoding::guess(bytes, true) {
        Some((encoding, _)) => encoding.decode_without_bom_handling(bytes).0,
        None => String::from_utf8_lossy(bytes),
    }
}

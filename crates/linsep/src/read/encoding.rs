//! Texts in other encodings than UTF-8, turned into UTF-8 on the way in.
//!
//! A text that is UTF-8, as nearly all are, goes through untouched: only its first bytes are looked at.

use super::error::{NotAsMarked, ReadErrorKind};
use super::filter::Filtered;
use super::formats::{self, is_binary};
use super::input::BYTE_ORDER_MARK;
use super::source::{HEAD_BYTES, Input};
use chardetng::EncodingDetector;
use encoding_rs::{CoderResult, Decoder, DecoderResult, UTF_16BE, UTF_16LE};
pub(crate) use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;
use std::io;

/// The encoding that a name denotes.
pub(crate) fn named(name: &str) -> Result<&'static Encoding, ReadErrorKind> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| {
        let known = "utf-8, utf-16le, windows-1252, iso-8859-2, windows-1251, shift_jis";
        ReadErrorKind::Misused(format!("unknown encoding \"{name}\" (⟦encoding⟧); examples are {known}"))
    })
}

/// Turns an input into UTF-8 if it is a text in another encoding: the one that is named, or one that is detected
/// from its first bytes. Returns a remark about that.
pub(crate) fn to_utf8(input: Input, name: Option<&str>) -> Result<(Input, Option<String>), ReadErrorKind> {
    let (encoding, guessed) = match name {
        Some(name) => (named(name)?, false),
        None => match guess(input.head(), input.head_is_all()) {
            Some(guess) => guess,
            None => return Ok((input, None)),
        },
    };
    if encoding == UTF_8 {
        return Ok((input, None));
    }
    let mut input = input;
    // A mark of UTF-8 is none of the characters of another encoding, which the user names for what comes after it.
    input.skip_byte_order_mark();
    let is_marked = name.is_none() && !guessed;
    let mut decoder = if is_marked { PartDecoder::marked(encoding) } else { PartDecoder::new(encoding) };
    let decode = move |bytes: &[u8], last: bool, text: &mut Vec<u8>| decoder.decode(bytes, last, text);
    let decoded = input.replaced(HEAD_BYTES, |rest| Box::new(Filtered::new(rest, decode)))?;
    let remark = guessed.then(|| {
        let example =
            example(decoded.head()).map(|word| format!(", which makes \"{word}\" of one of its words"));
        format!(
            "The text is not UTF-8: it is read as {}{}. Another encoding can be named with ⟦encoding⟧.",
            encoding.name(),
            example.unwrap_or_default()
        )
    });
    Ok((decoded, remark))
}

/// Makes UTF-8 of a text that comes in parts.
pub(crate) struct PartDecoder {
    decoder: Decoder,
    encoding: &'static Encoding,
    /// After a mark, the line and the character that come next: what has no meaning in the encoding is an error there.
    place: Option<(u64, u64)>,
}

impl PartDecoder {
    /// For an encoding that was guessed or named: what has no meaning in it becomes the replacement character. A byte order mark is
    /// taken off.
    pub(crate) fn new(encoding: &'static Encoding) -> Self {
        Self { decoder: encoding.new_decoder_with_bom_removal(), encoding, place: None }
    }

    /// For the encoding that the mark at the beginning says it is: what has no meaning in it is an error.
    pub(crate) fn marked(encoding: &'static Encoding) -> Self {
        Self { place: Some((1, 1)), ..Self::new(encoding) }
    }

    /// Appends the next part in UTF-8, as far as its characters are whole.
    pub(crate) fn decode(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> io::Result<()> {
        let start = text.len();
        let room = self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(4 * bytes.len() + 16);
        text.resize(start + room, 0);
        let Some(place) = self.place else {
            let (result, _, written, _) = self.decoder.decode_to_utf8(bytes, &mut text[start..], last);
            debug_assert!(result == CoderResult::InputEmpty, "there is room for all");
            text.truncate(start + written);
            return Ok(());
        };
        let (result, _, written) =
            self.decoder.decode_to_utf8_without_replacement(bytes, &mut text[start..], last);
        text.truncate(start + written);
        let (line, column) = after(place, &text[start..]);
        self.place = Some((line, column));
        match result {
            DecoderResult::InputEmpty => Ok(()),
            _ => Err(io::Error::other(NotAsMarked { encoding: self.encoding.name(), line, column })),
        }
    }
}

/// The line and the character in it that come after a text which begins at such a place.
fn after((line, column): (u64, u64), text: &[u8]) -> (u64, u64) {
    let lines = memchr::memchr_iter(b'\n', text).count() as u64;
    let last = memchr::memrchr(b'\n', text).map_or(text, |end| &text[end + 1..]);
    let letters = last.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
    (line + lines, if lines > 0 { 1 } else { column } + letters)
}

/// Makes UTF-8 of lines that come one after the other: one that is not UTF-8 is read in the encoding
/// that is detected from it and all such lines before it.
#[derive(Default)]
pub(crate) struct LineDecoder {
    detector: Option<EncodingDetector>,
    /// The line that was the first of them, and its encoding.
    first: Option<(u64, &'static Encoding)>,
}

impl LineDecoder {
    /// The text of a line, given its number.
    pub(crate) fn decode<'a>(&mut self, line: &'a [u8], number: u64) -> Cow<'a, str> {
        if let Ok(text) = std::str::from_utf8(line) {
            return Cow::Borrowed(text);
        }
        let detector = self.detector.get_or_insert_with(EncodingDetector::new);
        detector.feed(line, false);
        let encoding = detector.guess(None, false);
        self.first.get_or_insert((number, encoding));
        encoding.decode_without_bom_handling(line).0
    }

    /// A sentence about lines that were not UTF-8, if there were any.
    pub(crate) fn remark(&self) -> Option<String> {
        self.first.map(|(line, encoding)| {
            format!(
                "Line {line} is not UTF-8: such lines are read in a detected encoding, here {}. Another \
                 one can be named with ⟦encoding⟧.",
                encoding.name()
            )
        })
    }
}

/// The encoding detected from the first bytes, if it is not UTF-8, and whether that is a guess. A mark at the beginning says which it
/// is: what is in none of its characters is an error then, not a reason to doubt it.
pub(crate) fn guess(head: &[u8], whole: bool) -> Option<(&'static Encoding, bool)> {
    if head.starts_with(BYTE_ORDER_MARK) {
        return None;
    }
    match head {
        [0xff, 0xfe, ..] => return Some((UTF_16LE, false)),
        [0xfe, 0xff, ..] => return Some((UTF_16BE, false)),
        _ => {}
    }
    let invalid = std::str::from_utf8(head).err();
    let is_utf8 = invalid.is_none_or(|error| error.error_len().is_none() && !whole);
    if formats::begins_like_binary(head) {
        return None;
    }
    if let Some(encoding) = utf_16_without_mark(head) {
        return Some((encoding, true));
    }
    if is_utf8 || head.iter().any(|&byte| is_binary(byte)) {
        return None;
    }
    Some((detected(head, whole), true))
}

/// The detected encoding of bytes, if they are neither UTF-8 nor without letters.
pub(super) fn detected(bytes: &[u8], whole: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new();
    detector.feed(bytes, whole);
    detector.guess(None, false)
}

/// The two-byte encoding detected from the first bytes, and whether that is a guess.
pub(crate) fn guess_wide(head: &[u8]) -> Option<(&'static Encoding, bool)> {
    guess(head, false).filter(|(encoding, _)| [UTF_16LE, UTF_16BE].contains(encoding))
}

/// Every other byte of a text in UTF-16 is zero, as far as its letters are Latin.
fn utf_16_without_mark(head: &[u8]) -> Option<&'static Encoding> {
    const LOOKED_AT: usize = 1 << 10;
    let head = &head[..head.len().min(LOOKED_AT)];
    if head.len() < 8 || !head.contains(&0) {
        return None;
    }
    let zeros = |place: usize| head.iter().skip(place).step_by(2).filter(|&&byte| byte == 0).count();
    let (first, second, pairs) = (zeros(0), zeros(1), head.len() / 2);
    match (first, second) {
        (0, second) if second * 10 >= pairs * 7 => Some(UTF_16LE),
        (first, 0) if first * 10 >= pairs * 7 => Some(UTF_16BE),
        _ => None,
    }
}

/// A word with a letter that is not ASCII, from a text in UTF-8.
fn example(head: &[u8]) -> Option<String> {
    const LONGEST: usize = 30;
    let text = String::from_utf8_lossy(head);
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_ascii() && word.chars().count() <= LONGEST).map(str::to_string).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn decoded(bytes: &[u8], name: Option<&str>) -> (String, Option<String>) {
        let (mut input, remark) = to_utf8(Input::from_bytes(bytes, 1 << 10), name).unwrap();
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        (text, remark)
    }

    fn utf_16(text: &str, little: bool) -> Vec<u8> {
        let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn other_encodings_become_utf_8() {
        let text = "größe,kind\n1,groß\n2,klein\n";
        assert_eq!(decoded(text.as_bytes(), None), (text.to_string(), None));
        for little in [false, true] {
            assert_eq!(decoded(&utf_16(&format!("\u{feff}{text}"), little), None), (text.to_string(), None));
            let (found, remark) = decoded(&utf_16(text, little), None);
            assert!(found == text && remark.unwrap().contains("UTF-16"));
        }
        let (found, remark) = decoded(b"gr\xf6\xdfe,kind\n1,gro\xdf\n2,klein\n", None);
        assert_eq!(found, text);
        let remark = remark.unwrap();
        assert!(remark.contains("windows-1252") && remark.contains("\"größe\""), "{remark}");
        let (found, remark) = decoded(b"\xc4\xc5,1\n", Some("windows-1251"));
        assert_eq!((found.as_str(), remark), ("ДЕ,1\n", None));
        assert!(to_utf8(Input::from_bytes(b"1", 9), Some("klingon")).is_err());
    }

    /// One bad byte after a mark does not make another encoding of the text: a reader tells of it.
    /// Whoever names the encoding means the text after the mark.
    #[test]
    fn a_mark_is_no_part_of_a_text_in_another_encoding() {
        let marked = b"\xef\xbb\xbfa,kind\n1,gr\xf6n\n";
        let (mut input, _) = to_utf8(Input::from_bytes(marked, 1 << 10), Some("windows-1252")).unwrap();
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,kind\n1,grön\n");
    }

    #[test]
    fn a_mark_says_which_encoding_it_is() {
        let marked = b"\xef\xbb\xbfa,kind\n1,gr\xf6n\n";
        let (input, remark) = to_utf8(Input::from_bytes(marked, 1 << 10), None).unwrap();
        assert_eq!((input.head(), remark), (&marked[..], None));
        for little in [false, true] {
            // Half a character, of two that make one.
            let half = if little { [0x00, 0xd8] } else { [0xd8, 0x00] };
            for rest in [&half[..], &utf_16("x\n", little)] {
                let text = [&utf_16("\u{feff}größe,kind\n1,ß", little), &half[..], rest].concat();
                let failure = match to_utf8(Input::from_bytes(&text, 1 << 10), None) {
                    Ok((mut input, _)) => {
                        let failed = input.read_to_string(&mut String::new()).unwrap_err();
                        ReadErrorKind::from(failed)
                    }
                    Err(kind) => kind,
                };
                let text = failure.to_string();
                assert!(text.contains("line 2, character 4") && text.contains("UTF-16"), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        for bytes in [
            &b"\x93NUMPY\x01\x00v\x00"[..],
            b"PK\x03\x04\xff\xff",
            b"\x7fELF\x02\x01\xff\x00\x01",
            b"1\x000\xff",
        ] {
            let (input, remark) = to_utf8(Input::from_bytes(bytes, 1 << 10), None).unwrap();
            assert_eq!((input.head(), remark), (bytes, None));
        }
    }

    #[test]
    fn a_long_text_is_decoded_in_pieces() {
        let text = "é1,2\n".repeat(100_000);
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        assert!(decoded(&latin, None).0 == text);
        assert!(decoded(&utf_16(&text, true), Some("utf-16le")).0 == text);
    }
}

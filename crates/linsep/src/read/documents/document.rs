//! The text of one file: plain text in any encoding, a raw e-mail, or HTML.

use super::super::error::ReadErrorKind;
use super::super::foreign;
use super::super::formats::is_binary;
use super::super::guarded::guarded;
use super::super::input::BYTE_ORDER_MARK;
use super::page::{self, words_of_page};
use super::{fitting, mail};
use encoding_rs::Encoding;
use std::borrow::Cow;
use std::path::Path;

/// Bytes that are looked at to tell what a file is.
const HEAD: usize = 4096;

/// Header fields that a raw e-mail has some of, in lower case.
const FIELDS: [&str; 12] = [
    "from",
    "to",
    "subject",
    "date",
    "received",
    "message-id",
    "return-path",
    "mime-version",
    "content-type",
    "delivered-to",
    "reply-to",
    "sender",
];

/// How pictures begin.
const PICTURES: [(&[u8], &str); 3] =
    [(b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"), (b"GIF8", "a GIF picture")];

/// The text of a file. Of an e-mail, that is its subject, its body (HTML as text), the names of its attachments, and the text of
/// the mails that it forwards.
pub(in crate::read) fn text(
    path: &Path,
    bytes: &[u8],
    named: Option<&'static Encoding>,
) -> Result<String, ReadErrorKind> {
    guarded(|| taken_apart(path, bytes, named), damaged)
}

/// The text of a raw e-mail.
pub(super) fn mail_text(bytes: &[u8]) -> Result<String, ReadErrorKind> {
    guarded(|| Ok(mail::text(bytes)), damaged)
}

/// What is wrong with a file whose decoder panics.
fn damaged() -> ReadErrorKind {
    ReadErrorKind::NotAText("it is damaged".to_string())
}

fn taken_apart(path: &Path, bytes: &[u8], named: Option<&'static Encoding>) -> Result<String, ReadErrorKind> {
    if let Some(utf_8) = from_utf_32(bytes) {
        return taken_apart(path, utf_8.as_bytes(), Some(encoding_rs::UTF_8));
    }
    let content = Encoding::for_bom(bytes).map_or(bytes, |(_, mark)| &bytes[mark..]);
    if content.trim_ascii().is_empty() {
        return Err(ReadErrorKind::NotAText("it is empty".to_string()));
    }
    let has_ending = |endings: &[&str]| {
        let own = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        own.is_some_and(|own| endings.contains(&own.as_str()))
    };
    let head = &bytes[..bytes.len().min(HEAD)];
    if has_ending(&["eml"]) || begins_like_mail(head) {
        return Ok(mail::text(bytes));
    }
    if let Some((_, name)) = PICTURES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(ReadErrorKind::NotAText(format!("it is {name}")));
    }
    if let Some(kind) = foreign::recognise(head).filter(|_| head.iter().any(|&byte| is_binary(byte))) {
        return Err(ReadErrorKind::NotAText(format!("it is {}", kind.name)));
    }
    let is_called_page = has_ending(&["html", "htm", "xhtml"]);
    let named = named.or_else(|| match is_called_page || begins_like_page(bytes) {
        true => page::named_encoding(bytes),
        false => None,
    });
    let text = decoded(bytes, named)?;
    if is_called_page || begins_like_page(text.as_bytes()) {
        return Ok(words_of_page(&text));
    }
    Ok(text.into_owned())
}

/// A plain text in UTF-8, or in the encoding that is named or detected.
fn decoded<'a>(bytes: &'a [u8], named: Option<&'static Encoding>) -> Result<Cow<'a, str>, ReadErrorKind> {
    if let Some(encoding) = named.or_else(|| fitting::guess(bytes)) {
        return Ok(encoding.decode(bytes).0);
    }
    match fitting::odd_byte(bytes) {
        Some(byte) => Err(ReadErrorKind::NotAText(format!("it has the byte 0x{byte:02x}"))),
        None => match (bytes.starts_with(BYTE_ORDER_MARK), std::str::from_utf8(bytes)) {
            (true, Err(error)) => {
                let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
                Err(ReadErrorKind::NotAText(format!(
                    "line {line} is not UTF-8, which the mark at its beginning says it is; ⟦encoding⟧ names another encoding"
                )))
            }
            _ => Ok(encoding_rs::UTF_8.decode(bytes).0),
        },
    }
}

/// The text of bytes that begin with the byte order mark of UTF-32, which begins as that of UTF-16 does.
fn from_utf_32(bytes: &[u8]) -> Option<String> {
    let is_little = match bytes {
        [0xff, 0xfe, 0, 0, ..] => true,
        [0, 0, 0xfe, 0xff, ..] => false,
        _ => return None,
    };
    let letter = |unit: &[u8]| {
        let unit = unit.try_into().ok()?;
        char::from_u32(if is_little { u32::from_le_bytes(unit) } else { u32::from_be_bytes(unit) })
    };
    let units = bytes[4..].chunks(4);
    Some(units.map(|unit| letter(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Whether a file begins as a raw e-mail does: with lines of fields, of which one is known.
fn begins_like_mail(head: &[u8]) -> bool {
    let mut known = 0;
    for (i, line) in head.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The line that mailboxes put before a mail, and the rest of a long field.
        if (i == 0 && line.starts_with(b"From "))
            || (i > 0 && line.starts_with(b" "))
            || line.starts_with(b"\t")
        {
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let name = colon.map(|colon| &line[..colon]).filter(|name| !name.is_empty());
        let Some(name) = name.filter(|name| name.iter().all(|byte| byte.is_ascii_graphic())) else { break };
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        known += usize::from(FIELDS.contains(&name.as_str()));
    }
    known >= 2
}

/// Whether a text begins as HTML does.
pub(super) fn begins_like_page(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    let begins = |tag: &str| {
        let (own, rest) = start.split_at(start.len().min(tag.len()));
        // The name of a longer tag, such as <header>, is another one.
        own.eq_ignore_ascii_case(tag.as_bytes())
            && !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric())
    };
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| begins(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(name: &str, bytes: &[u8]) -> Result<String, String> {
        text(Path::new(name), bytes, None).map_err(|kind| kind.to_string())
    }

    #[test]
    fn byte_order_marks_are_no_text() {
        for mark in [
            &b"\xef\xbb\xbf"[..],
            b"\xff\xfe",
            b"\xfe\xff",
            b"\xff\xfe\0\0",
            b"\0\0\xfe\xff",
            b"\xef\xbb\xbf \n",
        ] {
            assert!(of("x", mark).unwrap_err().contains("it is empty"), "{mark:?}");
        }
        let letters = |unit: fn(u32) -> [u8; 4]| -> Vec<u8> {
            "\u{feff}Grüße, 😀".chars().flat_map(|letter| unit(letter as u32)).collect()
        };
        for bytes in [letters(u32::to_le_bytes), letters(u32::to_be_bytes)] {
            assert_eq!(of("x", &bytes).unwrap(), "Grüße, 😀");
            assert_eq!(of("x", &bytes[..bytes.len() - 1]).unwrap(), "Grüße, \u{fffd}");
        }
    }

    #[test]
    fn plain_texts_in_any_encoding() {
        assert_eq!(of("x", "Grüße".as_bytes()).unwrap(), "Grüße");
        assert_eq!(of("x", b"\xef\xbb\xbfmark").unwrap(), "mark");
        let latin = b"Viele Gr\xfc\xdfe aus M\xfcnchen und K\xf6ln, sch\xf6ne Stra\xdfen";
        assert!(of("x", latin).unwrap().contains("Grüße aus München"), "{:?}", of("x", latin));
        let wide: Vec<u8> = "\u{feff}hello world".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of("x", &wide).unwrap(), "hello world");
        let named = super::super::super::encoding::named("windows-1251").unwrap();
        assert_eq!(text(Path::new("x"), b"\xcf\xf0\xe8\xe2\xe5\xf2", Some(named)).unwrap(), "Привет");
    }

    #[test]
    fn a_few_control_characters_cost_no_letters() {
        let dos = b"Viele Gr\xfc\xdfe aus M\xfcnchen und K\xf6ln, sch\xf6ne Stra\xdfen und noch mehr davon, \
                    auch im n\xe4chsten Jahr, wenn der Fr\xfchling kommt\x1a";
        assert!(of("x", dos).unwrap().contains("Grüße aus München"), "{:?}", of("x", dos));
        assert!(of("x", b"\x01\x02 Gr\xfc\xdfe").is_err());
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        assert_eq!(of("x", b" \n\t").unwrap_err(), "this is not a text: it is empty");
        assert!(
            of("x", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap_err().starts_with("this is not a text: it is a")
        );
        assert_eq!(of("x", b"ab\0cd ef").unwrap_err(), "this is not a text: it has the byte 0x00");
    }

    #[test]
    fn pages_are_reduced_to_their_words() {
        let page =
            b"<!DOCTYPE html><html><head><title>x</title></head><body><p>Free <b>prize</b></p></body></html>";
        assert_eq!(of("x.html", page).unwrap().split_whitespace().collect::<Vec<_>>(), ["Free", "prize"]);
        let cells = b"<table><tr><td>one</td><td>tw<b>o</b></td></tr></table>";
        assert_eq!(of("x.htm", cells).unwrap().split_whitespace().collect::<Vec<_>>(), ["one", "two"]);
        // A page may name its encoding; its bytes are UTF-8 if they can be.
        for said in ["<meta charset=\"windows-1251\">", "<?xml version=\"1.0\" encoding='Windows-1251' ?>"] {
            let page = |letters: &[u8]| [format!("<html>{said}").as_bytes(), letters].concat();
            for name in ["x.html", "x"] {
                assert_eq!(of(name, &page(b"\xe4\xe0")).unwrap().trim(), "да", "{name}");
                assert_eq!(of(name, &page("да".as_bytes())).unwrap().trim(), "да", "{name}");
            }
        }
        let wrong = b"<meta charset=utf-8><p>Viele Gr\xfc\xdfe aus M\xfcnchen und K\xf6ln";
        assert_eq!(of("x.html", wrong).unwrap().trim(), "Viele Grüße aus München und Köln");
        assert!(!begins_like_mail(b"Dear all: see you\nat noon: bye\n"));
    }

    proptest! {
        /// Any bytes give a text or an error, as a mail, a page or anything else.
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600), mail in any::<bool>()) {
            let head: &[u8] = if mail { b"From: a\nSubject: =?utf-8?b?" } else { b"" };
            let bytes = [head, &bytes].concat();
            for name in ["x", "x.eml", "x.html"] {
                let _ = text(Path::new(name), &bytes, None);
            }
        }

        #[test]
        fn any_lines_of_a_mail_are_read(lines in proptest::collection::vec("(Content-Type: multipart/mixed; boundary=[ab]|--[ab]-{0,2}|[A-Za-z-]{1,12}: \\PC{0,20}|=\\?utf-8\\?[bq]\\?[A-Za-z0-9=_]{0,9}\\?=|)", 0..40)) {
            let bytes = format!("Subject: x\nFrom: y\n{}", lines.join("\n"));
            prop_assert!(of("x", bytes.as_bytes()).is_ok());
        }
    }
}

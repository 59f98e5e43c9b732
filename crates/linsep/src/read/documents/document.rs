//! The text of one file: plain text in any encoding, a raw e-mail, or HTML.

use super::super::encoding;
use super::super::error::ReadErrorKind;
use super::super::foreign;
use super::super::formats::is_binary;
use encoding_rs::Encoding;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{MessageParser, MimeHeaders};
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

/// The text of a file. Of an e-mail, that is its subject, its body (HTML as text), and the names of its attachments.
pub(in crate::read) fn text(
    path: &Path,
    bytes: &[u8],
    named: Option<&'static Encoding>,
) -> Result<String, ReadErrorKind> {
    if bytes.trim_ascii().is_empty() {
        return Err(ReadErrorKind::NotAText("it is empty".to_string()));
    }
    let has_ending = |endings: &[&str]| {
        let own = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        own.is_some_and(|own| endings.contains(&own.as_str()))
    };
    let head = &bytes[..bytes.len().min(HEAD)];
    if has_ending(&["eml"]) || begins_like_mail(head) {
        return Ok(mail(bytes));
    }
    if let Some(kind) = foreign::recognise(head) {
        return Err(ReadErrorKind::NotAText(format!("it is {}", kind.name)));
    }
    let text = decoded(bytes, named)?;
    let start = text.trim_start().get(..14).unwrap_or_default().to_ascii_lowercase();
    if has_ending(&["html", "htm", "xhtml"])
        || start.starts_with("<!doctype html")
        || start.starts_with("<html")
    {
        return Ok(html_to_text(&text));
    }
    Ok(text.into_owned())
}

/// A plain text in UTF-8, or in the encoding that is named or that its bytes speak for.
fn decoded<'a>(bytes: &'a [u8], named: Option<&'static Encoding>) -> Result<Cow<'a, str>, ReadErrorKind> {
    let encoding = named.or_else(|| encoding::guess(bytes, true).map(|(encoding, _)| encoding));
    if let Some(encoding) = encoding {
        return Ok(encoding.decode(bytes).0);
    }
    let text = encoding_rs::UTF_8.decode(bytes).0;
    // Form feeds and the like are left alone; what has more of such bytes is no text.
    match text.bytes().find(|&byte| is_binary(byte)) {
        Some(byte)
            if text.bytes().filter(|&byte| is_binary(byte)).count() * 100 > text.len() || byte == 0 =>
        {
            Err(ReadErrorKind::NotAText(format!("it has the byte 0x{byte:02x}")))
        }
        _ => Ok(text),
    }
}

/// Whether a file begins as a raw e-mail does: with lines of fields, of which one is known.
pub(super) fn begins_like_mail(head: &[u8]) -> bool {
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

/// The text of a raw e-mail.
pub(super) fn mail(bytes: &[u8]) -> String {
    // The line that mailboxes put before a mail is no field.
    let bytes = match bytes.strip_prefix(b"From ") {
        Some(rest) => rest.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &rest[end + 1..]),
        None => bytes,
    };
    let Some(message) = MessageParser::default().parse(bytes) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut text = message.subject().unwrap_or_default().to_string();
    for place in 0..message.text_body_count() {
        if let Some(body) = message.body_text(place) {
            text.push('\n');
            text.push_str(&body);
        }
    }
    for name in message.attachments().filter_map(|part| part.attachment_name()) {
        text.push('\n');
        text.push_str(name);
    }
    text
}

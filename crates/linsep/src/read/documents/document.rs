//! The text of one file: plain text in any encoding, a raw e-mail, or HTML.

use super::super::encoding;
use super::super::error::ReadErrorKind;
use super::super::foreign;
use super::super::formats::is_binary;
use super::page::words_of_page;
use encoding_rs::Encoding;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};
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
    if let Some((_, name)) = PICTURES.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(ReadErrorKind::NotAText(format!("it is {name}")));
    }
    if let Some(kind) = foreign::recognise(head).filter(|_| head.iter().any(|&byte| is_binary(byte))) {
        return Err(ReadErrorKind::NotAText(format!("it is {}", kind.name)));
    }
    let text = decoded(bytes, named)?;
    if has_ending(&["html", "htm", "xhtml"]) || begins_like_page(&text) {
        return Ok(words_of_page(&text));
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

/// Whether a text begins as HTML does.
fn begins_like_page(text: &str) -> bool {
    let start = text.trim_start().as_bytes();
    let begins = |tag: &str| {
        let (own, rest) = start.split_at(start.len().min(tag.len()));
        // The name of a longer tag, such as <header>, is another one.
        own.eq_ignore_ascii_case(tag.as_bytes())
            && !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric())
    };
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| begins(tag))
}

/// The text of a raw e-mail.
pub(super) fn mail(bytes: &[u8]) -> String {
    // The line that mailboxes put before a mail is no field.
    let bytes = match bytes.strip_prefix(b"From ") {
        Some(rest) => rest.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &rest[end + 1..]),
        None => bytes,
    };
    let bytes = &*with_fields_in_utf8(bytes);
    let bytes = &*with_closed_parts(bytes);
    let Some(message) = MessageParser::default().parse(bytes) else {
        return in_fitting_encoding(bytes).into_owned();
    };
    let mut text = String::new();
    add_message(&message, MOST_FORWARDED, &mut text);
    text
}

/// A mail whose parts end. Where one was cut off, or its program left out the line that closes the last part, a reader that waits for
/// the line would lose that part.
fn with_closed_parts(bytes: &[u8]) -> Cow<'_, [u8]> {
    let has_line = |line: &[u8]| {
        let ends =
            |at: usize| matches!(bytes.get(at + line.len()), None | Some(b'\r' | b'\n' | b' ' | b'\t'));
        memchr::memmem::find_iter(bytes, line).any(|at| at > 0 && bytes[at - 1] == b'\n' && ends(at))
    };
    let mut open: Vec<&[u8]> = Vec::new();
    for boundary in boundaries(bytes) {
        let (opening, closing) = ([b"--", boundary].concat(), [b"--", boundary, b"--"].concat());
        if has_line(&opening) && !has_line(&closing) && !open.contains(&boundary) {
            open.push(boundary);
        }
    }
    if open.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut closed = bytes.to_vec();
    // What was opened last is closed first.
    for boundary in open.iter().rev() {
        closed.extend_from_slice(&[b"\n--", *boundary, b"--\n"].concat());
    }
    Cow::Owned(closed)
}

/// What parts the parts of a mail, as its fields name it.
fn boundaries(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const NAME: &[u8] = b"boundary=";
    memchr::memchr_iter(b'=', bytes)
        .filter_map(|at| {
            let start = (at + 1).checked_sub(NAME.len())?;
            let rest = bytes[start..=at].eq_ignore_ascii_case(NAME).then(|| &bytes[at + 1..])?;
            let (rest, ends): (&[u8], &[u8]) = match rest.strip_prefix(b"\"") {
                Some(quoted) => (quoted, b"\"\r\n"),
                None => (rest, b"; \t\r\n"),
            };
            let end = rest.iter().position(|byte| ends.contains(byte)).unwrap_or(rest.len());
            (1..=MOST_BOUNDARY).contains(&end).then(|| &rest[..end])
        })
        .take(MOST_BOUNDARIES)
}

/// The longest line between parts that mails may have, without its dashes.
const MOST_BOUNDARY: usize = 70;

/// Names of such lines that are looked at.
const MOST_BOUNDARIES: usize = 32;

/// Mails within mails, at most.
const MOST_FORWARDED: usize = 16;

/// Adds the text of a mail, and that of the mails it forwards.
fn add_message(message: &Message<'_>, most_forwarded: usize, text: &mut String) {
    text.push_str(message.subject().unwrap_or_default());
    for part in message.text_bodies() {
        text.push('\n');
        match &part.body {
            PartType::Text(body) => {
                let body = in_its_encoding(message, part, body);
                // A part that does not say what it is may be HTML.
                let is_page = part.content_type().is_none() && begins_like_page(&body);
                text.push_str(&if is_page { words_of_page(&body).into() } else { body });
            }
            PartType::Html(page) => text.push_str(&words_of_page(&in_its_encoding(message, part, page))),
            _ => {}
        }
    }
    for part in message.attachments() {
        if let Some(name) = part.attachment_name() {
            text.push('\n');
            text.push_str(name);
        }
        if let (PartType::Message(forwarded), 1..) = (&part.body, most_forwarded) {
            text.push('\n');
            add_message(forwarded, most_forwarded - 1, text);
        }
    }
}

/// The text of a part of a mail. Where the part says that it is ASCII or UTF-8, or says nothing that is known, and its bytes are
/// something else, they decide.
fn in_its_encoding<'a>(message: &Message<'_>, part: &MessagePart<'_>, parsed: &'a str) -> Cow<'a, str> {
    let label = part.content_type().and_then(|kind| kind.attribute("charset")).unwrap_or("us-ascii");
    if parsed.is_ascii() || !may_be_wrong(label) {
        return Cow::Borrowed(parsed);
    }
    let range = part.offset_body as usize..part.offset_end as usize;
    let Some(raw) = message.raw_message.get(range) else { return Cow::Borrowed(parsed) };
    let bytes = match part.encoding {
        mail_parser::Encoding::None => Some(Cow::Borrowed(raw)),
        mail_parser::Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        mail_parser::Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
    };
    match bytes {
        Some(bytes) => Cow::Owned(in_fitting_encoding(&bytes).into_owned()),
        None => Cow::Borrowed(parsed),
    }
}

/// Whether bytes may be something else than the encoding that they are labelled with: ASCII, UTF-8, or one that is not known.
fn may_be_wrong(label: &str) -> bool {
    let label = label.trim();
    let is_ascii =
        || ["us-ascii", "ascii", "ansi_x3.4-1968"].iter().any(|name| label.eq_ignore_ascii_case(name));
    let is_other = || !label.eq_ignore_ascii_case("utf-7") && Encoding::for_label(label.as_bytes()).is_none();
    is_ascii() || is_other() || Encoding::for_label(label.as_bytes()) == Some(encoding_rs::UTF_8)
}

/// Bytes as UTF-8, if they are that, otherwise in the encoding that they speak for.
fn in_fitting_encoding(bytes: &[u8]) -> Cow<'_, str> {
    match encoding::guess(bytes, true) {
        Some((encoding, _)) => encoding.decode_without_bom_handling(bytes).0,
        None => String::from_utf8_lossy(bytes),
    }
}

/// A mail whose fields are UTF-8: some programs write other letters as they are.
fn with_fields_in_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let end = [&b"\n\n"[..], b"\n\r\n"].iter().filter_map(|end| memchr::memmem::find(bytes, end)).min();
    let (fields, body) = bytes.split_at(end.unwrap_or(bytes.len()));
    let text = match std::str::from_utf8(fields) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => in_fitting_encoding(fields),
    };
    match (with_fitting_words(&text), &text) {
        (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(bytes),
        (fields, _) => Cow::Owned([fields.as_bytes(), body].concat()),
    }
}

/// Bytes of an encoded word, at most: one that is not closed is searched no further for its end.
const MOST_OF_WORD: usize = 1 << 12;

/// A word of a field that is encoded: `=?charset?Q?text?=`.
struct EncodedWord {
    /// Where it ends in the text that begins with it.
    end: usize,
    bytes: Vec<u8>,
    /// Whether the encoding that it names may be wrong, as that of the parts of a mail.
    may_be_wrong: bool,
}

impl EncodedWord {
    /// The word that a text begins with.
    fn at(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("=?")?.splitn(3, '?');
        let (label, how, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let near = &rest.as_bytes()[..rest.len().min(MOST_OF_WORD)];
        let content = &rest[..memchr::memmem::find(near, b"?=")?];
        let is_label = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_label || content.contains(['\n', '\r', ' ']) {
            return None;
        }
        let bytes = match how {
            "q" | "Q" => {
                // An underscore is a space, and no line of such a text ends.
                let spaced = content.replace('_', "=20");
                quoted_printable_decode(spaced.as_bytes())?
            }
            "b" | "B" => base64_decode(content.as_bytes())?,
            _ => return None,
        };
        let end = 2 + label.len() + 1 + how.len() + 1 + content.len() + 2;
        // A language may follow the encoding.
        let label = label.split('*').next().unwrap_or(label);
        Some(Self { end, bytes, may_be_wrong: may_be_wrong(label) })
    }
}

/// Fields in which encoded words that name a wrong encoding are in the one that their bytes speak for. Neighbours are one text,
/// which may be divided within a character.
fn with_fitting_words(fields: &str) -> Cow<'_, str> {
    let mut fitting = String::new();
    let mut rest = fields;
    while let Some(at) = rest.find("=?") {
        let (before, from) = rest.split_at(at);
        let Some(first) = EncodedWord::at(from) else {
            fitting.push_str(before);
            fitting.push_str("=?");
            rest = &from[2..];
            continue;
        };
        let (mut bytes, mut wrong, mut end) = (first.bytes, first.may_be_wrong, first.end);
        loop {
            let blank = from[end..].len() - from[end..].trim_start().len();
            let Some(next) = EncodedWord::at(&from[end + blank..]).filter(|_| blank > 0) else { break };
            wrong &= next.may_be_wrong;
            bytes.extend_from_slice(&next.bytes);
            end += blank + next.end;
        }
        fitting.push_str(before);
        match wrong && !bytes.is_ascii() {
            true => {
                let text = in_fitting_encoding(&bytes).into_owned();
                fitting.push_str("=?utf-8?Q?");
                fitting.extend(text.bytes().map(|byte| format!("={byte:02X}")));
                fitting.push_str("?=");
            }
            false => fitting.push_str(&from[..end]),
        }
        rest = &from[end..];
    }
    match fitting.is_empty() {
        true => Cow::Borrowed(fields),
        false => Cow::Owned(fitting + rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(name: &str, bytes: &[u8]) -> Result<String, String> {
        text(Path::new(name), bytes, None).map_err(|kind| kind.to_string())
    }

    #[test]
    fn plain_texts_in_any_encoding() {
        assert_eq!(of("x", "Grüße".as_bytes()).unwrap(), "Grüße");
        assert_eq!(of("x", b"\xef\xbb\xbfmark").unwrap(), "mark");
        let latin = b"Viele Gr\xfc\xdfe aus M\xfcnchen und K\xf6ln, sch\xf6ne Stra\xdfen";
        assert!(of("x", latin).unwrap().contains("Grüße aus München"), "{:?}", of("x", latin));
        let wide: Vec<u8> = "\u{feff}hello world".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of("x", &wide).unwrap(), "hello world");
        let named = encoding::named("windows-1251").unwrap();
        assert_eq!(text(Path::new("x"), b"\xcf\xf0\xe8\xe2\xe5\xf2", Some(named)).unwrap(), "Привет");
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
    fn mails_give_subject_body_and_names_of_attachments() {
        let mail = "From x Mon Jan  1 00:00:00 2001\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\nTo: you\n\
                    Subject: =?iso-8859-1?Q?Kr=E4ftig?= sparen\nMIME-Version: 1.0\n\
                    Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset=utf-8\n\
                    Content-Transfer-Encoding: base64\n\nPGI+TG9hbjwvYj4gJmFtcDsgPGEgaHJlZj0ieCI+cHJpemU8L2E+\n\
                    --b\nContent-Type: application/pdf; name=\"offer.pdf\"\nContent-Disposition: attachment; \
                    filename=\"offer.pdf\"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let text = of("mail", mail.as_bytes()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["Kräftig", "sparen", "Loan", "&", "prize", "offer.pdf"], "{text}");
        // Wrong encodings, cut ends and missing parts are no errors.
        let wrong = "Subject: =?nonsense?Q?=ZZ?= x\nFrom: a\nContent-Type: text/plain; charset=klingon\n\nbody \u{fffd}";
        assert!(of("mail", wrong.as_bytes()).unwrap().contains("body"));
        assert!(of("mail", &mail.as_bytes()[..400]).is_ok());
    }

    #[test]
    fn parts_that_are_not_closed_are_read() {
        let outer = "From: a\nTo: b\nSubject: x\nContent-Type: multipart/mixed; BOUNDARY=\"B B\"\n\n\
                     --B B\nContent-Type: text/plain\n\nprize loan\n";
        let words = |mail: &str| -> Vec<String> {
            of("mail", mail.as_bytes()).unwrap().split_whitespace().map(str::to_owned).collect()
        };
        assert_eq!(words(outer), ["x", "prize", "loan"]);
        assert_eq!(words(&format!("{outer}--B B--\n")), ["x", "prize", "loan"]);
        let nested = "From: a\nTo: b\nSubject: x\nContent-Type: multipart/mixed; boundary=out\n\n\
                      --out\nContent-Type: multipart/alternative; boundary=in; x=y\n\n\
                      --in\nContent-Type: text/plain\n\nprize loan\n";
        assert_eq!(words(nested), ["x", "prize", "loan"]);
    }

    #[test]
    fn bytes_decide_where_a_mail_names_an_encoding_that_they_do_not_fit() {
        let mail = |fields: &str, body: &[u8]| {
            let head = format!("From: a\nTo: b\nSubject: x\nMIME-Version: 1.0\n{fields}\n\n");
            of("mail", &[head.as_bytes(), body].concat()).unwrap()
        };
        let (utf8, latin) =
            ("Grüße, Übung macht den Meister".as_bytes(), b"Gr\xfc\xdfe, \xdcbung macht den Meister");
        for label in ["us-ascii", "utf-8", "klingon"] {
            let fields =
                format!("Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: 8bit");
            for body in [utf8, &latin[..]] {
                let text = mail(&fields, body);
                assert!(text.contains("Grüße, Übung"), "{label}: {text}");
            }
        }
        assert!(mail("Content-Transfer-Encoding: 8bit", utf8).contains("Grüße, Übung"));
        let quoted = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable";
        assert!(mail(quoted, b"Gr=FC=DFe, =DCbung macht den Meister").contains("Grüße, Übung"));
        // A label that fits is believed.
        let fields = "Content-Type: text/plain; charset=windows-1251\nContent-Transfer-Encoding: 8bit";
        assert!(mail(fields, b"\xcf\xf0\xe8\xe2\xe5\xf2").contains("Привет"));
        let raw = b"From: a\nTo: b\nSubject: Sch\xf6ne Gr\xfc\xdfe zum Fr\xfchling\n\nbody";
        assert!(of("mail", raw).unwrap().contains("Schöne Grüße zum Frühling"));
    }

    #[test]
    fn bytes_decide_where_words_of_fields_name_an_encoding_that_they_do_not_fit() {
        let subject = |subject: &str| {
            let mail = format!("From: a\nTo: b\nSubject: {subject}\nMIME-Version: 1.0\n\nbody");
            let text = of("mail", mail.as_bytes()).unwrap();
            text.lines().next().unwrap_or_default().to_string()
        };
        let latin = "Sch=F6ne_Gr=FC=DFe_zum_Fr=FChling";
        for label in ["utf-8", "us-ascii", "klingon", "UTF-8*de"] {
            assert_eq!(subject(&format!("=?{label}?Q?{latin}?=")), "Schöne Grüße zum Frühling", "{label}");
            assert_eq!(subject(&format!("=?{label}?b?R3LDvMOfZQ==?= an alle")), "Grüße an alle", "{label}");
        }
        // A label that fits is believed, and a character may be divided between neighbours.
        assert_eq!(subject("=?windows-1251?Q?=CF=F0=E8=E2=E5=F2?="), "Привет");
        assert_eq!(subject("Re: =?utf-8?Q?Gr=C3?=\n =?utf-8?Q?=BC=C3=9Fe?= Du"), "Re: Grüße Du");
        assert_eq!(subject("plain =? text"), "plain =? text");
        assert_eq!(subject("=?utf-8?Q?a=20b?= c"), "a b c");
    }

    #[test]
    fn a_mail_that_does_not_say_what_it_is_may_be_a_page() {
        for start in ["<html><body>", "<!DOCTYPE html>\n<html>", "<BODY bgcolor=red>", "\n<head></head>"] {
            let mail = format!("From: a\nTo: b\nSubject: x\n\n{start}<p class=y>free <b>loan</b></p>");
            let text = of("mail", mail.as_bytes()).unwrap();
            assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["x", "free", "loan"], "{start}");
        }
        let plain = "From: a\nTo: b\nSubject: x\nContent-Type: text/plain\n\n<html> is a tag";
        assert!(of("mail", plain.as_bytes()).unwrap().contains("<html> is a tag"));
        assert!(!begins_like_page("<bodyguard> of") && !begins_like_page("<ht") && begins_like_page("<html"));
    }

    #[test]
    fn forwarded_mails_are_read_too() {
        let mail = "From: a\nTo: b\nSubject: Fwd\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n\
                    --x\nContent-Type: text/plain\n\nsee below\n--x\nContent-Type: message/rfc822\n\n\
                    From: c\nTo: a\nSubject: free prize\nContent-Type: text/plain\n\na cheap loan\n--x--\n";
        let text = of("mail", mail.as_bytes()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["Fwd", "see", "below", "free", "prize", "a", "cheap", "loan"], "{text}");
        // However deep they lie in one another.
        let deep = (0..200).fold("Subject: x\n\nbody".to_string(), |inner, _| {
            format!("From: a\nTo: b\nSubject: deep\nContent-Type: message/rfc822\n\n{inner}")
        });
        assert!(of("mail", deep.as_bytes()).unwrap().contains("deep"));
    }

    #[test]
    fn pages_are_reduced_to_their_words() {
        let page =
            b"<!DOCTYPE html><html><head><title>x</title></head><body><p>Free <b>prize</b></p></body></html>";
        assert_eq!(of("x.html", page).unwrap().split_whitespace().collect::<Vec<_>>(), ["Free", "prize"]);
        let cells = b"<table><tr><td>one</td><td>tw<b>o</b></td></tr></table>";
        assert_eq!(of("x.htm", cells).unwrap().split_whitespace().collect::<Vec<_>>(), ["one", "two"]);
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

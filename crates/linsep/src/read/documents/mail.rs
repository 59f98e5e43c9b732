//! The text of a raw e-mail: its subject, its body (HTML as text), the names of its attachments, and the text of the mails that it
//! forwards.

use super::document::begins_like_page;
use super::fields::with_fields_in_utf8;
use super::fitting::{in_fitting_encoding, may_be_wrong};
use super::page::{self, words_of_page};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};
use std::borrow::Cow;

/// The text of a raw e-mail.
pub(super) fn text(bytes: &[u8]) -> String {
    // The line that mailboxes put before a mail is no field.
    let bytes = match bytes.strip_prefix(b"From ") {
        Some(rest) => rest.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &rest[end + 1..]),
        None => bytes,
    };
    let bytes = &*with_fields_in_utf8(bytes);
    let bytes = &*with_closed_parts(bytes);
    let Some(mut message) = MessageParser::default().parse(bytes) else {
        return in_fitting_encoding(bytes).into_owned();
    };
    let decoded = with_decoded_lines(bytes, &message);
    if let Some(again) = decoded.as_ref().and_then(|bytes| MessageParser::default().parse(bytes)) {
        message = again;
    }
    let mut text = String::new();
    add_message(&message, MAX_FORWARDED, &mut text);
    text
}

/// A mail with texts that say that they are base64 and have lines that are not, such as the footer that a mailing list added: those lines
/// are left as they are, and the others are decoded. None if there are no such texts.
fn with_decoded_lines(bytes: &[u8], message: &Message<'_>) -> Option<Vec<u8>> {
    let mut places = Vec::new();
    add_base64_texts(message, MAX_FORWARDED, &mut places);
    places.sort_unstable();
    let (mut decoded, mut done) = (Vec::new(), 0);
    for &[start, body, end] in &places {
        let (Some(before), Some(fields), Some(text)) =
            (bytes.get(done..start), bytes.get(start..body), bytes.get(body..end))
        else {
            continue;
        };
        let name = find_in_any_case(fields, b"content-transfer-encoding:").unwrap_or(0);
        let named = find_in_any_case(&fields[name..], BASE64).map(|at| name + at);
        let (Some(at), Some(text)) = (named, decoded_lines(text)) else { continue };
        for piece in [before, &fields[..at], b"8bit", &fields[at + BASE64.len()..], &text] {
            decoded.extend_from_slice(piece);
        }
        done = end;
    }
    decoded.extend_from_slice(&bytes[done..]);
    (done > 0).then_some(decoded)
}

/// The name of an encoding of bytes as characters.
const BASE64: &[u8] = b"base64";

fn find_in_any_case(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|own| own.eq_ignore_ascii_case(word))
}

/// Texts that say that they are base64: where their fields begin, and where the texts begin and end. Mails that are forwarded as they
/// are lie in the same bytes.
fn add_base64_texts(message: &Message<'_>, most_forwarded: usize, places: &mut Vec<[usize; 3]>) {
    for part in &message.parts {
        let encoding = part.content_transfer_encoding().unwrap_or_default();
        let is_text = part.content_type().is_none_or(|kind| kind.ctype().eq_ignore_ascii_case("text"));
        if is_text && encoding.as_bytes().eq_ignore_ascii_case(BASE64) {
            places.push([part.offset_header, part.offset_body, part.offset_end].map(|at| at as usize));
        }
        if let (PartType::Message(forwarded), 1.., mail_parser::Encoding::None) =
            (&part.body, most_forwarded, part.encoding)
        {
            add_base64_texts(forwarded, most_forwarded - 1, places);
        }
    }
}

/// A text with its base64 decoded and its other lines as they are. None if it has no other lines.
fn decoded_lines(text: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let (mut decoded, mut has_plain, mut after_code) = (Vec::new(), false, false);
    let mut rest = lines.as_slice();
    while let Some(line) = rest.first() {
        let (run, code) = base64_run(rest);
        if let Some(code) = base64_decode(&code).filter(|_| run > 0) {
            decoded.extend_from_slice(&code);
            (rest, after_code) = (&rest[run..], true);
            continue;
        }
        let is_blank = line.trim_ascii().is_empty();
        has_plain |= !is_blank;
        if after_code && !is_blank {
            decoded.push(b'\n');
            after_code = false;
        }
        // Blank lines between code are no part of what it says.
        if !after_code {
            decoded.extend_from_slice(line);
        }
        rest = &rest[1..];
    }
    has_plain.then_some(decoded)
}

/// How many of the first lines are base64 that belongs together, and their code. Only the last of them may be short or padded. A short
/// line that looks like a word is none, and four characters belong together unless the end of a long code was cut off.
fn base64_run(lines: &[&[u8]]) -> (usize, Vec<u8>) {
    const SHORT: usize = 16;
    const LONG: usize = 64;
    let is_code = |line: &[u8]| {
        let padding = line.iter().rev().take_while(|&&byte| byte == b'=').count();
        let is_word = line.iter().all(u8::is_ascii_alphabetic)
            && (line.iter().skip(1).all(u8::is_ascii_lowercase) || line.iter().all(u8::is_ascii_uppercase));
        let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
        line.len() > padding
            && padding <= 2
            && line[..line.len() - padding].iter().all(is_code)
            && (line.len() >= SHORT || !is_word)
    };
    let (mut run, mut code) = (0, Vec::new());
    for line in lines.iter().map(|line| line.trim_ascii()).take_while(|line| is_code(line)) {
        run += 1;
        code.extend_from_slice(line);
        if line.len() < SHORT || line.ends_with(b"=") {
            break;
        }
    }
    let may_be_cut_off = run > 1 || code.len() >= LONG;
    if code.len().is_multiple_of(4) || may_be_cut_off { (run, code) } else { (0, Vec::new()) }
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
            (1..=MAX_BOUNDARY).contains(&end).then(|| &rest[..end])
        })
        .take(MAX_BOUNDARIES)
}

/// The longest line between parts that mails may have, without its dashes.
const MAX_BOUNDARY: usize = 70;

/// Names of such lines that are looked at.
const MAX_BOUNDARIES: usize = 32;

/// Mails within mails, at most.
const MAX_FORWARDED: usize = 16;

/// Adds the text of a mail, and that of the mails it forwards.
fn add_message(message: &Message<'_>, most_forwarded: usize, text: &mut String) {
    text.push_str(message.subject().unwrap_or_default());
    for part in message.text_bodies() {
        text.push('\n');
        match &part.body {
            PartType::Text(body) => {
                let body = in_its_encoding(message, part, body);
                // A part that does not say what it is may be HTML.
                let is_page = part.content_type().is_none() && begins_like_page(body.as_bytes());
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
    // There are encodings whose bytes are ASCII, with escapes.
    if (parsed.is_ascii() && !parsed.contains('\u{1b}')) || !may_be_wrong(label) {
        return Cow::Borrowed(parsed);
    }
    let range = part.offset_body as usize..part.offset_end as usize;
    let Some(raw) = message.raw_message.get(range) else { return Cow::Borrowed(parsed) };
    let bytes = match part.encoding {
        mail_parser::Encoding::None => Some(Cow::Borrowed(raw)),
        mail_parser::Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        mail_parser::Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
    };
    let Some(bytes) = bytes else { return Cow::Borrowed(parsed) };
    let is_page = part.is_text_html() || part.content_type().is_none() && begins_like_page(&bytes);
    let text = match page::named_encoding(&bytes).filter(|_| is_page) {
        Some(encoding) => encoding.decode_without_bom_handling(&bytes).0,
        None => in_fitting_encoding(&bytes),
    };
    Cow::Owned(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mail: &[u8]) -> String {
        text(mail)
    }

    #[test]
    fn mails_give_subject_body_and_names_of_attachments() {
        let mail = "From x Mon Jan  1 00:00:00 2001\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\nTo: you\n\
                    Subject: =?iso-8859-1?Q?Kr=E4ftig?= sparen\nMIME-Version: 1.0\n\
                    Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset=utf-8\n\
                    Content-Transfer-Encoding: base64\n\nPGI+TG9hbjwvYj4gJmFtcDsgPGEgaHJlZj0ieCI+cHJpemU8L2E+\n\
                    --b\nContent-Type: application/pdf; name=\"offer.pdf\"\nContent-Disposition: attachment; \
                    filename=\"offer.pdf\"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let text = of(mail.as_bytes());
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["Kräftig", "sparen", "Loan", "&", "prize", "offer.pdf"], "{text}");
        // Wrong encodings, cut ends and missing parts are no errors.
        let wrong = "Subject: =?nonsense?Q?=ZZ?= x\nFrom: a\nContent-Type: text/plain; charset=klingon\n\nbody \u{fffd}";
        assert!(of(wrong.as_bytes()).contains("body"));
        of(&mail.as_bytes()[..400]);
    }

    #[test]
    fn parts_that_are_not_closed_are_read() {
        let outer = "From: a\nTo: b\nSubject: x\nContent-Type: multipart/mixed; BOUNDARY=\"B B\"\n\n\
                     --B B\nContent-Type: text/plain\n\nprize loan\n";
        let words = |mail: &str| -> Vec<String> {
            of(mail.as_bytes()).split_whitespace().map(str::to_owned).collect()
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
            of(&[head.as_bytes(), body].concat())
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
        assert!(of(raw).contains("Schöne Grüße zum Frühling"));
    }

    #[test]
    fn what_follows_base64_is_kept_as_it_is() {
        let base64 = "UHJlaXMgdW5kIEdyw7zDn2U=";
        let footer = "_______________________________________________\nlist mailing list\nunsubscribe here";
        let fields = "Subject: x base64\nFrom: a\nTo: b\nMIME-Version: 1.0\n";
        let expected = "x base64 Preis und Grüße list mailing list unsubscribe here";
        for kind in ["text/plain; charset=utf-8", "text/html; charset=utf-8", "text/plain"] {
            let part = format!("Content-Type: {kind}\ncontent-transfer-encoding: BASE64\n\n{base64}\n");
            let forwarded = format!("From: c\nTo: d\n{part}{footer}\n");
            for mail in [
                format!("{fields}{part}{footer}\n"),
                format!("{fields}{part}\n{footer}\n"),
                format!("{fields}{part}{footer}\n").replace('\n', "\r\n"),
                format!("{fields}Content-Type: multipart/mixed; boundary=q\n\n--q\n{part}{footer}\n--q--\n"),
                format!("{fields}Content-Type: multipart/mixed; boundary=q\n\n--q\n{part}{footer}\n"),
                format!(
                    "{fields}Content-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: message/rfc822\n\n\
                     {forwarded}\n--q--\n"
                ),
            ] {
                let text = of(mail.as_bytes()).replace('_', " ");
                assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{mail}");
            }
        }
        // Lines that are no base64 are left alone, wherever they are, and so are pictures.
        let longer = "UHJlaXMgdW5kIEdyw7zDn2UgUHJlaXMgdW5kIEdyw7zD\nn2Ug";
        for (code, said) in [(base64, "Preis und Grüße"), (longer, "Preis und Grüße Preis und Grüße")] {
            for words in ["Greetings from the list", "Unsubscribe", "footer", "list", "NOTE"] {
                for body in [
                    format!("{code}\n{words}\n"),
                    format!("{code}\n\n{words}\n"),
                    format!("{}\n\n{words}\n", code.replace('\n', "\n\n")),
                ] {
                    let mail = format!(
                        "{fields}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
                    );
                    let text = of(format!("{mail}{body}").as_bytes());
                    let expected = format!("x base64 {said} {words}");
                    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{body}");
                    let text = of(format!("{mail}{words}\n\n{code}\n").as_bytes());
                    let expected = format!("x base64 {words} {said}");
                    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{body}");
                }
            }
        }
        for words in
            ["no code, but words", "Dear\n\nfriend, hello", "Hello\n--\nfriend", "Hello world", "Dear"]
        {
            let plain = format!("{fields}Content-Transfer-Encoding: base64\n\n{words}\n");
            assert!(of(plain.as_bytes()).contains(words), "{words}");
        }
        // However many such parts there are.
        let part = format!("--q\nContent-Transfer-Encoding: base64\n\n{base64}\n*\n");
        let many =
            format!("{fields}Content-Type: multipart/mixed; boundary=q\n\n{}--q--\n", part.repeat(20_000));
        assert_eq!(of(many.as_bytes()).matches("Preis und Grüße").count(), 20_000);
        let picture = format!(
            "{fields}Content-Type: image/png; name=cat.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n{footer}\n"
        );
        assert!(of(picture.as_bytes()).ends_with("cat.png"));
    }

    #[test]
    fn pages_name_their_encodings_where_the_mail_does_not() {
        let mail = |fields: &str, body: &[u8]| {
            let head = format!("From: a\nTo: b\nSubject: x\n{fields}\n\n");
            of(&[head.as_bytes(), body].concat())
        };
        // Too few letters to guess from.
        let page = |said: &str, letters: &[u8]| {
            [format!("<html><head>{said}</head><body>").as_bytes(), letters, b"</body></html>"].concat()
        };
        for (label, letters, expected) in [
            ("windows-1251", &b"\xe4\xe0"[..], "да"),
            ("iso-8859-7", b"\xed\xe1\xe9", "ναι"),
            ("iso-2022-jp", b"\x1b$B$O$$\x1b(B", "はい"),
        ] {
            for said in [
                format!("<meta charset={label}>"),
                format!("<META http-equiv='Content-Type' content='text/html; charset={label}'/>"),
            ] {
                for fields in ["Content-Type: text/html", "Content-Type: text/html; charset=us-ascii", "X: y"]
                {
                    let text = mail(fields, &page(&said, letters));
                    assert_eq!(
                        text.split_whitespace().collect::<Vec<_>>(),
                        ["x", expected],
                        "{fields} {said}"
                    );
                }
            }
        }
        // The label of the mail is believed if it names a third one, and UTF-8 is what it is.
        let said = "<meta charset=windows-1251>";
        assert!(
            mail("Content-Type: text/html; charset=iso-8859-7", &page(said, b"\xed\xe1\xe9")).contains("ναι")
        );
        assert!(mail("Content-Type: text/html", &page(said, "да".as_bytes())).contains("да"));
    }

    #[test]
    fn a_mail_that_does_not_say_what_it_is_may_be_a_page() {
        for start in ["<html><body>", "<!DOCTYPE html>\n<html>", "<BODY bgcolor=red>", "\n<head></head>"] {
            let mail = format!("From: a\nTo: b\nSubject: x\n\n{start}<p class=y>free <b>loan</b></p>");
            let text = of(mail.as_bytes());
            assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["x", "free", "loan"], "{start}");
        }
        let plain = "From: a\nTo: b\nSubject: x\nContent-Type: text/plain\n\n<html> is a tag";
        assert!(of(plain.as_bytes()).contains("<html> is a tag"));
        assert!(
            !begins_like_page(b"<bodyguard> of") && !begins_like_page(b"<ht") && begins_like_page(b"<html")
        );
    }

    #[test]
    fn forwarded_mails_are_read_too() {
        let mail = "From: a\nTo: b\nSubject: Fwd\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n\
                    --x\nContent-Type: text/plain\n\nsee below\n--x\nContent-Type: message/rfc822\n\n\
                    From: c\nTo: a\nSubject: free prize\nContent-Type: text/plain\n\na cheap loan\n--x--\n";
        let text = of(mail.as_bytes());
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words, ["Fwd", "see", "below", "free", "prize", "a", "cheap", "loan"], "{text}");
        // However deep they lie in one another.
        let deep = (0..200).fold("Subject: x\n\nbody".to_string(), |inner, _| {
            format!("From: a\nTo: b\nSubject: deep\nContent-Type: message/rfc822\n\n{inner}")
        });
        assert!(of(deep.as_bytes()).contains("deep"));
    }
}

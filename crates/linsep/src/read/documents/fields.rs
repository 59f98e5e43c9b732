//! The fields of a raw e-mail, in UTF-8.

use super::fitting::{in_fitting_encoding, may_be_wrong};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use std::borrow::Cow;

/// A mail whose fields are UTF-8: some programs write other letters as they are.
pub(super) fn with_fields_in_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
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
const MAX_OF_WORD: usize = 1 << 12;

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
        let near = &rest.as_bytes()[..rest.len().min(MAX_OF_WORD)];
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

/// Fields in which encoded words that name a wrong encoding are in the detected one. Neighbours are one text,
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
    use super::super::mail;
    use super::*;

    /// Searched to the end from each of its beginnings, such a field would take minutes.
    #[test]
    fn words_that_are_never_closed_take_no_longer_than_others() {
        const BYTES: usize = 2_000_000;
        for piece in
            ["=?", "=?utf-8?Q?", "=?utf-8?Q?=ZZ", "=?utf-8?b?a ", "=?x?q?y?= ", "=?a=?", "?=", "boundary=a\n"]
        {
            let field = piece.repeat(BYTES / piece.len());
            let mail = format!("Subject: {field}\nFrom: a\n\nbody {field}");
            assert!(mail::text(mail.as_bytes()).contains("body"), "{piece}");
            assert!(with_fitting_words(&field).len() >= field.len() / 8, "{piece}");
        }
    }

    #[test]
    fn bytes_decide_where_words_of_fields_name_an_encoding_that_they_do_not_fit() {
        let subject = |subject: &str| {
            let mail = format!("From: a\nTo: b\nSubject: {subject}\nMIME-Version: 1.0\n\nbody");
            let text = mail::text(mail.as_bytes());
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
}

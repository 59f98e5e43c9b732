//! The words of HTML, as a browser would show them, also of pages that are not well-formed: mails are full of such.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use mail_parser::decoders::html::html_to_text;

/// Tags within a word or a sentence; all others part words, such as those of two cells of a table.
const INLINE: [&str; 13] =
    ["a", "b", "i", "u", "s", "em", "strong", "font", "span", "small", "big", "sub", "sup"];

/// What may stand in the head of a page; anything else ends it.
const OF_HEAD: [&str; 8] = ["meta", "link", "title", "base", "style", "script", "noscript", "object"];

/// Elements whose content is not shown.
const HIDDEN: [&str; 2] = ["script", "style"];

/// Bytes of a tag, at most: one that is not closed is searched no further for its end.
const MAX_OF_TAG: usize = 1 << 12;

/// Bytes at the beginning of a page that may name its encoding.
const MAX_BEFORE_ENCODING: usize = 1 << 12;

/// The encoding that a page names for its bytes, in `<meta charset=…>`, in `<meta … content="…; charset=…">` or as XML does. None if the
/// bytes are UTF-8, whatever the page says, or if it says that they are and they are not.
pub(super) fn named_encoding(page: &[u8]) -> Option<&'static Encoding> {
    let head = page[..page.len().min(MAX_BEFORE_ENCODING)].to_ascii_lowercase();
    let tags = memchr::memchr_iter(b'<', &head).map(|at| &head[at + 1..]);
    let label = |tag: &[u8]| {
        let tag = &tag[..memchr::memchr(b'>', tag)?];
        let name: &[u8] = match tag {
            [b'm', b'e', b't', b'a', ..] => b"charset",
            [b'?', b'x', b'm', b'l', ..] => b"encoding",
            _ => return None,
        };
        let after = &tag[memchr::memmem::find(tag, name)? + name.len()..];
        let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let end = value.iter().position(|byte| b"\"'; \t\r\n/?".contains(byte)).unwrap_or(value.len());
        Encoding::for_label_no_replacement(&value[..end])
    };
    let named = tags.filter_map(label).find(|named| ![UTF_8, UTF_16LE, UTF_16BE].contains(named))?;
    (page.is_ascii() || std::str::from_utf8(page).is_err()).then_some(named)
}

/// The words of HTML.
pub(super) fn words_of_page(page: &str) -> String {
    let mut shown = String::with_capacity(page.len());
    let mut in_head = false;
    // Once no comment ends, none does in what is left: it is not searched again and again.
    let mut comments_end = true;
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        if !in_head {
            add_text(&rest[..at], &mut shown);
        }
        let tag = &rest[at..];
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = after_comment(comment, &mut comments_end);
            continue;
        }
        let name = tag[1..].trim_start_matches('/');
        let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())];
        if name.is_empty() && !tag.starts_with("<!") && !tag.starts_with("<?") {
            // "1 < 2" is text.
            shown.push_str(if in_head { "" } else { "&lt;" });
            rest = &tag[1..];
            continue;
        }
        let is = |names: &[&str]| names.iter().any(|own| name.eq_ignore_ascii_case(own));
        let closes = tag.starts_with("</");
        if is(&["head"]) {
            in_head = !closes;
        } else if !name.is_empty() && !is(&OF_HEAD) {
            in_head = false;
        }
        rest = after_tag(tag);
        if !closes && is(&HIDDEN) {
            rest = at_closing(rest, name);
        }
        if !is(&INLINE) {
            shown.push(' ');
        }
    }
    if !in_head {
        add_text(rest, &mut shown);
    }
    // There are no tags left: only the names of characters are resolved.
    html_to_text(&shown)
}

fn add_text(text: &str, shown: &mut String) {
    for (place, part) in text.split('>').enumerate() {
        shown.push_str(if place > 0 { "&gt;" } else { "" });
        shown.push_str(part);
    }
}

/// What follows a comment, without its beginning. One that is not closed ends with its first line, so that no more is lost.
fn after_comment<'a>(comment: &'a str, comments_end: &mut bool) -> &'a str {
    // <!--> and <!---> are comments, too.
    if let Some(rest) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
        return rest;
    }
    let bytes = comment.as_bytes();
    let ends = |at: &usize| bytes[..*at].ends_with(b"--") || bytes[..*at].ends_with(b"--!");
    let end = if *comments_end { memchr::memchr_iter(b'>', bytes).find(ends) } else { None };
    *comments_end &= end.is_some();
    match end {
        Some(at) => &comment[at + 1..],
        None => comment.find('\n').map_or("", |end| &comment[end..]),
    }
}

/// What follows a tag; a > within quotes does not end it. A tag that is not closed is no reason to lose what follows its line.
fn after_tag(tag: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in tag.char_indices().take_while(|&(at, _)| at < MAX_OF_TAG) {
        match quote {
            Some(own) if c == own => quote = None,
            Some(_) => {}
            None if c == '>' => return &tag[at + 1..],
            // A quote begins a value only after an equals sign.
            None if (c == '"' || c == '\'') && before == '=' => quote = Some(c),
            None => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    // Perhaps a quote was never closed.
    tag.find(['>', '\n']).map_or("", |end| &tag[end + 1..])
}

/// From the tag that closes an element on; nothing if there is none.
fn at_closing<'a>(rest: &'a str, name: &str) -> &'a str {
    let bytes = rest.as_bytes();
    let closes = |at: &usize| {
        let own = bytes.get(at + 2..at + 2 + name.len());
        bytes[at + 1..].first() == Some(&b'/')
            && own.is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    };
    memchr::memchr_iter(b'<', bytes).find(closes).map_or("", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(page: &str) -> Vec<String> {
        words_of_page(page).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_those_that_a_browser_shows() {
        for (page, expected) in [
            ("<html><head><title>t</title></head><body>prize loan</body></html>", "prize loan"),
            // A head that is not closed ends where something else begins.
            ("<html><head><body>prize loan</body></html>", "prize loan"),
            ("<head><meta x=y><p>prize loan", "prize loan"),
            ("one <!--- a ---> two three", "one two three"),
            ("one <!-- a --!> two", "one two"),
            ("N<!---->B<!-- x -->C <!-->d<!---> e", "NBC d e"),
            ("one <!-- never closed\ntwo", "one two"),
            ("one<a href=x>two</a> three", "onetwo three"),
            ("<a href=\"x\">prize</a> loan", "prize loan"),
            ("<a title=\"a > office\">link</a> text", "link text"),
            ("<a title=\"never closed>link</a> text", "link text"),
            ("if 1 < 2 loan and 3 > 2 prize", "if 1 < 2 loan and 3 > 2 prize"),
            ("<style>p > q { }</style><script>if (a < b) x</script>shown", "shown"),
            ("a<script>never closed", "a"),
            ("<td>one</td><td>two</td>", "one two"),
            ("caf&eacute; &amp; bl<b>a</b>h", "café & blah"),
            ("<?xml version=\"1.0\"?><!DOCTYPE html><p>text", "text"),
            ("", ""),
            ("<", "<"),
            ("a <b", "a"),
        ] {
            assert_eq!(words(page).join(" "), expected, "{page}");
        }
    }

    /// Searched again and again from each of its tags, such a page would take minutes.
    #[test]
    fn pages_that_are_never_closed_take_no_longer_than_others() {
        const BYTES: usize = 2_000_000;
        for piece in [
            "<a b=\"",
            "<a b='>",
            "<a ",
            "<",
            "</",
            "<!--",
            "<!-- a -->",
            "<!-- a --!>",
            "<head>",
            "<script>",
            "<b",
            "&",
            "&a",
        ] {
            let page = piece.repeat(BYTES / piece.len());
            assert!(words_of_page(&page).len() <= 5 * page.len(), "{piece}");
        }
    }

    #[test]
    fn any_text_is_taken() {
        let pieces = ["<", ">", "!--", "-->", "/", "head", "a=\"", "'", "é", " ", "script", "&lt;", "\n"];
        for seed in 0..20_000usize {
            let mut state = seed;
            let page: String = (0..8)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    pieces[(state >> 33) % pieces.len()]
                })
                .collect();
            words_of_page(&page);
        }
    }
}

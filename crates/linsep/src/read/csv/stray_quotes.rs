//! Tab-separated text whose quotes are part of the words, as programs write that do not know quoted cells.

use super::dialect::Sample;
use super::records::Record;
use crate::read::filter::Filtered;
use crate::read::source::{HEAD_BYTES, Input};
use std::io;

/// Whether the rows have the same number of cells if quotes mean nothing, and otherwise not.
pub(super) fn are_in(sample: Sample<'_>) -> bool {
    if memchr::memchr(b'"', sample.bytes).is_none() {
        return false;
    }
    let mut lines =
        sample.bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let tabs = |line: &[u8]| memchr::memchr_iter(b'\t', line).count();
    let Some(width) = lines.next().map(tabs).filter(|&width| width > 0) else { return false };
    let is_cut = |line: &[u8]| sample.cut && !line.ends_with(b"\n");
    if !lines.all(|line| tabs(line) == width || is_cut(line)) {
        return false;
    }
    let mut records = sample.records(b'\t');
    let mut record = Record::default();
    loop {
        match records.next(&mut record) {
            Ok(true) if record.fault.is_some() || record.width() != width + 1 => return true,
            Ok(true) => {}
            // A quote that is never closed takes the rest of the sample for one cell.
            Ok(false) => return sample.cut && records.rest().contains(&b'\n'),
            Err(_) => return true,
        }
    }
}

/// The same text with such cells in quotes, and their own quotes doubled.
pub(super) fn requoted(input: Input) -> io::Result<Input> {
    let (mut at_start, mut wrapped) = (true, false);
    let requote = move |bytes: &[u8], last: bool, text: &mut Vec<u8>| {
        for &byte in bytes {
            let ends = matches!(byte, b'\t' | b'\n' | b'\r');
            if ends && std::mem::take(&mut wrapped) {
                text.push(b'"');
            }
            if at_start && byte == b'"' {
                wrapped = true;
                text.push(b'"');
            }
            if wrapped && byte == b'"' {
                text.push(b'"');
            }
            text.push(byte);
            at_start = matches!(byte, b'\t' | b'\n') || (at_start && byte == b' ');
        }
        if last && std::mem::take(&mut wrapped) {
            text.push(b'"');
        }
        Ok(())
    };
    input.replaced(HEAD_BYTES, |rest| Box::new(Filtered::new(rest, requote)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn quotes_that_are_part_of_words() {
        let is = |text: &str| are_in(Sample { bytes: text.as_bytes(), cut: false });
        assert!(is("ham\t\"Hi\" she said\nspam\tok\n"));
        assert!(is("ham\t\"Hi\nspam\tok\n"));
        assert!(!is("ham\tsay \"hi\"\nspam\tok\n"), "a quote inside a cell is no trouble");
        assert!(!is("ham\t\"Hi\"\nspam\t\"ok\"\n"));
        assert!(!is("ham\t\"two\nlines\"\nspam\tok\n"), "a quoted cell may hold a line end");
        assert!(!is("ham\tHi\nspam\n"));
    }

    #[test]
    fn cells_are_quoted_again() {
        let mut text = String::new();
        let input = Input::from_bytes(b"a\t\"Hi\" \"x\r\n\"\tb\"c\n\"end", 100);
        requoted(input).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\t\"\"\"Hi\"\" \"\"x\"\r\n\"\"\"\"\tb\"c\n\"\"\"end\"");
    }
}

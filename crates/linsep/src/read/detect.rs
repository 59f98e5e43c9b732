//! Which format the bytes are in.

use super::error::ReadErrorKind;

/// A data format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// LIBSVM / SVMlight: `label index:value …`
    Libsvm,
    /// Delimited text.
    Csv,
    /// Tab-separated text.
    Tsv,
    /// One NumPy array.
    Npy,
    /// An archive of NumPy arrays.
    Npz,
    /// Rows as linsep stores them.
    Cache,
}

impl Format {
    /// What to call it in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "LIBSVM",
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
            Format::Npy | Format::Npz => "NumPy",
            Format::Cache => "linsep cache",
        }
    }

    /// Whether it is delimited text.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// Whether it is text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Format::Libsvm | Format::Csv | Format::Tsv)
    }

    /// Whether it is made of NumPy arrays.
    pub(crate) fn is_array(self) -> bool {
        matches!(self, Format::Npy | Format::Npz)
    }
}

/// How many rows are looked at.
const SAMPLE_ROWS: usize = 50;

/// Tells the format from the first bytes of a file.
pub(crate) fn detect(head: &[u8]) -> Result<Format, ReadErrorKind> {
    if head.starts_with(b"\x93NUMPY") {
        return Ok(Format::Npy);
    }
    if head.starts_with(&super::cache::MAGIC) {
        return Ok(Format::Cache);
    }
    if head.starts_with(b"PK\x03\x04") {
        return Ok(Format::Npz);
    }
    if let Some(&byte) = head.iter().find(|&&byte| is_binary(byte)) {
        return Err(ReadErrorKind::Binary(byte));
    }
    if has_old_line_ends(head) {
        return Err(ReadErrorKind::OldLineEnds);
    }
    let rows: Vec<&[u8]> = head
        .split(|&byte| byte == b'\n')
        .map(|line| line.split(|&byte| byte == b'#').next().unwrap_or(line).trim_ascii())
        .filter(|line| !line.is_empty())
        .take(SAMPLE_ROWS)
        .collect();
    if rows.is_empty() {
        return Err(ReadErrorKind::Empty);
    }
    // The first row with more than a label decides: a pair in its second place, or anywhere if all are pairs.
    for row in &rows {
        let mut tokens = row.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
        let first = tokens.next().unwrap_or_default();
        if tokens.next().is_some_and(looks_like_pair) || looks_like_pair(first) {
            return Ok(Format::Libsvm);
        }
        if row.iter().any(|byte| b",;\t|".contains(byte)) {
            return Ok(Format::Csv);
        }
    }
    Err(ReadErrorKind::UnknownFormat)
}

/// Whether a text is divided by carriage returns, and by no line feed.
pub(crate) fn has_old_line_ends(head: &[u8]) -> bool {
    !head.contains(&b'\n') && head.trim_ascii().contains(&b'\r')
}

/// Bytes that text does not hold: control characters other than tab, line feed, form feed, carriage return.
pub(crate) fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r')
}

/// `12:` or `qid:` with something that has no delimiter after it.
fn looks_like_pair(token: &[u8]) -> bool {
    let Some(colon) = token.iter().position(|&byte| byte == b':') else { return false };
    let (index, value) = (&token[..colon], &token[colon + 1..]);
    (index == b"qid" || (!index.is_empty() && index.iter().all(u8::is_ascii_digit)))
        && !value.iter().any(|byte| b",;|".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        for (head, format) in [
            (&b"1 1:0.5 3:2\n"[..], Format::Libsvm),
            (b"# comment\n\n+1\n-1 qid:3 1:2\n", Format::Libsvm),
            (b"1:2 2:3\n", Format::Libsvm),
            (b"a,b,c\n1,2,3\n", Format::Csv),
            (b"a;b\n", Format::Csv),
            (b"time,label\n12:30,1\n", Format::Csv),
            (b"12:30,1\n", Format::Csv),
            (b"ham\tmeet 12:30 at the gate\n", Format::Csv),
            (b"\x93NUMPY\x01\x00", Format::Npy),
            (b"PK\x03\x04", Format::Npz),
            (b"\x89linsep\n\x01\x00\x00\x00", Format::Cache),
        ] {
            assert_eq!(detect(head).unwrap(), format, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn what_is_no_format_is_an_error() {
        assert!(matches!(detect(b""), Err(ReadErrorKind::Empty)));
        assert!(matches!(detect(b" \n# only\n"), Err(ReadErrorKind::Empty)));
        assert!(matches!(detect(b"\x7fELF\x02\x01\x01\x00"), Err(ReadErrorKind::Binary(2))));
        assert!(matches!(detect(b"1,2\r3,4\r"), Err(ReadErrorKind::OldLineEnds)));
        assert_eq!(detect(b"1,2\r\n3,4\r\n").unwrap(), Format::Csv);
        assert_eq!(detect(b"1,2\r").unwrap(), Format::Csv);
        assert!(matches!(detect(b"hello world\n"), Err(ReadErrorKind::UnknownFormat)));
    }
}

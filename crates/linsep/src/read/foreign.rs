//! Files that are something else: recognised, so that the error can say what they are and what to do.

use super::error::ReadErrorKind;
use super::formats::is_binary;
use super::jsonl;

/// A kind of file that is not read.
#[derive(Debug, PartialEq, Eq)]
pub struct ForeignFile {
    /// Its name.
    pub name: &'static str,
    /// Advice for the user.
    pub help: &'static str,
}

const WORKBOOK: &str = "open it in a spreadsheet program and save the sheet as CSV";
#[cfg(not(feature = "parquet"))]
const FROM_PYTHON: &str = "use a linsep that was built with its feature `parquet` (cargo build --release --features parquet), or write it as CSV, for example in Python: pandas.read_parquet(\"FILE\").to_csv(\"FILE.csv\", index=False)";
const FROM_ARROW: &str = "use a linsep that was built with its feature `parquet`, or write it as CSV, for example in Python: pandas.read_feather(\"FILE\").to_csv(\"FILE.csv\", index=False)";
#[cfg(not(feature = "pictures"))]
const PICTURE: &str = "use a linsep that was built with its feature `pictures`";
const AS_CSV: &str = "write the rows as CSV with the program that made it";

/// Kinds of files by the bytes that they begin with.
static BEGINNINGS: &[(&[u8], ForeignFile)] = &[
    #[cfg(not(feature = "parquet"))]
    (b"PAR1", ForeignFile { name: "a Parquet file", help: FROM_PYTHON }),
    #[cfg(not(feature = "parquet"))]
    (b"ARROW1", ForeignFile { name: "an Arrow file (Feather)", help: FROM_ARROW }),
    #[cfg(not(feature = "pictures"))]
    (b"\x89PNG\r\n\x1a\n", ForeignFile { name: "a PNG picture", help: PICTURE }),
    #[cfg(not(feature = "pictures"))]
    (b"\xff\xd8\xff", ForeignFile { name: "a JPEG picture", help: PICTURE }),
    (b"FEA1", ForeignFile { name: "a Feather file", help: FROM_ARROW }),
    (
        b"SQLite format 3\0",
        ForeignFile {
            name: "an SQLite database",
            help: "write a table as CSV, for example: sqlite3 -header -csv FILE \"select * from TABLE\" > FILE.csv",
        },
    ),
    (
        b"%PDF-",
        ForeignFile {
            name: "a PDF document",
            help: "copy its table into a spreadsheet, and save that as CSV",
        },
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        ForeignFile { name: "an old Excel workbook (.xls), or one with a password", help: WORKBOOK },
    ),
    (b"\x89HDF\r\n\x1a\n", ForeignFile { name: "an HDF5 file", help: AS_CSV }),
    (
        b"MATLAB 5.0 MAT-file",
        ForeignFile { name: "a MATLAB file", help: "write it as CSV with writematrix or writetable" },
    ),
    (b"RDX3\n", ForeignFile { name: "an R data file", help: "write it as CSV in R with write.csv" }),
    (b"ORC", ForeignFile { name: "an ORC file", help: AS_CSV }),
    (b"Obj\x01", ForeignFile { name: "an Avro file", help: AS_CSV }),
    (b"\x80\x02", ForeignFile { name: "a Python pickle", help: PICKLE }),
    (b"\x80\x03", ForeignFile { name: "a Python pickle", help: PICKLE }),
    (b"\x80\x04\x95", ForeignFile { name: "a Python pickle", help: PICKLE }),
    (b"\x80\x05\x95", ForeignFile { name: "a Python pickle", help: PICKLE }),
    (b"{\\rtf", ForeignFile { name: "an RTF document", help: "save its table as CSV" }),
];

const PICKLE: &str = "save the arrays with numpy.savez, or a data frame with to_csv";

static OFFICE: ForeignFile =
    ForeignFile { name: "an Office document and no workbook", help: "save its table as CSV" };
static EXCEL: ForeignFile = ForeignFile {
    name: "an Excel workbook",
    help: "use a linsep that was built with its feature `excel`, or save the sheet as CSV",
};
static ODS: ForeignFile = ForeignFile { name: "an OpenDocument file", help: WORKBOOK };
static ZIP: ForeignFile = ForeignFile {
    name: "a ZIP archive of other files than arrays",
    help: "unpack it and give the file in it, for example: unzip FILE; or pipe it: unzip -p FILE | linsep train -",
};
static HTML: ForeignFile = ForeignFile {
    name: "a web page (HTML)",
    help: "check the address that it was loaded from: it gave a page, not the data",
};
static XML: ForeignFile = ForeignFile { name: "an XML file", help: AS_CSV };
static JSON: ForeignFile = ForeignFile {
    name: "JSON",
    help: "write one object on each line (JSON Lines), for example in Python: \
           pandas.read_json(\"FILE\").to_json(\"FILE.jsonl\", orient=\"records\", lines=True)",
};

/// What a file is, if its first bytes are those of a kind that is not read.
pub(super) fn recognise(head: &[u8]) -> Option<&'static ForeignFile> {
    // A table may begin with a column called ORC or PAR1, but it has no bytes that are not text.
    let is_text = |beginning: &[u8]| {
        beginning.is_ascii() && beginning.len() < 5 && !head.iter().any(|&byte| is_binary(byte))
    };
    let begins = |(beginning, _): &&(&[u8], _)| head.starts_with(beginning) && !is_text(beginning);
    if let Some((_, kind)) = BEGINNINGS.iter().find(begins) {
        return Some(kind);
    }
    if head.starts_with(b"PK\x03\x04") {
        let beginning = &head[..head.len().min(1 << 12)];
        let has = |name: &[u8]| memchr::memmem::find(beginning, name).is_some();
        return match () {
            () if has(b"vnd.oasis.opendocument") => Some(&ODS),
            () if is_workbook(head) => (!cfg!(feature = "excel")).then_some(&EXCEL),
            () if has(b"[Content_Types].xml") => Some(&OFFICE),
            () if first_member(head).is_some_and(|name| !name.ends_with(b".npy")) => Some(&ZIP),
            () => None,
        };
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |beginning: &[u8]| {
        text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    match text.first()? {
        b'<' if begins(b"<!doctype html") || begins(b"<html") => Some(&HTML),
        b'<' if begins(b"<?xml") => Some(&XML),
        b'{' | b'[' => json(text),
        _ => None,
    }
}

/// Whether an archive has the folder of a workbook among its first members.
pub(super) fn is_workbook(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") && memchr::memmem::find(head, b"xl/").is_some()
}

/// The name of the first file of a ZIP archive: its length is at byte 26 of the archive, the name at byte 30.
fn first_member(head: &[u8]) -> Option<&[u8]> {
    let length = u16::from_le_bytes(head.get(26..28)?.try_into().ok()?);
    head.get(30..30 + usize::from(length)).filter(|name| !name.is_empty())
}

fn json(text: &[u8]) -> Option<&'static ForeignFile> {
    if text[0] == b'{' && !jsonl::opens_object(text) {
        return None;
    }
    let inside = text[1..].trim_ascii_start().first()?;
    match (text[0], inside) {
        (b'[', b'{' | b'[') => Some(&JSON),
        (b'{', b'"') => {
            let (line, ends) = match memchr::memchr(b'\n', text) {
                Some(end) => (&text[..end], true),
                None => (text, false),
            };
            // One object on each line is read; one over many lines is not.
            (ends && !line.trim_ascii_end().ends_with(b"}")).then_some(&JSON)
        }
        _ => None,
    }
}

/// The error for such a file.
pub(super) fn refuse(head: &[u8]) -> Result<(), ReadErrorKind> {
    recognise(head).map_or(Ok(()), |kind| Err(ReadErrorKind::Foreign(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_recognised() {
        for (head, name) in [
            (
                &b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml word/"[..],
                "an Office document and no workbook",
            ),
            (b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "an OpenDocument file"),
            (
                b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\x05\0\0\0\x05\0\0\0\x05\0\0\0t.csva,b\n1",
                "a ZIP archive of other files than arrays",
            ),
            (b"SQLite format 3\0", "an SQLite database"),
            (b"%PDF-1.7\n", "a PDF document"),
            (b"\n<!DOCTYPE HTML>\n", "a web page (HTML)"),
            (b"<?xml version=\"1.0\"?>", "an XML file"),
            (b"[{\"a\": 1}, {\"a\": 2}]", "JSON"),
            (b"{\n \"a\": [1]\n}", "JSON"),
        ] {
            assert_eq!(
                recognise(head).map(|kind| kind.name),
                Some(name),
                "{}",
                String::from_utf8_lossy(head)
            );
        }
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn columnar_files_are_named_where_they_are_not_read() {
        assert_eq!(recognise(b"PAR1\x15\x04").unwrap().name, "a Parquet file");
        assert_eq!(recognise(b"ARROW1\0\0").unwrap().name, "an Arrow file (Feather)");
    }

    #[test]
    fn tables_are_not_taken_for_something_else() {
        for head in [
            &b"1|2|3\n"[..],
            b"1 | 2 | a\n",
            b"[a],b\n1,2\n",
            b"{a},b\n",
            b"<5,3,a\n",
            b"1 |f\n",
            b"12:30|x:1\n",
            b"",
            b"PK\x03\x04X.npy",
            b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\x05\0\0\0\x05\0\0\0\x05\0\0\0X.npy\x93NUMPY",
            b"PARITY,x\n",
            b"PAR1,PAR2\n",
            b"ORCHID,x\n",
            b"FEA1,FEA2\n",
            b"1 1:2 3:4\n",
            b"[1],2,3\n",
            b"RD,x\n",
            b"{\"a\": 1, \"b\": \"x\"}\n{\"a\": 2}\n",
            b"{\"a\": \"a line that goes on",
        ] {
            assert_eq!(recognise(head), None, "{}", String::from_utf8_lossy(head));
        }
    }
}

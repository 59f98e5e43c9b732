use crate::Error;
use crate::read::{CsvOptions, Format, Loaded, Missing, ReadOptions, Source, read};
use flate2::write::DeflateEncoder;
use proptest::prelude::*;
use std::io::Write;

/// A zip archive with these members; `claimed` is the length that the directory gives the last.
fn archive(members: &[(&str, Vec<u8>)], claimed: Option<u32>) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (place, (name, content)) in members.iter().enumerate() {
        let mut packed = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(content).unwrap();
        let packed = packed.finish().unwrap();
        let length = match claimed {
            Some(length) if place + 1 == members.len() => length,
            _ => content.len() as u32,
        };
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let sizes = [checksum.sum(), packed.len() as u32, length].map(u32::to_le_bytes).concat();
        let start = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0");
        bytes.extend(&sizes);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0");
        directory.extend(&sizes);
        directory.extend((name.len() as u16).to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// The members of a workbook with these sheets, each the XML of its rows. Style 1 is a date.
fn members(sheets: &[(&str, &str)]) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"];
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let (mut book, mut links) = (String::new(), String::new());
    let mut files = vec![("[Content_Types].xml", b"<Types/>".to_vec())];
    for (place, (name, _)) in sheets.iter().enumerate() {
        let number = place + 1;
        let name = name.replace('&', "&amp;");
        book += &format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"r{number}\"/>");
        links += &format!(
            "<Relationship Id=\"r{number}\" Type=\"{relations}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        );
    }
    let workbook =
        format!("<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets>{book}</sheets></workbook>");
    files.push(("xl/workbook.xml", workbook.into_bytes()));
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let book = format!(
        "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    files.push(("_rels/.rels", book.into_bytes()));
    let links = format!("<Relationships xmlns=\"{package}\">{links}</Relationships>");
    files.push(("xl/_rels/workbook.xml.rels", links.into_bytes()));
    let styles = format!(
        "<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
    );
    files.push(("xl/styles.xml", styles.into_bytes()));
    for ((_, rows), name) in sheets.iter().zip(names) {
        let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>");
        files.push((name, sheet.into_bytes()));
    }
    files
}

fn text(place: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{text}</t></is></c>")
}

fn number(place: &str, number: f64, style: u32) -> String {
    format!("<c r=\"{place}\" s=\"{style}\"><v>{number}</v></c>")
}

fn load(bytes: Vec<u8>, csv: CsvOptions) -> Result<Loaded, Error> {
    let options = ReadOptions { csv: CsvOptions { missing: Missing::Auto, ..csv }, ..ReadOptions::default() };
    read(&Source::Shared("book".into(), bytes.into()), &options, &mut ())
}

/// A table with a title, words, numbers, dates, an error and an empty row, from cell B2 on.
fn rows() -> String {
    let head = ["x", "colour", "when", "kind"].iter().zip(["B", "C", "D", "E"]);
    let head: String = head.map(|(name, column)| text(&format!("{column}4"), name)).collect();
    let mut rows = format!("<row r=\"2\">{}</row><row r=\"4\">{head}</row>", text("B2", "Sales of the year"));
    for (row, x, colour, day, kind) in
        [(5, 1.5, "red", 45322.0, "a"), (6, -2.0, "b,\"lue", 45323.5, "b"), (8, 7.0, "red", 45324.0, "a")]
    {
        let cells = [
            number(&format!("B{row}"), x, 0),
            text(&format!("C{row}"), colour),
            number(&format!("D{row}"), day, 1),
            text(&format!("E{row}"), kind),
        ];
        rows += &format!("<row r=\"{row}\">{}</row>", cells.concat());
    }
    rows + "<row r=\"9\"><c r=\"B9\" t=\"e\"><v>#DIV/0!</v></c><c r=\"D9\" s=\"1\"><v>45325</v></c><c r=\"E9\" t=\"str\"><v>b</v></c></row>"
}

#[test]
fn a_sheet_is_a_table() {
    let loaded =
        load(archive(&members(&[("Data & more", &rows()), ("Other", "")]), None), CsvOptions::default())
            .unwrap();
    assert_eq!(loaded.format, Format::XLSX);
    assert_eq!(
        loaded.notes.format,
        "Excel workbook, sheet \"Data & more\", header, 2 columns of numbers, 1 of words"
    );
    assert_eq!(
        loaded.schema.feature_names().unwrap(),
        ["x", "when", "colour=red", "colour=b,\"lue", "colour missing"]
    );
    let when = |i: usize| loaded.dataset.row(i).iter().find(|&(j, _)| j == 1).unwrap().1;
    assert_eq!([when(0), when(1), when(3)], [19753.0, 19754.5, 19756.0]);
    assert_eq!([0, 1, 2, 3].map(|i| loaded.dataset.line(i)), [5, 6, 8, 9]);
    assert_eq!(loaded.dataset.classes(), ["a", "b"]);
    let remarks = loaded.notes.remarks.join("\n");
    assert!(remarks.contains("Sheet \"Data & more\" is read; 1 sheet is not."), "{remarks}");
    assert!(remarks.contains("\"Sales of the year\""), "{remarks}");
}

#[test]
fn sheets_are_chosen_by_name_or_number() {
    let small = "<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\"><v>0</v></c></row><row r=\"2\"><c r=\"A2\"><v>2</v></c><c r=\"B2\"><v>1</v></c></row>";
    let book = || archive(&members(&[("Data", &rows()), ("Small", small)]), None);
    for wanted in ["Small", "2"] {
        let csv = CsvOptions { sheet: Some(wanted.into()), ..CsvOptions::default() };
        assert_eq!(load(book(), csv).unwrap().dataset.len(), 2);
    }
    let csv = CsvOptions { sheet: Some("Smal".into()), ..CsvOptions::default() };
    let error = load(book(), csv).unwrap_err().to_string();
    assert!(error.contains("names \"Smal\", and the sheets are \"Data\", \"Small\""), "{error}");
    let csv = CsvOptions { sheet: Some("Data".into()), missing: Missing::Refuse, ..CsvOptions::default() };
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let error =
        read(&Source::Shared("book".into(), book().into()), &options, &mut ()).unwrap_err().to_string();
    assert_eq!(error, "book:9: the cell in column \"x\" is missing (found \"#DIV/0!\")");
}

/// A workbook that claims little and unpacks to much, cells at the ends of the sheet, and files that are cut.
#[test]
fn bombs_and_damage_are_refused() {
    let far: String = (1..=300)
        .map(|row| {
            format!("<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c><c r=\"XFD{row}\"><v>1</v></c></row>")
        })
        .collect();
    let beyond = |row: &str, place: &str| {
        let first = "<row r=\"1\"><c r=\"B1\"><v>1</v></c></row>";
        format!("{first}<row r=\"{row}\"><c r=\"{place}\"><v>1</v></c></row>")
    };
    let zeros = "0".repeat(1 << 22);
    let long = format!("<row r=\"1\"><c r=\"A1\"><v>{zeros}</v></c></row>");
    for (bytes, message) in [
        (
            archive(&members(&[("Far", &far)]), None),
            "300 rows name 600 cells, and 16,384 columns make that a table of 4,915,200 cells, of which at most 4,232,704",
        ),
        (
            archive(&members(&[("Long", &long)]), Some(100)),
            "does not have the length that the directory says",
        ),
        (archive(&members(&[("Empty", "")]), None), "no rows"),
        (
            archive(
                &members(&[("Twice", "<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"A1\"><v>1</v></c></row>")]),
                None,
            ),
            "row 1 has a cell twice",
        ),
        (archive(&[("xl/other", vec![1, 2, 3])], None), "the workbook is damaged"),
        // Numbers of rows and columns that 32 bits cannot hold: 2³² + 1 is not row 1.
        (
            archive(&members(&[("Row", &beyond("4294967297", "A4294967297"))]), None),
            "the workbook is damaged",
        ),
        (
            archive(&members(&[("Column", &beyond("2", "AAAAAAAAAAAAAAAAAAAAAAA2"))]), None),
            "the workbook is damaged",
        ),
        (
            archive(&members(&[("Edge", &beyond("1048577", "A1048577"))]), None),
            "a cell in row 1,048,577, column 1 of a sheet, which has 1,048,576 rows and 16,384 columns at most",
        ),
    ] {
        let error = load(bytes, CsvOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let limited = ReadOptions { max_line: Some(ReadOptions::MIN_LINE_LIMIT), ..ReadOptions::default() };
    let book = Source::Shared("rows".into(), archive(&members(&[("Long", &long)]), None).into());
    let error = read(&book, &limited, &mut ()).unwrap_err().to_string();
    assert!(error.contains("holds a text that is longer than 1,000,000 bytes"), "{error}");
    let whole = archive(&members(&[("Data", &rows())]), None);
    for end in (0..whole.len()).step_by(97) {
        assert!(load(whole[..end].to_vec(), CsvOptions::default()).is_err(), "cut at {end}");
    }
}

/// One text that very many cells share, and texts that hardly any bytes unpack to: refused in proportion to the workbook.
#[test]
fn what_a_workbook_becomes_is_in_proportion_to_it() {
    let long = "ab".repeat(50_000);
    let shared = format!("<sst><si><t>{long}</t></si></sst>");
    let cell = |row: usize| format!("<row r=\"{row}\"><c r=\"A{row}\" t=\"s\"><v>0</v></c></row>");
    let book = |rows: usize| {
        let rows: String = (1..=rows).map(cell).collect();
        let mut members = members(&[("Shared", &rows)]);
        members.retain(|(name, _)| *name != "xl/sharedStrings.xml");
        members.push(("xl/sharedStrings.xml", shared.clone().into_bytes()));
        archive(&members, None)
    };
    let error = load(book(20_000), CsvOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("of sheet \"Shared\" have more than") && error.contains("share long texts"),
        "{error}"
    );
    let blank = vec![b' '; 1 << 26];
    let bomb = ["xl/one", "xl/two", "xl/three"].map(|name| (name, blank.clone()));
    let error = load(archive(&bomb, None), CsvOptions::default()).unwrap_err().to_string();
    assert!(error.contains("it unpacks to more than") && error.contains("accepted of a file of"), "{error}");
}

proptest! {
    /// Damaged bytes give an error or rows, and never a panic.
    #[test]
    fn damage_is_survived(at in 0usize..4000, value in any::<u8>(), deep in any::<bool>()) {
        // Either the archive itself, or the XML of the sheet in an archive that is whole.
        let bytes = if deep {
            let mut rows = rows().into_bytes();
            let at = at % rows.len();
            rows[at] = value;
            archive(&members(&[("Data", &String::from_utf8_lossy(&rows))]), None)
        } else {
            let mut bytes = archive(&members(&[("Data", &rows())]), None);
            let at = at % bytes.len();
            bytes[at] = value;
            bytes
        };
        let _ = load(bytes, CsvOptions::default());
    }

    /// The same cells as CSV and as a sheet make the same rows and features.
    #[test]
    fn the_same_cells_make_the_same_table(
        cells in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&["1", "-2.5", "red", "NA", "2024-01-31", "12 %", "a,b", "\"q\"", "007", "größe", "true", "1e5", "<&>"][..]), 2),
            2..12,
        ),
    ) {
        let mut csv = "one,two,kind\n".to_string();
        let mut sheet = format!("<row r=\"1\">{}{}{}</row>", text("A1", "one"), text("B1", "two"), text("C1", "kind"));
        for (i, row) in cells.iter().enumerate() {
            let label = ["p", "q"][i % 2];
            let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
            csv += &format!("{},{},{label}\n", quoted(row[0]), quoted(row[1]));
            let line = i + 2;
            let cells = [text(&format!("A{line}"), row[0]), text(&format!("B{line}"), row[1]), text(&format!("C{line}"), label)];
            sheet += &format!("<row r=\"{line}\">{}</row>", cells.concat());
        }
        let header = CsvOptions { header: Some(true), ..CsvOptions::default() };
        let delimited = CsvOptions { delimiter: Some(b','), ..header.clone() };
        match (load(csv.into_bytes(), delimited), load(archive(&members(&[("S", &sheet)]), None), header)) {
            (Ok(csv), Ok(book)) => {
                prop_assert_eq!(&csv.schema, &book.schema);
                prop_assert_eq!(csv.dataset.fingerprint(), book.dataset.fingerprint());
            }
            (one, other) => prop_assert_eq!(one.is_err(), other.is_err()),
        }
    }
}

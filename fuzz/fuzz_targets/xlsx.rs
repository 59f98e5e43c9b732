#![no_main]

use linsep::read::Format;
use linsep_fuzz::{read_bytes, stored_archive};

/// The workbook around a sheet, as small as it may be.
const BOOK: &[u8] = br#"<workbook xmlns:r="r"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>"#;
const PACKAGE: &[u8] = br#"<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const LINKS: &[u8] = br#"<Relationships><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const STYLES: &[u8] = br#"<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;

// A workbook as it comes; and, since checksums keep damage out, one that is made here of the XML of its sheet and its texts.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    read_bytes(data, &[Some(Format::XLSX), None]);
    let Some((&choice, bytes)) = data.split_first() else { return };
    let cut = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let texts = bytes.get(cut + 1..).unwrap_or_default();
    let members: [(&str, &[u8]); 6] = [
        ("_rels/.rels", PACKAGE),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", LINKS),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", texts),
        ("xl/worksheets/sheet1.xml", &bytes[..cut]),
    ];
    let mut made = vec![choice];
    made.extend(stored_archive(&members));
    read_bytes(&made, &[Some(Format::XLSX)]);
});

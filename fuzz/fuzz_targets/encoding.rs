#![no_main]

//! Texts that are not UTF-8: the bytes as they come, in the encoding that they speak for or in one that is named; and written
//! here in UTF-16, whole or cut, so that tables behind that encoding are reached too. The second byte chooses.

use linsep::read::Format;

const FORMATS: [Option<Format>; 2] = [None, Some(Format::CSV)];

const ENCODINGS: [&str; 8] =
    ["utf-8", "utf-16le", "utf-16be", "windows-1252", "windows-1251", "shift_jis", "gb18030", "iso-2022-jp"];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [choice, written, text @ ..] = data else { return };
    let read = |bytes: &[u8], encoding| {
        linsep_fuzz::read_encoded(&[&[*choice][..], bytes].concat(), &FORMATS, encoding);
    };
    read(text, None);
    read(text, Some(ENCODINGS[usize::from(written & 7)]));
    let little = written & 8 == 8;
    let mut wide = utf_16(&String::from_utf8_lossy(text), little, written & 16 == 16);
    if written & 32 == 32 {
        wide.pop();
    }
    read(&wide, None);
    read(&wide, Some(if little { "utf-16le" } else { "utf-16be" }));
});

/// A text in UTF-16, with or without the mark that says in which order its bytes are.
fn utf_16(text: &str, little: bool, mark: bool) -> Vec<u8> {
    let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    let mark = if mark { "\u{feff}" } else { "" };
    mark.encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
}

#![no_main]

//! Compressed sources: the bytes as they come, which begin like a gzip or Zstandard file if they descend from a seed; and
//! compressed here, whole or cut short, so that the text behind the compression is reached too.

use linsep::read::Format;
use std::io::Write;

const FORMATS: [Option<Format>; 2] = [None, Some(Format::CSV)];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    linsep_fuzz::read_bytes(data, &FORMATS);
    let [choice, cut, text @ ..] = data else { return };
    let mut packed = if cut & 1 == 0 { gzip(text) } else { zstandard(text) };
    if cut & 2 == 2 {
        packed.truncate(packed.len() * usize::from(cut >> 2) / 64);
    }
    linsep_fuzz::read_bytes(&[&[*choice][..], &packed].concat(), &FORMATS);
});

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text).expect("memory takes it");
    out.finish().expect("memory takes it")
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).expect("memory takes it")
}

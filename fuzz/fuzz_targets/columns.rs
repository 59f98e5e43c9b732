#![no_main]

//! Files with one label or one weight for each row: NumPy arrays or text. These are opened by their path only, so that
//! each input is written to a file.

use linsep::read::{ArrayOptions, Format, ReadOptions, Source, read, read_weights};
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("linsep-fuzz-columns-{}", std::process::id())));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    std::fs::write(&*FILE, data).expect("the folder for temporary files can be written to");
    match read_weights(&FILE) {
        Ok(weights) => assert!(weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)),
        Err(error) => drop(error.to_string()),
    }
    let options = ReadOptions {
        format: Some(Format::NPY),
        array: ArrayOptions { labels_file: Some(FILE.clone()) },
        ..ReadOptions::default()
    };
    let source = Source::Shared("fuzz".to_string(), array().into());
    match read(&source, &options, &mut ()) {
        Ok(loaded) => assert_eq!(loaded.dataset.len(), 4),
        Err(error) => drop(error.to_string()),
    }
});

/// Four rows of two features.
fn array() -> Vec<u8> {
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }");
    let values = [1.0_f64, 2.0, 2.0, 1.0, 0.5, 3.0, 4.0, 1.0];
    let mut bytes = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat();
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

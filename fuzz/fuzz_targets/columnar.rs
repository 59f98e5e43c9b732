#![no_main]

use linsep::read::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    linsep_fuzz::read_bytes(data, &[Some(Format::PARQUET), Some(Format::ARROW)]);
});

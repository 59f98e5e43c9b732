#![no_main]

//! Specifications, TOML or JSON. What parses can be written, and says the same when it is read again.

use linsep::Spec;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let spec = match Spec::parse(text, "fuzz") {
        Ok(spec) => spec,
        Err(error) => return drop(error.to_string()),
    };
    let written = spec.to_toml().expect("a specification can be written");
    let again = Spec::parse(&written, "fuzz").expect("a specification that was written can be read");
    assert_eq!(again.to_toml().expect("a specification can be written"), written);
});

#![no_main]

//! One file and two readers: that of the program linsep-check, and linsep's own. They see the same rows, or the first refuses
//! the file. The first byte chooses the options.

#[path = "../../crates/linsep/tests/separation/both_readers.rs"]
mod both_readers;

use both_readers::{Options, agree};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let column = |place: u8| match choice >> place & 3 {
        0 => None,
        number => Some(number.to_string()),
    };
    let options =
        Options { label: column(0), ignore: column(2), weights: column(4), header: choice >> 6 & 1 == 1, ending: "" };
    if let Err(difference) = agree(text, &options, &["yes", "1", "a"], &["no", "-1", "FALSE"]) {
        panic!("{difference}");
    }
});

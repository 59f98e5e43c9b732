#![no_main]

use linsep::train::{State, resume};
use linsep::{Dataset, Settings};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(state) = State::from_bytes(data) else { return };
    let saved = state.to_bytes().expect("a state can be saved");
    let again = State::from_bytes(&saved).expect("a saved state can be opened");
    assert_eq!(again.to_bytes().expect("a state can be saved"), saved);
    // The data of the seeds, so that their descendants can go on.
    let rows =
        Dataset::dense(2, &[1.0, 2.0, 2.0, 1.0, 0.5, 3.0, 4.0, 1.0], &["left", "right", "left", "right"]);
    let settings = Settings { epochs: 3, max_updates: Some(1000), ..state.settings().clone() };
    let _ = resume(state, &rows.expect("rows"), &settings, &mut ());
});

#![no_main]

use linsep::train::{Run, resume};
use linsep::{Dataset, Settings};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(run) = Run::from_bytes(data) else { return };
    let saved = run.to_bytes().expect("a run can be saved");
    let again = Run::from_bytes(&saved).expect("a saved run can be opened");
    assert_eq!(again.to_bytes().expect("a run can be saved"), saved);
    // The data of the seeds, so that their descendants can go on.
    let rows =
        Dataset::dense(2, &[1.0, 2.0, 2.0, 1.0, 0.5, 3.0, 4.0, 1.0], &["left", "right", "left", "right"]);
    let settings = Settings { epochs: 3, max_updates: Some(1000), ..run.settings().clone() };
    let _ = resume(run, &rows.expect("rows"), &settings, &mut ());
});

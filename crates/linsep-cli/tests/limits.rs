//! Lines, features, classes and memory have limits: what goes beyond them is refused with a message that says how to go on.

use crate::common::Folder;
#[cfg(target_os = "linux")]
use crate::common::{PROGRAM, Ran};
use std::io::Write;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

/// Blanks without a line break, more than `--max-line 1MB` allows.
fn endless() -> Vec<u8> {
    vec![b' '; 3_000_000]
}

#[test]
fn a_line_without_end_is_refused() {
    let parts = ["this line is longer than 1,000,000 bytes", "or raise the limit with --max-line"];
    let folder = Folder::with("endless.csv", endless());
    folder.linsep("train endless.csv --max-line 1MB").exits(3).says(&parts);
    folder.linsep_with_input("train - --max-line 1MB", &endless()).exits(3).says(&parts);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&endless()).unwrap();
    folder.write("endless.gz", packed.finish().unwrap());
    for format in ["", "--format csv", "--format libsvm"] {
        folder.linsep(&format!("train endless.gz --max-line 1MB {format}")).exits(3).says(&parts);
    }
}

#[test]
fn a_long_line_after_others_has_its_number() {
    let long = "1,".repeat(700_000);
    for (name, text, place) in [
        ("rows.svm", format!("1 1:2\n-1 1:1\n1 1:1 # {long}\n"), "rows.svm:3: this line"),
        ("rows.csv", format!("a,b,y\n1,2,p\n2,1,q\n{long}p\n"), "rows.csv:4: this line"),
    ] {
        let folder = Folder::with(name, &text);
        for line in
            [format!("train {name} --max-line 1MB"), format!("train {name} --max-line 1MB --threads 1")]
        {
            folder.linsep(&line).exits(3).says(&[place]);
        }
        let from_pipe = place.replace(name, "standard input");
        folder.linsep_with_input("train - --max-line 1MB", text.as_bytes()).exits(3).says(&[&from_pipe]);
    }
    Folder::new().linsep("train x --max-line 1000").exits(3).says(&["x"]);
    Folder::with("x", "1 1:1\n")
        .linsep("train x --max-line 1000")
        .exits(2)
        .says(&["--max-line is at least 1MB"]);
}

#[test]
fn too_many_features_are_refused_and_more_can_be_asked_for() {
    let folder = Folder::with("wide.svm", "1 16777217:1\n-1 1:1\n");
    folder
        .linsep("train wide.svm")
        .exits(3)
        .says(&["wide.svm:1:3: the feature index \"16777217\"", "raise the limit with --max-features"]);
    folder.write("few.svm", "1 11:1\n-1 1:1\n");
    folder.linsep("train few.svm --max-features 10").exits(3);
    folder.linsep("train few.svm --max-features 11 -o model").exits(0);
    // What a model has is never too much for the rows that it is asked about.
    folder.linsep("predict model few.svm").exits(0);
}

#[test]
fn too_many_classes_are_refused_and_more_can_be_asked_for() {
    let folder = Folder::new();
    folder.write("five.csv", "x,y\n1,a\n2,b\n3,c\n4,d\n5,e\n");
    folder.linsep("convert five.csv five.svm").exits(0);
    folder.linsep("convert five.csv five.npz").exits(0);
    folder.linsep("convert five.csv five.linsep").exits(0);
    for name in ["five.csv", "five.svm", "five.npz", "five.linsep"] {
        let message = format!("{name}: more than 4 classes");
        folder.linsep(&format!("train {name} --max-classes 4")).exits(3).says(&[
            &message,
            "choose another column with --label",
            "--max-classes",
        ]);
        folder.linsep(&format!("train {name} --max-classes 5 -o model")).exits(0);
        // Whoever does not look at labels need not count them.
        folder.linsep(&format!("predict model {name} --max-classes 4")).exits(0);
    }
    // A measurement in the place of a label.
    let rows: String = (0..70_000).map(|i| format!("1,{i}.5\n")).collect();
    folder.write("measured.csv", rows);
    folder.linsep("train measured.csv").exits(3).says(&["measured.csv: more than 65,536 classes"]);
}

/// Runs the program with a limit on its address space, in kilobytes.
#[cfg(target_os = "linux")]
fn within(folder: &Folder, kilobytes: u64, line: &str) -> Ran {
    let script = format!("ulimit -v {kilobytes}; exec {PROGRAM} {line}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path("")).stdin(Stdio::null());
    Ran::new(line, command.output().expect("run sh"))
}

/// Whatever the limit, running out of memory is exit code 3 with a message: no signal, nothing left behind.
#[cfg(target_os = "linux")]
#[test]
fn running_out_of_memory_is_an_error() {
    let folder = Folder::with("wide.svm", "1 9000000:1\n-1 1:1\n".repeat(5));
    let mut refused = 0;
    for kilobytes in (60_000..=500_000).step_by(40_000) {
        for line in [
            "train wide.svm -o model --threads 2 -q",
            "train wide.svm -o model --threads 2 --learner svm -q",
            "train - -o model --online --threads 2 -q",
            "separate wide.svm -o model --threads 2 -q",
            "compare wide.svm --threads 2 -q",
        ] {
            let ran = within(&folder, kilobytes, line);
            match ran.code {
                Some(0 | 1 | 4) => {}
                Some(3) => {
                    refused += 1;
                    assert!(ran.err.contains("error: "), "{kilobytes}: {ran:#?}");
                    assert_eq!(folder.names(), ["wide.svm"], "{kilobytes}: {line}");
                }
                _ => panic!("{kilobytes}: {ran:#?}"),
            }
            let _ = std::fs::remove_file(folder.path("model"));
        }
    }
    assert!(refused > 10, "the limits are too high to show anything: {refused}");
}

/// A thread that is begun without memory for it ends the program by a signal, or with a panic: it is not begun. The least
/// memory with which a run succeeds is found first; a little less than that is where threads had failed.
#[cfg(target_os = "linux")]
#[test]
fn threads_are_not_begun_without_memory() {
    let folder = Folder::with("rows.svm", "1 1:1\n-1 1:-1\n");
    let run = |kilobytes| within(&folder, kilobytes, "train rows.svm --threads 2 -q");
    let (mut low, mut high) = (10_000, 200_000);
    while high - low > 4 {
        let middle = (low + high) / 2;
        if run(middle).code == Some(0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    for kilobytes in (high - 240..high).step_by(4).chain((high - 4000..high).step_by(200)) {
        let ran = run(kilobytes);
        assert!(matches!(ran.code, Some(0 | 3)) && !ran.err.contains("panicked"), "{kilobytes}: {ran:#?}");
    }
    within(&folder, high - 400, "train rows.svm --threads 2 -q")
        .exits(3)
        .says(&["cannot start 2 threads", "MiB are free"]);
}

/// More address space never makes a run fail: threads do not reserve what they do not use.
#[cfg(target_os = "linux")]
#[test]
fn more_address_space_is_never_worse() {
    let row: String = (1..=40).map(|j| format!(" {j}:{}", j % 7 + 1)).collect();
    let folder =
        Folder::with("rows.svm", (0..20_000).map(|i| format!("{}{row}\n", i % 2)).collect::<String>());
    for threads in [1, 2, 8] {
        for kilobytes in (100_000..=400_000).step_by(20_000) {
            let ran =
                within(&folder, kilobytes, &format!("train rows.svm --epochs 2 --threads {threads} -q"));
            assert_eq!(ran.code, Some(0), "{kilobytes}: {ran:#?}");
        }
    }
}

/// What cannot fit is refused before the work begins, with numbers.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_refused_with_numbers() {
    let folder = Folder::with("wide.svm", "1 16000000:1\n-1 1:1\n");
    within(&folder, 260_000, "train wide.svm --threads 1 --scale none --max-features 16000000")
        .exits(3)
        .says(&[
            "learning weights for 16,000,000 features needs about 257 MB of memory, and only",
            "MB are free",
        ]);
    let row: String = (1..=100).map(|j| format!(" {j}:1")).collect();
    let rows: String = (0..200_000).map(|i| format!("{}{row}\n", i % 2)).collect();
    folder.write("long.svm", rows);
    within(&folder, 100_000, "train long.svm --threads 1").exits(3).says(&[
        "long.svm: holding about",
        "rows needs about",
        "of memory, and only",
    ]);
}

/// `separate --memory` keeps its word where the features alone need more: it says how much, and takes none of it.
#[cfg(target_os = "linux")]
#[test]
fn a_decision_that_needs_more_memory_than_it_may_use_is_not_begun() {
    let folder = Folder::with("wide.svm", "1 9000000:1\n-1 1:1\n");
    let ran = within(&folder, 200_000, "separate wide.svm --memory 64MB --threads 1 --max-features 9000000")
        .exits(4);
    assert!(ran.out.contains("the memory leaves too little room: at least 721 MB are needed"), "{ran:#?}");
    folder.linsep("separate wide.svm --memory 800MB --max-features 9000000").exits(0);
}

/// Files beside the rows have lines, too.
#[test]
fn weights_without_a_line_break_are_refused() {
    let folder = Folder::with("rows.svm", "1 1:1\n-1 1:-1\n");
    folder.write("weights", endless());
    folder
        .linsep("train rows.svm --weights weights")
        .exits(3)
        .says(&["weights: this line is longer than 1,000,000 bytes"]);
}

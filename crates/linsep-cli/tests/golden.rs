//! The promise: models, checkpoints, caches and certificates that were once written can be used, and give what they gave.
//! `crates/linsep/tests/golden/make.sh` says how the files were made.

use crate::common::Folder;
use std::path::Path;

/// A folder with all golden files, and the irises.
fn golden() -> Folder {
    let folder = Folder::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(root.join("../linsep/tests/golden")).expect("the golden files") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        folder.write(name, std::fs::read(&path).expect("a golden file"));
    }
    folder.write("iris.csv", std::fs::read(root.join("../../data/iris.csv")).expect("the irises"));
    folder
}

/// Lines of `NAME DATA SCORE SCORE …`.
fn scores(folder: &Folder) -> Vec<(String, String, Vec<String>)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_string);
        Some((words.next()?, words.next()?, words.collect()))
    };
    folder.text("scores.txt").lines().filter_map(line).collect()
}

fn predicted(folder: &Folder, model: &str, data: &str) -> Vec<String> {
    let ran = folder.linsep(&format!("predict -q --show score {model} {data}")).exits(0).keeps_silent();
    ran.out.lines().map(str::to_string).collect()
}

#[test]
fn models_predict_what_they_predicted() {
    let folder = golden();
    let models = scores(&folder).into_iter().filter(|(name, ..)| name.ends_with(".safetensors"));
    let mut count = 0;
    for (model, data, expected) in models {
        assert_eq!(predicted(&folder, &model, &data), expected, "{model}");
        folder.linsep(&format!("inspect {model}")).exits(0).keeps_silent();
        count += 1;
    }
    assert_eq!(count, 26);
}

#[test]
fn checkpoints_end_in_the_model_of_an_undisturbed_run() {
    let folder = golden();
    let scores = scores(&folder);
    let checkpoints = folder.text("checkpoints.txt");
    assert_eq!(checkpoints.lines().count(), 8);
    for line in checkpoints.lines() {
        let [name, data, rows, arguments, limits] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let train = format!("train -q {data} {arguments} {limits}");
        folder
            .linsep(&format!("{train} --resume checkpoint-{name}.safetensors -o resumed"))
            .exits(0)
            .keeps_silent();
        folder.linsep(&format!("{train} -o undisturbed")).exits(0).keeps_silent();
        assert!(folder.read("resumed") == folder.read("undisturbed"), "{name}");
        let ended = format!("ended-{name}");
        let (.., expected) = scores.iter().find(|(name, ..)| *name == ended).expect("recorded scores");
        assert_eq!(predicted(&folder, "resumed", rows), *expected, "{name}");
    }
}

#[test]
fn caches_hold_the_rows_of_their_text() {
    let folder = golden();
    let fingerprints = folder.text("fingerprints.txt");
    for (cache, source, options) in [
        ("dense.linsep", "iris.csv", ""),
        ("numbered.linsep", "square.svm", ""),
        ("words.linsep", "table.csv", ""),
        ("missing.linsep", "missing.csv", "--missing mean"),
    ] {
        let shown = folder.linsep(&format!("inspect --json {cache}")).exits(0).keeps_silent().json();
        let fingerprint = shown["fingerprint"].as_str().expect("a fingerprint");
        assert!(fingerprints.lines().any(|line| line == format!("{cache} {fingerprint}")), "{cache}");
        folder.linsep(&format!("convert -q {source} made.linsep {options}")).exits(0);
        let made = folder.linsep("inspect --json made.linsep").exits(0).json();
        assert_eq!(made["fingerprint"], shown["fingerprint"], "{cache}");
        for (from, to) in [(cache, "of-cache.csv"), ("made.linsep", "of-text.csv")] {
            folder.linsep(&format!("convert -q {from} {to}")).exits(0);
        }
        assert_eq!(folder.text("of-cache.csv"), folder.text("of-text.csv"), "{cache}");
        folder.linsep(&format!("train -q {cache} --epochs 3 -o model")).exits(0).keeps_silent();
    }
}

#[test]
fn certificates_are_accepted() {
    let folder = golden();
    for (certificate, data, verdict) in [
        ("complete.cert", "square.svm", "complete"),
        ("free.cert", "square.svm", "complete"),
        ("quasi.cert", "touching.csv", "quasi"),
        ("overlap.cert", "overlap.csv", "overlap"),
    ] {
        let ran = folder.linsep(&format!("verify --json {certificate} {data}")).exits(0).keeps_silent();
        let (record, text) = (ran.json(), folder.text(certificate));
        assert_eq!(record["accepted"], true, "{certificate}: {record}");
        assert!(text.contains(&format!("\nverdict {verdict}")), "{text}");
    }
}

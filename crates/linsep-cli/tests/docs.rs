//! The promise: every command shown in the documents runs, from top to bottom, in an empty folder.

mod common;

use common::{Folder, LEARNERS};

/// The commands of a document: lines that begin with `$ linsep` inside console blocks.
fn commands(document: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in document.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ linsep ") {
            found.push(command.split(" # ").next().unwrap_or(command).trim());
        }
    }
    found
}

#[test]
fn the_commands_of_the_theory_run() {
    let document = include_str!("../../../docs/theory.md");
    let folder = Folder::new();
    let found = commands(document);
    assert!(found.len() > 30, "the document has lost its commands: {found:?}");
    for command in &found {
        let ran = folder.linsep(command).exits(0);
        assert!(!ran.out.is_empty() || command.contains("--export"), "{command} says nothing");
    }
    // Every learner is shown; averaged is what is learned without a name.
    for learner in LEARNERS.into_iter().filter(|&name| name != "averaged") {
        let option = format!("--learner {learner}");
        assert!(found.iter().any(|command| command.contains(&option)), "{learner} is not shown");
    }
}

/// The blocks of a document that are marked as CSV.
fn tables(document: &str) -> Vec<String> {
    let blocks = document.split("```csv\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_string()).collect()
}

#[test]
fn the_commands_of_separation_run() {
    let document = include_str!("../../../docs/separation.md");
    let folder = Folder::new();
    let [trial] = tables(document).try_into().expect("one table");
    folder.write("trial.csv", trial);
    let mut count = 0;
    for line in document.lines().filter_map(|line| line.strip_prefix("$ linsep ")) {
        let (command, remark) = line.split_once(" # ").unwrap_or((line, ""));
        let code = remark.strip_prefix("exit code ").map_or(0, |code| code.trim().parse().expect("a code"));
        let ran = folder.linsep(command.trim()).exits(code);
        assert!(!ran.out.is_empty() || command.contains("--export") || code == 3, "{command} says nothing");
        count += 1;
    }
    assert!(count > 15, "the document has lost its commands");
}

#[test]
fn the_commands_of_formats_run() {
    let folder = Folder::new();
    let found = commands(include_str!("../../../docs/formats.md"));
    assert!(found.len() > 6, "the document has lost its commands: {found:?}");
    for command in &found {
        folder.linsep(command).exits(0);
    }
}

#[test]
fn the_taught_weights_are_the_same() {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    folder
        .linsep(
            "train iris.csv --positive setosa --learner perceptron --teaching-set teachers.svm -o all.model",
        )
        .exits(0);
    folder
        .linsep("train teachers.svm --format libsvm --learner perceptron --order given --epochs 1 -o taught.model")
        .exits(0);
    let weights = |model: &str| {
        let text = folder.linsep(&format!("inspect {model} --json --top 100")).exits(0).out;
        let record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let strongest = record["strongest"].as_array().expect("weights").clone();
        (
            strongest.iter().map(|entry| entry["weight"].clone()).collect::<Vec<_>>(),
            record["intercept"].clone(),
        )
    };
    assert_eq!(weights("all.model"), weights("taught.model"));
}

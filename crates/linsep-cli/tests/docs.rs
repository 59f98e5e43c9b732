//! The promise: every command shown in the documents runs, from top to bottom, in an empty folder.

use crate::common::{Folder, learners};

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
    for learner in learners().into_iter().filter(|&name| name != "averaged") {
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
    folder.write("endometrial.csv", crate::common::published::endometrial(&["NV", "PI", "EH"]));
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
        .linsep("train teachers.svm --format libsvm --learner perceptron --order given --epochs 1 --scale none -o taught.model")
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

/// A command of a page, and the lines that the page shows of its output: pieces that follow one another, with anything
/// between them where the page has a line `…`.
struct Sample {
    command: String,
    pieces: Vec<Vec<String>>,
}

fn samples(document: &str) -> Vec<Sample> {
    let mut inside = false;
    let mut found: Vec<Sample> = Vec::new();
    for line in document.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            let command = command.split(" # ").next().unwrap_or(command).trim().to_string();
            found.push(Sample { command, pieces: vec![Vec::new()] });
        } else if inside && let Some(sample) = found.last_mut() {
            match (line, sample.pieces.last_mut()) {
                ("…", _) => sample.pieces.push(Vec::new()),
                (line, Some(piece)) => piece.push(without_time(line)),
                _ => {}
            }
        }
    }
    found
}

/// A line without the seconds at its end, which differ from run to run.
fn without_time(line: &str) -> String {
    let start = line.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_time = line.len() > start.len() && start.ends_with("  ");
    if is_time { start.trim_end().to_string() } else { line.to_string() }
}

/// Runs the commands of a page from top to bottom, and gives how many lines of their outputs it shows.
fn compare_with_program(name: &str, page: &str) -> usize {
    let folder = Folder::new();
    let mut compared = 0;
    for Sample { command, pieces } in samples(page) {
        let Some(arguments) = command.strip_prefix("linsep ") else { continue };
        let ran = folder.linsep(arguments);
        // Classes that are not separable are an answer too.
        let is_answer = ran.code == Some(0) || (arguments.starts_with("separate") && ran.code == Some(1));
        assert!(is_answer, "{command}: {}", ran.err);
        let printed: Vec<String> = ran.out.lines().map(without_time).collect();
        let mut from = 0;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let place = printed[from..].windows(piece.len()).position(|lines| lines == piece.as_slice());
            let Some(place) = place else {
                panic!("{name} shows\n{}\nwhere `{command}` prints\n{}", piece.join("\n"), ran.out)
            };
            from += place + piece.len();
            compared += piece.len();
        }
    }
    compared
}

#[test]
fn what_the_pages_show_is_what_the_program_prints() {
    for (name, page, least) in [
        ("README.md", include_str!("../../../README.md"), 20),
        ("docs/guide/training.md", include_str!("../../../docs/guide/training.md"), 18),
        ("docs/cli.md", include_str!("../../../docs/cli.md"), 0),
    ] {
        assert!(samples(page).len() > 2, "{name} has lost its commands");
        let compared = compare_with_program(name, page);
        assert!(compared >= least, "{name} has lost its samples: {compared} lines");
    }
}

/// Commands in the README that are not the program's own are the set-up and test commands of a new user: the check runs each of
/// them, letter for letter, so that none can break unseen.
#[test]
fn the_check_runs_every_other_command_of_the_readme() {
    let check = include_str!("../../../check.sh");
    let mut shown = Vec::new();
    for Sample { command, .. } in samples(include_str!("../../../README.md")) {
        if command.starts_with("linsep ") {
            continue;
        }
        let is_run = match command.as_str() {
            // What continuous integration runs.
            "./check.sh" => include_str!("../../../.ci/run").lines().any(|line| line == "exec ./check.sh"),
            command => check.lines().any(|line| line.trim() == format!("run {command}")),
        };
        assert!(is_run, "the README shows `{command}`, which check.sh does not run");
        shown.push(command);
    }
    let install = ["cargo install --path crates/linsep-cli --profile dist", "pip install ."];
    for needed in install.into_iter().chain(["cargo run --release -- demo", "./check.sh"]) {
        assert!(shown.iter().any(|command| command == needed), "the README does not show `{needed}`");
    }
}

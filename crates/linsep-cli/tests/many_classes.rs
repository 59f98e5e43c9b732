//! Thousands of classes: time and memory grow with their number, not with its square.
#![cfg(unix)]

use crate::common::{Folder, PROGRAM};
use std::process::{Command, Output};

/// A folder with a table of one feature and one row for each of so many classes.
fn table(classes: usize) -> Folder {
    let rows: String = (0..classes).map(|class| format!("{class},w{class}\n")).collect();
    Folder::with("many.csv", format!("x,label\n{rows}"))
}

/// Runs the program with at most so many megabytes of address space, threads and their stacks included.
fn limited(folder: &Folder, megabytes: u64, line: &str) -> Output {
    let limit = format!("ulimit -v {} && exec \"$0\" {line} --threads 2", megabytes * 1024);
    let mut shell = Command::new("sh");
    shell.args(["-c", &limit, PROGRAM]).current_dir(folder.path("")).output().expect("a shell")
}

fn succeeds(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {error}", output.status);
    // Wherever the lines are broken.
    String::from_utf8_lossy(&output.stdout)
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Names of all classes for each of 3,000 would be nine million texts, about half a gigabyte.
#[test]
fn thousands_of_classes_are_learned_and_judged_in_little_memory() {
    let folder = table(3000);
    let text = succeeds(&limited(&folder, 400, "train many.csv --epochs 1 -o many.model"));
    assert!(text.contains(", 2,950 more\n"), "{text}");
    assert!(text.contains("… and 2,600 more classes, none of which has a larger error"), "{text}");
    // A few hundred bytes for each class.
    let bytes = folder.read("many.model").len();
    assert!(bytes < 3000 * 2000, "{bytes}");
    let text = succeeds(&limited(&folder, 400, "evaluate many.model many.csv"));
    assert!(text.contains("… and 2,600 more classes, none of which has a lower F1"), "{text}");
    let text = succeeds(&limited(&folder, 400, "evaluate many.model many.csv --json"));
    assert!(text.contains("\"confusion_cells\"") && text.len() < 3000 * 400, "{}", text.len());
    let text = succeeds(&limited(&folder, 400, "predict many.model many.csv"));
    assert_eq!(text.lines().filter(|line| line.starts_with('w')).count(), 3000);
    succeeds(&limited(&folder, 400, "inspect many.model"));
}

/// The stream sorts its classes as they turn up, and keeps one learner for each.
#[test]
fn a_stream_of_thousands_of_classes_is_learned() {
    let folder = table(2000);
    for learner in ["averaged", "multiclass"] {
        let text = succeeds(&limited(&folder, 500, &format!("train many.csv --online --learner {learner}")));
        assert!(text.contains("1,950 more"), "{text}");
    }
}

#[test]
fn a_boundary_and_all_classes_at_once_are_learned() {
    let folder = table(20_000);
    let text = succeeds(&limited(&folder, 400, "train many.csv --positive w7 --epochs 2"));
    assert!(text.contains("20,000 rows") && text.contains("19,949 more (19,999 rows)"), "{text}");
    let folder = table(6000);
    let text = succeeds(&limited(&folder, 400, "train many.csv --learner multiclass --epochs 1"));
    assert!(text.contains("6,000 rows"), "{text}");
}

#[test]
fn separation_of_many_classes_keeps_no_names_for_each() {
    let folder = table(1200);
    let output = limited(&folder, 400, "separate many.csv --json");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    assert_eq!(record["table"].as_array().expect("a table").len(), 1200);
    assert_eq!(
        record["table"][7]["classes"],
        serde_json::json!({"positive": "w1003", "negative_classes": 1199})
    );
    assert!(text.len() < 1200 * 2000, "{}", text.len());
}

#[test]
fn too_many_pairs_are_refused_before_the_first() {
    let folder = table(1200);
    let output = limited(&folder, 400, "separate many.csv --pairs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let expected = "1,200 classes make 719,400 pairs, and --pairs decides at most 100,000: keep some of the classes with";
    let plain = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(expected), "{error}");
}

/// Learned and judged in blocks of classes, with a few hundred bytes for each.
#[test]
fn twenty_thousand_classes_are_learned() {
    let folder = table(20_000);
    let text = succeeds(&limited(&folder, 500, "train many.csv --epochs 5 -o many.model"));
    assert!(text.contains("20,000 rows") && text.contains(", 19,950 more\n"), "{text}");
    let bytes = folder.read("many.model").len();
    assert!(bytes < 20_000 * 1000, "{bytes}");
}

/// Nothing takes the square of the classes beside the scores of each row: a step in all intercepts is found without the matrix of
/// their second derivatives, which would have 640,000 numbers and take as many products for each row.
#[test]
fn logistic_regression_of_many_classes_is_proved_to_be_near_the_best() {
    let folder = table(800);
    let text = succeeds(&limited(&folder, 500, "train many.csv --learner logistic --json"));
    let record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    assert_eq!(record["status"], "converged");
    assert!(record["detail"]["gap"].as_f64().is_some_and(|gap| gap <= 1e-6), "{}", record["detail"]);
}

#[test]
fn logistic_regression_of_too_many_classes_is_refused_with_numbers() {
    let folder = table(6000);
    let plain = |output: &Output| {
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Four numbers of eight bytes for each row and class.
    let output = limited(&folder, 500, "train many.csv --learner logistic");
    let expected = "logistic regression of 6,000 rows and 6,000 classes, each row with a score for each class, needs about 1,152 MB of memory";
    assert_eq!(output.status.code(), Some(3), "{}", plain(&output));
    assert!(plain(&output).contains(expected), "{}", plain(&output));
    // Every class in turn computes the probabilities of all.
    let output = limited(&folder, 4000, "train many.csv --learner logistic --penalty l1");
    assert_eq!(output.status.code(), Some(2), "{}", plain(&output));
    let expected = "computes 216,000,000,000 probabilities in every step with a sparse penalty, and at most \
                    100,000,000,000 are supported: use --penalty l2";
    assert!(plain(&output).contains(expected), "{}", plain(&output));
}

/// One by one, every class visits every row in every pass: 20,000 classes of one row each make 400 million visits a pass.
#[test]
fn endless_runs_of_many_classes_are_refused_with_numbers() {
    let rows: String = (1..=20_000).map(|i| format!("{i} 1:{i}\n")).collect();
    let folder = Folder::with("rows.svm", rows);
    let refused = |line: &str, expected: &str| {
        let output = limited(&folder, 600, line);
        let error = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(expected), "{line}: {error}");
    };
    let instead = "Use --learner averaged, which trains many classes in the same pass, or allow fewer --epochs; or \
                   set --max-seconds SECONDS, the time for all classes together";
    for learner in ["sgd", "passive-aggressive", "pocket", "margin", "batch", "lifted", "voted", "kernel"] {
        refused(&format!("train rows.svm --learner {learner}"), instead);
    }
    let visits = "learns 20,000 classes one by one, each from 20,000 rows in at least 10 passes and one to judge the result: \
                  4,400,000,000 visits of rows, and more than 500,000,000 need a time limit";
    refused("train rows.svm --learner svm", &format!("svm {visits}"));
    refused(
        "train rows.svm --learner sgd --epochs 1",
        "in up to 1 pass and one to judge the result: 800,000,000 visits",
    );
    refused("train rows.svm --learner max-margin", &format!("max-margin {visits}"));
    refused(
        "train rows.svm --learner multiclass",
        "in up to 100 passes: 40,000,000,000 scores, and more than",
    );
    refused("train rows.svm --learner logistic", "in every step: 400,000,000 scores, and more than");
    refused(
        "train rows.svm --learner memoriser",
        "400,000,000 rows, and more than 100,000,000 need a time limit",
    );
    let balanced = "Keep some of the classes with --classes A,B,…, or allow fewer --epochs";
    refused("train rows.svm --learner averaged --class-weight balanced", balanced);
    for learner in ["averaged", "sgd", "passive-aggressive"] {
        refused(
            &format!("train rows.svm --learner {learner} --memory 64MB"),
            "Learn without --memory, or allow",
        );
    }
    // The other commands that learn.
    refused("compare rows.svm --learners svm --folds 2", visits);
    refused("tune rows.svm", "a search trains on 20,000 rows of 20,000 classes many times");
}

/// The time is for all classes together, not for each.
#[test]
fn a_time_limit_is_shared_by_all_classes() {
    let folder = table(300);
    for memory in ["", " --memory 64MB"] {
        let line = format!("train many.csv --learner sgd --epochs 100000000 --max-seconds 1 --json{memory}");
        let text = succeeds(&limited(&folder, 500, &line));
        let record: serde_json::Value = serde_json::from_str(&text).expect("a record");
        assert_eq!(record["status"], "time-limit");
    }
}

/// Of several classes there are two margins. A comparison says which is which, and has no such mark where there is one kind.
#[test]
fn margins_of_different_kinds_are_marked() {
    let folder = Folder::with_iris("iris.csv");
    let told = folder.linsep("compare iris.csv --learners perceptron,multiclass,logistic -q").exits(0).out;
    let margin = |learner: &str| {
        let line = told.lines().find(|line| line.starts_with(learner)).unwrap_or_else(|| panic!("{told}"));
        line.split_whitespace()
            .find(|cell| cell.starts_with('<') || cell.ends_with('*'))
            .expect("a margin")
            .to_string()
    };
    assert!(margin("multiclass").ends_with('*') && margin("logistic").ends_with('*'), "{told}");
    assert!(!margin("perceptron").ends_with('*') && told.contains("different quantities"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let one = folder.linsep("compare iris.csv --learners multiclass,logistic -q").exits(0).out;
    assert!(!one.replace("γ*", "γ").contains('*'), "{one}");
}

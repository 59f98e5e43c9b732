//! The promise: a report says how far its model can be trusted. Each warning has a file that triggers it and one that must
//! not.

mod common;

use common::Folder;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Fisher's irises.
fn iris() -> Folder {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    folder
}

#[test]
fn held_out_rows_are_judged_as_evaluate_judges() {
    let folder = iris();
    let ran = folder.linsep("train iris.csv --classes versicolor,virginica --holdout 0.3 --json").exits(0);
    let record = ran.json();
    let held_out = &record["holdout"];
    assert_eq!((&held_out["rows"], &record["holdout_rows"]), (&30.into(), &30.into()));
    assert_eq!(held_out["error"], record["holdout_error"]);
    let interval = &held_out["error_interval"];
    assert!(number(&interval["lower"]) <= number(&held_out["error"]), "{held_out}");
    assert!(number(&interval["upper"]) >= number(&held_out["error"]) + 0.05, "{held_out}");
    for field in ["balanced_error", "recall", "negative_recall", "auc"] {
        assert!((0.0..=1.0).contains(&number(&held_out[field])), "{field}: {held_out}");
    }
    assert_eq!((number(&held_out["baseline_error"]), number(&record["baseline_error"])), (0.5, 0.5));
    let text = folder.linsep("train iris.csv --classes versicolor,virginica --holdout 0.3").exits(0).out;
    let parts =
        ["; 95 % interval ", "always answering \"versicolor\": 50.00 %", "Held out  balanced error ", "AUC"];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("Confusion matrix of the held-out rows"), "{text}");
}

#[test]
fn many_classes_have_a_matrix_of_their_held_out_rows() {
    let folder = iris();
    let text = folder.linsep("train iris.csv --holdout 0.2").exits(0).out;
    assert!(text.contains("Held out  balanced error ") && text.contains("mean F1"), "{text}");
    assert!(text.contains("Confusion matrix of the held-out rows"), "{text}");
    assert!(text.contains("always answering \"setosa\": 66.67 %"), "{text}");
    let record = folder.linsep("train iris.csv --holdout 0.2 --json").exits(0).json();
    assert_eq!(record["holdout"]["confusion"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_training_error_has_no_interval() {
    let folder = iris();
    let text = folder.linsep("train iris.csv --positive setosa").exits(0).out;
    assert!(text.contains("training 0.00 % (0 of 150); always answering \"not setosa\": 33.33 %"), "{text}");
    assert!(text.contains("no estimate for new") && !text.contains("interval"), "{text}");
    let record = folder.linsep("train iris.csv --positive setosa --json").exits(0).json();
    assert_eq!(record["baseline_class"], "not setosa");
    assert_eq!(number(&record["baseline_error"]), 1.0 / 3.0);
}

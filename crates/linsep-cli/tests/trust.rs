//! The promise: a report says how far its model can be trusted. Each warning has a file that triggers it and one that must
//! not.

use crate::common::Folder;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn held_out_rows_are_judged_as_evaluate_judges() {
    let folder = Folder::with_iris("iris.csv");
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
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts =
        ["; 95 % interval ", "always predicting \"versicolor\": 50.00 %", "Held out balanced error ", "AUC"];
    for part in parts {
        assert!(flowing.contains(part), "{part}: {text}");
    }
    assert!(text.contains("Confusion matrix of the held-out rows"), "{text}");
}

#[test]
fn many_classes_have_a_matrix_of_their_held_out_rows() {
    let folder = Folder::with_iris("iris.csv");
    let text = folder.linsep("train iris.csv --holdout 0.2").exits(0).out;
    assert!(text.contains("Held out  balanced error ") && text.contains("mean F1"), "{text}");
    assert!(text.contains("Confusion matrix of the held-out rows"), "{text}");
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("always predicting \"setosa\": 66.67 %"), "{text}");
    let record = folder.linsep("train iris.csv --holdout 0.2 --json").exits(0).json();
    assert_eq!(record["holdout"]["confusion"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_training_error_has_no_interval() {
    let folder = Folder::with_iris("iris.csv");
    let text = folder.linsep("train iris.csv --positive setosa").exits(0).out;
    assert!(text.contains("training 0.00 % (0 of 150); always predicting \"not setosa\": 33.33 %"), "{text}");
    assert!(text.contains("not an estimate for") && !text.contains("interval"), "{text}");
    let record = folder.linsep("train iris.csv --positive setosa --json").exits(0).json();
    assert_eq!(record["baseline_class"], "not setosa");
    assert_eq!(number(&record["baseline_error"]), 1.0 / 3.0);
}

/// Whether the record of a job has a warning of this kind, and standard error, where warnings go, has its text.
#[track_caller]
fn warns(folder: &Folder, line: &str, kind: &str, text: &str) -> bool {
    folder.linsep(&format!("{line} --json -q")).exits(0).keeps_silent();
    let ran = folder.linsep(&format!("{line} --json")).exits(0);
    let said = ran.err.contains("warning: ") && ran.err.contains(text);
    let record = ran.json();
    let listed = record["warnings"].as_array().expect("warnings").iter().any(|warning| warning["of"] == kind);
    assert_eq!(said, listed, "{ran:#?}");
    listed
}

/// A table of `n` rows, each made from its number.
fn table(header: &str, n: usize, row: impl Fn(usize) -> String) -> String {
    (0..n).fold(header.to_string(), |text, i| text + "\n" + &row(i)) + "\n"
}

const BASELINE: (&str, &str) = ("baseline", "no better than always predicting \"no\"");

#[test]
fn a_baseline_that_is_not_beaten() {
    let folder = Folder::new();
    // Of the rows with the same features a quarter is "yes": no model is wrong on less than a quarter.
    folder.write(
        "noise.csv",
        table("x,z,y", 80, |i| format!("{},{},{}", i / 8, i / 8 % 3, ["no", "no", "no", "yes"][i % 4])),
    );
    folder.write(
        "clear.csv",
        table("x,z,y", 80, |i| format!("{},{},{}", 2 * i, i % 7, if i < 60 { "no" } else { "yes" })),
    );
    let (kind, text) = BASELINE;
    assert!(warns(&folder, "train noise.csv -o noise.model", kind, text));
    assert!(warns(&folder, "train noise.csv --holdout 0.5", kind, "its error on the held-out rows"));
    assert!(warns(&folder, "evaluate noise.model noise.csv", kind, "its error on the judged rows"));
    assert!(!warns(&folder, "train clear.csv --scale standard -o clear.model", kind, text));
    assert!(!warns(&folder, "train clear.csv --scale standard --holdout 0.25", kind, text));
    assert!(!warns(&folder, "evaluate clear.model clear.csv", kind, text));
}

#[test]
fn a_class_that_is_never_predicted() {
    let folder = Folder::new();
    folder.write("same.csv", table("x,y", 60, |i| format!("1,{}", ["no", "no", "yes"][i % 3])));
    folder.write("clear.csv", table("x,y", 60, |i| format!("{},{}", i / 30, ["no", "yes"][i / 30])));
    let (kind, text) = ("never-predicted", "rows but are never predicted: ");
    assert!(warns(&folder, "train same.csv -o same.model", kind, text));
    assert!(warns(&folder, "train same.csv --holdout 0.5", kind, text));
    assert!(warns(&folder, "evaluate same.model same.csv", kind, text));
    assert!(!warns(&folder, "train clear.csv -o clear.model", kind, text));
    assert!(!warns(&folder, "train clear.csv --holdout 0.5", kind, text));
    assert!(!warns(&folder, "evaluate clear.model clear.csv", kind, text));
    // By its threshold, if it has one: here below 1/2, so that the rare class is found.
    let shifted = |i: usize| (i * 37) % 101 + if i.is_multiple_of(10) { 10 } else { 0 };
    folder.write(
        "few.csv",
        table("x,y", 300, |i| format!("{},{}", shifted(i), if i.is_multiple_of(10) { "yes" } else { "no" })),
    );
    assert!(warns(&folder, "train few.csv --learner logistic", kind, text));
    assert!(!warns(&folder, "train few.csv --learner logistic --recall 0.8 -o few.model", kind, text));
    assert!(!warns(&folder, "evaluate few.model few.csv", kind, text));
    // And above all probabilities it never is.
    assert!(warns(&folder, "train clear.csv --learner logistic --threshold 0.9999999", kind, text));
}

#[test]
fn rare_classes() {
    let folder = Folder::new();
    let rows = |rare: usize| {
        table("x,z,y", 200, |i| format!("{},{},{}", i % 13, i, if i < rare { "yes" } else { "no" }))
    };
    folder.write("rare.csv", rows(6));
    folder.write("usual.csv", rows(40));
    let (kind, text) = ("rare-classes", "rare classes among 200 rows: \"yes\" (6 rows)");
    assert!(warns(&folder, "train rare.csv", kind, text));
    assert!(warns(&folder, "train rare.csv --memory 32MB", kind, text));
    assert!(!warns(&folder, "train usual.csv", kind, text));
    // It is said before the work: a run that is stopped at once has said it.
    let ran = folder.linsep("train rare.csv --max-updates 1").exits(0);
    assert!(ran.err.contains(text), "{ran:#?}");
}

#[test]
fn a_column_that_knows_the_answer() {
    let folder = Folder::new();
    let label = |i: usize| ["no", "yes"][i % 2];
    let row = |i: usize, refund: usize| format!("{},{},{},{}", i * 7 % 31, i % 5, refund, label(i));
    folder.write("leak.csv", table("age,visits,refund,y", 60, |i| row(i, 10 * (i % 2) + i / 20)));
    folder.write("fine.csv", table("age,visits,refund,y", 60, |i| row(i, i / 20 + i % 2)));
    let word = |i: usize| format!("{},{},{}", i * 7 % 31, ["open", "paid", "open", "late"][i % 4], label(i));
    folder.write("word.csv", table("age,state,y", 60, word));
    let (kind, text) = (
        "leak",
        "column \"refund\" alone separates the classes: is it known at prediction time, or does it leak the label?",
    );
    for scale in ["none", "standard", "unit-rows"] {
        assert!(warns(&folder, &format!("train leak.csv --scale {scale}"), kind, text));
    }
    assert!(warns(&folder, "train word.csv", kind, "column \"state\" alone separates"));
    assert!(!warns(&folder, "train fine.csv", kind, text));
    assert!(!warns(&folder, "train leak.csv --ignore refund", kind, text));
}

#[test]
fn few_rows_for_many_features() {
    let folder = Folder::new();
    let cells =
        |i: usize| (0..12).map(|j| ((i + 2) * (j + 3) * 7 % 43).to_string()).collect::<Vec<_>>().join(",");
    let names = (0..12).map(|j| format!("x{j}")).collect::<Vec<_>>().join(",") + ",y";
    let rows = |n: usize| table(&names, n, |i| format!("{},{}", cells(i), ["no", "yes"][i * i % 3 % 2]));
    folder.write("wide.csv", rows(20));
    folder.write("long.csv", rows(120));
    let (kind, text) = ("few-rows", "20 rows for 13 dimensions (features and bias)");
    assert!(warns(&folder, "train wide.csv", kind, text));
    assert!(!warns(&folder, "train long.csv", kind, text));
    assert!(!warns(&folder, "train wide.csv --learner kernel --kernel rbf", kind, text));
}

#[test]
fn rows_on_both_sides_of_the_split() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},{}", i * 7 % 101, i % 13, ["no", "yes"][usize::from(i % 5 > 2)]);
    folder.write("twice.csv", table("x,z,y", 100, |i| row(i / 2)));
    folder.write("once.csv", table("x,z,y", 100, row));
    let (kind, text) = ("duplicates", "have the same features as a training row");
    assert!(warns(&folder, "train twice.csv --holdout 0.3", kind, text));
    assert!(!warns(&folder, "train once.csv --holdout 0.3", kind, text));
    assert!(!warns(&folder, "train twice.csv", kind, text));
    let record = folder.linsep("train twice.csv --holdout 0.3 --json").exits(0).json();
    assert!(record["holdout_duplicates"].as_u64() > Some(10), "{record}");
}

#[test]
fn ordinary_tables_are_trained_without_a_warning() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("demo breast-cancer --export cancer.csv").exits(0);
    for line in ["iris.csv", "iris.csv --holdout 0.3", "cancer.csv --scale standard --holdout 0.3"] {
        let ran = folder.linsep(&format!("train {line} --epochs 5")).exits(0);
        assert!(!ran.err.contains("warning"), "{ran:#?}");
    }
}

#[test]
fn words_that_are_true() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("generate xor --rows 40 -o xor.svm").exits(0);
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text =
        joined(&folder.linsep("train xor.svm --learner kernel --kernel rbf --epochs 10000").exits(0).out);
    assert!(
        text.contains("the classes are separable in the kernel's space, proved")
            && !text.contains("linearly"),
        "{text}"
    );
    let text =
        joined(&folder.linsep("train iris.csv --learner kernel --kernel rbf --epochs 10000").exits(0).out);
    assert!(
        text.contains("separable from the rest in the kernel's space") && !text.contains("linearly"),
        "{text}"
    );
    // One pass of descent separates the species, and has not come to an end.
    let text = joined(
        &folder
            .linsep("train iris.csv --positive setosa --learner sgd --schedule shrinking --epochs 20")
            .exits(0)
            .out,
    );
    assert!(text.contains("separated all rows; stopped at the limit of 20 passes"), "{text}");
    assert!(
        text.contains("the classes are linearly separable, proved") && !text.contains("not converged"),
        "{text}"
    );
}

#[test]
fn the_bound_of_the_theory_stands_beside_the_error() {
    let folder = Folder::with_iris("iris.csv");
    let bound = "New rows wrong on at most ";
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = |line: &str| joined(&folder.linsep(line).exits(0).out);
    assert!(told("train iris.csv --positive setosa --learner perceptron --scale none").contains(bound));
    // Not where it promises less than a constant answer, for other weights than the last, or for scaled rows.
    for line in [
        "train iris.csv --positive virginica --learner perceptron --scale none",
        "train iris.csv --positive setosa --learner averaged --scale none",
        "train iris.csv --positive setosa --learner perceptron --scale standard",
    ] {
        let text = told(line);
        assert!(!text.contains(bound), "{text}");
    }
}

/// Where a column alone separates the classes, the report does not leave open whether the rows are separable.
#[test]
fn a_column_that_separates_proves_that_the_rows_are_separable() {
    let mut rows = String::new();
    for i in 0..60 {
        // A wide gap in one column and large noise in another: one pass does not separate them.
        let (x, noise) = (i % 2, (i * 7919 % 1009) * 1000);
        rows += &format!("{x},{noise},{}\n", ["no", "yes"][i % 2]);
    }
    let folder = Folder::with("rows.csv", format!("x,noise,y\n{rows}"));
    for learner in ["perceptron", "averaged", "svm", "sgd --schedule shrinking", "multiclass"] {
        let ran = folder.linsep(&format!("train rows.csv --learner {learner} --epochs 1 --scale none"));
        let ran = ran.exits(0).says(&["column \"x\" alone separates the classes"]);
        let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["overlap", "which rows conflict", "were not separated"] {
            assert!(!said.contains(part), "{learner}: {part}: {said}");
        }
        assert!(
            said.contains("linearly separable") && said.contains(", proved, but this run has not"),
            "{said}"
        );
    }
    // Through the origin, a threshold proves nothing.
    let ran =
        folder.linsep("train rows.csv --learner perceptron --epochs 1 --scale none --bias none").exits(0);
    assert!(!ran.out.contains("are linearly separable"), "{ran:#?}");
    // Nor does it set each class between two others against the rest.
    let rows: String = (0..60)
        .map(|i| format!("{},{},{}\n", i % 3, i * 7919 % 1009 * 1000, ["a", "b", "c"][i % 3]))
        .collect();
    folder.write("three.csv", format!("x,noise,y\n{rows}"));
    for (learner, proved) in [("perceptron", false), ("multiclass", true)] {
        let ran =
            folder.linsep(&format!("train three.csv --learner {learner} --epochs 1 --scale none")).exits(0);
        assert_eq!(ran.out.contains("the classes are linearly separable"), proved, "{ran:#?}");
    }
}

#[test]
fn cells_that_are_missing_in_one_class_are_warned_of() {
    let table = |known: usize| {
        let row = |i: usize| {
            let paid =
                if i.is_multiple_of(2) && i != known { String::new() } else { (i * 7 % 11).to_string() };
            format!("{},{paid},{}\n", i * 5 % 13, ["no", "yes"][i % 2])
        };
        "x,paid,y\n".to_string() + &(0..60).map(row).collect::<String>()
    };
    let warning =
        "cells are missing in all rows of one class and in no other row: column \"paid\" in those of \"no\"";
    let folder = Folder::with("rows.csv", table(999));
    folder.linsep("train rows.csv").exits(0).says(&[warning, "--ignore COLUMN"]);
    let record = folder.linsep("train rows.csv --json").exits(0).json();
    let leak =
        record["warnings"].as_array().and_then(|all| all.iter().find(|warning| warning["of"] == "gap-leak"));
    assert_eq!(leak.expect("a warning")["columns"][0]["class"], "no");
    folder.write("rows.csv", table(0));
    let ran = folder.linsep("train rows.csv").exits(0);
    assert!(!ran.err.contains("in no other row"), "{ran:#?}");
}

/// An error on the training rows is not shown as one on new rows.
#[test]
fn judging_on_the_training_rows_is_said() {
    let folder = Folder::with_iris("iris.csv");
    let warning = "the model was trained on these rows";
    let with_held_out = "the rows that the model was trained on and the rows held out from training";
    let text = folder.text("iris.csv");
    let gaps = text.replacen("5.1", "", 3).replacen("3.0", "NA", 6);
    folder.write("gaps.csv", &gaps);
    for (data, options) in [
        ("iris.csv", ""),
        ("iris.csv", "--classes versicolor,virginica"),
        ("iris.csv", "--holdout 0.3"),
        ("iris.csv", "--learner perceptron --scale none"),
        ("gaps.csv", ""),
    ] {
        folder.linsep(&format!("train {data} {options} -o model")).exits(0);
        let skip = if options.contains("--classes") { "--skip-bad" } else { "" };
        let (warning, which) = match options.contains("--holdout") {
            true => (with_held_out, "the training rows and those that were held out"),
            false => (warning, "the training rows"),
        };
        let ran = folder.linsep(&format!("evaluate model {data} {skip}")).exits(0);
        let [out, said] =
            [&ran.out, &ran.err].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(said.contains(warning), "{data} {options}: {said}");
        // What was done is not advised.
        assert_eq!(said.contains("train with --holdout"), !options.contains("--holdout"), "{said}");
        assert!(
            out.contains(&format!("on {which}; not an estimate for new rows")),
            "{data} {options}: {out}"
        );
        assert!(!out.contains("interval"), "{data} {options}: {out}");
        let record = folder.linsep(&format!("evaluate model {data} {skip} --json")).exits(0).json();
        assert_eq!(record["training_rows"], true, "{data} {options}");
        assert_eq!(record["held_out_rows"] == true, options.contains("--holdout"), "{data} {options}");
    }
    // As many rows, and one number of another.
    folder.linsep("train iris.csv -o model").exits(0);
    folder.write("other.csv", text.replacen("5.1", "5.2", 1));
    folder.write("fewer.csv", text.lines().take(100).map(|line| format!("{line}\n")).collect::<String>());
    for data in ["other.csv", "fewer.csv"] {
        let ran = folder.linsep(&format!("evaluate model {data}")).exits(0);
        assert!(!ran.err.contains(warning) && ran.out.contains("95 % interval"), "{ran:#?}");
    }
}

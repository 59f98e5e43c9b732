//! Probabilities and thresholds: every learner has them, the model keeps them, and what cannot be is said.

use crate::common::{Folder, learners};

/// A folder with the spam data, a part of it to learn from and another to judge on.
fn spam() -> Folder {
    let folder = Folder::new();
    folder.linsep("demo spam --export all.csv -q").exits(0);
    let text = folder.text("all.csv");
    let (head, rows) = text.split_once('\n').expect("a header");
    let part = |wanted: usize| {
        let rows: Vec<&str> =
            rows.lines().enumerate().filter(|(i, _)| i % 8 == wanted).map(|row| row.1).collect();
        format!("{head}\n{}\n", rows.join("\n"))
    };
    folder.write("train.csv", part(0));
    folder.write("test.csv", part(1));
    folder
}

fn numbers(text: &str) -> Vec<f64> {
    text.lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn every_learner_but_the_memoriser_has_probabilities() {
    let folder = Folder::with_iris("iris.csv");
    for learner in learners() {
        if matches!(learner, "memoriser" | "max-margin") {
            continue;
        }
        for positive in ["--positive versicolor", ""] {
            if learner == "multiclass" && !positive.is_empty() {
                continue;
            }
            let line = format!(
                "train iris.csv --learner {learner} {positive} --epochs 20 --probabilities -o model -q"
            );
            folder.linsep(&line).exits(0);
            let shown = folder.linsep("predict model iris.csv --show probability").exits(0).out;
            assert_eq!(shown.lines().count(), 150, "{learner}");
            for row in shown.lines() {
                let row: Vec<f64> = row.split(',').map(|p| p.parse().expect("a number")).collect();
                assert!(row.iter().all(|&p| p > 0.0 && p < 1.0), "{learner}: {row:?}");
                assert_eq!(row.len(), if positive.is_empty() { 3 } else { 1 }, "{learner}");
                let sum: f64 = row.iter().sum();
                assert!(row.len() == 1 || (sum - 1.0).abs() < 1e-9, "{learner}: {row:?}");
            }
        }
    }
    let line = "train iris.csv --learner memoriser --probabilities -q";
    folder.linsep(line).exits(2).says(&["the memoriser gives them all the same score"]);
}

#[test]
fn probabilities_rise_with_the_score_and_do_not_change_labels() {
    let folder = spam();
    folder.linsep("train train.csv -q -o plain").exits(0);
    folder.linsep("train train.csv -q -o model --probabilities").exits(0);
    let labels = folder.linsep("predict plain test.csv").exits(0).out;
    assert_eq!(folder.linsep("predict model test.csv").exits(0).out, labels);
    let scores = numbers(&folder.linsep("predict model test.csv --show score").exits(0).out);
    let shown = numbers(&folder.linsep("predict model test.csv --show probability").exits(0).out);
    let mut rows: Vec<(f64, f64)> = scores.into_iter().zip(shown).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(rows.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert!(rows[0].1 < 0.2 && rows[rows.len() - 1].1 > 0.8);
    // The same again, for any number of threads, and by the specification that the model keeps.
    folder.linsep("train train.csv -q -o again --probabilities --threads 1").exits(0);
    assert!(folder.read("again") == folder.read("model"));
    folder.write("spec.toml", folder.linsep("inspect model --spec").exits(0).out);
    folder.linsep("train --spec spec.toml -q -o again").exits(0);
    assert!(folder.read("again") == folder.read("model"));
}

#[test]
fn tables_have_the_probabilities_of_labels_or_of_classes() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("train iris.csv --learner logistic -q -o model").exits(0);
    let table = folder.linsep("predict model iris.csv --csv").exits(0).out;
    assert!(table.starts_with("line,label,score,distance,probability\n2,setosa,"), "{table}");
    let all = folder.linsep("predict model iris.csv --csv --show probability").exits(0).out;
    assert!(all.starts_with("line,label,p(setosa),p(versicolor),p(virginica)\n2,setosa,0.9"), "{all}");
    for (own, all) in table.lines().zip(all.lines()).skip(1) {
        let largest = all.split(',').skip(2).map(|p| p.parse::<f64>().expect("a number")).fold(0.0, f64::max);
        assert_eq!(own.rsplit(',').next(), Some(largest.to_string().as_str()), "{own} {all}");
    }
    folder.linsep("predict model iris.csv --csv --show score").exits(2);
    // A model without probabilities has the table it always had.
    folder.linsep("train iris.csv -q -o plain").exits(0);
    assert!(
        folder.linsep("predict plain iris.csv --csv").exits(0).out.starts_with("line,label,score,distance\n")
    );
    folder
        .linsep("predict plain iris.csv --show probability")
        .exits(2)
        .says(&["train it with --probabilities, or with --learner logistic"]);
}

#[test]
fn the_model_keeps_a_threshold_chosen_out_of_fold() {
    let folder = spam();
    for (rule, kind) in [
        ("--recall 0.97", "recall"),
        ("--precision 0.97", "precision"),
        ("--cost fp=20,fn=1", "cost"),
        ("--threshold 0.9", "probability"),
    ] {
        for learner in ["averaged", "logistic"] {
            let line = format!("train train.csv --learner {learner} -q -o model --json {rule}");
            let record = folder.linsep(&line).exits(0).json();
            let threshold = &record["threshold"];
            assert!(threshold["chosen"].get(kind).is_some(), "{threshold}");
            let t = threshold["probability"].as_f64().expect("a number");
            let counts = &threshold["out_of_fold"];
            let count = |name: &str| counts[name].as_f64().unwrap_or(f64::NAN);
            let (tp, fp, fne) = (count("true_positives"), count("false_positives"), count("false_negatives"));
            match kind {
                "recall" => assert!(tp / (tp + fne) >= 0.97, "{counts}"),
                "precision" => assert!(tp / (tp + fp) >= 0.97, "{counts}"),
                "cost" => assert!(20.0 * fp + fne <= tp + fne, "calling none spam costs as much: {counts}"),
                _ => assert_eq!(t, 0.9),
            }
            let labels = folder.linsep("predict model test.csv").exits(0).out;
            let shown = numbers(&folder.linsep("predict model test.csv --show probability").exits(0).out);
            let positive = record["classes"]["positive"].as_str().expect("a name").to_string();
            for (label, p) in labels.lines().zip(&shown) {
                assert_eq!(label == positive, *p >= t, "{label} {p} {t}");
            }
            let judged = folder.linsep("evaluate model test.csv --json").exits(0).json();
            let called =
                judged["true_positives"].as_u64().unwrap() + judged["false_positives"].as_u64().unwrap();
            assert_eq!(called as usize, shown.iter().filter(|&&p| p >= t).count());
            assert_eq!(judged["threshold"]["probability"].as_f64(), Some(t));
            // Another threshold can be asked for.
            let judged = folder.linsep("evaluate model test.csv --json --threshold 0.5").exits(0).json();
            let called =
                judged["true_positives"].as_u64().unwrap() + judged["false_positives"].as_u64().unwrap();
            assert_eq!(called as usize, shown.iter().filter(|&&p| p >= 0.5).count());
            let labels = folder.linsep("predict model test.csv --threshold 0.5").exits(0).out;
            assert_eq!(labels.lines().filter(|label| *label == positive).count(), called as usize);
            let inspected = folder.linsep("inspect model").exits(0).out;
            assert!(inspected.contains("Threshold") && inspected.contains("Scores"), "{inspected}");
        }
    }
}

#[test]
fn evaluate_measures_the_probabilities() {
    let folder = spam();
    folder.linsep("train train.csv -q -o model --probabilities --holdout 0.3").exits(0);
    let report = folder.linsep("evaluate model test.csv").exits(0).out;
    for part in ["Log loss", "Brier", "ECE", "Reliability on the rows, by the probability of", "0.9 to 1.0"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let record = folder.linsep("evaluate model test.csv --json").exits(0).json();
    let found = &record["probabilities"];
    let bins = found["bins"].as_array().expect("bins");
    let rows: u64 = bins.iter().map(|bin| bin["rows"].as_u64().unwrap()).sum();
    assert_eq!(Some(rows), record["rows"].as_u64());
    let error: f64 = bins
        .iter()
        .map(|bin| {
            let number = |name: &str| bin[name].as_f64().unwrap();
            number("rows") * (number("mean_probability") - number("observed")).abs() / rows as f64
        })
        .sum();
    assert!((found["expected_calibration_error"].as_f64().unwrap() - error).abs() < 1e-12);
    // Calibrated on rows that were held out, so they are about right on others.
    assert!(error < 0.1, "{error}");
    let many = Folder::with_iris("iris.csv");
    many.linsep("train iris.csv -q -o model --probabilities").exits(0);
    let report = many.linsep("evaluate model iris.csv").exits(0).out;
    assert!(report.contains("by the probability of the predicted class"), "{report}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::with_iris("iris.csv");
    for (line, problem) in [
        ("--probabilities --online", "--probabilities needs all rows in memory"),
        ("--probabilities --memory 64MB --scale none", "--probabilities needs all rows in memory"),
        ("--recall 0.9", "--recall is for two sides, and there are 3 classes"),
        ("--threshold 0.5", "--threshold is for two sides"),
        ("--positive setosa --threshold 1.5", "it must be a probability above 0 and below 1"),
        ("--positive setosa --recall 0", "it must be above 0 and at most 1"),
        ("--positive setosa --precision 1.01", "it must be above 0 and at most 1"),
        ("--positive setosa --cost fp=1", "such as --cost fp=1,fn=20"),
        ("--positive setosa --cost fp=0,fn=1", "two costs above 0"),
        ("--positive setosa --recall 0.9 --cost fp=1,fn=1", "cannot be used with"),
        (
            "--classes setosa,virginica --learner multiclass --recall 0.9",
            "multiclass has one score for each class",
        ),
    ] {
        folder.linsep(&format!("train iris.csv {line}")).exits(2).says(&[problem]);
    }
    folder.linsep("train iris.csv --positive setosa -q -o model").exits(0);
    let line = "train iris.csv --positive setosa --init model --probabilities";
    folder.linsep(line).exits(2).says(&["leave --init MODEL out"]);
    for command in ["predict", "evaluate"] {
        let line = format!("{command} model iris.csv --threshold 0.5");
        folder.linsep(&line).exits(2).says(&["needs a model with probabilities"]);
    }
    folder.write("few.csv", "x,kind\n1,a\n2,a\n3,a\n4,b\n");
    let ran = folder.linsep("train few.csv --probabilities -o few").exits(0);
    ran.says(&["the model lacks the requested probabilities", "\"b\" has 1 row"]);
    assert!(folder.has("few"));
    let ran = folder.linsep("train few.csv --positive b --recall 0.9").exits(0);
    ran.says(&["the model lacks the requested probabilities and the threshold"]);
    // What the model has is not called missing.
    let noise: String = (0..200).map(|i| format!("{},{}\n", i % 2, ["no", "yes"][i / 2 % 2])).collect();
    folder.write("noise.csv", format!("x,kind\n{noise}"));
    for learner in ["logistic", "svm"] {
        let line = format!("train noise.csv --learner {learner} --positive yes --precision 0.99 -o noise");
        let problem = "the model lacks the requested threshold: no threshold has a precision of 99";
        let ran = folder.linsep(&line).exits(0);
        let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(problem), "{ran:?}");
        folder.linsep("predict noise noise.csv --show probability -q").exits(0);
    }
}

#[test]
fn weights_of_several_classes_that_calibration_cannot_undo_are_warned_of() {
    let folder = Folder::with_iris("iris.csv");
    let warning = "favour the classes with larger weights";
    let line = "train iris.csv --learner logistic --probabilities --class-weight setosa=10";
    folder.linsep(line).exits(0).says(&[warning]);
    let two = folder.linsep(&format!("{line} --positive setosa")).exits(0);
    assert!(!two.err.contains(warning), "{}", two.err);
}

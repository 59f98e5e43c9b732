//! `linsep tune`: what it chooses is good, honest about itself, the same on any number of threads, and made again by `train`.

use crate::common::Folder;
use std::fmt::Write;

/// A class in the middle of a column and another outside: no plain boundary tells them apart, a bend does.
fn bent(rows: usize) -> String {
    let mut text = "x,noise,kind\n".to_string();
    for i in 0..rows {
        let x = (i * 37 % 100) as f64 / 10.0 - 5.0;
        let kind = if x.abs() < 2.0 { "inside" } else { "outside" };
        let _ = writeln!(text, "{x},{},{kind}", i * 7 % 13);
    }
    text
}

#[test]
fn it_finds_splines_and_products() {
    let folder = Folder::with("bent.csv", bent(300));
    let record = folder.linsep("tune bent.csv --json -o model").exits(0).json();
    let chosen = &record["candidates"][record["chosen"].as_u64().unwrap() as usize];
    assert!(chosen["features"].as_str().unwrap().contains("splines"), "{chosen}");
    assert!(chosen["error"].as_f64().unwrap() < 0.05, "{chosen}");
    assert!((record["baseline_error"].as_f64().unwrap() - 0.39).abs() < 0.02, "{record}");
    let estimate = &record["estimate"];
    assert_eq!(estimate["judging"], "nested");
    assert_eq!(estimate["rows"], 300);
    assert!(record["ended"].is_null(), "{record}");
    assert!(estimate["error"].as_f64().unwrap() < 0.1, "{estimate}");
    let judged = folder.linsep("evaluate model bent.csv --json").exits(0).json();
    assert!(judged["error"].as_f64().unwrap() < 0.05, "{judged}");

    folder.linsep("generate xor --rows 300 -o xor.csv").exits(0);
    let record = folder.linsep("tune xor.csv --judge aside --json").exits(0).json();
    let chosen = &record["candidates"][record["chosen"].as_u64().unwrap() as usize];
    assert!(chosen["features"].as_str().unwrap().contains("pairs"), "{chosen}");
    assert_eq!((&record["estimate"]["judging"], &record["estimate"]["rows"]), (&"aside".into(), &60.into()));
}

#[test]
fn labels_by_coin_flips_are_not_called_learnable() {
    let mut text = "a,b,c,d,kind\n".to_string();
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    for _ in 0..120 {
        let cells: Vec<String> = (0..4).map(|_| (next() % 1000).to_string()).collect();
        let _ = writeln!(text, "{},{}", cells.join(","), ["heads", "tails"][(next() % 2) as usize]);
    }
    let folder = Folder::with("coins.csv", text);
    let record = folder.linsep("tune coins.csv --json").exits(0).json();
    // The table of the search may look better than chance; the estimate must not.
    assert!(record["estimate"]["error"].as_f64().unwrap() > 0.35, "{}", record["estimate"]);
    let upper = record["estimate"]["interval"]["upper"].as_f64().unwrap();
    assert!(upper > 0.45, "{}", record["estimate"]);
}

#[test]
fn the_model_does_not_depend_on_threads_and_is_made_again_by_train() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("tune iris.csv --judge none --threads 1 -o one -q").exits(0);
    folder.linsep("tune iris.csv --judge none --threads 3 -o three -q").exits(0);
    assert_eq!(folder.read("one"), folder.read("three"));
    let spec = folder.linsep("inspect one --spec").exits(0).out;
    folder.write("job.toml", spec);
    folder.linsep("train --spec job.toml -o again -q").exits(0);
    assert_eq!(folder.read("one"), folder.read("again"));
}

#[test]
fn always_the_same_answer_is_about_the_sides_that_are_told_apart() {
    let folder = Folder::with_iris("iris.csv");
    let ran = folder.linsep("tune iris.csv --positive virginica --judge none").exits(0);
    assert!(ran.out.contains("always predicting \"not virginica\": 33.33 %"), "{ran:?}");
    let record = folder.linsep("tune iris.csv --positive virginica --judge none --json").exits(0).json();
    assert_eq!(record["baseline_class"], "not virginica");
    assert!((record["baseline_error"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12, "{record}");
    // The metric of that answer is in the table, whichever it is: ln 3 for the shares of three classes of one size.
    let ran = folder.linsep("tune iris.csv --metric log-loss --judge none").exits(0);
    let first = ran.out.lines().find(|line| line.starts_with("majority class")).unwrap().to_string();
    assert!(first.ends_with("1.0986"), "{first}");
}

/// What is to be expected of new rows is said once, and if it is not, then why.
#[test]
fn an_estimate_or_why_there_is_none() {
    let folder = Folder::with("bent.csv", bent(100));
    let report = |line: &str| {
        let out = folder.linsep(line).exits(0).out;
        assert!(!out.contains("--holdout"), "{out}");
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let out = report("tune bent.csv");
    assert!(
        out.contains(" % on new rows (")
            && !out.contains("an estimate for new rows")
            && !out.contains("o estimate for new rows"),
        "{out}"
    );
    let out = report("tune bent.csv --judge none");
    assert!(out.contains("no estimate for new rows: none was asked for"), "{out}");
    // Two rows of a class can be in two of five parts, but not without one of them.
    let rare: String = (0..60).map(|i| format!("{},{}\n", i, if i % 30 == 7 { "b" } else { "a" })).collect();
    folder.write("rare.csv", format!("x,kind\n{rare}"));
    let out = report("tune rare.csv --judge nested");
    assert!(out.contains("no estimate for new rows: a class has too few rows"), "{out}");
}

/// The report names the rule, and its table has the candidates that the rule compares.
#[test]
fn the_rule_of_choice_is_said() {
    let folder = Folder::with("bent.csv", bent(100));
    let report = |options: &str| {
        let out = folder.linsep(&format!("tune bent.csv --judge none {options}")).exits(0).out;
        (out.split_whitespace().collect::<Vec<_>>().join(" "), out)
    };
    let (text, out) = report("");
    let rule = "by held-out error among the lines of the table";
    assert!(
        text.contains(rule) && text.contains("with C chosen by held-out log loss within each line"),
        "{text}"
    );
    let errors: Vec<(f64, bool)> = out
        .lines()
        .filter(|line| line.contains(" logistic "))
        .filter_map(|line| {
            let (_, value) =
                line.split_once(" ± ").and_then(|(left, _)| left.trim_end_matches(" %").rsplit_once(' '))?;
            Some((value.parse().ok()?, line.ends_with("chosen")))
        })
        .collect();
    assert_eq!(errors.len(), 4, "{out}");
    // The first of the least is the chosen one.
    let least = errors.iter().map(|&(error, _)| error).fold(f64::INFINITY, f64::min);
    assert_eq!(
        errors.iter().position(|&(error, _)| error == least),
        errors.iter().position(|&(_, is)| is),
        "{out}"
    );
    let (text, _) = report("--metric auc");
    assert!(text.contains("by held-out 1 − AUC among all candidates (the simplest of equals)"), "{text}");
    let (text, _) = report("--simpler 1");
    assert!(
        text.contains("the simplest candidate whose held-out error is within one standard error"),
        "{text}"
    );
    let help = folder.linsep("tune --help").exits(0).out;
    assert!(
        help.split_whitespace().collect::<Vec<_>>().join(" ").contains("C is chosen by log loss"),
        "{help}"
    );
}

#[test]
fn few_rows_are_dealt_out_more_than_once() {
    let folder = Folder::new();
    for (rows, deals) in [(100, 4), (300, 2), (500, 1)] {
        folder.write("bent.csv", bent(rows));
        let record = folder.linsep("tune bent.csv --judge none --json").exits(0).json();
        assert_eq!(record["deals"], deals, "{rows} rows");
        // A row that is judged again does not make the error any surer.
        for candidate in record["candidates"].as_array().unwrap() {
            let (p, found) =
                (candidate["error"].as_f64().unwrap(), candidate["standard_error"].as_f64().unwrap());
            let expected = (p * (1.0 - p) / rows as f64).sqrt();
            assert!((found - expected).abs() <= 0.01 * expected, "{rows} rows: {candidate}");
        }
    }
    let ran = folder.linsep("tune bent.csv --judge none").exits(0);
    assert!(!ran.out.contains("repeated"), "{ran:?}");
    folder.write("bent.csv", bent(100));
    let ran = folder.linsep("tune bent.csv --judge none").exits(0);
    assert!(ran.out.contains("cross-validation repeated 4 times"), "{ran:?}");
}

#[test]
fn passes_of_gradient_descent_are_tried_on_sparse_rows() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 600 -o text.svm -q").exits(0);
    let record = folder.linsep("tune text.svm --judge none --threads 1 --json -o one").exits(0).json();
    let candidates = record["candidates"].as_array().unwrap();
    let passes: Vec<u64> = candidates.iter().filter_map(|each| each["passes"].as_u64()).collect();
    assert_eq!(passes, [1, 2, 5, 10]);
    for candidate in candidates {
        let is_descent = candidate["learner"] == "sgd";
        assert_eq!((candidate["C"].is_null(), candidate["passes"].is_u64()), (is_descent, is_descent));
    }
    // It learns from all rows with the passes that were chosen, on any number of threads.
    let chosen = &candidates[record["chosen"].as_u64().unwrap() as usize];
    assert_eq!(chosen["learner"], "sgd", "{chosen}");
    let ran = folder.linsep("tune text.svm --judge none --threads 3 -o three").exits(0);
    assert!(
        ran.out.contains(&format!("Chosen    sgd on plain features, {} passes", chosen["passes"])),
        "{ran:?}"
    );
    assert_eq!(folder.read("one"), folder.read("three"));
    let line = format!("train text.svm --learner sgd --loss log --epochs {} -o again -q", chosen["passes"]);
    folder.linsep(&line).exits(0);
    let answers = |model: &str| folder.linsep(&format!("predict {model} text.svm --show score")).exits(0).out;
    assert_eq!(answers("one"), answers("again"));
    // It gives no probabilities of many classes, and none that are as good as those of logistic regression.
    let record = folder.linsep("tune text.svm --judge none --metric log-loss --json").exits(0).json();
    assert!(record["candidates"].as_array().unwrap().iter().all(|each| each["learner"] == "logistic"));
}

#[test]
fn every_metric_is_there_and_what_cannot_be_is_refused() {
    let folder = Folder::with("bent.csv", bent(100));
    for metric in ["error", "balanced-error", "auc", "log-loss", "f1"] {
        let line = format!("tune bent.csv --metric {metric} --judge none");
        let ran = folder.linsep(&line).exits(0);
        assert!(ran.out.contains("chosen"), "{ran:?}");
    }
    let iris = Folder::with_iris("iris.csv");
    iris.linsep("tune iris.csv --metric auc").exits(2).says(&["--positive"]);
    iris.linsep("tune iris.csv --metric auc --positive virginica --judge none").exits(0);
    iris.linsep("tune iris.csv --time 0").exits(2).says(&["above 0"]);
    iris.linsep("tune iris.csv --time 1e-9").exits(2).says(&["before the first candidates"]);
    iris.linsep("tune iris.csv --folds 1").exits(2).says(&["folds"]);
    iris.linsep("tune iris.csv -o iris.csv").exits(2);
    iris.linsep("tune - -o model").exits(2).says(&["name a file"]);
    iris.linsep("tune missing.csv").exits(3).says(&["missing.csv"]);
    folder.write("one.csv", "x,kind\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n");
    folder.linsep("tune one.csv").exits(3).says(&["one.csv"]);
    folder.write("rare.csv", "x,kind\n1,a\n2,a\n3,a\n4,a\n5,a\n6,b\n");
    folder.linsep("tune rare.csv").exits(2).says(&["all in one fold"]);
}

#[test]
fn missing_cells_and_words_are_prepared_in_every_fold() {
    let mut text = "size,colour,kind\n".to_string();
    for i in 0..120 {
        let size = if i % 9 == 0 { String::new() } else { (i % 40).to_string() };
        let colour = ["red", "green", "", "blue"][i % 4];
        let _ = writeln!(text, "{size},{colour},{}", if i % 40 < 20 { "small" } else { "large" });
    }
    let folder = Folder::with("gaps.csv", text);
    let record = folder.linsep("tune gaps.csv --json -o model").exits(0).json();
    assert!(record["estimate"]["error"].as_f64().unwrap() < 0.2, "{}", record["estimate"]);
    folder.linsep("predict model gaps.csv -q").exits(0);
}

#[test]
fn a_simpler_candidate_can_be_asked_for() {
    let folder = Folder::with_iris("iris.csv");
    let features = |options: &str| {
        let record = folder.linsep(&format!("tune iris.csv --judge none --json {options}")).exits(0).json();
        record["candidates"][record["chosen"].as_u64().unwrap() as usize]["features"].clone()
    };
    assert_eq!(features("--simpler 2"), "plain");
    folder.linsep("tune iris.csv --simpler -1").exits(2).says(&["standard errors"]);
}

/// There is no fraction to choose: the rows of each class are too few.
#[test]
fn classes_of_one_row_each_cannot_be_searched() {
    let rows: String = (0..900).map(|i| format!("w{i} 1:{i} 2:{}\n", i * 7 % 31)).collect();
    let folder = Folder::with("rows.svm", rows);
    let ran = folder.linsep("tune rows.svm").exits(2).says(&["classes", "train"]);
    assert!(!ran.err.contains("another fraction"), "{}", ran.err);
}

//! `linsep tune`: what it chooses is good, honest about itself, the same on any number of threads, and made again by `train`.

mod common;

use common::Folder;
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
fn it_finds_bends_and_products() {
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

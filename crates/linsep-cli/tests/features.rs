//! The promise of `--features`: what is not linear in the columns is learned, the model carries how its features are made,
//! and the report says which space it speaks of.

use crate::common::Folder;
use serde_json::Value;
use std::fmt::Write;

/// Rows that are of one class in the middle of a column and of the other on both sides; a second column says nothing.
fn bent() -> String {
    let mut text = "x,other,kind\n".to_string();
    for i in 0..400u32 {
        let x = f64::from(i * 37 % 400) / 40.0 - 5.0;
        let other = f64::from(i * 61 % 97);
        writeln!(text, "{x},{other},{}", if x.abs() < 2.0 { "in" } else { "out" }).unwrap();
    }
    text
}

/// Two columns of words that decide together.
fn words() -> String {
    let mut text = "size,colour,kind\n".to_string();
    for i in 0..240u32 {
        let (size, colour) = (i % 3, i / 3 % 4);
        let odd = (size + colour) % 2 == 1;
        writeln!(text, "s{size},c{colour},{}", if odd { "odd" } else { "even" }).unwrap();
    }
    text
}

fn error(folder: &Folder, line: &str) -> f64 {
    let ran = folder.linsep(&format!("{line} --json -q")).exits(0);
    let record: Value = serde_json::from_str(&ran.out).unwrap();
    record["holdout_error"].as_f64().unwrap()
}

#[test]
fn products_learn_what_no_line_separates() {
    let folder = Folder::new();
    folder.linsep("generate xor --rows 500 -o xor.csv -q").exits(0);
    assert!(error(&folder, "train xor.csv --learner logistic --holdout 0.3") > 0.3);
    assert!(error(&folder, "train xor.csv --features pairs --holdout 0.3") < 0.02);
    folder.write("words.csv", words());
    assert!(error(&folder, "train words.csv --learner logistic --holdout 0.3") > 0.2);
    assert_eq!(error(&folder, "train words.csv --features pairs --holdout 0.3"), 0.0);
}

#[test]
fn splines_learn_a_bent_rule() {
    let folder = Folder::with("bent.csv", bent());
    assert!(error(&folder, "train bent.csv --learner logistic --holdout 0.3") > 0.3);
    assert!(error(&folder, "train bent.csv --features splines --holdout 0.3") < 0.06);
    assert!(error(&folder, "train bent.csv --features splines+pairs --holdout 0.3 --learner svm") < 0.06);
}

#[test]
fn a_saved_model_expands_rows_as_in_training() {
    let folder = Folder::with("bent.csv", bent());
    let train = "train bent.csv --features splines+pairs -o m -q --json";
    let record: Value = serde_json::from_str(&folder.linsep(train).exits(0).out).unwrap();
    assert_eq!(record["expansion"]["features"], "splines+pairs");
    assert_eq!(record["expansion"]["splines"], 12);
    assert_eq!(record["expansion"]["products"], 1);
    assert_eq!(record["features"], 15);
    let judged = folder.linsep("evaluate m bent.csv --json").exits(0);
    let judged: Value = serde_json::from_str(&judged.out).unwrap();
    assert_eq!(judged["error"], record["training_error"]);
    // Any number of threads gives the same model, and so does its specification.
    for other in ["--threads 1", "--threads 3"] {
        folder.linsep(&format!("train bent.csv --features splines+pairs -o again -q {other}")).exits(0);
        assert_eq!(folder.read("again"), folder.read("m"));
    }
    let spec = folder.linsep("inspect m --spec").exits(0).out;
    folder.write("spec.toml", spec);
    folder.linsep("train --spec spec.toml -o again -q").exits(0);
    assert_eq!(folder.read("again"), folder.read("m"));
    // Rows without labels, one of which lies far outside.
    folder.write("new.csv", "x,other\n0,10\n1e6,10\n-4,3\n");
    let ran = folder.linsep("predict m new.csv").exits(0);
    assert_eq!(ran.out, "in\nout\nout\n");
    folder.write("huge.csv", "x,other\n1e300,10\n-1e300,-1e300\n");
    folder.linsep("predict m huge.csv --csv").exits(0);
}

#[test]
fn reports_name_the_space() {
    let folder = Folder::with("bent.csv", bent());
    let ran = folder.linsep("train bent.csv --features splines+pairs -v -o m").exits(0);
    let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let made = "2 features of the original columns, 12 spline features of 2 numeric columns, 1 product of pairs of columns";
    assert!(out.contains(made), "{out}");
    assert!(out.contains("in the space of the expanded features"), "{out}");
    // That job would answer for the columns alone.
    assert!(!out.contains("linsep separate"), "{out}");
    let out = folder.linsep("inspect m --effects").exits(0).out;
    assert!(out.contains("x~1") && out.contains("Effects of the columns"), "{out}");
    let record: serde_json::Value =
        serde_json::from_str(&folder.linsep("inspect m --json").exits(0).out).unwrap();
    let effects = record["effects"].as_array().unwrap();
    assert_eq!(effects[0]["column"], "x");
    let curve: Vec<(f64, f64)> = effects[0]["curve"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point["value"].as_f64().unwrap(), point["effect"].as_f64().unwrap()))
        .collect();
    assert!(curve.len() >= 7 && curve.windows(2).all(|pair| pair[0].0 < pair[1].0), "{curve:?}");
    assert_eq!(curve[0].0, -5.0);
    // The positive class is "out": it wins at both ends.
    let middle = curve.iter().find(|(x, _)| x.abs() < 1.0).unwrap().1;
    assert!(curve[0].1 > 0.0 && curve[curve.len() - 1].1 > 0.0 && middle < 0.0, "{curve:?}");
}

#[test]
fn many_candidates_are_chosen_from() {
    let folder = Folder::new();
    let mut text = String::new();
    for i in 0..300u32 {
        let x = |j: u32| f64::from((i * (17 + 2 * j) + j * j * 31) % 101) - 50.0;
        let values: Vec<String> = (0..8).map(|j| x(j).to_string()).collect();
        writeln!(text, "{},{}", values.join(","), if x(2) * x(5) > 0.0 { "yes" } else { "no" }).unwrap();
    }
    folder.write("rows.csv", text);
    let train = "train rows.csv --features pairs --max-pairs 3 -o m -q --json";
    let record: Value = serde_json::from_str(&folder.linsep(train).exits(0).out).unwrap();
    assert_eq!(
        (&record["expansion"]["products"], &record["expansion"]["candidates"]),
        (&3.into(), &28.into())
    );
    assert!(folder.linsep("inspect m").exits(0).out.contains("3 × 6"));
}

#[test]
fn a_start_from_a_model_keeps_its_features() {
    let folder = Folder::with("bent.csv", bent());
    folder.linsep("train bent.csv --features splines --learner perceptron --epochs 2 -o m -q").exits(0);
    let go_on = "train bent.csv --init m --learner perceptron --epochs 2 -q --json";
    let record: Value = serde_json::from_str(&folder.linsep(go_on).exits(0).out).unwrap();
    assert_eq!(record["expansion"]["features"], "splines");
    folder.linsep(&format!("{go_on} --features splines")).exits(0);
    folder.linsep(&format!("{go_on} --features pairs")).exits(2);
    folder.linsep(&format!("{go_on} --online")).exits(2);
    // A checkpoint of expanded rows is taken up by the same features.
    let run = "train bent.csv --features splines --learner averaged -q";
    folder.linsep(&format!("{run} --epochs 3 -o whole")).exits(0);
    folder
        .linsep(&format!("{run} --epochs 3 --max-updates 200 --checkpoint c --checkpoint-every 0"))
        .exits(0);
    folder.linsep(&format!("{run} --epochs 3 --max-updates 100000 --resume c -o resumed")).exits(0);
    let weights = |name: &str| linsep::Model::from_bytes(&folder.read(name)).unwrap().learned;
    assert_eq!(weights("resumed"), weights("whole"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::with("bent.csv", bent());
    for (line, said) in [
        ("--features cubes", "splines+pairs"),
        ("--features splines --memory 64MB", "--features"),
        ("--features splines --online", "--features"),
        ("--max-pairs 5", "--max-pairs"),
        ("--features splines --max-pairs 5", "--max-pairs"),
        ("--features pairs --max-pairs 0", "--max-pairs"),
    ] {
        let ran = folder.linsep(&format!("train bent.csv {line}")).exits(2);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
}

#[test]
fn features_that_cannot_be_made_are_told() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{},w{i},{}\n", i % 2, ["a", "b"][i % 2])).collect();
    folder.write("words.csv", format!("x,word,kind\n{rows}"));
    let ran = folder.linsep("train words.csv --features pairs").exits(0);
    assert!(ran.out.contains("Features  the columns only: no product of two columns"), "{}", ran.out);
    let plain = folder.linsep("train words.csv").exits(0);
    assert!(!plain.out.contains("Features "), "{}", plain.out);
}

/// Rows whose class is a matter of a product of numbers and of a word.
fn incomes() -> String {
    let mut text = "age,income,sex,kind\n".to_string();
    for i in 0..300u32 {
        let (age, income) = (20 + i * 37 % 50, 1000 + i * 61 % 97 * 40);
        let is_man = i % 3 == 0;
        let sum = age * income / 1000 + if is_man { 40 } else { 0 } + i % 7 * 5;
        let (sex, kind) = (if is_man { "m" } else { "f" }, if sum > 140 { "b" } else { "a" });
        writeln!(text, "{age},{income},{sex},{kind}").unwrap();
    }
    text
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn score(folder: &Folder, age: f64, income: f64, sex: &str) -> f64 {
    folder.write("one.csv", format!("age,income,sex\n{age},{income},{sex}\n"));
    let told = folder.linsep("predict m one.csv --show score").exits(0).out;
    told.split_whitespace().last().expect("a score").parse().expect("a number")
}

#[test]
fn weights_in_units_add_up_to_the_score_with_products() {
    let folder = Folder::with("rows.csv", incomes());
    folder.linsep("train rows.csv --features pairs -o m -q").exits(0);
    let record = folder.linsep("inspect m --json --top 1000").exits(0).json();
    let cell = |name: &Value| match name.as_str().expect("a name") {
        "age" => 41.0,
        "income" => 3000.0,
        "sex=m" => 1.0,
        _ => 0.0,
    };
    let products = record["products"].as_array().expect("products");
    let value = |name: &Value| match products.iter().find(|product| &product["feature"] == name) {
        Some(product) => {
            let factors = product["of"].as_array().expect("factors");
            factors.iter().map(|of| cell(&of["feature"]) - number(&of["minus"])).product()
        }
        None => cell(name),
    };
    let weights = record["strongest"].as_array().expect("weights");
    assert!(weights.iter().any(|of| of["feature"] == "age × income"), "{record}");
    let sum: f64 = weights.iter().map(|of| value(&of["feature"]) * number(&of["weight_per_unit"])).sum();
    let (sum, score) = (number(&record["intercept_in_units"]) + sum, score(&folder, 41.0, 3000.0, "m"));
    assert!((sum - score).abs() < 1e-6 * (1.0 + score.abs()), "{sum} {score}");
    folder.linsep("inspect m --effects").exits(0).tells(&["Products of pairs of columns, ", "age × income"]);
}

#[test]
fn effects_and_their_constant_add_up_to_the_score() {
    let folder = Folder::with("rows.csv", incomes());
    folder.linsep("train rows.csv --features splines -o m -q").exits(0);
    let record = folder.linsep("inspect m --json").exits(0).json();
    let effects = record["effects"].as_array().expect("effects");
    let of = |column: &str| effects.iter().find(|of| of["column"] == column).expect("an effect");
    let first = |column: &str| {
        let point = &of(column)["curve"][0];
        (number(&point["value"]), number(&point["effect"]))
    };
    let ((age, of_age), (income, of_income)) = (first("age"), first("income"));
    let words = of("sex")["words"].as_array().expect("words");
    let of_sex = words.iter().find(|word| word["word"] == "m").map_or(0.0, |word| number(&word["effect"]));
    let sum = number(&record["effects_constant"]) + of_age + of_income + of_sex;
    let score = score(&folder, age, income, "m");
    assert!((sum - score).abs() < 1e-6 * (1.0 + score.abs()), "{sum} {score}");
}

#[test]
fn options_are_those_of_the_learner_that_features_have() {
    let folder = Folder::with("bent.csv", bent());
    let record = folder.linsep("train bent.csv --features splines --C 3 --json").exits(0).json();
    assert_eq!(record["settings"]["learner"]["logistic"]["c"], 3.0, "{record}");
    folder.linsep("train bent.csv --features splines --epsilon 0.1").exits(2).says(&["not of logistic"]);
}

//! A table of counts gives the answer of the table that it stands for: every number of every report is that of the table
//! with each row written as often as it occurs.

use crate::common::{Folder, learners};
use serde_json::Value;
use std::fmt::Write;

/// Random tables of the same rows: with counts, and written out. Some cells are missing, and some rows occur not at all, among
/// them the only ones with the word "never" and the class "none".
fn tables(seed: u64, classes: usize) -> (String, String, String) {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut counted, mut written) = ("w,x,z,n,kind\n".to_string(), "w,x,z,kind\n".to_string());
    let mut counts = String::new();
    for i in 0..30u64 {
        let never = i % 10 == 7;
        let word = if never { "never" } else { ["red", "blue", "green"][next(3) as usize] };
        let x = next(40) as f64 / 4.0 - 3.0;
        let cell = if next(6) == 0 { "NA".to_string() } else { x.to_string() };
        let z = next(9);
        let kind =
            if never { 7 } else { (u64::from(x > 2.0) + z / 4 + u64::from(next(5) == 0)) % classes as u64 };
        let count = if never { 0 } else { 1 + next(6) };
        let _ = writeln!(counted, "{word},{cell},{z},{count},c{kind}");
        let _ = writeln!(counts, "{count}");
        (0..count).for_each(|_| {
            let _ = writeln!(written, "{word},{cell},{z},c{kind}");
        });
    }
    (counted, written, counts)
}

/// A record without what depends on the clock or the file, such as the lines of it that were left out.
fn timeless(mut record: Value) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let gone = |key: &str| {
                    key.contains("seconds")
                        || ["data", "source", "saved", "model", "dropped_rows"].contains(&key)
                };
                fields.retain(|key, _| !gone(key));
                fields.values_mut().for_each(clean);
            }
            Value::Array(values) => values.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut record);
    record
}

/// Whether two records say the same, but for the last digits of sums in another order.
fn agree(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| agree(a, b)))
        }
        _ => one == other,
    }
}

#[track_caller]
fn same(folder: &Folder, command: &str, options: &str) {
    let run = |table: &str| {
        let line = format!("{command} {table} --label kind {options} --json");
        timeless(folder.linsep(&line).json())
    };
    let (counted, written) = (run("counted.csv --weights n"), run("written.csv"));
    assert!(counted.as_object().is_some_and(|fields| fields.len() > 3), "{counted}");
    assert_eq!(counted, written, "{command} {options}");
}

#[test]
fn training_comparing_and_tuning_count_what_rows_stand_for() {
    for (seed, classes) in [(1, 2), (2, 3)] {
        let folder = Folder::new();
        let (counted, written, _) = tables(seed, classes);
        folder.write("counted.csv", counted);
        folder.write("written.csv", written);
        for learner in learners() {
            let fits = match learner {
                // One class against the rest; the kernel's default needs a width.
                "multiclass" => classes > 2,
                _ => true,
            };
            if fits {
                same(&folder, "train", &format!("--learner {learner} --epochs 20"));
            }
        }
        for missing in ["mean", "zero", "drop-row"] {
            same(&folder, "train", &format!("--learner logistic --missing {missing}"));
        }
        same(&folder, "train", "--learner svm --class-weight balanced --holdout 0.3");
        same(&folder, "train", "--learner averaged --probabilities --holdout 0.25");
        same(&folder, "train", "--learner svm --probabilities --positive c0 --cost fp=1,fn=5");
        same(&folder, "train", "--learner logistic --features splines+pairs");
        same(&folder, "compare", "--metric balanced-error --folds 3 --epochs 10");
        if classes == 2 {
            same(&folder, "tune", "--judge nested --folds 3");
        }
        same(&folder, "tune", "--judge aside --folds 3 --metric log-loss");
    }
}

#[test]
fn evaluation_counts_what_rows_stand_for() {
    for (seed, classes) in [(3, 2), (4, 3)] {
        let folder = Folder::new();
        let (counted, written, counts) = tables(seed, classes);
        folder.write("counted.csv", &counted);
        folder.write("written.csv", written);
        folder.write("counts", counts);
        folder.linsep("train counted.csv --label kind --weights n --probabilities -o model -q").exits(0);
        let judge =
            |rows: &str| timeless(folder.linsep(&format!("evaluate model {rows} --json")).exits(0).json());
        let written = judge("written.csv");
        let counted = judge("counted.csv --weights n");
        assert!(agree(&counted, &written), "{counted} {written}");
        assert_eq!(written["training_rows"], true, "{written}");
        // The same numbers in a file of their own; the rows that occur not at all have classes that the model does not know.
        let counted = judge("counted.csv --weights counts");
        assert!(agree(&counted, &written), "{counted} {written}");
        let rows = |line: &str| judge(line)["rows"].as_u64().expect("rows");
        assert!(rows("counted.csv --weights n") > rows("counted.csv --skip-bad"));
        folder.linsep("evaluate model counted.csv --weights m").exits(2).says(&["neither a file"]);
        folder.write("few", "1\n2\n");
        folder
            .linsep("evaluate model counted.csv --weights few --skip-bad")
            .exits(2)
            .says(&["leaves rows out"]);
        folder.write("halves", "0.5\n".repeat(30));
        folder.linsep("evaluate model counted.csv --weights halves").exits(2).says(&["0.5 is not a count"]);
    }
}

/// Weights that are no counts, or too many, are not passed off as rows.
#[test]
fn what_cannot_be_written_out_is_said() {
    let folder = Folder::new();
    folder.write("survey.csv", "x,n,kind\n1,190000000,a\n2,7,b\n3,45,a\n5,9,b\n");
    let ran = folder.linsep("train survey.csv --weights n --learner logistic");
    ran.exits(0).says(&["The counts are too large to repeat the rows", "errors count 4 rows"]);
    folder.write("half.csv", "x,n,kind\n1,0.5,a\n2,1,b\n3,2,a\n5,1,b\n");
    let ran = folder.linsep("train half.csv --weights n --learner logistic");
    ran.exits(0).says(&["not whole numbers", "errors count 4 rows"]);
}

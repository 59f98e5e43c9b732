//! `separate --blame`: few rows whose removal separates the rest.

use crate::common::Folder;
use std::fmt::Write;

/// A table of noisy rows: columns of very different sizes, one of them far from zero.
fn noisy(rows: usize, seed: u64) -> String {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let mut text = "a,b,c,kind\n".to_string();
    for _ in 0..rows {
        let (a, b, c) = (uniform(), uniform(), uniform());
        let kind = if a + 0.5 * b + 0.3 * uniform() > 0.05 { "yes" } else { "no" };
        writeln!(text, "{:.3},{:.3},{:.3},{kind}", 1000.0 * a, 5000.0 + b, 0.01 * c).unwrap();
    }
    text
}

fn blame(folder: &Folder, arguments: &str) -> serde_json::Value {
    let line = format!("separate {arguments} --blame --columns none --json");
    folder.linsep(&line).exits(1).json()["blame"].clone()
}

fn count(blame: &serde_json::Value) -> u64 {
    blame["rows"].as_array().expect("rows").len() as u64
}

/// Both kinds of bias give the same number of rows, and no learner does better on the rows it has learned from.
#[test]
fn no_learner_does_better() {
    for seed in 1..4 {
        let folder = Folder::with("data", noisy(120, seed));
        let (append, free) = (blame(&folder, "data"), blame(&folder, "data --bias free"));
        for answer in [&append, &free] {
            assert_eq!(answer["rest"], "complete", "{answer}");
            assert!(answer["at_least"].as_u64() <= answer["weight"].as_u64(), "{answer}");
            assert_eq!(answer["weight"].as_u64(), Some(count(answer)), "{answer}");
        }
        assert_eq!(count(&append), count(&free), "{append}\n{free}");
        for learner in ["svm", "svm --C 100", "logistic", "pocket", "averaged"] {
            folder.linsep(&format!("train data --learner {learner} --scale standard -o model -q")).exits(0);
            let errors = folder.linsep("evaluate model data --json").exits(0).json()["errors"].as_u64();
            assert!(Some(count(&append)) <= errors, "{learner}: {errors:?}, {}", count(&append));
        }
    }
}

/// What is said is true of the file: without the lines that are named, another run finds the rest separable; with all but
/// one of them gone it is not, where the set is proved to be the smallest.
#[test]
fn the_named_lines_are_the_ones() {
    let text = noisy(60, 9);
    let folder = Folder::with("data", &text);
    let answer = blame(&folder, "data");
    assert_eq!(answer["is_smallest"], true, "{answer}");
    let lines: Vec<u64> =
        answer["rows"].as_array().unwrap().iter().map(|row| row["line"].as_u64().unwrap()).collect();
    for spared in [None, lines.first().copied(), lines.last().copied()] {
        let stays = |line: u64| !lines.contains(&line) || Some(line) == spared;
        let rest = text.lines().zip(1u64..).filter(|(_, line)| stays(*line)).map(|(text, _)| text);
        folder.write("rest", rest.collect::<Vec<_>>().join("\n") + "\n");
        folder.linsep("separate rest --columns none").exits(i32::from(spared.is_some()));
    }
    let report = folder.linsep("separate data --blame --columns none").exits(1).out;
    assert!(report.contains("This set is a smallest one"), "{report}");
    assert!(lines.iter().all(|line| report.contains(&format!("data:{line} "))), "{report}");
}

/// Counts: the cheaper of two contradicting rows goes, and its count is what is told.
#[test]
fn counts_are_costs() {
    let folder = Folder::with("data", "x,n,kind\n1,5,a\n2,2,a\n2,7,b\n3,1,b\n1,3,b\n");
    let answer = blame(&folder, "data --weights n");
    assert_eq!((&answer["weight"], &answer["at_least"]), (&5.into(), &5.into()), "{answer}");
    let lines: Vec<u64> =
        answer["rows"].as_array().unwrap().iter().map(|row| row["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 6], "{answer}");
    let report = folder.linsep("separate data --blame --weights n").exits(1).out;
    let flowing = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("these 2 rows (which count 5)"), "{report}");
    assert!(flowing.contains("rows that count at least 5 must be removed"), "{report}");
    assert!(flowing.contains("counts 3"), "{report}");
}

/// If nothing better than a whole class is found, the report says so.
#[test]
fn a_whole_class_is_named_as_such() {
    let folder = Folder::with("data", "x,kind\n1,a\n2,b\n3,a\n1.5,a\n2.5,a\n");
    let answer = blame(&folder, "data --bias free");
    assert_eq!((count(&answer), &answer["leaves_both_sides"]), (1, &false.into()), "{answer}");
    let report = folder.linsep("separate data --blame").exits(1).out;
    let flowing = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("No smaller set was found than all rows of one class"), "{report}");
    assert!(flowing.contains("at least 1 row must be removed"), "{report}");
}

/// A limit of time leaves an answer, and says that it was the limit.
#[test]
fn a_time_limit_leaves_an_answer() {
    let folder = Folder::new();
    folder.linsep("generate random-labels --rows 400 --features 10 --format csv -o data -q").exits(0);
    let answer = blame(&folder, "data --time 0.3");
    assert_eq!(answer["rest"], "complete", "{answer}");
    assert_eq!(answer["is_smallest"], false, "{answer}");
    assert!(answer["stopped"].as_str().is_some_and(|why| why.contains("time limit")), "{answer}");
}

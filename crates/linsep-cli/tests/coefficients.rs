//! The promise: which coefficients of a logistic regression are finite is told as the literature has it, and what cannot be
//! proved is not told.

mod common;

use common::{Folder, published};
use serde_json::Value;

/// The statuses of all coefficients of a table, the bias first, as R would print them with `detect_separation`.
fn statuses(table: &str, options: &str) -> (Value, String) {
    let folder = Folder::with("data.csv", table);
    let ran = folder.linsep(&format!("separate data.csv --json {options}"));
    let record = ran.json();
    let coefficients = record["coefficients"].as_array().unwrap_or_else(|| panic!("{record}"));
    assert!(coefficients[0]["feature"].is_null() || options.contains("--bias none"), "{record}");
    let statuses = coefficients.iter().map(|one| one["status"].as_str().expect("a status"));
    let told = statuses.collect::<Vec<_>>().join(" ");
    (record, told)
}

/// Kosmidis and Schumacher publish these in the tests of the R package detectseparation, the second and third with `I(2 * NV)`
/// and `I(-NV)`.
#[test]
fn endometrial_cancer() {
    let (record, told) = statuses(&published::endometrial(&["NV", "PI", "EH"]), "");
    assert_eq!(
        (record["verdict"].as_str(), told.as_str()),
        (Some("quasi-complete"), "finite +inf finite finite")
    );
    assert_eq!(record["separated_rows"].as_array().map(Vec::len), Some(13));
    assert_eq!(record["rest_aliased"], serde_json::json!(["NV"]));
    let (record, told) = statuses(&published::endometrial(&["NV", "2NV", "PI", "EH"]), "");
    assert_eq!(told, "finite +inf aliased finite finite");
    assert_eq!(record["coefficients"][2]["aliased_with"], serde_json::json!(["NV"]));
    let (_, told) = statuses(&published::endometrial(&["-NV", "PI", "EH"]), "");
    assert_eq!(told, "finite -inf finite finite");
    // The other way round, and with a bias of another kind.
    for options in ["--positive 0", "--positive 0 --bias free"] {
        assert_eq!(
            statuses(&published::endometrial(&["NV", "PI", "EH"]), options).1,
            "finite -inf finite finite"
        );
    }
}

/// The first is published in the tests of detectseparation; of the others the literature names the columns: `southern` and `dia`
/// alone, and both coefficients of Silvapulle's table, whose fit in R goes to −43 and 21.
#[test]
fn other_published_tables() {
    let finite = |count: usize| vec!["finite"; count].join(" ");
    for (table, verdict, expected) in [
        (published::lizards(), "overlap", finite(6)),
        (published::silvapulle(), "quasi-complete", "-inf +inf".to_string()),
        (published::MURDER.to_string(), "quasi-complete", finite(5) + " +inf"),
        (published::sex(), "quasi-complete", finite(6) + " +inf"),
    ] {
        let (record, told) = statuses(&table, "");
        assert_eq!((record["verdict"].as_str(), told), (Some(verdict), expected), "{table}");
    }
}

/// A column that gives the answer away is named, and so is a pair of columns.
#[test]
fn columns_that_separate_alone() {
    let treated: String =
        (0..20).map(|i| format!("{},{},{},{}\n", i % 7, i % 3, i / 10, ["no", "yes"][i / 10])).collect();
    let folder = Folder::with("data.csv", format!("age,ward,treated,cured\n{treated}"));
    let record = folder.linsep("separate data.csv --json").exits(0).json();
    assert_eq!(record["column_sets"], serde_json::json!({"alone": [["treated"]], "at_least": 1}));
    let text = folder.linsep("separate data.csv").exits(0).out;
    assert!(text.contains("`treated` alone separates the classes completely: a leak?"), "{text}");
    let sum: String = (0..36)
        .map(|i| (i % 6, i / 6))
        .map(|(a, b)| format!("{a},{},{b},{}\n", (a * b) % 5, if a + b > 5 { "yes" } else { "no" }))
        .collect();
    let folder = Folder::with("data.csv", format!("a,noise,b,answer\n{sum}"));
    let record = folder.linsep("separate data.csv --json").exits(0).json();
    assert_eq!(record["column_sets"], serde_json::json!({"alone": [["a", "b"]], "at_least": 2}));
    let text = folder.linsep("separate data.csv").exits(0).out;
    assert!(
        text.contains("`a` and `b` separate the classes completely by themselves. No column does"),
        "{text}"
    );
}

/// A word that only one class has: its level is named, and the others are not.
#[test]
fn levels_are_named() {
    let stages = ["I", "II", "III"];
    let rows: String = (0..30)
        .map(|i| {
            let stage = stages[i % 3];
            let died = stage == "III" || i % 4 == 0;
            format!(
                "{},{},{stage},{}\n",
                40 + (7 * i) % 11,
                u8::from(stage == "II"),
                if died { "yes" } else { "no" }
            )
        })
        .collect();
    let folder = Folder::with("data.csv", format!("age,second,stage,died\n{rows}"));
    let record = folder.linsep("separate data.csv --json").exits(1).json();
    let status = |feature: &str| {
        let found =
            record["coefficients"].as_array().expect("a table").iter().find(|one| one["feature"] == feature);
        found.map(|one| one["status"].clone())
    };
    assert_eq!(status("age"), Some("finite".into()));
    assert_eq!(record["separated_rows"].as_array().map(Vec::len), Some(10));
    let text = folder.linsep("separate data.csv").exits(1).out;
    assert!(text.contains("merge rare ones with a neighbour"), "{text}");
}

#[test]
fn what_was_not_settled_is_said() {
    let folder = Folder::with("data.csv", published::endometrial(&["NV", "PI", "EH"]));
    let record = folder.linsep("separate data.csv --columns none --json").exits(1).json();
    assert!(record.get("coefficients").is_none() && record.get("coefficients_stopped").is_none(), "{record}");
    let text = folder.linsep("separate data.csv --columns none").exits(1).out;
    assert!(text.contains("The features that separate") && !text.contains("Estimates"), "{text}");
    // More features than are looked at without being asked.
    let wide: String = (0..6)
        .map(|i| (0..600).map(|j| format!("{},", (i * j) % 3)).collect::<String>() + ["a\n", "b\n"][i % 2])
        .collect();
    let folder = Folder::with("data.csv", wide);
    let record = folder.linsep("separate data.csv --header no --json").json();
    assert!(
        record["coefficients_stopped"].as_str().is_some_and(|why| why.contains("--columns all")),
        "{record}"
    );
}

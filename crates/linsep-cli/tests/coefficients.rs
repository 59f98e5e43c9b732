//! The promise: which coefficients of a logistic regression are finite is told as the literature has it, and what cannot be
//! proved is not told.

use crate::common::{Folder, published};
use serde_json::Value;

/// The text with every run of blanks and line ends as one blank.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The statuses of all coefficients of a table, the bias first, as R would print them with `detect_separation`.
fn statuses(table: &str, options: &str) -> (Value, String) {
    let folder = Folder::with("data.csv", table);
    let ran = folder.linsep(&format!("separate data.csv --json -o proof.cert {options}"));
    let record = ran.json();
    let coefficients = record["coefficients"].as_array().unwrap_or_else(|| panic!("{record}"));
    assert!(coefficients[0]["feature"].is_null() || options.contains("--bias none"), "{record}");
    let statuses = coefficients.iter().map(|one| one["status"].as_str().expect("a status"));
    let told = statuses.collect::<Vec<_>>().join(" ");
    // The checker is asked of the same, and has the same answers.
    let checked = folder.linsep("verify proof.cert data.csv --json").exits(0).json();
    let pair = |one: &Value| (one["feature"].clone(), one["status"].clone());
    let checked = checked["coefficients"].as_array().expect("claims").iter().map(pair);
    assert!(checked.eq(coefficients.iter().map(pair)), "{record}");
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
    assert!(text.contains("`treated` alone separates the classes completely. If it is not known"), "{text}");
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
    assert!(text.contains("consider merging rare levels"), "{text}");
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
    // Of completely separable rows no coefficient is finite: that is settled.
    let complete: String = (0..6)
        .map(|i| {
            format!("{},", i % 2)
                + &(1..600).map(|j| format!("{},", (i * j) % 3)).collect::<String>()
                + ["a\n", "b\n"][i % 2]
        })
        .collect();
    folder.write("complete.csv", complete);
    let text = flowing(&folder.linsep("separate complete.csv --header no").exits(0).out);
    assert!(text.contains("completely separable: some"), "{text}");
    assert!(
        text.contains("No coefficient has a finite estimate. Which of them have a definite sign"),
        "{text}"
    );
    assert!(!text.contains("Which coefficients are finite was not determined"), "{text}");
}

/// Beside a reference level only the word that separates is named, whichever level is the reference.
#[test]
fn words_are_judged_beside_a_reference_level() {
    let folder = Folder::new();
    // All rows of stage III are ill; the others are mixed.
    let mut text = "stage,age,ill\n".to_string();
    for (stage, age, ill) in [
        ("I", 3, "no"),
        ("I", 5, "yes"),
        ("I", 6, "no"),
        ("I", 2, "yes"),
        ("I", 4, "no"),
        ("II", 4, "yes"),
        ("II", 3, "no"),
        ("II", 7, "yes"),
        ("II", 5, "no"),
        ("III", 4, "yes"),
        ("III", 3, "yes"),
        ("III", 6, "yes"),
    ] {
        text += &format!("{stage},{age},{ill}\n");
    }
    folder.write("stages.csv", text);
    let statuses = |options: &str| -> Vec<(String, String)> {
        let record = folder.linsep(&format!("separate stages.csv --json {options}")).exits(1).json();
        let all = record["coefficients"].as_array().expect("coefficients").clone();
        let text = |value: &Value| value.as_str().expect("a text").to_string();
        all.iter()
            .map(|own| (own["feature"].as_str().unwrap_or("(bias)").to_string(), text(&own["status"])))
            .collect()
    };
    let of = |found: &[(String, String)], name: &str| {
        found.iter().find(|(own, _)| own == name).map(|(_, status)| status.clone()).expect("a status")
    };
    for options in ["", "--reference first", "--reference most-frequent", "--reference stage=I"] {
        let found = statuses(options);
        assert_eq!(of(&found, "stage=III"), "+inf", "{options} {found:?}");
        assert_eq!(of(&found, "stage=II"), "finite", "{options} {found:?}");
        assert_eq!(of(&found, "stage=I"), "aliased", "{options} {found:?}");
        assert_eq!(of(&found, "age"), "finite", "{options} {found:?}");
    }
    // Beside a level that is always ill, the others and the bias go to infinity, as in every statistical program.
    let found = statuses("--reference stage=III");
    assert_eq!(of(&found, "stage=I"), "-inf", "{found:?}");
    assert_eq!(of(&found, "stage=II"), "-inf", "{found:?}");
    assert_eq!(of(&found, "stage=III"), "aliased", "{found:?}");
    let report = folder.linsep("separate stages.csv").exits(1).out;
    assert!(report.contains("reference level"), "{report}");
    // In a table of counts the most frequent level is that of the largest count, not that of the most rows.
    folder.write("counts.csv", "stage,ill,count\nI,no,1\nI,yes,1\nI,no,2\nII,no,9\nII,yes,7\nIII,yes,2\n");
    for (options, level) in [("", "stage=I"), ("--weights count", "stage=II")] {
        let line = format!("separate counts.csv --label ill --reference most-frequent --json {options}");
        let record = folder.linsep(&line).exits(1).json();
        let all = record["coefficients"].as_array().expect("coefficients").clone();
        let found = all.iter().find(|own| own["feature"] == level).expect("a level");
        assert_eq!(found["status"], "aliased", "{options} {record}");
    }
    for (options, part) in [
        ("--reference stage=IV", "has no word \"IV\""),
        ("--reference age=3", "no column of words"),
        ("--reference last", "first, most-frequent or COLUMN=WORD"),
        ("--reference first,most-frequent", "not both"),
        ("--reference stage=I,stage=II", "twice"),
    ] {
        folder.linsep(&format!("separate stages.csv {options}")).exits(2).says(&[part]);
    }
    folder.linsep("separate stages.csv -o proof").exits(1);
    folder.linsep("verify proof stages.csv").exits(0);
}

/// Without a bias the reference level of one column is not aliased, and can be in a set that separates.
#[test]
fn words_without_a_bias_have_their_coefficients() {
    let rows =
        ["q,p,1,b", "q,p,2,b", "s,r,-2,a", "p,q,-1,a", "p,p,1,b", "r,r,2,a", "q,s,1,a", "r,p,2,a", "s,p,1,a"];
    let table = format!("c0,c1,x,cls\n{}\n", rows.join("\n"));
    for options in ["", "--reference first", "--reference c0=q,c1=s"] {
        let (record, told) = statuses(&table, &format!("--bias none {options}"));
        assert_eq!(record["verdict"], "complete", "{record}");
        assert_eq!(told.split(' ').filter(|status| *status == "aliased").count(), 1, "{options}: {told}");
        assert!(record.get("coefficients_stopped").is_none(), "{record}");
    }
}

/// Where logistic regression has no finite optimum, the command that proves it is named, and it does.
#[test]
fn no_finite_optimum_names_its_proof() {
    let rows: String = (0..30).map(|i| format!("{},{},{},{}\n", i % 7, 2 * i - 29, i % 3, i / 15)).collect();
    let folder = Folder::with("data.csv", format!("a,x,n,y\n{rows}"));
    let train = "train data.csv --learner logistic --penalty none --weights n --ignore a";
    for options in ["", "--positive 0", "--scale none --bias none", "--bias-scale 2 --label y"] {
        let ran = folder.linsep(&format!("{train} {options}")).exits(1);
        let command = ran.err.lines().find_map(|line| line.trim().strip_prefix("linsep separate "));
        let command = command.unwrap_or_else(|| panic!("{ran:?}"));
        let record = folder.linsep(&format!("separate {command} --json")).exits(0).json();
        // The rows that do not occur are left out there, too.
        assert_eq!((&record["verdict"], &record["rows"]), (&"complete".into(), &20.into()), "{command}");
        folder.linsep("verify CERTIFICATE data.csv --weights n --ignore a").exits(0);
    }
    // Of rows held out, or of other features, separate would say something else.
    for options in ["--holdout 0.3", "--features splines"] {
        let ran = folder.linsep(&format!("{train} {options}"));
        assert!(!ran.err.contains("linsep separate "), "{ran:?}");
    }
}

/// A table of counts says the same as the table with each row so often.
#[test]
fn counts_are_rows() {
    let folder = Folder::new();
    folder.write("counts.csv", "x,n,y\n1,3,a\n2,2,b\n1,1,b\n3,0,a\n4,5,b\n");
    folder.write("rows.csv", "x,y\n1,a\n1,a\n1,a\n2,b\n2,b\n1,b\n4,b\n4,b\n4,b\n4,b\n4,b\n");
    let status = |line: &str| {
        let record = folder.linsep(&format!("separate {line} --json")).exits(1).json();
        (record["verdict"].clone(), record["coefficients"].clone())
    };
    assert_eq!(status("counts.csv --weights n"), status("rows.csv"));
    // Without them the row that occurs not at all stands in the way.
    assert_ne!(status("counts.csv"), status("rows.csv"));
    folder.linsep("separate counts.csv --weights n -o proof").exits(1);
    folder.linsep("verify proof counts.csv --weights n").exits(0);
    let weights = |line: &str| {
        let line = format!("train {line} --learner logistic --scale none --gap 1e-9 -q -o model");
        folder.linsep(&line).exits(0);
        let record = folder.linsep("inspect model --json").exits(0).json();
        (
            record["intercept"].as_f64().expect("a number"),
            record["strongest"][0]["weight"].as_f64().expect("one"),
        )
    };
    let (a, b) = (weights("counts.csv --weights n"), weights("rows.csv"));
    assert!((a.0 - b.0).abs() < 1e-4 && (a.1 - b.1).abs() < 1e-4, "{a:?} {b:?}");
    // Classes that no row is left of are none.
    folder.write("one.csv", "x,n,y\n1,0,a\n2,0,a\n3,4,b\n4,5,b\n");
    for options in ["", "--bias none", "--bias free", "--pairs"] {
        let ran = folder.linsep(&format!("separate one.csv --weights n {options}"));
        ran.exits(3).says(&["one.csv: all rows have the label \"b\": there is nothing to separate"]);
    }
    folder.write("two.csv", "x,n,y\n1,0,a\n2,3,c\n3,4,b\n4,5,b\n");
    let record = folder.linsep("separate two.csv --weights n --json").exits(0).json();
    assert_eq!((&record["verdict"], &record["rows"]), (&"complete".into(), &3.into()), "{record}");
    folder.write("bad.csv", "x,n,y\n1,3,a\n2,-2,b\n");
    folder.linsep("separate bad.csv --weights n").exits(3).says(&["bad.csv:3", "is not a count"]);
    folder
        .linsep("separate counts.csv --weights m")
        .exits(2)
        .says(&["neither a file that exists nor a column"]);
    folder.linsep("separate counts.csv --weights y").exits(2).says(&["is the label"]);
}

/// Which columns are set aside depends on the columns and not on the rows: in the order of the file, the words of a column in
/// alphabetical order, whatever row comes first. The reference level is told from other aliased columns.
#[test]
fn the_order_of_the_rows_does_not_matter() {
    // The ward tells the town, so that the words of both depend on each other; so does the number between them.
    let towns = ["Ulm", "Bonn", "Kiel"];
    let mut rows: Vec<String> = (0..36)
        .flat_map(|i| {
            let ward = (5 * i) % 6;
            let row = format!("{},{},w{ward},{}", towns[ward / 2], u8::from(ward < 2), (i / 6) % 5);
            ["no", "yes"].map(|ill| format!("{row},{ill}"))
        })
        .collect();
    let run = |rows: &[String]| {
        let folder = Folder::with("data.csv", format!("town,code,ward,age,ill\n{}\n", rows.join("\n")));
        folder.linsep("separate data.csv --json").json()["coefficients"].clone()
    };
    let first = run(&rows);
    let told: Vec<String> = first
        .as_array()
        .expect("a table")
        .iter()
        .map(|one| {
            let feature = one["feature"].as_str().unwrap_or("(bias)");
            let status = one["status"].as_str().expect("a status");
            format!("{feature} {status}{}", if one["reference"] == true { " reference" } else { "" })
        })
        .collect();
    let expected = [
        "(bias) finite",
        "town=Bonn aliased reference",
        "town=Kiel finite",
        "town=Ulm finite",
        "code aliased",
        "ward=w0 aliased reference",
        "ward=w1 finite",
        "ward=w2 finite",
        "ward=w3 aliased",
        "ward=w4 finite",
        "ward=w5 aliased",
        "age finite",
    ];
    assert_eq!(told, expected);
    for _ in 0..5 {
        rows.rotate_left(7);
        let last = rows.len() - 1;
        rows.swap(0, last);
        assert_eq!(run(&rows), first);
    }
}

/// A column that is the sum of two others, in tenths: as binary fractions the sums are not exact, and what is left of them separates the
/// rows. That is said; of the same numbers in whole tenths, and of a usual margin, it is not.
#[test]
fn separation_by_rounding_is_told() {
    let (mut tenths, mut whole) = ("a,b,c,kind\n".to_string(), "a,b,c,kind\n".to_string());
    for (i, j) in (1..30).flat_map(|i| (1..30).map(move |j| (i, j))) {
        let text = |n: i32| format!("{}.{}", n / 10, n % 10);
        let [a, b, c] = [i, j, i + j].map(|n| text(n).parse::<f64>().unwrap());
        // a + b − c without rounding: the difference of neighbours is exact, and so is what the sum lost.
        let sum = a + b;
        let lost = (a - (sum - (sum - a))) + (b - (sum - a));
        let rest = (sum - c) + lost;
        if rest != 0.0 {
            let kind = if rest > 0.0 { "up" } else { "down" };
            tenths += &format!("{},{},{},{kind}\n", text(i), text(j), text(i + j));
            whole += &format!("{i},{j},{},{kind}\n", i + j);
        }
    }
    // With one row on both sides the rows as read are quasi-completely separable, and the decimals as written overlap.
    let both = |text: &str| format!("{text}0,0,0,up\n0,0,0,down\n");
    let folder = Folder::with("both.csv", both(&tenths));
    folder.write("both-whole.csv", both(&whole));
    folder.write("tenths.csv", tenths);
    folder.write("whole.csv", whole);
    // The dose separates all rows but those with the dose 0.4, by a tenth.
    folder.write("trial.csv", "dose,cured\n0.1,no\n0.3,no\n0.4,no\n0.4,yes\n0.5,yes\n0.7,yes\n");
    let record = folder.linsep("separate both.csv --json").exits(1).json();
    assert_eq!(
        (&record["verdict"], &record["separable_by_rounding"]),
        (&"quasi-complete".into(), &true.into())
    );
    let text = flowing(&folder.linsep("separate both.csv").exits(1).out);
    assert!(text.contains("Caution some rows are separated by no more than what rounding does"), "{text}");
    assert_eq!(folder.linsep("separate both-whole.csv --json").exits(1).json()["verdict"], "overlap");
    let record = folder.linsep("separate trial.csv --json").exits(1).json();
    assert_eq!(
        (&record["verdict"], &record["separable_by_rounding"]),
        (&"quasi-complete".into(), &false.into())
    );
    folder.write("usual.csv", "x,kind\n0.1,down\n0.3,up\n");
    let record = folder.linsep("separate tenths.csv --json").exits(0).json();
    assert_eq!((&record["verdict"], &record["separable_by_rounding"]), (&"complete".into(), &true.into()));
    let text = flowing(&folder.linsep("separate tenths.csv").exits(0).out);
    assert!(text.contains("Caution") && text.contains("--ignore COLUMN"), "{text}");
    let record = folder.linsep("separate whole.csv --json").exits(1).json();
    assert!(record.get("separable_by_rounding").is_none(), "{record}");
    let record = folder.linsep("separate usual.csv --json").exits(0).json();
    assert_eq!(record["separable_by_rounding"], false);
    let text = folder.linsep("separate usual.csv").exits(0).out;
    assert!(!text.contains("Caution"), "{text}");
}

/// Rows that are zero throughout: the words are true of them, and a command that has failed is not proposed again.
#[test]
fn zero_rows_are_described() {
    let folder = Folder::with("zero.csv", "x,kind\n0,a\n0,b\n0,a\n");
    folder.write("zeros.csv", "x,y,kind\n0,0,a\n0,0,b\n");
    folder.write("twice.csv", "x,y,kind\n1,2,a\n1,2,b\n2,4,a\n2,4,b\n");
    let report = |line: &str| flowing(&folder.linsep(&format!("separate -v {line}")).exits(1).out);
    let text = report("zero.csv --bias none --blame");
    assert!(text.contains("0 of 1: every row is zero in the only feature"), "{text}");
    assert!(text.contains("every row is zero, so any coefficients fit equally well"), "{text}");
    assert!(!text.contains("linsep separate"), "{text}");
    assert!(report("zeros.csv --bias none").contains("0 of 2: every row is zero in all features"));
    let text = report("twice.csv");
    assert!(
        text.contains("of the 2 features and the bias, 1 is a linear combination of the others"),
        "{text}"
    );
}

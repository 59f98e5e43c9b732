//! The promise: a verdict comes with a proof that `verify` accepts, with its exit code, and with the rows that explain it.

use crate::common::{Folder, PROGRAM, Ran};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Doses that cure, but for one dose at which both happens: only those rows stand in the way.
const QUASI: &str = "dose,age,cured\n1,30,no\n2,41,no\n3,35,no\n4,52,no\n4,44,yes\n4,48,no\n4,50,yes\n5,39,yes\n\
                     6,33,yes\n7,47,yes\n";

/// The data sets that come with the program.
fn real() -> Folder {
    let folder = Folder::new();
    for (data, name) in [("iris", "iris"), ("breast-cancer", "cancer"), ("spam", "spam")] {
        folder.linsep(&format!("demo {data} --export {name} -q")).exits(0);
    }
    folder
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The text without its line ends.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every field that a record of one task must have.
#[track_caller]
fn check_fields(record: &Value) {
    for field in [
        "verdict",
        "classes",
        "bias",
        "margin",
        "difficulty",
        "radius",
        "rows",
        "features",
        "rank",
        "witness_rows",
        "contradictions",
        "certificate",
        "stopped",
        "seconds",
    ] {
        assert!(record.get(field).is_some(), "{field}: {record}");
    }
    for field in ["lower", "upper", "kind"] {
        assert!(record["margin"].get(field).is_some(), "{field}: {record}");
    }
}

#[test]
fn the_data_sets_that_come_with_it() {
    let folder = real();
    for (arguments, code, verdict, words) in [
        ("iris --positive setosa", 0, "complete", "completely separable"),
        ("iris --classes setosa,virginica", 0, "complete", "completely separable"),
        ("iris --classes versicolor,virginica", 1, "overlap", "not separable, the classes overlap"),
        ("cancer", 0, "complete", "completely separable"),
        ("spam", 1, "overlap", "not separable, the classes overlap"),
    ] {
        for bias in ["append", "free"] {
            let line = format!("separate {arguments} --bias {bias}");
            let text = folder.linsep(&line).exits(code).out;
            assert!(flowing(&text).contains(words), "{line}: {text}");
            let line = format!("{line} -o proof -q");
            let record = folder.linsep(&format!("{line} --json")).exits(code).keeps_silent().json();
            check_fields(&record);
            assert_eq!((&record["verdict"], &record["certificate"]), (&verdict.into(), &"proof".into()));
            let data = arguments.split(' ').next().expect("data");
            let accepted = folder.linsep(&format!("verify proof {data}")).exits(0).keeps_silent().out;
            assert!(accepted.starts_with("Accepted"), "{accepted}");
            let accepted = folder.linsep(&format!("verify proof {data} --json")).exits(0).json();
            assert_eq!((&accepted["accepted"], &accepted["claim"]), (&true.into(), &verdict.into()));
            assert_eq!((&accepted["same_data"], &accepted["rows"]), (&true.into(), &record["rows"]));
            let (lower, upper) = (&record["margin"]["lower"], number(&record["margin"]["upper"]));
            if code == 0 {
                assert!(
                    0.0 < number(lower) && number(lower) <= upper && upper <= number(lower) * (1.0 + 2e-6)
                );
                assert_eq!(number(&accepted["margin"]["lower"]), number(lower));
                let radius = number(&record["radius"]);
                let difficulty = number(&record["difficulty"]["upper"]);
                assert!(difficulty >= (radius / upper).powi(2) * (1.0 - 1e-9), "{record}");
                assert!(number(&record["difficulty"]["lower"]) <= difficulty);
                assert!(!record["closest_rows"].as_array().expect("rows").is_empty());
            } else {
                assert!(lower.is_null() && upper <= 0.0, "{record}");
                assert_eq!(record["difficulty"]["upper"], Value::Null);
            }
        }
    }
}

#[test]
fn the_widest_margins_are_known() {
    // Half the distance of (0, 0) and (2, 0); through the origin, and with an appended coordinate.
    let folder = Folder::with("data", "x,y,kind\n-1,0,a\n1,0,b\n-1,5,a\n1,-3,b\n");
    for (bias, kind, margin) in
        [("free", "free-bias", 1.0), ("append", "appended-bias", 1.0), ("none", "through-origin", 1.0)]
    {
        let record =
            folder.linsep(&format!("separate data --bias {bias} --json --gap 1e-12")).exits(0).json();
        assert_eq!(record["margin"]["kind"], kind);
        let (lower, upper) = (number(&record["margin"]["lower"]), number(&record["margin"]["upper"]));
        assert!(lower <= margin && margin <= upper && upper - lower < 1e-11, "{record}");
    }
    // A larger appended coordinate costs less: the margin goes to that of a free bias.
    folder.write("data", "x,kind\n10,a\n12,b\n");
    let upper = |options: &str| {
        number(&folder.linsep(&format!("separate data --json {options}")).exits(0).json()["margin"]["upper"])
    };
    let (small, large, free) = (upper("--bias-scale 1"), upper("--bias-scale 1000"), upper("--bias free"));
    assert!(small < 0.1 && large > 0.99 && large <= 1.0 + 1e-9 && (free - 1.0).abs() < 1e-6);
}

#[test]
fn overlap_is_explained_by_few_rows() {
    let folder = real();
    let record = folder.linsep("separate iris --classes versicolor,virginica --json").exits(1).json();
    assert_eq!((&record["rows"], &record["features"], &record["rank"]), (&100.into(), &4.into(), &5.into()));
    let witness = record["witness_rows"].as_array().expect("rows");
    assert!((2..=6).contains(&witness.len()), "{record}");
    let text = folder.text("iris");
    let lines: Vec<&str> = text.lines().collect();
    // Mixed in their shares, the rows of each side are the same point.
    let mut mixed = [[0.0; 5]; 2];
    for row in witness {
        let line = lines[row["line"].as_u64().expect("a line") as usize - 1];
        assert_eq!(row["row"].as_u64().map(|row| row + 2), row["line"].as_u64());
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(row["label"], cells[4], "{line}");
        let side = usize::from(cells[4] == "virginica");
        for (sum, cell) in mixed[side].iter_mut().zip(cells[..4].iter().chain([&"1"])) {
            *sum += number(&row["share"]) * cell.parse::<f64>().expect("a number");
        }
    }
    assert!(mixed[0].iter().zip(&mixed[1]).all(|(a, b)| (a - b).abs() < 1e-9), "{mixed:?}");
    assert!((mixed[0][4] + mixed[1][4] - 1.0).abs() < 1e-9);
    // The text names the same rows.
    let text = folder.linsep("separate iris --classes versicolor,virginica").exits(1).out;
    for row in witness {
        assert!(text.contains(&format!("  iris:{} ", row["line"])), "{row}: {text}");
    }
    assert!(text.contains("linsep separate iris --blame --classes versicolor,virginica\n"), "{text}");
}

#[test]
fn contradictory_duplicates_are_told_as_just_that() {
    let folder = real();
    let text = folder.linsep("separate spam").exits(1).out;
    let told = "3 pairs of rows have the same features and different labels: no classifier can separate \
                them.";
    assert!(flowing(&text).contains(told), "{text}");
    assert!(!text.contains("with these weights"), "{text}");
    let record = folder.linsep("separate spam --json").exits(1).json();
    let pairs = record["contradictions"].as_array().expect("pairs");
    assert_eq!((pairs.len(), record["witness_rows"].as_array().expect("rows").len()), (3, 2));
    let data = folder.text("spam");
    let lines: Vec<&str> = data.lines().collect();
    for pair in pairs {
        let row = |i: usize| lines[pair[i]["line"].as_u64().expect("a line") as usize - 1].rsplit_once(',');
        let ((a, label_a), (b, label_b)) = (row(0).expect("cells"), row(1).expect("cells"));
        assert!(a == b && label_a != label_b, "{pair}");
        for i in [0, 1] {
            assert!(text.contains(&format!(
                "spam:{} ({})",
                pair[i]["line"],
                pair[i]["label"].as_str().expect("label")
            )));
        }
    }

    let folder = Folder::with("data", "+1 1:1 2:3\n# a comment\n-1 1:2 2:2\n\n-1 1:1 2:3\n");
    let text = flowing(&folder.linsep("separate data").exits(1).out);
    assert!(text.contains("data:1 (1) and data:5 (-1)"), "{text}");
    // Through the origin it is the direction that counts, and a zero row is on every boundary.
    folder.write("data", "+1 1:1 2:3\n-1 1:2 2:6\n+1 1:5\n");
    let text = flowing(&folder.linsep("separate data --bias none").exits(1).out);
    assert!(
        text.contains("Two rows contradict each other") && text.contains("data:1 (1) and data:2 (-1)"),
        "{text}"
    );
    folder.write("data", "+1\n-1 1:2 2:6\n+1 1:-5\n");
    let text = flowing(&folder.linsep("separate data --bias none").exits(1).out);
    assert!(text.contains("data:1 (1) is zero"), "{text}");
}

#[test]
fn quasi_complete_names_the_boundary_and_the_features() {
    let folder = Folder::with("data", QUASI);
    let record = folder.linsep("separate data --json -o proof").exits(1).json();
    check_fields(&record);
    assert_eq!(record["verdict"], "quasi-complete");
    assert_eq!((number(&record["margin"]["lower"]), number(&record["margin"]["upper"])), (0.0, 0.0));
    let lines: Vec<u64> = record["boundary_rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["line"].as_u64().expect("a line"))
        .collect();
    assert_eq!(lines, [5, 6, 7, 8]);
    let features = record["separating_features"].as_array().expect("features");
    assert_eq!((features.len(), &features[0]["feature"]), (1, &"dose".into()));
    // The boundary is at a dose of 4.
    let ratio = -number(&record["separating_intercept"]) / number(&features[0]["weight"]);
    assert!((ratio - 4.0).abs() < 1e-12 && number(&features[0]["weight"]) > 0.0, "{record}");
    assert!(record.get("closest_rows").is_none());
    let accepted = folder.linsep("verify proof data --json").exits(0).json();
    assert_eq!((&accepted["claim"], &accepted["boundary_rows"]), (&"quasi-complete".into(), &4.into()));
    assert_eq!(accepted["boundary_is_exact"], true);
    let text = folder.linsep("separate data").exits(1).out;
    for part in [
        "quasi-completely separable",
        "no finite maximum-likelihood estimate",
        "goes through the same 4 of the 10",
    ] {
        assert!(flowing(&text).contains(part), "{part}: {text}");
    }
    // The separated rows are listed, those on the boundary are counted.
    for part in [
        "\n  data:4   no\n",
        "\n  data:9   yes\n",
        "\n  dose    +∞\n",
        "\n  age     finite\n",
        "The other 4 rows overlap",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn long_lists_are_cut_in_text_alone() {
    let rows: String = (0..60).map(|i| format!("1,{i},b\n")).collect();
    let folder = Folder::with("data", format!("x,y,kind\n{rows}0,7,b\n0,7,a\n"));
    let text = folder.linsep("separate data").exits(1).out;
    assert!(text.contains("… and 40 more (--json has all)\n"), "{text}");
    let record = folder.linsep("separate data --json").exits(1).json();
    assert_eq!(record["boundary_rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(record["separated_rows"].as_array().map(Vec::len), Some(60));
}

#[test]
fn more_than_two_classes_are_a_table() {
    let folder = real();
    let ran = folder.linsep("separate iris").exits(1);
    let verdicts = |text: &str| -> Vec<String> {
        let line = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
        let lines =
            text.lines().filter(|line| line.starts_with("  ") && line.contains(" against ")).map(line);
        lines
            .map(|words| words.iter().find(|word| ["complete", "overlap"].contains(&word.as_str())).cloned())
            .map(|verdict| verdict.expect("a verdict"))
            .collect()
    };
    assert_eq!(verdicts(&ran.out), ["complete", "overlap", "overlap"]);
    let ran = folder.linsep("separate iris --pairs").exits(1);
    assert_eq!(verdicts(&ran.out), ["complete", "complete", "overlap"]);

    let record = folder.linsep("separate iris --json -o proofs").exits(1).json();
    assert_eq!((&record["tasks"], &record["rows"]), (&"one-against-rest".into(), &150.into()));
    let table = record["table"].as_array().expect("a table");
    assert_eq!(table.len(), 3);
    for (record, class) in table.iter().zip(["setosa", "versicolor", "virginica"]) {
        check_fields(record);
        assert_eq!(record["classes"]["positive"], class);
        let path = format!("proofs/{class}-vs-rest.cert");
        assert_eq!(record["certificate"], path.as_str());
        folder.linsep(&format!("verify {path} iris")).exits(0);
        // What stands alone says the same.
        let alone = folder.linsep(&format!("separate iris --positive {class} --json"));
        assert_eq!(alone.json()["margin"], record["margin"]);
    }
    // The folder may be there already; two classes are a table if that is asked for.
    folder.linsep("separate iris --pairs --classes setosa,virginica -o proofs").exits(0);
    folder.linsep("verify proofs/setosa-vs-virginica.cert iris").exits(0);
    folder.write("file", "");
    folder.linsep("separate iris -o file").exits(2).says(&["file is a file", "name a folder"]);
    fs::create_dir(folder.path("trap")).expect("folder");
    fs::rename(folder.path("iris"), folder.path("trap/setosa-vs-rest.cert")).expect("move");
    let before = folder.read("trap/setosa-vs-rest.cert");
    folder.linsep("separate trap/setosa-vs-rest.cert -o trap").exits(2).says(&["would be overwritten"]);
    assert_eq!(folder.read("trap/setosa-vs-rest.cert"), before);
}

#[test]
fn a_certificate_that_was_changed_is_rejected() {
    let folder = real();
    folder.write("quasi", QUASI);
    for data in ["iris --classes setosa,virginica", "iris --classes versicolor,virginica", "quasi"] {
        let name = data.split(' ').next().expect("data");
        folder.linsep(&format!("separate {data} -o proof -q"));
        let whole = folder.text("proof");
        let verify = format!("verify changed {name}");
        let (positive, negative) = match data {
            "quasi" => ("\"yes\"", "\"no\""),
            _ if data.contains("setosa") => ("\"virginica\"", "\"setosa\""),
            _ => ("\"virginica\"", "\"versicolor\""),
        };
        let exchanged =
            whole.replace(positive, "\"?\"").replace(negative, positive).replace("\"?\"", negative);
        let wider = whole.replace("bias append 0x1p0", "bias append 0x1p1");
        // Rows that overlap do so with the sides exchanged, and with any appended value: what stays true is accepted.
        let overlap = whole.contains("\nverdict overlap\n");
        for (changed, holds) in
            [(exchanged, overlap), (wider, overlap), (whole.replace(negative, positive), false)]
        {
            assert_ne!(changed, whole, "{data}");
            folder.write("changed", &changed);
            let ran = folder.linsep(&verify).exits(i32::from(!holds));
            assert!(ran.out.starts_with(if holds { "Accepted  " } else { "Rejected  " }), "{ran:?}");
        }
        // Any digit of any number: rejected, or no certificate any more, or still true.
        let digits: Vec<usize> = whole.match_indices("0x").map(|(place, _)| place + 2).collect();
        let mut rejected = 0;
        for &place in digits.iter().take(12) {
            let mut changed = whole.clone().into_bytes();
            changed[place] = if changed[place] == b'7' { b'5' } else { b'7' };
            folder.write("changed", &changed);
            let ran = folder.linsep(&format!("{verify} --json"));
            match ran.code {
                Some(1) => {
                    rejected += 1;
                    let record = ran.json();
                    assert_eq!(record["accepted"], false);
                    assert!(record["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{record}");
                }
                code => assert!(code == Some(0) || code == Some(3), "{ran:?}"),
            }
        }
        assert!(rejected > 0, "{data}: {whole}");
    }
    // The row that is at fault has a place.
    folder.linsep("separate iris --positive setosa -o proof -q").exits(0);
    let mut rows: Vec<String> = folder.text("iris").lines().map(String::from).collect();
    rows[1] = rows[1].replace("setosa", "virginica");
    folder.write("other", rows.join("\n") + "\n");
    let ran = folder.linsep("verify proof other").exits(1);
    assert!(ran.out.starts_with("Rejected  other:2 (virginica): "), "{ran:?}");
    ran.says(&["note: This certificate was made for other data"]);
    let record = folder.linsep("verify proof other --json -q").exits(1).keeps_silent().json();
    assert_eq!(
        (&record["row"], &record["line"], &record["same_data"]),
        (&0.into(), &2.into(), &false.into())
    );
    // Other data of another shape.
    let ran = folder.linsep("verify proof spam").exits(1);
    assert!(flowing(&ran.out).contains("it is about 150 rows with 4 features"), "{ran:?}");
    // Read otherwise, the data is other data.
    folder.linsep("verify proof iris --ignore 1").exits(1).says(&["was made for other data"]);
    // The same rows in another format are the same data.
    let libsvm: String = folder
        .text("iris")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{} 1:{} 2:{} 3:{} 4:{}\n", cells[4], cells[0], cells[1], cells[2], cells[3])
        })
        .collect();
    folder.write("numbered", libsvm);
    folder.linsep("verify proof numbered").exits(0).keeps_silent();
}

#[test]
fn what_is_no_certificate_has_a_place() {
    let folder = Folder::with("data", QUASI);
    folder.linsep("separate data -o proof -q").exits(1);
    let whole = folder.text("proof");
    let help = "help: the certificate comes first, then the data";
    for kept in (0..whole.len() - 1).step_by(37) {
        folder.write("cut", &whole[..kept]);
        let ran = folder.linsep("verify cut data").exits(3);
        assert_eq!(ran.out, "");
        ran.says(&["error: cut:", ": this is not a certificate: ", help]);
    }
    folder.write("cut", whole.replace("combination", "combustion"));
    let line = 1 + whole[..whole.find("combination").expect("the word")].matches('\n').count();
    folder.linsep("verify cut data").exits(3).says(&[&format!("error: cut:{line}:")]);
    folder.write("cut", [b"{\"format\": ", &[0xff, 0xfe][..]].concat());
    folder.linsep("verify cut data").exits(3).says(&["error: cut:1:12: ", "it is not text"]);
    folder.linsep("verify data proof").exits(3).says(&["error: data:1:1: this is not a certificate"]);
    folder.linsep("verify absent data").exits(3).says(&["error: absent: cannot read", "No such file"]);
    folder.linsep("verify proof absent").exits(3).says(&["error: absent: cannot read"]);
    // A class on both sides would be no question.
    folder.write("both", whole.replace("negative \"no\"", "negative \"no\"\nnegative \"yes\""));
    let ran = folder.linsep("verify both data").exits(1);
    assert!(ran.out.contains("the class \"yes\" is on both sides"), "{ran:?}");
}

#[test]
fn the_proof_can_be_taken_from_the_record() {
    let folder = Folder::with("data", QUASI);
    let record = folder.linsep("separate data --json").exits(1).json();
    assert_eq!(record["certificate"], Value::Null);
    folder.write("proof", record["proof"].as_str().expect("a text"));
    folder.linsep("verify proof data").exits(0);
    // Where it is written to a file, it is not told twice.
    let record = folder.linsep("separate data --json -o proof").exits(1).json();
    assert!(record.get("proof").is_none() && record["certificate"] == "proof");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::with("data", QUASI);
    folder.write("three", "x,kind\n1,a\n2,b\n3,c\n");
    folder.write("one", "x,kind\n1,a\n2,a\n");
    for (arguments, code, part) in [
        ("data --bias never", 2, "possible values: none, append, free"),
        ("data --bias none --bias-scale 2", 2, "--bias-scale needs --bias append"),
        ("data --bias free --bias-scale 2", 2, "--bias-scale needs --bias append"),
        ("data --bias-scale 0", 2, "the scale of the bias must be a number from"),
        ("data --gap 1", 2, "the gap must be a number from"),
        ("data --gap -1", 2, "the gap must be a number from"),
        ("data --gap nan", 2, "expected a number"),
        ("data --time 0", 2, "the time limit must be above 0 seconds"),
        ("data --memory much", 2, "a size such as 500MB"),
        ("data --positive maybe", 2, "no row has the label \"maybe\""),
        ("data --classes yes,maybe", 2, "--classes names \"maybe\""),
        ("data --classes yes", 2, "at least two classes"),
        ("data --scale standard", 2, "unexpected argument"),
        ("data --class-weight balanced", 2, "unexpected argument"),
        ("three --pairs --positive a", 2, "cannot be used with"),
        ("three --pairs --blame", 2, "cannot be used with"),
        ("three --blame", 2, "--blame is for two sides, and there are 3 classes"),
        ("one", 3, "one: all rows have the label \"a\": there is nothing to separate"),
        ("one --positive a", 3, "there is nothing to separate"),
        ("absent", 3, "absent: cannot read"),
        ("data -o nowhere/proof", 3, "cannot write nowhere/proof"),
        ("data -o data", 2, "would be overwritten"),
        ("data -o ./data", 2, "would be overwritten"),
        ("data -o -", 2, "- is not an output file"),
        ("data -o .", 3, "it is a folder"),
    ] {
        let ran = folder.linsep(&format!("separate {arguments}")).exits(code);
        assert!(ran.err.contains(part) && ran.out.is_empty(), "{arguments}: {ran:?}");
        assert_eq!(folder.names(), ["data", "one", "three"], "{arguments}");
    }
    assert_eq!(folder.text("data"), QUASI);
    folder.linsep("train data --bias free").exits(2).says(&["invalid value 'free'"]);
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let folder = real();
    folder.linsep("generate text --rows 2000 --features 500 -q -o text").exits(0);
    for arguments in [
        "iris --positive setosa",
        "iris --classes versicolor,virginica",
        "cancer --bias free",
        "spam",
        "text",
    ] {
        let proofs = [1, 2, 5].map(|threads| {
            let mut command = folder.command(&format!("separate {arguments} -q -o proof"));
            let output = command.env("RAYON_NUM_THREADS", threads.to_string()).output().expect("run linsep");
            assert!(Ran::new(arguments, output).code.is_some_and(|code| code < 2));
            folder.read("proof")
        });
        assert!(proofs[0] == proofs[1] && proofs[1] == proofs[2], "{arguments}");
    }
}

#[test]
fn rows_come_from_anywhere() {
    let folder = Folder::new();
    let ran = folder.linsep_with_input("separate - -o proof", QUASI.as_bytes()).exits(1);
    assert!(ran.out.contains("standard input:5") && !ran.out.contains("linsep separate -"), "{ran:?}");
    folder.linsep_with_input("verify proof -", QUASI.as_bytes()).exits(0);
    folder.write("data.gz", crate::common::gzip(QUASI.as_bytes()));
    folder.linsep("verify proof data.gz").exits(0);
    // Rows that are left out while reading keep the lines of the others.
    let bad = QUASI.replace("2,41,no\n", "2,nan,no\n");
    folder.write("bad", bad);
    let record = folder.linsep("separate bad --skip-bad --json -q").exits(1).json();
    assert_eq!((&record["skipped_rows"], &record["rows"]), (&1.into(), &9.into()));
    assert_eq!(record["boundary_rows"][0]["line"], 5);
}

#[test]
fn time_can_run_out() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 20000 --features 1500 -q -o data").exits(0);
    for line in
        ["separate data --time 1e-9 --json -o proof", "separate data --max-seconds 1e-9 --json -o proof"]
    {
        let ran = folder.linsep(line);
        let record = ran.json();
        check_fields(&record);
        match ran.code {
            Some(4) => {
                assert_eq!((&record["verdict"], &record["certificate"]), (&"undecided".into(), &Value::Null));
                assert!(record["stopped"].is_string() && !folder.has("proof"));
                assert!(number(&record["margin"]["upper"]) > 0.0);
            }
            code => assert!(code == Some(0) || code == Some(1), "{ran:?}"),
        }
    }
    let ran = folder.linsep("separate data --time 1e-9");
    assert!(ran.code != Some(4) || ran.out.contains("undecided: the time limit was reached"), "{ran:?}");
}

#[test]
fn many_classes_share_the_time() {
    let folder = Folder::new();
    // Near the others on every side, so that no class is decided at once.
    let rows: String =
        (0..4000).map(|i| format!("c{},{},{}\n", i % 200, i * 7919 % 4001, i * 104_729 % 4003)).collect();
    folder.write("data.csv", format!("class,x,y\n{rows}"));
    let clock = std::time::Instant::now();
    let ran = folder.linsep("separate data.csv --label class --time 0.05 --json").exits(4);
    assert!(clock.elapsed().as_secs_f64() < 60.0, "200 classes took their time one by one");
    let record = ran.json();
    let table = record["table"].as_array().expect("a table");
    let missing = record["missing"].as_u64().expect("a number");
    assert_eq!(table.len() as u64 + missing, 200);
    assert!(missing > 0 || table.iter().any(|line| line["verdict"] == "undecided"));
    if missing > 0 {
        assert!(ran.err.contains("the time limit was reached: "), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_decision() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 30000 --features 1900 -q -o data").exits(0);
    let line = "separate data -o proof --json";
    let child = folder.start(&mut folder.command(line));
    std::thread::sleep(std::time::Duration::from_millis(700));
    let status = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
    assert!(status.expect("kill").success(), "the test needs a longer decision");
    let ran = Ran::new(line, child.wait_with_output().expect("wait")).exits(130);
    if !ran.out.is_empty() {
        assert_eq!(ran.json()["verdict"], "undecided");
    }
    assert_eq!(folder.names(), ["data"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_change_the_answer() {
    let folder = Folder::new();
    let rows: String =
        (0..20_000).map(|i| format!("0,{i},{}\n", if i % 2 == 0 { "a" } else { "b" })).collect();
    folder.write("data", format!("x,y,class\n{rows}1,7,b\n"));
    for line in ["separate data --json", "separate data"] {
        let mut child = folder.start(&mut folder.command(line));
        drop(child.stdout.take());
        Ran::new(line, child.wait_with_output().expect("wait")).exits(1).keeps_silent();
    }
}

#[test]
fn training_ends_with_what_to_do_next() {
    let folder = real();
    folder.write("it's", folder.read("iris"));
    let hold_out = "estimate the error on new rows:";
    let conflict = "find the rows that conflict:";
    let decide = "decide whether the classes are separable, and which rows conflict:";
    for (arguments, what, command) in [
        (
            "iris --classes versicolor,virginica",
            hold_out,
            "train iris --classes versicolor,virginica --holdout 0.25",
        ),
        ("iris --epochs 3 --holdout 0.2", conflict, "separate iris --pairs"),
        ("iris --epochs 3 --learner averaged --holdout 0.2", conflict, "separate iris"),
        (
            "iris --positive virginica --scale standard --bias-scale 2 --holdout 0.2",
            conflict,
            "separate iris --bias-scale 2 --positive virginica",
        ),
        (
            "iris --classes versicolor,virginica --bias none --learner voted --ignore 1 --holdout 0.2",
            conflict,
            "separate iris --bias none --classes versicolor,virginica --ignore 1",
        ),
        ("iris --online --positive virginica", decide, "separate iris --positive virginica"),
        (
            "iris --positive versicolor --penalty none",
            "save the proof that the classes overlap:",
            "separate iris --positive versicolor -o CERTIFICATE",
        ),
        (
            "iris --positive versicolor --learner perceptron",
            "search for features and settings that predict better:",
            "tune iris --positive versicolor",
        ),
        (
            "iris --positive setosa --holdout 0.2",
            "save the model:",
            "train iris --positive setosa --holdout 0.2 -o MODEL",
        ),
    ] {
        let text = folder.linsep(&format!("train {arguments} -q")).exits(0).out;
        assert!(
            text.contains(&format!("\nNext      {what}\n    linsep {command}\n\n")),
            "{arguments}: {text}"
        );
        // What is offered can be asked.
        folder.linsep(command).exits(i32::from(command.starts_with("separate")));
    }
    // Where it would be no help, there is none.
    let text = folder.linsep("train iris --positive setosa --holdout 0.2 -o model -q").exits(0).out;
    assert!(!text.contains("Next "), "{text}");
    let text = folder
        .linsep_with_input("train - --classes versicolor,virginica -q", &folder.read("iris"))
        .exits(0)
        .out;
    assert!(!text.contains("Next "), "{text}");
    let output = Command::new(PROGRAM).args(["train", "it's", "-q"]).current_dir(folder.path("")).output();
    let text = Ran::new("train it's", output.expect("run linsep")).exits(0).out;
    assert!(text.contains("    linsep train 'it'\\''s' --holdout 0.25\n"), "{text}");
}

/// A proof that a run has made is not thrown away: a learner without a penalty asks the exact engine, and so does the report of a
/// perceptron on few rows.
#[test]
fn a_verdict_that_is_known_is_said() {
    let folder = real();
    for (arguments, verdict) in [
        ("--positive versicolor --penalty none", "the classes are not linearly separable, proved"),
        (
            "--positive versicolor --learner perceptron",
            "the classes are not linearly separable, proved, so no perceptron converges",
        ),
        ("--positive setosa --learner logistic", "the classes are linearly separable, proved"),
        ("--learner multiclass", "no weights separate all the classes at once, proved"),
        ("--learner perceptron", "some class is not linearly separable from the rest, proved"),
    ] {
        let ran = folder.linsep(&format!("train iris {arguments} -v")).exits(0);
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(verdict) && !text.contains("either they overlap"), "{arguments}: {text}");
        // Novikoff's theorem says nothing about the others.
        let is_perceptron = arguments.contains("perceptron") || arguments.contains("multiclass");
        assert_eq!(text.contains(" Bound "), is_perceptron, "{arguments}: {text}");
    }
    let record = folder.linsep("train iris --positive versicolor --penalty none --json").exits(0).json();
    assert_eq!(record["margin"]["upper"], 0.0);
    // The best separator of setosa, and what the run proves by itself.
    let line = "train iris --positive setosa --learner perceptron --scale none";
    assert!(
        folder
            .linsep(line)
            .exits(0)
            .out
            .contains("no perceptron from zero makes more than 221 on these rows")
    );
    let record = folder.linsep(&format!("{line} --json")).exits(0).json();
    assert_eq!(record["best"]["verdict"], "complete");
    let [best, own] = [&record["best"]["mistake_bound"]["upper"], &record["mistake_bound"]["upper"]];
    assert!(best.as_f64() < Some(222.0) && own.as_f64() > Some(80_000.0), "{record}");
}

#[test]
fn the_next_steps_run() {
    let folder = real();
    for arguments in
        ["iris --positive setosa -o proof", "cancer -o proof", "iris --classes versicolor,virginica -o proof"]
    {
        let ran = folder.linsep(&format!("separate {arguments}"));
        let steps: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("    linsep ")).collect();
        assert!(steps.len() >= 2 && steps.iter().any(|step| step.starts_with("verify proof ")), "{ran:?}");
        for step in steps {
            let code = i32::from(step.starts_with("separate"));
            folder.linsep(step).exits(code);
        }
    }
}

/// Whatever is offered about a table of counts takes counts.
#[test]
fn the_next_steps_of_counts_run() {
    let folder = Folder::new();
    folder.write("complete.csv", "x,n,kind\n1,3,a\n2,1,a\n3,4,b\n4,5,b\n2.5,2,a\n1.5,1,a\n9,0,a\n");
    folder.write("quasi.csv", "x,n,kind\n1,3,a\n2,1,a\n2,4,b\n4,5,b\n5,2,b\n");
    folder.write("overlap.csv", "x,n,kind\n1,3,a\n2,1,b\n3,4,a\n4,5,b\n2,2,a\n");
    for (name, bias) in ["complete", "quasi", "overlap"]
        .iter()
        .flat_map(|name| ["append", "none", "free"].map(|bias| (name, bias)))
    {
        let ran = folder.linsep(&format!("separate {name}.csv --weights n --bias {bias} -o proof"));
        let steps: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("    linsep ")).collect();
        assert!(steps.len() >= 2 && steps.iter().all(|step| step.contains("--weights n")), "{ran:?}");
        for step in steps {
            let code = i32::from(step.starts_with("separate"));
            folder.linsep(step).exits(code);
        }
    }
}

#[test]
fn few_rows_are_blamed() {
    let folder = Folder::with("data", QUASI);
    let record = folder.linsep("separate data --blame --json").exits(1).json();
    let blame = &record["blame"];
    let rows = blame["rows"].as_array().expect("rows");
    assert!(!rows.is_empty() && rows.len() <= 2, "{blame}");
    assert!(
        blame["at_least"].as_u64().is_some_and(|least| least >= 1 && least <= rows.len() as u64),
        "{blame}"
    );
    assert_eq!(blame["rest"], "complete");
    // Without them the rest is separable, as another run finds too.
    let blamed: Vec<u64> = rows.iter().map(|row| row["line"].as_u64().expect("a line")).collect();
    let rest: Vec<&str> = QUASI
        .lines()
        .enumerate()
        .filter(|(i, _)| !blamed.contains(&(*i as u64 + 1)))
        .map(|(_, line)| line)
        .collect();
    folder.write("rest", rest.join("\n") + "\n");
    let alone = folder.linsep("separate rest --json").exits(0).json();
    assert_eq!(alone["rows"], blame["rest_rows"]);
    let text = flowing(&folder.linsep("separate data --blame").exits(1).out);
    assert!(text.contains("are completely separable, with"), "{text}");
    assert!(!text.contains("--blame"), "{text}");
    // Where only one side would be left, that is no answer; the verdict stands.
    folder.write("equal", "x,kind\n1,a\n1,b\n");
    for bias in ["append", "none", "free"] {
        let text = folder.linsep(&format!("separate equal --blame --bias {bias}")).exits(1).out;
        assert!(text.contains("not separable") && !text.contains("are completely separable"), "{text}");
    }
    // Where nothing stands in the way, nothing is blamed.
    let ran = folder.linsep("separate rest --blame").exits(0);
    ran.says(&["no row needs to be removed"]);
}

/// A certificate with all rows of `data` on one side, and a class that no row has on the other.
fn vacuous(sides: &str) -> String {
    format!(
        "linsep certificate 2\nfingerprint \"\"\nrows 4\nfeatures 1\n{sides}bias append 0x1p0\nverdict complete\n\
         weights 1:SIGN0x1p0\nlower 0x1p-1\nupper 0x1p4\ncombination 0:0x1p0\nat-least 0\nend\n"
    )
}

#[test]
fn a_certificate_of_one_side_shows_nothing() {
    let folder = Folder::with("data", "1 1:1\n2 1:1\n1 1:2\n2 1:3\n");
    for (sign, sides, found, missing) in [
        ("", "positive \"1\"\npositive \"2\"\nnegative \"9\"\n", "+1", "−1"),
        ("-", "positive \"9\"\nnegative \"1\"\nnegative \"2\"\n", "−1", "+1"),
        ("", "positive \"1\"\npositive \"2\"\n", "+1", "−1"),
        ("", "positive \"1\"\nnegative \"9\"\n", "+1", "−1"),
    ] {
        folder.write("proof", vacuous(sides).replace("SIGN", sign));
        let ran = folder.linsep("verify proof data").exits(1);
        let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = format!(
            "Rejected all rows of the certificate's classes are on the side {found}, and none is on the side {missing}: \
             the claim is vacuous"
        );
        assert!(said.starts_with(&why) && said.contains("--allow-one-sided"), "{ran:?}");
        assert_eq!(said.contains("no row has the label 9"), sides.contains('9'), "{ran:?}");
        let record = folder.linsep("verify proof data --json -q").exits(1).json();
        assert_eq!((&record["accepted"], &record["one_sided"]), (&false.into(), &true.into()));

        let ran = folder.linsep("verify proof data --allow-one-sided").exits(0);
        assert!(ran.out.starts_with("Accepted") && ran.out.contains("\nOne side  all rows"), "{ran:?}");
        let record = folder.linsep("verify proof data --allow-one-sided --json -q").exits(0).json();
        assert_eq!((&record["accepted"], &record["one_sided"]), (&true.into(), &true.into()));
    }
    // A false claim stays false, and an honest one is not affected.
    folder.write("proof", vacuous("positive \"1\"\nnegative \"2\"\n").replace("SIGN", ""));
    folder.linsep("verify proof data --allow-one-sided -q").exits(1);
    folder.write("fine", "1 1:1\n2 1:5\n1 1:2\n2 1:6\n");
    folder.linsep("separate fine -o honest -q").exits(0);
    let record = folder.linsep("verify honest fine --json -q").exits(0).json();
    assert_eq!((&record["accepted"], &record["one_sided"]), (&true.into(), &false.into()));
    // No side can be named that no row has.
    folder.linsep("separate data --positive 9 -o new").exits(2).says(&["9"]);
    folder.linsep("separate data --classes 1,9 -o new").exits(2).says(&["9"]);
    assert!(!folder.has("new"));
}

#[test]
fn claims_about_columns_are_told() {
    let folder = Folder::with("data", "x,y,kind\n2,1,yes\n3,3,yes\n0,1,no\n");
    let page = include_str!("../../../docs/certificate.md");
    let text = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    folder.write("proof", text);
    let ran = folder.linsep("verify proof data").exits(0);
    let said = flowing(&ran.out);
    assert!(
        said.contains("of the coefficients, 1 infinite with an open sign; 1 set of columns separates alone"),
        "{ran:?}"
    );
    assert!(said.contains("at least 1 column is needed to separate"), "{ran:?}");
    assert!(said.contains("the linsep-check library, on the rows as linsep read them"), "{ran:?}");
    folder.write("proof", text.replace("open 1 0 1", "open 1 1 0"));
    let ran = folder.linsep("verify proof data").exits(1);
    assert!(flowing(&ran.out).contains("the claim about the coefficient at place 1 is not shown"), "{ran:?}");
}

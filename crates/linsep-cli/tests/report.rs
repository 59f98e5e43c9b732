//! The promise of `linsep report`: one page that needs nothing from elsewhere, with the numbers of the other commands, on which
//! names from a data file are text.

use crate::common::{Folder, Ran};

/// The page without its style, checked for what must not be in it.
#[track_caller]
fn checked(page: &str) -> String {
    for forbidden in [
        "http:",
        "https:",
        "<script",
        "<img",
        "<iframe",
        "<link",
        "@import",
        "src=",
        "javascript:",
        "onload=\"",
        "onerror=\"",
    ] {
        assert!(!page.contains(forbidden), "{forbidden} is in the page");
    }
    assert!(
        page.contains("default-src 'none'")
            && page.contains("prefers-color-scheme:dark")
            && page.contains("@media print")
    );
    // Links stay on the page.
    for link in page.split("href=\"").skip(1) {
        let target = link.split('"').next().unwrap_or_default();
        assert!(
            page.contains(&format!("id=\"{}\"", target.trim_start_matches('#'))) && target.starts_with('#'),
            "{target}"
        );
    }
    // What scrolls is reached by keys.
    assert_eq!(page.matches("<pre").count(), page.matches("<pre tabindex=\"0\">").count());
    // A page is XML but for its doctype and its empty elements.
    let xml =
        page.replace("<!doctype html>", "").replace("<meta charset=\"utf-8\">", "<meta charset=\"utf-8\"/>");
    let xml: String = xml
        .lines()
        .map(|line| {
            if line.starts_with("<meta ") && !line.ends_with("/>") {
                format!("{}/>\n", line.trim_end_matches('>'))
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}"));
    // No two elements share an id.
    let mut ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for node in document.descendants() {
        assert!(
            node.attributes().all(|attribute| !attribute.name().starts_with("on")),
            "{:?}",
            node.tag_name()
        );
    }
    let is_style =
        |node: &roxmltree::Node<'_, '_>| node.parent().is_some_and(|parent| parent.has_tag_name("style"));
    let texts = document.descendants().filter(|node| node.is_text() && !is_style(node));
    texts.filter_map(|node| node.text()).collect::<Vec<_>>().join("\n").replace('\u{a0}', " ")
}

#[test]
fn a_page_tells_what_the_commands_tell() {
    let folder = Folder::with_iris("iris.csv");
    let of = "iris.csv --classes versicolor,virginica";
    folder.linsep(&format!("report {of} -o page.html -q")).exits(0);
    let seen = checked(&folder.text("page.html"));
    for section in [
        "In short",
        "The data",
        "Comparison of learners",
        "How good the model is",
        "The model",
        "The worst mistakes",
        "Can a boundary separate the classes?",
        "The convergence proof on this data",
        "How to reproduce this report",
    ] {
        assert!(seen.contains(section), "{section}");
    }
    let record = |line: &str| folder.linsep(&format!("{line} --json -q")).json();
    // The held-out error with its interval, as train gives it.
    let trained = record(&format!("train {of} --holdout 0.25 --probabilities"));
    let held_out = &trained["holdout"];
    let (errors, rows) = (&held_out["errors"], &held_out["rows"]);
    let error = 100.0 * held_out["error"].as_f64().expect("an error");
    assert!(
        seen.contains(&format!("{error:.2} % ({errors} of {rows}; 95 % interval ")),
        "{errors} {rows} {seen}"
    );
    assert!(seen.contains(&format!("AUC {:.4}", held_out["auc"].as_f64().expect("an AUC"))), "{seen}");
    let loss = held_out["probabilities"]["log_loss"].as_f64().expect("a loss");
    assert!(seen.contains(&format!("log loss {loss:.4}")), "{seen}");
    // Learners as compare has them.
    let compared = record(&format!("compare {of}"));
    for entry in compared["learners"].as_array().expect("learners") {
        // Max-margin has no model on rows that overlap.
        let Some(value) = entry["value"].as_f64() else { continue };
        assert!(seen.contains(&format!("{:.2} %", 100.0 * value)), "{entry}");
    }
    // The verdict with its rows, as separate has it.
    let decided = record(&format!("separate {of}"));
    assert_eq!(decided["verdict"], "overlap");
    for row in decided["witness_rows"].as_array().expect("rows") {
        let share = 100.0 * row["share"].as_f64().expect("a share");
        assert!(
            seen.contains(&format!("iris.csv:{}", row["line"])) && seen.contains(&format!("{share:.2} %")),
            "{row}"
        );
    }
    // The page has no option that would save the certificate; a command has.
    assert!(!seen.contains("name a file with --output") && seen.contains(" -o CERTIFICATE"), "{seen}");
    // The proof, as train of a perceptron has it.
    let followed = record(&format!("train {of} --learner perceptron"));
    assert!(
        seen.contains(&format!("iris.csv: {}", grouped(followed["updates"].as_u64().expect("updates")))),
        "{seen}"
    );
    // What makes it again: version, fingerprint and specification, which makes the same model.
    assert!(seen.contains(&format!("linsep {}", env!("CARGO_PKG_VERSION"))));
    let fingerprint = trained["fingerprint"].as_str().expect("a fingerprint");
    assert!(seen.contains(&format!("fingerprint {fingerprint}")) && !seen.contains("Trained on"), "{seen}");
    let spec = seen.split("job = \"train\"").nth(1).expect("a specification");
    let spec = format!(
        "job = \"train\"{}",
        spec.split("To repeat the proof and the verdict").next().unwrap_or_default()
    );
    folder.write("job.toml", spec);
    folder.linsep("train --spec job.toml -o again.model -q").exits(0);
    folder.linsep(&format!("train {of} --holdout 0.25 --probabilities -o own.model -q")).exits(0);
    assert_eq!(folder.model("again.model"), folder.model("own.model"));
    // The same page from the same rows.
    let printed = folder.linsep(&format!("report {of} -q --threads 1")).exits(0);
    assert_eq!(printed.out, folder.text("page.html"));
}

fn grouped(number: u64) -> String {
    linsep::numbers::grouped(number)
}

#[test]
fn worst_mistakes_have_their_lines() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("train iris.csv --positive virginica --learner logistic -o v.model -q").exits(0);
    folder.linsep("report iris.csv --positive virginica --model v.model -o page.html -q").exits(0);
    let page = folder.text("page.html");
    let seen = checked(&page);
    assert!(seen.contains("v.model on iris.csv") && seen.contains("rows that it was trained on"), "{seen}");
    assert!(!seen.contains("Comparison of learners"));
    let judged = folder.linsep("evaluate v.model iris.csv --json -q").exits(0).json();
    assert!(seen.contains(&format!("{} mistakes", judged["errors"])), "{seen}");
    // Each line of the table is a row that predict labels otherwise than the file.
    let predicted = folder.linsep("predict v.model iris.csv --csv -q").exits(0).out;
    let irises = folder.text("iris.csv");
    let wrong: Vec<u64> = predicted
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut cells = line.split(',');
            let (number, label) = (cells.next()?.parse::<u64>().ok()?, cells.next()?);
            let is = irises.lines().nth(number as usize - 1)?.rsplit(',').next()?;
            ((is == "virginica") != (label == "virginica")).then_some(number)
        })
        .collect();
    let table = page
        .split("<section id=\"mistakes\">")
        .nth(1)
        .and_then(|rest| rest.split("</section>").next())
        .expect("mistakes");
    for line in &wrong {
        assert!(table.contains(&format!("<td class=\"n\">{line}</td>")), "{line} {table}");
    }
    assert_eq!(table.matches("<tr><td").count(), wrong.len());
}

/// What is not known of rows is not claimed: neither that a model has learned from them, nor that it has not.
#[test]
fn a_given_model_is_judged_on_what_is_known_of_the_rows() {
    let folder = Folder::new();
    let row = |i: u64| {
        format!("{},{},{}\n", i * 7 % 23, i * 5 % 11, if i * 7 % 23 > 9 + i % 4 { "yes" } else { "no" })
    };
    let table = |rows: u64| format!("a,b,label\n{}", (0..rows).map(row).collect::<String>());
    folder.write("sixty.csv", table(60));
    folder.write("forty.csv", table(40));
    for (train, claims, denies) in [
        (
            "forty.csv",
            "of 60 rows of this file (95 % interval",
            vec!["was not trained on", "rows that it was trained on", "held out"],
        ),
        (
            "sixty.csv --holdout 0.3",
            "of the rows that it was trained on together with those that were held out",
            vec!["was not trained on", "rows that it was trained on, which"],
        ),
        ("sixty.csv", "of the rows that it was trained on, which", vec!["was not trained on", "held out"]),
    ] {
        folder.linsep(&format!("train {train} --learner logistic -o m.model -q")).exits(0);
        let page = folder.linsep("report sixty.csv --model m.model -q").exits(0).out;
        let seen = checked(&page);
        let short = seen.split("The data").nth(1).expect("In short");
        assert!(short.contains(claims), "{train}: {short}");
        let quality = seen.split("How good the model is").nth(2).expect("quality");
        for text in [short, quality.split("AUC").next().unwrap_or_default()] {
            assert!(denies.iter().all(|claim| !text.contains(claim)), "{train}: {text}");
        }
        // As evaluate does.
        let judged = folder.linsep("evaluate m.model sixty.csv --json -q").exits(0).json();
        assert_eq!(judged["training_rows"] == true, train.starts_with("sixty"), "{judged}");
        assert_eq!(judged["held_out_rows"] == true, train.contains("holdout"), "{judged}");
    }
    let seen = checked(&folder.linsep("report sixty.csv -q").exits(0).out);
    assert!(seen.contains("held-out rows, which it was not trained on (95 % interval"), "{seen}");
}

#[test]
fn the_page_and_its_figure_count_the_same_learners() {
    let folder = Folder::with_iris("iris.csv");
    let page = folder.linsep("report iris.csv --classes versicolor,virginica -q").exits(0).out;
    let seen = checked(&page).split_whitespace().collect::<Vec<_>>().join(" ");
    let counts: Vec<&str> =
        seen.match_indices(" with a model (1 has none)").map(|(at, _)| &seen[at - 12..at]).collect();
    assert!(counts.len() > 2 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

#[test]
fn many_classes_one_feature_and_hostile_names_make_pages_too() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("report iris.csv -o many.html -q").exits(0);
    let seen = checked(&folder.text("many.html"));
    assert!(seen.contains("against the rest") && seen.contains("completely separable"), "{seen}");
    assert!(seen.contains("not separable: 6 rows cannot all be on their right sides"), "{seen}");
    assert!(
        seen.contains("To repeat the verdict:") && !seen.contains("To repeat the proof and the verdict:"),
        "{seen}"
    );
    let name = "<svg onload=alert(2)>.csv";
    let hostile = "</style><script>alert(1)</script>";
    let mut table = format!("\"{hostile}\",label\n");
    for i in 0..40 {
        table.push_str(&format!("{},\"<b onclick=alert({})>\"\n", i % 9, (i % 9 > 4) as u8));
    }
    folder.write(name, table);
    let mut command = folder.command("report");
    command.args([name, "-o", "hostile.html", "-q"]);
    Ran::new("report", command.output().expect("run linsep")).exits(0);
    let seen = checked(&folder.text("hostile.html"));
    assert!(seen.contains(hostile) && seen.contains("<b onclick=alert(1)>") && seen.contains(name), "{seen}");
}

/// Missing cells of words are counted with those of numbers, each column by name.
#[test]
fn missing_cells_are_counted() {
    let mut table = "age,town,label\n".to_string();
    for i in 0..60 {
        let age = if i % 10 == 3 { String::new() } else { (20 + i * 7 % 40).to_string() };
        let town = ["", "Bern", "Basel", "Chur"][i % 4];
        table.push_str(&format!("{age},{town},{}\n", if i * 7 % 40 > 20 { "yes" } else { "no" }));
    }
    let folder = Folder::with("rows.csv", table);
    let told = |options: &str| {
        let seen = checked(&folder.linsep(&format!("report rows.csv --time 2 {options} -q")).exits(0).out);
        seen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let seen = told("");
    assert!(seen.contains("21 cells: 15 in “town”, 6 in “age”; a missing number becomes the mean"), "{seen}");
    assert!(told("--missing zero").contains("6 in “age”; a missing number becomes zero"));
    folder.linsep("train rows.csv -o m.model -q").exits(0);
    // That a number is missing is so or not, and no line between.
    let effects = folder.linsep("inspect m.model --effects --json -q").exits(0).json()["effects"].clone();
    let effects = effects.as_array().expect("effects");
    let of_gap = |one: &&serde_json::Value| one["words"][0]["word"] == "" && one["column"] != "town";
    assert_eq!(effects.iter().filter(of_gap).count(), 1, "{effects:?}");
    let seen = told("--model m.model");
    assert!(
        seen.contains(
            "21 cells: 15 in “town”, 6 in “age”; they are filled in as the model was trained to do"
        ),
        "{seen}"
    );
    // A column with hardly a gap has no feature for it.
    let mut lines: Vec<String> = folder.text("rows.csv").lines().map(|line| format!("1,{line}")).collect();
    lines[0] = lines[0].replacen('1', "size", 1);
    lines[1] = lines[1].replacen('1', "", 1);
    folder.write("more.csv", lines.join("\n"));
    let told_of = |file: &str, options: &str| {
        let line = format!("report {file} --time 2 {options} -q");
        checked(&folder.linsep(&line).exits(0).out).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let seen = told_of("more.csv", "");
    let mean = "1 in “size”; a missing number becomes the mean of its column; ";
    assert!(seen.contains(&format!("{mean}in “age” an additional feature marks it as missing; ")), "{seen}");
    let seen = told_of("more.csv", "--ignore age,town");
    assert!(seen.contains("becomes the mean of its column") && !seen.contains("says that it was"), "{seen}");
    // A cache has them too.
    folder.linsep("convert rows.csv rows.linsep --missing mean -q").exits(0);
    let page = folder.linsep("report rows.linsep --time 2 -q").exits(0).out;
    assert!(checked(&page).contains("21 cells: 15 in “town”, 6 in “age”\n"), "{page}");
}

/// With a model, the figures and the verdict are about the label and the columns that it knows.
#[test]
fn a_given_model_says_which_column_is_the_label() {
    let mut table = "kind,name,size,year\n".to_string();
    for i in 0..40 {
        table.push_str(&format!(
            "{},n{i},{},{}\n",
            if i % 10 > 4 { "old" } else { "new" },
            i % 10,
            2000 + i % 3
        ));
    }
    let folder = Folder::with("rows.csv", table);
    folder.linsep("train rows.csv --label kind --ignore name -o m.model -q").exits(0);
    let told = |file: &str| {
        let seen = checked(&folder.linsep(&format!("report {file} --model m.model -q")).exits(0).out);
        seen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let seen = told("rows.csv");
    assert!(seen.contains("The classes class rows share new 20 50.00 % old 20 50.00 %"), "{seen}");
    assert!(
        seen.contains("The classes are proved to be completely separable") && !seen.contains("name=n1"),
        "{seen}"
    );
    let command =
        "linsep separate rows.csv --time 60 --columns usual --label kind --missing auto -o CERTIFICATE";
    assert!(seen.contains(command), "{seen}");
    // A file without the column that is left out does as well.
    let without: Vec<String> = folder
        .text("rows.csv")
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.remove(1);
            cells.join(",")
        })
        .collect();
    folder.write("few.csv", without.join("\n"));
    assert!(told("few.csv").contains("The classes are proved to be completely separable"));
}

/// Columns that came after the model was trained have no part in the verdict, whether or not others are ignored by name.
#[test]
fn a_verdict_is_about_the_columns_of_the_model() {
    let row = |i: u64| (i * 7 % 23, i * 5 % 11, if i.is_multiple_of(3) { "yes" } else { "no" });
    let old: String = (0..60).map(row).map(|(a, b, label)| format!("{a},{b},{label}\n")).collect();
    let folder = Folder::with("old.csv", format!("a,b,label\n{old}"));
    let new = (0..60).map(row).enumerate();
    let new: String =
        new.map(|(i, (a, b, label))| format!("{a},{i},{b},{},{label}\n", u8::from(label == "yes"))).collect();
    folder.write("new.csv", format!("a,number,b,truth,label\n{new}"));
    folder.linsep("train old.csv --learner logistic -o m.model -q").exits(0);
    let decided = folder.linsep("separate old.csv --json -q").json();
    assert_eq!(decided["verdict"], "overlap");
    for (options, ignored) in [("", "truth"), (" --ignore truth", "truth")] {
        let page = folder.linsep(&format!("report new.csv --model m.model{options} -q")).exits(0).out;
        let seen = checked(&page).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(seen.contains("The classes are proved not to be separable"), "{seen}");
        let command =
            format!("linsep separate new.csv --time 60 --columns usual --label label --ignore {ignored}");
        assert!(seen.contains(&command) && seen.contains("Features 2,"), "{seen}");
    }
}

/// Margins say which features they are of.
#[test]
fn margins_name_their_features() {
    let folder = Folder::with_iris("iris.csv");
    let told = |options: &str| {
        let line = format!("report iris.csv --positive setosa --time 2 {options} -q");
        let seen = checked(&folder.linsep(&line).exits(0).out);
        seen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let seen = told("--scale standard");
    assert_eq!(seen.matches("; of the scaled features").count(), 2, "{seen}");
    assert!(
        seen.contains(", in the units of the file.")
            && seen.contains("Its margins are in the units of the file")
    );
    let seen = told("--scale none");
    assert!(!seen.contains("of the scaled features") && !seen.contains("those of the model above"), "{seen}");
    // Kernels have a space of their own, for several classes too.
    let margin = |options: &str| {
        let ran = folder.linsep(&format!("train iris.csv -v --learner kernel {options}")).exits(0).out;
        ran.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(margin("--positive setosa").contains("(in the space of the kernel)"));
    let many = margin("");
    assert!(many.contains("all classes against the rest, in the space of the kernel)"), "{many}");
    let record = folder.linsep("train iris.csv --learner kernel --json -q").exits(0).json();
    assert_eq!(record["margin"]["kind"], "kernel-one-against-rest");
}

#[test]
fn what_cannot_be_reported_is_said() {
    let folder = Folder::with_iris("iris.csv");
    let before = folder.names();
    folder.linsep("report iris.csv -o page.pdf").exits(2).says(&["page.pdf", ".html"]);
    folder.linsep("report - -o page.html").exits(2).says(&["standard input"]);
    folder.linsep("report none.csv -o page.html").exits(3).says(&["none.csv"]);
    folder.linsep("report iris.csv --model iris.csv -o page.html").exits(3).says(&["iris.csv"]);
    folder.linsep("report iris.csv -o no/page.html").exits(3).says(&["no/page.html"]);
    folder.linsep("report iris.csv --time 0 -o page.html").exits(2).says(&["--time"]);
    assert_eq!(folder.names(), before);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_page() {
    let folder = Folder::new();
    folder.linsep("generate random-labels --rows 400 --features 30 -o data.csv -q").exits(0);
    let line = "report data.csv --epochs 1000000000 -o page.html";
    folder.linsep_interrupted(line).exits(130).says(&["interrupted"]);
    assert_eq!(folder.names(), ["data.csv"]);
}

#[test]
fn a_model_is_judged_on_rows_of_one_class() {
    let folder = Folder::with_iris("iris.csv");
    folder.linsep("train iris.csv --classes versicolor,virginica -o m.model -q").exits(0);
    let text = folder.text("iris.csv");
    let (head, rows) = text.split_once('\n').expect("a header");
    let one: Vec<&str> = rows.lines().filter(|line| line.ends_with("virginica")).collect();
    folder.write("one.csv", format!("{head}\n{}\n", one.join("\n")));
    folder.linsep("report one.csv --model m.model -o page.html -q").exits(0);
    let seen = checked(&folder.text("page.html"));
    assert!(seen.contains("All rows have the same class: there is nothing to separate."), "{seen}");
    assert!(seen.contains("How good the model is") && !seen.contains("linsep separate"), "{seen}");
    // To learn from them makes no sense.
    folder.linsep("report one.csv -o page.html -q").exits(3);
}

/// A name with the end of a line in it, or a tab, stays in its line of a table, on the page and in the terminal.
#[test]
fn control_characters_in_class_names_are_spelled_out_in_tables() {
    let folder = Folder::new();
    let rows: String = (0..24)
        .map(|i| format!("{},{},{}\n", i % 7, (i * 5) % 11, if i % 2 == 0 { "\"a\nb\"" } else { "\"c\td\"" }))
        .collect();
    folder.write("names.csv", format!("x,y,kind\n{rows}"));
    folder.linsep("report names.csv -q -o page.html").exits(0);
    let page = folder.text("page.html");
    let matrix =
        page.split("Confusion matrix").nth(1).and_then(|rest| rest.split("</pre>").next()).expect("a matrix");
    let lines: Vec<&str> = matrix.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{matrix}");
    assert!(lines[0].contains("a\\nb") && lines[0].contains("c\\td"), "{matrix}");
    assert!(
        lines[1].trim_start().starts_with("a\\nb") && lines[2].trim_start().starts_with("c\\td"),
        "{matrix}"
    );
    folder.linsep("train names.csv --holdout 0.25 -o m.model -q").exits(0);
    let told = folder.linsep("evaluate m.model names.csv").exits(0).out;
    let matrix = told.split("Confusion matrix").nth(1).expect("a matrix");
    assert_eq!(matrix.lines().filter(|line| line.contains('%')).count(), 2, "{told}");
}

//! Mail, text, pictures and tables in the ways that people give them: through pipes, without the last newline, without the
//! label, in the wrong form.

use crate::common::{Folder, HAM, Ran, SPAM, gzip};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Messages with their labels, as a table without a header.
fn table(folder: &Folder, name: &str) {
    let rows = SPAM.iter().map(|text| ("spam", text)).chain(HAM.iter().map(|text| ("ham", text)));
    let rows = rows.cycle().take(24).enumerate();
    folder.write(name, rows.map(|(i, (class, text))| format!("{class}\t{text}, n{i}\n")).collect::<String>());
}

/// Runs the program with a file as its standard input.
fn with_file(folder: &Folder, line: &str, file: &str) -> Ran {
    let input = File::open(folder.path(file)).expect("input");
    Ran::new(line, folder.command(line).stdin(input).output().expect("run linsep"))
}

#[test]
fn the_last_line_need_not_end() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    folder.linsep_with_input("predict texts -", b"a free prize").exits(0).prints("spam\n");
    folder
        .linsep_with_input("predict texts - --csv", b"lunch\na free prize")
        .exits(0)
        .tells(&["1,ham,", "2,spam,"]);
    folder.write("rows.csv", "x,y,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n");
    folder.linsep("train rows.csv -o table -q").exits(0);
    folder.linsep_with_input("predict table -", b"x,y\n1,5\n5,1").exits(0).prints("a\nb\n");
    folder.write("rows.svm", "a 1:1 2:2\nb 1:2 2:1\na 1:1 2:3\nb 1:3 2:1\n");
    folder.linsep("train rows.svm -o numbered -q").exits(0);
    folder.linsep_with_input("predict numbered -", b"1:1 2:5\n1:5 2:1").exits(0).prints("a\nb\n");
}

#[test]
fn json_lines_and_vowpal_wabbit_come_through_pipes() {
    let folder = Folder::new();
    folder.write(
        "rows.jsonl",
        "{\"x\": 1, \"y\": 2, \"k\": \"a\"}\n{\"x\": 2, \"y\": 1, \"k\": \"b\"}\n{\"x\": 1, \"y\": 3, \"k\": \"a\"}\n\
         {\"x\": 3, \"y\": 1, \"k\": \"b\"}\n",
    );
    folder.linsep("train rows.jsonl -o json -q").exits(0);
    folder.write("rows.vw", "1 |f x:1 y:2\n-1 |f x:2 y:1\n1 |f x:1 y:3\n-1 |f x:3 y:1\n");
    folder.linsep("train rows.vw -o vw -q").exits(0);
    for (model, file, format) in [("json", "rows.jsonl", "jsonl"), ("vw", "rows.vw", "vw")] {
        let labels = folder.linsep(&format!("predict {model} {file}")).exits(0).out;
        let input = folder.read(file);
        for line in [format!("predict {model} -"), format!("predict {model} - --format {format}")] {
            folder.linsep_with_input(&line, &input).exits(0).prints(&labels);
            folder.linsep_with_input(&line, input.trim_ascii_end()).exits(0).prints(&labels);
            with_file(&folder, &line, file).exits(0).prints(&labels);
        }
    }
    // A key that earlier rows had may be missing later: that is a missing cell.
    let rows = b"{\"x\": 1, \"y\": 5}\n";
    folder.linsep_with_input("predict json -", rows).exits(0).prints("a\n");
    folder.linsep_with_input("predict json -", b"{\"x\": 1}\n").exits(3).tells(&["\"y\""]);
}

#[test]
fn lines_of_text_mean_the_same_from_a_file_as_from_a_pipe() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    let lines = "a free prize, and more, now\nlunch \"today, at noon\nthe meeting\n";
    folder.write("lines.txt", lines);
    folder.linsep_with_input("predict texts -", lines.as_bytes()).exits(0).prints("spam\nham\nham\n");
    with_file(&folder, "predict texts -", "lines.txt").exits(0).prints("spam\nham\nham\n");
}

#[test]
fn a_model_of_texts_in_a_table_takes_texts_without_labels() {
    let folder = Folder::new();
    table(&folder, "rows");
    folder.linsep("train rows --label 1 -o model -q").exits(0);
    folder.write("few.tsv", "win a free prize now\nok, see you\n");
    folder.linsep("predict model few.tsv").exits(0).prints("spam\nham\n");
    let texts: String = SPAM.iter().chain(&HAM).map(|text| format!("{text}, so 6\" it is, yes\n")).collect();
    folder.write("all.tsv", &texts);
    let labels = "spam\n".repeat(4) + &"ham\n".repeat(4);
    folder.linsep("predict model all.tsv").exits(0).prints(&labels);
    folder.linsep_with_input("predict model -", texts.as_bytes()).exits(0).prints(&labels);
    with_file(&folder, "predict model -", "all.tsv").exits(0).prints(&labels);
    // Nor does it matter whether a name tells what divides the rows.
    folder.write("all", &texts);
    folder.linsep("predict model all").exits(0).prints(&labels);
    folder.linsep("evaluate model rows").exits(0).tells(&["0.00 %"]);
}

#[test]
fn a_model_of_documents_asks_which_column_is_the_text() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    table(&folder, "rows.tsv");
    folder.linsep("predict texts rows.tsv").exits(2).tells(&[
        "the model was trained on documents",
        "this table has 2 columns",
        "--text",
    ]);
    let labels = ("spam\n".repeat(4) + &"ham\n".repeat(4)).repeat(3);
    folder.linsep("predict texts rows.tsv --text 2").exits(0).prints(&labels);
    folder.linsep("evaluate texts rows.tsv --text 2 --label 1").exits(0).tells(&["0.00 %"]);
    folder.linsep("evaluate texts rows.tsv --text 2").exits(2).tells(&["trained on documents", "--label"]);
    folder.write("one.csv", "note\na free prize\nlunch at noon\n");
    folder.linsep("predict texts one.csv --header yes").exits(0).prints("spam\nham\n");
    folder
        .linsep("predict texts mails --text 2")
        .exits(2)
        .tells(&["the model stores how texts become features"]);
}

#[test]
fn what_is_shown_of_other_learners_is_said() {
    let folder = Folder::new();
    folder.write("rows.csv", "x,y,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n");
    folder.linsep("train rows.csv --learner voted -o voted -q").exits(0);
    folder
        .linsep("predict voted rows.csv --explain")
        .exits(0)
        .tells(&["is not a sum over features", "left out"]);
    folder.linsep("train rows.csv --learner perceptron -o linear -q").exits(0);
    let told = folder.linsep("predict linear rows.csv --explain").exits(0);
    assert!(!told.out.contains("is not a sum"), "{told:#?}");
}

#[test]
fn the_demonstration_has_words_for_each_of_many_classes() {
    let folder = Folder::with_texts();
    folder.write_texts("mails/work", &["the report of the project is due"; 4]);
    let told = folder.linsep("demo mail mails").exits(0);
    for class in ["spam", "ham", "work"] {
        assert!(told.out.contains(&format!("  for {class}: ")), "{told:#?}");
    }
    for line in told.out.lines().filter(|line| line.contains(" speaks ")) {
        assert_eq!(line.contains(" +"), line.contains("is evidence for"), "{line}");
    }
    fs::create_dir_all(folder.path("pictures/a")).expect("folder");
    folder.write("pictures/a/1.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    folder.linsep("demo mail pictures").exits(3).tells(&["1.png: this is not a text"]);
    folder.linsep("train pictures --words a1").exits(2).tells(&["--words does not apply to picture files"]);
}

/// Every sentence of the demonstration is true of the folder that it is given.
#[test]
fn the_demonstration_says_what_is_so_of_odd_folders() {
    let folder = Folder::with_texts();
    // Texts without either word, of which a quarter of each class is more than a quarter.
    folder.write_texts("none/a", &["cheap watches", "watches now", "now cheap", "cheap now", "watches"]);
    folder.write_texts("none/b", &HAM);
    let told = folder.linsep("demo mail none").exits(0).tells(&[
        "9 mails, classes a, b; ",
        "All of them are at the origin",
        "of the held-out mails wrong",
    ]);
    assert!(!told.out.contains(" is evidence for ") && !told.out.contains("quarter"), "{told:#?}");
    folder.linsep("demo mail mails").exits(0).tells(&["4 of them are at the origin"]);
    // All have one of the words, and no word is in two of those that are learned from.
    folder.write_texts("all/a", &["loan one", "loan two"]);
    folder.write_texts("all/b", &["prize three", "prize four"]);
    folder.linsep("demo mail all").exits(0).tells(&[
        "4 mails, classes a, b; 2 for training, 2 held out",
        "None is at the origin",
        "  0 words for 2 training mails",
        "  for a: none",
    ]);
    // With fewer words than mails, nothing is said about more.
    folder.write_texts("long/a", &["free loan"; 12]);
    folder.write_texts("long/b", &["at noon"; 12]);
    let told = folder.linsep("demo mail long").exits(0).tells(&["12 of them are at the origin"]);
    assert!(!told.out.contains("at least as many words"), "{told:#?}");
    folder.write_texts("alone/a", &SPAM);
    folder.linsep("demo mail alone").exits(3).says(&["training needs two classes"]);
}

#[test]
fn importances_count_like_weights() {
    let folder = Folder::new();
    let rows = [(1, 3, 1, 2), (-1, 2, 2, 1), (1, 1, 1, 3), (-1, 5, 3, 1), (1, 2, 3, 2), (-1, 1, 1, 4)];
    let vw = rows.map(|(label, times, x, y)| format!("{label} {times} |f x:{x} y:{y}\n")).concat();
    folder.write("rows.vw", vw);
    let csv = rows.map(|(label, times, x, y)| format!("{x},{y},{times},{label}\n")).concat();
    folder.write("rows.csv", format!("f^x,f^y,times,label\n{csv}"));
    let of = |line: &str| folder.linsep(line).exits(0).json();
    let (vw, csv) = (
        of("train rows.vw --scale none --learner averaged -o vw --json"),
        of("train rows.csv --scale none --learner averaged --weights times -o csv --json"),
    );
    for key in ["training_error", "examples", "mistakes"] {
        assert_eq!(vw["evidence"][key], csv["evidence"][key], "{key}");
    }
    assert_eq!(vw["classes"], csv["classes"]);
    let (vw, csv) = (of("evaluate vw rows.vw --json"), of("evaluate csv rows.csv --weights times --json"));
    for key in ["rows", "errors", "error"] {
        assert_eq!(vw[key], csv[key], "{key}");
    }
}

#[test]
fn the_name_of_a_file_decides_what_its_bars_mean() {
    let folder = Folder::new();
    folder.write("bad.vw", "1 |a x\n-1 |a y\n1:2.0 2:1.0 |a x\n");
    folder.linsep("train bad.vw").exits(3).tells(&["bad.vw:3:"]);
}

#[test]
fn mailboxes_may_be_compressed_and_must_have_mails() {
    let folder = Folder::with_texts();
    fs::create_dir(folder.path("boxes")).expect("folder");
    for (class, texts) in [("spam", SPAM), ("ham", HAM)] {
        let mail =
            |text: &&str| format!("From x Mon Jan 1\nSubject: {text}\nFrom: y\n\n{text}\nFrom here\n\n");
        folder.write(
            &format!("boxes/{class}.mbox.gz"),
            gzip(texts.iter().map(mail).collect::<String>().as_bytes()),
        );
    }
    folder.linsep("train boxes -o model").exits(0).tells(&["ham (4 rows)", "spam (4 rows)"]);
    folder.linsep("predict model boxes/spam.mbox.gz").exits(0).prints("spam\nspam\nspam\nspam\n");
    folder.write("boxes/zz.mbox", "");
    folder.linsep("train boxes").exits(3).tells(&["zz.mbox", "it has no mails"]);
}

#[test]
#[cfg(unix)]
fn names_do_not_command_the_terminal() {
    let folder = Folder::new();
    folder.write_texts("mails/spam\n\u{1b}[31m", &SPAM);
    folder.write_texts("mails/ham", &HAM);
    let told = folder.linsep("train mails -o model").exits(0);
    assert!(!told.out.contains('\u{1b}') && !told.err.contains('\u{1b}'), "{told:#?}");
    folder.linsep_with_input("predict model -", b"free prize\n").exits(0).prints("spam\\n\\u{1b}[31m\n");
    let told = folder.linsep("predict model mails").exits(0);
    assert!(!told.out.contains('\u{1b}') && told.out.lines().count() == 8, "{told:#?}");
}

#[test]
fn help_speaks_of_what_was_given() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    folder.write("cat.jpg", b"\xff\xd8\xff\xe0");
    let told = folder.linsep("predict texts cat.jpg").exits(3);
    assert!(!told.err.contains("leave out the options"), "{told:#?}");
    table(&folder, "rows.tsv");
    let told = folder.linsep("predict texts rows.tsv").exits(2);
    assert!(told.err.contains("--text") && !told.err.contains("help:"), "{told:#?}");
    folder.write("empty.csv", "");
    folder.linsep("predict texts empty.csv").exits(3).says(&["at least one row; for training"]);
    folder
        .linsep("train mails --min-count 100000")
        .says(&["no term of the texts occurs in at least 100,000 rows (--min-count)"]);
    folder.linsep("train mails --words prize,zzz").says(&["no text has \"zzz\" (--words)"]);
}

#[test]
fn a_date_that_is_none_counts_as_missing() {
    let folder = Folder::new();
    let rows = (1..=24).map(|i| format!("2020-01-{i:02},1,{}\n", if i > 12 { "late" } else { "early" }));
    folder.write("rows.csv", format!("day,x,kind\n{}", rows.collect::<String>()));
    folder.linsep("train rows.csv -o model -q").exits(0);
    for cell in ["not-a-date", "2020-02-30", "05/05/2020"] {
        folder.write("new.csv", format!("day,x\n2020-01-02,1\n{cell},1\n"));
        folder
            .linsep("predict model new.csv")
            .exits(0)
            .says(&[&format!("such as \"{cell}\" on line 3: counted as missing")]);
    }
}

/// Texts that leave no features: the bias alone is learned, by every learner that can.
#[test]
fn no_learner_needs_a_feature() {
    let folder = Folder::with_texts();
    for learner in linsep::train::learners() {
        let name = learner.name;
        let ran = folder.linsep(&format!("train mails --min-count 9999 --learner {name} -o model"));
        assert!(matches!(ran.code, Some(0 | 1)), "{name}: {:?}", ran.code);
        ran.tells(&["the texts have no features"]);
    }
    folder.linsep("compare mails --min-count 9999 --folds 2").exits(0);
}

#[test]
fn lines_of_text_come_in_any_encoding() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    table(&folder, "rows");
    folder.linsep("train rows --label 1 -o table -q").exits(0);
    let lines = "a free prize, prix d'été\nlunch \"today, at noon\nthe meeting, naïve\n";
    let labels = "spam\nham\nham\n";
    let wide: Vec<u8> = lines.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = lines.chars().map(|c| c as u8).collect();
    let marked = [b"\xff\xfe", wide.as_slice()].concat();
    for input in [format!("\u{feff}{lines}").into_bytes(), marked, wide.clone(), latin.clone()] {
        for model in ["texts", "table"] {
            folder.linsep_with_input(&format!("predict {model} -"), &input).exits(0).prints(labels);
            folder.write("input", &input);
            with_file(&folder, &format!("predict {model} -"), "input").exits(0).prints(labels);
        }
    }
    folder.linsep_with_input("predict texts -", &latin).says(&["Line 1 is not UTF-8", "--encoding"]);
    folder.linsep_with_input("predict texts - --encoding utf-16le", &wide).exits(0).prints(labels);
    // Compressed lines are lines too, and what is no text is an error.
    folder.linsep_with_input("predict texts -", &gzip(lines.as_bytes())).exits(0).prints(labels);
    folder.linsep_with_input("predict texts -", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").exits(3);
}

/// The first rows that are not ASCII decide for all, as they do in a file.
#[test]
fn the_encoding_of_a_table_stays_what_it_is() {
    let folder = Folder::new();
    folder.write("rows.csv", format!("word,x,kind\n{}", "да,1,a\näà,1,b\ngroße,1,c\n".repeat(6)));
    folder.linsep("train rows.csv -o model -q").exits(0);
    let mut child = folder.start(folder.command("predict model -").stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("pipe")).lines();
    // By itself, the last row would be taken for one in windows-1252.
    let cyrillic = b"\xfd\xf2\xee \xe1\xfb\xeb\xee \xe4\xe0\xe2\xed\xee \xe8 \xed\xe5\xef\xf0\xe0\xe2\xe4\xe0 \xea\xe0\xea \xe3\xee\xe2\xee\xf0\xff\xf2 \xeb\xfe\xe4\xe8,1\n";
    for (rows, answer) in [(&b"word,x\nplain,1\n"[..], "c"), (cyrillic, "c"), (b"\xe4\xe0,1\n", "a")] {
        pipe.write_all(rows).expect("write");
        assert_eq!(answers.next().expect("an answer").expect("text"), answer);
    }
    drop(pipe);
    let told = child.wait_with_output().expect("end");
    let told = String::from_utf8(told.stderr).expect("text");
    assert!(told.contains("The lines are not UTF-8: they are read as windows-1251"), "{told}");
    // Nor does a table that begins so wait for more, or change what it is.
    let rows = [cyrillic, &b"\xe4\xe0,1\n"[..]].concat();
    let told = folder.linsep_with_input("predict model -", &rows).exits(0);
    assert_eq!(told.out, "c\na\n", "{told:#?}");
    folder.linsep_with_input("predict model -", "да,1\n".as_bytes()).exits(0).prints("a\n");
}

#[test]
fn a_model_of_texts_refuses_features() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    table(&folder, "rows");
    folder.linsep("train rows --label 1 -o table -q").exits(0);
    folder.write("rows.vw", "spam |f prize:1 loan\nham |f noon\n");
    folder.write("rows.svm", "spam 1:1 2:1\nham 3:1\n");
    for command in ["predict", "evaluate"] {
        for file in ["rows.vw", "rows.svm"] {
            folder
                .linsep(&format!("{command} texts {file}"))
                .exits(3)
                .says(&["holds features already, and the model was trained on documents: give text files"]);
            folder
                .linsep(&format!("{command} table {file}"))
                .exits(3)
                .says(&["the model was trained on a table with the texts of column"]);
        }
    }
}

#[test]
fn the_name_of_a_file_says_that_bars_are_missing() {
    let folder = Folder::new();
    folder.write("rows.vw", "1\n-1\n");
    folder.linsep("train rows.vw").exits(3).says(&[
        "rows.vw:1:1: there is no bar before the features, in \"1\"",
        "a row without features ends in a bar (1 |)",
        "--format",
    ]);
    // Rows may have no features, if a bar says so.
    folder.write("rows.vw", "1 |\n-1 |f x\n1 |\n-1 |f x\n");
    folder.linsep("train rows.vw").exits(0);
}

#[test]
fn one_bad_date_is_named_where_it_turns_a_column_into_words() {
    let folder = Folder::new();
    for (cell, dates) in [
        ("2024-13-45", "2024-01-"),
        ("31.01.2024", "2024-01-"),
        ("20240131", "2024-01-"),
        ("soon", "2024-01-"),
        ("2024-01-31", "2/"),
    ] {
        let date = |i: usize| match dates {
            "2/" => format!("2/{}/2024", i % 28 + 1),
            _ => format!("{dates}{:02}", i % 28 + 1),
        };
        let row = |i: usize| {
            let day = if i == 20 { cell.to_string() } else { date(i) };
            format!("{day},{},{}\n", i * 7 % 5, ["a", "b"][i % 2])
        };
        folder.write("rows.csv", format!("day,x,kind\n{}", (0..40).map(row).collect::<String>()));
        let expected =
            format!("but not \"{cell}\" on line 22. Correct the cell; or if it marks a missing value");
        folder
            .linsep("train rows.csv -o model")
            .exits(0)
            .says(&["Column \"day\" is read as words: nearly all its cells are like", &expected]);
        folder
            .linsep(&format!("train rows.csv --na {cell} -o model"))
            .exits(0)
            .says(&["Column \"day\" holds dates"]);
    }
}

#[test]
fn a_model_that_fills_in_refuses_missing_cells_if_told_so() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{},{}\n", i % 7, ["red", "blue", ""][i % 3], ["a", "b"][i % 2]);
    folder.write("rows.csv", format!("x,colour,kind\n{}", (0..24).map(row).collect::<String>()));
    folder.linsep("train rows.csv -o model -q").exits(0);
    for (cells, column) in [(",red", "x"), ("1,", "colour")] {
        folder.write("new.csv", format!("x,colour,kind\n2,blue,b\n{cells},a\n"));
        folder.linsep("predict model new.csv").exits(0);
        for command in ["predict", "evaluate"] {
            folder
                .linsep(&format!("{command} model new.csv --missing refuse"))
                .exits(3)
                .says(&["new.csv:3", &format!("\"{column}\"")]);
        }
        folder.linsep("predict model new.csv --missing drop-row --csv").exits(0).tells(&["\n2,"]);
        let told = folder.linsep("predict model new.csv --missing drop-row --csv").exits(0);
        assert_eq!(told.out.lines().count(), 2, "{told:#?}");
    }
}

#[test]
fn what_a_model_makes_of_missing_cells_is_said() {
    let folder = Folder::new();
    let row = |i: usize| {
        format!("{},{},{}\n", if i.is_multiple_of(5) { "" } else { "7" }, i % 3, ["a", "b"][i % 2])
    };
    folder.write("rows.csv", format!("x,y,kind\n{}", (0..24).map(row).collect::<String>()));
    folder.linsep("train rows.csv -o model").exits(0).says(&[
        "5 missing cells in column \"x\" became the mean of the column. --missing chooses another treatment.",
    ]);
    folder.write("new.csv", "x,y,kind\n,1,a\n7,1,b\n");
    let became = "1 missing cell in column \"x\" became the mean of the column in the training rows.";
    for command in ["predict", "evaluate"] {
        let overrule = "The model decides that; --missing refuse and --missing drop-row overrule it.";
        folder.linsep(&format!("{command} model new.csv")).exits(0).says(&[became, overrule]);
        for how in ["auto", "mean", "zero"] {
            let nothing = format!(
                "The model decides that, so --missing {how} has no effect; --missing refuse and --missing drop-row have."
            );
            let line = format!("{command} model new.csv --missing {how}");
            folder.linsep(&line).exits(0).says(&[became, &nothing]);
        }
    }
}

#[test]
fn notes_count_all_rows_of_a_pipe() {
    let folder = Folder::new();
    let row = |i: usize| {
        format!(
            "{},{},{}\n",
            if i.is_multiple_of(5) { "" } else { "7" },
            ["u", "v"][i / 2 % 2],
            ["a", "b"][i % 2]
        )
    };
    folder.write("rows.csv", format!("x,y,kind\n{}", (0..24).map(row).collect::<String>()));
    folder.linsep("train rows.csv -o model -q").exits(0);
    let json = |(x, y): (&str, &str)| {
        format!("{{\"x\": {}, \"y\": \"{y}\"}}\n", if x.is_empty() { "null" } else { x })
    };
    let csv = |(x, y): (&str, &str)| format!("{x},{y}\n");
    let rows = [("7", "u"), ("", "u"), ("", "new"), ("7", "other"), ("", "v")];
    for (head, rows) in [("x,y\n", rows.map(csv)), ("", rows.map(json))] {
        let mut child = folder.start(folder.command("predict model -").stdin(Stdio::piped()));
        let mut pipe = child.stdin.take().expect("pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("pipe")).lines();
        pipe.write_all(head.as_bytes()).expect("write");
        for row in &rows {
            pipe.write_all(row.as_bytes()).expect("write");
            answers.next().expect("an answer").expect("text");
        }
        drop(pipe);
        let told = String::from_utf8(child.wait_with_output().expect("end").stderr).expect("text");
        assert!(told.contains("3 missing cells in column \"x\""), "{told}");
        assert!(told.contains("2 cells hold words that were not in the training data"), "{told}");
        assert_eq!(told.matches("missing cell").count(), 1, "{told}");
    }
}

#[test]
fn explanations_show_dates_as_dates() {
    let folder = Folder::new();
    let row = |i: usize| {
        format!("{}.{:02}.2020,{:02}:30,{}\n", i % 28 + 1, i % 12 + 1, i % 24, ["a", "b"][i % 12 / 6])
    };
    folder.write("rows.csv", format!("day,at,kind\n{}", (0..60).map(row).collect::<String>()));
    folder.linsep("train rows.csv -o model -q").exits(0);
    folder.write("new.csv", "day,at\n31.12.2021,23:30\n");
    folder.linsep("predict model new.csv --explain").exits(0).tells(&["day = 2021-12-31 (", "at = 23:30 ("]);
}

#[test]
fn explanations_show_a_missing_cell_once_and_nothing_that_was_filled_in() {
    let folder = Folder::new();
    let row = |i: usize| {
        let day = if i % 7 == 3 { String::new() } else { format!("{}.{:02}.2020", i % 28 + 1, i % 12 + 1) };
        format!("{day},{},7,{}\n", i * 5 % 17, ["a", "b"][i % 12 / 6])
    };
    folder.write("rows.csv", format!("day,x,same,kind\n{}", (0..84).map(row).collect::<String>()));
    folder.write("new.csv", "day,x,same\n,3,7\n");
    for features in ["plain", "splines"] {
        for learner in ["logistic", "voted"] {
            let train = format!("train rows.csv -o model -q --learner {learner} --features {features}");
            folder.linsep(&train).exits(0);
            let told = folder.linsep("predict model new.csv --explain").exits(0);
            assert_eq!(told.out.matches("day").count(), 1, "{train}: {told:#?}");
            assert!(told.out.contains("day missing ("), "{train}: {told:#?}");
            assert!(!told.out.contains("0.0000)"), "{train}: {told:#?}");
        }
    }
}

#[test]
fn the_training_rows_of_a_folder_are_recognised() {
    let folder = Folder::with_texts();
    // Whether the rows are those of the training, and whether those that were held out are among them.
    let which = |place: &str| {
        let record = folder.linsep(&format!("evaluate model {place} --json")).exits(0).json();
        ["training_rows", "held_out_rows"].map(|key| record[key].as_bool().unwrap_or(false))
    };
    folder.linsep("train mails -o model -q").exits(0);
    assert_eq!(which("mails"), [true, false]);
    folder.linsep("evaluate model mails").exits(0).says(&["the model was trained on these rows"]);
    folder.linsep("train mails -o model -q --holdout 0.25").exits(0);
    assert_eq!(which("mails"), [true, true]);
    folder.linsep("train mails -o model -q --words prize,noon").exits(0);
    fs::rename(folder.path("mails"), folder.path("moved")).expect("move");
    assert_eq!(which("moved"), [true, false]);
    folder.write("moved/ham/0", "another prize");
    assert_eq!(which("moved"), [false, false]);
}

#[test]
fn parts_that_are_taken_for_classes_are_warned_of() {
    let folder = Folder::new();
    for part in ["training_set", "test_set"] {
        for class in ["spam", "ham"] {
            folder.write_texts(&format!("mails/{part}/{class}"), &["free prize", "a cheap loan", "at noon"]);
        }
    }
    folder.linsep("train mails -o model -q").exits(0).says(&[
        "each of them has the same sub-folders, \"ham\", \"spam\"",
        "linsep train mails/training_set -o MODEL",
        "linsep evaluate MODEL mails/test_set",
    ]);
    let quiet = |place: &str| {
        let ran = folder.linsep(&format!("train {place} -o model -q")).exits(0);
        assert!(!ran.err.contains("sub-folders"), "{ran:#?}");
    };
    quiet("mails/training_set");
    // Mailboxes have the same folders, and classes may have files beside theirs.
    for class in ["spam", "ham"] {
        folder.write_texts(&format!("boxes/{class}/cur"), &["free prize", "a cheap loan"]);
        folder.write_texts(&format!("boxes/{class}/new"), &["at noon"]);
    }
    quiet("boxes");
    folder.write("mails/test_set/one", "more words");
    quiet("mails");
}

#[test]
fn what_is_said_of_a_model_of_a_table_is_so() {
    let folder = Folder::with_texts();
    let row = |i: usize| {
        format!(
            "{},{},{},{},{},{},{}\n",
            i ^ 1,
            i * 3 % 7,
            i * 5 % 11,
            i % 3,
            i % 5,
            i % 4,
            ["a", "b"][i % 2]
        )
    };
    folder.write("rows.csv", format!("c,d,e,f,g,h,kind\n{}", (0..30).map(row).collect::<String>()));
    folder.linsep("train rows.csv -o model -q").exits(0);
    folder
        .linsep("evaluate model mails")
        .exits(3)
        .says(&["the columns \"c\", \"d\", \"e\", \"f\", \"g\" and 1 other:"]);
    // No training cell was missing.
    folder.write("new.csv", "c,d,e,f,g,h\n?,1,1,1,1,1\n");
    folder.linsep("predict model new.csv").exits(0).says(&["The model decides that; --missing refuse"]);
    let ran =
        folder.linsep_with_input("train - -o piped", b"stra\xdfe,x,kind\nAllee,1,a\nPlatz,2,b\n").exits(0);
    assert!(ran.err.contains("The text is not UTF-8"), "{ran:#?}");
}

#[test]
fn advice_about_folders_can_be_followed() {
    let folder = Folder::with_texts();
    for (name, bytes) in [("x.bz2", &b"BZh91AY&SY\x00\x01\x02"[..]), ("x.xz", b"\xfd7zXZ\x00\x00\x04")] {
        fs::write(folder.path("mails/ham").join(name), bytes).expect("write");
        folder
            .linsep("train mails -o model")
            .exits(3)
            .says(&["help: decompress it;", "skipped with --skip-bad"]);
        folder.linsep("train mails -o model -q --skip-bad").exits(0);
        fs::remove_file(folder.path("mails/ham").join(name)).expect("remove");
    }
    folder.write_texts("few/ham", &["at noon"]);
    folder.write_texts("few/spam", &["free prize"]);
    let ran =
        folder.linsep("demo mail few").exits(2).says(&["give a folder with two or more mails in a class"]);
    assert!(!ran.err.contains("fraction"), "{ran:#?}");
}

#[test]
fn names_break_no_lines_of_reports() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},\"w\n{}\",\"k\tl{}\"\n", i * 7 % 11, i % 3, i % 2);
    folder.write("rows.csv", format!("\"pri\nce\",\"x\ty\",kind\n{}", (0..20).map(row).collect::<String>()));
    let told = [
        folder.linsep("train rows.csv -o model --holdout 0.25").exits(0),
        folder.linsep("inspect model --effects").exits(0),
        folder.linsep("predict model rows.csv --explain").exits(0),
        folder.linsep("evaluate model rows.csv").exits(0),
        folder.linsep("train rows.csv --label 2 -o many").exits(0),
        folder.linsep("inspect many --effects").exits(0),
        folder.linsep("evaluate many rows.csv").exits(0),
    ];
    for ran in &told {
        let raw = ["pri\nce", "x\ty", "w\n0", "w\n1", "k\tl"];
        assert!(!raw.iter().any(|raw| ran.out.contains(raw) || ran.err.contains(raw)), "{ran:#?}");
    }
    assert!(told[0].out.contains("k\\tl1") && told[1].out.contains("pri\\nce"), "{told:#?}");
    // What a table shows lies in its columns.
    let bars: Vec<usize> = told[1].out.lines().filter_map(|line| line.find('█')).collect();
    assert!(bars.len() > 3, "{bars:?}");
}

#[cfg(unix)]
#[test]
fn names_of_files_break_no_lines_and_mails_of_a_mailbox_have_numbers() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o model -q").exits(0);
    fs::create_dir(folder.path("new")).expect("a folder");
    folder.write("new/a\nb\u{1b}[1m", "free prize");
    let mail = |text: &str| {
        format!("From a@b Mon Jan  1 00:00:00 2001\nFrom: a\nTo: b\nSubject: {text}\n\n{text}\n\n")
    };
    folder.write("new/box.mbox", ["free prize", "at noon", "a cheap loan"].map(mail).concat());
    for option in ["", " --csv"] {
        let out = folder.linsep(&format!("predict model new -q{option}")).exits(0).out;
        assert!(out.contains("new/a\\nb\\u{1b}[1m") && !out.contains('\u{1b}'), "{out}");
        assert_eq!(out.lines().count(), 4 + usize::from(!option.is_empty()), "{out}");
        let numbers: Vec<&str> = out.split("box.mbox#").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(numbers, ["1", "2", "3"], "{out}");
    }
}

#[test]
fn a_class_without_a_document_is_none() {
    let folder = Folder::with_texts();
    folder.write("mails/empty.mbox", "");
    fs::create_dir(folder.path("mails/blank")).expect("folder");
    folder.write("mails/blank/1", "");
    folder.linsep("train mails").exits(3).says(&["this is not a text"]);
    let record = folder.linsep("train mails --skip-bad -o model --json").exits(0).json();
    assert_eq!(record["classes"]["negative"], serde_json::json!(["ham"]), "{record:#}");
    folder.linsep("train mails --skip-bad -o model").exits(0).tells(&[
        "in 2 classes",
        "2 classes are left out, because none of their files could be read: \"blank\", \"empty\"",
    ]);
    folder.linsep("demo mail mails").exits(3).says(&["--skip-bad"]);
    folder.linsep("demo mail mails --skip-bad").exits(0);
    folder.linsep("demo iris --skip-bad").exits(2);
}

#[test]
fn importances_and_weights_of_a_file_are_not_mixed() {
    let folder = Folder::new();
    folder.write("rows.vw", "1 3 |f x:1\n-1 2 |f x:2\n1 |f x:1.5\n-1 |f x:3\n");
    folder.write("weights", "1\n2\n3\n4\n");
    folder.linsep("train rows.vw -o model -q").exits(0);
    for line in ["train rows.vw --weights weights", "evaluate model rows.vw --weights weights"] {
        folder.linsep(line).exits(2).says(&["the rows already have importance weights", "--weights"]);
    }
    folder.write("plain.vw", "1 |f x:1\n-1 |f x:2\n1 1 |f x:1.5\n-1 |f x:3\n");
    folder.linsep("train plain.vw --weights weights").exits(0);
}

#[test]
fn every_command_names_every_format() {
    let folder = Folder::new();
    for command in ["train", "separate", "convert"] {
        let help = folder.linsep(&format!("{command} --help")).exits(0).out;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for format in linsep::read::FORMATS {
            let named = match format.name {
                "documents" => "folder of texts, e-mails",
                "pictures" => "or images with one subfolder",
                "linsep" => ".linsep",
                _ => format.title,
            };
            assert!(help.contains(named), "{command}: {named}");
        }
    }
    let told = folder.linsep("train --help").exits(0);
    assert!(!told.out.contains("linsep cache"), "{told:#?}");
}

#[test]
fn explanations_name_the_words_of_hashed_features() {
    let folder = Folder::with_texts();
    folder.linsep("train mails --hash-bits 4 -o texts -q").exits(0);
    folder.write("new.txt", "Free PRIZE, lunch");
    folder.linsep("predict texts new.txt mails/ham/0 --explain=9").exits(0).tells(&[
        "free",
        "prize",
        "lunch",
        "other words may share that bucket",
    ]);
    let told = folder.linsep_with_input("predict texts - --explain=9", b"free prize\nnoon\n").exits(0).out;
    let rows: Vec<&str> = told.split("\n  (The model").collect();
    assert!(rows.len() == 3 && rows[1].contains("prize (#") && !rows[1].contains("noon"), "{told}");
    assert!(rows[2].contains("noon (#") && !rows[2].contains("prize"), "{told}");
    table(&folder, "rows");
    folder.linsep("train rows --label 1 --text 2 --hash-bits 12 -o table -q").exits(0);
    folder.linsep("predict table rows --explain=9").exits(0).tells(&["prize (#", "noon (#"]);
    folder.linsep("inspect texts").exits(0).tells(&["Words", "not kept", "by a hash of 4 bits"]);
    // Words that are listed are named as ever.
    folder.linsep("train mails -o texts -q").exits(0);
    let told = folder.linsep("predict texts new.txt --explain").exits(0);
    assert!(!told.out.contains('#') && !told.out.contains("share that bucket"), "{told:#?}");
}

//! The promise: whatever stands in a name, of a file, a column, a class or a word, the terminal shows it and does not obey it.

use crate::common::{Folder, Ran};

/// Turns the text red, ends the line, and turns the direction of what follows in several ways.
const EVIL: &str = "a\u{1b}[31m\nLINE\u{202e}\u{200f}\u{61c}\u{2067}b";

/// What a terminal obeys instead of showing it, by Unicode's tables: control characters, and those that turn the direction.
fn is_obeyed(c: char) -> bool {
    let turns = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    c.is_control() || turns.contains(&c) || matches!(c as u32, 0x202a..=0x202e | 0x2066..=0x2069)
}

/// Runs the program with these arguments, among them names that are split nowhere.
fn run(folder: &Folder, arguments: &[&str]) -> Ran {
    let output = folder.command("").args(arguments).output().expect("run linsep");
    let ran = Ran::new(&arguments.join(" "), output);
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(|c: char| is_obeyed(c) && !matches!(c, '\n' | '\t')), "{ran:#?}");
        assert!(!text.contains("\nLINE"), "a name ends a line: {ran:#?}");
    }
    ran
}

#[test]
fn no_name_commands_the_terminal() {
    let folder = Folder::new();
    let (file, model, proof) = (format!("{EVIL}.csv"), format!("{EVIL}.model"), format!("{EVIL}.cert"));
    // Names of columns, words and classes are in quotes, where a line may end.
    // Escapes are no text.
    let evil = EVIL.replace('\u{1b}', "");
    let (column, class, word) = (format!("x {evil}"), format!("k {evil}"), format!("w {evil}"));
    let mut table = format!("\"{column}\",\"c {evil}\",y\n");
    for i in 0..20 {
        let (word, class) =
            (if i % 3 == 0 { &word } else { "plain" }, if i % 2 == 0 { &class } else { "other" });
        table += &format!("{},\"{word}\",\"{class}\"\n", i % 7 + i % 2 * 3);
    }
    folder.write(&file, &table);
    folder.write("bad.csv", table.replace("2,\"plain\"", "2,\"plain\",\"more\""));
    folder.write(&format!("{EVIL}.txt"), "nothing\n");
    let absent = format!("{EVIL} absent");
    let wrong = format!("--{EVIL}");
    let label = class.as_str();
    let mut codes = Vec::new();
    for arguments in [
        &["train", &file, "-o", &model][..],
        &["train", &file, "--positive", label, "--explain-nothing"],
        &["train", &file, "--positive", label, "--learner", "logistic"],
        &["train", &file, "--label", &absent],
        &["train", &file, "--learner", &absent],
        &["train", &file, "--class-weight", &absent],
        &["train", &file, "--holdout", "0.3", "--json"],
        &["train", &file, &wrong],
        &["train", &absent],
        &["train", "bad.csv"],
        &["train", &format!("{EVIL}.txt")],
        &["train", ".", "-o", &model],
        &["inspect", &file],
        &["inspect", &file, "--json"],
        &["inspect", &model],
        &["inspect", &model, "--json"],
        &["inspect", &model, "--effects"],
        &["inspect", &absent],
        &["predict", &model, &file],
        &["predict", &model, &file, "--explain", "3"],
        &["predict", &file, &model],
        &["evaluate", &model, &file],
        &["evaluate", &model, &file, "--json"],
        &["evaluate", &model, &absent],
        &["separate", &file, "-o", &proof, "--blame"],
        &["separate", &file, "--json"],
        &["separate", &file, "--positive", &absent],
        &["verify", &proof, &file],
        &["verify", &file, &proof],
        &["compare", &file, "--folds", "2"],
        &["tune", &file, "--max-seconds", "2"],
        &["theory", &file],
        &["convert", &file, &format!("{EVIL}.svm")],
        &["convert", &file, &format!("{EVIL}.nothing")],
        &["plot", "boundary", &file, "-o", &absent],
        &["plot", "boundary", &file, "-o", &format!("{EVIL}.svg")],
        &["report", &file, "-o", &format!("{EVIL}.html")],
        &["export", &model, "-o", &format!("{EVIL}.onnx")],
        &["run", &absent],
        &[&absent],
    ] {
        codes.push(run(&folder, arguments).code);
    }
    // Both answers and errors were seen.
    let count = |wanted: i32| codes.iter().filter(|code| **code == Some(wanted)).count();
    assert!(count(0) >= 12 && count(2) >= 5 && count(3) >= 4, "{codes:?}");
}

/// A proposed command can be pasted into a shell: it names the same file, and holds nothing that a terminal obeys.
#[test]
fn proposed_commands_name_the_file() {
    let folder = Folder::new();
    let file = format!("{EVIL} 'q'.csv");
    folder.write(&file, "x,y\n1,a\n2,a\n3,b\n4,b\n1,a\n4,b\n2,a\n3,b\n");
    let report = run(&folder, &["report", &file, "-o", "report.html", "--quiet"]);
    assert_eq!(report.code, Some(0), "{report:#?}");
    let page = folder.text("report.html");
    let page = page.replace("&#39;", "'").replace("&quot;", "\"").replace("&amp;", "&");
    let word = r"$'a\U0000001b[31m\nLINE\U0000202e\U0000200f\U0000061c\U00002067b \'q\'.csv'";
    assert!(page.split("linsep ").any(|part| part.contains(word)), "{page}");
    let script = format!("printf %s {word}");
    let shown =
        std::process::Command::new("bash").args(["-c", &script]).env("LC_ALL", "C.UTF-8").output().unwrap();
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), file);
}

/// Settings in the sentences of a record are spelled as flags. A class that looks like one is a name.
#[test]
fn names_that_look_like_settings_stay() {
    let folder = Folder::with("rows.csv", "x,kind\n1,\u{27e6}A\u{27e7}\n2,b\n3,\u{27e6}A\u{27e7}\n4,b\n");
    let ran = folder.linsep("train rows.csv --json").exits(0);
    assert!(ran.out.contains("\"\u{27e6}A\u{27e7}\""), "{}", ran.out);
}

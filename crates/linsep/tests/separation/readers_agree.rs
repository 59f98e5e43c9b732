//! The promise: a proof is about the rows that every reader sees. Small files, sound and odd, go through both readers.

use super::both_readers::{Agreement, Options, agree};
use linsep::random::Random;

const POSITIVE: [&str; 5] = ["yes", "1", "a", " a ", "b,c"];
const NEGATIVE: [&str; 4] = ["no", "-1", "0.5", "FALSE"];

/// Cells that are plain numbers, and cells that only some readers take for numbers.
const NUMBERS: [&str; 14] =
    ["0", "1", "-2", "3.5", "1e3", "-0", "+4", ".5", "7.", "10", "0.25", "-1e-2", "12", "2"];
const NEARLY_NUMBERS: [&str; 26] = [
    "",
    "?",
    "NA",
    "nan",
    "inf",
    "-inf",
    "01",
    "007",
    "0120",
    "1,5",
    "1.234",
    "12%",
    "$3",
    "(4)",
    "2024-01-31",
    "9007199254740993",
    "1e400",
    "1 2",
    "12:30",
    "none",
    "-",
    "0x10",
    "1_000",
    "٣",
    "1e5x",
    "\"6\"",
];
const LABELS: [&str; 30] = [
    "yes",
    "no",
    "Yes",
    "NO",
    "yEs",
    "TRUE",
    "false",
    "False",
    "1",
    "+1",
    "1.0",
    "-1",
    "-1.0",
    "0.5",
    ".5",
    "5e-1",
    "a",
    "b",
    "\" a \"",
    "\"a\"",
    "\"b,c\"",
    "nan",
    "inf",
    "",
    "\"\"",
    "NA",
    "a b",
    "\"a\"\"\"",
    "1000000000000000001",
    "tRuE",
];
const NAMES: [&str; 22] = [
    "x",
    "y",
    "k",
    "x1",
    "age_2",
    "V10",
    "USD5",
    "na",
    "none",
    "length (cm)",
    "1",
    "2",
    "3",
    "",
    "\"q\"",
    "inf",
    "a b",
    "Jan 31, 2024",
    "#n",
    "kr5",
    "2024",
    "größe",
];
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
/// What careless programs, editors and people put into files.
const ODD: [&str; 34] = [
    "\"", "\"\"", ",", ";", "\t", "|", "\n", "\r", "\r\n", " ", "#", "\u{feff}", "\u{a0}", "\u{85}",
    "\u{2028}", "\0", ":", "1:2", "x", "0", "-", "'", "\\", "@", "%", "{", "sep=", "é", "\u{b}", "nan",
    "<html", "ARROW1", "From ", "MATLAB",
];

/// Endings of names, which say what kind of file it is.
const ENDINGS: [&str; 7] = [".csv", ".tsv", ".svm", ".txt", ".vw", ".eml", ".JSONL"];

fn pick<'a>(random: &mut Random, texts: &[&'a str]) -> &'a str {
    texts[random.below(texts.len() as u64) as usize]
}

fn chance(random: &mut Random, one_in: u64) -> bool {
    random.below(one_in) == 0
}

/// A table with some columns of numbers, labels, perhaps words and counts; and how it is to be read.
fn table(random: &mut Random) -> (String, Options) {
    let width = 2 + random.below(4) as usize;
    let delimiter = if chance(random, 2) { ',' } else { DELIMITERS[random.below(4) as usize] };
    let label = if chance(random, 3) { random.below(width as u64) as usize } else { width - 1 };
    let words =
        chance(random, 3).then(|| random.below(width as u64) as usize).filter(|column| *column != label);
    let counts = chance(random, 6).then(|| random.below(width as u64) as usize);
    let counts = counts.filter(|column| *column != label && Some(*column) != words);
    let odd_numbers = chance(random, 6);
    let few_labels = chance(random, 2);
    let mut names: Vec<String> = (0..width).map(|_| pick(random, &NAMES[..3]).to_owned()).collect();
    for (j, name) in names.iter_mut().enumerate() {
        *name = if chance(random, 3) {
            pick(random, &NAMES).to_owned()
        } else {
            format!("{name}{}", ["a", "b", "c", "d", "e"][j])
        };
    }
    let has_header = !chance(random, 3);
    let mut options = Options { header: chance(random, 10), ..Options::default() };
    let call = |random: &mut Random, column: usize| match chance(random, 2) || !has_header {
        true => (column + 1).to_string(),
        false => names[column].trim_matches('"').to_owned(),
    };
    if label != width - 1 || chance(random, 4) {
        options.label = Some(call(random, label));
    }
    options.ignore = words.map(|column| call(random, column)).filter(|_| !chance(random, 20));
    options.weights = counts.map(|column| call(random, column)).filter(|_| !chance(random, 20));
    let end = if chance(random, 4) { "\r\n" } else { "\n" };
    let mut text = if chance(random, 12) { "\u{feff}".to_owned() } else { String::new() };
    let divider = delimiter.to_string();
    if has_header {
        text += &(names.join(&divider) + end);
    }
    for _ in 0..random.below(6) {
        let cell = |random: &mut Random, j: usize| -> String {
            let cell = match j {
                j if j == label && few_labels => pick(random, &LABELS[..2]),
                j if j == label => pick(random, &LABELS),
                j if Some(j) == words => pick(
                    random,
                    &["red", "\"n,a\"", "two words", "3", "\"\"", "\"say \"\"hi\"\"\"", "p:1", ""],
                ),
                j if Some(j) == counts => pick(random, &["1", "0", "2", "0.5", "3"]),
                _ if odd_numbers && chance(random, 4) => pick(random, &NEARLY_NUMBERS),
                _ => pick(random, &NUMBERS),
            };
            if chance(random, 15) { format!(" {cell} ") } else { cell.to_owned() }
        };
        let cells: Vec<String> = (0..width).map(|j| cell(random, j)).collect();
        text += &(cells.join(&divider) + end);
    }
    (text, options)
}

/// LIBSVM.
fn pairs(random: &mut Random) -> (String, Options) {
    let mut text = String::new();
    let from_zero = chance(random, 3);
    for _ in 0..1 + random.below(5) {
        if chance(random, 12) {
            text += "# remark\n";
        }
        text += if chance(random, 2) { pick(random, &LABELS[..2]) } else { pick(random, &LABELS) };
        if chance(random, 10) {
            text += " qid:3";
        }
        let mut index = u64::from(!from_zero);
        for _ in 0..random.below(4) {
            index += random.below(3);
            let value =
                if chance(random, 40) { pick(random, &NEARLY_NUMBERS) } else { pick(random, &NUMBERS) };
            text += &format!("{}{index}:{value}", if chance(random, 20) { "\t" } else { " " });
            index += u64::from(!chance(random, 30));
        }
        text += if chance(random, 20) { " # end\n" } else { "\n" };
    }
    (text, Options::default())
}

/// Puts something odd into a text, or takes something out.
fn spoil(random: &mut Random, text: &mut String) {
    let places: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let place = |random: &mut Random| places[random.below(places.len() as u64) as usize];
    let (one, other) = (place(random), place(random));
    match random.below(4) {
        0 => text.replace_range(one.min(other)..one.max(other), ""),
        1 => {
            let part = text[one.min(other)..one.max(other)].to_owned();
            text.insert_str(one, &part);
        }
        _ => text.insert_str(one, pick(random, &ODD)),
    }
}

/// How many of so many files both readers read alike.
fn read_alike(seed: u64, files: u64) -> u64 {
    const SHOWN: usize = 10;
    let mut random = Random::new(seed);
    let (mut same, mut differences) = (0, Vec::new());
    for _ in 0..files {
        let (mut text, mut options) =
            if chance(&mut random, 4) { pairs(&mut random) } else { table(&mut random) };
        for _ in 0..random.below(3) {
            spoil(&mut random, &mut text);
        }
        if chance(&mut random, 40) {
            text.insert_str(0, pick(&mut random, &ODD));
        }
        options.ending = if chance(&mut random, 3) { pick(&mut random, &ENDINGS) } else { "" };
        match agree(text.as_bytes(), &options, &POSITIVE, &NEGATIVE) {
            Ok(agreement) => same += u64::from(agreement == Agreement::Same),
            Err(difference) => differences.push(format!("{text:?}\n{options:?}\n{difference}")),
        }
    }
    let shown = &differences[..differences.len().min(SHOWN)];
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), shown.join("\n\n"));
    same
}

#[test]
fn both_readers_see_the_same_rows() {
    let files = 20_000;
    let same = read_alike(1, files);
    assert!(same > files / 10, "{same} of {files}");
}

/// The same for a million files.
#[test]
#[ignore = "takes some minutes"]
#[expect(clippy::print_stdout, reason = "a record is made of it")]
fn both_readers_see_the_same_rows_of_a_million_files() {
    let same: u64 = (0..50).map(|seed| read_alike(100 + seed, 20_000)).sum();
    println!("{same} of 1,000,000 files were read alike, the others refused");
    assert!(same > 100_000);
}

/// A file whose name is that of another kind of files is for other readers.
#[test]
fn the_checker_refuses_the_names_of_other_formats() {
    let rows = b"1,a\n2,b\n3,a\n";
    for format in linsep::read::FORMATS {
        for extension in format.extensions {
            let ending: &'static str = format!(".{extension}").leak();
            let options = Options { ending, ..Options::default() };
            let is_read = *extension == "csv";
            let agreement = agree(rows, &options, &["b"], &["a"]);
            assert_eq!(agreement == Ok(Agreement::Same), is_read, "{ending}: {agreement:?}");
        }
    }
}

//! Spreadsheets as people save them: each guess about a column where it is right, where it must not be made, and how to
//! overrule it.

mod common;

use common::Folder;

/// Trains on a table; what the program says, joined into one line, must have all of these parts and none of the others.
#[track_caller]
fn says(content: impl AsRef<[u8]>, arguments: &str, parts: &[&str], not: &[&str]) {
    let folder = Folder::with("data", content);
    let ran = folder.linsep(&format!("train data --epochs 3 {arguments}"));
    let ran = ran.exits(0);
    let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(said.contains(part), "{part}\n---\n{said}");
    }
    for part in not {
        assert!(!said.contains(part), "must not say {part}\n---\n{said}");
    }
}

#[test]
fn numbers_in_a_style_are_announced() {
    let text = "price;share;kind\n1.234,50 €;12 %;a\n84,70 €;3 %;b\n12,00 €;5 %;a\n";
    let price = "Column \"price\" holds numbers: \"1.234,50 €\" is read as 1234.5.";
    says(text, "", &[price, "If these are words, say --column price=words."], &[]);
    says(text, "--column price=words", &["Column \"share\""], &[price]);
    says("code,x,kind\n12%off,1,a\n30%off,2,b\n", "", &[], &["holds numbers"]);
    says("phone,x,kind\n555 123 456,1,a\n555 987 654,2,b\n", "", &[], &["holds numbers"]);
    says("zip,x,kind\n01234,1,a\n90210,2,b\n", "", &["\"01234\" begins with a zero"], &["holds numbers"]);
    let open = "it,x,kind\n\"1,234\",1,a\n\"5,678\",2,b\n";
    says(open, "", &["--column it=decimal-point or --column it=decimal-comma"], &["holds numbers"]);
    says(open, "--column it=decimal-comma", &[], &["--column"]);
}

#[test]
fn predictions_read_the_style_of_the_training_file() {
    let folder = Folder::with("train", "x;y;kind\n1,5;1;low\n84,7;2;high\n2,25;3;low\n90,1;4;high\n");
    folder.linsep("train train -o model --scale standard --epochs 50 -q").exits(0);
    folder.write("new", "x;y\n1.084,7;2\n");
    let ran = folder.linsep("predict model new -q").exits(0);
    assert_eq!(ran.out.trim(), "high");
}

#[test]
fn none_is_a_category_and_a_missing_number() {
    let text = "debtors,age,kind\nnone,30,good\nguarantor,20,bad\nnone,40,good\nnone,50,bad\n";
    says(text, "", &[], &["missing"]);
    let text = "x,kind\n1,a\nnone,b\n3,b\n";
    says(text, "--missing mean", &["1 missing cell in column \"x\""], &[]);
    let folder = Folder::with("data", text);
    folder
        .linsep("train data --missing refuse")
        .exits(3)
        .says(&["data:3:1: the cell in column \"x\" is missing (found \"none\")", "--na"]);
    says(
        "x,y,kind\n1,1,a\n-999,2,b\n3,1,b\n",
        "--missing mean --na -999",
        &["1 missing cell in column \"x\""],
        &[],
    );
    says("w,y,kind\nNA,1,a\nDE,2,b\nNA,1,b\n", "--na=", &[], &["missing"]);
}

#[test]
fn dates_are_announced() {
    says(
        "when,x,kind\n2024-01-31,1,a\n2024-02-01,2,b\n",
        "",
        &["\"2024-01-31\" is read as day 19753 since 1970"],
        &[],
    );
    let open = "when,x,kind\n01/02/2024,1,a\n03/04/2024,2,b\n";
    says(open, "", &["--column when=day-first or --column when=month-first"], &["since 1970"]);
    says("score,x,kind\n3-1-2,1,a\n2-2-1,2,b\n", "", &[], &["since 1970"]);
}

#[test]
fn identifiers_are_named_and_left_out_on_demand() {
    let rows: String = (0..40).map(|i| format!("{i},{},{}\n", i * i % 11, ["a", "b"][i % 2])).collect();
    let text = format!("id,x,kind\n{rows}");
    says(&text, "", &["Column \"id\" counts the rows", "--ignore id, or all such columns with --auto"], &[]);
    says(&text, "--auto", &["Column \"id\" counts the rows", "It is left out (--auto)."], &[]);
    says(&text, "--ignore id", &[], &["counts the rows"]);
}

#[test]
fn encodings_are_announced() {
    let text = b"stra\xdfe,x,kind\nAllee,1,a\nPlatz,2,b\n";
    says(text, "", &["The file is not UTF-8: it is read as windows-1252, which makes \"straße\""], &[]);
    says(text, "--encoding latin1", &[], &["UTF-8"]);
    says("straße,x,kind\nAllee,1,a\nPlatz,2,b\n", "", &[], &["UTF-8"]);
    let wide: Vec<u8> = "x,kind\n1,a\n2,b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    says([b"\xff\xfe".to_vec(), wide].concat(), "", &[], &["not UTF-8"]);
}

#[test]
fn layouts_of_other_programs() {
    says("sep=;\nx;kind\n1,5;a\n2,5;b\n", "", &["\"1,5\" is read as 1.5"], &[]);
    says("  x    y   kind\n 1.5   2   a\n10    3   b\n", "", &[], &[]);
    says(
        "kind\tn\ttext\na\t1\t\"Hi\" he said\nb\t2\tok\n",
        "--label kind",
        &["quotes are part of the words"],
        &[],
    );
    let arff = "@relation r\n@attribute x numeric\n@attribute class {a,b}\n@data\n1,a\n2,b\n";
    says(arff, "", &[], &["--column"]);
}

#[test]
fn files_of_other_kinds_are_named() {
    for (content, parts) in [
        (
            &b"PK\x03\x04\x14\0\0\0\0\0[Content_Types].xml"[..],
            ["an Excel workbook (.xlsx)", "save the sheet as CSV"],
        ),
        (b"PAR1\x15\x04\x15\x00", ["a Parquet file", "pandas.read_parquet"]),
        (b"[{\"x\": 1}, {\"x\": 2}]", ["JSON", "to_csv"]),
        (b"{\"x\": 1}\n{\"x\": 2}\n", ["JSON Lines", "lines=True"]),
        (b"1 |f price:0.5 red\n-1 |f price:2\n", ["Vowpal Wabbit", "LIBSVM"]),
        (b"<!DOCTYPE html>\n<html>\n", ["a web page (HTML)", "check the address"]),
    ] {
        let folder = Folder::with("data", content);
        folder.linsep("train data").exits(3).says(&parts);
    }
}

/// Rows of two classes that a number tells apart, written by `number`.
fn signed(header: &str, number: impl Fn(i32) -> String) -> String {
    let row = |i: i32| format!("{};{}\n", number(i), if i > 0 { "big" } else { "small" });
    format!("{header}\n{}", (1..30).flat_map(|i| [row(i), row(-i)]).collect::<String>())
}

#[test]
fn a_number_written_in_another_way_is_not_taken_for_a_missing_one() {
    let folder = Folder::with("data", signed("w;y", |i| format!("{i},5")));
    folder.linsep("train data -q -o model").exits(0);
    folder.write("new", "w;y\n10.5;big\n-10.5;small\n");
    folder.linsep("predict model new").exits(3).says(&["new:2:1: the word \"10.5\" in column \"w\""]);
    folder.write("new", "w;y\nrotary;big\n-10,5;small\nrotary;big\n");
    let ran = folder.linsep("predict model new").exits(0);
    let said = "Column \"w\" holds numbers, and 2 of its cells are words, such as \"rotary\" on line 2: counted as missing";
    ran.says(&[said]);
    // A model of numbered features cannot know that these are its columns.
    folder.write("data.svm", "1 1:1\n-1 1:-1\n");
    folder.linsep("train data.svm -q -o model").exits(0);
    folder.write("new", "w\nrotary\n1\n");
    folder.linsep("predict model new --format csv --header yes --missing zero").exits(3).says(&["new:2:1: the word \"rotary\" in column \"w\""]);
}

#[test]
fn a_row_without_a_label_tells_nothing_about_the_columns() {
    let text = signed("w;y", |i| i.to_string()) + "Total;\n";
    let folder = Folder::with("data", text);
    let ran = folder.linsep("train data").exits(0).says(&["1 row with a missing cell or label was left out"]);
    assert!(ran.out.contains("58 rows, 1 feature"), "{ran:?}");
    // Nor is it converted with cells that only a model fills.
    folder.linsep("convert data new.csv --missing auto").exits(2).says(&["learned together with a model"]);
}

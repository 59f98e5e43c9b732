//! Spreadsheets as people save them: each guess about a column where it is right, where it must not be made, and how to
//! overrule it.

use crate::common::Folder;

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
    says(text, "", &[price, "If these are words, use --column price=words."], &[]);
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
fn identifiers_are_left_out_unless_they_are_kept() {
    let rows: String = (0..40).map(|i| format!("{i},{},{}\n", i * i % 11, ["a", "b"][i % 2])).collect();
    let text = format!("id,x,kind\n{rows}");
    says(&text, "", &["Column \"id\" numbers the rows", "is left out; --keep id brings it back"], &[]);
    says(&text, "--keep id", &[], &["numbers the rows"]);
    says(&text, "--auto", &["Column \"id\" numbers the rows", "It is left out (--auto)."], &[]);
    says(&text, "--ignore id", &[], &["numbers the rows"]);
}

#[test]
fn encodings_are_announced() {
    let text = b"stra\xdfe,x,kind\nAllee,1,a\nPlatz,2,b\n";
    says(text, "", &["The text is not UTF-8: it is read as windows-1252, which makes \"straße\""], &[]);
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
        &["quotes are read as part of the words"],
        &[],
    );
    let arff = "@relation r\n@attribute x numeric\n@attribute class {a,b}\n@data\n1,a\n2,b\n";
    says(arff, "", &[], &["--column"]);
}

#[test]
fn files_of_other_kinds_are_named() {
    for (content, parts) in [
        (
            &b"PK\x03\x04\x14\0\0\0\0\0[Content_Types].xml word/document.xml"[..],
            ["an Office document and no workbook", "save its table as CSV"],
        ),
        (
            b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\x05\0\0\0\x05\0\0\0\x05\0\0\0t.csvx,y\n1",
            ["a ZIP archive of other files", "unzip -p FILE | linsep train -"],
        ),
        (b"PAR1\x15\x04\x15\x00", ["a Parquet file", "pandas.read_parquet"]),
        (b"[{\"x\": 1}, {\"x\": 2}]", ["JSON", "lines=True"]),
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
    folder
        .linsep("predict model new --format csv --header yes --missing zero")
        .exits(3)
        .says(&["new:2:1: the word \"rotary\" in column \"w\""]);
}

#[test]
fn a_row_without_a_label_tells_nothing_about_the_columns() {
    let text = signed("w;y", |i| i.to_string()) + "Total;\n";
    let folder = Folder::with("data", text);
    let ran = folder.linsep("train data").exits(0).says(&["1 row with a missing cell or label was left out"]);
    assert!(ran.out.contains("1 feature of 58 rows"), "{ran:?}");
    // Nor is it converted with cells that only a model fills.
    folder.linsep("convert data new.csv --missing auto").exits(2).says(&["--missing auto needs a model"]);
}

/// `TRUE`, `True` and `true` are one class, also where a model learned one spelling and a new file has another.
#[test]
fn truth_values_of_a_new_file_are_those_of_the_model() {
    for (other, third) in [("", ""), (",maybe", "9,9,maybe\n8,9,maybe\n")] {
        let folder = Folder::new();
        folder.write("learned.csv", format!("x,z,y\n1,0,TRUE\n2,1,TRUE\n7,0,FALSE\n8,1,FALSE\n{third}"));
        folder.write("new.csv", format!("x,z,y\n1,0,true\n2,1,True\n7,0,False\n8,1,false\n{third}"));
        folder.linsep("train learned.csv -o model --epochs 50").exits(0);
        let expected = folder.linsep("evaluate model learned.csv --json").exits(0).json();
        let found = folder.linsep("evaluate model new.csv --json").exits(0).json();
        assert_eq!(expected["confusion"], found["confusion"], "{other}");
        folder.linsep("train learned.csv --positive true --epochs 2").exits(0);
        folder.write("strange.csv", "x,z,y\n1,0,right\n2,1,wrong\n");
        folder
            .linsep("evaluate model strange.csv")
            .exits(3)
            .says(&["\"right\" is not among the model's classes"]);
    }
}

/// Every guess says how to overrule it.
#[test]
fn notes_name_the_option_that_overrules_them() {
    // Missing cells, empty and named by a word.
    let row = |i: u32| {
        format!(
            "{},{},{}\n",
            if i == 3 { "NA".into() } else { i.to_string() },
            ["red", "blue"][i as usize / 2 % 2],
            ["a", "b"][i as usize % 2]
        )
    };
    let rows: String = (0..20).map(row).collect();
    let missing = "1 missing cell in column \"x\", \"NA\" on line 5, became the mean of the column.";
    let overrule = "--missing chooses another treatment; --na lists the words that mark a missing cell.";
    says(format!("x,w,y\n{rows}"), "", &[missing, overrule], &[]);
    let empty = format!("x,w,y\n{rows}").replace("NA", "").replace("red,b", ",b");
    says(&empty, "", &["became a category of their own. --missing chooses another treatment."], &["--na"]);
    let one = "x,w,y\n1,,a\n2,red,b\n3,blue,a\n4,red,b\n";
    says(one, "", &["1 missing cell in column \"w\" became a category of its own."], &[]);
    // A guess that other columns decided has another reading.
    let text = "price;weight;y\n1,234;0,5;a\n2,500;1,25;b\n3,750;2,5;a\n";
    says(text, "", &["If the point is the decimal separator, use --column price=decimal-point."], &[]);
    let dates = "d,e,y\n01/02/2020,31/01/2020,a\n03/04/2020,28/02/2020,b\n05/06/2020,15/03/2020,a\n";
    says(
        dates,
        "",
        &["If they begin with the month, use --column d=month-first."],
        &["--column e=month-first"],
    );
    // A column of codes with an empty cell is not blamed on the empty cell.
    let codes: String = (0..20)
        .map(|i| {
            format!(
                "{},{i},{}\n",
                if i == 4 { String::new() } else { format!("0{}", 1000 + i) },
                ["a", "b"][i % 2]
            )
        })
        .collect();
    says(format!("zip,x,y\n{codes}"), "", &["holds codes"], &["but not \"\""]);
    says(
        "x\tw\ty\n1\t\"pipe\ta\n2\trod\tb\n3\t\"pipe\ta\n4\trod\tb\n",
        "",
        &["an unclosed quote"],
        &["even only if"],
    );
}

/// Telephone numbers, codes and long identifiers stay words, and that is said; numbers that only resemble them stay numbers.
#[test]
fn what_only_looks_like_a_number_stays_a_word() {
    let table = |cells: &[&str], delimiter: &str| {
        let row = |(i, cell): (usize, &&str)| {
            [cell, (i * 7 % 5).to_string().as_str(), ["a", "b"][i % 2]].join(delimiter) + "\n"
        };
        ["what", "x", "y"].join(delimiter)
            + "\n"
            + &cells.repeat(4).iter().enumerate().map(row).collect::<String>()
    };
    let number = "--column what=number";
    let phones = ["712.307.833", "712.440.105", "730.118.920"];
    says(table(&phones, ","), "", &["as telephone numbers do", number], &["holds numbers"]);
    says(table(&phones, ","), number, &[], &["telephone"]);
    for amounts in
        [&["1.712.307", "312.307.100", "2.100.000"][..], &["712.307.833,5", "712.307.105,0", "730.118.920,2"]]
    {
        says(table(amounts, ";"), "", &["holds numbers"], &["telephone"]);
    }
    // A telephone number does not tell what a comma means elsewhere.
    says(
        "phone;price;y\n712.307.833;1,234;a\n712.440.105;2,500;b\n".replace(';', "\t"),
        "",
        &["the file does not show whether"],
        &[],
    );
    // A code with an E in the middle beside other codes; without them it is a number.
    let words = |cells: &[&str], expected: &str| {
        let folder = Folder::with("data", table(cells, ","));
        let out = folder
            .linsep("train data --epochs 1")
            .exits(0)
            .out
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(out.contains(expected), "{cells:?}: {out}");
    };
    words(&["12E4", "12B4", "07A1"], "1 column of numbers, 1 of words");
    words(&["12E4", "12E3", "1E1"], "2 columns of numbers");
    // Codes of any length, one of which begins with a zero.
    says(
        table(&["00501", "2139", "902101234"], ","),
        "",
        &["holds codes", "\"00501\" begins with a zero", number],
        &[],
    );
    says(table(&["00501", "2139", "902101234"], ","), number, &[], &["holds codes"]);
    says(table(&["501", "2139", "902101234"], ","), "", &[], &["holds codes"]);
    // Whole numbers that floats do not have.
    says(
        table(&["9007199254740993", "9007199254741000", "17"], ","),
        "",
        &["beyond 2^53", "--ignore what"],
        &[],
    );
    says(table(&["9007199254740992", "9007199254740991", "17"], ","), "", &[], &["beyond 2^53"]);
}

#[test]
fn a_guessed_label_is_placed_as_it_is() {
    let text = "x,kind,note\n1,good,u\n2,bad,v\n3,good,w\n4,bad,u\n";
    says(text, "", &["The label is column \"note\", the last; --label"], &[]);
    says(
        text,
        "--ignore note",
        &["The label is column \"kind\", the last that is not ignored; --label"],
        &[],
    );
}

#[test]
fn labels_may_lie_in_a_second_file() {
    let folder = Folder::with("data.csv", "width,colour\n1,red\n2,blue\n-1,red\n-2,blue\n");
    folder.write("labels.txt", "big\n big \nsmall\nsmall\n");
    let ran = folder.linsep("train data.csv --labels labels.txt --learner perceptron -o model").exits(0);
    assert!(ran.out.contains("3 features of 4 rows"), "{ran:?}");
    folder.linsep("predict model data.csv").exits(0);
    let predicted = folder.linsep("predict model data.csv -q").exits(0);
    assert_eq!(predicted.out, "big\nbig\nsmall\nsmall\n");
    let judged = folder.linsep("evaluate model data.csv --labels labels.txt").exits(0);
    assert!(judged.out.contains("0.00 % (0 of 4)"), "{judged:?}");
    folder.linsep("separate data.csv --labels labels.txt").exits(0);

    // One line too many is likely a header, and what would leave rows out is refused.
    folder.write("labels.txt", "size\nbig\nbig\nsmall\nsmall\n");
    let said = ["labels.txt: 5 labels for the 4 rows of data.csv; if its first line is a header, remove it"];
    folder.linsep("train data.csv --labels labels.txt").exits(3).says(&said);
    folder.write("labels.txt", "big\nbig\n");
    folder
        .linsep("train data.csv --labels labels.txt")
        .exits(3)
        .says(&["2 labels, and data.csv has more rows"]);
    folder.write("labels.txt", "big\n\nsmall\nsmall\n");
    folder.linsep("train data.csv --labels labels.txt").exits(3).says(&["labels.txt:2"]);
    folder.linsep("train data.csv --labels labels.txt --skip-bad").exits(2).says(&["leave rows out"]);
    folder
        .linsep("train data.csv --labels labels.txt --label colour")
        .exits(2)
        .says(&["one of them is enough"]);
    folder.write("data.svm", "1 1:1\n-1 2:1\n");
    folder.linsep("train data.svm --labels labels.txt").exits(2).says(&["does not apply to LIBSVM files"]);
}

/// Of a column of very many words, those that hardly any row has share a feature: said, kept in the model, undone on demand.
#[test]
fn rare_words_share_a_feature() {
    let row = |i: usize| {
        let city =
            if i.is_multiple_of(2) { format!("town{i}") } else { ["Rome", "Oslo"][i / 2 % 2].to_string() };
        format!("{city},{},{}\n", i * 7 % 11, ["a", "b"][i / 2 % 2])
    };
    let text = format!("city,x,kind\n{}", (0..60).map(row).collect::<String>());
    says(&text, "", &[], &["(rare)"]);
    let rare = "30 of the 32 words of column \"city\" are rare, in fewer than 3 training rows: they share one feature, \
                \"city=(rare)\". --max-words sets";
    says(&text, "--max-words 20", &[rare], &[]);
    says(&text, "--max-words 32", &[], &["(rare)"]);
    let folder = Folder::with("data", &text);
    folder.linsep("train data --max-words 20 -o model -q").exits(0);
    assert!(folder.linsep("inspect model").exits(0).out.contains("city=(rare)"));
    // A new word is as good as a rare one, from the text and from a cache of it.
    folder.write("new", "city,x,kind\ntown2,3,a\nNowhere,3,a\nRome,3,a\n");
    let predicted = folder.linsep("predict model new --show score -q").exits(0).out;
    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!(lines[0], lines[1]);
    assert_ne!(lines[0], lines[2]);
    folder.linsep("convert new new.linsep -q").exits(0);
    assert_eq!(folder.linsep("predict model new.linsep --show score -q").exits(0).out, predicted);
    folder
        .linsep("train data --max-words 20 --online")
        .exits(2)
        .says(&["--max-words needs all rows in memory"]);
    folder
        .linsep("train data --max-words 20 --init model")
        .exits(2)
        .says(&["keeps the features of the model"]);
    folder.write("rows.svm", "1 1:1\n-1 2:1\n");
    folder
        .linsep("train rows.svm --max-words 20")
        .exits(2)
        .says(&["--max-words does not apply to LIBSVM files"]);
}

/// What spreadsheets and other programs put around a table.
#[test]
fn what_stands_around_a_table_is_said() {
    let rows = "age;bmi;kind\n30;21,5;a\n40;25,5;b\n50;30,5;a\n";
    says(
        format!("Admissions 2023;;\n;;\n{rows}"),
        "",
        &["2 lines above the header are left out: \"Admissions 2023\""],
        &[],
    );
    says(rows, "", &[], &["above the header"]);
    let ended = rows.replace('\n', ";\n");
    says(&ended, "", &["Every row ends in a delimiter"], &[]);
    says("0,1,2\n5,7,0\n6,8,1\n7,6,0\n", "", &["The first row numbers the columns"], &[]);
    says("0,1,2\n5,7,0\n6,8,2\n7,6,0\n", "", &[], &["numbers the columns"]);
    let folder = Folder::with("data", format!("{rows}Source: the office\n"));
    folder.linsep("train data").exits(3).says(&["data:5", "--skip-bad if it is a remark"]);
    folder.linsep("train data --skip-bad").exits(0);
}

#[test]
fn a_model_of_labels_in_a_second_file_is_told_where_they_are() {
    let folder = Folder::with("data.csv", "width,height\n1,2\n2,3\n-1,1\n-2,0\n");
    folder.write("labels.txt", "big\nbig\nsmall\nsmall\n");
    let ran = folder.linsep("train data.csv --labels labels.txt -o model").exits(0);
    assert!(ran.out.contains("2 features of 4 rows"), "{ran:?}");
    folder.write("labelled.csv", "width,height,size\n1,2,big\n-1,1,small\n");
    folder.linsep("evaluate model labelled.csv").exits(2).says(&["stores no label column", "--labels"]);
    let judged = folder.linsep("evaluate model labelled.csv --label size").exits(0);
    assert!(judged.out.contains("0.00 % (0 of 2"), "{judged:?}");
    folder.linsep("predict model labelled.csv -q").exits(0);
    folder.linsep("convert data.csv --labels labels.txt rows.linsep").exits(0);
    folder.linsep("train rows.linsep -o other").exits(0);
    folder.linsep("convert data.csv --labels labels.txt rows.csv").exits(0);
    assert_eq!(folder.text("rows.csv").lines().next(), Some("width,height,label"));
}

/// Blank lines and comments above the header are none of the rows that a pipe gives, as they are none of a file.
#[test]
fn a_pipe_may_begin_with_blank_lines_and_comments() {
    let folder = Folder::with("rows.csv", "a,b,kind\n1,2,p\n2,1,q\n3,4,p\n4,1,q\n");
    folder.linsep("train rows.csv -o model").exits(0);
    let expected = folder.linsep_with_input("predict model -", b"a,b\n1,9\n9,1\n").exits(0).out;
    for above in ["\n", "\r\n  \n\n", "# made by us\n", "# made by us\n\n# in May\n"] {
        let input = format!("{above}a,b\n1,9\n9,1\n");
        assert_eq!(
            folder.linsep_with_input("predict model -", input.as_bytes()).exits(0).out,
            expected,
            "{input}"
        );
        let late = format!("{above}a,b\n1,9\nx1,1\n");
        let place = format!("standard input:{}:", above.matches('\n').count() + 3);
        folder.linsep_with_input("predict model -", late.as_bytes()).exits(3).says(&[&place]);
    }
}

//! Each guess about a column: files where it is made, and files where it must not be.

use crate::features::{CellForm, ColumnKind, DateOrder, Decimal, RowNames};
use crate::prepare::Preparation;
use crate::read::{ColumnAs, CsvOptions, Loaded, Missing, ReadOptions, Schema, Source, read};

fn load(text: &str, csv: CsvOptions) -> Loaded {
    let options = ReadOptions { csv, ..ReadOptions::default() };
    read(&Source::Shared("table".into(), text.as_bytes().into()), &options, &mut ())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn plainly(text: &str) -> Loaded {
    load(text, CsvOptions::default())
}

fn failure(text: &str, csv: CsvOptions) -> String {
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let source = Source::Shared("table".into(), text.as_bytes().into());
    read(&source, &options, &mut ()).expect_err(text).to_string()
}

/// What each column is, in short.
fn kinds(loaded: &Loaded) -> Vec<&'static str> {
    let Schema::Table { columns, .. } = &loaded.schema else { panic!("no table") };
    let kind = |kind: &ColumnKind| match kind {
        ColumnKind::Text(_) => "text",
        ColumnKind::Words(_) => "words",
        ColumnKind::Label => "label",
        ColumnKind::Ignored => "ignored",
        ColumnKind::Number(number) => match number.form {
            CellForm::Plain => "number",
            CellForm::Styled(style) if style.decimal == Decimal::Comma => "comma",
            CellForm::Styled(_) => "point",
            CellForm::Date(DateOrder::YearFirst) => "date",
            CellForm::Date(DateOrder::DayFirst) => "day first",
            CellForm::Date(DateOrder::MonthFirst) => "month first",
            CellForm::Time => "time",
        },
    };
    columns.iter().map(|column| kind(&column.kind)).collect()
}

fn kind_of(cells: &[&str]) -> &'static str {
    let rows: String = cells.iter().map(|cell| format!("\"{cell}\",7,a\n")).collect();
    let loaded = load(
        &format!("it,x,kind\n{rows}\"\",8,b\n"),
        CsvOptions { missing: Missing::Zero, ..CsvOptions::default() },
    );
    kinds(&loaded)[0]
}

fn values(loaded: &Loaded, feature: usize) -> Vec<f64> {
    let cell = |i: usize| loaded.dataset.row(i).iter().find(|&(j, _)| j == feature).map_or(0.0, |(_, x)| x);
    (0..loaded.dataset.len()).map(cell).collect()
}

fn remarks(loaded: &Loaded) -> String {
    loaded.notes.remarks.join("\n")
}

fn asked(column: &str, what: ColumnAs) -> CsvOptions {
    CsvOptions { columns: [(column.to_string(), what)].into(), ..CsvOptions::default() }
}

#[test]
fn none_is_a_word_among_words_and_missing_among_numbers() {
    let text = "debtors,age,kind\nnone,30,good\nguarantor,none,bad\nnone,-,good\n-,.,bad\n";
    let csv = CsvOptions { missing: Missing::Mean, ..CsvOptions::default() };
    let loaded = load(text, csv);
    assert_eq!(kinds(&loaded), ["words", "number", "label"]);
    assert_eq!(loaded.dataset.len(), 4);
    let names = loaded.schema.feature_names().unwrap();
    assert_eq!(names, ["age", "debtors=none", "debtors=guarantor", "debtors=-"]);
    assert_eq!(values(&loaded, 0), [30.0; 4]);
    assert!(remarks(&loaded).contains("3 missing cells in column \"age\""), "{}", remarks(&loaded));
    // The rows are kept where others would be dropped.
    let csv = CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() };
    assert_eq!(load(text, csv).dataset.len(), 1);
    assert!(
        failure(text, CsvOptions::default()).contains("table:3:11: the cell in column \"age\" is missing")
    );
}

#[test]
fn words_that_would_be_missing_among_numbers_are_words_without_numbers() {
    let loaded = plainly("sign,x,kind\n-,1,a\n-,2,b\n.,3,a\n");
    assert_eq!(kinds(&loaded), ["words", "number", "label"]);
    let text = format!("sign,x,kind\n{}5,2,b\n", "-,1,a\n".repeat(100_000));
    let loaded = load(&text, CsvOptions { missing: Missing::Zero, ..CsvOptions::default() });
    assert_eq!(kinds(&loaded), ["number", "number", "label"], "a number after the first rows decides");
}

#[test]
fn the_user_says_which_words_are_missing() {
    let text = "x,word,kind\n1,NA,a\n-999,unknown,b\n3,red,a\n";
    let csv = |na: &[&str]| CsvOptions {
        na: Some(na.iter().map(|word| word.to_string()).collect()),
        missing: Missing::Mean,
        ..CsvOptions::default()
    };
    let loaded = load(text, csv(&["-999", "unknown"]));
    assert_eq!(values(&loaded, 0), [1.0, 2.0, 3.0]);
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "word=NA", "word=red"]);
    let loaded = load(text, csv(&[]));
    assert_eq!(values(&loaded, 0), [1.0, -999.0, 3.0]);
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "word=NA", "word=unknown", "word=red"]);
    // A model remembers the words.
    let options = ReadOptions { schema: Some(load(text, csv(&["-999"])).schema), ..ReadOptions::default() };
    let source = Source::Shared("table".into(), text.as_bytes().into());
    let again = read(&source, &options, &mut ()).unwrap();
    assert_eq!(values(&again, 0), [1.0, 2.0, 3.0]);
}

#[test]
fn numbers_as_people_write_them() {
    for (cells, kind) in [
        (&["12 %", "3 %", "-4.5 %"][..], "point"),
        (&["12%", "NA", "3%"], "point"),
        (&["$86,606", "$7", "-$3"], "point"),
        (&["86.606 €", "7,50 €"], "comma"),
        (&["1.234,5", "84,7"], "comma"),
        (&["84,7", "12", "n.a."], "comma"),
        (&["(12)", "30", "-"], "point"),
        (&["1,234,567", "12"], "point"),
        (&["1 234", "999", "12 000"], "point"),
        (&["1'234.50", "12"], "point"),
    ] {
        assert_eq!(kind_of(cells), kind, "{cells:?}");
    }
}

#[test]
fn what_only_looks_like_numbers_stays_words() {
    for cells in [
        &["12%off", "30%off"][..],
        &["12 %", "thirty"],
        &["12 %", "0.3"],
        &["$5", "€5"],
        &["(555) 123-4567", "(555) 123-9999"],
        &["0171 123 456", "0172 123 457"],
        &["555 123 456", "555 123 457"],
        &["00501-1", "90210-2"],
        &["(1)", "(2)"],
        &["12 kg", "3 kg"],
        &["1.2.3", "1.10.2"],
        &["192.168.1.1", "10.0.0.1"],
        &["1,234", "5,678"],
        &["1,2,3", "4,5,6"],
    ] {
        assert_eq!(kind_of(cells), "words", "{cells:?}");
    }
}

#[test]
fn a_comma_before_three_digits_is_decided_by_the_file() {
    // Nothing tells: it stays what it is, and that is said.
    let loaded = plainly("it,x,kind\n\"1,234\",1,a\n\"5,678\",2,b\n");
    assert_eq!(kinds(&loaded), ["words", "number", "label"]);
    let said = remarks(&loaded);
    assert!(said.contains("\"1,234\"") && said.contains("⟦column⟧ it=decimal-point"), "{said}");
    // Decimal points elsewhere.
    let loaded = plainly("it,x,kind\n\"1,234\",1.5,a\n\"5,678\",2,b\n");
    assert_eq!((kinds(&loaded)[0], values(&loaded, 0)), ("point", vec![1234.0, 5678.0]));
    // Decimal commas elsewhere, and thousands with points, which would otherwise be plain numbers.
    let loaded = plainly("it;x;y;kind\n1,234;84,7;1.234;a\n5,678;3;5.000;b\n");
    assert_eq!(kinds(&loaded), ["comma", "comma", "comma", "label"]);
    assert_eq!((values(&loaded, 0), values(&loaded, 2)), (vec![1.234, 5.678], vec![1234.0, 5000.0]));
    // Semicolons between cells alone.
    assert_eq!(kinds(&plainly("it;x;kind\n1,234;1;a\n5,678;2;b\n"))[0], "comma");
    // Points with other than three decimals are decimal points, whatever else is in the file.
    let loaded = plainly("x;y;z;kind\n84,7;1.5;1.234;a\n3;2.25;5.678;b\n");
    assert_eq!(kinds(&loaded), ["comma", "number", "number", "label"]);
    // The column itself.
    assert_eq!(kind_of(&["1,234", "5,678.9"]), "point");
    assert_eq!(kind_of(&["1,234", "5,67"]), "comma");
}

#[test]
fn a_late_cell_decides_too() {
    let many = "\"1,234\",7,a\n".repeat(60_000);
    let loaded = plainly(&format!("it,x,kind\n{many}\"84,7\",8,b\n"));
    assert_eq!((kinds(&loaded)[0], values(&loaded, 0)[0]), ("comma", 1.234));
    let many = "$1,7,a\n".repeat(60_000);
    assert_eq!(kinds(&plainly(&format!("it,x,kind\n{many}free,8,b\n")))[0], "words");
}

#[test]
fn guesses_are_announced_and_can_be_overruled() {
    let text = "price,x,kind\n\"$86,606\",1,a\n\"$7\",2,b\n";
    let loaded = plainly(text);
    assert_eq!(
        loaded.notes.remarks,
        [
            "Column \"price\" holds numbers: \"$86,606\" is read as 86606. If these are words, use ⟦column⟧ price=words."
        ]
    );
    let loaded = load(text, asked("price", ColumnAs::Words));
    assert_eq!((kinds(&loaded)[0], loaded.notes.remarks.len()), ("words", 0));
    // The other way round.
    let text = "it,x,kind\n\"1,234\",1,a\n\"5,678\",2,b\n";
    assert_eq!(values(&load(text, asked("it", ColumnAs::DecimalComma)), 0), [1.234, 5.678]);
    assert_eq!(values(&load(text, asked("1", ColumnAs::DecimalPoint)), 0), [1234.0, 5678.0]);
    assert!(failure(text, asked("it", ColumnAs::Number)).contains("use decimal-point or decimal-comma"));
    assert_eq!(kinds(&load("zip,x,kind\n1,1,a\n2,2,b\n", asked("zip", ColumnAs::Words)))[0], "words");
    let text = "x,y,kind\n1,1,a\nten,2,b\n";
    assert!(failure(text, asked("x", ColumnAs::Number)).contains("the word \"ten\" in column \"x\""));
    assert!(failure(text, asked("z", ColumnAs::Number)).contains("there is no column \"z\""));
}

#[test]
fn a_model_reads_the_style_that_it_was_trained_with() {
    let loaded = plainly("price;share;kind\n1.234,5;12 %;a\n84,7;3 %;b\n");
    let schema: Schema = serde_json::from_str(&serde_json::to_string(&loaded.schema).unwrap()).unwrap();
    assert_eq!(schema, loaded.schema);
    let options = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
    let source = |text: &str| Source::Shared("table".into(), text.as_bytes().into());
    let again = read(&source("price;share;kind\n1,234;5 %;a\n"), &options, &mut ()).unwrap();
    assert_eq!((values(&again, 0), values(&again, 1)), (vec![1.234], vec![5.0]));
    let error = read(&source("price;share;kind\n1.5;5 %;a\n"), &options, &mut ()).unwrap_err().to_string();
    assert!(error.contains("the word \"1.5\" in column \"price\", which holds numbers"), "{error}");
}

#[test]
fn dates_and_times_are_numbers() {
    for (cells, kind) in [
        (&["2024-01-31", "2024-02-01"][..], "date"),
        (&["2024-01-31 12:30:00", "NA", "2024-02-01 00:00:00"], "date"),
        (&["31.01.2024", "01.02.2024"], "day first"),
        (&["01/31/2024", "02/01/2024"], "month first"),
        (&["31/01/2024", "02/01/2024"], "day first"),
        (&["12:30", "7:05"], "time"),
        (&["05.06.2024", "01.02.2024"], "day first"),
        // Nothing tells the day from the month, or a cell is no date.
        (&["01/02/2024", "03/04/2024"], "words"),
        (&["2024-01-31", "soon"], "words"),
        (&["2024-13-31", "2024-01-01"], "words"),
        (&["12:30", "3:1 win"], "words"),
        (&["2024", "2025"], "number"),
        (&["20240131", "20240201"], "number"),
    ] {
        assert_eq!(kind_of(cells), kind, "{cells:?}");
    }
    let loaded = plainly("when,x,kind\n1970-01-02,1,a\n1970-01-03 12:00,2,b\n");
    assert_eq!(values(&loaded, 0), [1.0, 2.5]);
    let said = remarks(&loaded);
    assert!(said.contains("\"1970-01-02\" is read as day 1 since 1970"), "{said}");
    let open = "when,x,kind\n01/02/2024,1,a\n03/04/2024,2,b\n";
    assert!(remarks(&plainly(open)).contains("⟦column⟧ when=month-first"));
    assert_eq!(values(&load(open, asked("when", ColumnAs::DayFirst)), 0)[0], 19754.0);
    assert_eq!(values(&load(open, asked("when", ColumnAs::MonthFirst)), 0)[0], 19724.0);
    // Another column tells.
    let loaded = plainly("a,b,kind\n01/02/2024,31/12/2024,a\n03/04/2024,01/12/2024,b\n");
    assert_eq!(kinds(&loaded)[..2], ["day first", "day first"]);
}

#[test]
fn cells_in_a_style_do_not_hide_the_header() {
    let loaded = plainly("$1,$2,a\n$3,$4,b\n");
    assert_eq!(loaded.dataset.len(), 2);
    let loaded = plainly("price,share,kind\n$1,12 %,a\n$3,4 %,b\n$1,4 %,a\n");
    assert_eq!(loaded.schema.feature_names().unwrap(), ["price", "share"]);
}

#[test]
fn a_first_line_may_name_the_delimiter() {
    let loaded = plainly("sep=;\r\nx;y;kind\r\n1,5;2;a\r\n2,5;oops;b\r\n3;4;a\r\n");
    assert_eq!(loaded.dataset.len(), 3);
    assert_eq!(values(&loaded, 0), [1.5, 2.5, 3.0]);
    let said = remarks(&loaded);
    assert!(said.contains("\"oops\" on line 4"), "{said}");
    // A column of that name is none.
    assert_eq!(plainly("sep=a;y\n1;b\n2;c\n").schema.feature_names().unwrap(), ["sep=a"]);
    assert!(
        failure("sep=;\nx;kind\n1;a\n2\n", CsvOptions::default()).contains("table:4:1: this row has 1 field")
    );
    // However much of the file is looked at first.
    let many = format!("sep=;\nx;kind\n{}", "1;a\n2;b\n".repeat(100_000));
    assert_eq!(plainly(&many).dataset.len(), 200_000);
}

#[test]
fn runs_of_spaces_divide_columns() {
    let loaded = plainly("length  width   kind\n 1.5     2      left\n10.25    3      right\n");
    assert_eq!(loaded.notes.format, "CSV, delimiter ' ', header, 2 columns of numbers");
    assert_eq!(values(&loaded, 0), [1.5, 10.25]);
    assert_eq!(loaded.dataset.classes(), ["left", "right"]);
    let error = failure("hello world\nthis is prose of 2 lines\n", CsvOptions::default());
    assert!(error.contains("the format cannot be determined"), "{error}");
}

#[test]
fn quotes_in_tab_separated_text_may_be_part_of_words() {
    let loaded = plainly("kind\tsize\tword\nspam\t1\t\"Hi\" she said\nham\t2\t\"ok\nspam\t3\tfine\n");
    assert_eq!(loaded.dataset.len(), 3);
    assert!(remarks(&loaded).contains("quotes are read as part of the words"));
    let names = load(
        "kind\tsize\tword\nspam\t1\t\"Hi\" she said\nham\t2\t\"ok\nspam\t3\tfine\n",
        CsvOptions { label: Some("kind".into()), ..CsvOptions::default() },
    );
    let names = names.schema.feature_names().unwrap();
    assert_eq!(names, ["size", "word=\"Hi\" she said", "word=\"ok", "word=fine"]);
}

/// Thirty rows with a few columns that nothing is learned from, and one that counts only at first.
fn suspicious() -> String {
    let row = |i: usize| {
        let nearly = if i == 29 { 7 } else { i };
        format!("{},n{i},{},{nearly},x,5,{},{}\n", i + 1, i * 7919 % 1009, i % 3, ["a", "b"][i % 2])
    };
    format!("row,name,order_id,nearly,same,five,size,kind\n{}", (0..30).map(row).collect::<String>())
}

#[test]
fn identifiers_and_constants_are_named_and_left_out_on_demand() {
    let loaded = plainly(&suspicious());
    assert!(!kinds(&loaded).contains(&"ignored"));
    let said = remarks(&loaded);
    let Schema::Table { columns, .. } = &loaded.schema else { panic!("no table") };
    let naming: Vec<(&str, RowNames)> =
        columns.iter().filter_map(|column| Some((column.name.as_str(), column.names_rows?))).collect();
    assert_eq!(naming, [("row", RowNames::CountsUp), ("name", RowNames::DifferentWords)]);
    let columns =
        Preparation::default().columns(loaded.schema.clone(), loaded.dataset.clone(), None).unwrap();
    assert_eq!(columns.schema.remarks().len(), 2);
    assert!(columns.schema.remarks()[1].ends_with("is left out; ⟦keep⟧ name brings it back."));
    assert_eq!(columns.train.columns(), loaded.dataset.columns() - 31);
    let kept =
        load(&suspicious(), CsvOptions { keep: vec!["row".into(), "2".into()], ..CsvOptions::default() });
    assert_eq!(
        Preparation::default().columns(kept.schema, kept.dataset, None).unwrap().schema.remarks().len(),
        0
    );
    for part in [
        "Column \"order_id\" has a different whole number in every row, and the name of an identifier",
        "Column \"same\" has the same value in every row",
        "Column \"five\" has the same value in every row",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(!said.contains("\"nearly\"") && !said.contains("\"size\""), "{said}");
    let loaded = load(&suspicious(), CsvOptions { auto: true, ..CsvOptions::default() });
    assert_eq!(
        kinds(&loaded),
        ["ignored", "ignored", "ignored", "number", "ignored", "ignored", "number", "label"]
    );
    assert!(
        remarks(&loaded)
            .contains("Column \"row\" numbers the rows: it looks like an identifier. It is left out")
    );
}

#[test]
fn a_late_row_clears_a_column() {
    let row = |i: usize| format!("{i},5,{}\n", ["a", "b"][i % 2]);
    let rows: String = (0..60_000).map(row).collect();
    let text = format!("row,five,kind\n{rows}");
    let names_rows = |loaded: &Loaded| match &loaded.schema {
        Schema::Table { columns, .. } => columns[0].names_rows,
        _ => None,
    };
    let loaded = plainly(&text);
    assert_eq!(names_rows(&loaded), Some(RowNames::CountsUp));
    assert!(remarks(&loaded).contains("\"five\""));
    let loaded = plainly(&format!("{text}3,6,a\n"));
    assert_eq!(names_rows(&loaded), None);
    assert!(!remarks(&loaded).contains("\"row\"") && !remarks(&loaded).contains("\"five\""));
    let csv = CsvOptions { auto: true, ..CsvOptions::default() };
    let loaded = load(&format!("{text}3,6,a\n"), csv);
    assert_eq!(kinds(&loaded), ["number", "number", "label"]);
}

#[test]
fn thousands_of_words_are_named() {
    let row = |i: usize| format!("w{},{},{}\n", i % 1500, i % 7, ["a", "b"][i % 2]);
    let text = format!("place,x,kind\n{}", (0..4000).map(row).collect::<String>());
    let said = remarks(&plainly(&text));
    assert!(
        said.contains("Column \"place\" has 1,500 different words. If they are names or codes"),
        "{said}"
    );
}

#[test]
fn encodings_are_guessed_and_said() {
    let source = |bytes: &[u8]| Source::Shared("table".into(), bytes.into());
    let text = b"stra\xdfe,x,kind\nK\xf6nigsallee,1,a\nHauptstra\xdfe,2,b\n";
    let loaded = read(&source(text), &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(loaded.schema.feature_names().unwrap()[1], "straße=Königsallee");
    assert!(
        remarks(&loaded).contains("it is read as windows-1252, which makes \"straße\""),
        "{}",
        remarks(&loaded)
    );
    // A letter far behind the beginning.
    let late = [b"word,x,kind\n".to_vec(), b"ok,1,a\n".repeat(60_000), b"K\xf6ln,2,b\n".to_vec()].concat();
    let loaded = read(&source(&late), &ReadOptions::default(), &mut ()).unwrap();
    assert!(loaded.schema.feature_names().unwrap().contains(&"word=Köln".to_string()));
    assert!(remarks(&loaded).starts_with("The text is not UTF-8: it is read as windows-1252"));
}

#[test]
fn codes_with_leading_zeros_are_words() {
    let loaded = plainly("zip,x,kind\n01234,1,a\n90210,2,b\n00501,3,a\n");
    assert_eq!(kinds(&loaded), ["words", "number", "label"]);
    assert!(remarks(&loaded).contains("\"01234\" begins with a zero"), "{}", remarks(&loaded));
    let csv = asked("zip", ColumnAs::Number);
    assert_eq!(values(&load("zip,x,kind\n01234,1,a\n90210,2,b\n", csv), 0), [1234.0, 90210.0]);
    for cells in [&["00501", "2139", "902101234"][..], &["0123", "5"], &["7", "12", "007"]] {
        assert_eq!(kind_of(cells), "words", "{cells:?}");
    }
    // Decimals, negative numbers and hours are numbers.
    for cells in [&["0123", "-5"][..], &["01", "12"], &["000.5", "100.5"], &["1998", "2024"], &["0", "1"]] {
        assert_eq!(kind_of(cells), "number", "{cells:?}");
    }
    // A late cell decides.
    let many = "90210,1,a\n".repeat(60_000);
    assert_eq!(kinds(&plainly(&format!("zip,x,kind\n{many}01234,2,b\n")))[0], "words");
    assert_eq!(kinds(&plainly(&format!("zip,x,kind\n{many}1234,2,b\n")))[0], "number");
    let many = "00210,1,a\n".repeat(60_000);
    assert_eq!(kinds(&plainly(&format!("zip,x,kind\n{many}1234,2,b\n")))[0], "words");
    assert_eq!(kinds(&plainly(&format!("zip,x,kind\n{many}-1234,2,b\n")))[0], "number");
    // Of cells with different lengths only the first are asked, however the file is read.
    let many = "90210,1,a\n2139,2,b\n".repeat(40_000);
    let text = format!("zip,x,kind\n{many}01234,2,b\n");
    assert_eq!(kinds(&plainly(&text))[0], "number");
    assert_eq!(
        kinds(&load(&text, CsvOptions { missing: Missing::Mean, ..CsvOptions::default() }))[0],
        "number"
    );
}

#[test]
fn truth_values_are_alike() {
    let loaded = plainly("ok,x,kind\nTRUE,1,yes\nFalse,2,No\ntrue,3,YES\nfalse,4,no\n");
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "ok=TRUE", "ok=False"]);
    assert_eq!(loaded.dataset.classes(), ["No", "yes"]);
    assert_eq!(values(&loaded, 1), [1.0, 0.0, 1.0, 0.0]);
    let loaded = plainly("colour,x,kind\nRed,1,a\nred,2,b\n");
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "colour=Red", "colour=red"]);
}

#[test]
fn a_header_of_numbers_is_suspected() {
    let text = "1,2,9\n0.5,1,0\n0.25,2,1\n0.75,4,0\n1.5,8,1\n";
    let said = remarks(&plainly(text));
    assert!(
        said.contains("Only the first row has the label \"9\". If it names the columns, use ⟦header=yes⟧"),
        "{said}"
    );
    // The numbers of the columns are a header, unless another row has the label.
    for (first, header, rows) in
        [("1,2,3", true, 4), ("0,1,2", true, 4), ("1,2,1", false, 5), ("2,3,4", false, 5)]
    {
        let loaded = plainly(&text.replace("1,2,9", first));
        assert_eq!(
            (loaded.dataset.len(), remarks(&loaded).contains("numbers the columns")),
            (rows, header),
            "{first}"
        );
    }
    let text = "0,1,2\n5,5,0\n6,7,2\n8,9,0\n";
    assert_eq!(plainly(text).dataset.len(), 4);
    let no = CsvOptions { header: Some(false), ..CsvOptions::default() };
    assert_eq!(load("1,2,3\n0.5,1,0\n0.25,2,1\n", no).dataset.len(), 3);
    let text = "1,2,9\n0.5,1,0\n0.25,2,1\n0.75,4,0\n1.5,8,1\n";
    assert_eq!(load(text, CsvOptions { header: Some(true), ..CsvOptions::default() }).dataset.len(), 4);
    assert!(!remarks(&plainly("0.5,1,0\n0.25,2,1\n0.75,4,0\n")).contains("first row"));
}

#[test]
fn whole_numbers_that_floats_do_not_have_are_words() {
    for cells in [
        &["9007199254740993", "9007199254740994"][..],
        &["12345678901234567890", "1"],
        &["1", "9007199254740993"],
        &["-9007199254740993", "5"],
    ] {
        assert_eq!(kind_of(cells), "words", "{cells:?}");
    }
    for cells in
        [&["9007199254740992", "1"][..], &["0.12345678901234567", "1"], &["1e300", "123456789012345678.5"]]
    {
        assert_eq!(kind_of(cells), "number", "{cells:?}");
    }
    let many = "1,1,a\n".repeat(60_000);
    assert_eq!(kinds(&plainly(&format!("it,x,kind\n{many}9007199254740993,2,b\n")))[0], "words");
}

/// A few cells that are unlike the others make a column words, which is said with what to do; it is no identifier then.
#[test]
fn a_stray_cell_is_named() {
    let table = |cell: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("\"{}\",{},{}\n", cell(i), i * i % 7, ["a", "b"][i % 2]);
        format!("it,x,kind\n{}", (0..40).map(row).collect::<String>())
    };
    for (cell, like) in [
        (&(|i| format!("${i}")) as &dyn Fn(usize) -> String, "nearly all its cells are like \"$0\""),
        (&|i| format!("{}/3/2024", i % 28 + 1), "nearly all its cells are like \"1/3/2024\""),
        (&|i| format!("{i}"), "39 of its 40 cells are numbers"),
    ] {
        let text = table(&|i| if i == 20 { "ask us".into() } else { cell(i) });
        let loaded = plainly(&text);
        let said = remarks(&loaded);
        assert_eq!(kinds(&loaded)[0], "words");
        assert!(
            said.contains(like) && said.contains("but not \"ask us\" on line 22. Correct the cell"),
            "{said}"
        );
        assert!(!said.contains("identifier"), "{said}");
        // Told that it is a missing cell, the column is what the others are.
        let na =
            CsvOptions { na: Some(vec!["ask us".into()]), missing: Missing::Zero, ..CsvOptions::default() };
        let kind = if like.contains("$0") {
            "point"
        } else if like.contains("/3/") {
            "day first"
        } else {
            "number"
        };
        assert_eq!(kinds(&load(&text, na))[0], kind);
    }
    // Words among which there are numbers.
    let said = remarks(&plainly(&table(&|i| if i % 5 == 0 { "ask us".into() } else { format!("${i}") })));
    assert!(!said.contains("nearly"), "{said}");
    // Percent signs at some of the numbers only.
    let said = remarks(&plainly(&table(&|i| if i % 9 == 0 { format!("{i}") } else { format!("{i}%") })));
    assert!(said.contains("some of its numbers have a percent sign, such as \"1%\""), "{said}");
    assert!(!said.contains("identifier"), "{said}");
}

/// Lines above the header are left out and said; rows keep their line numbers.
#[test]
fn titles_above_the_header_are_left_out() {
    let rows = "age,bmi,kind\n30,21.5,a\n40,25,b\n50,30,a\n";
    for (above, lines) in [
        ("Table 3: admissions\n\n", "2 lines above the header are left out: \"Table 3: admissions\""),
        ("Report;;\n;;\n", "2 lines above the header are left out: \"Report\""),
        ("Admissions by age\n", "1 line above the header is left out"),
        ("\"Report, final\"\nmade by us\n", "2 lines above the header are left out: \"Report, final\""),
    ] {
        let rows = if above.contains(';') { rows.replace(',', ";") } else { rows.to_string() };
        let text = format!("{above}{rows}");
        let loaded = plainly(&text);
        assert!(remarks(&loaded).starts_with(lines), "{}", remarks(&loaded));
        assert_eq!((loaded.dataset.len(), loaded.dataset.columns()), (3, 2), "{above}");
        assert_eq!(loaded.dataset.line(1), above.matches('\n').count() as u64 + 3, "{above}");
        // A model takes the same file with and without them.
        let options = ReadOptions { schema: Some(loaded.schema), ..ReadOptions::default() };
        for text in [text, rows] {
            let again =
                read(&Source::Shared("table".into(), text.as_bytes().into()), &options, &mut ()).unwrap();
            assert_eq!(again.dataset.rows(), loaded.dataset.rows());
        }
    }
    for text in ["1,,\nx,y,kind\n1,2,a\n2,3,b\n", "a,\nx,y\nb,c\nx,c\n", ",x,kind\n1,2,a\n2,3,b\n"] {
        let options = CsvOptions { missing: Missing::Auto, ..CsvOptions::default() };
        let options = ReadOptions { csv: options, ..ReadOptions::default() };
        let loaded = read(&Source::Shared("table".into(), text.as_bytes().into()), &options, &mut ());
        assert!(loaded.is_ok_and(|loaded| !remarks(&loaded).contains("above the header")), "{text}");
    }
}

#[test]
fn months_may_have_names_and_years_two_digits() {
    assert_eq!(kind_of(&["1-Jan-2023", "28-feb-2023"]), "day first");
    assert_eq!(kind_of(&["Jan 1, 2023", "May 31, 2023"]), "month first");
    assert_eq!(kind_of(&["31.12.21", "01.02.22"]), "day first");
    assert_eq!(kind_of(&["1/31/21", "2/1/22"]), "month first");
    for cells in
        [&["1/2/21", "2/1/22"][..], &["10.1.21", "1.2.22"], &["May 1", "June 2"], &["Jan-2023", "Feb-2023"]]
    {
        assert_eq!(kind_of(cells), "words", "{cells:?}");
    }
}

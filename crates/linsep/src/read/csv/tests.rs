use super::records::{Record, Records};
use super::*;
use crate::features::{CellForm, Number};
use crate::read::Missing;
use crate::read::{ColumnKind, CsvOptions, Labels};
use proptest::prelude::*;

/// Everything that reading a text gives.
#[derive(Debug, PartialEq)]
struct Table {
    rows: Vec<Vec<(usize, f64)>>,
    labels: Vec<Option<String>>,
    lines: Vec<u64>,
    schema: Schema,
}

/// How a text is read; none of this must show.
#[derive(Clone, Copy, Debug)]
struct How {
    head: usize,
    chunk: usize,
    plain_rows: bool,
    guess: bool,
}

/// The simplest way: one chunk, one record after the other.
const SIMPLY: How = How { head: 1 << 18, chunk: 1 << 20, plain_rows: false, guess: false };

/// What reading a text gives, and how it ended.
fn read_as(text: &[u8], options: &ReadOptions, how: How) -> (Option<Table>, Result<ReadNotes, ReadError>) {
    let input = Input::from_bytes(text, how.head);
    let mut reader = match CsvReader::open(
        "test".to_string(),
        input,
        options,
        how.guess,
        how.chunk,
        LineNumbering::TEXT,
    ) {
        Ok(reader) => reader,
        Err(fault) => return (None, Err(located("test", fault))),
    };
    reader.reading.write().unwrap().rules.plain_rows &= how.plain_rows;
    let (mut rows, mut labels, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let ended = loop {
        let batch = match reader.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => break Ok(reader.notes()),
            Err(error) => break Err(error),
        };
        for i in 0..batch.len() {
            let row: Vec<(usize, f64)> = batch.row(i).iter().filter(|&(_, value)| value != 0.0).collect();
            assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "{row:?} must increase");
            rows.push(row);
            labels.push(reader.label_names().get(batch.label(i) as usize).cloned());
            lines.extend(batch.line(i));
        }
    };
    (Some(Table { rows, labels, lines, schema: reader.schema() }), ended)
}

fn read_with_head(text: &[u8], options: &ReadOptions, head: usize) -> Result<(Table, ReadNotes), ReadError> {
    let (table, ended) =
        read_as(text, options, How { head, chunk: CHUNK_BYTES, plain_rows: true, guess: false });
    let notes = ended?;
    Ok((table.unwrap(), notes))
}

fn read(text: &str, options: &ReadOptions) -> Result<(Table, ReadNotes), ReadError> {
    read_with_head(text.as_bytes(), options, 1 << 18)
}

fn plain(text: &str) -> (Table, ReadNotes) {
    read(text, &ReadOptions::default()).unwrap()
}

fn failure(text: &str, options: &ReadOptions) -> (Option<u64>, Option<u64>, String) {
    let error = read(text, options).map(|(table, _)| table).unwrap_err();
    (error.line, error.column, error.kind.to_string())
}

fn plain_failure(text: &str) -> (u64, u64, String) {
    let (line, column, message) = failure(text, &ReadOptions::default());
    (line.unwrap_or(0), column.unwrap_or(0), message)
}

fn features(table: &Table) -> Vec<String> {
    table.schema.feature_names().unwrap()
}

#[test]
fn numbers_come_first_and_words_in_order_of_appearance() {
    let (table, notes) = plain("colour,x,shape,y\nred,1,round,a\nblue,0,square,b\nred,2.5,flat,a\n");
    assert_eq!(notes.format, "CSV, delimiter ',', header, 1 column of numbers, 2 of words");
    assert_eq!(
        features(&table),
        ["x", "colour=red", "shape=round", "colour=blue", "shape=square", "shape=flat"]
    );
    assert_eq!(table.rows[0], [(0, 1.0), (1, 1.0), (2, 1.0)]);
    assert_eq!(table.rows[1], [(3, 1.0), (4, 1.0)]);
    assert_eq!(table.rows[2], [(0, 2.5), (1, 1.0), (5, 1.0)]);
    assert_eq!(table.labels, ["a", "b", "a"].map(|name| Some(name.to_string())));
    assert_eq!(table.lines, [2, 3, 4]);
}

#[test]
fn a_table_of_numbers_is_dense() {
    let text = b"1,0,3,a\n4,5,6,b\n";
    let input = Input::from_bytes(text, 1 << 18);
    let mut reader = CsvReader::new("test".into(), input, &ReadOptions::default(), false).unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    let BatchRows::Dense { columns: 3, values } = batch.rows else { panic!("not dense") };
    assert_eq!(values, [1.0, 0.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn quotes_newlines_and_padding() {
    let text = "\u{feff}\"a b\", c ,y\r\n\"say \"\"hi\"\"\", in \"mid\" ,1\r\n\r\n\"two\nlines, one cell\"  ,z,2\r\n \
                \"q\",,3";
    let options = ReadOptions {
        csv: CsvOptions { missing: Missing::Zero, ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let (table, _) = read(text, &options).unwrap();
    assert_eq!(
        features(&table),
        ["a b=say \"hi\"", "c=in \"mid\"", "a b=two\nlines, one cell", "c=z", "a b=q"]
    );
    assert_eq!(table.lines, [2, 4, 6]);
}

#[test]
fn delimiters_and_headers_are_detected() {
    for (text, format) in [
        ("1\t2\n3\t4\n", "CSV, delimiter tab, no header, 1 column of numbers"),
        ("x;y\n1;a\n2;b\n", "CSV, delimiter ';', header, 1 column of numbers"),
        ("x|y|z\n1,5|2|a\n2,6|2|b\n", "CSV, delimiter '|', header, 2 columns of numbers"),
        ("\"a;b\",1\n\"c;d\",2\n", "CSV, delimiter ',', no header, 1 column of words"),
        // Words over words: a header, unless a name recurs below.
        ("kind,size\na,big\na,small\nb,big\n", "CSV, delimiter ',', header, 1 column of words"),
        ("a,big\na,small\nb,big\n", "CSV, delimiter ',', no header, 1 column of words"),
        ("?,1\n2,1\n", "CSV, delimiter ',', no header, 1 column of numbers"),
        ("1,2\n", "CSV, delimiter ',', no header, 1 column of numbers"),
    ] {
        let options = ReadOptions {
            csv: CsvOptions { missing: Missing::Zero, ..CsvOptions::default() },
            ..ReadOptions::default()
        };
        let (_, notes) = read(text, &options).unwrap();
        assert_eq!(notes.format, format, "{text}");
    }
    let options = ReadOptions {
        csv: CsvOptions { delimiter: Some(b' '), header: Some(true), ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let (table, notes) = read("1 2\n3 4\n", &options).unwrap();
    assert_eq!(notes.format, "CSV, delimiter ' ', header, 1 column of numbers");
    assert_eq!(features(&table), ["1"]);
}

#[test]
fn header_names_are_made_distinct() {
    let (table, notes) = plain("x,x,,x.2,y\n1,2,3,4,a\n5,6,7,8,b\n");
    assert_eq!(features(&table), ["x", "x.3", "3", "x.2"]);
    assert!(notes.remarks[0].contains("column 2 is called \"x.3\""), "{:?}", notes.remarks);
}

#[test]
fn label_and_ignored_columns_go_by_name_or_number() {
    let text = "id,2,y,x\n7,1,a,5\n8,2,b,6\n";
    let choose = |label: &str, ignore: &[&str]| ReadOptions {
        csv: CsvOptions {
            label: Some(label.to_string()),
            ignore: ignore.iter().map(|name| name.to_string()).collect(),
            ..CsvOptions::default()
        },
        ..ReadOptions::default()
    };
    let (table, _) = read(text, &choose("y", &["id"])).unwrap();
    assert_eq!(features(&table), ["2", "x"]);
    // A name wins over a number.
    let (table, _) = read(text, &choose("2", &["1"])).unwrap();
    assert_eq!(features(&table), ["x", "y=a", "y=b"]);
    let (table, _) = read(text, &choose("3", &["id", "4"])).unwrap();
    assert_eq!(features(&table), ["2"]);
    assert!(failure(text, &choose("z", &[])).2.contains("no column \"z\"; the columns are \"id\", \"2\""));
    assert!(failure(text, &choose("5", &[])).2.contains("no column \"5\""));
    assert!(failure(text, &choose("y", &["1", "2", "x"])).2.contains("besides the label"));
}

#[test]
fn errors_have_their_place() {
    let ragged = |found, expected| format!("this row has {found} fields where {expected} are expected");
    for (text, line, column, message) in [
        ("1,2,a\n3,4,5,b\n6,7,c\n", 2, 7, ragged(4, 3)),
        ("1,2,a\n3,b\n6,7,c\n", 2, 3, ragged(2, 3)),
        ("1,2,a\n3,\"4,b\n6,7,c\n", 2, 3, "the quote that opens here is never closed".to_string()),
        ("1,\"2\n\n\",a\n3,\"4\"x,b\n", 4, 6, "unexpected text after the closing quote: \"x\"".to_string()),
        ("1,2,a\n3,  NA,b\n", 2, 5, "the cell in column \"2\" is missing (found \"NA\")".to_string()),
        ("1,2,a\n3,-inf,b\n", 2, 3, "the value \"-inf\" is not finite".to_string()),
        ("1,2,a\n3,1e999,b\n", 2, 3, "the value \"1e999\" is not finite".to_string()),
        ("1,2,a\n3,4,\n", 2, 5, "the label \"\" is missing or not finite".to_string()),
        ("1,2,a\n3,4,?\n", 2, 5, "the label \"?\" is missing or not finite".to_string()),
        ("1,2,a\n3,4,1e999\n", 2, 5, "the label \"1e999\" is missing or not finite".to_string()),
        ("1,2,a\n\"\n\",\x014,b\n", 3, 3, "this is not text: found byte 0x01".to_string()),
        (
            "name,x,y\nAda,?,1\nBob,2,2\n",
            2,
            5,
            "the cell in column \"x\" is missing (found \"?\")".to_string(),
        ),
        ("hello\nworld\n", 0, 0, ReadErrorKind::NoDelimiter.to_string()),
        ("\n \n", 0, 0, ReadErrorKind::Empty.to_string()),
        ("a,\"b\n", 1, 3, "the quote that opens here is never closed".to_string()),
    ] {
        assert_eq!(plain_failure(text), (line, column, message), "{text:?}");
    }
    let bytes = b"x,y\nok,1\nna\xefve,2\n";
    let error = read_with_head(bytes, &ReadOptions::default(), 1 << 18).map(|_| ()).unwrap_err();
    assert_eq!((error.line, error.column), (Some(3), Some(1)));
    assert!(matches!(error.kind, ReadErrorKind::NotUtf8 { column } if column == "x"));
    let quote = ReadOptions {
        csv: CsvOptions { delimiter: Some(b'"'), ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    assert!(failure("1,2\n", &quote).2.contains("cannot be a delimiter"));
    let few = ReadOptions { max_features: Some(2), ..ReadOptions::default() };
    assert_eq!(failure("1,2,3,a\n", &few).2, "more than 2 features");
    assert_eq!(failure("w,a\nv,b\nu,a\nw,b\n", &few), (Some(3), Some(1), "more than 2 features".to_string()));
}

#[test]
fn numbers_among_words_are_remarked_on() {
    for (text, remark) in [
        (
            "x,y\n1,a\n2,a\n3,b\nfoo,b\n",
            "Column \"x\" is read as words: 3 of its 4 cells are numbers, but not \"foo\" on line 5.",
        ),
        (
            "1;7;a\n2,5kg;8;b\n3;7;a\n",
            "Column \"1\" is read as words: 2 of its 3 cells are numbers, but not \"2,5kg\" on line 2.",
        ),
        (
            "x,y\n0x10,a\n3,b\n",
            "Column \"x\" is read as words: 1 of its 2 cells is a number, but not \"0x10\" on line 2.",
        ),
    ] {
        assert_eq!(plain(text).1.remarks, [remark], "{text}");
    }
    // Where nearly all are numbers, it says what to do.
    let rows: String = (0..20).map(|i| format!("{i},{}\n", ["a", "b"][i % 2])).collect();
    let said = plain(&format!("x,y\nfoo,a\n{rows}")).1.remarks;
    assert!(said[0].ends_with("list it with ⟦na⟧, along with all other such words."), "{said:?}");
    assert!(plain("x,y\n1,a\nfoo,a\nbar,b\n").1.remarks.is_empty());
}

#[test]
fn a_delimiter_at_the_end_of_rows_is_hinted_at() {
    let message = ReadErrorKind::TrailingDelimiter.to_string();
    assert_eq!(plain_failure("1,2,a,\n3,4,b,\n"), (1, 7, message.clone()));
    assert_eq!(plain_failure("x,y,kind,\n1,2,a,\n3,4,b,5\n"), (2, 7, message));
    // Where the header does too, it is what the program that wrote the file does.
    let (table, notes) = plain("x,y,kind,\n1,2,a,\n3,4,b,\n");
    assert_eq!((table.rows.len(), features(&table)), (2, vec!["x".to_string(), "y".to_string()]));
    assert!(notes.remarks[0].starts_with("Every row ends in a delimiter"), "{notes:?}");
    let named = ReadOptions {
        csv: CsvOptions { label: Some("3".into()), ignore: vec!["4".into()], ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    assert_eq!(read("1,2,a,\n3,4,b,\n", &named).unwrap().0.rows.len(), 2);
    // Most rows have a label, or the column has a name: then a label is missing.
    assert!(plain_failure("1,a\n2,b\n3,\n").2.contains("the label \"\" is missing"));
    assert!(plain_failure("x,kind\n2,\n3,\n4,a\n").2.contains("the label \"\" is missing"));
}

#[test]
fn labels_that_are_missing_can_be_dropped_and_none_is_a_class() {
    let options = ReadOptions {
        csv: CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let (table, notes) = read("x,w,y\n1,p,a\n2,q,\n3,p,none\n,p,a\n5,p,?\n", &options).unwrap();
    assert_eq!(table.labels, ["a", "none"].map(|name| Some(name.to_string())));
    assert_eq!((notes.dropped, features(&table)), (3, vec!["x".to_string(), "w=p".to_string()]));
    assert_eq!(plain("1,None\n2,b\n").0.labels[0].as_deref(), Some("None"));
    assert!(plain_failure("1,a\n2,null\n").2.contains("the label \"null\" is missing"));
}

#[test]
fn a_column_has_one_part_to_play() {
    let both = ReadOptions {
        csv: CsvOptions { label: Some("y".into()), ignore: vec!["2".into()], ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let expected = "column \"y\" is named by ⟦label⟧ and by ⟦ignore⟧: leave it out of one of them";
    assert_eq!(failure("x,y,z\n1,a,2\n2,b,3\n", &both).2, expected);
    for (label, ignore, expected) in [
        (
            Some("x"),
            None,
            "⟦label⟧ names column \"x\", which is not the label column of this model: name that one",
        ),
        (None, Some("w"), "⟦ignore⟧ leaves out column \"w\", which the model needs: take it out of ⟦ignore⟧"),
        (None, Some("y"), "⟦ignore⟧ leaves out column \"y\", which the model needs: take it out of ⟦ignore⟧"),
    ] {
        let options = ReadOptions {
            csv: CsvOptions {
                label: label.map(str::to_string),
                ignore: ignore.iter().map(|name| name.to_string()).collect(),
                ..CsvOptions::default()
            },
            ..predict(true, Labels::Required)
        };
        assert_eq!(failure("x,w,y\n1,red,a\n", &options).2, expected);
    }
    let options = ReadOptions {
        csv: CsvOptions { ignore: vec!["y".into()], ..CsvOptions::default() },
        ..predict(true, Labels::Ignored)
    };
    assert_eq!(read("x,w,y\n1,red,a\n", &options).unwrap().0.rows.len(), 1);
    // Without names the label stands where it stood.
    let options = ReadOptions {
        csv: CsvOptions { label: Some("1".into()), ..CsvOptions::default() },
        ..predict(false, Labels::Required)
    };
    assert!(failure("1,red,a\n", &options).2.contains("not the label column of this model"));
    let options = ReadOptions {
        csv: CsvOptions { ignore: vec!["id".into()], ..CsvOptions::default() },
        ..predict(true, Labels::Required)
    };
    assert_eq!(read("id,x,w,y\n7,1,red,a\n", &options).unwrap().0.rows.len(), 1);
}

#[test]
fn infinity_is_a_word_among_words() {
    let (table, _) = plain("x,y\ninf,1\nfoo,2\n");
    assert_eq!(features(&table), ["x=inf", "x=foo"]);
}

#[test]
fn missing_cells_become_what_was_asked_for() {
    let text = "x,w,y\n1,red,a\n?,blue,b\n3,,a\n";
    let with = |missing| {
        read(
            text,
            &ReadOptions { csv: CsvOptions { missing, ..CsvOptions::default() }, ..ReadOptions::default() },
        )
        .unwrap()
    };
    let (table, notes) = with(Missing::Mean);
    assert_eq!(table.rows, [vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (2, 1.0)], vec![(0, 3.0)]]);
    assert_eq!(
        notes.remarks,
        [
            "1 missing cell in column \"x\", \"?\" on line 3, became the mean of the column.",
            "1 missing cell in column \"w\" was left without a category. ⟦missing⟧ chooses another \
             treatment; ⟦na⟧ lists the words that mark a missing cell."
        ]
    );
    let (table, notes) = with(Missing::Zero);
    assert_eq!(table.rows[1], [(2, 1.0)]);
    assert_eq!(notes.remarks[0], "1 missing cell in column \"x\", \"?\" on line 3, became zero.");
    let Schema::Table { columns, .. } = &table.schema else { panic!("no table") };
    assert_eq!(
        columns[0].kind,
        ColumnKind::Number(Number { feature: 0, fill: Some(0.0), gap: None, form: CellForm::Plain })
    );
    assert!(matches!(&columns[1].kind, ColumnKind::Words(words) if words.optional));
    let (table, notes) = with(Missing::DropRow);
    // A dropped row gives no word.
    assert_eq!((features(&table), notes.dropped), (vec!["x".to_string(), "w=red".to_string()], 2));
}

#[test]
fn a_mean_of_huge_numbers_does_not_overflow() {
    let options = ReadOptions {
        csv: CsvOptions { missing: Missing::Mean, ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let (table, _) = read("1e308,a\n1.5e308,b\n1.7e308,a\n?,b\n", &options).unwrap();
    assert!((table.rows[3][0].1 / 1.4e308 - 1.0).abs() < 1e-12);
}

#[test]
fn a_column_without_values_is_an_error() {
    for online in [false, true] {
        let options = ReadOptions {
            online,
            csv: CsvOptions { missing: Missing::Zero, ..CsvOptions::default() },
            ..ReadOptions::default()
        };
        assert!(failure("1,?,a\n2,,b\n", &options).2.contains("column \"2\" has no values"));
    }
    let options = ReadOptions {
        csv: CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    let (table, notes) = read("1,?,a\n2,,b\n", &options).unwrap();
    assert_eq!((table.rows.len(), notes.dropped), (0, 2));
}

#[test]
fn skipped_rows_leave_no_trace() {
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let text = "1,2,red,a\n3,word,inf2,9,new\n4,x,,new\n5,\"6\"7,green,new\n8,9,blue,?\n6,inf,pink,new\n7,word,teal,na\n10,11,red,b\n";
    let (table, notes) = read(text, &options).unwrap();
    assert_eq!(features(&table), ["1", "2", "3=red"]);
    assert_eq!(table.lines, [1, 8]);
    assert_eq!(table.labels, [Some("a".to_string()), Some("b".to_string())]);
    assert_eq!(notes.skipped, 6);
    assert_eq!(notes.first_skipped[0].line, 2);
    assert!(notes.first_skipped[0].reason.contains("5 fields where 4"));
}

#[test]
fn infinite_cells_are_decided_by_the_rows_that_stay() {
    let options = ReadOptions {
        skip_bad: true,
        csv: CsvOptions { header: Some(false), ..CsvOptions::default() },
        ..ReadOptions::default()
    };
    // Row 1 stays because "v" makes column 2 words, and its word then makes column 1 words.
    let (table, notes) = read("w,inf,a\n1,v,b\n2,3,a\n", &options).unwrap();
    assert_eq!((table.rows.len(), notes.skipped), (3, 0));
    let (table, notes) = read("w,inf,a\n1,4,b\n2,3,a\n", &options).unwrap();
    assert_eq!((table.rows.len(), notes.skipped), (2, 1));
    assert_eq!(features(&table), ["1", "2"]);
}

#[test]
fn identifiers_are_remarked_on_where_they_are_not_left_out() {
    let text: String = (0..60).map(|i| format!("name {i},{},{}\n", i % 7, i % 2)).collect();
    let (table, notes) = plain(&format!("full name,x,y\n{text}"));
    assert_eq!(notes.remarks, [""; 0]);
    assert_eq!(
        table.schema.remarks(),
        [
            "Column \"full name\" has a different word in every row: it looks like an identifier. Leave it out with ⟦ignore⟧ \
             \"full name\"."
        ]
    );
}

#[test]
fn one_pass_settles_columns_from_the_beginning() {
    let text = "1,a,p\n2,b,q\n3,c,p\nfour,d,q\n";
    let options = ReadOptions { online: true, ..ReadOptions::default() };
    let error = read_with_head(text.as_bytes(), &options, 14).map(|_| ()).unwrap_err();
    assert_eq!((error.line, error.column), (Some(4), Some(1)));
    assert!(matches!(error.kind, ReadErrorKind::WordAmongNumbers { .. }));
    let skipping = ReadOptions { skip_bad: true, ..options.clone() };
    let (table, notes) = read_with_head(text.as_bytes(), &skipping, 14).unwrap();
    assert_eq!((features(&table).len(), notes.skipped), (4, 1));
    let mean = ReadOptions { csv: CsvOptions { missing: Missing::Mean, ..CsvOptions::default() }, ..options };
    assert!(failure(text, &mean).2.contains("mean"));
}

/// A model's view of `x,w,y` with words.
fn model(header: bool, missing: Missing) -> Schema {
    let text = "x,w,y\n1,red,a\n2,blue,b\n6,red,a\n";
    let text = if header { text } else { &text[6..] };
    read(
        text,
        &ReadOptions { csv: CsvOptions { missing, ..CsvOptions::default() }, ..ReadOptions::default() },
    )
    .unwrap()
    .0
    .schema
}

fn predict(header: bool, labels: Labels) -> ReadOptions {
    ReadOptions { schema: Some(model(header, Missing::Refuse)), labels, ..ReadOptions::default() }
}

#[test]
fn a_model_finds_its_columns_by_name() {
    let options = predict(true, Labels::Ignored);
    let (table, notes) = read("id,w,x\n1,blue,5\n2,green,7\n", &options).unwrap();
    assert_eq!(table.rows, [vec![(0, 5.0), (2, 1.0)], vec![(0, 7.0)]]);
    assert_eq!(table.labels, [None, None]);
    assert_eq!(
        notes.remarks,
        [
            "1 column is not in the model and ignored: \"id\".",
            "1 cell holds a word that was not in the training data; it is left without a category."
        ]
    );
    assert_eq!(Some(table.schema), options.schema);
    assert!(failure("id,x\n1,5\n", &options).2.contains("no column \"w\""));
    let scored = predict(true, Labels::Required);
    assert!(failure("w,x\nred,5\n", &scored).2.contains("no column \"y\""));
    let (table, _) = read("y,w,x\nb,red,5\n", &scored).unwrap();
    assert_eq!((table.rows, table.labels), (vec![vec![(0, 5.0), (1, 1.0)]], vec![Some("b".to_string())]));
    let other = ReadOptions {
        csv: CsvOptions { label: Some("truth".to_string()), ..CsvOptions::default() },
        ..scored
    };
    let (table, _) = read("truth,w,x,y\nb,red,5,a\n", &other).unwrap();
    assert_eq!(table.labels, [Some("b".to_string())]);
}

#[test]
fn a_model_without_names_goes_by_place() {
    let options = predict(false, Labels::Ignored);
    for text in ["5,blue,a\n", "5,blue\n", "5,blue,\n", "n1,n2,n3\n5,blue,a\n"] {
        assert_eq!(read(text, &options).unwrap().0.rows, [[(0, 5.0), (2, 1.0)]], "{text}");
    }
    assert!(failure("5,blue,a,b\n", &options).2.contains("4 columns where the model needs 3, or 2 without"));
    let scored = predict(false, Labels::Required);
    assert!(failure("5,blue\n", &scored).2.contains("2 columns where the model needs 3"));
    let (line, column, message) = failure("five,blue,a\n", &scored);
    assert_eq!((line, column), (Some(1), Some(1)));
    assert!(message.contains("the word \"five\" in column \"1\", which holds numbers"));
    // A model with names reads a file without by place, too.
    assert_eq!(read("5,blue\n", &predict(true, Labels::Ignored)).unwrap().0.rows, [[(0, 5.0), (2, 1.0)]]);
}

#[test]
fn a_model_fills_missing_cells_as_in_training() {
    let text = "x,w\n?,red\n2,?\n";
    let schema = Some(model(true, Missing::Mean));
    let base = ReadOptions { schema, labels: Labels::Ignored, ..ReadOptions::default() };
    assert_eq!(read(text, &base).unwrap().0.rows, [vec![(0, 3.0), (1, 1.0)], vec![(0, 2.0)]]);
    let strict = ReadOptions { schema: Some(model(true, Missing::Refuse)), ..base };
    assert_eq!(failure(text, &strict).0, Some(2));
    let mean =
        ReadOptions { csv: CsvOptions { missing: Missing::Mean, ..CsvOptions::default() }, ..strict.clone() };
    let (line, _, message) = failure(text, &mean);
    assert_eq!(line, Some(2));
    // To choose the mean again would not help.
    assert!(message.contains("and the model has no value for it"), "{message}");
    let zero =
        ReadOptions { csv: CsvOptions { missing: Missing::Zero, ..CsvOptions::default() }, ..strict.clone() };
    assert_eq!(read(text, &zero).unwrap().0.rows, [vec![(1, 1.0)], vec![(0, 2.0)]]);
    let drop =
        ReadOptions { csv: CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() }, ..strict };
    assert_eq!(read(text, &drop).unwrap().1.dropped, 2);
}

#[test]
fn a_model_of_numbers_reads_columns_in_order() {
    let schema = Some(Schema::Numbered { index_base: 1, features: 2 });
    let options = ReadOptions { schema, labels: Labels::Ignored, ..ReadOptions::default() };
    for text in ["1,2\n", "1,2,a\n", "p,q\n1,2\n"] {
        assert_eq!(read(text, &options).unwrap().0.rows, [[(0, 1.0), (1, 2.0)]], "{text}");
    }
    assert!(failure("1\n2\n", &options).2.contains("1 column where the model needs 3, or 2"));
    let scored = ReadOptions {
        labels: Labels::Required,
        csv: CsvOptions { label: Some("1".into()), ..CsvOptions::default() },
        ..options
    };
    let (table, _) = read("a,1,2\n", &scored).unwrap();
    assert_eq!(table.labels, [Some("a".to_string())]);
    assert!(failure("1,2\n", &scored).2.contains("where the model needs 3"));
}

#[test]
fn batches_and_blocks_do_not_show() {
    let mut text = String::from("x,w,y\n");
    for i in 0..20_000 {
        text.push_str(&format!("{},\"w\n{}\",{}\n", i ^ 1, i % 10, i % 3));
    }
    let whole = plain(&text).0;
    let online = ReadOptions { online: true, ..ReadOptions::default() };
    assert_eq!(whole, read_with_head(text.as_bytes(), &online, 1000).unwrap().0);
    assert_eq!((whole.rows.len(), whole.lines[19_999]), (20_000, 40_000));
}

/// A cell as a writer may put it: quoted where it must be, and sometimes where it need not be.
fn written(cell: &str, quote: bool) -> String {
    let must =
        cell.contains([',', ';', '|', '\t', '"', '\n', '\r']) || cell != cell.trim() || cell.is_empty();
    if must || quote { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_string() }
}

fn cell_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+]?[0-9]{1,4}(\\.[0-9]{1,3})?",
        "[a-c \",;|\t\n\r\u{e9}]{0,6}",
        Just("inf".to_string()),
        Just("?".to_string()),
    ]
}

/// Rows of cells with their quoting: mostly numbers in the first column, anything in the others.
fn table_cells() -> impl Strategy<Value = Vec<Vec<(String, bool)>>> {
    let row = (
        prop_oneof![9 => "[0-9]{1,3}".boxed(), 1 => cell_text().boxed()],
        cell_text(),
        prop_oneof![6 => "[a-d]".boxed(), 1 => cell_text().boxed()],
        prop_oneof![20 => "[pq]".boxed(), 1 => cell_text().boxed()],
        any::<[bool; 4]>(),
    );
    let row = row.prop_map(|(a, b, c, d, quotes)| [a, b, c, d].into_iter().zip(quotes).collect());
    prop::collection::vec(row, 1..30)
}

fn any_missing() -> impl Strategy<Value = Missing> {
    prop_oneof![Just(Missing::Refuse), Just(Missing::Zero), Just(Missing::DropRow), Just(Missing::Mean)]
}

fn as_text(rows: &[Vec<(String, bool)>], delimiter: &str, line_end: &str) -> String {
    let row = |cells: &Vec<(String, bool)>| {
        cells.iter().map(|(cell, quote)| written(cell, *quote)).collect::<Vec<_>>().join(delimiter)
    };
    rows.iter().map(row).collect::<Vec<_>>().join(line_end)
}

/// A cell as it may stand in a file, right or wrong: mostly numbers.
fn raw_cell() -> impl Strategy<Value = String> {
    prop_oneof![
        60 => "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
        3 => "[-+]?[0-9]{1,20}\\.[0-9]{0,20}(e[-+]?[0-9]{1,3})?",
        4 => "[ \t]{0,2}-?[0-9]{1,2}[ \t]{0,2}",
        6 => "[a-c]{1,2}",
        2 => "[ \t]?[a-c\u{e9} \t]{0,3}[\r]?",
        2 => "\"([a-b,\n ]|\"\"){0,4}\"",
        1 => "[0-9\"\r\u{1}\u{c}.e+-]{0,4}",
        1 => Just("inf".to_string()),
        2 => prop_oneof![Just(""), Just("?"), Just(" NA "), Just("None")].prop_map(str::to_string),
    ]
}

/// Rows of about four cells, with line ends and blank lines of any kind, and perhaps some damage.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let cells = prop_oneof![
        20 => prop::collection::vec(raw_cell(), 4),
        1 => prop::collection::vec(raw_cell(), 1..6),
    ];
    let end = prop_oneof![12 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n \n"), 1 => Just("\n\r\n")];
    let row = (cells, end).prop_map(|(cells, end)| cells.join(",") + end);
    let text =
        (prop::option::of(Just("one,two,three,y\n")), prop::collection::vec(row, 1..40), any::<bool>());
    let text = text.prop_map(|(header, rows, last_end)| {
        let mut text = header.unwrap_or_default().to_string() + &rows.concat();
        if !last_end {
            text.pop();
        }
        text.into_bytes()
    });
    let damage = prop_oneof![3 => 0..1usize, 1 => 1..4usize]
        .prop_flat_map(|count| prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), count));
    (text, damage).prop_map(|(mut bytes, damage)| {
        for (place, byte) in damage {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

fn any_options() -> impl Strategy<Value = ReadOptions> {
    let flags = any::<(bool, bool, bool, bool)>();
    let limit = prop_oneof![4 => Just(None), 1 => (1u32..12).prop_map(Some)];
    let model = prop_oneof![3 => Just(None), 1 => (any::<bool>(), any_missing()).prop_map(Some)];
    let column = prop_oneof![4 => Just(None), 1 => "[1-4]".prop_map(Some)];
    (any_missing(), flags, limit, model, column.clone(), column).prop_map(
        |(missing, (skip_bad, online, ignored, set), max_features, model, label, ignore)| ReadOptions {
            skip_bad,
            online,
            labels: if ignored { Labels::Ignored } else { Labels::Required },
            max_features,
            schema: model.map(|(header, missing)| four_columns(header, missing)),
            csv: CsvOptions {
                missing,
                delimiter: set.then_some(b','),
                label,
                ignore: ignore.into_iter().collect(),
                ..CsvOptions::default()
            },
            ..ReadOptions::default()
        },
    )
}

/// A model's view of a table with four columns, in another order where they have names.
fn four_columns(header: bool, missing: Missing) -> Schema {
    let text = "two,one,three,y\n1,2,b,a\n2,3,c,b\n6,1,12,a\n";
    let text = if header { text } else { &text[16..] };
    read(
        text,
        &ReadOptions { csv: CsvOptions { missing, ..CsvOptions::default() }, ..ReadOptions::default() },
    )
    .unwrap()
    .0
    .schema
}

/// The last row decides what a column holds only where a stream would have shown it in time.
#[test]
fn a_last_row_at_the_end_of_the_head_is_not_early() {
    let text = "100,b,p\n0,c,p\n000,c,q";
    for head in [text.len() - 1, text.len(), text.len() + 1] {
        let kinds = [false, true].map(|online| {
            let options = ReadOptions { online, ..ReadOptions::default() };
            format!("{:?}", read_with_head(text.as_bytes(), &options, head).unwrap().0)
        });
        assert_eq!(kinds[0], kinds[1], "{head} bytes");
    }
}

/// Rows that are left out do not tell whether a column holds codes.
#[test]
fn codes_are_told_by_rows_that_are_kept() {
    let text = "0,0,a,p\n0,,a,p\n000,0,a,p\n";
    let csv = CsvOptions { missing: Missing::DropRow, header: Some(true), ..CsvOptions::default() };
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let whole = read_with_head(text.as_bytes(), &options, 20).unwrap().0;
    assert!(format!("{whole:?}").contains("\"0=000\""), "{whole:?}");
    // Nor what is said about it, where the first rows are all left out.
    let late = b"w,x,y,k\n?,NA,a,p\n0,0,000,p\n";
    let csv = CsvOptions { missing: Missing::DropRow, ..CsvOptions::default() };
    let dropping = ReadOptions { csv, ..ReadOptions::default() };
    let guessed = read_as(late, &dropping, How { head: 18, chunk: 1, plain_rows: true, guess: true });
    let said = format!("{:?}", read_as(late, &dropping, How { head: 18, ..SIMPLY }));
    assert!(said.contains("holds codes") && said == format!("{guessed:?}"), "{guessed:?}");
    // A stream has only seen the row that is left out, and must not take the code for a number.
    let online = ReadOptions { online: true, ..options };
    assert!(read_with_head(text.as_bytes(), &online, 20).is_err());
}

proptest! {
    // One case in four or five says something.
    #![proptest_config(ProptestConfig { cases: 500, max_global_rejects: 5000, ..ProptestConfig::default() })]

    #[test]
    fn a_guess_that_holds_is_what_all_rows_say(
        text in any_text(), options in any_options(), head in 20usize..400, chunk in 1usize..1000,
    ) {
        let found = read_as(&text, &options, How { head, chunk, plain_rows: true, guess: true });
        prop_assume!(found.1.is_ok());
        prop_assert_eq!(format!("{found:?}"), format!("{:?}", read_as(&text, &options, How { head, ..SIMPLY })));
    }

    #[test]
    fn one_pass_gives_what_the_whole_file_gives(
        rows in table_cells(), head in 20usize..400, missing in any_missing(), header: Option<bool>,
    ) {
        let text = as_text(&rows, ",", "\n");
        let options =
            ReadOptions { csv: CsvOptions { missing, header, delimiter: Some(b','), ..CsvOptions::default() }, ..ReadOptions::default() };
        let whole = read_with_head(text.as_bytes(), &options, head);
        let online = ReadOptions { online: true, ..options };
        let streamed = read_with_head(text.as_bytes(), &online, head);
        prop_assume!(whole.is_ok() && streamed.is_ok());
        let ((whole, notes), (streamed, streamed_notes)) = (whole.unwrap(), streamed.unwrap());
        prop_assert_eq!(whole, streamed);
        prop_assert_eq!(notes.remarks, streamed_notes.remarks);
        prop_assert_eq!(notes.dropped, streamed_notes.dropped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_is_read(
        rows in prop::collection::vec(
            prop::collection::vec((cell_text(), any::<bool>()), 3), 1..12),
        crlf: bool, last_end: bool, semicolon: bool,
    ) {
        let (end, delimiter) = (if crlf { "\r\n" } else { "\n" }, if semicolon { ";" } else { "," });
        let mut text = as_text(&rows, delimiter, end);
        if last_end {
            text.push_str(end);
        }
        let byte = delimiter.as_bytes()[0];
        let expected: Vec<Vec<&str>> =
            rows.iter().map(|row| row.iter().map(|(cell, _)| cell.as_str()).collect()).collect();
        let mut records = Records::new(text.into_bytes(), false, byte);
        let mut record = Record::default();
        let mut found = Vec::new();
        while records.next(&mut record).unwrap() {
            prop_assert!(record.fault.is_none());
            let cell = |j| String::from_utf8(record.cell(j).to_vec()).unwrap();
            found.push((0..record.width()).map(cell).collect::<Vec<_>>());
        }
        prop_assert_eq!(&found, &expected);
    }

    #[test]
    fn chunks_and_plain_rows_do_not_show(
        text in any_text(), options in any_options(), head in 20usize..400, chunk in 1usize..1000,
        plain_rows: bool,
    ) {
        let simple = read_as(&text, &options, How { head, ..SIMPLY });
        let found = read_as(&text, &options, How { head, chunk, plain_rows, guess: false });
        prop_assert_eq!(format!("{found:?}"), format!("{simple:?}"));
    }

    #[test]
    fn a_model_reads_its_own_file_as_in_training(rows in table_cells(), missing in any_missing()) {
        let mut text = String::from("one,two,three,y\n");
        text.push_str(&as_text(&rows, ",", "\n"));
        let options = ReadOptions { skip_bad: true, csv: CsvOptions { missing, ..CsvOptions::default() }, ..ReadOptions::default() };
        let trained = read(&text, &options);
        prop_assume!(trained.as_ref().is_ok_and(|(trained, _)| !trained.rows.is_empty()));
        let (trained, _) = trained.unwrap();
        let options = ReadOptions { schema: Some(trained.schema.clone()), ..options };
        prop_assert_eq!(read(&text, &options).unwrap().0, trained);
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200).boxed(),
            "[0-9a\",;|\t\n\r ?.\u{feff}-]{0,120}".prop_map(String::into_bytes).boxed(),
        ],
        missing in any_missing(), skip_bad: bool, online: bool, delimiter: Option<u8>,
        header: Option<bool>, head in 1usize..200, use_model: Option<bool>, ignored: bool,
    ) {
        let labels = if ignored { Labels::Ignored } else { Labels::Required };
        let schema = use_model.map(|header| model(header, Missing::Zero));
        let options = ReadOptions { skip_bad, online, labels, schema, csv: CsvOptions { missing, delimiter, header, ..CsvOptions::default() }, ..ReadOptions::default() };
        let _ = read_with_head(&bytes, &options, head);
    }

    #[test]
    fn no_damage_makes_it_panic(
        rows in table_cells(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        skip_bad: bool, online: bool, head in 1usize..300,
    ) {
        let mut bytes = as_text(&rows, ",", "\n").into_bytes();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let options = ReadOptions { skip_bad, online, ..ReadOptions::default() };
        let _ = read_with_head(&bytes, &options, head);
    }
}

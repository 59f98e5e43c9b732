use crate::Error;
use crate::read::{CsvOptions, Format, Labels, Loaded, Missing, ReadOptions, RowStream, Source, read};
use proptest::prelude::*;

fn load(text: &str, options: &ReadOptions) -> Result<Loaded, Error> {
    read(&Source::Shared("rows".into(), text.as_bytes().into()), options, &mut ())
}

fn options(csv: CsvOptions) -> ReadOptions {
    ReadOptions { csv, ..ReadOptions::default() }
}

fn auto() -> ReadOptions {
    options(CsvOptions { missing: Missing::Zero, ..CsvOptions::default() })
}

fn row(loaded: &Loaded, i: usize) -> Vec<(usize, f64)> {
    loaded.dataset.row(i).iter().filter(|&(_, x)| x != 0.0).collect()
}

#[test]
fn objects_are_rows_and_keys_are_columns() {
    let text = "\u{feff}{\"x\": 1.5, \"colour\": \"red\", \"when\": \"2024-01-31\", \"kind\": \"a\"}\n\n\
                {\"kind\": \"b\", \"colour\": \"blue\", \"x\": -2e1, \"when\": \"2024-02-01\"}\r\n\
                {\"x\": null, \"kind\": \"a\", \"when\": \"2024-02-02\"}";
    let loaded = load(text, &auto()).unwrap();
    assert_eq!(loaded.format, Format::JSONL);
    assert_eq!(loaded.notes.format, "JSON Lines, 2 columns of numbers, 1 of words");
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "when", "colour=red", "colour=blue"]);
    assert_eq!(loaded.dataset.classes(), ["a", "b"]);
    assert_eq!(row(&loaded, 0), [(0, 1.5), (1, 19753.0), (2, 1.0)]);
    assert_eq!(row(&loaded, 2), [(1, 19755.0)]);
    assert_eq!([0, 1, 2].map(|i| loaded.dataset.line(i)), [1, 3, 4]);
}

#[test]
fn nested_values_are_laid_flat() {
    let text = "{\"size\": {\"w\": 2, \"tags\": [\"p\", true]}, \"v\": [1, 2], \"kind\": 1}\n\
                {\"size\": null, \"v\": [3], \"kind\": 0}\n";
    let loaded = load(text, &auto()).unwrap();
    let names = loaded.schema.feature_names().unwrap();
    assert_eq!(names, ["size.w", "v.0", "v.1", "size.tags.0=p", "size.tags.1=true"]);
    assert_eq!(row(&loaded, 1), [(1, 3.0)]);
    assert_eq!(loaded.dataset.classes(), ["0", "1"]);
}

#[test]
fn the_first_line_may_be_longer_than_what_is_looked_at_first() {
    let blanks = " ".repeat(super::HEAD_BYTES + 1000);
    let text = format!("{{\"a\": 1, {blanks}\"kind\": \"p\"}}\n{{\"a\": 2, \"kind\": \"q\"}}\n");
    for options in [auto(), ReadOptions { online: true, ..auto() }] {
        let loaded = load(&text, &options).unwrap();
        assert_eq!(loaded.schema.feature_names().unwrap(), ["a"]);
        assert_eq!((loaded.dataset.len(), row(&loaded, 1)), (2, vec![(0, 2.0)]));
    }
}

/// A key that comes up late is found by a second reading of a file; where rows are read once it is an error with its line.
#[test]
fn late_keys_are_columns_too() {
    let mut text = String::new();
    for i in 0..20_000 {
        text += &format!("{{\"x\": {i}, \"y\": {}, \"kind\": \"{}\"}}\n", i % 7, ["a", "b"][i % 2]);
    }
    text += "{\"x\": 1, \"y\": 2, \"late\": 5, \"kind\": \"b\"}\n";
    assert!(text.len() > 2 * super::HEAD_BYTES);
    let loaded = load(&text, &auto()).unwrap();
    assert_eq!(loaded.schema.feature_names().unwrap(), ["x", "y", "late"]);
    assert_eq!(row(&loaded, 20_000), [(0, 1.0), (1, 2.0), (2, 5.0)]);
    let once = ReadOptions { online: true, ..auto() };
    let source = Source::Shared("rows".into(), text.as_bytes().into());
    let mut stream = RowStream::open(&source, &once).unwrap();
    let error = loop {
        match stream.next_batch() {
            Ok(batch) => assert!(batch.is_some(), "the late key must be refused"),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(error, "rows:20001: the column \"late\" is new here: the rows before it do not have it");
}

#[test]
fn what_is_wrong_has_its_place() {
    let good = "{\"x\": 1, \"kind\": \"a\"}\n{\"x\": 2, \"kind\": \"b\"}\n";
    let deep = format!("{{\"x\": {}1{}, \"kind\": 1}}", "[".repeat(40), "]".repeat(40));
    for (line, message) in [
        ("{\"x\": 1, \"kind\": \"a\"", "rows:3:20: this is not a JSON object: EOF while parsing an object"),
        ("{\"x\": NaN, \"kind\": \"a\"}", "rows:3:7: this is not a JSON object: expected value"),
        ("[1, 2]", "rows:3:1: a line of JSON Lines is one object, and not [1, 2]"),
        ("  {\"x\": 1, \"x\": 2, \"kind\": \"a\"}", "rows:3:17: the key \"x\" occurs twice"),
        ("{\"x\": 1, \"kind\": \"a\"} {}", "rows:3:23: this is not a JSON object: trailing characters"),
        ("{\"x\": \"\\ud800\", \"kind\": \"a\"}", "rows:3:"),
        ("{\"x\": 1e999, \"kind\": \"a\"}", "rows:3: the value \"1e999\" is not finite"),
        ("{\"x\": null, \"kind\": \"a\"}", "rows:3: the cell in column \"x\" is missing"),
        ("{\"kind\": \"a\"}", "rows:3: the cell in column \"x\" is missing"),
        ("{\"x\": 1}", "rows:3: the label \"\" is missing or not finite"),
        (&deep, "more than 32 objects and arrays are nested"),
    ] {
        let text = format!("{good}{line}\n{good}");
        let error = load(&text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{line}\n{error}");
        let skipped = load(&text, &ReadOptions { skip_bad: true, ..ReadOptions::default() }).unwrap();
        assert_eq!((skipped.dataset.len(), skipped.notes.skipped), (4, 1), "{line}");
        assert_eq!(skipped.notes.first_skipped[0].line, 3, "{line}");
    }
    for (text, message) in [
        ("{\"x\": \n1}\n", "this is JSON, which linsep does not read"),
        ("[{\"x\": 1}]", "this is JSON, which linsep does not read"),
        ("{}\n{}\n", "rows: "),
        ("{\"kind\": 1}\n{\"kind\": 2}\n", "rows: there is no column besides the label"),
    ] {
        let error = load(text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{text}\n{error}");
    }
}

/// A model takes rows in any order of keys, and refuses a file that lacks one, unless training rows lacked it too.
#[test]
fn keys_are_matched_with_the_model() {
    let trained =
        load("{\"x\": 1, \"w\": \"p\", \"kind\": 1}\n{\"x\": 3, \"w\": \"q\", \"kind\": 0}\n", &auto())
            .unwrap();
    let known = ReadOptions { schema: Some(trained.schema), labels: Labels::Ignored, ..auto() };
    let next = |text: &str| {
        let source = Source::Shared("rows".into(), text.as_bytes().into());
        RowStream::open(&source, &known).and_then(|mut stream| stream.next_batch())
    };
    let batch = next("{\"other\": 7, \"w\": \"q\", \"x\": 2}\n").unwrap().unwrap();
    assert_eq!(batch.row(0).iter().collect::<Vec<_>>(), [(0, 2.0), (2, 1.0)]);
    let error = next("{\"w\": \"q\"}\n").unwrap_err().to_string();
    assert!(error.contains("there is no column \"x\", which the model was trained with"), "{error}");
    let text = "{\"w\": null, \"x\": 1, \"kind\": 1}\n{\"x\": 3, \"w\": \"q\", \"kind\": 0}\n";
    let gaps = load(text, &options(CsvOptions { missing: Missing::Auto, ..CsvOptions::default() })).unwrap();
    let known = ReadOptions { schema: Some(gaps.schema), labels: Labels::Ignored, ..ReadOptions::default() };
    let source = Source::Memory("rows", b"{\"x\": 2}\n");
    let mut stream = RowStream::open(&source, &known).unwrap();
    assert_eq!(stream.next_batch().unwrap().unwrap().row(0).iter().collect::<Vec<_>>(), [(0, 2.0), (1, 1.0)]);
    assert!(stream.notes().remarks.iter().any(|remark| remark.contains("No row has the key \"w\"")));
}

/// Rows with ever new keys, and a long key that holds very many: refused in proportion to what was read.
#[test]
fn tables_and_names_are_in_proportion_to_the_rows() {
    let rows: String =
        (0..3000).map(|i| format!("{{\"k{i}\": 1, \"kind\": \"{}\"}}\n", ["a", "b"][i % 2])).collect();
    let error = load(&rows, &auto()).unwrap_err().to_string();
    assert_eq!(
        error,
        "rows:1460: 1,460 rows name 2,920 cells, and 3,001 columns make that a table of 4,381,460 cells, of which at most 4,381,184 are \
         accepted for so few"
    );
    // As many columns in rows that have them all.
    let all: String = (0..3000).map(|i| format!("\"k{i}\":1,")).collect();
    let rows: String = (0..2000).map(|i| format!("{{{all}\"kind\":{}}}\n", i % 2)).collect();
    assert_eq!(load(&rows, &auto()).unwrap().dataset.len(), 2000);
    let long = "k".repeat(20_000);
    let inside: String = (0..5000).map(|i| format!("\"{i}\":1,")).collect();
    let row = format!("{{\"{long}\":{{{inside}\"x\":1}},\"kind\":\"a\"}}\n");
    let error = load(&format!("{{\"x\":1,\"kind\":\"a\"}}\n{row}"), &auto()).unwrap_err().to_string();
    assert!(
        error.starts_with("rows:2:") && error.contains("the names of the columns of this row have more than"),
        "{error}"
    );
    // A key of nothing but points is the parent of no other: told without trying each of its beginnings.
    let points = ".".repeat(500_000);
    let text =
        format!("{{\"x\":1,\"{points}\":1,\"kind\":\"a\"}}\n{{\"x\":2,\"{points}\":null,\"kind\":\"b\"}}\n");
    assert_eq!(load(&text, &auto()).unwrap().dataset.columns(), 2);
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

proptest! {
    /// The same cells as CSV and as JSON Lines make the same rows, features and remarks.
    #[test]
    fn the_same_cells_make_the_same_table(
        rows in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&["1", "-2.5", "red", "", "NA", "2024-01-31", "12 %", "a,b", "\"q\"", "two\nlines", " b", "007", "größe", "true", "1e5"][..]), 3),
            2..20,
        ),
        labels in prop::collection::vec(0usize..2, 20),
    ) {
        let mut csv = "one,\"two, too\",three,kind\n".to_string();
        let mut jsonl = String::new();
        for (row, label) in rows.iter().zip(labels) {
            let label = ["p", "q"][label];
            csv += &format!("{},{},{},{label}\n", quoted(row[0]), quoted(row[1]), quoted(row[2]));
            let object = serde_json::json!({"one": row[0], "two, too": row[1], "three": row[2], "kind": label});
            // A map may sort its keys: the first row names the columns in order.
            jsonl += &format!(
                "{{\"one\":{},\"two, too\":{},\"three\":{},\"kind\":\"{label}\"}}\n",
                object["one"], object["two, too"], object["three"]
            );
        }
        let options = options(CsvOptions { missing: Missing::Auto, header: Some(true), delimiter: Some(b','), ..CsvOptions::default() });
        let plain = options.clone();
        let plain = ReadOptions { csv: CsvOptions { header: None, delimiter: None, ..plain.csv }, ..plain };
        match (load(&csv, &options), load(&jsonl, &plain)) {
            (Ok(csv), Ok(jsonl)) => {
                prop_assert_eq!(&csv.schema, &jsonl.schema);
                prop_assert_eq!(csv.dataset.fingerprint(), jsonl.dataset.fingerprint());
            }
            (Err(one), Err(other)) => {
                let (one, other) = (one.to_string(), other.to_string());
                prop_assert_eq!(one.rsplit(": ").next(), other.rsplit(": ").next());
            }
            (one, other) => prop_assert!(false, "{:?} but {:?}", one.map(|_| ()), other.map(|_| ())),
        }
    }

    /// Whatever bytes come, there are rows or an error, and never a panic.
    #[test]
    fn any_bytes_are_refused_or_read(lines in prop::collection::vec("(\\{(\"[ab.]{0,2}\": ?([0-9.e]{0,4}|\"[a,\\\\\"]{0,3}\"|null|\\[1,2\\]|\\{\\}),?){0,3}\\}?)|.{0,9}", 0..6)) {
        let text = lines.join("\n");
        for skip_bad in [false, true] {
            let options = ReadOptions { format: Some(Format::JSONL), skip_bad, ..ReadOptions::default() };
            let _ = load(&text, &options);
        }
    }
}

//! What linsep writes it reads: any table, through every format and back, has the same rows, labels and predictions.

use linsep::features::Recipe;
use linsep::model::Predictor;
use linsep::read::{Format, ReadOptions, RowStream, Source};
use linsep::write::convert;
use linsep::{Dataset, Model, Settings, read, train};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Names that mean something else to a careless reader, or occur twice.
const NAMES: &[&str] = &[
    "na", "?", "a", "a.2", "", "c", "c=red", "c=c=red", "1", "1e5", "größe", "a,b", "\"q\"", "x\ny", " b",
    "nan", "label",
];
const WORDS: &[&str] = &["red", "blue", "c=red", "=", "a,b", "say \"x\"", "größe", "two\nlines", "1st", "#1"];
const NUMBERS: &[&str] =
    &["0", "1", "-2", "0.1", "1e-300", "1e22", "123456789.123456789", "-0.5", "3.4e38", "7"];
const LABELS: &[&str] = &["p", "q", "yes,no", "-1", "2.50"];

#[derive(Clone, Debug)]
struct Table {
    names: Vec<&'static str>,
    /// For each column, whether it holds words.
    words: Vec<bool>,
    rows: Vec<(Vec<usize>, usize)>,
}

fn tables() -> impl Strategy<Value = Table> {
    (1usize..6).prop_flat_map(|width| {
        let names = prop::collection::vec(prop::sample::select(NAMES), width);
        let words = prop::collection::vec(any::<bool>(), width);
        let row = (prop::collection::vec(0usize..10, width), 0..LABELS.len());
        let rows = prop::collection::vec(row, 2..12);
        (names, words, rows).prop_map(|(names, words, rows)| Table { names, words, rows })
    })
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

impl Table {
    /// The table as text. The label is called so that no column is.
    fn csv(&self) -> String {
        let mut text = String::new();
        self.names.iter().for_each(|name| write!(text, "{},", quoted(name)).unwrap());
        text.push_str("the label\n");
        for (cells, label) in &self.rows {
            for (&cell, &word) in cells.iter().zip(&self.words) {
                let cell = if word { WORDS[cell] } else { NUMBERS[cell] };
                write!(text, "{},", quoted(cell)).unwrap();
            }
            writeln!(text, "{}", quoted(LABELS[*label])).unwrap();
        }
        text
    }
}

/// Every row as numbers, with zeros, and its class by name.
fn rows_of(data: &Dataset, columns: usize) -> Vec<(Vec<f64>, String)> {
    (0..data.len())
        .map(|i| {
            let mut numbers = vec![0.0; columns];
            data.row(i).iter().for_each(|(j, x)| numbers[j] = x);
            (numbers, data.classes()[data.labels()[i] as usize].clone())
        })
        .collect()
}

fn load(path: &Path, options: &ReadOptions) -> linsep::read::Loaded {
    read(&Source::from(path), options, &mut ()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the model says of the rows of a file: the score of each.
fn scores(model: &Model, path: &Path, options: ReadOptions) -> Vec<String> {
    let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..options };
    let mut stream = RowStream::open(&Source::from(path), &options).unwrap();
    let mut predictor = Predictor::new(model);
    let mut scores = Vec::new();
    while let Some(batch) = stream.next_batch().unwrap() {
        (0..batch.len()).for_each(|i| scores.push(format!("{:?}", predictor.predict(batch.row(i)).score)));
    }
    scores
}

/// The file in every format, beside it.
fn in_all_formats(path: &Path, options: &ReadOptions) -> Vec<(Format, PathBuf)> {
    [
        (Format::CSV, "copy.csv"),
        (Format::CSV, "copy.csv.gz"),
        (Format::TSV, "copy.tsv"),
        (Format::LIBSVM, "copy.svm"),
        (Format::LIBSVM, "copy.svm.zst"),
        (Format::NPZ, "copy.npz"),
        (Format::LINSEP, "copy.linsep"),
    ]
    .into_iter()
    .map(|(format, name)| {
        let copy = path.with_file_name(format!("{}-{name}", path.file_name().unwrap().to_str().unwrap()));
        convert(&Source::from(path), options, &copy, format, &mut ())
            .unwrap_or_else(|error| panic!("{format} of {}: {error}", path.display()));
        (format, copy)
    })
    .collect()
}

/// The options with which a copy must be read: a LIBSVM file of zeros, which are not written, has nothing but labels.
fn options_for(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

fn check(table: &Table) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, table.csv()).unwrap();
    let mut options = options_for(Format::CSV);
    options.csv.header = Some(true);
    let original = load(&path, &options);
    let columns = original.dataset.columns();
    let rows = rows_of(&original.dataset, columns);
    let mut names = original.dataset.feature_names().expect("a table names its features").to_vec();
    // A header of numbers and missing cells would be a row; what is written has another.
    let renamed =
        names.iter().all(|name| name.parse::<f64>().is_ok() || ["na", "?", "nan"].contains(&name.as_str()));
    if renamed {
        names.iter_mut().for_each(|name| name.insert(0, 'x'));
    }
    let model = (original.dataset.classes().len() > 1).then(|| {
        let outcome =
            train(&original.dataset, &Settings { epochs: 3, ..Settings::default() }, &mut ()).unwrap();
        let recipe = Recipe::from(original.schema.clone());
        Model::with_recipe(outcome, recipe, None)
    });
    for (format, copy) in in_all_formats(&path, &options) {
        let again = load(&copy, &options_for(format));
        assert_eq!(rows_of(&again.dataset, columns), rows, "{format}");
        if format.is_table() {
            assert_eq!(again.dataset.feature_names().unwrap(), names, "{format}");
        }
        // A table of words was written as one of numbers, which is another table.
        let same_columns = !format.is_table() || !renamed && !table.words.contains(&true);
        if let Some(model) = model.as_ref().filter(|_| same_columns) {
            let expected = scores(model, &path, options.clone());
            assert_eq!(scores(model, &copy, options_for(format)), expected, "{format}");
        }
        for (next, second) in in_all_formats(&copy, &options_for(format)) {
            let twice = load(&second, &options_for(next));
            assert_eq!(rows_of(&twice.dataset, columns), rows, "{format}, then {next}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_table_survives_every_format(table in tables()) {
        check(&table);
    }
}

/// The word `red` of column `c` and the column `c=red` are two features, in a cache as in the text.
#[test]
fn a_word_and_a_column_that_are_called_alike_stay_apart() {
    let table = Table {
        names: vec!["c=red", "c"],
        words: vec![false, true],
        rows: vec![(vec![1, 0], 0), (vec![2, 1], 1), (vec![9, 0], 0), (vec![7, 2], 1)],
    };
    check(&table);
    let path = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(path.path(), table.csv()).unwrap();
    let data = load(path.path(), &ReadOptions::default()).dataset;
    assert_eq!(data.feature_names().unwrap(), ["c=red", "c=red.2", "c=blue", "c=c=red"]);
}

/// A word whose feature needs another name gets one that no column has: written as a table, it would be taken for that column.
#[test]
fn a_word_is_not_renamed_to_a_column() {
    let path = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    std::fs::write(
        path.path(),
        "c,c=red,c=red,kind\nred,1,big,a\nblue,2,small,b\nred,3,big,a\nblue,4,big,b\n",
    )
    .unwrap();
    let data = load(path.path(), &ReadOptions::default()).dataset;
    // The third column is called "c=red.2", and its words make other names.
    let names = ["c=red", "c=red.3", "c=red.2=big", "c=blue", "c=red.2=small"];
    assert_eq!(data.feature_names().unwrap(), names);
}

/// A table whose first line is longer than what is looked at first.
#[test]
fn a_wide_table_survives_every_format() {
    let columns = 40_000;
    let mut text: String = (0..columns).map(|j| format!("column{j},")).collect();
    text.push_str("label\n");
    for row in 0..4 {
        (0..columns).for_each(|j| write!(text, "{},", (row * 31 + j * 7) % 5).unwrap());
        writeln!(text, "{}", ["p", "q"][row % 2]).unwrap();
    }
    assert!(text.find('\n').unwrap() > 1 << 18);
    survives(&text, columns);
}

/// One name longer than what is looked at first: no delimiter is in sight.
#[test]
fn a_long_name_survives_every_format() {
    survives(&format!("{},label\n1,p\n2,q\n3,p\n4,q\n", "long".repeat(100_000)), 1);
}

#[track_caller]
fn survives(text: &str, columns: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    std::fs::write(&path, text).unwrap();
    let rows = rows_of(&load(&path, &ReadOptions::default()).dataset, columns);
    assert_eq!(rows.len(), 4);
    for (format, copy) in in_all_formats(&path, &ReadOptions::default()) {
        assert_eq!(rows_of(&load(&copy, &ReadOptions::default()).dataset, columns), rows, "{format}");
    }
}

/// Rows are found however much comes before them that is none.
#[test]
fn blank_lines_and_comments_may_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = "\n  \n".repeat(100_000);
    let comments = "# nothing here\n".repeat(30_000);
    for (name, before, rows) in [
        ("blank.csv", &nothing, "a,b,y\n1,2,p\n2,1,q\n"),
        ("blank.svm", &nothing, "1 1:2\n-1 1:-2\n"),
        ("comments.svm", &comments, "1 1:2\n-1 1:-2\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{before}{rows}")).unwrap();
        let data = load(&path, &ReadOptions::default()).dataset;
        assert_eq!(data.len(), 2, "{name}");
        let line = before.lines().count() as u64 + 1 + u64::from(name.ends_with("csv"));
        assert_eq!(data.line(0), line, "{name}");
    }
}

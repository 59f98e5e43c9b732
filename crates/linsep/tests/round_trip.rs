//! What linsep writes it reads: any table, through every format and back, has the same rows, labels and predictions.

use linsep::features::Recipe;
use linsep::model::Predictor;
use linsep::observe::{Observer, Progress};
use linsep::read::{CsvOptions, Format, Missing, ReadOptions, RowStream, Source, cache};
use linsep::write::convert;
use linsep::{Dataset, Model, Settings, read, train};
use proptest::prelude::*;
use std::fmt::Write;
use std::ops::ControlFlow;
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

/// The options with which a copy is read as what it is.
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

/// As many columns of words, of dates and of numbers with gaps as a file may have are read in a time that grows with them.
#[test]
fn a_table_of_many_columns_is_read() {
    let columns = 40_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.csv");
    let mut text: String = (0..columns).map(|j| format!("column{j},")).collect();
    text.push_str("label\n");
    for row in 0..4 {
        for j in 0..columns {
            let gap = (row + j) % 9 == 0;
            match j % 3 {
                _ if gap => text.push(','),
                0 => write!(text, "word{},", row % 3).unwrap(),
                1 => write!(text, "2024-01-0{},", row + 1).unwrap(),
                _ => write!(text, "{},", (row * 31 + j * 7) % 5).unwrap(),
            }
        }
        writeln!(text, "{}", ["p", "q"][row % 2]).unwrap();
    }
    std::fs::write(&path, &text).unwrap();
    let csv = CsvOptions { missing: Missing::Auto, ..CsvOptions::default() };
    let loaded = load(&path, &ReadOptions { csv, ..ReadOptions::default() });
    let names = loaded.dataset.feature_names().unwrap();
    let of_words = |name: &&String| name.contains('=') || name.ends_with(" missing");
    let words = names.iter().filter(of_words).count();
    assert_eq!((loaded.dataset.len(), names.len() - words), (4, columns - columns.div_ceil(3)));
    assert!(words > 3 * columns / 3, "{words}");
}

/// One name longer than what is looked at first: no delimiter is in sight.
#[test]
fn a_long_name_survives_every_format() {
    survives(&format!("{},label\n1,p\n2,q\n3,p\n4,q\n", "long".repeat(100_000)), 1);
    // The beginning of the header, by itself, would be a row of Vowpal Wabbit's.
    survives(&format!("a|b,{},label\n1,5,p\n2,6,q\n3,5,p\n4,6,q\n", "long".repeat(100_000)), 2);
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

/// Rows are found however much comes before them that is none, and keep their lines.
#[test]
fn blank_lines_and_comments_may_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = "\n  \n".repeat(100_000);
    let marked = format!("\u{feff}{nothing}");
    let comments = "# nothing here\n".repeat(30_000);
    let few_comments = "# nothing here\n".repeat(25);
    let even_comments = "# nothing, or little\n".repeat(20_000);
    let percents = "% nothing, or little\n".repeat(20_000);
    let table = "a,b,y\n1,2,p\n2,1,q\n";
    let arff = "@relation r\n@attribute a real\n@attribute y {p,q}\n@data\n1,p\n2,q\n";
    for (name, before, rows, lines) in [
        ("blank.csv", &nothing, table, 1),
        ("blank.svm", &nothing, "1 1:2\n-1 1:-2\n", 0),
        ("blank.vw", &nothing, "1 |f a:2\n-1 |f a:-2\n", 0),
        ("blank.jsonl", &nothing, "{\"a\": 1, \"y\": \"p\"}\n{\"a\": 2, \"y\": \"q\"}\n", 0),
        ("blank.arff", &nothing, arff, 4),
        ("blank.txt", &nothing, "1.5   left\n22.5  right\n", 0),
        ("marked.csv", &marked, table, 1),
        ("marked.svm", &marked, "1 1:2\n-1 1:-2\n", 0),
        ("comments.svm", &comments, "1 1:2\n-1 1:-2\n", 0),
        ("few.csv", &few_comments, table, 1),
        ("comments.csv", &comments, table, 1),
        ("even.csv", &even_comments, table, 1),
        ("comments.txt", &comments, "1.5   left\n22.5  right\n", 0),
        ("percents.arff", &percents, arff, 4),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{before}{rows}")).unwrap();
        let loaded = load(&path, &ReadOptions::default());
        assert_eq!(loaded.dataset.len(), 2, "{name}: {:?}", loaded.notes);
        let line = before.lines().count() as u64 + 1 + lines;
        assert_eq!(loaded.dataset.line(0), line, "{name}");
        let copy = folder.path().join("copy.linsep");
        convert(&Source::from(path.as_path()), &ReadOptions::default(), &copy, Format::LINSEP, &mut ())
            .unwrap();
        assert_eq!(load(&copy, &ReadOptions::default()).dataset.fingerprint(), loaded.dataset.fingerprint());
    }
}

/// A title above the header is one wherever it stands among blank lines, and so are rows of empty cells.
#[test]
fn titles_may_stand_among_blank_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("titled.csv");
    let blank = "\n".repeat(200_000);
    let most = "\n".repeat(300_000);
    let empty = ",,\n".repeat(30);
    for above in [
        format!("{blank}Report,,\n"),
        format!("Report,,\n{blank}"),
        format!("{most}Report,,\n{most}"),
        format!("Report\n{empty}"),
        empty.clone(),
    ] {
        let rows: String = (0..40).map(|i| format!("{i},{},{}\n", i * 3 % 7, ["p", "q"][i % 2])).collect();
        std::fs::write(&path, format!("{above}a,b,y\n{rows}")).unwrap();
        let loaded = load(&path, &ReadOptions::default());
        assert_eq!(loaded.dataset.feature_names().unwrap(), ["a", "b"]);
        assert_eq!((loaded.dataset.len(), loaded.dataset.classes()), (40, &["p".into(), "q".into()][..]));
        assert_eq!(loaded.dataset.line(0), above.lines().count() as u64 + 2);
        assert!(loaded.notes.remarks[0].contains("above the header"), "{:?}", loaded.notes);
    }
}

/// What begins with `#` is a comment above a table, unless it is a row of it or its header.
#[test]
fn rows_and_headers_may_begin_with_a_number_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signs.csv");
    let read_as_csv = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load(&path, &options_for(Format::CSV)).dataset
    };
    let names = |data: &Dataset| data.feature_names().unwrap().join(" ");
    for (text, features, rows) in [
        ("#id,x,y\n1,2,p\n2,5,q\n3,1,p\n", "#id x", 3),
        ("# a comment\n#id,x,y\n1,2,p\n2,5,q\n3,1,p\n", "#id x", 3),
        // A comment with as many commas as the header that follows it.
        ("# from Smith, 2020, page 5\nid,x,y\n1,2,p\n2,5,q\n3,1,p\n", "id x", 3),
        ("#a,1,p\n#b,2,q\nc,3,p\nd,4,q\n", "2 1=#a 1=#b 1=c 1=d", 4),
        ("# tags\n#a,1,p\n#b,2,q\nc,3,p\nd,4,q\n", "2 1=#a 1=#b 1=c 1=d", 4),
        ("#a,\"two\n# lines\",p\nb,x,q\nc,x,p\nd,x,q\n", "1=#a 2=two\n# lines 1=b 2=x 1=c 1=d", 4),
        ("# see, \"the book\n# or not\nid,x,y\n1,2,p\n2,5,q\n3,1,p\n", "id x", 3),
        ("#1,2,p\n#2,3,q\n", "2 1=#1 1=#2", 2),
    ] {
        let data = read_as_csv(text);
        assert_eq!((names(&data).as_str(), data.len()), (features, rows), "{text}");
    }
}

/// Labels and names that look like another format, a delimiter or nothing at all come back, or are refused with a reason.
#[test]
fn what_looks_like_something_else_comes_back_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let tables = [
        ("a,b,y\n0,0,\"1,5\"\n1,2,\"2,5\"\n0,1,\"1,5\"\n", &[][..]),
        ("a,b,y\n0,0,p\n0,0,q\n", &[]),
        ("a,y\n0,p\n0,q\n", &[]),
        ("{,\"p q\"\"\",y\n1,2,p\n2,1,q\n3,4,p\n", &[]),
        ("{,},y\n1,2,p\n2,1,q\n3,4,p\n", &[]),
        ("x,\"label,z\"\n1,\"yes,no\"\n2,\"a,b\"\n3,\"yes,no\"\n", &[]),
        ("2024-01-01,2024-01-02,y\n1,2,p\n2,1,q\n3,4,p\n", &[]),
        ("1/2,50%,y\n1,2,p\n2,1,q\n3,4,p\n", &[]),
        ("\"\u{feff}a\",b,y\n1,2,p\n2,1,q\n3,4,p\n", &[]),
        ("a,b,y\n9007199254740994e0,2,p\n2,1,q\n3,4,p\n", &[]),
        ("a,b,y\n1,2,1|b\n2,1,2|b\n3,4,1|b\n", &[Format::LIBSVM]),
        ("a,b,y\n1,2,\"{\"\"k\"\"\"\n2,1,q\n3,4,p\n", &[]),
        ("a,b,y\n1,2,%PDF-1\n2,1,q\n3,4,p\n", &[Format::LIBSVM]),
        ("a,b,y\n1,2,\u{feff}p\n2,1,q\n3,4,p\n", &[Format::LIBSVM]),
        // Divided by semicolons it has more columns.
        ("a,b;c;d;e\n1,p;q;r;s\n2,p;p;p;p\n3,p;q;r;s\n", &[Format::CSV, Format::TSV]),
    ];
    for (text, refused) in tables {
        std::fs::write(&path, text).unwrap();
        let options = ReadOptions {
            csv: CsvOptions { header: Some(true), delimiter: Some(b','), ..CsvOptions::default() },
            ..ReadOptions::default()
        };
        let original = load(&path, &options);
        let columns = original.dataset.columns();
        let rows = rows_of(&original.dataset, columns);
        for (format, name) in [
            (Format::CSV, "o.csv"),
            (Format::TSV, "o.tsv"),
            (Format::LIBSVM, "o.svm"),
            (Format::NPZ, "o.npz"),
        ] {
            let copy = folder.path().join(name);
            let converted = convert(&Source::from(path.as_path()), &options, &copy, format, &mut ());
            if refused.contains(&format) {
                let error = converted.unwrap_err().to_string();
                assert!(error.contains("write"), "{error}");
                continue;
            }
            converted.unwrap_or_else(|error| panic!("{format} of {text}: {error}"));
            let again = load(&copy, &ReadOptions::default());
            assert_eq!(rows_of(&again.dataset, columns), rows, "{format} of {text}");
            assert_eq!(again.dataset.columns(), columns, "{format} of {text}");
            assert_eq!(again.dataset.fingerprint(), original.dataset.fingerprint(), "{format} of {text}");
        }
    }
}

/// Rows that are appended to a file while it is converted are not read, and are no error; other changes are one.
#[test]
fn a_file_may_grow_while_it_is_converted() {
    struct Change<'a>(Option<Box<dyn FnOnce() + 'a>>);
    impl Observer for Change<'_> {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            self.0.take().into_iter().for_each(|change| change());
            ControlFlow::Continue(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..100_000).map(|row| format!("{} 1:{row} 2:0.5\n", row % 2)).collect();
    let path = folder.path().join("rows.svm");
    for (name, format) in [("copy.csv", Format::CSV), ("copy.linsep", Format::LINSEP)] {
        let copy = folder.path().join(name);
        let converted_with = |change: &dyn Fn()| {
            std::fs::write(&path, &text).unwrap();
            let mut change = Change(Some(Box::new(change)));
            convert(&Source::from(path.as_path()), &ReadOptions::default(), &copy, format, &mut change)
        };
        let append = |rows: &str| {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            std::io::Write::write_all(&mut file, rows.as_bytes()).unwrap();
        };
        let converted = converted_with(&|| append("1 1:7\n0 1:8\n")).unwrap();
        assert_eq!(converted.rows, 100_000, "{format}");
        // What was there has changed as well.
        let error =
            converted_with(&|| std::fs::write(&path, text.replace("2:0.5", "2:1.5") + "1 1:1\n").unwrap());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("was changed while it was read"), "{error}");
        let error = converted_with(&|| std::fs::write(&path, &text[..999]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("was changed while it was read"), "{error}");
    }
    // A cache knows that its file has grown since.
    std::fs::write(&path, &text).unwrap();
    let mut grows = Change(Some(Box::new(|| {
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"1 1:7\n").unwrap();
    })));
    let (_, used) = cache::beside(&path, &ReadOptions::default(), &mut grows).unwrap();
    assert_eq!(used, cache::CacheUse::Made);
    let (place, used) = cache::beside(&path, &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(used, cache::CacheUse::Renewed);
    assert_eq!(load(&place, &ReadOptions::default()).dataset.len(), 100_001);
}

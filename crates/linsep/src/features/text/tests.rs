//! Texts from files to features: what is learned, from which rows, and that a model reads as it was trained.

use super::*;
use crate::dataset::Dataset;
use crate::features::{ColumnKind, Missing, Schema, learn_columns, settle_columns};
use crate::read::{CsvOptions, Format, Labels, Loaded, ReadOptions, RowStream, Source, read};
use crate::split::Split;
use std::fs;
use std::path::Path;

const TABLE: &str = "kind,text\nspam,Free prize! Free loan\nham,see you at noon\nspam,a loan for you\nham,the prize of noon noon\n";

fn options(text: TextOptions) -> ReadOptions {
    let csv = CsvOptions { missing: Missing::Auto, ..CsvOptions::default() };
    ReadOptions { text, csv, ..ReadOptions::default() }
}

fn of_column(text: TextOptions) -> ReadOptions {
    options(TextOptions { columns: vec!["text".into()], ..text })
}

fn loaded(table: &str, options: &ReadOptions) -> Loaded {
    read(&Source::Shared("rows".into(), table.as_bytes().into()), options, &mut ()).unwrap()
}

fn named(schema: &Schema, data: &Dataset, i: usize) -> Vec<(String, f64)> {
    data.row(i).iter().map(|(j, x)| (schema.feature_name(j), x)).collect()
}

fn split_at(data: &Dataset, held_out: &[usize]) -> Split {
    let train: Vec<usize> = (0..data.len()).filter(|i| !held_out.contains(i)).collect();
    Split { train: data.subset(&train).unwrap(), held_out: data.subset(held_out).unwrap() }
}

#[test]
fn terms_are_counted_and_then_weighed_by_all_rows() {
    let every = TextOptions { min_count: Some(1), ..TextOptions::default() };
    let loaded = loaded(TABLE, &of_column(every));
    assert!(loaded.schema.has_texts_as_read());
    let counts = named(&loaded.schema, &loaded.dataset, 0);
    assert_eq!(counts, [("free".to_string(), 2.0), ("prize".to_string(), 1.0), ("loan".to_string(), 1.0)]);
    let (schema, data) = settle_columns(loaded.schema, loaded.dataset, None).unwrap();
    assert_eq!(schema.fault(data.columns()), None);
    // ln(5/2) + 1 for what one of four rows has, ln(5/3) + 1 for what two have.
    let (once, twice) = ((5.0f64 / 2.0).ln() + 1.0, (5.0f64 / 3.0).ln() + 1.0);
    let length = (4.0 * once * once + 2.0 * twice * twice).sqrt();
    for ((name, value), (expected, size)) in
        named(&schema, &data, 0).iter().zip([("free", 2.0 * once), ("loan", twice), ("prize", twice)])
    {
        assert_eq!(name, expected);
        assert!((value - size / length).abs() < 1e-15, "{name}: {value}");
    }
    // The model reads the same rows in the same way, bit for bit, and leaves out what it does not know.
    let known = ReadOptions { schema: Some(schema.clone()), ..ReadOptions::default() };
    let again = self::loaded(TABLE, &known);
    assert_eq!(again.dataset.rows(), data.rows());
    let other = self::loaded("text,kind\nunheard words: loan,ham\n,spam\n", &known);
    assert_eq!(named(&schema, &other.dataset, 0), [("loan".to_string(), 1.0)]);
    assert!(named(&schema, &other.dataset, 1).is_empty());
}

#[test]
fn held_out_rows_teach_no_words_and_no_weights() {
    let read = loaded(TABLE, &of_column(TextOptions { min_count: Some(1), ..TextOptions::default() }));
    let (schema, split) = learn_columns(read.schema, split_at(&read.dataset, &[1, 3]), None).unwrap();
    assert_eq!(schema.feature_names().unwrap(), ["free", "loan", "prize", "for", "you"]);
    assert_eq!(split.train.feature_names().unwrap(), ["free", "loan", "prize", "for", "you"]);
    let (_, text) = schema.texts().next().unwrap();
    let TermFeatures::Learned { rows: Some(rows), .. } = &text.features else { panic!("{text:?}") };
    assert_eq!((rows.all, rows.with.as_slice()), (2, &[1, 2, 1, 1, 1][..]));
    // "noon" is unknown; "prize" alone is left, with length 1.
    assert_eq!(named(&schema, &split.held_out, 1), [("prize".to_string(), 1.0)]);
}

#[test]
fn rare_terms_and_those_beyond_the_limit_are_left_out() {
    let names = |text: TextOptions| {
        let read = loaded(TABLE, &of_column(text));
        settle_columns(read.schema, read.dataset, None).unwrap().0.feature_names().unwrap()
    };
    assert_eq!(names(TextOptions::default()), ["loan", "prize", "noon", "you"]);
    let two = TextOptions { max_vocabulary: Some(2), ..TextOptions::default() };
    assert_eq!(names(two), ["loan", "prize"]);
    let pairs = TextOptions {
        ngrams: Some(Ngrams { least: 2, most: 2 }),
        min_count: Some(1),
        max_vocabulary: Some(3),
        ..TextOptions::default()
    };
    assert_eq!(names(pairs), ["free loan", "free prize", "prize free"]);
}

#[test]
fn chosen_words_are_counted_in_their_order() {
    let words = TextOptions {
        words: vec!["Loan".into(), "prize".into(), "see you".into()],
        ..TextOptions::default()
    };
    let read = loaded(TABLE, &of_column(words));
    let (schema, data) = settle_columns(read.schema, read.dataset, None).unwrap();
    assert_eq!(schema.feature_names().unwrap(), ["loan", "prize", "see you"]);
    let rows: Vec<Vec<(usize, f64)>> = (0..4).map(|i| data.row(i).iter().collect()).collect();
    assert_eq!(rows, [vec![(0, 1.0), (1, 1.0)], vec![(2, 1.0)], vec![(0, 1.0)], vec![(1, 1.0)]]);
    let refused = Text::begin(&TextOptions { words: vec!["!".into()], ..TextOptions::default() }, 0);
    assert!(refused.unwrap_err().to_string().contains("which is no word"));
}

#[test]
fn hashed_terms_need_no_list_and_collisions_are_told() {
    let hashed = |bits: u8| TextOptions { hash_bits: Some(bits), ..TextOptions::default() };
    let read = loaded(TABLE, &of_column(hashed(4)));
    let remark = read.notes.remarks.iter().find(|remark| remark.contains("share a bucket")).unwrap();
    assert!(remark.starts_with("10 terms are hashed into 16 buckets"), "{remark}");
    let (schema, data) = settle_columns(read.schema, read.dataset, None).unwrap();
    assert_eq!((schema.features(), data.columns()), (16, 16));
    let known = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
    assert_eq!(loaded(TABLE, &known).dataset.rows(), data.rows());
}

/// Numbers, words, two texts and missing cells in one table: chunks and threads never show, and a model reads as it learned.
#[test]
fn mixed_tables_give_the_same_bits_for_any_threads() {
    let mut table = "size,colour,note,body,kind\n".to_string();
    for i in 0..6000u32 {
        let size = if i % 11 == 0 { String::new() } else { (i % 17).to_string() };
        let words: Vec<String> = (0..i % 9).map(|k| format!("w{}", (i * 7 + k * k) % 997)).collect();
        let colour = format!("c{}", (i / 13) % 29);
        table += &format!("{size},{colour},note {} x{},\"{}\",{}\n", i % 5, i / 7, words.join(" "), i % 2);
    }
    let columns = TextOptions { columns: vec!["note".into(), "body".into()], ..TextOptions::default() };
    let mut first = None;
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settled = pool.install(|| {
            let read = loaded(&table, &options(columns.clone()));
            settle_columns(read.schema, read.dataset, Some(1000)).unwrap()
        });
        let (schema, data) = first.get_or_insert_with(|| settled.clone());
        assert!(settled.0 == *schema && settled.1.rows() == data.rows(), "{threads} threads");
    }
    let (schema, data) = first.unwrap();
    assert_eq!(schema.fault(data.columns()), None);
    let names = schema.feature_names().unwrap();
    assert!(names.contains(&"note:note".to_string()) && names.contains(&"body:w7".to_string()));
    assert!(
        names.iter().position(|name| name.starts_with("note:"))
            > names.iter().position(|name| name == "size missing")
    );
    let known = ReadOptions { schema: Some(schema.clone()), ..ReadOptions::default() };
    assert_eq!(loaded(&table, &known).dataset.rows(), data.rows());
    let json = serde_json::to_string(&schema).unwrap();
    assert!(serde_json::from_str::<Schema>(&json).unwrap() == schema);
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

#[cfg(feature = "mail")]
#[test]
fn a_folder_and_a_table_of_the_same_texts_give_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("ham/1.txt", "see you at noon"),
            ("ham/2.txt", "the prize of noon noon"),
            ("spam/1", "Free prize! Free loan"),
            ("spam/2", "a loan for you"),
        ],
    );
    let of_folder = read(&Source::from(folder.path()), &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(of_folder.format, Format::DOCUMENTS);
    assert_eq!(of_folder.dataset.classes(), ["ham", "spam"]);
    let (schema, data) = settle_columns(of_folder.schema, of_folder.dataset, None).unwrap();
    let table = "text,kind\nsee you at noon,ham\nthe prize of noon noon,ham\nFree prize! Free loan,spam\na loan for you,spam\n";
    let of_table = loaded(table, &of_column(TextOptions::default()));
    let (table_schema, table_data) = settle_columns(of_table.schema, of_table.dataset, None).unwrap();
    assert_eq!(data.rows(), table_data.rows());
    assert_eq!(schema.feature_names(), table_schema.feature_names());
    // The model of the folder reads the table, and single files without labels.
    let known = ReadOptions { schema: Some(schema), labels: Labels::Ignored, ..ReadOptions::default() };
    let single = ReadOptions { format: Some(Format::DOCUMENTS), ..known };
    let mut stream = RowStream::open(&Source::from(folder.path().join("spam/2").as_path()), &single).unwrap();
    let batch = stream.next_batch().unwrap().unwrap();
    assert_eq!(batch.row(0).iter().collect::<Vec<_>>(), data.row(3).iter().collect::<Vec<_>>());
    assert!(stream.row_name(0).unwrap().ends_with("spam/2"));
}

#[test]
fn damaged_columns_of_texts_are_unsound() {
    let read = loaded(TABLE, &of_column(TextOptions::default()));
    let (schema, data) = settle_columns(read.schema, read.dataset, None).unwrap();
    let damage = |change: fn(&mut Text)| {
        let mut schema = schema.clone();
        let Schema::Table { columns, .. } = &mut schema else { panic!("no table") };
        let text = columns.iter_mut().find_map(|column| match &mut column.kind {
            ColumnKind::Text(text) => Some(text),
            _ => None,
        });
        change(text.unwrap());
        schema.fault(data.columns())
    };
    assert_eq!(damage(|_| ()), None);
    assert!(damage(|text| text.ngrams.most = 0).is_some());
    assert!(damage(|text| text.terms = Terms::Hashed(60)).is_some());
    assert!(damage(|text| text.features = TermFeatures::Learned { first: 0, rows: None }).is_some());
    assert!(damage(|text| text.features = TermFeatures::Learned { first: usize::MAX, rows: None }).is_some());
    assert!(
        damage(|text| {
            let rows = TermRows { all: 1, with: vec![9; 4] };
            text.features = TermFeatures::Learned { first: 0, rows: Some(rows) };
        })
        .is_some()
    );
}

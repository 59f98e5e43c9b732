//! What the formats have in common.

use super::*;
use crate::Error;

const LIBSVM: &[u8] = b"1 1:2\n-1 1:3\n";
const CSV: &[u8] = b"x,y\n1,a\n2,b\n";

fn open(bytes: &'static [u8], options: &ReadOptions) -> Result<RowStream, Error> {
    RowStream::open(&Source::Memory("rows", bytes), options)
}

#[test]
fn options_without_effect_are_refused() {
    let default = ReadOptions::default;
    let some = |text: &str| Some(text.to_string());
    for (bytes, options, message) in [
        (
            LIBSVM,
            ReadOptions { csv: CsvOptions { label: some("y"), ..CsvOptions::default() }, ..default() },
            "⟦label⟧ does not apply to LIBSVM files",
        ),
        (
            LIBSVM,
            ReadOptions {
                csv: CsvOptions { ignore: vec!["1".into()], ..CsvOptions::default() },
                ..default()
            },
            "⟦ignore⟧ does not apply to",
        ),
        (
            LIBSVM,
            ReadOptions { csv: CsvOptions { header: Some(false), ..CsvOptions::default() }, ..default() },
            "⟦header⟧ does not apply to",
        ),
        (
            LIBSVM,
            ReadOptions { csv: CsvOptions { delimiter: Some(b' '), ..CsvOptions::default() }, ..default() },
            "⟦delimiter⟧ does not apply to",
        ),
        (
            LIBSVM,
            ReadOptions { csv: CsvOptions { missing: Missing::Zero, ..CsvOptions::default() }, ..default() },
            "⟦missing⟧ does not apply to",
        ),
        (
            LIBSVM,
            ReadOptions { array: ArrayOptions { labels_file: Some("y".into()) }, ..default() },
            "⟦labels⟧ does not apply to",
        ),
        (
            CSV,
            ReadOptions { libsvm: LibsvmOptions { index_base: Some(1) }, ..default() },
            "⟦index_base⟧ does not apply to CSV",
        ),
        (
            CSV,
            ReadOptions {
                array: ArrayOptions { labels_file: Some("y".into()) },
                skip_bad: true,
                ..default()
            },
            "⟦labels⟧ has one label for each row",
        ),
        (
            b"\x93NUMPY",
            ReadOptions { csv: CsvOptions { label: some("y"), ..CsvOptions::default() }, ..default() },
            "⟦label⟧ does not apply to NumPy",
        ),
        (
            CSV,
            ReadOptions {
                csv: CsvOptions { label: some("y"), ignore: vec!["2".into()], ..CsvOptions::default() },
                ..default()
            },
            "column \"y\" is named by ⟦label⟧ and by ⟦ignore⟧",
        ),
    ] {
        match open(bytes, &options).map(|_| ()) {
            Err(Error::Settings(error)) => assert!(error.problem.starts_with(message), "{error}"),
            other => panic!("{message}: {other:?}"),
        }
    }
    let options = ReadOptions { format: Some(Format::TSV), ..default() };
    assert!(open(b"1\ta\n2\tb\n", &options).is_ok());
}

#[test]
fn old_line_ends_are_called_by_their_name() {
    for format in [None, Some(Format::CSV), Some(Format::LIBSVM)] {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let error = open(b"1,a\r2,b\r3,a\r", &options).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("carriage returns"), "{error}");
    }
}

#[test]
fn a_late_word_makes_a_column_words_however_the_file_is_read() {
    use std::fmt::Write;
    static TEXT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let mut text = String::from("x,z,y\n");
        for i in 0..60_000 {
            let _ = writeln!(text, "{},{}.5,{}", i % 7, i % 9, i % 2);
        }
        text + "late,1,0\n"
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), TEXT.as_bytes()).unwrap();
    let stream = Source::Custom("stream", || Ok(Box::new(TEXT.as_bytes())));
    let mut loaded = Vec::new();
    for source in [Source::File(file.path().to_path_buf()), Source::Memory("rows", TEXT.as_bytes()), stream] {
        for skip_bad in [false, true] {
            let options = ReadOptions { skip_bad, ..ReadOptions::default() };
            let Loaded { dataset, schema, notes, .. } = read(&source, &options, &mut ()).unwrap();
            loaded.push((dataset.fingerprint().to_string(), schema, notes.remarks, notes.skipped));
        }
    }
    let (_, schema, remarks, _) = &loaded[0];
    assert_eq!(schema.feature_names().unwrap()[7..], ["x=6", "x=late"]);
    assert!(
        remarks[0].contains("60,000 of its 60,001 cells are numbers, but not \"late\" on line 60002"),
        "{remarks:?}"
    );
    assert!(loaded.iter().all(|other| *other == loaded[0]));
}

#[test]
fn matching_by_number_is_remarked_on() {
    let schema = read(&Source::Memory("rows", CSV), &ReadOptions::default(), &mut ()).unwrap().schema;
    let options = ReadOptions { schema: Some(schema), ..ReadOptions::default() };
    let notes = open(LIBSVM, &options).unwrap().notes();
    assert!(notes.remarks.iter().any(|remark| remark.contains("matched by number")), "{notes:?}");
    assert!(open(CSV, &options).unwrap().notes().remarks.is_empty());
}

/// A file is cut, written to, or replaced after its first rows were read.
#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    let text: String = (0..200_000).map(|row| format!("{} 1:{row} 2:0.5\n", row % 2)).collect();
    let table = text.replace(" 1:", ",").replace(" 2:", ",");
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for content in [text.as_bytes(), table.as_bytes(), &gzip] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rest = |change: &(dyn Fn() + Sync)| {
            std::fs::write(file.path(), content).unwrap();
            pool.install(|| {
                let source = Source::File(file.path().to_path_buf());
                let mut stream = RowStream::open(&source, &ReadOptions::default()).unwrap();
                let mut rows = stream.next_batch().unwrap().unwrap().len();
                std::thread::sleep(std::time::Duration::from_millis(20));
                change();
                while let Some(batch) = stream.next_batch()? {
                    rows += batch.len();
                }
                Ok::<usize, crate::Error>(rows)
            })
        };
        let open = || std::fs::File::options().write(true).open(file.path()).unwrap();
        let half = content.len() as u64 / 2;
        let changes: [(&(dyn Fn() + Sync), &str); 4] = [
            (&|| open().set_len(half).unwrap(), "now it has"),
            (&|| open().set_len(0).unwrap(), "now it has 0"),
            (&|| std::fs::write(file.path(), &content[..content.len() / 3]).unwrap(), "now it has"),
            (&|| std::fs::write(file.path(), content).unwrap(), "it was written to"),
        ];
        for (change, expected) in changes {
            let error = rest(change).unwrap_err().to_string();
            assert!(error.contains("was changed while it was read") && error.contains(expected), "{error}");
        }
        // One that grows is read as it was.
        let append = || {
            let mut file = std::fs::File::options().append(true).open(file.path()).unwrap();
            std::io::Write::write_all(&mut file, b"more that is no row").unwrap();
        };
        assert_eq!(rest(&append).unwrap(), 200_000);
    }
}

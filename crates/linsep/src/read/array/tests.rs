use super::*;
use crate::dataset::{Rows, Values};
use crate::numbers;
use crate::read::{ArrayOptions, Source};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The bytes of a `.npy` file.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn floats(shape: &str, numbers: &[f64]) -> Vec<u8> {
    npy("<f8", false, shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

fn integers(numbers: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("<i8", false, &format!("({},)", numbers.len()), &data)
}

/// An archive as `savez` writes it: members stored one after the other, then the directory.
fn npz(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut directory: Vec<u8> = Vec::new();
    for (name, data) in members {
        let stored = if deflated {
            let mut encoder = flate2::read::DeflateEncoder::new(&data[..], flate2::Compression::default());
            let mut packed = Vec::new();
            encoder.read_to_end(&mut packed).unwrap();
            packed
        } else {
            data.clone()
        };
        let file_name = format!("{name}.npy");
        let mut common = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0x21, 0];
        let mut checksum = flate2::Crc::new();
        checksum.update(data);
        common.extend_from_slice(&checksum.sum().to_le_bytes());
        common.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        common.extend_from_slice(&(data.len() as u32).to_le_bytes());
        common.extend_from_slice(&(file_name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        directory.extend_from_slice(file_name.as_bytes());
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&common);
        bytes.extend_from_slice(file_name.as_bytes());
        bytes.extend_from_slice(&stored);
    }
    let start = bytes.len() as u32;
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(b"PK\x05\x06\x00\x00\x00\x00");
    for _ in 0..2 {
        bytes.extend_from_slice(&(members.len() as u16).to_le_bytes());
    }
    bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

/// A labels file that is removed when the test is over.
struct LabelsFile(PathBuf);

impl LabelsFile {
    fn new(bytes: &[u8]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("linsep-labels-{}-{number}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for LabelsFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[derive(Debug, PartialEq)]
struct Table {
    rows: Vec<Vec<(usize, f64)>>,
    labels: Vec<String>,
    schema: Schema,
}

fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<(Table, ReadNotes), ReadError> {
    read_after(1 << 18, bytes, format, options)
}

/// Reads after a look at the first `head` bytes. If these are not all, the length is not known beforehand.
fn read_after(
    head: usize,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<(Table, ReadNotes), ReadError> {
    let mut reader = ArrayReader::new("test".into(), Input::from_bytes(bytes, head), format, options)?;
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch()? {
        for i in 0..batch.len() {
            rows.push(batch.row(i).iter().collect());
            labels.extend(reader.label_names().get(batch.label(i) as usize).cloned());
        }
    }
    Ok((Table { rows, labels, schema: reader.schema() }, reader.notes()))
}

fn unlabelled() -> ReadOptions {
    ReadOptions { labels: Labels::Ignored, ..ReadOptions::default() }
}

fn rows_of(bytes: &[u8]) -> Vec<Vec<f64>> {
    let (table, _) = read(bytes, Format::NPY, &unlabelled()).unwrap();
    table.rows.iter().map(|row| row.iter().map(|&(_, value)| value).collect()).collect()
}

fn labels_of(labels: &[u8], count: usize) -> Result<Vec<String>, ReadError> {
    let file = LabelsFile::new(labels);
    let options =
        ReadOptions { array: ArrayOptions { labels_file: Some(file.0.clone()) }, ..ReadOptions::default() };
    let numbers = vec![0.0; count];
    read(&floats(&format!("({count}, 1)"), &numbers), Format::NPY, &options).map(|(table, _)| table.labels)
}

fn message(bytes: &[u8], format: Format, options: &ReadOptions) -> String {
    read(bytes, format, options).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn every_number_type_is_read_in_both_byte_orders() {
    for (descr, data) in [
        ("|b1", vec![1, 0]),
        ("|i1", vec![1, 0xfe]),
        ("|u1", vec![1, 254]),
        ("<i2", [1i16, -2].map(i16::to_le_bytes).concat()),
        (">i2", [1i16, -2].map(i16::to_be_bytes).concat()),
        (">u2", [1u16, 65_535].map(u16::to_be_bytes).concat()),
        ("<i4", [1i32, -2].map(i32::to_le_bytes).concat()),
        (">u4", [1u32, u32::MAX].map(u32::to_be_bytes).concat()),
        (">i8", [1i64, -2].map(i64::to_be_bytes).concat()),
        ("<u8", [1u64, 1 << 60].map(u64::to_le_bytes).concat()),
        ("<f2", vec![0x00, 0x3c, 0x01, 0x80]),
        (">f4", [1f32, -2.5].map(f32::to_be_bytes).concat()),
        ("<f8", [1f64, -2.5].map(f64::to_le_bytes).concat()),
    ] {
        let second = match descr {
            "|b1" => 0.0,
            "|u1" => 254.0,
            ">u2" => 65_535.0,
            ">u4" => f64::from(u32::MAX),
            "<u8" => 2f64.powi(60),
            "<f2" => -(2f64.powi(-24)),
            ">f4" | "<f8" => -2.5,
            _ => -2.0,
        };
        assert_eq!(rows_of(&npy(descr, false, "(1, 2)", &data)), [[1.0, second]], "{descr}");
    }
}

#[test]
fn both_orders_of_storage_are_read() {
    let data: Vec<u8> = (1..=6).collect();
    assert_eq!(rows_of(&npy("|u1", false, "(2, 3)", &data)), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(rows_of(&npy("|u1", true, "(2L, 3L)", &data)), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
}

#[test]
fn the_format_is_announced_and_labels_are_named() {
    let bytes = npz(&[("X", floats("(2, 1)", &[0.5, 1.5])), ("y", integers(&[1, -1]))], false);
    let (table, notes) = read(&bytes, Format::NPZ, &ReadOptions::default()).unwrap();
    assert_eq!(notes.format, "NumPy array, 2 × 1, f64");
    assert_eq!(table.labels, ["1", "-1"]);
    assert_eq!(table.schema, Schema::Array { features: 1 });
}

#[test]
fn labels_come_as_numbers_texts_and_lines() {
    let wide = |text: &str| text.chars().flat_map(|c| (c as u32).to_be_bytes()).collect::<Vec<_>>();
    let narrow = [0.1f32, 2.0].map(f32::to_le_bytes).concat();
    for (bytes, expected) in [
        (integers(&[3, -4]), ["3", "-4"]),
        (npy("<f4", false, "(2, 1)", &narrow), ["0.1", "2"]),
        (npy("|b1", false, "(2,)", &[1, 0]), ["True", "False"]),
        (npy("|S4", false, "(2,)", b"ham\0spam"), ["ham", "spam"]),
        (npy(">U3", false, "(2,)", &wide("na\u{ef}b\0\0")), ["na\u{ef}", "b"]),
        (b"\xef\xbb\xbfham\r\n spam \n\n".to_vec(), ["ham", "spam"]),
    ] {
        assert_eq!(labels_of(&bytes, 2).unwrap(), expected);
    }
    for (bytes, problem) in [
        (integers(&[1, 2, 3]), "3 labels for the 2 rows of test"),
        (b"ham\n".to_vec(), "1 label for the 2 rows of test"),
        (npy("|i1", false, "(1, 2)", &[1, 2]), "the labels have the shape [1, 2]"),
        (floats("(2,)", &[1.0, f64::NAN]), ":2: the label \"NaN\" is missing or not finite"),
        (b"ham\n\nspam".to_vec(), "3 labels for the 2 rows"),
        (b"\nspam".to_vec(), ":1: the label \"\" is missing"),
        (npy(">U1", false, "(2,)", &[0, 0, 0, 65, 0, 0, 0xd8, 0]), ":2: the label \"not a text\""),
    ] {
        let error = labels_of(&bytes, 2).unwrap_err().to_string();
        assert!(error.contains("linsep-labels") && error.contains(problem), "{error}");
    }
    let bytes = floats("(1, 1)", &[1.0]);
    assert!(message(&bytes, Format::NPY, &ReadOptions::default()).contains("⟦labels⟧"));
}

#[test]
fn numbers_that_are_none_have_their_place() {
    let bytes = floats("(2, 2)", &[1.0, 2.0, 3.0, f64::NEG_INFINITY]);
    assert_eq!(message(&bytes, Format::NPY, &unlabelled()), "test:2:2: the value \"-inf\" is not finite");
    let skip = ReadOptions { skip_bad: true, ..unlabelled() };
    let (table, notes) = read(&bytes, Format::NPY, &skip).unwrap();
    assert_eq!((table.rows.len(), notes.skipped, notes.first_skipped[0].line), (1, 1, 2));
    let lossy = npy("<i8", false, "(1, 1)", &((1i64 << 53) + 1).to_le_bytes());
    assert!(message(&lossy, Format::NPY, &unlabelled()).contains("9007199254740993 cannot be stored"));
}

#[test]
fn hostile_headers_are_errors() {
    let huge = u64::MAX.to_string();
    for (bytes, problem) in [
        (b"\x93NUMPY".to_vec(), "ends inside its header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "ends inside its header"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version 9"),
        (npy("<f8", false, &format!("({huge}, {huge})"), &[]), "larger than any memory"),
        (npy("<f8", false, &format!("({}, 2)", u64::MAX / 16), &[]), "promises"),
        (npy("<f8", false, &format!("({huge}0, 2)"), &[]), "header"),
        (npy("<f8", false, &format!("({huge}, 0)"), &[]), "where rows and columns are needed"),
        (npy("<f8", false, "(2, 2)", &[0; 31]), "promises 32 bytes, but only 31 are there"),
        (npy("<f8", false, "(2, 2)", &[0; 33]), "1 byte follows"),
        (npy("<f8", false, "(4,)", &[0; 32]), "where rows and columns are needed"),
        (npy("<f8", false, "()", &[0; 8]), "where rows and columns are needed"),
        (npy("<f8", false, "(-1, 2)", &[]), "header"),
        (npy("<c8", false, "(1, 1)", &[0; 8]), "not supported"),
        (npy("|O", false, "(1, 1)", &[0; 8]), "Python objects"),
        (npy("|S2", false, "(1, 1)", &[0; 2]), "text"),
        (npy("", false, "(1, 1)", &[0; 2]), "not supported"),
        (npy(&format!("<U{huge}"), false, "(1, 1)", &[0; 2]), "not supported"),
        (npy("<f8", false, &"(".repeat(10_000), &[]), "header"),
        (npy("<f8", false, "(1, 16777216)", &[0; 8]), "promises 134217728 bytes, but only 8 are there"),
        (
            [b"\x93NUMPY\x02\x00\x00\x00\xff\xff".to_vec(), vec![b' '; 1 << 20]].concat(),
            "the header has 4294901760",
        ),
    ] {
        for head in [1, 1 << 18] {
            let error = read_after(head, &bytes, Format::NPY, &unlabelled()).map(|_| ()).unwrap_err();
            let found = error.to_string();
            assert!(found.contains(problem), "{found} does not say {problem}");
        }
    }
    let few = ReadOptions { max_features: Some(1), ..unlabelled() };
    assert!(message(&floats("(1, 2)", &[1.0, 2.0]), Format::NPY, &few).contains("more than 1 feature"));
}

/// The matrix [[0, 5, 0], [7, 0, 8]], with the second row out of order and a stored zero.
fn sparse(indices: &[i64], indptr: &[i64], format: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let data = floats("(4,)", &[5.0, 0.0, 8.0, 7.0]);
    vec![
        ("indices", integers(indices)),
        ("indptr", integers(indptr)),
        ("format", npy("|S3", false, "()", format)),
        ("shape", integers(&[2, 3])),
        ("data", data),
    ]
}

#[test]
fn sparse_matrices_are_read() {
    for deflated in [false, true] {
        let mut members = sparse(&[1, 0, 2, 0], &[0, 2, 4], b"csr");
        members.push(("y", npy("<U1", false, "(2,)", &[97, 0, 0, 0, 98, 0, 0, 0])));
        let (table, notes) = read(&npz(&members, deflated), Format::NPZ, &ReadOptions::default()).unwrap();
        assert_eq!(table.rows, [vec![(1, 5.0)], vec![(0, 7.0), (2, 8.0)]]);
        assert_eq!(table.labels, ["a", "b"]);
        assert_eq!(notes.format, "SciPy sparse matrix, 2 × 3, f64");
    }
}

#[test]
fn sparse_matrices_by_columns_and_by_places_are_read() {
    let rows = [vec![(1, 5.0)], vec![(0, 7.0), (2, 8.0)]];
    // Column by column: 7 in row 1; 5 in row 0, and a stored zero; 8 in row 1.
    let mut columns = sparse(&[1, 0, 1, 1], &[0, 1, 3, 4], b"csc");
    columns[4].1 = floats("(4,)", &[7.0, 5.0, 0.0, 8.0]);
    let mut places = vec![
        ("row", integers(&[1, 0, 1])),
        ("col", integers(&[2, 1, 0])),
        ("format", npy("|S3", false, "()", b"coo")),
        ("shape", integers(&[2, 3])),
        ("data", floats("(3,)", &[8.0, 5.0, 7.0])),
    ];
    for members in [&columns, &places] {
        let (table, _) = read(&npz(members, false), Format::NPZ, &unlabelled()).unwrap();
        assert_eq!(table.rows, rows);
    }
    // Numbers of one place are added, as SciPy does; a sum of zero is no number.
    let repeated = |values: &[f64]| {
        npz(
            &[
                ("row", integers(&[1, 0, 1, 1, 0])),
                ("col", integers(&[2, 1, 0, 2, 1])),
                ("format", npy("|S3", false, "()", b"coo")),
                ("shape", integers(&[2, 3])),
                ("data", floats("(5,)", values)),
            ],
            false,
        )
    };
    let (table, _) = read(&repeated(&[6.0, 5.0, 7.0, 2.0, -5.0]), Format::NPZ, &unlabelled()).unwrap();
    assert_eq!(table.rows, [vec![], vec![(0, 7.0), (2, 8.0)]]);
    let beyond = message(&repeated(&[1e308, 5.0, 7.0, 1e308, 1.0]), Format::NPZ, &unlabelled());
    assert!(beyond.contains("test:2:3"), "{beyond}");
    // A matrix by diagonals is not taken for a dense one.
    let diagonals = npz(
        &[
            ("offsets", integers(&[0, 1])),
            ("format", npy("|S3", false, "()", b"dia")),
            ("shape", integers(&[3, 3])),
            ("data", floats("(2, 3)", &[1.0; 6])),
        ],
        false,
    );
    let found = message(&diagonals, Format::NPZ, &unlabelled());
    assert!(found.contains("the format \"dia\"") && found.contains("matrix.tocsr()"), "{found}");
    places[0].1 = integers(&[1, 2, 1]);
    assert!(message(&npz(&places, false), Format::NPZ, &unlabelled()).contains("outside its shape"));
    places[3].1 = integers(&[1 << 60, 3]);
    assert!(message(&npz(&places, false), Format::NPZ, &unlabelled()).contains("do not fit into memory"));
}

#[test]
fn wrong_sparse_matrices_are_errors() {
    for (indices, indptr, format, problem) in [
        (&[1, 0, 2, 2][..], &[0, 2, 4][..], b"csr", "test:2:3: feature index 2 occurs twice"),
        (&[1, 0, 3, 0], &[0, 2, 4], b"csr", "the feature index \"3\" is not a whole number from 0 to 2"),
        (&[1, 0, -1, 0], &[0, 2, 4], b"csr", "the feature index \"-1\""),
        (&[1, 0, 2, 0], &[0, 3, 2], b"csr", "row starts"),
        (&[1, 0, 2, 0], &[0, 2, 9], b"csr", "row starts"),
        (&[1, 0, 2, 0], &[1, 2, 4], b"csr", "row starts"),
        (&[1, 0, 2, 0], &[0, 4], b"csr", "row starts"),
        (&[1, 0, 2, 0], &[0, -2, 4], b"csr", "row starts"),
        (&[1, 0, 2], &[0, 2, 4], b"csr", "one index for each"),
        (&[1, 0, 1, 0], &[0, 2, 4], b"csc", "row starts"),
        (&[1, 0, 2, 0], &[0, 2, 3, 4], b"csc", "outside its shape"),
        (&[1, 0, 2, 0], &[0, 2, 4], b"bsr", "the format \"bsr\", which is not read"),
    ] {
        let found = message(&npz(&sparse(indices, indptr, format), false), Format::NPZ, &unlabelled());
        assert!(found.contains(problem), "{found} does not say {problem}");
    }
    let none = npz(&[("weights", integers(&[1]))], false);
    assert!(message(&none, Format::NPZ, &unlabelled()).contains("no array X; it has \"weights\""));
}

#[test]
fn a_model_needs_its_number_of_columns() {
    let with = |features| ReadOptions { schema: Some(Schema::Array { features }), ..unlabelled() };
    let dense = floats("(1, 2)", &[1.0, 2.0]);
    assert!(read(&dense, Format::NPY, &with(2)).is_ok());
    assert!(message(&dense, Format::NPY, &with(3)).contains("2 columns where the model needs 3"));
    let bytes = npz(&sparse(&[1, 0, 2, 0], &[0, 2, 4], b"csr"), false);
    let (table, notes) = read(&bytes, Format::NPZ, &with(2)).unwrap();
    assert_eq!(table.rows, [vec![(1, 5.0)], vec![(0, 7.0)]]);
    assert!(notes.remarks[0].starts_with("1 number stands in a column"));
    assert_eq!(read(&bytes, Format::NPZ, &with(9)).unwrap().0.schema.features(), 9);
}

#[test]
fn rows_keep_their_numbers() {
    let bytes = floats("(3, 1)", &[1.0, f64::NAN, 3.0]);
    let options = ReadOptions { skip_bad: true, ..unlabelled() };
    let input = Input::from_bytes(&bytes, 1 << 18);
    let mut reader = ArrayReader::new("test".into(), input, Format::NPY, &options).unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!([batch.line(0), batch.line(1)], [Some(1), Some(3)]);
}

#[test]
fn every_number_of_rows_and_columns_is_streamed() {
    let batch = BATCH_ROWS;
    for (rows, columns) in [
        (1, 1),
        (batch - 1, 2),
        (batch, 3),
        (batch + 1, 1),
        (2 * batch + 7, 5),
        (3, BATCH_VALUES + 1),
        (9, 100_000),
    ] {
        let numbers: Vec<f64> = (0..rows * columns).map(|k| (k % 8191) as f64 - 0.5).collect();
        let shape = format!("({rows}, {columns})");
        let data = |bytes: fn(f64) -> Vec<u8>| numbers.iter().flat_map(|&x| bytes(x)).collect::<Vec<u8>>();
        let (f8, big) = (data(|x| x.to_le_bytes().to_vec()), data(|x| x.to_be_bytes().to_vec()));
        let f4 = data(|x| (x as f32).to_le_bytes().to_vec());
        for (descr, data) in [("<f8", f8), (">f8", big), ("<f4", f4)] {
            let bytes = npy(descr, false, &shape, &data);
            for head in [1, 1 << 18] {
                let input = Input::from_bytes(&bytes, head);
                let mut reader = ArrayReader::new("test".into(), input, Format::NPY, &unlabelled()).unwrap();
                let mut found = Vec::new();
                while let Some(batch) = reader.next_batch().unwrap() {
                    let BatchRows::Dense { values, .. } = &batch.rows else { panic!("not dense") };
                    assert_eq!(batch.line(0), Some((found.len() / columns) as u64 + 1));
                    found.extend_from_slice(values);
                }
                assert!(found == numbers, "{descr} {shape} {head}");
            }
        }
    }
}

#[test]
fn a_file_may_end_nowhere_but_at_its_end() {
    let long = BATCH_ROWS + 3;
    let (small, large) =
        (npy("<f4", false, "(3, 2)", &[0; 24]), npy("|u1", false, &format!("({long}, 1)"), &vec![0; long]));
    let (small_start, large_start) = (small.len() - 24, large.len() - long);
    let cuts = (0..small.len()).map(|cut| (&small, small_start, cut));
    let batch_ends = [0, 1, BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1, long - 1];
    for (bytes, start, cut) in cuts.chain(batch_ends.map(|cut| (&large, large_start, large_start + cut))) {
        let expected = if cut < 6 {
            "this is not a NumPy array".to_string()
        } else if cut < start {
            "the file ends inside its header".to_string()
        } else {
            format!("the header promises {} bytes, but only {} are there", bytes.len() - start, cut - start)
        };
        for skip_bad in [false, true] {
            // Before and after the length is known.
            for head in [1, cut.max(1), cut + 1] {
                let options = ReadOptions { skip_bad, ..unlabelled() };
                let error = read_after(head, &bytes[..cut], Format::NPY, &options).unwrap_err().to_string();
                assert!(error.starts_with(&format!("test: {expected}")), "{cut} {head}: {error}");
            }
        }
    }
    for (shape, length) in [("(0, 2)", 0), ("(3, 2)", 6), (&format!("({long}, 1)"), long)] {
        for more in [1, 2, 300_000] {
            let bytes = npy("|u1", false, shape, &vec![0; length + more]);
            let counted = numbers::counted(more as u64, "byte follows", "bytes follow");
            for head in [1, bytes.len(), bytes.len() + 1] {
                let error = read_after(head, &bytes, Format::NPY, &unlabelled()).unwrap_err().to_string();
                assert_eq!(error, format!("test: {counted} the array"));
            }
        }
        assert!(
            read_after(1, &npy("|u1", false, shape, &vec![0; length]), Format::NPY, &unlabelled()).is_ok()
        );
    }
}

#[test]
fn labels_are_streamed_with_their_rows() {
    let count = 2 * BATCH_ROWS + 5;
    let names = ["ham", "spam"];
    let expected: Vec<&str> = (0..count).map(|row| names[row % 3 % 2]).collect();
    let data: Vec<u8> = expected.iter().flat_map(|name| format!("{name:\0<4}").into_bytes()).collect();
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    for (shape, fortran) in [(format!("({count},)"), false), (format!("({count}, 1)"), true)] {
        let bytes = npy("|S4", fortran, &shape, &data);
        assert_eq!(labels_of(&bytes, count).unwrap(), expected);
        assert_eq!(labels_of(&packed(&bytes), count).unwrap(), expected);
        // Compressed, the length shows only at the end.
        for (bytes, problem) in [
            (bytes[..bytes.len() - 1].to_vec(), format!("promises {} bytes, but only", 4 * count)),
            ([&bytes[..], b"\n"].concat(), "1 byte follows the array".to_string()),
        ] {
            for bytes in [packed(&bytes), bytes] {
                let error = labels_of(&bytes, count).unwrap_err();
                assert_eq!((error.line, error.column), (None, None));
                let error = error.to_string();
                assert!(error.contains("linsep-labels") && error.contains(&problem), "{error}");
            }
        }
    }
    let mut damaged = npy(">U1", false, &format!("({count},)"), &b"\0\0\0a".repeat(count));
    let place = damaged.len() - 3;
    damaged[place] = 0xff;
    let error = labels_of(&damaged, count).unwrap_err();
    assert_eq!(error.line, Some(count as u64));
}

#[test]
fn whole_batches_can_be_skipped() {
    let (rows, kept) = (3 * BATCH_ROWS + 10, [5, 2 * BATCH_ROWS + 1, 3 * BATCH_ROWS + 9]);
    for descr in ["<f8", ">f8", "<f4"] {
        let number = |row: usize, column| match kept.contains(&row) || column == 0 {
            true => row as f64,
            false => f64::NAN,
        };
        let numbers = (0..2 * rows).map(|k| number(k / 2, k % 2));
        let data: Vec<u8> = match descr {
            "<f8" => numbers.flat_map(f64::to_le_bytes).collect(),
            ">f8" => numbers.flat_map(f64::to_be_bytes).collect(),
            _ => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
        };
        let bytes = npy(descr, false, &format!("({rows}, 2)"), &data);
        assert_eq!(message(&bytes, Format::NPY, &unlabelled()), "test:1:2: the value \"NaN\" is not finite");
        let labels = LabelsFile::new("a\n".repeat(rows).as_bytes());
        let options = ReadOptions {
            skip_bad: true,
            array: ArrayOptions { labels_file: Some(labels.0.clone()) },
            ..ReadOptions::default()
        };
        let source = Source::Shared("test".into(), bytes.into());
        let loaded = crate::read::read(&source, &options, &mut ()).unwrap();
        assert_eq!(loaded.notes.skipped as usize, rows - 3);
        let data = loaded.dataset;
        for (i, row) in kept.into_iter().enumerate() {
            assert_eq!(data.line(i), row as u64 + 1);
            assert_eq!(data.row(i).iter().collect::<Vec<_>>(), [(0, row as f64), (1, row as f64)]);
        }
    }
}

#[test]
fn as_much_memory_is_taken_as_is_needed() {
    let rows = BATCH_ROWS + 123;
    let labels = LabelsFile::new("a\n".repeat(rows).as_bytes());
    let options =
        ReadOptions { array: ArrayOptions { labels_file: Some(labels.0.clone()) }, ..ReadOptions::default() };
    // The first batch fits f32, the second does not.
    let numbers: Vec<f64> = (0..3 * rows).map(|k| if k < 3 * BATCH_ROWS { 1.0 } else { 0.1 }).collect();
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let shape = format!("({rows}, 3)");
    for (fortran, narrow) in [(false, false), (false, true), (true, true)] {
        let bytes = match narrow {
            true => npy("|u1", fortran, &shape, &vec![1; 3 * rows]),
            false => npy("<f8", fortran, &shape, &data),
        };
        let source = Source::Shared("test".into(), bytes.into());
        let loaded = crate::read::read(&source, &options, &mut ()).unwrap();
        let Rows::Dense { values } = loaded.dataset.rows() else { panic!("not dense") };
        let capacity = match values {
            Values::F32(values) if narrow => values.capacity(),
            Values::F64(values) if !narrow => values.capacity(),
            _ => panic!("stored too narrow or too wide"),
        };
        assert_eq!((capacity, values.len()), (3 * rows, 3 * rows));
    }
}

#[test]
fn batches_do_not_show() {
    let numbers: Vec<f64> = (0..30_000).map(f64::from).collect();
    let rows = rows_of(&floats("(10000, 3)", &numbers));
    assert_eq!(rows.concat(), numbers);
}

fn damaged(
    mut bytes: Vec<u8>,
    damage: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Vec<u8> {
    for (place, byte) in damage {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    if let Some(place) = cut {
        bytes.truncate(place.index(bytes.len()));
    }
    bytes
}

#[test]
fn the_members_of_an_archive_are_checked() {
    let members = [("X", floats("(1, 1)", &[0.5])), ("y", integers(&[1]))];
    for deflated in [false, true] {
        let whole = npz(&members, deflated);
        assert!(read(&whole, Format::NPZ, &ReadOptions::default()).is_ok());
        // The checksum of the second member, in the directory.
        let entry = whole.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        for (at, problem) in [
            (16, "y.npy does not match its checksum"),
            (24, "y.npy does not have the length that the directory says"),
            (42, "y.npy does not lie within the file"),
            (10, "y.npy is compressed by method"),
            (8, "y.npy is encrypted"),
        ] {
            let mut bytes = whole.clone();
            bytes[entry + at] ^= 1;
            let error = message(&bytes, Format::NPZ, &ReadOptions::default());
            assert!(error.starts_with("test: the archive cannot be read: "), "{error}");
            // Bytes that are not packed are taken for packed ones, and the other way round.
            assert!(error.contains(problem) || at == 10, "{problem}: {error}");
        }
        let comment = [&whole[..whole.len() - 2], b"\x03\x00abc"].concat();
        assert!(read(&comment, Format::NPZ, &ReadOptions::default()).is_ok());
        let twice = [&members[..], &[("y", integers(&[7]))]].concat();
        let (table, _) = read(&npz(&twice, deflated), Format::NPZ, &ReadOptions::default()).unwrap();
        assert_eq!(table.labels, ["7"]);
    }
    assert!(message(b"PK\x03\x04", Format::NPZ, &unlabelled()).contains("it has no directory"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn numbers_survive(numbers in prop::collection::vec(-1e300f64..1e300, 1..40), fortran: bool) {
        let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
        let shape = if fortran { format!("(1, {})", numbers.len()) } else { format!("({}, 1)", numbers.len()) };
        prop_assert_eq!(rows_of(&npy(">f8", fortran, &shape, &data)).concat(), numbers);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), magic: bool, zip: bool) {
        let format = if zip { Format::NPZ } else { Format::NPY };
        let start = if !magic { vec![] } else if zip { b"PK\x03\x04".to_vec() } else { b"\x93NUMPY\x01\x00".to_vec() };
        let _ = read(&[start, bytes].concat(), format, &unlabelled());
    }

    #[test]
    fn no_damage_makes_it_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut: Option<prop::sample::Index>, which in 0..4, skip_bad: bool, head in 1usize..400,
    ) {
        let (bytes, format) = match which {
            0 => (floats("(2, 2)", &[1.0, 2.0, 3.0, 4.0]), Format::NPY),
            1 => (npz(&[("X", floats("(2, 1)", &[0.5, 1.5])), ("y", integers(&[1, 2]))], false), Format::NPZ),
            2 => (npz(&sparse(&[1, 0, 2, 0], &[0, 2, 4], b"csr"), true), Format::NPZ),
            _ => (npz(&sparse(&[1, 0, 2, 0], &[0, 2, 4], b"csr"), false), Format::NPZ),
        };
        let bytes = damaged(bytes, &damage, cut);
        let _ = read_after(head, &bytes, format, &ReadOptions { skip_bad, ..unlabelled() });
    }
}

/// An IDX file of these dimensions.
fn idx(kind: u8, lengths: &[u32], items: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, lengths.len() as u8];
    lengths.iter().for_each(|length| bytes.extend_from_slice(&length.to_be_bytes()));
    bytes.extend_from_slice(items);
    bytes
}

#[test]
fn idx_files_are_pictures_with_labels_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t-images-idx3-ubyte");
    std::fs::write(&path, idx(8, &[3, 2, 2], &[0, 1, 2, 255, 4, 5, 6, 7, 8, 9, 10, 11])).unwrap();
    std::fs::write(folder.path().join("t-labels-idx1-ubyte"), idx(8, &[3], &[7, 3, 7])).unwrap();
    let loaded = crate::read::read(&path.as_path().into(), &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(loaded.notes.format, "IDX, 3 pictures of 2x2 pixels in grey");
    assert!(loaded.notes.remarks[0].contains("t-labels-idx1-ubyte"), "{:?}", loaded.notes.remarks);
    let form = PictureForm { width: 2, height: 2, colour: false };
    assert_eq!(loaded.schema, Schema::Pictures(form));
    assert_eq!(loaded.dataset.classes(), ["3", "7"]);
    assert_eq!(loaded.dataset.row(0).iter().map(|(_, x)| x).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 255.0]);
    // Numbers of every type, big-endian.
    let floats = idx(0x0e, &[1, 2], &[1.5f64.to_be_bytes(), (-2.0f64).to_be_bytes()].concat());
    let shorts = idx(0x0b, &[1, 2], &[1, 0, 0xff, 0xfe]);
    for (bytes, row) in [(floats, [1.5, -2.0]), (shorts, [256.0, -2.0])] {
        let source = crate::read::Source::Shared("rows".into(), bytes.into());
        let unlabelled = ReadOptions { labels: Labels::Ignored, ..ReadOptions::default() };
        let mut stream = crate::read::RowStream::open(&source, &unlabelled).unwrap();
        let batch = stream.next_batch().unwrap().unwrap();
        assert_eq!(batch.row(0).iter().map(|(_, x)| x).collect::<Vec<_>>(), row);
        assert_eq!(stream.schema(), Schema::Array { features: 2 });
    }
    // Another size is an error, and so are files that are cut or too long.
    let known =
        ReadOptions { schema: Some(loaded.schema), labels: Labels::Ignored, ..ReadOptions::default() };
    for (bytes, message) in [
        (
            idx(8, &[1, 4, 1], &[1, 2, 3, 4]),
            "these are pictures of 1x4 pixels in grey, and the model was trained with 2x2 pixels in grey",
        ),
        (idx(8, &[2, 2, 2], &[1, 2, 3, 4]), "the header promises 8 bytes, but only 4 are there"),
        (idx(8, &[1, 2, 2], &[1, 2, 3, 4, 5]), "1 byte follows the array"),
        (idx(8, &[1, 2, 2], &[])[..7].to_vec(), "the file ends inside its header"),
        (idx(8, &[1, u32::MAX, u32::MAX, u32::MAX], &[]), "larger than any memory"),
        (idx(8, &[4], &[1, 2, 3, 4]), "where rows and columns are needed"),
    ] {
        let source = crate::read::Source::Shared("rows".into(), bytes.into());
        let read = crate::read::RowStream::open(&source, &known).and_then(|mut stream| stream.next_batch());
        let error = read.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

use super::*;
use crate::read::{CsvOptions, Loaded, Missing, Source, read};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int64Array, StringArray, StructArray, TimestampMillisecondArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use std::sync::Arc;

fn load(bytes: Vec<u8>, csv: CsvOptions) -> Result<Loaded, crate::Error> {
    let options = ReadOptions { csv: CsvOptions { missing: Missing::Auto, ..csv }, ..ReadOptions::default() };
    read(&Source::Shared("table".into(), bytes.into()), &options, &mut ())
}

/// The batch as a Parquet file, an Arrow file and an Arrow stream.
fn files(batch: &RecordBatch) -> [Vec<u8>; 3] {
    let mut parquet = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let mut writer = FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    [parquet, file, stream]
}

fn mixed() -> RecordBatch {
    let words: DictionaryArray<Int32Type> = ["red", "blue", "red"].into_iter().collect();
    let inner: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.1), None, Some(3.0)]));
    let size = StructArray::from(vec![(Arc::new(Field::new("w", DataType::Float32, true)), inner)]);
    let price = Decimal128Array::from(vec![-5i128, 1234, 0]).with_precision_and_scale(10, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)]))),
        ("size", Arc::new(size)),
        ("price", Arc::new(price)),
        ("when", Arc::new(Date32Array::from(vec![19753, -1, 0]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![19753 * 86_400_000 + 43_200_500, 0, 1]))),
        ("colour", Arc::new(words)),
        ("text", Arc::new(StringArray::from(vec!["a,b", "two\nlines", "\"q\""]))),
        ("yes", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("kind", Arc::new(StringArray::from(vec!["p", "q", "p"]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn columns_become_what_csv_makes_of_them() {
    let csv = "n,size.w,price,when,at,colour,text,yes,kind\n\
               1,0.10000000149011612,-0.05,2024-01-31,2024-01-31 12:00:00.500,red,\"a,b\",true,p\n\
               ,,12.34,1969-12-31,1970-01-01,blue,\"two\nlines\",false,q\n\
               -3,3,0.00,1970-01-01,1970-01-01 00:00:00.001,red,\"\"\"q\"\"\",true,p\n";
    let csv = load(csv.into(), CsvOptions::default()).unwrap();
    assert_eq!(csv.schema.feature_names().unwrap()[..5], ["n", "size.w", "price", "when", "at"]);
    for (bytes, title) in files(&mixed()).into_iter().zip(["Parquet", "Arrow", "Arrow"]) {
        let loaded = load(bytes, CsvOptions::default()).unwrap();
        assert_eq!(loaded.schema, csv.schema);
        assert_eq!(loaded.dataset.fingerprint(), csv.dataset.fingerprint());
        assert_eq!(loaded.notes.format, format!("{title}, 5 columns of numbers, 3 of words"));
        assert_eq!(loaded.dataset.line(2), 3);
    }
}

#[test]
fn what_is_no_number_and_no_word_must_be_left_out() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
        ("raw", Arc::new(BinaryArray::from(vec![&b"a"[..], b"b"]))),
        ("kind", Arc::new(Int64Array::from(vec![0, 1]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for bytes in files(&batch) {
        let error = load(bytes.clone(), CsvOptions::default()).unwrap_err().to_string();
        assert_eq!(error, "table: column \"raw\" holds binary data, which are neither numbers nor words");
        let ignoring = CsvOptions { ignore: vec!["raw".into()], ..CsvOptions::default() };
        assert_eq!(load(bytes, ignoring).unwrap().schema.feature_names().unwrap(), ["x"]);
    }
}

#[test]
fn truncated_files_are_errors() {
    for bytes in files(&mixed()) {
        for end in (0..bytes.len() - 16).step_by(61) {
            assert!(
                load(bytes[..end].to_vec(), CsvOptions::default()).is_err(),
                "cut at {end} of {}",
                bytes.len()
            );
        }
    }
}

/// Before memory is asked for by what a file says, its lengths are added up.
#[test]
fn files_are_as_long_as_they_say() {
    for (bytes, is_file) in files(&mixed())[1..].iter().zip([true, false]) {
        let check = |bytes: &[u8]| lengths::check(&mut Cursor::new(bytes), is_file);
        assert_eq!(check(bytes), Ok(()));
        assert!(check(&bytes[..bytes.len() - 100]).unwrap_err().contains("shorter"), "{is_file}");
    }
}

#[test]
fn days_have_their_dates() {
    let mut text = String::new();
    for (day, date) in [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (11_016, "2000-02-29"),
        (19_782, "2024-02-29"),
        (-25_509, "1900-02-28"),
        (-25_508, "1900-03-01"),
    ] {
        text.clear();
        push_time(day * 86_400, 1, &mut text).unwrap();
        assert_eq!(text, date);
        assert_eq!(
            crate::features::dates::days(date, crate::features::DateOrder::YearFirst),
            Some(day as f64)
        );
    }
    for (value, scale, written) in [(12345, 2, "123.45"), (-5, 3, "-0.005"), (7, 0, "7"), (7, -2, "700")] {
        text.clear();
        push_decimal(value, scale, &mut text);
        assert_eq!(text, written);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged bytes give an error or rows, and never end the program.
    #[test]
    fn damage_is_survived(which in 0usize..3, at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = files(&mixed())[which].clone();
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = load(bytes, CsvOptions::default());
    }
}

//! What the fuzz targets share: bytes go in, and whatever they are, nothing but an error or sound rows may come
//! out.

use linsep::read::{
    CsvOptions, Format, Labels, LibsvmOptions, Missing, ReadOptions, RowStream, Source, read,
};
use linsep::features::settle_columns;
use linsep::{Model, Row, Settings};

/// Reads bytes in all the ways that the first byte chooses among.
pub fn read_bytes(data: &[u8], formats: &[Option<Format>]) {
    read_encoded(data, formats, None);
}

/// Reads bytes as [`read_bytes`] does, as a text in the encoding that is named.
pub fn read_encoded(data: &[u8], formats: &[Option<Format>], encoding: Option<&str>) {
    // Panics that linsep catches and makes errors of; the fuzzer would end at them before that.
    linsep::read::silence_guarded_panics();
    let Some((&choice, bytes)) = data.split_first() else { return };
    let bit = |place: u8| choice >> place & 1 == 1;
    let format = formats[usize::from(choice & 1) % formats.len()];
    // Options that the format does not have are refused before anything is read.
    let table = matches!(format, Some(Format::CSV | Format::TSV | Format::ARFF | Format::XLSX));
    let cells = table || matches!(format, Some(Format::JSONL | Format::PARQUET | Format::ARROW));
    let numbered = matches!(format, Some(Format::LIBSVM));
    let options = ReadOptions {
        format,
        labels: if bit(1) { Labels::Required } else { Labels::Ignored },
        skip_bad: bit(2),
        online: bit(3), // A file of a few bytes can ask for gigabytes of weights: that is allowed, but not tried here.
        max_features: Some(1 << 16),
        encoding: encoding.map(str::to_string),
        csv: CsvOptions {
            missing: if cells {
                [Missing::Refuse, Missing::Zero, Missing::DropRow, Missing::Mean]
                    [usize::from(choice >> 4 & 3)]
            } else {
                Missing::Refuse
            },
            header: if table && bit(7) { Some(bit(6)) } else { None },
            ..CsvOptions::default()
        },
        libsvm: LibsvmOptions { index_base: if numbered && bit(6) { Some(u32::from(bit(7))) } else { None } },
        ..ReadOptions::default()
    };
    let source = Source::Shared("fuzz".to_string(), bytes.into());
    let Ok(mut stream) = RowStream::open(&source, &options) else { return };
    loop {
        match stream.next_batch() {
            Ok(Some(batch)) => (0..batch.len()).for_each(|i| check(batch.row(i))),
            Ok(None) => break,
            Err(error) => {
                let _ = error.to_string();
                return;
            }
        }
    }
    let features = stream.schema().features();
    let _ = (stream.notes(), stream.label_names().len());
    if !bit(1) {
        return;
    }
    // What can be read can be learned from, and the model can read it again.
    let Ok(loaded) = read(&source, &options, &mut ()) else { return };
    assert_eq!(loaded.dataset.columns(), features);
    // Free text becomes features when it is learned from.
    let Ok((schema, dataset)) = settle_columns(loaded.schema, loaded.dataset, None) else { return };
    let loaded = linsep::read::Loaded { schema, dataset, own_schema: loaded.own_schema, ..loaded };
    let settings =
        Settings { epochs: 2, positive: loaded.dataset.classes().first().cloned(), ..Settings::default() };
    let Ok(outcome) = linsep::train(&loaded.dataset, &settings, &mut ()) else { return };
    let model = Model::with_recipe(outcome, loaded.schema.into(), None);
    let saved = model.to_bytes().expect("a model can be saved");
    let opened = Model::from_bytes(&saved).expect("a saved model can be opened");
    assert_eq!(opened, model);
    let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..options };
    if let Ok(mut stream) = RowStream::open(&source, &options) {
        while let Ok(Some(batch)) = stream.next_batch() {
            (0..batch.len()).for_each(|i| drop(model.predict(batch.row(i))));
        }
    }
}

/// A zip archive of these members, as they are.
pub fn stored_archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let length = content.len() as u32;
        let sizes = [checksum.sum(), length, length].map(u32::to_le_bytes).concat();
        let start = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
        bytes.extend(&sizes);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(*content);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0");
        directory.extend(&sizes);
        directory.extend((name.len() as u16).to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((members.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// A row must be finite, and its columns must increase.
fn check(row: Row<'_>) {
    let mut next = 0;
    for (column, value) in row.iter() {
        assert!(value.is_finite());
        assert!(column >= next);
        next = column + 1;
    }
}

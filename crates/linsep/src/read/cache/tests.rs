use super::*;
use crate::read::{CsvOptions, LibsvmOptions, ReadOptions, RowStream, read};
use crate::{Model, Settings};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("linsep-cache-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.0.join(name), content).unwrap();
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shared(text: &[u8]) -> Source {
    Source::Shared("test".to_string(), text.into())
}

/// The bytes of the cache of a text.
fn cache_of(text: &[u8], options: &ReadOptions) -> Result<Vec<u8>, crate::Error> {
    let folder = Folder::new();
    let path = folder.0.join("made.linsep");
    make(&shared(text), options, &path, &mut ())?;
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "something was left behind");
    Ok(std::fs::read(path).unwrap())
}

const SPARSE: &[u8] = b"# rows\n-1 1:0.5 3:2\n+1 2:-1.5\n\n-1 7:3\n+1\n";
const DENSE: &[u8] = b"a,b,kind\n1,0.1,x\n-0,2.5,y\n3,4,x\n";
const WORDS: &[u8] = b"size,colour,kind\n1.5,red,a\n-2,green,b\n0,red,b\n7,blue,a\n";

/// What is read from the cache is what is read from the text.
fn assert_same(text: &[u8], options: &ReadOptions) {
    let expected = read(&shared(text), options, &mut ()).unwrap();
    let bytes = cache_of(text, options).unwrap();
    let found = read(&shared(&bytes), &ReadOptions::default(), &mut ()).unwrap();
    assert_eq!(found.format, Format::LINSEP);
    assert_eq!(found.schema, expected.schema);
    assert_eq!(found.fingerprint, Some(expected.dataset.fingerprint().to_string()));
    assert_eq!(found.notes.skipped, expected.notes.skipped);
    assert_eq!(found.notes.first_skipped, expected.notes.first_skipped);
    let (a, b) = (&found.dataset, &expected.dataset);
    assert_eq!(
        (a.rows(), a.labels(), a.classes(), a.columns()),
        (b.rows(), b.labels(), b.classes(), b.columns())
    );
    assert_eq!((a.feature_names(), a.index_base()), (b.feature_names(), b.index_base()));
    assert!((0..a.len()).all(|i| a.line(i) == b.line(i)));
    // Batch by batch too, the classes in the order of their first row.
    let collect = |source: &Source, options: &ReadOptions| {
        let mut stream = RowStream::open(source, options).unwrap();
        let mut rows = Vec::new();
        while let Some(batch) = stream.next_batch().unwrap() {
            let shift = stream.index_shift() as usize;
            for i in 0..batch.len() {
                let cells: Vec<_> =
                    batch.row(i).iter().map(|(j, x)| (j - shift.min(j), x.to_bits())).collect();
                rows.push((cells, batch.label(i), batch.line(i)));
            }
        }
        (rows, stream.label_names().to_vec(), stream.index_shift())
    };
    let (text_rows, text_names, shift) = collect(&shared(text), options);
    let (cache_rows, cache_names, _) = collect(&shared(&bytes), &ReadOptions::default());
    assert_eq!(text_names, cache_names);
    if shift == 0 {
        assert_eq!(text_rows, cache_rows);
    }
}

#[test]
fn a_cache_holds_what_the_text_does() {
    for text in [SPARSE, DENSE, WORDS, b"a 0:1 5:1e300\nb 1:2\n", b"x\t1\ny\t2\n", b"1 2:1\n"] {
        assert_same(text, &ReadOptions::default());
    }
    assert_same(b"1 1:2\nbad\n-1 2:x\n-1 3:1\n", &ReadOptions { skip_bad: true, ..ReadOptions::default() });
    assert_same(
        b"1 1:2\n-1 3:1\n",
        &ReadOptions { libsvm: LibsvmOptions { index_base: Some(0) }, ..ReadOptions::default() },
    );
}

proptest! {
    #[test]
    fn a_cache_holds_what_any_text_does(
        rows in prop::collection::vec(
            (0u32..5, prop::collection::btree_map(0u32..40, prop_oneof![-9i32..9, Just(0)], 0..6)), 1..30),
        base in 0u32..2, divisor in prop_oneof![Just(1.0), Just(3.0)], blank: bool,
    ) {
        let mut text = if blank { "\n".to_string() } else { "0 3:1\n".to_string() };
        for (label, cells) in &rows {
            text += &label.to_string();
            for (column, value) in cells {
                text += &format!(" {}:{}", column + base, f64::from(*value) / divisor);
            }
            text.push('\n');
        }
        assert_same(format!("9 1:1\n{text}").as_bytes(), &ReadOptions::default());
    }
}

/// Opens and takes the rows; whatever comes of it, it is no panic, and the rows can be learned from.
fn use_bytes(bytes: &[u8]) -> Result<String, CacheFault> {
    let data = Cache::from_bytes(bytes)?.rows()?;
    for i in 0..data.len() {
        let _ = (data.row(i).norm_squared(), data.line(i), &data.classes()[data.labels()[i] as usize]);
    }
    let _ = crate::train(&data, &Settings { epochs: 2, ..Settings::default() }, &mut ());
    Ok(data.fingerprint().to_string())
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    for text in [SPARSE, DENSE] {
        let bytes = cache_of(text, &ReadOptions::default()).unwrap();
        assert!(use_bytes(&bytes).is_ok());
        for length in 0..bytes.len() {
            assert!(use_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
        assert_eq!(use_bytes(&[&bytes[..], b"x"].concat()), Err(CacheFault::Length));
        assert_eq!(use_bytes(b""), Err(CacheFault::NotOne));
    }
}

#[test]
fn a_changed_byte_is_noticed_or_harmless() {
    for text in [SPARSE, WORDS, DENSE] {
        let bytes = cache_of(text, &ReadOptions::default()).unwrap();
        let fingerprint = use_bytes(&bytes).unwrap();
        let mut harmless = 0;
        for place in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= flip;
                if let Ok(found) = use_bytes(&changed) {
                    // Only what fills the space between the arrays means nothing.
                    assert_eq!(found, fingerprint);
                    harmless += 1;
                }
            }
        }
        assert!(harmless < 5 * 64 * 3, "{harmless}");
    }
}

/// The same file with other metadata, and sums that fit: what only malice does.
fn forged(bytes: &[u8], change: impl FnOnce(&mut serde_json::Value, &mut [u8])) -> Vec<u8> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap()) as usize;
    let tail = bytes.len() - format::TAIL;
    let (start, length) = (number(&bytes[tail..tail + 8]), number(&bytes[tail + 8..tail + 16]));
    let mut metadata: serde_json::Value = serde_json::from_slice(&bytes[start..start + length]).unwrap();
    let mut arrays = bytes[..start].to_vec();
    change(&mut metadata, &mut arrays);
    let lengths = |name: &str| {
        let count = |key: &str| metadata[key].as_u64().unwrap_or(0);
        match name {
            "offsets" => (count("rows").wrapping_add(1)).wrapping_mul(8),
            "indices" => count("stored").wrapping_mul(4),
            "values" => count("stored").wrapping_mul(if metadata["values"] == "f32" { 4 } else { 8 }),
            "labels" => count("rows").wrapping_mul(4),
            _ => count("rows").wrapping_mul(8),
        }
    };
    let sums: Vec<(&str, String)> = ["offsets", "indices", "values", "labels", "lines"]
        .into_iter()
        .filter_map(|name| {
            let first = metadata["arrays"][name]["start"].as_u64()?;
            let range = first as usize..first.wrapping_add(lengths(name)) as usize;
            Some((name, format::sum(arrays.get(range)?)))
        })
        .collect();
    for (name, sum) in sums {
        metadata["arrays"][name]["sum"] = sum.into();
    }
    let text = serde_json::to_vec(&metadata).unwrap();
    let mut tail = [(start as u64).to_le_bytes(), (text.len() as u64).to_le_bytes()].concat();
    let head = arrays[..format::ALIGNMENT as usize].to_vec();
    let sum = blake3::Hasher::new().update(&head).update(&tail).update(&text).finalize();
    tail.extend_from_slice(sum.as_bytes());
    [arrays, text, tail].concat()
}

#[test]
fn sizes_that_no_file_has_are_refused() {
    let bytes = cache_of(SPARSE, &ReadOptions::default()).unwrap();
    assert!(use_bytes(&forged(&bytes, |_, _| {})).is_ok());
    for key in ["rows", "columns", "stored"] {
        for size in [0, 1, 2, 5, 1 << 31, 1 << 32, 1 << 58, 1 << 61, 1 << 63, u64::MAX] {
            let found = use_bytes(&forged(&bytes, |metadata, _| metadata[key] = size.into()));
            assert!(found.is_err(), "{key} {size}");
        }
    }
    for array in ["offsets", "indices", "values", "labels", "lines"] {
        for start in [0, 1, 63, 128, 1 << 40, u64::MAX - 7, u64::MAX] {
            let change = |metadata: &mut serde_json::Value, _: &mut [u8]| {
                let before = metadata["arrays"][array]["start"].as_u64();
                metadata["arrays"][array]["start"] =
                    if before == Some(start) { start + 64 } else { start }.into();
            };
            assert!(use_bytes(&forged(&bytes, change)).is_err(), "{array} {start}");
        }
    }
    for (key, value) in [
        ("classes", serde_json::json!([])),
        ("classes", serde_json::json!(["1", "-1"])),
        ("classes", serde_json::json!(["1", "1"])),
        ("classes", serde_json::json!(["+1", "2"])),
        ("classes", serde_json::json!(["nan", "x"])),
        ("layout", serde_json::json!("dense")),
        ("layout", serde_json::json!("thin")),
        ("values", serde_json::json!("f64")),
        ("schema", serde_json::json!({"kind": "array", "features": 8})),
        ("schema", serde_json::json!({"kind": "numbered", "index_base": 4000000000u32, "features": 7})),
        ("arrays", serde_json::json!({})),
    ] {
        let found = use_bytes(&forged(&bytes, |metadata, _| metadata[key] = value.clone()));
        assert!(found.is_err(), "{key} {value}");
    }
}

#[test]
fn rows_that_reach_outside_are_refused() {
    let bytes = cache_of(SPARSE, &ReadOptions::default()).unwrap();
    for (array, place, value) in [
        ("offsets", 0, &1u64.to_le_bytes()[..]),
        ("offsets", 8, &u64::MAX.to_le_bytes()),
        ("offsets", 8, &9u64.to_le_bytes()),
        ("offsets", 16, &0u64.to_le_bytes()),
        ("offsets", 32, &3u64.to_le_bytes()),
        ("indices", 0, &2u32.to_le_bytes()),
        ("indices", 4, &7u32.to_le_bytes()),
        ("indices", 12, &u32::MAX.to_le_bytes()),
        ("values", 0, &f32::NAN.to_le_bytes()),
        ("values", 4, &f32::INFINITY.to_le_bytes()),
        ("values", 8, &0f32.to_le_bytes()),
        ("labels", 4, &2u32.to_le_bytes()),
        ("labels", 0, &u32::MAX.to_le_bytes()),
    ] {
        let found = use_bytes(&forged(&bytes, |metadata, arrays| {
            let start = metadata["arrays"][array]["start"].as_u64().unwrap() as usize + place;
            arrays[start..start + value.len()].copy_from_slice(value);
        }));
        assert!(matches!(found, Err(CacheFault::Rows(_))), "{array} {place}: {found:?}");
    }
}

#[test]
fn other_versions_are_told() {
    let bytes = cache_of(DENSE, &ReadOptions::default()).unwrap();
    for (version, newer) in [(0u32, false), (2, true), (u32::MAX, true)] {
        let found =
            use_bytes(&forged(&bytes, |_, arrays| arrays[8..12].copy_from_slice(&version.to_le_bytes())));
        assert_eq!(found == Err(CacheFault::Newer { found: version }), newer, "{version}: {found:?}");
        assert!(found.is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Whatever the arrays hold under sums that fit, nothing reaches outside.
    #[test]
    fn forged_arrays_do_no_harm(
        dense: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let bytes = cache_of(if dense { DENSE } else { SPARSE }, &ReadOptions::default()).unwrap();
        let _ = use_bytes(&forged(&bytes, |_, arrays| {
            for (place, byte) in &changes {
                let place = 64 + place.index(arrays.len() - 64);
                arrays[place] = *byte;
            }
        }));
    }
}

#[test]
fn parts_are_the_rows_they_were_asked_for() {
    let folder = Folder::new();
    for (text, name) in [(SPARSE, "sparse"), (DENSE, "dense")] {
        let path = folder.0.join(name);
        make(&shared(text), &ReadOptions::default(), &path, &mut ()).unwrap();
        let all = Cache::open(&path).unwrap().rows().unwrap();
        let reader = PartReader::open(&path, |_| Ok(())).unwrap();
        let mut part = Part::with_room(&reader, all.len(), all.stored());
        reader.read(&[2..3, 0..2], &mut part).unwrap();
        assert_eq!(part.len(), 3);
        for (place, i) in [2, 0, 1].into_iter().enumerate() {
            assert!(part.row(place).iter().eq(all.row(i).iter()));
            assert_eq!(part.label(place), all.labels()[i]);
        }
        let mut lengths = Vec::new();
        reader.each_length(|_, length| lengths.push(length as usize)).unwrap();
        assert!(lengths.into_iter().eq((0..all.len()).map(|i| all.row(i).stored())));
        let mut sums = Sums::default();
        for i in 0..all.len() {
            reader.read(std::slice::from_ref(&(i..i + 1)), &mut part).unwrap();
            sums.update(&part);
        }
        reader.check(sums).unwrap();
    }
}

#[test]
fn the_cache_beside_a_file_follows_it() {
    let folder = Folder::new();
    let path = folder.file("rows.svm", SPARSE);
    let options = ReadOptions::default();
    let (place, done) = beside(&path, &options, &mut ()).unwrap();
    assert_eq!((place.file_name().unwrap().to_str(), done), (Some("rows.svm.linsep"), CacheUse::Made));
    assert_eq!(beside(&path, &options, &mut ()).unwrap().1, CacheUse::Used);
    // How columns of tables are settled does not matter here.
    assert_eq!(
        beside(&path, &ReadOptions { online: true, ..options.clone() }, &mut ()).unwrap().1,
        CacheUse::Used
    );
    let other = ReadOptions { libsvm: LibsvmOptions { index_base: Some(0) }, ..options.clone() };
    assert_eq!(beside(&path, &other, &mut ()).unwrap().1, CacheUse::Renewed);
    assert_eq!(beside(&path, &options, &mut ()).unwrap().1, CacheUse::Renewed);
    // Another text of the same length.
    folder.file("rows.svm", [&SPARSE[..SPARSE.len() - 3], b"-1\n"].concat());
    assert_eq!(beside(&path, &options, &mut ()).unwrap().1, CacheUse::Renewed);
    let cut = std::fs::read(&place).unwrap();
    std::fs::write(&place, &cut[..cut.len() - 1]).unwrap();
    assert_eq!(beside(&path, &options, &mut ()).unwrap().1, CacheUse::Renewed);
    assert_eq!(beside(&place, &options, &mut ()).unwrap(), (place.clone(), CacheUse::Itself));
    std::fs::write(&place, "something of the user's").unwrap();
    assert!(beside(&path, &options, &mut ()).unwrap_err().to_string().contains("rename it"));
}

/// A model reads a cache as it reads the text that the cache was made from.
#[test]
fn models_see_the_same_rows() {
    let words_later = &b"colour,size,kind\nblue,1,a\ngreen,3,b\npink,-1,a\nred,0,b\n"[..];
    for (learned, later) in [
        (SPARSE, &b"1 1:1 2:3\n-1 9:1\n"[..]),
        (b"1 0:1 3:2\n-1 1:1\n", b"1 1:1 2:3\n-1 3:1\n"),
        (DENSE, b"b,kind,a\n7,x,0.1\n-2,y,3\n"),
        (DENSE, b"a,b,kind\n7,1,x\n-2,9,y\n"),
        (WORDS, words_later),
        (WORDS, b"1 1:2 2:1\n2 3:1\n"),
        (DENSE, b"1 1:2 2:1\n2 1:1\n"),
    ] {
        let loaded = read(&shared(learned), &ReadOptions::default(), &mut ()).unwrap();
        let outcome = crate::train(&loaded.dataset, &Settings::default(), &mut ()).unwrap();
        let model = Model::with_recipe(outcome, loaded.schema.into(), None);
        let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..ReadOptions::default() };
        let scores = |source: &Source| {
            let mut stream = RowStream::open(source, &options).unwrap();
            let mut scores = Vec::new();
            while let Some(batch) = stream.next_batch().unwrap() {
                for i in 0..batch.len() {
                    let label = stream.label_names()[batch.label(i) as usize].clone();
                    let row = batch.row(i).truncated(model.learned.columns());
                    scores.push((model.learned.theta().score(row).to_bits(), label, batch.line(i)));
                }
            }
            (scores, stream.schema())
        };
        let label = later.starts_with(b"b,kind").then(|| "kind".to_string());
        let cache = cache_of(
            later,
            &ReadOptions { csv: CsvOptions { label, ..CsvOptions::default() }, ..ReadOptions::default() },
        )
        .unwrap();
        assert_eq!(scores(&shared(later)), scores(&shared(&cache)), "{}", String::from_utf8_lossy(later));
    }
}

#[test]
fn a_cache_that_a_model_cannot_read_says_why() {
    let loaded = read(&shared(b"1 1:1 3:2\n-1 2:1\n"), &ReadOptions::default(), &mut ()).unwrap();
    let options = ReadOptions { schema: Some(loaded.schema), ..ReadOptions::default() };
    // Index 0 in a file for a model that counts from 1.
    let cache = cache_of(b"1 0:1 3:2\n-1 1:1\n", &ReadOptions::default()).unwrap();
    let mut stream = RowStream::open(&shared(&cache), &options).unwrap();
    assert!(stream.next_batch().unwrap_err().to_string().contains("test:1: feature index 0"));
    let table = read(&shared(WORDS), &ReadOptions::default(), &mut ()).unwrap();
    let options = ReadOptions { schema: Some(table.schema), ..ReadOptions::default() };
    for (text, reason) in [
        (&b"size,kind\n1,a\n2,b\n"[..], "no column \"colour\""),
        (b"size,colour,kind\n1,5,a\n2,6,b\n", "holds numbers in the cache"),
    ] {
        let cache = cache_of(text, &ReadOptions::default()).unwrap();
        let error = RowStream::open(&shared(&cache), &options).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let wide = cache_of(b"1 1:1 90:2\n-1 2:1\n", &ReadOptions::default()).unwrap();
    let few = ReadOptions { max_features: Some(50), ..ReadOptions::default() };
    assert!(
        RowStream::open(&shared(&wide), &few).map(|_| ()).unwrap_err().to_string().contains("more than 50")
    );
}

#[test]
fn filled_cells_are_kept() {
    let csv = CsvOptions { missing: crate::read::Missing::Mean, ..CsvOptions::default() };
    let options = ReadOptions { csv, ..ReadOptions::default() };
    let cache = cache_of(b"x,y,kind\n1,?,a\n?,2,b\n?,?,a\n4,5,b\n", &options).unwrap();
    let cells = [(0, 1), (1, 0), (2, 0), (2, 1)];
    let data = Cache::from_bytes(&cache).unwrap().rows().unwrap();
    assert_eq!(data.filled_cells(), Some(&cells[..]));
}

/// Two processes with the same number, as in two containers that share a folder, are no worse than two threads.
#[test]
fn makers_of_one_cache_do_not_meet() {
    let folder = Folder::new();
    let path = folder.0.join("made.linsep");
    let texts: Vec<String> = (0..4)
        .map(|maker| (0..5000).map(|row| format!("{} {}:{row}.5\n", row % 2, 1 + maker)).collect())
        .collect();
    let expected: Vec<String> = texts
        .iter()
        .map(|text| {
            read(&shared(text.as_bytes()), &ReadOptions::default(), &mut ())
                .unwrap()
                .dataset
                .fingerprint()
                .to_string()
        })
        .collect();
    for _ in 0..5 {
        std::thread::scope(|scope| {
            let makers: Vec<_> = texts
                .iter()
                .map(|text| {
                    let path = &path;
                    scope.spawn(move || {
                        make(&shared(text.as_bytes()), &ReadOptions::default(), path, &mut ()).map(|_| ())
                    })
                })
                .collect();
            makers.into_iter().for_each(|maker| maker.join().unwrap().unwrap());
        });
        let loaded = Cache::open(&path).unwrap().load().unwrap();
        assert!(expected.contains(&loaded.dataset.fingerprint().to_string()));
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "something was left behind");
    }
}

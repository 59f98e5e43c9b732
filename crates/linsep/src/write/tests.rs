use super::*;
use crate::read::LibsvmOptions;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("linsep-write-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const NAMES: [&str; 8] = [
    "rows.svm",
    "rows.csv",
    "rows.tsv",
    "rows.npz",
    "rows.linsep",
    "rows.libsvm.gz",
    "rows.csv.zst",
    "rows.tsv.gz",
];

fn loaded(source: &Source) -> Loaded {
    read(source, &ReadOptions::default(), &mut ()).unwrap()
}

fn converted(source: &Source, path: &Path) -> Converted {
    let format = format_of_name(path).0.unwrap();
    convert(source, &ReadOptions::default(), path, format, &mut ()).unwrap()
}

/// Writes the rows in every format, and from each of them in every format again.
fn assert_round_trips(text: &[u8]) {
    let folder = Folder::new();
    let source = Source::Shared("test".to_string(), text.into());
    let expected = loaded(&source).dataset;
    for first in NAMES {
        let path = folder.0.join(format!("first-{first}"));
        let lost = converted(&source, &path).lost;
        let once = loaded(&Source::File(path.clone()));
        let narrowed = lost.iter().any(|loss| loss.text.contains("no values but zeros"));
        if !narrowed {
            assert_eq!(once.dataset.fingerprint(), expected.fingerprint(), "{first} {lost:?}");
        }
        for second in NAMES {
            let next = folder.0.join(format!("second-{second}"));
            let lost = converted(&Source::File(path.clone()), &next).lost;
            if !lost.iter().any(|loss| loss.text.contains("no values but zeros")) {
                let twice = loaded(&Source::File(next));
                assert_eq!(twice.dataset.fingerprint(), once.dataset.fingerprint(), "{first} to {second}");
            }
        }
    }
    let left: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2 * NAMES.len(), "{left:?}");
}

#[test]
fn every_format_to_every_other() {
    assert_round_trips(b"-1 1:0.5 3:2\n+1 2:-1.5e-300 3:1e300\n-1 1:0.1 2:123456789.125\n");
    assert_round_trips(b"spam 0:1 2:3\nham 1:2\n");
    assert_round_trips(b"a,b,kind\n1,0.1,x\n-0.0,2.5,\"y,\"\"z\"\"\"\n3,4,x\n");
}

#[test]
fn names_of_features_and_words_stay() {
    let folder = Folder::new();
    let text = b"size,\"the colour, if any\",kind\n1.5,red,a\n-2,green,b\n0,red,b\n";
    let source = Source::Shared("test".to_string(), text[..].into());
    let before = loaded(&source);
    for name in ["rows.csv", "rows.tsv", "rows.linsep"] {
        let path = folder.0.join(name);
        converted(&source, &path);
        let after = loaded(&Source::File(path));
        assert_eq!(after.dataset.feature_names(), before.dataset.feature_names());
        assert_eq!(after.dataset.fingerprint(), before.dataset.fingerprint());
    }
    let lost = converted(&source, &folder.0.join("rows.npz")).lost;
    assert!(lost[0].text.contains("names of the features are lost"), "{lost:?}");
    assert!(converted(&source, &folder.0.join("words.csv")).lost[0].text.contains("0 and 1"));
}

#[test]
fn what_cannot_be_read_back_is_refused() {
    let folder = Folder::new();
    let refused = |text: &[u8], name: &str| {
        let path = folder.0.join(name);
        let source = Source::Shared("test".to_string(), text.into());
        let format = format_of_name(&path).0.unwrap();
        let error =
            convert(&source, &ReadOptions::default(), &path, format, &mut ()).unwrap_err().to_string();
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "{error}");
        error
    };
    assert!(refused(b"x,y\n1,a b\n2,c\n", "out.svm").contains("\"a b\" cannot be written to a LIBSVM"));
    assert!(refused(b"NA 1:1\nb 1:2\n", "out.csv").contains("missing cell"));
    assert!(refused(b"1\n-1 qid:3\n", "out.csv").contains("at least one column"));
    assert!(refused(b"1 1:1\n-1 1:2\n", "out.npy").contains("no place for labels"));
    assert!(refused(b"1 1:1\n-1 1:2\n", "out.linsep.gz").contains("not compressed"));
    assert!(refused(b"1 1:1\n-1 1:x\n", "out.csv").contains("test:2"));
    assert!(
        refused(format!("1 {}:1\n{}", 1 << 24, "-1 1:2\n".repeat(87)).as_bytes(), "out.csv")
            .contains("1,476,395,008")
    );
}

#[test]
fn what_is_lost_is_told() {
    let folder = Folder::new();
    let path = folder.0.join("rows.svm");
    let wide = folder.0.join("wide.csv");
    fs::write(&wide, "a,b,kind\n1,0,x\n2,0,y\n").unwrap();
    let lost = converted(&Source::File(wide), &path).lost;
    assert!(lost[0].text.starts_with("The last 1 feature has no values but zeros"), "{lost:?}");
    let options = ReadOptions { libsvm: LibsvmOptions { index_base: Some(0) }, ..ReadOptions::default() };
    let source = Source::Shared("test".to_string(), b"1 1:2\n-1 2:1\n"[..].into());
    let lost = convert(&source, &options, &path, Format::LIBSVM, &mut ()).unwrap().lost;
    assert!(lost[0].text.contains("⟦index_base=0⟧"), "{lost:?}");
    assert_eq!(fs::read(&path).unwrap(), b"1 1:2\n-1 2:1\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Any finite float comes back with the same bits, from every format.
    #[test]
    fn numbers_keep_their_bits(
        rows in prop::collection::vec((prop::collection::vec(any::<f64>(), 3), 0u8..3), 1..12),
    ) {
        let finite = |x: f64| if x.is_finite() && x != 0.0 { x } else { 1.0 };
        let mut text = "x,y,z,kind\n".to_string();
        for (values, class) in &rows {
            for &value in values {
                text += &format!("{:e},", finite(value));
            }
            text += &format!("c{class}\n");
        }
        assert_round_trips(text.as_bytes());
    }
}

#[test]
fn a_damaged_archive_is_an_error() {
    let folder = Folder::new();
    for text in [&b"1 1:0.5 3:2\n-1 2:-1.5\n"[..], b"a,b,kind\n1,0.5,x\n-2,2.5,y\n"] {
        let path = folder.0.join("rows.npz");
        converted(&Source::Shared("test".to_string(), text.into()), &path);
        let whole = fs::read(&path).unwrap();
        let read_bytes = |bytes: &[u8]| {
            let options = ReadOptions { format: Some(Format::NPZ), ..ReadOptions::default() };
            read(&Source::Shared("test".to_string(), bytes.into()), &options, &mut ())
        };
        let expected = read_bytes(&whole).unwrap().dataset;
        for place in 0..whole.len() {
            for damage in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= damage;
                // A byte that is not looked at (a date, a version) may change; no other change stays unnoticed.
                if let Ok(loaded) = read_bytes(&bytes) {
                    assert_eq!(loaded.dataset.fingerprint(), expected.fingerprint(), "byte {place}");
                }
            }
            if place > 0 {
                assert!(read_bytes(&whole[..place]).is_err(), "cut at {place}");
            }
        }
    }
}

use super::*;
use crate::read::{Labels, Loaded, Source, read};
use proptest::prelude::*;

fn load(text: &str, options: &ReadOptions) -> Result<Loaded, Error> {
    read(&Source::Shared("rows".into(), text.as_bytes().into()), options, &mut ())
}

fn named(loaded: &Loaded, i: usize) -> Vec<(String, f64)> {
    loaded.dataset.row(i).iter().map(|(j, value)| (loaded.schema.feature_name(j), value)).collect()
}

fn pairs(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs.iter().map(|&(name, value)| (name.to_string(), value)).collect()
}

#[test]
fn namespaces_weights_and_tags() {
    let text = "1 2.5 'first |price a:0.5 b |word:2 red a:3\n\n-1 |price b:-1e-3 b:2 zero:0\r\n+1 1 0.5 tag|  plain x:4\n";
    let loaded = load(text, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.format, Format::VW);
    assert_eq!(loaded.dataset.classes(), ["-1", "1"]);
    assert_eq!(
        loaded.schema.feature_names().unwrap(),
        ["price^a", "price^b", "word^red", "word^a", "price^zero", "plain", "x"]
    );
    assert_eq!(
        named(&loaded, 0),
        pairs(&[("price^a", 0.5), ("price^b", 1.0), ("word^red", 2.0), ("word^a", 6.0)])
    );
    assert_eq!(named(&loaded, 1), pairs(&[("price^b", 2.0 - 1e-3)]));
    assert_eq!(named(&loaded, 2), pairs(&[("plain", 1.0), ("x", 4.0)]));
    assert_eq!(loaded.dataset.weights(), Some(&[2.5, 1.0, 1.0][..]));
    assert_eq!([0, 1, 2].map(|i| loaded.dataset.line(i)), [1, 3, 4]);
    assert_eq!(loaded.notes.remarks.len(), 2, "{:?}", loaded.notes.remarks);
}

/// Each feature's name repeats its namespace, so that a short line could have names without end.
#[test]
fn names_are_in_proportion_to_the_text() {
    let text = |length: usize| {
        format!(
            "1 |{} {}\n0 |b c:1\n",
            "n".repeat(length),
            "f1 f2 f3 f4 f5 ".repeat(3) + &(0..4000).map(|j| format!("g{j} ")).collect::<String>()
        )
    };
    assert_eq!(load(&text(500), &ReadOptions::default()).unwrap().dataset.columns(), 4006);
    let error = load(&text(5000), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains(":1:") && error.contains("its namespace, which has 5000 bytes here"), "{error}");
}

#[test]
fn a_model_knows_features_by_name() {
    let trained = load("1 |f a:1 b:2\n-1 |f c:3\n", &ReadOptions::default()).unwrap();
    assert_eq!(trained.dataset.weights(), None);
    let options = ReadOptions {
        schema: Some(trained.schema.clone()),
        labels: Labels::Ignored,
        ..ReadOptions::default()
    };
    let input = Input::of_text(b"|f c:7 new:5 a:4\n".to_vec());
    let mut reader = VwReader::new("rows".into(), input, &options, CHUNK_BYTES);
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!(batch.row(0).iter().collect::<Vec<_>>(), [(0, 4.0), (2, 7.0)]);
    assert_eq!(reader.schema(), trained.schema);
    assert_eq!(reader.notes().remarks, ["1 feature of the rows is not in the model and ignored."]);
}

#[test]
fn what_is_wrong_has_its_place() {
    for (row, column, message) in [
        ("1 a:1 b:2", 1, "there is no bar before the features, in \"1 a:1 b:2\""),
        ("|f a:1", 1, "the label is missing: the row begins with \"|f a:1\""),
        ("1|f a:1", 1, "the label is missing: the row begins with \"1|f a:1\""),
        ("nan |f a:1", 1, "the label \"nan\" is missing or not finite"),
        ("1 x |f a:1", 3, "the value \"x\" is not a number"),
        ("1 -2 |f a:1", 3, "the weight -2 is neither 0 nor a number from 1e-100 to 1e100"),
        ("1:0.5 |f a:1", 1, "\"1:0.5\" is not one class: costs and several labels are not read"),
        ("1,2 |f a:1", 1, "\"1,2\" is not one class: costs and several labels are not read"),
        ("1 1 0 9 |f a:1", 7, "more than a label, an importance and an initial prediction: \"9\""),
        ("1 |f a:1 b:", 12, "the value \"\" is not a number"),
        ("1 |f a:1 |g:x b", 13, "the value \"x\" is not a number"),
        ("1 |f a:1e999", 8, "the value \"1e999\" is not finite"),
        ("1 |f a:1e308 a:1e308", 3, "the value \"inf\" is not finite"),
        ("1 |f \u{1}:1", 6, "this is not text: found byte 0x01"),
    ] {
        let text = format!("1 |f a:1\n{row}\n-1 |f a:2\n");
        let options = ReadOptions { format: Some(Format::VW), ..ReadOptions::default() };
        let error = load(&text, &options).unwrap_err().to_string();
        assert_eq!(error, format!("rows:2:{column}: {message}"), "{row}");
    }
    let text = "1 |f a:1\n1 |f new:x other:1\nnan |f more\n-1 |f b:2\n";
    let skipped = load(text, &ReadOptions { skip_bad: true, ..ReadOptions::default() }).unwrap();
    assert_eq!(skipped.schema.feature_names().unwrap(), ["f^a", "f^b"]);
    assert_eq!((skipped.dataset.len(), skipped.notes.skipped), (2, 2));
    let few = ReadOptions { max_features: Some(1), ..ReadOptions::default() };
    assert!(load("1 |f a b c:1\n", &few).unwrap_err().to_string().contains("more than 1 feature"));
}

/// A row as a naive reader sees it: label, weight, and the sum of the values of each name.
fn naive(line: &str) -> (String, f64, Vec<(String, f64)>) {
    let (head, features) = line.split_once('|').unwrap();
    let mut head = head.split_whitespace();
    let label = head.next().unwrap().to_string();
    let weight = head.next().map_or(1.0, |weight| weight.parse().unwrap());
    let mut sums: Vec<(String, f64)> = Vec::new();
    for part in features.split('|') {
        let mut tokens = part.split_whitespace();
        let namespace = if part.starts_with(' ') { "" } else { tokens.next().unwrap_or("") };
        for token in tokens {
            let (name, value) =
                token.split_once(':').map_or((token, 1.0), |(name, value)| (name, value.parse().unwrap()));
            let name = if namespace.is_empty() { name.to_string() } else { format!("{namespace}^{name}") };
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += value,
                None => sums.push((name, value)),
            }
        }
    }
    sums.retain(|(_, value)| *value != 0.0);
    sums.sort_by(|one, other| one.0.cmp(&other.0));
    (label, weight, sums)
}

proptest! {
    /// Rows are what a naive reader sees, however the text is cut into chunks.
    #[test]
    fn chunks_never_show(lines in prop::collection::vec("[12]( [1-3])? (\\|[ab]?( [c-f](:-?[0-9]{1,2})?){0,4} ?){1,3}", 1..30)) {
        let text = lines.join("\n") + "\n";
        let mut all = Vec::new();
        for chunk in [1, 7, 64, CHUNK_BYTES] {
            let input = Input::from_bytes(text.as_bytes(), 1 << 18);
            let mut reader = VwReader::new("rows".into(), input, &ReadOptions::default(), chunk);
            let (mut rows, mut indices) = (Vec::new(), Vec::new());
            while let Some(batch) = reader.next_batch().unwrap() {
                for i in 0..batch.len() {
                    let label = reader.label_names()[batch.label(i) as usize].clone();
                    let weight = batch.weights.as_ref().map_or(1.0, |weights| weights[i]);
                    let names = reader.schema();
                    let mut pairs: Vec<(String, f64)> =
                        batch.row(i).iter().map(|(j, value)| (names.feature_name(j), value)).collect();
                    indices.push(batch.row(i).iter().map(|(j, _)| j).collect::<Vec<_>>());
                    pairs.sort_by(|one, other| one.0.cmp(&other.0));
                    rows.push((label, weight, pairs));
                }
            }
            prop_assert_eq!(&rows, &lines.iter().map(|line| naive(line)).collect::<Vec<_>>());
            all.push((indices, reader.schema()));
        }
        for other in &all[1..] {
            prop_assert_eq!(&all[0], other);
        }
    }

    /// Whatever bytes come, there are rows or an error, and never a panic.
    #[test]
    fn any_text_is_refused_or_read(text in "([01|: a'^,.é-]{0,12}\n){0,6}", skip_bad in any::<bool>()) {
        let options = ReadOptions { format: Some(Format::VW), skip_bad, ..ReadOptions::default() };
        let _ = load(&text, &options);
    }
}

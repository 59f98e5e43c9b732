//! The promise: models that were once written can be read, and predict as they did. `golden/make.sh` says how they were made.

use linsep::Model;
use linsep::model::Predictor;
use linsep::read::{ReadOptions, Source, read};
use linsep::train::State;
use std::path::Path;
use std::sync::Arc;

fn scores(model: &Model, rows: &[u8]) -> Vec<f64> {
    let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..ReadOptions::default() };
    let source = Source::Shared("rows".to_string(), Arc::from(rows));
    let data = read(&source, &options, &mut ()).expect("rows").dataset;
    let mut predictor = Predictor::new(model);
    (0..data.len()).map(|i| predictor.predict(data.row(i)).score).collect()
}

/// Every learner, every scaling, words with missing cells, one against the rest. The program that made them wrote down what
/// it predicted.
#[test]
fn models_predict_as_they_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file =
        |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let recorded = String::from_utf8(file("scores.txt")).expect("text");
    let mut count = 0;
    for line in recorded.lines().filter(|line| line.starts_with("model-")) {
        let mut words = line.split_whitespace();
        let (name, data) = (words.next().expect("a model"), words.next().expect("its data"));
        let expected: Vec<f64> = words.map(|word| word.parse().expect("a score")).collect();
        let model = Model::from_bytes(&file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(scores(&model, &file(data)), expected, "{name}");
        let again = Model::from_bytes(&model.to_bytes().expect("a file")).expect("a model");
        assert_eq!(again, model, "{name}");
        count += 1;
    }
    assert_eq!(count, MODELS);
}

/// A file that a later version wrote is refused, and says why.
#[test]
fn later_versions_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let later = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).expect("a golden file");
        let now = br#"\"version\":1,"#;
        let place = bytes.windows(now.len()).position(|part| part == now).expect("its version");
        let mut later = bytes;
        later[place + now.len() - 2] = b'2';
        later
    };
    let model = Model::from_bytes(&later("model-averaged.safetensors")).unwrap_err().to_string();
    let state = State::from_bytes(&later("checkpoint-averaged.safetensors")).unwrap_err().to_string();
    for told in [model, state] {
        assert!(told.contains("has version 2; this program reads versions up to 1"), "{told}");
    }
}

/// How many models make.sh makes.
const MODELS: usize = 26;

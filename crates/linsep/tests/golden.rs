//! The promise: models of every version that was ever written can be read, and predict as they did.

use linsep::model::Predictor;
use linsep::read::{ReadOptions, Source, read};
use linsep::{Model, Status};
use std::path::Path;
use std::sync::Arc;

fn scores(model: &Model, rows: &[u8]) -> Vec<f64> {
    let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..ReadOptions::default() };
    let source = Source::Shared("rows".to_string(), Arc::from(rows));
    let data = read(&source, &options, &mut ()).expect("rows").dataset;
    let mut predictor = Predictor::new(model);
    (0..data.len()).map(|i| predictor.predict(data.row(i)).score).collect()
}

/// Every learner, every scaling, words with missing cells, and one against the rest. The program of the version that
/// made them wrote down what it predicted.
#[test]
fn version_1_of_everything() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file =
        |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let recorded = String::from_utf8(file("scores.txt")).expect("text");
    for line in recorded.lines().filter(|line| line.starts_with("model-")) {
        let mut words = line.split_whitespace();
        let (name, data) = (words.next().expect("a model"), words.next().expect("its data"));
        let expected: Vec<f64> = words.map(|word| word.parse().expect("a score")).collect();
        let model = Model::from_bytes(&file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(scores(&model, &file(data)), expected, "{name}");
        let again = Model::from_bytes(&model.to_bytes().expect("a file")).expect("a model");
        assert_eq!(again, model, "{name}");
    }
}

#[test]
fn version_1_averaged_with_standard_scaling() {
    let model = Model::from_bytes(include_bytes!("golden/iris-averaged-1.safetensors")).expect("a model");
    assert_eq!(model.classes.pair().expect("two sides").positive, "setosa");
    assert_eq!(model.evidence.status, Status::Converged);
    let scores = scores(&model, include_bytes!("../../../data/iris.csv"));
    assert_eq!(scores[..3], GOLDEN_IRIS);
}

#[test]
fn version_1_voted_on_words() {
    let model = Model::from_bytes(include_bytes!("golden/table-voted-1.safetensors")).expect("a model");
    assert_eq!(model.recipe.columns.feature_name(1), "colour=red");
    let scores = scores(&model, include_bytes!("golden/table.csv"));
    assert_eq!(scores, GOLDEN_TABLE);
}

#[test]
fn version_1_perceptron_on_numbered_features() {
    let model = Model::from_bytes(include_bytes!("golden/square-perceptron-1.safetensors")).expect("a model");
    let scores = scores(&model, include_bytes!("golden/square.svm"));
    assert_eq!(scores[..3], GOLDEN_SQUARE);
}

/// The classes and scores of rows 1, 59 and 129.
fn irises(model: &Model) -> Vec<(String, f64)> {
    let rows: &'static [u8] = include_bytes!("../../../data/iris.csv");
    let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..ReadOptions::default() };
    let data =
        read(&Source::Shared("rows".to_string(), Arc::from(rows)), &options, &mut ()).expect("rows").dataset;
    let mut predictor = Predictor::new(model);
    let names = model.classes.outcomes();
    [0, 58, 128]
        .into_iter()
        .map(|i| predictor.predict(data.row(i)))
        .map(|prediction| (names[prediction.outcome].clone(), prediction.score))
        .collect()
}

#[test]
fn version_1_votes_of_a_kernel_for_each_of_three_classes() {
    let model = Model::from_bytes(include_bytes!("golden/iris-kernel-vote-1.safetensors")).expect("a model");
    assert_eq!(model.boundaries.len(), 3);
    let expected = [
        ("setosa", 0.9733333333333334),
        ("versicolor", 0.9111111111111111),
        ("virginica", 0.9555555555555556),
    ];
    assert_eq!(irises(&model), expected.map(|(class, score)| (class.to_string(), score)));
}

#[test]
fn version_1_multiclass_perceptron() {
    let model = Model::from_bytes(include_bytes!("golden/iris-multiclass-1.safetensors")).expect("a model");
    let expected =
        [("setosa", 72.6569866666667), ("versicolor", 17.721186666666625), ("virginica", 45.56214666666683)];
    assert_eq!(irises(&model), expected.map(|(class, score)| (class.to_string(), score)));
}

#[test]
fn version_1_memoriser() {
    let model = Model::from_bytes(include_bytes!("golden/square-memoriser-1.safetensors")).expect("a model");
    let scores = scores(&model, include_bytes!("golden/square.svm"));
    assert_eq!(scores[..4], [1.0, 1.0, -1.0, -1.0]);
}

const GOLDEN_IRIS: [f64; 3] = [4.832858384163639, 3.6930780946366393, 4.45469988254294];
const GOLDEN_TABLE: [f64; 6] = [
    0.8888888888888888,
    -0.5555555555555556,
    0.7777777777777778,
    -0.7777777777777778,
    1.0,
    -0.5555555555555556,
];
const GOLDEN_SQUARE: [f64; 3] = [0.646020156106699, 0.575922951073607, -1.0512319664043632];

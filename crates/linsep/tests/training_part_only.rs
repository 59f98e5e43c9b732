//! With a hold-out, nothing of the held-out rows but their labels reaches the model.

use linsep::features::{Features, Missing, Scaling};
use linsep::job::TrainSpec;
use linsep::read::{CsvOptions, ReadOptions, Source, read};
use linsep::split::hold_out;
use proptest::prelude::*;

const HOLDOUT: f64 = 0.4;
const SEED: u64 = 3;

/// A number or a missing cell, two words or missing cells, and a class.
type Cells = (Option<i8>, Option<u8>, Option<u8>, bool);

fn text(rows: &[Cells]) -> String {
    let mut text = "x,size,colour,kind\n".to_string();
    for (x, size, colour, kind) in rows {
        let x = x.map_or("?".to_string(), |x| (f64::from(x) / 7.0).to_string());
        let word = |word: &Option<u8>| word.map_or(String::new(), |word| format!("w{word}"));
        text += &format!("{x},{},{},{}\n", word(size), word(colour), if *kind { "a" } else { "b" });
    }
    text
}

fn options() -> ReadOptions {
    let csv = CsvOptions { missing: Missing::Mean, header: Some(true), ..CsvOptions::default() };
    ReadOptions { csv, ..ReadOptions::default() }
}

/// The model without what names its data; `None` if these rows cannot be learned from.
fn model(text: &str, learner: &str, scale: Scaling, features: Features, cache: bool) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    let mut spec = TrainSpec {
        learner: Some(learner.to_string()),
        scale: Some(scale),
        features: Some(features),
        holdout: Some(HOLDOUT),
        seed: Some(SEED),
        epochs: Some(5),
        ..TrainSpec::file(path)
    };
    spec.data.read = options();
    spec.data.cache = cache;
    let mut model = spec.run(&mut ()).ok()?.model;
    model.fingerprint = None;
    model.spec = None;
    Some(model.to_bytes().unwrap())
}

fn cells() -> impl Strategy<Value = Cells> {
    let word = || prop::option::weighted(0.8, 0u8..4);
    (prop::option::weighted(0.8, -100i8..100), word(), word(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn held_out_cells_do_not_change_the_model(
        rows in prop::collection::vec(cells(), 8..30),
        others in prop::collection::vec(cells(), 30),
        learner in prop::sample::select(vec!["perceptron", "averaged", "svm"]),
        scale in prop::sample::select(vec![Scaling::None, Scaling::Standard, Scaling::UnitRows]),
        features in prop::sample::select(Features::ALL.to_vec()),
    ) {
        // The first rows settle what the columns are, whatever the others hold.
        let settled = [(Some(1), Some(0), Some(1), true), (Some(-1), Some(1), Some(0), false)];
        let rows = [&settled[..], &rows].concat();
        let source = Source::Shared("rows".into(), text(&rows).into_bytes().into());
        let loaded = read(&source, &options(), &mut ());
        let split = loaded.as_ref().ok().and_then(|loaded| hold_out(&loaded.dataset, HOLDOUT, SEED).ok());
        prop_assume!(split.is_some());
        let split = split.unwrap();
        let mut changed = rows.clone();
        for i in 0..split.held_out.len() {
            let row = split.held_out.line(i) as usize - 2;
            let (x, size, colour, _) = others[i % others.len()];
            changed[row] = (x, size, colour, rows[row].3);
        }
        let expected = model(&text(&rows), learner, scale, features, false);
        prop_assume!(expected.is_some());
        prop_assert_eq!(model(&text(&changed), learner, scale, features, false), expected.clone());
        prop_assert_eq!(model(&text(&rows), learner, scale, features, true), expected);
    }
}

#![no_main]

use linsep::model::Predictor;
use linsep::{Model, Row, report};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(model) = Model::from_bytes(data) else { return };
    let mut predictor = Predictor::new(&model);
    let indices: Vec<u32> = (0..64).collect();
    for row in [Row::DenseF64(&[1.0; 64]), Row::SparseF64(&indices, &[1e300; 64]), Row::SparseF64(&[], &[])] {
        let outcome = predictor.predict(row).outcome;
        assert!(outcome < model.classes.outcomes().len());
    }
    (0..model.classes.outcomes().len()).for_each(|outcome| drop(model.strongest_of(outcome)));
    report::describe_detail(&model.evidence);
    report::describe_settings(&model.settings);
    report::describe_end(&model.evidence);
    report::describe_margin(&model.evidence, &model.recipe);
    report::describe_bound(&model.evidence, &model.settings);
    report::explain(&model.evidence, &model.settings);
    let saved = model.to_bytes().expect("a model can be saved");
    assert_eq!(Model::from_bytes(&saved).expect("a saved model can be opened"), model);
});

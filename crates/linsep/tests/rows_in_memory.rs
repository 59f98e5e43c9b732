//! Rows that a front end has in memory are a source like any other: every job runs on them as from their file.

use linsep::job::{CompareSpec, DataSpec, SeparateSpec, TrainSpec};
use linsep::read::{Missing, RowStream, read};
use linsep::{ReadOptions, Source};
use std::sync::Arc;

const TABLE: &str =
    "a,b,kind\n1,2,left\n-2,0.5,right\n3,-1,left\n0,0.25,right\n1,1,left\n2,3,right\n-1,4,left\n5,-3,right\n";

/// The same rows as bytes of a file, and as they were read.
fn sources() -> [Source; 2] {
    let text = Source::Shared("rows".into(), TABLE.as_bytes().into());
    // As training reads a table: what a missing cell becomes is learned.
    let mut options = ReadOptions::default();
    options.csv.missing = Missing::Auto;
    let loaded = read(&text, &options, &mut ()).unwrap();
    [text, Source::Rows("rows".into(), Arc::new(loaded))]
}

#[test]
fn a_model_of_rows_in_memory_is_that_of_their_file() {
    for (learner, holdout) in [("perceptron", None), ("logistic", Some(0.25)), ("averaged", None)] {
        let models = sources().map(|source| {
            let data = DataSpec { source, ..DataSpec::default() };
            let learner = Some(learner.to_string());
            let spec = TrainSpec { data, learner, holdout, epochs: Some(5), ..TrainSpec::default() };
            let trained = spec.run(&mut ()).unwrap();
            (trained.model.to_bytes().unwrap(), trained.held_out.map(|held_out| held_out.error()))
        });
        assert_eq!(models[0], models[1], "{learner}");
    }
}

#[test]
fn other_jobs_take_them_too() {
    let verdicts = sources().map(|source| {
        let data = DataSpec { source, ..DataSpec::default() };
        let separated = SeparateSpec { data: data.clone(), ..SeparateSpec::default() }.run(&mut ()).unwrap();
        let learners = vec!["perceptron".to_string()];
        let compared =
            CompareSpec { data, learners, folds: 2, ..CompareSpec::default() }.run(&mut ()).unwrap();
        (separated.decided[0].separation.verdict, compared.learners[0].held_out_error)
    });
    assert_eq!(verdicts[0], verdicts[1]);
}

#[test]
fn they_have_no_bytes_and_no_name_in_a_specification() {
    let [_, rows] = sources();
    assert!(RowStream::open(&rows, &ReadOptions::default()).is_err());
    assert!(serde_json::to_value(&rows).is_err());
    assert_eq!(rows, rows.clone());
    assert_ne!(rows, sources()[1]);
}

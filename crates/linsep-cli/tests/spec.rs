//! The promise: a job is a value. The command line and the library give the same model file, and a model tells how to
//! make it again.

use crate::common::Folder;
use linsep::dataset::Dataset;
use linsep::job::{ClassSpec, DataSpec, TrainSpec};
use linsep::scale::Scaling;
use linsep::{Model, Settings};

#[test]
fn the_command_line_and_the_library_give_the_same_file() {
    let folder = Folder::new();
    folder.linsep("demo spam --export spam.csv").exits(0);
    folder.linsep("train spam.csv --scale standard --holdout 0.25 --epochs 5 -o shell.model").exits(0);
    // The path that the model remembers is the one that was given.
    let data = folder.path("spam.csv");
    let spec = TrainSpec {
        output: Some(folder.path("rust.model")),
        scale: Some(Scaling::Standard),
        holdout: Some(0.25),
        epochs: Some(5),
        ..TrainSpec::file(data.clone())
    };
    spec.run(&mut ()).expect("a model");
    let line =
        format!("train {} --scale standard --holdout 0.25 --epochs 5 -o absolute.model", data.display());
    folder.linsep(&line).exits(0);
    assert!(folder.read("rust.model") == folder.read("absolute.model"));
    let weights = |name: &str| folder.linsep(&format!("inspect {name} --json --top 99")).exits(0).out;
    assert_eq!(weights("rust.model"), weights("shell.model"));
}

#[test]
fn a_model_is_made_again_with_one_command() {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    for (i, arguments) in [
        "--learner margin --epsilon 0.2 --positive setosa",
        "--learner sgd --loss log --epochs 3 --scale max-abs --seed 9",
        "--learner perceptron --shards 3 --mixing updates --classes versicolor,virginica --epochs 4",
        "--learner kernel --kernel poly --degree 3 --class-weight setosa=2 --epochs 2",
        "--online --positive setosa --bias none",
    ]
    .into_iter()
    .enumerate()
    {
        folder.linsep(&format!("train iris.csv {arguments} -o first.model")).exits(0);
        let spec = folder.linsep("inspect first.model --spec").exits(0).out;
        folder.write("job.toml", &spec);
        folder.linsep("train --spec job.toml -o again.model").exits(0);
        assert!(folder.read("first.model") == folder.read("again.model"), "{arguments}:\n{spec}");
        // Arguments override the specification.
        folder.linsep("train --spec job.toml --epochs 1 -o other.model").exits(0);
        let changed = folder.read("other.model") != folder.read("again.model");
        assert!(changed || i == 4, "{arguments}");
    }
}

#[test]
fn a_wrong_specification_is_named() {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    for (text, said) in [
        ("job = \"train\"\nlerner = \"svm\"\n[data]\nsource = \"iris.csv\"\n", "lerner"),
        ("job = \"separate\"\n[data]\nsource = \"iris.csv\"\n", "not for train"),
        ("job = \"train\"\nlearner = \"svn\"\n[data]\nsource = \"iris.csv\"\n", "svn"),
        ("not toml at all", "job.toml"),
    ] {
        folder.write("job.toml", text);
        let ran = folder.linsep("train --spec job.toml -o x.model").says(&[said]);
        assert!(ran.code == Some(2) || ran.code == Some(3), "{ran:?}");
        assert!(!folder.has("x.model"));
    }
    folder.linsep("train --spec nothing.toml").exits(3).says(&["nothing.toml"]);
    folder.linsep("train").exits(2).says(&["DATA"]);
}

#[test]
fn models_of_rows_in_memory_have_no_specification_and_say_so() {
    let folder = Folder::new();
    let data = Dataset::dense(1, &[1.0, -1.0], &["up", "down"]).expect("rows");
    let outcome = linsep::train(&data, &Settings::default(), &mut ()).expect("a boundary");
    Model::new(outcome).save(&folder.path("memory.model")).expect("a file");
    folder.linsep("inspect memory.model --spec").exits(3).says(&["memory.model", "has no specification"]);
}

#[test]
fn a_specification_in_rust_is_what_the_flags_say() {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    let path = folder.path("iris.csv");
    let spec = TrainSpec {
        data: DataSpec::file(path.clone()),
        classes: ClassSpec { positive: Some("setosa".into()), ..ClassSpec::default() },
        learner: Some("svm".into()),
        output: Some(folder.path("rust.model")),
        ..TrainSpec::default()
    };
    spec.run(&mut ()).expect("a model");
    let line = format!("train {} --positive setosa --learner svm -o flags.model", path.display());
    folder.linsep(&line).exits(0);
    assert!(folder.read("rust.model") == folder.read("flags.model"));
}

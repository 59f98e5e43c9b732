//! The promise: a job is a value. A specification survives JSON and TOML, and gives the same model wherever it is run.

use linsep::features::Features;
use linsep::job::{
    BiasKind, BiasSpec, ClassSpec, CompareSpec, DataSpec, SeparateSpec, Spec, TheorySpec, TrainSpec,
};
use linsep::read::{Missing, Source};
use linsep::scale::Scaling;
use linsep::train::{ClassWeight, MistakeRule, Mixing, Order, learners};
use linsep::{Learner, Model};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("spam".to_string()),
        Just("a=b, \"c\"".to_string()),
        Just("+1".to_string()),
        "\\PC{1,12}"
    ]
}

fn sources() -> impl Strategy<Value = DataSpec> {
    (texts(), any::<bool>(), any::<bool>(), proptest::option::of(texts()), proptest::option::of(0u32..2))
        .prop_map(|(name, cache, skip_bad, label, index_base)| {
            let mut data = DataSpec::file(name);
            data.cache = cache;
            data.read.skip_bad = skip_bad;
            data.read.csv.label = label;
            data.read.csv.missing = if cache { Missing::Mean } else { Missing::Refuse };
            data.read.csv.delimiter = skip_bad.then_some(b';');
            data.read.libsvm.index_base = index_base;
            data
        })
}

fn classes() -> impl Strategy<Value = ClassSpec> {
    let weight = prop_oneof![
        Just(ClassWeight::Equal),
        Just(ClassWeight::Balanced),
        (texts(), 0.1f64..9.0).prop_map(|named| ClassWeight::Named(vec![named])),
    ];
    (proptest::option::of(texts()), prop::collection::vec(texts(), 0..3), weight)
        .prop_map(|(positive, only, weight)| ClassSpec { positive, only, weight, row_weights: None })
}

fn specs() -> impl Strategy<Value = Spec> {
    let train = (sources(), classes(), 0..learners().len(), any::<u64>(), 0.0f64..1.0, any::<bool>())
        .prop_map(|(data, classes, learner, seed, share, yes)| {
            let learner = learners()[learner].name;
            Spec::Train(Box::new(TrainSpec {
                data,
                classes,
                learner: Some(learner.to_string()),
                options: Learner::named(learner).map(|learner| learner.options()).unwrap_or_default(),
                // TOML has no whole numbers beyond 63 bits.
                seed: Some(seed >> 1),
                holdout: yes.then_some(share),
                scale: yes.then_some(Scaling::Standard),
                features: yes.then_some(Features::SplinesAndPairs),
                max_pairs: (!yes).then_some(70),
                order: yes.then_some(Order::ShuffleOnce),
                mistake: yes.then_some(MistakeRule::Negative),
                mixing: yes.then_some(Mixing::Updates),
                bias: BiasSpec { append: yes.then_some(false), scale: (!yes).then_some(share) },
                max_seconds: Some(share),
                output: Some("model".into()),
                ..TrainSpec::default()
            }))
        });
    let separate =
        (sources(), proptest::option::of(texts()), any::<bool>()).prop_map(|(data, positive, blame)| {
            Spec::Separate(SeparateSpec {
                data,
                positive,
                blame,
                bias: BiasKind::Free,
                ..SeparateSpec::default()
            })
        });
    let compare = (sources(), classes(), 2usize..9).prop_map(|(data, classes, folds)| {
        Spec::Compare(CompareSpec { data, classes, folds, ..CompareSpec::default() })
    });
    let theory = (sources(), 0.001f64..0.5)
        .prop_map(|(data, delta)| Spec::Theory(TheorySpec { data, delta, ..TheorySpec::default() }));
    prop_oneof![train, separate, compare, theory]
}

proptest! {
    #[test]
    fn a_specification_survives_json_and_toml(spec in specs()) {
        let json = serde_json::to_string(&spec).unwrap();
        let again = Spec::parse(&json, "spec").unwrap();
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), json.clone());
        let again = Spec::parse(&spec.to_toml().unwrap(), "spec").unwrap();
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), json);
    }
}

/// Learners are compared in the order that is asked for; in the given order there are no others to try.
#[test]
fn a_comparison_keeps_the_order_of_the_rows() {
    let only = vec!["setosa".to_string(), "versicolor".to_string()];
    let spec = CompareSpec {
        data: DataSpec::file(data("iris.csv")),
        classes: ClassSpec { only, ..ClassSpec::default() },
        learners: vec!["perceptron".to_string()],
        scale: Scaling::None,
        ..CompareSpec::default()
    };
    let updates = |order| {
        let compared = CompareSpec { order, ..spec.clone() }.run(&mut ()).unwrap().learners[0].updates;
        let (data, classes) = (spec.data.clone(), spec.classes.clone());
        let learner = Some("perceptron".to_string());
        let scale = Some(Scaling::None);
        let alone = TrainSpec { data, classes, learner, scale, order, ..TrainSpec::default() };
        assert_eq!(compared, alone.run(&mut ()).unwrap().model.evidence.updates);
        compared
    };
    assert_ne!(updates(Some(Order::Given)), updates(None));
    let none = CompareSpec { order: Some(Order::Given), orders: 3, ..spec.clone() }.run(&mut ()).unwrap_err();
    assert!(none.to_string().contains("cannot be combined with"), "{none}");
}

#[test]
fn a_model_tells_how_to_make_it_again() {
    for learner in learners() {
        let spec = TrainSpec {
            data: DataSpec::file(data("iris.csv")),
            classes: ClassSpec { only: vec!["setosa".into(), "versicolor".into()], ..ClassSpec::default() },
            learner: Some(learner.name.to_string()),
            holdout: Some(0.2),
            scale: Some(Scaling::MaxAbs),
            epochs: Some(7),
            seed: Some(3),
            ..TrainSpec::default()
        };
        let first = spec.run(&mut ()).unwrap().model.to_bytes().unwrap();
        let kept = TrainSpec::from_model(&Model::from_bytes(&first).unwrap()).unwrap().unwrap();
        let toml = Spec::Train(Box::new(kept)).to_toml().unwrap();
        let Spec::Train(kept) = Spec::parse(&toml, "spec").unwrap() else { panic!("{toml}") };
        let again = kept.run(&mut ()).unwrap().model.to_bytes().unwrap();
        assert!(first == again, "{}: {toml}", learner.name);
    }
}

#[test]
fn mistakes_in_a_specification_are_named() {
    for (text, expected) in [
        ("job = \"train\"\n[data]\nsource = \"a.csv\"\n[classs]\n", "classs"),
        ("job = \"fly\"\n", "fly"),
        ("job = \"train\"\n", "data"),
        ("job = \"train\"\nepochs = \"many\"\n[data]\nsource = \"a.csv\"\n", "epochs"),
        ("{\"job\": \"train\", \"data\": {\"source\": \"a.csv\", \"sauce\": 1}}", "sauce"),
    ] {
        let error = Spec::parse(text, "job.toml").unwrap_err().to_string();
        assert!(error.starts_with("job.toml: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn standard_input_is_a_dash() {
    let Spec::Train(spec) = Spec::parse("job = \"train\"\n[data]\nsource = \"-\"\n", "spec").unwrap() else {
        panic!("another job")
    };
    assert!(matches!(spec.data.source, Source::Stdin));
}

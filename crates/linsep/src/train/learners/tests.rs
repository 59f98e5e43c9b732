//! What the registry promises about every learner and every option.

use super::*;
use crate::Dataset;
use crate::train::{Settings, Task};
use crate::train::{Status, train};
use proptest::prelude::*;
use std::collections::HashSet;
use std::ops::Bound;

/// Values of an option that it takes.
fn inside(option: &OptionDescriptor) -> BoxedStrategy<OptionValue> {
    let some = match option.kind {
        OptionKind::Number(range) => {
            let (least, most) = match (range.least, range.most) {
                (
                    Bound::Included(least) | Bound::Excluded(least),
                    Bound::Included(most) | Bound::Excluded(most),
                ) => (least, most),
                _ => unreachable!("ranges have ends"),
            };
            // Uniform in wide ranges means at their upper end: small numbers are as likely.
            prop_oneof![
                least..most,
                Just(0.5f64.clamp(least, most)),
                (1e-3f64..10.0).prop_map(move |x| x.clamp(least, most))
            ]
            .prop_filter("an end that is not included", move |&number| range.contains(number))
            .prop_map(OptionValue::Number)
            .boxed()
        }
        OptionKind::Whole { least, most } => (least..=most).prop_map(OptionValue::Whole).boxed(),
        OptionKind::Size => (1u64..1 << 40).prop_map(OptionValue::Whole).boxed(),
        OptionKind::Choice(choices) => {
            prop::sample::select(choices.iter().map(|choice| choice.name).collect::<Vec<_>>())
                .prop_map(OptionValue::from)
                .boxed()
        }
    };
    match option.auto {
        Some(_) => prop_oneof![3 => some, 1 => Just(OptionValue::from("auto"))].boxed(),
        None => some,
    }
}

/// A learner with any of its options, in their ranges.
fn any_options() -> impl Strategy<Value = (&'static Descriptor, Options)> {
    prop::sample::select(learners().to_vec()).prop_flat_map(|descriptor| {
        let given: Vec<_> = descriptor
            .options
            .iter()
            .map(|option| prop::option::of(inside(option).prop_map(|value| (option.name.to_string(), value))))
            .collect();
        given.prop_map(move |given| (descriptor, given.into_iter().flatten().collect()))
    })
}

proptest! {
    /// A learner is made again from its name and its options, also by way of JSON and TOML.
    #[test]
    fn options_round_trip((descriptor, given) in any_options()) {
        // Some options exclude each other; refusals name one that was given or is missing.
        let learner = match descriptor.learner().with_options(&given) {
            Ok(learner) => learner,
            Err(error) => {
                prop_assert!(descriptor.option(error.field).is_some(), "{error:?}");
                return Ok(());
            }
        };
        let options = learner.options();
        let again = |options: &Options| Learner::named(descriptor.name).unwrap().with_options(options).unwrap();
        prop_assert_eq!(again(&options), learner);
        prop_assert_eq!(again(&options).options(), options.clone());
        // What is given is what there is, under the same name or as the power that it stands for.
        for (name, value) in given.iter().filter(|&(name, _)| name != "schedule" && name != "gamma") {
            let found = options.get(name);
            prop_assert!(found.is_some_and(|found| found == value || found.number() == value.number()), "{name}");
        }
        let json: Options = serde_json::from_str(&serde_json::to_string(&options).unwrap()).unwrap();
        prop_assert_eq!(&json, &options);
        let toml: Options = toml::from_str(&toml::to_string(&options).unwrap()).unwrap();
        prop_assert_eq!(&toml, &options);
        let stored: Learner = serde_json::from_str(&serde_json::to_string(&learner).unwrap()).unwrap();
        prop_assert_eq!(stored, learner);
    }
}

#[test]
fn names_are_unique_and_find_their_learner() {
    let names: HashSet<&str> = learners().iter().map(|learner| learner.name).collect();
    assert_eq!(names.len(), learners().len());
    for descriptor in learners() {
        let learner = Learner::named(descriptor.name).unwrap();
        assert!(std::ptr::eq(learner.descriptor(), *descriptor), "{}", descriptor.name);
        assert_eq!(learner, learner.with_options(&Options::new()).unwrap());
        assert!(
            learner.describe().contains(descriptor.title.split(' ').next().unwrap()),
            "{}",
            learner.describe()
        );
        let options: HashSet<&str> = descriptor.options.iter().map(|option| option.name).collect();
        assert_eq!(options.len(), descriptor.options.len(), "{}", descriptor.name);
        // What is stored is known by the same name.
        let stored = serde_json::to_string(&learner).unwrap();
        assert!(stored.contains(&format!("\"{}\"", descriptor.name)), "{stored}");
    }
    assert_eq!(Learner::named("percepton").unwrap_err().field, "learner");
}

/// Options that one value alone does not set.
fn companions(learner: &str, option: &str) -> Options {
    match (learner, option) {
        ("kernel", "degree" | "offset") => Options::new().with("kernel", "poly"),
        ("logistic", "l1_ratio") => Options::new().with("penalty", "elastic-net"),
        (_, "schedule") => Options::new(),
        _ => Options::new(),
    }
}

#[test]
fn values_outside_their_range_are_refused_by_the_name_of_the_option() {
    for descriptor in learners() {
        for option in descriptor.options {
            let wrong: Vec<OptionValue> = match option.kind {
                OptionKind::Number(range) => {
                    let below = match range.least {
                        Bound::Included(least) => least.next_down(),
                        Bound::Excluded(least) => least,
                        Bound::Unbounded => f64::NAN,
                    };
                    let above = match range.most {
                        Bound::Included(most) => most.next_up(),
                        Bound::Excluded(most) => most,
                        Bound::Unbounded => f64::NAN,
                    };
                    vec![below.into(), above.into(), f64::NAN.into(), "much".into()]
                }
                OptionKind::Whole { least, most } => {
                    vec![(least - 1).into(), (most + 1).into(), 1.5.into(), (-1.0).into(), u64::MAX.into()]
                }
                OptionKind::Size => vec![0u64.into(), 0.5.into(), "0MB".into(), "2 parsecs".into()],
                OptionKind::Choice(_) => vec!["nonsense".into(), 1.0.into(), "".into()],
            };
            for value in wrong {
                let given = companions(descriptor.name, option.name).with(option.name, value.clone());
                let refused = descriptor.learner().with_options(&given);
                let error = refused.expect_err(&format!("{} {} {value}", descriptor.name, option.name));
                assert_eq!(error.field, option.name, "{}: {error:?}", descriptor.name);
            }
        }
    }
}

#[test]
fn every_choice_and_every_default_is_taken() {
    for descriptor in learners() {
        for option in descriptor.options {
            if let OptionKind::Choice(choices) = option.kind {
                for choice in choices {
                    let mut given = Options::new().with(option.name, choice.name);
                    if choice.name == "power" {
                        given.set("power", 0.25);
                    }
                    let learner = descriptor.learner().with_options(&given).unwrap();
                    let found = learner.options();
                    let expected = if choice.name.starts_with("1/") { "power" } else { choice.name };
                    assert_eq!(
                        found.text(option.name),
                        Some(expected),
                        "{} {}",
                        descriptor.name,
                        option.name
                    );
                }
            }
            // Defaults are texts, with a remark in brackets where they depend on another option.
            let default = option.default.split(" (").next().unwrap();
            if !default.is_empty() {
                let given = companions(descriptor.name, option.name);
                let base = descriptor.learner().with_options(&given).unwrap();
                let given = given.with(option.name, option.parse(default).unwrap());
                assert_eq!(base.with_options(&given).unwrap(), base, "{} {}", descriptor.name, option.name);
            }
        }
    }
}

#[test]
fn the_options_of_other_learners_are_refused() {
    let refused = |learner: &str, option: &str| {
        Learner::named(learner).unwrap().with_options(&Options::new().with(option, 0.5)).unwrap_err()
    };
    let error = refused("svm", "epsilon");
    assert_eq!(error.problem, "⟦epsilon⟧ is an option of ⟦learner=margin⟧, not of svm");
    assert_eq!(error.field, "epsilon");
    assert_eq!(refused("svm", "step").problem, "⟦step⟧ is an option of ⟦learner=batch and sgd⟧, not of svm");
    assert!(refused("svm", "nonsense").problem.contains("svm has loss, C and gap"));
    let loss = Options::new().with("loss", "log");
    let error = Learner::named("svm").unwrap().with_options(&loss).unwrap_err();
    assert_eq!(error.problem, "the svm learner has ⟦loss⟧ hinge and squared-hinge, not log; log is for sgd");
    for (a, b) in [("epsilon", "beta"), ("epsilon", "agreement"), ("beta", "agreement")] {
        let both = Options::new().with(a, 0.5).with(b, 0.5);
        let error = Learner::named("margin").unwrap().with_options(&both).unwrap_err();
        assert!(error.field == a || error.field == b, "{error:?}");
    }
    for penalty in ["l2", "l1", "firth", "none"] {
        let both = Options::new().with("penalty", penalty).with("l1_ratio", 0.3);
        let error = Learner::named("logistic").unwrap().with_options(&both).unwrap_err();
        assert!(error.field == "l1_ratio" && error.problem.contains("⟦penalty=elastic-net⟧"), "{error:?}");
    }
    // What was said of an elastic net is not kept for another penalty.
    let mixed = Options::new().with("penalty", "elastic-net").with("l1_ratio", 0.3);
    let mixed = Learner::named("logistic").unwrap().with_options(&mixed).unwrap();
    assert_eq!(mixed.options().number("l1_ratio"), Some(0.3));
    let square = mixed.with_options(&Options::new().with("penalty", "l2")).unwrap();
    assert_eq!(square, Learner::named("logistic").unwrap());
}

#[test]
fn every_learner_learns() {
    let data =
        Dataset::dense(2, &[1.0, 0.5, 0.8, 1.0, -1.0, -0.5, -0.5, -1.0], &["a", "a", "b", "b"]).unwrap();
    for descriptor in learners() {
        let learner = descriptor.learner();
        let settings = Settings { learner, epochs: descriptor.usual_epochs, ..Settings::default() };
        let outcome = train(&data, &settings, &mut ()).unwrap();
        assert_ne!(outcome.status, Status::NoMargin, "{}", descriptor.name);
        assert_eq!(outcome.evidence.training_error, Some(0.0), "{}", descriptor.name);
        // What goes row by row is run by the engine.
        let settings = Settings { positive: Some("a".into()), ..settings };
        if descriptor.abilities.two_sides {
            let task = Task::new(&data, &settings).unwrap();
            let fitted = learner.registered().fit(&task, &settings, &mut ()).unwrap();
            assert_eq!(fitted.is_none(), descriptor.abilities.row_by_row, "{}", descriptor.name);
        }
    }
}

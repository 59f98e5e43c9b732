//! Models as files: safetensors with versioned metadata.

use super::probability::Saved;
use super::{Calibration, Model, Threshold};
use crate::Error;
use crate::classes::Classes;
use crate::features::expansion::{get_expansion, put_expansion};
use crate::features::{Expansion, Recipe, Scaler, Scaling, Schema, Standard};
use crate::store::{self, Opened, StoreError, Tensors};
use crate::theta::Theta;
use crate::train::{Boundary, Evidence, Learned, Settings};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

const KIND: &str = "model";

/// The contents of a model file other than its arrays.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    classes: Cow<'a, Classes>,
    schema: Cow<'a, Schema>,
    #[serde(default, skip_serializing_if = "is_none")]
    expansion: Option<ExpansionContent>,
    scaling: Scaling,
    centred: bool,
    settings: Cow<'a, Settings>,
    evidence: Cow<'a, Evidence>,
    #[serde(default, skip_serializing_if = "<[Boundary]>::is_empty")]
    boundaries: Cow<'a, [Boundary]>,
    fingerprint: Cow<'a, Option<String>>,
    #[serde(default, skip_serializing_if = "is_none")]
    spec: Cow<'a, Option<serde_json::Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Saved>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<Threshold>,
}

/// Which parts of an expansion are among the arrays.
#[derive(Serialize, Deserialize)]
struct ExpansionContent {
    splines: bool,
    products: bool,
    candidates: u64,
}

fn is_none<T>(value: &Option<T>) -> bool {
    value.is_none()
}

impl Model {
    /// Saves the model, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        store::write_atomically(path, |out| {
            let (tensors, content) = self.parts();
            tensors.write(KIND, &content, out)
        })
    }

    /// Opens a saved model. Any other file is an error.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self::of_file(Opened::load(path, KIND)?)?)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let (tensors, content) = self.parts();
        tensors.into_bytes(KIND, &content)
    }

    /// The arrays of the model's file, and the rest of it.
    fn parts(&self) -> (Tensors<'_>, Content<'_>) {
        let mut tensors = Tensors::default();
        self.learned.put(&mut tensors, "");
        let expansion = &self.recipe.expansion;
        put_expansion(&mut tensors, expansion);
        let made = expansion.features();
        let expansion = (!expansion.is_none()).then(|| ExpansionContent {
            splines: made.splines(),
            products: made.pairs(),
            candidates: expansion.candidates(),
        });
        let mut centred = false;
        match &self.recipe.scaling {
            Scaler::None | Scaler::UnitRows => {}
            Scaler::MaxAbs { divisor } => tensors.put_f64("scale.divisor", divisor.iter().copied()),
            Scaler::Standard(standard) => {
                tensors.put_f64("scale.divisor", standard.divisor().iter().copied());
                centred = standard.is_centred();
                if centred {
                    tensors.put_f64("scale.mean", standard.mean().iter().copied());
                }
            }
        }
        let calibration = self.calibration.as_ref().and_then(|calibration| calibration.put(&mut tensors));
        let content = Content {
            classes: Cow::Borrowed(&self.classes),
            schema: Cow::Borrowed(&self.recipe.columns),
            expansion,
            scaling: self.recipe.scaling.scaling(),
            centred,
            settings: Cow::Borrowed(&self.settings),
            evidence: Cow::Borrowed(&self.evidence),
            boundaries: Cow::Borrowed(&self.boundaries),
            fingerprint: Cow::Borrowed(&self.fingerprint),
            spec: Cow::Borrowed(&self.spec),
            calibration,
            threshold: self.threshold,
        };
        (tensors, content)
    }

    /// Opens a model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        Self::of_file(Opened::open(bytes, KIND)?)
    }

    fn of_file(opened: Opened<'_, Content<'static>>) -> Result<Self, StoreError> {
        let Content { settings, schema, .. } = &opened.content;
        let damaged = |what: &str| StoreError::Damaged(what.to_string());
        settings.learner.validate().map_err(|error| damaged(&error.to_string()))?;
        let learned = match &*opened.content.classes {
            Classes::Pair(pair) if pair.negative.is_empty() => {
                return Err(damaged("it names no negative class"));
            }
            Classes::Pair(_) => settings.learner.registered().load(&opened, "", settings)?,
            Classes::Each { names } => Learned::load_each(&opened, names.len(), settings)?,
        };
        let columns = learned.columns();
        let expansion = match &opened.content.expansion {
            None => Expansion::none(),
            Some(ExpansionContent { splines, products, candidates }) => {
                // The features of the columns have weights among others, so there are no more of them.
                let inputs = schema.features();
                if inputs > columns {
                    return Err(damaged("it has more columns than weights"));
                }
                get_expansion(&opened, inputs, (*splines, *products), *candidates)?
            }
        };
        let plain = columns.checked_sub(expansion.added());
        check_schema(schema, plain.ok_or_else(|| damaged("it has more features than weights"))?)?;
        let scaler = get_scaler(&opened, columns)?;
        let two_sides = opened.content.classes.pair().is_some();
        let saved = opened.content.calibration.as_ref();
        let calibration = saved.map(|saved| Calibration::get(&opened, saved, two_sides)).transpose()?;
        let content = opened.content;
        let mut settings = content.settings.into_owned();
        if let crate::train::Init::Warm(start) = &mut settings.init {
            // The start itself is not saved: only that there was one.
            *start = Theta::default();
        }
        let model = Self {
            learned,
            classes: content.classes.into_owned(),
            recipe: Recipe { columns: content.schema.into_owned(), expansion, scaling: scaler },
            settings,
            evidence: content.evidence.into_owned(),
            boundaries: content.boundaries.into_owned(),
            fingerprint: content.fingerprint.into_owned(),
            spec: content.spec.into_owned(),
            calibration,
            threshold: content.threshold,
        };
        let usable =
            |threshold: &Threshold| two_sides && threshold.is_sound() && model.calibrated().is_some();
        if model.threshold.as_ref().is_some_and(|threshold| !usable(threshold)) {
            return Err(damaged("its threshold does not fit its probabilities"));
        }
        Ok(model)
    }
}

/// Checks that every feature of the schema has a weight.
fn check_schema(schema: &Schema, columns: usize) -> Result<(), StoreError> {
    let unlearned = schema.has_texts_as_read().then_some("nothing was learned about its texts");
    schema.fault(columns).or(unlearned).map_or(Ok(()), |what| Err(StoreError::Damaged(what.to_string())))
}

/// Opens the scaling of so many features.
fn get_scaler(opened: &Opened<'_, Content<'static>>, columns: usize) -> Result<Scaler, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(what.to_string());
    let numbers = |name: &str| -> Result<Vec<f64>, StoreError> {
        let values = opened.f64s(name)?;
        let usable = values.len() == columns && values.iter().all(|x| x.is_finite());
        usable.then_some(values).ok_or_else(|| damaged("its scaling does not fit its weights"))
    };
    let divisor = || -> Result<Vec<f64>, StoreError> {
        let divisor = numbers("scale.divisor")?;
        let usable = divisor.iter().all(|&x| x > 0.0);
        usable.then_some(divisor).ok_or_else(|| damaged("its scaling divides by zero"))
    };
    Ok(match opened.content.scaling {
        Scaling::None => Scaler::None,
        Scaling::UnitRows => Scaler::UnitRows,
        Scaling::MaxAbs => Scaler::MaxAbs { divisor: divisor()? },
        // What was learned by need is kept as what it came to.
        Scaling::Standard | Scaling::Auto => {
            let mean = if opened.content.centred { numbers("scale.mean")? } else { vec![0.0; columns] };
            Scaler::Standard(Standard::new(mean, divisor()?))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Dataset, Row};
    use crate::features::Features;
    use crate::model::{Prediction, Predictor, ThresholdRule};
    use crate::read::{ReadOptions, Source, read};
    use crate::report;
    use crate::store::mutation::{Mutation, mutations};
    use crate::train::{Bias, Combine, Init, Kernel, KernelOptions, Learner};
    use proptest::prelude::*;

    const TABLE: &[u8] =
        b"a,word,b,kind\n1,x,2,left\n-2,y,0.5,right\n3,x,-1,left\n0,z,0.25,right\n1,y,1,left\n2,z,3,right\n-1,x,4,left\n5,y,-3,right\n";
    const NUMBERED: &[u8] = b"+1 1:0.5 3:2\n-1 2:1.5\n+1 1:2\n-1 2:1 3:-1\n+1 3:0.1\n";

    /// A learner of every kind of decision function, and of options in the file.
    fn learners() -> impl Strategy<Value = Learner> {
        let kernels = [
            Kernel::Linear,
            Kernel::Polynomial { degree: 2, gamma: 1e-3, offset: 0.5 },
            Kernel::Rbf { gamma: None },
        ];
        let combines = [Combine::Last, Combine::Average, Combine::Vote];
        let kernel = (0..3usize, 0..3usize).prop_map(move |(kernel, combine)| {
            let (kernel, combine) = (kernels[kernel], combines[combine]);
            Learner::Kernel(KernelOptions { kernel, combine, ..KernelOptions::default() })
        });
        prop_oneof![
            Just(Learner::Perceptron),
            Just(Learner::Averaged),
            Just(Learner::Voted),
            kernel,
            Just(Learner::Memoriser),
            Just(Learner::Multiclass(Default::default())),
            Just(Learner::Svm(Default::default())),
            Just(Learner::Lifted(Default::default())),
            Just(Learner::Sgd(Default::default())),
            Just(Learner::Logistic(Default::default())),
        ]
    }

    /// A calibration and a threshold for two sides.
    fn calibrations() -> impl Strategy<Value = (Option<Calibration>, Option<Threshold>)> {
        let sigmoid = (0.0f64..1e9, -50f64..50.0)
            .prop_map(|(slope, intercept)| Calibration::Sigmoid { slope, intercept });
        let isotonic =
            prop::collection::vec((-9i8..9, any::<bool>()), 2..30).prop_filter_map("both sides", |rows| {
                let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0) / 3.0).collect();
                let signs: Vec<i8> = rows.iter().map(|row| if row.1 { 1 } else { -1 }).collect();
                Calibration::fit_isotonic(&scores, &signs)
            });
        let rules = prop_oneof![
            (0.01f64..0.99).prop_map(ThresholdRule::Probability),
            (0.1f64..9.0).prop_map(|cost| ThresholdRule::Cost { false_positive: cost, false_negative: 1.0 }),
            (0.1f64..1.0).prop_map(ThresholdRule::Recall),
        ];
        let thresholds = (rules, prop::collection::vec(0.01f64..0.99, 2..9)).prop_map(|(rule, p)| {
            let signs: Vec<i8> = (0..p.len()).map(|i| if i % 2 == 0 { 1 } else { -1 }).collect();
            Threshold::choose(rule, &p, &signs)
        });
        let calibration = prop_oneof![sigmoid, isotonic].prop_map(Some);
        prop_oneof![Just((None, None)), (calibration, prop_oneof![Just(None), thresholds])]
    }

    /// A model of any learner, scaling and source, of two classes or more, some with probabilities.
    fn models() -> impl Strategy<Value = Model> {
        (plain_models(), calibrations(), 0.0f64..1e9).prop_map(
            |(mut model, (calibration, threshold), inverse)| {
                match model.classes.pair() {
                    Some(_) => (model.calibration, model.threshold) = (calibration, threshold),
                    None => model.calibration = calibration.map(|_| Calibration::Temperature { inverse }),
                }
                model
            },
        )
    }

    fn plain_models() -> impl Strategy<Value = Model> {
        let learners = learners();
        let scalings = prop_oneof![
            Just(Scaling::None),
            Just(Scaling::MaxAbs),
            Just(Scaling::Auto),
            Just(Scaling::Standard),
            Just(Scaling::UnitRows)
        ];
        let biases =
            prop_oneof![Just(Bias::None), (1e-100f64..1e100).prop_map(Bias::Append), Just(Bias::default())];
        let features = prop::sample::select(Features::ALL.to_vec());
        (learners, scalings, biases, any::<u64>(), 1u64..6, 0usize..4, any::<bool>(), features)
            .prop_filter_map(
                "settings that these rows bear",
                |(learner, scaling, bias, seed, epochs, source, first, features)| {
                    let perceptron =
                        matches!(learner, Learner::Perceptron | Learner::Averaged | Learner::Voted);
                    let init = if first && perceptron { Init::First } else { Init::Zero };
                    let settings = Settings { learner, bias, seed, epochs, init, ..Settings::default() };
                    let (data, schema) = match source {
                        0 | 1 => {
                            let bytes = if source == 0 { TABLE } else { NUMBERED };
                            let loaded =
                                read(&Source::Memory("rows", bytes), &ReadOptions::default(), &mut ())
                                    .unwrap();
                            (loaded.dataset, loaded.schema)
                        }
                        _ => {
                            let values = [0.1, -7.5, 1.0 / 3.0, 1e-30, 2.0, 1e12];
                            let labels = if source == 2 { ["a", "b", "a"] } else { ["a", "b", "c"] };
                            (Dataset::dense(2, &values, &labels).unwrap(), Schema::Array { features: 2 })
                        }
                    };
                    let expansion = Expansion::learn(features, &schema, &data, None).unwrap();
                    let expanded = expansion.apply_all(data.clone()).unwrap();
                    let scaler = Scaler::learn_expanded(scaling, &expanded, &expansion);
                    let scaled = scaler.apply_all(expanded).unwrap();
                    // A bias or rows that would overflow a kernel are refused, as they should be.
                    let outcome = crate::train(&scaled, &settings, &mut ()).ok()?;
                    let recipe = Recipe { columns: schema, expansion, scaling: scaler };
                    Some(Model::with_recipe(outcome, recipe, Some(data.fingerprint().to_string())))
                },
            )
    }

    /// Any row and any question must be safe with a model that was opened.
    fn use_it(model: &Model) {
        let mut predictor = Predictor::new(model);
        let wide: Vec<u32> = (0..9).collect();
        for row in [
            Row::DenseF64(&[]),
            Row::DenseF64(&[1.0, -1e300, f64::MAX]),
            Row::DenseF32(&[0.5; 12]),
            Row::SparseF64(&[], &[]),
            Row::SparseF64(&wide, &[1e200; 9]),
            Row::SparseF64(&[u32::MAX], &[1.0]),
        ] {
            let Prediction { outcome, score, probability, .. } = predictor.predict(row);
            assert!(outcome < model.classes.outcomes().len());
            if score.is_finite() {
                assert!(probability.is_none_or(|p| p > 0.0 && p < 1.0), "{probability:?} {score}");
            }
            model.probabilities(row);
        }
        (0..model.classes.outcomes().len()).for_each(|outcome| drop(model.strongest_of(outcome)));
        (0..model.classes.outcomes().len()).for_each(|outcome| drop(model.effects_of(outcome)));
        report::describe_expansion(&model.recipe.expansion);
        report::describe_settings(&model.settings);
        report::describe_end(&model.evidence);
        report::describe_margin(&model.evidence, &model.recipe);
        report::describe_bound(&model.evidence, &model.settings);
        report::explain(&model.evidence, &model.settings);
        report::describe_calibration(model);
        model.threshold.iter().for_each(|threshold| drop(report::describe_threshold(threshold, "a")));
        let options = ReadOptions { schema: Some(model.recipe.columns.clone()), ..ReadOptions::default() };
        for source in [Source::Memory("table", TABLE), Source::Memory("numbered", NUMBERED)] {
            let Ok(loaded) = read(&source, &options, &mut ()) else { continue };
            for i in 0..loaded.dataset.len() {
                predictor.predict(loaded.dataset.row(i));
            }
        }
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap());
    }

    proptest! {
        #[test]
        fn a_model_comes_back_as_it_was(model in models()) {
            let bytes = model.to_bytes().unwrap();
            let again = Model::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&again, &model);
            prop_assert_eq!(again.to_bytes().unwrap(), bytes);
            use_it(&again);
        }

        #[test]
        fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Model::from_bytes(&bytes).is_err());
        }
    }

    proptest! {
        // Most damage is an error.
        #![proptest_config(ProptestConfig { cases: 32, max_global_rejects: 3000, ..ProptestConfig::default() })]

        #[test]
        fn a_damaged_model_is_an_error_or_still_one(model in models(), mutations in mutations()) {
            let mut bytes = model.to_bytes().unwrap();
            mutations.iter().for_each(|mutation: &Mutation| mutation.apply(&mut bytes));
            let model = Model::from_bytes(&bytes);
            prop_assume!(model.is_ok());
            use_it(&model.unwrap());
        }
    }
}

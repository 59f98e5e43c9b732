//! The promise: one by one, in chunks, from a file, from a stream, taken up after a stop, on any number of
//! threads, with two classes or many: the same bits.

use linsep::observe::{Checkpoint, Observer, Progress};
use linsep::random::Random;
use linsep::read::{Format, ReadOptions, RowStream, Source, read};
use linsep::scale::Scaler;
use linsep::train::{
    Abilities, ClassWeight, Combine, Example, Init, Learned, Learner, Loss, MistakeRule, MulticlassOptions,
    OnlineLearner, Order, Resume, SgdOptions, State, StepSchedule, Task, learners, resume, train_stream,
};
use linsep::{Dataset, Outcome, Settings, Status, train};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// The learners with some ability.
fn learners_that(has: fn(&Abilities) -> bool) -> impl Iterator<Item = Learner> {
    learners().iter().filter(move |learner| has(&learner.abilities)).map(|learner| learner.learner())
}

/// LIBSVM text with words as labels, random rows, and a chance of indices from 0.
fn libsvm(seed: u64, rows: usize, from_zero: bool) -> String {
    let mut random = Random::new(seed);
    let base = if from_zero { 0 } else { 1 };
    let names = if random.below(2) == 0 { ["ham", "spam"] } else { ["spam", "ham"] };
    let mut text = String::new();
    for row in 0..rows {
        // Both classes early and late in turn, so that the stream must exchange labels half of the time.
        let class = if row < 3 {
            0
        } else if row == 3 {
            1
        } else {
            random.below(2) as usize
        };
        text.push_str(names[class]);
        for column in 0..12 {
            if (row == 0 && column == 0) || random.below(3) == 0 {
                text.push_str(&format!(" {}:{}", column + base, random.normal()));
            }
        }
        text.push('\n');
    }
    text
}

fn source(text: &str) -> Source {
    Source::Memory("rows", text.to_string().leak().as_bytes())
}

fn assert_same(a: &Outcome, b: &Outcome) {
    assert_eq!(a.learned, b.learned);
    assert_eq!(a.status, b.status);
    assert_eq!(a.evidence, b.evidence);
    assert_eq!(a.classes, b.classes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn one_by_one_in_memory_and_as_a_stream(seed: u64, rows in 4usize..60, from_zero: bool, first: bool, negative: bool) {
        let text = libsvm(seed, rows, from_zero);
        for learner in learners_that(|abilities| abilities.traces_mistakes) {
            let settings = Settings {
                learner,
                epochs: 1,
                order: Order::Given,
                init: if first { Init::First } else { Init::Zero },
                mistake: if first && negative { MistakeRule::Negative } else { MistakeRule::NonPositive },
                ..Settings::default()
            };
            let data = read(&source(&text), &ReadOptions::default(), &mut ()).unwrap().dataset;
            let memory = train(&data, &settings, &mut ()).unwrap();

            let signs = Task::new(&data, &settings).unwrap().signs;
            let mut online = OnlineLearner::new(&settings, 0).unwrap();
            for (i, &sign) in signs.iter().enumerate() {
                online.learn(data.row(i), sign, Some(i as u32));
            }
            let mut learned = online.learned();
            if let Learned::Linear(theta) = &mut learned {
                theta.widen(data.columns());
                prop_assert_eq!(&learned, &memory.learned);
            } else {
                prop_assert_eq!(learned.theta().weights.len().max(data.columns()), data.columns());
            }
            prop_assert_eq!(online.updates(), memory.evidence.updates);

            let options = ReadOptions { online: true, ..ReadOptions::default() };
            let mut stream = RowStream::open(&source(&text), &options).unwrap();
            let streamed = train_stream(&mut stream, &settings, &Scaler::None, None, &mut ()).unwrap();
            prop_assert_eq!(streamed.learned.theta(), memory.learned.theta());
            for i in 0..data.len() {
                prop_assert_eq!(streamed.learned.score(data.row(i)), memory.learned.score(data.row(i)));
            }
            prop_assert_eq!(streamed.evidence.updates, memory.evidence.updates);
            prop_assert_eq!(streamed.evidence.extent, memory.evidence.extent);
            prop_assert_eq!(streamed.evidence.margin.upper, memory.evidence.margin.upper);
            prop_assert_eq!(&streamed.classes, &memory.classes);
            prop_assert_eq!(stream.schema().features(), data.columns());
        }
    }
}

/// Rows wide enough that a pass has several pauses.
fn wide(rows: usize) -> Dataset {
    let mut random = Random::new(1);
    let columns = 2_500;
    let values: Vec<f64> = (0..rows * columns).map(|_| random.below(1_000) as f64 / 7.0 - 70.0).collect();
    let labels: Vec<&str> =
        (0..rows).map(|i| if i < 2 { ["a", "b"][i] } else { ["a", "b"][random.below(2) as usize] }).collect();
    Dataset::dense(columns, &values, &labels).unwrap()
}

/// Keeps the run at every pause, and stops at one of them.
struct Saver {
    runs: Vec<State>,
    stop_at: usize,
}

impl Observer for Saver {
    fn saves(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, state: &dyn Checkpoint) {
        self.runs.push(State::from_bytes(&state.to_bytes().unwrap()).unwrap());
    }

    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if self.runs.len() > self.stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_run_taken_up_at_any_pause_ends_as_if_undisturbed() {
    let data = wide(450);
    let folder = std::env::temp_dir().join(format!("linsep-resume-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("checkpoint");
    for learner in learners_that(|abilities| abilities.row_by_row) {
        let order = if learner == Learner::Averaged { Order::Given } else { Order::Shuffle };
        let settings = Settings { learner, order, epochs: 4, ..Settings::default() };
        let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
        let whole = train(&data, &settings, &mut saver).unwrap();
        assert!(saver.runs.len() > 5, "the test needs pauses within a pass");
        for run in saver.runs {
            run.save(&file).unwrap();
            let again = resume(State::load(&file).unwrap(), &data, &settings, &mut ()).unwrap();
            assert_same(&again, &whole);
        }
        // Stopped from outside, then taken up.
        let mut stopper = Saver { runs: Vec::new(), stop_at: 3 };
        let part = train(&data, &settings, &mut stopper).unwrap();
        assert_eq!(part.status, Status::Interrupted);
        let last = stopper.runs.pop().unwrap();
        assert_same(&resume(last, &data, &settings, &mut ()).unwrap(), &whole);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_checkpoint_of_other_data_or_settings_is_refused() {
    let (data, other) = (wide(20), wide(21));
    let settings = Settings { epochs: 2, ..Settings::default() };
    let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
    train(&data, &settings, &mut saver).unwrap();
    let run = saver.runs.pop().unwrap();
    let error = resume(run.clone(), &other, &settings, &mut ()).unwrap_err();
    assert!(error.to_string().contains("other data"), "{error}");
    let error = resume(run, &data, &Settings { seed: 5, ..settings }, &mut ()).unwrap_err();
    assert!(error.to_string().contains("another seed: 0 then, 5 now"), "{error}");
}

#[test]
fn any_number_of_threads() {
    let text = libsvm(3, 5_000, false);
    let run = |threads: usize, shards: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let data = read(&source(&text), &ReadOptions::default(), &mut ()).unwrap().dataset;
            (
                train(&data, &Settings { epochs: 5, shards, ..Settings::default() }, &mut ()).unwrap(),
                data.fingerprint().to_string(),
            )
        })
    };
    for shards in [1, 2, 7] {
        let (one, fingerprint) = run(1, shards);
        for threads in [2, 3, 8] {
            let (many, other) = run(threads, shards);
            assert_same(&one, &many);
            assert_eq!(fingerprint, other);
        }
    }
}

/// A dense and a sparse copy of the same rows, with many zeros, large enough for several windows of blocks.
fn dense_and_sparse(rows: usize, columns: usize) -> (Dataset, Dataset) {
    let mut random = Random::new(8);
    let values: Vec<f64> = (0..rows * columns)
        .map(|_| if random.below(4) == 0 { random.below(2_001) as f64 / 7.0 - 140.0 } else { 0.0 })
        .collect();
    let labels: Vec<&str> =
        (0..rows).map(|i| if i < 2 { ["a", "b"][i] } else { ["a", "b"][random.below(2) as usize] }).collect();
    let (mut offsets, mut indices, mut stored) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(columns) {
        for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
            indices.push(column as u32);
            stored.push(value);
        }
        offsets.push(stored.len());
    }
    let sparse = Dataset::sparse(columns, &offsets, &indices, &stored, &labels).unwrap();
    (Dataset::dense(columns, &values, &labels).unwrap(), sparse)
}

#[test]
fn dense_and_sparse_rows_are_shuffled_alike() {
    // Above 64 blocks of 2^15 values that are not zero.
    let (dense, sparse) = dense_and_sparse(60_000, 160);
    assert!(sparse.nonzeros() > 64 << 15 && dense.nonzeros() == sparse.nonzeros());
    assert_eq!(dense.fingerprint(), sparse.fingerprint());
    for learner in [Learner::Perceptron, Learner::Averaged] {
        for (order, shards) in [(Order::Shuffle, 1), (Order::ShuffleOnce, 1), (Order::Shuffle, 3)] {
            let settings = Settings { learner, order, shards, epochs: 2, seed: 4, ..Settings::default() };
            let (a, b) =
                (train(&dense, &settings, &mut ()).unwrap(), train(&sparse, &settings, &mut ()).unwrap());
            assert!(a.learned == b.learned, "{learner:?} {order:?} {shards}");
            assert_eq!(a.evidence.updates, b.evidence.updates);
        }
    }
}

/// A weight for a class that no row has is the same error in memory and on a stream.
#[test]
fn a_weight_for_an_unknown_class_is_refused_on_a_stream_too() {
    let text = "a 1:1\nb 1:2\na 1:3\nb 2:1\n";
    let class_weight = ClassWeight::Named(vec![("a".into(), 2.0), ("c".into(), 3.0)]);
    let settings = Settings {
        learner: Learner::Perceptron,
        epochs: 1,
        order: Order::Given,
        class_weight,
        ..Settings::default()
    };
    let data = read(&source(text), &ReadOptions::default(), &mut ()).unwrap().dataset;
    let memory = train(&data, &settings, &mut ()).unwrap_err().to_string();
    assert_eq!(memory, "no row has the label \"c\"; the classes are \"a\", \"b\"");
    let options = ReadOptions { online: true, ..ReadOptions::default() };
    let mut stream = RowStream::open(&source(text), &options).unwrap();
    let streamed = train_stream(&mut stream, &settings, &Scaler::None, None, &mut ()).unwrap_err();
    assert_eq!(streamed.to_string(), memory);
}

const PERCEPTRONS: [Learner; 3] = [Learner::Perceptron, Learner::Averaged, Learner::Voted];

/// LIBSVM text of several classes, of which some turn up late.
fn libsvm_of_many(seed: u64, rows: usize, classes: u64, from_zero: bool) -> String {
    let mut random = Random::new(seed);
    let base = if from_zero { 0 } else { 1 };
    let mut text = String::new();
    for row in 0..rows {
        // Class c does not turn up before row 3c; numbers in an order that is not that of their digits.
        let met = (row as u64 / 3 + 1).min(classes);
        let class = if row.is_multiple_of(3) { met - 1 } else { random.below(met) };
        text.push_str(["9", "10", "-1", "2.5", "100", "7"][(class as usize + seed as usize) % 6]);
        for column in 0..9 {
            if (row == 0 && column == 0) || random.below(3) == 0 {
                text.push_str(&format!(" {}:{}", column + base, random.normal()));
            }
        }
        text.push('\n');
    }
    text
}

fn open(text: &str) -> RowStream {
    // The end of a text may begin with a row that does not tell its format.
    let options = ReadOptions { format: Some(Format::LIBSVM), online: true, ..ReadOptions::default() };
    RowStream::open(&source(text), &options).unwrap()
}

fn of_one_pass(learner: Learner) -> Settings {
    Settings { learner, epochs: 1, order: Order::Given, ..Settings::default() }
}

fn each(learned: &Learned) -> &[Learned] {
    match learned {
        Learned::Each(each) => each,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Classes that turn up as they come are learned as if they had been known from the start.
    #[test]
    fn many_classes_in_memory_and_as_a_stream(
        seed in 0u64..1 << 40, rows in 20usize..60, classes in 3u64..7, from_zero: bool, first: bool, weighted: bool,
    ) {
        let text = libsvm_of_many(seed, rows, classes, from_zero);
        let data = read(&source(&text), &ReadOptions::default(), &mut ()).unwrap().dataset;
        let shrinking = SgdOptions::scheduled(Loss::Hinge, StepSchedule::Shrinking);
        let shrinking = SgdOptions { l2: 0.01, step: Some(0.1), ..shrinking };
        let weigh = |weight: f64| ClassWeight::Named(vec![(data.classes()[1].clone(), weight)]);
        for learner in PERCEPTRONS.into_iter().chain([
            Learner::Margin(Default::default()),
            Learner::Sgd(shrinking),
            Learner::Sgd(SgdOptions::of(Loss::Log)),
            Learner::PassiveAggressive(Default::default()),
        ]) {
            let mut settings = of_one_pass(learner);
            if first && PERCEPTRONS.contains(&learner) {
                settings.init = Init::First;
            }
            if weighted && matches!(learner, Learner::Perceptron | Learner::Averaged | Learner::Sgd(_)) {
                settings.class_weight = weigh(2.5);
            }
            let memory = train(&data, &settings, &mut ()).unwrap();
            let streamed = train_stream(&mut open(&text), &settings, &Scaler::None, None, &mut ()).unwrap();
            prop_assert_eq!(&streamed.classes, &memory.classes);
            prop_assert_eq!(streamed.status, memory.status);
            prop_assert_eq!(streamed.evidence.updates, memory.evidence.updates);
            prop_assert_eq!(streamed.evidence.extent, memory.evidence.extent);
            prop_assert_eq!(streamed.evidence.margin.upper, memory.evidence.margin.upper);
            prop_assert_eq!(streamed.evidence.nonzeros, memory.evidence.nonzeros);
            for ((a, b), (own, other)) in each(&streamed.learned)
                .iter()
                .zip(each(&memory.learned))
                .zip(streamed.boundaries.iter().zip(&memory.boundaries))
            {
                prop_assert_eq!(a.theta(), b.theta());
                for i in 0..data.len() {
                    prop_assert_eq!(a.score(data.row(i)), b.score(data.row(i)));
                }
                prop_assert_eq!(&own.class, &other.class);
                prop_assert_eq!(own.evidence.updates, other.evidence.updates);
                prop_assert_eq!(own.evidence.margin.upper, other.evidence.margin.upper);
            }
        }
    }

    /// A stream is taken up at a position that the caller vouches for: nothing is read again, and the end is the same.
    #[test]
    fn a_stream_taken_up_where_the_caller_says(
        seed in 0u64..1 << 40, rows in 8usize..60, classes in 1u64..6, from_zero: bool, cut: prop::sample::Index,
    ) {
        let classes = classes + 1;
        let text = libsvm_of_many(seed, rows, classes, from_zero);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let cut = 1 + cut.index(rows - 1);
        let (head, tail) = (lines[..cut].concat(), lines[cut..].concat());
        let multiclass = Learner::Multiclass(MulticlassOptions { combine: Combine::Average });
        for learner in PERCEPTRONS.into_iter().chain([multiclass, Learner::Sgd(SgdOptions::of(Loss::Log))]) {
            let settings = of_one_pass(learner);
            let whole = train_stream(&mut open(&text), &settings, &Scaler::None, None, &mut ()).unwrap();
            let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
            // One class alone is an error at the end, but it has been saved.
            let _ = train_stream(&mut open(&head), &settings, &Scaler::None, None, &mut saver);
            let state = saver.runs.pop().unwrap();
            let (state, position) = State::restore(&state.snapshot("line 17").unwrap()).unwrap();
            prop_assert_eq!(position, "line 17");
            let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
            let resume = Some(Resume::Vouched(state.clone()));
            let vouched = train_stream(&mut open(&tail), &settings, &Scaler::None, resume, &mut saver).unwrap();
            assert_same(&vouched, &whole);
            // By default the rows are read again and compared.
            let checked = Some(Resume::Checked(state.clone()));
            let checked = train_stream(&mut open(&text), &settings, &Scaler::None, checked, &mut ()).unwrap();
            assert_same(&checked, &whole);
            let other = Some(Resume::Checked(state));
            let changed = text.replacen('\n', " 50:1\n", 1);
            let other = train_stream(&mut open(&changed), &settings, &Scaler::None, other, &mut ());
            prop_assert!(other.unwrap_err().to_string().contains("other data"));
            // Rows that were vouched for cannot be compared later.
            let late = Some(Resume::Checked(saver.runs.pop().unwrap()));
            let late = train_stream(&mut open(&text), &settings, &Scaler::None, late, &mut ());
            prop_assert!(late.unwrap_err().to_string().contains("vouched for"));
        }
    }

    /// The multi-class perceptron: one state with its classes known is the run in memory, to the bit.
    #[test]
    fn a_state_that_knows_its_classes_is_the_multiclass_run(seed in 0u64..1 << 40, rows in 6usize..60, average: bool) {
        let text = libsvm_of_many(seed, rows, 4, false);
        let data = read(&source(&text), &ReadOptions::default(), &mut ()).unwrap().dataset;
        let combine = if average { Combine::Average } else { Combine::Last };
        let settings = of_one_pass(Learner::Multiclass(MulticlassOptions { combine }));
        prop_assume!(data.classes().len() > 1);
        let memory = train(&data, &settings, &mut ()).unwrap();
        // Given in any order.
        let names: Vec<&String> = data.classes().iter().rev().collect();
        let mut state = State::with_classes(&settings, &names, 0).unwrap();
        for (i, &label) in data.labels().iter().enumerate() {
            let class = state.class(&data.classes()[label as usize]).unwrap();
            state.learn([Example { row: data.row(i), class, weight: 1.0 }]).unwrap();
        }
        let (a, b) = (state.learned().unwrap(), memory.learned);
        for (a, b) in each(&a).iter().zip(each(&b)) {
            let mut a = a.theta().clone();
            a.widen(data.columns());
            prop_assert_eq!(&a, b.theta());
        }
        prop_assert_eq!(state.evidence().unwrap().updates, memory.evidence.updates);
        prop_assert!(state.class("another").is_err());
    }

    /// Where classes turn up as they come, each takes part from its first row on: against the textbook form, in whole
    /// numbers, so that ties abound.
    #[test]
    fn a_class_takes_part_in_the_multiclass_perceptron_from_its_first_row_on(seed: u64, rows in 4usize..50) {
        let mut random = Random::new(seed);
        let (mut text, mut examples) = (String::new(), Vec::new());
        for row in 0..rows {
            let class = if row < 2 { row as u64 } else { random.below(4) };
            let x: Vec<f64> = (0..2).map(|_| random.below(5) as f64 - 2.0).collect();
            text.push_str(&format!("{class} 1:{} 2:{}\n", x[0], x[1]));
            examples.push((class as usize, [x[0], x[1], 1.0]));
        }
        let settings = of_one_pass(Learner::Multiclass(MulticlassOptions { combine: Combine::Last }));
        let options = ReadOptions { online: true, ..ReadOptions::default() };
        let mut stream = RowStream::open(&source(&text), &options).unwrap();
        let streamed = train_stream(&mut stream, &settings, &Scaler::None, None, &mut ()).unwrap();
        let mut theta = [None::<[f64; 3]>; 4];
        let mut updates = 0;
        for (class, x) in examples {
            theta[class].get_or_insert([0.0; 3]);
            let score = |c: usize| theta[c].map(|w| w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>());
            let mut rival = None;
            for (c, s) in (0..4).filter(|&c| c != class).filter_map(|c| Some((c, score(c)?))) {
                if rival.is_none_or(|(_, best)| s > best) {
                    rival = Some((c, s));
                }
            }
            if let Some((rival, s)) = rival
                && score(class).unwrap() <= s
            {
                updates += 1;
                #[allow(clippy::needless_range_loop, reason = "several arrays are indexed")]
                for j in 0..3 {
                    theta[class].as_mut().unwrap()[j] += x[j];
                    theta[rival].as_mut().unwrap()[j] -= x[j];
                }
            }
        }
        let expected: Vec<[f64; 3]> = theta.into_iter().flatten().collect();
        let found: Vec<[f64; 3]> = each(&streamed.learned)
            .iter()
            .map(|learned| {
                let theta = learned.theta();
                let weight = |j: usize| theta.weights.get(j).copied().unwrap_or(0.0);
                [weight(0), weight(1), theta.bias]
            })
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(streamed.evidence.updates, updates);
    }
}

/// A run of the multi-class perceptron is saved and taken up in memory too.
#[test]
fn a_multiclass_run_taken_up_at_any_pause_ends_as_if_undisturbed() {
    let data = wide(450);
    let settings =
        Settings { learner: Learner::Multiclass(Default::default()), epochs: 3, ..Settings::default() };
    let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
    let whole = train(&data, &settings, &mut saver).unwrap();
    assert!(saver.runs.len() > 4);
    for state in saver.runs {
        let again = State::from_bytes(&state.to_bytes().unwrap()).unwrap();
        assert_same(&resume(again, &data, &settings, &mut ()).unwrap(), &whole);
    }
}

/// A checkpoint of passes over a data set does not tell which classes it has seen: no stream goes on from it.
#[test]
fn a_stream_does_not_take_up_passes_over_a_data_set() {
    let text = libsvm(3, 40, false);
    let settings = of_one_pass(Learner::Averaged);
    let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
    train(&wide(450), &settings, &mut saver).unwrap();
    let begun: Vec<State> = saver.runs.into_iter().filter(|state| state.updates() > 0).collect();
    assert!(!begun.is_empty());
    for state in begun {
        for resumed in [Resume::Checked(state.clone()), Resume::Vouched(state)] {
            let taken = train_stream(&mut open(&text), &settings, &Scaler::None, Some(resumed), &mut ());
            assert!(taken.unwrap_err().to_string().contains("not by a stream"));
        }
    }
}

//! The promise: one by one, in chunks, from a file, from a stream, taken up after a stop, on any number of
//! threads: the same bits.

use linsep::observe::{Observer, Progress};
use linsep::random::Random;
use linsep::read::{ReadOptions, RowStream, Source, read};
use linsep::scale::Scaler;
use linsep::train::{Init, Learner, MistakeRule, OnlineLearner, Order, Run, Task, resume, train_stream};
use linsep::{Dataset, Outcome, Settings, Status, train};
use proptest::prelude::*;
use std::ops::ControlFlow;

const LEARNERS: [Learner; 3] = [Learner::Perceptron, Learner::Averaged, Learner::Voted];

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
        for learner in LEARNERS {
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
            if let linsep::train::Learned::Linear(theta) = &mut learned {
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
    runs: Vec<Run>,
    stop_at: usize,
}

impl Observer for Saver {
    fn saves(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, run: &Run) {
        self.runs.push(run.clone());
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
    for learner in LEARNERS {
        let order = if learner == Learner::Averaged { Order::Given } else { Order::Shuffle };
        let settings = Settings { learner, order, epochs: 4, ..Settings::default() };
        let mut saver = Saver { runs: Vec::new(), stop_at: usize::MAX };
        let whole = train(&data, &settings, &mut saver).unwrap();
        assert!(saver.runs.len() > 5, "the test needs pauses within a pass");
        for run in saver.runs {
            run.save(&file).unwrap();
            let again = resume(Run::load(&file).unwrap(), &data, &settings, &mut ()).unwrap();
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
                data.fingerprint(),
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

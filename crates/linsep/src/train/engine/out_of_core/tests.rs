use super::*;
use crate::generate::{self, FileFormat, Limit, Synthetic};
use crate::observe::Checkpoint;
use crate::read::cache::{Cache, make};
use crate::read::{ReadOptions, Source};
use crate::train::engine::order::Blocks;
use crate::train::settings::{ClassWeight, Order};
use crate::train::{
    Bias, Init, Learner, Loss, MarginRule, PassiveAggressiveOptions, SgdOptions, StepSchedule, resume, train,
};
use crate::{Dataset, Model};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A cache that is gone when the test is over, and its rows in memory.
struct Example {
    path: PathBuf,
    rows: Dataset,
}

impl Example {
    fn new(text: Vec<u8>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("linsep-larger-{}-{number}.linsep", std::process::id()));
        make(&Source::Shared("test".into(), text.into()), &ReadOptions::default(), &path, &mut ()).unwrap();
        let rows = Cache::open(&path).unwrap().rows().unwrap();
        Self { path, rows }
    }

    /// Sparse rows of more than one window.
    fn sparse() -> Self {
        let recipe = Synthetic::Text { features: 2000, per_row: 60.0, noise: 0.02 };
        let mut text = Vec::new();
        generate::write(&recipe, 5, Limit::Rows(45_000), FileFormat::Libsvm, &mut text, &mut ()).unwrap();
        Self::new(text)
    }

    /// Dense rows of more than one window, some of them zero.
    fn dense() -> Self {
        let mut random = crate::random::Random::stream(3, 0);
        let mut text = Vec::new();
        for _ in 0..9000 {
            let mut sum = 0i64;
            for _ in 0..300 {
                let value = random.below(19) as i64 - 9;
                sum += value;
                text.extend_from_slice(format!("{value},").as_bytes());
            }
            let class = if sum > 40 {
                "high"
            } else if sum < -40 {
                "low"
            } else {
                "middle"
            };
            text.extend_from_slice(class.as_bytes());
            text.push(b'\n');
        }
        Self::new(text)
    }

    fn model(&self, outcome: Outcome) -> Vec<u8> {
        let schema = Cache::open(&self.path).unwrap().schema().clone();
        Model::with_recipe(outcome, schema.into(), None).to_bytes().unwrap()
    }

    fn in_memory(&self, settings: &Settings) -> Vec<u8> {
        self.model(train(&self.rows, settings, &mut ()).unwrap())
    }

    fn in_file(&self, settings: &Settings, memory: u64) -> Vec<u8> {
        let data = OutOfCoreData::open(&self.path, memory).unwrap();
        let (outcome, counts) = train_out_of_core(&data, settings, None, &mut ()).unwrap();
        assert!(counts.into_iter().eq(self.rows.class_counts().into_iter().map(|count| count as u64)));
        self.model(outcome)
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn learners() -> Vec<Learner> {
    vec![
        Learner::Perceptron,
        Learner::Averaged,
        Learner::Margin(MarginRule::default()),
        Learner::Sgd(SgdOptions::default()),
        Learner::Sgd(SgdOptions::scheduled(Loss::Hinge, StepSchedule::Shrinking)),
        Learner::PassiveAggressive(PassiveAggressiveOptions::default()),
    ]
}

const PLENTY: u64 = 1 << 30;

#[test]
fn rows_in_a_file_and_in_memory_give_one_model() {
    let sparse = Example::sparse();
    assert!(Blocks::of(&sparse.rows).rows() > 0 && sparse.rows.stored() > 64 << 15, "one window only");
    for learner in learners() {
        for order in [Order::Shuffle, Order::Given, Order::ShuffleOnce] {
            let settings = Settings { learner, order, epochs: 2, seed: 9, ..Settings::default() };
            let expected = sparse.in_memory(&settings);
            assert!(sparse.in_file(&settings, PLENTY) == expected, "{learner:?} {order:?}");
        }
    }
}

#[test]
fn settings_matter_as_they_do_in_memory() {
    let sparse = Example::sparse();
    for settings in [
        Settings { class_weight: ClassWeight::Balanced, ..Settings::default() },
        Settings { class_weight: ClassWeight::Named(vec![("-1".into(), 2.5)]), ..Settings::default() },
        Settings { bias: Bias::None, positive: Some("-1".into()), ..Settings::default() },
        Settings { init: Init::First, ..Settings::default() },
        Settings { max_updates: Some(700), ..Settings::default() },
    ] {
        let settings = Settings { epochs: 2, ..settings };
        assert!(sparse.in_file(&settings, PLENTY) == sparse.in_memory(&settings), "{settings:?}");
    }
}

/// Dense rows with zeros are shuffled as their sparse twins are, in memory and in a file.
#[test]
fn the_order_does_not_depend_on_the_layout() {
    let mut random = crate::random::Random::new(6);
    let (mut table, mut pairs) = (Vec::new(), Vec::new());
    for row in 0..30_000 {
        let class = if row < 2 { row } else { random.below(2) };
        pairs.extend_from_slice(class.to_string().as_bytes());
        for column in 1..=200 {
            // The first row says how many columns there are.
            let value = if row == 0 { 1 } else { (random.below(27) as i64 - 18).max(0) };
            table.extend_from_slice(format!("{value},").as_bytes());
            if value != 0 {
                pairs.extend_from_slice(format!(" {column}:{value}").as_bytes());
            }
        }
        table.extend_from_slice(format!("{class}\n").as_bytes());
        pairs.push(b'\n');
    }
    let (dense, sparse) = (Example::new(table), Example::new(pairs));
    assert_eq!(dense.rows.fingerprint(), sparse.rows.fingerprint());
    assert!(dense.rows.stored() > sparse.rows.stored() && sparse.rows.stored() > 48 << 15);
    let settings = Settings { epochs: 2, ..Settings::default() };
    let expected = train(&sparse.rows, &settings, &mut ()).unwrap().learned;
    for example in [dense, sparse] {
        let data = OutOfCoreData::open(&example.path, PLENTY).unwrap();
        let (outcome, _) = train_out_of_core(&data, &settings, None, &mut ()).unwrap();
        assert!(outcome.learned == expected);
    }
}

#[test]
fn a_weight_for_an_unknown_class_is_the_error_that_it_is_in_memory() {
    let few = Example::new(b"a 1:1\nb 2:1\n".to_vec());
    let data = OutOfCoreData::open(&few.path, PLENTY).unwrap();
    let class_weight = ClassWeight::Named(vec![("c".into(), 2.5)]);
    let settings = Settings { class_weight, ..Settings::default() };
    let expected = train(&few.rows, &settings, &mut ()).unwrap_err().to_string();
    assert_eq!(train_out_of_core(&data, &settings, None, &mut ()).unwrap_err().to_string(), expected);
}

#[test]
fn many_classes_are_each_set_against_the_rest() {
    let dense = Example::dense();
    for order in [Order::Shuffle, Order::Given] {
        let settings = Settings { epochs: 2, order, ..Settings::default() };
        assert!(dense.in_file(&settings, PLENTY) == dense.in_memory(&settings));
    }
}

/// The least memory that a run says it needs is enough for it, with one part, with small parts, and with no less.
#[test]
fn the_limit_decides_how_much_is_read_at_once() {
    let dense = Example::dense();
    for order in [Order::Given, Order::Shuffle] {
        let settings = Settings { epochs: 2, order, positive: Some("low".into()), ..Settings::default() };
        let expected = dense.in_memory(&settings);
        let data = OutOfCoreData::open(&dense.path, 0).unwrap();
        let told = train_out_of_core(&data, &settings, None, &mut ()).unwrap_err().to_string();
        let after = told.split("need ").nth(1).unwrap();
        let megabytes: u64 = after.split(' ').next().unwrap().replace(',', "").parse().unwrap();
        assert_eq!(told.contains("order = given"), order == Order::Shuffle, "{told}");
        for memory in [megabytes, megabytes + 1, megabytes + 5, megabytes + 12, megabytes + 40] {
            assert!(dense.in_file(&settings, memory * 1_000_000) == expected, "{memory} MB");
        }
        let data = OutOfCoreData::open(&dense.path, (megabytes - 1) * 1_000_000).unwrap();
        assert!(train_out_of_core(&data, &settings, None, &mut ()).is_err());
    }
}

/// Keeps the run at one of its pauses.
struct Keeper {
    pauses: usize,
    kept: Option<State>,
}

impl Observer for Keeper {
    fn saves(&self) -> bool {
        true
    }

    fn checkpoint(&mut self, state: &dyn Checkpoint) {
        if self.pauses == 0 {
            self.kept.get_or_insert_with(|| State::from_bytes(&state.to_bytes().unwrap()).unwrap());
        }
        self.pauses = self.pauses.saturating_sub(1);
    }
}

#[test]
fn a_run_is_taken_up_where_it_was_whether_in_memory_or_not() {
    let sparse = Example::sparse();
    let data = OutOfCoreData::open(&sparse.path, PLENTY).unwrap();
    for order in [Order::Shuffle, Order::Given] {
        let settings = Settings { order, epochs: 3, ..Settings::default() };
        let expected = sparse.in_memory(&settings);
        for pauses in [0, 1, 2, 4] {
            let mut keeper = Keeper { pauses, kept: None };
            train_out_of_core(&data, &settings, None, &mut keeper).unwrap();
            let run = keeper.kept.expect("a pause");
            let (outcome, _) = train_out_of_core(&data, &settings, Some(run.clone()), &mut ()).unwrap();
            assert!(sparse.model(outcome) == expected, "from a file after {pauses} pauses");
            let outcome = resume(run, &sparse.rows, &settings, &mut ()).unwrap();
            assert!(sparse.model(outcome) == expected, "in memory after {pauses} pauses");
        }
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let few = Example::new(b"1 1:1\n-1 2:1\n".to_vec());
    let data = OutOfCoreData::open(&few.path, PLENTY).unwrap();
    let refused =
        |settings: Settings| train_out_of_core(&data, &settings, None, &mut ()).unwrap_err().to_string();
    assert!(refused(Settings { learner: Learner::Voted, ..Settings::default() }).contains("not for voted"));
    assert!(
        refused(Settings { learner: Learner::Memoriser, ..Settings::default() })
            .contains("not for memoriser")
    );
    assert!(refused(Settings { positive: Some("7".into()), ..Settings::default() }).contains("\"7\""));
    let one = Example::new(b"1 1:1\n1 2:1\n".to_vec());
    let data = OutOfCoreData::open(&one.path, PLENTY).unwrap();
    assert!(train_out_of_core(&data, &Settings::default(), None, &mut ()).is_err());
    let long = Example::new(b"1 1:1e200\n-1 2:1\n".to_vec());
    let data = OutOfCoreData::open(&long.path, PLENTY).unwrap();
    assert!(matches!(
        train_out_of_core(&data, &Settings::default(), None, &mut ()),
        Err(Error::Lengths { .. })
    ));
    // Damage is found before anything is learned.
    let mut bytes = std::fs::read(&few.path).unwrap();
    for place in [64, 128, 192, 256] {
        bytes[place] ^= 1;
        std::fs::write(&few.path, &bytes).unwrap();
        let trained = OutOfCoreData::open(&few.path, PLENTY)
            .and_then(|data| train_out_of_core(&data, &Settings::default(), None, &mut ()));
        assert!(matches!(trained, Err(Error::Read(_))), "byte {place}");
        bytes[place] ^= 1;
    }
}

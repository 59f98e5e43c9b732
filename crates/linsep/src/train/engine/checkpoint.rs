//! Saving a state so that it can be taken up after a kill at any moment.
//!
//! Every shuffle is a function of the seed and the pass, so a state is its vectors, its ledger and a position.

mod arrays;

pub(crate) use arrays::{get_theta, get_votes, put_theta, put_votes};

use crate::Error;
use crate::classes::class_name;
use crate::observe::Checkpoint;
use crate::store::{self, Opened, StoreError, Tensors};
use crate::theory::margin::Extent;
use crate::theta::Theta;
use crate::train::engine::passes::Cursor;
use crate::train::engine::state::{Forked, Learners, State};
use crate::train::settings::{Init, Settings};
use arrays::{
    LearnerContent, UNSEEN, check_counts, damaged, get_learner, get_together, of_class, put_learner,
    put_together,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

const KIND: &str = "checkpoint";

/// No run gets this far: centuries of a billion examples in each second.
pub(crate) const MAX: u64 = 1 << 62;

/// A checkpoint that cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file is not a whole checkpoint.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its parts do not fit together.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
    /// It was made on other data.
    #[error("the checkpoint was made on other data, or the data was read with other options")]
    OtherData,
    /// It was made with other settings.
    #[error("the checkpoint was made with another {what}: {then} then, {now} now")]
    OtherSettings {
        /// Which setting.
        what: &'static str,
        /// In the checkpoint.
        then: String,
        /// In this run.
        now: String,
    },
    /// Its first rows were vouched for, so they cannot be compared.
    #[error(
        "the first {rows} rows of the checkpoint were vouched for, not read: take it up at its position, not from the \
         beginning"
    )]
    Vouched {
        /// How many rows.
        rows: u64,
    },
    /// It is to go on as a stream, and was none.
    #[error("the checkpoint was made by passes over a data set, not by a stream")]
    NotAStream,
}

/// What a checkpoint holds beside its arrays.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    settings: Cow<'a, Settings>,
    cursor: Cursor,
    data: String,
    /// Of the one learner, or of the multi-class perceptron; for many boundaries it says nothing.
    #[serde(flatten)]
    learner: LearnerContent,
    /// Of shards only.
    shard_updates: Vec<u64>,
    /// Of rows that came with their classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes_seen: Option<Box<SeenContent<'a>>>,
    /// Of a snapshot only: what the caller calls the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<String>,
}

/// Statistics of the rows seen so far.
#[derive(Serialize, Deserialize)]
struct SeenContent<'a> {
    names: Cow<'a, [String]>,
    closed: bool,
    extent: Extent,
    nonzeros: u64,
    most_stored: u64,
    wrong: u64,
    first_column: bool,
    vouched: u64,
    forked: Option<Forked>,
    /// The learner of classes that have not turned up.
    unseen: Option<LearnerContent>,
    /// The learners of each class against the rest, where there are such.
    each: Vec<LearnerContent>,
}

impl State {
    /// Saves the state, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.check_data()?;
        store::write_atomically(path, |out| {
            let (tensors, content) = self.parts(None);
            tensors.write(KIND, &content, out)
        })
    }

    /// The bytes of the state's file, which is taken up on the same data.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        self.check_data()?;
        self.bytes(None)
    }

    fn check_data(&self) -> Result<(), StoreError> {
        if self.data.is_empty() {
            let reason =
                "the run does not know its data, because its observer did not say that it saves".to_string();
            return Err(StoreError::Damaged(reason));
        }
        Ok(())
    }

    /// The bytes of the state at a position that the caller names, in any words: whoever [restores](Self::restore) the
    /// state is told the position, and vouches for going on from there.
    pub fn snapshot(&self, position: &str) -> Result<Vec<u8>, StoreError> {
        self.bytes(Some(position.to_string()))
    }

    /// Identifies the state by everything that it holds: states that began differently, or learned from other rows, have
    /// other digests.
    pub(crate) fn digest(&self) -> std::io::Result<String> {
        let (tensors, content) = self.parts(Some(String::new()));
        let mut hasher = blake3::Hasher::new();
        tensors.write(KIND, &content, &mut hasher)?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn bytes(&self, position: Option<String>) -> Result<Vec<u8>, StoreError> {
        let (tensors, content) = self.parts(position);
        tensors.into_bytes(KIND, &content)
    }

    /// The arrays of the state's file, and the rest of it.
    fn parts(&self, position: Option<String>) -> (Tensors<'_>, Content<'_>) {
        let mut tensors = Tensors::default();
        let (learner, each) = match &self.learners {
            Learners::Two(learner) => (put_learner(&mut tensors, "", learner), Vec::new()),
            Learners::Together(learner) => (put_together(&mut tensors, learner), Vec::new()),
            Learners::Each(own) => {
                let own = own.iter().enumerate();
                let each = own.map(|(class, own)| put_learner(&mut tensors, &of_class(class), own)).collect();
                (LearnerContent::none(), each)
            }
        };
        let seen = &self.seen;
        let unseen = seen.unseen.as_deref().map(|rest| put_learner(&mut tensors, UNSEEN, rest));
        let content = Content {
            settings: Cow::Borrowed(&self.settings),
            cursor: self.cursor,
            data: self.data.clone(),
            learner,
            shard_updates: self.shard_updates.clone(),
            classes_seen: (!seen.names.is_empty() || seen.forked.is_some()).then(|| {
                Box::new(SeenContent {
                    names: Cow::Borrowed(&seen.names),
                    closed: seen.closed,
                    extent: seen.extent,
                    nonzeros: seen.nonzeros,
                    most_stored: seen.most_stored as u64,
                    wrong: seen.wrong,
                    first_column: seen.first_column,
                    vouched: seen.vouched,
                    forked: seen.forked.clone(),
                    unseen,
                    each,
                })
            }),
            position,
        };
        (tensors, content)
    }

    /// Opens a saved state.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self::of_file(Opened::load(path, KIND)?)?)
    }

    /// Opens a saved state from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::of_file(Opened::open(bytes, KIND)?)
    }

    fn of_file(opened: Opened<'_, Content<'static>>) -> Result<Self, CheckpointError> {
        let (state, _) = Self::open(opened)?;
        match state.data.is_empty() {
            true => Err(damaged("it does not know its data: it is a snapshot, which has a position instead")),
            false => Ok(state),
        }
    }

    /// The state of a [snapshot](Self::snapshot), and the position that it was made at.
    pub fn restore(bytes: &[u8]) -> Result<(Self, String), CheckpointError> {
        let (mut state, position) = Self::open(Opened::open(bytes, KIND)?)?;
        let position = position.ok_or_else(|| damaged("it is no snapshot: it has no position"))?;
        state.expect_rows(state.seen.extent.radius_upper, state.seen.most_stored);
        Ok((state, position))
    }

    fn open(opened: Opened<'_, Content<'static>>) -> Result<(Self, Option<String>), CheckpointError> {
        let content = &opened.content;
        let mut settings = content.settings.clone().into_owned();
        if !settings.learner.is_online() {
            return Err(damaged("its learner does not go row by row"));
        }
        // A run in shards is saved between passes; forks that the caller merges are states of their own.
        let within_pass =
            settings.shards > 1 && content.cursor.position > 0 && content.classes_seen.is_none();
        if content.shard_updates.len() > settings.shards || within_pass {
            return Err(damaged("its shards do not fit together"));
        }
        let Cursor { epoch, position, pass_updates, .. } = content.cursor;
        check_counts([epoch, position, pass_updates].iter().chain(&content.shard_updates))?;
        if let Init::Warm(_) = settings.init {
            settings.init = Init::Warm(get_theta(&opened, "start", &settings)?);
        }
        settings.validate().map_err(|error| damaged(&error.to_string()))?;
        let seen = content.classes_seen.as_deref();
        let learners = match (settings.learner.is_together(), seen) {
            (true, _) => Learners::Together(get_together(&opened, &settings)?),
            (_, Some(seen)) if !seen.each.is_empty() => {
                let own = seen.each.iter().enumerate();
                let own = own.map(|(class, own)| get_learner(&opened, &of_class(class), own, &settings));
                Learners::Each(own.collect::<Result<_, _>>()?)
            }
            _ => Learners::Two(get_learner(&opened, "", &content.learner, &settings)?),
        };
        let mut state = State::begin(&settings, learners, content.data.clone());
        state.cursor = content.cursor;
        state.shard_updates = content.shard_updates.clone();
        if let Some(seen) = seen {
            state.take_seen(seen)?;
            if let Some(rest) = &seen.unseen {
                let rest = get_learner(&opened, UNSEEN, rest, &settings)?;
                state.seen.unseen = Some(Box::new(rest));
            }
        }
        let fits = match &state.learners {
            Learners::Two(_) => true,
            Learners::Each(own) => own.len() == state.seen.names.len() && settings.positive.is_none(),
            Learners::Together(learner) => seen.is_none() || learner.thetas.len() == state.seen.names.len(),
        };
        // A class that turns up later takes a copy of the learner that is kept for it.
        let lacks_rest = !state.seen.closed && state.seen.unseen.is_none();
        if !fits || matches!(state.learners, Learners::Each(_)) && lacks_rest {
            return Err(damaged("its classes do not fit its learners"));
        }
        Ok((state, content.position.clone()))
    }

    /// Takes over what is known of the rows that came with their classes.
    fn take_seen(&mut self, content: &SeenContent<'_>) -> Result<(), CheckpointError> {
        let counts = [content.nonzeros, content.most_stored, content.wrong, content.vouched];
        check_counts(counts.iter())?;
        if content.vouched > self.cursor.position {
            return Err(damaged("it counts rows that it has not seen"));
        }
        for name in content.names.iter() {
            let proper = class_name(name).as_ref() == Some(name) && !self.seen.numbers.contains_key(name);
            if !proper {
                return Err(damaged("its classes are not those of a data set"));
            }
            self.enter(name.clone());
        }
        let many = self.settings.positive.is_none() && content.names.len() > 2;
        if many && content.each.is_empty() && !matches!(self.learners, Learners::Together(_)) {
            return Err(damaged("its classes do not fit its learners"));
        }
        self.seen.closed = content.closed;
        self.seen.extent = content.extent;
        self.seen.nonzeros = content.nonzeros;
        self.seen.most_stored = content.most_stored as usize;
        self.seen.wrong = content.wrong;
        self.seen.first_column = content.first_column;
        self.seen.vouched = content.vouched;
        self.seen.forked = content.forked.clone();
        Ok(())
    }

    /// Makes the state go on with `settings`, which may differ in their limits only.
    pub(crate) fn adopt(
        &mut self,
        settings: &Settings,
        columns: usize,
        data: &str,
    ) -> Result<(), CheckpointError> {
        self.check_settings(settings)?;
        if self.data != data || self.columns() < columns {
            return Err(CheckpointError::OtherData);
        }
        self.settings.epochs = settings.epochs;
        self.settings.max_updates = settings.max_updates;
        self.settings.max_seconds = settings.max_seconds;
        Ok(())
    }

    pub(crate) fn check_settings(&self, settings: &Settings) -> Result<(), CheckpointError> {
        fn name<T: Serialize>(value: &T) -> String {
            serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_string()
        }
        let (a, b) = (&self.settings, settings);
        for (what, then, now) in [
            ("learner", name(&a.learner), name(&b.learner)),
            ("order", name(&a.order), name(&b.order)),
            ("seed", name(&a.seed), name(&b.seed)),
            ("bias", name(&a.bias), name(&b.bias)),
            ("start", name(&a.init), name(&b.init)),
            ("mistake rule", name(&a.mistake), name(&b.mistake)),
            ("positive class", name(&a.positive), name(&b.positive)),
            ("class weight", name(&a.class_weight), name(&b.class_weight)),
            ("number of shards", name(&a.shards), name(&b.shards)),
            ("mixing", name(&a.mixing), name(&b.mixing)),
        ] {
            if then != now {
                return Err(CheckpointError::OtherSettings { what, then, now });
            }
        }
        if let (Init::Warm(then), Init::Warm(now)) = (&a.init, &b.init)
            && !same_start(then, now)
        {
            let (then, now) = ("one model".to_string(), "another".to_string());
            return Err(CheckpointError::OtherSettings { what: "start", then, now });
        }
        Ok(())
    }
}

/// Whether two starts are the same, up to features that only one of them has room for.
fn same_start(a: &Theta, b: &Theta) -> bool {
    let weight = |theta: &Theta, j: usize| theta.weights.get(j).copied().unwrap_or(0.0);
    let columns = a.weights.len().max(b.weights.len());
    a.bias == b.bias && (0..columns).all(|j| weight(a, j) == weight(b, j))
}

impl Checkpoint for State {
    fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        State::to_bytes(self)
    }

    fn save(&self, path: &Path) -> Result<(), Error> {
        State::save(self, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::observe::{Observer, Progress};
    use crate::random::Random;
    use crate::store::mutation::mutations;
    use crate::train::{Bias, Learner, Mixing, Order, resume};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    /// Keeps what the run would have saved, and stops after a number of pauses.
    #[derive(Default)]
    struct Keep {
        runs: Vec<State>,
        pauses: usize,
    }

    impl Observer for Keep {
        fn saves(&self) -> bool {
            true
        }

        fn checkpoint(&mut self, state: &dyn Checkpoint) {
            self.runs.push(State::from_bytes(&state.to_bytes().unwrap()).unwrap());
        }

        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            self.pauses = self.pauses.saturating_sub(1);
            if self.pauses == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    fn rows(seed: u64) -> Dataset {
        let mut random = Random::new(seed);
        let values: Vec<f64> = (0..120).map(|_| random.below(2000) as f64 / 7.0 - 140.0).collect();
        let labels: Vec<&str> = (0..40).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        Dataset::dense(3, &values, &labels).unwrap()
    }

    fn shrinking(l2: f64) -> crate::train::SgdOptions {
        use crate::train::{Loss, SgdOptions, StepSchedule};
        SgdOptions { l2, ..SgdOptions::scheduled(Loss::Hinge, StepSchedule::Shrinking) }
    }

    /// Settings of any learner, order and start.
    fn any_settings() -> impl Strategy<Value = Settings> {
        let learners = prop_oneof![
            Just(Learner::Perceptron),
            Just(Learner::Averaged),
            Just(Learner::Voted),
            Just(Learner::Margin(crate::train::MarginRule::Fixed { beta: 0.1 })),
            Just(Learner::Sgd(Default::default())),
            Just(Learner::Sgd(shrinking(0.01))),
            Just(Learner::PassiveAggressive(Default::default())),
        ];
        let orders = prop_oneof![Just(Order::Given), Just(Order::ShuffleOnce), Just(Order::Shuffle)];
        let inits = prop_oneof![
            Just(Init::Zero),
            Just(Init::First),
            Just(Init::Warm(Theta { weights: vec![0.5, -1.0 / 3.0, 2.0], bias: 0.1, bias_input: 1.0 })),
        ];
        (learners, orders, inits, any::<u64>(), 2u64..9).prop_map(|(learner, order, init, seed, epochs)| {
            let own_steps = matches!(learner, Learner::Sgd(_) | Learner::PassiveAggressive(_));
            let init = if own_steps && init == Init::First { Init::Zero } else { init };
            let mixed = matches!(learner, Learner::Perceptron | Learner::Averaged) && init != Init::First;
            let shards = if mixed { 1 + seed as usize % 4 } else { 1 };
            let mixing = if seed % 8 < 4 { Mixing::Updates } else { Mixing::Uniform };
            let bias = Bias::Append(1.0);
            Settings { learner, order, init, seed, epochs, bias, shards, mixing, ..Settings::default() }
        })
    }

    /// The run as it stood at its last pause.
    fn stopped(data: &Dataset, settings: &Settings, pauses: usize) -> State {
        let mut keep = Keep { pauses, ..Keep::default() };
        crate::train(data, settings, &mut keep).unwrap();
        keep.runs.pop().unwrap()
    }

    proptest! {
        #[test]
        fn a_run_comes_back_as_it_was(seed: u64, settings in any_settings(), pauses in 1usize..9) {
            let data = rows(seed);
            let run = stopped(&data, &settings, pauses);
            let bytes = run.to_bytes().unwrap();
            let again = State::from_bytes(&bytes).unwrap();
            prop_assert_eq!(again.to_bytes().unwrap(), bytes);
            let undisturbed = crate::train(&data, &settings, &mut ()).unwrap();
            let resumed = resume(again, &data, &settings, &mut ()).unwrap();
            prop_assert_eq!(resumed.learned, undisturbed.learned);
            prop_assert_eq!(resumed.evidence, undisturbed.evidence);
        }

        #[test]
        fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(State::from_bytes(&bytes).is_err());
        }
    }

    proptest! {
        // Most damage is an error.
        #![proptest_config(ProptestConfig { cases: 32, max_global_rejects: 3000, ..ProptestConfig::default() })]

        #[test]
        fn a_damaged_run_is_an_error_or_still_one(
            seed: u64,
            settings in any_settings(),
            pauses in 1usize..5,
            mutations in mutations(),
        ) {
            let data = rows(seed);
            let mut bytes = stopped(&data, &settings, pauses).to_bytes().unwrap();
            mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
            let run = State::from_bytes(&bytes);
            prop_assume!(run.is_ok());
            let run = run.unwrap();
            State::from_bytes(&run.to_bytes().unwrap()).unwrap();
            let settings = Settings { epochs: 9, max_updates: Some(10_000), ..run.settings().clone() };
            let _ = resume(run, &data, &settings, &mut ());
        }
    }
}

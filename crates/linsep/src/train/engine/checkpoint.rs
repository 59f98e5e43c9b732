//! Saving a run so that it can be taken up after a kill at any moment.
//!
//! Every shuffle is a function of the seed and the pass, so a run is its vectors, its ledger and a position.

use crate::Error;
use crate::store::{self, Opened, StoreError, Tensors};
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::online::{Core, Memory, OnlineLearner};
use crate::train::engine::passes::Cursor;
use crate::train::engine::run::Run;
use crate::train::learners::Combine;
use crate::train::learners::averaged::Average;
use crate::train::learners::voted::Votes;
use crate::train::settings::{Init, Settings};
use serde::{Deserialize, Serialize};
use std::path::Path;

const KIND: &str = "checkpoint";

/// No run gets this far: centuries of a billion examples in each second.
const MOST: u64 = 1 << 62;

/// A checkpoint that cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file is not a whole checkpoint.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its parts do not fit together.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
    /// It speaks of other data.
    #[error("the checkpoint was made on other data, or the data was read differently")]
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
}

/// What a checkpoint holds beside its arrays.
#[derive(Serialize, Deserialize)]
struct Content {
    settings: Settings,
    #[serde(rename = "course")]
    cursor: Cursor,
    updates: u64,
    data: String,
    ledger: MistakeLedger,
    awaits_first: bool,
    seen: u64,
    mass: f64,
    #[serde(rename = "put_by")]
    flushed_sum: bool,
    /// Of gradient descent only.
    descent: Option<Descent>,
    /// Of shards only.
    #[serde(default)]
    shard_updates: Vec<u64>,
}

/// Where gradient descent stands beside its vectors.
#[derive(Serialize, Deserialize)]
struct Descent {
    scale: f64,
    seen: u64,
    step: f64,
}

impl Run {
    /// Saves the run, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.to_bytes()?;
        store::write_atomically(path, |out| out.write_all(&bytes))
    }

    /// The bytes of the run's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        if self.data.is_empty() {
            let reason =
                "the run does not know its data, because its observer did not say that it saves".to_string();
            return Err(StoreError::Damaged(reason));
        }
        let mut tensors = Tensors::default();
        put_theta(&mut tensors, "theta", self.learner.theta());
        if let Some(start) = &self.learner.start {
            put_theta(&mut tensors, "start", start);
        }
        let (mut seen, mut mass) = (0, 0.0);
        match &self.learner.memory {
            Memory::Nothing => {}
            Memory::Average(average) => {
                put_theta(&mut tensors, "late", &average.late);
                (seen, mass) = (average.seen, average.mass);
                if let Some(sum) = &average.flushed_sum {
                    put_theta(&mut tensors, "put_by", sum);
                }
            }
            Memory::Votes(votes) => {
                put_votes(&mut tensors, "votes", votes);
                let (keys, rows): (Vec<u32>, Vec<u32>) = votes.keys().into_iter().unzip();
                tensors.put_u32("votes.keys", &keys);
                tensors.put_u32("votes.key_rows", &rows);
            }
        }
        let content = Content {
            settings: self.settings.clone(),
            cursor: self.cursor,
            updates: self.learner.updates(),
            data: self.data.clone(),
            ledger: self.learner.ledger,
            awaits_first: self.learner.awaits_first,
            seen,
            mass,
            flushed_sum: matches!(&self.learner.memory, Memory::Average(average) if average.flushed_sum.is_some()),
            descent: match &self.learner.core {
                Core::Sgd(sgd) => Some(Descent { scale: sgd.scale, seen: sgd.seen, step: sgd.step }),
                _ => None,
            },
            shard_updates: self.shard_updates.clone(),
        };
        tensors.to_bytes(KIND, &content)
    }

    /// Opens a saved run.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Ok(Self::from_bytes(&store::read_file(path)?)?)
    }

    /// Opens a saved run from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let opened: Opened<'_, Content> = Opened::open(bytes, KIND)?;
        let content = &opened.content;
        let mut settings = content.settings.clone();
        let damaged = |what: &str| CheckpointError::Damaged(what.to_string());
        let theta = get_theta(&opened, "theta", &settings)?;
        let columns = theta.weights.len();
        let start = match settings.init {
            Init::Warm(_) => Some(get_theta(&opened, "start", &settings)?),
            _ => None,
        };
        if !settings.learner.is_online() {
            return Err(damaged("its learner does not go row by row"));
        }
        let memory = match Memory::kind(&settings.learner) {
            Combine::Last => Memory::Nothing,
            Combine::Average => {
                let late = get_theta(&opened, "late", &settings)?;
                let flushed_sum =
                    content.flushed_sum.then(|| get_theta(&opened, "put_by", &settings)).transpose()?;
                Memory::Average(Average { late, seen: content.seen, mass: content.mass, flushed_sum })
            }
            Combine::Vote => {
                let mut votes = get_votes(&opened, "votes")?;
                let (keys, rows) = (opened.u32s("votes.keys")?, opened.u32s("votes.key_rows")?);
                votes.set_keys(keys.into_iter().zip(rows));
                if !votes.is_consistent(columns) || votes.sequence.len() as u64 != content.updates {
                    return Err(damaged("its votes do not fit together"));
                }
                Memory::Votes(votes)
            }
        };
        let survivals = match &memory {
            Memory::Votes(votes) => votes.survivals.as_slice(),
            _ => &[],
        };
        let counts = [
            content.cursor.epoch,
            content.cursor.position,
            content.cursor.pass_updates,
            content.updates,
            content.seen,
            content.ledger.updates(),
        ];
        if counts.iter().chain(survivals).chain(&content.shard_updates).any(|&count| count > MOST) {
            return Err(damaged("it counts further than a run can get"));
        }
        // Shards are saved between passes.
        if content.shard_updates.len() > settings.shards || settings.shards > 1 && content.cursor.position > 0
        {
            return Err(damaged("its shards do not fit together"));
        }
        let same_width = |theta: &Theta| theta.weights.len() == columns;
        let sums_fit = match &memory {
            Memory::Average(average) => {
                same_width(&average.late) && average.flushed_sum.as_ref().is_none_or(same_width)
            }
            _ => true,
        };
        if !sums_fit || start.as_ref().is_some_and(|start| !same_width(start)) {
            return Err(damaged("its vectors differ in length"));
        }
        if let Some(start) = &start {
            settings.init = Init::Warm(start.clone());
        }
        settings.validate().map_err(|error| damaged(&error.to_string()))?;
        // The radius matters for the first step of descent only, which is written down.
        let mut core = Core::new(&settings, theta, Some(1.0)).map_err(|error| damaged(&error.to_string()))?;
        core.set_updates(content.updates);
        if let Core::Sgd(sgd) = &mut core {
            let descent = content.descent.as_ref().ok_or_else(|| damaged("it does not know its step"))?;
            let sane = |x: f64| x > 0.0 && x.is_finite();
            if !sane(descent.scale) || !sane(descent.step) || descent.seen > MOST {
                return Err(damaged("its step makes no sense"));
            }
            (sgd.scale, sgd.seen, sgd.step) = (descent.scale, descent.seen, descent.step);
        }
        Ok(Self {
            learner: OnlineLearner::from_parts(core, memory, content.ledger, start, content.awaits_first),
            cursor: content.cursor,
            data: content.data.clone(),
            shard_updates: content.shard_updates.clone(),
            settings,
        })
    }

    /// Makes the run go on with `settings`, which may differ in their limits only.
    pub(crate) fn adopt(
        &mut self,
        settings: &Settings,
        columns: usize,
        data: &str,
    ) -> Result<(), CheckpointError> {
        self.check_settings(settings)?;
        if self.data != data || self.learner.theta().weights.len() < columns {
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

pub(crate) fn put_theta(tensors: &mut Tensors, name: &str, theta: &Theta) {
    tensors.put_f64(&format!("{name}.weights"), &theta.weights);
    tensors.put_f64(&format!("{name}.bias"), &[theta.bias]);
}

pub(crate) fn get_theta<T: serde::de::DeserializeOwned>(
    opened: &Opened<'_, T>,
    name: &str,
    settings: &Settings,
) -> Result<Theta, StoreError> {
    let weights = opened.f64s(&format!("{name}.weights"))?;
    let bias = match opened.f64s(&format!("{name}.bias"))?.as_slice() {
        [bias] => *bias,
        _ => return Err(StoreError::Damaged(format!("{name} must have one bias"))),
    };
    let theta = Theta { weights, bias, bias_input: settings.bias.input() };
    if !theta.is_finite() {
        return Err(StoreError::Damaged(format!("{name} has weights that are not finite")));
    }
    Ok(theta)
}

pub(crate) fn put_votes(tensors: &mut Tensors, name: &str, votes: &Votes) {
    let offsets: Vec<u64> = votes.offsets.iter().map(|&offset| offset as u64).collect();
    let (rows, signs): (Vec<u32>, Vec<i8>) = votes.sequence.iter().copied().unzip();
    tensors.put_u64(&format!("{name}.offsets"), &offsets);
    tensors.put_u32(&format!("{name}.indices"), &votes.indices);
    tensors.put_f64(&format!("{name}.values"), &votes.values);
    tensors.put_u32(&format!("{name}.rows"), &rows);
    tensors.put_i8(&format!("{name}.signs"), &signs);
    tensors.put_u64(&format!("{name}.survivals"), &votes.survivals);
}

pub(crate) fn get_votes<T: serde::de::DeserializeOwned>(
    opened: &Opened<'_, T>,
    name: &str,
) -> Result<Votes, StoreError> {
    let (rows, signs) = (opened.u32s(&format!("{name}.rows"))?, opened.i8s(&format!("{name}.signs"))?);
    if rows.len() != signs.len() {
        return Err(StoreError::Damaged("the votes have rows without signs".to_string()));
    }
    let mut votes = Votes::new();
    votes.offsets = opened
        .u64s(&format!("{name}.offsets"))?
        .into_iter()
        .map(|offset| usize::try_from(offset).unwrap_or(usize::MAX))
        .collect();
    votes.indices = opened.u32s(&format!("{name}.indices"))?;
    votes.values = opened.f64s(&format!("{name}.values"))?;
    votes.sequence = rows.into_iter().zip(signs).collect();
    votes.survivals = opened.u64s(&format!("{name}.survivals"))?;
    Ok(votes)
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
        runs: Vec<Run>,
        pauses: usize,
    }

    impl Observer for Keep {
        fn saves(&self) -> bool {
            true
        }

        fn checkpoint(&mut self, run: &Run) {
            self.runs.push(run.clone());
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

    /// Settings of any learner, order and start.
    fn any_settings() -> impl Strategy<Value = Settings> {
        let learners = prop_oneof![
            Just(Learner::Perceptron),
            Just(Learner::Averaged),
            Just(Learner::Voted),
            Just(Learner::Margin(crate::train::MarginRule::Fixed { beta: 0.1 })),
            Just(Learner::Sgd(crate::train::SgdOptions { l2: 0.01, ..Default::default() })),
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
    fn stopped(data: &Dataset, settings: &Settings, pauses: usize) -> Run {
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
            let again = Run::from_bytes(&bytes).unwrap();
            prop_assert_eq!(again.to_bytes().unwrap(), bytes);
            let undisturbed = crate::train(&data, &settings, &mut ()).unwrap();
            let resumed = resume(again, &data, &settings, &mut ()).unwrap();
            prop_assert_eq!(resumed.learned, undisturbed.learned);
            prop_assert_eq!(resumed.evidence, undisturbed.evidence);
        }

        #[test]
        fn any_bytes_are_an_error_or_a_run(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Run::from_bytes(&bytes);
        }

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
            if let Ok(run) = Run::from_bytes(&bytes) {
                Run::from_bytes(&run.to_bytes().unwrap()).unwrap();
                let settings = Settings { epochs: 9, max_updates: Some(10_000), ..run.settings().clone() };
                let _ = resume(run, &data, &settings, &mut ());
            }
        }
    }
}

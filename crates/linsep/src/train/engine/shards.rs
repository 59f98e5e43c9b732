//! Shards: several perceptrons at once, each on some of the rows, mixed after every pass.
//!
//! [`mixing`](crate::theory::mixing) has the theorem. The rows are dealt once: blocks of neighbouring rows, which are
//! fast to read, in a random order of the seed, so that rows sorted by class, or classes that take turns, give no shard one
//! class alone. Shards, their orders and the sums of the mixture depend on the settings and the shape of
//! the data only: any number of threads gives the same bits.

use crate::SettingsError;
use crate::dataset::Dataset;
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::observe::{Observer, Progress};
use crate::random::{Random, Stream};
use crate::train::engine::evidence::Detail;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::{Blocks, Pass, Window};
use crate::train::engine::run::{Status, Task, pause_after};
use crate::train::engine::state::{Learners, State};
use crate::train::settings::Settings;
use rayon::prelude::*;
use std::time::Instant;

/// Blocks that a shard has at least, where there are enough rows: with few blocks, a shard could miss a whole group of
/// neighbouring rows.
const BLOCKS_EACH: usize = 16;

/// A part of the rows, and the learner that goes through it.
struct Shard {
    rows: Rows,
    blocks: Blocks,
    seed: u64,
    learner: OnlineLearner,
    pass: Pass,
    window: Window,
    position: usize,
    /// Updates made in this pass.
    updates: u64,
}

/// Which rows belong to a shard: blocks of 2^`bits`, in the order in which they stand.
struct Rows {
    blocks: Vec<u32>,
    bits: u32,
}

impl Rows {
    /// The row at a place of the shard.
    #[inline(always)]
    fn at(&self, place: usize) -> usize {
        (self.blocks[place >> self.bits] as usize) << self.bits | (place & ((1 << self.bits) - 1))
    }

    /// How many of `rows` rows belong to the shard.
    fn count(&self, rows: usize) -> usize {
        let size = 1 << self.bits;
        self.blocks.iter().map(|&block| size.min(rows - block as usize * size)).sum()
    }
}

/// Deals rows that stand in these blocks into at most `shards` parts, none of them empty.
fn deal(blocks: Blocks, shards: usize, seed: u64) -> Vec<Rows> {
    let rows = blocks.rows();
    let shards = shards.min(rows).max(1);
    let bits = (rows / (shards * BLOCKS_EACH)).clamp(1, blocks.size()).ilog2();
    let mut numbers: Vec<u32> = (0..rows.div_ceil(1 << bits) as u32).collect();
    Random::of(seed, Stream::Dealing).shuffle(&mut numbers);
    (0..shards)
        .map(|shard| {
            let mut blocks: Vec<u32> = numbers.iter().skip(shard).step_by(shards).copied().collect();
            blocks.sort_unstable();
            Rows { blocks, bits }
        })
        .collect()
}

impl Shard {
    fn new(rows: Rows, number: usize, blocks: Blocks, settings: &Settings, common: &OnlineLearner) -> Self {
        let seed = shard_seed(number, settings.seed);
        let blocks = blocks.with_rows(rows.count(blocks.rows()));
        let pass = Pass::seeded(settings.order, seed, 0, blocks);
        let mut learner = common.clone();
        // The start is kept once, by the mixture.
        learner.start = None;
        Self { rows, blocks, seed, learner, pass, window: Window::empty(), position: 0, updates: 0 }
    }

    /// Begins a pass where the mixture stands.
    fn begin(&mut self, common: &OnlineLearner, settings: &Settings, epoch: u64) {
        self.learner.follow(common);
        self.pass = Pass::seeded(settings.order, self.seed, epoch, self.blocks);
        self.window = Window::empty();
        (self.position, self.updates) = (0, 0);
    }

    /// Learns from the next rows, at most so many.
    fn advance(&mut self, task: &Task<'_>, rows: usize) {
        let end = self.blocks.rows().min(self.position + rows);
        while self.position < end {
            if self.position == self.window.end() {
                self.window = self.pass.window(self.position);
            }
            for position in self.position..end.min(self.window.end()) {
                if let Some(next) = self.window.ahead(position) {
                    task.data.row(self.rows.at(next)).prefetch();
                }
                let i = self.rows.at(self.window.at(position));
                let applied =
                    self.learner.learn_expected(task.data.row(i), task.signs[i], task.weight(i), None);
                self.updates += u64::from(applied.is_some());
            }
            self.position = end.min(self.window.end());
        }
    }
}

/// The rows of each shard in the order in which pass `epoch` (from 0) goes through them: what a run in shards does by
/// itself. Other processes can do the same with [forks](State::fork) of a state, each learning the rows of one shard, and
/// [merging](State::merge) them in this order after the pass.
pub fn shard_orders(data: &Dataset, settings: &Settings, epoch: u64) -> Result<Vec<Vec<u32>>, SettingsError> {
    settings.validate()?;
    let blocks = Blocks::of(data);
    let orders =
        deal(blocks, settings.shards, settings.seed).into_iter().enumerate().map(|(number, rows)| {
            let blocks = blocks.with_rows(rows.count(blocks.rows()));
            let pass = Pass::seeded(settings.order, shard_seed(number, settings.seed), epoch, blocks);
            let mut order = Vec::with_capacity(blocks.rows());
            while order.len() < blocks.rows() {
                let window = pass.window(order.len());
                order.extend((order.len()..window.end()).map(|position| rows.at(window.at(position)) as u32));
            }
            order
        });
    Ok(orders.collect())
}

/// The seed of the orders of a shard.
fn shard_seed(number: usize, seed: u64) -> u64 {
    match number {
        0 => seed,
        _ => Random::of(seed, Stream::Shard(number as u32)).next_u64(),
    }
}

/// Goes on until a pass without a mistake in any shard, or until a limit of the settings. The observer is heard, and limits are
/// looked at, whenever all shards have gone through some rows: so the limit of updates can be passed by a little. A run that is
/// stopped within a pass mixes what its shards have; one that is saved within a pass is saved as the pass began.
pub(in crate::train) fn passes(state: &mut State, task: &Task<'_>, observer: &mut dyn Observer) -> Status {
    let settings = state.settings.clone();
    let blocks = Blocks::of(task.data);
    let Learners::Two(common) = &state.learners else { return Status::Converged };
    let mut shards: Vec<Shard> = deal(blocks, settings.shards, settings.seed)
        .into_iter()
        .enumerate()
        .map(|(number, rows)| Shard::new(rows, number, blocks, &settings, common))
        .collect();
    state.shard_updates.resize(shards.len(), 0);
    let (clock, spent) = (Instant::now(), state.cursor.seconds);
    observer.checkpoint(state);
    while state.cursor.epoch < settings.epochs {
        let epoch = state.cursor.epoch;
        let Learners::Two(common) = &state.learners else { break };
        shards.par_iter_mut().for_each(|shard| shard.begin(common, &settings, epoch));
        let stopped = pass(state, task, &mut shards, || spent + clock.elapsed().as_secs_f64(), observer);
        let Learners::Two(common) = &mut state.learners else { break };
        common.mix(&shards.iter().map(|shard| &shard.learner).collect::<Vec<_>>(), settings.mixing);
        let mut quiet = true;
        for (all, shard) in state.shard_updates.iter_mut().zip(&shards) {
            *all += shard.updates;
            quiet &= shard.updates == 0;
        }
        if let Some(status) = stopped {
            state.cursor.position = shards.iter().map(|shard| shard.position as u64).sum();
            return status;
        }
        state.cursor.epoch += 1;
        if quiet {
            return Status::Converged;
        }
    }
    Status::EpochLimit
}

/// Lets the shards go through their rows once; returns a status if they were stopped.
fn pass(
    state: &mut State,
    task: &Task<'_>,
    shards: &mut [Shard],
    seconds: impl Fn() -> f64,
    observer: &mut dyn Observer,
) -> Option<Status> {
    let longest = shards.iter().map(|shard| shard.blocks.rows()).max().unwrap_or(0);
    // Pauses are as near as those of eight shards, however many there are. Limits are looked at when there is a pause, so
    // the stride must not depend on how the rows are stored.
    let stride = (8 * pause_after(task.data.nonzeros() / task.data.len()) / shards.len().max(8)).max(1);
    for _ in (0..longest).step_by(stride) {
        shards.par_iter_mut().with_max_len(1).for_each(|shard| shard.advance(task, stride));
        state.cursor.seconds = seconds();
        observer.checkpoint(state);
        let updates = state.updates() + shards.iter().map(|shard| shard.updates).sum::<u64>();
        let progress = Progress::Training {
            epoch: state.cursor.epoch,
            epochs: state.settings.epochs,
            position: shards.iter().map(|shard| shard.position as u64).sum(),
            examples: task.data.len() as u64,
            updates,
            margin_upper: state.margin_upper(),
        };
        if state.settings.max_updates.is_some_and(|most| updates >= most) {
            return Some(Status::UpdateLimit);
        }
        if observer.progress(&progress).is_break() {
            return Some(Status::Interrupted);
        }
        if state.settings.max_seconds.is_some_and(|most| state.cursor.seconds >= most) {
            return Some(Status::TimeLimit);
        }
    }
    None
}

/// The evidence that only a run in shards has.
pub(in crate::train) fn detail(state: &State) -> Option<Detail> {
    let Learners::Two(learner) = &state.learners else { return None };
    (state.settings.shards > 1).then(|| Detail::Shards {
        mixing: state.settings.mixing,
        mistakes: learner.ledger.total(),
        updates: state.shard_updates.clone(),
    })
}

/// What a run in shards came to, in a few words.
pub(crate) fn tell(mistakes: f64, updates: &[u64]) -> Option<String> {
    let (least, most) = (updates.iter().min()?, updates.iter().max()?);
    Some(format!(
        "{} with {} to {} updates each; mixed, they count as K = {} mistakes",
        counted(updates.len() as u64, "shard", "shards"),
        grouped(*least),
        grouped(*most),
        rounded(mistakes, Rounding::Up)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::observe::Checkpoint;
    use crate::theta::Theta;
    use crate::train::engine::run::begin;
    use crate::train::{Bias, ClassWeight, Example, Init, Learned, Learner, Mixing, Order, train};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    /// Rows of thirds, so that sums round, of two classes that overlap or not.
    fn rows(seed: u64, n: usize, separable: bool) -> Dataset {
        let mut random = Random::new(seed);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let x: Vec<f64> = (0..3).map(|_| (random.below(19) as f64 - 9.0) / 3.0).collect();
            let up = if i < 2 { i == 0 } else { random.below(2) == 0 };
            let up = if separable && i >= 2 { x[0] + x[1] - 2.0 * x[2] > 0.5 } else { up };
            // The first two rows make sure that there are both classes.
            let x = if separable && i < 2 {
                vec![if up { 1.0 } else { -1.0 }; 2].into_iter().chain([0.0]).collect()
            } else {
                x
            };
            values.extend(x);
            labels.push(if up { "1" } else { "0" });
        }
        Dataset::dense(3, &values, &labels).unwrap()
    }

    fn mixings() -> impl Strategy<Value = Mixing> {
        prop_oneof![Just(Mixing::Updates), Just(Mixing::Uniform)]
    }

    fn orders() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Given), Just(Order::ShuffleOnce), Just(Order::Shuffle)]
    }

    proptest! {
        /// Every row belongs to one shard, none is empty, and they differ by less than two blocks.
        #[test]
        fn every_row_is_dealt_once(n in 1usize..3000, per_row in 1usize..3000, shards in 1usize..40, seed: u64) {
            let blocks = Blocks::new(n, n * per_row);
            let dealt = deal(blocks, shards, seed);
            prop_assert_eq!(dealt.len(), shards.min(n));
            let mut all = Vec::new();
            let (mut fewest, mut most) = (usize::MAX, 0);
            for rows in &dealt {
                let count = rows.count(n);
                let own: Vec<usize> = (0..count).map(|place| rows.at(place)).collect();
                prop_assert!(own.is_sorted());
                all.extend(own);
                (fewest, most) = (fewest.min(count), most.max(count));
            }
            prop_assert!(fewest > 0 && most - fewest < 2 << dealt[0].bits);
            all.sort_unstable();
            prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
            // One shard has the rows as they stand.
            let one = &deal(blocks, 1, seed)[0];
            prop_assert!((0..n).all(|place| one.at(place) == place));
        }

        /// One shard, through the same code, is the ordinary run: to the bit, with what it proves.
        #[test]
        fn one_shard_is_the_perceptron(
            seed: u64, n in 2usize..60, separable: bool, order in orders(), mixing in mixings(), epochs in 1u64..20,
        ) {
            let data = rows(seed, n, separable);
            let settings = Settings { learner: Learner::Perceptron, order, mixing, seed, epochs, ..Settings::default() };
            let ordinary = train(&data, &settings, &mut ()).unwrap();
            let task = Task::new(&data, &settings).unwrap();
            let mut state = begin(&task, &settings, false).unwrap();
            state.expect_rows(task.extent.radius_upper, data.longest_row());
            let status = passes(&mut state, &task, &mut ());
            prop_assert_eq!((status, state.cursor.epoch), (ordinary.status, ordinary.evidence.epochs));
            let Learners::Two(learner) = &state.learners else { unreachable!() };
            prop_assert_eq!(learner.theta(), ordinary.learned.theta());
            prop_assert_eq!(learner.updates(), ordinary.evidence.updates);
            prop_assert_eq!(learner.ledger.total(), ordinary.evidence.updates as f64);
            let upper = learner.margin_upper().map(|upper| upper.min(task.extent.shortest));
            prop_assert_eq!(upper, Some(ordinary.evidence.margin.upper));
        }

        /// Against the plain form, one shard after the other: the same mistakes and the same mixture to the bit, and the mean
        /// as a sum over all rows.
        #[test]
        fn shards_are_plain_perceptrons(
            seed: u64, n in 2usize..80, separable: bool, shards in 2usize..9, mixing in mixings(), epochs in 1u64..12,
            warm: bool, weighted: bool,
        ) {
            let data = rows(seed, n, separable);
            let start = Theta { weights: vec![0.5, -1.0 / 3.0, 2.0], bias: 0.1, bias_input: 1.0 };
            let settings = Settings {
                learner: Learner::Averaged,
                order: Order::Given,
                init: if warm { Init::Warm(start.clone()) } else { Init::Zero },
                class_weight: if weighted { ClassWeight::Named(vec![("1".into(), 1.7)]) } else { ClassWeight::Equal },
                shards, mixing, seed, epochs,
                ..Settings::default()
            };
            let task = Task::new(&data, &settings).unwrap();
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let last = train(&data, &Settings { learner: Learner::Perceptron, ..settings.clone() }, &mut ()).unwrap();

            let dealt = deal(Blocks::of(&data), shards, seed);
            let mut theta = if warm { start } else { Theta::zero(3, 1.0) };
            let (mut sum, mut seen, mut mistakes, mut made) = ([0.0; 4], 0.0, 0.0, vec![0u64; dealt.len()]);
            let mut passes = 0;
            for _ in 0..epochs {
                passes += 1;
                let mut ends = Vec::new();
                for rows in &dealt {
                    let (mut own, mut updates, mut size) = (theta.clone(), 0, 0.0);
                    for i in (0..rows.count(n)).map(|place| rows.at(place)) {
                        let score = own.certified_score(data.row(i));
                        let certain = if task.signs[i] > 0 { score.low > 0.0 } else { score.high < 0.0 };
                        if !certain {
                            own.add(f64::from(task.signs[i]) * task.weight(i), data.row(i));
                            updates += 1;
                            size += task.weight(i);
                        }
                        for (sum, w) in sum.iter_mut().zip(own.weights.iter().chain([&own.bias])) {
                            *sum += w;
                        }
                        seen += 1.0;
                    }
                    ends.push((own, updates, size));
                }
                let updates: Vec<u64> = ends.iter().map(|end| end.1).collect();
                made.iter_mut().zip(&updates).for_each(|(all, new)| *all += new);
                let weights = mixing.weights(&updates);
                let whole: u64 = weights.iter().sum();
                if whole == 0 {
                    break;
                }
                let counting: Vec<_> =
                    ends.iter().zip(&weights).filter(|(_, w)| **w > 0).map(|(end, &w)| (w as f64, end)).collect();
                mistakes += counting.iter().map(|(w, end)| w * end.2).sum::<f64>() / whole as f64;
                if let [(_, only)] = counting.as_slice() {
                    theta = only.0.clone();
                } else {
                    let mixed = |old: f64, at: &dyn Fn(&Theta) -> f64| {
                        let mut gain = 0.0;
                        counting.iter().for_each(|(w, end)| gain += w * (at(&end.0) - old));
                        old + gain / whole as f64
                    };
                    let bias = mixed(theta.bias, &|end| end.bias);
                    let weights = (0..3).map(|j| mixed(theta.weights[j], &|end| end.weights[j])).collect();
                    theta = Theta { weights, bias, bias_input: 1.0 };
                }
            }
            prop_assert_eq!(last.learned, Learned::Linear(theta));
            prop_assert_eq!(outcome.evidence.epochs, passes);
            prop_assert_eq!(outcome.evidence.updates, made.iter().sum::<u64>());
            let Some(Detail::Shards { mistakes: counted, updates, .. }) = outcome.evidence.detail else { unreachable!() };
            prop_assert_eq!(updates, made);
            prop_assert!(counted <= mistakes * (1.0 + 1e-12) && counted >= mistakes * (1.0 - 1e-12));
            let mean = outcome.learned.theta();
            for (sum, w) in sum.iter().zip(mean.weights.iter().chain([&mean.bias])) {
                prop_assert!((sum / seen - w).abs() <= 1e-10 * (1.0 + sum.abs()), "{} {w}", sum / seen);
            }
        }

        /// What a run in shards proves is true: K within the bound, no more passes than promised, and an interval that is not
        /// empty, also beside that of an ordinary run.
        #[test]
        fn a_run_in_shards_keeps_the_theorem(
            seed: u64, n in 2usize..80, separable: bool, shards in 2usize..20, mixing in mixings(), order in orders(),
            average: bool, power in prop_oneof![-40i32..40, Just(-180), Just(180)],
        ) {
            let data = rows(seed, n, separable);
            let scale = 2f64.powi(power);
            let values: Vec<f64> = (0..n).flat_map(|i| data.row(i).iter().map(|(_, x)| x * scale).collect::<Vec<_>>()).collect();
            prop_assume!(values.len() == 3 * n);
            let labels: Vec<&str> = data.labels().iter().map(|&label| data.classes()[label as usize].as_str()).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let learner = if average { Learner::Averaged } else { Learner::Perceptron };
            let bias = Bias::Append(scale.clamp(1e-50, 1e50));
            // Rows that overlap make mistakes in every pass.
            let epochs = if separable { 3000 } else { 100 };
            let settings = Settings { learner, shards, mixing, order, seed, bias, epochs, ..Settings::default() };
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let alone = train(&data, &Settings { shards: 1, ..settings.clone() }, &mut ()).unwrap();
            let (margin, bound) = (outcome.evidence.margin, outcome.evidence.mistake_bound);
            for lower in [margin.lower, alone.evidence.margin.lower].into_iter().flatten() {
                prop_assert!(lower <= margin.upper && lower <= alone.evidence.margin.upper);
            }
            let Some(Detail::Shards { mistakes, updates, .. }) = outcome.evidence.detail else { unreachable!() };
            prop_assert_eq!(updates.iter().sum::<u64>(), outcome.evidence.updates);
            prop_assert!(mistakes <= outcome.evidence.updates as f64);
            if let Some(bound) = bound.upper {
                prop_assert!(mistakes <= bound, "K = {mistakes} of at most {bound}");
                let most = mixing.most_passes(bound, updates.len());
                prop_assert!(outcome.evidence.epochs as f64 <= most + 1.0);
            }
            if outcome.status == Status::Converged && learner == Learner::Perceptron {
                prop_assert_eq!(outcome.evidence.training_error, Some(0.0));
                prop_assert!(margin.lower.is_some());
            }
        }
    }

    proptest! {
        /// Forks of one state that learn the rows of each shard and are merged after every pass are a run in shards, to the
        /// bit; with many classes, each class is, also if it turns up late and in one fork alone.
        #[test]
        fn states_that_are_merged_are_a_run_in_shards(
            seed: u64, n in 4usize..60, shards in 2usize..6, mixing in mixings(), epochs in 1u64..6, average: bool,
            classes in 2u64..5, shuffled: bool,
        ) {
            let mut random = Random::new(seed);
            let values: Vec<f64> = (0..3 * n).map(|_| (random.below(19) as f64 - 9.0) / 3.0).collect();
            let labels: Vec<String> =
                (0..n).map(|i| if i < 2 { i as u64 } else { random.below(classes) }.to_string()).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let learner = if average { Learner::Averaged } else { Learner::Perceptron };
            let order = if shuffled { Order::Shuffle } else { Order::Given };
            let settings =
                Settings { learner, order, shards, mixing, seed, epochs, ..Settings::default() };
            let mut state = State::new(&settings, 3).unwrap();
            for epoch in 0..epochs {
                let before = state.updates();
                let orders = shard_orders(&data, &settings, epoch).unwrap();
                let mut all = orders.concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..n as u32).collect::<Vec<_>>());
                let forks: Vec<State> = (0..)
                    .zip(&orders)
                    .map(|(shard, rows)| {
                        let mut fork = state.fork(shard).unwrap();
                        for i in rows.iter().map(|&row| row as usize) {
                            let class = fork.class(&labels[i]).unwrap();
                            fork.learn([Example { row: data.row(i), class, weight: 1.0 }]).unwrap();
                        }
                        State::restore(&fork.snapshot("").unwrap()).unwrap().0
                    })
                    .collect();
                state.merge(&forks, mixing).unwrap();
                prop_assert!(state.merge(&forks, mixing).is_err());
                if data.classes().len() == 2 && state.updates() == before {
                    break;
                }
            }
            let learned = state.learned().unwrap();
            let Learned::Each(each) = &learned else {
                prop_assert_eq!(&learned, &train(&data, &settings, &mut ()).unwrap().learned);
                return Ok(());
            };
            for (class, own) in each.iter().enumerate() {
                let positive = Some(data.classes()[class].clone());
                let alone = train(&data, &Settings { positive, ..settings.clone() }, &mut ()).unwrap();
                // A run that has converged stops; averages go on counting.
                if !average || alone.status != Status::Converged {
                    prop_assert_eq!(own, &alone.learned);
                }
            }
        }
    }

    #[test]
    fn no_shard_has_one_class_alone() {
        let blocks = Blocks::new(100_000, 6_400_000);
        for shards in [2, 4, 8, 16] {
            for rows in deal(blocks, shards, 0) {
                let count = rows.count(100_000);
                let shares = [
                    (0..count).filter(|&place| rows.at(place) < 50_000).count(),
                    (0..count).filter(|&place| rows.at(place) % 2 == 0).count(),
                ];
                for share in shares {
                    assert!(share > count / 5 && share < count - count / 5, "{share} of {count}");
                }
            }
        }
        // Few rows are dealt one by one, also where the classes take turns.
        for rows in deal(Blocks::new(100, 400), 2, 0) {
            let even = (0..rows.count(100)).filter(|&place| rows.at(place) % 2 == 0).count();
            assert!((10..40).contains(&even), "{even} of {}", rows.count(100));
        }
    }

    /// Keeps the runs that it is shown, and stops at a pause.
    struct Stopper {
        runs: Vec<State>,
        pauses: usize,
    }

    impl Observer for Stopper {
        fn saves(&self) -> bool {
            true
        }

        fn checkpoint(&mut self, state: &dyn Checkpoint) {
            self.runs.push(State::from_bytes(&state.to_bytes().unwrap()).unwrap());
        }

        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            let pause = matches!(progress, Progress::Training { .. });
            self.pauses -= usize::from(pause && self.pauses > 0);
            if self.pauses == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    /// Stopped within a pass: what the shards have is mixed and true; what is saved begins the pass anew.
    #[test]
    fn a_run_that_is_stopped_within_a_pass_can_be_taken_up() {
        let n = 200_000;
        let mut random = Random::new(5);
        let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let labels: Vec<&str> =
            values.iter().map(|&x| if x + random.normal() > 0.0 { "1" } else { "0" }).collect();
        let data = Dataset::dense(1, &values, &labels).unwrap();
        let settings = Settings { shards: 2, epochs: 3, ..Settings::default() };
        let whole = train(&data, &settings, &mut ()).unwrap();
        let mut stopper = Stopper { runs: Vec::new(), pauses: 3 };
        let part = train(&data, &settings, &mut stopper).unwrap();
        assert_eq!((part.status, part.evidence.epochs), (Status::Interrupted, 2));
        assert!(part.evidence.updates > 0 && part.evidence.updates < whole.evidence.updates);
        let Some(Detail::Shards { mistakes, updates, .. }) = &part.evidence.detail else {
            panic!("no detail")
        };
        assert_eq!(updates.iter().sum::<u64>(), part.evidence.updates);
        assert!(*mistakes > 0.0 && *mistakes < part.evidence.updates as f64);
        let saved = stopper.runs.pop().unwrap();
        assert_eq!((saved.cursor.epoch, saved.cursor.position), (1, 0));
        let again = State::from_bytes(&saved.to_bytes().unwrap()).unwrap();
        let resumed = crate::train::resume(again, &data, &settings, &mut ()).unwrap();
        assert_eq!(resumed.learned, whole.learned);
        assert_eq!(resumed.evidence, whole.evidence);
    }
}

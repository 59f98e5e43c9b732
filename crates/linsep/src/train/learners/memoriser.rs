//! The memoriser: looks the example up, else says +1.
//!
//! It makes no error on rows that it has seen, unless the same row came with both labels, and knows nothing about others:
//! a baseline that shows how little a training error of zero proves.

use crate::Error;
use crate::dataset::{Dataset, Row};
use crate::numbers::{counted, grouped};
use crate::observe::{Observer, Progress};
use crate::store::{Arrays, StoreError, Tensors};
use crate::theta::Theta;
use crate::train::engine::checkpoint::{get_theta, put_theta};
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::evidence::Detail;
use crate::train::engine::evidence::Evidence;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest::SharedFit;
use crate::train::engine::run::{Status, Task, rows_between_pauses};
use crate::train::learners::Learner;
use crate::train::learners::registry::{Abilities, Descriptor, Registered};
use crate::train::settings::Settings;
use rayon::prelude::*;
use std::time::Instant;

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "memoriser",
    title: "memoriser",
    summary: "Memorises the training rows: only as a baseline; its training error is zero unless equal rows \
              have both labels",
    options: &[],
    abilities: Abilities {
        weighs_features: false,
        scores_new_rows: false,
        always_converges: true,
        ..Abilities::ALL_ROWS
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Memoriser,
};

/// The memoriser has no options of its own.
pub(crate) struct NoOptions;

impl Registered for NoOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        let Detail::Memoriser { distinct, contradicted } = detail else { return None };
        let mut text = format!("{} stored", counted(*distinct, "distinct row", "distinct rows"));
        if *contradicted > 0 {
            text += &format!(
                "; {} against the majority of equal rows",
                counted(*contradicted, "row has a label", "rows have a label")
            );
        }
        Some(text)
    }

    fn work(&self, size: &RunSize) -> Work {
        const MAX_REMEMBERED: u64 = 100_000_000;
        let said = format!(
            "remembers {} rows for each of {} classes: @ rows",
            grouped(size.rows),
            grouped(size.classes)
        );
        Work { amount: size.all(), most: MAX_REMEMBERED, said, in_passes: false }
    }

    /// The hash of every row, and its side.
    fn memory(&self, size: &RunSize) -> Option<(u64, String)> {
        let memories = match size.classes {
            1 => String::new(),
            many => format!(" for each of {} classes", grouped(many)),
        };
        let what = format!("remembering {} rows{memories}", grouped(size.rows));
        Some((size.all().saturating_mul(17), what))
    }

    fn load(&self, arrays: &Arrays<'_>, prefix: &str, settings: &Settings) -> Result<Learned, StoreError> {
        Ok(Learned::Memory(Box::new(Memoriser::get(arrays, prefix, settings)?)))
    }

    /// The same rows are seen for every class.
    fn shared<'a>(
        &self,
        data: &'a Dataset,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Option<Box<dyn SharedFit + 'a>> {
        Some(Box::new(Seen::new(data, settings, observer)))
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        Ok(Some(Seen::new(task.data, settings, observer).learn(task, settings)))
    }
}

/// The labels of rows that were seen, by the hash of their values.
///
/// Two rows are the same when all their values are, however they are stored: the hash is of the columns and bits of
/// the values that are not zero. 128 bits of blake3 keep different rows apart for all practical purposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Memoriser {
    /// The hashes, increasing.
    hashes: Vec<u128>,
    /// The label of each.
    signs: Vec<i8>,
    /// All zero, with a place for every feature: the memory has no weights to show.
    nothing: Theta,
}

impl Memoriser {
    /// The label that the row was seen with, ±1; +1 for a new one.
    pub fn score(&self, row: Row<'_>) -> f64 {
        self.score_looked_up(&mut LookedUp::new(row))
    }

    /// The same for a row that other memories are asked about too.
    pub(crate) fn score_looked_up(&self, row: &mut LookedUp) -> f64 {
        // The memories of many classes hold the same rows, so a row has one place in all of them.
        if self.hashes.get(row.place) != Some(&row.hash) {
            row.place = self.hashes.binary_search(&row.hash).unwrap_or(usize::MAX);
        }
        self.signs.get(row.place).map_or(1.0, |&sign| f64::from(sign))
    }

    /// How many different rows are remembered.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Weights that are all zero: there is nothing linear about it.
    pub fn theta(&self) -> &Theta {
        &self.nothing
    }

    /// Puts the memory among the arrays of a file; the hashes as two halves, the upper one first.
    pub(crate) fn put<'a>(&'a self, tensors: &mut Tensors<'a>, prefix: &str) {
        put_theta(tensors, &format!("{prefix}theta"), &self.nothing);
        tensors.put_u64(&format!("{prefix}memory.hashes"), self.halves());
        tensors.put_i8(&format!("{prefix}memory.signs"), self.signs.iter().copied());
    }

    /// The memory among the arrays of a file.
    fn get(opened: &Arrays<'_>, prefix: &str, settings: &Settings) -> Result<Self, StoreError> {
        let nothing = get_theta(opened, &format!("{prefix}theta"), settings)?;
        let hashes = opened.u64s(&format!("{prefix}memory.hashes"))?;
        Self::from_parts(&hashes, opened.i8s(&format!("{prefix}memory.signs"))?, nothing)
            .ok_or_else(|| StoreError::Damaged("its memory does not fit together".to_string()))
    }

    fn halves(&self) -> impl ExactSizeIterator<Item = u64> + Clone {
        (0..2 * self.hashes.len()).map(|half| (self.hashes[half / 2] >> (64 * (1 - half % 2))) as u64)
    }

    /// The memory with these parts, if they fit together.
    fn from_parts(halves: &[u64], signs: Vec<i8>, nothing: Theta) -> Option<Self> {
        let (pairs, rest) = halves.as_chunks::<2>();
        let hashes: Vec<u128> =
            pairs.iter().map(|&[high, low]| u128::from(high) << 64 | u128::from(low)).collect();
        let fits = rest.is_empty()
            && hashes.len() == signs.len()
            && hashes.is_sorted_by(|a, b| a < b)
            && signs.iter().all(|&sign| sign == 1 || sign == -1)
            && nothing.bias == 0.0
            && nothing.weights.iter().all(|&weight| weight == 0.0);
        fits.then_some(Self { hashes, signs, nothing })
    }
}

/// A row that is looked up in one memory after the other.
pub(crate) struct LookedUp {
    hash: u128,
    /// Where it was found last.
    place: usize,
}

impl LookedUp {
    pub(crate) fn new(row: Row<'_>) -> Self {
        Self { hash: hash(row, &mut Vec::new()), place: usize::MAX }
    }
}

/// The same for the same values, dense or sparse; −0 is 0. `bytes` is a buffer to use again.
fn hash(row: Row<'_>, bytes: &mut Vec<u8>) -> u128 {
    bytes.clear();
    for (column, value) in row.iter().filter(|&(_, value)| value != 0.0) {
        bytes.extend_from_slice(&(column as u32).to_le_bytes());
        bytes.extend_from_slice(&value.to_bits().to_le_bytes());
    }
    blake3::hash(bytes).as_bytes()[..16].iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// The rows that were seen, whatever their labels: the same for every class that is remembered against the rest.
pub(crate) struct Seen {
    /// Hashes and where they are from: sorted, so that equal rows are neighbours in the order of the data.
    rows: Vec<(u128, usize)>,
    /// Why not all rows were seen, if that was not the limit of updates.
    stopped: Option<Status>,
}

impl Seen {
    /// Goes through the rows once.
    pub(crate) fn new(data: &Dataset, settings: &Settings, observer: &mut dyn Observer) -> Self {
        let clock = Instant::now();
        let total = data.len();
        let most =
            settings.max_updates.map_or(total, |most| total.min(usize::try_from(most).unwrap_or(total)));
        let mut rows: Vec<(u128, usize)> = Vec::with_capacity(most);
        let mut stopped = None;
        while rows.len() < most && stopped.is_none() {
            let end = (rows.len() + rows_between_pauses(data)).min(most);
            rows.par_extend(
                (rows.len()..end)
                    .into_par_iter()
                    .with_min_len(64)
                    .map_init(Vec::new, |bytes, i| (hash(data.row(i), bytes), i)),
            );
            let progress = Progress::Training {
                epoch: 0,
                epochs: settings.epochs,
                position: end as u64,
                examples: total as u64,
                updates: end as u64,
                margin_upper: None,
            };
            if observer.progress(&progress).is_break() {
                stopped = Some(Status::Interrupted);
            } else if settings.max_seconds.is_some_and(|most| clock.elapsed().as_secs_f64() >= most) {
                stopped = Some(Status::TimeLimit);
            }
        }
        rows.par_sort_unstable();
        Self { rows, stopped }
    }
}

impl SharedFit for Seen {
    /// Remembers the side of each row. A row that came with both labels gets the heavier one, or +1 where they weigh the same.
    /// Each row is one update.
    fn learn(&self, task: &Task<'_>, settings: &Settings) -> Fit {
        let updates = self.rows.len() as u64;
        let (mut hashes, mut signs, mut contradicted) = (Vec::new(), Vec::new(), 0);
        for same in self.rows.chunk_by(|a, b| a.0 == b.0) {
            let vote = |i: usize| f64::from(task.signs[i]) * task.weight(i);
            let sign = if same.iter().map(|&(_, i)| vote(i)).sum::<f64>() >= 0.0 { 1 } else { -1 };
            contradicted += same.iter().filter(|&&(_, i)| task.signs[i] != sign).count() as u64;
            hashes.push(same[0].0);
            signs.push(sign);
        }
        let status = match self.stopped {
            Some(status) if (updates as usize) < task.data.len() => status,
            _ if (updates as usize) < task.data.len() => Status::UpdateLimit,
            _ => Status::Converged,
        };
        let distinct = hashes.len() as u64;
        let nothing = Theta::zero(task.data.columns(), settings.bias.input());
        Fit {
            learned: Learned::Memory(Box::new(Memoriser { hashes, signs, nothing })),
            status,
            epochs: 1,
            updates,
            candidates: Vec::new(),
            margin_upper: None,
            space: None,
            detail: Some(Detail::Memoriser { distinct, contradicted }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Opened;
    use proptest::prelude::*;

    fn learn(task: &Task<'_>, settings: &Settings, observer: &mut dyn Observer) -> Fit {
        Seen::new(task.data, settings, observer).learn(task, settings)
    }
    use std::collections::HashMap;
    use std::ops::ControlFlow;

    fn dense(rows: &[Vec<f64>]) -> Dataset {
        Dataset::dense(rows[0].len(), &rows.concat(), &vec!["1"; rows.len()]).unwrap()
    }

    fn sparse(rows: &[Vec<f64>]) -> Dataset {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as u32);
                values.push(x);
            }
            offsets.push(values.len());
        }
        Dataset::sparse(rows[0].len(), &offsets, &indices, &values, &vec!["1"; rows.len()]).unwrap()
    }

    fn examples() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<i8>)> {
        let number =
            prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(-1.0), Just(0.1), Just(1e60), Just(5e-324)];
        (1usize..4, 1usize..30).prop_flat_map(move |(d, n)| {
            (
                prop::collection::vec(prop::collection::vec(number.clone(), d), n),
                prop::collection::vec(prop_oneof![Just(1i8), Just(-1i8)], n),
            )
        })
    }

    /// What a file says beside its arrays: nothing here.
    type Content = HashMap<String, serde_json::Value>;

    fn bytes_of(tensors: Tensors<'_>) -> Vec<u8> {
        tensors.into_bytes("model", &Content::new()).unwrap()
    }

    fn memory(fit: &Fit) -> &Memoriser {
        let Learned::Memory(memory) = &fit.learned else { panic!("{:?}", fit.learned) };
        memory
    }

    proptest! {
        /// Against the plain form, which compares rows value by value: the majority of equal rows, in either storage.
        #[test]
        fn it_says_what_most_equal_rows_say((rows, signs) in examples(), weighty: bool) {
            let weights: Vec<f64> = (0..rows.len()).map(|i| 1.0 + (i % 4) as f64).collect();
            let weights = weighty.then_some(weights.as_slice());
            let task_data = dense(&rows);
            let own = || weights.map(<[f64]>::to_vec);
            let task = Task { weights: own(), ..Task::with_signs(&task_data, signs.clone(), 1.0) };
            let fit = learn(&task, &Settings::default(), &mut ());
            let other_data = sparse(&rows);
            let other = Task { weights: own(), ..Task::with_signs(&other_data, signs.clone(), 1.0) };
            let again = learn(&other, &Settings::default(), &mut ());
            prop_assert_eq!(&again.learned, &fit.learned);
            let mut wrong = 0;
            for (i, row) in rows.iter().enumerate() {
                let vote: f64 = (0..rows.len())
                    .filter(|&j| rows[j] == *row)
                    .map(|j| f64::from(signs[j]) * weights.map_or(1.0, |weights| weights[j]))
                    .sum();
                let expected = if vote >= 0.0 { 1.0 } else { -1.0 };
                for data in [&task_data, &other_data] {
                    prop_assert_eq!(fit.learned.score(data.row(i)), expected);
                }
                prop_assert_eq!(fit.learned.score(Row::DenseF64(row)), expected);
                wrong += u64::from(expected != f64::from(signs[i]));
            }
            let distinct = (0..rows.len()).filter(|&i| rows[..i].iter().all(|row| *row != rows[i])).count() as u64;
            prop_assert_eq!(fit.detail, Some(Detail::Memoriser { distinct, contradicted: wrong }));
            prop_assert_eq!(fit.status, Status::Converged);
            prop_assert_eq!((fit.updates, fit.epochs), (rows.len() as u64, 1));
            prop_assert_eq!(fit.learned.columns(), rows[0].len());
        }

        /// Nothing that is new is −1.
        #[test]
        fn new_rows_are_positive((rows, signs) in examples(), other in -5.0f64..5.0) {
            prop_assume!(![0.0, 1.0, -1.0, 0.1].contains(&other));
            let data = dense(&rows);
            let task = Task::with_signs(&data, vec![-1; signs.len()], 1.0);
            let fit = learn(&task, &Settings::default(), &mut ());
            for row in &rows {
                let mut new = row.clone();
                new[0] = other;
                prop_assert_eq!(fit.learned.score(Row::DenseF64(&new)), 1.0);
                prop_assert_eq!(fit.learned.score(Row::DenseF64(row)), -1.0);
            }
        }

        /// What is saved comes back; what does not fit together is refused.
        #[test]
        fn a_memory_comes_back_as_it_was((rows, signs) in examples(), damage in 0usize..7) {
            let data = dense(&rows);
            let task = Task::with_signs(&data, signs, 1.0);
            let fit = learn(&task, &Settings::default(), &mut ());
            let memory = memory(&fit);
            let mut tensors = Tensors::default();
            memory.put(&mut tensors, "class.3.");
            let bytes = bytes_of(tensors);
            let opened: Opened<'_, Content> = Opened::open(&bytes, "model").unwrap();
            prop_assert_eq!(&Memoriser::get(&opened, "class.3.", &Settings::default()).unwrap(), memory);

            let (mut halves, mut signs, mut theta) = (memory.halves().collect::<Vec<_>>(), memory.signs.clone(), memory.theta().clone());
            match damage {
                0 => signs.push(1),
                1 => _ = halves.pop(),
                2 => signs[0] = 0,
                3 => signs[0] = -128,
                4 => halves.extend_from_within(..2),
                5 => theta.weights[0] = f64::NAN,
                _ => theta.bias = 1.0,
            }
            if damage == 4 {
                signs.push(1);
            }
            let mut tensors = Tensors::default();
            put_theta(&mut tensors, "theta", &theta);
            tensors.put_u64("memory.hashes", halves.into_iter());
            tensors.put_i8("memory.signs", signs.into_iter());
            let bytes = bytes_of(tensors);
            let opened: Opened<'_, Content> = Opened::open(&bytes, "model").unwrap();
            prop_assert!(matches!(Memoriser::get(&opened, "", &Settings::default()), Err(StoreError::Damaged(_))));
        }
    }

    /// The hash must never change, or the models of today forget.
    #[test]
    fn the_hash_is_pinned() {
        let row = Row::SparseF64(&[1, 7], &[0.5, -3.0]);
        assert_eq!(
            hash(row, &mut Vec::new()),
            hash(Row::DenseF64(&[-0.0, 0.5, 0., 0., 0., 0., 0., -3.0]), &mut vec![7])
        );
        assert_eq!(
            hash(row, &mut Vec::new()),
            hash(Row::DenseF32(&[0.0, 0.5, 0., 0., 0., 0., 0., -3.0]), &mut vec![7])
        );
        assert_eq!(hash(row, &mut Vec::new()), PINNED);
        assert_eq!(
            hash(Row::DenseF64(&[]), &mut Vec::new()),
            0xaf1349b9f5f9a1a6a0404dea36dcc949,
            "blake3 of nothing"
        );
    }
    const PINNED: u128 = 112176956852534043667272408924977151653;

    /// Stops at the first pause.
    struct Impatient;

    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            assert!(matches!(
                progress,
                Progress::Training { position: 70_000 | 65_536, examples: 70_000, .. }
            ));
            ControlFlow::Break(())
        }
    }

    #[test]
    fn limits_are_kept() {
        let rows: Vec<f64> = (0..70_000).map(f64::from).collect();
        let data = Dataset::dense(1, &rows, &vec!["1"; rows.len()]).unwrap();
        let task = Task::with_signs(&data, vec![-1; rows.len()], 1.0);
        let fit = learn(&task, &Settings::default(), &mut Impatient);
        assert_eq!((fit.status, fit.updates), (Status::Interrupted, 65_536));
        let score = |i: usize| fit.learned.score(data.row(i));
        assert_eq!((score(65_535), score(65_536)), (-1.0, 1.0));
        let limited = Settings { max_updates: Some(100), ..Settings::default() };
        let fit = learn(&task, &limited, &mut ());
        assert_eq!((fit.status, fit.updates, memory(&fit).len()), (Status::UpdateLimit, 100, 100));
        let limited = Settings { max_seconds: Some(1e-9), ..Settings::default() };
        assert_eq!(learn(&task, &limited, &mut ()).status, Status::TimeLimit);
        assert_eq!(learn(&task, &Settings::default(), &mut ()).status, Status::Converged);
    }
}

//! How near an epoch comes to what the memory allows: the read bandwidth, the gather floor and epochs of the online
//! learners, taking turns in one process. Prints one JSON record; `bench/race.py --only roofline` makes a page of it.
//!
//! ```sh
//! cargo run --release -p linsep --example roofline -- [ROWS] [ROUNDS]
//! ```

#![allow(clippy::print_stdout, reason = "an experiment shows its results")]

use linsep::generate::{Synthetic, dataset};
use linsep::random::Random;
use linsep::train::{Learner, Order};
use linsep::{Dataset, Row, Settings, train};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Large enough that no cache holds it.
const BANDWIDTH_BYTES: usize = 512 << 20;
const DENSE_COLUMNS: usize = 256;
/// Epochs that are timed, beyond a first one that is not.
const EPOCHS: u64 = 5;

/// Something that is done in every round and gives its seconds.
struct Job<'a> {
    name: String,
    seconds: Box<dyn FnMut() -> Result<f64, linsep::Error> + 'a>,
}

impl<'a> Job<'a> {
    fn new(name: impl Into<String>, seconds: impl FnMut() -> Result<f64, linsep::Error> + 'a) -> Self {
        Self { name: name.into(), seconds: Box::new(seconds) }
    }

    /// A job that is timed as a whole.
    fn whole(name: impl Into<String>, mut work: impl FnMut() + 'a) -> Self {
        Self::new(name, move || {
            let start = Instant::now();
            work();
            Ok(start.elapsed().as_secs_f64())
        })
    }
}

/// The jobs take turns, so that what else happens on the machine hits all of them. The first round does not count.
fn take_turns(mut jobs: Vec<Job<'_>>, rounds: usize) -> Result<Value, Box<dyn Error>> {
    let mut seconds = vec![Vec::new(); jobs.len()];
    for round in 0..=rounds {
        for (job, seconds) in jobs.iter_mut().zip(&mut seconds) {
            let taken = (job.seconds)()?;
            if round > 0 {
                seconds.push(taken);
            }
        }
    }
    let names = jobs.into_iter().map(|job| job.name);
    Ok(names.zip(seconds.into_iter().map(Value::from)).collect::<Map<_, _>>().into())
}

/// The sum of a part of memory: the compiler makes it wide loads and nothing else to speak of.
fn sum(words: &[u64]) -> u64 {
    let (lanes, rest) = words.as_chunks::<32>();
    let mut sums = [0_u64; 32];
    for lane in lanes {
        for (sum, word) in sums.iter_mut().zip(lane) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Reads a large array, in one piece for each thread.
fn read_memory(words: &[u64], threads: usize) {
    let total = std::thread::scope(|scope| {
        let parts = words.chunks(words.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || sum(part))).collect();
        running.into_iter().map(|part| part.join().unwrap_or(0)).fold(0, u64::wrapping_add)
    });
    black_box(total);
}

/// The columns and values of all non-zeros, one row after the other.
fn flat<'a, T: Copy + 'a>(rows: impl Iterator<Item = (&'a [u32], &'a [T])>) -> (Vec<u32>, Vec<T>) {
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for (columns, numbers) in rows {
        indices.extend_from_slice(columns);
        values.extend_from_slice(numbers);
    }
    (indices, values)
}

/// The least that a pass over sparse rows costs: every index and value is read and its weight fetched, eight sums that
/// do not wait for each other, no rows, no updates, no decisions.
fn gathers<T: Copy + Into<f64>>(indices: &[u32], values: &[T], weights: &[f64]) -> f64 {
    let (index_lanes, _) = indices.as_chunks::<8>();
    let (value_lanes, _) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (index, value) in index_lanes.iter().zip(value_lanes) {
        for lane in 0..8 {
            sums[lane] += value[lane].into() * weights[index[lane] as usize];
        }
    }
    sums.iter().sum()
}

/// The job of gathering what is stored: values are f32 where that loses nothing.
fn gather_job(data: &Dataset) -> Job<'static> {
    let weights = vec![1.0; data.columns()];
    let rows = (0..data.len()).map(|i| data.row(i));
    if matches!(data.row(0), Row::SparseF32(..)) {
        let (indices, values) = flat(rows.filter_map(|row| match row {
            Row::SparseF32(indices, values) => Some((indices, values)),
            _ => None,
        }));
        Job::whole("gathers", move || _ = black_box(gathers(&indices, &values, black_box(&weights))))
    } else {
        let (indices, values) = flat(rows.filter_map(|row| match row {
            Row::SparseF64(indices, values) => Some((indices, values)),
            _ => None,
        }));
        Job::whole("gathers", move || _ = black_box(gathers(&indices, &values, black_box(&weights))))
    }
}

/// The job of one epoch: the difference between a run of many epochs and a run of one, so that what is done once
/// (checks, lengths, the judgement at the end) is not counted.
fn epoch_job(data: &Dataset, learner: Learner, order: Order, name: String) -> Job<'_> {
    let run = move |epochs| -> Result<_, linsep::Error> {
        let settings = Settings { learner, epochs, order, ..Settings::default() };
        let start = Instant::now();
        let outcome = train(data, &settings, &mut ())?;
        Ok((start.elapsed().as_secs_f64(), outcome.evidence.epochs))
    };
    Job::new(name, move || {
        let (one, begun) = run(1)?;
        let (all, ended) = run(1 + EPOCHS)?;
        // A run that converges makes fewer epochs than it may.
        Ok((all - one) / ended.saturating_sub(begun).max(1) as f64)
    })
}

/// Everything about one data set: `bytes` is what a pass must read.
fn measure(
    kind: &str,
    data: &Dataset,
    bytes: usize,
    memory: &[u64],
    rounds: usize,
) -> Result<Value, Box<dyn Error>> {
    let cores = std::thread::available_parallelism()?.get();
    let mut jobs = vec![
        Job::whole("one thread reads", || read_memory(memory, 1)),
        Job::whole("all threads read", || read_memory(memory, cores)),
    ];
    if kind == "sparse" {
        jobs.push(gather_job(data));
    }
    for (name, learner) in [("perceptron", Learner::Perceptron), ("averaged", Learner::Averaged)] {
        for (order_name, order) in [("given", Order::Given), ("shuffle", Order::Shuffle)] {
            jobs.push(epoch_job(data, learner, order, format!("{name}, {order_name}")));
        }
    }
    Ok(json!({
        "kind": kind, "features": data.columns(), "rows": data.len(), "nonzeros": data.nonzeros(), "bytes": bytes,
        "memory_bytes": size_of_val(memory), "threads": cores, "seconds": take_turns(jobs, rounds)?,
    }))
}

fn sparse(features: u32, rows: u64, memory: &[u64], rounds: usize) -> Result<Value, Box<dyn Error>> {
    let data = dataset(&Synthetic::Text { features, per_row: 63.5, noise: 0.01 }, rows, 0)?;
    let width = if matches!(data.row(0), Row::SparseF32(..)) { size_of::<f32>() } else { size_of::<f64>() };
    let bytes = data.nonzeros() * (size_of::<u32>() + width) + data.len() * size_of::<usize>();
    measure("sparse", &data, bytes, memory, rounds)
}

/// Two clouds of f32 rows with a hundredth of the labels flipped, so that no epoch is free of mistakes.
fn dense(rows: usize, memory: &[u64], rounds: usize) -> Result<Value, Box<dyn Error>> {
    let (mut values, mut labels) = (Vec::with_capacity(rows * DENSE_COLUMNS), Vec::with_capacity(rows));
    for i in 0..rows {
        let mut random = Random::stream(0, i as u64);
        let positive = random.uniform() < 0.5;
        let centre = if positive { 0.25 } else { -0.25 };
        values.extend((0..DENSE_COLUMNS).map(|_| f64::from((random.normal() + centre) as f32)));
        labels.push(if positive == (random.uniform() < 0.01) { "-1" } else { "1" });
    }
    let data = Dataset::dense(DENSE_COLUMNS, &values, &labels)?;
    drop(values);
    measure("dense", &data, rows * DENSE_COLUMNS * size_of::<f32>(), memory, rounds)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: u64 = arguments.next().map_or(Ok(200_000), |word| word.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(5), |word| word.parse())?;
    let memory = vec![1_u64; BANDWIDTH_BYTES / size_of::<u64>()];
    let cases = [
        sparse(47_000, rows, &memory, rounds)?,
        sparse(1_000_000, rows, &memory, rounds)?,
        dense(rows as usize, &memory, rounds)?,
    ];
    println!("{}", json!({ "cases": cases }));
    Ok(())
}

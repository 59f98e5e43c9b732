//! The inner loops, timed through the public API: reading, epochs, prediction.
//!
//! ```sh
//! cargo bench -p linsep --bench inner_loops [-- NAME]
//! ```
//!
//! Each line has the least and the median time of a round, and what that makes for each byte or value. To tell whether a
//! change made something slower, count instructions (`bench/instructions.py`): times depend on what else the machine does.

#![allow(clippy::print_stdout, reason = "the times are the result")]

use linsep::generate::{FileFormat, Limit, Synthetic, dataset, write};
use linsep::model::Predictor;
use linsep::read::{ReadOptions, Source, read};
use linsep::train::{Learner, Order};
use linsep::{Dataset, Model, Settings, train};
use std::hint::black_box;
use std::time::{Duration, Instant};

const TEXT: Synthetic = Synthetic::Text { features: 47_000, per_row: 63.5, noise: 0.01 };
const TABLE: Synthetic = Synthetic::Blobs { features: 20, margin: 1e-4, spread: 1.0 };
const WIDE_TABLE: Synthetic = Synthetic::Blobs { features: 256, margin: 1e-4, spread: 1.0 };

/// Rounds go on for so long, after one that does not count.
const PATIENCE: Duration = Duration::from_secs(3);
const FEWEST_ROUNDS: usize = 5;

/// Times `round`, which handles `count` things, unless the command line names something else.
fn time<T>(name: &str, count: usize, unit: &str, mut round: impl FnMut() -> T) {
    // cargo adds --bench.
    let mut wanted = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    if wanted.peek().is_some() && !wanted.any(|word| name.contains(&word)) {
        return;
    }
    black_box(round());
    let clock = Instant::now();
    let mut times = Vec::new();
    while times.len() < FEWEST_ROUNDS || clock.elapsed() < PATIENCE {
        let start = Instant::now();
        black_box(round());
        times.push(start.elapsed());
    }
    times.sort();
    let (least, median) = (times[0], times[times.len() / 2]);
    let each = least.as_secs_f64() * 1e9 / count as f64;
    println!("{name:<28} {least:>12.2?} {median:>12.2?} {each:>9.3} ns/{unit}, {} rounds", times.len());
}

fn made(recipe: &Synthetic, rows: u64) -> Dataset {
    dataset(recipe, rows, 0).expect("the recipe is valid")
}

/// Text in memory to rows in memory.
fn reading() {
    for (name, recipe, format) in [("libsvm", TEXT, FileFormat::Libsvm), ("csv", TABLE, FileFormat::Csv)] {
        let mut bytes = Vec::new();
        write(&recipe, 0, Limit::Bytes(16 << 20), format, &mut bytes, &mut ()).expect("memory takes it");
        let count = bytes.len();
        let source = Source::Shared(name.to_string(), bytes.into());
        time(&format!("read {name}"), count, "byte", || {
            read(&source, &ReadOptions::default(), &mut ()).expect("made rows are read")
        });
    }
}

/// Five epochs with all that a run does beside them; the non-zeros of all five are counted.
fn epochs() {
    const EPOCHS: u64 = 5;
    for (rows, data) in [("sparse", made(&TEXT, 20_000)), ("dense", made(&WIDE_TABLE, 5_000))] {
        for (name, learner) in [("perceptron", Learner::Perceptron), ("averaged", Learner::Averaged)] {
            let settings = Settings { learner, epochs: EPOCHS, order: Order::Given, ..Settings::default() };
            time(&format!("five epochs {name} {rows}"), EPOCHS as usize * data.nonzeros(), "value", || {
                train(&data, &settings, &mut ()).expect("made rows are learned from")
            });
        }
    }
}

fn prediction() {
    for (rows, data) in [("sparse", made(&TEXT, 20_000)), ("dense", made(&WIDE_TABLE, 5_000))] {
        let settings = Settings { epochs: 1, ..Settings::default() };
        let model = Model::new(train(&data, &settings, &mut ()).expect("made rows are learned from"));
        let mut predictor = Predictor::new(&model);
        time(&format!("predict {rows}"), data.nonzeros(), "value", || {
            for i in 0..data.len() {
                black_box(predictor.predict(data.row(i)));
            }
        });
    }
}

fn main() {
    println!("{:<28} {:>12} {:>12}", "", "least", "median");
    reading();
    epochs();
    prediction();
}

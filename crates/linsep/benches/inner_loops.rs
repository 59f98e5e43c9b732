//! The inner loops, timed by criterion through the public API: reading, epochs, prediction.
//!
//! ```sh
//! cargo bench -p linsep --bench inner_loops
//! ```

#![allow(missing_docs, reason = "criterion's macros make functions without")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use linsep::generate::{FileFormat, Limit, Recipe, dataset, write};
use linsep::model::Predictor;
use linsep::read::{ReadOptions, Source, read};
use linsep::train::{Learner, Order};
use linsep::{Dataset, Model, Settings, train};
use std::hint::black_box;

const TEXT: Recipe = Recipe::Text { features: 47_000, per_row: 63.5, noise: 0.01 };
const TABLE: Recipe = Recipe::Blobs { features: 20, margin: 1e-4, spread: 1.0 };
const WIDE_TABLE: Recipe = Recipe::Blobs { features: 256, margin: 1e-4, spread: 1.0 };

fn made(recipe: &Recipe, rows: u64) -> Dataset {
    dataset(recipe, rows, 0).expect("the recipe is valid")
}

/// Text in memory to rows in memory.
fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for (name, recipe, format) in [("libsvm", TEXT, FileFormat::Libsvm), ("csv", TABLE, FileFormat::Csv)] {
        let mut bytes = Vec::new();
        write(&recipe, 0, Limit::Bytes(16 << 20), format, &mut bytes, &mut ()).expect("memory takes it");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let source = Source::Shared(name.to_string(), bytes.into());
        group.bench_function(name, |bencher| {
            bencher.iter(|| read(&source, &ReadOptions::default(), &mut ()).expect("made rows are read"));
        });
    }
    group.finish();
}

/// Five epochs with all that a run does beside them; the throughput counts the non-zeros of all five.
fn epochs(criterion: &mut Criterion) {
    const EPOCHS: u64 = 5;
    let mut group = criterion.benchmark_group("five epochs");
    for (rows, data) in [("sparse", made(&TEXT, 20_000)), ("dense", made(&WIDE_TABLE, 5_000))] {
        group.throughput(Throughput::Elements(EPOCHS * data.nonzeros() as u64));
        for (name, learner) in [("perceptron", Learner::Perceptron), ("averaged", Learner::Averaged)] {
            let settings = Settings { learner, epochs: EPOCHS, order: Order::Given, ..Settings::default() };
            group.bench_with_input(BenchmarkId::new(name, rows), &data, |bencher, data| {
                bencher.iter(|| train(data, &settings, &mut ()).expect("made rows are learned from"));
            });
        }
    }
    group.finish();
}

fn prediction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("predict");
    for (rows, data) in [("sparse", made(&TEXT, 20_000)), ("dense", made(&WIDE_TABLE, 5_000))] {
        group.throughput(Throughput::Elements(data.nonzeros() as u64));
        let settings = Settings { epochs: 1, ..Settings::default() };
        let model = Model::new(train(&data, &settings, &mut ()).expect("made rows are learned from"));
        let mut predictor = Predictor::new(&model);
        group.bench_function(rows, |bencher| {
            bencher.iter(|| {
                for i in 0..data.len() {
                    black_box(predictor.predict(data.row(i)));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(inner_loops, reading, epochs, prediction);
criterion_main!(inner_loops);

//! Work for `bench/instructions.py`, which counts the instructions of each piece: `instructions CASE TIMES` does the
//! piece so many times, so that the difference of two counts is the piece alone. Nothing is timed.

#![allow(clippy::print_stdout, reason = "the script reads the names of the cases")]

use linsep::generate::{FileFormat, Limit, Synthetic, dataset, write};
use linsep::model::Predictor;
use linsep::read::{ReadOptions, Source, read};
use linsep::train::Learner;
use linsep::{Dataset, Model, Settings, train};
use std::error::Error;
use std::hint::black_box;

/// The pieces whose cost must not grow unseen.
const CASES: [&str; 7] = [
    "read-libsvm",
    "read-csv",
    "epoch-sparse-perceptron",
    "epoch-sparse-averaged",
    "epoch-dense-averaged",
    "predict-sparse",
    "predict-dense",
];

const SPARSE: Synthetic = Synthetic::Text { features: 47_000, per_row: 63.5, noise: 0.01 };
const DENSE: Synthetic = Synthetic::Blobs { features: 50, margin: 0.001, spread: 1.0 };
const ROWS: u64 = 2000;

fn text(recipe: &Synthetic, format: FileFormat) -> Result<Source, Box<dyn Error>> {
    let mut bytes = Vec::new();
    write(recipe, 0, Limit::Rows(ROWS), format, &mut bytes, &mut ())?;
    Ok(Source::Shared("made".to_string(), bytes.into()))
}

fn settings(learner: Learner, epochs: u64) -> Settings {
    Settings { learner, epochs, ..Settings::default() }
}

fn predict(data: &Dataset, times: u64) -> Result<(), Box<dyn Error>> {
    let model = Model::new(train(data, &settings(Learner::Averaged, 1), &mut ())?);
    let mut predictor = Predictor::new(&model);
    for _ in 0..times {
        for i in 0..data.len() {
            black_box(predictor.predict(data.row(i)));
        }
    }
    Ok(())
}

fn work(case: &str, times: u64) -> Result<(), Box<dyn Error>> {
    match case {
        "read-libsvm" | "read-csv" => {
            let source = match case {
                "read-libsvm" => text(&SPARSE, FileFormat::Libsvm)?,
                _ => text(&DENSE, FileFormat::Csv)?,
            };
            for _ in 0..times {
                black_box(read(&source, &ReadOptions::default(), &mut ())?);
            }
        }
        // One epoch more is one piece more, without what a run does once.
        "epoch-sparse-perceptron" => {
            train(&dataset(&SPARSE, ROWS, 0)?, &settings(Learner::Perceptron, times), &mut ())?;
        }
        "epoch-sparse-averaged" => {
            train(&dataset(&SPARSE, ROWS, 0)?, &settings(Learner::Averaged, times), &mut ())?;
        }
        "epoch-dense-averaged" => {
            train(&dataset(&DENSE, ROWS, 0)?, &settings(Learner::Averaged, times), &mut ())?;
        }
        "predict-sparse" => predict(&dataset(&SPARSE, ROWS, 0)?, times)?,
        "predict-dense" => predict(&dataset(&DENSE, ROWS, 0)?, times)?,
        _ => return Err(format!("{case} is not one of {}", CASES.join(", ")).into()),
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    // One thread that is this one: no others that wait, and wait longer on one day than on another.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => println!("{}", CASES.join("\n")),
        [case, times] => work(case, times.parse()?)?,
        _ => return Err("expected CASE TIMES, or nothing for the list of cases".into()),
    }
    Ok(())
}

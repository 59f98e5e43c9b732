//! The experiment of Freund and Schapire, "Large margin classification using the perceptron algorithm" (1999), on
//! MNIST: kernel perceptrons, one for each digit against the rest, judged after a tenth of a pass up to ten passes
//! by the last function, the mean of all and the vote of all. Prints a table in Markdown.
//!
//! ```sh
//! cargo run --release -p linsep --example freund_schapire -- FOLDER [TRAINING ROWS] [DEGREE ...]
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an experiment shows its results")]

use flate2::read::GzDecoder;
use linsep::train::{Bias, Combine, Kernel, KernelMachine, KernelOptions, train_kernel};
use linsep::{Dataset, Row, Settings};
use rayon::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

const CLASSES: usize = 10;
const PIXELS: usize = 28 * 28;
const PASSES: [f64; 6] = [0.1, 1.0, 2.0, 3.0, 4.0, 10.0];
const COMBINES: [&str; 3] = ["last", "average", "vote"];

/// The bytes after the header of an IDX file.
fn idx(path: &Path, header: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    GzDecoder::new(file).read_to_end(&mut bytes)?;
    if bytes.len() < header {
        return Err(format!("{} is too short for an IDX file", path.display()).into());
    }
    Ok(bytes.split_off(header))
}

/// Pictures with pixels from 0 to 1, and their digits.
fn pictures(folder: &Path, name: &str, most: usize) -> Result<Dataset, Box<dyn Error>> {
    let pixels = idx(&folder.join(format!("{name}-images-idx3-ubyte.gz")), 16)?;
    let digits = idx(&folder.join(format!("{name}-labels-idx1-ubyte.gz")), 8)?;
    let rows = digits.len().min(most);
    let values: Vec<f64> = pixels[..rows * PIXELS].iter().map(|&p| f64::from(f32::from(p) / 255.0)).collect();
    let labels: Vec<String> = digits[..rows].iter().map(u8::to_string).collect();
    Ok(Dataset::dense(PIXELS, &values, &labels)?)
}

/// The scores of one class: for each moment of [`PASSES`], for each way to join, for each row.
type Scores = Vec<[Vec<f64>; 3]>;

/// Joins the functions of a run up to each moment, from one walk through its updates.
fn judge(machine: &KernelMachine, test: &Dataset, moments: &[f64]) -> Scores {
    let (sequence, survivals) = (machine.sequence(), machine.survivals());
    let starts: Vec<usize> = (0..test.len()).step_by(32).collect();
    let walked: Vec<Vec<[f64; 3]>> = starts
        .into_par_iter()
        .flat_map_iter(|start| {
            let rows: Vec<Row<'_>> = (start..(start + 32).min(test.len())).map(|i| test.row(i)).collect();
            machine.support_values(&rows)
        })
        .map(|values| {
            let mut joined = Vec::with_capacity(moments.len());
            let (mut seen, mut score, mut sum, mut balance) = (0.0, 0.0, 0.0, 0.0);
            for function in 0..survivals.len() {
                if let Some(before) = function.checked_sub(1) {
                    let (row, size) = sequence[before];
                    score += size * values[row as usize];
                }
                let sign = if score >= 0.0 { 1.0 } else { -1.0 };
                // A run that converged early goes on with its last function.
                let last = function + 1 == survivals.len();
                let until = if last { f64::INFINITY } else { seen + survivals[function] as f64 };
                while let Some(&moment) = moments.get(joined.len()).filter(|&&moment| moment <= until) {
                    joined.push([score, sum + (moment - seen) * score, balance + (moment - seen) * sign]);
                }
                sum += (until - seen) * score;
                balance += (until - seen) * sign;
                seen = until;
            }
            joined
        })
        .collect();
    let column = |moment: usize, way: usize| walked.iter().map(|row| row[moment][way]).collect();
    (0..moments.len()).map(|moment| std::array::from_fn(|way| column(moment, way))).collect()
}

/// Updates and support rows of a run up to a moment.
fn counts(machine: &KernelMachine, moment: f64) -> (usize, usize) {
    let (sequence, survivals) = (machine.sequence(), machine.survivals());
    let mut seen = 0;
    let updates = survivals
        .iter()
        .take(sequence.len())
        .take_while(|&&survived| {
            // An update comes with the example after those that the function before it survived.
            seen += survived;
            (seen as f64) < moment
        })
        .count();
    // Support rows are numbered as they come.
    let support = sequence[..updates].iter().map(|&(row, _)| row as usize + 1).max().unwrap_or(0);
    (updates, support)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder holds MNIST?")?;
    let most: usize = arguments.next().map_or(Ok(usize::MAX), |text| text.parse())?;
    let mut degrees: Vec<u32> = arguments.map(|text| text.parse()).collect::<Result<_, _>>()?;
    if degrees.is_empty() {
        degrees = vec![1, 2, 3];
    }
    let train = pictures(folder.as_ref(), "train", most)?;
    let test = pictures(folder.as_ref(), "t10k", usize::MAX)?;
    let moments = PASSES.map(|passes| (passes * train.len() as f64).round());
    println!(
        "{} training rows, {} test rows; test error in percent after a number of passes:\n",
        train.len(),
        test.len()
    );
    println!("| degree | | {} |", PASSES.map(|passes| passes.to_string()).join(" | "));
    println!("|---|---|{}", "---:|".repeat(PASSES.len()));
    for degree in degrees {
        let clock = Instant::now();
        let machines = (0..CLASSES)
            .into_par_iter()
            .map(|class| {
                let settings = Settings {
                    epochs: 10,
                    bias: Bias::None,
                    positive: Some(class.to_string()),
                    ..Settings::default()
                };
                let kernel = Kernel::Polynomial { degree, gamma: 1.0, offset: 1.0 };
                let options = KernelOptions { kernel, combine: Combine::Vote, cache_bytes: 200_000_000 };
                let (machine, status, updates) = train_kernel(&train, &settings, &options, &mut ())?;
                let (support, seconds) = (machine.support(), clock.elapsed().as_secs_f64());
                eprintln!("degree {degree}, digit {class}: {status:?}, {updates} updates, {support} rows, at {seconds:.1} s");
                Ok(machine)
            })
            .collect::<Result<Vec<KernelMachine>, linsep::Error>>()?;
        let trained = clock.elapsed().as_secs_f64();
        let scores: Vec<Scores> = machines.iter().map(|machine| judge(machine, &test, &moments)).collect();
        for (way, name) in COMBINES.iter().enumerate() {
            let errors: Vec<String> = (0..moments.len())
                .map(|moment| {
                    let wrong = (0..test.len()).filter(|&row| {
                        let score = |class: usize| scores[class][moment][way][row];
                        // The lowest class wins ties.
                        let best = (1..CLASSES)
                            .fold(0, |best, class| if score(class) > score(best) { class } else { best });
                        test.classes()[test.labels()[row] as usize] != best.to_string()
                    });
                    format!("{:.2}", wrong.count() as f64 * 100.0 / test.len() as f64)
                })
                .collect();
            println!("| {degree} | {name} | {} |", errors.join(" | "));
        }
        for (what, name) in ["updates", "support rows"].iter().enumerate() {
            let totals = moments.map(|moment| {
                let count =
                    machines.iter().map(|machine| counts(machine, moment)).map(|pair| [pair.0, pair.1][what]);
                count.sum::<usize>().to_string()
            });
            println!("| {degree} | {name} | {} |", totals.join(" | "));
        }
        eprintln!(
            "degree {degree}: trained in {trained:.1} s, judged in {:.1} s",
            clock.elapsed().as_secs_f64() - trained
        );
    }
    Ok(())
}

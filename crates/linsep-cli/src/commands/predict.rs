//! `linsep predict`

use super::{data_source, load_model, print_result, read_options, refuse_overwriting, tell_notes};
use crate::args::{MissingArg, PredictArgs, ShowArg};
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use linsep::Model;
use linsep::model::{Prediction, Predictor};
use linsep::numbers;
use linsep::observe::{Observer, Progress};
use linsep::read::{Batch, Labels, RowStream};
use linsep::train::Learned;
use rayon::prelude::*;
use std::io::{self, Write};

pub(crate) fn run(args: &PredictArgs, console: Console) -> anyhow::Result<Exit> {
    check(args)?;
    if let Some(output) = &args.output {
        refuse_overwriting(&[output], &[&args.model, &args.data])?;
    }
    let model = load_model(&args.model)?;
    if args.show == ShowArg::Distance && !matches!(model.learned, Learned::Linear(_)) {
        let reason = "this model has no one flat boundary to be distant from (it votes, sums kernels, looks rows up, or \
                      tells many classes apart); --show score has what it goes by";
        return Err(Usage(reason.into()).into());
    }
    let mut options = read_options(&args.read);
    options.schema = Some(model.schema.clone());
    options.labels = Labels::Ignored;
    let mut stream = RowStream::open(&data_source(&args.data), &options)?;
    let outcomes = model.classes.outcomes();
    let mut job = Job { args, model: &model, outcomes, console, failure: None, rows: 0 };
    let result = match &args.output {
        Some(path) => {
            linsep::store::write_atomically(path, |out| job.write(&mut stream, out)).map_err(Into::into)
        }
        None => print_result(|out| job.write(&mut stream, out)).map(|_| ()),
    };
    // A failed read surfaces as a failed write; the read is what the user needs to hear of.
    if let Some(error) = job.failure {
        return Err(error);
    }
    result?;
    tell_notes(console, &stream.notes());
    Ok(Exit::Fine)
}

/// Where rows are left out, a bare list of labels no longer tells which row each belongs to.
fn check(args: &PredictArgs) -> Result<(), Usage> {
    let option = match args.read.missing {
        _ if args.csv => return Ok(()),
        _ if args.read.skip_bad => "--skip-bad",
        Some(MissingArg::DropRow) => "--missing drop-row",
        _ => return Ok(()),
    };
    Err(Usage(format!(
        "{option} leaves rows out, so the lines of the output would not be those of the file; add --csv, which \
         prints the line of each row"
    )))
}

struct Job<'a> {
    args: &'a PredictArgs,
    model: &'a Model,
    /// The names that predictions give.
    outcomes: Vec<String>,
    console: Console,
    failure: Option<anyhow::Error>,
    rows: u64,
}

impl Job<'_> {
    /// Predicts batch by batch, in memory that does not grow with the file.
    fn write(&mut self, stream: &mut RowStream, out: &mut dyn Write) -> io::Result<()> {
        if self.args.csv {
            writeln!(out, "line,label,score,distance")?;
        }
        let mut watch = Watch::new(self.console);
        let mut unknown = 0u64;
        let predictor = Predictor::new(self.model);
        loop {
            let batch = match stream.next_batch() {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error.into());
                    return Err(io::Error::other("reading failed"));
                }
            };
            let columns = self.model.learned.columns();
            unknown += (0..batch.len()).filter(|&i| batch.row(i).width() > columns).count() as u64;
            for (i, prediction) in predict_batch(&predictor, &batch).into_iter().enumerate() {
                self.rows += 1;
                let line = batch.line(i).unwrap_or(self.rows);
                let distance = prediction.distance.unwrap_or(0.0);
                if !prediction.score.is_finite() || !distance.is_finite() {
                    self.failure = Some(not_finite(stream.name(), line));
                    return Err(io::Error::other("a score is not finite"));
                }
                self.print(line, prediction, out)?;
            }
            let (bytes, total) = stream.bytes();
            if watch.progress(&Progress::Reading { bytes, total, rows: self.rows }).is_break() {
                // Half an answer is none: a file named for it stays as it was.
                self.failure = Some(linsep::Error::Interrupted.into());
                return Err(io::Error::other("interrupted"));
            }
        }
        let _ = watch.end();
        if self.rows == 0 {
            self.failure = Some(stream.no_rows().into());
            return Err(io::Error::other("no rows"));
        }
        if unknown > 0 {
            self.console.note(&format!(
                "note: {} features that the model has not seen; they are left out.",
                numbers::counted(unknown, "row has", "rows have")
            ));
        }
        Ok(())
    }

    fn print(&self, line: u64, prediction: Prediction, out: &mut dyn Write) -> io::Result<()> {
        let label = &self.outcomes[prediction.outcome];
        let score = || number(prediction.score);
        let distance = || prediction.distance.map_or(String::new(), number);
        if self.args.csv {
            return writeln!(out, "{line},{},{},{}", quoted(label), score(), distance());
        }
        match self.args.show {
            ShowArg::Label => writeln!(out, "{label}"),
            ShowArg::Score => writeln!(out, "{}", score()),
            ShowArg::Distance => writeln!(out, "{}", distance()),
        }
    }
}

/// Predicts the rows of a batch, in their order: in parallel, unless that costs more than the scores themselves.
pub(super) fn predict_batch(predictor: &Predictor<'_>, batch: &Batch) -> Vec<Prediction> {
    if let Learned::Linear(_) = predictor.model().learned {
        let mut predictor = predictor.clone();
        return (0..batch.len()).map(|i| predictor.predict(batch.row(i))).collect();
    }
    (0..batch.len())
        .into_par_iter()
        .with_min_len(256)
        .map_init(|| predictor.clone(), |predictor, i| predictor.predict(batch.row(i)))
        .collect()
}

/// The error for a row whose score overflows.
pub(super) fn not_finite(name: &str, line: u64) -> anyhow::Error {
    anyhow::anyhow!("{name}:{line}: the numbers of this row are too large: its score is not finite")
}

/// The shortest text that reads back as the same number; without hundreds of zeros.
fn number(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// A CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for (value, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-0.1, "-0.1"),
            (0.00001, "0.00001"),
            (0.0000099, "9.9e-6"),
            (1e15, "1000000000000000"),
            (1e16, "1e16"),
            (-1.25e300, "-1.25e300"),
        ] {
            assert_eq!(number(value), text);
            assert_eq!(text.parse(), Ok(value));
        }
    }
}

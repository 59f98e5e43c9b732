//! `linsep predict`

use super::{load_model, print_result, read_options, tell_notes};
use crate::args::{PredictArgs, ShowArg};
use crate::console::{Console, Watch};
use crate::exit::Exit;
use linsep::Model;
use linsep::model::{Prediction, Predictor};
use linsep::observe::{Observer, Progress};
use linsep::read::{Batch, Labels, RowStream, Source};
use rayon::prelude::*;
use std::io::{self, Write};

pub(crate) fn run(args: &PredictArgs, console: Console) -> anyhow::Result<Exit> {
    let model = load_model(&args.model)?;
    let mut options = read_options(&args.read);
    options.schema = Some(model.schema.clone());
    options.labels = Labels::Ignored;
    let mut stream = RowStream::open(&Source::from_argument(&args.data), &options)?;
    let mut job = Job { args, model: &model, console, failure: None, interrupted: false, rows: 0 };
    let result = match &args.output {
        Some(path) => {
            linsep::store::write_atomically(path, |out| job.write(&mut stream, out)).map_err(Into::into)
        }
        None => print_result(|out| job.write(&mut stream, out)).map(|_| ()),
    };
    // A failed read surfaces as a failed write; the read is what the user needs to hear of.
    if let Some(error) = job.failure {
        return Err(error.into());
    }
    result?;
    tell_notes(console, &stream.notes());
    Ok(if job.interrupted { Exit::Interrupted } else { Exit::Fine })
}

struct Job<'a> {
    args: &'a PredictArgs,
    model: &'a Model,
    console: Console,
    failure: Option<linsep::Error>,
    interrupted: bool,
    rows: u64,
}

impl Job<'_> {
    /// Predicts batch by batch, in memory that does not grow with the file.
    fn write(&mut self, stream: &mut RowStream, out: &mut dyn Write) -> io::Result<()> {
        if self.args.csv {
            writeln!(out, "row,label,score,distance")?;
        }
        let mut watch = Watch::new(self.console);
        let mut unknown = 0u64;
        loop {
            let batch = match stream.next_batch() {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    return Err(io::Error::other("reading failed"));
                }
            };
            let columns = self.model.learned.columns();
            unknown += (0..batch.len()).filter(|&i| batch.row(i).width() > columns).count() as u64;
            for prediction in predict_batch(self.model, &batch) {
                self.rows += 1;
                self.print(prediction, out)?;
            }
            let (bytes, total) = stream.bytes();
            if watch.progress(&Progress::Reading { bytes, total, rows: self.rows }).is_break() {
                self.interrupted = true;
                break;
            }
        }
        let _ = watch.end();
        if self.rows == 0 && !self.interrupted {
            self.failure = Some(stream.no_rows());
            return Err(io::Error::other("no rows"));
        }
        if unknown > 0 {
            self.console.note(&format!(
                "note: {unknown} rows have features that the model has not seen; they are left out."
            ));
        }
        Ok(())
    }

    fn print(&self, prediction: Prediction, out: &mut dyn Write) -> io::Result<()> {
        let label = self.model.classes.name_of(prediction.score);
        let distance = prediction.distance.map_or(String::new(), |distance| distance.to_string());
        if self.args.csv {
            return writeln!(out, "{},{},{},{distance}", self.rows, quoted(&label), prediction.score);
        }
        match self.args.show {
            ShowArg::Label => writeln!(out, "{label}"),
            ShowArg::Score => writeln!(out, "{}", prediction.score),
            ShowArg::Distance => writeln!(out, "{distance}"),
        }
    }
}

/// Predicts the rows of a batch in parallel, in their order.
pub(super) fn predict_batch(model: &Model, batch: &Batch) -> Vec<Prediction> {
    (0..batch.len())
        .into_par_iter()
        .with_min_len(256)
        .map_init(|| Predictor::new(model), |predictor, i| predictor.predict(batch.row(i)))
        .collect()
}

/// A CSV field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

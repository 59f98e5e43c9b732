//! Learning from a stream: one pass, each row learned as it comes and then forgotten.
//!
//! The result has the same bits as one pass in the given order over the same rows in memory. What a stream
//! cannot know beforehand is settled when it becomes known: the labels are exchanged when the second class
//! shows that the first was not the positive one, and features move down by one when a LIBSVM stream ends
//! without an index 0.

use super::CheckpointError;
use super::evidence::Evidence;
use super::learned::Learned;
use super::online::OnlineLearner;
use super::run::{Outcome, Run, Status, check_lengths};
use super::settings::{Init, Order, Settings, SettingsError};
use crate::Error;
use crate::classes::{ClassError, ClassPair, sorted_order};
use crate::observe::{Observer, Progress, Update};
use crate::read::{Batch, RowStream};
use crate::scale::{RowBuffer, Scaler};
use crate::theory::margin::Extent;
use std::time::Instant;

/// Trains on the rows of a stream, in memory that does not grow with their number.
///
/// `scaler` has been learned elsewhere, or needs no learning. With `checkpoint`, the rows that it has seen are read again and
/// passed over.
pub fn train_stream(
    stream: &mut RowStream,
    settings: &Settings,
    scaler: &Scaler,
    checkpoint: Option<Run>,
    observer: &mut impl Observer,
) -> Result<Outcome, Error> {
    check(settings)?;
    let hashing = observer.saves() || checkpoint.is_some();
    let mut learning = Learning::new(settings, checkpoint, hashing)?;
    let (clock, spent) = (Instant::now(), learning.run.seconds);
    let mut status = None;
    while status.is_none() {
        let batch = match stream.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                // A source that the user ended is no error: what came before counts.
                let (bytes, total) = stream.bytes();
                let progress = Progress::Reading { bytes, total, rows: learning.run.position };
                if observer.progress(&progress).is_continue() {
                    return Err(error);
                }
                status = Some(Status::Interrupted);
                break;
            }
        };
        status = learning.batch(&batch, stream, scaler, observer)?;
        if learning.skipping() {
            continue;
        }
        learning.run.seconds = spent + clock.elapsed().as_secs_f64();
        if let Some(hasher) = &learning.hasher {
            learning.run.data = hasher.clone().finalize().to_hex().to_string();
        }
        observer.checkpoint(&learning.run);
        let (bytes, total) = stream.bytes();
        if observer.progress(&Progress::Reading { bytes, total, rows: learning.run.position }).is_break() {
            status.get_or_insert(Status::Interrupted);
        }
        if settings.max_seconds.is_some_and(|most| learning.run.seconds >= most) {
            status.get_or_insert(Status::TimeLimit);
        }
    }
    if status == Some(Status::Interrupted) && (learning.skipping() || learning.run.position == 0) {
        return Err(Error::Interrupted);
    }
    if learning.skipping() {
        return Err(CheckpointError::OtherData.into());
    }
    if learning.run.position == 0 {
        return Err(stream.no_rows());
    }
    learning.finish(stream, status)
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let refuse = |reason: &str| Err(SettingsError(reason.to_string()));
    settings.validate()?;
    if settings.epochs != 1 || settings.order != Order::Given {
        return refuse("a stream is learned in one pass and in the given order: --epochs 1 --order given");
    }
    if matches!(settings.init, Init::Warm(_)) && settings.positive.is_none() {
        return refuse("a warm start on a stream needs --positive: the weights already stand for one side");
    }
    Ok(())
}

struct Learning {
    run: Run,
    extent: Extent,
    nonzeros: u64,
    hasher: Option<blake3::Hasher>,
    /// Rows of the checkpoint that are still to be passed over, and the hash they must have.
    to_skip: u64,
    expected: String,
    /// The sign of each class met, in the order of first appearance.
    signs: Vec<i8>,
    buffer: RowBuffer,
}

impl Learning {
    fn new(settings: &Settings, checkpoint: Option<Run>, hashing: bool) -> Result<Self, Error> {
        let (to_skip, expected) = match &checkpoint {
            Some(run) => {
                run.check_settings(settings)?;
                (run.position, run.data.clone())
            }
            None => (0, String::new()),
        };
        let mut run = match checkpoint {
            Some(run) => run,
            None => Run {
                learner: OnlineLearner::new(settings, 0)?,
                settings: settings.clone(),
                epoch: 0,
                position: 0,
                pass_mistakes: 0,
                seconds: 0.0,
                data: String::new(),
            },
        };
        run.settings = settings.clone();
        Ok(Self {
            run,
            extent: Extent::default(),
            nonzeros: 0,
            hasher: hashing.then(blake3::Hasher::new),
            to_skip,
            expected,
            signs: Vec::new(),
            buffer: RowBuffer::default(),
        })
    }

    fn skipping(&self) -> bool {
        self.to_skip > 0
    }

    /// Learns the rows of a batch; gives a status if a limit was reached.
    fn batch(
        &mut self,
        batch: &Batch,
        stream: &RowStream,
        scaler: &Scaler,
        observer: &mut impl Observer,
    ) -> Result<Option<Status>, Error> {
        for i in 0..batch.len() {
            if batch.label(i) == Batch::UNLABELLED {
                return Err(SettingsError("the stream was opened without its labels".to_string()).into());
            }
            let class = batch.label(i) as usize;
            if class >= self.signs.len() {
                self.meet(&stream.label_names()[..=class])?;
            }
            let row = scaler.apply(batch.row(i), &mut self.buffer);
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&(class as u32).to_le_bytes());
                for (column, value) in row.iter() {
                    hasher.update(&(column as u32).to_le_bytes());
                    hasher.update(&value.to_bits().to_le_bytes());
                }
            }
            self.extent.include(row, self.run.settings.bias.input());
            self.nonzeros += row.iter().filter(|&(_, value)| value != 0.0).count() as u64;
            if self.to_skip > 0 {
                self.run.learner.expect_rows(self.extent.radius_upper, row.stored());
                self.to_skip -= 1;
                if self.to_skip == 0
                    && self.hasher.as_ref().map(|h| h.finalize().to_hex().to_string()).as_ref()
                        != Some(&self.expected)
                {
                    return Err(CheckpointError::OtherData.into());
                }
                continue;
            }
            // Checked before learning: one huge row must not spoil the weights.
            check_lengths(&self.extent)?;
            let sign = self.signs[class];
            self.run.position += 1;
            if let Some(lesson) = self.run.learner.learn(row, sign, None) {
                self.run.pass_mistakes += 1;
                observer.update(&Update {
                    number: self.run.learner.updates(),
                    epoch: 1,
                    position: self.run.position - 1,
                    row,
                    row_squared: lesson.row_squared,
                    sign,
                    agreement: lesson.agreement,
                });
                if self.run.settings.max_updates.is_some_and(|most| self.run.learner.updates() >= most) {
                    return Ok(Some(Status::UpdateLimit));
                }
            }
        }
        Ok(None)
    }

    /// Gives a class that turns up for the first time its sign.
    fn meet(&mut self, names: &[String]) -> Result<(), Error> {
        if let Some(positive) = &self.run.settings.positive {
            let positive = crate::classes::class_name(positive);
            self.signs =
                names.iter().map(|name| if Some(name) == positive.as_ref() { 1 } else { -1 }).collect();
            return Ok(());
        }
        match names.len() {
            // Until a second class turns up, the first is taken for the positive one.
            1 => self.signs = vec![1],
            2 if sorted_order(names)[0] == 1 => self.signs = vec![1, -1],
            2 => {
                self.signs = vec![-1, 1];
                if self.to_skip == 0 {
                    self.run.learner.exchange_labels();
                }
            }
            _ => return Err(ClassPair::choose(names, None).err().map_or(Error::Interrupted, Error::from)),
        }
        Ok(())
    }

    /// Settles what only the end of the stream could tell, and judges the result.
    fn finish(mut self, stream: &RowStream, status: Option<Status>) -> Result<Outcome, Error> {
        let names = stream.label_names();
        let sorted: Vec<String> = sorted_order(names).into_iter().map(|i| names[i].clone()).collect();
        let classes = ClassPair::choose(&sorted, self.run.settings.positive.as_deref())?;
        if self.signs.iter().all(|&sign| sign == self.signs[0]) {
            return Err(ClassError::One { class: sorted.first().cloned().unwrap_or_default() }.into());
        }
        if stream.index_shift() == 1 {
            self.run.learner.shift_features_down();
        }
        let features = stream.schema().features();
        self.run.learner.widen(features);
        self.run.learner.end_pass();
        let status = status.unwrap_or(if self.run.pass_mistakes == 0 {
            Status::Converged
        } else {
            Status::EpochLimit
        });
        let learned: Learned = self.run.learner.learned();
        let evidence = Evidence::new(
            (self.run.position, features as u64, self.nonzeros),
            (1, self.run.learner.updates(), status),
            None,
            Some(self.run.learner.updates() as f64 / self.run.position as f64),
            self.extent,
            self.run.settings.bias.input(),
            None,
            self.run.learner.margin_upper(),
        );
        Ok(Outcome { learned, status, evidence, classes, settings: self.run.settings })
    }
}

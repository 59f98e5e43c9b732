//! Learning from a stream: one pass, each row learned as it comes and then forgotten.
//!
//! The result has the same bits as one pass in the given order over the same rows in memory. What a stream
//! cannot know beforehand is settled when it becomes known: the labels are exchanged when the second class
//! shows that the first was not the positive one, and features move down by one when a LIBSVM stream ends
//! without an index 0.

use crate::Error;
use crate::SettingsError;
use crate::classes::{ClassError, ClassPair, Classes, class_name, sorted_order};
use crate::observe::{Observer, Progress, Update};
use crate::read::{Batch, RowStream};
use crate::scale::{RowBuffer, Scaler};
use crate::theory::margin::{Extent, MarginKind};
use crate::train::CheckpointError;
use crate::train::engine::evidence::Evidence;
use crate::train::engine::learned::Learned;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::passes::Cursor;
use crate::train::engine::run::{Outcome, Run, Status, check_lengths};
use crate::train::settings::{ClassWeight, Init, Order, Settings};
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
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    check(settings)?;
    let hashing = observer.saves() || checkpoint.is_some();
    let mut learning = Learning::new(settings, checkpoint, hashing)?;
    let (clock, spent) = (Instant::now(), learning.run.cursor.seconds);
    let mut status = None;
    while status.is_none() {
        let batch = match stream.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                // A source that the user ended is no error: what came before counts.
                let (bytes, total) = stream.bytes();
                let progress = Progress::Reading { bytes, total, rows: learning.run.cursor.position };
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
        learning.run.cursor.seconds = spent + clock.elapsed().as_secs_f64();
        if let Some(hasher) = &learning.hasher {
            learning.run.data = hasher.clone().finalize().to_hex().to_string();
        }
        observer.checkpoint(&learning.run);
        let (bytes, total) = stream.bytes();
        if observer
            .progress(&Progress::Reading { bytes, total, rows: learning.run.cursor.position })
            .is_break()
        {
            status.get_or_insert(Status::Interrupted);
        }
        if settings.max_seconds.is_some_and(|most| learning.run.cursor.seconds >= most) {
            status.get_or_insert(Status::TimeLimit);
        }
    }
    if status == Some(Status::Interrupted) && (learning.skipping() || learning.run.cursor.position == 0) {
        return Err(Error::Interrupted);
    }
    if learning.skipping() {
        return Err(CheckpointError::OtherData.into());
    }
    if learning.run.cursor.position == 0 {
        return Err(stream.no_rows());
    }
    learning.finish(stream, status)
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let refuse = |reason: &str| Err(SettingsError::new("online", reason.to_string()));
    settings.validate()?;
    if !settings.learner.is_online() {
        return Err(SettingsError::new(
            "online",
            format!(
                "the {} learner needs all rows at once; from a stream learn perceptron, averaged, voted, margin, sgd and \
             passive-aggressive",
                settings.learner.name()
            ),
        ));
    }
    if settings.class_weight == ClassWeight::Balanced {
        return refuse(
            "balanced class weights need all rows counted first; from a stream, name them: CLASS=WEIGHT",
        );
    }
    if settings.shards > 1 {
        return refuse("shards need all rows at once; a stream is learned row by row");
    }
    if settings.epochs != 1 || settings.order != Order::Given {
        return refuse("a stream is learned in one pass and in the given order: ⟦epochs=1⟧ ⟦order=given⟧");
    }
    if matches!(settings.init, Init::Warm(_)) && settings.positive.is_none() {
        return refuse("a warm start on a stream needs ⟦positive⟧: the weights already stand for one side");
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
    /// How often its rows count.
    weights: Vec<f64>,
    buffer: RowBuffer,
}

impl Learning {
    fn new(settings: &Settings, checkpoint: Option<Run>, hashing: bool) -> Result<Self, Error> {
        let (to_skip, expected) = match &checkpoint {
            Some(run) => {
                run.check_settings(settings)?;
                (run.cursor.position, run.data.clone())
            }
            None => (0, String::new()),
        };
        let mut run = match checkpoint {
            Some(run) => run,
            None => Run {
                learner: OnlineLearner::new(settings, 0)?,
                settings: settings.clone(),
                cursor: Cursor::default(),
                data: String::new(),
                shard_updates: Vec::new(),
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
            weights: Vec::new(),
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
        observer: &mut dyn Observer,
    ) -> Result<Option<Status>, Error> {
        for i in 0..batch.len() {
            if batch.label(i) == Batch::UNLABELLED {
                return Err(SettingsError::new(
                    "online",
                    "the stream was opened without its labels".to_string(),
                )
                .into());
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
            self.run.cursor.position += 1;
            if let Some(applied) = self.run.learner.learn_weighted(row, sign, self.weights[class], None) {
                self.run.cursor.pass_updates += 1;
                observer.update(&Update {
                    number: self.run.learner.updates(),
                    epoch: 1,
                    position: self.run.cursor.position - 1,
                    row,
                    row_squared: applied.row_squared,
                    sign,
                    agreement: applied.agreement,
                });
                if self.run.settings.max_updates.is_some_and(|most| self.run.learner.updates() >= most) {
                    return Ok(Some(Status::UpdateLimit));
                }
            }
        }
        Ok(None)
    }

    fn weight_of(&self, class: &str) -> f64 {
        match &self.run.settings.class_weight {
            ClassWeight::Named(named) => named
                .iter()
                .find(|(label, _)| class_name(label).as_deref() == Some(class))
                .map_or(1.0, |(_, weight)| *weight),
            _ => 1.0,
        }
    }

    /// Gives a class that turns up for the first time its sign.
    fn meet(&mut self, names: &[String]) -> Result<(), Error> {
        self.weights = names.iter().map(|name| self.weight_of(name)).collect();
        if let Some(positive) = &self.run.settings.positive {
            let positive = class_name(positive);
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
        let status = status.unwrap_or(if self.run.cursor.pass_updates == 0 {
            Status::Converged
        } else {
            Status::EpochLimit
        });
        let learned: Learned = self.run.learner.learned();
        let mut evidence = Evidence::new(
            (self.run.cursor.position, features as u64, self.nonzeros),
            (1, self.run.learner.updates(), status),
            None,
            Some(self.run.learner.updates() as f64 / self.run.cursor.position as f64),
            self.extent,
            MarginKind::of_bias(self.run.settings.bias.input()),
            None,
            self.run.learner.margin_upper(),
        );
        evidence.weighted = self.run.settings.class_weight != ClassWeight::Equal;
        if !learned.is_finite() {
            return Err(SettingsError::new(
                "online",
                "the weights grew beyond all numbers: choose a smaller ⟦step⟧",
            )
            .into());
        }
        let classes = Classes::Pair(classes);
        Ok(Outcome {
            learned,
            status,
            evidence,
            boundaries: Vec::new(),
            classes,
            settings: self.run.settings,
        })
    }
}

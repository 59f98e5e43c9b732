//! Learning from a stream: one pass, each row learned as it comes and then forgotten.
//!
//! The result has the same bits as one pass in the given order over the same rows in memory. What a stream
//! cannot know beforehand is settled when it becomes known: which class is positive when the second class turns up, one
//! boundary for each class when the third does, and features move down by one when a LIBSVM stream ends without an index 0.
//! The multi-class perceptron alone depends on when classes turn up: see [`State`].

use crate::observe::{Observer, Update};
use crate::read::{Batch, RowStream};
use crate::scale::{RowBuffer, Scaler};
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::run::{Outcome, Status};
use crate::train::engine::state::State;
use crate::train::learners::names_of;
use crate::train::settings::{ClassWeight, Init, Order, Settings};
use crate::{Error, SettingsError};
use std::time::Instant;

/// A state that is taken up on a stream.
#[derive(Clone, Debug)]
pub enum Resume {
    /// The stream begins with the rows that the state has seen: they are read again, compared with the hash that the state
    /// has of them, and passed over.
    Checked(State),
    /// The stream begins with the first row that the state has not seen. The caller vouches for that, and for columns that
    /// are numbered as they were; nothing is read again.
    Vouched(State),
}

/// Trains on the rows of a stream, in memory that does not grow with their number.
///
/// `scaler` has been learned elsewhere, or needs no learning.
pub fn train_stream(
    stream: &mut RowStream,
    settings: &Settings,
    scaler: &Scaler,
    resume: Option<Resume>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    check(settings)?;
    let mut run = StreamRun::new(settings, resume, observer.saves())?;
    let (clock, spent) = (Instant::now(), run.state.cursor.seconds);
    let mut stopped = None;
    while stopped.is_none() {
        let batch = match stream.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                // A source that the user ended is no error: the rows before count.
                if observer.progress(&stream.progress(run.state.rows())).is_continue() {
                    return Err(error);
                }
                stopped = Some(Status::Interrupted);
                break;
            }
        };
        stopped = run.batch(&batch, stream, scaler, observer)?;
        if run.skipping() {
            continue;
        }
        run.state.cursor.seconds = spent + clock.elapsed().as_secs_f64();
        if let Some(hasher) = &run.hasher {
            run.state.data = hasher.clone().finalize().to_hex().to_string();
        }
        observer.checkpoint(&run.state);
        if observer.progress(&stream.progress(run.state.rows())).is_break() {
            stopped.get_or_insert(Status::Interrupted);
        }
        if settings.max_seconds.is_some_and(|most| run.state.cursor.seconds >= most) {
            stopped.get_or_insert(Status::TimeLimit);
        }
    }
    let nothing = run.state.rows() == 0;
    if stopped == Some(Status::Interrupted) && (run.skipping() || nothing) {
        return Err(Error::Interrupted);
    }
    if run.skipping() {
        return Err(CheckpointError::OtherData.into());
    }
    if nothing {
        return Err(stream.no_rows());
    }
    run.finish(stream, stopped)
}

fn check(settings: &Settings) -> Result<(), SettingsError> {
    let refuse = |reason: &str| Err(SettingsError::new("online", reason.to_string()));
    settings.validate()?;
    if !settings.learner.is_online() {
        return Err(SettingsError::new(
            "online",
            format!(
                "the {} learner needs all rows at once; for a stream, use {}",
                settings.learner.name(),
                names_of(|abilities| abilities.row_by_row)
            ),
        ));
    }
    if settings.class_weight == ClassWeight::Balanced {
        return refuse(
            "balanced class weights need the class counts first; for a stream, give the weight of each class",
        );
    }
    if settings.shards > 1 {
        return refuse("shards need all rows at once, so they do not work on a stream");
    }
    if settings.epochs != 1 || settings.order != Order::Given {
        return refuse("a stream allows one pass in the given order: ⟦epochs=1⟧ ⟦order=given⟧");
    }
    if matches!(settings.init, Init::Warm(_)) && settings.positive.is_none() {
        return refuse("a warm start on a stream needs ⟦positive⟧, the class that the weights are for");
    }
    Ok(())
}

/// A state on its way through a stream.
struct StreamRun {
    state: State,
    hasher: Option<blake3::Hasher>,
    /// Rows of the checkpoint that are still to be passed over, and the hash they must have.
    to_skip: u64,
    expected: String,
    /// The state's number of each class of the stream.
    classes: Vec<usize>,
    buffer: RowBuffer,
}

impl StreamRun {
    fn new(settings: &Settings, resume: Option<Resume>, saves: bool) -> Result<Self, Error> {
        let resumed = resume.is_some();
        let mut run = Self {
            state: State::new(settings, 0)?,
            hasher: (saves || resumed).then(blake3::Hasher::new),
            to_skip: 0,
            expected: String::new(),
            classes: Vec::new(),
            buffer: RowBuffer::default(),
        };
        // A stream that has begun has seen a class.
        let begun = |state: &State| state.cursor.position > 0 || state.updates() > 0;
        if let Some(Resume::Checked(state) | Resume::Vouched(state)) = &resume
            && state.seen.names.is_empty()
            && begun(state)
        {
            return Err(CheckpointError::NotAStream.into());
        }
        match resume {
            None => return Ok(run),
            Some(Resume::Checked(state)) => {
                if state.seen.vouched > 0 {
                    return Err(CheckpointError::Vouched { rows: state.seen.vouched }.into());
                }
                run.to_skip = state.cursor.position;
                run.expected.clone_from(&state.data);
                run.state = state;
            }
            Some(Resume::Vouched(mut state)) => {
                state.seen.vouched = state.cursor.position;
                run.state = state;
            }
        }
        run.state.check_settings(settings)?;
        run.state.settings = settings.clone();
        let seen = &run.state.seen;
        run.state.expect_rows(seen.extent.radius_upper, seen.most_stored);
        Ok(run)
    }

    fn skipping(&self) -> bool {
        self.to_skip > 0
    }

    /// Learns the rows of a batch; returns a status if a limit was reached.
    fn batch(
        &mut self,
        batch: &Batch,
        stream: &RowStream,
        scaler: &Scaler,
        observer: &mut dyn Observer,
    ) -> Result<Option<Status>, Error> {
        for i in 0..batch.len() {
            // A row takes time in proportion to the classes: thousands of them make a batch long.
            let pause = 1_000_000 / self.classes.len().max(1);
            if i % pause.max(1) == pause.max(1) - 1 && observer.will_stop() {
                return Ok(Some(Status::Interrupted));
            }
            if batch.label(i) == Batch::UNLABELLED {
                let reason = "the stream was opened without its labels";
                return Err(SettingsError::new("online", reason).into());
            }
            let class = self.class(batch.label(i) as usize, stream)?;
            let row = scaler.apply(batch.row(i), &mut self.buffer);
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&(class as u32).to_le_bytes());
                for (column, value) in row.iter() {
                    hasher.update(&(column as u32).to_le_bytes());
                    hasher.update(&value.to_bits().to_le_bytes());
                }
            }
            if self.to_skip > 0 {
                self.to_skip -= 1;
                if self.to_skip == 0 {
                    self.compare()?;
                }
                continue;
            }
            if let Some(applied) = self.state.learn_row(row, class, 1.0)? {
                observer.update(&Update {
                    number: self.state.updates(),
                    epoch: 1,
                    position: self.state.rows() - 1,
                    row,
                    row_squared: applied.row_squared,
                    sign: self.state.seen.signs[class],
                    agreement: applied.agreement,
                    theta: None,
                    classes: None,
                });
            }
            if self.state.is_at_limit() {
                return Ok(Some(Status::UpdateLimit));
            }
        }
        Ok(None)
    }

    /// The state's number of a class of the stream.
    fn class(&mut self, class: usize, stream: &RowStream) -> Result<usize, Error> {
        while class >= self.classes.len() {
            let name = &stream.label_names()[self.classes.len()];
            self.classes.push(self.state.class(name)? as usize);
        }
        Ok(self.classes[class])
    }

    /// Refuses rows that are not those that the checkpoint has seen.
    fn compare(&self) -> Result<(), CheckpointError> {
        match &self.hasher {
            Some(hasher) if hasher.finalize().to_hex().as_str() == self.expected => Ok(()),
            _ => Err(CheckpointError::OtherData),
        }
    }

    /// Settles what only the end of the stream could tell, and judges the result.
    fn finish(mut self, stream: &RowStream, stopped: Option<Status>) -> Result<Outcome, Error> {
        let shift = stream.index_shift() == 1 && !self.state.seen.first_column;
        self.state.settle_features(shift, stream.schema().features());
        self.state.into_outcome(stopped)
    }
}

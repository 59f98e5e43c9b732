//! Watching a run: progress, interruption, traces.

use crate::dataset::Row;
use crate::train::Run;
use std::ops::ControlFlow;

/// How far a long job is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Rows are being read.
    Reading {
        /// Bytes taken from the source.
        bytes: u64,
        /// Bytes in all, where known.
        total: Option<u64>,
        /// Rows read.
        rows: u64,
    },
    /// Generated rows are being written.
    Writing {
        /// Bytes written.
        bytes: u64,
        /// Bytes in all: the limit, or an estimate from the rows so far.
        total: u64,
        /// Rows written.
        rows: u64,
    },
    /// The result is judged on the rows it was learned from.
    Judging {
        /// Rows judged.
        rows: u64,
        /// Rows in all.
        total: u64,
    },
    /// A learner is at work.
    Training {
        /// Passes finished.
        epoch: u64,
        /// The most passes allowed.
        epochs: u64,
        /// Examples seen in this pass.
        position: u64,
        /// Examples in a pass.
        examples: u64,
        /// Updates made in all.
        updates: u64,
        /// The upper bound of γ* that they prove.
        margin_upper: Option<f64>,
    },
}

/// One update of a perceptron, as it has just been made.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// Which update, from 1.
    pub number: u64,
    /// The pass in which it was made, from 1.
    pub epoch: u64,
    /// Which row was mistaken, from 0.
    pub position: u64,
    /// The row.
    pub row: Row<'a>,
    /// ‖x̃‖² of the row with its appended coordinate, rounded.
    pub row_squared: f64,
    /// Its label as a sign.
    pub sign: i8,
    /// ⟨θ, z⟩ before the update.
    pub agreement: f64,
}

/// Someone who watches a job. Every method has a default that does nothing.
pub trait Observer {
    /// Called now and then; a break stops the job with what it has.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }

    /// Called after every update of a learner.
    fn update(&mut self, update: &Update<'_>) {
        let _ = update;
    }

    /// Whether `checkpoint` saves runs: only then is the data fingerprinted, so that a run cannot be taken up on other
    /// data.
    fn saves(&self) -> bool {
        false
    }

    /// Called as often as `progress` while training: the run as it stands, which can be saved.
    fn checkpoint(&mut self, run: &Run) {
        let _ = run;
    }
}

impl Observer for () {}

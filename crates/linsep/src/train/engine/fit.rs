//! What an algorithm ends with, before it is judged.

use crate::theory::margin::{Extent, MarginInterval};
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::Status;

/// The end of a run over a data set.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// The decision function.
    pub(crate) learned: Learned,
    /// How the run ended.
    pub(crate) status: Status,
    /// Passes begun.
    pub(crate) epochs: u64,
    /// Updates made.
    pub(crate) updates: u64,
    /// Other weights that may separate the rows, beside those of `learned`.
    pub(crate) candidates: Vec<Theta>,
    /// What the updates prove γ* to be at most.
    pub(crate) margin_upper: Option<f64>,
    /// The space in which the margin is measured, where it is not that of the rows themselves.
    pub(crate) space: Option<Space>,
    /// What only this learner has to tell.
    pub(crate) detail: Option<Detail>,
}

/// Lengths and margin of the rows in another space, rounded outwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// Lengths of the rows there.
    pub(crate) extent: Extent,
    /// What is proved of the best margin there.
    pub(crate) margin: MarginInterval,
}

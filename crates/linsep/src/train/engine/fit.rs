//! The result of an algorithm, before it is judged on the rows.

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
    /// The upper bound of the best margin γ* that the updates prove.
    pub(crate) margin_upper: Option<f64>,
    /// The space in which the margin is measured, where it is not that of the rows themselves.
    pub(crate) space: Option<Space>,
    /// Evidence that only this learner has.
    pub(crate) detail: Option<Detail>,
}

/// Lengths and margin of the rows in another space, rounded outwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// Lengths of the rows there.
    pub(crate) extent: Extent,
    /// The proved interval of the best margin there.
    pub(crate) margin: MarginInterval,
}

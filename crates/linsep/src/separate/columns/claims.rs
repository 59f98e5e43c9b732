//! Local copy until linsep-check has it.
#![allow(missing_docs)]
use linsep_check::Sparse;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    pub(crate) members: Vec<Sparse>,
    pub(crate) coefficients: Vec<(usize, Status)>,
    pub(crate) alone: Vec<Alone>,
    pub(crate) not_alone: Vec<NotAlone>,
    pub(crate) at_least: usize,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Status {
    Aliased { relation: Sparse },
    Finite,
    Infinite { positive: bool, member: usize, combination: Sparse },
    Open { positive: usize, negative: usize },
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alone {
    pub(crate) columns: Vec<usize>,
    pub(crate) weights: Sparse,
}
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotAlone {
    pub(crate) columns: Vec<usize>,
    pub(crate) combination: Sparse,
}

//! The parts that learners share: the state of those that go row by row, orders, passes, streams, shards, rows that stay in
//! their file, checkpoints and evidence.

pub(crate) mod checkpoint;
pub(crate) mod class_blocks;
pub(crate) mod class_errors;
pub(crate) mod class_scores;
pub(crate) mod cost_limit;
pub(crate) mod evidence;
pub(crate) mod fit;
pub(crate) mod learned;
pub(crate) mod merge;
pub(crate) mod one_against_rest;
pub(crate) mod online;
pub(crate) mod order;
pub(crate) mod out_of_core;
pub(crate) mod passes;
pub(crate) mod row_rule;
pub(crate) mod run;
pub(crate) mod shards;
pub(crate) mod state;
pub(crate) mod state_outcome;
pub(crate) mod stream;
pub(crate) mod weights;
#[cfg(test)]
pub(crate) mod whole_rows;

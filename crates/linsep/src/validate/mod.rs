//! How good a way to learn is, on rows that it has not learned from: folds, judged rows, metrics, and what is made of them.
//! [`compare`] sets learners side by side, [`tune`] searches, [`out_of_fold`] gives every row a score.

pub mod compare;
pub mod metric;
pub mod out_of_fold;
pub mod tune;

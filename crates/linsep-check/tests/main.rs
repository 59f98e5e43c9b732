//! What the checker accepts and rejects, one file for each kind of attempt, in one binary: compiled and linked once.

mod basics;
mod columns;
mod common;
mod hostile;
mod lines;
mod mutations;
mod numbers;
mod program;
mod signs;

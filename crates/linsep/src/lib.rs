//! A linear classifier you can trust: it trains at the speed of memory, and its claims come with proof.
//!
//! linsep learns a boundary between two classes with the perceptron and its kin, and reports on your own data
//! what the convergence theorem proves: for z = y·x, any weight vector bounds the best margin from below and any
//! mistake counts bound it from above, so each run carries its own proof.
//!
//! ```
//! use linsep::train::{Learner, train};
//! use linsep::{Dataset, Model, Row, Settings, Status};
//!
//! // Four flowers: petal length and width in centimetres.
//! let petals = [1.4, 0.2, 1.3, 0.2, 4.7, 1.4, 5.1, 1.9];
//! let data = Dataset::dense(2, &petals, &["setosa", "setosa", "other", "other"])?;
//! let settings = Settings { learner: Learner::Perceptron, ..Settings::default() };
//! let outcome = train(&data, &settings, &mut ())?;
//! assert_eq!(outcome.status, Status::Converged);
//! let margin = outcome.evidence.margin;
//! println!("separable, with a margin between {:?} and {}", margin.lower, margin.upper);
//! assert_eq!(Model::new(outcome).predict(Row::DenseF64(&[1.5, 0.3])), "setosa");
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! The data flows one way, and the modules are in that order:
//!
//! - [`read`] turns files and streams (LIBSVM, CSV, NumPy, caches) into rows, [`write`](mod@write) turns rows into files;
//!   [`generate`] makes rows;
//! - [`dataset`] holds them, checked and immutable; [`split`] and [`scale`] prepare them;
//! - [`train()`] learns ([`mod@train`] holds the learners, one file each) while an [`observe::Observer`] may watch;
//! - [`theory`] is what is proved about the run, one file per statement;
//! - [`Model`] is what is learned: it predicts, is judged, saved and loaded;
//! - [`compare`](mod@compare) sets learners side by side on the same rows;
//! - [`story`] tells what the theory says about a data set;
//! - [`report`] says it in JSON and in plain sentences.
//!
//! Statements about data are statements about the exact values of the floats that are stored: every bound is
//! rounded outwards, and a run that says [`Status::Converged`] has decided each sign beyond rounding.

// Tests inside the crate share files with those outside, which name it.
#[cfg(test)]
extern crate self as linsep;

pub mod classes;
pub mod compare;
pub mod dataset;
mod error;
pub mod generate;
mod linalg;
pub mod model;
pub mod numbers;
pub mod observe;
pub mod random;
pub mod read;
pub mod report;
pub mod scale;
pub mod separate;
pub mod spelling;
pub mod split;
pub mod store;
pub mod story;
pub mod theory;
mod theta;
pub mod train;
pub mod write;

pub use dataset::{Dataset, Row};
pub use error::{Error, SettingsError};
pub use model::Model;
pub use theta::Theta;
pub use train::{Outcome, Settings, Status, train};

/// The program in the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

//! A linear classifier you can trust: it trains at the speed of memory, and its claims come with proof.
//!
//! linsep learns a boundary between two classes with the perceptron and its kin, and reports on your own data
//! what the convergence theorem proves: for z = y·x, any weight vector bounds the best margin from below and any
//! mistake counts bound it from above, so each run carries its own proof.
//!
//! ```
//! use linsep::{Dataset, Learner, Model, Row, Settings, Status, train};
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
//! Whether any boundary separates the rows is decided exactly, with a certificate that an independent checker accepts:
//!
//! ```
//! use linsep::{Dataset, SeparateSettings, Verdict, separate, verify};
//!
//! let data = Dataset::dense(1, &[1.0, 2.0, 3.0], &["no", "yes", "no"])?;
//! let separation = separate(&data, &SeparateSettings::default(), &mut ())?;
//! assert_eq!(separation.verdict, Verdict::Overlap);
//! let certificate = separation.certificate.expect("a decided verdict has one");
//! assert!(verify(&data, &certificate).is_ok());
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! Whole jobs, from a file to a saved model, a certificate or a comparison, are values in [`job`]: this is what the command
//! line runs.
//!
//! ```no_run
//! use linsep::job::TrainSpec;
//!
//! let spec = TrainSpec { holdout: Some(0.25), output: Some("spam.model".into()), ..TrainSpec::file("spam.csv") };
//! let trained = spec.run(&mut ())?;
//! println!("{:?}", trained.held_out);
//! # Ok::<(), linsep::Error>(())
//! ```
//!
//! # Modules, in the order of the data
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@read`], [`mod@write`], [`generate`] | files and streams to rows and back; synthetic rows |
//! | [`features`] | the recipe that turns records into rows, learned on the training part |
//! | [`dataset`], [`split`], [`classes`] | immutable rows, held-out rows, class names |
//! | [`mod@train`] | the learners, one file each, their registry, and the engine that they share |
//! | [`mod@separate`] | the exact engine: verdicts with certificates |
//! | [`theory`] | what is proved, one file per statement |
//! | [`model`] | predict, evaluate, save, load |
//! | [`prepare`] | the one way from records to rows that are learned from |
//! | [`validate`] | folds, metrics, comparison, search, scores of rows that were not learned from |
//! | [`job`], [`theory_report`] | whole jobs as values |
//! | [`report`], [`numbers`], [`spelling`] | results as JSON records and plain sentences |
//! | [`chart`], [`page`] | results as pictures, and as a page to send |
//! | [`observe`], [`waiting`], [`memory`] | progress, notes, interruption; waiting for pipes; how much memory there is |
//!
//! # Features
//!
//! | feature | what it adds | by default |
//! |---|---|---|
//! | `compression` | gzip and Zstandard files, compressed members of `.npz` archives | yes |
//! | `encodings` | texts in other encodings than UTF-8 | yes |
//! | `toml` | jobs as text: `Spec::parse` and `Spec::to_toml` of [`job`] | yes |
//! | `excel` | Excel workbooks | no |
//! | `mail` | folders of texts and e-mails | no |
//! | `parquet` | Parquet and Arrow files | no |
//! | `pictures` | folders of PNG and JPEG pictures | no |
//! | `png` | figures as PNG, beside SVG and HTML | no |
//!
//! The program `linsep` is built with all of them but `parquet`.
//!
//! # Exactness
//!
//! Statements about data are statements about the exact values of the floats that are stored: every bound is rounded
//! outwards, and a run that says [`Status::Converged`] has decided each sign beyond rounding.

// Vector instructions, mapped files and hints to the memory need it, in the files that tests/layers.rs lists.
#![deny(unsafe_code)]
// Several features share parts that are used by none where all of them are off.
#![cfg_attr(
    not(all(feature = "excel", feature = "mail", feature = "pictures", feature = "png")),
    allow(dead_code, unused_imports)
)]

// Tests inside the crate share files with those outside, which name it.
#[cfg(test)]
extern crate self as linsep;

pub mod chart;
pub mod classes;
pub mod dataset;
mod error;
pub mod features;
pub mod generate;
pub mod job;
mod linalg;
pub mod memory;
pub mod model;
pub mod numbers;
pub mod observe;
pub mod page;
pub mod prepare;
pub mod random;
pub mod read;
pub mod report;
pub mod separate;
pub mod settings;
pub mod spelling;
pub mod split;
pub mod store;
pub mod theory;
pub mod theory_report;
mod theta;
pub mod train;
pub mod validate;
pub mod waiting;
pub mod write;

pub use dataset::{Dataset, Row};
pub use error::{Error, SettingsError};
pub use features::scaling as scale;
pub use job::{Spec, run};
pub use model::Model;
pub use observe::Observer;
pub use read::{ReadOptions, Source, read};
pub use separate::{Certificate, SeparateSettings, Separation, Verdict, separate, verify};
pub use theta::Theta;
pub use train::{Learner, Outcome, Settings, State, Status, train};

/// The program in the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

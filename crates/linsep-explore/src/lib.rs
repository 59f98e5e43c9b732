//! The explorer: a page on the own machine where a perceptron learns before one's eyes, on one's own data.
//!
//! A server on the loopback interface hands out the page, which is embedded, and answers a small JSON interface
//! (`docs/explore.md`): the specification of a job goes in, the record of the job comes out, with what is needed to draw it.
//! The page decides nothing: every number on it comes from the jobs that the command line runs.

#![forbid(unsafe_code)]

mod api;
mod assets;
mod data;
mod drawing;
mod guard;
mod jobs;
mod lesson;
mod results;
mod server;
mod watch;

pub use data::Embedded;
pub use lesson::{Lesson, LessonError};
pub use server::{ServeError, serve};

use linsep::job::{DataSpec, Spec};
use std::path::PathBuf;

/// The initial state of the explorer.
#[derive(Debug)]
pub struct Start {
    /// The data that the page opens, if any was named.
    pub data: Option<DataSpec>,
    /// A file with one number for each row of that data: how often it counts.
    pub row_weights: Option<PathBuf>,
    /// The lesson that the page opens, if one was named.
    pub lesson: Option<Lesson>,
    /// The port; any free one if none is named.
    pub port: Option<u16>,
    /// Real data sets that the program holds.
    pub embedded: Vec<Embedded>,
    /// The command that does the same as a job.
    pub command: fn(&Spec) -> String,
}

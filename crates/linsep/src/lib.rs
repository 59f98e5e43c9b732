//! linsep
pub mod classes;
pub mod dataset;
mod error;
pub mod generate;
mod kernel;
pub mod observe;
pub mod random;
pub mod read;

pub use dataset::Dataset;
pub use error::Error;

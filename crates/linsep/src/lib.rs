//! linsep
pub mod classes;
pub mod dataset;
mod error;
pub mod generate;
mod kernel;
pub mod model;
pub mod observe;
pub mod random;
pub mod read;
pub mod report;
pub mod scale;
pub mod split;
pub mod store;
pub mod theory;
mod theta;
pub mod train;

pub use dataset::{Dataset, Row};
pub use error::Error;
pub use model::Model;
pub use theta::Theta;
pub use train::{Outcome, Settings, Status, train};

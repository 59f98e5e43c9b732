//! Learners: one file each, readable as its algorithm. This file holds what they share.

mod averaged;
pub(crate) mod checkpoint;
mod evidence;
mod learned;
mod online;
mod perceptron;
mod run;
mod settings;
mod stream;
mod voted;

pub use averaged::Average;
pub use checkpoint::CheckpointError;
pub use evidence::Evidence;
pub use learned::Learned;
pub use online::OnlineLearner;
pub use perceptron::Perceptron;
pub use run::{Outcome, Run, Status, Task, resume, train};
pub use settings::{Bias, Init, Learner, MistakeRule, Order, Settings, SettingsError};
pub use stream::train_stream;
pub use voted::{Ballot, Votes};

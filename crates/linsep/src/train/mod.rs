//! Learners: one file each, readable as its algorithm. This file holds what they share.

mod averaged;
mod batch;
pub(crate) mod checkpoint;
mod evidence;
mod fit;
pub(crate) mod kernel;
mod learned;
mod learner;
mod lifted;
mod margin;
mod max_margin;
mod memoriser;
mod multiclass;
mod one_against_rest;
mod online;
mod order;
mod passes;
mod passive_aggressive;
mod perceptron;
mod pocket;
mod run;
mod settings;
mod sgd;
mod shards;
mod stream;
mod svm;
mod voted;
#[cfg(test)]
pub(crate) mod whole_rows;

pub use crate::theory::mixing::Mixing;
pub use averaged::Average;
pub use batch::{BatchOptions, Conditions, Schedule, conditions};
pub use checkpoint::CheckpointError;
pub use evidence::{Detail, Evidence};
#[doc(hidden)]
pub use kernel::train_kernel;
pub use kernel::{Kernel, KernelMachine, KernelOptions};
pub use learned::Learned;
pub use learner::{Combine, Learner};
pub use lifted::LiftedOptions;
pub use margin::MarginRule;
pub use max_margin::MaxMarginOptions;
pub use memoriser::Memoriser;
pub use multiclass::MulticlassOptions;
pub use one_against_rest::train_each;
pub use online::OnlineLearner;
pub use passive_aggressive::{Aggression, PassiveAggressiveOptions};
pub use perceptron::Perceptron;
pub use pocket::PocketOptions;
pub use run::{Boundary, Outcome, Run, Status, Task, resume, train};
pub use settings::{Bias, ClassWeight, Init, MistakeRule, Order, Settings};
pub use sgd::{Loss, SgdOptions, StepSchedule};
pub use stream::train_stream;
pub use svm::{SvmLoss, SvmOptions};
pub use voted::{Ballot, Votes};

//! Training: the learners, one file each, and the engine that they share.

mod engine;
mod learners;
mod settings;

pub(crate) use engine::class_scores::ClassScores;
pub(crate) use engine::cost_limit::refuse_excessive_cost;
pub(crate) use engine::run::train_checked;
#[cfg(test)]
pub(crate) use engine::whole_rows;
pub(crate) use learners::logistic::{CValues, Rows as ClassRows, decide_classes, log_loss, logistic_path};

pub use crate::theory::mixing::Mixing;
pub use engine::checkpoint::CheckpointError;
pub use engine::evidence::{Detail, Evidence};
pub use engine::learned::Learned;
pub use engine::one_against_rest::train_each;
pub use engine::online::OnlineLearner;
pub use engine::out_of_core::{OutOfCoreData, check_out_of_core, train_out_of_core};
pub use engine::run::{Boundary, Outcome, Status, Task, resume, train};
pub use engine::shards::shard_orders;
pub use engine::state::{Example, State};
pub use engine::stream::{Resume, train_stream};
pub use engine::weights::occurrences;
pub use learners::averaged::Average;
pub use learners::batch::{BatchOptions, Conditions, Schedule, conditions};
#[doc(hidden)]
pub use learners::kernel::train_kernel;
pub use learners::kernel::{Kernel, KernelMachine, KernelOptions};
pub use learners::lifted::LiftedOptions;
pub use learners::logistic::{LogisticOptions, LogisticPenalty};
pub use learners::margin_perceptron::MarginRule;
pub use learners::max_margin::MaxMarginOptions;
pub use learners::memoriser::Memoriser;
pub use learners::multiclass::MulticlassOptions;
pub use learners::passive_aggressive::{Aggression, PassiveAggressiveOptions};
pub use learners::perceptron::Perceptron;
pub use learners::pocket::PocketOptions;
pub use learners::sgd::{Loss, SgdOptions, StepSchedule};
pub use learners::svm::{SvmLoss, SvmOptions};
pub use learners::voted::{Ballot, Votes};
pub use learners::{
    Abilities, Ability, Choice, Combine, Descriptor, Learner, NumberRange, OptionDescriptor, OptionKind,
    OptionValue, Options, RowLimit, learners, names_of,
};
pub use settings::{Bias, ClassWeight, Init, MistakeRule, Order, Settings};

//! The family: every learner by its name, with the few options of its own.

pub(crate) mod averaged;
pub(crate) mod batch;
pub(crate) mod kernel;
pub(crate) mod lifted;
pub(crate) mod margin_perceptron;
pub(crate) mod max_margin;
pub(crate) mod memoriser;
pub(crate) mod multiclass;
pub(crate) mod passive_aggressive;
pub(crate) mod perceptron;
pub(crate) mod pocket;
pub(crate) mod sgd;
pub(crate) mod svm;
pub(crate) mod voted;

use crate::SettingsError;
use batch::BatchOptions;
use kernel::KernelOptions;
use lifted::LiftedOptions;
use margin_perceptron::MarginRule;
use max_margin::MaxMarginOptions;
use multiclass::MulticlassOptions;
use passive_aggressive::PassiveAggressiveOptions;
use pocket::PocketOptions;
use serde::{Deserialize, Serialize};
use sgd::SgdOptions;
use svm::SvmOptions;

/// Which learner, with its own options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// The last θ (A1).
    Perceptron,
    /// The mean of θ over all examples seen (A3).
    #[default]
    Averaged,
    /// Every θ votes, with the number of examples that it survived (A3).
    Voted,
    /// Learns also from rows that are right by too little (A4).
    Margin(MarginRule),
    /// Learns from all mistakes at once (A5).
    Batch(BatchOptions),
    /// Keeps the best θ that turns up (A6).
    Pocket(PocketOptions),
    /// Gives every example a coordinate of its own, so that any data is separable (A7).
    Lifted(LiftedOptions),
    /// The perceptron in its dual form, with a kernel (A8).
    Kernel(KernelOptions),
    /// One weight vector for each class (A9).
    Multiclass(MulticlassOptions),
    /// Stochastic gradient descent on a loss (A10).
    Sgd(SgdOptions),
    /// The soft-margin support vector machine (A11).
    Svm(SvmOptions),
    /// The boundary furthest from the nearest row (A11).
    MaxMargin(MaxMarginOptions),
    /// Looks rows up (A12).
    Memoriser,
    /// Changes as little as makes the row right by 1 (A13).
    PassiveAggressive(PassiveAggressiveOptions),
}

/// What joins the many θ of a run into one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The last one counts.
    #[default]
    Last,
    /// Their mean over all examples seen.
    Average,
    /// Each votes with the number of examples that it survived.
    Vote,
}

impl Learner {
    /// The name by which it is chosen.
    pub fn name(&self) -> &'static str {
        match self {
            Learner::Perceptron => "perceptron",
            Learner::Averaged => "averaged",
            Learner::Voted => "voted",
            Learner::Margin(_) => "margin",
            Learner::Batch(_) => "batch",
            Learner::Pocket(_) => "pocket",
            Learner::Lifted(_) => "lifted",
            Learner::Kernel(_) => "kernel",
            Learner::Multiclass(_) => "multiclass",
            Learner::Sgd(_) => "sgd",
            Learner::Svm(_) => "svm",
            Learner::MaxMargin(_) => "max-margin",
            Learner::Memoriser => "memoriser",
            Learner::PassiveAggressive(_) => "passive-aggressive",
        }
    }

    /// How many passes it is usually given at most: coordinate descent needs many for its gap, and makes them cheaper as
    /// it goes.
    pub fn usual_epochs(&self) -> u64 {
        if matches!(self, Learner::Svm(_) | Learner::MaxMargin(_)) { 1000 } else { 100 }
    }

    /// Whether it learns each row as it comes, needing none of the others: such a learner can learn from a stream, be
    /// stopped at any row and be taken up again.
    pub fn is_online(&self) -> bool {
        matches!(
            self,
            Learner::Perceptron
                | Learner::Averaged
                | Learner::Voted
                | Learner::Margin(_)
                | Learner::Sgd(_)
                | Learner::PassiveAggressive(_)
        )
    }

    /// Checks the options of the learner.
    pub(crate) fn validate(&self) -> Result<(), SettingsError> {
        match self {
            Learner::Perceptron | Learner::Averaged | Learner::Voted | Learner::Memoriser => Ok(()),
            Learner::Margin(rule) => rule.validate(),
            Learner::Batch(options) => options.validate(),
            Learner::Pocket(options) => options.validate(),
            Learner::Lifted(options) => options.validate(),
            Learner::Kernel(options) => options.validate(),
            Learner::Multiclass(options) => options.validate(),
            Learner::Sgd(options) => options.validate(),
            Learner::Svm(options) => options.validate(),
            Learner::MaxMargin(options) => options.validate(),
            Learner::PassiveAggressive(options) => options.validate(),
        }
    }
}

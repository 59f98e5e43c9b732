//! The learners: one file each, with algorithm, options and descriptor, and the list of them.

pub(crate) mod averaged;
pub(crate) mod batch;
pub(crate) mod kernel;
pub(crate) mod lifted;
pub(crate) mod logistic;
pub(crate) mod margin_perceptron;
pub(crate) mod max_margin;
pub(crate) mod memoriser;
pub(crate) mod multiclass;
mod options;
pub(crate) mod passive_aggressive;
pub(crate) mod perceptron;
pub(crate) mod pocket;
mod registry;
mod schedule;
pub(crate) mod sgd;
pub(crate) mod svm;
#[cfg(test)]
mod tests;
pub(crate) mod voted;

pub use options::{OptionValue, Options};
pub use registry::{
    Abilities, Ability, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, RowLimit, names_of,
};

use crate::SettingsError;
use crate::dataset::Row;
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::evidence::{Detail, Evidence};
use crate::train::engine::row_rule::{Memory, RowRule, Step, row_rules};
use crate::train::engine::shards;
use registry::{Registered, listed};
use serde::{Deserialize, Serialize};

/// The list of learners gives the enum [`Learner`], the registry, and the way from a learner to its file. A file has a
/// `DESCRIPTOR`, and its options, or `NoOptions`, are [`Registered`]. A learner that goes row by row in a way of its own
/// names its [`RowRule`] after `by`.
macro_rules! learners {
    ($($(#[$attribute:meta])* $file:ident: $variant:ident $(($bound:ident: $options:ident))? $(by $rule:ident)?,)*) => {
        row_rules! { $($($file::$rule,)?)* }

        /// Which learner, with its own options.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Learner {
            $($(#[$attribute])* $variant $(($file::$options))?,)*
        }

        /// The descriptors of all learners.
        pub fn learners() -> &'static [&'static Descriptor] {
            static ALL: &[&Descriptor] = &[$(&$file::DESCRIPTOR),*];
            ALL
        }

        impl Learner {
            /// What its file says about it.
            pub(crate) fn registered(&self) -> &dyn Registered {
                match self {
                    $(Learner::$variant $(($bound))? => learners!(@registered $file $($bound)?),)*
                }
            }
        }
    };
    (@registered $file:ident) => { &$file::NoOptions };
    (@registered $file:ident $bound:ident) => { $bound };
}

learners! {
    /// The last weights of a run over the rows.
    perceptron: Perceptron by Perceptron,
    /// The mean of the weights over all examples seen.
    #[default]
    averaged: Averaged,
    /// All weights vote, each with the number of examples that it survived.
    voted: Voted,
    /// Also learns from rows that are right by too little.
    margin_perceptron: Margin(rule: MarginRule) by MarginPerceptron,
    /// Learns from all mistakes at once.
    batch: Batch(options: BatchOptions),
    /// Keeps the best weights that were found.
    pocket: Pocket(options: PocketOptions),
    /// Gives every example a coordinate of its own, so that any data is separable.
    lifted: Lifted(options: LiftedOptions),
    /// The perceptron in its dual form, with a kernel.
    kernel: Kernel(options: KernelOptions),
    /// One weight vector for each class.
    multiclass: Multiclass(options: MulticlassOptions),
    /// Stochastic gradient descent on a loss.
    sgd: Sgd(options: SgdOptions) by Sgd,
    /// The soft-margin support vector machine.
    svm: Svm(options: SvmOptions),
    /// Logistic regression.
    logistic: Logistic(options: LogisticOptions),
    /// The boundary furthest from the nearest row.
    max_margin: MaxMargin(options: MaxMarginOptions),
    /// Looks rows up.
    memoriser: Memoriser,
    /// Changes the weights by the least that makes a row right by 1.
    passive_aggressive: PassiveAggressive(options: PassiveAggressiveOptions) by PassiveAggressive,
}

impl Learner {
    /// The learner of that name, with its usual options.
    pub fn named(name: &str) -> Result<Self, SettingsError> {
        match learners().iter().find(|learner| learner.name == name) {
            Some(descriptor) => Ok(descriptor.learner()),
            None => {
                let all = listed(learners().iter().map(|learner| learner.name), "and");
                let problem = format!("there is no learner named \"{name}\"; the learners are {all}");
                Err(SettingsError::new("learner", problem))
            }
        }
    }

    /// Its registry entry.
    pub fn descriptor(&self) -> &'static Descriptor {
        self.registered().descriptor()
    }

    /// The name by which it is chosen.
    pub fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// The learner with its options, in a few words.
    pub fn describe(&self) -> String {
        self.registered().describe()
    }

    /// What it can do with the options that it has.
    pub fn abilities(&self) -> Abilities {
        self.registered().abilities()
    }

    /// How many passes it is usually given at most.
    pub fn usual_epochs(&self) -> u64 {
        self.descriptor().usual_epochs
    }

    /// Whether it learns each row as it comes, needing none of the others: such a learner can learn from a stream, be
    /// stopped at any row and be resumed.
    pub fn is_online(&self) -> bool {
        self.descriptor().abilities.row_by_row
    }

    /// Whether it goes through the rows one after the other, so that what it learns depends on their order, and a row that comes twice
    /// is not one that counts twice.
    pub(crate) fn goes_through_rows(&self) -> bool {
        self.is_online() || matches!(self, Self::Kernel(_))
    }

    /// The learner with the options that are given, and its own for the others. Options that it does not have, and
    /// values outside their range, are refused.
    pub fn with_options(self, given: &Options) -> Result<Self, SettingsError> {
        self.descriptor().check(given)?;
        let learner = self.registered().with_options(given)?;
        learner.validate()?;
        Ok(learner)
    }

    /// All its options with their values: with them, [`Learner::with_options`] makes it from its name again.
    pub fn options(&self) -> Options {
        self.registered().options()
    }

    /// Evidence of its own in a few words.
    pub(crate) fn tell(&self, detail: &Detail, evidence: &Evidence) -> Option<String> {
        match detail {
            Detail::Own(own) => Some(own.text.clone()),
            Detail::Shards { mistakes, updates, .. } => shards::tell(*mistakes, updates),
            detail => self.registered().tell(detail, evidence),
        }
    }

    /// Whether one state learns all classes at once, row by row.
    pub(crate) fn is_together(&self) -> bool {
        self.is_online() && self.abilities().many_classes
    }

    /// Checks the options of the learner.
    pub(crate) fn validate(&self) -> Result<(), SettingsError> {
        self.registered().validate()
    }
}

/// What joins the many weights of a run into one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The last weights count.
    #[default]
    Last,
    /// Their mean over all examples seen.
    Average,
    /// Each votes with the number of examples that it survived.
    Vote,
}

impl Combine {
    pub(crate) const LAST: Choice = Choice { name: "last", help: "The last weights" };
    pub(crate) const AVERAGE: Choice = Choice { name: "average", help: "The mean over all rows seen" };
    pub(crate) const VOTE: Choice =
        Choice { name: "vote", help: "A vote of all weights, each with the number of rows it survived" };

    /// The option of learners that keep no votes.
    pub(crate) const fn option(default: &'static str) -> OptionDescriptor {
        OptionDescriptor {
            name: "combine",
            symbol: "COMBINE",
            kind: OptionKind::Choice(&[Self::LAST, Self::AVERAGE]),
            auto: None,
            default,
            help: "how the weights of the run are combined",
        }
    }

    /// Votes are counted among perceptrons only.
    pub(crate) fn refuse_votes(self) -> Result<(), SettingsError> {
        if self == Combine::Vote {
            return Err(SettingsError::new(
                "combine",
                "only the voted and the kernel perceptron keep votes; choose ⟦combine=last⟧ or average",
            ));
        }
        Ok(())
    }

    /// What a description adds.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Combine::Last => "",
            Combine::Average => ", averaged",
            Combine::Vote => ", voted",
        }
    }
}

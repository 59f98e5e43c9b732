//! What a learner does with one row: the part of [`OnlineLearner`](super::online::OnlineLearner) that each learner has in its
//! own file.

use crate::dataset::Row;
use crate::store::{Arrays, StoreError, Tensors};
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::learners::averaged::Average;
use crate::train::learners::voted::Votes;

/// Where a run over rows starts.
pub(crate) struct Start {
    /// Zero, or the weights to go on from.
    pub(crate) theta: Theta,
    /// The length of the longest row, unless the rows come from a stream.
    pub(crate) radius: Option<f64>,
}

/// The memory of a variant beside the last θ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Memory {
    Nothing,
    Average(Average),
    Votes(Votes),
}

/// The step of an algorithm on an example; none if the size is 0.
pub(crate) struct Step {
    /// ⟨θ, z⟩ before z was added.
    pub(crate) agreement: f64,
    /// How much of z was added to θ.
    pub(crate) size: f64,
    /// How much of z was added to v, where θ is kept as s·v.
    pub(crate) added: f64,
}

impl Step {
    pub(crate) const NONE: Self = Self { agreement: 0.0, size: 0.0, added: 0.0 };

    /// z was added so many times.
    #[inline]
    pub(crate) fn of(agreement: f64, size: f64) -> Self {
        Self { agreement, size, added: size }
    }
}

/// An algorithm that learns from one row at a time.
pub(crate) trait RowRule {
    /// θ, but for a factor where it is kept as s·v, and how many updates have been made.
    fn parts(&self) -> (&Theta, &u64);

    fn parts_mut(&mut self) -> (&mut Theta, &mut u64);

    /// Learns from a row with label y = ±1 that counts `weight` times.
    fn step(
        &mut self,
        row: Row<'_>,
        y: f64,
        weight: f64,
        memory: &mut Memory,
        ledger: &mut MistakeLedger,
    ) -> Step;

    /// Takes note of ‖θ‖² and of what ⟨θ, x̃⟩ may be off by.
    fn measure(&mut self, norm_squared: f64, rounding_error: f64);

    /// What ⟨θ, x̃⟩ may be off by, where rows that are certainly no mistake may be passed over.
    fn rounding_error(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether θ, less its start, is a sum of multiples of rows, from which the ledger proves a bound of γ*. Steps of another
    /// size for each feature give none.
    #[inline]
    fn sums_rows(&self) -> bool {
        true
    }

    /// Whether every row moves θ, also one that leads to no update: then a pass without an update is no end.
    fn updates_every_row(&self) -> bool {
        false
    }

    /// s, where θ is kept as s·v.
    #[inline]
    fn scale(&self) -> f64 {
        1.0
    }

    /// Multiplies v by s and sets s to 1.
    fn fold(&mut self) {}

    /// Frees what only further steps would need.
    fn finish(&mut self) {}

    /// Moves every feature down by one.
    fn shift_features_down(&mut self) {}

    /// Evidence that only this learner has.
    fn detail(&self) -> Option<Detail> {
        None
    }

    /// Puts what it keeps beside θ into arrays whose names begin with `prefix`, and into a value.
    fn put<'a>(&'a self, _tensors: &mut Tensors<'a>, _prefix: &str) -> Option<serde_json::Value> {
        None
    }

    /// Takes it back.
    fn take(
        &mut self,
        _opened: &Arrays<'_>,
        _prefix: &str,
        _own: Option<&serde_json::Value>,
    ) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The enum of all algorithms that learn from one row at a time, each in the file of its learner. What the loops over the rows
/// ask finds its algorithm without a pointer; the rest goes through the trait.
macro_rules! row_rules {
    ($($file:ident::$rule:ident,)*) => {
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Core {
            $($rule($file::$rule),)*
        }

        $(impl From<$file::$rule> for Core {
            fn from(rule: $file::$rule) -> Self {
                Self::$rule(rule)
            }
        })*

        impl std::ops::Deref for Core {
            type Target = dyn RowRule;

            fn deref(&self) -> &Self::Target {
                match self { $(Self::$rule(rule) => rule,)* }
            }
        }

        impl std::ops::DerefMut for Core {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self { $(Self::$rule(rule) => rule,)* }
            }
        }

        impl Core {
            #[inline]
            pub(crate) fn theta(&self) -> &Theta {
                match self { $(Self::$rule(rule) => rule.parts().0,)* }
            }

            #[inline]
            pub(crate) fn theta_mut(&mut self) -> &mut Theta {
                match self { $(Self::$rule(rule) => rule.parts_mut().0,)* }
            }

            #[inline]
            pub(crate) fn step(
                &mut self,
                row: Row<'_>,
                y: f64,
                weight: f64,
                memory: &mut Memory,
                ledger: &mut MistakeLedger,
            ) -> Step {
                match self { $(Self::$rule(rule) => rule.step(row, y, weight, memory, ledger),)* }
            }

            #[inline]
            pub(crate) fn measure(&mut self, norm_squared: f64, rounding_error: f64) {
                match self { $(Self::$rule(rule) => rule.measure(norm_squared, rounding_error),)* }
            }

            #[inline]
            pub(crate) fn sums_rows(&self) -> bool {
                match self { $(Self::$rule(rule) => rule.sums_rows(),)* }
            }

            #[inline]
            pub(crate) fn scale(&self) -> f64 {
                match self { $(Self::$rule(rule) => rule.scale(),)* }
            }
        }
    };
}
pub(crate) use row_rules;

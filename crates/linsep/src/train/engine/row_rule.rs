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
    /// θ, but for a factor where it is kept as s·v.
    fn theta(&self) -> &Theta;

    fn theta_mut(&mut self) -> &mut Theta;

    /// How many updates have been made.
    fn updates(&self) -> u64;

    fn set_updates(&mut self, updates: u64);

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

    /// Whether s has become so small that sums with v would lose digits.
    #[inline]
    fn must_fold(&self) -> bool {
        false
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

/// The enum of all algorithms that learn from one row at a time, each in the file of its learner: calls find theirs without a
/// pointer, because the loops over the rows go through them.
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

        impl RowRule for Core {
            #[inline]
            fn theta(&self) -> &Theta {
                match self { $(Self::$rule(rule) => RowRule::theta(rule),)* }
            }

            #[inline]
            fn theta_mut(&mut self) -> &mut Theta {
                match self { $(Self::$rule(rule) => rule.theta_mut(),)* }
            }

            #[inline]
            fn updates(&self) -> u64 {
                match self { $(Self::$rule(rule) => RowRule::updates(rule),)* }
            }

            #[inline]
            fn set_updates(&mut self, updates: u64) {
                match self { $(Self::$rule(rule) => rule.set_updates(updates),)* }
            }

            #[inline]
            fn step(
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
            fn measure(&mut self, norm_squared: f64, rounding_error: f64) {
                match self { $(Self::$rule(rule) => rule.measure(norm_squared, rounding_error),)* }
            }

            fn rounding_error(&self) -> f64 {
                match self { $(Self::$rule(rule) => rule.rounding_error(),)* }
            }

            #[inline]
            fn sums_rows(&self) -> bool {
                match self { $(Self::$rule(rule) => rule.sums_rows(),)* }
            }

            fn updates_every_row(&self) -> bool {
                match self { $(Self::$rule(rule) => rule.updates_every_row(),)* }
            }

            #[inline]
            fn scale(&self) -> f64 {
                match self { $(Self::$rule(rule) => rule.scale(),)* }
            }

            #[inline]
            fn must_fold(&self) -> bool {
                match self { $(Self::$rule(rule) => rule.must_fold(),)* }
            }

            fn fold(&mut self) {
                match self { $(Self::$rule(rule) => RowRule::fold(rule),)* }
            }

            fn finish(&mut self) {
                match self { $(Self::$rule(rule) => rule.finish(),)* }
            }

            fn shift_features_down(&mut self) {
                match self { $(Self::$rule(rule) => rule.shift_features_down(),)* }
            }

            fn detail(&self) -> Option<Detail> {
                match self { $(Self::$rule(rule) => rule.detail(),)* }
            }

            fn put<'a>(&'a self, tensors: &mut Tensors<'a>, prefix: &str) -> Option<serde_json::Value> {
                match self { $(Self::$rule(rule) => rule.put(tensors, prefix),)* }
            }

            fn take(
                &mut self,
                opened: &Arrays<'_>,
                prefix: &str,
                own: Option<&serde_json::Value>,
            ) -> Result<(), StoreError> {
                match self { $(Self::$rule(rule) => rule.take(opened, prefix, own),)* }
            }
        }
    };
}
pub(crate) use row_rules;

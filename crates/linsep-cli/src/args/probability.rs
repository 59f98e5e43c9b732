//! The argument for the decision threshold of a model.

use clap::Args;

/// A threshold that overrides that of a model.
#[derive(Debug, Args)]
pub(crate) struct ThresholdArg {
    /// Two classes: predict positive if the probability is at least P, 0 < P < 1 [default: the threshold of
    /// the model, or a score of at least 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
}

//! Arguments for probabilities and for the decision threshold.

use clap::Args;
use linsep::model::ThresholdRule;

const HEADING: &str = "Probability options";

/// Arguments of `train` for probabilities.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ProbabilityArgs {
    /// Calibrate probabilities by 5-fold cross-validation and store the calibration in the model, for predict
    /// --show probability. Not needed for logistic regression
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Two classes: predict positive if the probability is at least P, 0 < P < 1 [default: if the score is at
    /// least 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) threshold: Option<f64>,
    /// Two classes: choose the threshold with the lowest out-of-fold cost, where a false positive costs X and
    /// a false negative Y
    #[arg(long, value_name = "fp=X,fn=Y", group = "threshold_rule")]
    pub(crate) cost: Option<String>,
    /// Two classes: choose the largest threshold with at least this out-of-fold recall
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) recall: Option<f64>,
    /// Two classes: choose the threshold with the highest out-of-fold recall among those with at least this
    /// precision
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) precision: Option<f64>,
}

impl ProbabilityArgs {
    /// How the threshold is chosen, if given.
    pub(crate) fn rule(&self) -> Result<Option<ThresholdRule>, linsep::Error> {
        Ok(match (self.threshold, &self.cost, self.recall, self.precision) {
            (Some(probability), ..) => Some(ThresholdRule::Probability(probability)),
            (_, Some(cost), ..) => Some(ThresholdRule::parse_cost(cost)?),
            (_, _, Some(share), _) => Some(ThresholdRule::Recall(share)),
            (.., Some(share)) => Some(ThresholdRule::Precision(share)),
            _ => None,
        })
    }
}

/// A threshold that overrides that of a model.
#[derive(Debug, Args)]
pub(crate) struct ThresholdArg {
    /// Two classes: predict positive if the probability is at least P, 0 < P < 1 [default: the threshold of
    /// the model, or a score of at least 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
}

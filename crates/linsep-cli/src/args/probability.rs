//! Probabilities, and the threshold from which on a row is called positive.

use clap::Args;
use linsep::model::ThresholdRule;

const HEADING: &str = "Probabilities";

/// What train is told of probabilities.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ProbabilityArgs {
    /// Keep in the model how its scores become probabilities, for predict --show probability: five parts of the rows are held
    /// out in turn and scored by a model of the others. Logistic regression has probabilities without it
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Two classes: call a row positive where its probability is at least P, above 0 and below 1 [default: where its score
    /// is at least 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) threshold: Option<f64>,
    /// Two classes: choose the threshold with the least cost on held-out parts, where a false positive costs X and a false
    /// negative Y
    #[arg(long, value_name = "fp=X,fn=Y", group = "threshold_rule")]
    pub(crate) cost: Option<String>,
    /// Two classes: choose the largest threshold that finds at least this share of the positive rows of held-out parts
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) recall: Option<f64>,
    /// Two classes: choose the threshold that finds the most positive rows of held-out parts while at least this share of the
    /// rows called positive are
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, group = "threshold_rule")]
    pub(crate) precision: Option<f64>,
}

impl ProbabilityArgs {
    /// How the threshold is chosen, if that is said.
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

/// A threshold that overrules that of a model.
#[derive(Debug, Args)]
pub(crate) struct ThresholdArg {
    /// Two classes: call a row positive where its probability is at least P, above 0 and below 1 [default: the threshold of
    /// the model, or where the score is at least 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
}

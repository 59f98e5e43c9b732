//! By what candidates and learners are judged, counted on rows that were held out.

use crate::SettingsError;
use crate::model::{Times, evaluate, evaluate_many};
use serde::{Deserialize, Serialize};

/// By what candidates and learners are judged: the less, the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The share of rows that are predicted wrong.
    #[default]
    Error,
    /// The mean over the classes of that share.
    BalancedError,
    /// 1 − the chance that a row of the positive class scores above one of the other.
    Auc,
    /// The mean of −ln of the probability that was given to the right class.
    LogLoss,
    /// 1 − F1 of the positive class; of many classes, the mean over them.
    F1,
}

impl Metric {
    /// The name of the minimised metric.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Error => "error",
            Metric::BalancedError => "balanced error",
            Metric::Auc => "1 − AUC",
            Metric::LogLoss => "log loss",
            Metric::F1 => "1 − F1",
        }
    }

    /// Whether it is a share, which is shown in percent.
    pub fn is_share(self) -> bool {
        self != Metric::LogLoss
    }

    /// Refuses a metric that is not one of so many outcomes.
    pub(crate) fn check(self, outcomes: usize) -> Result<(), SettingsError> {
        if self == Metric::Auc && outcomes > 2 {
            let problem = format!(
                "the AUC is for two classes, and there are {outcomes}: choose one with ⟦positive=CLASS⟧, or another ⟦metric⟧"
            );
            return Err(SettingsError::new("metric", problem));
        }
        Ok(())
    }

    /// Whether probabilities are needed.
    pub(crate) fn needs_probabilities(self) -> bool {
        self == Metric::LogLoss
    }

    /// What a row adds to the metric, where that is a mean over the rows.
    pub(crate) fn of_row(self, row: &JudgedRow) -> Option<f64> {
        match self {
            Metric::Error => Some(f64::from(u8::from(row.is_wrong()))),
            Metric::LogLoss => Some(row.loss),
            _ => None,
        }
    }

    /// The metric of these rows.
    pub(crate) fn of(self, rows: &[JudgedRow], outcomes: usize) -> f64 {
        let mean = || rows.iter().filter_map(|row| self.of_row(row)).sum::<f64>() / rows.len() as f64;
        let known = || rows.iter().filter_map(|row| Some((row, row.truth?)));
        match self {
            Metric::Error | Metric::LogLoss => mean(),
            _ if outcomes == 2 => {
                let scores: Vec<f64> = known().map(|(row, _)| row.score).collect();
                let signs: Vec<i8> = known().map(|(_, truth)| if truth == 1 { 1 } else { -1 }).collect();
                let found = evaluate(&scores, &signs);
                match self {
                    Metric::BalancedError => found.balanced_error,
                    Metric::Auc => 1.0 - found.auc.unwrap_or(0.5),
                    _ => 1.0 - found.f1.unwrap_or(0.0),
                }
            }
            _ => {
                let predicted: Vec<usize> = known().map(|(row, _)| row.outcome as usize).collect();
                let truth: Vec<usize> = known().map(|(_, truth)| truth as usize).collect();
                let found = evaluate_many(&predicted, &truth, &vec![String::new(); outcomes], Times::ONCE);
                match self {
                    Metric::BalancedError => found.balanced_error,
                    _ => 1.0 - found.macro_f1.unwrap_or(0.0),
                }
            }
        }
    }
}

/// The held-out rows of each fold, as one candidate judged them.
pub(crate) type JudgedFolds = Vec<Vec<JudgedRow>>;

impl Metric {
    /// What the metric of these folds is a mean of: the rows, or else the folds.
    pub(crate) fn parts(self, folds: &JudgedFolds, outcomes: usize) -> Vec<f64> {
        match self {
            Metric::Error | Metric::LogLoss => {
                folds.iter().flatten().filter_map(|row| self.of_row(row)).collect()
            }
            _ => folds.iter().map(|rows| self.of(rows, outcomes)).collect(),
        }
    }

    /// The metric over all rows, and its standard error.
    pub(crate) fn of_folds(self, folds: &JudgedFolds, outcomes: usize) -> (f64, f64) {
        let parts = self.parts(folds, outcomes);
        (mean(&parts), standard_error(&parts))
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The standard deviation of a mean of these.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let (n, mean) = (values.len() as f64, mean(values));
    if values.len() < 2 {
        return 0.0;
    }
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt()
}

/// What a candidate said about a row that it had not learned from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedRow {
    /// The right outcome; none for a class that the training rows lack.
    pub(crate) truth: Option<u32>,
    pub(crate) outcome: u32,
    /// For two classes, the score of the second.
    pub(crate) score: f64,
    /// −ln of the probability given to the right outcome: see [`log_loss`].
    pub(crate) loss: f64,
}

/// −ln of the probability that a candidate who knows so many outcomes gave to the right one: `of_known` computes it for one of
/// these. A class that the training rows lack has the loss of one more outcome where all are equally likely.
pub(crate) fn log_loss(truth: Option<usize>, outcomes: usize, of_known: impl FnOnce(usize) -> f64) -> f64 {
    truth.map_or_else(|| libm::log((outcomes + 1) as f64), of_known)
}

impl JudgedRow {
    pub(crate) fn is_wrong(&self) -> bool {
        self.truth != Some(self.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(truth: u32, score: f64) -> JudgedRow {
        let agreement = if truth == 1 { score } else { -score };
        JudgedRow {
            truth: Some(truth),
            outcome: u32::from(score >= 0.0),
            score,
            loss: (-agreement).exp().ln_1p(),
        }
    }

    #[test]
    fn metrics_are_what_their_names_say() {
        let rows = [row(1, 2.0), row(1, -1.0), row(0, -3.0), row(0, -0.5), row(0, 1.0), row(0, -2.0)];
        assert_eq!(Metric::Error.of(&rows, 2), 2.0 / 6.0);
        assert_eq!(Metric::BalancedError.of(&rows, 2), (0.5 + 0.25) / 2.0);
        // Of the 8 pairs, the second positive row scores below two negative ones.
        assert_eq!(Metric::Auc.of(&rows, 2), 2.0 / 8.0);
        assert_eq!(Metric::F1.of(&rows, 2), 0.5);
        let loss = rows.iter().map(|row| row.loss).sum::<f64>() / 6.0;
        assert_eq!(Metric::LogLoss.of(&rows, 2), loss);
        let stranger = JudgedRow { truth: None, ..rows[0] };
        assert_eq!(Metric::Error.of(&[rows[0], stranger], 2), 0.5);
    }
}

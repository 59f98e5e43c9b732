//! What a search minimises, counted on rows that were held out.

use crate::model::{evaluate, evaluate_many};
use serde::{Deserialize, Serialize};

/// By what candidates are judged.
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
    /// What is minimised, in words.
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

    /// Whether probabilities are needed.
    pub(super) fn needs_probabilities(self) -> bool {
        self == Metric::LogLoss
    }

    /// What a row adds to the metric, where that is a mean over the rows.
    pub(super) fn of_row(self, row: &JudgedRow) -> Option<f64> {
        match self {
            Metric::Error => Some(f64::from(u8::from(row.is_wrong()))),
            Metric::LogLoss => Some(row.loss),
            _ => None,
        }
    }

    /// The metric of these rows.
    pub(super) fn of(self, rows: &[JudgedRow], outcomes: usize) -> f64 {
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
                let found = evaluate_many(&predicted, &truth, &vec![String::new(); outcomes]);
                match self {
                    Metric::BalancedError => found.balanced_error,
                    _ => 1.0 - found.macro_f1.unwrap_or(0.0),
                }
            }
        }
    }
}

/// What a candidate said about a row that it had not learned from.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedRow {
    /// The right outcome; none for a class that the training rows lack.
    pub(super) truth: Option<u32>,
    pub(super) outcome: u32,
    /// For two classes, the score of the second.
    pub(super) score: f64,
    /// −ln of the probability given to the right outcome.
    pub(super) loss: f64,
}

impl JudgedRow {
    pub(super) fn is_wrong(&self) -> bool {
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

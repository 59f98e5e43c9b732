//! By what candidates and learners are judged, counted on rows that were held out.

use crate::SettingsError;
use crate::dataset::Dataset;
use crate::model::{Evaluation, ManyEvaluation, Model, Times, evaluate, evaluate_many};
use crate::observe::Observer;
use crate::train::Choice;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A metric, which is minimised: the name by which it is chosen, and what it is.
#[derive(Debug)]
pub struct Measure {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// The name of what is minimised.
    pub title: &'static str,
    /// One line for help texts.
    pub help: &'static str,
    /// Whether it is a share, which is shown in percent.
    pub is_share: bool,
    of: Of,
}

/// What a metric is computed from.
#[derive(Debug)]
enum Of {
    /// It is the mean of this over the rows.
    Rows(fn(&JudgedRow) -> f64),
    /// The same, of the probabilities that were given.
    Probabilities(fn(&JudgedRow) -> f64),
    /// The counts of all rows of two sides.
    TwoSides(fn(&Evaluation) -> f64),
    /// The same, and those of more classes.
    Counts(fn(&Evaluation) -> f64, fn(&ManyEvaluation) -> f64),
}

/// The metrics. The first is the default.
const MEASURES: [Measure; 5] = [
    Measure {
        name: "error",
        title: "error",
        help: "Error rate: the fraction of rows predicted wrong",
        is_share: true,
        of: Of::Rows(|row| f64::from(u8::from(row.is_wrong()))),
    },
    Measure {
        name: "balanced-error",
        title: "balanced error",
        help: "The mean of the error rates of the classes",
        is_share: true,
        of: Of::Counts(|found| found.balanced_error, |found| found.balanced_error),
    },
    Measure {
        name: "auc",
        title: "1 − AUC",
        help: "Area under the ROC curve: the probability that a positive row scores above a negative one",
        is_share: true,
        of: Of::TwoSides(|found| 1.0 - found.auc.unwrap_or(0.5)),
    },
    Measure {
        name: "log-loss",
        title: "log loss",
        help: "The mean of −ln of the probability given to the true class",
        is_share: false,
        of: Of::Probabilities(|row| row.loss),
    },
    Measure {
        name: "f1",
        title: "1 − F1",
        help: "The harmonic mean of precision and recall; with more than two classes, the mean over the classes",
        is_share: true,
        of: Of::Counts(|found| 1.0 - found.f1.unwrap_or(0.0), |found| 1.0 - found.macro_f1.unwrap_or(0.0)),
    },
];

/// The metrics as choices of a setting.
pub(crate) const CHOICES: [Choice; MEASURES.len()] = {
    let mut choices = [Choice { name: "", help: "" }; MEASURES.len()];
    let mut place = 0;
    while place < MEASURES.len() {
        choices[place] = Choice { name: MEASURES[place].name, help: MEASURES[place].help };
        place += 1;
    }
    choices
};

/// By what candidates and learners are judged: the less, the better.
#[derive(Clone, Copy)]
pub struct Metric(&'static Measure);

impl std::ops::Deref for Metric {
    type Target = Measure;

    fn deref(&self) -> &Measure {
        self.0
    }
}

impl Default for Metric {
    fn default() -> Self {
        Self::ALL[0]
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|metric| metric.name == name);
        found.ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

const NAMES: [&str; MEASURES.len()] = {
    let mut names = [""; MEASURES.len()];
    let mut place = 0;
    while place < MEASURES.len() {
        names[place] = MEASURES[place].name;
        place += 1;
    }
    names
};

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; MEASURES.len()] = {
        static ALL: [Measure; MEASURES.len()] = MEASURES;
        let mut all = [Metric(&ALL[0]); MEASURES.len()];
        let mut place = 0;
        while place < MEASURES.len() {
            all[place] = Metric(&ALL[place]);
            place += 1;
        }
        all
    };

    /// The share of rows that are predicted wrong.
    pub fn error() -> Self {
        Self::default()
    }

    /// The metric of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name == name)
    }

    /// The mean of −ln of the probability that was given to the right class.
    pub(crate) fn log_loss() -> Self {
        let is_of_probabilities = |metric: &Metric| matches!(metric.of, Of::Probabilities(_));
        Self::ALL.into_iter().find(is_of_probabilities).unwrap_or_default()
    }

    /// Refuses a metric that is not one of so many outcomes.
    pub(crate) fn check(self, outcomes: usize) -> Result<(), SettingsError> {
        if matches!(self.of, Of::TwoSides(_)) && outcomes > 2 {
            let problem = format!(
                "the {} is for two classes, and there are {outcomes}: choose one with ⟦positive=CLASS⟧, or another ⟦metric⟧",
                self.name.to_uppercase()
            );
            return Err(SettingsError::new("metric", problem));
        }
        Ok(())
    }

    /// Whether probabilities are needed.
    pub(crate) fn needs_probabilities(self) -> bool {
        matches!(self.of, Of::Probabilities(_))
    }

    /// What a row adds to the metric, where that is a mean over the rows.
    fn of_row(self) -> Option<fn(&JudgedRow) -> f64> {
        match self.of {
            Of::Rows(of) | Of::Probabilities(of) => Some(of),
            _ => None,
        }
    }

    /// The metric of these rows.
    pub(crate) fn of(self, rows: &[JudgedRow], outcomes: usize) -> f64 {
        let known = || rows.iter().filter_map(|row| Some((row, row.truth?)));
        let of_two = |of: fn(&Evaluation) -> f64| {
            let scores: Vec<f64> = known().map(|(row, _)| row.score).collect();
            let signs: Vec<i8> = known().map(|(_, truth)| if truth == 1 { 1 } else { -1 }).collect();
            of(&evaluate(&scores, &signs))
        };
        match self.of {
            Of::Rows(of) | Of::Probabilities(of) => rows.iter().map(of).sum::<f64>() / rows.len() as f64,
            Of::TwoSides(of) => of_two(of),
            Of::Counts(of, _) if outcomes == 2 => of_two(of),
            Of::Counts(_, of) => {
                let predicted: Vec<usize> = known().map(|(row, _)| row.outcome as usize).collect();
                let truth: Vec<usize> = known().map(|(_, truth)| truth as usize).collect();
                of(&evaluate_many(&predicted, &truth, &vec![String::new(); outcomes], Times::ONCE))
            }
        }
    }
}

/// The held-out rows of each fold, as one candidate judged them.
pub(crate) type JudgedFolds = Vec<Vec<JudgedRow>>;

impl Metric {
    /// What the metric of these folds is a mean of: the rows, or else the folds.
    pub(crate) fn parts(self, folds: &JudgedFolds, outcomes: usize) -> Vec<f64> {
        match self.of_row() {
            Some(of) => folds.iter().flatten().map(of).collect(),
            None => folds.iter().map(|rows| self.of(rows, outcomes)).collect(),
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

/// What a model says about rows that it has not learned from; none if it was stopped.
pub(crate) fn judge(model: &Model, rows: &Dataset, observer: &mut dyn Observer) -> Option<Vec<JudgedRow>> {
    let outcomes = model.classes.outcomes_of(rows.classes());
    let mut judged = Vec::with_capacity(rows.len());
    let finished = model.predict_watched(rows, observer, |predictor, i| {
        let truth = outcomes[rows.labels()[i] as usize];
        let said = predictor.predict(rows.row(i));
        let loss = loss(predictor.class_probabilities(), truth);
        let (truth, outcome) = (truth.map(|truth| truth as u32), said.outcome as u32);
        judged.push(JudgedRow { truth, outcome, score: said.score, loss });
    });
    finished.then_some(judged)
}

/// −ln of the probability given to the right outcome; NaN where none are given. What was thought impossible costs as much as the
/// smallest number that can be told from 0.
fn loss(probabilities: &[f64], truth: Option<usize>) -> f64 {
    if probabilities.is_empty() {
        return f64::NAN;
    }
    log_loss(truth, probabilities.len(), |truth| -libm::log(probabilities[truth].max(f64::MIN_POSITIVE)))
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
        assert_eq!(Metric::named("error").unwrap().of(&rows, 2), 2.0 / 6.0);
        assert_eq!(Metric::named("balanced-error").unwrap().of(&rows, 2), (0.5 + 0.25) / 2.0);
        // Of the 8 pairs, the second positive row scores below two negative ones.
        assert_eq!(Metric::named("auc").unwrap().of(&rows, 2), 2.0 / 8.0);
        assert_eq!(Metric::named("f1").unwrap().of(&rows, 2), 0.5);
        let loss = rows.iter().map(|row| row.loss).sum::<f64>() / 6.0;
        assert_eq!(Metric::named("log-loss").unwrap().of(&rows, 2), loss);
        let stranger = JudgedRow { truth: None, ..rows[0] };
        assert_eq!(Metric::named("error").unwrap().of(&[rows[0], stranger], 2), 0.5);
    }

    /// As in the search of tune: the logarithm of one more class than there are, whatever the probabilities.
    #[test]
    fn an_unseen_class_has_one_loss() {
        for given in [&[0.5, 0.5][..], &[0.9, 0.1], &[0.2, 0.3, 0.5], &[0.0, 1.0, 0.0]] {
            let expected = (given.len() as f64 + 1.0).ln();
            assert!((loss(given, None) - expected).abs() < 1e-15, "{given:?}");
        }
        assert!(loss(&[], None).is_nan());
        assert!((loss(&[0.25, 0.75], Some(1)) - (4.0f64 / 3.0).ln()).abs() < 1e-15);
    }
}

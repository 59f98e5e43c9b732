//! Predictions set beside the truth: the one way in which models are judged, on a file or on held-out rows.

use super::warnings::{JudgedOn, Warning};
use crate::classes::{ClassPair, Classes};
use crate::dataset::Dataset;
use crate::model::{
    Evaluation, ManyEvaluation, Model, Prediction, Predictor, Reliability, RowProbabilities, Threshold,
    Times, evaluate_labels, evaluate_many,
};
use crate::observe::{Observer, Pace, Progress};
use crate::theory::binomial::Interval;
use serde::Serialize;
use std::fmt;

/// The evaluation of a model on rows; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Evaluated {
    /// For a model of two sides.
    Pair {
        /// Errors, precision, recall and the rest.
        #[serde(flatten)]
        evaluation: Evaluation,
        /// The side that the baseline always predicts.
        baseline_class: String,
        /// The sides.
        classes: ClassPair,
        /// How good the probabilities are, where the model has some.
        #[serde(skip_serializing_if = "Option::is_none")]
        probabilities: Option<Reliability>,
        /// The threshold that the labels go by, where there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        threshold: Option<Threshold>,
        /// Rows that were skipped.
        skipped_rows: u64,
        /// Whether the model was trained on these very rows, so that they tell nothing about new ones.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        training_rows: bool,
        /// Whether these are the rows that it was trained on together with those that were held out.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        held_out_rows: bool,
    },
    /// For a model of many classes.
    Many {
        /// Errors, and each class by itself.
        #[serde(flatten)]
        evaluation: ManyEvaluation,
        /// The class that the baseline always predicts.
        baseline_class: String,
        /// How good the probabilities are, where the model has some.
        #[serde(skip_serializing_if = "Option::is_none")]
        probabilities: Option<Reliability>,
        /// Rows that were skipped.
        skipped_rows: u64,
        /// Whether the model was trained on these very rows, so that they tell nothing about new ones.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        training_rows: bool,
        /// Whether these are the rows that it was trained on together with those that were held out.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        held_out_rows: bool,
    },
}

/// Which rows a model was judged on, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichRows {
    /// Those that were held out: the model has not learned from them.
    HeldOut,
    /// Those that it was trained on.
    Training,
    /// Those that it was trained on, together with those that were held out.
    TrainingAndHeldOut,
    /// The rows of another file. Some of them may have been among the training rows all the same.
    OfFile,
}

impl fmt::Display for WhichRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhichRows::HeldOut => "held-out rows",
            WhichRows::Training => "training rows",
            WhichRows::TrainingAndHeldOut => "training and held-out rows",
            WhichRows::OfFile => "rows",
        })
    }
}

impl Evaluated {
    /// Rows judged, each as often as it occurs.
    pub fn rows(&self) -> u64 {
        match self {
            Evaluated::Pair { evaluation, .. } => evaluation.rows,
            Evaluated::Many { evaluation, .. } => evaluation.rows,
        }
    }

    /// Rows predicted wrong, each as often as it occurs.
    pub fn errors(&self) -> u64 {
        match self {
            Evaluated::Pair { evaluation, .. } => evaluation.errors,
            Evaluated::Many { evaluation, .. } => evaluation.errors,
        }
    }

    /// The share of rows predicted wrong.
    pub fn error(&self) -> f64 {
        match self {
            Evaluated::Pair { evaluation, .. } => evaluation.error,
            Evaluated::Many { evaluation, .. } => evaluation.error,
        }
    }

    /// The 95 % interval for the error on new rows.
    pub fn error_interval(&self) -> Interval {
        match self {
            Evaluated::Pair { evaluation, .. } => evaluation.error_interval,
            Evaluated::Many { evaluation, .. } => evaluation.error_interval,
        }
    }

    /// Which rows of a file these are. Rows that were held out in training are judged by themselves, and are not asked about.
    pub fn which_rows(&self) -> WhichRows {
        let (Evaluated::Pair { training_rows, held_out_rows, .. }
        | Evaluated::Many { training_rows, held_out_rows, .. }) = self;
        match (training_rows, held_out_rows) {
            (false, _) => WhichRows::OfFile,
            (true, false) => WhichRows::Training,
            (true, true) => WhichRows::TrainingAndHeldOut,
        }
    }

    /// Records whether these are the training rows, and if so, whether those that were held out are among them.
    pub(super) fn on_training_rows(mut self, is: bool, with_held_out: bool) -> Self {
        match &mut self {
            Evaluated::Pair { training_rows, held_out_rows, .. }
            | Evaluated::Many { training_rows, held_out_rows, .. } => {
                (*training_rows, *held_out_rows) = (is, is && with_held_out);
            }
        }
        self
    }

    /// The class that the baseline always predicts, and its error.
    pub fn baseline(&self) -> (&str, f64) {
        match self {
            Evaluated::Pair { evaluation, baseline_class, .. } => (baseline_class, evaluation.baseline_error),
            Evaluated::Many { evaluation, baseline_class, .. } => (baseline_class, evaluation.baseline_error),
        }
    }

    /// Whether the model is wrong on fewer rows than the baseline; true where the baseline is never wrong.
    pub fn beats_baseline(&self) -> bool {
        let baseline = self.baseline().1;
        baseline == 0.0 || self.error() < baseline
    }

    /// Classes that have rows here but were never predicted, each with its rows.
    pub fn never_predicted(&self) -> Vec<(String, u64)> {
        match self {
            Evaluated::Pair { evaluation, classes, .. } => {
                let Evaluation { true_positives, false_positives, true_negatives, false_negatives, .. } =
                    evaluation;
                let sides = [
                    (
                        classes.negative_name(),
                        true_negatives + false_positives,
                        true_negatives + false_negatives,
                    ),
                    (
                        classes.positive.clone(),
                        true_positives + false_negatives,
                        true_positives + false_positives,
                    ),
                ];
                let missed = sides.into_iter().filter(|&(_, rows, called)| rows > 0 && called == 0);
                missed.map(|(name, rows, _)| (name, rows)).collect()
            }
            Evaluated::Many { evaluation, .. } => {
                let missed = evaluation.classes.iter().filter(|of| of.rows > 0 && of.precision.is_none());
                missed.map(|of| (of.class.clone(), of.rows)).collect()
            }
        }
    }
}

impl Evaluated {
    /// How good the probabilities are, where the model has some.
    pub fn probabilities(&self) -> Option<&Reliability> {
        match self {
            Evaluated::Pair { probabilities, .. } | Evaluated::Many { probabilities, .. } => {
                probabilities.as_ref()
            }
        }
    }

    /// Reasons to trust the model less, where these are rows of a file.
    pub fn warnings(&self) -> Vec<Warning> {
        let training = match self.which_rows() {
            WhichRows::Training => Some(Warning::TrainingRows { held_out: false }),
            WhichRows::TrainingAndHeldOut => Some(Warning::TrainingRows { held_out: true }),
            WhichRows::HeldOut | WhichRows::OfFile => None,
        };
        training.into_iter().chain(Warning::of_measures(self, JudgedOn::Judged)).collect()
    }
}

/// A row that was judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedRow {
    /// Where it stands in its source, from 1.
    pub line: u64,
    /// The true class, as a place among the outcomes of the model.
    pub truth: usize,
    /// The class that was predicted.
    pub found: usize,
    /// The score: of two sides, at least 0 means the positive one; of many classes, that of the winner.
    pub score: f64,
    /// Of two sides, the probability of the positive one; of many, that of the winner. `None` for a model without.
    pub probability: Option<f64>,
    /// How often it occurs.
    pub times: u64,
}

/// Rows with what was predicted and what is true.
#[derive(Default)]
pub(super) struct Judged {
    lines: Vec<u64>,
    scores: Vec<f64>,
    found: Vec<usize>,
    truth: Vec<usize>,
    /// Empty for a model without probabilities.
    probabilities: Vec<RowProbabilities>,
    /// How often each row occurs; empty where that was not said.
    times: Vec<u64>,
    /// Rows of classes that the model does not know.
    pub(super) unknown: u64,
    /// Rows that occur not at all.
    pub(super) absent: u64,
    /// Whether a row has a weight that is no whole number.
    pub(super) has_fractions: bool,
}

impl Judged {
    /// Whether no row has been judged.
    pub(super) fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Rows judged.
    pub(super) fn len(&self) -> u64 {
        self.scores.len() as u64
    }

    /// Rows judged or passed over.
    pub(super) fn rows_read(&self) -> u64 {
        self.len() + self.unknown + self.absent
    }

    /// Adds a row of which the true outcome is known.
    pub(super) fn push(
        &mut self,
        line: u64,
        prediction: &Prediction,
        probabilities: Option<RowProbabilities>,
        truth: usize,
    ) {
        self.lines.push(line);
        self.probabilities.extend(probabilities);
        self.scores.push(prediction.score);
        self.found.push(prediction.outcome);
        self.truth.push(truth);
    }

    /// Judges rows in memory, as read; `None` if the observer stopped that.
    pub(super) fn of(model: &Model, data: &Dataset, observer: &mut dyn Observer) -> Option<Self> {
        let mut judged = Self::default();
        let mut predictor = Predictor::new(model).with_probabilities();
        let outcomes = model.classes.outcomes_of(data.classes());
        let (mut end, mut pace) = (0, Pace::new(model.learned.rows_before_pause()));
        while end < data.len() {
            let rows = pace.next(end, data.len());
            end = rows.end;
            for i in rows {
                match outcomes[data.labels()[i] as usize] {
                    Some(outcome) => {
                        let found = predictor.predict(data.row(i));
                        let probabilities = probabilities_beside(&predictor, &found, outcome);
                        judged.push(data.line(i), &found, probabilities, outcome);
                    }
                    None => judged.unknown += 1,
                }
            }
            let flow = observer.progress(&Progress::Judging { rows: end as u64, total: data.len() as u64 });
            if end < data.len() && pace.gives_up(flow) {
                return None;
            }
        }
        Some(judged)
    }

    /// Sets the count of the row that was added last.
    pub(super) fn occurs(&mut self, times: u64) {
        // Those before it occur once, if nothing was said of them.
        self.times.resize(self.lines.len().saturating_sub(1), 1);
        self.times.push(times);
    }

    /// Sets how often each row occurs; weights that are not whole numbers are no counts.
    pub(super) fn weigh(&mut self, weights: Option<&[f64]>) {
        let Some(weights) = weights else { return };
        self.has_fractions = weights.iter().any(|weight| weight.fract() != 0.0);
        self.times = weights.iter().map(|&weight| weight as u64).collect();
        self.forget_fractions();
    }

    /// Whether something was said about how often rows occur.
    pub(super) fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// Weights that are not whole numbers are no counts: then each row counts once.
    pub(super) fn forget_fractions(&mut self) {
        if self.has_fractions {
            self.times.clear();
        }
    }

    /// How many rows are predicted wrong; those of unknown classes are.
    pub(super) fn errors(&self) -> u64 {
        let wrong = self.found.iter().zip(&self.truth).filter(|(found, truth)| found != truth).count();
        wrong as u64 + self.unknown
    }

    /// Every row by itself. Copies of a row that were written out one after the other are one again.
    pub(super) fn rows(&self) -> Vec<JudgedRow> {
        let row = |i: usize| JudgedRow {
            line: self.lines[i],
            truth: self.truth[i],
            found: self.found[i],
            score: self.scores[i],
            probability: self.probabilities.get(i).map(|row| row.shown),
            times: self.times.get(i).copied().unwrap_or(1),
        };
        let mut rows: Vec<JudgedRow> = Vec::new();
        for row in (0..self.lines.len()).map(row) {
            match rows.last_mut() {
                Some(last) if JudgedRow { times: row.times, ..*last } == row => last.times += row.times,
                _ => rows.push(row),
            }
        }
        rows
    }

    /// The measures. The baseline always predicts the outcome `usual`, or else the most frequent one of
    /// these rows.
    pub(super) fn measure(self, model: &Model, usual: Option<usize>, skipped: u64) -> Evaluated {
        let Self {
            scores,
            found,
            truth,
            probabilities,
            times,
            unknown,
            absent: _,
            lines: _,
            has_fractions: _,
        } = self;
        let times = if times.is_empty() { Times::ONCE } else { Times::each(&times) };
        let classes = &model.classes;
        let probabilities = Reliability::of(&probabilities, times);
        let outcomes = classes.outcomes();
        let mut counts = vec![0u64; outcomes.len()];
        truth.iter().enumerate().for_each(|(i, &outcome)| counts[outcome] += times.of(i));
        let usual = usual.unwrap_or_else(|| most_frequent(&counts));
        let baseline_class = outcomes[usual].clone();
        let rows = times.total(truth.len());
        let baseline_error = (rows - counts[usual]) as f64 / rows.max(1) as f64;
        let skipped_rows = skipped + unknown;
        match classes {
            Classes::Pair(pair) => {
                let signs: Vec<i8> = truth.iter().map(|&outcome| if outcome == 1 { 1 } else { -1 }).collect();
                let called: Vec<bool> = found.iter().map(|&outcome| outcome == 1).collect();
                let evaluation =
                    Evaluation { baseline_error, ..evaluate_labels(&scores, &called, &signs, times) };
                Evaluated::Pair {
                    evaluation,
                    baseline_class,
                    classes: pair.clone(),
                    probabilities,
                    threshold: model.threshold,
                    skipped_rows,
                    training_rows: false,
                    held_out_rows: false,
                }
            }
            Classes::Each { names } => {
                let evaluation =
                    ManyEvaluation { baseline_error, ..evaluate_many(&found, &truth, names, times) };
                Evaluated::Many {
                    evaluation,
                    baseline_class,
                    probabilities,
                    skipped_rows,
                    training_rows: false,
                    held_out_rows: false,
                }
            }
        }
    }
}

/// The probabilities of the row that was predicted last, beside its true outcome; `None` for a model without
/// probabilities.
pub(super) fn probabilities_beside(
    predictor: &Predictor<'_>,
    prediction: &Prediction,
    truth: usize,
) -> Option<RowProbabilities> {
    match (predictor.model().classes.pair(), prediction.probability?) {
        (Some(_), positive) => Some(RowProbabilities::of_pair(positive, truth == 1)),
        (None, _) => {
            Some(RowProbabilities::of_many(predictor.class_probabilities(), prediction.outcome, truth))
        }
    }
}

/// The place of the largest count; of the first, where several are as large.
pub(super) fn most_frequent(counts: &[u64]) -> usize {
    (0..counts.len()).rev().max_by_key(|&place| counts[place]).unwrap_or(0)
}

//! Scores, labels and distances for new rows.

use super::{Calibration, Model};
use crate::dataset::{Dataset, Row};
use crate::features::RecipeBuffer;
use crate::observe::{Observer, Pace, Progress};
use crate::theory::geometry;
use crate::train::ClassScores;
use std::sync::Arc;

/// The prediction of a model for a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The class, as a place among the [outcomes](crate::classes::Classes::outcomes) of the model.
    pub outcome: usize,
    /// The decision function: for two sides, ≥ 0 means the positive class; for many classes, the score of the winner.
    pub score: f64,
    /// The distance to the boundary, in the space of the scaled features; none where there is no one boundary of
    /// that kind (many classes, votes, kernels), or where w = 0.
    pub distance: Option<f64>,
    /// For two sides, the probability of the positive class; for many classes, that of the winner. None for a model
    /// without probabilities, and for many classes where they were not asked for.
    pub probability: Option<f64>,
}

/// A model ready to predict: what can be computed once, is.
#[derive(Clone)]
pub struct Predictor<'a> {
    model: &'a Model,
    weight_norm: f64,
    /// The weights of many classes, where those are scored faster together.
    scores: Option<Arc<ClassScores>>,
    sums: Vec<f64>,
    buffer: RecipeBuffer,
    calibration: Option<&'a Calibration>,
    /// Whether the probabilities of many classes are wanted, and those of the last row.
    all_classes: bool,
    class_probabilities: Vec<f64>,
}

impl<'a> Predictor<'a> {
    /// Prepares a model.
    pub fn new(model: &'a Model) -> Self {
        let weight_norm = model.learned.linear().map_or(0.0, geometry::weight_norm);
        let scores = ClassScores::of_learned(&model.learned).map(Arc::new);
        Self {
            model,
            weight_norm,
            scores,
            sums: Vec::new(),
            buffer: RecipeBuffer::default(),
            calibration: model.calibrated(),
            all_classes: false,
            class_probabilities: Vec::new(),
        }
    }

    /// The same, with the probabilities of all classes, which take a score for each of them. Nothing changes for a model
    /// without probabilities.
    pub fn with_probabilities(self) -> Self {
        Self { all_classes: self.calibration.is_some(), ..self }
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// Predicts one row, as read: it is expanded and scaled here. Features that the model does not know are left out.
    pub fn predict(&mut self, row: Row<'_>) -> Prediction {
        let row = row.truncated(self.model.recipe.columns.features());
        let row = self.model.recipe.apply(row, &mut self.buffer);
        let learned = &self.model.learned;
        let (mut outcome, score) = match &self.scores {
            Some(scores) => scores.class_of(learned, row, &mut self.sums),
            None => learned.class_of(row),
        };
        let distance = (self.weight_norm > 0.0).then(|| score.abs() / self.weight_norm);
        let probability = match (learned.is_of_classes(), self.calibration) {
            (true, Some(calibration)) if self.all_classes => {
                self.class_probabilities.clear();
                self.class_probabilities.extend(learned.parts().iter().map(|learned| learned.score(row)));
                calibration.probabilities_of(&mut self.class_probabilities);
                Some(self.class_probabilities[outcome])
            }
            (true, _) | (_, None) => None,
            (_, Some(calibration)) => {
                let p = calibration.probability(score);
                if let Some(threshold) = &self.model.threshold {
                    outcome = usize::from(p >= threshold.probability);
                }
                if self.all_classes {
                    self.class_probabilities.clear();
                    self.class_probabilities.extend([1.0 - p, p]);
                }
                Some(p)
            }
        };
        Prediction { outcome, score, distance, probability }
    }

    /// The probabilities of all [outcomes](crate::classes::Classes::outcomes) for the row that was predicted last: they add
    /// up to 1. Empty for a model without probabilities, and where they were not asked for
    /// ([`with_probabilities`](Self::with_probabilities)).
    pub fn class_probabilities(&self) -> &[f64] {
        &self.class_probabilities
    }
}

impl Model {
    /// How many rows, as read, it predicts wrong; a row of a class that it does not know is one of them.
    pub fn errors_on(&self, data: &Dataset) -> u64 {
        let right = self.classes.outcomes_of(data.classes());
        let mut predictor = Predictor::new(self);
        let wrong =
            |&i: &usize| Some(predictor.predict(data.row(i)).outcome) != right[data.labels()[i] as usize];
        (0..data.len()).filter(wrong).count() as u64
    }

    /// Gives `each` a predictor and the place of every row, one after the other. False if the observer stopped it.
    pub(crate) fn predict_watched<'a>(
        &'a self,
        data: &Dataset,
        observer: &mut dyn Observer,
        mut each: impl FnMut(&mut Predictor<'a>, usize),
    ) -> bool {
        let mut predictor = Predictor::new(self).with_probabilities();
        let (mut end, mut pace) = (0, Pace::new(self.learned.rows_before_pause()));
        while end < data.len() {
            let rows = pace.next(end, data.len());
            end = rows.end;
            rows.for_each(|i| each(&mut predictor, i));
            let progress = Progress::Judging { rows: end as u64, total: data.len() as u64 };
            let flow = observer.progress(&progress);
            if end < data.len() && pace.gives_up(flow) {
                return false;
            }
        }
        true
    }

    /// The probabilities of all [outcomes](crate::classes::Classes::outcomes) for a row; `None` for a model without them.
    pub fn probabilities(&self, row: Row<'_>) -> Option<Vec<f64>> {
        self.calibrated()?;
        let mut predictor = Predictor::new(self).with_probabilities();
        predictor.predict(row);
        Some(predictor.class_probabilities)
    }

    /// The class of a row.
    pub fn predict(&self, row: Row<'_>) -> String {
        self.classes.outcomes().swap_remove(Predictor::new(self).predict(row).outcome)
    }
}

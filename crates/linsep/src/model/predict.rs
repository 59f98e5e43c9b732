//! Scores, labels and distances for new rows.

use super::Model;
use crate::dataset::{Dataset, Row};
use crate::features::RecipeBuffer;
use crate::observe::{Observer, Pace, Progress};
use crate::theory::geometry;
use crate::train::{ClassScores, Learned};
use std::sync::Arc;

/// What a model says about a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The class, as a place among the [outcomes](crate::classes::Classes::outcomes) of the model.
    pub outcome: usize,
    /// The decision function: for two sides, ≥ 0 means the positive class; for many classes, the score of the winner.
    pub score: f64,
    /// The distance to the boundary, in the space of the scaled features; none where there is no one boundary of
    /// that kind (many classes, votes, kernels), or where w = 0.
    pub distance: Option<f64>,
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
}

impl<'a> Predictor<'a> {
    /// Prepares a model.
    pub fn new(model: &'a Model) -> Self {
        let weight_norm = match &model.learned {
            Learned::Linear(theta) => geometry::weight_norm(theta),
            _ => 0.0,
        };
        let scores = ClassScores::of_learned(&model.learned).map(Arc::new);
        Self { model, weight_norm, scores, sums: Vec::new(), buffer: RecipeBuffer::default() }
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
        let (outcome, score) = match &self.scores {
            Some(scores) => scores.class_of(learned, row, &mut self.sums),
            None => learned.class_of(row),
        };
        let distance = (self.weight_norm > 0.0).then(|| score.abs() / self.weight_norm);
        Prediction { outcome, score, distance }
    }
}

impl Model {
    /// How many rows, as read, it predicts wrong; a row of a class that it does not know is one of them.
    pub fn errors_on(&self, data: &Dataset) -> u64 {
        // This observer never breaks.
        self.errors_watched(data, &mut ()).unwrap_or_default()
    }

    /// The same, or `None` if the observer stopped the count.
    pub(crate) fn errors_watched(&self, data: &Dataset, observer: &mut dyn Observer) -> Option<u64> {
        let mut predictor = Predictor::new(self);
        let right = self.classes.outcomes_of(data.classes());
        let mut wrong =
            |&i: &usize| Some(predictor.predict(data.row(i)).outcome) != right[data.labels()[i] as usize];
        let (mut errors, mut end, mut pace) = (0, 0, Pace::new(self.learned.rows_before_pause()));
        while end < data.len() {
            let rows = pace.next(end, data.len());
            end = rows.end;
            errors += rows.filter(&mut wrong).count() as u64;
            let progress = Progress::Judging { rows: end as u64, total: data.len() as u64 };
            let flow = observer.progress(&progress);
            if end < data.len() && pace.gives_up(flow) {
                return None;
            }
        }
        Some(errors)
    }

    /// The class of a row.
    pub fn predict(&self, row: Row<'_>) -> String {
        self.classes.outcomes().swap_remove(Predictor::new(self).predict(row).outcome)
    }
}

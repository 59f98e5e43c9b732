//! Scores, labels and distances for new rows.

use super::Model;
use crate::dataset::Row;
use crate::scale::RowBuffer;
use crate::theory::geometry;
use crate::train::Learned;

/// What a model says about a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The decision function; ≥ 0 means the positive class.
    pub score: f64,
    /// The distance to the boundary, in the space of the scaled features; none for votes, or where w = 0.
    pub distance: Option<f64>,
}

/// A model ready to predict: what can be computed once, is.
pub struct Predictor<'a> {
    model: &'a Model,
    weight_norm: f64,
    buffer: RowBuffer,
}

impl<'a> Predictor<'a> {
    /// Prepares a model.
    pub fn new(model: &'a Model) -> Self {
        let weight_norm = match &model.learned {
            Learned::Linear(theta) => geometry::weight_norm(theta),
            Learned::Voted { .. } => 0.0,
        };
        Self { model, weight_norm, buffer: RowBuffer::default() }
    }

    /// Predicts one row, as read: it is scaled here. Features that the model does not know are left out.
    pub fn predict(&mut self, row: Row<'_>) -> Prediction {
        let row = row.truncated(self.model.learned.columns());
        let row = self.model.scaler.apply(row, &mut self.buffer);
        let score = self.model.learned.score(row);
        let distance = (self.weight_norm > 0.0).then(|| score.abs() / self.weight_norm);
        Prediction { score, distance }
    }
}

impl Model {
    /// The class of a row.
    pub fn predict(&self, row: Row<'_>) -> String {
        self.classes.name_of(Predictor::new(self).predict(row).score)
    }
}

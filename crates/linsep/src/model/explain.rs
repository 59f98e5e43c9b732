//! Evidence for and against the predicted class of a row.
//!
//! The score of a linear model is a sum with one part for each feature. For two sides it is that sum; for many classes, the
//! sum of the winner less that of the runner-up. Other models have no such parts: there a part is by how much the score falls
//! when the feature is left out, and the parts need not add up to the score.

use super::{Model, Predictor};
use crate::dataset::Row;
use crate::features::{CellForm, ColumnKind, RecipeBuffer, Schema};
use crate::train::Learned;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Why a row was given its class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The class, as a place among the outcomes of the model.
    pub outcome: usize,
    /// The one that it was preferred to; none if there is no other.
    pub other: Option<usize>,
    /// By how much.
    pub score: f64,
    /// The score of a row without any feature; none where parts do not add up.
    pub constant: Option<f64>,
    /// The features, the strongest evidence for the class first.
    pub parts: Vec<Part>,
}

/// The contribution of one feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its place among the features that the model learned from.
    #[serde(skip)]
    pub feature: usize,
    /// The feature, as the user knows it.
    #[serde(rename = "feature")]
    pub name: String,
    /// Its value in the row, where it is a number.
    pub value: Option<f64>,
    /// The date or time of day that the value denotes, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Its contribution to the score: above 0 is evidence for the class.
    pub effect: f64,
}

/// A model that explains its predictions.
pub struct Explainer<'a> {
    model: &'a Model,
    predictor: Predictor<'a>,
    buffer: RecipeBuffer,
    /// How each feature of the columns that is a number of the user's was written.
    forms: Vec<Option<CellForm>>,
    /// For each spline feature of a column, the feature of the column.
    column_of: HashMap<usize, usize>,
    /// For each feature of a column of numbers, the feature that says where its cell is missing.
    gaps: HashMap<usize, usize>,
}

impl<'a> Explainer<'a> {
    /// Prepares a model.
    pub fn new(model: &'a Model) -> Self {
        let mut forms = vec![Some(CellForm::Plain); model.recipe.columns.features()];
        let mut gaps = HashMap::new();
        if let Schema::Table { columns, .. } = &model.recipe.columns {
            forms.fill(None);
            for column in columns {
                if let ColumnKind::Number(number) = &column.kind {
                    forms[number.feature] = Some(number.form);
                    gaps.extend(number.gap.map(|gap| (number.feature, gap)));
                }
            }
        }
        let ranges = model.recipe.expansion.each_spline_range();
        let column_of =
            ranges.flat_map(|(splines, own)| own.map(move |feature| (feature, splines.feature))).collect();
        Self {
            model,
            predictor: Predictor::new(model),
            buffer: RecipeBuffer::default(),
            forms,
            column_of,
            gaps,
        }
    }

    /// Explains the class of a row, as read.
    pub fn explain(&mut self, row: Row<'_>) -> Explanation {
        let outcome = self.predictor.predict(row).outcome;
        let recipe = &self.model.recipe;
        let raw = row.truncated(recipe.columns.features());
        let values: HashMap<usize, f64> = raw.iter().filter(|&(_, x)| x != 0.0).collect();
        let prepared: Vec<(usize, f64)> = recipe.apply(raw, &mut self.buffer).iter().collect();
        let scores = scores(&self.model.learned, &prepared);
        let other = runner_up(&scores, outcome);
        // The weights of the winner, less those of the runner-up; of two sides, with the sign of the outcome.
        let lead = |scores: &[f64]| match (scores.len(), other) {
            (1, _) => {
                if outcome == 1 {
                    scores[0]
                } else {
                    -scores[0]
                }
            }
            (_, Some(other)) => scores[outcome] - scores[other],
            (_, None) => scores[outcome],
        };
        let score = lead(&scores);
        // One part for a column with its splines; where its cell is missing, the feature that says so stands for the column,
        // because the number that was filled in is none of the row.
        let part_of = |j: usize| {
            let column = self.column_of.get(&j).copied().unwrap_or(j);
            self.gaps.get(&column).copied().filter(|gap| values.contains_key(gap)).unwrap_or(column)
        };
        let mut effects: HashMap<usize, f64> = HashMap::new();
        let constant = match linear(&self.model.learned) {
            Some(each) => {
                for &(j, x) in &prepared {
                    let parts: Vec<f64> =
                        each.iter().map(|(weights, _)| weights.get(j).copied().unwrap_or(0.0) * x).collect();
                    *effects.entry(part_of(j)).or_default() += lead(&parts);
                }
                let intercepts: Vec<f64> = each.iter().map(|&(_, intercept)| intercept).collect();
                Some(lead(&intercepts))
            }
            None => {
                let columns: HashSet<usize> = prepared.iter().map(|&(j, _)| part_of(j)).collect();
                for column in columns {
                    let rest: Vec<(usize, f64)> =
                        prepared.iter().copied().filter(|&(j, _)| part_of(j) != column).collect();
                    effects.insert(column, score - lead(&self::scores(&self.model.learned, &rest)));
                }
                None
            }
        };
        let part = |(j, effect): (usize, f64)| {
            let form = self.forms.get(j).copied().flatten();
            let value = form.map(|_| values.get(&j).copied().unwrap_or(0.0));
            let date = form.zip(value).and_then(|(form, value)| form.date(value));
            Part { feature: j, name: recipe.feature_name(j), value, date, effect }
        };
        let mut parts: Vec<(usize, f64)> = effects.into_iter().filter(|&(_, effect)| effect != 0.0).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let other = if scores.len() == 1 { Some(1 - outcome) } else { other };
        Explanation { outcome, other, score, constant, parts: parts.into_iter().map(part).collect() }
    }
}

/// The scores of a row that is prepared: one for two sides, else one for each class.
fn scores(learned: &Learned, row: &[(usize, f64)]) -> Vec<f64> {
    let indices: Vec<u32> = row.iter().map(|&(j, _)| j as u32).collect();
    let values: Vec<f64> = row.iter().map(|&(_, x)| x).collect();
    let row = Row::SparseF64(&indices, &values);
    learned.parts().iter().map(|one| one.score(row)).collect()
}

/// The class with the largest score but for this one.
fn runner_up(scores: &[f64], outcome: usize) -> Option<usize> {
    (0..scores.len())
        .filter(|&other| other != outcome)
        .max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))
}

/// The weights and intercepts, where the scores are linear.
fn linear(learned: &Learned) -> Option<Vec<(&[f64], f64)>> {
    let thetas = learned.thetas()?;
    Some(thetas.into_iter().map(|theta| (theta.weights.as_slice(), theta.intercept())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::features::{Expansion, Recipe, Scaler, Scaling};
    use crate::train::{Learner, Settings, train};

    fn model(learner: &str, classes: &[&str], scaling: Scaling) -> (Model, Dataset) {
        let data =
            Dataset::dense(2, &[1.0, 0.2, 2.0, 0.1, -1.0, 3.0, -2.0, 2.5, 0.5, -4.0, 0.1, -3.0], classes)
                .unwrap();
        let scaler = Scaler::learn(scaling, &data);
        let settings =
            Settings { learner: Learner::named(learner).unwrap(), epochs: 50, ..Settings::default() };
        let outcome = train(&scaler.apply_all(data.clone()).unwrap(), &settings, &mut ()).unwrap();
        let columns = Schema::Array { features: 2 };
        (
            Model::with_recipe(
                outcome,
                Recipe { columns, expansion: Expansion::none(), scaling: scaler },
                None,
            ),
            data,
        )
    }

    #[test]
    fn the_parts_of_a_linear_model_add_up_to_its_score() {
        for (learner, classes) in [
            ("perceptron", ["a", "a", "b", "b", "a", "b"]),
            ("logistic", ["a", "a", "b", "b", "a", "b"]),
            ("multiclass", ["a", "a", "b", "b", "c", "c"]),
            ("logistic", ["a", "a", "b", "b", "c", "c"]),
        ] {
            for scaling in [Scaling::None, Scaling::Standard, Scaling::UnitRows] {
                let (model, data) = model(learner, &classes, scaling);
                let mut explainer = Explainer::new(&model);
                for i in 0..data.len() {
                    let said = Predictor::new(&model).predict(data.row(i));
                    let why = explainer.explain(data.row(i));
                    let sum: f64 =
                        why.constant.unwrap() + why.parts.iter().map(|part| part.effect).sum::<f64>();
                    assert_eq!(why.outcome, said.outcome);
                    assert!((sum - why.score).abs() < 1e-9, "{learner}: {why:?}");
                    assert!(why.score >= 0.0 && why.other.is_some());
                    assert!(why.parts.iter().all(|part| part.value.is_some()));
                }
            }
        }
    }

    #[test]
    fn other_models_are_asked_what_they_would_say_without_a_feature() {
        for learner in ["kernel", "voted", "memoriser"] {
            let (model, data) = model(learner, &["a", "a", "b", "b", "a", "b"], Scaling::None);
            let why = Explainer::new(&model).explain(data.row(0));
            assert_eq!(
                (why.outcome, why.constant),
                (Predictor::new(&model).predict(data.row(0)).outcome, None)
            );
        }
    }
}

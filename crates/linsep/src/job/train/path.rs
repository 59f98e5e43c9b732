//! The weights of logistic regression as its penalty loses weight, ready to be drawn.

use crate::dataset::Dataset;
use crate::model::Model;
use crate::observe::Observer;
use crate::train::{CValues, Learned, Learner, LogisticPenalty, Settings, logistic_path};
use crate::{Error, SettingsError};
use serde::Serialize;
use std::ops::ControlFlow;

/// The weights for one weight of the loss.
#[derive(Clone, Debug, Serialize)]
pub struct PathPoint {
    /// C, the weight of the loss against the penalty.
    #[serde(rename = "C")]
    pub c: f64,
    /// The weights: of the second of two classes, or of each of more.
    pub classes: Vec<PathWeights>,
}

/// The weights of a class.
#[derive(Clone, Debug, Serialize)]
pub struct PathWeights {
    /// The class.
    pub class: String,
    /// The intercept, in the units of the file where the scaling allows.
    pub intercept: f64,
    /// The features that have a weight, in their order, each with what one more unit of it adds to the score.
    pub weights: Vec<(String, f64)>,
    /// The weights of the same features as they are learned from, which are scaled: these the penalty weighs.
    #[serde(skip)]
    pub scaled: Vec<f64>,
}

/// The most points of a path.
const MAX: usize = 1000;

/// Refuses a path where there is none.
pub(super) fn check(points: usize, settings: &Settings, elsewhere: bool) -> Result<(), SettingsError> {
    let problem = match settings.learner {
        _ if elsewhere => "⟦path⟧ needs all rows in memory".to_string(),
        Learner::Logistic(options)
            if matches!(options.penalty, LogisticPenalty::None | LogisticPenalty::Firth) =>
        {
            "⟦path⟧ varies the weight of the penalty, and there is no penalty".to_string()
        }
        Learner::Logistic(_) if (2..=MAX).contains(&points) => return Ok(()),
        Learner::Logistic(_) => format!("⟦path⟧ is the number of points, from 2 to {MAX}"),
        learner => {
            format!("⟦path⟧ is for ⟦learner=logistic⟧, not for {}", learner.name())
        }
    };
    Err(SettingsError::new("path", problem))
}

/// The weights along the path that ends at the model, which was learned from these rows as they are prepared for it.
/// `None` if the observer stopped it.
pub(super) fn learn(
    model: &Model,
    data: &Dataset,
    points: usize,
    observer: &mut dyn Observer,
) -> Result<Option<Vec<PathPoint>>, Error> {
    let Learner::Logistic(options) = model.settings.learner else { return Ok(Some(Vec::new())) };
    let outcomes = model.classes.outcomes();
    let mut path = Vec::with_capacity(points);
    let mut own = model.clone();
    let stopped = logistic_path(
        data,
        &model.settings,
        &options,
        CValues::UpToC(points),
        observer,
        &mut |c, thetas, _| {
            let of = |class: usize| match thetas.len() {
                1 => outcomes[1].clone(),
                _ => outcomes[class].clone(),
            };
            let mut classes = Vec::with_capacity(thetas.len());
            for (class, theta) in thetas.iter().enumerate() {
                own.learned = Learned::Linear(theta.clone());
                let (weights, intercept) = match own.in_units_of(0) {
                    Some(units) => (units.weights, units.intercept),
                    None => (theta.weights.clone(), theta.intercept()),
                };
                let named = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
                let (weights, scaled) = named
                    .map(|(j, &weight)| ((model.recipe.feature_name(j), weight), theta.weights[j]))
                    .unzip();
                classes.push(PathWeights { class: of(class), intercept, weights, scaled });
            }
            path.push(PathPoint { c, classes });
            ControlFlow::Continue(())
        },
    )?;
    Ok((!stopped).then_some(path))
}

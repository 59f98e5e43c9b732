//! Learning an expansion, with the rest of a simpler model where products are to be chosen.

use crate::dataset::Dataset;
use crate::features::expansion::screened_classes;
use crate::features::{Expansion, Features, Residuals, Scaler, Scaling, Schema};
use crate::observe::Observer;
use crate::train::{Learned, Learner, Options, Settings, Status, train};
use crate::{Error, SettingsError};

/// Steps of the simpler model: its residuals need not be exact.
const STEPS: u64 = 30;

/// The most products that may be asked for.
const MAX_PAIRS: usize = 1_000_000;

/// Learns an expansion from training rows that `schema` describes. Where there are more products than `max_pairs`, or than the
/// usual number, a logistic regression on all other features tells which are kept: those that its residuals show most.
/// `settings` say which class is set against the rest, if one is. `None` if the observer stopped it.
pub(crate) fn learn_expansion(
    features: Features,
    max_pairs: Option<usize>,
    schema: &Schema,
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Option<Expansion>, Error> {
    if max_pairs.is_some_and(|most| !(1..=MAX_PAIRS).contains(&most)) {
        let problem = "⟦max_pairs⟧ needs a number of products from 1 to 1000000";
        return Err(SettingsError::new("max_pairs", problem).into());
    }
    let residuals = if Expansion::chooses(features, max_pairs, schema, data) {
        let simpler = if features.splines() { Features::Splines } else { Features::Plain };
        match residuals(simpler, schema, data, settings, observer)? {
            Some(residuals) => Some(residuals),
            None => return Ok(None),
        }
    } else {
        None
    };
    let expansion = Expansion::learn_at_most(features, max_pairs, schema, data, residuals.as_ref())?;
    if observer.will_stop() {
        return Ok(None);
    }
    expansion.check_memory(data)?;
    Ok(Some(expansion))
}

/// The residual of a logistic regression on these features for each row, times the row's weight.
fn residuals(
    features: Features,
    schema: &Schema,
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Option<Residuals>, Error> {
    let expansion = Expansion::learn(features, schema, data, None)?;
    expansion.check_memory(data)?;
    let expanded = expansion.apply_all(data.clone())?;
    if observer.will_stop() {
        return Ok(None);
    }
    let scaler = Scaler::learn_expanded(Scaling::Auto, &expanded, &expansion);
    let rows = scaler.apply_all(expanded)?;
    if observer.will_stop() {
        return Ok(None);
    }
    let learner = Learner::named("logistic")?.with_options(&Options::new().with("gap", 1e-3))?;
    let simple = Settings {
        learner,
        epochs: STEPS,
        positive: settings.positive.clone(),
        class_weight: settings.class_weight.clone(),
        seed: settings.seed,
        max_seconds: settings.max_seconds,
        ..Settings::default()
    };
    let outcome = train(&rows, &simple, observer)?;
    if outcome.status == Status::Interrupted {
        return Ok(None);
    }
    let outcome_of = outcome.classes.outcomes_of(data.classes());
    let chosen = if outcome.learned.is_of_classes() { screened_classes(data) } else { vec![1] };
    let mut values = Vec::with_capacity(data.len() * chosen.len());
    for i in 0..rows.len() {
        let row = rows.row(i);
        let weight = data.weight(i);
        let own = outcome_of[data.labels()[i] as usize];
        let probability = probabilities(&outcome.learned, row);
        values.extend(chosen.iter().map(|&class| {
            let is = f64::from(u8::from(own == Some(class)));
            weight * (is - probability[class])
        }));
    }
    Ok(Residuals::new(chosen.len(), values))
}

/// The probability of each outcome, by the scores.
fn probabilities(learned: &Learned, row: crate::dataset::Row<'_>) -> Vec<f64> {
    // Of two sides, the first has the score 0.
    let first = (!learned.is_of_classes()).then_some(0.0);
    let scores: Vec<f64> =
        first.into_iter().chain(learned.parts().iter().map(|learned| learned.score(row))).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

//! What a model consists of, as one JSON record: classes, settings, evidence, weights by name, effects of columns.

use crate::classes::Classes;
use crate::features::Scaler;
use crate::model::{Calibration, Model};
use serde_json::{Value, json};

/// The record of a model, with so many weights of each class; `docs/json.md` describes every field. The effects of columns are there
/// where they are asked for, and where features were made of those of the columns.
pub fn inspect_record(model: &Model, top: usize, effects: bool) -> Value {
    let with_effects = effects || !model.recipe.expansion.is_none();
    let strongest = strongest_weights(model, top);
    let weights = |of: &StrongestWeights| {
        let entry = |(feature, weight, per_unit): &(String, f64, Option<f64>)| {
            let mut entry = json!({"feature": feature, "weight": weight});
            if let Some(per_unit) = per_unit {
                entry["weight_per_unit"] = json!(per_unit);
            }
            entry
        };
        of.features.iter().map(entry).collect::<Vec<_>>()
    };
    let mut record = json!({
        "classes": model.classes,
        "settings": model.settings,
        "expansion": model.recipe.expansion.summary(),
        "scaling": model.recipe.scaling.scaling(),
        "evidence": model.evidence,
        "boundaries": model.boundaries,
        "fingerprint": model.fingerprint,
        "features": model.learned.columns(),
    });
    let terms = strongest_terms(model, top);
    if !terms.is_empty() {
        let of = |(class, terms): &(String, Vec<(String, f64)>)| {
            let terms = terms.iter().map(|(term, weight)| json!({"term": term, "weight": weight}));
            json!({"class": class, "terms": terms.collect::<Vec<_>>()})
        };
        record["terms"] = terms.iter().map(of).collect();
    }
    if let Some(calibration) = model.calibrated() {
        record["probabilities"] = probabilities(calibration);
    }
    if let Some(threshold) = &model.threshold {
        record["threshold"] = json!(threshold);
    }
    if model.learned.is_of_classes() {
        let classes: Vec<_> = strongest
            .iter()
            .zip(model.learned.parts())
            .enumerate()
            .map(|(outcome, (of, learned))| {
                let intercept = learned.theta().intercept();
                let mut record = json!({"class": of.class, "intercept": intercept, "strongest": weights(of)});
                if let Some(in_units) = of.intercept {
                    record["intercept_in_units"] = json!(in_units);
                }
                if with_effects {
                    add_effects(&mut record, model, outcome);
                }
                record
            })
            .collect();
        record["weights"] = json!(classes);
    } else {
        record["intercept"] = json!(model.learned.theta().intercept());
        record["strongest"] = json!(strongest.first().map(weights));
        if let Some(in_units) = strongest.first().and_then(|of| of.intercept) {
            record["intercept_in_units"] = json!(in_units);
        }
        if with_effects {
            add_effects(&mut record, model, 0);
        }
    }
    let products = products(model);
    if !products.is_empty() {
        record["products"] = json!(products);
    }
    record
}

/// The strongest weights of a boundary or a class.
pub struct StrongestWeights {
    /// The class.
    pub class: String,
    /// Name, weight, and where features are scaled, the weight in the units of the file.
    pub features: Vec<(String, f64, Option<f64>)>,
    /// The intercept in the units of the file, where features are scaled.
    pub intercept: Option<f64>,
}

/// The strongest weights of the boundary, or of each class.
pub fn strongest_weights(model: &Model, top: usize) -> Vec<StrongestWeights> {
    let scaled = model.recipe.scaling != Scaler::None;
    let of = |outcome: usize, class: &str| {
        let (weights, units) = (model.weights_of(outcome), model.in_units_of(outcome).filter(|_| scaled));
        let feature = |j: usize| {
            (model.recipe.feature_name(j), weights[j], units.as_ref().map(|units| units.weights[j]))
        };
        let features = model.strongest_features(outcome).into_iter().take(top).map(feature).collect();
        StrongestWeights {
            class: class.to_string(),
            features,
            intercept: units.as_ref().map(|units| units.intercept),
        }
    };
    match &model.classes {
        Classes::Pair(pair) => vec![of(0, &pair.positive)],
        Classes::Each { names } => {
            names.iter().enumerate().map(|(outcome, name)| of(outcome, name)).collect()
        }
    }
}

/// For each class, the terms of texts that are the strongest evidence for it; none for a model without texts or weights.
pub fn strongest_terms(model: &Model, top: usize) -> Vec<(String, Vec<(String, f64)>)> {
    if model.recipe.columns.texts().next().is_none() {
        return Vec::new();
    }
    let names = model.classes.outcomes();
    let is_term = |j: usize| model.recipe.columns.is_term(j);
    let of = |outcome: usize, sign: f64| {
        let weights = model.weights_of(outcome);
        let strongest = model.strongest_features(outcome);
        let own = strongest.into_iter().filter(|&j| sign * weights[j] > 0.0 && is_term(j)).take(top);
        own.map(|j| (model.recipe.feature_name(j), weights[j].abs())).collect::<Vec<_>>()
    };
    let pairs: Vec<(String, Vec<(String, f64)>)> = match &model.classes {
        Classes::Pair(_) => {
            [(1, 1.0), (0, -1.0)].map(|(name, sign)| (names[name].clone(), of(0, sign))).to_vec()
        }
        Classes::Each { names } => {
            names.iter().enumerate().map(|(outcome, name)| (name.clone(), of(outcome, 1.0))).collect()
        }
    };
    pairs.into_iter().filter(|(_, terms)| !terms.is_empty()).collect()
}

/// The contribution of each column to the score, and the number that it is added to.
fn add_effects(record: &mut Value, model: &Model, outcome: usize) {
    if let (Some(effects), Some(constant)) = (model.effects_of(outcome), model.effects_constant(outcome)) {
        record["effects"] = json!(effects);
        record["effects_constant"] = json!(constant);
        let products = model.product_effects_of(outcome).unwrap_or_default();
        if !products.is_empty() {
            record["product_effects"] = json!(products);
        }
    }
}

/// The products of pairs of columns, each with its factors and what is taken off them first.
fn products(model: &Model) -> Vec<Value> {
    let name = |feature: usize| model.recipe.feature_name(feature);
    let products = model.recipe.expansion.each_product().map(|(feature, factors)| {
        let factors = factors.map(|factor| json!({"feature": name(factor.feature), "minus": factor.centre}));
        json!({"feature": name(feature), "of": factors})
    });
    products.collect()
}

/// How scores become probabilities, as JSON.
fn probabilities(calibration: &Calibration) -> Value {
    let mut record = json!({"kind": calibration.name()});
    match calibration {
        Calibration::Natural => {}
        Calibration::Sigmoid { slope, intercept } => {
            record["slope"] = json!(slope);
            record["intercept"] = json!(intercept);
        }
        Calibration::Isotonic { scores, probabilities } => {
            record["scores"] = json!(scores);
            record["probabilities"] = json!(probabilities);
        }
        Calibration::Temperature { inverse } => record["inverse"] = json!(inverse),
    }
    record
}

//! The contribution of each column to the score: a model of expanded features read as a sum of curves.

use super::Model;
use crate::features::expansion::Splines;
use crate::features::{ColumnKind, Factor, FeatureKind, Scaler, Schema, Text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// The most points of a curve.
const MAX_POINTS: usize = 9;
/// Steps of a curve that is drawn.
const MAX_DRAWN: usize = 96;

/// The most terms of a text: there may be very many.
const MAX_TERMS: usize = 100;

/// The contribution of one column to the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnEffect {
    /// The column, or the feature where there are no columns.
    pub column: String,
    /// How much the score changes over the column: from the least to the greatest effect that is listed; of a line, over four
    /// deviations where those are known.
    pub size: f64,
    /// The effect.
    #[serde(flatten)]
    pub effect: Effect,
}

/// The contribution of a column to the score, independent of the other columns; without products.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Of a number with splines: points of its curve, whose mean over the training rows is 0.
    Curve(Vec<CurvePoint>),
    /// Of a number that does not: what one more unit adds.
    PerUnit(f64),
    /// Of each word.
    Words(Vec<WordEffect>),
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The number in the column.
    pub value: f64,
    /// Its contribution to the score.
    pub effect: f64,
}

/// The effect of a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordEffect {
    /// The word; empty for a missing cell.
    pub word: String,
    /// Its contribution to the score.
    pub effect: f64,
}

/// The contribution of the product of two columns to the score, in addition to those of the columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProductEffect {
    /// The product, such as `age × income`.
    pub product: String,
    /// Its contribution where each number is one deviation above what is subtracted from it, which is its mean, or 0 where it is scaled without
    /// being centred, and each word is there.
    pub effect: f64,
    /// How much the score changes over four deviations of a number, where the other factor is as above.
    pub size: f64,
    /// The names of the factors.
    #[serde(skip)]
    pub names: [String; 2],
    /// The factors.
    #[serde(skip)]
    pub factors: [Factor; 2],
    /// The least and the greatest value of each that the training rows are known to have; otherwise all numbers.
    #[serde(skip)]
    pub ranges: [[f64; 2]; 2],
}

impl ProductEffect {
    /// The numbers among the factors from which 0 is subtracted and not their means, as they are mostly zero: at 0 they add nothing to these
    /// products, and deviations are measured from there.
    pub fn centred_at_zero(products: &[Self]) -> Vec<&str> {
        let factors = products.iter().flat_map(|product| product.names.iter().zip(&product.factors));
        let at_zero = factors.filter(|(_, factor)| factor.centre == 0.0 && !factor.is_word());
        let names: BTreeSet<&str> = at_zero.map(|(name, _)| name.as_str()).collect();
        names.into_iter().collect()
    }
}

impl Model {
    /// The contribution of each product of two columns to the score, the largest first; for many classes, to the score of the class numbered
    /// `outcome`. Products without a weight are left out. `None` as for [`effects_of`](Self::effects_of).
    pub fn product_effects_of(&self, outcome: usize) -> Option<Vec<ProductEffect>> {
        let units = self.in_units_of(outcome)?.weights;
        let range = |factor: &Factor| {
            let splines =
                self.recipe.expansion.splines().iter().find(|splines| splines.feature == factor.feature);
            splines.map_or([f64::NEG_INFINITY, f64::INFINITY], |splines| splines.range)
        };
        let of = |(feature, factors): (usize, [&Factor; 2])| {
            let effect = units[feature] * factors[0].scale * factors[1].scale;
            let spread = if factors.iter().all(|factor| factor.is_word()) { 1.0 } else { 4.0 };
            ProductEffect {
                product: self.recipe.feature_name(feature),
                effect,
                size: spread * effect.abs(),
                names: factors.map(|factor| self.recipe.feature_name(factor.feature)),
                factors: factors.map(|factor| *factor),
                ranges: factors.map(range),
            }
        };
        let mut effects: Vec<ProductEffect> = self.recipe.expansion.each_product().map(of).collect();
        effects.retain(|effect| effect.size > 0.0);
        effects.sort_by(|a, b| b.size.total_cmp(&a.size));
        Some(effects)
    }

    /// The contribution of each column to the score, the largest effect first; for many classes, to the score of the class numbered
    /// `outcome`. `None` where there are no weights for rows as read. Columns without a weight are left out.
    ///
    /// With products in the model, a column also acts through them, and these effects are those where the other factors
    /// are at their means, or at 0 where they are not centred ([`ProductEffect::centred_at_zero`]).
    pub fn effects_of(&self, outcome: usize) -> Option<Vec<ColumnEffect>> {
        self.effects_at(outcome, Splines::few_values)
    }

    /// The same effects with curves of many points, to be drawn.
    pub fn drawn_effects_of(&self, outcome: usize) -> Option<Vec<ColumnEffect>> {
        let values = |splines: &Splines| {
            let [low, high] = splines.range;
            (0..=MAX_DRAWN).map(|k| low + (high - low) * k as f64 / MAX_DRAWN as f64).collect()
        };
        self.effects_at(outcome, values)
    }

    /// The constant term: the score of a row is this number plus the contributions of each column and of its products.
    pub fn effects_constant(&self, outcome: usize) -> Option<f64> {
        let units = self.in_units_of(outcome)?;
        // A curve is measured from the mean of its column.
        let means = self
            .recipe
            .expansion
            .each_spline_range()
            .map(|(splines, _)| units.weights[splines.feature] * splines.mean);
        Some(units.intercept + means.sum::<f64>())
    }

    /// The effects, with the points of curves at these values.
    fn effects_at(&self, outcome: usize, values: impl Fn(&Splines) -> Vec<f64>) -> Option<Vec<ColumnEffect>> {
        let units = self.in_units_of(outcome)?.weights;
        let ranges: Vec<(&Splines, Range<usize>)> = self.recipe.expansion.each_spline_range().collect();
        let number = |column: String, feature: usize| match ranges
            .iter()
            .find(|(splines, _)| splines.feature == feature)
        {
            Some((splines, own)) => {
                curve(column, splines, units[feature], &units[own.clone()], values(splines))
            }
            None => {
                let size = 4.0 * units[feature].abs() * self.deviation_of(feature);
                ColumnEffect { column, size, effect: Effect::PerUnit(units[feature]) }
            }
        };
        let mut effects: Vec<ColumnEffect> = match &self.recipe.columns {
            Schema::Table { columns, .. } => columns
                .iter()
                .flat_map(|column| {
                    let name = column.name.clone();
                    let mut found = Vec::new();
                    match &column.kind {
                        ColumnKind::Number(own) => {
                            found.push(number(name, own.feature));
                            // Missing or not: no line between the two.
                            let missing =
                                |gap| words(self.recipe.feature_name(gap), &[(String::new(), gap)], &units);
                            found.extend(own.gap.map(missing));
                        }
                        ColumnKind::Words(own) => found.push(words(name, &own.words, &units)),
                        ColumnKind::Text(own) => found.push(terms(name, own, &units)),
                        ColumnKind::Label | ColumnKind::Ignored => {}
                    }
                    found
                })
                .collect(),
            schema => (0..schema.features()).map(|j| number(schema.feature_name(j), j)).collect(),
        };
        effects.retain(|effect| effect.size > 0.0);
        effects.sort_by(|a, b| b.size.total_cmp(&a.size));
        Some(effects)
    }

    /// The deviation of a feature that was scaled by it; 1 where it is not known.
    fn deviation_of(&self, feature: usize) -> f64 {
        match &self.recipe.scaling {
            Scaler::Standard(standard) => standard.divisor().get(feature).copied().unwrap_or(1.0),
            _ => 1.0,
        }
    }
}

impl Splines {
    /// The ends of the column, and knots evenly between them.
    fn few_values(&self) -> Vec<f64> {
        let knots: Vec<f64> =
            self.knots().filter(|&knot| knot > self.range[0] && knot < self.range[1]).collect();
        let inner = knots.len().min(MAX_POINTS - 2);
        let chosen = (0..inner).map(|place| knots[(2 * place + 1) * knots.len() / (2 * inner)]);
        [self.range[0]].into_iter().chain(chosen).chain([self.range[1]]).collect()
    }
}

/// The curve of a column: its line through the mean, and its splines.
fn curve(column: String, splines: &Splines, slope: f64, weights: &[f64], values: Vec<f64>) -> ColumnEffect {
    let at = |value: f64| {
        let mut effect = slope * (value - splines.mean);
        let mut place = 0;
        splines.at(value, |spline| {
            effect += weights[place] * spline;
            place += 1;
        });
        CurvePoint { value, effect }
    };
    let points: Vec<CurvePoint> = values.into_iter().map(at).collect();
    let size = spread(points.iter().map(|point| point.effect));
    ColumnEffect { column, size, effect: Effect::Curve(points) }
}

fn words(column: String, words: &[(String, usize)], units: &[f64]) -> ColumnEffect {
    let effects: Vec<WordEffect> = words
        .iter()
        .map(|(word, feature)| WordEffect { word: word.clone(), effect: units[*feature] })
        .collect();
    // A word that the model does not know adds nothing.
    let size = spread(effects.iter().map(|word| word.effect).chain([0.0]));
    ColumnEffect { column, size, effect: Effect::Words(effects) }
}

/// The strongest terms of a text. Values of terms are at most a few; each is shown with what 1 adds.
fn terms(column: String, text: &Text, units: &[f64]) -> ColumnEffect {
    let own = text.features();
    let mut strongest: Vec<(usize, f64)> =
        own.iter().enumerate().map(|(term, &feature)| (term, units[feature])).collect();
    strongest.retain(|&(_, effect)| effect != 0.0);
    strongest.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    strongest.truncate(MAX_TERMS);
    let effects: Vec<WordEffect> = strongest
        .iter()
        .map(|&(term, effect)| WordEffect { word: text.feature_name("", term), effect })
        .collect();
    let size = spread(effects.iter().map(|word| word.effect).chain([0.0]));
    ColumnEffect { column, size, effect: Effect::Words(effects) }
}

/// From the least to the greatest.
fn spread(effects: impl Iterator<Item = f64> + Clone) -> f64 {
    effects.clone().fold(f64::NEG_INFINITY, f64::max) - effects.fold(f64::INFINITY, f64::min)
}

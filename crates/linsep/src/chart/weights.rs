//! The strongest weights of a model.

use super::axes::{Axes, Panel, top_down};
use super::figure::{Anchor, Figure, Key, Pen, Rect, SMALL, Sheet};
use super::ink::{Ink, Shape};
use super::scale::{Scale, range, short};
use super::text::file_name;
use crate::features::Scaler;
use crate::model::Model;
use crate::numbers::grouped;

const WIDTH: f64 = 720.0;
const LINE: f64 = 24.0;

/// The class that positive weights are evidence for: the positive one of two, or that numbered `outcome`.
pub(super) fn shown_class(model: &Model, outcome: usize) -> String {
    match model.classes.pair() {
        Some(pair) => pair.positive.clone(),
        None => model.classes.outcomes().get(outcome).cloned().unwrap_or_default(),
    }
}

/// The strongest weights, at most `top`; for many classes, those of the class numbered `outcome`. `None` for a model without
/// weights.
pub fn weights(name: &str, model: &Model, outcome: usize, top: usize) -> Option<Figure> {
    let name = file_name(name);
    let features = model.strongest_features(outcome);
    if features.is_empty() || model.in_units_of(outcome).is_none() && model.recipe.scaling == Scaler::None {
        return None;
    }
    let all = model.weights_of(outcome);
    let scaled = model.recipe.scaling != Scaler::None;
    let units = model.in_units_of(outcome).filter(|_| scaled);
    let class = shown_class(model, outcome);
    let shown: Vec<usize> = features.iter().copied().take(top.max(1)).collect();
    let strongest = shown.first().map_or(String::new(), |&j| model.recipe.feature_name(j));
    let speaks = if shown.first().is_some_and(|&j| all[j] < 0.0) { "against" } else { "for" };
    let title = format!("{name}: “{strongest}” has the largest weight, {speaks} “{class}”");
    let mut how = format!("Bars to the right are evidence for “{class}”, those to the left against it.");
    how += match (scaled, units.is_some()) {
        (true, true) => {
            " Bars are comparable weights of the scaled features; the numbers are the change of the score \
             per unit of the file."
        }
        (true, false) => " The weights are for the scaled features.",
        _ => " The weights are for the unscaled features, so they depend on the units.",
    };
    let mut sheet = Sheet::new("weights", WIDTH, &title, &how);
    let (low, high) = range(shown.iter().map(|&j| all[j]).chain([0.0]));
    let room = 0.04 * (high - low).max(f64::MIN_POSITIVE);
    let x =
        Scale::linear(if low < 0.0 { low - room } else { 0.0 }, if high > 0.0 { high + room } else { 0.0 });
    let count = shown.len();
    let names = shown.iter().map(|&j| model.recipe.feature_name(j)).collect();
    let outer = sheet.space(LINE * count as f64 + 66.0);
    let x_name = if scaled { "weight of the scaled feature" } else { "weight" };
    let axes = Axes { right: 96.0, ..Axes::list(x, x_name, names) };
    let panel = Panel::draw(&mut sheet, outer, axes);
    for (k, &j) in shown.iter().enumerate() {
        let y = panel.y_at(top_down(k, count));
        let (from, to) = (panel.x_at(0.0), panel.x_at(all[j]));
        let side = usize::from(all[j] > 0.0);
        let bar = Rect { x: from.min(to), y: y - 7.0, width: (to - from).abs().max(1.0), height: 14.0 };
        sheet.rect(bar, Pen::fill(Ink::Series(side)).faint(0.9), None);
        let number = units.as_ref().map_or(all[j], |units| units.weights[j]);
        let sign = if number > 0.0 { "+" } else { "" };
        let text = format!("{sign}{}", short(number, 4));
        sheet.text(panel.area.right() + 92.0, y + 4.0, &text, SMALL, false, Anchor::End, Ink::Text);
    }
    panel.upright(&mut sheet, 0.0, Pen::line(Ink::Text, 1.2));
    sheet.legend(&[
        (Key::Dot(Shape::Square, Ink::Series(1)), format!("for {class}")),
        (Key::Dot(Shape::Square, Ink::Series(0)), format!("against {class}")),
    ]);
    if features.len() > count {
        sheet.note(&format!(
            "{} of {} features with a weight are shown, the strongest first.",
            grouped(count as u64),
            grouped(features.len() as u64)
        ));
    }
    Some(sheet.finish())
}

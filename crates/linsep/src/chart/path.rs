//! Coefficients over the penalty.

use super::axes::{Axes, Panel};
use super::figure::{Anchor, Figure, Key, Pen, SMALL, Sheet};
use super::ink::{Dash, Ink};
use super::scale::Scale;
use super::text::{file_name, shortened, width};
use crate::features::Scaler;
use crate::job::PathPoint;
use crate::model::Model;
use crate::numbers::grouped;
use crate::train::{Learner, LogisticPenalty};
use std::collections::BTreeMap;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
/// Curves with a name and an ink of their own.
const NAMED: usize = 6;

/// The weights of the class numbered `class` of the path to `model`, of the features as it learns from them, as the weight C of the
/// loss grows. `None` for an empty path, and where every weight stays zero.
pub fn path(source: &str, model: &Model, points: &[PathPoint], class: usize) -> Option<Figure> {
    let source = file_name(source);
    let last = points.last()?.classes.get(class)?;
    let curves = curves(points, class)?;
    if curves.is_empty() {
        return None;
    }
    let mut order: Vec<&str> = curves.keys().copied().collect();
    let reach = |name: &str| curves[name].iter().map(|(_, weight)| weight.abs()).fold(0.0, f64::max);
    order.sort_by(|a, b| reach(b).total_cmp(&reach(a)));
    let count = order.len();
    let title = format!(
        "{source}: {} of {} weights for “{}” are not zero at C = {}",
        grouped(last.weights.len() as u64),
        grouped(model.recipe.features() as u64),
        last.class,
        super::scale::short(points.last()?.c, 3)
    );
    let scaled = model.recipe.scaling != Scaler::None;
    let how = format!(
        "Each curve is the weight of a {}feature; the penalty decreases to the right.{}",
        if scaled { "scaled " } else { "" },
        match model.settings.learner {
            Learner::Logistic(options) if options.penalty == LogisticPenalty::L2 => "",
            _ => " Features whose curves leave zero first survive the largest penalty.",
        }
    );
    let mut sheet = Sheet::new("path", WIDTH, &title, &how);
    let x = Scale::log(points.first()?.c, points.last()?.c);
    let y = Scale::around(
        curves.values().flatten().map(|(_, weight)| *weight).chain([0.0]).collect::<Vec<_>>().into_iter(),
        0.05,
    );
    let outer = sheet.space(HEIGHT);
    let named: Vec<&str> = order.iter().copied().take(NAMED).collect();
    let right = named.iter().map(|name| width(name, SMALL, false)).fold(0.0, f64::max).min(150.0) + 16.0;
    let axes = Axes {
        right,
        ..Axes::new(
            x,
            "C, the weight of the loss against the penalty; logarithmic",
            y,
            if scaled { "weight of the scaled feature" } else { "weight" },
        )
    };
    let panel = Panel::draw(&mut sheet, outer, axes);
    panel.level(&mut sheet, 0.0, Pen::line(Ink::Text, 1.0).dashed(Dash::Dotted));
    for (k, name) in order.iter().enumerate().rev() {
        let pen = match k < NAMED {
            true => Pen::line(Ink::Series(k), 2.0).dashed(Dash::of(k)),
            false => Pen::line(Ink::Muted, 1.0).faint(0.6),
        };
        panel.curve(&mut sheet, curves[name].iter().copied(), pen);
    }
    // Names at the ends of the curves, moved apart.
    let mut ends: Vec<(f64, usize)> = named
        .iter()
        .enumerate()
        .filter_map(|(k, name)| Some((panel.y_at(curves[name].last()?.1), k)))
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut above = panel.area.y;
    for (y, k) in ends {
        let y = (y + 4.0).max(above);
        above = y + 15.0;
        let text = shortened(&super::text::harmless(named[k]), right - 12.0, SMALL, false);
        sheet.text(panel.area.right() + 8.0, y, &text, SMALL, false, Anchor::Start, Ink::Series(k));
    }
    let mut keys: Vec<(Key, String)> = named
        .iter()
        .enumerate()
        .map(|(k, name)| (Key::Line(Ink::Series(k), Dash::of(k), 2.0), name.to_string()))
        .collect();
    if count > NAMED {
        keys.push((
            Key::Line(Ink::Muted, Dash::Solid, 1.0),
            format!("{} other features", grouped((count - NAMED) as u64)),
        ));
    }
    sheet.legend(&keys);
    Some(sheet.finish())
}

/// The weight of each feature over C, from the last point before it leaves zero to the end of the path. A point names only the features
/// that have a weight there: the weights of the others are zero.
fn curves(points: &[PathPoint], class: usize) -> Option<BTreeMap<&str, Vec<(f64, f64)>>> {
    let mut curves: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (k, point) in points.iter().enumerate() {
        let own = point.classes.get(class)?;
        let names = own.weights.iter().map(|(feature, _)| feature.as_str());
        let weights: BTreeMap<&str, f64> = names.zip(own.scaled.iter().copied()).collect();
        for &name in weights.keys() {
            let before = points[..k].last().map(|before| (before.c, 0.0));
            curves.entry(name).or_insert_with(|| before.into_iter().collect());
        }
        for (name, curve) in &mut curves {
            curve.push((point.c, weights.get(name).copied().unwrap_or(0.0)));
        }
    }
    Some(curves)
}

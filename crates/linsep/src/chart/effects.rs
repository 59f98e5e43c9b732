//! What each column adds to the score: a model read as a sum of curves.

use super::axes::{Axes, Panel, top_down};
use super::figure::{Figure, Pen, Rect, Sheet};
use super::ink::{Dash, Ink};
use super::scale::{Scale, range};
use super::text::file_name;
use super::trace::panel_head;
use super::weights::shown_class;
use crate::model::{ColumnEffect, Effect, Model};
use crate::numbers::{counted, grouped};

const WIDTH: f64 = 860.0;
const COLUMNS: usize = 3;
const HEIGHT: f64 = 220.0;
/// Words of a column that are shown.
const MOST_WORDS: usize = 8;

/// The largest effects of columns, at most `top`; for many classes, on the score of the class numbered `outcome`. `None` for a
/// model without weights for the columns as they are.
pub fn effects(name: &str, model: &Model, outcome: usize, top: usize) -> Option<Figure> {
    let name = file_name(name);
    let all = model.drawn_effects_of(outcome)?;
    let shown = &all[..all.len().min(top.max(1))];
    let first = shown.first()?;
    let class = shown_class(model, outcome);
    let title = format!("{name}: “{}” moves the score of “{class}” most", first.column);
    let how = format!(
        "Each panel is a column: what its value adds to the score, where above 0 speaks for “{class}”. All panels have the same \
         heights. Curves are 0 on average over the training rows; words are beside a word that the model does not know."
    );
    let mut sheet = Sheet::new("effects", WIDTH, &title, &how);
    let values = shown.iter().flat_map(|effect| match &effect.effect {
        Effect::Curve(points) => points.iter().map(|point| point.effect).collect::<Vec<_>>(),
        Effect::PerUnit(_) => vec![-effect.size / 2.0, effect.size / 2.0],
        Effect::Words(words) => words.iter().map(|word| word.effect).collect(),
    });
    let (low, high) = range(values.chain([0.0]).collect::<Vec<_>>().into_iter());
    let room = 0.06 * (high - low);
    let height = Scale::linear(low - room, high + room);
    for row in shown.chunks(COLUMNS) {
        let space = sheet.space(HEIGHT);
        let wide = (space.width - 26.0 * (COLUMNS - 1) as f64) / COLUMNS as f64;
        for (k, effect) in row.iter().enumerate() {
            let cell = Rect { x: space.x + k as f64 * (wide + 26.0), width: wide, ..space };
            draw(&mut sheet, cell, effect, height);
        }
    }
    if all.len() > shown.len() {
        sheet.note(&format!(
            "{} of {} with an effect are shown, the largest first.",
            grouped(shown.len() as u64),
            counted(all.len() as u64, "column", "columns")
        ));
    }
    if model.recipe.expansion.summary().is_some_and(|made| made.products > 0) {
        sheet.note("The model also has products of columns; these curves are those where the other factors are at their means.");
    }
    Some(sheet.finish())
}

fn draw(sheet: &mut Sheet, cell: Rect, effect: &ColumnEffect, height: Scale) {
    let name = super::text::shortened(&super::text::harmless(&effect.column), cell.width, 13.0, true);
    let area = panel_head(sheet, cell, &name, "");
    let zero = Pen::line(Ink::Text, 1.0).dashed(Dash::Dotted);
    match &effect.effect {
        Effect::Curve(points) => {
            let x = Scale::around(points.iter().map(|point| point.value), 0.0);
            let panel = Panel::draw(sheet, area, Axes::new(x, "", height, ""));
            panel.level(sheet, 0.0, zero);
            panel.curve(
                sheet,
                points.iter().map(|point| (point.value, point.effect)),
                Pen::line(Ink::Series(0), 2.2),
            );
        }
        Effect::PerUnit(slope) => {
            // Over four deviations, as the size of a line is measured; units from its middle.
            let half = if *slope == 0.0 { 1.0 } else { effect.size / (2.0 * slope.abs()) };
            let panel = Panel::draw(sheet, area, Axes::new(Scale::linear(-half, half), "", height, ""));
            panel.level(sheet, 0.0, zero);
            panel.curve(
                sheet,
                [(-half, -half * slope), (half, half * slope)],
                Pen::line(Ink::Series(0), 2.2),
            );
        }
        Effect::Words(words) => {
            let mut words: Vec<_> = words.iter().collect();
            words.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
            words.truncate(MOST_WORDS);
            let count = words.len();
            let word = |text: &str| if text.is_empty() { "missing".to_string() } else { text.to_string() };
            let names = words.iter().map(|own| word(&own.word)).collect();
            let x = Scale::linear(height.low(), height.high());
            let panel = Panel::draw(sheet, area, Axes::list(x, "", names));
            for (k, own) in words.iter().enumerate() {
                let y = panel.y_at(top_down(k, count));
                let (from, to) = (panel.x_at(0.0), panel.x_at(own.effect));
                let thick = (0.6 * panel.area.height / count as f64).clamp(2.0, 12.0);
                let bar = Rect {
                    x: from.min(to),
                    y: y - thick / 2.0,
                    width: (to - from).abs().max(1.0),
                    height: thick,
                };
                sheet.rect(bar, Pen::fill(Ink::Series(usize::from(own.effect > 0.0))).faint(0.9), None);
            }
            panel.upright(sheet, 0.0, Pen::line(Ink::Text, 1.0));
        }
    }
}

//! The contribution of each column to the score: a model shown as a sum of curves.

use super::axes::{Axes, Panel, top_down};
use super::figure::{Figure, Pen, Rect, Sheet};
use super::ink::{Dash, Ink};
use super::scale::{Scale, range, short};
use super::text::{file_name, harmless, shortened};
use super::trace::panel_head;
use super::weights::shown_class;
use crate::classes::shortened as listed;
use crate::model::{ColumnEffect, Effect, Model, ProductEffect};
use crate::numbers::{Rounding, counted, grouped, rounded};

const WIDTH: f64 = 860.0;
const COLUMNS: usize = 3;
const HEIGHT: f64 = 220.0;
/// Words of a column that are shown.
const MAX_WORDS: usize = 8;
/// Products that are drawn.
const MAX_PRODUCTS: usize = 6;

/// The largest effects of columns, at most `top`; for many classes, on the score of the class numbered `outcome`. `None` for a
/// model without weights for the columns as they are.
pub fn effects(name: &str, model: &Model, outcome: usize, top: usize) -> Option<Figure> {
    let name = file_name(name);
    let all = model.drawn_effects_of(outcome)?;
    let shown = &all[..all.len().min(top.max(1))];
    let first = shown.first()?;
    let class = shown_class(model, outcome);
    let title = format!("{name}: “{}” has the largest effect on the score of “{class}”", first.column);
    let products = model.product_effects_of(outcome).unwrap_or_default();
    let drawn = &products[..products.len().min(MAX_PRODUCTS)];
    let mut how = format!(
        "Each panel shows what a column adds to the score; above 0 is evidence for “{class}”. All panels \
         have the same vertical scale. Curves average 0 over the training rows; words are relative to an \
         unknown word."
    );
    if !drawn.is_empty() {
        how += " Panels with × are products of two columns: their additional joint effect.";
    }
    let mut sheet = Sheet::new("effects", WIDTH, &title, &how);
    let values = shown.iter().flat_map(|effect| match &effect.effect {
        Effect::Curve(points) => points.iter().map(|point| point.effect).collect::<Vec<_>>(),
        Effect::PerUnit(_) => vec![-effect.size / 2.0, effect.size / 2.0],
        Effect::Words(words) => words.iter().map(|word| word.effect).collect(),
    });
    let values = values.chain(drawn.iter().flat_map(|product| {
        let ends = if is_of_words(product) { [0.0, 1.0] } else { [-2.0, 2.0] };
        ends.map(|end| end * product.effect)
    }));
    let (low, high) = range(values.chain([0.0]).collect::<Vec<_>>().into_iter());
    let room = 0.06 * (high - low);
    let height = Scale::linear(low - room, high + room);
    for row in shown.chunks(COLUMNS) {
        let space = sheet.space(HEIGHT);
        row.iter().zip(cells(space)).for_each(|(effect, cell)| draw(&mut sheet, cell, effect, height));
    }
    for row in drawn.chunks(COLUMNS) {
        let space = sheet.space(HEIGHT + 34.0);
        row.iter()
            .zip(cells(space))
            .for_each(|(effect, cell)| draw_product(&mut sheet, cell, effect, height));
    }
    if all.len() > shown.len() {
        sheet.note(&format!(
            "{} of {} with an effect are shown, the largest first.",
            grouped(shown.len() as u64),
            counted(all.len() as u64, "column", "columns")
        ));
    }
    if let Some(largest) = products.get(drawn.len()) {
        sheet.note(&format!(
            "{} of {} are drawn, the largest first. Over four deviations of a number, each of the others changes the score by \
             at most {}.",
            grouped(drawn.len() as u64),
            counted(products.len() as u64, "product", "products"),
            rounded(largest.size, Rounding::Up)
        ));
    }
    if !drawn.is_empty() {
        let except = match ProductEffect::centred_at_zero(&products).as_slice() {
            [] => String::new(),
            names => format!(" (at 0: {})", listed(names, names.len(), ", ")),
        };
        sheet.note(&format!(
            "The panel of a column is for rows in which the numbers it is multiplied with are at their \
             means{except}, and the words absent."
        ));
    }
    Some(sheet.finish())
}

/// The cells of a row of panels.
fn cells(space: Rect) -> impl Iterator<Item = Rect> {
    let wide = (space.width - 26.0 * (COLUMNS - 1) as f64) / COLUMNS as f64;
    (0..COLUMNS).map(move |k| Rect { x: space.x + k as f64 * (wide + 26.0), width: wide, ..space })
}

/// Whether a product is there or not, as both of its words are.
fn is_of_words(effect: &ProductEffect) -> bool {
    effect.factors.iter().all(|factor| factor.is_word())
}

/// Over a number: a line for the other factor one deviation above its centre, and a dashed one for one below; of a word, where it is there.
fn draw_product(sheet: &mut Sheet, cell: Rect, effect: &ProductEffect, height: Scale) {
    let title = shortened(&harmless(&effect.product), cell.width, 13.0, true);
    // Along a number, if there is one.
    let (along, other) = if effect.factors[0].is_word() { (1, 0) } else { (0, 1) };
    let (number, slice) = (&effect.factors[along], &effect.factors[other]);
    let name = harmless(&effect.names[other]);
    // So many deviations from the mean, or from 0 where that is not subtracted, but not beyond the rows.
    let at = |which: usize, deviations: f64| {
        let (factor, [low, high]) = (&effect.factors[which], effect.ranges[which]);
        (factor.centre + deviations * factor.scale).clamp(low, high)
    };
    let how = match (number.is_word(), slice.is_word()) {
        (true, _) => "where both words are there".to_string(),
        (false, true) => format!("where there is {name}"),
        (false, false) => {
            format!("solid: {name} = {}; dashed: {}", short(at(other, 1.0), 3), short(at(other, -1.0), 3))
        }
    };
    if number.is_word() {
        let area = panel_head(sheet, cell, &title, &how);
        let x = Scale::linear(height.low(), height.high());
        bars(sheet, area, x, &[("both", effect.effect)]);
        return;
    }
    let how = format!("along {}; {how}", harmless(&effect.names[along]));
    let area = panel_head(sheet, cell, &title, &how);
    let ends = [at(along, -2.0), at(along, 2.0)];
    let panel = Panel::draw(sheet, area, Axes::new(Scale::linear(ends[0], ends[1]), "", height, ""));
    panel.level(sheet, 0.0, Pen::line(Ink::Text, 1.0).dashed(Dash::Dotted));
    let slices = [(1.0, Dash::Solid), (-1.0, Dash::Dashed)];
    for (sign, dash) in slices.into_iter().take(if slice.is_word() { 1 } else { 2 }) {
        let held = (at(other, sign) - slice.centre) / slice.scale;
        let line = ends.map(|x| (x, effect.effect * held * (x - number.centre) / number.scale));
        panel.curve(sheet, line, Pen::line(Ink::Series(usize::from(sign < 0.0)), 2.2).dashed(dash));
    }
}

/// A bar for each name.
fn bars(sheet: &mut Sheet, area: Rect, x: Scale, named: &[(&str, f64)]) {
    let count = named.len();
    let names = named.iter().map(|(name, _)| name.to_string()).collect();
    let panel = Panel::draw(sheet, area, Axes::list(x, "", names));
    for (k, (_, effect)) in named.iter().enumerate() {
        let y = panel.y_at(top_down(k, count));
        let (from, to) = (panel.x_at(0.0), panel.x_at(*effect));
        let thick = (0.6 * panel.area.height / count as f64).clamp(2.0, 12.0);
        let bar =
            Rect { x: from.min(to), y: y - thick / 2.0, width: (to - from).abs().max(1.0), height: thick };
        sheet.rect(bar, Pen::fill(Ink::Series(usize::from(*effect > 0.0))).faint(0.9), None);
    }
    panel.upright(sheet, 0.0, Pen::line(Ink::Text, 1.0));
}

fn draw(sheet: &mut Sheet, cell: Rect, effect: &ColumnEffect, height: Scale) {
    let name = shortened(&harmless(&effect.column), cell.width, 13.0, true);
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
            words.truncate(MAX_WORDS);
            let named: Vec<(&str, f64)> = words
                .iter()
                .map(|own| (if own.word.is_empty() { "missing" } else { own.word.as_str() }, own.effect))
                .collect();
            bars(sheet, area, Scale::linear(height.low(), height.high()), &named);
        }
    }
}

//! Rows and the boundary between their classes.

use super::axes::{Axes, Panel, band_pen, boundary_pen, edge_pen};
use super::contour::contours;
use super::figure::{Dot, Figure, Key, Sheet, What, dot_pen};
use super::ink::{Dash, Ink, Shape};
use super::scale::Scale;
use super::text::file_name;
use crate::job::{Border, PlaneAxes, Scene, SeenRow, View};
use crate::numbers::{counted, grouped, percent};

/// The most rows that are drawn, beside those that are marked.
const MAX_DRAWN: usize = 4000;
/// The most rows of each kind that are marked.
const MAX_MARKED: usize = 1000;
/// The width of the figure, and the height of its panel.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 470.0;

/// Rows, the boundary, the margin with the rows that it rests on, and the mistakes.
pub fn boundary(view: &View) -> Figure {
    let scene = &view.scene;
    let all = scene.count(|_| true);
    let rows = counted(all, "row", "rows");
    let title = format!(
        "{}, {}: {} on {rows}",
        file_name(&scene.source),
        view.learner,
        match view.errors {
            0 => "no mistake".to_string(),
            errors => counted(errors, "mistake", "mistakes"),
        }
    );
    let is_drawn = !view.is_by_heart() && border_is_drawn(view);
    let mut how = match (&view.border, scene.classes.len()) {
        _ if view.weighs_nothing() => {
            "There is no boundary: all weights are zero, and every row gets the same class.".to_string()
        }
        _ if view.is_by_heart() => {
            "There is no boundary: a memoriser stores the training rows, and predicts the same class for \
             all others."
                .to_string()
        }
        _ if !is_drawn => "The boundary is outside the picture: all of it is on one side.".to_string(),
        (Border::Curves(_), 3..) => "Lines are where the predicted class changes.".to_string(),
        _ => "The solid line is the boundary.".to_string(),
    };
    how += match view.margin.filter(|_| is_drawn) {
        Some(margin) if margin.soft => {
            " Dashed lines are the margin; the ringed rows, on it or within, are support vectors."
        }
        Some(_) => " The shaded margin reaches to the nearest rows, which are ringed.",
        None => "",
    };
    if matches!(scene.axes, PlaneAxes::Boundary { .. }) {
        how += " It is seen along itself: to the right of it, the predicted class is “";
        how += scene.classes.last().map_or("", String::as_str);
        how += "”.";
    }
    how += " Each class has its shape";
    how += if view.errors > 0 { "; crosses are rows on the wrong side." } else { "." };
    let mut sheet = Sheet::new("boundary", WIDTH, &title, &how);
    let panel = draw_plane(&mut sheet, scene, "distance to the boundary", HEIGHT);
    draw_border(&mut sheet, &panel, view);
    let mut keys = draw_rows(&mut sheet, &panel, scene);
    keys.extend(mark_rows(&mut sheet, &panel, view));
    if is_drawn {
        keys.extend(border_keys(view));
    }
    sheet.legend(&keys);
    note_thinning(&mut sheet, scene);
    if all > scene.rows.len() as u64 {
        sheet.note(&format!(
            "{} of the file {} for the {rows}: numbers count each as often as its weight says.",
            counted(scene.rows.len() as u64, "row", "rows"),
            if scene.rows.len() == 1 { "stands" } else { "stand" }
        ));
    }
    if !view.model().recipe.expansion.is_none() && matches!(scene.axes, PlaneAxes::Boundary { .. }) {
        sheet.note("Distances are in the space of the expanded features.");
    }
    sheet.finish()
}

/// Whether some of the boundary is within the limits of the picture.
fn border_is_drawn(view: &View) -> bool {
    let changes = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        low < 0.0 && high >= 0.0
    };
    match &view.border {
        Border::Line([a, b, c]) => {
            let [across, up] = view.scene.limits;
            changes(&mut across.iter().flat_map(|x| up.iter().map(move |y| a * x + b * y + c)))
        }
        Border::Curves(all) => all.iter().any(|values| changes(&mut values.iter().copied())),
    }
}

/// A note where not all rows are drawn.
pub(super) fn note_thinning(sheet: &mut Sheet, scene: &Scene) {
    let shown = drawn(&scene.rows).len();
    if shown < scene.rows.len() {
        sheet.note(&format!(
            "{} of the {} are drawn, and at most {} of the marked ones; all numbers are for all rows.",
            grouped(shown as u64),
            counted(scene.rows.len() as u64, "row", "rows"),
            grouped(MAX_MARKED as u64)
        ));
    }
}

/// The axes of a plane; `along` is what the first one is, where that is no feature.
pub(super) fn draw_plane(sheet: &mut Sheet, scene: &Scene, along: &str, height: f64) -> Panel {
    let [[left, right], [low, high]] = scene.limits;
    let (x, y) = (Scale::linear(left, right), Scale::linear(low, high));
    let outer = sheet.space(height);
    let along =
        if scene.scaled { format!("{along}, in units of the scaled features") } else { along.to_string() };
    let across;
    let axes = match &scene.axes {
        PlaneAxes::Features([first, second]) => Axes::new(x, first, y, second),
        PlaneAxes::Boundary { shown } => {
            across = format!("main direction across ({} of the variance there)", percent(*shown));
            Axes::new(x, &along, y, &across)
        }
        PlaneAxes::OneFeature => {
            let classes = scene.classes.iter().enumerate().map(|(class, name)| (class as f64, name.clone()));
            Axes { y_ticks: Some(classes.collect()), list: true, ..Axes::new(x, &along, y, "") }
        }
    };
    Panel::draw(sheet, outer, axes)
}

/// The boundary and its margin.
pub(super) fn draw_border(sheet: &mut Sheet, panel: &Panel, view: &View) {
    match &view.border {
        Border::Line(line) => {
            if let Some(margin) = view.margin {
                panel.band(sheet, *line, margin.half, band_pen());
                for level in [-margin.half, margin.half] {
                    panel.straight(sheet, *line, level, edge_pen());
                }
            }
            panel.straight(sheet, *line, 0.0, boundary_pen());
        }
        Border::Curves(all) => {
            let [[left, right], [low, high]] = view.scene.limits;
            let unit = (view.grid - 1) as f64;
            let place =
                |(x, y): (f64, f64)| (left + (right - left) * x / unit, low + (high - low) * y / unit);
            for values in all {
                let half = view.margin.map_or(0.0, |margin| margin.half);
                let levels = [(0.0, boundary_pen()), (-half, edge_pen()), (half, edge_pen())];
                for (level, pen) in levels.into_iter().take(if half > 0.0 { 3 } else { 1 }) {
                    for curve in contours(values, view.grid, level) {
                        panel.curve(sheet, curve.into_iter().map(place), pen);
                    }
                }
            }
        }
    }
}

/// Which rows are drawn: all, or evenly so many.
fn drawn(rows: &[SeenRow]) -> Vec<&SeenRow> {
    thinned(rows.iter().collect(), MAX_DRAWN)
}

/// At most so many of these, evenly.
pub(super) fn thinned<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let count = all.len();
    if count <= most {
        return all;
    }
    // Row i is kept where the count of kept rows grows.
    let kept = |i: usize| (i + 1) * most / count > i * most / count;
    all.into_iter().enumerate().filter(|(i, _)| kept(*i)).map(|(_, each)| each).collect()
}

/// How large points are drawn.
pub(super) fn radius(scene: &Scene) -> f64 {
    (130.0 / (scene.rows.len().clamp(1, MAX_DRAWN) as f64).sqrt()).clamp(2.2, 4.8)
}

/// Draws the rows, and gives what a legend says of them.
pub(super) fn draw_rows(sheet: &mut Sheet, panel: &Panel, scene: &Scene) -> Vec<(Key, String)> {
    let mut keys = Vec::new();
    let shown = drawn(&scene.rows);
    let opacity = if shown.len() > 1000 { 0.7 } else { 0.9 };
    for (class, name) in scene.classes.iter().enumerate() {
        let (shape, ink) = (Shape::of(class), Ink::Series(class));
        let own = shown.iter().filter(|row| row.class == class);
        let dots: Vec<Dot> = own.map(|row| place(panel, row, scene)).collect();
        let pen = dot_pen(shape, ink).faint(opacity);
        sheet.mark(What::Dots { shape, radius: radius(scene), dots }, pen, Some(panel.grown(6.0)));
        let count = scene.count(|row| row.class == class);
        keys.push((Key::Dot(shape, ink), format!("{name} ({})", counted(count, "row", "rows"))));
    }
    keys
}

/// Marks rows with a shape around them or over them.
pub(super) fn mark_with(
    sheet: &mut Sheet,
    panel: &Panel,
    scene: &Scene,
    shape: Shape,
    which: impl Fn(&SeenRow) -> bool,
) -> u64 {
    let all: Vec<&SeenRow> = scene.rows.iter().filter(|row| which(row)).collect();
    let count = all.len() as u64;
    let dots = thinned(all, MAX_MARKED).into_iter().map(|row| place(panel, row, scene)).collect();
    let radius = radius(scene) + if shape == Shape::Ring { 3.6 } else { 1.0 };
    sheet.mark(What::Dots { shape, radius, dots }, dot_pen(shape, Ink::Text), None);
    count
}

/// Rings the rows that the margin rests on, and crosses mistakes.
fn mark_rows(sheet: &mut Sheet, panel: &Panel, view: &View) -> Vec<(Key, String)> {
    let mut keys = Vec::new();
    mark_with(sheet, panel, &view.scene, Shape::Ring, |row| row.rests);
    let count = view.scene.count(|row| row.rests);
    if count > 0 {
        let soft = view.margin.is_some_and(|margin| margin.soft);
        let text = match soft {
            true => counted(count, "row on the margin or within", "rows on the margin or within"),
            false => counted(count, "row nearest the boundary", "rows nearest the boundary"),
        };
        keys.push((Key::Dot(Shape::Ring, Ink::Text), text));
    }
    mark_with(sheet, panel, &view.scene, Shape::Cross, |row| row.wrong);
    if view.errors > 0 {
        keys.push((Key::Dot(Shape::Cross, Ink::Text), counted(view.errors, "mistake", "mistakes")));
    }
    keys
}

/// A row as a point that says which row it is.
fn place(panel: &Panel, row: &SeenRow, scene: &Scene) -> Dot {
    let wrong = if row.wrong { ", on the wrong side" } else { "" };
    panel.dot(row.at[0], row.at[1], Some(format!("line {}: {}{wrong}", row.line, scene.classes[row.class])))
}

/// The legend entry of the boundary.
fn border_keys(view: &View) -> Vec<(Key, String)> {
    let mut keys = vec![(Key::Line(Ink::Text, Dash::Solid, 2.0), "boundary".to_string())];
    if view.margin.is_some() {
        keys.push((Key::Line(Ink::Text, Dash::Dashed, 1.1), "margin".to_string()));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_so_many_in_order() {
        for (count, most) in [(10, 4), (4001, 4000), (100_000, 4000), (3, 4000)] {
            let kept = thinned((0..count).collect(), most);
            assert_eq!(kept.len(), count.min(most));
            assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}

//! A perceptron while it learns: the boundary turns at each mistake, and the curves of the proof rise below it.

use super::axes::{Axes, Panel, boundary_pen};
use super::boundary::{draw_plane, draw_rows, note_thinning, radius, thinned};
use super::figure::{Anchor, Dot, Figure, Key, Layer, MARGIN, Motion, Pen, Rect, Sheet, Step, What, dot_pen};
use super::ink::{Dash, Ink, Shape};
use super::scale::{Scale, range};
use super::text::file_name;
use super::trace::{bound_pen, panel_head, run_pen};
use crate::job::{SeenRow, View};
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::theory::trace::TracePoint;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
/// The most moments that are shown.
const MAX_FRAMES: usize = 90;
/// Seconds that the end is shown before it begins again.
const REST: f64 = 3.0;
/// Earlier boundaries that are drawn where nothing moves.
const PAST: usize = 8;

/// The run of `points` on the rows of `view`, as a moving picture; where nothing moves, it shows the end.
pub fn learning(view: &View, points: &[TracePoint]) -> Figure {
    let scene = &view.scene;
    let (evidence, source) = (&view.model().evidence, file_name(&scene.source));
    let mistakes = match evidence.updates {
        1 => "its only mistake".to_string(),
        updates => format!("each of {}", counted(updates, "mistake", "mistakes")),
    };
    let title = match evidence.mistake_bound.upper {
        Some(most) => {
            format!(
                "{source}: the boundary after {mistakes}, at most {} in any order",
                rounded(most, Rounding::Up)
            )
        }
        None => format!("{source}: the boundary after {mistakes}"),
    };
    let frames: Vec<&TracePoint> = thinned(points.iter().collect(), MAX_FRAMES);
    let line = |point: &&TracePoint| view.line_at(point).is_some_and(|[a, b, _]| a != 0.0 || b != 0.0);
    let has_line = frames.iter().any(line);
    let how = format!(
        "{} Below, the proof: {}",
        match has_line {
            true => "At each mistake the boundary turns towards the ringed row, which was on its wrong side.",
            false => "The ringed row was a mistake. All weights stay zero, so there is no boundary to draw.",
        },
        match separator_is_known(&frames) {
            true => "⟨θ_k, θ*⟩ grows at least as kγ, and ‖θ_k‖² at most as kR².",
            false =>
                "‖θ_k‖² grows at most as kR². The curve that needs a separator θ* is left out: none \
                      was found.",
        }
    );
    let mut sheet = Sheet::new("learning", WIDTH, &title, &how);
    sheet.y += 18.0;
    let status = sheet.y - 6.0;
    let panel = draw_plane(&mut sheet, scene, "distance to the last boundary", HEIGHT);
    let mut keys = draw_rows(&mut sheet, &panel, scene);
    if frames.is_empty() {
        sheet.legend(&keys);
        sheet.note("No mistake was made, so there is nothing to plot.");
        return sheet.finish();
    }
    draw_boundaries(&mut sheet, &panel, view, &frames, status);
    if has_line {
        keys.push((Key::Line(Ink::Text, Dash::Solid, 2.0), "boundary".to_string()));
    }
    keys.push((Key::Dot(Shape::Ring, Ink::Text), "the row that was mistaken".to_string()));
    sheet.y += 12.0;
    let curves = sheet.space(240.0);
    draw_curves(&mut sheet, curves, &frames);
    keys.push((Key::Line(Ink::Series(0), Dash::Solid, 2.0), "the run".to_string()));
    keys.push((Key::Line(Ink::Series(1), Dash::Dashed, 2.0), "bound of the theorem".to_string()));
    sheet.legend(&keys);
    if (frames.len() as u64) < evidence.updates {
        sheet.note(&format!(
            "{} of the {} are shown, evenly spaced and including the last.",
            grouped(frames.len() as u64),
            counted(evidence.updates, "update", "updates")
        ));
    }
    note_thinning(&mut sheet, scene);
    // The last frame stays for a while, and is there twice: when it comes and when the picture begins again.
    let moving = (0.4 * frames.len() as f64).clamp(2.0, 22.0);
    let seconds = moving + REST;
    let times = (0..frames.len()).map(|k| k as f64 * moving / (frames.len() as f64 * seconds)).chain([1.0]);
    sheet.move_by(Motion { seconds, times: times.collect() });
    sheet.finish()
}

/// The frames with the last once more.
fn with_rest<T: Clone>(frames: Vec<T>) -> Vec<T> {
    let last = frames.last().cloned();
    frames.into_iter().chain(last).collect()
}

/// The boundaries, the mistaken rows, and what is said of each moment.
fn draw_boundaries(sheet: &mut Sheet, panel: &Panel, view: &View, frames: &[&TracePoint], status: f64) {
    let mut lines: Vec<[f64; 4]> = Vec::new();
    for point in frames {
        let line = view.line_at(point).and_then(|line| long_line(panel, line));
        // Where there is no boundary, as at weights of zero, the last one stays.
        lines.push(line.or(lines.last().copied()).unwrap_or([-10.0; 4]));
    }
    let clip = Some(panel.area);
    let past = thinned(lines.iter().collect::<Vec<_>>(), PAST);
    for (k, line) in past.iter().enumerate().take(past.len().saturating_sub(1)) {
        let faint = 0.1 + 0.25 * (k + 1) as f64 / PAST as f64;
        let steps = What::Path(vec![Step::Move(line[0], line[1]), Step::Line(line[2], line[3])]);
        sheet.mark_in(Layer::Still, steps, Pen::line(Ink::Text, 1.4).faint(faint), clip);
    }
    if let Some(last) = lines.last() {
        let steps = vec![Step::Move(last[0], last[1]), Step::Line(last[2], last[3])];
        sheet.mark_in(Layer::Still, What::Path(steps), boundary_pen(), clip);
    }
    sheet.mark_in(Layer::Moving, What::MovingLine(with_rest(lines)), boundary_pen(), clip);
    let at_line =
        |line: Option<u64>| -> Option<&SeenRow> { view.scene.rows.iter().find(|row| Some(row.line) == line) };
    let places: Vec<[f64; 2]> = frames
        .iter()
        .map(|point| match at_line(point.line) {
            Some(row) => {
                let (x, y) = panel.at(row.at[0], row.at[1]);
                [x, y]
            }
            None => [-100.0, -100.0],
        })
        .collect();
    let (shape, radius) = (Shape::Ring, radius(&view.scene) + 4.2);
    let pen = Pen { width: 2.0, ..dot_pen(shape, Ink::Text) };
    if let Some(&[x, y]) = places.last() {
        let dots = vec![Dot { x, y, says: None }];
        sheet.mark_in(Layer::Still, What::Dots { shape, radius, dots }, pen, None);
    }
    let ring = What::MovingDot { shape, radius, places: with_rest(places) };
    sheet.mark_in(Layer::Moving, ring, pen, None);
    let text = |point: &&TracePoint| {
        let line = point.line.map_or(String::new(), |line| format!(", line {line}"));
        format!("mistake {} in pass {}{line}", grouped(point.update), grouped(point.epoch))
    };
    let texts: Vec<String> = frames.iter().map(text).collect();
    let (x, y, size, bold, anchor) = (MARGIN, status, 13.0, true, Anchor::Start);
    if let Some(last) = texts.last() {
        let what = What::Text { x, y, text: format!("after {last}"), size, bold, anchor };
        sheet.mark_in(Layer::Still, what, Pen::fill(Ink::Text), None);
    }
    let what = What::MovingText { x, y, texts: with_rest(texts), size, bold, anchor };
    sheet.mark_in(Layer::Moving, what, Pen::fill(Ink::Text), None);
}

/// A line as two far points on both sides of the middle of the panel, so that it turns evenly.
fn long_line(panel: &Panel, [a, b, c]: [f64; 3]) -> Option<[f64; 4]> {
    let (wide, high) = (panel.x.high() - panel.x.low(), panel.y.high() - panel.y.low());
    // In places on the sheet: α·x + β·y + δ.
    let (alpha, beta) = (a * wide / panel.area.width, -b * high / panel.area.height);
    let norm = (alpha * alpha + beta * beta).sqrt();
    if !(norm > 0.0 && norm.is_finite()) {
        return None;
    }
    let (x, y) = (panel.area.x + panel.area.width / 2.0, panel.area.y + panel.area.height / 2.0);
    let value = a * (panel.x.low() + wide / 2.0) + b * (panel.y.low() + high / 2.0) + c;
    let (across, along) = (-value / norm, 2000.0);
    let (nx, ny) = (alpha / norm, beta / norm);
    let across = across.clamp(-5000.0, 5000.0);
    let (fx, fy) = (x + across * nx, y + across * ny);
    Some([fx - along * ny, fy + along * nx, fx + along * ny, fy - along * nx])
}

/// Whether a separator θ* is known, which two of the curves are about.
fn separator_is_known(frames: &[&TracePoint]) -> bool {
    !frames.is_empty() && frames.iter().all(|point| point.alignment.is_some())
}

/// The curves of the proof, which rise as the boundary turns.
fn draw_curves(sheet: &mut Sheet, area: Rect, frames: &[&TracePoint]) {
    let known = separator_is_known(frames);
    let count = if known { 2 } else { 1 };
    let wide = (area.width - 30.0 * (count - 1) as f64) / count as f64;
    let mut cells = (0..count).map(|k| Rect { x: area.x + k as f64 * (wide + 30.0), width: wide, ..area });
    let mut draw =
        |cell: Rect, title: &str, run: &dyn Fn(&TracePoint) -> f64, bound: &dyn Fn(&TracePoint) -> f64| {
            let area = panel_head(sheet, cell, title, "");
            let curve = |of: &dyn Fn(&TracePoint) -> f64| -> Vec<(f64, f64)> {
                [(0.0, 0.0)]
                    .into_iter()
                    .chain(frames.iter().map(|point| (point.update as f64, of(point))))
                    .collect()
            };
            let (run, bound) = (curve(run), curve(bound));
            let high = range(run.iter().chain(&bound).map(|(_, y)| *y)).1;
            let x = Scale::linear(0.0, frames.last().map_or(1.0, |last| last.update as f64));
            let axes = Axes::new(x, "mistakes k", Scale::linear(0.0, 1.05 * high), "");
            let panel = Panel::draw(sheet, area, axes.counting());
            for (curve, pen) in [(&bound, bound_pen()), (&run, run_pen())] {
                let steps = panel.steps(curve.iter().copied());
                let rights = frames.iter().map(|point| panel.x_at(point.update as f64) + 1.5).collect();
                let what =
                    What::Reveal { steps: steps.clone(), area: panel.grown(2.0), rights: with_rest(rights) };
                sheet.mark_in(Layer::Moving, what, pen, None);
                sheet.mark_in(Layer::Still, What::Path(steps), pen, None);
            }
            let places = frames.iter().zip(run.iter().skip(1)).map(|(_, (x, y))| {
                let (x, y) = panel.at(*x, *y);
                [x, y]
            });
            let what =
                What::MovingDot { shape: Shape::Circle, radius: 4.0, places: with_rest(places.collect()) };
            sheet.mark_in(Layer::Moving, what, Pen::fill(Ink::Series(0)), None);
        };
    if known && let Some(cell) = cells.next() {
        let (run, bound) =
            (|p: &TracePoint| p.alignment.unwrap_or(0.0), |p: &TracePoint| p.alignment_bound.unwrap_or(0.0));
        draw(cell, "⟨θ_k, θ*⟩ ≥ kγ", &run, &bound);
    }
    if let Some(cell) = cells.next() {
        draw(cell, "‖θ_k‖² ≤ kR²", &|p| p.norm_squared, &|p| p.norm_squared_bound);
    }
}

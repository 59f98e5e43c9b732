//! The proof of the convergence theorem as it happened.

use super::axes::{Axes, Panel};
use super::figure::{Anchor, Figure, Key, MARGIN, Pen, Rect, Sheet, What};
use super::ink::{Dash, Ink, Shape};
use super::scale::Scale;
use super::text::{file_name, wrapped};
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::theory::trace::TracePoint;
use crate::train::Evidence;

const WIDTH: f64 = 900.0;
/// The height of a panel with its title.
const HEIGHT: f64 = 300.0;

/// The curves of the proof for a run, of which `evidence` has the bound that holds in any order. An empty trace is that of a
/// run without a mistake.
pub fn trace(source: &str, points: &[TracePoint], evidence: &Evidence) -> Figure {
    let source = file_name(source);
    let proof = Proof::new(points, evidence);
    let mistakes = counted(evidence.updates, "mistake", "mistakes");
    let title = match proof.most {
        Some(most) => {
            format!("{source}: {mistakes}; at most {} in any order", rounded(most, Rounding::Up))
        }
        None => format!("{source}: {mistakes} so far; no bound, because no separator was found"),
    };
    let how = match proof.known {
        true => {
            "Each mistake pushes θ towards a separator θ* by at least γ, and makes it longer by at most R². \
             Solid curves are the run, dashed ones the bounds of the theorem: the run stays above the first \
             and below the second, and together they allow at most (R/γ)² mistakes."
        }
        false => {
            "Each mistake makes θ longer by at most R². Solid curves are the run, dashed ones the bounds of \
             the theorem. Curves that need a separator θ* are left out: none was found."
        }
    };
    let mut sheet = Sheet::new("trace", WIDTH, &title, how);
    if points.is_empty() {
        sheet.note("No mistake was made, so there is nothing to plot.");
        return sheet.finish();
    }
    let mut cells = Cells::new(&mut sheet);
    if proof.known {
        let cell = cells.next(&mut sheet);
        proof.alignment(&mut sheet, cell);
    }
    let cell = cells.next(&mut sheet);
    proof.length(&mut sheet, cell);
    if proof.known {
        let cell = cells.next(&mut sheet);
        proof.angle(&mut sheet, cell);
    }
    let cell = cells.next(&mut sheet);
    proof.mistakes(&mut sheet, cell);
    let cell = cells.next(&mut sheet);
    proof.interval(&mut sheet, cell);
    if proof.known {
        let cell = cells.next(&mut sheet);
        proof.words(&mut sheet, cell);
    }
    sheet.legend(&[
        (Key::Line(Ink::Series(0), Dash::Solid, 2.0), "the run".to_string()),
        (Key::Line(Ink::Series(1), Dash::Dashed, 2.0), "bound of the theorem".to_string()),
    ]);
    if (points.len() as u64) < evidence.updates {
        sheet.note(&format!(
            "{} of the {} are drawn, evenly spaced and including the last.",
            grouped(points.len() as u64),
            counted(evidence.updates, "update", "updates")
        ));
    }
    sheet.finish()
}

/// Cells of two columns.
struct Cells {
    row: Rect,
    used: usize,
}

impl Cells {
    fn new(sheet: &mut Sheet) -> Self {
        Self { row: Rect { x: MARGIN, y: sheet.y, width: 0.0, height: 0.0 }, used: 2 }
    }

    fn next(&mut self, sheet: &mut Sheet) -> Rect {
        if self.used == 2 {
            (self.row, self.used) = (sheet.space(HEIGHT), 0);
        }
        let width = (self.row.width - 36.0) / 2.0;
        let cell = Rect { x: self.row.x + self.used as f64 * (width + 36.0), width, ..self.row };
        self.used += 1;
        cell
    }
}

/// The title of a panel and what is said of it; what is left for the panel.
pub(super) fn panel_head(sheet: &mut Sheet, cell: Rect, title: &str, how: &str) -> Rect {
    let mut y = cell.y + 14.0;
    for line in wrapped(title, cell.width, 13.0, true) {
        sheet.text(cell.x, y, &line, 13.0, true, Anchor::Start, Ink::Text);
        y += 17.0;
    }
    for line in wrapped(how, cell.width, 11.5, false) {
        sheet.text(cell.x, y, &line, 11.5, false, Anchor::Start, Ink::Muted);
        y += 15.0;
    }
    let top = y - 6.0;
    Rect { y: top, height: cell.y + cell.height - top - 8.0, ..cell }
}

/// The pen of what the theorem says.
pub(super) fn bound_pen() -> Pen {
    Pen::line(Ink::Series(1), 2.0).dashed(Dash::Dashed)
}

/// The pen of the run.
pub(super) fn run_pen() -> Pen {
    Pen::line(Ink::Series(0), 2.0)
}

/// A curve of one point, which has no length, as a dot.
fn lone_dot(sheet: &mut Sheet, panel: &Panel, curve: &[(f64, f64)]) {
    if let [(x, y)] = *curve {
        let dots = vec![panel.dot(x, y, None)];
        sheet.mark(What::Dots { shape: Shape::Circle, radius: 3.2, dots }, Pen::fill(Ink::Series(0)), None);
    }
}

struct Proof<'a> {
    points: &'a [TracePoint],
    last: Option<&'a TracePoint>,
    /// Whether a separator is known.
    known: bool,
    /// The most mistakes in any order.
    most: Option<f64>,
    lower: Option<f64>,
    upper: f64,
}

impl<'a> Proof<'a> {
    fn new(points: &'a [TracePoint], evidence: &Evidence) -> Self {
        let last = points.last();
        Self {
            points,
            last,
            known: last.is_some_and(|last| last.alignment_bound.is_some()),
            most: evidence.mistake_bound.upper,
            lower: evidence.margin.lower,
            upper: evidence.margin.upper,
        }
    }

    fn steps(&self) -> Scale {
        Scale::linear(0.0, self.last.map_or(1.0, |last| last.update as f64))
    }

    /// A curve through one number of each point, from `start` at no update.
    fn curve(&self, start: Option<f64>, of: impl Fn(&TracePoint) -> Option<f64>) -> Vec<(f64, f64)> {
        let first = start.map(|start| (0.0, start));
        let rest = self.points.iter().filter_map(|point| Some((point.update as f64, of(point)?)));
        first.into_iter().chain(rest).collect()
    }

    /// A panel with the run and bound of the theorem.
    fn pair(
        &self,
        sheet: &mut Sheet,
        area: Rect,
        name: &str,
        run: &[(f64, f64)],
        bound: &[(f64, f64)],
    ) -> Panel {
        let values = run.iter().chain(bound).map(|(_, y)| *y);
        let y = Scale::linear(0.0, super::scale::range(values).1 * 1.04);
        let panel = Panel::draw(sheet, area, Axes::new(self.steps(), "mistakes k", y, name).counting());
        panel.curve(sheet, bound.iter().copied(), bound_pen());
        panel.curve(sheet, run.iter().copied(), run_pen());
        panel
    }

    fn alignment(&self, sheet: &mut Sheet, cell: Rect) {
        let title = "Each mistake pushes θ towards θ*";
        let area = panel_head(sheet, cell, title, "⟨θ_k, θ*⟩ is at least kγ.");
        let (run, bound) =
            (self.curve(Some(0.0), |p| p.alignment), self.curve(Some(0.0), |p| p.alignment_bound));
        self.pair(sheet, area, "⟨θ_k, θ*⟩ and kγ", &run, &bound);
    }

    fn length(&self, sheet: &mut Sheet, cell: Rect) {
        let title = "Each mistake makes θ only a little longer";
        let area = panel_head(sheet, cell, title, "‖θ_k‖² is at most kR².");
        let run = self.curve(Some(0.0), |p| Some(p.norm_squared));
        let bound = self.curve(Some(0.0), |p| Some(p.norm_squared_bound));
        self.pair(sheet, area, "‖θ_k‖² and kR²", &run, &bound);
    }

    fn angle(&self, sheet: &mut Sheet, cell: Rect) {
        let title = "So θ turns towards θ*";
        let area = panel_head(
            sheet,
            cell,
            title,
            "The cosine of their angle is above √k·γ/(R‖θ*‖), which cannot exceed 1.",
        );
        let x = self.steps();
        let axes =
            Axes::new(x, "mistakes k", Scale::linear(0.0, 1.06), "cosine of the angle between θ_k and θ*");
        let panel = Panel::draw(sheet, area, axes.counting());
        panel.level(sheet, 1.0, Pen::line(Ink::Text, 1.2).dashed(Dash::Dotted));
        panel.curve(sheet, self.curve(Some(0.0), |p| p.cosine_bound), bound_pen());
        let run: Vec<(f64, f64)> = self.curve(None, |p| p.cosine);
        panel.curve(sheet, run.iter().copied(), run_pen());
        lone_dot(sheet, &panel, &run);
    }

    fn mistakes(&self, sheet: &mut Sheet, cell: Rect) {
        let title = "Mistakes after each pass";
        let how = match self.most {
            Some(_) => "The dashed line, (R/γ)², holds for every order of the rows.",
            None => "Without a separator no bound is known.",
        };
        let area = panel_head(sheet, cell, title, how);
        // The last update of each pass.
        let pairs = self.points.iter().zip(self.points.iter().skip(1).map(Some).chain([None]));
        let ends = pairs.filter(|(point, next)| next.is_none_or(|next| next.epoch > point.epoch));
        let curve: Vec<(f64, f64)> = [(0.0, 0.0)]
            .into_iter()
            .chain(ends.map(|(point, _)| (point.epoch as f64, point.update as f64)))
            .collect();
        let (passes, made) = curve.last().copied().unwrap_or((1.0, 1.0));
        let highest = self.most.unwrap_or(made).max(made);
        let far = highest > 12.0 * made;
        let y = if far { Scale::log(1.0, highest * 1.6) } else { Scale::linear(0.0, highest * 1.08) };
        let x = Scale::linear(0.0, passes.max(1.0));
        let name = if far { "mistakes so far, logarithmic" } else { "mistakes so far" };
        let panel = Panel::draw(sheet, area, Axes::new(x, "pass over the rows", y, name).counting());
        if let Some(most) = self.most {
            panel.level(sheet, most, bound_pen());
        }
        let shown: Vec<(f64, f64)> = curve.into_iter().filter(|(_, made)| !far || *made > 0.0).collect();
        panel.curve(sheet, shown.iter().copied(), run_pen());
        // More points than these run into each other.
        let few = if shown.len() <= 40 { &shown[..] } else { &[] };
        let dots = few.iter().map(|(x, y)| panel.dot(*x, *y, None)).collect();
        sheet.mark(What::Dots { shape: Shape::Circle, radius: 3.2, dots }, Pen::fill(Ink::Series(0)), None);
    }

    fn interval(&self, sheet: &mut Sheet, cell: Rect) {
        let title = match self.lower {
            Some(lower) => format!(
                "The best margin is between {} and {}",
                rounded(lower, Rounding::Down),
                rounded(self.upper, Rounding::Up)
            ),
            None => format!("The best margin is at most {}", rounded(self.upper, Rounding::Up)),
        };
        let how = match self.lower {
            Some(_) => {
                "‖θ_k‖/k is an upper bound; the separator proves the lower one. The possible range is shaded."
            }
            None => "‖θ_k‖/k is an upper bound that each mistake proves.",
        };
        let area = panel_head(sheet, cell, &title, how);
        let mut least = f64::INFINITY;
        let upper: Vec<(f64, f64)> = self
            .points
            .iter()
            .map(|point| {
                least = least.min(point.margin_upper);
                (point.update as f64, least)
            })
            .collect();
        let high = upper.first().map_or(1.0, |(_, y)| *y);
        let low = self.lower.unwrap_or(least).min(least);
        let y = Scale::log(low / 1.25, high * 1.25);
        let panel = Panel::draw(
            sheet,
            area,
            Axes::new(self.steps(), "mistakes k", y, "margin γ*, logarithmic").counting(),
        );
        if let Some(lower) = self.lower {
            let end = upper.last().map_or(1.0, |(x, _)| *x);
            let start = upper.first().map_or(0.0, |(x, _)| *x);
            let band = upper.iter().copied().chain([(end, lower), (start, lower)]);
            panel.curve(sheet, band, Pen::fill(Ink::Series(0)).faint(0.14));
            panel.level(sheet, lower, bound_pen());
        }
        panel.curve(sheet, upper.iter().copied(), run_pen());
        lone_dot(sheet, &panel, &upper);
    }

    /// The proof in words, with the numbers of the last mistake.
    fn words(&self, sheet: &mut Sheet, cell: Rect) {
        let Some(last) = self.last else { return };
        let area = panel_head(sheet, cell, "Why it must stop, with the numbers of the last mistake", "");
        let down = |x: Option<f64>| x.map_or(String::new(), |x| rounded(x, Rounding::Down));
        let up = |x: f64| rounded(x, Rounding::Up);
        let k = grouped(last.update);
        let lines = [
            format!("k = {k} {} made.", if last.update == 1 { "mistake was" } else { "mistakes were" }),
            format!(
                "1. kγ = {} ≤ ⟨θ_k, θ*⟩ = {}: every mistake adds at least γ.",
                down(last.alignment_bound),
                down(last.alignment)
            ),
            format!(
                "2. ‖θ_k‖² = {} ≤ kR² = {}: every mistake adds at most R².",
                up(last.norm_squared),
                up(last.norm_squared_bound)
            ),
            "3. ⟨θ_k, θ*⟩ ≤ ‖θ_k‖ ‖θ*‖, by Cauchy and Schwarz.".to_string(),
            format!(
                "So the cosine is at least {}, and grows with √k, but never exceeds 1.",
                down(last.cosine_bound)
            ),
            match self.most {
                Some(most) => {
                    format!("It would exceed 1 after (R/γ)² mistakes, which is at most {}.", up(most))
                }
                None => String::new(),
            },
        ];
        let mut y = area.y + 16.0;
        for line in &lines {
            for part in wrapped(line, cell.width, 12.5, false) {
                sheet.text(cell.x, y, &part, 12.5, false, Anchor::Start, Ink::Text);
                y += 18.0;
            }
            y += 7.0;
        }
    }
}

//! A panel: a pair of axes with ticks, a grid and names, and from numbers to places on the sheet.

use super::figure::{Anchor, Dot, Pen, Rect, Sheet, Step, What};
use super::ink::{Dash, Ink};
use super::scale::Scale;
use super::text::{shortened, width};

/// The size of the texts at ticks.
const TICK: f64 = 11.0;
/// The size of the names of axes.
const NAME: f64 = 12.0;

/// How far the texts at ticks may reach beyond the rectangle of their panel.
const BESIDE: f64 = 12.0;

/// A pair of axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel {
    /// Where the data is drawn.
    pub(super) area: Rect,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// The axes of a panel.
pub(super) struct Axes<'a> {
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) x_name: &'a str,
    pub(super) y_name: &'a str,
    /// Ticks of their own, where the scale should not choose.
    pub(super) x_ticks: Option<Vec<(f64, String)>>,
    pub(super) y_ticks: Option<Vec<(f64, String)>>,
    /// Whether the upward axis is a list of names: without lines behind the data.
    pub(super) list: bool,
    /// Room on the right of the data, for numbers.
    pub(super) right: f64,
}

impl<'a> Axes<'a> {
    /// A list of names from the top down, each on a line of its own.
    pub(super) fn list(x: Scale, x_name: &'a str, names: Vec<String>) -> Self {
        let count = names.len();
        let y = Scale::linear(-0.7, count as f64 - 0.3);
        let ticks = names.into_iter().enumerate().map(|(k, name)| (top_down(k, count), name)).collect();
        Self { y_ticks: Some(ticks), list: true, ..Self::new(x, x_name, y, "") }
    }

    /// The same with whole numbers alone across, such as counts.
    pub(super) fn counting(self) -> Self {
        let ticks = self.x.ticks(6).into_iter().filter(|(at, _)| at.fract() == 0.0);
        Self { x_ticks: Some(ticks.map(|(at, _)| (at, super::scale::plain(at))).collect()), ..self }
    }

    pub(super) fn new(x: Scale, x_name: &'a str, y: Scale, y_name: &'a str) -> Self {
        Self { x, y, x_name, y_name, x_ticks: None, y_ticks: None, list: false, right: 8.0 }
    }
}

impl Panel {
    /// Draws the axes within a rectangle: the name of the upward axis on top, that of the other below.
    pub(super) fn draw(sheet: &mut Sheet, outer: Rect, axes: Axes<'_>) -> Self {
        let about_y = ((outer.height - 60.0) / 42.0).clamp(2.0, 7.0) as usize;
        let y_ticks = axes.y_ticks.unwrap_or_else(|| axes.y.ticks(about_y));
        let most = 0.42 * outer.width;
        let y_ticks: Vec<(f64, String)> =
            y_ticks.into_iter().map(|(at, text)| (at, shortened(&text, most, TICK, false))).collect();
        let widest = y_ticks.iter().map(|(_, text)| width(text, TICK, false)).fold(0.0, f64::max);
        let left = if y_ticks.is_empty() { 2.0 } else { widest + 9.0 };
        let above = if axes.y_name.is_empty() { 6.0 } else { 24.0 };
        let below = if axes.x_name.is_empty() { 20.0 } else { 40.0 };
        let area = Rect {
            x: outer.x + left,
            y: outer.y + above,
            width: (outer.width - left - axes.right).max(10.0),
            height: (outer.height - above - below).max(10.0),
        };
        let panel = Self { area, x: axes.x, y: axes.y };
        let grid = Pen::line(Ink::Grid, 1.0);
        let about_x = (area.width / 54.0).clamp(3.0, 8.0) as usize;
        let x_ticks = axes.x_ticks.unwrap_or_else(|| {
            // Fewer, where long numbers would run into each other.
            let all = (2..=about_x).rev().map(|about| axes.x.ticks(about));
            let mut apart = all.skip_while(|ticks| !are_apart(ticks, &panel));
            apart.next().unwrap_or_else(|| axes.x.ticks(2).into_iter().take(1).collect())
        });
        for (value, text) in &x_ticks {
            let x = panel.x_at(*value);
            sheet.line((x, area.y), (x, area.bottom()), grid);
            // In the middle below its line, but not beyond the sheet.
            let half = width(text, TICK, false) / 2.0;
            let middle = x.min(outer.right() + BESIDE - half).max(outer.x - BESIDE + half);
            sheet.text(middle, area.bottom() + 15.0, text, TICK, false, Anchor::Middle, Ink::Muted);
        }
        for (value, text) in &y_ticks {
            let y = panel.y_at(*value);
            if !axes.list {
                sheet.line((area.x, y), (area.right(), y), grid);
            }
            let ink = if axes.list { Ink::Text } else { Ink::Muted };
            sheet.text(area.x - 7.0, y + 0.36 * TICK, text, TICK, false, Anchor::End, ink);
        }
        sheet.line((area.x, area.bottom()), (area.right(), area.bottom()), Pen::line(Ink::Muted, 1.0));
        if !axes.list {
            sheet.line((area.x, area.y), (area.x, area.bottom()), Pen::line(Ink::Muted, 1.0));
        }
        let name = |text: &str| shortened(&super::text::harmless(text), outer.width, NAME, false);
        if !axes.y_name.is_empty() {
            sheet.text(outer.x, outer.y + 11.0, &name(axes.y_name), NAME, false, Anchor::Start, Ink::Text);
        }
        if !axes.x_name.is_empty() {
            let text = name(axes.x_name);
            // In the middle of the data, but not beyond the sheet.
            let half = width(&text, NAME, false) / 2.0;
            let middle = (area.x + area.width / 2.0).min(outer.right() - half).max(outer.x + half);
            sheet.text(middle, area.bottom() + 34.0, &text, NAME, false, Anchor::Middle, Ink::Text);
        }
        panel
    }

    pub(super) fn x_at(&self, value: f64) -> f64 {
        self.area.x + self.area.width * self.x.share(value)
    }

    pub(super) fn y_at(&self, value: f64) -> f64 {
        self.area.bottom() - self.area.height * self.y.share(value)
    }

    /// Where a point is; far outside of the panel it is moved nearer, so that numbers stay short.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let near = |value: f64| if value.is_finite() { value.clamp(-1e5, 1e5) } else { -1e5 };
        (near(self.x_at(x)), near(self.y_at(y)))
    }

    /// A dot of the data.
    pub(super) fn dot(&self, x: f64, y: f64, says: Option<String>) -> Dot {
        let (x, y) = self.at(x, y);
        Dot { x, y, says }
    }

    /// A curve through points, within the panel.
    pub(super) fn curve(&self, sheet: &mut Sheet, points: impl IntoIterator<Item = (f64, f64)>, pen: Pen) {
        sheet.mark(What::Path(self.steps(points)), pen, Some(self.grown(2.0)));
    }

    /// The steps of a curve. Points that would coincide on paper are left out.
    pub(super) fn steps(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut last: Option<(f64, f64)> = None;
        let mut skipped = None;
        for (x, y) in points {
            let (x, y) = self.at(x, y);
            match last {
                None => steps.push(Step::Move(x, y)),
                Some((a, b)) if (a - x).abs() + (b - y).abs() < 0.35 => {
                    skipped = Some((x, y));
                    continue;
                }
                Some(_) => steps.push(Step::Line(x, y)),
            }
            (last, skipped) = (Some((x, y)), None);
        }
        steps.extend(skipped.map(|(x, y)| Step::Line(x, y)));
        steps
    }

    /// A line across the panel at a height.
    pub(super) fn level(&self, sheet: &mut Sheet, y: f64, pen: Pen) {
        let y = self.y_at(y);
        sheet.line((self.area.x, y), (self.area.right(), y), pen);
    }

    /// A line up the panel at a place.
    pub(super) fn upright(&self, sheet: &mut Sheet, x: f64, pen: Pen) {
        let x = self.x_at(x);
        sheet.line((x, self.area.y), (x, self.area.bottom()), pen);
    }

    /// The area, wider by this on every side.
    pub(super) fn grown(&self, by: f64) -> Rect {
        Rect {
            x: self.area.x - by,
            y: self.area.y - by,
            width: self.area.width + 2.0 * by,
            height: self.area.height + 2.0 * by,
        }
    }

    /// The two ends of the line ax + by + c = `level` within the panel; `None` if it does not cross it.
    pub(super) fn ends(&self, [a, b, c]: [f64; 3], level: f64) -> Option<[(f64, f64); 2]> {
        // The line in places on the sheet, so that steep and flat lines are cut with the same care.
        let (left, right, low, high) = (self.x.low(), self.x.high(), self.y.low(), self.y.high());
        let value = |x: f64, y: f64| a * x + b * y + c - level;
        let corners = [(left, low), (right, low), (right, high), (left, high)];
        let mut found: Vec<(f64, f64)> = Vec::new();
        for k in 0..4 {
            let (from, to) = (corners[k], corners[(k + 1) % 4]);
            let (v, w) = (value(from.0, from.1), value(to.0, to.1));
            if (v < 0.0) == (w < 0.0) {
                continue;
            }
            let share = v / (v - w);
            if share.is_finite() {
                found.push((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)));
            }
        }
        match found.as_slice() {
            [one, two, ..] => Some([*one, *two]),
            _ => None,
        }
    }

    /// Draws the line ax + by + c = `level` across the panel.
    pub(super) fn straight(&self, sheet: &mut Sheet, line: [f64; 3], level: f64, pen: Pen) {
        if let Some(ends) = self.ends(line, level) {
            self.curve(sheet, ends, pen);
        }
    }

    /// The part of the panel with −half ≤ ax + by + c ≤ half.
    pub(super) fn band(&self, sheet: &mut Sheet, [a, b, c]: [f64; 3], half: f64, pen: Pen) {
        let (left, right, low, high) = (self.x.low(), self.x.high(), self.y.low(), self.y.high());
        let mut shape = vec![(left, low), (right, low), (right, high), (left, high)];
        for sign in [1.0, -1.0] {
            shape = cut(&shape, |(x, y)| half - sign * (a * x + b * y + c));
        }
        let mut steps = self.steps(shape);
        if steps.len() > 2 {
            steps.push(Step::Close);
            sheet.mark(What::Path(steps), pen, Some(self.area));
        }
    }
}

/// Whether the texts of ticks across leave room between them.
fn are_apart(ticks: &[(f64, String)], panel: &Panel) -> bool {
    ticks.windows(2).all(|pair| {
        let half = |(_, text): &(f64, String)| width(text, TICK, false) / 2.0;
        panel.x_at(pair[1].0) - panel.x_at(pair[0].0) >= half(&pair[0]) + half(&pair[1]) + 12.0
    })
}

/// The height of the k-th of so many lines from the top.
pub(super) fn top_down(k: usize, count: usize) -> f64 {
    (count - 1 - k) as f64
}

/// The part of a convex shape where a linear function is at least 0.
fn cut(shape: &[(f64, f64)], inside: impl Fn((f64, f64)) -> f64) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for (k, &from) in shape.iter().enumerate() {
        let to = shape[(k + 1) % shape.len()];
        let (v, w) = (inside(from), inside(to));
        if v >= 0.0 {
            kept.push(from);
        }
        if (v < 0.0) != (w < 0.0) {
            let share = v / (v - w);
            kept.push((from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1)));
        }
    }
    kept
}

/// The pen of a boundary.
pub(super) fn boundary_pen() -> Pen {
    Pen::line(Ink::Text, 2.0)
}

/// The pen of the edges of a margin.
pub(super) fn edge_pen() -> Pen {
    Pen::line(Ink::Text, 1.1).dashed(Dash::Dashed)
}

/// The pen of the inside of a margin.
pub(super) fn band_pen() -> Pen {
    Pen::fill(Ink::Text).faint(0.09)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> Panel {
        let area = Rect { x: 10.0, y: 20.0, width: 100.0, height: 50.0 };
        Panel { area, x: Scale::linear(0.0, 10.0), y: Scale::linear(-1.0, 1.0) }
    }

    #[test]
    fn places_are_within_the_area_and_upwards() {
        assert_eq!(panel().at(0.0, -1.0), (10.0, 70.0));
        assert_eq!(panel().at(10.0, 1.0), (110.0, 20.0));
        assert_eq!(panel().at(f64::NAN, 1e300).0, -1e5);
    }

    #[test]
    fn lines_are_cut_at_the_edge() {
        let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-9;
        // x = 5
        let ends = panel().ends([1.0, 0.0, -5.0], 0.0).unwrap();
        assert!(close(ends[0], (5.0, -1.0)) && close(ends[1], (5.0, 1.0)), "{ends:?}");
        // y = x/10 − 0.5
        let ends = panel().ends([-0.1, 1.0, 0.5], 0.0).unwrap();
        assert!(close(ends[0], (10.0, 0.5)) && close(ends[1], (0.0, -0.5)), "{ends:?}");
        assert!(panel().ends([1.0, 0.0, 5.0], 0.0).is_none());
        assert!(panel().ends([0.0, 0.0, 1.0], 0.0).is_none());
        assert!(panel().ends([f64::NAN, 0.0, 1.0], 0.0).is_none());
    }
}

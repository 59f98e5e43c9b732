//! Comparison of learners.

use super::axes::{Axes, Panel, top_down};
use super::figure::{Anchor, Dot, Figure, Key, Pen, SMALL, Sheet, What, open_pen};
use super::ink::{Dash, Ink, Shape};
use super::scale::Scale;
use super::text::file_name;
use crate::numbers::counted;
use crate::report::describe_best;
use crate::validate::compare::Comparison;
use crate::validate::metric::Metric;

const WIDTH: f64 = 760.0;
/// Between two learners.
const LINE: f64 = 25.0;

/// The metric of each learner on held-out rows with its standard error, beside always predicting the same
/// class.
pub fn compare(source: &str, comparison: &Comparison) -> Figure {
    let source = file_name(source);
    let metric = comparison.metric;
    let share = metric.is_share;
    let (factor, digits) = if share { (100.0, 2) } else { (1.0, 3) };
    let unit = if share { " %" } else { "" };
    let shown: Vec<_> = comparison
        .learners
        .iter()
        .filter_map(|entry| Some((entry, factor * entry.value?, factor * entry.value_error.unwrap_or(0.0))))
        .collect();
    let rows = counted(comparison.rows, "row", "rows");
    let title = match (describe_best(comparison), shown.first()) {
        (Some(best), Some((_, value, _))) => {
            format!("{source}: on {rows}, {best}, {value:.digits$}{unit}")
        }
        _ => format!("{source}: no learner has a value, because none has a model"),
    };
    let best = comparison.best().len();
    let folds = comparison.folds;
    let held_out = match comparison.interrupted {
        true => {
            format!("Interrupted: only the rows of {} held out", counted(folds, "fold was", "folds were"))
        }
        false => format!("Every row was held out once, in {}", counted(folds, "fold", "folds")),
    };
    let how = format!("Further left is better. {held_out}; bars reach one standard error to either side.");
    let mut sheet = Sheet::new("compare", WIDTH, &title, &how);
    let baseline = factor * comparison.baseline.value;
    let highest = shown.iter().map(|(_, value, error)| value + error).fold(baseline, f64::max);
    let least = shown.iter().map(|(_, value, _)| *value).fold(f64::INFINITY, f64::min);
    let root = share && highest > 8.0 * least;
    let x = if root { Scale::square_root(1.06 * highest) } else { Scale::linear(0.0, 1.06 * highest) };
    let name = format!(
        "{}{}, on held-out rows{}",
        metric.title,
        if share { ", in %" } else { "" },
        if root { "; square-root scale" } else { "" }
    );
    let names = shown.iter().map(|(entry, ..)| entry.label.clone()).collect();
    let outer = sheet.space(LINE * shown.len() as f64 + 66.0);
    let axes = Axes { right: 112.0, ..Axes::list(x, &name, names) };
    let panel = Panel::draw(&mut sheet, outer, axes);
    panel.upright(&mut sheet, baseline, Pen::line(Ink::Text, 1.3).dashed(Dash::Dashed));
    let mut keys = vec![(
        Key::Curve(Ink::Series(0), Dash::Solid, Shape::Circle),
        "held out, ± standard error".to_string(),
    )];
    if metric == Metric::error() {
        let on_training = |(k, (entry, ..)): (usize, &(&crate::validate::compare::Entry, f64, f64))| {
            let error = factor * entry.training_error?;
            let says = format!("{}: {error:.digits$} % on the training rows", entry.label);
            Some(panel.dot(error, top_down(k, shown.len()), Some(says)))
        };
        let dots: Vec<Dot> = shown.iter().enumerate().filter_map(on_training).collect();
        sheet.mark(What::Dots { shape: Shape::Diamond, radius: 4.2, dots }, open_pen(Ink::Series(1)), None);
        keys.push((Key::Open(Shape::Diamond, Ink::Series(1)), "on the training rows".to_string()));
    }
    for (k, (entry, value, error)) in shown.iter().enumerate() {
        let at = top_down(k, shown.len());
        let y = panel.y_at(at);
        let (from, to) = (panel.x_at((value - error).max(x.low())), panel.x_at(value + error));
        let pen = Pen::line(Ink::Series(0), 1.8);
        sheet.line((from, y), (to, y), pen);
        for end in [from, to] {
            sheet.line((end, y - 4.0), (end, y + 4.0), pen);
        }
        let text = format!("{value:.digits$} ± {error:.digits$}");
        let says = Some(format!("{}: {text}{unit}", entry.label));
        let dots = vec![Dot { x: panel.x_at(*value), y, says }];
        sheet.mark(What::Dots { shape: Shape::Circle, radius: 4.4, dots }, Pen::fill(Ink::Series(0)), None);
        let right = panel.area.right() + 112.0 - 4.0;
        sheet.text(right, y + 4.0, &text, SMALL, k < best, Anchor::End, Ink::Text);
    }
    keys.push((
        Key::Line(Ink::Text, Dash::Dashed, 1.3),
        format!("always “{}”: {baseline:.digits$}{unit}", comparison.baseline.class),
    ));
    sheet.legend(&keys);
    sheet.finish()
}

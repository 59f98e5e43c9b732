//! Whether probabilities come true.

use super::axes::{Axes, Panel};
use super::figure::{Anchor, Dot, Figure, Key, Pen, Sheet, What};
use super::ink::{Dash, Ink, Shape};
use super::scale::Scale;
use super::text::file_name;
use crate::job::{Evaluated, WhichRows};
use crate::numbers::{grouped, percent};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 500.0;

/// The observed share of each bin of probabilities, with its exact 95 % interval. `None` for a model without
/// probabilities.
pub fn calibration(source: &str, which: WhichRows, evaluated: &Evaluated) -> Option<Figure> {
    let source = file_name(source);
    let found = evaluated.probabilities()?;
    let positive = match evaluated {
        Evaluated::Pair { classes, .. } => Some(classes.positive.as_str()),
        Evaluated::Many { .. } => None,
    };
    let rows: u64 = found.bins.iter().map(|bin| bin.rows).sum();
    let title = format!(
        "{source}: log loss {:.4}, Brier {:.4}, calibration error {:.4}",
        found.log_loss, found.brier, found.expected_calibration_error
    );
    let how = format!(
        "On {} {which}; the numbers on top are the rows of each bin. Below the dotted line the model is \
         overconfident, above it underconfident; where a bar crosses the line, the difference is not \
         significant.",
        grouped(rows)
    );
    let mut sheet = Sheet::new("calibration", WIDTH, &title, &how);
    let (x_name, y_name) = match positive {
        Some(positive) => {
            (format!("probability of “{positive}”, mean of the bin"), format!("share of “{positive}”"))
        }
        None => (
            "probability of the predicted class, mean of the bin".to_string(),
            "share predicted right".to_string(),
        ),
    };
    let outer = sheet.space(HEIGHT);
    let scale = Scale::linear(-0.015, 1.08);
    let axes = Axes { right: 16.0, ..Axes::new(Scale::linear(0.0, 1.0), &x_name, scale, &y_name) };
    let panel = Panel::draw(&mut sheet, outer, axes);
    panel.curve(&mut sheet, [(0.0, 0.0), (1.0, 1.0)], Pen::line(Ink::Muted, 1.4).dashed(Dash::Dotted));
    let pen = Pen::line(Ink::Series(0), 1.8);
    panel.curve(
        &mut sheet,
        found.bins.iter().map(|bin| (bin.mean_probability, bin.observed)),
        pen.faint(0.55),
    );
    for bin in &found.bins {
        let (x, low) = panel.at(bin.mean_probability, bin.observed_interval.lower);
        let high = panel.y_at(bin.observed_interval.upper);
        sheet.line((x, low), (x, high), pen);
        for y in [low, high] {
            sheet.line((x - 4.0, y), (x + 4.0, y), pen);
        }
        let (x, y) = panel.at(bin.mean_probability, bin.observed);
        let says = format!(
            "{} rows from {} to {}: on average {}, observed {}",
            grouped(bin.rows),
            percent(bin.from),
            percent(bin.to),
            percent(bin.mean_probability),
            percent(bin.observed)
        );
        let dots = vec![Dot { x, y, says: Some(says) }];
        sheet.mark(What::Dots { shape: Shape::Circle, radius: 4.6, dots }, Pen::fill(Ink::Series(0)), None);
        let (middle, top) = panel.at((bin.from + bin.to) / 2.0, 1.045);
        sheet.text(middle, top + 4.0, &grouped(bin.rows), 10.5, false, Anchor::Middle, Ink::Muted);
    }
    sheet.legend(&[
        (
            Key::Curve(Ink::Series(0), Dash::Solid, Shape::Circle),
            "observed, with the 95 % interval".to_string(),
        ),
        (Key::Line(Ink::Muted, Dash::Dotted, 1.4), "perfect calibration".to_string()),
    ]);
    Some(sheet.finish())
}

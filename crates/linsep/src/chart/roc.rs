//! The ROC curve: true and false positive rates of each threshold.

use super::axes::{Axes, Panel};
use super::figure::{Dot, Figure, Key, Pen, Sheet, What, dot_pen};
use super::ink::{Dash, Ink, Shape};
use super::scale::Scale;
use super::text::file_name;
use crate::job::{Evaluated, JudgedRow, WhichRows};
use crate::model::{Times, roc as curve_of};
use crate::numbers::{grouped, percent};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 500.0;

/// The ROC curve of rows of two sides, each counted as often as it occurs. `None` for more than two sides, and where the
/// rows are all of one side.
pub fn roc(source: &str, which: WhichRows, evaluated: &Evaluated, rows: &[JudgedRow]) -> Option<Figure> {
    let source = file_name(source);
    let Evaluated::Pair { evaluation, classes, .. } = evaluated else { return None };
    let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
    let signs: Vec<i8> = rows.iter().map(|row| if row.truth == 1 { 1 } else { -1 }).collect();
    let times: Vec<u64> = rows.iter().map(|row| row.times).collect();
    let curve = curve_of(&scores, &signs, Times::each(&times));
    let auc = evaluation.auc.filter(|_| !curve.is_empty())?;
    let (positive, negative) = (&classes.positive, classes.negative_name());
    let title = format!("{source}: AUC {auc:.4} on {} {which}", grouped(evaluation.rows));
    let how = format!(
        "Each point of the curve is a threshold: its true positive rate (“{positive}” found) and false \
         positive rate (“{negative}” predicted “{positive}”). Closer to the upper left corner is better; \
         the dotted line is guessing."
    );
    let mut sheet = Sheet::new("roc", WIDTH, &title, &how);
    let ticks = || Some((0..=5).map(|k| (f64::from(k) / 5.0, format!("{} %", 20 * k))).collect());
    let (x_name, y_name) = (format!("of {negative}: predicted {positive}"), format!("of {positive}: found"));
    let unit = Scale::linear(0.0, 1.0);
    let outer = sheet.space(HEIGHT);
    let axes =
        Axes { x_ticks: ticks(), y_ticks: ticks(), right: 16.0, ..Axes::new(unit, &x_name, unit, &y_name) };
    let panel = Panel::draw(&mut sheet, outer, axes);
    panel.curve(&mut sheet, [(0.0, 0.0), (1.0, 1.0)], Pen::line(Ink::Muted, 1.4).dashed(Dash::Dotted));
    let points = || curve.iter().map(|point| (point.false_positives, point.true_positives));
    panel.curve(&mut sheet, points().chain([(1.0, 0.0)]), Pen::fill(Ink::Series(0)).faint(0.1));
    panel.curve(&mut sheet, points(), Pen::line(Ink::Series(0), 2.2));
    let mut keys = vec![
        (Key::Line(Ink::Series(0), Dash::Solid, 2.2), format!("the model, AUC {auc:.4}")),
        (Key::Line(Ink::Muted, Dash::Dotted, 1.4), "guessing, AUC 0.5".to_string()),
    ];
    if let (Some(found), Some(right)) = (evaluation.recall, evaluation.negative_recall) {
        let text =
            format!("current threshold: {} found, {} false positives", percent(found), percent(1.0 - right));
        let (x, y) = panel.at(1.0 - right, found);
        let dots = vec![Dot { x, y, says: Some(text.clone()) }];
        let pen = Pen { stroke: Some(Ink::Paper), width: 1.2, ..dot_pen(Shape::Star, Ink::Series(1)) };
        sheet.mark(What::Dots { shape: Shape::Star, radius: 7.0, dots }, pen, None);
        keys.push((Key::Dot(Shape::Star, Ink::Series(1)), text));
    }
    sheet.legend(&keys);
    Some(sheet.finish())
}

//! A verdict on separation: the widest gap, or the conflicting rows.

use super::axes::{Panel, band_pen, boundary_pen, edge_pen};
use super::boundary::{draw_plane, draw_rows, mark_with, note_thinning};
use super::figure::{Anchor, Figure, Key, Pen, Rect, Sheet, Step, What, dot_pen};
use super::ink::{Dash, Ink, Shape};
use super::text::{file_name, width};
use crate::job::{PlaneAxes, Separated, SeparationView};
use crate::numbers::{Rounding, counted, percent, rounded};
use crate::separate::{Bias, Verdict};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
/// More rows than this are ringed without their lines.
const MAX_NAMED: usize = 12;

/// The verdict of `separated` on its rows.
pub fn separation(separated: &Separated, view: &SeparationView) -> Figure {
    let scene = &view.scene;
    let Some(decided) = separated.decided.first() else {
        return Sheet::new("separation", WIDTH, "", "").finish();
    };
    let found = &decided.separation;
    let through_origin = separated.settings.bias == Bias::None;
    let rows = view.ringed.len() as u64;
    let (verdict, how) = match found.verdict {
        Verdict::Complete => (
            format!(
                "completely separable, the best margin is between {} and {}",
                rounded(found.margin.lower.unwrap_or(0.0), Rounding::Down),
                rounded(found.margin.upper, Rounding::Up)
            ),
            "The solid line is a boundary with every row on its right side. No row is within its margin, the shaded band; the ringed \
             rows are at its edge."
                .to_string(),
        ),
        Verdict::QuasiComplete if !found.boundary_is_exact => (
            "quasi-completely separable: the best boundary touches rows of both sides".to_string(),
            "No row is on the wrong side of the solid line, which goes through the ringed rows; which rows \
             every such boundary goes through was not determined."
                .to_string(),
        ),
        Verdict::QuasiComplete => (
            "quasi-completely separable: the best boundary touches rows of both sides".to_string(),
            "No row is on the wrong side of the solid line, and every boundary that has none there goes through the ringed rows."
                .to_string(),
        ),
        Verdict::Overlap => (
            format!("not separable: {} cannot {} be on their right sides", counted(rows, "row", "rows"), if rows == 2 { "both" } else { "all" }),
            if through_origin {
                "The ringed rows conflict: with the signs of their sides, a weighted sum of them is \
                 zero.".to_string()
            } else {
                format!(
                    "The ringed rows conflict: with {}, the weighted means of both sides are the same \
                     point, the star, which no boundary has on both of its sides.",
                    if view.ringed.len() <= MAX_NAMED { "the weights shown" } else { "certain weights" }
                )
            },
        ),
        Verdict::Undecided => {
            ("undecided whether a boundary separates the classes".to_string(), found.stopped.clone().unwrap_or_default())
        }
    };
    let mut sheet =
        Sheet::new("separation", WIDTH, &format!("{}: {verdict}", file_name(&scene.source)), &how);
    let along = match view.line {
        Some(_) => "distance to the boundary",
        None => "distance to the boundary of a logistic regression",
    };
    let panel = draw_plane(&mut sheet, scene, along, HEIGHT);
    if let Some(line) = view.line {
        if let Some(half) = view.half {
            panel.band(&mut sheet, line, half, band_pen());
            [-half, half].iter().for_each(|&level| panel.straight(&mut sheet, line, level, edge_pen()));
        }
        panel.straight(&mut sheet, line, 0.0, boundary_pen());
    }
    let mut keys = draw_rows(&mut sheet, &panel, scene);
    let mixes = found.verdict == Verdict::Overlap && !through_origin && rows > 1;
    if mixes {
        hulls(&mut sheet, &panel, view);
    }
    let ringed = mark_with(&mut sheet, &panel, scene, Shape::Ring, |row| row.rests);
    if ringed > 0 {
        let text = match found.verdict {
            // A verdict keeps the nearest rows alone.
            Verdict::Complete if view.ringed.len() == found.closest.len() && ringed > 1 => {
                format!("{ringed} of the rows at the margin")
            }
            Verdict::Complete => counted(ringed, "row at the margin", "rows at the margin"),
            Verdict::QuasiComplete if !found.boundary_is_exact => {
                counted(ringed, "row on this boundary", "rows on this boundary")
            }
            Verdict::QuasiComplete => counted(ringed, "row on every boundary", "rows on every boundary"),
            _ => counted(ringed, "row in conflict with the others", "conflicting rows"),
        };
        keys.push((Key::Dot(Shape::Ring, Ink::Text), text));
    }
    if mixes {
        let at = mixture(view);
        let (x, y) = panel.at(at.0, at.1);
        sheet.dot(
            Shape::Star,
            6.5,
            x,
            y,
            Pen { stroke: Some(Ink::Paper), width: 1.2, ..dot_pen(Shape::Star, Ink::Text) },
        );
        keys.push((Key::Dot(Shape::Star, Ink::Text), "the common weighted mean".to_string()));
    }
    if view.ringed.iter().any(|ringed| ringed.share.is_some()) && view.ringed.len() <= MAX_NAMED {
        name_rows(&mut sheet, &panel, view);
    }
    if view.line.is_some() {
        keys.push((Key::Line(Ink::Text, Dash::Solid, 2.0), "boundary".to_string()));
    }
    if view.half.is_some() {
        keys.push((Key::Line(Ink::Text, Dash::Dashed, 1.1), "margin".to_string()));
    }
    sheet.legend(&keys);
    note_thinning(&mut sheet, scene);
    if matches!(scene.axes, PlaneAxes::Boundary { .. })
        && view.line.is_none()
        && found.verdict != Verdict::Undecided
    {
        sheet.note("The plane shows two directions of many; the verdict is about all features.");
    }
    sheet.finish()
}

/// The mixture of the ringed rows of the negative side, which is that of the positive one.
fn mixture(view: &SeparationView) -> (f64, f64) {
    let mut sum = (0.0, 0.0, 0.0);
    for ringed in &view.ringed {
        let (row, share) = (&view.scene.rows[ringed.row], ringed.share.unwrap_or(0.0));
        if row.class == 1 {
            sum = (sum.0 + share * row.at[0], sum.1 + share * row.at[1], sum.2 + share);
        }
    }
    (sum.0 / sum.2, sum.1 / sum.2)
}

/// The shapes that the ringed rows of each side span.
fn hulls(sheet: &mut Sheet, panel: &Panel, view: &SeparationView) {
    for (class, dash) in [(0, Dash::Solid), (1, Dash::Dashed)] {
        let own =
            view.ringed.iter().map(|ringed| &view.scene.rows[ringed.row]).filter(|row| row.class == class);
        let hull = hull(own.map(|row| panel.at(row.at[0], row.at[1])).collect());
        let Some(&(x, y)) = hull.first() else { continue };
        let mut steps = vec![Step::Move(x, y)];
        steps.extend(hull[1..].iter().map(|&(x, y)| Step::Line(x, y)));
        steps.push(Step::Close);
        let ink = Ink::Series(class);
        sheet.mark(What::Path(steps.clone()), Pen::fill(ink).faint(0.12), None);
        sheet.mark(What::Path(steps), Pen::line(ink, 1.6).dashed(dash), None);
    }
}

/// The corners of the smallest convex shape around points, in order.
fn hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turn =
        |a: (f64, f64), b: (f64, f64), c: (f64, f64)| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    let chain = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut chain: Vec<(f64, f64)> = Vec::new();
        for point in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], point) <= 0.0 {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut lower = chain(&mut points.iter().copied());
    lower.extend(chain(&mut points.iter().rev().copied()));
    lower
}

/// Names the ringed rows by their lines and shares, each where the fewest others are.
fn name_rows(sheet: &mut Sheet, panel: &Panel, view: &SeparationView) {
    const SIZE: f64 = 11.5;
    // Rows at the same place share a label.
    let mut labels: Vec<((f64, f64), Vec<String>)> = Vec::new();
    for ringed in &view.ringed {
        let row = &view.scene.rows[ringed.row];
        let at = panel.at(row.at[0], row.at[1]);
        let text = format!("line {}: {}", row.line, percent(ringed.share.unwrap_or(0.0)));
        match labels.iter_mut().find(|(other, _)| (other.0 - at.0).abs() + (other.1 - at.1).abs() < 1.0) {
            Some((_, texts)) => texts.push(text),
            None => labels.push((at, vec![text])),
        }
    }
    let mut taken: Vec<Rect> =
        labels.iter().map(|((x, y), _)| Rect { x: x - 9.0, y: y - 9.0, width: 18.0, height: 18.0 }).collect();
    for ((x, y), texts) in &labels {
        let wide = texts.iter().map(|text| width(text, SIZE, false)).fold(0.0, f64::max) + 6.0;
        let high = 15.0 * texts.len() as f64;
        let spaces = [12.0, 26.0, 44.0].into_iter().flat_map(|far| {
            let ups = [-high - far + 6.0, far - 6.0, -high / 2.0];
            ups.into_iter().flat_map(move |up| [far, -far - wide].map(move |side| (side, up)))
        });
        let crowd = |space: &Rect| -> f64 {
            let outside = (panel.area.x - space.x).max(0.0)
                + (space.right() - panel.area.right()).max(0.0)
                + (panel.area.y - space.y).max(0.0)
                + (space.bottom() - panel.area.bottom()).max(0.0);
            1e4 * outside + taken.iter().map(|other| shared(space, other)).sum::<f64>()
        };
        let space = spaces
            .map(|(side, up)| Rect { x: x + side, y: y + up, width: wide, height: high })
            .min_by(|a, b| crowd(a).total_cmp(&crowd(b)));
        let Some(space) = space else { continue };
        taken.push(space);
        sheet.line((*x, *y), (space.x + wide / 2.0, space.y + high / 2.0), Pen::line(Ink::Muted, 0.8));
        sheet.rect(space, Pen::fill(Ink::Paper).faint(0.86), None);
        for (k, text) in texts.iter().enumerate() {
            let y = space.y + 11.5 + 15.0 * k as f64;
            sheet.text(space.x + 3.0, y, text, SIZE, false, Anchor::Start, Ink::Text);
        }
    }
}

/// The area that two rectangles share.
fn shared(a: &Rect, b: &Rect) -> f64 {
    let wide = a.right().min(b.right()) - a.x.max(b.x);
    let high = a.bottom().min(b.bottom()) - a.y.max(b.y);
    wide.max(0.0) * high.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_has_the_corners_alone() {
        let square = vec![(0.0, 0.0), (2.0, 0.0), (1.0, 1.0), (2.0, 2.0), (0.0, 2.0), (1.0, 0.0), (0.0, 0.0)];
        assert_eq!(hull(square), [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]);
        assert_eq!(hull(vec![(1.0, 1.0), (1.0, 1.0)]), [(1.0, 1.0)]);
    }
}

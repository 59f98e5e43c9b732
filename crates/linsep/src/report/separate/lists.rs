//! The rows and features that a verdict is about.

use super::facts::ends;
use crate::Theta;
use crate::classes::printable;
use crate::job::{Separated, TimedRemoval, place_of};
use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::report::Block;
use crate::report::layout::{cell, column_width, right_cell};
use crate::separate::{Bias, Removal, Separation, Verdict};

/// Rows, pairs or features listed at most.
pub(super) const LISTED: usize = 20;
/// Rows listed that are closest to the boundary.
const NEAREST: usize = 8;

/// The rows nearest to the boundary.
pub(super) fn closest(separated: &Separated, separation: &Separation) -> Option<Block> {
    let rows = separation.closest.iter().take(NEAREST);
    let list: Vec<_> = rows.map(|near| (near.row, rounded(near.value, Rounding::Down))).collect();
    (!list.is_empty()).then(|| {
        let rows = row_list(separated, &list);
        Block::text(format!("\nThe rows closest to the boundary, with their distance:\n{rows}"))
    })
}

/// Rows of both sides that are not on the boundary that others are on.
pub(super) fn separated_rows(separated: &Separated, separation: &Separation) -> Vec<usize> {
    let signs = separation.classes.signs_of(separated.data.classes());
    let has_side = |i: &usize| signs[separated.data.labels()[*i] as usize].is_some();
    let is_boundary = |i: &usize| separation.boundary.binary_search(i).is_ok();
    (0..separated.data.len()).filter(has_side).filter(|i| !is_boundary(i)).collect()
}

/// The rows that a boundary tells apart from the others, all on their right sides.
pub(super) fn apart(separated: &Separated, separation: &Separation) -> Vec<Block> {
    let list: Vec<_> =
        separated_rows(separated, separation).into_iter().map(|i| (i, String::new())).collect();
    let opening = format!(
        "Separated: {}{} of {}, which a logistic regression predicts with certainty.",
        if separation.boundary_is_exact { "" } else { "at least " },
        grouped(list.len() as u64),
        counted(separation.rows as u64, "row", "rows")
    );
    with_rows(opening, row_list(separated, &list))
}

/// The features with a weight in the separating boundary, the largest weight first.
pub(super) fn separating_features(separated: &Separated, separation: &Separation) -> Vec<(String, f64)> {
    let Some(theta) = &separation.weights else { return Vec::new() };
    let mut features: Vec<(usize, f64)> =
        theta.weights.iter().copied().enumerate().filter(|&(_, weight)| weight != 0.0).collect();
    features.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    features.into_iter().map(|(j, weight)| (separated.schema.feature_name(j), weight)).collect()
}

pub(super) fn features(separated: &Separated, separation: &Separation) -> Block {
    let features = separating_features(separated, separation);
    if features.is_empty() {
        // Where the time ended first, no boundary may be known at all.
        let by_bias = separation.weights.as_ref().is_some_and(|theta| theta.bias != 0.0);
        return Block::text(if by_bias { "\nNo feature separates: the bias alone does.\n" } else { "" });
    }
    let mut text = "\nThe features that separate, with their weights in one such boundary:\n".to_string();
    let width = column_width(features.iter().take(LISTED).map(|(name, _)| name.as_str()), 6, 40);
    for (name, weight) in features.iter().take(LISTED) {
        text += &format!("  {}  {weight:>+12.6}\n", cell(name, width));
    }
    text += &more(features.len());
    let intercept = separation.weights.as_ref().map_or(0.0, Theta::intercept);
    if intercept != 0.0 {
        text += &format!("  {:<width$}  {intercept:>+12.6}\n", "(bias)");
    }
    Block::Text(text)
}

/// The rows that cannot all be on their right sides.
pub(super) fn witness(separated: &Separated, separation: &Separation) -> Vec<Block> {
    let through_origin = separated.settings.bias == Bias::None;
    if !separation.contradictions.is_empty() {
        return contradictions(separated, &separation.contradictions, through_origin);
    }
    match separation.witness.as_slice() {
        [] => Vec::new(),
        [row] => vec![Block::text(format!(
            "\n{} is zero, and every boundary through the origin goes through it.\n",
            named(separated, row.row)
        ))],
        witness => {
            let why = if through_origin {
                "summed with these weights, each with the sign of its side, they give zero"
            } else {
                "with these weights, the mean of the rows of one side is the same point as that of the other"
            };
            let list: Vec<_> = witness.iter().map(|share| (share.row, percent(share.value))).collect();
            let opening = format!(
                "These {} rows cannot all be on their right sides: {why}. {}",
                grouped(witness.len() as u64),
                match separation.witness_is_minimal {
                    true => "None of them can be left out of this proof.",
                    false => "A smaller proof may exist.",
                }
            );
            with_rows(opening, row_list(separated, &list))
        }
    }
}

/// Two rows for each direction that occurs on both sides.
fn contradictions(separated: &Separated, pairs: &[[usize; 2]], through_origin: bool) -> Vec<Block> {
    let count = pairs.len() as u64;
    let opening = match (through_origin, count) {
        (false, 1) => "Two rows have the same features and different labels: no classifier can separate \
                       them.".to_string(),
        (false, count) => format!(
            "{} pairs of rows have the same features and different labels: no classifier can separate them.",
            grouped(count)
        ),
        (true, 1) => "Two rows contradict each other: a boundary through the origin that has one on its right side has \
                      the other on its wrong side."
            .to_string(),
        (true, count) => format!(
            "{} pairs of rows contradict each other: a boundary through the origin that has one on its right side has \
             the other on its wrong side.",
            grouped(count)
        ),
    };
    let line = |&[a, b]: &[usize; 2]| format!("  {} and {}\n", named(separated, a), named(separated, b));
    with_rows(opening, pairs.iter().take(LISTED).map(line).collect::<String>() + &more(pairs.len()))
}

/// The rows whose removal separates the rest, and what is proved of every such set.
pub(super) fn removal(separated: &Separated, removal: &TimedRemoval) -> Vec<Block> {
    let Removal { rows, weight, at_least, is_smallest, leaves_both_sides, stopped, rest } = &removal.found;
    let is_weighted = separated.data.weights().is_some();
    let these = match (rows.len(), is_weighted) {
        (1, false) => "this row".to_string(),
        (1, true) => format!("this row (which counts {})", amount(*weight)),
        (count, false) => format!("these {} rows", grouped(count as u64)),
        (count, true) => format!("these {} rows (which count {})", grouped(count as u64), amount(*weight)),
    };
    let least = match is_weighted {
        true => format!("rows that count at least {}", amount(*at_least)),
        false => format!("at least {}", counted(*at_least as u64, "row", "rows")),
    };
    let mut text = match (rest, leaves_both_sides) {
        (None, _) if *is_smallest => format!("Every boundary goes through {these}: no row can be left."),
        (None, _) => format!("No smaller set was found than all rows: {these}."),
        (Some(rest), true) if rest.verdict == Verdict::Complete => format!(
            "Without {these} the other {} are completely separable, with {}; the checker has accepted the proof.",
            grouped(rest.rows as u64),
            ends(rest.margin.lower, rest.margin.upper)
        ),
        (Some(rest), false) if rest.verdict == Verdict::Complete => {
            format!("No smaller set was found than all rows of one class: {these}.")
        }
        _ => format!("Without {these} the others seem to be separable, but the proof was not accepted."),
    };
    text += &match is_smallest {
        true => format!(" This set is a smallest one: it is proved that {least} must be removed."),
        false => format!(
            " It is proved that {least} must be removed; whether a smaller set exists is open{}.",
            stopped.as_ref().map_or(String::new(), |why| format!(" ({why})"))
        ),
    };
    let weights = separated.data.weights();
    let remark = |i: usize| weights.map_or(String::new(), |weights| format!("counts {}", amount(weights[i])));
    let list = rows.iter().map(|&i| (i, remark(i))).collect::<Vec<_>>();
    with_rows(text, row_list(separated, &list))
}

/// A count, or another weight.
fn amount(weight: f64) -> String {
    if weight.fract() == 0.0 && weight < 1e15 {
        grouped(weight as u64)
    } else {
        rounded(weight, Rounding::Down)
    }
}

/// A paragraph after an empty line, and the rows that it is about.
fn with_rows(opening: String, rows: String) -> Vec<Block> {
    vec![Block::text("\n"), Block::paragraph(opening), Block::Text(rows)]
}

fn place(separated: &Separated, i: usize) -> String {
    place_of(&separated.name(), &separated.schema, &separated.data, i)
}

fn named(separated: &Separated, i: usize) -> String {
    printable(&format!("{} ({})", place(separated, i), separated.label(i))).into_owned()
}

/// Rows with their places, labels, and a remark on each.
fn row_list(separated: &Separated, rows: &[(usize, String)]) -> String {
    let listed = || rows.iter().take(LISTED);
    let places: Vec<String> = listed().map(|(i, _)| place(separated, *i)).collect();
    let width = column_width(places.iter().map(String::as_str), 0, usize::MAX);
    let labels = column_width(listed().map(|(i, _)| separated.label(*i)), 0, 30);
    let remarks = column_width(listed().map(|(_, remark)| remark.as_str()), 0, usize::MAX);
    let mut text = String::new();
    for ((i, remark), place) in listed().zip(&places) {
        let (place, label) = (cell(place, width), cell(separated.label(*i), labels));
        let line = format!("  {place}  {label}  {}", right_cell(remark, remarks));
        text += line.trim_end();
        text.push('\n');
    }
    text + &more(rows.len())
}

/// How much of a list is not shown.
pub(super) fn more(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        rest => format!("  … and {} more (⟦json⟧ has all)\n", grouped(rest as u64)),
    }
}

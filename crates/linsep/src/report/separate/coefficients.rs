//! The report of the columns: the status of every coefficient, the columns that separate alone, and the cure.

use super::lists::{LISTED, more};
use crate::classes::printable;
use crate::job::Separated;
use crate::numbers::{counted, grouped};
use crate::report::Block;
use crate::report::layout::{cell, column_width};
use crate::separate::{CoefficientStatus, ColumnFindings, Separation, Verdict};

/// The name of the bias in tables.
const BIAS: &str = "(bias)";

/// The name of the coefficient at a place.
pub(super) fn name(separated: &Separated, place: usize) -> String {
    if place == separated.data.columns() { BIAS.to_string() } else { separated.schema.feature_name(place) }
}

/// Names in a sentence; of many, the first.
fn names(separated: &Separated, places: &[usize]) -> String {
    const NAMED: usize = 6;
    let quoted: Vec<String> =
        places.iter().take(NAMED).map(|&place| format!("`{}`", name(separated, place))).collect();
    match (quoted.as_slice(), places.len().saturating_sub(NAMED)) {
        ([], _) => "no column".to_string(),
        ([only], 0) => only.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (shown, more) => format!("{} and {} more", shown.join(", "), grouped(more as u64)),
    }
}

/// The places in the order of R: the bias first, then the columns as they stand in the file, and their words in alphabetical order.
pub(super) fn in_order(separated: &Separated, findings: &ColumnFindings) -> Vec<usize> {
    let (features, all) = (separated.data.columns(), findings.statuses.len());
    let mut is_open = vec![true; features];
    let named = separated.settings.order.iter().copied().chain(0..features);
    let named = named.filter(|&place| is_open.get_mut(place).is_some_and(std::mem::take));
    (features..all).chain(named).filter(|&place| place < all).collect()
}

/// Whether the place is the reference level of a column of words, and set aside as such.
pub(super) fn is_reference(separated: &Separated, findings: &ColumnFindings, place: usize) -> bool {
    findings.statuses[place] == CoefficientStatus::Aliased && separated.settings.last.contains(&place)
}

/// The name and the status of every coefficient, in the words of the report, the bias first; none where they were not settled.
pub fn coefficient_words(separated: &Separated, separation: &Separation) -> Vec<(String, String)> {
    let of = |findings: &ColumnFindings| {
        let row = |place| (name(separated, place), describe(separated, findings, place));
        in_order(separated, findings).into_iter().map(row).collect()
    };
    separation.columns.as_ref().map_or_else(Vec::new, of)
}

/// A status in a table.
fn describe(separated: &Separated, findings: &ColumnFindings, place: usize) -> String {
    match findings.statuses[place] {
        CoefficientStatus::Finite => "finite".to_string(),
        CoefficientStatus::PlusInfinity => "+∞".to_string(),
        CoefficientStatus::MinusInfinity => "−∞".to_string(),
        CoefficientStatus::SignOpen => "infinite, sign open".to_string(),
        CoefficientStatus::SignNotSettled => "infinite, sign not determined".to_string(),
        CoefficientStatus::NotSettled => "not settled".to_string(),
        CoefficientStatus::Aliased if is_reference(separated, findings, place) => {
            "reference level".to_string()
        }
        CoefficientStatus::Aliased => match findings.relations.get(&place).map(Vec::as_slice) {
            Some([]) => "aliased: zero in every row".to_string(),
            Some([only]) if *only == separated.data.columns() => "aliased: the same in every row".to_string(),
            Some([only]) => format!("aliased: a multiple of {}", names(separated, &[*only])),
            Some(others) => format!("aliased: a combination of {}", names(separated, others)),
            None => "aliased".to_string(),
        },
    }
}

fn is_infinite(status: CoefficientStatus) -> bool {
    use CoefficientStatus::{MinusInfinity, PlusInfinity, SignNotSettled, SignOpen};
    matches!(status, PlusInfinity | MinusInfinity | SignOpen | SignNotSettled)
}

/// Whether all estimates are proved to be finite and unique once the reference levels of words are set aside.
pub(super) fn are_unique(separated: &Separated, separation: &Separation) -> bool {
    let is_unique = |(place, &status): (usize, &CoefficientStatus)| match status {
        CoefficientStatus::Finite => true,
        CoefficientStatus::Aliased => separated.settings.last.contains(&place),
        _ => false,
    };
    separation.verdict == Verdict::Overlap
        && separation.columns.as_ref().is_some_and(|found| found.statuses.iter().enumerate().all(is_unique))
}

/// The table of coefficients, or why there is none.
pub(super) fn table(separated: &Separated, separation: &Separation) -> Vec<Block> {
    let Some(findings) = &separation.columns else {
        let Some(why) = &separation.columns_stopped else { return Vec::new() };
        let open = match separation.verdict {
            Verdict::Complete => {
                "No coefficient has a finite estimate. Which of them have a definite sign, which are \
                 aliased, and which columns separate alone was not determined"
            }
            _ => "Which coefficients are finite was not determined",
        };
        return vec![Block::text("\n"), Block::paragraph(format!("{open}: {why}."))];
    };
    let order = in_order(separated, findings);
    let of = |wanted: &dyn Fn(CoefficientStatus) -> bool| -> Vec<usize> {
        order.iter().copied().filter(|&place| wanted(findings.statuses[place])).collect()
    };
    let finite = of(&|status| status == CoefficientStatus::Finite);
    let aliased = of(&|status| status == CoefficientStatus::Aliased);
    let is_reference = |place: &usize| separated.settings.last.contains(place);
    let has_others_aliased = aliased.iter().any(|place| !is_reference(place));
    let all = counted(order.len() as u64, "coefficient", "coefficients");
    if are_unique(separated, separation) {
        return vec![
            Block::text("\n"),
            Block::paragraph(format!(
                "All {} of a logistic regression have finite, unique estimates{}.",
                counted(finite.len() as u64, "coefficient", "coefficients"),
                if aliased.is_empty() { "" } else { ", words beside the reference level of their column" }
            )),
        ];
    }
    let positive = &separation.classes.positive;
    let mut text =
        format!("\nEstimates of a logistic regression for {}, each proved:\n", printable(positive));
    // Of many, those that are not finite come first.
    let mut listed = order.clone();
    if listed.len() > LISTED {
        let rank = |place: &usize| match findings.statuses[*place] {
            status if is_infinite(status) => 0,
            CoefficientStatus::NotSettled => 1,
            CoefficientStatus::Aliased => 2,
            _ => 3,
        };
        listed.sort_by_key(rank);
    }
    let shown: Vec<String> = listed.iter().take(LISTED).map(|&place| name(separated, place)).collect();
    let width = column_width(shown.iter().map(String::as_str), 6, 40);
    for (name, &place) in shown.iter().zip(&listed) {
        text += &format!("  {}  {}\n", cell(name, width), describe(separated, findings, place));
    }
    text += &more(listed.len());
    let mut blocks = vec![Block::Text(text)];
    let mut remarks = Vec::new();
    if listed.len() > LISTED {
        remarks.push(format!(
            "Of all {all} {} infinite, {} aliased and {} finite.",
            are(of(&is_infinite).len()),
            grouped(aliased.len() as u64),
            grouped(finite.len() as u64)
        ));
    }
    remarks.extend(
        glossary(
            findings,
            has_others_aliased,
            aliased.len() > aliased.iter().filter(|place| !is_reference(place)).count(),
        )
        .map(str::to_string),
    );
    if let Some(why) = &separation.columns_stopped {
        remarks.push(format!("Some of this was not determined: {why}."));
    }
    if !remarks.is_empty() {
        blocks.push(Block::paragraph(remarks.join(" ")));
    }
    blocks
}

fn are(count: usize) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { "is" } else { "are" })
}

/// The meaning of the words in the table, for those that occur.
fn glossary(
    findings: &ColumnFindings,
    has_aliased: bool,
    has_references: bool,
) -> impl Iterator<Item = &'static str> {
    let has = |wanted: CoefficientStatus| findings.statuses.contains(&wanted);
    let infinite = has(CoefficientStatus::PlusInfinity) || has(CoefficientStatus::MinusInfinity);
    [
        (infinite, "±∞: the likelihood keeps increasing as the coefficient goes there; a finite estimate \
                    printed by other software is only where its iterations stopped."),
        (
            has(CoefficientStatus::SignOpen),
            "Sign open: the likelihood can keep increasing with either sign, so the sign printed by other \
             software is arbitrary.",
        ),
        (
            has_references,
            "Reference level: the word that the other words of its column are compared with; choose it with ⟦reference⟧.",
        ),
        (
            has_aliased,
            "Aliased: a linear combination of the columns before it, so its coefficient is not identified; \
             it is left out for the others.",
        ),
    ]
    .into_iter()
    .filter_map(|(occurs, text)| occurs.then_some(text))
}

/// Complete separation: the columns that separate by themselves.
pub(super) fn alone(separated: &Separated, separation: &Separation) -> Vec<Block> {
    let Some(findings) = &separation.columns else { return Vec::new() };
    let sets = &findings.alone;
    let Some(smallest) = sets.iter().map(Vec::len).min() else { return Vec::new() };
    let at_least = findings.at_least;
    let text = match (smallest, sets.len()) {
        (1, 1) => format!(
            "{} alone separates the classes completely. If it is not known at prediction time, it leaks the \
             label: leave it out.",
            names(separated, &sets[0])
        ),
        (1, count) => {
            let columns: Vec<usize> = sets.iter().map(|set| set[0]).collect();
            format!(
                "{} columns each separate the classes completely alone: {}. Leave out those that are not \
                 known at prediction time, because they leak the label.",
                grouped(count as u64),
                names(separated, &columns)
            )
        }
        (2, 1) => {
            format!("{} separate the classes completely by themselves.{}", names(separated, &sets[0]), {
                if at_least == 2 { " No column does alone." } else { "" }
            })
        }
        (2, count) => {
            const SHOWN: usize = 5;
            let shown: Vec<String> = sets.iter().take(SHOWN).map(|set| names(separated, set)).collect();
            format!(
                "{} pairs of columns separate the classes completely by themselves: {}{}.{}",
                grouped(count as u64),
                shown.join("; "),
                if count > SHOWN { "; …" } else { "" },
                if at_least == 2 { " No column does alone." } else { "" }
            )
        }
        (size, _) => format!(
            "The smallest set of columns found that separates the classes completely has {} of {}: {}. {}",
            grouped(size as u64),
            grouped(separated.data.columns() as u64),
            names(separated, &sets[0]),
            match at_least {
                0 | 1 => "A smaller set may exist.".to_string(),
                bound if bound == size => "It is proved that no smaller set exists.".to_string(),
                bound => format!(
                    "A smaller set may exist; it is proved that every such set has at least {}.",
                    grouped(bound as u64)
                ),
            }
        ),
    };
    vec![Block::text("\n"), Block::paragraph(text)]
}

/// Quasi-complete separation: what remains without the separated rows.
pub(super) fn rest(separated: &Separated, separation: &Separation) -> Vec<Block> {
    if !separation.boundary_is_exact {
        let why = separation.stopped.as_deref().unwrap_or("a limit was reached");
        return vec![Block::paragraph(format!(
            "The other {} on the boundary that was found. Some of them overlap; which of them another boundary separates is open: {why}.",
            counted(separation.boundary.len() as u64, "row is", "rows are")
        ))];
    }
    let overlapping = counted(separation.boundary.len() as u64, "row overlaps", "rows overlap");
    let mut text =
        format!("The other {overlapping}: every boundary without a row on its wrong side goes through them.");
    if let Some(findings) = &separation.columns
        && findings.statuses.iter().all(|&status| status != CoefficientStatus::NotSettled)
    {
        let count =
            |wanted: CoefficientStatus| findings.statuses.iter().filter(|&&status| status == wanted).count();
        let left = findings.statuses.len() - count(CoefficientStatus::Aliased) - findings.dropped.len();
        let dropped = match findings.dropped.as_slice() {
            [] => String::new(),
            [one] => format!("{} is aliased, and ", names(separated, &[*one])),
            several => format!("{} are aliased, and ", names(separated, several)),
        };
        if left > 0 {
            text += &format!(
                " With these rows alone {dropped}the estimates of {} are finite{}.",
                if findings.dropped.is_empty() { "all coefficients" } else { "all other coefficients" },
                if count(CoefficientStatus::Finite) > 0 {
                    ": for those that are finite above, the same"
                } else {
                    ""
                }
            );
        }
    }
    vec![Block::paragraph(text)]
}

/// Advice for infinite coefficients.
pub(super) fn cure(separated: &Separated, separation: &Separation) -> Vec<Block> {
    let Some(findings) = &separation.columns else { return Vec::new() };
    let order = in_order(separated, findings);
    let infinite: Vec<usize> = order
        .into_iter()
        .filter(|&place| is_infinite(findings.statuses[place]) && place < separated.data.columns())
        .collect();
    if infinite.is_empty() {
        return Vec::new();
    }
    let levels: Vec<usize> =
        infinite.iter().copied().filter(|&place| separated.schema.words_column(place).is_some()).collect();
    let mut items = Vec::new();
    if separation.verdict == Verdict::QuasiComplete {
        items.push(format!(
            "If {} will not be known at prediction time, leave it out (⟦ignore=COLUMN⟧).",
            names(separated, &infinite)
        ));
    }
    if !levels.is_empty() {
        items.push(format!(
            "{} {} of words: consider merging rare levels in the data.",
            names(separated, &levels),
            if levels.len() == 1 { "is a level of a column" } else { "are levels of columns" }
        ));
    }
    items.push(
        "Keep the columns and penalise: a penalty makes every estimate finite (Firth's with little bias), and more rows may do so too. Leaving a column out \
         because its effect is too strong to be estimated hides that effect."
            .to_string(),
    );
    let heading = Block::text("\nWhat can be done:\n");
    std::iter::once(heading).chain(items.into_iter().map(Block::Item)).collect()
}

//! The facts about one pair of sides.

use super::coefficients::are_unique;
use super::{boundary_name, kind_of_margin};
use crate::job::{Decided, Separated};
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::report::Facts;
use crate::separate::{Bias, Separation, Verdict};
use crate::theory::margin::MarginInterval;

/// The explanation of a margin of the size of rounding errors.
const BY_ROUNDING: &str = "the margin is no larger than what rounding does to decimals: a number such as 0.1 has no exact binary \
    form, and the numbers as read are separable where the numbers as written may not be, such as a column that is the sum of \
    others. Leave such columns out (⟦ignore=COLUMN⟧), or write the numbers as whole ones in a smaller unit.";

/// The explanation where the decimals as written separate other rows, or none.
const ROWS_BY_ROUNDING: &str = "some rows are separated by no more than what rounding does to decimals: a number such as 0.1 has no exact \
    binary form, and the decimals as written, taken exactly, do not separate the same rows, such as with a column that is the sum of \
    others. Leave such columns out (⟦ignore=COLUMN⟧), or write the numbers as whole ones in a smaller unit.";

/// The verdict, with what it means.
pub(super) fn facts(separated: &Separated, decided: &Decided) -> Facts {
    let separation = &decided.separation;
    let bias = separated.settings.bias;
    let mut facts = vec![
        ("Data", data(separated, separation.rows)),
        ("Classes", classes(separated, separation)),
        ("Verdict", verdict(separation, bias)),
    ];
    if decided.separable_by_rounding {
        let caution = if separation.verdict == Verdict::Complete { BY_ROUNDING } else { ROWS_BY_ROUNDING };
        facts.push(("Caution", caution.to_string()));
    }
    if !matches!(separation.verdict, Verdict::QuasiComplete | Verdict::Overlap) {
        facts.push(("Margin", margin(separation, bias)));
    }
    let dimension = separated.data.columns() + usize::from(bias != Bias::None);
    let is_unique = are_unique(separated, separation);
    facts.extend(meaning(separation, bias, dimension, is_unique).map(|meaning| ("Meaning", meaning)));
    if separation.certificate.is_some() {
        let accepted = "the independent checker has accepted the certificate";
        facts.push((
            "Proof",
            match &decided.certificate {
                Some(path) => format!("{accepted}; it is in {}", path.display()),
                None => format!("{accepted}, which is not saved; name a file with ⟦output=CERTIFICATE⟧"),
            },
        ));
    }
    facts
}

/// What it means for a perceptron, the rank of the rows, and the time.
pub(super) fn details(separated: &Separated, decided: &Decided) -> Facts {
    let separation = &decided.separation;
    let bias = separated.settings.bias;
    let mut facts = Vec::new();
    if matches!(separation.verdict, Verdict::QuasiComplete | Verdict::Overlap) {
        facts.push(("Margin", margin(separation, bias)));
    }
    facts.push(("Bound", bound(decided, bias)));
    if let Some(rank) = separation.rank {
        facts.push(("Rank", describe_rank(rank, separated.data.columns(), bias)));
    }
    let threads = counted(separated.threads as u64, "thread", "threads");
    let (read, seconds) = (separated.read_seconds, decided.seconds);
    facts.push(("Time", format!("read {read:.3} s, decided in {seconds:.3} s, {threads}")));
    facts
}

/// The data, and the number of its rows that are used.
pub(super) fn data(separated: &Separated, rows: usize) -> String {
    let others = match separated.data.len() - rows.min(separated.data.len()) {
        0 => String::new(),
        others => format!(", {} of other classes", counted(others as u64, "more row", "more rows")),
    };
    format!(
        "{}: {}, {} ({}){others}",
        separated.name(),
        counted(rows as u64, "row", "rows"),
        counted(separated.data.columns() as u64, "feature", "features"),
        separated.notes.format,
    )
}

fn classes(separated: &Separated, separation: &Separation) -> String {
    let pair = &separation.classes;
    let counts = separated.data.class_counts();
    let signs = pair.signs_of(separated.data.classes());
    let of = |sign: i8| {
        let rows = signs.iter().zip(&counts).filter(|&(&own, _)| own == Some(sign)).map(|(_, &count)| count);
        counted(rows.sum::<usize>() as u64, "row", "rows")
    };
    format!("−1 = {} ({}), +1 = {} ({})", pair.negative.shortened(" or "), of(-1), pair.positive, of(1))
}

fn verdict(separation: &Separation, bias: Bias) -> String {
    let boundary = boundary_name(bias);
    match separation.verdict {
        Verdict::Complete => format!(
            "completely separable: some {boundary} has every row strictly on its right side. Proof: its weights, \
             checked exactly on every row."
        ),
        Verdict::QuasiComplete if !separation.boundary_is_exact => format!(
            "quasi-completely separable: some {boundary} has no row on its wrong side and {} of the {} rows strictly on their right \
             sides, but none has all of them there. Which rows every such {boundary} goes through is open: {}. Proof: weights, checked \
             exactly on every row, and a combination of rows that is exactly zero.",
            grouped((separation.rows - separation.boundary.len()) as u64),
            grouped(separation.rows as u64),
            separation.stopped.as_deref().unwrap_or("a limit was reached")
        ),
        Verdict::QuasiComplete => format!(
            "quasi-completely separable: some {boundary} has no row on its wrong side, but every such {boundary} goes \
             through the same {} of the {} rows. Proof: weights, checked exactly on every row, and a combination of \
             rows that is exactly zero.",
            grouped(separation.boundary.len() as u64),
            grouped(separation.rows as u64)
        ),
        Verdict::Overlap => format!(
            "not separable, the classes overlap: every {boundary} has some row on its wrong side (or every row lies on \
             it). Proof: a combination of a few rows that is exactly zero."
        ),
        Verdict::Undecided => {
            let why = separation.stopped.as_deref().unwrap_or("a limit was reached");
            let known = match (separation.complete_is_ruled_out, separation.overlap_is_ruled_out) {
                (true, _) => {
                    "Not completely separable, as the rows below prove; whether quasi-completely is open."
                }
                (false, true) => {
                    return format!(
                        "completely or quasi-completely separable; which of the two is undecided: {why}. Some {boundary} has no \
                         row on its wrong side, and {} of {} strictly on their right sides, by columns with one sign in all rows \
                         that are left when those before them are gone; checked exactly on every row.",
                        grouped((separation.rows - separation.boundary.len()) as u64),
                        counted(separation.rows as u64, "row", "rows")
                    );
                }
                (false, false) => "Only the margin below is proved.",
            };
            format!("undecided: {why}. {known}")
        }
    }
}

fn margin(separation: &Separation, bias: Bias) -> String {
    let MarginInterval { lower, upper, .. } = separation.margin;
    let mut text = format!(
        "{} ({}); R ≤ {}",
        ends(lower, upper),
        kind_of_margin(bias),
        rounded(separation.extent.radius_upper, Rounding::Up)
    );
    if separation.verdict == Verdict::Complete {
        if let Some(lower) = lower.filter(|&lower| lower < upper && upper < f64::MAX) {
            text += &format!("; the relative width of the interval is {:.1e}", (upper - lower) / upper);
        }
        if let Some(why) = &separation.stopped {
            text += &format!(": {why}");
        }
    }
    text
}

/// Both ends of a margin in print, where they are known.
pub(super) fn ends(lower: Option<f64>, upper: f64) -> String {
    // The largest float stands for an upper end that is not known.
    let most = (upper < f64::MAX).then(|| rounded(upper, Rounding::Up));
    match (lower, most) {
        (Some(lower), Some(most)) if lower == upper => format!("γ* = {most}"),
        (Some(lower), Some(most)) => format!("{} ≤ γ* ≤ {most}", rounded(lower, Rounding::Down)),
        (Some(lower), None) => format!("γ* ≥ {}, no upper end known", rounded(lower, Rounding::Down)),
        (None, Some(most)) => format!("γ* ≤ {most}"),
        (None, None) => "γ* is not known".to_string(),
    }
}

fn bound(decided: &Decided, bias: Bias) -> String {
    let means = match bias {
        Bias::Free => {
            "; a perceptron counts its bias in the norm: for the bound on its mistakes, choose ⟦bias=append⟧"
        }
        _ => ": no perceptron that starts at zero makes more mistakes, in any order",
    };
    match (decided.separation.verdict, decided.difficulty.lower, decided.difficulty.upper) {
        (Verdict::QuasiComplete | Verdict::Overlap, ..) | (_, None, _) => {
            "none: no margin is above zero, so Novikoff's theorem gives no bound".to_string()
        }
        (_, Some(lower), Some(upper)) => {
            let (lower, upper) = (rounded(lower, Rounding::Down), rounded(upper, Rounding::Up));
            format!("{lower} ≤ (R/γ*)² ≤ {upper}{means}")
        }
        (_, Some(lower), None) => {
            format!("(R/γ*)² ≥ {}, no upper end known", rounded(lower, Rounding::Down))
        }
    }
}

fn describe_rank(rank: usize, features: usize, bias: Bias) -> String {
    let bias = bias != Bias::None;
    let of = counted(features as u64, "feature", "features") + if bias { " and the bias" } else { "" };
    let full = features + usize::from(bias);
    let rank_shown = grouped(rank as u64);
    if rank == 0 {
        format!(
            "0 of {full}: every row is zero in {}",
            if full == 1 { "the only feature" } else { "all features" }
        )
    } else if rank < full {
        let dependent = full - rank;
        let are = if dependent == 1 { "is a linear combination" } else { "are linear combinations" };
        format!("{rank_shown} of {full}: of the {of}, {} {are} of the others", grouped(dependent as u64))
    } else if full == 1 {
        "1, full: some row is not zero".to_string()
    } else {
        format!("{rank_shown}, full: {of} are linearly independent")
    }
}

/// The meaning of the verdict for other methods; `is_unique` says whether only reference levels of words are combinations of others.
fn meaning(separation: &Separation, bias: Bias, dimension: usize, is_unique: bool) -> Option<String> {
    let logistic =
        if bias == Bias::None { "Logistic regression without an intercept" } else { "Logistic regression" };
    Some(match separation.verdict {
        Verdict::Complete => format!(
            "A perceptron converges. {logistic} has no finite maximum-likelihood estimate on these rows: its weights \
             grow without limit (complete separation)."
        ),
        Verdict::QuasiComplete => format!(
            "{logistic} has no finite maximum-likelihood estimate on these rows: some of its weights grow without \
             limit (quasi-complete separation), see below. No perceptron converges, because of the rows on the boundary."
        ),
        Verdict::Overlap => format!(
            "No perceptron converges. {logistic} has a finite maximum-likelihood estimate on these rows{}.",
            if separation.rank.is_none_or(|rank| rank == dimension) {
                ""
            } else if separation.rank == Some(0) {
                ", which is not unique: every row is zero, so any coefficients fit equally well"
            } else if is_unique {
                ", unique given the reference level of each categorical column"
            } else {
                ", which is not unique, since some features are linear combinations of others"
            }
        ),
        Verdict::Undecided if separation.overlap_is_ruled_out => format!(
            "{logistic} has no finite maximum-likelihood estimate on these rows: some of its weights grow without limit."
        ),
        Verdict::Undecided => return None,
    })
}

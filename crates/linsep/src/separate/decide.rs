//! From rows to a verdict whose certificate the checker has accepted.

use super::agreements::{Agreements, positive_agreements};
use super::budget::Budget;
use super::columns::{self, ColumnDetail, Ground};
use super::contradictions::{Contradictions, contradictions};
use super::faces::{Faces, Side};
use super::margin_interval::{self, Bounds};
use super::modular::{self, Echelon};
use super::nearest::Space;
use super::number::ExactVector;
use super::peel::peel;
use super::{Bias, Certificate, Examples, RowShare, SeparateSettings, Separation, Verdict, wide};
use crate::classes::{ClassError, ClassPair};
use crate::numbers::grouped;
use crate::observe::Observer;
use crate::random::Random;
use crate::theory::margin::{Extent, MarginInterval, MarginKind};
use crate::{Error, Theta, memory};
use linsep_check::{Claim, Columns, Sparse, Subject};
use rayon::prelude::*;
use std::cmp::Ordering;

/// The relative width of the margin interval that is aimed at by default.
const USUAL_GAP: f64 = 1e-6;
/// Data with more coordinates than this is decided by [`wide`]: a matrix of the support would take too long.
const FEW: usize = 2048;
/// The same for rows that are zero nearly everywhere, be they stored as sparse or not.
pub(super) const FEW_SPARSE: usize = 512;
/// Such rows have less than one entry in so many.
const SPARSE: usize = 8;
/// Why the margin of data with many features is not known better.
const FEW_PASSES: &str = "with so many features it comes from the first boundary found; ⟦gap⟧ narrows it \
                          within the time limit";
/// Why the margin of data with few features is not known better.
const NO_MORE_DIGITS: &str = "floating-point numbers of this size, or with so many features, are not more \
                              precise";

/// What the search ended with.
pub(super) enum Found {
    /// w vanishes on the boundary rows and is positive on all others; the support sums to 1 on each simplex.
    Positive {
        boundary: Vec<usize>,
        w: ExactVector,
        agreements: Agreements,
        support: Vec<(usize, [f64; 2])>,
    },
    Overlap,
    Undecided(String),
}

/// Decides whether a boundary separates the rows that belong to a side.
pub(crate) fn decide(
    examples: &Examples<'_>,
    classes: &ClassPair,
    settings: &SeparateSettings,
    observer: &mut dyn Observer,
) -> Result<Separation, Error> {
    let rows: Vec<usize> = examples.present().collect();
    let one_sided = |sign: i8| rows.iter().all(|&row| examples.signs()[row] == sign);
    if settings.bias == Bias::Free || rows.is_empty() {
        if one_sided(1) {
            return Err(ClassError::One { class: classes.positive.clone() }.into());
        }
        if one_sided(-1) {
            return Err(ClassError::One { class: classes.negative_name() }.into());
        }
    }
    let mut budget = Budget::new(observer, settings.max_seconds);
    let extent = Extent::of_rows(examples.data(), &rows, examples.bias_input());
    let is_wide = is_wide(examples, &rows);
    // The least that any method keeps for each row and each coordinate: with many features, weights as they are searched,
    // exact, rounded, and as they are checked.
    let least = 48 * rows.len() as u64 + if is_wide { 80 } else { 64 } * examples.dimension() as u64;
    if settings.max_memory.is_some_and(|limit| limit < least) {
        budget.end_for_memory(least);
        let separation = undecided(examples, classes, &rows, extent);
        return Ok(Separation { out_of_time: true, stopped: Some(budget.reason()), ..separation });
    }
    memory::check(least, || format!("deciding about {} rows", grouped(rows.len() as u64)))?;
    let space = space_of(examples, &extent, settings);
    let (mut faces, found, contradictions) = search(&space, &rows, is_wide, &mut budget);
    let mut separation = undecided(examples, classes, &rows, extent);
    separation.witness = shares(&faces.witness);
    separation.witness_is_minimal = faces.witness_is_minimal;
    separation.contradictions = contradictions.pairs;
    if !faces.witness.is_empty() {
        separation.margin.upper = 0.0;
        separation.complete_is_ruled_out = true;
    }
    budget.begin("proof");
    let (found, kernel) = proved(&mut faces, &rows, found, &mut budget);
    let (verdict, claim) = match found {
        Found::Undecided(reason) => {
            if let Some(upper) = margin_interval::proved_upper(examples, &budget.support) {
                separation.margin.upper = separation.margin.upper.min(upper);
            }
            separation.out_of_time = budget.is_over();
            separation.passes = budget.passes;
            rule_out_overlap(examples, &rows, &faces, &mut separation, &mut budget);
            separation.stopped = Some(reason);
            if settings.columns != ColumnDetail::None && separation.certificate.is_some() {
                separation.columns_stopped = separation.stopped.clone();
            }
            return Ok(separation);
        }
        Found::Overlap => {
            separation.rank = faces.known_rank();
            let kernel = kernel.unwrap_or_default();
            (Verdict::Overlap, Claim::Overlap { combination: faces.combination(), kernel })
        }
        Found::Positive { boundary, w, .. } if !boundary.is_empty() => {
            // Without the proof that every such boundary goes through them, it is open which rows are on each.
            separation.boundary_is_exact = kernel.is_some();
            separation.stopped = kernel.is_none().then(|| budget.reason());
            let kernel = kernel.unwrap_or_default();
            separation.weights = Some(unit_weights(examples, &w));
            separation.boundary = boundary;
            separation.margin.lower = Some(0.0);
            let claim =
                Claim::QuasiComplete { weights: w.to_sparse(), combination: faces.combination(), kernel };
            (Verdict::QuasiComplete, claim)
        }
        Found::Positive { w, agreements, support, .. } => {
            let mut bounds = Bounds::new(examples, w, &agreements);
            bounds.offer_combination(examples, &support);
            (
                Verdict::Complete,
                complete(space, &rows, bounds, settings, is_wide, &mut separation, &mut budget),
            )
        }
    };
    if separation.rank.is_none() && !is_wide {
        separation.rank = Some(rank(examples, &rows));
    }
    separation.out_of_time = budget.is_over();
    separation.passes = budget.passes;
    accept(examples, verdict, claim, &mut separation, &mut budget);
    if settings.columns != ColumnDetail::None && separation.certificate.is_some() {
        let boundary = if verdict == Verdict::Overlap { rows.clone() } else { separation.boundary.clone() };
        if columns::are_found(&rows, examples, verdict, settings) {
            faces.span();
        }
        let ground = Ground { examples, rows: &rows, verdict, faces: &faces, boundary: &boundary };
        columns::add(&ground, settings, &mut separation, &mut budget);
    }
    Ok(separation)
}

/// What proves the rows of B, if the time is enough for it. Overlap without this proof is undecided.
fn proved(
    faces: &mut Faces<'_>,
    rows: &[usize],
    found: Found,
    budget: &mut Budget<'_>,
) -> (Found, Option<Vec<Sparse>>) {
    let boundary = match &found {
        Found::Overlap => rows,
        Found::Positive { boundary, .. } => boundary,
        Found::Undecided(_) => return (found, None),
    };
    let kernel = faces.prove(boundary, &mut || budget.is_over());
    match found {
        Found::Overlap if kernel.is_none() => (Found::Undecided(budget.reason()), None),
        found => (found, kernel),
    }
}

/// Whether the way for many features is taken: it depends on the numbers alone, not on how they are stored.
fn is_wide(examples: &Examples<'_>, rows: &[usize]) -> bool {
    let dimension = examples.dimension();
    let entries =
        || -> usize { rows.par_iter().with_min_len(1024).map(|&row| examples.entries(row).count()).sum() };
    dimension > FEW || (dimension > FEW_SPARSE && entries() < rows.len() * dimension / SPARSE)
}

/// What columns with one sign prove where the search came to no end: a boundary has no row on its wrong side and some on their right
/// sides, so the rows do not overlap. If a combination of rows is known to vanish too, they are quasi-completely
/// separable, and only which rows are on every such boundary is open.
fn rule_out_overlap(
    examples: &Examples<'_>,
    rows: &[usize],
    faces: &Faces<'_>,
    separation: &mut Separation,
    budget: &mut Budget<'_>,
) {
    let peeled = peel(examples, rows, &[]);
    if peeled.core.len() == rows.len() {
        return;
    }
    let w = peeled.lift_exactly(examples, ExactVector::from_f64(&vec![0.0; examples.dimension()]));
    let signs: Vec<Ordering> =
        rows.par_iter().with_min_len(256).map(|&row| w.dot(examples, row).sign()).collect();
    if signs.contains(&Ordering::Less) || !signs.contains(&Ordering::Greater) {
        return;
    }
    separation.overlap_is_ruled_out = true;
    separation.boundary =
        rows.iter().zip(signs).filter(|(_, sign)| sign.is_eq()).map(|(&row, _)| row).collect();
    separation.weights = Some(unit_weights(examples, &w));
    separation.margin.lower = Some(0.0);
    if !faces.witness.is_empty() {
        let (weights, combination) = (w.to_sparse(), faces.combination());
        let claim = Claim::QuasiComplete { weights, combination, kernel: Vec::new() };
        accept(examples, Verdict::QuasiComplete, claim, separation, budget);
    }
}

/// What is known before anything is proved but the lengths of the rows.
fn undecided(examples: &Examples<'_>, classes: &ClassPair, rows: &[usize], extent: Extent) -> Separation {
    let (mut extent, mut upper) = (extent, extent.shortest);
    if examples.bias() == Bias::Free {
        extent = Extent::of_rows(examples.data(), rows, 0.0);
        // Half the distance between two rows is at most the length of the longest.
        upper = extent.radius_upper;
    }
    Separation {
        classes: classes.clone(),
        verdict: Verdict::Undecided,
        complete_is_ruled_out: false,
        certificate: None,
        margin: MarginInterval { lower: None, upper, kind: kind_of(examples.bias()) },
        rows: rows.len(),
        extent,
        rank: None,
        witness: Vec::new(),
        witness_is_minimal: true,
        contradictions: Vec::new(),
        boundary: Vec::new(),
        boundary_is_exact: false,
        overlap_is_ruled_out: false,
        weights: None,
        closest: Vec::new(),
        support: 0,
        passes: 0,
        out_of_time: false,
        stopped: None,
        columns: None,
        columns_stopped: None,
    }
}

/// Narrows the margin of completely separable rows to the gap asked for, and gives the claim.
fn complete(
    space: Space<'_>,
    rows: &[usize],
    mut bounds: Bounds,
    settings: &SeparateSettings,
    is_wide: bool,
    separation: &mut Separation,
    budget: &mut Budget<'_>,
) -> Claim {
    (budget.lower, budget.upper) = (Some(bounds.lower), Some(bounds.upper));
    let gap = settings.gap.unwrap_or(USUAL_GAP);
    if is_wide {
        // The first separator is enough, unless a margin was asked for.
        let usual = if settings.gap.is_some() { u64::MAX } else { 0 };
        let passes = settings.max_passes.unwrap_or(usual);
        if passes > 0 {
            wide::narrow(&space, rows, &mut bounds, gap, passes, budget);
        }
    } else {
        let two_hulls = settings.bias == Bias::Free;
        bounds.narrow(&Space { two_hulls, ..space }, rows, gap, budget);
    }
    if !bounds.is_within(gap) {
        separation.stopped = Some(match is_wide {
            _ if budget.is_over() => budget.reason(),
            true => FEW_PASSES.to_string(),
            false => NO_MORE_DIGITS.to_string(),
        });
    }
    separation.margin.lower = Some(bounds.lower);
    separation.margin.upper = bounds.upper;
    separation.weights = Some(unit_weights(space.examples, &bounds.weights));
    separation.support = bounds.combination.len();
    separation.closest = shares(&bounds.closest);
    Claim::Complete { weights: bounds.weights.to_sparse(), margin: bounds.to_claim() }
}

/// The verdict on rows that these weights, which belong to their bias, are known to separate. It is short work, so that nothing
/// interrupts it.
pub(super) fn separated_by(examples: &Examples<'_>, classes: &ClassPair, w: ExactVector) -> Separation {
    let rows: Vec<usize> = examples.present().collect();
    let extent = Extent::of_rows(examples.data(), &rows, examples.bias_input());
    let mut separation = undecided(examples, classes, &rows, extent);
    let Ok(agreements) = positive_agreements(examples, &rows, &w, extent.radius_upper) else {
        return separation;
    };
    let mut bounds = Bounds::new(examples, w, &agreements);
    // Any rows bound the margin from above: here those nearest to the boundary, one of each side.
    let of = |side: i8| {
        let near = agreements.closest.iter().map(|&(row, _)| row).chain(rows.iter().copied());
        near.into_iter().find(|&row| examples.signs()[row] == side)
    };
    let support: Vec<(usize, [f64; 2])> = match examples.bias() {
        Bias::Free => [1, -1].into_iter().filter_map(of).map(|row| (row, [1.0, 0.0])).collect(),
        _ => agreements.closest.first().map(|&(row, _)| (row, [1.0, 0.0])).into_iter().collect(),
    };
    bounds.offer_combination(examples, &support);
    separation.margin.lower = Some(bounds.lower);
    separation.margin.upper = bounds.upper;
    separation.weights = Some(unit_weights(examples, &bounds.weights));
    separation.support = bounds.combination.len();
    separation.closest = shares(&bounds.closest);
    let claim = Claim::Complete { weights: bounds.weights.to_sparse(), margin: bounds.to_claim() };
    accept(examples, Verdict::Complete, claim, &mut separation, &mut Budget::new(&mut (), None));
    separation
}

/// Asks the checker; only what it accepts becomes the verdict.
fn accept(
    examples: &Examples<'_>,
    verdict: Verdict,
    claim: Claim,
    separation: &mut Separation,
    budget: &mut Budget<'_>,
) {
    let certificate = Certificate {
        subject: Subject {
            fingerprint: examples.data().fingerprint().to_string(),
            rows: examples.len(),
            features: examples.data().columns(),
            positive: vec![separation.classes.positive.clone()],
            negative: separation.classes.negative.clone().into(),
        },
        bias: examples.bias(),
        claim,
        columns: Columns::default(),
    };
    match budget.check(&certificate, examples) {
        Some(Ok(_)) => (separation.verdict, separation.certificate) = (verdict, Some(certificate)),
        failed => {
            // Nothing is told that was not checked.
            (separation.margin.lower, separation.weights) = (None, None);
            separation.boundary.clear();
            separation.closest.clear();
            separation.out_of_time |= failed.is_none();
            separation.stopped = Some(match failed {
                Some(Err(rejected)) => format!("the checker did not accept the proof: {}", rejected.reason),
                _ => budget.reason(),
            });
        }
    }
}

/// The space of one simplex, in which verdicts are found.
pub(super) fn space_of<'a>(
    examples: &'a Examples<'a>,
    extent: &Extent,
    settings: &SeparateSettings,
) -> Space<'a> {
    let radius = extent.radius_upper;
    Space {
        examples,
        two_hulls: false,
        exponent: if (1e-60..=1e60).contains(&radius) { 0 } else { -libm::ilogb(radius).clamp(-1000, 1000) },
        radius,
        seed: settings.seed,
        memory: settings.max_memory.unwrap_or(4 << 30),
    }
}

/// Finds the verdict and what proves it.
pub(super) fn search<'a>(
    space: &Space<'a>,
    rows: &[usize],
    is_wide: bool,
    budget: &mut Budget<'_>,
) -> (Faces<'a>, Found, Contradictions) {
    let mut faces = Faces::new(space.examples);
    if is_wide {
        budget.begin("contradictions");
        let contradictions = contradictions(space.examples);
        faces.add_contradictions(&contradictions);
        let (faces, found) = wide::decide(space, faces, rows, budget);
        return (faces, found, contradictions);
    }
    let two_hulls = space.examples.bias() == Bias::Free;
    let first = faces.locate(&Space { two_hulls, ..*space }, rows, &[], budget);
    let (support, free) = match first {
        None => return (faces, Found::Undecided(budget.reason()), Contradictions::default()),
        Some(Side::Positive { w, agreements, support }) => {
            let found = Found::Positive { boundary: Vec::new(), w, agreements, support };
            return (faces, found, Contradictions::default());
        }
        Some(Side::Meets { support, free }) => (support, free),
    };
    // Rows that contradict each other by themselves are the plainest witness.
    let contradictions = contradictions(space.examples);
    faces.add_contradictions(&contradictions);
    faces.add_circuit(support, free);
    loop {
        let (boundary, outside) = faces.split(rows);
        if outside.is_empty() {
            return (faces, Found::Overlap, contradictions);
        }
        match faces.locate(space, &outside, &[], budget) {
            None => return (faces, Found::Undecided(budget.reason()), contradictions),
            Some(Side::Positive { w, agreements, support }) => {
                return (faces, Found::Positive { boundary, w, agreements, support }, contradictions);
            }
            Some(Side::Meets { support, free }) => faces.add_circuit(support, free),
        }
    }
}

fn kind_of(bias: Bias) -> MarginKind {
    match bias {
        Bias::None => MarginKind::ThroughOrigin,
        Bias::Append(_) => MarginKind::AppendedBias,
        Bias::Free => MarginKind::FreeBias,
    }
}

fn shares(rows: &[(usize, f64)]) -> Vec<RowShare> {
    rows.iter().map(|&(row, value)| RowShare { row, value }).collect()
}

/// The weights divided by their length, rounded; for a free bias by the length of those of the features.
fn unit_weights(examples: &Examples<'_>, w: &ExactVector) -> Theta {
    let (mut weights, _) = w.rounded();
    let columns = examples.data().columns();
    let counted = if examples.bias() == Bias::Free { columns } else { weights.len() };
    let norm = crate::linalg::norm_squared(&weights[..counted]).sqrt();
    if norm > 0.0 {
        weights.iter_mut().for_each(|x| *x /= norm);
    }
    let bias = weights.get(columns).copied().unwrap_or(0.0);
    weights.truncate(columns);
    Theta { weights, bias, bias_input: examples.bias_input() }
}

/// The rank of the rows modulo a prime, which is their rank but for an accident of probability about 2⁻⁶¹.
fn rank(examples: &Examples<'_>, rows: &[usize]) -> usize {
    let mut echelon = Echelon::new(examples.dimension());
    let mut rest = rows;
    loop {
        // Rows before the first that a random vector tells apart from the span are in it, and stay in it.
        let orthogonal = echelon.orthogonal(&mut Random::new(echelon.rank() as u64));
        let outside = |&&row: &&usize| modular::dot(&orthogonal, examples.entries(row)) != 0;
        let Some(next) = rest.iter().position(|row| outside(&row)) else { return echelon.rank() };
        let (some, others) = rest[next..].split_at((2 * examples.dimension()).min(rest.len() - next));
        for &row in some {
            echelon.insert_f64(examples.entries(row));
            if echelon.rank() == examples.dimension() {
                return echelon.rank();
            }
        }
        rest = others;
    }
}

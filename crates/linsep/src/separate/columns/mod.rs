//! Statistics after the verdict: which coefficients of a logistic regression are finite, which grow without
//! limit and to which side, which are not identified; and which few columns separate the classes by themselves.
//!
//! K = {δ : ⟨δ, z⟩ ≥ 0 for every row} holds the directions along which the likelihood never falls, and B the rows on
//! which all of K vanishes. Columns that are linear combinations of earlier ones, the bias first, are *aliased*: they are set aside,
//! as R does, and δ is zero there. Any other coefficient j is *finite* if δ_j = 0 on all of K, *+∞* if δ_j ≥ 0 on K
//! and > 0 somewhere, *−∞* likewise, and *of open sign* if K holds both signs. Each is proved by a claim of the certificate, and
//! the checker accepts the claims before they are told.

mod dependence;
mod projection;
mod sets;
mod signs;
mod single;

use super::budget::Budget;
use super::decide::space_of;
use super::examples::Examples;
use super::faces::Faces;
use super::number::ExactVector;
use super::{SeparateSettings, Separation, Verdict};
use crate::theory::margin::Extent;
use dependence::{Dependence, in_order};
use linsep_check::{Claim, Columns, Sparse, Status};
use projection::Projection;
use serde::{Deserialize, Serialize};
use sets::sets;
use signs::{Signs, side, signs};
use std::collections::BTreeMap;

/// Why data above the usual size has no findings.
const TOO_LARGE: &str = "for data of this size it needs ⟦columns=all⟧";

/// Why some findings are open though no limit was asked for.
const ENOUGH: &str = "the default work limit was reached; ⟦columns=all⟧ continues";

/// How much is said about columns beside the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnDetail {
    /// Nothing.
    #[default]
    None,
    /// The status of every coefficient and the sets of columns that separate, for data of usual size.
    Usual,
    /// The same for data of any size.
    All,
}

/// The maximum-likelihood estimate of one coefficient of a logistic regression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoefficientStatus {
    /// It is finite, and depends on the rows of B only.
    Finite,
    /// It is +∞.
    #[serde(rename = "+inf")]
    PlusInfinity,
    /// It is −∞.
    #[serde(rename = "-inf")]
    MinusInfinity,
    /// It is infinite, and either sign is possible.
    #[serde(rename = "infinite-sign-open")]
    SignOpen,
    /// It is infinite; whether one sign is excluded was not determined.
    #[serde(rename = "infinite-sign-not-settled")]
    SignNotSettled,
    /// The column is a linear combination of columns before it, and set aside.
    Aliased,
    /// A limit was reached before this was settled.
    NotSettled,
}

/// Proved statements about the columns.
#[derive(Clone, Debug, Default)]
pub struct ColumnFindings {
    /// The status of each coefficient: the features, then the bias where there is one.
    pub statuses: Vec<CoefficientStatus>,
    /// For each aliased place the others of its relation.
    pub relations: BTreeMap<usize, Vec<usize>>,
    /// Quasi-complete: places that become aliased if only the rows of B are kept. All others have finite estimates then.
    pub dropped: Vec<usize>,
    /// Complete: sets of features that separate by themselves, with the bias; the smallest first.
    pub alone: Vec<Vec<usize>>,
    /// Complete: every set of features that separates has at least so many; 0 if nothing is proved.
    pub at_least: usize,
}

/// Limits of the work, which do not depend on the clock: the answer is the same everywhere.
pub(super) struct Effort {
    /// Most coordinates of completely separable rows, of which every coefficient is infinite.
    complete: usize,
    /// Most coordinates of other rows.
    dimension: usize,
    /// Most rows times coordinates.
    cells: usize,
    /// Most work on signs, and again on sets of columns.
    work: u64,
}

impl Effort {
    const USUAL: Self = Self { complete: 128, dimension: 512, cells: 1 << 24, work: 1_000_000_000 };
    const ALL: Self = Self { complete: usize::MAX, dimension: usize::MAX, cells: usize::MAX, work: u64::MAX };

    /// Whether data of this shape is within the limits.
    fn allows(&self, verdict: Verdict, rows: usize, dimension: usize) -> bool {
        let most = if verdict == Verdict::Complete { self.complete } else { self.dimension };
        dimension <= most && rows.saturating_mul(dimension) <= self.cells
    }

    fn allowance(&self) -> Allowance {
        Allowance { left: self.work }
    }
}

/// Work that may still be done.
pub(super) struct Allowance {
    left: u64,
}

impl Allowance {
    /// What it takes to look for the nearest point of so many rows in so many coordinates: a few passes over the rows,
    /// and matrices as large as the support.
    fn cost(rows: usize, width: usize) -> u64 {
        let (rows, width) = (rows as u64, width as u64);
        (8 * rows * width).saturating_add(4 * width * width * width)
    }

    /// Takes the work of one search, if it is left.
    fn take(&mut self, rows: usize, width: usize) -> bool {
        let cost = Self::cost(rows, width);
        let enough = cost <= self.left;
        self.left = self.left.saturating_sub(cost);
        enough
    }
}

/// The verdict with the proof that the engine found.
pub(super) struct Ground<'a> {
    pub(super) examples: &'a Examples<'a>,
    /// Rows that belong to a side.
    pub(super) rows: &'a [usize],
    pub(super) verdict: Verdict,
    pub(super) faces: &'a Faces<'a>,
    /// B.
    pub(super) boundary: &'a [usize],
}

/// Claims about columns, the kernel that goes with them, and what they mean.
pub(super) struct Explained {
    pub(super) columns: Columns,
    /// The kernel that the verdict's claim needs for coefficients that are finite.
    pub(super) kernel: Vec<Sparse>,
    pub(super) findings: ColumnFindings,
}

/// Whether anything is said of the columns of data of this size.
pub(super) fn are_found(
    rows: &[usize],
    examples: &Examples<'_>,
    verdict: Verdict,
    settings: &SeparateSettings,
) -> bool {
    effort(settings).allows(verdict, rows.len(), examples.dimension())
}

fn effort(settings: &SeparateSettings) -> Effort {
    if settings.columns == ColumnDetail::All { Effort::ALL } else { Effort::USUAL }
}

/// Adds to an accepted verdict what can be proved of the columns, if the checker accepts that too.
pub(super) fn add(
    ground: &Ground<'_>,
    settings: &SeparateSettings,
    separation: &mut Separation,
    budget: &mut Budget<'_>,
) {
    let effort = effort(settings);
    if !effort.allows(ground.verdict, ground.rows.len(), ground.examples.dimension()) {
        separation.columns_stopped = Some(TOO_LARGE.to_string());
        return;
    }
    let Some(mut certificate) = separation.certificate.clone() else { return };
    let Explained { columns, kernel, findings } = explain(ground, &effort, settings, budget);
    let unsettled = [CoefficientStatus::NotSettled, CoefficientStatus::SignNotSettled];
    if findings.statuses.iter().any(|status| unsettled.contains(status)) {
        separation.columns_stopped =
            Some(if budget.is_over() { budget.reason() } else { ENOUGH.to_string() });
    }
    if columns.coefficients.iter().any(|(_, status)| *status == Status::Finite)
        && let Claim::QuasiComplete { kernel: own, .. } | Claim::Overlap { kernel: own, .. } =
            &mut certificate.claim
    {
        *own = kernel;
    }
    certificate.columns = columns;
    match budget.check(&certificate, ground.examples) {
        Some(Ok(_)) => (separation.certificate, separation.columns) = (Some(certificate), Some(findings)),
        // Nothing is told that was not checked. The verdict was accepted before.
        None => separation.columns_stopped = Some(budget.reason()),
        Some(Err(rejected)) => {
            let problem = format!("the checker did not accept the proof: {}", rejected.reason);
            separation.columns_stopped = Some(problem);
        }
    }
}

/// Finds the status of every coefficient and the sets of columns that separate, with their proofs.
pub(super) fn explain(
    ground: &Ground<'_>,
    effort: &Effort,
    settings: &SeparateSettings,
    budget: &mut Budget<'_>,
) -> Explained {
    let examples = ground.examples;
    let (features, dimension) = (examples.data().columns(), examples.dimension());
    let mut statuses = vec![CoefficientStatus::NotSettled; dimension];
    let mut claims: BTreeMap<usize, Status> = BTreeMap::new();
    let mut findings = ColumnFindings::default();
    budget.begin("aliased columns");

    let all = Dependence::new(examples, ground.rows, in_order(features, dimension, settings));
    // Where features stand in that order; the bias is named last.
    let mut position = vec![usize::MAX; dimension];
    for (k, place) in in_order(features, dimension, settings).into_iter().enumerate() {
        position[place] = if place < features { k } else { usize::MAX };
    }
    let mut is_kept = vec![true; dimension];
    let mut relations: BTreeMap<usize, Sparse> = BTreeMap::new();
    for place in all.dependent() {
        is_kept[place] = false;
        if !budget.is_over()
            && let Some(relation) = all.relation(place)
        {
            statuses[place] = CoefficientStatus::Aliased;
            let mut others = used(&relation, place);
            others.sort_by_key(|&other| position[other]);
            findings.relations.insert(place, others);
            relations.insert(place, relation.to_sparse());
            claims.insert(place, Status::Aliased { relation: relation.to_sparse() });
        }
    }
    let kept: Vec<usize> =
        in_order(features, dimension, settings).into_iter().filter(|&place| is_kept[place]).collect();
    // Without all relations nothing can be said of the others.
    let is_known = relations.len() + kept.len() == dimension && !budget.is_over();

    let boundary = on_boundary(ground, &kept, &relations);
    let mut columns = Columns::default();
    if is_known {
        let mut is_finite = vec![false; dimension];
        for &place in &boundary.finite {
            is_finite[place] = true;
            statuses[place] = CoefficientStatus::Finite;
            claims.insert(place, Status::Finite);
        }
        findings.dropped =
            if ground.verdict == Verdict::QuasiComplete { boundary.dropped } else { Vec::new() };
        if ground.verdict != Verdict::Overlap {
            budget.begin("infinite coefficients");
            infinite(
                ground,
                &kept,
                &is_finite,
                effort,
                settings,
                budget,
                &mut columns,
                &mut claims,
                &mut statuses,
            );
        }
    }
    if ground.verdict == Verdict::Complete {
        // K has an inner point: no coefficient that is kept is zero throughout. At most its sign is open.
        for &place in kept.iter().filter(|_| is_known) {
            if statuses[place] == CoefficientStatus::NotSettled {
                statuses[place] = CoefficientStatus::SignNotSettled;
            }
        }
        budget.begin("sets of columns");
        // A set of columns is a set: without a bias a reference level can be kept, and it came last.
        let kept: Vec<usize> = (0..features).filter(|&place| is_kept[place]).collect();
        let found = sets(examples, ground.rows, &kept, effort, settings, budget);
        findings.alone = found.alone.iter().map(|alone| alone.columns.clone()).collect();
        findings.at_least = found.at_least;
        (columns.alone, columns.not_alone, columns.at_least) = (found.alone, found.not_alone, found.at_least);
    }
    columns.coefficients = claims.into_iter().collect();
    findings.statuses = statuses;
    Explained { columns, kernel: boundary.kernel, findings }
}

/// The places of a vector that are not zero, but for one.
fn used(vector: &ExactVector, but: usize) -> Vec<usize> {
    let places = vector.values.iter().enumerate().filter(|(place, value)| *place != but && !value.is_zero());
    places.map(|(place, _)| place).collect()
}

/// What the rows of B say of the places.
struct OnBoundary {
    /// Places where all of K is zero.
    finite: Vec<usize>,
    /// Vectors that span, with the relations among all rows, what is orthogonal to B in the places that B uses.
    kernel: Vec<Sparse>,
    /// Places, in the order, that depend on those before on the rows of B, but not on all rows.
    dropped: Vec<usize>,
}

/// On B, K is orthogonal to every row, so in the places U that B uses it lies in the kernel of B: a place of U where all of
/// the kernel is zero is finite. Aliased places of U add just their relations to the kernel.
fn on_boundary(ground: &Ground<'_>, kept: &[usize], relations: &BTreeMap<usize, Sparse>) -> OnBoundary {
    let examples = ground.examples;
    let mut is_used = vec![false; examples.dimension()];
    for &row in ground.boundary {
        examples.entries(row).for_each(|(place, _)| is_used[place] = true);
    }
    let places: Vec<usize> = kept.iter().copied().filter(|&place| is_used[place]).collect();
    let dependence = Dependence::new(examples, ground.boundary, places);
    let mut kernel: Vec<Sparse> = Vec::new();
    let dependent = dependence.dependent();
    let mut is_finite: Vec<bool> = is_used.clone();
    for &place in &dependent {
        match dependence.relation(place) {
            Some(relation) => {
                relation
                    .values
                    .iter()
                    .zip(&mut is_finite)
                    .for_each(|(value, finite)| *finite &= value.is_zero());
                kernel.push(relation.to_sparse());
            }
            None => is_finite.fill(false),
        }
    }
    kernel
        .extend(relations.iter().filter(|&(&place, _)| is_used[place]).map(|(_, relation)| relation.clone()));
    let is_dropped = |place: &usize| !is_used[*place] || dependent.contains(place);
    OnBoundary {
        finite: kept.iter().copied().filter(|&place| is_finite[place]).collect(),
        kernel,
        dropped: kept.iter().copied().filter(is_dropped).collect(),
    }
}

/// Settles the coefficients that are infinite.
#[allow(clippy::too_many_arguments)]
fn infinite(
    ground: &Ground<'_>,
    kept: &[usize],
    is_finite: &[bool],
    effort: &Effort,
    settings: &SeparateSettings,
    budget: &mut Budget<'_>,
    columns: &mut Columns,
    claims: &mut BTreeMap<usize, Status>,
    statuses: &mut [CoefficientStatus],
) {
    let mut is_boundary = vec![false; ground.examples.len()];
    ground.boundary.iter().for_each(|&row| is_boundary[row] = true);
    let outside: Vec<usize> = ground.rows.iter().copied().filter(|&row| !is_boundary[row]).collect();
    let basis = &ground.faces.basis;
    let projection = Projection::new(ground.examples, basis, &outside, kept.to_vec(), true);
    let Some(projection) = budget.with_memory(projection, ground.rows.len() * kept.len()) else { return };
    let examples = projection.examples();
    let every: Vec<usize> = (0..examples.len()).collect();
    let space = space_of(&examples, &Extent::of_rows(examples.data(), &every, 0.0), settings);
    let finite: Vec<bool> = kept.iter().map(|&place| is_finite[place]).collect();
    let Signs { members, seen, mut forced } =
        signs(&projection, space, ground.faces.shares(), &finite, effort.allowance(), budget);
    // Only members that are cited are kept.
    let mut number: BTreeMap<usize, usize> = BTreeMap::new();
    let mut cite = |member: usize| {
        let next = number.len();
        *number.entry(member).or_insert_with(|| {
            columns.members.push(members[member].to_sparse());
            next
        })
    };
    for (k, &place) in kept.iter().enumerate().filter(|&(k, _)| !finite[k]) {
        let mut combination = |positive: bool| {
            let shares = forced[k][side(positive)].take()?;
            Some(shares.iter().map(|(row, share)| (*row, share.to_dyadic())).collect::<Sparse>())
        };
        statuses[place] = match seen[k] {
            [Some(positive), Some(negative)] => {
                let (positive, negative) = (cite(positive), cite(negative));
                claims.insert(place, Status::Open { positive, negative });
                CoefficientStatus::SignOpen
            }
            [Some(member), None] => {
                let member = cite(member);
                match combination(false) {
                    Some(combination) => {
                        claims.insert(place, Status::Infinite { positive: true, member, combination });
                        CoefficientStatus::PlusInfinity
                    }
                    None => CoefficientStatus::SignNotSettled,
                }
            }
            [None, Some(member)] => {
                let member = cite(member);
                match combination(true) {
                    Some(combination) => {
                        claims.insert(place, Status::Infinite { positive: false, member, combination });
                        CoefficientStatus::MinusInfinity
                    }
                    None => CoefficientStatus::SignNotSettled,
                }
            }
            [None, None] => CoefficientStatus::NotSettled,
        };
    }
}

//! Data with many features: contradictions, peeling and dual coordinate descent decide nearly all of it, without a matrix. What they
//! leave open is decided by least squares, and by the nearest point of the rows that matter; where most columns can be eliminated, for the
//! smaller question that is left.
//!
//! Each way takes its turn, with twice the effort of its last one, until one of them has an answer that whole numbers confirm, or the
//! budget ends.

use super::SeparateSettings;
use super::agreements::{Agreements, positive_agreements};
use super::budget::Budget;
use super::coordinate_descent::CoordinateDescent;
use super::decide::{Found, search, space_of};
use super::eliminate::{Eliminated, eliminate};
use super::examples::Examples;
use super::faces::{Combination, Faces, Side, in_shares};
use super::hinge::{Hinge, Step};
use super::independent::equal_agreements;
use super::margin_interval::Bounds;
use super::nearest::Space;
use super::number::{Exact, ExactVector};
use super::peel::{Peeled, peel};
use crate::dataset::Dataset;
use crate::theory::margin::Extent;
use linsep_check::Bias;

/// Passes of a descent before other ways have their turn; then twice as many, and so on.
const PATIENCE: u64 = 256;
/// Products that least squares may take in their first turn.
const PRODUCTS: u64 = 4_000_000_000;
/// So many rows are looked at exactly without much ado.
const HEAVIEST: usize = 400;
/// The nearest point of more rows than this that use more columns than this would take too long.
const MAX_SUPPORT: usize = 2600;
/// The same of rows beside an L of more dimensions than this.
const MAX_BASIS: usize = 1536;

/// The first boundary is told with an upper bound of the margin by at most so many rows: their exact combination takes memory and
/// time, and a margin that is asked for is narrowed by all rows.
const MAX_CITED: usize = 1 << 13;

/// Decides the rows, given those that contradict each other by themselves.
pub(super) fn decide<'a>(
    space: &Space<'a>,
    mut faces: Faces<'a>,
    rows: &[usize],
    budget: &mut Budget<'_>,
) -> (Faces<'a>, Found) {
    let mut may_eliminate = true;
    loop {
        let (boundary, outside) = faces.split(rows);
        if outside.is_empty() {
            return (faces, Found::Overlap);
        }
        budget.begin("peeling");
        let peeled = peel(space.examples, &outside, &boundary);
        budget.support.clear();
        let round = Round { space, faces: &faces, peeled: &peeled, outside: &outside };
        match round.search(&mut may_eliminate, budget) {
            Outcome::Smaller(eliminated) => {
                let (cited, found) = by_elimination(space, &faces, &eliminated, rows, budget);
                match found {
                    // It was not for want of time: the other ways go on.
                    Found::Undecided(_) if !budget.is_over() => {}
                    found => return (cited, found),
                }
            }
            Outcome::Separates { w, agreements, support } => {
                // Other ways than the descent leave no coefficients: those of the descent bound the margin too.
                let support = if support.is_empty() { std::mem::take(&mut budget.support) } else { support };
                return (faces, Found::Positive { boundary, w, agreements, support });
            }
            Outcome::Meets { support, free } => faces.add_circuit(support, free),
            Outcome::Combines(combination) => faces.add_combination(combination),
            Outcome::Open => {
                let reason = budget.reason();
                return (faces, Found::Undecided(reason));
            }
        }
    }
}

/// One round of the facial loop.
struct Round<'r, 'a> {
    space: &'r Space<'a>,
    faces: &'r Faces<'a>,
    peeled: &'r Peeled,
    /// All rows outside L.
    outside: &'r [usize],
}

/// What a round ended with.
enum Outcome {
    /// w vanishes on L and is positive on all rows outside.
    Separates { w: ExactVector, agreements: Agreements, support: Vec<(usize, [f64; 2])> },
    /// The hull of the rows outside meets L; none of these rows can be left out.
    Meets { support: Vec<(usize, Exact)>, free: Vec<(usize, Exact)> },
    /// The same, but some of the rows may be left out.
    Combines(Combination),
    /// Most columns can be eliminated: a smaller question is left.
    Smaller(Eliminated),
    /// The budget ended first.
    Open,
}

/// Decides the rows by the smaller question that elimination left of them.
fn by_elimination<'a>(
    space: &Space<'a>,
    faces: &Faces<'a>,
    eliminated: &Eliminated,
    rows: &[usize],
    budget: &mut Budget<'_>,
) -> (Faces<'a>, Found) {
    let examples = space.examples;
    let undecided = |budget: &Budget<'_>| {
        (Faces::cited(examples, Vec::new(), (Vec::new(), true)), Found::Undecided(budget.reason()))
    };
    let mut smaller = Smaller { combination: Vec::new(), witness: (Vec::new(), true), weights: None };
    if eliminated.len() > 0 {
        let Ok(data) = eliminated.dataset() else { return undecided(budget) };
        // Coefficients of rows of the smaller question say nothing here.
        let support = std::mem::take(&mut budget.support);
        let found = Smaller::search(&data, space, eliminated, budget);
        budget.support = support;
        smaller = match found {
            Ok(found) => found,
            Err((found, reason)) => {
                let witness = known_or(faces, found.witness);
                return (Faces::cited(examples, found.combination, witness), Found::Undecided(reason));
            }
        };
    }
    let boundary: Vec<usize> = smaller.combination.iter().map(|&(row, _)| row).collect();
    let outside: Vec<usize> =
        rows.iter().copied().filter(|row| boundary.binary_search(row).is_err()).collect();
    let cited = Faces::cited(examples, smaller.combination, known_or(faces, smaller.witness));
    if outside.is_empty() {
        return (cited, Found::Overlap);
    }
    let w = eliminated.lift(smaller.weights.as_ref());
    match positive_agreements(examples, &outside, &w, space.radius) {
        Ok(agreements) => {
            let support = std::mem::take(&mut budget.support);
            (cited, Found::Positive { boundary, w, agreements, support })
        }
        Err(_) => undecided(budget),
    }
}

/// The witness that is known, or else this one.
fn known_or(faces: &Faces<'_>, witness: (Vec<(usize, f64)>, bool)) -> (Vec<(usize, f64)>, bool) {
    match faces.witness.is_empty() {
        true => witness,
        false => (faces.witness.clone(), faces.witness_is_minimal),
    }
}

/// The answer to a smaller question, told of the rows themselves.
struct Smaller {
    /// A combination that vanishes, of all rows of B where that is known.
    combination: Vec<(usize, Exact)>,
    /// Its first circuit, and whether none of its rows can be left out.
    witness: (Vec<(usize, f64)>, bool),
    /// Weights of the columns that are left, if some of its rows are outside B.
    weights: Option<ExactVector>,
}

impl Smaller {
    /// Decides the smaller question; if the budget ends first, what is known, and why.
    fn search(
        data: &Dataset,
        space: &Space<'_>,
        eliminated: &Eliminated,
        budget: &mut Budget<'_>,
    ) -> Result<Self, (Self, String)> {
        let examples = Examples::with_signs(data, vec![1; data.len()], Bias::None);
        let all: Vec<usize> = (0..data.len()).collect();
        let settings = SeparateSettings {
            seed: space.seed,
            max_memory: Some(space.memory),
            ..SeparateSettings::default()
        };
        let space = space_of(&examples, &Extent::of_rows(data, &all, 0.0), &settings);
        // Sums of words are full of ties, which least squares do not mind, whatever the number of columns.
        let (mut faces, found, _) = search(&space, &all, true, budget);
        let (boundary, weights, mut open) = match found {
            Found::Undecided(reason) => (Vec::new(), None, Some(reason)),
            Found::Overlap => (all, None, None),
            Found::Positive { boundary, w, .. } => (boundary, Some(w), None),
        };
        if open.is_none() && !faces.cite(&boundary, &mut || budget.is_over()) {
            open = Some(budget.reason());
        }
        let circuit: Vec<(usize, Exact)> =
            faces.witness.iter().map(|&(row, share)| (row, Exact::from_f64(share))).collect();
        let circuit = eliminated.combination(circuit.iter().map(|(row, share)| (row, share)));
        let combination = eliminated.combination(faces.shares());
        let witness = (in_shares(&circuit), faces.witness_is_minimal);
        let found = Self { combination, witness, weights };
        match open {
            None => Ok(found),
            Some(reason) => Err((found, reason)),
        }
    }
}

impl Round<'_, '_> {
    fn search(&self, may_eliminate: &mut bool, budget: &mut Budget<'_>) -> Outcome {
        let (examples, core) = (self.space.examples, &self.peeled.core);
        if core.is_empty() {
            let zero = ExactVector::from_f64(&vec![0.0; examples.dimension()]);
            return self
                .separates(vec![0.0; examples.dimension()], &[], budget)
                .unwrap_or_else(|| self.exactly(zero));
        }
        let mut descent =
            CoordinateDescent::new(examples, core, &self.faces.basis, self.space.seed).for_signs();
        let mut hinge: Option<Hinge<'_>> = None;
        let (mut turns, mut last_upper) = (1, f64::INFINITY);
        loop {
            if let Some(outcome) = self.descend(&mut descent, PATIENCE * turns, budget) {
                return outcome;
            }
            // Where the rows cannot be separated, λ grows without end on rows that show it, and the upper bound
            // falls towards zero; otherwise it settles.
            budget.support = simplex(examples, &descent.support());
            let (_, upper) = descent.interval();
            let falls = upper <= 0.75 * std::mem::replace(&mut last_upper, upper);
            let few = match core.len() {
                0..=HEAVIEST => core.clone(),
                _ if falls => descent.heaviest(HEAVIEST),
                _ => Vec::new(),
            };
            if let Some(outcome) = self.locate(&few, budget) {
                return outcome;
            }
            if std::mem::take(may_eliminate) && !budget.is_over() {
                budget.begin("elimination");
                let rows: Vec<usize> = examples.present().collect();
                if let Some(eliminated) = eliminate(examples, &rows, &mut || budget.is_over()) {
                    return Outcome::Smaller(eliminated);
                }
            }
            let hinge =
                hinge.get_or_insert_with(|| Hinge::new(examples, core, &self.faces.basis, self.space.memory));
            if turns == 1
                && let Some(outcome) = self.independent(hinge, budget)
            {
                return outcome;
            }
            if let Some(outcome) = self.least_squares(hinge, PRODUCTS * turns, budget) {
                return outcome;
            }
            // The way that always ends with an answer, if it can be afforded, when others had two turns.
            if turns == 2
                && core.len().min(self.width(core)) <= MAX_SUPPORT
                && let Some(outcome) = self.locate(core, budget)
            {
                return outcome;
            }
            if budget.is_over() {
                return Outcome::Open;
            }
            turns *= 2;
        }
    }

    /// Some passes of descent.
    fn descend(
        &self,
        descent: &mut CoordinateDescent<'_>,
        passes: u64,
        budget: &mut Budget<'_>,
    ) -> Option<Outcome> {
        budget.begin("descent");
        // What floats call separated may not be so when it vanishes on L exactly, which takes long to find out if L is large: it is tried
        // more and more rarely.
        let mut next = 1;
        for pass in 1..=passes {
            if budget.is_over() {
                break;
            }
            descent.pass();
            budget.passes += 1;
            if pass < next || !descent.may_separate() || !descent.separates() {
                continue;
            }
            let support = descent.heaviest_support(MAX_CITED);
            let found = self.separates(descent.weights(), &support, budget);
            if found.is_some() {
                return found;
            }
            next = if self.faces.basis.is_empty() { pass } else { 2 * pass };
        }
        None
    }

    /// Rows that are independent of all others can be given any agreement: only those in a linear dependence are looked at exactly,
    /// and if they can be separated, the others follow.
    fn independent(&self, hinge: &mut Hinge<'_>, budget: &mut Budget<'_>) -> Option<Outcome> {
        let (examples, core) = (self.space.examples, &self.peeled.core);
        budget.begin("least squares");
        if core.len() + self.faces.basis.len() > self.width(core) * 5 / 4 {
            return None;
        }
        let found =
            equal_agreements(examples, core, &self.faces.basis, self.space.memory, &mut || budget.is_over());
        if let Some(outcome) = found.and_then(|w| self.separates(w, &[], budget)) {
            return Some(outcome);
        }
        let (dependent, w) = hinge.dependent(&mut || budget.is_over())?;
        if dependent.is_empty() {
            return self.separates(w, &[], budget);
        }
        // No row of a column with one sign has a share in what vanishes, but what separates must be right on it too.
        let is_affordable =
            dependent.len().min(self.width(&dependent)) <= MAX_SUPPORT && self.faces.basis.len() <= MAX_BASIS;
        if !is_affordable || budget.is_over() {
            return None;
        }
        match self.faces.locate(self.space, &dependent, &[], budget)? {
            Side::Meets { support, free } => Some(Outcome::Meets { support, free }),
            Side::Positive { w, .. } => {
                let (w, _) = w.rounded();
                budget.begin("least squares");
                let w = hinge.completed(w, &dependent, &mut || budget.is_over())?;
                self.separates(w, &[], budget)
            }
        }
    }

    /// Some steps of Newton's method for what the rows lack.
    fn least_squares(
        &self,
        hinge: &mut Hinge<'_>,
        products: u64,
        budget: &mut Budget<'_>,
    ) -> Option<Outcome> {
        budget.begin("least squares");
        while hinge.spent() < products {
            match hinge.step(&mut || budget.is_over()) {
                Step::Moves => {}
                Step::Stopped => return None,
                Step::Separates => return self.separates(hinge.weights().to_vec(), &[], budget),
                Step::Vanishes => {
                    let outcome = self.vanishes(hinge.support(), budget);
                    budget.begin("least squares");
                    return outcome;
                }
            }
        }
        None
    }

    /// Looks at the rows whose combination seems to vanish.
    fn vanishes(&self, support: Vec<(usize, f64)>, budget: &mut Budget<'_>) -> Option<Outcome> {
        const NEGLIGIBLE: f64 = 1e-7;
        // The nearest point of many rows takes long, and all their shares are known but for rounding errors.
        if support.len() > HEAVIEST
            && let Some(found) = self.faces.meeting_nearly(&support, &mut || budget.is_over())
        {
            return Some(Outcome::Combines(found));
        }
        let most = support.iter().fold(0.0, |most, &(_, lambda)| f64::max(most, lambda));
        let rows: Vec<usize> = support
            .into_iter()
            .filter(|&(_, lambda)| lambda > NEGLIGIBLE * most)
            .map(|(row, _)| row)
            .collect();
        // No row of a column with one sign has a share in what vanishes.
        let rows = peel(self.space.examples, &rows, &self.faces.basis).core;
        let affordable = rows.len().min(self.width(&rows)) <= MAX_SUPPORT;
        if affordable { self.locate(&rows, budget) } else { None }
    }

    /// How many columns these rows use.
    fn width(&self, rows: &[usize]) -> usize {
        let mut used = vec![false; self.space.examples.dimension()];
        for &row in rows.iter().chain(&self.faces.basis) {
            self.space.examples.entries(row).for_each(|(column, _)| used[column] = true);
        }
        used.into_iter().filter(|&used| used).count()
    }

    /// Looks at some rows exactly.
    fn locate(&self, rows: &[usize], budget: &mut Budget<'_>) -> Option<Outcome> {
        if rows.is_empty() || self.faces.basis.len() > MAX_BASIS || budget.is_over() {
            return None;
        }
        match self.faces.locate(self.space, rows, &[], budget)? {
            Side::Meets { support, free } => Some(Outcome::Meets { support, free }),
            Side::Positive { w, support, .. } => {
                // Where rows can be separated, but barely, what separates some of them may separate all.
                let support: Vec<(usize, f64)> =
                    support.into_iter().map(|(row, [share, _])| (row, share)).collect();
                let found = self.lifted(w.to_parts(), &support, budget);
                if found.is_none() && rows.len() == self.peeled.core.len() {
                    return Some(self.exactly(w));
                }
                found
            }
        }
    }

    fn separates(&self, w: Vec<f64>, support: &[(usize, f64)], budget: &mut Budget<'_>) -> Option<Outcome> {
        self.lifted(w.into_iter().map(|x| [x, 0.0]).collect(), support, budget)
    }

    /// Weights that should be right on the core, made right on all rows outside L and zero on L, exactly; none if that
    /// fails.
    fn lifted(
        &self,
        mut w: Vec<[f64; 2]>,
        support: &[(usize, f64)],
        budget: &mut Budget<'_>,
    ) -> Option<Outcome> {
        let examples = self.space.examples;
        let mut rounded: Vec<f64> = w.iter().map(|parts| parts[0]).collect();
        if !self.peeled.lift(examples, &mut rounded) {
            return None;
        }
        for (parts, lifted) in w.iter_mut().zip(rounded) {
            if parts[0] != lifted {
                *parts = [lifted, 0.0];
            }
        }
        let w = self.faces.vanishing(&w, &mut || budget.is_over())?;
        let agreements = positive_agreements(examples, self.outside, &w, self.space.radius).ok()?;
        Some(Outcome::Separates { w, agreements, support: simplex(examples, support) })
    }

    /// Weights that vanish on L and are positive on the core, exactly, made positive on all rows outside.
    fn exactly(&self, w: ExactVector) -> Outcome {
        let w = self.peeled.lift_exactly(self.space.examples, w);
        match positive_agreements(self.space.examples, self.outside, &w, self.space.radius) {
            Ok(agreements) => Outcome::Separates { w, agreements, support: Vec::new() },
            Err(_) => Outcome::Open,
        }
    }
}
/// Narrows the margin of separable rows by further passes.
pub(super) fn narrow(
    space: &Space<'_>,
    rows: &[usize],
    bounds: &mut Bounds,
    gap: f64,
    most_passes: u64,
    budget: &mut Budget<'_>,
) {
    let examples = space.examples;
    // For a free bias the descent has an appended one: a small value keeps its steps long.
    const PENALTY: f64 = 0.125;
    let is_free = examples.bias() == Bias::Free;
    let bias = match is_free {
        true => Bias::Append(PENALTY * typical_length(examples, rows)),
        false => examples.bias(),
    };
    let near = Examples::with_signs(examples.data(), examples.signs().to_vec(), bias);
    let mut descent = CoordinateDescent::new(&near, rows, &[], space.seed);
    if is_free {
        descent = descent.for_free_bias();
    }
    budget.begin("margin");
    // Exact bounds cost more than a pass: they are taken of the best that floating-point numbers saw.
    let (mut best_weights, mut best_support) = ((bounds.lower, None), (bounds.upper, None));
    for pass in 1..=most_passes {
        descent.pass();
        budget.passes += 1;
        let is_last = pass == most_passes || budget.is_over();
        // Looking costs a pass: rarely enough not to matter.
        if !(is_last || pass.is_power_of_two() || pass % 16 == 0) {
            continue;
        }
        let (lower, upper) = descent.interval();
        if lower > best_weights.0 {
            best_weights = (lower, Some(descent.weights()));
        }
        if upper < best_support.0 {
            best_support = (upper, Some(descent.support()));
        }
        (budget.lower, budget.upper) = (Some(best_weights.0), Some(best_support.0));
        if is_last || best_support.0 - best_weights.0 <= 0.9 * gap * best_support.0 {
            if let Some(support) = best_support.1.take() {
                bounds.offer_combination(examples, &simplex(examples, &support));
            }
            if let Some(w) = best_weights.1.take() {
                bounds.offer_weights(examples, rows, ExactVector::from_f64(&w), space.radius);
            }
            if is_last || bounds.is_within(gap) {
                return;
            }
        }
    }
}

/// The root of the mean of ‖x‖².
fn typical_length(examples: &Examples<'_>, rows: &[usize]) -> f64 {
    let squared = |&row: &usize| examples.data().row(row).norm_squared();
    let mean = rows.iter().map(squared).sum::<f64>() / rows.len() as f64;
    if mean > 0.0 && mean.is_finite() { mean.sqrt() } else { 1.0 }
}

/// Coefficients that sum to 1, for a free bias on each side.
fn simplex(examples: &Examples<'_>, support: &[(usize, f64)]) -> Vec<(usize, [f64; 2])> {
    let side = |row: usize| usize::from(examples.bias() == Bias::Free && examples.signs()[row] < 0);
    let mut totals = [0.0; 2];
    support.iter().for_each(|&(row, lambda)| totals[side(row)] += lambda);
    support.iter().map(|&(row, lambda)| (row, [lambda / totals[side(row)], 0.0])).collect()
}

#[cfg(test)]
mod tests;

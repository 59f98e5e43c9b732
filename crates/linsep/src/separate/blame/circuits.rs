//! Rows that cannot all be right: proposed in floating-point arithmetic, accepted only by the checker.

use super::super::budget::Budget;
use super::super::decide::space_of;
use super::super::examples::Examples;
use super::super::faces::{Faces, Side};
use super::super::nearest::Space;
use super::super::number::{Exact, ExactVector};
use super::super::{Bias, Certificate, Claim, Columns, SeparateSettings};
use super::Meter;
use super::ceiling::{Ceiling, Descender, End};
use super::ground::Ground;
use crate::theory::margin::Extent;
use linsep_check::Subject;
use std::collections::HashMap;

/// The linear program is used for at most so many entries.
const MAX_ENTRIES: usize = 1 << 23;

/// Whether kinds are separable, exactly.
pub(super) enum Answer {
    /// Positive on all of them, in the columns as given with the bias 1.
    Separator(ExactVector),
    /// Some of them that cannot all be right, as the checker has accepted.
    Circuit(Vec<usize>),
    /// The budget ended first.
    Unknown,
}

/// Answers the question whether kinds are separable, and remembers which circuits the checker has accepted.
pub(super) struct Judge<'g, 'a> {
    ground: &'g Ground<'a>,
    space: Space<'g>,
    accepted: HashMap<Vec<usize>, bool>,
    place: HashMap<usize, usize>,
    /// Multiplications so far, or what takes as long.
    pub(super) work: u64,
}

/// The linear program over all kinds, unless it would be too large.
pub(super) fn ceiling(ground: &Ground<'_>, seed: u64) -> Option<Ceiling> {
    let scaled = ground.scaled();
    (ground.len() * (scaled.dimension() + 1) <= MAX_ENTRIES).then(|| Ceiling::new(&scaled, seed))
}

impl<'g, 'a> Judge<'g, 'a> {
    pub(super) fn new(ground: &'g Ground<'a>, settings: &SeparateSettings) -> Self {
        let rows: Vec<usize> = (0..ground.len()).map(|kind| ground.row(kind)).collect();
        let extent = Extent::of_rows(ground.examples.data(), &rows, ground.examples.bias_input());
        let place = rows.iter().enumerate().map(|(kind, &row)| (row, kind)).collect();
        let space = space_of(&ground.examples, &extent, settings);
        Self { ground, space, accepted: HashMap::new(), place, work: 0 }
    }

    /// Whether these kinds, sorted, cannot all be right, by a combination with positive coefficients that vanishes and of which none
    /// can be left out: the coefficients are computed in whole numbers, and the checker has to accept them.
    pub(super) fn accepts(&mut self, kinds: &[usize]) -> bool {
        if let Some(&known) = self.accepted.get(kinds) {
            return known;
        }
        let rows = self.ground.rows(kinds);
        let width = self.ground.examples.dimension() as u64;
        // Whole numbers take far longer than floats.
        self.work += 100 * (kinds.len() as u64).pow(2) * (width + kinds.len() as u64) + 40_000;
        let faces = Faces::new(&self.ground.examples);
        let found = faces.circuit(&rows).is_some_and(|coefficients| {
            coefficients.len() == rows.len() && is_accepted(&self.ground.examples, coefficients)
        });
        self.accepted.insert(kinds.to_vec(), found);
        found
    }

    /// Whether these kinds are separable: by the nearest point of their hull, in whole numbers if need be.
    pub(super) fn decide(&mut self, kinds: &[usize], budget: &mut Budget<'_>) -> Answer {
        let rows = self.ground.rows(kinds);
        let width = self.ground.examples.dimension() as u64;
        self.work += 4 * rows.len() as u64 * width * width.min(rows.len() as u64) + 20_000;
        if rows.is_empty() {
            return Answer::Unknown;
        }
        let faces = Faces::new(&self.ground.examples);
        let has = |side: i8| kinds.iter().any(|&kind| self.ground.has_side(kind, side));
        let two_hulls = self.ground.examples.bias() == Bias::Free && has(1) && has(-1);
        let found = faces.locate(&Space { two_hulls, ..self.space }, &rows, &[], budget);
        budget.begin("rows to remove");
        match found {
            Some(Side::Positive { w, .. }) => Answer::Separator(w),
            Some(Side::Meets { support, .. }) => {
                let mut circuit: Vec<usize> = support.iter().map(|(row, _)| self.place[row]).collect();
                circuit.sort_unstable();
                if self.accepts(&circuit) { Answer::Circuit(circuit) } else { Answer::Unknown }
            }
            None => Answer::Unknown,
        }
    }

    /// The same for what the linear program ended with: its circuit or its boundary if that is right, otherwise by the nearest point.
    pub(super) fn judge(&mut self, end: End, allowed: &[bool], meter: &mut Meter<'_, '_>) -> Answer {
        match end {
            End::Circuit(mut circuit, _) => {
                circuit.sort_unstable();
                if self.accepts(&circuit) {
                    return Answer::Circuit(circuit);
                }
            }
            End::Separator(w) => {
                self.work += 4 * self.ground.size();
                if let Some(w) = self.ground.unscaled(&w)
                    && self.ground.wrong(&w).iter().all(|&kind| !allowed[kind])
                {
                    return Answer::Separator(w);
                }
            }
            End::Lost => {}
        }
        if meter.is_out_of_time() {
            return Answer::Unknown;
        }
        let kinds: Vec<usize> = (0..allowed.len()).filter(|&kind| allowed[kind]).collect();
        self.decide(&kinds, meter.budget)
    }

    /// Whether the allowed kinds are separable, by the linear program if there is one.
    pub(super) fn ask(
        &mut self,
        descender: Option<&mut Descender<'_>>,
        ceiling: Option<&Ceiling>,
        allowed: &[bool],
        meter: &mut Meter<'_, '_>,
    ) -> Answer {
        let end = match (descender, ceiling) {
            (Some(descender), Some(ceiling)) if allowed.contains(&true) => {
                descender.descend(&mut ceiling.start(allowed), allowed, meter)
            }
            _ => End::Lost,
        };
        self.judge(end, allowed, meter)
    }
}

/// A few of the rows, as the checker reads them.
struct RowSubset<'a> {
    examples: &'a Examples<'a>,
    rows: Vec<usize>,
}

impl linsep_check::Examples for RowSubset<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn features(&self) -> usize {
        self.examples.data().columns()
    }

    fn side(&self, i: usize) -> i8 {
        linsep_check::Examples::side(self.examples, self.rows[i])
    }

    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        linsep_check::Examples::values(self.examples, self.rows[i], values);
    }
}

/// Whether the checker accepts that these rows alone overlap.
fn is_accepted(examples: &Examples<'_>, mut coefficients: Vec<(usize, Exact)>) -> bool {
    coefficients.sort_unstable_by_key(|(row, _)| *row);
    let subset = RowSubset { examples, rows: coefficients.iter().map(|&(row, _)| row).collect() };
    let combination = coefficients.iter().enumerate().map(|(k, (_, value))| (k, value.to_dyadic())).collect();
    let certificate = Certificate {
        subject: Subject {
            fingerprint: String::new(),
            rows: subset.rows.len(),
            features: examples.data().columns(),
            positive: Vec::new(),
            negative: Vec::new(),
        },
        bias: examples.bias(),
        claim: Claim::Overlap { combination, kernel: Vec::new() },
        columns: Columns::default(),
    };
    // Without a bias, rows of one side alone can overlap.
    linsep_check::check(&certificate, &subset, &|| false).is_ok()
}

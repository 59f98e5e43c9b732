//! Sets of columns that separate the classes completely by themselves, with the bias: every column alone, few columns
//! found by elimination, and pairs. Of sets that do not, combinations of rows that vanish in their places tell why.

use super::projection::Projection;
use super::signs::Shares;
use super::single;
use super::{Allowance, Effort};
use crate::separate::agreements::positive_agreements;
use crate::separate::budget::Budget;
use crate::separate::decide::space_of;
use crate::separate::examples::Examples;
use crate::separate::faces::{Faces, Side};
use crate::separate::nearest::nearest;
use crate::separate::number::{Exact, ExactVector};
use crate::separate::{Bias, SeparateSettings};
use crate::theory::margin::Extent;
use linsep_check::ColumnSet;
use std::cmp::Ordering;

/// Up to so many columns it is decided exactly whether one of them can be left out.
const FEW: usize = 16;

/// With more columns, the search ends after so many that could not be left out: those with the smallest weights were tried.
const MAX_FAILURES: usize = 16;

/// Sets of columns, found and proved.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    /// Sets that separate by themselves: all single columns that do; if none does, the smallest set found and all pairs.
    pub(super) alone: Vec<ColumnSet>,
    /// Sets that do not, which prove `at_least`.
    pub(super) not_alone: Vec<ColumnSet>,
    /// Every set that separates has at least so many columns.
    pub(super) at_least: usize,
}

/// Whether some columns separate the rows.
enum Test {
    /// These weights do; and their sizes, for columns that are brought to the same scale.
    Yes(ExactVector, Vec<f64>),
    /// They do not: this combination vanishes in their places.
    No(Shares),
}

/// Sets that are known not to separate.
#[derive(Default)]
struct Refuted {
    sets: Vec<(Vec<bool>, Shares)>,
}

impl Refuted {
    fn has(&self, columns: &[usize]) -> bool {
        self.sets.iter().any(|(set, _)| columns.iter().all(|&column| set[column]))
    }
}

struct Search<'a, 'o> {
    examples: &'a Examples<'a>,
    rows: &'a [usize],
    settings: &'a SeparateSettings,
    budget: &'a mut Budget<'o>,
    allowance: Allowance,
    refuted: Refuted,
}

/// Looks for sets of columns that separate these rows, which all columns together do. `kept` are columns that none of the
/// others are needed beside.
pub(super) fn sets(
    examples: &Examples<'_>,
    rows: &[usize],
    kept: &[usize],
    effort: &Effort,
    settings: &SeparateSettings,
    budget: &mut Budget<'_>,
) -> Sets {
    let features = examples.data().columns();
    let mut sets = Sets::default();
    let has = |sign: i8| rows.iter().any(|&row| examples.signs()[row] == sign);
    if examples.bias() != Bias::None && !(has(1) && has(-1)) {
        return sets;
    }
    let (allowance, refuted) = (effort.allowance(), Refuted::default());
    let mut search = Search { examples, rows, settings, budget, allowance, refuted };
    let singles = single::singles(examples, rows);
    for (column, single) in singles.iter().enumerate() {
        if let single::Single::Yes(weights) = single {
            sets.alone.push(ColumnSet { columns: vec![column], proof: weights.clone() });
        }
    }
    if sets.alone.is_empty() && !search.budget.is_over() {
        search.eliminate(kept, &mut sets);
        search.try_pairs(&singles, &mut sets);
    }
    search.prove(features, &singles, &mut sets);
    sets
}

impl Search<'_, '_> {
    /// Whether these columns separate; none if the budget ended. Without `proof`, none also where floating-point numbers
    /// find no separator: the proof that there is none takes much longer, if the columns are many.
    fn test(&mut self, columns: &[usize], proof: bool) -> Option<Test> {
        if self.budget.is_over() || !self.allowance.take(self.rows.len(), columns.len()) {
            return None;
        }
        let features = self.examples.data().columns();
        let places: Vec<usize> = columns.iter().copied().chain(features..self.examples.dimension()).collect();
        let cells = self.rows.len() * places.len();
        let projection = Projection::new(self.examples, &[], self.rows, places, false);
        let projection = self.budget.with_memory(projection, cells)?;
        if let Some(row) = projection.zero {
            return Some(Test::No(vec![(row, Exact::from_f64(1.0))]));
        }
        let examples = projection.examples();
        let others = projection.others();
        let extent = Extent::of_rows(examples.data(), &others, 0.0);
        let space = space_of(&examples, &extent, self.settings);
        if !proof {
            let found = nearest::<f64>(&space, &others, &[], &[], self.budget);
            let w = ExactVector::from_parts(&found.w);
            positive_agreements(&examples, &others, &w, space.radius).ok()?;
            let sizes = w.rounded().0.into_iter().map(f64::abs).take(columns.len()).collect();
            return Some(Test::Yes(projection.lift(&w), sizes));
        }
        match Faces::new(&examples).locate(&space, &others, &[], self.budget)? {
            Side::Positive { w, .. } => {
                let sizes = w.rounded().0.into_iter().map(f64::abs).take(columns.len()).collect();
                Some(Test::Yes(projection.lift(&w), sizes))
            }
            Side::Meets { support, .. } => {
                let origin = |(row, share)| Some((projection.origin(row)?, share));
                let mut combination: Shares = support.into_iter().map(origin).collect::<Option<_>>()?;
                combination.sort_by_key(|&(row, _)| row);
                Some(Test::No(combination))
            }
        }
    }

    /// Remembers that these columns do not separate, and with them all others in which the combination vanishes too.
    fn refute(&mut self, columns: &[usize], combination: Shares) {
        let features = self.examples.data().columns();
        let mut sums: Vec<Exact> = vec![Exact::zero(); features];
        for (row, share) in &combination {
            for (place, value) in self.examples.entries(*row).filter(|&(place, _)| place < features) {
                sums[place] = sums[place].plus(&share.times(&Exact::from_f64(value)));
            }
        }
        let set: Vec<bool> = sums.iter().map(|sum| sum.sign() == Ordering::Equal).collect();
        debug_assert!(columns.iter().all(|&column| set[column]));
        self.refuted.sets.push((set, combination));
    }

    /// Leaves out columns, those with the smallest weights first, while the others separate.
    fn eliminate(&mut self, kept: &[usize], sets: &mut Sets) {
        let Some(Test::Yes(mut weights, sizes)) = self.test(kept, true) else { return };
        let mut set: Vec<(usize, f64)> = kept.iter().copied().zip(sizes).collect();
        let mut needed: Vec<usize> = Vec::new();
        let (mut chunk, mut failures) = (set.len() / 2, 0);
        while set.len() > needed.len() && chunk > 0 {
            let mut order: Vec<(usize, f64)> =
                set.iter().copied().filter(|(column, _)| !needed.contains(column)).collect();
            order.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let removed: Vec<usize> = order.iter().take(chunk).map(|&(column, _)| column).collect();
            let rest: Vec<usize> =
                set.iter().map(|&(column, _)| column).filter(|column| !removed.contains(column)).collect();
            let test = if self.refuted.has(&rest) { None } else { self.test(&rest, rest.len() <= FEW) };
            match test {
                Some(Test::Yes(found, sizes)) => {
                    weights = found;
                    set = rest.into_iter().zip(sizes).collect();
                    chunk = chunk.min(set.len() - needed.len());
                }
                other => {
                    if let Some(Test::No(combination)) = other {
                        self.refute(&rest, combination);
                    } else if self.budget.is_over() {
                        break;
                    }
                    failures += 1;
                    if failures > MAX_FAILURES && rest.len() > FEW {
                        break;
                    }
                    if chunk == 1 {
                        needed.extend(removed);
                    } else {
                        chunk /= 2;
                    }
                }
            }
        }
        let columns: Vec<usize> = set.into_iter().map(|(column, _)| column).collect();
        // Large sets that do not separate prove much: every pair is in one of three that lack one column each.
        let mut lacking = 0;
        for &column in columns.iter().take(FEW) {
            let rest: Vec<usize> = kept.iter().copied().filter(|&other| other != column).collect();
            if lacking == 3 || self.test(&rest, false).is_some() {
                continue;
            }
            if let Some(Test::No(combination)) = self.test(&rest, true) {
                self.refute(&rest, combination);
                lacking += 1;
            }
        }
        let weights = weights.to_sparse();
        sets.alone.push(ColumnSet { columns, proof: weights });
    }

    /// Tries the pairs of columns that are not known to fail, if the work that is left allows all of them.
    fn try_pairs(&mut self, singles: &[single::Single], sets: &mut Sets) {
        let features = singles.len();
        let is_known = |sets: &Sets, pair: &[usize]| sets.alone.iter().any(|alone| alone.columns == pair);
        let pairs: Vec<[usize; 2]> = (0..features)
            .flat_map(|a| (a + 1..features).map(move |b| [a, b]))
            .filter(|pair| !is_known(sets, pair) && !self.refuted.has(pair))
            .collect();
        if Allowance::cost(self.rows.len(), 2).saturating_mul(pairs.len() as u64) > self.allowance.left {
            return;
        }
        for pair in pairs {
            if self.refuted.has(&pair) {
                continue;
            }
            match self.test(&pair, true) {
                Some(Test::Yes(weights, _)) => {
                    sets.alone.push(ColumnSet { columns: pair.to_vec(), proof: weights.to_sparse() });
                }
                Some(Test::No(combination)) => self.refute(&pair, combination),
                None if self.budget.is_over() => return,
                None => {}
            }
        }
        // The smallest first; a larger set is of no interest beside a pair.
        sets.alone.sort_by_key(|alone| alone.columns.len());
        if sets.alone.iter().any(|alone| alone.columns.len() == 2) {
            sets.alone.retain(|alone| alone.columns.len() == 2);
        }
    }

    /// Proves the largest of the bounds 1, 2 and 3 that the sets which do not separate prove.
    fn prove(&mut self, features: usize, singles: &[single::Single], sets: &mut Sets) {
        let has_single = sets.alone.iter().any(|alone| alone.columns.len() == 1);
        if !has_single {
            for (column, single) in singles.iter().enumerate() {
                if let single::Single::No(combination) = single
                    && !self.refuted.has(&[column])
                {
                    self.refute(&[column], combination.clone());
                }
            }
            let pairs = (0..features).flat_map(|a| (a + 1..features).map(move |b| vec![a, b]));
            let units = (0..features).map(|column| vec![column]);
            for (bound, wanted) in [(3, pairs.collect::<Vec<_>>()), (2, units.collect::<Vec<_>>())] {
                // With fewer columns than the bound nothing would have to be shown, and the columns separate.
                if features >= bound
                    && let Some(chosen) = self.cover(wanted)
                {
                    sets.not_alone = chosen.into_iter().map(|k| self.claim(k)).collect();
                    sets.at_least = bound;
                    return;
                }
            }
        }
        if let Some(combination) = nothing(self.examples, self.rows) {
            sets.not_alone.push(ColumnSet { columns: Vec::new(), proof: in_dyadics(&combination) });
            sets.at_least = 1;
        }
    }

    /// Few of the refuted sets that hold all of the wanted ones; none if some is in no set.
    fn cover(&self, mut wanted: Vec<Vec<usize>>) -> Option<Vec<usize>> {
        let mut chosen = Vec::new();
        while !wanted.is_empty() {
            let holds =
                |k: usize, columns: &[usize]| columns.iter().all(|&column| self.refuted.sets[k].0[column]);
            let count = |k: usize| wanted.iter().filter(|columns| holds(k, columns)).count();
            // The largest first, as long as large ones help; then whatever holds the next.
            let best = if chosen.len() < 16 {
                (0..self.refuted.sets.len()).max_by_key(|&k| (count(k), std::cmp::Reverse(k)))?
            } else {
                (0..self.refuted.sets.len()).find(|&k| holds(k, &wanted[0]))?
            };
            let before = wanted.len();
            wanted.retain(|columns| !holds(best, columns));
            if wanted.len() == before {
                return None;
            }
            chosen.push(best);
        }
        Some(chosen)
    }

    fn claim(&self, k: usize) -> ColumnSet {
        let (set, combination) = &self.refuted.sets[k];
        let columns = (0..set.len()).filter(|&column| set[column]).collect();
        ColumnSet { columns, proof: in_dyadics(combination) }
    }
}

fn in_dyadics(combination: &[(usize, Exact)]) -> linsep_check::Sparse {
    combination.iter().map(|(row, share)| (*row, share.to_dyadic())).collect()
}

/// Rows that show that no boundary without a feature separates.
fn nothing(examples: &Examples<'_>, rows: &[usize]) -> Option<Shares> {
    let one = || Exact::from_f64(1.0);
    let of = |sign: i8| rows.iter().copied().find(|&row| examples.signs()[row] == sign);
    if examples.bias() == Bias::None {
        return Some(vec![(*rows.first()?, one())]);
    }
    let mut pair = vec![(of(1)?, one()), (of(-1)?, one())];
    pair.sort_by_key(|&(row, _)| row);
    Some(pair)
}

//! Peeling: a column with one sign over all remaining rows separates the rows that use it, and they can be set aside.
//!
//! Exact for the decision: a large multiple of that coordinate makes those rows positive and changes no other. Each
//! sweep takes all such columns at once; within a sweep they cannot hurt each other, and a later sweep's columns are
//! outweighed by an earlier one's.

use super::examples::Examples;
use super::number::ExactVector;
use dashu_int::IBig;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The rows that were peeled, sweep by sweep, and the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Peeled {
    sweeps: Vec<Sweep>,
    /// Rows that no column with one sign uses.
    pub(super) core: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Sweep {
    /// +1 or −1 for each column with one sign.
    columns: Vec<(usize, f64)>,
    rows: Vec<usize>,
}

/// Peels until no column has one sign. Rows of `boundary` are counted and never peeled: a column that they use has both
/// signs among them.
pub(super) fn peel(examples: &Examples<'_>, rows: &[usize], boundary: &[usize]) -> Peeled {
    let mut core = rows.to_vec();
    let mut sweeps = Vec::new();
    // How many rows of the core and the boundary have each sign in each column.
    let mut counts = Counts::of(examples, &core);
    counts.add(&Counts::of(examples, boundary));
    loop {
        let one_sign: Vec<bool> =
            counts.0.iter().map(|&[above, below]| (above == 0) != (below == 0)).collect();
        let is_peeled = |&&row: &&usize| {
            examples.data().row(row).iter().any(|(column, value)| one_sign[column] && value != 0.0)
                || one_sign.get(examples.data().columns()).is_some_and(|&bias| bias)
        };
        let (peeled, rest): (Vec<usize>, Vec<usize>) =
            core.par_iter().with_min_len(PART).partition(is_peeled);
        core = rest;
        if peeled.is_empty() {
            return Peeled { sweeps, core };
        }
        let sign = |column: usize| (column, if counts.0[column][0] > 0 { 1.0 } else { -1.0 });
        let columns = (0..one_sign.len()).filter(|&column| one_sign[column]).map(sign).collect();
        counts.remove(&Counts::of(examples, &peeled));
        sweeps.push(Sweep { columns, rows: peeled });
    }
}

/// Rows that one core looks at in one go.
const PART: usize = 4096;

/// The rows with a positive and with a negative entry in each column.
struct Counts(Vec<[u32; 2]>);

impl Counts {
    fn of(examples: &Examples<'_>, rows: &[usize]) -> Self {
        let none = || Self(vec![[0; 2]; examples.dimension()]);
        let include = |mut counts: Self, &row: &usize| {
            for (column, value) in examples.entries(row) {
                counts.0[column][usize::from(value < 0.0)] += 1;
            }
            counts
        };
        let join = |mut one: Self, other: Self| {
            one.add(&other);
            one
        };
        // Few parts: each has counts of its own.
        let part = PART.max(rows.len() / 8);
        rows.par_iter().with_min_len(part).fold(none, include).reduce(none, join)
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().flatten().zip(other.0.iter().flatten()).for_each(|(sum, more)| *sum += more);
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().flatten().zip(other.0.iter().flatten()).for_each(|(sum, less)| *sum -= less);
    }
}

impl Peeled {
    /// Adds to w, which is positive on the core and uses only its columns, what makes the peeled rows positive too.
    /// False if no float is large enough.
    pub(super) fn lift(&self, examples: &Examples<'_>, w: &mut [f64]) -> bool {
        for sweep in self.sweeps.iter().rev() {
            let mut unit = vec![0.0; w.len()];
            sweep.columns.iter().for_each(|&(column, sign)| unit[column] = sign);
            let needed = sweep.rows.iter().map(|&row| {
                let lacking = -examples.dot(row, w);
                lacking / examples.dot(row, &unit)
            });
            let least = w.iter().fold(0.0f64, |most, x| most.max(x.abs())).max(1.0) * 1e-3;
            let size = needed.fold(least, f64::max) * 2.0;
            if !size.is_finite() || size > 1e200 {
                return false;
            }
            sweep.columns.iter().for_each(|&(column, sign)| w[column] = sign * size);
        }
        true
    }

    /// The same in whole numbers, of which some is always large enough.
    pub(super) fn lift_exactly(&self, examples: &Examples<'_>, mut w: ExactVector) -> ExactVector {
        for sweep in self.sweeps.iter().rev() {
            let mut unit = vec![0.0; w.values.len()];
            sweep.columns.iter().for_each(|&(column, sign)| unit[column] = sign);
            let unit = ExactVector::from_f64(&unit);
            let power = |&row: &usize| {
                let agreement = w.dot(examples, row);
                let ((_, lacking), (_, gain)) = (agreement.scaled(), unit.dot(examples, row).scaled());
                match agreement.sign() {
                    Ordering::Less => lacking - gain + 2,
                    _ => i64::MIN,
                }
            };
            let largest = sweep.rows.par_iter().with_min_len(256).map(power).max();
            let power = largest.unwrap_or(i64::MIN).max(w.exponent);
            let size = IBig::ONE << (power - w.exponent) as usize;
            for &(column, sign) in &sweep.columns {
                w.values[column] = if sign > 0.0 { size.clone() } else { -size.clone() };
            }
        }
        w
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::instances::Instance;
    use super::super::testing::oracle::boundary;
    use super::super::testing::{dot, examples, from, problem, times};
    use super::super::{Bias, SeparateSettings, Verdict, decide};
    use super::*;
    use crate::random::Random;
    use dashu_ratio::RBig;

    /// Sparse small whole numbers: many columns have one sign, at first or when rows are gone.
    fn draw(number: u64) -> Instance {
        let random = &mut Random::stream(41, number);
        let (n, d) = (from(random, 1, 14), from(random, 1, 9));
        let dense = from(random, 1, 4) as u64;
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                (0..d)
                    .map(|_| if random.below(5) < dense { random.below(5) as f64 - 2.0 } else { 0.0 })
                    .collect()
            })
            .collect();
        let mut signs: Vec<i8> = (0..n).map(|_| [1, -1, 1, -1, 1, -1, 0][random.below(7) as usize]).collect();
        signs[0] = 1;
        let bias = [Bias::None, Bias::None, Bias::Append(0.5), Bias::Free][random.below(4) as usize];
        Instance { sparse: random.below(2) == 0, ..problem(rows, signs, bias) }
    }

    /// B of these rows, as positions in the data.
    fn in_b(examples: &Examples<'_>, rows: &[usize]) -> Vec<usize> {
        let z: Vec<Vec<f64>> = rows.iter().map(|&row| examples.dense(row)).collect();
        if z.is_empty() {
            return Vec::new();
        }
        rows.iter().zip(boundary(&z)).filter(|(_, inside)| *inside).map(|(&row, _)| row).collect()
    }

    #[test]
    fn peeled_rows_change_nothing() {
        let (mut partly, mut wholly, mut lifted) = (0, 0, 0);
        for number in 0..times(1500) {
            let problem = draw(number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let rows = problem.present();
            let peeled = peel(&examples, &rows, &[]);
            let mut all: Vec<usize> = peeled.sweeps.iter().flat_map(|sweep| sweep.rows.clone()).collect();
            partly += usize::from(!all.is_empty() && !peeled.core.is_empty());
            wholly += usize::from(peeled.core.is_empty());
            all.extend(&peeled.core);
            all.sort_unstable();
            assert_eq!(all, rows, "{number}: every row is peeled once or in the core");
            // B is that of the core.
            assert_eq!(in_b(&examples, &rows), in_b(&examples, &peeled.core), "{number}");
            // Nothing is left to peel.
            assert!(peel(&examples, &peeled.core, &[]).sweeps.is_empty(), "{number}");
            // Weights that are right on the core become right on all rows, and the core's stay what they are.
            let Some(mut w) = core_weights(&examples, &problem, &peeled.core) else { continue };
            let before: Vec<f64> = peeled.core.iter().map(|&row| examples.dot(row, &w)).collect();
            assert!(peeled.lift(&examples, &mut w), "{number}");
            for &row in &rows {
                assert!(dot(&examples.dense(row), &w) > RBig::ZERO, "{number}: row {row} is wrong");
            }
            let after: Vec<f64> = peeled.core.iter().map(|&row| examples.dot(row, &w)).collect();
            assert_eq!(before, after, "{number}");
            // In whole numbers too, from weights of any size.
            let w = core_weights(&examples, &problem, &peeled.core).unwrap_or_default();
            let large = ExactVector::from_f64(&w.iter().map(|w| w * 1e300).collect::<Vec<f64>>());
            let exact = peeled.lift_exactly(&examples, large);
            for &row in &rows {
                assert_eq!(exact.dot(&examples, row).sign(), Ordering::Greater, "{number}: row {row}");
            }
            lifted += 1;
        }
        assert!(partly > 150 && wholly > 150 && lifted > 300, "{partly} {wholly} {lifted}");
    }

    /// Weights in the columns of the core that separate it, if it is separable.
    fn core_weights(examples: &Examples<'_>, problem: &Instance, core: &[usize]) -> Option<Vec<f64>> {
        let mut used = vec![false; examples.dimension()];
        core.iter().for_each(|&row| examples.entries(row).for_each(|(column, _)| used[column] = true));
        let mut w = vec![0.0; examples.dimension()];
        if core.is_empty() {
            return Some(w);
        }
        let z: Vec<Vec<f64>> = core.iter().map(|&row| examples.dense(row)).collect();
        // Decided without a bias on the rows z themselves, so that one side may be missing.
        let inner = super::super::testing::of_z(&z, &vec![1; z.len()]);
        let data = inner.dataset();
        let inner_examples = super::super::testing::examples(&data, &inner);
        let settings = SeparateSettings { bias: Bias::None, ..SeparateSettings::default() };
        let found = decide(&inner_examples, &Instance::classes(), &settings, &mut ()).unwrap();
        assert_eq!(found.verdict == Verdict::Complete, !boundary(&z).contains(&true), "{problem:?}");
        if found.verdict != Verdict::Complete {
            return None;
        }
        w.copy_from_slice(&found.weights?.weights);
        // The nearest point is a sum of rows of the core.
        assert!(w.iter().zip(&used).all(|(w, used)| *used || *w == 0.0));
        Some(w)
    }

    /// Rows of the boundary are counted and not peeled, and lifted weights stay zero on them.
    #[test]
    fn the_boundary_stays() {
        let mut seen = 0;
        for number in 0..times(1500) {
            let problem = draw(number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let rows = problem.present();
            let inside = in_b(&examples, &rows);
            let outside: Vec<usize> = rows.iter().copied().filter(|row| !inside.contains(row)).collect();
            if inside.is_empty() || outside.is_empty() {
                continue;
            }
            let peeled = peel(&examples, &outside, &inside);
            let columns: Vec<usize> = peeled
                .sweeps
                .iter()
                .flat_map(|sweep| sweep.columns.iter().map(|&(column, _)| column))
                .collect();
            for &row in &inside {
                assert!(examples.entries(row).all(|(column, _)| !columns.contains(&column)), "{number}");
            }
            if peeled.core.is_empty() {
                let mut w = vec![0.0; examples.dimension()];
                assert!(peeled.lift(&examples, &mut w));
                assert!(outside.iter().all(|&row| dot(&examples.dense(row), &w) > RBig::ZERO), "{number}");
                assert!(inside.iter().all(|&row| dot(&examples.dense(row), &w) == RBig::ZERO), "{number}");
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    /// A decision list is peeled column by column, last first; weights grow, and where no float is large enough, it is
    /// said.
    #[test]
    fn long_chains() {
        let chain = |d: usize, factor: f64| {
            let rows: Vec<Vec<f64>> = (0..d)
                .map(|i| (0..d).map(|j| if j == i { 1.0 } else { -factor * f64::from(j == i + 1) }).collect())
                .collect();
            problem(rows, vec![1; d], Bias::None)
        };
        let run = |problem: &Instance| {
            let data = problem.dataset();
            let examples = examples(&data, problem);
            let peeled = peel(&examples, &problem.present(), &[]);
            assert!(peeled.core.is_empty());
            let mut w = vec![0.0; examples.dimension()];
            let done = peeled.lift(&examples, &mut w);
            if done {
                for row in problem.present() {
                    assert!(dot(&examples.dense(row), &w) > RBig::ZERO, "row {row}");
                }
            }
            (peeled.sweeps.len(), done)
        };
        assert_eq!(run(&chain(1, 1.0)), (1, true));
        assert_eq!(run(&chain(40, 1.0)), (40, true));
        assert_eq!(run(&chain(40, 1000.0)), (40, true));
        assert!(!run(&chain(40, 1e10)).1);
    }
}

//! Rows that contradict each other by themselves: z = 0, and z_i = −c·z_j with c > 0, which with a bias means the same
//! features on both sides.

use super::examples::Examples;
use super::number::Exact;
use crate::dataset::Row;
use linsep_check::Bias;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Contradictions that are found without a search. Each proves that the rows are not completely separable.
#[derive(Clone, Debug, Default)]
pub(super) struct Contradictions {
    /// Rows with z = 0.
    pub(super) zeros: Vec<usize>,
    /// For each direction that occurs with both signs, the first row of either sign.
    pub(super) pairs: Vec<[usize; 2]>,
}

/// Finds the zero rows and the opposite directions among all rows.
pub(super) fn contradictions(examples: &Examples<'_>) -> Contradictions {
    let mut directions: Vec<(u64, u32)> = (0..examples.len() as u32)
        .into_par_iter()
        .with_min_len(1024)
        .filter(|&i| examples.signs()[i as usize] != 0)
        .map(|i| (direction_hash(examples, i as usize), i))
        .collect();
    directions.par_sort_unstable();
    let mut found = Contradictions::default();
    for same in directions.chunk_by(|a, b| a.0 == b.0) {
        let rows: Vec<usize> = same.iter().map(|&(_, row)| row as usize).collect();
        if same[0].0 == ZERO {
            found.zeros.extend(rows);
            continue;
        }
        let way = |row: usize| first_entry(examples, row) > 0.0;
        if rows.iter().any(|&row| way(row) != way(rows[0])) {
            // Directions that differ by less than a last digit may share a hash: they are told apart exactly.
            let mut rest = rows;
            while let [first, others @ ..] = rest.as_slice() {
                let (same, other): (Vec<usize>, Vec<usize>) =
                    others.iter().partition(|&&row| is_multiple(examples, [*first, row]));
                let opposite = same.iter().find(|&&row| way(row) != way(*first));
                found.pairs.extend(opposite.map(|&row| [*first, row]));
                rest = other;
            }
        }
    }
    found.zeros.sort_unstable();
    found.pairs.iter_mut().for_each(|pair| pair.sort_unstable());
    found.pairs.sort_unstable();
    found
}

/// The rows that belong to a side, by direction: for each, the rows that point one way and those that point the opposite way.
/// All zero rows are one direction. In the order of the first row of each.
pub(super) fn directions(examples: &Examples<'_>) -> Vec<[Vec<usize>; 2]> {
    let mut hashes: Vec<(u64, usize)> = (0..examples.len())
        .into_par_iter()
        .with_min_len(1024)
        .filter(|&i| examples.signs()[i] != 0)
        .map(|i| (direction_hash(examples, i), i))
        .collect();
    hashes.par_sort_unstable();
    let mut found: Vec<[Vec<usize>; 2]> = Vec::new();
    for same in hashes.chunk_by(|a, b| a.0 == b.0) {
        let mut rest: Vec<usize> = same.iter().map(|&(_, row)| row).collect();
        while let Some(&first) = rest.first() {
            let is_same =
                |&row: &usize| row == first || same[0].0 == ZERO || is_multiple(examples, [first, row]);
            let (group, other): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(is_same);
            let way =
                |&row: &usize| (first_entry(examples, row) > 0.0) == (first_entry(examples, first) > 0.0);
            let (along, against) = group.into_iter().partition(way);
            found.push([along, against]);
            rest = other;
        }
    }
    found.sort_unstable();
    found
}

/// The positive multiples that make a contradiction vanish: λ_i z_i + λ_j z_j = 0.
pub(super) fn shares(examples: &Examples<'_>, [i, j]: [usize; 2]) -> [(usize, Exact); 2] {
    let size = |row| Exact::from_f64(first_entry(examples, row).abs());
    [(i, size(j)), (j, size(i))]
}

/// The first entry of z_i that is not zero, or with a bias the coordinate of the bias, which never is.
fn first_entry(examples: &Examples<'_>, i: usize) -> f64 {
    match examples.bias() {
        Bias::None => examples.entries(i).next().map_or(0.0, |(_, value)| value),
        Bias::Append(_) | Bias::Free => f64::from(examples.signs()[i]) * examples.bias_input(),
    }
}

/// Whether z_i = c·z_j with c ≠ 0, for rows that are not zero.
pub(super) fn is_multiple(examples: &Examples<'_>, [i, j]: [usize; 2]) -> bool {
    let (a, b) = (first_entry(examples, i), first_entry(examples, j));
    let [exact_a, exact_b] = [a, b].map(Exact::from_f64);
    let (mut left, mut right) = (examples.entries(i), examples.entries(j));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            // Most multiples are the same numbers, or all of them negated.
            (Some((p, x)), Some((q, y))) if p == q && x.abs() == y.abs() && a.abs() == b.abs() => {
                if (x == y) != (a == b) {
                    return false;
                }
            }
            (Some((p, x)), Some((q, y))) if p == q => {
                // x / a = y / b
                let (x, y) = (Exact::from_f64(x), Exact::from_f64(y));
                if x.times(&exact_b).compare(&y.times(&exact_a)) != Ordering::Equal {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

const ZERO: u64 = 0;

/// The same for z_i and z_j if they are multiples of each other, whatever the sign: quotients of entries are the same
/// real numbers, so they round to the same floats.
fn direction_hash(examples: &Examples<'_>, i: usize) -> u64 {
    let row = examples.data().row(i);
    if examples.bias() != Bias::None {
        // The coordinate of the bias is the same everywhere: the features themselves.
        return hash(row, |value| value);
    }
    match row.iter().find(|&(_, value)| value != 0.0) {
        Some((_, first)) => hash(row, |value| value / first),
        None => ZERO,
    }
}

#[inline(always)]
fn hash(row: Row<'_>, change: impl Fn(f64) -> f64) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = K;
    for (column, value) in row.iter() {
        if value != 0.0 {
            state = (state ^ change(value).to_bits()).wrapping_mul(K).rotate_left(29) ^ column as u64;
        }
    }
    (state ^ (state >> 32)).wrapping_mul(K).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::instances::{Instance, instance};
    use super::super::testing::oracle::fraction;
    use super::super::testing::{self, examples, from, grid, problem, times};
    use super::*;
    use crate::random::Random;
    use dashu_ratio::RBig;

    /// How z_i and z_j point: +1 the same way, −1 opposite ways, 0 neither; by all products of two entries.
    fn compare(a: &[f64], b: &[f64]) -> i8 {
        let (a, b): (Vec<RBig>, Vec<RBig>) =
            (a.iter().map(|&x| fraction(x)).collect(), b.iter().map(|&x| fraction(x)).collect());
        let dependent = (0..a.len()).all(|i| (0..i).all(|j| &a[i] * &b[j] == &a[j] * &b[i]));
        let inner = a.iter().zip(&b).fold(RBig::ZERO, |sum, (a, b)| sum + a * b);
        match inner.cmp(&RBig::ZERO) {
            _ if !dependent => 0,
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// By all pairs: zero rows, and for each direction that occurs both ways the first row of either way.
    fn brute_force(problem: &Instance) -> (Vec<usize>, Vec<[usize; 2]>) {
        let (z, present) = (problem.z(), problem.present());
        let is_zero = |row: &[f64]| row.iter().all(|&value| value == 0.0);
        let zeros = (0..z.len()).filter(|&i| is_zero(&z[i])).map(|i| present[i]).collect();
        let mut pairs = Vec::new();
        for i in (0..z.len()).filter(|&i| !is_zero(&z[i])) {
            // The first of its direction, whichever way.
            if (0..i).all(|j| compare(&z[i], &z[j]) == 0)
                && let Some(j) = (i + 1..z.len()).find(|&j| compare(&z[i], &z[j]) < 0)
            {
                pairs.push([present[i], present[j]]);
            }
        }
        (zeros, pairs)
    }

    fn check(problem: &Instance, told: &str) -> usize {
        let data = problem.dataset();
        let examples = examples(&data, problem);
        let found = contradictions(&examples);
        let (zeros, pairs) = brute_force(problem);
        assert_eq!(found.zeros, zeros, "{told}: {problem:?}");
        assert_eq!(found.pairs, pairs, "{told}: {problem:?}");
        for &pair in &found.pairs {
            let shares = shares(&examples, pair);
            let (a, b) = (examples.dense(pair[0]), examples.dense(pair[1]));
            assert!(shares.iter().all(|(_, share)| share.sign() == Ordering::Greater));
            let [(i, p), (j, q)] = &shares;
            assert_eq!([*i, *j], pair);
            let (p, q) = (testing::fraction(p), testing::fraction(q));
            for (&a, &b) in a.iter().zip(&b) {
                assert_eq!(&p * fraction(a) + &q * fraction(b), RBig::ZERO, "{told}: {problem:?}");
            }
        }
        found.pairs.len() + found.zeros.len()
    }

    #[test]
    fn all_pairs_agree() {
        let mut found = 0;
        for number in 0..times(2200) {
            let (family, problem) = instance(31, number);
            found += usize::from(check(&problem, &format!("{number}, {family}")) > 0);
        }
        assert!(found > 200, "{found}");
    }

    /// Few kinds of rows on few columns, with all biases, sparse or not, some rows of neither side.
    #[test]
    fn crowded_rows() {
        let mut found = 0;
        for number in 0..times(900) {
            let random = &mut Random::stream(32, number);
            let (n, d) = (from(random, 1, 24), from(random, 1, 3));
            let most = from(random, 1, 2) as u64;
            let mut rows = grid(random, n, d, most);
            // Multiples that are exact, and multiples that are rounded.
            for row in &mut rows {
                let factor = [1.0, 3.0, 0.1, 1e-310, 7.0][random.below(5) as usize];
                row.iter_mut().for_each(|value| *value *= factor);
            }
            let signs = (0..n).map(|_| [1, -1, 1, -1, 0][random.below(5) as usize]).collect();
            let bias = [Bias::None, Bias::Append(0.1), Bias::Free][random.below(3) as usize];
            let problem = Instance { sparse: random.below(2) == 0, ..problem(rows, signs, bias) };
            if !problem.present().is_empty() {
                found += check(&problem, &format!("{number}"));
            }
        }
        assert!(found > 400, "{found}");
    }

    /// Two directions whose quotients round to the same float, each both ways: both are told.
    #[test]
    fn directions_that_differ_by_less_than_a_digit() {
        let near = 1.0f64.next_down();
        let rows = vec![vec![3.0, 1.0], vec![3.0, near], vec![-3.0, -near], vec![-3.0, -1.0], vec![9.0, 3.0]];
        assert_eq!(near / 3.0, 1.0 / 3.0);
        check(&problem(rows, vec![1; 5], Bias::None), "near");
    }
}

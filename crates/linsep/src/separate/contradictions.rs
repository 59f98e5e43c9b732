//! Rows that contradict each other outright: z = 0, and z_i = −c·z_j with c > 0, which with a bias means the same
//! features on both sides.

use super::examples::Examples;
use super::number::Exact;
use crate::dataset::Row;
use linsep_check::Bias;
use rayon::prelude::*;
use std::cmp::Ordering;

/// What needs no search: each alone shows that the rows are not completely separable.
#[derive(Clone, Debug, Default)]
pub(super) struct Contradictions {
    /// Rows with z = 0.
    pub(super) zeros: Vec<usize>,
    /// For each direction that occurs both ways, the first row of either way.
    pub(super) pairs: Vec<[usize; 2]>,
}

/// Looks at the directions of all rows.
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
        if let Some(&opposite) = rows.iter().find(|&&row| way(row) != way(rows[0])) {
            let pair = [rows[0], opposite];
            if is_opposite(examples, pair) {
                found.pairs.push(pair);
            } else {
                // One hash stands, by accident, for several directions.
                found.pairs.extend(any_opposite(examples, &rows));
            }
        }
    }
    found.zeros.sort_unstable();
    found.pairs.iter_mut().for_each(|pair| pair.sort_unstable());
    found.pairs.sort_unstable();
    found
}

/// The positive multiples that make a contradiction vanish: λ_i z_i + λ_j z_j = 0.
pub(super) fn shares(examples: &Examples<'_>, [i, j]: [usize; 2]) -> [(usize, Exact); 2] {
    let size = |row| Exact::from_f64(first_entry(examples, row).abs());
    [(i, size(j)), (j, size(i))]
}

/// The slow way, for accidents: all pairs.
fn any_opposite(examples: &Examples<'_>, rows: &[usize]) -> Option<[usize; 2]> {
    let pairs = rows.iter().enumerate().flat_map(|(k, &a)| rows[k + 1..].iter().map(move |&b| [a, b]));
    pairs.into_iter().find(|&pair| is_opposite(examples, pair))
}

/// The first entry of z_i that is not zero, or with a bias the coordinate of the bias, which never is.
fn first_entry(examples: &Examples<'_>, i: usize) -> f64 {
    match examples.bias() {
        Bias::None => examples.entries(i).next().map_or(0.0, |(_, value)| value),
        Bias::Append(_) | Bias::Free => f64::from(examples.signs()[i]) * examples.bias_input(),
    }
}

fn is_opposite(examples: &Examples<'_>, [i, j]: [usize; 2]) -> bool {
    let (a, b) = (first_entry(examples, i), first_entry(examples, j));
    if (a > 0.0) == (b > 0.0) {
        return false;
    }
    let (a, b) = (Exact::from_f64(a), Exact::from_f64(b));
    let (mut left, mut right) = (examples.entries(i), examples.entries(j));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some((p, x)), Some((q, y))) if p == q => {
                // x / a = y / b
                let (x, y) = (Exact::from_f64(x), Exact::from_f64(y));
                if x.times(&b).compare(&y.times(&a)) != Ordering::Equal {
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

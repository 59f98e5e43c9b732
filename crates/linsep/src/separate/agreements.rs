//! The exact signs and the exact minimum of ⟨w, z_i⟩: a floating-point filter settles nearly all rows at the speed of
//! memory, and whole numbers settle the rest.

use super::examples::Examples;
use super::number::{Exact, ExactVector};
use crate::linalg::rounding_error_bound;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Bounds on positive agreements.
#[derive(Clone, Debug)]
pub(super) struct Agreements {
    /// The least ⟨w, z_i⟩, exactly.
    pub(super) least: Exact,
    /// The rows with the smallest agreements, smallest first (exact for the least, rounded for the others).
    pub(super) closest: Vec<(usize, f64)>,
}

/// How many closest rows are kept.
const CLOSEST: usize = 20;

/// Whether ⟨w, z_i⟩ > 0 for all these rows, or else a row where it is not.
pub(super) fn positive_agreements(
    examples: &Examples<'_>,
    rows: &[usize],
    w: &ExactVector,
    radius: f64,
) -> Result<Agreements, usize> {
    let (rounded, is_faithful) = w.rounded();
    let norm = crate::linalg::norm_squared(&rounded).sqrt();
    // Outside these bounds products may overflow or vanish: then every row is looked at exactly.
    let rounding_error = if is_faithful && (1e-140..=1e140).contains(&radius) {
        4.0 * rounding_error_bound(examples.dimension(), norm * radius)
    } else {
        f64::INFINITY
    };
    let float: Vec<f64> = if rounding_error.is_finite() {
        rows.par_iter().with_min_len(1024).map(|&i| examples.dot(i, &rounded)).collect()
    } else {
        Vec::new()
    };
    if let Some(wrong) = float.iter().position(|&a| a < -rounding_error) {
        return Err(rows[wrong]);
    }
    let least = float.iter().copied().fold(f64::INFINITY, f64::min);
    // Rows whose sign is hidden by rounding error, and rows that may have the least agreement.
    let limit = if rounding_error.is_finite() {
        rounding_error.max(least + 2.0 * rounding_error)
    } else {
        f64::INFINITY
    };
    let close: Vec<usize> = (0..rows.len()).filter(|&k| float.get(k).is_none_or(|&a| a <= limit)).collect();
    let exact: Vec<Exact> = close.par_iter().with_min_len(16).map(|&k| w.dot(examples, rows[k])).collect();
    let mut best: Option<usize> = None;
    for (k, agreement) in exact.iter().enumerate() {
        if agreement.sign() != Ordering::Greater {
            return Err(rows[close[k]]);
        }
        if best.is_none_or(|best| agreement.compare(&exact[best]) == Ordering::Less) {
            best = Some(k);
        }
    }
    let Some(best) = best else { return Err(usize::MAX) };
    let scale = w_scale(w);
    let closest = if rounding_error.is_finite() {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let count = CLOSEST.min(order.len());
        let by_agreement = |a: &usize, b: &usize| float[*a].total_cmp(&float[*b]).then(a.cmp(b));
        if count < order.len() {
            order.select_nth_unstable_by(count, by_agreement);
            order.truncate(count);
        }
        let mut closest: Vec<(usize, f64)> = order
            .into_iter()
            .map(|k| match close.binary_search(&k) {
                Ok(known) => (rows[k], exact[known].times(&scale).approximate()),
                Err(_) => (rows[k], float[k]),
            })
            .collect();
        closest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        closest
    } else {
        // Floats may not tell such sizes apart.
        let mut order: Vec<usize> = (0..exact.len()).collect();
        order.sort_by(|&a, &b| exact[a].compare(&exact[b]).then(a.cmp(&b)));
        order.truncate(CLOSEST);
        order.into_iter().map(|k| (rows[k], exact[k].times(&scale).approximate())).collect()
    };
    Ok(Agreements { least: exact[best].clone(), closest })
}

/// The power of two by which [`ExactVector::rounded`] multiplies.
fn w_scale(w: &ExactVector) -> Exact {
    let longest = w.values.iter().map(super::number::magnitude_bits).max().unwrap_or(0) as i64;
    Exact::new(1.into(), 1 - longest - w.exponent)
}

#[cfg(test)]
mod tests {
    use super::super::testing::instances::{Instance, instance, power};
    use super::super::testing::oracle::{fraction, scaled};
    use super::super::testing::{self, examples, from, of_z, times};
    use super::*;
    use crate::random::Random;
    use crate::theory::margin::Extent;
    use dashu_ratio::RBig;

    /// ⟨w, z⟩ of all rows that belong to a side, in fractions.
    fn exactly(problem: &Instance, w: &ExactVector) -> Vec<RBig> {
        let w: Vec<RBig> = w.values.iter().map(|value| scaled(value, w.exponent)).collect();
        let dot = |z: &Vec<f64>| z.iter().zip(&w).fold(RBig::ZERO, |sum, (&z, w)| sum + fraction(z) * w);
        problem.z().iter().map(dot).collect()
    }

    /// Checks the answer; whether it was that all are positive.
    fn check(problem: &Instance, w: &ExactVector, told: &str) -> bool {
        let data = problem.dataset();
        let examples = examples(&data, problem);
        let rows = problem.present();
        let radius = Extent::of_rows(&data, &rows, examples.bias_input()).radius_upper;
        let exact = exactly(problem, w);
        let found = match positive_agreements(&examples, &rows, w, radius) {
            Ok(found) => found,
            Err(wrong) => {
                let place = rows.iter().position(|&row| row == wrong).unwrap();
                assert!(exact[place] <= RBig::ZERO, "{told}: row {wrong} is positive");
                return false;
            }
        };
        assert!(exact.iter().all(|agreement| *agreement > RBig::ZERO), "{told}: not all are positive");
        assert_eq!(testing::fraction(&found.least), *exact.iter().min().unwrap(), "{told}");
        // The closest, in the scale of the rounded weights.
        assert_eq!(found.closest.len(), rows.len().min(CLOSEST), "{told}");
        assert!(found.closest.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{told}");
        let scale = testing::fraction(&w_scale(w));
        let largest = if rows.iter().all(|row| found.closest.iter().any(|(other, _)| other == row)) {
            f64::INFINITY
        } else {
            found.closest.last().unwrap().1
        };
        let slack = fraction(1e-12) * fraction(radius.clamp(1e-300, f64::MAX));
        for (&row, agreement) in rows.iter().zip(&exact) {
            let agreement = agreement * &scale;
            match found.closest.iter().find(|(other, _)| *other == row) {
                Some(&(_, told_agreement)) if told_agreement.is_finite() => {
                    let off = fraction(told_agreement) - &agreement;
                    let off = if off < RBig::ZERO { -off } else { off };
                    assert!(off <= slack, "{told}: row {row} has not {told_agreement:e}");
                }
                Some(_) => {}
                None => assert!(agreement + &slack >= fraction(largest), "{told}: row {row} is closer"),
            }
        }
        true
    }

    /// Weights of several kinds for rows of `d` coordinates.
    fn weights(random: &mut Random, d: usize) -> ExactVector {
        let kind = random.below(5);
        let pairs: Vec<[f64; 2]> = (0..d)
            .map(|_| match kind {
                0 => [random.below(7) as f64 - 3.0, 0.0],
                1 => [random.normal(), 0.0],
                2 => [random.normal(), 1e-17 * random.normal()],
                3 => [random.normal() * power(from(random, 0, 600) as i64 - 300), 0.0],
                _ => [random.normal() * power([-1073, -900, 0, 900][random.below(4) as usize]), 0.0],
            })
            .collect();
        ExactVector::from_parts(&pairs)
    }

    #[test]
    fn any_rows_and_any_weights() {
        let mut positive = 0;
        for number in 0..times(2000) {
            let (family, mut problem) = instance(21, number);
            let random = &mut Random::stream(22, number);
            let d = problem.z()[0].len();
            let w = weights(random, d);
            let told = format!("{number}, {family}");
            check(&problem, &w, &told);
            // The same with every row on its right side, but for those on the boundary.
            let exact = exactly(&problem, &w);
            for (&row, agreement) in problem.present().iter().zip(&exact) {
                if *agreement < RBig::ZERO {
                    problem.signs[row] = -problem.signs[row];
                }
                if *agreement == RBig::ZERO {
                    problem.signs[row] = 0;
                }
            }
            if !problem.present().is_empty() {
                assert!(check(&problem, &w, &told), "{told}: all are positive");
                positive += 1;
            }
        }
        assert!(positive > 1000);
    }

    /// Sums that cancel to a last digit, among many rows.
    #[test]
    fn cancellation() {
        for number in 0..times(300) {
            let random = &mut Random::stream(23, number);
            let (n, d) = (from(random, 1, 60), from(random, 2, 12));
            let w: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let far = random.below(3) == 0;
            let mut z: Vec<Vec<f64>> = Vec::new();
            for _ in 0..n {
                let mut row: Vec<f64> = (0..d).map(|_| random.normal()).collect();
                if !(far && random.below(2) == 0) {
                    // The last entry brings the sum as near to zero as it can.
                    let rest: f64 = row[..d - 1].iter().zip(&w).map(|(x, w)| x * w).sum();
                    row[d - 1] = -rest / w[d - 1];
                    for _ in 0..random.below(3) {
                        row[d - 1] = row[d - 1].next_up();
                    }
                }
                if testing::dot(&row, &w) < RBig::ZERO {
                    row.iter_mut().for_each(|value| *value = -*value);
                }
                z.push(row);
            }
            let scale = [1.0, power(-990), power(900), power(-460)][random.below(4) as usize];
            let w = ExactVector::from_f64(&w.iter().map(|w| w * scale).collect::<Vec<_>>());
            let mut problem = of_z(&z, &vec![1; n]);
            let all = exactly(&problem, &w).iter().all(|agreement| *agreement > RBig::ZERO);
            assert_eq!(check(&problem, &w, &format!("{number}")), all, "{number}");
            // One row turned, if only by a last digit, is noticed.
            let i = random.below(n as u64) as usize;
            problem.signs[i] = -1;
            assert!(!check(&problem, &w, &format!("{number}, turned")), "{number}");
        }
    }

    #[test]
    fn no_rows_and_zero_weights() {
        let problem = of_z(&[vec![1.0, 2.0], vec![3.0, 4.0]], &[1, 1]);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let ones = ExactVector::from_f64(&[1.0, 1.0]);
        assert_eq!(positive_agreements(&examples, &[], &ones, 5.0).unwrap_err(), usize::MAX);
        let zeros = ExactVector::from_f64(&[0.0, 0.0]);
        assert!(positive_agreements(&examples, &[0, 1], &zeros, 5.0).is_err());
    }
}

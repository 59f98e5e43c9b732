//! Exponentials and logarithms of many numbers at once, and sums of outer products.
//!
//! The loops have no branches and call no library, so that the compiler can keep several numbers in a register. All operations
//! round as IEEE 754 has it: the bits do not depend on the processor.

/// For each score s: odds = e^−|s| and logs = ln(1 + e^−|s|), each with a relative error below 8 · 2⁻⁵³ (the test compares
/// them with the library's). Where e^−|s| is below the smallest normal float, they are that float or a little larger. A score that
/// is not a number gives such.
#[inline(always)]
pub(super) fn odds_and_logs(scores: &[f64], odds: &mut [f64], logs: &mut [f64]) {
    let count = scores.len();
    let (odds, logs) = (&mut odds[..count], &mut logs[..count]);
    for k in 0..count {
        let e = exp_of_negative(-scores[k].abs());
        odds[k] = e;
        logs[k] = log_of_one_plus(e);
    }
}

/// e^x for x ≤ 0.
///
/// x = k ln 2 + r with |r| ≤ ½ ln 2 (and a little): the product of k and the first part of ln 2 is exact, so that r is rounded
/// once and a little more. The series of e^r is cut after r¹³/13!, below 2⁻⁵⁷.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // A number of this size has no digits after the point, and its last bits are a whole number.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    // A comparison, not a maximum: what is not a number stays so.
    let x = if x < -708.0 { -708.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for factor in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + factor;
    }
    // 2^k: the exponent is k + 1023.
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// ln(1 + e) for 0 < e ≤ 1: 2 artanh(z) with z = e/(2 + e) ≤ ⅓, whose series z + z³/3 + … is cut after z³³/33, which leaves less
/// than 2⁻⁵⁸ of it.
#[inline(always)]
fn log_of_one_plus(e: f64) -> f64 {
    let z = e / (2.0 + e);
    let square = z * z;
    let mut sum = 1.0 / 33.0;
    for factor in [
        1.0 / 31.0,
        1.0 / 29.0,
        1.0 / 27.0,
        1.0 / 25.0,
        1.0 / 23.0,
        1.0 / 21.0,
        1.0 / 19.0,
        1.0 / 17.0,
        1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0,
        1.0 / 9.0,
        1.0 / 7.0,
        1.0 / 5.0,
        1.0 / 3.0,
    ] {
        sum = sum * square + factor;
    }
    let double = 2.0 * z;
    double + double * (square * sum)
}

/// Rows and columns of the square that is summed in registers.
pub(super) const HIGH: usize = 4;
pub(super) const WIDE: usize = 8;

/// matrix += Σ (scaled row)(row)ᵀ over rows of `size` numbers, a multiple of eight, below the diagonal; what it does above is of
/// no meaning.
#[inline(always)]
pub(super) fn add_outer_products(scaled: &[f64], rows: &[f64], size: usize, matrix: &mut [f64]) {
    for top in (0..size).step_by(HIGH) {
        for left in (0..=top + HIGH - 1).step_by(WIDE) {
            let mut sums = [[0.0; WIDE]; HIGH];
            for (scaled, row) in scaled.chunks_exact(size).zip(rows.chunks_exact(size)) {
                let own: &[f64; HIGH] = scaled[top..top + HIGH].try_into().expect("four numbers");
                let other: &[f64; WIDE] = row[left..left + WIDE].try_into().expect("eight numbers");
                for a in 0..HIGH {
                    for b in 0..WIDE {
                        sums[a][b] += own[a] * other[b];
                    }
                }
            }
            for (a, sums) in sums.iter().enumerate() {
                let start = (top + a) * size + left;
                matrix[start..start + WIDE].iter_mut().zip(sums).for_each(|(to, from)| *to += from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::linalg;
    use proptest::prelude::*;

    fn is_near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 8.0 * f64::EPSILON / 2.0 * expected
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 5000 }))]

        #[test]
        fn odds_and_logs_are_those_of_the_library(scores in prop::collection::vec(prop_oneof![-708.0f64..708.0, -3.0f64..3.0], 1..20)) {
            let (mut odds, mut logs) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
            linalg::odds_and_logs(&scores, &mut odds, &mut logs);
            for ((score, odds), log) in scores.iter().zip(odds).zip(logs) {
                prop_assert!(is_near(odds, (-score.abs()).exp()), "{score}: {odds}");
                prop_assert!(is_near(log, (-score.abs()).exp().ln_1p()), "{score}: {log}");
            }
        }

        #[test]
        fn outer_products_are_summed(count in 1usize..9, blocks in 1usize..4, seed: u64) {
            let size = 8 * blocks;
            let random = &mut crate::random::Random::new(seed);
            let mut numbers = || (0..count * size).map(|_| random.below(100) as f64 - 50.0).collect::<Vec<f64>>();
            let (scaled, rows) = (numbers(), numbers());
            let mut matrix = vec![1.0; size * size];
            linalg::add_outer_products(&scaled, &rows, size, &mut matrix);
            for a in 0..size {
                for b in 0..=a {
                    let sum: f64 = (0..count).map(|k| scaled[k * size + a] * rows[k * size + b]).sum();
                    prop_assert_eq!(matrix[a * size + b], 1.0 + sum);
                }
            }
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        let scores = [0.0, -0.0, f64::INFINITY, -1e300, 709.0, f64::NAN];
        let (mut odds, mut logs) = ([0.0; 6], [0.0; 6]);
        linalg::odds_and_logs(&scores, &mut odds, &mut logs);
        assert_eq!(odds[..2], [1.0, 1.0]);
        assert!(is_near(logs[0], std::f64::consts::LN_2) && is_near(logs[1], std::f64::consts::LN_2));
        for k in 2..5 {
            assert!(odds[k] > 0.0 && odds[k] < 1e-307 && logs[k] > 0.0 && logs[k] < 1e-307);
        }
        assert!(odds[5].is_nan() && logs[5].is_nan());
    }
}

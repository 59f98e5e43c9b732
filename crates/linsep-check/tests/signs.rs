//! The sign of every ⟨w, z⟩ is right: tiny, huge and cancelling values, in each way of storing.

use crate::common::{Big, Random, Table, certificate, verify_any_sides};
use linsep_check::{Bias, Claim, Dyadic, Margin};

#[test]
fn the_first_row_that_is_not_positive() {
    let random = &mut Random(1);
    let mut kinds = [0; 2];
    for case in 0..6000 {
        let features = 1 + random.below(if case % 50 == 0 { 40 } else { 5 });
        let n = 1 + random.below(if case % 500 == 0 { 4000 } else { 6 });
        let way = random.below(4);
        // Column j holds whole numbers times 2^e_j, and the weights whole numbers times 2^(c − e_j): products stay
        // whole, whatever the sizes. Even f32 holds the whole numbers exactly.
        let reach = if way.is_multiple_of(2) {
            [0, 60, 900, 1000][random.below(4)]
        } else {
            [0, 20, 100][random.below(3)]
        };
        let shift: Vec<i64> =
            (0..features).map(|_| if reach == 0 { 0 } else { random.whole(reach) }).collect();
        let subnormal = way.is_multiple_of(2) && random.below(5) == 0;
        let shift: Vec<i64> = if subnormal { vec![-1074; features] } else { shift };
        let common = random.whole(3000);
        let w: Vec<i64> = (0..features).map(|_| random.sized(&[3, 20, 40])).collect();
        let mut rows = Vec::new();
        for _ in 0..n {
            let mut a: Vec<i64> = (0..features).map(|_| random.sized(&[2, 10, 20])).collect();
            if features > 1 && random.below(2) == 0 && w[0].abs() < 1 << 20 && w[1].abs() < 1 << 20 {
                // Two terms cancel, and what remains is small or nothing.
                a = vec![0; features];
                (a[0], a[1]) = (w[1], -w[0]);
                a[features - 1] += random.whole(1);
            }
            let sum: i128 = a.iter().zip(&w).map(|(&a, &w)| i128::from(a) * i128::from(w)).sum();
            // Most rows are put on the right side, so that cases do not end at the first row.
            let side = match random.below(40) {
                0 => 0,
                1 => 1,
                _ if sum < 0 => -1,
                _ => 1,
            };
            let power = |e: i64| Dyadic::new(false, vec![1], e).to_f64().unwrap();
            let value = |(&a, &e): (&i64, &i64)| a as f64 * power(e);
            rows.push((side, a.iter().zip(&shift).map(value).collect::<Vec<_>>()));
        }
        let table = Table::new(features, &rows, way);
        let weights: Vec<_> = w
            .iter()
            .zip(&shift)
            .enumerate()
            .filter(|(_, (w, _))| **w != 0)
            .map(|(j, (w, e))| (j, Dyadic::new(*w < 0, vec![w.unsigned_abs()], common - e)))
            .collect();
        let expected = (0..n).find(|&i| {
            let sum = weights.iter().fold(Big::zero(), |sum, (j, c)| {
                sum.plus(&Big::of(c).times(&Big::float(table.value(i, *j))))
            });
            match table.sides[i] {
                1 => !sum.sign().is_gt(),
                -1 => !sum.sign().is_lt(),
                _ => false,
            }
        });
        let margin = Margin { lower: 0.0, upper: f64::MAX, combination: vec![] };
        let answer =
            verify_any_sides(&certificate(&table, Bias::None, Claim::Complete { weights, margin }), &table);
        if table.sides.iter().all(|side| *side == 0) {
            assert!(answer.is_err());
            continue;
        }
        assert_eq!(answer.as_ref().err().and_then(|why| why.row), expected, "case {case}: {answer:?}");
        assert_eq!(answer.is_ok(), expected.is_none());
        kinds[usize::from(answer.is_ok())] += 1;
    }
    assert!(kinds.iter().all(|&count| count > 500), "{kinds:?}");
}

#[test]
fn a_difference_in_the_last_bit_of_long_weights() {
    // w = (2^70000 + 1, −2^70000): only exact sums see the 1.
    let mut long = vec![0; 70_000 / 64 + 1];
    long[70_000 / 64] = 1 << (70_000 % 64);
    let power = Dyadic::new(false, long.clone(), 0);
    long[0] = 1;
    let weights = vec![
        (0, Dyadic::new(false, long, 0)),
        (1, crate::common::times(&power, &crate::common::number(-1.0))),
    ];
    for (side, accepted) in [(1, true), (-1, false)] {
        let table = Table::new(2, &[(side, vec![1e300, 1e300]), (side, vec![5e-324, 5e-324])], 0);
        let margin = Margin { lower: 0.0, upper: f64::MAX, combination: vec![] };
        let claim = Claim::Complete { weights: weights.clone(), margin };
        assert_eq!(verify_any_sides(&certificate(&table, Bias::None, claim), &table).is_ok(), accepted);
    }
}

#[test]
fn a_row_that_is_no_row() {
    let weights = crate::common::sparse(&[1.0, 1.0]);
    for way in 0..4 {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let rows = [(1, vec![1.0, 1.0]), (1, vec![bad, 1.0]), (0, vec![bad, bad])];
            let table = Table::new(2, &rows, way);
            let margin = Margin { lower: 0.0, upper: f64::MAX, combination: vec![] };
            let claims = [
                Claim::Complete { weights: weights.clone(), margin: margin.clone() },
                Claim::Complete { weights: crate::common::sparse(&[0.0, 1.0]), margin },
                Claim::QuasiComplete {
                    weights: weights.clone(),
                    combination: crate::common::sparse(&[1.0]),
                    kernel: vec![],
                },
            ];
            for claim in claims {
                assert_eq!(
                    verify_any_sides(&certificate(&table, Bias::None, claim), &table).unwrap_err().row,
                    Some(1)
                );
            }
            // A combination that cancels: then it is asked which places the rows use.
            let table = Table::new(2, &[(1, vec![1.0, 0.0]), (1, vec![bad, 1.0])], way);
            let claim = Claim::Overlap { combination: vec![], kernel: vec![] };
            let refused = verify_any_sides(&certificate(&table, Bias::None, claim), &table);
            assert_eq!(refused.unwrap_err().row, Some(1));
        }
    }
}

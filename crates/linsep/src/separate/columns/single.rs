//! Whether one column alone separates the classes completely, by its least and largest value on each side.

use super::signs::Shares;
use crate::separate::Bias;
use crate::separate::examples::Examples;
use crate::separate::number::Exact;
use linsep_check::Sparse;
use std::cmp::Ordering;

/// One column with the bias.
pub(super) enum Single {
    /// These weights, of the column and the bias, have every row on its right side.
    Yes(Sparse),
    /// This combination of rows vanishes in the column and the bias.
    No(Shares),
}

/// The rows with the least and the largest value of a column.
#[derive(Clone, Copy)]
struct Range {
    least: (f64, usize),
    largest: (f64, usize),
}

impl Range {
    fn include(range: &mut Option<Self>, value: f64, row: usize) {
        match range {
            None => *range = Some(Self { least: (value, row), largest: (value, row) }),
            Some(range) => {
                if value < range.least.0 {
                    range.least = (value, row);
                }
                if value > range.largest.0 {
                    range.largest = (value, row);
                }
            }
        }
    }
}

/// Looks at every column. With a bias, there must be rows of both sides: otherwise the bias alone separates.
pub(super) fn singles(examples: &Examples<'_>, rows: &[usize]) -> Vec<Single> {
    let features = examples.data().columns();
    // The values x by side; without a bias those of z, all on one side.
    let without_bias = examples.bias() == Bias::None;
    let group = |row: usize| usize::from(!without_bias && examples.signs()[row] < 0);
    let mut ranges: Vec<[Option<Range>; 2]> = vec![[None; 2]; features];
    let mut filled: Vec<[usize; 2]> = vec![[0; 2]; features];
    let mut counts = [0; 2];
    for &row in rows {
        let side = group(row);
        counts[side] += 1;
        let turn = if without_bias { 1.0 } else { f64::from(examples.signs()[row]) };
        for (place, value) in examples.entries(row).filter(|&(place, _)| place < features) {
            Range::include(&mut ranges[place][side], turn * value, row);
            filled[place][side] += 1;
        }
    }
    for (place, ranges) in ranges.iter_mut().enumerate() {
        for side in (0..2).filter(|&side| filled[place][side] < counts[side]) {
            if let Some(row) = first_zero(examples, rows, place, side, &group) {
                Range::include(&mut ranges[side], 0.0, row);
            }
        }
    }
    ranges.into_iter().enumerate().map(|(place, sides)| judge(examples, place, sides)).collect()
}

/// The first row of a side that is zero in a place.
fn first_zero(
    examples: &Examples<'_>,
    rows: &[usize],
    place: usize,
    side: usize,
    group: &dyn Fn(usize) -> usize,
) -> Option<usize> {
    rows.iter()
        .copied()
        .find(|&row| group(row) == side && !examples.entries(row).any(|(other, _)| other == place))
}

fn judge(examples: &Examples<'_>, place: usize, sides: [Option<Range>; 2]) -> Single {
    let features = examples.data().columns();
    let one = || Exact::from_f64(1.0);
    let exact = Exact::from_f64;
    match sides {
        [Some(all), None] if examples.bias() == Bias::None => {
            let (least, largest) = (all.least, all.largest);
            if least.0 > 0.0 || largest.0 < 0.0 {
                return Single::Yes(vec![(place, exact(least.0.signum()).to_dyadic())]);
            }
            for (value, row) in [least, largest] {
                if value == 0.0 {
                    return Single::No(vec![(row, one())]);
                }
            }
            Single::No(in_order(vec![(least.1, exact(largest.0)), (largest.1, exact(-least.0))]))
        }
        [Some(positive), Some(negative)] => {
            // With weights 2s·c of the column and −s·(a + b) of the bias, where c is the value of the bias and s = ±1, the sign
            // of the score is that of s·(2x − a − b).
            let between = |above: f64, below: f64, sign: f64| {
                let bias = exact(above).plus(&exact(below)).times(&exact(-sign));
                let column = exact(2.0 * sign).times(&exact(examples.bias_input()));
                let mut weights = vec![(place, column.to_dyadic())];
                if bias.sign() != Ordering::Equal {
                    weights.push((features, bias.to_dyadic()));
                }
                Single::Yes(weights)
            };
            if positive.least.0 > negative.largest.0 {
                return between(positive.least.0, negative.largest.0, 1.0);
            }
            if negative.least.0 > positive.largest.0 {
                return between(negative.least.0, positive.largest.0, -1.0);
            }
            // The larger of the two least values is within the range of the other side.
            let (inner, outer) = if positive.least.0 >= negative.least.0 {
                (positive.least, negative)
            } else {
                (negative.least, positive)
            };
            let [at, low, high] = [inner.0, outer.least.0, outer.largest.0].map(exact);
            if outer.least.0 == outer.largest.0 {
                return Single::No(in_order(vec![(inner.1, one()), (outer.least.1, one())]));
            }
            Single::No(in_order(vec![
                (inner.1, high.minus(&low)),
                (outer.least.1, high.minus(&at)),
                (outer.largest.1, at.minus(&low)),
            ]))
        }
        // Not with rows of both sides.
        _ => Single::No(Vec::new()),
    }
}

fn in_order(mut combination: Shares) -> Shares {
    combination.retain(|(_, share)| share.sign() != Ordering::Equal);
    combination.sort_by_key(|&(row, _)| row);
    combination
}

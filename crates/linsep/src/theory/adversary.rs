//! Data sets that try to break theorems, for tests: repeated, contradictory and empty rows, one row alone, one
//! class alone, and values so small or so large that squares are near the ends of the floats.

use crate::dataset::Dataset;
use crate::theta::Theta;
use proptest::prelude::*;

/// Rows with signs.
#[derive(Clone, Debug)]
pub(super) struct Examples {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) signs: Vec<i8>,
    /// About the size of the values.
    pub(super) scale: f64,
    /// The appended coordinate, 0 for none.
    pub(super) bias_input: f64,
}

impl Examples {
    pub(super) fn columns(&self) -> usize {
        self.rows[0].len()
    }

    pub(super) fn dataset(&self) -> Dataset {
        let labels: Vec<String> = self.signs.iter().map(i8::to_string).collect();
        Dataset::dense(self.columns(), &self.rows.concat(), &labels).unwrap()
    }

    /// θ with small whole weights, in no relation to the data.
    pub(super) fn theta(&self, weights: &[i32]) -> Theta {
        let mut weights = weights.iter().map(|&w| f64::from(w));
        let bias = weights.next().filter(|_| self.bias_input != 0.0).unwrap_or(0.0);
        Theta { weights: weights.take(self.columns()).collect(), bias, bias_input: self.bias_input }
    }

    /// Whether it is plain that nothing separates them: a zero example, or one with both labels.
    pub(super) fn are_hopeless(&self) -> bool {
        let zero = |row: &Vec<f64>| self.bias_input == 0.0 && row.iter().all(|&x| x == 0.0);
        let z = |i: usize| (self.rows[i].iter().map(|x| x + 0.0).collect::<Vec<_>>(), self.signs[i]);
        (0..self.rows.len()).any(|i| {
            zero(&self.rows[i]) || (0..i).any(|j| z(i).0 == z(j).0 && self.signs[i] != self.signs[j])
        })
    }

    /// A perceptron from zero, at most `passes` times through the rows; gives what it learned and the mistaken rows. It
    /// decides mistakes as the learner does: an agreement that rounds to zero is computed again with an error bound.
    pub(super) fn learn(&self, passes: usize) -> (Theta, Vec<u32>) {
        let data = self.dataset();
        let mut mistakes = Vec::new();
        let mut theta = Theta::zero(self.columns(), self.bias_input);
        for _ in 0..passes {
            let before = mistakes.len();
            for (i, &sign) in self.signs.iter().enumerate() {
                let (row, y) = (data.row(i), f64::from(sign));
                let agreement = y * theta.score(row);
                let mistaken = if agreement == 0.0 {
                    let score = theta.certified_score(row);
                    (if y > 0.0 { score.low } else { -score.high }) <= 0.0
                } else {
                    agreement < 0.0
                };
                if mistaken {
                    theta.add(y, row);
                    mistakes.push(i as u32);
                }
            }
            if mistakes.len() == before {
                break;
            }
        }
        (theta, mistakes)
    }
}

/// One way to make rows worse.
#[derive(Clone, Debug)]
enum Twist {
    /// A row comes twice.
    Repeat(usize),
    /// A row comes again with the other label.
    Contradict(usize),
    /// A row is zero.
    Empty(usize),
    /// A row is much shorter or longer than the others.
    Stretch(usize, f64),
    /// All rows have one label.
    OneClass,
    /// Only one row is left.
    Alone(usize),
}

fn twist() -> impl Strategy<Value = Twist> {
    prop_oneof![
        (0usize..20).prop_map(Twist::Repeat),
        (0usize..20).prop_map(Twist::Contradict),
        (0usize..20).prop_map(Twist::Empty),
        (0usize..20, prop_oneof![Just(1e-3), Just(7.0)]).prop_map(|(i, by)| Twist::Stretch(i, by)),
        Just(Twist::OneClass),
        (0usize..20).prop_map(Twist::Alone),
    ]
}

/// Rows of up to three features, half of them separable before they are twisted.
pub(super) fn examples() -> impl Strategy<Value = Examples> {
    let scale = prop_oneof![Just(1.0), Just(1.0 / 3.0), Just(1e-60), Just(1e60), Just(1e-100), Just(1e100)];
    (1usize..4, 1usize..12)
        .prop_flat_map(|(d, n)| {
            (
                prop::collection::vec(prop::collection::vec(-9i32..10, d), n),
                prop::option::of(prop::collection::vec(-9i32..10, d)),
                prop::collection::vec(any::<bool>(), n),
            )
        })
        .prop_flat_map(move |rows| {
            (Just(rows), prop::collection::vec(twist(), 0..3), scale.clone(), any::<bool>())
        })
        .prop_map(|((points, normal, labels), twists, scale, bias)| {
            let sign = |(point, up): (&Vec<i32>, &bool)| {
                let score = normal.iter().flatten().zip(point).map(|(w, x)| w * x).sum::<i32>();
                if score > 0 || score == 0 && *up { 1 } else { -1 }
            };
            let mut signs: Vec<i8> = points.iter().zip(&labels).map(sign).collect();
            let mut rows: Vec<Vec<f64>> =
                points.iter().map(|point| point.iter().map(|&x| f64::from(x) * scale).collect()).collect();
            for twist in twists {
                let n = rows.len();
                match twist {
                    Twist::Repeat(i) => {
                        rows.push(rows[i % n].clone());
                        signs.push(signs[i % n]);
                    }
                    Twist::Contradict(i) => {
                        rows.push(rows[i % n].clone());
                        signs.push(-signs[i % n]);
                    }
                    Twist::Empty(i) => rows[i % n].fill(0.0),
                    Twist::Stretch(i, by) => rows[i % n].iter_mut().for_each(|x| *x *= by),
                    Twist::OneClass => signs.fill(1),
                    Twist::Alone(i) => (rows, signs) = (vec![rows[i % n].clone()], vec![signs[i % n]]),
                }
            }
            Examples { rows, signs, scale, bias_input: if bias { scale } else { 0.0 } }
        })
}

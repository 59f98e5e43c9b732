//! The certified interval of the best margin, which every run carries.
//!
//! Duality: when the data is separable, γ* = min over λ ≥ 0, Σλ = 1 of ‖Σ λ_t z_t‖. So *any* θ bounds γ* from
//! below by min_t a_t(θ) / ‖θ‖, and *any* mistake counts bound it from above: a perceptron that started at zero
//! has θ_k = Σ α_t z_t with Σ α_t = k, hence ‖θ_k‖ / k ≥ γ* at every moment of every run.

pub use super::mistake_ledger::MistakeLedger;
use crate::dataset::{Dataset, Row};
use crate::linalg::{Interval, norm_interval};
use crate::theta::Theta;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which margin is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarginKind {
    /// The boundary goes through the origin.
    ThroughOrigin,
    /// The bias is the weight of an appended coordinate and counts in the norm.
    AppendedBias,
    /// The boundary may miss the origin at no cost: half the distance of the two classes' hulls.
    FreeBias,
    /// Of the functions of a kernel, with the norm of its space.
    KernelSpace,
    /// Of the row's class against the strongest other, in the stacked vectors of all classes.
    MultiClass,
    /// The smallest of the best margins of each class against the rest.
    OneAgainstRest,
    /// The same, of the functions of a kernel.
    KernelOneAgainstRest,
}

impl MarginKind {
    /// The margin of rows with an appended coordinate of this value, 0 for none.
    pub fn of_bias(bias_input: f64) -> Self {
        if bias_input == 0.0 { MarginKind::ThroughOrigin } else { MarginKind::AppendedBias }
    }

    /// The margin of several classes of which each, against the rest, has a margin of this kind.
    pub fn of_each_class(self) -> Self {
        match self {
            MarginKind::KernelSpace => MarginKind::KernelOneAgainstRest,
            _ => MarginKind::OneAgainstRest,
        }
    }

    /// Whether each class has a boundary of its own against the rest.
    pub fn is_of_each_class(self) -> bool {
        matches!(self, MarginKind::OneAgainstRest | MarginKind::KernelOneAgainstRest)
    }
}

/// The interval that is proved to contain the best margin γ* of the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginInterval {
    /// γ* is at least this; `None` when no weights were found that agree with every row.
    pub lower: Option<f64>,
    /// γ* is at most this.
    pub upper: f64,
    /// Which margin.
    pub kind: MarginKind,
}

impl MarginInterval {
    /// Intersects two intervals that contain γ* of the same rows.
    pub fn narrow(&mut self, other: &Self) {
        self.upper = self.upper.min(other.upper);
        self.lower = larger(self.lower, other.lower);
    }
}

/// The larger of two lower bounds; none is below every number.
pub(crate) fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// Squared lengths whose error is that of ordinary floats.
const ORDINARY: std::ops::Range<f64> = 1e-250..1e250;

/// The lengths of the rows z_t: the radius R = max ‖z_t‖, and the shortest, which γ* cannot exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// R is at least this.
    pub radius_lower: f64,
    /// R is at most this.
    pub radius_upper: f64,
    /// Some row is at most this long.
    pub shortest: f64,
    /// The shortest row that is not zero is about this long.
    pub shortest_nonzero: f64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { radius_lower: 0.0, radius_upper: 0.0, shortest: f64::MAX, shortest_nonzero: f64::MAX }
    }
}

impl Extent {
    /// Takes a row into account, with the appended coordinate if `bias_input` is not zero.
    pub fn include(&mut self, row: Row<'_>, bias_input: f64) {
        let squared = row.norm_squared() + bias_input * bias_input;
        let norm = if ORDINARY.contains(&squared) {
            norm_interval(squared, row.stored() + 1)
        } else {
            length_of_extreme(row, bias_input)
        };
        self.merge(&Self {
            radius_lower: norm.low,
            radius_upper: norm.high,
            shortest: norm.high,
            shortest_nonzero: if norm.high > 0.0 { norm.high } else { f64::MAX },
        });
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.radius_lower = self.radius_lower.max(other.radius_lower);
        self.radius_upper = self.radius_upper.max(other.radius_upper);
        self.shortest = self.shortest.min(other.shortest);
        self.shortest_nonzero = self.shortest_nonzero.min(other.shortest_nonzero);
    }

    /// The lengths of all rows.
    pub fn of(data: &Dataset, bias_input: f64) -> Self {
        let measured = || Self::of_squared(data.squared_lengths()?, data.columns(), bias_input);
        measured().unwrap_or_else(|| Self::of_each((0..data.len()).into_par_iter(), data, bias_input))
    }

    /// The same from the least and the largest squared length of dense rows, where both are ordinary floats: all rows have as
    /// many values, and then every bound of [`include`](Self::include) grows with the squared length.
    fn of_squared((least, most): (f64, f64), columns: usize, bias_input: f64) -> Option<Self> {
        let with_bias = |squared: f64| squared + bias_input * bias_input;
        let ordinary =
            |squared: f64| ORDINARY.contains(&squared).then(|| norm_interval(squared, columns + 1));
        let (least, most) = (ordinary(with_bias(least))?, ordinary(with_bias(most))?);
        Some(Self {
            radius_lower: most.low,
            radius_upper: most.high,
            shortest: least.high,
            shortest_nonzero: least.high,
        })
    }

    /// The lengths of these rows.
    pub fn of_rows(data: &Dataset, rows: &[usize], bias_input: f64) -> Self {
        Self::of_each(rows.par_iter().copied(), data, bias_input)
    }

    fn of_each(rows: impl IndexedParallelIterator<Item = usize>, data: &Dataset, bias_input: f64) -> Self {
        rows.with_min_len(1024)
            .fold(Self::default, |mut extent, i| {
                extent.include(data.row(i), bias_input);
                extent
            })
            .reduce(Self::default, |mut a, b| {
                a.merge(&b);
                a
            })
    }
}

/// The length of a row whose square is no ordinary float: measured after a division by a power of two, which is
/// exact but for values that vanish beside the largest.
#[cold]
fn length_of_extreme(row: Row<'_>, bias_input: f64) -> Interval {
    let largest = row.iter().fold(bias_input.abs(), |most, (_, x)| most.max(x.abs()));
    if largest == 0.0 {
        return Interval { low: 0.0, high: 0.0 };
    }
    let exponent = libm::ilogb(largest);
    let down = |x: f64| libm::scalbn(x, -exponent);
    let squared = row.iter().map(|(_, x)| down(x).powi(2)).sum::<f64>() + down(bias_input).powi(2);
    let norm = norm_interval(squared, row.stored() + 1);
    Interval {
        low: libm::scalbn(norm.low, exponent).next_down().max(0.0),
        high: libm::scalbn(norm.high, exponent).next_up(),
    }
}

/// The certified lower bound min_t a_t(θ) / ‖θ‖ of γ*, or `None` if some agreement is not certainly positive.
pub fn lower_bound(data: &Dataset, signs: &[i8], theta: &Theta) -> Option<f64> {
    least_agreement(data, signs, theta).map(|least| quotient_down(least, theta.norm().high))
}

/// A lower bound of the functional margin min_t a_t(θ), or `None` if it is not certainly positive.
pub fn least_agreement(data: &Dataset, signs: &[i8], theta: &Theta) -> Option<f64> {
    (0..data.len())
        .into_par_iter()
        .with_min_len(256)
        .map(|i| Some(certain_agreement(theta, data.row(i), signs[i])).filter(|&agreement| agreement > 0.0))
        .try_reduce(|| f64::MAX, |a, b| Some(a.min(b)))
}

/// A certified lower bound of a_t(θ).
pub(crate) fn certain_agreement(theta: &Theta, row: Row<'_>, sign: i8) -> f64 {
    let score = theta.certified_score(row);
    if sign > 0 { score.low } else { -score.high }
}

/// A certified lower bound of s_y − s_r: how far the row's class y is ahead of a rival r, where θ of each class is given.
pub fn certain_lead_over(thetas: &[Theta], row: Row<'_>, class: usize, rival: usize) -> f64 {
    let lead = thetas[class].certified_score(row).low - thetas[rival].certified_score(row).high;
    // A difference of equal bounds is exact; any other is rounded down.
    if lead == 0.0 { lead } else { lead.next_down() }
}

/// ‖Θ‖ of the vectors of all classes, stacked into one, rounded up.
pub(crate) fn stacked_norm(thetas: &[Theta]) -> f64 {
    let norms = thetas.iter().map(|theta| theta.norm().high);
    norms.fold(0.0f64, |norm, part| norm.hypot(part).next_up().next_up())
}

/// a / b rounded down, for a > 0 and b > 0.
pub(crate) fn quotient_down(a: f64, b: f64) -> f64 {
    (a / b).next_down().max(0.0)
}

/// a / b rounded up, for a ≥ 0 and b > 0.
pub(crate) fn quotient_up(a: f64, b: f64) -> f64 {
    (a / b).next_up()
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::super::mistake_ledger::tests::{dataset, grid_rows};
    use super::*;
    use crate::train::{MistakeRule, Perceptron};
    use proptest::prelude::*;

    proptest! {
        /// Weak duality on the very numbers: any θ's lower bound is at most any run's upper bound, whatever
        /// the scale of the data, and both come from independent computations.
        #[test]
        fn no_lower_bound_exceeds_an_upper_bound(
            (rows, labels) in grid_rows(),
            weights in prop::collection::vec(-40i32..40, 5),
            scale in prop_oneof![Just(1.0), Just(0.1), Just(1e-60), Just(1e60), Just(std::f64::consts::PI)],
            epochs in 1usize..30,
        ) {
            let data = dataset(&rows, &labels, scale);
            let signs: Vec<i8> = labels.iter().map(|&b| if b { 1 } else { -1 }).collect();
            let bias_input = scale;
            let mut perceptron = Perceptron::new(Theta::zero(data.columns(), bias_input), MistakeRule::NonPositive);
            let mut ledger = MistakeLedger::new(&perceptron.theta);
            let mut lowers: Vec<f64> = Vec::new();
            let guess = Theta {
                weights: weights[..data.columns()].iter().map(|&w| f64::from(w)).collect(),
                bias: f64::from(weights[4]),
                bias_input,
            };
            lowers.extend(lower_bound(&data, &signs, &guess));
            let mut uppers = vec![Extent::of(&data, bias_input).shortest];
            for _ in 0..epochs {
                for (i, &sign) in signs.iter().enumerate() {
                    let (row, y) = (data.row(i), f64::from(sign));
                    if let Some(agreement) = perceptron.learn(row, y) {
                        ledger.record(agreement, perceptron.theta.extended_norm_squared(row), row.stored() + 1);
                        uppers.extend(ledger.upper_bound(&perceptron.theta, None));
                        prop_assert!(ledger.norm_squared() >= perceptron.theta.norm().low.powi(2));
                    }
                }
                ledger.tighten(&perceptron.theta);
                uppers.extend(ledger.upper_bound(&perceptron.theta, None));
                lowers.extend(lower_bound(&data, &signs, &perceptron.theta));
            }
            for lower in &lowers {
                for upper in &uppers {
                    prop_assert!(lower <= upper, "{lower} > {upper}");
                }
            }
        }

        /// Rows that are repeated, contradictory, zero or alone, of any scale: the interval is never empty, and a
        /// lower bound is only given where one can be.
        #[test]
        fn the_interval_survives_hostile_rows(examples in examples(), weights in prop::collection::vec(-9i32..10, 4), passes in 1usize..40) {
            let data = examples.dataset();
            let extent = Extent::of(&data, examples.bias_input);
            prop_assert!(extent.radius_lower <= extent.radius_upper && extent.shortest <= extent.radius_upper);
            let (theta, mistakes) = examples.learn(passes);
            let mut replay = Theta::zero(data.columns(), examples.bias_input);
            let mut ledger = MistakeLedger::new(&replay);
            let mut upper = extent.shortest;
            for &i in &mistakes {
                let (row, y) = (data.row(i as usize), f64::from(examples.signs[i as usize]));
                let agreement = y * replay.score(row);
                replay.add(y, row);
                ledger.record(agreement, replay.extended_norm_squared(row), row.stored() + 1);
                upper = upper.min(ledger.upper_bound(&replay, None).unwrap());
            }
            prop_assert_eq!(&replay, &theta);
            prop_assert!(upper.is_finite() && upper >= 0.0);
            for theta in [theta, examples.theta(&weights), Theta::zero(data.columns(), examples.bias_input)] {
                let lower = lower_bound(&data, &examples.signs, &theta);
                prop_assert!(lower.is_none_or(|lower| 0.0 <= lower && lower <= upper), "{lower:?} {upper}");
                prop_assert!(lower.is_none() || !examples.are_hopeless());
            }
            // One row alone is its own best separator: γ* is its length.
            if data.len() == 1 {
                let mut own = Theta::zero(data.columns(), examples.bias_input);
                own.add(f64::from(examples.signs[0]), data.row(0));
                match lower_bound(&data, &examples.signs, &own) {
                    Some(lower) => prop_assert!(lower <= extent.radius_upper && lower >= extent.radius_lower * (1.0 - 1e-12)),
                    None => prop_assert_eq!(extent.radius_upper, 0.0),
                }
            }
        }

        /// Lengths that were measured when the rows were checked are those of the rows, to the bit.
        #[test]
        fn measured_lengths_are_those_of_the_rows(
            values in prop::collection::vec(prop_oneof![Just(0.0), -3.0f64..3.0, Just(1e-170), Just(1e170)], 1..60),
            columns in 1usize..5,
            bias_input in prop_oneof![Just(0.0), Just(1.0), Just(0.3)],
        ) {
            let rows = values.len().div_ceil(columns);
            let mut values = values;
            values.resize(rows * columns, 0.5);
            let labels: Vec<String> = (0..rows).map(|i| (i % 2).to_string()).collect();
            let plain = Dataset::dense(columns, &values, &labels).unwrap();
            let measured = Dataset::shared_dense(columns, values, &labels).unwrap();
            prop_assert!(plain.squared_lengths().is_none() && measured.squared_lengths().is_some());
            prop_assert_eq!(Extent::of(&measured, bias_input), Extent::of(&plain, bias_input));
            prop_assert_eq!(measured.nonzeros(), plain.nonzeros());
        }

        /// A power of two on all values is a power of two on all lengths, wherever the squares end up.
        #[test]
        fn lengths_scale_over_the_whole_range(values in prop::collection::vec(-9i32..10, 1..6), power in -1040i32..1000) {
            let plain: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
            let scaled: Vec<f64> = plain.iter().map(|&x| libm::scalbn(x, power)).collect();
            let measure = |row: &[f64]| {
                let mut extent = Extent::default();
                extent.include(Row::DenseF64(row), 0.0);
                extent
            };
            let (plain, scaled) = (measure(&plain), measure(&scaled));
            prop_assert!(scaled.radius_lower <= libm::scalbn(plain.radius_upper, power));
            prop_assert!(scaled.radius_upper >= libm::scalbn(plain.radius_lower, power));
            prop_assert!(scaled.radius_upper <= libm::scalbn(plain.radius_upper * (1.0 + 1e-12), power) + 1e-322);
            prop_assert_eq!(scaled.radius_upper == 0.0, values.iter().all(|&x| x == 0));
        }
    }
}

//! The margin of separable rows, between two proved ends.

use super::agreements::{Agreements, positive_agreements};
use super::budget::Budget;
use super::exact_point::{End, Hull, Points, Start, exact_point};
use super::examples::Examples;
use super::nearest::{Nearest, Space, nearest};
use super::number::{Exact, ExactVector, quotient_down, quotient_up};
use super::real::DoubleDouble;
use dashu_int::IBig;
use linsep_check::{Bias, Margin, Sparse};
use std::cmp::Ordering;

/// The best weights and the best combination so far.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) weights: ExactVector,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Rows with their coefficients, whole numbers.
    pub(super) combination: Vec<(usize, IBig)>,
    /// Rows nearest to the boundary of the weights, with their distances.
    pub(super) closest: Vec<(usize, f64)>,
}

impl Bounds {
    /// What these weights, positive on all rows, prove; nothing is known from above.
    pub(super) fn new(examples: &Examples<'_>, weights: ExactVector, agreements: &Agreements) -> Self {
        let norm_squared = weights.norm_squared(normed(examples));
        let lower =
            if norm_squared.sign().is_gt() { quotient_down(&agreements.least, &norm_squared) } else { 0.0 };
        // A distance is an agreement over the length of the features' weights, whatever counts in the margin.
        let squared = weights.norm_squared(examples.data().columns());
        let distance = |row: usize| match squared.sign() {
            Ordering::Greater => quotient_down(&weights.dot(examples, row), &squared),
            _ => f64::INFINITY,
        };
        let mut closest: Vec<(usize, f64)> =
            agreements.closest.iter().map(|&(row, _)| (row, distance(row))).collect();
        closest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Self { weights, lower, upper: f64::MAX, combination: Vec::new(), closest }
    }

    /// Takes the combination, if it proves more.
    pub(super) fn offer_combination(&mut self, examples: &Examples<'_>, support: &[(usize, [f64; 2])]) {
        self.offer_whole(examples, whole_coefficients(examples, support));
    }

    fn offer_whole(&mut self, examples: &Examples<'_>, combination: Vec<(usize, IBig)>) {
        if let Some(upper) = upper_bound(examples, &combination)
            && upper < self.upper
        {
            (self.upper, self.combination) = (upper, combination);
        }
    }

    /// Takes the weights, if they prove more.
    pub(super) fn offer_weights(
        &mut self,
        examples: &Examples<'_>,
        rows: &[usize],
        weights: ExactVector,
        radius: f64,
    ) {
        if let Ok(agreements) = positive_agreements(examples, rows, &weights, radius) {
            let other = Self::new(examples, weights, &agreements);
            if other.lower > self.lower {
                (self.weights, self.lower, self.closest) = (other.weights, other.lower, other.closest);
            }
        }
    }

    pub(super) fn offer(&mut self, examples: &Examples<'_>, rows: &[usize], found: &Nearest, radius: f64) {
        self.offer_combination(examples, &found.support);
        if !found.w.is_empty() {
            self.offer_weights(examples, rows, ExactVector::from_parts(&found.w), radius);
        }
    }

    /// Whether the ends are as close as asked.
    pub(super) fn is_within(&self, gap: f64) -> bool {
        self.upper - self.lower <= gap * self.upper
    }

    pub(super) fn to_claim(&self) -> Margin {
        Margin { lower: self.lower, upper: self.upper, combination: sparse(&self.combination) }
    }

    /// Narrows the interval by the nearest point in higher precision, then in whole numbers where that is affordable.
    pub(super) fn narrow(&mut self, space: &Space<'_>, rows: &[usize], gap: f64, budget: &mut Budget<'_>) {
        if !self.is_within(gap) && !budget.is_over() {
            budget.begin("margin, in higher precision");
            let found = nearest::<DoubleDouble>(space, rows, &[], &self.shares(), budget);
            self.offer(space.examples, rows, &found, space.radius);
        }
        // Exact systems take a time that grows with the fourth power of their size or so.
        const AFFORDABLE: usize = 256;
        if !self.is_within(gap) && !budget.is_over() && space.examples.dimension() <= AFFORDABLE {
            budget.begin("margin, in whole numbers");
            self.narrow_exactly(space, rows, budget);
        }
    }

    /// The rows of the combination with their coefficients, rounded.
    fn shares(&self) -> Vec<(usize, f64)> {
        let rounded = |value: &IBig| Exact::new(value.clone(), 0).approximate();
        self.combination.iter().map(|(row, value)| (*row, rounded(value))).collect()
    }

    /// The exact nearest point, whose only gap is that of the floats around it.
    fn narrow_exactly(&mut self, space: &Space<'_>, rows: &[usize], budget: &mut Budget<'_>) {
        let examples = space.examples;
        let hull = if space.two_hulls { Hull::TwoSides } else { Hull::Rows };
        let end =
            exact_point(Points { examples, hull }, &[], rows, &Start { rows: self.shares() }, &mut || {
                budget.is_over()
            });
        if let End::Outside { weights, exponent, support, .. } = end {
            let mut w = ExactVector { values: weights, exponent };
            if space.two_hulls {
                // Midway between the levels of the two sides.
                let level = |side: i8| {
                    let row = support.iter().find(|(row, _)| examples.signs()[*row] == side);
                    row.map_or(Exact::zero(), |(row, _)| w.dot(examples, *row))
                };
                let bias = level(-1).minus(&level(1)).times(&Exact::from_f64(0.5));
                w = w.with_last(&bias);
            }
            self.offer_whole(examples, support);
            self.offer_weights(examples, rows, w, space.radius);
        }
    }
}

/// Coordinates that count in the norm.
fn normed(examples: &Examples<'_>) -> usize {
    match examples.bias() {
        Bias::Free => examples.data().columns(),
        Bias::None | Bias::Append(_) => examples.dimension(),
    }
}

fn sparse(combination: &[(usize, IBig)]) -> Sparse {
    let mut sorted: Vec<(usize, IBig)> = combination.to_vec();
    sorted.sort_by_key(|&(row, _)| row);
    sorted.into_iter().map(|(row, value)| (row, Exact::new(value, 0).to_dyadic())).collect()
}

/// More rows than this are many: their combination is computed in floats, with a bound of the rounding errors.
const MANY: usize = 2000;

/// ‖Σ λ z‖ / Σ λ rounded up.
fn upper_bound(examples: &Examples<'_>, combination: &[(usize, IBig)]) -> Option<f64> {
    if combination.len() > MANY
        && let Some(upper) = rounded_upper_bound(examples, combination)
    {
        return Some(upper);
    }
    let mut sum: Vec<Exact> = vec![Exact::zero(); normed(examples)];
    let mut total = IBig::ZERO;
    for (row, coefficient) in combination {
        total += coefficient;
        let coefficient = Exact::new(coefficient.clone(), 0);
        for (column, value) in examples.entries(*row).filter(|&(column, _)| column < normed(examples)) {
            let term = Exact::from_f64(value).times(&coefficient);
            sum[column] = sum[column].plus(&term);
        }
    }
    let squared = sum.iter().fold(Exact::zero(), |squared, value| squared.plus(&value.times(value)));
    (total > IBig::ZERO).then(|| quotient_up(&squared, &Exact::new(total, 0)))
}

/// The same in floats, larger by what rounding errors can hide: a part of about 10⁻¹⁰ or less. `None` where numbers are too large or too
/// small for floats.
///
/// A coordinate is a sum of n ≤ rows terms, in which each λ and each product is rounded once: its error is at most (n + 2)·u·s·(1 + small) for
/// the sum s of sizes, which is itself computed with such an error. 2·(n + 8)·u·s is room enough for all of these.
fn rounded_upper_bound(examples: &Examples<'_>, combination: &[(usize, IBig)]) -> Option<f64> {
    const U: f64 = f64::EPSILON / 2.0;
    const ORDINARY: std::ops::Range<f64> = 1e-100..1e100;
    let terms = combination.len() as f64 + 8.0;
    let width = normed(examples);
    let mut sums = vec![[0.0; 2]; width];
    let mut total = 0.0;
    for (row, coefficient) in combination {
        let (fraction, exponent) = Exact::new(coefficient.clone(), 0).scaled();
        let coefficient = libm::scalbn(fraction, exponent.clamp(-2000, 2000) as i32);
        total += coefficient;
        for (column, value) in examples.entries(*row).filter(|&(column, _)| column < width) {
            let product = coefficient * value;
            // A product that underflowed would have an error that the bound does not count.
            if !ORDINARY.contains(&product.abs()) {
                return None;
            }
            sums[column][0] += product;
            sums[column][1] += product.abs();
        }
    }
    let square = |&[sum, size]: &[f64; 2]| (sum.abs() + 2.0 * terms * U * size).powi(2);
    let squared: f64 = sums.iter().map(square).sum();
    let slack = 1.0 + 4.0 * (terms + sums.len() as f64) * U;
    let upper = squared.sqrt() / total * slack * slack;
    ORDINARY.contains(&upper).then_some(upper)
}

/// The upper end of the margin that these coefficients prove, if they prove one.
pub(super) fn proved_upper(examples: &Examples<'_>, support: &[(usize, [f64; 2])]) -> Option<f64> {
    upper_bound(examples, &whole_coefficients(examples, support))
}

/// Coefficients as whole numbers of a unit of 2⁻¹²⁰, or of 2⁻⁶⁴ where they are many and none is exact. For a free bias both sides sum
/// to the same.
fn whole_coefficients(examples: &Examples<'_>, support: &[(usize, [f64; 2])]) -> Vec<(usize, IBig)> {
    let power: i64 =
        if support.len() > MANY && support.iter().all(|(_, parts)| parts[1] == 0.0) { 64 } else { 120 };
    let whole = |parts: [f64; 2]| {
        let unit = Exact::new(IBig::ONE, power);
        Exact::from_parts(parts).times(&unit).floor()
    };
    let mut combination: Vec<(usize, IBig)> = support
        .iter()
        .map(|&(row, parts)| (row, whole(parts)))
        .filter(|(_, value)| *value > IBig::ZERO)
        .collect();
    if examples.bias() == Bias::Free {
        let one = IBig::from(1) << power as usize;
        for side in [1, -1] {
            let members = || (0..combination.len()).filter(|&k| examples.signs()[combination[k].0] == side);
            let total = members().fold(IBig::ZERO, |sum, k| sum + &combination[k].1);
            let Some(largest) = members().max_by(|&a, &b| combination[a].1.cmp(&combination[b].1)) else {
                return Vec::new();
            };
            // Rounding leaves both sums near one: the largest coefficient takes what is missing.
            combination[largest].1 += &one - total;
            if combination[largest].1 <= IBig::ZERO {
                return Vec::new();
            }
        }
    }
    combination
}

#[cfg(test)]
mod tests {
    use super::super::decide::{Found, search};
    use super::super::testing::instances::{Instance, instance};
    use super::super::testing::oracle::{boundary, fraction, squared_margin, squared_margin_free};
    use super::super::testing::{self, is_tame, times};
    use super::*;
    use crate::random::Random;
    use dashu_ratio::RBig;

    fn exact_squared(problem: &Instance) -> RBig {
        if problem.bias != Bias::Free {
            return squared_margin(&problem.z());
        }
        let present = problem.present();
        let rows: Vec<Vec<f64>> = present.iter().map(|&i| problem.rows[i].clone()).collect();
        let signs: Vec<i8> = present.iter().map(|&i| problem.signs[i]).collect();
        squared_margin_free(&rows, &signs)
    }

    fn check(bounds: &Bounds, squared: &RBig, told: &str) {
        let (low, high) = (fraction(bounds.lower), fraction(bounds.upper));
        assert!(&low * &low <= *squared, "{told}: {:e} is above the margin", bounds.lower);
        assert!(&high * &high >= *squared, "{told}: {:e} is below the margin", bounds.upper);
    }

    /// Separable problems with both sides, whose exact margin is cheap.
    fn separable() -> impl Iterator<Item = (String, Instance)> {
        (0..times(1500)).filter_map(|number| {
            let (family, problem) = instance(71, number);
            let z = problem.z();
            let usable = problem.has_both_sides() && is_tame(&z, 120) && !boundary(&z).contains(&true);
            usable.then(|| (format!("{number}, {family}, {:?}", problem.bias), problem))
        })
    }

    #[test]
    fn bounds_contain_the_margin_and_close_in_on_it() {
        let mut seen = 0;
        for (told, problem) in separable() {
            let data = problem.dataset();
            let examples = testing::examples(&data, &problem);
            let (space, rows) = (testing::space(&examples), problem.present());
            let squared = exact_squared(&problem);
            let observer = &mut ();
            let mut budget = Budget::new(observer, None);
            let (_, found, _) = search(&space, &rows, false, &mut budget);
            let Found::Positive { w, agreements, support, .. } = found else { panic!("{told}") };
            let mut bounds = Bounds::new(&examples, w, &agreements);
            assert_eq!(bounds.upper, f64::MAX);
            check(&bounds, &squared, &told);
            bounds.offer_combination(&examples, &support);
            check(&bounds, &squared, &told);
            // Any shares and any weights prove something, and nothing gets worse.
            let random = &mut Random::stream(72, seen);
            for _ in 0..4 {
                let before = (bounds.lower, bounds.upper);
                let shares: Vec<(usize, [f64; 2])> = rows
                    .iter()
                    .map(|&row| (row, [random.uniform().powi(8), 1e-20 * random.normal()]))
                    .collect();
                bounds.offer_combination(&examples, &shares);
                let (near, _) = bounds.weights.rounded();
                let near: Vec<f64> = near.iter().map(|w| w * (1.0 + 1e-3 * random.normal())).collect();
                bounds.offer_weights(&examples, &rows, ExactVector::from_f64(&near), space.radius);
                check(&bounds, &squared, &told);
                assert!(bounds.lower >= before.0 && bounds.upper <= before.1, "{told}");
            }
            let two_hulls = problem.bias == Bias::Free;
            bounds.narrow(&Space { two_hulls, ..space }, &rows, 1e-15, &mut budget);
            check(&bounds, &squared, &told);
            assert!(bounds.is_within(1e-15), "{told}: {:e} to {:e}", bounds.lower, bounds.upper);
            // The closest row is as far away as the lower end says, or further where the bias counts in that.
            let nearest = bounds.closest[0].1;
            assert!(nearest >= bounds.lower * (1.0 - 1e-9), "{told}: {nearest:e}, {:e}", bounds.lower);
            let appended = matches!(problem.bias, Bias::Append(_));
            assert!(appended || nearest <= bounds.lower * (1.0 + 1e-9), "{told}: {nearest:e}");
            let claim = bounds.to_claim();
            assert!(claim.combination.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told}");
            assert!(claim.combination.iter().all(|(_, share)| share.sign().is_gt()), "{told}");
            seen += 1;
        }
        assert!(seen > 250, "{seen}");
    }

    /// In floats the bound is above the exact one, and hardly so.
    #[test]
    fn an_upper_end_in_floats_is_above_the_exact_one() {
        let mut refused = 0;
        for number in 0..times(300) {
            let random = &mut Random::stream(74, number);
            let (n, d) = (testing::from(random, 2, 60), testing::from(random, 1, 5));
            let mut signs = testing::sides(random, n);
            (signs[0], signs[1]) = (1, -1);
            let mut rows = testing::normals(random, n, d);
            // Rows that nearly cancel, and now and then numbers of other sizes.
            if random.below(2) == 0 {
                (1..n).for_each(|i| (rows[i], signs[i]) = (rows[0].clone(), if i % 2 == 0 { 1 } else { -1 }));
                rows[n - 1][0] *= 1.0 + 1e-9;
            }
            let size = [1.0, 1e-40, 1e40, 1e-200][random.below(4) as usize];
            rows.iter_mut().flatten().for_each(|value| *value *= size);
            let bias = [Bias::None, Bias::Append(0.5), Bias::Free][random.below(3) as usize];
            let problem = testing::problem(rows, signs, bias);
            let data = problem.dataset();
            let examples = testing::examples(&data, &problem);
            let whole: Vec<(usize, IBig)> =
                (0..n).map(|row| (row, IBig::from(random.below(1 << 60)) + 1)).collect();
            let exact = upper_bound(&examples, &whole).unwrap();
            match rounded_upper_bound(&examples, &whole) {
                None => refused += 1,
                Some(upper) => {
                    let length = examples
                        .present()
                        .map(|row| crate::linalg::norm_squared(&examples.dense(row)).sqrt());
                    let longest = length.fold(0.0, f64::max);
                    assert!(upper >= exact, "{number}: {upper:e} is below {exact:e}");
                    assert!(upper - exact <= 1e-11 * longest, "{number}: {upper:e} is far above {exact:e}");
                }
            }
        }
        assert!((10..200).contains(&refused), "{refused}");
    }

    /// For a free bias both sides sum to exactly the same, whatever rounding did to the shares.
    #[test]
    fn sums_of_both_sides_are_equal() {
        for number in 0..300 {
            let random = &mut Random::stream(73, number);
            let n = testing::from(random, 2, 20);
            let mut signs = testing::sides(random, n);
            (signs[0], signs[1]) = (1, -1);
            let problem = testing::problem(testing::normals(random, n, 2), signs, Bias::Free);
            let data = problem.dataset();
            let examples = testing::examples(&data, &problem);
            let mut shares: Vec<f64> = (0..n).map(|_| random.uniform() + 1e-3).collect();
            for side in [1, -1] {
                let ours: Vec<usize> = (0..n).filter(|&i| problem.signs[i] == side).collect();
                let total: f64 = ours.iter().map(|&i| shares[i]).sum();
                ours.iter().for_each(|&i| shares[i] /= total);
            }
            let support: Vec<(usize, [f64; 2])> =
                shares.iter().enumerate().map(|(i, &share)| (i, [share, 1e-18 * random.normal()])).collect();
            let whole = whole_coefficients(&examples, &support);
            let sum = |side: i8| {
                let ours = whole.iter().filter(|(row, _)| problem.signs[*row] == side);
                ours.fold(IBig::ZERO, |sum, (_, value)| sum + value)
            };
            assert_eq!(sum(1), IBig::from(1) << 120);
            assert_eq!(sum(1), sum(-1));
            assert!(whole.iter().all(|(_, value)| *value > IBig::ZERO));
            // They are the shares, but for the rounding.
            for (row, value) in &whole {
                let value = Exact::new(value.clone(), -120).approximate();
                assert!((value - shares[*row]).abs() < 1e-14);
            }
            // A side without rows has no sum.
            let positive: Vec<(usize, [f64; 2])> =
                support.iter().copied().filter(|(row, _)| problem.signs[*row] == 1).collect();
            assert!(whole_coefficients(&examples, &positive).is_empty());
        }
    }
}

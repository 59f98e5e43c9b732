//! Dual coordinate descent for the hard margin, for many features: a perceptron whose steps have the best size.
//!
//! It minimises ½‖Σ λ z‖² − Σ λ over λ ≥ 0, one λ_i at a time. At every moment w = Σ λ z bounds the margin from below
//! where it separates, and ‖w‖ / Σ λ bounds it from above. Modulo a subspace L, rows are projected along L, without
//! storing them: w stays orthogonal to L, and of a row only its coefficients in a basis of L are kept.

use super::examples::Examples;
use crate::kernel::norm_squared;
use crate::random::Random;

/// The state of a descent.
pub(super) struct Descent<'a> {
    examples: &'a Examples<'a>,
    rows: Vec<usize>,
    /// ‖z‖² modulo L of each row.
    squared: Vec<f64>,
    /// Orthonormal basis of L, and the coefficients of each row in it that are not zero.
    basis: Vec<Vec<f64>>,
    along: Vec<Vec<(u32, f64)>>,
    /// Σ λ z, and its coefficients in the basis.
    sum: Vec<f64>,
    sum_along: Vec<f64>,
    /// One for each row.
    lambda: Vec<f64>,
    /// Places of the rows that the next passes look at.
    active: Vec<usize>,
    /// The most that a λ may be.
    price: f64,
    worst: f64,
    passes: u64,
    random: Random,
}

/// Every so many passes all rows are looked at again.
const WHOLE: u64 = 8;

impl<'a> Descent<'a> {
    pub(super) fn new(examples: &'a Examples<'a>, rows: &[usize], free: &[usize], seed: u64) -> Self {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for &row in free {
            let mut direction = examples.dense(row);
            let before = norm_squared(&direction).sqrt();
            for _ in 0..2 {
                for other in &basis {
                    let part = crate::kernel::dot_dense(&direction, other);
                    crate::kernel::add_dense(-part, other, &mut direction);
                }
            }
            let norm = norm_squared(&direction).sqrt();
            // What is left of a row that depends on the others is rounding, in no good direction.
            if norm > 1e-13 * before {
                direction.iter_mut().for_each(|x| *x /= norm);
                basis.push(direction);
            }
        }
        let bias = examples.bias_input();
        let mut along = Vec::new();
        let squared = rows
            .iter()
            .map(|&row| {
                let whole = examples.data().row(row).norm_squared() + bias * bias;
                let parts: Vec<(u32, f64)> = basis
                    .iter()
                    .enumerate()
                    .map(|(k, direction)| (k as u32, examples.dot(row, direction)))
                    .filter(|&(_, part)| part != 0.0)
                    .collect();
                let inside: f64 = parts.iter().map(|(_, part)| part * part).sum();
                if !basis.is_empty() {
                    along.push(parts);
                }
                // Where only rounding is left, a step would be long and lead nowhere.
                if whole - inside > 1e-13 * whole { whole - inside } else { 0.0 }
            })
            .collect();
        Self {
            examples,
            squared,
            along,
            sum: vec![0.0; examples.dimension()],
            sum_along: vec![0.0; basis.len()],
            basis,
            lambda: vec![0.0; rows.len()],
            active: (0..rows.len()).collect(),
            rows: rows.to_vec(),
            price: f64::INFINITY,
            worst: f64::INFINITY,
            passes: 0,
            random: Random::stream(seed, 5),
        }
    }

    /// No λ above this: a soft margin, with this price of a loss.
    pub(super) fn with_price(self, price: f64) -> Self {
        Self { price, ..self }
    }

    fn along(&self, place: usize) -> &[(u32, f64)] {
        self.along.get(place).map_or(&[], |parts| parts)
    }

    /// One pass over the rows that matter, in random order.
    pub(super) fn pass(&mut self) {
        if self.passes.is_multiple_of(WHOLE) {
            self.active = (0..self.rows.len()).collect();
        }
        self.passes += 1;
        let mut order = std::mem::take(&mut self.active);
        self.random.shuffle(&mut order);
        let (limit, mut worst) = (self.worst, 0.0f64);
        order.retain(|&place| {
            let agreement = self.agreement(place);
            let slack = 1.0 - agreement;
            let lambda = self.lambda[place];
            if lambda == 0.0 && slack <= 0.0 {
                // Far on the right side: the next passes need not look.
                return -slack <= limit;
            }
            worst = worst.max(slack.abs());
            if self.squared[place] > 0.0 {
                let next = (lambda + slack / self.squared[place]).clamp(0.0, self.price);
                self.step(place, next - lambda);
                self.lambda[place] = next;
            }
            true
        });
        self.active = order;
        self.worst = if self.passes.is_multiple_of(WHOLE) { f64::INFINITY } else { worst.max(1e-12) };
    }

    fn agreement(&self, place: usize) -> f64 {
        let whole = self.examples.dot(self.rows[place], &self.sum);
        self.along(place).iter().fold(whole, |rest, &(k, part)| rest - part * self.sum_along[k as usize])
    }

    fn step(&mut self, place: usize, size: f64) {
        let row = self.rows[place];
        let signed = size * f64::from(self.examples.signs()[row]);
        let columns = self.examples.data().columns();
        self.examples.data().row(row).add_to(signed, &mut self.sum[..columns]);
        if let Some(bias) = self.sum.get_mut(columns) {
            *bias += signed * self.examples.bias_input();
        }
        if let Some(parts) = self.along.get(place) {
            for &(k, part) in parts {
                self.sum_along[k as usize] += size * part;
            }
        }
    }

    /// The weights: Σ λ z, projected along L.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut w = self.sum.clone();
        for _ in 0..2 {
            for direction in &self.basis {
                let part = crate::kernel::dot_dense(&w, direction);
                crate::kernel::add_dense(-part, direction, &mut w);
            }
        }
        w
    }

    /// min ⟨w, z⟩ / ‖w‖ and ‖w‖ / Σ λ, both rounded: what the descent has bought.
    pub(super) fn interval(&self) -> (f64, f64) {
        let w = self.weights();
        let norm = norm_squared(&w).sqrt();
        let least = self.rows.iter().map(|&row| self.examples.dot(row, &w)).fold(f64::INFINITY, f64::min);
        (least / norm, norm / self.lambda.iter().sum::<f64>())
    }

    /// The rows with the largest λ.
    pub(super) fn heaviest(&self, most: usize) -> Vec<usize> {
        let mut support = self.support();
        support.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        support.into_iter().take(most).map(|(row, _)| row).collect()
    }

    /// Rows with λ > 0.
    pub(super) fn support(&self) -> Vec<(usize, f64)> {
        self.rows
            .iter()
            .zip(&self.lambda)
            .filter(|(_, lambda)| **lambda > 0.0)
            .map(|(&row, &l)| (row, l))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bias;
    use super::super::testing::instances::Instance;
    use super::super::testing::oracle::{boundary, fraction, squared_margin};
    use super::super::testing::{examples, from, grid, normals, problem, sides, times};
    use super::*;
    use dashu_ratio::RBig;

    fn draw(number: u64) -> Instance {
        let random = &mut Random::stream(51, number);
        let (n, d) = (from(random, 1, 14), from(random, 1, 6));
        let rows = if random.below(2) == 0 { grid(random, n, d, 3) } else { normals(random, n, d) };
        let bias = [Bias::None, Bias::Append(0.5), Bias::Free][random.below(3) as usize];
        Instance { sparse: random.below(2) == 0, ..problem(rows, sides(random, n), bias) }
    }

    /// Σ λ z as the descent has it against the sum over all rows, and what else must hold at any moment.
    fn check_state(descent: &Descent<'_>, told: &str) {
        let mut sum = vec![0.0; descent.sum.len()];
        let (mut size, mut total) = (1.0, 0.0);
        for (&row, &lambda) in descent.rows.iter().zip(&descent.lambda) {
            assert!(lambda >= 0.0 && lambda <= descent.price, "{told}: λ = {lambda}");
            let z = descent.examples.dense(row);
            sum.iter_mut().zip(&z).for_each(|(sum, z)| *sum += lambda * z);
            size += lambda * norm_squared(&z).sqrt();
            total += lambda;
        }
        // Steps that were taken back may have left more than the λ of now tell of.
        let tolerance = 1e-10 * size;
        for (ours, expected) in descent.sum.iter().zip(&sum) {
            assert!((ours - expected).abs() <= tolerance, "{told}: {ours} is not {expected}");
        }
        let support = descent.support();
        assert_eq!(support.iter().map(|(_, lambda)| lambda).sum::<f64>(), total, "{told}");
        assert!(support.iter().all(|(row, _)| descent.rows.contains(row)), "{told}");
        let heaviest = descent.heaviest(3);
        assert_eq!(heaviest.len(), support.len().min(3), "{told}");
        let of = |row: usize| support.iter().find(|(other, _)| *other == row).unwrap().1;
        if let Some(&last) = heaviest.last() {
            let others = support.iter().filter(|(row, _)| !heaviest.contains(row));
            assert!(others.clone().all(|&(_, lambda)| lambda <= of(last)), "{told}");
        }
        // Modulo L: orthogonal to it, and agreements are those with the projected weights.
        let w = descent.weights();
        for direction in &descent.basis {
            let part = crate::kernel::dot_dense(&w, direction);
            assert!(part.abs() <= tolerance, "{told}: not orthogonal to L by {part:e}");
        }
        for (place, &row) in descent.rows.iter().enumerate() {
            let off = descent.agreement(place) - descent.examples.dot(row, &w);
            assert!(off.abs() <= 100.0 * tolerance, "{told}: agreement off by {off:e}");
        }
    }

    #[test]
    fn the_interval_contains_the_margin() {
        let (mut separable, mut narrow) = (0, 0);
        for number in 0..times(500) {
            let problem = draw(number);
            let z = problem.z();
            if boundary(&z).contains(&true) {
                continue;
            }
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let squared = squared_margin(&z);
            let mut descent = Descent::new(&examples, &problem.present(), &[], number);
            for pass in 1..=256u32 {
                descent.pass();
                if !pass.is_power_of_two() {
                    continue;
                }
                check_state(&descent, &format!("{number}, pass {pass}"));
                let (lower, upper) = descent.interval();
                // Both are rounded.
                let (low, high) = (fraction(lower.max(0.0) * (1.0 - 1e-12)), fraction(upper * (1.0 + 1e-12)));
                assert!(&low * &low <= squared, "{number}: {lower} is above the margin");
                assert!(&high * &high >= squared, "{number}: {upper} is below the margin");
                if pass == 256 {
                    separable += 1;
                    narrow += usize::from(upper - lower <= 1e-3 * upper);
                }
            }
        }
        assert!(separable > 100 && narrow * 10 > separable * 7, "{narrow} of {separable}");
    }

    #[test]
    fn modulo_a_subspace_weights_are_orthogonal_to_it() {
        for number in 0..times(300) {
            let problem = draw(number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let random = &mut Random::stream(52, number);
            let present = problem.present();
            let count = random.below(4).min(present.len() as u64) as usize;
            // The first row twice: what depends on others adds nothing that could hurt.
            let mut free: Vec<usize> = present[..count].to_vec();
            free.extend(present.first().filter(|_| count > 0));
            let rest = &present[count..];
            let mut descent = Descent::new(&examples, rest, &free, number);
            for pass in 0..20 {
                descent.pass();
                check_state(&descent, &format!("{number}, pass {pass}"));
            }
        }
    }

    /// With a price no λ is above it, and the objective never rises.
    #[test]
    fn a_price_caps_and_the_objective_falls() {
        for number in 0..times(300) {
            let problem = draw(number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let price = [0.01, 1.0, 100.0][(number % 3) as usize];
            let mut descent = Descent::new(&examples, &problem.present(), &[], number).with_price(price);
            let mut before = 0.0;
            for pass in 0..40 {
                descent.pass();
                check_state(&descent, &format!("{number}, pass {pass}"));
                let total: f64 = descent.lambda.iter().sum();
                let objective = 0.5 * norm_squared(&descent.weights()) - total;
                assert!(objective <= before + 1e-9 * (1.0 + total), "{number}: {objective} after {before}");
                before = objective;
            }
            // Overlapping rows do not make λ grow any more.
            assert!(descent.support().iter().all(|&(_, lambda)| lambda <= price));
        }
    }

    /// Rows that are zero, or in L, are never stepped along.
    #[test]
    fn zero_rows_and_rows_of_the_subspace() {
        let rows = vec![vec![0.0, 0.0], vec![1.0, 0.0], vec![-2.0, 0.0], vec![1.0, 1.0]];
        let problem = problem(rows, vec![1; 4], Bias::None);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let mut descent = Descent::new(&examples, &[0, 1, 2, 3], &[1], 0);
        for _ in 0..20 {
            descent.pass();
        }
        assert_eq!(descent.support().iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3]);
        assert_eq!(descent.weights(), [0.0, 1.0]);
        let (_, upper) = descent.interval();
        assert!(fraction(upper) == RBig::ONE);
    }
}

//! Dual coordinate descent for the hard margin, for data with many features: a perceptron with optimal step sizes.
//!
//! It minimises ½‖Σ λ z + Σ μ l‖² − Σ λ over λ ≥ 0 and free μ, one coefficient at a time. At every moment
//! w = Σ λ z + Σ μ l bounds the margin from below where it separates, and ‖w‖ / Σ λ bounds it from above. The rows l
//! span a subspace L to which w is to be orthogonal: each step on a μ makes it so for one of them.

use super::examples::Examples;
use crate::linalg::norm_squared;
use crate::random::{Random, Stream};
use rayon::prelude::*;

/// The state of a descent.
pub(super) struct CoordinateDescent<'a> {
    examples: &'a Examples<'a>,
    rows: Vec<usize>,
    /// ‖z‖² of each row.
    squared: Vec<f64>,
    /// The rows l, whose coefficients may have any sign.
    free: Vec<usize>,
    /// Σ λ z + Σ μ l.
    w: Vec<f64>,
    /// One for each row.
    lambda: Vec<f64>,
    /// Places of the rows that the next passes look at.
    active: Vec<usize>,
    /// The most that each λ may be, if it is limited.
    loss_weights: Option<Vec<f64>>,
    /// Whether rows need only be on their right sides.
    for_signs: bool,
    /// Whether the appended coordinate stands for a bias that is free: see [`CoordinateDescent::for_free_bias`].
    for_free_bias: bool,
    /// Whether steps are not taken back yet: see [`CoordinateDescent::eager_pass`].
    is_eager: bool,
    /// How many eager passes there were, the fewest rows that one over all rows found on their wrong sides, and how many such passes
    /// in a row did not find clearly fewer.
    eager_passes: u64,
    fewest_wrong: usize,
    idle: u64,
    /// Whether the last pass met a row that was not on its right side.
    saw_wrong: bool,
    worst: f64,
    /// Passes since all rows were looked at, that one included.
    rounds: u64,
    random: Random,
}

/// Rows whose agreement is above 1 by this much are skipped until all rows are looked at again.
const SHRINK: f64 = 0.25;
/// How many rows ahead the next row is prefetched.
const AHEAD: usize = 6;
/// All rows are looked at again after this many passes.
const WHOLE: u64 = 8;
/// The same where rows need only be on their right sides.
const FOCUSED: u64 = 11;
/// Rows that such a pass over all rows reads one after the other.
const TOGETHER: usize = 16;
/// Eager passes step on rows whose agreement is below this.
const EAGER: f64 = 0.5;
/// They go on for as long as no more than this share of the wrong rows is left after some passes over all rows,
const LEFT: f64 = 0.85;
/// which are so many,
const IDLE: u64 = 3;
/// or no more than so many rows,
const FEW: usize = 16;
/// but not for more passes than this.
const MAX_EAGER: u64 = 200;

/// ‖z‖² of a row.
fn squared(examples: &Examples<'_>, row: usize) -> f64 {
    examples.data().row(row).norm_squared() + examples.bias_input().powi(2)
}

impl<'a> CoordinateDescent<'a> {
    pub(super) fn new(examples: &'a Examples<'a>, rows: &[usize], free: &[usize], seed: u64) -> Self {
        Self {
            squared: rows.par_iter().with_min_len(1024).map(|&row| squared(examples, row)).collect(),
            examples,
            w: vec![0.0; examples.dimension()],
            lambda: vec![0.0; rows.len()],
            active: (0..rows.len()).collect(),
            rows: rows.to_vec(),
            free: free.to_vec(),
            loss_weights: None,
            for_signs: false,
            for_free_bias: false,
            is_eager: false,
            eager_passes: 0,
            fewest_wrong: usize::MAX,
            idle: 0,
            saw_wrong: false,
            worst: f64::INFINITY,
            rounds: 0,
            random: Random::of(seed, Stream::Descent),
        }
    }

    /// Limits the λ of each row to its loss weight: a soft margin, where this is the weight of the row's loss.
    pub(super) fn with_loss_weights(self, loss_weights: Vec<f64>) -> Self {
        Self { loss_weights: Some(loss_weights), ..self }
    }

    /// For rows that need only be on their right sides: between two passes over all rows, several keep to those whose agreement was
    /// below 1, for as long as some of them are wrong.
    pub(super) fn for_signs(self) -> Self {
        Self { for_signs: true, is_eager: true, ..self }
    }

    /// For the margin with a free bias, where the examples have an appended one, whose value only affects how fast it goes. The hulls
    /// of both sides meet the constraint Σ λ y = 0 by the method of multipliers: after each round of passes the weight of the
    /// appended coordinate, which is b·Σ λ y for a fixed penalty b², grows by as much once more.
    pub(super) fn for_free_bias(self) -> Self {
        Self { for_free_bias: true, ..self }
    }

    /// Whether the last pass went over all rows and met none that was not on its right side.
    pub(super) fn may_separate(&self) -> bool {
        self.rounds == 1 && !self.saw_wrong
    }

    /// One pass over the rows that matter, in random order.
    pub(super) fn pass(&mut self) {
        let between = if self.for_signs { FOCUSED } else { WHOLE };
        if self.rounds == between || (self.for_signs && !self.saw_wrong) {
            self.rounds = 0;
        }
        let is_whole = self.rounds == 0;
        self.rounds += 1;
        if self.is_eager {
            return self.eager_pass(is_whole);
        }
        if is_whole {
            self.active = (0..self.rows.len()).collect();
            self.balance();
        }
        let mut order = std::mem::take(&mut self.active);
        if is_whole && self.for_signs {
            // Rows that lie side by side are read together: the order among them matters little.
            let mut blocks: Vec<usize> = (0..order.len().div_ceil(TOGETHER)).collect();
            self.random.shuffle(&mut blocks);
            let of = |block: usize| block * TOGETHER..((block + 1) * TOGETHER).min(order.len());
            order = blocks.into_iter().flat_map(of).collect();
        } else {
            self.random.shuffle(&mut order);
        }
        let (limit, mut worst) = (self.worst, 0.0f64);
        let mut kept = 0;
        self.saw_wrong = false;
        for k in 0..order.len() {
            if let Some(&later) = order.get(k + AHEAD) {
                self.examples.data().row(self.rows[later]).prefetch();
            }
            let place = order[k];
            let row = self.rows[place];
            let slack = 1.0 - self.examples.dot(row, &self.w);
            let lambda = self.lambda[place];
            self.saw_wrong |= slack >= 1.0;
            if lambda == 0.0 && slack <= 0.0 {
                // Far on the right side: the next passes need not look.
                if -slack > limit.min(SHRINK) {
                    continue;
                }
            } else {
                worst = worst.max(slack.abs());
                let squared = self.squared[place];
                if squared > 0.0 {
                    let loss_weight =
                        self.loss_weights.as_ref().map_or(f64::INFINITY, |loss_weights| loss_weights[place]);
                    let next = (lambda + slack / squared).clamp(0.0, loss_weight);
                    self.step(row, next - lambda);
                    self.lambda[place] = next;
                }
            }
            if self.for_signs && is_whole && slack <= 0.0 {
                continue;
            }
            order[kept] = place;
            kept += 1;
        }
        order.truncate(kept);
        self.settle();
        self.active = order;
        self.worst = if self.rounds == between { f64::INFINITY } else { worst.max(1e-12) };
    }

    /// A pass of a perceptron with margin: rows with an agreement below [`EAGER`] are given the agreement 1, and no step is taken back. It
    /// finds the sides of rows that can be separated in less work than the descent, whose steps this state allows to continue once
    /// progress is slow.
    fn eager_pass(&mut self, is_whole: bool) {
        let mut order = std::mem::take(&mut self.active);
        let mut wrong = 0;
        if is_whole {
            // All rows at once, on all cores; then only those that are near or wrong are looked at again, in random order.
            let agreement = |place: usize| self.examples.dot(self.rows[place], &self.w);
            let near: Vec<(usize, bool)> = (0..self.rows.len())
                .into_par_iter()
                .with_min_len(1024)
                .map(|place| (place, agreement(place)))
                .filter(|&(_, agreement)| agreement <= 1.0)
                .map(|(place, agreement)| (place, agreement <= 0.0))
                .collect();
            wrong = near.iter().filter(|(_, wrong)| *wrong).count();
            order = near.into_iter().map(|(place, _)| place).collect();
            let is_progress = wrong <= FEW || wrong as f64 <= LEFT * self.fewest_wrong as f64;
            self.idle = if is_progress { 0 } else { self.idle + 1 };
            self.fewest_wrong = self.fewest_wrong.min(wrong);
            self.is_eager = self.idle < IDLE;
        }
        self.eager_passes += 1;
        self.is_eager &= self.eager_passes < MAX_EAGER;
        self.random.shuffle(&mut order);
        self.saw_wrong = wrong > 0;
        let mut kept = 0;
        for k in 0..order.len() {
            if let Some(&later) = order.get(k + AHEAD) {
                self.examples.data().row(self.rows[later]).prefetch();
            }
            let place = order[k];
            let row = self.rows[place];
            let agreement = self.examples.dot(row, &self.w);
            self.saw_wrong |= agreement <= 0.0;
            let squared = self.squared[place];
            if agreement < EAGER && squared > 0.0 {
                let size = (1.0 - agreement) / squared;
                self.step(row, size);
                self.lambda[place] += size;
            } else if agreement > 1.0 {
                continue;
            }
            order[kept] = place;
            kept += 1;
        }
        order.truncate(kept);
        self.settle();
        self.active = order;
    }

    /// For a free bias, a step of the method of multipliers.
    fn balance(&mut self) {
        if self.for_free_bias
            && let Some(bias) = self.w.get_mut(self.examples.data().columns())
        {
            let signed = |(&row, lambda): (&usize, &f64)| f64::from(self.examples.signs()[row]) * lambda;
            let excess: f64 = self.rows.iter().zip(&self.lambda).map(signed).sum();
            *bias += excess * self.examples.bias_input();
        }
    }

    /// Makes w orthogonal to each of the free rows in turn. Gives the largest cosine that was left.
    fn settle(&mut self) -> f64 {
        let mut largest = 0.0f64;
        for k in 0..self.free.len() {
            let row = self.free[k];
            let (squared, product) = (squared(self.examples, row), self.examples.dot(row, &self.w));
            if squared > 0.0 {
                largest = largest.max(product.abs() / squared.sqrt());
                self.step(row, -product / squared);
            }
        }
        largest / norm_squared(&self.w).sqrt()
    }

    fn step(&mut self, row: usize, size: f64) {
        let signed = size * f64::from(self.examples.signs()[row]);
        let columns = self.examples.data().columns();
        self.examples.data().row(row).add_to(signed, &mut self.w[..columns]);
        if let Some(bias) = self.w.get_mut(columns) {
            *bias += signed * self.examples.bias_input();
        }
    }

    /// The weights, as orthogonal to L as some more steps make them. For a free bias the last one is the bias itself, midway between both
    /// sides.
    pub(super) fn weights(&mut self) -> Vec<f64> {
        if self.for_free_bias {
            let (mut w, [least, most]) = (self.w.clone(), self.levels());
            if let Some(bias) = w.last_mut() {
                *bias = -0.5 * (least + most);
            }
            return w;
        }
        const MAX: usize = 200;
        for _ in 0..MAX {
            // With w = 0 there is no cosine, and nothing to do.
            if self.settle().partial_cmp(&1e-15) != Some(std::cmp::Ordering::Greater) {
                break;
            }
        }
        self.w.clone()
    }

    /// Whether w separates the rows, in floating-point arithmetic.
    pub(super) fn separates(&self) -> bool {
        self.rows.par_iter().with_min_len(256).all(|&row| self.examples.dot(row, &self.w) > 0.0)
    }

    /// min ⟨w, z⟩ / ‖w‖ and ‖w‖ / Σ λ, both rounded: the interval of the margin so far. For a free bias the latter is half the distance
    /// of the points that λ gives in the hulls of both sides.
    pub(super) fn interval(&self) -> (f64, f64) {
        if self.for_free_bias {
            let [least, most] = self.levels();
            let norm = norm_squared(&self.w[..self.examples.data().columns()]).sqrt();
            return (0.5 * (least - most) / norm, self.half_distance());
        }
        let norm = norm_squared(&self.w).sqrt();
        let agreements = self.rows.par_iter().with_min_len(256).map(|&row| self.examples.dot(row, &self.w));
        (agreements.reduce(|| f64::INFINITY, f64::min) / norm, norm / self.lambda.iter().sum::<f64>())
    }

    /// The least ⟨w, x⟩ of the positive side, and the largest of the negative side.
    fn levels(&self) -> [f64; 2] {
        let columns = self.examples.data().columns();
        let level = |&row: &usize| {
            let product = self.examples.data().row(row).dot(&self.w[..columns]);
            if self.examples.signs()[row] > 0 {
                [product, f64::NEG_INFINITY]
            } else {
                [f64::INFINITY, product]
            }
        };
        let join = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        let levels = self.rows.par_iter().with_min_len(256).map(level);
        levels.reduce(|| [f64::INFINITY, f64::NEG_INFINITY], join)
    }

    /// Half the distance of the points Σ λ x / Σ λ of both sides; infinite while a side has no λ.
    fn half_distance(&self) -> f64 {
        let support = self.support();
        let side = |row: usize| usize::from(self.examples.signs()[row] < 0);
        let mut totals = [0.0; 2];
        support.iter().for_each(|&(row, lambda)| totals[side(row)] += lambda);
        if totals.contains(&0.0) {
            return f64::INFINITY;
        }
        let mut difference = vec![0.0; self.examples.data().columns()];
        for (row, lambda) in support {
            let share = f64::from(self.examples.signs()[row]) * lambda / totals[side(row)];
            self.examples.data().row(row).add_to(share, &mut difference);
        }
        0.5 * norm_squared(&difference).sqrt()
    }

    /// The rows with the largest λ.
    pub(super) fn heaviest(&self, most: usize) -> Vec<usize> {
        self.heaviest_support(most).into_iter().map(|(row, _)| row).collect()
    }

    /// The rows with the largest λ, and these.
    pub(super) fn heaviest_support(&self, most: usize) -> Vec<(usize, f64)> {
        let mut support = self.support();
        support.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        support.truncate(most);
        support
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
    use super::super::testing::oracle::{boundary, fraction, squared_margin, squared_margin_free};
    use super::super::testing::{examples, from, grid, normals, problem, sides, times};
    use super::*;

    fn draw(number: u64) -> Instance {
        let random = &mut Random::stream(51, number);
        let (n, d) = (from(random, 1, 14), from(random, 1, 6));
        let rows = if random.below(2) == 0 { grid(random, n, d, 3) } else { normals(random, n, d) };
        let bias = [Bias::None, Bias::Append(0.5), Bias::Free][random.below(3) as usize];
        Instance { sparse: random.below(2) == 0, ..problem(rows, sides(random, n), bias) }
    }

    /// Σ λ z as the descent has it against the sum over all rows, and what else must hold at any moment.
    fn check_state(descent: &mut CoordinateDescent<'_>, told: &str) {
        let mut sum = vec![0.0; descent.w.len()];
        let (mut size, mut total) = (1.0, 0.0);
        for (place, (&row, &lambda)) in descent.rows.iter().zip(&descent.lambda).enumerate() {
            let loss_weight =
                descent.loss_weights.as_ref().map_or(f64::INFINITY, |loss_weights| loss_weights[place]);
            assert!(lambda >= 0.0 && lambda <= loss_weight, "{told}: λ = {lambda}");
            let z = descent.examples.dense(row);
            sum.iter_mut().zip(&z).for_each(|(sum, z)| *sum += lambda * z);
            size += lambda * norm_squared(&z).sqrt();
            total += lambda;
        }
        // Steps that were taken back may have left more than the λ of now tell of.
        let tolerance = 1e-10 * size;
        for (ours, expected) in descent.w.iter().zip(&sum).filter(|_| descent.free.is_empty()) {
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
        // The last step was along the last of the free rows: w is orthogonal to it.
        let w = descent.weights();
        if let Some(&row) = descent.free.last() {
            let length = (norm_squared(&w) * squared(descent.examples, row)).sqrt();
            let part = descent.examples.dot(row, &w);
            assert!(part.abs() <= 1e-10 * (length + size), "{told}: not orthogonal to L by {part:e}");
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
            let mut descent = CoordinateDescent::new(&examples, &problem.present(), &[], number);
            for pass in 1..=256u32 {
                descent.pass();
                if !pass.is_power_of_two() {
                    continue;
                }
                check_state(&mut descent, &format!("{number}, pass {pass}"));
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

    /// With a free bias, whatever the value that is appended for the descent.
    #[test]
    fn the_interval_of_a_free_bias_contains_its_margin() {
        let (mut separable, mut narrow) = (0, 0);
        for number in 0..times(500) {
            let problem = Instance { bias: Bias::Free, ..draw(number) };
            if !problem.has_both_sides() || boundary(&problem.z()).contains(&true) {
                continue;
            }
            let present = problem.present();
            let rows: Vec<Vec<f64>> = present.iter().map(|&i| problem.rows[i].clone()).collect();
            let signs: Vec<i8> = present.iter().map(|&i| problem.signs[i]).collect();
            let squared = squared_margin_free(&rows, &signs);
            let data = problem.dataset();
            let appended = [0.3, 1.0, 4.0][(number % 3) as usize];
            let examples = Examples::with_signs(&data, problem.signs.clone(), Bias::Append(appended));
            let mut descent = CoordinateDescent::new(&examples, &present, &[], number).for_free_bias();
            for pass in 1..=1024u32 {
                descent.pass();
                if !pass.is_power_of_two() || pass < 8 {
                    continue;
                }
                let (lower, upper) = descent.interval();
                // Both are rounded, and while a side has no share, nothing is known from above.
                let upper = upper.min(1e9);
                let (low, high) = (fraction(lower.max(0.0) * (1.0 - 1e-12)), fraction(upper * (1.0 + 1e-12)));
                assert!(&low * &low <= squared, "{number}: {lower} is above the margin");
                assert!(&high * &high >= squared, "{number}: {upper} is below the margin");
                // The bias is midway: as far from the nearest row of either side.
                let w = descent.weights();
                let nearest = |side: i8| {
                    let ours = present.iter().filter(|&&row| problem.signs[row] == side);
                    let score = |&row: &usize| {
                        f64::from(side) * (data.row(row).dot(&w[..w.len() - 1]) + w[w.len() - 1])
                    };
                    ours.map(score).fold(f64::INFINITY, f64::min)
                };
                let size = 1.0 + norm_squared(&w).sqrt();
                assert!((nearest(1) - nearest(-1)).abs() <= 1e-9 * size, "{number}");
                if pass == 1024 {
                    separable += 1;
                    narrow += usize::from(upper - lower <= 1e-2 * upper);
                }
            }
        }
        assert!(separable > 60 && narrow * 10 > separable * 8, "{narrow} of {separable}");
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
            let mut descent = CoordinateDescent::new(&examples, rest, &free, number);
            for pass in 0..20 {
                descent.pass();
                check_state(&mut descent, &format!("{number}, pass {pass}"));
            }
        }
    }

    /// With a loss weight no λ is above it, and the objective never rises.
    #[test]
    fn a_price_caps_and_the_objective_falls() {
        for number in 0..times(300) {
            let problem = draw(number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let loss_weight = [0.01, 1.0, 100.0][(number % 3) as usize];
            let rows = problem.present();
            // Of every other problem each row has a loss weight of its own.
            let own =
                |row: &usize| if number % 2 == 0 { loss_weight } else { loss_weight * (1 + row % 3) as f64 };
            let loss_weights: Vec<f64> = rows.iter().map(own).collect();
            let mut descent =
                CoordinateDescent::new(&examples, &rows, &[], number).with_loss_weights(loss_weights);
            let mut before = 0.0;
            for pass in 0..40 {
                descent.pass();
                check_state(&mut descent, &format!("{number}, pass {pass}"));
                let total: f64 = descent.lambda.iter().sum();
                let objective = 0.5 * norm_squared(&descent.weights()) - total;
                assert!(objective <= before + 1e-9 * (1.0 + total), "{number}: {objective} after {before}");
                before = objective;
            }
            // Overlapping rows do not make λ grow any more.
            assert!(descent.support().iter().all(|&(row, lambda)| lambda <= own(&row)));
        }
    }

    /// Rows that are zero are never stepped along; w stays orthogonal to the free rows.
    #[test]
    fn zero_rows_and_free_rows() {
        let rows = vec![vec![0.0, 0.0], vec![1.0, 0.0], vec![-2.0, 0.0], vec![1.0, 1.0]];
        let problem = problem(rows, vec![1; 4], Bias::None);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let mut descent = CoordinateDescent::new(&examples, &[0, 3], &[1], 0);
        for _ in 0..100 {
            descent.pass();
        }
        assert_eq!(descent.support().iter().map(|(row, _)| *row).collect::<Vec<_>>(), [3]);
        let w = descent.weights();
        assert!(w[0].abs() < 1e-12 && (w[1] - 1.0).abs() < 1e-12, "{w:?}");
        let (_, upper) = descent.interval();
        assert!((upper - 1.0).abs() < 1e-12);
    }
}

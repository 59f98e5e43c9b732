//! Least squares of what the rows lack: min ½ Σ (1 − ⟨w, z⟩)₊² + ½ Σ ⟨w, l⟩² over all w, by Newton's method.
//!
//! The minimum is zero just if some w is orthogonal to all rows l and positive on all rows z. Otherwise the residuals
//! r = (1 − ⟨w, z⟩)₊ ≥ 0 and −⟨w, l⟩ at the minimum are the coefficients of a combination of the rows that vanishes. So either way
//! the minimum decides, as far as floats go. Where the rows are independent the first step ends: it solves ⟨w, z⟩ = 1.
//!
//! Rows count with length 1. A step of Newton's method is least squares over the rows with r > 0. Conjugate gradients solve it; where
//! they take too long, with the Cholesky factor of the normal equations, or of the Gram matrix of those rows if that is smaller.

use super::cholesky::{Factor, Symmetric};
use super::examples::Examples;
use crate::linalg::{add_dense, dot_dense, norm_squared};
use crate::random::Random;
use rayon::prelude::*;

/// How a step of Newton's method ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// w is positive on all rows, in floating-point numbers, and nearly orthogonal to L.
    Separates,
    /// The combination of the rows with their residuals vanishes, in floating-point numbers.
    Vanishes,
    /// Neither yet.
    Moves,
    /// The budget ended.
    Stopped,
}

/// The state of the search.
pub(super) struct Hinge<'a> {
    examples: &'a Examples<'a>,
    /// The rows z, then the rows l.
    rows: Vec<usize>,
    /// How many of them are rows z.
    count: usize,
    /// 1 / ‖z‖ for each.
    scale: Vec<f64>,
    /// 1 / Σ z_j² / ‖z‖² for each coordinate j, and 0 for those that no row uses.
    inverse: Vec<f64>,
    w: Vec<f64>,
    /// ⟨w, z⟩ / ‖z‖ for each.
    agreements: Vec<f64>,
    /// Columns that these rows use, if a matrix of them is to be made.
    columns: Option<Columns>,
    /// The most bytes that a matrix may take.
    memory: u64,
    /// Whether conjugate gradients need a factor.
    is_hard: bool,
    /// Products so far: what the search has cost.
    spent: u64,
    /// Rows of a part whose sum is kept apart, so that the order of sums does not depend on the threads.
    part: usize,
}

/// Columns that are used, and where each stands among them.
struct Columns {
    used: Vec<usize>,
    place: Vec<u32>,
}

/// Rows of a part at least.
const MIN_PART: usize = 512;
/// Parts of the rows at most.
const PARTS: usize = 8;
/// Steps of conjugate gradients without a factor.
const EASY: usize = 1000;
/// With more of the gradient left than this, conjugate gradients are given a factor.
const HARD_FROM: f64 = 1e-2;
/// Conjugate gradients end when this is left of the gradient.
const ENOUGH: f64 = 1e-10;
/// The same for equations, whose solution is judged row by row.
const ENOUGH_FOR_EQUATIONS: f64 = 1e-7;
/// Steps with a factor, which is right but for rounding errors.
const HARD: usize = 40;
/// Relative to all rows, a combination that is no longer than this vanishes.
const VANISHES: f64 = 1e-11;

impl<'a> Hinge<'a> {
    pub(super) fn new(examples: &'a Examples<'a>, rows: &[usize], free: &[usize], memory: u64) -> Self {
        let all: Vec<usize> = rows.iter().chain(free).copied().collect();
        let scale = all.par_iter().with_min_len(1024).map(|&row| {
            let squared = examples.data().row(row).norm_squared() + examples.bias_input().powi(2);
            if squared > 0.0 && squared.is_finite() { 1.0 / squared.sqrt() } else { 0.0 }
        });
        let scale: Vec<f64> = scale.collect();
        let mut squares = vec![0.0; examples.dimension()];
        for (&row, &scale) in all.iter().zip(&scale) {
            examples.entries(row).for_each(|(column, value)| squares[column] += (scale * value).powi(2));
        }
        let inverse = squares.into_iter().map(|square| if square > 0.0 { 1.0 / square } else { 0.0 });
        Self {
            inverse: inverse.collect(),
            scale,
            examples,
            count: rows.len(),
            w: vec![0.0; examples.dimension()],
            agreements: vec![0.0; all.len()],
            columns: None,
            memory,
            is_hard: false,
            spent: 0,
            part: all.len().div_ceil(PARTS).max(MIN_PART),
            rows: all,
        }
    }

    /// Products so far.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// The weights.
    pub(super) fn weights(&self) -> &[f64] {
        &self.w
    }

    /// Rows with r > 0, with the coefficients of the combination that should vanish.
    pub(super) fn support(&self) -> Vec<(usize, f64)> {
        let coefficient = |k: usize| (self.rows[k], self.residual(k) * self.scale[k]);
        (0..self.count).map(coefficient).filter(|&(_, lambda)| lambda > 0.0).collect()
    }

    /// (1 − ⟨w, z⟩)₊ for rows z, −⟨w, l⟩ for rows l.
    fn residual(&self, k: usize) -> f64 {
        residual(k < self.count, self.agreements[k])
    }

    /// ⟨v, z⟩ / ‖z‖ of all rows.
    fn products(&self, v: &[f64]) -> Vec<f64> {
        let product = |(&row, &scale): (&usize, &f64)| scale * self.examples.dot(row, v);
        self.rows.par_iter().zip(&self.scale).with_min_len(256).map(product).collect()
    }

    /// Σ coefficient · z / ‖z‖ over all rows.
    fn combination(&self, coefficients: &[f64]) -> Vec<f64> {
        let width = self.examples.data().columns();
        let sum = |first: usize| {
            let mut sum = vec![0.0; self.w.len()];
            let part = first..(first + self.part).min(self.rows.len());
            for (&coefficient, k) in coefficients[part.clone()].iter().zip(part) {
                if coefficient != 0.0 {
                    let row = self.rows[k];
                    let signed = coefficient * self.scale[k] * f64::from(self.examples.signs()[row]);
                    self.examples.data().row(row).add_to(signed, &mut sum[..width]);
                    if let Some(bias) = sum.get_mut(width) {
                        *bias += signed * self.examples.bias_input();
                    }
                }
            }
            sum
        };
        let parts: Vec<Vec<f64>> = (0..self.rows.len()).into_par_iter().step_by(self.part).map(sum).collect();
        let mut parts = parts.into_iter();
        let mut total = parts.next().unwrap_or_else(|| vec![0.0; self.w.len()]);
        parts.for_each(|part| add_dense(1.0, &part, &mut total));
        total
    }

    /// One step of Newton's method: least squares over the rows with r > 0, then the least on the way there or beyond.
    pub(super) fn step(&mut self, stop: &mut dyn FnMut() -> bool) -> Step {
        let residuals: Vec<f64> = (0..self.rows.len()).map(|k| self.residual(k)).collect();
        let gradient = self.combination(&residuals);
        let total: f64 = residuals.iter().map(|r| r.abs()).sum();
        if self.agreements[..self.count].iter().all(|&a| a > 0.0)
            && self.agreements[self.count..].iter().all(|a| a.abs() < 1e-9)
            && self.count > 0
        {
            return Step::Separates;
        }
        if norm_squared(&gradient).sqrt() <= VANISHES * total {
            return Step::Vanishes;
        }
        let Some((direction, along)) = self.newton(&residuals, gradient, stop) else { return Step::Stopped };
        let reach = self.least_along(&along);
        add_dense(reach, &direction, &mut self.w);
        self.agreements = self.products(&self.w);
        Step::Moves
    }

    /// The step of least squares over the rows with r ≠ 0, and what it adds to all agreements.
    fn newton(
        &mut self,
        residuals: &[f64],
        gradient: Vec<f64>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        if !self.is_hard {
            let (direction, along, rest, _) =
                self.conjugate(residuals, &gradient, None, EASY, ENOUGH, stop)?;
            // A step need not be exact to be worth taking.
            self.is_hard = rest > HARD_FROM && self.cost_of_factor(residuals).is_some();
            if !self.is_hard {
                return Some((direction, along));
            }
        }
        self.spent += self.cost_of_factor(residuals).unwrap_or(0) as u64;
        let active: Vec<usize> = (0..self.rows.len()).filter(|&k| self.is_active(k, residuals)).collect();
        let system = self.system(&active, stop)?;
        let (direction, along, _, _) =
            self.conjugate(residuals, &gradient, Some(&system), HARD, ENOUGH, stop)?;
        Some((direction, along))
    }

    /// Rows z that take part in some linear dependence of all these rows: where the least squares of
    /// ⟨w, z⟩ = some numbers from 1 to 2 leave a residual. All
    /// others are independent of the rest, and whatever weights the rest has, they can be given any agreement. None if the budget
    /// ended, or if conjugate gradients did not get there.
    /// Also the weights of those least squares.
    pub(super) fn dependent(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<(Vec<usize>, Vec<f64>)> {
        const RESIDUAL: f64 = 1e-4;
        // Random, so that no dependence holds of the targets by accident.
        let random = &mut Random::new(0x7a46);
        let target = |k: usize| if k < self.count { 1.0 + random.uniform() } else { 0.0 };
        let targets: Vec<f64> = (0..self.rows.len()).map(target).collect();
        let (w, left) = self.equations(&targets, stop)?;
        let dependent = (0..self.count).filter(|&k| left[k].abs() > RESIDUAL).map(|k| self.rows[k]);
        Some((dependent.collect(), w))
    }

    /// Weights that are positive on some rows and vanish on the rows l, changed so that the other rows z, which are independent of
    /// those, become positive too. Each round corrects what rounding errors left of the last one.
    pub(super) fn completed(
        &mut self,
        mut w: Vec<f64>,
        positive: &[usize],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<f64>> {
        const ROUNDS: usize = 8;
        let mut is_given = vec![false; self.examples.len()];
        positive.iter().for_each(|&row| is_given[row] = true);
        let mut wanted = self.products(&w);
        let given: Vec<usize> = (0..self.count).filter(|&k| is_given[self.rows[k]]).collect();
        let least = given.iter().fold(f64::INFINITY, |least, &k| least.min(wanted[k]));
        w.iter_mut().chain(&mut wanted).for_each(|value| *value /= least);
        for _ in 0..ROUNDS {
            let agreements = self.products(&w);
            let mut targets = vec![0.0; self.rows.len()];
            for (k, target) in targets.iter_mut().enumerate() {
                let agreement = agreements[k];
                *target = match k < self.count {
                    true if is_given[self.rows[k]] => wanted[k] - agreement,
                    true if agreement < 1.0 => 1.5 - agreement,
                    true => 0.0,
                    false => -agreement,
                };
            }
            if targets.iter().all(|target| target.abs() < 0.5)
                && agreements[..self.count].iter().all(|&a| a > 0.0)
            {
                break;
            }
            let (change, _) = self.equations(&targets, stop)?;
            add_dense(1.0, &change, &mut w);
        }
        Some(w)
    }

    /// The least squares of ⟨w, z⟩ / ‖z‖ = target over all rows: w and the residuals.
    fn equations(&mut self, targets: &[f64], stop: &mut dyn FnMut() -> bool) -> Option<(Vec<f64>, Vec<f64>)> {
        const MAX: usize = 12_000;
        // Residuals of rows that count: all do.
        let before = std::mem::replace(&mut self.count, 0);
        let gradient = self.combination(targets);
        let found = self.conjugate(targets, &gradient, None, MAX, ENOUGH_FOR_EQUATIONS, stop);
        self.count = before;
        let (w, _, rest, left) = found?;
        (rest <= 10.0 * ENOUGH_FOR_EQUATIONS).then_some((w, left))
    }

    fn is_active(&self, k: usize, residuals: &[f64]) -> bool {
        k >= self.count || residuals[k] > 0.0
    }

    /// Products that a factor would take; none if its matrix would be too large.
    fn cost_of_factor(&mut self, residuals: &[f64]) -> Option<usize> {
        const MAX: usize = 4500;
        let active = (0..self.rows.len()).filter(|&k| self.is_active(k, residuals)).count();
        let width = self.columns().used.len();
        let size = active.min(width);
        let fits = (4 * size * size + 8 * size * active.max(width)) as u64 <= self.memory;
        (size <= MAX && fits).then(|| size * size * (size / 6 + width.max(active) / 4))
    }

    fn columns(&mut self) -> &Columns {
        let (examples, rows) = (self.examples, &self.rows);
        self.columns.get_or_insert_with(|| {
            let mut place = vec![u32::MAX; examples.dimension()];
            for &row in rows {
                examples.entries(row).for_each(|(column, _)| place[column] = 0);
            }
            let used: Vec<usize> = (0..place.len()).filter(|&column| place[column] == 0).collect();
            used.iter().enumerate().for_each(|(k, &column)| place[column] = k as u32);
            Columns { used, place }
        })
    }

    /// The factor of the smaller of the two matrices of these rows. None if it was stopped.
    fn system(&mut self, active: &[usize], stop: &mut dyn FnMut() -> bool) -> Option<System> {
        const RIDGE: f64 = 1e-13;
        self.columns();
        let (examples, scale) = (self.examples, &self.scale);
        let entries = |k: usize| {
            let factor = scale[k];
            examples.entries(self.rows[k]).map(move |(column, value)| (column, factor * value))
        };
        let none = Columns { used: Vec::new(), place: Vec::new() };
        let columns = self.columns.as_ref().unwrap_or(&none);
        let width = columns.used.len();
        let dense = |k: usize| {
            let mut row = vec![0.0; width];
            entries(k).for_each(|(column, value)| row[columns.place[column] as usize] = value);
            row
        };
        let stored: usize = active.iter().map(|&k| examples.data().row(self.rows[k]).stored()).sum();
        let is_sparse = stored * 8 < active.len() * width;
        if active.len() <= width {
            let gram = if is_sparse {
                gram_by_columns(active.len(), width, |place| {
                    entries(active[place]).map(|(column, value)| (columns.place[column] as usize, value))
                })
            } else {
                let rows: Vec<Vec<f64>> = active.par_iter().map(|&k| dense(k)).collect();
                Symmetric::new(active.len(), |i, j| dot_dense(&rows[i], &rows[j]), stop)?
            };
            let ridge = RIDGE * (gram.largest_diagonal() * active.len() as f64);
            return Some(System { factor: gram.factor(ridge, stop)?, rows: Some(active.to_vec()) });
        }
        // Few entries: row by row. Many: products of whole columns.
        let normal = if is_sparse {
            let mut normal = Symmetric::zeros(width);
            for &k in active {
                let row: Vec<(usize, f64)> =
                    entries(k).map(|(column, value)| (columns.place[column] as usize, value)).collect();
                for (i, &(first, a)) in row.iter().enumerate() {
                    row[..=i].iter().for_each(|&(second, b)| normal.add(first, second, a * b));
                }
            }
            normal
        } else {
            let mut turned = vec![vec![0.0; active.len()]; width];
            for (place, &k) in active.iter().enumerate() {
                entries(k).for_each(|(column, value)| turned[columns.place[column] as usize][place] = value);
            }
            Symmetric::new(width, |i, j| dot_dense(&turned[i], &turned[j]), stop)?
        };
        let ridge = RIDGE * (normal.largest_diagonal() * width as f64);
        Some(System { factor: normal.factor(ridge, stop)?, rows: None })
    }

    /// Conjugate gradients for least squares: minimises ‖residuals − Z d‖ over the active rows.
    fn conjugate(
        &mut self,
        residuals: &[f64],
        gradient: &[f64],
        system: Option<&System>,
        most: usize,
        enough: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Solution> {
        let stored: usize = self.rows.iter().map(|&row| self.examples.data().row(row).stored()).sum();
        let cost = 2 * (stored + self.rows.len() + self.w.len()) as u64;
        let improved = |this: &Self, s: &[f64], residuals: &[f64]| match system {
            None => s.iter().zip(&this.inverse).map(|(s, inverse)| s * inverse).collect(),
            Some(system) => this.apply(system, s, residuals),
        };
        let mut left = residuals.to_vec();
        let mut s = gradient.to_vec();
        let mut toward = improved(self, &s, &left);
        let mut p = toward.clone();
        let mut size = dot_dense(&s, &toward);
        let first = norm_squared(&s);
        let (mut direction, mut along) = (vec![0.0; self.w.len()], vec![0.0; self.rows.len()]);
        let mut rest = 1.0;
        for _ in 0..most {
            if stop() {
                return None;
            }
            self.spent += cost;
            let q = self.products(&p);
            let active = |k: usize| if self.is_active(k, residuals) { q[k] } else { 0.0 };
            let curvature: f64 = (0..q.len()).map(|k| active(k) * active(k)).sum();
            let step = size / curvature;
            if !step.is_finite() || step <= 0.0 {
                break;
            }
            add_dense(step, &p, &mut direction);
            add_dense(step, &q, &mut along);
            (0..q.len()).for_each(|k| left[k] -= step * active(k));
            s = self.combination(&left);
            rest = (norm_squared(&s) / first).sqrt();
            if rest <= enough {
                break;
            }
            toward = improved(self, &s, &left);
            let next = dot_dense(&s, &toward);
            let turn = next / std::mem::replace(&mut size, next);
            p.iter_mut().zip(&toward).for_each(|(p, &toward)| *p = toward + turn * *p);
        }
        Some((direction, along, rest, left))
    }

    /// The gradient s = Zᵀ left, divided by the matrix that was factored.
    fn apply(&self, system: &System, s: &[f64], left: &[f64]) -> Vec<f64> {
        match (&system.rows, &self.columns) {
            (Some(rows), _) => {
                let mut u: Vec<f64> = rows.iter().map(|&k| left[k]).collect();
                system.factor.solve(&mut u);
                let mut coefficients = vec![0.0; self.rows.len()];
                rows.iter().zip(&u).for_each(|(&k, &u)| coefficients[k] = u);
                self.combination(&coefficients)
            }
            (None, Some(columns)) => {
                let mut x: Vec<f64> = columns.used.iter().map(|&column| s[column]).collect();
                system.factor.solve(&mut x);
                let mut whole = vec![0.0; s.len()];
                columns.used.iter().zip(x).for_each(|(&column, x)| whole[column] = x);
                whole
            }
            (None, None) => s.to_vec(),
        }
    }

    /// The t ≥ 0 at which the sum of squares along a direction is least.
    fn least_along(&self, along: &[f64]) -> f64 {
        let slope = |t: f64| -> f64 {
            (0..along.len())
                .map(|k| -residual(k < self.count, self.agreements[k] + t * along[k]) * along[k])
                .sum()
        };
        let (mut low, mut high) = (0.0, 1.0);
        while slope(high) < 0.0 && high < 1e9 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// d, Z d of all rows, how much of the gradient is left, and residuals − Z d of the active rows.
type Solution = (Vec<f64>, Vec<f64>, f64, Vec<f64>);

/// The factor of the normal equations over the columns that are used, or of the Gram matrix of rows.
struct System {
    factor: Factor,
    /// The rows of the Gram matrix.
    rows: Option<Vec<usize>>,
}

/// The products of sparse rows with each other: those that use a column, each with each.
fn gram_by_columns<E: Iterator<Item = (usize, f64)>>(
    count: usize,
    width: usize,
    entries: impl Fn(usize) -> E,
) -> Symmetric {
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); width];
    for i in 0..count {
        entries(i).for_each(|(column, value)| columns[column].push((i, value)));
    }
    let mut gram = Symmetric::zeros(count);
    for column in columns {
        for (place, &(i, a)) in column.iter().enumerate() {
            column[..=place].iter().for_each(|&(j, b)| gram.add(i, j, a * b));
        }
    }
    gram
}

fn residual(is_row: bool, agreement: f64) -> f64 {
    if is_row { (1.0 - agreement).max(0.0) } else { -agreement }
}

#[cfg(test)]
mod tests {
    use super::super::Bias;
    use super::super::testing::instances::Instance;
    use super::super::testing::oracle::boundary;
    use super::super::testing::{examples, from, grid, problem, sides, times};
    use super::*;

    fn draw(number: u64) -> Instance {
        let random = &mut Random::stream(83, number);
        let (n, d) = (from(random, 1, 14), from(random, 1, 6));
        let bias = [Bias::None, Bias::Append(0.5), Bias::Free][random.below(3) as usize];
        let rows = grid(random, n, d, 3);
        let sparse = random.below(2) == 0;
        Instance { sparse, ..problem(rows, sides(random, n), bias) }
    }

    /// The minimum decides as the exact linear program does; with a factor and without.
    #[test]
    fn the_minimum_decides() {
        let mut seen = [0; 2];
        for number in 0..times(600) {
            let problem = draw(number);
            let z = problem.z();
            if z.iter().any(|row| row.iter().all(|&value| value == 0.0)) {
                continue;
            }
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let rows = problem.present();
            let inside = boundary(&z);
            for is_hard in [false, true] {
                let mut hinge = Hinge::new(&examples, &rows, &[], 1 << 30);
                hinge.is_hard = is_hard;
                let ended = (0..200).map(|_| hinge.step(&mut || false)).find(|&step| step != Step::Moves);
                let told = format!("{number}, {is_hard}: {problem:?}");
                match ended {
                    Some(Step::Separates) => {
                        assert!(!inside.contains(&true), "{told}");
                        assert!(rows.iter().all(|&row| examples.dot(row, hinge.weights()) > 0.0), "{told}");
                    }
                    Some(Step::Vanishes) => {
                        assert!(inside.contains(&true), "{told}");
                        let support = hinge.support();
                        let mut sum = vec![0.0; examples.dimension()];
                        for &(row, lambda) in &support {
                            add_dense(lambda, &examples.dense(row), &mut sum);
                        }
                        assert!(!support.is_empty() && norm_squared(&sum) < 1e-12, "{told}: {sum:?}");
                    }
                    other => panic!("{told}: {other:?} after 200 steps"),
                }
                seen[usize::from(ended == Some(Step::Separates))] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    /// Rows in no linear dependence are not named, all of the others are, and any agreements can be had of the former.
    #[test]
    fn dependent_rows_are_found() {
        // Rows 0, 1 and 2 sum to zero; 3 and 4 stand alone.
        let rows = vec![
            vec![1.0, 2.0, 0.0, 0.0],
            vec![1.0, -3.0, 0.0, 0.0],
            vec![-2.0, 1.0, 0.0, 0.0],
            vec![1.0, 0.0, 5.0, 0.0],
            vec![0.0, 1.0, 1.0, 2.0],
        ];
        let problem = problem(rows, vec![1; 5], Bias::None);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let mut hinge = Hinge::new(&examples, &problem.present(), &[], 1 << 30);
        let (dependent, _) = hinge.dependent(&mut || false).unwrap();
        assert_eq!(dependent, [0, 1, 2]);
        // Positive on row 0, and far on the wrong side of rows 3 and 4, which can be corrected.
        let mut some = Hinge::new(&examples, &[0, 3, 4], &[], 1 << 30);
        let w = some.completed(vec![0.5, 1.0, -900.0, 70.0], &[0], &mut || false).unwrap();
        for row in [0, 3, 4] {
            assert!(examples.dot(row, &w) > 0.0, "row {row}");
        }
        assert!(hinge.dependent(&mut || true).is_none());
    }
}

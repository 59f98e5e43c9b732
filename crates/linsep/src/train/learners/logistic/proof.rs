//! How far a point is from the best, proved by a point of the dual problem.
//!
//! For every choice of probabilities qᵢ (one for each class of a row, adding up to 1) with rᵢ = uᵢ(eᵢ − qᵢ),
//! G = Σ rᵢ xᵢᵀ and Σ rᵢ = 0, no weights and intercepts have an objective below
//!
//! D = Σ uᵢ H(qᵢ) − Ω*(G), where H is the entropy and Ω* is
//!
//! - ½‖G‖² for L2, Σ max(0, |Gⱼ| − ρ)² / 2(1−ρ) for an elastic net;
//! - 0 where all |Gⱼ| ≤ 1, for L1. Elsewhere all rᵢ are made smaller by the same factor, which leaves the qᵢ probabilities.
//!
//! The probabilities of the point itself are such a choice once the intercepts are the best for its weights: that is
//! Σ rᵢ = 0. What rounding leaves of Σ rᵢ is taken from a single row, or from one for each of some pairs of classes, whose
//! probabilities are well above that: it changes the entropy of those rows, and G, by no more than a little, which is subtracted.

use super::problem::{MANY_CLASSES, Pause, Point, Problem, logistic, to_probabilities};
use crate::linalg;
use crate::theory::margin::quotient_up;
use crate::train::engine::run::Status;
use std::ops::ControlFlow;

/// Proved bounds on a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    /// The objective at the point.
    pub(super) objective: f64,
    /// The same, no less than what is proved of every point: rounding may have it otherwise.
    pub(super) primal: f64,
    /// D, rounded down: no point has a smaller objective.
    pub(super) dual: f64,
    /// (primal − dual) / primal; none where there is no penalty, whose dual point rounding never meets.
    pub(super) gap: Option<f64>,
    /// ‖Σ rᵢ x̃ᵢ‖ / Σ uᵢ(1 − qᵢ of the own class), rounded up: no margin of the rows is larger.
    pub(super) margin_upper: Option<f64>,
}

/// Unit roundoff, with room for the few operations that use it.
pub(super) const U: f64 = f64::EPSILON * 0.51;

/// How much an entropy may change where a probability is off, as a multiple: no logarithm of a float that is not tiny beside
/// 1 is larger.
pub(super) const STEEPEST: f64 = 40.0;

/// What exponentials, logarithms and the few operations around them lose, as a share.
pub(super) const FUNCTIONS: f64 = 16.0 * U;

impl Problem<'_> {
    /// Makes the intercepts the best for the weights, and proves how good the point is. `radius` is the length of the
    /// longest row, `bias_input` the appended coordinate by which margins are measured.
    pub(super) fn prove(
        &self,
        point: &mut Point,
        scores: &mut Vec<f64>,
        radius: f64,
        bias_input: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Proof> {
        *scores = self.scores(point, pause)?;
        if self.has_intercept {
            self.centre(point, scores, pause)?;
        }
        let objective = self.objective(point, scores, pause)?;
        let slopes = self.slopes(scores, pause)?;
        let sums = self.combine(&slopes.residuals, pause)?;
        let rounding = (self.additions() + 16) as f64 * U;
        // The exact sum for these residuals, and the residuals themselves, are off by this much in length.
        let mut drift = (rounding + FUNCTIONS) * radius * slopes.wrong * (1.0 + 16.0 * U);
        let length = linalg::norm_squared(&sums.weights).sqrt() * (1.0 + rounding);
        let appended = linalg::norm_squared(&sums.intercepts).sqrt() * bias_input.abs();
        let appended_drift = (rounding + FUNCTIONS) * bias_input.abs() * slopes.wrong;
        let whole = (length + drift).hypot(appended + appended_drift) * (1.0 + 4.0 * U);
        let margin_upper =
            (slopes.wrong > 0.0).then(|| quotient_up(whole, slopes.wrong * (1.0 - rounding - FUNCTIONS)));
        let margin_upper = margin_upper.filter(|upper| upper.is_finite());
        if self.penalty.is_none() {
            return ControlFlow::Continue(Proof {
                objective,
                primal: objective,
                dual: 0.0,
                gap: None,
                margin_upper,
            });
        }
        let mut cost_of_rest = 0.0;
        if self.has_intercept {
            let off = slopes.wrong * (rounding + FUNCTIONS);
            let rest: f64 = sums.intercepts.iter().map(|r| r.abs() + off).sum();
            let takers = self.takers(scores, pause)?;
            let count = takers.len() as f64;
            if takers.iter().any(|taker| taker.room <= 4.0 * count * rest) {
                // No rows can take it: nothing is proved.
                return ControlFlow::Continue(Proof { margin_upper, ..Proof::of_nothing(self, objective) });
            }
            drift += count * rest * radius * (1.0 + 8.0 * U);
            let cost = |taker: &Taker| rest * ((2.0 * taker.loss_weight / taker.room).ln() + 1.0);
            cost_of_rest = takers.iter().map(cost).sum::<f64>() * (1.0 + FUNCTIONS);
        }
        let (absolute, square) = (self.penalty.absolute, self.penalty.square);
        let (factor, conjugate) = if square > 0.0 {
            let beyond = |g: &f64| (g.abs() - absolute).max(0.0);
            let beyond = sums.weights.iter().map(|g| beyond(g).powi(2)).sum::<f64>().sqrt();
            let beyond = beyond * (1.0 + (sums.weights.len() + 8) as f64 * U) + drift;
            (1.0, beyond * beyond / (2.0 * square) * (1.0 + 8.0 * U))
        } else {
            let most = sums.weights.iter().fold(0.0, |most: f64, g| most.max(g.abs())) + drift;
            (if most > absolute { absolute / most * (1.0 - 4.0 * U) } else { 1.0 }, 0.0)
        };
        let (entropy, all) = self.entropy(scores, factor, pause)?;
        let entropy = entropy * (1.0 - rounding) - FUNCTIONS * all;
        let dual = entropy - conjugate - cost_of_rest;
        let dual = dual.max(0.0);
        let primal = objective.max(dual);
        let gap = if primal > 0.0 { (primal - dual) / primal } else { 0.0 };
        ControlFlow::Continue(Proof { objective, primal, dual, gap: Some(gap), margin_upper })
    }

    /// Rows that take what is left of Σ rᵢ. Of two classes one row does, and of very many: the one whose smallest probability is
    /// largest. Of others each takes what goes from its own class to another, so that those two probabilities alone must be well
    /// above it; the pairs are a tree that joins all classes, of those with the most room.
    fn takers(&self, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Vec<Taker>> {
        let width = self.width();
        if width > 1 && width <= MANY_CLASSES {
            let rooms = self.rooms_between_classes(scores, pause)?;
            return ControlFlow::Continue(roomiest_tree(&rooms, width));
        }
        let larger = |a: Taker, b: Taker| if b.room > a.room { b } else { a };
        let none = Taker { room: 0.0, loss_weight: 1.0 };
        let rooms = self.sum_chunks(scores, pause, |start, rows| {
            let mut own = vec![0.0; width];
            let rows = rows.chunks_exact(width).zip(&self.loss_weights[start..]);
            rows.map(|(row, &loss_weight)| {
                let least = match *row {
                    [score] => logistic(-score.abs()),
                    _ => {
                        own.copy_from_slice(row);
                        to_probabilities(&mut own);
                        own.iter().copied().fold(f64::INFINITY, f64::min)
                    }
                };
                Taker { room: loss_weight * least, loss_weight }
            })
            .fold(none, larger)
        })?;
        ControlFlow::Continue(vec![rooms.into_iter().fold(none, larger)])
    }

    /// For a class and another, at `class · width + other`: the row of that class with the most room for what goes from one to the
    /// other.
    fn rooms_between_classes(
        &self,
        scores: &[f64],
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Vec<Taker>> {
        let width = self.width();
        let mut takers = vec![Taker { room: 0.0, loss_weight: 1.0 }; width * width];
        let mut p = vec![0.0; width];
        for rows in &self.blocks {
            for i in rows.clone() {
                p.copy_from_slice(&scores[i * width..(i + 1) * width]);
                to_probabilities(&mut p);
                let (loss_weight, class) = (self.loss_weights[i], self.labels[i] as usize);
                let own = &mut takers[class * width..(class + 1) * width];
                for (taker, other) in own.iter_mut().zip(&p) {
                    let room = loss_weight * other.min(p[class]);
                    if room > taker.room {
                        *taker = Taker { room, loss_weight };
                    }
                }
            }
            pause()?;
        }
        ControlFlow::Continue(takers)
    }

    /// The residuals of the scores, with as many digits as the scores allow, and Σ uᵢ(1 − qᵢ of the own class).
    fn slopes(&self, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Slopes> {
        let width = self.width();
        let mut residuals = scores.to_vec();
        self.change_rows(&mut residuals, pause, |i, row| {
            let (loss_weight, class) = (self.loss_weights[i], self.labels[i] as usize);
            if let [score] = row {
                let sign = if class == 1 { 1.0 } else { -1.0 };
                *score = sign * (loss_weight * logistic(-sign * *score));
                return;
            }
            to_probabilities(row);
            let mut part = 0.0;
            for (_, q) in row.iter_mut().enumerate().filter(|&(other, _)| other != class) {
                part += loss_weight * *q;
                *q *= -loss_weight;
            }
            row[class] = part;
        })?;
        // The residual of the own class is what is wrong about a row.
        let wrong = self.sum_chunks(&residuals, pause, |start, rows| {
            let own = |(k, row): (usize, &[f64])| match *row {
                [one] => one.abs(),
                _ => row[self.labels[start + k] as usize],
            };
            rows.chunks_exact(width).enumerate().map(own).fold(0.0, |wrong, part| wrong + part)
        })?;
        ControlFlow::Continue(Slopes { residuals, wrong: wrong.iter().sum() })
    }

    /// Σ uᵢ H(qᵢ) for qᵢ = e + factor·(p − e), and a sum of which rounding takes a share of [`FUNCTIONS`] at most.
    fn entropy(&self, scores: &[f64], factor: f64, pause: &mut Pause<'_>) -> ControlFlow<Status, (f64, f64)> {
        let width = self.width();
        let term = |q: f64| if q > 0.0 { -q * q.ln() } else { 0.0 };
        let rest = |wrong: f64| if wrong < 1.0 { -(1.0 - wrong) * (-wrong).ln_1p() } else { 0.0 };
        let sums = self.sum_chunks(scores, pause, |start, rows| {
            let (mut sum, mut all) = (0.0, 0.0);
            let mut probabilities = vec![0.0; width];
            for (k, row) in rows.chunks_exact(width).enumerate() {
                let i = start + k;
                let (loss_weight, class) = (self.loss_weights[i], self.labels[i] as usize);
                let entropy = if let [score] = *row {
                    let agreement = if class == 1 { score } else { -score };
                    let wrong = factor * logistic(-agreement);
                    all += loss_weight * STEEPEST * wrong;
                    term(wrong) + rest(wrong)
                } else {
                    probabilities.copy_from_slice(row);
                    to_probabilities(&mut probabilities);
                    let others = (0..width).filter(|&other| other != class);
                    let others = others.map(|other| factor * probabilities[other]);
                    let wrong: f64 = others.clone().sum();
                    all += loss_weight * STEEPEST * wrong;
                    others.map(term).sum::<f64>() + rest(wrong.min(1.0))
                };
                sum += loss_weight * entropy;
                all += loss_weight * entropy;
            }
            (sum, all)
        })?;
        ControlFlow::Continue(sums.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d)))
    }

    /// Newton's method on the intercepts alone, for the weights as they are. Far from the best a step is halved until the
    /// loss is smaller; near it, where the loss has no digits left to tell, until the slope is. Where `pause` ends it, point
    /// and scores belong together.
    fn centre(&self, point: &mut Point, scores: &mut [f64], pause: &mut Pause<'_>) -> ControlFlow<Status> {
        const MAX: usize = 200;
        let scale = self.loss_weights.iter().sum::<f64>();
        let mut derivatives = Derivatives::at(self, scores, pause)?;
        let mut loss = self.loss(scores, pause)?;
        let mut fraction = 1.0;
        let size = |derivatives: &Derivatives| derivatives.slope.iter().map(|s| s.abs()).sum::<f64>();
        for _ in 0..MAX {
            if size(&derivatives) <= f64::EPSILON * scale {
                break;
            }
            let Some(step) = derivatives.step(self, pause)? else { break };
            let moved: Vec<f64> = step.iter().map(|s| fraction * s).collect();
            let mut tried = scores.to_vec();
            self.change_rows(&mut tried, pause, |_, row| {
                row.iter_mut().zip(&moved).for_each(|(score, step)| *score += step);
            })?;
            let found = self.loss(&tried, pause)?;
            let next = Derivatives::at(self, &tried, pause)?;
            let near = (found - loss).abs() <= 1e-12 * loss;
            if if near { size(&next) < 0.9 * size(&derivatives) } else { found < loss } {
                point.intercepts.iter_mut().zip(&moved).for_each(|(b, step)| *b += step);
                scores.copy_from_slice(&tried);
                (loss, derivatives, fraction) = (found, next, 1.0);
            } else if near || fraction < 1e-6 {
                break;
            } else {
                fraction *= 0.5;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Proof {
    /// The proof for a point of which only an upper bound of the objective is known.
    pub(super) fn of_nothing(problem: &Problem<'_>, objective: f64) -> Self {
        let gap = if problem.penalty.is_none() { None } else { Some(1.0) };
        Self { objective, primal: objective, dual: 0.0, gap, margin_upper: None }
    }
}

/// A row that takes something of Σ rᵢ: uᵢ times the smallest of the probabilities that change, and uᵢ.
#[derive(Clone, Copy)]
struct Taker {
    room: f64,
    loss_weight: f64,
}

/// A tree that joins all classes, of pairs with as much room as can be (Prim 1957).
fn roomiest_tree(rooms: &[Taker], width: usize) -> Vec<Taker> {
    let between = |a: usize, b: usize| {
        let (there, back) = (rooms[a * width + b], rooms[b * width + a]);
        if back.room > there.room { back } else { there }
    };
    // The best way to each class from those that are joined already: the first.
    let mut ways: Vec<Option<Taker>> =
        (0..width).map(|class| (class > 0).then(|| between(0, class))).collect();
    let mut tree = Vec::with_capacity(width - 1);
    while let Some((class, way)) = ways
        .iter()
        .enumerate()
        .filter_map(|(class, way)| way.map(|way| (class, way)))
        .max_by(|a, b| a.1.room.total_cmp(&b.1.room))
    {
        tree.push(way);
        ways[class] = None;
        for (other, way) in ways.iter_mut().enumerate().filter(|(_, way)| way.is_some()) {
            let new = between(class, other);
            *way = way.map(|old| if new.room > old.room { new } else { old });
        }
    }
    tree
}

/// Minus the slope of the loss in the intercepts, and its second derivatives.
struct Derivatives {
    slope: Vec<f64>,
    second: Second,
}

/// Second derivatives of the loss in the intercepts: Σ uᵢ (diag pᵢ − pᵢ pᵢᵀ).
enum Second {
    /// As a matrix.
    Matrix(Vec<f64>),
    /// Of very many classes, the probabilities of the rows and the diagonal Σ uᵢ pᵢ: the square of their number is too much
    /// for a matrix, and its product with a vector is all that conjugate gradients need.
    Product { probabilities: Vec<f64>, diagonal: Vec<f64> },
}

impl Derivatives {
    fn at(problem: &Problem<'_>, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Self> {
        if problem.width() > MANY_CLASSES {
            Self::of_many(problem, scores, pause)
        } else {
            Self::of_few(problem, scores, pause)
        }
    }

    fn of_few(problem: &Problem<'_>, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Self> {
        let width = problem.width();
        let parts = problem.sum_chunks(scores, pause, |start, rows| {
            let (mut slope, mut matrix) = (vec![0.0; width], vec![0.0; width * width]);
            let mut p = vec![0.0; width];
            for (k, row) in rows.chunks_exact(width).enumerate() {
                let i = start + k;
                let (loss_weight, class) = (problem.loss_weights[i], problem.labels[i] as usize);
                p.copy_from_slice(row);
                to_probabilities(&mut p);
                if let [p] = *p {
                    slope[0] += loss_weight * (f64::from(u8::from(class == 1)) - p);
                    matrix[0] += loss_weight * p * (1.0 - p);
                    continue;
                }
                for a in 0..width {
                    slope[a] += loss_weight * (f64::from(u8::from(class == a)) - p[a]);
                    matrix[a * width + a] += loss_weight * p[a];
                    let own = loss_weight * p[a];
                    for b in 0..=a {
                        matrix[a * width + b] -= own * p[b];
                    }
                }
            }
            (slope, matrix)
        })?;
        let (mut slope, mut matrix) = (vec![0.0; width], vec![0.0; width * width]);
        for (part, derivatives) in parts {
            slope.iter_mut().zip(part).for_each(|(to, from)| *to += from);
            matrix.iter_mut().zip(derivatives).for_each(|(to, from)| *to += from);
        }
        if width > 1 {
            // All intercepts may move together: the matrix says nothing about that direction, so it is given a weight.
            let mean = (0..width).map(|a| matrix[a * width + a]).sum::<f64>() / width as f64;
            matrix.iter_mut().for_each(|m| *m += mean / width as f64);
        }
        ControlFlow::Continue(Self { slope, second: Second::Matrix(matrix) })
    }

    fn of_many(problem: &Problem<'_>, scores: &[f64], pause: &mut Pause<'_>) -> ControlFlow<Status, Self> {
        let probabilities = problem.probabilities(scores, pause)?;
        let diagonal = sum_of_rows(problem, &probabilities, pause, |i, row, sums| {
            linalg::add_dense(problem.loss_weights[i], row, sums);
        })?;
        let mut slope: Vec<f64> = diagonal.iter().map(|p| -p).collect();
        problem
            .labels
            .iter()
            .zip(&problem.loss_weights)
            .for_each(|(&class, loss_weight)| slope[class as usize] += loss_weight);
        ControlFlow::Continue(Self { slope, second: Second::Product { probabilities, diagonal } })
    }

    /// Newton's step: the solution of H·step = slope, none where there is no solution.
    fn step(&self, problem: &Problem<'_>, pause: &mut Pause<'_>) -> ControlFlow<Status, Option<Vec<f64>>> {
        match &self.second {
            Second::Matrix(matrix) => ControlFlow::Continue(solve(matrix.clone(), &self.slope, f64::EPSILON)),
            Second::Product { probabilities, diagonal } => {
                conjugate_gradients(problem, probabilities, diagonal, &self.slope, pause)
            }
        }
    }
}

/// Sums over the rows, one for each score, of what `add` adds to them.
fn sum_of_rows(
    problem: &Problem<'_>,
    numbers: &[f64],
    pause: &mut Pause<'_>,
    add: impl Fn(usize, &[f64], &mut [f64]) + Sync,
) -> ControlFlow<Status, Vec<f64>> {
    let width = problem.width();
    let parts = problem.sum_chunks(numbers, pause, |start, rows| {
        let mut sums = vec![0.0; width];
        rows.chunks_exact(width).enumerate().for_each(|(k, row)| add(start + k, row, &mut sums));
        sums
    })?;
    let mut total = vec![0.0; width];
    parts.iter().for_each(|part| linalg::add_dense(1.0, part, &mut total));
    ControlFlow::Continue(total)
}

/// A solution of Σ uᵢ (diag pᵢ − pᵢ pᵢᵀ)·step = slope to a few digits, measured by the diagonal. The matrix says nothing about
/// all intercepts moving together, and neither does the slope: the steps add up to zero.
fn conjugate_gradients(
    problem: &Problem<'_>,
    probabilities: &[f64],
    diagonal: &[f64],
    slope: &[f64],
    pause: &mut Pause<'_>,
) -> ControlFlow<Status, Option<Vec<f64>>> {
    const MAX: usize = 100;
    const ENOUGH: f64 = 1e-4;
    let measure = |rest: &[f64]| -> Vec<f64> {
        rest.iter().zip(diagonal).map(|(r, d)| if *d > 0.0 { r / d } else { 0.0 }).collect()
    };
    let mut step = vec![0.0; slope.len()];
    let mut rest = slope.to_vec();
    let mut direction = measure(&rest);
    let mut size = linalg::dot_dense(&rest, &direction);
    let enough = ENOUGH * ENOUGH * size;
    for _ in 0..MAX {
        if size.is_nan() || size <= enough {
            break;
        }
        let outer = sum_of_rows(problem, probabilities, pause, |i, p, sums| {
            linalg::add_dense(problem.loss_weights[i] * linalg::dot_dense(p, &direction), p, sums);
        })?;
        let hessian_direction: Vec<f64> =
            diagonal.iter().zip(&direction).zip(&outer).map(|((d, v), outer)| d * v - outer).collect();
        let curvature = linalg::dot_dense(&direction, &hessian_direction);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        linalg::add_dense(size / curvature, &direction, &mut step);
        linalg::add_dense(-size / curvature, &hessian_direction, &mut rest);
        let measured = measure(&rest);
        let before = std::mem::replace(&mut size, linalg::dot_dense(&rest, &measured));
        let factor = size / before;
        direction.iter_mut().zip(measured).for_each(|(d, m)| *d = m + factor * *d);
    }
    let mean = step.iter().sum::<f64>() / step.len() as f64;
    step.iter_mut().for_each(|step| *step -= mean);
    let usable = step.iter().all(|step| step.is_finite()) && step.iter().any(|&step| step != 0.0);
    ControlFlow::Continue(usable.then_some(step))
}

struct Slopes {
    residuals: Vec<f64>,
    wrong: f64,
}

/// The solution of a symmetric positive definite system, of which the lower half is given, row by row; none where it has
/// no Cholesky factor, as [`factorise`] tells by `least`.
pub(super) fn solve(mut matrix: Vec<f64>, right: &[f64], least: f64) -> Option<Vec<f64>> {
    factorise(&mut matrix, right.len(), least)?;
    let solution = solve_factorised(&matrix, right);
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

/// The same, given the Cholesky factor.
pub(super) fn solve_factorised(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut solution = right.to_vec();
    for a in 0..n {
        let (row, before) = (&matrix[a * n..a * n + a], &solution[..a]);
        let known = linalg::dot_dense(row, before);
        solution[a] = (solution[a] - known) / matrix[a * n + a];
    }
    for a in (0..n).rev() {
        solution[a] /= matrix[a * n + a];
        let own = solution[a];
        let (before, row) = (&mut solution[..a], &matrix[a * n..a * n + a]);
        linalg::add_dense(-own, row, before);
    }
    solution
}

/// The same for several right sides, in their place: the numbers of a row of the matrix lie side by side.
pub(super) fn solve_factorised_together(matrix: &[f64], width: usize, sides: &mut [f64]) {
    let n = sides.len() / width;
    for a in 0..n {
        let (before, own) = sides.split_at_mut(a * width);
        let own = &mut own[..width];
        for (factor, other) in matrix[a * n..a * n + a].iter().zip(before.chunks_exact(width)) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own -= factor * other);
        }
        own.iter_mut().for_each(|own| *own /= matrix[a * n + a]);
    }
    for a in (0..n).rev() {
        let (before, own) = sides.split_at_mut(a * width);
        let own = &mut own[..width];
        own.iter_mut().for_each(|own| *own /= matrix[a * n + a]);
        for (factor, other) in matrix[a * n..a * n + a].iter().zip(before.chunks_exact_mut(width)) {
            other.iter_mut().zip(&*own).for_each(|(other, own)| *other -= factor * own);
        }
    }
}

/// Replaces the lower half of a matrix by its Cholesky factor. None where no more than the share `least` of a diagonal entry is
/// left: the direction is one that the others span, but for rounding.
pub(super) fn factorise(matrix: &mut [f64], n: usize, least: f64) -> Option<()> {
    for a in 0..n {
        let (above, rest) = matrix.split_at_mut(a * n);
        let row = &mut rest[..n];
        for b in 0..a {
            let known = linalg::dot_dense(&above[b * n..b * n + b], &row[..b]);
            row[b] = (row[b] - known) / above[b * n + b];
        }
        let left = row[a] - linalg::norm_squared(&row[..a]);
        if left.is_nan() || left <= row[a].abs() * least {
            return None;
        }
        row[a] = left.sqrt();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::problem::Penalty;
    use super::*;
    use crate::dataset::Dataset;
    use crate::random::Random;

    /// Newton's step in the intercepts by conjugate gradients is that of the matrix, to the digits that are asked for.
    #[test]
    fn a_step_of_many_classes_is_that_of_the_matrix() {
        let (rows, classes) = (90, 17);
        let mut random = Random::new(7);
        let mut number = || random.below(2001) as f64 / 500.0 - 2.0;
        let values: Vec<f64> = (0..2 * rows).map(|_| number()).collect();
        let labels: Vec<u32> = (0..rows as u32).map(|i| i * i % classes as u32).collect();
        let data = Dataset::dense(2, &values, &vec!["1"; rows]).unwrap();
        let loss_weights = (0..rows).map(|i| 0.5 + (i % 3) as f64).collect();
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let problem = Problem::new(&data, &labels, classes, loss_weights, true, penalty);
        let scores: Vec<f64> = (0..rows * classes).map(|_| number()).collect();
        let go_on = &mut || ControlFlow::Continue(());
        let ends =
            [Derivatives::of_few(&problem, &scores, go_on), Derivatives::of_many(&problem, &scores, go_on)];
        let [few, many] = ends.map(|derivatives| derivatives.continue_value().unwrap());
        for (a, b) in few.slope.iter().zip(&many.slope) {
            assert!((a - b).abs() < 1e-12 * 90.0, "{a} {b}");
        }
        let [few, many] = [few, many]
            .map(|derivatives| derivatives.step(&problem, go_on).continue_value().unwrap().unwrap());
        let longest = few.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
        for (a, b) in few.iter().zip(&many) {
            assert!((a - b).abs() < 1e-3 * longest, "{a} {b}");
        }
    }
}

//! Logistic regression with Firth's penalty, which takes the first term off the bias of maximum likelihood and has a finite
//! best point also where the classes do not overlap (Firth 1993, Heinze and Schemper 2002).
//!
//! maximise Σ uᵢ ln pᵢ(yᵢ) + ½ ln det I(β), where I(β) = Σ wᵢ x̃ᵢx̃ᵢᵀ is the information, wᵢ = uᵢ pᵢ(1−pᵢ) and x̃ has the
//! intercept as one more coordinate. Its slope is Σ (uᵢ(yᵢ−pᵢ) + hᵢ(½−pᵢ)) x̃ᵢ with hᵢ = wᵢ x̃ᵢᵀ I⁻¹ x̃ᵢ. Steps are those of
//! Fisher's scoring, halved until the objective rises.
//!
//! Other coordinates of the same columns change the objective by a constant only. So the steps are taken in an orthonormal basis Q of
//! the columns X = QR, where neither units nor shifts of columns nor columns that resemble each other cost digits, and β = R⁻¹α is
//! computed at the end.

use super::problem::{logistic, loss};
use super::proof::solve_factorised;
use super::{Limits, Rows, Solution};
use crate::numbers::grouped;
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::run::Status;
use crate::train::settings::Settings;
use crate::{Error, SettingsError, linalg};
use std::ops::ControlFlow;

/// Rows × coordinates² that are not exceeded: each step takes as many operations.
const MAX_WORK: f64 = 2e10;
/// Multiplications between two looks at what may end a run.
const PAUSE: usize = 1 << 24;
/// The longest step of a coefficient, in its own scale: far out the objective is flat.
const LONGEST: f64 = 5.0;
/// The most halvings of a step.
const HALVINGS: u32 = 30;
/// A column is taken for a combination of those before it if no more than this share of its length is left.
const DEPENDENT: f64 = 1e-7;
/// The most that rounding may change the score of a row.
const MAX_ROUNDING: f64 = 1e-6;

/// Learns two classes with Firth's penalty.
pub(super) fn learn(
    rows: &Rows<'_>,
    settings: &Settings,
    gap: f64,
    limits: &mut Limits<'_>,
) -> Result<Solution, Error> {
    let columns = rows.data.columns();
    let input = settings.bias.input();
    let design = Design::new(rows, input != 0.0, limits)?;
    let k = design.kept.len();
    let mut beta = vec![0.0; k];
    // Before the first point there is nothing to give to a user who interrupts.
    let ControlFlow::Continue(first) = design.look(&beta, &mut || interrupted(limits)) else {
        return Err(Error::Interrupted);
    };
    let mut here = first.ok_or_else(flat)?;
    let status = 'steps: loop {
        if let ControlFlow::Break(status) = limits.pause() {
            break status;
        }
        let slope = design.slope(&here);
        let mut step = solve_factorised(&here.factor, &slope);
        let promised = linalg::dot_dense(&slope, &step);
        // The slope in the metric of the information: how many standard errors are left to go, squared.
        if promised <= gap * gap {
            break Status::Converged;
        }
        if limits.steps >= settings.epochs {
            break Status::EpochLimit;
        }
        // A basis vector of length 1 has values of the size 1/√n.
        let unit = (design.labels.len() as f64).sqrt().recip();
        let longest = step.iter().fold(0.0f64, |most, s| most.max(s.abs() * unit));
        if longest > LONGEST {
            step.iter_mut().for_each(|s| *s *= LONGEST / longest);
        }
        let mut share = 1.0;
        let mut found = None;
        for _ in 0..HALVINGS {
            let tried: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b + share * s).collect();
            let there = match design.look(&tried, &mut || limits.pause()) {
                ControlFlow::Continue(there) => there,
                ControlFlow::Break(status) => break 'steps status,
            };
            if let Some(there) = there.filter(|there| there.objective > here.objective) {
                found = Some((tried, there));
                break;
            }
            share *= 0.5;
        }
        limits.steps += 1;
        match found {
            Some(found) => (beta, here) = found,
            // No digits of the objective are left to gain.
            None => break Status::Converged,
        }
    };
    let mut theta = Theta::zero(columns, input);
    let (coefficients, intercept) = design.coefficients(&beta);
    for (&place, &b) in design.kept.iter().zip(&coefficients) {
        if let Some(feature) = place.checked_sub(usize::from(input != 0.0)) {
            theta.weights[feature] = b;
        }
    }
    if input != 0.0 {
        theta.bias = intercept / input;
    }
    design.refuse_rounding(&coefficients, intercept)?;
    let set_aside = (columns + usize::from(input != 0.0) - k) as u64;
    // ½ ln det (RᵀIR) = ½ ln det I + ln det R
    let stretch: f64 = design.stretch.iter().map(|own| own[own.len() - 1].ln()).sum();
    let detail = Detail::Firth { objective: here.objective + stretch, set_aside };
    Ok(Solution { thetas: vec![theta], status, steps: limits.steps, margin_upper: None, detail })
}

/// Whether the user wants an end: a limit of time ends steps, not what comes before the first.
fn interrupted(limits: &mut Limits<'_>) -> ControlFlow<Status> {
    match limits.pause() {
        ControlFlow::Break(Status::Interrupted) => ControlFlow::Break(Status::Interrupted),
        _ => ControlFlow::Continue(()),
    }
}

fn flat() -> Error {
    let problem = "the rows do not determine the weights: the Fisher information of the first step is numerically \
         singular";
    SettingsError::new("penalty", problem).into()
}

/// The rows that count, in an orthonormal basis of their columns.
struct Design {
    /// Q, row after row.
    values: Vec<f64>,
    labels: Vec<u32>,
    weights: Vec<f64>,
    /// The columns that are not combinations of those before them: 0 for the intercept where there is one, then the features.
    kept: Vec<usize>,
    /// R: each of these columns in the basis.
    stretch: Vec<Vec<f64>>,
    /// What was subtracted from each of these columns, for the intercept to give back.
    shift: Vec<f64>,
    /// The largest size of the values of each, before that.
    largest: Vec<f64>,
}

/// What a point is like.
struct Look {
    objective: f64,
    probabilities: Vec<f64>,
    /// wᵢ x̃ᵢᵀ I⁻¹ x̃ᵢ
    leverage: Vec<f64>,
    /// The Cholesky factor of the information, in its lower half.
    factor: Vec<f64>,
}

impl Design {
    fn new(rows: &Rows<'_>, has_intercept: bool, limits: &mut Limits<'_>) -> Result<Self, Error> {
        let first = usize::from(has_intercept);
        let width = rows.data.columns() + first;
        let counted: Vec<usize> = (0..rows.data.len()).filter(|&i| rows.counts(i)).collect();
        let work = counted.len() as f64 * (width as f64).powi(2);
        if work > MAX_WORK {
            let problem = format!(
                "⟦penalty=firth⟧ is for small data: a step on {} rows with {} coordinates takes rows × coordinates² operations, \
                 and at most {MAX_WORK:.0e} are made; ⟦penalty=l2⟧ is for large data",
                grouped(counted.len() as u64),
                grouped(width as u64)
            );
            return Err(SettingsError::new("penalty", problem).into());
        }
        let mut columns = vec![vec![0.0; counted.len()]; width];
        for (place, &i) in counted.iter().enumerate() {
            if has_intercept {
                columns[0][place] = 1.0;
            }
            rows.data.row(i).iter().for_each(|(j, value)| columns[j + first][place] = value);
        }
        let size = |column: &Vec<f64>| column.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let largest: Vec<f64> = columns.iter().map(size).collect();
        let mut shift = vec![0.0; width];
        if has_intercept {
            // The value of a row, not the mean: the difference of values that are close is exact, and a constant column becomes 0.
            for (column, shift) in columns.iter_mut().zip(&mut shift).skip(1) {
                *shift = column.first().copied().unwrap_or(0.0);
                column.iter_mut().for_each(|value| *value -= *shift);
            }
        }
        let ControlFlow::Continue(Basis { kept, vectors, stretch }) =
            Basis::of(&columns, &mut || interrupted(limits))
        else {
            return Err(Error::Interrupted);
        };
        let k = kept.len();
        let mut values = vec![0.0; counted.len() * k];
        for (place, vector) in vectors.iter().enumerate() {
            vector.iter().enumerate().for_each(|(i, value)| values[i * k + place] = *value);
        }
        Ok(Self {
            values,
            labels: counted.iter().map(|&i| rows.labels[i]).collect(),
            weights: counted.iter().map(|&i| rows.weights.map_or(1.0, |weights| weights[i])).collect(),
            shift: kept.iter().map(|&column| shift[column]).collect(),
            largest: kept.iter().map(|&column| largest[column]).collect(),
            kept,
            stretch,
        })
    }

    /// The coefficients of the kept columns, and the intercept for columns that are not shifted.
    fn coefficients(&self, alpha: &[f64]) -> (Vec<f64>, f64) {
        let mut beta = alpha.to_vec();
        for (a, own) in self.stretch.iter().enumerate().rev() {
            beta[a] /= own[a];
            let b = beta[a];
            linalg::add_dense(-b, &own[..a], &mut beta[..a]);
        }
        let shifted: f64 = beta.iter().zip(&self.shift).map(|(b, shift)| b * shift).sum();
        let intercept = beta.first().map_or(0.0, |b| b - shifted);
        (beta, intercept)
    }

    /// An error if the scores of the rows are lost in rounding: weights, values and intercept cancel each other.
    fn refuse_rounding(&self, coefficients: &[f64], intercept: f64) -> Result<(), Error> {
        let has_intercept = self.kept.first() == Some(&0) && self.shift.first() == Some(&0.0);
        let size: f64 = coefficients.iter().zip(&self.largest).map(|(b, largest)| (b * largest).abs()).sum();
        if f64::EPSILON * (size + if has_intercept { intercept.abs() } else { 0.0 }) <= MAX_ROUNDING {
            return Ok(());
        }
        let problem = "the values of a column are so far from 0, relative to their differences, that the \
                       scores lose all precision: subtract a \
                       constant from the column, or leave ⟦scale=none⟧ out";
        Err(SettingsError::new("scale", problem).into())
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.kept.len().max(1))
    }

    /// What the point is like; none where the information has no Cholesky factor. `pause` is called every so often, and may end it.
    fn look<B>(
        &self,
        beta: &[f64],
        pause: &mut impl FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Option<Look>> {
        let k = beta.len();
        let together = (PAUSE / (k * k).max(1)).max(1);
        let mut factor = vec![0.0; k * k];
        let (mut objective, mut probabilities) = (0.0, Vec::with_capacity(self.labels.len()));
        for (i, x) in self.rows().enumerate() {
            if i.is_multiple_of(together) {
                pause()?;
            }
            let score = linalg::dot_dense(x, beta);
            let p = logistic(score);
            objective -= self.weights[i] * loss(&[score], self.labels[i] as usize);
            let w = self.weights[i] * p * (1.0 - p);
            for (a, &x_a) in x.iter().enumerate() {
                linalg::add_dense(w * x_a, &x[..=a], &mut factor[a * k..a * k + a + 1]);
            }
            probabilities.push(p);
        }
        if factorise(&mut factor, k, pause)?.is_none() {
            return ControlFlow::Continue(None);
        }
        // ½ ln det I is the sum of the logarithms of the factor's diagonal.
        objective += (0..k).map(|a| factor[a * k + a].ln()).sum::<f64>();
        let mut leverage = Vec::with_capacity(self.labels.len());
        let mut solved = vec![0.0; k];
        for (i, x) in self.rows().enumerate() {
            if i.is_multiple_of(together) {
                pause()?;
            }
            // ‖L⁻¹x‖² = xᵀI⁻¹x
            for a in 0..k {
                let known = linalg::dot_dense(&factor[a * k..a * k + a], &solved[..a]);
                solved[a] = (x[a] - known) / factor[a * k + a];
            }
            let p = probabilities[i];
            leverage.push(self.weights[i] * p * (1.0 - p) * linalg::norm_squared(&solved));
        }
        let look = Look { objective, probabilities, leverage, factor };
        ControlFlow::Continue(Some(look).filter(|look| look.objective.is_finite()))
    }

    fn slope(&self, here: &Look) -> Vec<f64> {
        let mut slope = vec![0.0; self.kept.len()];
        for (i, x) in self.rows().enumerate() {
            let p = here.probabilities[i];
            let residual = self.weights[i] * (f64::from(self.labels[i]) - p) + here.leverage[i] * (0.5 - p);
            linalg::add_dense(residual, x, &mut slope);
        }
        slope
    }
}

/// Replaces the lower half of a matrix by its Cholesky factor; none where rounding leaves nothing of a diagonal entry. `pause` is called
/// every so often, and may end it.
fn factorise<B>(
    matrix: &mut [f64],
    k: usize,
    pause: &mut impl FnMut() -> ControlFlow<B>,
) -> ControlFlow<B, Option<()>> {
    let mut work = 0;
    for a in 0..k {
        work += a * a;
        if work > PAUSE {
            work = 0;
            pause()?;
        }
        let (above, rest) = matrix.split_at_mut(a * k);
        let row = &mut rest[..k];
        for b in 0..a {
            let known = linalg::dot_dense(&above[b * k..b * k + b], &row[..b]);
            row[b] = (row[b] - known) / above[b * k + b];
        }
        let left = row[a] - linalg::norm_squared(&row[..a]);
        if left.is_nan() || left <= row[a].abs() * f64::EPSILON {
            return ControlFlow::Continue(None);
        }
        row[a] = left.sqrt();
    }
    ControlFlow::Continue(Some(()))
}

/// An orthonormal basis of columns.
struct Basis {
    /// The columns that are not combinations of those before them, as far as floats tell.
    kept: Vec<usize>,
    /// One vector for each of these.
    vectors: Vec<Vec<f64>>,
    /// Each of these columns as a combination of the vectors up to its own.
    stretch: Vec<Vec<f64>>,
}

impl Basis {
    /// By Gram and Schmidt, twice, so that rounding leaves nothing of what is spanned. `pause` is called for each column, and may end it.
    fn of<B>(columns: &[Vec<f64>], pause: &mut impl FnMut() -> ControlFlow<B>) -> ControlFlow<B, Self> {
        let mut basis = Self { kept: Vec::new(), vectors: Vec::new(), stretch: Vec::new() };
        for (place, column) in columns.iter().enumerate() {
            pause()?;
            let length = linalg::norm_squared(column).sqrt();
            let mut left = column.clone();
            let mut shares = vec![0.0; basis.vectors.len()];
            for _ in 0..2 {
                for (own, sum) in basis.vectors.iter().zip(&mut shares) {
                    let share = linalg::dot_dense(own, &left);
                    linalg::add_dense(-share, own, &mut left);
                    *sum += share;
                }
            }
            let rest = linalg::norm_squared(&left).sqrt();
            if rest > DEPENDENT * length && basis.vectors.len() < column.len() {
                left.iter_mut().for_each(|x| *x /= rest);
                shares.push(rest);
                basis.kept.push(place);
                basis.vectors.push(left);
                basis.stretch.push(shares);
            }
        }
        ControlFlow::Continue(basis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A factor of a matrix that takes long can be called off; the others are right.
    #[test]
    fn the_factor_can_be_interrupted() {
        let k = 500;
        // L Lᵀ for L with ones below its diagonal of twos.
        let entry = |a: usize, b: usize| a.min(b) as f64 + if a == b { 4.0 } else { 2.0 };
        let matrix: Vec<f64> = (0..k * k).map(|at| entry(at / k, at % k)).collect();
        let mut asked = 0;
        let mut factor = matrix.clone();
        let ended: ControlFlow<(), _> = factorise(&mut factor, k, &mut || {
            asked += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(ended, ControlFlow::Continue(Some(())));
        assert!(asked >= 2, "{asked}");
        for a in 0..k {
            for b in 0..=a {
                let expected = if a == b { 2.0 } else { 1.0 };
                assert!((factor[a * k + b] - expected).abs() < 1e-9, "{a}, {b}");
            }
        }
        let mut left = asked;
        let ended = factorise(&mut matrix.clone(), k, &mut || {
            left -= 1;
            if left == 0 { ControlFlow::Break("enough") } else { ControlFlow::Continue(()) }
        });
        assert_eq!(ended, ControlFlow::Break("enough"));
    }
}

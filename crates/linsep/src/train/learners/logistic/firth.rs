//! Logistic regression with Firth's penalty, which takes the first term off the bias of maximum likelihood and has a finite
//! best point also where the classes do not overlap (Firth 1993, Heinze and Schemper 2002).
//!
//! maximise Σ uᵢ ln pᵢ(yᵢ) + ½ ln det I(β), where I(β) = Σ wᵢ x̃ᵢx̃ᵢᵀ is the information, wᵢ = uᵢ pᵢ(1−pᵢ) and x̃ has the
//! intercept as one more coordinate. Its slope is Σ (uᵢ(yᵢ−pᵢ) + hᵢ(½−pᵢ)) x̃ᵢ with hᵢ = wᵢ x̃ᵢᵀ I⁻¹ x̃ᵢ. Steps are those of
//! Fisher's scoring, halved until the objective rises. The penalty does not depend on the units of the features.

use super::problem::{logistic, loss};
use super::proof::{factorise, solve_factorised};
use super::{Limits, Rows, Solution};
use crate::numbers::grouped;
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::run::Status;
use crate::train::settings::Settings;
use crate::{Error, SettingsError, linalg};
use std::ops::ControlFlow;

/// Rows × coordinates² that are not exceeded: each step takes as many operations.
const MOST_WORK: f64 = 2e10;
/// Multiplications between two looks at what may end a run.
const PAUSE: usize = 1 << 24;
/// The longest step of a coefficient, in its own scale: far out the objective is flat.
const LONGEST: f64 = 5.0;
/// The most halvings of a step.
const HALVINGS: u32 = 30;
/// A column is taken for a combination of those before it if no more than this share of its length is left.
const DEPENDENT: f64 = 1e-7;

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
        let longest =
            step.iter().zip(&design.scale).fold(0.0f64, |most, (s, scale)| most.max((s * scale).abs()));
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
    for (&place, &b) in design.kept.iter().zip(&beta) {
        match place.checked_sub(usize::from(input != 0.0)) {
            Some(feature) => theta.weights[feature] = b,
            None => theta.bias = b / input,
        }
    }
    let set_aside = (columns + usize::from(input != 0.0) - k) as u64;
    let detail = Detail::Firth { objective: here.objective, set_aside };
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
    let problem =
        "the rows do not determine the weights: the information of the first step has no inverse in floats";
    SettingsError::new("penalty", problem).into()
}

/// The rows that count, with the columns that are not combinations of those before them; the intercept is the first.
struct Design {
    /// Row after row.
    values: Vec<f64>,
    labels: Vec<u32>,
    weights: Vec<f64>,
    /// The columns: 0 for the intercept where there is one, then the features.
    kept: Vec<usize>,
    /// The root of the mean square of each.
    scale: Vec<f64>,
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
        if work > MOST_WORK {
            let problem = format!(
                "⟦penalty=firth⟧ is for small data: a step on {} rows with {} coordinates takes rows × coordinates² operations, \
                 and at most {MOST_WORK:.0e} are made; ⟦penalty=l2⟧ is for large data",
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
        let ControlFlow::Continue(kept) = independent(&columns, &mut || interrupted(limits)) else {
            return Err(Error::Interrupted);
        };
        let k = kept.len();
        let mut values = vec![0.0; counted.len() * k];
        let mut scale = Vec::with_capacity(k);
        for (place, &column) in kept.iter().enumerate() {
            let own = &columns[column];
            own.iter().enumerate().for_each(|(i, value)| values[i * k + place] = *value);
            scale.push((linalg::norm_squared(own) / counted.len().max(1) as f64).sqrt());
        }
        Ok(Self {
            values,
            labels: counted.iter().map(|&i| rows.labels[i]).collect(),
            weights: counted.iter().map(|&i| rows.weights.map_or(1.0, |weights| weights[i])).collect(),
            kept,
            scale,
        })
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
        if factorise(&mut factor, k, f64::EPSILON).is_none() {
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

/// The columns that are not combinations of those before them, as far as floats tell: by Gram and Schmidt, twice, so that
/// rounding leaves nothing of what is spanned. `pause` is called for each column, and may end it.
fn independent<B>(
    columns: &[Vec<f64>],
    pause: &mut impl FnMut() -> ControlFlow<B>,
) -> ControlFlow<B, Vec<usize>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut kept = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        pause()?;
        let length = linalg::norm_squared(column).sqrt();
        let mut left = column.clone();
        for _ in 0..2 {
            for own in &basis {
                let share = linalg::dot_dense(own, &left);
                linalg::add_dense(-share, own, &mut left);
            }
        }
        let rest = linalg::norm_squared(&left).sqrt();
        if rest > DEPENDENT * length && basis.len() < column.len() {
            left.iter_mut().for_each(|x| *x /= rest);
            basis.push(left);
            kept.push(place);
        }
    }
    ControlFlow::Continue(kept)
}

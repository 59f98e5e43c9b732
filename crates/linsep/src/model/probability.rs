//! Probabilities from scores.
//!
//! The score of logistic regression is the logarithm of the odds, so its probabilities are *natural*: p = σ(f) with
//! σ(t) = 1/(1 + e^−t), or e^f_k / Σ e^f_l for many classes. The scores of other learners say only which rows are surer
//! than others. What they are worth is measured on rows that the scoring model has not learned from (out-of-fold
//! scores), and kept in the model as a *calibration*, an increasing map from scores to probabilities:
//!
//! - **Sigmoid** (Platt): p = σ(a f + b), with a ≥ 0 and b that minimise the log loss against the targets
//!   (n₊ + 1)/(n₊ + 2) for the n₊ positive rows and 1/(n₋ + 2) for the n₋ negative ones. The targets keep a and b finite
//!   where the scores separate the classes.
//! - **Isotonic**: the increasing function nearest to the outcomes, by pooling adjacent violators
//!   ([`isotonic`](super::isotonic)); for many rows, where it need not have the shape of a sigmoid.
//! - **Temperature**, for many classes: p_k = e^{βf_k} / Σ e^{βf_l}, with β ≥ 0 that minimises the log loss against targets
//!   smoothed in the same way.
//!
//! A calibration changes no label: a row is positive where its score is at least 0, unless the model has a
//! [`Threshold`](super::Threshold). The two can disagree where p is near ½, because the map need not be ½ at 0.
//!
//! Every probability is within [2⁻⁵³, 1 − 2⁻⁵³]: none is exactly 0 or 1, so every log loss is finite.

use super::isotonic::isotonic;
use crate::store::{Arrays, StoreError, Tensors};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(test)]
mod tests;

/// How scores become probabilities.
#[derive(Clone, Debug, PartialEq)]
pub enum Calibration {
    /// The scores are logarithms of odds: σ(f), or the softmax of the scores.
    Natural,
    /// σ(slope · f + intercept), for two sides.
    Sigmoid {
        /// At least 0.
        slope: f64,
        /// The logarithm of the odds at score 0.
        intercept: f64,
    },
    /// Interpolated between points, and constant outside, for two sides.
    Isotonic {
        /// The scores of the points, increasing.
        scores: Vec<f64>,
        /// Their probabilities, which do not fall.
        probabilities: Vec<f64>,
    },
    /// The softmax of the scores times a factor, for many classes.
    Temperature {
        /// β, at least 0: one over the temperature.
        inverse: f64,
    },
}

/// The least probability, and the least distance from 1.
pub(super) const MIN: f64 = f64::EPSILON / 2.0;

/// Rows from which on a calibration of two sides may be isotonic.
pub const ISOTONIC_ROWS: usize = 1000;

/// Rows that each side must have for that.
pub const ISOTONIC_ROWS_OF_SIDE: usize = 100;

/// A probability that is neither 0 nor 1.
fn clamped(p: f64) -> f64 {
    p.clamp(MIN, 1.0 - MIN)
}

/// 1/(1 + e^−t), without overflow.
pub(super) fn sigmoid(t: f64) -> f64 {
    let e = libm::exp(-t.abs());
    if t >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// ln(1 + e^t), without overflow.
fn softplus(t: f64) -> f64 {
    t.max(0.0) + libm::log1p(libm::exp(-t.abs()))
}

/// Turns scores into shares e^{βf_k} / Σ e^{βf_l}. A score of −∞ has the share 0.
fn softmax(scores: &mut [f64], inverse: f64) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Differences first: β times a large score may overflow where β times a difference does not matter.
    scores.iter_mut().for_each(|score| {
        let below = *score - most;
        *score = if below == f64::NEG_INFINITY { 0.0 } else { libm::exp(inverse * below) };
    });
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|share| *share /= sum);
}

impl Calibration {
    /// Its name: `natural`, `sigmoid`, `isotonic` or `temperature`.
    pub fn name(&self) -> &'static str {
        match self {
            Calibration::Natural => "natural",
            Calibration::Sigmoid { .. } => "sigmoid",
            Calibration::Isotonic { .. } => "isotonic",
            Calibration::Temperature { .. } => "temperature",
        }
    }

    /// The probability of the positive side for a score that is a number.
    pub fn probability(&self, score: f64) -> f64 {
        clamped(match self {
            Calibration::Natural | Calibration::Temperature { .. } => sigmoid(score),
            Calibration::Sigmoid { slope, intercept } => sigmoid(linear(*slope, score, *intercept)),
            Calibration::Isotonic { scores, probabilities } => interpolated(scores, probabilities, score),
        })
    }

    /// Replaces the scores of all classes by their probabilities. They add up to 1, but for rounding.
    pub fn probabilities_of(&self, scores: &mut [f64]) {
        let inverse = match self {
            Calibration::Temperature { inverse } => *inverse,
            _ => 1.0,
        };
        softmax(scores, inverse);
        scores.iter_mut().for_each(|p| *p = clamped(*p));
    }

    /// The calibration of two sides by scores of rows that the scoring model has not learned from, and the signs of those
    /// rows. Isotonic if there are [many rows](ISOTONIC_ROWS) with enough of [each side](ISOTONIC_ROWS_OF_SIDE), else a
    /// sigmoid. `None` if a side has no rows or a score is not finite.
    pub fn fit_pair(scores: &[f64], signs: &[i8]) -> Option<Self> {
        let positives = signs.iter().filter(|&&sign| sign > 0).count();
        let fewer = positives.min(signs.len() - positives);
        if scores.len() >= ISOTONIC_ROWS && fewer >= ISOTONIC_ROWS_OF_SIDE {
            Self::fit_isotonic(scores, signs)
        } else {
            Self::fit_sigmoid(scores, signs)
        }
    }

    /// Platt's sigmoid.
    pub fn fit_sigmoid(scores: &[f64], signs: &[i8]) -> Option<Self> {
        usable(scores, signs)?;
        // The optimum does not depend on units, but the arithmetic does: so the scores are centred and scaled first.
        let n = scores.len() as f64;
        let largest = scores.iter().map(|score| score.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let mean = scores.iter().map(|score| score / largest).sum::<f64>() / n;
        let spread = (scores.iter().map(|score| (score / largest - mean).powi(2)).sum::<f64>() / n).sqrt();
        if spread <= 1e-14 {
            return Some(Calibration::Sigmoid { slope: 0.0, intercept: constant(signs) });
        }
        let centred: Vec<f64> = scores.iter().map(|score| (score / largest - mean) / spread).collect();
        let (slope, intercept) = platt(&centred, signs);
        let (slope, intercept) = (slope / spread, intercept - slope * mean / spread);
        let found = (slope / largest, intercept);
        if slope > 0.0 && found.0.is_finite() && found.1.is_finite() {
            return Some(Calibration::Sigmoid { slope: found.0, intercept: found.1 });
        }
        // Higher scores do not mean more positive rows, so they tell nothing.
        Some(Calibration::Sigmoid { slope: 0.0, intercept: constant(signs) })
    }

    /// The increasing function nearest to the outcomes, interpolated between its steps.
    pub fn fit_isotonic(scores: &[f64], signs: &[i8]) -> Option<Self> {
        usable(scores, signs)?;
        let (scores, probabilities) = isotonic(scores, signs);
        Some(Calibration::Isotonic { scores, probabilities })
    }

    /// The calibration of `classes` classes: `scores` has those of all classes, row by row, and `truth` the class of each
    /// row. A score of −∞ says that the scoring model did not know the class. `None` if there are no rows, if a score is
    /// neither finite nor −∞, or if that of a row's own class is not finite.
    pub fn fit_many(scores: &[f64], classes: usize, truth: &[usize]) -> Option<Self> {
        Self::fit_many_until(scores, classes, truth, &AtomicBool::new(false))
    }

    /// The same, until another thread says that it shall stop: then `None`. A hundred million scores take minutes.
    pub(crate) fn fit_many_until(
        scores: &[f64],
        classes: usize,
        truth: &[usize],
        stop: &AtomicBool,
    ) -> Option<Self> {
        let sound = |(row, &class): (&[f64], &usize)| {
            class < classes
                && row[class].is_finite()
                && row.iter().all(|&f| f.is_finite() || f == f64::NEG_INFINITY)
        };
        let fits = classes >= 2 && !truth.is_empty() && scores.len() == classes * truth.len();
        if !fits || !scores.chunks(classes).zip(truth).all(sound) {
            return None;
        }
        let inverse = Temperature::new(scores, classes, truth).best(stop)?;
        Some(Calibration::Temperature { inverse })
    }
}

/// slope · score + intercept, where the product may overflow.
fn linear(slope: f64, score: f64, intercept: f64) -> f64 {
    if slope == 0.0 { intercept } else { (slope * score).clamp(-1e300, 1e300) + intercept }
}

/// Whether there are rows of both sides with finite scores.
fn usable(scores: &[f64], signs: &[i8]) -> Option<()> {
    let both = signs.iter().any(|&sign| sign > 0) && signs.iter().any(|&sign| sign <= 0);
    (both && scores.len() == signs.len() && scores.iter().all(|score| score.is_finite())).then_some(())
}

/// Platt's targets: for positive rows, and for negative ones.
pub(super) fn targets(signs: &[i8]) -> (f64, f64) {
    let positives = signs.iter().filter(|&&sign| sign > 0).count() as f64;
    let negatives = signs.len() as f64 - positives;
    ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0))
}

/// The intercept of the best sigmoid that is constant.
fn constant(signs: &[i8]) -> f64 {
    let (high, low) = targets(signs);
    let mean = signs.iter().map(|&sign| if sign > 0 { high } else { low }).sum::<f64>() / signs.len() as f64;
    libm::log(mean / (1.0 - mean))
}

/// The slope a and the intercept b that minimise Σ ln(1 + e^t) − target · t with t = a f + b, by Newton's method with
/// steps that are halved until the sum falls enough. The sum is convex, and the targets keep its least point finite.
fn platt(scores: &[f64], signs: &[i8]) -> (f64, f64) {
    const MAX_STEPS: usize = 100;
    let (high, low) = targets(signs);
    let rows = || {
        let targets = signs.iter().map(|&sign| if sign > 0 { high } else { low });
        scores.iter().copied().zip(targets)
    };
    let loss = |a: f64, b: f64| {
        rows().map(|(score, target)| softplus(a * score + b) - target * (a * score + b)).sum::<f64>()
    };
    let (mut a, mut b) = (0.0, constant(signs));
    let mut value = loss(a, b);
    for _ in 0..MAX_STEPS {
        // The gradient, and the matrix of second derivatives.
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (score, target) in rows() {
            let p = sigmoid(a * score + b);
            let (g, h) = (p - target, p * (1.0 - p));
            ga += g * score;
            gb += g;
            haa += h * score * score;
            hab += h * score;
            hbb += h;
        }
        if ga.abs().max(gb.abs()) <= 1e-13 * scores.len() as f64 {
            break;
        }
        // A little on the diagonal, where hardly any row is undecided.
        let ridge = 1e-12 * (haa + hbb) + f64::MIN_POSITIVE;
        let (haa, hbb) = (haa + ridge, hbb + ridge);
        let determinant = haa * hbb - hab * hab;
        let (da, db) = ((hab * gb - hbb * ga) / determinant, (hab * ga - haa * gb) / determinant);
        let slope = ga * da + gb * db;
        let mut step = 1.0;
        let next = loop {
            let next = loss(a + step * da, b + step * db);
            if next <= value + 1e-4 * step * slope {
                break Some(next);
            }
            step /= 2.0;
            if step < 1e-10 {
                break None;
            }
        };
        // Where no step makes the sum smaller, rounding is all that is left.
        let Some(next) = next else { break };
        (a, b, value) = (a + step * da, b + step * db, next);
    }
    (a, b)
}

/// The log loss of a temperature, as a function of β.
struct Temperature<'a> {
    scores: &'a [f64],
    classes: usize,
    truth: &'a [usize],
    /// The target of a wrong class in the rows of each class.
    wrong: Vec<f64>,
    /// The size of the scores, which β is counted in.
    size: f64,
}

impl<'a> Temperature<'a> {
    fn new(scores: &'a [f64], classes: usize, truth: &'a [usize]) -> Self {
        let mut counts = vec![0u64; classes];
        truth.iter().for_each(|&class| counts[class] += 1);
        let wrong = counts.iter().map(|&count| 1.0 / (count as f64 + classes as f64)).collect();
        let widest = |row: &[f64]| {
            let known = || row.iter().copied().filter(|f| f.is_finite());
            known().fold(f64::NEG_INFINITY, f64::max) / 2.0 - known().fold(f64::INFINITY, f64::min) / 2.0
        };
        let size = scores.chunks(classes).map(widest).fold(0.0, f64::max);
        Self { scores, classes, truth, wrong, size }
    }

    /// The derivatives of the loss: Σ (E f − target) and Σ Var f, where E and Var are over the probabilities of a row, in
    /// units of the size. `None` after a stop.
    fn derivatives(&self, beta: f64, stop: &AtomicBool) -> Option<(f64, f64)> {
        let (mut first, mut second) = (0.0, 0.0);
        let mut shares = vec![0.0; self.classes];
        for (row, &class) in self.scores.chunks(self.classes).zip(self.truth) {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            // Scores relative to that of the row's own class: a common part of all of them does not matter.
            let relative = |f: f64| (f - row[class]) / self.size;
            shares.iter_mut().zip(row).for_each(|(share, &f)| *share = relative(f));
            softmax(&mut shares, beta);
            let known = || row.iter().zip(&shares).filter(|(f, _)| f.is_finite());
            let mean: f64 = known().map(|(&f, share)| share * relative(f)).sum();
            let target: f64 = known().map(|(&f, _)| self.wrong[class] * relative(f)).sum();
            first += mean - target;
            second += known().map(|(&f, share)| share * (relative(f) - mean).powi(2)).sum::<f64>();
        }
        Some((first, second))
    }

    /// The best β ≥ 0: the first derivative rises with β, so its zero is enclosed and looked for by Newton's method. `None`
    /// after a stop.
    fn best(&self, stop: &AtomicBool) -> Option<f64> {
        const LARGEST: f64 = 1e9;
        if self.size < f64::MIN_POSITIVE || self.derivatives(0.0, stop)?.0 >= 0.0 {
            return Some(0.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.derivatives(high, stop)?.0 < 0.0 && high < LARGEST {
            (low, high) = (high, 4.0 * high);
        }
        let mut beta = (low + high) / 2.0;
        for _ in 0..100 {
            let (first, second) = self.derivatives(beta, stop)?;
            if first < 0.0 {
                low = beta;
            } else {
                high = beta;
            }
            let newton = beta - first / second;
            let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
            if (next - beta).abs() <= 1e-13 * beta {
                break;
            }
            beta = next;
        }
        let inverse = beta / self.size;
        Some(if inverse.is_finite() { inverse } else { 0.0 })
    }
}

/// The value at `x` of the function that is linear between points and constant outside.
fn interpolated(scores: &[f64], probabilities: &[f64], x: f64) -> f64 {
    let place = scores.partition_point(|&score| score <= x);
    if place == 0 || place == scores.len() {
        let end = if place == 0 { probabilities.first() } else { probabilities.last() };
        return end.copied().unwrap_or(0.5);
    }
    let (left, right) = (scores[place - 1], scores[place]);
    let (low, high) = (probabilities[place - 1], probabilities[place]);
    // Halves, because the distance of two large scores may overflow.
    let share = (x / 2.0 - left / 2.0) / (right / 2.0 - left / 2.0);
    (low + share * (high - low)).clamp(low, high)
}

/// The calibration in a model file, beside the arrays of an isotonic one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Saved {
    Sigmoid { slope: f64, intercept: f64 },
    Isotonic,
    Temperature { inverse: f64 },
}

const SCORES: &str = "calibration.scores";
const PROBABILITIES: &str = "calibration.probabilities";

impl Calibration {
    /// Puts it into a file. Natural probabilities need nothing.
    pub(super) fn put<'a>(&'a self, tensors: &mut Tensors<'a>) -> Option<Saved> {
        Some(match self {
            Calibration::Natural => return None,
            Calibration::Sigmoid { slope, intercept } => {
                Saved::Sigmoid { slope: *slope, intercept: *intercept }
            }
            Calibration::Isotonic { scores, probabilities } => {
                tensors.put_f64(SCORES, scores.iter().copied());
                tensors.put_f64(PROBABILITIES, probabilities.iter().copied());
                Saved::Isotonic
            }
            Calibration::Temperature { inverse } => Saved::Temperature { inverse: *inverse },
        })
    }

    /// Opens it, for two sides or for many classes.
    pub(super) fn get(opened: &Arrays<'_>, saved: &Saved, two_sides: bool) -> Result<Self, StoreError> {
        let found = match saved {
            Saved::Sigmoid { slope, intercept } => {
                Calibration::Sigmoid { slope: *slope, intercept: *intercept }
            }
            Saved::Isotonic => Calibration::Isotonic {
                scores: opened.f64s(SCORES)?,
                probabilities: opened.f64s(PROBABILITIES)?,
            },
            Saved::Temperature { inverse } => Calibration::Temperature { inverse: *inverse },
        };
        if found.is_sound(two_sides) {
            return Ok(found);
        }
        Err(StoreError::Damaged("its calibration does not make probabilities".to_string()))
    }

    fn is_sound(&self, two_sides: bool) -> bool {
        match self {
            Calibration::Natural => true,
            Calibration::Sigmoid { slope, intercept } => {
                two_sides && *slope >= 0.0 && slope.is_finite() && intercept.is_finite()
            }
            Calibration::Isotonic { scores, probabilities } => {
                let inside = |&p: &f64| p > 0.0 && p < 1.0;
                two_sides
                    && !scores.is_empty()
                    && scores.len() == probabilities.len()
                    && scores.iter().all(|score| score.is_finite())
                    && scores.is_sorted_by(|a, b| a < b)
                    && probabilities.iter().all(inside)
                    && probabilities.is_sorted()
            }
            Calibration::Temperature { inverse } => !two_sides && *inverse >= 0.0 && inverse.is_finite(),
        }
    }
}

//! The soft-margin support vector machine, by dual coordinate descent.
//!
//! The problem, with θ = [w; b], agreements aᵢ = yᵢ⟨θ, x̃ᵢ⟩ and Cᵢ = C·wᵢ (wᵢ the weight of example i):
//!
//! minimise P(θ) = ½‖θ‖² + Σ Cᵢ ℓ(aᵢ), where ℓ(a) = max(0, 1 − a) or its square.
//!
//! The bias is the weight of an appended coordinate and is part of ‖θ‖. The dual problem has one multiplier
//! αᵢ ≥ 0 for each row, and θ = Σ αᵢ zᵢ with zᵢ = yᵢx̃ᵢ:
//!
//! maximise D(α) = Σ αᵢ − ½‖Σ αᵢ zᵢ‖², with αᵢ ≤ Cᵢ (hinge) or less Σ αᵢ²/4Cᵢ (squared hinge).
//!
//! D(α) ≤ P(θ) for *every* α and θ, with equality at the solution: the gap between them is the proof of how good
//! a result is. A step (Hsieh, Chang, Lin, Keerthi and Sundararajan, *A Dual Coordinate Descent Method for
//! Large-scale Linear SVM*, 2008) maximises D in one αᵢ, which takes one dot product and one addition of a row.
//!
//! The multipliers also bound the margin, whether or not they are optimal: γ* ≤ ‖Σ αᵢ zᵢ‖ / Σ αᵢ.

mod options;
#[cfg(test)]
mod tests;

pub(crate) use options::DESCRIPTOR;
pub use options::SvmOptions;

use crate::linalg;
use crate::observe::{Observer, Progress};
use crate::random::{Random, Stream};
use crate::theory::margin::quotient_up;
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::order::{Blocks, Window, WindowRows};
use crate::train::engine::run::{Status, Task};
use crate::train::settings::{Order, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::Instant;

/// The loss of a row that is right by less than 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SvmLoss {
    /// max(0, 1 − a)
    #[default]
    Hinge,
    /// max(0, 1 − a)²
    SquaredHinge,
}

impl SvmLoss {
    /// ℓ(a)
    #[inline(always)]
    fn at(self, agreement: f64) -> f64 {
        let short = (1.0 - agreement).max(0.0);
        match self {
            SvmLoss::Hinge => short,
            SvmLoss::SquaredHinge => short * short,
        }
    }

    /// The largest value that a multiplier may have.
    #[inline(always)]
    fn most(self, loss_weight: f64) -> f64 {
        match self {
            SvmLoss::Hinge => loss_weight,
            SvmLoss::SquaredHinge => f64::INFINITY,
        }
    }

    /// What the loss adds to the curvature of −D: the second derivative of α²/4C, or nothing.
    #[inline(always)]
    fn curvature(self, loss_weight: f64) -> f64 {
        match self {
            SvmLoss::Hinge => 0.0,
            SvmLoss::SquaredHinge => 0.5 / loss_weight,
        }
    }

    /// The part of P − D that is due to one row: C·ℓ(a) + αa − α, and α²/4C for the square. It is never negative,
    /// and the parts add up to P(θ) − D(α) if θ = Σ αᵢ zᵢ.
    #[inline(always)]
    fn gap(self, multiplier: &Multiplier, agreement: f64) -> f64 {
        let &Multiplier { alpha, loss_weight, .. } = multiplier;
        let short = 1.0 - agreement;
        match self {
            SvmLoss::Hinge if short > 0.0 => (loss_weight - alpha) * short,
            SvmLoss::Hinge => -alpha * short,
            SvmLoss::SquaredHinge if short > 0.0 => (loss_weight * short - 0.5 * alpha).powi(2) / loss_weight,
            SvmLoss::SquaredHinge => alpha * (0.25 * alpha / loss_weight - short),
        }
    }
}

/// The multiplier αᵢ of a row and what a step on it needs, side by side: a shuffled visit touches them together.
#[derive(Clone, Copy, Debug)]
struct Multiplier {
    /// αᵢ
    alpha: f64,
    /// Cᵢ
    loss_weight: f64,
    /// The curvature of −D along αᵢ: ‖x̃ᵢ‖², and what the loss adds.
    curvature: f64,
    /// yᵢ
    sign: f64,
}

/// The largest and the smallest slope of −D that a pass saw, of those along which αᵢ may move. At the maximum of D
/// both are 0.
#[derive(Clone, Copy, Debug)]
struct Slopes {
    low: f64,
    high: f64,
}

/// Coordinate descent as it stands.
struct CoordinateDescent<'a> {
    task: &'a Task<'a>,
    settings: &'a Settings,
    options: &'a SvmOptions,
    clock: Instant,
    multipliers: Vec<Multiplier>,
    /// Σ αᵢ zᵢ, up to the rounding of the steps.
    theta: Theta,
    /// Which rows are visited. Left out is a row whose multiplier stands at an end of its range and is pushed
    /// against it so hard that it will hardly move again.
    active: Vec<bool>,
    /// The rows that were active when they were last looked through; none has become active since.
    listed: Vec<u32>,
    /// How hard that is: half as hard as any row was pushed in the pass before that can move.
    bounds: Slopes,
    /// D(α), up to the rounding of the steps.
    dual: f64,
    /// The gaps of the rows visited in the last pass, each as it was before its step.
    seen_gap: f64,
    /// Passes begun.
    passes: u64,
    /// Steps that changed a multiplier.
    updates: u64,
    /// Values touched since the observer was heard.
    touched: usize,
}

/// Proved bounds on the result when a run ends or may end.
#[derive(Clone, Copy, Debug)]
struct Proof {
    /// P(θ), of θ = Σ αᵢ zᵢ summed afresh.
    primal: f64,
    /// D(α), rounded down: no θ has a smaller P.
    dual: f64,
    /// (P − D) / P
    gap: f64,
    /// ‖Σ αᵢ zᵢ‖ / Σ αᵢ, rounded up.
    margin_upper: Option<f64>,
    /// How many αᵢ are not 0.
    support: u64,
}

/// Values touched before the observer is heard.
const VALUES_BETWEEN_PAUSES: usize = 1_000_000;

/// Rows that one thread takes at a time when all rows are judged. Sums are made in this order whatever the number
/// of threads.
const CHUNK: usize = 4096;

/// Unit roundoff, with room for the few operations that use it.
const U: f64 = f64::EPSILON * 0.51;

/// Learns θ and proves how good it is.
///
/// The weights are finite, not negative, and one for each row.
pub(crate) fn learn(
    task: &Task<'_>,
    weights: Option<&[f64]>,
    settings: &Settings,
    options: &SvmOptions,
    observer: &mut dyn Observer,
) -> Fit {
    let mut descent = CoordinateDescent::new(task, weights, settings, options);
    let (status, proof) = descent.run(observer);
    let Proof { primal, dual, gap, margin_upper, support } = proof;
    Fit {
        learned: Learned::Linear(descent.theta),
        status,
        epochs: descent.passes,
        updates: descent.updates,
        candidates: vec![],
        margin_upper,
        space: None,
        detail: Some(Detail::Svm { primal, dual, gap, support }),
    }
}

impl<'a> CoordinateDescent<'a> {
    /// At α = 0.
    fn new(
        task: &'a Task<'a>,
        weights: Option<&[f64]>,
        settings: &'a Settings,
        options: &'a SvmOptions,
    ) -> Self {
        let theta = Theta::zero(task.data.columns(), settings.bias.input());
        let multiplier = |i: usize| {
            // Weights too small to divide by become 0, and no sum of weights overflows.
            let loss_weight = (options.c * weights.map_or(1.0, |weights| weights[i])).min(1e200);
            let loss_weight = if loss_weight > 1e-300 { loss_weight } else { 0.0 };
            let curvature =
                theta.extended_norm_squared(task.data.row(i)) + options.loss.curvature(loss_weight);
            // Along a zero row, D has no curvature: as good as none sends its multiplier to the end at once.
            let curvature = curvature.max(f64::MIN_POSITIVE);
            Multiplier { alpha: 0.0, loss_weight, curvature, sign: f64::from(task.signs[i]) }
        };
        let rows = (0..task.data.len()).into_par_iter().with_min_len(CHUNK);
        let multipliers: Vec<Multiplier> = rows.map(multiplier).collect();
        Self {
            task,
            settings,
            options,
            clock: Instant::now(),
            active: multipliers.iter().map(|multiplier| multiplier.loss_weight > 0.0).collect(),
            listed: (0..multipliers.len() as u32).collect(),
            multipliers,
            theta,
            bounds: Slopes { low: f64::NEG_INFINITY, high: f64::INFINITY },
            dual: 0.0,
            seen_gap: 0.0,
            passes: 0,
            updates: 0,
            touched: 0,
        }
    }

    /// Goes on until a reason to stop.
    ///
    /// To know the gap takes a pass over all rows. The visits tell what it may be, for nothing: each sees the part
    /// of its row, though before its step. The pass is made when those parts sum up to no more than the gap that is
    /// wanted, and, if that is missed after all, again when they have become smaller by some. It is also made when
    /// it takes little beside the visits since the last one, because it finds the rows that were left out wrongly:
    /// until they are back, a problem is being solved that is not the one.
    fn run(&mut self, observer: &mut dyn Observer) -> (Status, Proof) {
        const VISITS_BETWEEN_PROOFS: usize = 10;
        let wanted = self.options.gap;
        let (mut worth, mut visits) = (wanted, 0);
        loop {
            match self.pass(observer) {
                ControlFlow::Continue(rows) => visits += rows,
                ControlFlow::Break(status) => return (status, self.prove()),
            }
            let last = self.passes >= self.settings.epochs;
            let seen = self.seen_gap / (self.dual + self.seen_gap).max(f64::MIN_POSITIVE);
            if last || seen <= worth || visits >= VISITS_BETWEEN_PROOFS * self.active.len() {
                visits = 0;
                match self.prove() {
                    proof if proof.gap <= wanted => return (Status::Converged, proof),
                    proof if last => return (Status::EpochLimit, proof),
                    _ if seen <= worth => worth *= 0.7,
                    _ => {}
                }
            }
        }
    }

    /// One pass over the active rows: αᵢ ← the maximum of D along αᵢ, and θ with it. Gives the number of rows.
    fn pass(&mut self, observer: &mut dyn Observer) -> ControlFlow<Status, usize> {
        let (data, loss, bounds) = (self.task.data, self.options.loss, self.bounds);
        let order = self.order();
        self.passes += 1;
        self.seen_gap = 0.0;
        let mut slopes = Slopes { low: 0.0, high: 0.0 };
        for position in 0..order.end() {
            if let Some(next) = order.ahead(position) {
                linalg::prefetch(&self.multipliers[next..=next]);
                data.row(next).prefetch();
            }
            let i = order.at(position);
            let row = data.row(i);
            let Multiplier { alpha, loss_weight, curvature, sign } = self.multipliers[i];
            let most = loss.most(loss_weight);
            let agreement = sign * self.theta.score(row);
            let slope = agreement - 1.0 + alpha * loss.curvature(loss_weight);
            if (alpha == 0.0 && slope > bounds.high) || (alpha == most && slope < bounds.low) {
                self.active[i] = false;
            } else {
                self.seen_gap += loss.gap(&self.multipliers[i], agreement);
                slopes.high = slopes.high.max(if alpha > 0.0 { slope } else { 0.0 });
                slopes.low = slopes.low.min(if alpha < most { slope } else { 0.0 });
                let new = (alpha - slope / curvature).clamp(0.0, most);
                let step = new - alpha;
                if step != 0.0 {
                    self.multipliers[i].alpha = new;
                    self.theta.add(step * sign, row);
                    self.dual -= step * (slope + 0.5 * curvature * step);
                    self.updates += 1;
                    if self.settings.max_updates.is_some_and(|most| self.updates >= most) {
                        return ControlFlow::Break(Status::UpdateLimit);
                    }
                }
            }
            self.touched += row.stored() + 8;
            self.pause(position + 1, order.end(), observer)?;
        }
        self.pause(order.end(), order.end(), observer)?;
        // A side on which no row was pushed bounds nothing.
        self.bounds = Slopes {
            low: if slopes.low < 0.0 { 0.5 * slopes.low } else { f64::NEG_INFINITY },
            high: if slopes.high > 0.0 { 0.5 * slopes.high } else { f64::INFINITY },
        };
        ControlFlow::Continue(order.end())
    }

    /// The active rows in the order of the next pass.
    fn order(&mut self) -> Window {
        let (blocks, seed, active) = (Blocks::of(self.task.data), self.settings.seed, &self.active);
        self.listed.retain(|&i| active[i as usize]);
        let rows = match self.settings.order {
            Order::Given => WindowRows::Listed(self.listed.clone()),
            Order::ShuffleOnce => {
                let all = (0..active.len() as u32).collect();
                blocks.mixed(all, Random::of(seed, Stream::Pass(0))).only(|&i| active[i as usize])
            }
            Order::Shuffle => blocks.mixed(self.listed.clone(), Random::of(seed, Stream::Pass(self.passes))),
        };
        Window { start: 0, rows }
    }

    /// Lets the observer and the clock stop the run, if it is time to hear them.
    #[inline]
    fn pause(
        &mut self,
        position: usize,
        examples: usize,
        observer: &mut dyn Observer,
    ) -> ControlFlow<Status> {
        if self.touched < VALUES_BETWEEN_PAUSES {
            return ControlFlow::Continue(());
        }
        self.touched = 0;
        let progress = Progress::Training {
            epoch: self.passes - 1,
            epochs: self.settings.epochs,
            position: position as u64,
            examples: examples as u64,
            updates: self.updates,
            margin_upper: None,
        };
        if observer.progress(&progress).is_break() {
            return ControlFlow::Break(Status::Interrupted);
        }
        if self.settings.max_seconds.is_some_and(|most| self.clock.elapsed().as_secs_f64() >= most) {
            return ControlFlow::Break(Status::TimeLimit);
        }
        ControlFlow::Continue(())
    }

    /// Judges θ and α on all rows, and makes those active again that were left out and are not as they should be.
    fn prove(&mut self) -> Proof {
        let drift = self.sum_afresh();
        let (data, loss, theta) = (self.task.data, self.options.loss, &self.theta);
        let chunks = self.multipliers.par_chunks(CHUNK).zip(self.active.par_chunks_mut(CHUNK)).enumerate();
        let tallies: Vec<Tally> = chunks
            .map(|(chunk, (multipliers, active))| {
                let mut tally = Tally::default();
                for (k, multiplier) in multipliers.iter().enumerate().filter(|(_, of)| of.loss_weight > 0.0) {
                    let agreement = multiplier.sign * theta.score(data.row(chunk * CHUNK + k));
                    tally.add(multiplier, agreement, loss);
                    active[k] |= loss.gap(multiplier, agreement) > 0.0;
                }
                tally
            })
            .collect();
        self.touched += data.len();
        self.listed = (0..self.active.len() as u32).collect();
        // A sum of sums has as many roundings as the longest way to it has additions.
        let rounding_error = (CHUNK.min(data.len()) + tallies.len() + 16) as f64 * U;
        let tally = tallies.iter().fold(Tally::default(), Tally::plus);
        let length = (self.theta.norm().high + drift) * (1.0 + 4.0 * U);
        let multipliers = tally.multipliers * (1.0 - rounding_error);
        let paid = 0.5 * length * length + tally.paid + data.len() as f64 * f64::MIN_POSITIVE;
        let dual = (multipliers - paid * (1.0 + rounding_error) - 4.0 * U * multipliers).max(0.0);
        let squared = linalg::norm_squared(&self.theta.weights) + self.theta.bias * self.theta.bias;
        let primal = (0.5 * squared + tally.losses).max(dual);
        if !primal.is_finite() {
            return self.give_up();
        }
        Proof {
            primal,
            dual,
            gap: if primal > 0.0 { (primal - dual) / primal } else { 0.0 },
            margin_upper: (multipliers > 0.0)
                .then(|| quotient_up(length, multipliers))
                .filter(|upper| upper.is_finite()),
            support: tally.support,
        }
    }

    /// θ = Σ αᵢ zᵢ, added up in the order of the rows, and a bound of how far that is from the exact sum.
    ///
    /// An addition of α·z is off by at most u‖θ‖ for the sum and uα‖z‖ for the product. The bound of ‖θ‖ grows by
    /// α‖z‖ with each, and is replaced by the norm itself now and then, when that takes little beside the additions.
    fn sum_afresh(&mut self) -> f64 {
        let radius = self.task.extent.radius_upper;
        let columns = self.task.data.columns() + 1;
        let (mut norm, mut drift, mut added) = (0.0, 0.0, 0);
        self.theta = Theta::zero(self.task.data.columns(), self.theta.bias_input);
        for (i, multiplier) in self.multipliers.iter().enumerate().filter(|(_, of)| of.alpha > 0.0) {
            let row = self.task.data.row(i);
            self.theta.add(multiplier.alpha * multiplier.sign, row);
            let longest = multiplier.alpha * radius;
            let terms = row.stored() + 1;
            norm = (norm + longest) * (1.0 + 4.0 * U);
            drift += U * (norm + longest) + terms as f64 * f64::MIN_POSITIVE;
            added += terms;
            if added >= 4 * columns {
                norm = self.theta.norm().high;
                added = 0;
            }
        }
        drift
    }

    /// The result when C and the lengths are so large that the objective overflows: θ = 0, whose objective is Σ Cᵢ.
    #[cold]
    fn give_up(&mut self) -> Proof {
        self.multipliers.iter_mut().for_each(|multiplier| multiplier.alpha = 0.0);
        self.dual = 0.0;
        self.prove()
    }
}

/// Sums over rows: what P and D are made of.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Σ Cᵢ ℓ(aᵢ)
    losses: f64,
    /// Σ αᵢ
    multipliers: f64,
    /// Σ αᵢ²/4Cᵢ for the squared hinge.
    paid: f64,
    /// How many αᵢ are not 0.
    support: u64,
}

impl Tally {
    fn add(&mut self, multiplier: &Multiplier, agreement: f64, loss: SvmLoss) {
        let &Multiplier { alpha, loss_weight, .. } = multiplier;
        self.losses += loss_weight * loss.at(agreement);
        self.multipliers += alpha;
        self.paid += 0.5 * alpha * (alpha * loss.curvature(loss_weight));
        self.support += u64::from(alpha > 0.0);
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            losses: self.losses + other.losses,
            multipliers: self.multipliers + other.multipliers,
            paid: self.paid + other.paid,
            support: self.support + other.support,
        }
    }
}

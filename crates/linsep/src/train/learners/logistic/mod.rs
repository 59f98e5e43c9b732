//! Logistic regression, to a proved gap.
//!
//! The problem, with scores f = ⟨w, x⟩ + b and weights cᵢ of the rows:
//!
//! minimise P(w, b) = Ω(w) + C Σ cᵢ ℓᵢ, where ℓᵢ is −ln of the probability that the scores give to the class of row i.
//!
//! With two classes that is ln(1 + e^−yf), with more there is a score for each class and the probabilities are
//! e^f_k / Σ e^f_l (multinomial, softmax). Ω is ½‖w‖² (L2), ‖w‖₁ (L1), ρ‖w‖₁ + (1−ρ)/2 ‖w‖² (elastic net) or nothing. The
//! intercept b costs nothing, so that the result does not depend on where zero is.
//!
//! `problem.rs` has the sums over rows. `dense_newton.rs` is the algorithm for two classes and few features, with the sums of `binary_loss.rs` and
//! the matrix of `matrix.rs`; `working_set.rs` is that for two classes and many features with a penalty that leaves weights out;
//! `dual.rs` is that for two classes and many features of which each row has few, with L2; `lbfgs.rs` is that for all else with
//! L2, `coordinate_descent.rs` for all else with penalties that leave weights out, `newton.rs` without a penalty. `proof.rs` has the bound from below that any
//! point gives: the result is within a known share of the best objective, whatever the algorithm did.
//!
//! Without a penalty there is a best point only where the classes overlap: elsewhere the objective goes on falling while
//! the weights go to infinity. So that is decided first, exactly.

mod binary_loss;
mod coordinate_descent;
mod dense_newton;
mod dual;
mod firth;
mod lbfgs;
mod matrix;
mod newton;
mod options;
mod path;
mod problem;
mod proof;
#[cfg(test)]
mod tests;
mod working_set;

pub(crate) use options::DESCRIPTOR;
pub use options::{LogisticOptions, LogisticPenalty};
pub(crate) use path::{CValues, logistic_path};
pub(crate) use problem::loss as log_loss;

use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::memory;
use crate::numbers::grouped;
use crate::observe::{GRACE, Observer, Progress};
use crate::separate::{self, Examples, SeparateSettings, Separation, Verdict};
use crate::theory::margin::Extent;
use crate::theta::Theta;
use crate::train::engine::evidence::Detail;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::{Status, Task, pause_after};
use crate::train::settings::{Bias, Settings};
use crate::{Error, SettingsError};
use coordinate_descent::CoordinateDescent;
use dense_newton::DenseNewton;
use dual::Dual;
use lbfgs::Lbfgs;
use newton::{Newton, Step};
use problem::{Pause, Point, Problem};
use proof::Proof;
use std::ops::ControlFlow;
use std::time::Instant;
use working_set::WorkingSet;

/// Rows of a task with their classes, for [`learn`].
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a Dataset,
    /// The class of each row, counted from 0.
    pub(crate) labels: &'a [u32],
    pub(crate) classes: usize,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) extent: Extent,
}

impl Rows<'_> {
    /// Whether a row counts at all.
    fn counts(&self, i: usize) -> bool {
        self.weights.is_none_or(|weights| weights[i] > 0.0)
    }
}

/// What was learned: the weights of the second class of two, or of each class of more.
pub(crate) struct Solution {
    pub(crate) thetas: Vec<Theta>,
    pub(crate) status: Status,
    pub(crate) steps: u64,
    pub(crate) margin_upper: Option<f64>,
    pub(crate) detail: Detail,
}

/// The fit of two sides.
fn fit(
    task: &Task<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    observer: &mut dyn Observer,
) -> Result<Fit, Error> {
    let labels: Vec<u32> = task.signs.iter().map(|&sign| u32::from(sign > 0)).collect();
    let rows = Rows {
        data: task.data,
        labels: &labels,
        classes: 2,
        weights: task.weights.as_deref(),
        extent: task.extent,
    };
    let mut found = learn(&rows, settings, options, observer)?;
    Ok(Fit {
        learned: Learned::Linear(found.thetas.swap_remove(0)),
        status: found.status,
        epochs: found.steps,
        updates: found.steps,
        candidates: Vec::new(),
        margin_upper: found.margin_upper,
        space: None,
        detail: Some(found.detail),
    })
}

/// Learns, and proves how good the result is.
pub(crate) fn learn(
    rows: &Rows<'_>,
    settings: &Settings,
    options: &LogisticOptions,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    let clock = Instant::now();
    if options.penalty == LogisticPenalty::Firth {
        if rows.classes > 2 {
            let problem = "⟦penalty=firth⟧ is for two classes: choose two with ⟦classes=A,B⟧, or one against the rest with \
                           ⟦positive=CLASS⟧";
            return Err(SettingsError::new("penalty", problem).into());
        }
        let mut limits = Limits::new(rows, settings, clock, observer);
        return firth::learn(rows, settings, options.gap, &mut limits);
    }
    refuse_hopeless(rows, options)?;
    if options.norm_weights().is_none()
        && let Some(refused) = without_optimum(rows, settings, observer)?
    {
        return Ok(refused);
    }
    let problem = problem_of(rows, settings, options);
    let mut limits = Limits::new(rows, settings, clock, observer);
    let found = solve(&problem, problem.zero(), options.gap, rows.extent.radius_upper, &mut limits)?;
    let mut solution = found.solution(&problem, settings);
    if problem.penalty.is_none() {
        // The classes overlap, or there would be no optimum to look for.
        solution.margin_upper = Some(0.0);
    }
    Ok(solution)
}

/// Refuses rows and classes whose scores cannot fit into the memory, and steps that would not come to an end.
fn refuse_hopeless(rows: &Rows<'_>, options: &LogisticOptions) -> Result<(), Error> {
    if rows.classes <= 2 {
        return Ok(());
    }
    let (count, classes) = (rows.data.len() as u64, rows.classes as u64);
    let all = || {
        let (rows, classes) = (grouped(count), grouped(classes));
        format!(
            "logistic regression of {rows} rows and {classes} classes, each row with a score for each class,"
        )
    };
    // Scores, probabilities, and both where a step is tried.
    const ARRAYS: u64 = 4;
    memory::check(count.saturating_mul(classes).saturating_mul(8 * ARRAYS), all)?;
    let values = rows.data.stored() as u64 / count + 1;
    if options.norm_weights().is_none() {
        // Each row against each other class.
        let cells = count.saturating_mul(classes).saturating_mul(2 * values);
        return memory::check(cells.saturating_mul(12), || format!("{} without a penalty", all()));
    }
    /// Probabilities that are computed in minutes.
    const MAX: u64 = 100_000_000_000;
    let work = count.saturating_mul(classes).saturating_mul(classes);
    if options.norm_weights().absolute > 0.0 && work > MAX {
        let problem = format!(
            "{} computes {} probabilities in every step with a sparse penalty, and at most {} are \
             supported: use ⟦penalty=l2⟧, or learn one class against the rest with ⟦positive=CLASS⟧",
            all(),
            grouped(work),
            grouped(MAX)
        );
        return Err(SettingsError::new("penalty", problem).into());
    }
    Ok(())
}

/// The problem that these options state for these rows.
fn problem_of<'a>(rows: &Rows<'a>, settings: &Settings, options: &LogisticOptions) -> Problem<'a> {
    // Weights too small to divide by become 0, and no sum of weights overflows.
    let loss_weight =
        |c: f64| Some((options.c * c).min(1e200)).filter(|&loss_weight| loss_weight > 1e-200).unwrap_or(0.0);
    let loss_weights =
        (0..rows.data.len()).map(|i| loss_weight(rows.weights.map_or(1.0, |weights| weights[i]))).collect();
    let has_intercept = settings.bias != Bias::None;
    Problem::new(rows.data, rows.labels, rows.classes, loss_weights, has_intercept, options.norm_weights())
}

/// What may end a run early.
struct Limits<'a> {
    settings: &'a Settings,
    clock: Instant,
    observer: &'a mut dyn Observer,
    steps: u64,
    rows: u64,
    /// When the observer first asked to stop.
    asked: Option<Instant>,
}

impl<'a> Limits<'a> {
    fn new(rows: &Rows<'_>, settings: &'a Settings, clock: Instant, observer: &'a mut dyn Observer) -> Self {
        Self { settings, clock, observer, steps: 0, rows: rows.data.len() as u64, asked: None }
    }

    fn told_to_stop(&mut self) -> bool {
        let progress = Progress::Training {
            epoch: self.steps,
            epochs: self.settings.epochs,
            position: 0,
            examples: self.rows,
            updates: self.steps,
            margin_upper: None,
        };
        let told = self.observer.progress(&progress).is_break();
        if told {
            self.asked.get_or_insert_with(Instant::now);
        }
        told
    }

    /// A pause of what is worth little before it is done, and of what a run that was stopped still wants to know: it may come
    /// to its end if that takes no longer than a moment.
    fn patient_pause(&mut self) -> ControlFlow<Status> {
        if self.told_to_stop() && self.asked.is_some_and(|asked| asked.elapsed() >= GRACE) {
            return ControlFlow::Break(Status::Interrupted);
        }
        ControlFlow::Continue(())
    }

    fn pause(&mut self) -> ControlFlow<Status> {
        if self.told_to_stop() {
            return ControlFlow::Break(Status::Interrupted);
        }
        if self.settings.max_seconds.is_some_and(|most| self.clock.elapsed().as_secs_f64() >= most) {
            return ControlFlow::Break(Status::TimeLimit);
        }
        ControlFlow::Continue(())
    }
}

/// The end of an algorithm.
struct Found {
    point: Point,
    status: Status,
    steps: u64,
    proof: Proof,
}

/// One of the algorithms, as it stands.
enum Algorithm<'p, 'a> {
    DenseNewton(Box<DenseNewton<'p, 'a>>),
    WorkingSet(Box<WorkingSet<'p, 'a>>),
    Dual(Box<Dual<'p, 'a>>),
    Lbfgs(Box<Lbfgs<'p, 'a>>),
    Newton(Newton<'p, 'a>),
    CoordinateDescent(Box<CoordinateDescent<'p, 'a>>),
}

impl<'p, 'a> Algorithm<'p, 'a> {
    /// The algorithm for a problem, at a point.
    fn begin(
        problem: &'p Problem<'a>,
        start: Point,
        wanted: f64,
        pause: &mut Pause<'_>,
    ) -> ControlFlow<Status, Self> {
        ControlFlow::Continue(if DenseNewton::is_for(problem) {
            Self::DenseNewton(Box::new(DenseNewton::new(problem, start, pause)?))
        } else if WorkingSet::is_for(problem) {
            Self::WorkingSet(Box::new(WorkingSet::new(problem, start, wanted, pause)?))
        } else {
            let place = problem.place(start, pause)?;
            if problem.penalty.absolute > 0.0 {
                Self::CoordinateDescent(Box::new(CoordinateDescent::new(
                    problem,
                    place,
                    CoordinateDescent::FIRST_ENOUGH,
                )))
            } else if Dual::is_for(problem) {
                Self::Dual(Box::new(Dual::new(problem, place)))
            } else if Lbfgs::is_for(problem) {
                Self::Lbfgs(Box::new(Lbfgs::new(problem, place)))
            } else {
                Self::Newton(Newton::new(problem, place))
            }
        })
    }

    fn step(&mut self, limits: &mut Limits<'_>) -> ControlFlow<Status, Step> {
        let pause = &mut || limits.pause();
        if let Algorithm::Dual(dual) = self
            && dual.is_slow()
        {
            let place = dual.problem.place(dual.best.clone(), pause)?;
            *self = Algorithm::Lbfgs(Box::new(Lbfgs::new(dual.problem, place)));
        }
        match self {
            Algorithm::DenseNewton(newton) => newton.step(pause),
            Algorithm::WorkingSet(working) => working.step(pause),
            Algorithm::Dual(dual) => dual.step(pause),
            Algorithm::Lbfgs(lbfgs) => lbfgs.step(pause),
            Algorithm::Newton(newton) => newton.step(pause),
            Algorithm::CoordinateDescent(descent) => descent.step(pause),
        }
    }

    /// The objective is no more than this.
    fn objective(&self) -> f64 {
        match self {
            Algorithm::DenseNewton(newton) => newton.objective,
            Algorithm::WorkingSet(working) => working.objective,
            Algorithm::Dual(dual) => dual.place.objective,
            Algorithm::Lbfgs(lbfgs) => lbfgs.place.objective,
            Algorithm::Newton(newton) => newton.place.objective,
            Algorithm::CoordinateDescent(descent) => descent.place.objective,
        }
    }

    /// Makes the intercepts the best, and proves how good the point is. Breaks where the user does not want to wait for it.
    fn prove(&mut self, radius: f64, limits: &mut Limits<'_>) -> ControlFlow<Status, Proof> {
        let bias_input = limits.settings.bias.input();
        let pause = &mut || limits.patient_pause();
        let (problem, place) = match self {
            Algorithm::DenseNewton(newton) => return newton.prove(radius, bias_input, pause),
            Algorithm::WorkingSet(working) => return working.prove(radius, bias_input, pause),
            Algorithm::Dual(dual) => {
                dual.forget_slope();
                (dual.problem, &mut dual.place)
            }
            Algorithm::Lbfgs(lbfgs) => {
                lbfgs.down = None;
                (lbfgs.problem, &mut lbfgs.place)
            }
            Algorithm::Newton(newton) => {
                newton.known = None;
                (newton.problem, &mut newton.place)
            }
            Algorithm::CoordinateDescent(descent) => (descent.problem, &mut descent.place),
        };
        let proof = problem.prove(&mut place.point, &mut place.scores, radius, bias_input, pause)?;
        place.objective = proof.objective;
        ControlFlow::Continue(proof)
    }

    /// The proof of an interrupted run: at its last point, or at a better earlier one.
    fn end(&mut self, radius: f64, limits: &mut Limits<'_>) -> Option<Proof> {
        let proof = self.prove(radius, limits).continue_value();
        if let Algorithm::Dual(dual) = self
            && proof.is_none_or(|proof| proof.objective > dual.least)
        {
            dual.place.point = std::mem::take(&mut dual.best);
            dual.place.objective = dual.least;
            return self.prove(radius, limits).continue_value();
        }
        proof
    }

    fn into_point(self) -> Point {
        match self {
            Algorithm::DenseNewton(newton) => newton.point,
            Algorithm::WorkingSet(working) => working.point,
            Algorithm::Dual(dual) => dual.place.point,
            Algorithm::Lbfgs(lbfgs) => lbfgs.place.point,
            Algorithm::Newton(newton) => newton.place.point,
            Algorithm::CoordinateDescent(descent) => descent.place.point,
        }
    }
}

/// Goes on from a point until the gap is as wanted, or a limit comes. An error if it was stopped before it had begun.
fn solve(
    problem: &Problem<'_>,
    start: Point,
    wanted: f64,
    radius: f64,
    limits: &mut Limits<'_>,
) -> Result<Found, Error> {
    let begun = Algorithm::begin(problem, start, wanted, &mut || limits.patient_pause());
    let Some(mut algorithm) = begun.continue_value() else { return Err(Error::Interrupted) };
    let mut worth = 0.3 * wanted;
    // Steps whose gain the objective has no digits for still make the proof better, but not for ever.
    const BLIND_STEPS: u32 = 5;
    let mut blind = 0;
    let (status, proof) = loop {
        let before = algorithm.objective();
        let mut stalled = match algorithm.step(limits) {
            ControlFlow::Break(status) => {
                let proof = algorithm.end(radius, limits);
                break (status, proof);
            }
            ControlFlow::Continue(Step::Made { left }) => {
                limits.steps += 1;
                if left > worth * algorithm.objective() && limits.steps < limits.settings.epochs {
                    continue;
                }
                // The guess was too bold if the proof does not agree.
                worth *= 0.1;
                false
            }
            ControlFlow::Continue(Step::Stalled) => true,
        };
        // Without a penalty there is no proof that such a step could make better, and its last digits change for ever. They also do
        // where a step is many iterations: a few of these are enough for the proof.
        let changes_for_ever = problem.penalty.is_none() || matches!(algorithm, Algorithm::Lbfgs(_));
        let digits = if changes_for_ever { 8.0 * f64::EPSILON * before } else { 0.0 };
        blind = if algorithm.objective() < before - digits { 0 } else { blind + 1 };
        stalled |= blind > BLIND_STEPS;
        let last = stalled || limits.steps >= limits.settings.epochs;
        match algorithm.prove(radius, limits) {
            ControlFlow::Break(status) => break (status, None),
            ControlFlow::Continue(proof) if proof.gap.map_or(stalled, |gap| gap <= wanted) => {
                break (Status::Converged, Some(proof));
            }
            ControlFlow::Continue(proof) if last => break (Status::EpochLimit, Some(proof)),
            ControlFlow::Continue(_) => {}
        }
    };
    let proof = proof.unwrap_or_else(|| Proof::of_nothing(problem, algorithm.objective()));
    Ok(Found { point: algorithm.into_point(), status, steps: limits.steps, proof })
}

impl Found {
    fn solution(mut self, problem: &Problem<'_>, settings: &Settings) -> Solution {
        let (width, input) = (problem.width(), settings.bias.input());
        let Proof { primal, dual, gap, margin_upper, .. } = self.proof;
        self.point.centre(width, problem.penalty);
        let kept = self.point.weights.chunks_exact(width).filter(|own| own.iter().any(|&w| w != 0.0)).count();
        let thetas = (0..width)
            .map(|score| Theta {
                weights: self.point.weights.iter().skip(score).step_by(width).copied().collect(),
                bias: if input == 0.0 { 0.0 } else { self.point.intercepts[score] / input },
                bias_input: input,
            })
            .collect();
        let dual = gap.map(|_| dual);
        let detail = Detail::Logistic { primal, dual, gap, kept: kept as u64 };
        Solution { thetas, status: self.status, steps: self.steps, margin_upper, detail }
    }
}

/// Without a penalty: the answer where no finite weights are best, because the classes do not overlap.
fn without_optimum(
    rows: &Rows<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Option<Solution>, Error> {
    let verdict = decide_classes(rows, settings, observer)?.verdict;
    let status = match verdict {
        Verdict::Overlap => return Ok(None),
        Verdict::Complete | Verdict::QuasiComplete => Status::NoOptimum,
        Verdict::Undecided => Status::Undecided,
    };
    let classes = if rows.classes == 2 { 1 } else { rows.classes };
    Ok(Some(Solution {
        thetas: vec![Theta::zero(rows.data.columns(), settings.bias.input()); classes],
        status,
        steps: 0,
        margin_upper: None,
        detail: Detail::NoOptimum { verdict },
    }))
}

/// Whether weights separate the rows that count: two classes, or more, all of them at once.
pub(crate) fn decide_classes(
    rows: &Rows<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Separation, Error> {
    let stacked;
    let examples = if rows.classes == 2 {
        let sign = |(i, &label): (usize, &u32)| match label {
            _ if !rows.counts(i) => 0,
            1 => 1,
            _ => -1,
        };
        let signs = rows.labels.iter().enumerate().map(sign).collect();
        let bias = match settings.bias {
            Bias::None => separate::Bias::None,
            Bias::Append(value) => separate::Bias::Append(value),
        };
        Examples::with_signs(rows.data, signs, bias)
    } else {
        stacked = stack(rows, settings, observer)?;
        Examples::with_signs(&stacked, vec![1; stacked.len()], separate::Bias::None)
    };
    let pair = ClassPair { positive: "own".into(), negative: vec!["other".to_string()].into() };
    let wanted = SeparateSettings {
        bias: examples.bias(),
        max_seconds: settings.max_seconds,
        seed: settings.seed,
        ..SeparateSettings::default()
    };
    separate::decide(&examples, &pair, &wanted, observer)
}

/// The rows as they agree with all classes at once: for a row of class y and each other class r, the row at the place of y
/// and its opposite at the place of r.
fn stack(rows: &Rows<'_>, settings: &Settings, observer: &mut dyn Observer) -> Result<Dataset, Error> {
    let input = settings.bias.input();
    let width = rows.data.columns() + 1;
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let pause = (pause_after(rows.data.longest_row() + 1) / rows.classes).max(1);
    for (i, &label) in rows.labels.iter().enumerate().filter(|&(i, _)| rows.counts(i)) {
        let step = "setting each class against each other";
        let progress = Progress::Separating { step, margin_lower: None, margin_upper: None, passes: 0 };
        if i % pause == 0 && observer.progress(&progress).is_break() {
            return Err(Error::Interrupted);
        }
        let appended = (input != 0.0).then_some((width - 1, input));
        let own = rows.data.row(i).iter().filter(|&(_, x)| x != 0.0).chain(appended);
        for other in (0..rows.classes as u32).filter(|&other| other != label) {
            let mut places = [(label, 1.0), (other, -1.0)];
            places.sort_unstable_by_key(|&(class, _)| class);
            for (class, sign) in places {
                for (j, x) in own.clone() {
                    indices.push((class as usize * width + j) as u32);
                    values.push(sign * x);
                }
            }
            offsets.push(values.len());
        }
    }
    let labels = vec!["own"; offsets.len() - 1];
    Ok(Dataset::sparse(rows.classes * width, &offsets, &indices, &values, &labels)?)
}

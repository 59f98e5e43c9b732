//! The evidence of a run: counts, errors and bounds on the data it was trained on.

use crate::Error;
use crate::SettingsError;
use crate::classes::{ClassPair, Classes};
use crate::dataset::Dataset;
use crate::observe::{Observer, Pace, Progress};
use crate::separate::Verdict;
use crate::theory::geometry;
use crate::theory::margin::{
    Extent, MarginInterval, MarginKind, certain_agreement, larger, least_agreement, quotient_down,
};
use crate::theory::mixing::Mixing;
use crate::theory::novikoff::{MistakeBound, mistake_bound};
use crate::theta::Theta;
use crate::train::engine::class_errors::is_wrong;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::{Outcome, Status, Task};
use crate::train::settings::Settings;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The evidence at the end of a run. Bounds are rounded outwards, so they hold for the stored data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Rows learned from.
    pub examples: u64,
    /// Features of each row.
    pub features: u64,
    /// Values that are not zero.
    pub nonzeros: u64,
    /// Passes begun.
    pub epochs: u64,
    /// Updates made, k.
    pub updates: u64,
    /// How the run ended.
    pub status: Status,
    /// Share of the rows that the result predicts wrong; unknown for a stream, or if judging was stopped.
    pub training_error: Option<f64>,
    /// Progressive error of a stream: the share of its rows that were predicted wrong before they were learned from.
    pub progressive_error: Option<f64>,
    /// Lengths of the rows.
    pub extent: Extent,
    /// The proved interval of the best margin γ* of the rows.
    pub margin: MarginInterval,
    /// The bounds on the number of mistakes that follow by Novikoff's theorem.
    pub mistake_bound: MistakeBound,
    /// The smallest distance from a row to the boundary of the result (‖w‖ only), where it separates all rows.
    pub distance: Option<f64>,
    /// Whether some rows count more than others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
    /// Evidence that only this learner has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// Evidence that only some learners have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum Detail {
    /// Of the support vector machine.
    Svm {
        /// ½‖θ‖² + C Σ loss at the result.
        primal: f64,
        /// The dual objective: no θ has a smaller primal one.
        dual: f64,
        /// (primal − dual) / primal
        gap: f64,
        /// Rows with a multiplier above zero.
        support: u64,
    },
    /// Of logistic regression.
    Logistic {
        /// penalty + C Σ loss at the result.
        primal: f64,
        /// The dual objective: no weights have a smaller primal one. None without a penalty.
        dual: Option<f64>,
        /// (primal − dual) / primal
        gap: Option<f64>,
        /// Features with a weight that is not zero.
        kept: u64,
    },
    /// Of logistic regression with Firth's penalty.
    Firth {
        /// The log likelihood plus half the logarithm of the determinant of the information, at the result.
        objective: f64,
        /// Features, or the intercept, that are combinations of those before them and so have no weight.
        set_aside: u64,
    },
    /// Of logistic regression without a penalty, where no finite weights are best.
    NoOptimum {
        /// What was decided.
        verdict: Verdict,
    },
    /// Of the pocket perceptron.
    Pocket {
        /// γ, the margin from which a row counts.
        margin: f64,
        /// Rows that certainly are at margin ≥ γ for the θ that was kept.
        kept: u64,
        /// Rows in all.
        rows: u64,
        /// How often all rows were counted.
        looks: u64,
        /// If the rows were drawn independently from one source, then with probability 0.95 the result is wrong on a
        /// new row with at most this probability (sample compression, docs/theory.md); 1 where that says nothing,
        /// none where it does not hold because the rows were scaled by numbers learned from all of them.
        error_bound: Option<f64>,
    },
    /// Of the lifted perceptron.
    Lifted {
        /// a, the factor of the rows beside √(1−a²) for the coordinate of their own.
        a: f64,
        /// The lifted rows certainly have this margin, where the run converged.
        lifted_margin_lower: Option<f64>,
        /// Mistakes made on the lifted rows.
        mistakes: u64,
        /// Their number cannot exceed this: ((R + D)/γ)² for the comparator that a was chosen by.
        bound: Option<f64>,
    },
    /// Of the max-margin separator.
    MaxMargin {
        /// The margin is within this share of the best, as far as proved.
        gap: f64,
        /// Rows of the combination that proves it.
        support: u64,
    },
    /// Of the max-margin separator, where there is none.
    NoMargin {
        /// The positive class.
        class: String,
        /// The negative class, where it is one and not the rest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
        /// What was decided.
        verdict: Verdict,
    },
    /// Of the memoriser.
    Memoriser {
        /// Different rows.
        distinct: u64,
        /// Rows whose label lost against that of equal rows.
        contradicted: u64,
    },
    /// Of a run in shards.
    Shards {
        /// How much each counted.
        mixing: Mixing,
        /// K, the mistakes as they were mixed, rounded down: at most (R/γ*)² for rows that count once, from zero.
        mistakes: f64,
        /// Updates made by each.
        updates: Vec<u64>,
    },
    /// Of a learner whose file has all there is to know about it.
    Own(OwnEvidence),
    /// Of the kernel perceptron.
    Kernel {
        /// Rows that the function is made of.
        support: u64,
    },
}

/// Evidence in the words of its learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnEvidence {
    /// One line for reports.
    pub text: String,
    /// The numbers by their names.
    pub numbers: BTreeMap<String, f64>,
}

impl Evidence {
    /// Removes conclusions about new rows: the rows were scaled by numbers learned from all of them, so the theorem about
    /// new rows does not hold.
    pub fn forget_new_rows(&mut self) {
        if let Some(Detail::Pocket { error_bound, .. }) = &mut self.detail {
            *error_bound = None;
        }
    }

    /// The interval and its consequences, from the parts.
    #[expect(clippy::too_many_arguments, reason = "each is one measured number of the same record")]
    pub(crate) fn new(
        (examples, features, nonzeros): (u64, u64, u64),
        (epochs, updates, status): (u64, u64, Status),
        training_error: Option<f64>,
        progressive_error: Option<f64>,
        extent: Extent,
        kind: MarginKind,
        lower: Option<f64>,
        upper: Option<f64>,
    ) -> Self {
        let upper = upper.map_or(extent.shortest, |upper| upper.min(extent.shortest));
        let margin = MarginInterval { lower, upper, kind };
        let mistake_bound = mistake_bound(&extent, &margin);
        Self {
            examples,
            features,
            nonzeros,
            epochs,
            updates,
            status,
            training_error,
            progressive_error,
            extent,
            margin,
            mistake_bound,
            distance: None,
            weighted: false,
            detail: None,
        }
    }
}

/// Judges the end of a run on the rows it was learned from.
pub(crate) fn judge(
    task: &Task<'_>,
    settings: &Settings,
    fit: Fit,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    check_finite(&fit)?;
    let errors = match fit.detail {
        // Whoever remembers all rows is wrong about those whose label lost, and has counted them.
        Some(Detail::Memoriser { contradicted, .. }) if fit.status == Status::Converged => Some(contradicted),
        _ => training_errors(task, &fit.learned, observer),
    };
    // The few rows of one class among thousands are the likeliest to be wrong: one that is ends the search for the least.
    let few: Vec<usize> = match task.signs.iter().filter(|&&sign| sign > 0).count() {
        count if 16 * count <= task.signs.len() => {
            (0..task.signs.len()).filter(|&i| task.signs[i] > 0).collect()
        }
        _ => Vec::new(),
    };
    let least_agreement = |theta: &Theta| {
        let wrong = |&i: &usize| certain_agreement(theta, task.data.row(i), task.signs[i]) <= 0.0;
        if few.iter().any(wrong) { None } else { least_agreement(task.data, &task.signs, theta) }
    };
    let (least, lower) = proved_margin(&fit, least_agreement);
    Ok(conclude(facts_of(task), settings, fit, Judged { errors, least, lower }))
}

/// What `least_agreement` proves with the weights of a run, and the best lower bound of γ* by them and the candidates.
pub(crate) fn proved_margin(
    fit: &Fit,
    least_agreement: impl Fn(&Theta) -> Option<f64>,
) -> (Option<f64>, Option<f64>) {
    let weights = weights_of(&fit.learned);
    let quotient = |least: f64, theta: &Theta| quotient_down(least, theta.norm().high);
    let least = weights.and_then(&least_agreement);
    let own = least.zip(weights).map(|(least, theta)| quotient(least, theta));
    if fit.space.is_some() {
        return (least, None);
    }
    // Candidates are often the weights themselves, which have been judged.
    let others = fit.candidates.iter().filter(|&theta| Some(theta) != weights);
    let lower_bound = |theta: &Theta| least_agreement(theta).map(|least| quotient(least, theta));
    (least, others.map(lower_bound).fold(own, larger))
}

/// The end of a run that nobody waits for: what the rows tell about the result stays unknown.
pub(crate) fn unjudged(facts: Facts<'_>, settings: &Settings, fit: Fit) -> Result<Outcome, Error> {
    check_finite(&fit)?;
    Ok(conclude(facts, settings, fit, Judged::default()))
}

/// The facts about the rows of a task.
pub(crate) fn facts_of<'a>(task: &'a Task<'_>) -> Facts<'a> {
    facts_on(task.data, task.extent, &task.classes, task.weights.is_some())
}

/// The facts about rows with these sides.
pub(crate) fn facts_on<'a>(
    data: &Dataset,
    extent: Extent,
    classes: &'a ClassPair,
    weighted: bool,
) -> Facts<'a> {
    let shape = (data.len() as u64, data.columns() as u64, data.nonzeros() as u64);
    Facts { shape, extent, classes, weighted }
}

/// The weights whose agreements are a margin of the rows themselves.
fn weights_of(learned: &Learned) -> Option<&Theta> {
    match learned {
        Learned::Linear(theta) | Learned::Voted { last: theta, .. } => Some(theta),
        _ => None,
    }
}

/// Refuses weights that have overflowed.
pub(crate) fn check_finite(fit: &Fit) -> Result<(), SettingsError> {
    if fit.learned.is_finite() {
        return Ok(());
    }
    Err(SettingsError::new(
        "step",
        "training diverged: the weights overflowed; choose a smaller ⟦step⟧, or bring the features to a common scale with \
         ⟦scale⟧",
    ))
}

/// Facts about the rows that are known before a run.
pub(crate) struct Facts<'a> {
    /// Rows, features, values that are not zero.
    pub(crate) shape: (u64, u64, u64),
    pub(crate) extent: Extent,
    pub(crate) classes: &'a ClassPair,
    pub(crate) weighted: bool,
}

/// How a result does on all rows; by default nothing is known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Judged {
    /// Rows that are predicted wrong, if they were counted to the end.
    pub(crate) errors: Option<u64>,
    /// A lower bound of every agreement with the weights, if it is above zero.
    pub(crate) least: Option<f64>,
    /// The best lower bound of γ* that the weights and the candidates prove.
    pub(crate) lower: Option<f64>,
}

/// Puts the evidence of a run together.
pub(crate) fn conclude(facts: Facts<'_>, settings: &Settings, fit: Fit, judged: Judged) -> Outcome {
    let (extent, margin) = match fit.space {
        Some(space) => (space.extent, space.margin),
        None => {
            let upper = fit.margin_upper.unwrap_or(facts.extent.shortest);
            let kind = MarginKind::of_bias(settings.bias.input());
            (facts.extent, MarginInterval { lower: judged.lower, upper, kind })
        }
    };
    let mut evidence = Evidence::new(
        facts.shape,
        (fit.epochs, fit.updates, fit.status),
        judged.errors.map(|errors| errors as f64 / facts.shape.0 as f64),
        None,
        extent,
        margin.kind,
        margin.lower,
        Some(margin.upper),
    );
    if let Learned::Linear(theta) = &fit.learned
        && geometry::weight_norm(theta) > 0.0
    {
        // The smallest distance from a row to the boundary, which exists only if all rows are right.
        evidence.distance = judged.least.map(|least| quotient_down(least, theta.weight_norm().high));
    }
    evidence.weighted = facts.weighted;
    evidence.detail = fit.detail;
    Outcome {
        learned: fit.learned,
        status: fit.status,
        evidence,
        boundaries: Vec::new(),
        classes: Classes::Pair(facts.classes.clone()),
        settings: settings.clone(),
    }
}

/// How many rows of the task are predicted wrong, or `None` if the observer stopped the count: counting votes takes
/// time.
pub(crate) fn training_errors(
    task: &Task<'_>,
    learned: &Learned,
    observer: &mut dyn Observer,
) -> Option<u64> {
    let wrong = |i: usize, score: f64| (score >= 0.0) != (task.signs[i] > 0);
    let total = task.data.len();
    let count = |start: usize, end: usize| {
        let rows: Vec<_> = (start..end).map(|i| task.data.row(i)).collect();
        (start..end).zip(learned.scores(&rows)).filter(|&(i, score)| wrong(i, score)).count() as u64
    };
    let (mut errors, mut end, mut pace) = (0, 0, Pace::new(learned.rows_before_pause()));
    while end < total {
        let rows = pace.next(end, total);
        end = rows.end;
        errors += match learned {
            Learned::Linear(theta) => {
                let is_wrong = |&i: &usize| is_wrong(theta, task.data.row(i), task.signs[i]);
                rows.into_par_iter().with_min_len(16).filter(is_wrong).count() as u64
            }
            _ => {
                let together = (rows.len() / rayon::current_num_threads()).clamp(1, ROWS_TOGETHER);
                let starts = rows.into_par_iter().step_by(together);
                starts.map(|from| count(from, (from + together).min(end))).sum::<u64>()
            }
        };
        let flow = observer.progress(&Progress::Judging { rows: end as u64, total: total as u64 });
        if end < total && pace.gives_up(flow) {
            return None;
        }
    }
    Some(errors)
}

/// Rows that are judged by one thread at a time.
const ROWS_TOGETHER: usize = 32;

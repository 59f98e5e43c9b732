//! The options of logistic regression.

use super::fit;
use super::problem::Penalty;
use crate::dataset::Dataset;
use crate::numbers::{counted, grouped};
use crate::observe::Observer;
use crate::separate::Verdict;
use crate::theory::margin::MarginKind;
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::evidence::{Detail, Evidence};
use crate::train::engine::fit::Fit;
use crate::train::engine::one_against_rest::train_logistic;
use crate::train::engine::run::Outcome;
use crate::train::engine::run::Task;
use crate::train::engine::state::State;
use crate::train::learners::registry::{
    Abilities, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::{Learner, Options};
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "logistic",
    title: "logistic regression",
    summary: "Logistic regression, solved to a proved gap: for probabilities, and for small or sparse weights",
    options: &[
        OptionDescriptor {
            name: "penalty",
            symbol: "PENALTY",
            kind: OptionKind::Choice(&[
                Choice { name: "l2", help: "½‖w‖²: keeps all weights small" },
                Choice { name: "l1", help: "‖w‖₁: makes weights sparse" },
                Choice { name: "elastic-net", help: "a mixture of both" },
                Choice {
                    name: "firth",
                    help: "half the log-determinant of the Fisher information: finite, nearly unbiased \
                           weights on small data, even when the classes are separable",
                },
                Choice { name: "none", help: "no penalty; separable classes then have no finite optimum" },
            ]),
            auto: None,
            default: "l2",
            help: "the penalty on the weights; the intercept is not penalised",
        },
        OptionDescriptor {
            name: "C",
            symbol: "C",
            kind: OptionKind::Number(C_RANGE),
            auto: None,
            default: "1",
            help: "the weight of the loss against the penalty",
        },
        OptionDescriptor {
            name: "l1_ratio",
            symbol: "SHARE",
            kind: OptionKind::Number(SHARES),
            auto: None,
            default: "0.5",
            help: "the share of ‖w‖₁ in an elastic net; the rest is ½‖w‖²",
        },
        OptionDescriptor {
            name: "gap",
            symbol: "SHARE",
            kind: OptionKind::Number(GAPS),
            auto: None,
            default: "0.000001",
            help: "stop when the objective is proved to be within this relative gap of the optimum",
        },
    ],
    abilities: Abilities {
        many_classes: true,
        probabilities: true,
        always_converges: true,
        ..Abilities::ALL_ROWS
    },
    // Each is a step of Newton's method, or some of another: few are needed.
    usual_epochs: 1000,
    compared_up_to: None,
    usual: || Learner::Logistic(LogisticOptions::default()),
};

const C_RANGE: NumberRange = NumberRange::from_to(1e-100, 1e100);
const SHARES: NumberRange = NumberRange::from_to(0.0, 1.0);
const GAPS: NumberRange = NumberRange::from_below(1e-12, 1.0);

/// The penalty on the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogisticPenalty {
    /// ½‖w‖²
    #[default]
    L2,
    /// ‖w‖₁
    L1,
    /// ρ‖w‖₁ + (1−ρ)/2 ‖w‖²
    ElasticNet,
    /// −½ ln det of the information, which has no weight of its own.
    Firth,
    /// Nothing.
    None,
}

/// The options of logistic regression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogisticOptions {
    /// The penalty on the weights.
    pub penalty: LogisticPenalty,
    /// C, the weight of the loss against the penalty.
    pub c: f64,
    /// ρ, the share of ‖w‖₁ in an elastic net.
    pub l1_ratio: f64,
    /// The run has converged when the objective is proved to be within this share of the best.
    pub gap: f64,
}

impl Default for LogisticOptions {
    fn default() -> Self {
        Self { penalty: LogisticPenalty::default(), c: 1.0, l1_ratio: 0.5, gap: 1e-6 }
    }
}

impl LogisticOptions {
    /// The weights of the two norms.
    pub(super) fn norm_weights(&self) -> Penalty {
        let mixed = |share: f64| Penalty { absolute: share, square: 1.0 - share };
        match self.penalty {
            LogisticPenalty::L2 => mixed(0.0),
            LogisticPenalty::L1 => mixed(1.0),
            LogisticPenalty::ElasticNet => mixed(self.l1_ratio),
            LogisticPenalty::Firth | LogisticPenalty::None => Penalty::NONE,
        }
    }
}

impl Registered for LogisticOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, evidence: &Evidence) -> Option<String> {
        match detail {
            Detail::Logistic { primal, dual, gap, kept } => {
                let proved = match (dual, gap) {
                    (Some(dual), Some(gap)) => {
                        format!(", proved to be at least {dual:.6} for all weights (gap {gap:.1e})")
                    }
                    _ => ", without a penalty, so its distance from the optimum is not proved".to_string(),
                };
                let of = grouped(evidence.features);
                let kept = counted(*kept, "feature has", "features have");
                Some(format!("objective {primal:.6}{proved}; {kept} a weight that is not zero, of {of}"))
            }
            Detail::Firth { objective, set_aside } => {
                let aside = match set_aside {
                    0 => String::new(),
                    &n => format!(
                        "; {} set aside as combinations of others",
                        counted(n, "column is", "columns are")
                    ),
                };
                Some(format!("penalised log likelihood {objective:.6}{aside}"))
            }
            Detail::NoOptimum { verdict } => Some(no_optimum(evidence, *verdict)),
            _ => None,
        }
    }

    /// Of several classes together.
    fn fit_classes(
        &self,
        data: &Dataset,
        settings: &Settings,
        _: Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Outcome>, Error> {
        match settings.positive.is_none() && data.classes().len() > 2 {
            true => train_logistic(data, settings, self, observer).map(Some),
            false => Ok(None),
        }
    }

    fn work(&self, size: &RunSize) -> Work {
        const MAX_SCORES_IN_A_STEP: u64 = 50_000_000;
        let (classes, rows) = (grouped(size.classes), grouped(size.rows));
        let said = format!("scores {classes} classes for each of {rows} rows in every step: @ scores");
        Work { amount: size.all(), most: MAX_SCORES_IN_A_STEP, said, in_passes: false }
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let penalty = given.choice("penalty").unwrap_or(self.penalty);
        let usual = Self::default().l1_ratio;
        let l1_ratio = match (penalty, given.number("l1_ratio")) {
            (LogisticPenalty::ElasticNet, share) => share.unwrap_or(self.l1_ratio),
            // Models keep their options spelled out, so that the usual share may stand beside any penalty.
            (_, Some(share)) if share != usual => {
                let problem = "⟦l1_ratio⟧ is the share of ‖w‖₁ in an elastic net, and other penalties have none: choose \
                               ⟦penalty=elastic-net⟧, or leave it out";
                return Err(SettingsError::new("l1_ratio", problem));
            }
            _ => usual,
        };
        Ok(Learner::Logistic(Self {
            penalty,
            c: given.number("C").unwrap_or(self.c),
            l1_ratio,
            gap: given.number("gap").unwrap_or(self.gap),
        }))
    }

    fn options(&self) -> Options {
        Options::new()
            .with_choice("penalty", self.penalty)
            .with("C", self.c)
            .with("l1_ratio", self.l1_ratio)
            .with("gap", self.gap)
    }

    fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field: &'static str, problem: String| Err(SettingsError::new(field, problem));
        if !C_RANGE.contains(self.c) {
            return refuse(
                "C",
                format!("C must be a number {C_RANGE}: it is the weight of the loss in the objective"),
            );
        }
        if self.penalty == LogisticPenalty::Firth && self.c != 1.0 {
            return refuse("C", "Firth's penalty has no weight: leave ⟦C⟧ out".to_string());
        }
        if self.penalty == LogisticPenalty::None && self.c != 1.0 {
            return refuse("C", "without a penalty ⟦C⟧ weighs nothing: leave it out".to_string());
        }
        if !SHARES.contains(self.l1_ratio) {
            return refuse("l1_ratio", format!("the share of ‖w‖₁ must be a number {SHARES}"));
        }
        if !GAPS.contains(self.gap) {
            return refuse(
                "gap",
                format!(
                    "the gap must be {GAPS}: it is relative to the objective, and rounding hides smaller gaps"
                ),
            );
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let c = self.c;
        match self.penalty {
            LogisticPenalty::L2 => format!("logistic regression, penalty ½‖w‖², C = {c}"),
            LogisticPenalty::L1 => format!("logistic regression, penalty ‖w‖₁, C = {c}"),
            LogisticPenalty::ElasticNet => {
                format!("logistic regression, elastic net with {} of ‖w‖₁, C = {c}", self.l1_ratio)
            }
            LogisticPenalty::Firth => "logistic regression with Firth's penalty".to_string(),
            LogisticPenalty::None => "logistic regression without a penalty".to_string(),
        }
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        fit(task, settings, self, observer).map(Some)
    }
}

/// Why no finite weights are best.
fn no_optimum(evidence: &Evidence, verdict: Verdict) -> String {
    let many = evidence.margin.kind == MarginKind::MultiClass;
    let why = match (verdict, many) {
        (Verdict::Complete, false) => "a boundary separates the classes completely",
        (Verdict::Complete, true) => "there are weights that give every row's own class the largest score",
        (Verdict::QuasiComplete, false) => {
            "a boundary has no row on its wrong side and some strictly on the right one (quasi-complete separation)"
        }
        (Verdict::QuasiComplete, true) => {
            "there are weights that give no row another class a larger score than its own, and some rows their own a larger one \
             (quasi-complete separation)"
        }
        (Verdict::Overlap | Verdict::Undecided, _) => {
            return "whether logistic regression without a penalty has a finite optimum was not decided within the limits"
                .to_string();
        }
    };
    format!(
        "logistic regression without a penalty has no finite optimum: {why}, which is proved, so the \
         likelihood keeps increasing as the weights grow"
    )
}

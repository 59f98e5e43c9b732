//! The registry entry of gradient descent, and its options.

use super::Sgd;
use super::loss::Loss;
use crate::SettingsError;
use crate::train::engine::row_rule::Start;
use crate::train::learners::registry::{
    Abilities, Ability, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::schedule::{self, POWERS};
use crate::train::learners::{Combine, Core, Learner, Options};
use crate::train::settings::Settings;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "sgd",
    title: "gradient descent",
    summary: "Stochastic gradient descent with a step size for each feature: for streams, and for a choice \
              of losses",
    options: &[
        OptionDescriptor {
            name: "loss",
            symbol: "LOSS",
            kind: OptionKind::Choice(&[
                Choice { name: "perceptron", help: "max(0, −a)" },
                Choice { name: "hinge", help: "max(0, 1−a)" },
                Choice { name: "log", help: "ln(1 + e^−a), logistic regression" },
                Choice { name: "squared", help: "½(1−a)², least squares" },
            ]),
            auto: None,
            default: "hinge",
            help: "the loss of a row with agreement a",
        },
        OptionDescriptor {
            name: "schedule",
            symbol: "SCHEDULE",
            kind: OptionKind::Choice(&[
                Choice { name: "adaptive", help: "A step size for each feature, independent of its scale" },
                schedule::CONSTANT,
                schedule::INVERSE,
                schedule::INVERSE_ROOT,
                schedule::POWER,
                Choice { name: "shrinking", help: "η/(1 + ηλk)" },
            ]),
            auto: None,
            default: "adaptive (shrinking with a penalty, constant with the perceptron loss)",
            help: "how the step changes",
        },
        schedule::POWER_OPTION,
        OptionDescriptor {
            name: "step",
            symbol: "η",
            kind: OptionKind::Number(STEPS),
            auto: Some("1.5 for adaptive steps, else 1/R²"),
            default: "auto (1 with the perceptron loss)",
            help: "the first step",
        },
        OptionDescriptor {
            name: "l2",
            symbol: "λ",
            kind: OptionKind::Number(PENALTIES),
            auto: None,
            default: "0 (0.0001 with shrinking steps)",
            help: "the penalty on ½ of the squared length of the weights and the bias, not for adaptive steps",
        },
        Combine::option("average (last with the perceptron loss)"),
    ],
    abilities: Abilities {
        start_at_first_row: Ability::No("it has steps of its own; ⟦init=first⟧ is for perceptrons"),
        probabilities: true,
        ..Abilities::ROW_BY_ROW
    },
    usual_epochs: 10,
    compared_up_to: None,
    usual: || Learner::Sgd(SgdOptions::default()),
};

/// The η of adaptive steps: chosen by the errors on the test rows of the sets of `bench/online.py`, after five passes. With
/// averages, less leaves some sets short of their best, and more begins to follow the noise of generated text.
pub(crate) const ADAPTIVE_STEP: f64 = 1.5;

const STEPS: NumberRange = NumberRange::from_to(1e-100, 1e100);
const PENALTIES: NumberRange = NumberRange::from_to(0.0, 1e100);

/// How the step changes from example to example, t = 0, 1, 2 …
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepSchedule {
    /// η_t = η
    Constant,
    /// η_t = η (t + 1)^−p
    Power(f64),
    /// η_t = η / (1 + ηλt): falls no faster than the penalty allows.
    Shrinking,
    /// A step of its own for each feature, which falls with the gradients of that feature and does not depend on its scale.
    #[default]
    Adaptive,
}

/// The options of stochastic gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SgdOptions {
    /// The loss.
    pub loss: Loss,
    /// How the step changes.
    pub schedule: StepSchedule,
    /// η, the first step; none for 1.5 with adaptive steps, and for 1/R² with all others.
    pub step: Option<f64>,
    /// λ, the penalty on ½‖θ‖²: of the bias, too, which is a coordinate of θ. Then θ is a sum of rows, which bounds the margin.
    pub l2: f64,
    /// How the θ of the run are combined.
    pub combine: Combine,
}

impl Default for SgdOptions {
    fn default() -> Self {
        Self::of(Loss::default())
    }
}

impl SgdOptions {
    /// The usual options for a loss: the perceptron's has constant steps of 1, as the perceptron; the others have adaptive
    /// steps.
    pub fn of(loss: Loss) -> Self {
        match loss {
            Loss::Perceptron => Self {
                loss,
                schedule: StepSchedule::Constant,
                step: Some(1.0),
                l2: 0.0,
                combine: Combine::Last,
            },
            _ => Self::scheduled(loss, StepSchedule::Adaptive),
        }
    }

    /// The usual options for a loss and a schedule.
    pub fn scheduled(loss: Loss, schedule: StepSchedule) -> Self {
        match (loss, schedule) {
            (_, StepSchedule::Adaptive) => {
                Self { loss, schedule, step: None, l2: 0.0, combine: Combine::Average }
            }
            (Loss::Perceptron, _) => Self { schedule, ..Self::of(loss) },
            _ => Self { loss, schedule, step: None, l2: 1e-4, combine: Combine::Average },
        }
    }

    fn adapts(&self) -> bool {
        self.schedule == StepSchedule::Adaptive
    }

    /// The first step, where rows are at most `radius` long.
    pub(crate) fn first_step(&self, radius: Option<f64>) -> Result<f64, SettingsError> {
        match (self.step, radius) {
            (Some(step), _) => Ok(step),
            (None, _) if self.adapts() => Ok(ADAPTIVE_STEP),
            (None, Some(radius)) => {
                // At most a half is taken of the weights in one step, however short the rows are.
                let most = if self.l2 > 0.0 { 0.5 / self.l2 } else { f64::MAX };
                Ok((1.0 / (radius * radius).max(1e-280)).min(most).min(1e100))
            }
            (None, None) => Err(SettingsError::new(
                "step",
                "the default step depends on the length of the longest row, which is not known in a stream: \
                 choose the step with ⟦step⟧, or ⟦schedule=adaptive⟧",
            )),
        }
    }
}

impl Registered for SgdOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn row_rule(&self, _: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(Sgd::new(start.theta, *self, self.first_step(start.radius)?).into())
    }

    fn combine(&self) -> Combine {
        self.combine
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let loss = given.choice("loss").unwrap_or(self.loss);
        let mut usual = if loss == self.loss { *self } else { Self::of(loss) };
        let schedule = match (schedule::power(given)?, given.text("schedule")) {
            (Some(p), _) => StepSchedule::Power(p),
            (None, Some("adaptive")) => StepSchedule::Adaptive,
            (None, Some("shrinking")) => StepSchedule::Shrinking,
            (None, Some(_)) => StepSchedule::Constant,
            // Adaptive steps have no penalty.
            (None, None) if usual.adapts() && given.number("l2").is_some_and(|l2| l2 != 0.0) => {
                StepSchedule::Shrinking
            }
            (None, None) => usual.schedule,
        };
        // The usual options of one loss, or of adaptive steps, are not those of others.
        if usual.adapts() != (schedule == StepSchedule::Adaptive) {
            usual = Self::scheduled(loss, schedule);
        }
        Ok(Learner::Sgd(Self {
            loss,
            schedule,
            step: given.number_or_auto("step").unwrap_or(usual.step),
            l2: given.number("l2").unwrap_or(usual.l2),
            combine: given.choice("combine").unwrap_or(usual.combine),
        }))
    }

    fn options(&self) -> Options {
        let options = Options::new()
            .with_choice("loss", self.loss)
            .with("step", self.step)
            .with("l2", self.l2)
            .with_choice("combine", self.combine);
        match self.schedule {
            StepSchedule::Constant => options.with("schedule", "constant"),
            StepSchedule::Power(p) => options.with("schedule", "power").with("power", p),
            StepSchedule::Shrinking => options.with("schedule", "shrinking"),
            StepSchedule::Adaptive => options.with("schedule", "adaptive"),
        }
    }

    fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field, reason: String| Err(SettingsError::new(field, reason));
        if let Some(step) = self.step
            && !STEPS.contains(step)
        {
            return refuse("step", format!("the step is {step}; it must be above 0 ({STEPS})"));
        }
        if !PENALTIES.contains(self.l2) {
            return refuse(
                "l2",
                format!("the L2 penalty is {}; it must be a number from 0 (no penalty) to 1e100", self.l2),
            );
        }
        if self.adapts() && self.l2 > 0.0 {
            return refuse(
                "l2",
                "adaptive steps have no L2 penalty, which would depend on the scale of the features: choose \
                 ⟦schedule=shrinking⟧, or leave ⟦l2⟧ out"
                    .to_string(),
            );
        }
        if let Some(step) = self.step
            && step * self.l2 >= 1.0
        {
            return refuse(
                "step",
                format!(
                    "step times L2 penalty is {}; it must be below 1: each step shrinks the weights by that \
                     share",
                    step * self.l2
                ),
            );
        }
        if let StepSchedule::Power(p) = self.schedule
            && !POWERS.contains(p)
        {
            return refuse(
                "power",
                format!(
                    "the power of the schedule is {p}; it must be {POWERS}: above 1 the sum of all steps is \
                     finite, and training may stop before the optimum; below 0 the steps grow"
                ),
            );
        }
        self.combine.refuse_votes()
    }

    fn describe(&self) -> String {
        let loss = match self.loss {
            Loss::Perceptron => "perceptron",
            Loss::Hinge => "hinge",
            Loss::Log => "log",
            Loss::Squared => "squared",
        };
        let usual = if self.adapts() { ADAPTIVE_STEP.to_string() } else { "1/R²".to_string() };
        let step = self.step.map_or(usual, |step| step.to_string());
        let schedule = match self.schedule {
            StepSchedule::Constant => format!("constant step {step}"),
            StepSchedule::Power(p) => format!("step {step} · t^−{p}"),
            StepSchedule::Shrinking => format!("shrinking step from {step}"),
            StepSchedule::Adaptive => format!("adaptive steps {step}"),
        };
        let l2 = if self.adapts() { String::new() } else { format!(", L2 {}", self.l2) };
        format!("gradient descent on the {loss} loss, {schedule}{l2}{}", self.combine.words())
    }

    fn abilities(&self) -> Abilities {
        Abilities { probabilities: self.loss == Loss::Log, ..DESCRIPTOR.abilities }
    }
}

//! Stochastic gradient descent on a loss.
//!
//! Minimises λ/2 ‖θ‖² + mean loss(a_t) by one step per example: θ ← (1 − ηλ)θ − η loss′(a) z. With the perceptron's
//! loss max(0, −a), whose subgradient at the kink is taken as −1, and η = 1, λ = 0, this *is* the perceptron, update for
//! update.
//!
//! Shrinking θ would cost a vector operation per example; θ is kept as s·v, and only s shrinks.

use crate::SettingsError;
use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::learners::perceptron::is_mistake;
use crate::train::learners::registry::{
    Abilities, Ability, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::schedule::{self, POWERS};
use crate::train::learners::{Combine, Learner, Options};
use crate::train::settings::MistakeRule;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "sgd",
    title: "gradient descent",
    summary: "Stochastic gradient descent on a loss with an L2 penalty: for streams, and when you want logistic regression",
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
                schedule::CONSTANT,
                schedule::INVERSE,
                schedule::INVERSE_ROOT,
                schedule::POWER,
                Choice { name: "shrinking", help: "η/(1 + ηλk)" },
            ]),
            auto: None,
            default: "shrinking (constant with the perceptron loss)",
            help: "how the step changes",
        },
        schedule::POWER_OPTION,
        OptionDescriptor {
            name: "step",
            symbol: "η",
            kind: OptionKind::Number(STEPS),
            auto: Some("1/R²"),
            default: "auto (1 with the perceptron loss)",
            help: "the first step",
        },
        OptionDescriptor {
            name: "l2",
            symbol: "λ",
            kind: OptionKind::Number(PENALTIES),
            auto: None,
            default: "0.0001 (0 with the perceptron loss)",
            help: "the penalty on ½ of the squared length of the weights",
        },
        Combine::option("average (last with the perceptron loss)"),
    ],
    abilities: Abilities {
        start_at_first_row: Ability::No("it has steps of its own; ⟦init=first⟧ is for perceptrons"),
        probabilities: true,
        ..Abilities::ROW_BY_ROW
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Sgd(SgdOptions::default()),
};

const STEPS: NumberRange = NumberRange::from_to(1e-100, 1e100);
const PENALTIES: NumberRange = NumberRange::from_to(0.0, 1e100);

/// The loss of a row with agreement a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, −a)
    Perceptron,
    /// max(0, 1 − a)
    #[default]
    Hinge,
    /// ln(1 + e^−a)
    Log,
    /// ½(1 − a)²
    Squared,
}

impl Loss {
    /// loss(a)
    pub fn value(self, a: f64) -> f64 {
        match self {
            Loss::Perceptron => (-a).max(0.0),
            Loss::Hinge => (1.0 - a).max(0.0),
            Loss::Log if a > 0.0 => libm::log1p(libm::exp(-a)),
            Loss::Log => libm::log1p(libm::exp(a)) - a,
            Loss::Squared => 0.5 * (1.0 - a) * (1.0 - a),
        }
    }

    /// −loss′(a): how far the example pulls. At a kink, 1.
    #[inline]
    pub fn pull(self, a: f64) -> f64 {
        match self {
            Loss::Perceptron => f64::from(u8::from(a <= 0.0)),
            Loss::Hinge => f64::from(u8::from(a <= 1.0)),
            // Written so that no exponential overflows.
            Loss::Log if a > 0.0 => {
                let e = libm::exp(-a);
                e / (1.0 + e)
            }
            Loss::Log => 1.0 / (1.0 + libm::exp(a)),
            Loss::Squared => 1.0 - a,
        }
    }
}

/// How the step changes from example to example, t = 0, 1, 2 …
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepSchedule {
    /// η_t = η
    Constant,
    /// η_t = η (t + 1)^−p
    Power(f64),
    /// η_t = η / (1 + ηλt): falls no faster than the penalty allows.
    #[default]
    Shrinking,
}

/// The options of stochastic gradient descent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SgdOptions {
    /// The loss.
    pub loss: Loss,
    /// How the step changes.
    pub schedule: StepSchedule,
    /// η, the first step; none for 1/R².
    pub step: Option<f64>,
    /// λ, the penalty on ½‖θ‖².
    pub l2: f64,
    /// What joins the θ of the run into one.
    pub combine: Combine,
}

impl Default for SgdOptions {
    fn default() -> Self {
        Self::of(Loss::default())
    }
}

impl SgdOptions {
    /// The usual options for a loss: the perceptron's has constant steps of 1 and no penalty, as the perceptron.
    pub fn of(loss: Loss) -> Self {
        match loss {
            Loss::Perceptron => Self {
                loss,
                schedule: StepSchedule::Constant,
                step: Some(1.0),
                l2: 0.0,
                combine: Combine::Last,
            },
            _ => Self {
                loss,
                schedule: StepSchedule::Shrinking,
                step: None,
                l2: 1e-4,
                combine: Combine::Average,
            },
        }
    }

    /// The first step, where rows are at most `radius` long.
    pub(crate) fn first_step(&self, radius: Option<f64>) -> Result<f64, SettingsError> {
        match (self.step, radius) {
            (Some(step), _) => Ok(step),
            (None, Some(radius)) => {
                // At most a half is taken of the weights in one step, however short the rows are.
                let most = if self.l2 > 0.0 { 0.5 / self.l2 } else { f64::MAX };
                Ok((1.0 / (radius * radius).max(1e-280)).min(most).min(1e100))
            }
            (None, None) => Err(SettingsError::new(
                "step",
                "the length of the longest row, on which the usual step depends, is not known beforehand in a stream: \
                 choose the step with ⟦step⟧",
            )),
        }
    }
}

impl Registered for SgdOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let loss = given.choice("loss").unwrap_or(self.loss);
        // The usual options of one loss are not those of another.
        let usual = if loss == self.loss { *self } else { Self::of(loss) };
        Ok(Learner::Sgd(Self {
            loss,
            schedule: match (schedule::power(given)?, given.text("schedule")) {
                (Some(p), _) => StepSchedule::Power(p),
                (None, None) => usual.schedule,
                (None, Some("shrinking")) => StepSchedule::Shrinking,
                (None, Some(_)) => StepSchedule::Constant,
            },
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
        }
    }

    fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field, reason: String| Err(SettingsError::new(field, reason));
        if let Some(step) = self.step
            && !STEPS.contains(step)
        {
            return refuse(
                "step",
                format!("the step is {step}; it must be above 0 ({STEPS}): with no step nothing is learned"),
            );
        }
        if !PENALTIES.contains(self.l2) {
            return refuse(
                "l2",
                format!(
                    "the L2 penalty is {}; it must be a number from 0 (no penalty) to 1e100: below 0 it would reward \
                     large weights without end",
                    self.l2
                ),
            );
        }
        if let Some(step) = self.step
            && step * self.l2 >= 1.0
        {
            return refuse(
                "step",
                format!(
                    "step times L2 penalty is {}; it must be below 1: each step shrinks the weights by that share, and 1 \
                     would leave nothing of them",
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
                    "the power of the schedule is {p}; it must be {POWERS}: above 1 the sum of all steps is finite, and \
                     the weights can stop short of the best; below 0 the steps grow"
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
        let step = self.step.map_or("1/R²".to_string(), |step| step.to_string());
        let schedule = match self.schedule {
            StepSchedule::Constant => format!("constant step {step}"),
            StepSchedule::Power(p) => format!("step {step} · t^−{p}"),
            StepSchedule::Shrinking => format!("shrinking step from {step}"),
        };
        let (l2, combine) = (self.l2, self.combine.words());
        format!("gradient descent on the {loss} loss, {schedule}, L2 {l2}{combine}")
    }

    fn abilities(&self) -> Abilities {
        Abilities { probabilities: self.loss == Loss::Log, ..DESCRIPTOR.abilities }
    }
}

/// The state of a run: θ = s·v.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sgd {
    /// v
    pub(crate) theta: Theta,
    /// s
    pub(crate) scale: f64,
    pub(crate) updates: u64,
    /// t, the examples seen.
    pub(crate) seen: u64,
    /// η, the first step.
    pub(crate) step: f64,
    /// What ⟨v, x̃⟩ may be off by.
    pub(crate) rounding_error: f64,
    options: SgdOptions,
}

/// What one example did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Descent {
    /// Its agreement before.
    pub(crate) agreement: f64,
    /// What θ was multiplied by.
    pub(crate) shrunk: f64,
    /// How much of z was added to θ after that.
    pub(crate) size: f64,
    /// How much of z was added to v.
    pub(crate) added: f64,
}

impl Sgd {
    pub(crate) fn new(theta: Theta, options: SgdOptions, step: f64) -> Self {
        Self { theta, scale: 1.0, updates: 0, seen: 0, step, rounding_error: 0.0, options }
    }

    fn step_now(&self) -> f64 {
        let t = self.seen as f64;
        match self.options.schedule {
            StepSchedule::Constant => self.step,
            StepSchedule::Power(p) => self.step * libm::pow(t + 1.0, -p),
            StepSchedule::Shrinking => self.step / (1.0 + self.step * self.options.l2 * t),
        }
    }

    /// Learns from one example with label y = ±1, whose loss counts `weight` times.
    #[inline]
    pub(crate) fn learn(&mut self, x: Row<'_>, y: f64, weight: f64) -> Descent {
        let score = self.theta.score(x);
        let agreement = y * score * self.scale;
        let pull = match self.options.loss {
            // Decided with the same care as by the perceptron.
            Loss::Perceptron => {
                let rule = MistakeRule::NonPositive;
                f64::from(u8::from(is_mistake(y * score, &self.theta, x, y, self.rounding_error, rule)))
            }
            loss => loss.pull(agreement),
        };
        let step = self.step_now();
        self.seen += 1;
        let shrunk = 1.0 - step * self.options.l2;
        self.scale *= shrunk;
        let added = step * pull * weight / self.scale;
        if added != 0.0 {
            self.theta.add(added * y, x);
            self.updates += 1;
        }
        Descent { agreement, shrunk, size: added * self.scale, added }
    }

    /// Whether a penalty pulls θ towards zero at every example.
    pub(crate) fn shrinks(&self) -> bool {
        self.options.l2 > 0.0
    }

    /// Whether s has become so small that sums with v would lose digits.
    pub(crate) fn must_fold(&self) -> bool {
        self.scale < 1e-3
    }

    /// Multiplies v by s and sets s to 1.
    pub(crate) fn fold(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.theta.multiply(scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::random::Random;
    use crate::train::{Bias, Learned, Learner, Order, Perceptron, Settings, train};
    use proptest::prelude::*;

    proptest! {
        /// The pull is the negative slope of the loss; at a kink it is 1.
        #[test]
        fn the_pull_is_minus_the_derivative(a in -30.0f64..30.0) {
            for loss in [Loss::Perceptron, Loss::Hinge, Loss::Log, Loss::Squared] {
                let h = 1e-5;
                prop_assume!(a.abs() > 2.0 * h && (a - 1.0).abs() > 2.0 * h);
                let slope = (loss.value(a + h) - loss.value(a - h)) / (2.0 * h);
                prop_assert!((slope + loss.pull(a)).abs() < 1e-4 * (1.0 + slope.abs()), "{loss:?} {a}");
            }
        }

        /// Against the plain form: a dense θ that is shrunk and averaged in full at every example.
        #[test]
        fn the_lazy_form_is_the_plain_form(
            seed: u64,
            n in 2usize..40,
            loss in prop_oneof![Just(Loss::Perceptron), Just(Loss::Hinge), Just(Loss::Log), Just(Loss::Squared)],
            schedule in prop_oneof![
                Just(StepSchedule::Constant),
                Just(StepSchedule::Power(0.5)),
                Just(StepSchedule::Shrinking)
            ],
            l2 in prop_oneof![Just(0.0), 1e-4f64..0.5],
            average: bool,
        ) {
            let mut random = Random::new(seed);
            let values: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
            let labels: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let (step, epochs) = (0.3, 3);
            let combine = if average { Combine::Average } else { Combine::Last };
            let options = SgdOptions { loss, schedule, step: Some(step), l2, combine };
            let settings = Settings {
                learner: Learner::Sgd(options),
                epochs,
                order: Order::Given,
                bias: Bias::Append(2.0),
                ..Settings::default()
            };
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let Learned::Linear(found) = &outcome.learned else { unreachable!() };

            let (mut theta, mut sum) = ([0.0f64; 4], [0.0f64; 4]);
            let mut t = 0;
            for _ in 0..epochs {
                let before = theta;
                for i in 0..n {
                    let x = [values[3 * i], values[3 * i + 1], values[3 * i + 2], 2.0];
                    let y = if i % 2 == 0 { -1.0 } else { 1.0 };
                    let a: f64 = y * (0..4).map(|j| theta[j] * x[j]).sum::<f64>();
                    let eta = match schedule {
                        StepSchedule::Constant => step,
                        StepSchedule::Power(p) => step / f64::from(t + 1).powf(p),
                        StepSchedule::Shrinking => step / (1.0 + step * l2 * f64::from(t)),
                    };
                    for j in 0..4 {
                        theta[j] = (1.0 - eta * l2) * theta[j] + eta * loss.pull(a) * y * x[j];
                        sum[j] += theta[j];
                    }
                    t += 1;
                }
                // A pass without an update ends the run, unless the penalty moves θ all the same.
                if before == theta && l2 == 0.0 {
                    break;
                }
            }
            let expected = if average { sum.map(|s| s / f64::from(t)) } else { theta };
            for (w, e) in found.weights.iter().chain([&found.bias]).zip(expected) {
                prop_assert!((w - e).abs() < 1e-9 * (1.0 + e.abs()), "{w} {e}");
            }
        }

        /// On the perceptron's loss with step 1 the learner is the perceptron, update for update. Whole
        /// numbers on a small grid, so that agreements of exactly zero abound.
        #[test]
        fn on_the_perceptrons_loss_it_is_the_perceptron(seed: u64, n in 1usize..30) {
            let mut random = Random::new(seed);
            let start = Theta::zero(2, 1.0);
            let mut perceptron = Perceptron::new(start.clone(), MistakeRule::NonPositive);
            let mut descent = Sgd::new(start, SgdOptions::of(Loss::Perceptron), 1.0);
            for _ in 0..5 * n {
                let x: Vec<f64> = (0..2).map(|_| random.below(5) as f64 - 2.0).collect();
                let y = if random.below(2) == 0 { 1.0 } else { -1.0 };
                let step = descent.learn(Row::DenseF64(&x), y, 1.0);
                let applied = perceptron.learn(Row::DenseF64(&x), y);
                prop_assert_eq!(applied, (step.size != 0.0).then_some(step.agreement));
                prop_assert_eq!(&descent.theta, &perceptron.theta);
            }
            prop_assert_eq!(descent.updates, perceptron.updates);
        }
    }
}

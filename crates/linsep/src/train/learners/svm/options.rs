//! The options of the support vector machine.

use super::{SvmLoss, learn};
use crate::numbers::counted;
use crate::observe::Observer;
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::evidence::{Detail, Evidence};
use crate::train::engine::fit::Fit;
use crate::train::engine::run::Task;
use crate::train::learners::registry::{
    Abilities, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::{Learner, Options};
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "svm",
    title: "support vector machine",
    summary: "The soft-margin support vector machine, solved to a proved gap: for optimal weights, when \
              time allows",
    options: &[
        OptionDescriptor {
            name: "loss",
            symbol: "LOSS",
            kind: OptionKind::Choice(&[
                Choice { name: "hinge", help: "max(0, 1−a)" },
                Choice { name: "squared-hinge", help: "max(0, 1−a)²" },
            ]),
            auto: None,
            default: "hinge",
            help: "the loss of a row with agreement a",
        },
        OptionDescriptor {
            name: "C",
            symbol: "C",
            kind: OptionKind::Number(C_RANGE),
            auto: None,
            default: "1",
            help: "the weight of the loss against regularisation",
        },
        OptionDescriptor {
            name: "gap",
            symbol: "SHARE",
            kind: OptionKind::Number(GAPS),
            auto: None,
            default: "0.001",
            help: "stop when the objective is proved to be within this relative gap of the optimum",
        },
    ],
    abilities: Abilities {
        widens_margin: true,
        soft_margin: true,
        always_converges: true,
        ..Abilities::ALL_ROWS
    },
    // Coordinate descent needs many passes for its gap, and makes them cheaper as it goes.
    usual_epochs: 1000,
    compared_up_to: None,
    usual: || Learner::Svm(SvmOptions::default()),
};

const C_RANGE: NumberRange = NumberRange::from_to(1e-100, 1e100);
const GAPS: NumberRange = NumberRange::between(0.0, 1.0);

/// The options of the support vector machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SvmOptions {
    /// The loss of a row that is right by less than 1.
    pub loss: SvmLoss,
    /// C, the weight of the loss against ½‖θ‖².
    pub c: f64,
    /// The run has converged when primal and dual objective are this close, relative to the primal.
    pub gap: f64,
}

impl Default for SvmOptions {
    fn default() -> Self {
        Self { loss: SvmLoss::default(), c: 1.0, gap: 1e-3 }
    }
}

impl Registered for SvmOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        let Detail::Svm { primal, dual, gap, support } = detail else { return None };
        Some(format!(
            "objective {primal:.6}, proved to be at least {dual:.6} for all weights (gap {gap:.1e}); {}",
            counted(*support, "support vector", "support vectors")
        ))
    }

    fn work(&self, size: &RunSize) -> Work {
        size.to_a_goal()
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        Ok(Learner::Svm(Self {
            loss: given.choice("loss").unwrap_or(self.loss),
            c: given.number("C").unwrap_or(self.c),
            gap: given.number("gap").unwrap_or(self.gap),
        }))
    }

    fn options(&self) -> Options {
        Options::new().with_choice("loss", self.loss).with("C", self.c).with("gap", self.gap)
    }

    fn validate(&self) -> Result<(), SettingsError> {
        if !C_RANGE.contains(self.c) {
            return Err(SettingsError::new(
                "C",
                format!("C must be a number {C_RANGE}: it is the weight of the loss in the objective"),
            ));
        }
        if !GAPS.contains(self.gap) {
            return Err(SettingsError::new(
                "gap",
                format!(
                    "the gap must be {GAPS}: it is relative to the objective; rounding hides smaller gaps, \
                     and zero weights have a gap of 1"
                ),
            ));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let loss = match self.loss {
            SvmLoss::Hinge => "hinge",
            SvmLoss::SquaredHinge => "squared hinge",
        };
        format!("support vector machine, {loss} loss, C = {}", self.c)
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        Ok(Some(learn(task, task.weights.as_deref(), settings, self, observer)))
    }
}

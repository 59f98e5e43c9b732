//! The passive–aggressive learner (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006).
//!
//! *Passive* while a row is right by 1 at least. Otherwise *aggressive*: θ moves by the least that makes it so,
//! θ += τ z with τ = (1 − a)/‖z‖². So that one wrong label does not undo everything, PA-I lets no step exceed C, and
//! PA-II makes each step smaller: τ = (1 − a)/(‖z‖² + 1/(2C)).

use crate::SettingsError;
use crate::dataset::Row;
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::row_rule::{Memory, RowRule, Start, Step};
use crate::train::learners::registry::{
    Abilities, Ability, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::{Combine, Core, Learner, Options};
use crate::train::settings::Settings;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "passive-aggressive",
    title: "passive–aggressive learner",
    summary: "Makes the smallest change of the weights that gives each row a margin of 1: for streams whose \
              classes drift",
    options: &[
        OptionDescriptor {
            name: "aggression",
            symbol: "AGGRESSION",
            kind: OptionKind::Choice(&[
                Choice { name: "full", help: "PA: as far as needed" },
                Choice { name: "capped", help: "PA-I: as far as needed, at most C" },
                Choice { name: "softened", help: "PA-II: less far, regularised by C" },
            ]),
            auto: None,
            default: "capped",
            help: "how far one row may move the weights",
        },
        OptionDescriptor {
            name: "C",
            symbol: "C",
            kind: OptionKind::Number(LIMITS),
            auto: None,
            default: "1",
            help: "the longest step",
        },
        Combine::option("average"),
    ],
    abilities: Abilities {
        start_at_first_row: Ability::No("it has steps of its own; ⟦init=first⟧ is for perceptrons"),
        ..Abilities::ROW_BY_ROW
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::PassiveAggressive(PassiveAggressiveOptions::default()),
};

const LIMITS: NumberRange = NumberRange::from_to(1e-100, 1e100);

/// How far a row may move the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggression {
    /// PA: as far as needed.
    Full,
    /// PA-I: as far as needed, and at most C.
    #[default]
    Capped,
    /// PA-II: less far, regularised by C.
    Softened,
}

/// The options of the passive–aggressive learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassiveAggressiveOptions {
    /// How aggressive.
    pub aggression: Aggression,
    /// C; has no meaning for full aggression.
    pub c: f64,
    /// How the θ of the run are combined.
    pub combine: Combine,
}

impl Default for PassiveAggressiveOptions {
    fn default() -> Self {
        Self { aggression: Aggression::default(), c: 1.0, combine: Combine::Average }
    }
}

impl Registered for PassiveAggressiveOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn row_rule(&self, _: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(PassiveAggressive::new(start.theta, *self).into())
    }

    fn combine(&self) -> Combine {
        self.combine
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let aggression = given.choice("aggression").unwrap_or(self.aggression);
        if aggression == Aggression::Full && given.get("C").is_some() {
            return Err(SettingsError::new(
                "C",
                "⟦C⟧ does not apply with ⟦aggression=full⟧, which moves the weights as far as needed",
            ));
        }
        Ok(Learner::PassiveAggressive(Self {
            aggression,
            c: given.number("C").unwrap_or(self.c),
            combine: given.choice("combine").unwrap_or(self.combine),
        }))
    }

    fn options(&self) -> Options {
        let options =
            Options::new().with_choice("aggression", self.aggression).with_choice("combine", self.combine);
        match self.aggression {
            Aggression::Full => options,
            Aggression::Capped | Aggression::Softened => options.with("C", self.c),
        }
    }

    fn describe(&self) -> String {
        let form = match self.aggression {
            Aggression::Full => "PA".to_string(),
            Aggression::Capped => format!("PA-I, C = {}", self.c),
            Aggression::Softened => format!("PA-II, C = {}", self.c),
        };
        format!("passive–aggressive, {form}{}", self.combine.words())
    }

    fn abilities(&self) -> Abilities {
        let weights = match self.aggression {
            Aggression::Full => Ability::No(
                "it fits every row completely, whatever its weight; choose ⟦aggression=capped⟧ or softened",
            ),
            Aggression::Capped | Aggression::Softened => Ability::Yes,
        };
        Abilities { weights, ..DESCRIPTOR.abilities }
    }

    fn validate(&self) -> Result<(), SettingsError> {
        if !LIMITS.contains(self.c) {
            return Err(SettingsError::new(
                "C",
                format!(
                    "C is {}; it must be above 0 ({LIMITS}): it limits how far one row can move the weights",
                    self.c
                ),
            ));
        }
        self.combine.refuse_votes()
    }
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PassiveAggressive {
    pub(crate) theta: Theta,
    pub(crate) updates: u64,
    /// What an agreement may be off by: losses no larger are none.
    pub(crate) rounding_error: f64,
    options: PassiveAggressiveOptions,
}

impl PassiveAggressive {
    pub(crate) fn new(theta: Theta, options: PassiveAggressiveOptions) -> Self {
        Self { theta, updates: 0, rounding_error: 0.0, options }
    }

    /// Learns from one example with label y = ±1; its weight multiplies C. Gives the agreement from before and τ.
    #[inline]
    pub(crate) fn learn(&mut self, x: Row<'_>, y: f64, weight: f64) -> Option<(f64, f64)> {
        let agreement = y * self.theta.score(x);
        let loss = 1.0 - agreement;
        if loss <= self.rounding_error {
            return None;
        }
        let squared = self.theta.extended_norm_squared(x);
        let c = self.options.c * weight;
        let tau = match self.options.aggression {
            // Nothing makes a zero row right.
            _ if squared == 0.0 => return None,
            Aggression::Full => loss / squared,
            Aggression::Capped => (loss / squared).min(c),
            Aggression::Softened => loss / (squared + 0.5 / c),
        };
        if tau == 0.0 {
            return None;
        }
        self.theta.add(tau * y, x);
        self.updates += 1;
        Some((agreement, tau))
    }
}

impl RowRule for PassiveAggressive {
    #[inline]
    fn parts(&self) -> (&Theta, &u64) {
        (&self.theta, &self.updates)
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut Theta, &mut u64) {
        (&mut self.theta, &mut self.updates)
    }

    #[inline]
    fn step(&mut self, row: Row<'_>, y: f64, weight: f64, _: &mut Memory, _: &mut MistakeLedger) -> Step {
        self.learn(row, y, weight).map_or(Step::NONE, |(agreement, tau)| Step::of(agreement, tau))
    }

    #[inline]
    fn measure(&mut self, _: f64, rounding_error: f64) {
        self.rounding_error = rounding_error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What each form promises of the row it has just learned, on the very numbers.
        #[test]
        fn one_step_does_what_it_says(
            start in prop::collection::vec(-5.0f64..5.0, 3),
            x in prop::collection::vec(-5.0f64..5.0, 3),
            positive: bool,
            c in 1e-3f64..1e3,
        ) {
            let (row, y) = (Row::DenseF64(&x), if positive { 1.0 } else { -1.0 });
            let theta = Theta { weights: start, bias: 0.5, bias_input: 1.0 };
            let before = y * theta.score(row);
            let squared = theta.extended_norm_squared(row);
            for aggression in [Aggression::Full, Aggression::Capped, Aggression::Softened] {
                let options = PassiveAggressiveOptions { aggression, c, combine: Combine::Last };
                let mut learner = PassiveAggressive::new(theta.clone(), options);
                let step = learner.learn(row, y, 1.0);
                prop_assert_eq!(step.is_some(), before < 1.0);
                let Some((agreement, tau)) = step else { continue };
                prop_assert_eq!(agreement, before);
                let after = y * learner.theta.score(row);
                prop_assert!((after - (before + tau * squared)).abs() < 1e-9 * (1.0 + after.abs() + before.abs()));
                let full = (1.0 - before) / squared;
                match aggression {
                    Aggression::Full => prop_assert!((after - 1.0).abs() < 1e-9 * (1.0 + before.abs())),
                    Aggression::Capped => prop_assert_eq!(tau, full.min(c)),
                    // The minimiser of ½‖θ − θ₀‖² + C·loss²: its derivative along z vanishes.
                    Aggression::Softened => {
                        prop_assert!((tau - 2.0 * c * (1.0 - after)).abs() < 1e-7 * (1.0 + c) * (1.0 + before.abs()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_zero_row_and_a_zero_weight_teach_nothing() {
        let zero = [0.0, 0.0];
        let mut learner = PassiveAggressive::new(Theta::zero(2, 0.0), PassiveAggressiveOptions::default());
        assert_eq!(learner.learn(Row::DenseF64(&zero), 1.0, 1.0), None);
        assert_eq!(learner.learn(Row::DenseF64(&[1.0, 2.0]), 1.0, 0.0), None);
    }
}

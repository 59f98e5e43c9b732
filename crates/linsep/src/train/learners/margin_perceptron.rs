//! The margin perceptron: a row that is right by too little counts as a mistake too.
//!
//! The best threshold depends on the unknown γ*. There are three rules:
//!
//! - *dynamic*: a_t/‖θ‖ ≤ (1−ε)‖θ_k‖/k after k updates. Since ‖θ_k‖/k ≥ γ* at every moment, a pass without an update
//!   means that the margin of θ is above (1−ε)γ* (Panagiotakopoulos and Tsampouka, arXiv 1105.6041);
//! - *fixed*: a_t ≤ β‖θ‖. Ends with margin above β, if β < γ*; otherwise never;
//! - *threshold*: a_t ≤ b. After at most (R² + 2b)/γ*² updates, with margin at least γ*·b/(R² + 2b).

use crate::SettingsError;
use crate::dataset::Row;
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::row_rule::{Memory, RowRule, Start, Step};
use crate::train::learners::registry::{
    Abilities, Ability, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered,
};
use crate::train::learners::{Core, Learner, Options};
use crate::train::settings::Settings;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "margin",
    title: "margin perceptron",
    summary: "Also learns from rows with too small a margin: for separable data, when a nearly optimal \
              margin is wanted",
    options: &[
        OptionDescriptor {
            name: "epsilon",
            symbol: "ε",
            kind: OptionKind::Number(EPSILONS),
            auto: None,
            default: "0.1",
            help: "reach at least 1−ε of the best margin",
        },
        OptionDescriptor {
            name: "beta",
            symbol: "β",
            kind: OptionKind::Number(THRESHOLDS),
            auto: None,
            default: "",
            help: "instead, learn from rows closer than β to the boundary",
        },
        OptionDescriptor {
            name: "agreement",
            symbol: "b",
            kind: OptionKind::Number(THRESHOLDS),
            auto: None,
            default: "",
            help: "instead, learn from rows with an agreement up to b",
        },
    ],
    abilities: Abilities {
        shards: Ability::No("its margin guarantee holds for a single run, not for a mixture"),
        weights: Ability::No("its margin guarantee needs steps of equal size"),
        ..Abilities::ROW_BY_ROW
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Margin(MarginRule::default()),
};

const EPSILONS: NumberRange = NumberRange::between(0.0, 1.0);
const THRESHOLDS: NumberRange = NumberRange::from_to(0.0, 1e140);

/// When a row is right by too little.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarginRule {
    /// a ≤ (1−ε)‖θ_k‖²/k
    Dynamic {
        /// ε in (0, 1)
        epsilon: f64,
    },
    /// a ≤ β‖θ‖
    Fixed {
        /// β ≥ 0
        beta: f64,
    },
    /// a ≤ b
    Threshold {
        /// b ≥ 0
        b: f64,
    },
}

impl Default for MarginRule {
    fn default() -> Self {
        MarginRule::Dynamic { epsilon: 0.1 }
    }
}

impl Registered for MarginRule {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn row_rule(&self, _: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(MarginPerceptron::new(start.theta, *self).into())
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let rule = match (given.number("epsilon"), given.number("beta"), given.number("agreement")) {
            (None, None, None) => *self,
            (Some(epsilon), None, None) => MarginRule::Dynamic { epsilon },
            (None, Some(beta), None) => MarginRule::Fixed { beta },
            (None, None, Some(b)) => MarginRule::Threshold { b },
            (_, Some(_), _) => return Err(one_rule("beta")),
            _ => return Err(one_rule("agreement")),
        };
        Ok(Learner::Margin(rule))
    }

    fn options(&self) -> Options {
        match *self {
            MarginRule::Dynamic { epsilon } => Options::new().with("epsilon", epsilon),
            MarginRule::Fixed { beta } => Options::new().with("beta", beta),
            MarginRule::Threshold { b } => Options::new().with("agreement", b),
        }
    }

    fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field, reason: String| Err(SettingsError::new(field, reason));
        match *self {
            MarginRule::Dynamic { epsilon } if !EPSILONS.contains(epsilon) => refuse(
                "epsilon",
                format!(
                    "epsilon is {epsilon}; it must be {EPSILONS}: the run ends with at least 1 − epsilon of \
                     the best margin"
                ),
            ),
            MarginRule::Fixed { beta } if !THRESHOLDS.contains(beta) => refuse(
                "beta",
                format!(
                    "beta is {beta}; it must be a number {THRESHOLDS}: it is the margin that every row is to have, in \
                     the units of the rows"
                ),
            ),
            MarginRule::Threshold { b } if !THRESHOLDS.contains(b) => refuse(
                "agreement",
                format!(
                    "the agreement is {b}; it must be a number {THRESHOLDS}: below 0 even mistakes would not count"
                ),
            ),
            _ => Ok(()),
        }
    }

    fn describe(&self) -> String {
        match self {
            MarginRule::Dynamic { epsilon } => format!("margin perceptron, dynamic, ε = {epsilon}"),
            MarginRule::Fixed { beta } => format!("margin perceptron, fixed β = {beta}"),
            MarginRule::Threshold { b } => format!("margin perceptron, threshold b = {b}"),
        }
    }

    fn abilities(&self) -> Abilities {
        let needs_zero = Ability::No(
            "the dynamic margin needs a start at zero: only then is ‖θ‖ divided by the number of updates at least the \
             best margin",
        );
        match self {
            MarginRule::Dynamic { .. } => {
                Abilities { start: needs_zero, start_at_first_row: needs_zero, ..DESCRIPTOR.abilities }
            }
            _ => DESCRIPTOR.abilities,
        }
    }
}

fn one_rule(field: &'static str) -> SettingsError {
    SettingsError::new(
        field,
        "⟦epsilon⟧, ⟦beta⟧ and ⟦agreement⟧ are three alternative rules for when a margin is too small: \
         choose one",
    )
}

impl MarginRule {
    /// Agreements up to this are too little for a θ of this squared norm, made by so many updates.
    #[inline]
    fn threshold(&self, norm_squared: f64, updates: u64) -> f64 {
        match *self {
            MarginRule::Dynamic { .. } if updates == 0 => 0.0,
            MarginRule::Dynamic { epsilon } => (1.0 - epsilon) * (norm_squared / updates as f64),
            MarginRule::Fixed { beta } => beta * norm_squared.sqrt(),
            MarginRule::Threshold { b } => b,
        }
    }
}

/// A perceptron that also learns from rows which are right by too little.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MarginPerceptron {
    pub(crate) theta: Theta,
    pub(crate) updates: u64,
    /// Agreements up to this count as mistakes.
    threshold: f64,
    rule: MarginRule,
}

impl MarginPerceptron {
    pub(crate) fn new(theta: Theta, rule: MarginRule) -> Self {
        Self { theta, updates: 0, threshold: rule.threshold(0.0, 0), rule }
    }

    /// Learns from one example, as the perceptron does.
    #[inline]
    pub(crate) fn learn(&mut self, x: Row<'_>, y: f64) -> Option<f64> {
        let agreement = y * self.theta.score(x);
        if agreement > self.threshold {
            return None;
        }
        self.theta.add(y, x);
        self.updates += 1;
        Some(agreement)
    }
}

impl RowRule for MarginPerceptron {
    #[inline]
    fn parts(&self) -> (&Theta, &u64) {
        (&self.theta, &self.updates)
    }

    #[inline]
    fn parts_mut(&mut self) -> (&mut Theta, &mut u64) {
        (&mut self.theta, &mut self.updates)
    }

    #[inline]
    fn step(&mut self, row: Row<'_>, y: f64, _: f64, _: &mut Memory, _: &mut MistakeLedger) -> Step {
        self.learn(row, y).map_or(Step::NONE, |agreement| Step::of(agreement, 1.0))
    }

    /// Sets what is too little from now on. `rounding_error` is what an agreement may be off by: it is asked on top, so that a
    /// row that is no mistake is none for certain.
    #[inline]
    fn measure(&mut self, norm_squared: f64, rounding_error: f64) {
        self.threshold = self.rule.threshold(norm_squared, self.updates) + rounding_error;
    }
}

#[cfg(test)]
mod tests {
    use crate::dataset::Dataset;
    use crate::theory::margin::Extent;
    use crate::train::{Bias, Learner, MarginRule, Settings, Status, train};
    use proptest::prelude::*;

    /// Rows on both sides of a plane through the origin, at the given distance at least, at any scale.
    fn separable() -> impl Strategy<Value = Dataset> {
        (
            prop::collection::vec((prop::collection::vec(-9i32..10, 2), 1i32..6, any::<bool>()), 2..25),
            -30i32..30,
        )
            .prop_map(|(rows, power)| {
                let scale = 2f64.powi(power) / 3.0;
                let (mut values, mut labels) = (Vec::new(), Vec::new());
                for (i, (along, away, up)) in rows.iter().enumerate() {
                    // The first two rows are of different classes.
                    let up = if i < 2 { i == 0 } else { *up };
                    values.extend(along.iter().map(|&x| f64::from(x) * scale));
                    values.push(f64::from(if up { *away } else { -away }) * scale);
                    labels.push(if up { "1" } else { "0" });
                }
                Dataset::dense(3, &values, &labels).unwrap()
            })
    }

    fn settings(rule: MarginRule) -> Settings {
        Settings { learner: Learner::Margin(rule), bias: Bias::None, epochs: 200_000, ..Settings::default() }
    }

    proptest! {
        /// The promise of the dynamic margin, on certified numbers: lower end ≥ (1−ε) upper end ≥ (1−ε)γ*.
        #[test]
        fn the_dynamic_margin_keeps_its_promise(data in separable(), epsilon in 0.1f64..0.9) {
            let outcome = train(&data, &settings(MarginRule::Dynamic { epsilon }), &mut ()).unwrap();
            prop_assert_eq!(outcome.status, Status::Converged);
            let margin = outcome.evidence.margin;
            prop_assert!(margin.lower.unwrap() >= (1.0 - epsilon) * margin.upper * (1.0 - 1e-9), "{margin:?}");
        }

        /// The threshold: updates at most (R² + 2b)/γ*², margin at least γ*·b/(R² + 2b), for the γ* in the interval.
        #[test]
        fn the_threshold_keeps_its_promise(data in separable(), share in 0.0f64..3.0) {
            let extent = Extent::of(&data, 0.0);
            let b = share * extent.radius_upper.powi(2);
            let outcome = train(&data, &settings(MarginRule::Threshold { b }), &mut ()).unwrap();
            prop_assert_eq!(outcome.status, Status::Converged);
            let margin = outcome.evidence.margin;
            let (lower, most) = (margin.lower.unwrap(), extent.radius_upper.powi(2) + 2.0 * b);
            prop_assert!(outcome.evidence.updates as f64 <= most / lower.powi(2) * (1.0 + 1e-9));
            prop_assert!(lower * (1.0 + 1e-9) >= lower * b / most);
            // With γ* itself, as near as another learner gets to it from below.
            let near = train(&data, &settings(MarginRule::Dynamic { epsilon: 0.1 }), &mut ()).unwrap();
            let gamma = near.evidence.margin.lower.unwrap();
            prop_assert!(outcome.evidence.updates as f64 <= most / gamma.powi(2) * (1.0 + 1e-9));
            prop_assert!(lower * (1.0 + 1e-9) >= gamma * b / most, "{lower} {gamma} {b} {most}");
        }

        /// A fixed margin below γ* is reached.
        #[test]
        fn a_fixed_margin_is_reached(data in separable(), share in 0.0f64..0.8) {
            let near = train(&data, &settings(MarginRule::Dynamic { epsilon: 0.1 }), &mut ()).unwrap();
            let beta = share * near.evidence.margin.lower.unwrap();
            let outcome = train(&data, &settings(MarginRule::Fixed { beta }), &mut ()).unwrap();
            prop_assert_eq!(outcome.status, Status::Converged);
            prop_assert!(outcome.evidence.margin.lower.unwrap() >= beta * (1.0 - 1e-9));
        }
    }

    #[test]
    fn a_fixed_margin_above_the_best_is_never_reached() {
        let data = Dataset::dense(1, &[1.0, -1.0], &["1", "0"]).unwrap();
        let reached = |beta| {
            let settings = Settings { epochs: 50, ..settings(MarginRule::Fixed { beta }) };
            train(&data, &settings, &mut ()).unwrap().status
        };
        assert_eq!((reached(0.99), reached(1.01)), (Status::Converged, Status::EpochLimit));
    }
}

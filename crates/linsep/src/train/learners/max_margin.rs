//! The max-margin separator (hard margin): the boundary that is furthest from the nearest row.
//!
//! The weights are the nearest point of the hull of the rows z to the origin, found and proved by the engine of
//! [`separate`](crate::separate). Data that is not completely separable has no such boundary: then the run ends with
//! [`Status::NoMargin`], or with [`Status::Undecided`] where a limit came first, and there is no model.

use crate::numbers::counted;
use crate::observe::Observer;
use crate::separate::{self, Examples, Verdict};
use crate::theory::margin::lower_bound;
use crate::theta::Theta;
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::evidence::Detail;
use crate::train::engine::evidence::Evidence;
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::{Status, Task};
use crate::train::learners::registry::{
    Abilities, Ability, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered, RowLimit,
};
use crate::train::learners::{Learner, Options};
use crate::train::settings::{Bias, Settings};
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "max-margin",
    title: "max-margin separator",
    summary: "Finds the boundary with the largest margin, with a proof: for separable data",
    options: &[OptionDescriptor {
        name: "gap",
        symbol: "SHARE",
        kind: OptionKind::Number(GAPS),
        auto: None,
        default: "0.000001",
        help: "stop when the margin is proved to be within this relative gap of the best",
    }],
    abilities: Abilities {
        widens_margin: true,
        weights: Ability::No("its margin is that of the nearest row, whatever its weight"),
        always_converges: true,
        ..Abilities::ALL_ROWS
    },
    // Descent over data with many features needs many passes for its gap.
    usual_epochs: 1000,
    compared_up_to: Some(RowLimit { rows: 20_000, reason: "an exact decision is slow" }),
    usual: || Learner::MaxMargin(MaxMarginOptions { gap: 1e-6 }),
};

const GAPS: NumberRange = NumberRange::from_below(1e-15, 1.0);

/// The options of the max-margin separator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxMarginOptions {
    /// The margin is proved to be within this share of the best.
    pub gap: f64,
}

impl Default for MaxMarginOptions {
    fn default() -> Self {
        Self { gap: 1e-6 }
    }
}

impl Registered for MaxMarginOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        match detail {
            Detail::MaxMargin { gap, support } => Some(format!(
                "the margin of the weights is proved to be within {gap:.1e} of the best; {}",
                counted(*support, "support vector", "support vectors")
            )),
            Detail::NoMargin { class, other, verdict } => Some(no_margin(class, other.as_deref(), *verdict)),
            _ => None,
        }
    }

    fn work(&self, size: &RunSize) -> Work {
        size.to_a_goal()
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        Ok(Learner::MaxMargin(Self { gap: given.number("gap").unwrap_or(self.gap) }))
    }

    fn options(&self) -> Options {
        Options::new().with("gap", self.gap)
    }

    fn validate(&self) -> Result<(), SettingsError> {
        if !GAPS.contains(self.gap) {
            let gap = self.gap;
            let problem =
                format!("the gap is {gap}; it must be a number {GAPS}: it is relative to the margin");
            return Err(SettingsError::new("gap", problem));
        }
        Ok(())
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        learn(task, settings, self, observer).map(Some)
    }
}

/// Finds the separator, or proves that there is none.
pub(crate) fn learn(
    task: &Task<'_>,
    settings: &Settings,
    options: &MaxMarginOptions,
    observer: &mut dyn Observer,
) -> Result<Fit, Error> {
    let bias = match settings.bias {
        Bias::None => separate::Bias::None,
        Bias::Append(value) => separate::Bias::Append(value),
    };
    let examples = Examples::with_signs(task.data, task.signs.clone(), bias);
    let wanted = separate::SeparateSettings {
        bias,
        gap: Some(options.gap),
        max_seconds: settings.max_seconds,
        max_passes: Some(settings.epochs),
        seed: settings.seed,
        ..separate::SeparateSettings::default()
    };
    let found = separate::decide(&examples, &task.classes, &wanted, observer)?;
    let (Verdict::Complete, Some(theta)) = (found.verdict, found.weights) else {
        let decided = matches!(found.verdict, Verdict::QuasiComplete | Verdict::Overlap);
        return Ok(Fit {
            learned: Learned::Linear(Theta::zero(task.data.columns(), settings.bias.input())),
            status: if decided { Status::NoMargin } else { Status::Undecided },
            epochs: found.passes,
            updates: 0,
            candidates: Vec::new(),
            margin_upper: Some(found.margin.upper),
            space: None,
            detail: Some(Detail::NoMargin {
                class: task.classes.positive.clone(),
                other: task.classes.negative.only().cloned(),
                verdict: found.verdict,
            }),
        });
    };
    // What the weights prove after they have been rounded to floats.
    let upper = found.margin.upper;
    let lower = lower_bound(task.data, &task.signs, &theta).unwrap_or(0.0);
    let gap = (upper - lower) / upper;
    let support = found.support as u64;
    Ok(Fit {
        learned: Learned::Linear(theta),
        // Weights as floats may keep less than was found.
        status: match found.out_of_time {
            _ if gap <= options.gap => Status::Converged,
            true => Status::TimeLimit,
            false => Status::EpochLimit,
        },
        epochs: found.passes,
        updates: support,
        candidates: Vec::new(),
        margin_upper: Some(upper),
        space: None,
        detail: Some(Detail::MaxMargin { gap, support }),
    })
}

/// Why no boundary has a margin.
fn no_margin(class: &str, other: Option<&str>, verdict: Verdict) -> String {
    let reason = match verdict {
        Verdict::QuasiComplete => {
            "no boundary separates these rows with a margin: those without a wrong side go through some of the rows \
             (quasi-complete separation)"
        }
        Verdict::Overlap => "no boundary separates these rows: the classes overlap",
        Verdict::Complete | Verdict::Undecided => {
            "whether a boundary separates these rows was not decided within the limits"
        }
    };
    format!("{class} against {}: {reason}", other.unwrap_or("the rest"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;
    use crate::random::Random;
    use crate::train::{Learner, SvmLoss, SvmOptions, train};

    fn settings() -> Settings {
        Settings { learner: Learner::MaxMargin(MaxMarginOptions::default()), ..Settings::default() }
    }

    #[test]
    fn the_widest_street_between_two_points() {
        // Without a bias the best margin of z = (1, 0) and (0, 1) is the distance 1/√2 of their segment.
        let data = Dataset::dense(2, &[1.0, 0.0, 0.0, -1.0], &["1", "0"]).unwrap();
        let outcome = train(&data, &Settings { bias: Bias::None, ..settings() }, &mut ()).unwrap();
        let margin = outcome.evidence.margin;
        let (lower, upper) = (margin.lower.unwrap(), margin.upper);
        assert!(lower <= 0.5f64.sqrt() && 0.5f64.sqrt() <= upper && upper - lower < 1e-12, "{margin:?}");
        assert_eq!(outcome.status, Status::Converged);
    }

    /// Rows on both sides of a street, as wide as `gap` at least.
    fn street(seed: u64, n: usize, d: usize, gap: f64) -> Dataset {
        let random = &mut Random::stream(seed, 9);
        let w: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let mut row: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let level = row.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() / norm;
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            let step = sign * (level.abs() + gap) - level;
            row.iter_mut().zip(&w).for_each(|(x, w)| *x += step * w / norm);
            values.extend(row);
            labels.push(if sign > 0.0 { "1" } else { "0" });
        }
        Dataset::dense(d, &values, &labels).unwrap()
    }

    fn theta(outcome: crate::train::Outcome) -> crate::Theta {
        match outcome.learned {
            Learned::Linear(theta) => theta,
            other => panic!("{other:?}"),
        }
    }

    /// The margin of the rounded weights is that of the engine, and both are proved.
    #[test]
    fn the_margin_is_that_of_the_engine() {
        for seed in 0..30 {
            let (n, d) = (2 + (seed as usize * 7) % 40, 1 + (seed as usize) % 6);
            let data = street(seed, n, d, 0.05);
            for bias in [Bias::None, Bias::Append(1.0), Bias::Append(3.0)] {
                let outcome = train(&data, &Settings { bias, ..settings() }, &mut ()).unwrap();
                assert_eq!(outcome.status, Status::Converged);
                let margin = outcome.evidence.margin;
                let wanted = separate::SeparateSettings {
                    bias: match bias {
                        Bias::None => separate::Bias::None,
                        Bias::Append(value) => separate::Bias::Append(value),
                    },
                    gap: Some(1e-12),
                    ..separate::SeparateSettings::default()
                };
                let classes =
                    crate::classes::ClassPair { positive: "1".into(), negative: vec!["0".into()].into() };
                let exact =
                    separate::separate(&data, &wanted.with_classes(&classes), &mut ()).unwrap().margin;
                let (lower, upper) = (margin.lower.unwrap(), margin.upper);
                assert!(
                    lower <= exact.upper && exact.lower.unwrap() <= upper,
                    "{seed}: {margin:?} {exact:?}"
                );
                assert!(upper - lower <= 1.1e-6 * upper, "{seed}: {margin:?}");
                // No other weights near these have a wider street.
                let theta = theta(outcome);
                let signs: Vec<i8> = data
                    .labels()
                    .iter()
                    .map(|&l| if data.classes()[l as usize] == "1" { 1 } else { -1 })
                    .collect();
                let random = &mut Random::stream(seed, 10);
                for _ in 0..20 {
                    let mut other = theta.clone();
                    other.weights.iter_mut().for_each(|w| *w += 0.01 * random.normal());
                    other.bias += if bias == Bias::None { 0.0 } else { 0.01 * random.normal() };
                    let found = lower_bound(&data, &signs, &other).unwrap_or(0.0);
                    assert!(found <= upper, "{seed}: {found} is above {upper}");
                }
            }
        }
    }

    /// A soft margin whose losses cost enough is the hard one: the same direction, and 1/‖θ‖ is the margin.
    #[test]
    fn a_support_vector_machine_with_a_large_price_agrees() {
        for seed in 0..8 {
            let data = street(100 + seed, 24, 1 + seed as usize % 4, 0.3);
            let hard = train(&data, &settings(), &mut ()).unwrap();
            let svm = SvmOptions { loss: SvmLoss::Hinge, c: 1e6, gap: 1e-9 };
            let soft = Settings { learner: Learner::Svm(svm), epochs: 1_000_000, ..Settings::default() };
            let soft = train(&data, &soft, &mut ()).unwrap();
            assert_eq!(soft.status, Status::Converged);
            let margin = hard.evidence.margin.upper;
            let (hard, soft) = (theta(hard), theta(soft));
            let all = |theta: &crate::Theta| -> Vec<f64> {
                theta.weights.iter().copied().chain([theta.bias]).collect()
            };
            let (hard, soft) = (all(&hard), all(&soft));
            let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
            let inner: f64 = hard.iter().zip(&soft).map(|(a, b)| a * b).sum();
            let cosine = inner / (norm(&hard) * norm(&soft));
            assert!(cosine > 1.0 - 1e-6, "{seed}: the cosine is {cosine}");
            assert!((norm(&soft) * margin - 1.0).abs() < 1e-3, "{seed}: {} {margin}", norm(&soft));
        }
    }

    #[test]
    fn no_margin_is_no_model() {
        let data = Dataset::dense(1, &[1.0, 1.0], &["1", "0"]).unwrap();
        let outcome = train(&data, &settings(), &mut ()).unwrap();
        assert_eq!((outcome.status, outcome.status.has_model()), (Status::NoMargin, false));
        let overlap =
            Detail::NoMargin { class: "1".into(), other: Some("0".into()), verdict: Verdict::Overlap };
        assert_eq!(outcome.evidence.detail, Some(overlap));
        assert_eq!(outcome.evidence.margin.upper, 0.0);
    }
}

//! The best separator of few training rows: Novikoff's theorem promises most with the largest margin, and the exact engine finds that
//! one, or proves that there is none.

use crate::Error;
use crate::dataset::Dataset;
use crate::separate::Verdict;
use crate::theory::margin::{MarginInterval, MarginKind};
use crate::theory::novikoff::{MistakeBound, mistake_bound};
use crate::train::{ClassRows, Outcome, Settings, decide_classes};
use serde::Serialize;

/// The engine is asked where rows × coordinates are at most this, over all boundaries, and this times the smaller of both is at most
/// [`MAX_WORK`]: up to there it takes a few milliseconds.
const MAX_NUMBERS: usize = 20_000;
/// See [`MAX_NUMBERS`].
const MAX_WORK: usize = 600_000;
/// Seconds after which it gives up: for numbers of sizes so different that exact arithmetic with them is slow.
const MAX_SECONDS: f64 = 1.0;

/// What is proved about all weights on few training rows of a perceptron, whatever its run found.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BestMargin {
    /// Whether some weights separate the rows: of several classes, each from the rest, or all at once as the learner has them.
    pub verdict: Verdict,
    /// The best margin: within the interval that the run proves.
    pub margin: MarginInterval,
    /// The bound on the mistakes of every perceptron from zero that follows.
    pub mistake_bound: MistakeBound,
}

impl BestMargin {
    /// The best margin of the rows of a run. None where they are too many or count differently, and where the learner is no perceptron,
    /// whose updates are not the mistakes that the theorem counts.
    pub(super) fn of(data: &Dataset, outcome: &Outcome) -> Result<Option<Self>, Error> {
        let (evidence, settings) = (&outcome.evidence, &outcome.settings);
        let kind = evidence.margin.kind;
        let classes = outcome.classes.outcomes().len();
        let (rows, coordinates) = (data.len(), data.columns() + 1);
        let (boundaries, rows, coordinates) = match kind {
            MarginKind::ThroughOrigin | MarginKind::AppendedBias => (1, rows, coordinates),
            MarginKind::OneAgainstRest => (classes, rows, coordinates),
            // Each row against each other class, in the coordinates of all classes.
            MarginKind::MultiClass if classes > 2 => {
                (1, rows.saturating_mul(classes - 1), coordinates.saturating_mul(classes))
            }
            _ => return Ok(None),
        };
        let numbers = boundaries.saturating_mul(rows).saturating_mul(coordinates);
        let is_small = numbers <= MAX_NUMBERS && numbers * rows.min(coordinates) <= MAX_WORK;
        if !is_small || !settings.learner.abilities().counts_mistakes || evidence.weighted {
            return Ok(None);
        }
        let places = outcome.classes.outcomes_of(data.classes());
        let labels: Option<Vec<u32>> =
            data.labels().iter().map(|&label| Some(places[label as usize]? as u32)).collect();
        let Some(labels) = labels else { return Ok(None) };
        let tasks: Vec<(Vec<u32>, usize)> = match kind {
            MarginKind::OneAgainstRest => (0..classes as u32)
                .map(|class| (labels.iter().map(|&label| u32::from(label == class)).collect(), 2))
                .collect(),
            _ => vec![(labels, classes)],
        };
        let settings = Settings { max_seconds: Some(MAX_SECONDS), ..settings.clone() };
        let mut margin = MarginInterval { lower: Some(f64::MAX), ..evidence.margin };
        let mut verdict = Verdict::Complete;
        for (labels, classes) in tasks {
            let rows = ClassRows { data, labels: &labels, classes, weights: None, extent: evidence.extent };
            let found = decide_classes(&rows, &settings, &mut ())?;
            verdict = match (verdict, found.verdict) {
                (_, Verdict::Undecided) => return Ok(None),
                (Verdict::Overlap, _) | (_, Verdict::Complete) => verdict,
                (_, worse) => worse,
            };
            margin.upper = margin.upper.min(found.margin.upper);
            margin.lower = margin.lower.zip(found.margin.lower).map(|(a, b)| a.min(b));
        }
        margin.lower = margin.lower.filter(|_| verdict == Verdict::Complete);
        margin.narrow(&evidence.margin);
        Ok(Some(Self { verdict, margin, mistake_bound: mistake_bound(&evidence.extent, &margin) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::train::Status;
    use crate::random::Random;
    use crate::train::{Bias, Init, Learner, Order, train};

    /// Random rows of few whole numbers, so that many data sets touch, repeat rows or overlap, at any scale.
    fn rows(random: &mut Random, classes: usize) -> Dataset {
        let (count, columns) = (2 + random.below(14) as usize, 1 + random.below(4) as usize);
        let scale = 2f64.powi(random.below(60) as i32 - 30) / 3.0;
        let mut cell = || (random.below(9) as f64 - 4.0) * scale;
        let values: Vec<f64> = (0..count * columns).map(|_| cell()).collect();
        let normal: Vec<f64> = (0..columns * classes).map(|_| random.normal()).collect();
        let noise = random.below(3) == 0;
        let labels: Vec<String> = values
            .chunks(columns)
            .map(|row| {
                let score = |class: usize| -> f64 {
                    row.iter().zip(&normal[class * columns..]).map(|(x, w)| x * w).sum::<f64>()
                };
                let best = (0..classes).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0);
                if noise { random.below(classes as u64).to_string() } else { best.to_string() }
            })
            .collect();
        Dataset::dense(columns, &values, &labels).unwrap()
    }

    /// Whatever the run found: its mistakes are at most the bound by the best margin, which is at most that by the run's own; both
    /// are about the same best margin; and a verdict that no weights separate the rows is never given where the run separated them.
    #[test]
    fn no_run_from_zero_makes_more_mistakes_than_the_best_margin_allows() {
        let random = &mut Random::stream(7, 1);
        let (mut separable, mut not, mut tighter) = (0, 0, 0);
        for round in 0..3000 {
            let classes = 2 + usize::from(round % 3 == 0);
            let data = rows(random, classes);
            if data.classes().len() < 2 {
                continue;
            }
            let bias =
                if random.below(3) == 0 { Bias::None } else { Bias::Append(0.5 + random.below(3) as f64) };
            let name = ["perceptron", "averaged", "voted", "multiclass"][random.below(4) as usize];
            let order = [Order::Given, Order::Shuffle][random.below(2) as usize];
            let learner = Learner::named(name).unwrap();
            let settings = Settings {
                learner,
                bias,
                order,
                epochs: 1 + random.below(300),
                seed: round,
                ..Settings::default()
            };
            assert!(matches!(settings.init, Init::Zero));
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let run = &outcome.evidence;
            let Some(best) = BestMargin::of(&data, &outcome).unwrap() else {
                assert!(name == "multiclass" && data.classes().len() == 2, "{name}: few rows are decided");
                continue;
            };
            assert!(
                best.margin.upper <= run.margin.upper && best.margin.lower >= run.margin.lower,
                "{best:?}"
            );
            assert_eq!(best.mistake_bound.upper.is_some(), best.verdict == Verdict::Complete, "{best:?}");
            assert!(best.verdict == Verdict::Complete || outcome.status != Status::Converged, "{best:?}");
            match (best.mistake_bound.upper, run.mistake_bound.upper) {
                (Some(least), own) => {
                    let alone = run.margin.kind != MarginKind::OneAgainstRest;
                    assert!(!alone || run.updates as f64 <= least, "{} {best:?}", run.updates);
                    let hardest = outcome.boundaries.iter().map(|boundary| boundary.evidence.updates).max();
                    assert!(hardest.is_none_or(|updates| updates as f64 <= least), "{hardest:?} {best:?}");
                    assert!(own.is_none_or(|own| least <= own), "{best:?} {run:?}");
                    assert!(best.margin.lower.unwrap() >= best.margin.upper * (1.0 - 1e-5), "{best:?}");
                    separable += 1;
                    tighter += usize::from(own.is_none_or(|own| least < own));
                }
                (None, own) => {
                    assert!(own.is_none() && best.margin.upper == 0.0, "{best:?}");
                    not += 1;
                }
            }
        }
        assert!(separable > 500 && not > 300 && tighter > 400, "{separable} {not} {tighter}");
    }
}

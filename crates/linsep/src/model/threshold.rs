//! The probability from which on a row is called positive, and how it is chosen.
//!
//! A model of two sides calls a row positive where its score is at least 0. With a threshold t it does where the
//! probability is at least t. Thresholds are chosen on out-of-fold scores, those of rows that the scoring model has not
//! learned from:
//!
//! - **By cost**: where a false positive costs c₊ and a false negative c₋, the t with the least total cost on those rows; of
//!   several, the one nearest to c₊/(c₊ + c₋), which is best if the probabilities are exact.
//! - **By recall**: the largest t that finds at least a given share of the positive rows.
//! - **By precision**: the t that finds the most positive rows while at least a given share of the rows called positive
//!   are; the largest such t.

use crate::SettingsError;
use serde::{Deserialize, Serialize};

/// How a threshold is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdRule {
    /// This probability.
    Probability(f64),
    /// The least cost.
    Cost {
        /// The cost of calling a negative row positive.
        #[serde(rename = "fp")]
        false_positive: f64,
        /// The cost of calling a positive row negative.
        #[serde(rename = "fn")]
        false_negative: f64,
    },
    /// At least this share of the positive rows is found.
    Recall(f64),
    /// At least this share of the rows called positive are.
    Precision(f64),
}

impl ThresholdRule {
    /// Checks its numbers.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let problem = match *self {
            ThresholdRule::Probability(p) if !(p > 0.0 && p < 1.0) => {
                ("threshold", format!("⟦threshold⟧ is {p}; it must be a probability above 0 and below 1"))
            }
            ThresholdRule::Cost { false_positive, false_negative }
                if ![false_positive, false_negative].iter().all(|cost| (1e-100..=1e100).contains(cost)) =>
            {
                ("cost", "⟦cost⟧ needs two costs above 0, such as ⟦cost=fp=1,fn=20⟧".to_string())
            }
            ThresholdRule::Recall(share) if !(share > 0.0 && share <= 1.0) => {
                ("recall", format!("⟦recall⟧ is {share}; it must be above 0 and at most 1"))
            }
            ThresholdRule::Precision(share) if !(share > 0.0 && share <= 1.0) => {
                ("precision", format!("⟦precision⟧ is {share}; it must be above 0 and at most 1"))
            }
            _ => return Ok(()),
        };
        Err(SettingsError::new(problem.0, problem.1))
    }

    /// The costs in `fp=1,fn=20`, in either order.
    pub fn parse_cost(text: &str) -> Result<Self, SettingsError> {
        let refused = || {
            let problem = format!(
                "\"{text}\" is not valid for ⟦cost⟧: give the cost of a false positive and that of a false \
                 negative, such as ⟦cost=fp=1,fn=20⟧"
            );
            SettingsError::new("cost", problem)
        };
        let (mut false_positive, mut false_negative) = (None, None);
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(refused)?;
            let place = match name.trim() {
                "fp" => &mut false_positive,
                "fn" => &mut false_negative,
                _ => return Err(refused()),
            };
            let value: f64 = value.trim().parse().map_err(|_| refused())?;
            if place.replace(value).is_some() {
                return Err(refused());
            }
        }
        let (Some(false_positive), Some(false_negative)) = (false_positive, false_negative) else {
            return Err(refused());
        };
        let cost = ThresholdRule::Cost { false_positive, false_negative };
        cost.validate().map(|()| cost)
    }
}

/// The counts of right and wrong predictions at a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Positive rows called positive.
    pub true_positives: u64,
    /// Negative rows called positive.
    pub false_positives: u64,
    /// Negative rows called negative.
    pub true_negatives: u64,
    /// Positive rows called negative.
    pub false_negatives: u64,
}

impl Counts {
    /// The counts if rows are predicted positive from this probability on.
    pub fn of(probabilities: &[f64], signs: &[i8], threshold: f64) -> Self {
        let count = |positive: bool, called: bool| {
            let rows = probabilities.iter().zip(signs);
            rows.filter(|&(&p, &y)| (y > 0) == positive && (p >= threshold) == called).count() as u64
        };
        Self {
            true_positives: count(true, true),
            false_positives: count(false, true),
            true_negatives: count(false, false),
            false_negatives: count(true, false),
        }
    }

    /// All rows; none if there are more than can be counted, as in a damaged file.
    fn rows(&self) -> Option<u64> {
        let parts = [self.true_positives, self.false_positives, self.true_negatives, self.false_negatives];
        parts.into_iter().try_fold(0u64, u64::checked_add)
    }

    /// Of the positive rows, the share that is found.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// Of the rows called positive, the share that is.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The cost of the wrong predictions.
    pub fn cost(&self, false_positive: f64, false_negative: f64) -> f64 {
        self.false_positives as f64 * false_positive + self.false_negatives as f64 * false_negative
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The probability from which on a row is called positive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The probability, above 0 and below 1.
    pub probability: f64,
    /// How it was chosen.
    pub chosen: ThresholdRule,
    /// The counts on rows that the scoring model was not trained on; none where such scores were not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_fold: Option<Counts>,
}

impl Threshold {
    /// A threshold that somebody gives.
    pub fn given(probability: f64) -> Result<Self, SettingsError> {
        let chosen = ThresholdRule::Probability(probability);
        chosen.validate().map(|()| Self { probability, chosen, out_of_fold: None })
    }

    /// Chooses a threshold by a rule that is valid, on the probabilities and signs of out-of-fold rows. `None` if there is
    /// no positive row, or no threshold has the precision that is asked for.
    pub fn choose(rule: ThresholdRule, probabilities: &[f64], signs: &[i8]) -> Option<Self> {
        let steps = Steps::of(probabilities, signs);
        let probability = match rule {
            ThresholdRule::Probability(p) => p,
            ThresholdRule::Cost { false_positive, false_negative } => {
                steps.cheapest(false_positive, false_negative)?
            }
            ThresholdRule::Recall(least) => steps.at_recall(least)?,
            ThresholdRule::Precision(least) => steps.at_precision(least)?,
        };
        let out_of_fold = Some(Counts::of(probabilities, signs, probability));
        Some(Self { probability, chosen: rule, out_of_fold })
    }

    /// Whether it makes sense in a model.
    pub(super) fn is_sound(&self) -> bool {
        let is_counted = self.out_of_fold.is_none_or(|counts| counts.rows().is_some());
        self.probability > 0.0 && self.probability < 1.0 && self.chosen.validate().is_ok() && is_counted
    }
}

/// The thresholds that call different rows positive, from the largest on: each with the positive and the negative rows
/// that it calls positive.
struct Steps {
    steps: Vec<(f64, u64, u64)>,
    positives: u64,
}

impl Steps {
    fn of(probabilities: &[f64], signs: &[i8]) -> Self {
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_unstable_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        let highest = order.first().map_or(0.5, |&i| probabilities[i]);
        // Between the surest row and 1 nothing is called positive.
        let mut steps = vec![(highest / 2.0 + 0.5, 0, 0)];
        let (mut positive, mut negative) = (0, 0);
        for group in order.chunk_by(|&a, &b| probabilities[a] == probabilities[b]) {
            let here = group.iter().filter(|&&i| signs[i] > 0).count() as u64;
            positive += here;
            negative += group.len() as u64 - here;
            steps.push((probabilities[group[0]], positive, negative));
        }
        // Halfway to 1 may be 1 itself, or the surest row.
        steps.retain(|step| step.0 < 1.0);
        steps.dedup_by_key(|step| step.0);
        Self { steps, positives: positive }
    }

    fn cheapest(&self, false_positive: f64, false_negative: f64) -> Option<f64> {
        let ideal = false_positive / (false_positive + false_negative);
        let cost = |step: &(f64, u64, u64)| {
            step.2 as f64 * false_positive + (self.positives - step.1) as f64 * false_negative
        };
        let least = self.steps.iter().map(cost).min_by(f64::total_cmp)?;
        // A step stands for all thresholds down to the next one: of these, the nearest to the ideal.
        let nearest = |place: usize| {
            let high = self.steps[place].0;
            let next = self.steps.get(place + 1).map_or(0.0, |step| step.0);
            let low = next + (high - next) / 2.0;
            ideal.clamp(low.min(high), high)
        };
        let cheapest = (0..self.steps.len()).filter(|&place| cost(&self.steps[place]) == least).map(nearest);
        cheapest.min_by(|a, b| (a - ideal).abs().total_cmp(&(b - ideal).abs()))
    }

    fn at_recall(&self, least: f64) -> Option<f64> {
        let enough = |step: &&(f64, u64, u64)| step.1 as f64 >= least * self.positives as f64;
        (self.positives > 0).then(|| self.steps.iter().find(enough)).flatten().map(|step| step.0)
    }

    fn at_precision(&self, least: f64) -> Option<f64> {
        let enough =
            |step: &&(f64, u64, u64)| step.1 > 0 && step.1 as f64 >= least * (step.1 + step.2) as f64;
        // The most positive rows; of as many, the largest threshold, which comes first.
        let found = self.steps.iter().filter(enough).rev().max_by_key(|step| step.1);
        found.map(|step| step.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_rows_than_can_be_counted_are_not_sound() {
        let mut threshold = Threshold::choose(ThresholdRule::Recall(0.5), &[0.2, 0.7], &[-1, 1]).unwrap();
        assert!(threshold.is_sound());
        threshold.out_of_fold.as_mut().unwrap().false_negatives = u64::MAX;
        assert!(!threshold.is_sound());
    }

    /// Thresholds around and between all probabilities.
    fn all_thresholds(probabilities: &[f64]) -> Vec<f64> {
        let mut sorted = probabilities.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let between = sorted.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let ends = [sorted[0] / 2.0, (sorted[sorted.len() - 1] + 1.0) / 2.0];
        sorted.iter().copied().chain(between).chain(ends).collect()
    }

    fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<i8>)> {
        prop::collection::vec((1u8..20, any::<bool>()), 1..40).prop_map(|rows| {
            let probability =
                |&(p, positive): &(u8, bool)| (f64::from(p) / 20.0, if positive { 1 } else { -1 });
            rows.iter().map(probability).unzip()
        })
    }

    proptest! {
        #[test]
        fn no_threshold_costs_less((probabilities, signs) in rows(), fp in 0.1f64..10.0, fne in 0.1f64..10.0) {
            let rule = ThresholdRule::Cost { false_positive: fp, false_negative: fne };
            let chosen = Threshold::choose(rule, &probabilities, &signs).unwrap();
            prop_assert!(chosen.is_sound());
            let cost = |t: f64| Counts::of(&probabilities, &signs, t).cost(fp, fne);
            let least = all_thresholds(&probabilities).into_iter().map(cost).fold(f64::MAX, f64::min);
            prop_assert!((cost(chosen.probability) - least).abs() < 1e-9, "{chosen:?} {least}");
            prop_assert_eq!(chosen.out_of_fold, Some(Counts::of(&probabilities, &signs, chosen.probability)));
        }

        #[test]
        fn the_recall_is_reached_by_no_larger_threshold((probabilities, signs) in rows(), least in 0.01f64..=1.0) {
            let Some(chosen) = Threshold::choose(ThresholdRule::Recall(least), &probabilities, &signs) else {
                prop_assert!(signs.iter().all(|&sign| sign < 0));
                return Ok(());
            };
            let recall = |t: f64| Counts::of(&probabilities, &signs, t).recall().unwrap();
            prop_assert!(recall(chosen.probability) >= least);
            for t in all_thresholds(&probabilities).into_iter().filter(|&t| t > chosen.probability) {
                prop_assert!(recall(t) < least, "{chosen:?} {t}");
            }
        }

        #[test]
        fn the_precision_is_reached_with_the_most_found((probabilities, signs) in rows(), least in 0.01f64..=1.0) {
            let reached = |t: f64| Counts::of(&probabilities, &signs, t).precision().is_some_and(|share| share >= least);
            let found = |t: f64| Counts::of(&probabilities, &signs, t).true_positives;
            let best = all_thresholds(&probabilities).into_iter().filter(|&t| reached(t)).map(found).max();
            match Threshold::choose(ThresholdRule::Precision(least), &probabilities, &signs) {
                None => prop_assert!(best.is_none_or(|found| found == 0)),
                Some(chosen) => {
                    prop_assert!(reached(chosen.probability));
                    prop_assert_eq!(Some(found(chosen.probability)), best);
                }
            }
        }
    }

    #[test]
    fn costs_are_read_in_either_order() {
        let cost = ThresholdRule::Cost { false_positive: 1.0, false_negative: 20.0 };
        for text in ["fp=1,fn=20", "fn=20, fp=1"] {
            assert_eq!(ThresholdRule::parse_cost(text), Ok(cost));
        }
        for text in [
            "",
            "1,20",
            "fp=1",
            "fp=1,fp=2",
            "fp=1,fn=x",
            "fp=1,fn=0",
            "fp=1,fn=-1",
            "fp=1,fn=NaN",
            "tp=1,fn=2",
        ] {
            assert!(ThresholdRule::parse_cost(text).is_err(), "{text}");
        }
    }

    #[test]
    fn without_a_positive_row_the_cheapest_is_to_call_none_so() {
        let rule = ThresholdRule::Cost { false_positive: 1.0, false_negative: 1.0 };
        let chosen = Threshold::choose(rule, &[0.5, 0.9], &[-1, -1]).unwrap();
        assert!(chosen.probability > 0.9 && chosen.out_of_fold.unwrap().false_positives == 0);
    }
}

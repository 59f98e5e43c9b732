//! The multi-class perceptron (A9): one weight vector for each class, the largest score wins.
//!
//! The agreement of a row of class y is a = s_y − max over the other classes of s_r. On a mistake (a ≤ 0) the row is
//! added to θ_y and subtracted from the strongest rival's θ_r, the lowest class on ties. Stacked into one long vector,
//! this is a perceptron on z = (…, x̃ at y, …, −x̃ at r, …), with ‖z‖² = 2‖x̃‖². So everything proved of the perceptron
//! holds with R√2 for the margin γ* = max over ‖Θ‖ = 1 of min_t a_t(Θ), and with two classes it makes the very mistakes
//! of the perceptron, with θ_1 = −θ_0 and half the score on either side.

use crate::SettingsError;
use crate::dataset::{Dataset, Row};
use crate::linalg::{Interval, rounding_error_bound};
use crate::observe::Observer;
use crate::theory::margin::{Extent, MarginInterval, MarginKind, MistakeLedger, quotient_down};
use crate::theta::Theta;
use crate::train::engine::fit::Space;
use crate::train::engine::learned::Learned;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{Status, rows_between_pauses};
use crate::train::learners::Combine;
use crate::train::learners::sgd::check_combine;
use crate::train::settings::{MistakeRule, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The options of the multi-class perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MulticlassOptions {
    /// What joins the vectors of the run into one for each class.
    pub combine: Combine,
}

impl Default for MulticlassOptions {
    fn default() -> Self {
        Self { combine: Combine::Average }
    }
}

impl MulticlassOptions {
    /// Checks the choice.
    pub(crate) fn validate(&self) -> Result<(), SettingsError> {
        check_combine(self.combine)
    }
}

/// The learner at work.
pub(crate) struct Multiclass<'a> {
    data: &'a Dataset,
    labels: &'a [u32],
    weights: Option<&'a [f64]>,
    rule: MistakeRule,
    pub(crate) thetas: Vec<Theta>,
    /// Σ c·z over the updates, for the mean (see `averaged.rs`).
    late: Option<Vec<Theta>>,
    seen: f64,
    pub(crate) updates: u64,
    ledger: MistakeLedger,
    cursor: Cursor,
    scores: Vec<f64>,
    /// What a score may be off by.
    rounding_error: f64,
    radius: f64,
    most_terms: usize,
}

impl<'a> Multiclass<'a> {
    /// A learner for rows whose classes are numbered by `labels`, all below `classes`.
    pub(crate) fn new(
        data: &'a Dataset,
        labels: &'a [u32],
        classes: usize,
        weights: Option<&'a [f64]>,
        extent: &Extent,
        settings: &Settings,
        options: &MulticlassOptions,
    ) -> Self {
        let zero = Theta::zero(data.columns(), settings.bias.input());
        let late = (options.combine == Combine::Average).then(|| vec![zero.clone(); classes]);
        Self {
            data,
            labels,
            weights,
            rule: settings.mistake,
            ledger: MistakeLedger::new(&zero),
            thetas: vec![zero; classes],
            late,
            seen: 0.0,
            updates: 0,
            cursor: Cursor::default(),
            scores: vec![0.0; classes],
            rounding_error: 0.0,
            radius: extent.radius_upper,
            most_terms: data.longest_row() + 1,
        }
    }

    /// Learns until a reason to stop.
    pub(crate) fn run(&mut self, settings: &Settings, observer: &mut dyn Observer) -> (Status, u64) {
        let pause = (rows_between_pauses(self.data) / self.thetas.len()).max(1);
        let status = passes(self, settings, Blocks::of(self.data), pause, observer);
        self.end_pass();
        (status, self.cursor.passes_begun())
    }

    /// The class that a row is right against by least, and by how much; certain to be no mistake if that is positive.
    fn agreement(&mut self, row: Row<'_>, class: usize) -> (usize, f64) {
        for (score, theta) in self.scores.iter_mut().zip(&self.thetas) {
            *score = theta.score(row);
        }
        let rival = strongest_rival(&self.scores, class);
        (rival, self.scores[class] - self.scores[rival])
    }

    fn is_mistake(&self, agreement: f64, row: Row<'_>, class: usize) -> bool {
        if agreement.abs() > 2.0 * self.rounding_error {
            return self.rule.is_mistake(agreement);
        }
        let lead = certain_lead(&self.thetas, row, class);
        self.rule.is_mistake(if lead.low <= 0.0 && lead.high >= 0.0 { 0.0 } else { lead.low })
    }

    /// What has been learned: the vectors that score each class.
    pub(crate) fn learned(&self) -> Vec<Learned> {
        let mean = |(class, last): (usize, &Theta)| match &self.late {
            Some(late) if self.seen > 0.0 => {
                let late = &late[class];
                let weights =
                    last.weights.iter().zip(&late.weights).map(|(w, l)| w - l / self.seen).collect();
                Theta { weights, bias: last.bias - late.bias / self.seen, bias_input: last.bias_input }
            }
            _ => last.clone(),
        };
        self.thetas.iter().enumerate().map(mean).map(Learned::Linear).collect()
    }

    /// The margin, and the lengths of the stacked rows z it is measured on.
    pub(crate) fn space(&self, extent: &Extent) -> Space {
        let root = 2f64.sqrt();
        let stacked = Extent {
            radius_lower: (extent.radius_lower * root.next_down()).next_down(),
            radius_upper: (extent.radius_upper * root.next_up()).next_up(),
            shortest: (extent.shortest * root.next_up()).next_up(),
            shortest_nonzero: extent.shortest_nonzero,
        };
        let upper = self.margin_upper().map_or(stacked.shortest, |upper| upper.min(stacked.shortest));
        let lower = self.learned_lower_bound();
        Space { extent: stacked, margin: MarginInterval { lower, upper, kind: MarginKind::MultiClass } }
    }

    /// min_t a_t(Θ) / ‖Θ‖ for the last vectors or the mean ones, whichever is better, rounded down; none if some row is
    /// not certainly right.
    fn learned_lower_bound(&self) -> Option<f64> {
        let averaged: Vec<Theta> = self.learned().iter().map(|learned| learned.theta().clone()).collect();
        [&averaged, &self.thetas]
            .into_iter()
            .filter_map(|thetas| {
                let least = (0..self.data.len())
                    .into_par_iter()
                    .with_min_len(64)
                    .map(|i| {
                        let lead = certain_lead(thetas, self.data.row(i), self.labels[i] as usize).low;
                        Some(lead).filter(|&lead| lead > 0.0)
                    })
                    .try_reduce(|| f64::MAX, |a, b| Some(a.min(b)))?;
                Some(quotient_down(least, stacked_norm(thetas)))
            })
            .reduce(f64::max)
    }
}

/// The largest score of another class; the lowest class on ties.
fn strongest_rival(scores: &[f64], class: usize) -> usize {
    let mut rival = usize::from(class == 0);
    for (other, &score) in scores.iter().enumerate() {
        if other != class && score > scores[rival] {
            rival = other;
        }
    }
    rival
}

/// An interval that contains s_y − max over the others of s_r.
fn certain_lead(thetas: &[Theta], row: Row<'_>, class: usize) -> Interval {
    let own = thetas[class].certified_score(row);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (_, theta) in thetas.iter().enumerate().filter(|&(other, _)| other != class) {
        let score = theta.certified_score(row);
        low = low.max(score.low);
        high = high.max(score.high);
    }
    // A difference of equal bounds is exact; any other is rounded outwards.
    let down = |x: f64| if x == 0.0 { x } else { x.next_down() };
    let up = |x: f64| if x == 0.0 { x } else { x.next_up() };
    Interval { low: down(own.low - high), high: up(own.high - low) }
}

/// ‖Θ‖, rounded up.
fn stacked_norm(thetas: &[Theta]) -> f64 {
    thetas
        .iter()
        .map(|theta| theta.norm().high)
        .fold(0.0f64, |norm, part| norm.hypot(part).next_up().next_up())
}

impl RowLearner for Multiclass<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn visit(&mut self, i: usize, _: &mut dyn Observer) -> bool {
        let (row, class) = (self.data.row(i), self.labels[i] as usize);
        let weight = self.weights.map_or(1.0, |weights| weights[i]);
        if weight == 0.0 {
            return false;
        }
        let (rival, agreement) = self.agreement(row, class);
        let mistaken = self.is_mistake(agreement, row, class);
        if mistaken {
            for (target, y) in [(class, weight), (rival, -weight)] {
                self.thetas[target].add(y, row);
                if let Some(late) = &mut self.late {
                    late[target].add(y * self.seen, row);
                }
            }
            self.updates += 1;
            let row_squared = 2.0 * self.thetas[class].extended_norm_squared(row);
            self.ledger.record_step(agreement, row_squared, 2 * (row.stored() + 1), weight);
            self.rounding_error =
                rounding_error_bound(self.most_terms, self.ledger.norm_squared().sqrt() * self.radius);
        }
        self.seen += 1.0;
        mistaken
    }

    fn prefetch(&self, i: usize) {
        self.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        self.ledger.tighten_norm(stacked_norm(&self.thetas));
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(&self.thetas[0], None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::train::{Learner, OnlineLearner, Order, Task, train};
    use proptest::prelude::*;

    fn settings(combine: Combine, order: Order, epochs: u64) -> Settings {
        Settings {
            learner: Learner::Multiclass(MulticlassOptions { combine }),
            order,
            epochs,
            ..Settings::default()
        }
    }

    proptest! {
        /// With two classes: the mistakes of the perceptron, one for one, and half of its θ on either side. Small whole
        /// numbers, so that ties abound and everything is exact.
        #[test]
        fn two_classes_are_the_perceptron(seed: u64, n in 2usize..30, epochs in 1u64..6, shuffle: bool) {
            let mut random = Random::new(seed);
            let values: Vec<f64> = (0..2 * n).map(|_| random.below(5) as f64 - 2.0).collect();
            let labels: Vec<&str> =
                (0..n).map(|i| if i == 0 || i > 1 && random.below(2) == 0 { "a" } else { "b" }).collect();
            let data = Dataset::dense(2, &values, &labels).unwrap();
            let order = if shuffle { Order::Shuffle } else { Order::Given };
            let many = settings(Combine::Last, order, epochs);
            let pair = Settings { learner: Learner::Perceptron, ..many.clone() };
            let (found, expected) = (train(&data, &many, &mut ()).unwrap(), train(&data, &pair, &mut ()).unwrap());
            prop_assert_eq!(found.evidence.updates, expected.evidence.updates);
            prop_assert_eq!((found.status, found.evidence.epochs), (expected.status, expected.evidence.epochs));
            let Learned::Each(each) = &found.learned else { unreachable!() };
            let mut opposite = each[0].theta().clone();
            opposite.negate();
            prop_assert_eq!(&opposite, each[1].theta());
            prop_assert_eq!(each[1].theta(), expected.learned.theta());
        }

        /// Against the textbook: dense vectors, scores in full, and the mean as a sum of everything. The theorem holds at
        /// every moment: no certified lower end is above an upper one.
        #[test]
        fn the_textbook_form_agrees(seed: u64, n in 3usize..30, classes in 2u64..6, epochs in 1u64..8) {
            let mut random = Random::new(seed);
            let values: Vec<f64> = (0..3 * n).map(|_| random.below(9) as f64 - 4.0).collect();
            let labels: Vec<String> =
                (0..n).map(|i| if i < 2 { i as u64 } else { random.below(classes) }.to_string()).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let outcome = train(&data, &settings(Combine::Average, Order::Given, epochs), &mut ()).unwrap();

            let k = data.classes().len();
            let (mut theta, mut sum, mut seen) = (vec![[0.0f64; 4]; k], vec![[0.0f64; 4]; k], 0.0);
            let mut updates = 0;
            for _ in 0..epochs {
                let before = updates;
                for i in 0..n {
                    let x = [values[3 * i], values[3 * i + 1], values[3 * i + 2], 1.0];
                    let y = data.labels()[i] as usize;
                    let score = |c: usize| (0..4).map(|j| theta[c][j] * x[j]).sum::<f64>();
                    let mut best: Option<usize> = None;
                    for c in (0..k).filter(|&c| c != y) {
                        if best.is_none_or(|b| score(c) > score(b)) {
                            best = Some(c);
                        }
                    }
                    let r = best.unwrap();
                    if score(y) - score(r) <= 0.0 {
                        updates += 1;
                        for j in 0..4 {
                            theta[y][j] += x[j];
                            theta[r][j] -= x[j];
                        }
                    }
                    for c in 0..k {
                        for j in 0..4 {
                            sum[c][j] += theta[c][j];
                        }
                    }
                    seen += 1.0;
                }
                if updates == before {
                    break;
                }
            }
            prop_assert_eq!(outcome.evidence.updates, updates);
            let Learned::Each(each) = &outcome.learned else { unreachable!() };
            for (c, learned) in each.iter().enumerate() {
                let found = learned.theta();
                for (w, s) in found.weights.iter().chain([&found.bias]).zip(sum[c]) {
                    prop_assert!((w - s / seen).abs() < 1e-9, "{w} {}", s / seen);
                }
            }
            let margin = outcome.evidence.margin;
            let squares: f64 = theta.iter().flatten().map(|w| w * w).sum();
            if updates > 0 {
                // θ may cancel to zero; the bound keeps what rounding could have done on the way, where no θ is longer
                // than 10 per update.
                let drift = 10.0 * f64::EPSILON * (updates as f64).powi(2);
                prop_assert!(margin.upper <= (squares.sqrt() * (1.0 + 1e-9) + drift) / updates as f64);
            }
            if outcome.status == Status::Converged {
                let lower = margin.lower.unwrap();
                prop_assert!(lower <= margin.upper);
                prop_assert!(updates as f64 <= outcome.evidence.mistake_bound.upper.unwrap());
            }
        }
    }

    #[test]
    fn a_weight_makes_the_step_as_long() {
        let data = Dataset::dense(1, &[1.0, -1.0], &["a", "b"]).unwrap();
        let plain = Settings { learner: Learner::Perceptron, order: Order::Given, ..Settings::default() };
        let task = Task::new(&data, &plain).unwrap();
        let mut learner = OnlineLearner::new(&plain, 1).unwrap();
        learner.learn_weighted(data.row(0), task.signs[0], 3.0, None);
        assert_eq!(learner.theta().weights, [-3.0]);
    }
}

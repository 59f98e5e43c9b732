//! The multi-class perceptron: one weight vector for each class, the largest score wins.
//!
//! The agreement of a row of class y is a = s_y − max over the other classes of s_r. On a mistake (a ≤ 0) the row is
//! added to θ_y and subtracted from the strongest rival's θ_r, the lowest class on ties. Stacked into one long vector,
//! this is a perceptron on z = (…, x̃ at y, …, −x̃ at r, …), with ‖z‖² = 2‖x̃‖². So everything proved of the perceptron
//! holds with R√2 for the margin γ* = max over ‖Θ‖ = 1 of min_t a_t(Θ), and with two classes it makes the very mistakes
//! of the perceptron, with θ_1 = −θ_0 and half the score on either side.

use crate::Error;
use crate::SettingsError;
use crate::dataset::{Dataset, Row};
use crate::linalg::{Interval, rounding_error_bound};
use crate::numbers::grouped;
use crate::observe::{Observer, Pace, Progress};
use crate::theory::margin::{Extent, MarginInterval, MarginKind, MistakeLedger, quotient_down, stacked_norm};
use crate::theta::Theta;
use crate::train::engine::class_scores::{ClassScores, largest, reaches};
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest::train_multiclass;
use crate::train::engine::run::Outcome;
use crate::train::engine::state::State;
use crate::train::learners::registry::{Abilities, Ability, Descriptor, Registered};
use crate::train::learners::{Combine, Learner, Options};
use crate::train::settings::{MistakeRule, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "multiclass",
    title: "multi-class perceptron",
    summary: "Trains one weight vector for each class, all jointly: for many classes, smaller and often \
              better than one against the rest",
    options: &[Combine::option("average")],
    abilities: Abilities {
        shards: Ability::No(
            "it trains all classes jointly; other learners train each class against the rest, in shards",
        ),
        many_classes: true,
        two_sides: false,
        mistake_rule: true,
        counts_mistakes: true,
        out_of_core: Ability::No("it scores all classes of a row together, which needs the rows in memory"),
        start: Ability::No("it starts at zero"),
        start_at_first_row: Ability::No("it starts at zero"),
        ..Abilities::ROW_BY_ROW
    },
    usual_epochs: 100,
    compared_up_to: None,
    usual: || Learner::Multiclass(MulticlassOptions { combine: Combine::Average }),
};

/// The options of the multi-class perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MulticlassOptions {
    /// How the vectors of the run are combined into one for each class.
    pub combine: Combine,
}

impl Default for MulticlassOptions {
    fn default() -> Self {
        Self { combine: Combine::Average }
    }
}

impl Registered for MulticlassOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn fit_classes(
        &self,
        data: &Dataset,
        settings: &Settings,
        checkpoint: Option<State>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Outcome>, Error> {
        train_multiclass(data, settings, checkpoint, observer).map(Some)
    }

    fn work(&self, size: &RunSize) -> Work {
        const MAX_SCORES: u64 = 10_000_000_000;
        let (classes, rows) = (grouped(size.classes), grouped(size.rows));
        let said = format!("scores {classes} classes for each of {rows} rows {}: @ scores", size.passes());
        Work { amount: size.all().saturating_mul(size.epochs), most: MAX_SCORES, said, in_passes: true }
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        Ok(Learner::Multiclass(Self { combine: given.choice("combine").unwrap_or(self.combine) }))
    }

    fn options(&self) -> Options {
        Options::new().with_choice("combine", self.combine)
    }

    fn validate(&self) -> Result<(), SettingsError> {
        self.combine.refuse_votes()
    }

    fn describe(&self) -> String {
        format!("multi-class perceptron{}", self.combine.words())
    }
}

/// An update that has been made: the row was added to its class and subtracted from `rival`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClassStep {
    pub(crate) rival: usize,
    /// s_y − s_r before the update.
    pub(crate) agreement: f64,
    /// ‖z‖² = 2‖x̃‖², rounded.
    pub(crate) row_squared: f64,
}

/// The learner at work: one vector for each class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Multiclass {
    rule: MistakeRule,
    /// θ of each class, in the order of the sorted classes.
    pub(crate) thetas: Vec<Theta>,
    /// Σ c·z over the updates, for the mean (see `averaged.rs`).
    pub(crate) late: Option<Vec<Theta>>,
    /// Rows seen.
    pub(crate) seen: f64,
    pub(crate) updates: u64,
    pub(crate) ledger: MistakeLedger,
    /// θ of a class that turns up.
    zero: Theta,
    /// The weights of all classes, where they are scored faster together.
    together: Option<ClassScores>,
    scores: Vec<f64>,
    /// What a score may be off by.
    rounding_error: f64,
    longest: f64,
    most_terms: usize,
}

impl Multiclass {
    /// A learner for so many classes, at zero.
    pub(crate) fn new(settings: &Settings, columns: usize, classes: usize) -> Result<Self, SettingsError> {
        let Learner::Multiclass(options) = settings.learner else {
            return Err(SettingsError::new("learner", "this is not the multiclass learner"));
        };
        let zero = Theta::zero(columns, settings.bias.input());
        Ok(Self {
            rule: settings.mistake,
            thetas: vec![zero.clone(); classes],
            late: (options.combine == Combine::Average).then(|| vec![zero.clone(); classes]),
            seen: 0.0,
            updates: 0,
            ledger: MistakeLedger::new(&zero),
            together: None,
            scores: Vec::new(),
            zero,
            rounding_error: 0.0,
            longest: 0.0,
            most_terms: 0,
        })
    }

    /// Puts the classes in a new order: the one at each place is that of an old place, or one that has just turned up.
    pub(crate) fn arrange(&mut self, places: &[Option<usize>]) {
        let arrange = |old: &mut Vec<Theta>| {
            let mut moved = |place: &Option<usize>| match place {
                Some(at) => std::mem::take(&mut old[*at]),
                None => self.zero.clone(),
            };
            *old = places.iter().map(&mut moved).collect();
        };
        arrange(&mut self.thetas);
        self.late.iter_mut().for_each(arrange);
        self.together = None;
    }

    /// Number of features.
    pub(crate) fn columns(&self) -> usize {
        self.zero.weights.len()
    }

    fn vectors(&mut self) -> impl Iterator<Item = &mut Theta> {
        self.thetas.iter_mut().chain(self.late.iter_mut().flatten()).chain([&mut self.zero])
    }

    pub(crate) fn widen(&mut self, columns: usize) {
        self.together = None;
        self.vectors().for_each(|theta| theta.widen(columns));
    }

    /// Moves every feature down by one: the stream turned out to count from 1.
    pub(crate) fn shift_features_down(&mut self) {
        self.together = None;
        self.vectors().for_each(Theta::shift_down);
    }

    /// Prepares for rows of at most this length (with the appended coordinate) and this many stored values.
    pub(crate) fn expect_rows(&mut self, longest: f64, most_stored: usize) {
        self.longest = self.longest.max(longest);
        self.most_terms = self.most_terms.max(most_stored + 1);
        self.update_rounding_error();
    }

    fn update_rounding_error(&mut self) {
        let norm = self.ledger.norm_squared().sqrt();
        self.rounding_error = rounding_error_bound(self.most_terms, norm * self.longest);
    }

    /// Learns from a row that was announced with [`expect_rows`](Self::expect_rows), if that row is a mistake. There is
    /// none as long as there is one class.
    pub(crate) fn learn_expected(&mut self, row: Row<'_>, class: usize, weight: f64) -> Option<ClassStep> {
        if weight == 0.0 {
            return None;
        }
        let mistake = if self.thetas.len() > 1 { self.mistake(row, class) } else { None };
        let applied = mistake.map(|(rival, agreement)| {
            for (target, y) in [(class, weight), (rival, -weight)] {
                self.thetas[target].add(y, row);
                if let Some(late) = &mut self.late {
                    late[target].add(y * self.seen, row);
                }
                if let Some(together) = &mut self.together {
                    together.change(target, &self.thetas[target], row);
                }
            }
            self.updates += 1;
            let row_squared = 2.0 * self.thetas[class].extended_norm_squared(row);
            self.ledger.record_step(agreement, row_squared, 2 * (row.stored() + 1), weight);
            self.update_rounding_error();
            ClassStep { rival, agreement, row_squared }
        });
        self.seen += 1.0;
        applied
    }

    /// The strongest rival of the row's class and the agreement, if the row is a mistake.
    fn mistake(&mut self, row: Row<'_>, class: usize) -> Option<(usize, f64)> {
        self.score(row, class);
        let rival = strongest_rival(&self.scores, class);
        let agreement = self.scores[class] - self.scores[rival];
        let is_mistake = if agreement.abs() > 2.0 * self.rounding_error {
            self.rule.is_mistake(agreement)
        } else {
            // Scores that rounding cannot bring near the strongest rival's have no part in the lead.
            let least = self.scores[rival] - 8.0 * self.rounding_error;
            let near = (0..self.thetas.len()).filter(|&other| reaches(self.scores[other], least));
            let lead = certain_lead(&self.thetas, row, class, near);
            self.rule.is_mistake(if lead.low <= 0.0 && lead.high >= 0.0 { 0.0 } else { lead.low })
        };
        is_mistake.then_some((rival, agreement))
    }

    /// Scores a row for its class, and for every class that may be its strongest rival; the others get less than that.
    fn score(&mut self, row: Row<'_>, class: usize) {
        let Self { thetas, scores, together, rounding_error, .. } = self;
        if !ClassScores::suits(thetas.len(), self.zero.weights.len()) || row.width() > self.zero.weights.len()
        {
            scores.clear();
            scores.extend(thetas.iter().map(|theta| theta.score(row)));
            return;
        }
        let together = together.get_or_insert_with(|| ClassScores::new(thetas.iter()));
        together.sums(row, scores);
        scores[class] = f64::NEG_INFINITY;
        let (most, _) = largest(scores);
        // Sums and scores are each off by at most one rounding error; one more keeps those below out of every comparison.
        let least = most - 12.0 * *rounding_error;
        for (score, theta) in scores.iter_mut().zip(thetas.iter()) {
            if reaches(*score, least) {
                *score = theta.score(row);
            }
        }
        scores[class] = thetas[class].score(row);
    }

    /// Takes stock at the end of a pass: a bound that was carried along is computed afresh.
    pub(crate) fn end_pass(&mut self) {
        self.ledger.tighten_norm(stacked_norm(&self.thetas));
    }

    /// The upper bound of γ* that the updates so far prove, if there are any.
    pub(crate) fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(&self.zero, None)
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

    /// The lengths of the stacked rows z, from those of the rows: ‖z‖² = 2‖x̃‖².
    pub(crate) fn stacked_extent(extent: &Extent) -> Extent {
        let root = 2f64.sqrt();
        Extent {
            radius_lower: (extent.radius_lower * root.next_down()).next_down(),
            radius_upper: (extent.radius_upper * root.next_up()).next_up(),
            shortest: (extent.shortest * root.next_up()).next_up(),
            shortest_nonzero: extent.shortest_nonzero,
        }
    }

    /// Proved bounds on the margin on these rows, whose classes are numbered by `labels`.
    pub(crate) fn margin(
        &self,
        data: &Dataset,
        labels: &[u32],
        stacked: &Extent,
        observer: &mut dyn Observer,
    ) -> MarginInterval {
        let upper = self.margin_upper().map_or(stacked.shortest, |upper| upper.min(stacked.shortest));
        let lower = self.lower_bound(data, labels, observer);
        MarginInterval { lower, upper, kind: MarginKind::MultiClass }
    }

    /// min_t a_t(Θ) / ‖Θ‖ for the last vectors or the mean ones, whichever is better, rounded down; none if some row is
    /// not certainly right.
    fn lower_bound(&self, data: &Dataset, labels: &[u32], observer: &mut dyn Observer) -> Option<f64> {
        let averaged: Vec<Theta> = self.learned().iter().map(|learned| learned.theta().clone()).collect();
        [&averaged, &self.thetas]
            .into_iter()
            .filter_map(|thetas| certain_margin(thetas, data, labels, observer))
            .reduce(f64::max)
    }
}

/// min_t a_t(Θ) / ‖Θ‖, rounded down; none if some row is not certainly right, or if the observer stopped it.
pub(crate) fn certain_margin(
    thetas: &[Theta],
    data: &Dataset,
    labels: &[u32],
    observer: &mut dyn Observer,
) -> Option<f64> {
    let (columns, bias_input) = (thetas[0].weights.len(), thetas[0].bias_input);
    let together = ClassScores::suits(thetas.len(), columns).then(|| ClassScores::new(thetas.iter()));
    let certain = |sums: &mut Vec<f64>, i: usize| {
        let (row, class) = (data.row(i), labels[i] as usize);
        let near = together
            .as_ref()
            .and_then(|together| together.near_the_largest(row, bias_input, Some(class), sums));
        let is_near = |&other: &usize| near.is_none_or(|least| reaches(sums[other], least));
        let rivals = (0..thetas.len()).filter(is_near);
        let lead = certain_lead(thetas, row, class, rivals).low;
        Some(lead).filter(|&lead| lead > 0.0)
    };
    let (mut least, mut end, total) = (f64::MAX, 0, data.len());
    let mut pace = Pace::new((4096 / thetas.len()).max(1));
    while end < total {
        let rows = pace.next(end, total);
        end = rows.end;
        let rows = rows.into_par_iter().with_min_len(16).map_init(Vec::new, certain);
        least = least.min(rows.try_reduce(|| f64::MAX, |a, b| Some(a.min(b)))?);
        if end < total {
            let flow = observer.progress(&Progress::Judging { rows: end as u64, total: total as u64 });
            if pace.gives_up(flow) {
                return None;
            }
        }
    }
    Some(quotient_down(least, stacked_norm(thetas)))
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

/// An interval that contains s_y − max over `rivals` of s_r.
fn certain_lead(
    thetas: &[Theta],
    row: Row<'_>,
    class: usize,
    rivals: impl Iterator<Item = usize>,
) -> Interval {
    let own = thetas[class].certified_score(row);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for rival in rivals.filter(|&rival| rival != class) {
        let score = thetas[rival].certified_score(row);
        low = low.max(score.low);
        high = high.max(score.high);
    }
    // A difference of equal bounds is exact; any other is rounded outwards.
    let down = |x: f64| if x == 0.0 { x } else { x.next_down() };
    let up = |x: f64| if x == 0.0 { x } else { x.next_up() };
    Interval { low: down(own.low - high), high: up(own.high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::train::{OnlineLearner, Order, Status, Task, train};
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
        /// every moment: no certified lower end is above an upper one. Few classes are scored one by one, many together.
        #[test]
        fn the_textbook_form_agrees(
            seed: u64,
            (n, classes) in prop_oneof![(3usize..30, 2u64..6), (90usize..110, 64u64..80)],
            epochs in 1u64..8,
        ) {
            let mut random = Random::new(seed);
            let values: Vec<f64> = (0..3 * n).map(|_| random.below(9) as f64 - 4.0).collect();
            let labels: Vec<String> =
                (0..n).map(|i| if (i as u64) < classes { i as u64 } else { random.below(classes) }.to_string()).collect();
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
            // What is added to one class is subtracted from another: the weights of a feature have no constant in common.
            for j in 0..3 {
                let shared: f64 = each.iter().map(|learned| learned.theta().weights[j]).sum();
                prop_assert!(shared.abs() < 1e-9, "{shared}");
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

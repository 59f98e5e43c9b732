//! Perceptrons of many classes, each against the rest, go through the rows together.
//!
//! One boundary after the other visits N rows for each of K classes in every pass, and each visit costs a step of a
//! learner, though hardly any is a mistake. Here a row is scored for a block of classes at once
//! ([`ClassScores`]), and a learner visits the row only where that score does not rule out a mistake. The learner then
//! decides by its own arithmetic. So each boundary is that of a run of its own, to the bit; only the rows that it is known
//! to be right about are counted instead of visited. A few dozen rows that follow each other are looked at first as what lies
//! between their least and their largest numbers: hardly any boundary is wrong about anything there, and those that cannot
//! be are not asked about the single rows.

use crate::Error;
use crate::dataset::{Dataset, Row};
use crate::observe::{Observer, Progress};
use crate::theory::margin::{Extent, least_agreement};
use crate::theta::Theta;
use crate::train::engine::class_errors::ClassErrors;
use crate::train::engine::class_scores::{ClassScores, enclose, reaches};
use crate::train::engine::evidence::{Judged, proved_margin};
use crate::train::engine::fit::Fit;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::{Blocks, Pass, Window};
use crate::train::engine::run::Status;
use crate::train::engine::weights::row_weights;
use crate::train::settings::{ClassWeight, Init, Settings};
use std::ops::Range;

/// The most classes of a block: their weights should stay in the cache closest to the processor.
const MAX_TOGETHER: usize = 1024;
/// Sums that are looked at together for one that may be a mistake.
const SUMS_TOGETHER: usize = 32;
/// Rows that are first looked at together.
pub(super) const ROWS_TOGETHER: usize = 64;
/// Sums that are computed before the observer is asked.
pub(super) const SUMS_BETWEEN_PAUSES: usize = 8_000_000;

/// Whether the boundaries of so many classes are learned in blocks. Other learners, other limits than passes, and weights
/// that differ from boundary to boundary need a run for each.
pub(super) fn suits(data: &Dataset, settings: &Settings, classes: usize) -> bool {
    // Those whose steps can be mixed are perceptrons, which keep no more than a mean.
    settings.learner.abilities().shards.is_yes()
        && settings.shards == 1
        && settings.max_updates.is_none()
        && settings.max_seconds.is_none()
        && settings.class_weight != ClassWeight::Balanced
        && !matches!(settings.init, Init::Warm(_))
        && ClassScores::suits(classes, data.columns())
}

/// The classes dealt out into blocks, several for each thread. The result does not depend on it.
pub(super) fn blocks(classes: usize) -> Vec<Range<usize>> {
    let size = classes.div_ceil(4 * rayon::current_num_threads()).clamp(SUMS_TOGETHER, MAX_TOGETHER);
    (0..classes).step_by(size).map(|start| start..(start + size).min(classes)).collect()
}

/// What the blocks have in common.
pub(super) struct Shared<'a> {
    pub(super) data: &'a Dataset,
    /// The number of each row's class, among those that are learned.
    pub(super) labels: &'a [u32],
    pub(super) weights: Option<Vec<f64>>,
    pub(super) extent: Extent,
    pub(super) settings: &'a Settings,
}

impl<'a> Shared<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        labels: &'a [u32],
        extent: Extent,
        settings: &'a Settings,
    ) -> Result<Self, Error> {
        // The sides matter to balanced weights only, which are not learned in blocks.
        let weights = row_weights(settings, data, &vec![0; data.classes().len()])?;
        Ok(Self { data, labels, weights, extent, settings })
    }

    /// Learns the boundaries of some of the classes, and gives their ends in order.
    pub(super) fn learn(
        &self,
        classes: Range<usize>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Fit>, Error> {
        let mut block = Block::new(self, classes)?;
        let blocks = Blocks::of(self.data);
        let pause = (SUMS_BETWEEN_PAUSES / block.boundaries.len()).max(1);
        for epoch in 0..self.settings.epochs {
            let pass = Pass::new(self.settings, epoch, blocks);
            let (mut position, rows) = (0, blocks.rows());
            let mut window = pass.window(0);
            while position < rows {
                if position == window.end() {
                    window = pass.window(position);
                }
                let end = (position + pause).min(window.end());
                while position < end {
                    let next = (position + ROWS_TOGETHER).min(end);
                    block.visit(self, &window, position..next);
                    position = next;
                }
                let progress = Progress::Training {
                    epoch,
                    epochs: self.settings.epochs,
                    position: position as u64,
                    examples: rows as u64,
                    updates: block.boundaries.iter().map(|boundary| boundary.learner.updates()).sum(),
                    margin_upper: None,
                };
                if observer.progress(&progress).is_break() {
                    block.count_rows();
                    return Ok(block.end(Status::Interrupted, epoch + 1));
                }
            }
            if block.end_pass(epoch + 1) {
                break;
            }
        }
        Ok(block.end(Status::EpochLimit, self.settings.epochs))
    }
}

impl Shared<'_> {
    /// How the ends of a block do on all rows, each as it would be judged by itself. Nothing is known of them where all runs
    /// are to stop: the others are waiting.
    pub(super) fn judge(
        &self,
        classes: Range<usize>,
        fits: &[Fit],
        observer: &mut dyn Observer,
    ) -> Vec<Judged> {
        let unknown = || vec![Judged::default(); fits.len()];
        if observer.will_stop() {
            return unknown();
        }
        let rows = ClassErrors { data: self.data, labels: self.labels, classes: classes.clone() };
        let learned: Vec<&Theta> = fits.iter().map(|fit| fit.learned.theta()).collect();
        let last: Vec<&Theta> =
            fits.iter().map(|fit| fit.candidates.first().unwrap_or_else(|| fit.learned.theta())).collect();
        let Some(errors) = rows.count(&learned, observer) else { return unknown() };
        let Some(errors_of_last) = rows.count(&last, observer) else { return unknown() };
        let judged = fits.iter().enumerate().map(|(place, fit)| {
            let sign = |i: usize| if self.labels[i] as usize == classes.start + place { 1 } else { -1 };
            let (least, lower) = proved_margin(fit, |theta| {
                // A row that is wrong is the end of it.
                let errors = if theta == learned[place] { errors[place] } else { errors_of_last[place] };
                let signs = || (0..self.data.len()).map(sign).collect::<Vec<i8>>();
                if errors > 0 { None } else { least_agreement(self.data, &signs(), theta) }
            });
            Judged { errors: Some(errors[place]), least, lower }
        });
        judged.collect()
    }
}

/// One class against the rest.
struct Boundary {
    learner: OnlineLearner,
    /// Rows that the learner has seen or counted.
    counted: u64,
    /// Updates of this pass.
    pass_updates: u64,
    /// Passes after which it had converged.
    converged: Option<u64>,
}

/// Boundaries that are learned together.
struct Block {
    classes: Range<usize>,
    boundaries: Vec<Boundary>,
    /// With an offset for each class such that a sum below zero rules out a mistake on a row of another class.
    scores: ClassScores,
    sums: Vec<f64>,
    /// The least and the largest numbers of the rows that come next, and the boundaries that may be wrong about one of them.
    low: Vec<f64>,
    high: Vec<f64>,
    awake: Vec<usize>,
    /// Rows that count, so far.
    rows: u64,
}

impl Block {
    fn new(shared: &Shared<'_>, classes: Range<usize>) -> Result<Self, Error> {
        let radius = shared.extent.radius_upper;
        let boundary = |_| {
            let mut learner =
                OnlineLearner::with_radius(shared.settings, shared.data.columns(), Some(radius))?;
            learner.expect_rows(radius, shared.data.longest_row());
            Ok(Boundary { learner, counted: 0, pass_updates: 0, converged: None })
        };
        let boundaries = classes.clone().map(boundary).collect::<Result<Vec<_>, Error>>()?;
        let scores = ClassScores::new(boundaries.iter().map(|boundary| boundary.learner.theta()));
        let columns = shared.data.columns();
        let (low, high) = (vec![0.0; columns], vec![0.0; columns]);
        let mut block =
            Self { classes, boundaries, scores, sums: Vec::new(), low, high, awake: Vec::new(), rows: 0 };
        (0..block.boundaries.len()).for_each(|place| block.set_offset(place));
        Ok(block)
    }

    /// A learner takes a computed agreement that is larger than its rounding error for what it is, so it is right about a
    /// row of another class if ⟨θ, x̃⟩ < −2 of them; a third is what the sum may be off by.
    fn set_offset(&mut self, place: usize) {
        let boundary = &self.boundaries[place];
        let offset = match boundary.converged {
            Some(_) => f64::NEG_INFINITY,
            // The first row is added whatever its score.
            None if boundary.learner.awaits_first => f64::INFINITY,
            None => boundary.learner.theta().intercept() + 4.0 * boundary.learner.rounding_error(),
        };
        self.scores.set_offset(place, offset);
    }

    /// Visits rows that follow each other.
    fn visit(&mut self, shared: &Shared<'_>, window: &Window, positions: Range<usize>) {
        let rows = positions.clone().map(|position| shared.data.row(window.at(position)));
        enclose(rows, &mut self.low, &mut self.high);
        let mut awake = std::mem::take(&mut self.awake);
        self.scores.that_may_reach_zero(&self.low, &self.high, &mut awake);
        // Where many may be wrong, all of them are scored faster together.
        let many = awake.len() > self.boundaries.len() / 8;
        for position in positions {
            if let Some(next) = window.ahead(position) {
                shared.data.row(next).prefetch();
            }
            let i = window.at(position);
            let weight = shared.weights.as_ref().map_or(1.0, |weights| weights[i]);
            if weight == 0.0 {
                continue;
            }
            let (row, label) = (shared.data.row(i), shared.labels[i] as usize);
            let own = self.classes.contains(&label).then(|| label - self.classes.start);
            if many {
                self.ask_all(row, own, weight, i);
            } else {
                self.ask(&awake, row, own, weight, i);
            }
            if let Some(own) = own {
                self.learn(own, row, 1, weight, i);
                // Now it may be wrong about the rows that follow.
                if !many && !awake.contains(&own) {
                    awake.push(own);
                }
            }
            self.rows += 1;
        }
        self.awake = awake;
    }

    /// Has boundaries learn a row of another class that they may be wrong about.
    fn ask(&mut self, places: &[usize], row: Row<'_>, own: Option<usize>, weight: f64, i: usize) {
        for &place in places {
            if own != Some(place) && reaches(self.scores.sum(place, row), 0.0) {
                self.learn(place, row, -1, weight, i);
            }
        }
    }

    /// The same for all boundaries.
    fn ask_all(&mut self, row: Row<'_>, own: Option<usize>, weight: f64, i: usize) {
        let mut sums = std::mem::take(&mut self.sums);
        self.scores.sums(row, &mut sums);
        for (group, some) in sums.chunks(SUMS_TOGETHER).enumerate() {
            if some.iter().fold(true, |all, &sum| all & (sum < 0.0)) {
                continue;
            }
            for (k, &sum) in some.iter().enumerate() {
                let place = group * SUMS_TOGETHER + k;
                if reaches(sum, 0.0) && own != Some(place) {
                    self.learn(place, row, -1, weight, i);
                }
            }
        }
        self.sums = sums;
    }

    fn learn(&mut self, place: usize, row: Row<'_>, sign: i8, weight: f64, i: usize) {
        let boundary = &mut self.boundaries[place];
        if boundary.converged.is_some() {
            return;
        }
        boundary.learner.pass_over(self.rows - boundary.counted);
        boundary.counted = self.rows + 1;
        if boundary.learner.learn_expected(row, sign, weight, Some(i as u32)).is_some() {
            boundary.pass_updates += 1;
            self.scores.change(place, boundary.learner.theta(), row);
            self.set_offset(place);
        }
    }

    /// Brings every learner up to the row that comes next.
    fn count_rows(&mut self) {
        for boundary in self.boundaries.iter_mut().filter(|boundary| boundary.converged.is_none()) {
            boundary.learner.pass_over(self.rows - boundary.counted);
            boundary.counted = self.rows;
        }
    }

    /// Ends a pass, and tells whether all boundaries have converged.
    fn end_pass(&mut self, epochs: u64) -> bool {
        self.count_rows();
        for place in 0..self.boundaries.len() {
            let boundary = &mut self.boundaries[place];
            if boundary.converged.is_some() {
                continue;
            }
            boundary.learner.end_pass();
            if std::mem::take(&mut boundary.pass_updates) == 0 {
                boundary.converged = Some(epochs);
            }
            self.set_offset(place);
        }
        self.boundaries.iter().all(|boundary| boundary.converged.is_some())
    }

    /// The ends of all runs; those that have not converged after so many passes end with this status.
    fn end(self, status: Status, epochs: u64) -> Vec<Fit> {
        let end = |boundary: Boundary| {
            let (status, epochs) = match boundary.converged {
                Some(epochs) => (Status::Converged, epochs),
                None => (status, epochs),
            };
            boundary.learner.into_fit(status, epochs, None)
        };
        self.boundaries.into_iter().map(end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::train::Learner;
    use crate::train::engine::one_against_rest::train_each;
    use crate::train::{Learned, MistakeRule, Order, train};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    /// Rows of many classes: whole numbers, so that agreements of exactly zero abound, or numbers whose sums are rounded.
    fn rows(seed: u64, classes: usize, columns: usize, whole: bool) -> Dataset {
        let mut random = Random::new(seed);
        let number = |random: &mut Random| random.below(9) as f64 - 4.0;
        let count = classes + random.below(2 * classes as u64) as usize;
        let values: Vec<f64> = (0..count * columns)
            .map(|_| if whole { number(&mut random) } else { 0.1 * number(&mut random) })
            .collect();
        let class = |row: usize, random: &mut Random| {
            if row < classes { row as u64 } else { random.below(classes as u64) }
        };
        let labels: Vec<String> = (0..count).map(|row| format!("c{}", class(row, &mut random))).collect();
        let weights = (0..count).map(|_| random.below(3) as f64 / 2.0).collect();
        let data = Dataset::dense(columns, &values, &labels).unwrap();
        if random.below(2) == 0 { data.with_weights(weights).unwrap() } else { data }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Each boundary is that of a run of its own, to the bit: weights, evidence and status.
        #[test]
        fn boundaries_are_those_of_runs_one_by_one(
            seed: u64, classes in 64usize..80, columns in 1usize..4, whole: bool, averaged: bool, negative: bool,
            first: bool, given: bool, epochs in 1u64..6,
        ) {
            let data = rows(seed, classes, columns, whole);
            let settings = Settings {
                learner: if averaged { Learner::Averaged } else { Learner::Perceptron },
                mistake: if negative && first { MistakeRule::Negative } else { MistakeRule::NonPositive },
                init: if first { Init::First } else { Init::Zero },
                order: if given { Order::Given } else { Order::Shuffle },
                seed,
                epochs,
                ..Settings::default()
            };
            prop_assert!(suits(&data, &settings, classes));
            let together = train_each(&data, &settings, &mut ()).unwrap();
            let Learned::Each(each) = &together.learned else { unreachable!() };
            for (boundary, learned) in together.boundaries.iter().zip(each) {
                let own = Settings { positive: Some(boundary.class.clone()), ..settings.clone() };
                let alone = train(&data, &own, &mut ()).unwrap();
                prop_assert_eq!(learned, &alone.learned);
                prop_assert_eq!(&boundary.evidence, &alone.evidence);
            }
        }
    }

    /// An observer that stops everything at once.
    struct Stop;

    impl Observer for Stop {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            ControlFlow::Break(())
        }

        fn will_stop(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_block_that_is_stopped_ends_at_the_next_pause() {
        let data = rows(3, 70, 2, false);
        let settings = Settings { learner: Learner::Averaged, epochs: 1_000_000, ..Settings::default() };
        let extent = Extent::of(&data, settings.bias.input());
        let shared = Shared::new(&data, data.labels(), extent, &settings).unwrap();
        let ends = shared.learn(0..70, &mut Stop).unwrap();
        assert!(ends.iter().all(|end| end.status == Status::Interrupted && end.epochs == 1));
    }
}

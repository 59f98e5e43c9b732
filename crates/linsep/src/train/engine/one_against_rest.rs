//! More than two classes: each against the rest with any learner of two sides, or all at once with the multi-class
//! perceptron.

use crate::Error;
use crate::classes::{ClassError, ClassPair, Classes};
use crate::dataset::{Dataset, Row};
use crate::observe::{ClassUpdate, Note, Observer, Pace, Progress, Update, in_parallel, in_parallel_sized};
use crate::theory::margin::{Extent, MarginInterval, MarginKind};
use crate::theta::Theta;
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::class_blocks::{self, Shared};
use crate::train::engine::class_scores::ClassScores;
use crate::train::engine::cost_limit::TimeShares;
use crate::train::engine::evidence::{Evidence, check_finite, conclude, facts_of, facts_on, judge, unjudged};
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::Blocks;
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{
    Boundary, Outcome, Status, Task, check_lengths, fit_task, rows_between_pauses,
};
use crate::train::engine::state::{Learners, State};
use crate::train::engine::weights::{WrittenOut, row_weights};
use crate::train::learners::logistic::{self, LogisticOptions};
use crate::train::learners::multiclass::{ClassStep, Multiclass, certain_margin};
use crate::train::settings::Settings;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The classes that have rows.
pub(crate) struct Present {
    pub(crate) names: Vec<String>,
    /// The place of each of them among the classes of the data.
    pub(crate) own_places: Vec<usize>,
    /// The place of each class of the data among them; 0 for those without rows.
    pub(crate) places: Vec<u32>,
    /// The place of each row's class among them.
    pub(crate) labels: Vec<u32>,
}

pub(crate) fn present(data: &Dataset) -> Result<Present, Error> {
    let counts = data.class_counts();
    let mut places = vec![0; counts.len()];
    let (mut names, mut own_places) = (Vec::new(), Vec::new());
    for class in (0..counts.len()).filter(|&class| counts[class] > 0) {
        places[class] = names.len() as u32;
        names.push(data.classes()[class].clone());
        own_places.push(class);
    }
    if names.len() < 2 {
        return Err(ClassError::One { class: names.pop().unwrap_or_default() }.into());
    }
    let labels = data.labels().iter().map(|&label| places[label as usize]).collect();
    Ok(Present { names, own_places, places, labels })
}

/// One boundary for each class, learned in parallel; the class with the largest score wins.
///
/// With two classes the two boundaries are one, seen from either side: θ_1 = −θ_0 is what the binary learner finds.
pub fn train_each(
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    settings.validate()?;
    match WrittenOut::new(data, settings)? {
        Some(rows) => learn_each(&rows.data, settings, &mut rows.observer(observer)),
        None => learn_each(data, settings, observer),
    }
}

/// The same for rows as they are learned from.
pub(crate) fn learn_each(
    data: &Dataset,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let Present { names, own_places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let runs = if class_blocks::suits(data, settings, names.len()) {
        let shared = Shared::new(data, &labels, extent, settings)?;
        let blocks = class_blocks::blocks(names.len());
        let size = |block: &Range<usize>| block.len() as u64;
        let runs = in_parallel_sized(&blocks, size, "classes", observer, |block, part| {
            let fits = shared.learn(block.clone(), part)?;
            let judged = shared.judge(block.clone(), &fits, part);
            let places = own_places[block.clone()].iter();
            let runs = places.zip(fits).zip(judged).map(|((&place, fit), judged)| {
                let classes = ClassPair::against_rest(data.shared_classes(), place);
                let facts = facts_on(data, extent, &classes, shared.weights.is_some());
                check_finite(&fit)?;
                let outcome = conclude(facts, settings, fit, judged);
                Ok((outcome.learned, outcome.evidence))
            });
            runs.collect::<Result<Vec<_>, Error>>()
        });
        runs.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect()
    } else {
        let shares = settings.max_seconds.map(|limit| TimeShares::in_parallel(limit, names.len()));
        let stopped = OnceLock::new();
        let shared = settings.learner.registered().shared(data, settings, observer);
        let runs = in_parallel(&own_places, "classes", observer, |&place, part| {
            // A class that is begun only to be stopped has no weights yet. Of a few classes that is quickly done; of thousands
            // there will be no model.
            if part.will_stop() && stopped.get_or_init(Instant::now).elapsed() > GRACE {
                return Err(Error::Interrupted);
            }
            let name = data.classes()[place].clone();
            let max_seconds = shares.as_ref().map(TimeShares::next);
            let settings = Settings { positive: Some(name), max_seconds, ..settings.clone() };
            let task = Task::against_rest(data, &settings, extent, place)?;
            let fit = match &shared {
                Some(shared) => shared.learn(&task, &settings),
                None => fit_task(&task, &settings, part)?,
            };
            judge_one(&task, &settings, fit, part)
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>, Error>>();
        runs.inspect_err(|error| warn_not_begun(error, observer))?
    };
    let (learned, mut evidence, boundaries) = together(runs, &names);
    evidence.training_error = error(data, &labels, &learned, observer);
    Ok(outcome(learned, evidence, boundaries, names, settings))
}

/// What a learner does once for the runs of all classes.
pub(crate) trait SharedFit: Sync {
    /// Learns one class against the rest.
    fn learn(&self, task: &Task<'_>, settings: &Settings) -> Fit;
}

/// How long classes are still begun after all were asked to stop.
pub(in crate::train) const GRACE: Duration = Duration::from_millis(500);

/// Says that there is no model because some classes were not begun.
pub(in crate::train) fn warn_not_begun(error: &Error, observer: &mut dyn Observer) {
    if matches!(error, Error::Interrupted) {
        observer.note(Note::Warning(
            "interrupted before training of every class had started: there is no \
                                     model",
        ));
    }
}

/// What one of many runs comes to. Where all are to stop, a run is not judged: the others are waiting.
fn judge_one(
    task: &Task<'_>,
    settings: &Settings,
    fit: Fit,
    observer: &mut dyn Observer,
) -> Result<(Learned, Evidence), Error> {
    let outcome = if observer.will_stop() {
        unjudged(facts_of(task), settings, fit)?
    } else {
        judge(task, settings, fit, observer)?
    };
    Ok((outcome.learned, outcome.evidence))
}

/// What runs of each class against the rest come to: one decision, its evidence but for the error, and that of each.
pub(in crate::train) fn together(
    runs: Vec<(Learned, Evidence)>,
    names: &[String],
) -> (Learned, Evidence, Vec<Boundary>) {
    let evidence = summary(runs.iter().map(|(_, evidence)| evidence));
    let (mut each, mut boundaries) = (Vec::new(), Vec::new());
    for ((learned, evidence), class) in runs.into_iter().zip(names) {
        each.push(learned);
        boundaries.push(Boundary { class: class.clone(), evidence });
    }
    (Learned::Each(each), evidence, boundaries)
}

/// Whether a row's own class has a larger score than every other.
pub(in crate::train) fn leads(each: &[OnlineLearner], row: Row<'_>, class: usize) -> bool {
    let own = each[class].score(row);
    each.iter().enumerate().all(|(other, learner)| other == class || learner.score(row) < own)
}

/// The outcome of runs of each class against the rest.
pub(in crate::train) fn outcome(
    learned: Learned,
    evidence: Evidence,
    boundaries: Vec<Boundary>,
    names: Vec<String>,
    settings: &Settings,
) -> Outcome {
    Outcome {
        learned,
        status: evidence.status,
        evidence,
        boundaries,
        classes: Classes::Each { names },
        settings: settings.clone(),
    }
}

/// What the runs of all classes add up to: the margin is the smallest of the best margins.
pub(in crate::train) fn summary<'a>(runs: impl Iterator<Item = &'a Evidence> + Clone) -> Evidence {
    let severity = |status: Status| match status {
        Status::Converged => 0,
        Status::EpochLimit => 1,
        Status::UpdateLimit => 2,
        Status::TimeLimit => 3,
        Status::Undecided => 4,
        Status::NoMargin | Status::NoOptimum => 5,
        Status::Interrupted => 6,
    };
    let all: Vec<&Evidence> = runs.collect();
    let mut total = all[0].clone();
    total.status =
        all.iter().map(|run| run.status).max_by_key(|&status| severity(status)).unwrap_or(total.status);
    total.epochs = all.iter().map(|run| run.epochs).max().unwrap_or(0);
    total.updates = all.iter().map(|run| run.updates).sum();
    total.margin = MarginInterval {
        lower: all.iter().map(|run| run.margin.lower).reduce(|a, b| Some(a?.min(b?))).flatten(),
        upper: all.iter().map(|run| run.margin.upper).fold(f64::INFINITY, f64::min),
        kind: all[0].margin.kind.of_each_class(),
    };
    total.mistake_bound = crate::theory::novikoff::mistake_bound(&total.extent, &total.margin);
    total.distance = None;
    total.detail = None;
    total
}

/// The multi-class perceptron, from its beginning or from a checkpoint.
pub(crate) fn train_multiclass(
    data: &Dataset,
    settings: &Settings,
    checkpoint: Option<State>,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let Present { names, places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let weights = row_weights(settings, data, &places)?;
    let mut state = match checkpoint {
        Some(mut state) => {
            state.adopt(settings, data.columns(), data.fingerprint())?;
            state.check_position(data.len())?;
            state
        }
        None => {
            let learner = Multiclass::new(settings, data.columns(), names.len())?;
            let fingerprint = if observer.saves() { data.fingerprint().to_string() } else { String::new() };
            State::begin(settings, Learners::Together(learner), fingerprint)
        }
    };
    state.expect_rows(extent.radius_upper, data.longest_row());
    let settings = &state.settings.clone();
    let pause = (rows_between_pauses(data) / names.len()).max(1);
    let mut rows = ClassRows { data, labels: &labels, weights: weights.as_deref(), state: &mut state };
    let status = passes(&mut rows, settings, Blocks::of(data), pause, observer);
    rows.end_pass();
    let epochs = state.cursor.passes_begun();
    let learner = match state.learners {
        Learners::Together(learner) if learner.thetas.len() == names.len() => learner,
        _ => return Err(CheckpointError::OtherData.into()),
    };
    let learned = Learned::Each(learner.learned());
    let stacked = Multiclass::stacked_extent(&extent);
    let margin = learner.margin(data, &labels, &stacked, observer);
    let shape = (data.len() as u64, data.columns() as u64, data.nonzeros() as u64);
    let mut evidence = Evidence::new(
        shape,
        (epochs, learner.updates, status),
        error(data, &labels, &learned, observer),
        None,
        stacked,
        margin.kind,
        margin.lower,
        Some(margin.upper),
    );
    evidence.weighted = weights.is_some();
    let classes = Classes::Each { names };
    Ok(Outcome { learned, status, evidence, boundaries: Vec::new(), classes, settings: settings.clone() })
}

/// Logistic regression of all classes together.
pub(crate) fn train_logistic(
    data: &Dataset,
    settings: &Settings,
    options: &LogisticOptions,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let Present { names, places, labels, .. } = present(data)?;
    let extent = Extent::of(data, settings.bias.input());
    check_lengths(&extent)?;
    let weights = row_weights(settings, data, &places)?;
    let rows =
        logistic::Rows { data, labels: &labels, classes: names.len(), weights: weights.as_deref(), extent };
    let mut found = logistic::learn(&rows, settings, options, observer)?;
    if let [theta] = &found.thetas[..] {
        // Two of the classes have rows: half of the score speaks for one, and half against the other.
        let half = |factor: f64| Theta {
            weights: theta.weights.iter().map(|w| factor * w).collect(),
            bias: factor * theta.bias,
            bias_input: theta.bias_input,
        };
        found.thetas = vec![half(-0.5), half(0.5)];
    }
    let lower =
        if found.status.has_model() { certain_margin(&found.thetas, data, &labels, observer) } else { None };
    let learned = Learned::Each(found.thetas.into_iter().map(Learned::Linear).collect());
    let stacked = Multiclass::stacked_extent(&extent);
    let mut evidence = Evidence::new(
        (data.len() as u64, data.columns() as u64, data.nonzeros() as u64),
        (found.steps, found.steps, found.status),
        error(data, &labels, &learned, observer),
        None,
        stacked,
        MarginKind::MultiClass,
        lower,
        found.margin_upper,
    );
    evidence.weighted = weights.is_some();
    evidence.detail = Some(found.detail);
    let (status, classes) = (found.status, Classes::Each { names });
    Ok(Outcome { learned, status, evidence, boundaries: Vec::new(), classes, settings: settings.clone() })
}

/// The rows of a data set as the multi-class perceptron visits them.
struct ClassRows<'a> {
    data: &'a Dataset,
    labels: &'a [u32],
    weights: Option<&'a [f64]>,
    state: &'a mut State,
}

impl RowLearner for ClassRows<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.state.cursor
    }

    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let Learners::Together(learner) = &mut self.state.learners else { return false };
        let weight = self.weights.map_or(1.0, |weights| weights[i]);
        let (row, class) = (self.data.row(i), self.labels[i] as usize);
        let step = learner.learn_expected(row, class, weight);
        if let Some(ClassStep { rival, agreement, row_squared }) = step {
            observer.update(&Update {
                number: learner.updates,
                epoch: self.state.cursor.epoch + 1,
                position: i as u64,
                row,
                row_squared,
                sign: 1,
                agreement,
                theta: None,
                classes: Some(ClassUpdate { class, rival, thetas: &learner.thetas }),
            });
        }
        step.is_some()
    }

    fn prefetch(&self, i: usize) {
        self.data.row(i).prefetch();
    }

    fn end_pass(&mut self) {
        if let Learners::Together(learner) = &mut self.state.learners {
            learner.end_pass();
        }
    }

    fn pause(&mut self, observer: &mut dyn Observer) {
        observer.checkpoint(self.state);
    }

    fn updates(&self) -> u64 {
        self.state.updates()
    }

    fn margin_upper(&self) -> Option<f64> {
        self.state.margin_upper()
    }
}

/// The share of rows whose class does not win, or `None` if the observer stopped the count.
fn error(data: &Dataset, labels: &[u32], learned: &Learned, observer: &mut dyn Observer) -> Option<f64> {
    let scores = ClassScores::of_learned(learned);
    let wrong = |sums: &mut Vec<f64>, i: usize| {
        let (found, _) = match &scores {
            Some(scores) => scores.class_of(learned, data.row(i), sums),
            None => learned.class_of(data.row(i)),
        };
        u64::from(found != labels[i] as usize)
    };
    let (mut errors, mut end, total) = (0, 0, data.len());
    let mut pace = Pace::new(learned.rows_before_pause());
    while end < total {
        let rows = pace.next(end, total);
        end = rows.end;
        let together = (rows.len() / 64).clamp(1, 16);
        errors += rows.into_par_iter().with_min_len(together).map_init(Vec::new, wrong).sum::<u64>();
        // A run that is short, or has come to its end, is judged in silence.
        if end < total {
            let progress = Progress::Judging { rows: end as u64, total: total as u64 };
            let flow = observer.progress(&progress);
            if pace.gives_up(flow) {
                return None;
            }
        }
    }
    Some(errors as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Learner;
    use crate::train::train;
    use proptest::prelude::*;

    proptest! {
        /// With two classes: one boundary, seen from either side, and that of the binary learner.
        #[test]
        fn two_classes_are_the_binary_task(
            rows in prop::collection::vec((prop::collection::vec(-3.0f64..3.0, 3), any::<bool>()), 2..30),
            learner in prop_oneof![
                Just(Learner::Perceptron),
                Just(Learner::Averaged),
                Just(Learner::Margin(Default::default())),
                Just(Learner::Sgd(Default::default())),
                Just(Learner::Svm(Default::default())),
                Just(Learner::Batch(Default::default())),
                Just(Learner::PassiveAggressive(Default::default())),
            ],
            seed: u64,
        ) {
            let mut labels: Vec<&str> = rows.iter().map(|(_, up)| if *up { "b" } else { "a" }).collect();
            (labels[0], labels[1]) = ("a", "b");
            let values: Vec<f64> = rows.iter().flat_map(|(row, _)| row.clone()).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let settings = Settings { learner, seed, epochs: 7, ..Settings::default() };
            let pair = train(&data, &settings, &mut ()).unwrap();
            let each = train_each(&data, &settings, &mut ()).unwrap();
            let Learned::Each(parts) = &each.learned else { unreachable!() };
            prop_assert_eq!(parts[1].theta(), pair.learned.theta());
            let mut opposite = parts[0].theta().clone();
            opposite.negate();
            prop_assert_eq!(&opposite, pair.learned.theta());
            prop_assert_eq!(&each.boundaries[1].evidence, &pair.evidence);
            for i in 0..data.len() {
                let score = pair.learned.score(data.row(i));
                if score != 0.0 {
                    prop_assert_eq!(each.learned.class_of(data.row(i)).0, usize::from(score > 0.0));
                }
            }
        }
    }

    #[test]
    fn many_classes_are_told_apart_and_the_same_for_any_number_of_threads() {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..60 {
            let angle = f64::from(i % 5) * 1.3;
            values.extend([10.0 * angle.cos() + f64::from(i) / 60.0, 10.0 * angle.sin()]);
            labels.push((i % 5).to_string());
        }
        let data = Dataset::dense(2, &values, &labels).unwrap();
        let settings = Settings { learner: Learner::Perceptron, epochs: 1000, ..Settings::default() };
        // Inside a pool of one thread the classes are learned one after the other, outside of it in parallel.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let one = pool.install(|| train(&data, &settings, &mut ()).unwrap());
        let two = train(&data, &settings, &mut ()).unwrap();
        assert_eq!(one.learned, two.learned);
        assert_eq!(one.evidence, two.evidence);
        assert_eq!(one.evidence.training_error, Some(0.0));
        assert_eq!(one.boundaries.len(), 5);
    }
}

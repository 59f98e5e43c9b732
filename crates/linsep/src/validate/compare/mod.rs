//! Comparison of learners on the same rows: the error of each on rows it has not seen, and what its theorem
//! says.

mod baseline;
mod fold;
mod progress;

pub use baseline::Baseline;
pub(crate) use baseline::baseline;

use crate::classes::class_name;
use crate::dataset::Dataset;
use crate::memory;
use crate::numbers::{counted, grouped};
use crate::observe::{Note, Observer, Progress, in_parallel, watched};
use crate::prepare::{Preparation, Prepared, Records};
use crate::split::folds;
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::theory::orders::{OrderResult, OrderSpread, order_spread};
use crate::train::{Learner, Outcome, Settings, Status, learners, train};
use crate::validate::metric::{JudgedFolds, Metric};
use crate::{Error, SettingsError};
use fold::Fitted;
use progress::{Named, Overall};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// The learners, each with its options; all else comes from `settings`.
    pub learners: Vec<Contender>,
    /// The settings that the learners share, but for the number of passes.
    pub settings: Settings,
    /// At most this many passes for each run; none for the usual number of each learner.
    pub epochs: Option<u64>,
    /// How rows are prepared, as learned on the training part of each fold.
    pub preparation: Preparation,
    /// By what they are judged on the rows held out.
    pub metric: Metric,
    /// Every row is held out once, in one of this many parts.
    pub folds: usize,
    /// How many orders of the rows to try, up to [`MAX_ORDERS`]; 0 for none beside the usual one.
    pub orders: u64,
}

/// The most orders of the rows: the spread of more is the same, and each keeps weights of its own, which are compared with those of
/// all others.
pub const MAX_ORDERS: u64 = 1000;

/// Refuses more orders than there may be, whichever front end asks for them.
pub(crate) fn check_orders(orders: u64) -> Result<(), SettingsError> {
    if orders <= MAX_ORDERS {
        return Ok(());
    }
    let problem = format!("⟦orders⟧ is {}: at most {} are tried", grouped(orders), grouped(MAX_ORDERS));
    Err(SettingsError::new("orders", problem))
}

/// A learner that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The learner with its options.
    pub learner: Learner,
    /// Its name, with those of its options that differ between contenders.
    pub label: String,
}

impl From<Learner> for Contender {
    fn from(learner: Learner) -> Self {
        Self { learner, label: learner.name().to_string() }
    }
}

/// The learners side by side, the best first; those without a model come last.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Rows.
    pub rows: u64,
    /// Features.
    pub features: u64,
    /// Parts that were held out in turn: all, unless it was interrupted.
    pub folds: u64,
    /// By what the learners were judged.
    pub metric: Metric,
    /// The baseline.
    pub baseline: Baseline,
    /// The learners.
    pub learners: Vec<Entry>,
    /// Whether it was stopped before every row was held out once: the errors are of those that were.
    pub interrupted: bool,
}

impl Comparison {
    /// The learners that were judged, the best first: those with a model.
    pub fn judged(&self) -> impl Iterator<Item = &Entry> {
        self.learners.iter().filter(|entry| entry.value.is_some())
    }

    /// The learners that no other one is better than: several, where they are equally good.
    pub fn best(&self) -> Vec<&Entry> {
        let first = self.judged().next().and_then(|entry| entry.value);
        self.judged().take_while(|entry| entry.value == first).collect()
    }
}

/// One learner.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub learner: &'static str,
    /// Its label: its name, and those of its options that differ between the learners.
    pub label: String,
    /// Its settings.
    pub settings: Settings,
    /// How it ended on all rows. Where that is without a model, nothing was predicted and there are no errors.
    pub status: Status,
    /// Share of all rows that it predicts wrong after learning from all of them.
    pub training_error: Option<f64>,
    /// Share of the rows that were predicted wrong while they were held out.
    pub held_out_error: Option<f64>,
    /// The standard error of that share, √(p(1−p)/n).
    pub standard_error: Option<f64>,
    /// The metric on the rows while they were held out.
    pub value: Option<f64>,
    /// The standard error of that: over the rows where the metric is a mean over them, else over the folds.
    pub value_error: Option<f64>,
    /// The interval of the margin that training on all rows proves.
    pub margin: MarginInterval,
    /// Updates it made on all rows.
    pub updates: u64,
    /// Whether it converged on all rows.
    pub converged: bool,
    /// Novikoff's bound on the mistakes, by that margin.
    pub mistake_bound: MistakeBound,
    /// Seconds that learning from all rows took.
    pub seconds: f64,
    /// How much the result depends on the order of the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orders: Option<OrderSpread>,
}

/// Compares learners on these rows.
pub fn compare(
    records: &Records,
    settings: &CompareSettings,
    observer: &mut dyn Observer,
) -> Result<Comparison, Error> {
    let data = &records.data;
    if settings.learners.is_empty() {
        return Err(SettingsError::new("learners", "no learner was named to compare").into());
    }
    check_orders(settings.orders)?;
    // The weights of every order, and their directions.
    let runs = settings.orders.saturating_mul(settings.learners.len() as u64);
    memory::check(runs.saturating_mul(data.columns() as u64 * 16), || {
        format!(
            "the weights of {} in {} orders",
            counted(settings.learners.len() as u64, "learner", "learners"),
            grouped(settings.orders)
        )
    })?;
    let parts = folds(data, settings.folds, settings.settings.seed)?;
    let each: Vec<Settings> = settings
        .learners
        .iter()
        .map(|&Contender { learner, .. }| {
            let epochs = settings.epochs.unwrap_or(learner.usual_epochs());
            Settings { learner, epochs, ..settings.settings.clone() }
        })
        .collect();
    for settings in &each {
        settings.validate()?;
    }
    let outcomes = outcomes(data, settings.settings.positive.as_deref());
    settings.metric.check(outcomes)?;
    if let Some(contender) =
        settings.learners.iter().find(|each| !is_judged(each.learner, settings.metric, outcomes))
    {
        let problem = format!(
            "{} gives no probabilities, and the log loss is about them: compare logistic or, for two classes, sgd \
             with ⟦loss=log⟧, or choose another ⟦metric⟧",
            contender.label
        );
        return Err(SettingsError::new("metric", problem).into());
    }
    check_folds(data, &parts, settings.settings.positive.as_deref())?;
    let columns = settings.preparation.columns(records.schema.clone(), data.clone(), None)?;
    columns.schema.remarks().iter().for_each(|remark| observer.note(Note::Remark(remark)));
    columns.warn_of_terms(observer);
    let whole = settings.preparation.rest(columns, &settings.settings, observer)?;
    let Prepared { train: rows, recipe, .. } = whole.ok_or(Error::Interrupted)?;

    // Each learner on all rows, one after the other, so that the times can be compared.
    let mut whole = Vec::new();
    let mut interrupted = false;
    for (settings, contender) in each.iter().zip(&settings.learners) {
        let clock = Instant::now();
        let mut named = Named { outer: observer, label: &contender.label };
        let outcome = train(&rows, settings, &mut named)?;
        interrupted = outcome.status == Status::Interrupted;
        whole.push((outcome, clock.elapsed().as_secs_f64()));
        if interrupted {
            break;
        }
    }
    let mut folds = Folds::default();
    if !interrupted {
        // All rows contain the rows of every fold: a learner without a model on them is not tried again.
        folds.judged = (0..each.len()).filter(|&learner| whole[learner].0.status.has_model()).collect();
        drop(rows);
        interrupted = folds.learn(records, &parts, &each, settings, observer)?.is_break();
    }
    // The folds that were judged before an interruption count; without any there is nothing to show.
    if interrupted && folds.results.is_empty() {
        return Err(Error::Interrupted);
    }
    let mut entries: Vec<Entry> = whole
        .into_iter()
        .enumerate()
        .filter(|(_, (outcome, _))| outcome.evidence.training_error.is_some())
        .map(|(learner, (outcome, seconds))| {
            let mut entry = folds.entry(learner, &each[learner], outcome, seconds, &parts);
            entry.orders = folds.orders_of(learner, &parts, observer);
            entry.label = settings.learners[learner].label.clone();
            if let Some(judged) = folds.take_judged(learner).filter(|_| entry.held_out_error.is_some()) {
                let (value, error) = settings.metric.of_folds(&judged, outcomes);
                (entry.value, entry.value_error) = (Some(value), Some(error));
            }
            entry
        })
        .collect();
    entries.sort_by(|a, b| {
        let value = |entry: &Entry| entry.value.unwrap_or(f64::INFINITY);
        value(a).total_cmp(&value(b))
    });
    Ok(Comparison {
        rows: data.len() as u64,
        features: recipe.features() as u64,
        folds: folds.results.len() as u64,
        metric: settings.metric,
        baseline: baseline(data, &settings.settings, settings.metric),
        learners: entries,
        interrupted,
    })
}

/// How many outcomes there are: the classes of the rows, or one class and the rest.
pub(crate) fn outcomes(data: &Dataset, positive: Option<&str>) -> usize {
    let classes = data.class_counts().iter().filter(|&&count| count > 0).count();
    if positive.is_some() { 2 } else { classes }
}

/// Whether a learner gives what the metric is about.
pub(crate) fn is_judged(learner: Learner, metric: Metric, outcomes: usize) -> bool {
    let abilities = learner.abilities();
    !metric.needs_probabilities() || (abilities.probabilities && (outcomes == 2 || abilities.many_classes))
}

/// The results on the folds.
#[derive(Default)]
struct Folds {
    /// The learners that are tried.
    judged: Vec<usize>,
    /// For each fold, the result of each of them.
    results: Vec<Vec<Fitted>>,
    /// For each of them, its results on the first fold in other orders.
    orders: Vec<Vec<Fitted>>,
}

impl Folds {
    /// Learns as many folds at a time as there are threads: each is a copy of the rows. The first fold is also learned
    /// in other orders. Breaks if it was interrupted.
    fn learn(
        &mut self,
        records: &Records,
        parts: &[Vec<usize>],
        each: &[Settings],
        settings: &CompareSettings,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>, Error> {
        let tried = self.judged.len();
        self.orders = vec![Vec::new(); tried];
        let total = ((parts.len() + settings.orders as usize) * tried) as u64;
        let latest = Mutex::new(String::new());
        let mut progress = Overall { outer: observer, before: 0, total, latest: &latest };
        for (batch, some) in parts.chunks(rayon::current_num_threads().max(1)).enumerate() {
            let folds = some
                .iter()
                .map(|part| settings.preparation.fit_fold(records, part, &settings.settings, progress.outer));
            let Some(folds) = folds.collect::<Result<Option<Vec<Prepared>>, Error>>()? else {
                return Ok(ControlFlow::Break(()));
            };
            let orders = if batch == 0 { settings.orders } else { 0 };
            let jobs: Vec<(usize, usize, u64)> = (0..folds.len())
                .flat_map(|fold| (0..tried).map(move |place| (fold, place, 0)))
                .chain((1..=orders).flat_map(|order| (0..tried).map(move |place| (0, place, order))))
                .collect();
            let done = in_parallel(&jobs, "runs", &mut progress, |&(fold, place, order), part| {
                let usual = &each[self.judged[place]];
                if let Ok(mut latest) = latest.lock() {
                    latest.clone_from(&settings.learners[self.judged[place]].label);
                }
                let own = Settings { seed: usual.seed.wrapping_add(order), ..usual.clone() };
                let mut fitted = fold::fit(&folds[fold], &own, part);
                // Of another order only the sum is shown.
                if let (Ok(Some(fitted)), 1..) = (&mut fitted, order) {
                    fitted.judged = Vec::new();
                }
                fitted
            });
            progress.before += jobs.len() as u64;
            let done = done.into_iter().collect::<Result<Vec<Option<Fitted>>, Error>>()?;
            let Some(done) = done.into_iter().collect::<Option<Vec<Fitted>>>() else {
                return Ok(ControlFlow::Break(()));
            };
            let mut done = done.into_iter();
            self.results.extend((0..folds.len()).map(|_| done.by_ref().take(tried).collect()));
            for (job, fitted) in jobs[folds.len() * tried..].iter().zip(done) {
                self.orders[job.1].push(fitted);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What a learner said about the rows of each fold.
    fn take_judged(&mut self, learner: usize) -> Option<JudgedFolds> {
        let place = self.judged.iter().position(|&other| other == learner)?;
        Some(self.results.iter_mut().map(|fold| std::mem::take(&mut fold[place].judged)).collect())
    }

    /// What there is to show of a learner.
    fn entry(
        &self,
        learner: usize,
        settings: &Settings,
        outcome: Outcome,
        seconds: f64,
        parts: &[Vec<usize>],
    ) -> Entry {
        let place = self.judged.iter().position(|&other| other == learner);
        let results: Vec<&Fitted> =
            place.map_or(Vec::new(), |place| self.results.iter().map(|fold| &fold[place]).collect());
        // A limit of time can leave a fold without a model where all rows had one.
        let without = results.iter().map(|fitted| fitted.status).find(|status| !status.has_model());
        let status = without.unwrap_or(outcome.status);
        let rows: f64 = parts[..self.results.len()].iter().map(|part| part.len() as f64).sum();
        let errors: u64 = results.iter().map(|fitted| fitted.errors).sum();
        let share = status.has_model().then_some(errors as f64 / rows);
        Entry {
            learner: settings.learner.name(),
            label: settings.learner.name().to_string(),
            settings: settings.clone(),
            status,
            training_error: outcome.evidence.training_error.filter(|_| status.has_model()),
            held_out_error: share,
            standard_error: share.map(|share| (share * (1.0 - share) / rows).sqrt()),
            value: None,
            value_error: None,
            margin: outcome.evidence.margin,
            updates: outcome.evidence.updates,
            converged: status == Status::Converged,
            mistake_bound: outcome.evidence.mistake_bound,
            seconds,
            orders: None,
        }
    }

    /// The spread of a learner's results over the orders that were tried. Many orders have very many pairs to compare, which the
    /// observer can end.
    fn orders_of(
        &mut self,
        learner: usize,
        parts: &[Vec<usize>],
        observer: &mut dyn Observer,
    ) -> Option<OrderSpread> {
        let place = self.judged.iter().position(|&other| other == learner)?;
        let orders: Vec<OrderResult> = std::mem::take(&mut self.orders[place])
            .into_iter()
            .map(|fitted| OrderResult {
                theta: fitted.theta,
                margin: fitted.margin,
                held_out_error: Some(fitted.errors as f64 / parts[0].len() as f64),
            })
            .collect();
        let total = orders.len() as u64;
        let progress = Progress::Parts { what: "orders", done: total, total };
        let spread = |stop: &AtomicBool| order_spread(&orders, &|| stop.load(Ordering::Relaxed));
        (total > 0).then(|| watched(observer, &progress, spread))
    }
}

/// Refuses folds that leave nothing of a side to learn from.
pub(crate) fn check_folds(data: &Dataset, parts: &[Vec<usize>], positive: Option<&str>) -> Result<(), Error> {
    let total = data.class_counts();
    for part in parts {
        let mut left = total.clone();
        part.iter().for_each(|&i| left[data.labels()[i] as usize] -= 1);
        let present: Vec<&String> =
            (0..left.len()).filter(|&k| left[k] > 0).map(|k| &data.classes()[k]).collect();
        let positive = positive.and_then(class_name);
        let sides = match &positive {
            Some(name) => {
                usize::from(present.contains(&name)) + usize::from(present.iter().any(|class| *class != name))
            }
            None => present.len(),
        };
        if sides < 2 {
            let gone = (0..left.len()).find(|&k| total[k] > 0 && left[k] == 0).unwrap_or(0);
            let (class, rows) = (&data.classes()[gone], counted(total[gone] as u64, "row", "rows"));
            return Err(SettingsError::new("learners", format!(
                "class \"{class}\" has {rows}, all in one fold: while they are held out, nothing is left to tell it from \
                 the others by. Give more rows of it, or leave it out with ⟦classes⟧"
            ))
            .into());
        }
    }
    Ok(())
}

/// All learners that suit the rows, with their usual options, and those that do not, with the reason.
pub fn suitable(data: &Dataset) -> (Vec<Learner>, Vec<(Learner, String)>) {
    let classes = data.class_counts().iter().filter(|&&count| count > 0).count();
    let (mut kept, mut left) = (Vec::new(), Vec::new());
    for descriptor in learners() {
        let learner = descriptor.learner();
        match descriptor.compared_up_to {
            _ if !descriptor.abilities.two_sides && classes == 2 => {
                left.push((learner, "with two classes it is the averaged perceptron".to_string()));
            }
            Some(limit) if data.len() > limit.rows => {
                let rows = limit.rows;
                left.push((learner, format!("{}, and there are more than {rows} rows", limit.reason)));
            }
            _ => kept.push(learner),
        }
    }
    (kept, left)
}

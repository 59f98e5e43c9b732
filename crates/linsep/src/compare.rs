//! Learners side by side on the same rows: the error of each on rows it has not seen, and what its theorem says.

use crate::classes::class_name;
use crate::dataset::Dataset;
use crate::features::{Expansion, Recipe, Scaler, Scaling, Schema};
use crate::model::Model;
use crate::numbers::counted;
use crate::observe::{Observer, Progress, in_parallel};
use crate::split::{folds, others};
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::theory::orders::{OrderResult, OrderSpread, order_spread};
use crate::theta::Theta;
use crate::train::{Learned, Learner, Outcome, Settings, Status, learners, train};
use crate::{Error, SettingsError};
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::Instant;

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// The learners; all else comes from `settings`.
    pub learners: Vec<Learner>,
    /// The settings that the learners share, but for the number of passes.
    pub settings: Settings,
    /// At most this many passes for each run; none for the usual number of each learner.
    pub epochs: Option<u64>,
    /// How features are scaled, as learned on the training part of each fold.
    pub scaling: Scaling,
    /// Every row is held out once, in one of this many parts.
    pub folds: usize,
    /// How many orders of the rows to try; 0 for none beside the usual one.
    pub orders: u64,
}

/// The learners side by side, the smallest held-out error first; those without a model come last.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Rows.
    pub rows: u64,
    /// Features.
    pub features: u64,
    /// Parts that were held out in turn: all, unless it was interrupted.
    pub folds: u64,
    /// The learners.
    pub learners: Vec<Entry>,
    /// Whether it was stopped before every row was held out once: the errors are of those that were.
    pub interrupted: bool,
}

/// One learner.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub learner: &'static str,
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
    /// What learning from all rows proves about their margin.
    pub margin: MarginInterval,
    /// Updates it made on all rows.
    pub updates: u64,
    /// Whether it converged on all rows.
    pub converged: bool,
    /// What Novikoff's theorem makes of the margin.
    pub mistake_bound: MistakeBound,
    /// Seconds that learning from all rows took.
    pub seconds: f64,
    /// How much the result depends on the order of the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orders: Option<OrderSpread>,
}

/// Rows to learn from, and rows to judge on.
struct Fold {
    train: Dataset,
    held_out: Dataset,
    scaler: Scaler,
}

impl Fold {
    fn new(data: &Dataset, part: &[usize], scaling: Scaling) -> Result<Self, Error> {
        let train = data.subset(&others(data.len(), part))?;
        let scaler = Scaler::learn(scaling, &train);
        Ok(Self { train: scaler.apply_all(train)?, held_out: data.subset(part)?, scaler })
    }

    /// Learns, and counts the errors on the rows held out; none if it was stopped.
    fn fit(&self, settings: &Settings, observer: &mut dyn Observer) -> Result<Option<Fitted>, Error> {
        // After a stop no run begins.
        if observer.progress(&Progress::Parts { what: "runs", done: 0, total: 1 }).is_break() {
            return Ok(None);
        }
        let outcome = train(&self.train, settings, observer)?;
        if outcome.status == Status::Interrupted {
            return Ok(None);
        }
        let status = outcome.status;
        // Only weights of one boundary have angles between them.
        let theta = match &outcome.learned {
            Learned::Linear(theta) => theta.clone(),
            _ => Theta::default(),
        };
        let margin = outcome.evidence.margin.lower;
        let schema = Schema::Array { features: self.train.columns() };
        let recipe = Recipe { columns: schema, expansion: Expansion::none(), scaling: self.scaler.clone() };
        let model = Model::with_recipe(outcome, recipe, None);
        let errors = model.errors_watched(&self.held_out, observer);
        Ok(errors.map(|errors| Fitted { status, theta, margin, errors }))
    }
}

/// The result of a run on the rows of a fold.
#[derive(Clone)]
struct Fitted {
    status: Status,
    theta: Theta,
    margin: Option<f64>,
    errors: u64,
}

/// Compares learners on the rows of `data`.
pub fn compare(
    data: &Dataset,
    settings: &CompareSettings,
    observer: &mut dyn Observer,
) -> Result<Comparison, Error> {
    if settings.learners.is_empty() {
        return Err(SettingsError::new("learners", "no learner was named to compare").into());
    }
    let parts = folds(data, settings.folds, settings.settings.seed)?;
    let each: Vec<Settings> = settings
        .learners
        .iter()
        .map(|&learner| {
            let epochs = settings.epochs.unwrap_or(learner.usual_epochs());
            Settings { learner, epochs, ..settings.settings.clone() }
        })
        .collect();
    for settings in &each {
        settings.validate()?;
    }
    check_folds(data, &parts, settings.settings.positive.as_deref())?;
    let scaled;
    let whole_data = if settings.scaling == Scaling::None {
        data
    } else {
        scaled = Scaler::learn(settings.scaling, data).apply_all(data.clone())?;
        &scaled
    };

    // Each learner on all rows, one after the other, so that the times can be compared.
    let mut whole = Vec::new();
    let mut interrupted = false;
    for settings in &each {
        let clock = Instant::now();
        let outcome = train(whole_data, settings, observer)?;
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
        interrupted = folds.learn(data, &parts, &each, settings, observer)?.is_break();
    }
    // The folds that were judged before an interruption count; without any there is nothing to show.
    if interrupted && folds.results.is_empty() {
        return Err(Error::Interrupted);
    }
    let mut entries: Vec<Entry> = whole
        .into_iter()
        .enumerate()
        .filter(|(_, (outcome, _))| outcome.evidence.training_error.is_some())
        .map(|(learner, (outcome, seconds))| folds.entry(learner, &each[learner], outcome, seconds, &parts))
        .collect();
    entries.sort_by(|a, b| {
        let error = |entry: &Entry| entry.held_out_error.unwrap_or(f64::INFINITY);
        error(a).total_cmp(&error(b))
    });
    let (rows, features) = (data.len() as u64, data.columns() as u64);
    Ok(Comparison { rows, features, folds: folds.results.len() as u64, learners: entries, interrupted })
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
        data: &Dataset,
        parts: &[Vec<usize>],
        each: &[Settings],
        settings: &CompareSettings,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>, Error> {
        let tried = self.judged.len();
        self.orders = vec![Vec::new(); tried];
        let total = ((parts.len() + settings.orders as usize) * tried) as u64;
        let mut progress = Overall { outer: observer, before: 0, total };
        for (batch, some) in parts.chunks(rayon::current_num_threads().max(1)).enumerate() {
            let folds = some
                .iter()
                .map(|part| Fold::new(data, part, settings.scaling))
                .collect::<Result<Vec<_>, _>>()?;
            let orders = if batch == 0 { settings.orders } else { 0 };
            let jobs: Vec<(usize, usize, u64)> = (0..folds.len())
                .flat_map(|fold| (0..tried).map(move |place| (fold, place, 0)))
                .chain((1..=orders).flat_map(|order| (0..tried).map(move |place| (0, place, order))))
                .collect();
            let done = in_parallel(&jobs, "runs", &mut progress, |&(fold, place, order), part| {
                let usual = &each[self.judged[place]];
                let settings = Settings { seed: usual.seed.wrapping_add(order), ..usual.clone() };
                folds[fold].fit(&settings, part)
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
        let orders: Vec<OrderResult> = place
            .map_or(&[][..], |place| &self.orders[place])
            .iter()
            .map(|fitted| OrderResult {
                theta: fitted.theta.clone(),
                margin: fitted.margin,
                held_out_error: Some(fitted.errors as f64 / parts[0].len() as f64),
            })
            .collect();
        Entry {
            learner: settings.learner.name(),
            settings: settings.clone(),
            status,
            training_error: outcome.evidence.training_error.filter(|_| status.has_model()),
            held_out_error: share,
            standard_error: share.map(|share| (share * (1.0 - share) / rows).sqrt()),
            margin: outcome.evidence.margin,
            updates: outcome.evidence.updates,
            converged: status == Status::Converged,
            mistake_bound: outcome.evidence.mistake_bound,
            seconds,
            orders: (!orders.is_empty()).then(|| order_spread(&orders)),
        }
    }
}

/// Adds what was done before to what is being done.
struct Overall<'a> {
    outer: &'a mut dyn Observer,
    before: u64,
    total: u64,
}

impl Observer for Overall<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        match *progress {
            Progress::Parts { what, done, .. } => {
                self.outer.progress(&Progress::Parts { what, done: self.before + done, total: self.total })
            }
            ref other => self.outer.progress(other),
        }
    }

    fn will_stop(&self) -> bool {
        self.outer.will_stop()
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

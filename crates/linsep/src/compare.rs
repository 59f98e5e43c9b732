//! Learners side by side on the same rows: how well each does on rows it has not seen, and what its theorem says.

use crate::classes::class_name;
use crate::dataset::Dataset;
use crate::model::Model;
use crate::numbers::counted;
use crate::observe::{Observer, Progress, in_parallel};
use crate::read::Schema;
use crate::scale::{Scaler, Scaling};
use crate::split::folds;
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::theory::orders::{OrderResult, OrderSpread, order_spread};
use crate::theta::Theta;
use crate::train::{Learned, Learner, Settings, Status, train};
use crate::{Error, SettingsError};
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::Instant;

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// The learners; all else comes from `settings`.
    pub learners: Vec<Learner>,
    /// What the learners have in common, but for the number of passes.
    pub settings: Settings,
    /// At most this many passes for each run; none for what is usual for the learner.
    pub epochs: Option<u64>,
    /// How features are scaled, as learned on the training part of each fold.
    pub scaling: Scaling,
    /// Every row is held out once, in one of this many parts.
    pub folds: usize,
    /// How many orders of the rows to try; 0 for none beside the usual one.
    pub orders: u64,
}

/// The learners side by side, the smallest held-out error first.
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
    /// Share of all rows that it predicts wrong after learning from all of them.
    pub training_error: f64,
    /// Share of the rows that were predicted wrong while they were held out.
    pub held_out_error: f64,
    /// The standard error of that share, √(p(1−p)/n).
    pub standard_error: f64,
    /// What learning from all rows proves about their margin.
    pub margin: MarginInterval,
    /// Updates it made on all rows.
    pub updates: u64,
    /// Whether it came to its end on all rows.
    pub converged: bool,
    /// What Novikoff's theorem makes of the margin.
    pub mistake_bound: MistakeBound,
    /// Seconds that learning from all rows took.
    pub seconds: f64,
    /// What the order of the rows alone changes (B9).
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
        let rest: Vec<usize> = (0..data.len()).filter(|i| part.binary_search(i).is_err()).collect();
        let train = data.subset(&rest)?;
        let scaler = Scaler::learn(scaling, &train);
        Ok(Self { train: scaler.apply_all(train)?, held_out: data.subset(part)?, scaler })
    }

    /// Learns, and counts the errors on the rows held out; none if it was stopped.
    fn fit(&self, settings: &Settings, observer: &mut dyn Observer) -> Result<Option<Fitted>, Error> {
        // What is to stop need not begin.
        if observer.progress(&Progress::Parts { what: "runs", done: 0, total: 1 }).is_break() {
            return Ok(None);
        }
        let outcome = train(&self.train, settings, observer)?;
        if outcome.status == Status::Interrupted {
            return Ok(None);
        }
        // Only weights of one boundary have angles between them.
        let theta = match &outcome.learned {
            Learned::Linear(theta) => theta.clone(),
            _ => Theta::default(),
        };
        let margin = outcome.evidence.margin.lower;
        let schema = Schema::Array { features: self.train.columns() };
        let model = Model::with_reading(outcome, schema, self.scaler.clone(), None);
        let errors = model.errors_on(&self.held_out);
        Ok(Some(Fitted { theta, margin, errors }))
    }
}

/// What is kept of a run on the rows of a fold.
#[derive(Clone)]
struct Fitted {
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
    // Then the folds, as many at a time as there are threads: each is a copy of the rows. The first fold is also learned
    // in other orders.
    let per_fold = each.len();
    let mut progress = Overall {
        outer: observer,
        before: 0,
        total: ((parts.len() + settings.orders as usize) * per_fold) as u64,
    };
    let mut on_folds: Vec<Vec<Fitted>> = Vec::new();
    let mut on_orders: Vec<Vec<Fitted>> = vec![Vec::new(); per_fold];
    for (batch, some) in parts.chunks(rayon::current_num_threads().max(1)).enumerate() {
        if interrupted {
            break;
        }
        let folds =
            some.iter().map(|part| Fold::new(data, part, settings.scaling)).collect::<Result<Vec<_>, _>>()?;
        let orders = if batch == 0 { settings.orders } else { 0 };
        let jobs: Vec<(usize, usize, u64)> = (0..folds.len())
            .flat_map(|fold| (0..per_fold).map(move |learner| (fold, learner, 0)))
            .chain((1..=orders).flat_map(|order| (0..per_fold).map(move |learner| (0, learner, order))))
            .collect();
        let done = in_parallel(&jobs, "runs", &mut progress, |&(fold, learner, order), part| {
            let settings = Settings { seed: each[learner].seed.wrapping_add(order), ..each[learner].clone() };
            folds[fold].fit(&settings, part)
        });
        progress.before += jobs.len() as u64;
        let done = done.into_iter().collect::<Result<Vec<Option<Fitted>>, Error>>()?;
        let Some(done) = done.into_iter().collect::<Option<Vec<Fitted>>>() else {
            interrupted = true;
            break;
        };
        let mut done = done.into_iter();
        on_folds.extend((0..folds.len()).map(|_| done.by_ref().take(per_fold).collect()));
        for (job, fitted) in jobs[folds.len() * per_fold..].iter().zip(done) {
            on_orders[job.1].push(fitted);
        }
    }

    // What was judged before an interruption counts; before that there is nothing to show.
    let rows: f64 = parts[..on_folds.len()].iter().map(|part| part.len() as f64).sum();
    if rows == 0.0 {
        return Err(Error::Interrupted);
    }
    let mut entries = Vec::new();
    for (learner, (outcome, seconds)) in whole.into_iter().enumerate() {
        let Some(training_error) = outcome.evidence.training_error else { continue };
        let errors: u64 = on_folds.iter().map(|fold| fold[learner].errors).sum();
        let (evidence, share) = (outcome.evidence, errors as f64 / rows);
        let orders: Vec<OrderResult> = on_orders[learner]
            .iter()
            .map(|fitted| OrderResult {
                theta: fitted.theta.clone(),
                margin: fitted.margin,
                held_out_error: Some(fitted.errors as f64 / parts[0].len() as f64),
            })
            .collect();
        entries.push(Entry {
            learner: each[learner].learner.name(),
            settings: each[learner].clone(),
            training_error,
            held_out_error: share,
            standard_error: (share * (1.0 - share) / rows).sqrt(),
            margin: evidence.margin,
            updates: evidence.updates,
            converged: outcome.status == Status::Converged,
            mistake_bound: evidence.mistake_bound,
            seconds,
            orders: (!orders.is_empty()).then(|| order_spread(&orders)),
        });
    }
    entries.sort_by(|a, b| a.held_out_error.total_cmp(&b.held_out_error));
    let (rows, features) = (data.len() as u64, data.columns() as u64);
    Ok(Comparison { rows, features, folds: on_folds.len() as u64, learners: entries, interrupted })
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
}

/// Refuses folds that leave nothing of a side to learn from.
fn check_folds(data: &Dataset, parts: &[Vec<usize>], positive: Option<&str>) -> Result<(), Error> {
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
    let all = [
        Learner::Perceptron,
        Learner::Averaged,
        Learner::Voted,
        Learner::Margin(Default::default()),
        Learner::Batch(Default::default()),
        Learner::Pocket(Default::default()),
        Learner::Lifted(Default::default()),
        Learner::Kernel(Default::default()),
        Learner::Multiclass(Default::default()),
        Learner::Sgd(Default::default()),
        Learner::Svm(Default::default()),
        Learner::PassiveAggressive(Default::default()),
        Learner::Memoriser,
    ];
    let unsuitable = |learner: &Learner| match learner {
        Learner::Multiclass(_) if classes == 2 => {
            Some("with two classes it is the averaged perceptron".to_string())
        }
        Learner::Kernel(_) if data.len() > MOST_KERNEL_ROWS => Some(format!(
            "its time grows with the square of the rows, and there are more than {MOST_KERNEL_ROWS}"
        )),
        Learner::Voted if data.len() > MOST_VOTED_ROWS => {
            Some(format!("counting votes takes long with more than {MOST_VOTED_ROWS} rows"))
        }
        _ => None,
    };
    let (mut kept, mut left) = (Vec::new(), Vec::new());
    for learner in all {
        match unsuitable(&learner) {
            Some(reason) => left.push((learner, reason)),
            None => kept.push(learner),
        }
    }
    (kept, left)
}

const MOST_KERNEL_ROWS: usize = 5_000;
const MOST_VOTED_ROWS: usize = 20_000;

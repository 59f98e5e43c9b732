//! Learners side by side on the same rows: how well each does on rows it has not seen, and what its theorem says.

use crate::dataset::Dataset;
use crate::model::{Model, Predictor};
use crate::observe::{Observer, in_parallel};
use crate::read::Schema;
use crate::scale::{Scaler, Scaling};
use crate::split::folds;
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use crate::theory::orders::{OrderResult, OrderSpread, order_spread};
use crate::theta::Theta;
use crate::train::{Learned, Learner, Outcome, Settings, Status, train};
use crate::{Error, SettingsError};
use serde::Serialize;
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
    /// Parts that were held out in turn.
    pub folds: u64,
    /// The learners.
    pub learners: Vec<Entry>,
    /// Whether it was stopped before all learners were done: those are missing.
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

/// One piece of work, done in parallel with others.
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

    /// Learns, and counts the errors on the rows held out.
    fn errors(&self, settings: &Settings, observer: &mut impl Observer) -> Result<(Outcome, u64), Error> {
        let outcome = train(&self.train, settings, observer)?;
        let schema = Schema::Array { features: self.train.columns() };
        let model = Model::with_reading(outcome.clone(), schema, self.scaler.clone(), None);
        let mut predictor = Predictor::new(&model);
        let wrong = |i: &usize| {
            let class = &self.held_out.classes()[self.held_out.labels()[*i] as usize];
            Some(predictor.predict(self.held_out.row(*i)).outcome) != model.classes.outcome_of(class)
        };
        let errors = (0..self.held_out.len()).filter(wrong).count() as u64;
        Ok((outcome, errors))
    }
}

/// Compares learners on the rows of `data`.
pub fn compare(
    data: &Dataset,
    settings: &CompareSettings,
    observer: &mut impl Observer,
) -> Result<Comparison, Error> {
    if settings.learners.is_empty() {
        return Err(SettingsError("no learner was named to compare".into()).into());
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
    let pieces =
        parts.iter().map(|part| Fold::new(data, part, settings.scaling)).collect::<Result<Vec<_>, _>>()?;
    let scaler = Scaler::learn(settings.scaling, data);
    let scaled = scaler.apply_all(data.clone())?;

    // Each learner on all rows, one after the other, so that the times can be compared.
    let mut whole = Vec::new();
    for settings in &each {
        let clock = Instant::now();
        let outcome = train(&scaled, settings, observer)?;
        whole.push((outcome, clock.elapsed().as_secs_f64()));
    }
    // Then all folds, and all orders of the rows of the first fold, at once.
    let jobs: Vec<(usize, usize, u64)> = (0..each.len())
        .flat_map(|learner| {
            let folds = (0..pieces.len()).map(move |fold| (learner, fold, 0));
            folds.chain((1..=settings.orders).map(move |order| (learner, 0, order)))
        })
        .collect();
    let done = in_parallel(&jobs, "runs", observer, |&(learner, fold, order), part| {
        let seed = each[learner].seed.wrapping_add(order);
        pieces[fold].errors(&Settings { seed, ..each[learner].clone() }, part)
    });
    let done = done.into_iter().collect::<Result<Vec<_>, Error>>()?;

    let mut entries = Vec::new();
    let mut interrupted = false;
    let per_learner = pieces.len() + settings.orders as usize;
    for ((settings, (outcome, seconds)), runs) in each.into_iter().zip(whole).zip(done.chunks(per_learner)) {
        let stopped = |outcome: &Outcome| outcome.status == Status::Interrupted;
        if stopped(&outcome) || runs.iter().any(|(outcome, _)| stopped(outcome)) {
            interrupted = true;
            continue;
        }
        let (on_folds, on_orders) = runs.split_at(pieces.len());
        let errors: u64 = on_folds.iter().map(|(_, errors)| errors).sum();
        let (n, evidence) = (data.len() as f64, outcome.evidence);
        let share = errors as f64 / n;
        let runs: Vec<OrderResult> = on_orders
            .iter()
            .map(|(outcome, errors)| OrderResult {
                // Only weights of one boundary have angles between them.
                theta: match &outcome.learned {
                    Learned::Linear(theta) => theta.clone(),
                    _ => Theta::default(),
                },
                margin: outcome.evidence.margin.lower,
                held_out_error: Some(*errors as f64 / pieces[0].held_out.len() as f64),
            })
            .collect();
        entries.push(Entry {
            learner: settings.learner.name(),
            settings,
            training_error: evidence.training_error.unwrap_or(f64::NAN),
            held_out_error: share,
            standard_error: (share * (1.0 - share) / n).sqrt(),
            margin: evidence.margin,
            updates: evidence.updates,
            converged: outcome.status == Status::Converged,
            mistake_bound: evidence.mistake_bound,
            seconds,
            orders: (!runs.is_empty()).then(|| order_spread(&runs)),
        });
    }
    entries.sort_by(|a, b| a.held_out_error.total_cmp(&b.held_out_error));
    let (rows, features) = (data.len() as u64, data.columns() as u64);
    Ok(Comparison { rows, features, folds: pieces.len() as u64, learners: entries, interrupted })
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

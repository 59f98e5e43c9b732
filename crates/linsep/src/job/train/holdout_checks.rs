//! How far a training run can be trusted: what the held-out rows tell, and what is warned of.

use super::{Runner, Trained, advice, duplicates, leak, outcome_counts};
use crate::classes::{ClassPair, Classes};
use crate::dataset::Dataset;
use crate::features::{Scaling, Schema};
use crate::job::measure::{Evaluated, Judged, JudgedRow, most_frequent};
use crate::job::warnings::{GapsOfClass, JudgedOn, Warning};
use crate::model::Model;
use crate::observe::{Note, Observer, Pace, Progress};
use crate::train::{Bias, Settings};

/// The evaluation on held-out rows.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Rows predicted wrong. A row of a class that no training row has is one of them.
    pub errors: u64,
    /// Rows held out.
    pub rows: u64,
    /// The measures, over the rows of the classes that were learned. Their baseline always predicts the
    /// most frequent class of the training rows.
    pub evaluated: Evaluated,
    /// Rows with the same features as a training row.
    pub duplicates: u64,
    /// Every row by itself, where that was asked for.
    pub judged: Vec<JudgedRow>,
}

/// The properties of the rows that are known before training.
#[derive(Default)]
pub(super) struct Warned {
    pub(super) warnings: Vec<Warning>,
    /// Held-out rows with the same features as a training row.
    duplicates: u64,
}

/// Classes up to which it is looked whether each was predicted for some training row: that takes a score for each class.
const MAX_LOOKED_FOR: usize = 1000;

impl Runner<'_> {
    /// The remark where each of many classes is trained against the rest.
    pub(super) fn remark_on_classes(&self, classes: usize) -> Option<String> {
        let each = classes > 2
            && self.settings.positive.is_none()
            && !self.settings.learner.abilities().many_classes;
        each.then(|| advice::many_classes(classes))
    }

    /// Warns, before anything is learned, of what would change a user's mind: rare classes, columns that know the answer,
    /// few rows, rows on both sides of the split. The rows are as read, not yet scaled.
    pub(super) fn warn_before(
        &self,
        schema: &Schema,
        data: &Dataset,
        held_out: Option<&Dataset>,
        observer: &mut dyn Observer,
    ) -> Warned {
        let duplicates = held_out.map_or(0, |held_out| duplicates::count(data, held_out));
        // Without two sides nothing will be learned, and that will be said.
        let Some(classes) = sides(data, &self.settings) else { return Warned::default() };
        let (names, side_of) = (classes.outcomes(), classes.outcomes_of(data.classes()));
        let side_of: Vec<usize> = side_of.into_iter().map(|side| side.unwrap_or(0)).collect();
        let rows_of = data.class_counts().into_iter().map(|count| count as u64);
        let counts = outcome_counts(&classes, data.classes(), rows_of);
        let leaks = self.leaks(schema, data, &side_of, &names);
        let few_rows = || Warning::few_rows(data.len() as u64, dimensions(data, &self.settings)?);
        let held_out = held_out.map_or(0, |held_out| held_out.len() as u64);
        let warnings: Vec<Warning> = Warning::rare_classes(&names, &counts)
            .into_iter()
            .chain(leaks)
            .chain(few_rows())
            .chain(Warning::duplicates(duplicates, held_out))
            .collect();
        warnings.iter().for_each(|warning| warning.emit(observer));
        Warned { warnings, duplicates }
    }

    /// Warns of columns that know the answer, by their values or by their missing cells.
    fn leaks(&self, schema: &Schema, data: &Dataset, side_of: &[usize], names: &[String]) -> Vec<Warning> {
        let sides = names.len();
        // A threshold needs a bias, and rows that are scaled feature by feature.
        let linear = self.settings.learner.abilities().weighs_features
            && self.settings.bias != Bias::None
            && self.scaling() != Scaling::UnitRows;
        let together = sides == 2 || self.settings.learner.abilities().many_classes;
        let by_value = leak::find(schema, data, side_of, sides);
        let by_gaps = leak::find_gaps(schema, data, side_of, sides).map(|mut leak| {
            let said = by_value.iter().flat_map(|leak| &leak.columns).collect::<Vec<_>>();
            leak.columns.retain(|(column, _)| !said.contains(&column));
            leak
        });
        let by_gaps = by_gaps.filter(|leak| !leak.columns.is_empty()).map(|leak| Warning::GapLeak {
            separable: linear && sides == 2,
            log10_chance: leak.log10_chance,
            columns: leak
                .columns
                .into_iter()
                .map(|(column, side)| GapsOfClass { column, class: names[side].clone() })
                .collect(),
        });
        let by_value = by_value.map(|leak| Warning::Leak {
            separable: linear && (together || leak.words),
            columns: leak.columns,
            log10_chance: leak.log10_chance,
        });
        by_value.into_iter().chain(by_gaps).collect()
    }
}

/// The sides that will be trained.
fn sides(data: &Dataset, settings: &Settings) -> Option<Classes> {
    if settings.positive.is_some() || data.classes().len() <= 2 {
        ClassPair::choose(data.classes(), settings.positive.as_deref()).ok().map(Classes::Pair)
    } else {
        Some(Classes::Each { names: data.classes().to_vec() })
    }
}

/// The dimensions of a boundary: the features that some row has, and one for the bias. `None` where the boundary is not one
/// of the features, or there are so many rows that it does not matter.
fn dimensions(data: &Dataset, settings: &Settings) -> Option<u64> {
    let bias = u64::from(matches!(settings.bias, Bias::Append(_)));
    let linear = settings.learner.abilities().weighs_features;
    if !linear || data.len() as u64 >= 2 * (data.columns() as u64 + bias) {
        return None;
    }
    let mut has = vec![false; data.columns()];
    for i in 0..data.len() {
        data.row(i).iter().filter(|&(_, x)| x != 0.0).for_each(|(feature, _)| has[feature] = true);
    }
    Some(has.into_iter().filter(|&has| has).count() as u64 + bias)
}

impl Warned {
    /// Adds what the model does on the rows: the held-out ones, or else those that it was learned from, which are scaled.
    pub(super) fn conclude(
        mut self,
        model: &Model,
        held_out: Option<&HeldOut>,
        data: &Dataset,
        counts: &[u64],
        observer: &mut dyn Observer,
    ) -> Vec<Warning> {
        if !model.evidence.status.has_model() {
            return self.warnings;
        }
        let last = match held_out {
            Some(held_out) => Warning::of_measures(&held_out.evaluated, JudgedOn::HeldOut),
            None => {
                let classes = never_predicted(model, data, counts, observer);
                let never = (!classes.is_empty())
                    .then_some(Warning::NeverPredicted { classes, on: JudgedOn::Training });
                training_baseline(model, counts).into_iter().chain(never).collect()
            }
        };
        last.iter().for_each(|warning| warning.emit(observer));
        self.warnings.extend(last);
        self.warnings
    }
}

/// Warns if always predicting the same class is as good on the training rows.
pub(super) fn training_baseline(model: &Model, counts: &[u64]) -> Option<Warning> {
    let error = model.evidence.training_error.filter(|_| model.evidence.status.has_model())?;
    let (class, baseline_error) = baseline(&model.classes, counts)?;
    (baseline_error > 0.0 && error >= baseline_error).then_some(Warning::Baseline {
        class,
        baseline_error,
        error,
        on: JudgedOn::Training,
    })
}

/// The most frequent outcome, and the share of the others.
fn baseline(classes: &Classes, counts: &[u64]) -> Option<(String, f64)> {
    let rows: u64 = counts.iter().sum();
    let usual = most_frequent(counts);
    let others = rows - counts.get(usual)?;
    Some((classes.outcomes().swap_remove(usual), others as f64 / rows as f64))
}

/// The outcomes that have rows but were not predicted for any, by the threshold of the model if it has one. All rows of such
/// an outcome are errors, so without a threshold it is looked only where there are as many errors, and only until all
/// outcomes have been seen. None if interrupted.
fn never_predicted(
    model: &Model,
    data: &Dataset,
    counts: &[u64],
    observer: &mut dyn Observer,
) -> Vec<String> {
    let Some(error) = model.evidence.training_error else { return Vec::new() };
    let errors = (error * model.evidence.examples as f64).round() as u64;
    // The errors were counted by the sign of the score.
    let threshold = model.threshold.as_ref().zip(model.calibrated());
    let may_be_missing = |count: u64| count > 0 && (threshold.is_some() || count <= errors);
    let mut missing: Vec<bool> = counts.iter().map(|&count| may_be_missing(count)).collect();
    let mut left = missing.iter().filter(|&&missing| missing).count();
    if counts.len() > MAX_LOOKED_FOR {
        return Vec::new();
    }
    let (mut end, mut pace) = (0, Pace::new(model.learned.rows_before_pause()));
    while left > 0 && end < data.len() {
        let rows = pace.next(end, data.len());
        end = rows.end;
        for i in rows {
            let (by_sign, score) = model.learned.class_of(data.row(i));
            let outcome = threshold.map_or(by_sign, |(threshold, calibration)| {
                usize::from(calibration.probability(score) >= threshold.probability)
            });
            left -= usize::from(std::mem::take(&mut missing[outcome]));
        }
        let progress = Progress::Judging { rows: end as u64, total: data.len() as u64 };
        if observer.progress(&progress).is_break() && end < data.len() {
            return Vec::new();
        }
    }
    let names = model.classes.outcomes().into_iter().zip(missing);
    names.filter(|&(_, missing)| missing).map(|(name, _)| name).collect()
}

impl Trained {
    /// The most frequent class of the training rows, and the error on them of always predicting it; `None`
    /// for a stream, which does not count.
    pub fn baseline(&self) -> Option<(String, f64)> {
        baseline(&self.model.classes, &self.counts)
    }
}

impl HeldOut {
    /// The share of them that is predicted wrong.
    pub fn error(&self) -> f64 {
        self.errors as f64 / self.rows as f64
    }

    /// Judges a model on held-out rows; `counts` are the training rows of each outcome, and `keep` says whether every row
    /// is kept by itself. `None` if that was interrupted.
    pub(super) fn judge(
        model: &Model,
        held_out: &Dataset,
        counts: &[u64],
        (warned, keep): (&Warned, bool),
        observer: &mut dyn Observer,
    ) -> Option<Self> {
        let Some(judged) = Judged::of(model, held_out, observer) else {
            observer.note(Note::Warning("interrupted: the held-out rows were not all evaluated"));
            return None;
        };
        let (errors, rows) = (judged.errors(), held_out.len() as u64);
        let each = if keep { judged.rows() } else { Vec::new() };
        let evaluated = judged.measure(model, Some(most_frequent(counts)), 0);
        Some(Self { errors, rows, evaluated, duplicates: warned.duplicates, judged: each })
    }
}

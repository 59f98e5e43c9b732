//! Searching for the best way to learn: preparation × learner × penalty, judged on rows that were held out.
//!
//! Candidates that share their preparation form a family, and are learned along a path of penalties. Every row is held out
//! once (cross-validation), or of few rows several times, each time beside others; of very many rows a sample first tells which candidates are worth all of them, and one part in
//! five is held out. Of candidates that are equally good, the simplest is taken.
//!
//! The smallest error of a search is too good to be true of new rows, because it was chosen to be small. So the error is
//! measured apart: the whole search is made again without a part of the rows, for each of five parts (nested
//! cross-validation), or rows are kept aside that no candidate sees before the choice.

mod candidates;
mod choice;
mod estimate;
mod fold;

pub use candidates::{Candidate, Fit};
pub use estimate::{Estimate, Judging};

use crate::classes::ClassError;
use crate::dataset::Dataset;
use crate::features::TextChoice;
use crate::numbers::grouped;
use crate::observe::{Observer, Progress, in_parallel};
use crate::prepare::Records;
use crate::split::{folds, hold_out};
use crate::train::{Settings, refuse_excessive_cost};
use crate::validate::compare::Baseline;
use crate::validate::metric::{JudgedFolds, JudgedRow, Metric};
use crate::{Error, SettingsError};
use candidates::{Family, families};
use choice::{choose, first_least};
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// How a search is made.
#[derive(Clone, Debug)]
pub struct TuneSettings {
    /// Classes, weights, bias and seed; the learner is what is searched for.
    pub settings: Settings,
    /// By what candidates are judged.
    pub metric: Metric,
    /// Every row is held out once, in one of this many parts.
    pub folds: usize,
    /// Stop the search after this many seconds, with the best candidate so far.
    pub max_seconds: Option<f64>,
    /// How the error on new rows is measured.
    pub judging: Judging,
    /// A simpler candidate is taken if it is worse than the best by no more than this many standard errors of their
    /// difference.
    pub simpler: f64,
    /// The ways to make features of texts among which is chosen; the rows must have been read with the longest terms of them.
    pub texts: Vec<TextChoice>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// Rows.
    pub rows: u64,
    /// Features, before any expansion.
    pub features: u64,
    /// By what candidates were judged.
    pub metric: Metric,
    /// How often each row was held out, where every row was: more than once if the rows are few.
    pub deals: u64,
    /// The sample of the rows on which all candidates were tried first, where the rows are many.
    pub sample: Option<Sample>,
    /// The candidates that were tried to the end, the simplest first; after a sample, those that it left.
    pub tried: Vec<Tried>,
    /// The places of those among which the error chose, the best of each preparation and learner, where another measure told
    /// which of them that is; empty where the metric chose among all candidates.
    pub finalists: Vec<usize>,
    /// The place of the one that was chosen.
    pub chosen: usize,
    /// A simpler candidate was taken if it was worse than the best by no more than this many standard errors of their
    /// difference.
    pub simpler: f64,
    /// The baseline: always predicting the most frequent class.
    pub baseline: Baseline,
    /// The error on rows that the search had no part in.
    pub estimate: Option<Estimate>,
    /// Why there is no estimate, if there is none.
    pub no_estimate: Option<NoEstimate>,
    /// Why not everything was tried, or no estimate made, if so.
    pub ended: Option<Ended>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// A sample of the rows, which tells which candidates are worth trying on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sample {
    /// Its rows.
    pub rows: u64,
    /// The candidates that were tried on it.
    pub candidates: u64,
    /// Whether the search ended there, so that what is known of the candidates is known from the sample alone.
    pub alone: bool,
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
}

/// Why the error on new rows was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEstimate {
    /// It was not asked for.
    NotAsked,
    /// A class has too few rows to hold out a part of them.
    FewRows,
    /// The time was over before.
    TimeLimit,
    /// The search was interrupted before.
    Interrupted,
}

/// A candidate with what was counted.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The candidate.
    pub candidate: Candidate,
    /// The metric on held-out rows.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The share of held-out rows that it predicts wrong.
    pub error: f64,
}

/// Rows and the settings that all candidates share.
#[derive(Clone, Copy)]
struct Search<'a> {
    records: &'a Records,
    settings: &'a Settings,
    metric: Metric,
    folds: usize,
    simpler: f64,
    texts: &'a [TextChoice],
}

/// The candidates that were judged on all their folds, with what they said.
struct Searched {
    families: Vec<Family>,
    candidates: Vec<Candidate>,
    judged: Vec<JudgedFolds>,
    /// How often the rows were dealt out into parts.
    deals: usize,
    /// What was tried before on a sample.
    sample: Option<Sample>,
    /// Whether it came to its end.
    whole: bool,
}

impl Searched {
    /// By how much the standard error of a mean over what was judged must be multiplied: a row that is judged several times
    /// tells little more than one that is judged once.
    fn repeated(&self) -> f64 {
        (self.deals as f64).sqrt()
    }

    /// The families, each with the places of its candidates.
    fn by_family(&self) -> impl Iterator<Item = (&Family, Range<usize>)> {
        let mut start = 0;
        self.families.iter().map(move |family| {
            let own = start..start + family.values.len();
            start = own.end;
            (family, own)
        })
    }
}

/// Where the rows of all families, prepared, have more values than this, a sample of the rows tells which candidates are tried
/// on all of them.
const MANY_VALUES: f64 = 8e6;
/// A sample has at least so many rows, if these are not more than half of all: fewer show no use of many features.
const FEWEST_SAMPLED: f64 = 2000.0;
/// Where the rows of the families that are left have more values than this, fewer parts of them are held out.
const MANY_LEFT: f64 = 5e7;
/// Fewer rows than this are dealt out into parts more than once, until as many are held out in all: of few rows the choice
/// depends much on which of them happen to be held out together.
const FEW_ROWS: usize = 500;
/// Rows are dealt out at most so often. What is left then is the chance that is in the rows themselves.
const MAX_DEALS: usize = 4;
/// With more rows than this, one part of them is held out, not each in turn: it tells as much.
const MANY_ROWS: usize = 30_000;

/// Searches.
pub fn tune(records: &Records, settings: &TuneSettings, observer: &mut dyn Observer) -> Result<Tuned, Error> {
    let clock = Instant::now();
    let data = &records.data;
    if settings.max_seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 1e9)) {
        let problem = "⟦time⟧ must be above 0 seconds and at most 1e9";
        return Err(SettingsError::new("time", problem).into());
    }
    let until = settings.max_seconds.map(|seconds| clock + Duration::from_secs_f64(seconds));
    let mut observer = Deadline { outer: observer, until };
    if !(0.0..=100.0).contains(&settings.simpler) {
        let problem = "⟦simpler⟧ needs a number of standard errors from 0 to 100";
        return Err(SettingsError::new("simpler", problem).into());
    }
    let TuneSettings { metric, folds, simpler, .. } = *settings;
    let all =
        Search { records, settings: &settings.settings, metric, folds, simpler, texts: &settings.texts };
    all.refuse_excessive_cost()?;
    let judging = settings.judging.settled(data);
    let aside =
        if judging == Judging::Aside { estimate::rows_aside(data, &settings.settings)? } else { Vec::new() };
    let rows = if aside.is_empty() { records.clone() } else { records.without(&aside)? };
    let search = Search { records: &rows, ..all };
    search.check()?;
    let searched = search.run(&mut observer)?;
    if searched.candidates.is_empty() {
        return Err(match observer.ended() {
            Some(Ended::TimeLimit) => SettingsError::new(
                "time",
                "the time limit was reached before the first candidates were evaluated: increase ⟦time⟧",
            )
            .into(),
            _ => Error::Interrupted,
        });
    }
    let chosen = search.choose(&searched);
    let estimate = match judging {
        _ if !searched.whole => None,
        Judging::Aside => estimate::on_rows_aside(&all, &searched, chosen, &aside, &mut observer)?,
        Judging::Nested => estimate::nested(&search, &mut observer)?,
        _ => None,
    };
    let tried = searched.candidates.iter().zip(&searched.judged).map(|(&candidate, judged)| {
        let (value, standard_error) = settings.metric.of_folds(judged, search.outcomes());
        let standard_error = standard_error * searched.repeated();
        let (error, _) = Metric::error().of_folds(judged, search.outcomes());
        Tried { candidate, value, standard_error, error }
    });
    let baseline = crate::validate::compare::baseline(data, &settings.settings, settings.metric);
    // A limit that came after the work changed nothing.
    let ended =
        observer.ended().filter(|_| !searched.whole || (estimate.is_none() && judging != Judging::None));
    let no_estimate = match (judging, ended) {
        _ if estimate.is_some() => None,
        (Judging::None, _) => Some(NoEstimate::NotAsked),
        (_, Some(Ended::TimeLimit)) => Some(NoEstimate::TimeLimit),
        (_, Some(Ended::Interrupted)) => Some(NoEstimate::Interrupted),
        (_, None) => Some(NoEstimate::FewRows),
    };
    Ok(Tuned {
        rows: data.len() as u64,
        features: data.columns() as u64,
        metric: settings.metric,
        deals: searched.deals as u64,
        sample: searched.sample,
        tried: tried.collect(),
        finalists: search.finalists(&searched).unwrap_or_default(),
        chosen,
        simpler,
        baseline,
        ended,
        estimate,
        no_estimate,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

impl Search<'_> {
    fn data(&self) -> &Dataset {
        &self.records.data
    }

    fn outcomes(&self) -> usize {
        crate::validate::compare::outcomes(self.data(), self.settings.positive.as_deref())
    }

    /// Refuses what cannot be searched.
    fn check(&self) -> Result<(), Error> {
        self.metric.check(self.outcomes())?;
        let counts = self.data().class_counts();
        let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
        if let [class] = present[..] {
            return Err(ClassError::One { class: self.data().classes()[class].clone() }.into());
        }
        let learner = crate::train::Learner::Logistic(Default::default());
        Settings { learner, ..self.settings.clone() }.check_on(self.data())?;
        for deal in 0..self.deals() {
            let parts = self.parts(deal)?;
            crate::validate::compare::check_folds(self.data(), &parts, self.settings.positive.as_deref())?;
        }
        Ok(())
    }

    /// How often the rows are dealt out into parts.
    fn deals(&self) -> usize {
        FEW_ROWS.div_ceil(self.data().len().max(1)).clamp(1, MAX_DEALS)
    }

    /// The parts of one of the deals.
    fn parts(&self, deal: usize) -> Result<Vec<Vec<usize>>, Error> {
        Ok(folds(self.data(), self.folds, self.settings.seed ^ ((deal as u64) << 32))?)
    }

    /// Judges all candidates, or those that a sample of the rows shows to be worth it.
    fn run(&self, observer: &mut Deadline<'_>) -> Result<Searched, Error> {
        let all = families(self.data(), &self.records.schema, self.texts, self.metric.needs_probabilities());
        let values = self.values(&all);
        if values <= MANY_VALUES {
            return self.try_all(all, self.folds, observer);
        }
        let share = (MANY_VALUES / values).max(FEWEST_SAMPLED / self.data().len() as f64).min(0.5);
        let sample = match hold_out(self.data(), share, self.settings.seed) {
            Err(Error::Settings(_)) => return Err(self.too_few_rows().into()),
            split => split?.held_out,
        };
        let sample = Records { schema: self.records.schema.clone(), data: sample };
        let first = Search { records: &sample, ..*self };
        let mut of_sample = first.try_all(all, self.folds, observer)?;
        let candidates = of_sample.candidates.len() as u64;
        of_sample.sample = Some(Sample { rows: sample.data.len() as u64, candidates, alone: true });
        if !of_sample.whole {
            return Ok(of_sample);
        }
        let left = first.promising(&of_sample);
        let parts = (MANY_LEFT / self.values(&left)).ceil() as usize;
        let parts = if self.data().len() > MANY_ROWS { 1 } else { parts.min(self.folds) };
        let of_all = self.try_all(left, parts, observer)?;
        // Where no candidate was judged on all rows, the sample tells which is best so far.
        if of_all.candidates.is_empty() {
            return Ok(Searched { whole: false, ..of_sample });
        }
        Ok(Searched { sample: of_sample.sample.map(|sample| Sample { alone: false, ..sample }), ..of_all })
    }

    /// Refuses a search that would not come to an end.
    fn refuse_excessive_cost(&self) -> Result<(), SettingsError> {
        let learner = crate::train::Learner::Logistic(Default::default());
        let settings = Settings { learner, ..self.settings.clone() };
        refuse_excessive_cost(self.data(), &settings).map_err(|_| {
            let problem = format!(
                "a search trains on {} rows of {} classes many times, which would take too long: keep some \
                 of the classes with ⟦classes=A,B,…⟧, or use train, without a search",
                grouped(self.data().len() as u64),
                grouped(self.present_classes())
            );
            SettingsError::new("classes", problem)
        })
    }

    fn present_classes(&self) -> u64 {
        self.data().class_counts().iter().filter(|&&count| count > 0).count() as u64
    }

    /// The error of a table with many classes of one or two rows each.
    fn too_few_rows(&self) -> SettingsError {
        let problem = format!(
            "{} rows of {} classes are too few for a search: candidates are first judged on a sample with its share of every \
             class, which would have no rows. Give more rows of each class, keep some of the classes with \
             ⟦classes=A,B,…⟧, or use train, without a search",
            grouped(self.data().len() as u64),
            grouped(self.present_classes())
        );
        SettingsError::new("classes", problem)
    }

    /// How many values the prepared rows of these families have, counted for each score.
    fn values(&self, families: &[Family]) -> f64 {
        let outcomes = self.outcomes();
        let scores = if outcomes > 2 { outcomes as f64 } else { 1.0 };
        let values = families.iter().map(|family| family.values(self.data(), &self.records.schema, outcomes));
        scores * values.sum::<f64>()
    }

    /// The two best families, each with the penalties around its best one.
    fn promising(&self, searched: &Searched) -> Vec<Family> {
        let mut found: Vec<(f64, usize, Family)> = Vec::new();
        for (place, (family, own)) in searched.by_family().enumerate() {
            let values: Vec<f64> =
                own.map(|k| self.metric.of_folds(&searched.judged[k], self.outcomes()).0).collect();
            let best = first_least(&values);
            let kept = best.saturating_sub(2)..(best + 2).min(values.len());
            found.push((
                values[best],
                place,
                Family { values: family.values[kept].to_vec(), ..family.clone() },
            ));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(2);
        found.sort_by_key(|&(_, place, _)| place);
        found.into_iter().map(|(.., family)| family).collect()
    }

    /// Judges the candidates of these families on so many of the parts, one family after the other. What is not judged to
    /// the end is left out.
    fn try_all(
        &self,
        families: Vec<Family>,
        judged: usize,
        observer: &mut Deadline<'_>,
    ) -> Result<Searched, Error> {
        let deals = self.deals();
        let mut parts = Vec::new();
        for deal in 0..deals {
            let mut dealt = self.parts(deal)?;
            dealt.truncate(judged);
            parts.append(&mut dealt);
        }
        let mut searched = Searched {
            families: Vec::new(),
            candidates: Vec::new(),
            judged: Vec::new(),
            deals,
            sample: None,
            whole: false,
        };
        for family in families {
            let done = in_parallel(&parts, family.what(), observer, |part, signal| {
                fold::judge(self, part, &family, signal)
            });
            let done = done.into_iter().collect::<Result<Vec<_>, Error>>()?;
            let Some(mut done) = done.into_iter().collect::<Option<Vec<Vec<Vec<JudgedRow>>>>>() else {
                return Ok(searched);
            };
            // By candidate, not by fold.
            for (place, candidate) in family.candidates().enumerate() {
                searched.candidates.push(candidate);
                searched.judged.push(done.iter_mut().map(|fold| std::mem::take(&mut fold[place])).collect());
            }
            searched.families.push(family);
        }
        searched.whole = true;
        Ok(searched)
    }

    /// The place of the candidate to take: the best by the metric, or a simpler one that is nearly as good; of equal ones, the
    /// simplest. Where errors are counted, among the finalists.
    fn choose(&self, searched: &Searched) -> usize {
        let outcomes = self.outcomes();
        let Some(best) = self.finalists(searched) else {
            let tolerance = self.simpler * searched.repeated();
            return choose(self.metric, &searched.judged, outcomes, tolerance);
        };
        let few: Vec<&JudgedFolds> = best.iter().map(|&place| &searched.judged[place]).collect();
        best[choose(self.metric, &few, outcomes, 0.0)]
    }

    /// The best of each family, where it is not the metric that tells. Where errors are counted, the log loss chooses among
    /// the penalties of a family: it tells from every row how sure a candidate was, where a count of errors changes by
    /// chance. So of penalties with as many errors the weakest can be taken, if it makes the candidate surer of what is right.
    fn finalists(&self, searched: &Searched) -> Option<Vec<usize>> {
        if self.metric != Metric::error() || self.simpler > 0.0 {
            return None;
        }
        let outcomes = self.outcomes();
        let best_of = |(family, own): (&Family, Range<usize>)| {
            let metric = if family.has_probabilities() { Metric::log_loss() } else { Metric::error() };
            own.start + choose(metric, &searched.judged[own.clone()], outcomes, 0.0)
        };
        Some(searched.by_family().map(best_of).collect())
    }
}

/// Stops a search when its time is over.
struct Deadline<'a> {
    outer: &'a mut dyn Observer,
    until: Option<Instant>,
}

impl Deadline<'_> {
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn ended(&self) -> Option<Ended> {
        match (self.outer.will_stop(), self.is_over()) {
            (true, _) => Some(Ended::Interrupted),
            (_, true) => Some(Ended::TimeLimit),
            _ => None,
        }
    }
}

impl Observer for Deadline<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.outer.progress(progress)?;
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn will_stop(&self) -> bool {
        self.outer.will_stop() || self.is_over()
    }
}

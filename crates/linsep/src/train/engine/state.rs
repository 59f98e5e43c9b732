//! The state of a learner that goes row by row: one value that learns, is saved and restored, is forked and merged, and
//! tells what it knows.
//!
//! Every driver works on it: runs over rows in memory and in a file, streams, shards. It holds one learner where a boundary
//! has two sides, one for each class where each is set against the rest, and one vector for each class for the multi-class
//! perceptron.
//!
//! **Classes may turn up as rows come.** The learner of a class that has not turned up has seen every row as one of the
//! rest. There is one such learner for all of them, and a class that turns up takes a copy of it: the result is the same, to
//! the bit, as if all classes had been known from the start. While there is one class, that learner is the learner of the
//! class with the signs exchanged, so it begins to cost time with the second class.
//!
//! The multi-class perceptron is different: which class is the strongest rival of a row depends on all classes that there
//! are. There a class takes part from its first row on, with weights of zero. Ties go to the lowest class among those that
//! have turned up. The result is that of the same rows in memory where the classes are given beforehand
//! ([`State::with_classes`]). What is proved of the margin holds in both cases: every update adds a row to its class and
//! takes it from another, which is a step that the theorem knows.

use crate::classes::{ClassError, ClassPair, class_name, sorted_order};
use crate::dataset::Row;
use crate::memory;
use crate::numbers::grouped;
use crate::observe::{Observer, Update};
use crate::theory::margin::Extent;
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::fit::Fit;
use crate::train::engine::online::{AppliedUpdate, OnlineLearner};
use crate::train::engine::passes::Cursor;
use crate::train::engine::run::{Status, check_lengths};
use crate::train::engine::weights::{check_named, named_weight};
use crate::train::engine::{one_against_rest, shards};
use crate::train::learners::multiclass::Multiclass;
use crate::train::settings::{ClassWeight, Init, Settings};
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A row to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Example<'a> {
    /// The row.
    pub row: Row<'a>,
    /// Its class, as [`State::class`] numbers it.
    pub class: u32,
    /// How often it counts, beside the weight of its class.
    pub weight: f64,
}

/// The state of a learner that processes one row at a time.
///
/// ```
/// use linsep::train::{Example, State};
/// use linsep::{Dataset, Settings};
///
/// let data = Dataset::dense(2, &[2.0, 1.0, -1.0, -2.0, 1.0, 3.0], &["b", "a", "b"])?;
/// let mut state = State::new(&Settings::default(), data.columns())?;
/// for (i, &label) in data.labels().iter().enumerate() {
///     let class = state.class(&data.classes()[label as usize])?;
///     state.learn([Example { row: data.row(i), class, weight: 1.0 }])?;
/// }
/// assert_eq!(state.rows(), 3);
/// let (again, position) = State::restore(&state.snapshot("row 3")?)?;
/// assert_eq!((again.learned()?, position.as_str()), (state.learned()?, "row 3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) settings: Settings,
    pub(crate) learners: Learners,
    pub(crate) cursor: Cursor,
    /// Identifies the data: its fingerprint, or for a stream the hash of the rows seen.
    pub(crate) data: String,
    /// Updates made by each shard; empty where there is one run over all rows.
    pub(crate) shard_updates: Vec<u64>,
    pub(crate) seen: Seen,
}

/// What learns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Learners {
    /// One boundary between two sides.
    Two(OnlineLearner),
    /// Each class against the rest, in the order in which they turned up.
    Each(Vec<OnlineLearner>),
    /// All classes at once.
    Together(Multiclass),
}

/// Statistics of the rows seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// The classes, in the order in which they turned up.
    pub(crate) names: Vec<String>,
    /// No other class can turn up.
    pub(crate) closed: bool,
    /// The sign of each class, where there are two sides.
    pub(crate) signs: Vec<i8>,
    /// How often the rows of each class count.
    pub(crate) weights: Vec<f64>,
    /// The place of each class among the sorted ones.
    pub(crate) places: Vec<usize>,
    /// The class at each place.
    pub(crate) order: Vec<usize>,
    /// The number of each class, by name.
    pub(crate) numbers: HashMap<String, u32>,
    /// Whether some class is a word, so that all are sorted by name.
    has_words: bool,
    /// The learner of every class that has not turned up. None where there can be no such class, and while there is one
    /// class, whose learner it is with the signs exchanged.
    pub(crate) unseen: Option<Box<OnlineLearner>>,
    pub(crate) extent: Extent,
    /// Values that are not zero.
    pub(crate) nonzeros: u64,
    /// The most values that a row stores.
    pub(crate) most_stored: usize,
    /// Rows that were predicted wrong before they were learned from.
    pub(crate) wrong: u64,
    /// Whether a sparse row had a value in column 0.
    pub(crate) first_column: bool,
    /// Rows for which the caller vouched: `State::data` does not cover them.
    pub(crate) vouched: u64,
    /// Of a fork: its parent and its number.
    pub(crate) forked: Option<Forked>,
}

impl Seen {
    /// Gives a class its number, and its place among the sorted ones. Sorting all of them anew for each that turns up
    /// would take time that is quadratic in their number.
    fn place(&mut self, name: String) {
        let class = self.names.len();
        let word = name.parse::<f64>().is_err();
        self.numbers.insert(name.clone(), class as u32);
        self.names.push(name);
        if word && !self.has_words {
            // Numbers sorted by value are now sorted by name.
            self.has_words = true;
            self.order = sorted_order(&self.names);
            self.places = vec![0; self.names.len()];
            self.order.iter().enumerate().for_each(|(place, &class)| self.places[class] = place);
            return;
        }
        let name = &self.names[class];
        let is_before = |other: &String| match (other.parse::<f64>(), name.parse::<f64>()) {
            (Ok(other_value), Ok(value)) if !self.has_words => {
                other_value.total_cmp(&value).then_with(|| other.cmp(name)).is_lt()
            }
            _ => other < name,
        };
        let place = self.order.partition_point(|&other| is_before(&self.names[other]));
        self.places.iter_mut().for_each(|other| *other += usize::from(*other >= place));
        self.places.push(place);
        self.order.insert(place, class);
    }
}

/// Which fork of which state a state is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forked {
    /// The [digest](State::digest) of the parent as it was when it was forked.
    pub(crate) parent: String,
    /// Its number among the forks of that parent.
    pub(crate) shard: u64,
}

impl State {
    /// A state for rows with `columns` features, whose classes turn up as they come; more features can turn up later.
    pub fn new(settings: &Settings, columns: usize) -> Result<Self, Error> {
        settings.validate()?;
        if settings.class_weight == ClassWeight::Balanced {
            return Err(SettingsError::new(
                "class_weight",
                "balanced class weights need the class counts first; for a stream, give the weight of each class",
            )
            .into());
        }
        if matches!(settings.init, Init::Warm(_)) && settings.positive.is_none() {
            return Err(SettingsError::new(
                "init",
                "a warm start on a stream needs ⟦positive⟧, the class that the weights are for",
            )
            .into());
        }
        // The weights, and their sum where it is kept.
        memory::check((columns as u64).saturating_mul(16), || {
            format!("weights for {} features", grouped(columns as u64))
        })?;
        let learners = match settings.learner.is_together() {
            true => Learners::Together(Multiclass::new(settings, columns, 0)?),
            false => Learners::Two(OnlineLearner::new(settings, columns)?),
        };
        Ok(Self::begin(settings, learners, String::new()))
    }

    /// A state for rows of these classes and no others.
    pub fn with_classes<S: AsRef<str>>(
        settings: &Settings,
        classes: &[S],
        columns: usize,
    ) -> Result<Self, Error> {
        let mut state = Self::new(settings, columns)?;
        for label in classes {
            state.class(label.as_ref())?;
        }
        let sorted = state.sorted_names();
        check_named(&settings.class_weight, &sorted)?;
        if sorted.len() < 2 || settings.positive.is_some() {
            ClassPair::choose(&sorted, settings.positive.as_deref())?;
        }
        (state.seen.closed, state.seen.unseen) = (true, None);
        Ok(state)
    }

    /// A state that is about to begin, on data with this fingerprint.
    pub(crate) fn begin(settings: &Settings, learners: Learners, data: String) -> Self {
        Self {
            learners,
            settings: settings.clone(),
            cursor: Cursor::default(),
            data,
            shard_updates: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many updates have been made, by all learners of the state.
    pub fn updates(&self) -> u64 {
        match &self.learners {
            Learners::Two(learner) => learner.updates(),
            Learners::Each(own) => own.iter().map(OnlineLearner::updates).sum(),
            Learners::Together(learner) => learner.updates,
        }
    }

    /// Rows learned from in this pass.
    pub fn rows(&self) -> u64 {
        self.cursor.position
    }

    /// The upper bound of the best margin γ* that the updates so far prove, if there are any: for many classes, of the
    /// smallest margin of a class against the rest, or of the margin between all classes.
    pub fn margin_upper(&self) -> Option<f64> {
        match &self.learners {
            Learners::Two(learner) => learner.margin_upper(),
            Learners::Each(own) => own.iter().filter_map(OnlineLearner::margin_upper).reduce(f64::min),
            Learners::Together(learner) => learner.margin_upper(),
        }
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        match &self.learners {
            Learners::Two(learner) => learner.theta().weights.len(),
            Learners::Each(own) => own.iter().map(|own| own.theta().weights.len()).max().unwrap_or(0),
            Learners::Together(learner) => learner.columns(),
        }
    }

    /// Refuses a position beyond the last row.
    pub(crate) fn check_position(&self, rows: usize) -> Result<(), CheckpointError> {
        if self.cursor.position > rows as u64 {
            return Err(CheckpointError::Damaged("it is beyond the last row".into()));
        }
        Ok(())
    }

    /// The number of a class, which from now on is one of those that have turned up.
    pub fn class(&mut self, label: &str) -> Result<u32, Error> {
        let known = |names: &[String]| ClassError::unknown(label, names);
        let name = class_name(label).ok_or_else(|| known(&self.sorted_names()))?;
        if let Some(&class) = self.seen.numbers.get(&name) {
            return Ok(class);
        }
        if self.seen.closed {
            return Err(known(&self.sorted_names()).into());
        }
        self.meet(name)?;
        Ok(self.seen.names.len() as u32 - 1)
    }

    /// Makes room for a class that turns up for the first time.
    fn meet(&mut self, name: String) -> Result<(), Error> {
        let before = self.seen.places.clone();
        self.enter(name);
        let seen = &mut self.seen;
        match &mut self.learners {
            Learners::Together(learner) => {
                // A class that is a word puts numbers in another order, too.
                let places = seen.order.iter().map(|&class| before.get(class).copied());
                learner.arrange(&places.collect::<Vec<_>>());
            }
            _ if self.settings.positive.is_some() => {}
            Learners::Two(learner) => match seen.signs.as_slice() {
                [_] => {}
                &[first, _] => {
                    // Until now every row was one of the first class, which was taken for the positive one.
                    let mut rest = learner.clone();
                    rest.exchange_labels();
                    if first < 0 {
                        learner.exchange_labels();
                    }
                    seen.unseen = Some(Box::new(rest));
                }
                signs => {
                    let Some(rest) = &seen.unseen else {
                        let names = self.sorted_names();
                        return Err(ClassPair::choose(&names, None)
                            .err()
                            .map_or(Error::Interrupted, Error::from));
                    };
                    let mut other = learner.clone();
                    other.exchange_labels();
                    let mut own = vec![learner.clone(), other, (**rest).clone()];
                    if signs[0] < 0 {
                        own.swap(0, 1);
                    }
                    self.learners = Learners::Each(own);
                }
            },
            Learners::Each(own) => own.extend(seen.unseen.as_deref().cloned()),
        }
        Ok(())
    }

    /// Enters a class that the learners know already: signs and weights, and nothing else.
    pub(crate) fn enter(&mut self, name: String) {
        let seen = &mut self.seen;
        seen.weights.push(named_weight(&self.settings.class_weight, &name));
        let positive = self.settings.positive.as_deref().and_then(class_name);
        let sign = positive.map(|positive| if name == positive { 1 } else { -1 });
        seen.place(name);
        if let Some(sign) = sign {
            seen.signs.push(sign);
            return;
        }
        // With three classes the signs of the first two still tell which of them the one learner was for.
        if seen.names.len() == 2 {
            seen.signs = if seen.places[1] == 1 { vec![-1, 1] } else { vec![1, -1] };
        } else {
            seen.signs.push(1);
        }
    }

    /// The classes seen so far, sorted.
    pub fn classes(&self) -> Vec<String> {
        self.sorted_names()
    }

    pub(crate) fn sorted_names(&self) -> Vec<String> {
        self.seen.order.iter().map(|&class| self.seen.names[class].clone()).collect()
    }

    /// Learns from rows, in their order. Returns how many of them led to an update.
    ///
    /// # Errors
    /// A row that is too long or too short for floating-point sums, or a class that [`class`](Self::class) has not
    /// numbered. The rows before it have been learned from.
    pub fn learn<'r>(&mut self, rows: impl IntoIterator<Item = Example<'r>>) -> Result<u64, Error> {
        let before = self.cursor.pass_updates;
        for Example { row, class, weight } in rows {
            if class as usize >= self.seen.names.len() {
                return Err(ClassError::unknown(&class.to_string(), &self.sorted_names()).into());
            }
            self.learn_row(row, class as usize, weight)?;
        }
        Ok(self.cursor.pass_updates - before)
    }

    /// Learns from one row of a class that has turned up. Returns the update, if there is one boundary and it moved.
    pub(crate) fn learn_row(
        &mut self,
        row: Row<'_>,
        class: usize,
        weight: f64,
    ) -> Result<Option<AppliedUpdate>, Error> {
        self.measure(row);
        // Checked before learning: one huge row must not spoil the weights.
        check_lengths(&self.seen.extent)?;
        let Self { settings, learners, cursor, seen, .. } = self;
        let weight = weight * seen.weights[class];
        cursor.position += 1;
        let may_learn = |updates: u64| settings.update_limit().is_none_or(|most| updates < most);
        let (applied, moved, wrong) = match learners {
            Learners::Two(learner) => {
                let applied = learner.learn_expected(row, seen.signs[class], weight, None);
                // Not every update comes of a mistake: some learners move for rows that are right as well.
                (applied, applied.is_some(), applied.is_some_and(|update| update.agreement <= 0.0))
            }
            Learners::Each(own) => {
                let wrong = !one_against_rest::leads(own, row, class);
                let mut moved = false;
                for (other, learner) in own.iter_mut().enumerate() {
                    let sign = if other == class { 1 } else { -1 };
                    if may_learn(learner.updates()) {
                        moved |= learner.learn_expected(row, sign, weight, None).is_some();
                    }
                }
                (None, moved, wrong)
            }
            Learners::Together(learner) => {
                let applied = learner.learn_expected(row, seen.places[class], weight).is_some();
                (None, applied, applied)
            }
        };
        if let Some(rest) = &mut seen.unseen
            && may_learn(rest.updates())
        {
            rest.learn_expected(row, -1, weight, None);
        }
        cursor.pass_updates += u64::from(moved);
        seen.wrong += u64::from(wrong);
        Ok(applied)
    }

    /// Measures a row, and prepares the learners for it.
    pub(crate) fn measure(&mut self, row: Row<'_>) {
        let Seen { extent, nonzeros, most_stored, first_column, .. } = &mut self.seen;
        let longest = extent.radius_upper;
        extent.include(row, self.settings.bias.input());
        *nonzeros += row.iter().filter(|&(_, value)| value != 0.0).count() as u64;
        *first_column |= matches!(row, Row::SparseF32(..) | Row::SparseF64(..))
            && row.iter().next().is_some_and(|(column, _)| column == 0);
        if extent.radius_upper > longest || row.stored() > *most_stored {
            *most_stored = row.stored().max(*most_stored);
            let (longest, most_stored) = (extent.radius_upper, *most_stored);
            self.expect_rows(longest, most_stored);
        }
        if row.width() > self.columns() {
            self.widen(row.width());
        }
    }

    /// Prepares for rows of at most this length (with the appended coordinate) and this many stored values.
    pub(crate) fn expect_rows(&mut self, longest: f64, most_stored: usize) {
        match &mut self.learners {
            Learners::Together(learner) => learner.expect_rows(longest, most_stored),
            _ => self.each_learner(|learner| learner.expect_rows(longest, most_stored)),
        }
    }

    fn widen(&mut self, columns: usize) {
        match &mut self.learners {
            Learners::Together(learner) => learner.widen(columns),
            _ => self.each_learner(|learner| learner.widen(columns)),
        }
    }

    pub(crate) fn each_learner(&mut self, mut change: impl FnMut(&mut OnlineLearner)) {
        let own = match &mut self.learners {
            Learners::Two(learner) => std::slice::from_mut(learner),
            Learners::Each(own) => own.as_mut_slice(),
            Learners::Together(_) => &mut [],
        };
        own.iter_mut().chain(self.seen.unseen.as_deref_mut()).for_each(&mut change);
    }

    /// Whether the allowed number of updates has been made.
    pub(crate) fn is_at_limit(&self) -> bool {
        let Some(most) = self.settings.update_limit() else { return false };
        match &self.learners {
            Learners::Each(own) => own.iter().all(|own| own.updates() >= most),
            _ => self.updates() >= most,
        }
    }

    /// Settles what only the end of a stream tells: whether features count from 1, and how many there are.
    pub(crate) fn settle_features(&mut self, shift_down: bool, features: usize) {
        if shift_down {
            match &mut self.learners {
                Learners::Together(learner) => learner.shift_features_down(),
                _ => self.each_learner(OnlineLearner::shift_features_down),
            }
        }
        self.widen(features);
    }

    /// Learns from row `i` of a run over a data set, which was announced, and tells whether that moved the boundary.
    #[inline(always)]
    pub(crate) fn visit(
        &mut self,
        i: usize,
        row: Row<'_>,
        sign: i8,
        weight: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        let Learners::Two(learner) = &mut self.learners else { return false };
        let applied = learner.learn_expected(row, sign, weight, Some(i as u32));
        if let Some(applied) = applied {
            observer.update(&Update {
                number: learner.updates(),
                epoch: self.cursor.epoch + 1,
                position: i as u64,
                row,
                row_squared: applied.row_squared,
                sign,
                agreement: applied.agreement,
                theta: Some(learner.theta()),
                classes: None,
            });
        }
        applied.is_some()
    }

    /// Takes stock at the end of a pass.
    pub(crate) fn end_pass(&mut self) {
        match &mut self.learners {
            Learners::Together(learner) => learner.end_pass(),
            _ => self.each_learner(OnlineLearner::end_pass),
        }
    }

    /// Whether every row moves the boundary: then a pass without an update is no end.
    pub(crate) fn updates_every_row(&self) -> bool {
        matches!(&self.learners, Learners::Two(learner) if learner.updates_every_row())
    }

    /// What a run over a data set ends with, before it is judged.
    pub(crate) fn into_fit(self, status: Status) -> Option<Fit> {
        let detail = shards::detail(&self);
        let epochs = self.cursor.passes_begun();
        let Learners::Two(learner) = self.learners else { return None };
        Some(learner.into_fit(status, epochs, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Learner;
    use crate::train::{Loss, SgdOptions};
    use proptest::prelude::*;

    proptest! {
        /// Classes that turn up one by one stand where sorting all of them puts them.
        #[test]
        fn classes_are_sorted_as_they_turn_up(labels in prop::collection::vec("-?[0-9]{1,2}(\\.5)?|[a-c]{1,2}", 1..20)) {
            let mut state = State::new(&Settings::default(), 1).unwrap();
            for label in &labels {
                let class = state.class(label).unwrap();
                prop_assert_eq!(&state.seen.names[class as usize], &class_name(label).unwrap());
                let order = sorted_order(&state.seen.names);
                prop_assert_eq!(&state.seen.order, &order);
                prop_assert!(order.iter().enumerate().all(|(place, &class)| state.seen.places[class] == place));
            }
        }
    }

    /// Rows that are right may lead to updates too, and are no mistakes.
    #[test]
    fn the_progressive_error_counts_what_was_predicted_wrong() {
        let rows: Vec<([f64; 2], &str)> = (0..60)
            .map(|i| {
                let x = [f64::from(i * 7 % 11) - 5.0, f64::from(i * 5 % 13) - 6.0];
                (x, if x[0] + 0.5 * x[1] + f64::from(i % 4) > 1.0 { "b" } else { "a" })
            })
            .collect();
        for name in ["perceptron", "averaged", "margin", "passive-aggressive", "sgd"] {
            let mut learner = Learner::named(name).unwrap();
            if let Learner::Sgd(options) = &mut learner {
                *options = SgdOptions::of(Loss::Log);
            }
            let settings = Settings { learner, positive: Some("b".into()), ..Settings::default() };
            let mut state = State::new(&settings, 2).unwrap();
            let mut alone = OnlineLearner::new(&settings, 2).unwrap();
            let mut wrong = 0;
            for (x, label) in &rows {
                let (row, sign) = (Row::DenseF64(x), if *label == "b" { 1 } else { -1 });
                wrong += usize::from(f64::from(sign) * alone.score(row) <= 0.0);
                alone.learn(row, sign, None);
                let class = state.class(label).unwrap();
                state.learn([Example { row, class, weight: 1.0 }]).unwrap();
            }
            let counted = state.evidence().unwrap().progressive_error.unwrap();
            assert_eq!(counted, wrong as f64 / rows.len() as f64, "{name}");
            assert!(counted > 0.0 && counted < 0.5, "{name}: {counted}");
        }
    }
}

//! Learning one example at a time: what a stream does, and what every pass over a data set does.

use super::averaged::Average;
use super::learned::Learned;
use super::perceptron::Perceptron;
use super::settings::{Init, Learner, Settings, SettingsError};
use super::voted::{Ballot, Votes};
use crate::dataset::Row;
use crate::kernel::rounding_doubt;
use crate::theory::margin::{Extent, MistakeLedger};
use crate::theta::Theta;

/// A perceptron with what its variant remembers and what its theorem needs.
///
/// Learning one by one, in chunks, from a file or from a stream goes through [`learn`](Self::learn), so all give
/// the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineLearner {
    pub(crate) perceptron: Perceptron,
    pub(crate) memory: Memory,
    pub(crate) ledger: MistakeLedger,
    /// θ₀, where it is not zero.
    pub(crate) start: Option<Theta>,
    /// The first example is still to be added, whatever its agreement (`Init::First`).
    pub(crate) awaits_first: bool,
    /// No row is longer than this, nor has more values: what rounding can do depends on both.
    longest: f64,
    most_terms: usize,
}

/// What a variant remembers beside the last θ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Memory {
    Nothing,
    Average(Average),
    Votes(Votes),
}

/// An update that has been made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lesson {
    /// y⟨θ, x̃⟩ before the update.
    pub agreement: f64,
    /// ‖x̃‖², rounded.
    pub row_squared: f64,
}

impl OnlineLearner {
    /// A learner for rows with `columns` features; more can turn up later.
    pub fn new(settings: &Settings, columns: usize) -> Result<Self, SettingsError> {
        settings.validate()?;
        let bias_input = settings.bias.input();
        let (theta, start) = match &settings.init {
            Init::Zero | Init::First => (Theta::zero(columns, bias_input), None),
            Init::Warm(theta) => {
                let mut theta = theta.clone();
                theta.widen(columns);
                (theta.clone(), Some(theta))
            }
        };
        let columns = theta.weights.len();
        let memory = match settings.learner {
            Learner::Perceptron => Memory::Nothing,
            Learner::Averaged => Memory::Average(Average::new(columns, bias_input)),
            Learner::Voted => Memory::Votes(Votes::new()),
        };
        let ledger = MistakeLedger::new(&theta);
        let perceptron = Perceptron::new(theta, settings.mistake);
        Ok(Self::from_parts(perceptron, memory, ledger, start, settings.init == Init::First))
    }

    pub(crate) fn from_parts(
        perceptron: Perceptron,
        memory: Memory,
        ledger: MistakeLedger,
        start: Option<Theta>,
        awaits_first: bool,
    ) -> Self {
        Self { perceptron, memory, ledger, start, awaits_first, longest: 0.0, most_terms: 0 }
    }

    /// Prepares for rows of at most this length (with the appended coordinate) and this many stored values.
    pub(crate) fn expect_rows(&mut self, longest: f64, most_stored: usize) {
        self.longest = self.longest.max(longest);
        self.most_terms = self.most_terms.max(most_stored + 1);
        self.doubt();
    }

    /// Sets how small an agreement must be to be looked at again.
    #[inline]
    fn doubt(&mut self) {
        let norm = self.ledger.norm_squared().sqrt();
        self.perceptron.doubt = rounding_doubt(self.most_terms, norm * self.longest);
    }

    /// Learns from one example with label `sign` = ±1. Gives what was learned if it was a mistake.
    ///
    /// `key` names a row that may come again, which saves memory for learners that keep their mistakes.
    pub fn learn(&mut self, row: Row<'_>, sign: i8, key: Option<u32>) -> Option<Lesson> {
        let mut extent = Extent::default();
        extent.include(row, self.perceptron.theta.bias_input);
        if extent.radius_upper > self.longest || row.stored() >= self.most_terms {
            self.expect_rows(extent.radius_upper, row.stored());
        }
        self.learn_expected(row, sign, key)
    }

    /// Learns from a row that was announced with [`expect_rows`](Self::expect_rows).
    #[inline]
    pub(crate) fn learn_expected(&mut self, row: Row<'_>, sign: i8, key: Option<u32>) -> Option<Lesson> {
        let y = f64::from(sign);
        let width = row.width();
        if width > self.perceptron.theta.weights.len() {
            self.widen(width);
        }
        let agreement = if std::mem::take(&mut self.awaits_first) {
            self.perceptron.update(row, y);
            Some(0.0)
        } else {
            self.perceptron.learn(row, y)
        };
        let lesson = agreement.map(|agreement| {
            let row_squared = self.perceptron.theta.extended_norm_squared(row);
            self.ledger.record(agreement, row_squared, row.stored() + 1);
            self.doubt();
            Lesson { agreement, row_squared }
        });
        match &mut self.memory {
            Memory::Nothing => {}
            Memory::Average(average) => average.see(row, y, lesson.is_some()),
            Memory::Votes(votes) => votes.see(row, sign, lesson.is_some(), key),
        }
        lesson
    }

    /// How many updates have been made.
    pub fn updates(&self) -> u64 {
        self.perceptron.updates
    }

    /// The last θ.
    pub fn theta(&self) -> &Theta {
        &self.perceptron.theta
    }

    /// Takes stock at the end of a pass: bounds that were carried along are computed afresh.
    pub fn end_pass(&mut self) {
        self.ledger.tighten(&self.perceptron.theta);
        self.doubt();
    }

    /// The upper bound of γ* that the updates so far prove, if there are any.
    pub fn margin_upper(&self) -> Option<f64> {
        self.ledger.upper_bound(&self.perceptron.theta, self.start.as_ref())
    }

    /// What has been learned so far.
    pub fn learned(&self) -> Learned {
        let last = self.perceptron.theta.clone();
        match &self.memory {
            Memory::Nothing => Learned::Linear(last),
            Memory::Average(average) => Learned::Linear(average.mean(&last)),
            Memory::Votes(votes) => {
                let columns = last.weights.len();
                let start = self.start.clone().unwrap_or_else(|| Theta::zero(columns, last.bias_input));
                Learned::Voted { start, last, ballot: Box::new(Ballot::new(votes.without_keys(), columns)) }
            }
        }
    }

    pub(crate) fn widen(&mut self, columns: usize) {
        for theta in self.vectors() {
            theta.widen(columns);
        }
    }

    /// Every vector that has a place for each feature.
    fn vectors(&mut self) -> impl Iterator<Item = &mut Theta> {
        let late = match &mut self.memory {
            Memory::Average(average) => Some(&mut average.late),
            _ => None,
        };
        std::iter::once(&mut self.perceptron.theta).chain(late).chain(self.start.as_mut())
    }

    /// Exchanges the labels of everything learned so far: the same run with −1 and +1 swapped.
    pub(crate) fn exchange_labels(&mut self) {
        self.vectors().for_each(Theta::negate);
        if let Memory::Votes(votes) = &mut self.memory {
            votes.negate();
        }
    }

    /// Moves every feature down by one: the stream turned out to count from 1.
    pub(crate) fn shift_features_down(&mut self) {
        self.vectors().for_each(Theta::shift_down);
        if let Memory::Votes(votes) = &mut self.memory {
            votes.shift_down();
        }
    }
}

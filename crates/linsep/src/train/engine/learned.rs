//! The decision function that a learner ends with: it gives every row a score.

use crate::dataset::Row;
use crate::theta::Theta;
use crate::train::learners::kernel::KernelMachine;
use crate::train::learners::memoriser::{LookedUp, Memoriser};
use crate::train::learners::voted::Ballot;

/// A decision function; its sign is the prediction, with sign(0) = +1.
#[derive(Clone, Debug, PartialEq)]
pub enum Learned {
    /// ⟨θ, x̃⟩
    Linear(Theta),
    /// The balance of the votes of all vectors, in [−1, 1].
    Voted {
        /// The first vector.
        start: Theta,
        /// The last vector.
        last: Theta,
        /// The rows that were added in between, and how many examples each vector survived.
        ballot: Box<Ballot>,
    },
    /// A sum of kernels.
    Kernel(Box<KernelMachine>),
    /// A table of the rows that were seen.
    Memory(Box<Memoriser>),
    /// One function for each class: the largest score wins, the lowest class on ties.
    Each(Vec<Learned>),
}

impl Learned {
    /// Rows that are scored before an observer is asked for the first time: of a vote of very many vectors a single row may
    /// take long.
    pub(crate) fn rows_before_pause(&self) -> usize {
        match self {
            Learned::Linear(_) => 4096,
            Learned::Each(each) => {
                each.iter().map(Self::rows_before_pause).min().unwrap_or(1).div_ceil(each.len().max(1))
            }
            _ => 1,
        }
    }

    /// The score of a row that has no column beyond those learned on; for many classes, that of the winner.
    pub fn score(&self, row: Row<'_>) -> f64 {
        match self {
            Learned::Linear(theta) => theta.score(row),
            Learned::Voted { start, ballot, .. } => ballot.balance(start, row),
            Learned::Kernel(machine) => machine.score(row),
            Learned::Memory(memoriser) => memoriser.score(row),
            Learned::Each(_) => self.class_of(row).1,
        }
    }

    /// The scores of several rows, which some functions find faster together than one by one.
    pub fn scores(&self, rows: &[Row<'_>]) -> Vec<f64> {
        match self {
            Learned::Kernel(machine) => machine.scores(rows),
            _ => rows.iter().map(|&row| self.score(row)).collect(),
        }
    }

    /// The class that a row is given, and its score: 0 or 1 by the sign for two sides, otherwise the number of the class.
    pub fn class_of(&self, row: Row<'_>) -> (usize, f64) {
        let Learned::Each(each) = self else {
            let score = self.score(row);
            return (usize::from(score >= 0.0), score);
        };
        let mut looked_up = None;
        let mut best = (0, f64::NEG_INFINITY);
        for (class, learned) in each.iter().enumerate() {
            let score = match learned {
                Learned::Memory(memory) => {
                    memory.score_looked_up(looked_up.get_or_insert_with(|| LookedUp::new(row)))
                }
                other => other.score(row),
            };
            // A score that is not a number must show.
            if score > best.1 || score.is_nan() {
                best = (class, score);
            }
        }
        best
    }

    /// The weights to look at: of the linear function, or of the last vector that votes; for many classes, of the first.
    pub fn theta(&self) -> &Theta {
        match self {
            Learned::Linear(theta) | Learned::Voted { last: theta, .. } => theta,
            Learned::Kernel(machine) => machine.theta(),
            Learned::Memory(memoriser) => memoriser.theta(),
            Learned::Each(each) => each[0].theta(),
        }
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.theta().weights.len()
    }

    /// Whether all its numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Learned::Each(each) => each.iter().all(Learned::is_finite),
            _ => self.theta().is_finite(),
        }
    }
}

//! The decision function that a learner ends with: it gives every row a score.

use crate::dataset::Row;
use crate::store::{Arrays, StoreError, Tensors};
use crate::theta::Theta;
use crate::train::engine::checkpoint::{put_theta, put_votes};
use crate::train::learners::kernel::KernelMachine;
use crate::train::learners::kernel::put_kernel;
use crate::train::learners::memoriser::{LookedUp, Memoriser};
use crate::train::learners::voted::Ballot;
use crate::train::learners::voted::Votes;
use crate::train::settings::Settings;

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
    /// The function of each class, or the one of two sides.
    pub fn parts(&self) -> &[Learned] {
        match self {
            Learned::Each(each) => each,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether there is a function for each class.
    pub fn is_of_classes(&self) -> bool {
        matches!(self, Learned::Each(_))
    }

    /// The function of a class; that of two sides, whichever of them is asked for.
    pub fn of_class(&self, class: usize) -> &Learned {
        match self {
            Learned::Each(each) => &each[class],
            one => one,
        }
    }

    /// θ, where the score is ⟨θ, x̃⟩.
    pub fn linear(&self) -> Option<&Theta> {
        match self {
            Learned::Linear(theta) => Some(theta),
            _ => None,
        }
    }

    /// θ of every part, where all scores are linear.
    pub fn thetas(&self) -> Option<Vec<&Theta>> {
        self.parts().iter().map(Learned::linear).collect()
    }

    /// The weights to show: those of a linear score, or of the last vector that votes.
    pub fn weights(&self) -> Option<&Theta> {
        match self {
            Learned::Linear(theta) | Learned::Voted { last: theta, .. } => Some(theta),
            _ => None,
        }
    }

    /// What it does where it is not linear: "this model …".
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Learned::Linear(_) | Learned::Each(_) => "is linear",
            Learned::Voted { .. } => "votes with many weight vectors",
            Learned::Kernel(_) => "is a kernel expansion over training rows",
            Learned::Memory(_) => "memorises rows",
        }
    }

    /// The vectors that vote.
    pub fn votes(&self) -> Option<&Votes> {
        match self {
            Learned::Voted { ballot, .. } => Some(ballot.votes()),
            _ => None,
        }
    }

    /// Whether a score compares the row with those of all updates, so that it takes as long.
    pub fn compares_rows(&self) -> bool {
        matches!(self, Learned::Kernel(_) | Learned::Voted { .. })
    }

    /// Puts the function among arrays, under names that begin with `prefix`. [`Learner::load`](crate::train::Learner) is the way
    /// back.
    pub(crate) fn put<'a>(&'a self, tensors: &mut Tensors<'a>, prefix: &str) {
        match self {
            Learned::Linear(theta) => put_theta(tensors, &format!("{prefix}theta"), theta),
            Learned::Voted { start, last, ballot } => {
                put_theta(tensors, &format!("{prefix}theta"), last);
                put_theta(tensors, &format!("{prefix}start"), start);
                put_votes(tensors, &format!("{prefix}votes"), ballot.votes());
            }
            Learned::Kernel(machine) => put_kernel(tensors, prefix, machine),
            Learned::Memory(memoriser) => memoriser.put(tensors, prefix),
            Learned::Each(each) => {
                each.iter().enumerate().for_each(|(class, learned)| learned.put(tensors, &prefix_of(class)));
            }
        }
    }

    /// The functions of so many classes, from their arrays.
    pub(crate) fn load_each(
        arrays: &Arrays<'_>,
        classes: usize,
        settings: &Settings,
    ) -> Result<Self, StoreError> {
        let load = |class: usize| settings.learner.registered().load(arrays, &prefix_of(class), settings);
        let each = (0..classes).map(load).collect::<Result<Vec<_>, _>>()?;
        if each.len() < 2 || each.windows(2).any(|pair| pair[0].columns() != pair[1].columns()) {
            return Err(StoreError::Damaged("its classes do not fit together".to_string()));
        }
        Ok(Learned::Each(each))
    }

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

/// Where the arrays of class number `class` are, among many.
fn prefix_of(class: usize) -> String {
    format!("class.{class}.")
}

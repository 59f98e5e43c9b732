//! What a learner ends with: something that gives every row a score.

use super::voted::Ballot;
use crate::dataset::Row;
use crate::theta::Theta;

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
        /// What was added in between, and what each survived.
        ballot: Box<Ballot>,
    },
}

impl Learned {
    /// The score of a row that has no column beyond those learned on.
    pub fn score(&self, row: Row<'_>) -> f64 {
        match self {
            Learned::Linear(theta) => theta.score(row),
            Learned::Voted { start, ballot, .. } => ballot.balance(start, row),
        }
    }

    /// The weights to look at: of the linear function, or of the last vector that votes.
    pub fn theta(&self) -> &Theta {
        match self {
            Learned::Linear(theta) | Learned::Voted { last: theta, .. } => theta,
        }
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.theta().weights.len()
    }
}

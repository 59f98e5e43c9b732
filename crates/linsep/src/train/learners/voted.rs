//! The voted perceptron (Freund and Schapire 1999): every θ votes with the number of examples it survived.
//!
//! The vectors differ by one example each, so they are kept as the sequence of mistaken examples: to predict,
//! the score of each vector is the score of the one before plus one dot product. Memory grows with the number
//! of mistakes.

use crate::SettingsError;
use crate::dataset::Row;
use crate::store::{Arrays, StoreError};
use crate::theta::Theta;
use crate::train::engine::checkpoint::{get_theta, get_votes};
use crate::train::engine::learned::Learned;
use crate::train::engine::row_rule::Start;
use crate::train::learners::perceptron::{ABILITIES, Perceptron};
use crate::train::learners::registry::{Abilities, Ability, Descriptor, Registered, RowLimit};
use crate::train::learners::{Combine, Core, Learner};
use crate::train::settings::Settings;
use std::collections::HashMap;

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "voted",
    title: "voted perceptron",
    summary: "Predicts by a vote of all weight vectors of the run: often as accurate as averaged, slower to \
              predict",
    options: &[],
    abilities: Abilities {
        out_of_core: Ability::No("it keeps its mistakes in memory"),
        shards: Ability::No("it votes with the weight vectors of one sequential run"),
        weights: Ability::No("its votes count examples, not weights"),
        ..ABILITIES
    },
    usual_epochs: 100,
    compared_up_to: Some(RowLimit { rows: 20_000, reason: "counting votes is slow" }),
    usual: || Learner::Voted,
};

/// The voted perceptron has no options of its own.
pub(crate) struct NoOptions;

impl Registered for NoOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn load(&self, arrays: &Arrays<'_>, prefix: &str, settings: &Settings) -> Result<Learned, StoreError> {
        let last = get_theta(arrays, &format!("{prefix}theta"), settings)?;
        let start = get_theta(arrays, &format!("{prefix}start"), settings)?;
        let votes = get_votes(arrays, &format!("{prefix}votes"))?;
        let columns = last.weights.len();
        if start.weights.len() != columns || !votes.is_consistent(columns) {
            return Err(StoreError::Damaged("its votes do not fit together".to_string()));
        }
        Ok(Learned::Voted { start, last, ballot: Box::new(Ballot::new(votes, columns)) })
    }

    fn row_rule(&self, settings: &Settings, start: Start) -> Result<Core, SettingsError> {
        Ok(Perceptron::new(start.theta, settings.mistake).into())
    }

    fn combine(&self) -> Combine {
        Combine::Vote
    }
}

/// The sequence of vectors, as what was added to the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Votes {
    /// Where the mistaken rows start, and the end.
    pub(crate) offsets: Vec<usize>,
    /// Their columns.
    pub(crate) indices: Vec<u32>,
    /// Their values.
    pub(crate) values: Vec<f64>,
    /// For each update, which of the rows was added, and with which sign.
    pub(crate) sequence: Vec<(u32, i8)>,
    /// How many examples each vector survived: the start, then one after each update.
    pub(crate) survivals: Vec<u64>,
    /// Where a row of the data set has been stored.
    stored: HashMap<u32, u32>,
}

impl Votes {
    /// No updates yet.
    pub fn new() -> Self {
        Self { offsets: vec![0], survivals: vec![0], ..Self::default() }
    }

    /// How many vectors vote.
    pub fn len(&self) -> usize {
        self.survivals.len()
    }

    /// Never true: the first vector is always there.
    pub fn is_empty(&self) -> bool {
        self.survivals.is_empty()
    }

    /// Notes that an example has been seen: the update it led to, or one more survived by the vector in use.
    /// Rows that come again are recognised by their `key`.
    pub fn see(&mut self, x: Row<'_>, sign: i8, updated: bool, key: Option<u32>) {
        if updated {
            let known = key.and_then(|key| self.stored.get(&key).copied());
            let row = known.unwrap_or_else(|| self.store(x));
            if let Some(key) = key {
                self.stored.insert(key, row);
            }
            self.sequence.push((row, sign));
            self.survivals.push(0);
        }
        if let Some(last) = self.survivals.last_mut() {
            *last += 1;
        }
    }

    fn store(&mut self, x: Row<'_>) -> u32 {
        for (column, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            self.indices.push(column as u32);
            self.values.push(value);
        }
        self.offsets.push(self.indices.len());
        self.offsets.len() as u32 - 2
    }

    /// Exchanges the labels.
    pub(crate) fn negate(&mut self) {
        self.sequence.iter_mut().for_each(|(_, sign)| *sign = -*sign);
    }

    /// Moves every column down by one.
    pub(crate) fn shift_down(&mut self) {
        self.indices.iter_mut().for_each(|index| *index -= 1);
    }

    /// Which rows of the data set are stored, and where.
    pub(crate) fn keys(&self) -> Vec<(u32, u32)> {
        let mut keys: Vec<_> = self.stored.iter().map(|(&key, &row)| (key, row)).collect();
        keys.sort_unstable();
        keys
    }

    /// The votes alone: which rows they came from matters only while more can come.
    pub(crate) fn without_keys(&self) -> Self {
        Self {
            offsets: self.offsets.clone(),
            indices: self.indices.clone(),
            values: self.values.clone(),
            sequence: self.sequence.clone(),
            survivals: self.survivals.clone(),
            stored: HashMap::new(),
        }
    }

    /// The same, in the place that they have.
    pub(crate) fn into_without_keys(self) -> Self {
        Self { stored: HashMap::new(), ..self }
    }

    pub(crate) fn set_keys(&mut self, keys: impl Iterator<Item = (u32, u32)>) {
        self.stored = keys.collect();
    }

    /// Whether the parts fit together, for rows with `columns` features.
    pub(crate) fn is_consistent(&self, columns: usize) -> bool {
        let rows = self.offsets.len().saturating_sub(1);
        self.offsets.first() == Some(&0)
            && self.offsets.last() == Some(&self.indices.len())
            && self.offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && self.indices.len() == self.values.len()
            && self.indices.iter().all(|&index| (index as usize) < columns)
            && self.values.iter().all(|value| value.is_finite())
            && self.sequence.iter().all(|&(row, sign)| (row as usize) < rows && (sign == 1 || sign == -1))
            && self.survivals.len() == self.sequence.len() + 1
            && self.stored.values().all(|&row| (row as usize) < rows)
    }
}

/// Votes ready to be counted: the mistaken rows by column, so that a sparse row meets only those it shares a
/// feature with.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot {
    votes: Votes,
    /// Where the entries of each column start, and the end.
    starts: Vec<usize>,
    /// Which mistaken row, and its value there.
    entries: Vec<(u32, f64)>,
}

impl Ballot {
    /// Prepares votes on rows with `columns` features.
    pub fn new(votes: Votes, columns: usize) -> Self {
        let mut starts = vec![0; columns + 1];
        for &column in &votes.indices {
            starts[column as usize + 1] += 1;
        }
        for column in 0..columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); votes.indices.len()];
        for row in 0..votes.offsets.len() - 1 {
            for k in votes.offsets[row]..votes.offsets[row + 1] {
                let place = &mut next[votes.indices[k] as usize];
                entries[*place] = (row as u32, votes.values[k]);
                *place += 1;
            }
        }
        Self { votes, starts, entries }
    }

    /// The votes.
    pub fn votes(&self) -> &Votes {
        &self.votes
    }

    /// The (weighted) balance of the votes on a row, in [−1, 1], for vectors that start at `start`.
    pub fn balance(&self, start: &Theta, x: Row<'_>) -> f64 {
        // ⟨mistaken row, x̃⟩ for each of them; the appended coordinates meet in every one.
        let mut products = vec![start.bias_input * start.bias_input; self.votes.offsets.len() - 1];
        for (column, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            for &(row, other) in &self.entries[self.starts[column]..self.starts[column + 1]] {
                products[row as usize] += value * other;
            }
        }
        let mut score = start.score(x);
        let (mut balance, mut total) = (0.0, 0.0);
        let updates = self.votes.sequence.iter().map(|&(row, sign)| f64::from(sign) * products[row as usize]);
        for (step, &survived) in std::iter::once(0.0).chain(updates).zip(&self.votes.survivals) {
            score += step;
            balance += if score >= 0.0 { survived as f64 } else { -(survived as f64) };
            total += survived as f64;
        }
        if total > 0.0 {
            balance / total
        } else if score >= 0.0 {
            1.0
        } else {
            -1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::train::{MistakeRule, Perceptron};
    use proptest::prelude::*;

    proptest! {
        /// Against the plain form that keeps every vector. Whole numbers, so that both are exact.
        #[test]
        fn votes_are_those_of_the_vectors(seed: u64, n in 1usize..40, warm: bool) {
            let mut random = Random::new(seed);
            let mut number = |bound: u64| random.below(2 * bound + 1) as f64 - bound as f64;
            let mut start = Theta::zero(3, 2.0);
            if warm {
                start.weights = (0..3).map(|_| number(9)).collect();
                start.bias = number(5);
            }
            let rows: Vec<(Vec<f64>, i8)> = (0..n)
                .map(|_| ((0..3).map(|_| number(6)).collect(), if number(1) > 0.0 { 1 } else { -1 }))
                .collect();
            let mut perceptron = Perceptron::new(start.clone(), MistakeRule::NonPositive);
            let mut votes = Votes::new();
            let mut vectors: Vec<(Theta, f64)> = vec![(start.clone(), 0.0)];
            for round in 0..2 * n {
                let key = round % n;
                let (row, sign) = (Row::DenseF64(&rows[key].0), rows[key].1);
                let updated = perceptron.learn(row, f64::from(sign)).is_some();
                votes.see(row, sign, updated, Some(key as u32));
                if updated {
                    vectors.push((perceptron.theta.clone(), 0.0));
                }
                vectors.last_mut().unwrap().1 += 1.0;
            }
            prop_assert!(votes.is_consistent(3));
            prop_assert!(votes.offsets.len() <= n + 1, "rows that come again are stored once");
            let ballot = Ballot::new(votes, 3);
            for (x, _) in &rows {
                let row = Row::DenseF64(x);
                let plain: f64 = vectors.iter().map(|(v, c)| if v.score(row) >= 0.0 { *c } else { -c }).sum();
                prop_assert_eq!(ballot.balance(&start, row), plain / (2 * n) as f64);
            }
        }
    }
}

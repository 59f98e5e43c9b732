//! Forks of a state and their mixture: what shards of the rows learn at once becomes one state again.
//!
//! [`mixing`](crate::theory::mixing) has the theorem. The mixture is added up in the order of the forks, so it does not
//! depend on which of them was ready first.
//!
//! The mean of the averaged perceptron is that of θ over all examples seen, wherever they were seen: every row counts
//! once, with the θ that its fork had after it.

use crate::theory::mixing::Mixing;
use crate::theta::Theta;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::row_rule::Memory;
use crate::train::engine::state::{Forked, Learners, State};
use crate::train::learners::averaged::Average;
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use std::collections::HashSet;
use std::slice;

/// Weights that are mixed together.
const CHUNK: usize = 1024;

impl State {
    /// A state that goes on from here over the rows of a shard, to be [merged](Self::merge) with others that go on over other
    /// rows. It carries the digest of this state and the number of its shard, which no other fork to be merged with it may have.
    ///
    /// # Errors
    /// The learner's theorem does not survive mixing, the settings ask for a start at the first row, or the state has so many classes
    /// that it cannot be written.
    pub fn fork(&self, shard: u64) -> Result<State, SettingsError> {
        Settings { shards: 2, ..self.settings.clone() }.validate()?;
        let mut fork = self.clone();
        match (&mut fork.learners, &self.learners) {
            (Learners::Two(fork), Learners::Two(own)) => fork.follow(own),
            (Learners::Each(forks), Learners::Each(own)) => {
                forks.iter_mut().zip(own).for_each(|(fork, own)| fork.follow(own));
            }
            _ => {}
        }
        if let (Some(fork), Some(own)) = (&mut fork.seen.unseen, &self.seen.unseen) {
            fork.follow(own);
        }
        (fork.cursor.position, fork.cursor.pass_updates) = (0, 0);
        (fork.seen.nonzeros, fork.seen.wrong) = (0, 0);
        fork.seen.forked = Some(Forked { parent: self.parent_digest()?, shard });
        Ok(fork)
    }

    fn parent_digest(&self) -> Result<String, SettingsError> {
        self.digest().map_err(|error| SettingsError::new("mixing", error.to_string()))
    }

    /// Joins what [forks](Self::fork) of this state have learned since. Their rows count as rows of this state.
    ///
    /// From a start at zero the theorem of Novikoff holds for the mixture: see [`theory::mixing`](crate::theory::mixing). It does not
    /// hold for a mixture of states that began differently, so strangers are refused, whatever their counts are.
    ///
    /// # Errors
    /// A state that is not a fork of this one as it stands now, or two with the same shard number.
    pub fn merge(&mut self, forks: &[State], mixing: Mixing) -> Result<(), Error> {
        if forks.is_empty() {
            return Ok(());
        }
        let parent = self.parent_digest()?;
        let mut shards = HashSet::new();
        for fork in forks {
            fork.check_settings(&self.settings)?;
            let refuse = |reason: String| Err(SettingsError::new("mixing", reason).into());
            let forked = fork.seen.forked.as_ref().filter(|forked| forked.parent == parent);
            // A damaged snapshot may name the right parent.
            let goes_on = fork.seen.closed == self.seen.closed && fork.updates() >= self.updates();
            let Some(forked) = forked.filter(|_| goes_on) else {
                return refuse(
                    "a state can only be merged with forks of it that were made since it last learned"
                        .to_owned(),
                );
            };
            if !shards.insert(forked.shard) {
                return refuse(format!(
                    "two of the forks have the shard number {}, so their rows could count twice: give every fork a number of \
                     its own",
                    forked.shard
                ));
            }
        }
        for fork in forks {
            for name in &fork.seen.names {
                self.class(name)?;
            }
        }
        let columns = forks.iter().map(State::columns).fold(self.columns(), usize::max);
        self.settle_features(false, columns);
        let (seen, positive) = (&mut self.seen, self.settings.positive.is_some());
        let mix = |common: &mut OnlineLearner, name: Option<&str>| {
            let own: Vec<OnlineLearner> =
                forks.iter().filter_map(|fork| fork.learner_of(name, columns)).collect();
            common.mix(&own.iter().collect::<Vec<_>>(), mixing);
        };
        match &mut self.learners {
            Learners::Two(learner) => {
                let side = seen.signs.iter().position(|&sign| sign > 0).filter(|_| !positive);
                mix(learner, side.map(|class| seen.names[class].as_str()));
            }
            Learners::Each(own) => {
                own.iter_mut().zip(&seen.names).for_each(|(own, name)| mix(own, Some(name)));
            }
            Learners::Together(_) => {}
        }
        if let Some(rest) = &mut seen.unseen {
            mix(rest, None);
        }
        for fork in forks {
            self.cursor.position += fork.cursor.position;
            self.cursor.pass_updates += fork.cursor.pass_updates;
            self.seen.nonzeros += fork.seen.nonzeros;
            self.seen.wrong += fork.seen.wrong;
            self.seen.first_column |= fork.seen.first_column;
            self.seen.extent.merge(&fork.seen.extent);
            self.seen.most_stored = self.seen.most_stored.max(fork.seen.most_stored);
        }
        self.expect_rows(self.seen.extent.radius_upper, self.seen.most_stored);
        Ok(())
    }

    /// The learner of this class against the rest, or of a class that has not turned up.
    fn learner_of(&self, name: Option<&str>, columns: usize) -> Option<OnlineLearner> {
        let class = name.and_then(|name| self.seen.numbers.get(name)).map(|&class| class as usize);
        let mut learner = match (&self.learners, class) {
            (Learners::Two(learner), _) if self.settings.positive.is_some() => learner.clone(),
            (Learners::Two(learner), Some(class)) => {
                let mut learner = learner.clone();
                if self.seen.signs[class] < 0 {
                    learner.exchange_labels();
                }
                learner
            }
            (Learners::Two(learner), None) if self.seen.names.len() < 2 => {
                let mut learner = learner.clone();
                learner.exchange_labels();
                learner
            }
            (Learners::Each(own), Some(class)) => own[class].clone(),
            (Learners::Two(_) | Learners::Each(_), None) => self.seen.unseen.as_deref()?.clone(),
            (Learners::Together(_), _) => return None,
        };
        learner.widen(columns);
        Some(learner)
    }
}

impl OnlineLearner {
    /// Joins what others have learned since they [followed](Self::follow) this learner.
    pub(crate) fn mix(&mut self, others: &[&OnlineLearner], mixing: Mixing) {
        if let Memory::Average(average) = &mut self.memory {
            // What this learner has to average itself is a multiple of θ, which is about to change.
            if average.mass > 0.0 {
                average.flush(self.core.theta());
            }
            join_averages(average, others);
        }
        let before = self.updates();
        let updates: Vec<u64> = others.iter().map(|other| other.updates().saturating_sub(before)).collect();
        let weights = mixing.weights(&updates);
        let counting: Vec<(f64, &Theta)> = weights
            .iter()
            .zip(others)
            .filter(|(weight, _)| **weight > 0)
            .map(|(&weight, other)| (weight as f64, other.theta()))
            .collect();
        *self.core.parts_mut().1 = before + updates.iter().sum::<u64>();
        let theta = self.core.theta_mut();
        match counting.as_slice() {
            [] => {}
            [(_, only)] => theta.copy_from(only),
            all => {
                let whole: f64 = all.iter().map(|(weight, _)| weight).sum();
                theta.weights.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, weights)| {
                    let place = chunk * CHUNK..chunk * CHUNK + weights.len();
                    let others = all.iter().map(|(w, theta)| (*w, &theta.weights[place.clone()]));
                    mix_weights(weights, others, whole);
                });
                let biases = all.iter().map(|(w, theta)| (*w, slice::from_ref(&theta.bias)));
                mix_weights(slice::from_mut(&mut theta.bias), biases, whole);
            }
        }
        let (norm, terms) = (theta.norm().high, theta.weights.len() + 1);
        let ledgers: Vec<_> = weights.into_iter().zip(others.iter().map(|other| other.ledger)).collect();
        self.ledger.record_mixing(&ledgers, norm, terms);
        self.end_pass();
    }
}

/// θ += Σ (w_s/W)(θ_s − θ), for at most [`CHUNK`] weights: a weight that no θ_s has moved stays as it is, to the bit.
fn mix_weights<'a>(theta: &mut [f64], others: impl Iterator<Item = (f64, &'a [f64])>, whole: f64) {
    let mut gains = [0.0; CHUNK];
    for (weight, other) in others {
        for ((gain, &new), &old) in gains.iter_mut().zip(other).zip(&*theta) {
            *gain += weight * (new - old);
        }
    }
    theta.iter_mut().zip(gains).for_each(|(weight, gain)| *weight += gain / whole);
}

/// Adds up what the others have to average: every θ of each counts once.
fn join_averages(common: &mut Average, others: &[&OnlineLearner]) {
    let parts: Vec<(&Average, &Theta)> = others
        .iter()
        .filter_map(|other| match &other.memory {
            Memory::Average(average) => Some((average, other.theta())),
            _ => None,
        })
        .collect();
    common.seen += parts.iter().map(|(average, _)| average.seen).sum::<u64>();
    let Average { late, flushed_sum, .. } = common;
    let sum = flushed_sum.get_or_insert_with(|| Theta::zero(late.weights.len(), late.bias_input));
    sum.weights.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
        let place = chunk * CHUNK..chunk * CHUNK + sums.len();
        for (Average { late, mass, .. }, last) in &parts {
            for ((sum, last), late) in
                sums.iter_mut().zip(&last.weights[place.clone()]).zip(&late.weights[place.clone()])
            {
                *sum += mass * last - late;
            }
        }
    });
    for (Average { late, mass, .. }, last) in &parts {
        sum.bias += mass * last.bias - late.bias;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;
    use crate::train::{Bias, Example, Learner};

    fn learn(state: &mut State, x: &[[f64; 2]], labels: &[&str]) {
        let data = Dataset::dense(2, x.as_flattened(), labels).unwrap();
        for (i, label) in labels.iter().enumerate() {
            let class = state.class(label).unwrap();
            state.learn([Example { row: data.row(i), class, weight: 1.0 }]).unwrap();
        }
    }

    fn begun(x: &[[f64; 2]]) -> State {
        let settings = Settings { learner: Learner::Perceptron, bias: Bias::None, ..Settings::default() };
        let mut state = State::with_classes(&settings, &["a", "b"], 2).unwrap();
        learn(&mut state, x, &["b", "a"]);
        state
    }

    /// A stranger with the same counts of rows and updates, whose rows are shorter, would prove a margin that no rows have.
    #[test]
    fn strangers_with_the_same_counts_are_refused() {
        let (long, short) = ([[10.0, 0.0], [-10.0, 0.0]], [[0.1, 0.0], [-0.1, 0.0]]);
        let (mut state, other) = (begun(&long), begun(&short));
        assert_eq!((state.rows(), state.updates()), (other.rows(), other.updates()));
        let upper = state.margin_upper();
        let stranger = other.fork(0).unwrap();
        let error = state.merge(&[state.fork(1).unwrap(), stranger], Mixing::Uniform).unwrap_err();
        assert!(error.to_string().contains("forks of it"), "{error}");
        assert_eq!(state.margin_upper(), upper);
        // The same rows in the same order make the same state, and so a parent.
        state.merge(&[begun(&long).fork(0).unwrap()], Mixing::Uniform).unwrap();
    }

    #[test]
    fn a_fork_counts_once() {
        let mut state = begun(&[[1.0, 2.0], [-2.0, 1.0]]);
        let mut fork = state.fork(7).unwrap();
        learn(&mut fork, &[[-1.0, 1.0], [1.0, -3.0]], &["b", "a"]);
        let error = state.merge(&[fork.clone(), fork.clone()], Mixing::Updates).unwrap_err();
        assert!(error.to_string().contains("shard number 7"), "{error}");
        state.merge(&[fork.clone(), state.fork(8).unwrap()], Mixing::Updates).unwrap();
        assert_eq!(state.rows(), 4);
        // The state has learned since: what was made before is no fork of it any more.
        assert!(state.merge(&[fork], Mixing::Updates).is_err());
    }

    /// A fork may be forked and merged again on its own, and stays a fork of its parent.
    #[test]
    fn forks_of_forks_are_merged_in_their_turn() {
        let mut state = begun(&[[1.0, 2.0], [-2.0, 1.0]]);
        let mut fork = state.fork(0).unwrap();
        let mut parts = [fork.fork(0).unwrap(), fork.fork(1).unwrap()];
        learn(&mut parts[1], &[[-1.0, 1.0]], &["b"]);
        assert!(state.clone().merge(&parts, Mixing::Uniform).is_err());
        fork.merge(&parts, Mixing::Uniform).unwrap();
        let (fork, _) = State::restore(&fork.snapshot("on its way").unwrap()).unwrap();
        state.merge(&[fork], Mixing::Uniform).unwrap();
        assert_eq!(state.rows(), 3);
    }
}

//! Decision functions as named arrays, and back.

use crate::store::{Opened, StoreError, Tensors};
use crate::train::{Ballot, Learned, Learner, Memoriser, Settings};
use crate::train::{get_kernel, put_kernel};
use crate::train::{get_theta, get_votes, put_theta, put_votes};
use serde::de::DeserializeOwned;

/// Where the arrays of class number `class` are, among many.
fn prefix_of(class: usize) -> String {
    format!("class.{class}.")
}

/// Puts a decision function among the arrays, under names that begin with `prefix`.
pub(super) fn put_learned<'a>(tensors: &mut Tensors<'a>, prefix: &str, learned: &'a Learned) {
    match learned {
        Learned::Linear(theta) => put_theta(tensors, &format!("{prefix}theta"), theta),
        Learned::Voted { start, last, ballot } => {
            put_theta(tensors, &format!("{prefix}theta"), last);
            put_theta(tensors, &format!("{prefix}start"), start);
            put_votes(tensors, &format!("{prefix}votes"), ballot.votes());
        }
        Learned::Kernel(machine) => put_kernel(tensors, prefix, machine),
        Learned::Memory(memoriser) => memoriser.put(tensors, prefix),
        Learned::Each(each) => {
            for (class, learned) in each.iter().enumerate() {
                put_learned(tensors, &prefix_of(class), learned);
            }
        }
    }
}

/// Opens the decision function of one boundary.
pub(super) fn get_learned<T: DeserializeOwned>(
    opened: &Opened<'_, T>,
    prefix: &str,
    settings: &Settings,
) -> Result<Learned, StoreError> {
    Ok(match &settings.learner {
        Learner::Voted => {
            let last = get_theta(opened, &format!("{prefix}theta"), settings)?;
            let start = get_theta(opened, &format!("{prefix}start"), settings)?;
            let votes = get_votes(opened, &format!("{prefix}votes"))?;
            let columns = last.weights.len();
            if start.weights.len() != columns || !votes.is_consistent(columns) {
                return Err(StoreError::Damaged("its votes do not fit together".to_string()));
            }
            Learned::Voted { start, last, ballot: Box::new(Ballot::new(votes, columns)) }
        }
        Learner::Kernel(options) => Learned::Kernel(Box::new(get_kernel(opened, prefix, settings, options)?)),
        Learner::Memoriser => Learned::Memory(Box::new(Memoriser::get(opened, prefix, settings)?)),
        _ => Learned::Linear(get_theta(opened, &format!("{prefix}theta"), settings)?),
    })
}

/// Opens the decision functions of `classes` classes.
pub(super) fn get_each<T: DeserializeOwned>(
    opened: &Opened<'_, T>,
    classes: usize,
    settings: &Settings,
) -> Result<Learned, StoreError> {
    let each = (0..classes)
        .map(|class| get_learned(opened, &prefix_of(class), settings))
        .collect::<Result<Vec<_>, _>>()?;
    if each.len() < 2 || each.windows(2).any(|pair| pair[0].columns() != pair[1].columns()) {
        return Err(StoreError::Damaged("its classes do not fit together".to_string()));
    }
    Ok(Learned::Each(each))
}

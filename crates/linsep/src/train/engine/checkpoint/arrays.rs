//! The learners of a saved state: their vectors as arrays, and the rest as numbers.

use super::{CheckpointError, Content, MAX};
use crate::store::{Arrays, Opened, StoreError, Tensors};
use crate::theory::margin::MistakeLedger;
use crate::theta::Theta;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::row_rule::{Memory, Start};
use crate::train::learners::Combine;
use crate::train::learners::averaged::Average;
use crate::train::learners::multiclass::Multiclass;
use crate::train::learners::voted::Votes;
use crate::train::settings::{Init, Settings};
use serde::{Deserialize, Serialize};

/// What a learner is beside its vectors.
#[derive(Serialize, Deserialize)]
pub(super) struct LearnerContent {
    updates: u64,
    ledger: MistakeLedger,
    awaits_first: bool,
    seen: u64,
    mass: f64,
    flushed_sum: bool,
    /// Of the rule of the learner. The first that had something was gradient descent.
    #[serde(rename = "descent")]
    own: Option<serde_json::Value>,
}

impl LearnerContent {
    /// What stands where there is no one learner.
    pub(super) fn none() -> Self {
        Self {
            updates: 0,
            ledger: MistakeLedger::new(&Theta::default()),
            awaits_first: false,
            seen: 0,
            mass: 0.0,
            flushed_sum: false,
            own: None,
        }
    }
}

/// The names of the arrays of the learner of classes that have not turned up begin with this.
pub(super) const UNSEEN: &str = "unseen.";

/// The names of the arrays of a class begin with this.
pub(super) fn of_class(class: usize) -> String {
    format!("class.{class}.")
}

pub(super) fn damaged(what: &str) -> CheckpointError {
    CheckpointError::Damaged(what.to_string())
}

pub(super) fn check_counts<'a>(counts: impl IntoIterator<Item = &'a u64>) -> Result<(), CheckpointError> {
    match counts.into_iter().any(|&count| count > MAX) {
        true => Err(damaged("it counts further than a run can get")),
        false => Ok(()),
    }
}

/// Puts the vectors of a learner into arrays whose names begin with `prefix`.
pub(super) fn put_learner<'a>(
    tensors: &mut Tensors<'a>,
    prefix: &str,
    learner: &'a OnlineLearner,
) -> LearnerContent {
    put_theta(tensors, &format!("{prefix}theta"), learner.theta());
    if let Some(start) = &learner.start {
        put_theta(tensors, &format!("{prefix}start"), start);
    }
    let mut content = LearnerContent {
        updates: learner.updates(),
        ledger: learner.ledger,
        awaits_first: learner.awaits_first,
        own: learner.core.put(tensors, prefix),
        ..LearnerContent::none()
    };
    match &learner.memory {
        Memory::Nothing => {}
        Memory::Average(average) => {
            put_theta(tensors, &format!("{prefix}late"), &average.late);
            (content.seen, content.mass) = (average.seen, average.mass);
            content.flushed_sum = average.flushed_sum.is_some();
            if let Some(sum) = &average.flushed_sum {
                put_theta(tensors, &format!("{prefix}flushed_sum"), sum);
            }
        }
        Memory::Votes(votes) => {
            put_votes(tensors, &format!("{prefix}votes"), votes);
            let (keys, rows): (Vec<u32>, Vec<u32>) = votes.keys().into_iter().unzip();
            tensors.put_u32(&format!("{prefix}votes.keys"), keys.into_iter());
            tensors.put_u32(&format!("{prefix}votes.key_rows"), rows.into_iter());
        }
    }
    content
}

/// The learner of which the arrays begin with `prefix`.
pub(super) fn get_learner(
    opened: &Arrays<'_>,
    prefix: &str,
    content: &LearnerContent,
    settings: &Settings,
) -> Result<OnlineLearner, CheckpointError> {
    let vector = |name: &str| get_theta(opened, &format!("{prefix}{name}"), settings);
    let theta = vector("theta")?;
    let columns = theta.weights.len();
    let start = match settings.init {
        Init::Warm(_) => Some(vector("start")?),
        _ => None,
    };
    check_counts(&[content.updates, content.seen, content.ledger.updates()])?;
    let memory = match settings.learner.registered().combine() {
        Combine::Last => Memory::Nothing,
        Combine::Average => {
            let flushed_sum = content.flushed_sum.then(|| vector("flushed_sum")).transpose()?;
            Memory::Average(Average {
                late: vector("late")?,
                seen: content.seen,
                mass: content.mass,
                flushed_sum,
            })
        }
        Combine::Vote => {
            let mut votes = get_votes(opened, &format!("{prefix}votes"))?;
            let keys = opened.u32s(&format!("{prefix}votes.keys"))?;
            votes.set_keys(keys.into_iter().zip(opened.u32s(&format!("{prefix}votes.key_rows"))?));
            if !votes.is_consistent(columns) || votes.sequence.len() as u64 != content.updates {
                return Err(damaged("its votes do not fit together"));
            }
            check_counts(&votes.survivals)?;
            Memory::Votes(votes)
        }
    };
    let same_width = |theta: &Theta| theta.weights.len() == columns;
    let sums_fit = match &memory {
        Memory::Average(average) => {
            same_width(&average.late) && average.flushed_sum.as_ref().is_none_or(same_width)
        }
        _ => true,
    };
    if !sums_fit || start.as_ref().is_some_and(|start| !same_width(start)) {
        return Err(damaged("its vectors differ in length"));
    }
    // The radius matters for the first step of descent only, which is written down.
    let start_of = Start { theta, radius: Some(1.0) };
    let core = settings.learner.registered().row_rule(settings, start_of);
    let mut core = core.map_err(|error| damaged(&error.to_string()))?;
    *core.parts_mut().1 = content.updates;
    core.take(opened, prefix, content.own.as_ref())?;
    Ok(OnlineLearner::from_parts(core, memory, content.ledger, start, content.awaits_first))
}

/// Puts the vectors of the multi-class perceptron into arrays.
pub(super) fn put_together<'a>(tensors: &mut Tensors<'a>, learner: &'a Multiclass) -> LearnerContent {
    let late = learner.late.iter().flatten().map(|late| ("late", late));
    let thetas = learner.thetas.iter().map(|theta| ("theta", theta));
    for (class, (name, theta)) in thetas.enumerate().chain(late.enumerate()) {
        put_theta(tensors, &format!("{}{name}", of_class(class)), theta);
    }
    tensors.put_u64("classes", [learner.thetas.len() as u64].into_iter());
    LearnerContent {
        updates: learner.updates,
        ledger: learner.ledger,
        seen: learner.seen as u64,
        ..LearnerContent::none()
    }
}

pub(super) fn get_together(
    opened: &Opened<'_, Content<'static>>,
    settings: &Settings,
) -> Result<Multiclass, CheckpointError> {
    let content = &opened.content.learner;
    check_counts(&[content.updates, content.seen, content.ledger.updates()])?;
    let classes = match opened.u64s("classes")?.as_slice() {
        [classes] => *classes as usize,
        _ => return Err(damaged("it must tell one number of classes")),
    };
    let vectors = |name: &str| -> Result<Vec<Theta>, StoreError> {
        let mut found = Vec::new();
        for class in 0..classes {
            found.push(get_theta(opened, &format!("{}{name}", of_class(class)), settings)?);
        }
        Ok(found)
    };
    let thetas = vectors("theta")?;
    let columns = thetas.first().map_or(0, |theta| theta.weights.len());
    let mut learner =
        Multiclass::new(settings, columns, classes).map_err(|error| damaged(&error.to_string()))?;
    learner.late = learner.late.is_some().then(|| vectors("late")).transpose()?;
    if thetas.iter().chain(learner.late.iter().flatten()).any(|theta| theta.weights.len() != columns) {
        return Err(damaged("its vectors differ in length"));
    }
    learner.thetas = thetas;
    (learner.updates, learner.ledger, learner.seen) = (content.updates, content.ledger, content.seen as f64);
    Ok(learner)
}

pub(crate) fn put_theta<'a>(tensors: &mut Tensors<'a>, name: &str, theta: &'a Theta) {
    tensors.put_f64(&format!("{name}.weights"), theta.weights.iter().copied());
    tensors.put_f64(&format!("{name}.bias"), [theta.bias].into_iter());
}

pub(crate) fn get_theta(opened: &Arrays<'_>, name: &str, settings: &Settings) -> Result<Theta, StoreError> {
    let weights = opened.f64s(&format!("{name}.weights"))?;
    let bias = match opened.f64s(&format!("{name}.bias"))?.as_slice() {
        [bias] => *bias,
        _ => return Err(StoreError::Damaged(format!("{name} must have one bias"))),
    };
    let theta = Theta { weights, bias, bias_input: settings.bias.input() };
    if !theta.is_finite() {
        return Err(StoreError::Damaged(format!("{name} has weights that are not finite")));
    }
    Ok(theta)
}

pub(crate) fn put_votes<'a>(tensors: &mut Tensors<'a>, name: &str, votes: &'a Votes) {
    tensors.put_u64(&format!("{name}.offsets"), votes.offsets.iter().map(|&offset| offset as u64));
    tensors.put_u32(&format!("{name}.indices"), votes.indices.iter().copied());
    tensors.put_f64(&format!("{name}.values"), votes.values.iter().copied());
    tensors.put_u32(&format!("{name}.rows"), votes.sequence.iter().map(|&(row, _)| row));
    tensors.put_i8(&format!("{name}.signs"), votes.sequence.iter().map(|&(_, sign)| sign));
    tensors.put_u64(&format!("{name}.survivals"), votes.survivals.iter().copied());
}

pub(crate) fn get_votes(opened: &Arrays<'_>, name: &str) -> Result<Votes, StoreError> {
    let (rows, signs) = (opened.u32s(&format!("{name}.rows"))?, opened.i8s(&format!("{name}.signs"))?);
    if rows.len() != signs.len() {
        return Err(StoreError::Damaged("the votes have rows without signs".to_string()));
    }
    let mut votes = Votes::new();
    votes.offsets = opened
        .u64s(&format!("{name}.offsets"))?
        .into_iter()
        .map(|offset| usize::try_from(offset).unwrap_or(usize::MAX))
        .collect();
    votes.indices = opened.u32s(&format!("{name}.indices"))?;
    votes.values = opened.f64s(&format!("{name}.values"))?;
    votes.sequence = rows.into_iter().zip(signs).collect();
    votes.survivals = opened.u64s(&format!("{name}.survivals"))?;
    Ok(votes)
}

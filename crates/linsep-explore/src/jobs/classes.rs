//! Several classes with a vector each: their scores on the plane, step by step, and the trace of the proof.
//!
//! Stacked into one vector Θ, the multi-class perceptron is a perceptron on z, which holds the row at its class and minus the row at
//! its strongest rival. So the inequalities of the proof hold for it, with R² = max ‖z‖² = 2 max ‖x̃‖².

use crate::drawing::{Arrays, ClassScore, History, Line, Plane, Seen};
use crate::watch::Listener;
use linsep::features::RecipeBuffer;
use linsep::job::Trained;
use linsep::observe::{ClassUpdate, Update};
use linsep::theory::margin::certain_lead_over;
use linsep::theory::trace::{Comparator, TracePoint, TraceRecorder};
use linsep::train::ClassWeight;
use linsep::{Model, Theta};

/// The most classes whose regions are drawn.
const MAX_CLASSES: usize = 100;

/// The vector of each class, where each has one.
pub(super) fn thetas(model: &Model) -> Option<Vec<&Theta>> {
    if !model.evidence.status.has_model() || model.classes.pair().is_some() {
        return None;
    }
    let thetas = model.learned.thetas().filter(|_| model.learned.is_of_classes());
    thetas.filter(|thetas| thetas.len() <= MAX_CLASSES)
}

/// The two classes whose vectors differ most, and the difference: what tells them apart.
pub(super) fn farthest(thetas: &[&Theta]) -> Option<([usize; 2], Theta)> {
    let difference = |one: usize, other: usize| {
        let (from, to) = (thetas[one], thetas[other]);
        let weights = to.weights.iter().zip(&from.weights).map(|(to, from)| to - from).collect();
        Theta { weights, bias: to.bias - from.bias, bias_input: to.bias_input }
    };
    let length = |theta: &Theta| theta.weights.iter().map(|w| w * w).sum::<f64>();
    let pairs = (0..thetas.len()).flat_map(|one| (one + 1..thetas.len()).map(move |other| [one, other]));
    let all = pairs.map(|[one, other]| ([one, other], difference(one, other)));
    all.reduce(|best, next| if length(&next.1) > length(&best.1) { next } else { best })
}

/// The score of each class on the plane.
pub(super) fn lines(plane: &Plane, thetas: &[&Theta]) -> Vec<Line> {
    thetas.iter().map(|theta| plane.line(theta)).collect()
}

/// Packs the scores of classes: which class, from which step on, and a, b, c.
pub(super) fn put_scores(arrays: &mut Arrays, scores: &[ClassScore]) {
    arrays.put("class.step", scores.iter().map(|score| score.step));
    arrays.put("class.class", scores.iter().map(|score| score.class));
    for (name, place) in [("class.a", 0), ("class.b", 1), ("class.c", 2)] {
        arrays.put(name, scores.iter().map(|score| score.line[place]));
    }
}

/// The trace of a run of the multi-class perceptron, if the theorem covers it: rows that count once.
pub(super) fn trace(
    trained: &Trained,
    history: &History<'_>,
    seen: &Seen<'_>,
    outcome: impl Fn(usize) -> usize,
    listener: &Listener,
) -> Option<Vec<TracePoint>> {
    let model = &trained.model;
    if model.settings.class_weight != ClassWeight::Equal || model.evidence.weighted {
        return None;
    }
    let learned = seen.learned(model);
    let comparator = history.last.clone().and_then(|thetas| {
        let margin = least_lead(&learned, &thetas, outcome, listener)?;
        Some(Comparator { thetas, margin })
    });
    let radius = model.evidence.extent.radius_upper;
    let mut recorder = TraceRecorder::new(history.rows.len() + 1, Some(radius), comparator);
    let mut buffer = RecipeBuffer::default();
    for (k, &position) in history.rows.iter().enumerate() {
        let (class, rival) = history.moved[k];
        recorder.record(&Update {
            number: k as u64 + 1,
            epoch: u64::from(history.epochs[k]),
            position: u64::from(position),
            row: learned.row(position as usize, &mut buffer),
            row_squared: history.squares[k],
            sign: 1,
            agreement: history.agreements[k],
            theta: None,
            classes: Some(ClassUpdate { class: class as usize, rival: rival as usize, thetas: &[] }),
        });
    }
    Some(recorder.finish())
}

/// A certified lower bound of how far the class of every row is ahead of every other; none if some row is not ahead.
fn least_lead(
    seen: &Seen<'_>,
    thetas: &[Theta],
    outcome: impl Fn(usize) -> usize,
    listener: &Listener,
) -> Option<f64> {
    let mut buffer = RecipeBuffer::default();
    let mut least = f64::MAX;
    for i in 0..seen.rows.len() {
        if i % 1024 == 0 && listener.is_gone() {
            return None;
        }
        let (row, class) = (seen.row(i, &mut buffer), outcome(i));
        for rival in (0..thetas.len()).filter(|&rival| rival != class) {
            least = least.min(certain_lead_over(thetas, row, class, rival));
        }
        if least <= 0.0 {
            return None;
        }
    }
    Some(least)
}

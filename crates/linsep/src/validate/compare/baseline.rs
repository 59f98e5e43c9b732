//! The baseline that every learner is compared with.

use crate::classes::class_name;
use crate::dataset::Dataset;
use crate::train::Settings;
use crate::validate::metric::{JudgedRow, Metric};
use serde::Serialize;

/// The baseline: always predicting the most frequent class.
#[derive(Clone, Debug, Serialize)]
pub struct Baseline {
    /// The class.
    pub class: String,
    /// The share of rows that are not of that class.
    pub error: f64,
    /// The metric of that prediction; for probabilities, of the shares of the classes.
    pub value: f64,
}

/// The class that most rows have, for every row.
pub(crate) fn baseline(data: &Dataset, settings: &Settings, metric: Metric) -> Baseline {
    let positive = settings.positive.as_deref().and_then(class_name);
    // The outcome of each class: with a positive class the rest and that, as for every learner.
    let mut names: Vec<String> = match &positive {
        Some(positive) => vec![format!("not {positive}"), positive.clone()],
        None => Vec::new(),
    };
    let mut counts: Vec<u64> = vec![0; names.len()];
    let mut outcome = Vec::new();
    for (class, count) in data.classes().iter().zip(data.class_counts()) {
        // A class without rows is no outcome; no label is its own.
        if positive.is_none() && count > 0 {
            names.push(class.clone());
            counts.push(0);
        }
        let place = positive
            .as_ref()
            .map_or(names.len().saturating_sub(1), |positive| usize::from(class == positive));
        counts[place] += count as u64;
        outcome.push(place);
    }
    let largest = (1..counts.len()).fold(0, |best, k| if counts[k] > counts[best] { k } else { best });
    let share = |k: usize| counts[k] as f64 / data.len() as f64;
    // The same for every row, on the side of the largest.
    let score = if largest == 1 { 1.0 } else { -1.0 };
    let rows: Vec<JudgedRow> = data
        .labels()
        .iter()
        .map(|&label| {
            let truth = outcome[label as usize];
            let loss = -libm::log(share(truth));
            JudgedRow { truth: Some(truth as u32), outcome: largest as u32, score, loss }
        })
        .collect();
    let value = metric.of(&rows, counts.len());
    Baseline { class: names[largest].clone(), error: 1.0 - share(largest), value }
}

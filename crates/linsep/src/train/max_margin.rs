//! The max-margin separator (A11, hard margin): the boundary that is furthest from the nearest row.
//!
//! The weights are the nearest point of the hull of the rows z to the origin, found and proved by the engine of
//! [`separate`](crate::separate). Data that is not completely separable has no such boundary, and the learner says so.

use super::evidence::Detail;
use super::fit::Fit;
use super::learned::Learned;
use super::run::{Status, Task};
use super::settings::{Bias, Settings};
use crate::observe::Observer;
use crate::separate::{self, Examples, Verdict};
use crate::theory::margin::lower_bound;
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};

/// The options of the max-margin separator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxMarginOptions {
    /// The margin is proved to be within this share of the best.
    pub gap: f64,
}

impl Default for MaxMarginOptions {
    fn default() -> Self {
        Self { gap: 1e-6 }
    }
}

impl MaxMarginOptions {
    /// Checks the range.
    pub(crate) fn validate(&self) -> Result<(), SettingsError> {
        separate::Settings { gap: Some(self.gap), ..separate::Settings::default() }.validate()
    }
}

/// Finds the separator, or says why there is none.
pub(crate) fn learn(
    task: &Task<'_>,
    settings: &Settings,
    options: &MaxMarginOptions,
    observer: &mut impl Observer,
) -> Result<Fit, Error> {
    let bias = match settings.bias {
        Bias::None => separate::Bias::None,
        Bias::Append(value) => separate::Bias::Append(value),
    };
    let examples = Examples::with_signs(task.data, task.signs.clone(), bias);
    let wanted = separate::Settings {
        bias,
        gap: Some(options.gap),
        max_seconds: settings.max_seconds,
        max_passes: Some(settings.epochs),
        seed: settings.seed,
        ..separate::Settings::default()
    };
    let found = separate::decide(&examples, &task.classes, &wanted, observer)?;
    let (Verdict::Complete, Some(theta)) = (found.verdict, found.weights) else {
        return Err(Error::NoMargin { verdict: found.verdict });
    };
    // What the weights prove after they have been rounded to floats.
    let upper = found.margin.upper;
    let lower = lower_bound(task.data, &task.signs, &theta).unwrap_or(0.0);
    let gap = (upper - lower) / upper;
    let support = found.support as u64;
    Ok(Fit {
        learned: Learned::Linear(theta),
        status: if gap <= options.gap || found.stopped.is_none() {
            Status::Converged
        } else {
            Status::TimeLimit
        },
        epochs: found.passes,
        updates: support,
        candidates: Vec::new(),
        margin_upper: Some(upper),
        space: None,
        detail: Some(Detail::MaxMargin { gap, support }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;
    use crate::train::{Learner, train};

    fn settings() -> Settings {
        Settings { learner: Learner::MaxMargin(MaxMarginOptions::default()), ..Settings::default() }
    }

    #[test]
    fn the_widest_street_between_two_points() {
        // Without a bias the best margin of z = (1, 0) and (0, 1) is the distance 1/√2 of their segment.
        let data = Dataset::dense(2, &[1.0, 0.0, 0.0, -1.0], &["1", "0"]).unwrap();
        let outcome = train(&data, &Settings { bias: Bias::None, ..settings() }, &mut ()).unwrap();
        let margin = outcome.evidence.margin;
        let (lower, upper) = (margin.lower.unwrap(), margin.upper);
        assert!(lower <= 0.5f64.sqrt() && 0.5f64.sqrt() <= upper && upper - lower < 1e-12, "{margin:?}");
        assert_eq!(outcome.status, Status::Converged);
    }

    #[test]
    fn no_margin_is_no_model() {
        let data = Dataset::dense(1, &[1.0, 1.0], &["1", "0"]).unwrap();
        let refused = train(&data, &settings(), &mut ()).unwrap_err();
        assert!(matches!(refused, Error::NoMargin { verdict: Verdict::Overlap }), "{refused}");
    }
}

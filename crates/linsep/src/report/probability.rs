//! The report of probabilities and thresholds.

use super::Block;
use crate::classes::printable;
use crate::model::{Calibration, Counts, Model, Reliability, Threshold, ThresholdRule};
use crate::numbers::{counted, grouped, percent};

/// How the scores of a model become probabilities; `None` if they do not.
pub fn describe_calibration(model: &Model) -> Option<String> {
    Some(match model.calibrated()? {
        Calibration::Natural if model.classes.pair().is_some() => {
            "are logarithms of odds, so the probability is 1/(1 + e^−score)".to_string()
        }
        Calibration::Natural => {
            "are logarithms of odds, so the probability of a class is e^score over the sum of all".to_string()
        }
        Calibration::Sigmoid { slope, intercept } => {
            let sign = if *intercept < 0.0 { "−" } else { "+" };
            format!(
                "become probabilities by 1/(1 + e^−t) with t = {}·score {sign} {}, fitted to out-of-fold scores (sigmoid)",
                short(*slope),
                short(intercept.abs())
            )
        }
        Calibration::Isotonic { scores, .. } => format!(
            "become probabilities by a rising curve of {}, fitted to out-of-fold scores (isotonic)",
            counted(scores.len() as u64, "point", "points")
        ),
        Calibration::Temperature { inverse } => format!(
            "become probabilities by the softmax of {}·score, fitted to out-of-fold scores (temperature)",
            short(*inverse)
        ),
    })
}

/// The threshold of a model: how it was chosen, and what it does to rows that were held out.
pub fn describe_threshold(threshold: &Threshold, positive: &str) -> String {
    let mut text = format!("{positive} where its probability is at least {}", short(threshold.probability));
    match threshold.chosen {
        ThresholdRule::Probability(_) => text.push_str(", as given"),
        ThresholdRule::Cost { false_positive, false_negative } => {
            let ideal = short(false_positive / (false_positive + false_negative));
            text.push_str(&format!(
                ": the least cost out of fold at {false_positive} for a false positive and {false_negative} for a false \
                 negative (with exact probabilities it would be {ideal})"
            ));
        }
        ThresholdRule::Recall(least) => {
            text.push_str(&format!(": the largest that finds {} out of fold", percent(least)));
        }
        ThresholdRule::Precision(least) => {
            text.push_str(&format!(": it finds the most out of fold with a precision of {}", percent(least)));
        }
    }
    if let Some(counts) = &threshold.out_of_fold {
        text.push_str(&format!("; out of fold {}", describe_counts(counts, &threshold.chosen)));
    }
    text
}

fn describe_counts(counts: &Counts, rule: &ThresholdRule) -> String {
    let share = |share: Option<f64>| share.map_or("none".to_string(), percent);
    let mut text = format!(
        "{} and {}, recall {}, precision {}",
        counted(counts.false_positives, "false positive", "false positives"),
        counted(counts.false_negatives, "false negative", "false negatives"),
        share(counts.recall()),
        share(counts.precision())
    );
    if let ThresholdRule::Cost { false_positive, false_negative } = *rule {
        text.push_str(&format!(", cost {}", short(counts.cost(false_positive, false_negative))));
    }
    text
}

/// The measures of probabilities, as facts.
pub(super) fn measures(found: &Reliability) -> Vec<(&'static str, String)> {
    vec![
        ("Log loss", format!("{:.4}", found.log_loss)),
        ("Brier", format!("{:.4}", found.brier)),
        (
            "ECE",
            format!(
                "{:.4}, the expected calibration error: the mean distance between probability and share in ten bins",
                found.expected_calibration_error
            ),
        ),
    ]
}

/// The same in one line.
pub(super) fn measures_in_line(found: &Reliability) -> String {
    format!(
        "log loss {:.4}, Brier score {:.4}, expected calibration error {:.4}",
        found.log_loss, found.brier, found.expected_calibration_error
    )
}

/// The reliability table; `of` says what the probability is of, `rows` which rows are meant.
pub(super) fn table(found: &Reliability, of: &str, rows: &str) -> Block {
    let of = printable(of);
    let mut text = format!(
        "\nReliability on {rows}, by the probability of {of}:\n  {:<11}  {:>10}  {:>10}  {:>10}  95 % interval\n",
        "probability", "rows", "mean", "observed"
    );
    for bin in &found.bins {
        let interval = bin.observed_interval;
        text.push_str(&format!(
            "  {:<11}  {:>10}  {:>10}  {:>10}  {} to {}\n",
            format!("{:.1} to {:.1}", bin.from, bin.to),
            grouped(bin.rows),
            percent(bin.mean_probability),
            percent(bin.observed),
            percent(interval.lower),
            percent(interval.upper)
        ));
    }
    Block::Text(text)
}

/// A number in few digits.
fn short(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_string(),
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        _ => format!("{x:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [(0.0, "0"), (0.5, "0.5"), (20.0, "20"), (1.23456, "1.2346"), (1e-5, "1.000e-5")] {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn a_threshold_says_what_it_costs() {
        let rule = ThresholdRule::Cost { false_positive: 1.0, false_negative: 20.0 };
        let chosen = Threshold::choose(rule, &[0.1, 0.3, 0.6, 0.9], &[-1, 1, -1, 1]).unwrap();
        assert_eq!(
            describe_threshold(&chosen, "spam"),
            "spam where its probability is at least 0.2: the least cost out of fold at 1 for a false positive and 20 for a \
             false negative (with exact probabilities it would be 0.0476); out of fold 1 false positive and 0 false \
             negatives, recall 100.00 %, precision 66.67 %, cost 1"
        );
    }
}

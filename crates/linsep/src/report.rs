//! What is said about a run: as one JSON record, and as plain sentences.

use crate::classes::ClassPair;
use crate::theory::margin::{MarginInterval, MarginKind};
use crate::theory::novikoff::MistakeBound;
use crate::train::{Bias, Evidence, Init, Learner, Order, Outcome, Settings, Status};
use serde::Serialize;

/// The machine-readable result of training; `docs/json.md` describes every field.
#[derive(Clone, Debug, Serialize)]
pub struct TrainReport {
    /// Which learner.
    pub learner: Learner,
    /// Rows learned from.
    pub examples: u64,
    /// Features of each row.
    pub features: u64,
    /// Values that are not zero.
    pub nonzeros: u64,
    /// Passes begun.
    pub epochs: u64,
    /// Updates made.
    pub updates: u64,
    /// Whether a whole pass was made without a mistake.
    pub converged: bool,
    /// How the run ended.
    pub status: Status,
    /// Share of the rows learned from that are predicted wrong; null for a stream.
    pub training_error: Option<f64>,
    /// Share of the rows of a stream that were mistakes when they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progressive_error: Option<f64>,
    /// R, rounded up.
    pub radius: f64,
    /// What is proved about the best margin.
    pub margin: MarginInterval,
    /// What is proved about (R/γ*)².
    pub mistake_bound: MistakeBound,
    /// The smallest distance from a row to the boundary, where the result separates all rows.
    pub distance: Option<f64>,
    /// Share of the held-out rows that are predicted wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_error: Option<f64>,
    /// How many rows were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_rows: Option<u64>,
    /// Which class is on which side.
    pub classes: ClassPair,
    /// The settings.
    pub settings: Settings,
    /// The fingerprint of the data as read; null for a stream.
    pub fingerprint: Option<String>,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Malformed rows that were skipped.
    pub skipped_rows: u64,
    /// Rows dropped for a missing cell.
    pub dropped_rows: u64,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Threads that parallel parts may use.
    pub threads: usize,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading, or reading and learning for a stream.
    pub read: f64,
    /// Learning and judging.
    pub train: f64,
}

impl TrainReport {
    /// The report of an outcome; what the outcome does not know is left empty.
    pub fn new(outcome: &Outcome, seconds: Seconds, threads: usize) -> Self {
        let evidence = &outcome.evidence;
        Self {
            learner: outcome.settings.learner,
            examples: evidence.examples,
            features: evidence.features,
            nonzeros: evidence.nonzeros,
            epochs: evidence.epochs,
            updates: evidence.updates,
            converged: outcome.status == Status::Converged,
            status: outcome.status,
            training_error: evidence.training_error,
            progressive_error: evidence.progressive_error,
            radius: evidence.extent.radius_upper,
            margin: evidence.margin,
            mistake_bound: evidence.mistake_bound,
            distance: evidence.distance,
            holdout_error: None,
            holdout_rows: None,
            classes: outcome.classes.clone(),
            settings: outcome.settings.clone(),
            fingerprint: None,
            model: None,
            skipped_rows: 0,
            dropped_rows: 0,
            seconds,
            threads,
        }
    }
}

/// The settings in a few words.
pub fn describe_settings(settings: &Settings) -> String {
    let learner = match settings.learner {
        Learner::Perceptron => "perceptron",
        Learner::Averaged => "averaged perceptron",
        Learner::Voted => "voted perceptron",
    };
    let order = match settings.order {
        Order::Given => "rows in the given order".to_string(),
        Order::ShuffleOnce => format!("rows shuffled once, seed {}", settings.seed),
        Order::Shuffle => format!("rows shuffled for every pass, seed {}", settings.seed),
    };
    let bias = match settings.bias {
        Bias::None => "no bias".to_string(),
        Bias::Append(scale) => format!("appended bias of scale {scale}"),
    };
    let start = match settings.init {
        Init::Zero => "",
        Init::First => ", started at the first row",
        Init::Warm(_) => ", started from a model",
    };
    format!("{learner}, {bias}, {order}{start}")
}

/// How the run ended, in a few words.
pub fn describe_end(evidence: &Evidence) -> String {
    let passes = counted(evidence.epochs, "pass", "passes");
    let updates = counted(evidence.updates, "update", "updates");
    match evidence.status {
        Status::Converged => format!("converged after {passes} and {updates}"),
        Status::EpochLimit => format!("not converged within {passes}; {updates}"),
        Status::UpdateLimit => format!("stopped at the limit of {updates}, in pass {}", evidence.epochs),
        Status::TimeLimit => {
            format!("stopped at the time limit, in pass {}, after {updates}", evidence.epochs)
        }
        Status::Interrupted => format!("interrupted in pass {}, after {updates}", evidence.epochs),
    }
}

/// The margin interval in a few words.
pub fn describe_margin(evidence: &Evidence) -> String {
    let MarginInterval { lower, upper, kind } = evidence.margin;
    let kind = match kind {
        MarginKind::ThroughOrigin => "boundary through the origin",
        MarginKind::AppendedBias => "appended bias",
    };
    let radius = rounded(evidence.extent.radius_upper, Rounding::Up);
    let upper = rounded(upper, Rounding::Up);
    match lower {
        Some(lower) => format!("{} ≤ γ* ≤ {upper} ({kind}); R ≤ {radius}", rounded(lower, Rounding::Down)),
        None => format!("γ* ≤ {upper} ({kind}); R ≤ {radius}"),
    }
}

/// Novikoff's bound in a few words, with the number of mistakes made beside it.
pub fn describe_bound(evidence: &Evidence, settings: &Settings) -> String {
    let made = format!("this run made {}", grouped(evidence.updates));
    let MistakeBound { lower, upper } = evidence.mistake_bound;
    let lower = lower.map(|lower| rounded(lower, Rounding::Down));
    match (lower, upper.map(|upper| rounded(upper, Rounding::Up))) {
        (Some(lower), Some(most)) => {
            // The theorem speaks of a start at zero only.
            let counts = !matches!(settings.init, Init::Warm(_));
            let share = upper.filter(|_| counts).map_or(String::new(), |upper| {
                format!(
                    ", {} % of the upper end",
                    rounded(100.0 * evidence.updates as f64 / upper, Rounding::Up)
                )
            });
            format!("{lower} ≤ (R/γ*)² ≤ {most} mistakes; {made}{share}")
        }
        (Some(lower), None) => format!("(R/γ*)² ≥ {lower} mistakes, no upper end known; {made}"),
        (None, _) => format!("none: the margin is proved to be zero or less; {made}"),
    }
}

/// What the evidence means, in plain sentences.
pub fn explain(evidence: &Evidence, settings: &Settings) -> String {
    let upper = rounded(evidence.margin.upper, Rounding::Up);
    if let Some(bound) = evidence.mistake_bound.upper {
        let mut text = format!(
            "The rows are linearly separable: the run found weights that prove it. A perceptron that starts at zero \
             makes at most {} mistakes on them, in any order and however often it sees them",
            rounded(bound, Rounding::Up)
        );
        if matches!(settings.init, Init::Warm(_)) {
            let updates = counted(evidence.updates, "update does", "updates do");
            text += &format!("; this run started elsewhere, so its {updates} not count against that.");
        } else {
            text += &format!("; this run made {}.", grouped(evidence.updates));
        }
        if evidence.training_error.is_some_and(|error| error > 0.0) {
            text += " The weights that prove it are the last ones; what is saved is made of all weights of the run, and \
                     still errs on some rows. To save the last ones, choose --learner perceptron.";
        }
        return text;
    }
    if evidence.margin.upper == 0.0 {
        return "No weights agree with every row: some row is zero, and nothing can be on the right side of it.".into();
    }
    let judged = if evidence.progressive_error.is_some() {
        "The rows were seen once and not kept, so it is not known whether they are separable."
    } else if evidence.status == Status::Converged {
        "No row was a mistake in the last pass, but some row lies on the boundary, so nothing is proved by it."
    } else {
        "The rows were not separated."
    };
    let margin = match evidence.margin.kind {
        MarginKind::ThroughOrigin => "no boundary through the origin has a margin",
        MarginKind::AppendedBias => {
            "no boundary has a margin, measured with the bias as one more coordinate,"
        }
    };
    let mut text = format!("{judged} The updates prove that {margin} above {upper} on them");
    match evidence.mistake_bound.lower {
        Some(least) if least >= 1.0 => {
            text += &format!(
                ": either they overlap, or their margin is so small that Novikoff's theorem cannot promise convergence \
                 within fewer than {} mistakes.",
                rounded(least, Rounding::Down)
            );
        }
        _ => text.push('.'),
    }
    text
}

/// In which direction a printed bound may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The printed number is at most the true one.
    Down,
    /// The printed number is at least the true one.
    Up,
}

/// A number with four significant digits, rounded in the safe direction: a bound stays a bound in print.
pub fn rounded(x: f64, direction: Rounding) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if x.fract() == 0.0 && x.abs() < 1e6 {
        return grouped_number(x);
    }
    // Scientific notation gives four digits rounded to nearest; a step is made where that went the wrong way.
    let text = format!("{x:.3e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (mut digits, mut exponent): (i64, i32) =
        ((mantissa.parse::<f64>().unwrap_or(0.0) * 1000.0).round() as i64, exponent.parse().unwrap_or(0));
    let shown =
        |digits: i64, exponent: i32| format!("{}e{}", digits, exponent - 3).parse::<f64>().unwrap_or(x);
    match direction {
        Rounding::Up if shown(digits, exponent) < x => digits += 1,
        Rounding::Down if shown(digits, exponent) > x => digits -= 1,
        _ => {}
    }
    if digits.abs() >= 10_000 {
        digits /= 10;
        exponent += 1;
    } else if digits == 999 {
        // One step below a power of ten: the next four digits are nines, still not above x.
        digits = 9999;
        exponent -= 1;
    }
    if (-4..4).contains(&exponent) {
        let decimals = (3 - exponent) as usize;
        let number = shown(digits, exponent);
        if number.fract() == 0.0 {
            return grouped_number(number);
        }
        return format!("{number:.decimals$}").trim_end_matches('0').to_string();
    }
    if (4..15).contains(&exponent) {
        return grouped_number(shown(digits, exponent));
    }
    format!(
        "{}e{exponent}",
        format!("{:.3}", digits as f64 / 1000.0).trim_end_matches('0').trim_end_matches('.')
    )
}

fn grouped_number(x: f64) -> String {
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(x.abs() as u64))
}

/// A whole number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

/// `1 pass`, `2 passes`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_well() {
        for (x, down, up) in [
            (0.0, "0", "0"),
            (7.0, "7", "7"),
            (0.123456, "0.1234", "0.1235"),
            (1.5, "1.5", "1.5"),
            (999.99, "999.9", "1,000"),
            (4436.5, "4,436", "4,437"),
            (123456.0, "123,456", "123,456"),
            (12345678.9, "12,340,000", "12,350,000"),
            (1.23456e-7, "1.234e-7", "1.235e-7"),
            (9.9999e20, "9.999e20", "1e21"),
        ] {
            assert_eq!(
                (rounded(x, Rounding::Down).as_str(), rounded(x, Rounding::Up).as_str()),
                (down, up),
                "{x}"
            );
        }
        assert_eq!(counted(1, "pass", "passes"), "1 pass");
        assert_eq!(counted(12345, "pass", "passes"), "12,345 passes");
    }

    proptest! {
        #[test]
        fn a_printed_bound_is_a_bound(mantissa in 1.0f64..10.0, exponent in -200i32..200) {
            let x = mantissa * 10f64.powi(exponent);
            let number = |text: String| text.replace(',', "").parse::<f64>().unwrap();
            let (low, high) = (number(rounded(x, Rounding::Down)), number(rounded(x, Rounding::Up)));
            prop_assert!(low <= x && x <= high, "{low} {x} {high}");
            prop_assert!(high - low <= 2e-3 * x);
        }
    }
}

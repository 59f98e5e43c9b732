//! The report of `train` for people.

use super::Trained;
use crate::args::TrainArgs;
use crate::commands::again::Words;
use crate::commands::{boundary_table, report_lines};
use linsep::classes::Classes;
use linsep::numbers;
use linsep::scale::Scaling;
use linsep::theory::margin::MarginKind;
use linsep::train::{Bias, Evidence, Learner};
use linsep::{Status, report};

impl Trained {
    /// The report for people.
    pub(super) fn to_text(&self, args: &TrainArgs) -> String {
        let (evidence, report) = (&self.model.evidence, &self.report);
        let shape = format!(
            "{}: {}, {}, {} not zero ({})",
            self.source,
            numbers::counted(evidence.examples, "row", "rows"),
            numbers::counted(evidence.features, "feature", "features"),
            numbers::counted(evidence.nonzeros, "value", "values"),
            self.notes.format,
        );
        let rows = |outcome: usize| {
            self.counts
                .get(outcome)
                .map_or(String::new(), |&count| format!(" ({})", numbers::counted(count, "row", "rows")))
        };
        let classes = match &self.model.classes {
            Classes::Pair(pair) => {
                let negative = pair.negative.join(" or ");
                format!("−1 = {negative}{}, +1 = {}{}", rows(0), pair.positive, rows(1))
            }
            Classes::Each { names } => {
                let listed: Vec<String> =
                    names.iter().enumerate().map(|(i, name)| format!("{name}{}", rows(i))).collect();
                listed.join(", ")
            }
        };
        let mut error = match (evidence.training_error, evidence.progressive_error) {
            (Some(error), _) => format!(
                "training {} ({} of {})",
                numbers::percent(error),
                numbers::grouped((error * evidence.examples as f64).round() as u64),
                numbers::grouped(evidence.examples)
            ),
            (None, Some(error)) => format!("mistakes when the rows came: {}", numbers::percent(error)),
            (None, None) => "unknown".to_string(),
        };
        if let (Some(share), Some(rows)) = (report.holdout_error, report.holdout_rows) {
            error.push_str(&format!(
                ", held out {} ({} of {})",
                numbers::percent(share),
                numbers::grouped((share * rows as f64).round() as u64),
                numbers::grouped(rows)
            ));
        }
        let scaling = match self.model.scaler.scaling() {
            Scaling::None => "",
            Scaling::MaxAbs => "; features scaled by their largest magnitude",
            Scaling::Standard => "; features scaled to unit variance",
            Scaling::UnitRows => "; rows scaled to length 1",
        };
        let mut lines = vec![
            ("Data", shape),
            ("Classes", classes),
            ("Learner", report::describe_settings(&self.model.settings) + scaling),
            ("Result", report::describe_end(evidence)),
            ("Error", error),
            ("Margin", report::describe_margin(evidence)),
            ("Bound", report::describe_bound(evidence, &self.model.settings)),
            ("Meaning", report::explain(evidence, &self.model.settings)),
        ];
        if let Some(detail) = report::describe_detail(evidence) {
            lines.insert(5, ("Detail", detail));
        }
        if let Some(distance) = evidence.distance {
            // After the margin, which it is easily mistaken for: this is the distance that these weights keep.
            let distance = numbers::rounded(distance, numbers::Rounding::Down);
            let place = lines.iter().position(|(name, _)| *name == "Bound").unwrap_or(lines.len());
            lines.insert(place, ("Nearest", format!("no row is nearer than {distance} to this boundary")));
        }
        lines.push((
            "Time",
            format!(
                "read {:.3} s, train {:.3} s, {}",
                report.seconds.read,
                report.seconds.train,
                numbers::counted(report.threads as u64, "thread", "threads")
            ),
        ));
        lines.push(match &report.model {
            Some(path) => ("Saved", path.clone()),
            None => ("Saved", "nowhere: name a file with -o MODEL".to_string()),
        });
        let mut text = report_lines(&lines);
        if !self.model.boundaries.is_empty() {
            text.push_str("\nEach class against the rest:\n");
            text.push_str(&boundary_table(&self.model.boundaries));
        }
        if let Some(command) = self.question(args) {
            text.push_str(
                "\nTo know whether any boundary can separate these rows, and which rows stand in the way:\n",
            );
            // Commands stand alone and whole, to be copied.
            text.push_str(&format!("    {command}\n"));
        }
        text
    }

    /// The command that decides what this run could not: whether the rows are separable. There is none for runs that
    /// separated them, that were stopped, or that look for no linear boundary, nor for rows that are gone.
    fn question(&self, args: &TrainArgs) -> Option<String> {
        let Evidence { margin, status, .. } = &self.model.evidence;
        let linear = !matches!(self.model.settings.learner, Learner::Kernel(_) | Learner::Memoriser)
            && matches!(
                margin.kind,
                MarginKind::ThroughOrigin | MarginKind::AppendedBias | MarginKind::OneAgainstRest
            );
        let open = margin.lower.is_none() && margin.upper > 0.0 && *status != Status::Interrupted;
        if !linear || !open || args.data.as_os_str() == "-" {
            return None;
        }
        let (without, scale) = match self.model.settings.bias {
            Bias::None => (Some("none".to_string()), None),
            Bias::Append(scale) => (None, (scale != 1.0).then(|| scale.to_string())),
        };
        let words = Words::of(&args.data)
            .option("--positive", args.classes.positive.clone())
            .option("--classes", (!args.classes.keep.is_empty()).then(|| args.classes.keep.join(",")))
            .option("--bias", without)
            .option("--bias-scale", scale)
            .reading(&args.read);
        Some(format!("linsep separate {}", words.text()))
    }
}

//! The report of `train` for people.

use super::Trained;
use crate::commands::report_lines;
use linsep::report;
use linsep::scale::Scaling;

impl Trained {
    /// The report for people.
    pub(super) fn to_text(&self) -> String {
        let (evidence, report) = (&self.model.evidence, &self.report);
        let shape = format!(
            "{}: {}, {}, {} not zero ({})",
            self.source,
            report::counted(evidence.examples, "row", "rows"),
            report::counted(evidence.features, "feature", "features"),
            report::counted(evidence.nonzeros, "value", "values"),
            self.notes.format,
        );
        let with_count = |name: String, count: Option<u64>| match count {
            Some(count) => format!("{name} ({})", report::counted(count, "row", "rows")),
            None => name,
        };
        let classes = format!(
            "−1 = {}, +1 = {}",
            with_count(self.model.classes.negative.join(" or "), self.counts.map(|(negative, _)| negative)),
            with_count(self.model.classes.positive.clone(), self.counts.map(|(_, positive)| positive)),
        );
        let mut error = match (evidence.training_error, evidence.progressive_error) {
            (Some(error), _) => format!(
                "training {} ({} of {})",
                report::percent(error),
                report::grouped((error * evidence.examples as f64).round() as u64),
                report::grouped(evidence.examples)
            ),
            (None, Some(error)) => format!("mistakes when the rows came: {}", report::percent(error)),
            (None, None) => "unknown".to_string(),
        };
        if let (Some(share), Some(rows)) = (report.holdout_error, report.holdout_rows) {
            error.push_str(&format!(
                ", held out {} ({} of {})",
                report::percent(share),
                report::grouped((share * rows as f64).round() as u64),
                report::grouped(rows)
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
        if let Some(distance) = evidence.distance {
            // After the margin, which it is easily mistaken for: this is the distance that these weights keep.
            let distance = report::rounded(distance, report::Rounding::Down);
            lines.insert(6, ("Nearest", format!("no row is nearer than {distance} to this boundary")));
        }
        lines.push((
            "Time",
            format!(
                "read {:.3} s, train {:.3} s, {}",
                report.seconds.read,
                report.seconds.train,
                report::counted(report.threads as u64, "thread", "threads")
            ),
        ));
        lines.push(match &report.model {
            Some(path) => ("Saved", path.clone()),
            None => ("Saved", "nowhere: name a file with -o MODEL".to_string()),
        });
        report_lines(&lines)
    }
}

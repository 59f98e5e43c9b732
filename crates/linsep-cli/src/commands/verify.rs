//! `linsep verify`

use super::separate::{bias_record, ends, kind_of_margin, place};
use super::{data_source, print_json, print_result, report_lines, source_and_options, tell_notes};
use crate::args::VerifyArgs;
use crate::console::{Console, Watch};
use crate::exit::{BadFile, Exit};
use anyhow::Context;
use linsep::Dataset;
use linsep::numbers::{counted, grouped};
use linsep::read::{Schema, read};
use linsep::separate::{Certificate, Examples};
use linsep_check::{Accepted, Claim, Rejected, Subject};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

const HELP: &str = "the certificate comes first, then the data; if it was changed or cut, make it again with \
                    linsep separate DATA -o CERTIFICATE";

pub(crate) fn run(args: &VerifyArgs, console: Console) -> anyhow::Result<Exit> {
    let certificate = read_certificate(&args.certificate)?;
    let (source, options) = source_and_options(&args.data, &args.read, args.cache, console)?;
    let mut watch = Watch::new(console);
    let loaded = read(&source, &options, &mut watch)?;
    watch.end()?;
    tell_notes(console, &loaded.notes);
    let data = loaded.dataset;
    let same_data = data.fingerprint() == certificate.subject.fingerprint;
    if !same_data {
        // The checker decides all the same: nothing rests on the fingerprint.
        console
            .note("note: This certificate speaks of other data: its fingerprint is not that of these rows.");
    }
    let clock = Instant::now();
    let outcome = check(&certificate, &data);
    let seconds = clock.elapsed().as_secs_f64();
    let name = data_source(&args.data).name();
    let numbered = matches!(loaded.schema, Schema::Array { .. });
    let told = Told { certificate: &certificate, data: &data, outcome: &outcome, same_data, seconds };
    if args.json {
        print_json(&told.record())?;
    } else {
        print_result(|out| out.write_all(told.text(&name, numbered).as_bytes()))?;
    }
    Ok(if outcome.is_ok() { Exit::Fine } else { Exit::No })
}

/// Reads a certificate; what is wrong with one has a line and a column.
fn read_certificate(path: &Path) -> anyhow::Result<Certificate> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("{name}: cannot read"))?;
    let bad = |at: usize, reason: &str| {
        let before = &bytes[..at.min(bytes.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column =
            at.min(bytes.len()) - before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1) + 1;
        let reason = format!("{name}:{line}:{column}: this is no certificate: {reason} (byte {at})");
        BadFile { reason, help: HELP }
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| bad(error.valid_up_to(), "it is not text"))?;
    Ok(Certificate::parse(text).map_err(|error| bad(error.at, &error.reason))?)
}

/// Gives the rows the sides that the certificate speaks of, and asks the checker.
fn check(certificate: &Certificate, data: &Dataset) -> Result<Accepted, Rejected> {
    let Subject { positive, negative, .. } = &certificate.subject;
    if let Some(class) = positive.iter().find(|class| negative.contains(class)) {
        return Err(Rejected { row: None, reason: format!("the class \"{class}\" is on both sides") });
    }
    let sign = |class: &String| i8::from(positive.contains(class)) - i8::from(negative.contains(class));
    let signs: Vec<i8> = data.classes().iter().map(sign).collect();
    let signs = data.labels().iter().map(|&label| signs[label as usize]).collect();
    linsep_check::verify(certificate, &Examples::with_signs(data, signs, certificate.bias))
}

/// What is to be told.
struct Told<'a> {
    certificate: &'a Certificate,
    data: &'a Dataset,
    outcome: &'a Result<Accepted, Rejected>,
    same_data: bool,
    seconds: f64,
}

impl Told<'_> {
    fn verdict(&self) -> &'static str {
        match self.certificate.claim {
            Claim::Complete { .. } => "complete",
            Claim::QuasiComplete { .. } => "quasi-complete",
            Claim::Overlap { .. } => "overlap",
        }
    }

    fn record(&self) -> serde_json::Value {
        let Subject { positive, negative, .. } = &self.certificate.subject;
        let mut record = json!({
            "accepted": self.outcome.is_ok(),
            "claim": self.verdict(),
            "classes": { "positive": positive, "negative": negative },
            "bias": bias_record(self.certificate.bias),
            "same_data": self.same_data,
            "seconds": self.seconds,
        });
        match self.outcome {
            Ok(accepted) => {
                record["rows"] = json!(accepted.rows);
                record["boundary_rows"] = json!(accepted.boundary_rows);
                record["boundary_is_exact"] = json!(accepted.boundary_is_exact);
                if let Claim::Complete { margin, .. } = &self.certificate.claim {
                    record["margin"] = json!({ "lower": margin.lower, "upper": Some(margin.upper).filter(|&upper| upper < f64::MAX) });
                }
            }
            Err(rejected) => {
                record["reason"] = json!(rejected.reason);
                record["row"] = json!(rejected.row);
                record["line"] = json!(self.row(rejected).map(|i| self.data.line(i)));
            }
        }
        record
    }

    /// The row at fault, if the data has it.
    fn row(&self, rejected: &Rejected) -> Option<usize> {
        rejected.row.filter(|&i| i < self.data.len())
    }

    fn text(&self, name: &str, numbered: bool) -> String {
        let Subject { positive, negative, .. } = &self.certificate.subject;
        let mut lines = Vec::new();
        match self.outcome {
            Ok(accepted) => {
                lines.push(("Accepted", self.proved(accepted)));
                if let Claim::Complete { margin, .. } = &self.certificate.claim {
                    let ends = ends(Some(margin.lower), margin.upper);
                    lines.push(("Margin", format!("{ends} ({})", kind_of_margin(self.certificate.bias))));
                }
            }
            Err(rejected) => {
                let place = self.row(rejected).map_or(String::new(), |i| {
                    let label = &self.data.classes()[self.data.labels()[i] as usize];
                    format!("{} ({label}): ", place(name, numbered, self.data, i))
                });
                lines.push(("Rejected", format!("{place}{}", rejected.reason)));
                lines.push(("Claim", format!("{}, which is not proved by this", self.verdict())));
            }
        }
        let rows = |classes: &[String]| {
            let counts = self.data.classes().iter().zip(self.data.class_counts());
            let count: usize =
                counts.filter(|(class, _)| classes.contains(class)).map(|(_, count)| count).sum();
            format!("{} ({})", classes.join(" or "), counted(count as u64, "row", "rows"))
        };
        let others: Vec<&str> = self
            .data
            .classes()
            .iter()
            .filter(|class| !positive.contains(class) && !negative.contains(class))
            .map(String::as_str)
            .collect();
        let mut classes = format!("−1 = {}, +1 = {}", rows(negative), rows(positive));
        if !others.is_empty() {
            classes += &format!("; rows of {} are not spoken of", others.join(", "));
        }
        lines.push(("Classes", classes));
        let same =
            if self.same_data { "the rows that it was made of" } else { "not the rows that it was made of" };
        lines.push(("Data", format!("{name}: {same}")));
        lines.push(("Time", format!("checked in {:.3} s", self.seconds)));
        report_lines(&lines)
    }

    /// What an accepted certificate proves.
    fn proved(&self, accepted: &Accepted) -> String {
        let rows = counted(accepted.rows as u64, "row", "rows");
        let boundary = match self.certificate.bias {
            linsep_check::Bias::None => "boundary through the origin",
            _ => "boundary",
        };
        match self.certificate.claim {
            Claim::Complete { .. } => {
                format!("it is proved that some {boundary} has all {rows} strictly on their right sides")
            }
            Claim::QuasiComplete { .. } => format!(
                "it is proved that some {boundary} has none of the {rows} on its wrong side, and that none has all of them \
                 strictly on their right sides. Its {boundary} goes through {}{}",
                counted(accepted.boundary_rows as u64, "row", "rows"),
                if accepted.boundary_is_exact {
                    ", and so does every other"
                } else {
                    ", of which another may go through fewer"
                }
            ),
            Claim::Overlap { .. } => format!(
                "it is proved that every {boundary} has some of the {} rows on its wrong side, unless it goes through all of \
                 them",
                grouped(accepted.rows as u64)
            ),
        }
    }
}

//! The report of a certificate that was checked.

use super::facts::ends;
use super::{boundary_name, kind_of_margin};
use crate::classes::shortened;
use crate::job::{Verified, in_file_order, place_of};
use crate::numbers::{counted, grouped};
use crate::report::Block;
use crate::separate::{Accepted, Bias, Claim, Columns, Rejected, Status, settings};
use serde::Serialize;
use std::collections::HashSet;

/// The record of a certificate that was checked, to be serialised; `docs/json.md` describes every field.
#[derive(Debug, Serialize)]
pub struct VerifyRecord {
    accepted: bool,
    claim: &'static str,
    classes: SidesRecord,
    #[serde(with = "settings::bias")]
    bias: Bias,
    same_data: bool,
    one_sided: bool,
    seconds: f64,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
struct SidesRecord {
    positive: Vec<String>,
    negative: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Outcome {
    Accepted {
        rows: usize,
        boundary_rows: usize,
        boundary_is_exact: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        margin: Option<Ends>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        coefficients: Vec<CoefficientRecord>,
        #[serde(skip_serializing_if = "Option::is_none")]
        column_sets: Option<SetsRecord>,
    },
    Rejected {
        reason: String,
        row: Option<usize>,
        line: Option<u64>,
    },
}

#[derive(Debug, Serialize)]
struct Ends {
    lower: f64,
    upper: Option<f64>,
}

/// The proved status of one coefficient; the bias has no name.
#[derive(Debug, Serialize)]
struct CoefficientRecord {
    feature: Option<String>,
    status: &'static str,
}

/// Proved statements about sets of columns.
#[derive(Debug, Serialize)]
struct SetsRecord {
    alone: Vec<Vec<String>>,
    at_least: usize,
}

/// The coefficients of which something is claimed, in the order in which `separate` tells them: the bias first.
fn coefficients(verified: &Verified) -> Vec<CoefficientRecord> {
    let claimed = &verified.certificate.columns.coefficients;
    let features = verified.data.columns();
    let (mut of_features, of_bias): (Vec<_>, Vec<_>) =
        claimed.iter().partition(|(place, _)| *place < features);
    let mut position = vec![usize::MAX; features];
    for (k, place) in in_file_order(&verified.schema).into_iter().enumerate().filter(|&(_, j)| j < features) {
        position[place] = k;
    }
    of_features.sort_by_key(|(place, _)| position[*place]);
    let record = |(place, status): &(usize, Status)| CoefficientRecord {
        feature: (*place < features).then(|| verified.schema.feature_name(*place)),
        status: match status {
            Status::Finite => "finite",
            Status::Infinite { positive: true, .. } => "+inf",
            Status::Infinite { positive: false, .. } => "-inf",
            Status::Open { .. } => "infinite-sign-open",
            Status::Aliased { .. } => "aliased",
        },
    };
    of_bias.into_iter().chain(of_features).map(record).collect()
}

fn column_sets(verified: &Verified) -> Option<SetsRecord> {
    let columns = &verified.certificate.columns;
    let names = |set: &[usize]| set.iter().map(|&place| verified.schema.feature_name(place)).collect();
    let alone: Vec<_> = columns.alone.iter().map(|set| names(&set.columns)).collect();
    (!alone.is_empty() || columns.at_least > 0).then_some(SetsRecord { alone, at_least: columns.at_least })
}

impl From<&Verified> for VerifyRecord {
    fn from(verified: &Verified) -> Self {
        let certificate = &verified.certificate;
        let margin = match &certificate.claim {
            Claim::Complete { margin, .. } => {
                let upper = Some(margin.upper).filter(|&upper| upper < f64::MAX);
                Some(Ends { lower: margin.lower, upper })
            }
            _ => None,
        };
        Self {
            accepted: verified.outcome.is_ok(),
            claim: claim(verified),
            classes: SidesRecord {
                positive: certificate.subject.positive.clone(),
                negative: certificate.subject.negative.clone(),
            },
            bias: certificate.bias,
            same_data: verified.same_data,
            one_sided: verified.one_sided,
            seconds: verified.seconds,
            outcome: match &verified.outcome {
                Ok(accepted) => Outcome::Accepted {
                    rows: accepted.rows,
                    boundary_rows: accepted.boundary_rows,
                    boundary_is_exact: accepted.boundary_is_exact,
                    margin,
                    coefficients: coefficients(verified),
                    column_sets: column_sets(verified),
                },
                Err(rejected) => Outcome::Rejected {
                    reason: rejected.reason.clone(),
                    row: rejected.row,
                    line: row_at_fault(verified, rejected).map(|i| verified.data.line(i)),
                },
            },
        }
    }
}

/// The report of a certificate that was checked, for people.
pub fn verify_report(verified: &Verified) -> Vec<Block> {
    let (certificate, data) = (&verified.certificate, &verified.data);
    let name = verified.spec.data.source.name();
    let mut facts = Vec::new();
    match &verified.outcome {
        Ok(accepted) => {
            facts.push(("Accepted", proved(verified, accepted)));
            if accepted.one_sided {
                facts.push(("One side", format!("{}: the claim is vacuous", same_side(verified))));
            }
            if let Claim::Complete { margin, .. } = &certificate.claim {
                let ends = ends(Some(margin.lower), margin.upper);
                facts.push(("Margin", format!("{ends} ({})", kind_of_margin(certificate.bias))));
            }
            facts.extend(columns(&certificate.columns).map(|claims| ("Columns", claims)));
        }
        Err(_) if verified.one_sided => {
            let why = "the claim is vacuous; ⟦allow_one_sided⟧ accepts it anyway";
            facts.push(("Rejected", format!("{}: {why}", same_side(verified))));
            facts.push(("Claim", claim(verified).to_string()));
        }
        Err(rejected) => {
            let place = row_at_fault(verified, rejected).map_or(String::new(), |i| {
                let label = &data.classes()[data.labels()[i] as usize];
                format!("{} ({label}): ", place_of(&name, &verified.schema, data, i))
            });
            facts.push(("Rejected", format!("{place}{}", rejected.reason)));
            facts.push(("Claim", format!("{}, which this certificate does not prove", claim(verified))));
        }
    }
    facts.push(("Classes", classes(verified)));
    let same = if verified.same_data { "the rows" } else { "not the rows" };
    facts.push(("Data", format!("{name}: {same} that the certificate was made for")));
    facts.push(("Checker", CHECKER.to_string()));
    facts.push(("Time", format!("checked in {:.3} s", verified.seconds)));
    vec![Block::Facts(facts)]
}

/// The description of the checker.
const CHECKER: &str = "the linsep-check library, on the rows as linsep read them; the linsep-check program \
                       reads numeric tables and LIBSVM files itself";

/// One word for what the certificate claims.
fn claim(verified: &Verified) -> &'static str {
    match verified.certificate.claim {
        Claim::Complete { .. } => "complete",
        Claim::QuasiComplete { .. } => "quasi-complete",
        Claim::Overlap { .. } => "overlap",
    }
}

/// The numbers of proved statements about columns.
fn columns(columns: &Columns) -> Option<String> {
    let statuses = |wanted: fn(&Status) -> bool| {
        columns.coefficients.iter().filter(|(_, status)| wanted(status)).count()
    };
    let counts = [
        (statuses(|status| *status == Status::Finite), "finite"),
        (statuses(|status| matches!(status, Status::Infinite { positive: true, .. })), "+∞"),
        (statuses(|status| matches!(status, Status::Infinite { positive: false, .. })), "−∞"),
        (statuses(|status| matches!(status, Status::Open { .. })), "infinite with an open sign"),
        (statuses(|status| matches!(status, Status::Aliased { .. })), "aliased"),
    ];
    let told = |(count, what): &(usize, &str)| format!("{} {what}", grouped(*count as u64));
    let kinds: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(told).collect();
    let mut claims = Vec::new();
    if !kinds.is_empty() {
        claims.push(format!("of the coefficients, {}", kinds.join(", ")));
    }
    if !columns.alone.is_empty() {
        let sets =
            counted(columns.alone.len() as u64, "set of columns separates", "sets of columns separate");
        claims.push(format!("{sets} alone"));
    }
    if columns.at_least > 0 {
        let least = counted(columns.at_least as u64, "column is", "columns are");
        claims.push(format!("at least {least} needed to separate"));
    }
    (!claims.is_empty()).then(|| claims.join("; "))
}

/// The row at fault, if the data has it.
fn row_at_fault(verified: &Verified, rejected: &Rejected) -> Option<usize> {
    rejected.row.filter(|&i| i < verified.data.len())
}

/// The classes of either side, and those of neither.
fn classes(verified: &Verified) -> String {
    let (subject, data) = (&verified.certificate.subject, &verified.data);
    let (above, below): (HashSet<&String>, HashSet<&String>) =
        (subject.positive.iter().collect(), subject.negative.iter().collect());
    let rows = |classes: &[String], side: &HashSet<&String>| {
        let counts = data.classes().iter().zip(data.class_counts());
        let count: usize = counts.filter(|(class, _)| side.contains(class)).map(|(_, count)| count).sum();
        format!("{} ({})", shortened(classes, classes.len(), " or "), counted(count as u64, "row", "rows"))
    };
    let mut text =
        format!("−1 = {}, +1 = {}", rows(&subject.negative, &below), rows(&subject.positive, &above));
    let on_a_side = |class: &String| above.contains(class) || below.contains(class);
    let others: Vec<&str> =
        data.classes().iter().filter(|class| !on_a_side(class)).map(String::as_str).collect();
    if !others.is_empty() {
        text += &format!("; rows of {} are not covered", shortened(&others, others.len(), ", "));
    }
    let named = subject.negative.iter().chain(&subject.positive);
    let missing: Vec<&str> =
        named.filter(|class| !data.classes().contains(class)).map(String::as_str).collect();
    if !missing.is_empty() {
        text += &format!("; no row has the label {}", missing.join(" or "));
    }
    text
}

/// On which side all rows are, where they are on one.
fn same_side(verified: &Verified) -> String {
    let subject = &verified.certificate.subject;
    let has = |side: &[String]| side.iter().any(|class| verified.data.classes().contains(class));
    let (side, other) = if has(&subject.positive) { ("+1", "−1") } else { ("−1", "+1") };
    format!("all rows of the certificate's classes are on the side {side}, and none is on the side {other}")
}

/// The statements that an accepted certificate proves.
fn proved(verified: &Verified, accepted: &Accepted) -> String {
    let rows = counted(accepted.rows as u64, "row", "rows");
    let boundary = boundary_name(verified.certificate.bias);
    match verified.certificate.claim {
        Claim::Complete { .. } => {
            format!("it is proved that some {boundary} has all {rows} strictly on their right sides")
        }
        Claim::QuasiComplete { .. } => format!(
            "it is proved that some {boundary} has none of the {rows} on its wrong side, and that none has all of them \
             strictly on their right sides. The {boundary} of the certificate goes through {}{}",
            counted(accepted.boundary_rows as u64, "row", "rows"),
            if accepted.boundary_is_exact {
                ", and so does every other"
            } else {
                "; another may go through fewer"
            }
        ),
        Claim::Overlap { .. } => format!(
            "it is proved that every {boundary} has some of the {} rows on its wrong side (or every row lies on it)",
            grouped(accepted.rows as u64)
        ),
    }
}

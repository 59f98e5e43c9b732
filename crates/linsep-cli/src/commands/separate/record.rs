//! What `--json` prints; `docs/json.md` describes every field.

use super::blame::BlameRecord;
use super::{Decided, Job, bias_record};
use anyhow::Context;
use linsep::Theta;
use linsep::classes::ClassPair;
use linsep::separate::{RowShare, Verdict};
use linsep::theory::margin::MarginInterval;
use linsep::theory::novikoff::MistakeBound;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A certificate longer than this is not put into the record.
const MOST_PROOF: usize = 1_000_000;

/// One task.
#[derive(Serialize)]
pub(super) struct Record {
    verdict: Verdict,
    classes: ClassPair,
    bias: Value,
    margin: MarginInterval,
    difficulty: MistakeBound,
    radius: f64,
    rows: usize,
    features: usize,
    rank: Option<usize>,
    witness_rows: Vec<ShareRecord>,
    contradictions: Vec<[RowRecord; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boundary_rows: Option<Vec<RowRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separating_features: Option<Vec<FeatureRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separating_intercept: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest_rows: Option<Vec<DistanceRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<BlameRecord>,
    certificate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Box<RawValue>>,
    stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_rows: Option<u64>,
    passes: u64,
    seconds: f64,
}

/// A row: its number from 0 as in certificates, its line, and its label.
#[derive(Serialize)]
pub(super) struct RowRecord {
    row: usize,
    line: u64,
    label: String,
}

/// A row of a witness.
#[derive(Serialize)]
struct ShareRecord {
    #[serde(flatten)]
    row: RowRecord,
    share: f64,
}

/// A row near the boundary.
#[derive(Serialize)]
struct DistanceRecord {
    #[serde(flatten)]
    row: RowRecord,
    distance: f64,
}

#[derive(Serialize)]
struct FeatureRecord {
    feature: String,
    weight: f64,
}

/// Several tasks.
#[derive(Serialize)]
pub(super) struct TableRecord {
    pub(super) tasks: &'static str,
    pub(super) rows: usize,
    pub(super) features: usize,
    pub(super) interrupted: bool,
    pub(super) table: Vec<Record>,
    pub(super) skipped_rows: u64,
    pub(super) dropped_rows: u64,
}

impl RowRecord {
    pub(super) fn new(job: &Job<'_>, i: usize) -> Self {
        Self { row: i, line: job.data.line(i), label: job.label(i).to_string() }
    }
}

impl Record {
    /// The record of one task; `alone` if it is the only one.
    pub(super) fn new(job: &Job<'_>, decided: &Decided, alone: bool) -> anyhow::Result<Self> {
        let separation = &decided.separation;
        let quasi = separation.verdict == Verdict::QuasiComplete;
        let share =
            |&RowShare { row, value }: &RowShare| ShareRecord { row: RowRecord::new(job, row), share: value };
        let near = |&RowShare { row, value }: &RowShare| DistanceRecord {
            row: RowRecord::new(job, row),
            distance: value,
        };
        Ok(Self {
            verdict: separation.verdict,
            classes: decided.classes.clone(),
            bias: bias_record(job.settings.bias),
            margin: separation.margin,
            difficulty: decided.difficulty,
            radius: separation.extent.radius_upper,
            rows: separation.rows,
            features: job.data.columns(),
            rank: separation.rank,
            witness_rows: separation.witness.iter().map(share).collect(),
            contradictions: separation
                .contradictions
                .iter()
                .map(|rows| rows.map(|i| RowRecord::new(job, i)))
                .collect(),
            boundary_rows: quasi
                .then(|| separation.boundary.iter().map(|&i| RowRecord::new(job, i)).collect()),
            separating_features: quasi.then(|| job.separating_features(separation)).map(|features| {
                features.into_iter().map(|(feature, weight)| FeatureRecord { feature, weight }).collect()
            }),
            separating_intercept: separation.weights.as_ref().filter(|_| quasi).map(Theta::intercept),
            closest_rows: (separation.verdict == Verdict::Complete)
                .then(|| separation.closest.iter().map(near).collect()),
            blame: decided.blame.as_ref().map(|blamed| job.blame_record(blamed)),
            certificate: decided.certificate.as_ref().map(|path| path.display().to_string()),
            proof: if alone && decided.certificate.is_none() { proof(decided)? } else { None },
            stopped: separation.stopped.clone(),
            skipped_rows: alone.then_some(job.notes.skipped),
            dropped_rows: alone.then_some(job.notes.dropped),
            passes: decided.separation.passes,
            seconds: decided.seconds,
        })
    }
}

/// The certificate itself, unless it is long.
fn proof(decided: &Decided) -> anyhow::Result<Option<Box<RawValue>>> {
    let Some(certificate) = &decided.separation.certificate else { return Ok(None) };
    let text = certificate.to_json();
    if text.len() > MOST_PROOF {
        return Ok(None);
    }
    // As it is: no digit of its exact numbers may change.
    let proof = RawValue::from_string(text.trim_end().to_string()).context("cannot make the JSON record")?;
    Ok(Some(proof))
}

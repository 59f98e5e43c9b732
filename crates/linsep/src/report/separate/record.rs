//! The record of a decision about separation; `docs/json.md` describes every field.

use super::coefficients::{in_order, is_reference};
use super::lists::{separated_rows, separating_features};
use crate::Theta;
use crate::classes::ClassPair;
use crate::job::{Decided, Separated, SeparationTasks, TimedRemoval};
use crate::separate::{
    Bias, CertificateText, CoefficientStatus, ColumnFindings, RowShare, Verdict, settings,
};
use crate::theory::margin::MarginInterval;
use crate::theory::novikoff::MistakeBound;
use serde::Serialize;

/// The most negative classes that a line of a table names.
const MAX_NEGATIVE: usize = 1000;

/// A certificate longer than this is not put into the record.
const MAX_PROOF: usize = 1_000_000;

/// The record of a decision about separation, to be serialised.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct SeparateRecord(Form);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Form {
    One(Box<Record>),
    Table(Table),
}

/// One pair of sides.
#[derive(Debug, Serialize)]
struct Record {
    verdict: Verdict,
    classes: SidesRecord,
    #[serde(with = "settings::bias")]
    bias: Bias,
    margin: MarginInterval,
    difficulty: MistakeBound,
    radius: f64,
    rows: usize,
    features: usize,
    rank: Option<usize>,
    witness_rows: Vec<ShareRecord>,
    witness_is_minimal: bool,
    contradictions: Vec<[RowRecord; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boundary_rows: Option<Vec<RowRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boundary_is_exact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separated_rows: Option<Vec<RowRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<CoefficientRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients_stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_aliased: Option<Vec<Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column_sets: Option<SetsRecord>,
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
    proof: Option<String>,
    complete_is_ruled_out: bool,
    overlap_is_ruled_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    separable_by_rounding: Option<bool>,
    stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_rows: Option<u64>,
    passes: u64,
    seconds: f64,
}

/// The classes of both sides. A class against thousands of others is recorded without their names, which would be as many
/// in each line of the table.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SidesRecord {
    Named(ClassPair),
    Rest { positive: String, negative_classes: usize },
}

/// Several pairs of sides.
#[derive(Debug, Serialize)]
struct Table {
    tasks: SeparationTasks,
    rows: usize,
    features: usize,
    interrupted: bool,
    /// Lines that the table lacks: the job was stopped, or its time was over.
    missing: usize,
    table: Vec<Record>,
    skipped_rows: u64,
    dropped_rows: u64,
}

/// A row: its number from 0 as in certificates, its line, and its label.
#[derive(Debug, Serialize)]
struct RowRecord {
    row: usize,
    line: u64,
    label: String,
}

/// A row of a witness.
#[derive(Debug, Serialize)]
struct ShareRecord {
    #[serde(flatten)]
    row: RowRecord,
    share: f64,
}

/// A row near the boundary.
#[derive(Debug, Serialize)]
struct DistanceRecord {
    #[serde(flatten)]
    row: RowRecord,
    distance: f64,
}

/// The estimate of one coefficient; the bias has no feature.
#[derive(Debug, Serialize)]
struct CoefficientRecord {
    feature: Option<String>,
    status: CoefficientStatus,
    /// Whether it is aliased as the reference level of its column of words.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reference: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    aliased_with: Option<Vec<Option<String>>>,
}

/// Sets of columns that separate by themselves.
#[derive(Debug, Serialize)]
struct SetsRecord {
    alone: Vec<Vec<String>>,
    at_least: usize,
}

#[derive(Debug, Serialize)]
struct FeatureRecord {
    feature: String,
    weight: f64,
}

/// Few rows whose removal separates the rest.
#[derive(Debug, Serialize)]
struct BlameRecord {
    rows: Vec<RowRecord>,
    #[serde(serialize_with = "whole_if_it_is")]
    weight: f64,
    #[serde(serialize_with = "whole_if_it_is")]
    at_least: f64,
    is_smallest: bool,
    leaves_both_sides: bool,
    rest: Option<Verdict>,
    rest_rows: usize,
    rest_margin: Option<MarginInterval>,
    stopped: Option<String>,
    seconds: f64,
}

/// A count as a whole number, another weight as it is.
fn whole_if_it_is<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const MAX: f64 = (1u64 << 53) as f64;
    if value.fract() == 0.0 && (0.0..=MAX).contains(value) {
        return serializer.serialize_u64(*value as u64);
    }
    serializer.serialize_f64(*value)
}

impl From<&Separated> for SeparateRecord {
    fn from(separated: &Separated) -> Self {
        Self(match (separated.sides, separated.decided.as_slice()) {
            (SeparationTasks::Two, [decided]) => Form::One(Box::new(record(separated, decided, true))),
            (tasks, decided) => Form::Table(Table {
                tasks,
                rows: separated.data.len(),
                features: separated.data.columns(),
                interrupted: separated.interrupted,
                missing: separated.missing,
                table: decided.iter().map(|decided| record(separated, decided, false)).collect(),
                skipped_rows: separated.notes.skipped,
                dropped_rows: separated.notes.dropped,
            }),
        })
    }
}

/// The record of one pair of sides; `alone` if it is the only one.
fn record(separated: &Separated, decided: &Decided, alone: bool) -> Record {
    let separation = &decided.separation;
    let quasi = separation.verdict == Verdict::QuasiComplete;
    let findings = separation.columns.as_ref();
    let row =
        |i: usize| RowRecord { row: i, line: separated.data.line(i), label: separated.label(i).to_string() };
    let rows = |rows: &[usize]| rows.iter().map(|&i| row(i)).collect();
    let share = |share: &RowShare| ShareRecord { row: row(share.row), share: share.value };
    let near = |share: &RowShare| DistanceRecord { row: row(share.row), distance: share.value };
    let features = || {
        let features = separating_features(separated, separation).into_iter();
        features.map(|(feature, weight)| FeatureRecord { feature, weight }).collect()
    };
    let blame = |blamed: &TimedRemoval| BlameRecord {
        rows: rows(&blamed.found.rows),
        weight: blamed.found.weight,
        at_least: blamed.found.at_least,
        is_smallest: blamed.found.is_smallest,
        leaves_both_sides: blamed.found.leaves_both_sides,
        rest: blamed.found.rest.as_ref().map(|rest| rest.verdict),
        rest_rows: blamed.found.rest.as_ref().map_or(0, |rest| rest.rows),
        rest_margin: blamed.found.rest.as_ref().map(|rest| rest.margin),
        stopped: blamed.found.stopped.clone(),
        seconds: blamed.seconds,
    };
    Record {
        verdict: separation.verdict,
        classes: match &separation.classes {
            pair if !alone && pair.negative.len() > MAX_NEGATIVE => {
                SidesRecord::Rest { positive: pair.positive.clone(), negative_classes: pair.negative.len() }
            }
            pair => SidesRecord::Named(pair.clone()),
        },
        bias: separated.settings.bias,
        margin: separation.margin,
        difficulty: decided.difficulty,
        radius: separation.extent.radius_upper,
        rows: separation.rows,
        features: separated.data.columns(),
        rank: separation.rank,
        witness_rows: separation.witness.iter().map(share).collect(),
        witness_is_minimal: separation.witness_is_minimal,
        contradictions: separation.contradictions.iter().map(|pair| pair.map(row)).collect(),
        boundary_rows: quasi.then(|| rows(&separation.boundary)),
        boundary_is_exact: quasi.then_some(separation.boundary_is_exact),
        separated_rows: quasi.then(|| rows(&separated_rows(separated, separation))),
        coefficients: findings.map(|findings| coefficients(separated, findings)),
        coefficients_stopped: separation.columns_stopped.clone(),
        rest_aliased: findings.filter(|_| quasi).map(|findings| places(separated, &findings.dropped)),
        column_sets: findings.filter(|_| separation.verdict == Verdict::Complete).map(|findings| {
            SetsRecord {
                alone: findings
                    .alone
                    .iter()
                    .map(|set| set.iter().map(|&place| separated.schema.feature_name(place)).collect())
                    .collect(),
                at_least: findings.at_least,
            }
        }),
        separating_features: quasi.then(features),
        separating_intercept: separation.weights.as_ref().filter(|_| quasi).map(Theta::intercept),
        closest_rows: (separation.verdict == Verdict::Complete)
            .then(|| separation.closest.iter().map(near).collect()),
        blame: decided.blame.as_ref().map(blame),
        certificate: decided.certificate.as_ref().map(|path| path.display().to_string()),
        proof: if alone && decided.certificate.is_none() { proof(decided) } else { None },
        complete_is_ruled_out: separation.complete_is_ruled_out,
        overlap_is_ruled_out: separation.overlap_is_ruled_out,
        separable_by_rounding: matches!(separation.verdict, Verdict::Complete | Verdict::QuasiComplete)
            .then_some(decided.separable_by_rounding),
        stopped: separation.stopped.clone(),
        skipped_rows: alone.then_some(separated.notes.skipped),
        dropped_rows: alone.then_some(separated.notes.dropped),
        passes: separation.passes,
        seconds: decided.seconds,
    }
}

/// What coefficients are called: the bias has no name.
fn places(separated: &Separated, places: &[usize]) -> Vec<Option<String>> {
    let is_feature = |place: usize| place < separated.data.columns();
    places.iter().map(|&place| is_feature(place).then(|| separated.schema.feature_name(place))).collect()
}

fn coefficients(separated: &Separated, findings: &ColumnFindings) -> Vec<CoefficientRecord> {
    let order = in_order(separated, findings);
    let names = places(separated, &order);
    let record = |(place, feature): (usize, Option<String>)| CoefficientRecord {
        feature,
        status: findings.statuses[place],
        reference: is_reference(separated, findings, place),
        aliased_with: findings.relations.get(&place).map(|others| places(separated, others)),
    };
    order.into_iter().zip(names).map(record).collect()
}

/// The text of the certificate, unless it is long.
fn proof(decided: &Decided) -> Option<String> {
    let text = CertificateText(decided.separation.certificate.as_ref()?).to_string();
    Some(text).filter(|text| text.len() <= MAX_PROOF)
}

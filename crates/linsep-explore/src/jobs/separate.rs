//! Whether a boundary can separate the rows, with the rows that prove it in the picture.

use super::report::blocks;
use crate::data::DataSet;
use crate::drawing::{Arrays, Drawn, Plane, Seen, sample};
use crate::results::Kept;
use crate::server::App;
use crate::watch::{Listener, Watch, worded};
use linsep::Error;
use linsep::job::{Decided, SeparateSpec, Separated, SeparationTasks, Spec};
use linsep::report::{SeparateRecord, coefficient_words, separate_report};
use linsep::separate::CertificateText;
use linsep::spelling::spell_record;
use serde_json::{Value, json};

pub(super) fn run(
    app: &App,
    set: &DataSet,
    spec: SeparateSpec,
    id: String,
    listener: &Listener,
) -> Result<(Value, Kept), Error> {
    let spec = SeparateSpec { row_weights: set.row_weights(), ..spec };
    let job = SeparateSpec { data: set.to_decide(), ..spec.clone() };
    let separated = job.run(&mut Watch::new(listener))?;
    if listener.is_gone() {
        return Err(Error::Interrupted);
    }
    let two = match (separated.sides, separated.decided.as_slice()) {
        (SeparationTasks::Two, [decided]) => Some(decided),
        _ => None,
    };
    let certificate = two
        .and_then(|decided| decided.separation.certificate.as_ref())
        .map(|proof| CertificateText(proof).to_string());
    let mut record = serde_json::to_value(SeparateRecord::from(&separated))
        .map_err(|error| Error::Spec { place: "the record".to_string(), problem: error.to_string() })?;
    spell_record(&mut record, &worded);
    let result = json!({
        "job": "separate",
        "record": record,
        "missing": set.has_gaps(),
        "report": blocks(app, &separate_report(&separated)),
        "coefficients": two.map(|decided| coefficient_words(&separated, &decided.separation)),
    });
    let drawing = two.map_or_else(Vec::new, |decided| drawing(&separated, decided));
    let spec = Spec::Separate(SeparateSpec { data: set.as_file_to_decide(), ..spec });
    Ok((result, Kept { id, name: set.name.clone(), spec, model: None, trace: None, certificate, drawing }))
}

/// The rows in the plane of the separator, and those that the verdict names.
fn drawing(separated: &Separated, decided: &Decided) -> Vec<u8> {
    let (data, separation) = (&separated.data, &decided.separation);
    let class_signs = separation.classes.signs_of(data.classes());
    let sign = |i: usize| class_signs[data.labels()[i] as usize];
    let rows: Vec<u32> = (0..data.len()).filter(|&i| sign(i).is_some()).map(|i| i as u32).collect();
    let signs: Vec<i8> = rows.iter().map(|&i| sign(i as usize).unwrap_or(-1)).collect();
    let seen = Seen::as_read(data, &rows);
    let plane = Plane::of(&seen, separation.weights.as_ref(), &signs);
    let blamed = decided.blame.as_ref().map_or(&[][..], |blamed| &blamed.found.rows);
    // The row with its part: 1 for those of the witness or on the edge of the band, 2 for those to blame, 3 for contradictions.
    let edge = separation.closest.first().map_or(0.0, |nearest| nearest.value * 1.001);
    let closest = separation.closest.iter().take_while(|share| share.value <= edge);
    let shares = separation.witness.iter().chain(closest).map(|share| (share.row, 1u8));
    let contradicting = separation.contradictions.iter().flatten().map(|&row| (row, 3u8));
    let marked: std::collections::BTreeMap<usize, u8> =
        shares.chain(contradicting).chain(blamed.iter().map(|&row| (row, 2u8))).collect();
    let position = |row: usize| rows.binary_search(&(row as u32)).ok();
    let drawn = sample(rows.len(), marked.keys().filter_map(|&row| position(row)));
    let mut arrays = Arrays::default();
    let schema = &separated.schema;
    let outcomes = vec![separation.classes.negative_name(), separation.classes.positive.clone()];
    let rows_drawn = Drawn { seen: &seen, plane: &plane, which: &drawn, schema, outcomes };
    rows_drawn.put(&mut arrays, |i| usize::from(signs[i] > 0));
    arrays.put("mark", drawn.iter().map(|&i| marked.get(&(rows[i as usize] as usize)).copied().unwrap_or(0)));
    let held: std::collections::BTreeSet<usize> = separation.witness.iter().map(|share| share.row).collect();
    arrays.put("witness", drawn.iter().map(|&i| u8::from(held.contains(&(rows[i as usize] as usize)))));
    if let Some(theta) = &separation.weights {
        arrays.say("final", &plane.line(theta));
        let least =
            rows.iter().zip(&signs).map(|(&i, &sign)| f64::from(sign) * theta.score(data.row(i as usize)));
        arrays.say("band", &least.fold(f64::MAX, f64::min));
    }
    arrays.into_bytes()
}

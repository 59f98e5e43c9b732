//! Which class a model gives to each place of the plane: for boundaries that are no line, and for many classes.

use super::Axis;
use linsep::model::Predictor;
use linsep::{Model, Row};
use serde::Serialize;

/// Places on each side of the grid; fewer where each takes long, because it is compared with many rows.
const PLACES: usize = 224;
const PLACES_OF_MANY: usize = 96;
const MANY: u64 = 2000;
/// Of very many updates: the scores that a picture may take, and the fewest places that show something.
const MOST_SCORES: u64 = 400_000_000;
const FEWEST_PLACES: usize = 8;

/// A grid over the picture: the outcome at each place, row by row from below.
#[derive(Debug, Serialize)]
pub(crate) struct Region {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// The least and the largest place of each axis.
    pub(crate) x: [f64; 2],
    pub(crate) y: [f64; 2],
    #[serde(skip)]
    pub(crate) outcomes: Vec<u8>,
}

/// The classes that a model of one or two columns gives to places around these points.
pub(crate) fn region(model: &Model, axes: &[Axis; 2], points: &[(f64, f64)], columns: usize) -> Region {
    let range = |value: fn(&(f64, f64)) -> f64| {
        let (least, most) = points
            .iter()
            .map(value)
            .fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
        let room = if most > least { 0.6 * (most - least) } else { 1.0 };
        [least - room, most + room]
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    // Each place is compared with the rows of all updates, or scored by all votes.
    let updates = if model.learned.compares_rows() { model.evidence.updates } else { 0 };
    let places = match updates {
        0..=MANY => PLACES,
        updates => ((MOST_SCORES / updates).isqrt() as usize).clamp(FEWEST_PLACES, PLACES_OF_MANY),
    };
    let rows = if columns == 1 { 1 } else { places };
    let mut predictor = Predictor::new(model);
    let mut outcomes = Vec::with_capacity(places * rows);
    let at = |range: [f64; 2], i: usize, of: usize| {
        range[0] + (range[1] - range[0]) * (i as f64 + 0.5) / of as f64
    };
    for j in 0..rows {
        for i in 0..places {
            // In the units of the file, as the model wants them.
            let values = [
                at(x, i, places) * axes[0].divisor + axes[0].mean,
                at(y, j, rows) * axes[1].divisor + axes[1].mean,
            ];
            outcomes.push(predictor.predict(Row::DenseF64(&values[..columns])).outcome as u8);
        }
    }
    Region { columns: places, rows, x, y, outcomes }
}

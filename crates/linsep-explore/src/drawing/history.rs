//! The updates of a run, as they are made: which row, and where the boundary then is in the plane of the picture.

use super::{Line, Plane};
use linsep::features::RecipeBuffer;
use linsep::observe::Update;

/// Multiplications that recording may spend on boundaries. Beyond it, in many dimensions, boundaries are recorded every so
/// often; updates are all recorded.
const BUDGET: u64 = 400_000_000;

/// Records updates.
pub(crate) struct History<'a> {
    plane: &'a Plane,
    /// Whether the boundaries are lines of the plane.
    draws_lines: bool,
    most: usize,
    /// One boundary after this many updates.
    pub(crate) stride: u64,
    pub(crate) rows: Vec<u32>,
    pub(crate) epochs: Vec<u32>,
    pub(crate) signs: Vec<i8>,
    pub(crate) agreements: Vec<f64>,
    pub(crate) places: Vec<(f64, f64)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) norms: Vec<f64>,
}

impl<'a> History<'a> {
    /// Records at most so many updates of rows with so many features.
    pub(crate) fn new(
        plane: &'a Plane,
        draws_lines: bool,
        most: usize,
        expected: u64,
        features: usize,
    ) -> Self {
        let expected = expected.min(most as u64);
        let stride = (expected.saturating_mul(4 * features as u64)).div_ceil(BUDGET).max(1);
        Self {
            plane,
            draws_lines,
            most,
            stride,
            rows: Vec::new(),
            epochs: Vec::new(),
            signs: Vec::new(),
            agreements: Vec::new(),
            places: Vec::new(),
            lines: Vec::new(),
            norms: Vec::new(),
        }
    }

    /// Takes an update into account. A job may go through the same run several times, to find what its trace compares with:
    /// then the last is recorded, which is the same.
    pub(crate) fn record(&mut self, update: &Update<'_>) {
        if update.number == 1 {
            self.rows.clear();
            self.epochs.clear();
            self.signs.clear();
            self.agreements.clear();
            self.places.clear();
            self.lines.clear();
            self.norms.clear();
        }
        if self.rows.len() >= self.most {
            return;
        }
        self.rows.push(update.position as u32);
        self.epochs.push(update.epoch.try_into().unwrap_or(u32::MAX));
        self.signs.push(update.sign);
        // Adding zero turns −0 into 0.
        self.agreements.push(update.agreement + 0.0);
        self.places.push(self.plane.place(update.row));
        if (self.rows.len() as u64 - 1).is_multiple_of(self.stride)
            && let Some(theta) = update.theta
        {
            if self.draws_lines {
                self.lines.push(self.plane.line(theta));
            }
            let squares: f64 = theta.weights.iter().map(|w| w * w).sum();
            self.norms.push((squares + theta.bias * theta.bias).sqrt());
        }
    }

    /// Draws the rows of the updates elsewhere than where the learner sees them.
    pub(crate) fn places_of(&mut self, place: impl Fn(u32, &mut RecipeBuffer) -> (f64, f64)) {
        let mut buffer = RecipeBuffer::default();
        self.places = self.rows.iter().map(|&row| place(row, &mut buffer)).collect();
    }
}

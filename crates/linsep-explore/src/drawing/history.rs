//! The updates of a run, as they are made: which row, and where the boundary then is in the plane of the picture.

use super::{Line, Plane};
use linsep::Theta;
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
    /// How many classes have a vector of their own; 0 for two sides of one boundary.
    classes: usize,
    /// Of several classes: the class that each update added its row to, and the rival that it subtracted it from.
    pub(crate) moved: Vec<(u32, u32)>,
    /// Of several classes: ‖z‖² of each update.
    pub(crate) squares: Vec<f64>,
    /// Of several classes: the score of a class on the plane, from an update on.
    pub(crate) scores: Vec<ClassScore>,
    /// Of several classes: the vectors after the last update, if that was recorded.
    pub(crate) last: Option<Vec<Theta>>,
    expected: u64,
}

/// The score of a class at the places of the plane: a·x + b·y + c, from a step on until its next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassScore {
    /// The step, from 1.
    pub(crate) step: u32,
    pub(crate) class: u32,
    pub(crate) line: Line,
}

impl<'a> History<'a> {
    /// Records at most so many updates of rows with so many features, of so many classes with vectors of their own.
    pub(crate) fn new(
        plane: &'a Plane,
        draws_lines: bool,
        most: usize,
        expected: u64,
        features: usize,
        classes: usize,
    ) -> Self {
        let recorded = expected.min(most as u64);
        let stride_for = |vectors: usize| {
            recorded.saturating_mul(4 * features as u64 * vectors as u64).div_ceil(BUDGET).max(1)
        };
        // An update moves two classes; where some are left out, all may have moved.
        let stride = match classes {
            0 => stride_for(1),
            _ if stride_for(2) == 1 => 1,
            classes => stride_for(classes),
        };
        Self {
            classes,
            moved: Vec::new(),
            squares: Vec::new(),
            scores: Vec::new(),
            last: None,
            expected,
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
            self.moved.clear();
            self.squares.clear();
            self.scores.clear();
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
        let is_drawn = (self.rows.len() as u64 - 1).is_multiple_of(self.stride);
        if let Some(moved) = update.classes {
            let (class, rival) = (moved.class as u32, moved.rival as u32);
            self.moved.push((class, rival));
            self.squares.push(update.row_squared);
            if is_drawn && self.draws_lines {
                let step = self.rows.len() as u32;
                let score = |class: u32| ClassScore {
                    step,
                    class,
                    line: self.plane.line(&moved.thetas[class as usize]),
                };
                if self.stride == 1 {
                    self.scores.extend([class, rival].map(score));
                } else {
                    self.scores.extend((0..self.classes as u32).map(score));
                }
            }
            if update.number == self.expected {
                self.last = Some(moved.thetas.to_vec());
            }
        }
        if is_drawn && let Some(theta) = update.theta {
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

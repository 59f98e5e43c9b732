//! The best boundary along a line: of all w + t·u, one with the least cost of wrong rows.

use super::super::Examples;
use super::Meter;
use super::ground::Ground;
use crate::linalg::norm_squared;
use crate::random::Random;

/// A boundary that moves along lines.
pub(super) struct Walker<'g, 'a> {
    ground: &'g Ground<'a>,
    examples: &'g Examples<'g>,
    pub(super) w: Vec<f64>,
    /// What it has wrong costs this.
    pub(super) cost: u64,
    /// ⟨w, z⟩ of all kinds.
    agreements: Vec<f64>,
    rates: Vec<f64>,
    events: Vec<(f64, i64)>,
    /// Positions of equal cost, from which one is drawn.
    level: Vec<f64>,
}

impl<'g, 'a> Walker<'g, 'a> {
    pub(super) fn new(ground: &'g Ground<'a>, examples: &'g Examples<'g>, w: &[f64]) -> Self {
        let mut walker = Self {
            ground,
            examples,
            w: w.to_vec(),
            cost: 0,
            agreements: vec![0.0; ground.len()],
            rates: vec![0.0; ground.len()],
            events: Vec::with_capacity(ground.len()),
            level: Vec::new(),
        };
        walker.settle();
        walker
    }

    /// Brings w to length 1, and computes its agreements anew.
    fn settle(&mut self) {
        let length = norm_squared(&self.w).sqrt();
        if length > 0.0 && length.is_finite() {
            self.w.iter_mut().for_each(|value| *value /= length);
        }
        self.cost = 0;
        for kind in 0..self.ground.len() {
            self.agreements[kind] = self.examples.dot(kind, &self.w);
            // NaN counts as wrong.
            if self.agreements[kind].partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                self.cost += self.ground.costs[kind];
            }
        }
    }

    /// What one step costs in multiplications.
    fn effort(&self) -> u64 {
        let count = self.ground.len() as u64;
        self.ground.size() + 2 * count * u64::from(count.max(2).ilog2())
    }

    /// Moves to the best place along `direction`; among equally good ones, to one that is drawn. Whether the cost fell.
    pub(super) fn step(&mut self, direction: &[f64], random: &mut Random) -> bool {
        // Row i is wrong at t if a + t·r ≤ 0: for r > 0 up to −a/r, for r < 0 from there on.
        let mut cost = 0i64;
        self.events.clear();
        for kind in 0..self.ground.len() {
            let (rate, agreement) = (self.examples.dot(kind, direction), self.agreements[kind]);
            let own = self.ground.costs[kind] as i64;
            self.rates[kind] = rate;
            let place = -agreement / rate;
            if rate == 0.0 || !place.is_finite() {
                cost += if agreement > 0.0 { 0 } else { own };
            } else if rate > 0.0 {
                cost += own;
                self.events.push((place, -own));
            } else {
                self.events.push((place, own));
            }
        }
        self.events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (Some(first), Some(last)) = (self.events.first(), self.events.last()) else { return false };
        let mut best = cost;
        self.level.clear();
        self.level.push(first.0 - first.0.abs().max(1.0));
        let mut k = 0;
        while k < self.events.len() {
            let place = self.events[k].0;
            while k < self.events.len() && self.events[k].0 == place {
                cost += self.events[k].1;
                k += 1;
            }
            let middle = match self.events.get(k) {
                Some(next) => place + 0.5 * (next.0 - place),
                None => last.0 + last.0.abs().max(1.0),
            };
            // Between neighbouring floats there is no room.
            let has_room = middle > place && self.events.get(k).is_none_or(|next| middle < next.0);
            if has_room && cost <= best {
                if cost < best {
                    self.level.clear();
                    best = cost;
                }
                self.level.push(middle);
            }
        }
        if best > self.cost as i64 || self.level.is_empty() {
            return false;
        }
        let step = self.level[random.below(self.level.len() as u64) as usize];
        let before = self.cost;
        self.w.iter_mut().zip(direction).for_each(|(w, u)| *w += step * u);
        self.settle();
        self.cost < before
    }

    /// Moves along many lines, for as long as that helps: along the columns, towards rows that are wrong, and along random ones.
    pub(super) fn walk(&mut self, patience: usize, random: &mut Random, meter: &mut Meter<'_, '_>) {
        const MAX_COLUMNS: usize = 40;
        let width = self.w.len();
        let (mut best, mut idle) = ((self.cost, self.w.clone()), 0);
        while idle < patience && best.0 > 0 {
            let mut lines: Vec<usize> = (0..width).collect();
            random.shuffle(&mut lines);
            lines.truncate(MAX_COLUMNS);
            let wrong: Vec<usize> =
                (0..self.ground.len()).filter(|&kind| self.agreements[kind] <= 0.0).collect();
            let others = 2 * lines.len();
            for line in 0..lines.len() + others {
                let mut direction = vec![0.0; width];
                if let Some(&column) = lines.get(line) {
                    direction[column] = 1.0;
                } else if line % 2 == 0 && !wrong.is_empty() {
                    let kind = wrong[random.below(wrong.len() as u64) as usize];
                    self.examples.entries(kind).for_each(|(column, value)| direction[column] = value);
                } else {
                    direction.iter_mut().for_each(|value| *value = random.normal());
                }
                self.step(&direction, random);
                meter.spend(2 * self.effort());
                if meter.is_over() {
                    break;
                }
            }
            idle += 1;
            if self.cost < best.0 {
                (best, idle) = ((self.cost, self.w.clone()), 0);
            }
            if meter.is_over() {
                break;
            }
        }
        self.w = best.1;
        self.settle();
    }

    /// A step to the side, from which the next walk begins.
    pub(super) fn kick(&mut self, size: f64, random: &mut Random) {
        let scale = size / (self.w.len() as f64).sqrt();
        self.w.iter_mut().for_each(|value| *value += scale * random.normal());
        self.settle();
    }
}

//! The point of the hull of many rows nearest to the origin, by sampling (Clarkson 1995): find the nearest point of a
//! sample, add the rows below its level, and repeat.

use super::active_set::{ActiveSet, End, Points};
use super::budget::Budget;
use super::examples::Examples;
use super::real::Real;
use crate::linalg::rounding_error_bound;
use crate::random::{Random, Stream};
use rayon::prelude::*;

/// The space in which the nearest point is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space<'a> {
    pub(super) examples: &'a Examples<'a>,
    /// One simplex of all rows; or one for each side, and then without the coordinate of the bias: the two hulls.
    pub(super) two_hulls: bool,
    /// Rows are multiplied by this power of two, so that no product overflows or vanishes.
    pub(super) exponent: i32,
    /// The longest row, in the numbers of the data.
    pub(super) radius: f64,
    pub(super) seed: u64,
    /// Bytes that may be used.
    pub(super) memory: u64,
}

/// The result of the search in floating-point arithmetic.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    pub(super) end: End,
    /// The nearest point, each coordinate as a sum of two floats, in the scale of the space. For two hulls the
    /// coordinate of the bias puts the boundary midway.
    pub(super) w: Vec<[f64; 2]>,
    /// Rows and coefficients, likewise; each simplex sums to 1.
    pub(super) support: Vec<(usize, [f64; 2])>,
    /// ‖w‖ / R.
    pub(super) relative_distance: f64,
}

impl Space<'_> {
    fn groups(&self) -> usize {
        if self.two_hulls { 2 } else { 1 }
    }

    fn group(&self, i: usize) -> u8 {
        u8::from(self.two_hulls && self.examples.signs()[i] < 0)
    }

    /// Coordinates in which points live.
    fn coordinates(&self) -> usize {
        if self.two_hulls { self.examples.data().columns() } else { self.examples.dimension() }
    }

    /// The entries of a row in this space.
    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (coordinates, factor) = (self.coordinates(), self.factor());
        self.examples
            .entries(i)
            .filter(move |&(column, _)| column < coordinates)
            .map(move |(column, value)| (column, value * factor))
    }

    fn factor(&self) -> f64 {
        libm::scalbn(1.0, self.exponent)
    }
}

/// Which coordinates the working rows use, and where each stands in their matrix.
struct Columns {
    used: Vec<usize>,
    place: Option<Vec<u32>>,
}

impl Columns {
    /// All coordinates of data with few of them; otherwise those that the rows use.
    fn of(space: &Space<'_>, rows: impl Iterator<Item = usize>) -> Self {
        const FEW: usize = 512;
        let all = space.coordinates();
        if all <= FEW {
            return Self { used: (0..all).collect(), place: None };
        }
        let mut place = vec![u32::MAX; all];
        for row in rows {
            space.entries(row).for_each(|(column, _)| place[column] = 0);
        }
        let used: Vec<usize> = (0..all).filter(|&column| place[column] == 0).collect();
        used.iter().enumerate().for_each(|(k, &column)| place[column] = k as u32);
        Self { used, place: Some(place) }
    }

    /// The coordinates of a row that the working rows use; the others are left out, where w is zero.
    fn fill(&self, space: &Space<'_>, row: usize, point: &mut [f64]) {
        for (column, value) in space.entries(row) {
            match &self.place {
                None => point[column] = value,
                Some(place) if place[column] != u32::MAX => point[place[column] as usize] = value,
                Some(_) => {}
            }
        }
    }
}

impl Nearest {
    /// Nothing was found before a limit was reached.
    fn stopped() -> Self {
        Self { end: End::Stopped, w: Vec::new(), support: Vec::new(), relative_distance: 0.0 }
    }
}

/// Looks for the point of conv{rows} + span{directions} nearest to the origin.
pub(super) fn nearest<T: Real>(
    space: &Space<'_>,
    rows: &[usize],
    directions: &[usize],
    start: &[(usize, f64)],
    budget: &mut Budget<'_>,
) -> Nearest {
    let dimension = space.coordinates();
    let mut working = WorkingRows::new(space, rows, start);
    let mut support: Vec<(usize, f64)> = start.to_vec();
    loop {
        let columns = Columns::of(space, working.rows.iter().chain(directions).copied());
        let width = columns.used.len();
        // The matrix of the rows, and Q and R of as many columns as the support can have.
        let most = width.min(working.rows.len());
        let bytes = working.rows.len() * width * size_of::<f64>() + (width + most) * most * size_of::<T>();
        if bytes as u64 > space.memory {
            budget.end_for_memory(bytes as u64);
            return Nearest::stopped();
        }
        let mut points = Points::new(width);
        for &row in &working.rows {
            points.push(space.group(row), |point| columns.fill(space, row, point));
        }
        let directions: Vec<Vec<f64>> = directions
            .iter()
            .map(|&row| {
                let mut direction = vec![0.0; width];
                columns.fill(space, row, &mut direction);
                direction
            })
            .collect();
        let begin = working.start(space, &points, &support);
        let groups = space.groups();
        let set = ActiveSet::<T>::watched(&points, groups, &directions, &begin, &mut || budget.is_over());
        let Some(mut set) = set else { return Nearest::stopped() };
        let patience = 20 * (width + 50) + working.rows.len();
        let mut end = set.search(&points, patience, &mut || budget.is_over());
        let found: Vec<(usize, [f64; 2])> =
            set.support().into_iter().map(|(k, weight)| (working.rows[k], weight.parts())).collect();
        support = found.iter().map(|&(row, weight)| (row, weight[0])).collect();
        let mut w = vec![[0.0; 2]; space.examples.dimension()];
        columns.used.iter().zip(&set.w).for_each(|(&column, w_k)| w[column] = w_k.parts());
        let levels = levels(space, &set, &points);
        let distance = set.distance();
        if directions.is_empty() {
            let half = if space.two_hulls { 0.5 } else { 1.0 };
            budget.upper = Some(half * distance / space.factor());
            budget.support = found.clone();
        }
        if end == End::Optimal {
            budget.passes += 1;
            match working.add_below(space, rows, &columns, &set.w, &w[..dimension], &levels, distance) {
                0 => {}
                _ if budget.is_over() => end = End::Stopped,
                _ => continue,
            }
        }
        if space.two_hulls {
            // Midway between the levels of the two sides: y(⟨w, x⟩ + b) is the same on both. In the scale of the
            // space the bias is multiplied by the factor of the rows.
            let bias = (levels[1] - levels[0]) / T::from_f64(2.0);
            w[dimension] = bias.parts();
            if space.exponent != 0 {
                w[dimension] = w[dimension].map(|part| part * libm::scalbn(1.0, -space.exponent));
            }
        }
        return Nearest {
            end,
            w,
            support: found,
            relative_distance: distance / (space.radius * space.factor()),
        };
    }
}

/// ⟨w, z⟩ of the support, for each simplex.
fn levels<T: Real>(space: &Space<'_>, set: &ActiveSet<T>, points: &Points) -> Vec<T> {
    // The support begins with the reference point of each simplex.
    let support = set.support();
    support.iter().take(space.groups()).map(|&(k, _)| T::dot_stored(&set.w, points.point(k))).collect()
}

/// The rows that the active set chooses from.
struct WorkingRows {
    rows: Vec<usize>,
    inside: Vec<bool>,
    /// Most rows that are added at once.
    most: usize,
}

impl WorkingRows {
    /// All rows if they are few, otherwise a sample of about √(dimension · rows) of them, and the start.
    fn new(space: &Space<'_>, rows: &[usize], start: &[(usize, f64)]) -> Self {
        let dimension = space.coordinates().min(rows.len());
        let size = ((dimension as f64 * rows.len() as f64).sqrt() as usize).max(1000);
        let mut inside = vec![false; space.examples.len()];
        let mut chosen: Vec<usize> = Vec::new();
        let mut take = |row: usize, chosen: &mut Vec<usize>| {
            if !std::mem::replace(&mut inside[row], true) {
                chosen.push(row);
            }
        };
        start.iter().for_each(|&(row, _)| take(row, &mut chosen));
        if rows.len() <= 2 * size {
            rows.iter().for_each(|&row| take(row, &mut chosen));
        } else {
            let mut random = Random::of(space.seed, Stream::Sample);
            for _ in 0..size {
                take(rows[random.below(rows.len() as u64) as usize], &mut chosen);
            }
            if space.two_hulls {
                // Both hulls need a point.
                for side in [1, -1] {
                    if let Some(&row) = rows.iter().find(|&&row| space.examples.signs()[row] == side) {
                        take(row, &mut chosen);
                    }
                }
            }
        }
        Self { rows: chosen, inside, most: size }
    }

    /// The support to begin with: what the last search ended with, or the shortest point of each simplex.
    fn start(&self, space: &Space<'_>, points: &Points, support: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut place = std::collections::HashMap::new();
        for (k, &row) in self.rows.iter().enumerate() {
            place.insert(row, k);
        }
        let mut start: Vec<(usize, f64)> =
            support.iter().map(|&(row, weight)| (place[&row], weight)).collect();
        for group in 0..space.groups() {
            if !start.iter().any(|&(k, weight)| points.group(k) == group && weight > 0.0) {
                let shortest = (0..points.len())
                    .filter(|&k| points.group(k) == group)
                    .map(|k| (k, crate::linalg::norm_squared(points.point(k))))
                    .min_by(|a, b| a.1.total_cmp(&b.1));
                start.extend(shortest.map(|(k, _)| (k, 1.0)));
            }
        }
        start
    }

    /// Adds the rows that lie below the level of the nearest point: all, or the furthest below if there are many.
    /// Gives their number.
    #[allow(clippy::too_many_arguments)]
    fn add_below<T: Real>(
        &mut self,
        space: &Space<'_>,
        rows: &[usize],
        columns: &Columns,
        w: &[T],
        w_parts: &[[f64; 2]],
        levels: &[T],
        distance: f64,
    ) -> usize {
        const CHUNK: usize = 4096;
        let factor = space.factor();
        let high: Vec<f64> = w_parts.iter().map(|parts| parts[0] * factor).collect();
        let terms = space.coordinates();
        let rounding_error = rounding_error_bound(terms, distance * space.radius * factor);
        let noise = 32.0 * T::ROUNDOFF * distance * space.radius * factor;
        let exact_enough = T::ROUNDOFF >= f64::ROUNDOFF;
        let below: Vec<Vec<(usize, f64)>> = rows
            .par_chunks(CHUNK)
            .map_init(
                || vec![0.0; columns.used.len()],
                |point, chunk| {
                    let mut found = Vec::new();
                    for &row in chunk.iter().filter(|&&row| !self.inside[row]) {
                        let group = usize::from(space.group(row));
                        let mut depth = levels[group].to_f64() - space.examples.dot(row, &high);
                        if !exact_enough && depth.abs() <= rounding_error {
                            point.fill(0.0);
                            columns.fill(space, row, point);
                            depth = (levels[group] - T::dot_stored(w, point)).to_f64();
                        }
                        if depth > noise {
                            found.push((row, depth));
                        }
                    }
                    found
                },
            )
            .collect();
        let mut below: Vec<(usize, f64)> = below.into_iter().flatten().collect();
        if below.len() > self.most {
            below.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            below.truncate(self.most);
        }
        for &(row, _) in &below {
            self.inside[row] = true;
            self.rows.push(row);
        }
        below.len()
    }
}

#[cfg(test)]
mod tests;

//! The point of a convex hull nearest to the origin, by Wolfe's active set method (1976), in floating-point numbers.
//!
//! Over points λ of one simplex, or of two (each with Σλ = 1), and free coefficients μ of given directions, it
//! minimises ‖Σ λ_i z_i + Σ μ_l l‖. The support is kept affinely independent; D = [directions, z_i − z_ref] = QR is
//! updated row by row. The nearest point is w = b − QQᵀb for b = Σ z_ref, *orthogonalised twice more*: with plain QR
//! the relative gap at margins of 1e-8 is near 1, with Gram matrices it is no better, with this it is 1e-8.

use super::real::Real;
use rayon::prelude::*;

/// Points to choose from: rows of a matrix, each in the first or the second simplex.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    dimension: usize,
    values: Vec<f64>,
    group: Vec<u8>,
}

impl Points {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    pub(super) fn push(&mut self, group: u8, fill: impl FnOnce(&mut [f64])) {
        let start = self.values.len();
        self.values.resize(start + self.dimension, 0.0);
        fill(&mut self.values[start..]);
        self.group.push(group);
    }

    pub(super) fn len(&self) -> usize {
        self.group.len()
    }

    pub(super) fn point(&self, i: usize) -> &[f64] {
        &self.values[i * self.dimension..(i + 1) * self.dimension]
    }

    pub(super) fn group(&self, i: usize) -> usize {
        usize::from(self.group[i])
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// No point is nearer, to this precision.
    Optimal,
    /// The nearest point is indistinguishable from the origin.
    Origin,
    /// Rounding errors hide the next step.
    Stalled,
    /// Too many steps, or stopped from outside.
    Stopped,
}

/// The state of a search: support, coefficients, nearest point.
pub(super) struct ActiveSet<T> {
    dimension: usize,
    groups: usize,
    /// How many columns of D are free directions; they come first and stay.
    free: usize,
    /// Columns of Q.
    q: Vec<Vec<T>>,
    /// Columns of R: column k has k + 1 entries.
    r: Vec<Vec<T>>,
    /// The point of each column of D beyond the free ones, with its coefficient.
    members: Vec<(usize, T)>,
    /// The reference point of each group, with its coefficient.
    references: Vec<(usize, T)>,
    /// The nearest point of the affine hull.
    pub(super) w: Vec<T>,
    /// Qᵀb for the sum b of the reference points: w = b − Q along.
    along: Vec<T>,
    /// How many changes of the support ago w was computed from scratch, if it is that of the support.
    age: Option<usize>,
    /// The length of the longest point: what rounding errors are relative to.
    scale: f64,
}

/// Supports from this size on keep w from step to step; smaller ones compute it anew.
const LARGE: usize = 192;
/// So many changes of a large support after the last time, w is computed anew.
const REFRESH: usize = 24;
/// Coordinates that a core works on at once.
const STRIP: usize = 256;

/// A column whose part outside the span so far is smaller than this many roundoffs is taken to lie in the span.
const DEPENDENT: f64 = 64.0;

impl<T: Real> ActiveSet<T> {
    /// A search over `groups` simplices, starting from the support `start` (point and weight), which must have a point
    /// of each group. None if it was stopped.
    pub(super) fn watched(
        points: &Points,
        groups: usize,
        directions: &[Vec<f64>],
        start: &[(usize, f64)],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let mut set = Self {
            dimension: points.dimension,
            groups,
            free: 0,
            q: Vec::new(),
            r: Vec::new(),
            members: Vec::new(),
            references: Vec::new(),
            w: Vec::new(),
            along: Vec::new(),
            age: None,
            scale: 0.0,
        };
        for direction in directions {
            if stop() {
                return None;
            }
            let column: Vec<T> = direction.iter().map(|&x| T::from_f64(x)).collect();
            if set.append(column) {
                set.free += 1;
            }
        }
        let start: Vec<(usize, T)> = start.iter().map(|&(i, weight)| (i, T::from_f64(weight))).collect();
        set.rebuild(points, &start);
        Some(set)
    }

    /// The same, never stopped.
    #[cfg(test)]
    pub(super) fn new(
        points: &Points,
        groups: usize,
        directions: &[Vec<f64>],
        start: &[(usize, f64)],
    ) -> Self {
        Self::watched(points, groups, directions, start, &mut || false).unwrap()
    }

    /// The support: points with their coefficients.
    pub(super) fn support(&self) -> Vec<(usize, T)> {
        self.references.iter().chain(&self.members).copied().collect()
    }

    /// ‖w‖, rounded.
    pub(super) fn distance(&self) -> f64 {
        T::dot(&self.w, &self.w).sqrt().to_f64()
    }

    /// Starts again from this support, leaving out points that depend on those before.
    fn rebuild(&mut self, points: &Points, support: &[(usize, T)]) {
        self.q.truncate(self.free);
        self.r.truncate(self.free);
        self.members.clear();
        self.references.clear();
        self.age = None;
        let zero = T::from_f64(0.0);
        for group in 0..self.groups {
            let heaviest = support.iter().filter(|&&(i, _)| points.group(i) == group).fold(
                None,
                |best: Option<(usize, T)>, &(i, weight)| match best {
                    Some((_, most)) if most >= weight => best,
                    _ => Some((i, weight)),
                },
            );
            if let Some(reference) = heaviest {
                self.references.push(reference);
            }
        }
        for &(i, weight) in support {
            if self.references.iter().any(|&(reference, _)| reference == i) || !is_positive(weight) {
                continue;
            }
            let column = self.column(points, i);
            if self.append(column) {
                self.members.push((i, weight));
            }
        }
        // What was left out must not be missing in the sums.
        for group in 0..self.groups {
            let inside = |&(i, _): &(usize, T)| points.group(i) == group;
            let total =
                self.references.iter().chain(&self.members).filter(|p| inside(p)).fold(zero, |s, p| s + p.1);
            for member in
                self.references.iter_mut().chain(&mut self.members).filter(|p| points.group(p.0) == group)
            {
                member.1 = member.1 / total;
            }
        }
    }

    /// z_i − z_ref of its group.
    fn column(&mut self, points: &Points, i: usize) -> Vec<T> {
        let reference = points.point(self.references[points.group(i)].0);
        points.point(i).iter().zip(reference).map(|(&z, &r)| T::from_f64(z) - T::from_f64(r)).collect()
    }

    /// Appends a column to D; false, and nothing done, if it lies in the span as far as this precision can tell.
    fn append(&mut self, mut column: Vec<T>) -> bool {
        let before = T::dot(&column, &column).sqrt().to_f64();
        let mut r: Vec<T> = vec![T::from_f64(0.0); self.q.len()];
        for _ in 0..2 {
            self.remove_parts(&mut column, &mut r);
        }
        let norm = T::dot(&column, &column).sqrt();
        let least = DEPENDENT * T::ROUNDOFF * before.max(self.scale * T::ROUNDOFF);
        // NaN counts as dependent.
        if norm.to_f64().is_nan() || norm.to_f64() <= least {
            return false;
        }
        column.iter_mut().for_each(|x| *x = *x / norm);
        r.push(norm);
        if let Some(age) = &mut self.age {
            *age += 1;
            let mut along = T::from_f64(0.0);
            for _ in 0..2 {
                let part = T::dot(&column, &self.w);
                T::add_scaled(&mut self.w, -part, &column);
                along = along + part;
            }
            self.along.push(along);
        }
        self.q.push(column);
        self.r.push(r);
        true
    }

    /// Takes from a vector its part in the span of Q, and adds the coefficients of that part. For a small Q one column after the
    /// other; for a large one all at once, which all cores can share: the sums are the same for any number of them.
    fn remove_parts(&self, vector: &mut [T], parts: &mut [T]) {
        if self.q.len() < LARGE {
            for (q, sum) in self.q.iter().zip(parts) {
                let part = T::dot(q, vector);
                T::add_scaled(vector, -part, q);
                *sum = *sum + part;
            }
            return;
        }
        let here = &*vector;
        let new: Vec<T> = self.q.par_iter().with_min_len(64).map(|q| T::dot(q, here)).collect();
        vector.par_chunks_mut(STRIP).enumerate().for_each(|(strip, vector)| {
            for (q, &part) in self.q.iter().zip(&new) {
                T::add_scaled(vector, -part, &q[strip * STRIP..][..vector.len()]);
            }
        });
        parts.iter_mut().zip(new).for_each(|(sum, part)| *sum = *sum + part);
    }

    /// Removes column `k` of D, bringing R back to triangular form by Givens rotations.
    fn remove(&mut self, k: usize) {
        self.r.remove(k);
        let last = self.r.len();
        for row in k..last {
            let (a, b) = (self.r[row][row], self.r[row][row + 1]);
            let length = (a * a + b * b).sqrt();
            let (cosine, sine) = (a / length, b / length);
            for column in &mut self.r[row..] {
                let (x, y) = (column[row], column[row + 1]);
                column[row] = cosine * x + sine * y;
                column[row + 1] = cosine * y - sine * x;
            }
            let (left, right) = self.q.split_at_mut(row + 1);
            for (x, y) in left[row].iter_mut().zip(right[0].iter_mut()) {
                (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
            }
            if self.age.is_some() {
                let (x, y) = (self.along[row], self.along[row + 1]);
                self.along[row] = cosine * x + sine * y;
                self.along[row + 1] = cosine * y - sine * x;
            }
        }
        for (k, column) in self.r.iter_mut().enumerate() {
            column.truncate(k + 1);
        }
        let gone = self.q.pop();
        if let (Some(age), Some(gone)) = (&mut self.age, gone) {
            *age += 1;
            if let Some(part) = self.along.pop() {
                T::add_scaled(&mut self.w, part, &gone);
            }
        }
    }

    /// The point of the affine hull nearest to the origin, in `w`, and its coefficients: members, then references. A large
    /// support computes it from scratch now and then only.
    fn affine(&mut self, points: &Points) -> (Vec<T>, Vec<T>) {
        if self.q.len() < LARGE || self.age.is_none_or(|age| age >= REFRESH) {
            self.compute(points);
        }
        self.coefficients(points)
    }

    /// w from scratch.
    fn compute(&mut self, points: &Points) {
        let mut w = vec![T::from_f64(0.0); self.dimension];
        for &(i, _) in &self.references {
            w.iter_mut().zip(points.point(i)).for_each(|(w, &z)| *w = *w + T::from_f64(z));
        }
        let mut along = vec![T::from_f64(0.0); self.q.len()];
        for _ in 0..3 {
            self.remove_parts(&mut w, &mut along);
        }
        (self.w, self.along, self.age) = (w, along, Some(0));
    }

    /// The coefficients of w: members, then references.
    fn coefficients(&self, points: &Points) -> (Vec<T>, Vec<T>) {
        // R μ = −along, from the last row up.
        let mut mu: Vec<T> = self.along.iter().map(|&x| -x).collect();
        for k in (0..mu.len()).rev() {
            let value = mu[k] / self.r[k][k];
            mu[k] = value;
            for (row, r) in self.r[k][..k].iter().enumerate() {
                mu[row] = mu[row] - value * *r;
            }
        }
        let members = mu.split_off(self.free);
        let one = T::from_f64(1.0);
        let references = (0..self.references.len())
            .map(|group| {
                self.members
                    .iter()
                    .zip(&members)
                    .filter(|((i, _), _)| points.group(*i) == group)
                    .fold(one, |rest, (_, &weight)| rest - weight)
            })
            .collect();
        (members, references)
    }

    /// Searches until no point is nearer. `patience` limits the steps; `stop` is asked now and then.
    pub(super) fn search(&mut self, points: &Points, patience: usize, stop: &mut dyn FnMut() -> bool) -> End {
        let zero = T::from_f64(0.0);
        self.scale = (0..points.len())
            .map(|i| crate::linalg::norm_squared(points.point(i)))
            .fold(0.0, f64::max)
            .sqrt();
        // Points that were furthest below in the last look at all of them: most steps need no other.
        let mut hot: Vec<usize> = Vec::new();
        let mut best = f64::INFINITY;
        let mut idle = 0;
        for step in 0..patience {
            if step % 32 == 31 && stop() {
                return End::Stopped;
            }
            let (members, references) = self.affine(points);
            let positive = members.iter().chain(&references).all(|&weight| weight > zero);
            if !positive {
                self.step_towards(points, &members, &references);
                continue;
            }
            self.members.iter_mut().zip(&members).for_each(|(member, &weight)| member.1 = weight);
            self.references.iter_mut().zip(&references).for_each(|(member, &weight)| member.1 = weight);
            let distance = self.distance();
            // An end is told of a w that was computed from scratch only.
            let is_fresh = self.q.len() < LARGE || self.age == Some(0);
            if !is_fresh && distance <= 64.0 * T::ROUNDOFF * self.scale * (self.q.len() as f64 + 1.0) {
                self.age = None;
                continue;
            }
            if distance <= 4.0 * T::ROUNDOFF * self.scale * (self.q.len() as f64 + 1.0).sqrt() {
                return End::Origin;
            }
            // The distance falls in exact arithmetic; where it does not any more, rounding leads.
            if distance < best * (1.0 - 4.0 * T::ROUNDOFF) {
                (best, idle) = (distance, 0);
            } else {
                idle += 1;
                if idle > 20 {
                    if is_fresh {
                        return End::Stalled;
                    }
                    self.age = None;
                }
            }
            let levels: Vec<T> =
                self.references.iter().map(|&(i, _)| T::dot_stored(&self.w, points.point(i))).collect();
            let noise = 8.0 * T::ROUNDOFF * distance * self.scale;
            let below = |set: &Self, i: usize| {
                (levels[points.group(i)] - T::dot_stored(&set.w, points.point(i))).to_f64()
            };
            let entering = self.most_violating(&mut hot, points, noise, &below);
            let Some(entering) = entering else {
                if is_fresh {
                    return End::Optimal;
                }
                self.age = None;
                continue;
            };
            let column = self.column(points, entering);
            if !self.append(column) {
                if is_fresh {
                    return End::Stalled;
                }
                self.age = None;
                continue;
            }
            self.members.push((entering, zero));
        }
        End::Stopped
    }

    /// The point furthest below the level of its group, by more than `noise`.
    fn most_violating(
        &self,
        hot: &mut Vec<usize>,
        points: &Points,
        noise: f64,
        below: &(dyn Fn(&Self, usize) -> f64 + Sync),
    ) -> Option<usize> {
        const HOT: usize = 64;
        let in_support =
            |i: usize| self.members.iter().chain(&self.references).any(|&(member, _)| member == i);
        let worst = hot
            .iter()
            .map(|&i| (i, below(self, i)))
            .filter(|&(i, depth)| depth > noise && !in_support(i))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((i, _)) = worst {
            return Some(i);
        }
        let all = (0..points.len()).into_par_iter().with_min_len(256);
        let mut violating: Vec<(usize, f64)> =
            all.map(|i| (i, below(self, i))).filter(|&(_, depth)| depth > noise).collect();
        violating.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        violating.truncate(HOT);
        violating.retain(|&(i, _)| !in_support(i));
        *hot = violating.iter().map(|&(i, _)| i).collect();
        hot.first().copied()
    }

    /// Goes from the present coefficients towards the affine minimiser until one vanishes, and drops that point.
    fn step_towards(&mut self, points: &Points, members: &[T], references: &[T]) {
        let zero = T::from_f64(0.0);
        let one = T::from_f64(1.0);
        let targets: Vec<T> = references.iter().chain(members).copied().collect();
        let mut support = self.support();
        let mut step = one;
        let mut first = None;
        for (k, (&(_, now), &target)) in support.iter().zip(&targets).enumerate() {
            if target <= zero {
                let reach = if now > zero { now / (now - target) } else { zero };
                // A target of exactly zero is reached at the end of the way, and is dropped there.
                if first.is_none() || reach < step {
                    (step, first) = (reach, Some(k));
                }
            }
        }
        for (member, &target) in support.iter_mut().zip(&targets) {
            member.1 = member.1 + step * (target - member.1);
        }
        // Without a target at or below zero some are no numbers: any point may go.
        let first = first.unwrap_or(0);
        support[first].1 = zero;
        if first < self.references.len() {
            self.rebuild(points, &support);
            return;
        }
        let references = self.references.len();
        self.references.copy_from_slice(&support[..references]);
        self.members.copy_from_slice(&support[references..]);
        // From the end, so that the places of the others stay; the references are dropped only by a rebuilding.
        for k in (0..self.members.len()).rev() {
            if !is_positive(self.members[k].1) {
                self.members.remove(k);
                self.remove(self.free + k);
            }
        }
    }
}

/// Whether a coefficient is above zero; NaN is not.
fn is_positive<T: Real>(weight: T) -> bool {
    weight > T::from_f64(0.0)
}

#[cfg(test)]
mod tests;

//! A linear program whose optimum names few conflicting rows, and changes little when a row is left out.
//!
//! For heights c, one for each row, it is min t over (w, t) with ⟨w, z_i⟩ + t ≥ c_i for the rows i of a set G. Its
//! dual is max Σ λ_i c_i over λ ≥ 0 with Σ λ_i z_i = 0 and Σ λ_i = 1. So it has an optimum if and only if the rows of G are not
//! separable, and the rows with λ > 0 at the optimum are a proof of that; otherwise t falls for ever along some w that
//! separates them. If the heights are generic, the optimum is at one vertex. Leaving out one of its rows lowers t
//! strictly, and rows that were left out before but lie above the new vertex can come back at no change: so the
//! optima of all sets G with few rows left out are few, and [`super::fewest`] can visit them one by one.
//!
//! All of this is floating-point arithmetic, and proposes only: circuits and boundaries are judged exactly by the caller.

use super::super::Examples;
use super::Meter;
use crate::linalg::dot_dense;
use crate::random::{Random, Stream};

/// A direction is flat, and a share of a row is zero, below this.
const FLAT: f64 = 1e-9;

/// The rows (z_i, 1), and their heights.
pub(super) struct Ceiling {
    width: usize,
    values: Vec<f64>,
    heights: Vec<f64>,
}

/// A point (w, t) that all rows of the set allow, and independent rows that are tight there.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    point: Vec<f64>,
    tight: Vec<u32>,
}

/// What a descent ended with.
pub(super) enum End {
    /// The optimum: rows with positive shares in a combination that vanishes, and t.
    Circuit(Vec<usize>, f64),
    /// t falls for ever along these weights.
    Separator(Vec<f64>),
    /// Rounding errors were in the way, or the time was over.
    Lost,
}

/// The state of descents, kept from one to the next so that nothing is allocated.
pub(super) struct Descender<'a> {
    ceiling: &'a Ceiling,
    /// ⟨w, z_i⟩ + t − c_i of all rows at the last vertex.
    pub(super) slacks: Vec<f64>,
    rates: Vec<f64>,
    /// An orthonormal basis of the tight rows, and the factor R of their QR decomposition, column by column.
    basis: Vec<f64>,
    factor: Vec<Vec<f64>>,
    /// Multiplications so far.
    pub(super) work: u64,
}

impl Ceiling {
    /// All rows, with random heights of this seed.
    pub(super) fn new(examples: &Examples<'_>, seed: u64) -> Self {
        let width = examples.dimension() + 1;
        let mut values = vec![0.0; examples.len() * width];
        let mut random = Random::of(seed, Stream::Blame);
        let mut heights = Vec::with_capacity(examples.len());
        for (i, row) in values.chunks_mut(width).enumerate() {
            examples.entries(i).for_each(|(column, value)| row[column] = value);
            row[width - 1] = 1.0;
            heights.push(1.0 + random.uniform());
        }
        Self { width, values, heights }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.heights.len()
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// Multiplications of one look at all rows.
    pub(super) fn size(&self) -> u64 {
        self.values.len() as u64
    }

    /// A point that these rows allow: w = 0 below the highest of them.
    pub(super) fn start(&self, allowed: &[bool]) -> Vertex {
        let highest = (0..self.len())
            .filter(|&i| allowed[i])
            .max_by(|&a, &b| self.heights[a].total_cmp(&self.heights[b]).then(b.cmp(&a)));
        let mut point = vec![0.0; self.width];
        point[self.width - 1] = highest.map_or(0.0, |i| self.heights[i]);
        Vertex { point, tight: highest.map(|i| i as u32).into_iter().collect() }
    }
}

impl Vertex {
    /// No longer held by this row.
    pub(super) fn release(&mut self, row: usize) {
        self.tight.retain(|&other| other as usize != row);
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        8 * self.point.len() + 4 * self.tight.len() + 64
    }
}

impl<'a> Descender<'a> {
    pub(super) fn new(ceiling: &'a Ceiling) -> Self {
        Self {
            ceiling,
            slacks: vec![0.0; ceiling.len()],
            rates: vec![0.0; ceiling.len()],
            basis: Vec::new(),
            factor: Vec::new(),
            work: 0,
        }
    }

    /// Lowers t from this vertex as far as the allowed rows let it.
    pub(super) fn descend(
        &mut self,
        vertex: &mut Vertex,
        allowed: &[bool],
        meter: &mut Meter<'_, '_>,
    ) -> End {
        let width = self.ceiling.width;
        let last = width - 1;
        for i in 0..self.ceiling.len() {
            self.slacks[i] = dot(self.ceiling.row(i), &vertex.point) - self.ceiling.heights[i];
        }
        self.work += self.ceiling.size() + 1000;
        self.factorise(vertex);
        for _ in 0..50 * width + 200 {
            // With many columns one descent takes many looks at all rows.
            if meter.is_out_of_time() {
                return End::Lost;
            }
            // The direction of steepest descent of t among those along which the tight rows stay tight.
            let mut direction = vec![0.0; width];
            direction[last] = -1.0;
            self.orthogonalise(&mut direction, None);
            let length = dot(&direction, &direction).sqrt();
            if length <= FLAT {
                let shares = self.shares(last);
                let least = (0..shares.len()).min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
                match least {
                    None => return End::Lost,
                    Some(place) if shares[place] < -FLAT => {
                        vertex.tight.remove(place);
                        self.factorise(vertex);
                        continue;
                    }
                    Some(_) => {}
                }
                let used = vertex.tight.iter().zip(&shares).filter(|(_, share)| **share > FLAT);
                return End::Circuit(used.map(|(&row, _)| row as usize).collect(), vertex.point[last]);
            }
            direction.iter_mut().for_each(|value| *value /= length);
            let mut hit: Option<(usize, f64)> = None;
            for (i, &is_allowed) in allowed.iter().enumerate() {
                let rate = dot(self.ceiling.row(i), &direction);
                self.rates[i] = rate;
                if rate < -1e-10 && is_allowed && !vertex.tight.contains(&(i as u32)) {
                    let step = self.slacks[i].max(0.0) / -rate;
                    if hit.is_none_or(|(_, least)| step < least) {
                        hit = Some((i, step));
                    }
                }
            }
            self.work += self.ceiling.size() + 1000;
            let Some((row, step)) = hit else {
                direction.truncate(last);
                return End::Separator(direction);
            };
            vertex.point.iter_mut().zip(&direction).for_each(|(x, p)| *x += step * p);
            self.slacks.iter_mut().zip(&self.rates).for_each(|(slack, rate)| *slack += step * rate);
            vertex.tight.push(row as u32);
            if !self.append(row) {
                return End::Lost;
            }
        }
        End::Lost
    }

    /// Makes the basis of the tight rows; rows that depend on others are no longer tight.
    fn factorise(&mut self, vertex: &mut Vertex) {
        self.basis.clear();
        self.factor.clear();
        let tight = std::mem::take(&mut vertex.tight);
        vertex.tight = tight.into_iter().filter(|&row| self.append(row as usize)).collect();
    }

    /// Adds a row to the basis, unless it depends on it.
    fn append(&mut self, row: usize) -> bool {
        let mut vector = self.ceiling.row(row).to_vec();
        let before = dot(&vector, &vector).sqrt();
        let mut column = vec![0.0; self.factor.len()];
        self.orthogonalise(&mut vector, Some(&mut column));
        let length = dot(&vector, &vector).sqrt();
        if length <= 1e-11 * before {
            return false;
        }
        column.push(length);
        self.factor.push(column);
        self.basis.extend(vector.iter().map(|value| value / length));
        true
    }

    /// Takes the parts along the basis away, twice, and notes them.
    fn orthogonalise(&mut self, vector: &mut [f64], mut parts: Option<&mut Vec<f64>>) {
        for _ in 0..2 {
            for (k, direction) in self.basis.chunks(self.ceiling.width).enumerate() {
                let part = dot(direction, vector);
                vector.iter_mut().zip(direction).for_each(|(value, q)| *value -= part * q);
                if let Some(parts) = parts.as_deref_mut() {
                    parts[k] += part;
                }
            }
        }
        self.work += 4 * self.basis.len() as u64;
    }

    /// The shares λ with Σ λ (z, 1) = (0, 1) over the tight rows: R λ = Qᵀ(0, 1).
    fn shares(&self, last: usize) -> Vec<f64> {
        let width = self.ceiling.width;
        let mut shares: Vec<f64> = self.basis.chunks(width).map(|direction| direction[last]).collect();
        for k in (0..shares.len()).rev() {
            shares[k] /= self.factor[k][k];
            let share = shares[k];
            for (other, entry) in shares[..k].iter_mut().zip(&self.factor[k]) {
                *other -= share * entry;
            }
        }
        shares
    }
}

/// ⟨a, b⟩, without a call where it is short.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() >= 16 {
        return dot_dense(a, b);
    }
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

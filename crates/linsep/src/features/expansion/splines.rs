//! Natural cubic splines of one column: features for a nonlinear effect.
//!
//! A natural cubic spline with knots κ_1 < … < κ_K is cubic between neighbouring knots, has two continuous derivatives, and is
//! linear beyond the outer knots. It is known by its values g at the knots, or by its second derivatives γ_2, …, γ_{K−1} at the
//! inner ones (those at the outer ones are 0) and a linear part. Its second derivative is linear between knots, so that
//!
//! ∫ f″² = γ′Rγ, with R_kk = (h_{k−1} + h_k)/3 and R_{k,k+1} = h_k/6, where h_k = κ_{k+1} − κ_k,
//!
//! and Rγ = Q′g with (Q′g)_k = (g_{k+1} − g_k)/h_k − (g_k − g_{k−1})/h_{k−1} (Green and Silverman).
//!
//! The features of a column are the basis of Demmler and Reinsch without its linear part: of all splines that are orthogonal to
//! constants and to x on the training rows, those φ_1, φ_2, … with ∫ φ_l″φ_m″ = 0 and Σ_i φ_l(x_i)φ_m(x_i) = 0 for l ≠ m, the
//! smoothest first. They come from the eigenvalues ν_1 ≥ ν_2 ≥ … of M u = ν R u, where M is the Gram matrix of the splines
//! with one second derivative equal to 1, made orthogonal to the linear ones. Each is scaled to the same ∫ φ_m″² = 1/ν_1, so that
//! its mean square on the training rows is ν_m/ν_1 ≤ 1 and
//!
//! Σ w_m² = ν_1 ∫ (Σ w_m φ_m)″²: a penalty on the squares of the weights is the usual penalty of smoothing splines.
//!
//! All this is in the standardised variable z = (x − mean)/deviation.

use super::eigen::eigen;

/// The most knots of a column.
pub(super) const MAX_KNOTS: usize = 10;

/// The most features that a column gets: the smoothest ones.
pub(super) const MAX_SPLINES: usize = 6;

/// The fewest knots of a spline that is not a line.
pub(super) const FEWEST_KNOTS: usize = 3;

/// Knots must be this share of their range apart: second derivatives of nearer ones drown in rounding.
const MIN_GAP: f64 = 1e-4;

/// A feature whose mean square is this small a share of that of the smoothest one says nothing beyond rounding.
const MIN_SHARE: f64 = 1e-9;

/// A number farther than this many deviations from the mean counts as if it were so far, so that no product overflows.
pub(crate) const FARTHEST: f64 = 1e9;

/// A number in deviations from the mean.
pub(super) fn standardised(x: f64, mean: f64, deviation: f64) -> f64 {
    let centred = x - mean;
    let z = if centred.is_finite() { centred / deviation } else { x / deviation - mean / deviation };
    // NaN, from infinities that cancel, cannot come from finite numbers and a deviation above 0 but by overflow of both.
    if z.is_nan() { 0.0 } else { z.clamp(-FARTHEST, FARTHEST) }
}

/// The splines of one column: natural cubic splines with the same knots.
#[derive(Clone, Debug, PartialEq)]
pub struct Splines {
    /// The feature that the splines are of.
    pub feature: usize,
    /// Its mean on the training rows.
    pub mean: f64,
    /// Its deviation on the training rows.
    pub deviation: f64,
    /// Its least and its greatest value on the training rows.
    pub range: [f64; 2],
    /// Knots, in deviations from the mean, increasing.
    knots: Vec<f64>,
    /// For each feature, its values at the knots.
    values: Vec<Vec<f64>>,
    /// For each feature, its second derivatives at the knots.
    second: Vec<Vec<f64>>,
}

impl Splines {
    /// Splines with these values at the knots. `None` unless there are at least three knots, finite and increasing, a value
    /// at each, and numbers that can be computed with.
    pub(super) fn new(
        feature: usize,
        (mean, deviation): (f64, f64),
        range: [f64; 2],
        knots: Vec<f64>,
        values: Vec<Vec<f64>>,
    ) -> Option<Self> {
        let increasing = knots.windows(2).all(|pair| pair[0] < pair[1]);
        let is_usable = |x: &f64| x.abs() <= FARTHEST;
        let sound = (FEWEST_KNOTS..=MAX_KNOTS).contains(&knots.len())
            && increasing
            && knots.iter().all(is_usable)
            && (1..=MAX_SPLINES).contains(&values.len())
            && values.iter().all(|values| values.len() == knots.len() && values.iter().all(is_usable))
            && mean.is_finite()
            && (deviation.is_finite() && deviation > 0.0)
            && range.iter().all(|x| x.is_finite());
        if !sound {
            return None;
        }
        let second: Vec<Vec<f64>> = values.iter().map(|values| second_derivatives(&knots, values)).collect();
        let finite = second.iter().flatten().all(|x| x.is_finite());
        finite.then_some(Self { feature, mean, deviation, range, knots, values, second })
    }

    /// Learns the splines of a feature from its values on the training rows, sorted. `None` if they do not vary enough.
    pub(super) fn learn(feature: usize, sorted: &[f64]) -> Option<Self> {
        let (mean, deviation) = moments(sorted)?;
        let range = [*sorted.first()?, *sorted.last()?];
        // The distinct values in deviations from the mean, each with its share of the rows.
        let rows = sorted.len() as f64;
        let distinct: Vec<(f64, f64)> = sorted
            .chunk_by(|a, b| a == b)
            .map(|same| (standardised(same[0], mean, deviation), same.len() as f64 / rows))
            .collect();
        let knots = thinned(choose_knots(&distinct));
        if knots.len() < FEWEST_KNOTS {
            return None;
        }
        let values = demmler_reinsch(&knots, &distinct);
        Self::new(feature, (mean, deviation), range, knots, values)
    }

    /// How many features there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The knots, in the units of the file.
    pub fn knots(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.knots.iter().map(|knot| self.mean + knot * self.deviation)
    }

    /// The knots in deviations from the mean.
    pub(crate) fn standard_knots(&self) -> &[f64] {
        &self.knots
    }

    /// The values of each feature at the knots.
    pub(crate) fn values(&self) -> &[Vec<f64>] {
        &self.values
    }

    /// The second derivatives of each feature at the knots.
    pub(crate) fn second_derivatives(&self) -> &[Vec<f64>] {
        &self.second
    }

    /// Hands the value of each feature at x to `each`, in order.
    pub fn at(&self, x: f64, each: impl FnMut(f64)) {
        self.at_standardised(standardised(x, self.mean, self.deviation), each);
    }

    /// The same in deviations from the mean.
    fn at_standardised(&self, z: f64, mut each: impl FnMut(f64)) {
        let piece = Piece::of(&self.knots, z);
        for (values, second) in self.values.iter().zip(&self.second) {
            each(piece.value(values, second));
        }
    }
}

/// Where a number lies among the knots: the value of any spline there is a sum of two values and two second derivatives.
struct Piece {
    /// The interval: this knot and the next.
    knot: usize,
    values: [f64; 2],
    second: [f64; 2],
}

impl Piece {
    fn of(knots: &[f64], z: f64) -> Self {
        let last = knots.len() - 1;
        let knot = knots.partition_point(|&knot| knot <= z).saturating_sub(1).min(last - 1);
        let h = knots[knot + 1] - knots[knot];
        let b = (z - knots[knot]) / h;
        let a = 1.0 - b;
        let second = if b < 0.0 {
            // The tangent at the first knot, whose second derivative is 0.
            [0.0, -b * h * h / 6.0]
        } else if a < 0.0 {
            [-a * h * h / 6.0, 0.0]
        } else {
            [(a * a * a - a) * h * h / 6.0, (b * b * b - b) * h * h / 6.0]
        };
        Self { knot, values: [a, b], second }
    }

    fn value(&self, values: &[f64], second: &[f64]) -> f64 {
        let k = self.knot;
        self.values[0] * values[k]
            + self.values[1] * values[k + 1]
            + (self.second[0] * second[k] + self.second[1] * second[k + 1])
    }
}

/// Mean and deviation of sorted numbers; `None` if they do not vary, or not measurably.
pub(super) fn moments(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len() as f64;
    let largest = sorted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if sorted.first() == sorted.last() || largest == 0.0 {
        return None;
    }
    let mean: f64 = sorted.iter().map(|x| x / n).sum();
    let squares: f64 = sorted.iter().map(|x| (x / largest - mean / largest).powi(2)).sum();
    let deviation = (squares / n).sqrt() * largest;
    (mean.is_finite() && deviation.is_finite() && deviation > f64::EPSILON * mean.abs())
        .then_some((mean, deviation))
}

/// At most [`MAX_KNOTS`] of the distinct values: all of them if they are few, otherwise the quantiles (k − ½)/K of the rows;
/// where several of these are one value, that many quantiles of the other values.
fn choose_knots(distinct: &[(f64, f64)]) -> Vec<f64> {
    if distinct.len() <= MAX_KNOTS {
        return distinct.iter().map(|&(z, _)| z).collect();
    }
    let mut knots: Vec<f64> = Vec::new();
    let mut below = 0.0;
    for &(z, share) in distinct {
        below += share;
        let wanted = |place: usize| (place as f64 + 0.5) / MAX_KNOTS as f64;
        if (0..MAX_KNOTS).any(|place| (below - share..below).contains(&wanted(place))) {
            knots.push(z);
        }
    }
    let missing = MAX_KNOTS.saturating_sub(knots.len());
    let others: Vec<f64> = distinct.iter().map(|&(z, _)| z).filter(|z| !knots.contains(z)).collect();
    knots.extend((0..missing).map(|place| others[(2 * place + 1) * others.len() / (2 * missing)]));
    knots.sort_unstable_by(f64::total_cmp);
    knots
}

/// The knots without those that are too near the one before, or the last.
fn thinned(knots: Vec<f64>) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else { return knots };
    let gap = MIN_GAP * (last - first);
    let mut kept = vec![first];
    for knot in knots {
        let before = kept[kept.len() - 1];
        if knot - before >= gap && last - knot >= gap {
            kept.push(knot);
        }
    }
    if last > first {
        kept.push(last);
    }
    kept
}

/// R, as its diagonal and what is beside it.
fn roughness(knots: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let h: Vec<f64> = knots.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let diagonal = h.windows(2).map(|pair| (pair[0] + pair[1]) / 3.0).collect();
    (diagonal, h[1..h.len() - 1].iter().map(|h| h / 6.0).collect())
}

/// L, as its diagonal and what is below it, with LL′ the tridiagonal matrix. R is positive definite, since its diagonal
/// outweighs the rest.
fn cholesky(diagonal: &[f64], beside: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut own, mut below): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (k, &entry) in diagonal.iter().enumerate() {
        let before = if k == 0 { 0.0 } else { below[k - 1] };
        own.push((entry - before * before).sqrt());
        if let Some(next) = beside.get(k) {
            below.push(next / own[k]);
        }
    }
    (own, below)
}

/// x with Lx = b.
fn solve_lower((own, below): (&[f64], &[f64]), b: &mut [f64]) {
    for k in 0..b.len() {
        let before = if k == 0 { 0.0 } else { below[k - 1] * b[k - 1] };
        b[k] = (b[k] - before) / own[k];
    }
}

/// x with L′x = b.
fn solve_upper((own, below): (&[f64], &[f64]), b: &mut [f64]) {
    for k in (0..b.len()).rev() {
        let after = if k + 1 == b.len() { 0.0 } else { below[k] * b[k + 1] };
        b[k] = (b[k] - after) / own[k];
    }
}

/// The second derivatives at the knots of the natural spline with these values: Rγ = Q′g.
fn second_derivatives(knots: &[f64], values: &[f64]) -> Vec<f64> {
    let slope = |k: usize| (values[k + 1] - values[k]) / (knots[k + 1] - knots[k]);
    let mut inner: Vec<f64> = (1..knots.len() - 1).map(|k| slope(k) - slope(k - 1)).collect();
    let (diagonal, beside) = roughness(knots);
    let (own, below) = cholesky(&diagonal, &beside);
    solve_lower((&own, &below), &mut inner);
    solve_upper((&own, &below), &mut inner);
    [&[0.0][..], &inner, &[0.0]].concat()
}

/// The values at the knots of the spline with these second derivatives that is 0 at the first two knots.
fn values_of(knots: &[f64], second: &[f64]) -> Vec<f64> {
    let h = |k: usize| knots[k + 1] - knots[k];
    let mut values = vec![0.0; knots.len()];
    for k in 1..knots.len() - 1 {
        // The slope left of knot k, at it: the same on its right.
        let correction =
            (second[k - 1] * h(k - 1) + 2.0 * second[k] * (h(k - 1) + h(k)) + second[k + 1] * h(k)) / 6.0;
        let slope = (values[k] - values[k - 1]) / h(k - 1) + correction;
        values[k + 1] = values[k] + slope * h(k);
    }
    values
}

/// The values at the knots of the features, the smoothest first. `distinct` are the values of the training rows with their
/// shares.
fn demmler_reinsch(knots: &[f64], distinct: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let inner = knots.len() - 2;
    // The splines with one second derivative equal to 1, at the knots and on the rows.
    let second: Vec<Vec<f64>> =
        (0..inner).map(|j| (0..knots.len()).map(|k| f64::from(u8::from(k == j + 1))).collect()).collect();
    let mut basis: Vec<Vec<f64>> = second.iter().map(|second| values_of(knots, second)).collect();
    let on_rows = |z: f64, basis: &[Vec<f64>], out: &mut Vec<f64>| {
        let piece = Piece::of(knots, z);
        out.clear();
        out.extend(basis.iter().zip(&second).map(|(values, second)| piece.value(values, second)));
    };
    let mut row = Vec::new();
    // Without the linear functions of the rows. Once more, for what rounding left of them.
    for _ in 0..2 {
        let centre: f64 = distinct.iter().map(|&(z, share)| z * share).sum();
        let spread: f64 = distinct.iter().map(|&(z, share)| (z - centre).powi(2) * share).sum();
        let (mut constant, mut linear) = (vec![0.0; inner], vec![0.0; inner]);
        for &(z, share) in distinct {
            on_rows(z, &basis, &mut row);
            for j in 0..inner {
                constant[j] += row[j] * share;
                linear[j] += row[j] * (z - centre) * share;
            }
        }
        for (j, values) in basis.iter_mut().enumerate() {
            for (value, knot) in values.iter_mut().zip(knots) {
                *value -= constant[j] + linear[j] / spread * (knot - centre);
            }
        }
    }
    let mut gram = vec![vec![0.0; inner]; inner];
    for &(z, share) in distinct {
        on_rows(z, &basis, &mut row);
        for i in 0..inner {
            for j in 0..inner {
                gram[i][j] += row[i] * row[j] * share;
            }
        }
    }
    // L⁻¹ M L⁻ᵀ, where R = LL′.
    let (diagonal, beside) = roughness(knots);
    let (own, below) = cholesky(&diagonal, &beside);
    let factor = (&own[..], &below[..]);
    gram.iter_mut().for_each(|row| solve_lower(factor, row));
    let mut half: Vec<Vec<f64>> = (0..inner).map(|j| gram.iter().map(|row| row[j]).collect()).collect();
    half.iter_mut().for_each(|row| solve_lower(factor, row));
    let symmetric =
        (0..inner).map(|i| (0..inner).map(|j| (half[i][j] + half[j][i]) / 2.0).collect()).collect();
    let found = eigen(symmetric);
    let largest = found.first().map_or(0.0, |(value, _)| *value);
    if largest.is_nan() || largest <= 0.0 {
        return Vec::new();
    }
    found
        .into_iter()
        .take(MAX_SPLINES)
        .filter(|(value, _)| *value >= MIN_SHARE * largest)
        .map(|(_, mut weights)| {
            solve_upper(factor, &mut weights);
            let at =
                |k: usize| basis.iter().zip(&weights).map(|(values, weight)| values[k] * weight).sum::<f64>();
            (0..knots.len()).map(|k| at(k) / largest.sqrt()).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests;

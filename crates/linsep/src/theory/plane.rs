//! The plane that rows of many features are drawn on.
//!
//! Its first axis is w/‖w‖ of a boundary ⟨w, x⟩ + c = 0, so that the first coordinate of a row is its signed distance to the
//! boundary, exactly. The second axis is the unit vector across w along which the rows differ most. The plane goes through
//! the mean of the rows; where another boundary is drawn on it, that is its intersection with this plane.

use crate::dataset::{Dataset, Row};
use crate::theta::Theta;

/// The most rows that the second axis is chosen by; of more, every so many-th.
const MAX_ROWS: usize = 10_000;
/// The most steps of the power iteration. Where two directions are nearly as strong, either shows as much.
const MAX_STEPS: usize = 200;

/// A plane through the mean of the rows, along the weights of a boundary and the main direction across.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// w/‖w‖
    along: Vec<f64>,
    /// A unit vector with ⟨along, across⟩ = 0; all zeros where the rows do not differ across w.
    across: Vec<f64>,
    /// c/‖w‖
    offset: f64,
    mean: Vec<f64>,
    /// The share of the variance of the rows across w that is along `across`.
    shown: f64,
}

impl Plane {
    /// The plane of a boundary; `None` where all weights are zero, or not finite.
    pub fn of(data: &Dataset, theta: &Theta) -> Option<Self> {
        let norm = dot(&theta.weights, &theta.weights).sqrt();
        if !(norm > 0.0 && norm.is_finite()) || data.is_empty() {
            return None;
        }
        let along: Vec<f64> = theta.weights.iter().map(|w| w / norm).collect();
        let every = data.len().div_ceil(MAX_ROWS);
        let rows: Vec<usize> = (0..data.len()).step_by(every).collect();
        let mut mean = vec![0.0; data.columns()];
        rows.iter().for_each(|&i| data.row(i).add_to(1.0 / rows.len() as f64, &mut mean));
        let (across, shown) = strongest(data, &rows, &mean, &along);
        Some(Self { along, across, offset: theta.intercept() / norm, mean, shown })
    }

    /// Where a row is: its signed distance to the boundary, and its place along the second axis.
    pub fn place(&self, row: Row<'_>) -> [f64; 2] {
        [row.dot(&self.along) + self.offset, row.dot(&self.across) - dot(&self.mean, &self.across)]
    }

    /// The line [a, b, c] of the points (x, y) with ax + by + c = 0 in which another boundary meets this plane. It has the
    /// scores of that boundary: on the plane, ax + by + c is the score.
    pub fn line(&self, theta: &Theta) -> [f64; 3] {
        let (a, b) = (dot(&theta.weights, &self.along), dot(&theta.weights, &self.across));
        let centre = dot(&self.mean, &self.along) + self.offset;
        [a, b, dot(&theta.weights, &self.mean) + theta.intercept() - a * centre]
    }

    /// The share of the variance of the rows across the boundary that the second axis shows.
    pub fn shown(&self) -> f64 {
        self.shown
    }
}

/// The unit vector across `along` with the largest variance of the rows, by power iteration, and its share of that variance.
fn strongest(data: &Dataset, rows: &[usize], mean: &[f64], along: &[f64]) -> (Vec<f64>, f64) {
    // Σ (x − m)(x − m)ᵀ v, without its part along w.
    let multiply = |v: &[f64]| {
        let (shift, mut product, mut total) = (dot(mean, v), vec![0.0; v.len()], 0.0);
        for &i in rows {
            let coordinate = data.row(i).dot(v) - shift;
            data.row(i).add_to(coordinate, &mut product);
            total += coordinate;
        }
        add(-total, mean, &mut product);
        let part = -dot(&product, along);
        add(part, along, &mut product);
        product
    };
    let squared = |i: usize| {
        let (row, m) = (data.row(i), mean);
        let own = row.norm_squared() - 2.0 * row.dot(m) + dot(m, m);
        (own - (row.dot(along) - dot(m, along)).powi(2)).max(0.0)
    };
    let total: f64 = rows.iter().map(|&i| squared(i)).sum();
    let farthest = rows.iter().copied().max_by(|&a, &b| squared(a).total_cmp(&squared(b)));
    let mut v = vec![0.0; mean.len()];
    if let Some(farthest) = farthest {
        data.row(farthest).add_to(1.0, &mut v);
        add(-1.0, mean, &mut v);
        let part = -dot(&v, along);
        add(part, along, &mut v);
    }
    let mut variance = 0.0;
    for _ in 0..MAX_STEPS {
        if !normalise(&mut v) || total <= 0.0 {
            return (vec![0.0; mean.len()], 1.0);
        }
        let next = multiply(&v);
        let reached = dot(&next, &v);
        let settled = reached <= variance * (1.0 + 1e-9);
        variance = reached;
        v = next;
        if settled {
            break;
        }
    }
    if !normalise(&mut v) {
        return (vec![0.0; mean.len()], 1.0);
    }
    // Rounding leaves a little along w where the rows differ much more along it.
    let part = -dot(&v, along);
    add(part, along, &mut v);
    // The sign is that of the largest entry, so that the picture does not depend on the start.
    let largest = v.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    if largest < 0.0 {
        v.iter_mut().for_each(|x| *x = -*x);
    }
    (v, (variance / total).clamp(0.0, 1.0))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::linalg::dot_dense(a, b)
}

fn add(scale: f64, a: &[f64], to: &mut [f64]) {
    crate::linalg::add_dense(scale, a, to);
}

/// Brings a vector to length 1; false if it has none, or none that can be told from rounding.
fn normalise(v: &mut [f64]) -> bool {
    let norm = dot(v, v).sqrt();
    if !(norm > 1e-150 && norm.is_finite()) {
        return false;
    }
    v.iter_mut().for_each(|x| *x /= norm);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first coordinate is the distance, lines have the scores of rows on the plane, and no direction of the plain
        /// search shows more than the second axis.
        #[test]
        fn coordinates_are_what_they_are_said_to_be(
            values in prop::collection::vec(-8i32..9, 12..60),
            weights in prop::collection::vec(-4i32..5, 3),
            other in prop::collection::vec(-4i32..5, 3),
            bias in -3i32..4,
        ) {
            let values: Vec<f64> = values[..values.len() / 3 * 3].iter().map(|&x| f64::from(x) / 3.0).collect();
            let labels: Vec<&str> = (0..values.len() / 3).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
            let data = Dataset::dense(3, &values, &labels).unwrap();
            let theta = |w: &[i32]| Theta {
                weights: w.iter().map(|&w| f64::from(w)).collect(), bias: f64::from(bias), bias_input: 0.5,
            };
            let (own, other) = (theta(&weights), theta(&other));
            let Some(plane) = Plane::of(&data, &own) else {
                prop_assert!(weights.iter().all(|&w| w == 0));
                return Ok(());
            };
            let norm = dot(&own.weights, &own.weights).sqrt();
            prop_assert!(dot(&plane.along, &plane.across).abs() < 1e-9);
            let line = plane.line(&own);
            prop_assert!((line[0] - norm).abs() < 1e-9 && line[1].abs() < 1e-9 && line[2].abs() < 1e-8, "{line:?}");
            for i in 0..data.len() {
                let [x, y] = plane.place(data.row(i));
                prop_assert!((x - own.score(data.row(i)) / norm).abs() < 1e-9);
                // The row moved into the plane has the score that the line gives there.
                let centre = dot(&plane.mean, &plane.along) + plane.offset;
                let mut moved = plane.mean.clone();
                add(x - centre, &plane.along, &mut moved);
                add(y, &plane.across, &mut moved);
                let [a, b, c] = plane.line(&other);
                prop_assert!((a * x + b * y + c - other.score(Row::DenseF64(&moved))).abs() < 1e-8);
            }
            // In three dimensions, the directions across w are a circle: none shows more than 1 % above the chosen one.
            let variance = |v: &[f64]| -> f64 {
                (0..data.len()).map(|i| (data.row(i).dot(v) - dot(&plane.mean, v)).powi(2)).sum()
            };
            let third = [
                plane.along[1] * plane.across[2] - plane.along[2] * plane.across[1],
                plane.along[2] * plane.across[0] - plane.along[0] * plane.across[2],
                plane.along[0] * plane.across[1] - plane.along[1] * plane.across[0],
            ];
            for step in 0..36 {
                let angle = f64::from(step) * std::f64::consts::PI / 36.0;
                let v: Vec<f64> =
                    plane.across.iter().zip(third).map(|(a, b)| angle.cos() * a + angle.sin() * b).collect();
                prop_assert!(variance(&v) <= variance(&plane.across) * 1.01 + 1e-9);
            }
        }
    }

    #[test]
    fn rows_without_a_spread_across_are_on_a_line() {
        let data = Dataset::dense(2, &[1.0, 1.0, 2.0, 2.0, 5.0, 5.0], &["a", "a", "b"]).unwrap();
        let theta = Theta { weights: vec![1.0, 1.0], bias: 0.0, bias_input: 0.0 };
        let plane = Plane::of(&data, &theta).unwrap();
        assert!((0..3).all(|i| plane.place(data.row(i))[1].abs() < 1e-12));
        assert!(Plane::of(&data, &Theta::zero(2, 1.0)).is_none());
    }
}

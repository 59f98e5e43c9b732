//! The plane in which rows are drawn.
//!
//! One or two features are their own plane. Of more, the plane is spanned by the weights w of the boundary and by the strongest
//! direction across it: the direction orthogonal to w in which the rows differ most. There the distance of every row from
//! that boundary is its true distance. Another boundary is drawn where it cuts the plane through the centre of the rows.

use super::Seen;
use linsep::Theta;
use linsep::features::RecipeBuffer;
use linsep::random::Random;

/// a·x + b·y + c = 0, with the positive side where the left side is positive.
pub(crate) type Line = [f64; 3];

/// Which plane it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaneKind {
    /// The columns themselves.
    Columns,
    /// The weights of a boundary, and the strongest direction across it.
    Theta,
    /// The difference between the means of the sides, and the strongest direction across it: for rows without a boundary.
    Means,
}

impl PlaneKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            PlaneKind::Columns => "columns",
            PlaneKind::Theta => "theta",
            PlaneKind::Means => "means",
        }
    }
}

/// A plane in the space of the features.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) kind: PlaneKind,
    /// Two directions of length 1, orthogonal to each other; empty where the columns are the plane.
    along: Vec<f64>,
    across: Vec<f64>,
    /// The centre of the rows, less its part in the plane.
    centre: Vec<f64>,
}

/// Rows that tell the strongest direction: a sample is enough for a picture.
const MOST_ROWS: usize = 2000;
const ITERATIONS: usize = 30;

impl Plane {
    /// The plane of one or two columns.
    pub(crate) fn columns() -> Self {
        Self { kind: PlaneKind::Columns, along: Vec::new(), across: Vec::new(), centre: Vec::new() }
    }

    /// The plane of a boundary with these weights; that of the means of the sides where they are zero.
    pub(crate) fn of(seen: &Seen<'_>, weights: Option<&[f64]>, signs: &[i8]) -> Self {
        if seen.features <= 2 {
            return Self::columns();
        }
        let mut buffer = RecipeBuffer::default();
        let step = seen.rows.len().div_ceil(MOST_ROWS).max(1);
        let sampled: Vec<usize> = (0..seen.rows.len()).step_by(step).collect();
        let mut centre = vec![0.0; seen.features];
        let mut difference = vec![0.0; seen.features];
        let ups = sampled.iter().filter(|&&i| signs[i] > 0).count().max(1) as f64;
        let downs = (sampled.len() as f64 - ups).max(1.0);
        for &i in &sampled {
            let row = seen.row(i, &mut buffer);
            row.add_to(1.0 / sampled.len() as f64, &mut centre);
            row.add_to(if signs[i] > 0 { 1.0 / ups } else { -1.0 / downs }, &mut difference);
        }
        let along = weights.map(<[f64]>::to_vec).and_then(normalised);
        let kind = if along.is_some() { PlaneKind::Theta } else { PlaneKind::Means };
        let along = along.or_else(|| normalised(difference)).unwrap_or_else(|| unit(seen.features));
        let across = strongest_across(seen, &sampled, &centre, &along);
        for direction in [&along, &across] {
            let part = dot(&centre, direction);
            add(&mut centre, -part, direction);
        }
        Self { kind, along, across, centre }
    }

    /// Where a row is in the plane.
    pub(crate) fn place(&self, row: linsep::Row<'_>) -> (f64, f64) {
        if self.kind == PlaneKind::Columns {
            let mut place = [0.0; 2];
            row.iter().take_while(|&(j, _)| j < 2).for_each(|(j, value)| place[j] = value);
            return place.into();
        }
        (row.dot(&self.along), row.dot(&self.across))
    }

    /// Where the boundary of θ cuts the plane.
    pub(crate) fn line(&self, theta: &Theta) -> Line {
        let weights = &theta.weights;
        if self.kind == PlaneKind::Columns {
            let weight = |j: usize| weights.get(j).copied().unwrap_or(0.0);
            return [weight(0), weight(1), theta.intercept()];
        }
        [
            dot(weights, &self.along),
            dot(weights, &self.across),
            dot(weights, &self.centre) + theta.intercept(),
        ]
    }
}

/// The direction orthogonal to `along` in which the rows differ most, by the power method.
fn strongest_across(seen: &Seen<'_>, sampled: &[usize], centre: &[f64], along: &[f64]) -> Vec<f64> {
    let mut random = Random::new(0);
    let mut direction: Vec<f64> = (0..seen.features).map(|_| random.normal()).collect();
    let mut buffer = RecipeBuffer::default();
    let project = |mut direction: Vec<f64>| {
        let part = dot(&direction, along);
        add(&mut direction, -part, along);
        normalised(direction)
    };
    direction = project(direction).unwrap_or_else(|| unit(seen.features));
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; seen.features];
        let mut shifts = 0.0;
        let offset = dot(centre, &direction);
        for &i in sampled {
            let row = seen.row(i, &mut buffer);
            let part = row.dot(&direction) - offset;
            row.add_to(part, &mut next);
            shifts += part;
        }
        add(&mut next, -shifts, centre);
        match project(next) {
            Some(next) => direction = next,
            // Rows that differ along the weights only.
            None => break,
        }
    }
    // A direction and its opposite are one; the largest entry decides, so that the picture does not flip.
    let largest =
        direction.iter().copied().fold(0.0f64, |most, x| if x.abs() > most.abs() { x } else { most });
    if largest < 0.0 {
        direction.iter_mut().for_each(|x| *x = -*x);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

fn unit(features: usize) -> Vec<f64> {
    (0..features).map(|j| f64::from(u8::from(j == 0))).collect()
}

/// The vector with length 1; none where it is too short to have a direction.
fn normalised(mut vector: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&vector, &vector).sqrt();
    if !(length.is_finite() && length > 1e-150) {
        return None;
    }
    vector.iter_mut().for_each(|x| *x /= length);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep::Dataset;

    /// Five columns: the boundary is along the first, the rows differ most along the third.
    fn rows() -> (Dataset, Vec<u32>, Vec<i8>) {
        let mut values = Vec::new();
        let mut labels = Vec::new();
        for i in 0..40 {
            let side = if i % 2 == 0 { 1.0 } else { -1.0 };
            let wide = f64::from(i) - 20.0;
            values.extend([side * 2.0, 0.1 * wide.sin(), 3.0 * wide, 0.2, 0.1 * wide.cos()]);
            labels.push(if side > 0.0 { "b" } else { "a" });
        }
        let signs = labels.iter().map(|&label| if label == "b" { 1 } else { -1 }).collect();
        (Dataset::dense(5, &values, &labels).unwrap(), (0..40).collect(), signs)
    }

    #[test]
    fn distances_from_the_boundary_of_the_plane_are_true() {
        let (data, numbers, signs) = rows();
        let seen = Seen::as_read(&data, &numbers);
        let theta = Theta { weights: vec![3.0, 0.5, 0.01, -1.0, 2.0], bias: 0.7, bias_input: 1.0 };
        let plane = Plane::of(&seen, Some(&theta.weights), &signs);
        assert_eq!(plane.kind, PlaneKind::Theta);
        let [a, b, c] = plane.line(&theta);
        let length = dot(&theta.weights, &theta.weights).sqrt();
        assert!(b.abs() < 1e-9 && (a - length).abs() < 1e-9, "{a} {b}");
        for i in 0..data.len() {
            let (x, y) = plane.place(data.row(i));
            assert!((a * x + b * y + c - theta.score(data.row(i))).abs() < 1e-9);
        }
        // Nearly all that is left of the third column is across.
        assert!(plane.across[2] > 0.9, "{:?}", plane.across);
    }

    #[test]
    fn rows_without_a_boundary_are_drawn_by_the_means_of_their_sides() {
        let (data, numbers, signs) = rows();
        let seen = Seen::as_read(&data, &numbers);
        for weights in [None, Some([0.0; 5].as_slice())] {
            let plane = Plane::of(&seen, weights, &signs);
            assert_eq!(plane.kind, PlaneKind::Means);
            assert!(plane.along[0] > 0.3 && dot(&plane.along, &plane.across).abs() < 1e-9);
        }
    }

    #[test]
    fn two_columns_are_their_own_plane() {
        let data = Dataset::dense(2, &[1.0, 2.0, 3.0, 4.0], &["a", "b"]).unwrap();
        let seen = Seen::as_read(&data, &[0, 1]);
        let plane = Plane::of(&seen, None, &[-1, 1]);
        assert_eq!(plane.place(data.row(1)), (3.0, 4.0));
        let theta = Theta { weights: vec![2.0, -1.0], bias: 3.0, bias_input: 2.0 };
        assert_eq!(plane.line(&theta), [2.0, -1.0, 6.0]);
    }
}

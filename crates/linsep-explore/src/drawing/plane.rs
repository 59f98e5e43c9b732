//! The plane in which rows are drawn.
//!
//! One or two features are their own plane. More are drawn in the [plane](linsep::theory::plane) of the weights of the
//! boundary and the main direction across it; where there is no boundary, the difference between the means of the sides
//! takes the place of the weights.

use super::Seen;
use linsep::features::RecipeBuffer;
use linsep::theory::plane::Plane as Across;
use linsep::{Dataset, Row, Theta};

/// a·x + b·y + c = 0, with the positive side where the left side is positive.
pub(crate) type Line = [f64; 3];

/// A plane in the space of the features.
#[derive(Clone, Debug)]
pub(crate) enum Plane {
    /// The columns themselves.
    Columns,
    /// The weights of a boundary, and the main direction across it.
    Theta(Across),
    /// The difference between the means of the sides, and the main direction across it.
    Means(Across),
}

/// Rows that tell the strongest direction: a sample is enough for a picture.
const MAX_ROWS: usize = 2000;

impl Plane {
    /// The plane of a boundary; that of the means of the sides where there is none.
    pub(crate) fn of(seen: &Seen<'_>, theta: Option<&Theta>, signs: &[i8]) -> Self {
        if seen.features <= 2 {
            return Plane::Columns;
        }
        let Some(sample) = sampled(seen) else { return Plane::Columns };
        if let Some(plane) = theta.and_then(|theta| Across::of(&sample, theta)) {
            return Plane::Theta(plane);
        }
        let mut difference = Theta::zero(seen.features, 0.0);
        let ups = signs.iter().filter(|&&sign| sign > 0).count().max(1) as f64;
        let downs = signs.iter().filter(|&&sign| sign < 0).count().max(1) as f64;
        let mut buffer = RecipeBuffer::default();
        for i in (0..seen.rows.len()).step_by(step(seen)) {
            difference.add(if signs[i] > 0 { 1.0 / ups } else { -1.0 / downs }, seen.row(i, &mut buffer));
        }
        let first = || {
            let mut first = Theta::zero(seen.features, 0.0);
            first.weights[0] = 1.0;
            first
        };
        let plane = Across::of(&sample, &difference).or_else(|| Across::of(&sample, &first()));
        plane.map_or(Plane::Columns, Plane::Means)
    }

    /// What the page calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Plane::Columns => "columns",
            Plane::Theta(_) => "theta",
            Plane::Means(_) => "means",
        }
    }

    /// Where a row is in the plane.
    pub(crate) fn place(&self, row: Row<'_>) -> (f64, f64) {
        match self {
            Plane::Columns => {
                let mut place = [0.0; 2];
                row.iter().take_while(|&(j, _)| j < 2).for_each(|(j, value)| place[j] = value);
                place.into()
            }
            Plane::Theta(plane) | Plane::Means(plane) => plane.place(row).into(),
        }
    }

    /// Where the boundary of θ cuts the plane.
    pub(crate) fn line(&self, theta: &Theta) -> Line {
        match self {
            Plane::Columns => {
                let weight = |j: usize| theta.weights.get(j).copied().unwrap_or(0.0);
                [weight(0), weight(1), theta.intercept()]
            }
            Plane::Theta(plane) | Plane::Means(plane) => plane.line(theta),
        }
    }
}

/// Every so many-th row is enough.
fn step(seen: &Seen<'_>) -> usize {
    seen.rows.len().div_ceil(MAX_ROWS).max(1)
}

/// A sample of the rows as the learner sees them.
fn sampled(seen: &Seen<'_>) -> Option<Dataset> {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut buffer = RecipeBuffer::default();
    for i in (0..seen.rows.len()).step_by(step(seen)) {
        for (column, value) in seen.row(i, &mut buffer).iter().filter(|&(_, value)| value != 0.0) {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(values.len());
    }
    let labels = vec!["row"; offsets.len() - 1];
    Dataset::sparse(seen.features, &offsets, &indices, &values, &labels).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let plane = Plane::of(&seen, Some(&theta), &signs);
        assert_eq!(plane.name(), "theta");
        let [a, b, c] = plane.line(&theta);
        for i in 0..data.len() {
            let (x, y) = plane.place(data.row(i));
            assert!((a * x + b * y + c - theta.score(data.row(i))).abs() < 1e-9);
        }
    }

    #[test]
    fn rows_without_a_boundary_are_drawn_by_the_means_of_their_sides() {
        let (data, numbers, signs) = rows();
        let seen = Seen::as_read(&data, &numbers);
        for theta in [None, Some(&Theta::zero(5, 1.0))] {
            let plane = Plane::of(&seen, theta, &signs);
            assert_eq!(plane.name(), "means");
            // The sides are apart along the first axis.
            let side = |sign: i8| {
                let places = (0..40).filter(|&i| signs[i] == sign).map(|i| plane.place(data.row(i)).0);
                places.sum::<f64>() / 20.0
            };
            assert!(side(1) > side(-1) + 1.0);
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

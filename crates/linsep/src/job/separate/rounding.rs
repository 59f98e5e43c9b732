//! Whether the separation of classes rests on the rounding of decimals to floats.

use super::Separated;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::separate::{ColumnDetail, SeparateSettings, Separation, Verdict, separate};

/// Rows are within 2⁻⁵³·R of the rows that were written, and so is the margin; with a factor of 4 for numbers that were computed before
/// they were written.
const ROUNDING: f64 = 4.0 * 0.5 * f64::EPSILON;
/// Numbers with at most so many binary places are not rounded, as far as one can tell.
const BINARY_PLACES: f64 = (1u64 << 20) as f64;
/// Agreements above this, relative to R, are no matter of rounding.
const TINY: f64 = 1e-12;
/// With more values than this the decimals are not looked at.
const MAX_VALUES: usize = 1 << 24;

impl Separated {
    /// Whether the separation of rows rests on the rounding of decimals to floats. Whole numbers and binary fractions such as 0.5
    /// are read as they are written.
    ///
    /// Completely separable: whether the margin is at most what rounding can do. Quasi-completely separable: whether the decimals, taken
    /// exactly, have another verdict, or separate other rows; that is decided anew, with whole numbers, and only if some row is hardly
    /// beside the boundary.
    pub(super) fn is_separable_by_rounding(
        &self,
        separation: &Separation,
        max_seconds: Option<f64>,
        observer: &mut dyn Observer,
    ) -> bool {
        let is_rounded = |(_, value): (usize, f64)| (value * BINARY_PLACES).fract() != 0.0;
        let are_rounded = || (0..self.data.len()).any(|i| self.data.row(i).iter().any(is_rounded));
        match separation.verdict {
            Verdict::Complete => {
                separation.margin.upper <= ROUNDING * separation.extent.radius_upper && are_rounded()
            }
            Verdict::QuasiComplete if separation.boundary_is_exact => {
                self.has_row_hardly_beside(separation)
                    && are_rounded()
                    && max_seconds.is_none_or(|seconds| seconds > 0.0)
                    && self.differs_as_written(separation, max_seconds, observer)
            }
            _ => false,
        }
    }

    /// Whether a row that is not on the boundary is nearer to it than floats can tell.
    fn has_row_hardly_beside(&self, separation: &Separation) -> bool {
        let Some(theta) = &separation.weights else { return false };
        let near = TINY * separation.extent.radius_upper;
        let is_beside = |i: &usize| separation.boundary.binary_search(i).is_err();
        let sides = separation.classes.signs_of(self.data.classes());
        let has_side = |i: &usize| sides[self.data.labels()[*i] as usize].is_some();
        let agreement = |i: usize| self.data.row(i).dot(&theta.weights) + theta.bias * theta.bias_input;
        (0..self.data.len()).filter(has_side).filter(is_beside).any(|i| agreement(i).abs() <= near)
    }

    fn differs_as_written(
        &self,
        separation: &Separation,
        max_seconds: Option<f64>,
        observer: &mut dyn Observer,
    ) -> bool {
        let Some(written) = in_whole_numbers(&self.data) else { return false };
        let settings = SeparateSettings {
            columns: ColumnDetail::None,
            max_seconds,
            ..self.settings.with_classes(&separation.classes)
        };
        let Ok(found) = separate(&written, &settings, observer) else { return false };
        match found.verdict {
            Verdict::Undecided => false,
            Verdict::QuasiComplete => found.boundary_is_exact && found.boundary != separation.boundary,
            Verdict::Complete | Verdict::Overlap => true,
        }
    }
}

/// The rows with each column multiplied by the power of ten that makes its decimals whole, exactly, which changes no verdict. A float stands
/// for the shortest decimal that is read as it: the one that was written, unless that had more than 15 digits. None if some
/// number would have more than that.
fn in_whole_numbers(data: &Dataset) -> Option<Dataset> {
    const MAX_DIGITS: usize = 15;
    let stored: usize = (0..data.len()).map(|i| data.row(i).stored()).sum();
    if stored > MAX_VALUES {
        return None;
    }
    let places = |text: &str| text.split_once('.').map_or(0, |(_, places)| places.len());
    let mut most = vec![0; data.columns()];
    for i in 0..data.len() {
        for (column, value) in data.row(i).iter() {
            most[column] = most[column].max(places(&value.to_string()));
        }
    }
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..data.len() {
        for (column, value) in data.row(i).iter().filter(|&(_, value)| value != 0.0) {
            let text = value.to_string();
            let zeros = "0".repeat(most[column] - places(&text));
            let digits = text.replace('.', "") + &zeros;
            if digits.trim_start_matches(['-', '0']).len() > MAX_DIGITS {
                return None;
            }
            indices.push(column as u32);
            values.push(digits.parse().ok()?);
        }
        offsets.push(values.len());
    }
    let labels: Vec<&str> =
        data.labels().iter().map(|&label| data.classes()[label as usize].as_str()).collect();
    Dataset::sparse(data.columns(), &offsets, &indices, &values, &labels).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_whole() {
        let data = Dataset::dense(2, &[0.1, -2.0, 12.35, 0.0, -0.07, 3e5], &["a", "b", "a"]).unwrap();
        let whole = in_whole_numbers(&data).unwrap();
        let rows: Vec<Vec<(usize, f64)>> = (0..3).map(|i| whole.row(i).iter().collect()).collect();
        assert_eq!(rows, [vec![(0, 10.0), (1, -2.0)], vec![(0, 1235.0)], vec![(0, -7.0), (1, 3e5)]]);
        assert_eq!(whole.classes(), data.classes());
        assert_eq!(whole.labels(), data.labels());
        let long = Dataset::dense(1, &[0.1 + 0.2, 1.0], &["a", "b"]).unwrap();
        assert!(in_whole_numbers(&long).is_none());
    }
}

//! The rows z_i = y_i x̃_i that the engine works on.

use super::accelerate;
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use linsep_check::{Bias, Sparse};

/// A data set with its sides and its bias: z_i = y_i [x_i; b], where b is the value of the appended coordinate.
#[derive(Clone, Debug)]
pub struct Examples<'a> {
    data: &'a Dataset,
    /// +1, −1, or 0 for rows that belong to neither side.
    signs: Vec<i8>,
    bias: Bias,
}

impl<'a> Examples<'a> {
    /// The rows of `data` with the sides that `classes` gives them.
    pub fn new(data: &'a Dataset, classes: &ClassPair, bias: Bias) -> Self {
        let signs: Vec<i8> =
            classes.signs_of(data.classes()).into_iter().map(Option::unwrap_or_default).collect();
        Self::with_signs(data, data.labels().iter().map(|&label| signs[label as usize]).collect(), bias)
    }

    /// The rows of `data` with these sides: +1, −1, or 0 for rows that are left out.
    pub fn with_signs(data: &'a Dataset, signs: Vec<i8>, bias: Bias) -> Self {
        Self { data, signs, bias }
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The side of each row.
    pub fn signs(&self) -> &[i8] {
        &self.signs
    }

    /// The bias.
    pub fn bias(&self) -> Bias {
        self.bias
    }

    /// The value of the appended coordinate, 0 for none.
    pub fn bias_input(&self) -> f64 {
        match self.bias {
            Bias::None => 0.0,
            Bias::Append(value) => value,
            Bias::Free => 1.0,
        }
    }

    /// Coordinates of z: the features, and one for the bias where there is one.
    pub fn dimension(&self) -> usize {
        self.data.columns() + usize::from(self.bias != Bias::None)
    }

    /// Rows in all, those of neither side included.
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// Positions of the rows that belong to a side.
    pub fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&i| self.signs[i] != 0)
    }

    /// The entries of z_i that are not zero, by coordinate.
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let sign = f64::from(self.signs[i]);
        let bias = (self.bias != Bias::None).then(|| (self.data.columns(), self.bias_input()));
        self.data
            .row(i)
            .iter()
            .filter(|&(_, value)| value != 0.0)
            .chain(bias)
            .map(move |(column, value)| (column, sign * value))
    }

    /// z_i with all its coordinates.
    pub fn dense(&self, i: usize) -> Vec<f64> {
        let mut z = vec![0.0; self.dimension()];
        self.entries(i).for_each(|(column, value)| z[column] = value);
        z
    }

    /// ⟨w, z_i⟩ in plain floating-point arithmetic.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let columns = self.data.columns();
        let linear = self.data.row(i).dot(&w[..columns]);
        let bias = if w.len() > columns { self.bias_input() * w[columns] } else { 0.0 };
        f64::from(self.signs[i]) * (linear + bias)
    }
}

impl linsep_check::Examples for Examples<'_> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn features(&self) -> usize {
        self.data.columns()
    }

    fn side(&self, i: usize) -> i8 {
        self.signs[i]
    }

    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(self.data.row(i).iter().filter(|&(_, value)| value != 0.0));
    }

    fn unsettled(&self, w: &Sparse, bias: Option<f64>, lower: f64, norm: usize) -> Vec<usize> {
        accelerate::unsettled(self, w, bias, lower, norm)
    }
}

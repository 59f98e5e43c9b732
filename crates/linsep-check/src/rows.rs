//! The data as the checker sees it, and the rows z that all proofs are about.

use crate::certificate::Bias;
use crate::numbers::Sparse;

/// The data. The first four methods are all that the checker needs; the last can make it faster, and is believed.
pub trait Examples {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of features, the bias not included.
    fn features(&self) -> usize;
    /// The side y of row `i`: 1 or −1, or 0 for a row that is left out.
    fn side(&self, i: usize) -> i8;
    /// Appends the values x of row `i` with their places, which increase and are below the number of features. Zeros may be
    /// left out.
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>);

    /// The rows of a side, in order, without some of those that are known to have a legal form and ⟨w, z⟩ > lower·‖w‖. The norm is over the
    /// first `norm` coordinates, and the bias has this value. Without a faster way nothing is known, and all rows of a side are given.
    fn unsettled(&self, w: &Sparse, bias: Option<f64>, lower: f64, norm: usize) -> Vec<usize> {
        let _ = (w, bias, lower, norm);
        (0..self.rows()).filter(|&i| self.side(i) != 0).collect()
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The row at fault, counted from 0, if it is one row.
    pub row: Option<usize>,
    /// The reason of the failure.
    pub reason: String,
}

/// An answer, unless the certificate is rejected.
pub type Checked<T = ()> = Result<T, Rejected>;

/// A rejection, because of one row or of no single row, unless the condition holds.
pub(crate) fn ensure(holds: bool, row: impl Into<Option<usize>>, reason: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(Rejected { row: row.into(), reason: reason.into() }) }
}

/// Whether numbers increase and are below `end`.
pub(crate) fn increase(mut numbers: impl Iterator<Item = usize> + Clone, end: usize) -> bool {
    numbers.clone().is_sorted_by(|a, b| a < b) && numbers.all(|number| number < end)
}

/// Asked every few steps; once it is true, the check ends.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// The rows z.
pub(crate) struct Data<'a> {
    pub(crate) examples: &'a dyn Examples,
    pub(crate) features: usize,
    /// The value of the coordinate that follows the features, if there is one.
    pub(crate) bias: Option<f64>,
    /// Number of coordinates, the bias included.
    pub(crate) width: usize,
    /// The norm of weights is over the first so many coordinates: the weight of a free bias does not count.
    pub(crate) norm: usize,
    /// The rows that belong to a side, in order.
    pub(crate) present: Vec<usize>,
    /// Whether the check is to end.
    stop: Stop<'a>,
}

impl<'a> Data<'a> {
    pub(crate) fn new(examples: &'a dyn Examples, bias: Bias, stop: Stop<'a>) -> Self {
        let (bias, counts) = match bias {
            Bias::None => (None, 0),
            Bias::Append(value) => (Some(value), 1),
            Bias::Free => (Some(1.0), 0),
        };
        let (features, all) = (examples.features(), 0..examples.rows());
        let (width, norm) = (features + usize::from(bias.is_some()), features + counts);
        let present = all.filter(|&i| examples.side(i) != 0).collect();
        Self { examples, features, bias, width, norm, present, stop }
    }

    /// An error once the check is to end.
    pub(crate) fn go_on(&self) -> Checked {
        ensure(!(self.stop)(), None, "it was interrupted")
    }

    /// The coordinates of z_i = y_i·x̃_i that are not zero, by increasing places. Every number that is computed with comes through here: the
    /// row belongs to a side, its places are in order, its values are finite.
    pub(crate) fn z(&self, i: usize) -> Checked<Vec<(usize, f64)>> {
        self.go_on()?;
        let (side, mut z) = (f64::from(self.examples.side(i).signum()), Vec::new());
        ensure(side != 0.0, i, "the combination uses a row that belongs to neither side")?;
        self.examples.values(i, &mut z);
        let ordered = increase(z.iter().map(|(place, _)| *place), self.features);
        ensure(ordered, i, "the row's columns do not increase or are out of range")?;
        let finite = z.iter().all(|(_, value)| value.is_finite());
        ensure(finite, i, "the row has a value that is not a finite number")?;
        z.extend(self.bias.map(|value| (self.features, value)));
        z.retain(|(_, value)| *value != 0.0);
        z.iter_mut().for_each(|(_, value)| *value *= side);
        Ok(z)
    }
}

//! The verdict on a data set and what comes with it.

use super::{Certificate, ColumnFindings};
use crate::Theta;
use crate::classes::ClassPair;
use crate::theory::margin::{Extent, MarginInterval};
use serde::{Deserialize, Serialize};

/// Whether a boundary can separate the rows. B is the set of rows with ⟨w, z⟩ = 0 for every w that has ⟨w, z⟩ ≥ 0 on
/// all rows: every boundary without a row on its wrong side goes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is empty: some boundary has every row strictly on its right side.
    Complete,
    /// B and its complement are not empty: some boundary has no row on its wrong side, but all that do touch B.
    QuasiComplete,
    /// All rows are in B: a boundary with no row on its wrong side goes through all of them.
    Overlap,
    /// A limit of time or memory was reached before a proof was found.
    Undecided,
}

/// A row with a number: its share in a witness, or its distance from the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RowShare {
    /// The row, counted from 0.
    pub row: usize,
    /// Its share or distance.
    pub value: f64,
}

/// The answer of [`separate()`](super::separate()), with its proof.
#[derive(Clone, Debug)]
pub struct Separation {
    /// The classes on each side.
    pub classes: ClassPair,
    /// The verdict. Unless undecided, the checker has accepted its certificate.
    pub verdict: Verdict,
    /// Whether it is proved that the rows are not completely separable. The verdict may be undecided nonetheless: quasi-complete or
    /// overlap. The rows of the [`witness`](Self::witness) prove it: their combination vanishes exactly.
    pub complete_is_ruled_out: bool,
    /// The certificate.
    pub certificate: Option<Certificate>,
    /// The proved interval of the best margin: for complete both ends; for quasi-complete it is 0; for overlap at most 0.
    pub margin: MarginInterval,
    /// Rows that belong to a side.
    pub rows: usize,
    /// The lengths of the rows z (for a free bias, of x alone).
    pub extent: Extent,
    /// The rank of the rows z, where it is known.
    pub rank: Option<usize>,
    /// Not complete: a few rows that cannot all be strictly on their right sides, with shares that sum to 1 in a
    /// combination of their z that vanishes. The largest share comes first.
    pub witness: Vec<RowShare>,
    /// Whether no row of the witness can be left out. Of many rows found together, some may be.
    pub witness_is_minimal: bool,
    /// Not complete: pairs of rows that contradict each other by themselves, one pair for each direction that occurs on
    /// both sides; with a bias, these are rows with the same features and different labels.
    pub contradictions: Vec<[usize; 2]>,
    /// Whether it is proved that the rows do not overlap: they are completely or quasi-completely separable. The verdict may be
    /// undecided nonetheless. The [`weights`](Self::weights) prove it: no row is on the wrong side, and those that are not in
    /// [`boundary`](Self::boundary) are on their right sides.
    pub overlap_is_ruled_out: bool,
    /// Quasi-complete: B, the rows that every boundary without a wrong side goes through. Where
    /// [`boundary_is_exact`](Self::boundary_is_exact) is false, the rows that the one boundary found goes through, among which B is.
    pub boundary: Vec<usize>,
    /// Quasi-complete: whether the boundary is B. If not, a limit was reached before that was settled.
    pub boundary_is_exact: bool,
    /// Complete, quasi-complete, and where overlap is ruled out: the separating weights, rounded to floats and to length 1.
    pub weights: Option<Theta>,
    /// Complete: the rows nearest to the boundary, nearest first, with their distances (at most 20).
    pub closest: Vec<RowShare>,
    /// Complete: the number of rows in the combination that proves the upper end of the margin.
    pub support: usize,
    /// Passes over the data.
    pub passes: u64,
    /// Whether a limit or the observer ended the search.
    pub out_of_time: bool,
    /// Undecided: the reason. Complete: why the gap was not reached, if it was not. Quasi-complete: why it is open which rows are on
    /// every boundary, if it is.
    pub stopped: Option<String>,
    /// Proved statements about the coefficients and sets of columns, where that was asked for and the checker has accepted it.
    pub columns: Option<ColumnFindings>,
    /// Why there are no such findings though they were asked for, or why some of them are not settled.
    pub columns_stopped: Option<String>,
}

//! The decision: accepted, or rejected and why.

use crate::Certificate;

/// One row as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Every value, as f32.
    DenseF32(&'a [f32]),
    /// Every value, as f64.
    DenseF64(&'a [f64]),
    /// Columns in increasing order, and their values as f32.
    SparseF32(&'a [u32], &'a [f32]),
    /// Columns in increasing order, and their values as f64.
    SparseF64(&'a [u32], &'a [f64]),
}

/// The side of the boundary on which a row should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// y = +1.
    Positive,
    /// y = −1.
    Negative,
    /// The row is not spoken of.
    Neither,
}

/// The data, as the checker sees it.
pub trait Examples: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of features, the bias not included.
    fn features(&self) -> usize;
    /// Row `i`, whose columns are all below the number of features.
    fn row(&self, i: usize) -> Row<'_>;
    /// The side of row `i`.
    fn side(&self, i: usize) -> Side;
}

/// What was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Rows that belong to a side.
    pub rows: usize,
    /// Rows with ⟨w, z⟩ = 0.
    pub boundary_rows: usize,
    /// Whether each of those has ⟨w, z⟩ = 0 for every w with ⟨w, z⟩ ≥ 0 throughout.
    pub boundary_is_exact: bool,
}

/// Why a certificate does not prove its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The row at fault, if it is one row.
    pub row: Option<usize>,
    /// What fails.
    pub reason: String,
}

/// Checks a certificate against the data, exactly. Nothing in the certificate is believed.
pub fn verify(_certificate: &Certificate, _examples: &impl Examples) -> Result<Accepted, Rejected> {
    todo!()
}

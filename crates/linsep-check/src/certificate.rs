//! What a certificate says, and its text.

use crate::Dyadic;

/// Whether the boundary may miss the origin, and which margin is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// It goes through the origin.
    None,
    /// A coordinate with this constant, positive value is appended to every row, and its weight counts in the norm.
    Append(f64),
    /// A coordinate with the value 1 is appended to every row; its weight does not count in the norm.
    Free,
}

/// A vector by its non-zero entries, with increasing places.
pub type Sparse = Vec<(usize, Dyadic)>;

/// What the certificate speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The fingerprint of the data. It serves messages: no check rests on it.
    pub fingerprint: String,
    /// Rows of the data, those that belong to neither side included.
    pub rows: usize,
    /// Features of the data, the bias not included.
    pub features: usize,
    /// The classes that count as +1.
    pub positive: Vec<String>,
    /// The classes that count as −1.
    pub negative: Vec<String>,
}

/// The best margin lies between two floats.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// It is at least this.
    pub lower: f64,
    /// It is at most this.
    pub upper: f64,
    /// The combination of rows λ ≥ 0 that proves the upper end; for a free bias it gives both sides the same weight.
    pub combination: Sparse,
}

/// The verdict with what proves it. Places in `weights` and `kernel` are features, and for the bias the number of
/// features; places in `combination` are rows, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// Some w has ⟨w, z⟩ > 0 for every row.
    Complete {
        /// w.
        weights: Sparse,
        /// What is proved of the margin.
        margin: Margin,
    },
    /// Some w has ⟨w, z⟩ ≥ 0 for every row and > 0 for some, but none has > 0 for all.
    QuasiComplete {
        /// w.
        weights: Sparse,
        /// λ ≥ 0, not zero, with Σ λ z = 0.
        combination: Sparse,
        /// Independent vectors, orthogonal to every row on the boundary, that show how much the rows of the combination span.
        kernel: Vec<Sparse>,
    },
    /// ⟨w, z⟩ ≥ 0 for every row only where it is 0 for every row.
    Overlap {
        /// λ ≥ 0 with Σ λ z = 0, whose rows span all rows.
        combination: Sparse,
        /// Independent vectors, orthogonal to every row, that show how much the rows of the combination span.
        kernel: Vec<Sparse>,
    },
}

/// A claim about a data set, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// What it speaks of.
    pub subject: Subject,
    /// With which bias.
    pub bias: Bias,
    /// The claim.
    pub claim: Claim,
}

/// Text that is no certificate: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte of the text, from 0.
    pub at: usize,
    /// What is wrong.
    pub reason: String,
}

impl Certificate {
    /// Reads the text of a certificate.
    pub fn parse(_text: &str) -> Result<Self, ParseError> {
        todo!()
    }

    /// The canonical text: the same certificate always gives the same bytes.
    pub fn to_json(&self) -> String {
        todo!()
    }
}

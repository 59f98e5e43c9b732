//! The contents of a certificate.

#![expect(missing_docs, reason = "each variant says what its fields are")]

use crate::numbers::Sparse;

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

/// The data that a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The fingerprint of the data. It is for messages: no check depends on it.
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
    /// Some w has ⟨w, z⟩ > 0 for every row: the weights. And what is proved of the margin.
    Complete { weights: Sparse, margin: Margin },
    /// Some w has ⟨w, z⟩ ≥ 0 for every row and > 0 for some: the weights. But none has > 0 for all: a combination λ > 0,
    /// not empty, with Σ λ z = 0. The kernel: independent vectors, orthogonal to every row on the boundary, that show how
    /// much the rows of the combination span.
    QuasiComplete { weights: Sparse, combination: Sparse, kernel: Vec<Sparse> },
    /// ⟨w, z⟩ ≥ 0 for every row only where it is 0 for every row: a combination λ > 0 with Σ λ z = 0, whose rows span all
    /// rows. The kernel: as above, orthogonal to every row.
    Overlap { combination: Sparse, kernel: Vec<Sparse> },
}

/// A claim about a data set, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The data that it is about.
    pub subject: Subject,
    /// With which bias.
    pub bias: Bias,
    /// The claim.
    pub claim: Claim,
    /// The claims about the columns.
    pub columns: Columns,
}

/// Claims about columns. Write K for all δ with ⟨δ, z⟩ ≥ 0 for every row. Places are features, and for the bias the number of
/// features. The default claims nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Vectors of K that are zero at each aliased place.
    pub members: Vec<Sparse>,
    /// The claim about the coefficient at each place, with increasing places; none for a place that is not listed.
    pub coefficients: Vec<(usize, Status)>,
    /// Sets of columns that, with the bias, separate the rows completely without the others.
    pub alone: Vec<ColumnSet>,
    /// Sets of columns that do not.
    pub not_alone: Vec<ColumnSet>,
    /// Every set of columns that separates completely has at least so many columns; 0 claims nothing.
    pub at_least: usize,
}

/// The claim about one coefficient δ_j over K, when the coefficients at aliased places are 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The column is a linear combination of others that are not aliased: it is set aside. The relation ℓ has ⟨ℓ, z⟩ = 0 for
    /// every row and ℓ_j ≠ 0; j is the only aliased place where ℓ is not zero.
    Aliased { relation: Sparse },
    /// δ_j = 0 throughout. The proof is the verdict's: its combination and its kernel.
    Finite,
    /// δ_j has one sign (plus, if `positive`) and is not 0 throughout: one of the members, by its number, has the sign at j, and a
    /// combination λ > 0 has Σ λ z = c·e_j at all places that are not aliased, where c has the sign.
    Infinite { positive: bool, member: usize, combination: Sparse },
    /// δ_j takes both signs: the numbers of a member with δ_j > 0, and of one with δ_j < 0.
    Open { positive: usize, negative: usize },
}

/// A set of columns, and the vector that proves what is claimed of it. That it separates: w with ⟨w, z⟩ > 0 for every row, zero at all
/// places but those of the set and of the bias. That it does not: λ > 0, not empty, with Σ λ z = 0 at these places.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSet {
    /// The features of the set, increasing.
    pub columns: Vec<usize>,
    /// The weights w by place, or the combination λ by row.
    pub proof: Sparse,
}

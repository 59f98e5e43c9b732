//! The trusted checker of linsep's certificates of separation.
//!
//! A certificate says of a data set whether a linear boundary can separate it, and proves it. This crate decides whether the
//! proof holds. It is kept small, has no dependencies and no unsafe code, uses floats only where their error is bounded,
//! and trusts nothing that a certificate says: to trust a verdict it is enough to trust the code of this crate.
//!
//! ```
//! use linsep_check::{Certificate, Examples, Row, Side, verify};
//!
//! struct Points(Vec<(Side, [f64; 2])>);
//! impl Examples for Points {
//!     fn rows(&self) -> usize { self.0.len() }
//!     fn features(&self) -> usize { 2 }
//!     fn row(&self, i: usize) -> Row<'_> { Row::DenseF64(&self.0[i].1) }
//!     fn side(&self, i: usize) -> Side { self.0[i].0 }
//! }
//!
//! let text = r#"{
//!   "format": "linsep certificate 1",
//!   "data": {"fingerprint": "", "rows": 2, "features": 2, "positive": ["yes"], "negative": ["no"]},
//!   "bias": "none",
//!   "verdict": "complete",
//!   "weights": [[0, "0x3p0"], [1, "0x1p2"]],
//!   "margin": {"kind": "through-origin", "lower": "0x5p0", "upper": "0x5p0", "combination": [[0, "0x1p0"]]}
//! }"#;
//! let certificate = Certificate::parse(text)?;
//! let points = Points(vec![(Side::Positive, [3.0, 4.0]), (Side::Negative, [-6.0, -8.0])]);
//! assert_eq!(verify(&certificate, &points)?.rows, 2);
//!
//! let others = Points(vec![(Side::Positive, [3.0, 4.0]), (Side::Negative, [6.0, 8.0])]);
//! assert_eq!(verify(&certificate, &others).unwrap_err().row, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is decided
//!
//! Row i has the values x_i and the side y_i = ±1; rows of neither side are left out of everything. With x̃ = x, or x and
//! one constant more for the bias (the appended value, or 1 for a free bias), let z_i = y_i·x̃_i. Weights w put row i on its
//! side if ⟨w, z_i⟩ > 0. Floats are rational numbers, so each statement below is either true or false, and all of them are
//! decided exactly. Exactly one of three verdicts is true of a data set with at least one row:
//!
//! * *complete*: some w has ⟨w, z_i⟩ > 0 for every row;
//! * *quasi-complete*: none has, but some w has ⟨w, z_i⟩ ≥ 0 for every row and > 0 for one at least;
//! * *overlap*: ⟨w, z_i⟩ ≥ 0 for every row only if ⟨w, z_i⟩ = 0 for every row.
//!
//! Where all rows belong to the same side, a true claim says nothing about telling two sides apart: with a bias, such rows are
//! always completely separable. [`verify`] refuses it; [`verify_on`] accepts it where [`Terms::allow_one_sided`] says so.
//!
//! # Why each check is enough
//!
//! **Complete.** The certificate holds w, and ⟨w, z_i⟩ > 0 is checked for every row. That is the statement itself.
//!
//! **The margin** is the largest value of min_i ⟨w, z_i⟩/‖w‖; the weight of a free bias does not count in ‖w‖, and that of
//! an appended one does. *Lower end:* ⟨w, z_i⟩ ≥ lower·‖w‖ is checked for every row, so this w reaches it. (If lower > 0 the
//! norm must not be 0. Of the rows that floats leave open, the one with the least ⟨w, z_i⟩ is found by exact comparison,
//! and its square is compared with lower²·‖w‖²: both sides are positive, so squares decide.) *Upper end:* the certificate
//! holds λ ≥ 0, not all zero. Let g = Σ λ_i z_i. For each w with ‖w‖ = 1 the least ⟨w, z_i⟩ is at most their mean with
//! weights λ, which is ⟨w, g⟩/Σλ ≤ ‖g‖/Σλ. So ‖g‖² ≤ upper²·(Σλ)² is checked. For a free bias Σ λ_i y_i = 0 is checked
//! too: then the bias drops out of ⟨w, g⟩, and the norm of g over the features is enough. The upper end `f64::MAX`
//! without a combination claims nothing: the format has no infinity.
//!
//! **Quasi-complete.** ⟨w, z_i⟩ ≥ 0 is checked for every row, and > 0 for one. The certificate also holds λ ≥ 0, not
//! all zero, with Σ λ_i z_i = 0, checked in every coordinate. If some v had ⟨v, z_i⟩ > 0 for every row, then
//! 0 = ⟨v, Σ λ_i z_i⟩ = Σ λ_i ⟨v, z_i⟩ > 0: so none has.
//!
//! **Forced rows.** Let v be any weights with ⟨v, z_i⟩ ≥ 0 for every row. From the same equation, as a sum of terms ≥ 0
//! that is 0: ⟨v, z_i⟩ = 0 for every row S of the combination (those with λ_i > 0), hence for every row in the span of
//! these. A boundary row (one with ⟨w, z_i⟩ = 0) that is cited in the combination or lies in this span is 0 for *all* such v.
//! If this is shown for each boundary row, [`Accepted::boundary_is_exact`] is true. The rows of S themselves are on the boundary:
//! take v = w.
//!
//! **Overlap.** The same with w = 0, for which every row is on the boundary: each row must be shown to be forced.
//!
//! **The rank argument** shows that all boundary rows lie in the span of S. Let U be the coordinates in which some boundary row
//! is not 0. The certificate holds k kernel vectors. It is checked that each is orthogonal to each boundary row, exactly;
//! that they are independent when only U is looked at; and that the rows of S have the rank |U| − k. Then: the vectors in
//! R^U that are orthogonal to the kernel form a space of the dimension |U| − k, which holds all boundary rows. The rows of
//! S are among these and span a space of that dimension within it, so they span all of it. (k = 0 is a case of this.)
//!
//! **Ranks** are computed modulo the prime 2^61 − 31. Numbers m·2^e have an image there, since 2 has an inverse, and a minor that is
//! not 0 modulo the prime is not 0. So the true rank is at least the one computed, for the kernel and for S. Neither can be too
//! large: orthogonality, which is checked exactly, keeps the true ranks from adding up to more than |U|. With bad luck the
//! prime divides what it should not, and a true certificate is rejected; a false one is never accepted.
//!
//! # How signs are computed
//!
//! w is scaled by a power of two, which changes no sign, and rounded to floats. A product with a row is then computed in floats together
//! with Σ|w_j x_j|, which bounds its error; this settles nearly all rows at the speed of memory. Values that are NaN or infinite,
//! on the way or in the data, fail the comparison and so settle nothing. What is open is summed exactly, in a fixed-point number that is
//! long enough for all terms. If entries of w differ by more than a factor of 2^900, all rows are summed exactly. Rows
//! are shared among threads; neither the answer nor the row named in a rejection depends on how many there are.
//!
//! # What a hostile certificate can cost
//!
//! Reading takes time in proportion to the text, without recursion. A number has at most 2^20 bits and an exponent of at most
//! 1,000,000 either way, so that an exact sum fits in 800 kB, and a term costs time in proportion to its text. Long numbers are
//! multiplied only for the margin, and only if they have at most 2^18 bits (some 10 milliseconds each, once for a weight, once for
//! a coordinate of the combination). Coordinates are combined in blocks that fit in 64 MB plus one sum. The rank argument is
//! made if |U|² ≤ 2^28, in at most 2 GB for S and as much for the kernel. Nothing panics.

#![forbid(unsafe_code)]

mod certificate;
mod columns;
mod dyadic;
mod exact;
mod json;
mod rank;
mod rows;
mod verify;

pub use certificate::{
    Alone, Bias, Certificate, Claim, Columns, Margin, NotAlone, ParseError, Sparse, Status, Subject,
};
pub use dyadic::Dyadic;
pub use rows::{Examples, Row, Side};
pub use verify::{Accepted, Refusal, Rejected, Terms, verify, verify_on};

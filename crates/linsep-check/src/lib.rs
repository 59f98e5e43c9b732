//! The trusted checker of linsep's certificates of separation.
//!
//! A certificate says of a data set whether a linear boundary can separate it, and what its columns have to do with that; and it
//! proves what it says. This crate decides whether the proof holds. It has no dependencies and no unsafe code, and trusts nothing that a
//! certificate says. The program `linsep-check CERTIFICATE DATA` is this crate alone: to trust its answer, it is enough
//! to read these files. `docs/certificate.md` has the format and all rules; this page tells the proof in the order of the code.
//!
//! | file | what it does |
//! |---|---|
//! | `certificate.rs`, `text.rs` | what a certificate says, and how its text is read |
//! | `numbers.rs` | exact numbers; a sum of products that never rounds |
//! | `rows.rs` | the rows z, and the one way to go through them |
//! | `rank.rs` | ranks modulo a prime |
//! | `verify.rs` | the verdict |
//! | `columns.rs` | the claims about columns |
//! | `table.rs`, `main.rs` | the program: reading a table, saying the answer |
//!
//! ```
//! use linsep_check::{Certificate, Examples, verify};
//!
//! struct Points(Vec<(i8, [f64; 2])>);
//! impl Examples for Points {
//!     fn rows(&self) -> usize { self.0.len() }
//!     fn features(&self) -> usize { 2 }
//!     fn side(&self, i: usize) -> i8 { self.0[i].0 }
//!     fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) { values.extend(self.0[i].1.into_iter().enumerate()) }
//! }
//!
//! let text = "linsep certificate 2\nfingerprint \"\"\nrows 2\nfeatures 2\npositive \"yes\"\nnegative \"no\"\nbias none\n\
//!             verdict complete\nweights 0:0x3p0 1:0x1p2\nlower 0x5p0\nupper 0x5p0\ncombination 0:0x1p0\nat-least 0\nend\n";
//! let certificate = Certificate::parse(text).unwrap();
//! let points = Points(vec![(1, [3.0, 4.0]), (-1, [-6.0, -8.0])]);
//! assert_eq!(verify(&certificate, &points).unwrap().rows, 2);
//!
//! let others = Points(vec![(1, [3.0, 4.0]), (-1, [6.0, 8.0])]);
//! assert_eq!(verify(&certificate, &others).unwrap_err().row, Some(1));
//! ```
//!
//! # Numbers (`numbers.rs`)
//!
//! Every number of the proof is m·2^e with whole m and e, a [`Dyadic`]; so is every finite float. All arithmetic is one operation:
//! adding a product of two such numbers to a fixed-point number that is long enough for all terms. Nothing is rounded, so each
//! statement below is either true or false, and is decided.
//!
//! # Rows (`rows.rs`)
//!
//! Row i has the values x_i and the side y_i = ±1; rows of neither side are left out of everything. With x̃ = x, or x and
//! one constant more for the bias (the appended value, or 1 for a free bias), let z_i = y_i·x̃_i. Weights w put row i on its
//! side if ⟨w, z_i⟩ > 0. A coordinate is called a place: features from 0, then the bias. K is the set of all δ with ⟨δ, z_i⟩ ≥ 0 for every row.
//!
//! # The verdict (`verify.rs`)
//!
//! Exactly one of three verdicts is true of a data set with at least one row:
//!
//! * *complete*: some w has ⟨w, z_i⟩ > 0 for every row;
//! * *quasi-complete*: none has, but some w has ⟨w, z_i⟩ ≥ 0 for every row and > 0 for one at least;
//! * *overlap*: ⟨w, z_i⟩ ≥ 0 for every row only if ⟨w, z_i⟩ = 0 for every row.
//!
//! Where all rows belong to the same side, a true claim says nothing about telling two sides apart: with a bias, such rows are
//! always completely separable. [`verify`] refuses it; [`check`] leaves it to the caller ([`Accepted::one_sided`]).
//!
//! **Combinations** (`combine`). A combination is λ > 0 for some rows, and what it proves depends on the vector Σ λ_i z_i.
//!
//! **Complete** (`complete`). The certificate holds w, and ⟨w, z_i⟩ > 0 is checked for every row. That is the statement itself.
//!
//! **The margin** is the largest value of min_i ⟨w, z_i⟩/‖w‖; the weight of a free bias does not count in ‖w‖, and that of
//! an appended one does. *Lower end* (`lower_end`): ⟨w, z_i⟩ ≥ lower·‖w‖ is checked for the row with the least ⟨w, z_i⟩, so this w reaches it. Both
//! sides are positive, so their squares are compared. (If lower > 0 the norm must not be 0.) *Upper end* (`upper_end`): let g = Σ λ_i z_i. For each w with
//! ‖w‖ = 1 the least ⟨w, z_i⟩ is at most their mean with weights λ, which is ⟨w, g⟩/Σλ ≤ ‖g‖/Σλ. So ‖g‖² ≤ (upper·Σλ)² is checked. For
//! a free bias Σ λ_i y_i = 0 is checked too: then the bias drops out of ⟨w, g⟩, and the norm of g over the features is enough. The
//! upper end `f64::MAX` without a combination claims nothing: the format has no infinity.
//!
//! **Quasi-complete.** ⟨w, z_i⟩ ≥ 0 is checked for every row, and > 0 for one. The certificate also holds λ > 0 for at least one row, with
//! Σ λ_i z_i = 0, checked in every coordinate. If some v had ⟨v, z_i⟩ > 0 for every row, then
//! 0 = ⟨v, Σ λ_i z_i⟩ = Σ λ_i ⟨v, z_i⟩ > 0: so none has.
//!
//! **Forced rows** (`verdict`). Let δ be in K. From the same equation, as a sum of terms ≥ 0 that is 0: ⟨δ, z_i⟩ = 0 for every row of
//! the combination; call these rows S. So it is 0 for every row in the span of S, too. A row with ⟨δ, z_i⟩ = 0 for *all* δ of K is forced. The
//! boundary rows, those with ⟨w, z_i⟩ = 0, contain S (take δ = w). If each of them is cited in S or lies in its span, all are forced, and
//! [`Accepted::boundary_is_exact`] is true.
//!
//! **Overlap.** The same with w = 0, for which every row is on the boundary: each row must be shown to be forced.
//!
//! **The rank argument** (`spanned`) shows that all boundary rows lie in the span of S. Let U be the places at which some boundary row
//! is not 0. The certificate holds k kernel vectors. It is checked that each is orthogonal to each boundary row, exactly;
//! that they are independent when only U is looked at; and that the rows S have the rank |U| − k. Then: the vectors in
//! R^U that are orthogonal to the kernel form a space of the dimension |U| − k, which holds all boundary rows. The rows S are among
//! these and span a space of that dimension within it, so they span all of it. (k = 0 is a case of this.)
//!
//! **Ranks** (`rank.rs`) are computed modulo the prime 2^61 − 31. Numbers m·2^e have an image there, since 2 has an inverse, and a minor that is
//! not 0 modulo the prime is not 0. So the true rank is at least the one computed, for the kernel and for S. Neither can be too
//! large: orthogonality, which is checked exactly, keeps the true ranks from adding up to more than |U|. With bad luck the
//! prime divides what it should not, and a true certificate is rejected; a false one is never accepted.
//!
//! # Columns (`columns.rs`)
//!
//! A logistic regression can move its coefficients along K without end, so the coefficient at place j is finite if δ_j = 0 throughout K. Columns that
//! depend on others can be *aliased*: they are set aside, and below δ stands for vectors of K that are 0 at the aliased places.
//!
//! **Aliased.** A relation ℓ has ⟨ℓ, z_i⟩ = 0 for every row and ℓ_j ≠ 0, and j is the only aliased place where it is not 0: so the column is a
//! combination of columns that are kept.
//!
//! **Members** are such δ: it is checked that ⟨δ, z_i⟩ ≥ 0 for every row, and that they are 0 at aliased places.
//!
//! **Infinite.** Σ λ_i z_i = c·e_j at all places that are not aliased. So c·δ_j = ⟨δ, Σ λ_i z_i⟩ = Σ λ_i ⟨δ, z_i⟩ ≥ 0: δ_j is 0 or has the sign of c. A member shows
//! that it is not always 0. **Open:** two members have different signs at j.
//!
//! **Finite.** The rank argument holds for the verdict, so the kernel spans everything in R^U that is orthogonal to the boundary rows, and δ, which is 0
//! on these, is Σ c_κ κ on U. A vector κ of the kernel must either be the relation of an aliased place a of U, or be 0 at all aliased places of U. At such an a,
//! δ_a = 0, and of all κ only the relation of a is not 0: so its c_κ is 0. If every other κ is 0 at j, and j is in U, then δ_j = 0.
//!
//! **Sets of columns.** A set separates alone if some w that is 0 outside the set and the bias has ⟨w, z_i⟩ > 0 for every row. It does not if
//! Σ λ_i z_i = 0 at its places and the bias, for some λ > 0 that is not empty: then ⟨w, Σ λ_i z_i⟩ = 0 for each such w. A subset of a set that does not
//! separate does not either, so if all sets of n − 1 columns (and fewer) lie in such sets, at least n columns are needed.
//!
//! # What a hostile certificate can cost
//!
//! Reading takes time in proportion to the text, without recursion. A number has at most 2^20 bits and an exponent of at most
//! 1,000,000 either way, so that an exact sum fits in 800 kB, and a term costs time in proportion to its text. Long numbers are
//! multiplied only for the margin, and only if they have at most 2^18 bits (some 10 milliseconds each, once for a weight, once for
//! a coordinate of the combination). A combination takes 24 bytes for each value of the rows that it cites, and its numbers at most 512 MB in
//! all. The rank argument is made if |U|² ≤ 2^28, in at most 2 GB for S and as much for the kernel. Nothing panics.
//!
//! # What can make it faster
//!
//! On its own, the checker computes each ⟨w, z_i⟩ exactly, one row after the other. [`Examples::unsettled`] lets the owner of the rows settle
//! clear cases by floats, with a rigorous bound and on all cores. linsep does so (`separate/accelerate.rs`), and its tests compare both
//! ways; the program `linsep-check` does not.

#![forbid(unsafe_code)]

mod certificate;
mod columns;
mod numbers;
mod rank;
mod rows;
mod text;
mod verify;

pub use certificate::{Bias, Certificate, Claim, ColumnSet, Columns, Margin, Status, Subject};
pub use numbers::{Dyadic, Sparse};
pub use rows::{Checked, Examples, Rejected, Stop};
pub use verify::{Accepted, check, verify};

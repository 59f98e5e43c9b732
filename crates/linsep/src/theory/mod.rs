//! The statements that are proved about a run, computed on its own data. One file per statement; `docs/theory.md` lists
//! them.
//!
//! Notation: examples (x_t, y_t) with y_t = ±1, x̃ = x or [x; s] with an appended bias, z_t = y_t x̃_t, and the
//! agreement a_t(θ) = ⟨θ, z_t⟩. γ* = max over ‖θ‖ = 1 of min_t ⟨θ, z_t⟩ is the best margin of the data.
//! Every bound is rounded outwards: it is true of the stored numbers, not only up to rounding.

#[cfg(test)]
mod adversary;
pub mod binomial;
pub mod comparator;
pub mod compression;
pub mod cover;
pub mod difficulty;
pub mod geometry;
pub mod lifting;
pub mod margin;
mod mistake_ledger;
pub mod mixing;
pub mod novikoff;
pub mod one_example;
pub mod orders;
pub mod plane;
mod rounding;
pub mod teaching;
pub mod trace;

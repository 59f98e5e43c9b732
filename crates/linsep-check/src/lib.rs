//! The trusted checker of linsep's certificates of separation.

#![forbid(unsafe_code)]

mod certificate;
mod dyadic;
mod exact;
mod json;
mod rank;
mod rows;
mod verify;

pub use certificate::{Bias, Certificate, Claim, Margin, ParseError, Sparse, Subject};
pub use dyadic::Dyadic;
pub use rows::{Examples, Row, Side};
pub use verify::{Accepted, Rejected, verify};

//! The trusted checker of linsep's certificates of separation.

#![forbid(unsafe_code)]

mod certificate;
mod dyadic;
mod verify;

pub use certificate::{Bias, Certificate, Claim, Margin, ParseError, Sparse, Subject};
pub use dyadic::Dyadic;
pub use verify::{Accepted, Examples, Rejected, Row, Side, verify};

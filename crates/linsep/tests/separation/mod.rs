//! The promise: what is said about separation is never wrong, and every verdict comes with a proof.

mod check;
mod claims;
mod columns;
mod instances;
mod laws;
mod margins;
mod never_wrong;
mod oracle;

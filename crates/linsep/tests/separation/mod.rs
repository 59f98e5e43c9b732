//! The promise: what is said about separation is never wrong, and every verdict comes with a proof.

mod both_readers;
mod check;
mod claims;
mod columns;
#[path = "../../src/separate/testing/instances.rs"]
mod instances;
mod laws;
mod margins;
mod never_wrong;
#[path = "../../src/separate/testing/oracle.rs"]
mod oracle;
mod readers_agree;

//! The reports on separation: of a decision, and of a certificate that was checked.

mod coefficients;
mod facts;
mod lists;
mod next;
mod record;
mod table;
mod verify;

pub use record::SeparateRecord;
pub use verify::{VerifyRecord, verify_report};

use super::Block;
use crate::job::{Separated, Sides};
use crate::separate::{Bias, Verdict};

/// The report of a decision about separation, for people.
pub fn separate_report(separated: &Separated) -> Vec<Block> {
    let [decided] = separated.decided.as_slice() else { return table::report(separated) };
    if separated.sides != Sides::Two {
        return table::report(separated);
    }
    let separation = &decided.separation;
    let mut blocks = vec![Block::Facts(facts::facts(separated, decided))];
    blocks.extend(coefficients::table(separated, separation));
    match separation.verdict {
        Verdict::Complete => {
            blocks.extend(coefficients::alone(separated, separation));
            blocks.extend(lists::closest(separated, separation));
        }
        Verdict::QuasiComplete => {
            if separation.columns.is_none() {
                blocks.push(lists::features(separated, separation));
            }
            blocks.extend(lists::apart(separated, separation));
            blocks.extend(coefficients::rest(separated, separation));
            blocks.extend(lists::witness(separated, separation));
        }
        Verdict::Overlap => blocks.extend(lists::witness(separated, separation)),
        Verdict::Undecided => {}
    }
    if let Some(blamed) = &decided.blame {
        blocks.extend(lists::blame(separated, decided, blamed));
    }
    blocks.extend(coefficients::cure(separated, separation));
    blocks.extend(next::steps(separated, decided));
    blocks
}

/// Which margin is meant.
fn kind_of_margin(bias: Bias) -> String {
    match bias {
        Bias::None => "boundary through the origin".to_string(),
        Bias::Append(scale) => format!("appended bias of scale {scale}"),
        Bias::Free => "free bias: half the distance between the convex hulls of the classes".to_string(),
    }
}

/// A boundary of the kind that is meant.
fn boundary_name(bias: Bias) -> &'static str {
    if bias == Bias::None { "boundary through the origin" } else { "boundary" }
}

/// One word for a verdict.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "complete",
        Verdict::QuasiComplete => "quasi-complete",
        Verdict::Overlap => "overlap",
        Verdict::Undecided => "undecided",
    }
}

//! What is said about a run: as one JSON record, and as plain sentences.

mod record;
mod wording;

pub use record::{Seconds, TrainReport};
pub use wording::{
    describe_bound, describe_detail, describe_end, describe_learner, describe_margin, describe_settings,
    explain,
};

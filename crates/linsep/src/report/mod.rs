//! The report of a job: as one JSON record, and as blocks of plain sentences that a front end lays out.

mod compare;
mod document;
mod evaluate;
mod export;
mod inspect;
pub(crate) mod layout;
mod probability;
mod record;
mod separate;
mod theory;
mod train;
mod tune;
mod wording;

pub use compare::{compare_csv, compare_report, describe_best};
pub use document::{Block, Facts};
pub use evaluate::{evaluate_report, pair as evaluate_pair};
pub use export::export_report;
pub use inspect::{StrongestWeights, inspect_record, strongest_terms, strongest_weights};
pub use probability::{describe_calibration, describe_threshold};
pub use record::{EvaluateRecord, TrainRecord};
pub use separate::{SeparateRecord, VerifyRecord, coefficient_words, separate_report, verify_report};
pub use theory::theory_report;
pub use train::{boundary_table, train_report};
pub use tune::{CandidateRecord, TuneRecord, tune_report};
pub use wording::{
    describe_bound, describe_detail, describe_end, describe_expansion, describe_margin, describe_no_model,
    describe_settings, describe_unfinished, explain, no_model_help,
};

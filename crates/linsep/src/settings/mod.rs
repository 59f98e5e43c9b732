//! The settings of jobs, each told once: its name, its place in a specification, what its value may be, its help and where it is shown.
//!
//! Every door spells this table in its own way: the program as flags and shell commands, Python as keywords, the explorer as fields of
//! a form. What a user has said is [`Given`], which is laid over a specification; the specification says what was given and nothing
//! else, and defaults are resolved where the job runs.

mod form;
mod given;
mod setting;
mod table;

pub use form::{learner_form, reading_form, settings_form};
pub use given::{Given, Word, unknown, words};
pub use setting::{Form, Kind, Setting};
pub use table::{
    OF_COMPARE, OF_LEARNING, OF_READING, OF_SEPARATE, OF_THEORY, OF_TRAIN, OF_TUNE, OF_VERIFY,
    OF_WEIGHTED_READING, Tables,
};

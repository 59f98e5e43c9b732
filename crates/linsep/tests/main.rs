//! The promises of the library, one file each, in one binary: compiled and linked once.

mod golden;
mod job;
mod layers;
mod learners_table;
mod round_trip;
mod rows_in_memory;
mod same_bits;
mod separation;
mod training_part_only;

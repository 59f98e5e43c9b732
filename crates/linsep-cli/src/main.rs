//! The `linsep` program: its arguments in, its exit code out.

// An allocator, a look at the standard streams and one at a signal need it, each in its own file.
#![deny(unsafe_code)]

mod closed_streams;
mod hangup;
mod out_of_memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    out_of_memory::reserve_few_addresses();
    closed_streams::note();
    hangup::stay_deaf();
    ExitCode::from(linsep_cli::run(std::env::args_os()))
}

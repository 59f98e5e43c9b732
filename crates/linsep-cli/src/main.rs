//! The `linsep` program: its arguments in, its exit code out.

// An allocator needs it, in its own file.
#![deny(unsafe_code)]

mod out_of_memory;

use std::process::ExitCode;

fn main() -> ExitCode {
    out_of_memory::reserve_few_addresses();
    ExitCode::from(linsep_cli::run(std::env::args_os()))
}

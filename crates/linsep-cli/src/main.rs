//! The `linsep` program: arguments in, library called, exit code out.

// An allocator needs it, in its own file.
#![deny(unsafe_code)]

mod args;
mod commands;
mod console;
mod exit;
mod layout;
mod out_of_memory;
mod output;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return Exit::of_arguments(&error).into(),
    };
    // Without the guard a cache that is cut short still ends the program, by a signal.
    let _ = linsep::read::cache::guard_mapped_files(Exit::BadFile as u8);
    exit::end_with_an_error_where_rows_changed();
    let result = console::set_threads(arguments.threads)
        .and_then(|()| console::listen_for_interrupts())
        .and_then(|()| commands::run(arguments));
    if let Some(exit) = exit::of_changed_rows() {
        return exit.into();
    }
    match result {
        // Whatever came of it, the user asked for an end before its time.
        Ok(Exit::Fine | Exit::No | Exit::Undecided) if console::interrupted() => Exit::Interrupted.into(),
        Ok(exit) => exit.into(),
        // That an output is lost must be heard: the user counts on what Ctrl-C saves.
        Err(error) if console::interrupted() && !exit::is_lost_output(&error) => {
            Exit::of_error(&error.context(linsep::Error::Interrupted)).into()
        }
        Err(error) => Exit::of_error(&error).into(),
    }
}
